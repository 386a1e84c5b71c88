"""Numerics of survival models: their losses, the solver on factors, and the baseline hazard."""

"""Optimisation: the loop's bookkeeping, weight sets, simplex methods, gaps, Clarabel."""

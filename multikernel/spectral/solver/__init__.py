"""Spectral and conformal kernels, their criteria, and their parameters by leave-one-out."""

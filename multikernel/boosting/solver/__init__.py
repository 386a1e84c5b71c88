"""Solvers of models on columns of kernels."""

"""Kernels that are no weighted sum with one weight for each: products, functional and local combinations."""

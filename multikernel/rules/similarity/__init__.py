"""Weights by the likeness of the kernels to the targets."""

"""Weights by the likeness of the kernels to the targets: one file for each rule."""

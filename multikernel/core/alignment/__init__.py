"""Kernel alignment: the measure, and the combination of kernels that maximises it."""

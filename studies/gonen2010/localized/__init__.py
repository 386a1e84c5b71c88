"""Localized kernels and local projections: figures 3.2 to 4.4, tables 5.16 to 5.25, figures 5.8 to 5.24."""

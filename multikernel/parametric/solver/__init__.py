"""Widths that are learned by column generation, and hierarchies of kernels; no scikit-learn."""

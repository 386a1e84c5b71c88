"""Data to learn from: what scikit-learn ships, cut into views."""

from multikernel.datasets.digits import ViewedDataset, load_digits_views

__all__ = ["ViewedDataset", "load_digits_views"]

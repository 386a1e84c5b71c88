"""Data to learn from: data sets by name with checksums, and what scikit-learn ships, cut into views."""

from multikernel.datasets.digits import ViewedDataset, load_digits_views
from multikernel.datasets.loading import (
    Dataset,
    check_dataset,
    dataset_fingerprint,
    list_datasets,
    load_dataset,
)

__all__ = [
    "Dataset",
    "ViewedDataset",
    "check_dataset",
    "dataset_fingerprint",
    "list_datasets",
    "load_dataset",
    "load_digits_views",
]

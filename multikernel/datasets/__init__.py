"""Data to learn from: data sets by name with checksums, scikit-learn's digits as views, and made-up data.

Sets by name are found in folders (``catalogue``) and read, or fetched (``loading``); the ``digits`` and the
``faces`` are pictures, of which ``image_views`` makes views; ``generators`` draws made-up data, and
``survival`` censored times.
"""

from multikernel.datasets.digits import ViewedDataset, load_digits_views
from multikernel.datasets.faces import Faces, load_faces
from multikernel.datasets.generators import (
    Proteins,
    gauss_bayes,
    gauss_log_odds,
    make_gauss,
    make_interleaved,
    make_piecewise,
    make_proteins,
    piecewise_curve,
)
from multikernel.datasets.loading import (
    Dataset,
    check_dataset,
    dataset_fingerprint,
    list_datasets,
    load_dataset,
)
from multikernel.datasets.survival import SurvivalViews, make_survival_views

__all__ = [
    "Dataset",
    "Faces",
    "Proteins",
    "SurvivalViews",
    "ViewedDataset",
    "check_dataset",
    "dataset_fingerprint",
    "gauss_bayes",
    "gauss_log_odds",
    "list_datasets",
    "load_dataset",
    "load_digits_views",
    "load_faces",
    "make_gauss",
    "make_interleaved",
    "make_piecewise",
    "make_proteins",
    "make_survival_views",
    "piecewise_curve",
]

"""The estimators by method: which of them are one and the same problem, for different targets."""

from typing import Any

from .. import estimators as rooms
from ..estimators._about import MULTICLASS
from ..weights.learner import About

TASKS = ("classes", "values", "nothing")

# name, title, and the classes: one for each task that the method can
ESTIMATORS: tuple[tuple[str, str, dict[str, type]], ...] = (
    (
        "mkl",
        "Multiple kernel learning",
        {"classes": rooms.MKLClassifier, "values": rooms.MKLRegressor, "nothing": rooms.MKLOneClass},
    ),
    ("ridge", "Kernel ridge regression with learned weights", {"values": rooms.MKLRidge}),
    ("pairs", "Ridge regression on pairs of objects", {"values": rooms.PairwiseRidge}),
    ("multiclass", "All classes in one machine", {"classes": rooms.MKLClassifier}),
    ("regularized", "Kernel costs chosen by cross-validation", {"classes": rooms.RegularizedMKLClassifier}),
    ("posterior", "Labels with doubts", {"classes": rooms.PosteriorSVC}),
    (
        "transductive",
        "One kernel matrix over labelled and new points",
        {"classes": rooms.TransductiveMKLClassifier},
    ),
    (
        "localized",
        "A gate over the kernels",
        {
            "classes": rooms.LocalizedMKLClassifier,
            "values": rooms.LocalizedMKLRegressor,
            "nothing": rooms.LocalizedMKLOneClass,
        },
    ),
    (
        "projection",
        "Projections learned with the machine",
        {
            "classes": rooms.ProjectionKernelClassifier,
            "values": rooms.ProjectionKernelRegressor,
            "nothing": rooms.ProjectionKernelOneClass,
        },
    ),
    (
        "nonstationary",
        "Mixtures with weights that depend on the sample",
        {"classes": rooms.NonstationaryClassifier},
    ),
    ("compositional", "Kernels between kernels", {"classes": rooms.CompositionalKernelClassifier}),
    (
        "column_boosting",
        "Boosting on single columns of kernels",
        {"classes": rooms.ColumnBoostingClassifier, "values": rooms.ColumnBoostingRegressor},
    ),
    (
        "bayesian",
        "Posteriors of weights and predictions",
        {"classes": rooms.BayesianMKLClassifier, "values": rooms.BayesianMKLRegressor},
    ),
    (
        "discriminant",
        "Discriminant analysis that learns its kernel",
        {"classes": rooms.KernelDiscriminantClassifier},
    ),
    ("kdda", "Direct discriminant analysis", {"classes": rooms.KDDAClassifier}),
    ("knn", "Nearest neighbours by a kernel", {"classes": rooms.KernelKNNClassifier}),
    ("spectral", "A kernel learned from its spectrum", {"classes": rooms.SpectralKernelClassifier}),
    ("conformal", "A kernel rescaled from place to place", {"classes": rooms.ConformalKernel}),
    ("kmeans", "Clusters from several kernels", {"nothing": rooms.MultipleKernelKMeans}),
    ("pca", "Principal components of a combined kernel", dict.fromkeys(TASKS, rooms.CombinedKernelPCA)),
    (
        "combined",
        "Any weight learner under any machine",
        {
            "classes": rooms.CombinedKernelClassifier,
            "values": rooms.CombinedKernelRegressor,
            "nothing": rooms.CombinedKernelOneClass,
        },
    ),
)
# methods that are another one with some of its parameters set, and what there is to say about them
PRESETS: dict[str, tuple[dict[str, Any], About]] = {"multiclass": ({"multiclass": "joint"}, MULTICLASS)}
MACHINES = ESTIMATORS[-1][2]  # what a weight learner goes under


def names_for(task: str) -> list[str]:
    """The methods that learn from a task, weight learners aside."""
    return [name for name, _, classes in ESTIMATORS if task in classes]

"""Learns the kernel: multiple kernel learning with a certificate, behind scikit-learn's interface."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .bayesian import BayesianMKLClassifier, BayesianMKLRegressor
    from .boosting import ColumnBoostingClassifier, ColumnBoostingRegressor
    from .clustering import MultipleKernelKMeans
    from .discriminant import KernelDiscriminantClassifier
    from .inspection import compare, evaluate
    from .io import load_model, save_model
    from .localized import (
        LocalizedMKLClassifier,
        LocalizedMKLOneClass,
        LocalizedMKLRegressor,
        ProjectionKernelClassifier,
        ProjectionKernelOneClass,
        ProjectionKernelRegressor,
    )
    from .mkl import (
        LowRankWarning,
        MKLClassifier,
        MKLOneClass,
        MKLRegressor,
        MKLRidge,
        RegularizedMKLClassifier,
        cost_path,
    )
    from .nonstationary import NonstationaryClassifier
    from .pairs import PairSplit, PairwiseRidge, sample_pairs
    from .rules import (
        CombinedKernelClassifier,
        CombinedKernelOneClass,
        CombinedKernelPCA,
        CombinedKernelRegressor,
        CompositionalKernelClassifier,
    )
    from .soft_labels import PosteriorSVC
    from .spectral import ConformalKernel, KDDAClassifier, KernelKNNClassifier, SpectralKernelClassifier
    from .transductive import TransductiveMKLClassifier, generalization_bound
    from .views import KernelBank, View, combine_kernels, per_feature, stack_kernels

__version__ = version("multikernel")

__all__ = [
    "BayesianMKLClassifier",
    "BayesianMKLRegressor",
    "ColumnBoostingClassifier",
    "ColumnBoostingRegressor",
    "CombinedKernelClassifier",
    "CombinedKernelOneClass",
    "CombinedKernelPCA",
    "CombinedKernelRegressor",
    "CompositionalKernelClassifier",
    "ConformalKernel",
    "KDDAClassifier",
    "KernelBank",
    "KernelDiscriminantClassifier",
    "KernelKNNClassifier",
    "LocalizedMKLClassifier",
    "LocalizedMKLOneClass",
    "LocalizedMKLRegressor",
    "LowRankWarning",
    "MKLClassifier",
    "MKLOneClass",
    "MKLRegressor",
    "MKLRidge",
    "MultipleKernelKMeans",
    "NonstationaryClassifier",
    "PairSplit",
    "PairwiseRidge",
    "PosteriorSVC",
    "ProjectionKernelClassifier",
    "ProjectionKernelOneClass",
    "ProjectionKernelRegressor",
    "RegularizedMKLClassifier",
    "SpectralKernelClassifier",
    "TransductiveMKLClassifier",
    "View",
    "combine_kernels",
    "compare",
    "cost_path",
    "evaluate",
    "generalization_bound",
    "load_model",
    "per_feature",
    "sample_pairs",
    "save_model",
    "stack_kernels",
]

# Names and packages are imported when they are first asked for: `multikernel --version` needs none of them.
_ROOMS = {
    "bayesian": ("BayesianMKLClassifier", "BayesianMKLRegressor"),
    "boosting": ("ColumnBoostingClassifier", "ColumnBoostingRegressor"),
    "clustering": ("MultipleKernelKMeans",),
    "discriminant": ("KernelDiscriminantClassifier",),
    "inspection": ("compare", "evaluate"),
    "io": ("load_model", "save_model"),
    "localized": (
        "LocalizedMKLClassifier", "LocalizedMKLOneClass", "LocalizedMKLRegressor",
        "ProjectionKernelClassifier", "ProjectionKernelOneClass", "ProjectionKernelRegressor",
    ),
    "mkl": (
        "LowRankWarning", "MKLClassifier", "MKLOneClass", "MKLRegressor", "MKLRidge",
        "RegularizedMKLClassifier", "cost_path",
    ),
    "nonstationary": ("NonstationaryClassifier",),
    "pairs": ("PairSplit", "PairwiseRidge", "sample_pairs"),
    "rules": (
        "CombinedKernelClassifier", "CombinedKernelOneClass", "CombinedKernelPCA", "CombinedKernelRegressor",
        "CompositionalKernelClassifier",
    ),
    "soft_labels": ("PosteriorSVC",),
    "spectral": ("ConformalKernel", "KDDAClassifier", "KernelKNNClassifier", "SpectralKernelClassifier"),
    "transductive": ("TransductiveMKLClassifier", "generalization_bound"),
    "views": ("KernelBank", "View", "combine_kernels", "per_feature", "stack_kernels"),
}  # fmt: skip
_HOMES = {name: room for room, names in _ROOMS.items() for name in names}
_PACKAGES = (*_ROOMS, "core", "datasets", "doctor", "kernels", "registry", "report", "rows", "viz")


def __dir__() -> list[str]:
    return sorted({*__all__, *_PACKAGES, *(name for name in globals() if name.startswith("__"))})


if not TYPE_CHECKING:  # the checker reads the imports above, and would take every name for known with this

    def __getattr__(name: str) -> Any:
        if name in _PACKAGES:
            return import_module(f".{name}", __name__)
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
        globals()[name] = value
        return value

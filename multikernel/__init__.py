"""Learns the kernel: multiple kernel learning with a certificate, behind scikit-learn's interface."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .estimators import (
        BayesianMKLClassifier,
        BayesianMKLRegressor,
        ColumnBoostingClassifier,
        ColumnBoostingRegressor,
        CombinedKernelClassifier,
        CombinedKernelOneClass,
        CombinedKernelPCA,
        CombinedKernelRegressor,
        CompositionalKernelClassifier,
        ConformalKernel,
        KDDAClassifier,
        KernelDiscriminantClassifier,
        KernelKNNClassifier,
        LocalizedMKLClassifier,
        LocalizedMKLOneClass,
        LocalizedMKLRegressor,
        LowRankWarning,
        MKLClassifier,
        MKLOneClass,
        MKLRegressor,
        MKLRidge,
        MultipleKernelKMeans,
        NonstationaryClassifier,
        PairwiseRidge,
        PosteriorSVC,
        ProjectionKernelClassifier,
        ProjectionKernelOneClass,
        ProjectionKernelRegressor,
        RegularizedMKLClassifier,
        SpectralKernelClassifier,
        TransductiveMKLClassifier,
        cost_path,
    )
    from .inspection import compare, evaluate
    from .persistence import load_model, save_model
    from .selection import PairSplit, generalization_bound, sample_pairs
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
_HOMES = {
    "KernelBank": "views",
    "PairSplit": "selection",
    "View": "views",
    "combine_kernels": "views",
    "compare": "inspection",
    "evaluate": "inspection",
    "generalization_bound": "selection",
    "load_model": "persistence",
    "per_feature": "views",
    "sample_pairs": "selection",
    "save_model": "persistence",
    "stack_kernels": "views",
}  # all others are estimators
_PACKAGES = (
    "combine",
    "core",
    "criteria",
    "datasets",
    "doctor",
    "estimators",
    "inspection",
    "kernels",
    "methods",
    "persistence",
    "report",
    "rows",
    "selection",
    "solvers",
    "tables",
    "views",
    "viz",
    "weights",
)


def __dir__() -> list[str]:
    return sorted({*__all__, *_PACKAGES, *(name for name in globals() if name.startswith("__"))})


if not TYPE_CHECKING:  # the checker reads the imports above, and would take every name for known with this

    def __getattr__(name: str) -> Any:
        if name in _PACKAGES:
            return import_module(f".{name}", __name__)
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f".{_HOMES.get(name, 'estimators')}", __name__), name)
        globals()[name] = value
        return value

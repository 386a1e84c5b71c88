"""Learns the kernel: multiple kernel learning with a certificate, behind scikit-learn's interface."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .bayesian import BayesianMKLClassifier as BayesianMKLClassifier
    from .bayesian import BayesianMKLRegressor as BayesianMKLRegressor
    from .boosting import ColumnBoostingClassifier as ColumnBoostingClassifier
    from .boosting import ColumnBoostingRegressor as ColumnBoostingRegressor
    from .clustering import MultipleKernelKMeans as MultipleKernelKMeans
    from .discriminant import KernelDiscriminantClassifier as KernelDiscriminantClassifier
    from .inspection import compare as compare
    from .inspection import evaluate as evaluate
    from .io import load_model as load_model
    from .io import save_model as save_model
    from .localized import LocalizedMKLClassifier as LocalizedMKLClassifier
    from .localized import LocalizedMKLOneClass as LocalizedMKLOneClass
    from .localized import LocalizedMKLRegressor as LocalizedMKLRegressor
    from .localized import ProjectionKernelClassifier as ProjectionKernelClassifier
    from .localized import ProjectionKernelOneClass as ProjectionKernelOneClass
    from .localized import ProjectionKernelRegressor as ProjectionKernelRegressor
    from .mkl import LowRankWarning as LowRankWarning
    from .mkl import MissingViewsWarning as MissingViewsWarning
    from .mkl import MKLClassifier as MKLClassifier
    from .mkl import MKLOneClass as MKLOneClass
    from .mkl import MKLRegressor as MKLRegressor
    from .mkl import MKLRidge as MKLRidge
    from .mkl import RegularizedMKLClassifier as RegularizedMKLClassifier
    from .mkl import cost_path as cost_path
    from .nonstationary import NonstationaryClassifier as NonstationaryClassifier
    from .pairs import PairSplit as PairSplit
    from .pairs import PairwiseRidge as PairwiseRidge
    from .pairs import sample_pairs as sample_pairs
    from .rules import CombinedKernelClassifier as CombinedKernelClassifier
    from .rules import CombinedKernelOneClass as CombinedKernelOneClass
    from .rules import CombinedKernelPCA as CombinedKernelPCA
    from .rules import CombinedKernelRegressor as CombinedKernelRegressor
    from .rules import CompositionalKernelClassifier as CompositionalKernelClassifier
    from .soft_labels import PosteriorSVC as PosteriorSVC
    from .spectral import ConformalKernel as ConformalKernel
    from .spectral import KDDAClassifier as KDDAClassifier
    from .spectral import KernelKNNClassifier as KernelKNNClassifier
    from .spectral import SpectralKernelClassifier as SpectralKernelClassifier
    from .transductive import TransductiveMKLClassifier as TransductiveMKLClassifier
    from .transductive import generalization_bound as generalization_bound
    from .views import KernelBank as KernelBank
    from .views import View as View
    from .views import combine_kernels as combine_kernels
    from .views import per_feature as per_feature
    from .views import stack_kernels as stack_kernels

__version__ = version("multikernel")

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
        "LowRankWarning", "MissingViewsWarning", "MKLClassifier", "MKLOneClass", "MKLRegressor", "MKLRidge",
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
__all__ = sorted(_HOMES)
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

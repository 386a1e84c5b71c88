"""Learns the kernel: multiple kernel learning with a certificate, behind scikit-learn's interface.

The names that most programs need are here; all others are imported from their room, such as
``from multikernel.spectral import SpectralKernelClassifier``.
"""

import sys
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .inspection import compare as compare
    from .inspection import evaluate as evaluate
    from .io import load_model as load_model
    from .io import save_model as save_model
    from .kernels import Gaussian as Gaussian
    from .kernels import Laplacian as Laplacian
    from .kernels import Linear as Linear
    from .kernels import Polynomial as Polynomial
    from .localized import LocalizedMKLClassifier as LocalizedMKLClassifier
    from .localized import LocalizedMKLRegressor as LocalizedMKLRegressor
    from .mkl import MKLClassifier as MKLClassifier
    from .mkl import MKLClassifierCV as MKLClassifierCV
    from .mkl import MKLOneClass as MKLOneClass
    from .mkl import MKLRegressor as MKLRegressor
    from .mkl import MKLRegressorCV as MKLRegressorCV
    from .mkl import MKLRidge as MKLRidge
    from .mkl import MKLRidgeCV as MKLRidgeCV
    from .rules import CombinedKernelClassifier as CombinedKernelClassifier
    from .rules import CombinedKernelOneClass as CombinedKernelOneClass
    from .rules import CombinedKernelPCA as CombinedKernelPCA
    from .rules import CombinedKernelRegressor as CombinedKernelRegressor
    from .views import KernelBank as KernelBank
    from .views import MultiTable as MultiTable
    from .views import View as View
    from .views import combine_kernels as combine_kernels
    from .views import join_views as join_views
    from .views import stack_kernels as stack_kernels
    from .views import views_from_gene_sets as views_from_gene_sets

__version__ = version("multikernel")

# Names and packages are imported when they are first asked for: `multikernel --version` needs none of them.
_ROOMS = {
    "inspection": ("compare", "evaluate"),
    "io": ("load_model", "save_model"),
    "kernels": ("Gaussian", "Laplacian", "Linear", "Polynomial"),
    "localized": ("LocalizedMKLClassifier", "LocalizedMKLRegressor"),
    "mkl": (
        "MKLClassifier", "MKLClassifierCV", "MKLOneClass", "MKLRegressor", "MKLRegressorCV", "MKLRidge",
        "MKLRidgeCV",
    ),
    "rules": (
        "CombinedKernelClassifier", "CombinedKernelOneClass",
        "CombinedKernelPCA", "CombinedKernelRegressor",
    ),
    "views": (
        "KernelBank", "MultiTable", "View", "combine_kernels",
        "join_views", "stack_kernels", "views_from_gene_sets",
    ),
}  # fmt: skip

# Names that were at the top level in 0.1: they are imported from their room.
_MOVED = {
    "bayesian": ("BayesianMKLClassifier", "BayesianMKLRegressor"),
    "boosting": ("ColumnBoostingClassifier", "ColumnBoostingRegressor"),
    "clustering": ("MultipleKernelKMeans",),
    "discriminant": ("KernelDiscriminantClassifier",),
    "localized": (
        "LocalizedMKLOneClass", "ProjectionKernelClassifier",
        "ProjectionKernelOneClass", "ProjectionKernelRegressor",
    ),
    "mkl": ("LowRankWarning", "RegularizedMKLClassifier", "cost_path"),
    "nonstationary": ("NonstationaryClassifier",),
    "pairs": ("PairSplit", "PairwiseRidge", "sample_pairs"),
    "rules": ("CompositionalKernelClassifier",),
    "soft_labels": ("PosteriorSVC",),
    "spectral": ("ConformalKernel", "KDDAClassifier", "KernelKNNClassifier", "SpectralKernelClassifier"),
    "transductive": ("TransductiveMKLClassifier", "generalization_bound"),
    "views": ("per_feature",),
}  # fmt: skip

# Names that were at the top level in 0.1 and are gone, and what takes their place.
_REPLACED = {"MulticlassSVC": 'MKLClassifier(multiclass="joint")'}

_HOMES = {name: room for room, names in _ROOMS.items() for name in names}
_NEW_HOMES = {name: room for room, names in _MOVED.items() for name in names}
__all__ = sorted(_HOMES)
_OTHERS = (
    "cooperative",
    "core",
    "datasets",
    "doctor",
    "gaussian_process",
    "hyperkernels",
    "parametric",
    "reduction",
    "registry",
    "report",
    "rows",
    "survival",
    "tasks",
    "viz",
)
_PACKAGES = tuple(dict.fromkeys((*_ROOMS, *_MOVED, *_OTHERS)))


def __dir__() -> list[str]:
    return sorted({*__all__, *_PACKAGES, *(name for name in globals() if name.startswith("__"))})


if not TYPE_CHECKING:  # the checker reads the imports above, and would take every name for known with this

    def _moved(text: str, place: str) -> Exception:
        """An AttributeError, but in `from multikernel import name`, which would lose its text."""
        in_import = sys._getframe(2).f_code.co_name == "_handle_fromlist"
        return ImportError(text, name=place) if in_import else AttributeError(text)

    def __getattr__(name: str) -> Any:
        if name in _PACKAGES:
            return import_module(f".{name}", __name__)
        if name in _NEW_HOMES:
            place = f"{__name__}.{_NEW_HOMES[name]}"
            raise _moved(f"{name} is in {place}: from {place} import {name}", place)
        if name in _REPLACED:
            raise _moved(f"{name} is now {_REPLACED[name]}, the same problem.", __name__)
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
        globals()[name] = value
        return value

"""What a file may name: a fixed list, and for each entry the one way in which it may be used.

skops looks up names in a file only if they are trusted. It trusts scikit-learn's estimators, NumPy's arrays
and plain containers by itself; to these come the classes here. A class on this list is made without calling
anything but ``__new__`` and gets its attributes; a stand-in is called with parts that it checks; a function
is handed over, never called (see also the module ``grammar``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import sklearn.calibration
import sklearn.model_selection
import sklearn.multiclass
from sklearn.metrics import _scorer as scorers
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.utils import Bunch
from sklearn.utils import _metadata_requests as requests

from .. import estimators, kernels, views, weights
from ..combine import gates
from ..estimators import _calibration
from ..kernels import _rows, mixed
from ..selection import pair_split, quadratic, response_surface
from ..solvers import compositional, conformal_kernel, kernel_pca, spectral_kernel
from ..solvers.bayesian import learn as bayesian
from ..solvers.localized import projection_kernels, projections
from ..views import bank, columns, gating_features, memory, precomputed, scaling
from ..views.low_rank import fourier, maps
from ..views.low_rank import transforms as factor_steps
from ..views.low_rank import view as factor_view
from ..views.missing import filling, mutual
from .stand_ins import STAND_INS

# Made by skops as an object: ``cls.__new__(cls)``, then its attributes.
_PARTS: tuple[type, ...] = (
    _calibration.SigmoidCalibration,
    _rows.Rows,
    bank.FittedView,
    bayesian.BayesianResult,
    columns.Selection,
    compositional.SquareRootCross,
    conformal_kernel.ConformalModel,
    gating_features.GatingColumns,
    gating_features.GatingKernelMap,
    factor_steps.Scale,
    factor_steps.Shift,
    factor_steps.UnitLength,
    factor_view.FactorView,
    filling.MeanFilling,
    fourier.FourierMap,
    kernel_pca.KernelComponents,
    maps.ColumnMap,
    maps.LandmarkMap,
    memory.MemoryEstimate,
    mixed.MixedColumn,
    pair_split.PairSplit,
    mutual.MutualFilling,
    mutual.ViewMap,
    precomputed.PrecomputedBank,
    quadratic.Quadratic,
    response_surface.ResponseSurface,
    scaling.Scaling,
    spectral_kernel.SpectralModel,
    spectral_kernel.SpectralWeights,
    spectral_kernel.Spectrum,
    projections.ProjectionModel,
    projection_kernels.GaussianProjection,
    projection_kernels.LinearProjection,
)
_SPLITTERS = (
    "GroupKFold",
    "GroupShuffleSplit",
    "KFold",
    "LeaveOneOut",
    "PredefinedSplit",
    "RepeatedKFold",
    "RepeatedStratifiedKFold",
    "ShuffleSplit",
    "StratifiedGroupKFold",
    "StratifiedKFold",
    "StratifiedShuffleSplit",
    "TimeSeriesSplit",
)
_SCORERS = ("_MultimetricScorer", "_PassthroughScorer", "_Scorer")
# What scikit-learn's meta-estimators keep within, where it has them: attributes, no code.
_INNER = (
    (sklearn.calibration, "_CalibratedClassifier"),
    (sklearn.calibration, "_SigmoidCalibration"),
    (sklearn.calibration, "_TemperatureScaling"),
    (sklearn.multiclass, "_ConstantPredictor"),
)


@cache
def trusted_uses() -> dict[str, str]:
    """The loader of skops with which each name that this package trusts may be used.

    Examples
    --------
    >>> trusted_uses()["multikernel.estimators.mkl_classifier.MKLClassifier"]
    'ObjectNode'
    >>> "os.system" in trusted_uses()
    False
    """
    uses = {name_of(cls): "ObjectNode" for cls in _classes()}
    uses.update({name_of(cls): "ConstructorFromReduceNode" for cls in (*STAND_INS, range)})
    uses.update({name_of(function): "FunctionNode" for function in _score_functions()})
    uses["numpy.dtype"] = "DTypeNode"
    uses[name_of(Bunch)] = "DictNode"
    return uses


def name_of(thing: Any) -> str:
    """The name under which skops asks for a class or function; a string is that name already.

    Examples
    --------
    >>> name_of(range), name_of("os.system")
    ('builtins.range', 'os.system')
    """
    if isinstance(thing, str):
        return thing
    if not hasattr(thing, "__name__") or not hasattr(thing, "__module__"):
        raise TypeError(f"trusted must hold classes, functions or their full names; got {thing!r}.")
    return f"{thing.__module__}.{thing.__name__}"


def trusted_names(given: Iterable[Any]) -> set[str]:
    """The names that a caller trusts beyond this package's own."""
    return {name_of(thing) for thing in ([given] if isinstance(given, str | type) else given)}


def _classes() -> Iterator[type]:
    for package in (estimators, kernels, views, weights):
        yield from (value for name in package.__all__ if isinstance(value := getattr(package, name), type))
    yield from _PARTS
    yield from _in_module(gates)
    yield from (getattr(sklearn.model_selection, name) for name in _SPLITTERS)
    yield from (getattr(scorers, name) for name in _SCORERS)
    yield from (getattr(module, name) for module, name in _INNER if hasattr(module, name))
    yield from (requests.MetadataRequest, requests.MethodMetadataRequest)


def _in_module(module: Any) -> Iterator[type]:
    for value in vars(module).values():
        if isinstance(value, type) and value.__module__ == module.__name__:
            yield value


def _score_functions() -> Iterator[Any]:
    for name in get_scorer_names():
        yield get_scorer(name)._score_func

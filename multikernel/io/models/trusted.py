"""What a file may name: a fixed list, and for each entry the one way in which it may be used.

skops looks up names in a file only if they are trusted. It trusts scikit-learn's estimators, NumPy's arrays
and plain containers by itself; to these come the classes of this package (module ``names``) and those here. A
class on this list is made without calling anything but ``__new__`` and gets its attributes; a stand-in is
called with parts that it checks; a function is handed over, never called (see also the module ``grammar``).
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

from .names import CALLED, OBJECTS, PACKAGE, file_name
from .upgrades import Upgraded, changed_since
from .versions import FORMAT_VERSION

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
def trusted_uses(version: int) -> dict[str, str]:
    """The loader of skops with which each name that this package trusts may be used.

    Parameters
    ----------
    version : int
        Of the format: a file of an earlier one may name classes that are no longer there.

    Examples
    --------
    >>> trusted_uses(2)["multikernel.MKLClassifier"]
    'ObjectNode'
    >>> "os.system" in trusted_uses(2)
    False
    """
    uses = {f"{PACKAGE}.{name}": "ObjectNode" for name in OBJECTS}
    uses.update({f"{PACKAGE}.{name}": "ConstructorFromReduceNode" for name in CALLED})
    uses.update(dict.fromkeys(changed_since(version), "ObjectNode"))
    uses.update({file_name(cls): "ObjectNode" for cls in _classes()})
    uses[file_name(range)] = "ConstructorFromReduceNode"
    uses.update({file_name(function): "FunctionNode" for function in _score_functions()})
    uses["numpy.dtype"] = "DTypeNode"
    uses[file_name(Bunch)] = "DictNode"
    return uses


def trusted_places() -> set[str]:
    """The full names, as skops knows them, of what this package trusts: by the modules of today."""
    ours = (*OBJECTS.values(), *CALLED.values(), Upgraded)
    others = (name for name in trusted_uses(FORMAT_VERSION) if not name.startswith(f"{PACKAGE}."))
    return {name_of(cls) for cls in ours}.union(others)


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
    yield from (getattr(sklearn.model_selection, name) for name in _SPLITTERS)
    yield from (getattr(scorers, name) for name in _SCORERS)
    yield from (getattr(module, name) for module, name in _INNER if hasattr(module, name))
    yield from (requests.MetadataRequest, requests.MethodMetadataRequest)


def _score_functions() -> Iterator[Any]:
    for name in get_scorer_names():
        yield get_scorer(name)._score_func

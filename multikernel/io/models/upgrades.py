"""Files of earlier formats: their names and attributes, as the present version has them.

Where a version renames or deletes a class, or changes its attributes, `FORMAT_VERSION` goes up by one and
`STEPS` gets an entry for the version before: the name of the class in that version, and a function that takes
the attributes in a file (a dict) and returns the name and the attributes of the next version. Steps are taken
one after the other, so that each knows two versions only.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._validation import present_task
from ...core.fitted import ColumnKernels, DualKernels, FactorKernels, FittedKernels
from ...kernels.dot import bounded_inverse
from ...localized.base import GatedKernels
from ...views.bank import KernelBank
from .archive import FORMAT_VERSION
from .grammar import LABELS, is_written_out, name_in, nodes
from .names import find
from .names_0_1 import names_of_0_1
from .preparing import StandIn, require
from .renames import RENAMES

State = dict[str, Any]


# --- from 1 to 2: the kernels of a fitted model are one attribute -------------------------------------------


def _joint_classifier(state: State) -> tuple[str, State]:
    """MulticlassSVC had all parameters of MKLClassifier as attributes, and this one always."""
    return "multikernel.MKLClassifier", {**_dual_kernels(state), "multiclass": "joint"}


def _without(state: State, *names: str) -> State:
    return {name: value for name, value in state.items() if name not in names}


def _dual_kernels(state: State) -> State:
    """Bank and coefficients were attributes of the estimator; so were the weights behind absent views."""
    if "_bank" not in state:  # not fitted
        return state
    reference = state.get("_reference") or [None]
    rescaled = reference[0] is not None
    notes_absent = rescaled or state.get("missing") == "absent"
    weights = state["machine_weights_"]
    part: Any
    if state.get("gram_") == "low_rank":
        part = FactorKernels(state["_bank"], state["coef_"])
    else:
        scaling = np.array(reference) if rescaled else None
        part = DualKernels(state["_bank"], state["_coefficients"], weights, scaling, notes_absent)
    kept = _without(state, "_bank", "_coefficients", "_reference")
    return {**kept, "_fitted": FittedKernels([part], weights.shape)}


def _column_kernels(state: State) -> State:
    if "_bank" not in state:
        return state
    part = ColumnKernels(state["_bank"], state["_coefficients"])
    fitted = FittedKernels([part], state["machine_weights_"].shape)
    return {**_without(state, "_bank", "_coefficients"), "_fitted": fitted}


def _gated_kernels(state: State) -> State:
    """The status had the names of saturated gates in it, which ``saturated_`` has."""
    if "_bank" not in state:
        return state
    part = GatedKernels(
        state["_bank"], state["_coefficients"], state["_gating"], state["gating_"], state["_features"],
        state["_gate_of"], state["_sources"],
    )  # fmt: skip
    kept = _without(state, "_bank", "_coefficients", "_gating", "_features", "_gate_of", "_sources")
    return {**_plain_status(kept), "_gated": part}


def _plain_status(state: State) -> State:
    return {**state, "status_": state["status_"].split(" ")[0]} if "status_" in state else state


def _regularized(state: State) -> State:
    """It was the classifier that it has now."""
    state = _dual_kernels(state)
    if "_fitted" not in state:
        return state
    return {**state, "estimator_": make(2, "multikernel.MKLClassifier", {**state, "costs": state["costs_"]})}


def _step(name: str, change: Callable[[State], State]) -> Callable[[State], tuple[str, State]]:
    return lambda state: (f"multikernel.{name}", change(state))


_CHANGES: dict[str, Callable[[State], State]] = {
    **dict.fromkeys(
        (
            "MKLClassifier", "MKLRegressor", "MKLRidge", "MKLOneClass", "PosteriorSVC",
            "KernelDiscriminantClassifier", "TransductiveMKLClassifier",
        ),
        _dual_kernels,
    ),
    **dict.fromkeys(("ColumnBoostingClassifier", "ColumnBoostingRegressor"), _column_kernels),
    **dict.fromkeys(
        ("LocalizedMKLClassifier", "LocalizedMKLRegressor", "LocalizedMKLOneClass"), _gated_kernels
    ),
    **dict.fromkeys(
        ("ProjectionKernelClassifier", "ProjectionKernelRegressor", "ProjectionKernelOneClass"),
        _plain_status,
    ),
    "RegularizedMKLClassifier": _regularized,
}  # fmt: skip


# --- from 2 to 3: a KernelBank says how kernels are stored, and one kernel is called as several are ---------

_STORAGE = {"psd": "error", "gram": "dense", "dtype": "float64", "rank": None, "missing": "error"}
_CHOOSES_ROUTE = ("MKLClassifier", "MKLRegressor", "MKLRidge")  # with gram="auto" by default
_TREATS_MISSING = (*_CHOOSES_ROUTE, "MKLOneClass", "PosteriorSVC")
_ONE_KERNEL = ("ConformalKernel", "KDDAClassifier", "KernelKNNClassifier", "SpectralKernelClassifier")
_STORED = (
    *_TREATS_MISSING, *_ONE_KERNEL,
    "BayesianMKLClassifier", "BayesianMKLRegressor", "ColumnBoostingClassifier", "ColumnBoostingRegressor",
    "CombinedKernelClassifier", "CombinedKernelOneClass", "CombinedKernelPCA", "CombinedKernelRegressor",
    "CompositionalKernelClassifier", "KernelDiscriminantClassifier", "LocalizedMKLClassifier",
    "LocalizedMKLOneClass", "LocalizedMKLRegressor", "MultipleKernelKMeans", "NonstationaryClassifier",
    "PairwiseRidge", "RegularizedMKLClassifier", "TransductiveMKLClassifier",
)  # fmt: skip


def _bank_stores(name: str) -> Callable[[State], State]:
    """The step of an estimator: what was not the default goes into the bank of its kernels."""
    plain = {**_STORAGE, "gram": "auto"} if name in _CHOOSES_ROUTE else _STORAGE

    def change(state: State) -> State:
        kept = _without(state, *_STORAGE, "kernel")
        stored = {key: state[key] for key in _STORAGE if key in state and state[key] != plain[key]}
        if stored.get("missing") == "renormalise":
            stored["missing"] = "renormalize"
        if "kernel" in state:  # the one kernel of a class that has no other
            kept["kernels"] = state["kernel"]
        if name in _TREATS_MISSING and "machine_weights_" in state:  # fitted
            kept["missing_"] = stored.get("missing", "error")
        sides = ("left", "right") if name == "PairwiseRidge" else ("kernels",)
        for side in sides if stored else ():
            if kept[side] is not None:
                kept[side] = KernelBank(kept[side], **_PLAIN, **stored)
        return kept

    return change


def _with_defaults(**new: Any) -> Callable[[State], State]:
    """The step of a class with new attributes."""
    return lambda state: {**new, **state}


def _gaussian(state: State) -> State:
    """Its sigma was a variance."""
    if state.get("sigma") is None:
        return state
    return {**state, "sigma": None, "gamma": bounded_inverse(2.0 * state["sigma"])}


_PLAIN: dict[str, Any] = {
    "standardize": False,
    "normalize": None,
}  # what a view said was all that was done to its kernel

_STORAGE_CHANGES: dict[str, Callable[[State], State]] = {
    **{name: _bank_stores(name) for name in _STORED},
    "Gaussian": _gaussian,
    "KernelBank": _with_defaults(rank=None, missing="auto", **_PLAIN),
    "LowRankBank": _with_defaults(**_PLAIN),
    "Selection": _with_defaults(table=None),
    "View": _with_defaults(table=None, **_PLAIN),
}


# --- from 4 to 5: tasks have other names -------------------------------------------------------------------


def _task_renamed(state: State) -> State:
    return {**state, "task": present_task(state["task"])} if "task" in state else state


STEPS: dict[int, dict[str, Callable[[State], tuple[str, State]]]] = {
    1: {
        "multikernel.MulticlassSVC": _joint_classifier,
        **{f"multikernel.{name}": _step(name, change) for name, change in _CHANGES.items()},
    },
    2: {f"multikernel.{name}": _step(name, change) for name, change in _STORAGE_CHANGES.items()},
    3: {f"multikernel.{name}": _step(name, change) for name, change in RENAMES.items()},
    4: {"multikernel.CombinedKernelPCA": _step("CombinedKernelPCA", _task_renamed)},
}


def changed_since(version: int) -> set[str]:
    """Names of the classes that a file of a format version holds in another form than the present one."""
    return {name for number, steps in STEPS.items() if number >= version for name in steps}


def present_name(name: str, version: int) -> str:
    """The present name for a name of a format version."""
    return names_of_0_1().get(name, name) if version == 1 else name


def rename(schema: Any, version: int) -> None:
    """Give the parts of a schema of an earlier format their present names, in place."""
    if version > 1:
        return
    for node in nodes(schema):
        name = names_of_0_1().get(name_in(node))
        if name is not None:
            node["__module__"], _, node["__class__"] = name.rpartition(".")


def upgrade(node: dict[str, Any], version: int) -> None:
    """Let a part with the attributes of an earlier version be made by `Upgraded`, in place."""
    labels = (Upgraded.__name__, Upgraded.__module__, "ConstructorFromReduceNode")
    if is_written_out(node):
        parts = [_value(version), _value(name_in(node)), node.get("content") or _value(None)]
        node["content"] = _node("tuple", "TupleNode", parts)
    node.update(zip(LABELS, labels, strict=True))


class Upgraded(StandIn):
    """An object made of attributes that an earlier format version wrote."""

    def __new__(cls, version: Any, name: Any, state: Any) -> Any:
        """The format version, the name in it, and the attributes."""
        require(dict, state)
        return make(version, name, state)


def make(version: int, name: str, state: State) -> Any:
    """The object that a format version describes by a name and attributes."""
    for number in range(version, FORMAT_VERSION):
        step = STEPS.get(number, {}).get(name)
        if step is not None:
            name, state = step(state)
    kind: Any = find(name)
    if kind is None:
        raise ValueError(f"there is no class {name!r}.")
    made = kind.__new__(kind)
    if hasattr(made, "__setstate__"):
        made.__setstate__(state)
    else:
        made.__dict__.update(state)
    return made


def _value(content: Any) -> dict[str, Any]:
    return {**_node("str", "JsonNode", json.dumps(content)), "is_json": True}


def _node(name: str, loader: str, content: Any) -> dict[str, Any]:
    return {"__class__": name, "__module__": "builtins", "__loader__": loader, "content": content}

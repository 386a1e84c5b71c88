"""What a fitted model holds and predictions do not need: it is not saved."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge

from ...kernels._rows import Rows
from ...kernels.networks import Network, NetworkKernel
from ...rules.combined import CombinedKernel
from ...soft_labels.classifier import PosteriorSVC
from ...spectral.conformal import ConformalKernel
from ...transductive.classifier import TransductiveMKLClassifier


def slim(value: Any, state: dict[str, Any]) -> dict[str, Any]:
    """The attributes of an object that are saved.

    Parameters
    ----------
    value : object
    state : dict
        All its attributes; never modified.

    Returns
    -------
    dict
        `state` itself where nothing is left out.
    """
    if isinstance(value, Rows | Network | NetworkKernel):
        return value.__getstate__()  # the rest is computed again where it is needed
    if isinstance(value, KernelRidge):
        return _without_gram(value, state)
    state = _without(state, _spare(value))
    if state.get("callback") is not None and type(value).__module__.startswith("multikernel."):
        return {**state, "callback": None}
    return state


def _spare(value: Any) -> tuple[str, ...]:
    """Names of attributes about the training samples that predictions do not read."""
    if isinstance(value, TransductiveMKLClassifier):
        # where the weights do not extend to new points, predictions compare them with the learned matrix
        return ("kernel_",) if getattr(value, "_extends", False) else ()
    if isinstance(value, ConformalKernel):
        return ("kernel_",)
    if isinstance(value, PosteriorSVC):
        return ("posteriors_",)
    if isinstance(value, CombinedKernel) and getattr(value, "_kept", None) is not None:
        return ("_bank",)
    return ()


def _without(state: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    if not any(name in state for name in names):
        return state
    return {name: item for name, item in state.items() if name not in names}


def _without_gram(value: KernelRidge, state: dict[str, Any]) -> dict[str, Any]:
    """Of a ready-made kernel, ridge regression keeps the training Gram and reads how many rows it has."""
    if value.kernel != "precomputed" or "X_fit_" not in state:
        return state
    return {**state, "X_fit_": np.zeros((len(state["X_fit_"]), 1))}

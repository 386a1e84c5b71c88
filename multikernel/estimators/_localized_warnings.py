"""What a user should know of a descent over gates or projections that did not go as it should."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._validation import warn_caller
from ..solvers import Status
from ..solvers.localized.learn import LocalizedResult

Array = np.ndarray[Any, np.dtype[Any]]

_ALIKE = 0.2  # copies that were told apart differ by nearly 1 somewhere


def warn_of_machines(model: Any, results: Sequence[LocalizedResult], remedy: str = "") -> None:
    """Warn of machines that were not solved; ``remedy``: another sentence on what to do."""
    name = type(model).__name__
    if any(r.exhausted for r in results):
        warn_caller(
            f"{name}: a machine used all the steps it is allowed; the relative duality gap at the learned "
            f"kernel is {model.dual_gap_:.1e}. Kernels of low rank with a large C crawl: lower C, normalise "
            f"the kernels, or raise tol.{remedy}",
            ConvergenceWarning,
        )
    if any(r.gap > model.tol and not r.exhausted for r in results):
        warn_caller(
            f"{name}: the relative duality gap of a machine at the learned kernel is {model.dual_gap_:.1e}, "
            "and floating point allows no better: the objective is nearly zero. Bring targets and kernels to "
            "the size of 1; a single class must lie away from the origin of its kernels.",
            ConvergenceWarning,
        )


def warn_of_descent(model: Any, results: Sequence[LocalizedResult]) -> None:
    """Warn of a descent over gates that was cut short, and of saturated starts."""
    name = type(model).__name__
    if any(r.status == Status.MAX_ITER for r in results):
        warn_caller(
            f"{name} did not settle to tol={model.tol:g} in {model.max_iter} steps: the last one still "
            f"lowered the objective by {_last_fall(results):.1e} of it. Raise max_iter or tol.",
            ConvergenceWarning,
        )
    if any(r.start_saturated for r in results):
        warn_caller(
            f"{name}: nearly all gate values were 0 or 1 at the start, where the gradient vanishes and "
            "nothing is learned. Lower init_scale, or use fewer gating features."
        )


def _last_fall(results: Sequence[LocalizedResult]) -> float:
    """The largest relative fall in the last step of a descent that was cut short."""
    falls = []
    for r in results:
        if r.status == Status.MAX_ITER and len(r.history) > 1:
            before, after = r.history[-2]["objective"], r.history[-1]["objective"]
            falls.append((before - after) / max(abs(before), 1e-300))
    return max(falls, default=0.0)


def warn_of_equal_copies(model: Any, sources: Array, eta: Sequence[Array]) -> None:
    """Warn where the gates of all copies of a kernel are the same at every sample: they are one kernel."""
    for source in np.unique(sources):
        copies = np.flatnonzero(sources == source)
        spread = max(float(np.ptp(values[:, copies], axis=1).max()) for values in eta)
        is_open = any(values[:, copies].sum(axis=1).max() > _ALIKE for values in eta)
        if copies.size > 1 and is_open and spread < _ALIKE:
            names = ", ".join(repr(model.view_names_[m]) for m in copies)
            warn_caller(
                f"the gates of the copies {names} are nearly alike at every sample: the descent of "
                f"{type(model).__name__} stopped before it told them apart, and they count as one kernel. "
                "Raise init_scale (to 0.1) or patience (to 3), or take gating='softmax'."
            )

"""Samples that lack views: what ``missing`` of a :class:`KernelBank` does with them.

``"mean"`` and ``"complete"`` complete the kernels before anything is learned, in the bank.

With ``"renormalize"`` an absent kernel is 0, and sample i is scaled so that the views S_i that it has count
for those that it lacks: K_ij = c_i c_j Σ_m μ_m K_m,ij, c_i² = Σ_m μ_m / Σ_{m∈S_i} μ_m, but at most what it is
at equal weights, P / |S_i| for P kernels: views that count for little are not blown up, and the rounds come
to an end. The weights are learned with the c of the weights before, uniform ones at first, until c is stable.
So the last problem is convex and has its duality gap for its c; that another c would have a better value is
not excluded. New samples are scaled with the weights that gave this c.

With ``"absent"`` each sample has its margin in the space of the views that it has, w_S for the views S,

    min_w,b  ½ max_i Ω(w_{S_i})² + C Σ_i ℓ(y_i, Σ_{m∈S_i} ⟨w_m, φ_m(x_i)⟩ + b)

which is absent kernel learning (Liu et al. 2015). Ω does not fall when views are added. So a sample that has
all of them has the largest, and the problem is the usual one with zeros where a view is absent, c = 1.
Without such a sample it is another problem, and refused.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._typing import Array
from .._validation import check_choice, warn_caller
from ..views import KernelBank
from ..views.memory import allocate_stack
from ..views.tables import MultiTable
from .fitted import sample_scales
from .optim.loop import ENDED_EARLY, Status
from .weights.loop import SolveResult

FILL_OF: dict[str, str | None] = {
    "error": None,
    "renormalize": "zero",
    "absent": "zero",
    "mean": "mean",
    "complete": "mutual",
}
_STABLE = 1e-3
_PLAIN_ROUNDS = 3  # afterwards the weights of two rounds are averaged, lest they alternate
_MAX_ROUNDS = 20


def missing_of(stored: KernelBank, X: Any) -> str:
    """What is done with samples that lack views; "auto": "renormalize" after an outer join with gaps."""
    asked = check_choice("missing", stored.missing, ("auto", *FILL_OF))
    if asked != "auto":
        return asked
    return "renormalize" if isinstance(X, MultiTable) and X.has_gaps else "error"


def learn_rescaled(
    learn: Callable[[Array, SolveResult | None], SolveResult],
    Ks: Array,
    has: Array,
    start: SolveResult | None,
    place: str,
) -> tuple[SolveResult, Array]:
    """Rounds of learning, until the scales of the samples are stable.

    ``Ks`` is 0 where a sample lacks a view (``has`` (n, n_kernels) says where) and never modified. The result
    of the last round, and the weights (n_kernels,) that gave its scales.
    """
    scaled = allocate_stack(Ks.shape, Ks.dtype, place)
    reference = np.ones(len(Ks)) if start is None else start.weights
    scales, change = sample_scales(has, reference), np.inf
    for number in range(_MAX_ROUNDS):
        for target, K in zip(scaled, Ks, strict=True):
            np.multiply(K, scales[:, None], out=target)
            target *= scales
        result = learn(scaled, start)
        if result.status in (Status.INSEPARABLE, *ENDED_EARLY):
            return result, reference
        weights = result.weights / (result.weights.sum() or 1.0)
        if number >= _PLAIN_ROUNDS:
            weights = 0.5 * (weights + reference / reference.sum())
        change = float(np.abs(sample_scales(has, weights) / scales - 1.0).max())
        if change <= _STABLE:
            return result, reference
        if number < _MAX_ROUNDS - 1:
            start, reference = result, weights
            scales = sample_scales(has, reference)
    warn_caller(
        f"the scales of samples that lack views still change by {change:.1%} after {_MAX_ROUNDS} rounds. The "
        "solution is certified for the last scales only. Use a larger norm, which keeps weights from jumping "
        "between views, or KernelBank(kernels, missing='complete').",
        ConvergenceWarning,
    )
    return result, reference


def require_whole_sample(has: Array) -> None:
    """Refuse training samples (n, n_kernels) none of which has all views."""
    if not has.all(axis=1).any():
        raise ValueError(
            "missing='absent' needs at least one training sample that has all views (in each "
            "classifier); got "
            f"{len(has)} samples that have {has.sum(axis=1).max()} of {has.shape[1]} at most. Use "
            "missing='renormalize' or 'complete', or leave out the views that are rare."
        )

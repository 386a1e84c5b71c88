"""Kernels that lose their weight on factors of too small a rank: found by a small fit on Gram matrices.

Factors that hold little of a kernel take from it what it was chosen for, and another kernel gets its weight.
A fit that took factors unasked therefore learns the weights of a few hundred rows on Gram matrices too. Views
that have weight there, hardly any on the factors of all rows, and a large trace error are named in a warning,
each with the rank that would hold it: the number of landmarks, drawn at random, that do so for other rows.
"""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from sklearn.base import clone, is_classifier

from .._typing import Array
from .._validation import warn_caller
from ..core.low_rank import Factors, LowRankWarning, draw_rows, is_unasked
from ..core.optim.loop import ENDED_EARLY
from ..core.row_input import GivenRows
from ..views import KernelBank, as_views
from ..views.view import place_views

_ROWS = 500  # of the small fit, whose weights hardly differ from those of 2000 rows
_LANDMARKS = 1500  # largest rank that is looked for
_JUDGED = 500  # rows on which landmarks are judged
_JITTER = 1e-10  # on the diagonal, relative
_MISSED = 0.1  # trace errors below it are no reason for a kernel to lose its weight
_CARRIED = 0.05  # shares of the weight on Gram matrices from here on count
_VANISHED = 0.25  # of this share, where no more is left on factors
_KEPT = 0.3  # trace error at which a kernel keeps most of its weight
_TOL = 1e-2


@dataclass(frozen=True)
class Vanished:
    """A view that lost its weight: its shares on either side, its trace error, and the rank to try.

    ``rank`` is None where no rank much below the number of rows holds the kernel.
    """

    name: str
    dense: float
    factors: float
    error: float
    rank: int | None

    def __str__(self) -> str:
        remedy = f"no rank up to {_LANDMARKS} holds it" if self.rank is None else f"try rank={self.rank}"
        return (
            f"{self.name!r} ({self.dense:.0%} of the weight on Gram matrices of {_ROWS} rows, "
            f"{self.factors:.0%} on factors, relative trace error {self.error:.2g}; {remedy})"
        )


def warn_of_vanished(model: Any, given: GivenRows, factors: Factors) -> None:
    """Name the views of a model fitted to factors without a request that lost their weight on them.

    Parameters
    ----------
    model : estimator
        Fitted, its weights stored.
    given : GivenRows
        The rows of the fit, with targets; of a classifier, codes of ``classes_``.
    factors : Factors
    """
    if not is_unasked(model, factors) or model.status_ in ENDED_EARLY:
        return
    vanished = find_vanished(model, given, factors)
    if vanished:
        can_be_held = any(view.rank is not None for view in vanished)
        exact = "gram='dense' or 'memmap', which are exact"
        remedy = f"Give View or KernelBank this rank, or use {exact}" if can_be_held else f"Use {exact}"
        warn_caller(
            "kernels lose their weight because factors of low rank do not hold them: "
            f"{', '.join(map(str, vanished))}. {remedy}; set gram='low_rank' to keep the factors as they "
            f"are.",
            LowRankWarning,
        )


def find_vanished(model: Any, given: GivenRows, factors: Factors) -> list[Vanished]:
    """The views that have weight on Gram matrices of some rows, and hardly any on the factors."""
    shares = _shares(model)
    errors = dict(zip(factors.bank.view_names_, factors.errors.tolist(), strict=True))
    suspects = [name for name in shares if errors[name] > _MISSED and shares[name] <= _VANISHED]
    dense = _dense_shares(model, given) if suspects else {}
    lost = [
        name
        for name in suspects
        if dense.get(name, 0.0) >= _CARRIED and shares[name] <= _VANISHED * dense[name]
    ]
    ranks = _ranks(model, given, lost)
    return [Vanished(name, dense[name], shares[name], errors[name], ranks[name]) for name in lost]


def _shares(model: Any) -> dict[str, float]:
    """The part of each view in all the weight."""
    total = float(model.kernel_weights_.sum()) or 1.0
    return dict(zip(model.view_names_, (model.kernel_weights_ / total).tolist(), strict=True))


def _dense_shares(model: Any, given: GivenRows) -> dict[str, float]:
    """The shares of the same model on Gram matrices of some rows; empty where it has none."""
    X, targets, weights = given.rows.take(draw_rows(given, _ROWS, model._fit_seed))
    y = model.classes_[targets] if is_classifier(model) else np.asarray(targets)
    silent = {"probability": False, "callback": None, "verbose": 0, "tol": max(_TOL, model.tol)}
    known = model.get_params(deep=False)
    small = clone(model).set_params(
        kernels=replace(model._storage, gram="dense"),
        **{name: value for name, value in silent.items() if name in known},
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _shares(small.fit(X, y if y.ndim == 1 or y.shape[1] > 1 else y[:, 0], weights))
        except ValueError:  # one class among these rows, or a kernel that is constant on them
            return {}


def _ranks(model: Any, given: GivenRows, names: list[str]) -> dict[str, int | None]:
    """For each of some views, the rank that holds its kernel."""
    if not names:
        return {}
    numbers = draw_rows(given, _LANDMARKS + _JUDGED, model._fit_seed)
    X = given.rows.take(np.random.default_rng(model._fit_seed).permutation(numbers))[0]
    views = {view.name: view for view in place_views(as_views(model.kernels), X)}
    return {name: sufficient_rank(KernelBank([views[name]]).fit_stack(X)[0]) for name in names}


def sufficient_rank(K: Array) -> int | None:
    """Number of landmarks, to two digits, with which a kernel keeps its weight.

    It is the least number of rows that leave out at most three tenths of the trace of the others. `K` is the
    Gram matrix of rows in random order: three quarters of them are landmarks, one after the other, and the
    others are judged. None where all landmarks are too few.

    Examples
    --------
    >>> Z = np.random.default_rng(0).normal(size=(100, 6))
    >>> sufficient_rank(Z @ Z.T), sufficient_rank(np.eye(100))
    (5, None)
    """
    most = 3 * len(K) // 4
    landmarks = K[:most, :most] + _JITTER * K.diagonal().max() * np.eye(most)
    held = solve_triangular(cholesky(landmarks, lower=True), K[:most, most:], lower=True)
    traces = np.cumsum(np.einsum("ij,ij->i", held, held))
    enough = traces >= (1.0 - _KEPT) * K.diagonal()[most:].sum()
    if not enough.any():
        return None
    rank = int(np.argmax(enough)) + 1
    unit = 10 ** max(len(str(rank)) - 2, 0)
    return -(-rank // unit) * unit

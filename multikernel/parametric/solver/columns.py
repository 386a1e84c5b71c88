"""Kernel weights over all widths of an interval, by column generation.

    min_μ max_β  Σ_t (reward(β_t) − ½ Σ_t β_t'(K_μ + shift) β_t),   K_μ = ∫ K_γ dμ(γ),  μ ≥ 0,  μ(all) ≤ 1

where the γ are those of several families, beside fixed kernels. A measure μ on finitely many kernels solves
it (Argyriou, Micchelli & Pontil 2005). Each round learns the weights of the kernels at hand, and asks every
family for the widths whose quadratic forms β'K_γβ exceed those of the kernels at hand; these come in, and
kernels without weight go.

**Certificate.** For the duals of a round let q be the largest quadratic form of the kernels at hand, and Q a
bound for all widths (:mod:`.widths`). With the lower bound l of the round for its own kernels,
l − ½ max(0, Q − q) bounds the value over all widths from below; the primal value of the round bounds it from
above.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..._typing import Array
from ...core.optim.loop import Options, Recorder, Status, relative_gap
from ...core.svm.losses import Loss, value_floor
from ...core.weights.learn import learn_weights
from ...core.weights.loop import SolveResult
from .widths import Forms, WidthFamily

_FIRST_TOL = 0.01  # of the weights of the first round
_LEAST_TOL = 1e-9
_SHARE = 0.25  # of the gap is left to the weights
_ORACLE_SHARE = 0.1  # of the gap is left to the bound over the widths
_SAME = 1e-7  # relative difference of widths that are the same
_NEW_PER_FAMILY = 3
_PROGRESS = 0.8  # a gap that is not below this share of the last is no progress
_STALLS = 4


class Column(NamedTuple):
    """A kernel that was found: the number of its family, and its width."""

    family: int
    gamma: float


@dataclass
class _Kernels:
    """The kernels at hand: the fixed ones, and those of the columns."""

    fixed: Array  # (n_fixed, n, n)
    families: Sequence[WidthFamily]
    columns: list[Column]
    Ks: Array

    @classmethod
    def start(cls, fixed: Array, families: Sequence[WidthFamily]) -> "_Kernels":
        columns = [Column(f, family.center) for f, family in enumerate(families)]
        grams = [families[f].gram(gamma) for f, gamma in columns]
        Ks = np.concatenate([fixed, np.array(grams).reshape(-1, *fixed.shape[1:])])
        return cls(fixed, families, columns, Ks)

    def exchange(self, weights: Array, new: list[Column]) -> Array:
        """Leave out columns without weight, take in new ones; the weights of what is there now."""
        first = len(self.fixed)
        kept = np.append(np.ones(first, bool), weights[first:] > 0.0)
        self.columns = [c for c, k in zip(self.columns, kept[first:], strict=True) if k] + new
        grams = [self.families[f].gram(gamma)[None] for f, gamma in new]
        self.Ks = np.concatenate([self.Ks[kept], *grams])
        return np.append(weights[kept], np.zeros(len(new)))

    def largest_form(self, duals: Array) -> float:
        """The largest quadratic form of the kernels at hand."""
        return float(max(sum(float(beta @ (K @ beta)) for beta in duals) for K in self.Ks))


class _Prices(NamedTuple):
    """What the families say of the duals of a round."""

    new: list[Column]
    bound: float  # of the quadratic forms of all kernels


def learn_widths(
    fixed: Array, families: Sequence[WidthFamily], losses: Sequence[Loss], options: Options
) -> tuple[SolveResult, list[Column]]:
    """Learn weights and widths.

    Parameters
    ----------
    fixed : array (n_fixed, n, n), kernels as they are; possibly none
    families : sequence of WidthFamily
    losses : sequence of Loss, all of one kind
        One for each machine; they share the kernels.
    options : Options

    Returns
    -------
    result : SolveResult
        On the fixed kernels and then the columns; its bounds and its gap are those of the problem over all
        widths.
    columns : list of Column
    """
    record = Recorder.of(options)
    kernels = _Kernels.start(fixed, families)
    start: SolveResult | None = None
    best: tuple[SolveResult, list[Column]] | None = None
    tol, n_stalls = max(_FIRST_TOL, _SHARE * options.tol), 0
    while True:
        result = learn_weights(kernels.Ks, losses, options=Options(tol=tol, seed=options.seed), start=start)
        if result.status in (Status.INSEPARABLE, Status.INDEFINITE) or not result.is_finite:
            return result, kernels.columns
        prices = _price(kernels, result, options.tol)
        least = value_floor(losses, kernels.Ks.diagonal(axis1=1, axis2=2).mean(axis=1))
        result = _certified(result, prices.bound - kernels.largest_form(result.duals), least)
        progressed = best is None or result.gap < _PROGRESS * best[0].gap
        n_stalls = 0 if progressed else n_stalls + 1
        if best is None or result.gap < best[0].gap:
            best = result, list(kernels.columns)
        entry = {
            "iteration": len(record.history) + 1,
            "objective": result.upper_bound,
            "lower_bound": result.lower_bound,
            "gap": result.gap,
            "n_active": int(np.count_nonzero(result.weights)),
        }
        if record.note(entry):
            break
        if n_stalls >= _STALLS and tol <= _LEAST_TOL:
            record.stop(Status.STALLED)
            break
        tol = _next_tol(tol, result.gap, options.tol, progressed and bool(prices.new))
        start = replace(result, weights=kernels.exchange(result.weights, prices.new))
    found, columns = best
    found = replace(found, status=record.status, n_iter=record.n_iter, history=record.history)
    return _used(found, columns, len(fixed))


def _used(result: SolveResult, columns: list[Column], n_fixed: int) -> tuple[SolveResult, list[Column]]:
    """The columns with weight, by family and width; all of them where a kernel predicts by a factor."""
    if result.factors:
        return result, columns
    used = [k for k in range(len(columns)) if result.weights[n_fixed + k] > 0.0]
    if not used and not n_fixed:
        used = [0]  # a model is not without a kernel
    used.sort(key=lambda k: columns[k])
    order = [*range(n_fixed), *(n_fixed + k for k in used)]
    return replace(result, weights=result.weights[order]), [columns[k] for k in used]


def _next_tol(tol: float, gap: float, goal: float, advances: bool) -> float:
    """The tolerance of the next round: a share of the gap; less where new kernels did not lower it."""
    if not advances:
        return max(0.1 * min(tol, gap), _LEAST_TOL)
    return max(min(tol, _SHARE * gap), _SHARE * goal)


def _certified(result: SolveResult, excess: float, least_size: float) -> SolveResult:
    """The result with the bounds of the problem over all widths."""
    lower = result.lower_bound - 0.5 * max(excess, 0.0)
    gap = max(relative_gap(result.upper_bound, lower, least_size), 0.0)
    return replace(result, lower_bound=lower, gap=gap)


def _price(kernels: _Kernels, result: SolveResult, tol: float) -> _Prices:
    """Widths with larger quadratic forms than the kernels at hand, and the bound for all of them."""
    forms = [family.forms(result.duals) for family in kernels.families]
    size = abs(result.upper_bound)
    own = kernels.largest_form(result.duals)
    new, level = _new_columns(kernels, forms, own)
    apart = max(result.gap, (level - own) / (2.0 * size) if size > 0.0 else 0.0, tol)
    allowed = 2.0 * _ORACLE_SHARE * apart * size
    bounds = [form.bound(level, allowed) for form in forms]
    return _Prices(new, max([level, *bounds]))


def _new_columns(kernels: _Kernels, forms: Sequence[Forms], own: float) -> tuple[list[Column], float]:
    """Columns that are worth more than those at hand, and the largest form of all."""
    new, level = [], own
    for f, form in enumerate(forms):
        there = np.array([c.gamma for c in kernels.columns if c.family == f])
        for gamma, value in form.candidates(own)[:_NEW_PER_FAMILY]:
            level = max(level, value)
            is_new = not there.size or np.abs(there / gamma - 1.0).min() > _SAME
            if value > own + form.slack and is_new:
                new.append(Column(f, gamma))
    return new, level

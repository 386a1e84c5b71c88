"""The judge of machines on factors: from coefficients alone, NumPy alone, in double precision.

    min_w,b  ½ Ω(w)² + C Σ_i ℓ(y_i, z_i·w + b),     Ω(w)² = min_{μ ≥ 0, ‖μ‖_p ≤ 1} Σ_m ‖w_m‖² / μ_m

with ℓ the hinge, half the squared hinge or half the squared error. The intercept is the best one for the
given w, found here, so that nobody gains or loses by his. A lower bound comes from duals made of the same w,
or of another one that a solver names as its witness (any duals bound the optimum):
α_i = −C ℓ'(f_i), balanced by the intercept and scaled as is best. A hinge has no slope at its corner, and
there the judge takes that of a hinge rounded over some width, the one at which the bound is best: tight for
machines that come from a rounded hinge, and far off for exact ones, whose duals w does not tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Blocks = Callable[[], Iterator[NDArray[np.floating]]]

LOSSES = ("hinge", "squared_hinge", "squared")
BLOCK_ROWS = 2**15

_WIDTHS = np.geomspace(4.0, 4e-6, 13)  # of the rounded hinge
_AROUND = np.array([0.7, 0.9, 1.0, 1.1, 1.4])  # what is tried about a width that is told
_HALVINGS = 200


@dataclass(frozen=True)
class Problem:
    """What is solved.

    Attributes
    ----------
    blocks : callable
        Each call gives the rows of the factors anew, block after block.
    offsets : tuple of int
        Where each view begins among the columns, and where the last one ends.
    y : array (n,)
        ±1 for the hinges, values for the squared error.
    C : float
    loss : str
    norm : float
        p of the weight set: 1 learns sparse weights, infinity is the plain sum.
    """

    blocks: Blocks
    offsets: tuple[int, ...]
    y: FloatArray
    C: float
    loss: str
    norm: float = 1.0


@dataclass(frozen=True)
class Verdict:
    """What the judge finds: the value of the problem at the coefficients, and a bound on the optimum."""

    value: float
    lower: float
    intercept: float

    @property
    def gap(self) -> float:
        """The relative gap."""
        return (self.value - self.lower) / abs(self.value)


def blocks_of(Z: NDArray[np.floating]) -> Blocks:
    """The blocks of an array in memory, or of one on disk."""

    def blocks() -> Iterator[NDArray[np.floating]]:
        for start in range(0, len(Z), BLOCK_ROWS):
            yield Z[start : start + BLOCK_ROWS]

    return blocks


def judge(
    problem: Problem,
    w: FloatArray,
    *,
    bound: bool = True,
    width: float | None = None,
    witness: FloatArray | None = None,
) -> Verdict:
    """The value at w with its best intercept; with `bound`, a lower bound of the optimum too.

    A `width` tells over how much a hinge was rounded: one read of the factors is then enough. The bound is
    that of the duals of `witness` where one is given, of those of w else.
    """
    w = np.asarray(w, dtype=np.float64)
    f = _scores(problem, w)
    b = best_intercept(problem, f)
    value = 0.5 * complexity(problem, w) + problem.C * _losses(problem, f + b).sum()
    if not bound:
        return Verdict(float(value), -np.inf, b)
    if witness is None:
        return Verdict(float(value), float(lower_bound(problem, f + b, width)), b)
    other = _scores(problem, np.asarray(witness, dtype=np.float64))
    lower = lower_bound(problem, other + best_intercept(problem, other), width)
    return Verdict(float(value), float(lower), b)


def _scores(problem: Problem, w: FloatArray) -> FloatArray:
    if w.shape != (problem.offsets[-1],) or not np.isfinite(w).all():
        raise ValueError(f"coefficients must be {problem.offsets[-1]} finite numbers.")
    return np.concatenate([block @ w for block in _in_double(problem)])


def complexity(problem: Problem, w: FloatArray) -> float:
    """Ω(w)²: (Σ_m ‖w_m‖^q)^(2/q) with q = 2p / (p + 1)."""
    norms = np.array([np.linalg.norm(part) for part in _views(problem, w)])
    q = 2.0 if np.isinf(problem.norm) else 2.0 * problem.norm / (problem.norm + 1.0)
    return float(np.sum(norms**q) ** (2.0 / q))


def best_intercept(problem: Problem, f: FloatArray) -> float:
    """The b at which the sum of the losses of f + b is least."""
    if problem.loss == "squared":
        return float(np.mean(problem.y - f))
    edges = problem.y - f  # of a row: the b at which its loss begins or ends
    if problem.loss == "hinge":  # the slope in b rises by one at every edge, from −n₊ on
        return float(np.sort(edges)[int(np.sum(problem.y > 0)) - 1])

    def slope(b: float) -> float:
        return float(-(problem.y * np.maximum(0.0, 1.0 - problem.y * (f + b))).sum())

    return _root(slope, float(edges.min()), float(edges.max()))


def lower_bound(problem: Problem, f: FloatArray, width: float | None = None) -> float:
    """The best of the dual values that f gives."""
    if problem.loss == "squared":
        left = problem.y - f
        return _dual_values(problem, problem.C * (left - left.mean())[None], np.inf)[0]
    if problem.loss == "squared_hinge":
        alpha = _balanced(problem.C * np.maximum(0.0, 1.0 - problem.y * f), problem.y)
        return _dual_values(problem, (alpha * problem.y)[None], np.inf)[0]
    if width is not None:
        return _best_rounding(problem, f, width * _AROUND, finer=0)
    return _best_rounding(problem, f, _WIDTHS, finer=2)


def _best_rounding(problem: Problem, f: FloatArray, widths: FloatArray, finer: int) -> float:
    """The best bound over widths of the rounded hinge, those around the best one looked at again."""
    best = -np.inf
    for _ in range(1 + finer):
        signed = np.stack([_rounded_duals(problem, f, width) * problem.y for width in widths])
        values = _dual_values(problem, signed, 1.0)
        place = int(np.argmax(values))
        best = max(best, values[place])
        around = widths[max(place - 1, 0)], widths[min(place + 1, len(widths) - 1)]
        widths = np.geomspace(*around, len(widths))
    return best


def _rounded_duals(problem: Problem, f: FloatArray, width: float) -> FloatArray:
    """C times the slope of a hinge rounded over `width` around its corner, moved so that y'α = 0."""

    def duals(b: float) -> FloatArray:
        return problem.C * np.clip((1.0 - problem.y * (f + b)) / width + 0.5, 0.0, 1.0)

    edges = problem.y - f
    b = _root(lambda b: float(-(problem.y * duals(b)).sum()), edges.min() - width, edges.max() + width)
    return _balanced(duals(b), problem.y)


def _balanced(alpha: FloatArray, y: FloatArray) -> FloatArray:
    """What is left of y'α after the search for b is taken off the heavier class."""
    positive, negative = alpha[y > 0].sum(), alpha[y < 0].sum()
    least = min(positive, negative)
    return alpha * np.where(y > 0, least / max(positive, 1e-300), least / max(negative, 1e-300))


def _dual_values(problem: Problem, signed: FloatArray, most: float) -> list[float]:
    """For each row of signed duals the largest value of its multiples by s, 0 ≤ s ≤ `most`."""
    totals = np.zeros((len(signed), problem.offsets[-1]))
    start = 0
    for block in _in_double(problem):
        totals += signed[:, start : start + len(block)] @ block
        start += len(block)
    values = []
    for row, total in zip(signed, totals, strict=True):
        linear = float(row @ problem.y)
        quadratic = _dual_complexity(problem, total)
        if problem.loss != "hinge":
            quadratic += float(row @ row) / problem.C
        scale = min(most, linear / quadratic) if quadratic > 0.0 else 1.0
        values.append(scale * linear - 0.5 * scale**2 * quadratic)
    return values


def _dual_complexity(problem: Problem, total: FloatArray) -> float:
    """max over the weight set of Σ_m μ_m ‖Z_m'(y α)‖²: the p/(p−1) norm of the squares."""
    squares = np.array([part @ part for part in _views(problem, total)])
    if problem.norm == 1.0:
        return float(squares.max())
    power = 1.0 if np.isinf(problem.norm) else problem.norm / (problem.norm - 1.0)
    return float(np.sum(squares**power) ** (1.0 / power))


def _losses(problem: Problem, f: FloatArray) -> FloatArray:
    if problem.loss == "squared":
        return 0.5 * (problem.y - f) ** 2
    short = np.maximum(0.0, 1.0 - problem.y * f)
    return short if problem.loss == "hinge" else 0.5 * short**2


def _views(problem: Problem, w: FloatArray) -> list[FloatArray]:
    return [w[start:stop] for start, stop in pairwise(problem.offsets)]


def _in_double(problem: Problem) -> Iterator[FloatArray]:
    for block in problem.blocks():
        yield np.asarray(block, dtype=np.float64)


def _root(slope: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function is zero, by halving."""
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
    return 0.5 * (low + high)

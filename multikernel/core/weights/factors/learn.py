"""Entry point for the solver on factors: scaling, start, the loop, and the result in the caller's units."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...._threads import one_thread
from ...._typing import Array
from ...optim.loop import Options, Result
from ...optim.weight_sets import LpBall
from ...svm.primal import PrimalLoss
from .descent import Descent, Point, Problem
from .model import BlockNorm
from .rounds import Rounds, Rows, Survey, Units, block_survey, choose_units, thin

_LOOKED_AT = 4096  # rows that tell the scale of the factors
_WIDEST = 4.0  # the first smoothing: all rows are inside when all scores are 0
_COARSE_ROWS = 10  # times the number of columns: what a start on a part of the rows takes
_COARSE_SHARE = 8
_COARSE_GAP = 0.1
_LEAST_SIZE = 1e-12  # of the loss without any score: what is below it is rounding


class Witness(NamedTuple):
    """Where the slopes of the (smoothed) loss give the β of the lower bound: β = −C ∂ℓ/∂f.

    Where it does not sum to zero, and there is an intercept, its heavier side is scaled down; then all of it
    by the best factor within its bounds.
    """

    coefficients: Array  # (T, R)
    intercepts: Array  # (T,)
    smoothing: float  # the width in units of the targets; 0 for losses without a kink


@dataclass(frozen=True)
class BlockResult(Result):
    """Learned weights of blocks of factors, and one linear machine for each task.

    The objective is the dual value at the learned kernel, the gap (upper − lower) / |upper|. The history has
    the best bounds until then, n_active and smoothing; in the last entry the bounds of what is returned.
    """

    weights: Array  # (m,), of the kernels Z_m Z_m'
    coefficients: Array  # (T, R), the scores are Z @ coefficients.T + intercepts
    intercepts: Array  # (T,)
    # upper_bound, lower_bound: they enclose the optimal value; the first is that of the coefficients
    upper_bound: float
    lower_bound: float
    witness: Witness  # of the lower bound
    smoothing: float  # the last width of the smoothing; 0 for losses without a kink
    rounds: int  # map-reduces, those on a part of the rows included
    bytes_moved: int  # what went to the blocks and came back, over all blocks and rounds

    @property
    def is_finite(self) -> bool:
        """Whether nothing overflowed on the way back to the caller's units."""
        numbers = (self.weights, self.coefficients, self.intercepts, np.array([self.objective, self.gap]))
        return all(bool(np.isfinite(values).all()) for values in numbers)


def learn_block_weights(
    rows: Rows,
    offsets: Sequence[int] | Array,
    loss: PrimalLoss,
    *,
    n_tasks: int,
    norm: float = 1.0,
    costs: Array | None = None,
    fit_intercept: bool = True,
    options: Options | None = None,
    start: BlockResult | None = None,
) -> BlockResult:
    """Learn the weights of kernels K_m = Z_m Z_m' from their factors, common to one or more machines.

    min over μ and w, b of  ½ Σ_t Σ_m ‖w_tm‖²/μ_m + Σ_t Σ_i C_ti ℓ(y_ti, Σ_m z_im·w_tm + b_t)
    subject to  μ ≥ 0,  Σ_m (d_m² μ_m)^p ≤ 1

    Parameters
    ----------
    rows : RowBlocks
        Whose parts are Z (n, R), C-contiguous float64 or float32; targets (n, T), ±1 for the hinge losses;
        prices C ≥ 0 (n, T), or (n, 1) for all tasks.
    offsets : sequence of m + 1 ints
        Where the columns of each block begin, and R.
    loss : PrimalLoss
    n_tasks : int
    norm : float >= 1
        p of the weight set.
    costs : array (m,), optional
        The positive d_m; 1 each by default.
    fit_intercept : bool
    options : Options, optional
    start : BlockResult, optional
        Where to start: the result of a nearby problem.

    Returns
    -------
    BlockResult

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.core.svm.primal import PrimalHinge
    >>> from multikernel.rows import LocalRows
    >>> y = np.array([[-1.0], [-1.0], [1.0], [1.0]])
    >>> Z = np.array([[-1.2, 1.0], [-0.8, -1.0], [0.9, 1.0], [1.1, -1.0]])
    >>> rows = LocalRows((Z, y, np.full((4, 1), 0.1)))
    >>> result = learn_block_weights(rows, [0, 1, 2], PrimalHinge(), n_tasks=1)
    >>> result.weights.round(3).tolist(), bool(result.gap <= 1e-3)
    ([1.0, 0.0], True)
    """
    options = options or Options()
    offsets = _checked_offsets(offsets)
    kernel_costs = np.ones(offsets.size - 1) if costs is None else np.asarray(costs, float)
    rounds = Rounds(rows)
    # Blocks have threads of their own, and those of the linear algebra would be in their way. Whether the
    # numbers are finite, the result says.
    with one_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        survey = rounds.sum(block_survey, loss, max(rows.n_rows // _LOOKED_AT, 1))
        units = choose_units(survey, offsets, kernel_costs, loss.has_signs)
        least_size = _LEAST_SIZE * float(survey.risk[0]) * units.value
        norms = BlockNorm(LpBall(norm), offsets)
        problem = Problem(loss, norms, loss.epsilon / units.target, fit_intercept, least_size)
        if start is not None:
            first = _warm_start(start, units, n_tasks)
        else:
            first = _cold_start(survey, units, problem, n_tasks)
            if options.coarse and not loss.is_quadratic:
                first = _coarse_start(rounds, problem, units, options, first)
        descent = Descent(rounds, problem, units, options, first)
        descent.run()
        return _result(descent, kernel_costs)


def _checked_offsets(offsets: Sequence[int] | Array) -> Array:
    offsets = np.asarray(offsets)
    if offsets.ndim != 1 or offsets.size < 2 or offsets[0] != 0 or (np.diff(offsets) < 1).any():
        raise ValueError(
            f"offsets must rise from 0 to the number of columns, by one at least; got {offsets.tolist()}. "
            "Leave out blocks without columns."
        )
    return offsets


def _cold_start(survey: Survey, units: Units, problem: Problem, n_tasks: int) -> tuple[Point, float]:
    """No coefficients, the mean target as intercept, and a smoothing as wide as the targets are spread."""
    w, b = np.zeros((n_tasks, units.columns.size)), np.zeros(n_tasks)
    if problem.loss.has_signs:
        return Point(w, b), _WIDEST
    price = np.maximum(survey.price, np.finfo(float).tiny)
    mean = survey.priced_target / price
    spread = np.sqrt(np.maximum(survey.priced_square / price - mean * mean, 0.0)).max() / units.target
    width = _WIDEST * max(float(spread), 1e-6)
    return Point(w, mean / units.target if problem.has_intercept else b), width


def _warm_start(start: BlockResult, units: Units, n_tasks: int) -> tuple[Point, float]:
    shape = (n_tasks, units.columns.size)
    if start.coefficients.shape != shape:
        raise ValueError(
            f"start must have coefficients of the shape {shape}; got {start.coefficients.shape}. Pass a "
            "result for the same factors and tasks, or None."
        )
    point = Point(units.scaled_coefficients(start.coefficients), start.intercepts / units.target)
    return point, start.smoothing / units.target if start.smoothing > 0.0 else _WIDEST


def _coarse_start(
    rounds: Rounds, problem: Problem, units: Units, options: Options, first: tuple[Point, float]
) -> tuple[Point, float]:
    """Solve a part of the rows roughly, and start from there."""
    n, R = rounds.rows.n_rows, units.columns.size
    least = _COARSE_ROWS * R + 1000
    n_levels = int(np.log(max(n / least, 1.0)) / np.log(_COARSE_SHARE))
    for level in range(n_levels, 0, -1):
        share = _COARSE_SHARE**level
        part = rounds.part(thin, share, options.seed)
        tol = max(options.tol, _COARSE_GAP * R * share / n)
        rough = replace(options, tol=tol, rough=True, callback=None)
        child = Descent(part, problem, units, rough, first)
        child.run()
        rounds.add(part)
        first = child.state.point, child.state.width
    return first


def _result(descent: Descent, costs: Array) -> BlockResult:
    units, best = descent.units, descent.best
    assert descent.witness is not None
    point, width, bounds = descent.witness
    value = 1.0 / units.value
    mu = descent.problem.norm.weights(best.w)
    return BlockResult(
        weights=mu / (costs * costs),
        coefficients=units.coefficients(best.w),
        intercepts=best.b * units.target,
        objective=bounds.dual.value(mu) * value,
        upper_bound=descent.upper * value,
        lower_bound=descent.lower * value,
        gap=descent.gap,
        witness=Witness(
            units.coefficients(point.w),
            point.b * units.target,
            0.0 if descent.problem.loss.is_smooth else width * units.target,
        ),
        smoothing=descent.record.history[-1]["smoothing"],
        rounds=descent.rounds.rounds,
        bytes_moved=descent.rounds.bytes_moved,
        **descent.record.outcome,
    )

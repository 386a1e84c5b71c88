"""Entry point for the weight learner: scaling, start, the loop, and the result in the caller's units."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..._typing import Array
from ...kernels.together import OnDemand
from ..optim.loop import Options, Status, power_of_two
from ..optim.weight_sets import LpBall, norm_and_slope
from ..stack.low_rank import Factor
from ..stack.sums import WeightedStack, stack_diagonals
from ..svm.losses import EpsilonInsensitive, HardMargin, JointHinge, Loss, OneClass, SquaredError, WorstHinge
from ..svm.separability import separating_duals, spread
from ..svm.smooth import SmoothLoss
from . import second
from .loop import WORKING_MARGIN, OuterLoop, SolveResult

_COARSE_GAP = 0.05
_COARSE_SIZE = 150  # a start on fewer samples than this is not worth its overhead
_FEW_KERNELS = 10  # so few are read so fast that it has to be on twice as many
_COARSE_SHARE = 4
_RUN = 8


def learn_weights(
    Ks: Array | OnDemand,
    losses: Sequence[second.AnyLoss],
    *,
    norm: float = 1.0,
    costs: Array | None = None,
    learn_ridge: bool = False,
    floor: Array | None = None,
    options: Options | None = None,
    start: SolveResult | None = None,
    exact: second.Exact | None = None,
) -> SolveResult:
    """Learn the weights of a stack of kernels, common to one or more machines.

    Parameters
    ----------
    Ks : array (n_kernels, n, n), C-contiguous float64 or float32
        Symmetric positive semidefinite; never modified. Or an :class:`OnDemand` stack, whose kernels are
        computed when they are read.
    losses : sequence of Loss or of SmoothLoss, all of one kind, or of one JointHinge
        One for each task (a classifier, an output); the last has an output for each class.
    norm : float >= 1
        p of the weight set Σ_m (d_m² μ_m)^p ≤ 1.
    costs : array (n_kernels,), optional
        The positive d_m; 1 each by default.
    learn_ridge : bool
        With :class:`HardMargin`: the identity is one more kernel of cost 1, so that C of the squared hinge is
        learned (C = 1/ridge).
    floor : array (n_kernels,), optional
        Lower bounds l ≥ 0 of d_m² μ_m, which is at most 1, with ‖l‖_p < 1. The weights are then
        d_m² μ_m = l_m + (1 − ‖l‖_p) ν_m with ν in the weight set; for p = 1 that is the set of all weights
        with Σ_m d_m² μ_m ≤ 1 above the bounds. All bounds are certified by the gap of this problem. With an
        infinite norm every weight is 1, and no bound counts.
    options : Options, optional
    start : SolveResult, optional
        Where to start: the result for the same losses on nearby kernels, or with other costs or another norm.
        A hard margin finds its own start.
    exact : function of the number of a kernel, optional
        Its explicit features (n, r), or None: where dual variables do not hold the function, they do.

    Returns
    -------
    SolveResult

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.core.svm.losses import Hinge
    >>> y = np.array([-1.0, -1.0, 1.0, 1.0])
    >>> x, z = np.array([-1.2, -0.8, 0.9, 1.1]), np.array([1.0, -1.0, 1.0, -1.0])
    >>> result = learn_weights(np.stack([np.outer(x, x), np.outer(z, z)]), [Hinge(y, 0.1)])
    >>> result.weights.round(3).tolist(), bool(result.gap <= 1e-3)
    ([1.0, 0.0], True)
    """
    result = _learn(Ks, losses, norm, costs, learn_ridge, floor, options or Options(), start, exact)
    return result if learn_ridge else _no_worse_than_a_constant(result, losses)


def _learn(
    Ks: Array | OnDemand,
    losses: Sequence[second.AnyLoss],
    norm: float,
    costs: Array | None,
    learn_ridge: bool,
    floor: Array | None,
    options: Options,
    start: SolveResult | None,
    exact: second.Exact | None,
) -> SolveResult:
    """The result of the solvers, whatever they reached."""
    Ks = Ks if isinstance(Ks, OnDemand) else np.asarray(Ks)
    kernel_costs = np.ones(Ks.shape[0]) if costs is None else np.asarray(costs, float)
    # what overflows on the way is in the result, which says whether it is finite
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        diagonals = stack_diagonals(Ks)
        # the largest mean diagonal after costs: weights and gradients are then of order one
        largest = float((diagonals.mean(axis=1) / (kernel_costs * kernel_costs)).max())
        kernel_scale = power_of_two(largest)
        target_scale = _target_scale(losses, kernel_scale)
        scaled = [loss.rescaled(kernel_scale, target_scale) for loss in losses]
        fixed, left = _fixed_part(floor, norm, len(Ks) + learn_ridge)
        scales = left / (kernel_costs * kernel_costs * kernel_scale)
        if learn_ridge:
            scales = np.append(scales, left / kernel_scale)
        warm = None if start is None else _scaled_start(start, kernel_costs, kernel_scale / target_scale)
        if warm is not None and fixed is not None:
            warm = warm._replace(weights=_above(warm.weights[: fixed.size] / left - fixed))
        identity = scaled[0].identity if learn_ridge and not isinstance(scaled[0], SmoothLoss) else None
        stack = WeightedStack(Ks, scales, scaled[0].shift, identity, diagonals=diagonals, floor=fixed)
        units = (target_scale / kernel_scale, target_scale)
        can_hand_over = second.is_possible(stack, scaled, exact)
        factors = second.beyond_precision(stack, scaled, exact) if can_hand_over else {}
        if factors or isinstance(scaled[0], SmoothLoss):
            learner = OuterLoop(stack, scaled, LpBall(norm), options)
            learner.units = units
            return _hand_over(learner, scaled, factors, kernel_costs, left, exact)
        found = _prepare(stack, scaled, LpBall(norm), options, can_hand_over, warm)
        if found is None:
            return _inseparable(Ks, losses)
        learner, learner.units = found, units
        status = learner.run()
        result = _result(learner, status, kernel_costs, learn_ridge, left)
        if status != Status.STALLED or not can_hand_over:
            return result
        handed = _hand_over(learner, scaled, {}, kernel_costs, left, exact)
        if handed.gap <= result.gap:
            return handed
        last = handed.history[-1] | learner.bounds(learner.upper, learner.lower)
        history = [*handed.history[:-1], last]
        return replace(result, status=handed.status, n_iter=handed.n_iter, history=history)


def _no_worse_than_a_constant(result: SolveResult, losses: Sequence[second.AnyLoss]) -> SolveResult:
    """The result, or constant functions where a fit that ended early is worse than they are.

    They have duals of 0, which are feasible and bound every value from below by 0: no gap exceeds 1. A
    function by factors alone takes these duals, if its own bound is worse.
    """
    if result.status in (Status.OPTIMAL, Status.INDEFINITE, Status.INSEPARABLE):
        return result
    constants = [_constant(loss) for loss in losses]
    upper = sum(value for value, _ in constants)
    is_worse = result.upper_bound > upper
    if not (np.isfinite(upper) and (is_worse or result.gap > 1.0)):
        return result
    nothing = np.zeros_like(result.duals)
    if is_worse:
        intercepts = np.concatenate([intercepts for _, intercepts in constants])
        result = replace(
            result, duals=nothing, intercepts=intercepts, factors={}, objective=0.0, upper_bound=upper
        )
    elif np.isin(np.flatnonzero(result.weights), list(result.factors)).all():
        result = replace(result, duals=nothing, objective=0.0)  # the function does not need them
    last = result.history[-1] | {"objective": result.upper_bound, "lower_bound": 0.0, "gap": 1.0}
    return replace(result, lower_bound=0.0, gap=1.0, history=[*result.history[:-1], last])


def _constant(loss: second.AnyLoss) -> tuple[float, Array]:
    """The value and the intercepts of the best constant; infinite where duals of 0 are infeasible."""
    if isinstance(loss, JointHinge):
        margins = loss.margins.max(axis=1) if isinstance(loss, WorstHinge) else loss.margins.sum(axis=1)
        return float(loss.upper @ margins), np.zeros(loss.n_classes)
    if isinstance(loss, SmoothLoss) or loss.total:
        return np.inf, np.zeros(1)
    value, intercept = loss.risk(np.zeros(loss.target.size))
    return value, np.array([intercept])


def _fixed_part(floor: Array | None, norm: float, n_kernels: int) -> tuple[Array | None, float]:
    """The floor in units of what is left of the budget, and that; the identity, the last, has none."""
    if floor is None or np.isinf(norm) or not floor.any():
        return None, 1.0
    left = 1.0 - norm_and_slope(floor, norm)[0]
    if not left > 0.0:
        raise ValueError(f"floor must have a norm below 1; got {floor.tolist()} for norm={norm:g}.")
    fixed = np.zeros(n_kernels)
    fixed[: floor.size] = floor / left
    return fixed, left


def _above(weights: Array) -> Array:
    """What is above the floor; equal weights where nothing is."""
    above = np.maximum(weights, 0.0)
    return above if above.any() else np.ones(weights.size)


def _target_scale(losses: Sequence[second.AnyLoss], kernel_scale: float) -> float:
    if isinstance(losses[0], OneClass):
        return kernel_scale  # β stays as it is
    if isinstance(losses[0], EpsilonInsensitive | SquaredError):
        targets = [loss.target for loss in losses if isinstance(loss, Loss)]
        return power_of_two(max(float(np.abs(target).max()) for target in targets))
    return 1.0


class _Start(NamedTuple):
    """Weights (those of a learned ridge last) and duals in the learner's units."""

    weights: Array
    duals: Array


def _scaled_start(start: SolveResult, costs: Array, scale: float) -> _Start:
    """An earlier result in the units of the present problem, on which it puts no condition but the sizes."""
    return _Start(np.append(start.weights * costs * costs, start.ridge), start.duals * scale)


def _start_warm(learner: OuterLoop, start: _Start) -> None:
    """Take the weights, as far as the set allows, and the duals of an earlier solution."""
    weights = start.weights[: learner.n_kernels]
    if not learner.fixed and np.isfinite(weights).all() and weights.any():
        learner.mu = learner.weight_set.from_simplex(learner.weight_set.to_simplex(weights / weights.max()))
    sizes = np.cumsum([machine.n_outputs for machine in learner.machines])
    if start.duals.shape != (sizes[-1], learner.stack.n):
        raise ValueError(
            f"start must have duals of the shape {(int(sizes[-1]), learner.stack.n)}; got "
            f"{start.duals.shape}. Pass a result for the same samples and classes."
        )
    for machine, duals in zip(learner.machines, np.split(start.duals, sizes[:-1]), strict=True):
        machine.set_start(duals if machine.n_outputs > 1 else duals[0])
        if not machine.is_feasible():
            raise ValueError(
                "start must be feasible for the present losses: within the bounds, of the same sum. Pass a "
                "result for the same C, targets and weights of samples, or None."
            )


def _prepare(
    stack: WeightedStack,
    losses: Sequence[second.AnyLoss],
    weight_set: LpBall,
    options: Options,
    can_hand_over: bool,
    start: _Start | None = None,
) -> OuterLoop | None:
    """The learner at its starting point; None if a hard margin cannot exist."""
    learner = OuterLoop(stack, losses, weight_set, options)
    if can_hand_over:
        learner.limit_work(second.allowed_work(stack, losses), second.MOST_ITERATIONS)
    hard = isinstance(losses[0], HardMargin)
    if hard and stack.identity is None and not _start_separated(learner):
        return None
    if start is not None and not hard:
        _start_warm(learner, start)
    elif not learner.fixed and options.coarse:
        _start_coarse(learner, hard)
    return learner


def _start_separated(learner: OuterLoop) -> bool:
    """Hard margin: do all the kernels together separate the classes? If so, start from those duals.

    Each has the same share of the spread, so that none is lost beside a kernel of larger scale.
    """
    stack = learner.stack
    shares = 1.0 / np.maximum([spread(K) for K in stack.Ks] * stack.scales, 1e-300)
    learner.mu = learner.weight_set.from_simplex(shares / shares.sum())
    stack.set_weights(learner.mu)
    stack.form_rows(np.arange(stack.n))
    for machine in learner.machines:
        beta = separating_duals(stack.combined, machine.loss.target)
        if beta is None:
            return False
        machine.set_start(beta)
        scores = np.asarray(stack.combined @ beta, float)
        learner.best_upper = machine.loss.bound(scores, float(beta @ scores)).value
    if len(learner.machines) > 1:
        learner.best_upper = np.inf
    return True


def _coarse_rows(learner: OuterLoop, share: int, seed: int) -> Array | None:
    """One in ``share`` samples, evenly over their order; None if a class is lost.

    Runs of eight neighbours are taken together, because they are read together: a cache line holds eight
    numbers, and reading the stack is what this start costs. Which run of each ``share`` is left to chance.
    """
    n = learner.stack.n
    n_groups = -(-n // (_RUN * share))
    starts = np.arange(n_groups) * share + np.random.default_rng(seed).integers(share, size=n_groups)
    rows = (_RUN * starts[:, None] + np.arange(_RUN)).ravel()
    rows = rows[rows < n]
    for machine in learner.machines:
        if np.unique(machine.labels[rows]).size < np.unique(machine.labels).size:
            return None
    return rows


def _start_coarse(learner: OuterLoop, hard: bool) -> None:
    """Solve a quarter to a half of the samples roughly; take its weights and its working set as the start."""
    n, options = learner.stack.n, learner.options
    least = _COARSE_SIZE if learner.n_kernels > _FEW_KERNELS else 2 * _COARSE_SIZE
    share = min(_COARSE_SHARE, n // least)
    rows = _coarse_rows(learner, share, options.seed) if share > 1 else None
    if rows is None:
        return
    part = [machine.loss.restrict(rows, n / rows.size) for machine in learner.machines]
    rough = replace(options, tol=max(options.tol, _COARSE_GAP), callback=None, rough=True)
    identity = None if learner.stack.identity is None else part[0].identity
    stack = learner.stack
    small = WeightedStack(stack.subset(rows), stack.scales, part[0].shift, identity, floor=stack.floor)
    child = _prepare(small, part, learner.weight_set, rough, second.is_possible(small, part))
    if child is None or child.run() != Status.OPTIMAL:
        return
    learner.mu = child.mu
    if learner.weight_set.p == 1.0:
        learner.working = (child.mu > 0) | (child.q >= (1.0 - WORKING_MARGIN) * child.q.max())
        if stack.identity is not None:
            learner.working[-1] = True
        if stack.floor is not None:
            learner.working |= stack.floor > 0.0
    if hard:  # a corner may separate the part and not the whole: stay where all the kernels have weight
        learner.mu = 0.9 * child.mu + 0.1 * learner.weight_set.center(child.mu.size)
        learner.working[:] = True


def _result(learner: OuterLoop, status: Status, costs: Array, ridge: bool, left: float) -> SolveResult:
    """Back to the caller's units: K = scale K', y = t y', hence β = (t/s) β' and J = (t²/s) J'."""
    dual_scale, target_scale = learner.units
    values = [machine.values() for machine in learner.machines]
    duals = np.vstack([machine.beta for machine in learner.machines]) * dual_scale
    if np.isfinite(learner.gap):  # what is returned has bounds of its own, not the best that were seen
        learner.record.history[-1] |= learner.bounds(learner.upper, learner.lower)
    return SolveResult(
        weights=left * learner.stack.weights[: costs.size] / (costs * costs),
        ridge=left * float(learner.stack.weights[-1]) if ridge else 0.0,
        duals=duals,
        intercepts=np.concatenate([machine.intercepts for machine in learner.machines]) * target_scale,
        objective=learner.in_units(sum(v.dual for v in values)),
        upper_bound=learner.in_units(learner.upper),
        lower_bound=learner.in_units(learner.lower),
        gap=max(learner.gap, 0.0),  # rounding may cross the bounds
        n_iter=learner.record.n_iter,
        passes=learner.stack.passes,
        status=status,
        suspicious=learner.stack.negative_curvature,
        history=learner.record.history,
    )


def _hand_over(
    learner: OuterLoop,
    losses: Sequence[second.AnyLoss],
    factors: dict[int, Factor],
    costs: Array,
    left: float,
    exact: second.Exact | None,
) -> SolveResult:
    """The result of the interior-point method for the learner's problem, after what the learner recorded."""
    stack, record, options = learner.stack, learner.record, learner.options

    def note(upper: float, lower: float, mu: Array) -> bool:
        bounds = learner.bounds(upper, lower, int(np.count_nonzero(mu)))
        return record.note({"iteration": len(record.history) + 1, **bounds}, reached=False)

    record.ended, record.status = False, Status.STALLED
    record.divisible = False
    found = second.solve(
        stack, losses, learner.weight_set, factors, options.tol, learner.least_size, note, exact
    )
    status = Status.OPTIMAL if found.gap <= options.tol else record.status
    record.history[-1] |= learner.bounds(found.upper, found.lower, int(np.count_nonzero(found.mu)))
    dual_scale, target_scale = learner.units
    weights = found.mu if stack.floor is None else stack.floor + found.mu
    return SolveResult(
        weights=left * weights / (costs * costs),
        ridge=0.0,
        duals=found.duals * dual_scale,
        intercepts=found.intercepts * target_scale,
        factors={m: part._replace(coef=part.coef * target_scale) for m, part in found.factors.items()},
        objective=learner.in_units(found.dual),
        upper_bound=learner.in_units(found.upper),
        lower_bound=learner.in_units(found.lower),
        gap=max(found.gap, 0.0),
        n_iter=record.n_iter,
        passes=stack.passes,
        status=status,
        suspicious=stack.negative_curvature,
        history=record.history,
    )


def _inseparable(Ks: Array | OnDemand, losses: Sequence[second.AnyLoss]) -> SolveResult:
    nothing = np.zeros((len(losses), Ks.shape[1]))
    return SolveResult(
        weights=np.full(Ks.shape[0], np.nan), ridge=0.0, duals=nothing, intercepts=nothing[:, 0],
        objective=np.inf, upper_bound=np.inf, lower_bound=np.inf, gap=np.inf, n_iter=0, passes=0.0,
        status=Status.INSEPARABLE,
    )  # fmt: skip

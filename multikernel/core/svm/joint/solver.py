"""The joint multiclass machine with one kernel: all classes in one problem.

    min  ½ Σ_l ‖w_l‖² + Σ_i C_i Σ_{l ≠ y_i} [R_il − (f_i^{y_i} − f_i^l)]₊,   f^l = w_l'φ + b_l,  Σ_l b_l = 0
    max_α  Σ_{i, l ≠ y_i} R_il α_il − ½ tr B'KB   subject to   0 ≤ α_il ≤ C_i,  Σ_i B_il = 0 for every l,

where B_il = [l = y_i] Σ_m α_im − α_il (α of the own class is 0), f^l(x) = Σ_i B_il k(x_i, x) + b_l, and the
predicted class is the one with the largest f^l. With R = 2 this is the machine of Weston & Watkins (1999);
with two classes it is the binary SVM of the same C: the value is twice its value, and f = (f¹ − f⁰)/2.

**Free duals.** A free α_il turns sample i from class l to its own: its turn is e_{y_i} − e_l. Directions of
free duals keep Σ_i B_il = 0 where turns'δ = 0.

With the bounded duals fixed, the free ones satisfy Hα + turns·b = const,
where H = K_ij (turn_i · turn_j), and Σ_i B_il = 0 keeps turns'α = const. Differentiating in the weight of
kernel m gives dα/dμ_m = −P r_m, where P is the inverse of H on {turns'δ = 0} and r_m the turned adjoint
F_m; the Hessian of the optimal value is r P r'. Few free duals: one Cholesky factorisation. Many: projected
conjugate gradients that never form H, as far as shaping a step needs; the certificate does not depend on
it.

**Solution** (:class:`JointSolver`): steps along cycles of classes (:mod:`.cycles`), Newton's steps where
these converge slowly. The intercepts come with the last search for a cycle: optimality asks
b_l ≤ b_k + W[k, l] of them, W the costs of the edges.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ...._numba import read_only
from ...._typing import Array
from ...optim.loop import Result, Status, has_deadline, is_over, reason_to_stop
from ..losses import JointHinge
from ..machine import (
    NEGATIVE_CURVATURE,
    ROUNDS,
    VIOLATION,
    Sensitivity,
    best_growth,
    row_products,
    shares_on_the_way,
)
from ..smo import TINY_CURVATURE
from . import cycles

_DENSE = 1200
_CG_STEPS = 60
_CG_RESIDUAL = 0.05
_FIRST_VIOLATION, _FINEST_VIOLATION = 0.1, 1e-13  # relative to the rewards
_ROUNDING = 1e-13  # relative to the loss of the scores 0
_STANDSTILL = 1e-13
_PART = 3e7  # numbers that cycles read, in about a tenth of a second, before they look at the time
_PATIENCE = 20  # steps per sample; after them cycles are taken to converge slowly
# Bounds met by one Newton step at most; fewer, if they cost more than the steps before it.
_NEWTON_BOUNDS = 30
_INFEASIBLE = 1e-9  # relative to the largest C


# ---------------------------------------------------------------------- free duals
class FreeDuals(NamedTuple):
    """The free α: their samples, other classes and own classes; each (n_free,)."""

    samples: Array
    others: Array
    own: Array

    @property
    def turns(self) -> Array:
        """The classes that each gives to and takes from, (n_free, n_classes at least)."""
        n_classes = int(max(self.others.max(initial=0), self.own.max(initial=0))) + 1
        turns = np.zeros((self.samples.size, n_classes))
        each = np.arange(self.samples.size)
        turns[each, self.own] = 1.0
        turns[each, self.others] = -1.0
        return turns

    def turned(self, F: Array) -> Array:
        """F[…, own class, sample] − F[…, other class, sample], the derivative in each free α."""
        return np.asarray(F[..., self.own, self.samples] - F[..., self.others, self.samples])


def invert_on_balanced(H: Array, right: Array, turns: Array) -> Array:
    """P right, P the inverse of H on {turns'δ = 0}; a slight ridge makes a singular H definite."""
    ridge = 1e-10 * (float(np.abs(np.diagonal(H)).mean()) or 1.0)
    while True:
        ridged = H + ridge * np.eye(H.shape[0])
        try:
            factor = cho_factor(ridged, check_finite=False, overwrite_a=True)
            break
        except LinAlgError:
            ridge *= 100.0
    n_sides = right.shape[1]
    solved = cho_solve(factor, np.column_stack([right, turns]), check_finite=False)
    multipliers = np.linalg.lstsq(turns.T @ solved[:, n_sides:], turns.T @ solved[:, :n_sides])[0]
    balanced = solved[:, :n_sides] - solved[:, n_sides:] @ multipliers
    return np.asarray(balanced - turns @ np.linalg.lstsq(turns, balanced)[0])


# ---------------------------------------------------------------------- sensitivity
def solve_free_duals(K: Array, free: FreeDuals, right: Array) -> Sensitivity:
    """Sensitivity of the free duals, which its ``rows`` count.

    ``K`` (n, n) is the kernel at the present weights, ``right`` (n_kernels, n_free) the turned adjoints.
    """
    rows = np.arange(free.samples.size)
    if rows.size < 2:
        return Sensitivity(rows, np.zeros((rows.size, right.shape[0])), np.zeros((right.shape[0],) * 2))
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused with the solution
        if rows.size <= _DENSE:
            turns = free.turns
            H = K[np.ix_(free.samples, free.samples)] * (turns @ turns.T)
            solved = invert_on_balanced(H, right.T, turns)
            hessian = right @ solved
        else:
            solved, products = _conjugate_gradients(K, free, right)
            hessian = products @ solved.T  # X'HX cannot be indefinite, however far X is from the solution
            solved = solved.T
    return Sensitivity(rows, solved, 0.5 * (hessian + hessian.T))


class _Turned:
    """Products with H, and the projection on the balanced directions, for one row each."""

    def __init__(self, K: Array, free: FreeDuals) -> None:
        self.free, self.turns = free, free.turns
        used, self.place = np.unique(free.samples, return_inverse=True)
        self.own = np.empty(used.size, np.int64)
        self.own[self.place] = free.own
        self.K = np.asarray(K[np.ix_(used, used)], float)
        self.metric = np.linalg.pinv(self.turns.T @ self.turns)

    def project(self, rows: Array) -> Array:
        return np.asarray(rows - (rows @ self.turns) @ self.metric @ self.turns.T)

    def product(self, rows: Array) -> Array:
        n_classes = self.turns.shape[1]
        B = np.zeros((rows.shape[0], n_classes, self.own.size))
        B[:, self.free.others, self.place] = -rows
        B[:, self.own, np.arange(self.own.size)] = -B.sum(axis=1)
        F = (B.reshape(-1, self.own.size) @ self.K).reshape(B.shape)
        return np.asarray(F[:, self.free.own, self.place] - F[:, self.free.others, self.place])


def _conjugate_gradients(K: Array, free: FreeDuals, right: Array) -> tuple[Array, Array]:
    """X ≈ P right, row by row, and HX: as far as a few dozen steps come."""
    system = _Turned(K, free)
    residual = system.project(right)
    solution, products = np.zeros_like(residual), np.zeros_like(residual)
    goal = _CG_RESIDUAL**2 * row_products(residual, residual)
    direction, rr = residual.copy(), row_products(residual, residual)
    for _ in range(_CG_STEPS):
        product = system.product(direction)
        curvature = row_products(direction, product)
        going = (rr > goal) & (curvature > 0.0)
        if not going.any():
            break
        step = np.where(going, rr / np.where(going, curvature, 1.0), 0.0)[:, None]
        solution += step * direction
        products += step * product
        residual -= step * system.project(product)
        rr, old = row_products(residual, residual), rr
        direction = residual + (rr / np.where(old > 0.0, old, 1.0))[:, None] * direction
    return solution, products


# ---------------------------------------------------------------------- steps
class Values(NamedTuple):
    """The dual and the primal value at one point, and the intercepts of the latter."""

    dual: float
    primal: float
    intercepts: Array

    @property
    def difference(self) -> float:
        """What the certificate leaves open."""
        return self.primal - self.dual

    def is_no_better_than(self, earlier: "Values") -> bool:
        """Whether neither the dual value rose nor the difference fell, but for rounding."""
        rose = self.dual - earlier.dual > _STANDSTILL * abs(self.dual)
        return not rose and self.difference > 0.9 * earlier.difference


def _potentials(W: Array, mean: float) -> Array:
    """Intercepts with b_l ≤ b_k + W[k, l] as far as possible, in the middle of their ranges, of sum 0.

    W is shifted until no cycle is negative. The shortest distances D from a class and to it are then two
    extreme solutions; their mean is taken, over all the classes alike. The cost of an absent edge is set to
    more than that of any path, which bounds nothing in earnest.
    """
    n = W.shape[0]
    present = W < 0.5 * cycles.HUGE
    np.fill_diagonal(present, False)
    D = np.where(present, W - min(mean, 0.0), 0.0)
    D[~present] = 1.0 + n * np.abs(D).max()
    np.fill_diagonal(D, 0.0)
    for r in range(n):
        D = np.minimum(D, D[:, [r]] + D[[r]])
    return np.asarray(0.5 * (D.mean(axis=0) - D.mean(axis=1)))


def _move_free(H: Array, g: Array, turns: Array, old: Array, upper: Array, bounds: int) -> Array:
    """Newton steps for the free α, each to the first bound, where it leaves the others alone."""
    alpha = old.copy()
    free = np.arange(old.size)
    for _ in range(bounds):
        direction = -invert_on_balanced(H[np.ix_(free, free)], g[free, None], turns[free])[:, 0]
        ascent = -float(g[free] @ direction)
        product = H[:, free] @ direction
        curvature = float(product[free] @ direction)
        if not ascent > 0.0:
            break
        room = np.where(direction > 0.0, upper[free] - alpha[free], alpha[free])
        moving = direction != 0.0
        steps = room[moving] / np.abs(direction[moving])
        nearest = int(np.argmin(steps))
        step = min(float(steps[nearest]), ascent / max(curvature, TINY_CURVATURE))
        moved = np.clip(alpha[free] + step * direction, 0.0, upper[free])
        hit = np.flatnonzero(moving)[nearest]
        bounded = step == steps[nearest]
        if bounded:
            moved[hit] = upper[free[hit]] if direction[hit] > 0.0 else 0.0
        alpha[free] = moved
        g = g + step * product
        if not bounded or free.size <= 2:
            break
        free = np.delete(free, hit)
    return alpha


class JointSolver:
    """The state of one solution: samples in the order of their classes, arrays with a row for each class.

    It starts from a feasible ``alpha`` (n_classes, n); ``scores`` are its BK, where that is known.
    """

    def __init__(self, K: Array, loss: JointHinge, alpha: Array, scores: Array | None = None) -> None:
        n_classes, n = alpha.shape
        self.codes = codes = loss.codes
        self.K = read_only(K)
        self.order = np.argsort(codes, kind="stable")
        self.own = codes[self.order]
        starts = np.searchsorted(self.own, np.arange(n_classes + 1))
        diag = np.diagonal(K)[self.order].astype(float)
        self.samples = cycles.Samples(
            self.K, self.order, starts, diag, np.empty((n, n)), np.zeros(n, np.bool_)
        )
        self.limits = cycles.Limits(loss.upper[self.order], np.ascontiguousarray(loss.margins[self.order].T))
        start = np.ascontiguousarray(alpha[:, self.order])
        self.point = cycles.Point(start, *(np.zeros((n_classes, n)) for _ in range(3)))
        self.edges = cycles.Edges(*np.zeros((2, n_classes, n_classes)))
        self.n_steps = 0
        self.mean = 0.0
        self.least_curvature = np.inf
        if scores is None:
            self.rebuild_scores()
        else:
            self.point.F[:] = scores[:, self.order]

    def as_given(self, rows: Array) -> Array:
        """Something of the samples in the order in which they were given."""
        given = np.empty_like(rows)
        given[:, self.order] = rows
        return given

    @property
    def alpha(self) -> Array:
        """α (n_classes, n) of the samples as they were given."""
        return self.as_given(self.point.alpha)

    @property
    def scores(self) -> Array:
        """F (n_classes, n) of the samples as they were given."""
        return self.as_given(self.point.F)

    @property
    def coefficients(self) -> Array:
        """B, with one row for each class."""
        B = -self.point.alpha
        B[self.own, np.arange(self.own.size)] += self.point.alpha.sum(axis=0)
        return B

    def rebuild_scores(self) -> None:
        """F = BK from the support rows: at the start, and to remove the drift of many steps."""
        B = self.coefficients
        used = np.flatnonzero(B.any(axis=0))
        self.point.F[:] = (B[:, used] @ self.K[self.order[used]])[:, self.order]

    def advance(self, violation: float, max_steps: int) -> cycles.Outcome:
        """Steps until the worst cycle violates the conditions by no more than ``violation``."""
        outcome = cycles.Outcome(
            *cycles.run(self.samples, self.limits, self.point, self.edges, violation, max_steps)
        )
        self.n_steps += outcome.iterations
        self.mean = outcome.mean
        self.least_curvature = min(self.least_curvature, outcome.least_curvature)
        return outcome

    def _advance_in_parts(self, violation: float, max_steps: int) -> cycles.Outcome:
        """The same as :meth:`advance`, but it ends early where the fit is over."""
        part = max(int(_PART / self.point.alpha.size), 1) if has_deadline() else max_steps
        last = self.n_steps + max_steps
        while True:
            outcome = self.advance(violation, min(part, last - self.n_steps))
            if outcome.reason != cycles.ITERATION_LIMIT or self.n_steps >= last or is_over():
                return outcome

    def newton_step(self, steps: int) -> None:
        """Solve for all the free α at once, to the bounds they meet: where cycles converge slowly.

        It may cost as much as the given number of steps along cycles.
        """
        alpha, F = self.point.alpha, self.point.F
        columns, rows = np.nonzero((alpha > 0.0) & (alpha < self.limits.upper))
        affordable = int(10.0 * steps * alpha.size / max(rows.size**3 / 3.0, 1.0))
        if rows.size < 2 or affordable == 0:
            return
        free = FreeDuals(rows, columns, self.own[rows])
        sources, turns = self.order[rows], free.turns
        H = self.K[np.ix_(sources, sources)] * (turns @ turns.T)
        g = free.turned(F) - self.limits.rewards[columns, rows]
        bounds = min(affordable, _NEWTON_BOUNDS)
        alpha[columns, rows] = _move_free(H, g, turns, alpha[columns, rows], self.limits.upper[rows], bounds)
        self.rebuild_scores()

    def values(self) -> Values:
        """The dual and the primal value at the current α, with the intercepts that the edges allow."""
        alpha, F, R = self.point.alpha, self.point.F, self.limits.rewards
        half_norm2 = 0.5 * float(np.vdot(self.coefficients, F))
        intercepts = _potentials(np.minimum(self.edges.raised, -self.edges.lowered.T), self.mean)
        scores = F + intercepts[:, None]
        here = (self.own, np.arange(self.own.size))
        loss = np.maximum(R - scores[here] + scores, 0.0)  # 0 of the own class, for its R is 0
        primal = half_norm2 + float(loss.sum(axis=0) @ self.limits.upper)
        return Values(float(np.vdot(R, alpha)) - half_norm2, primal, intercepts)

    def look(self) -> Values:
        """The values where it stands, without a step."""
        self.advance(0.0, 0)
        return self.values()

    def _approach(self, violation: float, patience: int, max_steps: int) -> None:
        """From α = 0, come near to a large C by way of smaller ones."""
        whole = self.limits.upper
        if self.point.alpha.any():
            return
        for share in shares_on_the_way(float(whole.max()), self.samples.diag):
            if self.n_steps >= max_steps or is_over():
                break  # what there is, is feasible at a larger C too
            self.limits = self.limits._replace(upper=share * whole)
            for _ in range(ROUNDS):
                if self._advance_in_parts(violation, patience).reason == cycles.CONVERGED or is_over():
                    break
                self.newton_step(patience)
            alpha, F = self.point.alpha, self.point.F
            norm2 = float(np.vdot(self.coefficients, F))
            growth = best_growth(float(np.vdot(self.limits.rewards, alpha)), norm2)
            alpha *= growth
            F *= growth
        self.limits = self.limits._replace(upper=whole)
        np.minimum(self.point.alpha, whole, out=self.point.alpha)  # rounding

    def solve(self, tol: float, max_steps: int) -> tuple[Values, Status]:
        """Steps until the relative gap is ``tol``; the violation allowed to cycles follows the gap."""
        scale = float(np.abs(self.limits.rewards).max(initial=0.0)) or 1.0
        violation = _FIRST_VIOLATION * scale
        patience = _PATIENCE * self.own.size + 2000
        self._approach(VIOLATION * scale, patience, max_steps)
        slow: Values | None = None  # where the last call ended that used up its patience
        while True:
            allowance = self.own.size if is_over() else patience
            outcome = self._advance_in_parts(violation, min(allowance, max_steps - self.n_steps))
            values = self.values()
            if values.difference <= tol * abs(values.primal):
                return values, Status.OPTIMAL
            why = reason_to_stop()
            if why is not None:
                return values, why
            if outcome.reason == cycles.ITERATION_LIMIT:
                if self.n_steps >= max_steps:
                    return values, Status.MAX_ITER
                if slow is not None and values.is_no_better_than(slow):
                    return values, Status.STALLED
                slow = values
                self.newton_step(patience)
                continue
            if violation < _FINEST_VIOLATION * scale:
                is_zero = values.primal <= _ROUNDING * scale * float(self.limits.upper.sum())
                return values, Status.OPTIMAL if is_zero else Status.STALLED
            violation *= float(np.clip(0.7 * tol * abs(values.primal) / values.difference, 0.05, 0.5))


# ---------------------------------------------------------------------- entry point
@dataclass(frozen=True)
class MulticlassResult(Result):
    """A joint multiclass machine: its dual value, the gap (primal − dual) / |primal|, steps along cycles."""

    alpha: Array  # (n, n_classes), 0 in the column of the sample's own class
    coefficients: Array  # (n, n_classes), B: f^l(x) = Σ_i B_il k(x_i, x) + b_l
    intercepts: Array  # (n_classes,), of sum 0
    primal: float  # the primal value


def solve_multiclass(
    K: Array,
    codes: Array,
    n_classes: int,
    C: Array | float,
    *,
    rewards: Array | None = None,
    tol: float = 1e-4,
    start: Array | None = None,
    max_iter: int = 10**7,
) -> MulticlassResult:
    """Solve the joint multiclass machine with the kernel K (n, n), from any feasible start.

    The bounds ``C`` (n,), or one for all, are finite and at least 0; a sample of bound 0 takes no part.
    ``rewards`` (n, n_classes) are R, 2 by default; those of the samples' own classes are not read. ``tol`` is
    the relative duality gap to reach, ``start`` a feasible α (n, n_classes), for example that of a nearby
    kernel. The status is ``"indefinite"`` if a step met negative curvature (the solution is then only
    stationary), and ``"stalled"`` if rounding keeps the gap above ``tol``.

    Examples
    --------
    >>> import numpy as np
    >>> X, codes = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    >>> result = solve_multiclass(X @ X.T, codes, 2, 10.0)
    >>> result.coefficients.round(3).tolist()
    [[0.0, 0.0], [0.5, -0.5], [-0.5, 0.5], [0.0, 0.0]]
    """
    K, codes, upper = checked_data(K, codes, n_classes, C)
    loss = JointHinge(codes, n_classes, upper, _checked_rewards(rewards, codes, n_classes))
    solver = JointSolver(K, loss, _checked_start(start, codes, n_classes, upper).T)
    return multiclass_result(solver, *solver.solve(tol, max_iter))


def multiclass_result(solver: Any, values: Values, status: Status) -> MulticlassResult:
    """What a solver of either joint machine found."""
    alpha, own = solver.alpha.T.copy(), (np.arange(solver.codes.size), solver.codes)
    B = -alpha
    B[own] += alpha.sum(axis=1)
    return MulticlassResult(
        alpha,
        B,
        values.intercepts,
        values.primal,
        objective=values.dual,
        gap=values.difference / max(abs(values.primal), np.finfo(float).tiny),
        n_iter=solver.n_steps,
        status=Status.INDEFINITE if solver.least_curvature < NEGATIVE_CURVATURE else status,
    )


def checked_data(K: Array, codes: Array, n_classes: int, C: Array | float) -> tuple[Array, Array, Array]:
    """The kernel, the codes and the bounds as arrays."""
    K = np.ascontiguousarray(K, dtype=None if np.asarray(K).dtype == np.float32 else float)
    codes = np.asarray(codes)
    n = codes.size
    if K.shape != (n, n) or codes.ndim != 1:
        raise ValueError(
            f"K must be (n, n) with one class code for each sample; got K {K.shape} and codes {codes.shape}."
        )
    if n_classes < 2 or not np.issubdtype(codes.dtype, np.integer):
        raise ValueError(
            f"codes must be integers of at least 2 classes; got {codes.dtype} and n_classes={n_classes}. "
            "Encode labels with np.unique(y, return_inverse=True)."
        )
    if n == 0 or codes.min() < 0 or codes.max() >= n_classes:
        raise ValueError(f"codes must lie in 0 .. {n_classes - 1} and not be empty; got {np.unique(codes)}.")
    upper = np.array(C, float)
    if upper.shape not in ((), (n,)) or not np.isfinite(upper).all() or (upper < 0.0).any():
        raise ValueError(
            f"C must be a finite number, at least 0, or one for each of the {n} samples; got {C!r}."
        )
    return K, codes.astype(np.int64), np.broadcast_to(upper, n).copy()


def _checked_rewards(rewards: Array | None, codes: Array, n_classes: int) -> Array | None:
    """R with 0 for the samples' own classes, where it is given."""
    if rewards is None:
        return None
    R = np.array(rewards, float)
    if R.shape != (codes.size, n_classes):
        raise ValueError(f"rewards must have the shape {(codes.size, n_classes)}; got {R.shape}.")
    R[np.arange(codes.size), codes] = 0.0
    if not np.isfinite(R).all():
        raise ValueError("rewards must be finite; the ones given contain NaN or infinity.")
    return R


def _checked_start(start: Array | None, codes: Array, n_classes: int, upper: Array) -> Array:
    """A feasible α: rounding is clipped, anything worse is an error."""
    if start is None:
        return np.zeros((codes.size, n_classes))
    alpha = np.array(start, float)
    if alpha.shape != (codes.size, n_classes):
        raise ValueError(f"start must have the shape {(codes.size, n_classes)}; got {alpha.shape}.")
    allowed = _INFEASIBLE * float(upper.max())
    outside = float(np.maximum(-alpha, alpha - upper[:, None]).max())
    alpha = np.clip(alpha, 0.0, upper[:, None])
    alpha[np.arange(codes.size), codes] = 0.0
    given = np.bincount(codes, alpha.sum(axis=1), n_classes)
    imbalance = float(np.abs(given - alpha.sum(axis=0)).max())
    if not (outside <= allowed and imbalance <= codes.size * allowed):
        raise ValueError(
            "start must be feasible: 0 <= alpha <= C, and for every class the sum over its own samples equal "
            f"to the sum of its column; it is outside by {outside:.1e}, out of balance by {imbalance:.1e}. "
            "Pass the alpha of an earlier solution with the same C, or None."
        )
    return alpha

"""Machines with one fixed kernel, which keep their state between nearly equal kernels.

``Machine`` solves a margin loss by SMO, ``RidgeMachine`` the squared loss by a factorisation. The weight
learner needs the same things of both: ``solve`` at the current weights, ``refresh`` of the adjoint F = K_m
β, the gradient q, and ``sensitivity``, how the dual variables answer to a change of the weights.

**Large penalties.** With C far above 1/K_ii, and classes that overlap, most duals end at C, and a cold solver
would have to climb there in steps of the size 1/K_ii. Bounded duals grow in proportion to C: a rough solution
at a tenth of it, times ten, is a good start.

**Newton's steps**, for kernels on which pairs converge slowly. All the free β move at once, by K_FF⁻¹ times
what the dual value still gains along them. A kernel of low rank leaves more β free than it determines: along
its null space the value is linear, only a ridge holds the step back, and some β is always near a bound. So a
step is as long as the value rises, the β that meet a bound first stay there, and the others go on without
them.

**Answers to the kernel weights** (:class:`Sensitivity`). With the bounded β fixed, the free ones satisfy
K_FF β_F + b1 = const. Differentiating in the weight of kernel m gives dβ_F/dμ_m = −P F_m[F], where P is the
inverse of K_FF on {Σ = 0} (the intercept's constraint), and the Hessian of the optimal value J(μ) is
H = F_W P F_W'. P times what the value still gains along the free β is Newton's correction of a β that is not
quite optimal: one more right-hand side, so that the machine need not be solved precisely on the way. Few free
variables: one Cholesky factorisation, in single precision unless they are very few or the block is nearly
singular. Many: conjugate gradients for all right-hand sides at once in single precision; a residual of 2 % is
enough, since the Hessian only shapes the step and the certificate does not depend on it.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import blas, cho_solve, lapack

from ..._numba import HUGE, compiled
from ..._typing import Array
from ..optim.loop import has_deadline, is_over
from ..stack.sums import WeightedStack
from . import smo as smo_loop
from .factored import smo_on_factor
from .losses import Bound, HardMargin, Loss

ROUNDS = 10  # of steps at each share of C, if they converge slowly
_DEAR, _CHEAP, _FACTOR = 1e3, 1e2, 10.0
VIOLATION = 0.03  # of the optimality conditions, relative to the targets: rough is enough on the way
_FULL = 2.0  # lengths up to this are Newton's own, but for rounding
_LONGEST = 1e10
_MOST_BOUNDS, _FEW = 50, 300  # bounds met in one step, if so few β are free that a solution costs little
_FINEST_VIOLATION = 1e-13
_PATIENCE = 20
_FLOPS = 24.0  # of a factorization take as long as one number that a step reads
_PART = 1e8  # numbers that SMO reads, in about a tenth of a second, before it looks at the time
NEGATIVE_CURVATURE = -1e-6  # relative; rounding of singular kernels stays above
ROUNDING = 1e-9  # of a start, relative
_DRIFT = 1e-12  # of the sum of the duals, relative to their size
_CG_SIZE, _CG_STEPS, _CG_RESIDUAL = 500, 30, 0.02
_RIDGE = 1e-5  # relative, of single precision
_FEW_SIDES = 8  # products with so many are faster one by one
_SINGLE_SIZE = 80  # from so many free variables on, half the precision takes half the time
_SINGULAR = 3e-3  # least pivot beside the largest, their squares as eigenvalues: single precision leaves 1 %
_NEGATIVE = -1e-4  # single precision cannot tell less from zero
CROSSED_BOUNDS = -1e-5  # a relative gap that rounding cannot explain, single precision included


# ---------------------------------------------------------------------- large penalties
def shares_on_the_way(price: float, diagonal: Array) -> Array:
    """The shares of C (`price`) to stop at before the whole; none if it is small, or infinite."""
    size = price * float(np.mean(diagonal))
    if not _DEAR < size < np.inf:
        return np.empty(0)
    n_stages = int(np.ceil(np.log10(size / _CHEAP)))
    return np.asarray(_FACTOR ** -np.arange(n_stages, 0.0, -1.0))


def best_growth(reward: float, norm2: float) -> float:
    """The multiple of the duals, from 1 to the growth of C, with the largest dual value."""
    return min(max(reward / norm2, 1.0), _FACTOR) if norm2 > 0.0 else _FACTOR


# ---------------------------------------------------------------------- answers to the kernel weights
@dataclass(frozen=True)
class Sensitivity:
    """dβ_F/dμ = −projected; ``hessian`` is the second derivative of the optimal value.

    ``correction`` (n_free,) is Newton's step from a β that is not quite optimal, ``q_change`` (n_kernels,)
    what it changes q by to first order, as far as the bounds let it; 0 by default. ``solution`` is
    K_FF⁻¹[1, F'] as computed, the start of the next one.
    """

    rows: Array
    projected: Array
    hessian: Array
    solution: Array | None = None
    correction: Array | float = 0.0
    q_change: Array | float = 0.0

    @classmethod
    def from_solution(
        cls,
        rows: Array,
        inverse_ones: Array,
        solved: Array,
        right: Array,
        intercept: bool,
        residual: Array | None = None,
    ) -> "Sensitivity":
        """From K⁻¹1, K⁻¹F' and F: project out the direction of the intercept.

        ``residual`` [1; F] − [K⁻¹1, K⁻¹F']'K of a rough solution makes the Hessian precise to second order.
        """
        shares = solved.sum(axis=0) / inverse_ones.sum() if intercept else np.zeros(len(right))
        if intercept:
            solved = solved - np.outer(inverse_ones, shares)
        if residual is not None:
            right = right + residual[1:] - np.outer(shares, residual[0])
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused with the solution
            hessian = right @ solved
        return cls(rows, solved, 0.5 * (hessian + hessian.T))

    def direction(self, change: Array) -> Array:
        """The first-order move of the free β for a change of the weights, and to their optimum before it."""
        return self.correction - (self.projected @ change)

    def split_correction(self) -> "Sensitivity":
        """The last "kernel" was what the value still gains along the free β, negated: its part by itself."""
        return replace(
            self,
            projected=self.projected[:, :-1],
            hessian=self.hessian[:-1, :-1],
            correction=-self.projected[:, -1],
        )


def solve_free_system(
    stack: WeightedStack,
    rows: Array,
    right: Array,
    guess: Sensitivity | None = None,
    *,
    precise: bool = False,
) -> Sensitivity:
    """Sensitivity of the β of the given rows; ``right`` is F[kernels][:, rows], ``guess`` an earlier one.

    ``precise``: in double precision where a factorisation gives it.
    """
    if rows.size < 2:
        return Sensitivity(rows, np.zeros((rows.size, right.shape[0])), np.zeros((right.shape[0],) * 2))
    solution = residual = None
    if rows.size > _CG_SIZE:
        found = _conjugate_gradients(stack, rows, right, _carry_over(guess, rows, right.shape[0] + 1))
        solution, residual = found if found is not None else (None, None)
    elif rows.size >= _SINGLE_SIZE and not precise:
        solution = _single_cholesky(stack, rows, right)
    if solution is None:
        solution = _cholesky(stack, rows, right)
    sensitivity = Sensitivity.from_solution(rows, solution[:, 0], solution[:, 1:], right, True, residual)
    return replace(sensitivity, solution=solution)


def _carry_over(guess: Sensitivity | None, rows: Array, n_sides: int) -> Array | None:
    """An earlier solution on the present rows; None if it was for other kernels."""
    if guess is None or guess.solution is None or guess.solution.shape[1] != n_sides:
        return None
    start = np.zeros((rows.size, n_sides), np.float32)
    _, now, then = np.intersect1d(rows, guess.rows, assume_unique=True, return_indices=True)
    start[now] = guess.solution[then]
    return start


def _right_hand_sides(right: Array, dtype: Any) -> Array:
    sides = np.empty((right.shape[1], right.shape[0] + 1), dtype, order="F")
    sides[:, 0] = 1.0
    sides[:, 1:] = right.T
    return sides


def _conjugate_gradients(
    stack: WeightedStack, rows: Array, right: Array, start: Array | None
) -> tuple[Array, Array] | None:
    """Solution and residual of CG runs with the diagonal as preconditioner; None if they do not converge.

    The runs share the reads of K until they are done one by one.
    """
    K = stack.block(rows, np.float32)
    # one row for each right-hand side: the products with the symmetric K are fastest so
    residual = np.ascontiguousarray(_right_hand_sides(right, np.float32).T)
    goals = _CG_RESIDUAL**2 * row_products(residual, residual)
    solution = np.zeros_like(residual)
    if start is not None:
        solution, residual = _best_combinations(np.ascontiguousarray(start.T), residual, K)
    diagonal = np.diagonal(K).copy()
    runs = np.flatnonzero(row_products(residual, residual) > goals)
    x, r = solution[runs], residual[runs]
    z = r / diagonal
    direction = z.copy()
    rz = row_products(r, z)
    for _ in range(_CG_STEPS):
        if not runs.size:
            return solution.T.astype(float), residual.astype(float)
        product = _products(direction, K)
        curvature = row_products(direction, product)
        if not (curvature > 0).all():
            norm2 = row_products(direction, direction) * diagonal.mean()
            stack.negative_curvature |= bool((curvature < _NEGATIVE * norm2).any())
            return None
        step = (rz / curvature)[:, None]
        x += step * direction
        r -= step * product
        open_ = row_products(r, r) > goals[runs]
        if not open_.all():
            solution[runs], residual[runs] = x, r
            runs, x, r, direction, rz = runs[open_], x[open_], r[open_], direction[open_], rz[open_]
        z = r / diagonal
        rz, old = row_products(r, z), rz
        direction = z + (rz / old)[:, None] * direction
    return None


def _best_combinations(basis: Array, sides: Array, K: Array) -> tuple[Array, Array]:
    """The combinations of an earlier solution's rows nearest to the present one, and their residuals."""
    products = _products(basis, K)
    gram = (basis @ products.T).astype(float)
    sizes = np.sqrt(np.maximum(np.diagonal(gram), 1e-30))
    gram /= sizes[:, None] * sizes
    gram.flat[:: sizes.size + 1] += _RIDGE
    _, shares, failed = lapack.dposv(gram, (basis @ sides.T) / sizes[:, None])
    if failed:
        return np.zeros_like(sides), sides
    shares = (shares / sizes[:, None]).T.astype(np.float32)
    return shares @ basis, sides - shares @ products


def _products(sides: Array, K: Array) -> Array:
    """sides @ K for a symmetric K: few sides are faster one by one, for which half of K is read."""
    if len(sides) > _FEW_SIDES:
        return sides @ K
    out = np.empty_like(sides)
    for side, target in zip(sides, out, strict=True):
        blas.ssymv(1.0, K.T, side, y=target, overwrite_y=1)
    return out


def row_products(a: Array, b: Array) -> Array:
    return np.einsum("ij,ij->i", a, b)


def _single_cholesky(stack: WeightedStack, rows: Array, right: Array) -> Array | None:
    """Direct solution in single precision; None where that is too rough for the block."""
    K = stack.block(rows, np.float32)
    factor, info = lapack.spotrf(K.T, lower=False, overwrite_a=True, clean=False)
    if info != 0:
        return None
    pivots = factor.diagonal()
    if not pivots.min() > _SINGULAR * pivots.max():  # NaN is refused, too
        return None
    sides = _right_hand_sides(right, np.float32)
    solution = np.asarray(lapack.spotrs(factor, sides, lower=False, overwrite_b=True)[0], float)
    return solution if np.isfinite(solution).all() else None


def _cholesky(stack: WeightedStack, rows: Array, right: Array) -> Array:
    """Direct solution; a growing ridge makes a singular block definite."""
    ridge = 1e-10
    while True:
        K = stack.block(rows, np.float64)
        K.flat[:: rows.size + 1] += ridge * (float(np.abs(np.diagonal(K)).mean()) or 1.0)
        factor, info = lapack.dpotrf(K.T, lower=False, overwrite_a=True, clean=False)
        if info == 0:
            return lapack.dpotrs(factor, _right_hand_sides(right, np.float64), lower=False, overwrite_b=True)[
                0
            ]
        ridge *= 100.0
        stack.negative_curvature |= ridge > 1e-5


# ---------------------------------------------------------------------- Newton's steps of the free duals
def newton_step(machine: "Machine") -> None:
    """Move the free β within their bounds, if that raises the dual value."""
    rows = machine.free()
    few = rows.size <= _FEW
    for _ in range(_MOST_BOUNDS if few else 1):
        if rows.size < 2:
            return
        machine.n_steps += int(rows.size**3 / (_FLOPS * machine.stack.n)) + rows.size
        old = machine.beta[rows]
        ascent = machine.gradient[rows] - machine.loss.epsilon * np.sign(old)
        # the sensitivity to a "kernel" whose adjoint is −ascent is the Newton direction
        direction = solve_free_system(machine.stack, rows, -ascent[None], precise=True).direction(np.ones(1))
        length = _best_length(machine, rows, direction, ascent)
        if (length <= _FULL or not few) and _try(machine, rows, direction, ascent):
            return
        low, high = machine.limits(rows)
        room = np.full(rows.size, np.inf)
        np.divide(np.where(direction > 0, high, low) - old, direction, out=room, where=direction != 0.0)
        first = float(room.min())
        _try(machine, rows, min(first, length) * direction, ascent)
        if first > length:
            return
        rows = rows[room > first]


def _best_length(machine: "Machine", rows: Array, direction: Array, ascent: Array) -> float:
    """How far along the direction the dual value rises, as multiples of it."""
    slope = float(direction @ ascent)
    curvature = float((direction @ machine.stack.combined[rows])[rows] @ direction)
    return max(slope / curvature, 1.0) if 0.0 < slope < _LONGEST * curvature else _LONGEST


def _try(machine: "Machine", rows: Array, change: Array, ascent: Array) -> bool:
    """The change, clipped to the bounds; kept if the dual value rises."""
    old = machine.beta[rows]
    if not machine.place_balanced(rows, old + change, *machine.limits(rows)):
        return False
    change = machine.beta[rows] - old
    product = change @ machine.stack.combined[rows]
    if float(change @ ascent) - 0.5 * float(product[rows] @ change) <= 0.0:
        machine.beta[rows] = old
        return False
    machine.gradient -= product
    return True


# ---------------------------------------------------------------------- machines
class Terms(NamedTuple):
    """Parts of the dual at a β: y'β − ε‖β‖₁, Σ shift β², and the largest c for which cβ is feasible."""

    reward: float
    shifted: float
    room: float


@compiled
def _terms(target: Array, beta: Array, shift: Array, lower: Array, upper: Array, epsilon: float) -> Any:
    reward = shifted = 0.0
    room = HUGE
    for t in range(beta.size):
        b = beta[t]
        if b != 0.0:
            reward += target[t] * b - epsilon * abs(b)
            shifted += shift[t] * b * b
            bound = upper[t] if b > 0.0 else lower[t]
            if abs(bound) < room * abs(b):
                room = bound / b
    return reward, shifted, room


@compiled
def _dual_value(
    target: Array, gradient: Array, beta: Array, shift: Array, epsilon: float, scores: Array
) -> Any:
    """The dual value, β'Kβ, and the scores Kβ, from the gradient that SMO keeps."""
    value = norm2 = 0.0
    for t in range(beta.size):
        b = beta[t]
        score = target[t] - gradient[t] - shift[t] * b
        scores[t] = score
        norm2 += b * score
        value += target[t] * b - epsilon * abs(b) - 0.5 * (shift[t] * b * b + b * score)
    return value, norm2


class Values(NamedTuple):
    """Dual value and primal bound of one machine at the current weights; ``cut_off`` if it was left early."""

    dual: float
    primal: Bound
    cut_off: bool = False


class Machine:
    """One task of a margin loss on a weighted stack that all the tasks share, solved by SMO.

    ``max_steps`` is the maximum number of SMO steps in one call of ``solve``.
    """

    n_outputs = 1

    def __init__(self, loss: Loss, stack: WeightedStack, max_steps: int = 10**7) -> None:
        self.loss, self.stack, self.max_steps = loss, stack, max_steps
        self.lower, self.upper = loss.lower, loss.upper
        self.beta = loss.start
        self.F = np.zeros((stack.n_kernels, stack.n))
        self._F_beta = np.zeros(stack.n)
        self._known = np.zeros(stack.n_kernels, bool)
        self.gradient = loss.target.copy()
        self._sensitivity: Sensitivity | None = None
        self._sensitivity_of = np.empty(0, int)
        self.violation = 0.1
        self.patience = _PATIENCE * stack.n + 2000  # more steps: pairs converge slowly
        self.tries_scales = True  # whether bounds are wanted at other scales of the scores, too
        self.n_steps = 0
        self.least_curvature = np.inf
        self.least_size = 0.0  # what the gap is at least relative to
        self.exhausted = False  # whether the last solve used all its steps

    @property
    def labels(self) -> Array:
        """The side of each sample: classes, where there are any."""
        return np.sign(self.loss.target)

    @property
    def intercepts(self) -> Array:
        """The intercept of the scores as they are."""
        return np.array([self.values().primal.intercept])

    def set_start(self, beta: Array) -> None:
        """Start from another feasible β; the gradient has to be rebuilt with :meth:`recombine`."""
        self.beta = beta.copy()

    def is_feasible(self) -> bool:
        """Whether β is finite, within its bounds and of the right sum; what rounding explains is mended."""
        beta = np.clip(self.beta, self.lower, self.upper)
        size = float(np.abs(beta).sum())
        balance = abs(float(beta.sum()) - self.loss.total) if self.loss.has_intercept else 0.0
        if not (np.abs(beta - self.beta).sum() <= ROUNDING * size and balance <= ROUNDING * max(size, 1.0)):
            return False
        self.beta = beta
        return True

    @property
    def scores(self) -> Array:
        """f = K(μ)β without the shift, from the gradient that SMO keeps."""
        return self.loss.target - self.gradient - self.stack.shift * self.beta

    def terms(self, shift: Array) -> Terms:
        """The parts of the dual at the current β."""
        return Terms(*_terms(self.loss.target, self.beta, shift, self.lower, self.upper, self.loss.epsilon))

    def values(self) -> Values:
        """Dual value and primal bound at the current β."""
        target, epsilon = self.loss.target, self.loss.epsilon
        scores = np.empty(target.size)
        dual, norm2 = _dual_value(target, self.gradient, self.beta, self.stack.shift, epsilon, scores)
        loss = self._loss_here()
        bound = loss.bound if self.tries_scales else loss.plain_bound
        return Values(dual, bound(scores, norm2))

    def _loss_here(self) -> Loss:
        """The loss in the primal: a learned multiple of the identity acts as a squared hinge."""
        return self.loss if self.stack.identity is None else self.loss.with_ridge(self.stack.ridge)

    def solve(self, target: float, value_stop: float = np.inf, plain: bool = True) -> Values:
        """SMO until the machine's own relative gap is ``target``, or its value passes ``value_stop``.

        ``plain``: the gap of β as it is; else at the best scaling of it, which is enough to steer.
        """
        last = self.n_steps + self.max_steps
        self._approach()
        while True:
            budget = last - self.n_steps
            # a machine that is begun when the fit is over is a rough one
            allowance = max(min(budget, self.stack.n if is_over() else self.patience), 0)
            outcome = self._advance_in_parts(self.violation, allowance, value_stop)
            budget -= outcome.iterations
            over = is_over()
            if outcome.iterations == allowance < budget and not over:
                newton_step(self)
                continue
            values = self.values()
            if outcome.reason in (smo_loop.VALUE_REACHED, smo_loop.UNBOUNDED):
                return values._replace(cut_off=True)
            if self._restore_balance():
                values = self.values()
            primal = values.primal.plain if plain else values.primal.value
            difference, allowed = primal - values.dual, target * max(abs(primal), self.least_size)
            self.exhausted = budget <= 0
            if difference <= allowed or self.exhausted or over or self.violation < _FINEST_VIOLATION:
                return values
            ratio = 0.7 * allowed / difference if np.isfinite(difference) else 0.1
            self.violation *= float(np.clip(ratio, 0.05, 0.5))

    def _approach(self) -> None:
        """From β = 0, come near to a large C by way of smaller ones."""
        if self.beta.any() or self.loss.total != 0.0:
            return
        lower, upper = self.lower, self.upper
        violation = VIOLATION * (float(np.abs(self.loss.target).max()) or 1.0)
        most = self.n_steps + self.max_steps
        for share in shares_on_the_way(float(max(upper.max(), -lower.min())), self.stack.diag):
            if self.n_steps >= most or is_over():
                break  # what there is, is feasible at a larger C too
            self.lower, self.upper = share * lower, share * upper
            for _ in range(ROUNDS):
                if self._advance_in_parts(violation, self.patience).iterations < self.patience:
                    break
                if self.n_steps >= most:
                    break
                newton_step(self)
            scores = self.scores
            growth = best_growth(self.terms(self.stack.shift).reward, float(self.beta @ scores))
            self.beta = growth * self.beta
            self.gradient = self.loss.target - growth * scores - self.stack.shift * self.beta
        self.lower, self.upper = lower, upper
        self.beta = np.clip(self.beta, lower, upper)  # rounding

    def _restore_balance(self) -> bool:
        """Bring Σβ back to its value, from which many steps of large β drift; whether β was changed."""
        excess = float(self.beta.sum()) - self.loss.total
        if not abs(excess) > _DRIFT * float(np.abs(self.beta).sum()):
            return False
        low, high = self.limits(np.arange(self.beta.size))
        room = np.minimum(self.beta - low, high - self.beta)
        j = int(np.argmax(room))
        if not room[j] > abs(excess):
            return False
        self.stack.form_rows(np.array([j]))
        self.beta[j] -= excess
        self.gradient += excess * self.stack.combined[j]
        return True

    def _advance_in_parts(self, tol: float, max_steps: int, value_stop: float = np.inf) -> smo_loop.Outcome:
        """The same as :meth:`advance`, but it ends early where the fit is over."""
        part = max(int(_PART / self.stack.n), 1) if has_deadline() else max_steps
        steps = 0
        while True:
            outcome = self.advance(tol, min(part, max_steps - steps), value_stop)
            steps += outcome.iterations
            if outcome.iterations < part or steps >= max_steps or is_over():
                return outcome._replace(iterations=steps)

    def advance(self, tol: float, max_steps: int, value_stop: float = np.inf) -> smo_loop.Outcome:
        """SMO to a largest violation of ``tol``."""
        stack = self.stack
        box = smo_loop.Box(stack.diag, self.lower, self.upper, float(self.loss.epsilon))
        if stack.on_disk and not stack.valid.any():  # read in the order of the file, not in that of the steps
            stack.form_rows(smo_loop.candidates(box, self.beta, self.gradient))
        # y'β − ε‖β‖₁ − ½ β'(y − g)
        dual = 0.5 * float((self.loss.target + self.gradient) @ self.beta)
        if self.loss.epsilon:
            dual -= float(self.loss.epsilon * np.abs(self.beta).sum())
        run = smo_on_factor if stack.factor_of_sum.size else smo_loop.smo
        outcome = smo_loop.Outcome(
            *run(
                smo_loop.Combination(
                    stack.with_kernels(stack.active),
                    stack.active,
                    stack.effective,
                    stack.shift,
                    stack.combined,
                    stack.valid,
                    stack.gates,
                    stack.factor_of_sum,
                ),
                box,
                self.beta,
                self.gradient,
                tol,
                max_steps,
                smo_loop.Progress(dual, min(value_stop, smo_loop.HUGE)),
            )
        )
        np.maximum(self.beta, self.lower, out=self.beta)  # rounding
        np.minimum(self.beta, self.upper, out=self.beta)
        stack.count_rows(outcome.formed, stack.active.size)
        self.n_steps += outcome.iterations
        self.least_curvature = min(self.least_curvature, outcome.least_curvature)
        return outcome

    def refresh(self, kernels: Array) -> Array:
        """Bring F up to date for the given kernels and return their q = β'K_mβ."""
        known = kernels[self._known[kernels]]
        fresh = kernels[~self._known[kernels]]
        if known.size:
            self.stack.update_adjoint(known, self.beta, self._F_beta, self.F)
        if fresh.size:
            self.stack.adjoint(fresh, self.beta, self.F)
        self._mark(kernels)
        return self.F[kernels] @ self.beta

    def quadratic_forms(self, kernels: Array) -> Array:
        """q of kernels whose adjoint is not kept."""
        return self.stack.quadratic_forms(kernels, self.beta)

    def estimate_q(self, kernels: Array) -> tuple[Array, float]:
        """q = β'K_mβ to second order from the F of a nearby β, without reading the stack.

        With δ = β − (β of F): q_m = F_m'(β + δ) + δ'K_mδ. The mean of the last terms, δ'K(μ)δ, is known
        from the gradient; it is added to each, and returned as the size of what is not known.
        """
        delta = self.beta - self._F_beta
        used = np.flatnonzero(self.stack.weights[: self.stack.n_stored])
        old_scores = self.stack.weights[used] @ self.F[used]
        remainder = max(float(delta @ (self.scores - old_scores)), 0.0)
        return self.F[kernels] @ (self.beta + delta) + remainder, remainder

    def knows(self, kernels: Array) -> bool:
        """Whether F holds these kernels, for the present β or one before it."""
        return bool(self._known[kernels].all())

    def recombine(self, kernels: Array, form_rows: bool) -> None:
        """After a change of weights and β: F anew (support rows in the same read), and the gradient."""
        if form_rows:
            self.stack.combine_and_adjoint(kernels, self.beta, self.F)
        else:
            self.stack.adjoint(kernels, self.beta, self.F)
        self._mark(kernels)
        self.rebuild_gradient()

    def _mark(self, kernels: Array) -> None:
        self._known[:] = False
        self._known[kernels] = True
        self._F_beta = self.beta.copy()

    def rebuild_gradient(self) -> None:
        """The gradient from F, which holds every kernel that has weight: removes the drift of many steps."""
        used = np.flatnonzero(self.stack.weights)
        stored = used[used < self.stack.n_stored]
        combined = self.stack.weights[stored] @ self.F[stored]
        self.gradient = self.loss.target - combined - self.stack.shift * self.beta

    def scale_to_margin(self) -> bool:
        """A hard margin is met exactly: β has no upper bound, so it is scaled until the least margin is 1."""
        if not isinstance(self.loss, HardMargin) or self.stack.identity is not None:
            return False
        half, _ = self.loss.half_width(self.scores)
        if half <= 0.0:
            return False
        self.beta = self.beta / half
        self._F_beta = self._F_beta / half
        self.F /= half
        self.gradient = self.loss.target - (self.loss.target - self.gradient) / half
        return True

    def free(self) -> Array:
        """Samples whose β can move both ways without a change of slope."""
        inside = (self.beta > self.lower) & (self.beta < self.upper)
        return np.flatnonzero(inside & (self.beta != 0.0) if self.loss.epsilon else inside)

    def sensitivity(self, kernels: Array) -> Sensitivity:
        """How the free β answer to the weights of the given kernels, and the Hessian of the value."""
        rows = self.free()
        guess = self._sensitivity if np.array_equal(self._sensitivity_of, kernels) else None
        ascent = self.gradient[rows] - self.loss.epsilon * np.sign(self.beta[rows])
        ascent -= ascent.mean() if rows.size else 0.0  # the intercept
        F = self.F[kernels][:, rows]
        found = solve_free_system(self.stack, rows, np.vstack([F, -ascent]), guess).split_correction()
        low, high = self.limits(rows)
        moved = np.clip(self.beta[rows] + found.correction, low, high) - self.beta[rows]
        self._sensitivity, self._sensitivity_of = found, kernels
        return replace(found, q_change=2.0 * F @ moved)

    def follow(self, change: Array, sensitivity: Sensitivity) -> bool:
        """Move the free β to where a change of the weights takes them to first order; False if it cannot."""
        rows = sensitivity.rows
        if rows.size < 2:
            return False
        old = self.beta[rows]
        low, high = self.limits(rows)
        return self.place_balanced(rows, old + sensitivity.direction(change), low, high)

    def limits(self, rows: Array) -> tuple[Array, Array]:
        """How far the given β may move without a change of slope."""
        low, high = self.lower[rows], self.upper[rows]
        if self.loss.epsilon:
            low, high = np.where(self.beta[rows] > 0, 0.0, low), np.where(self.beta[rows] < 0, 0.0, high)
        return low, high

    def place_balanced(self, rows: Array, new: Array, low: Array, high: Array) -> bool:
        """Set β within its limits and with the sum unchanged; False, and nothing set, if that cannot be."""
        new = np.clip(new, low, high)
        excess = float((new - self.beta[rows]).sum())
        room = new - low if excess > 0 else high - new
        room = np.minimum(room, np.abs(new) + abs(excess))  # infinite bounds
        if room.sum() <= 2.0 * abs(excess):
            return False
        if excess != 0.0:
            new = np.clip(new - excess * room / room.sum(), low, high)
        # what rounding left is taken by the sample that is farthest from its bounds
        j = int(np.argmax(np.minimum(new - low, high - new)))
        moved = new[j] - float((new - self.beta[rows]).sum())
        if not low[j] < moved < high[j]:
            return False
        new[j] = moved
        self.beta[rows] = new
        return True


class RidgeMachine(Machine):
    """One task of the squared loss: β solves (K + shift)β + b1 = y with one factorisation for all tasks."""

    def use_factor(self, factor: Any) -> None:
        """Take the factor of the current sum, which is computed once for all tasks."""
        self.factor = factor
        ones = np.ones(self.stack.n)
        self.inverse_ones = cho_solve(factor, ones, check_finite=False)

    def solve(self, target: float, value_stop: float = np.inf, plain: bool = True) -> Values:
        y = self.loss.target
        beta = cho_solve(self.factor, y, check_finite=False)
        intercept = 0.0
        if self.loss.has_intercept:
            intercept = float(beta.sum() / self.inverse_ones.sum())
            beta -= intercept * self.inverse_ones
            beta -= beta.mean()  # rounding: the constraint holds exactly
        self.beta = beta
        self.gradient = np.full(y.size, intercept)  # y − (K + shift)β
        return self.values()

    def sensitivity(self, kernels: Array) -> Sensitivity:
        rows = np.arange(self.stack.n)
        solved = cho_solve(self.factor, self.F[kernels].T, check_finite=False)
        return Sensitivity.from_solution(
            rows, self.inverse_ones, solved, self.F[kernels], self.loss.has_intercept
        )

"""An interior-point method for kernel machines and their weights, whose cost hardly depends on C and scale.

    min_{μ in M} max_β  Σ_t y_t'β_t − ε‖β_t‖₁ − ½ β_t'(K(ω) + diag(shift))β_t,   lower ≤ β ≤ upper, Σβ = total

with ω = floor + μ. On kernels of low rank SMO needs steps in proportion to C · |K|; this method needs about
10 to 50 steps, about 2 more for each factor of 10 by which C exceeds the largest dual variable, each with one
Cholesky factorization. It is used where SMO is slow, and where double precision cannot hold a function by its
dual variables (:mod:`multikernel.core.weights.second`).

The dual variables are made of barrier variables (:mod:`.barrier`), or of scores for smooth losses
(:mod:`.smooth`), which have their own matrix instead of R + D. That of a joint machine is too large
to be factorized: its equations are solved by conjugate gradients (:mod:`.joint.newton`).

**Kernels of low rank** enter by factors: K(ω) = Q W(ω) Q' + R(ω), Q orthonormal, W(ω) = Σ ω_m T_m T_m', and R
the weighted sum of the others. Their part of the function, Qη, is a *primal* variable: where C · |K| · n ·
eps is large, Σ_i β_i k(x_i, x) cancels to nothing in double precision, while η, or coefficients of the pivots
of the factors, hold the function. With ξ = W⁻¹η, which is Q'β at the optimum (W⁻¹ is never
formed: see :class:`multikernel.core.stack.low_rank.Split`), a Newton step solves

    (R + D) dβ + Q e + F dμ + 1 db = r,     W⁻¹ e − Q'dβ = Q'β − ξ,
    −F'dβ + H dμ + c dλ = r_μ,              1'dβ = r_b,    c'dμ = r_λ

where e = dη − Σ_m dμ_m T_m T_m'ξ, F_m = Q T_m T_m'ξ or K_m β, D and H are the barriers' second derivatives,
and λ, c belong to the equation Σ μ_m^p = 1 of the weight set. Numbers of very different size do not meet in
one matrix: a Cholesky factor of R + D, then one of the size of the rank. The entries of D of free dual
variables and of those at their bounds are up to 20 powers of ten apart; where the second matrix, a sum of
squares divided by them, has lost the small ones, as the last of the corrections of a solution tells, its
factor is made of the rows themselves, by a QR factorization. Each iteration takes Mehrotra's predictor and
corrector, with the second-order terms of weights and duals together.

The weights move once the machines' own gap at equal weights is moderate: from far away, the products of
weights and duals are too large for first and second order to describe.

**Certificate**: the primal value of the function, at weights within the set, and the plane of a feasible β.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_solve

from ..._typing import Array
from ..optim.loop import relative_gap
from ..optim.weight_sets import LpBall
from ..stack.low_rank import Kernels
from .barrier import SmoothTask, Task, make_task
from .joint.newton import PairSystem, below, is_negligible, root_of
from .joint.newton import cholesky as _cholesky
from .losses import JointHinge, Loss
from .smooth import SmoothLoss, factorized, in_inner_product

MOST_DENSE = 4000  # samples of a dense kernel whose equations are factorized
_MOST_PRODUCTS, _FEWER = 200, 4  # of conjugate gradients, for one step; a share of the number of samples
_MAX_ITER = 150
_PATIENCE = 20  # iterations without progress, after which rounding is to blame
_NOTHING = 1e-6  # times tol, of the value: products as small as this improve no gap
_RELEASE = 0.3  # the machines' own relative gap, or their products, from which on the weights move
_FIRST_SHARE = 0.03  # of the value is what the barriers of the weights begin with
_FRACTION = 0.99  # of the way to the boundary
_STEEPEST, _SHORTENINGS = 3.0, 12  # slopes of weights, in relation to that of the set; halvings of a step
_REFINEMENTS = 2


# ---------------------------------------------------------------------- weights
class Weights:
    """The weights μ of a norm ball, its multiplier λ, and the slacks z of μ ≥ 0."""

    def __init__(self, weight_set: LpBall, n_kernels: int, floor: Array | None) -> None:
        self.set, self.p = weight_set, float(weight_set.p)
        self.learns = not (n_kernels == 1 or np.isinf(self.p))
        self.moves = False  # whether they do so already
        self.floor = np.zeros(n_kernels) if floor is None else floor
        self.mu = np.asarray(weight_set.center(n_kernels), float)
        self.z, self.multiplier = np.zeros(n_kernels), 0.0

    @property
    def omega(self) -> Array:
        """What each kernel weighs."""
        return self.floor + self.mu

    @property
    def slope(self) -> Array:
        """c, the derivative of Σ μ^p."""
        return np.asarray(self.p * self.mu ** (self.p - 1.0))

    @property
    def curvature(self) -> Array:
        """H, of the constraint and the barrier."""
        bend = self.p * (self.p - 1.0) * self.mu ** (self.p - 2.0) if self.p > 1.0 else 0.0
        return np.asarray(self.multiplier * bend + self.z / self.mu)

    def support(self, q: Array) -> float:
        """The largest weighted sum of q."""
        return (self.set.support(q) if self.learns else float(self.mu @ q)) + float(self.floor @ q)

    def release(self, product: float, q: Array) -> None:
        """Let them move, from slacks with products of at least this size."""
        self.multiplier = float(np.max((product / self.mu + 0.5 * q) / self.slope))
        self.z = self.multiplier * self.slope - 0.5 * q
        self.moves = True


# ---------------------------------------------------------------------- the method
class Found(NamedTuple):
    """Weights, duals and functions with their bounds."""

    mu: Array  # (n_kernels,), without the floor
    betas: list[Array]  # (n, d) of each task, feasible; coefficients of the function for smooth losses
    variables: list[Array]  # the barrier variables that they are made of
    inner: list[list[Array]]  # T_m'ξ (r_m, d) of each task and kernel of low rank
    xis: list[Array]  # ξ (r, d) of each task
    intercepts: list[Array]  # (d,) of each task
    dual: float  # the value of the duals at these weights
    upper: float
    lower: float
    gap: float


class Direction(NamedTuple):
    """Changes of one task."""

    beta: Array
    a: Array
    s: Array
    v: Array
    eta: Array
    inner: Array  # e, that of η beyond what the weights change by themselves
    b: Array


class Step(NamedTuple):
    """Changes of all tasks and of the weights."""

    tasks: list[Direction]
    mu: Array
    multiplier: float
    z: Array


class InteriorPoint:
    """Predictor and corrector for weights and machines together; see the module."""

    def __init__(
        self,
        kernels: Kernels,
        losses: Sequence[Loss | JointHinge | SmoothLoss],
        weight_set: LpBall,
        floor: Array | None = None,
        least_size: float = 0.0,
    ) -> None:
        self.kernels, self.least_size = kernels, least_size
        self.weights = Weights(weight_set, kernels.n_kernels, floor)
        self.tasks = [make_task(loss) for loss in losses]
        self.last: Found | None = None  # the last iterate, whatever rounding made of its bounds
        omega = self.weights.omega
        R, mean_diagonal = kernels.dense_sum(omega), kernels.mean_diagonal(omega)
        for task in self.tasks:
            task.start(mean_diagonal, kernels.rank, R)

    def run(self, tol: float, note: Callable[[Found], bool] | None = None) -> Found:
        """Iterate to a relative gap of ``tol``; the best weights and machines that were seen.

        ``note`` gets the best of each iteration; True ends the method.
        """
        best: Found | None = None
        waited, least = 0, np.inf
        for _ in range(_MAX_ITER):
            point = _Point(self)
            self.last = found = point.certified()
            product, number = self._products()
            is_better = best is None or found.gap < 0.9 * best.gap
            is_lost = not is_better and 0.0 < product <= _NOTHING * tol * abs(found.upper)
            is_lost &= self.weights.moves or not self.weights.learns
            waited = 0 if is_better or product < 0.9 * least else waited + 1
            least = min(least, product)
            if best is None or rank(found) < rank(best):
                best = found
            if (note is not None and note(best)) or best.gap <= tol or waited > _PATIENCE or is_lost:
                break
            if self.weights.learns and not self.weights.moves:
                own = relative_gap(found.upper, found.dual, self.least_size)
                # as long as β does not yet agree with η on huge kernels, only the products say how far it is
                if own <= _RELEASE or 0.0 < product <= _RELEASE * abs(found.upper):
                    share = _FIRST_SHARE * abs(found.upper) / self.kernels.n_kernels
                    self.weights.release(max(product / number if number else 0.0, share), point.q)
                    waited, least = 0, np.inf
            if not point.step():
                break
        assert best is not None
        return best

    def _products(self) -> tuple[float, int]:
        """The sum of all products that go to zero, and their number."""
        parts = [task.products() for task in self.tasks]
        total, number = sum(part[0] for part in parts), sum(part[1] for part in parts)
        w = self.weights
        return (total + float(w.mu @ w.z), number + w.mu.size) if w.moves else (total, number)


class _Point:
    """What is known at an iterate, and the step from it."""

    def __init__(self, method: InteriorPoint) -> None:
        self.method, self.tasks, self.weights = method, method.tasks, method.weights
        self.kernels = K = method.kernels
        self.R, self.split = K.dense_sum(self.weights.omega), K.split(self.weights.omega)
        self.betas = [task.beta for task in self.tasks]
        shares = [K.shares(self.split, self.weights.omega, task.eta) for task in self.tasks]
        self.thetas, self.inner = [theta for theta, _ in shares], [inner for _, inner in shares]
        found = [K.adjoints(beta, inner) for beta, inner in zip(self.betas, self.inner, strict=True)]
        self.F = [F for F, _ in found]
        self.q = np.sum([q for _, q in found], axis=0)
        # scores without intercepts: of kernels of low rank, and of the others
        self.low_scores = [K.Q @ task.eta for task in self.tasks]
        self.dense_scores = [np.zeros_like(beta) if self.R is None else self.R @ beta for beta in self.betas]
        for task, low, dense in zip(self.tasks, self.low_scores, self.dense_scores, strict=True):
            if isinstance(task, SmoothTask):
                task.settle(low + dense)

    # ------------------------------------------------------------------ certificate
    def certified(self) -> Found:
        """Both bounds at the present weights."""
        risk = norm2 = plane = 0.0
        q = np.zeros(self.kernels.n_kernels)
        betas, variables, intercepts = [], [], []
        for t, task in enumerate(self.tasks):
            norm2 += float(np.vdot(self.thetas[t], self.thetas[t]))
            norm2 += float(np.vdot(self.betas[t], self.dense_scores[t]))
            scores = self.low_scores[t] + self.dense_scores[t]
            value, b = task.risk(scores, task.b)
            risk += value
            intercepts.append(b)
            a = task.feasible(task.a)
            beta = task.free_beta if task.is_free else task.beta_of(task.a if a is None else a)
            if task.is_free and task.has_intercept and not isinstance(task, SmoothTask):
                beta = beta - beta.mean(axis=0)
            own, dual = task.plane(beta, scores)
            plane = -np.inf if a is None else plane + own
            q += self.kernels.forms(dual)
            betas.append(beta)
            variables.append(task.a)
        w = self.weights
        upper = risk + 0.5 * norm2
        lower = plane - 0.5 * w.support(q)
        value = plane - 0.5 * float(w.omega @ q)
        gap = relative_gap(upper, lower, self.method.least_size)
        xis = [self.split.up(theta) for theta in self.thetas]
        return Found(w.mu, betas, variables, self.inner, xis, intercepts, value, upper, lower, gap)

    # ------------------------------------------------------------------ step
    def step(self) -> bool:
        """Predictor and corrector; False where the equations cannot be solved any more."""
        with np.errstate(all="ignore"):
            try:
                self.P = self.kernels.Q @ self.split.G
                self.systems = [self._system(t) for t in range(len(self.tasks))]
                predictor = self._direction(0.0, None)
                change = self._direction(self._centering(predictor), predictor)
            except (np.linalg.LinAlgError, ValueError):
                return False
            length = self._shortened(change, self._length(change))
            length = min(length, self._longest(change))
        numbers = [x for d in change.tasks for x in d] + [change.mu, change.z, np.array([change.multiplier])]
        if not (length > 0.0 and all(np.isfinite(x).all() for x in numbers)):
            return False
        for task, d in zip(self.tasks, change.tasks, strict=True):
            task.a, task.s, task.v = task.a + length * d.a, task.s + length * d.s, task.v + length * d.v
            task.eta, task.b = task.eta + length * d.eta, task.b + length * d.b
            if task.is_free:
                task.free_beta = task.free_beta + length * d.beta
        w = self.weights
        if w.moves:
            mu = w.mu + length * change.mu
            w.mu, w.z = mu / float(np.linalg.norm(mu, w.p)), w.z + length * change.z  # within the set
            w.multiplier += length * change.multiplier
        return True

    def _longest(self, change: Step) -> float:
        """How far the Hessians of smooth losses hold, by the largest change of a score."""
        K, largest = self.kernels, 0.0
        for t, (task, d) in enumerate(zip(self.tasks, change.tasks, strict=True)):
            if not isinstance(task, SmoothTask):
                continue
            scores = K.Q @ d.eta + d.b
            if self.R is not None:
                scores = scores + self.R @ d.beta
                if self.weights.moves:
                    scores = scores + np.tensordot(change.mu[K.dense], self.F[t][K.dense], 1)
            largest = max(largest, float(np.abs(scores).max()))
        return float(np.log1p(largest) / largest) if largest > 0.0 else 1.0

    def _system(self, t: int) -> "_System":
        """The factors of one task, with the columns that all directions use."""
        task, K = self.tasks[t], self.kernels
        system: _System
        if task.d > 1:
            system = _JointSystem(self.R, task, K.Q, self.split.G)
        else:
            system = _kind_of(task, self.R)(self.R, task, self.P, self.split.G)
        intercepts = np.tile(np.eye(task.d), (K.n, 1)) if task.has_intercept else np.zeros((K.n * task.d, 0))
        columns = [intercepts]
        if self.weights.moves:
            columns.append(self.F[t].reshape(K.n_kernels, -1).T)
        system.prepare(np.concatenate(columns, axis=1), intercepts.shape[1])
        return system

    def _direction(self, product: float, predictor: Step | None) -> Step:
        """The Newton direction to products of this size, with the second order of a predictor."""
        w, K = self.weights, self.kernels
        m = K.n_kernels if w.moves else 0
        second = self._second_order(predictor) if predictor is not None and m else None
        parts = [self._prepared(t, product, predictor, second) for t in range(len(self.tasks))]
        d_mu, d_multiplier, d_z = np.zeros(m), 0.0, np.zeros(m)
        if m:
            cz = product - w.mu * w.z - (0.0 if predictor is None else predictor.mu * predictor.z)
            q = self.q if second is None else self.q + second.q
            right = cz / w.mu - (w.multiplier * w.slope - w.z - 0.5 * q)
            A = np.diag(w.curvature)
            for part in parts:
                A, right = A + part.A, right + part.right
            d_mu, d_multiplier = _bordered(A, w.slope, right, 1.0 - float((w.mu**w.p).sum()))
            d_z = (cz - w.z * d_mu) / w.mu
        directions = [self._completed(t, part, d_mu) for t, part in enumerate(parts)]
        if second is not None:
            directions = [d._replace(eta=d.eta + e) for d, e in zip(directions, second.etas, strict=True)]
        return Step(directions, d_mu, d_multiplier, d_z)

    def _second_order(self, predictor: Step) -> "_SecondOrder":
        """What the predictor changes beyond first order, as far as it can be gone."""
        share = self._length(predictor) ** 2
        q, scores, etas = np.zeros(self.kernels.n_kernels), [], []
        for d in predictor.tasks:
            inner = self.split.inner(self.split.down(d.inner))
            F, own = self.kernels.adjoints(d.beta, inner)
            q += share * own
            scores.append(share * np.tensordot(predictor.mu, F, 1))
            etas.append(share * self.kernels.moved(predictor.mu, inner, d.beta.shape[1]))
        return _SecondOrder(q, scores, etas)

    def _prepared(
        self, t: int, product: float, predictor: Step | None, second: "_SecondOrder | None"
    ) -> "_Part":
        """The part of one task, before the change of the weights is known."""
        task, system, K = self.tasks[t], self.systems[t], self.kernels
        margin = self._residual(t) - (0.0 if second is None else second.scores[t])
        cs, cv = product - task.a * task.s, np.where(task.bounded, product - task.room * task.v, 0.0)
        if predictor is not None:
            d = predictor.tasks[t]
            cs, cv = cs - d.a * d.s, np.where(task.bounded, cv + d.a * d.v, 0.0)
        if task.is_free:
            rho, r = np.zeros(0), margin.ravel()
        else:
            inner = margin - task.target  # the rewards hold the targets
            rho = task.reward + (task.turn * inner[task.sample]).sum(axis=1) + task.s - task.v
            rho = rho + cs / task.a - cv / task.room
            r = task.right_side(rho, system.theta, system.curvature)
        beta = self._expansion(t)
        mismatch = self.thetas[t] - self.split.G.T @ (K.Q.T @ beta)
        x, e = system.solve(r[:, None], mismatch)
        missing = task.total - beta.sum(axis=0)
        A, right = system.reduced(x[:, 0], missing)
        if self.weights.moves:
            for m, part, by_duals in zip(K.low, self.inner[t], K.projected(beta), strict=True):
                right[m] -= float(np.vdot(part, part - by_duals))
            if isinstance(task, SmoothTask):
                right[K.dense] += self.F[t][K.dense][..., 0] @ (beta - self.betas[t])[:, 0]
        return _Part(cs, cv, rho, r, x[:, 0], e[:, 0], missing, A, right)

    def _expansion(self, t: int) -> Array:
        """The β at which Newton's equations are stated: of smooth losses the duals that the scores make."""
        task = self.tasks[t]
        return task.dual if isinstance(task, SmoothTask) else self.betas[t]

    def _residual(self, t: int) -> Array:
        """What the scores still lack, (n, d)."""
        task, beta = self.tasks[t], self.betas[t]
        if isinstance(task, SmoothTask):
            return np.zeros_like(beta) if self.R is None else self.R @ (beta - task.dual)
        scores = self.low_scores[t] + self.dense_scores[t]
        return np.asarray(task.target - scores - task.b - task.shift[:, None] * beta)

    def _completed(self, t: int, part: "_Part", d_mu: Array) -> Direction:
        """The direction of one task, from the change of the weights."""
        task, system = self.tasks[t], self.systems[t]
        x, e, b = system.complete(part.x, part.inner, part.missing, d_mu)
        e = e.reshape(-1, task.d)
        eta = e + self.kernels.moved(d_mu, self.inner[t], task.d) if d_mu.size else e
        if task.is_free:
            nothing = np.zeros(0)
            d_beta = x[:, None] + self._expansion(t) - self.betas[t]
            return Direction(d_beta, nothing, nothing, nothing, eta, e, b)
        a = task.variables(x, part.r, part.rho, system.theta, system.curvature)
        s = (part.cs - task.s * a) / task.a
        v = np.where(task.bounded, (part.cv + task.v * a) / task.room, 0.0)
        return Direction(x[:, None] if task.d == 1 else task.beta_of(x), a, s, v, eta, e, b)

    def _length(self, step: Step) -> float:
        """How far all variables stay positive, at most 1."""
        length = 1.0
        for task, d in zip(self.tasks, step.tasks, strict=True):
            inside = task.bounded
            pairs = [
                (task.a, d.a),
                (task.s, d.s),
                (task.room[inside], -d.a[inside]),
                (task.v[inside], d.v[inside]),
            ]
            length = min([length, *(_reach(x, dx) for x, dx in pairs)])
        if self.weights.moves:
            w = self.weights
            length = min(length, _reach(w.mu, step.mu), _reach(w.z, step.z))
        return length

    def _shortened(self, step: Step, length: float) -> float:
        """As far as weights that fall do not leave too much of the function to kernels of low rank.

        Their part of the penalty, ‖v‖²/(2ω), is far from quadratic where ω falls to a small share.
        """
        K, w = self.kernels, self.weights
        if not (w.moves and K.rank):
            return length
        allowed = np.maximum(0.5 * self.q[K.low] / (w.multiplier * w.slope[K.low]), _STEEPEST)
        for _ in range(_SHORTENINGS):
            mu = w.mu + length * step.mu
            split = K.split(w.floor + mu)
            q = np.zeros(K.low.size)
            for task, d in zip(self.tasks, step.tasks, strict=True):
                inner = split.inner(split.down(task.eta + length * d.eta))
                q += [float(np.vdot(part, part)) for part in inner]
            limit = (w.multiplier + length * step.multiplier) * (w.p * mu ** (w.p - 1.0))[K.low]
            if (0.5 * q <= allowed * limit).all():
                break
            length *= 0.5
        return length

    def _centering(self, predictor: Step) -> float:
        """The products to aim at, by what the predictor would leave of them."""
        now, number = self.method._products()
        if not number:
            return 0.0
        length = self._length(predictor)
        after = 0.0
        for task, d in zip(self.tasks, predictor.tasks, strict=True):
            after += float((task.a + length * d.a) @ (task.s + length * d.s))
            inside = task.bounded
            after += float((task.room - length * d.a)[inside] @ (task.v + length * d.v)[inside])
        if self.weights.moves:
            w = self.weights
            after += float((w.mu + length * predictor.mu) @ (w.z + length * predictor.z))
        return (after / now) ** 3 * now / number


class _SecondOrder(NamedTuple):
    """What a step of weights and duals together changes beyond first order."""

    q: Array
    scores: list[Array]
    etas: list[Array]


class _Part(NamedTuple):
    """A task's part of a direction, before the change of the weights is known."""

    cs: Array
    cv: Array
    rho: Array
    r: Array
    x: Array
    inner: Array
    missing: Array
    A: Array
    right: Array


def rank(found: Any) -> tuple[float, float]:
    """The smaller, the better: by the gap, and where the bounds say nothing, by the value of the function."""
    return (min(found.gap, 1.0), found.upper) if np.isfinite(found.upper) else (np.inf, np.inf)


# ---------------------------------------------------------------------- linear systems
class _System:
    """(R + D) x + Q e = r, G⁻¹e − P'x = −mismatch of one task, P = QG, in the task's coordinates."""

    def __init__(self, R: Array | None, task: Task, P: Array, G: Array) -> None:
        self.G, self.d, self.task = G, task.d, task
        self._factorize(R, task)
        self.P = P
        if self.P.shape[1]:
            self.BP = self._base(self.P)
            self._eliminate()

    def _eliminate(self) -> None:
        """The factor of N = I + P'(R + D)⁻¹P; see :meth:`Task.by_rows`."""
        self.unit = np.ones(self.P.shape[1])
        if self.task.by_rows:
            self.small = root_of(self._half(self.P)), False
            return
        N = np.eye(self.P.shape[1]) + self.P.T @ self.BP
        self.unit = 1.0 / np.sqrt(np.diagonal(N))
        self.small = _cholesky(N * self.unit[:, None] * self.unit)

    def _factorize(self, R: Array | None, task: Any) -> None:
        """R + D."""
        self.theta = task.s / task.a + task.v / task.room
        self.curvature = task.curvature(self.theta)
        self.moves = np.isfinite(self.curvature)
        self.D = np.where(self.moves, self.curvature, 0.0) + task.shift
        self.factor = None
        if R is not None:
            matrix = R.copy()
            matrix.flat[:: len(matrix) + 1] += self.D
            if not self.moves.all():
                matrix[~self.moves] = matrix[:, ~self.moves] = 0.0
                matrix[~self.moves, ~self.moves] = 1.0
            self.factor = _cholesky(matrix)

    def _half(self, r: Array) -> Array:
        """H'r with HH' = (R + D)⁻¹."""
        if self.factor is None:
            return np.asarray(r / np.sqrt(np.where(self.moves, self.D, np.inf))[:, None])
        return below(self.factor[0], np.where(self.moves[:, None], r, 0.0))

    def _base(self, r: Array) -> Array:
        if self.factor is None:
            return np.asarray(r / np.where(self.moves, self.D, np.inf)[:, None])
        return np.asarray(cho_solve(self.factor, np.where(self.moves[:, None], r, 0.0), check_finite=False))

    def solve(self, r: Array, mismatch: Array | None = None) -> tuple[Array, Array]:
        """p and e for the columns of r."""
        base = self._base(r)
        if not self.P.shape[1]:
            return base, np.zeros((0, r.shape[1]))
        asked: Array | float = 0.0 if mismatch is None else mismatch.reshape(-1, 1)
        p, x, is_precise = self._refined(r, base, asked)
        if not (is_precise or self.task.by_rows):
            self.task.by_rows = True
            self._eliminate()
            p, x, _ = self._refined(r, base, asked)
        return p, (self.G @ x.reshape(len(self.G), -1)).reshape(x.shape)

    def _refined(self, r: Array, base: Array, asked: Array | float) -> tuple[Array, Array, bool]:
        """p and x = G⁻¹e, and whether the last correction was small."""
        x = self._small(self.BP.T @ r - asked)
        p, more = base - self.BP @ x, x
        for _ in range(_REFINEMENTS):  # what the elimination lost of G'Q'p − x
            more = self._small(self.P.T @ p - x - asked)
            x, p = x + more, p - self.BP @ more
        return p, x, is_negligible(more, x)

    def _small(self, right: Array) -> Array:
        scaled = cho_solve(self.small, self.unit[:, None] * right, check_finite=False)
        return np.asarray(self.unit[:, None] * scaled)

    def prepare(self, columns: Array, n_intercepts: int) -> None:
        """Solve for the intercepts and the adjoints of the kernels."""
        self.k, self.columns = n_intercepts, self.task.turned(columns)
        self.solved, self.inner = self.solve(self.columns)
        ones = self.columns[:, :n_intercepts]
        self.corner = ones.T @ self.solved[:, :n_intercepts]
        self.edge = ones.T @ self.solved[:, n_intercepts:]

    def reduced(self, beta: Array, missing: Array) -> tuple[Array, Array]:
        """This task's part of the equations of the weights."""
        F = self.columns[:, self.k :]
        A, right = F.T @ self.solved[:, self.k :], F.T @ beta
        if self.k:
            A = A - self.edge.T @ np.linalg.solve(self.corner, self.edge)
            short = self.columns[:, : self.k].T @ beta - missing
            right = right - self.edge.T @ np.linalg.solve(self.corner, short)
        return A, right

    def complete(self, beta: Array, inner: Array, missing: Array, d_mu: Array) -> tuple[Array, Array, Array]:
        """β, e and b from the change of the weights."""
        if d_mu.size:
            beta, inner = beta - self.solved[:, self.k :] @ d_mu, inner - self.inner[:, self.k :] @ d_mu
        b = np.zeros(self.d)
        if self.k:
            b = np.linalg.solve(self.corner, self.columns[:, : self.k].T @ beta - missing)
            beta, inner = beta - self.solved[:, : self.k] @ b, inner - self.inner[:, : self.k] @ b
        return beta, inner, b


class _SmoothSystem(_System):
    """The same with the inverse of SS' instead of D."""

    def _factorize(self, R: Array | None, task: Any) -> None:
        self.theta = self.curvature = np.zeros(0)
        self.H, self.factor = self._hessian(task), None
        if R is not None:
            matrix = self.H.inside(R)
            matrix.flat[:: len(matrix) + 1] += 1.0
            self.factor = _cholesky(matrix)

    def _hessian(self, task: Any) -> Any:
        return task.loss.curvature(task.u)

    def _half(self, r: Array) -> Array:
        inner = self.H.down(r)
        return inner if self.factor is None else below(self.factor[0], inner)

    def _base(self, r: Array) -> Array:
        inner = self.H.down(r)
        if self.factor is not None:
            inner = np.asarray(cho_solve(self.factor, inner, check_finite=False))
        return np.asarray(self.H.up(inner))


class _IterativeSystem(_SmoothSystem):
    """The same by conjugate gradients; with a root of the Hessian once they have failed, or never.

    They fail where C is very large. A root is made of a Hessian that is formed.
    """

    def _factorize(self, R: Array | None, task: Any) -> None:
        if R is not None and task.by_factor:
            self.by_products = False
            super()._factorize(R, task)
            return
        self.theta = self.curvature = np.zeros(0)
        self.H, self.R, self.by_products = task.loss.curvature(task.u), R, True

    def _hessian(self, task: Any) -> Any:
        H = super()._hessian(task)
        return H if task.loss.has_root else factorized(H, task.n)

    def _base(self, r: Array) -> Array:
        if not self.by_products:
            return super()._base(r)
        if self.R is None:
            return np.asarray(self.H.product(r))
        found = in_inner_product(self.R, self.H, r, min(_MOST_PRODUCTS, len(self.R) // _FEWER))
        if found is None:
            if len(self.R) > MOST_DENSE:
                raise np.linalg.LinAlgError("conjugate gradients do not converge.")
            self.task.by_factor = True
            self._factorize(self.R, self.task)
            return super()._base(r)
        return found

    def _eliminate(self) -> None:
        self.task.by_rows = False  # which needs a root
        super()._eliminate()


class _JointSystem(_System):
    """The same for a joint machine, by conjugate gradients."""

    def __init__(self, R: Array | None, task: Task, Q: Array, G: Array) -> None:
        self.G, self.d, self.task = G, task.d, task
        self.theta = self.curvature = task.s / task.a + task.v / task.room
        self.pairs = PairSystem(R, task, Q, G, self.theta)

    def solve(self, r: Array, mismatch: Array | None = None) -> tuple[Array, Array]:
        return self.pairs.solve(r, mismatch)


def _kind_of(task: Task, R: Array | None) -> type[_System]:
    """How the equations of a task with one output are solved."""
    if not isinstance(task, SmoothTask):
        return _System
    is_factorized = task.loss.has_root and (R is None or len(R) <= MOST_DENSE)
    return _SmoothSystem if is_factorized else _IterativeSystem


def _bordered(A: Array, c: Array, right: Array, rest: float) -> tuple[Array, float]:
    """x and λ with Ax + cλ = right and c'x = rest, A positive definite."""
    unit = 1.0 / np.sqrt(np.diagonal(A))
    factor = _cholesky(A * unit[:, None] * unit)
    both = unit[:, None] * cho_solve(factor, unit[:, None] * np.column_stack([right, c]), check_finite=False)
    multiplier = (float(c @ both[:, 0]) - rest) / float(c @ both[:, 1])
    return both[:, 0] - multiplier * both[:, 1], multiplier


def _reach(x: Array, dx: Array) -> float:
    """How far x + length · dx stays positive, at most 1."""
    falling = dx < 0.0
    return min(1.0, _FRACTION * float(np.min(-x[falling] / dx[falling], initial=np.inf)))

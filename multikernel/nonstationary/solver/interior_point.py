"""Primal-dual interior point methods for the projection, on some of its variables.

    min  ½ u'Hu − f'u [− Σ_t λ_t H(u_t / λ_t)],    Au = 0 : y,   u ≥ 0 : z,   λ_t + σ_t = C_t,  σ ≥ 0 : v

Mehrotra's predictor and corrector, one Cholesky factor for each iteration. They stop on the duality gap: y
makes the slacks of the primal, ξ_t = [max_r e_tr]₊ with the shortfalls e = f − Hu + A'y (their log-sum-exp
with the entropy). One row of A is redundant and left out.

The products u z and σ v are driven to zero. With the entropy no variable is ever zero, but many are as good
as, and their logarithms keep Newton's method from the last digits. At the optimum

    u_t = λ_t P_t,  P_t = softmax(e_t),    ln Σ_r exp e_tr = v_t − ζ_t,    ζ_t λ_t = σ_t v_t = 0

so that once the iterate is near, Newton's method goes on with these equations, in which nothing is large and
λ and σ alone are kept positive.

A bound on λ_t = Σ_r u_tr that is attained adds a huge multiple of the matrix of ones to the block of sample
t, and drowns what else the block says of the differences of its variables. So each sample has its own
coordinates, u_t = V_t x_t, in which λ_t is one of them: the huge number then stands alone on the diagonal.
The step solves

    (V'HV + D) x − V'A'y = b,    AVx = r,    D block diagonal

by a Cholesky factor of the first matrix and the Schur complement of the second equation, with a step of
refinement where digits count.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from ..._numba import compiled
from ...core.optim.loop import Status, is_over
from .mixtures import Array
from .projection import DenseProgram

_MAX_ITER = 100
_PATIENCE = 8  # iterations without a smaller gap or products after which rounding is to blame
_SMALLEST = 1e-300
_ROUGH = 1e-3  # gap above which the steps need not be exact
_LIFTS = (1e-12, 1e-11, 1e-10, 1e-8, 1e-6)  # relative to the largest element of the diagonal
_NEAR = 1e-4  # gap below which the equations of the softmax take over


class Solution(NamedTuple):
    """Variables of the problem, multipliers of Au = 0 (M + N,), and how it ended."""

    u: Array
    y: Array
    status: Status


def interior_point(program: DenseProgram) -> "Path | EntropicPath":
    """The method that suits the program, at its start."""
    return EntropicPath(program) if program.entropic else ProductPath(program)


class Path(ABC):
    """An iterate on its way to the optimum: ``follow`` goes on from where it stands."""

    def __init__(self, program: DenseProgram) -> None:
        self.program = program
        self.A = program.A[:-1]  # the rows of A are dependent
        self.system = ReducedSystem(program.H, self.A, program.start)
        counts = np.diff(program.start)
        size = 1.0 / np.sqrt(max(float(np.mean(np.diagonal(program.H))), 1e-12))
        self.u = np.minimum(0.5 * program.C / counts, size)[program.group]
        self.y = np.zeros(len(self.A))
        self.sigma = program.C - program.total(self.u)
        self.scale = max(1.0, float(np.abs(program.f).max()))
        self.v = np.full(counts.size, self.scale)
        self.n_iter = 0
        self.best, self.smallest, self.least_mu = (self.u, self.y), np.inf, np.inf

    def follow(self, tol: float) -> Solution:
        """Go on until the gap is within ``tol``, nothing improves any more, or the iterations are used up."""
        waited = 0
        while True:
            self._evaluate()
            score = max(self.gap, self.imbalance)
            waited = 0 if score < self.smallest or self.mu < 0.5 * self.least_mu else waited + 1
            self.least_mu = min(self.least_mu, self.mu)
            if score < self.smallest:
                self.best, self.smallest = (self.u, self.y), score
            if self.smallest <= tol:
                return self._answer(Status.OPTIMAL)
            if self.n_iter >= _MAX_ITER or is_over():
                return self._answer(Status.MAX_ITER)
            if waited >= _PATIENCE or not self._advance():
                return self._answer(Status.STALLED)
            self.n_iter += 1

    def _answer(self, status: Status) -> Solution:
        u, y = self.best
        return Solution(np.maximum(u, 0.0), np.append(y, 0.0), status)

    def _evaluate(self) -> None:
        """Shortfalls, balance, complementarity, and the gap between primal and dual value."""
        Hu = self.program.H @ self.u
        self.e = self.program.f - Hu + self.A.T @ self.y
        self.balance = self.A @ self.u
        self.mu = self._complementarity()
        self._judge(self.u, Hu, self.e, self.balance)

    def _judge(self, u: Array, Hu: Array, e: Array, balance: Array) -> None:
        """Gap and imbalance of feasible variables."""
        dual = self.program.dual(u, Hu) - float(np.abs(self.y) @ np.abs(balance))
        primal = 0.5 * float(u @ Hu) + float(self.program.C @ self.program.slacks(e))
        self.gap = (primal - dual) / (self.program.scale + abs(dual))
        mass = min(1.0, float(self.program.C.sum())) + float(u.sum())
        self.imbalance = float(np.abs(balance).max(initial=0.0)) / mass

    @abstractmethod
    def _complementarity(self) -> float:
        """The mean of the products that go to zero."""

    @abstractmethod
    def _advance(self) -> bool:
        """One iteration from an evaluated iterate; False if floating point allows none."""


class _ProductStep(NamedTuple):
    u: Array
    y: Array
    z: Array
    sigma: Array
    v: Array


class ProductPath(Path):
    """The method that drives the products u z and σ v to zero."""

    def __init__(self, program: DenseProgram) -> None:
        super().__init__(program)
        self.z = np.full(self.u.size, self.scale)

    def _complementarity(self) -> float:
        return float(self.u @ self.z + self.sigma @ self.v) / (self.u.size + self.v.size)

    def _factor(self) -> bool:
        """Coordinates of each sample: λ, instead of its largest variable, and the others."""
        V, D = np.zeros((2, self.u.size, self.system.width))
        entropic = self.program.entropic
        with np.errstate(over="ignore"):  # rounding may put a variable on its bound
            _pivot_blocks(self.u, self.z / self.u, self.v / self.sigma, entropic, self.program.start, V, D)
        return self.system.factor(V, D)

    def _step(self, to_z: Array, to_v: Array) -> _ProductStep:
        """Newton's step to products u z and σ v changed by ``to_z`` and ``to_v``."""
        group = self.program.group
        right = self.e + self.z - self.v[group] + to_z / self.u - (to_v / self.sigma)[group]
        if self.program.entropic:
            right -= self.program.log_shares(self.u)
        refine = self.smallest < _ROUGH
        x, y = self.system.solve(self.system.backward(right), -self.balance, refine)
        u = self.system.forward(x)
        sigma = -self.program.total(u)
        return _ProductStep(u, y, (to_z - self.z * u) / self.u, sigma, (to_v - self.v * sigma) / self.sigma)

    def _lengths(self, d: _ProductStep) -> tuple[float, float]:
        """How far the primal and the dual variables may go before one of them is zero."""
        return (
            min(_longest(self.u, d.u), _longest(self.sigma, d.sigma)),
            min(_longest(self.z, d.z), _longest(self.v, d.v)),
        )

    def _advance(self) -> bool:
        if not self._factor():
            return False
        first = self._step(-self.u * self.z, -self.sigma * self.v)
        primal, dual = (min(1.0, length) for length in self._lengths(first))
        after = (self.u + primal * first.u) @ (self.z + dual * first.z)
        after += (self.sigma + primal * first.sigma) @ (self.v + dual * first.v)
        after = max(float(after), 0.0) / (self.u.size + self.v.size)
        target = (after / self.mu) ** 3 * self.mu
        return self._move(
            self._step(
                target - self.u * self.z - first.u * first.z,
                target - self.sigma * self.v - first.sigma * first.v,
            )
        )

    def _move(self, d: _ProductStep) -> bool:
        near = max(0.9, min(0.9995, 1.0 - 10.0 * self.mu / (1.0 + self.mu)))
        if self.program.entropic:
            near = 0.95
        primal, dual = (min(1.0, near * length) for length in self._lengths(d))
        if self.program.entropic:  # the objective is not quadratic: both must move together
            primal = dual = min(primal, dual)
        if not (primal > 1e-12 and np.isfinite(d.u).all() and np.isfinite(d.z).all()):
            return False
        self.u = np.maximum(self.u + primal * d.u, _SMALLEST)
        self.sigma = np.maximum(self.sigma + primal * d.sigma, _SMALLEST)
        self.y = self.y + dual * d.y
        self.z = np.maximum(self.z + dual * d.z, _SMALLEST)
        self.v = np.maximum(self.v + dual * d.v, _SMALLEST)
        return True


class _SoftmaxStep(NamedTuple):
    u: Array
    y: Array
    total: Array
    v: Array
    zeta: Array


class SoftmaxPath(Path):
    """The method for the equations of the softmax, from where another has come."""

    def __init__(self, other: ProductPath) -> None:
        super().__init__(other.program)
        self.u, self.y, self.sigma, self.v = other.u, other.y, other.sigma, other.v
        self.best, self.smallest = other.best, other.smallest
        self.total = self.program.total(self.u)
        self.zeta = np.maximum(other.mu / self.total, _SMALLEST)

    def _judge(self, u: Array, Hu: Array, e: Array, balance: Array) -> None:
        """On the way variables may be slightly negative; what they would be without is judged."""
        if u.min() < 0.0:
            u = np.maximum(u, 0.0)
            Hu = self.program.H @ u
            e, balance = self.program.f - Hu + self.A.T @ self.y, self.A @ u
        super()._judge(u, Hu, e, balance)

    def _complementarity(self) -> float:
        return float(self.total @ self.zeta + self.sigma @ self.v) / (2 * self.v.size)

    def _factor(self) -> bool:
        """Coordinates of each sample: λ along P, and the differences in which the softmax bends."""
        program = self.program
        top = np.maximum.reduceat(self.e, program.start[:-1])
        shares = np.exp(self.e - top[program.group])
        sums = program.total(shares)
        self.log_sums = top + np.log(sums)
        self.shares = shares / sums[program.group]
        V, D = np.zeros((2, self.u.size, self.system.width))
        bend = self.v / self.sigma + self.zeta / self.total
        _softmax_blocks(self.shares, self.total, bend, program.start, V, D)
        self.misfit = self.total[program.group] * self.shares - self.u
        self.H_misfit = program.H @ self.misfit
        return self.system.factor(V, D)

    def _step(self, to_v: Array, to_zeta: Array) -> _SoftmaxStep:
        """Newton's step to products σ v and λ ζ changed by ``to_v`` and ``to_zeta``."""
        first = self.program.start[:-1]
        right = -self.system.backward(self.H_misfit)
        right[first] += self.log_sums - self.v + self.zeta - to_v / self.sigma + to_zeta / self.total
        x, y = self.system.solve(right, -self.balance - self.A @ self.misfit)
        total = x[first]
        return _SoftmaxStep(
            u=self.system.forward(x) + self.misfit,
            y=y,
            total=total,
            v=(to_v + self.v * total) / self.sigma,
            zeta=(to_zeta - self.zeta * total) / self.total,
        )

    def _length(self, d: _SoftmaxStep) -> float:
        """How far everything that must be positive stays so."""
        return min(
            _longest(self.total, d.total),
            _longest(self.sigma, -d.total),
            _longest(self.v, d.v),
            _longest(self.zeta, d.zeta),
        )

    def _advance(self) -> bool:
        if not self._factor():
            return False
        first = self._step(-self.sigma * self.v, -self.total * self.zeta)
        length = min(1.0, self._length(first))
        after = float((self.sigma - length * first.total) @ (self.v + length * first.v))
        after += float((self.total + length * first.total) @ (self.zeta + length * first.zeta))
        after = max(after, 0.0) / (2 * self.v.size)
        target = (after / self.mu) ** 3 * self.mu
        return self._move(
            self._step(
                target - self.sigma * self.v + first.total * first.v,
                target - self.total * self.zeta - first.total * first.zeta,
            )
        )

    def _move(self, d: _SoftmaxStep) -> bool:
        length = min(1.0, max(0.9, min(0.999, 1.0 - 10.0 * self.mu / (1.0 + self.mu))) * self._length(d))
        if not (length > 1e-12 and np.isfinite(d.u).all() and np.isfinite(d.v).all()):
            return False
        self.u = self.u + length * d.u
        self.y = self.y + length * d.y
        self.total = np.maximum(self.total + length * d.total, _SMALLEST)
        self.sigma = np.maximum(self.sigma - length * d.total, _SMALLEST)
        self.v = np.maximum(self.v + length * d.v, _SMALLEST)
        self.zeta = np.maximum(self.zeta + length * d.zeta, _SMALLEST)
        return True


class EntropicPath:
    """Products while the gap is large, then the softmax: for the problem with the entropy, of mode "full"."""

    def __init__(self, program: DenseProgram) -> None:
        self.far = ProductPath(program)
        self.near: SoftmaxPath | None = None

    @property
    def n_iter(self) -> int:
        """Iterations so far."""
        return self.far.n_iter + (self.near.n_iter if self.near is not None else 0)

    def follow(self, tol: float) -> Solution:
        """Go on until the gap is within ``tol``, as far as either method gets."""
        if self.near is None:
            first = self.far.follow(max(tol, _NEAR))
            if tol >= _NEAR:
                return first
            self.near = SoftmaxPath(self.far)
        found = self.near.follow(tol)
        if found.status == Status.OPTIMAL:
            return found
        other = self.far.follow(tol)
        return other if self.far.smallest < self.near.smallest else found


@compiled
def _pivot_blocks(
    u: Array, bend: Array, steep: Array, entropic: bool, start: Array, V: Array, D: Array
) -> None:
    """V: u_r = x_r but for the largest, u_p = x_p − Σ x_r with x_p = λ; D = V'diag(bend)V, ``steep`` on λ.

    With the entropy, whose second derivatives are diag(1/u) − 1/λ.
    """
    for g in range(start.size - 1):
        first, end = start[g], start[g + 1]
        pivot, total = first, 0.0
        for i in range(first, end):
            total += u[i]
            if u[i] > u[pivot]:
                pivot = i
        others = 0.0  # without the cancellation of λ − u
        for i in range(first, end):
            if i != pivot:
                others += u[i]
        shared = bend[pivot] + (1.0 / u[pivot] if entropic else 0.0)
        for i in range(first, end):
            for c in range(end - first):
                j = first + c
                V[i, c] = 1.0 if i == j else 0.0
                D[i, c] = -shared if (i == pivot) != (j == pivot) else shared
                if i == pivot and j != pivot:
                    V[i, c] = -1.0
                if i == j and i != pivot:
                    D[i, c] += bend[i] + (1.0 / u[i] if entropic else 0.0)
        D[pivot, pivot - first] = bend[pivot] + steep[g] + (others / (u[pivot] * total) if entropic else 0.0)


@compiled
def _softmax_blocks(P: Array, total: Array, steep: Array, start: Array, V: Array, D: Array) -> None:
    """V: first P, then √λ diag(√P) times a basis of what is orthogonal to √P (a reflection); D diagonal."""
    for g in range(start.size - 1):
        first, end = start[g], start[g + 1]
        root = np.sqrt(total[g])
        norm = 2.0 * (1.0 + np.sqrt(P[first]))  # of √P plus the first unit vector, squared
        for i in range(first, end):
            V[i, 0] = P[i]
            mirror = np.sqrt(P[i]) + (1.0 if i == first else 0.0)
            for c in range(1, end - first):
                j = first + c
                basis = (1.0 if i == j else 0.0) - 2.0 * mirror * np.sqrt(P[j]) / norm
                V[i, c] = root * np.sqrt(P[i]) * basis
            for c in range(end - first):
                D[i, c] = 0.0
            D[i, i - first] = steep[g] if i == first else 1.0


def _longest(values: Array, changes: Array) -> float:
    """The step at which the first of some positive values becomes zero."""
    falling = changes < 0.0
    return float((-values[falling] / changes[falling]).min()) if falling.any() else np.inf


# ------------------------------------------------------------------ the linear system of a step
class ReducedSystem:
    """The system for given matrices H (n, n), A (p, n) and blocks of variables; ``factor`` makes it ready."""

    def __init__(self, H: Array, A: Array, start: Array) -> None:
        self.H, self.A, self.start = H, A, start
        self.width = int(np.diff(start).max())
        variables = np.arange(len(H))
        self._diagonal = variables, variables - np.repeat(start[:-1], np.diff(start))

    def factor(self, V: Array, D: Array) -> bool:
        """Take the blocks of V and D, row by row in (n, width); False if rounding leaves no factor.

        The diagonal is lifted a little: with more variables inside their bounds than the kernels have rank
        there are directions along which nothing changes, and rounding would send the step far along them.
        """
        self.V = V
        if not (np.isfinite(V).all() and np.isfinite(D).all()):
            return False
        for lift in _LIFTS:
            K = np.empty_like(self.H)
            _transform(self.H, V, self.start, K)
            self.D = D.copy()
            self.D[self._diagonal] += lift * float(np.diagonal(K).max())
            _add_blocks(K, self.D, self.start)
            factor, failed = lapack.dpotrf(K.T, lower=0, overwrite_a=1, clean=0)
            if not failed:
                self.K = factor
                return self._eliminate()
        return False

    def _eliminate(self) -> bool:
        self.B = np.stack([self.backward(row) for row in self.A])
        self.KB = self._solve_first(self.B.T)
        S = self.B @ self.KB
        scale = np.sqrt(np.maximum(np.diagonal(S), 1e-300))
        values, vectors = np.linalg.eigh(S / np.outer(scale, scale))
        kept = values > 1e-14 * values[-1]  # a component that no sample uses has no multiplier
        inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
        self.S_inverse = inverse / np.outer(scale, scale)
        return bool(np.isfinite(self.S_inverse).all())

    def _solve_first(self, right: Array) -> Array:
        return np.asarray(lapack.dpotrs(self.K, right, lower=0)[0])

    def solve(self, b: Array, r: Array, refine: bool = True) -> tuple[Array, Array]:
        """x and y."""
        x, y = self._solve_once(b, r)
        if not refine:
            return x, y
        left = self.backward(self.H @ self.forward(x)) + _blocks_times(self.D, x, self.start) - self.B.T @ y
        dx, dy = self._solve_once(b - left, r - self.B @ x)
        return x + dx, y + dy

    def _solve_once(self, b: Array, r: Array) -> tuple[Array, Array]:
        free = self._solve_first(b)
        y = self.S_inverse @ (r - self.B @ free)
        return free + self.KB @ y, y

    def forward(self, x: Array) -> Array:
        """Vx."""
        return _blocks_times(self.V, x, self.start)

    def backward(self, b: Array) -> Array:
        """V'b."""
        result = np.zeros_like(b)
        _transposed_times(self.V, b, self.start, self.start.size - 1, result)
        return result


def _blocks_times(blocks: Array, x: Array, start: Array) -> Array:
    result = np.zeros_like(x)
    _times(blocks, x, start, result)
    return result


@compiled
def _times(blocks: Array, x: Array, start: Array, result: Array) -> None:
    for g in range(start.size - 1):
        first = start[g]
        for i in range(first, start[g + 1]):
            total = 0.0
            for c in range(start[g + 1] - first):
                total += blocks[i, c] * x[first + c]
            result[i] = total


@compiled
def _transposed_times(blocks: Array, b: Array, start: Array, n_groups: int, result: Array) -> None:
    for g in range(n_groups):
        first = start[g]
        for c in range(start[g + 1] - first):
            total = 0.0
            for i in range(first, start[g + 1]):
                total += blocks[i, c] * b[i]
            result[first + c] = total


@compiled
def _transform(H: Array, V: Array, start: Array, K: Array) -> None:
    """The lower triangle of K = V'HV, a row at a time."""
    half = np.empty(H.shape[0])
    for g in range(start.size - 1):
        first, end = start[g], start[g + 1]
        for c in range(end - first):
            half[:end] = 0.0
            for i in range(first, end):
                weight = V[i, c]
                if weight != 0.0:
                    for j in range(end):
                        half[j] += weight * H[i, j]
            _transposed_times(V, half, start, g + 1, K[first + c])


@compiled
def _add_blocks(K: Array, D: Array, start: Array) -> None:
    for g in range(start.size - 1):
        first = start[g]
        for i in range(first, start[g + 1]):
            for c in range(start[g + 1] - first):
                K[i, first + c] += D[i, c]

"""One more unlabelled point beside a learned kernel matrix, weights of any sign: an update, not a new fit.

    ω(μ) = max_β 2y'β − β'(K(μ) + τI)β over the labelled points,      min ω(μ),   tr K(μ) = c,  K(μ) ⪰ 0

A new point borders every K_i by a row and a corner. The labelled block, and so ω, stays as it is; the trace
and the semidefinite constraint change. So whatever is known of ω is kept from point to point:

    ω(μ) ≥ 2y'β − τβ'β − Σ_i μ_i β'K_iβ for every feasible β of any earlier machine,

and for every vector x, bordered by 0, Σ_i μ_i x'K_ix ≥ 0. With these cuts a linear program bounds the optimum
from below; its solution is cut off by eigenvectors of the bordered K(μ), and a machine at the nearest
feasible point between these and equal weights bounds the optimum from above, and gives the next cut. The
weights to start from lie as far inside the cone as the tolerance allows. Where they keep the bordered matrix
positive semidefinite, and all traces grow by the same factor, they are optimal again, to the same gap: the
new point only adds a constraint, and nothing is solved.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from scipy.optimize import linprog

from ..._typing import Array
from ...core.optim.loop import Options, Status
from ...core.svm.losses import Loss
from .kernel_matrix import MatrixProblem, learn_kernel_matrix

_BOX = 1e4  # of parts of the trace; a solution that touches it proves nothing
_SEMIDEFINITE = 1e-12  # of the mean diagonal
_VECTORS = 4  # eigenvectors of one matrix that become cuts
_LP = 1e-7  # what linear programs leave, relative to the value
_MAX_PULLS = 30


@dataclass(frozen=True, eq=False)
class Updated:
    """The solution with one more point."""

    weights: Array  # (m,), μ
    dual: Array  # (N,), label × dual
    intercept: float
    upper_bound: float
    lower_bound: float  # they enclose ω
    n_machines: int  # how many machines were trained; 0 where the weights at hand are optimal
    status: Status

    @property
    def gap(self) -> float:
        """(upper − lower) / |upper|."""
        return max((self.upper_bound - self.lower_bound) / abs(self.upper_bound), 0.0)


class OneMorePoint:
    """What is known of ω and of the cone, and the update; ``Ks`` (m, n, n) has the labelled points first."""

    def __init__(self, Ks: Array, loss: Loss, tol: float, max_iter: int) -> None:
        self.Ks, self.loss, self.tol, self.max_iter = Ks, loss, tol, max_iter
        self.N, self.r = loss.target.size, np.array([np.trace(K) for K in Ks])
        options = Options(tol=0.1 * tol, max_iter=200)
        base = learn_kernel_matrix(MatrixProblem(Ks, loss, "free", float(self.r.sum())), options)
        self.rewards: list[float] = []
        self.forms: list[Array] = []
        self.walls = np.zeros((0, len(Ks)))
        self._learn_from(base.dual)
        self._wall_off(np.tensordot(base.weights, Ks, 1), Ks)
        self.start = self._deep_inside(base.weights, base.upper_bound, base.lower_bound)

    def _deep_inside(self, weights: Array, upper: float, lower: float) -> "Updated":
        """Weights towards equal ones, as far as half of the tolerance: ω is convex on the way."""
        middle = np.full(self.r.size, float(self.r.sum()) / self.r.size) / self.r
        at_middle = self._machine(middle)
        self._learn_from(at_middle.dual)
        room = 0.5 * self.tol * abs(upper)
        share = min(1.0, room / max(at_middle.upper_bound - upper, room))
        inside, _ = drawn_in((1.0 - share) * weights + share * middle, middle, self.Ks)
        start = self._machine(inside)
        self._learn_from(start.dual)
        return replace(start, lower_bound=lower)

    def _learn_from(self, beta: Array) -> None:
        """ω ≥ reward − μ'form, from the duals of a machine."""
        N = self.N
        self.rewards.append(2.0 * float(self.loss.target @ beta) - float(self.loss.shift @ (beta * beta)))
        self.forms.append(np.array([beta @ (K[:N, :N] @ beta) for K in self.Ks]))

    def _wall_off(self, K: Array, Ks: Array) -> Array:
        """x'K_ix of the smallest eigenvectors of K; those of matrices without a border are kept."""
        _, X = scipy.linalg.eigh(K, subset_by_index=(0, min(_VECTORS, len(K)) - 1), check_finite=False)
        walls = np.stack([np.einsum("as,ab,bs->s", X, member, X, optimize=True) for member in Ks], axis=1)
        if len(K) == self.Ks.shape[1]:
            self.walls = np.vstack([self.walls, walls])
        return np.asarray(walls)

    def add(self, rows: Array, corner: Array) -> Updated:
        """With a point of similarities ``rows`` (m, n) to the others and ``corner`` (m,) to itself."""
        Ks = np.stack([bordered(K, row, own) for K, row, own in zip(self.Ks, rows, corner, strict=True)])
        r = self.r + corner
        c, walls = float(r.sum()), self.walls
        middle = np.full(r.size, c / r.size) / r
        mu = self.start.weights * (c / float(r @ self.start.weights))
        same_trace = np.allclose(
            corner * float(self.r.sum()), self.r * float(corner.sum()), rtol=1e-9, atol=0.0
        )
        best: tuple[float, Array, Array, float] | None = None
        lower, n_machines = -np.inf, 0
        for _ in range(self.max_iter):
            inside, outside = drawn_in(mu, middle, Ks)
            if outside is not None:
                walls = np.vstack([walls, self._wall_off(outside, Ks)])
            if best is None and outside is None and same_trace:
                found = self.start
            else:
                found, n_machines = self._machine(inside), n_machines + 1
                self._learn_from(found.dual)
            if best is None or found.upper_bound < best[0]:
                best = found.upper_bound, inside, found.dual, found.intercept
            if found is self.start:
                lower = found.lower_bound  # the new point only adds a constraint
                break
            mu, bound = self._cheapest(r, c, walls)
            lower = max(lower, bound)
            if best[0] - lower <= self.tol * abs(best[0]):
                break
        assert best is not None
        reached = best[0] - lower <= self.tol * abs(best[0])
        return Updated(
            best[1],
            best[2],
            best[3],
            best[0],
            lower,
            n_machines,
            Status.OPTIMAL if reached else Status.MAX_ITER,
        )

    def _machine(self, mu: Array) -> "Updated":
        """The machine at given weights, with bounds of its value."""
        K = np.tensordot(mu, self.Ks[:, : self.N, : self.N], 1)[None]
        options = Options(tol=0.1 * self.tol, max_iter=200)
        problem = MatrixProblem(K, self.loss, "nonnegative", float(np.trace(K[0])))
        result = learn_kernel_matrix(problem, options)
        return Updated(
            mu, result.dual, result.intercept, result.upper_bound, result.lower_bound, 1, result.status
        )

    def _cheapest(self, r: Array, c: float, walls: Array) -> tuple[Array, float]:
        """The weights at which all cuts together are smallest, and that value less what rounding leaves."""
        units, size = c / r, max(abs(reward) for reward in self.rewards)
        cuts = np.column_stack([-np.array(self.forms) * units / size, -np.ones(len(self.forms))])
        scaled = walls * units
        scaled /= np.maximum(np.abs(scaled).max(axis=1, keepdims=True), 1e-300)
        answer = linprog(
            np.append(np.zeros(r.size), 1.0),
            A_ub=np.vstack([cuts, np.column_stack([-scaled, np.zeros(len(scaled))])]),
            b_ub=np.append(-np.array(self.rewards) / size, np.zeros(len(scaled))),
            A_eq=np.append(np.ones(r.size), 0.0)[None],
            b_eq=np.ones(1),
            bounds=[(-_BOX, _BOX)] * r.size + [(None, None)],
        )
        if answer.status != 0:
            return units / r.size, -np.inf
        shares = answer.x[:-1]
        proves = np.abs(shares).max() < (1.0 - 1e-6) * _BOX
        return shares * units, size * (float(answer.x[-1]) - _LP) if proves else -np.inf


def bordered(K: Array, row: Array, own: float) -> Array:
    """K with one more point."""
    return np.block([[K, row[:, None]], [row[None], np.array([[own]])]])


def drawn_in(mu: Array, middle: Array, Ks: Array) -> tuple[Array, Array | None]:
    """Weights on the way from μ to the middle at which K is positive semidefinite, and K(μ) if that is not.

    The smallest eigenvalue is concave along the way: Newton's steps never go too far.
    """
    K, inside = np.tensordot(mu, Ks, 1), np.tensordot(middle, Ks, 1)
    floor = _SEMIDEFINITE * float(np.trace(inside)) / len(inside)
    outside, share = None, 0.0
    for _ in range(_MAX_PULLS):
        at = (1.0 - share) * K + share * inside
        values, vectors = scipy.linalg.eigh(at, subset_by_index=(0, 0), check_finite=False)
        if values[0] >= -floor:
            break
        outside = K
        x = vectors[:, 0]
        gain = float(x @ (inside @ x)) - float(values[0])
        share += (1.0 - share) * min(1.0, (0.5 * floor - float(values[0])) / gain)
    return (1.0 - share) * mu + share * middle, outside

"""The losses of kernel machines for an interior-point method: dual variables made of barrier variables.

β_i = Σ_j t_j a_j with 0 ≤ a_j ≤ U_j: one for each sign that a dual variable may have, t = ±1; for the joint
hinge one for each other class, t the turn to it, in an orthonormal basis of the directions Σ_l B_il = 0, so
that a sample has d = n_classes − 1 numbers β_i. Squared errors have none, nor have smooth losses, whose
duals follow from the scores (:mod:`.smooth`). The slacks of the bounds are s and v.
"""

from collections.abc import Callable

import numpy as np

from ..._typing import Array
from .losses import JointHinge, Loss
from .smooth import SmoothLoss

_CRISP = 1e-6  # relative: duals as near to a bound as this are at it
_BALANCE = 1e-12  # of the sum of the barrier variables: what rounding may make Σβ miss
# of duals to where they agree with a function: shares of the largest singular value, and of the room
_DAMPINGS, _MOST_MOVED = 10.0 ** np.arange(-13.0, 0.0), 0.9


class Task:
    """One machine: its dual variables β (n, d), their barrier variables and slacks, η (r, d) and b (d,).

    ``risk(scores, b)`` is the loss of scores (n, d), with the intercepts that go with it.
    """

    def __init__(
        self,
        sample: Array,
        turn: Array,
        reward: Array,
        upper: Array,
        *,
        shift: Array,
        target: Array,
        total: Array,
        epsilon: float,
        has_intercept: bool,
        risk: Callable[[Array, Array], tuple[float, Array]],
    ) -> None:
        self.sample, self.turn, self.reward, self.upper = sample, turn, reward, upper
        self.shift, self.target, self.total, self.risk = shift, target, total, risk
        self.has_intercept, self.epsilon = has_intercept, epsilon
        self.n, self.d = target.shape
        self.is_free = not sample.size
        self.bounded = np.isfinite(upper)
        self.free_beta = np.zeros((self.n, self.d))
        # of the joint hinge: the class of each sample, and the other class of each barrier variable
        self.codes: Array | None = None
        self.others: Array | None = None
        # samples whose columns hold most of the dense kernels, and the share that they leave
        self.pivots: Array | None = None
        self.left = 0.0
        # whether Newton's equations are reduced to the size of the rank row by row (.joint.newton.root_of)
        self.by_rows = False
        # whether a smooth loss whose equations were solved by conjugate gradients goes on without them
        self.by_factor = False
        self.b = np.zeros(self.d)

    def start(self, mean_diagonal: float, rank: int, R: Array | None) -> None:
        """Half of each bound, in balance; where there is none, what one sample would have alone.

        The slacks agree with the scores of kernels that are not of low rank, R β: from slacks that are far
        smaller, each step goes only half of its way. Duals far below half of their bounds were tried, where C
        is far larger than they will be: the products of variables and slacks are then of such different size
        that some problems make no progress at all.
        """
        self.eta = np.zeros((rank, self.d))
        alone = 0.5 / np.where(self.shift > 0.0, self.shift, max(mean_diagonal, 1e-300))
        self.a = np.where(self.bounded, 0.5 * np.where(self.bounded, self.upper, 0.0), alone[self.sample])
        if self.total.any():
            self.a = self.upper / float(self.upper.sum())
        elif self.d == 1 and not self.is_free:
            up = self.turn[:, 0] > 0.0
            for side, other in ((up, ~up), (~up, up)):
                self.a[side] *= min(float(self.a[other].sum()) / max(float(self.a[side].sum()), 1e-300), 1.0)
        size = float(np.abs(self.reward).max(initial=0.0)) or mean_diagonal / self.n
        above = np.zeros(self.a.size)  # s − v
        if not (self.is_free or self.total.any()):
            scores = np.zeros((self.n, self.d)) if R is None else R @ self.beta
            if self.has_intercept:
                self.b = -0.5 * (scores.max(axis=0) + scores.min(axis=0))
            above = (self.turn * (scores + self.b)[self.sample]).sum(axis=1) - self.reward
        size = max(size, float(np.abs(above).max(initial=0.0)))
        self.s = size + np.maximum(above, 0.0)
        self.v = np.where(self.bounded, size + np.maximum(-above, 0.0), 0.0)

    @property
    def room(self) -> Array:
        """The distance to the upper bounds, 1 where there is none."""
        return np.where(self.bounded, self.upper - self.a, 1.0)

    def beta_of(self, a: Array) -> Array:
        """Σ_j t_j a_j for each sample, (n, d)."""
        beta = np.zeros((self.n, self.d))
        for column in range(self.d):
            beta[:, column] = np.bincount(self.sample, self.turn[:, column] * a, minlength=self.n)
        return beta

    @property
    def beta(self) -> Array:
        """The dual variables of the samples."""
        return self.free_beta if self.is_free else self.beta_of(self.a)

    def products(self) -> tuple[float, int]:
        """The sum of the products of variables and slacks, and their number."""
        total = float(self.a @ self.s) + float(self.room @ self.v)
        return total, self.a.size + int(np.count_nonzero(self.bounded))

    def plane(self, beta: Array, scores: Array) -> tuple[float, Array]:
        """The dual value without the kernels' part, and its dual variables: β, or what these scores make."""
        return self._linear(beta) - 0.5 * float(self.shift @ (beta**2).sum(axis=1)), beta

    def _linear(self, beta: Array) -> float:
        """The linear part of the dual, from the smallest barrier variables that make β."""
        if self.is_free:
            return float(np.vdot(self.target, beta))
        if self.d > 1:
            return float(self.reward @ self._solved(beta))
        return float(self.target[:, 0] @ beta[:, 0]) - self.epsilon * float(np.abs(beta).sum())

    def outputs(self, beta: Array) -> Array:
        """The dual variables of each output, (n_outputs, n): of each class for the joint hinge."""
        if self.codes is None:
            return beta.T
        a = np.clip(self._solved(beta), 0.0, self.upper)  # rounding
        B = np.zeros((self.d + 1, self.n))
        B[self.others, self.sample] = -a
        B[self.codes, np.arange(self.n)] = np.bincount(self.sample, a, minlength=self.n)
        return B

    def _solved(self, beta: Array) -> Array:
        """The barrier variables of β where there are d for each sample."""
        turns = self.turn.reshape(self.n, self.d, self.d)
        return np.linalg.solve(turns.transpose(0, 2, 1), beta[..., None]).ravel()

    def feasible(self, a: Array) -> Array | None:
        """a with Σβ = total, by the least changes in relation to the room; None where that is too little."""
        if not self.has_intercept or self.is_free:
            return a
        share = self._share(a)
        missing = self.total - self.beta_of(a).sum(axis=0)
        a = a + share * np.linalg.lstsq((self.turn * share[:, None]).T, missing, rcond=1e-13)[0]
        return a if self._is_feasible(a) else None

    def agreeing(self, a: Array, columns: Array, mismatch: Callable[[Array], Array]) -> Array | None:
        """The same, with columns'β (r, d) nearer to where ``mismatch``, of β, is zero, within the room.

        None where no move brings it nearer. The columns are of length √n at most.
        """
        start = self.feasible(a)
        if start is None:
            return None
        share = self._share(start)
        ones = np.ones((self.n, int(self.has_intercept)))
        moves = np.einsum("jd,jr->jrd", self.turn, np.hstack([ones, columns])[self.sample])
        left, sizes, right = np.linalg.svd(
            moves.reshape(len(moves), -1) * share[:, None], full_matrices=False
        )
        rest = mismatch(self.beta_of(start))
        asked = right @ np.concatenate([np.zeros(ones.shape[1] * self.d), rest.ravel()])
        for damping in _DAMPINGS * float(sizes.max(initial=0.0)):
            move = left @ (sizes * asked / np.maximum(sizes**2 + damping**2, 1e-300))
            if np.abs(move).max(initial=0.0) <= _MOST_MOVED:
                moved = start + share * move
                is_better = np.linalg.norm(mismatch(self.beta_of(moved))) < np.linalg.norm(rest)
                return moved if is_better and self._is_feasible(moved) else None
        return None

    def _share(self, a: Array) -> Array:
        """How far each barrier variable is from its bounds."""
        return np.minimum(a, np.where(self.bounded, self.upper - a, a))

    def _is_feasible(self, a: Array) -> bool:
        inside = (a >= 0.0).all() and (a[self.bounded] <= self.upper[self.bounded]).all()
        rest = np.abs(self.total - self.beta_of(a).sum(axis=0)).max()
        return bool(inside and (rest <= _BALANCE * max(float(a.sum()), 1e-300)))

    # ------------------------------------------------------------------ coordinates of the linear systems
    def turned(self, columns: Array) -> Array:
        """T_i'x_i for the d numbers of each sample, columns (n d, k): from scores to coordinates."""
        if self.d == 1:
            return columns
        turns = self.turn.reshape(self.n, self.d, self.d)
        return np.asarray((turns @ columns.reshape(self.n, self.d, -1)).reshape(columns.shape))

    def curvature(self, theta: Array) -> Array:
        """The barriers' second derivative in each coordinate, (n d,); infinite where nothing can move."""
        if self.is_free:
            return np.zeros(self.n)
        if self.d > 1:
            return theta
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / np.bincount(self.sample, 1.0 / theta, minlength=self.n))

    def right_side(self, rho: Array, theta: Array, curvature: Array) -> Array:
        """What the barrier variables ask of the coordinates, (n d,)."""
        if self.d > 1:
            return rho
        asked = np.bincount(self.sample, self.turn[:, 0] * rho / theta, minlength=self.n)
        return np.asarray(np.where(np.isfinite(curvature), curvature, 0.0) * asked)

    def variables(self, x: Array, right: Array, rho: Array, theta: Array, curvature: Array) -> Array:
        """The change of the barrier variables that belongs to one of the coordinates.

        Far from the bounds it is a difference of nearly equal numbers by a tiny θ: what rounding makes the
        sum of a sample's changes miss goes to the variables that are farthest from their bounds.
        """
        if self.d > 1:
            return x
        turn, bend = self.turn[:, 0], np.where(np.isfinite(curvature), curvature, 0.0)
        change = (rho - turn * (right - bend * x)[self.sample]) / theta
        missed = x - np.bincount(self.sample, turn * change, minlength=self.n)
        return np.asarray(change + turn * (bend * missed)[self.sample] / theta)

    def crisp(self, a: Array) -> Array:
        """a with those that are as good as at a bound at it."""
        largest = np.where(self.bounded, self.upper, float(a.max(initial=0.0)))
        snapped = np.where(a <= _CRISP * largest, 0.0, a)
        return np.where(self.bounded & (self.upper - a <= _CRISP * largest), self.upper, snapped)


class SmoothTask(Task):
    """A machine with a smooth loss: the coefficients of the function are free, its scores make the duals.

    In Newton's equations the Hessian's inverse is what the shift is for squared errors.
    """

    def __init__(self, loss: SmoothLoss) -> None:
        self.loss = loss
        nothing = np.zeros(0)
        super().__init__(
            np.zeros(0, np.intp), np.zeros((0, 1)), nothing, nothing, shift=np.zeros(loss.n),
            target=np.zeros((loss.n, 1)), total=np.zeros(1), epsilon=0.0,
            has_intercept=loss.has_intercept, risk=self._risk,
        )  # fmt: skip

    def _risk(self, scores: Array, b: Array) -> tuple[float, Array]:
        b = np.array([self.loss.best_intercept(scores[:, 0])])
        return self.loss.value(scores[:, 0] + b), b

    def plane(self, beta: Array, scores: Array) -> tuple[float, Array]:
        u = scores[:, 0] + self.loss.best_intercept(scores[:, 0])
        dual = -self.loss.gradient(u)
        return self.loss.value(u) + float(dual @ u), dual[:, None]

    def settle(self, scores: Array) -> None:
        """Take the scores without intercept, (n, 1), and the intercept with which duals are in balance."""
        self.b = np.array([self.loss.best_intercept(scores[:, 0])])
        self.u = scores[:, 0] + self.b
        self.dual = -self.loss.gradient(self.u)[:, None]


def make_task(loss: Loss | JointHinge | SmoothLoss) -> Task:
    """The task of a loss."""
    if isinstance(loss, SmoothLoss):
        return SmoothTask(loss)
    return _joint_task(loss) if isinstance(loss, JointHinge) else _plain_task(loss)


def _plain_task(loss: Loss) -> Task:
    lower, upper = loss.lower, loss.upper
    is_free = bool(np.isinf(lower).all() and np.isinf(upper).all() and loss.epsilon == 0.0)
    ups = np.flatnonzero((upper > 0.0) & (not is_free))
    downs = np.flatnonzero((lower < 0.0) & (not is_free))
    sample = np.concatenate([ups, downs])
    sign = np.concatenate([np.ones(ups.size), -np.ones(downs.size)])

    def risk(scores: Array, b: Array) -> tuple[float, Array]:
        value, intercept = loss.risk(scores[:, 0])
        return value, np.array([intercept])

    return Task(
        sample, sign[:, None], sign * loss.target[sample] - loss.epsilon,
        np.concatenate([upper[ups], -lower[downs]]),
        shift=loss.shift, target=loss.target[:, None], total=np.array([loss.total]),
        epsilon=loss.epsilon, has_intercept=loss.has_intercept, risk=risk,
    )  # fmt: skip


def class_basis(n_classes: int) -> Array:
    """Orthonormal basis (n_classes, n_classes − 1) of the vectors whose sum is 0."""
    centered = np.eye(n_classes) - 1.0 / n_classes
    return np.linalg.svd(centered)[0][:, : n_classes - 1]


def _joint_task(loss: JointHinge) -> Task:
    n, k = loss.codes.size, loss.n_classes
    basis = class_basis(k)
    others = np.arange(k)[None] != loss.codes[:, None]
    sample, other = np.nonzero(others)
    turn = basis[loss.codes[sample]] - basis[other]
    margins = loss.margins

    def risk(scores: Array, b: Array) -> tuple[float, Array]:
        f = (scores + b) @ basis.T
        short = np.maximum(margins - (f[np.arange(n), loss.codes][:, None] - f), 0.0)
        return float(loss.upper @ np.where(others, short, 0.0).sum(axis=1)), b

    task = Task(
        sample, turn, margins[sample, other], loss.upper[sample], shift=np.zeros(n),
        target=np.zeros((n, k - 1)), total=np.zeros(k - 1), epsilon=0.0, has_intercept=True, risk=risk,
    )  # fmt: skip
    task.codes, task.others = loss.codes, other
    return task

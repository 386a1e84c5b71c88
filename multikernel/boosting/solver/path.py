"""An interior point method for machines on columns: its steps cost one factor of size n, at any scale.

    max_β  y'β − ε‖β‖₁ − ½ ‖H'β‖²         or   max_β  y'β − ε‖β‖₁  with |h'β| ≤ 1 for the columns h of H
    lower ≤ β ≤ upper, 1'β = 0                 the same

β = p − q has two parts x ≥ 0, with multipliers z of x ≥ 0 and w of x ≤ c. The scores of the machine are
Ha, with a = H'β, or the multipliers a = a⁺ − a⁻ of the two sides of |h'β| ≤ 1, and b is that of 1'β = 0. The
start keeps to all constraints of β, and so do all steps; Newton's method with Mehrotra's correction brings
the products xz, (c − x)w, a⁺s⁺, a⁻s⁻ (slacks s) and the derivative in x to zero together. After
eliminations its matrix is I + √D M √D, with a diagonal D and M = HH' or H diag(d) H': it is never singular,
whatever the rank of M is.
"""

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..._typing import Array
from ...core.svm.losses import EpsilonInsensitive, Hinge
from .columns import ChosenColumns, Columns

_TO_THE_BOUNDARY = 0.995
_MAX_STEPS = 100
_PUT_BACK = (0.0, 1e-15, 1e-14, 1e-13)  # relative
_SHORTEST = 1e-8  # step: no progress is left in floating point


class PathPoint(NamedTuple):
    """Duals β (n,), the coefficients of the columns (k,), and the relative gap."""

    beta: Array
    a: Array
    gap: float


class Quadratic:
    """The term ½ ‖H'β‖².

    The coefficients are unknowns of their own, a − H'β → 0: scores Ha are exact where β is large and most of
    H'β cancels, as it does where the columns differ much in size.
    """

    def __init__(self, columns: Columns | ChosenColumns) -> None:
        self.columns = columns
        self.G = columns.gram()
        self.slacks = self.multipliers = np.empty(0)

    def start(self, beta: Array, size: float) -> None:
        """The coefficients that belong to β."""
        self.a = self.columns.prices(beta)

    def values(self, beta: Array) -> tuple[float, float]:
        """½ ‖H'β‖², and ½ ‖a − H'β‖²: what the coefficients add to the gap."""
        prices = self.columns.prices(beta)
        self._miss = prices - self.a
        return 0.5 * float(prices @ prices), 0.5 * float(self._miss @ self._miss)

    def matrix(self) -> Array:
        """How the scores change with β."""
        return self.G

    def aim(self, target: float, correction: Array | float) -> Array:
        """The part of the change of the scores that does not depend on that of β."""
        return self.columns.scores(self._miss)

    def changes(self, dbeta: Array) -> tuple[Array, Array]:
        """Of slacks and multipliers."""
        self._da = self._miss + self.columns.prices(dbeta)
        return self.slacks, self.slacks

    def take(self, slacks: Array, multipliers: Array, length: float) -> None:
        """Go along the last changes."""
        self.a = self.a + length * self._da


class Slopes:
    """The constraints |h'β| ≤ 1; slacks and multipliers (2, k) of both sides; methods as above."""

    def __init__(self, columns: Columns | ChosenColumns) -> None:
        self.columns = columns

    def start(self, beta: Array, size: float) -> None:
        """Multipliers such that all products are the same."""
        prices = self.columns.prices(beta)
        self.slacks = np.array([1.0 - prices, 1.0 + prices])
        self.multipliers = size / self.slacks

    @property
    def a(self) -> Array:
        """The coefficients of the columns."""
        return self.multipliers[0] - self.multipliers[1]

    def values(self, beta: Array) -> tuple[float, float]:
        """There is no such term."""
        return 0.0, 0.0

    def matrix(self) -> Array:
        return self.columns.gram((self.multipliers / self.slacks).sum(axis=0))

    def aim(self, target: float, correction: Array | float) -> Array:
        self._toward = (target - correction) / self.slacks - self.multipliers
        return self.columns.scores(self._toward[0] - self._toward[1])

    def changes(self, dbeta: Array) -> tuple[Array, Array]:
        prices = self.columns.prices(dbeta)
        slacks = np.array([-prices, prices])
        return slacks, self._toward - self.multipliers / self.slacks * slacks

    def take(self, slacks: Array, multipliers: Array, length: float) -> None:
        """Go along changes."""
        self.slacks = self.slacks + length * slacks
        self.multipliers = self.multipliers + length * multipliers


class _Step(NamedTuple):
    x: Array
    z: Array
    w: Array
    slacks: Array
    multipliers: Array
    b: float


class ColumnPath:
    """The iterate; :meth:`steps` yields where it is, from the start to as far as floating point goes.

    ``push``: how far up the path to start, as a multiple of what is usual.

    Examples
    --------
    >>> x, y = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> path = ColumnPath(Hinge(y, 10.0), Quadratic(ChosenColumns(x[:, None]))).steps()
    >>> next(point.a.round(6).tolist() for point in path if point.gap < 1e-8)
    [1.0]
    """

    def __init__(self, loss: Hinge | EpsilonInsensitive, term: Quadratic | Slopes, push: float = 1.0) -> None:
        self.term, self.y, self.epsilon = term, loss.target, loss.epsilon
        above, below = np.flatnonzero(loss.upper > 0.0), np.flatnonzero(loss.lower < 0.0)
        self.rows = np.concatenate([above, below])
        self.signs = np.repeat([1.0, -1.0], [above.size, below.size])
        self.c = np.concatenate([loss.upper[above], -loss.lower[below]])
        self.empty = above.size == 0 or below.size == 0  # β = 0 is all that there is
        if not self.empty:
            self._start(push)

    def _start(self, push: float) -> None:
        """Both signs with the same sum, of about the right size; all products are the same."""
        positive = self.signs > 0.0
        sums = self.c[positive].sum(), self.c[~positive].sum()
        x = 0.5 * self.c * np.where(positive, min(1.0, sums[1] / sums[0]), min(1.0, sums[0] / sums[1]))
        x /= max(1.0, self._excess(x))
        self.x, self.room, self.b = x, self.c - x, 0.0
        beta = self._joined(x)
        t = push * max(float(np.abs(self.y).max()) * float(self.x.sum()) / self.x.size, 1e-300)
        self.term.start(beta, t)
        self.z, self.w = t / self.x, t / self.room

    def _excess(self, x: Array) -> float:
        """How much too large x is: for the constraints, or for the reward to exceed the square."""
        reward = float(np.abs(self.y).max() * x.sum()) or 1.0
        beta = self._joined(x)
        if isinstance(self.term, Slopes):
            return max(2.0 * float(np.abs(self.term.columns.prices(beta)).max()), float(x.mean()))
        largest = float(np.diagonal(self.term.G).max()) * float(x @ x)
        return max(0.5 * float(beta @ (self.term.G @ beta)), largest) / reward

    def _joined(self, x: Array) -> Array:
        return np.bincount(self.rows, self.signs * x, self.y.size)

    def _slope(self) -> Array:
        """The derivative of what is minimised in x."""
        return (
            self.epsilon - self.signs * (self.y - self.term.columns.scores(self.term.a) - self.b)[self.rows]
        )

    def steps(self) -> Iterator[PathPoint]:
        """Where the iterate is, before each step."""
        if self.empty:
            beta = np.zeros(self.y.size)
            yield PathPoint(beta, np.zeros(self.term.columns.prices(beta).size), 0.0)
            return
        least, self.share = np.inf, 0.0
        for _ in range(_MAX_STEPS):
            beta = self._joined(self.x)
            gap = self._gap(beta)
            yield PathPoint(beta, self.term.a, gap)
            astray = self.share > 0.0 and gap > least
            if astray or not self._advance(beta):
                return
            least = min(least, gap)

    def _gap(self, beta: Array) -> float:
        self.total = float(
            self.x @ self.z + self.room @ self.w + (self.term.slacks * self.term.multipliers).sum()
        )
        self.residual = self._slope() - self.z + self.w
        square, miss = self.term.values(beta)
        missing = self.total + float(self.x @ np.abs(self.residual)) + miss
        value = float(self.y @ beta - self.epsilon * self.x.sum()) - square
        return missing / max(value + missing, 1e-300)

    def _advance(self, beta: Array) -> bool:
        """One step of prediction and correction; False if it leads nowhere."""
        count = 2 * self.x.size + self.term.slacks.size
        t = self.total / count
        with np.errstate(all="ignore"):
            self.theta = self.z / self.x + self.w / self.room
            self.loose = self._looser()
            self.root = np.sqrt(np.bincount(self.rows, 1.0 / self.theta, self.y.size))
            A = self.root[:, None] * self.term.matrix() * self.root
            A.flat[:: self.y.size + 1] += 1.0
            if not self._factor(A):
                return False
            first = self._direction(beta, 0.0, None)
            length = self._longest(first)
            after = self._moved(first, length) / count
            step = self._direction(beta, t * min(after / t, 1.0) ** 3, first)
            length = min(1.0, _TO_THE_BOUNDARY * self._longest(step))
            if not length > _SHORTEST or not all(np.isfinite(part).all() for part in step):
                return False
        self._take(step, length)
        return True

    def _factor(self, A: Array) -> bool:
        """The Cholesky factor; rounding may take the 1 from the diagonal, and a share of it is put back."""
        for self.share in _PUT_BACK:
            raised = A.copy()
            raised.flat[:: self.y.size + 1] *= 1.0 + self.share
            with contextlib.suppress(LinAlgError, ValueError):
                self.factor = cho_factor(raised, lower=True, overwrite_a=True)
                return True
        return False

    def _looser(self) -> Array:
        """Which part of β is less bound: its change is what the other leaves of that of β."""
        side = (self.signs < 0.0).astype(int)
        theta = np.full((2, self.y.size), np.inf)
        theta[side, self.rows] = self.theta
        return np.asarray(side == theta.argmin(axis=0)[self.rows])

    def identified(self) -> tuple[Array, Array, Array]:
        """Columns in use, samples on the edge of their loss, and the scores without b of that edge."""
        active = np.flatnonzero(np.abs(self.term.a) > self.term.slacks.min(axis=0))
        edge = (self.x > self.c * self.z) & (self.room > self.c * self.w)
        rows = self.rows[edge]
        return active, rows, self.y[rows] - self.signs[edge] * self.epsilon

    def _direction(self, beta: Array, target: float, first: _Step | None) -> _Step:
        to_z: Array | float = target
        to_w: Array | float = target
        correction: Array | float = 0.0
        if first is not None:
            to_z = target - first.x * first.z
            to_w = target + first.x * first.w
            correction = first.slacks * first.multipliers
        dz, dw = to_z / self.x - self.z, to_w / self.room - self.w
        right = -self.residual + dz - dw
        aim = self.term.aim(target, correction)
        e = np.bincount(self.rows, self.signs * right / self.theta, self.y.size)
        used = self.root > 0.0
        known = np.divide(e, self.root, out=np.zeros_like(e), where=used) - self.root * aim
        rhs = np.column_stack([known, self.root])
        u, v = cho_solve(self.factor, rhs, check_finite=False).T
        db = float((self.root @ u + beta.sum()) / (self.root @ v))
        part = self.root * (u - db * v)  # the change of β
        scores = np.divide(e - part, self.root**2, out=np.zeros_like(e), where=used)  # M dβ + aim + db
        dx = (right - self.signs * scores[self.rows]) / self.theta
        dx[self.loose] = 0.0
        rest = part - self._joined(dx)
        dx[self.loose] = self.signs[self.loose] * rest[self.rows[self.loose]]
        slacks, multipliers = self.term.changes(part)
        return _Step(dx, dz - self.z / self.x * dx, dw + self.w / self.room * dx, slacks, multipliers, db)

    def _pairs(self, step: _Step) -> Iterator[tuple[Array, Array]]:
        yield self.x, step.x
        yield self.room, -step.x
        yield self.z, step.z
        yield self.w, step.w
        yield self.term.slacks, step.slacks
        yield self.term.multipliers, step.multipliers

    def _longest(self, step: _Step) -> float:
        """How far all stay nonnegative, at most 1 / share to the boundary."""
        falls = max(float((-change / here).max(initial=0.0)) for here, change in self._pairs(step))
        return min(1.0 / _TO_THE_BOUNDARY, 1.0 / falls) if falls > 0.0 else 1.0 / _TO_THE_BOUNDARY

    def _moved(self, step: _Step, length: float) -> float:
        """The sum of the products after a step."""
        pairs = self._pairs(step)
        x, room, z, w, slacks, multipliers = (here + min(length, 1.0) * change for here, change in pairs)
        return max(float(x @ z + room @ w + (slacks * multipliers).sum()), 0.0)

    def _take(self, step: _Step, length: float) -> None:
        self.x, self.room = self.x + length * step.x, self.room - length * step.x
        self.z, self.w, self.b = self.z + length * step.z, self.w + length * step.w, self.b + length * step.b
        self.term.take(step.slacks, step.multipliers, length)

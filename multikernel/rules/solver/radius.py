"""The smallest ball around the samples in feature space, of a kernel and of a weighted sum of kernels.

    R² = max_b  b'd − b'Kb,    b ≥ 0, Σb = 1,   d = diag K
       = min_w  max_i ‖φ(x_i) − w‖² = min_w  ‖w‖² + max_i (d_i − 2 f_i),    f = Kb

With the target d/2 this is twice  max_b y'b − ½ b'Kb, whose primal risk is max_i (y_i − f_i): the form of the
other machines. For K = Σ_m η_m K_m it is the maximum of r(b)'η with r_m(b) = b'diag K_m − b'K_mb ≥ 0: convex
in η and of degree one, so that the weights with R² ≤ 1 are the set of a gauge, of which every b gives a row.
"""

from dataclasses import dataclass

import numpy as np

from ..._typing import Array
from ...core.optim.weight_sets import Gauge
from ...core.stack.sums import WholeKernel, weighted_sum
from ...core.svm.losses import Loss
from ...core.svm.machine import Machine

_FLAT = 1e-12  # a spread of this share of the diagonal is rounding


@dataclass(frozen=True)
class EnclosingBall(Loss):
    """``target`` is half the diagonal of the kernel; twice the optimal value is the squared radius.

    Examples
    --------
    >>> x = np.array([-1.0, 0.0, 3.0])
    >>> EnclosingBall(0.5 * x * x).risk(np.outer(x, x) @ [0.5, 0.0, 0.5])
    (1.5, 0.0)
    """

    total = 1.0

    @property
    def lower(self) -> Array:
        return np.zeros(self.target.size)

    @property
    def upper(self) -> Array:
        return np.ones(self.target.size)

    @property
    def start(self) -> Array:
        """All samples alike."""
        return np.full(self.target.size, 1.0 / self.target.size)

    def risk(self, scores: Array) -> tuple[float, float]:
        return float((self.target - scores).max()), 0.0

    def restrict(self, index: Array, factor: float) -> "EnclosingBall":
        return EnclosingBall(self.target[index])

    def rescaled(self, kernel_scale: float, target_scale: float) -> "EnclosingBall":
        if kernel_scale != target_scale:
            raise ValueError("the diagonal is part of the kernel: both must be scaled alike.")
        return EnclosingBall(self.target / target_scale)


@dataclass(frozen=True, eq=False)
class Ball:
    """A ball around all samples."""

    squared_radius: float  # R² of the smallest ball is at most this
    lower_bound: float  # and at least this
    center: Array  # b (n,): the centre is Σ_i b_i φ(x_i)


def smallest_ball(K: Array, *, tol: float = 1e-8, start: Array | None = None) -> Ball:
    """The smallest ball around the samples, to a relative difference `tol` of its bounds; K is not modified.

    Examples
    --------
    >>> x = np.array([-1.0, 0.0, 3.0])
    >>> ball = smallest_ball(np.outer(x, x))
    >>> round(ball.squared_radius, 6), ball.center.round(6).tolist()
    (4.0, [0.5, 0.0, 0.5])
    """
    means: Array = np.asarray(np.mean(K, axis=1, dtype=np.float64))
    centred = K - means[:, None]  # a ball does not mind where the origin is
    centred -= means[None] - means.mean()
    spread = float(np.diagonal(centred).mean())
    n = len(K)
    if not spread > _FLAT * float(np.abs(np.diagonal(K)).mean()):
        return Ball(0.0, 0.0, np.full(n, 1.0 / n))
    centred /= spread
    loss = EnclosingBall(0.5 * np.diagonal(centred))
    machine = Machine(loss, WholeKernel(np.ascontiguousarray(centred)))
    if start is not None:
        machine.set_start(start)
    machine.gradient = loss.target - centred @ machine.beta
    values = machine.solve(tol)
    return Ball(2.0 * spread * values.primal.plain, 2.0 * spread * values.dual, machine.beta)


class SquaredRadius(Gauge):
    """g(η) = R²(Σ_m η_m K_m), with the balls that gave its rows.

    The value is the upper bound of R² that the ball proves, to a relative precision `tol`, the row its lower
    bound; ``balls`` holds b (n,) of each row. Ks (m, n, n) is never modified and never copied.

    Examples
    --------
    >>> x, z = np.array([-1.0, 0.0, 3.0]), np.array([1.0, -1.0, 1.0])
    >>> gauge = SquaredRadius(np.stack([np.outer(x, x), np.outer(z, z)]))
    >>> round(gauge.at(np.array([0.5, 1.0])), 6), gauge.rows.round(3).tolist()
    (2.390625, [[3.062, 0.859]])
    """

    def __init__(self, Ks: Array, tol: float = 1e-8) -> None:
        super().__init__()
        self.Ks, self.tol = Ks, tol
        self.balls: list[Array] = []

    def at(self, eta: Array) -> float:
        """R² of the sum."""
        start = self.balls[-1] if self.balls else None
        ball = smallest_ball(weighted_sum(self.Ks, eta), tol=self.tol, start=start)
        self.balls.append(ball.center)
        self._rows.append(self.row(ball.center))
        return ball.squared_radius

    def row(self, b: Array) -> Array:
        """r(b), (m,): the spread of the samples with the shares b in each kernel."""
        used = np.flatnonzero(b)
        part = b[used]
        blocks = (np.asarray(K[np.ix_(used, used)], float) for K in self.Ks)
        return np.array([max(float(part @ np.diagonal(B) - part @ B @ part), 0.0) for B in blocks])

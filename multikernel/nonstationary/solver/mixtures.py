"""Two mixtures of kernel Gaussians, one for each class, and the price of what they say of the samples.

The positive mixture has M components, the negative one N; each lives in the feature space of one kernel:

    F_j(x) = a_j + Σ_t s_t(j) k_j(x_t, x) − k_j(x, x)/2,    f(x) = lse_m F_m(x) − lse_n F_n(x)

with coefficients s, offsets a (of the positive mixture) and b (of the negative one), lse the log-sum-exp. A
fit lowers

    Φ = ½ Σ_j ‖w_j‖² + Σ_t C_t [γ_t − own(F(x_t)) + opposite(F(x_t))]₊

where ``own`` is the lse over the components of the sample's class (their maximum in mode "hard") and
``opposite`` the maximum over those of the other class (their lse in mode "full").

Pairs are always (positive, negative): rows, kernels, posteriors, offsets. Side 0 is the positive class.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..._typing import Array

Pair = tuple[Array, Array]

MODES = ("qp", "full", "hard")
SIDES = (0, 1)


def log_sum_exp(scores: Array) -> Array:
    """ln Σ exp over the last axis; components at −∞ do not count."""
    top = scores.max(axis=-1)
    return np.asarray(top + np.log(np.exp(scores - top[..., None]).sum(axis=-1)))


def responsibilities(scores: Array) -> Array:
    """The softmax over the last axis: the share that each component has in a sample."""
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))


def entropy(shares: Array) -> Array:
    """−Σ q ln q over the last axis, 0 ln 0 = 0."""
    return -np.asarray((shares * np.log(np.where(shares > 0.0, shares, 1.0))).sum(axis=-1))


@dataclass(frozen=True)
class Mixtures:
    """What is the same during a whole fit."""

    Ks: Array  # (n_kernels, n, n)
    kernels: Pair  # (M,) and (N,) of int, the kernel of each component; a kernel may occur again
    rows: Pair  # the samples of each class
    bounds: Array  # (n,), C of each sample, positive and finite
    margins: Array  # (n,), γ of each sample
    mode: str = "qp"  # "qp", "full" or "hard"

    @cached_property
    def diagonals(self) -> Array:
        """k(x_t, x_t), (n_kernels, n)."""
        return np.ascontiguousarray(np.einsum("mtt->mt", self.Ks))

    @cached_property
    def scale(self) -> float:
        """What gaps are measured by where values are small: 1, or Φ of mixtures that say nothing, if less."""
        return min(1.0, self.indifferent)

    @property
    def indifferent(self) -> float:
        """Φ of mixtures that say the same of every sample: one component each, of the same kernel."""
        return float(self.bounds @ self.margins)

    @property
    def sizes(self) -> tuple[int, int]:
        """How many components the two mixtures have."""
        return self.kernels[0].size, self.kernels[1].size

    @property
    def n_samples(self) -> int:
        return int(self.Ks.shape[1])

    def own(self, scores: Array) -> Array:
        """What the mixture of its own class says of a sample, from its scores (…, R)."""
        return np.asarray(scores.max(axis=-1)) if self.mode == "hard" else log_sum_exp(scores)

    def opposite(self, scores: Array) -> Array:
        """What the mixture of the other class says."""
        return log_sum_exp(scores) if self.mode == "full" else np.asarray(scores.max(axis=-1))

    def posteriors(self, point: "Point") -> Pair:
        """The components that explain each sample of their class: softmax, or arg-max in mode "hard"."""
        return self._posterior(point.scores[0][self.rows[0]]), self._posterior(point.scores[1][self.rows[1]])

    def _posterior(self, scores: Array) -> Array:
        if self.mode == "hard":
            return np.eye(scores.shape[1])[scores.argmax(axis=1)]
        return responsibilities(scores)

    def point(self, coefficients: Pair, offsets: Pair) -> "Point":
        """The mixtures with these coefficients (M, n), (N, n) and offsets, evaluated on the samples."""
        expansions, norm = [], 0.0
        for side in SIDES:
            support = np.flatnonzero(coefficients[side].any(axis=0))
            products = np.stack(
                [
                    self._product(k, s, support)
                    for k, s in zip(self.kernels[side], coefficients[side], strict=True)
                ]
            )
            norm += float((coefficients[side] * products).sum())
            expansions.append((products - 0.5 * self.diagonals[self.kernels[side]]).T)
        return Point(coefficients, offsets, (expansions[0], expansions[1]), norm)

    def _product(self, kernel: int, coefficients: Array, support: Array) -> Array:
        if 2 * support.size > coefficients.size:
            return np.asarray(self.Ks[kernel] @ coefficients)
        return np.asarray(coefficients[support] @ self.Ks[kernel][support])

    def objective(self, point: "Point") -> float:
        """Φ at a point."""
        slack = 0.0
        for side, rows in enumerate(self.rows):
            own, opposite = point.scores[side][rows], point.scores[1 - side][rows]
            short = self.margins[rows] - self.own(own) + self.opposite(opposite)
            slack += float(self.bounds[rows] @ np.maximum(short, 0.0))
        return 0.5 * point.norm + slack


class Point(NamedTuple):
    """Mixtures evaluated on the training samples."""

    coefficients: Pair  # (M, n) and (N, n), s_t(j)
    offsets: Pair  # (M,) and (N,)
    expansions: Pair  # (n, M) and (n, N), the scores without offsets
    norm: float  # Σ_j ‖w_j‖²

    @property
    def scores(self) -> Pair:
        """F, (n, M) and (n, N)."""
        return self.expansions[0] + self.offsets[0], self.expansions[1] + self.offsets[1]

"""Boosting of kernels on pairs of samples, alike within a class, unlike between: one kernel in each round.

    min_{η ≥ 0}  F(Σ_r η_r B_r) + reg Σ_r η_r,     F(K) = Σ_{i≠j} p_ij ℓ(s_ij K_ij)
    ℓ(z) = exp(−z)  or  log(1 + exp(−z))

where s_ij is 1 if samples i and j are of one class, else −1. The pairs count the same, or pairs of one class
and pairs of two count half each; in any case Σ p_ij = 1. A sample with itself is no pair.

The base kernels B_r are the given ones at trace n ("given": the weight of a kernel that got too much may fall
again, so that this is a descent by coordinates), or rank-one kernels gg', g = Kv, each made for the pairs
that are wrong so far ("rank_one"): g is the function of unit norm in the space of K (v'Kv = 1, K at trace n)
with the steepest descent g'Wg, W = −∂F/∂K. That is WKv = λv with the largest λ, which is the descent.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eig
from scipy.sparse.linalg import ArpackError, LinearOperator, eigs

from ..._typing import Array
from ...core.optim.loop import Options, Recorder, Result

PAIR_LOSSES = ("exp", "log")
_FURTHEST = 10.0  # a step changes no entry of the kernel by more: not every problem has a finite optimum
_NEWTON_STEPS = 50
_STEP_PRECISION = 1e-10
_EIGEN_PRECISION = 1e-9
_SMALL = 64  # samples below which eigenvectors are found by dense algebra


class PairLoss:
    """F and its derivatives along kernels, from the class of each sample and "exp" or "log".

    ``balance``: whether pairs of one class count as much, together, as pairs of two.

    Examples
    --------
    >>> loss = PairLoss(np.array([0, 0, 1]), "log")
    >>> round(loss.value(np.zeros((3, 3))), 6)
    0.693147
    >>> loss.gradient(np.zeros((3, 3))).round(6).tolist()[0]
    [0.0, -0.125, 0.0625]
    """

    def __init__(self, codes: Array, loss: str, *, balance: bool = True) -> None:
        same = codes[:, None] == codes[None]
        self.signs = np.where(same, 1.0, -1.0)
        self.loss = loss
        np.fill_diagonal(same, False)
        n_same = int(np.count_nonzero(same))
        n_other = codes.size * (codes.size - 1) - n_same
        if balance and n_same and n_other:
            self.shares = np.where(same, 0.5 / n_same, 0.5 / n_other)
        else:
            self.shares = np.full(same.shape, 1.0 / max(n_same + n_other, 1))
        np.fill_diagonal(self.shares, 0.0)

    def value(self, K: Array) -> float:
        """F(K)."""
        z = self.signs * K
        with np.errstate(over="ignore"):
            losses = np.exp(-z) if self.loss == "exp" else np.logaddexp(0.0, -z)
        np.fill_diagonal(losses, 0.0)  # which may be infinite
        return float(np.vdot(self.shares, losses))

    def weights(self, K: Array) -> Array:
        """−ℓ'(s_ij K_ij), how much each pair counts (n, n)."""
        z = self.signs * K
        np.fill_diagonal(z, 0.0)
        with np.errstate(over="ignore"):
            return np.exp(-z) if self.loss == "exp" else 1.0 / (1.0 + np.exp(z))

    def gradient(self, K: Array) -> Array:
        """∂F/∂K (n, n)."""
        return -self.signs * self.shares * self.weights(K)

    def slopes_along(self, K: Array, direction: Array) -> tuple[float, float]:
        """First and second derivative of F(K + t direction) at t = 0."""
        weights = self.weights(K)
        bends = weights if self.loss == "exp" else weights * (1.0 - weights)
        first = -float(np.vdot(self.signs * self.shares * weights, direction))
        return first, float(np.vdot(self.shares * bends, direction**2))


@dataclass(frozen=True, eq=False)
class PairBoosting(Result):
    """What boosting found; ``gap`` is the steepest descent that is left, relative to the first."""

    kernels: Array  # (n_parts,), the kernel of each part
    weights: Array  # (n_parts,), η ≥ 0 of the base kernels
    scales: Array  # (n_kernels,), n / tr K_m
    vectors: Array  # (n_parts, n), v of rank-one kernels; else empty
    functions: Array  # (n_parts, n), g = K v, K as given; else empty


def boost_pairs(
    Ks: Array, loss: PairLoss, *, rank_one: bool = False, reg: float = 0.0, options: Options
) -> PairBoosting:
    """Learn a kernel from pairs: one base kernel in each of ``options.max_iter`` rounds. Ks is not modified.

    Examples
    --------
    >>> y = np.array([0, 0, 1])
    >>> ideal = np.where(y[:, None] == y, 1.0, -1.0)
    >>> Ks = np.array([np.eye(3), ideal])
    >>> found = boost_pairs(Ks, PairLoss(y, "exp"), reg=0.1, options=Options(tol=1e-9))
    >>> found.weights.round(3).tolist(), str(found.status)  # exp(−η) = 0.1
    ([0.0, 2.303], 'optimal')
    """
    parts = _RankOne(Ks) if rank_one else _Given(Ks)
    K = np.zeros(Ks.shape[1:])
    value, first, record = loss.value(K), 0.0, Recorder.of(options)
    for iteration in range(options.max_iter + 1):
        descent = parts.propose(-loss.gradient(K), reg)
        first = first or descent
        gap = descent / first if first > 0.0 else 0.0
        entry = {"iteration": iteration, "objective": value, "gap": gap, "n_active": parts.n_active}
        if record.note(entry):
            break
        B = parts.base()
        step = best_step(loss, reg, K, B, parts.lowest)
        K += step * B
        parts.take(step)
        value = loss.value(K) + reg * float(np.sum(parts.weights))
    return PairBoosting(*parts.found(), objective=value, gap=gap, **record.outcome)


def best_step(loss: PairLoss, reg: float, K: Array, B: Array, lowest: float) -> float:
    """The t ≥ lowest with the least F(K + tB) + reg t, by Newton's method between two ends.

    It goes no further than to change an entry of K by 10.
    """
    furthest = _FURTHEST / float(np.abs(B).max())
    first, second = loss.slopes_along(K, B)
    up = first + reg < 0.0
    low, high = (0.0, furthest) if up else (max(lowest, -furthest), 0.0)
    end = high if up else low
    if (loss.slopes_along(K + end * B, B)[0] + reg < 0.0) == up:
        return end  # it falls all the way
    t = 0.0
    for _ in range(_NEWTON_STEPS):
        slope = first + reg
        low, high = (t, high) if slope < 0.0 else (low, t)
        newton = t - slope / second if second > 0.0 else np.inf
        new = newton if low < newton < high else 0.5 * (low + high)
        if abs(new - t) <= _STEP_PRECISION * furthest:
            break
        t = new
        first, second = loss.slopes_along(K + t * B, B)
    return t


Found = tuple[Array, Array, Array, Array, Array]  # kernels, weights, scales, vectors, functions


class _Given:
    """The kernels themselves; their weights may rise and fall."""

    weights: Any

    def __init__(self, Ks: Array) -> None:
        self.Ks, self.scales = Ks, trace_scales(Ks)
        self.weights = np.zeros(len(Ks))
        self.chosen, self.lowest = 0, 0.0

    @property
    def n_active(self) -> float:
        """How many have a weight."""
        return float(np.count_nonzero(self.weights))

    def propose(self, W: Array, reg: float) -> float:
        """Choose the next; how steep the descent along it is, W = −∂F/∂K."""
        slopes = reg - self.scales * np.array([float(np.vdot(W, K)) for K in self.Ks])
        descents = np.where(self.weights > 0.0, np.abs(slopes), np.maximum(-slopes, 0.0))
        self.chosen = int(descents.argmax())
        self.lowest = -float(self.weights[self.chosen])
        return float(descents[self.chosen])

    def base(self) -> Array:
        """The base kernel chosen (n, n)."""
        return np.multiply(self.Ks[self.chosen], self.scales[self.chosen], dtype=np.float64)

    def take(self, step: float) -> None:
        """Change the weight of the kernel chosen."""
        self.weights[self.chosen] = max(self.weights[self.chosen] + step, 0.0)

    def found(self) -> Found:
        """All parts."""
        none = np.empty((0, self.Ks.shape[1]))
        return np.arange(len(self.Ks)), self.weights, self.scales, none, none


class _RankOne(_Given):
    """Kernels gg' with g = Kv of unit norm, one more in each round."""

    def __init__(self, Ks: Array) -> None:
        super().__init__(Ks)
        self.weights = []
        self.kernels: list[int] = []
        self.vectors: list[Array] = []
        self.functions: list[Array] = []
        self.next: tuple[int, Array, Array] = (0, np.empty(0), np.empty(0))

    @property
    def n_active(self) -> float:
        return float(len(self.weights))

    def propose(self, W: Array, reg: float) -> float:
        steepest = 0.0
        for m, K in enumerate(self.Ks):
            v = leading_vector(K, W, float(self.scales[m]))
            g = K @ v
            # in the space of the scaled K
            norm = np.sqrt(max(float(v @ g), 0.0) / max(self.scales[m], 1e-300))
            if not norm > 0.0:
                continue
            g, v = g / norm, v / norm
            descent = float(g @ W @ g) - reg
            if descent > steepest:
                steepest, self.next = descent, (m, v, g)
        return steepest

    def base(self) -> Array:
        return np.outer(self.next[2], self.next[2])

    def take(self, step: float) -> None:
        self.kernels.append(self.next[0])
        self.weights.append(step)
        self.vectors.append(self.next[1])
        self.functions.append(self.next[2])

    def found(self) -> Found:
        n = self.Ks.shape[1]
        vectors, functions = np.reshape(self.vectors, (-1, n)), np.reshape(self.functions, (-1, n))
        return np.array(self.kernels, int), np.array(self.weights), self.scales, vectors, functions


def trace_scales(Ks: Array) -> Array:
    """n / tr K_m, zero for kernels without a trace."""
    traces = np.array([float(np.trace(K, dtype=np.float64)) for K in Ks])
    return np.where(traces > 0.0, Ks.shape[1] / np.where(traces > 0.0, traces, 1.0), 0.0)


def least_wrong(Ks: Array, loss: PairLoss) -> Array:
    """Weights (n_kernels,) that are zero but for the kernel of the least slope at zero, at trace n."""
    scales = trace_scales(Ks)
    gradient = loss.gradient(np.zeros(Ks.shape[1:]))
    slopes = scales * np.array([float(np.vdot(gradient, K)) for K in Ks])
    return np.where(np.arange(len(Ks)) == slopes.argmin(), scales, 0.0)


def leading_vector(K: Array, W: Array, scale: float = 1.0) -> Array:
    """The v with WKv = λv for the largest λ; K positive semidefinite, W symmetric, so that all λ are real."""
    n = len(W)
    if n > _SMALL:
        product = LinearOperator((n, n), matvec=lambda v: W @ (scale * (K @ v)), dtype=float)
        start = W[int(np.abs(W).sum(axis=1).argmax())]
        try:
            return np.real(eigs(product, k=1, which="LR", v0=start, tol=_EIGEN_PRECISION)[1][:, 0])
        except ArpackError:
            pass  # ARPACK found nothing: the whole matrix will
    values, vectors = eig(W @ np.multiply(K, scale, dtype=np.float64))
    return np.real(vectors[:, int(np.argmax(values.real))])

"""Losses of a kernel on pairs of samples: alike within a class, unlike between classes.

    F(K) = Σ_{i≠j} p_ij ℓ(s_ij K_ij),    ℓ(z) = exp(−z)  or  log(1 + exp(−z))

where s_ij is 1 if samples i and j are of one class, else −1. The pairs count the same, or pairs of one class
and pairs of two count half each; in any case Σ p_ij = 1. A sample with itself is no pair.
"""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

PAIR_LOSSES = ("exp", "log")


class PairLoss:
    """F and its derivatives along kernels.

    Parameters
    ----------
    codes : array (n,), the class of each sample
    loss : {"exp", "log"}
    balance : bool, whether pairs of one class count as much, together, as pairs of two

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

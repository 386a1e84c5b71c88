"""Machines on the columns chosen so far, with an l1 or l2 penalty: what column generation solves each round.

    l1   min ‖a‖₁ + risk(Ha),     dual  max y'β − ε‖β‖₁,             |h'β| ≤ 1 for every column h
    l2   min ½‖a‖² + risk(Ha),    dual  max y'β − ε‖β‖₁ − ½‖H'β‖²

with lower ≤ β ≤ upper and 1'β = 0 in both. Any β within these bounds, made smaller until it keeps to the
constraints of all columns (l1) or to the best multiple (l2), gives a lower bound of the whole problem.
"""

from typing import Any, Protocol

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import eye_array, hstack

from ..criteria.margin import EpsilonInsensitive, Hinge
from .column_path import ColumnPath, Quadratic
from .columns import ChosenColumns

Array = np.ndarray[Any, np.dtype[Any]]
PricedLoss = Hinge | EpsilonInsensitive

_OPTIONS = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}


class Master(Protocol):
    """What column generation asks of a penalty."""

    power: int
    """How the penalty grows with a: what to divide the prices by, if columns or targets are rescaled."""

    sparse: bool
    """Whether columns may end without a coefficient."""

    threshold: float
    """A column outside is of use where its price is above."""

    def solve(self, H: Array, tol: float) -> tuple[Array, Array]:
        """(a, β) of the machine on the columns H, to a relative gap; β is feasible."""

    def penalty(self, a: Array) -> float:
        """Of the coefficients."""

    def lower_bound(self, beta: Array, prices: Array) -> float:
        """Of the problem over all columns, from their prices at β."""


class LinearMaster:
    """The l1 penalty, by HiGHS."""

    power, sparse, threshold = 1, True, 1.0 + 1e-9

    def __init__(self, loss: PricedLoss) -> None:
        self.loss = loss
        self.scale = min(1.0, float(np.max(loss.upper - loss.lower)))

    def solve(self, H: Array, tol: float = 0.0) -> tuple[Array, Array]:
        """y = H(p − q) + b + free + above − below, with a price for p, q, above, below; β are multipliers.

        `free` is what costs nothing: within ±ε of a value, on the right side of a class.
        """
        n, k = H.shape
        above, below = self.loss.upper > 0.0, self.loss.lower < 0.0  # which sides have a price
        errors = eye_array(n, format="csc")
        prices = np.concatenate([self.loss.upper[above], -self.loss.lower[below]])
        epsilon = self.loss.epsilon
        free = np.column_stack([np.where(below, -epsilon, -np.inf), np.where(above, epsilon, np.inf)])
        positive = np.tile([0.0, np.inf], (2 * k + prices.size + 1, 1))
        positive[2 * k] = -np.inf, np.inf
        found = linprog(
            np.concatenate([np.ones(2 * k), [0.0], prices, np.zeros(n)]) / self.scale,
            A_eq=hstack([H, -H, np.ones((n, 1)), errors[:, above], -errors[:, below], errors], format="csc"),
            b_eq=self.loss.target,
            bounds=np.vstack([positive, free]),
            method="highs-ds",
            options=_OPTIONS,
        )
        if found.x is None:
            return np.zeros(k), np.zeros(n)
        beta = self.scale * found.eqlin.marginals
        return found.x[:k] - found.x[k : 2 * k], balanced(beta, self.loss)

    @staticmethod
    def penalty(a: Array) -> float:
        """‖a‖₁."""
        return float(np.abs(a).sum())

    def lower_bound(self, beta: Array, prices: Array) -> float:
        """The reward of β / max(1, largest |price|)."""
        return reward(beta, self.loss) / max(1.0, float(np.abs(prices).max()))


class QuadraticMaster:
    """The l2 penalty: a support vector machine with the kernel HH', by an interior point method."""

    power, sparse, threshold = 2, False, 0.0

    def __init__(self, loss: PricedLoss) -> None:
        self.loss = loss

    def solve(self, H: Array, tol: float) -> tuple[Array, Array]:
        """Without a column both penalties are one."""
        if H.shape[1] == 0:
            return LinearMaster(self.loss).solve(H)
        best = None
        for point in ColumnPath(self.loss, Quadratic(ChosenColumns(H))).steps():
            best = point if best is None or point.gap < best.gap else best
            if point.gap <= tol:
                break
        if best is None:
            return np.zeros(H.shape[1]), np.zeros(self.loss.target.size)
        return best.a, balanced(best.beta, self.loss)

    @staticmethod
    def penalty(a: Array) -> float:
        """½‖a‖²."""
        return 0.5 * float(a @ a)

    def lower_bound(self, beta: Array, prices: Array) -> float:
        """t reward − ½ t² ‖prices‖² at the best multiple t ≤ 1 of β."""
        gain, square = max(reward(beta, self.loss), 0.0), float(prices @ prices)
        t = min(1.0, gain / square) if square > 0.0 else 1.0
        return t * gain - 0.5 * t * t * square


def reward(beta: Array, loss: PricedLoss) -> float:
    """y'β − ε‖β‖₁."""
    return float(loss.target @ beta - loss.epsilon * np.abs(beta).sum())


def balanced(beta: Array, loss: PricedLoss) -> Array:
    """β within its bounds and of sum zero: what rounding left over is taken from the larger side."""
    beta = np.clip(beta, loss.lower, loss.upper)
    positive, negative = float(beta[beta > 0.0].sum()), float(-beta[beta < 0.0].sum())
    smaller = min(positive, negative)
    up = smaller / positive if positive > 0.0 else 0.0
    down = smaller / negative if negative > 0.0 else 0.0
    return np.where(beta > 0.0, up * beta, down * beta)

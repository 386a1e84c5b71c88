"""Sets of kernel weights that are known by halfspaces: g(η) ≤ 1 for a convex g of degree one, η ≥ 0.

    g(η) = max_r r'η over rows r ≥ 0,      hence   g(tη) = t g(η)   and   {g ≤ 1} = {r'η ≤ 1 for every row r}

A gauge is asked for its value at a point and keeps the row that attains it there, so that the set is known
better and better where it matters (:mod:`multikernel.solvers.level`). For a function of the weights that
falls in each of them, such as the optimal value of a machine, the best point is on the boundary g = 1.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


class Gauge(ABC):
    """A gauge, and the rows of it that are known."""

    def __init__(self) -> None:
        self._rows: list[Array] = []

    @property
    def rows(self) -> Array:
        """The rows known so far, (n_rows, n_weights): r'η ≤ g(η) for each."""
        return np.array(self._rows)

    @abstractmethod
    def at(self, eta: Array) -> float:
        """g(η), for η ≥ 0; the row that attains it is known from then on."""


class CappedSum(Gauge):
    """0 ≤ η ≤ 1 with Σ η ≤ total: g(η) = max(Σ η / total, max η).

    Examples
    --------
    >>> gauge = CappedSum(3, 2.0)
    >>> gauge.at(np.array([1.0, 0.5, 0.0])), gauge.at(np.array([1.0, 1.0, 1.0]))
    (1.0, 1.5)
    >>> gauge.support(np.array([3.0, 5.0, 1.0]))
    8.0
    """

    def __init__(self, n_weights: int, total: float = 1.0) -> None:
        super().__init__()
        self.total = total
        self._rows = [np.full(n_weights, 1.0 / total)]
        if total > 1.0:  # else no weight comes to the cap before the sum does
            self._rows += list(np.eye(n_weights))

    def at(self, eta: Array) -> float:
        """The larger of the two."""
        return float((self.rows @ eta).max())

    def support(self, q: Array) -> float:
        """The largest q'η over the set."""
        ordered = np.sort(np.maximum(q, 0.0))[::-1]
        return float(ordered @ np.clip(self.total - np.arange(q.size), 0.0, 1.0))


class MixedNorm(Gauge):
    """g(η) = (Σ_l (D_l ‖η_l‖_a)^b)^(1/b): the b-norm over groups l of the a-norms within.

    Parameters
    ----------
    groups : int array (n_weights,), the group of each weight, 0 … n_groups − 1
    inner, outer : float ≥ 1
        a and b; b may be infinite.
    costs : array (n_groups,), the positive D_l

    Examples
    --------
    >>> gauge = MixedNorm(np.array([0, 0, 1]), 2.0, 1.0, np.ones(2))
    >>> gauge.at(np.array([3.0, 4.0, 2.0])), gauge.rows.round(6).tolist()
    (7.0, [[0.6, 0.8, 1.0]])
    >>> gauge.support(np.array([3.0, 4.0, 2.0]))
    5.0
    """

    def __init__(self, groups: Array, inner: float, outer: float, costs: Array) -> None:
        super().__init__()
        self.inner, self.outer, self.costs = inner, outer, costs
        self._members = [np.flatnonzero(groups == l) for l in range(len(costs))]
        self._size = groups.size

    def at(self, eta: Array) -> float:
        """The norm; its gradient is the row (one for each group where b is infinite)."""
        slopes = np.zeros(self._size)
        sizes = np.empty(len(self.costs))
        for l, members in enumerate(self._members):
            size, slopes[members] = norm_and_slope(eta[members], self.inner)
            sizes[l] = self.costs[l] * size
        if np.isinf(self.outer):
            for l, members in enumerate(self._members):
                row = np.zeros(self._size)
                row[members] = self.costs[l] * slopes[members]
                self._rows.append(row)
            return float(sizes.max())
        value, shares = norm_and_slope(sizes, self.outer)
        row = np.zeros(self._size)
        for l, members in enumerate(self._members):
            row[members] = shares[l] * self.costs[l] * slopes[members]
        self._rows.append(row)
        return value

    def support(self, q: Array) -> float:
        """The largest q'η over the set: the dual norm (Hölder)."""
        q = np.maximum(q, 0.0)
        inner = [dual_norm(q[members], self.inner) for members in self._members]
        return dual_norm(np.array(inner) / self.costs, self.outer)


def norm_and_slope(x: Array, p: float) -> tuple[float, Array]:
    """‖x‖_p of x ≥ 0 for finite p, and its gradient; at 0, that of equal entries."""
    top = float(x.max())
    if top == 0.0:
        return 0.0, np.full(x.size, x.size ** (1.0 / p - 1.0))
    size = top * float(((x / top) ** p).sum()) ** (1.0 / p)
    return size, (x / size) ** (p - 1.0)


def dual_norm(q: Array, p: float) -> float:
    """The largest q'x over ‖x‖_p ≤ 1, for q ≥ 0."""
    if p == 1.0:
        return float(q.max())
    if np.isinf(p):
        return float(q.sum())
    return norm_and_slope(q, p / (p - 1.0))[0]


def group_codes(groups: Sequence[Sequence[Any]] | None, names: Sequence[str]) -> Array:
    """The group of each kernel, from lists of their numbers or names; None: each is its own.

    Examples
    --------
    >>> group_codes([["a", "c"], [1]], ["a", "b", "c"]).tolist()
    [0, 1, 0]
    """
    if groups is None:
        return np.arange(len(names))
    listed = isinstance(groups, Iterable) and not isinstance(groups, str)
    if not (listed and all(isinstance(group, Iterable) and not isinstance(group, str) for group in groups)):
        raise TypeError(f"groups must be lists of names or numbers of kernels; got {groups!r}.")
    codes = np.full(len(names), -1)
    for l, group in enumerate(groups):
        for kernel in group:
            m = _number(kernel, names)
            if codes[m] >= 0:
                raise ValueError(f"groups must hold each kernel once; {kernel!r} is there twice.")
            codes[m] = l
    if (codes < 0).any():
        left = [name for name, code in zip(names, codes, strict=True) if code < 0]
        raise ValueError(f"groups must hold each of the {len(names)} kernels; left out: {left}.")
    if len(np.unique(codes)) < len(groups):
        raise ValueError("groups must not be empty: leave empty ones out.")
    return codes


def _number(kernel: Any, names: Sequence[str]) -> int:
    if isinstance(kernel, str):
        if kernel in names:
            return list(names).index(kernel)
    elif isinstance(kernel, int | np.integer) and 0 <= kernel < len(names):
        return int(kernel)
    raise ValueError(f"groups must hold names or numbers of kernels, {list(names)}; got {kernel!r}.")

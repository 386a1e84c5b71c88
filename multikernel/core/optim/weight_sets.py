"""Sets of kernel weights: one protocol, in which every set says what it can compute.

    project(x)         the nearest point of the set
    support(q)         the largest q'x over the set
    best_response(q)   a point that attains it; g'x is least at best_response(−g)
    at(x)              the gauge: the smallest t ≥ 0 for which x is in t times the set

A set defines the methods that it has a formula for. A solver names those that it needs with ``require``
before it starts.

- For a convex function with gradient g at x, g'x + support(−g) bounds how far its value is above the smallest
  one (Frank & Wolfe's gap); for any other function it measures how far x is from stationary.
- :class:`Spectrahedron`, the weights of any sign whose combined kernel is positive semidefinite, has no
  formula for any of these. It is given by its matrices, to interior point methods only.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ..._typing import Array

_RANGE_TOLERANCE = 1e-12  # rounding leaves less; what is larger can cost the criterion per cents


class WeightSet:
    """A closed convex set of kernel weights; see the module.

    Examples
    --------
    >>> Simplex().can, LpBall(2.0).can
    (('project', 'support'), ('support', 'best_response'))
    """

    @property
    def can(self) -> tuple[str, ...]:
        """The methods that this set defines."""
        methods = ("project", "support", "best_response", "at")
        return tuple(name for name in methods if getattr(type(self), name) is not getattr(WeightSet, name))

    def require(self, solver: str, *methods: str) -> None:
        """Refuse to start a solver (its name, in the plural) that needs more methods than the set has.

        Examples
        --------
        >>> LpBall(2.0).require("Projected gradients", "project")
        Traceback (most recent call last):
        ...
        TypeError: Projected gradients need a set of weights with project; LpBall has support, best_response.
        """
        if not set(methods) <= set(self.can):
            name, has = type(self).__name__, ", ".join(self.can) or "none"
            raise TypeError(f"{solver} need a set of weights with {', '.join(methods)}; {name} has {has}.")

    def project(self, x: Array) -> Array:
        """The nearest point of the set."""
        raise NotImplementedError

    def support(self, q: Array) -> float:
        """The largest q'x over the set; infinite where there is none."""
        raise NotImplementedError

    def best_response(self, q: Array) -> Array:
        """A point that attains :meth:`support`."""
        raise NotImplementedError

    def at(self, eta: Array) -> float:
        """The gauge of the set."""
        raise NotImplementedError


@dataclass(frozen=True)
class LpBall(WeightSet):
    """Nonnegative weights in the unit ball of the lp norm.

        M_p = {μ ≥ 0 : Σ_m μ_m^p ≤ 1},   support(q) = ‖q₊‖_{p*},  1/p + 1/p* = 1

    It is the image of the simplex under μ = θ^(1/p), and a convex function that falls in μ stays convex in θ,
    so one solver over the simplex serves all p. Costs d_m (Bach's) are not part of the set: they scale the
    kernels by 1/d_m² before the set is met.

    Examples
    --------
    >>> LpBall(1.0).support(np.array([1.0, 3.0]))
    3.0
    >>> float(LpBall(2.0).support(np.array([3.0, 4.0])))
    5.0
    """

    p: float = 1.0  # from 1, the simplex (sparse weights), to infinity, the plain sum (every weight is 1)

    def __post_init__(self) -> None:
        if not self.p >= 1.0:
            raise ValueError(f"norm must be at least 1 (1 is the simplex); got {self.p!r}.")

    def support(self, q: Array) -> float:
        """The largest μ'q over the set."""
        q = np.maximum(q, 0.0)
        top = float(q.max())
        if self.p == 1.0 or top == 0.0:
            return top
        if np.isinf(self.p):
            return float(q.sum())
        conjugate = self.p / (self.p - 1.0)
        return top * float(((q / top) ** conjugate).sum()) ** (1.0 / conjugate)

    def best_response(self, q: Array) -> Array:
        """The μ that attains :meth:`support` (a vertex of the simplex for p = 1)."""
        if self.p == 1.0:
            mu = np.zeros(q.size)
            mu[int(np.argmax(q))] = 1.0
            return mu
        if np.isinf(self.p):
            return np.ones(q.size)
        q = np.maximum(q, 0.0)
        top = float(q.max())
        if top == 0.0:
            return self.center(q.size)
        mu = (q / top) ** (1.0 / (self.p - 1.0))
        return mu / float((mu**self.p).sum()) ** (1.0 / self.p)

    def center(self, n_kernels: int) -> Array:
        """Equal weights on the boundary of the set."""
        return self.from_simplex(np.full(n_kernels, 1.0 / n_kernels))

    def from_simplex(self, theta: Array) -> Array:
        """μ = θ^(1/p)."""
        if self.p == 1.0:
            return theta.copy()
        return np.ones(theta.size) if np.isinf(self.p) else theta ** (1.0 / self.p)

    def to_simplex(self, mu: Array) -> Array:
        """θ = μ^p, on the boundary of the set."""
        theta = mu**self.p
        return theta / theta.sum()


@dataclass(frozen=True)
class Simplex(WeightSet):
    """x ≥ 0 of a given sum; a matrix has one simplex in each row.

    Examples
    --------
    >>> Simplex().project(np.array([0.4, 1.0, -3.0])).round(6).tolist()
    [0.2, 0.8, 0.0]
    >>> Simplex(2.0).support(np.array([-3.0, 1.0]))
    2.0
    """

    total: float = 1.0

    def project(self, x: Array) -> Array:
        """By sorting: x − level, cut at zero."""
        rows = np.atleast_2d(x)
        ordered = -np.sort(-rows, axis=1)
        counts = np.arange(1, rows.shape[1] + 1)
        levels = (np.cumsum(ordered, axis=1) - self.total) / counts
        kept = np.sum(ordered > levels, axis=1) - 1
        level = np.take_along_axis(levels, kept[:, None], axis=1)
        return np.maximum(rows - level, 0.0).reshape(np.shape(x))

    def support(self, q: Array) -> float:
        """The sum at the largest entry of every row."""
        return self.total * float(np.sum(np.atleast_2d(q).max(axis=1)))


@dataclass(frozen=True)
class Orthant(WeightSet):
    """x ≥ 0.

    Examples
    --------
    >>> Orthant().project(np.array([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    def project(self, x: Array) -> Array:
        """Cut at zero."""
        return np.maximum(x, 0.0)

    def support(self, q: Array) -> float:
        """0, or infinity where an entry is positive."""
        return 0.0 if q.max() <= 0.0 else np.inf


@dataclass(frozen=True, eq=False)
class PositiveBall(WeightSet):
    """x ≥ 0 with ‖x − center‖ ≤ radius, for a center ≥ 0.

    Examples
    --------
    >>> ball = PositiveBall(np.array([1.0, 0.0]), 2.0)
    >>> ball.project(np.array([5.0, -3.0])).tolist()
    [3.0, 0.0]
    >>> ball.support(np.array([1.0, -4.0]))
    3.0
    """

    center: Array
    radius: float

    def project(self, x: Array) -> Array:
        """Cut at zero at the multiplier of the ball that brings the distance to the radius."""
        nearest = np.maximum(x, 0.0)
        if np.linalg.norm(nearest - self.center) <= self.radius:
            return nearest
        low, high = 0.0, 1.0  # of share = 1 / (1 + multiplier): 0 is the center itself
        for _ in range(100):
            middle = 0.5 * (low + high)
            point = np.maximum(self.center + middle * (x - self.center), 0.0)
            low, high = (
                (middle, high) if np.linalg.norm(point - self.center) <= self.radius else (low, middle)
            )
        return np.maximum(self.center + low * (x - self.center), 0.0)

    def support(self, q: Array) -> float:
        """Along q from the center, cut at zero."""
        low, high = 0.0, 1.0
        while high < 1e30 and self._length(high, q) < self.radius and self._moves(high, q):
            high *= 2.0
        for _ in range(200):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._length(middle, q) <= self.radius else (low, middle)
        return float(q @ np.maximum(self.center + low * q, 0.0))

    def _length(self, step: float, q: Array) -> float:
        return float(np.linalg.norm(np.maximum(self.center + step * q, 0.0) - self.center))

    def _moves(self, step: float, q: Array) -> bool:
        """Whether a longer step goes further: some entry is not cut yet."""
        return bool(((self.center + step * q > 0.0) & (q != 0.0)).any())


class Gauge(WeightSet, ABC):
    """A set that is known by halfspaces: g(η) ≤ 1 for a convex g of degree one, η ≥ 0.

        g(η) = max_r r'η over rows r ≥ 0,   hence   g(tη) = t g(η)   and   {g ≤ 1} = {r'η ≤ 1 for every row r}

    It is asked for g at a point and keeps the row that attains it there, so that the set is known better and
    better where it matters (the level method). For a function of the weights that falls in each of them, such
    as the optimal value of a machine, the best point is on the boundary g = 1.
    """

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

    ``groups`` (n_weights,) is the group of each weight, ``inner`` and ``outer`` are a and b (which may be
    infinite), ``costs`` the positive D_l.

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


# ---------------------------------------------------------------------- positive semidefinite combinations
class Spectrahedron:
    """The weights, of any sign, whose combination of kernels is positive semidefinite: {w : Σ_i w_i K_i ⪰ 0}.

    Kernels of low rank, or with repeated points, have a common null space on which every combination
    vanishes. There is no interior then; so the set is described on the common range, of orthonormal basis
    ``basis`` (n, p) (None: the whole space), where equal weights lie inside it. Or the weights ``inside``,
    for members that are not positive semidefinite. ``Ks`` (m, p, p) are the scaled members on that range.
    """

    def __init__(self, Ks: Array, scales: Array, inside: Array | None = None) -> None:
        total = np.tensordot(scales if inside is None else scales * inside, np.asarray(Ks, float), 1)
        eigenvalues, vectors = scipy.linalg.eigh(total, overwrite_a=True, check_finite=False)
        kept = eigenvalues > _RANGE_TOLERANCE * eigenvalues[-1]
        self.basis = None if kept.all() else np.ascontiguousarray(vectors[:, kept])
        if self.basis is None and Ks.dtype == float and np.all(scales == 1.0):
            self.Ks, self.size = Ks, Ks.shape[1]  # nothing to change, nothing to copy
            return
        self.Ks = np.empty((len(Ks), int(kept.sum()), int(kept.sum())))
        for i, K in enumerate(Ks):
            self.Ks[i] = K if self.basis is None else self.basis.T @ K @ self.basis
            self.Ks[i] *= scales[i]
            if self.basis is not None:
                self.Ks[i] = 0.5 * (self.Ks[i] + self.Ks[i].T)
        self.size = self.Ks.shape[1]

    @property
    def n_members(self) -> int:
        return self.Ks.shape[0]

    def combine(self, w: Array) -> Array:
        """Σ_i w_i K_i, (p, p)."""
        return (w @ self.Ks.reshape(w.size, -1)).reshape(self.size, self.size)

    def traces(self, Z: Array) -> Array:
        """tr(Z K_i) for every member, (m,)."""
        return self.Ks.reshape(self.n_members, -1) @ Z.ravel()

    def inner_products(self) -> Array:
        """⟨K_i, K_j⟩, (m, m)."""
        flat = self.Ks.reshape(self.n_members, -1)
        return flat @ flat.T

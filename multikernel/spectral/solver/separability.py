"""Class separability of a kernel along its eigenvectors, and the weights that are best for it.

    K_μ = Σ_r μ_r² v_r v_r'      tr S_b − α tr S_w = Σ_r μ_r² d_r,   d_r = f_r − α g_r

over l labelled points of classes c with l_c points each, where m_cr is the mean of v_r over class c and m_r
that over all labelled points:

    f_r = (1/l) Σ_c l_c (m_cr − m_r)²      g_r = (1/l) Σ_j (v_jr − m_{y_j r})².

With Σ_r μ_r = b fixed, the maximiser is μ_r = b d_r⁻¹ / Σ_s d_s⁻¹ if every d_r < 0, that is, for
α > α* = max_r f_r / g_r; then every μ_r > 0. Below α* the formula gives a saddle, but for a narrow range
where one single eigenvector takes more than the whole budget. As α grows, μ_r → b g_r⁻¹ / Σ_s g_s⁻¹.

**Order.** With h = −d > 0 and the constraints μ_1 ≥ μ_2 ≥ … ≥ 0 (weights that do not fall with the
eigenvalue), the problem is min Σ h_r μ_r² = Σ h_r (μ_r − t / h_r)² + constant for the multiplier t of Σ μ =
b: a weighted isotonic regression of 1 / h_r with weights h_r. A block B of equal weights has the value |B| /
Σ_B h_r, one over the mean of h: so μ_r = b h̃_r⁻¹ / Σ_s h̃_s⁻¹ with h̃ the plain nondecreasing isotonic
regression of h.

**Maximum margin criterion.** With class shares p_i, means m_i and traces s_i of the covariances of the
classes in the feature space of K_μ, Σ_r μ_r² (f_r − g_r) = tr (S_b − S_w) = ½ Σ_ij p_i p_j (‖m_i − m_j‖² −
s_i − s_j), which Li, Jiang & Zhang (2004) maximise over orthonormal projections: the value at α = 1 is
theirs before any projection, W = I, and they fix W'W = I where Σ μ_r = b is fixed here.

Fractional programming (Dinkelbach) would set α to the ratio Σ μ²f / Σ μ²g that the last α gave. That ratio is
a mean of the f_r / g_r: never above α*. From its second step on some d_r ≥ 0, and there is no maximiser, or
only the one eigenvector of the largest f_r / g_r is left.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression

from ..._typing import Array

PURE = 1e4  # f / g from which on an eigenvector counts as constant within the classes
_ABSENT = 1e-6  # of 1/n: an eigenvector that varies less over the labelled points is not seen by them
_HELD = 1e-3  # d of an eigenvector without a maximiser, beside the smallest |d| of the others
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Tradeoff:
    """What the scatter within the classes costs: α itself, or κ with α = κ α*.

    Examples
    --------
    >>> Tradeoff(1.5, relative=True).alpha(np.array([2.0, np.inf])).tolist()
    [3.0, 15000.0]
    """

    value: float  # positive; infinity is allowed
    relative: bool = False

    def alpha(self, alpha_star: Array) -> Array:
        """α for each α*; relative to an α* above 10⁴ it counts from 10⁴, and from 1 where α* is 0."""
        if not self.relative:
            return np.full(np.shape(alpha_star), self.value)
        return self.value * np.where(alpha_star > 0.0, np.minimum(alpha_star, PURE), 1.0)


@dataclass(frozen=True, eq=False)
class Separability:
    """Weights of best separability; with leading axes, of several problems at once."""

    weights: Array  # (..., p), μ; all zero where no eigenvector is present
    alpha: Array  # (...,), the α used
    alpha_star: Array  # (...,), max f_r / g_r over the present eigenvectors; infinity where some g_r is 0
    enough: Array  # (...,), the largest f_r / g_r below 10⁴: a smaller α than this has no maximiser
    present: Array  # (..., p) of bool; the others do not vary over the labelled points and have weight 0
    held: Array  # (..., p) of bool, eigenvectors with d_r ≥ 0, whose d_r was set to −10⁻³ min |d|


def scatters(V: Array, codes: Array) -> tuple[Array, Array]:
    """The scatter between and within the classes along each column of V (l, p): f and g, (p,).

    A class of one point adds nothing to g.

    Examples
    --------
    >>> f, g = scatters(np.array([[0.0], [2.0], [5.0], [5.0]]), np.array([0, 0, 1, 1]))
    >>> f.tolist(), g.tolist()
    ([4.0], [0.5])
    """
    V = V - V.mean(axis=0)
    counts = np.bincount(codes).astype(float)
    sums = class_sums(V, codes, counts.size)
    means = np.divide(sums, counts[:, None], out=np.zeros_like(sums), where=counts[:, None] > 0)
    f = (counts @ means**2) / len(V)
    g = ((V - means[codes]) ** 2).mean(axis=0)
    return f, g


def scatters_without_each(V: Array, codes: Array) -> tuple[Array, Array]:
    """The same with one labelled point left out, for every point in turn, (l, p); O(l p)."""
    V = V - V.mean(axis=0)
    rest = len(V) - 1
    counts = np.bincount(codes).astype(float)
    sums = class_sums(V, codes, counts.size)
    own, others = sums[codes], (counts[codes] - 1.0)[:, None]
    parts = np.divide(sums**2, counts[:, None], out=np.zeros_like(sums), where=counts[:, None] > 0)
    left = np.divide((own - V) ** 2, others, out=np.zeros_like(V), where=others > 0.0)
    between = parts.sum(axis=0) - parts[codes] + left
    g = np.maximum((V**2).sum(axis=0) - V**2 - between, 0.0) / rest
    f = np.maximum(between / rest - ((V.sum(axis=0) - V) / rest) ** 2, 0.0)
    return f, g


def pooled(values: Array, spaces: Array | None) -> Array:
    """Means within eigenspaces along the last axis, which do not depend on the basis of a space.

    ``spaces``: the space of each column, ascending from 0; None: each its own.

    Examples
    --------
    >>> pooled(np.array([1.0, 2.0, 4.0]), np.array([0, 1, 1])).tolist()
    [1.0, 3.0, 3.0]
    """
    if spaces is None or spaces[-1] == spaces.size - 1:
        return values
    sums = np.add.reduceat(values, space_starts(spaces), axis=-1)
    return np.asarray((sums / np.bincount(spaces))[..., spaces])


def space_starts(spaces: Array) -> Array:
    """The first column of each space."""
    return np.flatnonzero(np.diff(spaces, prepend=-1))


def class_sums(V: Array, codes: Array, n_classes: int) -> Array:
    """The sum of the rows of each class, (n_classes, p)."""
    sums = np.zeros((n_classes, V.shape[1]))
    np.add.at(sums, codes, V)
    return sums


def falling(values: Array, chains: Array, kept: Array | None = None) -> Array:
    """The nearest values that do not rise along the columns of one chain, for each row of (..., p).

    ``chains``: the chain of each column (p,), ascending from 0. Columns that are not ``kept`` (..., p) stay
    as they are and bind no other.

    Examples
    --------
    >>> falling(np.array([3.0, 1.0, 2.0, 5.0]), np.array([0, 0, 0, 1])).tolist()
    [3.0, 1.5, 1.5, 5.0]
    """
    found = np.array(values)
    kept = np.ones(found.shape, bool) if kept is None else kept
    for row in np.ndindex(found.shape[:-1]):
        for chain in range(int(chains[-1]) + 1):
            columns = np.flatnonzero(kept[row] & (chains == chain))
            if columns.size:
                found[(*row, columns)] = isotonic_regression(found[(*row, columns)], increasing=False).x
    return found


def separability_weights(
    f: Array, g: Array, tradeoff: Tradeoff, budget: float, n: int, chains: Array | None = None
) -> Separability:
    """μ in closed form, of sum `budget`, for each row of f and g (..., p).

    With ``chains`` (p,), weights do not rise along the columns of one chain.

    Two guards: an eigenvector with f_r + g_r < 10⁻⁶/n is absent from the labelled points and gets no weight,
    where the formula would give it all (n: over how many points the eigenvectors have norm one); and one with
    d_r ≥ 0 is held at d_r = −10⁻³ min |d| over the others, a thousand times their largest weight, or at equal
    weights where all are such. The caller may refuse that instead, if ``alpha <= enough``.

    Examples
    --------
    >>> f, g = np.array([2.0, 1.0]), np.array([1.0, 1.0])
    >>> found = separability_weights(f, g, Tradeoff(3.0), 3.0, 2)
    >>> found.weights.round(6).tolist(), float(found.alpha_star)
    ([2.0, 1.0], 2.0)
    """
    total = f + g
    present = total >= _ABSENT / n
    g = np.where(g <= _ROUNDING * total, 0.0, g)
    ratio = np.divide(f, g, out=np.full(f.shape, np.inf), where=g > 0.0)
    ratio = np.where(present, ratio, 0.0)
    alpha_star = ratio.max(axis=-1)
    alpha = tradeoff.alpha(alpha_star)
    d = f / alpha[..., None] - g  # over α, so that α may be infinite
    held = present & (d >= -_ROUNDING * (f / alpha[..., None] + g))
    smallest = np.where(present & ~held, -d, np.inf).min(axis=-1, keepdims=True)
    d = np.where(held, -_HELD * np.where(np.isfinite(smallest), smallest, 1.0), d)
    if chains is not None:
        d = falling(d, chains, present)
    inverse = np.divide(1.0, d, out=np.zeros_like(d), where=present)
    size = inverse.sum(axis=-1, keepdims=True)
    weights = np.divide(budget * inverse, size, out=np.zeros_like(d), where=size < 0.0)
    enough = np.where(ratio < PURE, ratio, 0.0).max(axis=-1)
    return Separability(weights, alpha, alpha_star, enough, present, held)


def separability_objective(mu: Array, f: Array, g: Array, alpha: float) -> float:
    """Σ μ²(f − α g), what is maximised; −Σ μ²g, its limit divided by α, where α is infinite."""
    squares = mu**2
    return float(-(squares @ g) if np.isinf(alpha) else squares @ (f - alpha * g))


def separability_ratio(mu: Array, f: Array, g: Array) -> float:
    """tr S_b / tr S_w = Σ μ²f / Σ μ²g of the kernel Σ μ² v v'; infinity without scatter within classes."""
    between, within = float(mu**2 @ f), float(mu**2 @ g)
    return between / within if within > 0.0 else float("inf")

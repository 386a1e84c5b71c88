"""A kernel matrix with its eigenvectors kept and its eigenvalues learned from the labels of some points.

    K = V diag(w) V' over n points      K_μ = Σ_r μ_r² v_r v_r' = ZZ',  Z = V diag(μ)

The labels of the first l points give μ, by separability (``separability``) or by alignment (below). For a
new point x with similarities k(x, x_i) to the n points,

    v_r(x) = (1/w_r) Σ_i V_ir k(x, x_i),   z_r(x) = μ_r v_r(x),

which on the n points themselves is V and Z again. Within the space of a repeated eigenvalue the eigenvectors
are arbitrary: they have one weight in common, from the mean of what the labels say of them, so that K_μ does
not depend on them. Only eigenvalues above a share of the largest are kept: one divides by them, and w does
not enter μ, so that eigenvectors of noise would weigh like the others. The decomposition costs
O(n³) operations and about three times the memory of K, all else O(n p).

**Factors.** Where K ≈ ZZ' with a factor Z (n, q), the singular values and left singular vectors of Z are √w
and V, and v_r(x) = z(x)'u_r / √w_r with the right ones u_r: O(n q²) operations, and no (n, n) matrix.

**Several kernels.** The eigenvectors of all of them side by side, K_μ = Σ_m Σ_r μ_mr² v_mr v_mr', with one
budget Σ_m Σ_r √w_mr. Nothing of separability needs the vectors to be orthogonal; of alignment, the closed
form does.

**Order.** μ_1 ≥ μ_2 ≥ … for each kernel, in the order of its eigenvalues: as repeated ones share their
weight, μ_r² is a nondecreasing function of w_r. "improved" leaves the first eigenvalue out of it, whose
eigenvector is nearly constant where K is not centred (Zhu et al. 2005).

The alignment of Σ_r w_r v_r v_r' with the classes of the labelled points, two or more, is

    A(w) = q'w / (‖T‖ √(w'Sw))      q_r = v_r'T v_r,   S_rs = (v_r'v_s)²   over the l labelled rows

The target T holds the inner products of the corners of a regular simplex, one corner for each of k classes:
1 for points of one class, −1/(k−1) for others. All classes count alike, and for two classes T = yy' with
y = ±1. With the sums s_cr of v_r over class c,

    q_r = k/(k−1) · (Σ_c s_cr² − (Σ_c s_cr)² / k) ≥ 0.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg

from ..._typing import Array
from ...core.alignment import StackAlignment, align_by_least_squares
from ...core.unlabeled import leading_eigenvectors
from ...kernels.transforms import Center
from .separability import (
    Tradeoff,
    class_sums,
    falling,
    pooled,
    scatters,
    separability_objective,
    separability_ratio,
    separability_weights,
    space_starts,
)

_ABSENT = 1e-6  # of 1/n: mean square of an eigenvector that the labelled points do not see
_REPEATED = 1e-9  # of the largest eigenvalue: what lies closer counts as the same
_PIVOTS = 10  # for each eigenvector; about one is usual
_ROUNDING = 1e-12
_VANISHED = 1e-13  # of the trace before centring: what is smaller than this is rounding
_FACTOR_ROUNDING = 1e-10  # of the largest eigenvalue of ZZ', as for matrices
ORDERS = ("decreasing", "improved")


@dataclass(frozen=True, eq=False)
class FactorMap:
    """From the factors z(x) of new points to the eigenvectors there."""

    basis: Array  # (q, p), u_r / √w_r
    offset: Array | None = None  # (q,), the mean factor, if the kernel is centred

    def __call__(self, Z: Array) -> Array:
        """The eigenvectors at points with factors Z (n_test, q), (n_test, p)."""
        return (Z if self.offset is None else Z - self.offset) @ self.basis


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues and eigenvectors of a kernel matrix, those worth keeping."""

    values: Array  # (p,), w, descending
    vectors: Array  # (n, p), orthonormal columns
    trace: float  # of the whole matrix (centred, if it was)
    center: Center | None = None  # the fitted centring that rows of new points go through
    factor_map: FactorMap | None = None  # of a kernel that is given by factors, which rows then are

    @property
    def budget(self) -> float:
        """Σ_r √w_r, what the weights μ sum to."""
        return float(np.sqrt(self.values).sum())

    @property
    def spaces(self) -> Array:
        """The eigenspace of each vector, (p,) from 0 on: repeated eigenvalues share one."""
        apart = np.diff(self.values) < -_REPEATED * self.values[0]
        return np.concatenate([[0], np.cumsum(apart)])

    def above(self, eig_tol: float) -> "Spectrum":
        """The part with eigenvalues above ``eig_tol`` of the largest, in whole eigenspaces."""
        inside = self.values > eig_tol * self.values[0]
        spaces = self.spaces
        kept = int(np.count_nonzero(spaces <= spaces[inside].max())) if inside.any() else 0
        if kept == 0:
            raise ValueError(
                f"eig_tol must leave eigenvalues to work with; none is above eig_tol={eig_tol:g} times the "
                f"largest eigenvalue {self.values[0]:.6g}. Give an eig_tol below 1, such as 0.01."
            )
        vectors = np.ascontiguousarray(self.vectors[:, :kept])  # not a view, which would keep all of them
        mapped = self.factor_map and replace(self.factor_map, basis=self.factor_map.basis[:, :kept])
        return Spectrum(self.values[:kept], vectors, self.trace, self.center, mapped)

    def chains(self, order: str | None) -> Array | None:
        """The columns whose weights are to be ordered, by chain (p,); None without an order."""
        if order is None:
            return None
        return np.minimum(self.spaces, 1) if order == "improved" else np.zeros(self.values.size, int)

    def at(self, rows: Array) -> "Spectrum":
        """With the points in another order, or some of them only: for weights, not for new points."""
        return Spectrum(self.values, self.vectors[rows], self.trace)

    def extend(self, K_test: Array) -> Array:
        """The eigenvectors at new points, (n_test, p), from their similarities (n_test, n), uncentred.

        Of a kernel that is given by factors, from the factors of the new points, (n_test, q).
        """
        if self.factor_map is not None:
            return self.factor_map(K_test)
        rows = K_test if self.center is None else self.center.test(K_test, np.empty(0))
        return (rows @ self.vectors) / self.values


@dataclass(frozen=True, eq=False)
class JointSpectrum:
    """The spectra of several kernels over the same points, side by side."""

    parts: tuple[Spectrum, ...]

    @cached_property
    def values(self) -> Array:
        """Eigenvalues (p,), descending within each kernel."""
        return np.concatenate([part.values for part in self.parts])

    @cached_property
    def vectors(self) -> Array:
        """Eigenvectors (n, p), orthonormal within each kernel."""
        return np.column_stack([part.vectors for part in self.parts])

    @property
    def kernels(self) -> Array:
        """The kernel of each column, (p,) from 0 on."""
        return np.repeat(np.arange(len(self.parts)), [part.values.size for part in self.parts])

    @property
    def trace(self) -> float:
        """Of the sum of the kernels."""
        return float(sum(part.trace for part in self.parts))

    @property
    def budget(self) -> float:
        """Σ √w over all kernels."""
        return float(sum(part.budget for part in self.parts))

    @property
    def spaces(self) -> Array:
        """The eigenspace of each vector, those of different kernels apart."""
        return _numbered([part.spaces for part in self.parts])

    def above(self, eig_tol: float) -> "JointSpectrum":
        """The part of each kernel above ``eig_tol`` of its own largest eigenvalue."""
        return JointSpectrum(tuple(part.above(eig_tol) for part in self.parts))

    def chains(self, order: str | None) -> Array | None:
        """As of `Spectrum`, each kernel for itself."""
        return None if order is None else _numbered([part.chains(order) for part in self.parts])

    def at(self, rows: Array) -> "JointSpectrum":
        """With the points in another order, or some of them only."""
        return JointSpectrum(tuple(part.at(rows) for part in self.parts))

    def extend(self, rows: Sequence[Array]) -> Array:
        """The eigenvectors of all kernels at new points, (n_test, p), from the rows of each kernel."""
        return np.column_stack([part.extend(own) for part, own in zip(self.parts, rows, strict=True)])


AnySpectrum = Spectrum | JointSpectrum


def _numbered(parts: Sequence[Array | None]) -> Array:
    """Numbers of several parts, each from 0 on, counted through."""
    found: list[Array] = []
    for part in parts:
        assert part is not None
        found.append(part + (found[-1][-1] + 1 if found else 0))
    return np.concatenate(found)


def spectrum_of(K: Array, *, center: bool = False) -> Spectrum:
    """All eigenvalues above 1e-10 of the largest, and their eigenvectors; of HKH, H = I − 11'/n, if centred.

    Examples
    --------
    >>> spectrum = spectrum_of(np.diag([4.0, 1.0]))
    >>> spectrum.values.tolist(), spectrum.budget, spectrum.above(0.5).values.tolist()
    ([4.0, 1.0], 3.0, [4.0])
    """
    floor = _VANISHED * float(np.trace(K))
    fitted = None
    if center:
        fitted = Center().fit(K)
        K = fitted.train(K)
    values, vectors = leading_eigenvectors(K)
    if values.size == 0 or not values[0] > floor:
        largest = float(values[0]) if values.size else 0.0
        raise ValueError(
            f"the kernel has no spectrum: its largest eigenvalue{' after centring' if center else ''} is "
            f"{largest:.3g}. It is constant or zero on these points; give another kernel"
            f"{', or center=False' if center else ''}."
        )
    return Spectrum(values, vectors, float(np.trace(K)), fitted)


def spectrum_of_factor(Z: Array, *, center: bool = False) -> Spectrum:
    """The spectrum of ZZ' from Z (n, q), n > q or not, by singular values: O(n q²).

    Examples
    --------
    >>> spectrum = spectrum_of_factor(np.array([[2.0, 0.0], [0.0, 1.0], [0.0, 0.0]]))
    >>> spectrum.values.tolist(), np.abs(spectrum.extend(np.array([[4.0, 3.0]]))).tolist()
    ([4.0, 1.0], [[2.0, 3.0]])
    """
    floor = _VANISHED * float(np.vdot(Z, Z))
    offset = Z.mean(axis=0) if center else None
    Z = Z if offset is None else Z - offset
    vectors, roots, right = scipy.linalg.svd(Z, full_matrices=False, check_finite=False)
    values = roots**2
    if values.size == 0 or not values[0] > floor:
        centred = " after centring" if center else ""
        largest = values[0] if values.size else 0.0
        raise ValueError(
            f"the kernel has no spectrum: the largest eigenvalue of its factors{centred} is {largest:.3g}. "
            "It is constant or zero on these points; give another kernel."
        )
    kept = int(np.count_nonzero(values > _FACTOR_ROUNDING * values[0]))
    mapped = FactorMap(right[:kept].T / roots[:kept], offset)
    return Spectrum(values[:kept], np.ascontiguousarray(vectors[:, :kept]), float(values.sum()), None, mapped)


@dataclass(frozen=True)
class SpectralRule:
    """What the weights of the eigenvectors are to achieve."""

    criterion: str = "separability"  # {"separability", "alignment"}
    tradeoff: Tradeoff = field(default_factory=lambda: Tradeoff(1e4))  # of separability
    method: str = "closed"  # {"closed", "nnls"}, of alignment
    order: str | None = None  # {None, "decreasing", "improved"}, of the weights of each kernel


@dataclass(frozen=True, eq=False)
class SpectralWeights:
    """Learned weights of the eigenvectors."""

    weights: Array  # (p,), μ ≥ 0 with K_μ = Σ μ_r² v_r v_r'
    objective: float  # Σ μ²(f − α g) for separability (−Σ μ²g where α is infinite), else the alignment
    separability: float  # Σ μ²f / Σ μ²g of the learned kernel on the labelled points
    alpha: float  # the α used; NaN for alignment
    alpha_star: float  # the smallest α with a maximiser; NaN for alignment
    enough: float  # the smallest α that is not refused: α*, but for eigenvectors with f / g of 10⁴ or more
    held: Array  # of int, eigenvectors without scatter within the classes, whose weights had to be limited
    absent: Array  # of int, eigenvectors that do not vary over the labelled points


def learn_spectral_weights(spectrum: AnySpectrum, codes: Array, rule: SpectralRule) -> SpectralWeights:
    """μ from the classes (l,) of the first points; O(l p), and a small least squares problem for ``"nnls"``.

    Where α has no maximiser, the weights are those of the guards (``separability``);
    `require_maximiser` refuses them.

    Examples
    --------
    >>> spectrum = spectrum_of(np.array([[2.0, 1.9, 0.1], [1.9, 2.0, 0.2], [0.1, 0.2, 1.0]]))
    >>> learned = learn_spectral_weights(spectrum.above(0.1), np.array([0, 0, 1]), SpectralRule())
    >>> learned.weights.round(3).tolist()
    [2.971, 0.003]
    """
    V = spectrum.vectors[: codes.size]
    f, g = (pooled(scatter, spectrum.spaces) for scatter in scatters(V, codes))
    chains = spectrum.chains(rule.order)
    if rule.criterion == "alignment":
        mu, objective = _aligned(spectrum, V, codes, rule)
        absent = np.flatnonzero(_mean_squares(V) < _ABSENT / len(spectrum.vectors))
        ratio = separability_ratio(mu, f, g)
        return SpectralWeights(mu, objective, ratio, np.nan, np.nan, np.nan, np.empty(0, int), absent)
    found = separability_weights(f, g, rule.tradeoff, spectrum.budget, len(spectrum.vectors), chains)
    if not found.present.any():
        raise ValueError(
            f"none of the {f.size} eigenvectors kept varies over the {codes.size} labelled points, so that "
            "nothing tells their classes apart. Label points that differ, or lower eig_tol."
        )
    alpha = float(found.alpha)
    return SpectralWeights(
        weights=found.weights,
        objective=separability_objective(found.weights, f, g, alpha),
        separability=separability_ratio(found.weights, f, g),
        alpha=alpha,
        alpha_star=float(found.alpha_star),
        enough=float(found.enough),
        held=np.flatnonzero(found.held),
        absent=np.flatnonzero(~found.present),
    )


class NoMaximumError(ValueError):
    """α is too small for the eigenvectors."""


def require_maximiser(learned: SpectralWeights) -> None:
    """Refuse weights of an α that is too small, and say which is not."""
    if learned.alpha <= learned.enough:
        raise NoMaximumError(
            f"reg must be above {learned.enough:.6g}, the largest ratio of the scatters between "
            f"and within the classes along an eigenvector; got {learned.alpha:g}, where the closed form is a "
            'saddle and no maximum. Give a larger reg, or one relative to that ratio: ("relative", 1.5).'
        )


@dataclass(frozen=True, eq=False)
class SpectralModel:
    """The learned kernel, at the points it was learned on and at others; K_μ itself is not kept."""

    spectrum: AnySpectrum  # the part that is kept
    learned: SpectralWeights
    n_labelled: int  # l

    @property
    def coordinates(self) -> Array:
        """Z (n, p), K_μ = ZZ'."""
        return self.spectrum.vectors * self.learned.weights

    def extend(self, K_test: Any) -> Array:
        """Z of new points (n_test, p), from their similarities (n_test, n) in the kernel that was given.

        Of several kernels, from a list of these; of kernels given by factors, from factors (n_test, q).
        """
        return self.spectrum.extend(K_test) * self.learned.weights

    def kernel(self) -> Array:
        """K_μ (n, n)."""
        Z = self.coordinates
        return Z @ Z.T

    def labelled(self) -> Array:
        """K_μ between the labelled points (l, l)."""
        Z = self._labelled_coordinates
        return Z @ Z.T

    def unlabelled(self) -> Array:
        """K_μ between the unlabelled points and the labelled ones, (n − l, l)."""
        return self.coordinates[self.n_labelled :] @ self._labelled_coordinates.T

    def unlabelled_blocks(self, size: int) -> Iterator[Array]:
        """The same, some rows at a time."""
        known = self._labelled_coordinates.T
        for start in range(self.n_labelled, len(self.spectrum.vectors), size):
            yield (self.spectrum.vectors[start : start + size] * self.learned.weights) @ known

    def rows(self, K_test: Any) -> Array:
        """K_μ between new points and the labelled ones, (n_test, l); `K_test` as for `extend`."""
        return self.extend(K_test) @ self._labelled_coordinates.T

    @property
    def _labelled_coordinates(self) -> Array:
        return self.spectrum.vectors[: self.n_labelled] * self.learned.weights


# ------------------------------------------------------------------ alignment
def _aligned(spectrum: AnySpectrum, V: Array, codes: Array, rule: SpectralRule) -> tuple[Array, float]:
    """μ of best alignment, K_μ of the trace of K; and the alignment of its labelled block."""
    k = int(codes.max()) + 1
    q, norm = target_products(V, codes, k), target_norm(codes, k)
    chains = spectrum.chains(rule.order)
    w = alignment_weights(
        V, q, norm, rule.method, len(spectrum.vectors), spaces=spectrum.spaces, chains=chains
    )
    if not w.any():
        raise ValueError(
            f"none of the {q.size} eigenvectors kept is aligned with the classes of the labelled points. "
            "Lower eig_tol, or use a kernel that is related to these classes."
        )
    w = w * (spectrum.trace / w.sum())
    return np.sqrt(w), spectral_alignment_value(w, V, q, norm)


def alignment_weights(
    V: Array,
    q: Array,
    norm: float,
    method: str,
    n: int,
    *,
    near: Array | None = None,
    spaces: Array | None = None,
    chains: Array | None = None,
) -> Array:
    """w ≥ 0 of Σ w_r v_r v_r', (p,), up to a factor.

    ``"closed"`` is q itself, which is best where the labelled rows V (l, p) of the eigenvectors are
    orthonormal; ``"nnls"`` is best as they are, argmin_{w ≥ 0} w'Sw − 2q'w. Weights `near` the best (those of
    one point more) spare most of the search. Eigenvectors of one space (`spaces`) have the same weight, and
    weights do not rise along a chain (`chains`): the nearest such q, or the best such w.
    """
    if method == "closed":
        return pooled(q, spaces) if chains is None else falling(pooled(q, spaces), chains)
    if chains is not None:
        return _ordered_least_squares(V, q, norm, chains, spaces)
    w = np.zeros(q.size)
    seen = (pooled(_mean_squares(V), spaces) >= _ABSENT / n) & (pooled(q, spaces) > 0.0)
    if not seen.any():
        return w
    places = np.arange(q.size) if spaces is None else spaces
    first, own = np.unique(places[seen], return_index=True, return_inverse=True)[1:]
    table = rank_one_alignment(V[:, seen], q[seen], norm, own)
    if near is None:
        found = align_by_least_squares(table, first.size).w
    else:
        found = least_over_nonnegative(table.pairs, table.target, near[seen][first] * table.norms)
    w[seen] = (found / table.norms)[own]
    return w


def _ordered_least_squares(V: Array, q: Array, norm: float, chains: Array, spaces: Array | None) -> Array:
    """argmin w'Sw − 2q'w over w ≥ 0 that do not rise along each chain.

    In the cumulated matrices Σ_{s ≤ r} v_s v_s' of a chain they are sums with nonnegative coefficients.
    """
    products = (V.T @ V) ** 2
    spaces = np.arange(q.size) if spaces is None else spaces
    ends = np.flatnonzero(np.diff(spaces, append=spaces[-1] + 1))  # a cumulated matrix has whole spaces
    inside = (chains[:, None] == chains[ends]) & (np.arange(q.size)[:, None] <= ends)
    steps = inside.astype(float)  # (p, n_sums): which columns a cumulated matrix has
    S, target = steps.T @ products @ steps, steps.T @ q
    norms = np.sqrt(S.diagonal())
    seen = norms > _ABSENT * norms.max()
    pairs = S[np.ix_(seen, seen)] / (norms[seen] * norms[seen, None])
    np.fill_diagonal(pairs, 1.0)
    table = StackAlignment(target[seen] / (norms[seen] * norm), pairs, norms[seen], norm)
    if not (table.target > 0.0).any():
        return np.zeros(q.size)
    found = align_by_least_squares(table, int(seen.sum())).w / table.norms
    return np.asarray(steps[:, seen] @ found)


def least_over_nonnegative(S: Array, q: Array, start: Array) -> Array:
    """argmin ½w'Sw − q'w over w ≥ 0, S of unit diagonal, by an active set that begins with that of `start`.

    Examples
    --------
    >>> S = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> least_over_nonnegative(S, np.array([1.0, 0.2]), np.array([0.0, 1.0])).tolist()
    [1.0, 0.0]
    """
    w, inside = start.copy(), start > 0.0
    for _ in range(_PIVOTS * (q.size + 10)):
        active = np.flatnonzero(inside)
        block = S[np.ix_(active, active)] + _ROUNDING * np.eye(active.size)
        solved = scipy.linalg.solve(block, q[active], assume_a="pos")
        if (solved <= 0.0).any():  # as far as the first weight that becomes zero
            falling = np.flatnonzero(solved <= 0.0)
            steps = w[active][falling] / (w[active][falling] - solved[falling])
            w[active] += steps.min() * (solved - w[active])
            leaving = active[falling[steps <= steps.min()]]
            w[leaving], inside[leaving] = 0.0, False
            continue
        w[active] = solved
        slack = np.where(inside, -np.inf, q - S @ w)
        entering = int(slack.argmax())
        if not slack[entering] > _ROUNDING * np.abs(q).max():
            break
        inside[entering] = True
    return w


def _mean_squares(V: Array) -> Array:
    return np.einsum("jr,jr->r", V, V) / len(V)


def target_products(V: Array, codes: Array, n_classes: int) -> Array:
    """q, (p,), of the labelled rows V (l, p)."""
    sums = class_sums(V, codes, n_classes)
    return _scaled((sums**2).sum(axis=0), sums.sum(axis=0), n_classes)


def target_products_without_each(V: Array, codes: Array, n_classes: int) -> Array:
    """q of the others with one labelled point left out, for each in turn, (l, p); O(l p)."""
    sums = class_sums(V, codes, n_classes)
    own = sums[codes]
    squares = (sums**2).sum(axis=0) - own**2 + (own - V) ** 2
    return _scaled(squares, sums.sum(axis=0) - V, n_classes)


def _scaled(squares: Array, totals: Array, k: int) -> Array:
    return np.maximum(k * squares - totals**2, 0.0) / (k - 1)


def target_norm(codes: Array, n_classes: int) -> float:
    """‖T‖ over the labelled points."""
    counts = np.bincount(codes).astype(float)
    same = float(counts @ counts)
    return float(np.sqrt(same + (codes.size**2 - same) / (n_classes - 1) ** 2))


def rank_one_alignment(V: Array, q: Array, norm: float, spaces: Array | None = None) -> StackAlignment:
    """The cosines of the matrices v_r v_r' over the rows V (l, p) with T and with one another.

    The columns of one eigenspace (`spaces`, ascending from 0; None: each its own) count as one matrix, the
    sum of theirs. ``q`` are the products with T, ``norm`` is ‖T‖.
    """
    if spaces is None or spaces[-1] == spaces.size - 1:
        norms = np.einsum("jr,jr->r", V, V)
        unit = V / np.sqrt(norms)
        pairs = (unit.T @ unit) ** 2
    else:
        starts = space_starts(spaces)
        products = np.add.reduceat(np.add.reduceat((V.T @ V) ** 2, starts, axis=0), starts, axis=1)
        norms = np.sqrt(products.diagonal())
        pairs, q = products / (norms * norms[:, None]), np.add.reduceat(q, starts)
    np.fill_diagonal(pairs, 1.0)
    return StackAlignment(q / (norms * norm), pairs, norms, norm)


def spectral_alignment_value(w: Array, V: Array, q: Array, norm: float) -> float:
    """A(w), without forming the matrix; 0 where it vanishes."""
    w = w / max(
        float(w.max()), np.finfo(float).tiny
    )  # its scale does not matter, and its square may overflow
    size = float(np.sqrt(max(float(w @ ((V.T @ V) ** 2 @ w)), 0.0))) * norm
    return float(q @ w) / size if size > 0.0 else 0.0

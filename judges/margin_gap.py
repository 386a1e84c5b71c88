"""The duality gap of a fitted margin machine or ridge regression, from its coefficients and the kernels.

With kernels K_m, weights μ in {μ ≥ 0, ‖μ‖_p ≤ 1} and machines t = 1, …, T that share them, the problem is

    min over μ, w, b of  Σ_t [½ Σ_m ‖w_tm‖² / μ_m + risk_t(f_t)],    f_t(x) = Σ_m ⟨w_tm, φ_m(x)⟩ + b_t.

Any weights of the set and any functions give an upper bound of its value; any feasible duals β_t give

    Σ_t reward_t(β_t) − ½ support(q),   q_m = Σ_t β_t'K_m β_t,   support(q) = largest μ'q = ‖q‖_{p*},

a lower bound. For each loss, in one row:

==================  ========================================  =========================  ================
loss                risk(f)                                   reward(β)                  duals
==================  ========================================  =========================  ================
Hinge               C Σ [1 − y_i f_i]₊                        Σ y_i β_i                  0 ≤ y_i β_i ≤ C
SquaredHinge        C/2 Σ [1 − y_i f_i]₊²                     Σ y_i β_i − Σ β_i² / (2C)  0 ≤ y_i β_i
EpsilonInsensitive  C Σ [|y_i − f_i| − ε]₊                    y'β − ε‖β‖₁                |β_i| ≤ C
SquaredError        Σ (y_i − f_i)² / (2α)                     y'β − α/2 ‖β‖²             free
OneClass            Σ [−f_i]₊ / (νn) + b                      0                          0 ≤ β_i ≤ 1/(νn)
JointHinge          C Σ_i Σ_{l≠y_i} [2 − f_i^{y_i} + f_i^l]₊  2 Σ α_il                   0 ≤ α_il ≤ C
==================  ========================================  =========================  ================

with Σβ_t = 0 (1 for the one-class machine), and B_il = [l = y_i] Σ_k α_ik − α_il in the place of β for the
joint hinge. Duals beyond their bounds by rounding are cut; what is left of the sum is paid for.

**Two forms of a function.** Coefficients of kernel m that are μ_m times the duals are an expansion over the
samples, and q_m = β'K_mβ. Where kernels have huge entries and a low numerical rank this cancels in double
precision; such a kernel may predict by a factor (``kernel_factors_``): L = K_m[:, P] root⁻¹ with LL' = K_m,
which is checked, the part of the function is L v, its norm ‖v‖², and q_m = ‖L'β‖². Since L is known to few
digits in its last columns, the judge also moves the duals a little to where L'β agrees with the function,
and takes the better lower bound: every feasible dual gives one.

What a model says of itself is not looked at. Only NumPy and SciPy are used here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular

FloatArray = NDArray[np.float64]

#: How far duals and weights may leave their sets, relative to the size of the set: rounding, no more.
FEASIBILITY_TOL = 1e-9
#: How far LL' may be from a kernel, relative to its largest diagonal entry.
FACTOR_TOL = 1e-11

_INSIDE = 1e-7  # duals that are at least so far from their bounds, relatively, may be moved
_MAX_SYSTEM = 3e7  # entries of a linear system of moves
_OWN_FACTOR_TOL = 1e-12  # of kernels without weight, whose pivots no coefficient shows
_OWN_FACTOR_RANK = 500
_BLOCK = 256
_LEAST_SHARE = 1e-3  # one-class values below this share of tr(K)/(2n²) count as 0
_LEAST_KERNEL = 1e-8


class NotCertifiedError(ValueError):
    """Duals, weights or factors are not what a certificate needs."""


@dataclass(frozen=True)
class Verdict:
    """What the judge found, of the worst group of machines.

    Attributes
    ----------
    upper, lower : float
        They enclose the optimal value.
    gap : float
        (upper − lower) / |upper|.
    gap_as_given : float
        The same by the duals as they are, without those that the judge has moved.
    scores : array (n, n_machines)
        Of all machines, with intercepts, by coefficients and kernels.
    """

    upper: float
    lower: float
    gap: float
    gap_as_given: float
    scores: FloatArray


# ---------------------------------------------------------------------- losses
class Moves(NamedTuple):
    """Directions of the duals: each adds to a machine at a sample, and may take the same from another."""

    samples: NDArray[np.int64]
    to: NDArray[np.int64]
    taken_from: NDArray[np.int64]  # empty where nothing is taken


@dataclass(frozen=True)
class Loss(ABC):
    """A loss of some machines; ``targets`` (n_machines, n) are labels ±1 or values."""

    targets: FloatArray

    total = 0.0

    @abstractmethod
    def bounds(self) -> tuple[ArrayLike, ArrayLike]:
        """The least and the largest duals."""

    @abstractmethod
    def reward(self, duals: FloatArray) -> float:
        """The dual value without its quadratic form in the kernels."""

    @abstractmethod
    def risk(self, scores: FloatArray, intercepts: FloatArray) -> float:
        """The primal value without the norm; the scores (n_machines, n) contain the intercepts."""

    def cut(self, duals: FloatArray) -> FloatArray:
        """The duals, cut to their bounds."""
        return np.asarray(np.clip(duals, *self.bounds()))

    def feasible(self, duals: FloatArray) -> FloatArray:
        """The duals, cut to their bounds where rounding has left these; refused where more has."""
        cut = self.cut(duals)
        outside, size = float(np.abs(cut - duals).max()), float(np.abs(cut).max())
        if not outside <= FEASIBILITY_TOL * size:
            raise NotCertifiedError(
                f"the duals must stay within their bounds; one is outside by {outside:.1e}, of a size of "
                f"{size:.1e}."
            )
        return cut

    def moves(self, duals: FloatArray) -> list[Moves]:
        """What can be added to duals within their bounds, for machines that move apart from each other."""
        low, high = self.bounds()
        margin = _INSIDE * np.abs(duals).max(axis=1, keepdims=True)
        free = (duals > low + margin) & (duals < high - margin)
        nothing = np.zeros(0, dtype=np.int64)
        return [Moves(np.flatnonzero(row), np.full(row.sum(), t), nothing) for t, row in enumerate(free)]

    def intercept_sizes(self, intercepts: FloatArray) -> FloatArray:
        """What the optimal intercepts are taken to stay below: twice these, and a margin."""
        return 2.0 * (1.0 + np.abs(intercepts))

    def rows(self, machines: slice) -> Loss:
        """The loss of some of the machines."""
        return type(self)(**{**vars(self), "targets": self.targets[machines]})


@dataclass(frozen=True)
class Hinge(Loss):
    """The 1-norm soft margin."""

    C: float

    def bounds(self) -> tuple[ArrayLike, ArrayLike]:
        return np.where(self.targets > 0, 0.0, -self.C), np.where(self.targets > 0, self.C, 0.0)

    def reward(self, duals: FloatArray) -> float:
        return float((self.targets * duals).sum())

    def risk(self, scores: FloatArray, intercepts: FloatArray) -> float:
        return self.C * float(np.maximum(1.0 - self.targets * scores, 0.0).sum())


@dataclass(frozen=True)
class SquaredHinge(Loss):
    """The 2-norm soft margin."""

    C: float

    def bounds(self) -> tuple[ArrayLike, ArrayLike]:
        return np.where(self.targets > 0, 0.0, -np.inf), np.where(self.targets > 0, np.inf, 0.0)

    def reward(self, duals: FloatArray) -> float:
        return float((self.targets * duals).sum() - (duals * duals).sum() / (2.0 * self.C))

    def risk(self, scores: FloatArray, intercepts: FloatArray) -> float:
        return 0.5 * self.C * float((np.maximum(1.0 - self.targets * scores, 0.0) ** 2).sum())


@dataclass(frozen=True)
class _Values(Loss):
    """Losses of values, whose middle is subtracted: so the numbers are small."""

    @property
    def _middle(self) -> FloatArray:
        return np.asarray(np.median(self.targets, axis=1))

    @property
    def _centered(self) -> FloatArray:
        return np.asarray(self.targets - self._middle[:, None])

    def intercept_sizes(self, intercepts: FloatArray) -> FloatArray:
        return 2.0 * (np.abs(self._centered).max(axis=1) + np.abs(intercepts - self._middle))


@dataclass(frozen=True)
class EpsilonInsensitive(_Values):
    """Support vector regression."""

    C: float
    epsilon: float

    def bounds(self) -> tuple[ArrayLike, ArrayLike]:
        return -self.C, self.C

    def reward(self, duals: FloatArray) -> float:
        return float((self._centered * duals).sum() - self.epsilon * np.abs(duals).sum())

    def risk(self, scores: FloatArray, intercepts: FloatArray) -> float:
        return self.C * float(np.maximum(np.abs(self.targets - scores) - self.epsilon, 0.0).sum())


@dataclass(frozen=True)
class SquaredError(_Values):
    """Kernel ridge regression with intercepts, its value divided by alpha."""

    alpha: float

    def bounds(self) -> tuple[ArrayLike, ArrayLike]:
        return -np.inf, np.inf

    def reward(self, duals: FloatArray) -> float:
        return float((self._centered * duals).sum() - 0.5 * self.alpha * (duals * duals).sum())

    def risk(self, scores: FloatArray, intercepts: FloatArray) -> float:
        return float(((self.targets - scores) ** 2).sum()) / (2.0 * self.alpha)


@dataclass(frozen=True)
class OneClass(Loss):
    """Support estimation; ``targets`` is not read."""

    nu: float

    total = 1.0

    def bounds(self) -> tuple[ArrayLike, ArrayLike]:
        return 0.0, 1.0 / (self.nu * self.targets.shape[1])

    def reward(self, duals: FloatArray) -> float:
        return 0.0

    def risk(self, scores: FloatArray, intercepts: FloatArray) -> float:
        bound = 1.0 / (self.nu * self.targets.shape[1])
        return bound * float(np.maximum(-scores, 0.0).sum()) + float(intercepts.sum())

    def intercept_sizes(self, intercepts: FloatArray) -> FloatArray:
        return 2.0 * np.abs(intercepts)


@dataclass(frozen=True)
class JointHinge(Loss):
    """All classes in one machine; ``targets`` (n_classes, n) is 1 for the class of a sample, else 0."""

    C: float

    def bounds(self) -> tuple[ArrayLike, ArrayLike]:
        own = self.targets > 0
        return np.where(own, 0.0, -self.C), np.where(own, self.C * (len(self.targets) - 1), 0.0)

    def cut(self, duals: FloatArray) -> FloatArray:
        others = np.where(self.targets > 0, 0.0, np.clip(-duals, 0.0, self.C))
        return np.where(self.targets > 0, others.sum(axis=0), -others)

    def moves(self, duals: FloatArray) -> list[Moves]:
        alpha = np.where(self.targets > 0, 0.0, -duals)
        margin = _INSIDE * alpha.max(initial=0.0)
        others, samples = np.nonzero((alpha > margin) & (alpha < self.C - margin))
        return [Moves(samples, np.argmax(self.targets, axis=0)[samples], others)]

    def reward(self, duals: FloatArray) -> float:
        return 2.0 * float(duals[self.targets > 0].sum())

    def risk(self, scores: FloatArray, intercepts: FloatArray) -> float:
        own = self.targets > 0
        slack = np.maximum(2.0 - scores.T[own.T] + scores, 0.0)
        return self.C * float(slack[~own].sum())


# ---------------------------------------------------------------------- kernels
def gram(
    X: FloatArray, kind: str, *, degree: int = 2, gamma: float = 1.0, coef0: float = 1.0, factor: float = 1.0
) -> FloatArray:
    """A Gram matrix times a factor: "linear" x·z, "polynomial" (gamma x·z + coef0)^degree, or "gaussian"."""
    products = X @ X.T
    if kind == "polynomial":
        products = (gamma * products + coef0) ** degree
    elif kind == "gaussian":
        squares = np.einsum("ij,ij->i", X, X)
        distances = np.maximum(squares[:, None] + squares[None, :] - 2.0 * products, 0.0)
        np.fill_diagonal(distances, 0.0)
        products = np.exp(-gamma * distances)
    elif kind != "linear":
        raise ValueError(f'kind must be "linear", "polynomial" or "gaussian"; got {kind!r}.')
    return factor * products


def factor_of(
    K: FloatArray,
    candidates: NDArray[np.int64] | None = None,
    *,
    tol: float = 0.0,
    max_rank: int | None = None,
) -> FloatArray | None:
    """L (n, rank) with LL' = K where K has the range of the candidates' columns, by pivoted Cholesky.

    None where more than ``max_rank`` columns leave a diagonal entry above ``tol`` times the largest.
    """
    left = np.diag(K).astype(float)
    if candidates is not None:
        allowed = np.zeros(len(K), dtype=bool)
        allowed[candidates] = True
        largest_rank = int(candidates.size)
    else:
        allowed, largest_rank = np.ones(len(K), dtype=bool), len(K) if max_rank is None else max_rank
    limit = max(tol, 1e-16) * float(left.max(initial=0.0))
    L = np.zeros((len(K), largest_rank))
    for k in range(largest_rank):
        i = int(np.argmax(np.where(allowed, left, -np.inf)))
        if not left[i] > limit:
            return L[:, :k]
        L[:, k] = (K[:, i] - L[:, :k] @ L[i, :k]) / np.sqrt(left[i])
        left -= L[:, k] ** 2
        allowed[i] = False
    if candidates is None and float(np.where(allowed, left, 0.0).max()) > limit:
        return None
    return L


def _images(K: FloatArray, vectors: FloatArray) -> NDArray[Any]:
    """K times every vector (n_vectors, n), summed in extended precision where the machine has it."""
    wide = vectors.T.astype(np.longdouble)
    images = np.zeros((len(K), len(vectors)), np.longdouble)
    for rows in range(0, len(K), _BLOCK):
        images[rows : rows + _BLOCK] = K[rows : rows + _BLOCK].astype(np.longdouble) @ wide
    return images.T


class Parts(NamedTuple):
    """What kernels and coefficients say of the machines of a model."""

    forms: FloatArray  # (n_machines, n_kernels), β'K_mβ
    norms: FloatArray  # (n_machines, n_kernels), ‖w_m‖² / μ_m
    scores: FloatArray  # (n_machines, n), without intercepts
    mean_diagonals: FloatArray  # (n_kernels,)
    factors: list[FloatArray | None]  # L of each kernel that has one
    images: list[FloatArray | None]  # K_mβ of the others, (n_machines, n)


class OwnFactor(NamedTuple):
    """A kernel that predicts by a factor in some machines: L = K[:, pivots] root^-1, scores L coef.

    Without root, L are the kernel's explicit features times a basis (n_features, rank).
    """

    pivots: NDArray[np.int64]
    root: FloatArray | None  # (rank, rank)
    basis: FloatArray | None
    coef: FloatArray  # (n_machines, rank), 0 of machines without it
    machines: NDArray[np.bool_]  # (n_machines,), which have it


def own_factors(model: Any, n_machines: int) -> dict[int, OwnFactor]:
    """The factors of a model by the number of their kernel; all machines of a kernel must have the same."""
    found: dict[int, OwnFactor] = {}
    for given in getattr(model, "kernel_factors_", ()):
        pivots, root, basis = np.asarray(model.support_)[given.support], given.root, given.basis
        _require_finite(given.coef)
        known = found.get(given.kernel)
        if known is None:
            rank = given.coef.shape[1]
            nothing, none = np.zeros((n_machines, rank)), np.zeros(n_machines, dtype=bool)
            known = OwnFactor(pivots, root, basis, nothing, none)
        elif not (
            np.array_equal(known.pivots, pivots) and _same(known.root, root) and _same(known.basis, basis)
        ):
            raise NotCertifiedError(f"the machines must have the same factor of kernel {given.kernel}.")
        known.coef[given.machines] = given.coef
        known.machines[given.machines] = True
        found[given.kernel] = known
    return found


def _same(one: FloatArray | None, other: FloatArray | None) -> bool:
    return one is other or (one is not None and other is not None and np.array_equal(one, other))


def monomials(X: FloatArray, degree: int, *, gamma: float = 1.0, coef0: float = 1.0) -> FloatArray:
    """Explicit features of (gamma x·z + coef0)^degree: products of degree variables, one of them constant.

    Of each multiset of variables once, in lexicographic order, times the root of the number of its orders.
    """
    table = np.sqrt(gamma) * X
    if coef0 > 0.0:
        table = np.hstack([table, np.full((len(X), 1), np.sqrt(coef0))])
    columns = []
    for chosen in combinations_with_replacement(range(table.shape[1]), degree):
        orders = len(set(permutations(chosen)))
        columns.append(np.sqrt(orders) * np.prod(table[:, list(chosen)], axis=1))
    return np.array(columns).T


def _pivot_features(K: FloatArray, pivots: NDArray[np.int64], root: FloatArray) -> FloatArray:
    """K[:, pivots] root^-1."""
    values = K[:, pivots].T
    return np.asarray(solve_triangular(root, values, trans="T", lower=False).T if pivots.size else values.T)


def _features(K: FloatArray, own: OwnFactor, m: int, explicit: FloatArray | None) -> FloatArray:
    """L of a kernel, checked against the kernel itself."""
    if own.root is None:
        if explicit is None or own.basis is None:
            raise NotCertifiedError(f"kernel {m} predicts by explicit features, and the judge has none.")
        L = explicit @ own.basis
    else:
        L = _pivot_features(K, own.pivots, own.root)
    error = float(np.abs(L @ L.T - K).max())
    if not error <= FACTOR_TOL * float(np.diag(K).max()):
        raise NotCertifiedError(
            f"kernel {m} must be the product of the factor of its {own.pivots.size} pivots; an entry is "
            f"off by {error:.1e}, at a largest diagonal entry of {np.diag(K).max():.1e}."
        )
    return L


def evaluate(
    kernels: Iterable[FloatArray],
    duals: FloatArray,
    weights: FloatArray,
    own: dict[int, OwnFactor],
    explicit: Callable[[int], FloatArray | None] | None = None,
) -> Parts:
    """Forms, norms and scores of machines with duals (n_machines, n) and weights (n_machines, n_kernels).

    The kernels are read one after the other, so that they may be made one at a time.

    Raises
    ------
    NotCertifiedError
        If a kernel is not the product of the factor that a model gives of it.
    """
    n_machines, n = duals.shape
    forms, norms, scores = np.zeros(weights.shape), np.zeros(weights.shape), np.zeros((n_machines, n))
    diagonals = np.zeros(weights.shape[1])
    factors: list[FloatArray | None] = []
    all_images: list[FloatArray | None] = []
    for m, K in enumerate(kernels):
        diagonals[m] = np.diag(K).mean()
        L, by_duals = None, np.ones(n_machines, dtype=bool)
        if m in own:
            L = _features(K, own[m], m, None if explicit is None else explicit(m))
            by_duals = ~own[m].machines
            sizes = (own[m].coef ** 2).sum(axis=1)
            with np.errstate(divide="ignore", invalid="ignore"):
                norms[:, m] = np.where(sizes > 0.0, sizes / np.maximum(weights[:, m], 0.0), 0.0)
            scores += own[m].coef @ L.T
        elif own and not weights[:, m].any():
            L = factor_of(K, tol=_OWN_FACTOR_TOL, max_rank=min(n, _OWN_FACTOR_RANK))
        by_duals &= weights[:, m] > 0.0
        factors.append(L)
        images = None
        if L is None or by_duals.any():
            wide = _images(K, duals)
            images = np.asarray(wide, dtype=float)
            forms[:, m] = (wide * duals).sum(axis=1)
            norms[by_duals, m] = weights[by_duals, m] * forms[by_duals, m]
            scores[by_duals] += weights[by_duals, m, None] * images[by_duals]
        if L is not None:
            forms[:, m] = (_images(np.ascontiguousarray(L.T), duals) ** 2).sum(axis=1)
        all_images.append(images)
    return Parts(forms, norms, scores, diagonals, factors, all_images)


# ---------------------------------------------------------------------- duals of kernels by factors
def polished(
    loss: Loss, duals: FloatArray, weights: FloatArray, parts: Parts, own: dict[int, OwnFactor]
) -> FloatArray | None:
    """Feasible duals nearby with L'β = coef / μ, as optimal ones have; None where the system is too large.

    Small pivots are known to few digits: L differs between two computations of it in its last columns, by
    more than large C forgive. Duals that belong to the solver's L are moved to the L at hand; since every
    feasible dual gives a lower bound, that takes nothing from the certificate.
    """
    n_machines, n = duals.shape
    columns, wanted = [np.ones((n, 1))], [np.full((n_machines, 1), loss.total)]
    for m, L in enumerate(parts.factors):
        if L is not None and m in own:
            mu = np.maximum(weights[:, m, None], 0.0)
            has = own[m].machines[:, None] & (mu > 0.0)
            aims = np.where(has, own[m].coef / np.where(mu > 0.0, mu, 1.0), duals @ L)
            columns.append(L)
            wanted.append(aims)
    columns[0] *= max(float(np.linalg.norm(L, axis=0).max()) for L in columns)  # the sum counts most
    wanted[0] = wanted[0] * columns[0][0, 0]
    Z, aim, moved = np.hstack(columns), np.hstack(wanted), duals.copy()
    for _ in range(2):
        for moves in loss.moves(moved):
            if moves.samples.size:
                step = _step(Z, aim - moved @ Z, moves)
                if step is None:
                    return None
                np.add.at(moved, (moves.to, moves.samples), step)
                if moves.taken_from.size:
                    np.add.at(moved, (moves.taken_from, moves.samples), -step)
        moved = loss.cut(moved)
    return moved


def _step(Z: FloatArray, residual: FloatArray, moves: Moves) -> FloatArray | None:
    """The least step along the moves that leaves the least of the residual (n_machines, n_columns)."""
    machines = np.unique(np.concatenate([moves.to, moves.taken_from]))
    size = moves.samples.size
    if float(machines.size * Z.shape[1]) * size > _MAX_SYSTEM:
        return None
    system = np.zeros((machines.size, Z.shape[1], size))
    each, rows = np.arange(size), Z[moves.samples]
    system[np.searchsorted(machines, moves.to), :, each] = rows
    if moves.taken_from.size:
        system[np.searchsorted(machines, moves.taken_from), :, each] = -rows
    flat = system.reshape(-1, size)
    return np.asarray(np.linalg.lstsq(flat, residual[machines].ravel(), rcond=1e-15)[0])


def forms_at(parts: Parts, duals: FloatArray, moved: FloatArray) -> FloatArray:
    """Upper bounds of β'K_mβ at duals that were moved: δ'K_mδ is at most tr K_m ‖δ‖²."""
    forms, change = parts.forms.copy(), moved - duals
    for m, (L, images) in enumerate(zip(parts.factors, parts.images, strict=True)):
        if L is not None:
            forms[:, m] = (_images(np.ascontiguousarray(L.T), moved) ** 2).sum(axis=1)
        elif images is not None:
            trace = parts.mean_diagonals[m] * duals.shape[1]
            forms[:, m] += 2.0 * (images * change).sum(axis=1) + trace * (change**2).sum(axis=1)
    return forms


# ---------------------------------------------------------------------- bounds
def support(q: FloatArray, norm: float) -> float:
    """The largest μ'q over μ ≥ 0 with ‖μ‖_norm ≤ 1."""
    q = np.maximum(q, 0.0)
    top = float(q.max(initial=0.0))
    if norm == 1.0 or top == 0.0:
        return top
    if np.isinf(norm):
        return float(q.sum())
    dual = norm / (norm - 1.0)
    return top * float(((q / top) ** dual).sum()) ** (1.0 / dual)


def check_weights(weights: FloatArray, norm: float) -> None:
    """Raise NotCertifiedError unless the weights are in their set, to rounding."""
    length = float(np.linalg.norm(weights, norm))
    if not (weights.min() >= -FEASIBILITY_TOL and length <= 1.0 + FEASIBILITY_TOL):
        raise NotCertifiedError(
            f"weights must be nonnegative with a norm of at most 1; got {weights.min():.3e} as the least and "
            f"the norm {length:.12g}."
        )


def lower_bound(
    loss: Loss, duals: FloatArray, forms: FloatArray, intercepts: FloatArray, norm: float
) -> float:
    """The dual value of machines that share their weights; what is left of the sums is paid for."""
    balance = duals.sum(axis=1) - loss.total
    size = max(float(np.abs(duals).sum(axis=1).max()), loss.total)
    if not (np.abs(balance) <= FEASIBILITY_TOL * size).all():
        return -np.inf
    unpaid = float(np.abs(balance) @ loss.intercept_sizes(intercepts))
    return loss.reward(duals) - unpaid - 0.5 * support(forms.sum(axis=0), norm)


def judge_machines(
    loss: Loss,
    parts: Parts,
    answers: Sequence[tuple[FloatArray, FloatArray]],
    weights: FloatArray,
    intercepts: FloatArray,
    norm: float,
    *,
    predicted: FloatArray | None = None,
    least_size: float = 0.0,
) -> Verdict:
    """Judge machines that share the weights (n_kernels,).

    Parameters
    ----------
    loss : Loss
    parts : Parts
        Of these machines, by :func:`evaluate` with feasible duals.
    answers : list of pairs
        Feasible duals (n_machines, n) and their forms (n_machines, n_kernels), those of the model first: the
        best lower bound counts.
    weights : array (n_kernels,)
    intercepts : array (n_machines,)
    norm : float
    predicted : array (n_machines, n), optional
        Scores with intercepts as the model predicts them: the larger upper bound of both counts.
    least_size : float
        What the gap is at least relative to.

    Raises
    ------
    NotCertifiedError
        If the weights are not in their set, or no duals have the sum that they must have.
    """
    check_weights(weights, norm)
    bounds = [lower_bound(loss, duals, forms, intercepts, norm) for duals, forms in answers]
    lower = max(bounds)
    if np.isneginf(lower):
        raise NotCertifiedError(f"the duals of a machine must sum to {loss.total:g}; they do not.")
    every = [parts.scores + intercepts[:, None]] + ([] if predicted is None else [predicted])
    upper = 0.5 * float(parts.norms.sum()) + max(loss.risk(scores, intercepts) for scores in every)
    size = max(abs(upper), least_size, 1e-300)
    gaps = [(upper - bound) / size for bound in (lower, bounds[0])]
    gap, as_given = (gap if np.isfinite(gap) else np.inf for gap in gaps)
    return Verdict(upper, lower, gap, as_given, every[0].T)


# ---------------------------------------------------------------------- fitted estimators
def loss_of(model: Any, y: ArrayLike | None, n: int) -> Loss:
    """The loss of a fitted MKLClassifier (ovr, shared or joint), MKLRegressor, MKLRidge or MKLOneClass."""
    kind = type(model).__name__
    if kind == "MKLOneClass":
        return OneClass(np.zeros((1, n)), float(model.nu))
    values = np.asarray(y)
    if kind == "MKLRegressor":
        return EpsilonInsensitive(values[None].astype(float), float(model.C_), float(model.epsilon_))
    if kind == "MKLRidge":
        if not model.fit_intercept:
            raise ValueError("the judge needs an intercept; got fit_intercept=False.")
        return SquaredError(np.atleast_2d(values.T.astype(float)), float(model.alpha))
    if kind != "MKLClassifier" or model.multiclass == "ovo":
        raise ValueError(f"the judge does not know {kind} with these parameters.")
    is_class = values[None] == np.asarray(model.classes_)[:, None]
    if len(is_class) > 2 and model.multiclass == "joint":
        return JointHinge(is_class.astype(float), float(model.C))
    signs = np.where(is_class if len(is_class) > 2 else is_class[1:], 1.0, -1.0)
    return (Hinge if model.loss == "hinge" else SquaredHinge)(signs, float(model.C))


def judge_model(
    model: Any,
    kernels: Iterable[FloatArray],
    y: ArrayLike | None = None,
    *,
    predicted: ArrayLike | None = None,
    n_distinct: int | None = None,
    explicit: Callable[[int], FloatArray | None] | None = None,
) -> Verdict:
    """Judge a fitted estimator without costs and weights of samples.

    Parameters
    ----------
    model : fitted MKLClassifier (not one versus one), MKLRegressor, MKLRidge or MKLOneClass
    kernels : iterable of arrays (n, n)
        The kernels of the training samples, made without the model.
    y : array (n,)
        None for a one-class machine.
    predicted : array (n,) or (n, n_machines), optional
        What the model predicts for the training samples, intercepts included.
    n_distinct : int, optional
        The number of distinct samples; the gap of a one-class machine is relative to at least a thousandth of
        tr(K)/(2n²), n this number and K the smallest kernel.

    explicit : function, optional
        The explicit features (n, rank) of a kernel by its number, made without the model.

    Returns
    -------
    Verdict
        Of the worst machine, where each has weights of its own.

    Raises
    ------
    NotCertifiedError
        If duals, weights or factors are not what a certificate needs.
    """
    kernels = iter(kernels)
    first = next(kernels)
    n = len(first)
    loss = loss_of(model, y, n)
    support_rows = np.asarray(model.support_)
    duals = np.zeros(loss.targets.shape)
    duals[:, support_rows] = model.dual_coef_
    weights = np.asarray(model.machine_weights_, dtype=float)
    intercepts = np.asarray(model.intercept_, dtype=float)
    _require_finite(duals, weights, intercepts)
    own = own_factors(model, len(duals))
    duals = loss.feasible(duals)
    parts = evaluate(_chained(first, kernels), duals, weights, own, explicit)
    answers = [(duals, parts.forms)]
    moved = polished(loss, duals, weights, parts, own) if own else None
    if moved is not None:
        answers.append((moved, forms_at(parts, duals, moved)))
    if predicted is not None:
        predicted = np.asarray(predicted, dtype=float).reshape(n, -1).T
        _require_finite(predicted)
    least = 0.0
    if isinstance(loss, OneClass):
        present = parts.mean_diagonals[parts.mean_diagonals > 0.0]
        size = max(float(present.min()), _LEAST_KERNEL * float(present.max())) if present.size else 0.0
        least = _LEAST_SHARE * 0.5 * size / (n_distinct or n)
    verdicts = [
        judge_machines(
            loss.rows(rows),
            _of_machines(parts, rows),
            [(given[rows], forms[rows]) for given, forms in answers],
            weights[rows.start],
            intercepts[rows],
            float(model.norm),
            predicted=None if predicted is None else predicted[rows],
            least_size=least,
        )
        for rows in _groups(model, loss)
    ]
    worst = max(verdicts, key=lambda verdict: abs(verdict.gap))
    return replace(worst, scores=(parts.scores + intercepts[:, None]).T)


def _chained(first: FloatArray, rest: Iterable[FloatArray]) -> Iterable[FloatArray]:
    yield first
    yield from rest


def _of_machines(parts: Parts, rows: slice) -> Parts:
    return parts._replace(forms=parts.forms[rows], norms=parts.norms[rows], scores=parts.scores[rows])


def _groups(model: Any, loss: Loss) -> Sequence[slice]:
    """The machines that share weights."""
    n_machines = len(loss.targets)
    if getattr(model, "multiclass", "shared") == "ovr":
        return [slice(t, t + 1) for t in range(n_machines)]
    return [slice(0, n_machines)]


def _require_finite(*arrays: FloatArray) -> None:
    if not all(np.isfinite(values).all() for values in arrays):
        raise NotCertifiedError("duals, weights, intercepts and predictions must be finite.")

"""Kernel alignment: the measure, its table over a stack, and the weights that maximise it.

The alignment is the cosine between two matrices, A(K, L) = ⟨K, L⟩ / (‖K‖ ‖L‖). For a stack K_1 … K_m over n
points of which the first N have labels y = ±1, with T = yy' on their block and zero elsewhere,

    q_i = ⟨K_i, T⟩ = y'K_i,tr y,     S_ij = ⟨K_i, K_j⟩ over all n rows,     A(K(μ), T) = q'μ / (‖T‖ √(μ'Sμ)).

Centred, every K_i is replaced by HK_iH with H = I − 11'/n, and T by HTH.

**Learned weights** (:func:`learn_alignment`). The combination of kernels of best alignment solves

    max_μ  q'μ    μ'Sμ = 1.

The optimum is a multiple of v = argmin ½v'Sv − q'v, where

    nonnegative   v ≥ 0: nonnegative least squares;
    free          K(v) ⪰ 0: v = S⁻¹q if that is so, else an interior point method;
    spectral      K_i = v_i v_i' with orthonormal v_i: S = I and μ = q / |q|, q_i = (v_i[:N]'y)².

Every value is certified by weak duality: for any Z ⪰ 0 and p_i = q_i + tr(ZK_i), each feasible μ has
q'μ ≤ p'μ ≤ √(p'S⁻¹p). For nonnegative weights the slack p − q ≥ 0 needs no Z.

All kernels are scaled to Frobenius norm one inside, and T = yy' too: q and S become cosines.

**Free weights** (:func:`align_in_cone`). In coordinates where the combinations are (nearly) orthonormal
matrices B_j, with g_j = ⟨B_j, T⟩ and G their inner products, the weights of best alignment are a multiple of
the projection of T on the cone,

    min ½x'Gx − g'x,   K(x) = Σ_j x_j B_j ⪰ 0,      optimal when   Gx = g + [tr(Z B_j)],  K(x)Z = 0,  Z ⪰ 0.

Newton's method follows K(x)Z = tI as t falls to 0, with Mehrotra's correction. Every iterate gives two
certificates: x is feasible, so that g'x / √(x'Gx) is attained, and with Z comes the bound
√(p'G⁻¹p), p_j = g_j + tr(Z B_j). The cost of an iteration is (2m + 10) n³ operations.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import nnls

from .._typing import Array
from .._validation import check_choice, check_gram, check_square, smallest_eigenvalue
from ..kernels._rows import row_blocks
from ..kernels.transforms import Center
from .optim.loop import Recorder, Result, Status
from .optim.psd_pair import PSDPair, PSDStep, cholesky
from .optim.weight_sets import Spectrahedron

_BLOCK_ELEMENTS = 1 << 17
_FLAT = 1e-12  # relative to the entries: what centring a constant matrix leaves is rounding
_HUGE = 1e280
_TO_THE_BOUNDARY = 0.99
_SHORT_STEP = 0.05  # below this a plain centring step is taken instead
_PATIENCE = 8
_ROUNDING = 1e-13  # a smallest eigenvalue above minus this, relative to the norm, is zero
WEIGHTS = ("nonnegative", "free")
_UNALIGNED = 1e-12
_BEYOND = 1e-4  # of tol: weights are known to the square root of the gap only, and iterations are cheap
DEPENDENT = 1e-12  # eigenvalues of S, for kernels of norm one: dependent to a millionth
_ROUNDING_OF_WEIGHTS = 1e-15  # below this an eigenvalue of S is rounding


# ---------------------------------------------------------------------- the measure
def alignment(K1: Any, K2: Any, *, centered: bool = False) -> float:
    """The alignment of two kernels, ⟨K1, K2⟩ / (‖K1‖ ‖K2‖): the cosine of their angle, in Frobenius norm.

    Parameters
    ----------
    K1, K2 : array-like of shape (n_samples, n_samples)
        Symmetric; for the alignment with labels y in {−1, 1}, give ``np.outer(y, y)``.
    centered : bool, default=False
        Whether to centre both matrices first (HKH with H = I − 11ᵀ/n), which takes away what a constant
        added to a kernel, or classes of unequal size, would add to the alignment.

    Returns
    -------
    float in [−1, 1]; in [0, 1] if both are positive semidefinite

    Examples
    --------
    >>> y = np.array([1.0, 1.0, -1.0])
    >>> alignment(np.eye(3), np.outer(y, y))
    0.577350
    >>> alignment(5.0 + np.outer(y, y), np.outer(y, y), centered=True)
    1.0
    """
    first, second = _direction(K1, "K1", centered), _direction(K2, "K2", centered)
    if first.shape != second.shape:
        raise ValueError(
            f"K1 and K2 must be over the same samples; got shapes {first.shape} and {second.shape}."
        )
    return float(np.clip(np.vdot(first, second), -1.0, 1.0))


def _direction(K: Any, label: str, centered: bool) -> Array:
    """K, centred if asked for, as float64 of Frobenius norm 1."""
    K = check_square(K, label)
    if check_gram(K, label).degenerate == "all zero":
        raise ValueError(f"an alignment needs matrices that are not zero; {label} is.")
    K = K / np.float64(np.abs(K).max())  # in double precision, and squares neither overflow nor underflow
    if centered:
        K = Center().fit_train(K)[1]
    norm = float(np.linalg.norm(K))
    if centered and norm <= _FLAT * len(K):
        raise ValueError(f"a centred alignment needs matrices that are not constant; {label} is.")
    K /= norm
    return K


def label_alignment(K: Array, y: Array, *, centered: bool = False) -> float:
    """The alignment of K (n, n) with yy' for labels y (n,), without forming yy'; 0 for a K that vanishes."""
    if centered:
        K, y = Center().fit_train(K)[1], y - y.mean()
    size = float(np.linalg.norm(K)) * float(y @ y)
    return float(y @ (K @ y)) / size if size > 0.0 else 0.0


def alignment_slope(K: Array, T: Array, *, centered: bool = False) -> tuple[float, Array]:
    """A(K, TT') and its derivatives in the entries of K (n, n), for T (n, k); K is not modified.

    ∂A/∂K = TT' / (‖K‖ ‖TT'‖) − A K / ‖K‖², of HKH and HT if centred. nan where K vanishes.
    """
    if centered:
        K, T = Center().fit_train(K)[1], T - T.mean(axis=0)
    size, target = float(np.linalg.norm(K)), float(np.linalg.norm(T.T @ T))
    if not size > 0.0 or not target > 0.0:
        return np.nan, np.full(K.shape, np.nan)
    value = float(np.vdot(T, K @ T)) / (size * target)
    return value, T @ T.T / (size * target) - (value / size**2) * K


@dataclass(frozen=True, eq=False)
class StackAlignment:
    """The inner products of a stack with the labels and with itself, as cosines."""

    target: Array  # (m,), q_i / (‖K_i‖ ‖T‖)
    pairs: Array  # (m, m), S_ij / (‖K_i‖ ‖K_j‖)
    norms: Array  # (m,), ‖K_i‖
    target_norm: float  # ‖T‖

    @property
    def q(self) -> Array:
        """⟨K_i, T⟩, (m,)."""
        return self.target * self.norms * self.target_norm

    @property
    def S(self) -> Array:
        """⟨K_i, K_j⟩, (m, m)."""
        return self.pairs * np.outer(self.norms, self.norms)

    def value_and_gradient(self, mu: Array) -> tuple[float, Array]:
        """A(K(μ), T) and its derivatives in μ, (m,).

        With w_i = μ_i ‖K_i‖, t the cosines to the labels and P those between kernels, A = t'w / √(w'Pw)
        and ∂A/∂w = t / √(w'Pw) − A Pw / w'Pw.
        """
        w = mu * self.norms
        Pw = self.pairs @ w
        size = float(np.sqrt(w @ Pw))
        value = float(self.target @ w) / size
        return value, (self.target / size - value * Pw / size**2) * self.norms

    def dual_factor(self, w: Array) -> float:
        """The smallest c with cPw ≥ t, for weights w ≥ 0 (m,) of kernels of norm one.

        No weights ≥ 0 have an alignment above c √(w'Pw): t'v ≤ c w'Pv ≤ c √(w'Pw) for v'Pv = 1.
        """
        wanted = self.target > 0.0
        if not wanted.any():
            return 0.0
        Pw = self.pairs[wanted] @ w
        return float((self.target[wanted] / np.maximum(Pw, 1e-300)).max())


def align_stack(Ks: Array, y: Array, *, centered: bool = False) -> StackAlignment:
    """All cosines of a stack (m, n, n); it is read once (twice if centred), a block of rows at a time.

    ``y`` are labels ±1 of the first rows, (N,); or a matrix (N, k) whose yy' is the kernel to align with.

    Examples
    --------
    >>> y = np.array([1.0, -1.0])
    >>> table = align_stack(np.stack([np.eye(2), np.outer(y, y)]), y)
    >>> table.q.round(6).tolist(), table.S.round(6).tolist()
    ([2.0, 4.0], [[2.0, 2.0], [2.0, 4.0]])
    """
    m, n = Ks.shape[0], Ks.shape[1]
    units = np.array([float(K.diagonal().max()) for K in Ks])  # no entry is larger: nothing overflows
    _require_moderate(units)
    means = np.zeros((m, n))
    if centered:
        means = np.stack([K.mean(axis=1, dtype=np.float64) / unit for K, unit in zip(Ks, units, strict=True)])
        means -= 0.5 * means.mean(axis=1, keepdims=True)  # twice half of the grand mean comes back
    labels = np.zeros((n, *y.shape[1:]))
    labels[: len(y)] = y
    q, S = np.zeros(m), np.zeros((m, m))
    for rows in row_blocks(n, m * n, _BLOCK_ELEMENTS):
        block = Ks[:, rows] / units[:, None, None]
        if centered:
            block -= means[:, rows, None]
            block -= means[:, None, :]
        q += ((block @ labels) * labels[rows]).reshape(m, -1).sum(axis=1)
        flat = block.reshape(m, -1)
        S += flat @ flat.T
    return _cosines(q, S, units, labels - labels.mean(axis=0) if centered else labels)


def _require_moderate(largest: Array) -> None:
    """Refuse kernels that vanish, and those whose weights or norms might overflow."""
    for index, value in enumerate(largest):
        if not value > 0.0:
            raise ValueError(f"kernels must not vanish; kernel {index} has no positive diagonal entry.")
        if not 1.0 / _HUGE < value < _HUGE:
            raise ValueError(
                f"the entries of kernel {index} are as large as {value:.1e}, so that its weight would "
                "overflow or vanish. Scale it to trace n first."
            )


def _cosines(q: Array, S: Array, units: Array, labels: Array) -> StackAlignment:
    sizes = np.sqrt(np.diag(S))
    flat = np.flatnonzero(sizes <= _FLAT * len(labels))
    if flat.size:
        raise ValueError(
            f"a centred alignment needs kernels that are not constant; kernel {flat[0]} is. Remove it."
        )
    target_norm = float(np.linalg.norm(labels.T @ labels))
    pairs = S / np.outer(sizes, sizes)
    np.fill_diagonal(pairs, 1.0)
    return StackAlignment(q / (sizes * target_norm), pairs, sizes * units, target_norm)


# ---------------------------------------------------------------------- weights of any sign
@dataclass(frozen=True, eq=False)
class Aligned:
    """Weights and certificate for kernels, and a target, of Frobenius norm one."""

    w: Array  # (m,), of any length
    upper: float  # no feasible w of norm one has a larger alignment
    slack: Array  # (m,), what the certificate adds to the cosines
    Z: Array | None  # (n, n), slack_i = tr(Z K_i)
    n_iter: int
    status: Status  # of the iterations
    rank: int  # independent kernels


def align_in_cone(
    Ks: Array, y: Array, table: StackAlignment, basis: Array, *, tol: float, max_iter: int
) -> Aligned:
    """The weights of any sign whose combination is positive semidefinite and best aligned.

    ``table`` is that of the kernels (m, n, n) and the labels of the first points. ``basis`` (m, r) are
    weights, for members of norm one, of r (nearly) orthonormal combinations; ``tol`` is a relative gap.
    """
    g, G = _inner_products(Ks, y, basis / table.norms[:, None])
    g /= table.target_norm
    cone = Spectrahedron(Ks, 1.0 / table.norms)
    cone.Ks = _recombined(cone.Ks, basis)  # the same cone in other coordinates
    method = _ConeProjection(cone, g, G)
    x = method.unconstrained()
    if _is_semidefinite(cone.combine(x)):
        return Aligned(basis @ x, method.bound(g), np.zeros(len(Ks)), None, 0, Status.OPTIMAL, g.size)
    method.start(np.linalg.pinv(basis) @ np.ones(len(Ks)))
    record = method.run(tol, max_iter)
    Z = method.best_Z if cone.basis is None else cone.basis @ method.best_Z @ cone.basis.T
    slack = np.array([np.vdot(K, Z) for K in Ks]) / table.norms
    return Aligned(basis @ method.best_x, method.upper, slack, Z, record.n_iter, record.status, g.size)


def _inner_products(Ks: Array, y: Array, factors: Array) -> tuple[Array, Array]:
    """⟨B_j, T⟩ and ⟨B_j, B_k⟩ of B_j = Σ_i factors_ij K_i.

    Taken from the matrices: what B'SB and B'q would lose where kernels are nearly dependent is kept, and
    nothing is left to the range on which the cone is described.
    """
    m, n, r = Ks.shape[0], Ks.shape[1], factors.shape[1]
    labels = np.zeros(n)
    labels[: y.size] = y
    g, G = np.zeros(r), np.zeros((r, r))
    for rows in row_blocks(n, m * n):
        block = factors.T @ Ks[:, rows].reshape(m, -1)
        G += block @ block.T
        g += (block.reshape(r, -1, n) @ labels) @ labels[rows]
    return g, G


def _is_semidefinite(K: Array) -> bool:
    K.flat[:: len(K) + 1] += _ROUNDING * float(np.linalg.norm(K))
    return cholesky(K) is not None


def _recombined(Ks: Array, basis: Array) -> Array:
    """Σ_i basis_ij K_i for every j: (r, p, p), a block of rows at a time in the memory of Ks."""
    m, p, r = Ks.shape[0], Ks.shape[1], basis.shape[1]
    for rows in row_blocks(p, m * p):
        block = Ks[:, rows].reshape(m, -1)
        Ks[:r, rows] = (basis.T @ block).reshape(r, -1, p)
    return Ks[:r]


class _ConeProjection:
    """The iterate, its Newton system and the best certificates so far; G (r, r) is positive definite."""

    def __init__(self, cone: Spectrahedron, g: Array, G: Array) -> None:
        self.cone, self.g, self.G = cone, g, G
        self.G_factor = cho_factor(G, lower=True)

    def unconstrained(self) -> Array:
        """G⁻¹g."""
        return np.asarray(cho_solve(self.G_factor, self.g))

    def bound(self, p: Array) -> float:
        """√(p'G⁻¹p)."""
        return float(np.sqrt(max(p @ cho_solve(self.G_factor, p), 0.0)))

    def start(self, x: Array) -> None:
        """From weights inside the cone, at the best length along them."""
        self.x = x * (float(self.g @ x) / float(x @ self.G @ x))
        self.pair = PSDPair(self.cone, self.x, float(self.x @ self.G @ self.x) / self.cone.size)
        self.lower, self.upper = -np.inf, np.inf

    @property
    def gap(self) -> float:
        return (self.upper - self.lower) / self.upper

    def run(self, tol: float, max_iter: int) -> Recorder:
        """Iterate until the certificates meet, or do not come closer any more."""
        record, waited = Recorder(tol, max_iter), 0
        while True:
            waited = 0 if self.certify() else waited + 1
            if record.note({"iteration": len(record.history), "objective": self.lower, "gap": self.gap}):
                break
            if waited >= _PATIENCE or not self.advance():
                record.stop(Status.STALLED)
                break
        return record

    def certify(self) -> bool:
        """Both certificates of the iterate; whether one of them is better than before."""
        lower = float(self.g @ self.x) / float(np.sqrt(self.x @ self.G @ self.x))
        upper = self.bound(self.g + self.cone.traces(self.pair.Z))
        better = lower > self.lower or upper < self.upper
        if lower > self.lower:
            self.lower, self.best_x = lower, self.x
        if upper < self.upper:
            self.upper, self.best_Z = upper, self.pair.Z
        return better

    def advance(self) -> bool:
        """One iteration; False if floating point allows none."""
        matrix = self.G + self.pair.prepare()
        self.scaling = 1.0 / np.sqrt(np.diag(matrix))
        self.matrix = matrix * np.outer(self.scaling, self.scaling)
        if not np.isfinite(self.matrix).all():
            return False
        self.residual = self.g + self.pair.traces - self.G @ self.x
        t = self.pair.gap / self.cone.size
        dx, first = self._direction(0.0)
        reduced = self.pair.gap_after(first, min(1.0, self.pair.longest(first))) / self.pair.gap
        centring = min(1.0, max(1e-4, max(reduced, 0.0) ** 3))
        dx, step = self._direction(centring * t, self.pair.correction(first))
        length = self.pair.longest(step)
        if length < _SHORT_STEP:
            dx, step = self._direction(0.8 * t)
            length = self.pair.longest(step)
        length = self.pair.advance(step, min(1.0, _TO_THE_BOUNDARY * length))
        self.x = self.x + length * dx
        return length > 0.0

    def _direction(self, target: float, correction: Array | None = None) -> tuple[Array, PSDStep]:
        rhs = self.residual + target * self.pair.inverse_traces - self.pair.traces
        if correction is not None:
            rhs = rhs - self.cone.traces(correction)
        dx = np.linalg.lstsq(self.matrix, rhs * self.scaling, rcond=None)[0] * self.scaling
        return dx, self.pair.step(dx, target, correction)


# ---------------------------------------------------------------------- learned weights
@dataclass(frozen=True, eq=False)
class AlignmentResult(Result):
    """Weights of best alignment, in the units of the caller's kernels.

    The objective is q'μ, computed from the learned matrix, the gap (upper_bound − objective) / upper_bound.
    """

    weights: Array  # (m,), μ with ‖K(μ)‖ = √(μ'Sμ) = 1 over all points
    upper_bound: float  # √((q + slack)'S⁻¹(q + slack)): no feasible weights have a larger objective
    # of the labelled block of K(μ) with yy'; with unlabelled points, the objective is not a multiple of it
    alignment_train: float
    slack: Array  # (m,), tr(Z K_i) for free weights, the multipliers of μ ≥ 0 for nonnegative ones
    Z: Array | None  # (n, n), the positive semidefinite multiplier of K(μ) ⪰ 0 (None: it is zero)
    smallest_eigenvalue: float | None  # of K(μ) over all points, for free weights
    rank: int  # how many kernels are linearly independent; if not all are, other weights give the same matrix


def learn_alignment(
    Ks: Array,
    y: Array,
    weights: str = "nonnegative",
    *,
    tol: float = 1e-8,
    max_iter: int = 100,
) -> AlignmentResult:
    """Learn the weights of a stack (m, n, n) by its alignment with the labels ±1 of the first N points.

    ``"free"`` weights may be negative where K(μ) stays positive semidefinite on all n points. ``tol`` is the
    relative gap to reach, ``max_iter`` of the interior point method.

    Examples
    --------
    >>> y = np.array([1.0, 1.0, -1.0])
    >>> Ks = np.stack([np.outer(y, y) + np.eye(3), np.eye(3)])
    >>> learn_alignment(Ks, y, "nonnegative").weights.round(6).tolist()
    [0.235702, 0.0]
    >>> result = learn_alignment(Ks, y, "free")
    >>> result.weights.round(6).tolist(), round(result.alignment_train, 6)
    ([0.333333, -0.333333], 1.0)
    """
    check_choice("weights", weights, WEIGHTS)
    table = align_stack(Ks, y)
    _require_aligned(table.target)
    basis = independent_directions(table.pairs, DEPENDENT)
    if weights == "nonnegative":
        found = align_by_least_squares(table, rank=basis.shape[1])
    else:
        found = align_in_cone(Ks, y, table, basis, tol=_BEYOND * tol, max_iter=max_iter)
    return measured(Ks, y, table, found, signed=weights == "free", tol=tol)


def spectral_alignment(V: Array, y: Array) -> AlignmentResult:
    """Weights of v_i v_i' for the orthonormal columns of V (n, m), in closed form: μ_i ∝ (v_i[:N]'y)².

    Examples
    --------
    >>> spectral_alignment(np.eye(3), np.array([1.0, -1.0])).weights.round(6).tolist()
    [0.707107, 0.707107, 0.0]
    """
    labelled = V[: y.size]
    q = (labelled.T @ y) ** 2
    _require_aligned(q / float(y @ y))
    objective = float(np.linalg.norm(q))
    mu = q / objective
    return AlignmentResult(
        weights=mu,
        objective=objective,
        upper_bound=objective,
        gap=0.0,
        alignment_train=label_alignment((labelled * mu) @ labelled.T, y),
        slack=np.zeros(mu.size),
        Z=None,
        smallest_eigenvalue=None,
        rank=mu.size,
        n_iter=0,
        status=Status.OPTIMAL,
    )


def independent_directions(pairs: Array, tolerance: float) -> Array:
    """B (m, r) with B'SB = I: combinations of the kernels that are orthonormal matrices.

    Combinations that vanish, because kernels are linearly dependent, are left out: weights along them change
    neither the matrix nor its alignment. The weights found are the shortest ones.
    """
    values, vectors = scipy.linalg.eigh(pairs, check_finite=False)
    kept = values > tolerance * values[-1]
    return vectors[:, kept] / np.sqrt(values[kept])


def _require_aligned(cosines: Array) -> None:
    best = float(cosines.max())
    if not best > _UNALIGNED:
        raise ValueError(
            "alignment needs a kernel with y'Ky > 0 on the labelled points; the largest alignment of one "
            f"kernel is {best:.1e}. Use kernels that are related to these labels."
        )


def align_by_least_squares(table: StackAlignment, rank: int) -> Aligned:
    """min |Rv − R⁻'t|² over v ≥ 0 with S = R'R, and the bound of its optimality conditions.

    Su ≥ t in every entry makes u a dual point: t'w ≤ u'Sw ≤ √(u'Su) for every w ≥ 0 of norm one. Rounding
    aside v is one; a factor just above 1 takes the rounding away.
    """
    basis = independent_directions(table.pairs, _ROUNDING_OF_WEIGHTS)
    v, _ = nnls(np.linalg.pinv(basis), basis.T @ table.target, maxiter=100 + 30 * table.target.size)
    Sv = table.pairs @ v
    factor = table.dual_factor(v)
    return Aligned(
        w=v,
        upper=factor * float(np.sqrt(v @ Sv)),
        slack=np.maximum(factor * Sv - table.target, 0.0),
        Z=None,
        n_iter=0,
        status=Status.OPTIMAL,
        rank=rank,
    )


def measured(
    Ks: Array, y: Array, table: StackAlignment, found: Aligned, *, signed: bool, tol: float
) -> AlignmentResult:
    """Measure what was found on the matrix itself, in the caller's units."""
    factors = found.w / table.norms
    K = factors[0] * Ks[0]
    for factor, member in zip(factors[1:], Ks[1:], strict=True):
        K += factor * member
    norm = float(np.linalg.norm(K))
    K /= norm
    train = K[: y.size, : y.size]
    objective = float(y @ (train @ y))
    upper = max(found.upper * table.target_norm, objective)
    gap = (upper - objective) / upper
    return AlignmentResult(
        weights=factors / norm,
        objective=objective,
        upper_bound=upper,
        gap=gap,
        alignment_train=label_alignment(train, y),
        slack=found.slack * table.norms * table.target_norm,
        Z=None if found.Z is None else found.Z * table.target_norm,
        smallest_eigenvalue=smallest_eigenvalue(K) if signed else None,
        rank=found.rank,
        n_iter=found.n_iter,
        status=_status(found.status, gap <= tol),
    )


def _status(of_the_iterations: Status, certified: bool) -> Status:
    """What the learned matrix proves counts, not what the method believed."""
    if certified:
        return Status.OPTIMAL
    return Status.MAX_ITER if of_the_iterations == Status.MAX_ITER else Status.STALLED

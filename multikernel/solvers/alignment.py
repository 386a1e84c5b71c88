"""Weights that align a combination of kernels with the labels as well as any of its kind.

    max_μ  q'μ    μ'Sμ = 1,    q_i = y'K_i,tr y,    S_ij = ⟨K_i, K_j⟩ over all n points,

y the labels ±1 of the first N points. The optimum is a multiple of v = argmin ½v'Sv − q'v, where

    nonnegative   v ≥ 0: nonnegative least squares;
    free          K(v) ⪰ 0: v = S⁻¹q if that is so, else an interior point method;
    spectral      K_i = v_i v_i' with orthonormal v_i: S = I and μ = q / |q|, q_i = (v_i[:N]'y)².

Every value is certified by weak duality: for any Z ⪰ 0 and p_i = q_i + tr(ZK_i), each feasible μ has
q'μ ≤ p'μ ≤ √(p'S⁻¹p). For nonnegative weights the slack p − q ≥ 0 needs no Z.

All kernels are scaled to Frobenius norm one inside, and T = yy' too: q and S become cosines.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from scipy.optimize import nnls

from .._validation import check_choice, smallest_eigenvalue
from ..core.optim.loop import Result, Status
from ..criteria.alignment import StackAlignment, align_stack, label_alignment
from .alignment_cone import Aligned, align_in_cone

Array = np.ndarray[Any, np.dtype[Any]]

WEIGHTS = ("nonnegative", "free")
_UNALIGNED = 1e-12
_BEYOND = 1e-4  # of tol: weights are known to the square root of the gap only, and iterations are cheap
DEPENDENT = 1e-12  # eigenvalues of S, for kernels of norm one: dependent to a millionth
_ROUNDING = 1e-15  # below this an eigenvalue of S is rounding


@dataclass(frozen=True, eq=False)
class AlignmentResult(Result):
    """Weights of best alignment, in the units of the caller's kernels.

    Attributes
    ----------
    weights : array (m,), μ with ‖K(μ)‖ = √(μ'Sμ) = 1 over all points
    objective : float, q'μ, computed from the learned matrix
    upper_bound : float, √((q + slack)'S⁻¹(q + slack)): no feasible weights have a larger objective
    gap : float, (upper_bound − objective) / upper_bound, at least 0
    alignment_train : float, alignment of the labelled block of K(μ) with yy'; where there are unlabelled
        points, the objective is not a multiple of it
    slack : array (m,), tr(Z K_i) for free weights, the multipliers of μ ≥ 0 for nonnegative ones
    Z : array (n, n) or None, the positive semidefinite multiplier of K(μ) ⪰ 0 (None: it is zero)
    smallest_eigenvalue : float or None, of K(μ) over all points, for free weights
    rank : int, how many kernels are linearly independent; if not all are, other weights give the same matrix
    n_iter : int, iterations of the interior point method
    status : Status
    """

    weights: Array
    upper_bound: float
    alignment_train: float
    slack: Array
    Z: Array | None
    smallest_eigenvalue: float | None
    rank: int


def learn_alignment(
    Ks: Array,
    y: Array,
    weights: str = "nonnegative",
    *,
    tol: float = 1e-8,
    max_iter: int = 100,
) -> AlignmentResult:
    """Learn the weights of a stack by alignment.

    Parameters
    ----------
    Ks : array (m, n, n), symmetric positive semidefinite, not zero
        Never modified.
    y : array (N,), N ≤ n
        Labels ±1 of the first N points, both present.
    weights : {"nonnegative", "free"}
        "free" weights may be negative where K(μ) stays positive semidefinite on all n points.
    tol : float
        Relative gap to reach.
    max_iter : int
        Of the interior point method.

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
    """Weights of v_i v_i' for orthonormal v_i, in closed form: μ_i ∝ (v_i[:N]'y)².

    Parameters
    ----------
    V : array (n, m), orthonormal columns
    y : array (N,), N ≤ n
        Labels ±1 of the first N points.

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
            f"kernel is {best:.1e}. Give kernels that know something of these labels."
        )


def align_by_least_squares(table: StackAlignment, rank: int) -> Aligned:
    """min |Rv − R⁻'t|² over v ≥ 0 with S = R'R, and the bound of its optimality conditions.

    Su ≥ t in every entry makes u a dual point: t'w ≤ u'Sw ≤ √(u'Su) for every w ≥ 0 of norm one. Rounding
    aside v is one; a factor just above 1 takes the rounding away.
    """
    basis = independent_directions(table.pairs, _ROUNDING)
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

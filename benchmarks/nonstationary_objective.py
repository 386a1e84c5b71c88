"""The judge of projections of kernel mixtures: primal and dual value, from duals and offsets alone.

Two classes with one component for each of m kernels. Posteriors q_t(j) say which component of its own class
explains a sample; H(q_t) is their entropy. Duals u_tr ≥ 0 of sample t and component r of the other class,
λ_t = Σ_r u_tr ≤ C, give every component coefficients s_t(j), λ_t q_t(j) for the samples of its own class and
−u_tj for the others, and scores

    F_j(x_t) = offset_j + Σ_s s_s(j) k_j(x_s, x_t) − k_j(x_t, x_t) / 2.

* Above: ½ Σ_j s(j)'K_j s(j) + C Σ_t [γ − H(q_t) − Σ_j q_t(j) F_j(x_t) + max_r F_r(x_t)]₊, whatever u and the
  offsets are.
* Below: Σ_tr u_tr (γ − H(q_t) + ½ Σ_j q_t(j) k_j(t, t) − ½ k_r(t, t)) − ½ Σ_j s(j)'K_j s(j), if all
  Σ_t s_t(j) are 0. What is left of these sums is paid for at twice the offsets, which are their prices.

What a contestant says of itself is not looked at. Only NumPy is used here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.objective import InfeasibleError

FloatArray = NDArray[np.float64]
Pair = tuple[FloatArray, FloatArray]

_ROUNDING = 1e-9
_IMBALANCE = 1e-6


@dataclass(frozen=True)
class ProjectionVerdict:
    """What the judge found.

    Attributes
    ----------
    value : float
        The primal value of the mixtures, never below the optimum.
    lower : float
        The dual value, less what is paid for the balance.
    gap : float
        (value − lower) / (1 + |lower|).
    imbalance : float
        The largest |Σ_t s_t(j)|, relative to 1 + Σ λ.
    """

    value: float
    lower: float
    gap: float
    imbalance: float


def judge_projection(
    kernels: FloatArray,
    y: ArrayLike,
    posteriors: Pair,
    duals: Pair,
    offsets: Pair,
    *,
    C: float,
    margin: float,
) -> ProjectionVerdict:
    """Judge duals (n_positive, m) and (n_negative, m) and the offsets (m,) of both classes.

    Raises
    ------
    InfeasibleError
        If a dual is negative, the duals of a sample exceed C, or coefficients do not balance, to rounding.
    ValueError
        If shapes do not fit or a number is not finite.
    """
    y = np.asarray(y, dtype=np.float64)
    rows = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    _check_shapes(kernels, rows, posteriors, duals, offsets)
    _check_bounds(duals, C)
    m, n = kernels.shape[:2]
    coefficients = np.zeros((2, m, n))
    for side in (0, 1):
        totals = duals[side].sum(axis=1)
        for j in range(m):
            coefficients[side, j, rows[side]] = totals * posteriors[side][:, j]
            coefficients[1 - side, j, rows[side]] = -duals[side][:, j]
    images = np.array([[kernels[j] @ coefficients[side, j] for j in range(m)] for side in (0, 1)])
    norm = float((coefficients * images).sum())
    diagonals = np.array([np.diag(kernel) for kernel in kernels])
    scores = images - 0.5 * diagonals + np.array(offsets)[:, :, None]
    value, dual = 0.5 * norm, -0.5 * norm
    for side in (0, 1):
        q, own_rows = posteriors[side], rows[side]
        entropy = -np.sum(np.where(q > 0.0, q * np.log(np.where(q > 0.0, q, 1.0)), 0.0), axis=1)
        expected = np.einsum("tj,jt->t", q, scores[side][:, own_rows])
        rival = scores[1 - side][:, own_rows].max(axis=0)
        value += C * float(np.maximum(margin - entropy - expected + rival, 0.0).sum())
        own_diagonal = np.einsum("tj,jt->t", q, diagonals[:, own_rows])
        linear = (margin - entropy + 0.5 * own_diagonal)[:, None] - 0.5 * diagonals[:, own_rows].T
        dual += float((linear * duals[side]).sum())
    return _verdict(value, dual, coefficients, np.array(offsets), float(duals[0].sum() + duals[1].sum()))


def _verdict(
    value: float, dual: float, coefficients: FloatArray, offsets: FloatArray, mass: float
) -> ProjectionVerdict:
    left = np.abs(coefficients.sum(axis=2))
    imbalance = float(left.max()) / (1.0 + mass)
    if not imbalance <= _IMBALANCE:
        raise InfeasibleError(f"coefficients must balance; they miss by {imbalance:.3e} of their mass.")
    lower = dual - 2.0 * float((left * np.abs(offsets - offsets.mean())).sum())
    return ProjectionVerdict(value, lower, (value - lower) / (1.0 + abs(lower)), imbalance)


def _check_shapes(
    kernels: FloatArray,
    rows: tuple[NDArray[np.intp], NDArray[np.intp]],
    posteriors: Pair,
    duals: Pair,
    offsets: Pair,
) -> None:
    m, n = len(kernels), rows[0].size + rows[1].size
    if kernels.shape != (m, n, n):
        raise ValueError(f"kernels must have the shape (m, n, n) with n={n} labels; given {kernels.shape}")
    for side in (0, 1):
        for name, array in (("posteriors", posteriors[side]), ("duals", duals[side])):
            if array.shape != (rows[side].size, m):
                raise ValueError(f"{name} must have the shape {(rows[side].size, m)}; given {array.shape}")
        if offsets[side].shape != (m,):
            raise ValueError(f"offsets must have the shape {(m,)}; given {offsets[side].shape}")
        if not (np.isfinite(duals[side]).all() and np.isfinite(offsets[side]).all()):
            raise ValueError("duals and offsets must be finite")


def _check_bounds(duals: Pair, C: float) -> None:
    for part in duals:
        least, most = float(part.min()), float(part.sum(axis=1).max())
        if least < -_ROUNDING * C:
            raise InfeasibleError(f"duals must be nonnegative; the least is {least:.3e}.")
        if most > C * (1.0 + _ROUNDING):
            raise InfeasibleError(
                f"the duals of a sample must sum to at most C={C:g}; they reach {most:.12g}."
            )

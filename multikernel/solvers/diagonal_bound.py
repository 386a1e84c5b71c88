"""The smallest diagonal matrix above a symmetric matrix C (k, k), from both sides.

    v(C)   =  min {1't : Diag(t) − C ⪰ 0}  =  max {⟨Z, C⟩ : Z ⪰ 0, Z_jj = 1}
    v_σ(C) =  max {⟨Z, C⟩ + σ log det Z : Z_jj = 1},      its gradient is Z

The maximiser of the smooth form has ZS = σI with S = Diag(t) − C ≻ 0, so that ⟨Z, C⟩ = 1't − kσ: together
they enclose v(C) to kσ. A primal-dual interior point method solves for t and Z; the diagonal of Z is one and
S is what t makes of it at every step.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

Array = np.ndarray[Any, np.dtype[Any]]

_ROUNDS = 100
_CENTERED = 1e-10  # of ‖Z½SZ½/σ − I‖, where rounding lets it go so far
_NEAR = 1e-2
_SHRINK = 0.1
_KEEP = 0.9  # of the way to the boundary


class SmoothBound(NamedTuple):
    """v_σ(C), and what its derivatives are made of.

    Attributes
    ----------
    value : float
    t : array (k,)
    Z : array (k, k), positive definite with a diagonal of ones: the gradient of v_σ
    """

    value: float
    t: Array
    Z: Array


class DiagonalBound(NamedTuple):
    """v(C) enclosed.

    Attributes
    ----------
    upper : float, 1't
    lower : float, ⟨Z, C⟩
    t : array (k,), with Diag(t) − C positive semidefinite
    Z : array (k, k), positive semidefinite with a diagonal of ones
    """

    upper: float
    lower: float
    t: Array
    Z: Array


def smooth_bound(C: Array, sigma: float) -> SmoothBound:
    """v_σ(C).

    Parameters
    ----------
    C : array (k, k), symmetric
    sigma : float
        Greater than 0; below about 1e-12 ‖C‖ rounding takes over.

    Examples
    --------
    >>> C = np.array([[2.0, 1.0], [1.0, 1.0]])
    >>> found = smooth_bound(C, 1e-6)
    >>> round(found.value, 4), found.Z.round(4).tolist()
    (5.0, [[1.0, 1.0], [1.0, 1.0]])
    """
    t, Z = _center(C, sigma)
    return SmoothBound(float((Z * C).sum()) + sigma * float(np.linalg.slogdet(Z)[1]), t, Z)


def diagonal_bound(C: Array, tol: float = 1e-10) -> DiagonalBound:
    """Enclose v(C).

    Parameters
    ----------
    C : array (k, k), symmetric
    tol : float
        Bound of (upper − lower) / ‖C‖ to aim at.

    Examples
    --------
    >>> bound = diagonal_bound(np.array([[2.0, 1.0], [1.0, 1.0]]))
    >>> round(bound.upper, 8), round(bound.lower, 8), bound.t.round(6).tolist()
    (5.0, 5.0, [3.0, 2.0])
    """
    k, size = len(C), float(np.linalg.norm(C))
    if not size > 0.0:
        return DiagonalBound(0.0, 0.0, np.zeros(k), np.eye(k))
    scaled = C / size
    t, Z = _center(scaled, tol / k)
    beneath = float(np.linalg.eigvalsh(np.diag(t) - scaled)[0])
    t = size * (t + max(0.0, -beneath))
    return DiagonalBound(float(t.sum()), float((Z * C).sum()), t, Z)


def _center(C: Array, sigma: float) -> tuple[Array, Array]:
    """t and Z with ZS = σI."""
    k, size = len(C), max(float(np.abs(C).max()), sigma)
    t, Z = np.abs(C).sum(axis=1) + size, np.eye(k)
    best, least = (t, Z), np.inf
    for _ in range(_ROUNDS):
        try:
            R = np.linalg.cholesky(Z)
        except np.linalg.LinAlgError:
            break  # rounding
        values, vectors = np.linalg.eigh(R.T @ (np.diag(t) - C) @ R)  # R'SR, which is σI at the end
        off = float(np.linalg.norm(values / sigma - 1.0)) if values[0] > 0.0 else np.inf
        if not np.isfinite(off) or (least <= _NEAR and off > 0.5 * least):
            break  # rounding
        best, least = (t, Z), off
        if off <= _CENTERED:
            break
        half = R @ (vectors / np.sqrt(values))
        dt, dZ = _directions(Z, half @ half.T, max(sigma, _SHRINK * float(values.mean())))
        # S + a dS = half⁻ᵀ(I + a half' dS half)half⁻¹, and Z + a dZ likewise with R.
        t = t + step_inside(half.T @ (dt[:, None] * half)) * dt
        Z = Z + step_inside(congruent(R, dZ)) * dZ
    return best


def _directions(Z: Array, inverse: Array, aim: float) -> tuple[Array, Array]:
    """Newton's step for Z = aim S⁻¹, the diagonal of Z unchanged."""
    dt = np.linalg.solve(Z * inverse, aim * np.diag(inverse) - 1.0)
    turned = (Z * dt) @ inverse
    dZ = aim * inverse - Z - 0.5 * (turned + turned.T)
    np.fill_diagonal(dZ, 0.0)
    return dt, dZ


def congruent(R: Array, M: Array) -> Array:
    """R⁻¹MR⁻ᵀ."""
    once = scipy.linalg.solve_triangular(R, M, lower=True, check_finite=False)
    return np.asarray(scipy.linalg.solve_triangular(R, once.T, lower=True, check_finite=False))


def step_inside(relative: Array) -> float:
    """The length at which I + a·relative stays well positive definite; one if that does."""
    lowest = float(np.linalg.eigvalsh(relative)[0])
    return min(1.0, _KEEP / max(-lowest, 1e-300))

"""The value of (37) as a function of the shares η of the members, smooth and not, with its derivatives.

    v(C(η)),   C(η) = H'M(η)⁻¹H,   M(η) = λI + Σ_i η_i A_i,       v as in `diagonal_bound`

With B = M⁻¹H, E_i = B'A_iB = −∂C/∂η_i and Z the maximiser in the smooth form v_σ,

    ∂_i v_σ = −⟨Z, E_i⟩,     ∂²_ij v_σ = 2 tr(Z B'A_iM⁻¹A_jB) + ⟨R_i, R_j⟩ / σ

where R_i is what is left of L'E_iL, Z = LL', after projection on the span of l_j l_j', l_j' the rows of L: a
change of C that a change of t undoes costs nothing.

Lower bound: for every Z ⪰ 0 of unit diagonal v(C) ≥ ⟨Z, C⟩ = tr Q'M⁻¹Q with Q = HL, and what the exact
problem has for its columns H holds for Q: ⟨Z, H'B⟩² / (λ⟨Z, B'B⟩ + max_i ⟨Z, B'A_iB⟩) ≤ min v for every B.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import dtrtrs

from .diagonal_bound import smooth_bound
from .discriminant_problem import Members

Array = np.ndarray[Any, np.dtype[Any]]

_NEGATIVE = 1e-8  # relative


@dataclass(frozen=True)
class Between:
    """C(η) and what its derivatives are made of.

    Attributes
    ----------
    C : array (k, k)
    E : array (m, k, k), E_i = B'A_iB = −∂C/∂η_i
    W : array (m, n, k), W_i = R⁻ᵀA_iB with M = R'R, so that ∂²C/∂η_i∂η_j = W_i'W_j + W_j'W_i
    squares : array (k, k), B'B
    ridge : float, λ; zero when it is learned
    """

    C: Array
    E: Array
    W: Array
    squares: Array
    ridge: float

    @property
    def suspicious(self) -> bool:
        """Whether some E_i has a negative trace beyond rounding, which a positive semidefinite A_i cannot."""
        traces = np.trace(self.E, axis1=1, axis2=2)
        return bool(traces.min() < -_NEGATIVE * np.abs(traces).max())

    def lower_bound(self, Z: Array) -> float:
        """What Z and B = M⁻¹H prove."""
        q = np.einsum("iab,ab->i", self.E, Z)
        return float((Z * self.C).sum()) ** 2 / (
            self.ridge * float((Z * self.squares).sum()) + float(q.max())
        )

    def curvature(self, L: Array) -> Array:
        """2 tr(Z B'A_iM⁻¹A_jB) for Z = LL', (m, m)."""
        WL = (self.W @ L).reshape(len(self.W), -1)
        return np.asarray(2.0 * (WL @ WL.T))


def between_classes(members: Members, H: Array, shares: Array) -> Between | None:
    """C(η); None if M is not positive definite to rounding.

    Parameters
    ----------
    members : Members
    H : array (n, k), Fortran-contiguous, columns of sum zero
    shares : array (m,)
    """
    R = members.factor(shares)
    if R is None:
        return None
    Y = dtrtrs(R, H, lower=0, trans=1)[0]
    B = dtrtrs(R, Y, lower=0)[0]
    B -= B.mean(axis=0)
    products = members.times(B)
    E = np.einsum("na,inb->iab", B, products)
    solved = dtrtrs(R, products.transpose(1, 0, 2).reshape(members.n, -1), lower=0, trans=1)[0]
    W = solved.reshape(members.n, len(E), -1).transpose(1, 0, 2)
    given = 0.0 if members.learned else members.ridge
    return Between(Y.T @ Y, 0.5 * (E + E.transpose(0, 2, 1)), W, B.T @ B, given)


@dataclass(frozen=True)
class SmoothSeparation:
    """v_σ(C(η)) with its derivatives, and the lower bound of its Z; the gap leaves out what σ costs."""

    value: float
    lower_bound: float
    gap: float
    gradient: Array
    hessian: Array


def smooth_separation(between: Between, sigma: float) -> SmoothSeparation:
    """Value, gradient and Hessian of v_σ(C(η)) in η."""
    found = smooth_bound(between.C, sigma)
    L = np.linalg.cholesky(found.Z)
    left = beyond_diagonals(L, between.E, L)[0]
    lower = between.lower_bound(found.Z)
    return SmoothSeparation(
        value=found.value,
        lower_bound=lower,
        gap=1.0 - lower / float((found.Z * between.C).sum()),
        gradient=-np.einsum("iab,ab->i", between.E, found.Z),
        hessian=between.curvature(L) + (left @ left.T) / sigma,
    )


def beyond_diagonals(L: Array, E: Array, half: Array) -> tuple[Array, Array, Array]:
    """Split the matrices L'E_i half into a part L' Diag(·) half and a rest orthogonal to all such.

    Returns the rest (m, k²), the coordinates (m, k) of the other part in an orthonormal basis, and the upper
    triangle (k, k) that turns a diagonal into those coordinates.
    """
    turned = (L.T @ E @ half).reshape(len(E), -1)
    diagonals = np.einsum("ja,jb->abj", L, half).reshape(-1, len(L))
    basis, triangle = scipy.linalg.qr(diagonals, mode="economic", check_finite=False)
    along = turned @ basis
    return turned - along @ basis.T, along, triangle

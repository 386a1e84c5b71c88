"""Kernels of projected samples, z = W'x, and how a quadratic form of them moves with the projections.

    kernel     k(z, t)                 ∂(−½ tr U'KU)/∂Z
    linear     z't                     −U (U'Z)
    poly       (z't + 1)^q             −[(UU') ∘ q (ZZ' + 1)^(q−1)] Z
    gaussian   exp(−γ ‖z − t‖²)        2γ (diag(M1) − M) Z,   M = (UU') ∘ K

Z (n, R) holds the projected samples, U (n, r) the gated dual coefficients of r machines. With Z = XW the
derivative with respect to W is X' times that with respect to Z. UU' is formed for support samples only.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from ...kernels import Gaussian, Kernel, Linear, Polynomial
from ...kernels._rows import Pair, Rows
from ...kernels.base import raise_to

Array = np.ndarray[Any, np.dtype[Any]]

PROJECTION_KERNELS = ("linear", "poly", "gaussian")


class ProjectionKernel(ABC):
    """A kernel of projected samples with its derivative; ``kernel`` is the function of two rows."""

    kernel: Kernel

    def fill(self, Z: Array, out: Array) -> None:
        """Write the symmetric Gram matrix of the rows of Z (n, R) into ``out`` (n, n)."""
        rows = Rows(Z, "the projected samples")
        self.kernel.evaluate(Pair(rows, rows), out)

    def apply(self, Z_new: Array, Z: Array, U: Array) -> Array:
        """k(Z_new, Z) U, (n_new, r)."""
        return np.asarray(self.kernel(Z_new, Z) @ U)

    @abstractmethod
    def adjoint(self, Z: Array, U: Array) -> tuple[Array, Array]:
        """KU (n, r), and the derivative of −½ tr(U'KU) with respect to Z, (n, R)."""


class LinearProjection(ProjectionKernel):
    """z't: nothing of the size n × n is needed but the Gram matrix itself."""

    kernel = Linear()

    def apply(self, Z_new: Array, Z: Array, U: Array) -> Array:
        return np.asarray(Z_new @ (Z.T @ U))

    def adjoint(self, Z: Array, U: Array) -> tuple[Array, Array]:
        primal = Z.T @ U
        return Z @ primal, -U @ primal.T


class PolynomialProjection(ProjectionKernel):
    """(z't + 1)^degree."""

    def __init__(self, degree: int = 2) -> None:
        self.kernel = Polynomial(degree)
        self.degree = int(self.kernel.degree)

    def adjoint(self, Z: Array, U: Array) -> tuple[Array, Array]:
        base = Z @ Z.T + 1.0
        if self.degree == 1:
            return base @ U, -U @ (U.T @ Z)
        slope = base.copy()
        raise_to(slope, self.degree - 1)
        base *= slope
        slope *= U @ U.T
        return base @ U, -self.degree * (slope @ Z)


class GaussianProjection(ProjectionKernel):
    """exp(−gamma ‖z − t‖²)."""

    def __init__(self, gamma: float = 1.0) -> None:
        self.kernel = Gaussian(gamma=gamma)
        self.gamma = float(gamma)

    def adjoint(self, Z: Array, U: Array) -> tuple[Array, Array]:
        K = np.empty((len(Z), len(Z)))
        self.fill(Z, K)
        KU = K @ U
        K *= U @ U.T
        return KU, 2.0 * self.gamma * (K.sum(axis=1)[:, None] * Z - K @ Z)


def projection_kernel(name: str, degree: int = 2, gamma: float = 1.0) -> ProjectionKernel:
    """The kernel of a name in ``PROJECTION_KERNELS``.

    Examples
    --------
    >>> projection_kernel("poly", degree=3).kernel
    Polynomial(degree=3)
    """
    if name == "linear":
        return LinearProjection()
    return PolynomialProjection(degree) if name == "poly" else GaussianProjection(gamma)

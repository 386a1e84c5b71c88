"""The problems whose programs stand here, in arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from multikernel.nonstationary.solver.mixtures import Mixtures
from multikernel.nonstationary.solver.projection import Projection

FloatArray = NDArray[np.float64]
Pair = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class DiscriminantTask:
    """Learn the kernel of a discriminant analysis.

    Attributes
    ----------
    dataset : str
    kernels : array (m, n, n), not centred
    codes : array (n,) of 0 and 1
    reg : float or None, λ; None if it is learned
    """

    dataset: str
    kernels: FloatArray
    codes: NDArray[np.int64]
    reg: float | None


@dataclass(frozen=True)
class TransductiveProblem:
    """The 1-norm soft margin over a stack.

    Attributes
    ----------
    dataset : str
    kernels : array (m, n, n), the labelled points first
    y : array (N,) of −1 and +1, of the labelled points
    C : float
    """

    dataset: str
    kernels: FloatArray
    y: FloatArray
    C: float = 1.0

    @property
    def traces(self) -> FloatArray:
        """r_i = trace K_i over all points."""
        return np.trace(self.kernels, axis1=1, axis2=2)

    @property
    def trace(self) -> float:
        """c, the sum of the traces."""
        return float(self.traces.sum())

    @property
    def labelled_kernels(self) -> FloatArray:
        """(c / r_i) K_i over the labelled points (m, N, N): the nonnegative program on the simplex."""
        N = self.y.size
        return self.kernels[:, :N, :N] * (self.trace / self.traces)[:, None, None]


@dataclass(frozen=True)
class ProjectionTask:
    """Find the best mixtures for given posteriors; every kernel is a component of both classes.

    Attributes
    ----------
    kernels : array (m, n, n)
    y : array (n,), ±1
    posteriors : pair of arrays (n_positive, m) and (n_negative, m), rows sum to 1
    C : float
    margin : float, γ of every sample: 1 + ln m
    """

    kernels: FloatArray
    y: FloatArray
    posteriors: Pair
    C: float
    margin: float

    @property
    def rows(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The samples of the positive and of the negative class."""
        return np.flatnonzero(self.y > 0), np.flatnonzero(self.y < 0)

    @property
    def projection(self) -> Projection:
        """The same, as the package has it."""
        m, n = self.kernels.shape[:2]
        every = np.arange(m), np.arange(m)
        mixtures = Mixtures(self.kernels, every, self.rows, np.full(n, self.C), np.full(n, self.margin))
        return Projection(mixtures, self.posteriors)

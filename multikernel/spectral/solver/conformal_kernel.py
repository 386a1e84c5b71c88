"""A conformal kernel over labelled and unlabelled points, k(x, z) = q(x) q(z) k₀(x, z).

The labelled points come first; the cores of q are among them, and q is learned from them alone
(solvers/conformal.py). Nothing is approximate for other points: q is a function of k₀.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..._typing import Array
from ...kernels.transforms import Center
from .conformal import learn_conformal
from .kernel import Spectrum, spectrum_of


@dataclass(frozen=True, eq=False)
class ConformalModel:
    """The learned kernel, at the points it was learned on and at others.

    Attributes
    ----------
    K : array (n, n), the learned kernel
    factors : array (n,), q
    coefficients : array (1 + n_cores,), a
    cores : array (n_cores,), positions among the labelled points
    objective : float, the separability reached
    n_labelled : int, l
    center : Center or None, the fitted centring that rows of new points go through
    """

    K: Array
    factors: Array
    coefficients: Array
    cores: Array
    objective: float
    n_labelled: int
    center: Center | None

    def kernel(self) -> Array:
        """The learned kernel (n, n)."""
        return self.K

    def labelled(self) -> Array:
        """Between the labelled points (l, l)."""
        return self.K[: self.n_labelled, : self.n_labelled]

    def unlabelled(self) -> Array:
        """Between the unlabelled points and the labelled ones, (n − l, l)."""
        return self.K[self.n_labelled :, : self.n_labelled]

    def rows(self, K_test: Array) -> Array:
        """Between new points and the labelled ones, (n_test, l), from their similarities k₀ (n_test, n)."""
        return self._rescaled(K_test)[:, : self.n_labelled]

    @cached_property
    def spectrum(self) -> Spectrum:
        """Of the learned kernel, all of it: O(n³)."""
        return spectrum_of(self.K)

    @property
    def coordinates(self) -> Array:
        """Z (n, p) of the empirical feature space, K = ZZ'."""
        return self.spectrum.vectors * np.sqrt(self.spectrum.values)

    def extend(self, K_test: Array) -> Array:
        """Z of new points (n_test, p), from their similarities k₀ (n_test, n)."""
        return self.spectrum.extend(self._rescaled(K_test)) * np.sqrt(self.spectrum.values)

    def _rescaled(self, K_test: Array) -> Array:
        rows = K_test if self.center is None else self.center.test(K_test, np.empty(0))
        factors = self.coefficients[0] + rows[:, self.cores] @ self.coefficients[1:]
        return rows * np.multiply.outer(factors, self.factors)


def learn_conformal_kernel(
    K: Array, codes: Array, cores: Array, *, method: str = "gradient", center: bool = False
) -> ConformalModel:
    """Rescale a kernel matrix for the separability of the classes of its first points.

    Parameters
    ----------
    K : array (n, n), k₀, labelled points first; never modified
    codes : array (l,), their classes
    cores : array (n_cores,), positions among the labelled points
    method : {"gradient", "eig"}
    center : bool
        Whether k₀ is centred first.

    Examples
    --------
    >>> K = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    >>> model = learn_conformal_kernel(K, np.array([0, 0, 1]), np.array([1]), method="eig")
    >>> bool(np.allclose(model.rows(K), model.labelled()))
    True
    """
    fitted = Center().fit(K) if center else None
    K = K if fitted is None else fitted.train(K)
    n_labelled = codes.size
    K1 = np.column_stack([np.ones(len(K)), K[:, cores]])
    result = learn_conformal(K[:n_labelled, :n_labelled], K1[:n_labelled], codes, method=method)
    factors = K1 @ result.coefficients
    return ConformalModel(
        K=K * np.multiply.outer(factors, factors),
        factors=factors,
        coefficients=result.coefficients,
        cores=cores,
        objective=result.value,
        n_labelled=n_labelled,
        center=fitted,
    )

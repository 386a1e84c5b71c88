"""Support vector regression with kernel weights that depend on the sample: localized MKL."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from .._validation import check_number
from ..criteria import EpsilonInsensitive
from ..solvers.localized.machines import BinaryMachines
from ._localized import MACHINE_TOL, BaseLocalized, Gated
from ._parameters import check_finite_price, check_sample_weights
from ._targets import check_targets

Array = np.ndarray[Any, np.dtype[Any]]


class LocalizedMKLRegressor(RegressorMixin, BaseLocalized):
    r"""ε-support vector regression whose gate decides, sample by sample, which kernels count.

    .. math::

        f(x) = \sum_m \eta_m(x) \sum_i \beta_i\, k_m(x, x_i)\, \eta_m(x_i) + b, \qquad
        \min_V\ J(V) = \max_{-C \le \beta \le C,\ 1'\beta = 0}\ y'\beta - \epsilon \|\beta\|_1
        - \tfrac12 \sum_{ij} \beta_i \beta_j\, k_\eta(x_i, x_j)

    with targets :math:`y`, dual variables :math:`\beta`, the locally combined kernel
    :math:`k_\eta(x, z) = \sum_m \eta_m(x)\, k_m(x, z)\, \eta_m(z)` and a gate :math:`\eta(x; V)`.

    Parameters
    ----------
    kernels, gating, gating_features, n_init, optimizer, ridge, patience, init_scale, tol, max_iter, prune,
    psd, callback, verbose, random_state
        As for :class:`LocalizedMKLClassifier`.
    C : float
        Price of errors beyond epsilon.
    epsilon : float >= 0
        Errors below it are free.

    Attributes
    ----------
    kernel_weights_, view_names_, gating_, dual_coef_, support_, intercept_, objective_, dual_gap_,
    gradient_norm_, start_objectives_, n_solves_, n_iter_, status_, saturated_, history_
        As for :class:`LocalizedMKLClassifier`, with one machine.

    Notes
    -----
    C and epsilon are in the units of the targets: standardise these, or choose both accordingly.

    Copies of a linear kernel make a piecewise linear fit whose pieces the gate blends. They share one
    intercept; ``Polynomial(1)`` gives each piece its own.

    Examples
    --------
    >>> from multikernel import LocalizedMKLRegressor
    >>> from multikernel.kernels import Polynomial
    >>> X = np.linspace(-3, 3, 100)[:, None]
    >>> y = np.abs(X[:, 0])  # two lines
    >>> model = LocalizedMKLRegressor([Polynomial(1), Polynomial(1)], C=10.0, epsilon=0.05).fit(X, y)
    >>> bool(model.score(X, y) > 0.98)
    True
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        gating: str = "softmax",
        gating_features: Any = None,
        n_init: int = 1,
        optimizer: str = "gradient",
        ridge: float = 0.0,
        patience: int = 1,
        init_scale: float = 0.01,
        tol: float = 1e-3,
        max_iter: int = 100,
        prune: bool = False,
        psd: str = "error",
        callback: Callable[[dict[str, float]], bool | None] | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            kernels, gating=gating, gating_features=gating_features, n_init=n_init, optimizer=optimizer,
            ridge=ridge, patience=patience, init_scale=init_scale, tol=tol, max_iter=max_iter, prune=prune,
            psd=psd, callback=callback, verbose=verbose, random_state=random_state,
        )  # fmt: skip
        self.C = C
        self.epsilon = epsilon

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "LocalizedMKLRegressor":
        """Learn the gate and the machine.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (n, d); or a stack (n, n, n_kernels) when precomputed
        y : array (n,)
        sample_weight : array (n,), optional
            Multiplies C sample by sample.
        """
        C = check_finite_price(self.C)
        epsilon = check_number("epsilon", self.epsilon, at_least=0.0)
        X = self._validate_table(X, reset=True)
        targets = check_targets(self, X, y, multi_output=False)[:, 0]
        weights = check_sample_weights(sample_weight, targets.size)
        samples = self._distinct(X, targets, weights)
        Ks = self._fit_kernels(X, samples)
        y = targets[samples.rows]
        middle = float(np.median(y))  # the intercept absorbs it; the numbers stay small
        loss = EpsilonInsensitive(y - middle, C * samples.weights, epsilon)
        machines, rows = BinaryMachines([loss], tol=MACHINE_TOL * float(self.tol)), np.arange(y.size)
        result = self._learn(Ks, machines, rows, self._generators(1)[0])
        self._store([Gated(result, rows, ["y"])], samples)
        self.intercept_ = self.intercept_ + middle
        return self

    def predict(self, X: Any) -> Array:
        """Predicted values (n_samples,)."""
        return (self._scores(X) + self.intercept_)[:, 0]

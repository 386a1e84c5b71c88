"""Regression by a few columns of many kernels."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from .._validation import check_number
from ..criteria import EpsilonInsensitive
from ._columns import ColumnMachine
from ._parameters import check_sample_weights, price_samples
from ._targets import check_targets

Array = np.ndarray[Any, np.dtype[Any]]


class ColumnBoostingRegressor(RegressorMixin, ColumnMachine):
    r"""Regressor on single columns of kernels.

    .. math::

        f(x) = b + \sum_{m,j} \alpha_{mj} K_m(x, x_j), \qquad a_{mj} = s_{mj}\, \alpha_{mj}

    lp:   :math:`\min \sum |a_{mj}| + C \sum_i \max(|y_i - f(x_i)| - \epsilon, 0)`;
    qp:   :math:`\min \tfrac12 \sum a_{mj}^2 + C \sum_i \max(|y_i - f(x_i)| - \epsilon, 0)`;
    mark: :math:`\min \tfrac12 \sum a_{mj}^2 + \tfrac C2 \sum_i (y_i - f(x_i))^2` on the columns so far.

    with kernels :math:`K_m`, samples :math:`x_j`, values :math:`y_i`, and :math:`s_{mj}` the root mean square
    of the column :math:`K_m(x_i, x_j), i = 1 \dots n` (or 1).

    Parameters
    ----------
    kernels, method, C, max_columns, normalise, tol, max_iter, psd, gram, dtype, callback, verbose
        As for :class:`ColumnBoostingClassifier`.
    epsilon : float >= 0
        Errors below it are free ("lp" and "qp").

    Attributes
    ----------
    columns_, coef_, kernel_weights_, support_, intercept_, objective_, dual_gap_, status_, n_iter_, history_,
    view_names_
        As for :class:`ColumnBoostingClassifier`, with one machine.

    Examples
    --------
    >>> from multikernel import ColumnBoostingRegressor
    >>> from multikernel.kernels import Gaussian, Linear
    >>> X = np.linspace(-3, 3, 60)[:, None]
    >>> y = np.sin(2 * X[:, 0]) + X[:, 0]
    >>> model = ColumnBoostingRegressor([Linear(), Gaussian()]).fit(X, y)
    >>> len(model.columns_) < 20, bool(model.score(X, y) > 0.95)
    (True, True)
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        method: str = "lp",
        C: float = 1.0,
        epsilon: float = 0.1,
        max_columns: int | None = None,
        normalise: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        psd: str = "error",
        gram: str = "dense",
        dtype: Any = "float64",
        callback: Callable[[dict[str, float]], bool | None] | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            kernels, method=method, C=C, max_columns=max_columns, normalise=normalise, tol=tol,
            max_iter=max_iter, psd=psd, gram=gram, dtype=dtype, callback=callback, verbose=verbose,
        )  # fmt: skip
        self.epsilon = epsilon

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ColumnBoostingRegressor":
        """Find the columns and their coefficients.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (n, d); or a stack (n, n, n_kernels) when precomputed
        y : array (n,)
        sample_weight : array (n,), optional
            Multiplies C sample by sample.
        """
        C = self._check_parameters()
        epsilon = check_number("epsilon", self.epsilon, at_least=0.0)
        X = self._validate_table(X, reset=True)
        targets = check_targets(self, X, y, multi_output=False)[:, 0]
        weights = check_sample_weights(sample_weight, targets.size)
        samples = self._distinct(X, targets, weights)
        columns = self._fit_columns(X, samples)
        prices = price_samples(C, samples.weights)
        values = targets[samples.rows]
        middle = float(np.median(values))  # the intercept absorbs it; the numbers stay small
        loss = EpsilonInsensitive(values - middle, prices, epsilon)
        self._store([self._solve(columns, loss, prices, "")], ["y"], samples)
        self.intercept_ = self.intercept_ + middle
        return self

    def predict(self, X: Any) -> Array:
        """Predicted values (n_samples,)."""
        return (self._scores(X) + self.intercept_)[:, 0]

"""Boosting over the columns of kernels with the squared loss (MARK).

    min_{a, b}  ½ ‖a‖² + ½ Σ_i c_i (y_i − b − (Ha)_i)²   over the columns H chosen so far

Each round adds the column with the largest |h'(c ∘ r)|, the derivative of the loss at the residual r, and
fits all coefficients again: one row more in a Cholesky factor. The certificate is the largest derivative that
is left, relative to that of the first round.
"""

import numpy as np
from scipy.linalg import solve_triangular

from ..._typing import Array
from ...core.optim.loop import Options, Recorder, Status
from .columns import Columns, ColumnsResult

_ROUNDING = 1e-13


def boost_columns(
    columns: Columns, y: Array, prices: Array, *, max_columns: int | None = None, options: Options
) -> ColumnsResult:
    """Add one column after the other.

    Parameters
    ----------
    columns : Columns
    y : array (n,), values or ±1
    prices : array (n,), c > 0
    max_columns : int, optional
    options : Options
        ``tol`` for the derivatives, ``max_iter`` rounds, ``callback``.

    Examples
    --------
    >>> K = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    >>> columns, y = Columns(K[None], normalise=True), np.array([1.0, 1.0, -1.0])
    >>> found = boost_columns(columns, y, np.full(3, 1e6), max_columns=1, options=Options())
    >>> found.numbers.tolist(), round(found.intercept, 3)
    ([2], 1.0)
    """
    return _Boosting(columns, y, prices, options).run(max_columns)


class _Boosting:
    def __init__(self, columns: Columns, y: Array, prices: Array, options: Options) -> None:
        self.columns, self.y, self.options = columns, y, options
        self.c = prices * columns.unit**2  # the columns are divided by the unit, a is multiplied
        self.share = self.c / self.c.sum()
        centred = y - self.share @ y
        flat = np.abs(centred).max() <= _ROUNDING * np.abs(y).max()
        self.root = np.sqrt(self.c)
        self.goal = np.zeros(y.size) if flat else self.root * centred
        self.residual = self.goal
        self.numbers: list[int] = []
        self.means: list[float] = []
        self.H = np.empty((y.size, 0), order="F")  # columns, centred, times the root of the prices
        self.L = np.empty((0, 0))
        self.a = np.empty(0)
        # the loop counts: that no more columns are allowed comes before that the rounds are used up
        self.record = Recorder(options.tol, callback=options.callback)

    def run(self, max_columns: int | None) -> ColumnsResult:
        first = 0.0
        for iteration in range(self.options.max_iter + 1):
            derivatives = np.abs(self.columns.prices(self.root * self.residual))
            derivatives[self.numbers] = 0.0
            best = int(derivatives.argmax())
            first = first or float(derivatives[best])
            gap = float(derivatives[best]) / first if first > 0.0 else 0.0
            if self._note(iteration, gap):
                break
            if max_columns is not None and len(self.numbers) >= max_columns:
                self.record.stop(Status.MAX_COLUMNS)
                break
            if iteration < self.options.max_iter:
                self._add(best)
        return self._result(gap)

    def _add(self, number: int) -> None:
        """One more column, and all coefficients again."""
        column = self.columns.take(np.array([number]))[:, 0]
        mean = float(self.share @ column)
        column = self.root * (column - mean)
        k = len(self.numbers)
        row = solve_triangular(self.L, self.H.T @ column, lower=True) if k else np.empty(0)
        size = 1.0 + float(column @ column)
        L = np.zeros((k + 1, k + 1))
        L[:k, :k], L[k, :k] = self.L, row
        L[k, k] = np.sqrt(max(size - float(row @ row), _ROUNDING * size))
        self.L, self.H = L, np.asfortranarray(np.column_stack([self.H, column]))
        self.numbers.append(number)
        self.means.append(mean)
        half = solve_triangular(self.L, self.H.T @ self.goal, lower=True)
        self.a = solve_triangular(self.L, half, lower=True, trans="T")
        self.residual = self.goal - self.H @ self.a

    def _value(self) -> float:
        """In the caller's units."""
        squares = float(self.a @ self.a) + float(self.residual @ self.residual)
        return 0.5 * squares / self.columns.unit**2

    def _note(self, iteration: int, gap: float) -> bool:
        n_active = float(len(self.numbers))
        return self.record.note(
            {"iteration": iteration, "objective": self._value(), "gap": gap, "n_active": n_active}
        )

    def _result(self, gap: float) -> ColumnsResult:
        numbers = np.array(self.numbers, int)
        alpha = self.columns.unscaled(numbers, self.a)
        intercept = float(self.share @ self.y - self.a @ np.array(self.means))
        sizes = np.abs(alpha) * self.columns.sizes[numbers]
        return ColumnsResult(
            numbers, alpha, sizes, intercept, np.nan, objective=self._value(), gap=gap, **self.record.outcome
        )

"""The columns of all kernels, as features: f(x) = b + Σ_{m,j} α_mj K_m(x, x_j).

Column (m, j) is h_mj = K_m(·, x_j) / s_mj on the training samples, where s_mj is its root mean square (or one
number for all columns). Machines over a few columns find them by their prices h_mj'β, at the dual β of the
machine on the columns that they have.

The greedy machine (MARK) has the squared loss,

    min_{a, b}  ½ ‖a‖² + ½ Σ_i c_i (y_i − b − (Ha)_i)²   over the columns H chosen so far

Each round adds the column with the largest |h'(c ∘ r)|, the derivative of the loss at the residual r, and
fits all coefficients again: one row more in a Cholesky factor. The certificate is the largest derivative that
is left, relative to that of the first round.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from ..._typing import Array
from ...core.optim.loop import Options, Recorder, Result, Status

_ROUNDING = 1e-13
_NOISE = 1e-10  # of the largest column of the same kernel: what is smaller is rounding, not a feature


class Columns:
    """All columns of a stack of kernels (n_kernels, n, n), numbered m n + j; nothing is copied.

    Normalised, every column has a root mean square of 1; else the largest of all has, so that the columns are
    those of the kernels but for one number, `unit`. Columns below 1e-10 of the largest of their kernel are
    zero. `sizes` (n_kernels * n,) are the root mean squares of the kernels' own columns.

    Examples
    --------
    >>> columns = Columns(np.array([[[2.0, 0.0], [0.0, 4.0]]]), normalize=True)
    >>> columns.take(np.array([1])).ravel().round(6).tolist()
    [0.0, 1.414214]
    >>> columns.prices(np.array([1.0, -1.0])).round(6).tolist()
    [1.414214, -1.414214]
    """

    def __init__(self, Ks: Array, normalize: bool) -> None:
        self.Ks, self.n = Ks, Ks.shape[1]
        sizes = np.array([_root_mean_squares(K) for K in Ks])
        used = sizes > _NOISE * sizes.max(axis=1, keepdims=True)
        largest = float(sizes.max())
        self.unit = 1.0 if normalize or not largest > 0.0 else largest
        self._factors = np.zeros(sizes.size)
        self._factors[used.ravel()] = 1.0 / (sizes[used] if normalize else self.unit)
        self.sizes = sizes.ravel()

    def prices(self, beta: Array) -> Array:
        """h'β of all columns (n_kernels * n,)."""
        return np.concatenate([beta @ K for K in self.Ks]) * self._factors

    def scores(self, a: Array) -> Array:
        """Σ a h over all columns (n,)."""
        parts = (a * self._factors).reshape(len(self.Ks), self.n)
        return np.asarray(sum(K @ part for K, part in zip(self.Ks, parts, strict=True)))

    def gram(self, weights: Array | None = None) -> Array:
        """Σ d hh' over all columns (n, n), with weights d >= 0, or 1; kernel by kernel."""
        roots = self._factors if weights is None else self._factors * np.sqrt(weights)
        G = np.zeros((self.n, self.n))
        for K, part in zip(self.Ks, roots.reshape(len(self.Ks), self.n), strict=True):
            B = K * part
            G += B @ B.T
        return G

    def take(self, numbers: Array) -> Array:
        """Some columns (n, k)."""
        H = np.empty((self.n, numbers.size), order="F")
        for k, number in enumerate(numbers):
            m, j = divmod(int(number), self.n)
            H[:, k] = self.Ks[m][:, j] * self._factors[number]
        return H

    def unscaled(self, numbers: Array, a: Array) -> Array:
        """The coefficients of the kernels' own columns."""
        return a * self._factors[numbers]


class ChosenColumns:
    """Some columns H (n, k), with the operations of all of them."""

    def __init__(self, H: Array) -> None:
        self.H = H

    def prices(self, beta: Array) -> Array:
        return beta @ self.H

    def scores(self, a: Array) -> Array:
        return self.H @ a

    def gram(self, weights: Array | None = None) -> Array:
        B = self.H if weights is None else self.H * np.sqrt(weights)
        return B @ B.T


def _root_mean_squares(K: Array) -> Array:
    """Of each column; the largest entry is taken out, so that squares do not overflow."""
    largest = float(np.abs(K).max())
    if largest == 0.0:
        return np.zeros(K.shape[1])
    part = np.divide(K, largest, dtype=np.float64)
    return largest * np.sqrt(np.einsum("ij,ij->j", part, part) / K.shape[0])


@dataclass(frozen=True, eq=False)
class ColumnsResult(Result):
    """A machine over some columns; ``gap`` is its certificate."""

    numbers: Array  # (k,), the columns in use, m n + j
    coefficients: Array  # (k,), α of the kernels' own columns
    sizes: Array  # (k,), |α| times the root mean square of the column: what it contributes
    intercept: float
    lower_bound: float  # no solution over all the columns has a value below it; nan where there is no bound

    @property
    def is_finite(self) -> bool:
        """Whether nothing overflowed."""
        numbers = (self.coefficients, np.array([self.intercept, self.objective]))
        return all(bool(np.isfinite(values).all()) for values in numbers)


# ------------------------------------------------------------------ MARK
def boost_columns(
    columns: Columns, y: Array, prices: Array, *, max_columns: int | None = None, options: Options
) -> ColumnsResult:
    """Add one column after the other, for y (n,) of values or ±1 with prices c > 0 (n,).

    Examples
    --------
    >>> K = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    >>> columns, y = Columns(K[None], normalize=True), np.array([1.0, 1.0, -1.0])
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
            entry = {"iteration": iteration, "objective": self._value(), "gap": gap}
            if self.record.note({**entry, "n_active": float(len(self.numbers))}):
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

    def _result(self, gap: float) -> ColumnsResult:
        numbers = np.array(self.numbers, int)
        alpha = self.columns.unscaled(numbers, self.a)
        intercept = float(self.share @ self.y - self.a @ np.array(self.means))
        sizes = np.abs(alpha) * self.columns.sizes[numbers]
        return ColumnsResult(
            numbers, alpha, sizes, intercept, np.nan, objective=self._value(), gap=gap, **self.record.outcome
        )

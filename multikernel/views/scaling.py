"""Columns brought to mean 0 and standard deviation 1 with the numbers of the training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from multikernel._validation import all_finite
from multikernel.kernels._rows import Rows

# A column that spreads by less than this share of its largest entry holds rounding and nothing else.
_ROUNDING = 10.0 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Scaling:
    """x_j ↦ (x_j − mean_j) / scale_j, column by column; zeros of a sparse training table stay zeros.

    Everything is kept relative to `unit`, a power of two near the largest entry of the column, so that
    columns of any size neither overflow nor underflow, and the division by it is exact.

    Attributes
    ----------
    unit : ndarray of shape (d,)
    unit_mean : ndarray of shape (d,) or None
        Means divided by `unit`; None where the training table was sparse, which is not centred.
    unit_scale : ndarray of shape (d,)
        Standard deviations divided by `unit`; of constant columns 1 / `unit`.

    Examples
    --------
    >>> scaling = Scaling.fit(np.array([[1.0, 5.0], [3.0, 5.0]]))
    >>> scaling.mean, scaling.scale
    (array([2., 5.]), array([1., 1.]))
    >>> scaling.apply(np.array([[4.0, 7.0]]), "X")
    array([[2., 2.]])
    """

    unit: np.ndarray
    unit_mean: np.ndarray | None
    unit_scale: np.ndarray

    @classmethod
    def fit(cls, table: Any) -> Scaling:
        """Measure the columns of a finite float64 table (n, d): an ndarray or a canonical CSR matrix."""
        is_sparse = scipy.sparse.issparse(table)
        low, high = _column_extremes(table)
        peak = np.maximum(-low, high)
        # not below the normal numbers, so that its inverse is finite
        unit = np.ldexp(1.0, np.where(peak > 0.0, np.maximum(np.frexp(peak)[1] - 1, -1022), 0))
        with np.errstate(under="ignore", over="ignore"):
            mean, deviation = _sparse_moments(table, unit) if is_sparse else _dense_moments(table, unit)
            # what varies by rounding only must not be blown up, nor stand out where its entries are large
            still = np.where(low == high, 1.0, np.maximum(unit, 1.0)) / unit
        scale = np.where((low < high) & (deviation > _ROUNDING), deviation, still)
        return cls(unit, None if is_sparse else mean, scale)

    @property
    def mean(self) -> np.ndarray:
        """What is subtracted, shape (d,): the means of the training columns, zeros for a sparse table."""
        return np.zeros_like(self.unit) if self.unit_mean is None else self.unit_mean * self.unit

    @property
    def scale(self) -> np.ndarray:
        """What is divided by, shape (d,): standard deviations, 1 for constant columns."""
        with np.errstate(under="ignore", over="ignore"):
            return np.asarray(self.unit_scale * self.unit)

    def apply(self, table: Any, label: str) -> Any:
        """The scaled columns as a new table, dense unless `table` is sparse and nothing is subtracted.

        Parameters
        ----------
        table : ndarray or CSR matrix of shape (n, d), float64
        label : str
            What the message calls a table whose values are too far from the training rows.
        """
        if table.shape[1] != len(self.unit):
            raise ValueError(
                f"{label} has {table.shape[1]} columns, but its training rows have {len(self.unit)}."
            )
        with np.errstate(under="ignore", over="ignore"):
            if scipy.sparse.issparse(table) and self.unit_mean is None:
                result = table.copy()
                result.data = result.data / self.unit[result.indices] / self.unit_scale[result.indices]
                numbers = result.data
            else:
                result = (table.toarray() if scipy.sparse.issparse(table) else table) / self.unit
                if self.unit_mean is not None:
                    result -= self.unit_mean
                result /= self.unit_scale
                numbers = result
        if not all_finite(numbers):
            raise ValueError(
                f"{label} holds values so far from the training rows that they overflow when they are "
                "standardised. Look for a change of units, or remove these rows."
            )
        return result

    def rows(self, rows: Rows) -> Rows:
        """The scaled columns of rows, with their label."""
        return Rows(self.apply(rows.values, rows.label), rows.label)


def _column_extremes(table: Any) -> tuple[np.ndarray, np.ndarray]:
    if scipy.sparse.issparse(table):
        return table.min(axis=0).toarray().ravel(), table.max(axis=0).toarray().ravel()
    return table.min(axis=0), table.max(axis=0)


def _dense_moments(table: np.ndarray, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each column of table / unit."""
    work = table / unit
    mean = work.mean(axis=0)
    work -= mean
    rest = work.mean(axis=0)  # rounding of the first mean, which a column far from 0 would show
    work -= rest
    return mean + rest, np.sqrt(np.einsum("ij,ij->j", work, work) / len(work))


def _sparse_moments(table: Any, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same for a CSR matrix; its zeros count."""
    n, d = table.shape
    columns = table.indices
    entries = table.data / unit[columns]
    mean = np.bincount(columns, entries, minlength=d) / n
    squares = np.bincount(columns, (entries - mean[columns]) ** 2, minlength=d)
    n_zeros = n - np.bincount(columns, minlength=d)
    return mean, np.sqrt((squares + n_zeros * mean**2) / n)

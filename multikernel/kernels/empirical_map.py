"""The empirical kernel map: any similarity becomes a kernel by what it says of the training rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from multikernel.kernels._rows import Pair, Rows
from multikernel.kernels._tiles import product_tiles, write_tile
from multikernel.kernels.base import Kernel, _Unary
from multikernel.kernels.given import as_kernel


@dataclass(frozen=True, repr=False)
class EmpiricalMap(_Unary):
    """k(x, z) = Σ_i base(x, t_i) base(z, t_i), over the training rows t_1, …, t_n.

    Two rows are alike if they are similar to the same training rows. Positive semidefinite whatever the base,
    which may be any function f(X, Z) of two sets of rows.

    Parameters
    ----------
    base : Kernel or callable

    Attributes
    ----------
    rows : Rows or None
        The training rows, of a fitted kernel.

    Notes
    -----
    A new row is compared with all training rows, also by a model that keeps few of them. Similarities of the
    training rows are kept as long as the model is in memory, n² numbers; a model that was loaded computes
    them again at its first prediction, for the training rows that it keeps.

    References
    ----------
    K. Tsuda (1999). Support vector classifier with asymmetric kernel functions. European Symposium on
    Artificial Neural Networks, 183–188.

    L. Liao and W. S. Noble (2003). Combining pairwise sequence similarity and support vector machines for
    detecting remote protein evolutionary and structural relationships. Journal of Computational Biology 10,
    857–868.

    Examples
    --------
    >>> def distance(X, Z):
    ...     return np.abs(np.subtract.outer(np.ravel(X), np.ravel(Z)))
    >>> kernel = EmpiricalMap(distance).fit([[0.0], [1.0], [3.0]])
    >>> kernel([[0.0], [2.0]])
    array([[10.,  5.],
           [ 5.,  6.]])
    """

    base: Kernel
    rows: Rows | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", as_kernel(self.base))

    @property
    def is_psd(self) -> bool:
        return True

    @property
    def is_fitted(self) -> bool:
        return self.rows is not None and self.base.is_fitted

    @property
    def _is_composite(self) -> bool:
        return False  # the products that kernels share are none of this one

    def _resolve(self, rows: Rows) -> Kernel:
        fitted = EmpiricalMap(self.base._resolve(rows))
        object.__setattr__(fitted, "rows", rows)
        return fitted

    def _similarities(self, rows: Rows) -> np.ndarray:
        """base(x, t) of every row with every training row, kept with the rows."""
        return rows.derived_rows("similarities", self, lambda: self._compare(rows))

    def _compare(self, rows: Rows) -> np.ndarray:
        assert self.rows is not None
        pair = Pair(rows, self.rows, keep=self.base._is_composite)
        similarities = np.empty(pair.shape)
        self.base.evaluate(pair, similarities)
        return similarities

    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        right = self._similarities(pair.right)
        left = right if pair.symmetric else self._similarities(pair.left)
        for rows, columns, products in product_tiles(left, right, half=pair.symmetric):
            write_tile(out, rows, columns, products, pair.symmetric)

    def _diagonal(self, rows: Rows) -> np.ndarray:
        similarities = self._similarities(rows)
        return np.einsum("ij,ij->i", similarities, similarities)

    def __repr__(self) -> str:
        return f"EmpiricalMap({self.base!r})"

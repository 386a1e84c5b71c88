"""Kernels between pairs of objects, from a kernel between objects (Ben-Hur & Noble, 2005).

    k((a, b), (c, d)) = κ(a, c) κ(b, d) + κ(a, d) κ(b, c)

Two pairs are alike if their objects are, in one order or the other: which object of a pair comes first does
not matter. κ may be a sum of kernels, ``Pairwise(k1 + k2)``, or each source may have its own kernel between
pairs, ``Pairwise(k1) + Pairwise(k2)``: the first also compares one object by the one source and the other by
the other.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from multikernel._validation import is_frame
from multikernel.kernels._rows import Pair, Rows
from multikernel.kernels.base import Kernel, _Unary
from multikernel.kernels.given import Precomputed, as_kernel

_DIAGONAL_BLOCK = 16


@dataclass(frozen=True, repr=False)
class Pairwise(_Unary):
    """k((a, b), (c, d)) = κ(a, c) κ(b, d) + κ(a, d) κ(b, c), for rows that hold two objects side by side.

    A row of 2d columns is the pair of the objects in its first d and its last d columns, in any order. What κ
    learns from the data, such as the width of a Gaussian, it learns from all objects of the pairs. Ready-made
    kernels between objects go in as ``Pairwise(Precomputed(K))``, with two columns of positions.

    Parameters
    ----------
    base : Kernel or callable
        κ.

    Notes
    -----
    A view of it cannot standardise its columns: the two objects of a pair would be in different units.

    Examples
    --------
    >>> from multikernel.kernels import Linear
    >>> Pairwise(Linear())([[1.0, 2.0]], [[3.0, 4.0], [4.0, 3.0]])
    array([[48., 48.]])
    """

    base: Kernel

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", as_kernel(self.base))

    @property
    def _is_composite(self) -> bool:
        return False  # the products that kernels share are those of objects

    def _resolve(self, rows: Rows) -> Kernel:
        return dataclasses.replace(self, base=self.base._resolve(_all_objects(rows)))

    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        a, b = _objects(pair.left)
        c, d = (a, b) if pair.symmetric else _objects(pair.right)
        part = np.empty_like(out, subok=False)
        self._fill_base(a, d, out)
        if pair.symmetric:  # κ(a, d) κ(b, c) is M ∘ M'
            np.copyto(part, out.T)
        else:
            self._fill_base(b, c, part)
        out *= part
        self._fill_base(a, c, part)
        other = np.empty_like(out, subok=False)
        self._fill_base(b, d, other)
        part *= other
        out += part

    def _fill_base(self, left: Rows, right: Rows, out: np.ndarray) -> None:
        self.base._fill(Pair(left, right, keep=self.base._is_composite), out)

    def _diagonal(self, rows: Rows) -> np.ndarray:
        a, b = _objects(rows)
        crossed = np.empty(len(rows))
        for start in range(0, len(rows), _DIAGONAL_BLOCK):
            block = np.arange(start, min(start + _DIAGONAL_BLOCK, len(rows)))
            part = np.empty((block.size, block.size))
            self._fill_base(a.take(block), b.take(block), part)
            crossed[block] = part.diagonal()
        return np.asarray(self.base._diagonal(a) * self.base._diagonal(b) + crossed**2)

    def __repr__(self) -> str:
        return f"Pairwise({self.base!r})"


def pairwise_kernel(K: Any, pairs: Any, other_pairs: Any = None) -> np.ndarray:
    """The kernel between pairs of objects, from the kernel between the objects.

    K_pairs(i, j) = K(a_i, c_j) K(b_i, d_j) + K(a_i, d_j) K(b_i, c_j). Only the given pairs are formed.

    Parameters
    ----------
    K : array-like (n_objects, n_objects)
        Symmetric and finite.
    pairs : array-like (n_pairs, 2) of positions (a, b) into K
    other_pairs : array-like (n_other, 2), default=pairs
        The columns' pairs (c, d).

    Returns
    -------
    ndarray of shape (n_pairs, n_other)

    Examples
    --------
    >>> K = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]])
    >>> pairwise_kernel(K, [[0, 1], [2, 0]])
    array([[5., 1.],
           [1., 2.]])
    """
    kernel = Pairwise(Precomputed(K))
    rows = Rows(_positions(pairs, "pairs"), "pairs")
    columns = rows if other_pairs is None else Rows(_positions(other_pairs, "other_pairs"), "other_pairs")
    return kernel(rows, columns)


def _positions(pairs: Any, name: str) -> np.ndarray:
    table = np.asarray(pairs)
    if table.ndim != 2 or table.shape[1] != 2 or not len(table):
        raise ValueError(
            f"{name} must hold two positions in each row, shape (n_pairs, 2); got shape {table.shape}."
        )
    return table


def _objects(rows: Rows) -> tuple[Rows, Rows]:
    """The first and the second objects of pairs."""
    raw = rows.raw if is_frame(rows.raw) or scipy.sparse.issparse(rows.raw) else np.asarray(rows.raw)
    if raw.ndim != 2 or raw.shape[1] % 2 or not raw.shape[1]:
        raise ValueError(
            "Pairwise needs the features of two objects side by side, an even number of columns; "
            f"{rows.label} has shape {tuple(raw.shape)}."
        )
    d = raw.shape[1] // 2
    halves = [_columns(raw, slice(0, d)), _columns(raw, slice(d, 2 * d))]
    first, second = (
        Rows(half, f"{rows.label}, {which} objects")
        for half, which in zip(halves, ("first", "second"), strict=True)
    )
    return first, second


def _columns(raw: Any, columns: slice) -> Any:
    if is_frame(raw):
        return raw.iloc[:, columns]
    return raw.tocsr()[:, columns] if scipy.sparse.issparse(raw) else raw[:, columns]


def _all_objects(rows: Rows) -> Rows:
    """The objects of all pairs, one below the other."""
    first, second = (half.raw for half in _objects(rows))
    label = f"{rows.label}, objects"
    if scipy.sparse.issparse(first):
        return Rows(scipy.sparse.vstack([first, second], format="csr"), label)
    return Rows(np.concatenate([np.asarray(first), np.asarray(second)]), label)

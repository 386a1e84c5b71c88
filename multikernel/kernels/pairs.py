"""Kernels between pairs of objects, from kernels between objects (Ben-Hur & Noble, 2005).

    Kronecker   k((a, b), (c, d)) = κ_left(a, c) κ_right(b, d)
    Pairwise    k((a, b), (c, d)) = κ(a, c) κ(b, d) + κ(a, d) κ(b, c)

The first is for pairs of unlike objects, a drug and a target: two pairs are alike if their drugs are and so
are their targets. The second is for pairs of like objects, two proteins: which object of a pair comes first
does not matter. κ may be a sum of kernels, ``Pairwise(k1 + k2)``, or each source may have its own kernel
between pairs, ``Pairwise(k1) + Pairwise(k2)``: the first also compares one object by the one source and the
other by the other.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from multikernel._validation import check_split, is_frame, split_pairs
from multikernel.kernels._rows import Pair, Rows
from multikernel.kernels.base import Kernel, _Binary, _Unary
from multikernel.kernels.given import Precomputed, as_kernel

_DIAGONAL_BLOCK = 16


@dataclass(frozen=True, repr=False)
class Kronecker(_Binary):
    """k((a, b), (c, d)) = κ_left(a, c) κ_right(b, d), for rows with a left and a right object side by side.

    What the two kernels learn from the data, such as the width of a Gaussian, each learns from its own
    objects, as often as they occur. Precomputed kernels between objects go in as
    ``Kronecker(Precomputed(K_left), Precomputed(K_right))``, with two columns of positions.

    Parameters
    ----------
    left, right : Kernel or callable
    split : None, int or two lists of columns, default=None
        Which columns hold the left object: the first half, the given number of first columns, or those listed
        first, by position or, of a DataFrame, by name; the second list is the right object's.

    Examples
    --------
    >>> from multikernel.kernels import Linear, Precomputed
    >>> Kronecker(Linear(), Linear(), split=1)([[2.0, 1.0, 0.0]], [[3.0, 5.0, 7.0]])
    array([[30.]])
    >>> drugs, targets = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([[1.0, 0.2], [0.2, 1.0]])
    >>> Kronecker(Precomputed(drugs), Precomputed(targets))([[0, 0], [1, 1]])
    array([[1. , 0.1],
           [0.1, 1. ]])
    """

    split: Any = None
    _standardizes = False
    _is_composite = False  # the two sides read different columns: no product is shared

    def __post_init__(self) -> None:
        object.__setattr__(self, "left", as_kernel(self.left))
        object.__setattr__(self, "right", as_kernel(self.right))
        object.__setattr__(self, "split", check_split(self.split, "Kronecker split"))

    def _resolve(self, rows: Rows) -> Kernel:
        left, right = self._sides(rows)
        return dataclasses.replace(self, left=self.left._resolve(left), right=self.right._resolve(right))

    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        a, b = self._sides(pair.left)
        c, d = (a, b) if pair.symmetric else self._sides(pair.right)
        self.left._fill(Pair(a, c, keep=self.left._is_composite), out)
        other = np.empty_like(out, subok=False)
        self.right._fill(Pair(b, d, keep=self.right._is_composite), other)
        out *= other

    def _diagonal(self, rows: Rows) -> np.ndarray:
        left, right = self._sides(rows)
        return np.asarray(self.left._diagonal(left) * self.right._diagonal(right))

    def _sides(self, rows: Rows) -> tuple[Rows, Rows]:
        """The left and the right objects of pairs."""
        left, right = split_pairs(rows.raw, self.split, rows.label)
        return Rows(left, f"{rows.label}, left objects"), Rows(right, f"{rows.label}, right objects")


@dataclass(frozen=True, repr=False)
class Pairwise(_Unary):
    """k((a, b), (c, d)) = κ(a, c) κ(b, d) + κ(a, d) κ(b, c), for rows that hold two objects side by side.

    A row of 2d columns is the pair of the objects in its first d and its last d columns, in any order. What κ
    learns from the data, such as the width of a Gaussian, it learns from all objects of the pairs.
    Precomputed kernels between objects go in as ``Pairwise(Precomputed(K))``, with two columns of positions.

    Parameters
    ----------
    base : Kernel or callable
        κ.

    Examples
    --------
    >>> from multikernel.kernels import Linear
    >>> Pairwise(Linear())([[1.0, 2.0]], [[3.0, 4.0], [4.0, 3.0]])
    array([[48., 48.]])

    Notes
    -----
    A view of it cannot standardise its columns: the two objects of a pair would be in different units.
    """

    _standardizes = False
    _is_composite = False  # the products that kernels share are those of objects

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", as_kernel(self.base))

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


def pairwise_kernel(K: Any, pairs: Any, other_pairs: Any = None) -> np.ndarray:
    """The kernel between pairs of objects, from the kernel between the objects.

    K_pairs(i, j) = K(a_i, c_j) K(b_i, d_j) + K(a_i, d_j) K(b_i, c_j). Only the given pairs are formed.

    Parameters
    ----------
    K : array-like of shape (n_objects, n_objects)
        Symmetric and finite.
    pairs : array-like of shape (n_pairs, 2) of positions (a, b) into K
    other_pairs : array-like of shape (n_other, 2), default=None
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
    first, second = split_pairs(raw, None, rows.label)
    return Rows(first, f"{rows.label}, first objects"), Rows(second, f"{rows.label}, second objects")


def _all_objects(rows: Rows) -> Rows:
    """The objects of all pairs, one below the other."""
    first, second = (half.raw for half in _objects(rows))
    label = f"{rows.label}, objects"
    if scipy.sparse.issparse(first):
        return Rows(scipy.sparse.vstack([first, second], format="csr"), label)
    return Rows(np.concatenate([np.asarray(first), np.asarray(second)]), label)

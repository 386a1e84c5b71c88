"""Kernels of sets: how much two of them have in common, of all that either has."""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from multikernel._validation import RowError
from multikernel.kernels._columns import objects_of
from multikernel.kernels._rows import Pair, Rows, direct_distances, row_blocks, write_tile
from multikernel.kernels.base import Kernel
from multikernel.kernels.distance import require_non_negative


@dataclass(frozen=True, repr=False)
class Tanimoto(Kernel):
    """k(x, z) = Σ min(x_j, z_j) / Σ max(x_j, z_j), for rows of fingerprints or counts, at least 0.

    On rows of 0 and 1 it is |x ∩ z| / |x ∪ z|, the share of the bits that both have set, of those that either
    has (Tanimoto, Jaccard). On counts it is the same with repetitions (min-max, Ruzicka). Both are positive
    semidefinite. Two rows without anything are equal: k(0, 0) = 1, and k(0, z) = 0 for every other row, which
    is what a small constant added to every row as one more column tends to, and so positive semidefinite too.

    Sparse and dense tables are read alike, without a dense copy.

    Examples
    --------
    >>> Tanimoto()([[1, 1, 0], [0, 1, 1], [0, 0, 0]]).round(4)
    array([[1.    , 0.3333, 0.    ],
           [0.3333, 1.    , 0.    ],
           [0.    , 0.    , 1.    ]])
    >>> Tanimoto()([[3, 1]], [[1, 2]])  # (1 + 1) / (3 + 2)
    array([[0.4]])
    """

    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        require_non_negative(pair.right, "Tanimoto")
        require_non_negative(pair.left, "Tanimoto")
        sizes = _row_sums(pair.left.values), _row_sums(pair.right.values)
        if _is_binary(pair.left.values) and _is_binary(pair.right.values):
            for rows, columns, shared in pair.dot():
                both = np.add.outer(sizes[0][rows], sizes[1][columns])
                write_tile(out, rows, columns, _share(shared, both - shared), pair.symmetric)
        else:  # Σ min = (Σ x + Σ z − Σ |x − z|) / 2, and Σ max with a plus
            direct_distances("cityblock", *pair.tables, out)
            for block in row_blocks(*out.shape):
                both = np.add.outer(sizes[0][block], sizes[1])
                out[block] = _share(np.maximum(both - out[block], 0.0), both + out[block])
        if pair.symmetric:
            np.fill_diagonal(out, 1.0)

    def _diagonal(self, rows: Rows) -> np.ndarray:
        require_non_negative(rows, "Tanimoto")
        return np.ones(rows.values.shape[0])


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """part / whole, and 1 where there is nothing on either side."""
    empty = whole == 0.0
    return np.asarray(np.where(empty, 1.0, part / np.where(empty, 1.0, whole)))


def _row_sums(table: Any) -> np.ndarray:
    return np.asarray(table.sum(axis=1), dtype=np.float64).ravel()


def _is_binary(table: Any) -> bool:
    values = table.data if scipy.sparse.issparse(table) else table
    return bool(((values == 0.0) | (values == 1.0)).all())


@dataclass(frozen=True, repr=False)
class Jaccard(Kernel):
    """k(A, B) = |A ∩ B| / |A ∪ B|, for a column that holds sets of tokens.

    An entry is a set, list, tuple or array of tokens, of which each counts once, or a text, which is cut into
    its words. k(∅, ∅) = 1, as in :class:`Tanimoto`, which is the same kernel for tables of 0 and 1. Tokens
    that no training row has are counted in |A ∪ B|.

    Parameters
    ----------
    separator : str or None, default=None
        What stands between the tokens of a text; None is any white space.

    Examples
    --------
    >>> Jaccard()([{"apple", "pear"}, {"pear", "plum"}]).round(4)
    array([[1.    , 0.3333],
           [0.3333, 1.    ]])
    >>> Jaccard(separator=";")(["GO:1;GO:2"], ["GO:2;GO:1", "GO:2"])
    array([[1. , 0.5]])
    """

    separator: str | None = None
    _reads_numbers = False
    _reads_tables = False
    _reads_strings = True

    def __post_init__(self) -> None:
        if self.separator is not None and (not isinstance(self.separator, str) or not self.separator):
            raise TypeError(
                "Jaccard separator must be a text of at least one character, or None; got "
                f"{self.separator!r}."
            )

    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        known: dict[Hashable, int] = {}
        left, right = pair.both(lambda rows: self._tokens(rows, known))
        columns = Rows(_indicators(right, max(len(known), 1)), pair.right.label)
        rows = columns if pair.symmetric else Rows(_indicators(left, columns.raw.shape[1]), pair.left.label)
        Tanimoto()._fill(Pair(rows, columns), out)

    def _diagonal(self, rows: Rows) -> np.ndarray:
        return np.ones(len(self._tokens(rows, {})))

    def _tokens(self, rows: Rows, known: dict[Hashable, int]) -> list[list[int]]:
        """The numbers of the tokens of each row, each once, in order; new tokens are added to `known`."""
        found = []
        for row, entry in enumerate(objects_of(rows, "Jaccard")):
            try:
                tokens = {known.setdefault(token, len(known)) for token in self._split(entry)}
            except TypeError:
                raise RowError(
                    "Jaccard needs a set, list or text of tokens in each row; "
                    f"{rows.label} holds {entry!r:.60} at row",
                    row,
                    ". An empty set is [] or ''.",
                ) from None
            found.append(sorted(tokens))
        return found

    def _split(self, entry: Any) -> Any:
        if isinstance(entry, str):
            parts = (part.strip() for part in entry.split(self.separator))
            return [part for part in parts if part]
        if isinstance(entry, np.ndarray) and entry.ndim == 1:
            return entry.tolist()
        if isinstance(entry, (Set, Sequence)) and not isinstance(entry, bytes):
            return entry
        raise TypeError(type(entry))


def _indicators(entries: list[list[int]], width: int) -> scipy.sparse.csr_matrix:
    """A row of 0 and 1 for each set."""
    starts = np.cumsum([0, *map(len, entries)])
    columns = np.array([token for tokens in entries for token in tokens], dtype=np.int64)
    return scipy.sparse.csr_matrix((np.ones(len(columns)), columns, starts), shape=(len(entries), width))

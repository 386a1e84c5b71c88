"""Cross-validation of pairs: which objects of a test pair were seen in training (Park & Marcotte 2012).

A random split of pairs tests on new pairs of known objects. What is often wanted is more: predictions for a
new drug, a new target, or both. Then all pairs of some objects have to be held out together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np

from .._validation import check_choice, check_positive_integer, check_seed, check_split, split_pairs
from ..rows.tables import distinct_rows, join_rows

Array = np.ndarray[Any, np.dtype[Any]]

HOLD_OUTS = ("pairs", "left", "right", "both")
SYMMETRIC_HOLD_OUTS = ("pairs", "one", "both")


@dataclass
class PairSplit:
    """Folds of pairs by what is new in a test pair: the pair, its left object, its right object, or both.

    ========  =====================================  ====================================  ======
    hold_out  a test pair                            training pairs                        splits
    ========  =====================================  ====================================  ======
    "pairs"   is new; its objects may be known       all others                            k
    "left"    has a left object of the fold          those of other left objects           k
    "right"   has a right object of the fold         those of other right objects          k
    "both"    has both its objects in the two folds  those with neither object in them     k²
    "one"     has one object in the fold, not two    those with no object in it            k
    ========  =====================================  ====================================  ======

    with k = ``n_splits`` folds of pairs or of objects. "one" is for symmetric pairs, where it takes the place
    of "left" and "right"; their "both" has k (k + 1) / 2 splits. With "both" and "one", some pairs are in
    neither part. A split without test pairs or without training pairs is left out.

    Parameters
    ----------
    n_splits : int, default=5
        k, 2 at least.
    hold_out : {"pairs", "left", "right", "both", "one"}, default="pairs"
    symmetric : bool, default=False
        Whether both objects of a pair are from one set, so that (a, b) is the same pair as (b, a).
    columns : None, int or two lists of columns, default=None
        Which columns hold the left object, as ``split`` of :class:`~multikernel.kernels.Kronecker`. Objects
        are told apart by the values of their columns: positions, names or features.
    random_state : int or None, default=None
        Shuffles pairs or objects; None is 0, so that every call gives the same folds.

    Examples
    --------
    >>> pairs = np.array([[drug, target] for drug in range(4) for target in range(3)])
    >>> train, test = next(PairSplit(2, hold_out="left").split(pairs))
    >>> set(pairs[train, 0]) & set(pairs[test, 0])
    set()
    >>> PairSplit(2, hold_out="both").get_n_splits(pairs)
    4
    """

    n_splits: int = 5
    hold_out: str = "pairs"
    symmetric: bool = False
    columns: Any = None
    random_state: Any = None

    def __post_init__(self) -> None:
        if check_positive_integer("n_splits", self.n_splits) < 2:
            raise ValueError(f"n_splits must be at least 2; got {self.n_splits}.")
        if not isinstance(self.symmetric, (bool, np.bool_)):
            raise TypeError(f"symmetric must be True or False; got {self.symmetric!r}.")
        choices = SYMMETRIC_HOLD_OUTS if self.symmetric else HOLD_OUTS
        check_choice(f"hold_out with symmetric={self.symmetric}", self.hold_out, choices)
        check_split(self.columns, "columns")
        check_seed("random_state", self.random_state)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Array, Array]]:
        """Yield the positions of the training pairs and of the test pairs.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame (n_pairs, 2), or more columns
        y, groups : ignored
        """
        left, right = self._objects(X)
        for is_train, is_test in self._parts(left, right):
            if is_train.any() and is_test.any():
                yield np.flatnonzero(is_train), np.flatnonzero(is_test)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of splits; without X, that of pairs so many that no part is empty."""
        if X is not None:
            return sum(1 for _ in self.split(X))
        if self.hold_out != "both":
            return self.n_splits
        return self.n_splits * (self.n_splits + 1) // 2 if self.symmetric else self.n_splits**2

    def _objects(self, X: Any) -> tuple[Array, Array]:
        """The number of the left and of the right object of each pair."""
        left, right = split_pairs(X, check_split(self.columns, "columns"), "X")
        if not self.symmetric:
            return distinct_rows(left)[1], distinct_rows(right)[1]
        if left.shape[1] != right.shape[1]:
            raise ValueError(
                "symmetric pairs need as many columns for the one object as for the other; got "
                f"{left.shape[1]} and {right.shape[1]}."
            )
        if hasattr(right, "iloc"):
            right = right.set_axis(left.columns, axis=1)
        both = distinct_rows(join_rows([left, right]))[1]
        return both[: left.shape[0]], both[left.shape[0] :]

    def _parts(self, left: Array, right: Array) -> Iterator[tuple[Array, Array]]:
        rng = np.random.default_rng(check_seed("random_state", self.random_state))
        if self.hold_out == "pairs":
            return self._one_by_one(self._folds(self._pair_codes(left, right), "pairs", rng))
        if self.hold_out in ("left", "right"):
            objects = left if self.hold_out == "left" else right
            return self._one_by_one(self._folds(objects, f"{self.hold_out} objects", rng))
        if self.symmetric:
            folds = self._folds(np.concatenate([left, right]), "objects", rng)
            halves = folds[: left.size], folds[left.size :]
            return (self._parts_of_one if self.hold_out == "one" else self._parts_of_two)(*halves)
        return self._parts_of_sides(
            self._folds(left, "left objects", rng), self._folds(right, "right objects", rng)
        )

    def _pair_codes(self, left: Array, right: Array) -> Array:
        """One number for each distinct pair."""
        if self.symmetric:
            left, right = np.minimum(left, right), np.maximum(left, right)
        return np.asarray(np.unique(left * (right.max() + 1) + right, return_inverse=True)[1])

    def _folds(self, codes: Array, what: str, rng: np.random.Generator) -> Array:
        """The fold of each entry; those of one code are in one fold."""
        n = int(codes.max()) + 1
        if n < self.n_splits:
            raise ValueError(f"n_splits={self.n_splits} folds need as many distinct {what}; X has {n}.")
        fold_of = np.empty(n, np.intp)
        fold_of[rng.permutation(n)] = np.arange(n) % self.n_splits
        return fold_of[codes]

    def _one_by_one(self, folds: Array) -> Iterator[tuple[Array, Array]]:
        for fold in range(self.n_splits):
            yield folds != fold, folds == fold

    def _parts_of_sides(self, left: Array, right: Array) -> Iterator[tuple[Array, Array]]:
        for i, j in product(range(self.n_splits), repeat=2):
            yield (left != i) & (right != j), (left == i) & (right == j)

    def _parts_of_one(self, first: Array, second: Array) -> Iterator[tuple[Array, Array]]:
        for fold in range(self.n_splits):
            yield (first != fold) & (second != fold), (first == fold) ^ (second == fold)

    def _parts_of_two(self, first: Array, second: Array) -> Iterator[tuple[Array, Array]]:
        for i, j in combinations_with_replacement(range(self.n_splits), 2):
            known = ~np.isin(first, (i, j)) & ~np.isin(second, (i, j))
            yield known, ((first == i) & (second == j)) | ((first == j) & (second == i))

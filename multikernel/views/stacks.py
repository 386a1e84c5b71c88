"""Stacks of Gram matrices with the names of their kernels: made of dicts and lists, matched by name.

What holds kernels (``kernels="precomputed"``) may be an array of shape (n, k, m), one matrix of shape (n, k),
or a dict or list of m such matrices. `as_stack` reads all of them at fit, `match_stack` at prediction, where
kernels that have names are found by these. Numerics see plain arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from multikernel._validation import (
    all_finite,
    as_list,
    check_float_dtype,
    check_real_matrix,
    is_frame,
    raise_non_finite_gram,
)
from multikernel.views.frames import as_pandas
from multikernel.views.tables import MultiTable, as_tables, is_gram_frame, is_tables, sample_ids

_Ids = tuple[tuple[str, ...] | None, tuple[str, ...] | None]  # of the rows and of the columns
_NO_IDS: _Ids = (None, None)


class NamedStack(np.ndarray):
    """A stack of Gram matrices, shape (n_samples, k, m), that knows the names of its m kernels.

    It is an array, so that whatever takes a stack takes it: scikit-learn's splitters, NumPy's functions, the
    reading of files that are mapped into memory. Samples may be taken from it (``stack[rows]``,
    ``stack[np.ix_(rows, rows)]``, ``train_test_split``, ``cross_val_score``) and kernels
    (``stack[:, :, [0, 2]]``): the names stay with their kernels. So they do in arithmetic that keeps the
    shape, copies, pickles and processes. Where it is not sure which kernel is which, as after
    ``stack.sum(axis=2)`` or a kernel taken twice, the result is a plain array without names. A file of
    ``np.save`` holds no names; that of ``np.savez(file, **grams)`` does, and ``stack_kernels(np.load(file))``
    reads them.

    Parameters
    ----------
    stack : array of shape (n_samples, k, m)
        Used as it is, without a copy.
    names : sequence of str of length m
        Distinct and not empty.

    Attributes
    ----------
    names : tuple of str, or None
        None where they got lost; the stack is then read as a plain array.
    row_ids, column_ids : tuple of str, or None
        The samples of the rows and of the columns, where `stack_kernels` found them as labels of frames. They
        stay with their samples as names do with their kernels, and are None where that is not sure.

    Examples
    --------
    >>> stack = NamedStack(np.ones((4, 4, 2)), ["expr", "ppi"])
    >>> stack[:3].names, stack[:, :, [1]].names, type(stack[:, :, 0]).__name__
    (('expr', 'ppi'), ('ppi',), 'ndarray')
    """

    names: tuple[str, ...] | None
    _ids: _Ids

    def __new__(cls, stack: Any, names: Sequence[str]) -> NamedStack:
        array = check_real_matrix(stack, "stack")
        if array.ndim != 3:
            raise ValueError(f"a stack must have shape (n, k, n_kernels); got shape {array.shape}.")
        made = array.view(cls)
        made.names = tuple(check_names(names, array.shape[2]))
        made._ids = stack._ids if isinstance(stack, NamedStack) else _NO_IDS
        return made

    def __array_finalize__(self, obj: Any) -> None:
        self.names, self._ids = None, _NO_IDS

    @property
    def row_ids(self) -> tuple[str, ...] | None:
        """The samples of the rows."""
        return self._ids[0]

    @property
    def column_ids(self) -> tuple[str, ...] | None:
        """The samples of the columns."""
        return self._ids[1]

    def __getitem__(self, key: Any) -> Any:
        part = np.asarray(self)[key]
        if np.ndim(part) != 3:
            return part
        return _named(part, _taken_names(self.names, key), _taken_ids(self._ids, key))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Compute on plain arrays; what has the shape of the stack keeps the names that all inputs share."""
        stacks = [each for each in inputs if isinstance(each, NamedStack)]
        out = options.get("out", ())
        if out:
            options["out"] = tuple(_plain(each) for each in out)
        found = getattr(ufunc, method)(*map(_plain, inputs), **options)
        if out:
            return out[0] if len(out) == 1 else out
        names = stacks[0].names if len({each.names for each in stacks}) == 1 else None
        ids = stacks[0]._ids if len({each._ids for each in stacks}) == 1 else _NO_IDS
        keeps = method == "__call__" and isinstance(found, np.ndarray) and found.shape == self.shape
        return _named(found, names, ids) if keeps else found

    def transpose(self, *axes: Any) -> Any:
        """The stack with its axes in another order; names stay where the kernels stay last."""
        turned = np.asarray(self).transpose(*axes)
        order = axes[0] if len(axes) == 1 and isinstance(axes[0], Sequence) else axes
        stays = len(order) == 3 and order[2] in (2, -1)
        ids = self._ids if stays and order[0] in (0, -3) else self._ids[::-1]
        return _named(turned, self.names if stays else None, ids)

    def copy(self, order: Any = "C") -> Any:
        """A copy with the same names."""
        return _named(np.asarray(self).copy(order), self.names, self._ids)

    def astype(self, *arguments: Any, **options: Any) -> Any:
        """The stack in another type, with the same names."""
        return _named(np.asarray(self).astype(*arguments, **options), self.names, self._ids)

    def __copy__(self) -> Any:
        return self.copy("K")

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Any:
        return self.copy("K")

    def __reduce__(self) -> Any:
        # a plain array, kernels first: joblib maps it into memory, and the layout stays
        kernels_first = self.ndim == 3
        plain = np.moveaxis(np.asarray(self), 2, 0) if kernels_first else np.asarray(self)
        return _rebuild, (plain, self.names, kernels_first, self._ids)


def _rebuild(
    array: np.ndarray, names: tuple[str, ...] | None, kernels_first: bool, ids: _Ids = _NO_IDS
) -> np.ndarray:
    return _named(np.moveaxis(array, 0, 2) if kernels_first else array, names, ids)


def _plain(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, NamedStack) else value


def _named(array: np.ndarray, names: Sequence[str] | None, ids: _Ids = _NO_IDS) -> np.ndarray:
    """A view of an array with names; the array itself where there are none."""
    if names is None:
        return array
    stack = array.view(NamedStack)
    stack.names, stack._ids = tuple(names), ids
    return stack


def _taken_names(names: tuple[str, ...] | None, key: Any) -> tuple[str, ...] | None:
    """The names after indexing that leaves three axes; None where they are not sure."""
    entries = list(key) if isinstance(key, tuple) else [key]
    if names is None or any(entry is None or np.ndim(entry) > 3 for entry in entries):
        return None
    if any(np.asarray(entry).dtype.kind == "b" and np.ndim(entry) != 1 for entry in entries):
        return None
    entries = _of_three_axes(entries)
    last = entries[2]
    if isinstance(last, slice):
        return names[last]
    chosen = np.asarray(last)
    alone = chosen.ndim == 1 and all(isinstance(entry, slice) for entry in entries[:2])
    if not alone and chosen.shape[:-1] != (1, 1):  # as numpy.ix_ has it
        return None
    taken = tuple(np.array(names, dtype=object)[chosen.ravel()])
    return taken if len(set(taken)) == len(taken) else None


def _of_three_axes(entries: list[Any]) -> list[Any]:
    """One entry of an index for each axis."""
    dots = [place for place, entry in enumerate(entries) if entry is Ellipsis]
    fill = [slice(None)] * (3 - len(entries) + len(dots))
    place = dots[0] if dots else len(entries)
    return entries[:place] + fill + entries[place + len(dots) :]


def _taken_ids(ids: _Ids, key: Any) -> _Ids:
    """The ids after indexing that leaves three axes and the names; None where they are not sure."""
    entries = list(key) if isinstance(key, tuple) else [key]
    if ids == _NO_IDS or any(entry is None for entry in entries):
        return _NO_IDS
    entries = _of_three_axes(entries)
    arrays = [np.asarray(entry) for entry in entries if not isinstance(entry, slice)]
    if len(arrays) > 1:
        meshed = [
            isinstance(entry, slice) or np.shape(entry)[axis : axis + 1] == (np.size(entry),)
            for axis, entry in enumerate(entries)
        ]
        if not all(meshed) or isinstance(entries[0], slice) or isinstance(entries[1], slice):
            return _NO_IDS  # not as numpy.ix_ has it
    elif arrays and arrays[0].ndim != 1:
        return _NO_IDS
    rows, columns = (
        of_axis if of_axis is None else _picked(of_axis, entry)
        for of_axis, entry in zip(ids, entries[:2], strict=True)
    )
    return rows, columns


def _picked(ids: tuple[str, ...], entry: Any) -> tuple[str, ...]:
    if isinstance(entry, slice):
        return ids[entry]
    chosen = np.asarray(entry)
    return tuple(np.array(ids, dtype=object)[chosen.ravel()]) if chosen.size else ()


def check_names(names: Any, n_kernels: int) -> list[str]:
    """One distinct, non-empty string for each kernel."""
    listed = as_list("names", names, "texts, one for each kernel")
    if len(listed) != n_kernels:
        raise ValueError(f"names must hold one name for each of the {n_kernels} kernels; got {len(listed)}.")
    for name in listed:
        if not isinstance(name, str) or not name:
            raise TypeError(
                f"the name of a kernel must be a non-empty string; got {name!r}. Use str() on the names."
            )
    doubled = [name for name in listed if listed.count(name) > 1]
    if doubled:
        raise ValueError(
            f"kernel names must be distinct; {doubled[0]!r} occurs {listed.count(doubled[0])} times. Give "
            f"each kernel a name of its own, such as {doubled[0]!r} and {doubled[0] + '-2'!r}."
        )
    return listed


def names_of(X: Any) -> list[str] | None:
    """The names of the kernels that X holds; None where they have none.

    Examples
    --------
    >>> names_of({"expr": np.eye(2)}), names_of([np.eye(2)])
    (['expr'], None)
    """
    if _is_dict(X):
        return check_names(X, len(X))
    names = getattr(X, "names", None) if isinstance(X, NamedStack) else None
    return None if names is None else list(names)


# --- forms -------------------------------------------------------------------------------------------------


def _is_dict(X: Any) -> bool:
    return isinstance(X, Mapping) and not scipy.sparse.issparse(X)


def is_grams(X: Any) -> bool:
    """Whether X is several Gram matrices that are not one array: a dict of them, or a list of 2-D arrays."""
    return _is_dict(X) or (isinstance(X, list | tuple) and is_tables(X))


def as_stack(X: Any, *, at_fit: bool = False) -> Any:
    """Gram matrices in any form: dicts and lists as one stack, all else as it is.

    ``at_fit``: whether a square frame holds the similarities of the samples to each other, so that its rows
    and columns must have the same labels.
    """
    if isinstance(X, MultiTable):
        raise TypeError(
            'kernels="precomputed" needs Gram matrices, which lose rows and columns together; got several '
            "tables. Use stack_kernels on a dict of the matrices."
        )
    if is_grams(X):
        return _stack(X, None, at_fit)
    if isinstance(X, NamedStack):
        _require_square_labels("the stack of kernels", _listed(X.row_ids), _listed(X.column_ids), at_fit)
    else:
        _check_labels(_frames(X), at_fit)
    return X


def training_labels(X: Any) -> list[str] | None:
    """Labels of the columns of Gram matrices in frames, the training samples; None where they have none.

    Examples
    --------
    >>> ids = ["ann", "bob"]
    >>> training_labels({"expr": pd.DataFrame(np.eye(2), ids, ids)}), training_labels(np.eye(2))
    (['ann', 'bob'], None)
    """
    if isinstance(X, NamedStack):
        return _listed(X.column_ids)
    found = (_labels(frame.columns) for _, frame in _frames(X))
    return next((labels for labels in found if labels is not None), None)


def row_labels(X: Any) -> list[str] | None:
    """Labels of the rows of Gram matrices in frames, the samples; None where they have none.

    Examples
    --------
    >>> row_labels([pd.DataFrame(np.eye(2), ["ann", "bob"])]), row_labels(np.eye(2))
    (['ann', 'bob'], None)
    """
    if isinstance(X, NamedStack):
        return _listed(X.row_ids)
    found = (_labels(frame.index) for _, frame in _frames(X))
    return next((labels for labels in found if labels is not None), None)


def ids_of(X: Any, *, grams: bool) -> list[str] | None:
    """The names of samples, which are rows of Gram matrices or of tables; None where they have none."""
    return row_labels(X) if grams else sample_ids(as_tables(X))


def require_training_labels(X: Any, expected: list[str]) -> None:
    """Refuse Gram matrices in frames whose columns are not the training samples in the order of fit."""
    given = [(label, _labels(frame.columns)) for label, frame in _frames(X)]
    if isinstance(X, NamedStack):
        given = [("the stack of kernels", _listed(X.column_ids))]
    for label, labels in given:
        if labels is None or len(labels) != len(expected) or labels == expected:
            continue
        place = _first_difference(labels, expected)
        raise ValueError(
            "the columns of a Gram matrix at prediction must be the training samples in the order of fit; "
            f"column {place} of {label} is {labels[place]!r}, in fit it was {expected[place]!r}. Reorder "
            "them, as by K.loc[:, K_train.columns], or give K.to_numpy() if the labels do not matter."
        )


def _frames(X: Any) -> list[tuple[str, pd.DataFrame]]:
    """The Gram matrices that are frames, with what errors call them."""
    labelled = _labelled(X) if is_grams(X) else [("the precomputed kernel", X)]
    converted = [(label, as_pandas(K)) for label, K in labelled]
    return [(label, K) for label, K in converted if is_frame(K)]


def match_stack(X: Any, names: Sequence[str] | None) -> Any:
    """Gram matrices in any form as a stack, its kernels in the order of `names`.

    Kernels with names are found by these, in any order and among others, and keep them. Those without are
    taken by their position. Where `names` is None those of fit had no names: so are the kernels of a stack,
    but a dict of several is refused.

    Examples
    --------
    >>> stack = match_stack({"b": [[2.0]], "c": [[3.0]], "a": [[1.0]]}, ["a", "b"])
    >>> stack.names, stack.tolist()
    (('a', 'b'), [[[1.0, 2.0]]])
    """
    given = names_of(X)
    if names is None and _is_dict(X) and len(X) > 1:
        raise ValueError(
            f"the kernels had no names in fit, where they were a list or an array; got a dict of {given}. "
            "Pass a list of the matrices in the order of fit, or fit on a dict too."
        )
    if given is None or names is None:
        return _plain(as_stack(X))
    if given == list(names):
        return as_stack(X)
    missing = [name for name in names if name not in given]
    if missing:
        raise ValueError(
            f"kernels must have the names of fit, {list(names)}; got {given}, without {missing}. Give each "
            "matrix the name that it had in fit; other names are ignored."
        )
    if _is_dict(X):
        return _stack({name: X[name] for name in names}, None, False)
    kernels_first = np.moveaxis(np.asarray(X), 2, 0)
    chosen = np.moveaxis(kernels_first[[given.index(name) for name in names]], 0, 2)
    return _named(chosen, names, X._ids)


def stack_kernels(kernels: Any, dtype: Any = None) -> np.ndarray:
    """Stack Gram matrices for ``kernels="precomputed"``.

    Parameters
    ----------
    kernels : dict or sequence of arrays of shape (n_samples, k)
        Training Grams (k = n) or test rows against the training samples. A dict names the kernels, and the
        names stay with the stack: see `NamedStack`. Frames must have the same labels in all kernels; rows and
        columns of a square one must have the same labels or none in common.
    dtype : {"float64", "float32"}, default=None
        None keeps float32 if every matrix is float32, else takes float64.

    Returns
    -------
    ndarray of shape (n_samples, k, m)
        A view on memory that holds one kernel after the other, so that estimators need no copy; of a dict a
        `NamedStack`.

    Examples
    --------
    >>> stack = stack_kernels({"one": [[1.0, 0.0], [0.0, 1.0]], "two": [[2.0, 1.0], [1.0, 2.0]]})
    >>> stack.shape, stack.names, stack[:, :, 1].tolist()
    ((2, 2, 2), ('one', 'two'), [[2.0, 1.0], [1.0, 2.0]])
    """
    if isinstance(kernels, NamedStack):
        return kernels if dtype is None else kernels.astype(check_float_dtype(dtype), copy=False)
    return _stack(kernels, dtype, False)


def _stack(kernels: Any, dtype: Any, at_fit: bool) -> np.ndarray:
    """A stack of a dict or a sequence of matrices."""
    labelled = _labelled(kernels)
    frames = [(label, as_pandas(K)) for label, K in labelled]
    _check_labels([(label, K) for label, K in frames if is_frame(K)], at_fit)
    matrices = [check_real_matrix(K, label) for label, K in frames]
    for (label, _), K in zip(labelled, matrices, strict=True):
        if K.ndim != 2:
            raise ValueError(
                f"every kernel must be a matrix with a value for each pair of samples; {label} has shape "
                f"{K.shape}."
            )
        if K.shape != matrices[0].shape:
            raise ValueError(
                f"every kernel must be a matrix of the same shape; {label} has shape {K.shape}, "
                f"{labelled[0][0]} has shape {matrices[0].shape}."
            )
    single = all(K.dtype == np.float32 for K in matrices)
    own = np.dtype(np.float32 if single else np.float64)
    Ks = np.empty((len(matrices), *matrices[0].shape), own if dtype is None else check_float_dtype(dtype))
    for target, K in zip(Ks, matrices, strict=True):
        target[...] = K
    held = [K for _, K in frames if is_frame(K)]
    ids = (_first_labels(K.index for K in held), _first_labels(K.columns for K in held))
    return _named(np.moveaxis(Ks, 0, 2), names_of(kernels), ids)


def _labelled(kernels: Any) -> list[tuple[str, Any]]:
    """Matrices with what errors call them."""
    if isinstance(kernels, memoryview):  # one of several dimensions cannot be iterated
        kernels = np.asarray(kernels)
    if _is_dict(kernels):
        labelled = [(f"kernel {name!r}", kernels[name]) for name in check_names(kernels, len(kernels))]
    elif isinstance(kernels, (Sequence, np.ndarray)) and not isinstance(kernels, (str, bytes)):
        labelled = [(f"kernel {position}", K) for position, K in enumerate(kernels)]
    else:
        raise TypeError(f"kernels must be a list or a dict of matrices; got {type(kernels).__name__}.")
    if not labelled:
        raise ValueError("kernels must hold at least one matrix; got none.")
    for label, K in labelled:
        if K is None:
            raise TypeError(
                f"{label} is None. Leave it out in fit; of samples that lack a kernel, set its rows and "
                'columns to NaN and use KernelBank("precomputed", missing="renormalize").'
            )
    return labelled


# --- labels of frames --------------------------------------------------------------------------------------


def _check_labels(frames: Sequence[tuple[str, pd.DataFrame]], at_fit: bool) -> None:
    """Refuse frames whose labels say that kernels, or rows and columns, are of other samples."""
    both = at_fit or all(is_gram_frame(frame) for _, frame in frames)
    of_rows = [(label, _labels(frame.index)) for label, frame in frames]
    of_columns = [(label, _labels(frame.columns)) for label, frame in frames]
    _require_same_labels("row", of_rows, "K.loc[ids, ids]" if both else "K.loc[ids]")
    _require_same_labels("column", of_columns, "K.loc[ids, ids]" if both else "K.loc[:, ids]")
    for label, frame in frames:
        _require_square_labels(label, _labels(frame.index), _labels(frame.columns), at_fit)


def _require_square_labels(
    label: str, rows: list[str] | None, columns: list[str] | None, at_fit: bool
) -> None:
    if rows is None or columns is None or len(rows) != len(columns) or rows == columns:
        return
    if at_fit or not set(rows).isdisjoint(columns):  # else they may be new samples
        place = _first_difference(rows, columns)
        raise ValueError(
            "the rows and the columns of a square Gram matrix must be the same samples in the same "
            f"order; {label} has {rows[place]!r} in row {place} and {columns[place]!r} in column "
            f"{place}. Reorder it, as by K.loc[ids, ids], or give K.to_numpy() if the labels do not "
            "matter."
        )


def _require_same_labels(word: str, found: Sequence[tuple[str, list[str] | None]], way: str) -> None:
    known = [(label, labels) for label, labels in found if labels is not None]
    for label, labels in known[1:]:
        first, expected = known[0]
        if len(labels) == len(expected) and labels != expected:
            place = _first_difference(labels, expected)
            raise ValueError(
                f"all kernels must have the same samples in the same order; {word} {place} is "
                f"{expected[place]!r} in {first} and {labels[place]!r} in {label}. Reorder one by the "
                f"ids of the other, as by {way}."
            )


def _labels(index: pd.Index) -> list[str] | None:
    """Labels as texts, as files have them; None where they only count."""
    return None if isinstance(index, pd.RangeIndex) else list(map(str, index))


def _listed(ids: tuple[str, ...] | None) -> list[str] | None:
    return None if ids is None else list(ids)


def _first_labels(indices: Iterable[pd.Index]) -> tuple[str, ...] | None:
    found = (_labels(index) for index in indices)
    return next((tuple(labels) for labels in found if labels is not None), None)


def _first_difference(one: list[str], other: list[str]) -> int:
    return next(place for place, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)


# --- sums --------------------------------------------------------------------------------------------------


def combine_kernels(kernels: Any, weights: Any) -> np.ndarray:
    """Weighted sum Σ_m weights[m] · K_m.

    Parameters
    ----------
    kernels : array of shape (n_samples, k, m), or dict or sequence of m arrays of shape (n_samples, k)
    weights : array-like of shape (m,)
        In the order of the kernels.

    Returns
    -------
    ndarray of shape (n_samples, k), float64

    Examples
    --------
    >>> combine_kernels([np.eye(2), np.ones((2, 2))], [1.0, 0.5])
    array([[1.5, 0.5],
           [0.5, 1.5]])
    """
    is_stack = isinstance(kernels, np.ndarray) and kernels.ndim == 3
    Ks = np.moveaxis(check_real_matrix(kernels if is_stack else stack_kernels(kernels), "kernels"), 2, 0)
    values = check_real_matrix(weights, "weights").astype(np.float64)
    if values.shape != (len(Ks),):
        raise ValueError(
            f"weights must have one entry for each of the {len(Ks)} kernels; got shape {values.shape}."
        )
    if not np.isfinite(values).all():
        raise ValueError(f"weights must be finite; got {values.tolist()}.")
    for position, K in enumerate(Ks):
        if not all_finite(K):
            raise_non_finite_gram(K, f"kernel {position}")
    total = np.zeros(Ks.shape[1:])
    with np.errstate(all="ignore"):
        for weight, K in zip(values, Ks, strict=True):
            if weight != 0.0:
                total += weight * K
    return total

"""From dask collections to chunks of rows, with their shapes, columns and lengths checked.

The chunks are loaded once to see what they truly hold, since a dataframe does not know its lengths, and what
a collection says about itself may be wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from multikernel._validation import is_frame
from multikernel.rows.dask_program import persist_all
from multikernel.rows.tables import count_rows, import_dask, is_dask


class ChunkRows(NamedTuple):
    """The chunks that hold rows."""

    pieces: list[tuple[Any, ...]]  # features, targets and sample weights of each, as delayed objects or None
    lengths: list[int]
    numbers: list[int]  # which chunk of the caller's each is; empty ones are left out


class _Look(NamedTuple):
    """What one chunk holds: rows of each part, columns of the first, their names and kinds of values."""

    n_rows: tuple[int | None, ...]
    n_columns: int
    names: list[Any] | None
    kinds: list[str]


def open_chunks(X: Any, targets: dict[str, Any]) -> ChunkRows:
    """The chunks of a dask array or dataframe, with those of its targets, by the name that messages use."""
    X = features_in_chunks(X)
    pieces = [feature_pieces(X)]
    for name, target in targets.items():
        pieces.append(_target_pieces(name, target, X) if is_dask(target) else [None] * len(pieces[0]))
    looks = _look_at(pieces)
    labels = ["X", *targets]
    _check_lengths(looks, labels, known_lengths(X))
    _check_columns(looks, X)
    lengths = [int(look.n_rows[0] or 0) for look in looks]
    for number, (name, target) in enumerate(targets.items(), start=1):
        if target is not None and not is_dask(target):
            pieces[number] = _split(name, target, lengths)
    kept = [number for number, length in enumerate(lengths) if length]
    return ChunkRows(
        [tuple(part[number] for part in pieces) for number in kept],
        [lengths[number] for number in kept],
        kept,
    )


def features_in_chunks(X: Any) -> Any:
    """The dask array with all columns in one chunk, or the dask dataframe; everything else is refused."""
    is_table = not _is_delayed(X)  # which says yes to every hasattr
    if is_table and hasattr(X, "npartitions") and is_frame(X):
        return X
    if not (is_table and hasattr(X, "rechunk") and hasattr(X, "numblocks")):
        raise TypeError(
            f"X must be a dask array or a dask dataframe with rows in chunks; got {type(X).__name__}. "
            "Make one with dask.array.from_delayed or dask.dataframe.from_delayed."
        )
    if X.ndim != 2:
        raise ValueError(
            f"X must be a table of shape (n_samples, n_features); got a dask array of {X.ndim} dimension(s). "
            + (
                "Reshape a single feature with X.reshape(-1, 1)."
                if X.ndim == 1
                else "Load it with X.compute(), or reshape it to one row a sample."
            )
        )
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def _is_delayed(table: Any) -> bool:
    from dask.delayed import Delayed

    return isinstance(table, Delayed)


def feature_pieces(X: Any) -> list[Any]:
    """One delayed object for each chunk of rows."""
    return list(np.ravel(X.to_delayed()))


def known_lengths(X: Any) -> list[int] | None:
    """The rows of each chunk, where the collection knows them."""
    if is_frame(X) or np.isnan(X.chunks[0]).any():
        return None
    return [int(length) for length in X.chunks[0]]


def _target_pieces(name: str, target: Any, X: Any) -> list[Any]:
    is_array = not _is_delayed(target) and hasattr(target, "rechunk") and target.ndim in (1, 2)
    is_series = hasattr(target, "npartitions") and hasattr(target, "to_frame") and not is_frame(target)
    if _is_delayed(target) or not (is_array or is_series):
        raise TypeError(
            f"{name} must be a dask array or series, or a local array; got {type(target).__name__}. Take one "
            f"column of a dataframe, as in {name}['target']."
        )
    n_chunks = X.npartitions if is_frame(X) else X.numblocks[0]
    if is_array:
        if target.ndim == 2 and target.numblocks[1] > 1:
            target = target.rechunk({1: -1})
        wanted, given = known_lengths(X), known_lengths(target)
        if wanted is not None and given is not None and wanted != given:
            if sum(wanted) != sum(given):
                raise ValueError(_unequal(name, sum(wanted), sum(given), wanted, given))
            target = target.rechunk({0: tuple(wanted)})
    pieces = feature_pieces(target)
    if len(pieces) != n_chunks:
        raise ValueError(
            f"X has {n_chunks} chunks of rows, but {name} has {len(pieces)}, and their sizes are unknown. "
            f"Compute them (compute_chunk_sizes() of an array, to_dask_array(lengths=True) of a series), or "
            f"give {name} the partitions of X."
        )
    return pieces


def _unequal(name: str, n_wanted: int, n_given: int, wanted: list[int], given: list[int]) -> str:
    where = ""
    if len(wanted) == len(given):
        number = next(i for i, (ours, theirs) in enumerate(zip(wanted, given, strict=True)) if ours != theirs)
        where = f" (chunk {number}: {wanted[number]} and {given[number]})"
    return f"{name} must have as many rows as X; X has {n_wanted}, {name} has {n_given}{where}."


def _look_at(pieces: list[list[Any]]) -> list[_Look]:
    dask = import_dask()
    look = dask.delayed(_look, pure=False)
    return list(dask.compute(*(look(*parts) for parts in zip(*pieces, strict=True))))


def _look(X: Any, *targets: Any) -> _Look:
    """Runs where the chunk lives."""
    n_rows = tuple(None if part is None else count_rows(part) for part in (X, *targets))
    if not is_frame(X):
        return _Look(n_rows, int(X.shape[1]) if len(X.shape) > 1 else 1, None, [])
    return _Look(n_rows, len(X.columns), list(X.columns), [_kind(dtype) for dtype in X.dtypes])


def _kind(dtype: Any) -> str:
    if str(dtype) == "category":
        return "categories"
    if dtype.kind in "biuf":
        return "numbers"
    return "text or objects" if dtype.kind in "OUST" else f"values of dtype {dtype}"


def _check_lengths(looks: Sequence[_Look], labels: list[str], declared: list[int] | None) -> None:
    for number, look in enumerate(looks):
        if declared is not None and look.n_rows[0] != declared[number]:
            raise ValueError(
                f"chunk {number} of X holds {look.n_rows[0]} rows, but X says that it holds "
                f"{declared[number]}. Make the array anew with the true shape of each chunk."
            )
        for label, count in zip(labels[1:], look.n_rows[1:], strict=True):
            if count is not None and count != look.n_rows[0]:
                raise ValueError(
                    f"{label} must have as many rows as X in each chunk; in chunk {number} X has "
                    f"{look.n_rows[0]}, {label} has {count}. Make both from the same partitions."
                )
    if not any(look.n_rows[0] for look in looks):
        raise ValueError(f"X must hold at least one row; got 0 in its {len(looks)} chunk(s).")


def _check_columns(looks: Sequence[_Look], X: Any) -> None:
    """All chunks have the columns of the first that holds rows, and those are the columns that X names."""
    first = next(number for number, look in enumerate(looks) if look.n_rows[0])
    model = looks[first]
    for number, look in enumerate(looks):
        if look.n_columns != model.n_columns:
            raise ValueError(
                f"all chunks of X must have the same columns; chunk {number} has {look.n_columns}, chunk "
                f"{first} has {model.n_columns}."
            )
        for column, name in enumerate(look.names or []):
            wanted = model.names[column] if model.names else None
            if name != wanted:
                raise ValueError(
                    f"all chunks of X must have the same columns in the same order; column {column} of chunk "
                    f"{number} is {name!r}, but {wanted!r} in chunk {first}."
                )
            if look.n_rows[0] and look.kinds[column] != model.kinds[column]:
                raise ValueError(
                    f"a column of X must hold the same kind of values in all chunks; column {name!r} holds "
                    f"{look.kinds[column]} in chunk {number}, but {model.kinds[column]} in chunk {first}."
                )
    _check_declared_columns(first, model, X)


def _check_declared_columns(first: int, model: _Look, X: Any) -> None:
    remedy = "Make the collection anew with the true columns of its chunks."
    if model.n_columns != X.shape[1]:
        raise ValueError(
            f"chunk {first} of X holds {model.n_columns} columns, but X says that it holds "
            f"{X.shape[1]}. {remedy}"
        )
    for column, name in enumerate(X.columns if is_frame(X) else []):
        if model.names is not None and model.names[column] != name:
            raise ValueError(
                f"column {column} of chunk {first} of X is {model.names[column]!r}, but X says that it is "
                f"{name!r}. {remedy}"
            )


def _split(name: str, target: Any, lengths: list[int]) -> list[Any]:
    """A local array in pieces of X's lengths, kept where dask keeps its data."""
    values = np.asarray(target)
    if values.ndim == 0 and name == "sample_weight":  # the same of every row
        values = np.full(sum(lengths), values)
    if values.ndim == 0 or values.shape[0] != sum(lengths):
        raise ValueError(
            f"{name} must have as many rows as X; X has {sum(lengths)} in its {len(lengths)} chunk(s), "
            f"{name} has {values.shape[0] if values.ndim else 'none'}."
        )
    delayed = import_dask().delayed
    slices = np.split(values, np.cumsum(lengths)[:-1])
    return persist_all(delayed(piece, pure=False, traverse=False) for piece in slices)

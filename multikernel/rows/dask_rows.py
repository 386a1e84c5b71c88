"""Rows in dask collections: functions run where a chunk lives, and only their small results travel.

The chunks are loaded once to see what they truly hold, since a dataframe does not know its lengths, and what
a collection says about itself may be wrong.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from multikernel._validation import RowError, is_frame
from multikernel.rows.base import Block, RowBlocks, add_in_order, check_derived, check_summand, tree_sum
from multikernel.rows.memory import current_client
from multikernel.rows.tables import count_rows, import_dask, is_dask, take_rows

Calls = list[tuple[Callable[..., Any], tuple[Any, ...]]]


# --- what travels to the chunks and runs there, and how it is sent --------------------------------


class Program:
    """Functions with their arguments; all but the last derive the parts that the next is given.

    A class of its own, since dask would look for collections in every entry of a tuple, list or dataclass.

    Examples
    --------
    >>> double = Program([(lambda block: (2 * block.parts[0],), ())])
    >>> total = Program([(lambda block, power: (block.parts[0] ** power).sum(), (2,))])
    >>> print(double.then(total).run(Block(0, 0, (np.ones(3),)), 3))
    12.0
    """

    def __init__(self, calls: Calls) -> None:
        self.calls = calls

    def then(self, other: Program) -> Program:
        """These functions, then those of the other."""
        return Program(self.calls + other.calls)

    def run(self, block: Block, n_rows: int) -> Any:
        """What the last function returns for a block of this many rows."""
        for function, arguments in self.calls[:-1]:
            block = block._replace(parts=check_derived(function(block, *arguments), n_rows))
        function, arguments = self.calls[-1]
        return function(block, *arguments)


class Place:
    """Where a block stands in the collection, so that errors can say it.

    `start` is None where the lengths of the caller's chunks before it are unknown.

    Examples
    --------
    >>> Place(2, 2000, 1000, 3).name(ValueError("no such column"))
    ValueError('chunk 3 (rows 2 000 to 2 999): no such column')
    """

    def __init__(self, number: int, start: int | None, n_rows: int, chunk: int) -> None:
        self.number, self.start, self.n_rows, self.chunk = number, start, n_rows, chunk

    def name(self, error: Exception) -> Exception:
        """The error, of the same type where that can be built, with the chunk and its rows named."""
        start = self.start or 0
        place = f"chunk {self.chunk} (its {_spaced(self.n_rows)} rows counted from 0): "
        if self.start is not None:
            place = f"chunk {self.chunk} (rows {_spaced(start)} to {_spaced(start + self.n_rows - 1)}): "
        if isinstance(error, RowError):
            return error.in_row(start + error.row, place)
        try:
            return type(error)(f"{place}{error}")
        except Exception:
            return RuntimeError(f"{place}{type(error).__name__}: {error}")


class KeptParts(tuple[Any, ...]):
    """The derived parts of a block, as one object on a worker."""


def run_in_place(place: Place, program: Program, *pieces: Any) -> Any:
    """Run a program on the parts of a block; an error names the place."""
    parts = tuple(pieces[0]) if isinstance(pieces[0], KeptParts) else tuple(map(_as_array, pieces))
    try:
        return program.run(Block(place.number, place.start or 0, parts), place.n_rows)
    except Exception as error:
        raise place.name(error) from error


def _as_array(piece: Any) -> Any:
    """A series as an array: the targets of a dataframe look like those of an array."""
    is_series = hasattr(piece, "iloc") and not is_frame(piece)
    return np.asarray(piece) if is_series else piece


def _spaced(number: int) -> str:
    return f"{number:,}".replace(",", " ")


# The caller's own data were sent, and a large graph was warned of, when the chunks were looked at: what comes
# later is large by the arguments of the functions, which are in the graph once.
_QUIETLY = {"distributed.admin.large-graph-warning-threshold": "1 TiB"}


_PATIENCE = 30.0  # seconds, for workers to come: a cluster that grows on demand needs some


def require_workers() -> None:
    """Refuse to wait for ever: dask keeps what it is asked for until a worker comes."""
    client = current_client()
    if client is None or client.scheduler_info(n_workers=-1)["workers"]:
        return
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError as error:
        address = client.scheduler.address
        raise ConnectionError(
            f"the dask scheduler at {address} has no workers, and none came within {_PATIENCE:.0f} seconds. "
            f"Start some with `dask worker {address}`, or by the cluster's scale method, or close the Client "
            "to compute in this process."
        ) from error


def compute_all(nodes: Iterable[Any]) -> list[Any]:
    """The values of delayed objects."""
    require_workers()
    with import_dask().config.set(_QUIETLY):
        return list(import_dask().compute(*nodes))


def persist_all(nodes: Iterable[Any]) -> list[Any]:
    """Delayed objects whose values stay where they are computed."""
    require_workers()
    with import_dask().config.set(_QUIETLY):
        return list(import_dask().persist(*nodes))


# --- from collections to chunks of rows, with their shapes, columns and lengths checked -----------


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
    require_workers()
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


# --- rows of a dask collection --------------------------------------------------------------------


class DaskRows(RowBlocks):
    """Rows of a dask array or dataframe, one block a chunk.

    Everything goes through ``dask.compute`` and ``dask.persist``: by the caller's ``distributed.Client`` if
    one is active, else by dask's threads. The blocks have three parts: features, targets and sample weights.
    The chunks are looked at once to learn their lengths and to check their columns; empty ones are left out.
    An error in a chunk names its number, from 0, and its rows. When a worker is lost, dask computes again
    what it held, with the same result.

    Columns in several chunks are brought into one. Targets and weights are dask arrays, dask series or local
    arrays with one entry a row; one number is the weight of every row. They are brought to the chunks of X
    where the sizes of the chunks are known, else their chunks must have the lengths of those of X. `chunks`
    says which of the chunks of X each block is.

    Examples
    --------
    >>> import dask.array
    >>> X = dask.array.arange(10.0, chunks=10).reshape(5, 2).rechunk((2, 1))
    >>> rows = DaskRows(X, y=[1, 1, 2, 2, 2])
    >>> rows.lengths
    (2, 2, 1)
    >>> rows.sum(lambda block: block.parts[0].sum(axis=0))
    array([20., 25.])
    >>> rows.take([4, 0])
    (array([[8., 9.], [0., 1.]]), array([2, 1]), None)
    """

    def __init__(self, X: Any, y: Any = None, sample_weight: Any = None) -> None:
        import_dask()
        chunks = open_chunks(X, {"y": y, "sample_weight": sample_weight})
        super().__init__(chunks.lengths)
        self._places = [
            Place(index, int(self._starts[index]), length, chunks.numbers[index])
            for index, length in enumerate(self.lengths)
        ]
        self.chunks = chunks.numbers
        self._pieces = chunks.pieces
        self._steps: Any = None

    def map(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """``function(block, *arguments)`` of each block, in their order."""
        return compute_all(self._calls([(function, arguments)]))

    def sum(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The sum of ``function(block, *arguments)`` over the blocks, in the order of `tree_sum`."""
        add = import_dask().delayed(_add, pure=False)
        total = tree_sum(self._calls([(function, arguments)]), lambda group: add(*group))
        return check_summand(compute_all([total])[0])

    def derive(self, function: Callable[..., Any], *arguments: Any, keep: bool = True) -> DaskRows:
        """New rows, whose parts are the tuple ``function(block, *arguments)``; see `RowBlocks.derive`.

        Kept parts stay on the workers (which write them to disk when their memory ends), and errors are
        raised now. What is not kept raises its errors when it is used.
        """
        call = (function, arguments)
        if not keep:
            return self._same_blocks(self._pieces, persist_all([self._program([call])])[0])
        kept = persist_all(self._calls([call, (_as_one, ())]))
        arrived = import_dask().delayed(_arrived, pure=False)
        compute_all(arrived(piece) for piece in kept)
        return self._same_blocks([(piece,) for piece in kept], None)

    def select(self, *numbers: int) -> DaskRows:
        """The same rows with some of their parts only, by number, in that order."""
        if self._steps is None and len(self._pieces[0]) > 1:  # what is not selected need not be loaded
            pieces = [tuple(parts[number] for number in numbers) for parts in self._pieces]
            return self._same_blocks(pieces, None)
        return self.derive(_selected, numbers, keep=False)

    def _take_parts(self, wanted: list[tuple[int, np.ndarray]]) -> list[tuple[Any, ...]]:
        rows = dict(wanted)
        return compute_all(self._calls([(_rows_of_block, (rows,))], rows))

    def _same_blocks(self, pieces: list[tuple[Any, ...]], steps: Any) -> DaskRows:
        rows = copy.copy(self)
        rows._pieces, rows._steps = pieces, steps
        return rows

    def _program(self, calls: Calls) -> Any:
        """The steps of these rows, then the calls: one node of the graph for all blocks."""
        delayed = import_dask().delayed
        last = delayed(Program(calls), pure=False, traverse=False)
        return last if self._steps is None else delayed(Program.then, pure=False)(self._steps, last)

    def _calls(self, calls: Calls, indices: Iterable[int] | None = None) -> list[Any]:
        """One node for each block."""
        dask = import_dask()
        program, run = self._program(calls), dask.delayed(run_in_place, pure=False)
        name = f"{dask.utils.funcname(calls[0][0])}-{uuid4().hex}"
        return [
            run(self._places[index], program, *self._pieces[index], dask_key_name=f"{name}-{index}")
            for index in (range(self.n_blocks) if indices is None else indices)
        ]


def _add(*values: Any) -> Any:
    return add_in_order(values)


def _as_one(block: Block) -> KeptParts:
    return KeptParts(block.parts)


def _arrived(parts: Any) -> None:
    """Nothing: it is there, or its error is raised."""


def _selected(block: Block, numbers: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(block.parts[number] for number in numbers)


def _rows_of_block(block: Block, rows: dict[int, np.ndarray]) -> tuple[Any, ...]:
    return tuple(None if part is None else take_rows(part, rows[block.number]) for part in block.parts)


# --- a dask array computed lazily from the chunks of another collection ------------------------


def map_chunks(
    X: Any, function: Callable[..., Any], *arguments: Any, dtype: Any, n_columns: int | None = None
) -> Any:
    """A dask array with the row chunks of `X`, whose chunks are ``function(block, *arguments)``.

    Nothing is computed now. The block has one part, the features of the chunk; the function returns an array
    with as many rows, 1-D or with `n_columns`, and is not called for empty chunks. Its arguments are one node
    of the graph for all chunks.

    Examples
    --------
    >>> import dask.array
    >>> X = dask.array.ones((5, 2), chunks=(2, 2))
    >>> sums = map_chunks(X, lambda block: block.parts[0].sum(axis=1), dtype="float64")
    >>> sums.chunks
    ((2, 2, 1),)
    >>> sums.compute()
    array([2., 2., 2., 2., 2.])
    """
    import dask.array

    delayed = import_dask().delayed
    X = features_in_chunks(X)
    pieces, lengths = feature_pieces(X), known_lengths(X)
    starts: list[int | None] = [None] * len(pieces) if lengths is None else [0, *accumulate(lengths[:-1])]
    program = delayed(Program([(function, arguments)]), pure=False, traverse=False)
    run = delayed(_rows_of_chunk, pure=False)
    shape = () if n_columns is None else (n_columns,)
    empty = np.empty((0, *shape), dtype=dtype)
    chunks = [
        dask.array.from_delayed(
            run(number, start, empty, program, piece),
            shape=(np.nan if lengths is None else lengths[number], *shape),
            meta=empty,
        )
        for number, (start, piece) in enumerate(zip(starts, pieces, strict=True))
    ]
    return dask.array.concatenate(chunks, allow_unknown_chunksizes=True)


def _rows_of_chunk(number: int, start: int | None, empty: np.ndarray, program: Program, piece: Any) -> Any:
    n_rows = count_rows(piece)
    if n_rows == 0:
        return empty
    values = np.asarray(run_in_place(Place(number, start, n_rows, number), program, piece))
    wanted = (n_rows, *empty.shape[1:])
    if values.shape != wanted:
        raise ValueError(f"chunk {number}: the function must return shape {wanted}; got {values.shape}.")
    return values.astype(empty.dtype, copy=False)

"""Gram matrices that several fits to the same rows share.

Within `share_grams` a bank keeps the training Gram of each view, and takes it from there where another bank
is fitted to a table of the same content: a model, the model without one of its views and the sum of its
kernels then compute each kernel once. What is shared is copied; the numbers are the same bit by bit.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from .._validation import is_frame
from .columns import resolve_columns
from .tables import MultiTable
from .view import View

_LIMIT = 2**28  # bytes that are kept


class SharedGrams:
    """Fitted views and their Gram matrices, by what they are made of; the oldest are forgotten."""

    def __init__(self, limit: int = _LIMIT) -> None:
        self._limit, self._size = limit, 0
        self._known: OrderedDict[Hashable, tuple[Any, np.ndarray]] = OrderedDict()

    def find(self, keys: Sequence[Hashable]) -> list[tuple[Any, np.ndarray]] | None:
        """The fitted views and Gram matrices of all keys; None where one is not known."""
        if not all(key in self._known for key in keys):
            return None
        return [self._known[key] for key in keys]

    def keep(self, key: Hashable, view: Any, K: np.ndarray) -> None:
        """Keep a copy of a Gram matrix with its fitted view."""
        if key in self._known or K.nbytes > self._limit:
            return
        self._known[key] = view, K.copy()
        self._size += K.nbytes
        while self._size > self._limit:
            _, (_, oldest) = self._known.popitem(last=False)
            self._size -= oldest.nbytes


_SHARED: ContextVar[SharedGrams | None] = ContextVar("shared_grams", default=None)


@contextmanager
def share_grams() -> Iterator[None]:
    """Let the fits inside the block, of this thread, share the Gram matrices of views.

    A block within another one shares with it.
    """
    if _SHARED.get() is not None:
        yield
        return
    token = _SHARED.set(SharedGrams())
    try:
        yield
    finally:
        _SHARED.reset(token)


def shared_grams() -> SharedGrams | None:
    """What is shared here; None outside of `share_grams`."""
    return _SHARED.get()


def keys_of(table: Any, views: Sequence[View], *options: Hashable) -> list[Hashable] | None:
    """What the Gram matrix of each view depends on; None where that cannot be told by content."""
    content = _content(table)
    if content is None:
        return None
    keys: list[Hashable] = []
    for view in views:
        selection = resolve_columns(table, view.columns, f"view {view.name!r}", view.table)
        key = (content, selection, view.kernel, view.standardized, view.encode, view.steps, *options)
        try:
            hash(key)
        except TypeError:  # an array among the parameters
            return None
        keys.append(key)
    return keys


def _content(table: Any) -> Hashable:
    """The digest of a table of numbers, or of several."""
    if isinstance(table, MultiTable):
        parts = tuple((name, _content(table[name])) for name in table.names)
        return None if any(part is None for _, part in parts) else parts
    names: tuple[Any, ...] = ()
    if is_frame(table):
        if any(dtype.kind not in "fiub" for dtype in table.dtypes):
            return None
        names, table = tuple(table.columns), table.to_numpy()
    if not isinstance(table, np.ndarray) or table.dtype.kind not in "fiub":
        return None
    digest = hashlib.blake2b(np.ascontiguousarray(table).view(np.uint8).data, digest_size=16).digest()
    return (table.shape, table.dtype.str, names, digest)

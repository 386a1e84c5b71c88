"""Dask collections that say about themselves less than they know, or what is not true."""

from __future__ import annotations

import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask import delayed


def array_of(*chunks, widths=None):
    """A dask array of given chunks, which it may believe to have other widths."""
    widths = widths or [chunk.shape[1] for chunk in chunks]
    arrays = [
        da.from_delayed(delayed(chunk), shape=(len(chunk), width), dtype=float)
        for chunk, width in zip(chunks, widths, strict=True)
    ]
    return da.concatenate(arrays)


def frame_of(*partitions, meta=None):
    """A dask dataframe of given partitions, which it may believe to have other columns."""
    meta = partitions[0] if meta is None else meta
    return dd.from_delayed([delayed(part) for part in partitions], meta=meta, verify_meta=False)


def lengths_forgotten(array):
    """The same dask array with unknown chunk sizes."""
    return da.concatenate(
        [
            da.from_delayed(piece, (np.nan, *array.shape[1:]), array.dtype)
            for piece in array.to_delayed().ravel()
        ],
        allow_unknown_chunksizes=True,
    )

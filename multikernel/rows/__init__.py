"""Rows of a table in blocks, in this process or on a cluster: functions go to the rows, sums come back.

``base`` has the interface, ``local`` the rows of this process, ``dask_rows`` those of a dask collection;
``memory`` says what can be held, ``tables`` takes and joins rows of any kind of table.
"""

from .base import Block, RowBlocks, tree_sum
from .dask_rows import DaskRows, features_in_chunks, map_chunks
from .local import LocalRows
from .memory import available_memory, cluster_memory, fits_cluster
from .tables import count_rows, is_dask, join_rows, rows_unlike, take_rows

__all__ = [
    "Block",
    "DaskRows",
    "LocalRows",
    "RowBlocks",
    "available_memory",
    "cluster_memory",
    "count_rows",
    "features_in_chunks",
    "fits_cluster",
    "is_dask",
    "join_rows",
    "map_chunks",
    "rows_unlike",
    "take_rows",
    "tree_sum",
]

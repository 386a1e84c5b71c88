"""Rows of a table in blocks, in this process or on a cluster: functions go to the rows, sums come back."""

from .base import Block, RowBlocks, tree_sum
from .checks import check_features, check_values, join_labels, unique_labels
from .cluster import cluster_memory, fits_cluster, is_dask
from .dask_arrays import map_chunks
from .dask_rows import DaskRows
from .local import LocalRows
from .memory import available_memory
from .opening import as_rows
from .tables import count_rows, join_rows, rows_unlike, take_rows

__all__ = [
    "Block",
    "DaskRows",
    "LocalRows",
    "RowBlocks",
    "as_rows",
    "available_memory",
    "check_features",
    "check_values",
    "cluster_memory",
    "count_rows",
    "fits_cluster",
    "is_dask",
    "join_labels",
    "join_rows",
    "map_chunks",
    "rows_unlike",
    "take_rows",
    "tree_sum",
    "unique_labels",
]

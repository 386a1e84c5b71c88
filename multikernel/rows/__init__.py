"""Rows of a table in blocks, in this process or on a cluster: functions go to the rows, sums come back."""

from .base import Block, RowBlocks, tree_sum
from .checks import check_values, join_labels
from .cluster import cluster_memory, fits_cluster, is_dask
from .dask_arrays import map_chunks
from .dask_door import features_in_chunks
from .dask_rows import DaskRows
from .local import LocalRows
from .memory import available_memory
from .tables import count_rows, join_rows, rows_unlike, take_rows

__all__ = [
    "Block",
    "DaskRows",
    "LocalRows",
    "RowBlocks",
    "available_memory",
    "check_values",
    "cluster_memory",
    "count_rows",
    "features_in_chunks",
    "fits_cluster",
    "is_dask",
    "join_labels",
    "join_rows",
    "map_chunks",
    "rows_unlike",
    "take_rows",
    "tree_sum",
]

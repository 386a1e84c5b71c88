"""Rows of a table in blocks, in this process or on a cluster: functions go to the rows, sums come back."""

from .base import Block, RowBlocks, tree_sum
from .local import LocalRows
from .memory import available_memory
from .tables import count_rows, join_rows, take_rows

__all__ = [
    "Block",
    "LocalRows",
    "RowBlocks",
    "available_memory",
    "count_rows",
    "join_rows",
    "take_rows",
    "tree_sum",
]

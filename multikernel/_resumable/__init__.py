"""Long runs that can be stopped at any time: pieces of work, each done once and kept on disk."""

from .bar import progress_bar
from .cluster import on_cluster
from .running import Progress, Result, Work, run_works
from .store import Record, ResultStore

__all__ = [
    "Progress",
    "Record",
    "Result",
    "ResultStore",
    "Work",
    "on_cluster",
    "progress_bar",
    "run_works",
]

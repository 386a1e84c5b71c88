"""Memory for rows: how much there is, here or on a cluster, and arrays in it or in a temporary file."""

from __future__ import annotations

import contextlib
import math
import mmap
import os
import sys
import tempfile
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from multikernel.rows.tables import import_dask

_STANDS = 1.0  # seconds
_VERSION_1_FILES = ("memory.limit_in_bytes", "memory.usage_in_bytes")


def allocate_array(shape: tuple[int, ...], dtype: Any, *, on_disk: bool = False) -> np.ndarray:
    """An uninitialised C-contiguous array, in memory or in a temporary file that goes when the array goes."""
    if not on_disk or 0 in shape:
        return np.empty(shape, dtype=dtype)
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    # A file without a name, where the system has such: no end of the process leaves it behind. The mapping
    # keeps it, also for slices of the array.
    with tempfile.TemporaryFile(prefix="multikernel-") as file:
        file.truncate(n_bytes)
        return np.ndarray(shape, dtype=dtype, buffer=mmap.mmap(file.fileno(), n_bytes))


def is_on_disk(array: Any) -> bool:
    """Whether the memory of an array, or of what it is a view of, is that of a file.

    Examples
    --------
    >>> is_on_disk(allocate_array((2, 2), "float64", on_disk=True)[0]), is_on_disk(np.zeros(3))
    (True, False)
    """
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return True
        array = array.base
    return isinstance(array, mmap.mmap)


def available_memory() -> int | None:
    """Bytes that can be allocated now: the system's and the control group's limit, whichever is less.

    A fit asks several times before it allocates anything, and small fits follow one another: the answer
    stands for a second.
    """
    return _available_at(int(time.monotonic() / _STANDS))


@lru_cache(maxsize=1)
def _available_at(moment: int) -> int | None:
    limits = [limit for limit in (_system_available(), *_cgroup_available()) if limit is not None]
    return min(limits) if limits else None


def cluster_memory() -> int | None:
    """Bytes that the workers of the current ``distributed.Client`` can keep before they write to disk.

    Without a Client: what is available in this process. None where a worker or the system states no limit.
    """
    client = current_client()
    if client is None:
        return available_memory()
    share = import_dask().config.get("distributed.worker.memory.target", 0.6) or 1.0
    room = 0
    for worker in client.scheduler_info(n_workers=-1)["workers"].values():
        if not worker["memory_limit"]:
            return None
        used = worker.get("metrics", {}).get("memory", 0)
        room += max(0, int(share * worker["memory_limit"]) - used)
    return room


def fits_cluster(n_bytes: int) -> bool:
    """Whether that many bytes can be kept on the workers, or in this process if there is no Client."""
    room = cluster_memory()
    return room is None or n_bytes <= room


def current_client() -> Any | None:
    """The Client that dask would use now, if it would use one."""
    if "distributed" not in sys.modules:
        return None
    client = getattr(import_dask().base.get_scheduler(), "__self__", None)
    return client if hasattr(client, "scheduler_info") else None


def _system_available() -> int | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _cgroup_available(
    root: Path = Path("/sys/fs/cgroup"), membership: Path = Path("/proc/self/cgroup")
) -> list[int]:
    """What is left of the memory limit of each control group that holds this process (versions 1 and 2)."""
    found = []
    with contextlib.suppress(OSError):
        for line in membership.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            version_2 = controllers == ""
            if not version_2 and "memory" not in controllers.split(","):
                continue
            base = root if version_2 else root / "memory"
            files = ("memory.max", "memory.current") if version_2 else _VERSION_1_FILES
            folder = base / path.lstrip("/")
            for level in (folder, *folder.parents):
                if level == base or base in level.parents:
                    found.append(_left_in(level, *files))
    return [left for left in found if left is not None]


def _left_in(folder: Path, limit_file: str, usage_file: str) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        limit = int((folder / limit_file).read_text())  # "max" means none
        return max(0, limit - int((folder / usage_file).read_text()) + _reclaimable(folder))
    return None


def _reclaimable(folder: Path) -> int:
    """Cached file pages count as used, but are given back under pressure."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in (folder / "memory.stat").read_text().splitlines():
            if line.startswith(("inactive_file ", "total_inactive_file ")):
                return int(line.split()[1])
    return 0

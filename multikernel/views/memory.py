"""How much memory a stack of Gram matrices needs, how much there is, and where the stack is put."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from multikernel._validation import check_choice, check_number

GRAM_CHOICES = ("dense", "memmap")
_WORKSPACE_SHARE = 0.3


@dataclass(frozen=True)
class MemoryEstimate:
    """What a fit on n rows with m kernels will occupy, in bytes.

    Attributes
    ----------
    n, n_kernels : int
    dtype : str
    gram : str
        ``"memmap"`` puts the stack on disk, so that it is no part of `total`.
    stack : int
        The (m, n, n) stack.
    workspace : int
        What is needed beside it: about 0.3 stacks and one n × n matrix (memmap: three n × n matrices).
    limit : int or None
        Bytes that may be used, instead of what the system says.
    available : int or None
        Memory that can be had; None where the system does not say.
    """

    n: int
    n_kernels: int
    dtype: str
    gram: str
    stack: int
    workspace: int
    limit: int | None = None

    @cached_property
    def available(self) -> int | None:
        """Bytes that may be used: the limit, or what the system says when it is first asked."""
        return available_memory() if self.limit is None else self.limit

    @property
    def total(self) -> int:
        """Bytes of memory needed."""
        return self.workspace if self.gram == "memmap" else self.stack + self.workspace

    @property
    def fits(self) -> bool:
        """Whether that much is available."""
        return self.available is None or self.total <= self.available

    def __str__(self) -> str:
        size = f"{self.n:,}".replace(",", " ")
        plural = "kernel" if self.n_kernels == 1 else "kernels"
        where = " on disk" if self.gram == "memmap" else ""
        there = "an unknown amount" if self.available is None else _readable(self.available)
        return (
            f"{_readable(self.stack)}{where} for {self.n_kernels} {plural} of {size} × {size} in "
            f"{self.dtype}, {_readable(self.workspace)} of workspace, {_readable(self.total)} of memory in "
            f"all; {there} available"
        )


def estimate_memory(
    n: int, n_kernels: int, dtype: Any = "float64", gram: str = "dense", limit: int | None = None
) -> MemoryEstimate:
    """Estimate the memory of a fit; `limit` in bytes replaces what the system says is available."""
    dtype = np.dtype(dtype)
    check_choice("gram", gram, GRAM_CHOICES)
    stack = n_kernels * n * n * dtype.itemsize
    square = 8 * n * n
    workspace = 3 * square if gram == "memmap" else int(_WORKSPACE_SHARE * stack) + square
    if limit is not None:
        limit = int(check_number("memory_limit", limit, at_least=0.0))
    return MemoryEstimate(n, n_kernels, dtype.name, gram, stack, workspace, limit)


def require_fits(estimate: MemoryEstimate) -> None:
    """Refuse a stack that would not fit, before it is allocated."""
    if not estimate.fits:
        raise ValueError(
            f"the Gram stack does not fit in memory: {estimate}. Use dtype='float32' (half the size), "
            "gram='memmap' (the stack in a file), fewer kernels, or the low-rank route (fewer rows, or a "
            "low-rank approximation of each kernel)."
        )
    if estimate.gram == "memmap" and shutil.disk_usage(tempfile.gettempdir()).free < estimate.stack:
        raise ValueError(
            f"the Gram stack does not fit on the disk of the temporary directory: {estimate}. Use "
            "dtype='float32', set TMPDIR to a larger disk, or take fewer kernels or rows."
        )


def allocate_stack(shape: tuple[int, ...], dtype: Any, gram: str) -> np.ndarray:
    """An uninitialised C-contiguous array, in memory or in a temporary file that goes when the array goes."""
    if gram == "dense" or 0 in shape:
        return np.empty(shape, dtype=dtype)
    handle, path = tempfile.mkstemp(prefix="multikernel-", suffix=".gram")
    os.close(handle)
    array: np.ndarray = np.memmap(path, dtype=dtype, mode="w+", shape=shape)
    # slices keep the mapping alive, not the array: the file goes with the mapping
    weakref.finalize(array._mmap, _remove, path)  # type: ignore[attr-defined]
    return array


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def available_memory() -> int | None:
    """Bytes that can be allocated now: the system's and the control group's limit, whichever is less."""
    limits = [limit for limit in (_system_available(), *_cgroup_available()) if limit is not None]
    return min(limits) if limits else None


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


_VERSION_1_FILES = ("memory.limit_in_bytes", "memory.usage_in_bytes")


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


def _readable(size: int) -> str:
    amount = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024.0:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024.0
    return f"{amount:.1f} TiB"

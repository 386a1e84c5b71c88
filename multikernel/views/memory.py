"""How much memory a stack of Gram matrices needs, how much there is, and where the stack is put."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from multikernel._validation import check_choice, check_number
from multikernel.rows.memory import allocate_array, available_memory

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
    return allocate_array(shape, dtype, on_disk=gram == "memmap")


def _readable(size: int) -> str:
    amount = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024.0:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024.0
    return f"{amount:.1f} TiB"

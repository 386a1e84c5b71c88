"""How much memory a stack of Gram matrices, or factors, need, how much there is, and where a stack is put."""

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
GRAM_ROUTES = ("auto", "dense", "memmap", "low_rank")
_WORKSPACE_SHARE = 0.3
_ROW_NUMBERS = 100  # duals, gradients, bounds and the like, and what a block of rows takes on the way
REFERENCE_ROWS, ROWS_PER_COLUMN = 5000, 4  # of the factors of one view
# what core.weights.factors holds: Hessians and their factors at the present point and the one before, a block
# of rows in hand, numbers for each row of it and machine, and a part of all rows to start on
_HESSIANS, _BLOCK_ENTRIES, _PASS_ENTRIES, _PASS_NUMBERS, _FIRST_PART = 6, 2**20, 2**18, 16, 8
_WHERE = {"memory": "", "disk": " on disk", "nowhere": ", computed anew in each pass,"}


@dataclass(frozen=True)
class MemoryEstimate:
    """What a fit on n rows with m kernels will occupy, in bytes.

    Attributes
    ----------
    n, n_kernels : int
    dtype : str
    gram : str
        ``"memmap"`` puts the stack on disk; ``"low_rank"`` has factors.
    stack : int
        The (m, n, n) stack; of factors, the (n, n_columns) table of all of them.
    workspace : int
        What is needed beside it. In memory: about 0.3 stacks and one n × n matrix of float64. On disk: three
        such matrices; for the learners of kernel weights one, the weighted sum in the precision of the stack,
        and some numbers for each row. Of factors: six n_columns × n_columns matrices for each classifier that
        is learned at the same time, an eighth of the factors to start on, four numbers for each row, a block
        of rows, and the reference rows.
    limit : int or None
        Bytes that may be used, instead of what the system says.
    available : int or None
        Memory that is available when this is first asked; None where the system does not say. Not saved with
        a model.
    n_columns : int or None
        Of the factors of all kernels together.
    place : {"memory", "disk", "nowhere"}
        Where the stack is; on disk, or computed anew when it is read, it is no part of `total`.
    """

    n: int
    n_kernels: int
    dtype: str
    gram: str
    stack: int
    workspace: int
    limit: int | None = None
    n_columns: int | None = None
    place: str = "memory"

    @cached_property
    def available(self) -> int | None:
        """Bytes that may be used: the limit, or what the system says when it is first asked."""
        return available_memory() if self.limit is None else self.limit

    @property
    def total(self) -> int:
        """Bytes of memory needed."""
        return self.workspace + (self.stack if self.place == "memory" else 0)

    @property
    def fits(self) -> bool:
        """Whether that much is available."""
        return self.available is None or self.total <= self.available

    def __str__(self) -> str:
        size = grouped(self.n)
        plural = "kernel" if self.n_kernels == 1 else "kernels"
        there = "an unknown amount" if self.available is None else readable_size(self.available)
        what = f"{self.n_kernels} {plural} of {size} × {size}"
        if self.n_columns is not None:
            what = f"factors of {self.n_kernels} {plural}, {size} × {grouped(self.n_columns)},"
        return (
            f"{readable_size(self.stack)}{_WHERE[self.place]} for {what} in {self.dtype}, "
            f"{readable_size(self.workspace)} of workspace, {readable_size(self.total)} of memory in all; "
            f"{there} available"
        )


def estimate_memory(
    n: int,
    n_kernels: int,
    dtype: Any = "float64",
    gram: str = "dense",
    limit: int | None = None,
    *,
    lean: bool = False,
) -> MemoryEstimate:
    """Estimate the memory of a fit.

    `lean`: whether it learns kernel weights and nothing else, which takes less beside a stack on disk.

    Examples
    --------
    >>> print(estimate_memory(20_000, 5, "float32", "memmap", limit=6_000_000_000, lean=True))
    7.5 GiB on disk for 5 kernels of 20 000 × 20 000 in float32, 4.5 GiB of workspace, 4.5 GiB of memory in
    all; 5.6 GiB available
    """
    dtype = np.dtype(dtype)
    check_choice("gram", gram, GRAM_CHOICES)
    stack = n_kernels * n * n * dtype.itemsize
    square = 8 * n * n
    if gram == "dense":
        workspace = int(_WORKSPACE_SHARE * stack) + square
    elif lean:
        workspace = dtype.itemsize * n * n + square + 8 * n * (_ROW_NUMBERS + 2 * n_kernels)
    else:
        workspace = 3 * square
    place = "disk" if gram == "memmap" else "memory"
    return MemoryEstimate(
        n, n_kernels, dtype.name, gram, stack, workspace, _checked_limit(limit), place=place
    )


def estimate_factors(
    n: int,
    n_columns: int,
    n_kernels: int,
    dtype: Any = "float64",
    limit: int | None = None,
    *,
    n_machines: int = 1,
    n_threads: int = 1,
) -> MemoryEstimate:
    """Estimate the memory of a fit on factors, `n_columns` in all: n · n_columns numbers and a workspace.

    Classifiers that are learned at the same time have a Hessian each; threads work on a block of rows each.

    Examples
    --------
    >>> str(estimate_factors(1_000_000, 2000, 10, "float32", limit=2**34))
    '7.5 GiB for factors of 10 kernels, 1 000 000 × 2 000, in float32, 1.2 GiB of workspace, 8.6 GiB of
    memory in all; 16.0 GiB available'
    """
    dtype = np.dtype(dtype)
    stack = n * n_columns * dtype.itemsize
    rank = -(-n_columns // n_kernels)
    reference = 2 * min(n, max(REFERENCE_ROWS, ROWS_PER_COLUMN * rank)) * rank
    block = min(n * n_columns, _BLOCK_ENTRIES)
    block += n_machines * _PASS_NUMBERS * min(n, _PASS_ENTRIES // n_columns + 64)
    hessians = _HESSIANS * n_machines + (n_threads - 1) * (1 + n_machines)
    numbers = hessians * n_columns**2 + 4 * n + n_threads * block + reference
    workspace = 8 * numbers + stack // _FIRST_PART
    return MemoryEstimate(
        n, n_kernels, dtype.name, "low_rank", stack, workspace, _checked_limit(limit), n_columns
    )


def _checked_limit(limit: int | None) -> int | None:
    return None if limit is None else int(check_number("memory_limit", limit, at_least=0.0))


def require_fits(estimate: MemoryEstimate) -> None:
    """Refuse a stack, or factors, that would not fit, before they are allocated."""
    if not estimate.fits and estimate.gram == "low_rank" and estimate.place != "memory":
        raise ValueError(
            f"the workspace of a fit on factors does not fit in memory: {estimate}. Use a smaller rank "
            "or fewer kernels; where several classifiers are learned together (multiclass='shared', n_jobs), "
            "learn one after the other."
        )
    if not estimate.fits and estimate.gram == "low_rank":
        raise ValueError(
            f"the factors do not fit in memory: {estimate}. Use KernelBank(kernels, dtype='float32') (half "
            "the size), a smaller rank, or fewer kernels."
        )
    if not estimate.fits:
        raise ValueError(
            f"the Gram stack does not fit in memory: {estimate}. Use KernelBank(kernels, dtype='float32') "
            "(half the size), gram='memmap' (the stack in a file), fewer kernels or rows, or, where the "
            "estimator has it, gram='low_rank' (factors in place of the stack)."
        )
    if estimate.gram == "memmap" and shutil.disk_usage(tempfile.gettempdir()).free < estimate.stack:
        raise ValueError(
            f"the Gram stack does not fit on the disk of the temporary directory: {estimate}. Use "
            "KernelBank(kernels, dtype='float32'), set TMPDIR to a larger disk, or take fewer kernels or "
            "rows."
        )


def allocate_stack(shape: tuple[int, ...], dtype: Any, gram: str) -> np.ndarray:
    """An uninitialised C-contiguous array, in memory or in a temporary file that goes when the array goes."""
    return allocate_array(shape, dtype, on_disk=gram == "memmap")


def grouped(count: int) -> str:
    """A number with its digits in groups of three."""
    return f"{count:,}".replace(",", " ")


def readable_size(size: int) -> str:
    """Bytes as a person would say it."""
    amount = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024.0:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024.0
    return f"{amount:.1f} TiB"

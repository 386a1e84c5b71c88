"""A hard limit on the memory of this process, file pages in the cache included where the system allows it."""

from __future__ import annotations

import contextlib
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measuring import resident_bytes

_ROOT = Path("/sys/fs/cgroup")
_FILES = {1: "memory.limit_in_bytes", 2: "memory.max"}


@contextlib.contextmanager
def limited_memory(size: int) -> Iterator[str]:
    """Inside the block, this process has `size` bytes in all; says by what it is held to them.

    A control group of its own, beneath the present one, counts the cached pages of files as well. Where none
    can be made, a limit of the system on memory that is no file holds (RLIMIT_DATA).
    """
    group = _make_group(size - resident_bytes("VmRSS"))  # what is there by now stays counted where it was
    if group is None:
        before = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (size, before[1]))
        try:
            yield "a limit on memory that is no file"
        finally:
            resource.setrlimit(resource.RLIMIT_DATA, before)
        return
    try:
        _join(group)
        yield "a control group, cached files included"
    finally:
        _join(group.parent)
        _remove(group)


def _make_group(size: int) -> Path | None:
    """A group with the limit; None where the system or its rights allow none."""
    for version, parent in _own_groups():
        group = parent / f"multikernel-{os.getpid()}"
        for left in parent.glob("multikernel-*"):  # of a process that was killed; one in use stays
            with contextlib.suppress(OSError):
                left.rmdir()
        with contextlib.suppress(OSError):
            group.mkdir()
            try:
                (group / _FILES[version]).write_text(str(size))
                return group
            except OSError:
                group.rmdir()
    return None


def _own_groups() -> list[tuple[int, Path]]:
    """The groups of this process that could limit memory, with the version of their interface."""
    found = []
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            found.append((1, _ROOT / "memory" / path.lstrip("/")))
        elif controllers == "":
            found.append((2, _ROOT / path.lstrip("/")))
    return [(version, group) for version, group in found if (group / "cgroup.procs").exists()]


def _join(group: Path) -> None:
    (group / "cgroup.procs").write_text(str(os.getpid()))


def _remove(group: Path) -> None:
    """The system may take a moment to see that nobody is in it."""
    for _ in range(50):
        with contextlib.suppress(OSError):
            group.rmdir()
            return
        time.sleep(0.1)

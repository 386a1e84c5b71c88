"""How time is taken: CPU time of one thread, contestants in turn; and what one pass over the stack is."""

from __future__ import annotations

import gc
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf

ROOT = Path(__file__).resolve().parents[1]
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",  # Clarabel's: idle threads of its pool cost up to as much CPU time again
    "VECLIB_MAXIMUM_THREADS",
)
_UNSEEN_POOLS = ("NUMBA_NUM_THREADS", "RAYON_NUM_THREADS")  # which threadpoolctl does not know
_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


def thread_environment(n_threads: int = 1) -> dict[str, str]:
    """The environment variables that hold every library in use to so many threads."""
    return dict.fromkeys(_THREAD_VARIABLES, str(n_threads))


def restart_on_threads(n_threads: int, module: str) -> None:
    """Libraries read these variables when they are loaded, so that they must stand before Python starts."""
    wanted = thread_environment(n_threads)
    if any(os.environ.get(name) != value for name, value in wanted.items()):
        os.execve(sys.executable, [sys.executable, "-m", module, *sys.argv[1:]], os.environ | wanted)


def check_threads(n_threads: int = 1) -> list[str]:
    """Raise if a thread pool of this process has more threads; the pools' names otherwise."""
    from threadpoolctl import threadpool_info

    pools = threadpool_info()
    wide = [pool["user_api"] for pool in pools if pool["num_threads"] > n_threads]
    wide += [name for name in _UNSEEN_POOLS if os.environ.get(name) != str(n_threads)]
    if wide:
        raise RuntimeError(
            f"times are taken on threads: {n_threads}; these have more: {wide}. Start with make (see "
            "benchmarks/bench.mk)."
        )
    return sorted({f"{pool['internal_api']} {pool.get('version') or ''}".strip() for pool in pools})


def cpu_seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """CPU time of one call, garbage collection kept out of it, and what it returned."""
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        result = call()
        return time.process_time() - start, result
    finally:
        gc.enable()


def interleaved(contestants: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, list[float]]:
    """Times of every contestant, taken in turn, so that a slow minute of the machine meets them all."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(repeats):
        for name, call in contestants.items():
            times[name].append(cpu_seconds(call)[0])
    return times


def median(times: list[float]) -> float:
    """The median, as a plain float."""
    return float(statistics.median(times))


def one_pass(kernels: NDArray[np.float64], vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """The unit of memory traffic: every K_m times one vector, one read of the whole (m, n, n) stack."""
    m, n, _ = kernels.shape
    return kernels.reshape(m * n, n) @ vector


def one_cholesky(matrix: NDArray[np.float64]) -> float:
    """The unit of dense algebra: CPU time of LAPACK's potrf on one positive definite matrix, in its place.

    The matrix has just been copied, so that it is in the cache as far as it fits.
    """
    copy = np.array(matrix, order="F")
    start = time.process_time()
    _, failed = dpotrf(copy, lower=1, clean=0, overwrite_a=1)
    spent = time.process_time() - start
    if failed:
        raise ValueError("the matrix must be positive definite.")
    return spent


def growth_exponent(sizes: list[int], times: list[float]) -> float:
    """The slope of log time against log size, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def _git(*arguments: str) -> str:
    """What git says in the folder of the project; nothing where there is no git, or no repository."""
    try:
        said = subprocess.run(
            ["git", *arguments], cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return said.stdout.strip()


def code_version() -> str:
    """The commit of the code that is measured, and whether the package differs from it; "" if unknown."""
    commit = _git("rev-parse", "--short", "HEAD")
    if not commit:
        return ""
    changed = _git("status", "--porcelain", "--", "../multikernel")
    return f"commit {commit}" + (" with changes" if changed else "")


def is_in_package(filename: str) -> bool:
    """Whether a file is one of the package, wherever the project lies."""
    return ROOT / "multikernel" in Path(filename).resolve().parents


def package_version() -> str:
    """What git calls the contents of the package, the same for commits that leave it alone; "" if unknown."""
    tree = _git("rev-parse", "--short", "HEAD:multikernel")
    return tree + ("+" if tree and _git("status", "--porcelain", "--", "../multikernel") else "")


def _first_value(path: str, key: str) -> str:
    file = Path(path)
    if not file.exists():
        return ""
    for line in file.read_text().splitlines():
        if line.startswith(key):
            return line.split(":", 1)[1].strip()
    return ""


def resident_bytes(field: str) -> int:
    """A field of /proc/self/status: VmRSS, what is resident now, or VmHWM, the most that ever was.

    A baseline is VmRSS, because a high-water mark would hide what compilation has given back. The peak is
    VmHWM and not getrusage's ru_maxrss, which a process inherits from the one that started it.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"{field} is not in /proc/self/status: peak memory is measured on Linux only")


def describe_machine(peers: tuple[str, ...], n_threads: int = 1) -> dict[str, str]:
    """Processor, memory and versions, those of the peers too; no names of hosts, users or paths."""
    memory = _first_value("/proc/meminfo", "MemTotal").split()
    described = {
        "processor": _first_value("/proc/cpuinfo", "model name") or platform.machine(),
        "cores": str(os.cpu_count()),
        "memory": f"{int(memory[0]) / 2**20:.0f} GiB" if memory else "unknown",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "thread pools": ", ".join(check_threads(n_threads)),
    }
    return described | {package: version(package) for package in (*_PACKAGES, *peers)}

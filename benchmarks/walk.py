"""``python -m benchmarks.walk``: what a fit crosses on its way through the package.

For four fits: the files of ``multikernel`` with a function that was called, the functions, and the greatest
depth of the call stack, counted in functions of the package alone. Comprehensions, generators and lambdas are
functions, too, as Python 3.11 has them; code of modules, which runs when they are imported, is not, and what
numba compiled is seen by its callers only. Each fit has a process of its own and runs twice: the first call
compiles or loads what is compiled, by a small problem of its own, and the second is what a fit is. Then the
resolution orders: for each public estimator the classes of the package that it is made of.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import tempfile
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris, make_classification

import multikernel
from multikernel.registry import list_methods

PACKAGE = Path(multikernel.__file__).resolve().parent


@dataclass
class Walk:
    """What was crossed.

    Attributes
    ----------
    functions : set of (file, qualified name, first line)
    depth : int, functions of the package that waited for one another at once
    deepest : tuple of str, these, the outermost first
    """

    functions: set[tuple[str, str, int]] = field(default_factory=set)
    depth: int = 0
    deepest: tuple[str, ...] = ()

    @property
    def files(self) -> list[str]:
        """The files of the package, by their path in it."""
        return sorted({file for file, _, _ in self.functions})


class _Watcher:
    """A profile function: called at every call and return of the thread it is set in."""

    def __init__(self) -> None:
        self.walk = Walk()
        self._own: dict[CodeType, str | None] = {}
        self._stacks: dict[int, list[str]] = {}

    def _name(self, code: CodeType) -> str | None:
        """The function's file and name if it is of the package."""
        if code not in self._own:
            file = Path(code.co_filename)
            inside = file.is_absolute() and file.is_relative_to(PACKAGE) and code.co_name != "<module>"
            self._own[code] = None
            if inside:
                path = str(file.relative_to(PACKAGE))
                self._own[code] = f"{path}: {code.co_qualname}"
        return self._own[code]

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if event not in ("call", "return"):
            return
        name = self._name(frame.f_code)
        if name is None:
            return
        stack = self._stacks.setdefault(threading.get_ident(), [])
        if event == "return":
            if stack:
                stack.pop()
            return
        stack.append(name)
        code = frame.f_code
        self.walk.functions.add((name.split(": ")[0], code.co_qualname, code.co_firstlineno))
        if len(stack) > self.walk.depth:
            self.walk.depth, self.walk.deepest = len(stack), tuple(stack)


@contextmanager
def watched() -> Iterator[Walk]:
    """Watch this thread and those that it starts."""
    watcher = _Watcher()
    threading.setprofile(watcher)
    sys.setprofile(watcher)
    try:
        yield watcher.walk
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def walk(name: str) -> tuple[Walk, Walk]:
    """What the first and the second call of a fit cross."""
    walks = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            with watched() as found:
                FITS[name]()
            walks.append(found)
    return walks[0], walks[1]


def walk_all() -> dict[str, tuple[Walk, Walk]]:
    """Every fit, each in a new process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        return dict(zip(FITS, pool.map(walk, FITS), strict=True))


# ---------------------------------------------------------------------- the fits
def _points() -> tuple[np.ndarray, np.ndarray]:
    """Enough of them for a coarse start on a part."""
    X, y = make_classification(n_samples=500, random_state=0)
    return X, y


def fit_mkl() -> None:
    """``MKLClassifier().fit`` on a table of two classes."""
    multikernel.MKLClassifier().fit(*_points())


def fit_localized() -> None:
    """``LocalizedMKLClassifier().fit`` on the same."""
    multikernel.LocalizedMKLClassifier(random_state=0).fit(*_points())


def fit_nonstationary() -> None:
    """``NonstationaryClassifier().fit`` on the same."""
    multikernel.nonstationary.NonstationaryClassifier(random_state=0).fit(*_points())


def fit_on_command_line() -> None:
    """``multikernel fit data.csv --target species --out model`` on iris, in this process."""
    from multikernel.cli import main

    data = load_iris(as_frame=True)
    table = data.frame.assign(species=data.target_names[data.target]).drop(columns="target")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "data.csv")
        table.to_csv(file, index=False)
        given = ["multikernel", "fit", str(file), "--target", "species", "--out", str(Path(folder, "model"))]
        kept, sys.argv = sys.argv, given
        try:
            with Path(folder, "said").open("w") as said, redirect_stdout(said):
                main()
        except SystemExit as end:
            if end.code:
                raise
        finally:
            sys.argv = kept


FITS: dict[str, Callable[[], None]] = {
    "MKLClassifier().fit": fit_mkl,
    "LocalizedMKLClassifier().fit": fit_localized,
    "NonstationaryClassifier().fit": fit_nonstationary,
    "multikernel fit data.csv": fit_on_command_line,
}


# ---------------------------------------------------------------------- resolution orders
def public_estimators() -> list[type]:
    """The estimators of the registry, weight learners included, each once."""
    found = [cls for method in list_methods() for cls in method.estimators.values()]
    found += [method.learner for method in list_methods() if method.learner is not None]
    return [cls for cls in dict.fromkeys(found) if issubclass(cls, BaseEstimator)]


def own_classes(cls: type) -> list[str]:
    """The classes of the package in the resolution order of a class, itself first."""
    package = multikernel.__name__
    return [base.__name__ for base in inspect.getmro(cls) if base.__module__.split(".")[0] == package]


# ---------------------------------------------------------------------- tables
def fit_table(walks: dict[str, tuple[Walk, Walk]]) -> str:
    """Files, functions and depth of each fit."""
    lines = [
        "| call | files | functions | depth | files, functions, depth of the first call |",
        "|---|---|---|---|---|",
    ]
    for name, (first, second) in walks.items():
        rooms = Counter(Path(file).parts[0] for file in second.files)
        fullest = ", ".join(f"{count} in {room}" for room, count in rooms.most_common(2))
        counts = [f"{len(second.files)} ({fullest})", str(len(second.functions)), str(second.depth)]
        counts.append(f"{len(first.files)}, {len(first.functions)}, {first.depth}")
        lines.append(f"| `{name}` | {' | '.join(counts)} |")
    return "\n".join(lines)


def order_table(classes: list[type]) -> str:
    """How many classes of the package each estimator is made of, the longest orders first."""
    lines = ["| estimator | own classes | resolution order |", "|---|---|---|"]
    orders = {cls.__name__: own_classes(cls) for cls in classes}
    for name, order in sorted(orders.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        lines.append(f"| {name} | {len(order)} | {' → '.join(order)} |")
    return "\n".join(lines)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.walk", description=__doc__)
    parser.add_argument("--files", action="store_true", help="list the files of each fit")
    parser.add_argument("--stack", action="store_true", help="list the deepest call stack of each fit")
    arguments = parser.parse_args()
    walks = walk_all()
    print(fit_table(walks), order_table(public_estimators()), sep="\n\n")
    for name, (_, found) in walks.items():
        if arguments.files:
            print(f"\n{name}: files", *found.files, sep="\n  ")
        if arguments.stack:
            print(f"\n{name}: deepest stack", *found.deepest, sep="\n  ")


if __name__ == "__main__":
    main()

"""CPU time of one fit of each method of the registry, in single fits of MKLClassifier on the same data.

``python -m benchmarks.survey_times [NAME ...] [--n 500] [--m 10] [--spread 0] [--page]`` prints a row for
each method and what it learns from: seconds of CPU of one fit with its defaults (one thread, the least of up
to three fits), how many fits of MKLClassifier take as long, and how the fit ended. A method that takes more
than ``MOST`` of them is marked. Both times are of one process, so that other work on the machine changes
their ratio little. ``--spread 6`` multiplies the kernels by factors from 1e-3 to 1e3. ``--page`` writes
``docs/benchmarks/survey_times.md``.

Every method of `multikernel.registry.list_methods` is measured, so that a new one needs no line here.
``PREPARED`` has those that need other data than a table with a list of views.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from multikernel import Gaussian, MKLClassifier, View
from multikernel.registry import Method, list_methods

MOST = 50.0  # single fits of MKLClassifier
LONG = 5.0  # seconds: a longer fit is not repeated
PAGE = Path(__file__).parent.parent / "docs" / "benchmarks" / "survey_times.md"


@dataclass(frozen=True)
class Data:
    """A table of ``m`` views of four columns, of which three decide, with targets of each kind."""

    X: Any
    views: list[Any]
    targets: dict[str, Any]  # by task


@dataclass(frozen=True)
class Measured:
    """One row: a method, its task, seconds of CPU, how many fits of MKLClassifier that is, how it ended."""

    name: str
    task: str
    seconds: float
    fits: float
    status: str

    @property
    def is_slow(self) -> bool:
        return self.fits > MOST


def make_data(n: int, m: int, spread: float = 0.0, seed: int = 0) -> Data:
    """Samples whose target is a smooth function of the first three views, with noise.

    The scales of the kernels are ``spread`` powers of ten apart; with 0 each has unit variance.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4 * m))
    values = np.sin(2 * X[:, 0]) + X[:, 4] * X[:, 5] + np.tanh(X[:, 8]) + 0.3 * rng.normal(size=n)
    views: list[Any] = [(f"view-{k}", Gaussian(), list(range(4 * k, 4 * k + 4))) for k in range(m)]
    if spread:
        scales = np.logspace(-spread / 2, spread / 2, m)
        views = [
            View(name, float(scale) * kernel, columns, normalize=None)
            for (name, kernel, columns), scale in zip(views, scales, strict=True)
        ]
    targets = {
        "classification": values > np.median(values),
        "regression": values,
        "survival": {"event": rng.random(n) < 0.7, "time": np.exp(-values)},
        "unsupervised": None,
    }
    return Data(X, views, targets)


def fit_on_views(model: Any, data: Data, task: str) -> Any:
    """Fit a model to the views of the table."""
    model = model.set_params(kernels=data.views)
    return model.fit(data.X) if data.targets[task] is None else model.fit(data.X, data.targets[task])


def fit_on_one_view(model: Any, data: Data, task: str) -> Any:
    """Fit a model of one kernel."""
    return model.set_params(kernels=Gaussian()).fit(data.X, data.targets[task])


def fit_on_table(model: Any, data: Data, task: str) -> Any:
    """Fit a model that has a kernel of its own."""
    return model.fit(data.X) if data.targets[task] is None else model.fit(data.X, data.targets[task])


def fit_on_two_views(model: Any, data: Data, task: str) -> Any:
    """Fit a model of two kernels."""
    model = model.set_params(kernels=data.views[:2])
    return model.fit(data.X) if data.targets[task] is None else model.fit(data.X, data.targets[task])


def fit_on_tasks(model: Any, data: Data, task: str) -> Any:
    """Fit a model of several tasks: four of a quarter of the samples each."""
    X = np.column_stack([data.X, np.arange(len(data.X)) % 4])
    return model.set_params(kernels=data.views, task_column=X.shape[1] - 1).fit(X, data.targets[task])


def fit_on_pairs(model: Any, data: Data, task: str) -> Any:
    """Fit a model of pairs: all pairs of the first objects, as many as there are samples."""
    side = int(np.sqrt(len(data.X)))
    pairs = np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2)
    return model.fit(pairs.astype(float), data.targets[task][: len(pairs)])


# by the method's name; all others are fitted to the views
PREPARED: dict[str, Callable[[Any, Data, str], Any]] = {
    "pairs": fit_on_pairs,
    "tasks": fit_on_tasks,
    "functional_form": fit_on_two_views,
    **dict.fromkeys(("projection", "hyperkernels"), fit_on_table),
    **dict.fromkeys(("lfda", "kdda", "knn", "spectral", "conformal"), fit_on_one_view),
}


def cpu_time(make: Callable[[], Any], fit: Callable[[Any], Any], repeats: int) -> tuple[float, Any]:
    """The least CPU time of some fits, and the last model; a long fit is not repeated."""
    times: list[float] = []
    while len(times) < repeats:
        model = make()
        started = time.process_time()
        fit(model)
        times.append(time.process_time() - started)
        if times[-1] > LONG:
            break
    return min(times), model


def measure(methods: list[Method], n: int, m: int, repeats: int, spread: float = 0.0) -> Iterator[Measured]:
    """Measure each method on each of its tasks; the first is MKLClassifier, the unit."""
    data, small = make_data(n, m, spread), make_data(60, m, spread)
    unit = np.nan
    for method in methods:
        fit = PREPARED.get(method.name, fit_on_views)
        for task in method.tasks:
            make = partial(method.make, task)
            cpu_time(make, partial(fit, data=small, task=task), 1)  # compiled code is loaded
            seconds, model = cpu_time(make, partial(fit, data=data, task=task), repeats)
            if isinstance(model, MKLClassifier) and np.isnan(unit):
                unit = seconds
            yield Measured(method.name, task, seconds, seconds / unit, str(getattr(model, "status_", "")))


def as_page(rows: list[Measured], n: int, m: int) -> str:
    """The page of a run."""
    slow = sorted({row.name for row in rows if row.is_slow})
    lines = [
        "---\norphan: true\n---\n",
        "# How long each method takes",
        "",
        f"Written by `python -m benchmarks.survey_times --page`. One fit of each method with its defaults, "
        f"n = {n} samples, m = {m} kernels, one thread: CPU time, and how many fits of `MKLClassifier` take "
        f"as long. More than {MOST:.0f} fits: {', '.join(f'`{name}`' for name in slow) or 'none'}.",
        "",
        "| method | learns from | seconds | fits of `MKLClassifier` | status |",
        "|---|---|--:|--:|---|",
    ]
    for row in sorted(rows, key=lambda row: row.seconds):
        mark = "**" if row.is_slow else ""
        lines.append(
            f"| `{row.name}` | {row.task} | {row.seconds:.3f} | {mark}{row.fits:.1f}{mark} | {row.status} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the table, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", help="methods; all by default")
    parser.add_argument("--n", type=int, default=500)
    parser.add_argument("--m", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--spread", type=float, default=0.0, help="powers of ten between the kernels' scales")
    parser.add_argument("--page", action="store_true", help="write docs/benchmarks/survey_times.md")
    options = parser.parse_args()
    known = {method.name: method for method in list_methods()}
    unknown = sorted(set(options.names) - set(known))
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; known: {', '.join(known)}")
    names = dict.fromkeys(["mkl", *(options.names or known)])
    if options.page and (options.names or options.spread):
        parser.error("--page is of all methods on kernels of one scale: leave out the names and --spread")
    warnings.simplefilter("ignore")  # a fit that stops early says so in its status
    rows = []
    with threadpool_limits(1):
        for row in measure(
            [known[name] for name in names], options.n, options.m, options.repeats, options.spread
        ):
            rows.append(row)
            told = f"{row.status}{f'  more than {MOST:.0f}' if row.is_slow else ''}"
            print(
                f"{row.name:24s} {row.task:16s} {row.seconds:8.3f} s {row.fits:8.1f} fits  {told}",
                flush=True,
            )
    if options.page:
        PAGE.write_text(as_page(rows, options.n, options.m), encoding="utf-8")
        print(f"Wrote {PAGE}")


if __name__ == "__main__":
    main()

"""CPU time of one fit of each method of the survey, in single fits of MKLClassifier on the same data.

``python -m benchmarks.survey_times [NAME ...] [--n 500] [--m 10] [--repeats 3]`` prints a row for each
method: seconds of CPU of one fit with its defaults (the least of some repeats, one thread), how many fits of
MKLClassifier take as long, and how the fit ended. A method that takes more than ``MOST`` of them is marked.
Both times are of one process, so that other work on the machine changes their ratio little.

To add a method: a line in ``METHODS`` with its name, a function that makes the estimator, and its data.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from multikernel import Gaussian, MKLClassifier

MOST = 50.0  # single fits of MKLClassifier


@dataclass(frozen=True)
class Data:
    """A table of ``m`` views of four columns, of which three decide, with targets of each kind."""

    X: Any
    views: list[tuple[str, Any, list[int]]]
    labels: Any  # two classes
    values: Any  # of a regression


def make_data(n: int, m: int, seed: int = 0) -> Data:
    """Samples whose target is a smooth function of the first three views, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4 * m))
    signal = np.sin(2 * X[:, 0]) + X[:, 4] * X[:, 5] + np.tanh(X[:, 8])
    values = signal + 0.3 * rng.normal(size=n)
    views = [(f"view-{k}", Gaussian(), list(range(4 * k, 4 * k + 4))) for k in range(m)]
    return Data(X, views, values > np.median(values), values)


@dataclass(frozen=True)
class Method:
    """A method: ``make`` returns the estimator for the data, ``target`` is what its fit takes as y."""

    name: str
    make: Callable[[Data], Any]
    target: str = "labels"  # "labels", "values" or "none"


METHODS = [
    Method("mkl", lambda data: MKLClassifier(data.views)),
]


def cpu_time(method: Method, data: Data, repeats: int) -> tuple[float, Any]:
    """The least CPU time of some fits, and the last model."""
    targets = {"labels": data.labels, "values": data.values, "none": None}[method.target]
    times, model = [], None
    for _ in range(repeats):
        model = method.make(data)
        started = time.process_time()
        model.fit(data.X) if targets is None else model.fit(data.X, targets)
        times.append(time.process_time() - started)
    return min(times), model


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", help="methods; all by default")
    parser.add_argument("--n", type=int, default=500)
    parser.add_argument("--m", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    unknown = sorted(set(options.names) - {method.name for method in METHODS})
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; known: {', '.join(m.name for m in METHODS)}")
    warnings.simplefilter("ignore")
    data = make_data(options.n, options.m)
    with threadpool_limits(1):
        small = make_data(60, options.m)
        cpu_time(METHODS[0], small, 1)  # compiled code is loaded before anything is measured
        unit, _ = cpu_time(METHODS[0], data, max(5, options.repeats))
        print(f"n={options.n}, m={options.m}: one fit of MKLClassifier takes {1e3 * unit:.1f} ms of CPU")
        for method in METHODS:
            if options.names and method.name not in options.names:
                continue
            cpu_time(method, small, 1)
            seconds, model = cpu_time(method, data, options.repeats)
            ratio, status = seconds / unit, getattr(model, "status_", "")
            mark = "  more than allowed" if ratio > MOST else ""
            print(f"{method.name:24s} {seconds:8.3f} s {ratio:8.1f} fits  {status}{mark}", flush=True)


if __name__ == "__main__":
    main()

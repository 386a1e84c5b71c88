"""Fits from a table of features: ours with seven kernels, scikit-learn's SVC, and the stages of ours."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from benchmarks.datasets.features import seven_kernels
from multikernel import KernelBank, MKLClassifier
from multikernel.kernels import Gaussian, together
from multikernel.views import KernelWarning

# where each stage is entered; what is in none of them is "checks"
_STAGES: list[tuple[Any, str, str]] = [
    (KernelBank, "fit_stack", "kernels"),
    (KernelBank, "fit_on_demand", "kernels"),
    (together.OnDemand, "with_kernels", "kernels"),
    (together.OnDemand, "of_samples", "kernels"),
    (together.OnDemand, "quadratic_forms", "kernels"),
    (Gaussian, "_resolve", "distances"),
    (MKLClassifier, "_solve_all", "solve"),
    (MKLClassifier, "_store", "store"),
]
STAGES = ("checks", "distances", "kernels", "solve", "store")

Table = NDArray[np.float64]


def fit_features(X: Table, y: NDArray[np.intp]) -> MKLClassifier:
    """Ours, as a user calls it; that a narrow Gaussian is nearly the identity is told to nobody."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KernelWarning)
        return MKLClassifier(seven_kernels()).fit(X, y)


def fit_svc(X: Table, y: NDArray[np.intp]) -> SVC:
    """scikit-learn's, as a user calls it: one Gaussian kernel."""
    return SVC().fit(X, y)


class StageClock:
    """CPU time by stage; what one stage calls of another is counted there alone."""

    def __init__(self) -> None:
        self.times = dict.fromkeys(STAGES, 0.0)
        self._open = ["checks"]
        self._since = 0.0

    def start(self) -> None:
        """Count from now on."""
        self._since = time.process_time()

    def _switch(self) -> None:
        now = time.process_time()
        self.times[self._open[-1]] += now - self._since
        self._since = now

    def within(self, stage: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """The function, its time counted as that of the stage."""

        def timed(*args: Any, **kwargs: Any) -> Any:
            self._switch()
            self._open.append(stage)
            try:
                return call(*args, **kwargs)
            finally:
                self._switch()
                self._open.pop()

        return timed

    def steps(self, stage: str, generate: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        """The same of a generator: each of its steps."""

        def timed(*args: Any, **kwargs: Any) -> Iterator[Any]:
            step = self.within(stage, generate(*args, **kwargs).__next__)
            while True:
                try:
                    value = step()
                except StopIteration:
                    return
                yield value

        return timed


def stage_times(X: Table, y: NDArray[np.intp]) -> dict[str, float]:
    """CPU time of the stages of one fit; their sum is that of the fit."""
    clock = StageClock()
    with ExitStack() as stack:
        for owner, name, stage in _STAGES:
            stack.enter_context(patch.object(owner, name, clock.within(stage, getattr(owner, name))))
        strips = clock.steps("distances", together.product_strips)
        stack.enter_context(patch.object(together, "product_strips", strips))
        clock.start()
        clock.within("checks", fit_features)(X, y)
    return clock.times

"""Fit what was planned: Ctrl-C once stops at the next iteration and keeps the model, twice ends at once."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from multikernel.io.tables.planning import FitPlan

OnStep = Callable[[dict[str, Any]], None]

DONE, INTERRUPTED = "done", "interrupted"


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model, and how it came about.

    Attributes
    ----------
    model : estimator
    status : {"done", "interrupted"}
    seconds : float
    warnings : list of str, one line each
    """

    model: Any
    status: str
    seconds: float
    warnings: list[str]


class Stop:
    """Whether the user asked for an end, and whether a fit was told so."""

    def __init__(self) -> None:
        self.asked = False
        self.answered = False


def fit_plan(plan: FitPlan, *, on_step: OnStep | None = None, stop: Stop | None = None) -> Fitted:
    """Fit the estimator of a plan.

    Parameters
    ----------
    plan : FitPlan
    on_step : callable, optional
        Called with the entry of each iteration, where the estimator takes a callback.
    stop : Stop, optional
        From `stop_on_interrupt`: once it is asked, the fit ends at its next iteration.

    Returns
    -------
    Fitted
        Its model has no callback any more.
    """
    stop = Stop() if stop is None else stop
    model = clone(plan.model)
    if takes_callback(model):
        model.set_params(callback=_callback(on_step, stop))
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _fit_named(model, plan)
    seconds = time.perf_counter() - start
    if takes_callback(model):
        model.set_params(callback=None)
    if plan.data.kernel_names:
        _name_kernels(model, plan.data.kernel_names)
    told = dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught)
    return Fitted(model, INTERRUPTED if stop.answered else DONE, seconds, list(told))


def _fit_named(model: Any, plan: FitPlan) -> None:
    """Fit; an error names a ready-made kernel as its file does, and not by its number."""
    try:
        model.fit(plan.X) if plan.y is None else model.fit(plan.X, plan.y)
    except ValueError as error:
        names = plan.data.kernel_names
        told = (
            re.sub(r"'kernel-(\d+)'", lambda found: repr(names[int(found[1])]), str(error)) if names else ""
        )
        if told and told != str(error):
            raise ValueError(told) from error
        raise


def takes_callback(model: Any) -> bool:
    """Whether a fit of the model can be watched, and stopped, between its iterations."""
    return "callback" in model.get_params(deep=False)


@contextmanager
def stop_on_interrupt(message: str = "") -> Iterator[Stop]:
    """Within the block, the first Ctrl-C asks for an end and the second raises KeyboardInterrupt.

    Parameters
    ----------
    message : str
        Written to standard error at the first.

    Yields
    ------
    Stop

    Notes
    -----
    In a thread other than the main one, nothing is changed: signals are not heard there.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def hear(number: int, frame: Any) -> None:
        if stop.asked:
            raise KeyboardInterrupt
        stop.asked = True
        os.write(2, message.encode())  # a handler may not wait for locks of others

    before = signal.signal(signal.SIGINT, hear)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def _callback(on_step: OnStep | None, stop: Stop) -> Callable[[dict[str, Any]], bool]:
    def watch(entry: dict[str, Any]) -> bool:
        if on_step is not None:
            on_step(entry)
        stop.answered = stop.answered or stop.asked
        return stop.asked

    return watch


def _name_kernels(model: Any, names: list[str]) -> None:
    """Ready-made kernels have numbers for names in an estimator; a file may know better ones."""
    for owner in (model, getattr(model, "_bank", None)):
        if len(getattr(owner, "view_names_", ())) == len(names):
            owner.view_names_ = list(names)  # type: ignore[union-attr]

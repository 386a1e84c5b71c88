"""What every fit checks first: the parameters that mean the same in all estimators."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np

from .._numba import tell_of_compiling
from .._validation import check_choice, check_flag, check_n_jobs, check_number
from .optim.loop import limited, stop_on_interrupt

ON_INTERRUPT = ("raise", "keep")


def within_limits(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A ``fit`` that ends within the limits of its estimator, if it has some."""

    @wraps(fit)
    def fit_within(self: Any, *args: Any, **kwargs: Any) -> Any:
        check_common(self)
        tell_of_compiling()
        with limits_of(self):
            return fit(self, *args, **kwargs)

    return fit_within


def check_common(estimator: Any) -> None:
    """Refuse what no estimator takes as ``n_jobs``, ``verbose``, ``callback`` or a bool."""
    for field in fields(estimator) if is_dataclass(estimator) else ():
        value = getattr(estimator, field.name)
        if field.type in (bool, "bool"):
            check_flag(field.name, value)
        elif field.name == "n_jobs":
            check_n_jobs(value)
        elif field.name == "callback":
            _check_callback(value)
        elif field.name == "verbose" and not isinstance(value, (bool, int, np.bool_, np.integer)):
            raise TypeError(f"verbose must be a whole number, 0 for silence; got {value!r}.")


def _check_callback(callback: Any) -> None:
    """Refuse what cannot be called with one argument, where that can be told before the fit."""
    if callback is None:
        return
    if not callable(callback):
        raise TypeError(f"callback must be a function of one dict; got {callback!r}.")
    try:
        parameters = signature(callback)
    except ValueError:  # of functions that are not written in Python
        return
    try:
        parameters.bind({})
    except TypeError as error:
        raise TypeError(
            f"callback must be a function of one dict, the entry of an iteration; got one of {parameters}."
        ) from error


@contextmanager
def limits_of(estimator: Any) -> Iterator[None]:
    """What an estimator allows, for the time of the block; nothing is limited where it has no parameters."""
    max_time = getattr(estimator, "max_time", None)
    if max_time is not None:
        max_time = check_number("max_time", max_time, above=0.0)
    on_interrupt = check_choice("on_interrupt", getattr(estimator, "on_interrupt", "raise"), ON_INTERRUPT)
    with ExitStack() as limits:
        if on_interrupt == "keep":
            limits.enter_context(stop_on_interrupt())
        limits.enter_context(limited(max_time))
        yield

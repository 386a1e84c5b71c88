"""What every fit checks first: parameters that are declared bool, ``max_time`` and ``on_interrupt``."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any

from .._validation import check_choice, check_flag, check_number
from .optim.loop import limited, stop_on_interrupt

ON_INTERRUPT = ("raise", "keep")


def within_limits(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A ``fit`` that ends within the limits of its estimator, if it has some."""

    @wraps(fit)
    def fit_within(self: Any, *args: Any, **kwargs: Any) -> Any:
        check_flags(self)
        with limits_of(self):
            return fit(self, *args, **kwargs)

    return fit_within


def check_flags(estimator: Any) -> None:
    """Refuse anything but True and False for the parameters of an estimator that are declared bool."""
    for field in fields(estimator) if is_dataclass(estimator) else ():
        if field.type in (bool, "bool"):
            check_flag(field.name, getattr(estimator, field.name))


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

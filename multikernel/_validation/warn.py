"""Warnings that point at the line of the caller, however deep in the package they arise."""

import sys
import warnings

_PACKAGE = __name__.split(".")[0]


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line outside of this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == _PACKAGE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)

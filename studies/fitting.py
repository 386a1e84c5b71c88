"""Fits whose convergence the pages report."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.exceptions import ConvergenceWarning


@contextmanager
def convergence_reported() -> Iterator[None]:
    """Silence warnings about convergence: the status of a fit is stored, and the page reports it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield

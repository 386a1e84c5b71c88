"""Fits whose convergence the pages report."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.exceptions import ConvergenceWarning

from multikernel.views import KernelWarning


@contextmanager
def convergence_reported() -> Iterator[None]:
    """Silence warnings about convergence: the status of a fit is stored, and the page reports it.

    The kernels are those of the paper, whatever a fit has to say of them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", KernelWarning)
        yield

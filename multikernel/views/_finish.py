"""The checks and repairs every training Gram goes through, whichever bank it comes from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from multikernel._validation import (
    GramFacts,
    RowError,
    check_gram,
    is_indefinite,
    raise_degenerate,
    raise_indefinite,
)
from multikernel.kernels import PSDRepair


def needs_repair(K: np.ndarray, facts: GramFacts, label: str, *, psd: str, full: bool) -> bool:
    """Whether the Gram is provably indefinite and `psd` asks for a repair; refused when ``psd="error"``."""
    if not (facts.breaks_schwarz or is_indefinite(K, full=full)):
        return False
    if psd == "error":
        raise_indefinite(K, label)
    return True


def repair(K: np.ndarray, psd: str, label: str) -> PSDRepair:
    """Repair `K` in place; returns the fitted repair, which test rows need too."""
    fitted = PSDRepair(psd).fit(K)
    fitted.train(K, overwrite=True)
    facts = check_gram(K, label)
    if facts.degenerate:
        raise_degenerate(f'{label}, repaired with psd="{psd}",', facts.degenerate)
    return fitted


@contextmanager
def naming(label: str) -> Iterator[None]:
    """Let an error raised inside name the view or kernel it is about."""
    try:
        yield
    except ValueError as error:
        if label in str(error):
            raise
        if isinstance(error, RowError):  # whoever reads a part of a table says which row of the whole it is
            raise error.in_row(error.row, f"{label}: ") from error
        raise ValueError(f"{label}: {error}") from error

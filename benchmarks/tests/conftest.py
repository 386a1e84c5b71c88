"""Data for the tests of the benchmarks."""

import numpy as np
import pytest

from benchmarks.datasets import localized


@pytest.fixture
def few_digits(monkeypatch):
    """Of the benchmarks of gates: two views of few digits, so that no data folder is needed."""
    rng = np.random.default_rng(0)
    digits = np.arange(60) % 10
    views = {"shape": rng.normal(size=(60, 3)) + digits[:, None], "ink": rng.normal(size=(60, 2))}
    monkeypatch.setattr(localized, "digit_views", lambda: ("multifeat", views, digits))
    localized.digits_task.cache_clear()
    yield views, digits
    localized.digits_task.cache_clear()

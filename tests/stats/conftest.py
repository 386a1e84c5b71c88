"""Every test begins with toys that were never fitted."""

import pytest

from tests.stats import toys


@pytest.fixture(autouse=True)
def fresh_toys(monkeypatch):
    monkeypatch.setattr(toys, "FITS", [])
    monkeypatch.setattr(toys, "STOP_AT", [])

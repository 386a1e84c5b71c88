"""What the tests of several commands begin with."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def small_table(tmp_path, monkeypatch):
    """The folder with ``small.csv``, forty rows of two classes, as the present one."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(40, 2)), columns=["x", "z"])
    table["kind"] = np.where(table["x"] + 0.4 * rng.normal(size=40) > 0, "up", "[red]down")
    table.to_csv(tmp_path / "small.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path

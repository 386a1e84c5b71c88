"""The table that most tests of the doctor begin with."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def table():
    """Sixty clean rows of three columns, and two classes that the columns hint at."""
    rng = np.random.default_rng(0)
    y = np.repeat(["no", "yes"], 30)
    X = pd.DataFrame(rng.standard_normal((60, 3)) + (y == "yes")[:, None], columns=["a", "b", "c"])
    return X, y

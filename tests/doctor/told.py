"""What the doctor told, for tests."""

import numpy as np
import pandas as pd

from multikernel.doctor import diagnose


def clean_table():
    """Sixty clean rows of three columns, and two classes that the columns hint at."""
    rng = np.random.default_rng(0)
    y = np.repeat(["no", "yes"], 30)
    X = pd.DataFrame(rng.standard_normal((60, 3)) + (y == "yes")[:, None], columns=["a", "b", "c"])
    return X, y


def find(found, level, subject, said=""):
    """The one finding of a level on a subject."""
    hits = [f for f in found.findings if (f.level, f.subject) == (level, subject) and said in f.what]
    assert len(hits) == 1, found
    assert hits[0].remedy
    return hits[0]


def told(X, y=None, kernels="auto", **options):
    return {(f.level, f.subject) for f in diagnose(X, y, kernels, **options).findings}

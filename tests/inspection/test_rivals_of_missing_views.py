"""Rivals of a model whose samples lack views."""

import numpy as np
import pandas as pd
import pytest

from multikernel import Gaussian, KernelBank, MKLClassifier, MKLClassifierCV, evaluate, join_views


@pytest.mark.parametrize("kind", [MKLClassifier, MKLClassifierCV])
@pytest.mark.filterwarnings("ignore")
def test_the_plain_sum_is_the_same_model_with_equal_weights(kind):
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(60) % 2)
    ids = [f"p{k}" for k in range(60)]
    tables = {
        name: pd.DataFrame(rng.normal(size=(60, 3)) + shift * y[:, None], index=ids)
        for name, shift in (("a", 1.0), ("b", 0.5))
    }
    X = join_views({"a": tables["a"], "b": tables["b"].iloc[:45]}, how="outer")
    y = pd.Series(y, index=ids).loc[X.ids]
    bank = KernelBank({"a": Gaussian(), "b": Gaussian()}, missing="mean")
    model = kind(bank).fit(X, y)
    found = evaluate(model, X, y, parts="baselines", baselines=["plain sum"], progress=False, cv=3)
    assert not found["omitted"]
    equal = {"norm": np.inf} if kind is MKLClassifier else {"norms": [np.inf]}
    other = evaluate(
        kind(bank, **equal).fit(X, y), X, y, parts="baselines", baselines=["plain sum"], progress=False, cv=3
    )
    scores = found.to_frame()["score"]
    assert scores["plain sum"] == pytest.approx(other.to_frame()["score"].iloc[0])

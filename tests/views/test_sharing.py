"""Gram matrices that fits to the same rows share: the same numbers, computed once."""

import numpy as np
import pandas as pd
import pytest

from multikernel import KernelBank, View
from multikernel.kernels import Gaussian, Linear
from multikernel.views import sharing
from multikernel.views.bank import KernelBank as Bank
from multikernel.views.sharing import SharedGrams, share_grams

X = np.random.default_rng(0).normal(size=(12, 5))
VIEWS = [View("a", Gaussian(), [0, 1]), View("b", Linear(), [2]), View("c", Gaussian(), [3, 4])]


@pytest.fixture
def computed(monkeypatch):
    """How many views were fitted by each call."""
    counts, plain = [], Bank._fit_views
    monkeypatch.setattr(
        Bank,
        "_fit_views",
        lambda self, table, views, slots: (counts.append(len(views)), plain(self, table, views, slots))[1],
    )
    return counts


@pytest.mark.parametrize("table", [X, pd.DataFrame(X), {"a": X, "b": X}], ids=["array", "frame", "tables"])
def test_what_is_shared_is_the_same(table, computed):
    views = VIEWS if not isinstance(table, dict) else {"a": Gaussian(), "b": Linear()}
    alone = KernelBank(views).fit(table)
    plain = KernelBank(views).fit_stack(table)
    with share_grams():
        first, second = KernelBank(views), KernelBank(views)
        computed.clear()
        stacks = first.fit_stack(table), second.fit_stack(table)
        assert computed == [len(plain)]
        if not isinstance(table, dict):
            fewer = KernelBank([View("other", VIEWS[1].kernel, [2]), VIEWS[0]])
            np.testing.assert_array_equal(fewer.fit_stack(table), plain[[1, 0]])
            assert fewer.view_names_ == ["other", "a"] and len(computed) == 1
    for stack in stacks:
        np.testing.assert_array_equal(stack, plain)
    for (_, K), (_, expected) in zip(second.iter_kernels(table), alone.iter_kernels(table), strict=True):
        np.testing.assert_array_equal(K, expected)
    stacks[0][...] = 0.0  # what one fit does to its stack is not seen by another
    np.testing.assert_array_equal(stacks[1], plain)


def test_other_rows_and_settings_are_other_kernels(computed):
    with share_grams():
        KernelBank(VIEWS).fit_stack(X)
        for other in (X + 1.0, X[:11], X.astype(np.float32), pd.DataFrame(X)):
            KernelBank(VIEWS).fit_stack(other)
        KernelBank(VIEWS, standardize=False).fit_stack(X)
        KernelBank(VIEWS, dtype="float32").fit_stack(X)
        KernelBank([View("a", Gaussian(scale=2.0), [0, 1])]).fit_stack(X)
    assert len(computed) == 8
    KernelBank(VIEWS).fit_stack(X)
    assert len(computed) == 9 and sharing.shared_grams() is None


def test_the_oldest_are_forgotten():
    shared, K = SharedGrams(limit=3 * 800), np.zeros((10, 10))
    for key in range(5):
        shared.keep(key, None, K)
    assert shared.find([0]) is None and shared.find([2, 3, 4]) is not None
    shared.keep("large", None, np.zeros((100, 100)))
    assert shared.find(["large"]) is None and shared.find([4]) is not None

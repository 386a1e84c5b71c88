"""Holm's p-values, by the definition and by the rejections that they stand for."""

import numpy as np
import pytest

from multikernel.inspection import holm


def rejected(pvalues, level):
    """Holm's procedure: reject from the smallest on, until one is above level / (number of those left)."""
    out = np.zeros(len(pvalues), bool)
    for step, i in enumerate(np.argsort(pvalues)):
        if pvalues[i] > level / (len(pvalues) - step):
            break
        out[i] = True
    return out


@pytest.mark.parametrize("k", [1, 2, 5, 9])
def test_a_test_is_rejected_where_the_procedure_rejects_it(k):
    rng = np.random.default_rng(k)
    for _ in range(50):
        pvalues = rng.random(k) ** 3
        for level in (0.01, 0.05, 0.3):
            assert ((holm(pvalues) <= level) == rejected(pvalues, level)).all()


def test_adjusted_values_are_no_smaller_keep_the_order_and_stay_below_one():
    pvalues = np.array([0.6, 0.0, 0.02, 0.6, 1.0])
    found = holm(pvalues)
    np.testing.assert_allclose(found, [1.0, 0.0, 0.08, 1.0, 1.0])
    assert holm([]).size == 0 and holm([0.3]).tolist() == [0.3]
    assert pvalues.tolist() == [0.6, 0.0, 0.02, 0.6, 1.0]


@pytest.mark.parametrize("bad", [[0.5, 1.2], [-0.1], [float("nan")], 0.5, [[0.5]], ["a"], [[0.1], 0.2]])
def test_what_is_no_list_of_pvalues_is_refused(bad):
    with pytest.raises(ValueError, match="numbers from 0 to 1"):
        holm(bad)

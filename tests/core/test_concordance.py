"""Harrell's C: scikit-survival, and pairs counted one by one, are the judges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sksurv.metrics import concordance_index_censored

from multikernel.core.concordance import concordance, concordance_index, weighted_concordance
from multikernel.core.survival_targets import as_survival


def draw(seed, n, n_times=8, n_risks=6):
    """Times and risks with many ties."""
    rng = np.random.default_rng(seed)
    time = rng.integers(1, n_times + 1, n).astype(float)
    return rng.random(n) < 0.6, time, rng.integers(0, n_risks, n) / 3.0


@given(st.integers(0, 10**6), st.integers(2, 40))
def test_as_scikit_survival_counts(seed, n):
    event, time, risk = draw(seed, n)
    event[np.argmin(time)], time[np.argmin(time)] = True, 0.5
    found = concordance((event, time), risk)
    index, *counts = concordance_index_censored(event, time, risk)
    assert [found.concordant, found.discordant, found.tied_risk, found.tied_time] == counts
    assert found.index == pytest.approx(index, abs=1e-12)


def test_without_ties_and_with_risks_that_nearly_tie():
    rng = np.random.default_rng(0)
    event, time, risk = rng.random(300) < 0.5, rng.exponential(size=300), rng.normal(size=300)
    risk[100:] = risk[:200] + rng.choice([0.0, 5e-9, 2e-8], 200)
    index, *counts = concordance_index_censored(event, time, risk)
    found = concordance((event, time), risk)
    assert [found.concordant, found.discordant, found.tied_risk, found.tied_time] == counts
    assert concordance_index((event, time), risk) == index


@given(st.integers(0, 10**6), st.integers(2, 25))
def test_weights_and_entry_times_pair_by_pair(seed, n):
    event, time, risk = draw(seed, n)
    rng = np.random.default_rng(seed)
    entry, first, second = np.floor(time * rng.random(n)), rng.random(n), rng.random(n)
    entry[entry >= time] = 0.0
    sums = np.zeros(3)
    for i in np.flatnonzero(event):
        for j in range(n):
            later = time[j] > time[i] or (time[j] == time[i] and not event[j])
            if later and entry[j] < time[i]:
                sums[1 + int(np.sign(risk[j] - risk[i]))] += first[i] * second[j]
    found = weighted_concordance(as_survival((event, time, entry)), risk, first, second)
    np.testing.assert_allclose([found.concordant, found.tied_risk, found.discordant], sums, atol=1e-12)


def test_a_weight_of_two_is_a_repeated_sample():
    event, time, risk = draw(3, 30)
    time += np.arange(30) * 1e-3  # a sample is not compared with its copy
    weights = np.where(np.arange(30) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(30), weights.astype(int))
    found = concordance_index((event, time), risk, sample_weight=weights)
    # a censored sample and its copy are not comparable, nor are two copies of an event
    assert found == pytest.approx(concordance_index((event[twice], time[twice]), risk[twice]), abs=1e-12)


def test_chance_order_and_time():
    rng = np.random.default_rng(1)
    event, time = rng.random(100) < 0.5, rng.exponential(size=100)
    y = (event, time)
    assert concordance_index(y, -time) == 1.0
    assert concordance_index(y, time) == 0.0
    assert concordance_index(y, np.zeros(100)) == 0.5


@pytest.mark.parametrize(
    ("event", "risk", "words"),
    [
        ([0, 0, 0], [1, 2, 3], "needs a pair of samples that can be compared"),
        ([0, 0, 1], [1, 2, 3], "needs a pair of samples that can be compared"),
        ([1, 1, 1], [1, 2], "one number for each of the 3 samples of y; got shape"),
        ([1, 1, 1], [1, 2, np.nan], "risk must be finite; entry 2 is nan"),
    ],
)
def test_what_has_no_index(event, risk, words):
    with pytest.raises(ValueError, match=words):
        concordance_index((event, [1.0, 2.0, 3.0]), risk)


def test_negative_weights_are_refused():
    with pytest.raises(ValueError, match="entry 1 is -1"):
        concordance_index(([1, 1], [1.0, 2.0]), [1, 2], sample_weight=[1, -1])

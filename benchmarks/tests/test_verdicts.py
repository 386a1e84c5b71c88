"""The simulation of verdicts: its problems are what they claim to be, and the page shows what was found."""

import numpy as np
import pytest

from benchmarks import verdicts
from benchmarks.verdicts import BETTER, CONFIRMING, EQUAL, RULES, differences, page, true_difference


@pytest.mark.parametrize("problem", BETTER[:2], ids=lambda problem: problem.name)
def test_the_better_model_is_better_by_eight_points(problem):
    assert true_difference(problem, 200, seed=5) == pytest.approx(0.08, abs=0.01)


def test_equal_models_may_be_exchanged():
    """Each problem is the same when its columns and its models change places."""
    for problem in (*EQUAL, *CONFIRMING):
        kept = set(problem.first) & set(problem.second)
        own = [sorted(problem.shift[sorted(set(c) - kept)]) for c in (problem.first, problem.second)]
        assert own[0] == own[1]


def test_differences_of_samples_and_of_folds_agree():
    of_samples, of_folds = differences(EQUAL[0], np.random.default_rng(0))
    np.testing.assert_allclose(of_samples.mean(axis=1), of_folds.mean(axis=1))
    assert set(np.unique(of_samples)) <= {-1.0, 0.0, 1.0}


def test_the_page_has_a_row_for_each_problem(monkeypatch):
    monkeypatch.setattr(verdicts, "true_difference", lambda problem: 0.08)
    text = page(2)
    assert all(problem.name in text for problem in (*EQUAL, *CONFIRMING, *BETTER))
    assert all(label in text for label, _ in RULES.values()) and "2 comparisons in each row" in text

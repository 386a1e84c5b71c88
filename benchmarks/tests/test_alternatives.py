"""Alternatives to the defaults, and rules that choose C and the norm."""

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.svm import SVC

from benchmarks.store import Store
from benchmarks.tables import alternatives, selection
from benchmarks.tables.sets import DataSet
from multikernel.kernels import Gaussian

RNG = np.random.default_rng(0)


def small(n=120):
    X = RNG.normal(size=(n, 3))
    return DataSet("small", X, (X[:, 0] + 0.5 * RNG.normal(size=n) > 0.0).astype(int))


def fold(accuracy, loss, tested=None):
    """Candidates C = 0.1, 1, 10 of norm 1, in three equal draws of inner folds."""
    accuracy, loss = (np.tile(np.array(part, float).T, (3, 1, 1)) for part in (accuracy, loss))
    n = accuracy.shape[-1]
    tested = np.zeros(n) if tested is None else np.array(tested)
    C, ones = 10.0 ** np.arange(-1, n - 1), np.ones(n)
    return selection.Fold(C, ones, 0 * ones, accuracy, loss, tested, np.tile(tested, (3, 1)))


def test_leave_one_out_is_that_of_scikit_learn(monkeypatch):
    data = small(40)
    K = Gaussian(gamma=0.5)(data.X)
    monkeypatch.setattr(alternatives, "MOST_LEFT_OUT", 40)
    machine = SVC(C=1.0, kernel="precomputed")
    expected = cross_val_score(machine, K, data.y, cv=LeaveOneOut()).mean()
    assert alternatives.leave_one_out(K, data.y) == pytest.approx(expected)


def test_complexity_and_radius_of_known_kernels():
    assert alternatives.complexity(np.eye(10)) == pytest.approx(np.sqrt(9.0) ** 0.5)
    assert alternatives.squared_radius(np.outer([-1.0, 0.5, 1.0], [-1.0, 0.5, 1.0])) == pytest.approx(
        1.0, rel=2e-3
    )


def test_alternatives_answer_and_are_tabulated(monkeypatch, tmp_path):
    monkeypatch.setattr(alternatives, "load", lambda name: small(40))
    monkeypatch.setattr(alternatives, "REPEATS", 1)
    store = Store(tmp_path / "store.jsonl", "now")
    alternatives.run(store, ["small"], list(alternatives.ALTERNATIVES))
    text = alternatives.table(store, ["small"])
    assert text.count("(small) | 1 |") == len(alternatives.ALTERNATIVES) - 1


def test_halving_keeps_the_better_half_by_what_is_known_so_far():
    scores = np.tile(0.5 + 0.01 * np.arange(8), (5, 1))
    scores[0, 7] = 0.0  # the best of all has a poor first fold
    assert selection.halve(scores, np.arange(8)).tolist() == [4, 5, 6]


def test_rules_by_hand():
    accuracy = [[0.9] * 5, [0.8, 1.0, 0.9, 0.9, 0.9], [0.9, 0.9, 0.9, 0.9, 0.85]]
    one = fold(accuracy, [[0.3] * 5, [0.2] * 5, [0.1] * 5])
    assert selection.halving(one, 0) == 0
    assert selection.halving(one, 0, ties=selection.TIE) == 1
    assert selection.smallest_loss(one, 0, one.usual) == 1
    assert selection.smallest_loss(one, 0, one.usual, 0.02) == 2
    assert selection.is_near(one, 0, 0) and not selection.is_near(one, 0, 2)
    other = fold([[0.80] * 5, [0.9, 0.7, 0.9, 0.7, 0.9], [0.6] * 5], np.ones((3, 5)))
    assert selection.halving(other, 0) == 1
    assert selection.smallest_penalty(other, 0) == 0


def test_scores_are_accuracies_and_calibrated_losses():
    y = RNG.integers(0, 2, 60)
    scores = 3.0 * (2 * y - 1) * (RNG.uniform(size=60) < 0.8) + RNG.normal(size=60)
    parts = np.tile(np.arange(60) % 5, (3, 1))
    found = {
        "held_out": np.tile(scores, (3, 1, 1)),
        "parts": parts,
        "tested": scores[None, :30],
        "y": y,
        "y_test": y[:30],
    }
    accuracy, loss, tested, tested_loss = selection.scores_of(found)
    right = (scores > 0.0) == (y == 1)
    np.testing.assert_allclose(accuracy[1, :, 0], [right[parts[0] == k].mean() for k in range(5)])
    assert tested[0] == right[:30].mean()
    margins, slopes = scores * (2 * y - 1), np.linspace(0.01, 5.0, 2000)
    doubt = 1.0 / 62.0  # labels are smoothed
    losses = [
        ((1.0 - doubt) * np.logaddexp(0.0, -t * margins) + doubt * np.logaddexp(0.0, t * margins)).mean()
        for t in slopes
    ]
    expected = np.logaddexp(0.0, -slopes[np.argmin(losses)] * margins).mean()
    assert loss[0].mean() == pytest.approx(expected, abs=1e-3)
    assert tested_loss.shape == (3, 1)


def test_candidates_are_fitted_and_tabulated(monkeypatch, tmp_path):
    data = small()
    monkeypatch.setattr(selection, "load", lambda name: data)
    monkeypatch.setattr(selection, "CS", (0.1, 1.0, 10.0**0.5))
    folds = selection.run(tmp_path, ["small"], 1)
    assert len(list(tmp_path.iterdir())) == 2 * len(selection.NORMALIZATIONS)
    one = folds["small"][0]
    assert one.accuracy.shape == (3, 5, 3 * 3 * 4)
    assert (one.usual.size, one.fine.size, one.normalized.size) == (8, 12, 24)
    for rules in (selection.RULES, selection.OF_NORMALIZATIONS):
        assert selection.table(folds, rules).count("\n| ") == len(rules)

"""Support samples that views share, against plain machines of scikit-learn."""

import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from multikernel import View
from multikernel.inspection import SupportOverlap, support_overlap
from multikernel.kernels import Gaussian, Linear

N = 60
VIEWS = [
    View(name, kernel, columns, standardize=False, normalize=None)
    for name, kernel, columns in [
        ("first", Gaussian(gamma=0.5), [0, 1]),
        ("second", Linear(), [2, 3]),
        ("noise", Gaussian(gamma=5.0), [4]),
    ]
]


@pytest.fixture(scope="module")
def data():
    """Two views that know half of the label each, and one that knows nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 5))
    return X, np.where(X[:, 0] + X[:, 2] > 0, "<yes>", "no")


def grams(X):
    first = np.exp(-0.5 * ((X[:, None, :2] - X[None, :, :2]) ** 2).sum(axis=2))
    noise = np.exp(-5.0 * (X[:, None, 4] - X[None, :, 4]) ** 2)
    return {"first": first, "second": X[:, 2:4] @ X[:, 2:4].T, "noise": noise}


def test_scores_and_overlaps_are_those_of_plain_machines(data):
    X, y = data
    splits = list(StratifiedKFold(3).split(X, y))
    found = support_overlap(VIEWS, X, y, C=2.0, cv=splits).to_frame().set_index(["view", "other_view"])
    Ks, expected = grams(X), {}

    def machine(K, train, test):
        model = SVC(C=2.0, kernel="precomputed").fit(K[np.ix_(train, train)], y[train])
        return model.score(K[np.ix_(test, train)], y[test]), set(model.support_)

    for one, other in combinations(Ks, 2):
        rows = []
        for train, test in splits:
            scaled = [
                Ks[name] / np.trace(Ks[name][np.ix_(train, train)]) * len(train) for name in (one, other)
            ]
            (a, S), (b, T), (both, _) = (machine(K, train, test) for K in (*scaled, sum(scaled)))
            p, q = len(S) / len(train), len(T) / len(train)
            rows.append((a, b, both, len(S & T) / len(S | T), p * q / (p + q - p * q)))
        expected[one, other] = np.mean(rows, axis=0)
    for pair, (a, b, both, overlap, chance) in expected.items():
        row = found.loc[pair]
        assert row["gain"] == pytest.approx(both - max(a, b), abs=1e-12)
        wanted = [a, b, both, overlap, chance]
        got = row[["score", "other_score", "sum_score", "overlap", "expected"]].to_numpy(float)
        np.testing.assert_allclose(got, wanted, atol=1e-12)


def test_halves_of_the_truth_gain_and_a_view_given_twice_does_not(data):
    X, y = data
    found = support_overlap(VIEWS, X, y)
    table = found.to_frame()
    assert table["gain"].is_monotonic_decreasing and len(table) == 3
    assert table.loc[0, ["view", "other_view"]].tolist() == ["first", "second"] and table.loc[0, "gain"] > 0.1
    assert "The sum of 'first' and 'second' has" in found.answer and "of 3 sums" in found.answer
    again = View("again", Linear(), [2, 3], standardize=False, normalize="trace")
    twice = support_overlap([VIEWS[1], again], X, y).to_frame()
    assert twice.loc[0, "overlap"] == 1.0 and twice.loc[0, "expected"] < 1.0
    alone = support_overlap([VIEWS[2], View("again", VIEWS[2].kernel, [4])], X, y)
    assert alone.answer == "The sum of both views is not more accurate than the better view alone."
    assert json.loads(json.dumps(found.to_dict()))["pairs"][0]["view"] == "first"
    assert found.answer in str(found) and "&#x27;first&#x27;" in found._repr_html_()
    assert isinstance(found, SupportOverlap)


def test_precomputed_kernels_frames_and_dicts_of_tables_are_the_same(data):
    X, y = data
    expected = support_overlap(VIEWS[:2], X, y).to_frame()
    stack = np.stack([grams(X)[name] for name in ("first", "second")], axis=2)
    before = stack.copy()
    given = support_overlap("precomputed", stack, pd.Series(y)).to_frame()
    np.testing.assert_allclose(given.iloc[:, 2:].to_numpy(float), expected.iloc[:, 2:].to_numpy(float))
    np.testing.assert_array_equal(stack, before)
    tables = {"a": pd.DataFrame(X[:, :2]), "b": pd.DataFrame(X[:, 2:4])}
    views = [
        View("first", VIEWS[0].kernel, table="a", standardize=False, normalize=None),
        View("second", VIEWS[1].kernel, table="b", standardize=False, normalize=None),
    ]
    pd.testing.assert_frame_equal(support_overlap(views, tables, y).to_frame(), expected)


@pytest.mark.parametrize(
    ("kernels", "labels", "options", "message"),
    [
        (VIEWS[:1], None, {}, r"two views or more; got 1: \['first'\]"),
        (VIEWS, None, {"C": 0}, "C must be greater than 0; got 0"),
        (VIEWS, None, {"cv": 1}, "cv must be at least 2"),
        (VIEWS, np.zeros(N), {}, "at least 2 classes; got 1 class"),
        (VIEWS, np.zeros(3), {}, "same number of samples; got 60 and 3"),
    ],
)
def test_what_cannot_be_compared_is_refused(data, kernels, labels, options, message):
    X, y = data
    with pytest.raises(ValueError, match=message):
        support_overlap(kernels, X, y if labels is None else labels, **options)

"""Enriched sets: shares of weights against those of permuted targets, adjusted as the definitions say."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import false_discovery_control
from sklearn.svm import SVC

from multikernel import KernelBank, MKLClassifier, MKLRidge, View
from multikernel.inspection import Enrichment, enriched_sets
from multikernel.kernels import Gaussian, Linear

VIEWS = [View(f"set{k}", Gaussian(), [2 * k, 2 * k + 1]) for k in range(6)]


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12))
    return X, np.where(X[:, 0] + X[:, 1] > 0.0, "ill", "well")


def test_p_values_are_those_of_permuted_targets(problem):
    X, y = problem
    found = enriched_sets(MKLClassifier(VIEWS), X, y, values=[0.5, 2.0], n_permutations=19, random_state=3)
    stack = KernelBank(VIEWS).fit_transform(X)
    rng = np.random.RandomState(3)
    orders = [np.arange(60)] + [rng.permutation(60) for _ in range(19)]
    shares = np.zeros((20, 2, 6))
    for b, order in enumerate(orders):
        for j, C in enumerate((0.5, 2.0)):
            model = MKLClassifier("precomputed", C=C, tol=1e-2).fit(np.asarray(stack), y[order])
            shares[b, j] = model.kernel_weights_ / model.kernel_weights_.sum()
    np.testing.assert_allclose(found.shares.to_numpy().T, shares[0])
    means = shares.mean(axis=1)
    z = (means - means.mean(axis=0)) / means.std(axis=0)
    table = found.to_frame().loc[[f"set{k}" for k in range(6)]]
    np.testing.assert_allclose(table["p_value"], [np.mean(means[:, k] >= means[0, k]) for k in range(6)])
    np.testing.assert_allclose(table["p_adjusted"], [np.mean(z.max(axis=1) >= z[0, k]) for k in range(6)])
    by_value = [[np.mean(shares[:, j, k] >= shares[0, j, k]) for j in range(2)] for k in range(6)]
    np.testing.assert_allclose(found.p_values, by_value)
    other = enriched_sets(
        MKLClassifier(VIEWS), X, y, values=[0.5, 2.0], n_permutations=19, random_state=3, correction="bh"
    ).to_frame()
    np.testing.assert_allclose(other["p_adjusted"], false_discovery_control(other["p_value"]))


def test_it_finds_the_set_that_did_it_and_nothing_in_permuted_targets(problem):
    X, y = problem
    found = enriched_sets(MKLClassifier(VIEWS), X, y, values=[1.0], n_permutations=40, random_state=0)
    assert isinstance(found, Enrichment) and found.enriched == ["set0"]
    assert "set0" in found.answer and "5%" in found.answer and found.answer in str(found)
    assert found.to_dict()["dots"][0]["set"] == "set0" and "<table" in found._repr_html_()
    y = np.random.default_rng(5).permutation(y)
    nothing = enriched_sets(MKLClassifier(VIEWS), X, y, values=[1.0], n_permutations=40, random_state=0)
    assert nothing.enriched == [] and nothing.answer.startswith("None of 6 sets")


@pytest.mark.thorough
def test_the_chance_of_a_false_set_is_the_level():
    false = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 12)), rng.random(40) < 0.5
        found = enriched_sets(
            MKLClassifier(VIEWS), X, y, values=[1.0], n_permutations=39, level=0.1, random_state=seed
        )
        false += bool(found.enriched)
    assert false / 60 <= 0.1 + 2.5 * np.sqrt(0.09 / 60)


def test_regression_along_the_norm_frames_and_costs(problem):
    X, _ = problem
    frame = pd.DataFrame(X).rename(columns=str)
    views = [View(f"set{k}", Linear(), [str(2 * k), str(2 * k + 1)]) for k in range(6)]
    path = {"parameter": "norm", "values": [1.0, np.inf]}
    found = enriched_sets(MKLRidge(views), frame, X[:, 4], n_permutations=30, random_state=0, **path)
    assert "set2" in found.enriched and found.to_dict()["values"] == [1.0, "inf"]
    costly = MKLClassifier(views, costs={"set0": 10.0})
    dear = enriched_sets(costly, frame, X[:, 0] > 0, n_permutations=10, values=[1.0], random_state=0)
    cheap = enriched_sets(
        MKLClassifier(views), frame, X[:, 0] > 0, n_permutations=10, values=[1.0], random_state=0
    )
    assert dear.to_frame().loc["set0", "share"] < cheap.to_frame().loc["set0", "share"]


def test_what_it_refuses(problem):
    X, y = problem
    with pytest.raises(TypeError, match="global kernel weights"):
        enriched_sets(SVC(), X, y)
    with pytest.raises(ValueError, match="parameter"):
        enriched_sets(MKLClassifier(VIEWS), X, y, parameter="alpha")
    with pytest.raises(ValueError, match="differ from each other"):
        enriched_sets(MKLClassifier(VIEWS), X, y, values=[1.0, 1.0])
    with pytest.raises(ValueError, match="n_permutations"):
        enriched_sets(MKLClassifier(VIEWS), X, y, n_permutations=0)

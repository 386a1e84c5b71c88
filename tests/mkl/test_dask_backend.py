"""Model selection on a cluster through joblib: the scores of this process; machines that stay together."""

from __future__ import annotations

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.model_selection import GridSearchCV, cross_val_score

from multikernel import MKLClassifier, MKLRegressor, NonstationaryClassifier
from multikernel.inspection import compare
from multikernel.kernels import Gaussian, Linear

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=60), [-0.5, 0.5])
VIEWS = [("first", Gaussian(), [0, 1]), ("rest", Linear(), [2, 3])]


@pytest.fixture
def cluster(client):
    with parallel_config(backend="dask", client=client):
        yield client


def on_both(cluster, measure):
    """What is measured on the cluster, and in this process."""
    there = measure()
    with parallel_config(backend="sequential"):
        return there, measure()


def test_a_grid_search_on_a_cluster_finds_the_same_scores(cluster):
    def search():
        # a function of the caller that another process cannot import
        model = MKLClassifier(VIEWS, callback=lambda entry: None)
        found = GridSearchCV(model, {"C": [0.1, 10.0], "multiclass": ["ovr", "shared"]}, cv=2).fit(X, y)
        return found.cv_results_["mean_test_score"].tolist(), found.best_params_

    there, here = on_both(cluster, search)
    assert there == here


def test_cross_validation_and_paired_tests_on_a_cluster_give_the_same_scores(cluster):
    there, here = on_both(cluster, lambda: cross_val_score(MKLRegressor(VIEWS), X, X[:, 0], cv=3).tolist())
    assert there == here
    models = {"one": MKLClassifier(VIEWS), "two": MKLClassifier(VIEWS, norm=2.0)}
    there, here = on_both(cluster, lambda: compare(models, X, y, progress=False).folds("one").tolist())
    assert there == here


@pytest.mark.parametrize("model", [MKLClassifier(VIEWS), NonstationaryClassifier(VIEWS)])
def test_the_machines_of_one_fit_are_not_sent_away(cluster, model):
    seen = []
    model.set_params(callback=lambda entry: seen.append(entry) and None).fit(X, y)
    assert seen, "the callback is called in this process"

"""Fits and model selection on a cluster: the results of one process; lost workers, small memory."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask import delayed
from distributed import Client, LocalCluster
from joblib import parallel_config
from sklearn.model_selection import GridSearchCV, cross_val_score

from multikernel import KernelBank, MKLClassifier, MKLRegressor, MKLRidge
from multikernel.inspection import compare
from multikernel.kernels import Laplacian
from multikernel.nonstationary import NonstationaryClassifier
from tests.cluster import worker_lost_at_round, worker_processes
from tests.mkl.data import VIEWS, make_binary, make_regression, make_three

COLUMNS = list("pqrs")


def in_chunks(values, size=100):
    return da.from_array(values, chunks=(size, *values.shape[1:]))


class NeverSent:
    """A callback that stays where it is."""

    def __call__(self, entry):
        return False

    def __reduce__(self):
        raise TypeError("this callback must not travel")

    def __deepcopy__(self, memo):
        return self


def test_a_classifier_on_arrays_is_that_of_one_process(client):
    X, y = make_three(300)
    estimator = MKLClassifier(
        KernelBank(VIEWS, gram="low_rank", rank=30), multiclass="shared", callback=NeverSent()
    )
    here = estimator.fit(X, y)
    value, scores = here.objective_, here.decision_function(X)
    there = estimator.fit(in_chunks(X), in_chunks(y))
    np.testing.assert_allclose(there.objective_, value, rtol=1e-6)
    lazy = there.decision_function(in_chunks(X))
    assert isinstance(lazy, da.Array) and lazy.chunks == ((100, 100, 100), (3,))
    np.testing.assert_allclose(lazy.compute(), scores, atol=1e-6 * np.ptp(scores))


def test_a_regressor_on_frames_is_that_of_one_process(client):
    X, y = make_regression(300)
    estimator = MKLRegressor(KernelBank(VIEWS, gram="low_rank", rank=0.01))
    here = estimator.fit(pd.DataFrame(X, columns=COLUMNS), y)
    value, score = here.objective_, here.score(pd.DataFrame(X, columns=COLUMNS), y)
    frame = dd.from_pandas(pd.DataFrame(X, columns=COLUMNS).assign(y=y), npartitions=3)
    there = estimator.fit(frame[COLUMNS], frame["y"])
    np.testing.assert_allclose(there.objective_, value, rtol=1e-6)
    np.testing.assert_allclose(there.score(frame[COLUMNS], frame["y"]), score, rtol=1e-6)


def test_a_worker_killed_in_the_middle_of_a_fit_changes_nothing(client):
    X, y = make_binary(300)
    estimator = MKLClassifier(KernelBank(VIEWS, gram="low_rank", rank=30))
    expected = estimator.fit(X, y).objective_
    with worker_lost_at_round(client, 7) as rounds:  # a step of the solver: labels and factors came before
        model = estimator.fit(in_chunks(X), in_chunks(y))
    assert rounds[6] is not None and rounds[6] not in worker_processes(client) and len(rounds) > 8
    np.testing.assert_allclose(model.objective_, expected, rtol=1e-6)


def made_rows(number, n_rows):
    """A chunk of 16 MB, made where it is needed; two of its columns matter."""
    rows = np.full((n_rows, 500), float(number))
    rows[:, :2] = np.random.default_rng(number).normal(size=(n_rows, 2))
    return rows


@pytest.mark.thorough
def test_more_rows_and_factors_than_memory(tmp_path):
    limit, n_chunks, n_rows = 500 * 2**20, 34, 4000
    made = (delayed(made_rows)(number, n_rows) for number in range(n_chunks))
    X = da.concatenate([da.from_delayed(chunk, (n_rows, 500), dtype=float) for chunk in made])
    assert X.nbytes > limit
    views = [("signal", Laplacian(0.5), [0]), ("noise", Laplacian(0.5), [1])]
    model = MKLRidge(KernelBank(views, gram="low_rank", rank=20))
    options = {"n_workers": 1, "threads_per_worker": 1, "memory_limit": limit}
    with (
        LocalCluster(dashboard_address=":0", local_directory=str(tmp_path), **options) as cluster,
        Client(cluster, set_as_default=False) as client,
        client.as_current(),
    ):
        before = worker_processes(client)
        model.fit(X, X[:, 0])
        assert worker_processes(client) == before, "the worker was never killed for its memory"
        kept = [key for keys in client.has_what().values() for key in keys]
        assert not any(key.startswith("factorise") for key in kept), "factors are computed when they are read"
    assert model.memory_.stack > model.memory_.available
    assert model.status_ == "optimal" and model.kernel_weights_[0] > 0.99


# ---------------------------------------------------------------------- through joblib
X, y = make_three(60)


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

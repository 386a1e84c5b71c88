"""scikit-learn's callbacks follow the iterations of every estimator, alone and inside other estimators."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from multikernel import MKLClassifier, MKLRegressor, load_model, save_model
from multikernel.bayesian import BayesianMKLClassifier
from multikernel.boosting import ColumnBoostingClassifier
from multikernel.discriminant import KernelDiscriminantClassifier
from multikernel.kernels import Gaussian, Linear
from multikernel.localized import LocalizedMKLClassifier
from multikernel.mkl import RegularizedMKLClassifier
from multikernel.nonstationary import NonstationaryClassifier
from multikernel.spectral import KernelKNNClassifier
from multikernel.transductive import TransductiveMKLClassifier
from tests.public import public_estimators

callback = pytest.importorskip("sklearn.callback")  # scikit-learn 1.9

_RNG = np.random.default_rng(0)
X = _RNG.normal(size=(60, 4))
Y = np.where(X[:, 0] * X[:, 1] + 0.2 * _RNG.normal(size=60) > 0, "yes", "no")
THREE = np.where(X[:, 2] > 0.8, "perhaps", Y)
KERNELS = [("a", Gaussian(gamma=1.0), [0, 1]), ("b", Gaussian(gamma=0.3), [2, 3]), ("c", Linear(), None)]
ITERATIVE = [
    MKLClassifier(KERNELS, tol=1e-6),
    BayesianMKLClassifier(KERNELS, max_iter=5),
    ColumnBoostingClassifier(KERNELS, max_columns=4),
    KernelDiscriminantClassifier(KERNELS),
    LocalizedMKLClassifier(KERNELS, random_state=0),
    NonstationaryClassifier(KERNELS, n_init=1, max_iter=3, random_state=0),
    TransductiveMKLClassifier(KERNELS),
    RegularizedMKLClassifier(KERNELS, cv=2, max_steps=1),
]


class Listener:
    """Notes every hook; stops after some iterations if asked to."""

    def __init__(self, stop_after=None):
        self.heard, self.stop_after = [], stop_after

    def setup(self, estimator, context):
        self.heard.append("setup")

    def teardown(self, estimator, context):
        self.heard.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None):
        self.heard.append(("begin", context.task_name))
        self.given = (X, y, metadata)

    def on_fit_task_end(self, estimator, context):
        self.heard.append(("end", context.task_name))
        iterations = sum(entry[0] == "end" for entry in self.heard)
        return self.stop_after is not None and iterations >= self.stop_after


def names(listener, which="end"):
    return [entry[1] for entry in listener.heard if entry[0] == which]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", ITERATIVE, ids=lambda model: type(model).__name__)
def test_every_recorded_iteration_is_a_task(estimator):
    listener, entries = Listener(), []
    model = clone(estimator).set_params(callback=lambda entry: entries.append(entry)).set_callbacks(listener)
    model.fit(X, Y)
    assert listener.heard[:2] == ["setup", ("begin", "fit")]
    assert listener.heard[-2:] == [("end", "fit"), "teardown"]
    iterations = names(listener)[:-1]
    assert len(iterations) == len(entries) > 0 and {name.split()[-1] for name in iterations} == {"iteration"}
    assert names(listener, "begin")[1:] == iterations
    plain = clone(estimator).fit(X, Y)
    assert np.array_equal(plain.predict(X), model.predict(X))  # it is listened to, no more


def test_a_hook_stops_the_fit_as_the_parameter_callback_does():
    model = MKLClassifier(KERNELS, tol=1e-9).set_callbacks(Listener(stop_after=2)).fit(X, Y)
    by_parameter = MKLClassifier(
        KERNELS, tol=1e-9, callback=lambda entry: entry["iteration"] >= model.n_iter_
    )
    assert model.status_ == "interrupted"
    np.testing.assert_array_equal(by_parameter.fit(X, Y).kernel_weights_, model.kernel_weights_)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_machines_are_told_apart_by_the_names_of_their_tasks(n_jobs):
    listener = Listener()
    model = MKLClassifier(KERNELS, multiclass="ovr", n_jobs=n_jobs).set_callbacks(listener).fit(X, THREE)
    assert {name.removesuffix(" iteration") for name in names(listener)} == {
        "fit", *(f"{name}:" for name in model.machine_names_)
    }  # fmt: skip


def test_scores_of_the_monitor_are_those_of_fits_that_stop_there():
    monitor = callback.ScoringMonitor(scoring="r2")
    weights = _RNG.uniform(0.5, 1.5, size=60)
    target = X[:, 0] * X[:, 1]
    model = MKLRegressor(KERNELS, tol=1e-8).set_callbacks(monitor)
    model.fit(X, target, sample_weight=weights)
    log = monitor.get_logs().data
    scores = [row["r2"] for row in log if row["task_name"] == "iteration"]
    assert model.n_iter_ > 2 and len(scores) >= model.n_iter_
    with pytest.warns(UserWarning, match="max_iter"):
        short = MKLRegressor(KERNELS, tol=1e-8, max_iter=2).fit(X, target, sample_weight=weights)
    assert scores[-model.n_iter_ + 1] == short.score(X, target, weights)
    [last] = [row["r2"] for row in log if row["task_name"] == "fit"]
    assert last == scores[-1] == model.score(X, target, weights)


def test_data_and_weights_reach_the_hooks():
    listener, weights = Listener(), np.ones(60)
    MKLClassifier(KERNELS).set_callbacks(listener).fit(X, y=Y, sample_weight=weights)
    assert listener.given[0] is X and listener.given[1] is Y and listener.given[2]["sample_weight"] is weights


def test_callbacks_reach_the_model_through_pipelines_and_searches(capsys):
    listener = Listener()
    listener.max_propagation_depth = None
    pipe = make_pipeline(StandardScaler(), MKLClassifier(KERNELS))
    GridSearchCV(pipe, {"mklclassifier__C": [0.1, 1.0]}, cv=2).set_callbacks(listener).fit(X, Y)
    assert names(listener).count("iteration") >= 5 * 2  # four fits in folds, and the last
    make_pipeline(StandardScaler(), MKLClassifier(KERNELS)).set_callbacks(callback.ProgressBar()).fit(X, Y)
    assert "MKLClassifier - fit" in capsys.readouterr().out


def test_models_without_iterations_are_one_task():
    listener = Listener()
    KernelKNNClassifier().set_callbacks(listener).fit(X, Y)
    assert listener.heard == ["setup", ("begin", "fit"), ("end", "fit"), "teardown"]


def test_a_fit_that_fails_is_torn_down_and_leaves_nothing_behind():
    listener = Listener()
    model = MKLClassifier(KERNELS).set_callbacks(listener)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((60, 4), np.nan), Y)
    assert listener.heard[-1] == "teardown"
    assert not {"_fit_task", "_callback_fit_ctx"} & set(vars(model))


def test_callbacks_are_not_saved_with_the_model(tmp_path):
    model = MKLClassifier(KERNELS).set_callbacks(Listener()).fit(X, Y)
    loaded = load_model(save_model(model, tmp_path / "model.skops"))
    assert not hasattr(loaded, "_skl_callbacks") and len(model._skl_callbacks) == 1
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


@pytest.mark.parametrize("cls", public_estimators(), ids=lambda cls: cls.__name__)
def test_every_estimator_takes_callbacks_and_keeps_the_signature_of_fit(cls):
    assert cls.fit.__wrapped__.__name__ == "fit" and cls.fit.__doc__
    assert hasattr(cls, "set_callbacks")


_OLDER = """
import sys
import sklearn.base, sklearn.callback
there, sys.modules["sklearn.callback"] = sklearn.callback, None
import multikernel.core.callbacks
sys.modules["sklearn.callback"] = there  # scikit-learn itself needs it
from multikernel import MKLClassifier
assert not hasattr(MKLClassifier, "set_callbacks")
model = MKLClassifier("linear").fit([[0.0], [1.0], [0.1], [0.9]], [0, 1, 0, 1])
print(model.predict([[0.0], [1.0]]).tolist())
"""


def test_with_an_older_scikit_learn_estimators_fit_as_ever():
    run = subprocess.run([sys.executable, "-c", _OLDER], capture_output=True, text=True, check=False)
    assert run.stdout.strip() == "[0, 1]", run.stderr

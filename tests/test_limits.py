"""The limits of a fit: ``max_time`` and ``on_interrupt`` of every iterative estimator and learner.

No test depends on how fast it runs: the clock is one that the tests move.
"""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from multikernel import MKLClassifier, MKLRidge
from multikernel.core.optim import loop
from multikernel.kernels import Gaussian, Linear
from multikernel.localized import LocalizedMKLClassifier
from multikernel.mkl.regularized import RegularizedMKLClassifier
from multikernel.nonstationary import NonstationaryClassifier
from multikernel.pairs import PairwiseRidge
from multikernel.registry import list_methods
from multikernel.spectral import SpectralKernelClassifier
from tests.methods_page import estimators, learners
from tests.test_contract import (
    ENTRIES,
    LABELS,
    SEARCHES,
    TIMES,
    VALUES,
    X,
    answers,
    assert_same_bits,
    fit,
    fitted,
    make,
    stack,
    target,
)

# Fits without a status: closed forms, tried one after the other, and steps of a fixed number.
WITHOUT_STATUS = {"ConformalKernel", "SpectralKernelClassifier"}
SHARP = {"tol": 1e-12}


def parameters(cls):
    return inspect.signature(cls).parameters


def having(name, among):
    found = [cls for cls in among if name in parameters(cls)]
    return pytest.mark.parametrize("cls", found, ids=lambda cls: cls.__name__)


class Clock:
    """A clock that goes on by so many seconds whenever it is looked at."""

    def __init__(self, step=0.0):
        self.now, self.step = 0.0, step

    def __call__(self):
        self.now += self.step
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(loop, "clock", made)
    return made


def given(cls, **params):
    """A fresh estimator or learner, as sharp as it can be asked to be."""
    sharp = SHARP if "tol" in parameters(cls) else {}
    return make(cls, **(sharp | params)) if cls in estimators() else cls(**(sharp | params))


def fit_any(model):
    if type(model) in estimators():
        return model.fit(X, target(type(model)))
    kernels = np.concatenate([stack(), (X @ X.T)[:, :, None]], axis=2)
    return model.fit(kernels, LABELS if "classification" in model.learns_from else VALUES)


# --- every estimator and learner ---------------------------------------------------------------------------


@having("max_time", estimators() + learners())
@pytest.mark.parametrize("value, error", [(0.0, ValueError), (-1, ValueError), ("1 s", TypeError)])
def test_the_limit_is_a_positive_number(cls, value, error):
    with pytest.raises(error, match="max_time must be"):
        fit_any(given(cls, max_time=value))


@having("max_time", estimators() + learners())
def test_a_fit_ends_when_its_time_is_over(cls, clock):
    clock.step = 10.0
    settings = {"gamma": "loo"} if cls is SpectralKernelClassifier else {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fit_any(given(cls, max_time=1.0, **settings))
    told = [str(warning.message) for warning in caught if warning.category is ConvergenceWarning]
    assert any("max_time" in text for text in told)
    assert not any("max_iter" in text or "floating point" in text.lower() for text in told)
    if cls.__name__ not in WITHOUT_STATUS:
        assert model.status_ == "max_time"
    assert not np.isnan(getattr(model, "dual_gap_", 0.0))
    if cls in estimators():
        assert answers(model)
    else:
        assert np.isfinite(model.kernel_weights_).all() and model.kernel_weights_.any()


@having("max_time", estimators())
def test_a_limit_that_is_not_reached_changes_nothing(cls):
    assert_same_bits(answers(fitted(cls)), answers(fit(make(cls, max_time=1e9))))


@having("on_interrupt", estimators())
def test_what_an_interrupt_does_is_one_of_two_things(cls):
    with pytest.raises(ValueError, match="on_interrupt must be"):
        fit(make(cls, on_interrupt="ignore"))


# --- every method of the registry --------------------------------------------------------------------------

TARGETS = {"classification": LABELS, "regression": VALUES, "unsupervised": None, "survival": TIMES}
EVERY = [pytest.param(m, task, id=f"{m.name}-{task}") for m in list_methods() for task in m.tasks]
TWO = {"functional_form"}  # combines two kernels
UNIT = {"hyperkernels"}  # reads kernels with values from 0 to 1


def of_registry(method, task, **parameters):
    """A small model as the registry makes it."""
    known = method.parameters(task)
    cls = method.estimator_class(task)
    quick = {} if method.learner or method.name == "spectral" else ENTRIES[cls.__name__].quick
    given = {name: value for name, value in quick.items() if name in known} | parameters
    kernels = [Gaussian(), Linear(), Gaussian(gamma=2.0)][: 2 if method.name in TWO else 3]
    if method.name in UNIT:
        kernels = [Gaussian(), Gaussian(gamma=2.0)]
    if getattr(cls, "_has_one_kernel", False):
        kernels = "gaussian" if method.name == "spectral" else Gaussian()  # whose widths are tried in turn
    return method.make(task, "auto" if method.name in ("pairs", "projection") else kernels, **given)


def learned_by(model):
    """What was learned: the learner within a combined model, or the model."""
    return getattr(model, "learner_", model)


@pytest.mark.parametrize(("method", "task"), EVERY)
@pytest.mark.filterwarnings("ignore")
def test_every_method_that_looks_at_the_time_has_a_limit(method, task, clock):
    """Whether a method iterates is seen from its fit: every loop looks at the time of the fit around it."""
    model = of_registry(method, task)
    with loop.limited(1e9):
        clock.step, before = 1.0, clock.now
        model.fit(X, TARGETS[task])
    looks = clock.now > before
    assert ("max_time" in method.parameters(task)) == looks


LIMITED = [case for case in EVERY if "max_time" in case.values[0].parameters(case.values[1])]


@pytest.mark.parametrize(("method", "task"), LIMITED)
def test_every_method_ends_when_its_time_is_over(method, task, clock):
    clock.step = 10.0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sharp = {name: SHARP[name] for name in SHARP if name in method.parameters(task)}
        model = of_registry(method, task, max_time=1.0, **sharp).fit(X, TARGETS[task])
    told = [str(warning.message) for warning in caught if warning.category is ConvergenceWarning]
    assert any("max_time" in text for text in told)
    if type(model).__name__ not in WITHOUT_STATUS:
        assert learned_by(model).status_ == "max_time"
    assert answers(model)


# --- the time ----------------------------------------------------------------------------------------------


def problem(n=60, n_classes=2):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(n, 4))
    y = np.digitize(table[:, 0] + 0.5 * rng.normal(size=n), np.linspace(-0.5, 0.5, n_classes - 1))
    return table, y


VIEWS = [("a", Gaussian(gamma=1.0), [0, 1]), ("b", Gaussian(gamma=0.2), [2, 3]), ("c", Linear(), None)]


def precomputed(n=60):
    table, y = problem(n)
    Ks = [np.exp(-((table[:, None, :2] - table[:, :2]) ** 2).sum(axis=2)), table @ table.T / 4.0]
    Ks.append(np.exp(-0.2 * ((table[:, None, 2:] - table[:, 2:]) ** 2).sum(axis=2)))
    return np.stack(Ks, axis=2), y


@pytest.mark.parametrize("allowed", [0, 1, 3])
def test_the_gap_is_that_of_the_model_that_is_kept(clock, allowed):
    Ks, y = precomputed()

    def callback(entry):
        clock.now += 100.0 * (entry["iteration"] > allowed)

    model = MKLClassifier("precomputed", tol=1e-9, C=10.0, max_time=10.0, callback=callback)
    with pytest.warns(ConvergenceWarning, match=r"status 'max_time'\)\. The time is over: raise max_time"):
        model.fit(Ks, y)
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    q = np.einsum("i,ijm,j->m", beta, Ks, beta)
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    risk = np.maximum(1.0 - signs * model.decision_function(Ks), 0.0).sum()
    upper = 0.5 * float(model.kernel_weights_ @ q) + 10.0 * risk
    lower = float(np.abs(beta).sum()) - 0.5 * q.max()
    assert model.dual_gap_ == pytest.approx((upper - lower) / upper, rel=1e-6)
    assert model.n_iter_ == allowed + 1 and model.dual_gap_ > 1e-9
    assert np.abs(beta).max() <= 10.0 and abs(beta.sum()) < 1e-9


def test_more_time_never_gives_a_worse_model(clock):
    Ks, y = precomputed()
    clock.step = 1.0
    values = []
    for max_time in (1.0, 10.0, 30.0, 100.0, 1000.0):
        clock.now = 0.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = MKLClassifier("precomputed", tol=1e-9, C=10.0, max_time=max_time).fit(Ks, y)
        values.append(model.history_[-1]["objective"])
    assert model.status_ == "optimal"
    assert values[0] > values[-1] and np.all(np.diff(values) <= 1e-9 * values[-1])


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "shared", "joint"])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_machines_share_the_time_of_their_fit(clock, multiclass, n_jobs):
    table, y = problem(n_classes=4)
    clock.step = 10.0
    model = MKLClassifier(VIEWS, multiclass=multiclass, tol=1e-9, max_time=1.0, n_jobs=n_jobs)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        model.fit(table, y)
    assert model.status_ == "max_time" and model.n_iter_ == 1
    assert {entry["machine"] for entry in model.history_} == set(range(len(model.history_)))
    assert model.score(table, y) > 0.4  # four classes: each machine has taken some steps


def test_a_step_that_would_end_too_late_is_not_begun(clock):
    record = loop.Recorder()
    with loop.limited(10.0):
        clock.now = 6.0  # the first step took 6 s; a second one would end at 12 s, with 11 s at most
        assert record.note({"iteration": 1, "gap": 1.0}) and record.status == "max_time"
    for seconds, stops in ((5.4, False), (5.6, True)):
        clock.now = 0.0
        record = loop.Recorder()
        with loop.limited(10.0):
            clock.now = seconds
            assert record.note({"iteration": 1, "gap": 1.0}) is stops
    clock.now = 0.0
    record = loop.Recorder(divisible=True)
    with loop.limited(10.0):
        clock.now = 6.0
        assert not record.note({"iteration": 1, "gap": 1.0})


def test_a_fit_within_a_fit_has_the_limits_of_both(clock):
    with loop.limited(10.0):
        with loop.limited(100.0):
            clock.now = 11.0
            assert loop.reason_to_stop() == "max_time"
        clock.now = 0.0
        with loop.limited(1.0):
            clock.now = 2.0
            assert loop.is_over()
        assert not loop.is_over() and loop.has_deadline()
    assert not loop.has_deadline() and loop.time_left() == np.inf


def test_other_threads_have_the_limits_where_these_are_carried():
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool, loop.limited(1e9):
        assert not pool.submit(loop.has_deadline).result()
        assert pool.submit(loop.carried(loop.has_deadline)).result()


def test_compiling_takes_no_time(monkeypatch):
    from multikernel import _numba

    now = iter([100.0, 100.0, 130.0, 130.0, 131.0])
    monkeypatch.setattr(_numba.time, "perf_counter", lambda: next(now))
    monkeypatch.setattr(_numba, "_spent", 0.0)
    with _numba._measured():
        assert _numba.seconds_compiling() == 0.0
        assert _numba.seconds_compiling() == 30.0
    assert _numba.seconds_compiling() == 30.0


def test_the_interior_point_method_ends_in_time(clock):
    rng = np.random.default_rng(0)
    table = 100.0 * rng.normal(size=(80, 5))  # so large that dual variables do not hold the function
    y = (table[:, 0] * table[:, 1] + 2000.0 * rng.normal(size=80) > 0).astype(int)
    Ks = np.stack([table @ table.T, 1e-3 * (table @ table.T + 1.0) ** 2], axis=2)
    free = MKLClassifier("precomputed", C=1e6, tol=1e-3).fit(Ks, y)
    assert free.kernel_factors_ and free.n_iter_ > 3  # it was handed over

    def callback(entry):
        clock.now += 100.0 * (entry["iteration"] == 3)

    model = MKLClassifier("precomputed", C=1e6, tol=1e-3, max_time=10.0, callback=callback)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        model.fit(Ks, y)
    assert model.status_ == "max_time" and model.n_iter_ == 3
    assert free.dual_gap_ < model.dual_gap_ < np.inf


def test_the_time_of_a_search_leaves_some_for_the_last_model(clock):
    table, y = problem()

    def callback(entry):
        clock.now += 81.0 * (entry["evaluation"] == 2)

    model = RegularizedMKLClassifier(VIEWS, cv=2, max_time=100.0, callback=callback)
    with pytest.warns(ConvergenceWarning, match="ended the search after 2 points"):
        model.fit(table, y)
    assert model.status_ == "max_time" and model.estimator_.status_ == "optimal"


def test_starts_that_were_not_tried_are_told(clock):
    table, y = problem()

    def callback(entry):
        clock.now += 100.0 * (entry["start"] == 1)

    model = LocalizedMKLClassifier(VIEWS, gating_reg=0.0, n_init=3, max_time=10.0, callback=callback)
    with pytest.warns(ConvergenceWarning, match="max_time=10 seconds"):
        model.fit(table, y)
    assert model.status_ == "max_time"


@pytest.mark.parametrize("solver", ["ipm", "smo"])
def test_projections_end_in_time(clock, solver):
    table, y = problem(120)
    clock.step = 1.0
    model = NonstationaryClassifier(VIEWS, solver=solver, max_time=5.0, tol=1e-9)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        model.fit(table, y)
    assert model.status_ == "max_time" and model.n_iter_ == 1
    assert clock.now < 100.0


def test_alphas_that_were_not_tried_have_no_error(clock):
    rng = np.random.default_rng(0)
    pairs = rng.normal(size=(30, 4))
    clock.step = 10.0
    model = PairwiseRidge(split=2, alphas=[0.1, 1.0, 10.0], max_time=1.0)
    with pytest.warns(ConvergenceWarning, match="Raise max_time"):
        model.fit(pairs, pairs[:, 0])
    assert model.status_ == "max_time"
    assert np.isfinite(model.validation_errors_[0]) and np.isnan(model.validation_errors_[1:]).all()


# --- Ctrl-C ------------------------------------------------------------------------------------------------


def press(entry=None):
    os.kill(os.getpid(), signal.SIGINT)


@having("on_interrupt", [cls for cls in estimators() if cls.__name__ not in SEARCHES])
def test_ctrl_c_keeps_the_model_where_that_is_asked_for(cls, capfd):
    before = signal.getsignal(signal.SIGINT)
    model = fit(given(cls, callback=press, on_interrupt="keep"))
    assert model.status_ == "interrupted" and answers(model)
    assert signal.getsignal(signal.SIGINT) is before
    assert "Ctrl-C again ends at once" in capfd.readouterr().err


def test_ctrl_c_raises_otherwise():
    table, y = problem()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background process may ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            MKLClassifier(VIEWS, callback=press).fit(table, y)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_second_ctrl_c_raises_at_once(capfd):
    table, y = problem()
    before = signal.getsignal(signal.SIGINT)

    def twice(entry):
        press()
        press()

    with pytest.raises(KeyboardInterrupt):
        MKLRidge(VIEWS, callback=twice, on_interrupt="keep").fit(table, y)
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_are_fitted_as_ever():
    from concurrent.futures import ThreadPoolExecutor

    table, y = problem()
    with ThreadPoolExecutor(1) as pool:
        model = pool.submit(MKLClassifier(VIEWS, on_interrupt="keep").fit, table, y).result()
    assert model.status_ == "optimal"


SCRIPT = """
import sys, warnings
import numpy as np
from multikernel import MKLClassifier

def begun(entry):
    print("begun", flush=True)
    sys.stdin.readline()

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = X[:, 0] + rng.normal(size=60) > 0
model = MKLClassifier(tol=1e-9, callback=begun, on_interrupt="keep").fit(X, y)
print(model.status_, model.n_iter_)
"""


def test_ctrl_c_from_outside_keeps_the_model():
    command = [sys.executable, "-c", SCRIPT]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate("\n", timeout=120)
    assert out == "interrupted 1\n" and process.returncode == 0

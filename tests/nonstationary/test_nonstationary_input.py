"""The nonstationary classifier: what it takes, keeps, warns of and refuses."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from multikernel import MKLClassifier
from multikernel.core.optim.loop import Status
from multikernel.kernels import Gaussian, Linear, Polynomial
from multikernel.nonstationary import NonstationaryClassifier
from multikernel.nonstationary.solver import learn
from multikernel.nonstationary.solver.mixtures import MODES
from multikernel.views import KernelWarning, View
from tests.judged import BOTH, solved_by
from tests.mkl.data import VIEWS, make_binary, make_three, plain_kernels
from tests.raw import raw
from tests.test_bad_input import refuses

UNIT_VIEWS = [replace(view, normalize="diagonal") for view in VIEWS]

EACH_METHOD = pytest.mark.parametrize("method", MODES)


def unit_kernels(A, B):
    """The kernels of UNIT_VIEWS, written out."""
    K = plain_kernels(A, B)
    K[:, :, 1] = np.sign(K[:, :, 1])
    return K


# --- what it takes -----------------------------------------------------------------------------------------


def test_ready_made_kernels_of_constant_diagonal():
    X, y = make_binary(40)
    X_new, _ = make_binary(20, seed=8)
    K, K_new = unit_kernels(X, X), unit_kernels(X_new, X)
    size = np.array([1.0, 2.0, 3.0])  # constant, not one
    scaled = NonstationaryClassifier("precomputed").fit(K * size, y)
    F = np.einsum("nsm,pms->npm", (K_new * size)[:, scaled.support_], scaled.dual_coef_[0])
    total = np.log(np.exp(F + scaled.offsets_[0] - 0.5 * size).sum(axis=-1))
    np.testing.assert_allclose(scaled.decision_function(K_new * size), total @ [1.0, -1.0], atol=1e-9)


def test_ready_made_kernels_of_varying_diagonal_warn_at_fit_and_are_refused_at_predict():
    X, y = make_binary(30)
    K = plain_kernels(X, X)
    with pytest.warns(UserWarning, match="kernel 'kernel-1' has a diagonal from .* will refuse them"):
        model = NonstationaryClassifier("precomputed", tol=1e-6, max_iter=300).fit(K, y)
    table = NonstationaryClassifier(VIEWS, tol=1e-6, max_iter=300).fit(X, y)
    assert model.objective_ == pytest.approx(table.objective_, rel=1e-6)
    for method in (model.predict, model.decision_function, model.mixture_weights, model.predict_proba):
        with refuses("predictions need k(x, x)", "Divide each kernel", "sqrt(k(x, x) k(z, z))"):
            method(K)


def test_one_ready_made_kernel_may_vary_on_its_diagonal():
    X, y = make_binary(40)
    X_new, _ = make_binary(20, seed=8)
    model = NonstationaryClassifier("precomputed").fit((X @ X.T)[:, :, None], y)
    table = NonstationaryClassifier(raw(Linear())).fit(X, y)
    scores = model.decision_function((X_new @ X.T)[:, :, None])
    np.testing.assert_allclose(scores, table.decision_function(X_new), atol=1e-5)


# --- weights -----------------------------------------------------------------------------------------------


@EACH_METHOD
def test_a_weight_of_two_is_a_row_given_twice(method):
    X, y = make_binary(30)
    weights = np.where(np.arange(30) % 3 == 0, 2.0, 1.0)
    weights[4] = 0.0
    rows = np.repeat(np.arange(30), weights.astype(int))
    settings = {"C": 0.7, "method": method, "tol": 1e-5, "max_iter": 200}
    weighted = NonstationaryClassifier(VIEWS, **settings).fit(X, y, weights)
    repeated = NonstationaryClassifier(VIEWS, **settings).fit(X[rows], y[rows])
    np.testing.assert_allclose(repeated.decision_function(X), weighted.decision_function(X), atol=1e-9)
    assert 4 not in weighted.support_
    K = unit_kernels(X, X)  # here repeated rows stay two samples
    weighted = NonstationaryClassifier("precomputed", **settings).fit(K, y, weights)
    repeated = NonstationaryClassifier("precomputed", **settings).fit(K[np.ix_(rows, rows)], y[rows])
    assert repeated.objective_ == pytest.approx(weighted.objective_, rel=3e-5)


def test_class_weights_multiply_c():
    X, y = make_binary(40)
    by_class = NonstationaryClassifier(VIEWS, C=3.0, class_weight={"yes": 3.0, "no": 1.0}).fit(X, y)
    by_sample = NonstationaryClassifier(VIEWS, C=3.0).fit(X, y, np.where(y == "yes", 3.0, 1.0))
    np.testing.assert_array_equal(by_class.decision_function(X), by_sample.decision_function(X))
    share = {label: 40 / (2 * (y == label).sum()) for label in ("yes", "no")}
    both = [NonstationaryClassifier(VIEWS, C=3.0, class_weight=w).fit(X, y) for w in ("balanced", share)]
    np.testing.assert_allclose(*[model.decision_function(X) for model in both], atol=1e-9)


# --- what it keeps -----------------------------------------------------------------------------------------


class Counted(Linear):
    """A linear kernel that counts the Gram matrices it makes."""

    made = 0

    def _fill(self, pair, out):
        type(self).made += 1
        super()._fill(pair, out)


def test_only_support_rows_are_kept_and_unused_kernels_are_never_computed_again():
    X, y = make_binary(40)
    views = [
        UNIT_VIEWS[0],
        View("line", Counted(), [2], standardize=False, normalize="diagonal"),
        UNIT_VIEWS[2],
    ]
    model = NonstationaryClassifier(views, method="hard").fit(X, y)
    assert np.isneginf(model.offsets_[0, :, 1]).all()
    assert not model.dual_coef_[0, :, 1].any() and model.kernel_weights_[1] == 0.0
    assert 0 < model.support_.size < 25
    assert model.dual_coef_.any(axis=(0, 1, 2)).all()
    Counted.made = 0
    scores = model.decision_function(X)
    for weights in model.mixture_weights(X):
        assert not weights[:, 1].any()
    assert Counted.made == 0
    F = np.einsum("nsm,pms->npm", unit_kernels(X, X[model.support_]), model.dual_coef_[0])
    total = (F + model.offsets_[0]).max(axis=-1)
    np.testing.assert_allclose(scores, total[:, 0] - total[:, 1], atol=1e-9)


# --- solvers and numerics ----------------------------------------------------------------------------------


@EACH_METHOD
def test_the_solvers_reach_the_same_objective(method):
    X, y = make_binary(30)
    settings = {"method": method, "tol": 1e-6, "max_iter": 500}
    model = NonstationaryClassifier(VIEWS, **settings).fit(X, y)
    for solver, who in (("smo", "ours"), ("ipm", "conic")):
        if (method, solver) == ("full", "smo"):
            continue
        with solved_by(who):
            other = NonstationaryClassifier(VIEWS, solver=solver, **settings).fit(X, y)
        assert other.n_fallbacks_ == 0 and other.dual_gap_ <= 1e-6
        assert other.objective_ == pytest.approx(model.objective_, rel=1e-6)
        np.testing.assert_allclose(other.decision_function(X), model.decision_function(X), atol=1e-3)


def test_smo_that_stalls_leaves_the_problem_to_the_interior_point_and_says_so(monkeypatch):
    X, y = make_binary(30)
    model = NonstationaryClassifier(VIEWS).fit(X, y)
    asked = []

    def stall(projection, *, tol):
        asked.append(tol)
        found = learn.project_interior(projection, tol=tol)
        return replace(found, status=Status.STALLED) if len(asked) % 2 else found

    monkeypatch.setattr(learn, "project_smo", stall)
    with pytest.warns(UserWarning, match='solver="smo" stalled on .* the interior point method solved'):
        other = NonstationaryClassifier(VIEWS, solver="smo").fit(X, y)
    assert len(asked) == other.n_iter_ and other.n_fallbacks_ == (len(asked) + 1) // 2
    monkeypatch.setattr(learn, "project_smo", lambda p, *, tol: replace(stall(p, tol=tol), status="stalled"))
    with pytest.warns(UserWarning, match=f"stalled on {model.n_iter_} of the convex problems"):
        other = NonstationaryClassifier(VIEWS, solver="smo").fit(X, y)
    np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
    assert other.n_fallbacks_ == model.n_iter_ > model.n_fallbacks_ == 0
    asked.clear()
    with pytest.warns(UserWarning, match="stalled on"):
        two = NonstationaryClassifier(VIEWS, solver="smo", n_init=2).fit(X, y)
    assert two.n_fallbacks_ == len(asked) > two.n_iter_  # those of both starts


def test_smo_refuses_the_mode_that_it_cannot_solve():
    with refuses('solver="smo"', 'got "full"', 'Use solver="ipm"'):
        NonstationaryClassifier(VIEWS, method="full", solver="smo").fit(*make_binary(20))


def test_threads_give_the_same_model():
    X, y = make_three(40)
    views = [VIEWS[0], ("again", Gaussian(gamma=0.5), [0, 1])]  # starts are drawn
    models = [NonstationaryClassifier(views, n_init=3, n_jobs=j, tol=1e-2).fit(X, y) for j in (None, 2)]
    np.testing.assert_array_equal(*[m.decision_function(X) for m in models])
    assert models[0].history_ == models[1].history_
    assert len({tuple(values) for values in models[0].start_objectives_}) == 3


def test_a_callback_that_stops_leaves_the_point_of_the_last_turn(capsys):
    X, y = make_binary(30)
    full = NonstationaryClassifier(VIEWS).fit(X, y)
    assert {"start", "iteration", "objective", "gap", "n_active"} <= set(full.history_[0])
    stopped = NonstationaryClassifier(VIEWS, callback=lambda entry: entry["iteration"] >= 2).fit(X, y)
    assert stopped.status_ == "interrupted" and stopped.n_iter_ == 2
    assert stopped.history_ == full.history_[:2]
    assert stopped.objective_ <= (1.0 + 1e-6) * full.history_[1]["objective"]
    assert stopped.dual_gap_ == np.inf  # nobody has judged the point of the last turn
    NonstationaryClassifier(VIEWS, n_init=2, verbose=1, callback=lambda entry: True).fit(X, y)
    assert capsys.readouterr().err.count("6 active") == 1


# --- honest behaviour --------------------------------------------------------------------------------------


@EACH_METHOD
def test_every_sample_at_its_bound_is_said_and_is_the_optimum(method):
    X, y = make_binary(60)
    few = np.concatenate([np.flatnonzero(y == label)[:15] for label in ("yes", "no")])
    X, y = X[few], y[few]
    said = r"every sample is at its bound C=0.0001 for class 'yes'.*Raise C"
    for who in BOTH:
        with solved_by(who), pytest.warns(UserWarning, match=said):
            model = NonstationaryClassifier(VIEWS, C=1e-4, method=method).fit(X, y)
        assert model.status_ == "optimal" and model.dual_gap_ <= 1e-3
        for side in model.dual_coef_[0]:
            np.testing.assert_allclose(np.abs(side).sum(axis=0), 1e-4, rtol=1e-3)
    with pytest.warns(UserWarning, match="every sample"):
        NonstationaryClassifier(VIEWS, C=1e-2, method=method).fit(X, y, np.full(30, 1e-2))


@EACH_METHOD
def test_margins_that_are_met_without_any_sample(method):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(30) % 2 == 0, "up", "down")
    small, large = (scale * rng.choice([-1, 1], 30) * rng.uniform(0.9, 1.1, 30) for scale in (0.3, 3.0))
    X = np.column_stack([np.where(y == "up", small, large), np.where(y == "up", large, small)])
    views = raw([("a", Linear(), [0]), ("b", Linear(), [1])])
    with pytest.warns(UserWarning, match="mixtures for class 'up' use no sample.*Raise margin"):
        model = NonstationaryClassifier(views, method=method).fit(X, y)
    assert model.support_.size == 0 and model.objective_ == 0.0 and model.status_ == "optimal"
    assert model.dual_coef_.shape == (1, 2, 2, 0)
    F = model.offsets_[0] - 0.5 * X[:, None, :] ** 2
    total = F.max(axis=-1) if method == "hard" else np.log(np.exp(F).sum(axis=-1))
    np.testing.assert_allclose(model.decision_function(X), total @ [1.0, -1.0], atol=1e-9)
    assert (np.where(y == "up", 1.0, -1.0) * model.decision_function(X) >= 1.0 - 1e-6).all()


@EACH_METHOD
def test_a_class_of_one_sample(method):
    X, _ = make_binary(20)
    alone = np.where(np.arange(20) == 7, "yes", "no")
    model = NonstationaryClassifier(VIEWS, C=1e3, method=method, max_iter=100).fit(X, alone)
    np.testing.assert_array_equal(model.predict(X), alone)
    two = NonstationaryClassifier(VIEWS, C=1e3, method=method).fit(X[6:8], alone[6:8])
    np.testing.assert_array_equal(two.predict(X[6:8]), ["no", "yes"])


@pytest.mark.parametrize("method", ["full", "hard"])
def test_posteriors_that_are_zero_or_one(method):
    """Clusters far apart, each with a view of its own: no component has any share in the others' samples."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 2)) + np.repeat([[0, 0], [40, 0], [0, 40]], 8, axis=0)
    y = np.arange(24) % 2 == 0
    X[y] += 1.5
    views = raw([Linear(), ("x", Linear(), [0]), Gaussian(gamma=1.0)])
    model = NonstationaryClassifier(views, C=1e3, method=method, n_init=4).fit(X, y)
    assert model.status_ == "optimal" and model.score(X, y) == 1.0
    for weights in model.mixture_weights(X):
        assert np.isfinite(weights).all() and (np.abs(weights - weights.round()) < 1e-6).any()


# --- edges: small prices, kernels of different size, saddles ------------------------------------------------

KERNELS = raw([Gaussian(), Linear(), Polynomial(degree=2)])


def make_curved(n=60, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return X, X[:, 0] + X[:, 1] ** 2 > 0.5


@pytest.mark.parametrize("solver", ["ipm", "smo"])
def test_a_small_price_does_not_loosen_the_solution(solver):
    X, y = make_curved()
    usual = NonstationaryClassifier(KERNELS, C=1e-4, solver=solver).fit(X, y)
    exact = NonstationaryClassifier(KERNELS, C=1e-4, solver=solver, tol=1e-7, max_iter=300).fit(X, y)
    assert usual.objective_ <= 1.002 * exact.objective_ < 1e-4 * 60 * (1.0 + np.log(3.0))
    assert (usual.predict(X) == exact.predict(X)).mean() > 0.95


def test_mixtures_that_are_worse_than_none_are_told():
    X, y = make_curved()
    said = "worse than mixtures with equal output for all samples.*unit diagonal"
    with pytest.warns(UserWarning, match=said), pytest.warns(KernelWarning, match="of different scale"):
        NonstationaryClassifier(raw([Gaussian(), Polynomial(degree=2)])).fit(1e7 * X, y)


def test_a_gap_that_still_grows_is_no_end():
    """From the uniform start the way leads along a saddle: the gap is small at first."""
    X, y = make_binary(40)
    model = NonstationaryClassifier("auto", C=0.1, method="full", max_iter=60)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("multikernel.nonstationary.classifier.warn_of_mixtures", lambda *_: None)
        model.fit(X, y)
    gaps = [entry["gap"] for entry in model.history_]
    assert model.status_ == "optimal"
    assert gaps[-1] <= 1e-5 or (gaps[-1] <= 1e-3 and gaps[-1] < gaps[-2] < np.inf)


def test_the_hard_margin_of_classes_that_nearly_touch():
    x = np.linspace(0.0, 1.0, 10)
    X = np.concatenate([-1e-4 - x, 1e-4 + x])[:, None]
    y = np.repeat([0, 1], 10)
    model = NonstationaryClassifier(raw([Linear(), Polynomial(degree=3)]), C=np.inf).fit(X, y)
    assert model.score(X, y) == 1.0
    assert (np.where(y == 1, 1, -1) * model.decision_function(X)).min() >= 1.0 - 1e-4


def test_the_hard_margin_beside_a_kernel_of_another_size():
    X, _ = make_curved()
    y = X[:, 0] > 0
    model = NonstationaryClassifier(raw([Linear(), Polynomial(degree=3)]), C=np.inf)
    model.fit(1e-5 * X, y)
    assert model.score(1e-5 * X, y) == 1.0


def test_prices_that_this_model_does_not_have():
    X, y = make_binary(20)
    for C in ("learn", "x"):
        with refuses("C must be a positive number or numpy.inf", repr(C), error=TypeError):
            NonstationaryClassifier(C=C).fit(X, y)


@pytest.mark.parametrize("kind", [NonstationaryClassifier, MKLClassifier])
def test_probabilities_asked_for_after_the_fit(kind):
    X, y = make_binary(20)
    model = kind([Linear()], probability=True).fit(X, y)
    model.predict_proba(X)
    model.set_params(probability=False).fit(-X, y)
    model.set_params(probability=True)  # the sigmoids of the first fit are not those of the second
    with pytest.raises(NotFittedError, match="call fit again"):
        model.predict_proba(X)

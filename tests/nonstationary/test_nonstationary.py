"""The nonstationary classifier: what it learns, and how good that is, recomputed from the formulas."""

import numpy as np
import pytest
from scipy.special import logsumexp, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.svm import SVC

from benchmarks.fixed_kernel import solve_machine
from multikernel.core.svm.losses import Hinge
from multikernel.datasets.generators import make_interleaved, make_piecewise, piecewise_curve
from multikernel.kernels import Gaussian, Linear, Polynomial
from multikernel.nonstationary import NonstationaryClassifier, classifier
from multikernel.nonstationary.solver.mixtures import MODES
from tests.mkl.data import VIEWS, make_binary, make_three, plain_kernels
from tests.raw import raw

PIECES = raw([("line", Linear()), ("parabola", Polynomial(2))])

EACH_METHOD = pytest.mark.parametrize("method", MODES)


def diagonals(X):
    """k(x, x) of VIEWS, (n, 3)."""
    return np.column_stack([np.ones(len(X)), X[:, 2] ** 2, np.ones(len(X))])


def scores_from_outside(model, X, X_new):
    """F (n, n_machines, 2, n_kernels) of a model on VIEWS, from its public attributes alone."""
    K = plain_kernels(X_new, X[model.support_])
    expansion = np.einsum("nsm,kpms->nkpm", K, model.dual_coef_)
    return expansion + model.offsets_ - 0.5 * diagonals(X_new)[:, None, None, :]


def log_ratio(F, method):
    total = F.max(axis=-1) if method == "hard" else logsumexp(F, axis=-1)
    return total[..., 0] - total[..., 1]


def objective_from_outside(model, X, signs, machine=0):
    """Φ of one machine of a model on VIEWS."""
    s = np.zeros((2, 3, len(X)))
    s[:, :, model.support_] = model.dual_coef_[machine]
    norm = sum(part @ plain_kernels(X, X)[:, :, m] @ part for side in s for m, part in enumerate(side))
    F = scores_from_outside(model, X, X)[:, machine]
    margin = model.margin + (np.log(3.0) if model.method == "qp" else 0.0)
    places = np.arange(len(X)), np.where(signs > 0, 0, 1)
    own, other = F[places], F[places[0], 1 - places[1]]
    own = own.max(axis=1) if model.method == "hard" else logsumexp(own, axis=1)
    other = logsumexp(other, axis=1) if model.method == "full" else other.max(axis=1)
    return 0.5 * norm + model.C * np.maximum(margin - own + other, 0.0).sum()


# --- the model ---------------------------------------------------------------------------------------------


@EACH_METHOD
def test_the_decision_function_is_the_log_ratio_of_the_mixtures(method):
    X, y = make_binary(50)
    X_new, _ = make_binary(30, seed=7)
    model = NonstationaryClassifier(VIEWS, method=method).fit(X, y)
    f = model.decision_function(X_new)
    np.testing.assert_allclose(f, log_ratio(scores_from_outside(model, X, X_new), method)[:, 0], atol=1e-9)
    np.testing.assert_array_equal(model.predict(X_new), np.where(f > 0, "yes", "no"))
    assert model.classes_.tolist() == ["no", "yes"] and model.score(X, y) > 0.9
    assert model.dual_coef_.shape == (1, 2, 3, model.support_.size) and model.offsets_.shape == (1, 2, 3)
    signs = np.where(y == "yes", 1.0, -1.0)
    assert model.objective_ == pytest.approx(objective_from_outside(model, X, signs), rel=1e-8)


@EACH_METHOD
def test_the_coefficients_of_each_component_sum_to_zero_and_have_the_sign_of_the_class(method):
    X, y = make_binary(50)
    model = NonstationaryClassifier(VIEWS, method=method, C=1.0, tol=1e-5, max_iter=200).fit(X, y)
    own = np.where(y[model.support_] == "yes", 1.0, -1.0)
    for side, sign in enumerate((1.0, -1.0)):
        coefficients = model.dual_coef_[0, side]
        assert np.abs(coefficients.sum(axis=1)).max() <= 1e-6 * np.abs(coefficients).sum()
        assert (coefficients * own * sign >= 0.0).all()
        used = np.abs(coefficients).sum(axis=0)  # λ, on both sides
        assert (used <= 1.0 + 1e-6).all()
    np.testing.assert_allclose(*np.abs(model.dual_coef_[0]).sum(axis=1), atol=1e-5)


@EACH_METHOD
def test_the_log_ratio_is_the_expected_score_with_the_weights_and_their_entropies(method):
    X, y = make_binary(50)
    X_new, _ = make_binary(40, seed=3)
    model = NonstationaryClassifier(VIEWS, method=method, C=1e3).fit(X, y)
    F = scores_from_outside(model, X, X_new)[:, 0]
    parts = []
    for side, nu in enumerate(model.mixture_weights(X_new)):
        assert nu.shape == (40, 3) and (nu >= 0.0).all()
        np.testing.assert_allclose(nu.sum(axis=1), 1.0, rtol=1e-14)
        if method != "hard":
            np.testing.assert_allclose(nu, softmax(F[:, side], axis=1), atol=1e-10)
        finite = np.where(nu > 0.0, F[:, side], 0.0)
        parts.append((nu * finite).sum(axis=1) - (nu * np.log(np.where(nu > 0.0, nu, 1.0))).sum(axis=1))
    scale = 1.0 + np.abs(parts).max()
    np.testing.assert_allclose(model.decision_function(X_new), parts[0] - parts[1], atol=1e-12 * scale)
    if method == "hard":
        np.testing.assert_array_equal(nu, np.eye(3)[F[:, 1].argmax(axis=1)])


def test_mean_weights_are_those_of_the_training_samples():
    X, y = make_three(50)
    model = NonstationaryClassifier(VIEWS).fit(X, y)
    positive, negative = model.mixture_weights(X)
    assert positive.shape == negative.shape == (50, 3, 3)
    both = 0.5 * (positive + negative).mean(axis=0)
    np.testing.assert_allclose(model.machine_weights_, both, atol=1e-10)
    np.testing.assert_allclose(model.kernel_weights_, both.mean(axis=0), atol=1e-10)
    frame = model.weights_frame()
    assert frame.index.tolist() == ["signal", "line", "noise"] == model.view_names_
    assert frame.columns.tolist() == ["weight", "weight[a]", "weight[b]", "weight[c]"]
    np.testing.assert_array_equal(frame["weight[b]"], model.machine_weights_[1])
    assert model.kernel_weights_.argmax() == 0
    binary = NonstationaryClassifier(VIEWS).fit(X, y == "a")
    assert binary.weights_frame().columns.tolist() == ["weight"]


def test_more_classes_are_one_machine_each_against_the_rest():
    X, y = make_three(60)
    X_new, _ = make_three(40, seed=5)
    model = NonstationaryClassifier(VIEWS, C=3.0).fit(X, y)
    scores = model.decision_function(X_new)
    assert scores.shape == (40, 3) and model.machine_names_ == ["a", "b", "c"]
    np.testing.assert_array_equal(model.predict(X_new), np.array(["a", "b", "c"])[scores.argmax(axis=1)])
    np.testing.assert_allclose(scores, log_ratio(scores_from_outside(model, X, X_new), "qp"), atol=1e-9)
    assert model.score(X, y) > 0.9
    total = 0.0
    for k, name in enumerate("abc"):
        one = NonstationaryClassifier(VIEWS, C=3.0).fit(X, y == name)
        np.testing.assert_allclose(one.decision_function(X_new), scores[:, k], atol=1e-9)
        for mine, its in zip(one.mixture_weights(X_new), model.mixture_weights(X_new), strict=True):
            np.testing.assert_allclose(mine, its[:, k], atol=1e-9)
        signs = np.where(y == name, 1.0, -1.0)
        assert one.objective_ == pytest.approx(objective_from_outside(model, X, signs, k), rel=1e-8)
        total += one.objective_
    assert model.objective_ == pytest.approx(total)
    assert {entry["machine"] for entry in model.history_} == {0, 1, 2}


# --- the path and the certificate --------------------------------------------------------------------------


def test_a_fit_that_is_cut_short_says_how_far_it_is_from_a_stationary_point():
    X, y = make_binary(30, seed=2)
    with pytest.warns(ConvergenceWarning, match="relative distance to a stationary point is") as caught:
        model = NonstationaryClassifier(VIEWS, max_iter=2).fit(X, y)
    assert model.status_ == "max_iter" and model.n_iter_ == 2
    assert f"{model.dual_gap_:.1e} after 2 iterations" in str(caught[0].message)
    assert model.dual_gap_ > 1e-3


# --- the SVM -----------------------------------------------------------------------------------------------


@EACH_METHOD
@pytest.mark.parametrize("kernel", [Gaussian(gamma=0.3), Linear()])
@pytest.mark.parametrize("C", [0.1, 5.0])
def test_one_kernel_is_the_svm_with_twice_the_c(method, kernel, C):
    X, y = make_binary(60)
    X_new, _ = make_binary(40, seed=9)
    model = NonstationaryClassifier(raw([kernel]), C=C, method=method).fit(X, y)
    K, signs = kernel(X), np.where(y == "yes", 1.0, -1.0)
    machine = solve_machine(K, Hinge(signs, np.full(60, 2.0 * C)), tol=1e-11)
    exact = kernel(X_new, X) @ machine.dual + machine.intercept
    np.testing.assert_allclose(model.decision_function(X_new), exact, atol=1e-5)
    assert 2.0 * model.objective_ == pytest.approx(machine.objective, rel=1e-8)
    assert model.n_iter_ == 1 and model.dual_gap_ <= 1e-8
    coefficients = np.zeros(60)
    coefficients[model.support_] = model.dual_coef_[0, 0, 0] - model.dual_coef_[0, 1, 0]
    np.testing.assert_allclose(coefficients, machine.dual, atol=1e-4 * C)


@pytest.mark.parametrize(
    ("method", "width", "winner"),
    [("qp", 1.0, "clustered"), ("full", 5.0, "random")],  # either kind of start alone can be a trap
)
def test_where_a_kernel_repeats_starts_decide(method, width, winner):
    X, y = make_interleaved(40, width=width, random_state=0)
    views = raw([("a", Linear()), ("b", Linear())])
    twins = NonstationaryClassifier(views, method=method, random_state=0).fit(X, y)
    values = twins.start_objectives_[0]
    assert values.size == 8 and values.min() == twins.objective_
    best = {"random": values[0::2].min(), "clustered": values[1::2].min()}
    assert best.pop(winner) == twins.objective_ < 0.1 * min(best.values())
    assert {entry["start"] for entry in twins.history_} == {int(values.argmin())}
    margin = 1.0 + (np.log(2.0) if method == "qp" else 0.0)
    svm = NonstationaryClassifier(raw([Linear()]), method=method, margin=margin).fit(X, y)
    assert twins.score(X, y) == 1.0 and svm.score(X, y) <= 0.75
    again = NonstationaryClassifier(views, method=method, random_state=0).fit(X, y)
    np.testing.assert_array_equal(again.dual_coef_, twins.dual_coef_)
    np.testing.assert_array_equal(again.start_objectives_[0], values)
    other = NonstationaryClassifier(views, method=method, random_state=1).fit(X, y)
    assert (other.start_objectives_[0] != values).any()


# --- separable classes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["qp", "full"])
@pytest.mark.parametrize("margin", [1.0, 0.25])
def test_separable_classes_keep_the_margin(method, margin):
    X, y = make_binary(40, seed=4)
    model = NonstationaryClassifier(VIEWS, C=1e4, method=method, margin=margin, max_iter=100).fit(X, y)
    signs = np.where(y == "yes", 1.0, -1.0)
    least = (signs * model.decision_function(X)).min()
    assert least >= margin - 1e-4
    assert least == pytest.approx(margin, abs=0.1)


@EACH_METHOD
def test_the_hard_margin_is_the_limit_of_the_soft_one(method):
    X, y = make_binary(40, seed=4)
    hard = NonstationaryClassifier(VIEWS, C=np.inf, method=method).fit(X, y)
    signs = np.where(y == "yes", 1.0, -1.0)
    assert (signs * hard.decision_function(X) >= 1.0 - 1e-4).all()
    assert hard.status_ == "optimal"
    norm = 0.5 * sum(
        c @ plain_kernels(X[hard.support_], X[hard.support_])[:, :, m] @ c
        for side in hard.dual_coef_[0]
        for m, c in enumerate(side)
    )
    assert hard.objective_ == pytest.approx(norm, rel=1e-4)
    weighted = NonstationaryClassifier(VIEWS, C=np.inf, method=method).fit(X, y, np.linspace(0.1, 3.0, 40))
    np.testing.assert_allclose(weighted.decision_function(X), hard.decision_function(X), atol=1e-8)


def test_the_hard_margin_of_one_kernel_is_that_of_the_svm():
    X, y = make_binary(40, seed=4)
    model = NonstationaryClassifier(raw(Gaussian(gamma=1.0)), C=np.inf).fit(X, y)
    svm = SVC(C=1e8, kernel="precomputed", tol=1e-9).fit(Gaussian(gamma=1.0)(X), y)
    expected = svm.decision_function(Gaussian(gamma=1.0)(X))
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-4)


def test_the_hard_margin_refuses_classes_that_overlap():
    X, y = make_binary(60)
    flipped = np.where(np.arange(60) < 10, np.where(y == "yes", "no", "yes"), y)
    with pytest.raises(ValueError, match=r"needs separable classes.*'yes' from the rest\. Use a finite C"):
        NonstationaryClassifier([Linear()], C=np.inf).fit(X, flipped)


# --- the piecewise plane of the paper ----------------------------------------------------------------------


@pytest.mark.parametrize("method", ["qp", "full"])
def test_a_piecewise_boundary_that_no_combination_of_the_kernels_has(method):
    X, y = make_piecewise(200, shift=0.2, random_state=0)
    X_new, y_new = make_piecewise(400, shift=0.2, random_state=1)
    model = NonstationaryClassifier(PIECES, C=1e4, method=method).fit(X, y)
    assert model.score(X, y) == model.score(X_new, y_new) == 1.0
    assert (y * model.decision_function(X)).min() >= 1.0 - 1e-4
    # the lower class is linear on the left and quadratic on the right
    x = np.column_stack([np.linspace(-3, 3, 61)] * 2)
    x[:, 1] = piecewise_curve(x[:, 0])
    below = model.mixture_weights(x)[1][:, 1]
    assert np.ptp(below) > 0.9


# --- probabilities -----------------------------------------------------------------------------------------


def test_probabilities_are_those_of_the_log_ratio():
    for X, y in (make_binary(40), make_three(40)):
        model = NonstationaryClassifier(VIEWS).fit(X, y)
        f = model.decision_function(X)
        f = np.column_stack([np.zeros(40), f]) if f.ndim == 1 else f
        np.testing.assert_allclose(model.predict_proba(X), softmax(f, axis=1), atol=1e-12)


def test_calibrated_probabilities_are_better_where_classes_overlap():
    rng = np.random.default_rng(0)
    X, X_new = rng.normal(size=(80, 2)), rng.normal(size=(1000, 2))
    y, y_new = ((A[:, 0] > 0.0) ^ (rng.random(len(A)) < 0.2) for A in (X, X_new))
    views = raw([Linear(), Gaussian(gamma=5.0)])
    plain = NonstationaryClassifier(views, C=100.0).fit(X, y)
    calibrated = NonstationaryClassifier(views, C=100.0, probability=True).fit(X, y)
    np.testing.assert_array_equal(calibrated.decision_function(X_new), plain.decision_function(X_new))
    assert (plain.predict(X_new) == calibrated.predict(X_new)).all()
    before, after = (log_loss(y_new, m.predict_proba(X_new)) for m in (plain, calibrated))
    assert after < before - 0.1
    np.testing.assert_allclose(calibrated.predict_proba(X_new).sum(axis=1), 1.0)
    order = np.argsort(plain.decision_function(X_new))
    assert (np.diff(calibrated.predict_proba(X_new)[order, 1]) >= -1e-12).all()


def test_turns_of_much_work_count_as_several(monkeypatch):
    X, y = make_piecewise(60, random_state=0)
    views = [("line", Linear()), ("parabola", Polynomial(2)), ("again", Linear())]
    free = NonstationaryClassifier(views, C=100.0).fit(X, y)
    assert len(free.start_objectives_[0]) == 8 and free.n_iter_ > 2
    monkeypatch.setattr(classifier, "_TURN", 1.0)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = NonstationaryClassifier(views, C=100.0).fit(X, y)
    assert model.status_ == "max_iter" and model.n_iter_ == 1 and len(model.start_objectives_[0]) == 1
    assert np.isfinite(model.dual_gap_)
    with pytest.warns(ConvergenceWarning, match="max_iter"):  # starts that were asked for are all tried
        model = NonstationaryClassifier(views, C=100.0, n_init=3).fit(X, y)
    assert len(model.start_objectives_[0]) == 3

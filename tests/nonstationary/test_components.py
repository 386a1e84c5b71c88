"""Kernels of its own for each class, posteriors to start from, and f as a sum over the components."""

import numpy as np
import pytest
from scipy.special import logsumexp, softmax
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

from multikernel import load_model, save_model
from multikernel.kernels import Gaussian, Linear, Polynomial
from multikernel.nonstationary import NonstationaryClassifier
from multikernel.nonstationary.solver.mixtures import MODES
from tests.mkl.data import VIEWS, make_binary, make_three, plain_kernels
from tests.nonstationary.solver.mixture_problems import Problem, primal_by_cvxpy, shifted_margins
from tests.nonstationary.test_nonstationary import diagonals, log_ratio, scores_from_outside
from tests.raw import raw
from tests.test_bad_input import refuses

EACH_METHOD = pytest.mark.parametrize("method", MODES)
NAMES = ["signal", "line", "noise"]
ONE_AND_THREE = {"yes": ["line"], "no": ["line", "signal", "noise"]}


def problem_of(X, signs, kernels, q, *, method, C=1.0):
    """The convex problem of these posteriors, (n, 3), for cvxpy."""
    Ks = np.ascontiguousarray(np.moveaxis(plain_kernels(X, X), 2, 0))
    shares = tuple(q[signs * side > 0][:, chosen] for side, chosen in zip((1, -1), kernels, strict=True))
    margins = shifted_margins(signs, kernels, method)
    return Problem(Ks, signs, kernels, shares, np.full(len(X), C), margins, method)


def objective_of(model, X, signs, kernels):
    """Φ from the public attributes alone."""
    s = np.zeros((2, 3, len(X)))
    s[:, :, model.support_] = model.dual_coef_[0]
    K = plain_kernels(X, X)
    norm = sum(part @ K[:, :, m] @ part for side in s for m, part in enumerate(side))
    F = scores_from_outside(model, X, X)[:, 0]
    places = np.arange(len(X)), np.where(signs > 0, 0, 1)
    own, other = F[places], F[places[0], 1 - places[1]]
    own = own.max(axis=1) if model.method == "hard" else logsumexp(own, axis=1)
    other = logsumexp(other, axis=1) if model.method == "full" else other.max(axis=1)
    short = shifted_margins(signs, kernels, model.method) - own + other
    return 0.5 * norm + model.C * np.maximum(short, 0.0).sum()


# --- kernels of the classes --------------------------------------------------------------------------------


@EACH_METHOD
@pytest.mark.parametrize(
    "given", [ONE_AND_THREE, {"yes": ["noise", "signal"]}, {"no": ["line"], "yes": ["signal"]}]
)
def test_the_certificate_of_unequal_mixtures_is_that_of_cvxpy(method, given):
    """At the posteriors of the model, the convex problem written out has an optimum J: Φ − J is the gap."""
    X, y = make_binary(24, seed=4)
    signs = np.where(y == "yes", 1.0, -1.0)
    model = NonstationaryClassifier(VIEWS, class_kernels=given, method=method, C=1.0).fit(X, y)
    kernels = tuple(sorted(NAMES.index(name) for name in given.get(label, NAMES)) for label in ("yes", "no"))
    for side in (0, 1):
        without = np.setdiff1d(np.arange(3), kernels[side])
        assert np.isneginf(model.offsets_[0, side, without]).all()
        assert not model.dual_coef_[0, side, without].any()
    value = objective_of(model, X, signs, kernels)
    assert model.objective_ == pytest.approx(value, rel=1e-8)
    positive, negative = model.mixture_weights(X)
    q = np.where(signs[:, None] > 0, positive, negative)
    optimum = primal_by_cvxpy(problem_of(X, signs, kernels, q, method=method))
    assert -1e-5 <= (value - optimum) / max(1.0, value) <= model.dual_gap_ + 1e-5
    assert model.dual_gap_ <= model.tol and model.status_ == "optimal"


@EACH_METHOD
def test_one_kernel_each_is_the_svm_of_their_sum(method):
    """Of unit diagonal: F⁺ − F⁻ is linear in the features of both."""
    X, y = make_binary(40, seed=2)
    given = {"yes": ["signal"], "no": ["noise"]}
    model = NonstationaryClassifier(VIEWS, class_kernels=given, method=method, C=0.7).fit(X, y)
    K = plain_kernels(X, X)
    machine = SVC(C=0.7, kernel="precomputed", tol=1e-8).fit(K[:, :, 0] + K[:, :, 2], y)
    np.testing.assert_allclose(
        model.decision_function(X), machine.decision_function(K[:, :, 0] + K[:, :, 2]), atol=1e-4
    )


def test_all_kernels_by_name_are_the_default():
    X, y = make_three(50)
    plain = NonstationaryClassifier(VIEWS).fit(X, y)
    named = NonstationaryClassifier(VIEWS, class_kernels={label: NAMES for label in "abc"}).fit(X, y)
    np.testing.assert_array_equal(named.decision_function(X), plain.decision_function(X))


def test_the_rest_has_the_kernels_of_any_other_class():
    X, y = make_three(60)
    given = {"a": ["signal"], "b": ["line"]}
    model = NonstationaryClassifier(VIEWS, class_kernels=given, C=3.0).fit(X, y)
    assert np.isfinite(model.offsets_[0, 0]).tolist() == [True, False, False]
    rest = {"a": {False: NAMES, True: ["signal"]}, "b": {True: ["line"]}, "c": {False: ["signal", "line"]}}
    for k, (name, kernels) in enumerate(rest.items()):
        one = NonstationaryClassifier(VIEWS, class_kernels=kernels, C=3.0).fit(X, y == name)
        np.testing.assert_allclose(one.decision_function(X), model.decision_function(X)[:, k], atol=1e-9)
        np.testing.assert_allclose(one.kernel_weights_, model.machine_weights_[k], atol=1e-9)


def test_a_start_that_knows_which_samples_are_which_separates_where_the_uniform_one_does_not():
    """The upper class is above a parabola or above a line, the lower one has the line alone."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, (240, 2))
    edge = np.minimum(X[:, 0] ** 2, 1.0)
    kept = np.abs(X[:, 1] - edge) > 0.15
    X, y = X[kept], (X[:, 1] > edge)[kept]
    pieces = raw([("line", Linear()), ("parabola", Polynomial(2))])
    model = NonstationaryClassifier(pieces, class_kernels={False: ["line"]}, C=1e4, max_iter=60)
    uniform = model.fit(X, y).objective_
    assert model.score(X, y) < 1.0
    inside = (np.abs(X[:, 0]) < 1.0) & y
    model.fit(X, y, posteriors=np.column_stack([~inside, inside]))
    assert model.score(X, y) == 1.0 and model.objective_ < 1e-2 * uniform
    assert np.isneginf(model.offsets_[0, 1, 1])


def test_a_saved_model_with_kernels_of_the_classes(tmp_path):
    X, y = make_binary(30)
    model = NonstationaryClassifier(VIEWS, class_kernels=ONE_AND_THREE).fit(X, y)
    save_model(model, tmp_path / "model.mkl")
    again = load_model(tmp_path / "model.mkl")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.class_kernels == ONE_AND_THREE


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (["line"], TypeError, "dict from class label to a list of kernel names; got ['line']"),
        ({"maybe": ["line"]}, ValueError, "the class 'maybe'; the classes are"),
        ({"yes": []}, ValueError, "one or more kernel names"),
        ({"yes": "line"}, ValueError, "one or more kernel names"),
        ({"yes": ["wave"]}, ValueError, "names the kernel 'wave'; the kernels are"),
        ({"yes": ["line", "line"]}, ValueError, "under two names"),
    ],
)
def test_kernels_of_classes_that_are_refused(given, error, words):
    X, y = make_binary(20)
    with pytest.raises(error) as caught:
        NonstationaryClassifier(VIEWS, class_kernels=given).fit(X, y)
    assert words in str(caught.value)


# --- posteriors to start from ------------------------------------------------------------------------------


@EACH_METHOD
@pytest.mark.parametrize("given", [None, ONE_AND_THREE])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_first_turn_solves_the_problem_of_the_posteriors_given(method, given):
    """One turn: the value of the primal at the model is cvxpy's optimum for these posteriors."""
    X, y = make_binary(24, seed=4)
    signs = np.where(y == "yes", 1.0, -1.0)
    kernels = tuple(
        sorted(NAMES.index(name) for name in (given or {}).get(label, NAMES)) for label in ("yes", "no")
    )
    q = np.zeros((24, 3))
    rng = np.random.default_rng(0)
    for sign, chosen in zip((1.0, -1.0), kernels, strict=True):
        rows = np.flatnonzero(signs == sign)
        shares = rng.dirichlet(np.full(len(chosen), 0.7), rows.size)
        q[np.ix_(rows, chosen)] = np.eye(len(chosen))[shares.argmax(1)] if method == "hard" else shares
    model = NonstationaryClassifier(
        VIEWS, class_kernels=given, method=method, C=1.0, max_iter=1, tol=1e-5
    ).fit(X, y, posteriors=q)
    problem = problem_of(X, signs, kernels, q, method=method)
    point = problem.projection.mixtures.point(
        tuple(_every_row(model, side, 24)[list(kernels[side])] for side in (0, 1)),
        tuple(model.offsets_[0, side, list(kernels[side])] for side in (0, 1)),
    )
    value = problem.projection.primal(point)
    assert value == pytest.approx(primal_by_cvxpy(problem), rel=2e-5)


def _every_row(model, side, n):
    s = np.zeros((3, n))
    s[:, model.support_] = model.dual_coef_[0, side]
    return s


def test_a_fit_that_goes_on_from_its_own_posteriors_stays():
    X, y = make_binary(60)
    first = NonstationaryClassifier(VIEWS, C=30.0, tol=1e-5, max_iter=200).fit(X, y)
    positive, negative = first.mixture_weights(X)
    q = np.where((y == "yes")[:, None], positive, negative)
    again = NonstationaryClassifier(VIEWS, C=30.0, tol=1e-5).fit(X, y, posteriors=q)
    assert again.n_iter_ <= 3 < first.n_iter_
    assert again.objective_ == pytest.approx(first.objective_, rel=2e-5)
    assert again.start_objectives_[0].size == 1


def test_posteriors_are_the_first_of_several_starts():
    X, y = make_binary(40, seed=3)
    q = np.tile([0.0, 1.0, 0.0], (40, 1))
    alone = NonstationaryClassifier(VIEWS, method="hard").fit(X, y, posteriors=q)
    drawn = NonstationaryClassifier(VIEWS, method="hard").fit(X, y)
    several = NonstationaryClassifier(VIEWS, method="hard", n_init=2).fit(X, y, posteriors=q)
    expected = [alone.objective_, drawn.objective_]
    np.testing.assert_allclose(several.start_objectives_[0], expected, rtol=1e-9)
    assert several.objective_ == pytest.approx(min(expected)) and abs(np.diff(expected)[0]) > 1e-3


def test_shares_by_class_are_those_of_all_its_samples():
    X, y = make_binary(40, seed=3)
    q = np.where((y == "yes")[:, None], [0.2, 0.3, 0.5], 1.0 / 3.0)
    by_class = NonstationaryClassifier(VIEWS).fit(X, y, posteriors={"yes": [0.2, 0.3, 0.5]})
    by_sample = NonstationaryClassifier(VIEWS).fit(X, y, posteriors=q)
    np.testing.assert_array_equal(by_class.decision_function(X), by_sample.decision_function(X))
    uniform = NonstationaryClassifier(VIEWS).fit(X, y)
    assert np.abs(by_class.decision_function(X) - uniform.decision_function(X)).max() > 1e-6


def test_more_classes_start_from_the_posteriors_of_their_samples():
    X, y = make_three(50)
    q = np.random.default_rng(1).dirichlet(np.ones(3), 50)
    model = NonstationaryClassifier(VIEWS).fit(X, y, posteriors=q)
    for k, name in enumerate("abc"):
        one = NonstationaryClassifier(VIEWS).fit(X, y == name, posteriors=q)
        np.testing.assert_allclose(one.decision_function(X), model.decision_function(X)[:, k], atol=1e-9)


def test_equal_rows_start_from_the_mean_of_their_posteriors():
    X, y = make_binary(30)
    q = np.random.default_rng(1).dirichlet(np.ones(3), 60)
    weights = np.random.default_rng(2).uniform(0.5, 2.0, 60)
    twice = NonstationaryClassifier(VIEWS).fit(np.vstack([X, X]), np.concatenate([y, y]), weights, q)
    both = weights.reshape(2, 30)
    mean = (both[:, :, None] * q.reshape(2, 30, 3)).sum(axis=0) / both.sum(axis=0)[:, None]
    once = NonstationaryClassifier(VIEWS).fit(X, y, both.sum(axis=0), mean)
    np.testing.assert_allclose(twice.decision_function(X), once.decision_function(X), atol=1e-9)


def test_posteriors_are_cut_with_the_folds():
    X, y = make_binary(60)
    q = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    scores = cross_val_score(NonstationaryClassifier(VIEWS), X, y, cv=3, params={"posteriors": q})
    assert scores.shape == (3,) and (scores > 0.6).all()
    model = NonstationaryClassifier(VIEWS, probability=True, random_state=0).fit(X, y, posteriors=q)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (np.full((20, 2), 0.5), "of shape (n_samples, n_kernels) = (20, 3)"),
        (np.full((20, 3), 0.5), "sum to 1 for each sample; sample 0 has"),
        (np.tile([2.0, -1.0, 0.0], (20, 1)), "be nonnegative and finite; sample 0"),
        (np.full((20, 3), np.nan), "be nonnegative and finite"),
        ({"yes": [0.5, 0.5]}, "posteriors['yes'] must have one number for each of the 3 kernels"),
        ({"maybe": [1.0, 0.0, 0.0]}, "the class 'maybe'"),
        ({"yes": [0.0, 0.5, 0.5]}, "be 0 for the kernels that class_kernels denies"),
    ],
)
def test_posteriors_that_are_refused(given, words):
    X, y = make_binary(20)
    with refuses(words):
        NonstationaryClassifier(VIEWS, class_kernels=ONE_AND_THREE).fit(X, y, posteriors=given)


def test_posteriors_are_not_changed():
    X, y = make_binary(20)
    q = np.full((20, 3), 1.0 / 3.0)
    q.flags.writeable = False
    NonstationaryClassifier(VIEWS).fit(X, y, posteriors=q)
    np.testing.assert_array_equal(q, 1.0 / 3.0)


# --- what each component adds ------------------------------------------------------------------------------


@EACH_METHOD
@pytest.mark.parametrize("given", [None, ONE_AND_THREE])
def test_the_terms_are_those_of_the_formula(method, given):
    X, y = make_binary(50)
    X_new, _ = make_binary(30, seed=7)
    model = NonstationaryClassifier(VIEWS, class_kernels=given, method=method).fit(X, y)
    parts = model.component_contributions(X_new)
    F = scores_from_outside(model, X, X_new)[:, 0]
    K = plain_kernels(X_new, X[model.support_])
    for side, sign in enumerate((1.0, -1.0)):
        nu = softmax(F[:, side], axis=1) if method != "hard" else np.eye(3)[F[:, side].argmax(axis=1)]
        np.testing.assert_allclose(parts.weights[:, side], nu, atol=1e-10)
        expansion = np.einsum("nsm,ms->nm", K, model.dual_coef_[0, side])
        np.testing.assert_allclose(parts.similarity[:, side], sign * nu * expansion, atol=1e-9)
        own = -0.5 * sign * nu * diagonals(X_new)
        np.testing.assert_allclose(parts.self_similarity[:, side], own, atol=1e-9)
        offsets = np.nan_to_num(model.offsets_[0, side], neginf=0.0)
        np.testing.assert_allclose(parts.offset[:, side], sign * nu * offsets, atol=1e-9)
        entropy = -np.where(nu > 0.0, nu * np.log(np.maximum(nu, 1e-300)), 0.0).sum(axis=1)
        np.testing.assert_allclose(parts.entropy[:, side], sign * entropy, atol=1e-9)
    np.testing.assert_allclose(parts.total, log_ratio(F[:, None], method)[:, 0], atol=1e-9)


@pytest.mark.parametrize("method", ["qp", "full"])
def test_a_weight_is_how_fast_the_decision_follows_the_offset(method):
    """ν_m = ∂f/∂a_m, by central differences."""
    X, y = make_binary(50)
    model = NonstationaryClassifier(VIEWS, method=method, C=2.0).fit(X, y)
    weights, offsets = model.component_contributions(X).weights, model.offsets_.copy()
    step = 1e-5
    for side, sign in enumerate((1.0, -1.0)):
        for m in range(3):
            values = []
            for way in (step, -step):
                model.offsets_ = offsets.copy()
                model.offsets_[0, side, m] += way
                values.append(model.decision_function(X))
            slope = (values[0] - values[1]) / (2.0 * step)
            np.testing.assert_allclose(sign * slope, weights[:, side, m], atol=1e-8)


@EACH_METHOD
@pytest.mark.parametrize("given", [None, ONE_AND_THREE])
def test_pairs_have_the_weights_of_the_introduction(method, given):
    """f(x) = Σ_t y_t λ_t Σ_m ν_mt(x) k_m(x_t, x) + b(x)."""
    X, y = make_binary(50)
    X_new, _ = make_binary(20, seed=7)
    model = NonstationaryClassifier(VIEWS, class_kernels=given, method=method).fit(X, y)
    nu = model.pair_weights(X_new)
    assert nu.shape == (20, model.support_.size, 3) and (nu >= 0.0).all()
    signs = np.where(y[model.support_] == "yes", 1.0, -1.0)
    totals = 0.5 * np.abs(model.dual_coef_[0]).sum(axis=(0, 1))
    K = plain_kernels(X_new, X[model.support_])
    parts = model.component_contributions(X_new)
    rest = (parts.self_similarity + parts.offset).sum(axis=(1, 2)) + parts.entropy.sum(axis=1)
    f = np.einsum("t,ntm,ntm->n", signs * totals, nu, K) + rest
    np.testing.assert_allclose(f, model.decision_function(X_new), atol=1e-9)
    assert (nu.sum(axis=2) <= 2.0 + 1e-6).all()


def test_one_kernel_has_the_weight_of_two():
    """Both mixtures speak through it: the reason why it is the SVM with twice the C."""
    X, y = make_binary(30)
    model = NonstationaryClassifier([Gaussian(gamma=0.5)]).fit(X, y)
    np.testing.assert_allclose(model.pair_weights(X), 2.0, rtol=1e-6)


def test_terms_and_pairs_of_several_machines():
    X, y = make_three(40)
    model = NonstationaryClassifier(VIEWS).fit(X, y)
    parts, pairs = model.component_contributions(X), model.pair_weights(X[:4])
    assert parts.weights.shape == (40, 3, 2, 3) and parts.entropy.shape == (40, 3, 2)
    np.testing.assert_allclose(parts.total, model.decision_function(X), atol=1e-9)
    assert pairs.shape == (4, 3, model.support_.size, 3)


def test_terms_are_the_same_by_batches(monkeypatch):
    X, y = make_binary(40)
    model = NonstationaryClassifier(VIEWS).fit(X, y)
    whole = model.component_contributions(X)
    monkeypatch.setattr("multikernel.core.estimator.base._BATCH_ROWS", 7)
    np.testing.assert_allclose(model.component_contributions(X).similarity, whole.similarity, atol=1e-12)


def test_precomputed_kernels_of_the_classes_by_name():
    X, y = make_binary(30)
    unit = [Gaussian(gamma=0.5), Gaussian(gamma=2.0)]
    stack = np.stack([kernel(X) for kernel in unit], axis=2)
    model = NonstationaryClassifier("precomputed", class_kernels={"yes": ["kernel-1"]}).fit(stack, y)
    by_views = NonstationaryClassifier(
        raw([("wide", unit[0]), ("narrow", unit[1])]), class_kernels={"yes": ["narrow"]}
    ).fit(X, y)
    np.testing.assert_allclose(model.decision_function(stack), by_views.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(
        model.component_contributions(stack).total, model.decision_function(stack), atol=1e-9
    )

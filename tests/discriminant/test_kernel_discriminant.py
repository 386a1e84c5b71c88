"""The discriminant classifier: its attributes recomputed from outside, its rule, its input, its refusals."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from multikernel import stack_kernels
from multikernel.core.scatter import class_columns, class_contrast
from multikernel.discriminant import KernelDiscriminantClassifier
from multikernel.report import summarize
from tests.discriminant import discriminant_problems as problems
from tests.judged import BOTH, solved_by
from tests.mkl.data import VIEWS, make_binary, make_three, plain_kernels
from tests.test_bad_input import refuses


def gaussians(A, B, sigmas=problems.SIGMAS):
    return stack_kernels(list(problems.gaussians(A, sigmas, B)))


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    mean, deviation = X[:200].mean(axis=0), X[:200].std(axis=0)
    X = (X - mean) / deviation
    return X[:200], y[:200], X[200:], y[200:]


def centred(stack):
    n = stack.shape[0]
    P = np.eye(n) - 1.0 / n
    return [P @ stack[:, :, m] @ P for m in range(stack.shape[2])]


def objective(stack, y, model, joint):
    """The published objective, from the weights and λ alone."""
    codes = np.unique(y, return_inverse=True)[1]
    H = class_contrast(codes)[:, None] if codes.max() == 1 else class_columns(codes)
    G = sum(w * K for w, K in zip(model.kernel_weights_, centred(stack), strict=True))
    M = model.reg_ * np.eye(len(y)) + G
    if joint:  # the weights of the trace: tr M = 1
        return float(np.trace(H.T @ np.linalg.solve(M, H))) * np.trace(M)
    return model.reg_ * float(np.trace(H.T @ np.linalg.solve(M, H)))


# ---------------------------------------------------------------------- what is learned
@pytest.mark.parametrize(("reg", "value"), [(1e-2, 50.87001101), (1e-4, 1.258256569), ("learn", 12804.59675)])
def test_three_classes_of_wine(reg, value):
    Ks, y = problems.wine()
    stack = stack_kernels(list(Ks))
    model = KernelDiscriminantClassifier("precomputed", reg=reg, tol=1e-8).fit(stack, y)
    assert model.objective_ == pytest.approx(value, rel=1e-7)
    assert model.objective_ == pytest.approx(objective(stack, y, model, reg == "learn"), rel=1e-6)
    assert model.status_ == "optimal"
    assert model.dual_gap_ <= 1e-8
    traces = np.array([np.trace(K) for K in centred(stack)])
    assert model.kernel_weights_ @ traces == pytest.approx(1.0, rel=1e-9)
    np.testing.assert_allclose(model.kernel_shares_, model.kernel_weights_ * traces, rtol=1e-9)
    if reg == 1e-2:
        np.testing.assert_allclose(model.kernel_shares_[[5, 9]], [0.965181, 0.034819], atol=2e-6)
        assert model.kernel_shares_[[0, 1, 2, 3, 4, 6, 7, 8]].max() == 0.0
    if reg != "learn":
        assert model.reg_ == reg


def test_a_learned_regularisation():
    X, y, X_test, y_test = cancer()
    sigmas = (2, 4, 8, 16, 32)
    stack = gaussians(X, X, sigmas)
    model = KernelDiscriminantClassifier("precomputed", reg="learn", tol=1e-8).fit(stack, y)
    assert model.objective_ == pytest.approx(1.104426267, rel=1e-7)
    assert model.objective_ == pytest.approx(objective(stack, y, model, joint=True), rel=1e-7)
    assert model.kernel_weights_ @ [np.trace(K) for K in centred(stack)] == pytest.approx(1.0, rel=1e-9)
    assert model.reg_ == pytest.approx(0.00567544, rel=1e-4)
    assert model.score(gaussians(X_test, X, sigmas), y_test) == pytest.approx(0.96206, abs=5e-6)


def test_a_near_identity_kernel_is_the_regularisation():
    """With a very narrow Gaussian λ is learned to be zero, and a small fixed λ is the same classifier."""
    X, y, X_test, _ = cancer()
    train, test = gaussians(X, X), gaussians(X_test, X)
    learned, fixed = (
        KernelDiscriminantClassifier("precomputed", reg=reg, tol=1e-8).fit(train, y)
        for reg in ("learn", 1e-8)
    )
    assert learned.reg_ == pytest.approx(1e-9 / 200, rel=1e-6)  # zero, but for what keeps it regular
    np.testing.assert_array_equal(learned.predict(test), fixed.predict(test))


def test_a_fixed_regularisation_changes_nothing_up_to_the_share_of_a_near_identity_kernel():
    """λI and a kernel that is the identity have the trace λn + η between them: below η/(1−η)/n, λ does not
    matter, above it does."""
    X, y, X_test, _ = cancer()
    train, test = (gaussians(A, X)[..., [0, 4, 5, 6, 7]] for A in (X, X_test))
    np.testing.assert_allclose(train[..., 0], np.eye(len(y)), atol=1e-15)
    learned = KernelDiscriminantClassifier("precomputed", reg="learn", tol=1e-8).fit(train, y)
    share = learned.kernel_shares_[0]
    assert 0.01 < share < 0.9
    limit = share / (1.0 - share) / len(y)
    scores = learned.decision_function(test)
    for factor, same in ((0.01, True), (0.97, True), (1.03, False), (3.0, False)):
        fixed = KernelDiscriminantClassifier("precomputed", reg=factor * limit, tol=1e-8).fit(train, y)
        assert (fixed.kernel_shares_[0] > 0.0) == same
        others = fixed.decision_function(test)
        difference = np.abs(others / np.linalg.norm(others) - scores / np.linalg.norm(scores)).max()
        # that the trace is n − 1 and not n is all that is left of it
        assert difference < 1e-3 if same else difference > 5e-4 * factor


def test_labels_that_mean_nothing():
    """No kernel beats the identity: a warning, and a model all the same."""
    y = np.arange(40) % 2
    first, second = (np.repeat(np.arange(-10.0, 10.0), 2) ** power for power in (1, 2))
    first[y == 1] += 0.05
    second[y == 1] += 0.4
    stack = stack_kernels([np.outer(first, first), np.outer(second, second)])
    with pytest.warns(UserWarning, match="better than the identity"):
        model = KernelDiscriminantClassifier("precomputed", reg="learn").fit(stack, y)
    assert model.reg_ == pytest.approx(1e3 / 40)
    contrast = [abs(x[y == 1].mean() - x[y == 0].mean()) / x.std() for x in (first, second)]
    assert np.flatnonzero(model.kernel_weights_).tolist() == [int(np.argmax(contrast))]
    assert set(model.predict(stack)) <= {0, 1}
    assert np.isfinite(model.decision_function(stack)).all()


def test_a_class_of_one_point_and_repeated_points():
    X, y = make_three(30)
    y = y.copy()
    y[y == "c"] = "b"
    y[4] = "c"
    X = np.concatenate([X, X[:10]])
    y = np.concatenate([y, y[:10]])
    for reg in (1e-4, "learn"):
        model = KernelDiscriminantClassifier(VIEWS, reg=reg, tol=1e-8).fit(X, y)
        assert model.dual_gap_ <= 1e-8
        assert model.predict(X[4:5])[0] == "c"


# ---------------------------------------------------------------------- what is predicted
@pytest.mark.parametrize("make", [make_binary, make_three])
def test_the_rule_from_outside(make):
    X, y = make(80)
    train, test = slice(0, 50), slice(50, 80)
    model = KernelDiscriminantClassifier(VIEWS, reg=1e-3).fit(X[train], y[train])
    K = plain_kernels(X[test], X[train]) @ model.kernel_weights_
    K_train = plain_kernels(X[train], X[train]) @ model.kernel_weights_
    Z = (K - K_train.mean(axis=0)) @ model.directions_
    np.testing.assert_allclose(model.transform(X[test]), Z, atol=1e-10)
    nearest = cdist(Z, model.centroids_).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(X[test]), model.classes_[nearest])
    np.testing.assert_allclose(
        model.decision_function(X[test]), np.squeeze(K @ model.dual_coef_.T + model.intercept_), atol=1e-10
    )
    parts = model.contributions(X[test])
    intercept = model.intercept_ if parts.ndim == 3 else model.intercept_[0]
    np.testing.assert_allclose(parts.sum(axis=-1) + intercept, model.decision_function(X[test]), atol=1e-10)
    assert model.score(X[test], y[test]) > 0.6


def test_the_vote_of_neighbours():
    X, y = make_three(80)
    model = KernelDiscriminantClassifier(VIEWS, rule="knn", n_neighbors=3).fit(X[:50], y[:50])
    votes = KNeighborsClassifier(3).fit(model.transform(X[:50]), y[:50])
    clear = votes.predict_proba(model.transform(X[50:])).max(axis=1) > 0.5
    np.testing.assert_array_equal(model.predict(X[50:])[clear], votes.predict(model.transform(X[50:]))[clear])
    assert not hasattr(model, "decision_function")


def test_as_a_transformer_and_in_pipelines():
    X, y = make_three(90)
    model = KernelDiscriminantClassifier(VIEWS, n_components=1).fit(X, y)
    assert model.fit_transform(X, y).shape == (90, 1)
    assert list(model.get_feature_names_out()) == ["kerneldiscriminantclassifier0"]
    pipe = make_pipeline(StandardScaler(), KernelDiscriminantClassifier(VIEWS), SVC())
    assert cross_val_score(pipe, X, y, cv=3).mean() > 0.6


@pytest.mark.parametrize("reg", [1e-10, 1e-12, 1e-14])
def test_a_certificate_is_honest_where_rounding_limits_it(reg):
    """Low rank beside a tiny λ: no solver may claim more than its digits allow."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    features = [rng.normal(size=(60, 2)) + 0.5 * y[:, None] * rng.normal(size=2) for _ in range(3)]
    stack = stack_kernels([F @ F.T for F in features])
    for who in BOTH:
        with warnings.catch_warnings(), solved_by(who):
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = KernelDiscriminantClassifier("precomputed", reg=reg).fit(stack, y)
        # in feature space, where nothing cancels: λ a'M⁻¹a = |a|² − a'Φ(λI + Φ'Φ)⁻¹Φ'a
        centred_features = [F - F.mean(axis=0) for F in features]
        Phi = np.hstack(
            [np.sqrt(w) * F for w, F in zip(model.kernel_weights_, centred_features, strict=True)]
        )
        a = class_contrast(y)
        inner = np.linalg.solve(reg * np.eye(Phi.shape[1]) + Phi.T @ Phi, Phi.T @ a)
        exact = a @ a - (Phi.T @ a) @ inner
        assert abs(model.objective_ / exact - 1.0) <= model.dual_gap_ < 1e-2


def test_a_table_of_shares_and_a_fit_cut_short():
    X, y = make_three(90)
    model = KernelDiscriminantClassifier(VIEWS).fit(X, y)
    assert model.history_[-1]["objective"] == pytest.approx(model.objective_)
    assert model.weights_frame()["share"].sum() == pytest.approx(1.0)
    assert [row["share"] for row in summarize(model)["weights"]] == model.kernel_shares_.tolist()
    with pytest.warns(ConvergenceWarning, match="relative duality gap"):
        KernelDiscriminantClassifier(VIEWS, max_iter=1).fit(X, y)


# ---------------------------------------------------------------------- what is refused
@pytest.mark.parametrize(
    ("parameters", "parts"),
    [
        ({"reg": "auto"}, ("reg must be a positive number", "learn", "auto")),
        ({"reg": 1e200}, ("reg must be at most 1e+10", "1e+200")),
        ({"n_components": 2}, ("n_components must be less than the number of classes, 2", "got 2")),
        ({"rule": "knn", "n_neighbors": 81}, ("n_neighbors must be at most", "81")),
    ],
)
def test_parameters_that_are_refused(parameters, parts):
    X, y = make_binary()
    with refuses(*parts):
        KernelDiscriminantClassifier(VIEWS, **parameters).fit(X, y)


def test_an_indefinite_kernel_that_the_door_lets_pass():
    """Large matrices are looked at in blocks: the solver finds the rest, and names the kernel."""
    rng = np.random.default_rng(0)
    v = rng.choice([-1.0, 1.0], 700) / np.sqrt(700)
    F = rng.normal(size=(700, 2))
    stack = stack_kernels([F @ F.T, np.eye(700) - 3.0 * np.outer(v, v)])
    with refuses("kernel 'kernel-1'", "psd="):
        KernelDiscriminantClassifier("precomputed").fit(stack, F[:, 0] > 0)


def test_a_singular_scatter():
    X, y = make_binary(30)
    with refuses("total scatter is singular", "reg", 'reg="learn"'):
        KernelDiscriminantClassifier([VIEWS[1]], reg=1e-300).fit(X, y)

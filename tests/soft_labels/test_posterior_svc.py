"""The machines of soft labels: against scikit-learn, a conic solver, and a judge that believes nothing."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.svm import SVC

from judges.optimum import conic_optimum
from multikernel import MKLClassifier
from multikernel.core.svm.joint.solver import solve_multiclass
from multikernel.kernels import Gaussian, Polynomial
from multikernel.soft_labels import PosteriorSVC
from tests.core.problems import Task, judge
from tests.mkl.data import VIEWS, make_binary, make_three, plain_kernels
from tests.raw import raw
from tests.soft_labels.test_posterior import root

TIGHT = 1e-8
CENTRES = np.array([[-1.5, -1.0], [1.5, -1.0], [0.0, 1.6]])


def certain(y):
    return np.eye(np.unique(y).size)[np.unique(y, return_inverse=True)[1]]


def doubtful(y, seed=0):
    """Probabilities that mostly agree with the labels."""
    P = certain(y) + np.random.default_rng(seed).exponential(0.4, size=(len(y), np.unique(y).size))
    return P / P.sum(axis=1, keepdims=True)


def joint_value(Ks, labels, R, C):
    """max Σ R_il α_il − ½ max_m Σ_l B_l'K_m B_l, from the definition of B; labels are codes."""
    n, n_classes = R.shape
    own = np.eye(n_classes)[labels]
    alpha = cp.Variable((n, n_classes), nonneg=True)
    B = cp.multiply(own, cp.sum(alpha, axis=1, keepdims=True) @ np.ones((1, n_classes))) - alpha
    quadratic = cp.max(cp.hstack([cp.sum_squares(root(K).T @ B) for K in Ks]))
    bounds = [alpha <= (1.0 - own) * C[:, None], cp.sum(B, axis=0) == 0]
    return conic_optimum(
        cp.Problem(cp.Maximize(cp.sum(cp.multiply((1.0 - own) * R, alpha)) - 0.5 * quadratic), bounds)
    )


def full_duals(model, n):
    duals = np.zeros((len(model.dual_coef_), n))
    duals[:, model.support_] = model.dual_coef_
    return duals


# ---------------------------------------------------------------------- certain labels
@pytest.mark.parametrize("weighted", [False, True])
def test_certain_labels_of_two_classes_are_the_support_vector_machine(weighted):
    X, y = make_binary(70)
    w = np.random.default_rng(1).uniform(0.2, 3.0, size=70) if weighted else None
    model = PosteriorSVC(raw([Gaussian(gamma=0.5)]), C=2.0, class_weight={"yes": 3.0}, tol=1e-9)
    model.fit(X, y, sample_weight=w, probabilities=certain(y))
    peer = SVC(C=2.0, gamma=0.5, class_weight={"yes": 3.0}, tol=1e-9).fit(X, y, sample_weight=w)
    beta = np.zeros(70)
    beta[peer.support_] = peer.dual_coef_[0]
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(model.objective_, np.abs(beta).sum() - 0.5 * beta @ K @ beta, rtol=1e-8)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-5)
    assert model.relabelled_.size == model.undecided_.size == 0


def test_certain_labels_of_more_classes_are_the_joint_machine():
    X, y = make_three(60)
    K = plain_kernels(X, X)[:, :, 0]
    model = PosteriorSVC([VIEWS[0]], C=2.0, tol=TIGHT).fit(X, y, probabilities=certain(y))
    peer = solve_multiclass(K, np.unique(y, return_inverse=True)[1], 3, 2.0, tol=TIGHT)
    np.testing.assert_allclose(model.objective_, peer.objective, rtol=1e-7)
    np.testing.assert_allclose(full_duals(model, 60).T @ np.ones(3), 0.0, atol=1e-9)
    scores = model.decision_function(X) - model.intercept_
    np.testing.assert_allclose(scores, K @ peer.coefficients, atol=1e-3)
    learned = PosteriorSVC(VIEWS, tol=1e-7).fit(X, y, probabilities=certain(y))
    peer = MKLClassifier(VIEWS, multiclass="joint", tol=1e-7).fit(X, y)
    np.testing.assert_allclose(learned.objective_, peer.objective_, rtol=1e-6)
    np.testing.assert_allclose(learned.kernel_weights_, peer.kernel_weights_, atol=1e-3)


# ---------------------------------------------------------------------- soft labels
def test_the_figures_of_the_specification():
    i = np.arange(1.0, 13.0)
    X = np.column_stack([np.sin(i), np.cos(2.0 * i)])
    y = np.array([1, 1, -1, 1, -1, -1, 1, -1, 1, -1, 1, -1])
    soft = np.tanh(1.5 * y * (0.4 + 0.5 * np.cos(i)))
    P = np.column_stack([0.5 - 0.5 * soft, 0.5 + 0.5 * soft])
    model = PosteriorSVC(raw([Polynomial(2)]), tol=1e-9).fit(X, y, probabilities=P)
    assert abs(model.objective_ - 8.567926) <= 5e-7
    assert abs(model.intercept_[0] + 0.042284) <= 5e-7
    assert model.relabelled_.tolist() == np.flatnonzero(soft * y < 0).tolist() != []


@pytest.mark.parametrize("norm", [1.0, 2.0])
@pytest.mark.parametrize("posterior", ["knn", "parzen"])
def test_two_classes_are_certified_from_outside(posterior, norm):
    X, y = make_binary(80)
    w = np.random.default_rng(2).uniform(0.2, 3.0, size=80)
    model = PosteriorSVC(VIEWS, C=1.5, posterior=posterior, norm=norm, tol=1e-5).fit(X, y, sample_weight=w)
    soft = model.posteriors_[:, 1] - model.posteriors_[:, 0]
    used = np.setdiff1d(np.arange(80), model.undecided_)
    Ks = np.moveaxis(plain_kernels(X, X), 2, 0)[np.ix_(range(3), used, used)]
    task = Task("soft_labels", soft[used], 1.5 * w[used])
    upper, lower = judge(Ks, [task], model.kernel_weights_, full_duals(model, 80)[:, used], norm)
    assert (upper - lower) / upper <= 1e-5 * (1.0 + 1e-6)
    assert lower - 1e-9 <= model.objective_ <= upper + 1e-9
    assert model.dual_gap_ <= 1e-5
    scores = np.tensordot(model.kernel_weights_, Ks, axes=1) @ full_duals(model, 80)[0, used]
    np.testing.assert_allclose(model.decision_function(X)[used], scores + model.intercept_[0], atol=1e-9)


@pytest.mark.parametrize("views", [VIEWS[:1], VIEWS], ids=["one kernel", "three kernels"])
def test_more_classes_reach_the_optimum_of_a_conic_solver(views):
    X, y = make_three(30)
    P, w = doubtful(y), np.random.default_rng(3).uniform(0.5, 2.0, size=30)
    model = PosteriorSVC(views, C=1.5, tol=1e-7).fit(X, y, sample_weight=w, probabilities=P)
    labels = P.argmax(axis=1)
    R = 2.0 * (P[np.arange(30), labels][:, None] - P)
    Ks = np.moveaxis(plain_kernels(X, X), 2, 0)[: len(views)]
    np.testing.assert_allclose(model.objective_, joint_value(Ks, labels, R, 1.5 * w), rtol=1e-6)
    given = np.unique(y, return_inverse=True)[1]
    assert model.relabelled_.tolist() == np.flatnonzero(labels != given).tolist() != []


def printed_value(K, labels, P, C):
    """MCPPSVM as printed: primal variables w^l (by a root of K), b^l and slacks, the labels as given."""
    n, n_classes = P.shape
    half = root(K)
    W, b = cp.Variable((half.shape[1], n_classes)), cp.Variable(n_classes)
    slack = cp.Variable((n, n_classes), nonneg=True)
    f = half @ W + np.ones((n, 1)) @ cp.reshape(b, (1, n_classes), order="C")
    constraints = [
        f[i, labels[i]] - f[i, l] >= 2.0 * (P[i, labels[i]] - P[i, l]) - slack[i, l]
        for i in range(n)
        for l in range(n_classes)
        if l != labels[i]
    ]
    constraints += [slack[i, labels[i]] == 0 for i in range(n)]
    return conic_optimum(cp.Problem(cp.Minimize(0.5 * cp.sum_squares(W) + C * cp.sum(slack)), constraints))


@pytest.mark.parametrize("relabel", [False, True])
def test_both_problems_of_more_classes_are_the_printed_one_with_their_labels(relabel):
    X, y = make_three(30)
    P = doubtful(y)
    given, likeliest = np.unique(y, return_inverse=True)[1], P.argmax(axis=1)
    model = PosteriorSVC(VIEWS[:1], C=1.5, relabel=relabel, tol=1e-7).fit(X, y, probabilities=P)
    labels = likeliest if relabel else given
    value = printed_value(plain_kernels(X, X)[:, :, 0], labels, P, 1.5)
    np.testing.assert_allclose(model.objective_, value, rtol=1e-5)
    assert model.relabelled_.tolist() == (np.flatnonzero(likeliest != given).tolist() if relabel else [])
    other = PosteriorSVC(VIEWS[:1], C=1.5, relabel=not relabel, tol=1e-7).fit(X, y, probabilities=P)
    assert abs(other.objective_ - model.objective_) > 1e-3 * model.objective_


def test_labels_that_are_kept_have_several_kernels_and_weights_of_samples():
    X, y = make_three(30)
    P, w = doubtful(y), np.random.default_rng(3).uniform(0.5, 2.0, size=30)
    model = PosteriorSVC(VIEWS, C=1.5, relabel=False, tol=1e-7)
    model.fit(X, y, sample_weight=w, probabilities=P)
    given = np.unique(y, return_inverse=True)[1]
    R = 2.0 * (P[np.arange(30), given][:, None] - P)
    assert R.min() < 0.0  # some margins are negative
    Ks = np.moveaxis(plain_kernels(X, X), 2, 0)
    np.testing.assert_allclose(model.objective_, joint_value(Ks, given, R, 1.5 * w), rtol=1e-6)


def test_keeping_the_labels_changes_nothing_where_no_label_is_contradicted():
    X, y = make_three(40)
    P = 0.7 * certain(y) + 0.1
    models = [PosteriorSVC([VIEWS[0]], relabel=r).fit(X, y, probabilities=P) for r in (False, True)]
    np.testing.assert_array_equal(models[0].dual_coef_, models[1].dual_coef_)
    X, y = make_binary(40)  # the problem of two classes has no labels but the soft ones
    P = doubtful(y)
    models = [PosteriorSVC([VIEWS[0]], relabel=r).fit(X, y, probabilities=P) for r in (False, True)]
    np.testing.assert_array_equal(models[0].dual_coef_, models[1].dual_coef_)
    np.testing.assert_array_equal(models[0].relabelled_, models[1].relabelled_)
    assert models[0].relabelled_.size


def test_probabilities_in_another_order_are_told_of_with_kept_labels_too():
    X, y = make_three(30)
    with pytest.warns(UserWarning, match="take 30 of 30 samples for another class than their label"):
        PosteriorSVC([VIEWS[0]], relabel=False).fit(X, y, probabilities=np.roll(certain(y), 1, axis=1))


def test_more_classes_are_certified_from_outside():
    X, y = make_three(90)
    model = PosteriorSVC(VIEWS, C=2.0, tol=1e-4).fit(X, y)
    P, given = model.posteriors_, np.unique(y, return_inverse=True)[1]
    labels = np.where(P[np.arange(90), given] >= P.max(axis=1) - 1e-9, given, P.argmax(axis=1))
    f = model.decision_function(X)
    B = full_duals(model, 90).T
    q = np.array([np.trace(B.T @ K @ B) for K in np.moveaxis(plain_kernels(X, X), 2, 0)])
    missing = 2.0 * (P[np.arange(90), labels][:, None] - P) - f[np.arange(90), labels][:, None] + f
    missing[np.arange(90), labels] = 0.0
    upper = 0.5 * model.kernel_weights_ @ q + 2.0 * np.maximum(missing, 0.0).sum()
    alpha = np.where(np.eye(3)[labels] > 0, 0.0, -B)
    assert alpha.min() >= 0.0 and alpha.max() <= 2.0 + 1e-12
    np.testing.assert_allclose(B[np.arange(90), labels], alpha.sum(axis=1), atol=1e-10)
    np.testing.assert_allclose(B.sum(axis=0), 0.0, atol=1e-9)
    reward = (2.0 * (P[np.arange(90), labels][:, None] - P) * alpha).sum()
    lower = reward - 0.5 * q.max()
    assert (upper - lower) / upper <= 1e-4 * (1.0 + 1e-6)
    assert lower - 1e-9 <= model.objective_ <= upper + 1e-9


# ---------------------------------------------------------------------- outliers
def make_toy(seed, n=50, spread=0.5):
    """Three clouds, and a sample of one in the middle of another, twice: rows 0 and n."""
    rng = np.random.default_rng(seed)
    X = np.repeat(CENTRES, n, axis=0) + spread * rng.normal(size=(3 * n, 2))
    X[0], X[n] = CENTRES[1] + 0.1, CENTRES[2] - 0.1
    return X, np.repeat(["a", "b", "c"], n)


def toy_models(multiclass):
    kernels = raw([Polynomial(2)])
    return MKLClassifier(kernels, C=10.0, multiclass=multiclass), PosteriorSVC(kernels, C=10.0)


@pytest.mark.parametrize("seed", range(4))
def test_outliers_are_not_stored_and_support_vectors_are_fewer(seed):
    X, y = make_toy(seed)
    plain, soft = (model.fit(X[:100], y[:100]) for model in toy_models("ovr"))  # two classes
    assert 0 in plain.support_ and 0 not in soft.support_
    assert len(soft.support_) < len(plain.support_)
    X_new = np.repeat(CENTRES, 500, axis=0) + 0.5 * np.random.default_rng(100 + seed).normal(size=(1500, 2))
    y_new = np.repeat(["a", "b", "c"], 500)
    plain, soft = (model.fit(X, y) for model in toy_models("joint"))
    assert np.isin([0, 50], plain.support_).all()
    assert not np.isin([0, 50], soft.support_).any()
    assert np.isin([0, 50], soft.relabelled_).all()
    assert len(soft.support_) <= 0.75 * len(plain.support_)
    assert soft.score(X_new, y_new) >= plain.score(X_new, y_new)
    printed = PosteriorSVC(raw([Polynomial(2)]), C=10.0, relabel=False).fit(X, y)
    assert np.isin([0, 50], printed.support_).any()  # the problem as printed stores outliers
    assert len(soft.support_) < len(printed.support_)


# ---------------------------------------------------------------------- which side a sample is on
def test_ties_between_the_likeliest_classes_go_to_the_given_label():
    X, y = make_three(30)
    P = certain(y)
    P[:4] = [[0.4, 0.4, 0.2], [0.2, 0.4, 0.4], [0.4, 0.2, 0.4], [1 / 3, 1 / 3, 1 / 3]]
    codes = np.unique(y, return_inverse=True)[1]
    model = PosteriorSVC([VIEWS[0]]).fit(X, y, probabilities=P)
    expected = [i for i in range(3) if P[i, codes[i]] < 0.4]
    assert model.relabelled_.tolist() == expected != []
    assert model.undecided_.size == 0


def test_even_odds_of_two_classes_say_nothing():
    X, y = make_binary(60)
    P = certain(y)
    P[5], P[6], P[7] = [0.5, 0.5], 0.5 - 0.0005 * (P[6] - 0.5), 0.5 - 0.002 * (P[7] - 0.5)
    model = PosteriorSVC([VIEWS[0]], C=3.0, tol=TIGHT).fit(X, y, probabilities=P)
    assert model.undecided_.tolist() == [5, 6]
    assert model.relabelled_.tolist() == [7]  # sample 6 leans to the other side too, by next to nothing
    rest = np.setdiff1d(np.arange(60), [5, 6])
    without = PosteriorSVC([VIEWS[0]], C=3.0, tol=TIGHT).fit(X[rest], y[rest], probabilities=P[rest])
    np.testing.assert_allclose(model.objective_, without.objective_, rtol=1e-7)
    assert not np.isin([5, 6], model.support_).any()


def test_class_weights_are_those_of_the_class_that_a_sample_is_taken_for():
    X, y = make_binary(60)
    P = certain(y)
    P[3] = P[3, ::-1]
    model = PosteriorSVC([VIEWS[0]], class_weight={"no": 0.2}, tol=TIGHT).fit(X, y, probabilities=P)
    taken = np.array(["no", "yes"])[P.argmax(axis=1)]
    peer = SVC(kernel="precomputed", class_weight={"no": 0.2}, tol=TIGHT)
    K = plain_kernels(X, X)[:, :, 0]
    np.testing.assert_allclose(model.decision_function(X), peer.fit(K, taken).decision_function(K), atol=1e-4)


def test_equal_rows_are_one_sample_only_if_their_soft_labels_agree():
    X, y = make_binary(40)
    X[1], y[1] = X[0], y[0]
    P = np.clip(certain(y), 0.1, 0.9)
    same = PosteriorSVC([VIEWS[0]], tol=TIGHT).fit(X, y, probabilities=P)
    K = plain_kernels(X, X)[:, :, :1]
    stacked = PosteriorSVC("precomputed", tol=TIGHT).fit(K, y, probabilities=P)
    np.testing.assert_allclose(same.objective_, stacked.objective_, rtol=1e-7)
    P[1] = P[1, ::-1]
    model = PosteriorSVC([VIEWS[0]], tol=TIGHT).fit(X, y, probabilities=P)
    stacked = PosteriorSVC("precomputed", tol=TIGHT).fit(K, y, probabilities=P)
    np.testing.assert_allclose(model.objective_, stacked.objective_, rtol=1e-7)
    assert model.relabelled_.tolist() == [1]
    np.testing.assert_array_equal(model.posteriors_, P)
    assert abs(model.objective_ - same.objective_) > 0.1

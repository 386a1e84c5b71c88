"""All classes in one problem behind scikit-learn's interface: values, scores, what is refused."""

from functools import partial

import cvxpy as cp
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC, LinearSVC

from judges.optimum import conic_optimum
from multikernel import MKLClassifier, load_model, save_model
from multikernel.core.svm.joint.solver import solve_multiclass
from multikernel.kernels import Gaussian, Linear
from tests.mkl.data import VIEWS, make_binary, make_table, make_three, plain_kernels
from tests.raw import raw
from tests.soft_labels.test_posterior import root

NEW = make_table(25, seed=99)
Joint = partial(MKLClassifier, multiclass="joint")


def test_the_value_of_the_specification():
    """Twelve points in three classes; a linear and a quadratic kernel, gated."""
    i = np.arange(1, 13)
    X = np.column_stack([np.sin(i), np.cos(2 * i)])
    scores = np.column_stack([X, np.ones(12)]) @ np.array([[0.3, -0.2, 0.1], [-0.4, 0.5, 0.0]]).T
    gates = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    linear = X @ X.T
    K = sum(np.outer(g, g) * K for g, K in zip(gates.T, (linear, (1.0 + linear) ** 2), strict=True))
    model = Joint("precomputed", C=0.5, tol=1e-7).fit(K[:, :, None], np.arange(12) % 3)
    assert model.objective_ == pytest.approx(12.860785, abs=2e-6)


def toy(n=18):
    X, y = make_three(n)
    K = plain_kernels(X, X)[:, :, 0]
    return K, np.unique(y, return_inverse=True)[1]


def printed_primal(K, codes, C, worst_only=False):
    """Gönen's (1.9), Weston & Watkins; with one slack a sample and no intercepts, Crammer & Singer."""
    n, n_classes = codes.size, 3
    half = root(K)
    W, b = cp.Variable((half.shape[1], n_classes)), cp.Variable((1, n_classes))
    slack = cp.Variable((n, 1 if worst_only else n_classes), nonneg=True)
    f = half @ W + (0.0 if worst_only else np.ones((n, 1)) @ b)
    margin = 1.0 if worst_only else 2.0
    constraints = [
        f[i, codes[i]] - f[i, l] >= margin - slack[i, 0 if worst_only else l]
        for i in range(n)
        for l in range(n_classes)
        if l != codes[i]
    ]
    if not worst_only:
        constraints += [slack[i, codes[i]] == 0 for i in range(n)]
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(W) + C * cp.sum(slack)), constraints)
    return conic_optimum(problem), f


def printed_dual(K, codes, C):
    """Gönen's (1.11): its quadratic form, term by term, over α as one vector; the double sum is symmetric."""
    n, n_classes = codes.size, 3
    Q = np.zeros((n * n_classes, n * n_classes))
    own = np.eye(n_classes)[codes]
    for i in range(n):
        for j in range(n):
            block = np.zeros((n_classes, n_classes))
            if codes[i] == codes[j]:
                block += 1.0  # A_i A_j
            for l in range(n_classes):
                block[l, codes[i]] -= 2.0  # 2 α_i^l α_j^{y_i}
                block[l, l] += 1.0
            Q[n_classes * i : n_classes * (i + 1), n_classes * j : n_classes * (j + 1)] = K[i, j] * block
    Q = 0.5 * (Q + Q.T)
    alpha = cp.Variable(n * n_classes, nonneg=True)
    table = cp.reshape(alpha, (n, n_classes), order="C")
    A = cp.sum(table, axis=1)
    constraints = [alpha <= C * (1.0 - own).ravel()]
    constraints += [cp.sum(table[:, l]) == own[:, l] @ A for l in range(n_classes)]
    value = 2.0 * cp.sum(alpha) - 0.5 * cp.sum_squares(root(Q).T @ alpha)
    return conic_optimum(cp.Problem(cp.Maximize(value), constraints))


def test_it_is_the_printed_machine_of_all_classes():
    """Primal (1.9) and dual (1.11) as printed have the value of the model."""
    K, codes = toy()
    model = Joint("precomputed", C=0.7, tol=1e-8).fit(K[:, :, None], codes)
    primal, _ = printed_primal(K, codes, 0.7)
    assert model.objective_ == pytest.approx(primal, rel=1e-6)
    assert model.objective_ == pytest.approx(printed_dual(K, codes, 0.7), rel=1e-6)


def test_it_is_not_the_machine_of_crammer_and_singer():
    """Whose reduced dual has one constraint for each sample; no C makes the one machine the other."""
    K, codes = toy()
    _, scores = printed_primal(K, codes, 0.7, worst_only=True)
    theirs = scores.value
    gaps = []
    for C in np.logspace(-2, 1, 13):
        model = Joint("precomputed", C=C, tol=1e-6, max_iter=2000).fit(K[:, :, None], codes)
        ours = model.decision_function(K[:, :, None])
        centred = [values - values.mean(axis=1, keepdims=True) for values in (ours, theirs)]
        ratio = (centred[0] * centred[1]).sum() / (centred[0] ** 2).sum() if centred[0].any() else 0.0
        gaps.append(np.abs(ratio * centred[0] - centred[1]).max() / np.abs(centred[1]).max())
    assert min(gaps) > 0.05


class TestCrammerAndSinger:
    """`multiclass="crammer_singer"`: one slack for each sample, and no intercepts."""

    def test_it_is_the_printed_machine(self):
        """With the margin 1 as printed, C is half of ours and the scores are half."""
        K, codes = toy()
        model = MKLClassifier("precomputed", C=0.7, tol=1e-8, multiclass="crammer_singer")
        model.fit(K[:, :, None], codes)
        primal, scores = printed_primal(K, codes, 0.35, worst_only=True)
        assert model.objective_ == pytest.approx(4.0 * primal, rel=1e-6)
        assert not model.intercept_.any() and model.dual_gap_ <= 1e-8
        np.testing.assert_allclose(
            model.decision_function(K[:, :, None]), 2.0 * scores.value, atol=1e-3 * np.abs(scores.value).max()
        )

    def test_it_is_that_of_scikit_learn(self):
        X, y = make_three()
        model = MKLClassifier(raw(Linear()), C=0.2, tol=1e-9, multiclass="crammer_singer").fit(X, y)
        svc = LinearSVC(
            C=0.1, multi_class="crammer_singer", fit_intercept=False, tol=1e-9, max_iter=10**5, random_state=0
        )
        expected = 2.0 * svc.fit(X, y).decision_function(NEW)
        np.testing.assert_allclose(model.decision_function(NEW), expected, atol=1e-4)

    def test_learned_weights_with_costs_are_certified_from_outside(self):
        X, y = make_three()
        model = MKLClassifier(VIEWS, C=2.0, costs={"noise": 2.0}, tol=1e-5, multiclass="crammer_singer")
        model.fit(X, y)
        Ks = np.moveaxis(plain_kernels(X, X), 2, 0)
        B = np.zeros((3, 90))
        B[:, model.support_] = model.dual_coef_
        codes = np.searchsorted(model.classes_, y)
        d2 = np.array([1.0, 1.0, 4.0])
        q = np.array([np.trace(B @ K @ B.T) for K in Ks])
        alpha = np.where(np.arange(3)[:, None] == codes, 0.0, -B)
        assert alpha.min() >= -1e-9 and alpha.sum(axis=0).max() <= 2.0 * (1.0 + 1e-9)
        f = B @ np.tensordot(model.kernel_weights_, Ks, 1)
        slack = np.maximum(2.0 - f[codes, np.arange(90)] + f, 0.0) * (np.arange(3)[:, None] != codes)
        upper = 0.5 * model.kernel_weights_ @ q + 2.0 * slack.max(axis=0).sum()
        lower = 2.0 * alpha.sum() - 0.5 * (q / d2).max()
        np.testing.assert_allclose(model.dual_gap_, (upper - lower) / upper, atol=1e-8)
        assert model.dual_gap_ <= 1e-5
        np.testing.assert_array_equal(model.predict(X), model.classes_[f.argmax(axis=0)])

    @pytest.mark.parametrize("changes", [{"norm": 2.0}, {"norm": np.inf}, {"class_weight": "balanced"}])
    def test_other_settings_are_certified(self, changes):
        X, y = make_three()
        model = MKLClassifier(VIEWS, multiclass="crammer_singer", tol=1e-4, **changes).fit(X, y)
        assert model.status_ == "optimal" and model.dual_gap_ <= 1e-4 and model.score(X, y) > 0.8

    def test_two_classes_are_the_binary_machine(self):
        X, y = make_binary()
        models = [MKLClassifier(VIEWS, multiclass=m).fit(X, y) for m in ("ovr", "crammer_singer")]
        np.testing.assert_array_equal(*(model.decision_function(X) for model in models))

    def test_strings_weights_probabilities_and_files(self, tmp_path):
        X, y = make_three()
        weights = np.linspace(0.0, 2.0, 90)
        model = MKLClassifier(VIEWS, multiclass="crammer_singer", probability=True)
        model.fit(X, y.astype(str), sample_weight=weights)
        save_model(model, tmp_path / "model.skops")
        again = load_model(tmp_path / "model.skops")
        np.testing.assert_array_equal(again.predict_proba(NEW), model.predict_proba(NEW))
        assert clone(model).fit(X, y.astype(str), sample_weight=weights).objective_ == model.objective_
        assert cross_val_score(clone(model).set_params(probability=False), X, y, cv=3).mean() > 0.8

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"loss": "squared_hinge"}, 'multiclass="crammer_singer" needs loss="hinge"'),
            ({"C": np.inf}, 'multiclass="crammer_singer" needs a finite C'),
        ],
    )
    def test_what_is_refused(self, changes, message):
        with pytest.raises(ValueError, match=message):
            MKLClassifier(VIEWS, multiclass="crammer_singer", **changes).fit(*make_three())


def test_learned_weights_are_certified_from_outside():
    X, y = make_three()
    model = Joint(VIEWS, C=2.0, costs={"noise": 2.0}, tol=1e-5).fit(X, y)
    Ks = np.moveaxis(plain_kernels(X, X), 2, 0)
    B = np.zeros((3, 90))
    B[:, model.support_] = model.dual_coef_
    codes = np.searchsorted(model.classes_, y)
    d2 = np.array([1.0, 1.0, 4.0])
    np.testing.assert_allclose(d2 @ model.kernel_weights_, 1.0, rtol=1e-9)
    q = np.array([np.trace(B @ K @ B.T) for K in Ks])
    alpha = np.where(np.arange(3)[:, None] == codes, 0.0, -B)
    f = B @ np.tensordot(model.kernel_weights_, Ks, 1) + model.intercept_[:, None]
    slack = np.maximum(2.0 - f[codes, np.arange(90)] + f, 0.0) * (np.arange(3)[:, None] != codes)
    upper = 0.5 * model.kernel_weights_ @ q + 2.0 * slack.sum()
    lower = 2.0 * alpha.sum() - 0.5 * (q / d2).max()
    np.testing.assert_allclose(model.dual_gap_, (upper - lower) / upper, atol=1e-9)
    assert model.dual_gap_ <= 1e-5 and abs(model.intercept_.sum()) <= 1e-9
    np.testing.assert_allclose(model.decision_function(X), f.T, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), model.classes_[f.argmax(axis=0)])
    parts = model.contributions(X)
    assert parts.shape == (90, 3, 3)
    np.testing.assert_allclose(parts.sum(axis=2) + model.intercept_, f.T, atol=1e-9)


def test_two_classes_are_the_binary_machine():
    X, y = make_binary()
    model = Joint(raw(Gaussian(gamma=0.5)), C=2.0, tol=1e-7).fit(X, y)
    svc = SVC(C=2.0, gamma=0.5, tol=1e-7).fit(X, y)
    np.testing.assert_allclose(model.decision_function(NEW), svc.decision_function(NEW), atol=1e-4)
    K = Gaussian(gamma=0.5)(X, X)
    joint = solve_multiclass(K, (y == "yes").astype(int), 2, 2.0, tol=1e-8)
    np.testing.assert_allclose(2.0 * model.objective_, joint.objective, rtol=1e-6)


def test_a_class_of_its_own_price():
    X, y = make_three()
    dear = Joint(VIEWS, class_weight={"a": 100.0}).fit(X, y)
    cheap = Joint(VIEWS, class_weight={"a": 0.01}).fit(X, y)
    assert (dear.predict(X) == "a").sum() > (cheap.predict(X) == "a").sum()


def test_ten_digits_by_the_default():
    X, y = (part[:600] for part in load_digits(return_X_y=True))
    ours, theirs = (cross_val_score(model, X, y, cv=3).mean() for model in (Joint(), SVC()))
    assert ours >= theirs


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "squared_hinge"}, "needs loss=\"hinge\"; got 'squared_hinge'"),
        ({"C": np.inf}, "needs a finite C; got inf"),
        ({"C": "learn"}, 'needs loss="squared_hinge"'),
    ],
)
def test_what_one_machine_cannot_do(parameters, message):
    with pytest.raises(ValueError, match=message):
        Joint(VIEWS, **parameters).fit(*make_three())

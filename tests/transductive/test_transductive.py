"""The transductive classifier: its attributes from outside, prediction, input, and what it refuses."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn import config_context
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from judges.tests.test_conic_alignment import random_problem
from multikernel import MKLClassifier, stack_kernels
from multikernel.core.alignment import alignment, learn_alignment
from multikernel.kernels import Gaussian, Linear, Polynomial
from multikernel.report import render_markdown, summarize
from multikernel.transductive import TransductiveMKLClassifier
from tests.judged import BOTH, solved_by
from tests.mkl.data import VIEWS, make_binary, make_three
from tests.raw import raw
from tests.test_bad_input import refuses

KERNELS = raw([Polynomial(degree=2), Gaussian(gamma=0.3), Linear()])
CRITERIA = [("hard", 1.0), ("soft1", 1.0), ("soft2", 1.0), ("soft2", "learn"), ("alignment", 1.0)]
WEIGHTS = ["nonnegative", "free", "spectral"]


def split(n=70, n_train=45, seed=0):
    X, y = make_binary(n, seed)
    return X[:n_train], y[:n_train], X[n_train:], y[n_train:]


def fitted(kernels=KERNELS, seed=0, **parameters):
    return TransductiveMKLClassifier(kernels, **{"tol": 1e-8, **parameters}).fit(*split(seed=seed)[:3])


def plain_stack(X):
    """KERNELS over the rows of X, written out, with the defaults of the classes."""
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return np.stack([Polynomial(degree=2)(X), np.exp(-0.3 * squares), X @ X.T])


# ---------------------------------------------------------------------- what is learned
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("criterion", "C"), CRITERIA)
def test_attributes_agree_with_one_another(criterion, C, weights):
    X, y, X_new, _ = split()
    model = fitted(method=criterion, C=C, weight_set=weights)
    Ks = plain_stack(np.vstack([X, X_new]))
    n, N = Ks.shape[1], len(y)
    K = model.kernel_
    assert K.shape == (n, n) and model.status_ == "optimal" and model.dual_gap_ <= 1e-8
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K)[0] >= -1e-9 * np.trace(K)
    if weights != "spectral":
        np.testing.assert_allclose(K, np.tensordot(model.kernel_weights_, Ks, 1), atol=1e-9 * np.abs(K).max())
    else:
        V = model.eigenvectors_
        np.testing.assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-10)
        np.testing.assert_allclose(K, V @ np.diag(model.kernel_weights_) @ V.T, atol=1e-9 * np.abs(K).max())
    if C != "learn":
        assert [np.inf if criterion == "hard" else C] == model.C_
    tau = 1.0 / model.C_[0] if criterion == "soft2" else 0.0
    c = np.trace(Ks, axis1=1, axis2=2).sum() + (n if C == "learn" else 0)
    assert model.trace_ == pytest.approx(c)
    assert np.trace(K) + (n * tau if C == "learn" else 0.0) == pytest.approx(c)
    beta = np.zeros(N)
    beta[model.support_] = model.dual_coef_[0]
    scores = K[:, :N] @ beta + model.intercept_[0]
    np.testing.assert_allclose(model.transduction_scores_, scores[N:], atol=1e-9)
    np.testing.assert_array_equal(model.transduction_, model.classes_[(scores[N:] > 0).astype(int)])
    t = np.where(y == model.classes_[1], 1.0, -1.0)
    if criterion == "alignment" and weights == "free":
        value = t @ K[:N, :N] @ t / np.linalg.norm(K)
        assert model.objective_ == pytest.approx(value, rel=1e-9)
    if criterion != "alignment":
        a = t * beta
        assert a.min() >= 0 and abs(beta.sum()) <= 1e-9 * a.max()
        omega = 2.0 * a.sum() - beta @ (K[:N, :N] + tau * np.eye(N)) @ beta
        assert model.objective_ == pytest.approx(omega, rel=1e-9)


@pytest.mark.parametrize("who", BOTH)
def test_the_machine_is_the_support_vector_machine_of_the_learned_kernel(who):
    y = split()[1]
    with solved_by(who):
        model = fitted(weight_set="free", C=0.7)
    N = len(y)
    svc = SVC(C=0.7, kernel="precomputed", tol=1e-8).fit(model.kernel_[:N, :N], y)
    np.testing.assert_allclose(
        svc.decision_function(model.kernel_[N:, :N]), model.transduction_scores_, atol=1e-4
    )


@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_parzen_window_is_the_mean_of_the_labels_by_similarity(weights):
    """f = K y / N on the matrix of best alignment, whose mean margin is the alignment times ‖K‖ / N."""
    y = split()[1]
    machine = fitted(method="alignment", weight_set=weights)
    window = fitted(method="alignment", weight_set=weights, classifier="parzen")
    np.testing.assert_allclose(window.kernel_, machine.kernel_, rtol=1e-12)
    assert window.objective_ == machine.objective_ and window.dual_gap_ <= 1e-8
    N, K = len(y), window.kernel_
    t = np.where(y == window.classes_[1], 1.0, -1.0)
    scores = np.array([sum(t[j] * K[i, j] for j in range(N)) / N for i in range(len(K))])
    np.testing.assert_allclose(window.transduction_scores_, scores[N:], rtol=1e-9)
    assert window.intercept_ == [0.0] and np.isnan(window.C_).all()
    train = K[:N, :N]
    assert np.mean(t * scores[:N]) == pytest.approx(
        alignment(train, np.outer(t, t)) * np.linalg.norm(train) / N
    )


def test_sample_weights_balance_the_parzen_window():
    X, y, X_new, _ = split()
    t = np.where(y == np.unique(y)[1], 1.0, -1.0)
    sizes = np.where(t > 0, (t > 0).sum(), (t < 0).sum())
    model = TransductiveMKLClassifier(KERNELS, method="alignment", classifier="parzen")
    model.fit(X, y, X_new, sample_weight=1.0 / sizes)
    K = model.kernel_[45:, :45]
    means = K[:, t > 0].mean(axis=1) - K[:, t < 0].mean(axis=1)
    np.testing.assert_allclose(model.transduction_scores_, 0.5 * means, rtol=1e-9)
    with refuses('classifier="parzen" needs method="alignment"; got method=\'soft2\''):
        fitted(method="soft2", classifier="parzen")


def test_weights_of_any_sign_reach_further_than_nonnegative_ones():
    free, nonnegative = (
        fitted(seed=3, weight_set=weights, method="soft2") for weights in ("free", "nonnegative")
    )
    assert free.objective_ < nonnegative.objective_ * (1.0 - 1e-4)
    assert free.kernel_weights_.min() < -1e-3 and nonnegative.kernel_weights_.min() >= 0.0


@pytest.mark.parametrize(
    ("loss", "C"), [("hinge", 1.0), ("squared_hinge", 1.0), ("squared_hinge", "learn"), ("hinge", np.inf)]
)
def test_the_inductive_classifier_has_the_same_optimum(loss, C):
    """Unit-diagonal kernels: the trace c = 3n (4n with the identity), so that their C is c/n times ours."""
    X, y, X_new, _ = split()
    views = [replace(view, normalize="diagonal") for view in KERNELS]
    criterion = "hard" if np.inf == C else {"hinge": "soft1", "squared_hinge": "soft2"}[loss]
    transductive = fitted(views, method=criterion, C=1.0 if np.inf == C else C, tol=1e-10)
    factor = 4.0 if C == "learn" else 3.0
    inductive = MKLClassifier(views, loss=loss, C=C if isinstance(C, str) else factor * C, tol=1e-9).fit(X, y)
    assert transductive.objective_ == pytest.approx(2.0 / factor * inductive.objective_, rel=1e-7)
    np.testing.assert_allclose(transductive.kernel_weights_, factor * inductive.kernel_weights_, atol=1e-4)
    np.testing.assert_allclose(
        transductive.transduction_scores_, inductive.decision_function(X_new), atol=1e-3
    )
    if C == "learn":
        np.testing.assert_allclose(factor * inductive.C_**-1, transductive.C_**-1, atol=1e-5)


def test_only_the_product_of_C_and_trace_matters():
    one, two = fitted(weight_set="free", C=0.4, trace=200.0), fitted(weight_set="free", C=4.0, trace=20.0)
    np.testing.assert_allclose(one.kernel_weights_, 10.0 * two.kernel_weights_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(one.transduction_scores_, two.transduction_scores_, atol=1e-5)
    assert one.objective_ == pytest.approx(two.objective_ / 10.0, rel=1e-7)


def test_three_classes_have_a_matrix_each():
    X, y = make_three(60)
    model = TransductiveMKLClassifier(KERNELS, weight_set="free", method="soft2").fit(X[:40], y[:40], X[40:])
    assert model.kernel_.shape == (3, 60, 60) and model.transduction_scores_.shape == (20, 3)
    for k, label in enumerate(model.classes_):
        binary = TransductiveMKLClassifier(KERNELS, weight_set="free", method="soft2")
        binary.fit(X[:40], np.where(y[:40] == label, 1, -1), X[40:])
        np.testing.assert_allclose(model.kernel_[k], binary.kernel_, atol=1e-9)
        np.testing.assert_allclose(model.transduction_scores_[:, k], binary.transduction_scores_, atol=1e-9)
    np.testing.assert_array_equal(
        model.transduction_, model.classes_[model.transduction_scores_.argmax(axis=1)]
    )
    assert list(model.weights_frame().columns) == ["weight", "weight[a]", "weight[b]", "weight[c]"]


@pytest.mark.parametrize("weights", ["nonnegative", "free"])
def test_dependent_kernels_are_named(weights):
    views = raw([("one", Linear()), ("other", Gaussian(gamma=0.3)), ("again", 2.0 * Linear())])
    with pytest.warns(UserWarning, match=r"kernels one, again are linearly dependent.*weights are not"):
        doubled = fitted(views, weight_set=weights, trace=100.0)
    single = fitted(views[:2], weight_set=weights, trace=100.0)
    assert doubled.objective_ == pytest.approx(single.objective_, rel=1e-7)
    np.testing.assert_allclose(doubled.kernel_, single.kernel_, atol=1e-4)


def test_the_identity_beside_a_learned_C_is_named():
    X, y, X_new, _ = split()
    stack = stack_kernels([*plain_stack(np.vstack([X, X_new])), np.eye(70)])
    model = TransductiveMKLClassifier("precomputed", method="soft2", C="learn")
    with pytest.warns(UserWarning, match=r"kernels kernel-3, the identity .* are linearly dependent"):
        model.fit(stack[:45], y, stack[45:])


# ---------------------------------------------------------------------- the same points in other clothes
@pytest.mark.parametrize("weights", WEIGHTS)
def test_tables_frames_sparse_and_stacks_are_the_same(weights):
    X, y, X_new, _ = split()

    def scores(kernels, first, second):
        model = TransductiveMKLClassifier(kernels, weight_set=weights, n_components=15).fit(first, y, second)
        return model.transduction_scores_

    expected = scores(KERNELS, X, X_new)
    names = list("pqrs")
    frames = pd.DataFrame(X, columns=names), pd.DataFrame(X_new, columns=names)
    sparse = scipy.sparse.csr_matrix(X), scipy.sparse.csr_array(X_new)
    stack = stack_kernels(list(plain_stack(np.vstack([X, X_new]))))
    np.testing.assert_allclose(scores(KERNELS, *frames), expected, atol=1e-7)
    np.testing.assert_allclose(scores(KERNELS, *sparse), expected, atol=1e-6)
    np.testing.assert_allclose(scores("precomputed", stack[:45], stack[45:]), expected, atol=1e-6)


def test_free_weights_pass_the_check_of_positive_semidefiniteness():
    """Three labelled points, kernels with eigenvalues down to rounding: small directions count too."""
    X = np.array([-0.05039, -0.19588, -0.03384, 0.10848, -0.09371, 0.09884, -0.04282, -0.0587])[:, None]
    for who in BOTH:
        model = TransductiveMKLClassifier(raw([Linear(), Gaussian()]), weight_set="free", C=100.0, tol=1e-8)
        with warnings.catch_warnings(), solved_by(who):
            warnings.simplefilter("ignore")  # Clarabel stays just above the default tolerance
            K = model.fit(X[:3], [0, 1, 1], X[3:]).kernel_
        assert model.dual_gap_ <= 1e-7
        assert np.linalg.eigvalsh(K)[0] >= -2e-9 * np.trace(K) / len(K)


def test_a_pipeline_transforms_the_unlabelled_points_too():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:90], y[:90]
    scaler = StandardScaler().fit(X[:50])
    plain = TransductiveMKLClassifier(raw([Linear(), Gaussian()]))
    expected = plain.fit(scaler.transform(X[:50]), y[:50], scaler.transform(X[50:])).transduction_
    with config_context(enable_metadata_routing=True):
        last = TransductiveMKLClassifier(raw([Linear(), Gaussian()])).set_fit_request(X_unlabeled=True)
        pipeline = Pipeline([("scale", StandardScaler()), ("fit", last)], transform_input=["X_unlabeled"])
        pipeline.fit(X[:50], y[:50], X_unlabeled=X[50:])
    np.testing.assert_array_equal(pipeline["fit"].transduction_, expected)


# ---------------------------------------------------------------------- other points
@pytest.mark.parametrize(("kernels", "weights"), [(KERNELS, "nonnegative"), (KERNELS[1:2], "free")])
def test_weights_that_are_nonnegative_predict_exactly_and_without_a_warning(kernels, weights):
    X_new, model = split()[2], fitted(kernels, weight_set=weights, method="soft2")
    np.testing.assert_allclose(model.decision_function(X_new), model.transduction_scores_, atol=1e-10)
    np.testing.assert_array_equal(model.predict(X_new), model.transduction_)


@pytest.mark.parametrize("weights", ["free", "spectral"])
def test_the_extension_is_exact_on_the_points_of_fit_and_warns(weights):
    model = fitted(seed=3, weight_set=weights, method="soft2", n_components=12)
    with pytest.warns(UserWarning, match="smallest"):
        scores = model.decision_function(split(seed=3)[2])
    np.testing.assert_allclose(scores, model.transduction_scores_, atol=1e-7)


def test_the_warning_names_the_smallest_eigenvalue_with_a_new_point():
    X, _, X_new, _ = split(seed=3)
    model = fitted(seed=3, weight_set="free", method="soft2")
    other = np.random.default_rng(5).normal(size=(4, 4)) * 3.0
    lowest = np.inf
    for x in other:
        Ks = plain_stack(np.vstack([X, X_new, x]))
        lowest = min(lowest, np.linalg.eigvalsh(np.tensordot(model.kernel_weights_, Ks, 1))[0])
    assert lowest < -1e-3
    with pytest.warns(UserWarning) as caught:
        model.predict(other)
    text = str(caught[0].message)
    assert f"is {lowest:.3g} (no longer a kernel)." in text and "X_unlabeled" in text
    assert caught[0].filename == __file__


def test_precomputed_rows_at_prediction_carry_all_columns():
    X, y, X_new, _ = split(seed=3)
    stack = stack_kernels(list(plain_stack(np.vstack([X, X_new]))))
    model = TransductiveMKLClassifier("precomputed", weight_set="free").fit(stack[:45], y, stack[45:])
    with pytest.warns(UserWarning, match="points of fit is"):
        scores = model.decision_function(stack[45:])
    np.testing.assert_allclose(scores, model.transduction_scores_, atol=1e-8)


def test_contributions_add_up():
    model = fitted(VIEWS)
    parts = model.contributions(split()[2])
    assert parts.shape == (25, 3)
    np.testing.assert_allclose(
        parts.sum(axis=1) + model.intercept_[0], model.transduction_scores_, atol=1e-10
    )


# ---------------------------------------------------------------------- scikit-learn
@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_report_can_be_made(weights):
    model = fitted(seed=3, weight_set=weights, n_components=5)
    summary = summarize(model)
    assert [row["weight"] for row in summary["weights"]] == pytest.approx(list(model.kernel_weights_))
    used = np.count_nonzero(model.kernel_weights_)
    assert f"{used} of {model.kernel_weights_.size} views" in render_markdown(summary)


def test_a_learned_C_that_leaves_nothing_for_the_kernels():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(20, 2)), rng.integers(0, 2, 20)
    model = TransductiveMKLClassifier(
        raw([Linear(), Polynomial(degree=2)]), method="soft2", C="learn", tol=1e-8
    )
    with pytest.warns(UserWarning, match=r"no kernel has a weight.*fixed C") as caught:
        model.fit(X, y)
    assert caught[0].filename == __file__
    assert not model.kernel_weights_.any() and not model.kernel_.any()
    np.testing.assert_allclose(model.decision_function(X), model.intercept_[0])


# ---------------------------------------------------------------------- what it refuses
def test_inseparable_classes():
    with refuses("needs separable classes", "'yes' from 'no'", 'method="soft1" or "soft2"'):
        fitted(raw([Linear()]), method="hard")
    X, y = make_three(60)
    with refuses("needs separable classes", "from the rest"):
        TransductiveMKLClassifier(raw([Linear()]), method="hard").fit(X, y)


def test_a_large_kernel_is_looked_at_whole():
    """Beyond the size where a bank factors every kernel, one negative eigenvalue is still found."""
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.normal(size=(600, 600)))
    K = (Q * np.r_[-0.02, np.ones(599)]) @ Q.T
    stack = np.stack([0.5 * (K + K.T), np.eye(600)], axis=2)
    y = np.where(rng.normal(size=600) > 0, 1, -1)
    with refuses("kernel 'kernel-0'", "smallest eigenvalue -0.02"):
        TransductiveMKLClassifier("precomputed").fit(stack, y)


def test_weights_of_any_sign_that_would_not_fit_in_memory(monkeypatch):
    stack = 3 * 70 * 70 * 8
    module = "multikernel.transductive.classifier.available_memory"
    monkeypatch.setattr(module, lambda: 5 * stack - 1)
    with refuses('weight_set="free" on 70 points and 3 kernels needs', "fewer unlabelled points"):
        fitted(weight_set="free")
    fitted()
    monkeypatch.setattr(module, lambda: 5 * stack)
    fitted(weight_set="free")


def test_labels_of_the_unlabelled_points():
    X, y, X_new, y_new = split()
    with refuses("labels of the 45 rows of X only", "got 70", "y[:45]"):
        TransductiveMKLClassifier(KERNELS).fit(X, np.r_[y, y_new], X_new)
    with refuses("X_unlabeled must hold the unlabelled points themselves", "1 dimension"):
        TransductiveMKLClassifier(KERNELS).fit(X, y, y_new)


def test_points_that_do_not_fit_together():
    X, y, X_new, _ = split()
    with refuses("X_unlabeled does not go with X", "3 features", "4 features"):
        TransductiveMKLClassifier(KERNELS).fit(X, y, X_new[:, :3])
    with refuses('weight_set="free" needs', "X_unlabeled"):
        TransductiveMKLClassifier(KERNELS, weight_set="free").fit(X, y, X_new[:0])
    assert TransductiveMKLClassifier(KERNELS).fit(X, y, X_new[:0]).transduction_.shape == (0,)
    with refuses("both DataFrames or both arrays", "ndarray", error=TypeError):
        TransductiveMKLClassifier(KERNELS).fit(pd.DataFrame(X, columns=list("abcd")), y, X_new)
    stack = np.moveaxis(plain_stack(np.vstack([X, X_new])), 0, 2)
    for columns in (45, 60):
        with refuses("similarities to all points", "(45, 70, n_kernels)", f"(45, {columns}, 3)"):
            TransductiveMKLClassifier("precomputed").fit(stack[:45, :columns], y, stack[45:, :60])


@pytest.mark.parametrize(
    ("parameters", "parts"),
    [
        ({"C": "learn"}, ('C="learn" needs method="soft2"', "soft1")),
        ({"C": "auto", "method": "soft2"}, ("C must be a positive number", "auto")),
        ({"C": np.inf}, ("C must be finite", 'method="hard"')),
        ({"trace": 1e300}, ("trace must lie between",)),
        ({"trace": np.inf}, ("trace must be finite",)),
    ],
)
def test_parameters(parameters, parts):
    with refuses(*parts):
        fitted(**parameters)


def test_a_column_of_unlabelled_points_that_is_not_finite():
    X, y, X_new, _ = split()
    bad = X_new.copy()
    bad[2, 1] = np.nan
    with refuses("NaN", "row 47", "Rows from 45 on are those of X_unlabeled"):
        TransductiveMKLClassifier(KERNELS).fit(X, y, bad)


def test_unlabelled_points_marked_by_a_label():
    X, y = make_binary(60)
    labels = np.where(y == "yes", 1, 0)
    labels[40:] = -1
    with pytest.warns(UserWarning, match="label -1 is treated as a class.*X_unlabeled"):
        TransductiveMKLClassifier(KERNELS, method="soft2").fit(X, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TransductiveMKLClassifier(KERNELS).fit(X, np.where(y == "yes", 1, -1))


@pytest.mark.parametrize("who", BOTH)
def test_two_equal_points_of_both_classes(who):
    """No function tells them apart: each costs C, and ω = 2 · 2C, whatever the kernel."""
    X = np.array([-0.42347, -0.42347, 0.30793, 0.02067, -0.35628, -0.46641, -0.42347])[:, None]
    model = TransductiveMKLClassifier(
        raw([Linear(), Gaussian()]), weight_set="free", C=100.0, trace=1.0, tol=1e-8
    )
    with solved_by(who):
        assert model.fit(X[:2], [0, 1], X[2:]).objective_ == pytest.approx(400.0, rel=1e-7)


def test_the_gap_of_the_alignment_counts():
    Ks, y = random_problem(1)
    stack = np.moveaxis(Ks, 0, 2)
    model = TransductiveMKLClassifier(
        "precomputed", method="alignment", weight_set="free", max_iter=9, tol=1e-8
    )
    with pytest.warns(UserWarning, match="did not reach tol"):
        model.fit(stack[: y.size], y, stack[y.size :])
    alone = learn_alignment(Ks, y, "free", max_iter=9)
    assert alone.gap > 1e-7
    assert model.dual_gap_ >= alone.gap and model.status_ == "max_iter"


def test_a_weight_multiplies_the_C_of_a_point():
    X, y, X_new, _ = split()
    doubled = fitted(C=2.0)
    weighted = TransductiveMKLClassifier(KERNELS, tol=1e-8).fit(
        X, y, X_new, sample_weight=np.full(len(y), 2.0)
    )
    np.testing.assert_allclose(weighted.transduction_scores_, doubled.transduction_scores_, atol=1e-5)
    some = np.where(np.arange(len(y)) % 2, 1e-3, 1.0)
    model = TransductiveMKLClassifier(KERNELS, tol=1e-8).fit(X, y, X_new, sample_weight=some)
    assert (np.abs(model.dual_coef_[0]) <= some[model.support_] * (1 + 1e-9)).all()
    assert model.dual_gap_ <= 1e-8
    with refuses("sample_weight must be positive", "row 0"):
        TransductiveMKLClassifier(KERNELS).fit(X, y, X_new, sample_weight=np.arange(len(y)))
    with refuses("sample_weight multiplies C", 'method="soft1"'):
        TransductiveMKLClassifier(KERNELS, method="hard").fit(X, y, X_new, sample_weight=some)

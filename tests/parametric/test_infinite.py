"""Estimators that learn widths: from views to families and back, what they keep, what they refuse."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from multikernel import Gaussian, KernelBank, Laplacian, Linear, MKLClassifier, View
from multikernel.parametric import InfiniteMKLClassifier, InfiniteMKLOneClass, InfiniteMKLRegressor

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(80, 3))
Y = np.sin(8 * X[:, 0]) + 0.1 * RNG.normal(size=80)
VIEWS = [("wave", Gaussian(), [0]), ("line", Linear(), [1]), ("city", Laplacian(), [1, 2])]
NEW = RNG.uniform(-1, 1, size=(20, 3))


def test_predictions_are_those_of_the_kernels_that_were_found():
    bank = KernelBank(VIEWS, standardize=False, normalize=None)
    model = InfiniteMKLRegressor(bank, C=10.0).fit(X, Y)
    frame = model.weights_frame()
    assert set(frame["view"]) >= {"line", "wave"} and frame.index.tolist() == model.view_names_
    kernels = {
        "wave": lambda g: rbf_kernel(NEW[:, [0]], X[:, [0]][model.support_], gamma=g),
        "line": lambda g: NEW[:, [1]] @ X[:, [1]][model.support_].T,
        "city": lambda g: laplacian_kernel(NEW[:, 1:], X[:, 1:][model.support_], gamma=g),
    }
    K = sum(row.weight * kernels[row.view](row.gamma) for row in frame.itertuples())
    expected = K @ model.dual_coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.predict(NEW), expected, rtol=1e-9, atol=1e-9)
    assert np.isnan(frame["gamma"][frame["view"] == "line"]).all()
    np.testing.assert_allclose(model.contributions(NEW).sum(axis=1) + model.intercept_, expected, atol=1e-9)


def test_kernels_are_divided_by_their_variance_at_each_width():
    model = InfiniteMKLClassifier([("wave", Gaussian(), [0])], C=10.0).fit(X, Y > 0)
    stack = KernelBank([View(f"{g}", Gaussian(gamma=float(g)), [0]) for g in model.gammas_]).fit_transform(X)
    K = stack @ model.kernel_weights_
    scores = K[:, model.support_] @ model.dual_coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-8, atol=1e-8)


def test_widths_are_in_the_box_and_no_list_of_widths_is_better():
    views = [View("wave", Gaussian(), [0]), View("city", Laplacian(), [1, 2])]
    estimates = {view.name: view.gamma for view in (
        type("E", (), {"name": f.name, "gamma": f.kernel.gamma}) for f in KernelBank(views).fit(X).views_
    )}  # fmt: skip
    box = {"wave": (0.5, 50.0)}
    model = InfiniteMKLClassifier(views, C=5.0, box=box, tol=1e-4).fit(X, Y > 0)
    intervals = {"wave": (0.5, 50.0), "city": (1 / 16, 16.0)}
    for row in model.weights_frame().itertuples():
        low, high = intervals[row.view]
        share = row.gamma / estimates[row.view]
        assert low * (1 - 1e-9) <= share <= high * (1 + 1e-9)
    of_list = [
        View(f"{view.name}-{k}", type(view.kernel)(gamma=float(gamma)), view.columns)
        for view in views
        for k, gamma in enumerate(np.geomspace(*np.multiply(intervals[view.name], estimates[view.name]), 25))
    ]
    listed = MKLClassifier(of_list, C=5.0, tol=1e-4).fit(X, Y > 0)
    # both are dual values, 1e-4 below the optimal value at most; fewer kernels have a larger one
    assert model.objective_ <= listed.objective_ * (1 + 2e-4)
    assert listed.objective_ <= model.objective_ * 1.01


def test_widths_without_weight_are_left_out():
    model = InfiniteMKLRegressor(VIEWS, C=10.0).fit(X, Y)
    frame = model.weights_frame()
    learned = frame[frame["gamma"].notna()]
    assert (learned["weight"] > 0.0).all()
    by_width = learned.sort_values(
        ["view", "gamma"], key=lambda column: column.replace({"wave": 0, "city": 1})
    )
    assert learned.index.tolist() == by_width.index.tolist()


def test_matrices_are_kernels_as_they_are():
    grams = np.stack([rbf_kernel(X, gamma=g) for g in (0.5, 5.0)], axis=2)
    model = InfiniteMKLClassifier("precomputed", tol=1e-7).fit(grams, Y > 0)
    plain = MKLClassifier("precomputed", tol=1e-7).fit(grams, Y > 0)
    np.testing.assert_allclose(model.kernel_weights_, plain.kernel_weights_, atol=1e-3)
    assert np.isnan(model.gammas_).all()


def test_automatic_kernels_of_the_same_columns_are_one_family():
    model = InfiniteMKLClassifier().fit(X, Y > 0)
    assert set(model.weights_frame()["view"]) <= {"linear", "quadratic", "gaussian", "rank-laplacian"}
    novelty = InfiniteMKLOneClass(nu=0.2).fit(X)
    assert set(novelty.weights_frame()["view"]) <= {"linear", "quadratic", "gaussian"}
    assert 0.1 <= np.mean(novelty.predict(X) < 0) <= 0.3


def test_several_classes_share_widths():
    classes = np.digitize(Y, [-0.5, 0.5])
    model = InfiniteMKLClassifier(VIEWS, C=10.0, probability=True).fit(X, classes)
    assert model.machine_weights_.shape == (3, len(model.view_names_))
    assert np.ptp(model.machine_weights_, axis=0).max() == 0.0
    assert model.predict_proba(NEW).shape == (20, 3)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared"])
def test_regressors_learn_the_wave(loss):
    model = InfiniteMKLRegressor(VIEWS, loss=loss, C=10.0, tol=1e-5).fit(X, Y)
    assert model.status_ == "optimal" and model.dual_gap_ <= 1e-5
    assert model.score(NEW, np.sin(8 * NEW[:, 0])) > 0.9
    assert model.weights_frame().groupby("view")["weight"].sum().idxmax() == "wave"


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"box": 3.0}, "box must be a pair"),
        ({"box": (2.0, 1.0)}, "low < high"),
        ({"box": (1e-9, 1.0)}, "1e-06"),
        ({"box": {"ghost": (0.1, 1.0)}}, "'ghost', which is not a view"),
        ({"box": {"line": (0.1, 1.0)}}, "'line', which is not a view whose width is learned"),
        ({"loss": "squared"}, "loss"),
        ({"C": -1.0}, "C must"),
    ],
)
def test_what_is_refused(params, words):
    with pytest.raises(ValueError, match=words):
        InfiniteMKLClassifier(VIEWS, **params).fit(X, Y > 0)


def test_transforms_are_refused_where_a_width_is_learned():
    views = [View("wave", Gaussian(), [0], transforms="center")]
    with pytest.raises(ValueError, match="view 'wave' has transforms"):
        InfiniteMKLClassifier(views).fit(X, Y > 0)
    fixed = [View("wave", Gaussian(gamma=2.0), [0], transforms="center")]
    assert InfiniteMKLClassifier(fixed).fit(X, Y > 0).kernel_weights_.size == 1


def test_widths_need_two_samples_that_differ():
    with pytest.raises(ValueError, match=r"two samples at least that differ; got n_samples=6, all the same"):
        InfiniteMKLOneClass(Gaussian()).fit(np.ones((6, 2)))
    with pytest.raises(ValueError, match=r"two samples at least that differ; got n_samples=1\.$"):
        InfiniteMKLRegressor(Gaussian()).fit(np.ones((1, 2)), [1.0])

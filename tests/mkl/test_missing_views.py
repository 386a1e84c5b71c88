"""Estimators on samples that lack views: at fit, at prediction, and by how much accuracy falls."""

import warnings
from dataclasses import replace

import cvxpy as cp
import dask.array
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from multikernel import KernelBank, MKLClassifier, MKLOneClass, MKLRegressor, MKLRidge, stack_kernels
from multikernel.discriminant import KernelDiscriminantClassifier
from multikernel.inspection import evaluate
from multikernel.io.models import load_model, save_model
from multikernel.kernels import Gaussian, Linear
from multikernel.report import render_markdown, summarize
from tests.raw import raw
from tests.stored import stored

COLUMNS = {"one": [0, 1], "two": [2, 3], "three": [4, 5]}
VIEWS = raw([(name, Gaussian(gamma=0.3), columns) for name, columns in COLUMNS.items()])
WAYS = ("renormalize", "absent", "mean", "complete")
everyway = pytest.mark.parametrize("missing", WAYS)


def data(n, seed, noise=0.6):
    """Three noisy looks at the same two hidden numbers, which decide the class."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 2))
    X = np.hstack([hidden + noise * rng.normal(size=(n, 2)) for _ in COLUMNS])
    return X, hidden[:, 0] * hidden[:, 1], np.where(hidden[:, 0] * hidden[:, 1] > 0, "same", "other")


def hide(X, share, seed=1):
    """Views of samples hidden by chance; every sample keeps one."""
    rng = np.random.default_rng(seed)
    has = rng.random((len(X), 3)) >= share
    has[np.arange(len(X)), rng.integers(3, size=len(X))] = True
    return without(X, has)


def without(X, has):
    X = np.array(X)
    for columns, present in zip(COLUMNS.values(), np.asarray(has).T, strict=True):
        X[np.ix_(~present, columns)] = np.nan
    return X


X, VALUES, LABELS = data(60, 0)
GAPPY = hide(X, 0.3)
NEW, _, NEW_LABELS = data(30, 5)
ALL = [
    MKLClassifier(VIEWS, norm=2.0),
    MKLClassifier(VIEWS, multiclass="ovo", norm=2.0, loss="squared_hinge"),
    MKLRegressor(VIEWS),
    MKLRidge(VIEWS),
    MKLOneClass(VIEWS, nu=0.3),
]
THREE = np.where(VALUES > 0.7, "far", LABELS)


def target(model):
    if isinstance(model, MKLClassifier):
        return LABELS if model.multiclass == "ovr" else THREE
    return VALUES


def scores(model, X):
    return model.predict(X) if isinstance(model, MKLRegressor | MKLRidge) else model.decision_function(X)


def fit(model, missing, X=GAPPY, **settings):
    return stored(model, missing=missing, **settings).fit(X, target(model))


# ---------------------------------------------------------------------- the same as ever
@everyway
@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_where_nothing_is_missing_nothing_changes(model, missing):
    plain, new = clone(model).fit(X, target(model)), fit(model, missing, X)
    np.testing.assert_allclose(new.kernel_weights_, plain.kernel_weights_, rtol=1e-12)
    np.testing.assert_allclose(scores(new, NEW), scores(plain, NEW), rtol=1e-8, atol=1e-10)
    assert new.objective_ == pytest.approx(plain.objective_, rel=1e-12)


@everyway
@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_every_estimator_learns_and_predicts_with_gaps(model, missing, tmp_path):
    fitted = fit(model, missing, tol=1e-4)
    assert fitted.dual_gap_ <= 1e-4
    new = hide(NEW, 0.3, 3)
    found = scores(fitted, new)
    assert np.isfinite(found).all()
    assert np.ptp(found) > 0
    parts = fitted.contributions(new)
    if not (isinstance(model, MKLClassifier) and model.multiclass == "ovo"):
        np.testing.assert_allclose(parts.sum(axis=-1) + fitted.intercept_, found, atol=1e-10)
    again = load_model(save_model(fitted, tmp_path / "model.skops"))
    np.testing.assert_array_equal(scores(again, new), found)
    assert fitted.weights_frame()["weight"].tolist() == fitted.kernel_weights_.tolist()


# ---------------------------------------------------------------------- training samples as new ones
@everyway
@pytest.mark.parametrize("norm", [1.0, 2.0])
def test_training_samples_come_back_with_the_scores_that_they_had(missing, norm):
    """At the solution of ridge regression, prediction = target − alpha · dual."""
    model = fit(MKLRidge(VIEWS, alpha=0.7, norm=norm), missing, tol=1e-10, max_iter=1000)
    np.testing.assert_allclose(model.predict(GAPPY), VALUES - 0.7 * model.dual_coef_[0], atol=2e-5)


# ---------------------------------------------------------------------- renormalized: the definition
def test_renormalized_kernels_are_those_of_the_definition():
    model = fit(MKLRidge(VIEWS, alpha=0.5, norm=2.0), "renormalize", tol=1e-10, max_iter=1000)
    has, mu = ~np.isnan(GAPPY[:, [0, 2, 4]]), model.kernel_weights_
    c = np.sqrt(np.minimum(mu.sum() / (has @ mu), 3.0 / has.sum(axis=1)))
    new = hide(NEW, 0.3, 3)
    has_new = ~np.isnan(new[:, [0, 2, 4]])
    c_new = np.sqrt(np.minimum(mu.sum() / (has_new @ mu), 3.0 / has_new.sum(axis=1)))
    K, K_new = np.zeros((60, 60)), np.zeros((30, 60))
    for m, (kernel, columns) in enumerate((view.kernel, view.columns) for view in VIEWS):
        K += mu[m] * np.nan_to_num(kernel(np.nan_to_num(X[:, columns]))) * np.outer(has[:, m], has[:, m])
        both = np.outer(has_new[:, m], has[:, m])
        K_new += mu[m] * kernel(NEW[:, columns], X[:, columns]) * both
    K *= np.outer(c, c)
    ones = np.ones(60)
    inverse = np.linalg.inv(K + 0.5 * np.eye(60))
    b = ones @ inverse @ VALUES / (ones @ inverse @ ones)
    beta = inverse @ (VALUES - b)
    expected = (K_new * np.outer(c_new, c)) @ beta + b
    # c is stable to a thousandth, and so are the scores
    np.testing.assert_allclose(model.predict(new), expected, atol=5e-3)
    # at a weight of 1 on average and a gap of 1e-10 no other weights are better for these c
    value = 0.25 * (beta @ K @ beta) + 0.5 * np.sum((VALUES - b - K @ beta) ** 2)
    assert model.objective_ == pytest.approx(value, rel=5e-3)


@pytest.mark.parametrize("norm", [1.0, 2.0])
def test_absent_kernels_are_the_margin_of_each_sample_in_its_own_views(norm):
    """cvxpy on the definition: the largest norm over the patterns of views that occur."""
    n, C = 24, 0.7
    X, _, labels = data(n, 3)
    has = np.random.default_rng(4).random((n, 3)) > 0.4
    has[:, 0] |= ~has.any(axis=1)
    has[0] = True
    y = np.where(labels == "same", 1.0, -1.0)
    views = raw([(name, Linear(), columns) for name, columns in COLUMNS.items()])
    model = MKLClassifier(KernelBank(views, missing="absent"), C=C, norm=norm, tol=1e-8).fit(
        without(X, has), labels
    )

    w, b = [cp.Variable(2) for _ in COLUMNS], cp.Variable()
    scores = b + sum(
        cp.multiply(has[:, m], X[:, columns] @ w[m]) for m, columns in enumerate(COLUMNS.values())
    )
    q = 2 * norm / (norm + 1)
    sizes = [
        cp.square(cp.norm(cp.hstack([cp.norm(w[m]) for m in np.flatnonzero(pattern)]), q))
        for pattern in np.unique(has, axis=0)
    ]
    risk = C * cp.sum(cp.pos(1 - cp.multiply(y, scores)))
    value = cp.Problem(cp.Minimize(0.5 * cp.maximum(*sizes) + risk)).solve(solver=cp.CLARABEL)
    assert model.objective_ == pytest.approx(value, rel=1e-6)
    sign = 1.0 if model.classes_[1] == "same" else -1.0
    found = sign * model.decision_function(without(X, has))
    np.testing.assert_allclose(found, scores.value, atol=1e-3)


def test_absent_kernels_need_one_whole_sample():
    has = np.ones((60, 3), dtype=bool)
    has[np.arange(60), np.arange(60) % 3] = False
    with pytest.raises(ValueError, match=r"at least one training sample that has all views.* have 2 of 3"):
        MKLClassifier(KernelBank(VIEWS, missing="absent")).fit(without(X, has), LABELS)


@pytest.mark.parametrize("missing", ["renormalize", "absent"])
def test_a_sample_that_lacks_views_without_weight_lacks_nothing(missing):
    rng = np.random.default_rng(3)
    table = np.column_stack([X[:, :2], 0.1 * rng.normal(size=(60, 2))])
    views = raw([("good", Gaussian(gamma=0.3), [0, 1]), ("noise", Linear(), [2, 3])])
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, 0)
    model = MKLClassifier(KernelBank(views, missing=missing)).fit(table, y)
    assert model.kernel_weights_.tolist() == [1.0, 0.0]
    gappy = table.copy()
    gappy[:, 2:] = np.nan
    np.testing.assert_array_equal(model.decision_function(gappy), model.decision_function(table))
    gappy = table[:4].copy()
    gappy[1, :2] = np.nan
    with pytest.warns(UserWarning, match=r"1 sample\(s\), the first of them in row 1, lack every view that"):
        found = model.decision_function(gappy)
    assert found[1] == model.intercept_[0]
    np.testing.assert_array_equal(np.delete(found, 1), np.delete(model.decision_function(table[:4]), 1))


# ---------------------------------------------------------------------- accuracy
def test_by_how_much_accuracy_falls():
    """Half of the views missing: from 86 % by 3 to 5 points; of the few complete samples alone, by 11.

    Two of three views absent at prediction: by 5 points where they are completed, else by 15.
    """
    X, _, y = data(150, 11, noise=0.3)
    new, _, y_new = data(2000, 12, noise=0.3)
    gappy, gappy_new, model = hide(X, 0.5, 13), hide(new, 0.5, 14), MKLClassifier(VIEWS, C=3.0)
    whole = clone(model).fit(X, y).score(new, y_new)
    lost, alone = {}, {}
    for missing in WAYS:
        lost[missing] = whole - stored(model, missing=missing).fit(gappy, y).score(gappy_new, y_new)
        fitted = stored(model, missing=missing, norm=2.0).fit(X, y)
        alone[missing] = fitted.score(without(new, np.tile([True, False, False], (2000, 1))), y_new)
    complete = ~np.isnan(gappy).any(axis=1)
    few = stored(model, missing="complete").fit(gappy[complete], y[complete])
    assert 0.01 < lost["complete"] < 0.04
    assert lost["complete"] < lost["renormalize"] < lost["mean"] < 0.06
    assert whole - few.score(gappy_new, y_new) > lost["mean"] + 0.04
    assert min(alone.values()) > 0.65 and alone["complete"] > max(alone["mean"], alone["renormalize"]) + 0.05


# ---------------------------------------------------------------------- all doors
@everyway
def test_ready_made_kernels_frames_and_folds(missing):
    has = ~np.isnan(GAPPY[:, [0, 2, 4]])
    stack = stack_kernels([view.kernel(X[:, view.columns]) for view in VIEWS])
    for m in range(3):
        stack[~has[:, m], :, m] = stack[:, ~has[:, m], m] = np.nan
    ready = MKLClassifier(KernelBank("precomputed", missing=missing), norm=2.0, tol=1e-6).fit(stack, LABELS)
    frame = pd.DataFrame(GAPPY, columns=list("abcdef"))
    names = [replace(view, columns=[list("abcdef")[c] for c in view.columns]) for view in VIEWS]
    named = MKLClassifier(KernelBank(names, missing=missing), norm=2.0, tol=1e-6).fit(frame, LABELS)
    np.testing.assert_allclose(ready.kernel_weights_, named.kernel_weights_, atol=2e-3)
    np.testing.assert_allclose(ready.decision_function(stack), named.decision_function(frame), atol=2e-3)
    weights = np.where(np.arange(60) % 4 == 0, 0.0, 1.0 + np.arange(60) % 2)
    weighted = MKLClassifier(KernelBank("precomputed", missing=missing), norm=2.0, tol=1e-6).fit(
        stack, LABELS, weights
    )
    kept = weights > 0
    repeated = np.repeat(np.flatnonzero(kept), weights[kept].astype(int))
    again = MKLClassifier(KernelBank(VIEWS, missing=missing), norm=2.0, tol=1e-6).fit(
        GAPPY[repeated], LABELS[repeated]
    )
    np.testing.assert_allclose(weighted.decision_function(stack), again.decision_function(GAPPY), atol=2e-3)
    on_views = MKLClassifier(KernelBank(VIEWS, missing=missing), norm=2.0, tol=1e-6)
    np.testing.assert_allclose(
        cross_val_score(ready, stack, LABELS, cv=3), cross_val_score(on_views, GAPPY, LABELS, cv=3)
    )


def test_objects_are_missing_where_they_are_none_and_tags_say_what_may_be():
    def overlap(A, B):
        sets = [[set(word) for word in np.asarray(side).ravel()] for side in (A, B)]
        return np.array([[len(a & b) for b in sets[1]] for a in sets[0]], dtype=float)

    words = np.where(LABELS == "same", "abcd", "cdef").astype(object)
    frame = pd.DataFrame({"x": X[:, 0], "word": words})
    frame.loc[::5, "word"] = None
    views = raw([("x", Linear(), ["x"]), ("word", overlap, "word")])
    model = MKLClassifier(KernelBank(views, missing="complete")).fit(frame, LABELS)
    told = frame["word"].notna().to_numpy()
    assert model.score(frame[told], LABELS[told]) == 1.0 and model.kernel_weights_[1] > 0.5
    for missing in (*WAYS, "error"):
        assert MKLRidge(KernelBank(views, missing=missing)).__sklearn_tags__().input_tags.allow_nan is (
            missing != "error"
        )


@pytest.mark.parametrize("settings", [{"gram": "memmap"}, {"dtype": "float32"}, {"psd": "clip"}])
@everyway
def test_stacks_on_disk_and_in_single_precision(missing, settings):
    plain = fit(MKLClassifier(VIEWS, norm=2.0), missing)
    other = fit(MKLClassifier(VIEWS, norm=2.0), missing, **settings)
    np.testing.assert_allclose(other.decision_function(NEW), plain.decision_function(NEW), atol=0.02)


@pytest.mark.parametrize("missing", ["complete", "renormalize"])
def test_probabilities_joint_machines_evaluation_and_report(missing):
    model = MKLClassifier(KernelBank(VIEWS, missing=missing), norm=2.0, probability=True).fit(GAPPY, LABELS)
    assert np.allclose(model.predict_proba(GAPPY).sum(axis=1), 1.0)
    joint = MKLClassifier(KernelBank(VIEWS, missing=missing), norm=2.0, multiclass="joint").fit(GAPPY, THREE)
    assert joint.score(GAPPY, THREE) > 0.7
    plain = MKLClassifier(KernelBank(VIEWS, missing=missing), norm=2.0).fit(GAPPY, LABELS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few samples
        found = evaluate(plain, GAPPY, LABELS, cv=2)
    assert "three" in render_markdown(summarize(plain, evaluation=found))


# ---------------------------------------------------------------------- bad input
def test_what_cannot_be_had_is_refused_with_the_remedy():
    ways = "'auto', 'error', 'renormalize', 'absent', 'mean', 'complete'"
    with pytest.raises(ValueError, match=f"missing must be one of {ways}"):
        MKLClassifier(KernelBank(VIEWS, missing="drop")).fit(X, LABELS)
    with pytest.raises(ValueError, match=r"view '\w+' holds NaN.*MKLClassifier.*missing='complete'"):
        MKLClassifier(VIEWS).fit(GAPPY, LABELS)
    with pytest.raises(ValueError, match=r"view '\w+' holds NaN.*MKLClassifier.*missing='complete'"):
        KernelDiscriminantClassifier(VIEWS).fit(GAPPY, LABELS)
    with pytest.raises(ValueError, match=r"missing='mean' .* no low-rank route.*gram='dense'"):
        MKLRidge(KernelBank(VIEWS, missing="mean", gram="low_rank")).fit(X, VALUES)
    with pytest.raises(ValueError, match=r"missing='complete' .*compute"):
        MKLRidge(KernelBank(VIEWS, missing="complete")).fit(dask.array.from_array(X, chunks=30), VALUES)
    bad = GAPPY.copy()
    bad[17] = np.nan
    with pytest.raises(ValueError, match="all views are missing in row 17"):
        MKLRegressor(KernelBank(VIEWS, missing="mean")).fit(bad, VALUES)
    model = MKLRegressor(KernelBank(VIEWS, missing="mean")).fit(GAPPY, VALUES)
    many = np.vstack([X] * 40)
    many[2300] = np.nan
    with pytest.raises(ValueError, match="all views are missing in row 2300"):
        model.predict(many)
    many[2300, 0] = 1.0
    with pytest.raises(ValueError, match="view 'one' at prediction holds NaN at row 2300, column 1"):
        model.predict(many)

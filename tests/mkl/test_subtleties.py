"""Corners where a plausible implementation goes wrong."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from multikernel import KernelBank, MKLClassifier, MKLRidge
from multikernel._validation import is_indefinite
from multikernel.kernels import Gaussian, Linear
from tests.raw import raw


def noisy_binary(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.where(X[:, 0] + 0.3 * rng.normal(size=n) > 0, 1, -1)


VIEWS = raw([("a", Gaussian(gamma=0.5), [0]), ("b", Gaussian(gamma=0.5), [1, 2, 3])])


@pytest.mark.parametrize("p", [1.02, 1.05, 1.2, 1.5])
@pytest.mark.parametrize("options", [{"C": 10}, {"C": 1000}, {"C": 1, "loss": "squared_hinge"}], ids=str)
def test_norms_just_above_one_converge(options, p):
    X, y = load_iris(return_X_y=True)
    X, y = ((X - X.mean(0)) / X.std(0))[::3], (y[::3] == 1).astype(int)
    views = [(f"column-{j}", Gaussian(), [j]) for j in range(4)] + [("line", Linear()), ("all", Gaussian())]
    stack = KernelBank([view if len(view) == 3 else (*view, None) for view in views]).fit_transform(X)
    model = MKLClassifier("precomputed", norm=p, tol=1e-6, **options).fit(stack, y)
    assert model.status_ == "optimal" and model.dual_gap_ <= 1e-6


def test_a_learned_C_knows_repeated_rows_and_weights():
    X, y = noisy_binary()
    options = {"C": "learn", "loss": "squared_hinge", "tol": 1e-7}
    repeated, labels = np.vstack([X] * 3), np.r_[y, y, y]
    merged = MKLClassifier(VIEWS, **options).fit(repeated, labels)
    plain = MKLClassifier("precomputed", **options).fit(KernelBank(VIEWS).fit_transform(repeated), labels)
    weighted = MKLClassifier(VIEWS, **options).fit(X, y, sample_weight=np.full(len(y), 3.0))
    assert merged.objective_ == pytest.approx(plain.objective_, rel=1e-6)
    np.testing.assert_allclose(merged.kernel_weights_, plain.kernel_weights_, atol=1e-3)
    np.testing.assert_array_equal(merged.kernel_weights_, weighted.kernel_weights_)
    heavy = MKLClassifier(VIEWS, class_weight={1: 50.0, -1: 1.0}, **options).fit(X, y)
    assert heavy.objective_ > 1.2 * MKLClassifier(VIEWS, **options).fit(X, y).objective_


@pytest.mark.parametrize("offset", [0.0, 2e3, 2e4])
def test_a_hard_margin_does_not_mind_where_the_origin_is(offset):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = np.where(X[:, 0] > 0, 1, -1)
    X[:, 0] += 0.3 * y
    model = MKLClassifier(raw([("year", Linear(), [0]), ("x", Gaussian(gamma=1.0), [1])]), C=np.inf)
    model.fit(X + [offset, 0.0], y)  # nor is there a warning of scales: the intercept takes the offset
    assert model.objective_ == pytest.approx(4.6619, rel=1e-3)


def test_the_callback_sees_the_objective_in_the_units_of_the_model():
    X, y = noisy_binary()
    seen = []
    views = raw([("a", Linear(), [0, 1]), ("b", Linear(), [2, 3])])
    model = MKLClassifier(views, callback=lambda entry: bool(seen.append(entry))).fit(3 * X, y)
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    K = sum(w * 9 * X[:, c] @ X[:, c].T for w, c in zip(model.kernel_weights_, ([0, 1], [2, 3]), strict=True))
    dual = np.abs(beta).sum() - 0.5 * beta @ K @ beta  # from outside: units cannot cancel
    assert model.objective_ == pytest.approx(dual, rel=1e-9)
    assert seen[-1]["objective"] == pytest.approx(dual, rel=2e-3)
    # what comes last is of the model that is returned, which may not be the best that was seen
    assert [entry["objective"] for entry in seen[:-1]] == [e["objective"] for e in model.history_[:-1]]
    ridge = MKLRidge(views, alpha=7.0).fit(3 * X, X[:, 0])
    assert ridge.history_[-1]["objective"] == pytest.approx(ridge.objective_, rel=2e-3)


def test_a_stack_with_its_kernels_first_is_told_so():
    X, y = noisy_binary()
    with pytest.raises(ValueError, match=r"kernels come last.*\(2, 80, 80\).*moveaxis"):
        MKLClassifier("precomputed").fit(np.stack([X @ X.T, (X @ X.T) ** 2]), y)


def test_a_repair_that_is_asked_for_looks_at_large_kernels_whole():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 30))
    distances = np.maximum((X**2).sum(1)[:, None] + (X**2).sum(1) - 2 * X @ X.T, 0.0)
    values, vectors = np.linalg.eigh(np.exp(-0.05 * distances))
    spoiled = np.exp(-0.05 * distances) - (values[0] + 0.2) * np.outer(vectors[:, 0], vectors[:, 0])
    spoiled = 0.5 * (spoiled + spoiled.T)
    assert not is_indefinite(spoiled, full=False) and is_indefinite(spoiled, full=True)  # blocks miss it
    bank = (
        MKLClassifier(KernelBank("precomputed", psd="clip"))
        .fit(spoiled[:, :, None], np.sign(X[:, 0]))
        ._prediction_bank
    )
    assert list(bank._repairs) == [0]

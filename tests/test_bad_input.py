"""Bad input, through the estimators: each error names the kernel or view, what was given, and the remedy."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

from multikernel import MKLClassifier, MKLOneClass, MKLRegressor, MKLRidge
from multikernel.kernels import Gaussian, Linear

RNG = np.random.default_rng(0)
N = 30
X = RNG.normal(size=(N, 3))
LABELS = np.where(X[:, 0] > 0, "up", "down")
NUMBERS = X[:, 0] + 0.1 * RNG.normal(size=N)
VIEWS = [("tap", Gaussian(gamma=1.0), [0, 1]), ("mic", Linear(), [2])]
ALL = [MKLClassifier, MKLRegressor, MKLOneClass, MKLRidge]
everyone = pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
supervised = pytest.mark.parametrize("kind", [MKLClassifier, MKLRegressor, MKLRidge])


def target(kind):
    return LABELS if kind is MKLClassifier else NUMBERS


def stack():
    return np.stack([np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2)), X @ X.T], axis=2)


def refuses(*parts, error=ValueError):
    """The message holds these parts in this order."""
    return pytest.raises(error, match="(?s)" + ".*".join(re.escape(part) for part in parts))


# ---------------------------------------------------------------------- feature tables
@everyone
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_features_that_are_not_finite(kind, value, word):
    bad = X.copy()
    bad[7, 1] = value
    with refuses("view 'tap'", word, "row", "column", "impute or drop"):
        kind(VIEWS).fit(bad, target(kind))
    with refuses("view 'tap'", word):
        kind(VIEWS).fit(scipy.sparse.csr_matrix(bad), target(kind))
    model = kind(VIEWS).fit(X, target(kind))
    with refuses(word):
        model.predict(bad)


@everyone
def test_a_frame_with_text(kind):
    frame = pd.DataFrame(X, columns=["p", "q", "r"])
    frame["q"] = "left"
    with refuses("view 'tap'", "must be numeric", "'q'", "Encode it as numbers"):
        kind(VIEWS).fit(frame, target(kind))


@everyone
@pytest.mark.parametrize("shape", [(0, 3), (5, 0), (5,), (2, 3, 4), ()])
def test_tables_of_wrong_shape(kind, shape):
    with pytest.raises(ValueError, match=r"(?i)sample|feature|array|dim"):
        kind().fit(np.ones(shape), target(kind)[: shape[0] if shape else 0])


@everyone
def test_another_number_of_features_at_prediction(kind):
    model = kind(VIEWS).fit(X, target(kind))
    with refuses("X has 2 features", "3 features"):
        model.predict(X[:, :2])


@everyone
def test_predict_before_fit(kind):
    with pytest.raises(NotFittedError, match="not fitted"):
        kind().predict(X)


# ---------------------------------------------------------------------- views
@everyone
def test_duplicate_view_names(kind):
    with refuses("distinct", "'tap'"):
        kind([("tap", Linear(), [0]), ("tap", Linear(), [1])]).fit(X, target(kind))


@everyone
def test_unknown_columns(kind):
    frame = pd.DataFrame(X, columns=["p", "q", "r"])
    with refuses("'tap'", "'z'"):
        kind([("tap", Linear(), ["z"])]).fit(frame, target(kind))
    with refuses("'tap'", "3"):
        kind([("tap", Linear(), [3])]).fit(X, target(kind))


@everyone
def test_a_constant_view(kind):
    flat = X.copy()
    flat[:, 2] = 2.0
    with refuses("'mic'", "constant", "Remove it"):
        kind(VIEWS).fit(flat, target(kind))
    flat[:, 2] = 0.0
    with refuses("'mic'", "all zero", "Remove it"):
        kind(VIEWS).fit(flat, target(kind))


@everyone
@pytest.mark.parametrize("kernels", ["gauss", [], 3, [("tap", "linear-ish", [0])]])
def test_kernels_that_are_none(kind, kernels):
    with pytest.raises((ValueError, TypeError), match=r"kernel|view"):
        kind(kernels).fit(X, target(kind))


# ---------------------------------------------------------------------- precomputed stacks
@everyone
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_stacks_that_are_not_finite(kind, value, word):
    bad = stack()
    bad[3, 4, 1] = bad[4, 3, 1] = value
    with refuses("finite", "'kernel-1'", word, "(3, 4)"):
        kind("precomputed").fit(bad, target(kind))
    model = kind("precomputed").fit(stack(), target(kind))
    test = stack()
    test[:, :, :] = value
    with refuses(word):
        model.predict(test)


@everyone
def test_an_asymmetric_kernel(kind):
    bad = stack()
    bad[4, 17, 1] += 0.03
    with refuses("symmetric", "'kernel-1'", "3.0e-02 at (4, 17)", "(K + K.T) / 2"):
        kind("precomputed").fit(bad, target(kind))


@everyone
def test_an_indefinite_kernel(kind):
    bad = stack()
    bad[:, :, 1] -= 0.5 * np.eye(N)
    with refuses("'kernel-1'", "eigenvalue -0.5", "psd="):
        kind("precomputed").fit(bad, target(kind))
    for psd in ("clip", "shift"):
        model = kind("precomputed", psd=psd).fit(bad, target(kind))
        assert np.isfinite(model.kernel_weights_).all()


@everyone
def test_a_large_indefinite_kernel(kind):
    """Beyond the size of the full check: refused by the blocks at the door, or else by the solver."""
    n = 700
    big = np.random.default_rng(1).normal(size=(n, 3))
    K = np.exp(-0.5 * ((big[:, None] - big[None]) ** 2).sum(axis=2))
    spoiled = K - 0.9 * np.eye(n)
    spoiled.flat[:: n + 1] = 1.0
    y = np.where(big[:, 0] > 0, 1, -1) if kind is MKLClassifier else big[:, 0]
    model = kind("precomputed", max_iter=50)
    with refuses("kernel-0", "psd="):
        model.fit((0.5 * (spoiled + spoiled.T) * 1.0 - 0.4 * (K > 0.9) * (1 - np.eye(n)))[:, :, None], y)


@everyone
def test_a_constant_kernel(kind):
    bad = stack()
    bad[:, :, 0] = 1.0
    with refuses("'kernel-0'", "constant", "Remove it"):
        kind("precomputed").fit(bad, target(kind))
    bad[:, :, 0] = 0.0
    with refuses("'kernel-0'", "all zero"):
        kind("precomputed").fit(bad, target(kind))


@everyone
@pytest.mark.parametrize("shape", [(N, N - 1, 2), (N, N, 0), (0, 0, 2), (N,), (N, N, 2, 2)])
def test_stacks_of_wrong_shape(kind, shape):
    with pytest.raises(ValueError, match=r"shape|sample"):
        kind("precomputed").fit(np.ones(shape), target(kind)[: shape[0]])


@everyone
def test_a_test_stack_of_wrong_shape(kind):
    model = kind("precomputed").fit(stack(), target(kind))
    for bad in (stack()[:, :-1], stack()[:, :, :1], stack()[:0]):
        with pytest.raises(ValueError, match=r"shape"):
            model.predict(bad)


# ---------------------------------------------------------------------- targets and weights
@supervised
def test_targets_that_do_not_fit(kind):
    with refuses("same number of samples", "30", "29"):
        kind(VIEWS).fit(X, target(kind)[:-1])
    with refuses("requires y"):
        kind(VIEWS).fit(X, None)


@pytest.mark.parametrize("kind", [MKLRegressor, MKLRidge])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_targets_that_are_not_finite(kind, value):
    y = NUMBERS.copy()
    y[2] = value
    with refuses("y", "NaN" if np.isnan(value) else "infinity"):
        kind(VIEWS).fit(X, y)


def test_labels_with_nan():
    y = np.where(LABELS == "up", 1.0, 0.0)
    y[2] = np.nan
    with refuses("NaN"):
        MKLClassifier(VIEWS).fit(X, y)


def test_one_class_only():
    with refuses("at least 2 classes", "1 class", "'up'"):
        MKLClassifier(VIEWS).fit(X, np.full(N, "up"))
    with refuses("'down'", "positive weight"):
        MKLClassifier(VIEWS).fit(X, LABELS, sample_weight=(LABELS == "up").astype(float))


def test_numbers_are_no_labels():
    with refuses("Unknown label type"):
        MKLClassifier(VIEWS).fit(X, NUMBERS)


@everyone
def test_sample_weights(kind):
    y = target(kind)
    with refuses("sample_weight", "positive", "zero"):
        kind(VIEWS).fit(X, y, sample_weight=np.zeros(N))
    with refuses("Negative values", "sample_weight"):
        kind(VIEWS).fit(X, y, sample_weight=-np.ones(N))
    with refuses("sample_weight"):
        kind(VIEWS).fit(X, y, sample_weight=np.ones(N - 1))
    with refuses("sample_weight", "NaN"):
        kind(VIEWS).fit(X, y, sample_weight=np.full(N, np.nan))


# ---------------------------------------------------------------------- parameters
@everyone
@pytest.mark.parametrize(
    ("parameters", "parts"),
    [
        ({"norm": 0.5}, ["norm must be at least 1", "0.5"]),
        ({"norm": "2"}, ["norm must be a number", "'2'"]),
        ({"norm": np.nan}, ["norm", "nan"]),
        ({"tol": 0.0}, ["tol must be greater than 0", "0.0"]),
        ({"max_iter": 0}, ["max_iter must be a positive integer", "0"]),
        ({"max_iter": 2.5}, ["max_iter must be a positive integer", "2.5"]),
        ({"costs": [1.0]}, ["costs", "2 kernels", "(1,)"]),
        ({"costs": [1.0, -2.0]}, ["costs must be positive", "'mic'", "-2.0"]),
        ({"costs": [1.0, 0.0]}, ["costs must be positive", "'mic'", "0.0"]),
        ({"costs": [np.nan, 1.0]}, ["costs must be positive", "'tap'", "nan"]),
        ({"costs": {"tip": 1.0}}, ["costs", "'tip'", "'tap'", "'mic'"]),
        ({"costs": "cheap"}, ["costs", "cheap"]),
        ({"psd": "ignore"}, ["psd must be one of", "'clip'", "'ignore'"]),
        ({"gram": "disk"}, ["gram must be one of", "'memmap'", "'disk'"]),
        ({"dtype": "float16"}, ["dtype must be 'float64' or 'float32'", "float16"]),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_parameters_of_all(kind, parameters, parts):
    with refuses(*parts, error=(ValueError, TypeError)):
        kind(VIEWS, **parameters).fit(X, target(kind))


@pytest.mark.parametrize(
    ("model", "parts"),
    [
        (MKLClassifier(VIEWS, C=0.0), ["C must be greater than 0", "0.0"]),
        (MKLClassifier(VIEWS, C=-1), ["C must be greater than 0", "-1"]),
        (MKLClassifier(VIEWS, C=np.nan), ["C must be finite", "nan"]),
        (MKLClassifier(VIEWS, C=None), ["C must be a number", "None"]),
        (MKLClassifier(VIEWS, C="auto"), ["C must be", '"learn"', "'auto'"]),
        (MKLClassifier(VIEWS, C="learn"), ['C="learn" needs loss="squared_hinge"', "'hinge'"]),
        (MKLClassifier(VIEWS, loss="log"), ["loss must be one of 'hinge', 'squared_hinge'", "'log'"]),
        (MKLClassifier(VIEWS, multiclass="all"), ["multiclass must be one of", "'joint'", "'all'"]),
        (MKLRegressor(VIEWS, C=0), ["C must be greater than 0", "0"]),
        (MKLRegressor(VIEWS, C=np.inf), ["C must be finite", "inf"]),
        (MKLRegressor(VIEWS, epsilon=-0.1), ["epsilon must be at least 0", "-0.1"]),
        (MKLOneClass(VIEWS, nu=0.0), ["nu must be greater than 0", "0.0"]),
        (MKLOneClass(VIEWS, nu=1.5), ["nu must be at most 1", "1.5"]),
        (MKLRidge(VIEWS, alpha=0.0), ["alpha must be greater than 0", "0.0"]),
        (MKLRidge(VIEWS, alpha="small"), ["alpha must be a number", "'small'"]),
    ],
    ids=lambda value: repr(value)[:60] if not isinstance(value, list) else "",
)
def test_parameters_of_each(model, parts):
    with refuses(*parts, error=(ValueError, TypeError)):
        model.fit(X, target(type(model)))


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "shared"])
def test_a_hard_margin_on_inseparable_classes(multiclass):
    y = np.array(["x", "y", "z"])[RNG.integers(0, 3, size=N)]
    with refuses("hard margin (C=inf)", "separable", "finite C"):
        MKLClassifier([("line", Linear(), [0])], C=np.inf, multiclass=multiclass).fit(X, y)


def test_calibration_needs_two_of_each_class():
    y = np.where(np.arange(N) == 0, "rare", "common")
    with refuses("probability=True", "at least 2 samples", "'rare'", "decision_function"):
        MKLClassifier(VIEWS, probability=True).fit(X, y)


def test_weights_that_overflow_beside_a_learned_C():
    model = MKLClassifier(VIEWS, C="learn", loss="squared_hinge")
    with refuses("weights of samples must lie between 1e-100 and 1e100", "1.0e-300", "Rescale"):
        model.fit(X, LABELS, sample_weight=np.r_[1e-300, np.ones(N - 1)])

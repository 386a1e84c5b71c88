"""Arbitrary input at the public doors: a model with finite numbers, or an error of ours.

Ours are ValueError and TypeError whose message was written by this library or by scikit-learn's validation;
one that comes up from NumPy, SciPy or numba is a failure, and so is any warning but ConvergenceWarning and
the one of a class that is lost among soft labels.
"""

import traceback
import warnings

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from multikernel import KernelBank, MKLClassifier, MKLOneClass, MKLRegressor, MKLRidge
from multikernel.kernels import Gaussian, Linear, Polynomial
from multikernel.soft_labels import PosteriorSVC
from multikernel.views import KernelWarning

DTYPES = ("float64",) * 8 + ("float32", "int64", "bool", "object", "str", "complex")
DEFECTS = ("none",) * 8 + ("nan", "inf", "constant column", "equal rows", "empty", "flat", "deep")
# mostly sizes that can be fitted: a refusal is quickly tested
SIZES = st.sampled_from([0, 1, 2, 3, 8, 12, 16, 20, 24, 24, 24])
SCALES = st.sampled_from([1e-150, 1e-30, 1e-6, 1.0, 1.0, 1.0, 1.0, 1.0, 1e6, 1e30, 1e150])
models = st.one_of(
    st.builds(
        MKLClassifier,
        C=st.sampled_from([1e-150, 1e-3, 1.0, 1e6, 1e150, np.inf]),
        norm=st.sampled_from([1.0, 2.0, np.inf]),
        multiclass=st.sampled_from(["ovr", "ovo", "shared", "joint"]),
    ),
    st.builds(
        MKLClassifier,
        C=st.sampled_from([1e-3, 1.0, 1e6, "learn"]),
        loss=st.just("squared_hinge"),
        norm=st.sampled_from([1.0, 1.5]),
    ),
    st.builds(
        PosteriorSVC,
        C=st.sampled_from([1e-150, 1e-3, 1.0, 1e6, 1e150]),
        norm=st.sampled_from([1.0, 2.0, np.inf]),
        posterior=st.sampled_from(["knn", "parzen"]),
    ),
    st.builds(
        MKLRegressor, C=st.sampled_from([1e-150, 1.0, 1e6]), epsilon=st.sampled_from([0.0, 0.1, 1e150])
    ),
    st.builds(MKLOneClass, nu=st.sampled_from([1e-3, 0.5, 1.0])),
    st.builds(
        MKLRidge, alpha=st.sampled_from([1e-12, 1.0, 1e12]), fit_intercept=st.booleans(),
        norm=st.sampled_from([1.0, 2.0]),
    ),
)  # fmt: skip


def make_table(rng, n, d, defect, scale, dtype):
    X = rng.normal(size=(n, d))
    if defect in ("nan", "inf") and X.size:
        X[rng.integers(n), rng.integers(d)] = np.nan if defect == "nan" else np.inf
    if defect == "constant column" and d:
        X[:, 0] = 1.0
    if defect == "equal rows" and n:
        X[:] = X[0]
    X = X * scale
    if defect == "empty":
        X = X[:0]
    if defect == "flat":
        X = X[:, 0] if d else X.ravel()
    if defect == "deep":
        X = X[None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return X.astype({"str": str, "complex": complex}.get(dtype, dtype))


def make_target(rng, model, n, classes):
    if isinstance(model, MKLClassifier | PosteriorSVC):
        return rng.integers(0, classes, size=n)
    y = rng.normal(size=n) * 10.0 ** rng.choice([-100, -3, 0, 3, 100])
    return np.zeros(n) if classes == 1 else y


def is_ours(error):
    """Whether the message was raised by this library or by scikit-learn, not by what they call."""
    last = traceback.extract_tb(error.__traceback__)[-1].filename.replace("\\", "/")
    return "/multikernel/" in last or "/sklearn/" in last


def try_it(model, X, y, test):
    """Fit and predict; nothing but finite numbers, or a refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", KernelWarning)  # random kernels deserve it
        warnings.filterwarnings("ignore", "no sample is assigned to class")  # random labels have that
        try:
            model.fit(X, y)
        except (ValueError, TypeError) as error:
            assert is_ours(error), f"not a message of ours: {error!r}"
            assert str(error)
            return
        assert np.isfinite(model.kernel_weights_).all() and (model.kernel_weights_ >= 0).all()
        assert model.kernel_weights_.any() or model.C == "learn"  # the identity may have all the weight
        assert np.isfinite(model.dual_coef_).all() and np.isfinite(model.intercept_).all()
        assert np.isfinite(model.objective_) and not np.isnan(model.dual_gap_)
        scores = model.contributions(test).sum(axis=-1)
        assert np.isfinite(scores).all()
        assert len(model.predict(test)) == len(test)


@given(
    models,
    st.sampled_from(["auto", "views", "one"]),
    SIZES,
    st.sampled_from([0, 1, 2, 3, 4]),
    st.sampled_from(DEFECTS),
    SCALES,
    st.sampled_from(DTYPES),
    st.sampled_from([1, 2, 2, 3, 4]),
    st.integers(0, 10**6),
)
@example(
    MKLRidge(alpha=1e-12, fit_intercept=False, norm=2.0), "views", 2, 1, "none", 1e30, "float64", 2, 1
)  # targets of 1e100: the second derivative overflowed
def test_feature_tables(model, kernels, n, d, defect, scale, dtype, classes, seed):
    rng = np.random.default_rng(seed)
    X = make_table(rng, n, d, defect, scale, dtype)
    kinds = {
        "auto": "auto",
        "views": [("first", Gaussian(), [0]), ("all", Linear()), ("square", Polynomial(degree=2))],
        "one": Gaussian(gamma=1.0),
    }
    y = make_target(rng, model, len(X) if defect != "deep" else n, classes)
    try_it(model.set_params(kernels=kinds[kernels], max_iter=50), X, y, X)


@st.composite
def stacks(draw):
    n, m = draw(SIZES), draw(st.sampled_from([0, 1, 2, 3, 4]))
    rank = draw(st.sampled_from([1, 2, 20]))
    scale = draw(SCALES)
    spread = draw(st.sampled_from([1.0, 1.0, 1e8]))
    defect = draw(st.sampled_from(["none"] * 8 + ["nan", "inf", "asymmetric", "indefinite",
                                   "zero", "constant", "not square", "two-dimensional", "text"]))  # fmt: skip
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    A = rng.normal(size=(m, n, rank))
    Ks = A @ A.transpose(0, 2, 1) * scale
    Ks *= spread ** np.linspace(-0.5, 0.5, m)[:, None, None] if m else 1.0
    if Ks.size:
        i, j = rng.integers(n, size=2)
        if defect in ("nan", "inf"):
            Ks[0, i, j] = Ks[0, j, i] = np.nan if defect == "nan" else np.inf
        elif defect == "asymmetric":
            Ks[0, i, j] += scale
        elif defect == "indefinite":
            Ks[0] -= 0.5 * scale * np.eye(n)
        elif defect in ("zero", "constant"):
            Ks[0] = 0.0 if defect == "zero" else scale
    X = np.moveaxis(Ks, 0, 2)
    if defect == "not square":
        X = X[:, :-1]
    elif defect == "two-dimensional":
        X = X[:, :, 0] if m else X.sum(axis=2)
    elif defect == "text":
        X = X.astype(str)
    return X.astype(np.float32) if draw(st.booleans()) and defect != "text" and 1e-30 <= scale <= 1e30 else X


@given(
    models, stacks(), st.integers(1, 3), st.sampled_from(["error", "clip", "shift"]), st.integers(0, 10**6)
)
def test_stacks_of_kernels(model, X, classes, psd, seed):
    y = make_target(np.random.default_rng(seed), model, len(X), classes)
    try_it(model.set_params(kernels=KernelBank("precomputed", psd=psd), max_iter=10), X, y, X)


@given(
    models,
    st.lists(st.sampled_from([0.0, 1e-300, 1e-10, 1.0, 1e10, 1e300, -1.0, np.nan, np.inf]), max_size=14),
    st.integers(0, 10**6),
)
def test_sample_weights(model, weights, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 2))
    y = make_target(rng, model, 12, 2)
    weights = (weights + [1.0] * 12)[: max(12, len(weights))]
    fit = model.set_params(max_iter=30).fit
    model.fit = lambda X, y: fit(X, y, sample_weight=weights)
    try_it(model, X, y, X)

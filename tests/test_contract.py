"""What every public estimator promises, whatever its method: one table of estimators, one set of promises.

Each estimator that the package exports is held to the same contract, so that its own tests have to show only
what is its own. An estimator that is exported and has no entry in ENTRIES fails the first test.
"""

from __future__ import annotations

import copy
import inspect
import pickle
import re
import warnings
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline

from multikernel import KernelBank, View, load_model, save_model, stack_kernels
from multikernel.kernels import Gaussian, Linear
from multikernel.registry import list_methods
from multikernel.survival import MKLSurvival, MKLSurvivalCV
from tests.public import public_estimators as exported_estimators
from tests.raw import raw

N = 24
_RNG = np.random.default_rng(0)
X = _RNG.normal(size=(N, 3))
FRESH = np.random.default_rng(1).normal(size=(7, 3))
LABELS = np.where(X[:, 0] + 0.3 * _RNG.normal(size=N) > 0, "up", "down")
VALUES = X[:, 0] + 0.1 * _RNG.normal(size=N)
TIMES = np.array(list(zip(np.arange(N) % 3 > 0, np.exp(VALUES), strict=True)), "?, f8")
COLUMNS = ["p", "q", "r"]
VIEWS = raw([("tap", Gaussian(gamma=1.0), [0, 1]), ("mic", Gaussian(gamma=0.3), [2])])
NAMED_VIEWS = raw([("tap", Gaussian(gamma=1.0), ["p", "q"]), ("mic", Gaussian(gamma=0.3), ["r"])])


def stack(A=X):
    """The kernels of VIEWS between the rows of A and the training rows, (n, N, 2)."""
    squares = (A[:, None] - X) ** 2
    return stack_kernels([np.exp(-squares[:, :, :2].sum(axis=2)), np.exp(-0.3 * squares[:, :, 2])])


PLAIN = [View("linear", Linear(), standardize=False), View("gaussian", Gaussian(), standardize=False)]


@dataclass(frozen=True)
class Entry:
    """What the contract has to know about an estimator.

    - `quick`: parameters with which a fit is quick.
    - `place`: what an error calls the table with a bad number.
    - `read_with`: of a parameter, the others without which it is not looked at.
    - `sometimes`: attributes that are documented for other settings.
    - `by_order`: how far answers move with the order of the samples; None where it decides random draws.
    - `same_kernels`: parameters with which precomputed kernels give the same model as the views, None where
      they do not, for the reason given. Views are solved with their rows in one order, matrices as they are:
      only sharp solutions are the same.
    - `by_kernels`: how far answers are apart when kernels are, by rounding.
    """

    quick: dict[str, Any] = field(default_factory=dict)
    place: str = "view 'tap'"
    read_with: dict[str, dict[str, Any]] = field(default_factory=dict)
    sometimes: frozenset[str] = frozenset()
    by_order: float | None = 1e-9
    same_kernels: dict[str, Any] | None = field(default_factory=dict)
    by_kernels: float = 1e-6


FOLDS = {"same_kernels": None, "by_order": None, "by_kernels": 1e-4}  # folds follow the order of the rows
LOCAL = {"same_kernels": None, "by_kernels": 1e-3}  # the gate reads columns, or similarities
SHARP = {"same_kernels": {"tol": 1e-8}, "by_kernels": 1e-4}
FACTORED = {"sometimes": frozenset({"approximation_", "coef_", "working_sets_"}), **SHARP}
WIDTHS = {"same_kernels": None, "by_kernels": 1e-4}  # matrices have no widths to learn
LIBSVM = {"by_order": 2e-3, "by_kernels": 2e-3}  # the default machine is scikit-learn's, with its tol
PROJECTED = {"quick": {"n_screen": 2, "max_iter": 5}, "place": "X"}
ONE_KERNEL = {"place": "view 'gaussian'"}
ENTRIES = {
    "AdditiveGPClassifier": Entry(by_order=1e-6),
    "AdditiveGPRegressor": Entry(by_order=1e-6),
    "BayesianMKLClassifier": Entry({"max_iter": 20}),
    "BayesianMKLRegressor": Entry({"max_iter": 20}),
    "ColumnBoostingClassifier": Entry(),
    "ColumnBoostingRegressor": Entry(),
    "CombinedKernelClassifier": Entry(**LIBSVM),
    "CombinedKernelOneClass": Entry(**LIBSVM),
    "CombinedKernelPCA": Entry(),
    "CombinedKernelRegressor": Entry(),
    "CompositionalKernelClassifier": Entry(**LIBSVM),
    "ConformalKernel": Entry({"n_steps": 5}, by_order=None, **ONE_KERNEL),
    "CooperativeClassifier": Entry(**SHARP),
    "CooperativeRidge": Entry(by_kernels=1e-8),
    "HierarchicalMKLClassifier": Entry({"tol": 1e-6}, **SHARP),
    "HierarchicalMKLRegressor": Entry({"tol": 1e-6, "loss": "epsilon_insensitive"}, **SHARP),
    "InfiniteMKLClassifier": Entry({"tol": 1e-7}, **WIDTHS),
    "InfiniteMKLOneClass": Entry({"tol": 1e-7}, **WIDTHS),
    "InfiniteMKLRegressor": Entry({"tol": 1e-7}, **WIDTHS),
    "HyperkernelClassifier": Entry({"tol": 1e-6}, by_order=1e-3, by_kernels=1e-3),
    "HyperkernelRegressor": Entry({"tol": 1e-6}, by_order=1e-3, by_kernels=1e-3),
    "KDDAClassifier": Entry(**ONE_KERNEL),
    "KernelDiscriminantClassifier": Entry(read_with={"n_neighbors": {"rule": "knn"}}),
    "KernelKNNClassifier": Entry(**ONE_KERNEL),
    "LFDA": Entry(place="view 'linear'"),
    "LocalizedMKLClassifier": Entry(**LOCAL),
    "LocalizedMKLOneClass": Entry({"nu": 0.3, "tol": 0.3}, **LOCAL),
    "LocalizedMKLRegressor": Entry(**LOCAL),
    "LocalizedRidge": Entry(**LOCAL),
    "LocalizedRidgeClassifier": Entry(**LOCAL),
    "MKLDR": Entry(),
    "MKLClassifier": Entry(**FACTORED),
    "MKLClassifierCV": Entry({"Cs": [0.1, 1.0, 10.0], "norms": [1.0, 2.0], "cv": 2}, **FOLDS),
    "MKLOneClass": Entry(**SHARP),
    "MKLRegressor": Entry(**FACTORED),
    "MKLRegressorCV": Entry({"Cs": [0.1, 1.0, 10.0], "norms": [1.0, 2.0], "cv": 2, "tol": 1e-5}, **FOLDS),
    "MKLRidge": Entry(**{**FACTORED, "sometimes": FACTORED["sometimes"] | {"target_gaps_"}}),
    "MKLRidgeCV": Entry(
        {"alphas": [0.1, 1.0, 10.0], "norms": [1.0, 2.0]},
        sometimes=frozenset({"candidates_", "candidate_scores_", "refined_", "target_gaps_"}),
        read_with={"candidates": {"targets": "each", "norms": (1.0, 1.5, 2.0, np.inf)}},
        **SHARP,
    ),
    "MKLRidgeClassifierCV": Entry({"alphas": [0.1, 1.0, 10.0], "candidates": 4}, **SHARP),
    "MKLSurvival": Entry(
        read_with={"epsilon": {"loss": "regression"}},
        **FACTORED,
    ),
    "MKLSurvivalCV": Entry(
        {"Cs": [0.1, 1.0], "norms": [1.0, 2.0], "cv": 2, "tol": 1e-5},
        read_with={"epsilon": {"loss": "regression"}},
        **FOLDS,
    ),
    "MultiTaskMKLClassifier": Entry(**SHARP),
    "MultiTaskMKLRegressor": Entry(**SHARP),
    "MultipleKernelKMeans": Entry({"n_init": 1}, by_order=None),
    "SimpleMKKM": Entry({"n_init": 1}, by_order=None),
    "RegularizedMKKM": Entry({"n_init": 1}, by_order=None),
    "MaxMarginClustering": Entry({"n_init": 1}, by_order=None),
    "NonstationaryClassifier": Entry({"n_init": 1}, **SHARP),
    "PairwiseRidge": Entry({"split": 1, "left": PLAIN, "right": PLAIN}, place="view 'linear'"),
    "PosteriorSVC": Entry(
        same_kernels=None, by_kernels=1e-3
    ),  # neighbors are found among columns, or in the feature space
    "ProbitMKLClassifier": Entry({"max_iter": 20}, by_order=1e-5),
    "ProjectionKernelClassifier": Entry(**PROJECTED),
    "ProjectionKernelOneClass": Entry(**PROJECTED),
    "ProjectionKernelRegressor": Entry(**PROJECTED),
    "RegularizedMKLClassifier": Entry({"cv": 2, "max_steps": 1}, **SHARP),
    "RegularizedMKLRegressor": Entry({"cv": 2, "max_steps": 1}, **SHARP),
    "SpectralKernelClassifier": Entry(
        {"gamma": "mean"},
        place="X",
        read_with={"C": {"classifier": "svm"}},
        sometimes=frozenset({"coefficients_", "cores_", "factors_"}),
    ),
    "TransductiveMKLClassifier": Entry(
        sometimes=frozenset({"eigenvalues_", "eigenvectors_"}),
        read_with={"vectors": {"weight_set": "spectral"}},
    ),
}

# their callbacks see the steps of a search, not those of a fit
SEARCHES = {
    "RegularizedMKLClassifier",
    "RegularizedMKLRegressor",
    "MKLClassifierCV",
    "MKLSurvivalCV",
    "MKLRegressorCV",
    "MKLRidgeCV",
    "MKLRidgeClassifierCV",
}


def public_estimators():
    """The classes with `fit` that the package exports and that the registry of methods names."""
    listed = {cls for method in list_methods() for cls in method.estimators.values()}
    return sorted({*exported_estimators(), *listed}, key=lambda cls: cls.__name__)


PUBLIC = [cls for cls in public_estimators() if cls.__name__ in ENTRIES]


def names_of(cls):
    """The parameters of a class; ``kernels`` where it takes several views."""
    names = set(cls().get_params(deep=False))
    takes_one = getattr(cls, "_has_one_kernel", False) or cls.__name__.startswith("ProjectionKernel")
    return names - {"kernels"} if takes_one else names


def having(*names, among=PUBLIC):
    """The estimators that have these parameters, for parametrize."""
    found = [cls for cls in among if set(names) <= names_of(cls)]
    return pytest.mark.parametrize("cls", found, ids=lambda cls: cls.__name__)


every = having()
every_with_kernels = having("kernels")


def target(cls):
    if issubclass(cls, MKLSurvival | MKLSurvivalCV):
        return TIMES
    if is_regressor(cls()):
        return VALUES
    needs_labels = is_classifier(cls()) or cls().__sklearn_tags__().target_tags.required
    return LABELS if needs_labels else None


SUPERVISED = [cls for cls in PUBLIC if target(cls) is not None]
supervised = having(among=SUPERVISED)
classifying = having(among=[cls for cls in SUPERVISED if target(cls) is LABELS])


def make(cls, kernels=VIEWS, **parameters):
    given = {"random_state": 0} if "random_state" in cls().get_params(deep=False) else {}
    if "kernels" in names_of(cls):
        given["kernels"] = kernels
    return cls(**(given | ENTRIES[cls.__name__].quick | parameters))


def fit(model, table=X, y=None, **options):
    """Fit to the given target, or to that of its kind. How well a model does is none of our business here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(table, target(type(model)) if y is None else y, **options)


@cache
def fitted(cls):
    """Fitted once, for all tests that only look at it."""
    return fit(make(cls))


@cache
def framed(cls):
    return fit(make(cls, NAMED_VIEWS), pd.DataFrame(X, columns=COLUMNS))


QUESTIONS = ("decision_function", "predict_proba", "score_samples", "transform", "predict")


def answers(model, table=FRESH):
    """What a model says of samples, by the names of its methods."""
    said = {name: getattr(model, name)(table) for name in QUESTIONS if hasattr(model, name)}
    assert said, f"{type(model).__name__} has none of the methods {QUESTIONS}"
    return said


def ask(model, table):
    return answers(model, table)


def assert_same_bits(first, second):
    assert first.keys() == second.keys()
    for name, answer in first.items():
        np.testing.assert_array_equal(second[name], answer, err_msg=name)


def assert_close(first, second, atol):
    assert first.keys() == second.keys()
    for name, answer in first.items():
        if name == "transform":  # components have no sign
            np.testing.assert_allclose(np.abs(second[name]), np.abs(answer), rtol=0, atol=atol, err_msg=name)
        elif answer.dtype.kind == "f":
            np.testing.assert_allclose(second[name], answer, rtol=0, atol=atol, err_msg=name)
        else:
            np.testing.assert_array_equal(second[name], answer, err_msg=name)


def refuses(*parts, error=ValueError):
    """The message holds these parts in this order."""
    return pytest.raises(error, match="(?s)" + ".*".join(re.escape(part) for part in parts))


def spoiled(value, row=7, column=1):
    bad = X.copy()
    bad[row, column] = value
    return bad


def test_every_public_estimator_has_an_entry():
    names = {cls.__name__ for cls in public_estimators()}
    assert names == set(ENTRIES), (
        f"ENTRIES of {__file__}: add {names - set(ENTRIES)}, remove {set(ENTRIES) - names}"
    )


# --- tables that are refused --------------------------------------------------------------------------------

OBJECTS = X.astype(object)
OBJECTS[7, 1] = "left"
TABLES = {
    "NaN": (spoiled(np.nan), ["NaN"]),
    "infinity": (spoiled(np.inf), ["infinity"]),
    "minus infinity": (spoiled(-np.inf), ["infinity"]),
    "complex": (X + 1j, ["Complex data not supported"]),
    "objects": (OBJECTS, ["could not convert string to float: 'left'"]),
    "one dimension": (X[:, 0], ["Expected 2D array, got 1D array"]),
    "three dimensions": (X[:, :, None], ["dim 3", "dim <= 2 is required"]),
    "no row": (X[:0], ["0 sample(s)", "minimum of 1 is required"]),
    "no column": (X[:, :0], ["0 feature(s)", "minimum of 1 is required"]),
    "a number": (np.float64(3.0), ["Expected 2D array, got scalar array"]),
}


@every
@pytest.mark.parametrize("name", TABLES)
def test_tables_that_are_refused(cls, name):
    table, parts = TABLES[name]
    y = target(cls)
    with refuses(*parts):
        make(cls).fit(table, y if y is None else y[: len(np.atleast_1d(table))])


@every
def test_a_number_that_is_not_finite_is_placed(cls):
    place = ENTRIES[cls.__name__].place
    for value, word in ((np.nan, "NaN"), (np.inf, "infinity")):
        where = [place, word] if not cls.__name__.startswith("Projection") else ["Input X contains", word]
        with refuses(*where):
            make(cls).fit(spoiled(value), target(cls))
        with refuses(word):
            ask(fitted(cls), np.full((2, 3), value))


@every_with_kernels
def test_the_sparse_table_is_looked_at_too(cls):
    with refuses("view 'tap'", "NaN"):
        make(cls).fit(scipy.sparse.csr_matrix(spoiled(np.nan)), target(cls))


@every
def test_text_in_a_frame_is_named(cls):
    frame = pd.DataFrame(X, columns=COLUMNS).assign(q="left")
    named = (
        [] if cls.__name__.startswith("Projection") else ["must be numeric", "'q'", "Encode it as numbers"]
    )
    with refuses(*(named or ["could not convert string to float: 'left'"])):
        make(cls).fit(frame, target(cls))


@every
def test_new_samples_that_are_refused(cls):
    model = fitted(cls)
    with refuses("X has 2 features", f"{cls.__name__} is expecting 3 features"):
        ask(model, FRESH[:, :2])
    with refuses("Expected 2D array, got 1D array"):
        ask(model, FRESH[0])
    with refuses("0 sample(s)"):
        ask(model, FRESH[:0])


METHODS = (
    "sample_kernel_weights",
    "mixture_weights",
    "contributions",
    "active_kernels",
    "combined_kernel",
    *QUESTIONS,
)


@every
def test_methods_of_a_model_that_is_not_fitted(cls):
    for name in METHODS:
        if hasattr(make(cls), name):
            with pytest.raises(NotFittedError, match="not fitted"):
                getattr(make(cls), name)(FRESH)
    if hasattr(make(cls), "weights_frame"):
        with pytest.raises(NotFittedError, match="not fitted"):
            make(cls).weights_frame()


# --- targets and weights ------------------------------------------------------------------------------------


@supervised
def test_targets_that_are_refused(cls):
    y = target(cls)
    with refuses("requires y to be passed"):
        make(cls).fit(X, None)
    with refuses("same number of samples", "24", "23"):
        make(cls).fit(X, y[:-1])
    if y is TIMES:
        bad = TIMES.copy()
        bad["f1"][3] = np.nan
        with refuses("the time of y must be finite", "row 3 has nan"):
            make(cls).fit(X, bad)
        return
    with refuses("NaN"):
        make(cls).fit(X, np.r_[np.nan, np.ones(N - 1)])
    if y is VALUES:
        with refuses("infinity"):
            make(cls).fit(X, np.r_[np.inf, VALUES[1:]])


@classifying
def test_labels_that_are_refused(cls):
    with refuses("at least 2 classes", "1 class", "'up'"):
        make(cls).fit(X, np.full(N, "up"))
    with refuses("Unknown label type"):
        make(cls).fit(X, VALUES)
    with refuses("1d array", "(24, 2)"):
        make(cls).fit(X, np.stack([LABELS, LABELS], axis=1))


WEIGHTED = [cls for cls in PUBLIC if "sample_weight" in inspect.signature(cls.fit).parameters]


@having(among=WEIGHTED)
def test_sample_weights_that_are_refused(cls):
    y = target(cls)
    for weights, parts in {
        "zero": (np.zeros(N), ["sample_weight", "zero"]),
        "negative": (-np.ones(N), ["Negative values", "sample_weight"]),
        "too few": (np.ones(N - 1), ["sample_weight"]),
        "missing": (np.full(N, np.nan), ["sample_weight", "NaN"]),
    }.values():
        with refuses(*parts):
            make(cls).fit(X, y, sample_weight=weights)
    if y is LABELS:
        with refuses("'down'", "positive weight"):
            make(cls).fit(X, y, sample_weight=(LABELS == "up").astype(float))


# --- kernels and views --------------------------------------------------------------------------------------


@every_with_kernels
def test_views_that_are_refused(cls):
    y, frame = target(cls), pd.DataFrame(X, columns=COLUMNS)
    with refuses("distinct", "'tap'"):
        make(cls, [("tap", Linear(), [0]), ("tap", Linear(), [1])]).fit(X, y)
    with refuses("'tap'", "'z'"):
        make(cls, [("tap", Linear(), ["z"])]).fit(frame, y)
    with refuses("'tap'", "3"):
        make(cls, [("tap", Linear(), [3])]).fit(X, y)
    for kernels in ("gauss", [], 3, [("tap", "linear-ish", [0])]):
        with pytest.raises((ValueError, TypeError), match=r"kernel|view"):
            make(cls, kernels).fit(X, y)


@every_with_kernels
def test_views_that_tell_nothing_apart_are_refused(cls):
    flat = X.copy()
    for value, word in ((2.0, "constant"), (0.0, "all zero")):
        flat[:, 2] = value
        with refuses("'mic'", word, "Remove it"):
            make(cls, [VIEWS[0], View("mic", Linear(), [2], standardize=False)]).fit(flat, target(cls))


@every_with_kernels
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_stacks_that_are_not_finite(cls, value, word):
    bad = stack()
    bad[3, 4, 1] = bad[4, 3, 1] = value
    with refuses("finite", "'kernel-1'", word, "(3, 4)"):
        make(cls, "precomputed").fit(bad, target(cls))
    with refuses(word):
        ask(precomputed(cls), np.full((N, N, 2), value))


@cache
def precomputed(cls):
    return fit(make(cls, "precomputed"), stack())


@every_with_kernels
def test_matrices_that_are_no_kernels(cls):
    y, bad = target(cls), stack()
    bad[4, 17, 1] += 0.03
    with refuses("symmetric", "'kernel-1'", "3.0e-02 at (4, 17)", "(K + K.T) / 2"):
        make(cls, "precomputed").fit(bad, y)
    for value, word in ((1.0, "constant"), (0.0, "all zero")):
        bad = stack()
        bad[:, :, 0] = value
        with refuses("'kernel-0'", word):
            make(cls, "precomputed").fit(bad, y)
    bad = stack()
    bad[:, :, 1] -= 0.5 * np.eye(N)
    with refuses("'kernel-1'", "eigenvalue -0.5", "psd="):
        make(cls, "precomputed").fit(bad, y)
    for psd in ("clip", "shift"):
        model = fit(make(cls, KernelBank("precomputed", psd=psd)), bad)
        if psd == "shift" or cls.__name__ != "NonstationaryClassifier":  # which needs a constant diagonal
            assert all(
                np.isfinite(said).all() for said in answers(model, bad).values() if said.dtype == float
            )


@every_with_kernels
@pytest.mark.parametrize("shape", [(N, N - 1, 2), (N, N, 0), (0, 0, 2), (N,), (N, N, 2, 2)])
def test_stacks_of_wrong_shape(cls, shape):
    y = target(cls)
    with pytest.raises(ValueError, match=r"shape|sample"):
        make(cls, "precomputed").fit(np.ones(shape), y if y is None else y[: shape[0]])


@every_with_kernels
def test_new_stacks_of_wrong_shape(cls):
    for bad in (stack()[:, :-1], stack()[:, :, :1], stack()[:0]):
        with pytest.raises(ValueError, match="shape"):
            ask(precomputed(cls), bad)


GRAM_NAMES = ("tap", "mic")


def gram_forms(A=X, names=GRAM_NAMES):
    """The matrices of `names` between the rows of A and the training rows, in every form; arrays are last."""
    matrices = dict(zip(GRAM_NAMES, np.moveaxis(stack(A), 2, 0), strict=True))
    grams = {name: matrices[name] for name in names}
    arrays = list(grams.values())
    array = arrays[0] if len(arrays) == 1 else np.asarray(stack_kernels(arrays))
    return {"dict": grams, "named stack": stack_kernels(grams), "list": arrays, "array": array}


def check_contributions_frame(model, X):
    """Its parts are the contributions, and sum to the score that regressors and novelty detectors answer."""
    frame, parts = model.contributions_frame(X), np.asarray(model.contributions(X))
    if parts.ndim == 3:
        summed = frame.drop(columns=["score"], level=1).T.groupby(level=0, sort=False).sum().T
        np.testing.assert_allclose(frame.xs("score", axis=1, level=1), summed, atol=1e-9)
        return
    names = list(model.view_names_)
    assert list(frame.columns) == [*names, "intercept", "score"]
    np.testing.assert_array_equal(frame[names], parts)
    np.testing.assert_allclose(frame[[*names, "intercept"]].sum(axis=1), frame["score"], atol=1e-9)
    if not hasattr(model, "classes_"):
        answer = model.decision_function if hasattr(model, "decision_function") else model.predict
        np.testing.assert_allclose(frame["score"], answer(X), atol=1e-9)


@every_with_kernels
def test_gram_matrices_in_any_form_are_the_same_model(cls):
    names = GRAM_NAMES[:1] if getattr(cls, "_has_one_kernel", False) else GRAM_NAMES
    models = {form: fit(make(cls, "precomputed"), X_) for form, X_ in gram_forms(names=names).items()}
    new = gram_forms(FRESH, names)
    said = answers(models["array"], new["array"])
    for form, model in models.items():
        has_names = form in ("dict", "named stack")
        if hasattr(model, "view_names_"):
            expected = names if has_names else [f"kernel-{m}" for m in range(len(names))]
            assert list(model.view_names_) == list(expected)
        for given, table in new.items():
            if given == "dict" and not has_names and len(names) > 1:
                with refuses("the kernels had no names in fit"):
                    ask(model, table)
            else:
                assert_same_bits(said, answers(model, table))
        if has_names:
            others = {"other": np.ones((2, 2)), **dict(reversed(new["dict"].items()))}
            assert_same_bits(said, answers(model, others))
            if hasattr(model, "contributions"):
                np.testing.assert_array_equal(model.contributions(others), model.contributions(new["array"]))
                check_contributions_frame(model, others)
            with refuses("the names of fit", f"without {list(names)}"):
                ask(model, {"other": np.ones((7, N))})


@every_with_kernels
def test_gram_matrices_that_do_not_fit_each_other(cls):
    for bad, error, parts in (
        ({}, ValueError, ["at least one matrix; got none"]),
        ({"tap": np.eye(N), 3: np.eye(N)}, TypeError, ["must be a non-empty string; got 3"]),
        (
            {"tap": np.eye(N), "mic": np.eye(5)},
            ValueError,
            ["'mic' has shape (5, 5)", "'tap' has shape (24, 24)"],
        ),
    ):
        with refuses(*parts, error=error):
            make(cls, "precomputed").fit(bad, target(cls))
    ids = [f"s{i}" for i in range(N)]
    turned = pd.DataFrame(stack()[:, :, 0], index=ids, columns=ids[::-1])
    with refuses("rows and the columns", "'s0' in row 0 and 's23' in column 0"):
        make(cls, "precomputed").fit({"tap": turned}, target(cls))


# --- parameters ---------------------------------------------------------------------------------------------

# checked by scikit-learn, taken as they are, or objects with tests of their own
OTHERS = {
    "kernels", "kernel", "learner", "machine", "left", "right", "split", "task", "task_column", "costs",
    "priors", "cv", "scoring", "class_weight", "gating_features", "n_jobs", "random_state", "verbose",
}  # fmt: skip
TOO_LARGE = {"nu": [1.5], "epsilon": [np.inf], "tol": [np.inf]}
ZERO_IS_FINE = {
    "epsilon",
    "margin",
    "gating_reg",
    "gating_sparsity",
    "cost_reg",
    "projection_reg",
    "max_steps",
    "eig_tol",
    "rho",
}


def wrong_values():
    """(class, parameter, value): a word for every option and number, and numbers out of range."""
    for cls in PUBLIC:
        for name, default in cls().get_params(deep=False).items():
            if name in OTHERS or isinstance(default, bool):
                continue
            values = ["nonsense"] if isinstance(default, str) else ["nonsense", np.nan, -1, 0]
            values += [2.5] if isinstance(default, int) else TOO_LARGE.get(name, [])
            for value in values:
                zero_is_fine = name in ZERO_IS_FINE and cls.__name__ != "NonstationaryClassifier"
                zero_is_fine |= (cls.__name__, name) == ("RegularizedMKKM", "reg")
                if not (value == 0 and zero_is_fine):
                    yield pytest.param(cls, name, value, id=f"{cls.__name__}-{name}-{value}")


@pytest.mark.parametrize(("cls", "name", "value"), list(wrong_values()))
def test_wrong_values_of_parameters_are_named(cls, name, value):
    model = make(cls, **ENTRIES[cls.__name__].read_with.get(name, {})).set_params(**{name: value})
    message = rf"(?s)^{name}\b.* must be.*got {re.escape(repr(value))}"
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(X, target(cls))


@having("costs")
@pytest.mark.parametrize(
    ("costs", "parts"),
    [
        ([1.0], ["costs", "2 kernels", "(1,)"]),
        ([1.0, -2.0], ["costs must be positive", "'mic'", "-2.0"]),
        ([1.0, 0.0], ["costs must be positive", "'mic'", "0.0"]),
        ([np.nan, 1.0], ["costs must be positive", "'tap'", "nan"]),
        ({"tip": 1.0}, ["costs", "'tip'", "'tap'", "'mic'"]),
        ("cheap", ["costs", "cheap"]),
    ],
    ids=str,
)
def test_costs_that_are_refused(cls, costs, parts):
    with refuses(*parts, error=(ValueError, TypeError)):
        make(cls, costs=costs).fit(X, target(cls))


@having("probability")
def test_calibration_needs_two_of_each_class(cls):
    y = np.where(np.arange(N) == 0, "rare", "common")
    parts = ["probability=True", "at least 2 samples", "'rare'", "decision_function"]
    if cls.__name__ in SEARCHES:
        parts = ["at least 2 samples of each class", "'rare'"]  # its own folds ask first
    with refuses(*parts):
        fit(make(cls, probability=True), X, y)


@every
def test_names_are_listed(cls):
    """`dir`, by which shells complete what is typed, looks at every attribute, fitted or not."""
    assert {"fit", "get_params"} <= set(dir(make(cls)))
    assert {"fit", "n_features_in_"} <= set(dir(fitted(cls)))


@every
def test_clone_and_parameters(cls):
    model = make(cls)
    again = clone(fitted(cls))
    assert repr(again) == repr(model) and not hasattr(again, "n_features_in_")
    parameters = model.get_params(deep=False)
    assert set(parameters) == set(inspect.signature(cls).parameters)
    assert repr(cls().set_params(**parameters)) == repr(model)
    with refuses("Invalid parameter 'nonsense'"):
        model.set_params(nonsense=1)


# --- fits ---------------------------------------------------------------------------------------------------


@every
def test_nothing_that_was_passed_is_modified(cls):
    """Arrays that cannot be written to give the same model; they, views and parameters stay as they were."""
    table, y, views = X.copy(), copy.copy(target(cls)), copy.deepcopy(VIEWS)
    for array in (table, y):
        if array is not None:
            array.flags.writeable = False
    model = make(cls, views)
    before = repr(model.get_params())
    assert_same_bits(answers(fitted(cls)), answers(fit(model, table, y)))
    assert repr(model.get_params()) == before and repr(views) == repr(VIEWS)
    np.testing.assert_array_equal(table, X)
    np.testing.assert_array_equal(y, target(cls))
    if cls in WEIGHTED:
        weights = np.linspace(0.5, 2.0, N)
        weights.flags.writeable = False
        assert answers(fit(make(cls), table, y, sample_weight=weights))
    if "kernels" in names_of(cls):
        Ks = stack()
        Ks.flags.writeable = False
        assert_same_bits(answers(precomputed(cls), Ks), answers(fit(make(cls, "precomputed"), Ks), Ks))
        np.testing.assert_array_equal(Ks, stack())


@every
def test_a_second_fit_has_the_same_bits(cls):
    model = clone(fitted(cls))
    first = answers(fit(model))
    assert_same_bits(answers(fitted(cls)), first)
    other = fit(make(cls), X[::-1] + 1.0, None if target(cls) is None else target(cls)[::-1])
    assert_same_bits(first, answers(fit(other)))  # nothing of an earlier fit remains


@having(among=[cls for cls in PUBLIC if ENTRIES[cls.__name__].by_order is not None])
def test_the_order_of_samples_does_not_matter(cls):
    order, y = np.random.default_rng(1).permutation(N), target(cls)
    other = fit(make(cls), X[order], y if y is None else y[order])
    assert_close(answers(fitted(cls)), answers(other), ENTRIES[cls.__name__].by_order)


@having("kernels", among=[cls for cls in PUBLIC if ENTRIES[cls.__name__].same_kernels is not None])
def test_precomputed_kernels_give_the_same_model(cls):
    entry = ENTRIES[cls.__name__]
    model = fit(make(cls, **entry.same_kernels))
    other = fit(make(cls, "precomputed", **entry.same_kernels), stack())
    assert_close(answers(model), answers(other, stack(FRESH)), entry.by_kernels)


@having(among=[cls for cls in PUBLIC if cls().__sklearn_tags__().input_tags.sparse])
def test_sparse_tables_give_the_same_model(cls):
    entry = ENTRIES[cls.__name__]
    parameters = entry.same_kernels or {}
    model = fit(make(cls, **parameters))
    other = fit(make(cls, **parameters), scipy.sparse.csr_matrix(X))
    assert_close(answers(model), answers(other, scipy.sparse.csr_matrix(FRESH)), entry.by_kernels)


@every
def test_parameters_set_after_the_fit_do_not_change_the_model(cls):
    model, others = pickle.loads(pickle.dumps(fitted(cls))), cls().get_params(deep=False)
    others.pop("split", None)  # of pairs: how the rows are to be read, of new pairs too
    assert_same_bits(answers(fitted(cls)), answers(model.set_params(**others)))


@every_with_kernels
def test_folds_of_a_precomputed_stack_are_those_of_the_table(cls):
    """Rows and columns are cut; behind a step that does nothing, and in a search, too."""
    parameters = ENTRIES[cls.__name__].same_kernels
    if parameters is None or not hasattr(cls, "predict"):
        parameters = {}
    y = target(cls)
    ready = make(cls, "precomputed", **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not hasattr(cls, "fit_predict") and hasattr(cls, "predict"):
            said = cross_val_predict(ready, stack(), y, cv=2)
            if ENTRIES[cls.__name__].same_kernels is not None:
                expected = cross_val_predict(make(cls, **parameters), X, y, cv=2)
                assert_close({"predict": expected}, {"predict": said}, 1e-2)
            else:
                assert said.shape == (N,)
        search = GridSearchCV(make_pipeline("passthrough", make(cls)), {}, cv=2, scoring=lambda *_: 0.0)
        assert search.fit(X, y).best_estimator_[-1].n_features_in_ == 3


@every
def test_frames_keep_their_names(cls):
    model, fresh = framed(cls), pd.DataFrame(FRESH, columns=COLUMNS)
    assert model.feature_names_in_.tolist() == COLUMNS and model.n_features_in_ == 3
    assert_same_bits(answers(fitted(cls)), answers(model, fresh))
    with refuses("feature names should match"):
        ask(model, fresh[COLUMNS[::-1]])


@every
def test_pickles_and_files_say_the_same(cls, tmp_path):
    model = fitted(cls)
    for other in (
        pickle.loads(pickle.dumps(model)),
        load_model(save_model(model, tmp_path / "model.skops")),
        copy.deepcopy(model),
    ):
        assert_same_bits(answers(model), answers(other))
        assert repr(other.get_params()) == repr(model.get_params())


# --- what a fit leaves --------------------------------------------------------------------------------------


def documented(cls):
    """The names under Attributes of the docstring."""
    section = re.search(r"^Attributes\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}|\Z)", inspect.getdoc(cls), re.M | re.S)
    assert section, f"{cls.__name__} documents no attributes"
    heads = re.findall(r"^(\w[^:\n]*)", section[1], re.M)
    return {name for head in heads for name in re.findall(r"\w+_\b", head)}


@every
def test_documented_attributes_are_there(cls):
    names = documented(cls) - ENTRIES[cls.__name__].sometimes
    missing = sorted(name for name in names if not hasattr(framed(cls), name))
    assert not missing, f"{cls.__name__} documents {missing}, and has none of them"


@having("kernels", among=[cls for cls in PUBLIC if "kernel_weights_" in documented(cls)])
def test_kernel_weights_belong_to_views(cls):
    model = fitted(cls)
    assert list(model.view_names_) == ["tap", "mic"]
    weights = model.kernel_weights_
    assert weights.shape[-1] == 2 and weights.dtype == np.float64 and np.isfinite(weights).all()
    frame = model.weights_frame()
    assert list(frame.index) == ["tap", "mic"]


@having("tol", "callback")
def test_certificates(cls):
    model = fitted(cls)
    assert isinstance(model.status_, str) and model.n_iter_ >= 1
    assert model.history_ and all(isinstance(entry, dict) for entry in model.history_)


@having("callback", among=[cls for cls in PUBLIC if cls.__name__ not in SEARCHES])
def test_a_callback_sees_the_history_and_stops_the_fit(cls):
    seen = []
    model = fit(make(cls, callback=lambda entry: seen.append(dict(entry))))
    assert_same_bits(answers(fitted(cls)), answers(model))
    assert [entry["iteration"] for entry in seen] == [entry["iteration"] for entry in model.history_]
    assert all(entry.keys() >= {"objective", "gap", "n_active"} for entry in seen)
    calls = []
    stopped = fit(make(cls, callback=lambda entry: calls.append(entry) or True))
    assert stopped.status_ == "interrupted" and len(calls) == 1
    assert answers(stopped)
    with refuses("callback", "must be", error=TypeError):
        make(cls, callback="stop").fit(X, target(cls))


@having("verbose")
def test_progress_is_printed_when_asked_for(cls, capsys):
    fit(make(cls))
    assert capsys.readouterr() == ("", "")
    fit(make(cls, verbose=1))
    out, err = capsys.readouterr()
    assert err.strip() and not out

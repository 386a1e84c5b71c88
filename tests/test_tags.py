"""scikit-learn's interfaces: tags are what estimators do, weights are routed, frames keep their names."""

import inspect

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from multikernel import CombinedKernelPCA, KernelBank, MKLClassifier, MKLRegressor, stack_kernels
from multikernel.kernels import Gaussian, Hamming, Linear, Mixed, Spectrum
from multikernel.survival import MKLSurvival, MKLSurvivalCV
from tests.public import public_estimators
from tests.test_contract import ENTRIES

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:kernels .* are linearly dependent"),  # of a column with two values
    pytest.mark.filterwarnings("ignore::multikernel.views.KernelWarning"),  # few samples, random labels
]

N = 24
_RNG = np.random.default_rng(0)
X = _RNG.normal(size=(N, 3))
LABELS = np.where(X[:, 0] + 0.3 * _RNG.normal(size=N) > 0, "up", "down")
THREE = np.where(X[:, 1] > 0.8, "aside", LABELS)
SPARSE = scipy.sparse.csr_matrix(np.where(np.abs(X) > 0.7, X, 0.0))
WITH_GAP = np.where(np.arange(3 * N).reshape(N, 3) == 6, np.nan, X)
CATEGORIES = pd.DataFrame({"kind": pd.Categorical(np.where(X[:, 0] > 0, "u", "v"))})
_COUNTS = _RNG.integers(1, 4, size=(N, 2))
STRINGS = np.array([["ab" * int(k) + "c" * int(m)] for k, m in _COUNTS], dtype=object)
VIEWS = [("one", Gaussian(gamma=1.0), [0]), ("two", Linear(), [1, 2])]
ESTIMATORS = sorted(public_estimators(), key=lambda cls: cls.__name__)
ON_KERNELS = [
    cls
    for cls in ESTIMATORS
    if "kernels" in cls().get_params(deep=False) and not cls.__name__.startswith("ProjectionKernel")
]
TRANSFORMERS = [cls for cls in ESTIMATORS if hasattr(cls, "transform")]
KERNELS = {
    "mixed": Mixed(),
    "hamming": Hamming(),
    "sum": Hamming() + Mixed(),
    "product": Mixed() * Linear(),
    "sequences": Spectrum(2),
    "mixed and linear": [Mixed(), Linear()],
    "linear": "linear",
    **{how: KernelBank(VIEWS, missing=how) for how in ("error", "renormalize", "absent", "mean", "complete")},
}


def make(cls, **parameters):
    return cls(**{**ENTRIES[cls.__name__].quick, **parameters})


def target(model):
    if isinstance(model, MKLSurvival | MKLSurvivalCV):
        return np.array(list(zip(LABELS == "up", np.exp(X[:, 0]), strict=True)), "?, f8")
    return X[:, 0] if get_tags(model).estimator_type == "regressor" else LABELS


def fits(model, table, y):
    try:
        clone(model).fit(table, y)
    except (TypeError, ValueError):
        return False
    return True


# ---------------------------------------------------------------------- tags
@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_tags_say_what_a_fit_takes(cls):
    model = make(cls)
    tags, y = get_tags(model), target(model)
    assert fits(model, X, y)
    assert fits(model, SPARSE, y) == tags.input_tags.sparse
    assert fits(model, WITH_GAP, y) == tags.input_tags.allow_nan
    assert fits(model, STRINGS, y) == tags.input_tags.string
    assert fits(model, CATEGORIES, y) == tags.input_tags.categorical
    assert not tags.input_tags.pairwise and not tags.input_tags.three_d_array
    assert fits(model, X, None) != tags.target_tags.required
    if tags.target_tags.required:
        assert fits(model, X, np.column_stack([y, y])) == tags.target_tags.multi_output
    if tags.classifier_tags is not None:
        assert fits(model, X, THREE) == tags.classifier_tags.multi_class


@pytest.mark.parametrize("cls", ON_KERNELS, ids=lambda cls: cls.__name__)
def test_tags_of_precomputed_kernels(cls):
    model = make(cls, kernels="precomputed")
    tags, y = get_tags(model).input_tags, target(model)
    K = np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(axis=2))
    stack = stack_kernels([K, np.exp(-((X[:, :1] - X[:, 0]) ** 2))])
    assert tags.pairwise and fits(model, K, y)
    assert fits(model, stack, y) == tags.three_d_array
    assert fits(model, scipy.sparse.csr_matrix(K), y) == tags.sparse
    assert not tags.allow_nan and not tags.string and not tags.categorical


@pytest.mark.parametrize("kernels", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("cls", [MKLClassifier, MKLRegressor], ids=lambda cls: cls.__name__)
def test_tags_follow_the_kernels(cls, kernels):
    model = cls(kernels)
    tags, y = get_tags(model).input_tags, target(model)
    assert fits(model, WITH_GAP, y) == tags.allow_nan
    assert fits(model, SPARSE, y) == tags.sparse
    assert fits(model, STRINGS, y) == tags.string
    assert fits(model, CATEGORIES, y) == tags.categorical


def test_tags_of_refused_kernels_do_not_fail():
    assert not get_tags(MKLClassifier(3)).input_tags.allow_nan


# ---------------------------------------------------------------------- metadata routing
WEIGHTS = np.random.default_rng(1).uniform(0.1, 3.0, size=N)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_sample_weights_are_routed_through_pipeline_and_search():
    model = (
        MKLClassifier(VIEWS, C=3.0).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    )
    pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
    pipe.fit(X, LABELS, sample_weight=WEIGHTS)
    Z = StandardScaler().fit_transform(X)
    plain, alone = MKLClassifier(VIEWS, C=3.0).fit(Z, LABELS), MKLClassifier(VIEWS, C=3.0)
    alone.fit(Z, LABELS, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(pipe.decision_function(X), alone.decision_function(Z))
    assert not np.allclose(plain.decision_function(Z), alone.decision_function(Z))
    search = GridSearchCV(pipe, {"mklclassifier__kernels__one__gamma": [0.1, 1.0]}, cv=2)
    search.fit(X, LABELS, sample_weight=WEIGHTS)
    best = clone(pipe).set_params(**search.best_params_).fit(X, LABELS, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(best.decision_function(X), search.decision_function(X))
    scores = cross_validate(pipe, X, LABELS, params={"sample_weight": WEIGHTS}, cv=2)["test_score"]
    np.testing.assert_allclose(scores, list(cross_validate_by_hand(pipe)))


def cross_validate_by_hand(pipe):
    for train, test in StratifiedKFold(2).split(X, LABELS):
        model = clone(pipe).fit(X[train], LABELS[train], sample_weight=WEIGHTS[train])
        yield model.score(X[test], LABELS[test], sample_weight=WEIGHTS[test])


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_every_fit_with_sample_weight_can_request_it(cls):
    takes = "sample_weight" in inspect.signature(cls.fit).parameters
    assert takes == ("sample_weight" in cls().get_metadata_routing().fit.requests)
    if not takes:
        return
    model = make(cls).set_fit_request(sample_weight=True)
    y = target(model)
    piped = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
    piped.fit(X, y, sample_weight=WEIGHTS)
    alone = make(cls).fit(StandardScaler().fit_transform(X), y, sample_weight=WEIGHTS)
    answer = "predict" if hasattr(cls, "predict") else "transform"
    np.testing.assert_array_equal(
        getattr(piped, answer)(X), getattr(alone, answer)(StandardScaler().fit_transform(X))
    )


# ---------------------------------------------------------------------- set_output
FRAME = pl.DataFrame(X, schema=["a", "b", "c"])
NAMED = [("one", Gaussian(gamma=1.0), ["z__c"]), ("two", Linear(), ["rest__a", "rest__b"])]


def test_columns_of_a_polars_frame_are_found_by_name_behind_transformers():
    scale = ColumnTransformer([("z", StandardScaler(), ["c"]), ("rest", "passthrough", ["a", "b"])])
    pipe = make_pipeline(scale, MKLClassifier(NAMED)).set_output(transform="polars")
    pipe.fit(FRAME, LABELS)
    assert list(pipe[-1].feature_names_in_) == ["z__c", "rest__a", "rest__b"]
    assert list(pipe[-1].weights_frame().index) == ["one", "two"]
    swapped = FRAME.select("b", "c", "a")
    np.testing.assert_array_equal(pipe.decision_function(swapped), pipe.decision_function(FRAME))
    pandas = clone(pipe).set_output(transform="pandas").fit(FRAME.to_pandas(), LABELS)
    np.testing.assert_array_equal(pandas.decision_function(FRAME.to_pandas()), pipe.decision_function(FRAME))


@pytest.mark.parametrize("cls", TRANSFORMERS, ids=lambda cls: cls.__name__)
def test_transformers_give_frames_with_names(cls):
    model = make(cls)
    y = target(model)
    plain = model.fit(X, y).transform(X)
    names = list(model.get_feature_names_out())
    assert plain.shape == (N, len(names))
    for kind, frame in (("polars", pl.DataFrame), ("pandas", pd.DataFrame)):
        given = make(cls).set_output(transform=kind).fit(X, y).transform(X)
        assert isinstance(given, frame) and list(given.columns) == names
        np.testing.assert_array_equal(given.to_numpy(), plain)


def test_frames_of_our_transformer_feed_the_next_step_by_name():
    parts = CombinedKernelPCA(n_components=2, kernels=[Linear(), Gaussian()])
    names = [("first", Linear(), ["combinedkernelpca0"]), ("second", Linear(), ["combinedkernelpca1"])]
    pipe = make_pipeline(parts, MKLClassifier(names)).set_output(transform="polars").fit(FRAME, LABELS)
    assert list(pipe[-1].weights_frame().index) == ["first", "second"]

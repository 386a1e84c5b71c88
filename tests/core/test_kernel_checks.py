"""What a fit says of its kernels, where the doctor would: each line, its remedy, and silence elsewhere."""

import re
import warnings
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
    make_moons,
)
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from multikernel import (
    CombinedKernelClassifier,
    KernelBank,
    LocalizedMKLClassifier,
    MKLClassifier,
    MKLOneClass,
    MKLRegressor,
    MKLRidge,
    View,
    join_views,
    stack_kernels,
)
from multikernel.bayesian import BayesianMKLClassifier
from multikernel.boosting import ColumnBoostingClassifier
from multikernel.core.kernel_checks import is_near_identity, remember, scale_gap, tell_of_kernels
from multikernel.doctor import diagnose
from multikernel.kernels import Chi2, Gaussian, Laplacian, Linear
from multikernel.kernels._rows import Rows
from multikernel.kernels.together import Joined, OnDemand
from multikernel.kernels.transforms import inverse_roots
from multikernel.nonstationary import NonstationaryClassifier
from multikernel.soft_labels import PosteriorSVC
from multikernel.views import KernelWarning
from tests.raw import raw
from tests.shared_data import needs_shared_data, shared_data_folder

IDENTITY = "nearly the identity: for half of the samples"


def two_classes(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 4)) + y[:, None], y


def said(fit):
    """The lines of a fit, by KernelWarning alone."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    return [str(entry.message) for entry in caught if entry.category is KernelWarning]


# ---------------------------------------------------------------------- near-identity
@pytest.mark.parametrize(
    "make",
    [
        MKLClassifier, MKLRegressor, MKLRidge, MKLOneClass, PosteriorSVC, LocalizedMKLClassifier,
        ColumnBoostingClassifier, BayesianMKLClassifier, NonstationaryClassifier,
        lambda kernels: CombinedKernelClassifier(kernels=kernels),
    ],
)  # fmt: skip
def test_every_family_tells_of_a_near_identity_kernel(make):
    X, y = two_classes()
    lines = said(lambda: make([View("wide", Gaussian()), View("narrow", Gaussian(gamma=1e3))]).fit(X, y))
    found = [line for line in lines if IDENTITY in line]
    assert len(found) == 1
    assert found[0].startswith("kernel 'narrow' is ")
    assert "\n" not in found[0]


@pytest.mark.parametrize("kernel", [Gaussian(gamma=1e3), Laplacian(gamma=1e3), Chi2(gamma=1e6)])
def test_the_width_to_use_instead(kernel):
    X, y = two_classes()
    X = np.abs(X)
    [line] = [line for line in said(lambda: MKLClassifier(raw(kernel)).fit(X, y)) if IDENTITY in line]
    assert re.search(r'Use a wider kernel, such as gamma="median", here about [0-9.e+-]+\.$', line)
    better = type(kernel)(gamma="median")
    assert not said(lambda: MKLClassifier(raw(better)).fit(X, y))


def test_the_doctor_has_the_same_words():
    X, y = two_classes()
    K = np.eye(60) + 1e-3 * Gaussian(gamma=0.1)(X)
    findings = [finding for finding in diagnose({"K": K}, y).findings if "identity" in finding.what]
    [line] = [line for line in said(lambda: MKLClassifier("precomputed").fit(K, y)) if IDENTITY in line]
    assert findings[0].what in line
    assert findings[0].remedy in line


@pytest.mark.parametrize("gram", ["dense", "memmap"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_on_stacks_in_memory_and_on_disk(gram, dtype):
    X, y = two_classes()
    bank = KernelBank([View("wide", Gaussian()), View("narrow", Gaussian(gamma=1e3))], gram=gram, dtype=dtype)
    lines = said(lambda: MKLClassifier(bank).fit(X, y))
    assert sum(line.startswith("kernel 'narrow' is ") for line in lines) == 1


def test_on_factors():
    X, y = two_classes(200)
    views = raw([("wide", Gaussian()), ("narrow", Gaussian(gamma=1e3)), ("large", 1e4 * Linear())])
    lines = said(lambda: MKLClassifier(KernelBank(views, gram="low_rank", rank=40)).fit(X, y))
    assert [line.split(":")[0] for line in lines] == [
        "kernel 'narrow' is nearly the identity",
        "the kernels are of different scale",
    ]
    assert 'such as gamma="median"' in lines[0]
    assert not said(lambda: MKLClassifier(KernelBank(views[:1], gram="low_rank", rank=40)).fit(X, y))


def test_a_kernel_that_half_of_the_samples_lack_is_no_identity():
    K = np.zeros((40, 40))
    K[:15, :15] = 0.5 + 0.5 * np.eye(15)
    assert not is_near_identity(K)


def test_a_few_rows_decide_only_against_it():
    """Neighbors in pairs: each sample has one other like it, which a sample of the columns would miss."""
    K = np.kron(np.eye(1500), np.full((2, 2), 0.9) + 0.1 * np.eye(2))
    assert not is_near_identity(K)
    K[::2] = K[:, ::2] = 0.0
    np.fill_diagonal(K, 1.0)
    assert is_near_identity(K)


def test_widths_that_the_library_chose_are_told_of_only_together():
    Ks = np.stack([np.eye(30), Linear()(two_classes(30)[0])])
    both, one = SimpleNamespace(view_names_=["a", "b"]), SimpleNamespace(view_names_=["a"])
    assert not said(lambda: tell_of_kernels(Ks, both, automatic=True))
    assert said(lambda: tell_of_kernels(Ks, both))
    assert said(lambda: tell_of_kernels(Ks[:1], one, automatic=True))


# ---------------------------------------------------------------------- scales
def test_scales_far_apart():
    X, y = two_classes()
    views = raw([("genes", Linear()), ("age", Linear(), [0])])
    big = X * np.array([1e-2, 1.0, 1.0, 1.0])
    [line] = said(lambda: MKLClassifier(views).fit(big, y))
    assert "the mean diagonal of 'genes' is more than 1000 times that of 'age'" in line
    assert 'normalize="variance"' in line
    scaled = [View(view.name, view.kernel, view.columns, "unit_trace") for view in views]
    assert not said(lambda: MKLClassifier(scaled).fit(big, y))
    assert not said(lambda: MKLClassifier(views).fit(X, y))


@pytest.mark.parametrize(("factor", "speaks"), [(999.0, False), (1001.0, True)])
def test_the_threshold_is_a_thousand(factor, speaks):
    X, y = two_classes()
    K = Gaussian(gamma=0.1)(X)
    lines = said(
        lambda: MKLClassifier("precomputed").fit(
            stack_kernels([K, factor * Linear()(X) / np.trace(Linear()(X)) * 60]), y
        )
    )
    assert bool(lines) == speaks


def test_costs_that_bring_kernels_to_one_scale_or_keep_them_apart_are_no_reason():
    X, y = two_classes()
    K = Gaussian(gamma=0.1)(X)
    stack = stack_kernels([K, 1e4 * K @ K])
    assert said(lambda: MKLClassifier("precomputed").fit(stack, y))
    assert not said(lambda: MKLClassifier("precomputed", costs=[1.0, 1e3]).fit(stack, y))
    assert not said(lambda: MKLClassifier("precomputed", costs=[1.0, 1e3]).fit(stack_kernels([K, K @ K]), y))


def test_scales_of_one_kernel_or_none():
    assert scale_gap(["a"], [1.0]) is None
    assert scale_gap(["a", "b"], [1.0, 0.0]) is None


# ---------------------------------------------------------------------- memorizing
def test_a_model_that_memorizes():
    X, y = two_classes()
    lines = said(lambda: MKLClassifier([View("narrow", Gaussian(gamma=1e3))], C=10.0).fit(X, y))
    [line] = [line for line in lines if line.startswith("the model memorizes its training samples: ")]
    assert "Kernel 'narrow' has most of the weight. Use wider kernels, a smaller C or a larger norm." in line


def test_many_support_vectors_that_say_something_are_no_sign():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 500)) + 0.5 * y[:, None]
    model = MKLClassifier([View("genes", Linear(), transforms="unit_trace")], C=100.0)
    assert not said(lambda: model.fit(X, y))
    assert model.support_.size >= 32
    assert model.score(X, y) == 1.0
    assert said(lambda: model.fit(rng.normal(size=(40, 500)), y))  # nothing to learn, and all is learned


def test_the_leave_one_out_estimate():
    beta = np.array([1.0, -1.0, 1.0, -1.0])
    found = remember(np.eye(4)[None], np.ones(1), beta, beta, 0.0)
    assert (found.support, found.right, found.alone, found.largest) == (1.0, 1.0, 0.0, 0.5)
    assert found.is_all
    assert not remember(np.outer(beta, beta)[None], np.ones(1), beta, beta, 0.0).is_all
    assert remember(np.eye(4)[None], np.ones(1), beta, np.array([1.0, -1.0, 0.0, 0.0]), 0.0) is None


# ---------------------------------------------------------------------- silence
def test_it_is_silenced_by_name():
    X, y = two_classes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=KernelWarning)
        MKLClassifier(Gaussian(gamma=1e3)).fit(X, y)


def shown(run):
    """How often each text is shown, by Python's default filter."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        run()
    assert {entry.filename for entry in caught} == {__file__}, "the line that calls the search"
    return Counter(str(entry.message).split(":")[0] for entry in caught)


MEMORIZING = {"kernel 'narrow' is nearly the identity": 1, "the model memorizes its training samples": 1}
LACKING = "some samples lack a table after the outer join"


def test_a_search_shows_each_warning_once():
    X, y = two_classes()
    model = MKLClassifier([View("narrow", Gaussian(gamma=1e3))], C=10.0)
    assert shown(lambda: cross_val_score(model, X, y)) == MEMORIZING
    assert shown(lambda: GridSearchCV(model, {"C": [10.0, 20.0]}, cv=3).fit(X, y)) == MEMORIZING
    far = MKLClassifier(raw([("genes", Linear()), ("age", Linear(), [0])]))
    assert shown(lambda: cross_val_score(far, X * [1e-3, 1.0, 1.0, 1.0], y)) == {
        "the kernels are of different scale": 1
    }


def test_a_search_on_an_outer_join_says_once_what_is_done():
    X, y = two_classes()
    ids = [f"s{i}" for i in range(60)]
    tables = {"a": pd.DataFrame(X[:, :2], ids).iloc[:50], "b": pd.DataFrame(X[:, 2:], ids).iloc[5:]}
    joined, target = join_views(tables, pd.Series(y, ids), how="outer")
    model = MKLClassifier({"a": Gaussian(), "b": Gaussian()})
    assert shown(lambda: cross_val_score(model, joined, target)) == {LACKING: 1}


def test_filters_that_ask_for_every_warning_get_it():
    X, y = two_classes()
    model = MKLClassifier([View("narrow", Gaussian(gamma=1e3))], C=10.0)
    for _ in range(2):
        assert len(said(lambda: cross_val_score(model, X, y, cv=3))) == 6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(KernelWarning, match=IDENTITY):
                make_pipeline(model).fit(X, y)


DATA = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast_cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits": lambda: tuple(part[:400] for part in load_digits(return_X_y=True)),
    "moons": lambda: make_moons(300, noise=0.2, random_state=0),
    "wide": lambda: make_classification(120, 2000, n_informative=50, class_sep=3.0, random_state=0),
}
STORED = ["sonar", "ionosphere", "wpbc", "heart_statlog", "monks3", "new_thyroid", "yale", "letter"]


@pytest.mark.parametrize("name", DATA)
def test_defaults_are_silent_on_ordinary_data(name):
    X, y = DATA[name]()
    assert not said(lambda: MKLClassifier().fit(X, y))


@needs_shared_data
@pytest.mark.thorough
@pytest.mark.parametrize("name", STORED)
def test_defaults_are_silent_on_stored_data(name):
    with np.load(shared_data_folder() / f"{name}.npz") as file:
        rows = np.random.default_rng(0).permutation(len(file["y"]))[:400]
        X, y = file["X"][rows].astype(float), file["y"][rows]
    assert not said(lambda: MKLClassifier().fit(X, y))


def test_a_kernel_on_demand_is_looked_at_without_being_written():
    rows = Rows(np.vstack([two_classes(400)[0], np.zeros((5, two_classes()[0].shape[1]))]))
    kernels = [Gaussian(gamma=1e3), Gaussian(gamma=1e-2), Linear()]
    roots = [None, None, inverse_roots(Linear().evaluate_diagonal(rows))]  # 0 where a row is
    joined = [Joined(*both) for both in zip(kernels, roots, strict=True)]
    memory = np.full((3, 405, 405), np.nan)
    lines = said(
        lambda: tell_of_kernels(
            OnDemand(memory, [rows] * 3, joined), SimpleNamespace(view_names_=["narrow", "wide", "linear"])
        )
    )
    assert np.isnan(memory).all()
    assert [line.split(":")[0] for line in lines] == ["kernel 'narrow' is nearly the identity"]

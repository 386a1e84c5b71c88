"""How kernels are stored: by the bank that an estimator is given, and what each family reads of it."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import multikernel
from multikernel import (
    KernelBank,
    KernelDiscriminantClassifier,
    KernelKNNClassifier,
    MissingViewsWarning,
    MKLClassifier,
    MKLOneClass,
    MKLRidge,
    PosteriorSVC,
    RegularizedMKLClassifier,
)
from multikernel.kernels import Gaussian, Linear
from multikernel.registry import get_method, list_methods
from multikernel.views import join_views

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 4))
Y = np.where(X[:, 0] + X[:, 2] > 0, "yes", "no")
VIEWS = [("one", Gaussian(), [0, 1]), ("two", Linear(), [2, 3])]


def test_a_bank_by_default_is_the_kernels_alone():
    plain, stored = MKLClassifier(VIEWS).fit(X, Y), MKLClassifier(KernelBank(VIEWS)).fit(X, Y)
    np.testing.assert_array_equal(plain.dual_coef_, stored.dual_coef_)
    assert stored.missing_ == "error" and stored.gram_ == "dense"


def test_searches_and_parameters_reach_the_bank_and_its_views():
    model = MKLClassifier(KernelBank(VIEWS, gram="low_rank", rank=5))
    assert model.get_params()["kernels__rank"] == 5 and "kernels__one__gamma" in model.get_params()
    grid = {"kernels__rank": [2, 20], "kernels__one__gamma": [0.01, 1.0]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", multikernel.LowRankWarning)
        search = GridSearchCV(model, grid, cv=2).fit(X, Y)
    assert search.best_estimator_.kernels.rank == search.best_params_["kernels__rank"]
    assert model.kernels.rank == 5 and model.kernels.kernels is VIEWS, "what was given is as it was"


def test_what_was_given_is_not_changed():
    bank = KernelBank(VIEWS, psd="clip", gram="memmap")
    before = dict(vars(bank))
    MKLClassifier(bank, probability=True).fit(X, Y)
    assert vars(bank) == before


@pytest.mark.parametrize(
    ("model", "name", "value"),
    [
        (KernelDiscriminantClassifier(), "dtype", "float32"),
        (KernelKNNClassifier(), "gram", "memmap"),
        (KernelKNNClassifier(), "missing", "mean"),
        (MKLOneClass(), "rank", 5),
        (PosteriorSVC(), "missing", "renormalize"),
        (RegularizedMKLClassifier(), "rank", 5),
    ],
)
def test_what_a_family_does_not_read_is_refused(model, name, value):
    asked = clone(model).set_params(kernels=KernelBank(Gaussian(), **{name: value}))
    message = f"{type(model).__name__} does not support {name}={value!r} of its KernelBank; it reads psd"
    with pytest.raises(ValueError, match=message):
        asked.fit(X, Y)


@pytest.mark.parametrize("model", [MKLOneClass(), PosteriorSVC(), RegularizedMKLClassifier()])
def test_factors_are_refused_where_there_are_none(model):
    with pytest.raises(ValueError, match="gram='low_rank' keeps no Gram matrices: it is for MKLClassifier"):
        clone(model).set_params(kernels=KernelBank(VIEWS, gram="low_rank")).fit(X, Y)


STORING = [method.name for method in list_methods() if "psd" in method.parameters(method.tasks[0])]


@pytest.mark.parametrize("method", STORING)
def test_methods_of_the_registry_put_storage_into_a_bank(method):
    found = get_method(method)
    made = found.make(found.tasks[0], psd="clip")
    assert made._storage.psd == "clip" and made.get_params()[f"{made._kernel_parameters[0]}__psd"] == "clip"


def tables(how):
    names = [f"s{k}" for k in range(40)]
    first, second = (pd.DataFrame(X[:, part], index=names) for part in (slice(0, 2), slice(2, 4)))
    return join_views({"one": first, "two": second.iloc[5:]}, y=pd.Series(Y, index=names), how=how)


def test_an_outer_join_with_gaps_renormalizes_and_says_so():
    joined, y = tables("outer")
    kernels = {"one": Gaussian(), "two": Linear()}
    with pytest.warns(
        MissingViewsWarning, match=r"5 of 40 samples lack a table .*missing='renormalize'"
    ) as said:
        model = MKLClassifier(kernels, probability=True).fit(joined, y)
    assert len(said) == 1, "the folds of the calibration do as the fit did"
    assert model.missing_ == "renormalize" and np.isfinite(model.decision_function(joined)).all()
    named = MKLClassifier(KernelBank(kernels, missing="renormalize")).fit(joined, y)  # without a warning
    np.testing.assert_array_equal(named.decision_function(joined), model.decision_function(joined))
    inner, y_inner = tables("inner")
    assert MKLClassifier(kernels).fit(inner, y_inner).missing_ == "error"
    with pytest.raises(ValueError, match="holds NaN"):
        MKLClassifier(KernelBank(kernels, missing="error")).fit(joined, y)
    with pytest.raises(ValueError, match="missing='renormalize' completes Gram matrices"):
        MKLRidge(KernelBank(kernels, gram="low_rank")).fit(joined, np.arange(40.0))

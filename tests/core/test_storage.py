"""How kernels are stored: by the bank that an estimator is given, and what each family reads of it."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import multikernel
from multikernel import KernelBank, MKLClassifier, MKLOneClass, MKLRidge
from multikernel.discriminant import KernelDiscriminantClassifier
from multikernel.doctor import diagnose
from multikernel.kernels import Gaussian, Linear
from multikernel.mkl import MissingViewsWarning, RegularizedMKLClassifier
from multikernel.registry import get_method, list_methods
from multikernel.rules import CompositionalKernelClassifier
from multikernel.soft_labels import PosteriorSVC
from multikernel.spectral import KernelKNNClassifier
from multikernel.views import join_views

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 4))
Y = np.where(X[:, 0] + X[:, 2] > 0, "yes", "no")
VIEWS = [("one", Gaussian(), [0, 1]), ("two", Linear(), [2, 3])]


def test_a_bank_by_default_is_the_kernels_alone():
    plain, stored = MKLClassifier(VIEWS).fit(X, Y), MKLClassifier(KernelBank(VIEWS)).fit(X, Y)
    np.testing.assert_array_equal(plain.dual_coef_, stored.dual_coef_)
    assert stored.missing_ == "error" and stored.gram_ == "dense"


@pytest.mark.parametrize(
    "kind",
    [
        cls
        for method in list_methods()
        for cls in method.estimators.values()
        if "kernels" in cls().get_params(deep=False) and "psd" in cls._storage_options
    ],
)
@pytest.mark.parametrize("kernels", ["auto", "precomputed"])
def test_every_family_takes_words_in_a_bank(kind, kernels):
    """Up to the checks of its data: what stands in the bank is read as if it stood alone."""
    model = kind(kernels=KernelBank(kernels))
    plain = kind(kernels=kernels)
    assert model._precomputed == plain._precomputed == (kernels == "precomputed")
    tags, alone = model.__sklearn_tags__().input_tags, plain.__sklearn_tags__().input_tags
    assert (tags.pairwise, tags.sparse, tags.three_d_array) == (
        alone.pairwise,
        alone.sparse,
        alone.three_d_array,
    )


def test_the_doctor_and_gaussian_crosses_read_a_bank():
    stack = np.stack([np.exp(-((X[:, :1] - X[:, 0]) ** 2)), X @ X.T], axis=2)
    given = [diagnose(stack, Y, kernels).n_samples for kernels in ("precomputed", KernelBank("precomputed"))]
    assert given == [40, 40]
    with pytest.raises(ValueError, match="cross='gaussian' needs a list of Gaussian kernels"):
        CompositionalKernelClassifier(KernelBank("auto"), cross="gaussian").fit(X, Y)


def test_searches_and_parameters_reach_the_bank_and_its_views():
    model = MKLClassifier(KernelBank(VIEWS, gram="low_rank", rank=5))
    assert model.get_params()["kernels__rank"] == 5 and "kernels__one__gamma" in model.get_params()
    grid = {"kernels__rank": [2, 20], "kernels__one__gamma": [0.01, 1.0]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", multikernel.mkl.LowRankWarning)
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
        MissingViewsWarning, match=r"some samples lack a table .*missing='renormalize'"
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

"""Names that parameters had in earlier versions."""

import copy
import inspect
import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone

import multikernel
from multikernel import KernelBank, MKLClassifier
from multikernel._validation import RENAMED, RENAMED_TASKS, check_task, new_by_present_names, refuse_old_names
from multikernel.core.estimator import KernelEstimator
from multikernel.datasets import list_datasets
from multikernel.doctor import diagnose
from multikernel.inspection import compare
from multikernel.registry import get_method, list_methods
from multikernel.rules import CombinedKernelPCA, MeanRule
from multikernel.rules.learner import WeightLearner
from multikernel.spectral import (
    ConformalKernel,
    KDDAClassifier,
    KernelKNNClassifier,
    SpectralKernelClassifier,
)

ESTIMATORS = [
    name
    for name in sorted(multikernel.__all__)
    if inspect.isclass(getattr(multikernel, name)) and issubclass(getattr(multikernel, name), KernelEstimator)
]
OLD_STORAGE = {"psd": "clip", "gram": "memmap", "dtype": "float32", "rank": 200, "missing": "absent"}


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("old", OLD_STORAGE)
def test_storage_is_said_by_the_bank(name, old):
    kind, value = getattr(multikernel, name), OLD_STORAGE[old]
    message = (
        f"{name} has no parameter {old!r}: the storage of kernels is set by their bank: use "
        f"{name}(KernelBank(kernels, {old}={value!r}))."
    )
    with pytest.raises(TypeError, match=re.escape(message)):
        kind(**{old: value})


def test_set_params_gives_the_new_name_too():
    with pytest.raises(TypeError, match=re.escape("MKLClassifier(KernelBank(kernels, psd='clip'))")):
        MKLClassifier().set_params(psd="clip")


@pytest.mark.parametrize(
    "kind", [ConformalKernel, KDDAClassifier, KernelKNNClassifier, SpectralKernelClassifier]
)
def test_one_kernel_is_called_as_several_are(kind):
    message = f"{kind.__name__} has no parameter 'kernel': its name is 'kernels'. Use "
    with pytest.raises(TypeError, match=message + re.escape(f"{kind.__name__}(kernels='rbf').")):
        kind(kernel="rbf")


def test_other_wrong_names_are_refused_as_ever():
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        MKLClassifier(colour=1)
    with pytest.raises(ValueError, match="Invalid parameter 'colour'"):
        MKLClassifier().set_params(colour=1)


def test_copies_pickles_and_clones():
    model = MKLClassifier(KernelBank(psd="clip"), C=3.0)
    for made in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model)), clone(model)):
        assert made.get_params(deep=False).keys() == model.get_params(deep=False).keys()
        assert made.C == 3.0 and made.kernels.psd == "clip"


def test_a_subclass_may_have_a_parameter_of_an_old_name():
    class Ranked(KernelEstimator):
        def __init__(self, kernels="auto", rank=3):
            self.kernels, self.rank = kernels, rank

    assert Ranked(rank=5).rank == 5
    assert Ranked().set_params(rank=7).rank == 7
    with pytest.raises(TypeError, match="Ranked has no parameter 'psd'"):
        Ranked(psd="clip")


def test_rows_for_any_class_and_function(monkeypatch):
    monkeypatch.setitem(RENAMED, "Thing", {"size": "width"})
    monkeypatch.setitem(RENAMED, "measure", {"far": "{owner} reads {value} of its Thing."})

    class Thing:
        __new__ = new_by_present_names

        def __init__(self, width=1):
            self.width = width

    assert Thing(width=2).width == Thing(2).width == 2
    with pytest.raises(TypeError, match=re.escape("its name is 'width'. Use Thing(width=4).")):
        Thing(size=4)
    with pytest.raises(TypeError, match="measure has no parameter 'far': measure reads 2 of its Thing"):
        refuse_old_names("measure", {"far": 2})


@pytest.mark.parametrize("name", ESTIMATORS)
def test_no_present_name_is_among_the_old_ones(name):
    kind = getattr(multikernel, name)
    old = {old for base in kind.__mro__ for old in RENAMED.get(base.__name__, {})}
    assert not old & inspect.signature(kind.__init__).parameters.keys()


X, Y = np.arange(12.0).reshape(6, 2), np.array([0, 1, 0, 1, 0, 1])


@pytest.mark.parametrize(
    ("call", "old"),
    [
        (lambda task: list_datasets(task=task), "labels"),
        (lambda task: list_methods(task), "nothing"),
        (lambda task: get_method("mkl").make(task), "classes"),
        (lambda task: get_method("mkl").parameters(task), "values"),
        (lambda task: diagnose(X, Y, task=task), "values"),
        (lambda task: compare({"mean": MeanRule()}, X, Y, task=task), "classes"),
        (lambda task: CombinedKernelPCA(task=task).fit(X, Y), "nothing"),
        (lambda task: MeanRule().fit(X @ X.T, Y, task=task), "values"),
    ],
)
def test_old_tasks_are_refused_with_the_new_ones(call, old):
    message = f"task={old!r} was renamed: use task={RENAMED_TASKS[old]!r}."
    with pytest.raises(ValueError, match=re.escape(message)):
        call(old)


def test_an_old_task_in_learns_from_is_refused_where_the_class_is_made():
    with pytest.raises(ValueError, match=r"Own\.learns_from='classes' was renamed: use .*'classification'"):
        type("Own", (WeightLearner,), {"learns_from": ("classes",)})


def test_tasks_that_never_were():
    assert check_task("survival", ("survival",)) == "survival"
    with pytest.raises(ValueError, match="task must be one of 'regression'; got 'labels'"):
        check_task("labels", ("regression",))  # no new name that is known here
    with pytest.raises(ValueError, match="task must be one of 'regression'; got 3"):
        check_task(3, ("regression",))

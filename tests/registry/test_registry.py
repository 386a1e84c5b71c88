"""Every public estimator and weight learner is a method, and can be made by its name."""

import inspect

import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.svm import SVC

import multikernel
from multikernel import View
from multikernel import rules as weights
from multikernel.kernels import Gaussian, Linear
from multikernel.registry import TASKS, get_method, list_methods
from multikernel.rules import About, EasyMKL
from tests.public import exported

METHODS = list_methods()


def public_classes():
    """Estimators and learners that the package exports, without what they are made of."""
    others = {multikernel.KernelBank, weights.WeightLearner, weights.TwoClassLearner}
    found = exported().values()
    return [c for c in found if inspect.isclass(c) and issubclass(c, BaseEstimator) and c not in others]


@pytest.mark.parametrize("cls", public_classes(), ids=lambda cls: cls.__name__)
def test_every_public_class_belongs_to_one_method_and_says_what_it_is_about(cls):
    owners = [method for method in METHODS if cls.__name__ in method.class_names]
    assert [owner.name for owner in owners] == [get_method(cls.__name__).name]
    assert isinstance(cls.about, About)
    assert cls.about is owners[0].about


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method_is_made_for_its_tasks_and_clones(method):
    assert get_method(method.name) is method
    for task in method.tasks:
        model = method.make(task)
        assert type(model) is method.estimator_class(task)
        assert type(clone(model)) is type(model)
        if method.learner is not None:
            assert type(model.learner) is method.learner
        for name, default in method.parameters(task).items():
            clone(method.make(task, **{name: default}))
    for name in method.preset:
        with pytest.raises(ValueError, match=f"{method.name} has no parameter '{name}'"):
            method.make(method.tasks[0], **{name: method.preset[name]})
    for task in set(TASKS) - set(method.tasks):
        with pytest.raises(
            ValueError, match=f"{method.name} is for .*, not for {task}. Methods for {task}: .*(mkl|survival)"
        ):
            method.make(task)


def test_lists_are_by_task_and_family():
    assert len({method.name for method in METHODS}) == len(METHODS)
    assert len({id(method.about) for method in METHODS}) == len(METHODS)  # none is inherited from another
    assert {"ridge", "mse_rule"} <= {method.name for method in list_methods("regression")}
    assert "ridge" not in {method.name for method in list_methods("classification")}
    assert {method.about.family for method in list_methods(family="margin")} == {"margin"}
    with pytest.raises(ValueError, match="task must be one of 'classification'"):
        list_methods("labels")
    with pytest.raises(ValueError, match=r"family must be one of .*'margin'"):
        list_methods(family="marginal")


def test_names_are_forgiving_and_unknown_ones_have_neighbours():
    assert get_method("easy-mkl") is get_method("EASYMKL") is get_method("EasyMKL")
    with pytest.raises(ValueError, match="no method 'EazyMKL'; did you mean 'easy_mkl'"):
        get_method("EazyMKL")
    with pytest.raises(ValueError, match=r"no method 'qqq'\. list_methods"):
        get_method("qqq")
    with pytest.raises(TypeError, match="must be a string"):
        get_method(EasyMKL)


def test_a_price_of_errors_goes_to_learner_and_machine():
    both = get_method("MarginMKL").make("classification", C=10, tol=1e-5)
    assert (both.learner.C, both.machine.C, both.learner.tol, both.machine.tol) == (10, 10, 1e-5, 1e-3)
    apart = get_method("MarginMKL").make("classification", C=10, machine__C=2)
    assert (apart.learner.C, apart.machine.C) == (10, 2)
    learner_only = get_method("MarginMKL").make("classification", learner__C=10)
    assert (learner_only.learner.C, learner_only.machine) == (10, None)
    plain = get_method("SumRule").make("classification", class_weight="balanced", psd="clip")
    assert (plain.machine.class_weight, plain.kernels.psd) == ("balanced", "clip")
    assert get_method("compositional").make("classification", C=3).machine.C == 3


def test_a_machine_that_is_given_is_left_alone():
    machine = SVC(C=5)
    made = get_method("BestSingle").make("classification", machine=machine, machine__C=7)
    assert (made.machine.C, made.learner.machine.C, machine.C) == (7, 7, 5)
    with pytest.raises(ValueError, match="set machine__C"):
        get_method("BestSingle").make("classification", machine=machine, C=7)


def test_parameters_that_nobody_has_are_refused():
    with pytest.raises(ValueError, match="mkl has no parameter 'nrom'; did you mean 'norm'"):
        get_method("mkl").make("classification", nrom=2)
    with pytest.raises(ValueError, match="no parameter 'gamma'"):  # idle on a precomputed kernel
        get_method("SumRule").make("classification", gamma=2)
    with pytest.raises(ValueError, match="is the learner"):
        get_method("SumRule").make("classification", learner=EasyMKL())


def test_kernels_reach_methods_with_one_kernel_or_none():
    view = View("size", Linear(), [0])
    assert get_method("knn").make("classification", [("size", Linear(), [0])]).kernels == view
    assert get_method("knn").make("classification", "precomputed").kernels == "precomputed"
    assert get_method("knn").make("classification", Linear(), psd="clip").kernels.kernels.kernel == Linear()
    assert get_method("mkl").make("classification", [view]).kernels == [view]
    assert get_method("projection").make("regression", "gaussian").kernels == "gaussian"
    with pytest.raises(ValueError, match="spectral learns with one kernel; got 2: linear, gaussian"):
        get_method("spectral").make("classification", [Linear(), Gaussian()])
    with pytest.raises(ValueError, match="projection learns the columns of its kernel itself"):
        get_method("projection").make("classification", [Linear()])
    assert get_method("pairs").make("regression", left=Linear(), right=Gaussian()).right == Gaussian()
    with pytest.raises(ValueError, match="pairs has kernels of left and of right objects"):
        get_method("pairs").make("regression", [Linear()])
    stored = get_method("pairs").make("regression", left=Linear(), right=Gaussian(), psd="clip")
    assert (stored.left.psd, stored.right.psd, stored.right.kernels) == ("clip", "clip", Gaussian())
    with pytest.raises(ValueError, match="its name is 'kernels'"):
        get_method("projection").make("regression", "gaussian", kernel="linear")

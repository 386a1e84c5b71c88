"""The base of all weight learners: its doors, its words, and one class against the rest."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from multikernel import stack_kernels
from multikernel.kernels import Gaussian, Linear
from multikernel.rules import (
    AlignmentQP,
    AlignmentRule,
    BestSingle,
    CappedMKL,
    CenteredAlignment,
    ClusterWeights,
    DirichletWeights,
    FungDiscriminant,
    GeneralMKL,
    GradientAlignment,
    IdealDistance,
    InstanceWeights,
    KLDivergence,
    Learned,
    MarginMKL,
    ProductRule,
    RidgeBall,
    TwoClassLearner,
    WeightLearner,
)
from tests.rules.similarity_problems import problem


class Given(WeightLearner):
    """Weights as given."""

    def __init__(self, weights=None, status="optimal"):
        self.weights, self.status = weights, status

    def _learn(self, Ks, targets):
        self.seen = Ks, targets
        told = {"objective": 3.0, "gap": 0.25, "n_iter": 7, "history": [{"iteration": 0}]}
        return Learned(np.array(self.weights, float), status=self.status, **told)


class BySign(TwoClassLearner):
    """The number of positive samples for the first kernel, twice that of the negative for the second."""

    def _learn_two(self, Ks, signs):
        up, down = (signs > 0).sum(), (signs < 0).sum()
        status = "max_iter" if up == 1 else "optimal"
        told = {"objective": float(up), "gap": 1e-3 / up, "n_iter": int(up), "history": [{"iteration": 0}]}
        return Learned(np.array([up, 2.0 * down]), status=status, **told)


# --- doors -------------------------------------------------------------------------------------------------


def test_lists_dicts_and_stacks_are_the_same():
    kernels, y = problem(0, m=3)
    weights = [0.5, 0.0, 2.0]
    expected = 0.5 * kernels[0] + 2.0 * kernels[2]
    named = dict(zip("abc", kernels, strict=True))
    for form in (kernels, tuple(kernels), named, stack_kernels(kernels), np.stack(kernels, 2)):
        learner = Given(weights)
        np.testing.assert_allclose(learner.fit_combine(form, y), expected)
        np.testing.assert_allclose(learner.combine(form), expected)
        new = {name: K[:2] for name, K in named.items()} if form is named else [K[:2] for K in kernels]
        np.testing.assert_allclose(learner.combine(new), expected[:2])
        np.testing.assert_array_equal(clone(learner).fit(form, y).kernel_weights_, learner.kernel_weights_)


def test_one_matrix_is_one_kernel():
    kernels, y = problem(1)
    learner = Given([2.0]).fit(kernels[0], y)
    np.testing.assert_allclose(learner.combine(kernels[0][:4]), 2.0 * kernels[0][:4])


def test_names():
    kernels, y = problem(2, m=2)
    named = {"left": kernels[0], "right": kernels[1]}
    assert Given([1, 1]).fit(named, y).view_names_ == ["left", "right"]
    assert Given([1, 1]).fit(stack_kernels(named), y).view_names_ == ["left", "right"]
    with pytest.raises(TypeError, match="the name of a kernel must be a non-empty string; got 7"):
        Given([1, 1]).fit({"left": kernels[0], 7: kernels[1]}, y)
    assert Given([1, 1]).fit(kernels, y).view_names_ == ["kernel-0", "kernel-1"]


def test_what_is_stored():
    kernels, y = problem(3, m=2)
    learner = Given([1.0, 3.0])
    assert learner.fit(kernels, y) is learner
    told = learner.objective_, learner.dual_gap_, learner.n_iter_, learner.status_
    assert told == (3.0, 0.25, 7, "optimal")
    assert learner.history_ == [{"iteration": 0}]
    Ks, targets = learner.seen
    assert Ks.shape == (2, 24, 24) and targets.task == "classification"


def test_shares_are_parts_of_the_trace():
    kernels, y = problem(4, m=3)
    learner = Given([1.0, 0.0, -2.0]).fit(kernels, y)
    parts = np.array([np.trace(kernels[0]), 0.0, -2.0 * np.trace(kernels[2])])
    np.testing.assert_allclose(learner.kernel_shares_, parts / np.abs(parts).sum())
    np.testing.assert_allclose(ProductRule().fit(kernels, y).kernel_shares_, 1.0 / 3.0)


def test_kernels_without_weight_are_not_asked_for():
    kernels, y = problem(5, m=3)
    learner = Given([0.5, 0.0, 2.0]).fit(kernels, y)
    assert learner.active_kernels.tolist() == [0, 2]
    rows = learner.combine_rows((m, kernels[m][:2]) for m in (0, 2))
    np.testing.assert_allclose(rows, learner.combine(kernels)[:2])


# --- words -------------------------------------------------------------------------------------------------


def test_combining_before_learning():
    with pytest.raises(NotFittedError):
        Given([1.0]).combine([np.eye(2)])


@pytest.mark.parametrize("shape", [(4, 24, 2), (4, 7, 3), (4, 24), (24,), (1, 4, 24, 3)])
def test_stacks_of_another_shape(shape):
    kernels, y = problem(7, m=3)
    learner = Given([1, 1, 1]).fit(kernels, y)
    with pytest.raises(ValueError, match=r"\(n_samples, n_train=24, n_kernels=3\); got shape"):
        learner.combine(np.ones(shape))


def test_kernels_that_had_names_are_taken_by_them():
    kernels, y = problem(7, m=3)
    named = dict(zip("abc", kernels, strict=True))
    learner = Given([1, 2, 4]).fit(named, y)
    turned = dict(reversed(named.items()))
    for form in (turned, stack_kernels(turned), {"d": np.eye(3), **turned}):
        np.testing.assert_array_equal(learner.combine(form), learner.combine(kernels))
    with pytest.raises(ValueError, match=r"the names of fit, \['a', 'b', 'c'\]; got \['a', 'b'"):
        learner.combine({"a": kernels[0], "b": kernels[1]})
    nameless = Given([1, 2, 4]).fit(kernels, y)
    with pytest.raises(ValueError, match="had no names in fit"):
        nameless.combine(named)
    np.testing.assert_array_equal(nameless.combine(list(kernels)), learner.combine(kernels))


@pytest.mark.parametrize(
    "learner",
    [KLDivergence(reg=1e-300), FungDiscriminant(reg=1 / 1e300), DirichletWeights(noise=1e-300)],
    ids=lambda learner: type(learner).__name__,
)
def test_extreme_parameters_make_singular_equations(learner):
    kernels, y = problem(3, m=2)
    kernels = [K[:, :1] @ K[:1] for K in kernels]  # of rank 1
    with pytest.raises(ValueError, match=r"=1e.*equations are singular.*normalize=.trace. of each View"):
        learner.fit(kernels, y)


@pytest.mark.parametrize(
    "weights, words",
    [
        ([1.0, np.nan], "weight is not finite.*=.trace. of each View"),
        ([0.0, 0.0], "gives no kernel any weight"),
    ],
)
def test_weights_that_are_none(weights, words):
    kernels, y = problem(8, m=2)
    with pytest.raises(ValueError, match=f"Given.*{words}"):
        Given(weights).fit(kernels, y)


def named(*learners):
    return pytest.mark.parametrize("learner", learners, ids=lambda learner: type(learner).__name__)


@named(AlignmentQP(), CenteredAlignment(), GradientAlignment())
def test_kernels_without_anything_of_the_classes(learner):
    x = np.array([1.0, 1.0, -1.0, -1.0])
    with pytest.raises(ValueError, match="gives no kernel any weight"):
        learner.fit([np.outer(x, x)], [1, 0, 1, 0])


@named(
    AlignmentRule(), BestSingle(cv=2), CenteredAlignment(), ClusterWeights(), IdealDistance(),
    IdealDistance(normalize=False), InstanceWeights(), RidgeBall(),
)  # fmt: skip
def test_constant_values_are_refused(learner):
    with pytest.raises(ValueError, match="y must hold different values; all are the same"):
        learner.fit([np.eye(8), 2.0 * np.eye(8)], np.full(8, 0.1), task="regression")


@named(
    CappedMKL(1.5, max_iter=2, tol=1e-9), MarginMKL(max_iter=2, tol=1e-9), GeneralMKL(max_iter=2, tol=1e-9),
    GradientAlignment(centered=True, max_iter=1, tol=1e-12), KLDivergence(max_iter=1, tol=1e-12),
    InstanceWeights(max_iter=1, tol=1e-9), RidgeBall(1e-3, max_iter=1, tol=1e-12),
    FungDiscriminant(100.0, max_iter=2),
)  # fmt: skip
def test_too_few_iterations_are_told(learner):
    kernels, y = problem(13)
    name = type(learner).__name__
    with pytest.warns(ConvergenceWarning, match=f"{name} ended as 'max_iter' after . iterations"):
        learner.fit(kernels, y)
    assert learner.n_iter_ <= 2 and learner.dual_gap_ > learner.tol


@pytest.mark.parametrize("status, warns", [("stalled", True), ("max_iter", True), ("interrupted", False)])
def test_an_end_that_is_not_optimal_is_told_at_the_line_of_the_caller(status, warns):
    kernels, y = problem(10)
    kernels = kernels[:1]
    if not warns:
        Given([1.0], status).fit(kernels, y)
        return
    with pytest.warns(ConvergenceWarning, match=f"Given ended as '{status}' after 7 iterations") as caught:
        Given([1.0], status).fit(kernels, y)
    assert caught[0].filename == __file__


# --- one class against the rest ----------------------------------------------------------------------------


def test_two_classes_are_learned_once():
    kernels, _ = problem(11, m=2, n=6)
    learner = BySign().fit(kernels, [0, 0, 1, 1, 1, 1])
    assert learner.kernel_weights_.tolist() == [4.0, 4.0]
    assert (learner.objective_, learner.n_iter_) == (4.0, 4) and learner.history_ == [{"iteration": 0}]


def test_more_classes_are_averaged_at_one_scale():
    kernels, _ = problem(12, m=2, n=7)
    learner = BySign().fit(kernels, [0, 0, 1, 1, 1, 2, 2])
    sizes = np.array([np.diagonal(K).mean() for K in kernels])
    parts = np.array([[2.0, 10.0], [3.0, 8.0], [2.0, 10.0]])
    expected = np.mean([part / (part @ sizes) for part in parts], axis=0)
    np.testing.assert_allclose(learner.kernel_weights_, expected)
    assert learner.objective_ == 7.0 and learner.dual_gap_ == 5e-4 and learner.n_iter_ == 3
    assert [entry["machine"] for entry in learner.history_] == [0, 1, 2]


def test_the_worst_machine_is_told():
    kernels, _ = problem(13, m=2, n=6)
    with pytest.warns(ConvergenceWarning, match="BySign ended as 'max_iter'"):
        BySign().fit(kernels, [0, 0, 1, 2, 2, 2])


@pytest.mark.parametrize(
    ("kernels", "error", "message"),
    [
        (np.zeros((6, 2)), ValueError, r"got shape \(6, 2\)\. For a table .*CombinedKernelClassifier"),
        (pd.DataFrame(np.zeros((6, 2))), ValueError, r"got shape \(6, 2\)\. For a table of features"),
        (np.zeros((2, 6, 6)), ValueError, r"kernels come last.*numpy\.moveaxis\(kernels, 0, 2\)"),
        ([Linear(), Gaussian()], TypeError, "got kernel functions. For a table of features"),
        ({"line": Linear()}, TypeError, "got kernel functions"),
        (Linear(), TypeError, "got kernel functions"),
    ],
    ids=["table", "frame", "kernels first", "functions", "named functions", "one function"],
)
def test_what_is_given_instead_of_kernels_is_named_with_the_way_out(kernels, error, message):
    with pytest.raises(error, match=message):
        CenteredAlignment().fit(kernels, [0, 1, 0, 1, 0, 1])

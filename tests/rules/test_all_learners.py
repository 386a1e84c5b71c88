"""What every weight learner keeps, whatever its rule: one list of learners, one set of laws.

A learner that is exported and has no entry in ENTRIES fails the first test.
"""

import pickle
import re
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM
from sklearn.utils.estimator_checks import parametrize_with_checks

from multikernel import (
    CombinedKernelClassifier,
    CombinedKernelOneClass,
    CombinedKernelRegressor,
    stack_kernels,
)
from multikernel.discriminant import KernelDiscriminantClassifier
from multikernel.io.models import load_model, save_model
from multikernel.kernels import Gaussian
from multikernel.rules import FunctionalForm, SumRule
from multikernel.spectral import KernelKNNClassifier
from tests.methods_page import learners
from tests.raw import raw
from tests.test_common import expected_failures

ESTIMATORS = {
    "classification": CombinedKernelClassifier,
    "regression": CombinedKernelRegressor,
    "unsupervised": CombinedKernelOneClass,
}
MACHINES = {
    "classification": [SVC(), KernelKNNClassifier(n_neighbors=3), KernelDiscriminantClassifier()],
    "regression": [SVR(), KernelRidge()],
    "unsupervised": [OneClassSVM()],
}


@dataclass(frozen=True)
class Entry:
    """Parameters of a learner, exact enough to compare, and what its rule says of kernels.

    `powers` are those of the parameters that undo a common factor of all kernels: a price C of errors goes
    with 1/factor. `status` is how a learner ends that is stopped early; `spread` how far shares move with the
    random numbers that are drawn for the kernels in their order; `same_when_new` is False where the training
    samples have another kernel than the same samples when they are asked for; `by_twins` is False where a
    kernel that is given twice changes the objective.
    """

    params: dict[str, Any] = field(default_factory=dict)
    powers: dict[str, int] = field(default_factory=dict)
    n_kernels: int = 3
    status: str = "optimal"
    spread: float = 1e-4
    same_when_new: bool = True
    by_twins: bool = True


PRICE = {"C": -1}
NEW_SET = {"by_twins": False}  # the set of weights, or the price, depends on the number of kernels
SHARP = {"tol": 1e-7}
ENTRIES = {
    "AccuracyRule": [Entry({"cv": 2})],
    "AlignmentQP": [
        Entry(**NEW_SET),
        Entry({"centered": True}, **NEW_SET),
        Entry({"normalize": False}, {"reg": 2}, **NEW_SET),
    ],
    "AlignmentRule": [Entry(), Entry({"centered": True})],
    "BestSingle": [Entry({"cv": 2})],
    "CappedMKL": [Entry(SHARP, PRICE, **NEW_SET)],
    "CenteredAlignment": [Entry(), Entry({"method": "independent"})],
    "ClusterWeights": [Entry({"tol": 1e-5, "n_clusters": 1}, **NEW_SET)],
    "DirichletWeights": [Entry({"n_draws": 32}, spread=0.1, **NEW_SET)],
    "DiscriminantMKL": [Entry()],
    "EasyMKL": [Entry(SHARP, **NEW_SET)],
    "ElasticNetMKL": [Entry(SHARP, {"C": -1, "reg": -1}, **NEW_SET)],
    "FeatureSpaceMeasure": [Entry()],
    "FunctionalForm": [Entry(n_kernels=2)],
    "FungDiscriminant": [Entry(SHARP, **NEW_SET)],
    "GeneralMKL": [Entry(SHARP, {"reg": 1}), Entry({"combination": "product", "tol": 1e-6})],
    "GradientAlignment": [Entry(SHARP), Entry(SHARP | {"combination": "product"})],
    "GroupMKL": [Entry(SHARP, PRICE)],
    "IdealDistance": [Entry()],
    "InstanceWeights": [Entry({"tol": 1e-5}, same_when_new=False, **NEW_SET)],
    "KLDivergence": [Entry(SHARP), Entry(SHARP | {"method": "dc"})],
    "KimDiscriminant": [Entry()],
    "KernelBoosting": [Entry({"reg": 0.01}), Entry({"base": "rank_one", "n_rounds": 5}, status="max_iter")],
    "LogPenaltyMKL": [Entry(SHARP, PRICE, **NEW_SET)],
    "LowerBoundedMKL": [Entry(SHARP, PRICE)],
    "MSERule": [Entry({"cv": 2})],
    "MarginMKL": [Entry(SHARP, PRICE), Entry({"norm": 2.0, "tol": 1e-9}, PRICE, **NEW_SET)],
    "MeanRule": [Entry(), Entry({"normalize": "variance"})],
    "PearsonRule": [Entry({"cv": 2})],
    "PolynomialRidge": [Entry(SHARP, **NEW_SET), Entry(SHARP | {"multinomial": False}, **NEW_SET)],
    "ProductRule": [Entry()],
    "RadiusMargin": [Entry(SHARP)],
    "RadiusMarginProduct": [Entry(SHARP)],
    "RidgeBall": [Entry(SHARP, **NEW_SET)],
    "SimilarityNetworkFusion": [Entry({"n_neighbors": 5, "n_steps": 5}, same_when_new=False, by_twins=False)],
    "StatisRule": [Entry(**NEW_SET), Entry({"centered": False}, **NEW_SET)],
    "SumRule": [Entry()],
}


def test_every_exported_learner_has_an_entry():
    missing = sorted({learner.__name__ for learner in learners()} - ENTRIES.keys())
    assert not missing, f"add {missing} to ENTRIES of {__file__}, with parameters that are quick and exact"


class Case:
    """A learner with samples to learn from: X (n, n_kernels), one Gaussian for each column, and targets."""

    def __init__(self, cls, entry, task):
        self.entry, self.task, self.m = entry, task, entry.n_kernels
        self.learner = cls(**entry.params)
        self.quick = cls(**{name: value for name, value in entry.params.items() if name != "tol"})
        X = np.random.default_rng(5).normal(size=(24, 3))
        signal = np.sin(1.5 * X[:, 0]) + 0.6 * X[:, 1] + 0.15 * np.cos(17.0 * X[:, 2])
        labels = np.where(signal > np.median(signal), "up", "down")
        self.y = {"classification": labels, "regression": signal, "unsupervised": None}[task]
        self.X = X[:, : self.m]
        self.Ks = [np.exp(-0.7 * (column[:, None] - column) ** 2) for column in self.X.T]

    @cached_property
    def once(self):
        """Fitted to its kernels, for all tests that only look at it."""
        return self.fitted(self.Ks)

    def fitted(self, Ks, y=None, **params):
        return clone(self.learner).set_params(**params).fit(Ks, self.y if y is None else y, task=self.task)

    def model(self, machine=None, kernels=None):
        views = raw([(f"view{j}", Gaussian(0.7), [j]) for j in range(self.m)]) if kernels is None else kernels
        return ESTIMATORS[self.task](views, clone(self.quick), machine)


@cache
def make_case(cls, i, task):
    return Case(cls, ENTRIES[cls.__name__][i], task)


def cases(*tasks, each=False):
    """All entries of all exported learners, with the first of the tasks that the learner knows, or each."""
    wanted = tasks or ("classification", "regression", "unsupervised")
    return [
        pytest.param(make_case(cls, i, task), id=f"{cls.__name__}-{i}-{task}")
        for cls in learners()
        for i in range(len(ENTRIES.get(cls.__name__, [])))
        for task in [task for task in wanted if task in cls.learns_from][: None if each else 1]
    ]


def unit(K):
    return K / np.trace(K)


@pytest.mark.parametrize("case", cases())
def test_it_is_an_object_of_scikit_learn(case, tmp_path):
    learner = case.learner
    again = clone(learner)
    assert repr(again) == repr(learner) and again.get_params().keys() == learner.get_params().keys()
    fitted = case.once
    restored = pickle.loads(pickle.dumps(fitted))
    loaded = load_model(save_model(fitted, tmp_path / "learner.skops"))
    for other in (restored, loaded):
        np.testing.assert_array_equal(other.combine(case.Ks), fitted.combine(case.Ks))


@pytest.mark.parametrize("case", cases(each=True))
def test_fit_gives_finite_weights_leaves_its_kernels_alone_and_is_repeatable(case):
    stack = stack_kernels(case.Ks)
    before = stack.copy()
    stack.flags.writeable = False
    learner = case.fitted(stack)
    np.testing.assert_array_equal(stack, before)
    assert learner.kernel_weights_.shape == learner.kernel_shares_.shape == (case.m,)
    assert np.isfinite(learner.kernel_weights_).all() and learner.kernel_weights_.dtype == np.float64
    assert np.abs(learner.kernel_shares_).sum() == pytest.approx(1.0)
    assert learner.status_ == case.entry.status and np.isfinite(learner.dual_gap_)
    np.testing.assert_array_equal(case.once.kernel_weights_, learner.kernel_weights_)


@pytest.mark.parametrize("case", cases())
def test_the_learned_kernel_of_the_training_samples_is_that_of_its_kernels(case):
    learner = case.once
    K = clone(case.learner).fit_combine(case.Ks, case.y, task=case.task)
    np.testing.assert_allclose(K, K.T, atol=1e-12 * np.trace(K))
    asked = learner.combine(case.Ks)
    if case.entry.same_when_new:
        np.testing.assert_allclose(K, asked, rtol=1e-10, atol=1e-12 * np.abs(K).max())
    rows = learner.combine([kernel[:5] for kernel in case.Ks])
    np.testing.assert_allclose(rows, asked[:5], rtol=1e-10, atol=1e-12 * np.abs(K).max())
    if learner.is_linear:
        total = np.tensordot(learner.kernel_weights_, np.stack(case.Ks), 1)
        np.testing.assert_allclose(K, total, rtol=1e-10, atol=1e-12 * np.abs(K).max())
    with pytest.raises(ValueError, match=f"n_kernels={case.m}"):
        learner.combine(case.Ks[:1])


@pytest.mark.parametrize("case", cases())
def test_single_precision_is_enough(case):
    K = case.once.combine(case.Ks)
    single = case.fitted([kernel.astype(np.float32) for kernel in case.Ks]).combine(case.Ks)
    assert single.dtype == np.float64
    np.testing.assert_allclose(unit(single), unit(K), atol=1e-3 / len(K))


@pytest.mark.parametrize("case", cases())
def test_the_order_of_kernels_does_not_matter(case):
    order = np.roll(np.arange(case.m), 1)
    learner, other = case.once, case.fitted([case.Ks[m] for m in order])
    np.testing.assert_allclose(other.kernel_shares_, learner.kernel_shares_[order], atol=case.entry.spread)


@pytest.mark.parametrize("case", cases(each=True))
def test_the_order_of_samples_does_not_matter(case):
    """Of folds, those are compared that hold the same samples."""
    order, y = np.random.default_rng(1).permutation(24), case.y
    place = np.argsort(order)
    folds, moved = {}, {}
    if "cv" in case.learner.get_params():
        kind = StratifiedKFold if case.task == "classification" else KFold
        splits = list(kind(2).split(case.X, y))
        folds, moved = {"cv": splits}, {"cv": [(place[train], place[test]) for train, test in splits]}
    learner = case.fitted(case.Ks, **folds) if folds else case.once
    other = case.fitted([K[np.ix_(order, order)] for K in case.Ks], None if y is None else y[order], **moved)
    np.testing.assert_allclose(other.kernel_shares_, learner.kernel_shares_, atol=1e-4)


@pytest.mark.parametrize("case", cases())
def test_scaled_kernels_give_the_same_kernel_but_for_its_scale(case):
    """Each is scaled by itself, or all alike where the rule, or a parameter of it, has their unit."""
    alike = case.entry.powers or isinstance(case.learner, SumRule)
    factors = np.full(case.m, 1e6) if alike else np.array([1e6, 1.0, 1e-6])[: case.m]
    adapted = {name: 1e6**power * getattr(case.learner, name) for name, power in case.entry.powers.items()}
    scaled = [factor * K for factor, K in zip(factors, case.Ks, strict=True)]
    learner, other = case.once, case.fitted(scaled, **adapted)
    if alike or learner.is_linear:  # else shares are of the weights, in units of the kernels
        np.testing.assert_allclose(other.kernel_shares_, learner.kernel_shares_, atol=1e-4)
    np.testing.assert_allclose(
        unit(other.combine(scaled)), unit(learner.combine(case.Ks)), atol=1e-4 / len(scaled[0])
    )


@pytest.mark.parametrize("case", cases("regression"))
def test_values_in_any_unit_give_the_same_kernel(case):
    if "epsilon" not in case.learner.get_params():  # which has the unit of the values
        other = case.fitted(case.Ks, 1e6 * case.y - 3.0)
        np.testing.assert_allclose(other.kernel_shares_, case.once.kernel_shares_, atol=1e-4)


@pytest.mark.parametrize("case", cases())
def test_one_kernel_has_everything_and_may_be_given_twice(case):
    if isinstance(case.learner, FunctionalForm):  # which is of two kernels
        return
    one = case.fitted(case.Ks[:1])
    assert one.kernel_shares_.tolist() == [1.0] and one.status_ == case.entry.status
    twins = case.fitted(case.Ks[:1] * 2)
    assert twins.status_ == case.entry.status
    if case.entry.by_twins and np.isfinite(one.objective_):
        assert twins.objective_ == pytest.approx(one.objective_, rel=1e-5)


@pytest.mark.parametrize("case", cases(each=True))
def test_it_goes_under_every_machine(case):
    X, y = case.X, case.y
    for machine in MACHINES[case.task]:
        model = case.model(machine).fit(X, y)
        assert model.predict(X[:4]).shape == (4,)
        if case.task == "classification":
            assert (model.predict(X) == y).mean() > 0.6
        elif case.task == "regression":
            assert model.score(X, y) > 0.1


@pytest.mark.parametrize("case", cases("classification", "regression"))
def test_frames_stacks_and_tables_give_the_same_model(case):
    X, y = case.X, case.y
    plain = case.model().fit(X, y)
    table = pd.DataFrame(X, columns=list("xyz")[: case.m])
    framed = case.model(kernels=raw([(name, Gaussian(0.7), [name]) for name in table])).fit(table, y)
    assert framed.weights_frame().index.tolist() == table.columns.tolist()
    np.testing.assert_allclose(framed.kernel_weights_, plain.kernel_weights_, rtol=1e-10)
    stack, ready = stack_kernels(case.Ks), case.model(kernels="precomputed")
    np.testing.assert_allclose(
        ready.fit(stack, y).combined_kernel(stack[:6]), plain.combined_kernel(X[:6]), atol=1e-2
    )
    assert np.isfinite(cross_val_score(ready, stack, y, cv=2, error_score="raise")).all()


@pytest.mark.parametrize("case", cases("classification", "regression"))
def test_it_stands_in_searches_and_pipelines(case):
    name, value = next(iter(case.quick.get_params(deep=False).items()), (None, None))
    grid = {"normalize": [True]} if name is None else {f"learner__{name}": [value]}
    search = GridSearchCV(case.model(), grid, cv=2, error_score="raise").fit(case.X, case.y)
    assert search.predict(case.X[:3]).shape == (3,)
    scaled = make_pipeline(StandardScaler(), case.model()).fit(100.0 + case.X, case.y)
    assert scaled.predict(100.0 + case.X[:3]).shape == (3,)


@pytest.mark.parametrize("cls", learners(), ids=lambda cls: cls.__name__)
def test_what_it_cannot_learn_from_is_refused(cls):
    entry = ENTRIES.get(cls.__name__, [Entry()])[0]
    for task in {"classification", "regression", "unsupervised"} - set(cls.learns_from):
        case = Case(cls, entry, task)
        given = "no y" if task == "unsupervised" else f"a y for {task}"
        with pytest.raises(ValueError, match=f"is for .*; got {given}"):
            case.model().fit(case.X, case.y)


ZERO_IS_FINE = {"threshold", "reg", "epsilon", "random_state", "tau", "lowest", "center"}
OTHERS = {"scoring", "labels"}  # no words and no numbers


def wrong_values():
    """(class, parameter, value): a word for every option and number, and numbers out of range."""
    for cls in learners():
        for name, default in cls(**ENTRIES[cls.__name__][0].params).get_params(deep=False).items():
            unread = (cls.__name__, name) == ("RadiusMargin", "epsilon")  # by classes, its first task
            if name in OTHERS or isinstance(default, bool) or unread:
                continue
            for value in ["nonsense"] if isinstance(default, str) else ["nonsense", np.nan, -1, 0]:
                if value != 0 or name not in ZERO_IS_FINE:
                    yield pytest.param(cls, name, value, id=f"{cls.__name__}-{name}-{value}")


@pytest.mark.parametrize(("cls", "name", "value"), list(wrong_values()))
def test_wrong_values_of_parameters_are_named(cls, name, value):
    case = make_case(cls, 0, cls.learns_from[0])
    with pytest.raises(
        (ValueError, TypeError), match=rf"(?s)^{name}\b.* must .*got {re.escape(repr(value))}"
    ):
        case.fitted(case.Ks, **{name: value})


@pytest.mark.parametrize("case", cases())
def test_kernels_and_targets_that_are_refused(case):
    first, second, *more = case.Ks
    spoiled, skew = second.copy(), second.copy()
    spoiled[3, 4] = spoiled[4, 3] = np.nan
    skew[4, 17] += 0.03
    for bad, message in [
        (spoiled, r"must be finite; kernel 'kernel-1' holds NaN at \(3, 4\)"),
        (skew, "must be symmetric; kernel 'kernel-1' differs"),
        (0.0 * second, "kernel 'kernel-1' is all zero"),
        (0.0 * second + 1.0, "kernel 'kernel-1' is constant"),
        (
            second - 2.0 * np.eye(24),
            "must be positive semidefinite; kernel 'kernel-1' has smallest eigenvalue -",
        ),
        (second[:5, :5], r"the same shape; kernel 1 has shape \(5, 5\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            case.fitted([first, bad, *more])
    with pytest.raises(ValueError, match="at least one matrix; got none"):
        case.fitted([])
    if case.task != "unsupervised":
        with pytest.raises(ValueError, match=r"one (label|value) for each of the 24 samples; got 23"):
            case.fitted(case.Ks, case.y[:-1])
        with pytest.raises(ValueError, match=r"(?i)nan"):
            case.fitted(case.Ks, np.r_[np.nan, np.ones(23)])
    if case.task == "classification":
        with pytest.raises(ValueError, match=r"two classes or more; got one: \['up'\]"):
            case.fitted(case.Ks, np.full(24, "up"))


# --- what scikit-learn itself checks of every learner under a machine ---------------------------------------

KERNELS = raw([Gaussian(), Gaussian(0.1)])  # with entries above zero, which powers of kernels need
# the checks ask for conventions, not for optima: what a learner has of these is set so
QUICK = {"tol": 1e-2, "cv": 2, "n_draws": 8}
# every learner with the first task that it knows, and these, one of each way to treat targets, with all tasks
SEVERAL_TASKS = ("AlignmentQP", "ClusterWeights", "MarginMKL", "MeanRule", "RidgeBall")


def quick(cls):
    learner = cls(max_iter=3) if cls.__name__ == "InstanceWeights" else cls()
    return learner.set_params(**{name: QUICK[name] for name in QUICK.keys() & learner.get_params().keys()})


CHECKED = [
    ESTIMATORS[task](KERNELS, quick(cls))
    for cls in learners()
    for task in cls.learns_from[: None if cls.__name__ in SEVERAL_TASKS else 1]
]


def reaches_learner(estimator, check):
    """Whether a check can tell a learner from the others.

    A learner sees the stack of kernels, in double precision whatever the table was: sparse arrays beside
    sparse matrices, and single precision beside double, are for the machines to read. One learner of each
    kind has these checks, and so have all machines in tests/test_common.py.
    """
    of_the_table = check.func.__name__ == "check_estimator_sparse_array" or "X_dtype" in check.keywords
    return not of_the_table or type(estimator.learner).__name__ in SEVERAL_TASKS


mark = parametrize_with_checks(CHECKED, expected_failed_checks=expected_failures)
CHECKS = [case for case in mark.args[1] if reaches_learner(*getattr(case, "values", case))]


@pytest.mark.thorough
@pytest.mark.parametrize(mark.args[0], CHECKS, ids=mark.kwargs["ids"])
@pytest.mark.filterwarnings("default")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)

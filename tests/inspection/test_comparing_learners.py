"""Weight learners beside the plain sum and the best single view: tests that the scores bear out."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.svm import SVC, SVR

from multikernel import CombinedKernelClassifier, compare, stack_kernels
from multikernel.core.folds import make_folds
from multikernel.inspection import Comparison, f_test_5x2cv, holm, repeated_cv_test
from multikernel.inspection.judging import comparing
from multikernel.inspection.judging.comparing import _named
from multikernel.inspection.judging.comparison import Baseline
from multikernel.kernels import Gaussian, Linear
from multikernel.rules import (
    BestSingle,
    CenteredAlignment,
    CompositionalKernelClassifier,
    MeanRule,
    SumRule,
    WeightLearner,
)
from multikernel.rules.learner import Learned
from tests.inspection.toys import scores_frame
from tests.raw import raw

matplotlib.use("Agg")

SIMPLE = ["best single view", "plain sum"]
WIDTH = 6.0
KERNELS = raw([(f"x{j}", Gaussian(WIDTH), [j]) for j in range(8)])


class Only(WeightLearner):
    """Equal weights for some of the kernels."""

    learns_from = ("classification", "regression")

    def __init__(self, chosen=(0,)):
        self.chosen = chosen

    def _learn(self, Ks, targets):
        weights = np.zeros(len(Ks))
        weights[list(self.chosen)] = 1.0
        return Learned(weights)


def needle(n=120, n_columns=8):
    """Two classes that the first column tells apart; all others are nearly the same noise."""
    X = np.random.default_rng(2).uniform(-2.0, 2.0, size=(n, n_columns))
    X[:, 2:] = X[:, 1:2] + 0.05 * X[:, 2:]
    return X, np.where(np.sin(3.0 * X[:, 0]) > 0.0, "yes", "no")


def two_views(n=30):
    """The first two columns, and their kernels."""
    X, y = needle(n)
    return X[:, :2], y, KERNELS[:2]


def run(X, y, kernels=KERNELS, models="auto", machine=None, **options):
    options = {"progress": False, "baselines": SIMPLE} | options
    return compare(models, X, y, kernels=kernels, machine=machine, **options)


@pytest.fixture(scope="module")
def helped():
    return run(*needle(), models={"align": CenteredAlignment(), "wrong": Only((-1,))})


@pytest.fixture(scope="module")
def same():
    """Kernels that all say the same: nothing can be learned."""
    X, y = needle(30)
    views = [(f"k{j}", Gaussian(width), [0]) for j, width in enumerate((4.0, 4.1, 4.2))]
    return run(X, y, views, CenteredAlignment("independent"))


def test_where_one_kernel_of_many_speaks_learning_helps_against_the_sum(helped):
    frame = helped.to_frame()
    assert frame.loc["align", ("plain sum", "verdict")] == "win"
    assert frame.loc["wrong", ("plain sum", "verdict")] == "loss"
    assert frame.loc["align", ("best single view", "verdict")] == "tie"
    assert helped.answer.startswith(
        "Learning the kernel helped in part: align has the best mean accuracy of 2"
    )
    assert "better than the plain sum" in helped.answer
    assert "no difference was shown from the best single view" in helped.answer
    assert helped.weights.loc["align", "x0"] > 0.8
    assert helped.weights.loc["best single view", "x0"] == 1.0


def test_where_there_is_nothing_to_learn_the_answer_says_so(same):
    assert same.answer.startswith(
        "Learning the kernel made no practical difference, use the plain sum: CenteredAlignment has a mean"
    )
    found = same.to_frame()[("plain sum", "verdict")]
    assert (found["CenteredAlignment"], found["best single view"]) == ("equal", "tie")
    for name in SIMPLE:
        assert f"the {name} ({same.folds(name).mean():.3f}; " in same.answer
    assert "practically equal to the plain sum" in same.answer


def test_a_learner_that_beats_both_is_said_to_help():
    """Two kernels that speak together, among noise: one alone is not enough, and the sum drowns them."""
    X = np.random.default_rng(3).normal(size=(60, 12))
    views = [(f"x{j}", Gaussian(1.0), [j]) for j in range(12)]
    found = run(X, np.sin(2.0 * X[:, :2]).sum(axis=1), views, {"oracle": Only((0, 1))})
    assert found.answer.startswith("Learning the kernel helped: oracle has a mean R²")
    assert "better than the best single view" in found.answer and "and the plain sum" in found.answer


def hits(rule):
    """Whether each sample of `helped` is predicted right in each repetition, by a plain loop."""
    X, y = needle()
    learner = {"align": CenteredAlignment(), "wrong": Only((-1,)), "plain sum": SumRule()}.get(
        rule, BestSingle()
    )
    model = CombinedKernelClassifier(KERNELS, learner)
    found = np.zeros((5, len(y)))
    for i, (train, test) in enumerate(make_folds(y, 2, classifier=True, random_state=0, n_repeats=5)):
        found[i // 2, test] = model.fit(X[train], y[train]).predict(X[test]) == y[test]
    return found


@pytest.mark.parametrize("rival", ["plain sum", "best single view"])
def test_the_tests_are_those_of_the_scores(helped, rival):
    frame, scores = helped.to_frame(), helped.scores
    others = [rule for rule in helped.estimators if rule != rival]
    table = {
        rule: part.pivot(index="repetition", columns="fold", values="score").to_numpy()
        for rule, part in scores.groupby("estimator")
    }
    of_folds = [f_test_5x2cv(table[rule], table[rival]) for rule in others]
    np.testing.assert_allclose(frame.loc[others, (rival, "F")].astype(float), [t.statistic for t in of_folds])
    right = {rule: hits(rule) for rule in helped.estimators}
    tests = [repeated_cv_test(right[rule], right[rival]) for rule in others]
    np.testing.assert_allclose(frame.loc[others, (rival, "p")].astype(float), [t.pvalue for t in tests])
    np.testing.assert_allclose(
        frame.loc[others, (rival, "low")].astype(float), [t.low for t in tests], atol=1e-9
    )
    adjusted = holm([t.pvalue for t in tests])
    np.testing.assert_allclose(frame.loc[others, (rival, "p_holm")].astype(float), adjusted)
    for rule, p in zip(others, adjusted, strict=True):
        lead = table[rule].mean() - table[rival].mean()
        assert frame.loc[rule, (rival, "difference")] == pytest.approx(lead, abs=1e-12)
        sides = (table[rule] > table[rival]).sum(), (table[rule] < table[rival]).sum()
        assert frame.loc[rule, (rival, "folds")] == f"{sides[0]}–{sides[1]}"
        verdict = "tie" if p > 0.05 else "win" if lead > 0 else "loss"
        assert frame.loc[rule, (rival, "verdict")] == verdict
        assert frame.loc[rule, ("score", "mean")] == pytest.approx(table[rule].mean())
        assert frame.loc[rule, ("score", "sd")] == pytest.approx(table[rule].std(ddof=1))
    assert frame.loc[rival, rival].isna().all()
    assert frame[("score", "mean")].is_monotonic_decreasing


def test_every_rule_sees_the_same_folds_under_the_same_machine(helped):
    X, y = needle()
    folds = RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=0)
    rules = {"best single view": BestSingle(), "plain sum": SumRule(), "align": CenteredAlignment()}
    for i, (train, test) in enumerate(folds.split(X, y)):
        for name, learner in rules.items():
            if i % 5 == 0:
                model = CombinedKernelClassifier(KERNELS, clone(learner)).fit(X[train], y[train])
                assert helped.folds(name)[divmod(i, 2)] == model.score(X[test], y[test])


def test_the_machine_is_also_that_of_the_best_single_kernel(monkeypatch):
    seen = {}

    def look(contest, **_):
        seen.update(contest.estimators)
        raise InterruptedError

    monkeypatch.setattr(comparing, "list_works", look)
    machine = GridSearchCV(SVC(kernel="precomputed"), {"C": [0.1, 10.0]}, cv=2)
    with pytest.raises(InterruptedError):
        run(*needle(), machine=machine, scoring="f1_macro")
    assert all(model.machine is machine for model in seen.values())
    assert seen["best single view"].learner.machine is machine
    assert seen["best single view"].learner.scoring == "f1_macro"
    assert isinstance(seen["plain sum"].learner, SumRule)


def test_a_stack_of_kernels_gives_what_its_table_gives(helped):
    X, y = needle()
    stack = stack_kernels([np.exp(-WIDTH * (X[:, [j]] - X[:, j]) ** 2) for j in range(8)])
    stack.flags.writeable = False
    found = run(stack, y, "precomputed", {"align": CenteredAlignment(), "wrong": Only((-1,))})
    pd.testing.assert_frame_equal(found.to_frame(), helped.to_frame())
    np.testing.assert_allclose(found.weights, helped.weights, atol=1e-9)


def test_a_frame_with_named_views_and_values_with_two_outputs():
    X, _, _ = two_views()
    table = pd.DataFrame(X, columns=["left", "right"])
    y = np.sin(X) + 0.05
    found = run(table, y, [(name, Gaussian(WIDTH), [name]) for name in table], Only())
    assert found.scoring == "r2"
    assert "Only has a mean R²" in found.answer and found.estimators == ["Only", *SIMPLE]
    assert found.weights.columns.tolist() == ["left", "right"]
    assert found.weights.loc["Only"].tolist() == [1.0, 0.0]


def test_values_are_told_from_classes():
    X, _, views = two_views()
    values = np.round(100 * X[:, 0])  # whole numbers
    with pytest.raises(ValueError, match="task='regression' if y is a number"):
        run(X, values, views)
    found = run(X, values, views, Only(), SVR(C=1000.0), task="regression")
    assert found.scoring == "r2"
    assert found.folds("Only").mean() > found.folds("plain sum").mean()


def compared(scores, **options):
    """The comparison of learners with the two simple rules, on scores that are given."""
    baselines = {name: Baseline(name, list(scores)) for name in SIMPLE}
    table = scores_frame({rule: 0.5 + values for rule, values in scores.items()}, fit_seconds=0.0)
    return Comparison(table.assign(shares=[{"k": 1.0}] * len(table)), baselines=baselines, **options)


def test_a_few_folds_are_no_evidence():
    """F is large, or infinite, also where most folds do not differ at all."""
    nothing = np.zeros(10)
    three = np.repeat([0.2, 0.02, 0.0], [2, 1, 7])
    given = {"plain sum": nothing, "best single view": nothing - 0.1, "three": three, "all": nothing + 0.02}
    given |= {"against": np.where(np.arange(10) < 8, 0.01, -0.5)}  # most folds up, the mean down
    table = compared(given).to_frame()["plain sum"]
    found = {rule: (table.loc[rule, "folds"], table.loc[rule, "verdict"]) for rule in list(given)[2:]}
    assert found == {"three": ("3–0", "tie"), "all": ("10–0", "win"), "against": ("8–2", "tie")}
    assert f_test_5x2cv(np.reshape(three, (5, 2))).pvalue < 0.01
    few = compared({rule: given[rule] for rule in list(given)[:3]}).answer
    assert "the plain sum (0.500; +0.042 [" in few
    near = compared({"plain sum": nothing, "best single view": nothing, "near": np.linspace(0.01, 0.2, 10)})
    assert "on all 10 folds" in near.answer


def test_the_best_single_kernel_is_chosen_by_the_scoring():
    """Machine and scorer may know the classes by name."""
    X, y, kernels = imbalanced()
    f1 = make_scorer(f1_score, pos_label="rare", zero_division=0.0)
    machine = SVC(class_weight={"rare": 4.0, "usual": 1.0})
    found = run(X, y, kernels, Only(), machine, scoring="roc_auc")
    assert found.weights.loc["best single view", "ranks"] > 0.9
    for scoring, weights in [(None, [True, False]), ("roc_auc", [False, True]), (f1, [False, True])]:
        model = CombinedKernelClassifier(kernels, BestSingle(machine, scoring=scoring), machine).fit(X, y)
        assert (model.kernel_shares_ == weights).all()


def imbalanced(n=80):
    """One class in five. The first column is sure of a third of it, the second ranks it well."""
    rng = np.random.default_rng(0)
    rare = np.arange(n) % 5 == 0
    sure = np.where(np.arange(n) % 15 == 0, 3.0, 0.0) + 0.01 * rng.normal(size=n)
    ranks = rng.normal(size=n) + 1.8 * rare
    views = [("plain", Linear(), [0]), ("ranks", Linear(), [1])]
    return np.column_stack([sure, ranks]), np.where(rare, "rare", "usual"), views


def test_the_global_random_state_is_left_alone():
    X, y, kernels = two_views()
    before = np.random.get_state()[1].copy(), np.random.get_state()[2]
    run(X, y, kernels, Only())
    BestSingle().fit([X @ X.T], y)
    CombinedKernelClassifier(kernels=kernels).fit(X, y)
    CompositionalKernelClassifier(kernels=kernels).fit(X, y)
    after = np.random.get_state()
    assert (after[1] == before[0]).all() and after[2] == before[1]


def test_verdicts_are_those_of_holm():
    """Two learners whose p of 3 % is not enough among three tests."""
    ripple = np.where(np.arange(10) % 2, 0.01, -0.01)
    scores = {"plain sum": 0 * ripple, "best single view": ripple, "a": 0.03 + ripple, "b": 0.03 - ripple}
    found = compared(scores)
    table = found.to_frame()["plain sum"].loc[["a", "b"]]
    assert (table["p"] < 0.05).all() and (table["p_holm"] > 0.05).all()
    assert (table["verdict"] == "tie").all()
    assert "no difference was shown from the plain sum" in found.answer
    assert compared(scores, level=0.2).answer.startswith("Learning the kernel helped: a has the best")


def test_learners_are_named_and_defaults_know_the_task():
    data = {"given": (np.eye(4), [0, 0, 1, 1])}
    named = _named([SumRule(), CenteredAlignment(), CenteredAlignment("independent")], data, "auto")
    assert list(named) == ["SumRule", "CenteredAlignment()", "CenteredAlignment(method='independent')"]
    for task in ("classification", "regression"):
        learners = comparing._default_learners(task)
        assert len(learners) >= 2 and all(task in learner.learns_from for learner in learners)
        assert len(_named("auto", data, task)) == len(learners)


class ClassesOnly(Only):
    learns_from = ("classification",)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"models": []}, TypeError, "must be a dictionary by name.*an empty one"),
        ({"models": "MarginMKL"}, TypeError, "must be an object with fit and get_params.*got 'MarginMKL'"),
        ({"models": {1: SumRule()}}, TypeError, "must be strings"),
        ({"models": CenteredAlignment}, TypeError, "Call the class"),
        ({"models": {"plain sum": SumRule()}}, ValueError, "choose a different name for that model"),
        ({"models": ClassesOnly(), "task": "regression"}, ValueError, "'ClassesOnly' is for classification"),
        ({"task": "unsupervised"}, ValueError, "task must be"),
        ({"machine": SVC(kernel="linear")}, ValueError, "^machine must take the combined kernel"),
        ({"machine": SVR()}, TypeError, "^machine must be a classifier .*; got SVR"),
        ({"machine": SVC(), "task": "regression"}, TypeError, "^machine must be a regressor"),
        ({"machine": SVC}, TypeError, "Call the class"),
        ({"scoring": "neg_log_loss"}, ValueError, "^model 'CenteredAl.* failed with .*predict_proba"),
        ({"kernels": [CenteredAlignment()]}, TypeError, "kernels must be .*; got a weight learner"),
    ],
)
def test_what_cannot_be_compared_is_refused(options, error, message):
    X, _, views = two_views(20)
    with pytest.raises(error, match=message):
        run(X, np.arange(20) % 2, **{"kernels": views} | options)


@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        (np.eye(3), None, TypeError, "^y must hold .* got None"),
        (np.eye(3), 3, TypeError, "^y must hold .* got 3"),
        (np.eye(3), [0, 1, 0, 1], ValueError, "^y must hold one label for each of the 3 samples; got 4"),
        (3, [0, 1, 0, 1], TypeError, "^X must be"),
    ],
)
def test_a_target_for_each_sample_is_required(X, y, error, message):
    with pytest.raises(error, match=message):
        compare("auto", X, y, progress=False)


def test_what_is_drawn_are_scores_and_weights(helped):
    numbers, order = helped.drawn_numbers(), helped.to_frame().index.tolist()
    assert {name: folds.tolist() for name, folds in numbers["folds"].items()} == {
        name: helped.folds(name).ravel().tolist() for name in order
    }
    assert sorted(numbers["baselines"]) == SIMPLE and numbers["scoring"] == "accuracy"
    pd.testing.assert_frame_equal(numbers["weights"], helped.weights.loc[order])


def test_learners_and_estimators_may_be_compared():
    X, y, views = two_views()
    models = {"first": Only(), "svm": SVC(), "mean": CombinedKernelClassifier(views, MeanRule())}
    found = compare(models, X, y, kernels=views, progress=False)
    assert found.estimators == ["first", "svm", "mean"] and len(found.tests) == 3
    alone = CombinedKernelClassifier(views, Only())
    np.testing.assert_array_equal(found.folds("first"), run(X, y, views, {"first": Only()}).folds("first"))
    np.testing.assert_array_equal(
        found.folds("first"), compare({"a": alone, "b": SVC()}, X, y, progress=False).folds("a")
    )

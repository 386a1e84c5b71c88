"""Weight learners beside the plain sum and the best single view: tests that the scores bear out."""

import json

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.svm import SVC, SVR

from multikernel import CombinedKernelClassifier, CompositionalKernelClassifier, compare, stack_kernels
from multikernel.inspection import Comparison, comparing, f_test_5x2cv, holm
from multikernel.inspection.comparing import _named
from multikernel.inspection.comparison import Baseline
from multikernel.kernels import Gaussian, Linear
from multikernel.rules import BestSingle, CenteredAlignment, MeanRule, SumRule, WeightLearner
from multikernel.rules.learner import Learned

matplotlib.use("Agg")

SIMPLE = ["best single view", "plain sum"]
WIDTH = 6.0
KERNELS = [(f"x{j}", Gaussian(WIDTH), [j]) for j in range(8)]


class First(WeightLearner):
    """All weight to the first kernel, or to the last."""

    learns_from = ("classes", "values")

    def __init__(self, last=False):
        self.last = last

    def _learn(self, Ks, targets):
        weights = np.zeros(len(Ks))
        weights[-1 if self.last else 0] = 1.0
        return Learned(weights)


def needle(n=60, n_columns=8):
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
    return run(*needle(), models={"align": CenteredAlignment(), "wrong": First(last=True)})


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
        "It was not shown that learning the kernel helped: CenteredAlignment has a mean"
    )
    assert (same.to_frame()[("plain sum", "verdict")].dropna() == "tie").all()
    for name in SIMPLE:
        assert f"the {name} ({same.folds(name).mean():.3f}, p = " in same.answer


def test_a_learner_that_beats_both_is_said_to_help():
    """Two kernels that speak together, among noise: one alone is not enough, and the sum drowns them."""
    X = np.random.default_rng(3).normal(size=(60, 12))
    views = [(f"x{j}", Gaussian(1.0), [j]) for j in range(12)]
    found = run(X, np.sin(2.0 * X[:, :2]).sum(axis=1), views, {"oracle": Oracle()})
    assert found.answer.startswith("Learning the kernel helped: oracle has a mean R²")
    assert "better than the best single view" in found.answer and "and the plain sum" in found.answer


class Oracle(WeightLearner):
    """Equal weights for the first two kernels."""

    learns_from = ("classes", "values")

    def _learn(self, Ks, targets):
        return Learned(np.where(np.arange(len(Ks)) < 2, 1.0, 0.0))


@pytest.mark.parametrize("rival", ["plain sum", "best single view"])
def test_the_tests_are_those_of_the_scores(helped, rival):
    frame, scores = helped.to_frame(), helped.scores
    others = [rule for rule in helped.estimators if rule != rival]
    table = {
        rule: part.pivot(index="repetition", columns="fold", values="score").to_numpy()
        for rule, part in scores.groupby("estimator")
    }
    tests = [f_test_5x2cv(table[rule], table[rival]) for rule in others]
    np.testing.assert_allclose(frame.loc[others, (rival, "F")].astype(float), [t.statistic for t in tests])
    np.testing.assert_allclose(frame.loc[others, (rival, "p")].astype(float), [t.pvalue for t in tests])
    adjusted = holm([t.pvalue for t in tests])
    np.testing.assert_allclose(frame.loc[others, (rival, "p_holm")].astype(float), adjusted)
    for rule, p in zip(others, adjusted, strict=True):
        lead = table[rule].mean() - table[rival].mean()
        assert frame.loc[rule, (rival, "difference")] == pytest.approx(lead, abs=1e-12)
        sides = (table[rule] > table[rival]).sum(), (table[rule] < table[rival]).sum()
        assert frame.loc[rule, (rival, "folds")] == f"{sides[0]}–{sides[1]}"
        differs = p <= 0.05 and max(sides) >= 8
        verdict = "tie" if not differs else "win" if lead > 0 else "loss"
        assert frame.loc[rule, (rival, "verdict")] == verdict
        assert frame.loc[rule, ("score", "mean")] == pytest.approx(table[rule].mean())
        assert frame.loc[rule, ("score", "sd")] == pytest.approx(table[rule].std(ddof=1))
    assert frame.loc[rival, rival].isna().all()
    assert frame[("score", "mean")].is_monotonic_decreasing


def test_every_rule_sees_the_same_folds_under_the_same_machine(helped):
    X, y = needle()
    folds = RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=0)
    rules = {"best single view": BestSingle(), "plain sum": MeanRule(), "align": CenteredAlignment()}
    for i, (train, test) in enumerate(folds.split(X, y)):
        for name, learner in rules.items():
            if i % 5 == 0:
                model = CombinedKernelClassifier(clone(learner), kernels=KERNELS).fit(X[train], y[train])
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
    assert isinstance(seen["plain sum"].learner, MeanRule)


def test_a_search_may_be_the_machine():
    machine = GridSearchCV(SVC(kernel="precomputed"), {"C": [1.0, 10.0]}, cv=2)
    found = run(*two_views(), First(), machine)
    assert found.folds("First").mean() > 0.8


def test_a_stack_of_kernels_gives_what_its_table_gives(helped):
    X, y = needle()
    stack = stack_kernels([np.exp(-WIDTH * (X[:, [j]] - X[:, j]) ** 2) for j in range(8)])
    stack.flags.writeable = False
    found = run(stack, y, "precomputed", {"align": CenteredAlignment(), "wrong": First(last=True)})
    pd.testing.assert_frame_equal(found.to_frame(), helped.to_frame())
    np.testing.assert_allclose(found.weights, helped.weights, atol=1e-9)


def test_a_frame_with_named_views_and_values_with_two_outputs():
    X, _, _ = two_views()
    table = pd.DataFrame(X, columns=["left", "right"])
    y = np.sin(X) + 0.05
    found = run(table, y, [(name, Gaussian(WIDTH), [name]) for name in table], First())
    assert found.scoring == "r2"
    assert "First has a mean R²" in found.answer and found.estimators == ["First", *SIMPLE]
    assert found.weights.columns.tolist() == ["left", "right"]
    assert found.weights.loc["First"].tolist() == [1.0, 0.0]


def test_values_are_told_from_classes():
    X, _, views = two_views()
    values = np.round(100 * X[:, 0])  # whole numbers
    with pytest.raises(ValueError, match="task='values' if y is a number"):
        run(X, values, views)
    found = run(X, values, views, First(), SVR(C=1000.0), task="values")
    assert found.scoring == "r2"
    assert found.folds("First").mean() > found.folds("plain sum").mean()


def test_a_run_that_was_stopped_goes_on_from_its_store(tmp_path, monkeypatch):
    X, y, views = two_views()
    store, fits = tmp_path / "rules.jsonl", []
    learn = First._learn

    def counted(self, Ks, targets):
        fits.append(len(Ks))
        if len(fits) == 4:
            raise KeyboardInterrupt
        return learn(self, Ks, targets)

    monkeypatch.setattr(First, "_learn", counted)
    with pytest.raises(KeyboardInterrupt):
        run(X, y, views, First(), store=store)
    records = [json.loads(line) for line in store.read_text(encoding="utf-8").splitlines()]
    assert len(records) == 3 and all(record["result"]["shares"] for record in records)
    found = run(X, y, views, First(), store=store)
    assert len(fits) == 4 + 7
    again = run(X, y, views, First(), store=store)
    assert len(fits) == 4 + 7
    pd.testing.assert_frame_equal(found.to_frame(), again.to_frame())
    pd.testing.assert_frame_equal(found.to_frame(), run(X, y, views, First()).to_frame())
    pd.testing.assert_frame_equal(found.weights, again.weights)


def scored(scores):
    """What a comparison keeps of scores of ten folds."""
    return pd.concat(
        [
            pd.DataFrame(
                {"estimator": rule, "repetition": np.arange(10) // 2, "fold": np.arange(10) % 2}
            ).assign(score=0.5 + values, dataset="given", fit_seconds=0.0, shares=[{"k": 1.0}] * 10)
            for rule, values in scores.items()
        ]
    )


def compared(scores, **options):
    """The comparison of learners with the two simple rules, on scores that are given."""
    baselines = {name: Baseline(name, list(scores)) for name in SIMPLE}
    return Comparison(scored(scores), baselines=baselines, **options)


def fooled(n, size=0.2):
    """Differences by which F is large: n folds by the same, but for one; the others not at all."""
    folds = np.repeat([size, 0.0], [n, 10 - n])
    folds[n - 1] /= 10.0
    return folds


def test_a_few_folds_are_no_evidence_whatever_their_p():
    nothing = np.zeros(10)
    given = {"plain sum": nothing, "best single view": nothing - 0.1}
    given |= {"three": fooled(3), "seven": -fooled(7), "eight": -fooled(8), "all": nothing + 0.02}
    given |= {"against": np.where(np.arange(10) < 8, 0.01, -0.5)}  # most folds up, the mean down
    table = compared(given).to_frame()["plain sum"]
    assert (table["p_holm"].drop(["plain sum", "best single view", "against"]) < 0.05).all()
    found = {rule: (table.loc[rule, "folds"], table.loc[rule, "verdict"]) for rule in list(given)[2:]}
    assert found == {
        "three": ("3–0", "tie"),
        "seven": ("0–7", "tie"),
        "eight": ("0–8", "loss"),
        "all": ("10–0", "win"),
        "against": ("8–2", "tie"),
    }
    for rule in ("three", "all"):
        test = f_test_5x2cv(np.reshape(given[rule], (5, 2)))
        assert table.loc[rule, "p"] == pytest.approx(test.pvalue, rel=1e-6)
    few = compared({rule: given[rule] for rule in list(given)[:3]}).answer
    assert "no difference was shown from the plain sum (0.500, p = " in few and "but on too few folds" in few


def test_the_best_single_kernel_is_chosen_by_the_scoring():
    """Machine and scorer may know the classes by name."""
    X, y, kernels = imbalanced()
    f1 = make_scorer(f1_score, pos_label="rare", zero_division=0.0)
    machine = SVC(class_weight={"rare": 4.0, "usual": 1.0})
    found = run(X, y, kernels, First(), machine, scoring="roc_auc")
    assert found.weights.loc["best single view", "ranks"] > 0.9
    for scoring, weights in [(None, [True, False]), ("roc_auc", [False, True]), (f1, [False, True])]:
        model = CombinedKernelClassifier(BestSingle(machine, scoring=scoring), machine, kernels).fit(X, y)
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
    run(X, y, kernels, First())
    BestSingle().fit([X @ X.T], y)
    CombinedKernelClassifier(kernels=kernels).fit(X, y)
    CompositionalKernelClassifier(kernels=kernels).fit(X, y)
    after = np.random.get_state()
    assert (after[1] == before[0]).all() and after[2] == before[1]


def test_verdicts_are_those_of_holm():
    """Two learners whose p of 3 % is not enough among three tests."""
    ripple = np.where(np.arange(10) % 2, 0.01, -0.01)
    scores = {"plain sum": 0 * ripple, "best single view": ripple, "a": 0.0328 + ripple, "b": 0.0328 - ripple}
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
    for task in ("classes", "values"):
        learners = comparing._default_learners(task)
        assert len(learners) >= 2 and all(task in learner.learns_from for learner in learners)
        assert len(_named("auto", data, task)) == len(learners)


class ClassesOnly(First):
    learns_from = ("classes",)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"models": []}, TypeError, "must be a dictionary by name.*an empty one"),
        ({"models": "MarginMKL"}, TypeError, "must be an object with fit and get_params.*got 'MarginMKL'"),
        ({"models": {1: SumRule()}}, TypeError, "must be strings"),
        ({"models": CenteredAlignment}, TypeError, "Call the class"),
        ({"models": [SumRule(), SumRule()]}, ValueError, "must differ"),
        ({"models": {"plain sum": SumRule()}}, ValueError, "choose a different name for that model"),
        ({"models": ClassesOnly(), "task": "values"}, ValueError, "'ClassesOnly' learns from classes"),
        ({"models": SumRule(), "baselines": False}, ValueError, "or one and baselines; got only 'SumRule'"),
        ({"task": "nothing"}, ValueError, "task must be"),
        ({"level": 2.0}, ValueError, "level must be less than 1"),
        ({"machine": SVC(kernel="linear")}, ValueError, "^machine must take the combined kernel"),
        ({"machine": SVR()}, TypeError, "^machine must be a classifier .*; got SVR"),
        ({"machine": SVC(), "task": "values"}, TypeError, "^machine must be a regressor"),
        ({"machine": SVC}, TypeError, "Call the class"),
        ({"scoring": "acuracy"}, ValueError, "^scoring must be .* Did you mean 'accuracy'"),
        (
            {"scoring": "neg_log_loss"},
            ValueError,
            "^estimator 'CenteredAlignment', repetition 0, fold 0 failed with .*predict_proba",
        ),
        ({"scoring": ["accuracy"]}, TypeError, "one score"),
        ({"n_jobs": 0}, ValueError, "n_jobs"),
    ],
)
def test_what_cannot_be_compared_is_refused(options, error, message):
    X, _, views = two_views(20)
    with pytest.raises(error, match=message):
        run(X, np.arange(20) % 2, views, **options)


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


def test_the_picture_is_drawn_on_given_axes_or_with_the_weights(helped):
    from matplotlib import pyplot

    figure, ax = pyplot.subplots()
    assert helped.plot(ax) is ax and figure.axes == [ax]
    assert [label.get_text() for label in ax.get_yticklabels()] == helped.to_frame().index.tolist()
    dots = [line for line in ax.lines if len(line.get_xdata()) == 10]
    for rule, line in zip(helped.to_frame().index, dots, strict=True):
        assert line.get_xdata().tolist() == helped.folds(rule).ravel().tolist()
    lines = {line.get_label(): line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "--"}
    assert lines == {rule: helped.folds(rule).mean() for rule in ("plain sum", "best single view")}
    alone = helped.plot()
    np.testing.assert_allclose(
        alone.figure.axes[1].images[0].get_array(), helped.weights.loc[helped.to_frame().index]
    )
    pyplot.close(figure)
    pyplot.close(alone.figure)


def test_signed_weights_are_drawn_on_a_scale_with_two_sides(helped):
    from matplotlib import pyplot

    from multikernel.viz import rules

    folds = {rule: helped.folds(rule).ravel() for rule in ("plain sum", "best single view")}
    weights = pd.DataFrame([[0.5, -0.25], [1.0, 0.0]], index=list(folds))
    numbers = {
        "folds": folds,
        "baselines": list(folds),
        "weights": weights,
        "scoring": "accuracy",
        "title": "rules",
    }
    figure = rules(numbers).figure
    assert figure.axes[1].images[0].get_clim() == (-1.0, 1.0)
    pyplot.close(figure)


def test_text_and_html_hold_answer_and_table(helped):
    assert str(helped).startswith(helped.answer)
    page = helped._repr_html_()
    assert "Learning the kernel helped in part" in page and "<table" in page and "align" in page


def test_learners_in_the_place_of_kernels_are_refused_at_the_door():
    X, y, _ = two_views()
    with pytest.raises(TypeError, match="kernels must be kernels or views; got a weight learner"):
        compare("auto", X, y, kernels=[CenteredAlignment()])


def test_learners_and_estimators_may_be_compared():
    X, y, views = two_views()
    models = {"first": First(), "svm": SVC(), "mean": CombinedKernelClassifier(MeanRule(), kernels=views)}
    found = compare(models, X, y, kernels=views, progress=False)
    assert found.estimators == ["first", "svm", "mean"] and len(found.tests) == 3
    alone = CombinedKernelClassifier(First(), kernels=views)
    np.testing.assert_array_equal(found.folds("first"), run(X, y, views, {"first": First()}).folds("first"))
    np.testing.assert_array_equal(
        found.folds("first"), compare({"a": alone, "b": SVC()}, X, y, progress=False).folds("a")
    )

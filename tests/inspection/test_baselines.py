"""Rivals that are no straw men, and words that say no more than was shown."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sparse
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from multikernel import CombinedKernelRegressor, MKLClassifier, MKLRegressor, View
from multikernel.bayesian import BayesianMKLRegressor
from multikernel.inspection import Comparison
from multikernel.inspection.judging.answers import answer, on_majority, on_views
from multikernel.inspection.judging.comparing import _add_baselines
from multikernel.inspection.judging.parts import Scores
from multikernel.inspection.judging.plan import LEARNED
from multikernel.inspection.protocol import Protocol
from multikernel.inspection.rivals.baselines import (
    Report,
    WithoutKernel,
    choose_baselines,
    column_rivals,
    leave_out,
    rivals,
    same_machine,
)
from multikernel.inspection.rivals.columns import RBF, column_rival, describe_table
from multikernel.inspection.runs import Judging, Outcomes, make_contest
from multikernel.inspection.subject import Subject, subject_of
from multikernel.kernels import Spectrum
from multikernel.rules import MeanRule
from tests.inspection.toys import scores_frame


@pytest.fixture(scope="module")
def search(table, views):
    """Chooses among kernels, C and the norm."""
    grid = {"kernels": [views, views[:2], views[:1]], "C": [1.0, 2.0], "norm": [1.0]}
    grids = [grid, {"C": [3.0]}]
    return GridSearchCV(MKLClassifier(views, random_state=0), grids, cv=2).fit(table[0], table[1])


# ------------------------------------------------------------------ rivals
def test_the_rbf_machine_does_not_hang_on_units(table, small_search):
    X, _, value = table
    small, large = (
        column_rival(RBF, describe_table("regression", X, value, [])[0])[0].fit(X, scale * value).predict(X)
        / scale
        for scale in (1e-3, 1e3)
    )
    assert np.corrcoef(small, value)[0, 1] > 0.9 and np.allclose(small, large, atol=0.02)


def test_rivals_of_models_without_a_machine_have_an_intercept(table, views):
    model = BayesianMKLRegressor(views)
    machine, words = same_machine(Subject(model, model))
    shifted = 1e3 + table[2]
    K = np.outer(table[0]["a"], table[0]["a"])
    assert machine.fit(K, shifted).score(K, shifted) > 0.8 and "intercept" in words


def test_a_view_is_left_out_of_every_choice_of_the_search(search, table):
    report = Report()
    found = leave_out(subject_of(search), table[0], report)
    grids = found["without b"].estimator.param_grid
    assert [[view.name for view in kernels] for kernels in grids[0]["kernels"]] == [
        ["a", "noise"],
        ["a"],
        ["a"],
    ]
    assert [view.name for view in found["without b"].estimator.estimator.kernels] == ["a", "noise"]
    assert grids[1] == {"C": [3.0]} and "The search chooses the kernels" in report.notes[0]
    assert len(search.param_grid[0]["kernels"]) == 3
    report = Report()
    search.param_grid[0]["costs"] = [None]
    assert leave_out(subject_of(search), table[0], report) == {} and "costs" in report.omitted[0]["why"]
    del search.param_grid[0]["costs"]


def test_rivals_are_searched_for_as_the_model_is(search, table):
    subject = subject_of(search)
    found = rivals(subject, (table[0], table[1]), Report())
    for name in ("best single view", "plain sum"):
        machine = found[name].estimator.machine
        assert isinstance(machine, GridSearchCV) and machine.param_grid == [{"C": [1.0, 2.0]}, {"C": [3.0]}]
        assert "C searched for within the training part" in found[name].what
        assert "kernels as the search chose on all samples" in found[name].what
        assert "norm" not in found[name].what
    fitted = found["plain sum"].estimator.fit(table[0], table[1])
    assert fitted.machine_.best_params_["C"] in (1.0, 2.0, 3.0)
    assert "GridSearchCV of MKLClassifier" in subject.what and "kernels, C, norm" in subject.what


def test_the_rbf_machine_stands_behind_the_same_steps(table, views, small_search):
    X, label = table[0].to_numpy(copy=True), table[1]
    X[::5, 1] = np.nan
    views = [(view.name, view.kernel, [k]) for k, view in enumerate(views)]
    model = make_pipeline(SimpleImputer(), StandardScaler(), MKLClassifier(views)).fit(X, label)
    machine = rivals(subject_of(model), (X, label), Report())["tuned RBF SVM"].estimator
    assert machine.fit(X, label).score(X, label) > 0.7


def test_one_view_has_no_simpler_rules(table, views):
    report = Report()
    model = MKLClassifier(views[:1]).fit(table[0], table[1])
    assert list(rivals(subject_of(model), (table[0], table[1]), report)) == ["tuned RBF SVM"]
    assert "one view only" in report.omitted[0]["why"]


def test_models_are_compared_with_rivals_of_their_own_machine(table, views):
    models = {
        "mean": CombinedKernelRegressor(views, MeanRule()),
        "svr": MKLRegressor(views, C=1.0, epsilon=0.1),
        "flat": MKLRegressor(views, C=1.0, epsilon=0.1, norm=2.0),
    }
    report = Report()
    contest = make_contest(models, {"given": (table[0], 100.0 * table[2])}, Judging(), 0)
    found = _add_baselines(models, contest, choose_baselines(True), (None, []), report)
    tested = {name: baseline.tested for name, (_, baseline) in found.items()}
    ridge, svr = "plain sum under KernelRidge with alpha=1", "plain sum under MKLRegressor with C=1"
    assert tested[ridge] == ["mean"] and tested[svr] == ["svr", "flat"]
    assert tested["tuned RBF SVM"] == list(models) and len(found) == 5
    assert "in the units of y" in report.notes[0]
    rng = np.random.default_rng(0)
    frame = scores_frame({name: rng.normal(size=10) for name in (*models, *found)})
    frame.loc[frame["estimator"] == "mean", "score"] += 9.0
    baselines = {name: baseline for name, (_, baseline) in found.items()}
    compared = Comparison(frame, baselines=baselines, scoring="r2")
    rivals_of = {row["name"]: [test["rival"] for test in row["tests"]] for row in compared.to_dict()["rows"]}
    assert svr not in rivals_of["mean"] and ridge in rivals_of["mean"] and svr in rivals_of["flat"]
    head = compared.table()[0]
    assert head[4:] == ["against best single view", "against plain sum", "against tuned RBF SVM"]
    assert "mean has the best mean R² of 3 models" in compared.answer and ridge in compared.answer


def test_the_rbf_machine_needs_columns(table, stack, small_search):
    X, label, _ = table

    def made(X, model):
        report = Report()
        choice = choose_baselines(True)
        found = column_rivals([Subject(model, model)], (X, label), choice.names, choice, report)
        return found[RBF].estimator.fit(X, label).score(X, label) if found else report.omitted[0]["why"]

    gaps = X.assign(word=np.where(np.arange(48) % 2, "text", None), b=X["b"].where(X["b"] > -1.0))
    for given in (X, sparse.csr_matrix(X), gaps, {"one": X[["a"]], "two": X[["b", "noise"]].to_numpy()}):
        assert made(given, MKLClassifier()) > 0.7
    assert "infinity" in made(X.assign(a=np.inf), MKLClassifier())
    assert "no columns" in made(stack, MKLClassifier("precomputed"))
    assert "no columns" in made(["ACGT"] * 48, MKLClassifier([Spectrum(2)]))
    words = X.assign(word=["ACGT", "TTGA"] * 24)
    assert "no columns" in made(words, MKLClassifier([View("word", Spectrum(2), "word")]))


def test_an_estimator_without_one_kernel(stack, table):
    label = table[1]
    model = make_pipeline(WithoutKernel(1), MKLClassifier("precomputed"))
    tags = get_tags(model)
    assert tags.input_tags.pairwise and tags.estimator_type == "classifier"
    copied = pickle.loads(pickle.dumps(clone(model).fit(stack, label)))
    alone = MKLClassifier("precomputed").fit(stack[:, :, :1], label)
    assert (copied.predict(stack) == alone.predict(stack[:, :, :1])).all()
    assert np.allclose(copied.decision_function(stack), alone.decision_function(stack[:, :, :1]))


def test_a_search_is_looked_through(table, views):
    X, label, _ = table
    search = GridSearchCV(MKLClassifier(views), {"C": [1.0, 2.0]}, cv=2).fit(X, label)
    subject = subject_of(search)
    assert subject.final is search.best_estimator_ and subject.views == ["a", "b", "noise"]
    fresh = subject.fresh(kernels=views[:1])
    assert isinstance(fresh, GridSearchCV) and fresh.estimator.kernels == views[:1]
    assert fresh.param_grid == search.param_grid and search.estimator.kernels == views


# ------------------------------------------------------------------ words
def scores_of(folds):
    """Scores of five times two folds, without those of samples."""
    places = [(i // 2, i % 2) for i in range(10)]
    protocol = Protocol([(np.arange(5), np.arange(5, 10))] * 10, places, 10, "ten folds")
    results = {
        name: [{"scores": {"accuracy": score}, "samples": {"accuracy": None}} for score in values.ravel()]
        for name, values in folds.items()
    }
    return Scores("accuracy", protocol, results, {}, 0.01)


def test_a_large_difference_that_is_not_certain_is_named():
    rng = np.random.default_rng(1)
    whole = 0.9 + 0.05 * rng.normal(size=(5, 2))
    folds = {LEARNED: whole, "needed": whole - 0.25 + 0.15 * rng.uniform(-1, 1, size=(5, 2))}
    folds |= {f"idle {k}": whole + 0.02 * rng.normal(size=(5, 2)) for k in range(29)}
    tests = scores_of(folds).against(list(folds)[1:])
    test = tests["needed"]
    assert test["verdict"] == "tie" and test["p_alone"] < 0.05 and test["better_folds"] == 10
    assert test["difference_sd"] == pytest.approx(np.std(whole - folds["needed"], ddof=1))
    rows = [{"view": name, "effect": test["difference"], **test} for name, test in tests.items()]
    text = on_views(rows, "accuracy")
    assert text.startswith("No difference was shown") and "without needed, accuracy falls by 0.2" in text
    assert "on all 10 folds" in text and "adjusted for 30 views" in text and "may well be" in text
    rival = {"name": "plain sum", "score": 0.6, **test}
    learned = {"name": LEARNED, "score": 0.9, "verdict": None}
    text = answer([learned, rival], "accuracy", ["best single view"], majority=(0.91, 100))
    assert "no difference was shown from the plain sum" in text and "yet better on all 10 folds" in text
    assert "Judged without the best single view" in text and "largest class has accuracy 0.910" in text
    shown = {**rows[1], "verdict": "better", "effect": 0.3}
    assert "Not certain: without needed" in on_views([rows[0], shown], "accuracy")


def test_the_majority_is_named_where_it_is_as_good(of_classifier, classifier, table):
    X, label, _ = table
    predicted = cross_val_predict(classifier, X, label, cv=StratifiedKFold(5, shuffle=True, random_state=0))
    found = of_classifier["held_out"]
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(label, predicted))
    assert found["majority"] == pytest.approx(np.unique(label, return_counts=True)[1].max() / 48)
    assert "accuracy 0.963" in str(on_majority(0.9625, "accuracy", 0.9625, 80))
    assert on_majority(0.975, "accuracy", 0.9625, 80) is on_majority(0.9, "accuracy", None, 80) is None


def test_of_several_warnings_the_worst_is_told():
    gaps = ["the relative duality gap is 1.0e-02 after", "the relative duality gap is 4.6e-02 after"]
    notes = []
    Outcomes({"learned": [{"warnings": [gaps[0]]}, {"warnings": [gaps[1]]}, {}]}).note_warnings(notes)
    assert notes == [f"2 of 3 refits of 'learned' gave a warning, the worst: {gaps[1]}"]


def test_verdicts_speak_of_the_model():
    """Better by the same on all folds but for a little noise."""
    base = np.linspace(0.5, 0.6, 10).reshape(5, 2)
    noise = 0.01 * np.array([[1, -1], [-1, 1], [1, 0], [0, -1], [-1, 1]])
    folds = {"learned": base, "poor": base - 0.2 + noise, "good": base + 0.2 + noise, "same": base + noise}
    found = scores_of(folds).against(["poor", "good", "same"])
    assert [found[name]["verdict"] for name in ("poor", "good", "same")] == ["better", "worse", "tie"]
    assert found["poor"]["difference"] == pytest.approx(0.2) and found["good"]["difference"] < 0


@pytest.mark.parametrize(
    ("verdicts", "head"),
    [
        (
            ("better", "better"),
            "Learning the kernel helped: accuracy 0.900, better than the best single view (0.800; +0.100 "
            "[+0.050, +0.150], p = 0.01) and the plain sum (0.800; +0.100 [+0.050, +0.150], p = 0.01).",
        ),
        (("tie", "better"), "Learning the kernel helped in part:"),
        (("tie", "tie"), "It was not shown that learning the kernel helped:"),
        (("tie", "worse"), "Learning the kernel did not help, use the plain sum:"),
        (("worse", "tie"), "Learning the kernel did not help, view a alone is enough:"),
        (("equal", "equal"), "Learning the kernel made no practical difference, view a alone is enough:"),
        (("equal", "better"), "Learning the kernel made no practical difference, view a alone is enough:"),
        (("better", "equal"), "Learning the kernel made no practical difference, use the plain sum:"),
    ],
)
def test_the_answer_says_what_the_verdicts_say(verdicts, head):
    rows = [{"name": "learned", "score": 0.9, "verdict": None}]
    for name, verdict in zip(("best single view", "plain sum"), verdicts, strict=True):
        gap = {"difference": 0.1, "low": 0.05, "high": 0.15}
        rows.append({"name": name, "score": 0.8, "p": 0.01, "verdict": verdict, **gap})
    text = answer(rows, "accuracy", single="a")
    assert text.startswith(head) and "0.900" in text and "0.800" in text
    assert ("practically equal to" in text) == ("equal" in verdicts)

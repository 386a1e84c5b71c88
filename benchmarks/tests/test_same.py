"""The comparison of revisions: what it flags, what its runner computes, and that no method is left out."""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import walk
from benchmarks.same import __main__ as same
from benchmarks.same import problems, runner
from benchmarks.same.__main__ import ROOT, Runner, select, tree_of
from benchmarks.same.compare import compare, markdown, summary
from multikernel import MKLClassifier
from multikernel.kernels import Linear
from multikernel.registry import list_methods

SMALL = ("golden/wine/mkl/SM1", "methods/ridge/regression", "learners/easy_mkl/classification")


def answers(seconds=0.5, repeats=8, **changed):
    """What a runner gives for one case: a warm-up and repeats."""
    numbers = {"weights": np.array([0.25, 0.75]), "n_iter": 4, "objective": 1.5, "status": "optimal"}
    one = runner.answer(numbers | changed, seconds)
    return [copy.deepcopy(one) for _ in range(repeats)]


def compared(before, after):
    return compare({"case": before}, {"case": after})


def test_equal_answers_pass():
    found = compared(answers(), answers())
    assert found.passed and found.mean_ratio == 1.0
    assert summary(found).startswith("1 of 1 cases are equal bit for bit. CPU time of 1 cases")
    assert "| case | equal | 500.0 ms | 500.0 ms | 1.000 |" in markdown(found)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"weights": np.array([0.25, np.nextafter(0.75, 1)])},
            "weights: 1 of 2 values, by at most 1.5e-16 of the",
        ),
        ({"n_iter": 5}, "n_iter: 4 → 5"),
        ({"objective": np.nextafter(1.5, 2)}, "objective: 1.5 → 1.5000000000000002"),
        ({"objective": np.float32(1.5)}, "objective: f8() → f4()"),
        ({"weights": np.array([0.25, 0.75, 0.0])}, "weights: f8(2,) → f8(3,)"),
        ({"status": "max_iter"}, "status: 'optimal' → 'max_iter'"),
        ({"weights": None}, "weights is gone"),
    ],
)
def test_a_changed_number_is_flagged(changed, said):
    found = compared(answers(), answers(**changed))
    assert not found.passed
    (difference,) = found.rows[0].differences
    assert difference.startswith(said)


def test_a_change_beyond_the_values_that_are_written_out_is_flagged():
    many = np.zeros(runner.MOST_VALUES + 1)
    other = many.copy()
    other[-1] = 1.0
    found = compared(answers(weights=many), answers(weights=other))
    assert found.rows[0].differences == ["weights: equal in the first 2000 values, not in all"]


def test_a_fit_that_differs_from_repeat_to_repeat_is_flagged():
    restless = answers()
    restless[3] = answers(n_iter=7)[0]
    found = compared(answers(), restless)
    assert found.rows[0].differences == ["n_iter: not the same in every repeat in the work tree"]


def test_what_is_new_is_noted_and_what_is_gone_is_flagged():
    unknown = [{"error": "unknown: case", "unknown": True}]
    assert compared(unknown, answers()).passed
    assert not compared(answers(), unknown).passed
    assert not compared([{"error": "ValueError: x"}], [{"error": "ValueError: x"}]).passed
    more = compared(answers(), answers(n_solves=3))
    assert more.passed and more.rows[0].notes == ["new: n_solves"]


def test_history_is_noted_only():
    found = compared(answers(history=[{"objective": 1.0}]), answers(history=[{"objective": 2.0}]))
    assert found.passed and found.rows[0].notes == ["history: 1.0 → 2.0"]


def test_slow_cases_are_flagged_short_ones_in_the_mean_only():
    assert compared(answers(0.5), answers(0.52)).passed
    slow = compared(answers(0.5), answers(0.6))
    assert not slow.passed and slow.rows[0].is_slow and "**slow**" in markdown(slow)
    steady = {f"case {k}": answers() for k in range(9)}
    short = compare(steady | {"short": answers(0.01)}, steady | {"short": answers(0.012)})
    assert short.passed and not short.rows[-1].is_slow and short.mean_ratio > 1.0
    all_of_them = compare(steady, {name: answers(0.53) for name in steady})
    assert not all_of_them.passed and not any(row.is_slow for row in all_of_them.rows)


def test_every_method_of_the_registry_is_compared():
    newer = {  # than the commit that is compared with
        *("tuned", "tuned_ridge", "ridge_labels", "survival", "tuned_survival", "tasks", "cooperative"),
        *("infinite_mkl", "hierarchical_mkl", "hyperkernels", "gaussian_process", "probit", "mkldr"),
        *("simple_mkkm", "regularized_mkkm", "max_margin_clustering"),
        *("similarity_network_fusion", "statis_rule"),
        "radius_margin_product",
    }
    older = [method for method in list_methods() if method.name not in newer]
    registered = {m.name: tuple(m.tasks) for m in older}
    assert problems.methods() == registered


def test_the_runner_knows_every_kind_and_variant_and_names_are_given_once():
    cases = [case for problem in problems.problems() for case in problem.cases]
    assert len({case.name for case in cases}) == len(cases)
    assert {case.kind for case in cases} == set(runner.KINDS)
    variants = {case.params["variant"] for case in cases if case.kind == "variant"}
    assert variants == {*runner._estimators(), *runner._other_variants({})}
    for section in ("floor", "passes", "smo", "localized", "nonstationary", "growth"):
        assert any(case.timed and case.name.startswith(section) for case in cases)


@pytest.mark.parametrize("kind", sorted(runner.KINDS))
def test_a_quick_case_of_every_kind_runs(kind, tmp_path):
    """Of each kind the first quick case; what two runs say is equal."""
    problem, case = next((p, c) for p in problems.problems() for c in p.cases if c.kind == kind and c.quick)
    with np.load(problem.write(tmp_path)) as file:
        data = dict(file)
    command = {"kind": kind, "params": case.params, "timed": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fits that stop at max_iter, as in the runner's own process
        first, second = (runner.attempt(command, data) for _ in range(2))
    assert "error" not in first
    found = compare({case.name: [first]}, {case.name: [second]})
    assert found.passed, found.rows[0].differences


def test_a_runner_of_its_own_process_answers(tmp_path):
    chosen = [problem for name in SMALL for problem in select(name, quick=True)]
    process = Runner(ROOT, tmp_path / "log")
    try:
        for problem in chosen:
            found = process.answer(problem.cases[0], problem.write(tmp_path))
            assert found["numbers"]["kernel_weights_"]["values"] and found["seconds"] > 0
    finally:
        process.close()


def test_both_trees_are_warmed_by_processes_that_exit_before_others_are_compared(monkeypatch):
    events = []

    class Recorded:
        def __init__(self, tree, log):
            self.tree = tree
            events.append(f"start {tree}")

        def answer(self, case, arrays, timed=False):
            events.append(f"timed {self.tree}" if timed else f"answer {self.tree}")
            return answers()[0]

        def close(self):
            events.append(f"end {self.tree}")

    monkeypatch.setattr(same, "Runner", Recorded)
    (problem,) = (p for p in problems.problems() if p.name == "golden/wine")
    chosen = [problems.Problem("one", problem.make, (replace(problem.cases[0], timed=True),))]
    found = same.compared((Path("a"), Path("b")), chosen, 7)
    warm, compared_ones = events[:6], events[6:]
    assert warm[:2] == ["start a", "start b"] and warm[4:] == ["end a", "end b"]
    assert sorted(warm[2:4]) == ["answer a", "answer b"]
    assert compared_ones[:2] == ["start a", "start b"] and compared_ones.count("timed a") == 7
    assert found.passed and len(found.rows) == 1


def test_the_tree_of_a_revision_is_made_once(tmp_path):
    tree = tree_of("HEAD", tmp_path)
    assert (tree / "multikernel" / "__init__.py").exists() and tree_of("HEAD", tmp_path) == tree
    assert list(tmp_path.iterdir()) == [tree]
    with pytest.raises(SystemExit, match="git rev-parse"):
        tree_of("no-such-revision", tmp_path)


# ---------------------------------------------------------------------- the walk of a fit
def test_the_walk_counts_functions_of_the_package_alone():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    with walk.watched() as found:
        sorted(X[:, 0], key=lambda value: -value)
    assert not found.functions and found.depth == 0
    model = MKLClassifier([Linear()])
    with walk.watched() as found:
        model.fit(X, y)
    assert "fit" in {name.split(".")[-1] for _, name, _ in found.functions}
    assert len(found.deepest) == found.depth > 3 and len(found.files) > 3
    assert all((walk.PACKAGE / file).exists() for file in found.files)


def test_resolution_orders_have_classes_of_the_package_alone():
    order = walk.own_classes(MKLClassifier)
    assert order[0] == "MKLClassifier" and not {"BaseEstimator", "ClassifierMixin", "object"} & {*order}
    assert MKLClassifier in walk.public_estimators()
    assert "| MKLClassifier |" in walk.order_table([MKLClassifier])

"""Names of precomputed kernels, from the stack to weights, costs, searches, reports and files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import pairwise
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline

from multikernel import KernelBank, MKLClassifier, MKLRidge, evaluate, load_model, save_model, stack_kernels
from multikernel.doctor import diagnose
from multikernel.mkl import cost_path
from multikernel.mkl.weight_path import weight_path
from multikernel.report import render_markdown, summarize
from multikernel.spectral import SpectralKernelClassifier
from multikernel.transductive import TransductiveMKLClassifier

RNG = np.random.default_rng(3)
ROWS, NEW = RNG.normal(size=(40, 4)), RNG.normal(size=(9, 4))
LABELS = np.where(ROWS[:, 0] + ROWS[:, 1] ** 2 > 0.7, "ill", "well")


def grams(A, B):
    return {
        "expr": A @ B.T + 1.0,
        "ppi": pairwise.rbf_kernel(A, B, gamma=0.3),
        "noise": pairwise.rbf_kernel(A[:, 2:], B[:, 2:]),
    }


GRAMS, TESTS = grams(ROWS, ROWS), grams(NEW, ROWS)
STACK = stack_kernels(GRAMS)
PLAIN = np.asarray(STACK)
NAMES = list(GRAMS)


@pytest.fixture(scope="module")
def model():
    return MKLClassifier("precomputed", costs={"ppi": 2.0}).fit(STACK, LABELS)


def test_weights_and_costs_have_the_names(model):
    frame = model.weights_frame()
    assert model.view_names_ == NAMES and frame.index.tolist() == NAMES
    assert frame["cost"].to_dict() == {"expr": 1.0, "ppi": 2.0, "noise": 1.0}
    unnamed = MKLClassifier("precomputed", costs=[1.0, 2.0, 1.0]).fit(PLAIN, LABELS)
    assert unnamed.view_names_ == ["kernel-0", "kernel-1", "kernel-2"]
    np.testing.assert_array_equal(unnamed.kernel_weights_, model.kernel_weights_)
    with pytest.raises(ValueError, match=r"unknown views \['seq'\]; the views are \['expr', 'ppi'"):
        MKLClassifier("precomputed", costs={"seq": 2.0}).fit(GRAMS, LABELS)


def test_every_question_finds_kernels_by_name(model):
    turned = dict(reversed(TESTS.items()))
    ordered = np.asarray(stack_kernels(TESTS))
    for ask in (model.predict, model.decision_function, model.contributions):
        np.testing.assert_array_equal(ask(turned), ask(ordered))
        np.testing.assert_array_equal(ask(stack_kernels(turned)), ask(ordered))
        np.testing.assert_array_equal(ask(list(TESTS.values())), ask(ordered))
    said = model.predict(ordered)
    assert model.score(turned, said) == 1.0


def test_a_repair_is_that_of_the_named_kernel():
    odd = {**GRAMS, "tanh": np.tanh(ROWS @ ROWS.T - 1.0)}
    with pytest.raises(ValueError, match="kernel 'tanh' has smallest eigenvalue"):
        MKLClassifier("precomputed").fit(odd, LABELS)
    model = MKLClassifier(KernelBank("precomputed", psd="clip")).fit(odd, LABELS)
    new = {"tanh": np.tanh(NEW @ ROWS.T - 1.0), **TESTS}
    ordered = stack_kernels([new[name] for name in odd])
    np.testing.assert_array_equal(model.decision_function(new), model.decision_function(ordered))


def test_samples_that_lack_a_named_kernel():
    lacking = {**GRAMS, "ppi": GRAMS["ppi"].copy()}
    lacking["ppi"][4] = lacking["ppi"][:, 4] = np.nan
    with pytest.raises(ValueError, match="kernel 'ppi' holds NaN"):
        MKLClassifier("precomputed").fit(lacking, LABELS)
    model = MKLClassifier(KernelBank("precomputed", missing="mean")).fit(lacking, LABELS)
    turned, ordered = dict(reversed(TESTS.items())), stack_kernels(TESTS)
    np.testing.assert_array_equal(model.decision_function(turned), model.decision_function(ordered))
    assert model.view_names_ == NAMES


def test_a_model_that_is_fitted_again_forgets_the_names():
    model = MKLClassifier("precomputed").fit(GRAMS, LABELS)
    model.fit(PLAIN, LABELS)
    assert model.view_names_ == ["kernel-0", "kernel-1", "kernel-2"]
    other = {"a": TESTS["expr"], "b": TESTS["ppi"], "c": TESTS["noise"]}
    with pytest.raises(ValueError, match="had no names in fit"):
        model.predict(other)
    np.testing.assert_array_equal(model.predict(list(other.values())), model.predict(stack_kernels(TESTS)))


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.thorough)])
def test_folds_and_searches(n_jobs):
    machine = MKLClassifier("precomputed", costs={"noise": 3.0})
    scores = cross_val_score(machine, STACK, LABELS, cv=3, n_jobs=n_jobs, error_score="raise")
    plain = cross_val_score(clone(machine).set_params(costs=[1, 1, 3.0]), PLAIN, LABELS, cv=3)
    np.testing.assert_array_equal(scores, plain)
    search = GridSearchCV(make_pipeline(machine), {"mklclassifier__C": [0.1, 1.0]}, cv=3, n_jobs=n_jobs)
    assert search.fit(STACK, LABELS).best_estimator_[-1].view_names_ == NAMES
    np.testing.assert_array_equal(search.predict(TESTS), search.predict(np.asarray(stack_kernels(TESTS))))
    rows, others = train_test_split(np.arange(40), random_state=0)
    part = MKLRidge("precomputed").fit(STACK[np.ix_(rows, rows)], ROWS[rows, 0])
    assert part.view_names_ == NAMES and part.predict(STACK[np.ix_(others, rows)]).shape == (10,)


def test_a_dict_is_not_split():
    with pytest.raises((ValueError, TypeError)):
        cross_val_score(MKLClassifier("precomputed"), GRAMS, LABELS, cv=3)


def test_a_saved_model_knows_the_names(model, tmp_path):
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.view_names_ == NAMES
    turned = dict(reversed(TESTS.items()))
    np.testing.assert_array_equal(loaded.decision_function(turned), model.decision_function(turned))
    with pytest.raises(ValueError, match=r"got \['expr'\], without \['ppi', 'noise'\]"):
        loaded.predict({"expr": TESTS["expr"]})


def test_reports_and_the_doctor_say_the_names(model):
    found = evaluate(model, GRAMS, LABELS, parts=["stability", "without_view", "embedding"])
    assert not found["omitted"] and found["views"] == NAMES
    assert [row["view"] for row in found["stability"]["rows"]] == NAMES
    assert {row["view"] for row in found["without_view"]["rows"]} == set(NAMES)
    page = render_markdown(summarize(model))
    assert "noise" in page and "kernel-0" not in page
    for form in (STACK, GRAMS):
        assert [kernel["name"] for kernel in diagnose(form, LABELS).kernels] == NAMES


def test_paths_have_the_names():
    machine = MKLClassifier("precomputed", costs={"noise": 3.0})
    path = weight_path(machine, STACK, LABELS, values=[0.1, 1.0])
    assert path.to_frame().index.get_level_values("view").unique().tolist() == NAMES
    costs = cost_path(machine, STACK, LABELS, costs={"noise": 3.0}, exponents=[0.0, 1.0], cv=2)
    assert set(NAMES) == set(costs.costs.index)


@pytest.mark.parametrize("form", [dict, list, stack_kernels])
def test_unlabelled_points_beside_named_kernels(form):
    def take(rows):
        part = {name: K[rows] for name, K in GRAMS.items()}
        return list(part.values()) if form is list else form(part)

    def turned(rows):
        return form(dict(reversed(take(rows).items()))) if form is dict else take(rows)

    plain = TransductiveMKLClassifier("precomputed").fit(PLAIN[:25], LABELS[:25], X_unlabeled=PLAIN[25:])
    model = TransductiveMKLClassifier("precomputed").fit(
        take(slice(25)), LABELS[:25], X_unlabeled=turned(slice(25, None))
    )
    np.testing.assert_array_equal(model.kernel_weights_, plain.kernel_weights_)
    assert model.view_names_ == (["kernel-0", "kernel-1", "kernel-2"] if form is list else NAMES)


def test_one_kernel_by_its_name():
    K, plain = {"ppi": GRAMS["ppi"]}, SpectralKernelClassifier("precomputed")
    plain.fit(GRAMS["ppi"][:25], LABELS[:25], X_unlabeled=GRAMS["ppi"][25:])
    for take in (lambda rows: {"ppi": K["ppi"][rows]}, lambda rows: [K["ppi"][rows]]):
        model = SpectralKernelClassifier("precomputed")
        model.fit(take(slice(25)), LABELS[:25], X_unlabeled=take(slice(25, None)))
        np.testing.assert_array_equal(model.predict(TESTS["ppi"]), plain.predict(TESTS["ppi"]))
    named = SpectralKernelClassifier("precomputed").fit(K, LABELS)
    np.testing.assert_array_equal(named.predict(TESTS), named.predict(TESTS["ppi"]))
    several = SpectralKernelClassifier("precomputed").fit(GRAMS, LABELS)
    assert several.view_names_ == list(GRAMS)
    with pytest.raises(ValueError, match=r"got \['ppi'\], without \['expr', 'noise'\]"):
        several.predict({"ppi": TESTS["ppi"]})
    spoiled = {"ppi": np.where(np.eye(40) > 0, np.nan, GRAMS["ppi"])}
    with pytest.raises(ValueError, match=r"kernel 'ppi' holds NaN at \(0, 0\)"):
        SpectralKernelClassifier("precomputed").fit(spoiled, LABELS)


def test_frames_as_gram_matrices():
    ids, new = [f"s{i}" for i in range(40)], [f"n{i}" for i in range(9)]
    frames = {name: pd.DataFrame(K, index=ids, columns=ids) for name, K in GRAMS.items()}
    tests = {name: pd.DataFrame(K, index=new, columns=ids) for name, K in TESTS.items()}
    model, plain = (MKLClassifier("precomputed").fit(X, LABELS) for X in (frames, PLAIN))
    ordered = stack_kernels(TESTS)
    np.testing.assert_array_equal(model.decision_function(tests), plain.decision_function(ordered))
    frames["ppi"] = frames["ppi"].loc[ids[::-1], ids[::-1]]
    with pytest.raises(ValueError, match="row 0 is 's0' in kernel 'expr' and 's39' in kernel 'ppi'"):
        MKLClassifier("precomputed").fit(frames, LABELS)


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ({name: K[:, :30] for name, K in TESTS.items()}, r"n_train=40, n_kernels=3\); got shape \(9, 30, 3"),
        ({**TESTS, "ppi": TESTS["ppi"][:4]}, r"'ppi' has shape \(4, 40\), kernel 'expr' has shape \(9, 40\)"),
        ({}, r"names of fit, \['expr', 'ppi', 'noise'\]; got \[\]"),
        ({"expr": TESTS["expr"], 3: TESTS["ppi"]}, "must be a non-empty string; got 3"),
    ],
)
def test_new_kernels_that_do_not_belong_to_the_model(model, new, message):
    with pytest.raises((ValueError, TypeError), match=message):
        model.predict(new)


def test_frames_in_another_order_are_refused_as_gram_matrices():
    ids = [f"s{i}" for i in range(8)]
    frame = pd.DataFrame(np.eye(8) + 1.0, index=ids, columns=ids)
    with pytest.raises(ValueError, match="all kernels must have the same samples in the same order; row 0"):
        MKLClassifier("precomputed").fit({"a": frame, "b": frame.loc[ids[::-1], ids[::-1]]}, [0, 1] * 4)

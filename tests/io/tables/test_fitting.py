"""From a table to a model and back: what is planned, tuned, stopped, recorded and predicted."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from multikernel import MKLClassifier, View
from multikernel.core.optim.loop import stop_on_interrupt
from multikernel.io.tables import (
    TableData,
    ViewList,
    fit_plan,
    fitting,
    make_record,
    parse_parameters,
    plan_fit,
    predict_table,
    read_table,
    reading_options,
    require_free,
    tune,
)
from multikernel.io.tables.fitting import Tuning, doubts_of_scale
from multikernel.kernels import Gaussian, Linear

N = 40


def features():
    return np.random.default_rng(0).normal(size=(N, 3))


def table(y=None, *, views=None, **columns):
    X = pd.DataFrame(features(), columns=["a", "b", "c"]).assign(**columns)
    return TableData(X, y, views or {}, "table", "t.csv", "y")


def column(*values, y=(0, 0, 1, 1)):
    """A table of one column."""
    return TableData(pd.DataFrame({"a": values}), np.asarray(y), {}, "table", "t.csv", "y")


LABELS = np.where(features()[:, 0] > 0, "yes", "no")


# --- plans -------------------------------------------------------------------------------------------------


def test_the_kernels_are_auto_or_one_gaussian_a_view_or_what_is_given():
    assert plan_fit(table(LABELS)).model.kernels == "auto"
    views = {"p": ["a", "b"], "q": ["c"]}
    assert plan_fit(table(LABELS, views=views)).kernels == [
        View("p", Gaussian(), ["a", "b"]),
        View("q", Gaussian(), ["c"]),
    ]
    both = plan_fit(table(LABELS, views=views), kernels="linear, gaussian")
    assert [view.name for view in both.kernels] == ["p/linear", "p/gaussian", "q/linear", "q/gaussian"]
    assert plan_fit(table(LABELS), kernels="linear").kernels == [View("linear", Linear())]


def test_only_columns_that_a_view_reads_must_be_numbers_and_known():
    views = ViewList([View("p", Linear(), ["a", "b"])])
    data = table(LABELS, c=["text"] * N, d=[np.nan] * N)
    plan = plan_fit(data, views=views)
    assert list(plan.X.columns) == ["a", "b"]
    assert plan.notes == ["no view reads columns 'c', 'd' of t.csv: left out."]
    with pytest.raises(
        ValueError, match=r"column 'c' of t.csv must hold numbers.*'text' in row 0.*--one-hot c"
    ):
        plan_fit(data)
    with pytest.raises(ValueError, match=r"column 'd' of t.csv is empty in row 0.* and 39 other values"):
        plan_fit(table(LABELS, d=[np.nan] * N))


def test_costs_go_to_methods_that_take_them():
    views = ViewList([View("p", Linear(), ["a"]), View("q", Linear(), ["b"])], {"q": 3.0})
    assert plan_fit(table(LABELS), views=views).model.costs == {"q": 3.0}
    assert plan_fit(table(LABELS), views=views, parameters={"costs": {"p": 2.0}}).model.costs == {"p": 2.0}
    plan = plan_fit(table(LABELS), views=views, method="EasyMKL")
    assert "takes no costs" in plan.notes[-1]


def test_the_task_is_found_from_the_target():
    values = features()[:, 0]
    assert plan_fit(table(LABELS)).task == "classification"
    assert plan_fit(table(values)).task == "regression"
    assert plan_fit(table(np.arange(N) % 3)).task == "classification"
    assert plan_fit(table(np.arange(N)), task="regression").y.dtype == np.float64
    assert plan_fit(table(np.arange(N)), method="ridge").task == "regression"
    assert plan_fit(table(), task="unsupervised").model.__class__.__name__ == "MKLOneClass"
    doubtful = plan_fit(column(*range(60), y=np.arange(60) % 25))
    assert "25 whole numbers, read as classes" in doubtful.notes[0]


@pytest.mark.parametrize(
    ("y", "options", "said"),
    [
        (None, {}, "name the target"),
        (None, {"method": "ridge"}, "name the target"),
        (np.arange(N), {}, "class '0' has a single sample.*--task regression"),
        (LABELS, {"task": "regression"}, "must hold numbers.*'(yes|no)'"),
        (LABELS, {"method": "ridge"}, "must hold numbers"),
        (np.full(N, "a"), {}, "target 'y' of t.csv: y must hold two classes"),
        (features()[:, 0], {"method": "localised"}, "did you mean 'localized'"),
        (
            features()[:, 0],
            {"method": "discriminant", "task": "regression"},
            "discriminant is for classification",
        ),
        (features()[:, 0], {"method": "survival"}, "--time and --event.* instead of --target"),
        (LABELS, {"method": "pca"}, "does not predict new rows.* or use CombinedKernelPCA in Python"),
        (LABELS, {"parameters": {"Cc": 2}}, "no parameter 'Cc'"),
        (LABELS, {"parameters": {"kernels": "linear"}}, "--kernels"),
        (LABELS, {"kernels": "linear", "views": ViewList([View("p", Linear())])}, "cannot both"),
        (LABELS, {"kernels": "precomputed"}, "holds a table"),
        (["1.5", "2.5", "oops", "3.5"], {"task": "regression"}, r"'oops' in row 2"),
        (["1.5", "2.5", "oops", "3.5"], {}, r"'oops' in row 2 .* is none"),
        ([1.5, 2.5, 3.0, 4.0], {"task": "classification"}, r"whole numbers or names.* 1.5 in row 0"),
        ([1.5, np.inf, 3.0, 4.0], {}, r"infinite in row 1"),
        ([1.5, 2.5, 3.0, 4.0], {"method": "EasyMKL"}, r"choose a method .* such as mkl or tuned"),
        (np.ones((4, 2)), {"task": "regression"}, r"one column of targets; 'y' of t.csv has 2"),
        ([0, 0, 1, 1], {"parameters": {"callback": 3}}, r"callback is a function"),
    ],
)
def test_what_cannot_be_fitted_is_refused(y, options, said):
    with pytest.raises(ValueError, match=said):
        plan_fit(column(1.0, 2.0, 3.0, 4.0, y=y) if y is not None and len(y) == 4 else table(y), **options)


def test_parameters_are_read_without_running_them():
    texts = "C=1e2; n=3; a=TRUE; b=none; c=-inf; d='x y'; e=[1, 2]; f=__import__('os'); g=a=b"
    assert parse_parameters(texts.split("; ")) == {
        "C": 100.0, "n": 3, "a": True, "b": None, "c": -np.inf, "d": "x y", "e": [1, 2],
        "f": "__import__('os')", "g": "a=b",
    }  # fmt: skip
    for bad in (["C"], ["=2"], ["a b=2"], ["C=1", "C=2"]):
        with pytest.raises(ValueError, match=r"name=value|given once"):
            parse_parameters(bad)


# --- fits --------------------------------------------------------------------------------------------------


def test_a_fit_is_that_of_the_estimator_and_keeps_no_callback():
    steps = []
    fitted = fit_plan(plan_fit(table(LABELS), parameters={"C": 2.0}), on_step=steps.append)
    alone = MKLClassifier(C=2.0).fit(table().X, LABELS)
    np.testing.assert_array_equal(fitted.model.kernel_weights_, alone.kernel_weights_)
    assert fitted.status == "done" and fitted.model.callback is None and fitted.warnings == []
    assert len(steps) == alone.n_iter_


def test_a_fit_that_is_asked_to_stop_is_kept_as_it_is():
    with stop_on_interrupt() as interrupt:
        interrupt.asked = True
        fitted = fit_plan(plan_fit(table(LABELS), parameters={"tol": 1e-9}))
    assert (fitted.status, fitted.model.status_, fitted.model.n_iter_) == ("interrupted", "interrupted", 1)


def test_what_the_estimator_warns_of_is_told_in_one_line():
    fitted = fit_plan(plan_fit(table(LABELS), parameters={"max_iter": 1, "tol": 1e-9}))
    assert len(fitted.warnings) == 1 and "did not reach tol=1e-09" in fitted.warnings[0]


# --- tuning ------------------------------------------------------------------------------------------------


def test_tuning_goes_on_where_it_was_stopped(tmp_path, monkeypatch):
    plan = plan_fit(table(LABELS), kernels="linear, gaussian")
    score, done = fitting.score_quietly, []

    def until_stopped(**arguments):
        if len(done) == 4:
            raise KeyboardInterrupt
        done.append(arguments["label"])
        return score(**arguments)

    monkeypatch.setattr(fitting, "score_quietly", until_stopped)
    with pytest.raises(KeyboardInterrupt):
        tune(plan, tmp_path / "tuning.jsonl", folds=2)
    monkeypatch.setattr(fitting, "score_quietly", lambda **arguments: done.append("") or score(**arguments))
    found = tune(plan, tmp_path / "tuning.jsonl", folds=2)
    assert len(done) == 12
    assert (found.parameter, found.metric, np.shape(found.scores)) == ("C", "accuracy", (6, 2))
    assert found.means[found.values.index(found.best)] == max(found.means)
    json.dumps(found.to_dict(), allow_nan=False)


def test_there_are_no_more_folds_than_rows_of_a_class_and_of_equal_values_the_middle_one_is_taken():
    plan = plan_fit(table(np.repeat([0, 1], [N - 3, 3])), kernels="linear")
    assert np.shape(tune(plan, folds=5).scores) == (6, 3)
    assert Tuning("C", [1.0, 2.0, 3.0, 4.0], [[0.5], [0.5], [0.5], [0.4]], "accuracy").best == 2.0


def test_what_cannot_be_tuned_is_refused():
    for plan, said in (
        (plan_fit(table(LABELS), method="bayesian"), "nothing to tune"),
        (plan_fit(table(), task="unsupervised"), "no score"),
    ):
        with pytest.raises(ValueError, match=said):
            tune(plan)


# --- records, predictions ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kept():
    plan = plan_fit(
        table(LABELS), kernels="linear, gaussian", parameters={"C": np.inf, "loss": "squared_hinge"}
    )
    fitted = fit_plan(plan)
    return fitted.model, json.loads(json.dumps(make_record(plan, fitted, sha256="0"), allow_nan=False))


def test_the_record_says_what_was_fitted(kept):
    _, record = kept
    assert record["data"]["columns"] == ["a", "b", "c"] and record["data"]["n_samples"] == N
    assert record["parameters"] == {"C": "inf", "loss": "squared_hinge"}
    assert [view["kernel"] for view in record["views"]] == ["Linear()", "Gaussian(gamma='median')"]
    assert (record["task"], record["method"], record["status"]) == ("classification", "mkl", "done")


def test_columns_are_found_by_name(kept):
    model, record = kept
    X = table().X
    new = TableData(X[["c", "b", "a"]].assign(z="text"), None, {}, "table", "n.csv")
    found = predict_table(model, record, new, scores=True)
    assert list(found.frame.columns) == ["row", "prediction", "score"]
    assert found.frame["prediction"].tolist() == model.predict(X).tolist()
    assert found.frame["score"].tolist() == model.decision_function(X).tolist()
    assert found.notes == ["not used of n.csv: 'z'."]


@pytest.mark.parametrize(
    ("frame", "options", "said"),
    [
        ({"b": [1.0]}, {}, "n.csv must have the columns.* no 'a', 'c'"),
        ({"a": [1.0], "b": [np.nan], "c": [1.0]}, {}, "'b' of n.csv is empty"),
        (
            {"a": [1.0], "b": ["x"], "c": [1.0]},
            {},
            "'b' of n.csv must hold numbers, as in training; it holds 'x'",
        ),
        ({"a": [1.0], "b": [1.0], "c": [1.0]}, {"proba": True}, "probability=true"),
    ],
)
def test_what_cannot_be_predicted_is_refused(kept, frame, options, said):
    with pytest.raises(ValueError, match=said):
        predict_table(*kept, TableData(pd.DataFrame(frame), None, {}, "table", "n.csv"), **options)


def test_encoded_columns_are_those_of_training():
    data = {"kind": "table", "columns": ["c=q", "a"], "kernels": [], "n_samples": 2}
    data["one_hot"] = {"c": ["p", "q"]}
    model = SimpleNamespace(predict=lambda X: X.to_numpy())
    new = TableData(pd.DataFrame({"a": [5.0, 6.0], "c": ["q", "p"]}), None, {}, "table", "n.csv")
    found = predict_table(model, {"data": data}, new).frame
    assert found.drop(columns="row").to_numpy().tolist() == [[1.0, 5.0], [0.0, 6.0]]


def test_precomputed_kernels_keep_their_names(tmp_path):
    X = features()
    kernels = {"p": X @ X.T, "q": np.exp(-((X[:, None] - X) ** 2).sum(axis=2))}
    np.savez(tmp_path / "t.npz", y=LABELS, **{f"kernel_{name}": K for name, K in kernels.items()})
    plan = plan_fit(read_table(tmp_path / "t.npz", "y"))
    fitted = fit_plan(plan)
    assert fitted.model.view_names_ == ["p", "q"]
    record = make_record(plan, fitted, sha256="0")
    stack = np.stack([kernels["q"], kernels["p"]], axis=2)[:5]
    new = TableData(stack, None, {}, "precomputed", "n.npz", kernel_names=["q", "p"])
    found = predict_table(fitted.model, record, new, scores=True)
    assert found.frame["score"].tolist() == fitted.model.decision_function(stack[:, :, ::-1]).tolist()
    wrongs = ((["q", "r"], 40, "kernels p, q.* got q, r"), (["p", "q"], 39, "40 training rows"))
    for names, shape, said in wrongs:
        wrong = TableData(stack[:, :shape], None, {}, "precomputed", "n.npz", kernel_names=names)
        with pytest.raises(ValueError, match=said):
            predict_table(fitted.model, record, wrong)
    with pytest.raises(ValueError, match="must hold precomputed kernels"):
        predict_table(fitted.model, record, table())
    kernels["q"][0, 1] += 1.0
    np.savez(tmp_path / "t.npz", y=LABELS, **{f"kernel_{name}": K for name, K in kernels.items()})
    with pytest.raises(ValueError, match="kernel 'q' differs from its transpose"):
        fit_plan(plan_fit(read_table(tmp_path / "t.npz", "y")))


def test_folders_that_a_fit_may_write_to(tmp_path):
    require_free(tmp_path / "new")
    require_free(tmp_path)
    (tmp_path / "tuning.jsonl").touch()
    require_free(tmp_path)
    (tmp_path / "fit.json").write_text('{"status": "interrupted"}')
    require_free(tmp_path)
    (tmp_path / "fit.json").write_text('{"status": "done"}')
    require_free(tmp_path, force=True)
    with pytest.raises(ValueError, match=r"holds a model already.*--force"):
        require_free(tmp_path)
    with pytest.raises(ValueError, match="is a file"):
        require_free(tmp_path / "fit.json")
    (tmp_path / "fit.json").rename(tmp_path / "thesis.txt")
    with pytest.raises(ValueError, match=r"other things \(thesis.txt\)"):
        require_free(tmp_path, force=True)


@pytest.mark.parametrize(
    ("cells", "options", "said"),
    [
        ("12?4", {}, r"it holds '\?' in row 2 .*stands for what is missing"),
        ([[1], [2], [3], [4]], {}, r"must hold numbers.*'\[1\]'"),
        ([1.0] * 4, {"kernels": "linear"}, r"all columns of t.csv are constant"),
    ],
)
def test_a_bad_cell_is_named_and_not_the_good_ones(cells, options, said):
    with pytest.raises(ValueError, match=said):
        plan_fit(column(*cells), **options)


def test_values_of_another_scale_are_noted():
    def notes(y, **parameters):
        plan = plan_fit(column(1.0, 2.0, 3.0, 4.0, y=y), parameters=parameters)
        return [*plan.notes, *doubts_of_scale(plan)]

    assert notes([0.5, 100.0, 200.0, 300.0]) == [] == notes([0.51, 0.52, 0.53, 0.54])  # C in units of y
    assert notes([0.5, 100.0, 200.0, 300.0], C=5) == [] == notes([0.5, 1.0, 2.0, 3.0])
    assert "one value in all rows" in notes([0.5] * 4)[0]


def test_a_damaged_record_is_refused(kept):
    record = {"data": {"kind": "table", "columns": ["a"], "kernels": [], "one_hot": {"a": 3}, "n_samples": 4}}
    with pytest.raises(ValueError, match="record beside the model"):
        reading_options(record)
    with pytest.raises(ValueError, match="record beside the model"):
        predict_table(kept[0], {"data": {"kind": "table"}}, table())

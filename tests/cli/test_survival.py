"""Censored times on the command line: two columns of a table are the target, told apart from the features."""

import json

import numpy as np
import pandas as pd
import pytest

from multikernel.datasets import make_survival_views
from multikernel.inspection import concordance_index
from multikernel.io import load_model
from multikernel.io.tables import Censored, plan_fit, read_table
from multikernel.survival import MKLSurvival
from tests.cli.running import call

DATA = make_survival_views(90, n_views=2, n_informative=1, n_columns=3, random_state=3)
TIMES = ("--time", "months", "--event", "died")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("survival")
    table = DATA.X.assign(months=DATA.y["time"], died=DATA.y["event"].astype(int))
    table.to_csv(folder / "train.csv", index=False)
    words = table.drop(columns="died").assign(status=np.where(DATA.y["event"], "dead", "alive"))
    words.to_csv(folder / "words.csv", index=False)
    table.drop(columns=["months", "died"]).to_csv(folder / "new.csv", index=False)
    arrays = {f"view_{name}": DATA.X[columns] for name, columns in DATA.view_columns.items()}
    np.savez(folder / "views.npz", time=DATA.y["time"], event=DATA.y["event"], **arrays)
    call("fit", folder / "train.csv", *TIMES, "-o", folder / "model")
    return folder


def test_a_fit_takes_the_model_of_censored_times(place):
    record = json.loads((place / "model" / "fit.json").read_text())
    assert (record["model"], record["task"], record["method"]) == ("MKLSurvival", "survival", "survival")
    assert (record["data"]["target"], record["data"]["event"], record["data"]["entry"]) == (
        "months",
        "died",
        None,
    )
    assert record["data"]["columns"] == list(DATA.X.columns)


def test_predictions_are_risks_and_survival(place):
    call("predict", place / "model", place / "new.csv", "--at", "1,0.5", "-o", place / "risk.csv")
    found = pd.read_csv(place / "risk.csv")
    assert list(found.columns) == ["row", "prediction", "survival[0.5]", "survival[1]"]
    assert concordance_index(DATA.y, found["prediction"]) > 0.7
    assert (found["survival[0.5]"] >= found["survival[1]"]).all()
    assert json.loads((place / "model" / "fit.json").read_text())["data"]["n_samples"] == 90


def test_a_value_stands_for_the_event(place):
    codes = read_table(place / "train.csv", "months", censored=Censored("died"))
    words = read_table(place / "words.csv", "months", censored=Censored("status=dead"))
    np.testing.assert_array_equal(codes.y, words.y)
    assert codes.columns == words.columns == list(DATA.X.columns)
    one = read_table(place / "train.csv", "months", censored=Censored("died=1"))
    np.testing.assert_array_equal(one.y, codes.y)


def test_parquet_and_npz_have_the_same_target(place):
    pd.read_csv(place / "words.csv").to_parquet(place / "words.parquet")
    parquet = read_table(place / "words.parquet", "months", censored=Censored("status=dead"))
    npz = read_table(place / "views.npz", "time", censored=Censored("event"))
    np.testing.assert_array_equal(parquet.y["event"], DATA.y["event"])
    np.testing.assert_array_equal(npz.y, DATA.y)
    assert list(npz.view_columns) == ["view 1", "view 2"]
    plan = plan_fit(npz)
    assert (plan.task, type(plan.model)) == ("survival", MKLSurvival)


def test_entry_times(place):
    table = pd.read_csv(place / "train.csv")
    table.assign(since=0.5 * table["months"]).to_csv(place / "late.csv", index=False)
    call("fit", place / "late.csv", *TIMES, "--entry", "since", "-o", place / "late")
    assert json.loads((place / "late" / "fit.json").read_text())["data"]["entry"] == "since"
    table.assign(since=table["months"]).to_csv(place / "later.csv", index=False)
    shown = call("fit", place / "later.csv", *TIMES, "--entry", "since", "-o", place / "x", code=1)
    assert (
        "the entry time 'since' of later.csv must be less than the time; it is not in line 2" in shown.stderr
    )


def test_the_penalty_is_tuned_by_the_c_index(place):
    shown = call("fit", place / "train.csv", *TIMES, "--tune", "--folds", "2", "-o", place / "tuned")
    assert "C-index" in shown.stdout
    tuning = json.loads((place / "tuned" / "fit.json").read_text())["tuning"]
    assert (tuning["parameter"], tuning["metric"], len(tuning["candidates"])) == ("C", "C-index", 6)


def test_times_in_one_of_several_tables(place):
    ids = [f"p{i}" for i in range(90)]
    for name, columns in DATA.view_columns.items():
        DATA.X[columns].assign(id=ids).to_csv(place / f"{name[-1]}.csv", index=False)
    times = pd.DataFrame({"id": ids, "months": DATA.y["time"], "died": DATA.y["event"].astype(int)})
    times.iloc[::-1].to_csv(place / "times.csv", index=False)
    tables = ("--table", f"one={place / '1.csv'}", "--table", f"two={place / '2.csv'}", "--id", "id")
    call("fit", *tables, *TIMES, "--target-file", place / "times.csv", "-o", place / "several")
    first = pd.read_csv(place / "1.csv").merge(times, on="id")
    first.to_csv(place / "1.csv", index=False)
    call("fit", *tables, *TIMES, "-o", place / "within")
    a, b = (json.loads((place / name / "fit.json").read_text()) for name in ("several", "within"))
    assert a["summary"]["weights"] == b["summary"]["weights"]


def test_the_doctor_looks_at_times(place):
    shown = call("doctor", place / "train.csv", *TIMES)
    assert "63 of 90 rows (70 %) have the event" in shown.stdout
    shown = call("doctor", place / "words.csv", "--time", "months", "--event", "status", code=1)
    assert "the event of y must be True or False, or 1 or 0; entry 0 is" in shown.stdout
    assert (
        "have the event"
        in call("doctor", place / "words.csv", "--time", "months", "--event", "status=dead").stdout
    )


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--time", "months"), 2, "censored times need --time and --event; got --time."),
        (("--entry", "months"), 2, "got --entry."),
        ((*TIMES, "-y", "died"), 2, "one column (--target) or censored times"),
        (("--time", "month", "--event", "died"), 1, "no column 'month'. Did you mean 'months'?"),
        (("--time", "months", "--event", "dead"), 1, "no column 'dead'"),
        (("--time", "months", "--event", "months"), 1, "cannot be two of time, event and entry time"),
        (
            ("--time", "months", "--event", "died=7"),
            1,
            "the event 'died' of train.csv never is '7'; it holds '0', '1'",
        ),
        (("--time", "view 1:0", "--event", "died"), 1, "must hold finite numbers of at least 0; it holds"),
        (("--time", "months", "--event", "view 1:0"), 1, "must hold 1 and 0, or true and false; it holds"),
        ((*TIMES, "--method", "mkl"), 1, "mkl does not learn from censored times. Choose a method that does"),
        (
            (*TIMES, "--task", "classification"),
            1,
            "is a time with an event, which is no target for classification",
        ),
        (("-y", "months", "--task", "survival"), 1, "Name both, by --time and --event."),
        ((*TIMES, "--ignore", "died"), 1, "cannot be both the target and left out"),
    ],
)
def test_what_is_asked_wrongly(place, words, code, said):
    shown = call("fit", place / "train.csv", *words, "-o", place / "none", code=code)
    assert said in shown.stderr.replace("\n", " ")
    assert not (place / "none" / "model.skops").exists()


def test_all_censored_and_times_that_are_missing(place):
    table = pd.read_csv(place / "train.csv")
    table.assign(died=0).to_csv(place / "alive.csv", index=False)
    table.assign(died=table["died"].where(table.index > 0)).to_csv(place / "gap.csv", index=False)
    said = call("fit", place / "alive.csv", *TIMES, "-o", place / "none", code=1).stderr
    assert "no sample of alive.csv has the event" in said
    said = call("fit", place / "gap.csv", *TIMES, "-o", place / "none", code=1).stderr
    assert "the target 'died' of gap.csv must be known in every row; it is missing in line 2" in said


def test_curves_are_of_the_model_of_cox(place):
    call("fit", place / "train.csv", *TIMES, "--set", "loss=ranking", "-o", place / "ranking")
    said = call("predict", place / "ranking", place / "new.csv", "--at", "1", code=1).stderr
    assert "gives no survival curves: these are of survival models with loss=cox" in said
    assert (
        "--at must be times"
        in call("predict", place / "model", place / "new.csv", "--at", "x", code=2).stderr
    )


def test_the_report_reads_the_times_of_the_fit(place):
    asked = ("--data", place / "train.csv", "--parts", "held_out")
    call("report", place / "model", *asked, "-o", place / "report.html")
    page = (place / "report.html").read_text(encoding="utf-8")
    assert "95% interval of the C-index" in page
    assert "Groups of risk" in page


def test_survival_models_are_compared_with_their_rivals(place):
    words = (*TIMES, "--cv", "2", "--baselines", "plain sum,elastic net", "-o", place / "compared")
    shown = call("compare", place / "train.csv", *words)
    assert "C-index" in shown.stdout
    found = json.loads((place / "compared" / "compare.json").read_text())
    assert found["data"]["target"] == "months" and found["data"]["event"] == "died"
    said = call("compare", place / "train.csv", "-o", place / "none", code=2).stderr
    assert "name the target: by --target, or censored times by --time and --event." in said.replace("\n", " ")


def test_a_cohort_of_censored_times_is_scored(place):
    asked = ("--data", place / "train.csv", "--parts", "held_out", "--test", place / "train.csv")
    found = json.loads(call("report", place / "model", *asked, "--json").stdout)["evaluation"]["cohort"]
    model = load_model(place / "model" / "model.skops")
    risk = model.predict(pd.read_csv(place / "train.csv")[list(DATA.X.columns)])
    assert found["rows"][0]["metric"] == "C-index"
    assert found["rows"][0]["score"] == pytest.approx(concordance_index(DATA.y, risk))

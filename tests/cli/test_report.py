"""``multikernel report``: what it writes, what it keeps when it is stopped, and what it refuses."""

import json

import numpy as np
import pandas as pd
import pytest

from multikernel.cli import report
from multikernel.inspection import ALL_PARTS
from tests.cli.running import call


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A folder with a model of a table of two classes and two views, and the table."""
    place = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(0)
    label = np.repeat(["calm", "wild"], 20)
    shift = np.where(label == "calm", 0.0, 1.5)
    columns = {"a:1": rng.normal(size=40) + shift, "a:2": rng.normal(size=40), "b:1": rng.normal(size=40)}
    pd.DataFrame(columns | {"mood": label}).to_csv(place / "train.csv", index=False)
    call("fit", place / "train.csv", "--target", "mood", "--out", place / "model")
    return place


def test_without_data_the_model_speaks_for_itself(fitted):
    result = call("report", fitted / "model")
    assert "carries" in result.stdout and f"Written: {fitted / 'model' / 'report.html'}" in result.stdout
    page = (fitted / "model" / "report.html").read_text(encoding="utf-8")
    assert "What MKLClassifier learned" in page and "Held out" not in page


def test_with_data_the_parts_are_computed_and_kept(fitted, tmp_path):
    asked = ("report", fitted / "model", "--data", fitted / "train.csv", "--parts", "held-out,embedding")
    result = call(*asked, "--out", tmp_path / "new" / "report.md", "--json")
    printed = json.loads(result.stdout)
    found = printed["evaluation"]
    assert found["classes"] == ["calm", "wild"] and len(found["embedding"]["points"]) == 40
    assert np.sum(found["held_out"]["confusion"]["counts"]) == 40
    assert found["baselines"] is None and printed["notes"] == []
    text = (tmp_path / "new" / "report.md").read_text(encoding="utf-8")
    assert text.startswith("# What MKLClassifier learned from train.csv")
    store = fitted / "model" / "evaluation.jsonl"
    assert len(store.read_text(encoding="utf-8").splitlines()) == 5
    call(*asked, "--out", tmp_path / "report.html")
    assert len(store.read_text(encoding="utf-8").splitlines()) == 5


def test_baselines_by_name(fitted, tmp_path, monkeypatch):
    monkeypatch.setattr("multikernel.inspection.rivals.columns._TREES", 3)
    wanted = ("--baselines", "plain sum,random forest", "--out", tmp_path / "page.md")
    asked = ("report", fitted / "model", *wanted)
    given = ("--data", fitted / "train.csv", "--parts", "baselines")
    found = json.loads(call(*asked, *given, "--json").stdout)["evaluation"]["baselines"]
    assert [row["name"] for row in found["rows"]] == ["learned", "plain sum", "random forest"]
    assert "random forest" in (tmp_path / "page.md").read_text(encoding="utf-8")
    for words in ((), ("--data", fitted / "train.csv", "--quick")):
        assert "--baselines goes with --data" in call(*asked, *words, code=2).stderr


def test_the_data_are_checked_and_parts_on_demand_are_made_where_named(fitted, tmp_path):
    asked = (
        "report",
        fitted / "model",
        "--data",
        fitted / "train.csv",
        "--out",
        tmp_path / "page.md",
        "--json",
    )
    found = json.loads(call(*asked, "--parts", "doctor,selection,cross-view").stdout)
    assert "40 rows" in found["doctor"]["headline"]
    assert {row["view"] for row in found["evaluation"]["selection"]["rows"]} == {"a", "b"}
    assert found["evaluation"]["cross_view"]["pairs"] and found["evaluation"]["enrichment"] is None
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "## Data check" in text and "parts='enrichment'" in text
    without = json.loads(call(*asked, "--parts", "embedding").stdout)
    assert without["doctor"] is None
    assert report._parts("all", False, True) == [*ALL_PARTS, "doctor"]


def test_other_data_are_named_as_such(fitted, tmp_path):
    frame = pd.read_csv(fitted / "train.csv").assign(extra=1)
    frame.to_csv(tmp_path / "later.csv", index=False)
    result = call(
        *("report", fitted / "model", "--data", tmp_path / "later.csv", "--parts", "embedding", "--json"),
        *("--out", tmp_path / "report.json"),
    )
    assert "not used of later.csv: 'extra'" in result.stderr
    assert "later.csv is not the file that the model was fitted to" in result.stderr
    assert "The model was fitted to train.csv" in json.loads(result.stdout)["notes"][0]


def test_an_interrupt_says_what_is_kept(fitted, tmp_path, monkeypatch):
    asked = []

    def stop(model, X, y, *, progress, **options):
        asked.append(options)
        progress(3, 15)
        raise KeyboardInterrupt

    monkeypatch.setattr(report, "evaluate", stop)
    out = tmp_path / "report.html"
    result = call(
        "report", fitted / "model", "--data", fitted / "train.csv", "--quick", "-j", 2, "--out", out, code=130
    )
    assert f"3 of 15 fits are kept in {fitted / 'model' / 'evaluation.jsonl'}" in result.stderr
    assert "same command again" in result.stderr
    assert not out.exists()
    usual = ["stability", "held_out", "overfitting", "heat_maps", "embedding", "gate", "why"]
    assert asked[0]["parts"] == usual
    assert asked[0]["n_jobs"] == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--quick",), "--quick computes on a table"),
        (("--data", "TRAIN", "--parts", "weights,gate"), "got weights."),
        (("--data", "TRAIN", "--parts", "gate", "--quick"), "one of --parts and --quick"),
        (("--out", "report.pdf"), "must end in one of .html, .md, .json; got 'report.pdf'"),
    ],
)
def test_what_is_not_understood_has_exit_code_2(fitted, options, said):
    result = call(
        "report", fitted / "model", *(fitted / "train.csv" if o == "TRAIN" else o for o in options), code=2
    )
    assert said in result.stderr


def test_refusals_are_plain(fitted, tmp_path):
    missing = call("report", tmp_path / "nowhere", code=1)
    assert "there is no folder" in missing.stderr
    record = fitted / "model" / "fit.json"
    before = record.read_bytes()
    own = call("report", fitted / "model", "--out", record, code=1)
    assert "will not be overwritten" in own.stderr
    assert record.read_bytes() == before
    (tmp_path / "short.csv").write_text("a:1,mood\n1,calm\n2,wild\n", encoding="utf-8")
    words = ("report", fitted / "model", "--data", tmp_path / "short.csv", "--out", tmp_path / "r.html")
    short = call(*words, code=1)
    assert "rows that the model was fitted to; short.csv has 2" in short.stderr
    assert "fits on parts" not in short.stderr  # nothing was computed before
    narrow = call(*words, "--parts", "stability", code=1)
    assert "it has no 'a:2', 'b:1'" in narrow.stderr
    inner = call("report", fitted / "model" / "model.skops", code=1)
    assert "give the folder" in inner.stderr
    assert not (tmp_path / "r.html").exists()

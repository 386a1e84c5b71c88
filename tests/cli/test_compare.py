"""``multikernel compare``: a table of methods, resumable, with plain errors."""

import json
from pathlib import Path

import pandas as pd
import pytest
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score

from multikernel import MKLClassifier
from multikernel.cli import compare
from multikernel.inspection import Comparison
from multikernel.inspection.judging.comparison import About
from multikernel.io.tables import views_of_kernels
from multikernel.kernels.expressions import parse_kernels
from tests.cli.running import call


def run(*words, code=0):
    return call("compare", *words, code=code)


_USUAL = ("small.csv", "--target", "kind", "--kernels", "linear, gaussian", "--no-baselines")


def test_methods_beside_each_other(small_table):
    done = run(*_USUAL, "--methods", "mkl, MeanRule,mkl", "--out", "results", "--json")
    found = json.loads(done.stdout)
    assert json.loads((small_table / "results/compare.json").read_text()) == found
    rows = {row["name"]: row for row in found["rows"]}
    assert rows.keys() == {"mkl", "mean_rule"}
    table = pd.read_csv("small.csv")
    model = MKLClassifier(list(views_of_kernels(parse_kernels("linear, gaussian"))), random_state=0)
    folds = RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=0)
    scores = cross_val_score(model, table[["x", "z"]], table["kind"], cv=folds)
    assert rows["mkl"]["folds"] == pytest.approx(scores.tolist())
    best, other = found["rows"]
    assert best["tests"] == [] and best["score"] >= other["score"]
    [test] = other["tests"]
    assert test["rival"] == best["name"]
    assert test["difference"] == pytest.approx(other["score"] - best["score"])
    assert found["answer"].startswith(f"{best['name']} has the best mean accuracy of 2 models")


def test_a_second_run_only_adds(small_table, monkeypatch):
    run(*_USUAL, "--methods", "mean_rule,sum_rule")
    kept = (small_table / "compare/small/compare.jsonl").read_bytes()

    def no_fit(*_):
        raise AssertionError("fitted again")

    monkeypatch.setattr("multikernel.CombinedKernelClassifier.fit", no_fit)
    again = run(*_USUAL, "--methods", "mean_rule,sum_rule")
    assert "mean_rule" in again.stdout and "Written: compare" in again.stdout
    assert (small_table / "compare/small/compare.jsonl").read_bytes() == kept


def test_with_the_simple_rivals(small_table, monkeypatch):
    monkeypatch.setattr("multikernel.inspection.rivals.columns._PRICES", (1.0,))
    monkeypatch.setattr("multikernel.inspection.rivals.columns._WIDTHS", (1.0,))
    done = run(*_USUAL[:-1], "--methods", "SumRule", "--json")
    found = json.loads(done.stdout)
    assert {row["name"] for row in found["rows"] if row["is_rival"]} == {
        "best single view",
        "plain sum",
        "tuned RBF SVM",
    }
    assert "the plain sum" in found["answer"]


def test_baselines_by_name(small_table, monkeypatch):
    monkeypatch.setattr("multikernel.inspection.rivals.columns._TREES", 3)
    words = ("--methods", "SumRule", "--baselines", "late fusion, random forest", "--json")
    found = json.loads(run(*_USUAL[:-1], *words).stdout)
    assert {row["name"] for row in found["rows"] if row["is_rival"]} == {"late fusion", "random forest"}
    assert "random forest" in (small_table / "compare/small/compare.md").read_text()


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--baselines", "all"), 2, "one of --baselines and --no-baselines"),
        (("--baselines", "forest"), 2, "random forest"),
        (("--baselines", ","), 2, "one baseline at least"),
        (("--methods", "mlk"), 2, "Did you mean mkl"),
        (("--methods", ","), 2, "one method at least"),
        (("--target", "kindd"), 1, "kind"),
        (("--methods", "one_class"), 2, "no method"),
        (("--methods", "mkl"), 1, "two models at least"),
        (("--methods", "kmeans,mkl"), 1, "kmeans is unsupervised"),
        (("--out", "small.csv"), 1, "small.csv is a file"),
        (("--out", "."), 1, "holds other things"),
    ],
)
def test_errors_are_plain(small_table, words, code, told):
    done = run(*_USUAL, *words, code=code)
    assert told in done.output
    assert "5×2 cv" not in done.output  # no bar of what never began


def _scores(names):
    places = [(name, i // 2, i % 2, 0.5 + 0.01 * i) for name in names for i in range(10)]
    return pd.DataFrame(places, columns=["estimator", "repetition", "fold", "score"]).assign(dataset="given")


def test_a_comparison_on_other_data_is_kept(small_table, monkeypatch):
    monkeypatch.setattr(compare, "compare_models", lambda *_, **__: Comparison(_scores(("a", "b"))))
    monkeypatch.setattr(compare, "_show", lambda *_: None)
    Path("other").mkdir()
    run(*_USUAL, "--out", "other")
    run(*_USUAL, "--out", "other")
    table = pd.read_csv("small.csv")
    table.iloc[::-1].to_csv("turned.csv", index=False)
    words = ("turned.csv", *_USUAL[1:], "--out", "other")
    refused = run(*words, code=1)
    assert "a comparison of 'kind' in small.csv" in refused.output
    run(*words, "--force")
    assert json.loads(Path("other/compare.json").read_text())["data"]["file"] == "turned.csv"


def test_ctrl_c_keeps_what_is_done(small_table, monkeypatch):
    def stopped(*_, progress, **__):
        progress(3, 20)
        raise KeyboardInterrupt

    monkeypatch.setattr(compare, "compare_models", stopped)
    done = run(*_USUAL, "--methods", "mkl,SumRule", code=130)
    assert "3 of 20 fits are kept in compare" in done.output
    assert "same command again" in done.output


def test_names_do_not_break_the_page():
    found = Comparison(_scores(("a|b*<i>", "c")), about=About(notes=["<b>"]))
    page = found.to_markdown("T")
    assert page.startswith("# T\n") and r"| a\|b\*\<i\> | 0.545 |" in page and r"- \<b\>" in page

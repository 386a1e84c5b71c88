"""``fit`` and ``predict`` as a user has them: files in, a folder and a table out, and what is said where.

Also ``--gram`` and ``--rank``: what stands for the kernels is asked for, told, kept, and predicts.
"""

import json
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from multikernel import MKLClassifier
from multikernel.cli import main
from multikernel.cli.options import _Path
from multikernel.io.tables import fitting
from tests.cli.running import call

VIEWS = """
[[view]]
name = "shape"
columns = ["a", "b"]
kernel = ["linear", "gaussian(scale=2)"]
[[view]]
name = "rest"
columns = "c*"
kernel = "gaussian"
cost = 2
"""


def fit(place, folder, *words, code=0):
    """Fit the table to its columns of numbers."""
    words = ("-y", "kind", "--ignore", "name", "-o", folder, *words)
    return call("fit", place / "train.csv", *words, code=code)


def record_of(folder):
    return json.loads((folder / "fit.json").read_text())


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Files of one table, and a model of them."""
    folder = tmp_path_factory.mktemp("fit")
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(48, 3)), columns=["a", "b", "c"])
    train = X[:40].assign(kind=np.where(X["a"] + X["c"] ** 2 > 0.5, "[big]", "small")[:40], name="x")
    train.to_csv(folder / "train.csv", index=False)
    X[40:][["c", "a", "b"]].assign(more=1).to_csv(folder / "new.csv", index=False)
    (folder / "views.toml").write_text(VIEWS)
    (folder / "printed.txt").write_text(fit(folder, folder / "model").stdout)
    return folder


def test_a_fit_prints_the_weights_and_writes_the_model(place):
    printed = (place / "printed.txt").read_text()
    assert "gaussian-0.5" in printed and "MKLClassifier on 40 rows of train.csv: done" in printed
    assert printed.endswith(f"Written: {place / 'model'}\n")
    assert sorted(path.name for path in (place / "model").iterdir()) == ["fit.json", "model.skops"]
    assert record_of(place / "model")["summary"]["weights"][0]["view"] == "linear"


def test_predictions_are_those_of_the_model(place):
    train, new = (pd.read_csv(place / f"{name}.csv") for name in ("train", "new"))
    columns = ["a", "b", "c"]
    model = MKLClassifier().fit(train[columns], train["kind"].to_numpy(dtype=str))
    result = call("predict", place / "model", place / "new.csv", "--scores")
    assert "Note: not used of new.csv: 'more'." in result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "row,prediction,score"
    expected = zip(model.predict(new[columns]), model.decision_function(new[columns]), strict=True)
    assert lines[1:] == [f"{row},{label},{score}" for row, (label, score) in enumerate(expected)]
    out = place / "deep" / "p.csv"
    assert f"Written: {out} (8 rows)" in call("predict", place / "model", place / "new.csv", "-o", out).stdout
    assert out.read_text().splitlines() == [line.rpartition(",")[0] for line in lines]
    assert [path.name for path in out.parent.iterdir()] == ["p.csv"]
    rows = json.loads(call("predict", place / "model", place / "new.csv", "--json").stdout)
    assert rows[0] == {"row": 0, "prediction": lines[1].split(",")[1]}


def test_views_costs_and_probabilities(place, tmp_path):
    result = call(
        "fit", place / "train.csv", "-y", "kind", "--views", place / "views.toml", "-o", tmp_path / "m",
        "--set", "probability=true", "--set", "C=10", "--json",
    )  # fmt: skip
    record = json.loads(result.stdout)
    assert [view["name"] for view in record["views"]] == ["shape/linear", "shape/gaussian", "rest"]
    assert record["parameters"] == {"probability": True, "C": 10, "costs": {"rest": 2.0}}
    assert "Note: no view reads column 'name'" in result.stderr
    head, first = call("predict", tmp_path / "m", place / "new.csv", "--proba").stdout.splitlines()[:2]
    assert head == "row,prediction,probability[[big]],probability[small]"
    assert sum(map(float, first.split(",")[2:])) == pytest.approx(1.0)


def test_samples_that_lack_a_view_are_fitted_and_predicted_where_that_is_asked_for(tmp_path):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"])
    X["kind"] = np.where(X["a"] + X["c"] > 0, "yes", "no")
    X.loc[::4, ["a", "b"]] = np.nan
    X.to_csv(tmp_path / "train.csv", index=False)
    (tmp_path / "views.toml").write_text(VIEWS)
    command = ["fit", tmp_path / "train.csv", "--target", "kind", "--views", tmp_path / "views.toml"]
    refused = call(*command, "--out", tmp_path / "plain", code=1)
    assert "'a' of train.csv is empty in line 2" in refused.output
    call(*command, "--out", tmp_path / "model", "--set", "missing=mean")
    new = X.drop(columns="kind").assign(c=np.nan)[1:4]  # the other view is absent
    new.to_csv(tmp_path / "new.csv", index=False)
    result = call("predict", tmp_path / "model", tmp_path / "new.csv", "--out", tmp_path / "out.csv")
    assert len(pd.read_csv(tmp_path / "out.csv")) == 3
    new.assign(a=[0.0, np.inf, 0.0]).to_csv(tmp_path / "new.csv", index=False)
    result = call("predict", tmp_path / "model", tmp_path / "new.csv", "--out", tmp_path / "more.csv", code=1)
    assert "inf" in result.output


def test_a_column_of_names_is_encoded_and_encoded_again(place, tmp_path):
    words = ("-y", "kind", "--one-hot", "name", "--kernels", "linear", "-o", tmp_path)
    call("fit", place / "train.csv", *words)
    refused = call("predict", tmp_path, place / "new.csv", code=1)
    assert "it has no 'name'" in refused.stderr
    call("predict", tmp_path, place / "train.csv")


def test_tuning_is_shown_kept_and_gone_on_with(place, tmp_path, monkeypatch):
    words = ("--kernels", "linear, gaussian", "--tune", "--folds", 2)
    score, calls = fitting.score_quietly, []

    def until_stopped(**arguments):
        calls.append(arguments)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return score(**arguments)

    monkeypatch.setattr(fitting, "score_quietly", until_stopped)
    stopped = fit(place, tmp_path, *words, code=130)
    assert "3 of 12 fits are kept" in stopped.stderr and "same command again" in stopped.stderr
    result = fit(place, tmp_path, *words)
    assert len(calls) == 4 + 9
    assert "Cross-validation: C =" in result.stdout
    assert record_of(tmp_path)["parameters"] == {"C": record_of(tmp_path)["tuning"]["best"]}


def test_a_folder_is_not_overwritten_by_accident(place, tmp_path):
    assert "--force" in fit(place, place / "model", code=1).stderr
    (tmp_path / "thesis.txt").touch()
    fit(place, tmp_path, "--force", code=1)


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--method", "mlk"), 2, "Did you mean mkl"),
        (("--set", "C=7", "--tune", "--ignore", "name"), 1, "tuning chooses C itself"),
        (("--ignore", "name", "--set", f"C={'x' * 9000}"), 1, " … "),
        (("--kernels", "gausian"), 2, "Did you mean 'gaussian'"),
        (("--set", "C"), 2, "name=value"),
        (("--task", "guess"), 2, "--task must be one of"),
        (("--ignore", "name", "--set", "Cc=1"), 1, "no parameter 'Cc'"),
        (("--ignore", "name", "--set", "C=-1"), 1, "C must be greater than 0"),
        (("--views", "none.toml"), 1, "none.toml does not exist"),
        (("--one-hot", "colour"), 1, "no column 'colour'"),
        ((), 1, "column 'name' of train.csv must hold numbers"),
        (("--gram", "sparse"), 2, "--gram must be one of 'auto', 'dense', 'memmap', 'low_rank'"),
        (("--rank", "0"), 2, "--rank must be a number of columns"),
        (("--rank", "many"), 2, "--rank must be a number of columns"),
        (("--rank", "5", "--gram", "memmap"), 2, "gram 'memmap' has none. Use --gram low_rank."),
        (("--gram", "dense", "--set", "gram=memmap"), 2, "gram must be given once"),
        (("--ignore", "name", "--rank", "90"), 1, "rank"),
        (("--ignore", "name", "--rank", "5", "--method", "EasyMKL"), 1, "has no parameter"),
    ],
)
def test_refusals_name_the_remedy_and_write_nothing(place, tmp_path, options, code, said):
    result = call("fit", place / "train.csv", "-y", "kind", "-o", tmp_path / "m", *options, code=code)
    assert result.stdout == "" and said in result.stderr
    assert not (tmp_path / "m").exists()


def test_a_model_that_was_changed_is_refused(place, tmp_path):
    for name in ("fit.json", "model.skops"):
        (tmp_path / name).write_bytes((place / "model" / name).read_bytes())
    with (tmp_path / "model.skops").open("ab") as file:
        file.write(b" ")
    result = call("predict", tmp_path, place / "new.csv", code=1)
    assert "Error:" in result.stderr and result.stdout == ""


def test_what_was_read_is_not_overwritten(place):
    before = (place / "new.csv").read_bytes()
    result = call("predict", place / "model", place / "new.csv", "-o", place / "new.csv", code=1)
    assert "will not be overwritten" in result.stderr
    assert (place / "new.csv").read_bytes() == before


INTERRUPTED = """
import contextlib, os, signal, sys
from multikernel import __main__
from multikernel.cli import fit

@contextlib.contextmanager
def watch(label, tol):
    yield lambda entry: os.kill(os.getpid(), signal.SIGINT)

fit.options.watch_fit = watch
__main__.main()
"""


@pytest.mark.thorough
def test_an_interrupted_fit_keeps_its_model_and_may_be_given_again(place, tmp_path):
    words = ("fit", place / "train.csv", "-y", "kind", "--ignore", "name", "-o", tmp_path)
    words = (*words, "--set", "tol=1e-9")
    command = [sys.executable, "-c", INTERRUPTED, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 130, done.stderr
    assert "Ctrl-C again ends at once" in done.stderr and "Stopped before the end" in done.stderr
    assert record_of(tmp_path)["status"] == "interrupted"
    call("predict", tmp_path, place / "new.csv")
    call(*words)
    assert record_of(tmp_path)["status"] == "done"


def test_an_interrupt_where_nothing_can_be_kept_says_so(place, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "multikernel.cli.fit.tables.read_source", lambda *_, **__: signal.default_int_handler(2, None)
    )
    result = call("fit", place / "train.csv", "-y", "kind", "-o", tmp_path / "m", code=130)
    assert "No model was written" in result.stderr


def test_how_far_a_fit_has_come():
    path = _Path(1e-3)
    assert path.add({"iteration": 1, "gap": float("inf")}) is None
    assert path.add({"iteration": 2, "gap": 1e-1}) == 0.0
    assert path.add({"iteration": 3, "gap": 1e-2}) == pytest.approx(0.5)
    assert path.told == "iteration 3, gap 1.0e-02"
    assert path.add({"iteration": 4, "gap": 0.0}) == 1.0
    assert path.add({"iteration": 1, "gap": 1.0}) == 0.0
    assert path.told.startswith("machine 2, iteration 1")


def test_what_was_written_about_the_model_before_goes_with_it(place, tmp_path):
    fit(place, tmp_path / "m", "--kernels", "linear")
    for name in ("report.html", "evaluation.jsonl", "tuning.jsonl", "mine.txt"):
        (tmp_path / "m" / name).write_text("old")
    again = fit(place, tmp_path / "m", "--kernels", "linear", "--force")
    assert "as of the model before: report.html, evaluation.jsonl, tuning.jsonl" in again.stderr
    assert sorted(path.name for path in (tmp_path / "m").iterdir()) == ["fit.json", "mine.txt", "model.skops"]
    fit(place, "", code=2)


def test_flags_show_no_value_in_the_help():
    for words in ((), ("fit",), ("data", "list")):
        assert "bool" not in call(*words, "--help").output


def test_an_error_that_nobody_foresaw_is_one_line(monkeypatch, capsys):
    def broken():
        raise KeyError("[odd]")

    monkeypatch.setattr(sys.modules["multikernel.cli.app"], "app", broken)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert "a fault of multikernel" in (told := capsys.readouterr().err) and "KeyError: '[odd]'" in told
    monkeypatch.setenv("MULTIKERNEL_TRACEBACK", "1")
    with pytest.raises(KeyError):
        main()


def test_categories_and_gaps_of_a_file_go_to_the_kernel_that_reads_them(tmp_path):
    rng = np.random.default_rng(0)
    ill = rng.integers(0, 2, 60)
    X = pd.DataFrame({"age": rng.normal(60.0, 5.0, 60) + 15.0 * ill, "stage": np.where(ill, "III", "I")})
    X["stage"] = X["stage"].where(rng.random(60) < 0.8, "II")
    X = X.mask(rng.random(X.shape) < 0.2).assign(gene=rng.normal(size=60))
    X[:45].assign(kind=np.where(ill, "ill", "well")[:45]).to_csv(tmp_path / "train.csv", index=False)
    X[45:].to_csv(tmp_path / "new.csv", index=False)
    views = [("clinical", ["age", "stage"], "mixed(scale='std')"), ("genes", ["gene"], "gaussian")]
    text = "".join(f'[[view]]\nname = "{n}"\ncolumns = {c}\nkernel = "{k}"\n' for n, c, k in views)
    (tmp_path / "views.toml").write_text(text)
    arguments = (tmp_path / "train.csv", "-y", "kind", "--views", tmp_path / "views.toml")
    call("doctor", *arguments)
    call("fit", *arguments, "-o", tmp_path / "model")
    rows = json.loads(call("predict", tmp_path / "model", tmp_path / "new.csv", "--json").stdout)
    right = [
        row["prediction"] == ("ill" if sick else "well") for row, sick in zip(rows, ill[45:], strict=True)
    ]
    assert np.mean(right) > 0.8
    X.assign(gene=np.nan)[45:].to_csv(tmp_path / "new.csv", index=False)
    refused = call("predict", tmp_path / "model", tmp_path / "new.csv", code=1)
    assert "column 'gene' of new.csv is empty" in refused.stderr


# --- what stands for the kernels ----------------------------------------------------------------------------


def test_a_rank_asks_for_factors_of_so_many_columns(place, tmp_path):
    printed = fit(place, tmp_path, "--kernels", "gaussian, gaussian(scale=2)", "--rank", 7).stdout
    found = record_of(tmp_path)
    assert found["gram"] == "low_rank" and found["parameters"] == {"gram": "low_rank", "rank": 7}
    assert [row["rank"] for row in found["summary"]["approximation"]] == [7, 7]
    assert "Factors of low rank" in printed and "nystroem" in printed
    assert "Memory of the fit: " in printed and "factors of 2 kernels, 40 × 14" in found["memory"]
    assert len(call("predict", tmp_path, place / "train.csv").stdout.splitlines()) == 41


def test_views_of_a_file_name_their_approximation(place, tmp_path):
    factors = 'kernel = "gaussian"\napproximation = "cholesky"\nrank = 0.05'
    text = VIEWS.replace('kernel = ["linear", "gaussian(scale=2)"]', factors)
    views = tmp_path / "views.toml"
    views.write_text(text)
    fit(place, tmp_path / "m", "--views", views)
    found = record_of(tmp_path / "m")
    assert found["gram"] == "low_rank"
    assert [row["approximation"] for row in found["summary"]["approximation"]] == ["cholesky", "nystroem"]
    assert found["summary"]["approximation"][0]["trace_error"] <= 0.05
    assert (found["views"][0]["approximation"], found["views"][0]["rank"]) == ("cholesky", 0.05)
    assert "rank" not in found["views"][1]
    views.write_text(text.replace("cholesky", "choleski"))
    refused = fit(place, tmp_path / "m", "--views", views, "--force", code=1)
    assert "approximation, where it is not None" in refused.stderr


@pytest.mark.parametrize("gram", ["memmap", "dense"])
def test_gram_matrices_in_memory_or_in_a_file(place, tmp_path, gram):
    printed = fit(place, tmp_path, "--kernels", "gaussian", "--gram", gram).stdout
    assert record_of(tmp_path)["gram"] == gram
    assert (" on disk for 1 kernel of 40 × 40" in printed) == (gram == "memmap")

"""Several tables on the command line: aligned by ids, fitted, predicted, reported; and what is refused."""

import json

import numpy as np
import pandas as pd
import pytest

from multikernel import MKLClassifier
from multikernel.views import join_views
from tests.cli.running import call

SETS = "first\tfrom a book\tG0\tg1\tG2\tNOPE\nsecond\t\tG3\tG4\tG5\n"
VIEWS = """
[[view]]
name = "age"
columns = "age"
kernel = "gaussian"
cost = 2
[[view]]
name = "clinical"
kernel = "linear"
[[gene_sets]]
file = "sets.gmt"
table = "mrna"
kernel = "gaussian"
min_genes = 3
rest = true
"""
N, N_OLD = 48, 40


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Two tables of patients in different order, the second with the target; eight patients are new."""
    folder = tmp_path_factory.mktemp("several")
    rng = np.random.default_rng(0)
    ids = [f"{number:03d}" for number in range(N)]  # numbers that are names
    sick = np.arange(N) % 2
    genes = pd.DataFrame(rng.normal(size=(N, 8)) + sick[:, None], columns=[f"G{i}" for i in range(8)])
    genes.insert(0, "sample", ids)
    clinic = pd.DataFrame({"sample": ids, "age": rng.normal(60, 5, N) + 3 * sick})
    clinic["smoker"] = rng.random(N) > 0.5
    clinic["y"] = np.where(sick, "sick", "well")
    genes[:N_OLD].to_csv(folder / "mrna.csv", index=False)
    clinic[4:N_OLD].iloc[::-1].to_parquet(folder / "clinical.parquet")
    genes[N_OLD:].to_csv(folder / "new_mrna.csv", index=False)
    clinic[N_OLD + 1 :].drop(columns="y").iloc[::-1].to_csv(folder / "new_clinical.csv", index=False)
    clinic[:N_OLD][["sample", "y"]].to_csv(folder / "labels.csv", index=False)
    (folder / "sets.gmt").write_text(SETS)
    (folder / "views.toml").write_text(VIEWS)
    outer = ("--join", "outer", "--target-file", folder / "labels.csv")
    for name, more in (("inner", ()), ("outer", outer)):
        (folder / f"{name}.txt").write_text(fit(folder, folder / name, *more).output)
    return folder


def both(place, prefix=""):
    suffix = "csv" if prefix else "parquet"
    mrna, clinical = place / f"{prefix}mrna.csv", place / f"{prefix}clinical.{suffix}"
    return ("--table", f"mrna={mrna}", "--table", f"clinical={clinical}")


def fit(place, folder, *words, code=0):
    return call("fit", *both(place), "--id", "sample", "-y", "y", "-o", folder, *words, code=code)


def joined(place, how):
    frames = {"mrna": pd.read_csv(place / "mrna.csv", dtype={"sample": str})}
    frames["clinical"] = pd.read_parquet(place / "clinical.parquet").astype({"smoker": float})
    y = frames["clinical"].set_index("sample").pop("y")
    frames["clinical"] = frames["clinical"].drop(columns="y")
    return join_views(frames, y, how=how, on="sample")


def record_of(folder):
    return json.loads((folder / "fit.json").read_text())


def test_a_fit_aligns_the_tables_and_says_so(place):
    printed = (place / "inner.txt").read_text()
    assert "table 'mrna': 4 of its 40 samples are left out." in printed
    assert "MKLClassifier on 36 samples of mrna.csv, clinical.parquet: done" in printed
    data = record_of(place / "inner")["data"]
    assert data["kind"] == "tables" and data["id"] == "sample" and data["target_table"] == "clinical"
    assert data["tables"]["clinical"]["columns"] == ["age", "smoker"]
    X, y = joined(place, "inner")
    model = MKLClassifier().fit(X, y.to_numpy(dtype=str))
    weights = {row["view"]: row["weight"] for row in record_of(place / "inner")["summary"]["weights"]}
    assert weights == pytest.approx(dict(zip(model.view_names_, model.kernel_weights_, strict=True)))


def test_predictions_have_the_ids_and_are_those_of_the_model(place, tmp_path):
    X, y = joined(place, "inner")
    model = MKLClassifier().fit(X, y.to_numpy(dtype=str))
    new = {name: pd.read_csv(place / f"new_{name}.csv", dtype={"sample": str}) for name in X.names}
    new = join_views(new, on="sample")
    out = tmp_path / "p.csv"
    words = (*both(place, "new_"), "--id", "sample", "--join", "inner", "-o", out)
    result = call("predict", place / "inner", *words)
    assert "table 'mrna': 1 of its 8 samples are left out." in result.stderr
    found = pd.read_csv(out, dtype=str)
    assert list(found.columns) == ["sample", "prediction"] and found["sample"].tolist() == list(new.ids)
    assert found["prediction"].tolist() == model.predict(new).tolist()
    rows = json.loads(call("predict", place / "inner", *words[:6], "--json", "--join", "inner").stdout)
    assert rows[0] == {"sample": "041", "prediction": found["prediction"][0]}


def test_samples_that_lack_a_table_are_refused_or_taken(place):
    words = both(place, "new_")  # the id column is that of the fit
    refused = call("predict", place / "inner", *words, code=1).stderr
    assert "1 of 8 samples are not in table 'clinical', such as '040'" in refused
    assert "--join inner" in refused and "--set missing=renormalize" in refused
    taken = call("predict", place / "outer", *words).stdout.splitlines()
    assert taken[0] == "sample,prediction" and taken[1].startswith("040,") and len(taken) == 9
    said = (place / "outer.txt").read_text()
    assert "table 'clinical': 4 of the 40 samples are not in it." in said
    assert "Note: 4 of 40 samples lack a table" in said and "--set missing=" in said
    assert record_of(place / "outer")["data"]["missing"] == "renormalize"


def test_a_table_that_is_not_there_at_all(place):
    only = ("--table", f"mrna={place / 'new_mrna.csv'}")
    refused = call("predict", place / "inner", *only, code=1).stderr
    assert "fitted to the tables mrna, clinical; 'clinical' is not given" in refused
    assert "--table clinical=FILE" in refused
    result = call("predict", place / "outer", *only)
    assert "table 'clinical' is not given: predictions are made without it" in result.stderr
    assert len(result.stdout.splitlines()) == 9


def test_views_name_tables_and_gene_sets(place, tmp_path):
    result = fit(place, tmp_path / "m", "--views", place / "views.toml")
    assert "sets.gmt: 2 of 2 gene sets are views." in result.stderr
    record = record_of(tmp_path / "m")
    views = {view["name"]: view for view in record["views"]}
    assert list(views) == ["age", "clinical", "first", "second", "rest"]
    assert views["first"]["table"] == "mrna" and views["first"]["columns"] == ["G0", "G1", "G2"]
    assert views["rest"]["columns"] == ["G6", "G7"] and views["age"]["table"] == "clinical"
    assert record["parameters"]["costs"] == {"age": 2.0}
    words = (*both(place, "new_"), "--join", "inner")
    assert len(call("predict", tmp_path / "m", *words).stdout.splitlines()) == 8


def test_gene_sets_of_one_table(place, tmp_path):
    table = pd.read_csv(place / "mrna.csv", dtype={"sample": str})
    table = table.merge(pd.read_csv(place / "labels.csv", dtype=str))
    table.to_csv(tmp_path / "one.csv", index=False)
    (tmp_path / "views.toml").write_text(f'[[gene_sets]]\nfile = "{place / "sets.gmt"}"\nmin_genes = 3')
    words = ("-y", "y", "--id", "sample", "--views", tmp_path / "views.toml", "-o", tmp_path / "m")
    assert "Columns of no other view" in call("fit", tmp_path / "one.csv", *words).stderr
    lines = call("predict", tmp_path / "m", tmp_path / "one.csv").stdout.splitlines()
    assert lines[0] == "sample,prediction" and lines[1].startswith("000,")


@pytest.mark.thorough
def test_report_and_compare_take_the_tables(place, tmp_path):
    words = (*both(place), "--parts", "held_out,embedding", "-o", tmp_path / "r.md")
    printed = call("report", place / "inner", *words).output
    assert "Written" in printed and "not the file" not in printed
    assert "mrna.csv, clinical.parquet" in (tmp_path / "r.md").read_text()
    words = (*both(place), "--id", "sample", "-y", "y", "--no-baselines", "--methods", "mkl,MeanRule")
    assert "Methods on mrna.csv, clinical.parquet" in call("compare", *words, "-o", tmp_path / "c").stdout


def write(folder, name, text):
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--table", "mrna.csv"), 2, "NAME=FILE, such as --table mrna=mrna.csv"),
        (("--table", "=mrna.csv"), 2, "NAME=FILE"),
        (("--table", "mrna=mrna.csv", "--table", "mrna=b.csv"), 2, "'mrna' is given twice"),
        (("mrna.csv", "--table", "mrna=mrna.csv"), 2, "give one table by its file, or several"),
        ((), 2, "got neither"),
        (("mrna.csv", "--target-table", "mrna"), 2, "--target-table is for several tables"),
        (("--table", "a=mrna.csv", "--join", "left"), 2, "--join must be one of 'inner', 'outer'"),
    ],
)
def test_words_that_are_not_understood(place, tmp_path, words, code, said):
    result = call("fit", *words, "-y", "y", "-o", tmp_path / "m", code=code)
    assert result.stdout == "" and said in result.stderr


@pytest.mark.parametrize(
    ("second", "words", "said"),
    [
        ("patient,a,y\n1,2,u\n", (), "has no column 'sample'"),
        (",a,y\n1,2,u\n", (), "first column has no name: write 'sample' into its header line"),
        ("sample,a,y\n000,2,u\n001,2,v\n000,3,u\n", (), "'000' is in line 2 and in line 4"),
        ("sample,a,y\n000,2,u\n,2,v\n", (), "must have an id; 'sample' is empty in line 3"),
        ("sample,a,y\nx,2,u\nz,2,v\n", (), "no sample in common"),
        ("sample,a,y\n000,2,u\n001,2,v\n", ("--table", "third=b.csv"), "'b' and 'third' have it"),
        ("sample,a,y\n000,2,u\n", ("--target-table", "c"), "--target-table must be one of mrna, b"),
        ("sample,a,y\n000,2,u\n", ("--target-table", "mrna"), "table 'mrna' has no column 'y'"),
        ("sample,a,Y\n000,2,u\n", (), "Did you mean 'Y' of 'b'?"),
        ("sample,y\n000,u\n001,v\n", (), "must hold features and the ids and the target"),
        ("sample,a,y\n000,2,u\n", ("--ignore", "nope"), "--ignore: none of the tables mrna, b has"),
        ("sample,a,y\n000,2,u\n001,,v\n2,2,u\n002,2,u\n003,1,v\n", (),
         "column 'a' of b.csv is empty in sample '001'"),
        ("sample,a,y\n000,2,u\n001,3,\n", (), "the target 'y' of b.csv must be known in every row"),
    ],
)  # fmt: skip
def test_tables_that_do_not_go_together(place, tmp_path, monkeypatch, second, words, said):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "b.csv", second)
    tables = ("--table", f"mrna={place / 'mrna.csv'}", "--table", "b=b.csv", "--id", "sample", "-y", "y")
    result = call("fit", *tables, *words, "-o", "m", code=1)
    assert result.stdout == "" and said in result.stderr.replace("\n", " ")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("views", "said"),
    [
        ("[[gene_sets]]\nfile = 'b.csv'\ntable = 'mrna'", "got no tab in"),
        ("[[gene_sets]]\nfile = 'none.gmt'\ntable = 'mrna'", "none.gmt does not exist"),
        ("[[gene_sets]]\nfile = 'sets.gmt'", "name the table of the genes: table = 'mrna'"),
        ("[[gene_sets]]\nfile = 'sets.gmt'\ntable = 'mrn'", "no table 'mrn'. Did you mean 'mrna'?"),
        ("[[gene_sets]]\ntable = 'mrna'", "must have a file"),
        ("[[gene_sets]]\nfile = 'sets.gmt'\ntable = 'mrna'\nmin_gene = 3", "Did you mean 'min_genes'?"),
        ("[[gene_sets]]\nfile = 'sets.gmt'\ntable = 'mrna'\nmin_genes = 9", "lower min_genes"),
        ("[[gene_sets]]\nfile = 'sets.gmt'\ntable = 'mrna'\nkernel = ['linear', 'rbf']", "one kernel; got 2"),
        ("[[view]]\nname = 'x'\nkernel = 'linear'", "Name its table: table = 'mrna'"),
        ("[[view]]\nname = 'x'\nkernel = 'linear'\ncolumns = 'G9'", "no table has all its columns"),
        ("[[view]]\nname = 'x'\nkernel = 'linear'\ntable = 1", "table must be the name of a table"),
    ],
)  # fmt: skip
def test_views_that_name_no_table_or_no_sets(place, tmp_path, views, said):
    write(tmp_path, "b.csv", "sample,a,y\n000,2,u\n")
    write(tmp_path, "sets.gmt", SETS)
    path = write(tmp_path, "views.toml", views)
    assert said in fit(place, tmp_path / "m", "--views", path, code=1).stderr.replace("\n", " ")


def test_without_ids_the_rows_must_agree(place, tmp_path):
    rows = pd.read_csv(place / "mrna.csv").drop(columns="sample")
    rows.to_csv(tmp_path / "a.csv", index=False)
    other = pd.read_csv(place / "labels.csv").assign(x=1.0 * np.arange(N_OLD)).drop(columns="sample")
    other.to_csv(tmp_path / "b.csv", index=False)
    words = ("--table", f"a={tmp_path / 'a.csv'}", "--table", f"b={tmp_path / 'b.csv'}", "-y", "y")
    assert "no --id: assuming" in call("fit", *words, "-o", tmp_path / "m").stderr
    lines = call("predict", tmp_path / "m", *words[:4]).stdout.splitlines()
    assert lines[0] == "row,prediction" and len(lines) == N_OLD + 1
    other[:9].to_csv(tmp_path / "b.csv", index=False)
    said = call("fit", *words, "-o", tmp_path / "n", code=1).stderr
    assert "'a' has 40 rows, 'b' has 9 rows" in said and "(--id sample)" in said


def test_methods_that_need_every_table_say_so(place, tmp_path):
    more = ("--target-file", place / "labels.csv", "--join", "outer", "--method", "EasyMKL")
    assert "easy_mkl needs every table of a sample" in fit(place, tmp_path / "m", *more, code=1).stderr


def test_one_table_for_a_model_of_several(place):
    said = call("predict", place / "inner", place / "new_mrna.csv", code=1).stderr
    assert "must hold several tables (--table NAME=FILE), as training had" in said


def test_the_doctor_shows_who_has_what(place, tmp_path):
    words = (*both(place), "--id", "sample", "-y", "y")
    printed = call("doctor", *words, "--join", "outer", "--target-file", place / "labels.csv").stdout
    rows = [line.replace("│", " ").split() for line in printed.splitlines()]
    assert ["mrna", "8", "40", "0"] in rows and ["clinical", "2", "36", "4"] in rows
    assert "4 of 40 samples (10 %) lack a table." in printed and "--join inner" in printed
    found = json.loads(call("doctor", *words, "--json").stdout)
    assert [table["missing"] for table in found["tables"]] == [0, 0]
    assert {kernel["name"] for kernel in found["kernels"]} >= {"mrna-linear", "clinical-linear"}
    table = pd.read_csv(place / "mrna.csv", dtype={"sample": str}).assign(leak=np.arange(N_OLD) % 2)
    table.to_csv(tmp_path / "mrna.csv", index=False)
    words = ("--table", f"mrna={tmp_path / 'mrna.csv'}", *words[2:])
    printed = call("doctor", *words, code=1).stdout
    assert "column 'mrna:leak': it is the target itself" in printed
    assert "mrna:leak" not in call("doctor", *words, "--ignore", "mrna:leak").stdout

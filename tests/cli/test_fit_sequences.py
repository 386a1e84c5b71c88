"""Sequences in a file: views of them in TOML, a fit, predictions, and what is said of rows without."""

import json

import numpy as np
import pandas as pd
import pytest

from multikernel import MKLClassifier
from multikernel.io.tables import read_table, read_views
from tests.cli.running import call

VIEWS = """
[[view]]
name = "table"
columns = ["a", "b"]
kernel = "gaussian"
[[view]]
name = "sequence"
columns = "sequence"
kernel = ["spectrum(k=3, alphabet='dna')", "weighteddegree(4)"]
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sequences")
    rng = np.random.default_rng(0)
    rows = ["".join(rng.choice(list("ACGT"), size=20)) for _ in range(50)]
    y = np.where(np.arange(50) % 2, "yes", "no")
    rows = [
        row[:8] + "TATAAT" + row[14:] if kind == "yes" else row for row, kind in zip(rows, y, strict=True)
    ]
    table = pd.DataFrame({"a": rng.normal(size=50), "sequence": rows, "b": rng.normal(size=50), "y": y})
    table[:40].to_csv(folder / "train.csv", index=False)
    table[40:].to_csv(folder / "new.csv", index=False)
    table[40:].assign(sequence=["ACGTACGTACGTACGTACGT", None] * 5).to_csv(folder / "gaps.csv", index=False)
    (folder / "views.toml").write_text(VIEWS)
    return folder


def test_a_file_of_sequences_is_fitted_and_predicted(place):
    options = ("-y", "y", "--views", place / "views.toml", "-o", place / "model")
    result = call("fit", place / "train.csv", *options)
    assert "sequence/weighteddegree" in result.output
    record = json.loads((place / "model" / "fit.json").read_text())
    assert record["data"]["texts"] == ["sequence"]
    result = call("predict", place / "model", place / "new.csv", "-o", place / "predicted.csv")
    table = read_table(place / "train.csv", target="y")
    model = MKLClassifier(list(read_views(place / "views.toml", table))).fit(table.X, table.y)
    new = pd.read_csv(place / "new.csv")
    predicted = pd.read_csv(place / "predicted.csv")["prediction"]
    assert predicted.tolist() == model.predict(new[table.columns]).tolist()
    assert (predicted == new["y"]).mean() > 0.8
    refused = call("predict", place / "model", place / "gaps.csv", code=1)
    assert "column 'sequence' of gaps.csv is empty" in refused.output
    assert "line 3" in refused.output


def test_a_column_that_a_kernel_of_numbers_reads_too_must_be_numbers(place):
    (place / "all.toml").write_text(VIEWS.replace('columns = ["a", "b"]', ""))
    result = call(
        "fit", place / "train.csv", "-y", "y", "--views", place / "all.toml", "-o", place / "none", code=1
    )
    assert "column 'sequence' of train.csv must hold numbers" in result.output


def test_a_kernel_that_handles_gaps_is_given_them(place):
    """Texts and numbers that are missing in places, in training and in new rows."""
    table = pd.read_csv(place / "train.csv").assign(kind=["x", "y", None, "y"] * 10)
    table.loc[3, "a"] = np.nan
    table.to_csv(place / "clinic.csv", index=False)
    (place / "mixed.toml").write_text(
        '[[view]]\nname = "clinic"\ncolumns = ["a", "kind"]\nkernel = "mixed"\n'
    )
    options = ("-y", "y", "--views", place / "mixed.toml", "-o", place / "clinic")
    call("fit", place / "clinic.csv", *options)
    call("predict", place / "clinic", place / "clinic.csv")

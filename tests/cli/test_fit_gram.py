"""``fit --gram`` and ``--rank``: what stands for the kernels is asked for, told, kept, and predicts."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from tests.cli.running import call

VIEWS = """
[[view]]
name = "shape"
columns = ["a", "b"]
kernel = "gaussian"
approximation = "cholesky"
rank = 0.05
[[view]]
name = "rest"
columns = "c"
kernel = "gaussian"
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    table.assign(kind=np.where(table["a"] + table["c"] ** 2 > 0.5, "big", "small")).to_csv(
        tmp_path / "train.csv", index=False
    )
    (tmp_path / "views.toml").write_text(VIEWS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fit(*words, code=0):
    return call("fit", "train.csv", "-y", "kind", "-o", "model", *words, code=code)


def record(place):
    return json.loads((place / "model" / "fit.json").read_text())


def test_a_rank_asks_for_factors_of_so_many_columns(place):
    printed = fit("--kernels", "gaussian, gaussian(scale=2)", "--rank", 7).stdout
    found = record(place)
    assert found["gram"] == "low_rank" and found["parameters"] == {"gram": "low_rank", "rank": 7}
    assert [row["rank"] for row in found["summary"]["approximation"]] == [7, 7]
    assert "Factors of low rank" in printed and "nystroem" in printed
    assert "Memory of the fit: " in printed and "factors of 2 kernels, 60 × 14" in found["memory"]
    assert len(call("predict", "model", "train.csv").stdout.splitlines()) == 61


def test_views_of_a_file_name_their_approximation(place):
    fit("--views", "views.toml")
    found = record(place)
    assert found["gram"] == "low_rank"
    assert [row["approximation"] for row in found["summary"]["approximation"]] == ["cholesky", "nystroem"]
    assert found["summary"]["approximation"][0]["trace_error"] <= 0.05
    assert (found["views"][0]["approximation"], found["views"][0]["rank"]) == ("cholesky", 0.05)
    assert "rank" not in found["views"][1]
    (place / "views.toml").write_text(VIEWS.replace("cholesky", "choleski"))
    assert "approximation, where it is not None" in fit("--views", "views.toml", "--force", code=1).stderr


@pytest.mark.parametrize("gram", ["memmap", "dense"])
def test_gram_matrices_in_memory_or_in_a_file(place, gram):
    printed = fit("--kernels", "gaussian", "--gram", gram).stdout
    assert record(place)["gram"] == gram
    assert (" on disk for 1 kernel of 60 × 60" in printed) == (gram == "memmap")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--gram", "sparse"), 2, "--gram must be one of 'auto', 'dense', 'low_rank', 'memmap'"),
        (("--rank", "0"), 2, "--rank must be a number of columns"),
        (("--rank", "many"), 2, "--rank must be a number of columns"),
        (("--rank", "5", "--gram", "memmap"), 2, "gram 'memmap' has none. Use --gram low_rank."),
        (("--gram", "dense", "--set", "gram=memmap"), 2, "gram must be given once"),
        (("--rank", "90"), 1, "rank"),
        (("--rank", "5", "--method", "EasyMKL"), 1, "has no parameter"),
    ],
)
def test_what_cannot_be_had_is_named(place, words, code, said):
    assert said in fit(*words, code=code).stderr

"""The benchmark of gene sets: what it measures on a few genes, and its page."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import gene_sets
from multikernel import MKLClassifier


@pytest.fixture
def small(tmp_path):
    (tmp_path / "genesets").mkdir()
    text = "A\t-\tg0\tg1\nB\t-\tg2\tg3\tg9\nC\t-\tg3\n"
    (tmp_path / "genesets" / "few.gmt").write_text(text)
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 5)), columns=[f"g{k}" for k in range(5)])
    return X, (X["g0"] > 0).to_numpy().astype(int), tmp_path


def test_a_case_is_measured(small):
    X, y, folder = small
    found = gene_sets.measure(gene_sets.Case("few", "few.gmt", 2, 1.0), X, y, folder, repeats=1)
    assert (found["views"], found["columns"], found["n"], found["status"]) == (2, 4, 60, "optimal")
    assert 0.0 <= found["gap"] <= gene_sets.TOL
    assert 1 <= found["above_percent"] <= found["with_weight"] <= 2
    assert found["accuracy"] > 0.8
    assert found["seconds"] > 0.0
    assert gene_sets.Case("all", None, 1, 1.0).views(list(X.columns), folder)[0].columns == list(X.columns)


def test_the_gap_is_that_of_the_judge(small):
    X, y, folder = small
    views = gene_sets.Case("few", "few.gmt", 2, 1.0).views(list(X.columns), folder)
    model = MKLClassifier(views, tol=1e-6).fit(X, y)
    assert gene_sets.judged_gap(model, views, X, y) <= 1e-6
    model.kernel_weights_ = model.kernel_weights_[::-1].copy()
    assert gene_sets.judged_gap(model, views, X, y) > 1e-2


def test_the_page_has_a_line_for_each_case(small):
    X, y, folder = small
    found = gene_sets.measure(gene_sets.Case("few", "few.gmt", 1, 1.0), X, y, folder, repeats=1)
    text = gene_sets.page([found, found | {"sets": "more"}], {"processor": "one"})
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len(lines) == 4
    assert {line.count("|") for line in lines} == {12}
    assert lines[2].startswith("| few | 1 | 3 | 4 | 60 | optimal |")
    assert text.startswith("---\norphan: true\n---\n")


def test_a_folder_without_gene_sets_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("MULTIKERNEL_DATA", str(tmp_path))
    with pytest.raises(SystemExit, match=r"genesets of .*Set MULTIKERNEL_DATA"):
        gene_sets.data_folder()

"""``--scheduler``: the work of a command on a cluster, with the results of this machine and plain errors."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from multikernel.core import store as cluster
from tests.cli.running import call

COMPARE = ("compare", "small.csv", "--target", "kind", "--kernels", "linear", "--no-baselines", "--json")
FIT = ("fit", "small.csv", "--target", "kind", "--kernels", "linear", "--tune", "--folds", 2)


def scores(found):
    return {row["name"]: row["folds"] for row in found["rows"]}


def test_compare_on_a_cluster_goes_on_from_what_is_kept(client, small_table):
    here = json.loads(call(*COMPARE, "--methods", "mkl,mean_rule,sum_rule", "--out", "here").stdout)
    call(*COMPARE, "--methods", "mean_rule,sum_rule", "--out", "there")
    kept = Path("there/compare.jsonl").read_bytes()
    words = ("--methods", "mkl,mean_rule,sum_rule", "--out", "there", "--scheduler", client.scheduler.address)
    there = json.loads(call(*COMPARE, *words).stdout)
    assert scores(there) == scores(here) and len(scores(here)) == 3
    assert Path("there/compare.jsonl").read_bytes().startswith(kept)


def test_tuning_on_a_cluster(client, small_table):
    scheduler = ("--scheduler", client.scheduler.address)
    for folder, more in (("one", ()), ("two", scheduler)):
        call(*FIT, "--out", folder, *more)
    one, two = (json.loads(Path(folder, "fit.json").read_text())["tuning"] for folder in ("one", "two"))
    assert one == two


def test_a_cluster_that_cannot_be_had_is_named(small_table, monkeypatch):
    monkeypatch.setattr(cluster, "_PATIENCE", 0.5)
    words = (*COMPARE, "--scheduler", "tcp://127.0.0.1:9")
    assert "no dask scheduler answers at 'tcp://127.0.0.1:9'" in call(*words, code=1).stderr
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "pip install multikernel[distributed]" in call(*words, code=1).stderr

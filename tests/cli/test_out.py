"""``--out`` that cannot be written is refused before anything is read or fitted, and a full disk is named."""

import errno
import os
from pathlib import Path

import pytest

from multikernel import CombinedKernelClassifier, MKLClassifier
from multikernel.io import ModelFolder
from tests.cli.running import call


def no_work(*_, **__):
    raise AssertionError("work was done before the destination was checked")


@pytest.fixture
def model(small_table):
    call("fit", "small.csv", "-y", "kind", "-o", "model")
    (small_table / "file").write_text("")
    return small_table / "model"


COMMANDS = [
    (("fit", "small.csv", "-y", "kind", "-o", "file/model"), "model.skops"),
    (("predict", "model", "small.csv", "-o", "file/p.csv"), "p.csv"),
    (("report", "model", "-d", "small.csv", "-o", "file/report.html"), "report.html"),
    (("compare", "small.csv", "-y", "kind", "-m", "mean_rule", "-o", "file/compared"), "compare.jsonl"),
]


@pytest.mark.parametrize(("words", "name"), COMMANDS, ids=lambda value: value[0])
def test_an_unwritable_place_is_noticed_before_the_work(model, monkeypatch, words, name):
    for kind in (MKLClassifier, CombinedKernelClassifier):
        monkeypatch.setattr(kind, "fit", no_work)
    monkeypatch.setattr(ModelFolder, "load", no_work)
    result = call(*words, code=1)
    assert f"{name} cannot be written: a part of its path is a file" in " ".join(result.stderr.split())


def full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    "words",
    [
        ("fit", "small.csv", "-y", "kind", "-o", "other"),
        ("predict", "model", "small.csv", "-o", "p.csv"),
        ("report", "model", "-o", "report.html"),
        (
            "compare",
            "small.csv",
            "-y",
            "kind",
            "-m",
            "mean_rule,sum_rule",
            "--no-baselines",
            "-o",
            "compared",
        ),
    ],
    ids=lambda words: words[0],
)
def test_a_full_disk_is_named(model, monkeypatch, words):
    monkeypatch.setattr(Path, "write_bytes", full)
    result = call(*words, code=1)
    assert "cannot be written: the disk is full. Free some space" in " ".join(result.stderr.split())
    assert "Errno" not in result.stderr
    assert not any((model.parent / name).exists() for name in ("p.csv", "report.html", "compared/compare.md"))

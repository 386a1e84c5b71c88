"""A folder holds the model and the record of one fit, whatever happens while they are saved."""

import json
import os

import pytest

from multikernel import MKLClassifier
from multikernel.io.models import ModelFileError, ModelFolder

RECORD = {"target": "y", "n": 30, "columns": ["a", "β"], "nested": {"x": None}}


@pytest.fixture
def folder(tmp_path):
    folder = ModelFolder(tmp_path / "runs" / "model")
    folder.save(MKLClassifier(C=1.0), RECORD)
    return folder


def test_both_come_back(folder):
    model, record = folder.load()
    assert model.C == 1.0 and record == RECORD == folder.read_record()
    assert sorted(path.name for path in folder.folder.iterdir()) == ["fit.json", "model.skops"]
    assert json.loads(folder.record_path.read_text(encoding="utf-8"))["target"] == "y"


@pytest.mark.parametrize("moment", range(6))
def test_a_stop_leaves_the_old_pair_or_the_new_one(folder, monkeypatch, moment):
    """The moments are those before each writing to disk and each renaming; at the last nothing stops."""
    steps = []

    def counted(function):
        def step(*arguments):
            if len(steps) == moment:
                raise KeyboardInterrupt
            steps.append(function)
            return function(*arguments)

        return step

    with monkeypatch.context() as patched:
        for name in ("replace", "fsync"):
            patched.setattr(os, name, counted(getattr(os, name)))
        with pytest.raises(KeyboardInterrupt):
            folder.save(MKLClassifier(C=2.0), {"target": "z"})
    model, record = folder.load()
    assert (model.C, record["target"]) in [(1.0, "y"), (2.0, "z")]
    assert (model.C == 2.0) == (moment >= 5)
    folder.save(MKLClassifier(C=3.0), {"target": "w"})
    assert folder.load()[0].C == 3.0 and len(list(folder.folder.iterdir())) == 2


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: f.record_path.unlink(), "holds no fit.json"),
        (lambda f: f.model_path.unlink(), "holds no model.skops"),
        (lambda f: f.record_path.write_text("{"), "no JSON"),
        (lambda f: f.record_path.write_text("[1]"), "no JSON object"),
        (lambda f: f.record_path.write_text("{}"), "different fits"),
        (lambda f: f.model_path.write_bytes(f.model_path.read_bytes()[:-9]), "different fits"),
    ],
)
def test_what_does_not_belong_together_is_refused(folder, damage, message):
    damage(folder)
    for read in (folder.load, folder.read_record):
        with pytest.raises(ModelFileError, match=message):
            read()


def test_records_that_json_cannot_hold(folder):
    for record in ({"x": float("nan")}, {"x": object()}, [1], {"model_sha256": "mine"}):
        with pytest.raises(ModelFileError, match="record of a fit"):
            folder.save(MKLClassifier(), record)
    assert folder.load()[1] == RECORD


def test_no_folder(tmp_path):
    with pytest.raises(ModelFileError, match="there is no folder"):
        ModelFolder(tmp_path / "none").load()

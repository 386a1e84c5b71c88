"""A file that is cut off, damaged, not ours or of another version says so, and gives no other model."""

import json
import os

import numpy as np
import pytest

from multikernel import MKLClassifier
from multikernel.io.models import ModelFileError, ModelVersionWarning, describe_model, load_model, save_model
from multikernel.io.models.archive import FORMAT_VERSION, pack, unpack
from multikernel.io.models.coding import ABOUT, SCHEMA
from tests.io.models.models import Counting, answers, assert_same_bits


def with_about(data, **changes):
    members = unpack(data)
    return pack({**members, ABOUT: json.dumps({**json.loads(members[ABOUT]), **changes}).encode()})


def test_every_cut_is_noticed(data):
    for length in range(len(data)):
        with pytest.raises(ModelFileError):
            unpack(data[:length])


def test_every_changed_byte_is_noticed(data):
    changed = bytearray(data)
    for place in range(0, len(data), 3):
        changed[place] ^= 1 << (place % 8)
        with pytest.raises(ModelFileError):
            unpack(bytes(changed))
        changed[place] = data[place]
    assert bytes(changed) == data and unpack(data)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lambda data: b"", "is empty"),
        (lambda data: b"a,b\n1,2\n", "no model file"),
        (lambda data: data[:-1], "cut off"),
        (lambda data: data[:200] + b"?" + data[201:], "checksum"),
        (lambda data: data + b"x", "cut off"),
        (lambda data: pack({"notes.txt": b"mine"}), "no part multikernel.json"),
        (lambda data: pack({ABOUT: b"[]", SCHEMA: b"{}"}), "no JSON object"),
        (lambda data: pack({ABOUT: b"{", SCHEMA: b"{}"}), "no JSON"),
        (lambda data: pack({ABOUT: b'{"format": "other"}', SCHEMA: b"{}"}), "no model file"),
        (lambda data: pack({ABOUT: unpack(data)[ABOUT]}), "no part schema.json"),
        (
            lambda data: pack({k: v for k, v in unpack(data).items() if k != "1.npy"}),
            "misses the part '1.npy'",
        ),
        (lambda data: pack({**unpack(data), "9999.npy": b""}), "in excess the part '9999.npy'"),
        (lambda data: pack({**unpack(data), "1.npy": b"junk"}), "'1.npy' without a readable header"),
        (
            lambda data: with_about(data, format_version=FORMAT_VERSION + 1),
            "Upgrade multikernel to .* or later",
        ),
        (lambda data: with_about(data, format_version="1"), "format version"),
    ],
)
def test_what_is_wrong_is_said(data, write, content, message):
    path = write(content(data))
    for read in (load_model, describe_model):
        with pytest.raises(ModelFileError, match=message) as caught:
            read(path)
        assert str(caught.value).startswith(str(path))


def test_places_without_a_file(tmp_path, model):
    for read in (load_model, describe_model):
        with pytest.raises(ModelFileError, match="there is no file"):
            read(tmp_path / "none.skops")
        with pytest.raises(ModelFileError, match="is a folder"):
            read(tmp_path)
    with pytest.raises(ModelFileError, match="is a folder"):
        save_model(model, tmp_path)
    with pytest.raises(ModelFileError, match="does not exist"):
        save_model(model, tmp_path / "none" / "model.skops")


@pytest.mark.parametrize("package", ["multikernel", "scikit-learn"])
def test_another_release_is_told_and_the_model_is_tried(data, write, model, package):
    stamps = json.loads(unpack(data)[ABOUT])["versions"]
    with pytest.warns(ModelVersionWarning, match=f"{package} 0.0.1") as caught:
        loaded = load_model(write(with_about(data, versions={**stamps, package: "0.0.1"})))
    assert caught[0].filename == __file__  # it points to the caller
    assert_same_bits(answers(model), answers(loaded))
    patch = stamps[package].rpartition(".")[0] + ".99"
    load_model(write(with_about(data, versions={**stamps, package: patch})))  # no warning: same release


def test_a_description_without_loading(data, write, model):
    about = describe_model(write(data))
    assert about["model"] == "multikernel.MKLClassifier"
    assert about["format_version"] == FORMAT_VERSION
    assert about["views"] == model.view_names_ and about["classes"] == ["no", "yes"]
    assert about["versions"].keys() >= {"multikernel", "scikit-learn", "numpy", "skops"}
    assert about["size"] == len(data) and about["needs_trust"] == [] and about["when"].startswith("20")


def test_a_stop_while_saving_leaves_the_old_file(tmp_path, model, monkeypatch):
    path = save_model(model, tmp_path / "model.skops")
    old = path.read_bytes()

    def stop(*arguments):
        raise KeyboardInterrupt

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patched:
            patched.setattr(os, name, stop)
            with pytest.raises(KeyboardInterrupt):
                save_model(MKLClassifier(), path)
        assert path.read_bytes() == old and list(tmp_path.iterdir()) == [path]


def test_a_model_that_would_change_is_not_saved(tmp_path):
    cycle = []
    cycle.append((cycle,))
    for value in (np.ones(2).view(np.recarray), open, cycle, (item for item in "ab")):
        with pytest.raises(ModelFileError):
            save_model([value], tmp_path / "model.skops")
    with pytest.raises(ModelFileError, match="would be another one"):
        save_model([Counting()], tmp_path / "model.skops")
    assert not list(tmp_path.iterdir())

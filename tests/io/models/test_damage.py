"""A file that is cut off, damaged, not ours or of another version says so, and gives no other model."""

import errno
import json
import os
import warnings
from pathlib import Path

import numpy as np
import pytest

from multikernel import MKLClassifier
from multikernel.io.models import (
    ModelFileError,
    ModelFolder,
    ModelVersionWarning,
    describe_model,
    load_model,
    save_model,
)
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


def test_what_is_no_regular_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for read in (load_model, describe_model):
        for place in (tmp_path / "pipe", "/dev/zero", "/dev/null"):
            with pytest.raises(ModelFileError, match="is a device or a pipe"):
                read(place)
        for place in (3, None, b"model.skops", ["model.skops"]):
            with pytest.raises(TypeError, match="path must be the path of a file"):
                read(place)
    with pytest.raises(ModelFileError, match="is a device or a pipe"):
        save_model(MKLClassifier(), tmp_path / "pipe")
    with pytest.raises(TypeError, match="path must be the path of a file"):
        save_model(MKLClassifier(), 3)
    with pytest.raises(TypeError, match="path must be the path of a file"):
        ModelFolder(3)


def test_a_file_larger_than_the_memory_is_not_read(tmp_path):
    with (tmp_path / "model.skops").open("wb") as file:
        file.truncate(2**43)  # takes no space on disk
    with pytest.raises(ModelFileError, match=r"has 8796093022208 bytes, and .* memory are available"):
        load_model(tmp_path / "model.skops")


def test_a_full_disk_is_named(tmp_path, model, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    for save in (
        lambda: save_model(model, tmp_path / "m.skops"),
        lambda: ModelFolder(tmp_path).save(model, {}),
    ):
        with pytest.raises(ModelFileError, match="cannot be written: the disk is full"):
            save()
    assert not list(tmp_path.iterdir())


def test_damaged_headers_and_schemas_with_a_renewed_checksum(data, write):
    """Whatever a damaged file says, there is one class of errors."""
    rng, members, n_refused = np.random.default_rng(0), unpack(data), 0
    for name in rng.choice(sorted(members), size=300):
        content = bytearray(members[name])
        for place in rng.integers(0, min(len(content), 128 if name.endswith(".npy") else 10**6), size=2):
            content[place] = rng.integers(256)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                load_model(write(pack({**members, name: bytes(content)})))
        except ModelFileError:
            n_refused += 1
    assert n_refused > 100


def test_an_unfinished_header(data, write):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (3,"
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    with pytest.raises(ModelFileError, match=r"'1\.npy' without a readable header"):
        load_model(write(pack({**unpack(data), "1.npy": content})))


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

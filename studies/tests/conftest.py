"""What the tests of several studies need."""

import hashlib
import json

import numpy as np
import pytest

from tests.shared_data import needs_shared_data, shared_data_folder


@pytest.fixture
def data_folder(monkeypatch, tmp_path):
    """A function that puts data sets where the library looks for them."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("MULTIKERNEL_DATA", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def write(**datasets):
        entries = {}
        for name, arrays in datasets.items():
            np.savez(folder / f"{name}.npz", **arrays)
            checksum = hashlib.sha256((folder / f"{name}.npz").read_bytes()).hexdigest()
            entries[name] = {"file": f"{name}.npz", "sha256": checksum}
        (folder / "manifest.json").write_text(json.dumps({"format": 1, "datasets": entries}))

    return write


@pytest.fixture(params=[pytest.param(None, marks=needs_shared_data, id="shared data")])
def shared_data(monkeypatch):
    """The folder of the real data sets; without it the test is skipped."""
    monkeypatch.setenv("MULTIKERNEL_DATA", str(shared_data_folder()))

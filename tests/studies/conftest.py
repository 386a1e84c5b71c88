"""What the tests of several studies need."""

import hashlib
import json

import numpy as np
import pytest


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

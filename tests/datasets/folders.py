"""Folders of data sets for tests, which ask no network."""

import hashlib
import json

import numpy as np
import sklearn.datasets


def cut_off(monkeypatch, folder):
    """An empty cache in a folder, and no network."""

    def refuse(*args, **kwargs):
        raise OSError("no network in the tests")

    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", refuse)


def write_folder(folder, datasets, **fields):
    """A folder of data sets: name to arrays; `fields` go into every entry of the manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest = {"format": 1, "datasets": {}}
    for name, arrays in datasets.items():
        path = folder / f"{name}.npz"
        np.savez_compressed(path, **arrays)
        manifest["datasets"][name] = {
            "file": path.name,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "arrays": {
                k: {"shape": list(np.shape(v)), "dtype": str(np.asarray(v).dtype)} for k, v in arrays.items()
            },
            "n": 3,
            "d": 2,
            "target": "y: 0=no, 1=yes",
            **fields,
        }
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder

"""Where data sets live on disk: a folder with ``manifest.json`` and one ``.npz`` file for each set.

The manifest names each set's file, its sha256 and its arrays::

    {"format": 1, "datasets": {"sonar": {"file": "sonar.npz", "sha256": "...", "n": 208, "d": 60, ...}}}

Folders are searched in this order: ``$MULTIKERNEL_DATA``, then the cache (``$XDG_CACHE_HOME/multikernel``,
by default ``~/.cache/multikernel``).
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from multikernel._files import whole_file, write_whole

VARIABLE = "MULTIKERNEL_DATA"
MANIFEST = "manifest.json"
_FORMAT = 1
_FETCHED = "fetched"
_REPLACE = "Replace the file by an undamaged copy"


class MissingDataset(ValueError):
    """No folder has the data set, and it cannot be fetched either."""


@dataclass(frozen=True)
class CatalogueEntry:
    """One data set of a manifest in `folder`, which may or may not be sound: see `verify`."""

    name: str
    folder: Path
    fields: Mapping[str, Any]  # what the manifest says of the set

    @property
    def path(self) -> Path:
        """The file, which is in the folder of the manifest itself."""
        file = self.fields.get("file")
        if not isinstance(file, str) or not file or Path(file).name != file:
            raise ValueError(
                f"data set {self.name!r}: 'file' must be the name of a file beside {self.folder / MANIFEST}; "
                f"got {file!r}. Correct the manifest."
            )
        return self.folder / file

    @property
    def sha256(self) -> str:
        """The checksum that the manifest promises."""
        promised = self.fields.get("sha256")
        if not isinstance(promised, str) or len(promised) != 64:
            raise ValueError(
                f"data set {self.name!r}: 'sha256' must be 64 hexadecimal digits in "
                f"{self.folder / MANIFEST}; got {promised!r}. Correct the manifest."
            )
        return promised.lower()

    def verify(self) -> None:
        """Require that the file is there and that its sha256 is the one promised."""
        promised = self.sha256
        if not self.path.is_file():
            raise ValueError(
                f"data set {self.name!r}: {self.path} is missing, although {self.folder / MANIFEST} lists "
                f"it. Put the file there, or set {VARIABLE} to a complete folder."
            )
        found = file_sha256(self.path)
        if found != promised:
            remedy = "Delete the file, and it is fetched again" if self.is_fetched else _REPLACE
            raise ValueError(
                f"data set {self.name!r}: {self.path} does not match its checksum; the manifest says sha256 "
                f"{promised}, the file has {found}. {remedy}."
            )

    @property
    def is_fetched(self) -> bool:
        """Whether the file is a copy of what was fetched over the network."""
        return _FETCHED in self.fields

    @property
    def fingerprint(self) -> str:
        """What identifies the content: the promised sha256, or of what was fetched its name there."""
        return str(self.fields[_FETCHED]) if self.is_fetched else self.sha256


def data_folders() -> list[Path]:
    """Return the folders that are searched, in order, whether or not they exist."""
    folders = [Path(named).expanduser()] if (named := os.environ.get(VARIABLE)) else []
    return [*folders, cache_folder()]


def cache_folder() -> Path:
    """Return the library's cache: ``$XDG_CACHE_HOME/multikernel``, by default ``~/.cache/multikernel``."""
    home = os.environ.get("XDG_CACHE_HOME")
    # The XDG specification has relative values ignored.
    root = Path(home) if home and Path(home).is_absolute() else Path.home() / ".cache"
    return root / "multikernel"


def read_catalogue() -> dict[str, CatalogueEntry]:
    """Return every data set listed in the folders; the first folder that lists a name has it."""
    catalogue: dict[str, CatalogueEntry] = {}
    for folder in data_folders():
        for name, fields in _read_manifest(folder).items():
            catalogue.setdefault(name, CatalogueEntry(name, folder, fields))
    return catalogue


def keep_fetched(
    name: str, arrays: Mapping[str, np.ndarray], fields: Mapping[str, Any], fingerprint: str
) -> None:
    """Put what was fetched over the network into the cache, with its sha256, so that damage is noticed later.

    The sum is that of what was fetched: it guards the copy, and says nothing of the source. A stop in between
    leaves the cache as it was. `fingerprint` identifies the content, the same before and after it was kept.
    """
    folder = cache_folder()
    path = folder / f"{name}.npz"
    with whole_file(path) as part:
        np.savez_compressed(part, **dict(arrays))  # type: ignore[arg-type]
    shapes = describe_arrays(arrays)
    own = {"file": path.name, "sha256": file_sha256(path), "arrays": shapes, _FETCHED: fingerprint}
    manifest = {"format": _FORMAT, "datasets": {**_read_manifest(folder), name: {**fields, **own}}}
    text = json.dumps(manifest, indent=1)
    write_whole(folder / MANIFEST, text.encode("utf-8"))


def describe_arrays(arrays: Mapping[str, np.ndarray]) -> dict[str, dict[str, Any]]:
    """Shape and dtype of each array, as a manifest has them."""
    return {key: {"shape": list(array.shape), "dtype": str(array.dtype)} for key, array in arrays.items()}


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file as 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_manifest(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    path = folder / MANIFEST
    if not path.is_file():
        if folder == cache_folder():
            return {}
        raise ValueError(
            f"{VARIABLE} must name a folder with a {MANIFEST}; got {str(folder)!r}, which has none. "
            f"Set {VARIABLE} to the folder of the data sets, or unset it."
        )
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} must be JSON; {error}. Replace it by an undamaged copy.") from error
    datasets = manifest.get("datasets") if isinstance(manifest, dict) else None
    sound = isinstance(datasets, dict) and all(isinstance(fields, dict) for fields in datasets.values())
    if not sound or manifest.get("format") != _FORMAT:
        raise ValueError(
            f"{path} must hold {{'format': {_FORMAT}, 'datasets': {{name: {{...}}}}}}; got something else. "
            "Replace it by a manifest of that format."
        )
    assert isinstance(datasets, dict)
    return datasets

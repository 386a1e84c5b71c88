"""The data of the studies: files that a user brings (``--data DIR``), else the library's data sets by name.

Sets that the library ships are taken from it even where a data folder has them: their numbers, and so the
stored results, are the same for everybody.

A file is ``DIR/<name>.npz`` with plain arrays: ``X`` (n, d) and ``y`` (n,), ``view_<name>`` (n, d) or
``K_<name>`` (n, n) for several views or kernels; `Study.data` says which a study reads.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from multikernel._files import write_whole
from multikernel.datasets import Dataset, dataset_fingerprint, load_dataset
from multikernel.datasets.catalogue import file_sha256, read_catalogue
from multikernel.datasets.loading import make_dataset
from multikernel.datasets.openml import OPENML
from multikernel.datasets.shipped import SHIPPED, load_shipped
from studies.study import Study

# In the environment, so that the processes of a run have it too.
VARIABLE = "MULTIKERNEL_STUDY_DATA"
_CHECKSUMS = "data.json"


def use_folder(folder: Path) -> None:
    """Look for data in a folder of the user first, from now on.

    Parameters
    ----------
    folder : Path
    """
    if not folder.is_dir():
        raise ValueError(
            f"--data must be a folder with files <name>.npz, or the word help; got {str(folder)!r}, which is "
            "no folder."
        )
    os.environ[VARIABLE] = str(folder.resolve())


def has_data(name: str) -> bool:
    """Whether a data set can be loaded without a network: the user brought it, or a data folder has it."""
    if user_file(name) is not None:
        return True
    try:
        return name in SHIPPED or not dataset_fingerprint(name).startswith("openml:")
    except ValueError:
        return False


def user_file(name: str) -> Path | None:
    """Return the file that the user brought for a data set, None if there is none."""
    folder = os.environ.get(VARIABLE)
    path = Path(folder) / f"{name}.npz" if folder else None
    return path if path is not None and path.is_file() else None


def load_data(name: str) -> Dataset:
    """Load a data set by name: what the user brought, what the library ships, what `load_dataset` finds.

    Parameters
    ----------
    name : str

    Returns
    -------
    Dataset
    """
    path = user_file(name)
    if path is None:
        return make_dataset(name, *load_shipped(name)) if name in SHIPPED else load_dataset(name)
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    except (ValueError, OSError) as error:
        raise ValueError(
            f"data set {name!r}: {path} must be an .npz file of plain arrays; NumPy says: {error} Save it "
            "with numpy.savez_compressed, without arrays of objects."
        ) from error
    return make_dataset(name, arrays, {"source": [str(path)]}, file_sha256(path))


def require_arrays(data: Dataset, names: Iterable[str]) -> None:
    """Raise a ValueError that names the arrays which a data set should have and has not.

    Parameters
    ----------
    data : Dataset
    names : iterable of str
    """
    wanted = list(names)
    missing = [name for name in wanted if name not in data.arrays]
    if missing:
        raise ValueError(
            f"data set {data.name!r} must have the arrays {', '.join(wanted)}; it lacks "
            f"{', '.join(missing)}. The option --data help says what they are."
        )


def checksums_of(names: Iterable[str], results: Path, *, fetch: bool = False) -> dict[str, str]:
    """Return what identifies the content of each data set.

    The checksums of the data by which the results in a folder were computed are kept beside them. Where a
    data set is not at hand, the kept one is taken: stored results can be shown without the data.

    Parameters
    ----------
    names : iterable of str
    results : Path
    fetch : bool, default=False
        Whether a set that would be fetched is at hand: something has to be computed.

    Returns
    -------
    dict of str to str
    """
    path = results / _CHECKSUMS
    kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {name: _checksum(name, kept, fetch) for name in sorted(set(names))}


def keep_checksums(checksums: dict[str, str], results: Path) -> None:
    """Keep the checksums of the data, but for files of the user, beside the results computed from them."""
    path = results / _CHECKSUMS
    kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    now = kept | {name: checksum for name, checksum in checksums.items() if user_file(name) is None}
    if now != kept:
        text = json.dumps(now, indent=1, sort_keys=True) + "\n"
        write_whole(path, text.encode())


def _checksum(name: str, kept: dict[str, str], fetch: bool) -> str:
    path = user_file(name)
    if path is not None:
        return file_sha256(path)
    if name in SHIPPED:
        return load_shipped(name)[2]
    if name in kept and name not in read_catalogue() and not (fetch and name in OPENML):
        return kept[name]
    return dataset_fingerprint(name)


def data_help(study: Study) -> str:
    """Return which files a study takes from the folder of ``--data``, and what must be in them."""
    if not study.data:
        return f"study {study.name!r} lists no files; any of its data sets may be given as <name>.npz."
    lines = [f"Files of {study.name!r} in the folder of --data, each an .npz file (numpy.savez_compressed):"]
    for file in study.data:
        lines += ["", f"{file.name}.npz: {file.what}"]
        lines += [f"  {array}: {meaning}" for array, meaning in file.arrays.items()]
    return "\n".join(lines)

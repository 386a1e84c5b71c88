"""Ready-made kernels of an archive, whatever is wrong with them: a reader for fits would refuse some."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

_STACK = "K"
_PREFIXES = ("kernel_", "K_")


def kernels_in(
    path: Path, target: str | None = None
) -> tuple[dict[str, np.ndarray], np.ndarray | None] | None:
    """The kernels of an .npz file, by name, and its target.

    Parameters
    ----------
    path : Path
    target : str, optional
        The name of the array of targets.

    Returns
    -------
    (dict of str to ndarray, ndarray or None) or None
        The arrays ``kernel_NAME`` and ``K_NAME``, or the layers of a stack ``K`` (n, n, m) with their
        ``kernel_names``; None where the file is no archive or holds no kernels.

    Raises
    ------
    ValueError
        If there are kernels, but no such target.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files if _is_wanted(key, target)}
            known = list(file.files)
    except (OSError, ValueError, TypeError, AttributeError, EOFError, zipfile.BadZipFile):
        return None  # who reads tables says what is wrong with it
    kernels = _by_name(arrays)
    if not kernels:
        return None
    if target is not None and target not in arrays:
        raise ValueError(
            f"{path.name} has no array {target!r} for the target; it has {', '.join(sorted(known))}."
        )
    return kernels, None if target is None else arrays[target]


def _is_wanted(key: str, target: str | None) -> bool:
    return key in (_STACK, "kernel_names", target) or key.startswith(_PREFIXES)


def _by_name(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    single = {
        key.removeprefix(prefix): K
        for prefix in _PREFIXES
        for key, K in arrays.items()
        if key.startswith(prefix) and key != "kernel_names"
    }
    stack = arrays.get(_STACK)
    if single or stack is None:
        return single
    if stack.ndim != 3:
        return {_STACK: stack}
    names = [str(name) for name in arrays.get("kernel_names", np.array([])).ravel()]
    if len(names) != stack.shape[2] or len(set(names)) < len(names):
        names = [f"kernel-{place}" for place in range(stack.shape[2])]
    return {name: stack[:, :, place] for place, name in enumerate(names)}

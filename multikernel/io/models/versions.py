"""Which versions wrote a model file, and whether the ones that read it go with them."""

from __future__ import annotations

import platform
import warnings
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from .errors import ModelFileError, ModelVersionWarning, shown

FORMAT = "multikernel model"
FORMAT_VERSION = 2  # 1: classes by their modules in multikernel 0.1
_PACKAGES = ("multikernel", "scikit-learn", "numpy", "scipy", "pandas", "skops")
_WATCHED = ("multikernel", "scikit-learn")  # a change of these may change what a model is


def current_versions() -> dict[str, str]:
    """The versions that a file is stamped with."""
    return {"python": platform.python_version(), **{name: _version(name) for name in _PACKAGES}}


def check_format(about: Any) -> None:
    """Refuse a file of another format, or of a newer version of it."""
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise ModelFileError("is no model file. Give a file that save_model has written.")
    number = about.get("format_version")
    if type(number) is not int or number < 1:
        raise ModelFileError(f"has the format version {shown(number)}, which there is not. Do not use it.")
    if number > FORMAT_VERSION:
        written = _stamp(about, "multikernel")
        raise ModelFileError(
            f"has format version {number}, and this multikernel reads up to {FORMAT_VERSION}. Upgrade "
            f"multikernel to {written} or later."
        )


def warn_of_versions(about: dict[str, Any], stacklevel: int) -> None:
    """Warn where multikernel or scikit-learn is another release than the one that saved the model."""
    others = [
        f"{name} {_stamp(about, name)} (here {_version(name)})"
        for name in _WATCHED
        if _release(_stamp(about, name)) != _release(_version(name))
    ]
    if others:
        warnings.warn(
            f"this model was saved with {' and '.join(others)}. Its predictions may differ, or fail: compare "
            "some of them with known ones, or install that version, or fit the model again.",
            ModelVersionWarning,
            stacklevel=stacklevel + 1,
        )


def _stamp(about: dict[str, Any], name: str) -> str:
    stamps = about.get("versions")
    found = stamps.get(name) if isinstance(stamps, dict) else None
    return shown(found).strip("'") if isinstance(found, str) else "an unknown version"


def _release(text: str) -> tuple[str, ...]:
    return tuple(text.split(".")[:2])


@cache
def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"

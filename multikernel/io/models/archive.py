"""The file around a model: a zip archive without compression whose last bytes are the checksum of the rest.

Nothing is compressed, so that no member is larger than the file, and nothing is ever unpacked to disk. The
errors of model files and the versions that a file is stamped with are here, too.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import platform
import tokenize
import warnings
import zipfile
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

_SHOWN = 120
_MARK = b"multikernel model, sha256 "
_TAIL = len(_MARK) + 64
_EPOCH = (1980, 1, 1, 0, 0, 0)
_RESTORE = "Copy it again from where it came, or save the model again"
FORMAT = "multikernel model"
# 1: classes by their modules in multikernel 0.1; 2: estimators had the storage of kernels; 3: parameters as
# before the common vocabulary
FORMAT_VERSION = 5
_PACKAGES = ("multikernel", "scikit-learn", "numpy", "scipy", "pandas", "skops")
_WATCHED = ("multikernel", "scikit-learn")  # a change of these may change what a model is


class ModelFileError(ValueError):
    """A model cannot be saved, or a file cannot be loaded; the message says why and what helps."""


class ModelVersionWarning(UserWarning):
    """A model was saved by another version of a library than the one that loads it."""


def shown(text: Any) -> str:
    """Text from a file as a message may show it: quoted, escaped, not endless."""
    quoted = ascii(str(text))
    return quoted if len(quoted) <= _SHOWN else f"{quoted[:_SHOWN]}…"


# --- the archive --------------------------------------------------------------------------------------------


def pack(members: dict[str, bytes]) -> bytes:
    """The bytes of an archive; the same members give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression=zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content)
        archive.comment = b" " * _TAIL
    data = buffer.getvalue()[:-_TAIL]
    return data + _MARK + hashlib.sha256(data).hexdigest().encode()


def unpack(data: bytes) -> dict[str, bytes]:
    """The members of an archive that `pack` has made, after its checksum has been compared."""
    _require_whole(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _read_members(archive)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"is no readable archive ({shown(error)}). {_RESTORE}.") from error


def _require_whole(data: bytes) -> None:
    if not data:
        raise ModelFileError(f"is empty. {_RESTORE}.")
    if not data.startswith(b"PK\x03\x04"):
        raise ModelFileError("is no model file. Give a file that save_model has written.")
    tail = data[-_TAIL:]
    if not tail.startswith(_MARK):
        raise ModelFileError(
            f"does not end as model files do: it is cut off, or save_model has not written it. {_RESTORE}."
        )
    found = hashlib.sha256(data[:-_TAIL]).hexdigest().encode()
    if found != tail[len(_MARK) :]:
        raise ModelFileError(f"is damaged or was changed: its checksum does not match. {_RESTORE}.")


def _read_members(archive: zipfile.ZipFile) -> dict[str, bytes]:
    members: dict[str, bytes] = {}
    for entry in archive.infolist():
        if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
            raise ModelFileError(
                f"holds the compressed part {shown(entry.filename)}, which save_model never writes: it "
                "may be made to fill the memory. Do not use it."
            )
        if entry.filename in members:
            raise ModelFileError(f"holds {shown(entry.filename)} twice. It was tampered with: do not use it.")
        members[entry.filename] = archive.read(entry)
    return members


def check_array(name: str, content: bytes) -> None:
    """Refuse a saved array that announces another size than it has, or objects."""
    stream = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(stream)
        reader = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, _, dtype = reader(stream)
    except (ValueError, KeyError, EOFError, TypeError, SyntaxError, tokenize.TokenError) as error:
        raise ModelFileError(f"holds {shown(name)} without a readable header. {_RESTORE}.") from error
    if dtype.hasobject:
        raise ModelFileError(f"holds pickled objects in the array {shown(name)}. Do not use this file.")
    if dtype.itemsize == 0 and 0 not in shape:  # any number of items in no bytes
        raise ModelFileError(f"holds {shown(name)}, whose items have no size. Do not use this file.")
    announced = dtype.itemsize * math.prod(map(int, shape))
    if announced != len(content) - stream.tell():
        raise ModelFileError(
            f"holds {shown(name)}, which announces {announced} bytes and has "
            f"{len(content) - stream.tell()}. {_RESTORE}."
        )


def parse_object(content: bytes, what: str, remedy: str) -> dict[str, Any]:
    """The object of a JSON text; `what` begins the message where it is none."""
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{what} is no JSON. {remedy}.") from error
    if not isinstance(parsed, dict):
        raise ModelFileError(f"{what} is no JSON object. {remedy}.")
    return parsed


# --- versions -----------------------------------------------------------------------------------------------


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

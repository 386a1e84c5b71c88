"""Between a model and the bytes of its file."""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from typing import Any, NamedTuple

from sklearn.exceptions import InconsistentVersionWarning

from .archive import check_array, pack, unpack
from .errors import ModelFileError, shown
from .grammar import check_tree
from .names import PACKAGE, file_name
from .preparing import prepare
from .schema import check_uses, locate, members_of, names_in, tidy
from .trusted import trusted_places, trusted_uses
from .upgrades import present_name, rename
from .versions import FORMAT, FORMAT_VERSION, check_format, current_versions

ABOUT = "multikernel.json"
SCHEMA = "schema.json"


def _skops() -> Any:
    """skops.io, when it is needed: its import takes as long as that of half of this library."""
    import skops.io

    return skops.io


def encode(model: Any) -> bytes:
    """The bytes of a model file."""
    prepared = prepare(model)
    try:
        raw = _skops().dumps(prepared)
    except RecursionError as error:
        raise ModelFileError("the model is nested too deeply to be saved.") from error
    except Exception as error:  # whatever an attribute of unknown type does when it is asked for its state
        raise ModelFileError(
            f"the model holds something that cannot be saved: {shown(error)}. Parameters and attributes must "
            "be numbers, strings, arrays, containers of these, estimators or kernels."
        ) from error
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        written = {name: archive.read(name) for name in archive.namelist()}
    schema, renamed = tidy(json.loads(written.pop(SCHEMA)))
    members = {
        ABOUT: _json({"format": FORMAT, "format_version": FORMAT_VERSION, **_facts(model)}),
        SCHEMA: _json(schema),
        **{new: written[old] for old, new in renamed.items()},
    }
    return pack(members)


class OpenFile(NamedTuple):
    """A file whose form has been checked."""

    about: dict[str, Any]  # what it says of itself
    schema: dict[str, Any]  # with the names of the present format
    parts: dict[str, bytes]  # the arrays and bytes that the schema reads

    @property
    def version(self) -> int:
        """Of the format."""
        return self.about["format_version"]


def open_file(data: bytes) -> OpenFile:
    """The content of a file; all of its parts are there and no others."""
    members = unpack(data)
    for name in (ABOUT, SCHEMA):
        if name not in members:
            raise ModelFileError(f"has no part {name}. Give a file that save_model has written.")
    about = _parse(members.pop(ABOUT), ABOUT)
    check_format(about)
    schema = _parse(members.pop(SCHEMA), SCHEMA)
    check_tree(schema, {name: len(content) for name, content in members.items()})
    named = members_of(schema)
    if named != members.keys():
        different = sorted(named ^ members.keys())[0]
        state = "misses" if different in named else "has in excess"
        raise ModelFileError(f"{state} the part {shown(different)}. Copy it again, or save the model again.")
    for name, content in members.items():
        if name.endswith(".npy"):
            check_array(name, content)
    about["model"] = present_name(str(about.get("model")), about["format_version"])
    rename(schema, about["format_version"])
    return OpenFile(about, schema, members)


def unknown_names(file: OpenFile, trusted: set[str]) -> list[str]:
    """Names in a file that neither skops nor this package nor the caller trusts.

    Classes of this package are known by their names in files only, not by the modules where they are.
    """
    check_uses(file.schema, trusted, file.version)
    # skops looks at the names alone: it need not be given the arrays
    data = pack({SCHEMA: _json(file.schema), **dict.fromkeys(file.parts, b"")})
    named = set(_guarded(lambda: _skops().get_untrusted_types(data=data)))
    ours = {name for name in names_in(file.schema) if name.startswith(f"{PACKAGE}.")}
    return sorted((named | ours) - trusted_uses(file.version).keys() - trusted)


def decode(file: OpenFile, trusted: set[str]) -> Any:
    """The model in a file without unknown names; what nobody trusts is not looked up."""

    def read() -> Any:
        schema = json.loads(_json(file.schema))
        locate(schema, file.version)
        names = names_in(schema) & (trusted_places() | trusted)
        return _skops().loads(pack({SCHEMA: _json(schema), **file.parts}), trusted=sorted(names))

    with warnings.catch_warnings():
        # of scikit-learn's own parts; ModelVersionWarning speaks for the whole
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        return _guarded(read)


def _guarded(read: Any) -> Any:
    """What skops makes of a file, which may be made up: anything it raises is an error of the file."""
    try:
        return read()
    except Exception as error:
        raise ModelFileError(
            f"cannot be read: {shown(f'{type(error).__name__}: {error}')}. If it needs a module of yours, "
            "make it importable; else it was saved by another version, or tampered with."
        ) from error


def _facts(model: Any) -> dict[str, Any]:
    """What `describe_model` tells of a model."""
    inner = _inmost(model)
    return {
        "model": file_name(type(model)),
        "views": [str(name) for name in getattr(inner, "view_names_", [])],
        "classes": [str(label) for label in getattr(inner, "classes_", [])],
        "versions": current_versions(),
    }


def _inmost(model: Any) -> Any:
    """The estimator that predicts, within a search and a pipeline."""
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif hasattr(model, "steps") and model.steps:
            model = model.steps[-1][1]
        else:
            return model


def _json(content: Any) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()


def _parse(content: bytes, name: str) -> Any:
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"has a part {name} that is no JSON. Save the model again.") from error
    if not isinstance(parsed, dict):
        raise ModelFileError(f"has a part {name} that is no JSON object. Save the model again.")
    return parsed

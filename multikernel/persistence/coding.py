"""Between a model and the bytes of its file."""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from typing import Any

from sklearn.exceptions import InconsistentVersionWarning

from .archive import check_array, pack, unpack
from .errors import ModelFileError, shown
from .grammar import check_tree
from .preparing import prepare
from .schema import check_uses, members_of, tidy
from .trusted import trusted_uses
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


def open_file(data: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a file says of itself, and its schema; all of its parts are there and no others."""
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
    return about, schema


def needed_names(data: bytes, schema: dict[str, Any], trusted: set[str]) -> tuple[set[str], list[str]]:
    """Names in a file that skops does not trust by itself.

    Returns
    -------
    allowed : set of str
        Those that this package or the caller trusts.
    unknown : list of str
        The others.
    """
    check_uses(schema, trusted)
    named = set(_guarded(lambda: _skops().get_untrusted_types(data=data)))
    unknown = named - trusted_uses().keys() - trusted
    return named - unknown, sorted(unknown)


def decode(data: bytes, names: set[str]) -> Any:
    """The model; `names` and what skops trusts are looked up, others are not."""
    with warnings.catch_warnings():
        # of scikit-learn's own parts; ModelVersionWarning speaks for the whole
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        return _guarded(lambda: _skops().loads(data, trusted=sorted(names)))


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
    kind = type(model)
    inner = _inmost(model)
    return {
        "model": f"{kind.__module__}.{kind.__qualname__}",
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

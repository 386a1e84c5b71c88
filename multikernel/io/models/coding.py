"""Between a model and the bytes of its file: written, tidied, checked and read.

skops looks up names in a file only if they are trusted. It trusts scikit-learn's estimators, NumPy's arrays
and plain containers by itself; to these come the classes of this package (module ``names``) and those here,
each with the one way in which a file may use it. A class on this list is made without calling anything but
``__new__`` and gets its attributes; a stand-in is called with parts that it checks; a function is handed
over, never called (see also the module ``grammar``).
"""

from __future__ import annotations

import io
import json
import re
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

import sklearn.calibration
import sklearn.model_selection
import sklearn.multiclass
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.metrics import _scorer as scorers
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.utils import Bunch
from sklearn.utils import _metadata_requests as requests

from multikernel._validation import as_list

from .archive import (
    FORMAT,
    FORMAT_VERSION,
    ModelFileError,
    check_array,
    check_format,
    current_versions,
    pack,
    parse_object,
    shown,
    unpack,
)
from .grammar import LABELS, Tree, name_in, nodes
from .names import CALLED, OBJECTS, PACKAGE, file_name, find, into_file
from .preparing import prepare
from .upgrades import Upgraded, changed_since, present_name, rename, upgrade

ABOUT = "multikernel.json"
SCHEMA = "schema.json"
OLDEST_PROTOCOL = 2  # of skops: no older one has written a file of this format
_MEMBER = re.compile(r"[0-9]{1,9}\.(npy|bin)")
# Ways of skops to use a name without calling it; a partial is made, not called.
_CALLERS_USES = ("ObjectNode", "FunctionNode", "TupleNode", "PartialNode", "TreeNode")
_SPLITTERS = (
    "GroupKFold", "GroupShuffleSplit", "KFold", "LeaveOneOut", "PredefinedSplit", "RepeatedKFold",
    "RepeatedStratifiedKFold", "ShuffleSplit", "StratifiedGroupKFold", "StratifiedKFold",
    "StratifiedShuffleSplit", "TimeSeriesSplit",
)  # fmt: skip
_SCORERS = ("_MultimetricScorer", "_PassthroughScorer", "_Scorer")
# What scikit-learn's meta-estimators keep within, where it has them: attributes, no code.
_INNER = (
    (sklearn.calibration, "_CalibratedClassifier"),
    (sklearn.calibration, "_SigmoidCalibration"),
    (sklearn.calibration, "_TemperatureScaling"),
    (sklearn.multiclass, "_ConstantPredictor"),
)


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
    about = parse_object(members.pop(ABOUT), f"has a part {ABOUT} that", "Save the model again")
    check_format(about)
    schema = parse_object(members.pop(SCHEMA), f"has a part {SCHEMA} that", "Save the model again")
    Tree(schema, {name: len(content) for name, content in members.items()}).check()
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
    """The model in a file without unknown names; names that are not trusted are not imported."""

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


# --- the tree of a model as skops writes it -----------------------------------------------------------------


def tidy(schema: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """A new schema with numbers for the addresses in memory, each object written once and named for files.

    With it, the names in it of the members, by those that skops gave them.
    """
    numbers: dict[int, int] = {}
    renamed: dict[str, str] = {}
    result: dict[str, Any] = {}
    waiting: list[tuple[Any, Any, Any]] = [(result, "schema", schema)]  # parts, and where they go when tidy
    while waiting:
        owner, place, part = waiting.pop()
        inner: dict[Any, Any] = {}
        if isinstance(part, list):
            owner[place] = [None] * len(part)
            inner = dict(enumerate(part))
        elif not isinstance(part, dict):
            owner[place] = part
        elif "__loader__" in part:
            owner[place], inner = _tidy_node(part, numbers, renamed)
        else:
            owner[place], inner = dict.fromkeys(part), part
        waiting.extend((owner[place], key, inner[key]) for key in reversed(inner))
    return result["schema"], renamed


def _tidy_node(
    node: dict[str, Any], numbers: dict[int, int], renamed: dict[str, str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A node as it is saved, its parts left open, and these parts."""
    module, name = into_file(node["__module__"], node["__class__"])
    made = {"__class__": name, "__module__": module, "__loader__": node["__loader__"]}
    address = node.get("__id__")
    if address is not None and node["__loader__"] != "JsonNode":
        if address in numbers:  # skops looks up what has a number that it has seen
            return {**made, "__id__": numbers[address]}, {}
        numbers[address] = len(numbers) + 1
    parts = {key: part for key, part in node.items() if key not in (*LABELS, "__id__", "file")}
    made |= dict.fromkeys(parts)
    if address in numbers:
        made["__id__"] = numbers[address]
    if "file" in node:
        suffix = node["file"].rpartition(".")[2]
        made["file"] = renamed.setdefault(node["file"], f"{len(renamed)}.{suffix}")
    return made, parts


def members_of(schema: Any) -> set[str]:
    """Names of the members that a schema reads, each of the plain form that `tidy` gives."""
    names = {node["file"] for node in nodes(schema) if "file" in node}
    for name in names:
        if not isinstance(name, str) or not _MEMBER.fullmatch(name):
            raise ModelFileError(f"names a part {shown(name)}, which no model file has. Do not use it.")
    return names


def locate(schema: Any, version: int) -> None:
    """Give the classes of this package in a checked schema the modules where skops finds them, in place."""
    changed = changed_since(version)
    for node in list(nodes(schema)):
        name = name_in(node)
        if name in changed:
            upgrade(node, version)
        elif (kind := find(name)) is not None:
            node["__module__"], node["__class__"] = kind.__module__, kind.__name__


# --- what a file may name, and how it may be used -----------------------------------------------------------


@cache
def trusted_uses(version: int) -> dict[str, str]:
    """The loader of skops with which each name that this package trusts may be used.

    A file of an earlier version of the format may name classes that are no longer there.
    """
    uses = {f"{PACKAGE}.{name}": "ObjectNode" for name in OBJECTS}
    uses.update({f"{PACKAGE}.{name}": "ConstructorFromReduceNode" for name in CALLED})
    uses.update(dict.fromkeys(changed_since(version), "ObjectNode"))
    uses.update({file_name(cls): "ObjectNode" for cls in _classes()})
    uses[file_name(range)] = "ConstructorFromReduceNode"
    uses.update({file_name(get_scorer(name)._score_func): "FunctionNode" for name in get_scorer_names()})
    uses["numpy.dtype"] = "DTypeNode"
    uses[file_name(Bunch)] = "DictNode"
    return uses


def trusted_places() -> set[str]:
    """The full names, as skops knows them, of what this package trusts: by the modules of today."""
    ours = (*OBJECTS.values(), *CALLED.values(), Upgraded)
    others = (name for name in trusted_uses(FORMAT_VERSION) if not name.startswith(f"{PACKAGE}."))
    return {name_of(cls) for cls in ours}.union(others)


def name_of(thing: Any) -> str:
    """The name under which skops asks for a class or function; a string is that name already."""
    if isinstance(thing, str):
        return thing
    if not hasattr(thing, "__name__") or not hasattr(thing, "__module__"):
        raise TypeError(f"trusted must hold classes, functions or their full names; got {thing!r}.")
    return f"{thing.__module__}.{thing.__name__}"


def trusted_names(given: Iterable[Any]) -> set[str]:
    """The names that a caller trusts beyond this package's own."""
    listed = (
        [given] if isinstance(given, str | type) else as_list("trusted", given, "classes, functions or names")
    )
    return {name_of(thing) for thing in listed}


def names_in(schema: Any) -> set[str]:
    """All names in a schema."""
    return {name_in(node) for node in nodes(schema)}


def check_uses(schema: Any, trusted: set[str], version: int) -> None:
    """Refuse a schema that uses a trusted name in another way than the one it is trusted for.

    What the caller trusts may be handed over or be given attributes, not be called on loading.
    """
    protocol = schema.get("protocol") if isinstance(schema, dict) else None
    if type(protocol) is not int or protocol < OLDEST_PROTOCOL:
        raise ModelFileError(
            f"claims protocol {shown(protocol)} of skops, model files {OLDEST_PROTOCOL} or more. It was "
            "not made by save_model: do not use it."
        )
    ours = trusted_uses(version)
    for node in nodes(schema):
        name = name_in(node)
        allowed = (ours[name],) if name in ours else _CALLERS_USES if name in trusted else None
        if allowed is not None and node["__loader__"] not in allowed:
            raise ModelFileError(
                f"uses {shown(name)} as {shown(node['__loader__'])}, which model files never do. It was "
                "tampered with, or holds a class that cannot be saved: do not use it."
            )


def _classes() -> Iterator[type]:
    yield from (getattr(sklearn.model_selection, name) for name in _SPLITTERS)
    yield from (getattr(scorers, name) for name in _SCORERS)
    yield from (getattr(module, name) for module, name in _INNER if hasattr(module, name))
    yield from (requests.MetadataRequest, requests.MethodMetadataRequest)

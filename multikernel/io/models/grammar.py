"""What the tree of a model may look like, checked before skops reads it.

skops looks up trusted names only, but it calls some of what it finds with what stands in the file: the types
of the keys of a dict, whatever answers to ``keys()`` or ``__array__`` where a dict or an array is expected.
And it walks through all references of a tree, so that a small file can keep it busy for ever. Here every
part is held to the form in which `save_model` writes it, and references and lengths to what a model needs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .archive import ModelFileError, shown

LABELS = ("__class__", "__module__", "__loader__")
MOST_VISITS = 10**6  # of nodes, with each reference followed; skops visits about 200 000 in a second
MOST_NUMBERS = 10**6  # in all ranges of a file together
_COPIES = 16  # how many times as much as stands in the file the parts of stand-ins may come to
_MOST_POOL = 64  # words of the pool from which a random generator starts; NumPy takes 4

_TUPLE, _DICT, _ARRAY = ("TupleNode",), ("DictNode",), ("NdArrayNode",)
_STATE = ("DictNode", "TupleNode", "ListNode", "JsonNode")
# The parts of each kind of node, and the kinds that they may be of; kinds that are not here are refused.
_PARTS: dict[str, dict[tuple[str, ...], tuple[str, ...]]] = {
    "BytearrayNode": {},
    "BytesNode": {},
    "ConstructorFromReduceNode": {("content",): _TUPLE},
    "DTypeNode": {("content",): _ARRAY},
    "DefaultDictNode": {("content", "main"): _DICT, ("content", "default_factory"): ("TypeNode", "JsonNode")},
    "DictNode": {("key_types",): ("ListNode",)},
    "FunctionNode": {},
    "JsonNode": {},
    "ListNode": {},
    "LossNode": {("content",): _STATE, ("__reduce__", "args"): _TUPLE},
    "MaskedArrayNode": {("content", "data"): _ARRAY, ("content", "mask"): _ARRAY},
    "NdArrayNode": {},
    "ObjectNode": {("content",): _STATE},
    "PartialNode": {
        ("content", "func"): ("FunctionNode", "TypeNode", "PartialNode"),
        ("content", "args"): _TUPLE,
        ("content", "kwds"): _DICT,
        ("content", "namespace"): ("DictNode", "JsonNode"),
    },
    "RandomGeneratorNode": {("content", "bit_generator"): _DICT, ("content", "seed_seq"): _DICT},
    "RandomStateNode": {("content",): _DICT},
    "SetNode": {},
    "SliceNode": {},
    "TreeNode": {("content",): _STATE, ("__reduce__", "args"): _TUPLE},
    "TupleNode": {},
    "TypeNode": {},
}
_NUMBERS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_FLOATS = ("float16", "float32", "float64", "longdouble", "complex64", "complex128", "clongdouble")
_SCALARS = {f"numpy.{name}" for name in (*_NUMBERS, *_FLOATS, "longlong", "ulonglong", "str_", "bytes_")} | {
    "numpy.bool_",
    "numpy.datetime64",
    "numpy.timedelta64",
}
_KEYS = _SCALARS | {f"builtins.{name}" for name in ("str", "int", "float", "bool")}


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every node of a schema, in order."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if "__loader__" in part:
                yield part
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)


def name_in(node: dict[str, Any]) -> str:
    """The name that a node uses."""
    return f"{node.get('__module__')}.{node.get('__class__')}"


def is_written_out(node: dict[str, Any]) -> bool:
    """Whether a node is more than a reference; one without parts, such as a type, may be either."""
    return any(key not in LABELS and key not in ("__id__", "protocol", "_skops_version") for key in node)


class Tree:
    """The nodes of a schema, with what each number in it refers to; `sizes` are the bytes of the members."""

    def __init__(self, schema: dict[str, Any], sizes: dict[str, int]) -> None:
        self._schema = schema
        self._sizes = sizes
        self._files: set[str] = set()
        self._numbered: dict[int, dict[str, Any]] = {}
        self._copied = 0

    def check(self) -> None:
        """Refuse a tree that no model has."""
        everything = list(nodes(self._schema))
        for node in everything:
            self._note(node)
        ranged = 0
        for node in everything:
            if node.get("__id__") is None or is_written_out(node):  # else it is a reference
                self._check_parts(node)
                ranged += self._check_one(node)
        if ranged > MOST_NUMBERS:
            raise _refusal(f"holds ranges of {ranged} numbers, where {MOST_NUMBERS} are the most")
        visits = self._visits()
        if visits > MOST_VISITS + 50 * len(everything):
            raise _refusal(f"has {len(everything)} parts that refer to each other {visits} times")
        present = sum(len(str(node.get("content"))) for node in everything if _is(node, "JsonNode"))
        if self._copied > _COPIES * (len(everything) + present + sum(self._sizes.values())) + 10**6:
            raise _refusal("uses the same parts again and again, which would fill the memory")

    def _note(self, node: dict[str, Any]) -> None:
        """What has a number is written out once, and is of one kind wherever it is referred to."""
        if not all(isinstance(node.get(label), str) for label in LABELS):
            raise _refusal("has a part without a name")
        if node["__loader__"] not in _PARTS:
            raise _refusal(
                f"uses {shown(name_in(node))} as {shown(node['__loader__'])}, which model files never do"
            )
        number = node.get("__id__")
        if number is None:
            return
        if type(number) is not int or number < 1:
            raise _refusal(f"has a part with the number {shown(number)}")
        known = self._numbered.setdefault(number, node)
        if any(known[label] != node[label] for label in LABELS):
            raise _refusal(f"has two kinds of parts with the number {number}")
        if is_written_out(node):
            if is_written_out(known) and known is not node:
                raise _refusal(f"has two parts with the number {number}")
            self._numbered[number] = node

    def _resolved(self, node: Any) -> Any:
        number = node.get("__id__") if isinstance(node, dict) else None
        return node if number is None else self._numbered[number]

    def _check_parts(self, node: dict[str, Any]) -> None:
        for path, kinds in _PARTS[node["__loader__"]].items():
            part = node
            for step in path:
                part = part.get(step) if isinstance(part, dict) else None  # type: ignore[assignment]
            if part is None and node["__loader__"] == "ObjectNode":
                continue
            if not isinstance(part, dict) or part.get("__loader__") not in kinds:
                raise _refusal(f"has something else than expected in a {shown(node['__loader__'])}")

    def _check_one(self, node: dict[str, Any]) -> int:
        """The rules of single kinds; the length where the node is a range."""
        if _is(node, "DictNode"):
            self._check_keys(node)
        elif _is(node, "RandomGeneratorNode"):
            self._check_pool(node)
        elif _is(node, "NdArrayNode"):
            self._check_array(node)
        if "file" in node:
            self._check_file(node)
        if name_in(node) == "builtins.range":
            return self._length_of_range(node)
        return 0

    def _check_keys(self, node: dict[str, Any]) -> None:
        if not isinstance(node.get("content"), dict):
            raise _refusal("has a dict without content")
        for kind in _content(self._resolved(node["key_types"])):
            if not isinstance(kind, dict):
                raise _refusal("has a dict without content")
            if not _is(kind, "TypeNode") or name_in(kind) not in _KEYS:
                raise _refusal(
                    f"uses {shown(name_in(kind))} for the keys of a dict, which model files never do"
                )

    def _check_pool(self, node: dict[str, Any]) -> None:
        seed = self._resolved(node["content"]["seed_seq"]).get("content")
        pool = seed.get("pool_size") if isinstance(seed, dict) else None
        if pool is not None and not 0 < _integer(self._resolved(pool)) <= _MOST_POOL:
            raise _refusal("has a random generator with a pool of unusual size")

    def _check_array(self, node: dict[str, Any]) -> None:
        if name_in(node) != "numpy.ndarray" and name_in(node) not in _SCALARS:
            raise _refusal(f"makes {shown(name_in(node))} of an array")
        if node.get("type") == "json" and len(_content(self._resolved(node.get("shape")))) != 1:
            raise _refusal("has an array of objects in another form than save_model writes")

    def _check_file(self, node: dict[str, Any]) -> None:
        name, suffix = node["file"], ".npy" if _is(node, "NdArrayNode") else ".bin"
        if not isinstance(name, str) or not name.endswith(suffix):
            raise _refusal(f"names a part {shown(name)} where one that ends with {suffix} is expected")
        if name in self._files:
            raise _refusal(f"reads the part {shown(name)} twice")
        self._files.add(name)

    def _length_of_range(self, node: dict[str, Any]) -> int:
        if not _is(node, "ConstructorFromReduceNode"):
            return 0  # refused for its use
        limits = [_integer(self._resolved(limit)) for limit in _content(self._resolved(node["content"]))]
        if not 1 <= len(limits) <= 3 or 0 in limits[2:]:
            raise _refusal("has a range without limits")
        start, stop, step = (0, limits[0], 1) if len(limits) == 1 else (*limits, 1)[:3]
        return max(0, (stop - start) // step)

    def _visits(self) -> int:
        """How many nodes a walk through all references visits; adds up what stand-ins copy on the way.

        Without recursion, since references may follow each other as far as the file is long.
        """
        measured: dict[int, tuple[int, int] | None] = {}  # visits and what is held; None while it is open
        waiting = [self._schema]
        while waiting:
            node = waiting[-1]
            if measured.get(id(node)) is not None:
                waiting.pop()
                continue
            measured[id(node)] = None
            children = [self._resolved(child) for child in _nearest(node)]
            found = [measured[id(child)] for child in children if id(child) in measured]
            if None in found:
                raise _refusal("has a part that refers back to itself")
            if len(found) < len(children):
                waiting.extend(child for child in children if id(child) not in measured)
                continue
            visits, held = (sum(column) for column in zip((1, self._own(node)), *found, strict=True))
            if _is(node, "ConstructorFromReduceNode"):
                self._copied += held
            measured[id(node)] = (visits, held)
        return measured[id(self._schema)][0]  # type: ignore[index]

    def _own(self, node: dict[str, Any]) -> int:
        """What a node holds itself, about in bytes."""
        file, text = node.get("file"), node.get("content")
        return 1 + self._sizes.get(str(file), 0) + (len(text) if isinstance(text, str) else 0)


def _nearest(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The nodes within a node that are within no other."""
    waiting = list(node.values())
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict) and "__loader__" in part:
            yield part
        elif isinstance(part, dict | list):
            waiting.extend(part.values() if isinstance(part, dict) else part)


def _is(node: Any, loader: str) -> bool:
    return isinstance(node, dict) and node.get("__loader__") == loader


def _content(node: Any) -> list[Any]:
    content = node.get("content") if isinstance(node, dict) else None
    if not isinstance(content, list):
        raise _refusal("has a list without content")
    return content


def _integer(node: Any) -> int:
    try:
        value = json.loads(node["content"]) if _is(node, "JsonNode") else None
    except (ValueError, TypeError, KeyError, RecursionError):
        value = None
    if type(value) is not int:
        raise _refusal("has something else than a number where one is expected")
    return value


def _refusal(what: str) -> ModelFileError:
    return ModelFileError(
        f"{what}. It was tampered with, or holds something that cannot be saved: do not use it."
    )

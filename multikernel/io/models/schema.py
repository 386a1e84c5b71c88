"""The tree of a model as skops writes it: tidied before it is saved, checked before it is read."""

from __future__ import annotations

import re
from typing import Any

from .errors import ModelFileError, shown
from .grammar import LABELS, name_in, nodes
from .names import find, into_file
from .trusted import trusted_uses
from .upgrades import changed_since, upgrade

OLDEST_PROTOCOL = 2  # of skops: no older one has written a file of this format
_MEMBER = re.compile(r"[0-9]{1,9}\.(npy|bin)")
# Ways of skops to use a name without calling it; a partial is made, not called.
_CALLERS_USES = ("ObjectNode", "FunctionNode", "TupleNode", "PartialNode", "TreeNode")


def tidy(schema: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The schema with numbers for the addresses in memory, each object written once and named for files.

    Returns
    -------
    schema : dict
        A new one.
    renamed : dict
        From the names of the members that skops gave to those in the new schema.
    """
    numbers: dict[int, int] = {}
    renamed: dict[str, str] = {}

    def tidied(node: Any) -> Any:
        if isinstance(node, list):
            return [tidied(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "__loader__" not in node:
            return {key: tidied(value) for key, value in node.items()}
        module, name = into_file(node["__module__"], node["__class__"])
        labels = {"__class__": name, "__module__": module, "__loader__": node["__loader__"]}
        address = node.get("__id__")
        if address is not None and node["__loader__"] != "JsonNode":
            if address in numbers:  # skops looks up what has a number that it has seen
                return {**labels, "__id__": numbers[address]}
            numbers[address] = len(numbers) + 1
        apart = (*LABELS, "__id__", "file")
        result = {**labels, **{key: tidied(value) for key, value in node.items() if key not in apart}}
        if address in numbers:
            result["__id__"] = numbers[address]
        if "file" in node:
            suffix = node["file"].rpartition(".")[2]
            result["file"] = renamed.setdefault(node["file"], f"{len(renamed)}.{suffix}")
        return result

    return tidied(schema), renamed


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


def names_in(schema: Any) -> set[str]:
    """All names in a schema."""
    return {name_in(node) for node in nodes(schema)}


def check_uses(schema: Any, trusted: set[str], version: int) -> None:
    """Refuse a schema that uses a trusted name in another way than the one it is trusted for.

    Parameters
    ----------
    schema : dict
    trusted : set of str
        What the caller trusts: to be handed over or to be given attributes, not to be called on loading.
    version : int
        Of the format.
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

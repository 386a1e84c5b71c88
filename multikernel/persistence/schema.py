"""The tree of a model as skops writes it: tidied before it is saved, checked before it is read."""

from __future__ import annotations

import re
from typing import Any

from .errors import ModelFileError, shown
from .grammar import LABELS, name_in, nodes
from .trusted import trusted_uses

OLDEST_PROTOCOL = 2  # of skops: no older one has written a file of this format
_MEMBER = re.compile(r"[0-9]{1,9}\.(npy|bin)")
# Ways of skops to use a name without calling it; a partial is made, not called.
_CALLERS_USES = ("ObjectNode", "FunctionNode", "TupleNode", "PartialNode", "TreeNode")


def tidy(schema: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The schema with numbers for the addresses in memory, and each object written once.

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
        address = node.get("__id__") if "__loader__" in node else None
        if address is not None and node["__loader__"] != "JsonNode":
            if address in numbers:  # skops looks up what has a number that it has seen
                return {**{label: node[label] for label in LABELS}, "__id__": numbers[address]}
            numbers[address] = len(numbers) + 1
        result = {key: tidied(value) for key, value in node.items() if key not in ("__id__", "file")}
        if address in numbers:
            result["__id__"] = numbers[address]
        if "__loader__" in node and "file" in node:
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


def check_uses(schema: Any, trusted: set[str]) -> None:
    """Refuse a schema that uses a trusted name in another way than the one it is trusted for.

    Parameters
    ----------
    schema : dict
    trusted : set of str
        What the caller trusts: to be handed over or to be given attributes, not to be called on loading.
    """
    protocol = schema.get("protocol") if isinstance(schema, dict) else None
    if type(protocol) is not int or protocol < OLDEST_PROTOCOL:
        raise ModelFileError(
            f"claims protocol {shown(protocol)} of skops, model files {OLDEST_PROTOCOL} or more. It was "
            "not made by save_model: do not use it."
        )
    ours = trusted_uses()
    for node in nodes(schema):
        name = name_in(node)
        allowed = (ours[name],) if name in ours else _CALLERS_USES if name in trusted else None
        if allowed is not None and node["__loader__"] not in allowed:
            raise ModelFileError(
                f"uses {shown(name)} as {shown(node['__loader__'])}, which model files never do. It was "
                "tampered with, or holds a class that cannot be saved: do not use it."
            )

"""Files of earlier formats: their names and attributes, as the present version has them.

Where a version renames or deletes a class, or changes its attributes, `FORMAT_VERSION` goes up by one and
`STEPS` gets an entry for the version before: the name of the class in that version, and a function that takes
the attributes in a file (a dict) and returns the name and the attributes of the next version. Steps are taken
one after the other, so that each knows two versions only.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .grammar import LABELS, is_written_out, name_in, nodes
from .names import find
from .names_0_1 import names_of_0_1
from .stand_ins import StandIn, require
from .versions import FORMAT_VERSION

State = dict[str, Any]


def _joint_classifier(state: State) -> tuple[str, State]:
    """MulticlassSVC had all parameters of MKLClassifier as attributes, and this one always."""
    return "multikernel.MKLClassifier", {**state, "multiclass": "joint"}


STEPS: dict[int, dict[str, Callable[[State], tuple[str, State]]]] = {
    1: {"multikernel.MulticlassSVC": _joint_classifier},
}


def changed_since(version: int) -> set[str]:
    """Names of the classes that a file of a format version holds in another form than the present one."""
    return {name for number, steps in STEPS.items() if number >= version for name in steps}


def present_name(name: str, version: int) -> str:
    """What stands for a name of a format version in the present one.

    Examples
    --------
    >>> present_name("multikernel.kernels.distance.Gaussian", 1)
    'multikernel.Gaussian'
    """
    return names_of_0_1().get(name, name) if version == 1 else name


def rename(schema: Any, version: int) -> None:
    """Give the parts of a schema of an earlier format their present names, in place."""
    if version > 1:
        return
    for node in nodes(schema):
        name = names_of_0_1().get(name_in(node))
        if name is not None:
            node["__module__"], _, node["__class__"] = name.rpartition(".")


def upgrade(node: dict[str, Any], version: int) -> None:
    """Let a part with the attributes of an earlier version be made by `Upgraded`, in place."""
    labels = (Upgraded.__name__, Upgraded.__module__, "ConstructorFromReduceNode")
    if is_written_out(node):
        parts = [_value(version), _value(name_in(node)), node.get("content") or _value(None)]
        node["content"] = _node("tuple", "TupleNode", parts)
    node.update(zip(LABELS, labels, strict=True))


class Upgraded(StandIn):
    """An object made of attributes that an earlier format version wrote.

    Examples
    --------
    >>> Upgraded(1, "multikernel.MulticlassSVC", {"C": 3.0}).multiclass
    'joint'
    """

    def __new__(cls, version: Any, name: Any, state: Any) -> Any:
        """The format version, the name in it, and the attributes."""
        require(state, dict)
        for number in range(version, FORMAT_VERSION):
            step = STEPS.get(number, {}).get(name)
            if step is not None:
                name, state = step(state)
        kind: Any = find(name)
        if kind is None:
            raise ValueError(f"there is no class {name!r}.")
        made = kind.__new__(kind)
        if hasattr(made, "__setstate__"):
            made.__setstate__(state)
        else:
            made.__dict__.update(state)
        return made


def _value(content: Any) -> dict[str, Any]:
    return {**_node("str", "JsonNode", json.dumps(content)), "is_json": True}


def _node(name: str, loader: str, content: Any) -> dict[str, Any]:
    return {"__class__": name, "__module__": "builtins", "__loader__": loader, "content": content}

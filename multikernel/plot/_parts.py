"""The parts of an evaluation, or why one of them is not there."""

from collections.abc import Mapping
from typing import Any


def part_of(evaluation: Any, *path: str) -> Any:
    """One part of an evaluation, such as ``part_of(evaluation, "held_out", "roc")``.

    Raises
    ------
    ValueError
        If it is not there: why, as the evaluation itself says it, and how to get it.
    """
    if not isinstance(evaluation, Mapping) or "omitted" not in evaluation:
        raise TypeError(
            "evaluation must be what multikernel.evaluation.evaluate(model, X, y) returns; got "
            f"{type(evaluation).__name__}."
        )
    found: Any = evaluation
    for name in path:
        found = found.get(name)
        if found is None:
            raise ValueError(_absence(evaluation, path))
    return found


def _absence(evaluation: Mapping[str, Any], path: tuple[str, ...]) -> str:
    known = {str(entry["part"]): str(entry["why"]) for entry in evaluation["omitted"]}
    names = [".".join(path), *reversed(path)]
    why = next((known[name] for name in names if name in known), None)
    reason = f": {why.rstrip('.')}." if why else "."
    return (
        f"this evaluation has no {path[-1].replace('_', ' ')}{reason} It is part of "
        f"evaluate(model, X, y, parts=[{path[0]!r}]), where the model and y allow it."
    )

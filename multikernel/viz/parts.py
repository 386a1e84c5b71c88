"""The parts of an evaluation, or why one of them is not there."""

from collections.abc import Mapping
from typing import Any

# Parts of held-out predictions, by what is predicted.
_TASKS = {"confusion": "classes", "roc": "classes", "calibration": "classes", "residuals": "values"}


def part_of(evaluation: Any, *path: str) -> Any:
    """One part of an evaluation, such as ``part_of(evaluation, "held_out", "roc")``.

    Raises
    ------
    ValueError
        If it is not there: why, as the evaluation itself says it, or how to get it.
    """
    if not isinstance(evaluation, Mapping) or "omitted" not in evaluation:
        raise TypeError(
            "evaluation must be what multikernel.inspection.evaluate(model, X, y) returns; got "
            f"{type(evaluation).__name__}."
        )
    found: Any = evaluation
    for name in path:
        found = found.get(name)
        if found is None:
            raise ValueError(_absence(evaluation, path))
    return found


def _absence(evaluation: Mapping[str, Any], path: tuple[str, ...]) -> str:
    name, task = path[-1], _TASKS.get(path[-1])
    head = f"this evaluation has no {name.replace('_', ' ')}"
    reasons = _reasons(evaluation, path)
    if reasons:
        return f"{head}: {' '.join(reasons)} What each part needs stands at multikernel.inspection.evaluate."
    if task is not None and evaluation["task"] != task:
        return f"{head}: that is of models that predict {task}; this one predicts {evaluation['task']}."
    return f"{head}. Ask for it: evaluate(model, X, y, parts=[{path[0]!r}])."


def _reasons(evaluation: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    """Why the part is missing; of a part of a part, what is said of it alone ("ROC: …") where others are."""
    told = [str(entry["why"]) for entry in evaluation["omitted"] if entry["part"] == path[0]]
    if evaluation.get(path[0]) is not None:
        told = [why for why in told if why.lower().startswith(f"{path[-1]}:")]
    return told

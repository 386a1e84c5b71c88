"""Linear constraints on kernel weights as a user states them: by names, or as trace budgets.

Each is a triple (of what, lower, upper). A dict of coefficients by name, or one coefficient for each weight,
is about the weights themselves; a name or a list of names is about the part of the trace that the group has:

    lower ≤ Σ_i a_i μ_i ≤ upper          lower ≤ Σ_{i in group} μ_i tr K_i / c ≤ upper
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._typing import Array
from .._validation import check_number
from .solver.limits import WeightLimits

_FORM = (
    "give (coefficients, lower, upper) with a dict of coefficients by view name, or (names, lower, upper) "
    "for the part of the trace that the named views have"
)


def read_constraints(
    constraints: Any, names: Sequence[str], traces: Array, trace: float
) -> WeightLimits | None:
    """The rows that triples stand for, on the weights of the named members; None where there are none.

    Examples
    --------
    >>> triples = [(["a", "b"], 0, 0.3), ({"a": 1, "c": -2}, 0, None)]
    >>> limits = read_constraints(triples, ["a", "b", "c"], np.ones(3), 2.0)
    >>> limits.rows.tolist(), limits.upper.tolist()
    ([[0.5, 0.5, 0.0], [1.0, 0.0, -2.0]], [0.3, inf])
    """
    if constraints is None:
        return None
    if not isinstance(constraints, list | tuple):
        raise TypeError(
            f"constraints must be a list of triples (names or coefficients, lower, upper); got "
            f"{constraints!r}."
        )
    triples = list(constraints)
    if not triples:
        return None
    read = [_row(triple, number, list(names), traces / trace) for number, triple in enumerate(triples)]
    rows, lower, upper = (np.array(part, float) for part in zip(*read, strict=True))
    return WeightLimits(rows, lower, upper)


def _row(triple: Any, number: int, names: list[str], parts: Array) -> tuple[Array, float, float]:
    label = f"constraints[{number}]"
    if not isinstance(triple, tuple | list) or len(triple) != 3:
        raise ValueError(f"{label} must have three parts; got {triple!r}. To constrain weights, {_FORM}.")
    what, lower, upper = triple
    if isinstance(what, Mapping | Sequence) and len(what) == 0:
        raise ValueError(f"{label} must name the weights that it is about; got {what!r}.")
    row = _coefficients(what, label, names, parts)
    low = -np.inf if lower is None else _end(f"lower end of {label}", lower)
    high = np.inf if upper is None else _end(f"upper end of {label}", upper)
    if not low <= high or low == np.inf or high == -np.inf:
        raise ValueError(f"{label} must have a lower end below the upper one; got {lower!r} and {upper!r}.")
    if np.isinf(low) and np.isinf(high):
        raise ValueError(f"{label} has no finite end, and so constrains nothing. Leave it out.")
    return row, low, high


def _end(label: str, value: Any) -> float:
    return float(value) if isinstance(value, float) and np.isinf(value) else check_number(label, value)


def _coefficients(what: Any, label: str, names: list[str], parts: Array) -> Array:
    if isinstance(what, Mapping):
        row = np.zeros(len(names))
        for name, factor in what.items():
            row[_place(name, label, names)] = check_number(f"the coefficient of {name!r} in {label}", factor)
        return row
    if isinstance(what, str):
        what = [what]
    if isinstance(what, Sequence) and all(isinstance(name, str) for name in what):
        row = np.zeros(len(names))
        for name in what:
            place = _place(name, label, names)
            row[place] = parts[place]
        return row
    try:
        row = np.array(what, float)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{label} is about {what!r}, which is no constraint: {_FORM}.") from error
    if row.shape != (len(names),) or not np.isfinite(row).all():
        raise ValueError(
            f"the coefficients of {label} must be one finite number for each of the {len(names)} weights; "
            f"got {what!r}. A dict names the weights that it is about."
        )
    return row


def _place(name: Any, label: str, names: list[str]) -> int:
    if name not in names:
        raise ValueError(f"{label} names {name!r}, which has no weight here; the weights are {names}.")
    return names.index(name)

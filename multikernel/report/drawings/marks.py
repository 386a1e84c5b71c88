"""What tells groups apart, and how large a value is: colours that the page defines, and shapes."""

from collections.abc import Sequence
from typing import Any

N_COLOURS = 8
N_LEVELS = 7

# Each is drawn from the middle of the point on, so that colour is never all that tells two groups apart.
SHAPES = (
    "m-3.6,0a3.6,3.6 0 1,0 7.2,0a3.6,3.6 0 1,0 -7.2,0z",  # disc
    "m-3.2,-3.2h6.4v6.4h-6.4z",  # square
    "m0,-4.2l4.1,7.4h-8.2z",  # triangle
    "m0,-4.6l4.4,4.6l-4.4,4.6l-4.4,-4.6z",  # diamond
    "m0,4.2l4.1,-7.4h-8.2z",  # triangle on its tip
    "m-1.4,-4.2h2.8v2.8h2.8v2.8h-2.8v2.8h-2.8v-2.8h-2.8v-2.8h2.8z",  # plus
    "m-4.4,-2h8.8v4h-8.8z",  # bar
    "m-2,-4.4h4v8.8h-4z",  # post
)


def group_marks(labels: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Give each label a colour and a shape; no two of the first 64 share both.

    Examples
    --------
    >>> {label: mark["colour"] for label, mark in group_marks(["a", "b", "a"]).items()}
    {'a': 0, 'b': 1}
    """
    distinct = list(dict.fromkeys(labels))
    return {
        label: {"label": label, "colour": i % N_COLOURS, "shape": SHAPES[(i + i // N_COLOURS) % len(SHAPES)]}
        for i, label in enumerate(distinct)
    }


def level(value: float | None, low: float, high: float) -> int:
    """Return which of the steps of the colour scale a value has, 0 the least.

    Examples
    --------
    >>> [level(v, 0.0, 1.0) for v in (0.0, 0.5, 1.0)]
    [0, 3, 6]
    """
    if value is None or not high > low:
        return 0
    return min(N_LEVELS - 1, max(0, int(N_LEVELS * (value - low) / (high - low))))

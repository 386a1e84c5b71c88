"""The plane that pictures stand on: from values to places, with ticks at round numbers."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

_ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)


def round_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers between two values, at most `most` of them.

    Examples
    --------
    >>> round_ticks(0.0, 1.0)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    >>> round_ticks(-3.0, 12.0, most=4)
    [0.0, 5.0, 10.0]
    """
    if not (math.isfinite(high - low) and high > low):
        return [low]
    size = 10.0 ** math.floor(math.log10((high - low) / most))
    for step in (size * factor for factor in _ROUND):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            break
    return [float(f"{i * step:.10g}") + 0.0 for i in range(first, last + 1)]


def extent(values: Iterable[float | None], *, margin: float = 0.0) -> tuple[float, float]:
    """Return the least and the greatest value, apart from each other and widened by a part of their distance.

    Examples
    --------
    >>> extent([1.0, None, 3.0], margin=0.5)
    (0.0, 4.0)
    >>> extent([])
    (0.0, 1.0)
    """
    known = [value for value in values if value is not None]
    if not known:
        return 0.0, 1.0
    low, high = min(known), max(known)
    if not high - low > 1e-12 * max(abs(low), abs(high)):
        reach = 0.5 * abs(low) or 0.5
        return low - reach, high + reach
    return low - margin * (high - low), high + margin * (high - low)


@dataclass(frozen=True)
class Plane:
    """Two axes in a frame.

    Attributes
    ----------
    x, y : tuple of float
        The least and the greatest value of each axis.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    width: int = 340
    height: int = 320
    left: int = 48
    right: int = 12
    top: int = 12
    bottom: int = 46

    def place_x(self, value: float) -> float:
        """Return where a value stands from the left edge of the picture."""
        return round(self.left + _part(value, self.x) * (self.width - self.left - self.right), 1)

    def place_y(self, value: float) -> float:
        """Return where a value stands from the upper edge of the picture."""
        return round(self.top + (1 - _part(value, self.y)) * (self.height - self.top - self.bottom), 1)

    def line(self, xs: Iterable[float], ys: Iterable[float]) -> str:
        """Return the points of a line as SVG wants them."""
        return " ".join(f"{self.place_x(x):g},{self.place_y(y):g}" for x, y in zip(xs, ys, strict=True))

    def describe(self) -> dict[str, Any]:
        """Return ``size``, ``frame``, ``x_ticks`` (x, label) and ``y_ticks`` (y, label)."""
        return {
            "size": {"width": self.width, "height": self.height},
            "frame": {
                "left": self.left,
                "right": self.width - self.right,
                "top": self.top,
                "bottom": self.height - self.bottom,
            },
            "x_ticks": [{"x": self.place_x(v), "label": tick_label(v)} for v in round_ticks(*self.x, most=5)],
            "y_ticks": [{"y": self.place_y(v), "label": tick_label(v)} for v in round_ticks(*self.y)],
        }


def tick_label(value: float) -> str:
    """Write a round number short, with a true minus sign.

    Examples
    --------
    >>> tick_label(-0.2), tick_label(25000.0)
    ('−0.2', '25000')
    """
    return f"{value:.6g}".replace("-", "−")


def room_for_labels(ends: tuple[float, float]) -> int:
    """Return how far from the left edge the axis stands, so that its labels leave room for its name.

    Examples
    --------
    >>> room_for_labels((0.0, 1.0)), room_for_labels((-0.02, 0.03))
    (48, 60)
    """
    longest = max(len(tick_label(value)) for value in round_ticks(*ends))
    return max(48, round(26 + 6.9 * longest))


def _part(value: float, ends: tuple[float, float]) -> float:
    low, high = ends
    return (value - low) / (high - low)

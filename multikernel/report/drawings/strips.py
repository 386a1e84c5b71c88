"""Small pictures in the rows of a table: all on one scale, placed in per cent of the width of their cell."""

from collections.abc import Mapping, Sequence
from typing import Any

from multikernel.report.drawings.axes import extent, tick_label

# Room at both ends, in per cent, so that a mark at the very end is whole.
_EDGE = 4.0


def stability_strips(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Place the range of a view's share over the fits, its value in each fit, and its mean.

    Parameters
    ----------
    rows : sequence of mappings
        With ``low``, ``high``, ``mean`` and ``values``, and ``share`` where the model itself has one.

    Returns
    -------
    dict or None
        ``low`` and ``high`` (labels of the ends) and ``rows``, each with ``range``, ``dots``, ``mean`` and
        ``own``.
        None where no value is known.

    Examples
    --------
    >>> row = {"low": 0.0, "high": 1.0, "mean": 0.5, "values": [0.0, 0.5, 1.0]}
    >>> stability_strips([row])["rows"][0]["dots"]
    [4.0, 50.0, 96.0]
    """
    known = [value for row in rows for value in (row["low"], row["high"]) if value is not None]
    if not known:
        return None
    own = [row["share"] for row in rows if row.get("share") is not None]
    ends = extent([0.0, *known, *own])
    placed = [
        {
            "zero": _place(0.0, ends),
            "bar": None,
            "range": _places([row["low"], row["high"]], ends),
            "dots": _places(row["values"], ends),
            "mean": None if row["mean"] is None else _place(row["mean"], ends),
            "own": None if row.get("share") is None else _place(row["share"], ends),
        }
        for row in rows
    ]
    low, high = (f"{tick_label(round(100 * end, 1))}%" for end in ends)
    return {"low": low, "high": high, "rows": placed}


def difference_strips(
    differences: Sequence[float | None], clear: Sequence[bool], spreads: Sequence[float | None] = ()
) -> dict[str, Any] | None:
    """Place bars that begin at zero, which stands in the middle.

    Parameters
    ----------
    differences : sequence of float or None
        One for each row; a row without one has no bar.
    clear : sequence of bool
        Which of them are more than chance.
    spreads : sequence of float or None
        The standard deviation of each difference over the folds, drawn to both sides of the end of its bar.

    Returns
    -------
    dict or None
        ``low`` and ``high`` (labels of the ends) and ``rows``, each with ``zero``, ``bar`` (x, width,
        tone: "positive", "negative" or "even") and ``range``. None where there is no difference at all.

    Examples
    --------
    >>> difference_strips([0.5, None, -0.25], [True, False, True])["rows"][2]["bar"]
    {'x': 27.0, 'width': 23.0, 'tone': 'negative'}
    """
    spreads = spreads or [None] * len(differences)
    pairs = list(zip(differences, spreads, strict=True))
    reach = max((abs(value) + (sd or 0.0) for value, sd in pairs if value is not None), default=0.0)
    if reach == 0:
        return None
    ends = (-reach, reach)
    rows: list[dict[str, Any]] = []
    for (value, sd), is_clear in zip(pairs, clear, strict=True):
        bar, spread = None, []
        if value is not None:
            spread = [] if sd is None else _places([value - sd, value + sd], ends)
            start, stop = sorted([_place(0.0, ends), _place(value, ends)])
            tone = ("positive" if value > 0 else "negative") if is_clear else "even"
            bar = {"x": start, "width": round(stop - start, 2), "tone": tone}
        row = {"zero": _place(0.0, ends), "bar": bar, "range": spread, "dots": [], "mean": None}
        rows.append(row | {"own": None})
    label = f"{reach:.2g}"
    return {"low": f"−{label}", "high": f"+{label}", "rows": rows}


def _place(value: float, ends: tuple[float, float]) -> float:
    return round(_EDGE + (100 - 2 * _EDGE) * (value - ends[0]) / (ends[1] - ends[0]), 2)


def _places(values: Sequence[float | None], ends: tuple[float, float]) -> list[float]:
    return [_place(value, ends) for value in values if value is not None]

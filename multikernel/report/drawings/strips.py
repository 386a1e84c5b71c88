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
        With ``low``, ``high``, ``mean`` and ``values``.

    Returns
    -------
    dict or None
        ``low`` and ``high`` (labels of the ends) and ``rows``, each with ``range``, ``dots`` and ``mean``.
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
    ends = extent([0.0, *known])
    placed = [
        {
            "zero": _place(0.0, ends),
            "bar": None,
            "range": _places([row["low"], row["high"]], ends),
            "dots": _places(row["values"], ends),
            "mean": None if row["mean"] is None else _place(row["mean"], ends),
        }
        for row in rows
    ]
    return {"low": tick_label(round(ends[0], 2)), "high": tick_label(round(ends[1], 2)), "rows": placed}


def difference_strips(differences: Sequence[float | None], clear: Sequence[bool]) -> dict[str, Any] | None:
    """Place bars that begin at zero, which stands in the middle.

    Parameters
    ----------
    differences : sequence of float or None
        One for each row; a row without one has no bar.
    clear : sequence of bool
        Which of them are more than chance.

    Returns
    -------
    dict or None
        ``low`` and ``high`` (labels of the ends) and ``rows``, each with ``zero`` and ``bar`` (x, width,
        tone: "positive", "negative" or "even"). None where there is no difference at all.

    Examples
    --------
    >>> difference_strips([0.5, None, -0.25], [True, False, True])["rows"][2]["bar"]
    {'x': 27.0, 'width': 23.0, 'tone': 'negative'}
    """
    reach = max((abs(value) for value in differences if value is not None), default=0.0)
    if reach == 0:
        return None
    ends = (-reach, reach)
    rows: list[dict[str, Any]] = []
    for value, is_clear in zip(differences, clear, strict=True):
        bar = None
        if value is not None:
            start, stop = sorted([_place(0.0, ends), _place(value, ends)])
            tone = ("positive" if value > 0 else "negative") if is_clear else "even"
            bar = {"x": start, "width": round(stop - start, 2), "tone": tone}
        rows.append({"zero": _place(0.0, ends), "bar": bar, "range": [], "dots": [], "mean": None})
    label = f"{reach:.2g}"
    return {"low": f"−{label}", "high": f"+{label}", "rows": rows}


def _place(value: float, ends: tuple[float, float]) -> float:
    return round(_EDGE + (100 - 2 * _EDGE) * (value - ends[0]) / (ends[1] - ends[0]), 2)


def _places(values: Sequence[float | None], ends: tuple[float, float]) -> list[float]:
    return [_place(value, ends) for value in values if value is not None]

"""Kernels as pictures: a small PNG each, with the groups of the samples along two edges."""

import base64
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from multikernel.report.drawings.marks import group_marks

# From little to much, equally dark in both colour schemes.
_ANCHORS = ((22, 26, 66), (44, 84, 140), (38, 143, 148), (122, 197, 122), (250, 236, 150))
_N_SHADES = 128
# The part of the blocks that has the last colour at each end: one outlier does not take them all.
_CUT = 0.05


def draw_heat_maps(heat_maps: Mapping[str, Any], classes: Sequence[str] = ()) -> dict[str, Any] | None:
    """Draw every map, and mark which samples belong to which group.

    Parameters
    ----------
    heat_maps : mapping
        With ``groups`` (label, start, stop) and ``maps`` (name, share, low, high, values).
    classes : sequence of str
        The classes in the order that gives them their colours.

    Returns
    -------
    dict or None
        ``maps`` (name, share, low, high, uri, within, between), ``groups`` (label, colour, start and width
        in per cent) and ``scale`` (the colours as an image of one line). None without maps.

    Examples
    --------
    >>> kernel = {"name": "k", "share": None, "low": 0.0, "high": 2.0, "values": [[1.0, 0.0], [0.0, 1.0]]}
    >>> groups = [{"label": "a", "start": 0, "stop": 5}, {"label": "b", "start": 5, "stop": 10}]
    >>> drawn = draw_heat_maps({"groups": groups, "maps": [kernel]})["maps"][0]
    >>> drawn["within"], drawn["between"]
    (2.0, 0.0)
    """
    if not heat_maps["maps"]:
        return None
    groups = _place_groups(heat_maps["groups"], classes)
    drawn = []
    for kernel in heat_maps["maps"]:
        within, between = group_means(kernel, groups)
        drawn.append(
            {key: kernel[key] for key in ("name", "share", "low", "high")}
            | {
                "uri": png_uri(_shades(kernel["values"], *colour_range(kernel["values"]))),
                "within": within,
                "between": between,
            }
        )
    return {"maps": drawn, "groups": groups, "scale": png_uri([list(range(_N_SHADES))])}


def group_means(
    kernel: Mapping[str, Any], groups: Sequence[Mapping[str, Any]]
) -> tuple[float | None, float | None]:
    """Return the mean similarity of samples within a group, and of samples of two groups.

    A block of the map belongs to the group that holds its middle.
    """
    values = kernel["values"]
    owner = [_owner(100 * (i + 0.5) / len(values), groups) for i in range(len(values))]
    within: list[float] = []
    between: list[float] = []
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            if value is not None:
                (within if owner[i] == owner[j] else between).append(value)
    scale = (kernel["high"] or 0.0) - (kernel["low"] or 0.0)
    means = [sum(part) / len(part) if part else None for part in (within, between)]
    within_mean, between_mean = [
        None if mean is None else (kernel["low"] or 0.0) + scale * mean for mean in means
    ]
    return within_mean, between_mean


def png_uri(rows: Sequence[Sequence[int]]) -> str:
    """Return a picture of shades (0 to 127) as a ``data:`` address of a PNG with a palette.

    Examples
    --------
    >>> png_uri([[0, 127]])[:22]
    'data:image/png;base64,'
    """
    lines = b"".join(b"\0" + bytes(row) for row in rows)
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)
    chunks = (b"IHDR", header), (b"PLTE", _palette()), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")
    body = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + body).decode()


def _palette() -> bytes:
    shades = []
    for i in range(_N_SHADES):
        place = i / (_N_SHADES - 1) * (len(_ANCHORS) - 1)
        start = min(int(place), len(_ANCHORS) - 2)
        pairs = zip(_ANCHORS[start], _ANCHORS[start + 1], strict=True)
        shades += [round(a + (place - start) * (b - a)) for a, b in pairs]
    return bytes(shades)


def colour_range(values: Sequence[Sequence[float | None]]) -> tuple[float, float]:
    """Return the values of the first and the last colour: quantiles, or the ends where most are alike.

    Examples
    --------
    >>> colour_range([[i / 100 for i in range(101)]])
    (0.05, 0.95)
    >>> colour_range([[0.0] * 50 + [1.0]])
    (0.0, 1.0)
    """
    known = sorted(value for row in values for value in row if value is not None)
    if not known:
        return 0.0, 1.0
    cut = round(_CUT * (len(known) - 1))
    low, high = known[cut], known[len(known) - 1 - cut]
    return (low, high) if high - low > 1e-9 else (min(0.0, low), max(1.0, high))


def _shades(values: Sequence[Sequence[float | None]], low: float, high: float) -> list[list[int]]:
    top = _N_SHADES - 1
    return [
        [round(top * min(1.0, max(0.0, ((value or 0.0) - low) / (high - low)))) for value in row]
        for row in values
    ]


def _place_groups(groups: Sequence[Mapping[str, Any]], classes: Sequence[str]) -> list[dict[str, Any]]:
    end = max((group["stop"] for group in groups), default=1)
    marks = group_marks([*classes, *(str(group["label"]) for group in groups)])
    return [
        marks[str(group["label"])]
        | {
            "start": round(100 * group["start"] / end, 2),
            "width": round(100 * (group["stop"] - group["start"]) / end, 2),
        }
        for group in groups
    ]


def _owner(place: float, groups: Sequence[Mapping[str, Any]]) -> int:
    inside = [i for i, group in enumerate(groups) if group["start"] <= place]
    return inside[-1] if inside else 0

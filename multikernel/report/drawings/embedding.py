"""The samples in two dimensions as numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

from multikernel.report.drawings.axes import Plane, extent, room_for_labels
from multikernel.report.drawings.marks import SHAPES, group_marks, level


def embedding_plot(embedding: Mapping[str, Any], classes: Sequence[str] = ()) -> dict[str, Any] | None:
    """Place samples, marked by their class or coloured by their value.

    Parameters
    ----------
    embedding : mapping
        With ``points``: each has ``row``, ``x``, ``y``, and where known ``label`` or ``value``, and
        ``predicted``.
    classes : sequence of str
        The classes in the order that gives them their colours.

    Returns
    -------
    dict or None
        ``points`` (x, y, row, shape, tone, says, wrong), ``groups`` (label, colour, shape), ``scale`` (low,
        high) for values, ``n_wrong`` and the axes. None without any point.

    Examples
    --------
    >>> point = {"row": 3, "x": 0.0, "y": 0.0, "label": "a", "predicted": "b"}
    >>> plot = embedding_plot({"points": [point]})
    >>> plot["points"][0]["says"], plot["points"][0]["wrong"]
    ('row 3, class a, predicted b', True)
    """
    points = [point for point in embedding["points"] if None not in (point["x"], point["y"])]
    if not points:
        return None
    plane = place_points(points)
    labels = [str(point["label"]) for point in points if point.get("label") is not None]
    # classes without a point here keep their colours, but have no place in the legend
    marks = group_marks([*classes, *labels])
    values = [point["value"] for point in points if point.get("value") is not None]
    scale = (min(values), max(values)) if values else None
    drawn = [_draw(point, plane, marks, scale) for point in points]
    return plane.describe() | {
        "points": drawn,
        "groups": [mark for label, mark in marks.items() if label in set(labels)],
        "scale": None if scale is None else {"low": scale[0], "high": scale[1]},
        "n_wrong": sum(point["wrong"] for point in drawn),
    }


def place_points(points: Sequence[Mapping[str, Any]]) -> Plane:
    """Return the plane that holds the points of an embedding."""
    y = extent([point["y"] for point in points], margin=0.04)
    return Plane(
        extent([point["x"] for point in points], margin=0.04), y, height=340, left=room_for_labels(y)
    )


def describe_sample(sample: Mapping[str, Any]) -> str:
    """Say which sample it is, what it is, and what was predicted, as far as that is known."""
    words = [f"row {sample['row']}"]
    if sample.get("label") is not None:
        words.append(f"class {sample['label']}")
    if sample.get("value") is not None:
        words.append(f"value {sample['value']:.4g}")
    predicted = sample.get("predicted")
    if predicted is not None:
        words.append(
            f"predicted {predicted:.4g}" if isinstance(predicted, float) else f"predicted {predicted}"
        )
    return ", ".join(words)


def _draw(
    point: Mapping[str, Any],
    plane: Plane,
    marks: Mapping[str, Mapping[str, Any]],
    scale: tuple[float, float] | None,
) -> dict[str, Any]:
    label, value, predicted = point.get("label"), point.get("value"), point.get("predicted")
    mark = {"shape": SHAPES[0], "colour": 0} if label is None else marks[str(label)]
    tone = f"c{mark['colour']}" if value is None or scale is None else f"q{level(value, *scale)}"
    return {
        "x": plane.place_x(point["x"]),
        "y": plane.place_y(point["y"]),
        "row": point["row"],
        "shape": mark["shape"],
        "tone": tone,
        "says": describe_sample(point),
        "wrong": None not in (label, predicted) and str(label) != str(predicted),
    }

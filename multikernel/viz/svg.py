"""A picture as an SVG element of an HTML page: small, the same at every run, with a title for screen readers.

The SVG of matplotlib is meant for a file of its own: its identifiers clash with those of a second picture,
it styles whole pages, and it has a white background. Here it is parsed and written again without all that.
Text stays text, in the font of the page; black becomes the text colour of the page, and other colours can be
left to its style sheet, so that a dark page has light lines.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Element = ElementTree.Element

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "hatch.linewidth": 1.5,
}
_VALUES = "values"  # the gid of bars and points that say their values
_INHERITED = ("fill", "stroke")  # how the properties begin that a group hands down to what it holds
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_NUMBER = re.compile(r"-?\d+\.\d+")
_NO_TURN = re.compile(r"rotate\(-0 [^)]*\)")


def draw_svg(
    draw: Callable[[Axes], Any],
    name: str,
    *,
    size: tuple[float, float],
    title: str,
    description: str = "",
    inks: Mapping[str, str] | None = None,
    marks: str = "",
    says: Sequence[str] = (),
    hover: bool = False,
) -> str:
    """Draw a picture and return it as an ``<svg>`` element for an HTML page.

    The same numbers give the same text. The user's own style of matplotlib is left out and left alone, and so
    is the title of the Axes: the page has headings. Every identifier in the picture begins with its `name`,
    the `size` is in inches, and text has 10 points. `inks` are what to write for a colour, both in CSS:
    ``{"#0072B2": "var(--blue)"}``; black is ``currentColor`` unless it is given. The points of artists whose
    ``gid`` is `marks` get the class ``mark``, and each `says` its text when a pointer rests on it. With
    `hover`, bars and points say their values.

    Examples
    --------
    >>> text = draw_svg(lambda ax: ax.axis("off"), "nothing", size=(1, 1), title="<Nothing>")
    >>> print(text)
    <svg viewBox="0 0 72 72" class="picture" style="--width: 72" role="img" aria-labelledby="nothing-title">\
<title id="nothing-title">&lt;Nothing&gt;</title></svg>
    """
    values: list[str] = []

    def draw_and_mark(ax: Axes) -> None:
        draw(ax)
        values.extend(_mark_values(ax) if hover else [])

    root = ElementTree.fromstring(_matplotlib_svg(draw_and_mark, size))
    _drop_foreign(root)
    found = _find_marks(root, marks) if marks else []
    if hover:
        found = _find_marks(root, _VALUES)
        says = values if len(values) == len(found) else ()  # some may lie beyond the picture
    for mark, text in zip(found, says, strict=False):
        ElementTree.SubElement(mark, "title").text = text
    inks = {"#000000": "currentColor", **{colour.lower(): ink for colour, ink in (inks or {}).items()}}
    for element in root.iter():
        _shorten(element, inks)
    _name_references(root, name)
    _merge_groups(root)
    return ElementTree.tostring(_entitle(root, name, title, description), encoding="unicode")


def _mark_values(ax: Axes) -> list[str]:
    """Give bars and points the gid of values; what each says, in the order in which they are drawn."""
    from matplotlib.collections import PathCollection
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle
    from matplotlib.ticker import FixedLocator

    locator = ax.yaxis.get_major_locator()
    places = [float(place) for place in locator()] if isinstance(locator, FixedLocator) else []
    names = ax.yaxis.get_major_formatter().format_ticks(places)
    labels = {round(place): name for place, name in zip(places, names, strict=True)}

    def told(x: float, y: float) -> str:
        if labels:
            return f"{labels.get(round(y), '')}: {x:.4g}"
        first, second = (text.split("\n")[0] for text in (ax.get_xlabel(), ax.get_ylabel()))
        return f"{first} {x:.4g}, {second} {y:.4g}"

    bars = {bar for bars in ax.containers for bar in bars if isinstance(bar, Rectangle)}
    said: list[tuple[float, list[str]]] = []
    for artist in ax.get_children():
        if isinstance(artist, Rectangle) and artist in bars:
            texts = [told(artist.get_width(), artist.get_y() + artist.get_height() / 2.0)]
        elif isinstance(artist, PathCollection):
            texts = [told(*place) for place in np.asarray(artist.get_offsets(), float).tolist()]
        elif isinstance(artist, Line2D) and artist.get_marker() not in ("None", "none", None, "", " ", "|"):
            texts = [told(*place) for place in np.asarray(artist.get_xydata(), float).tolist()]
        else:
            continue
        artist.set_gid(_VALUES)
        said.append((artist.get_zorder(), texts))
    return [text for _, texts in sorted(said, key=lambda each: each[0]) for text in texts]


def _matplotlib_svg(draw: Callable[[Axes], Any], size: tuple[float, float]) -> str:
    from matplotlib.figure import Figure

    stream = io.StringIO()
    with _plain_style():
        figure = Figure(figsize=size, layout="constrained")
        ax = figure.subplots()
        draw(ax)
        ax.set_title("")
        figure.patch.set_visible(False)
        for own in [ax, *ax.child_axes]:
            own.patch.set_visible(False)
        figure.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()


@contextmanager
def _plain_style() -> Iterator[None]:
    """The default style, whatever the user has set; glyphs that the font lacks are left to the browser."""
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from font")
        warnings.filterwarnings("ignore", message=r"Matplotlib currently does not support .* natively")
        yield


# ---------------------------------------------------------------------- from a file to a part of a page
def _drop_foreign(root: Element) -> None:
    """Leave out namespaces, metadata and the style of whole pages: HTML knows SVG by itself."""
    for child in list(root):
        if child.tag.endswith("}metadata") or child.find(".//{*}style") is not None:
            root.remove(child)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        for key in [key for key in element.attrib if "}" in key]:
            element.set(key.rpartition("}")[2], element.attrib.pop(key))
        if element.tag != "text" and not (element.text or "").strip():
            element.text = None
        element.tail = None if element.tag != "tspan" else element.tail


def _find_marks(root: Element, gid: str) -> list[Element]:
    """The points of the artists of that gid, in the order in which they were drawn."""
    found = []
    for group in root.iterfind(f".//g[@id='{gid}']"):
        defined = {part for definitions in group.iter("defs") for part in definitions.iter()}
        found += [part for part in group.iter() if part.tag in ("use", "path") and part not in defined]
    for mark in found:
        mark.set("class", "mark")
    return found


def _shorten(element: Element, inks: Mapping[str, str]) -> None:
    """Round numbers, say nothing of fonts, and write the colours of the page."""
    for key, value in list(element.attrib.items()):
        if key in ("d", "x", "y", "width", "height", "transform", "viewBox"):
            digits = 4 if key == "transform" else 2
            short = _NUMBER.sub(partial(_rounded, digits), _NO_TURN.sub("", value))
            element.set(key, " ".join(short.split()))
        elif key == "href":
            element.set(key, "".join(value.split()))
    if not element.get("transform", "-"):
        del element.attrib["transform"]
    style = _properties(element)
    if "fill" in element.attrib:  # variables of the page are read in a style only
        style = {"fill": element.attrib.pop("fill"), **style}
    kept = {
        key: _COLOUR.sub(lambda colour: inks.get(colour[0], colour[0]), value)
        for key, value in style.items()
        if key not in ("font-family", "font", "stroke-linejoin")
    }
    _set_properties(element, kept)


def _rounded(digits: int, number: re.Match[str]) -> str:
    return f"{float(number[0]):.{digits}f}".rstrip("0").rstrip(".")


def _name_references(root: Element, name: str) -> None:
    """Give what is referred to a name of this picture, and take the names of all else."""
    used: dict[str, str] = {}

    def rename(old: str) -> str:
        return used.setdefault(old, f"{name}-{len(used)}")

    for element in root.iter():
        for key, value in element.attrib.items():
            if key == "href" and value.startswith("#"):
                element.set(key, f"#{rename(value[1:])}")
            elif "url(#" in value:
                element.set(key, _REFERENCE.sub(lambda found: f"url(#{rename(found[1])})", value))
    for element in root.iter():
        old = element.attrib.pop("id", None)
        if old in used:
            element.set("id", used[old])


def _merge_groups(group: Element) -> None:
    """Join neighbours of the same attributes, and hand what all children share to their group."""
    before: Element | None = None
    for child in list(group):
        if child.tag == "g" and before is not None and before.attrib == child.attrib:
            before.extend(list(child))
            group.remove(child)
        else:
            before = child if child.tag == "g" else None
    for child in list(group):
        _merge_groups(child)
        if child.tag == "g" and not len(child):
            group.remove(child)
    drawn = [child for child in group if child.tag in ("use", "path")]
    if group.tag == "g" and len(drawn) > 1 and all(child.tag in ("use", "path", "defs") for child in group):
        _hand_up(group, drawn)


def _hand_up(group: Element, drawn: Sequence[Element]) -> None:
    """Write the colours and lines that all have once, in their group."""
    styles = [_properties(child) for child in drawn]
    shared = {
        key: value
        for key, value in styles[0].items()
        if key.startswith(_INHERITED) and all(style.get(key) == value for style in styles)
    }
    _set_properties(group, {**_properties(group), **shared})
    for child, style in zip(drawn, styles, strict=True):
        _set_properties(child, {key: value for key, value in style.items() if key not in shared})


def _properties(element: Element) -> dict[str, str]:
    pairs = (part.split(":", 1) for part in element.get("style", "").split(";") if ":" in part)
    return {key.strip(): value.strip() for key, value in pairs}


def _set_properties(element: Element, properties: Mapping[str, str]) -> None:
    element.attrib.pop("style", None)
    if properties:
        element.set("style", ";".join(f"{key}:{value}" for key, value in properties.items()))


def _entitle(root: Element, name: str, title: str, description: str) -> Element:
    """The picture with its title and description, and nothing else said of it than its size."""
    box = root.attrib["viewBox"]
    root.attrib = {
        "viewBox": box,
        "class": "picture",
        "style": f"--width: {box.split()[2]}",
        "role": "img",
        "aria-labelledby": f"{name}-title",
    }
    heading = Element("title", id=f"{name}-title")
    heading.text = title
    root.insert(0, heading)
    if description:
        root.set("aria-describedby", f"{name}-description")
        told = Element("desc", id=f"{name}-description")
        told.text = description
        root.insert(1, told)
    return root

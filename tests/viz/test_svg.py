"""Pictures within a page: one text for one picture, names that do not clash, and nothing but the picture."""

import re
import warnings
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest

from multikernel import viz
from multikernel.viz.samples import SAMPLES, describe_sample, gate_shades, samples_as_drawn
from multikernel.viz.svg import draw_svg
from tests.viz.data import VIEWS, make_evaluation

EVALUATION = make_evaluation()
NAMES = ["stability", "without_view", "baselines", "heat_map", "embedding", "gate", "roc", "calibration"]
PICTURES = {name: getattr(viz, name) for name in NAMES}


def picture(name, title="A <title> & more", **more):
    return draw_svg(lambda ax: PICTURES[name](EVALUATION, ax=ax), name, size=(5, 4), title=title, **more)


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_one_element_with_a_title(name):
    root = ElementTree.fromstring(picture(name, description="What it shows"))
    assert (root.tag, root.get("role"), root.get("viewBox")) == ("svg", "img", "0 0 360 288")
    assert [(part.tag, part.text) for part in root[:2]] == [
        ("title", "A <title> & more"),
        ("desc", "What it shows"),
    ]
    assert root.get("aria-labelledby") == root[0].get("id")
    assert root.get("aria-describedby") == root[1].get("id")
    known = "svg title desc g defs path use text image clipPath rect pattern"
    assert {part.tag for part in root.iter()} <= set(known.split())


def test_no_two_pictures_share_an_identifier_and_all_references_are_kept():
    page = "".join(picture(name) for name in PICTURES)
    identifiers = re.findall(r'\bid="([^"]+)"', page)
    assert Counter(identifiers).most_common(1)[0][1] == 1
    referred = re.findall(r'(?:href="#|url\(#)([\w-]+)', page)
    assert set(referred) <= set(identifiers)
    titles = {f"{name}-title" for name in PICTURES}
    assert set(identifiers) - titles == set(referred)  # nothing has a name for nothing


@pytest.mark.parametrize("name", PICTURES)
def test_the_same_numbers_give_the_same_text_whatever_the_style_of_the_user(name):
    first = picture(name)
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "path"}):
        assert picture(name) == first
        assert matplotlib.rcParams["font.size"] == 30
    assert "://" not in first and "DejaVu" not in first and "<style" not in first


def test_text_is_text_and_names_are_no_markup():
    text = picture("stability")
    parser = HTMLParser()
    words = []
    parser.handle_data = words.append
    parser.feed(text)
    assert {VIEWS[0], VIEWS[1], VIEWS[2]} <= set(words)
    assert "<b>" not in text and "How firm are the weights?" not in text  # the page has headings


def test_letters_that_the_font_lacks_are_left_to_the_browser():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = draw_svg(lambda ax: viz.weights({"🦊": 1.0, "צליל": 2.0}, ax=ax), "w", size=(4, 2), title="t")
    assert "🦊" in text and "צליל" in text


def test_colours_are_those_of_the_page():
    text = picture("without_view", inks={"#0072B2": "var(--blue)", "#D55E00": "var(--red)"})
    assert "var(--blue)" in text and "var(--red)" in text and "currentColor" in text
    assert not re.search("#0072b2|#d55e00|#000000", text, re.IGNORECASE)


@pytest.mark.parametrize("name", ["embedding", "gate"])
@pytest.mark.parametrize("n", [60, 3])
def test_every_sample_says_what_it_is(name, n):
    few = {**EVALUATION["embedding"], "points": EVALUATION["embedding"]["points"][:n]}
    evaluation = {**EVALUATION, "embedding": few}
    points = samples_as_drawn(evaluation, gated=name == "gate")
    says = [describe_sample(point) for point in points]
    text = draw_svg(
        lambda ax: PICTURES[name](evaluation, ax=ax), name, size=(5, 4), title="t", marks=SAMPLES, says=says
    )
    marks = [part for part in ElementTree.fromstring(text).iter() if part.get("class") == "mark"]
    assert [mark.find("title").text for mark in marks] == says
    assert len(marks) == n
    if name == "embedding" and n == 60:  # the mark of each sample stands in its place
        x = np.array([float(mark.get("x")) for mark in marks])
        slope = np.polyfit([point["x"] for point in points], x, 1)
        np.testing.assert_allclose(np.polyval(slope, [point["x"] for point in points]), x, atol=0.02)


def distance(first, second):
    return [abs(int(first[i : i + 2], 16) - int(second[i : i + 2], 16)) for i in (1, 3, 5)]


def test_the_shades_of_a_gate_are_those_of_its_picture():
    shades = gate_shades(EVALUATION)
    assert len(shades["palette"]) == 36 and len(shades["views"]) == len(VIEWS)
    weights = {row["row"]: row["weights"] for row in EVALUATION["gate"]["rows"]}
    table = np.array([weights[point["row"]] for point in samples_as_drawn(EVALUATION, gated=True)])
    levels = np.array([[int(digit, 36) for digit in row] for row in shades["views"]]).T
    np.testing.assert_allclose(levels / 35.0 * table.max(), table, atol=0.5001 / 35.0 * table.max())
    text = picture("gate", marks=SAMPLES)
    number = VIEWS.index(max(VIEWS, key=lambda view: table[:, VIEWS.index(view)].std()))
    marks = [part for part in ElementTree.fromstring(text).iter() if part.get("class") == "mark"]
    step = max(max(distance(*pair)) for pair in pairwise(shades["palette"]))
    for mark, level in zip(marks, levels[:, number], strict=True):
        drawn, chosen = re.search(r"fill:(#\w{6})", mark.get("style"))[1], shades["palette"][level]
        assert max(distance(drawn, chosen)) <= step

"""Pages and Markdown: they show the figures, they are well formed, and no name becomes markup."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.report import render_html, render_markdown, save_report, summarize
from tests.report.conftest import ToyClassifier, history

VOID = {"meta", "br", "hr", "img", "input", "link", "wbr"}
HOSTILE = "<script>alert('x')</script>"


class Page(HTMLParser):
    """Reads a page, insists that every tag is closed in order, and keeps its tags and its text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.words = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


COMPARISON = [
    {"model": "learned weights", "C": 10, "accuracy": 0.975},
    {"model": "plain sum", "C": 1, "accuracy": 0.95},
]


@pytest.fixture
def summary(model):
    return summarize(model, COMPARISON, title="Three senses", notes=["Half of the data is held back."])


def test_the_page_shows_every_figure(summary):
    text = Page(render_html(summary)).text
    assert "sound carries most of the weight (75%). 2 of 3 views are used." in text
    assert "within 5.0e-04 (relative) of the best possible" in text
    assert "sound 0.6000 75.0% text 0.2000 25.0% image 0 0.0%" in text
    assert "learned weights 10 0.9750 plain sum 1 0.9500" in text
    assert "Half of the data is held back." in text
    assert "1 10.5000 10.0000 5.0e-01 2 10.0625 10.0000 6.2e-02" in text
    assert "Estimator ToyClassifier Classes 3, 7 C 10.0" in text


def test_bars_are_as_long_as_the_weights(summary):
    bars = [div["style"] for div in Page(render_html(summary)).all("div") if div["class"] == "bar"]
    assert [float(re.search(r"width: ([\d.]+)%", style)[1]) for style in bars] == [100.0, 33.33, 0.0]


def test_the_page_stands_alone(summary):
    page = Page(render_html(summary))
    assert not {tag for tag, _ in page.tags} & {"link", "img", "iframe", "base", "form"}
    assert not any("src" in attributes for _, attributes in page.tags)
    links = [attributes["href"] for _, attributes in page.tags if "href" in attributes]
    assert links and all(link.startswith("#") for link in links)
    assert set(re.findall(r"url\((.)", render_html(summary))) == {"#"}
    assert "://" not in render_html(summary)


def test_the_page_is_accessible(summary):
    page = Page(render_html(summary))
    assert page.all("html") == [{"lang": "en"}]
    assert page.all("meta")[1] == {"name": "viewport", "content": "width=device-width, initial-scale=1"}
    identifiers = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(set(identifiers)) == len(identifiers)
    labels = [attributes["aria-labelledby"] for _, attributes in page.tags if "aria-labelledby" in attributes]
    assert len(labels) == 6
    descriptions = [a["aria-describedby"] for _, a in page.tags if "aria-describedby" in a]
    assert descriptions and set(descriptions) <= set(identifiers)
    assert all(name in identifiers for label in labels for name in label.split())
    assert page.all("svg")[0]["role"] == "img"
    assert all("scope" in cell for cell in page.all("th"))
    assert len(page.all("h1")) == 1


def test_hostile_names_do_not_become_markup():
    model = ToyClassifier(
        [HOSTILE, '" onload="x'],
        [0.5, 0.25],
        classes_=[HOSTILE, "b"],
        status_=HOSTILE,
        history_=history([0.5]),
        machine_names_=[HOSTILE, "b"],
        machine_weights_=[[0.5, 0.5], [0.5, 0.0]],
    )
    summary = summarize(model, [{HOSTILE: HOSTILE}], title=HOSTILE, notes=[HOSTILE])
    page = Page(render_html(summary))
    assert page.all("script") == [{}]
    assert not any("onload" in attributes for _, attributes in page.tags)
    assert page.text.count(HOSTILE) == 11
    markdown = render_markdown(summary)
    assert "<script" not in markdown
    assert markdown.count("&lt;script&gt;") == 6


@given(st.text(min_size=1), st.floats(0, 1))
def test_any_name_makes_a_page_and_a_table_with_as_many_cells(name, weight):
    model = type("Model", (), {"view_names_": [name, "b"], "kernel_weights_": [weight, 0.5]})()
    summary = summarize(model, title="Names")
    Page(render_html(summary))
    rows = [line for line in render_markdown(summary).split("\n") if line.startswith("|")]
    assert len(rows) == 4
    assert all(len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 4 for row in rows)


def test_a_gap_that_was_missed_is_said(model):
    model.dual_gap_ = 0.25
    text = Page(render_html(summarize(model))).text
    assert "within 2.5e-01 (relative) of the best possible. That is more than the 1.0e-03 asked for." in text


def test_the_page_says_what_a_prediction_costs(model):
    assert "A prediction" not in Page(render_html(summarize(model))).text
    model.total_cost_, model.support_ = 12.5, np.arange(40)
    text = Page(render_html(summarize(model))).text
    assert "compares with 40 support samples" in text
    assert "its cost is 12.5, where all the views to one support sample cost 1." in text


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([0.47, 0.469, 0.061], "a and b share the largest weight (about 47% each). 3 of 3"),
        ([0.47, 0.45, 0.08], "a carries the largest weight (47%). 3 of 3"),
        ([0.02, *[0.008] * 110, 0.1], "view 111 carries the largest weight (10%)."),
        ([0.2] * 4 + [0.1] * 2, "4 views share the largest weight (about 20% each)."),
    ],
)
def test_near_ties_share_the_first_place(weights, said):
    names = ["a", "b", "c"] if len(weights) == 3 else [f"view {m}" for m in range(len(weights))]
    assert said in render_markdown(summarize(ToyClassifier(names, weights)))
    equal = render_markdown(summarize(ToyClassifier(names, [0.5] * len(weights))))
    assert "carries" not in equal and "share the" not in equal


def test_without_history_and_comparison_the_page_has_neither():
    page = Page(render_html(summarize(ToyClassifier(["a"], [1.0]), notes=["A note."])))
    assert page.all("svg") == []
    assert "Comparison" not in page.text
    assert "A note." in page.text


def test_weights_and_steps_of_the_machines_are_shown():
    steps = [{**step, "machine": machine} for machine in (0, 1) for step in history([0.5, 0.25])]
    model = ToyClassifier(
        ["a", "b"],
        [0.375, 0.625],
        machine_names_=["w", "x"],
        machine_weights_=[[0.5, 0.5], [0.25, 0.75]],
        history_=steps,
    )
    page = Page(render_html(summarize(model)))
    assert "w 0.5000 0.5000 x 0.2500 0.7500" in page.text
    assert "1 2 10.2500 10.0000 2.5e-01" in page.text
    assert "2 lines, one for each machine." in page.text and "a line for each machine." in page.text


def test_markdown_shows_every_figure(summary):
    lines = render_markdown(summary).splitlines()
    assert lines[0] == "# Three senses"
    assert "| sound | 0.6000 | 75.0% |" in lines
    assert "| learned weights | 10 | 0.9750 |" in lines
    assert "| 0 | 2 | 10.0625 | 10.0000 | 0.0625 |" in lines
    assert lines[-1] == "Half of the data is held back."


def test_saving_chooses_the_format_by_the_suffix(summary, tmp_path):
    folder = tmp_path / "new" / "folder"
    assert save_report(summary, folder / "a.html").read_text(encoding="utf-8") == render_html(summary)
    assert save_report(summary, str(folder / "a.md")).read_text(encoding="utf-8") == render_markdown(summary)
    assert save_report(summary, folder / "b.HTML").read_text(encoding="utf-8") == render_html(summary)
    assert json.loads(save_report(summary, folder / "a.json").read_text(encoding="utf-8")) == summary


def test_an_unknown_suffix_is_refused_before_anything_is_written(summary, tmp_path):
    with pytest.raises(ValueError, match=r"\.html, \.md, \.json; got 'a.pdf'"):
        save_report(summary, tmp_path / "new" / "a.pdf")
    assert list(tmp_path.iterdir()) == []

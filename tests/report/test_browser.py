"""The page in a browser: no errors, no requests; tables, pictures, phones, paper and keyboards work."""

import re
import shutil
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from matplotlib import colormaps

from multikernel.report import save_report, summarize
from multikernel.viz.samples import samples_as_drawn
from tests.report.conftest import ToyClassifier, history
from tests.report.evaluations import VIEWS, evaluation

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on PATH (Debian: apt install chromium)")

QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HOSTILE = ["</script><script>alert(1)</script>", '"onload="alert(1)', "x" * 300, "\u202eצליל", "🦊", ""]


def write_report(path, views, **options):
    weights = [0.5, 0.25] + [0.125] * (len(views) - 2)
    model = ToyClassifier(
        list(views),
        weights,
        dual_gap_=5e-4,
        history_=history([0.5, 0.0625, 0.0005]),
        machine_names_=["a", "b"],
        machine_weights_=[weights, weights[::-1]],
    )
    made = evaluation(views=views, gate=True, **options)
    levels = ("error", "warning", "note")
    findings = [
        {"level": level, "subject": views[0], "what": "Doubled.", "remedy": "Drop it."} for level in levels
    ]
    doctor = {"headline": "three findings", "findings": findings}
    return save_report(summarize(model, evaluation=made, doctor=doctor), path)


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    return {
        "sound": write_report(folder / "sound.html", VIEWS, n=40),
        "large": write_report(folder / "large.html", VIEWS, n=5000),
        "wide": write_report(
            folder / "wide.html",
            [f"view {m}" for m in range(22)],
            classes=[f"class {k}" for k in range(30)],
            n=12,
        ),
        "hostile": write_report(folder / "hostile.html", HOSTILE, classes=HOSTILE, n=600),
    }


@pytest.fixture
def open_page(browser, pages):
    """Opens a page, and insists at the end that nothing went wrong and nothing was fetched."""
    opened, trouble, requests = [], [], []

    def open_(name, **context):
        page = browser.new_page(**context)
        opened.append(page)
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))
        # pictures within the page are requests of the browser to itself
        page.on("request", lambda request: requests.append(request.url))
        page.goto(pages[name].as_uri())
        return page

    yield open_
    for page in opened:
        page.close()
    assert trouble == []
    assert len(opened) == sum(url.startswith("file:") for url in requests)
    assert all(url.startswith(("file:", "data:image/png;base64,")) for url in requests)


def column(page, number, table="gate-table"):
    return page.locator(f"#{table} tbody tr > :nth-child({number})").all_text_contents()


def test_a_click_on_a_heading_sorts(open_page):
    page = open_page("sound")
    assert column(page, 1)[:3] == ["0", "1", "2"]
    head = page.get_by_role("columnheader", name="sound").last
    head.get_by_role("button").click()
    weights = list(map(float, column(page, 4)))
    assert weights == sorted(weights) and head.get_attribute("aria-sort") == "ascending"
    head.get_by_role("button").click()
    assert list(map(float, column(page, 4))) == weights[::-1]
    assert head.get_attribute("aria-sort") == "descending"
    page.locator("#gate-table").get_by_role("button", name="Class").click()
    assert head.get_attribute("aria-sort") is None
    assert column(page, 2) == sorted(column(page, 2))
    assert len(column(page, 1)) == 40


def test_signs_and_missing_values_are_sorted_as_numbers(open_page):
    page = open_page("sound")
    difference = page.locator("#baselines-table").get_by_role("button", name="Difference")
    difference.press("Enter")
    assert column(page, 4, "baselines-table") == ["−0.0300", "+0.0100", "+0.0500", "–"]
    difference.press("Space")
    assert column(page, 4, "baselines-table") == ["+0.0500", "+0.0100", "−0.0300", "–"]


def test_the_search_field_filters_and_says_how_many(open_page):
    page = open_page("sound")
    status = page.get_by_role("status")
    assert status.text_content() == "Showing all 40 rows."
    field = page.get_by_label("Search the samples")
    field.focus()
    page.keyboard.type("DOG 3")
    assert status.text_content() == f"Showing {len(column(page, 1))} matching rows, of 40 in all."
    assert 0 < len(column(page, 1)) < 40 and "dog" in column(page, 2)
    field.fill("no such sample")
    assert column(page, 1) == []
    assert status.text_content() == "Showing 0 matching rows, of 40 in all."
    field.fill("")
    assert len(column(page, 1)) == 40


def test_long_tables_are_searched_and_sorted_as_a_whole(open_page):
    page = open_page("large")
    status = page.get_by_role("status")
    assert len(column(page, 1)) == 500
    assert status.text_content() == "Showing the first 500 of 5000 rows."
    row = page.locator("#gate-table").get_by_role("button", name="Row")
    row.click()
    row.click()
    assert column(page, 1)[:2] == ["4999", "4998"]
    page.get_by_label("Search the samples").fill("4321")
    assert column(page, 1) == ["4321"]
    assert status.text_content() == "Showing 1 matching row, of 5000 in all."
    assert page.locator("#gate-table tbody th").get_attribute("scope") == "row"
    assert page.locator("#gate-table tbody td").last.get_attribute("class") == "number"


def test_choosing_a_view_colours_the_samples(open_page):
    page = open_page("sound")
    made = evaluation(gate=True, n=40)
    weights = {row["row"]: row["weights"] for row in made["gate"]["rows"]}
    rows = [point["row"] for point in samples_as_drawn(made, gated=True)]
    heaviest = max(map(max, weights.values()))
    fills = "points => points.map(point => getComputedStyle(point).fill)"
    said = page.locator("#gate-points .mark title").all_text_contents()
    assert [int(text.split(",")[0].removeprefix("row ")) for text in said] == rows
    for m, view in enumerate(VIEWS):
        page.get_by_label("Color the samples by the weight of").select_option(label=view)
        assert page.locator("#gate-shown").text_content() == view
        levels = [round(35 * weights[row][m] / heaviest) / 35 for row in rows]
        expected = [
            f"rgb({r}, {g}, {b})"
            for r, g, b in (colormaps["viridis"](level, bytes=True)[:3] for level in levels)
        ]
        found = page.locator("#gate-points .mark").evaluate_all(fills)
        assert np.abs(rgb(found) - rgb(expected)).max() <= 1  # how a color is rounded


def rgb(colors):
    return np.array([[int(part) for part in re.findall(r"\d+", color)] for color in colors])


def test_the_dark_scheme_is_dark(open_page):
    page = open_page("sound")
    colors = """() => [getComputedStyle(document.body).backgroundColor,
        getComputedStyle(document.querySelector(".picture text")).fill,
        getComputedStyle(document.querySelector("#embedding ~ figure .mark")).fill]"""
    assert page.evaluate(colors) == ["rgb(255, 255, 255)", "rgb(87, 96, 106)", "rgb(31, 95, 159)"]
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(colors) == ["rgb(20, 23, 27)", "rgb(164, 173, 184)", "rgb(106, 169, 230)"]


@pytest.mark.parametrize("name", ["sound", "hostile"])
def test_no_page_is_wider_than_its_window(open_page, name):
    page = open_page(name)
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    for width in (360, 800, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_paper_shows_everything(open_page):
    page = open_page("sound")
    folded = page.locator("#calibration-table")
    assert not folded.is_visible()
    page.emulate_media(media="print", color_scheme="dark")
    assert page.locator("section").count() == 16
    hidden = """() => Array.from(document.querySelectorAll("section, table, figure, svg[role=img]"))
        .filter(part => !part.checkVisibility() || part.getBoundingClientRect().height < 10).length"""
    assert page.evaluate(hidden) == 0
    assert folded.is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.get_by_role("navigation").is_visible()
    height = page.locator("#gate-table").evaluate("t => t.offsetHeight - t.parentElement.offsetHeight")
    assert height <= 0
    page.emulate_media(media="screen")
    assert page.pdf(format="A4").startswith(b"%PDF")
    assert page.locator("details[open]").count() == 0


def test_paper_cuts_no_table_off(open_page):
    page = open_page("wide")
    page.set_viewport_size({"width": 718, "height": 1000})  # A4 with its usual margins
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    tables = "() => Array.from(document.querySelectorAll('table')).filter(t => t.checkVisibility())"
    edges = page.evaluate(f"({tables})().map(t => t.getBoundingClientRect().right)")
    assert max(edges) <= 718
    heads = page.locator("table.confusion.block thead th.name").all_text_contents()
    assert heads == [f"class {k}" for k in range(30)]
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("table.block, table.blocked").count() == 0


def test_a_table_that_scrolls_says_so_and_keeps_its_labels(open_page):
    page = open_page("wide")
    page.set_viewport_size({"width": 360, "height": 800})
    box = page.get_by_role("region", name="Confusion matrix")
    hint = "box => getComputedStyle(box, '::before').content"
    assert "Scrolls sideways" in box.evaluate(hint)
    assert page.get_by_role("region", name="Weights of the views").evaluate(hint) == "none"
    box.evaluate("box => { box.scrollLeft = 500; }")
    first = box.locator("tbody th").first
    assert abs(first.bounding_box()["x"] - box.bounding_box()["x"]) < 1
    # a picture scrolls before its text gets too small
    for picture in page.locator("section > figure > .picture").all():
        scale = picture.evaluate("svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width")
        assert scale > 0.94
    wide = page.locator("figure[data-wide]")
    assert wide.count() and "Scrolls sideways" in wide.first.evaluate(hint)
    assert wide.first.get_attribute("tabindex") == "0"
    page.set_viewport_size({"width": 1280, "height": 800})
    page.wait_for_function("!document.querySelector('figure[data-wide], figure[tabindex]')")


def test_everything_has_a_name(open_page):
    page = open_page("sound")
    tree = page.locator("body").aria_snapshot()
    roles = "img|region|table|combobox|searchbox|button|link|heading|navigation|columnheader|rowheader"
    parts = re.findall(rf"^\s*- '?({roles})\b( \"[^\"]+)?", tree, re.MULTILINE)
    assert [role for role, name in parts if not name] == []
    counts = Counter(role for role, _ in parts)
    assert counts["img"] == 22 and counts["navigation"] == counts["combobox"] == counts["searchbox"] == 1
    assert counts["button"] > 10 and counts["table"] == 16


def test_headings_are_in_order_and_the_contents_lead_to_all_sections(open_page):
    page = open_page("sound")
    levels = page.locator("h1, h2, h3, h4").evaluate_all("all => all.map(head => Number(head.tagName[1]))")
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    links = page.locator("nav a").evaluate_all("all => all.map(link => link.getAttribute('href').slice(1))")
    assert links == page.locator("h2").evaluate_all("all => all.map(head => head.id)")


def test_a_pointer_reads_the_cells_of_a_map_and_the_values_of_bars(open_page):
    page = open_page("sound")
    figure = page.locator("section[aria-labelledby=cross-view] figure")
    figure.scroll_into_view_if_needed()
    box = figure.locator("image").first.bounding_box()
    note = figure.locator(".hover")
    assert note.text_content() == "Point at a cell to read it."
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.1 * box["height"])  # first row, second column
    assert note.text_content() == "column 0 (sound), column 1 (image): 0.25"
    page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 0.9 * box["height"])
    assert note.text_content() == "column 2 (text), column 2 (text): 1"
    page.mouse.move(0, 0)
    assert note.text_content() == "Point at a cell to read it."
    of_bars = page.locator("#without-view ~ figure .mark title").all_text_contents()
    assert of_bars[:3] == ["sound: 0.05", "image: 0.01", "text: -0.03"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(pages, browser, scheme):
    # the page refuses every script but its own, so that this one needs a context without the policy
    context = browser.new_context(bypass_csp=True, color_scheme=scheme)
    page = context.new_page()
    page.goto(pages["sound"].as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
    found = Axe().run(page, options={"runOnly": {"type": "tag", "values": rules}}).response
    context.close()
    told = [(rule["id"], node["html"][:200]) for rule in found["violations"] for node in rule["nodes"]]
    assert told == [] and "color-contrast" in {rule["id"] for rule in found["passes"]}


def test_the_keyboard_reaches_the_content_first(open_page):
    page = open_page("sound")
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the findings")
    assert skip.evaluate("link => link === document.activeElement && link.getBoundingClientRect().left >= 0")
    outline = skip.evaluate("link => getComputedStyle(link).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('main').contains(document.activeElement)")


def test_hostile_names_do_not_run_and_are_shown(open_page):
    page = open_page("hostile")
    page.get_by_label("Search the samples").fill("alert")
    assert set(column(page, 2)) <= set(HOSTILE)
    options = page.locator("#gate-view option").all_text_contents()
    assert options[0] == HOSTILE[0] and options[1] == HOSTILE[1]
    page.locator("#gate-table").get_by_role("button", name=HOSTILE[0]).click()
    page.get_by_label("Color the samples").select_option(index=1)
    assert page.locator("#gate-shown").text_content() == HOSTILE[1]


def test_the_policy_refuses_other_scripts_and_every_request(pages, browser):
    page = browser.new_page()
    page.route("http**", lambda route: route.abort())  # nothing leaves, even if the policy fails
    page.goto(pages["sound"].as_uri())
    page.evaluate(
        """() => {
            window.refused = [];
            const note = (event) => window.refused.push(event.effectiveDirective);
            document.addEventListener("securitypolicyviolation", note);
            const script = document.createElement("script");
            script.textContent = "window.ran = true";
            document.body.append(script);
            fetch("http://localhost/").catch(() => null);
            new Image().src = "http://localhost/";
        }"""
    )
    page.wait_for_function("window.refused.length >= 3", timeout=10_000)
    assert sorted(page.evaluate("window.refused")) == ["connect-src", "img-src", "script-src-elem"]
    assert page.evaluate("window.ran") is None
    page.close()


def test_without_scripts_the_tables_are_read_as_they_are(open_page):
    page = open_page("large", java_script_enabled=False)
    assert len(column(page, 1)) == 500
    assert page.get_by_role("button").count() == 0
    assert not page.get_by_label("Search the samples").is_visible()
    assert page.get_by_text("The first 500 of 5000 rows. All are in the report as JSON.").is_visible()

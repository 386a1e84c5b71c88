"""Cards of models and results in a notebook: they can be read in both schemes of colors, by everyone."""

import numpy as np
import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe

from multikernel import MKLClassifier, View, compare, evaluate
from multikernel.doctor import diagnose
from multikernel.inspection import feature_importance, select_views, view_shapley
from multikernel.kernels import Gaussian, Linear
from tests.report.test_browser import CHROMIUM, QUIET

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on PATH (Debian: apt install chromium)")

# What JupyterLab says of its outputs, by theme.
STYLE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Notebook</title><style>
body { background: %s; color: %s; font: 13px sans-serif; }
.output table { border-collapse: collapse; font-size: 12px; } .output td, .output th { padding: 4px; }
</style></head><body><main><h1>Notebook</h1>%s</main></body></html>"""
THEMES = {"light": ("#ffffff", "#212121"), "dark": ("#111111", "#e0e0e0")}


@pytest.fixture(scope="module")
def cards():
    """The cards of a model and of what is found of it, by name."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    y = np.where(X["a"] + rng.normal(size=60) > 0, "ill", "well")
    views = [View("one <&>", Linear(), ["a", "b"]), View("two", Gaussian(), ["c", "d"])]
    model = MKLClassifier(views).fit(X, y)
    rivals = {"learned": model, "one": MKLClassifier(views[:1])}
    found = {
        "model": model,
        "evaluation": evaluate(model, X, y, parts=["held_out", "stability"], progress=False),
        "comparison": compare(rivals, X, y, progress=False),
        "columns": feature_importance(model, X, method="sensitivity"),
        "views": select_views(model, X, y, n_permutations=99),
        "worth": view_shapley(model, X, y),
        "doctor": diagnose(X, y, views),
    }
    return {name: one._repr_html_() for name, one in found.items()}


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield chromium
        chromium.close()


@pytest.mark.parametrize("theme", list(THEMES))
def test_cards_are_readable_in_both_themes(browser, cards, theme):
    body = "".join(f'<div class="output" id="{name}">{card}</div>' for name, card in cards.items())
    context = browser.new_context(color_scheme=theme, viewport={"width": 800, "height": 900})
    page = context.new_page()
    trouble = []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.set_content(STYLE % (*THEMES[theme], body))
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
    # the diagram above the card of a model is scikit-learn's
    options = {"runOnly": {"type": "tag", "values": rules}}
    found = Axe().run(page, context={"exclude": [".sk-top-container"]}, options=options).response
    shown = {name: page.locator(f"#{name}").inner_text() for name in cards}
    context.close()
    told = [(rule["id"], node["html"][:200]) for rule in found["violations"] for node in rule["nodes"]]
    assert told == [] and "color-contrast" in {rule["id"] for rule in found["passes"]}
    assert trouble == []
    assert "one <&>" in shown["model"] and "status" in shown["model"]
    assert "accuracy" in shown["evaluation"] and "learned" in shown["comparison"]
    assert all(len(text) > 40 for text in shown.values())

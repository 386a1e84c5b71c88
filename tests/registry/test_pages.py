"""The pages of the methods and the page to choose by, without building the site: all there, all reachable."""

import re
import sys
from pathlib import Path

import pytest

from multikernel.registry import get_method, list_methods

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS / "_ext"))

import method_pages  # noqa: E402
import method_pictures  # noqa: E402

METHODS = list_methods()
PAGES = sorted((DOCS / "methods").glob("*.md"))
CHOOSE = (DOCS / "choose.md").read_text(encoding="utf-8")
# On the page, and no methods.
FUNCTIONS = {"compare", "enriched_sets", "explain", "feature_importance", "select_views", "view_shapley"}
OTHER_NAMES = {"costs", "cost_path", "per_feature", "cluster_stability", "eigengap", *FUNCTIONS}


def text_of(page):
    return (DOCS / f"{page}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method_has_its_page_and_its_picture(method):
    if method.learner is None:
        text = text_of(method.page)
        assert text.startswith(f"# {method.title}\n")
        assert f"<!-- about: {method.name} -->" in text
        assert "## When not to use it" in text
    else:
        assert f"<!-- learners: {method.about.family} -->" in text_of(method.page)
    assert method_pictures.caption_of(Path(method.page).name).endswith(".")


def test_there_are_no_other_pages_nor_pictures():
    names = {Path(method.page).name for method in METHODS}
    assert {page.stem for page in PAGES} == names | {"index"}
    tree = re.search(r"```\{toctree\}\n:hidden:\n\n(.*?)\n```", text_of("methods/index"), re.DOTALL)
    assert sorted(tree[1].splitlines()) == sorted(names)
    assert set(method_pictures.ESTIMATORS | method_pictures.LEARNERS) == names


def test_examples_are_short_and_print():
    for page in PAGES:
        blocks = method_pages.CODE.findall(page.read_text(encoding="utf-8"))
        assert len(blocks) == 1, page.name
        assert len([line for line in blocks[0].splitlines() if line.strip()]) <= 10, page.name
        assert "print(" in blocks[0], page.name


def test_links_lead_to_pages():
    for page in [*PAGES, DOCS / "choose.md"]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            made = "auto_examples" in target  # from examples/
            there = DOCS.parent / "examples" / f"{Path(target).stem}.py" if made else page.parent / target
            assert there.exists(), f"{page.name} links to {target}"


def test_every_method_that_is_named_to_choose_from_exists_and_all_can_be_found():
    cells = [cell for row in re.findall(r"^\|.*\|$", CHOOSE, re.MULTILINE) for cell in row.split("|")[1:-1]]
    words = {word for cell in cells for word in re.findall(r"`([a-z_]+)`", cell)}
    named = {get_method(word).name for word in words - OTHER_NAMES}
    assert {method.name for method in METHODS if method.learner is None} <= named
    for name, page in re.findall(r"\[`(\w+)`\]\((\w+/\w+)\.md\)", CHOOSE):
        assert get_method(name).page == page
    listed = method_pages.by_family()
    assert "(methods/index.md)" in CHOOSE
    for method in METHODS:
        target = f"({method.name}.md)" if method.learner is None else f"(#{method_pages.label(method)})"
        assert target in listed, method.name


def test_learners_named_beside_a_page_are_on_it():
    for cell in re.findall(r"\|([^|]*weights_\w+\.md[^|]*)\|", CHOOSE):
        pages = {f"methods/{page}" for page in re.findall(r"methods/(weights_\w+)\.md", cell)}
        for word in set(re.findall(r"`([a-z_]+)`", cell)) - OTHER_NAMES:
            method = get_method(word)
            assert method.learner is None or method.page in pages, word


def test_a_page_is_completed_with_facts_and_output():
    method = get_method("ridge")
    page = method_pages.complete(text_of(method.page))
    assert page.index("../auto_methods/ridge.png") < page.index(".. math::") < page.index("## Example")
    assert "| papers | Cortes, Mohri & Rostamizadeh, L2 regularization" in page
    assert re.search(r"```text\n\{'wave': [\d.]+, .*R² [\d.]+\n```", page)
    assert "multikernel fit data.csv --target y --method ridge --out model/" in page
    assert "{py:obj}`MKLRidge <multikernel.MKLRidge>`: regression" in page
    assert "<!--" not in page


def test_learners_have_a_section_each_and_transformers_no_command():
    sections = method_pages.learner_sections("margin")
    for method in list_methods(family="margin"):
        if method.learner is not None:
            assert f"({method_pages.label(method)})=\n## {method.class_names[0]}\n" in sections
    assert "::\n\n    min_{γ ∈ Γ}  (1 − Λ)" in sections  # the formula of EasyMKL, as it is written
    assert "\n    η_m ∝ γ'YK̂_mYγ,  Σ η = 1,\n" in sections
    assert "in Python only" in method_pages.command_line(get_method("pca"))
    assert "--target" not in method_pages.command_line(get_method("kmeans"))

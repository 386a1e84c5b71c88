"""The documentation site, without building it: its API reference is whole, its pages are made of results."""

import importlib
import itertools
import json
import pkgutil
import re
import sys
from pathlib import Path

import pytest

import multikernel

DOCS = Path(__file__).parents[1] / "docs"
sys.path.insert(0, str(DOCS / "_ext"))

import api_pages  # noqa: E402
import docstrings  # noqa: E402
import reproduction  # noqa: E402

from docs import check_code, check_site, draw_choose  # noqa: E402

# --- names and paths ---------------------------------------------------------------------------------------

PAGES = [
    *(DOCS.parent / name for name in ("README.md", "CONTRIBUTING.md", "benchmarks/README.md")),
    *sorted(DOCS.rglob("*.md")),
]
NAME = re.compile(r"(?<![\w/.-])((?:multikernel|studies|judges|benchmarks)(?:\.[A-Za-z_]\w*)+)")
FILE = re.compile(r"(?<![\w/.-])((?:multikernel|studies|judges|benchmarks|tests|docs|examples)/[\w./-]*\w)")
EXAMPLES = {"docs/methods/NAME.md", "tests/test_x.py"}  # of a name that the reader chooses
EXAMPLES |= {"docs/methods/centroid.md", "tests/core/svm/test_pinball.py"}  # that pages on how to add make
EXAMPLES |= {"studies/author1999/__init__.py", "docs/reproduce/author1999/table1.md"}


def is_importable(dotted):
    """Whether a dotted name is a module, or an attribute of one."""
    try:
        pkgutil.resolve_name(dotted)
    except (ImportError, AttributeError) as missing:
        return getattr(missing, "name", None) in (
            "torch",
            "celer",
        )  # peers of the benchmarks, not installed here
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS.parent).as_posix())
def test_names_and_paths_of_a_page_exist(page):
    text = page.read_text(encoding="utf-8")
    paths = set(FILE.findall(text)) - EXAMPLES
    missing = [name for name in sorted(set(NAME.findall(text))) if not is_importable(name)]
    missing += [path for path in paths if not any((at / path).exists() for at in (DOCS.parent, page.parent))]
    assert not missing


# --- API ---------------------------------------------------------------------------------------------------


def test_the_index_of_the_reference_has_every_public_module_once():
    listed = [name for names in api_pages.rooms().values() for name in names]
    assert sorted(listed) == sorted(api_pages.PUBLIC)


def test_every_room_of_the_package_is_in_the_reference_or_declared_internal():
    rooms = {module.name for module in pkgutil.iter_modules(multikernel.__path__)}
    public = {name.split(".")[1] for name in api_pages.PUBLIC[1:]}
    assert {room for room in rooms if not room.startswith("_")} == public | set(api_pages.INTERNAL)


def test_every_public_name_is_in_the_reference_once_and_has_a_docstring():
    pages = api_pages.pages()
    listed = []
    for name in api_pages.PUBLIC:
        page = pages[f"{name}.rst"]
        entries = re.findall(r"^   (\w+)$", page, re.MULTILINE)
        links = re.findall(r"^\* :obj:`(\w+) <", page, re.MULTILINE)
        module = importlib.import_module(name)
        assert sorted(entries + links) == sorted(getattr(module, "__all__", ())), name
        listed += [getattr(module, entry) for entry in entries]
        assert name in pages["index.rst"]
    assert len({id(value) for value in listed}) == len(listed)
    silent = [value for value in listed if callable(value) and not (value.__doc__ or "").strip()]
    assert not silent


def test_no_two_pages_differ_in_capitals_only():
    names = api_pages.home_of_each().values()
    renamed = api_pages.filename_map()
    files = [renamed.get(name, name).lower() for name in names]
    assert len(set(files)) == len(files)
    assert "multikernel.kernels.center" in renamed


def test_pages_of_names_that_are_gone_are_dropped(tmp_path):
    folder = tmp_path / api_pages.FOLDER
    folder.mkdir()
    for name in ("multikernel.View", "multikernel.views.View", "multikernel.kernels.center-function"):
        (folder / f"{name}.rst").touch()
    api_pages.write_pages(tmp_path)
    left = {path.name for path in folder.iterdir()} - api_pages.pages().keys()
    assert left == {"multikernel.View.rst", "multikernel.kernels.center-function.rst"}


@pytest.mark.parametrize(
    ("line", "safe"),
    [
        ("below objective_ (1 − dual_gap_).", "below ``objective_`` (1 − ``dual_gap_``)."),
        ("relative to |objective_|", r"relative to \|objective\_\|"),
        ("``C_`` and :math:`|w|_p` stay", "``C_`` and :math:`|w|_p` stay"),
        (r":ivar gap\_: of objective_", r":ivar gap\_: of ``objective_``"),
        (r"* **C\_** (*float, of gap_ (x)*) -- gap_", r"* **C\_** (*float, of gap\_ (x)*) – ``gap_``"),
        ("K_m and x_i stay", "K_m and x_i stay"),
        ("* **C** (*float*) --", "* **C** (*float*):"),
    ],
)
def test_fitted_attributes_and_bars_of_docstrings_are_no_markup(line, safe):
    assert docstrings.safe_lines([line]) == [safe]


def test_code_in_docstrings_is_left_alone():
    lines = [">>> model.gap_ | 1", "x_ | y_", "", "Code::", "", "    a_ | b_", "", "c_"]
    assert docstrings.safe_lines(lines) == [*lines[:-1], "``c_``"]


# --- reproduction ------------------------------------------------------------------------------------------


@pytest.fixture
def results(tmp_path_factory):
    root = tmp_path_factory.mktemp("results")

    def write(study, kind, number, counts, **more):
        folder = root / study
        folder.mkdir(exist_ok=True)
        result = {
            "study": study,
            "citation": "A. Author (1999). *A title*.",
            kind: number,
            "title": f"Author (1999), {kind} {number}: what | it has",
            "splits": 30,
            "agreement": [{"section": "a", "compared": n, "beyond": k} for n, k in counts],
            **more,
        }
        (folder / f"{kind}{number}.json").write_text(json.dumps(result), encoding="utf-8")
        (folder / f"{kind}{number}.md").touch()

    write("author1999", "table", "5.10", [(10, 1), (10, 2)])
    write("author1999", "table", "5.6", [(4, 0)])
    write("author1999", "figure", "1", [])
    counts = {
        "published": 9,
        "compared": 2,
        "beyond": 1,
        "doubtful": 2,
        "single": 0,
        "stand_in": 3,
        "absent": 2,
    }
    rows = [{"stand_in": "Made-up data."}, {"stand_in": "Made-up data."}, {}]
    write("writer2001", "table", "2", [], cells=counts, rows=rows)
    write("writer2001", "own", "-more", [], own="more")
    write("ours", "own", "-alone", [], own="alone")
    claims = [
        {"sentence": "It is so.", "verdict": "reproduced", "evidence": "table 2"},
        {"sentence": "It is not.", "verdict": "cannot be tested", "evidence": ""},
    ]
    (root / "writer2001" / "study.json").write_text(json.dumps({"claims": claims}), encoding="utf-8")
    return root


def test_a_title_without_a_year_is_short_up_to_its_colon():
    assert reproduction.short_title([{"title": "Structured data: texts"}]) == "Structured data"


def test_the_overview_counts_what_the_results_say(results):
    page = reproduction.overview(results)
    assert "| [Author (1999)](#reproduced-author1999) | 2 and 1 | 24 | 21 | 3 | 0 | 0 | 0 | 0 | – |" in page
    assert page.index("table 5.6]") < page.index("table 5.10]") < page.index("figure 1]")
    assert "| what \\| it has | 20 | 17 | 3 | 0 | 0 | 0 | 0 |" in page
    assert "| what \\| it has | – | – | – | – | – | – | – |" in page
    assert "\\*A title\\*" in page
    assert "Author (1999), table 5.6 <reproduce/author1999/table5.6>" in page


def test_the_overview_has_stand_ins_claims_and_experiments_of_our_own(results):
    page = reproduction.overview(results)
    counts = "| what \\| it has | 9 | 1 | 1 | 2 | 0 | 3 | 2 |"
    assert f"| [table 2](reproduce/writer2001/table2.md) {counts}" in page
    assert "- [table 2](reproduce/writer2001/table2.md): Made-up data." in page
    assert "| 9 | 1 | 1 | 2 | 0 | 3 | 2 | 1 / 0 / 1 |" in page  # of the paper, with its claims
    assert "| It is so. | reproduced | table 2 |" in page
    own = page.index("Experiments of our own:")
    assert page.index("[our own, more](reproduce/writer2001/own-more.md)") > own
    assert "#reproduced-ours" not in page  # no paper, so no row among the papers
    assert "(reproduced-ours)=" in page


def test_every_stored_result_is_on_the_page_of_reproduction():
    page = reproduction.overview(DOCS / "reproduce")
    pages = (path for path in DOCS.glob("reproduce/*/*.json") if path.with_suffix(".md").exists())
    stored = sorted(path.relative_to(DOCS).with_suffix("") for path in pages)
    assert len(stored) >= 40
    assert all(f"({path.as_posix()}.md)" in page and f"<{path.as_posix()}>" in page for path in stored)
    assert reproduction.MARK in (DOCS / "reproduction.md").read_text(encoding="utf-8")


# --- code of the pages -------------------------------------------------------------------------------------


def test_each_erratum_shows_by_code_that_runs_what_it_says(tmp_path, monkeypatch):
    """An entry is a heading of the third level, with a block of Python and the text that it prints."""
    monkeypatch.delenv("MULTIKERNEL_DATA", raising=False)
    page = DOCS / "errata.md"
    entries = re.split(r"^### ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    for entry in entries:
        languages = [block.language for block in check_code.blocks_of(entry)]
        shown = [pair for pair in itertools.pairwise(languages) if pair == ("python", "text")]
        assert shown, entry.splitlines()[0]
    tally = check_code.run_page(page, tmp_path)
    assert tally.n_compared >= len(entries)


@pytest.fixture(autouse=True)
def _refusing_command(tmp_path, monkeypatch):
    """A `multikernel` that refuses everything at once, beside the Python that the pages are run by."""
    command = tmp_path / "bin" / "multikernel"
    command.parent.mkdir()
    command.write_text('#!/bin/sh\necho "no $1"\nexit 2\n')
    command.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(command.with_name("python")))


def run(tmp_path, text):
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    return check_code.run_page(page, tmp_path)


def test_blocks_share_a_namespace_and_their_output_is_compared(tmp_path):
    tally = run(tmp_path, "```python\nx = 1\n```\n\n```python\nprint(x, 2)\n```\n\n```text\n1 ...\n```\n")
    assert (tally.n_run, tally.n_compared) == (2, 1)
    assert run(tmp_path, "<!-- not run: no -->\n```python\n1 / 0\n```\n").n_run == 0
    refused = (
        "```sh\n$ multikernel a  # exits 2\nno a\n$ multikernel b  # exits 2\n```\n\n```text\nno b\n```\n"
    )
    assert run(tmp_path, refused).n_compared == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# Title\n\n```python\nx = 1\nx / 0\n```\n", r"page\.md:5: ZeroDivisionError"),
        ("```python\nx = (\n```\n", r"page\.md:2: .*SyntaxError"),
        ("```python\nprint(1)\n```\n\n```text\n2\n```\n", r"page\.md:6: the page shows\n2\n\nbut .*\n1"),
        (
            "```sh\n# first\nmultikernel nonsense\n```\n",
            r"page\.md:3: `multikernel nonsense` exits 2.*no non",
        ),
        ("```sh\n$ multikernel a # exits 2\nyes\n```\n", r"page\.md:2: the page shows\nyes"),
    ],
)
def test_a_page_that_is_wrong_is_named_with_its_line(tmp_path, text, message):
    with pytest.raises(check_code.PageError, match=re.compile(message, re.DOTALL)):
        run(tmp_path, text)


def test_commands_have_prompts_continuations_outputs_and_exit_codes():
    body = "$ multikernel fit a \\\n    --out b\nDone\n$ multikernel predict c  # exits 1\n"
    first, second = check_code.commands_of(check_code.Block("sh", body, 10))
    assert first.text.split() == ["multikernel", "fit", "a", "--out", "b"]
    assert (first.line, first.code, first.expected) == (10, 0, "Done\n")
    assert (second.line, second.code, second.expected) == (13, 1, None)
    assert check_code.commands_of(check_code.Block("sh", "make docs\n", 1)) == []


def test_a_page_names_the_data_that_it_needs_and_is_not_run_without_them(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv(check_code.DATA_VARIABLE, "")  # put back at the end
    page = tmp_path / "page.md"
    page.write_text("# Title\n\n<!-- data: one, sets/two.gmt -->\n\n```python\n1 / 0\n```\n")
    assert check_code.missing_data(page, None) == ["one", "sets/two.gmt"]
    (tmp_path / "one.npz").touch()
    assert check_code.missing_data(page, tmp_path) == ["sets/two.gmt"]
    assert check_code.run_and_report(page, writes=False, data=tmp_path)
    assert "not run, as sets/two.gmt is missing" in capsys.readouterr().out
    (tmp_path / "sets").mkdir()
    (tmp_path / "sets" / "two.gmt").touch()
    assert not check_code.run_and_report(page, writes=False, data=tmp_path)


def test_what_a_page_prints_is_written_into_it(tmp_path, monkeypatch):
    monkeypatch.setenv(check_code.DATA_VARIABLE, "")  # put back at the end
    page = tmp_path / "page.md"
    blocks = "```python\nprint('a\\nb')\n```\n\n```text\nx\n```\n\n"
    page.write_text(blocks + "```python\nprint(1, 2)\n```\n\n```text\n1 ...\n```\nend\n")
    assert check_code.run_and_report(page, writes=True, data=None)
    assert page.read_text() == (blocks.replace("x\n", "a\nb\n")) + (
        "```python\nprint(1, 2)\n```\n\n```text\n1 ...\n```\nend\n"
    )


TUTORIALS = [page for page in sorted((DOCS / "tutorials").glob("*.md")) if page.name != "index.md"]


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_each_tutorial_is_listed_says_what_was_found_and_knows_its_data(page):
    text, index = page.read_text(encoding="utf-8"), (DOCS / "tutorials" / "index.md").read_text()
    assert f"]({page.name})" in index and f"\n{page.stem}\n" in index
    if page.stem != "from_other_packages":
        assert "**Run time**" in text and "## What was found, and how sure it is" in text
    asked = set(re.findall(r'load_dataset\("(\w+)"\)', text)) | set(
        re.findall(r'load_network\("(\w+)"\)', text)
    )
    assert asked == set(check_code.missing_data(page, None)) - {"genesets/hallmark.gmt"}


# --- the built site ----------------------------------------------------------------------------------------


def test_what_is_loaded_from_elsewhere_and_dead_links_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<link rel="stylesheet" href="https://x.org/a.css"><script src="//x.org/b.js"></script>'
        '<img src="here.png"><a href="https://x.org">fine</a><a href="b.html#there">fine</a>'
        '<a href="b.html#nowhere">dead</a><a href="c.html">dead</a><a href="#top">dead</a>'
    )
    (tmp_path / "b.html").write_text('<h1 id="there"></h1>')
    (tmp_path / "site.css").write_text("@font-face { src: url(https://x.org/f.woff) }")
    (tmp_path / "here.png").touch()
    pages = check_site.read_pages(tmp_path)
    loads = check_site.foreign_loads(tmp_path, pages)
    assert [load.split("loads ")[1] for load in loads] == [
        "https://x.org/a.css",
        "//x.org/b.js",
        "https://x.org/f.woff",
    ]
    dead = check_site.dead_links(pages)
    assert [link.split(": ")[1].split()[0] for link in dead] == ["b.html#nowhere", "c.html", "#top"]


def test_the_pages_that_people_write_are_opened_and_samples_of_the_others(tmp_path):
    names = ["start.html", "guide/views.html", "auto_api/a.html", "_modules/b.html", check_site.SAMPLES[0]]
    pages = [tmp_path.resolve() / name for name in names]
    assert check_site.written_pages(tmp_path, pages) == ["start.html", "guide/views.html", names[-1]]
    assert set(check_site.SEARCHES.values()) & {f"tutorials/{page.stem}.html" for page in TUTORIALS}


def test_the_decision_picture_is_what_its_script_draws_and_names_what_there_is():
    assert draw_choose.PATH.read_text(encoding="utf-8") == draw_choose.picture()
    named = {
        word for _, answers in draw_choose.STEPS for word in re.findall(r"\w*MKL\w+|\w+Ridge\b", str(answers))
    }
    public = {address.rpartition(".")[2] for address in api_pages.home_of_each().values()}
    assert len(named) > 8 and named <= public


def test_the_tests_on_the_page_of_defects_exist():
    root = Path(__file__).parents[1]
    text = (root / "docs" / "benchmarks" / "defects.md").read_text(encoding="utf-8")
    named = re.findall(r"`(\S+\.py)::(\w+)`", text)
    assert len(named) > 20 and text.count("\n| ") >= 13
    for path, name in named:
        code = (root / path).read_text(encoding="utf-8")
        assert re.search(rf"^(def {name}\(|{name} = )", code, re.MULTILINE), f"{path}::{name}"

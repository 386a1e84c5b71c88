"""Look at the built site: nothing is loaded from elsewhere, no link is dead, a browser has no complaint.

python docs/check_site.py build/docs                             all checks
python docs/check_site.py build/docs --pictures build/pictures   with a screenshot of each page at two widths

Every page that people write is opened in Chromium as a desktop (light colors) and as a phone (dark colors)
shows it, and one page of each kind that is made from code: no errors in the console, no request to
another host, no page wider than its window, nothing that axe finds against WCAG 2.2 AA. Searches without a
network find what they should.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src"}
LOADING_LINKS = {"stylesheet", "icon", "shortcut", "preload", "modulepreload", "manifest", "preconnect"}
CSS_LOAD = re.compile(r"""(?:url\(\s*|@import\s+)["']?((?:https?:)?//[^"')\s]+)""")
WIDTHS = {"desktop": 1280, "phone": 390}
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
MADE_FROM_CODE = ("auto_api/", "auto_examples/", "_modules/", "reproduce/")
SAMPLES = (
    "auto_api/index.html",
    "auto_api/multikernel.kernels.html",
    "auto_api/multikernel.MKLClassifier.html",
    "auto_examples/index.html",
    "auto_examples/which_view_of_a_digit_matters.html",
    "_modules/multikernel/mkl/classifier.html",
    "reproduce/lanckriet2004/README.html",
    "reproduce/gonen2010/figure1.1.html",
)
SEARCHES = {
    "MKLClassifier": "multikernel.MKLClassifier.html",
    "survival": "guide/survival.html",
    "gene sets": "tutorials/gene_sets.html",
}
CLASS = re.compile(r'<dl class="py class">\s*<dt.*?</dt>', re.DOTALL)


class Page(HTMLParser):
    """What a page loads, where it links, and which places it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attributes}
        self.places |= {found[name] for name in ("id", "name") if found.get(name)}
        if tag in LOADING and found.get(LOADING[tag]):
            self.loads.append(found[LOADING[tag]])
        if tag == "link" and LOADING_LINKS & set(found.get("rel", "").lower().split()):
            self.loads.append(found.get("href", ""))
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        self.loads += CSS_LOAD.findall(found.get("style", ""))


def is_elsewhere(address: str) -> bool:
    return bool(urlsplit(address).netloc)


def read_pages(folder: Path) -> dict[Path, Page]:
    return {
        path.resolve(): Page(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.html"))
        if "_static" not in path.relative_to(folder).parts
    }


def foreign_loads(folder: Path, pages: dict[Path, Page]) -> list[str]:
    """Scripts, styles, fonts and pictures that a page or a style sheet asks another host for."""
    found = [
        f"{path}: loads {load}" for path, page in pages.items() for load in page.loads if is_elsewhere(load)
    ]
    for sheet in sorted(folder.rglob("*.css")):
        found += [f"{sheet}: loads {load}" for load in CSS_LOAD.findall(sheet.read_text(encoding="utf-8"))]
    return found


def dead_links(pages: dict[Path, Page]) -> list[str]:
    """Links and loads within the site that lead to no file, or to no place in it."""
    found = []
    for path, page in pages.items():
        for address in dict.fromkeys([*page.links, *page.loads]):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                found.append(f"{path}: {address} is not there")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                found.append(f"{path}: {address} has no such place")
    return found


def without_parameters(folder: Path) -> list[str]:
    """Pages of estimators whose class is shown without its parameters."""
    texts = {path: path.read_text(encoding="utf-8") for path in folder.glob("auto_api/multikernel*MKL*.html")}
    return [
        f"{path}: no parameters are shown"
        for path, text in texts.items()
        if (head := CLASS.search(text)) and "sig-paren" not in head[0] and "Warning" not in path.name
    ]


def written_pages(folder: Path, pages: Iterable[Path]) -> list[str]:
    """The pages that people write, and one of each kind of those that are made from code."""
    names = [path.relative_to(folder.resolve()).as_posix() for path in pages]
    chosen = [name for name in names if not name.startswith(MADE_FROM_CODE) and name != "genindex.html"]
    return chosen + [name for name in SAMPLES if name in names]


def take_pictures(page: Any, name: str, width: str, pictures: Path | None) -> None:
    if pictures is not None:
        path = pictures / width / f"{name.removesuffix('.html').replace('/', '_')}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=path, full_page=True)


def accessibility(page: Any, name: str) -> list[str]:
    """What axe finds against the levels A and AA of WCAG 2.2."""
    from axe_playwright_python.sync_playwright import Axe

    found = (
        Axe()
        .run(page, options={"runOnly": {"type": "tag", "values": WCAG}, "preload": False})
        .response["violations"]
    )
    return [
        f"{name}: {violation['id']}: {violation['help']}; {violation['nodes'][0]['html'][:150]}"
        for violation in found
    ]


def look_at(browser: Any, folder: Path, names: list[str], width: str, pictures: Path | None) -> list[str]:
    """Open pages in windows of one width; return what is wrong with them."""
    found: list[str] = []
    scheme = "dark" if width == "phone" else "light"  # each scheme is seen once
    page = browser.new_page(viewport={"width": WIDTHS[width], "height": 900}, color_scheme=scheme)
    name = ""
    page.on("console", lambda said: found.append(f"{name}: {said.text}") if said.type == "error" else None)
    page.on("pageerror", lambda error: found.append(f"{name}: {error}"))
    page.on(
        "request", lambda asked: found.append(f"{name}: {asked.url}") if is_elsewhere(asked.url) else None
    )
    for name in names:
        page.goto((folder / name).resolve().as_uri())
        page.wait_for_load_state("networkidle")
        if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            found.append(f"{name} is wider than a window of {WIDTHS[width]} pixels")
        found += accessibility(page, f"{name}, {width}, {scheme}")
        take_pictures(page, name, width, pictures)
    page.close()
    return found


def search(browser: Any, folder: Path) -> list[str]:
    """Complaints where a search without a network finds nothing."""
    page = browser.new_page()
    found = []
    for words, target in SEARCHES.items():
        page.goto(f"{(folder / 'search.html').resolve().as_uri()}?q={words.replace(' ', '+')}")
        try:
            page.wait_for_selector("#search-results li a", timeout=10_000)
        except Exception as error:
            found.append(f"a search for {words!r} finds nothing: {str(error).splitlines()[0]}")
            continue
        page.wait_for_timeout(300)
        links = page.eval_on_selector_all("#search-results li a", "all => all.map(a => a.href)")
        if not any(target in link for link in links):
            found.append(f"a search for {words!r} does not find {target}")
    page.close()
    return found


def browse(folder: Path, names: list[str], pictures: Path | None) -> list[str]:
    """What a browser and axe complain of on the pages, at two widths, and in searches."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        print("No chromium or no playwright: the pages were not opened in a browser.")
        return []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        found = [
            complaint for width in WIDTHS for complaint in look_at(browser, folder, names, width, pictures)
        ]
        found += search(browser, folder)
        browser.close()
    return found


def main(arguments: list[str]) -> int:
    """Check the site; return how many complaints there are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="of the built site")
    parser.add_argument("--pictures", type=Path, help="folder for a screenshot of each page at each width")
    parser.add_argument("--only", nargs="+", help="pages, such as start.html; all written pages by default")
    given = parser.parse_args(arguments)
    pages = read_pages(given.folder)
    found = foreign_loads(given.folder, pages) + dead_links(pages) + without_parameters(given.folder)
    names = given.only or written_pages(given.folder, pages)
    found += browse(given.folder, names, given.pictures)
    for complaint in found:
        print(f"FAILED {complaint}", file=sys.stderr)
    print(f"{len(pages)} pages of {given.folder}, {len(names)} opened: {len(found)} complaints.")
    return len(found)


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))

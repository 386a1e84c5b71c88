"""Look at the built site: nothing is loaded from elsewhere, no link is dead, a browser has no complaint.

python docs/check_site.py build/docs
"""

from __future__ import annotations

import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src"}
LOADING_LINKS = {"stylesheet", "icon", "shortcut", "preload", "modulepreload", "manifest", "preconnect"}
CSS_LOAD = re.compile(r"""(?:url\(\s*|@import\s+)["']?((?:https?:)?//[^"')\s]+)""")
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


def browse(folder: Path, names: list[str]) -> list[str]:
    """What a browser complains of, and what it asks the network for, on the pages and in a search."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        print("No chromium or no playwright: the pages were not opened in a browser.")
        return []
    found: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("console", lambda message: found.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: found.append(str(error)))
        page.on("request", lambda asked: found.append(asked.url) if is_elsewhere(asked.url) else None)
        for name in names:
            page.goto((folder / name).resolve().as_uri())
            page.wait_for_load_state("networkidle")
            if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
                found.append(f"{name} is wider than the window")
        page.goto((folder / "search.html").resolve().as_uri() + "?q=MKLClassifier")
        page.wait_for_selector("#search-results li a")
        browser.close()
    return found


def main(arguments: list[str]) -> int:
    """Check the site; return how many complaints there are."""
    folder = Path(arguments[0])
    pages = read_pages(folder)
    found = foreign_loads(folder, pages) + dead_links(pages) + without_parameters(folder)
    found += browse(folder, ["index.html", "auto_api/multikernel.MKLClassifier.html", "reproduction.html"])
    for complaint in found:
        print(f"FAILED {complaint}", file=sys.stderr)
    print(f"{len(pages)} pages of {folder}: {len(found)} complaints.")
    return len(found)


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))

"""Take pictures of a report in a browser, as a desktop and as a phone show it, in light and in dark.

python docs/draw_report.py REPORT.html FOLDER      an existing report
python docs/draw_report.py                         one of breast cancer and one of wines, to build/report

Needs playwright and a browser called chromium on the path.
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright
from sklearn.datasets import load_breast_cancer, load_wine

from multikernel import MKLClassifier, View
from multikernel.doctor import diagnose
from multikernel.inspection import evaluate
from multikernel.kernels import Gaussian, Linear
from multikernel.report import save_report, summarize

WIDTHS = {"desktop": 1280, "phone": 390}
FOLDER = Path("build/report")


def make_tumors(folder: Path) -> Path:
    """A report on tumors: a model of some of the samples, the others as a cohort."""
    data = load_breast_cancer(as_frame=True)
    X = data.data.set_axis([f"patient {k}" for k in data.data.index])
    y = data.target.map({0: "malignant", 1: "benign"}).set_axis(X.index)
    views = [
        View("mean", Linear(), list(X.columns[:10])),
        View("error", Gaussian(), list(X.columns[10:20])),
        View("worst", Gaussian(), list(X.columns[20:])),
    ]
    model = MKLClassifier(views, norm=2).fit(X[:200], y[:200])
    found = evaluate(model, X[:200], y[:200], X_test=X[200:], y_test=y[200:])
    checked = diagnose(X[:200], y[:200], views)
    return save_report(
        summarize(model, evaluation=found, doctor=checked, title="Tumors"), folder / "tumors.html"
    )


def make_wines(folder: Path) -> Path:
    """A report on wines with every part: three classes, each with weights of its own; no cohort."""
    data = load_wine(as_frame=True)
    X, y = data.data.set_axis([f"wine {k}" for k in data.data.index]), data.target
    y = y.map(lambda k: f"cultivar {k + 1}").set_axis(X.index)
    groups = {"acids": [1, 2, 3, 4], "phenols": [5, 6, 7, 8, 11], "color": [9, 10], "rest": [0, 12]}
    views = [View(name, Gaussian(), list(X.columns[places])) for name, places in groups.items()]
    model = MKLClassifier(views, multiclass="ovr", norm=1.5, C=0.5).fit(X, y)
    found = evaluate(model, X, y, parts="all")
    return save_report(summarize(model, evaluation=found, title="Wines"), folder / "wines.html")


def draw(page_file: Path, folder: Path) -> list[Path]:
    """The whole page at both widths, in both schemes of colors."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for name, width in WIDTHS.items():
            for scheme in ("light", "dark"):
                page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
                page.goto(page_file.resolve().as_uri())
                drawn.append(folder / f"{page_file.stem}_{name}_{scheme}.png")
                page.screenshot(path=drawn[-1], full_page=True)
                page.close()
        browser.close()
    return drawn


def main(given: list[str]) -> None:
    """Make or take reports, draw them, say where."""
    folder = Path(given[1]) if len(given) > 1 else FOLDER
    for page_file in [Path(given[0])] if given else [make_tumors(folder), make_wines(folder)]:
        print(page_file, *draw(page_file, folder), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])

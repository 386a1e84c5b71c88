"""Draw the decision picture of the page on choosing a method.

python docs/draw_choose.py      writes docs/images/choose.svg

All text is in boxes with a fill of their own, and lines have a gray that is seen on white and on black: the
picture can be read in light and in dark mode. `STEPS` is also the text alternative.
"""

from html import escape
from pathlib import Path
from textwrap import wrap

PATH = Path(__file__).parent / "images" / "choose.svg"

# question, answer if yes; the last one is for everything else
STEPS = (
    (
        "Is there no target?",
        ("MultipleKernelKMeans: groups", "CombinedKernelPCA: a picture", "MKLOneClass: novelty"),
    ),
    ("Is the target a censored time?", ("MKLSurvivalCV",)),
    ("Are the samples pairs of objects, such as drug and protein?", ("PairwiseRidge",)),
    ("Are there many targets or labels?", ('MKLRidgeCV(targets="each")', "MKLRidgeClassifierCV")),
    (
        "Several cohorts or tasks, each with its own samples?",
        ("MultiTaskMKLClassifier", "MultiTaskMKLRegressor"),
    ),
    (
        "Do different views matter for different samples?",
        ("LocalizedMKLClassifier", "LocalizedMKLRegressor"),
    ),
    ("Otherwise: labels or numbers", ("MKLClassifierCV for labels", "MKLRegressorCV for numbers")),
)
LAST = "Then compare with the plain sum: compare(..., baselines=True)"

WIDTH, LEFT, RIGHT, GAP = 720, 300, 290, 26
LINE, PADDING = 20, 12
QUESTION = ("#e8f1f8", "#0b5c8a", "#10273a")  # fill, border, text
ANSWER = ("#e9f5ec", "#2b6b3f", "#12301c")
GRAY = "#767676"


def box(x: float, y: float, width: float, height: float, lines: list[str], look: tuple[str, ...]) -> str:
    """A rounded box with centered lines of text."""
    fill, border, ink = look
    top = y + height / 2 - LINE * (len(lines) - 1) / 2 + 5
    text = "".join(
        f'<text x="{x + width / 2:g}" y="{top + LINE * k:g}" fill="{ink}">{escape(line)}</text>'
        for k, line in enumerate(lines)
    )
    shape = f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="8"'
    return f'{shape} fill="{fill}" stroke="{border}" stroke-width="1.5"/>{text}'


def arrow(x1: float, y1: float, x2: float, y2: float, label: str) -> str:
    """A line with a head, and a label with a background of its own at its middle."""
    line = (
        f'<path d="M{x1:g} {y1:g} L{x2:g} {y2:g}" stroke="{GRAY}" stroke-width="2" marker-end="url(#head)"/>'
    )
    if not label:
        return line
    x, y = (x1 + x2) / 2 - 4, (y1 + y2) / 2
    back = (
        f'<rect x="{x - 17:g}" y="{y - 10:g}" width="34" height="20" rx="6" fill="#ffffff" stroke="{GRAY}"/>'
    )
    return f'{line}{back}<text x="{x:g}" y="{y + 5:g}" fill="#222222" font-size="14">{label}</text>'


def picture() -> str:
    """The whole picture as SVG."""
    parts, y = [], 8.0
    right = WIDTH - RIGHT - 8
    for k, (question, answers) in enumerate(STEPS):
        asked, is_last = wrap(question, 34), k == len(STEPS) - 1
        height = max(len(asked), len(answers)) * LINE + 2 * PADDING
        middle = y + height / 2
        parts += [
            box(8, y, LEFT, height, asked, QUESTION),
            arrow(8 + LEFT, middle, right - 6, middle, "" if is_last else "yes"),
            box(right, y, RIGHT, height, list(answers), ANSWER),
        ]
        if not is_last:
            parts.append(arrow(8 + LEFT / 2, y + height, 8 + LEFT / 2, y + height + GAP - 6, ""))
        y += height + GAP
    parts.append(box(8, y, WIDTH - 16, LINE + 2 * PADDING, [LAST], QUESTION))
    height = y + LINE + 2 * PADDING + 8
    head = (
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        f'orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="{GRAY}"/></marker></defs>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" '
        f'height="{height:g}" role="img" aria-labelledby="title description" font-size="15.5" '
        'text-anchor="middle" font-family="system-ui, Segoe UI, Roboto, DejaVu Sans, sans-serif">\n'
        f'<title id="title">Which method?</title>\n<desc id="description">{escape(in_words())}</desc>\n'
        f"{head}\n" + "\n".join(parts) + "\n</svg>\n"
    )


def in_words() -> str:
    """The picture as text."""
    steps = [f"{question} {', '.join(answers)}." for question, answers in STEPS]
    return " ".join([*steps, f"{LAST}."])


if __name__ == "__main__":
    PATH.parent.mkdir(exist_ok=True)
    PATH.write_text(picture(), encoding="utf-8")
    print(PATH)

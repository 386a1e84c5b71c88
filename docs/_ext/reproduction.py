"""The overview of the published tables, made of the results that `python -m studies` has stored.

No number on the page is typed: each is counted in the JSON files of docs/reproduce/<study>/.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

MARK = "<!-- overview of the results -->"
NOTHING = "–"


def overview(folder: Path) -> str:
    """The studies, their tables and figures, and how many of our numbers agree, as Markdown.

    Parameters
    ----------
    folder : Path
        One folder for each study, with a JSON file and a Markdown page for each table or figure.
    """
    studies = {path.name: read_study(path) for path in sorted(folder.iterdir()) if path.is_dir()}
    studies = {name: results for name, results in studies.items() if results}
    parts = [studies_table(studies)]
    for name, results in studies.items():
        parts.append(study_section(name, results, folder))
    return "\n\n".join([*parts, toctree(studies, folder)])


def read_study(folder: Path) -> list[dict[str, Any]]:
    """The results of a study, tables first, in the order in which a reader counts."""
    results = []
    for path in folder.glob("*.json"):
        if not path.with_suffix(".md").exists():
            continue
        result = json.loads(path.read_text(encoding="utf-8"))
        kind = "figure" if "figure" in result else "table"
        results.append(result | {"kind": kind, "number": str(result[kind]), "page": path.stem})
    return sorted(results, key=lambda result: (result["kind"] == "figure", counting_order(result["number"])))


def counting_order(number: str) -> list[tuple[int, str]]:
    """5.6 before 5.10, numbers before words."""
    return [(int(part), "") if part.isdigit() else (10**9, part) for part in number.split(".")]


def agreement(result: dict[str, Any]) -> tuple[int, int]:
    """How many of our numbers stand beside a published one, and how many are within two standard errors."""
    compared = sum(count["compared"] for count in result["agreement"])
    return compared, compared - sum(count["beyond"] for count in result["agreement"])


def agreement_text(compared: int, within: int) -> str:
    return f"{within} of {compared} ({100 * within / compared:.0f} %)" if compared else NOTHING


def studies_table(studies: dict[str, list[dict[str, Any]]]) -> str:
    rows = []
    for name, results in studies.items():
        counts = [agreement(result) for result in results]
        compared, within = (sum(column) for column in zip(*counts, strict=True))
        title = f"[{escaped(short_title(results))}](#{anchor(name)})"
        rows.append([title, number_of(results), agreement_text(compared, within)])
    return table(["study", "tables and figures", "within two standard errors"], rows)


def number_of(results: list[dict[str, Any]]) -> str:
    n_figures = sum(result["kind"] == "figure" for result in results)
    return f"{len(results) - n_figures} and {n_figures}"


def short_title(results: list[dict[str, Any]]) -> str:
    """Authors and year, with which a title begins, or what stands before its colon."""
    title = str(results[0]["title"])
    found = re.match(r".*?\(\d{4}\)", title)
    return found[0] if found else title.partition(":")[0]


def study_section(name: str, results: list[dict[str, Any]], folder: Path) -> str:
    rows = []
    for result in results:
        link = f"[{escaped(label(result))}](reproduce/{name}/{result['page']}.md)"
        subject = str(result["title"]).partition(":")[2].strip() or str(result["title"])
        rows.append([link, escaped(subject), agreement_text(*agreement(result)), str(result["splits"])])
    head = ["page", "what", "within two standard errors", "splits"]
    notes = (
        f"[What to know before reading](reproduce/{name}/README.md).\n\n" if has_notes(folder, name) else ""
    )
    title = f"({anchor(name)})=\n## {escaped(short_title(results))}"
    return f"{title}\n\n{escaped(results[0]['citation'])}\n\n{notes}{table(head, rows)}"


def label(result: dict[str, Any]) -> str:
    """'table 5.6'; results that are no table of the paper have a word for a number."""
    number = str(result["number"])
    return f"{result['kind']} {number}" if number[0].isdigit() else number


def has_notes(folder: Path, name: str) -> bool:
    return (folder / name / "README.md").exists()


def anchor(name: str) -> str:
    return f"reproduced-{name}"


def toctree(studies: dict[str, list[dict[str, Any]]], folder: Path) -> str:
    lines = ["```{toctree}", ":hidden:", ""]
    for name, results in studies.items():
        author = short_title(results)
        if has_notes(folder, name):
            lines.append(f"{author}: what to know <reproduce/{name}/README>")
        lines += [f"{author}, {label(r)} <reproduce/{name}/{r['page']}>" for r in results]
    return "\n".join([*lines, "```"])


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def escaped(text: str) -> str:
    """One line that stands in a cell as it is."""
    return re.sub(r"([\\|*_<`\[\]$])", r"\\\1", " ".join(str(text).split()))

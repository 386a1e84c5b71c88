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
KINDS = ("table", "figure", "own")
VERDICTS = ("reproduced", "not reproduced", "cannot be tested")
HEADS = ("published numbers", "within two s.e.", "beyond", "doubtful", "single", "stand-in", "absent")


def overview(folder: Path) -> str:
    """The studies, their tables and figures, how many of our numbers agree, and the claims, as Markdown.

    Parameters
    ----------
    folder : Path
        One folder for each study, with a JSON file and a Markdown page for each table or figure, and
        ``study.json`` where the study judges the claims of its paper.
    """
    studies = {path.name: read_study(path) for path in sorted(folder.iterdir()) if path.is_dir()}
    studies = {name: results for name, results in studies.items() if results}
    parts = [studies_table({name: of_paper(results) for name, results in studies.items()}, folder)]
    for name, results in studies.items():
        parts.append(study_section(name, results, folder))
    return "\n\n".join([*parts, toctree(studies, folder)])


def of_paper(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The tables and figures, without the experiments of our own."""
    return [result for result in results if result["kind"] != "own"]


def read_study(folder: Path) -> list[dict[str, Any]]:
    """The results of a study, tables first, in the order in which a reader counts."""
    results = []
    for path in folder.glob("*.json"):
        if not path.with_suffix(".md").exists():
            continue
        result = json.loads(path.read_text(encoding="utf-8"))
        kind = next(kind for kind in KINDS if kind in result)
        results.append(result | {"kind": kind, "number": str(result[kind]), "page": path.stem})
    return sorted(results, key=lambda result: (KINDS.index(result["kind"]), counting_order(result["number"])))


def counting_order(number: str) -> list[tuple[int, str]]:
    """5.6 before 5.10, numbers before words."""
    return [(int(part), "") if part.isdigit() else (10**9, part) for part in number.split(".")]


COLUMNS = ("published", "within", "beyond", "doubtful", "single", "stand_in", "absent")


def cells(result: dict[str, Any]) -> dict[str, int]:
    """How many numbers are published, and what became of each.

    Results without a list of all published numbers count those that stand beside one of ours.
    """
    counts = result.get("cells")
    if counts is None:
        compared, beyond = (
            sum(count[key] for count in result["agreement"]) for key in ("compared", "beyond")
        )
        counts = dict.fromkeys(COLUMNS, 0) | {"published": compared, "compared": compared, "beyond": beyond}
    return counts | {"within": counts["compared"] - counts["beyond"]}


def cell_texts(results: list[dict[str, Any]]) -> list[str]:
    """The counts of several results, added; a dash where nothing is published."""
    counted = [cells(result) for result in results]
    sums = {key: sum(count[key] for count in counted) for key in COLUMNS}
    return [str(sums[key]) for key in COLUMNS] if sums["published"] else [NOTHING] * len(COLUMNS)


def judged(folder: Path, name: str) -> dict[str, Any]:
    """What the study says of its paper's claims; empty where it does not."""
    path = folder / name / "study.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def claims_text(study: dict[str, Any]) -> str:
    """How many claims are reproduced, not reproduced, and cannot be tested."""
    verdicts = [claim["verdict"] for claim in study.get("claims", [])]
    return " / ".join(str(verdicts.count(verdict)) for verdict in VERDICTS) if verdicts else NOTHING


def studies_table(studies: dict[str, list[dict[str, Any]]], folder: Path) -> str:
    """A row for each paper; studies of our own alone have none."""
    rows = []
    for name, results in studies.items():
        if results:
            title = f"[{escaped(short_title(results))}](#{anchor(name)})"
            rows.append([title, number_of(results), *cell_texts(results), claims_text(judged(folder, name))])
    return table(["paper", "tables and figures", *HEADS, "claims"], rows)


def number_of(results: list[dict[str, Any]]) -> str:
    n_tables, n_figures = (sum(result["kind"] == kind for result in results) for kind in ("table", "figure"))
    return f"{n_tables} and {n_figures}"


def short_title(results: list[dict[str, Any]]) -> str:
    """Authors and year, with which a title begins, or what stands before its colon."""
    title = str(results[0]["title"])
    found = re.match(r".*?\(\d{4}\)", title)
    return found[0] if found else title.partition(":")[0]


def study_section(name: str, results: list[dict[str, Any]], folder: Path) -> str:
    papers, own = of_paper(results), [result for result in results if result["kind"] == "own"]
    notes = [f"[What to know before reading](reproduce/{name}/README.md)."] if has_notes(folder, name) else []
    parts = [
        f"({anchor(name)})=\n## {escaped(short_title(results))}",
        escaped(results[0]["citation"]),
        *notes,
    ]
    if papers:
        rows = [[link(name, result), subject(result), *cell_texts([result])] for result in papers]
        parts.append(table(["page", "what", *HEADS], rows))
    stand_ins = [f"- {link(name, result)}: {escaped(text)}" for result in papers for text in stood_in(result)]
    if stand_ins:
        parts += ["Stand-ins, which never count as reproduced:", "\n".join(stand_ins)]
    if claims := judged(folder, name).get("claims"):
        rows = [[escaped(claim[key]) for key in ("sentence", "verdict", "evidence")] for claim in claims]
        parts.append(table(["claim of the paper", "verdict", "evidence"], rows))
    if own:
        rows = [[link(name, result), subject(result), str(result["splits"])] for result in own]
        parts += ["Experiments of our own:", table(["page", "what", "splits"], rows)]
    return "\n\n".join(parts)


def link(name: str, result: dict[str, Any]) -> str:
    return f"[{escaped(label(result))}](reproduce/{name}/{result['page']}.md)"


def subject(result: dict[str, Any]) -> str:
    return escaped(str(result["title"]).partition(":")[2].strip() or str(result["title"]))


def stood_in(result: dict[str, Any]) -> list[str]:
    """What stands in for published data, each sentence once."""
    texts = [result.get("stand_in", ""), *(row.get("stand_in", "") for row in result.get("rows", []))]
    return list(dict.fromkeys(filter(None, texts)))


def label(result: dict[str, Any]) -> str:
    """'table 5.6'; results that are no table of the paper have a word for a number."""
    number = str(result["number"])
    if result["kind"] == "own":
        return f"our own, {number}"
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

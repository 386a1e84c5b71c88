"""The page of a study: what is published, what is reproduced, what stands in, and the claims of the paper."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from multikernel._files import write_whole
from studies.counts import absent_cells, beyond_cells, count_pages, group_by_reason
from studies.render import NOTHING, json_text, markdown_table, stand_ins, time_text
from studies.study import Claim, Study, Summary, Table

_HEAD = (
    "page",
    "what",
    "published numbers",
    "within two s.e.",
    "beyond",
    "doubtful",
    "single",
    "stand-in",
    "absent",
)
_LEGEND = (
    "Each published number is counted once. *Within two s.e.* and *beyond*: our mean differs by less or by "
    "more than two standard errors of the difference; *doubtful*: compared, but something is wrong with the "
    "printed number; *single*: a single number, which has no standard error; *stand-in*: on other data, and "
    "never counted as reproduced; *absent*: not compared."
)


def write_study_page(study: Study, folder: Path) -> None:
    """Write README.md and study.json of a study that has a title, from the summaries in the folder.

    Parameters
    ----------
    study : Study
    folder : Path
        Where the pages of its tables are.
    """
    if not study.title:
        return
    summaries = read_summaries(study, folder)
    overview = study_overview(study, summaries)
    write_whole(folder / "study.json", json_text(overview).encode())
    write_whole(folder / "README.md", study_text(study, summaries, overview).encode())


def read_summaries(study: Study, folder: Path) -> dict[str, Summary]:
    """Return the summaries of the tables that are there, by stem, in the order of the study.

    Those that do not count published numbers are of an earlier form: their tables are to be computed again.
    """
    paths = {entry.stem: folder / f"{entry.stem}.json" for entry in study.entries()}
    found = {
        stem: json.loads(path.read_text(encoding="utf-8")) for stem, path in paths.items() if path.is_file()
    }
    return {stem: summary for stem, summary in found.items() if "cells" in summary}


def study_overview(study: Study, summaries: Mapping[str, Summary]) -> dict[str, Any]:
    """Return what the overview of all studies needs of one.

    Parameters
    ----------
    study : Study
    summaries : mapping of str to dict

    Returns
    -------
    dict
        ``study``, ``title``, ``citation``, ``cpu_seconds``, ``missing`` (stems without a summary) and
        ``claims``, which are empty as long as something is missing, unless the study judges parts.
    """
    missing = [entry.stem for entry in study.entries() if entry.stem not in summaries]
    waits = bool(missing) and not study.judges_parts
    found: Sequence[Claim] = () if waits or study.claims is None else study.claims(summaries)
    return {
        "study": study.name,
        "title": study.title,
        "citation": study.citation,
        "cpu_seconds": sum(
            summaries[entry.stem].get("cpu_seconds", 0)
            for entry in study.entries()
            if entry.stem in summaries and not entry.shares  # whose units are counted where they were done
        ),
        "missing": missing,
        "claims": [
            {"sentence": claim.sentence, "verdict": claim.verdict, "evidence": claim.evidence}
            for claim in found
        ],
    }


def study_text(study: Study, summaries: Mapping[str, Summary], overview: Mapping[str, Any]) -> str:
    """Return the page as Markdown; the claims are its end."""
    lines = [f"# {study.title}", "", study.citation, ""]
    lines += [_time(study, summaries, overview["cpu_seconds"]), ""]
    published = [entry for entry in study.entries() if entry.kind != "own"]
    lines += ["## Tables and figures", ""]
    lines += [*markdown_table(_HEAD, [_row(entry, summaries.get(entry.stem)) for entry in published]), ""]
    lines += [_LEGEND, ""]
    lines += _reasons("Beyond two standard errors", "why a number is beyond", beyond_cells(study, summaries))
    if study.absent:
        lines += _reasons("Not compared", "why a number is not compared", absent_cells(study, summaries))
    lines += _list("Stand-ins", [text for entry in published for text in _stand_ins(entry, summaries)])
    own = [f"{_link(entry, summaries.get(entry.stem))}: {entry.title}" for entry in study.own.values()]
    lines += _list("Experiments of our own", own)
    lines += _list("What to know before reading", study.notes)
    lines += _data(study)
    lines += ["## Claims of the paper", "", *claim_lines(overview)]
    return "\n".join(lines).rstrip() + "\n"


def claim_lines(overview: Mapping[str, Any]) -> list[str]:
    """Return the claims as lines of Markdown, or what must be computed before they can be judged."""
    rows = [[claim["sentence"], claim["verdict"], claim["evidence"]] for claim in overview["claims"]]
    lines = markdown_table(("claim", "verdict", "evidence"), rows) if rows else []
    if overview["missing"]:
        what = "What needs them is not judged yet" if rows else "Not judged yet"
        lines += [""] * bool(rows)
        lines += [f"{what}: {', '.join(overview['missing'])} must be computed first."]
    return lines or ["None are listed."]


def _list(title: str, sentences: Sequence[str]) -> list[str]:
    return [f"## {title}", "", *(f"- {sentence}" for sentence in sentences), ""] if sentences else []


def _link(entry: Table, summary: Summary | None) -> str:
    label = entry.name if entry.kind == "own" else f"{entry.kind} {entry.name}"
    return label if summary is None else f"[{label}]({entry.stem}.md)"


def _row(entry: Table, summary: Summary | None) -> list[str]:
    subject = entry.title.partition(":")[2].strip() or entry.title
    if summary is None:
        return [_link(entry, None), subject, str(len(entry.cells)), *[NOTHING] * 5, "not computed yet"]
    cells = summary["cells"]
    counts = [cells[key] for key in ("beyond", "doubtful", "single", "stand_in", "absent")]
    shown = [cells["published"], cells["compared"] - cells["beyond"], *counts]
    texts = map(str, shown) if cells["published"] else [NOTHING] * len(shown)
    return [_link(entry, summary), subject, *texts]


def _time(study: Study, summaries: Mapping[str, Summary], seconds: float) -> str:
    """What is done took, and the splits that are left would take, if they take as long."""
    done = [
        summaries[entry.stem] for entry in study.entries() if entry.stem in summaries and not entry.shares
    ]
    whole = sum(one.get("cpu_seconds", 0) * max(one["published_splits"] / one["splits"], 1.0) for one in done)
    if round(whole) == round(seconds):
        return f"All of it takes {time_text(seconds)} of processor time."
    return (
        f"What is done took {time_text(seconds)} of processor time. With all splits it would take about "
        f"{time_text(whole)}."
    )


def _reasons(title: str, head: str, cells: Sequence[Mapping[str, Any]]) -> list[str]:
    """Why numbers are what they are, with how many of them on which page."""
    groups = group_by_reason(cells)
    if not groups:
        return []
    rows = [[reason, str(len(places)), count_pages(places)] for reason, places in groups.items()]
    return [f"## {title}", "", *markdown_table((head, "numbers", "of these"), rows), ""]


def _stand_ins(entry: Table, summaries: Mapping[str, Summary]) -> list[str]:
    if entry.stem not in summaries:
        return [f"{_link(entry, None)}: {entry.stand_in}"] if entry.stand_in else []
    return [f"{_link(entry, summaries[entry.stem])}: {text}" for text in stand_ins(summaries[entry.stem])]


def _data(study: Study) -> list[str]:
    if not study.data:
        return []
    lines = [
        "## Bring the data",
        "",
        f"`python -m studies {study.name} --table NAME --data DIR` reads these files from the folder DIR, "
        "each an `.npz` file of plain arrays (`numpy.savez_compressed`):",
        "",
    ]
    rows = [
        [f"`{file.name}.npz`", file.what, "; ".join(f"`{key}`: {text}" for key, text in file.arrays.items())]
        for file in study.data
    ]
    return [*lines, *markdown_table(("file", "what", "arrays"), rows), ""]

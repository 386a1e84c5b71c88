"""A summary as text: cells of tables, a Markdown page, JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from studies.compare import is_beyond, sections
from studies.study import Summary

NOTHING = "–"
BEYOND = "†"
_PAPER, _OURS, _ERROR, _DIFFERENCE = "paper", "ours", " (s.e.)", "difference (s.e.)"
_LARGE = 1e5


def json_text(summary: Summary) -> str:
    """Return the summary as JSON, the same text for the same summary."""
    return json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def section_cells(summary: Summary, section: str) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the table that shows a section.

    A quantity has the columns *paper*, *ours (s.e.)* and, if it asks for it, *difference (s.e.)*; columns
    that would be empty are left out. Remarks come last.

    Parameters
    ----------
    summary : dict
    section : str

    Returns
    -------
    head : list of str
    rows : list of list of str
    """
    rows = [row for row in summary["rows"] if row["section"] == section]
    head, cells = _label_cells(rows)
    for quantity in summary["quantities"]:
        columns = _columns(quantity, rows)
        is_compared = any(title == _PAPER for title, _ in columns)
        for title, texts in columns:
            head.append(_long_title(quantity["label"], title, is_compared))
            _append_column(cells, texts)
    if any(row["remark"] for row in rows):
        head.append("remark")
        _append_column(cells, [row["remark"] for row in rows])
    return head, cells


def quantity_cells(
    summary: Summary, section: str, quantity: Mapping[str, Any]
) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of a narrow table: one quantity of a section, where it is known.

    Parameters
    ----------
    summary : dict
    section : str
    quantity : mapping
        One of the summary's ``quantities``.

    Returns
    -------
    head : list of str
    rows : list of list of str
    """
    rows = [
        row
        for row in summary["rows"]
        if row["section"] == section and _is_known(row["values"], quantity["key"])
    ]
    head, cells = _label_cells(rows)
    for title, texts in _columns(quantity, rows):
        head.append(title)
        _append_column(cells, texts)
    return head, cells


def narrow_tables(summary: Summary, section: str) -> list[tuple[str, list[str], list[list[str]]]]:
    """Return tables for a terminal: one for each quantity that is compared with published figures, else one.

    Parameters
    ----------
    summary : dict
    section : str

    Returns
    -------
    list of (title, head, rows)
    """
    values = [v for row in summary["rows"] if row["section"] == section for v in row["values"].values()]
    if all(value["published"] is None for value in values):
        return [(section, *section_cells(summary, section))]
    tables = [(q["label"], *quantity_cells(summary, section, q)) for q in summary["quantities"]]
    return [(f"{section}: {label}", head, rows) for label, head, rows in tables if rows]


def agreement_text(summary: Summary) -> str:
    """Return the sentence on how many differences exceed two standard errors; empty without any to count."""
    counts = summary["agreement"]
    if not counts:
        return ""
    parts = [f"{count['section']}: {count['beyond']} of {count['compared']}" for count in counts]
    return (
        f"Differences to published figures beyond two standard errors (marked {BEYOND}): {'; '.join(parts)}."
    )


def remarks(summary: Summary, section: str) -> list[str]:
    """Return the remarks of a section, each with the labels of its row."""
    return [
        f"{', '.join(row['labels'].values())}: {row['remark']}"
        for row in summary["rows"]
        if row["section"] == section and row["remark"]
    ]


def markdown_text(summary: Summary, has_figure: bool = False) -> str:
    """Return the page.

    Parameters
    ----------
    summary : dict
    has_figure : bool, default=False
        Whether a figure stands beside the page.

    Returns
    -------
    str
    """
    kind = "figure" if "figure" in summary else "table"
    name = summary[kind]
    command = f"python -m studies {summary['study']} --{kind} {name} --splits {summary['splits']}"
    lines = [f"# {summary['title']}", "", summary["citation"], "", f"Made by `{command}`.", ""]
    if summary["protocol"]:
        lines += ["## Protocol", "", *(f"- {sentence}" for sentence in summary["protocol"]), ""]
    if has_figure:
        lines += [f"![{summary['title']}]({kind}{name}.png)", ""]
    if agreed := agreement_text(summary):
        lines += [agreed, ""]
    for section in sections(summary["rows"]):
        head, rows = section_cells(summary, section)
        lines += [f"## {section}", "", *_markdown_table(head, rows), ""]
    if summary["notes"]:
        lines += ["## Notes", "", *(f"- {sentence}" for sentence in summary["notes"]), ""]
    return "\n".join(lines).rstrip() + "\n"


def _long_title(label: str, title: str, is_compared: bool) -> str:
    if title == _DIFFERENCE:
        return title
    return f"{label}, {title}" if is_compared else label + title.removeprefix(_OURS)


def _label_cells(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    head = list(dict.fromkeys(label for row in rows for label in row["labels"]))
    return head, [[row["labels"].get(label, "") for label in head] for row in rows]


def _append_column(cells: list[list[str]], texts: Sequence[str]) -> None:
    for row, text in zip(cells, texts, strict=True):
        row.append(text)


def _is_known(values: Mapping[str, Any], key: str) -> bool:
    return key in values and not (values[key]["mean"] is None and values[key]["published"] is None)


def _columns(quantity: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[str]]]:
    """The columns of a quantity that are not empty: title and one text for each row."""
    digits = quantity["digits"]
    found = [row["values"].get(quantity["key"], {}) for row in rows]
    columns = [
        (_PAPER, [_number(value.get("published"), digits) for value in found]),
        (
            _OURS if any(isinstance(value.get("mean"), list) for value in found) else _OURS + _ERROR,
            [_with_error(value.get("mean"), value.get("se"), digits) for value in found],
        ),
    ]
    if quantity["difference"]:
        texts = [
            _with_error(value.get("difference"), value.get("se_difference"), digits, signed=True)
            + (f" {BEYOND}" if is_beyond(value) else "")
            for value in found
        ]
        columns.append((_DIFFERENCE, texts))
    return [(title, texts) for title, texts in columns if any(text != NOTHING for text in texts)]


def _with_error(value: Any, error: Any, digits: int, signed: bool = False) -> str:
    if value is None:
        return NOTHING
    if isinstance(value, list):  # the errors of vectors are in the JSON file
        return _number(value, digits, signed)
    return _number(value, digits, signed) + ("" if error is None else f" ({_number(error, digits)})")


def _number(value: Any, digits: int, signed: bool = False) -> str:
    if value is None:
        return NOTHING
    if isinstance(value, list):
        return " / ".join(_number(part, digits, signed) for part in value)
    if abs(value) >= _LARGE:
        return f"{value:{'+' if signed else ''}.1e}"
    text = f"{value:{'+' if signed else ''}.{digits}f}"
    return text.lstrip("+-") if float(text) == 0.0 else text


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return lines + [f"| {' | '.join(cell.replace('|', '∣') for cell in row)} |" for row in rows]

"""A summary as text: cells of tables, a Markdown page, JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from studies.compare import is_beyond, sections
from studies.study import Summary, kind_of

NOTHING = "–"
BEYOND = "†"
DOUBTFUL = "‡"
OWN = "An experiment of our own"
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
    counts = [count for count in summary["agreement"] if count["compared"]]
    doubtful = [count for count in summary["agreement"] if count.get("doubtful")]
    sentences = []
    if counts:
        parts = [f"{count['section']}: {count['beyond']} of {count['compared']}" for count in counts]
        sentences.append(
            f"Differences to published figures beyond two standard errors (marked {BEYOND}): "
            f"{'; '.join(parts)}."
        )
    if doubtful:
        parts = [
            f"{count['section']}: {count['doubtful_beyond']} of {count['doubtful']}" for count in doubtful
        ]
        sentences.append(
            f"Among the figures that are doubtful (marked {DOUBTFUL}), counted apart: {'; '.join(parts)}."
        )
    return " ".join(sentences)


def stand_ins(summary: Summary) -> list[str]:
    """Return what stands in for published data, each sentence once, with its sections where not all do."""
    found: dict[str, list[str]] = {}
    for row in summary["rows"]:
        if row.get("stand_in"):
            found.setdefault(row["stand_in"], []).append(row["section"])
    if summary.get("stand_in"):
        found.setdefault(summary["stand_in"], [])
    everywhere = sections(summary["rows"])
    return [
        text
        if summary.get("stand_in") == text or list(dict.fromkeys(where)) == everywhere
        else f"{', '.join(dict.fromkeys(where))}: {text}"
        for text, where in found.items()
    ]


def time_text(seconds: float) -> str:
    """Return a time as hours and minutes, minutes, or seconds.

    Examples
    --------
    >>> time_text(42), time_text(125), time_text(7530)
    ('42 s', '2 min', '2 h 6 min')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def doubts(summary: Summary, section: str) -> list[str]:
    """Return what is doubtful about the published figures of a section, each with its place."""
    found: dict[str, None] = {}
    for row in summary["rows"]:
        if row["section"] != section:
            continue
        for value in row["values"].values():
            places, texts = value.get("place"), value.get("doubt")
            listed = zip(places, texts, strict=True) if isinstance(places, list) else [(places, texts)]
            found |= {f"{place}: {text}": None for place, text in listed if text}
    return list(found)


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
    kind = kind_of(summary)
    name = summary[kind]
    whole_command = f"python -m studies {summary['study']} --{kind} {name}"
    command = f"{whole_command} --splits {summary['splits']}"
    made = f"Made by `{command}`" + (
        f" in {time_text(seconds)} of processor time." if (seconds := summary.get("cpu_seconds")) else "."
    )
    if summary["splits"] < (whole := summary.get("published_splits", 0)):
        made += (
            f" So far {summary['splits']} of {whole} splits are done; `{whole_command}` computes those that "
            "are left."
        )
    if kind == "own":
        lines = [f"# {OWN}: {summary['title']}", "", "In no publication.", ""]
    else:
        lines = [f"# {summary['title']}", ""]
    lines += [summary["citation"], "", made, ""]
    for sentence in stand_ins(summary):
        lines += [f"**Stand-in.** {sentence} Stand-ins never count as reproduced.", ""]
    if summary["protocol"]:
        lines += ["## Protocol", "", *(f"- {sentence}" for sentence in summary["protocol"]), ""]
    if has_figure:
        stem = f"own-{name}" if kind == "own" else f"{kind}{name}"
        lines += [f"![{summary['title']}]({stem}.png)", ""]
    if agreed := agreement_text(summary):
        lines += [agreed, ""]
    for section in sections(summary["rows"]):
        head, rows = section_cells(summary, section)
        lines += [f"## {section}", "", *markdown_table(head, rows), ""]
        lines += [f"{DOUBTFUL} {text}\n" for text in doubts(summary, section)]
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
        (_PAPER, [_printed(value, digits) for value in found]),
        (
            _OURS if any(isinstance(value.get("mean"), list) for value in found) else _OURS + _ERROR,
            [_with_error(value.get("mean"), value.get("se"), digits) for value in found],
        ),
    ]
    if quantity["difference"]:
        # data that stand in are not those of the printed number, which so is neither near nor beyond
        texts = [
            _difference(value, digits, marked=not row.get("stand_in"))
            for value, row in zip(found, rows, strict=True)
        ]
        columns.append((_DIFFERENCE, texts))
    return [(title, texts) for title, texts in columns if any(text != NOTHING for text in texts)]


def _printed(value: Mapping[str, Any], digits: int) -> str:
    """The published number as it is printed, with a mark where it is doubtful."""
    printed = value.get("printed")
    if printed is None:
        return _number(value.get("published"), digits)
    if isinstance(printed, list):
        marked = zip(printed, value["doubt"], strict=True)
        return " / ".join(f"{text} {DOUBTFUL}" if doubt else text for text, doubt in marked)
    return f"{printed} {DOUBTFUL}" if value["doubt"] else str(printed)


def _difference(value: Mapping[str, Any], digits: int, marked: bool) -> str:
    difference, errors = value.get("difference"), value.get("se_difference")
    if isinstance(difference, list) and errors is not None:
        parts = [{"difference": d, "se_difference": e} for d, e in zip(difference, errors, strict=True)]
        return " / ".join(
            _number(part["difference"], digits, signed=True)
            + (f" {BEYOND}" if marked and is_beyond(part) else "")
            for part in parts
        )
    text = _with_error(difference, errors, digits, signed=True)
    return f"{text} {BEYOND}" if marked and is_beyond(value) else text


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


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return lines + [f"| {' | '.join(cell.replace('|', '∣') for cell in row)} |" for row in rows]

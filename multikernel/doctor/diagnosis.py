"""What the doctor found: findings with a remedy each, as text, JSON and HTML.

Remedies are lines of code that fit what was given, and options of the command line. The lines run as they are
where `X`, `y` and `model` are the caller's, with ``numpy as np``, ``pandas as pd`` and what is called of
scikit-learn. What follows a colon in a remedy is code; an alternative begins with "Or".
"""

from __future__ import annotations

import html
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import scipy.sparse

from multikernel._validation import check_choice
from multikernel.viz.fitted import plain_tree

LEVELS = ("error", "warning", "note")
_SHOWN_ROWS = 30
_NAMED = 4
_MOST_NAMES = 20  # in a line of code; of more the line shows the beginning
_FEW_NAMES = 4  # in a command


@dataclass(frozen=True)
class Finding:
    """One thing to know before a model is fitted.

    Attributes
    ----------
    level : {"error", "warning", "note"}
        error: a fit refuses it, or what is learned from it is worthless; warning: it will probably mislead;
        note: true and good to know.
    subject : str
        What it is about, for example ``"view 'shape'"``, ``"column 'id'"`` or ``"target"``.
    what : str
        What was found, with its numbers.
    remedy : str
        What to do in Python, mostly a line of code.
    command : str
        What to do on the command line, where that is something else.
    """

    level: str
    subject: str
    what: str
    remedy: str
    command: str = ""

    def __post_init__(self) -> None:
        check_choice("the level of a finding", self.level, LEVELS)

    def __str__(self) -> str:
        return f"{self.level:<7}  {self.subject}: {self.what}\n         {self.remedy}"


@dataclass(frozen=True)
class Diagnosis:
    """All findings of `diagnose`, gravest first, and the tables behind them.

    Attributes
    ----------
    findings : list of Finding
    n_samples, n_columns : int
        Of what was given; without a table of features, `n_columns` is 0.
    n_examined : int
        Rows that the kernels were computed on.
    task : {"classification", "regression", "survival", "unsupervised"}
        The task found from the target.
    kernels : list of dict
        For each kernel ``name``, ``mean_diagonal``, ``smallest_eigenvalue`` (divided by the mean diagonal),
        ``effective_rank`` ((Σ λ)² / Σ λ² of the centred kernel), ``alignment`` (centred, with the target) and
        ``alone``, how well the nearest other sample by this kernel predicts the target (0 as guessing, 1
        without a mistake); None where it cannot be had.
    columns : list of dict
        For each column ``name``, ``kind``, ``missing``, ``distinct``, ``low``, ``high`` and ``alone``, how
        well it predicts the target by itself (0 as guessing, 1 without a mistake).
    memory : dict
        What a fit on all rows will occupy, in bytes: ``stack``, ``workspace``, ``total``, ``available``.
    tables : list of dict
        Of several tables, for each ``table`` (its name), ``columns``, ``samples`` that have it and
        ``missing``, those that lack it.

    Examples
    --------
    >>> sound = Diagnosis([Finding("note", "X", "5 rows.", "Bring more.")], 5, 2, 5, "nothing")
    >>> sound.ok, len(sound.errors)
    (True, 0)
    >>> print(sound)
    5 rows, 2 columns, 0 kernels: no error, no warning, 1 note
    <BLANKLINE>
    note     X: 5 rows.
             Bring more.
    """

    findings: list[Finding]
    n_samples: int
    n_columns: int
    n_examined: int
    task: str
    kernels: list[dict[str, Any]] = field(default_factory=list)
    columns: list[dict[str, Any]] = field(default_factory=list)
    memory: dict[str, Any] = field(default_factory=dict)
    tables: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        listed = isinstance(self.findings, list | tuple)
        if not listed or not all(isinstance(finding, Finding) for finding in self.findings):
            raise TypeError("findings must be a list of Finding, as diagnose makes them.")
        object.__setattr__(
            self, "findings", sorted(_merged(self.findings), key=lambda f: LEVELS.index(f.level))
        )

    @property
    def ok(self) -> bool:
        """Whether nothing is an error."""
        return not self.errors

    @property
    def errors(self) -> list[Finding]:
        """The findings that are errors."""
        return [finding for finding in self.findings if finding.level == "error"]

    @property
    def headline(self) -> str:
        """The size of what was examined, and how many findings of each level there are."""
        counts = []
        for level in LEVELS:
            number = sum(finding.level == level for finding in self.findings)
            counts.append(f"{number or 'no'} {level}{'s' if number > 1 else ''}")
        sizes = [
            _count(self.n_samples, "row"),
            _count(self.n_columns, "column"),
            _count(len(self.kernels), "kernel"),
        ]
        return f"{', '.join(sizes)}: {', '.join(counts)}"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, strings, lists and dictionaries, ready for JSON."""
        return {"ok": self.ok, "headline": self.headline} | plain_tree(asdict(self))

    def __str__(self) -> str:
        parts = [self.headline, *map(str, self.findings)]
        if self.tables:
            parts.append(_text_table(TABLE_HEAD, table_rows(self)))
        if self.kernels:
            parts.append(_text_table(KERNEL_HEAD, kernel_rows(self)))
        if self.memory:
            parts.append(f"memory: {self.memory['text']}")
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        items = "".join(
            f"<li><strong>{finding.level}</strong> {html.escape(finding.subject)}: "
            f"{html.escape(finding.what)}<br><code>{html.escape(finding.remedy)}</code></li>"
            for finding in self.findings
        )
        table = _html_table(TABLE_HEAD, table_rows(self)) if self.tables else ""
        table += _html_table(KERNEL_HEAD, kernel_rows(self)) if self.kernels else ""
        return f"<div><p>{html.escape(self.headline)}</p><ul>{items}</ul>{table}</div>"


TABLE_HEAD = ("table", "columns", "samples", "missing")


def table_rows(diagnosis: Diagnosis) -> list[list[str]]:
    """The table of the tables as text."""
    return [[str(row[key]) for key in TABLE_HEAD] for row in diagnosis.tables]


# short, so that names of kernels have room on 80 columns
KERNEL_HEAD = ("kernel", "diagonal", "lowest eig.", "rank", "alignment", "alone")


def kernel_rows(diagnosis: Diagnosis) -> list[list[str]]:
    """The table of kernels as text, the first thirty of them."""
    keys = ("mean_diagonal", "smallest_eigenvalue", "effective_rank", "alignment", "alone")
    rows = [
        [kernel["name"], *(_number(kernel[key]) for key in keys)]
        for kernel in diagnosis.kernels[:_SHOWN_ROWS]
    ]
    left_out = len(diagnosis.kernels) - len(rows)
    return rows + ([[f"and {left_out} more", *[""] * len(keys)]] if left_out else [])


def _merged(findings: Sequence[Finding]) -> list[Finding]:
    """Findings that differ in their subject only, as one."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for finding in findings:
        alike = (finding.level, finding.what, finding.remedy, finding.command)
        groups.setdefault(alike, []).append(finding.subject)
    return [
        Finding(level, ", ".join(subjects[:_NAMED]) + _rest(subjects), *told)
        for (level, *told), subjects in groups.items()
    ]


def _rest(names: Sequence[Any]) -> str:
    return f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""


def named(kind: str, names: Sequence[Any]) -> str:
    """A subject: ``column 'a'``, or ``columns 'a', 'b' and 7 more``."""
    shown = ", ".join(repr(name) for name in names[:_NAMED])
    return f"{kind}{'s' if len(names) > 1 else ''} {shown}{_rest(names)}"


def percent(part: float, whole: float) -> str:
    """A share in percent that never rounds to all or nothing.

    Examples
    --------
    >>> percent(1, 3), percent(999, 1000), percent(999_999, 10**6), percent(1, 1000)
    ('33 %', '99.9 %', 'over 99.99 %', '0.1 %')
    """
    share = 100.0 * part / whole
    if 99.99 < share < 100.0:
        return "over 99.99 %"
    if 1.0 <= share <= 99.0 or share in (0.0, 100.0):
        return f"{share:.0f} %"
    return f"{share:.2f} %" if share > 99.0 and share != round(share, 1) else f"{share:.3g} %"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[place]) for row in (head, *rows)) for place in range(len(head))]
    lines = []
    for row in (head, *rows):
        cells = [row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(tag: str, cells: Sequence[str]) -> str:
        return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"

    body = "".join(line("td", row) for row in rows)
    return f"<table><thead>{line('th', head)}</thead><tbody>{body}</tbody></table>"


# --- remedies -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recipes:
    """How things are done to the `X` and `y` that were given."""

    kind: str  # frame, array, list, sparse, kernels (a stack (n, n, m)) or matrices (a dict of them)
    has_target: bool  # whether there is a `y` that must stay beside `X`

    @classmethod
    def for_table(cls, X: Any, y: Any) -> Recipes:
        """Those for a table of features."""
        if scipy.sparse.issparse(X):
            kind = "sparse"
        elif hasattr(X, "iloc"):
            kind = "frame"
        else:
            kind = "array" if hasattr(X, "__array__") else "list"
        return cls(kind, y is not None)

    # --- rows ----------------------------------------------------------------------------------------------

    def take_rows(self, rows: str, selected: str) -> str:
        """Keep some rows of X and of y: `rows` names what `selected` computes, a mask or positions."""
        taken = self._rows_of_x(rows)
        both = f"X, y = {taken}, np.asarray(y)[{rows}]" if self.has_target else f"X = {taken}"
        return f"{rows} = {selected}; {both}"

    def _rows_of_x(self, rows: str) -> str:
        forms = {
            "frame": f"X.iloc[{rows}]",
            "list": f"np.asarray(X)[{rows}]",
            "sparse": f"X.tocsr()[{rows}]",
            "kernels": f"X[np.ix_({rows}, {rows})]",
            "matrices": f"{{name: K[np.ix_({rows}, {rows})] for name, K in X.items()}}",
        }
        return forms.get(self.kind, f"X[{rows}]")

    def draw_rows(self, size: int, n: int) -> str:
        """Rows drawn by chance."""
        return self.take_rows("rows", f"np.random.default_rng(0).choice({n}, {size}, replace=False)")

    def known_rows(self, positions: Sequence[int], d: int) -> str:
        """The rows that lack nothing in the columns at some positions."""
        frame = self._frame_of(positions, d)
        return self.take_rows("keep", f"{frame}.notna().all(axis=1).to_numpy()")

    def distinct_rows(self, positions: Sequence[int], d: int, with_target: bool) -> str:
        """Every row once; rows that differ in their target are different ones where that is a value."""
        frame = self._frame_of(positions, d) + (".assign(_y=np.asarray(y))" if with_target else "")
        return self.take_rows("keep", f"~{frame}.duplicated().to_numpy()")

    def _frame_of(self, positions: Sequence[int], d: int) -> str:
        table = {"frame": "X", "sparse": "pd.DataFrame(X.toarray())"}.get(self.kind, "pd.DataFrame(X)")
        chosen = list(map(int, positions))
        return table if len(chosen) in (0, d) or len(chosen) > _MOST_NAMES else f"{table}.iloc[:, {chosen}]"

    # --- columns -------------------------------------------------------------------------------------------

    def drop(self, names: Sequence[Any]) -> str:
        """Leave columns out."""
        rest = ", ..." if len(names) > _MOST_NAMES else ""
        shown = f"[{', '.join(map(repr, names[:_MOST_NAMES]))}{rest}]"
        if self.kind == "frame":
            return f"X = X.drop(columns={shown})"
        if self.kind == "sparse":
            return f"X = X.tocsr()[:, np.setdiff1d(np.arange(X.shape[1]), {shown})]"
        return f"X = np.delete(X, {shown}, axis=1)"

    def column(self, name: Any) -> tuple[str, str]:
        """A line that makes a frame of X, which may be empty, and the column in that frame.

        The line does nothing to a frame that it made before, so that remedies can follow one another.
        """
        if self.kind == "frame":
            return "", f"X[{name!r}]"
        inner = "X.toarray()" if self.kind == "sparse" else "X"
        return f"X = pd.DataFrame({inner}).rename(columns=str).infer_objects(); ", f"X[{str(name)!r}]"

    def clip(self, name: Any, low: float, high: float) -> str:
        """Bring a column of numbers within bounds."""
        bounds = f".clip({low:.6g}, {high:.6g})"
        if self.kind == "frame":
            return f"X = X.copy(); X[{name!r}] = X[{name!r}]{bounds}"
        made = "X.toarray().astype(float)" if self.kind == "sparse" else "np.array(X, dtype=float)"
        return f"X = {made}; X[:, {name}] = X[:, {name}]{bounds}"

    def one_hot(self, name: Any) -> str:
        """A column of 0 and 1 for each value of a column."""
        frame, _ = self.column(name)
        label = name if self.kind == "frame" else str(name)
        return f"{frame}X = pd.get_dummies(X, columns=[{label!r}], dtype=float)"

    # --- values --------------------------------------------------------------------------------------------

    def fill(self, texts: bool) -> str:
        """A model that fills gaps with what it saw in training; names of columns are kept for the views."""
        how = 'strategy="most_frequent"' if texts else ""
        names = '.set_output(transform="pandas")' if self.kind == "frame" else ""
        return f"model = make_pipeline(SimpleImputer({how}){names}, model)"

    def infinite_to_missing(self) -> str:
        """NaN instead of what is infinite."""
        if self.kind == "frame":
            return "X = X.replace([np.inf, -np.inf], np.nan)"
        if self.kind == "sparse":
            return "X = X.tocsr().copy(); X.data[np.isinf(X.data)] = np.nan"
        return "X = np.where(np.isinf(X), np.nan, X)"


def option(name: str, values: Sequence[Any]) -> str:
    """An option of the command line, once for each value."""
    shown = [f"{name} {shlex.quote(str(value))}" for value in values[:_FEW_NAMES]]
    return " ".join(shown) + (" ..." if len(values) > _FEW_NAMES else "")

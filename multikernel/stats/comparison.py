"""What a comparison found: scores, tests, and the table with significant wins in bold."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from multikernel.selection.paired_tests import FOLDS, REPEATS, check_level
from multikernel.selection.win_tie_loss import (
    LOSS,
    TIE,
    WIN,
    check_reference,
    paired_f_tests,
    signed_rank_tests,
    win_tie_loss,
)

_COLUMNS = ("dataset", "estimator", "repetition", "fold", "score")


class _Cell(NamedTuple):
    text: str
    bold: bool = False


class Comparison:
    """Scores of several estimators on several data sets, with the tests of their differences.

    Parameters
    ----------
    scores : DataFrame
        A row for each fold: ``dataset``, ``estimator``, ``repetition`` (0 to 4), ``fold`` (0 or 1) and
        ``score``, the higher the better; further columns are kept.
    reference : str, optional
        The estimator that all others are compared with; without it, every pair is compared.
    level : float, default=0.05
        Of the tests that print a win in bold and count wins, ties and losses.
    scoring : str, default="score"
        What the scores are called.

    Attributes
    ----------
    scores : DataFrame
    reference : str or None
    level : float
    scoring : str
    estimators, datasets : list of str
        In the order of the scores.

    Notes
    -----
    ``str(comparison)`` is the table as Markdown, in a terminal as anywhere else: a significant win stands
    between two pairs of asterisks. Notebooks show the same table as HTML.

    With a reference, an entry is bold if it is better than the reference's by the 5×2 cv F test, and the
    reference itself never is. Without one, an entry is bold if it is better than that of at least one other
    estimator and worse than none.

    Examples
    --------
    >>> rows = [(name, fold // 2, fold % 2, score + 0.002 * (fold % 2))
    ...         for name, score in {"ours": 0.9, "theirs": 0.8}.items() for fold in range(10)]
    >>> scores = pd.DataFrame(rows, columns=["estimator", "repetition", "fold", "score"])
    >>> print(Comparison(scores.assign(dataset="toy"), reference="theirs"))
    | data set         | ours              | theirs        |
    | ---------------- | ----------------- | ------------- |
    | toy              | **0.901 ± 0.001** | 0.801 ± 0.001 |
    | wins–ties–losses | 1–0–0             |               |
    | Wilcoxon's p     | 0.317             |               |
    <BLANKLINE>
    Mean ± standard deviation of score over 5×2 folds; **bold**: better than theirs by the 5×2 cv F test...
    """

    def __init__(
        self,
        scores: pd.DataFrame,
        *,
        reference: str | None = None,
        level: float = 0.05,
        scoring: str = "score",
    ) -> None:
        missing = [column for column in _COLUMNS if column not in scores.columns]
        if missing:
            raise ValueError(
                f"scores must have the columns {', '.join(_COLUMNS)}; {', '.join(missing)} is missing."
            )
        self.scores = scores.reset_index(drop=True)
        self.reference, self.level, self.scoring = reference, check_level(level), scoring
        self.estimators: list[str] = list(dict.fromkeys(scores["estimator"]))
        self.datasets: list[str] = list(dict.fromkeys(scores["dataset"]))
        check_reference(self.estimators, reference)
        self._by_name = {
            name: {dataset: self._folds(name, dataset) for dataset in self.datasets}
            for name in self.estimators
        }

    def folds(self, estimator: str, dataset: str) -> np.ndarray:
        """Return the scores of an estimator on a data set, shape (5, 2): what `f_test_5x2cv` takes."""
        if estimator not in self._by_name or dataset not in self._by_name[estimator]:
            raise ValueError(
                f"there are scores of {', '.join(map(repr, self.estimators))} on "
                f"{', '.join(map(repr, self.datasets))}; got {estimator!r} on {dataset!r}."
            )
        return self._by_name[estimator][dataset].copy()

    # ------------------------------------------------------------------ numbers
    def table(self) -> pd.DataFrame:
        """Return means and standard deviations over the ten folds.

        Returns
        -------
        DataFrame
            A row for each data set, columns ``(estimator, "mean")`` and ``(estimator, "sd")``.
        """
        columns = {
            (name, what): [function(self._by_name[name][dataset]) for dataset in self.datasets]
            for name in self.estimators
            for what, function in (("mean", np.mean), ("sd", _deviation))
        }
        return pd.DataFrame(columns, index=pd.Index(self.datasets, name="dataset"))

    @property
    def tests(self) -> pd.DataFrame:
        """The F tests, a row for each data set and pair; no p-value is corrected for the number of tests.

        Columns are ``dataset``, ``estimator``, ``rival``, ``mean``, ``rival_mean``, ``difference``,
        ``statistic``, ``pvalue`` and ``verdict``.
        """
        return paired_f_tests(self._by_name, reference=self.reference, level=self.level)

    def win_tie_loss(self, method: str = "demsar") -> pd.DataFrame:
        """Return wins, ties and losses of each pair over the data sets.

        Parameters
        ----------
        method : str, default="demsar"
            Of `multikernel.stats.wilcoxon_signed_rank`.

        Returns
        -------
        DataFrame
            As `multikernel.stats.win_tie_loss` gives it.
        """
        return win_tie_loss(self._by_name, reference=self.reference, level=self.level, method=method)

    def wilcoxon(self, method: str = "demsar") -> pd.DataFrame:
        """Return Wilcoxon's test of each pair over the data sets, by mean scores.

        Parameters
        ----------
        method : str, default="demsar"
            Of `multikernel.stats.wilcoxon_signed_rank`.

        Returns
        -------
        DataFrame
            A row for each ``(estimator, rival)``: ``statistic``, ``z``, ``pvalue`` and ``verdict``.
        """
        return signed_rank_tests(self._by_name, reference=self.reference, level=self.level, method=method)

    # ------------------------------------------------------------------ text
    def to_markdown(self, digits: int = 3) -> str:
        """Return the table as Markdown, with significant wins in bold.

        Parameters
        ----------
        digits : int, default=3
            Behind the point.

        Returns
        -------
        str
        """
        texts = [
            [_markdown(cell) for cell in row] for row in [self._head(), *self._rows(digits), *self._foot()]
        ]
        widths = [max(3, *(len(row[j]) for row in texts)) for j in range(len(texts[0]))]
        rule = ["-" * width for width in widths]
        lines = [
            "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
            for row in [texts[0], rule, *texts[1:]]
        ]
        return "\n".join([*lines, "", self._caption("**bold**")])

    def __str__(self) -> str:
        return self.to_markdown()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, body = [self._head()], [*self._rows(3), *self._foot()]
        rows = [_html_row(row, "th") for row in head] + [_html_row(row, "td") for row in body]
        return f"<table>{''.join(rows)}</table><p>{html.escape(self._caption('bold'))}</p>"

    def _head(self) -> list[_Cell]:
        return [_Cell("data set"), *(_Cell(name) for name in self.estimators)]

    def _rows(self, digits: int) -> Iterable[list[_Cell]]:
        table, bold = self.table(), self._bold()
        for dataset in self.datasets:
            cells = [_Cell(dataset)]
            for name in self.estimators:
                mean, sd = table.loc[dataset, (name, "mean")], table.loc[dataset, (name, "sd")]
                cells.append(_Cell(f"{mean:.{digits}f} ± {sd:.{digits}f}", (dataset, name) in bold))
            yield cells

    def _foot(self) -> Iterable[list[_Cell]]:
        """Wins, ties and losses over the data sets, and Wilcoxon's p-value where there is a reference."""
        tests = self.tests
        counts = {
            name: "–".join(str(len(_datasets_where(tests, name, verdict))) for verdict in (WIN, TIE, LOSS))
            for name in self.estimators
            if name != self.reference
        }
        yield [_Cell("wins–ties–losses"), *(_Cell(counts.get(name, "")) for name in self.estimators)]
        if self.reference is not None:
            pvalues = self.wilcoxon()["pvalue"].droplevel("rival")
            texts = {name: f"{pvalue:.3f}" for name, pvalue in pvalues.items()}
            yield [_Cell("Wilcoxon's p"), *(_Cell(texts.get(name, "")) for name in self.estimators)]

    def _bold(self) -> set[tuple[str, str]]:
        tests, rated = self.tests, [name for name in self.estimators if name != self.reference]
        won, lost = (
            {(dataset, name) for name in rated for dataset in _datasets_where(tests, name, verdict)}
            for verdict in (WIN, LOSS)
        )
        return won - lost

    def _caption(self, bold: str) -> str:
        what = f"Mean ± standard deviation of {self.scoring} over {REPEATS}×{FOLDS} folds"
        than = (
            "better than at least one other and worse than none"
            if self.reference is None
            else f"better than {self.reference}"
        )
        return _on_one_line(f"{what}; {bold}: {than} by the 5×2 cv F test at the level of {self.level:g}.")

    def _folds(self, estimator: str, dataset: str) -> np.ndarray:
        chosen = self.scores[(self.scores["estimator"] == estimator) & (self.scores["dataset"] == dataset)]
        places = list(zip(chosen["repetition"], chosen["fold"], strict=True))
        wanted = [(i, j) for i in range(REPEATS) for j in range(FOLDS)]
        if sorted(places) != wanted:
            raise ValueError(
                f"scores must have one row for each of the {REPEATS} repetitions and {FOLDS} folds, counted "
                f"from 0; {estimator!r} on {dataset!r} has {len(places)} rows"
                + (f" and none for {min(set(wanted) - set(places))}." if set(wanted) - set(places) else ".")
            )
        values = np.empty((REPEATS, FOLDS))
        values[tuple(np.transpose(places))] = chosen["score"]
        return values


def _deviation(values: np.ndarray) -> float:
    return float(values.std(ddof=1))


def _datasets_where(tests: pd.DataFrame, name: str, verdict: str) -> list[Any]:
    """The data sets of the tests that end so for an estimator, on whichever side of the pair it stands."""
    mirrored = {WIN: LOSS, TIE: TIE, LOSS: WIN}[verdict]
    ends = ((tests["estimator"] == name) & (tests["verdict"] == verdict)) | (
        (tests["rival"] == name) & (tests["verdict"] == mirrored)
    )
    return tests.loc[ends, "dataset"].tolist()


def _markdown(cell: _Cell) -> str:
    text = _on_one_line(cell.text).replace("|", r"\|")
    return f"**{text}**" if cell.bold else text


def _on_one_line(text: str) -> str:
    return " ".join(text.splitlines())


def _html_row(cells: list[_Cell], tag: str) -> str:
    texts = (f"<b>{html.escape(c.text)}</b>" if c.bold else html.escape(c.text) for c in cells)
    return "<tr>" + "".join(f"<{tag}>{text}</{tag}>" for text in texts) + "</tr>"

"""A comparison in a sentence, as a table of texts, as Markdown and as HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from ..rivals.baselines import SINGLE, listed
from ..statistics.paired_tests import EQUAL, LOSS, TIE, WIN
from .answers import as_test, did_it_help, on_majority, on_missing, on_rivals, with_article

if TYPE_CHECKING:
    from .comparison import Comparison

# An interval is no link, unless what follows makes it one: its brackets need no escape.
_INTERVAL = re.compile(r"\\\[([-+.\d]+, [-+.\d]+)\\\](?![(:\[\\])")
_TURNED = {WIN: LOSS, TIE: TIE, LOSS: WIN, EQUAL: EQUAL}


class Cell(NamedTuple):
    """A cell of a table."""

    text: str
    bold: bool = False


# ------------------------------------------------------------------ the sentence
def sentence(comparison: Comparison) -> str:
    """What the tests of the model with the best mean show."""
    best = max(comparison.models, key=comparison._mean)
    score = comparison._mean(best)
    n_models, n_sets = len(comparison.models), len(comparison.datasets)
    own = f" of {n_models} models" if n_models > 1 else ""
    head = f"{best} has {'the best' if own else 'a'} mean {comparison.metric}{own}"
    if n_sets > 1:
        return f"{head} over {n_sets} data sets, {score:.3f}{_counted(comparison, best)}."
    parts = _tests_in_words(comparison, best)
    helped, text = did_it_help(parts), on_rivals(parts)
    told = f": {text}, as far as {comparison.n_folds} folds can tell" if text else ""
    known, baselines, about = comparison.estimators, comparison.baselines, comparison.about
    failed = [name for name, (_, tested) in baselines.items() if best in tested and name not in known]
    above = [name for name in baselines if name in known and comparison._mean(name) > score]
    if above:
        named = listed([f"{with_article(name)} ({comparison._mean(name):.3f})" for name in above])
        told = f", below {named}{told}"
    small = on_majority(score, comparison.metric, about.majority, about.n_samples or 1)
    text = f"{head}, {score:.3f}{told}.{on_missing(failed)}"
    return (f"{helped}: " if helped else "") + text + (f" {small}" if small else "")


def _tests_in_words(comparison: Comparison, best: str) -> list[dict[str, Any]]:
    """The tests of a model, with what a sentence says of its rivals."""
    every = comparison._tests_of(comparison.datasets[0])
    tests = [test for test in every if test["estimator"] == best]
    if not tests and comparison.reference == best:
        tests = [turned(test) for test in every]
    return [
        {
            "rival": with_article(rival) if rival in comparison.baselines else rival,
            "kind": comparison._kind(rival),
            "score": comparison._mean(rival),
            "level": comparison.level,
            "chosen": _chosen(comparison, rival),
            "n_folds": comparison.n_folds,
            **as_test(test),
        }
        for test in tests
        for rival in [test["rival"]]
    ]


def _chosen(comparison: Comparison, rival: str) -> str | None:
    """The view that the best single view is, in most folds."""
    if comparison._kind(rival) != SINGLE or "shares" not in comparison.scores:
        return None
    shares = comparison.scores.loc[comparison.scores["estimator"] == rival, "shares"]
    means = pd.DataFrame(shares.tolist()).fillna(0.0).mean()
    return str(means.idxmax()) if means.size and means.max() > 0.5 else None


def _counted(comparison: Comparison, name: str) -> str:
    """How often a model is better than the reference, or than any other."""
    reference = comparison.reference
    if name == reference:
        return ""
    counts = f"; wins–ties–losses {comparison._win_tie_loss(name)}"
    if reference is None:
        return f"{counts} against all others"
    p = comparison.wilcoxon().loc[(name, reference), "pvalue"]
    return f"{counts} against {reference} (Wilcoxon's p = {p:.2g})"


def turned(test: Mapping[str, Any]) -> dict[str, Any]:
    """A test seen from the side of the rival."""
    return {
        **test,
        "estimator": test["rival"],
        "rival": test["estimator"],
        "difference": -test["difference"] + 0.0,
        "low": -test["high"] + 0.0,
        "high": -test["low"] + 0.0,
        "better_folds": test["worse_folds"],
        "worse_folds": test["better_folds"],
        "verdict": _TURNED[test["verdict"]],
    }


# ------------------------------------------------------------------ the table
def cells(comparison: Comparison, digits: int) -> list[list[Cell]]:
    """The table of a comparison, its head first."""
    if len(comparison.datasets) > 1:
        return _cells_of_several(comparison, digits)
    frame = comparison.to_frame()
    rivals = list(dict.fromkeys(column for column, _ in frame.columns if column != "score"))
    rows = [["model", comparison.metric, "s.d.", "seconds", *(f"against {rival}" for rival in rivals)]]
    for name, row in frame.iterrows():
        seconds = comparison.seconds(str(name), comparison.datasets[0])
        numbers = [f"{row['score', what]:.{digits}f}" for what in ("mean", "sd")]
        numbers.append("" if seconds is None else f"{seconds:.2g}")
        rows.append([str(name), *numbers, *(_test_text(row[rival], digits) for rival in rivals)])
    return [[Cell(text) for text in row] for row in rows]


def _cells_of_several(comparison: Comparison, digits: int) -> list[list[Cell]]:
    """A row for each data set; wins, ties and losses; Wilcoxon's p-value where there is a reference."""
    means, bold, names = comparison.means(), _bold(comparison), comparison.estimators
    rows = [[Cell("data set"), *(Cell(name) for name in names)]]
    for dataset in comparison.datasets:
        rows.append([Cell(dataset)])
        for name in names:
            mean, sd = means.loc[dataset, (name, "mean")], means.loc[dataset, (name, "sd")]
            rows[-1].append(Cell(f"{mean:.{digits}f} ± {sd:.{digits}f}", (dataset, name) in bold))
    counts = {name: comparison._win_tie_loss(name) for name in names if name != comparison.reference}
    foot = {"wins–ties–losses": counts}
    if comparison.reference is not None:
        pvalues = comparison.wilcoxon()["pvalue"].droplevel("rival")
        foot["Wilcoxon's p"] = {name: f"{pvalue:.3f}" for name, pvalue in pvalues.items()}
    for what, texts in foot.items():
        rows.append([Cell(what), *(Cell(texts.get(name, "")) for name in names)])
    return rows


def _bold(comparison: Comparison) -> set[tuple[str, str]]:
    """Better than the reference; without one, better than at least one other and worse than none."""
    rated = [name for name in comparison.estimators if name != comparison.reference]
    won, lost = (
        {(dataset, name) for name in rated for dataset in datasets_where(comparison.set_tests, name, verdict)}
        for verdict in (WIN, LOSS)
    )
    return won - lost


def datasets_where(tests: pd.DataFrame, name: str, verdict: str) -> list[Any]:
    """The data sets of the tests that end so for an estimator, on whichever side of the pair it stands."""
    ends = ((tests["estimator"] == name) & (tests["verdict"] == verdict)) | (
        (tests["rival"] == name) & (tests["verdict"] == _TURNED[verdict])
    )
    return list(tests.loc[ends, "dataset"])


def _test_text(test: pd.Series, digits: int) -> str:
    if pd.isna(test["p_holm"]):
        return ""
    return f"{test['difference']:+.{digits}f} (p = {test['p_holm']:.2g}, {test['verdict']})"


def _caption(comparison: Comparison, bold: str) -> str:
    if len(comparison.datasets) == 1:
        return comparison.protocol
    repetitions, folds = comparison.folds(comparison.estimators[0], comparison.datasets[0]).shape
    what = f"Mean ± standard deviation of {comparison.scoring} over {repetitions}×{folds} folds"
    than = (
        "better than at least one other and worse than none"
        if comparison.reference is None
        else f"better than {comparison.reference}"
    )
    test = "the 5×2 cv F test" if comparison.is_5x2 else "the test of each data set"
    text = f"{what}; {bold}: {than} by {test} at the level of {comparison.level:g}."
    return " ".join(text.splitlines())


# ------------------------------------------------------------------ Markdown and HTML
def as_markdown(comparison: Comparison, title: str | None, digits: int) -> str:
    """Answer, table, protocol and notes, for each score."""
    lines = [] if title is None else [f"# {_escaped(title)}", ""]
    for each in comparison.by_score.values():
        lines += [_escaped(each.answer), "", *_markdown_table(cells(each, digits)), ""]
    lines += [_caption(comparison, "**bold**"), ""]
    lines += [f"- {_escaped(line)}" for line in comparison.remarks()]
    return "\n".join(lines).rstrip()


def _markdown_table(rows: list[list[Cell]]) -> list[str]:
    texts = [[_markdown(cell) for cell in row] for row in rows]
    widths = [max(3, *(len(row[j]) for row in texts)) for j in range(len(texts[0]))]
    rule = ["-" * width for width in widths]
    return [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in [texts[0], rule, *texts[1:]]
    ]


def as_html(comparison: Comparison) -> str:
    """The same as a piece of HTML."""
    pieces = []
    for each in comparison.by_score.values():
        head, *body = cells(each, 3)
        rows = [_html_row(head, "th"), *(_html_row(row, "td") for row in body)]
        pieces.append(f"<p>{html.escape(each.answer)}</p><table>{''.join(rows)}</table>")
    texts = [_caption(comparison, "bold"), *comparison.remarks()]
    return "".join([*pieces, *(f"<p>{html.escape(text)}</p>" for text in texts)])


def _escaped(text: str) -> str:
    """Names cannot break a table, or become markup."""
    one_line = " ".join(text.split())
    for sign in "\\`*_|<>[]#":
        one_line = one_line.replace(sign, f"\\{sign}")
    return _INTERVAL.sub(r"[\1]", one_line)


def _markdown(cell: Cell) -> str:
    return f"**{_escaped(cell.text)}**" if cell.bold else _escaped(cell.text)


def _html_row(row: list[Cell], tag: str) -> str:
    texts = (f"<b>{html.escape(c.text)}</b>" if c.bold else html.escape(c.text) for c in row)
    return "<tr>" + "".join(f"<{tag}>{text}</{tag}>" for text in texts) + "</tr>"

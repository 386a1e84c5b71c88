"""The answers of an evaluation in words: what was shown, and what was not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from multikernel.evaluation._contenders import PLAIN_SUM, SINGLE
from multikernel.evaluation._contest import LEVEL, N_FITS

Part = dict[str, Any]

VERDICTS = {"better": "better than", "tie": "no difference was shown from", "worse": "worse than"}


# ------------------------------------------------------------------ without a view
def on_views(rows: list[Part], metric: str) -> str:
    """What is lost without each view: what was shown, else the largest change, and how sure it is.

    Examples
    --------
    >>> row = {"view": "a", "effect": 0.4, "p_alone": 0.01, "p": 0.3, "verdict": "tie", "better_folds": 10}
    >>> print(on_views([row], "accuracy"))
    No difference was shown for any view. The largest: without a, accuracy falls by 0.400, on all 10 folds (p = 0.01, adjusted for 1 view 0.3), which may well be a difference.
    """  # noqa: E501
    shown = sorted((row for row in rows if row["verdict"] != "tie"), key=lambda row: -row["effect"])
    others = [row for row in rows if row["verdict"] == "tie"]
    likely = [row for row in others if _side(row["effect"], row)]
    if shown:
        texts = [f"{_change(row, metric)} (p = {row['p']:.2g})" for row in shown]
        text = "; ".join(texts)
        rest = "; for the other views no difference was shown" if others else ""
        hint = f" Not certain: {'; '.join(_unsure(row, metric, rows) for row in likely)}."
        return f"{text[0].upper()}{text[1:]}{rest}.{hint if likely else ''}"
    largest = max(likely or others, key=lambda row: abs(row["effect"]))
    text = f"No difference was shown for any view. The largest: {_unsure(largest, metric, rows)}"
    return f"{text}, which may well be a difference." if likely else f"{text}."


def _change(row: Part, metric: str) -> str:
    effect = row["effect"]
    return f"without {row['view']}, {metric} {'falls' if effect >= 0 else 'rises'} by {abs(effect):.3f}"


def _unsure(row: Part, metric: str, rows: list[Part]) -> str:
    folds = row.get("better_folds" if row["effect"] >= 0 else "worse_folds")
    count = f"all {N_FITS}" if folds == N_FITS else f"{folds} of {N_FITS}"
    on = "" if folds is None else f", on {count} folds"
    views = f"{len(rows)} view{'s' if len(rows) > 1 else ''}"
    alone = f"p = {row.get('p_alone', row['p']):.2g}, adjusted for {views} {row['p']:.2g}"
    return f"{_change(row, metric)}{on} ({alone})"


def _side(difference: float, row: Part) -> str | None:
    """On which side all ten folds are, if they are on one."""
    if row.get("better_folds") == N_FITS and difference > 0:
        return "better"
    return "worse" if row.get("worse_folds") == N_FITS and difference < 0 else None


# ------------------------------------------------------------------ against simpler models
def answer(rows: list[Part], metric: str, missing: Sequence[str] = (), majority: float | None = None) -> str:
    """Did it help? One sentence of the verdicts on the first row against the others.

    Parameters
    ----------
    rows : list of dict
    metric : str
    missing : sequence of str
        Rivals that failed: the answer judges without them.
    majority : float, optional
        The rate of the largest class, where the score is not above it.

    Examples
    --------
    >>> learned = {"name": "learned", "score": 0.9, "verdict": None}
    >>> rival = {"name": "plain sum", "score": 0.7, "p": 0.01, "verdict": "better"}
    >>> print(answer([learned, rival], "accuracy"))
    Learning the kernel helped: accuracy 0.900, better than the plain sum (0.700, p = 0.01).
    """
    first, others = rows[0], rows[1:]
    texts = []
    for verdict, text in VERDICTS.items():
        rivals = [f"the {row['name']} ({_test_text(row)})" for row in others if row["verdict"] == verdict]
        if rivals:
            texts.append(f"{text} {listed(rivals)}")
    text = f"{_head(others)}: {metric} {first['score']:.3f}, {'; '.join(texts)}.{on_missing(missing)}"
    return text + ("" if majority is None else f" {on_majority(first['score'], metric, majority)}")


def _head(others: list[Part]) -> str:
    verdicts = {row["verdict"] for row in others if row["name"] in (SINGLE, PLAIN_SUM)}
    if not verdicts:
        return "Against one tuned kernel"
    if verdicts == {"better"}:
        return "Learning the kernel helped"
    if verdicts == {"tie"}:
        return "It was not shown that learning the kernel helped"
    return f"Learning the kernel {'helped in part' if 'better' in verdicts else 'did not help'}"


def on_missing(names: Sequence[str]) -> str:
    """That an answer judges without rivals that failed."""
    return f" Judged without the {listed(list(names))}, which could not be fitted." if names else ""


def on_majority(score: float, metric: str, majority: float) -> str:
    """That a score is no better than naming the largest class always."""
    return (
        f"Always naming the largest class has {metric} {majority:.3f}; the model, with {score:.3f}, is not "
        "above it."
    )


def not_above(score: float, majority: float | None, n: int) -> float | None:
    """The rate of the largest class, if a score is better than it by less than half a sample."""
    return majority if majority is not None and score <= majority + 0.5 / n else None


def _test_text(row: Part) -> str:
    return f"{row['score']:.3f}, {p_text(row)}"


def p_text(test: Part) -> str:
    """The p-value, why a small one is a tie all the same, and a difference that a tie leaves likely."""
    text = f"p = {test['p']:.2g}"
    if test["verdict"] != "tie":
        return text
    if test["p"] <= LEVEL:
        return f"{text}, but on too few folds"
    side = _side(test.get("difference", 0.0), test)
    if side is None:
        return text
    return f"{text}, yet {side} by {abs(test['difference']):.3f} on all {N_FITS} folds"


def listed(texts: list[str]) -> str:
    """Texts in a row: a, b and c."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"

"""The results of paired tests in words: what was shown, and what was not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..rivals.baselines import ELASTIC_NET, FOREST, KEPT, PLAIN_SUM, RBF, SCALED_SUM, SINGLE, listed
from ..scoring import TASKS
from ..statistics.paired_tests import EQUAL, LOSS, TIE, WIN

Part = dict[str, Any]

LEVEL = 0.05
METRICS = {name: task.metric for name, task in TASKS.items()}
TESTED = (
    "tests and 95% intervals of the differences are those of all samples, with the variance between "
    "refits, or the corrected t test where the score is no mean over samples"
)
_WORDS = {WIN: "better", LOSS: "worse", TIE: "tie", EQUAL: "equal"}
_WITH_ARTICLE = (SINGLE, PLAIN_SUM, SCALED_SUM, RBF, KEPT, FOREST, ELASTIC_NET)
_TEXTS = {
    "better": "better than",
    "equal": "practically equal to",
    "tie": "no difference was shown from",
    "worse": "worse than",
}


def as_test(row: Any) -> Part:
    """A row of `holm_tests` as a dictionary of plain numbers."""
    return {
        "difference": float(row["difference"]) + 0.0,
        "difference_sd": float(row["difference_sd"]),
        "low": float(row["low"]),
        "high": float(row["high"]),
        "p_alone": float(row["p"]),
        "better_folds": int(row["better_folds"]),
        "worse_folds": int(row["worse_folds"]),
        "p": float(row["p_holm"]),
        "verdict": _WORDS[row["verdict"]],
    }


# ------------------------------------------------------------------ without a view
def on_views(rows: list[Part], metric: str) -> str:
    """What is lost without each view: what was shown, else the largest change, and how sure it is.

    Examples
    --------
    >>> row = {"view": "a", "effect": 0.4, "p_alone": 0.01, "p": 0.3, "verdict": "tie", "better_folds": 10, "n_folds": 10}
    >>> print(on_views([row], "accuracy"))
    No difference was shown for any view. The largest: without a, accuracy falls by 0.400, on all 10 folds (p = 0.01, adjusted for 1 view 0.3), which may well be a difference.
    """  # noqa: E501
    decided = ("better", "worse")
    shown = sorted((row for row in rows if row["verdict"] in decided), key=lambda row: -row["effect"])
    others = [row for row in rows if row["verdict"] not in decided]
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
    total = row.get("n_folds")
    count = f"all {total}" if folds == total else f"{folds} of {total}"
    on = "" if folds is None else f", on {count} folds"
    views = f"{len(rows)} view{'s' if len(rows) > 1 else ''}"
    alone = f"p = {row.get('p_alone', row['p']):.2g}, adjusted for {views} {row['p']:.2g}"
    return f"{_change(row, metric)}{on} ({alone})"


def _side(difference: float, row: Part) -> str | None:
    """On which side all folds are, if they are on one."""
    total = row.get("n_folds")
    if total is None:
        return None
    if row.get("better_folds") == total and difference > 0:
        return "better"
    return "worse" if row.get("worse_folds") == total and difference < 0 else None


# ------------------------------------------------------------------ against other models
def did_it_help(tests: Sequence[Part]) -> str | None:
    """Whether learning the kernel helped, by the tests against the simple rules; None without any.

    Where a simple rule is better, or practically equal, it is what to use.
    """
    simple = [test for test in tests if test["kind"] in (SINGLE, PLAIN_SUM)]
    verdicts = {test["verdict"] for test in simple}
    if not verdicts:
        return None
    for verdict, said in (("worse", "did not help"), ("equal", "made no practical difference")):
        found = [test for test in simple if test["verdict"] == verdict]
        if found:
            return f"Learning the kernel {said}, {_advice(found)}"
    if verdicts == {"better"}:
        return "Learning the kernel helped"
    if "better" in verdicts:
        return "Learning the kernel helped in part"
    return "It was not shown that learning the kernel helped"


def _advice(tests: Sequence[Part]) -> str:
    """Which simple rule to use: the best one, and of equals one view, which costs least."""
    best = max(tests, key=lambda test: (round(float(test["score"]), 12), test["kind"] == SINGLE))
    single = [test for test in tests if test["kind"] == SINGLE]
    if single and single[0]["verdict"] == "equal":
        best = single[0]
    if best["kind"] == SINGLE and best.get("chosen"):
        return f"view {best['chosen']} alone is enough"
    return f"use the {best['kind']}"


def on_rivals(tests: Sequence[Part]) -> str:
    """What the tests of one model show, the rivals with the same verdict together."""
    texts = []
    for verdict, text in _TEXTS.items():
        found = [_rival_text(test) for test in tests if test["verdict"] == verdict]
        texts += [f"{text} {listed(found)}"] if found else []
    return "; ".join(texts)


def answer(
    rows: list[Part],
    metric: str,
    missing: Sequence[str] = (),
    majority: tuple[float | None, int] = (None, 1),
    single: str | None = None,
) -> str:
    """Did it help? One sentence of the verdicts on the first row against the others but for those `missing`.

    `majority` is the rate of the largest class, and the number of samples; `single` the view that the best
    single view is.
    """
    first = rows[0]
    tests = [
        {**row, "kind": row["name"], "rival": with_article(row["name"]), "chosen": single} for row in rows[1:]
    ]
    head = did_it_help(tests) or "Against other models"
    text = f"{head}: {metric} {first['score']:.3f}, {on_rivals(tests)}.{on_missing(missing)}"
    small = on_majority(first["score"], metric, *majority)
    return f"{text} {small}" if small else text


def on_missing(names: Sequence[str]) -> str:
    """That an answer judges without rivals that failed."""
    told = listed([with_article(name) for name in names]) if names else ""
    return f" Judged without {told}, which could not be fitted." if names else ""


def with_article(name: str) -> str:
    """A baseline in a sentence: the plain sum, the plain sum under SVC with C=1, gradient boosting.

    Examples
    --------
    >>> with_article("plain sum under SVC with C=1"), with_article("stacking")
    ('the plain sum under SVC with C=1', 'stacking')
    """
    return f"the {name}" if name.partition(" under ")[0] in _WITH_ARTICLE else name


def on_majority(score: float, metric: str, majority: float | None, n: int) -> str | None:
    """That a score is no better than always naming the largest class, by half a sample; None if it is."""
    if majority is None or score > majority + 0.5 / n:
        return None
    return (
        f"Always naming the largest class has {metric} {majority:.3f}; the model, with {score:.3f}, is not "
        "above it."
    )


def majority_rate(task: str, y: Any) -> float | None:
    """The part of the samples that the largest class has."""
    if task != "classification":
        return None
    return float(np.unique(np.asarray(y), return_counts=True)[1].max() / len(y))


def _rival_text(test: Part) -> str:
    """A rival with its score, the difference with its interval, and p."""
    gap = f"{test['difference']:+.3f} [{test['low']:+.3f}, {test['high']:+.3f}]"
    side = _side(test["difference"], test) if test["verdict"] == "tie" else None
    hint = f", yet {side} on all {test['n_folds']} folds" if side else ""
    return f"{test['rival']} ({test['score']:.3f}; {gap}, p = {test['p']:.2g}{hint})"

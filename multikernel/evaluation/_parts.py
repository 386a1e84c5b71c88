"""From the scores of one contest to three parts: stability, what each view is worth, and did it help?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from multikernel.estimators._projection import BaseProjection
from multikernel.evaluation._contenders import PLAIN_SUM, SINGLE, without_name
from multikernel.evaluation._contest import (
    LEARNED,
    LEVEL,
    METRICS,
    N_FITS,
    PROTOCOL,
    Contender,
    Report,
    Scores,
)
from multikernel.evaluation._subject import Subject

Part = dict[str, Any]

_TEST = "; p by the 5×2 cv F test, adjusted by Holm's method"
_NOTHING = 1e-9  # a share that is none


def stability_part(subject: Subject, scores: Scores, report: Report) -> Part | None:
    """The shares of the views over the refits, beside those of the model itself."""
    if not subject.shares():
        report.omit("stability", f"{type(subject.final).__name__} has no weights of views.")
        return None
    if isinstance(subject.final, BaseProjection):
        report.omit(
            "stability", "regions are numbered anew in every fit, so that their weights do not compare."
        )
        return None
    if LEARNED in scores.failures:
        report.omit("stability", scores.failures[LEARNED])
        return None
    refits = scores.shares[LEARNED]
    rows = [_spread(view, share, refits) for view, share in subject.shares().items()]
    return {"protocol": PROTOCOL + ".", "rows": rows, "answer": _on_stability(rows)}


def _spread(view: str, share: float, refits: list[dict[str, float]]) -> Part:
    values = np.array([shares.get(view, 0.0) for shares in refits])
    return {
        "view": view,
        "share": share,
        "mean": float(values.mean()),
        "sd": float(values.std(ddof=1)),
        "low": float(values.min()),
        "high": float(values.max()),
        "used": float((np.abs(values) > _NOTHING).mean()),
        "values": values.tolist(),
    }


def _on_stability(rows: list[Part]) -> str:
    top = max(rows, key=lambda row: abs(row["mean"]))
    always = sum(row["used"] == 1.0 for row in rows)
    never = sum(row["used"] == 0.0 for row in rows)
    text = (
        f"{top['view']} has the largest share on average, {top['mean']:.2f} (from {top['low']:.2f} to "
        f"{top['high']:.2f} over {N_FITS} refits)"
    )
    counts = [f"{_views(always)} used in every refit"] + ([f"{never} in none"] if never else [])
    return f"{text}; {' and '.join(counts)}."


def _views(count: int) -> str:
    return f"{count} view is" if count == 1 else f"{count} views are"


# ------------------------------------------------------------------ without a view
def without_part(
    subject: Subject, scores: Scores, contenders: Mapping[str, Contender], report: Report
) -> Part | None:
    """The score without each view, and what is lost without it."""
    part = "without_view"
    if not contenders:
        return None
    if LEARNED in scores.failures:
        report.omit(part, scores.failures[LEARNED])
        return None
    names = {without_name(view): view for view in subject.views if without_name(view) in contenders}
    tests = scores.against(list(names))
    rows = []
    for name, view in names.items():
        if name in scores.failures:
            report.omit(part, f"view {view!r}: {scores.failures[name]}")
            continue
        test = tests[name]
        row = {"view": view, "score": scores.mean(name), "sd": scores.sd(name)}
        rows.append({**row, "effect": test["difference"], "p": test["p"], "verdict": test["verdict"]})
    if not rows:
        return None
    metric = METRICS[subject.task]
    return {
        "protocol": f"{PROTOCOL}{_TEST} over the views.",
        "metric": metric,
        "score": scores.mean(LEARNED),
        "sd": scores.sd(LEARNED),
        "rows": rows,
        "answer": _on_views(rows, metric),
    }


def _on_views(rows: list[Part], metric: str) -> str:
    needed = sorted((row for row in rows if row["verdict"] == "better"), key=lambda row: -row["effect"])
    harmful = [row for row in rows if row["verdict"] == "worse"]
    texts = [
        f"without {row['view']}, {metric} falls by {row['effect']:.3f} (p = {row['p']:.2g})" for row in needed
    ]
    texts += [
        f"without {row['view']}, it rises by {-row['effect']:.3f} (p = {row['p']:.2g})" for row in harmful
    ]
    if texts:
        rest = "; for the other views no difference was found" if len(texts) < len(rows) else ""
        text = "; ".join(texts)
        return f"{text[0].upper()}{text[1:]}{rest}."
    smallest = min(row["p"] for row in rows)
    return (
        f"No view is needed that the others could not replace, as far as {N_FITS} folds can tell (smallest "
        f"p = {smallest:.2g})."
    )


# ------------------------------------------------------------------ against simpler models
def baselines_part(
    subject: Subject, scores: Scores, contenders: Mapping[str, Contender], report: Report
) -> Part | None:
    """The model beside its rivals, and whether learning the weights helped."""
    if not contenders:
        return None
    if LEARNED in scores.failures:
        report.omit("baselines", scores.failures[LEARNED])
        return None
    for name in contenders:
        if name in scores.failures:
            report.omit("baselines", f"{name}: {scores.failures[name]}")
    tests = scores.against(list(contenders))
    if not tests:
        return None
    metric = METRICS[subject.task]
    own = f"{type(subject.final).__name__} as it was given, fitted anew in each fold."
    rows = [_row(LEARNED, own, scores, {"difference": 0.0, "p": None, "verdict": None})]
    for name, test in tests.items():
        rows.append(_row(name, contenders[name].what + _chosen(name, scores), scores, test))
    return {
        "protocol": f"{PROTOCOL}{_TEST} over the rivals; a verdict other than a tie needs eight of the ten "
        "folds on one side as well.",
        "metric": metric,
        "rows": rows,
        "answer": answer(rows, metric),
    }


def _row(name: str, what: str, scores: Scores, test: Part) -> Part:
    return {"name": name, "what": what, "score": scores.mean(name), "sd": scores.sd(name), **test}


def _chosen(name: str, scores: Scores) -> str:
    """Which single view was chosen most often."""
    if name != SINGLE:
        return ""
    picked = [max(shares, key=lambda view: shares[view]) for shares in scores.shares[name]]
    first = max(dict.fromkeys(picked), key=picked.count)
    return f" Chosen most often: {first}, in {picked.count(first)} of {len(picked)} folds."


def answer(rows: list[Part], metric: str) -> str:
    """Did it help? One sentence of the verdicts on the first row against the others.

    Examples
    --------
    >>> learned = {"name": "learned", "score": 0.9, "verdict": None}
    >>> rival = {"name": "plain sum", "score": 0.7, "p": 0.01, "verdict": "better"}
    >>> print(answer([learned, rival], "accuracy"))
    Learning the kernel helped: accuracy 0.900, better than the plain sum (0.700, p = 0.01).
    """
    first, others = rows[0], rows[1:]
    verdicts = {row["verdict"] for row in others if row["name"] in (SINGLE, PLAIN_SUM)}
    if not verdicts:
        head = "Against one tuned kernel"
    elif verdicts == {"better"}:
        head = "Learning the kernel helped"
    elif verdicts == {"tie"}:
        head = "Learning the kernel did not help, as far as ten folds can tell"
    elif "better" in verdicts:
        head = "Learning the kernel helped in part"
    else:
        head = "Learning the kernel did not help"
    words = {"better": "better than", "tie": "no different from", "worse": "worse than"}
    texts = []
    for verdict, text in words.items():
        rivals = [f"the {row['name']} ({_test_text(row)})" for row in others if row["verdict"] == verdict]
        if rivals:
            texts.append(f"{text} {listed(rivals)}")
    return f"{head}: {metric} {first['score']:.3f}, {'; '.join(texts)}."


def _test_text(row: Part) -> str:
    return f"{row['score']:.3f}, {p_text(row)}"


def p_text(test: Part) -> str:
    """The p-value, and why a small one is a tie all the same."""
    few = test["verdict"] == "tie" and test["p"] <= LEVEL
    return f"p = {test['p']:.2g}" + (", but on too few folds" if few else "")


def listed(texts: list[str]) -> str:
    """Texts in a row: a, b and c."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"

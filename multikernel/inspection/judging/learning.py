"""Whether a model has learned its samples by heart: training scores beside held-out ones, learning curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.store import Result
from ..protocol import Protocol
from ..refits import support_share
from ..scoring import in_words
from ..subject import Subject
from .answers import Part
from .held_out import score_rows

_MOST_SUPPORT = 0.9  # share of support samples beyond which the model leaves hardly any sample out


def overfitting_part(subject: Subject, results: Sequence[Result], protocol: Protocol, n: int) -> Part:
    """The scores on the samples that the refits learned from, beside those on samples they did not see."""
    rows = [{**row, "gap": row["train"] - row["score"]} for row in score_rows(results)]
    shares = [result["support"] for result in results if result["support"] is not None]
    support = support_share(subject.final, n)
    part = {
        "protocol": f"{protocol.words}.",
        "rows": rows,
        "support": {"share": support, "mean": float(np.mean(shares)) if shares else None},
    }
    return {**part, "answer": _on_training(rows[0], support)}


def _on_training(row: Part, support: float | None) -> str:
    metric = row["metric"]
    text = (
        f"On the samples that the refits learned from, {metric} is {row['train']:.3f}; on samples that they "
        f"did not see, {row['score']:.3f}: a difference of {round(row['gap'], 3) + 0.0:.3f}."
    )
    if support is None:
        return text
    text += f" {support:.0%} of the training samples are support samples"
    hint = ", so that a prediction reads nearly all of them" if support > _MOST_SUPPORT else ""
    return f"{text}{hint}."


def learning_curve_part(
    growing: Sequence[Result],
    sizes: tuple[Protocol, Protocol],
    whole: Sequence[Result],
) -> Part:
    """Training and held-out scores by the number of training samples; the last row is of the held-out refits.

    `sizes` are the folds of the growing parts and of the whole ones.
    """
    of_parts, of_whole = sizes
    groups = [
        [i for i, (size, _) in enumerate(of_parts.places) if size == number]
        for number in range(of_parts.places[-1][0] + 1)
    ]
    rows = [
        _row([growing[i] for i in group], [len(of_parts.splits[i][0]) for i in group]) for group in groups
    ]
    first = of_whole.first
    rows.append(_row([whole[i] for i in first], [len(of_whole.splits[i][0]) for i in first]))
    metric = in_words(next(iter(whole[0]["scores"])))
    return {
        "protocol": f"{len(first)} folds: each size is a part of the training part of each fold, and all are "
        "judged on the same test parts.",
        "metric": metric,
        "rows": rows,
        "answer": _on_growth(rows, metric),
    }


def _row(results: Sequence[Result], counts: Sequence[int]) -> Part:
    found = score_rows(results)[0]
    scores: list[Any] = [result["score"] for result in results]
    return {"n_train": round(float(np.mean(counts))), **found, "folds": scores}


def _on_growth(rows: list[Part], metric: str) -> str:
    start, before, last = rows[0], rows[-2], rows[-1]
    step, added = round(last["score"] - before["score"], 3) + 0.0, last["n_train"] - before["n_train"]
    better = sum(b > a for a, b in zip(before["folds"], last["folds"], strict=True))
    return (
        f"Held-out {metric} is {start['score']:.3f} with {start['n_train']} training samples and "
        f"{last['score']:.3f} with {last['n_train']}; the last {added} samples changed it by {step:+.3f} "
        f"(better on {better} of {len(last['folds'])} folds)."
    )

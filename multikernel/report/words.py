"""How a report says things: figures as text, and the findings in a few sentences."""

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from multikernel.report.summary import Summary

# What the gap of a model is the distance to, by what it certifies.
_REACH = {
    "optimality": "the best possible",
    "stationarity": "what a further turn could reach; the problem is not convex, and another start may end "
    "lower",
    "machine": "the best machines for the kernel that was learned; the kernel is where a descent ended, and "
    "another start may end lower",
}

# How evaluations tell that a refit gave a warning.
_WARNED = " gave a warning"
# Shares closer than this, or than a tenth of the largest, share the first place.
_NEAR = 0.01
_MOST_NAMED = 3

# What the parts of an evaluation are called.
PART_NAMES = {
    "data": "Data",
    "stability": "Stability of the weights",
    "without_view": "Without each view",
    "selection": "Which views matter?",
    "enrichment": "Which sets carry weight beyond chance?",
    "baselines": "Against baselines",
    "held_out": "Held out",
    "cohort": "Independent cohort",
    "overfitting": "Training beside held-out scores",
    "learning_curve": "Learning curve",
    "why": "Why these predictions?",
    "cross_view": "Which columns move together?",
    "heat_maps": "Kernels",
    "embedding": "Samples in two dimensions",
    "gate": "Weights of each sample",
}
# Parts that an evaluation computes only if they are named, and what they take.
_ON_DEMAND = {
    "learning_curve": "scores with fewer training samples; it takes 20 refits",
    "selection": "permutation tests of the views, with a stated error rate; no refits",
    "enrichment": "which views, or gene sets, have more weight than by chance; it takes about 600 refits",
    "cross_view": "columns of different views that go along with each other; no refits",
}


def require_summary(summary: Any) -> None:
    """Refuse what `summarize` has not made."""
    if not isinstance(summary, dict):
        raise TypeError(
            f"summary must be a dict, as summarize(model) returns it; got {type(summary).__name__}."
        )
    missing = [
        key for key in ("title", "model", "weights", "convergence", "comparison") if key not in summary
    ]
    if missing:
        raise ValueError(f"summary must be as summarize(model) returns it; {', '.join(missing)} is missing.")


def headline(summary: Summary) -> str:
    """Say in words which view counts most, whether learning helped, and how close to the optimum it is."""
    require_summary(summary)
    return " ".join(findings(summary) + certificate(summary))


def findings(summary: Summary) -> list[str]:
    """Say which view counts most, how many are used, and whether learning the weights helped."""
    weights = summary["weights"]
    sentences = [_heaviest(weights)] if weights else [f"{summary['model']['name']} learns no kernel weights."]
    n_used = sum((row["weight"] or 0.0) != 0 for row in weights)
    if weights:
        sentences.append(f"{n_used} of {len(weights)} views {'is' if n_used == 1 else 'are'} used.")
    baselines, held_out, cohort = (part(summary, name) for name in ("baselines", "held_out", "cohort"))
    if baselines and baselines["answer"]:
        sentences.append(str(baselines["answer"]))
    elif held_out and not cohort:
        sentences.append(f"Held out, its {held_out['metric']} is {format_cell(held_out['score'])}.")
    if cohort:
        sentences.append(str(cohort["answer"]))
    return [sentence for sentence in sentences if sentence]


def lead(summary: Summary) -> list[str]:
    """The findings in paragraphs: what is said of the weights together."""
    found = findings(summary)
    n = sum("views " in sentence or "weight" in sentence for sentence in found[:2])
    return [" ".join(found[:n]), *found[n:]] if n else found


def _heaviest(weights: Sequence[Mapping[str, Any]]) -> str:
    """Name the view of the largest share, or those with nearly equal shares; nothing if all are equal."""
    shares = {row["view"]: abs(row["share"] or 0.0) for row in weights}
    top = max(weights, key=lambda row: abs(row["share"] or 0.0))
    size = abs(top["share"] or 0.0)
    near = [view for view, share in shares.items() if size - share < min(_NEAR, 0.1 * size)]
    if size == 0 or (len(near) == len(weights) > 1):
        return ""
    if len(near) == 1:
        most = "carries most of the weight" if round(100 * size) > 50 else "carries the largest weight"
        return f"{isolate(top['view'])} {most} ({round(100 * top['share'])}%)."
    names = [isolate(view) for view in near]
    said = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) <= _MOST_NAMED else f"{len(names)} views"
    return f"{said} share the largest weight (about {round(100 * size)}% each)."


def view_label(row: Mapping[str, Any]) -> str:
    """The name of a view in a table of weights; of a kept one, with a mark."""
    return f"{row['view']} (kept)" if row.get("kept") else str(row["view"])


def views_title(summary: Summary) -> str:
    """Return the heading over weights, stability and what each view adds; empty where there is none."""
    if summary["weights"]:
        return "Weight of each view"
    return "Views" if part(summary, "stability") or part(summary, "without_view") else ""


def has_convergence(summary: Summary) -> bool:
    """Whether the model tells anything of how it was solved."""
    told = summary["convergence"]
    return (
        bool(told["history"])
        or told["status"] != "unknown"
        or any(told[key] is not None for key in ("objective", "dual_gap", "n_iter"))
    )


def refit_warnings(summary: Summary) -> tuple[list[str], list[str]]:
    """Return what refits warned of, and the other notes of the evaluation."""
    notes = part(summary, "notes") or []
    warned = [note for note in notes if _WARNED in note]
    return warned, [note for note in notes if _WARNED not in note]


def left_out(summary: Summary) -> list[dict[str, str]]:
    """What the report has not, by the name of the part, with the reason or the call that makes it."""
    evaluation = summary.get("evaluation")
    found = []
    if evaluation is None:
        call = "summarize(model, evaluation=evaluate(model, X, y)), or multikernel report FOLDER --data FILE"
        why = f"stability, held-out scores, rivals and reasons need the data, and refits: {call}."
        found.append({"part": "Evaluation", "why": upper_first(why)})
    else:
        found += [
            {"part": PART_NAMES.get(row["part"], row["part"]), "why": row["why"]}
            for row in evaluation.get("omitted") or []
        ]
        found += _not_asked_for(evaluation)
    if summary.get("doctor") is None:
        why = "What is wrong with the data was not asked: summarize(model, doctor=diagnose(X, y, kernels))."
        found.append({"part": "Data check", "why": why})
    return found


def _not_asked_for(evaluation: Mapping[str, Any]) -> list[dict[str, str]]:
    """The parts on demand that were not named, where there is a target."""
    if evaluation.get("task") == "unsupervised":
        return []
    told = {row["part"] for row in evaluation.get("omitted") or []}
    return [
        {
            "part": PART_NAMES[name],
            "why": f'Not asked for: {what}. evaluate(model, X, y, parts={name!r}), or parts="all".',
        }
        for name, what in _ON_DEMAND.items()
        if evaluation.get(name) is None and name not in told
    ]


def upper_first(text: str) -> str:
    """Begin a sentence with a phrase."""
    return text[:1].upper() + text[1:]


def score_note(summary: Summary) -> str:
    """Say why the held-out score is not that of the comparisons, where both are shown."""
    held_out, baselines, without = (part(summary, name) for name in ("held_out", "baselines", "without_view"))
    contest = baselines or without
    if not held_out or not contest or contest["metric"] != held_out["metric"]:
        return ""
    score = contest["rows"][0]["score"] if baselines else contest["score"]
    if format_cell(score) == format_cell(held_out["score"]):
        return ""
    halves = "half of the samples" in contest["protocol"]
    why = "there, each refit learns from half of the samples" if halves else "those are other folds"
    return f"The comparisons give the same model {format_cell(score)}: {why}."


def has_warned(summary: Summary, contender: str) -> bool:
    """Whether a refit of that contender gave a warning."""
    return any(f"refits of {contender!r}{_WARNED}" in note for note in refit_warnings(summary)[0])


def certificate(summary: Summary) -> list[str]:
    """Say how close to the best possible the model is, where it knows."""
    convergence = summary["convergence"]
    sentences = []
    if convergence["dual_gap"] is not None:
        reach = _REACH[convergence["certificate"]]
        sentences.append(
            f"The objective is within {format_gap(convergence['dual_gap'])} (relative) of {reach}."
        )
    if convergence["certified"] is False:
        sentences.append(f"That is more than the {format_gap(convergence['tol'])} asked for.")
    return sentences


def part(summary: Summary, name: str) -> Any:
    """Return a part of the evaluation, None where there is none."""
    evaluation = summary.get("evaluation") or {}
    return evaluation.get(name)


def isolate(name: str) -> str:
    """Keep a name that is written from right to left from turning the sentence around it.

    Examples
    --------
    >>> isolate("sound")
    'sound'
    >>> len(isolate("צליל")) - len("צליל")
    2
    """
    turns = {"R", "AL", "AN", "RLE", "RLO", "RLI", "LRE", "LRO", "LRI", "FSI", "PDF", "PDI"}
    if not any(unicodedata.bidirectional(letter) in turns for letter in name):
        return name
    # a name could close the isolate itself, or leave an override open
    kept = "".join(
        letter for letter in name if unicodedata.bidirectional(letter) not in {"PDI", "RLO", "LRO"}
    )
    return f"\u2068{kept}\u2069"


def format_weight(weight: float | None) -> str:
    """Write a weight with four decimals, and an exact zero as 0, so that what is unused is seen at once."""
    if weight is None:
        return "–"
    return "0" if weight == 0 else f"{weight:.4f}"


def format_share(share: float | None) -> str:
    """Write a share as a percentage with one decimal."""
    return "–" if share is None else f"{100 * share:.1f}%"


def format_gap(gap: float | None) -> str:
    """Write a gap with two digits."""
    return "–" if gap is None else f"{gap:.1e}"


def format_cell(value: Any) -> str:
    """Write the cell of a table: text and whole numbers as they are, other numbers with four decimals.

    Examples
    --------
    >>> format_cell(0.5), format_cell(-0.5), format_cell(3)
    ('0.5000', '−0.5000', '3')
    """
    if value is None:
        return "–"
    if not isinstance(value, float):
        return str(value)
    size = abs(value)
    text = f"{size:.4f}" if size == 0 or 0.9995e-3 <= size < 1e6 else f"{size:.3e}"
    return f"−{text}" if value < 0 else text


def format_difference(difference: float | None) -> str:
    """Write a difference with its sign.

    Examples
    --------
    >>> format_difference(0.25), format_difference(-0.5), format_difference(0.0)
    ('+0.2500', '−0.5000', '0')
    """
    if difference is None:
        return "–"
    if difference == 0:
        return "0"
    return ("+" if difference > 0 else "−") + format_cell(abs(difference))


def format_p(p: float | None) -> str:
    """Write a p-value with three decimals.

    Examples
    --------
    >>> format_p(0.04), format_p(1e-9)
    ('0.040', '<0.001')
    """
    if p is None:
        return "–"
    return "<0.001" if p < 0.001 else f"{p:.3f}"

"""How a report says things: figures as text, and the findings in a few sentences."""

import unicodedata
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

# What the parts of an evaluation are called.
PART_NAMES = {
    "stability": "Stability of the weights",
    "without_view": "Without each view",
    "baselines": "Against baselines",
    "held_out": "Held out",
    "heat_maps": "Kernels",
    "embedding": "Samples in two dimensions",
    "gate": "Weights of each sample",
}


def headline(summary: Summary) -> str:
    """Say in words which view counts most, whether learning helped, and how close to the optimum it is."""
    return " ".join(findings(summary) + certificate(summary))


def findings(summary: Summary) -> list[str]:
    """Say which view counts most, how many are used, and whether learning the weights helped."""
    weights = summary["weights"]
    top = max(weights, key=lambda row: abs(row["share"] or 0.0))
    n_used = sum((row["weight"] or 0.0) != 0 for row in weights)
    sentences = [f"{n_used} of {len(weights)} views {'is' if n_used == 1 else 'are'} used."]
    if n_used and sum(row["share"] == top["share"] for row in weights) == 1:
        per_cent = round(100 * top["share"])
        most = "carries most of the weight" if abs(per_cent) > 50 else "carries the largest weight"
        sentences.insert(0, f"{isolate(top['view'])} {most} ({per_cent}%).")
    baselines = part(summary, "baselines")
    if baselines and baselines["answer"]:
        sentences.append(str(baselines["answer"]))
    return sentences


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
    """Write the cell of a table: text and whole numbers as they are, other numbers with four decimals."""
    if value is None:
        return "–"
    if not isinstance(value, float):
        return str(value)
    return f"{value:.4f}" if value == 0 or 1e-3 <= abs(value) < 1e6 else f"{value:.3e}"


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

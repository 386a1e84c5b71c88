"""What the publication claims, one sentence each, judged by the summaries of our pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studies.lewis2006 import accuracies, clusters, interleaving, piecewise, proteins, separability, speed
from studies.lewis2006.published import BOLD_ACCURACY, SPEED_SIZE
from studies.study import Claim, Summary, Verdict

_OTHER_DATA = "Stand-in data say nothing of it: "


def make_claims(summaries: Mapping[str, Summary]) -> list[Claim]:
    """Return the claims.

    Parameters
    ----------
    summaries : mapping of str to dict
        By stem, of all tables and figures.

    Returns
    -------
    list of Claim
    """
    return [
        Claim(
            "The support vector machine is a special case of the model.",
            "reproduced",
            "With one kernel the decision function is that of the SVM with C = 2c, in the tests of "
            "`NonstationaryClassifier` (test_one_kernel_is_the_svm_with_twice_the_c).",
        ),
        *_figure_1(summaries["figure1"]),
        _figure_2(summaries["figure2"]),
        _newton(summaries["own-interleaving"]),
        _figure_3(summaries["figure3"]),
        *_table_1(summaries["table1"]),
        *_separability(summaries["own-separability"]),
        *_table_2(summaries["table2"]),
    ]


def _verdict(holds: bool) -> Verdict:
    return "reproduced" if holds else "not reproduced"


def _mean(summary: Summary, section: str, label: str, key: str) -> Any:
    """The mean of a quantity in the row whose first label is the one given."""
    for row in summary["rows"]:
        if row["section"] == section and label in row["labels"].values():
            return row["values"][key]["mean"]
    raise KeyError(f"{section}: {label}")


def _figure_1(summary: Summary) -> list[Claim]:
    found = {key: _mean(summary, "accuracy", label, "training") for key, label in clusters.METHODS.items()}
    evidence = (
        f"{_OTHER_DATA}on ours maximum likelihood has {found['likelihood']:.0f} %, latent MED "
        f"{found['rows']:.0f} % from the start by rows and {found['qp']:.0f} % from drawn ones (figure 1)."
    )
    return [
        Claim("On the points of figure 1 maximum likelihood classifies 50 %.", "cannot be tested", evidence),
        Claim("On the points of figure 1 latent MED classifies perfectly.", "cannot be tested", evidence),
    ]


def _figure_2(summary: Summary) -> Claim:
    ratios = {name: _mean(summary, name, str(SPEED_SIZE), "ratio") for name in speed.POSTERIORS.values()}
    told = "; ".join(
        f"with {name} Clarabel "
        + ("does not reach the tolerance" if ratio is None else f"takes {ratio:.0f} times as long as SMO")
        for name, ratio in ratios.items()
    )
    return Claim(
        f"With {SPEED_SIZE} examples SMO is 7.5 times faster than QUADPROG.",
        "cannot be tested",
        f"QUADPROG of 2006 is not at hand; {told} (figure 2).",
    )


def _newton(summary: Summary) -> Claim:
    solved = {
        key: [row["values"]["solved"]["mean"] for row in summary["rows"] if label in row["labels"].values()]
        for key, (label, _) in interleaving.SOLVERS.items()
    }
    means = {key: sum(shares) / len(shares) for key, shares in solved.items()}
    return Claim(
        "SMO alone gets trapped, and needs a Newton step now and then.",
        _verdict(means["alone"] < means["between"] and means["alone"] < 100.0),
        f"SMO alone solves {means['alone']:.0f} % of our projections, with a Newton step after each sweep "
        f"{means['between']:.0f} %, with Newton steps to the end {means['end']:.0f} % (our page on "
        "interleaving).",
    )


def _figure_3(summary: Summary) -> Claim:
    separated = {
        (section, key): _mean(summary, section, label, "separated")
        for section in dict.fromkeys(row["section"] for row in summary["rows"])
        for key, label in piecewise.METHODS.items()
    }
    always = min(value for (_, key), value in separated.items() if key == "qp")
    never = max(value for (_, key), value in separated.items() if key != "qp")
    sections = {section for section, _ in separated}
    return Claim(
        "NSKC is the only one of ML, SDP and NSKC to separate the points of figure 3.",
        _verdict(always == 100.0 and never == 0.0),
        f"Over {len(sections)} choices of range and shift NSKC separates at least {always:.0f} % of the "
        f"draws, the two others at most {never:.0f} % (figure 3).",
    )


def _table_1(summary: Summary) -> list[Claim]:
    sections = {setting.row: setting.label for setting in accuracies.SETTINGS}
    means = {
        row: {key: _mean(summary, section, label, "accuracy") for key, label in accuracies.METHODS.items()}
        for row, section in sections.items()
    }
    best = {row: max(found, key=found.__getitem__) for row, found in means.items()}
    claims = [
        Claim(
            "NSKC achieves the top mean accuracy on two of the three data sets (breast, sonar).",
            _verdict(all(best[row] == "qp" for row, bold in BOLD_ACCURACY.items() if bold == "qp")),
            "Best of ours: "
            + "; ".join(
                f"{row} {accuracies.METHODS[key]} ({means[row][key]:.3f})" for row, key in best.items()
            )
            + ". NSKC: "
            + ", ".join(f"{row} {found['qp']:.3f}" for row, found in means.items())
            + " (table 1).",
        ),
        Claim(
            "On breast cancer both SDP and NSKC gain much over single kernels.",
            _verdict(
                min(means["breast"]["mkl"], means["breast"]["qp"])
                > max(means["breast"][key] for key in ("quadratic", "rbf", "linear")) + 0.02
            ),
            "Best single kernel "
            f"{max(means['breast'][key] for key in ('quadratic', 'rbf', 'linear')):.3f}, SDP "
            f"{means['breast']['mkl']:.3f}, NSKC {means['breast']['qp']:.3f} (table 1).",
        ),
        Claim(
            "On heart the quadratic kernel alone has the best accuracy.",
            _verdict(best["heart"] == "quadratic"),
            f"Quadratic {means['heart']['quadratic']:.3f}, linear {means['heart']['linear']:.3f} (table 1).",
        ),
        Claim(
            "On sonar the SDP matches the best single kernel, the RBF.",
            _verdict(
                best["sonar"] != "linear"
                and abs(means["sonar"]["mkl"] - means["sonar"]["rbf"]) <= 0.01
                and means["sonar"]["rbf"] >= max(means["sonar"][key] for key in ("quadratic", "linear"))
            ),
            f"RBF {means['sonar']['rbf']:.3f}, quadratic {means['sonar']['quadratic']:.3f}, SDP "
            f"{means['sonar']['mkl']:.3f} at the printed sigma (table 1).",
        ),
    ]
    return claims


def _separability(summary: Summary) -> list[Claim]:
    cells = {
        (row["section"], key): row["values"]
        for row in summary["rows"]
        for key, label in separability.CHOICES.items()
        if row["labels"]["kernel"] == label
    }
    found = {place: bool(values["separable"]["mean"]) for place, values in cells.items()}
    errors = {place: values["errors"]["mean"] for place, values in cells.items()}
    labels = {setting.row: setting.label for setting in accuracies.SETTINGS}

    def told(row: str) -> str:
        names = [label for key, label in separability.CHOICES.items() if found[labels[row], key]]
        wrong = [f"{label} {errors[labels[row], key]:.0f}" for key, label in separability.CHOICES.items()]
        return (
            f"{labels[row]}: separated by {', '.join(names) or 'none'}; at c = 10,000 the SVM misclassifies "
            f"{', '.join(wrong)} points (our page on separability)."
        )

    breast, sonar, heart = (labels[row] for row in ("breast", "sonar", "heart"))
    return [
        Claim(
            "The breast cancer data are not separable using the quadratic or the linear kernel.",
            _verdict(not found[breast, "quadratic"] and not found[breast, "linear"]),
            told("breast"),
        ),
        Claim(
            "The sonar data are separable using each of the three kernels.",
            _verdict(all(found[sonar, key] for key in ("quadratic", "rbf", "linear"))),
            told("sonar"),
        ),
        Claim(
            "The heart data are not separable with the quadratic kernel, and are with the combinations.",
            _verdict(not found[heart, "quadratic"] and found[heart, "all"]),
            told("heart"),
        ),
        Claim(
            "Sonar is the only data set that is separable using each kernel alone.",
            _verdict(
                all(found[sonar, key] for key in ("quadratic", "rbf", "linear"))
                and not any(
                    all(found[other, key] for key in ("quadratic", "rbf", "linear"))
                    for other in (breast, heart)
                )
            ),
            " ".join(told(row) for row in labels),
        ),
    ]


def _table_2(summary: Summary) -> list[Claim]:
    stands_in = any(row.get("stand_in") for row in summary["rows"])
    areas = [{key: row["values"][key]["mean"] for key in proteins.METHODS} for row in summary["rows"]]
    known = [row for row in areas if None not in row.values()]
    best = sum(max(row, key=row.__getitem__) == "qp" for row in known)
    ahead = sum(row["qp"] > row["mkl"] for row in known)
    told = _OTHER_DATA if stands_in else ""
    return [
        Claim(
            "NSKC has the highest area for eight of the twelve yeast classes.",
            "cannot be tested" if stands_in else _verdict(best >= 8),
            f"{told}there NSKC is the best of the five for {best} of {len(known)} classes (table 2).",
        ),
        Claim(
            "On the yeast classes NSKC has an advantage over the SDP (ten of twelve).",
            "cannot be tested" if stands_in else _verdict(ahead >= 10),
            f"{told}there NSKC is ahead of it for {ahead} of {len(known)} classes (table 2).",
        ),
    ]

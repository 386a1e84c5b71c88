"""What Lanckriet et al. (2004) claim of their experiments and of their theory, judged by the summaries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from studies.lanckriet2004.machine import CRITERIA
from studies.lanckriet2004.margins import COLUMNS, NEGATIVE, SEPARABLE, TUNED
from studies.lanckriet2004.published import FIGURE_1, FIGURE_2
from studies.study import Claim, Summary, Verdict

_SINGLE, _LEARNED = ("K1", "K2", "K3"), ("free", "nonnegative")
_FEW = " So far the rivals are tuned on a part of the splits, which is too little to judge."
_SLACK = 1e-6  # relative, above the tolerance of the solver

Rows = Mapping[tuple[str, str, str], Mapping[str, Any]]


def judge(summaries: Mapping[str, Summary]) -> list[Claim]:
    """Return the claims of the paper with what our results say of them.

    Parameters
    ----------
    summaries : mapping of str to dict
        By stem, e.g. ``"table1"``; all tables and figures.

    Returns
    -------
    list of Claim
    """
    rows = _by_place([row for name in "123" for row in summaries[f"table{name}"]["rows"]])
    return [
        _always_separable(rows),
        *_values_improve(rows),
        _positive_weights_cost_little(rows),
        _comparable_to_components(rows),
        *_positive_weights_do_as_well(rows, _by_place(summaries["own-sonar-width"]["rows"])),
        _comparable_to_tuned(rows),
        _learned_C(rows),
        _negative_weights(rows),
        *_gaussians(summaries["table4"]["rows"]),
        *_times_and_alignment(),
        *_reuters(summaries["figure1"]["rows"]),
        *_proteins(summaries["figure2"]["rows"]),
        *_theory(),
    ]


def _by_place(rows: Sequence[Mapping[str, Any]]) -> Rows:
    return {(row["section"], row["labels"]["criterion"], row["labels"]["kernel"]): row for row in rows}


def _mean(rows: Rows, section: str, criterion: str, column: str, key: str) -> float | None:
    value = rows[section, criterion, COLUMNS.get(column, column)]["values"].get(key)
    return None if value is None else value["mean"]


def _combinations(rows: Rows, criteria: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Data set, criterion and kind of weights."""
    sections = dict.fromkeys(section for section, _, _ in rows)
    return ((s, criterion, column) for s in sections for criterion in criteria for column in _LEARNED)


def _verdict(holds: bool) -> Verdict:
    return "reproduced" if holds else "not reproduced"


def _always_separable(rows: Rows) -> Claim:
    remarks = [rows[s, c, COLUMNS[column]]["remark"] for s, c, column in _combinations(rows, ["HM"])]
    n_bad = sum(SEPARABLE in remark for remark in remarks)
    return Claim(
        "Both combinations always allow a hard margin machine, also where single kernels do not (6.1).",
        _verdict(n_bad == 0),
        f"Tables 1–3: no hard margin on some splits in {n_bad} of {len(remarks)} combinations.",
    )


def _values_improve(rows: Rows) -> list[Claim]:
    found = []
    for criteria, what in ((["HM"], "margin"), (["SM1", "SM2", "SM2,C"], "cost")):
        n, better, equal = 0, 0, 0
        for section, criterion, column in _combinations(rows, criteria):
            singles = [_mean(rows, section, criterion, single, "value") for single in _SINGLE]
            learned = _mean(rows, section, criterion, column, "value")
            known = [value for value in singles if value is not None]
            if learned is None or not known:
                continue
            gain = learned / max(known) - 1.0 if criteria == ["HM"] else 1.0 - learned / min(known)
            n, better, equal = n + 1, better + (gain > _SLACK), equal + (abs(gain) <= _SLACK)
        sentence = {
            "margin": "The margin of both combinations is larger than that of each component (6.1).",
            "cost": "The optimal cost of both combinations is smaller than that of each component (6.1).",
        }[what]
        evidence = (
            f"Tables 1–3, means: better than the best component in {better} of {n} combinations, equal to it "
            f"in {equal} (all weight on one kernel), worse in {n - better - equal}."
        )
        found.append(Claim(sentence, _verdict(better + equal == n), evidence))
    return found


def _positive_weights_cost_little(rows: Rows) -> Claim:
    found = []
    for section, criterion, _ in list(_combinations(rows, list(CRITERIA)))[::2]:
        free, positive = (_mean(rows, section, criterion, column, "value") for column in _LEARNED)
        if free is not None and positive is not None:
            found.append((free / positive if criterion == "HM" else positive / free, section))
    (least, _), (median, _), (most, where) = (sorted(found)[i] for i in (0, len(found) // 2, -1))
    return Claim(
        "Positive weights result in slightly smaller margins and larger costs (6.1).",
        _verdict(least >= 1.0 - _SLACK and median < 1.05),
        f"Tables 1–3: worse by {100 * (least - 1):.1f}% to {100 * (most - 1):.1f}% (the most for {where}), "
        f"half of the {len(found)} by at most {100 * (median - 1):.1f}%.",
    )


def _comparable_to_components(rows: Rows) -> Claim:
    gains = []
    for section, criterion, column in _combinations(rows, list(CRITERIA)):
        singles = [_mean(rows, section, criterion, single, "accuracy") for single in _SINGLE]
        learned = _mean(rows, section, criterion, column, "accuracy")
        known = [value for value in singles if value is not None]
        if learned is not None and known:
            gains.append(learned - max(known))
    within = sum(gain > -2.0 for gain in gains)
    return Claim(
        "The test errors of both combinations are in general comparable to the best component (6.1).",
        _verdict(within >= 0.75 * len(gains)),
        f"Tables 1–3: the mean accuracy is at most 2 points below the best component in {within} of "
        f"{len(gains)} combinations; the differences are {min(gains):+.1f} to {max(gains):+.1f} points.",
    )


def _positive_weights_do_as_well(rows: Rows, wider: Rows) -> list[Claim]:
    gains, others = _positive_minus_free(rows), _positive_minus_free(wider)
    near, above = sum(gain > -1.0 for gain in gains), sum(gain > 0.1 for gain in gains)
    return [
        Claim(
            "Positive weights often do almost as well as free ones on the test points (6.1).",
            _verdict(near > 0.5 * len(gains)),
            f"Tables 1–3: at most 1 point below in {near} of {len(gains)}; the differences are "
            f"{min(gains):+.1f} to {max(gains):+.1f} points.",
        ),
        Claim(
            "Sometimes positive weights do even better on the test points (6.1).",
            _verdict(above > 0),
            f"Tables 1–3: by more than 0.1 points in {above} of {len(gains)}. In print this is so for sonar; "
            f"with sigma = 0.5, on our own page, the differences are {min(others):+.1f} to "
            f"{max(others):+.1f} points.",
        ),
    ]


def _positive_minus_free(rows: Rows) -> list[float]:
    gains = []
    for section, criterion, _ in list(_combinations(rows, list(CRITERIA)))[::2]:
        free, positive = (_mean(rows, section, criterion, column, "accuracy") for column in _LEARNED)
        if free is not None and positive is not None:
            gains.append(positive - free)
    return gains


def _comparable_to_tuned(rows: Rows) -> Claim:
    gains, is_whole = [], True
    for section, criterion, column in _combinations(rows, ["SM1", "SM2"]):
        learned = _mean(rows, section, criterion, column, "accuracy")
        tuned = _mean(rows, section, criterion, TUNED, "accuracy")
        if learned is not None and tuned is not None:
            gains.append(learned - tuned)
        is_whole = is_whole and rows[section, criterion, TUNED].get("counts", True)
    within = sum(gain > -2.0 for gain in gains)
    return Claim(
        "The accuracy of both combinations is comparable to that of a tuned SVM with a Gaussian kernel "
        "(6.1).",
        _verdict(within >= 0.75 * len(gains)) if is_whole else "cannot be tested",
        f"Tables 1–3, soft margins: at most 2 points below in {within} of {len(gains)}; the differences are "
        f"{min(gains):+.1f} to {max(gains):+.1f} points.{'' if is_whole else _FEW}",
    )


def _learned_C(rows: Rows) -> Claim:
    sections = list(dict.fromkeys(section for section, _, _ in rows))
    ratios, gains = [], []
    for section in sections:
        values = [_mean(rows, section, criterion, "nonnegative", "value") for criterion in ("SM2,C", "SM2")]
        rates = [_mean(rows, section, criterion, "nonnegative", "accuracy") for criterion in ("SM2,C", "SM2")]
        assert None not in (*values, *rates)
        ratios.append(values[0] / values[1])  # type: ignore[operator]
        gains.append(rates[0] - rates[1])  # type: ignore[operator]
    return Claim(
        "A learned C leads to a smaller cost than C = 1 and does well on the test points (6.1).",
        _verdict(max(ratios) <= 1.0 + _SLACK and min(gains) > -2.0),
        f"Tables 1–3, positive weights: the cost is {100 * (1 - max(ratios)):.1f}% to "
        f"{100 * (1 - min(ratios)):.1f}% smaller, the accuracy differs by {min(gains):+.1f} to "
        f"{max(gains):+.1f} points.",
    )


def _negative_weights(rows: Rows) -> Claim:
    row = rows["2-norm", "SM1", COLUMNS["free"]]
    (told,) = [part for part in row["remark"].split("; ") if part.startswith(NEGATIVE)]
    weights = row["values"]["weights"]["mean"]
    some = not told.startswith(f"{NEGATIVE} 0 ")
    return Claim(
        "For 2-norm the free weights are negative on some partitions, though positive on average (6.1).",
        _verdict(some and min(weights) > 0.0),
        f"Table 3, SM1: {told}; mean weights {' / '.join(f'{weight:.2f}' for weight in weights)}. The sample "
        "of the paper is not known.",
    )


def _gaussians(rows: Sequence[Mapping[str, Any]]) -> list[Claim]:
    gains = {row["labels"]["data"]: row["values"]["gain"] for row in rows}
    told = ", ".join(f"{name} {gain['mean']:+.1f} ({gain['se']:.1f})" for name, gain in gains.items())
    is_whole = all(row["values"]["gain"]["n"] == row["values"]["accuracy"]["n"] for row in rows)
    weights = [row["values"]["weights"]["mean"] for row in rows]
    zeros = sum(weight < 0.05 for row in weights for weight in row)
    return [
        Claim(
            "Five Gaussians with learned weights and C compete with a tuned SVM with one (table 4).",
            _verdict(all(gain["mean"] > -2.0 for gain in gains.values())) if is_whole else "cannot be tested",
            f"Table 4, learned minus tuned, in points (s.e.): {told}.{'' if is_whole else _FEW}",
        ),
        Claim(
            "Some of the five kernels are selected and others are not (table 4).",
            _verdict(zeros > 0 and all(max(row) > 1.0 for row in weights)),
            f"Table 4: {zeros} of {5 * len(weights)} mean weights are below 0.05, and every data set has "
            "one above 1.",
        ),
    ]


def _times_and_alignment() -> list[Claim]:
    return [
        Claim(
            "The QCQP takes seconds where the SDP takes minutes, for 300 points and 5 kernels (footnote 3).",
            "cannot be tested",
            "The times are of SeDuMi and Mosek on a machine of 2003. Both problems are solved by other "
            "methods here.",
        ),
        Claim(
            "Maximal alignment improves Parzen window classifiers (6.1).",
            "cannot be tested",
            "The results are those of Cristianini et al. (2002); no number is printed.",
        ),
    ]


def _reuters(rows: Sequence[Mapping[str, Any]]) -> list[Claim]:
    gains = [row["values"]["gain"]["mean"] for row in rows if "gain" in row["values"]]
    better = sum(gain > 0.0 for gain in gains)
    mean = rows[-1]["values"]["weights"]["mean"]
    spread = [row["values"]["weights"]["mean"][0] for row in rows if "weights" in row["values"]][:-1]
    is_real = not rows[0].get("stand_in")
    told = "" if is_real else " on documents that stand in for those of the paper"
    return [
        Claim(
            "On Reuters the combination is better than either kernel in four topics of five (figure 1).",
            _verdict(better >= 4) if is_real else "cannot be tested",
            f"Figure 1{told}: better in {better} of {len(gains)}, by {min(gains):+.2f} to {max(gains):+.2f} "
            "points.",
        ),
        Claim(
            f"The weights vary little over the topics, with means {FIGURE_1[0]} and {FIGURE_1[1]} (6.2.1).",
            _verdict(abs(mean[0] - float(FIGURE_1[0])) < 0.1) if is_real else "cannot be tested",
            f"Figure 1{told}: {mean[0]:.2f} and {mean[1]:.2f}; of the words {min(spread):.2f} to "
            f"{max(spread):.2f}.",
        ),
    ]


def _proteins(rows: Sequence[Mapping[str, Any]]) -> list[Claim]:
    areas = [row for row in rows if "gain" in row["values"]]
    *classes, mean = areas
    better = sum(row["values"]["gain"]["mean"] > 0.0 for row in classes)
    ours = mean["values"]["learned"]["mean"]
    is_real = not mean.get("stand_in")
    told = "" if is_real else " on networks that stand in for the kernels of the paper"
    return [
        Claim(
            "The combination is better than an SVM on any single kernel of proteins (6.2.2).",
            _verdict(better == len(classes)) if is_real else "cannot be tested",
            f"Figure 2{told}: better than the best single kernel in {better} of {len(classes)} classes, mean "
            f"area {ours:.3f}.",
        ),
        Claim(
            f"The mean ROC score rises from {FIGURE_2[0]} (Markov random field) to {FIGURE_2[1]}, in all 13 "
            "classes (6.2.2).",
            "cannot be tested",
            "The kernels are not available, and the Markov random field is the method of another paper.",
        ),
        Claim(
            "Richer kernels improve nine of the 13 classes significantly (6.2.2).",
            "cannot be tested",
            "The kernels are not available.",
        ),
    ]


def _theory() -> list[Claim]:
    return [
        Claim(
            "The kernel matrix with the best margin is the solution of a convex program, a QCQP for positive "
            "weights (theorems 16, 17 and 20–22).",
            "reproduced",
            "Every machine of tables 1–4 has a certificate, a relative duality gap of 1e-8 or a remark on "
            "its page; the tests compare the programs with general solvers. Theorem 20 names a wrong "
            "problem: see errata.",
        ),
        Claim(
            "The optimal weights do not depend on the number of unknown test points (4.8).",
            "not reproduced",
            "They are proportional, not equal, and for the hard margin only, as long as c is the same: see "
            "errata.",
        ),
        Claim(
            "The complexity in the error bound is at most cn, or c min(m, n max λ/trace) (theorem 24).",
            "not reproduced",
            "The bounds hold with 2n in place of n; a counterexample is among the errata.",
        ),
    ]

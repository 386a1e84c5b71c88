"""Scores of contestants over sets: ranks, critical difference, paired tests.

    mean rank  R_j = 1/N Σ_i r_ij,  r_ij the rank of contestant j on set i (1 is best, equals share ranks)
    critical difference  CD = q √(k (k + 1) / 6N),  q the studentized range of k over √2 (Nemenyi)
    corrected resampled t = mean(d) / √((1/J + n_test / n_train) var(d)),  J − 1 degrees (Nadeau & Bengio)

References
----------
J. Demšar (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7, 1–30.
C. Nadeau & Y. Bengio (2003). Inference for the generalization error. Machine Learning 52, 239–281.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import rankdata, studentized_range, t, wilcoxon

from benchmarks.store import Record
from multikernel.inspection import holm

LEVEL = 0.05
MIN_FOLDS = 4  # that two contestants share, for a test
_DIGITS = 12  # scores that differ in rounding only are equal
WIN, TIE, LOSS = "win", "tie", "loss"


@dataclass
class Scores:
    """The scores of one part: of each set and contestant by (repetition, fold).

    `failed` has the folds on which a contestant failed, with the message.
    """

    values: dict[str, dict[str, dict[tuple[int, int], float]]] = field(default_factory=dict)
    failed: dict[tuple[str, str], dict[tuple[int, int], str]] = field(default_factory=dict)
    ratios: dict[str, float] = field(default_factory=dict)  # n_test / n_train of each set

    @classmethod
    def of(cls, records: Iterable[Record], score: str, sign: float = 1.0) -> Scores:
        """The scores of records, a minus sign for those of which less is better."""
        found = cls()
        for record in records:
            name, contestant = record["set"], record["contestant"]
            place = (record["repetition"], record["fold"])
            if "failed" in record:
                found.failed.setdefault((name, contestant), {})[place] = record["failed"]
            elif score in record:
                found.values.setdefault(name, {}).setdefault(contestant, {})[place] = sign * record[score]
                found.ratios[name] = record["n_test"] / record["n_train"]
        return found

    def folds(self, name: str, contestant: str) -> dict[tuple[int, int], float]:
        """Scores of a contestant on a set by fold."""
        return self.values.get(name, {}).get(contestant, {})

    def has_failed(self, name: str, contestant: str) -> bool:
        """Whether one of its fits on the set has failed."""
        return (name, contestant) in self.failed

    def common(self, name: str, contestants: Sequence[str]) -> list[tuple[int, int]]:
        """The folds of a set on which all of these have a score; those that failed there are not asked."""
        places: set[tuple[int, int]] | None = None
        for contestant in contestants:
            failed = set(self.failed.get((name, contestant), {}))
            if failed and not self.folds(name, contestant):
                continue  # it has failed wherever it was tried
            seen = set(self.folds(name, contestant)) | failed
            places = seen if places is None else places & seen
        return sorted(places or ())

    def means(self, name: str, contestants: Sequence[str]) -> dict[str, float] | None:
        """Mean scores over the common folds, −inf of one that failed; None where one was not measured."""
        places = self.common(name, contestants)
        if not places:
            return None
        found = {}
        for contestant in contestants:
            if self.has_failed(name, contestant):
                found[contestant] = -np.inf
            else:
                folds = self.folds(name, contestant)
                found[contestant] = round(float(np.mean([folds[place] for place in places])), _DIGITS)
        return found

    def differences(self, name: str, ours: str, rival: str) -> np.ndarray:
        """Ours minus the rival's, on the folds that both have."""
        first, second = self.folds(name, ours), self.folds(name, rival)
        places = sorted(set(first) & set(second))
        return np.round([first[place] - second[place] for place in places], _DIGITS)


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard error, NaN of a single value."""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return float(np.mean(values)), float(error)


# ---------------------------------------------------------------------- ranks
def rank_table(
    scores: Scores, sets: Sequence[str], contestants: Sequence[str]
) -> dict[str, dict[str, float]]:
    """The ranks on each set that all have been measured on; 1 is best."""
    table = {}
    for name in sets:
        means = scores.means(name, contestants)
        if means is not None:
            ranks = rankdata([-means[contestant] for contestant in contestants])
            table[name] = dict(zip(contestants, map(float, ranks), strict=True))
    return table


def mean_ranks(table: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The mean rank of each contestant over the sets."""
    rows = list(table.values())
    return {contestant: float(np.mean([row[contestant] for row in rows])) for contestant in rows[0]}


def critical_difference(n_contestants: int, n_sets: int, level: float = LEVEL) -> float:
    """Nemenyi's: mean ranks that differ by less are not significantly different."""
    q = float(studentized_range.ppf(1.0 - level, n_contestants, np.inf)) / np.sqrt(2.0)
    return float(q * np.sqrt(n_contestants * (n_contestants + 1.0) / (6.0 * n_sets)))


def groups_of_equals(ranks: Mapping[str, float], difference: float) -> list[tuple[float, float]]:
    """The longest ranges of mean ranks that are within the critical difference, at least two ranks each."""
    values = sorted(ranks.values())
    found: list[tuple[float, float]] = []
    for k, low in enumerate(values):
        high = max(value for value in values if value <= low + difference)
        within = sum(value <= high for value in values[k:])
        if within > 1 and not any(a <= low and high <= b for a, b in found):
            found.append((low, high))
    return found


# ---------------------------------------------------------------------- paired tests
def resampled_t(differences: np.ndarray, ratio: float) -> float:
    """The two-sided p-value of the corrected resampled t-test; 1 where there are too few folds for it."""
    n = len(differences)
    if n < MIN_FOLDS or not np.any(differences):
        return 1.0
    variance = float(np.var(differences, ddof=1))
    if variance == 0.0:
        return 0.0
    statistic = float(np.mean(differences)) / np.sqrt((1.0 / n + ratio) * variance)
    return float(2.0 * t.sf(abs(statistic), n - 1))


def one_sided_wilcoxon(differences: Sequence[float]) -> float:
    """The p-value of Wilcoxon's signed rank test that the differences are above zero; zeros are split."""
    values = np.asarray(differences, dtype=float)
    if not values.size or not np.any(values):
        return 1.0
    plain = len(values) <= 50 and np.all(values != 0.0) and len(np.unique(np.abs(values))) == len(values)
    how = {"method": "exact"} if plain else {"method": "approx", "zero_method": "zsplit"}
    return float(wilcoxon(values, alternative="greater", **how).pvalue)


@dataclass(frozen=True)
class Duel:
    """Ours against a rival over sets.

    `wins`, `ties` and `losses` are by the corrected resampled t-test on each set at the level, with Holm's
    correction over the sets; `raw` has them without it; `higher`, `equal` and `lower` compare means.
    """

    ours: str
    rival: str
    n_sets: int
    verdicts: dict[str, str]
    raw: dict[str, str]
    signs: dict[str, int]
    p_better: float  # one-sided Wilcoxon over the sets: ours is better
    p_worse: float

    def count(self, verdict: str, *, raw: bool = False) -> int:
        """How many sets have this verdict."""
        return list((self.raw if raw else self.verdicts).values()).count(verdict)

    def compare(self, sign: int) -> int:
        """On how many sets the mean is higher (1), equal (0) or lower (−1)."""
        return list(self.signs.values()).count(sign)


def duel(scores: Scores, sets: Sequence[str], ours: str, rival: str) -> Duel:
    """Compare two contestants over the sets that both have been measured on.

    A set on which ours failed is a loss, and counts in Wilcoxon's test as the largest difference; one on
    which the rival failed is left out.
    """
    names, ps, means = [], [], []
    lost = [name for name in sets if scores.has_failed(name, ours)]
    for name in sets:
        differences = scores.differences(name, ours, rival)
        if name in lost or scores.has_failed(name, rival) or not len(differences):
            continue
        names.append(name)
        ps.append(resampled_t(differences, scores.ratios[name]))
        means.append(float(np.mean(differences)))
    signs = {name: int(np.sign(mean)) for name, mean in zip(names, means, strict=True)}
    adjusted = holm(ps) if ps else []
    verdicts = {name: _verdict(p, signs[name]) for name, p in zip(names, adjusted, strict=True)}
    raw = {name: _verdict(p, signs[name]) for name, p in zip(names, ps, strict=True)}
    largest = max((abs(mean) for mean in means), default=1.0)
    means += [-(largest + 1.0 + k) for k in range(len(lost))]
    for name in lost:
        verdicts[name] = raw[name] = LOSS
        signs[name] = -1
    better, worse = one_sided_wilcoxon(means), one_sided_wilcoxon([-mean for mean in means])
    return Duel(ours, rival, len(verdicts), verdicts, raw, signs, better, worse)


def _verdict(p: float, sign: int) -> str:
    return {1: WIN, 0: TIE, -1: LOSS}[sign] if p <= LEVEL else TIE


def duels(scores: Scores, sets: Sequence[str], ours: str, rivals: Sequence[str]) -> list[Duel]:
    """Ours against each rival that was measured."""
    found = [duel(scores, sets, ours, rival) for rival in rivals]
    return [one for one in found if one.n_sets]

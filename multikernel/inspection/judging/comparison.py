"""What a comparison found: scores of the same folds, paired tests, one sentence, a table and a picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..found import Found
from ..protocol import Protocol, default_words
from ..scoring import in_words
from ..statistics.interval_tests import EQUIVALENCE, holm_tests
from ..statistics.paired_tests import (
    EQUAL,
    FOLDS,
    LOSS,
    REPEATS,
    TIE,
    WIN,
    check_level,
    check_reference,
    count_wins,
    paired_f_tests,
    pairs_of,
    signed_rank_tests,
)
from .answers import TESTED, as_test
from .rendering import as_html, as_markdown, cells, datasets_where, sentence, turned

BEST = "best"  # as a reference: the estimator with the highest mean
_COLUMNS = ("dataset", "estimator", "repetition", "fold", "score")
_TEST = ("difference", "low", "high", "F", "p", "p_holm", "folds", "verdict")


class Baseline(NamedTuple):
    """A simpler rival: its kind, such as "plain sum", and the estimators that are tested against it."""

    kind: str
    tested: list[str]


@dataclass
class About:
    """What a comparison knows beside its scores."""

    what: Mapping[str, str] = field(default_factory=dict)  # a sentence on each estimator
    task: str | None = None  # "classification", "regression" or "survival"
    n_samples: int | None = None
    majority: float | None = None  # the rate of the largest class
    omitted: list[dict[str, str]] = field(default_factory=list)  # the ``part`` that is left out and ``why``
    notes: list[str] = field(default_factory=list)


class Comparison(Found):
    """Scores of several estimators on one data set or several, with the tests of their differences.

    Parameters
    ----------
    scores : DataFrame
        A row for each fold: ``dataset``, ``estimator``, ``repetition`` and ``fold``, counted from 0, and
        ``score``, the higher the better; further columns are kept.
    reference : str, default=None
        The estimator that all others are tested against; "best" is the one with the highest mean. Without
        it, each estimator is tested against its baselines, or every pair where there are none.
    baselines : dict of str to (kind, estimators), default=None
        The estimators that are simpler rivals, what kind each is of, and which are tested against it.
    level : float, default=0.05
        Of the tests.
    scoring : str, default="score"
        What the scores are called.
    about : About, default=None
        What is said beside the scores.
    samples : dict of (dataset, estimator) to array of shape (n_repetitions, n_samples), default=None
        The score of each sample in each repetition, whose means are the scores.
    equivalence : float, default=0.01
        Differences whose confidence interval lies within ± this are none in practice.
    protocols : dict of str to Protocol, default=None
        The folds of each data set, where they are known.
    others : dict of str to Comparison, default=None
        The same models by further scores.

    Attributes
    ----------
    scores : DataFrame
    estimators, datasets : list of str
        In the order of the scores.
    reference : str or None
    level : float
    scoring : str
    answer : str
        What the tests show, in a sentence.
    tests : DataFrame
    weights : DataFrame

    Examples
    --------
    >>> rows = [(name, fold // 2, fold % 2, score + 0.002 * (fold % 2))
    ...         for name, score in {"ours": 0.9, "theirs": 0.8}.items() for fold in range(10)]
    >>> scores = pd.DataFrame(rows, columns=["estimator", "repetition", "fold", "score"])
    >>> print(Comparison(scores.assign(dataset="toy"), reference="theirs").answer)
    ours has the best mean score of 2 models, 0.901: better than theirs (0.801; +0.100 [+0.100, +0.100], p =
    0), as far as 10 folds can tell.

    Notes
    -----
    ``str(comparison)`` is a page of Markdown: the answer, and a table with a row for each estimator, or, of
    several data sets, a row for each of them with significant wins between two pairs of asterisks. Notebooks
    show the same table as HTML.
    """

    def __init__(
        self,
        scores: pd.DataFrame,
        *,
        reference: str | None = None,
        baselines: Mapping[str, Baseline] | None = None,
        level: float = 0.05,
        scoring: str = "score",
        about: About | None = None,
        samples: Mapping[tuple[str, str], np.ndarray] | None = None,
        equivalence: float = EQUIVALENCE,
        protocols: Mapping[str, Protocol] | None = None,
        others: Mapping[str, Comparison] | None = None,
    ) -> None:
        if not isinstance(scores, pd.DataFrame):
            raise TypeError(f"scores must be a DataFrame, a row for each fold; got {type(scores).__name__}.")
        missing = [column for column in _COLUMNS if column not in scores.columns]
        if missing:
            raise ValueError(
                f"scores must have the columns {', '.join(_COLUMNS)}; {', '.join(missing)} is missing."
            )
        self.scores = scores.reset_index(drop=True)
        self.level, self.scoring = check_level(level), scoring
        self.baselines, self.about = dict(baselines or {}), about or About()
        self._samples, self.equivalence = dict(samples or {}), equivalence
        self._protocols, self._others = dict(protocols or {}), dict(others or {})
        self.estimators: list[str] = list(dict.fromkeys(scores["estimator"]))
        self.datasets: list[str] = list(dict.fromkeys(scores["dataset"]))
        self._by_name = {
            name: {dataset: self._folds(name, dataset) for dataset in self.datasets}
            for name in self.estimators
        }
        if reference == BEST and BEST not in self.estimators:
            reference = max(self.models, key=self._mean)
        check_reference(self.estimators, reference)
        self.reference = reference

    # ------------------------------------------------------------------ numbers
    @property
    def by_score(self) -> dict[str, Comparison]:
        """The comparison by each score, by its name; the first, which decides, is this one."""
        return {self.scoring: self, **self._others}

    @property
    def is_5x2(self) -> bool:
        """Whether the folds are five repetitions of two."""
        return all(folds.shape == (REPEATS, FOLDS) for of in self._by_name.values() for folds in of.values())

    @property
    def n_folds(self) -> int:
        """How many folds each estimator is scored on, of the first data set."""
        return int(self._by_name[self.estimators[0]][self.datasets[0]].size)

    @property
    def models(self) -> list[str]:
        """The estimators but for the baselines."""
        return [name for name in self.estimators if name not in self.baselines]

    def folds(self, estimator: str, dataset: str | None = None) -> np.ndarray:
        """Return the scores of an estimator on a data set, (n_repetitions, n_folds): (5, 2) by default.

        Parameters
        ----------
        estimator : str
        dataset : str, default=None
            May be left out where there is only one.
        """
        dataset = self._one_dataset(dataset)
        if estimator not in self._by_name or dataset not in self._by_name[estimator]:
            raise ValueError(
                f"there are scores of {', '.join(map(repr, self.estimators))} on "
                f"{', '.join(map(repr, self.datasets))}; got {estimator!r} on {dataset!r}."
            )
        return self._by_name[estimator][dataset].copy()

    def means(self) -> pd.DataFrame:
        """Return means and standard deviations over the folds.

        Returns
        -------
        DataFrame
            A row for each data set, columns ``(estimator, "mean")`` and ``(estimator, "sd")``.
        """
        columns = {
            (name, what): [function(self._by_name[name][dataset]) for dataset in self.datasets]
            for name in self.estimators
            for what, function in (("mean", np.mean), ("sd", _deviation))
        }
        return pd.DataFrame(columns, index=pd.Index(self.datasets, name="dataset"))

    @cached_property
    def tests(self) -> pd.DataFrame:
        """The tests of the differences, a row for each data set and pair.

        Columns are ``dataset``, ``estimator``, ``rival``, ``difference`` (of the means), ``difference_sd``
        over the folds, ``low`` and ``high``, the ends of the confidence interval of the difference, ``F`` of
        the 5×2 cv test, ``p`` of `repeated_cv_test`, or of `corrected_t_test` where the score is no mean over
        samples, ``p_holm`` (Holm's, over the tests against the same rival; without reference and baselines
        over all pairs), ``better_folds``, ``worse_folds`` and ``verdict``: "equal" if the interval lies
        within ± `equivalence`, "win" or "loss" if p_holm is at most the level, else "tie".
        """
        found = [self._holm(dataset, family) for dataset in self.datasets for family in self._families()]
        sizes = [len(tests) for tests in found]
        names = np.repeat([d for d in self.datasets for _ in self._families()], sizes)
        table = pd.concat(found, ignore_index=True)
        table.insert(0, "dataset", names)
        return table

    def _holm(self, dataset: str, pairs: list[tuple[str, str]]) -> pd.DataFrame:
        """The tests of pairs on one data set."""
        folds = {name: self._by_name[name][dataset] for name in self.estimators}
        protocol = self._protocols.get(dataset)
        n_folds = next(iter(folds.values())).shape[1]
        return holm_tests(
            folds,
            pairs,
            self.level,
            {name: scores for (of, name), scores in self._samples.items() if of == dataset},
            self.equivalence,
            groups=None if protocol is None else protocol.groups,
            test_size=1.0 / max(n_folds, 2) if protocol is None else protocol.test_size,
        )

    def _families(self) -> list[list[tuple[str, str]]]:
        """The pairs that are tested, those together that Holm's method adjusts together."""
        names = self.estimators
        rivals = {} if self.reference is not None else self.baselines
        against = [
            [(name, rival) for name in baseline.tested if name in names and name != rival]
            for rival, baseline in rivals.items()
            if rival in names
        ]
        return [family for family in against if family] or [pairs_of(names, self.reference)]

    def to_frame(self, dataset: str | None = None) -> pd.DataFrame:
        """Return scores and tests on a data set, best mean first.

        Parameters
        ----------
        dataset : str, default=None
            May be left out where there is only one.

        Returns
        -------
        DataFrame
            A row for each estimator. ``("score", "mean")`` and ``("score", "sd")`` over the folds; then
            under the name of each rival, or the kind of each baseline, ``difference``, ``low``, ``high``,
            ``F``, ``p``, ``p_holm``, ``folds`` on which the estimator is better and worse, such as "9–1", and
            ``verdict``, as in `tests`.
        """
        dataset = self._one_dataset(dataset)
        columns: dict[tuple[str, str], dict[str, Any]] = {
            ("score", "mean"): {name: self.folds(name, dataset).mean() for name in self.estimators},
            ("score", "sd"): {name: _deviation(self.folds(name, dataset)) for name in self.estimators},
        }
        for test in self._tests_of(dataset):
            for what in _TEST:
                columns.setdefault((self._kind(test["rival"]), what), {})[test["estimator"]] = test[what]
        table = pd.DataFrame(columns, index=pd.Index(self.estimators, name="estimator"))
        return table.sort_values(("score", "mean"), ascending=False, kind="stable")

    def _tests_of(self, dataset: str) -> list[dict[str, Any]]:
        """The tests on a data set, of pairs without reference and baselines from both sides."""
        of_set = self.tests[self.tests["dataset"] == dataset]
        found = of_set.to_dict("records")
        if self.reference is None and not any(map(self.baselines.get, of_set["rival"])):
            found += [turned(test) for test in found]
        return [{**test, "folds": f"{test['better_folds']}–{test['worse_folds']}"} for test in found]

    def _kind(self, rival: str) -> str:
        return self.baselines[rival].kind if rival in self.baselines else rival

    @property
    def weights(self) -> pd.DataFrame:
        """The mean share of each view over the folds, a row for each estimator (and data set, of several).

        The share is that of the combined kernel's trace, or of all the weight where that kernel is no
        weighted sum; of the best single view, how often it was chosen.
        """
        shares = pd.DataFrame(self.scores["shares"].tolist()).fillna(0.0)
        by = ["estimator"] if len(self.datasets) == 1 else ["dataset", "estimator"]
        means = shares.groupby([self.scores[name] for name in by], sort=False).mean()
        return means.rename_axis(columns="view")

    def win_tie_loss(self, method: str = "demsar") -> pd.DataFrame:
        """Return wins, ties and losses of each pair over the data sets, each by its own test alone.

        Parameters
        ----------
        method : str, default="demsar"
            Of `multikernel.inspection.wilcoxon_signed_rank`.

        Returns
        -------
        DataFrame
            As `multikernel.inspection.win_tie_loss` gives it.
        """
        return count_wins(self.set_tests, self.level, method)

    def wilcoxon(self, method: str = "demsar") -> pd.DataFrame:
        """Return Wilcoxon's test of each pair over the data sets, by mean scores.

        Parameters
        ----------
        method : str, default="demsar"
            Of `multikernel.inspection.wilcoxon_signed_rank`.

        Returns
        -------
        DataFrame
            A row for each ``(estimator, rival)``: ``statistic``, ``z``, ``pvalue`` and ``verdict``.
        """
        return signed_rank_tests(self.set_tests, self.level, method)

    def _mean(self, name: str) -> float:
        return float(np.mean([scores.mean() for scores in self._by_name[name].values()]))

    def _one_dataset(self, dataset: str | None) -> str:
        if dataset is None and len(self.datasets) > 1:
            raise ValueError(f"dataset must be one of {', '.join(map(repr, self.datasets))}; got None.")
        return self.datasets[0] if dataset is None else dataset

    # ------------------------------------------------------------------ words
    @property
    def metric(self) -> str:
        """The score in words."""
        return in_words(self.scoring)

    @property
    def answer(self) -> str:
        """What the tests show, in a sentence."""
        return sentence(self)

    @property
    def protocol(self) -> str:
        """How the scores and the tests came about."""
        if self.reference is None and any(name in self.estimators for name in self.baselines):
            over = "all tests against the same rival"
        else:
            over = "all pairs" if self.reference is None else "all tests against the reference"
        known = [self._protocols[name].words for name in self.datasets if name in self._protocols]
        shown = known[0] if known else default_words()
        return f"{shown}; {TESTED}; p is adjusted by Holm's method over {over}, the intervals are not."

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain numbers and texts, which JSON can hold.

        Returns
        -------
        dict
            ``task``, ``n_samples``, ``metric``, ``protocol``; ``rows``, of each data set the best mean first:
            ``dataset``, ``name``, ``what``, ``is_rival``, ``score``, ``sd``, ``seconds`` of a fit, the
            ``folds`` and ``tests``, a list of ``rival``, its ``kind`` ("plain sum", …), ``difference``,
            ``difference_sd``, ``low``, ``high``, ``p_alone``, ``p`` (Holm's), ``better_folds``,
            ``worse_folds`` and ``verdict`` ("better", "worse", "equal", "tie"); ``answer``, ``omitted``,
            ``notes``; ``by_score``, of each further score its ``metric``, ``rows`` and ``answer``.
        """
        return {
            "task": self.about.task,
            "n_samples": self.about.n_samples,
            "metric": self.metric,
            "protocol": self.protocol,
            "rows": [row for dataset in self.datasets for row in self._dict_rows(dataset)],
            "answer": self.answer,
            "omitted": self.about.omitted,
            "notes": self.about.notes,
            "by_score": {name: other._of_score() for name, other in self._others.items()},
        }

    def _of_score(self) -> dict[str, Any]:
        """What another score changes."""
        rows = [row for dataset in self.datasets for row in self._dict_rows(dataset)]
        return {"metric": self.metric, "rows": rows, "answer": self.answer}

    def _dict_rows(self, dataset: str) -> Iterable[dict[str, Any]]:
        tests = self.tests[self.tests["dataset"] == dataset].to_dict("records")
        for name in sorted(self.estimators, key=lambda name: -float(self.folds(name, dataset).mean())):
            folds = self.folds(name, dataset)
            yield {
                "dataset": dataset,
                "name": name,
                "what": self.about.what.get(name, ""),
                "is_rival": name in self.baselines,
                "score": float(folds.mean()),
                "sd": _deviation(folds),
                "seconds": self.seconds(name, dataset),
                "folds": folds.ravel().tolist(),
                "tests": [
                    {"rival": test["rival"], "kind": self._kind(test["rival"]), **as_test(test)}
                    for test in tests
                    if test["estimator"] == name
                ],
            }

    def seconds(self, name: str, dataset: str) -> float | None:
        """The mean time of a fit, where it is known."""
        if "fit_seconds" not in self.scores:
            return None
        return float(self.scores.loc[self._rows_of(name, dataset), "fit_seconds"].mean())

    # ------------------------------------------------------------------ tables
    def table(self, digits: int = 3) -> list[list[str]]:
        """Return the table as texts, its head first.

        Parameters
        ----------
        digits : int, default=3
            Behind the point.
        """
        return [[cell.text for cell in row] for row in cells(self, digits)]

    def to_markdown(self, title: str | None = None, digits: int = 3) -> str:
        """Return answer, table, protocol and notes as a page of Markdown, for each score one after another.

        Parameters
        ----------
        title : str, default=None
        digits : int, default=3
            Behind the point.

        Returns
        -------
        str
        """
        return as_markdown(self, title, digits)

    def __str__(self) -> str:
        return self.to_markdown()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self)

    def remarks(self) -> list[str]:
        """What was left out, and notes."""
        left_out = [f"{entry['part']} was left out: {entry['why']}" for entry in self.about.omitted]
        return left_out + self.about.notes

    def _win_tie_loss(self, name: str) -> str:
        verdicts = (WIN, TIE, LOSS)
        return "–".join(str(len(datasets_where(self.set_tests, name, verdict))) for verdict in verdicts)

    @cached_property
    def set_tests(self) -> pd.DataFrame:
        """The tests that wins and losses are counted by, each data set for itself.

        The 5×2 cv F test of five repetitions of two folds, as they are published; of other folds the test
        that decides on one data set.
        """
        if self.is_5x2:
            return paired_f_tests(self._by_name, reference=self.reference, level=self.level)
        rows = []
        for estimator, rival in pairs_of(self.estimators, self.reference):
            for dataset in self.datasets:
                [test] = self._holm(dataset, [(estimator, rival)]).to_dict("records")
                means = [float(self._by_name[name][dataset].mean()) for name in (estimator, rival)]
                verdict = TIE if test["verdict"] == EQUAL else test["verdict"]
                rows.append(
                    (dataset, estimator, rival, *means, test["difference"], np.nan, test["p"], verdict)
                )
        columns = [*("dataset", "estimator", "rival", "mean", "rival_mean", "difference")]
        return pd.DataFrame(rows, columns=[*columns, "statistic", "pvalue", "verdict"])

    # ------------------------------------------------------------------ picture
    def plot(self, ax: Any = None, dataset: str | None = None) -> Any:
        """Draw the scores of every estimator on a data set, the best mean on top.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Without it a figure is made, which shows the weights as well where all estimators have some.
        dataset : str, default=None
            May be left out where there is only one.

        Returns
        -------
        matplotlib axes, those of the scores
        """
        from multikernel.viz import rules

        return rules(self.drawn_numbers(dataset), ax=ax)

    def drawn_numbers(self, dataset: str | None = None) -> dict[str, Any]:
        """What `plot` draws: folds, baselines, weights, scoring and title."""
        dataset = self._one_dataset(dataset)
        order = list(self.to_frame(dataset).index)
        lines = [name for name in order if name in self.baselines or name == self.reference][:2]
        shares = self.scores["shares"] if "shares" in self.scores else pd.Series([{}])
        shown = len(self.datasets) == 1 and all(shares)
        return {
            "folds": {name: self.folds(name, dataset).ravel() for name in order},
            "baselines": lines,
            "weights": self.weights.loc[order] if shown else None,
            "scoring": self.metric,
            "title": "Did learning the weights help?" if self.baselines else "Scores on the same folds",
        }

    # ------------------------------------------------------------------ scores by place
    def _rows_of(self, estimator: str, dataset: str) -> pd.Series:
        return (self.scores["estimator"] == estimator) & (self.scores["dataset"] == dataset)

    def _folds(self, estimator: str, dataset: str) -> np.ndarray:
        chosen = self.scores[self._rows_of(estimator, dataset)]
        of_set = self.scores[self.scores["dataset"] == dataset]
        places = list(zip(chosen["repetition"], chosen["fold"], strict=True))
        shape = int(of_set["repetition"].max()) + 1, int(of_set["fold"].max()) + 1
        wanted = [(i, j) for i in range(shape[0]) for j in range(shape[1])]
        if sorted(places) != wanted:
            raise ValueError(
                f"scores must have one row for each of the {shape[0]} repetitions and {shape[1]} folds, "
                f"counted from 0; {estimator!r} on {dataset!r} has {len(places)} rows"
                + (f" and none for {min(set(wanted) - set(places))}." if set(wanted) - set(places) else ".")
            )
        values = np.empty(shape)
        values[tuple(np.transpose(places))] = chosen["score"]
        return values


def _deviation(values: np.ndarray) -> float:
    return float(values.std(ddof=1))

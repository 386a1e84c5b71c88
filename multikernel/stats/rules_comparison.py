"""What the comparison of rules found: one sentence, a table, the weights and a picture."""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from multikernel.selection.win_tie_loss import LOSS, TIE, WIN
from multikernel.stats.comparison import Comparison
from multikernel.stats.verdicts import verdicts_against

PLAIN_SUM, SINGLE = "plain sum", "best single"
_DATA = "given"
_TEST = ("difference", "F", "p", "p_holm", "folds", "verdict")


@dataclass(frozen=True, eq=False)
class RulesComparison:
    """Weight learners beside the plain sum and the best single kernel, on the same folds.

    Attributes
    ----------
    comparison : Comparison
        Of all pairs, without Holm's adjustment.
    scores : DataFrame
        A row for each rule and fold: ``rule``, ``repetition``, ``fold``, ``score``, ``fit_seconds``.
    rules, learners : list of str
        All that was compared; without the plain sum and the best single kernel.
    weights : DataFrame
        A row for each rule, a column for each kernel: its share of the combined kernel's trace, or of all the
        weight where that kernel is no weighted sum (``ProductRule``), the mean over the folds. Of the best
        single kernel, how often it was chosen.
    answer : str
        Whether learning the weights helped: what the verdicts of `frame` say. Of several learners that are
        better than the plain sum, one that beats the best single kernel as well is named first.
    scoring : str
        What the scores are, in words.
    """

    comparison: Comparison

    # ------------------------------------------------------------------ numbers
    @property
    def rules(self) -> list[str]:
        return self.comparison.estimators

    @property
    def learners(self) -> list[str]:
        return [rule for rule in self.rules if rule not in (PLAIN_SUM, SINGLE)]

    @property
    def scores(self) -> pd.DataFrame:
        kept = ["estimator", "repetition", "fold", "score", "fit_seconds"]
        return self.comparison.scores[kept].rename(columns={"estimator": "rule"})

    @property
    def weights(self) -> pd.DataFrame:
        shares = pd.DataFrame(self.comparison.scores["shares"].tolist()).fillna(0.0)
        means = shares.groupby(self.comparison.scores["estimator"], sort=False).mean()
        return means.rename_axis(index="rule", columns="kernel")

    def folds(self, rule: str) -> np.ndarray:
        """The scores of a rule, shape (5, 2): what `f_test_5x2cv` takes."""
        return self.comparison.folds(rule, _DATA)

    def frame(self) -> pd.DataFrame:
        """The table, best mean first.

        Returns
        -------
        DataFrame
            A row for each rule. ``("score", "mean")`` and ``("score", "sd")`` over the ten folds; then under
            ``"plain sum"``, and under ``"best single"``, against that rule: the ``difference`` of the means,
            ``F`` and ``p`` of the 5×2 cv test, Holm's ``p_holm`` of all tests against it, ``folds`` on which
            the rule is better and worse, such as "9–1", and the ``verdict``. That is "win" or "loss" if
            p_holm is at most the level and eight folds of ten at least fall on the side of the mean, else
            "tie": F is large, or infinite, also where the two folds of a repetition differ by the same and
            most folds do not differ at all, and a few folds are no evidence.
        """
        columns: dict[tuple[str, str], Any] = {
            ("score", "mean"): {rule: self.folds(rule).mean() for rule in self.rules},
            ("score", "sd"): {rule: self.folds(rule).std(ddof=1) for rule in self.rules},
        }
        for rival in (PLAIN_SUM, SINGLE):
            columns |= {(rival, what): self._tests[rival][what] for what in _TEST}
        table = pd.DataFrame(columns, index=pd.Index(self.rules, name="rule"))
        return table.sort_values(("score", "mean"), ascending=False, kind="stable")

    @cached_property
    def _tests(self) -> dict[str, pd.DataFrame]:
        """The tests of all other rules against each of the two rules to beat."""
        folds = {rule: self.folds(rule) for rule in self.rules}
        level = self.comparison.level
        return {rival: verdicts_against(rival, folds, level) for rival in (PLAIN_SUM, SINGLE)}

    # ------------------------------------------------------------------ words
    @property
    def answer(self) -> str:
        verdicts = self._tests[PLAIN_SUM]["verdict"]
        by_score = sorted(self.learners, key=lambda rule: -float(self.folds(rule).mean()))
        won = [rule for rule in by_score if verdicts[rule] == WIN]
        lost = [rule for rule in reversed(by_score) if verdicts[rule] == LOSS]
        single = self._tests[SINGLE]["verdict"]
        won.sort(key=lambda rule: single[rule] != WIN)  # those that beat both come first
        found = self._helped(won[0]) if won else self._did_not_help(lost)
        return f"Learning the weights {found}; {self._means((won or by_score)[0])}."

    def _did_not_help(self, lost: list[str]) -> str:
        tests = self._tests[PLAIN_SUM].loc[self.learners]
        if len(lost) == len(tests):
            p = f"Holm's p ≤ {tests['p_holm'].max():.2g}"
            return f"did harm: every learner is worse than the plain sum ({p})"
        if lost:
            p = self._p(lost[0], PLAIN_SUM)
            return f"did not help: no learner is better than the plain sum, and {lost[0]} is worse ({p})"
        none = "did not help, as far as ten folds can tell: no learner differs from the plain sum"
        few = tests.index[tests["p_holm"] <= self.comparison.level]
        if few.size:
            better, worse = tests.loc[few[0], "folds"].split("–")
            return f"{none} on more than a few folds ({few[0]}: better on {better}, worse on {worse})"
        return f"{none} (smallest p = {tests['p'].min():.2g}, Holm's {tests['p_holm'].min():.2g})"

    def _helped(self, rule: str) -> str:
        verdict = self._tests[SINGLE].loc[rule, "verdict"]
        single = {
            WIN: "and than the best single kernel",
            TIE: "but does not differ from the best single kernel",
            LOSS: "but is worse than the best single kernel",
        }[verdict]
        helped = "helped" if verdict == WIN else "helped against the plain sum only"
        p_sum, p_single = (self._p(rule, rival) for rival in (PLAIN_SUM, SINGLE))
        return f"{helped}: {rule} is better than the plain sum ({p_sum}) {single} ({p_single})"

    def _p(self, rule: str, rival: str) -> str:
        return f"Holm's p = {self._tests[rival].loc[rule, 'p_holm']:.2g}"

    def _means(self, rule: str) -> str:
        texts = [f"{name} {self.folds(name).mean():.3f}" for name in (rule, PLAIN_SUM, SINGLE)]
        return f"mean {self.scoring}: {', '.join(texts)}"

    @property
    def scoring(self) -> str:
        return "R²" if self.comparison.scoring == "r2" else self.comparison.scoring.replace("_", " ")

    def __str__(self) -> str:
        return f"{self.answer}\n\n{self.frame().to_string(float_format='{:.3f}'.format, na_rep='')}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        table = self.frame().to_html(float_format="{:.3f}".format, na_rep="")
        return f"<p>{html.escape(self.answer)}</p>{table}"

    # ------------------------------------------------------------------ picture
    def plot(self, ax: Any = None) -> Any:
        """Draw the scores of every rule, the best mean on top, with lines at the two rules to beat.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Without it a figure is made, which shows the weights as well.

        Returns
        -------
        matplotlib axes, those of the scores
        """
        from multikernel.viz import rules

        return rules(self, ax=ax)

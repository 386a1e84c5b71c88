"""Which two views are worth a sum? Their accuracies, and the support samples that they share."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from sklearn.svm import SVC
from sklearn.utils.metaestimators import _safe_split

from ..._typing import Array
from ..._validation import check_number, check_positive_integer
from ...core.folds import list_splits
from ...core.inputs import encode_labels, require_two_classes
from ...core.stack.sums import mean_diagonals
from ...rules.combined import CombinedKernelClassifier
from ...rules.fixed import SumRule
from ...views import make_bank
from ...views.tables import as_table
from ...viz.canvas import BLUE, GREY, axes_for, plain
from ...viz.fitted import plain_tree
from ..found import FoundTable

_NAMED = 10  # pairs of views in a picture


@dataclass(frozen=True, eq=False)
class SupportOverlap(FoundTable):
    """What two views have to give each other, for all pairs.

    Attributes
    ----------
    table : DataFrame
        A row for each pair of views, the largest gain first: ``view`` and ``other_view`` with their
        accuracies ``score`` and ``other_score``; ``sum_score``, that of the sum of both kernels, and
        ``gain``, its difference to the better of the two; ``overlap``, the support samples that both have as
        a share of those that either has, and ``expected``, that share if the two had nothing to do with each
        other. All are means over the folds.
    answer : str
        What was found, in a sentence.
    """

    table: pd.DataFrame = field(repr=False)

    _index = False

    @property
    def answer(self) -> str:
        """What was found, in a sentence."""
        better, n = self.table[self.table["gain"] > 0.0], len(self.table)
        if better.empty:
            none = "no sum of two views is" if n > 1 else "the sum of both views is not"
            return f"{none[0].upper()}{none[1:]} more accurate than the better view alone."
        best = better.iloc[0]
        count = (
            f"{len(better)} of {n} sums of two views are more accurate than both views alone. "
            if n > 1
            else ""
        )
        return (
            f"{count}The sum of {best['view']!r} and {best['other_view']!r} has {best['sum_score']:.3f} "
            f"against {best['score']:.3f} and {best['other_score']:.3f}; they share {best['overlap']:.0%} of "
            f"their support samples ({best['expected']:.0%} by chance)."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain numbers and texts, which JSON can hold.

        Returns
        -------
        dict
            ``pairs``, a dict for each row of the table, and ``answer``.
        """
        return plain_tree({"pairs": self.table.to_dict("records"), "answer": self.answer})

    def plot(self, ax: Any = None, *, most: int | None = None) -> Any:
        """Draw what the sum of two views gains against the support samples that they share.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Without it a figure is made.
        most : int, default=None
            Maximum number of pairs that are named, those of largest gain; None for 10.

        Returns
        -------
        matplotlib axes
        """
        axes = axes_for(ax)
        n_named = _NAMED if most is None else check_positive_integer("most", most)
        axes.axhline(0.0, color=GREY, linewidth=1.0)
        axes.scatter(self.table["overlap"], self.table["gain"], color=BLUE, zorder=3)
        for row in self.table.head(n_named).itertuples():
            name = f"{plain(row.view, 20)} + {plain(row.other_view, 20)}"
            axes.annotate(name, (row.overlap, row.gain), (4, 4), textcoords="offset points", fontsize="small")
        axes.set_xlabel("support samples that both views have, as a share of those of either")
        axes.set_ylabel("gain in accuracy of the sum over the better view")
        axes.set_title("Which two views are worth a sum?")
        return axes


def support_overlap(
    kernels: Any, X: Any, y: Any, *, C: float = 1.0, cv: Any = 5, random_state: Any = 0
) -> SupportOverlap:
    """Compare the support samples of the views: two that are as good, and have different ones, gain by a sum.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank
        Two views or more, as for :class:`multikernel.CombinedKernelClassifier`.
    X : table, dict of tables, MultiTable, or array of shape (n_samples, n_samples, n_kernels)
    y : array-like of shape (n_samples,)
        The classes.
    C : float, default=1.0
        Penalty on margin violations of the machines, for kernels of mean diagonal 1.
    cv : int, splitter or list of splits, default=5
        Folds: machines and support samples are of their training parts, accuracies of the rest.
    random_state : int or RandomState, default=0
        Of the folds, where `cv` is a number.

    Returns
    -------
    SupportOverlap

    Notes
    -----
    Joachims, Cristianini and Shawe-Taylor (2001) find that the sum of two kernels helps where both are about
    as accurate and rest on different support samples. It is a diagnostic, not a test: `compare` tests
    differences. A machine is fitted for each view and each pair in each fold, each kernel scaled to a mean
    diagonal of 1.

    References
    ----------
    T. Joachims, N. Cristianini and J. Shawe-Taylor (2001). Composite kernels for hypertext categorisation.
    ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from multikernel.kernels import Gaussian
    >>> X, y = load_wine(return_X_y=True)
    >>> views = [("colour", Gaussian(), [9, 10, 11]), ("titration", Gaussian(), [0, 1, 2, 3, 4])]
    >>> found = support_overlap(views, X, y)
    >>> found.to_frame()[["sum_score", "gain", "overlap", "expected"]].round(2).to_dict("records")
    [{'sum_score': 0.97, 'gain': 0.06, 'overlap': 0.35, 'expected': 0.32}]
    """
    check_number("C", C, above=0.0)
    table = as_table(X)
    reader = CombinedKernelClassifier(kernels, SumRule())
    classes, codes = encode_labels(reader, table, y)
    require_two_classes(classes, codes)
    splits = list_splits(cv, np.zeros((codes.size, 1)), classes[codes], random_state=random_state)
    folds = [_Fold.fitted(reader, table, codes, split, C) for split in splits]
    names = folds[0].names
    if any(fold.names != names for fold in folds):
        raise ValueError(
            "every fold must have the same views; some are constant on the training part of a fold. Leave "
            "them out, or give other folds."
        )
    return SupportOverlap(_pairs_table(folds))


@dataclass(frozen=True)
class _Fold:
    """The machines of one training part."""

    names: list[str]
    scores: Array  # (n_views,)
    supports: Array  # (n_views, n_train), bool
    pair_scores: Array  # (n_pairs,), in the order of combinations

    @classmethod
    def fitted(cls, reader: Any, table: Any, codes: Array, split: Any, C: float) -> _Fold:
        train, test = split
        X_train, labels = _safe_split(reader, table, codes, train)
        X_test, truth = _safe_split(reader, table, codes, test, train)
        bank = make_bank(reader.kernels)
        Ks = np.asarray(bank.fit_stack(X_train), np.float64)
        names = [str(name) for name in bank.view_names_]
        if len(names) < 2:
            raise ValueError(f"an overlap is of two views or more; got {len(names)}: {names}.")
        rows = np.moveaxis(np.asarray(bank.transform(X_test), np.float64), 2, 0)
        scales = mean_diagonals(Ks)[:, None, None]
        Ks, rows = Ks / scales, rows / scales
        alone = [_machine(K, labels, part, truth, C) for K, part in zip(Ks, rows, strict=True)]
        pairs = [
            _machine(Ks[i] + Ks[j], labels, rows[i] + rows[j], truth, C)[0]
            for i, j in combinations(range(len(names)), 2)
        ]
        return cls(
            names, np.array([score for score, _ in alone]), np.array([s for _, s in alone]), np.array(pairs)
        )


def _machine(K: Array, labels: Array, rows: Array, truth: Array, C: float) -> tuple[float, Array]:
    """The accuracy of a machine on new rows, and which training samples it rests on."""
    machine = SVC(C=C, kernel="precomputed").fit(K, labels)
    support = np.zeros(len(labels), dtype=bool)
    support[machine.support_] = True
    return float(np.mean(machine.predict(rows) == truth)), support


def _pairs_table(folds: list[_Fold]) -> pd.DataFrame:
    names = folds[0].names
    scores = np.mean([fold.scores for fold in folds], axis=0)
    sums = np.mean([fold.pair_scores for fold in folds], axis=0)
    rows = []
    for (i, j), total in zip(combinations(range(len(names)), 2), sums, strict=True):
        overlap, expected = np.mean([_overlap(*fold.supports[[i, j]]) for fold in folds], axis=0)
        gain = total - max(scores[i], scores[j])
        rows.append((names[i], names[j], scores[i], scores[j], total, gain, overlap, expected))
    columns = ["view", "other_view", "score", "other_score", "sum_score", "gain", "overlap", "expected"]
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values("gain", ascending=False, kind="stable", ignore_index=True)


def _overlap(one: Array, other: Array) -> tuple[float, float]:
    """The common part of two sets among their union, and what it would be if they were independent."""
    p, q = float(one.mean()), float(other.mean())
    both = float(np.mean(one & other))
    return both / float(np.mean(one | other)), p * q / (p + q - p * q)

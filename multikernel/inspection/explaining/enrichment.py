"""Which gene sets carry weight beyond chance? Learned weights against those of permuted targets."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import false_discovery_control
from sklearn.base import clone

from ..._typing import Array
from ..._validation import check_choice, check_number, check_positive_integer
from ...core.estimator import BaseMKL
from ...core.folds import random_source
from ...views import KernelWarning
from ...viz import views as pictures
from ...viz.fitted import plain_leaf, plain_tree, shares_of
from ..found import FoundTable
from ..repeated import exchanged, group_numbers, is_constant
from ..rivals.baselines import listed
from .selecting import check_targets, gram_stack, quiet_settings

PARAMETERS = ("C", "alpha", "norm")
MAX, BH = CORRECTIONS = ("max", "bh")
_WORDS = {
    MAX: "the chance of a false one among them is at most {level:.0%} (largest z of permuted targets)",
    BH: "the expected share of false ones among them is at most {level:.0%} (Benjamini-Hochberg)",
}
_TOLD = 5  # sets that a sentence names
_TOL = 1e-2


@dataclass(frozen=True, eq=False)
class Enrichment(FoundTable):
    """Gene sets, or other views, with the weight that they have, and that they would have by chance.

    Attributes
    ----------
    table : DataFrame
        A row for each set, the smallest p-value first, indexed by set: ``share`` of the weight, the mean over
        the path; ``by_chance``, its mean over permuted targets; ``z``, the difference in standard deviations
        of these; ``p_value``, ``p_adjusted``, and ``enriched``, whether that is at most `level`.
    shares : DataFrame of shape (n_sets, n_values)
        The share of each set in the weight, at each value of the parameter.
    p_values : DataFrame of shape (n_sets, n_values)
        Of these shares, not adjusted.
    parameter : str
    n_permutations : int
    level : float
    correction : {"max", "bh"}
    answer : str
        What was found, in a sentence.
    """

    table: pd.DataFrame = field(repr=False)
    shares: pd.DataFrame = field(repr=False)
    p_values: pd.DataFrame = field(repr=False)
    parameter: str
    n_permutations: int
    level: float
    correction: str

    _picture = staticmethod(pictures.enrichment)

    @property
    def enriched(self) -> list[str]:
        """The sets that carry weight beyond chance."""
        return [str(name) for name in self.table.index[self.table["enriched"]]]

    @property
    def answer(self) -> str:
        """What was found, in a sentence."""
        names, n = self.enriched, len(self.table)
        if not names:
            first = self.table.iloc[0]
            told = f"share {first['share']:.3f}, {first['by_chance']:.3f} by chance"
            return (
                f"None of {n} sets was shown to carry weight beyond chance; {self.table.index[0]} comes "
                f"nearest ({told}, adjusted p = {first['p_adjusted']:.2g})."
            )
        more = f" and {len(names) - _TOLD} more" if len(names) > _TOLD else ""
        rate = _WORDS[self.correction].format(level=self.level)
        carry = "carry" if len(names) > 1 else "carries"
        return (
            f"{len(names)} of {n} sets {carry} weight beyond chance: {listed(names[:_TOLD])}{more}; {rate}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain numbers and texts, which JSON can hold.

        Returns
        -------
        dict
            ``parameter``, ``values``, ``level``, ``correction``, ``n_permutations``, ``answer``, ``rows``, a
            dict for each set, and ``dots``, one for each set and value.
        """
        values = [plain_leaf(float(value), name_infinite=True) for value in self.shares.columns]
        dots = [
            {"set": name, "value": value, "share": self.shares.iat[k, j], "p_value": self.p_values.iat[k, j]}
            for k, name in enumerate(self.shares.index)
            for j, value in enumerate(values)
        ]
        own = {name: getattr(self, name) for name in ("parameter", "level", "correction", "n_permutations")}
        rows = self.table.reset_index().to_dict("records")
        return dict(plain_tree({**own, "values": values, "answer": self.answer, "rows": rows, "dots": dots}))


# ------------------------------------------------------------------ entry point
def enriched_sets(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    parameter: str = "C",
    values: Sequence[float] | None = None,
    n_permutations: int = 200,
    level: float = 0.05,
    correction: str = MAX,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Enrichment:
    """Say which gene sets carry more weight than they would if the target were drawn at random.

    The weights are learned at each value of a parameter, for the target and for permutations of it. A set is
    a view: :func:`multikernel.views.views_from_gene_sets` makes views of gene sets.

    Parameters
    ----------
    estimator : MKLClassifier, MKLRegressor, MKLRidge or another with global kernel weights
        It is cloned, never fitted itself.
    X, y : as for its ``fit``
        All samples may be used.
    parameter : {"C", "alpha", "norm"}, default="C"
        The parameter along whose values weights are learned: at a small C few sets have weight.
    values : list of float, default=None
        Its values; None for 0.1, 1 and 10 of "C" and "alpha", and 1, 1.25 and 2 of "norm".
    n_permutations : int, default=200
        How many permutations of the target. The smallest p-value is 1 / (n_permutations + 1).
    level : float in (0, 1), default=0.05
        Of the adjusted p-values.
    correction : {"max", "bh"}, default="max"
        - "max": each set is compared with the largest z of all sets for permuted targets (Westfall and Young,
          single step). The chance of any false one is at most `level`;
        - "bh": Benjamini and Hochberg, of the false discovery rate. With many sets it needs many
          permutations: more than the number of sets divided by `level`.
    groups : array-like of shape (n_samples,), default=None
        Samples that belong together, such as those of one patient. Where the target is the same for all
        samples of each group, whole groups are permuted; else targets are permuted within groups.
    random_state : int or RandomState, default=None
        Draws the permutations; None always means the same ones.
    n_jobs : int, default=None
        Permutations fitted in parallel; -1 for all processors.

    Returns
    -------
    Enrichment

    Notes
    -----
    The statistic of a set is the mean of its share of the weight over the values, in standard deviations from
    its mean for permuted targets (those as they are included). Sets of many genes, or with little correlation
    among them, have more weight by chance: each set has a mean and a deviation of its own.

    The null hypothesis is that the target has nothing to do with any set. Where some do, weights of the
    others are smaller than by chance, as all share one budget. Sets that have genes in common with one that
    matters, or go along with it, may carry weight in its place: this is a test of weights and not of causes.
    :func:`select_views` tests each set by itself.

    The fits have a tolerance of 0.01 at least and share one stack of Gram matrices.

    References
    ----------
    P. Westfall and S. Young (1993). Resampling-Based Multiple Testing. Wiley.

    Examples
    --------
    >>> from multikernel import MKLClassifier
    >>> from multikernel.views import views_from_gene_sets
    >>> rng = np.random.default_rng(0)
    >>> genes = [f"g{k}" for k in range(20)]
    >>> X = pd.DataFrame(rng.normal(size=(60, 20)), columns=genes)
    >>> y = X["g4"] + X["g5"] > 0
    >>> sets = {f"set {k}": genes[4 * k : 4 * k + 4] for k in range(5)}
    >>> views = views_from_gene_sets(genes, sets, min_genes=2)
    >>> enriched_sets(MKLClassifier(views), X, y, n_permutations=50, random_state=0).enriched
    ['set 1']
    """
    points = _check(estimator, parameter, values)
    n_permutations = check_positive_integer("n_permutations", n_permutations)
    level = check_number("level", level, above=0.0, below=1.0)
    check_choice("correction", correction, CORRECTIONS)
    names, Ks = gram_stack(estimator.kernels, X, y)
    y = check_targets(y, Ks.shape[1])
    rng = random_source(0 if random_state is None else random_state)
    numbers = group_numbers(groups, y.size)
    whole = numbers is not None and is_constant(y, numbers)
    drawn = [exchanged(numbers, y.size, rng, whole=whole) for _ in range(n_permutations)]
    orders = [np.arange(y.size), *drawn]
    stack = np.moveaxis(Ks, 0, 2)
    machine = clone(estimator).set_params(
        kernels="precomputed", costs=_costs(estimator, names), **quiet_settings(estimator, _TOL)
    )
    found = Parallel(n_jobs=n_jobs)(
        delayed(_shares)(machine, stack, y[order], parameter, points) for order in orders
    )
    every = np.stack(found)  # (n_permutations + 1, n_values, n_sets)
    return _collected(every, names, (parameter, points), (level, correction))


def _check(estimator: Any, parameter: str, values: Any) -> list[float]:
    if not isinstance(estimator, BaseMKL):
        raise TypeError(
            "estimator must be one with global kernel weights, such as MKLClassifier; got "
            f"{type(estimator).__name__}."
        )
    known = estimator.get_params(deep=False)
    check_choice("parameter", parameter, tuple(name for name in PARAMETERS if name in known))
    if values is None:
        values = (1.0, 1.25, 2.0) if parameter == "norm" else (0.1, 1.0, 10.0)
    try:
        points = [float(value) for value in values]
    except (TypeError, ValueError) as error:
        raise TypeError(f"values must be a list of numbers; got {values!r}.") from error
    if not points or len(set(points)) < len(points):
        raise ValueError(f"values must be numbers that differ from each other, one at least; got {values!r}.")
    return points


def _costs(estimator: Any, names: list[str]) -> Any:
    costs = estimator.costs
    return [costs.get(name, 1.0) for name in names] if isinstance(costs, Mapping) else costs


def _shares(machine: Any, stack: Array, y: Array, parameter: str, points: list[float]) -> Array:
    """The share of each kernel in the weight at each value, (n_values, n_kernels)."""
    found = []
    for point in points:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KernelWarning)  # of permuted targets
            model = clone(machine).set_params(**{parameter: point}).fit(stack, y)
        found.append(shares_of(model.kernel_weights_))
    return np.array(found)


def _collected(
    every: Array, names: list[str], path: tuple[str, list[float]], rate: tuple[float, str]
) -> Enrichment:
    (parameter, points), (level, correction) = path, rate
    means = every.mean(axis=1)  # (n_permutations + 1, n_sets), the first those of the target as it is
    by_chance, spread = means.mean(axis=0), means.std(axis=0)
    z = np.where(spread > 0.0, (means - by_chance) / np.where(spread > 0.0, spread, 1.0), 0.0)
    p = _share_as_large(means)
    largest = z.max(axis=1)
    by_max = np.array([np.mean(largest >= value - 1e-12) for value in z[0]])
    adjusted = by_max if correction == MAX else false_discovery_control(p)
    index = pd.Index(names, name="set")
    columns = {
        "share": means[0],
        "by_chance": by_chance,
        "z": z[0],
        "p_value": p,
        "p_adjusted": adjusted,
        "enriched": (adjusted <= level) & (means[0] > 0.0),
    }
    table = pd.DataFrame(columns, index=index).sort_values(
        ["p_adjusted", "z"], ascending=[True, False], kind="stable"
    )
    values = pd.Index(points, name=parameter)
    shares = pd.DataFrame(every[0].T, index=index, columns=values)
    by_value = np.column_stack([_share_as_large(every[:, j]) for j in range(len(points))])
    p_values = pd.DataFrame(by_value, index=index, columns=values)
    return Enrichment(table, shares, p_values, parameter, len(every) - 1, level, correction)


def _share_as_large(values: Array) -> Array:
    """The share of rows at least as large as the first, by columns."""
    return np.asarray(np.mean(values >= values[0] - 1e-12, axis=0))

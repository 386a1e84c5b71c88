"""Which views matter, with a stated error rate: permutation tests of views, and stability selection."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.multiclass import type_of_target

from ..._typing import Array
from ..._validation import check_choice, check_number, check_positive_integer
from ...core.estimator import KernelEstimator
from ...core.folds import random_source
from ...core.inputs import require_same_samples
from ...core.missing_views import FILL_OF
from ...views import KernelWarning, make_bank
from ...views.precomputed import is_precomputed, storage_of
from ...views.stacks import as_stack, names_of
from ...views.tables import as_tables
from ...viz import views as pictures
from ...viz.fitted import plain_tree
from ..found import FoundTable
from ..repeated import group_numbers, is_constant, of_groups
from ..rivals.baselines import listed
from .stability import (
    BOUNDS,
    R_CONCAVE,
    UNIMODAL,
    WORST,
    expected_false,
    half_groups,
    half_samples,
    most_chosen,
    shares_chosen,
)
from .view_tests import (
    Permutations,
    centered,
    permutation_test,
    residual_targets,
    target_columns,
    within_groups,
)

MARGINAL, CONDITIONAL, STABILITY = METHODS = ("marginal", "conditional", "stability")
BH, BY = "bh", "by"
CORRECTIONS = {BH: "Benjamini-Hochberg", BY: "Benjamini-Yekutieli"}
_ENOUGH = 20  # permutations with a statistic as large, after which drawing ends
_PER_VIEW = 20  # permutations for each view and unit of level, by default
_FEWEST = 999
_FEWEST_OF_CLASS = 4  # so that each half has two
_TOLD = 5  # views that a sentence names
_TINY = 1e-300
_TOL = 1e-2  # of the fits to half samples


@dataclass(frozen=True, eq=False)
class ViewSelection(FoundTable):
    """Views that matter, with the error rate of the selection.

    Attributes
    ----------
    method : {"marginal", "conditional", "stability"}
    table : DataFrame
        A row for each view, in their order, indexed by view. Of the tests ``alignment`` (centered alignment
        with the target, or with what the other views leave of it), ``p_value``, ``q_value`` (adjusted for the
        number of views) and ``selected``; of stability selection ``share`` (of the half samples that choose
        the view) and ``selected``.
    selected : list of str
        The views that were selected, in the order of the table.
    level : float
        The false discovery rate of the tests; for stability selection the bound on the expected number of
        false selections.
    threshold : float or None
        For stability selection, the share of half samples that have to choose a view.
    null : str
        What the error rate is about: the null hypothesis.
    guarantee : str
        The error rate in words.
    answer : str
        What was found, in a sentence.
    """

    method: str
    table: pd.DataFrame = field(repr=False)
    level: float
    null: str = field(repr=False)
    guarantee: str = field(repr=False)
    threshold: float | None = None

    _picture = staticmethod(pictures.selection)

    @property
    def selected(self) -> list[str]:
        """The views that were selected."""
        return [str(name) for name in self.table.index[self.table["selected"]]]

    @property
    def answer(self) -> str:
        """What was found, in a sentence."""
        n, names = len(self.table), self._first()
        if not names:
            return f"None of {n} views was selected. {self.guarantee}"
        n_more = len(self.selected) - _TOLD
        found = f"{', '.join(names)} and {n_more} more" if n_more > 0 else listed(names)
        are = "are" if len(self.selected) > 1 else "is"
        return f"{len(self.selected)} of {n} views {are} selected: {found}. {self.guarantee}"

    def _first(self) -> list[str]:
        ordered = self._by_evidence()
        return [str(name) for name in ordered.index[ordered["selected"]][:_TOLD]]

    def _by_evidence(self) -> pd.DataFrame:
        column = "share" if self.method == STABILITY else "p_value"
        return self.table.sort_values(column, ascending=self.method != STABILITY, kind="stable")

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain numbers and texts, which JSON can hold.

        Returns
        -------
        dict
            ``method``, ``level``, ``threshold``, ``null``, ``guarantee``, ``answer`` and ``rows``, a dict for
            each view.
        """
        rows = self.table.reset_index().to_dict("records")
        own = {name: getattr(self, name) for name in ("method", "level", "threshold", "null", "guarantee")}
        return plain_tree({**own, "answer": self.answer, "rows": rows})

    def _shown(self) -> pd.DataFrame:
        return self._by_evidence()


# ------------------------------------------------------------------ entry point
def select_views(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    method: str = MARGINAL,
    level: float = 0.1,
    correction: str | None = None,
    groups: Any = None,
    n_permutations: int | None = None,
    max_false: float = 1.0,
    threshold: float = 0.75,
    n_pairs: int = 50,
    bound: str = R_CONCAVE,
    random_state: Any = None,
) -> ViewSelection:
    """Select the views that matter, with a stated error rate.

    Weights alone say what a model uses: views of noise have some too. Here a view is selected if there is
    evidence that it has to do with the target. All samples may be used: nothing is judged on them but this.

    Parameters
    ----------
    estimator : estimator with kernels, or kernels
        Of the estimator its ``kernels`` are taken; for ``method="stability"`` also what it learns from half
        of the samples. It is not fitted itself. Kernels are as everywhere: "precomputed", a list of kernels
        or views, a dict, a KernelBank.
    X, y : as for its ``fit``
        Labels are classes; numbers that are no whole numbers, or targets of a regressor, are values.
    method : {"marginal", "conditional", "stability"}, default="marginal"
        - "marginal": a permutation test of each view by itself. Null hypothesis: the view and the target are
          independent.
        - "conditional": a permutation test of what the view says beside the other views: of the residuals of
          a kernel ridge regression of the target on them. Null hypothesis: the view is independent of the
          target and the other views together.
        - "stability": stability selection, by the weights that the estimator learns on halves of the samples;
          where kernels were given, by their centered alignment with the target.
    level : float in (0, 1), default=0.1
        Of the tests: the false discovery rate, the expected share of false ones among the selected views.
    correction : {"bh", "by"}, default=None
        Of the tests: Benjamini and Hochberg ("bh": valid for independent or positively dependent tests) or
        Benjamini and Yekutieli ("by": for any dependence; less powerful). None is "bh" of "marginal" and "by"
        of "conditional", whose tests share what the views say together.
    groups : array-like of shape (n_samples,), default=None
        Samples that belong together, such as those of one patient. Where the target is the same for all
        samples of each group, the groups take the place of the samples, each with the mean of what its
        samples say. Else targets are permuted within groups, and halves hold whole groups.
    n_permutations : int, default=None
        Of the tests: how many permutations are drawn at most; None is 20 for each view divided by `level`,
        999 at least. Few views need all of them: drawing ends when 20 had a statistic as large.
    max_false : float, default=1.0
        Of stability selection: the bound on the expected number of views that are selected falsely.
    threshold : float in (0.5, 1], default=0.75
        Of stability selection: the share of half samples that have to choose a view.
    n_pairs : int, default=50
        Of stability selection: how many pairs of complementary halves.
    bound : {"r_concave", "unimodal", "worst"}, default="r_concave"
        Of stability selection: what is assumed of the distribution of the shares of views without a say, as
        in Shah and Samworth (2013). The weaker the assumption, the fewer views are selected.

        - "r_concave": both shares, of halves and of pairs of halves, are r-concave (−¼ and −½): unimodal,
          with tails that fall no slower than a power;
        - "unimodal": the share of the pairs of halves is unimodal;
        - "worst": nothing.
    random_state : int or RandomState, default=None
        Draws permutations and halves; None always means the same ones.

    Returns
    -------
    ViewSelection

    Notes
    -----
    The statistic of a test is the numerator of the centered alignment of the kernel with the target (HSIC
    with a linear kernel of the target); of classes with indicators, each over the root of its share. The
    permutation test of "marginal" is exact: under the null hypothesis the p-value is at most u with a
    probability of at most u, for any kernel and any number of samples. So is that of "conditional", because
    the residuals read the target and the other views alone. Where a view is correlated with other views but
    tells nothing beside them, that null hypothesis does not hold; the test is then approximate, as far as
    the regression on the other views finds what they say.

    In stability selection a half sample chooses the q views of largest weight or alignment, with the
    largest q whose bound on false selections is at most `max_false`. False selections are views that half
    samples choose no more often than a choice of q views at random would. Fits to halves have the tolerance
    0.01.

    Of samples that lack a view the kernel is completed as the bank says; which samples lack it is then part
    of what the view says.

    Samples have to be independent of each other, or groups of them, which `groups` names: without it, several
    samples of one patient make every view of the patient look as if it mattered.

    References
    ----------
    Y. Benjamini and Y. Hochberg (1995). Controlling the false discovery rate. JRSS B 57, 289-300.

    J. Besag and P. Clifford (1991). Sequential Monte Carlo p-values. Biometrika 78, 301-304.

    N. Meinshausen and P. Bühlmann (2010). Stability selection. JRSS B 72, 417-473.

    R. Shah and R. Samworth (2013). Variable selection with error control: another look at stability
    selection. JRSS B 75, 55-80.

    Examples
    --------
    >>> from multikernel import MKLClassifier, View
    >>> from multikernel.kernels import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 20))
    >>> y = X[:, 0] + X[:, 3] ** 2 > 1
    >>> views = [View(f"view{k}", Gaussian(), [2 * k, 2 * k + 1]) for k in range(10)]
    >>> found = select_views(views, X, y, random_state=0)
    >>> found.selected
    ['view0', 'view1']
    """
    check_choice("method", method, METHODS)
    names, Ks, machine = _read(estimator, X, y)
    y = check_targets(y, Ks.shape[1])
    classes = _has_classes(machine, y)
    if len(np.unique(y)) < 2:
        raise ValueError(f"y must hold two different values at least; all {len(y)} are equal.")
    numbers = group_numbers(groups, len(y))
    if numbers is not None and is_constant(y, numbers):
        (Ks, y), numbers = of_groups(Ks, y, numbers), None
    if method == STABILITY:
        options = (max_false, threshold, n_pairs, bound)
        rate = _alignments_on(Ks, y, classes) if machine is None else _weights_on(machine, Ks, y)
        units = (y if classes else None, numbers, len(y))
        return _by_stability(rate, names, units, options, random_state)
    level = check_number("level", level, above=0.0, below=1.0)
    if correction is None:
        correction = BY if method == CONDITIONAL else BH
    check_choice("correction", correction, tuple(CORRECTIONS))
    if n_permutations is None:
        n_permutations = max(_FEWEST, int(np.ceil(_PER_VIEW * len(names) / level)))
    n_permutations = check_positive_integer("n_permutations", n_permutations)
    targets = within_groups(target_columns(y, classes=classes), numbers)
    if not targets.any():
        raise ValueError("y must differ within some of the groups, or be the same within all of them.")
    seed = random_source(0 if random_state is None else random_state).randint(2**31)
    permutations = Permutations(len(y), n_permutations, seed, numbers)
    return _by_tests(method, names, Ks, targets, (level, correction), permutations)


# ------------------------------------------------------------------ input
def _read(estimator: Any, X: Any, y: Any) -> tuple[list[str], Array, Any]:
    """Names and Gram matrices (n_kernels, n, n) of the views; the estimator where one was given."""
    machine = estimator if isinstance(estimator, KernelEstimator) else None
    if machine is None and hasattr(estimator, "fit") and hasattr(estimator, "predict"):
        raise TypeError(
            "estimator must be an estimator on kernels, such as MKLClassifier, or its kernels; got "
            f"{type(estimator).__name__}. Of a pipeline or a search take the last step, and the X that "
            "reaches it."
        )
    kernels = estimator if machine is None else machine.kernels
    return (*gram_stack(kernels, X, y), machine)


def gram_stack(kernels: Any, X: Any, y: Any) -> tuple[list[str], Array]:
    """Names and Gram matrices, (n_kernels, n, n), of the samples of `y` for a ``kernels=`` argument."""
    given = storage_of(kernels)
    fill = FILL_OF.get(given.missing)
    bank = make_bank(given, gram="dense", fill=fill)
    table = as_stack(X, at_fit=True) if is_precomputed(given) else as_tables(X)
    require_same_samples(table, y, precomputed=is_precomputed(given))
    Ks = np.asarray(bank.fit_stack(table), dtype=np.float64)
    named = names_of(table) if is_precomputed(given) else None
    return [str(name) for name in named or bank.view_names_], Ks


def check_targets(y: Any, n: int) -> Array:
    values = np.asarray(y)
    if values.dtype == object and pd.isna(values).any():
        raise ValueError(f"y must have no gaps; got {values[pd.isna(values)][0]!r}.")
    if values.shape not in ((n,), (n, 1)):
        raise ValueError(
            f"y must have one label or value for each of the {n} samples of X; got shape {values.shape}."
        )
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values.ravel()))[0])
        raise ValueError(f"y must be finite; got {values.ravel()[row]} in row {row}.")
    return values.ravel()


def _has_classes(machine: Any, y: Array) -> bool:
    if machine is not None and (is_classifier(machine) or is_regressor(machine)):
        return bool(is_classifier(machine))
    return type_of_target(y) in ("binary", "multiclass")


# ------------------------------------------------------------------ permutation tests
def _by_tests(
    method: str, names: list[str], Ks: Array, Y: Array, rate: tuple[float, str], permutations: Permutations
) -> ViewSelection:
    grams = np.stack([centered(K) for K in Ks])
    targets = residual_targets(grams, Y) if method == CONDITIONAL else [Y] * len(grams)
    targets = [within_groups(target, permutations.numbers) for target in targets]
    rows = []
    for K, target in zip(grams, targets, strict=True):
        statistic, p = permutation_test(K, target, permutations, enough=_ENOUGH)
        size = np.linalg.norm(K) * np.linalg.norm(target.T @ target)
        rows.append((statistic / size if size > 0.0 else 0.0, p))
    table = pd.DataFrame(rows, columns=["alignment", "p_value"], index=pd.Index(names, name="view"))
    level, correction = rate
    table["q_value"] = false_discovery_control(table["p_value"], method=correction)
    table["selected"] = table["q_value"] <= level
    if method == MARGINAL:
        null = "the view and the target are independent"
    else:
        null = "the view is independent of the target and the other views together"
    guarantee = (
        f"The expected share of false ones among them is at most {level:.0%} ({CORRECTIONS[correction]}); "
        f"false means that {null}."
    )
    return ViewSelection(method, table, level, null, guarantee)


# ------------------------------------------------------------------ stability selection
def _by_stability(
    rate: Callable[[Array], Array], names: list[str], units: tuple[Array | None, Array | None, int],
    options: tuple[float, float, int, str], random_state: Any,
) -> ViewSelection:  # fmt: skip
    codes, numbers, n = units
    max_false, threshold, n_pairs, bound = options
    max_false = check_number("max_false", max_false, above=0.0)
    threshold = check_number("threshold", threshold, above=0.5)
    if threshold > 1.0:
        raise ValueError(
            f"threshold must be at most 1; got {threshold:g}. It is a share of the half samples."
        )
    n_pairs = check_positive_integer("n_pairs", n_pairs)
    check_choice("bound", bound, BOUNDS)
    most = most_chosen(len(names), max_false, threshold, n_pairs, bound)
    if not most:
        least = expected_false(len(names), 1.0, threshold, n_pairs, bound)
        raise ValueError(
            f"max_false must be at least {least:.3g} for {len(names)} views at threshold={threshold:g}, "
            f"where a half sample chooses one view; got {max_false:g}. Raise max_false or threshold, or use "
            'method="marginal".'
        )
    fewest = n if codes is None else int(np.unique(codes, return_counts=True)[1].min())
    if fewest < _FEWEST_OF_CLASS:
        what = "samples" if codes is None else "samples of each class"
        raise ValueError(f"stability selection needs at least {_FEWEST_OF_CLASS} {what}; got {fewest}.")
    rng = random_source(0 if random_state is None else random_state)
    halves = half_samples(codes, n, n_pairs, rng) if numbers is None else half_groups(numbers, n_pairs, rng)
    shares, average = shares_chosen(halves, rate, len(names), most)
    table = pd.DataFrame({"share": shares}, index=pd.Index(names, name="view"))
    table["selected"] = table["share"] >= threshold
    false = expected_false(len(names), average, threshold, n_pairs, bound)
    null = f"half samples choose the view no more often than a choice of {average:.3g} views at random would"
    shape = {R_CONCAVE: " if their shares have an r-concave distribution",
             UNIMODAL: " if their shares have a unimodal distribution", WORST: ""}[bound]  # fmt: skip
    said = f"The expected number of false ones among them is at most {false:.2g}{shape}"
    guarantee = f"{said}; false means that {null}."
    return ViewSelection(STABILITY, table, false, null, guarantee, threshold)


def _alignments_on(Ks: Array, y: Array, classes: bool) -> Callable[[Array], Array]:
    """The centered alignments of the views with the target, up to a factor, on some of the samples."""

    def alignments(rows: Array) -> Array:
        Y, n = target_columns(y[rows], classes=classes), rows.size
        part = Ks[:, rows[:, None], rows]
        values = np.einsum("ic,mij,jc->m", Y, part, Y, optimize=True)
        sums = part.sum(axis=2)
        # ‖HKH‖² = ‖K‖² − 2 ‖K1‖² / n + (1'K1)² / n²
        squares = np.einsum("mij,mij->m", part, part) - 2.0 / n * np.einsum("mi,mi->m", sums, sums)
        squares += (sums.sum(axis=1) / n) ** 2
        return np.asarray(values / np.sqrt(np.maximum(squares, _TINY)))

    return alignments


def quiet_settings(machine: Any, tol: float) -> dict[str, Any]:
    """Parameters of fits whose weights alone are looked at: silent, no probabilities, a coarse ``tol``."""
    known = machine.get_params(deep=False)
    quiet = {"callback": None, "verbose": 0, "probability": False, "tol": max(known.get("tol", 0.0), tol)}
    return {name: value for name, value in quiet.items() if name in known}


def _weights_on(machine: Any, Ks: Array, y: Array) -> Callable[[Array], Array]:
    """The weights of the views that a copy of the estimator learns on some of the samples."""
    settings = quiet_settings(machine, _TOL)

    def weights(rows: Array) -> Array:
        model = clone(machine).set_params(kernels="precomputed", **settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KernelWarning)  # halves are small; the whole is not fitted
            model.fit(np.moveaxis(Ks[:, rows[:, None], rows], 0, 2), y[rows])
        found = getattr(model, "kernel_weights_", None)
        if found is None:
            raise TypeError(
                f"estimator must learn kernel weights; {type(model).__name__} has no kernel_weights_."
            )
        return np.abs(np.asarray(found, dtype=np.float64))

    return weights

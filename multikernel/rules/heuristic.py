"""Weights from a figure of each kernel by itself.

The figure is the alignment with the targets, or how well a machine on the kernel alone predicts samples that
it has not seen: its accuracy, its squared error, or the correlation of its predictions with the values.
"""

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone

from .._typing import Array
from .._validation import check_number, warn_caller
from ..core.alignment import align_stack
from ..core.folds import Split, list_splits, make_folds
from ..core.stack.sums import kernel_scales
from .learner import About, Learned, WeightLearner
from .machines import machine_for
from .targets import Targets, unit_ideal


@dataclass(eq=False, repr=False)
class AlignmentRule(WeightLearner):
    """η_m = A_m / Σ_h A_h,   K = Σ_m η_m K_m / s_m

    A_m = ⟨K_m, TT'⟩ / (‖K_m‖ ‖TT'‖), the alignment with the ideal kernel: yy' for two classes and for
    values, 1 within and −1/(k−1) between k classes. s_m: the mean diagonal of K_m. If no A_m is positive,
    the weights are equal, with a warning. (:class:`CenteredAlignment` with ``"independent"`` is the same
    idea, centred, and with kernels of Frobenius norm 1.)

    Parameters
    ----------
    centered : bool, default=False
        Whether kernels and TT' are centred before they are compared.
    normalize : bool, default=True
        False: s_m = 1 in K.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        Η_m / s_m, of the kernels as they are.
    kernel_shares_ : array of shape (n_kernels,)
        The parts of tr K: η_m, unless ``normalize=False``.
    alignments_ : array of shape (n_kernels,)
        A_m.

    Examples
    --------
    >>> y = np.array([1, 1, -1, -1])
    >>> learner = AlignmentRule().fit([np.outer(y, y), np.eye(4)], y)
    >>> learner.alignments_, learner.kernel_weights_.round(3)
    (array([1. , 0.5]), array([0.667, 0.333]))
    """

    about = About(
        family="heuristic",
        problem="η_m s_m ∝ A(K_m, TT'), s_m the mean diagonal of K_m",
        solver="closed form",
        cost="one pass over the stack (two if centered), P² n²",
        use="Fast, without an inner model or parameters; every kernel keeps some weight.",
        reference="Qiu & Lane 2009",
    )

    centered: bool = False
    _: KW_ONLY
    normalize: bool = True

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        scales = kernel_scales(Ks, self.view_names_)
        self.alignments_ = align_stack(Ks, unit_ideal(targets), centered=bool(self.centered)).target
        shares = shares_of(self.alignments_, "is aligned with the targets")
        return Learned(shares / scales if self.normalize else shares)


@dataclass(eq=False, repr=False)
class AccuracyRule(WeightLearner):
    """η_m = (acc_m − δ) / Σ_h (acc_h − δ),   K = Σ_m η_m K_m / s_m

    acc_m: the share of held-out samples that ``machine`` on kernel m alone classifies correctly; δ: a
    threshold; s_m: the mean diagonal of K_m, so that every fit has a kernel of mean diagonal 1.

    The rule is defined for δ ≤ min_m acc_m. Beyond that, as our extension, kernels at or below δ get weight
    0; if all are, the weights are equal, with a warning.

    Parameters
    ----------
    threshold : float in [0, 1), default=None
        δ; default: the share of the largest class, which is what a guess achieves.
    machine : classifier on a precomputed kernel, default=None
        Default ``SVC(kernel="precomputed")``.
    cv : int, splitter or iterable of splits, default=5
        A number: stratified folds without shuffling, at most as many as the smallest class has samples.
    normalize : bool, default=True
        False: s_m = 1 in K; ``machine`` is still fitted on scaled kernels.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        Η_m / s_m, of the kernels as they are.
    kernel_shares_ : array of shape (n_kernels,)
        The parts of tr K: η_m, unless ``normalize=False``.
    accuracies_ : array of shape (n_kernels,)
        Acc_m.
    threshold_ : float, δ

    Examples
    --------
    >>> x, y = np.array([-2.0, -1.0, -1.5, 1.0, 2.0, 1.5]), np.array([0, 0, 0, 1, 1, 1])
    >>> learner = AccuracyRule(cv=3).fit({"x": np.outer(x, x), "same": np.eye(6)}, y)
    >>> float(learner.accuracies_[0]), learner.kernel_shares_
    (1.0, array([1., 0.]))
    """

    learns_from = ("classification",)
    about = About(
        family="heuristic",
        problem="η_m s_m ∝ acc_m − δ, acc_m the cross-validated accuracy, s_m the mean diagonal of K_m",
        solver="none: P × folds fits",
        cost="P × folds fits of the inner classifier, n² to n³ each; one fold of one kernel in memory",
        use="A fast rule for classification where a fit on one kernel is fast.",
        reference="Tanabe, Ho, Nguyen & Kawasaki 2008",
    )

    threshold: float | None = None
    machine: Any = None
    cv: Any = 5
    _: KW_ONLY
    normalize: bool = True

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        self.threshold_ = self._level(targets)
        scales = kernel_scales(Ks, self.view_names_)
        held_out = HeldOut(self.machine, self.cv, targets)
        right = [held_out.predict(K, s) == held_out.truth for K, s in zip(Ks, scales, strict=True)]
        self.accuracies_ = np.mean(right, axis=1)
        shares = shares_of(
            self.accuracies_ - self.threshold_, f"is right more often than {self.threshold_:.3g}"
        )
        return Learned(shares / scales if self.normalize else shares)

    def _level(self, targets: Targets) -> float:
        if self.threshold is None:
            return float(np.bincount(targets.codes).max()) / targets.n
        level = check_number("threshold", self.threshold, at_least=0.0)
        if not level < 1.0:
            raise ValueError(f"threshold must be below 1, as accuracies are; got {self.threshold!r}.")
        return level


@dataclass(eq=False, repr=False)
class RegressionRule(WeightLearner):
    """Weights from what a regressor on each kernel alone predicts for held-out samples."""

    learns_from = ("regression",)

    machine: Any = None
    cv: Any = 5
    _: KW_ONLY
    normalize: bool = True

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        scales = kernel_scales(Ks, self.view_names_)
        held_out = HeldOut(self.machine, self.cv, targets)
        guesses = [held_out.predict(K, s) for K, s in zip(Ks, scales, strict=True)]
        shares = self._judge(guesses, held_out.truth, targets)
        return Learned(shares / scales if self.normalize else shares)

    def _judge(self, guesses: list[Array], truth: Array, targets: Targets) -> Array:
        """The shares of the kernels, of sum 1, from their predictions (n_held_out, n_outputs)."""
        raise NotImplementedError


class MSERule(RegressionRule):
    """η_m = (Σ_h M_h − M_m) / ((P − 1) Σ_h M_h),   K = Σ_m η_m K_m / s_m

    M_m: the mean squared error, for held-out samples, of ``machine`` on kernel m alone, relative to the
    variance of the values (a common factor, which the rule does not see); of several outputs, the mean. P:
    the number of kernels; s_m: the mean diagonal of K_m, so that every fit has a kernel of mean diagonal 1.
    One kernel gets weight 1; errors that are all 0 give equal weights. No weight is above 1/(P − 1): of many
    kernels all weights are nearly equal.

    Parameters
    ----------
    machine : regressor on a precomputed kernel, default=None
        Default ``KernelRidge(kernel="precomputed")``; it sees values whose mean is taken away.
    cv : int, splitter or iterable of splits, default=5
        A number: folds shuffled in the same way each time.
    normalize : bool, default=True
        False: s_m = 1 in K; ``machine`` is still fitted on scaled kernels.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        Η_m / s_m, of the kernels as they are.
    kernel_shares_ : array of shape (n_kernels,)
        The parts of tr K: η_m, unless ``normalize=False``.
    errors_ : array of shape (n_kernels,)
        M_m.

    Examples
    --------
    >>> x, z = np.linspace(-1.0, 1.0, 20), np.tile([1.0, -1.0], 10)
    >>> learner = MSERule().fit([np.outer(x, x), np.outer(z, z)], x + 0.1 * z)
    >>> bool(learner.errors_[0] < 0.1), bool(learner.kernel_shares_[0] > 0.9)
    (True, True)
    """

    about = About(
        family="heuristic",
        problem="η_m s_m ∝ ΣM − M_m, M_m the cross-validated squared error, s_m the mean diagonal of K_m",
        solver="none: P × folds fits",
        cost="P × folds fits of the inner regressor, n³ each; one fold of one kernel in memory",
        use="A fast rule for regression with few kernels; with many, it is nearly the mean.",
        reference="Qiu & Lane 2009",
    )

    def _judge(self, guesses: list[Array], truth: Array, targets: Targets) -> Array:
        spread = targets.values.std(axis=0)
        units = np.where(spread > 0.0, spread, 1.0)
        self.errors_ = errors = np.array([np.mean(((guess - truth) / units) ** 2) for guess in guesses])
        total = float(errors.sum())
        if errors.size == 1 or not total > 0.0:
            return np.full(errors.size, 1.0 / errors.size)
        return np.asarray((total - errors) / ((errors.size - 1) * total))


class PearsonRule(RegressionRule):
    """η_m = R_m / Σ_h R_h,   K = Σ_m η_m K_m / s_m

    R_m: Pearson's correlation of the values with what ``machine`` on kernel m alone predicts for held-out
    samples, over all folds together; negative ones count as 0. s_m: the mean diagonal of K_m, so that every
    fit has a kernel of mean diagonal 1. Of several outputs R_m is the mean. If no R_m is positive, the
    weights are equal, with a warning.

    Parameters
    ----------
    machine : regressor on a precomputed kernel, default=None
        Default ``KernelRidge(kernel="precomputed")``; it sees values whose mean is taken away. Weights by it
        do not depend on the units of the values, as those of an SVR with its ε do.
    cv : int, cross-validation generator or iterable of splits, default=5
        As for :class:`MSERule`.
    normalize : bool, default=True
        As for :class:`MSERule`.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        Η_m / s_m, of the kernels as they are.
    kernel_shares_ : array of shape (n_kernels,)
        The parts of tr K: η_m, unless ``normalize=False``.
    correlations_ : array of shape (n_kernels,)
        R_m.

    Examples
    --------
    >>> x, z = np.linspace(-1.0, 1.0, 20), np.tile([1.0, -1.0], 10)
    >>> learner = PearsonRule().fit([np.outer(x, x), np.outer(z, z)], x + 0.1 * z)
    >>> bool(learner.correlations_[0] > 0.9), bool(learner.kernel_shares_[0] > 0.8)
    (True, True)
    """

    about = About(
        family="heuristic",
        problem="η_m s_m ∝ max(R_m, 0), R_m the correlation of its predictions, s_m its mean diagonal",
        solver="none: P × folds fits",
        cost="P × folds fits of the inner regressor, n³ each; one fold of one kernel in memory",
        use="A fast rule for regression where the order matters more than the error.",
        reference="Qiu & Lane 2009",
    )

    def _judge(self, guesses: list[Array], truth: Array, targets: Targets) -> Array:
        self.correlations_ = np.array([_correlations(truth, guess).mean() for guess in guesses])
        return shares_of(self.correlations_, "predicts values that rise with the true ones")


def _correlations(truth: Array, guess: Array) -> Array:
    """Pearson's, column by column; 0 where a column is constant."""
    truth, guess = truth - truth.mean(axis=0), guess - guess.mean(axis=0)
    sizes = np.linalg.norm(truth, axis=0) * np.linalg.norm(guess, axis=0)
    return np.asarray((truth * guess).sum(axis=0) / np.where(sizes > 0.0, sizes, 1.0))


class HeldOut:
    """Cross-validated predictions and scores of copies of a machine on one kernel after the other.

    ``truth`` holds labels (n_held_out,), or values (n_held_out, n_outputs), fold after fold.
    """

    def __init__(self, machine: Any, cv: Any, targets: Targets) -> None:
        self.machine, self.is_class = machine_for(targets.task, machine), targets.task == "classification"
        self._y = targets.labels if self.is_class else targets.values
        self._splits = _splits(cv, targets)
        self.truth = self._y[np.concatenate([test for _, test in self._splits])]

    def predict(self, K: Array, scale: float) -> Array:
        """Predictions from K / scale, of the shape of ``truth``."""
        found = [model.predict(rows) for model, rows, _ in self._folds(K, scale)]
        return np.concatenate(found).reshape(self.truth.shape)

    def score(self, K: Array, scale: float, scorer: Callable[..., float]) -> float:
        """The mean over the folds of scorer(machine, held-out rows of K / scale, their truth)."""
        return float(np.mean([scorer(*fold) for fold in self._folds(K, scale)]))

    def _folds(self, K: Array, scale: float) -> Iterator[tuple[Any, Array, Array]]:
        """Of each fold the fitted machine, the held-out rows of the kernel (n_test, n_train), their truth."""
        y = self._y[:, 0] if self._y.ndim == 2 and self._y.shape[1] == 1 else self._y
        machine, factor = clone(self.machine), np.float64(scale)
        for train, test in self._splits:  # each fit forgets the one before
            model = machine if self.is_class else _AroundMean(machine)
            own, rows = K[np.ix_(train, train)], K[np.ix_(test, train)]
            model.fit(own if factor == 1.0 else own / factor, y[train])
            yield model, rows if factor == 1.0 else rows / factor, y[test]


def _splits(cv: Any, targets: Targets) -> list[Split]:
    """The folds of a learner, the same on every call."""
    is_class = targets.task == "classification"
    y = targets.labels if is_class else targets.values[:, 0]
    if isinstance(cv, bool | int | np.integer):
        # values are shuffled: where they ascend, folds in their order would leave out a range each
        remedy = "Add samples, leave the class out, or use AlignmentRule()."
        splits = make_folds(y, cv, classifier=is_class, shuffle=not is_class, remedy=remedy)
    else:
        splits = list_splits(cv, np.empty((targets.n, 0)), y, classifier=is_class)
    for train, test in splits:
        if not train.size or not test.size:
            raise ValueError("every fold of cv must hold training and validation samples; one has none.")
        if is_class and np.ptp(targets.codes[train]) == 0:
            raise ValueError("a training part of cv holds one class only. Use stratified folds: cv=5.")
    return splits


class _AroundMean(RegressorMixin, BaseEstimator):
    """A machine on values less their mean: kernel ridge regression has no intercept of its own."""

    def __init__(self, machine: Any) -> None:
        self.machine = machine

    def fit(self, K: Array, y: Array) -> "_AroundMean":
        self.mean_ = y.mean(axis=0)
        self.machine.fit(K, y - self.mean_)
        return self

    def predict(self, K: Array) -> Array:
        return np.asarray(self.machine.predict(K)) + self.mean_


def shares_of(scores: Array, what: str) -> Array:
    """Scores cut at zero, scaled to sum 1; equal shares, with a warning, where none is positive."""
    kept = np.maximum(scores, 0.0)
    if kept.sum() > 0.0:
        return np.asarray(kept / kept.sum())
    warn_caller(f"no kernel by itself {what}: all get the same weight. Check the kernels and the machine.")
    return np.full(scores.size, 1.0 / scores.size)

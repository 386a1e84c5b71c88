"""Classification and regression by a few columns of many kernels."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from .._typing import Array
from .._validation import check_choice, check_number, check_positive_integer
from ..core.about import About
from ..core.callbacks import progress_of
from ..core.decisions import MachineClassifier, binary_problems, calibrate
from ..core.estimator import KernelEstimator, require_finite, worst_status
from ..core.fitted import ColumnKernels, FittedKernels
from ..core.inputs import (
    Samples,
    check_sample_weights,
    check_targets,
    encode_labels,
    price_samples,
    require_two_classes,
    weigh_samples,
)
from ..core.optim.loop import Options, Status
from ..core.svm.losses import EpsilonInsensitive, Hinge
from ..views import make_bank
from .solver.columns import Columns, ColumnsResult, boost_columns
from .solver.generation import generate_columns

METHODS = ("lp", "qp", "mark")
_MARK_COLUMNS = 100
_LARGEST = 1e150  # of targets


class ColumnMachine(KernelEstimator):
    """Parameters and methods common to classifiers and regressors on columns of kernels."""

    about = About(
        family="boosting",
        problem="f = Σ α_mj K_m(·, x_j) + b: min Σ s|α| or ½Σ(sα)² + C Σ loss, s the column's root mean "
        "square (normalize) or 1; MARK: ridge on few columns",
        solver="interior point on all columns, column generation with max_columns, duality gap; MARK: greedy",
        cost="LP: P n³ a step; QP: P n³ once and n³ a step; MARK: P n² a round",
        use="Few columns to evaluate at prediction; kernels may differ between samples.",
        reference="Bennett, Momma & Embrechts 2002; Bi, Zhang & Bennett 2004",
    )
    _adds_kernels = True
    coef_: Array
    method: str
    C: float
    max_columns: int | None
    normalize: bool
    verbose: int

    @property
    def certificate(self) -> str:
        """What ``dual_gap_`` certifies: "optimality" of the program, or "stationarity" of MARK."""
        return "stationarity" if self.method == "mark" else "optimality"

    # ------------------------------------------------------------------ fit
    def _check_parameters(self) -> float:
        """C, after all checks."""
        self._check_numerics()
        check_choice("method", self.method, METHODS)
        if self.max_columns is not None:
            check_positive_integer("max_columns", self.max_columns)
        return check_number("C", self.C, above=0.0)

    def _fit_columns(self, X: Any, samples: Samples) -> Columns:
        """The columns of the kernels of the samples; the bank is kept for prediction."""
        self._check_storage()
        self._bank = make_bank(self.kernels)
        Ks = np.asarray(self._fit_stack(X, samples))
        self._tell_of_kernels(Ks, scaled=bool(self.normalize))
        return Columns(Ks, bool(self.normalize))

    def _solve(
        self, columns: Columns, loss: Hinge | EpsilonInsensitive, prices: Array, label: str
    ) -> ColumnsResult:
        """One machine."""
        progress = progress_of(self, label)
        options = Options(tol=self.tol, max_iter=self.max_iter, callback=progress)
        if self.method == "mark":
            most = _MARK_COLUMNS if self.max_columns is None else self.max_columns
            result = boost_columns(columns, loss.target, prices, max_columns=most, options=options)
        else:
            penalty = "l1" if self.method == "lp" else "l2"
            result = generate_columns(columns, loss, penalty, max_columns=self.max_columns, options=options)
        require_finite(result)
        return result

    def _store(self, results: Sequence[ColumnsResult], names: Sequence[str], samples: Samples) -> None:
        """Keep the columns in use, and what prediction needs of them."""
        n, P = samples.rows.size, len(self.view_names_)
        every = np.zeros((len(results), P, n))
        sizes = np.zeros((len(results), P))
        for k, result in enumerate(results):
            every[k].flat[result.numbers] = result.coefficients
            sizes[k] = np.bincount(result.numbers // n, result.sizes, P)
        kernels, kept = np.nonzero(every.any(axis=0))
        self.columns_ = np.column_stack([kernels, samples.rows[kept]])
        self.coef_ = every[:, kernels, kept]
        self.machine_names_ = list(names)
        self.machine_weights_ = sizes / np.maximum(sizes.sum(axis=1, keepdims=True), 1e-300)
        self.kernel_weights_ = self.machine_weights_.mean(axis=0)
        self.intercept_ = np.array([r.intercept for r in results])
        self.objective_ = float(sum(r.objective for r in results))
        self.dual_gap_ = float(max(r.gap for r in results))
        self.n_iter_ = max(1, max(r.n_iter for r in results))
        self.status_ = worst_status([r.status for r in results])
        self.history_ = [{**entry, "machine": k} for k, r in enumerate(results) for entry in r.history]
        kept = np.unique(kept)
        self.support_ = np.sort(samples.rows[kept])
        kept = kept if kept.size else np.array([0])  # a model without a column is its intercept
        active = np.unique(kernels) if kernels.size else np.array([0])
        coefficients = np.ascontiguousarray(every[:, :, kept])  # as a pickle keeps it
        bank = self._bank.restrict(samples.rows[kept] if self._precomputed else kept, active)
        self._fitted = FittedKernels([ColumnKernels(bank, coefficients)], self.machine_weights_.shape)
        del self._bank
        self._warn_unless_converged()

    def _warn_unless_converged(self) -> None:
        if self.method == "mark" and self.status_ == Status.MAX_COLUMNS:
            return  # the number of columns is its regularisation
        super()._warn_unless_converged()

    def _weight_columns(self) -> dict[str, Any]:
        counts = np.bincount(self.columns_[:, 0], minlength=len(self.view_names_))
        return {"weight": self.kernel_weights_, "n_columns": counts}


@dataclass(eq=False, repr=False)
class ColumnBoostingClassifier(MachineClassifier, ColumnMachine):
    r"""Classifier on single columns of kernels.

    Use it where predictions have to be fast, with few columns, or where different samples need different
    kernels. Kernels need not be positive semidefinite. For weights of whole kernels, use
    :class:`MKLClassifier`.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`MKLClassifier`.
    method : {"lp", "qp", "mark"}, default="lp"
        - "lp": l1 penalty, few columns.
        - "qp": l2 penalty, all columns, or at most ``max_columns``; ``dual_gap_`` is then the loss from the
          limit.
        - "mark": greedy; each round adds the column with the largest derivative of the loss and fits all
          coefficients again.
    C : float, default=1.0
        Penalty on margin violations, or on the loss.
    max_columns : int, default=None
        Maximum number of columns of each classifier or regressor. None: no limit for "lp" and "qp", 100 for
        "mark", which it regularizes.
    normalize : bool, default=True
        Whether the penalty is on columns of root mean square 1. Otherwise columns with large entries are
        penalized less.
    class_weight : dict or "balanced", default=None
        Multiplies C class by class.
    probability : bool, default=False
        Whether to calibrate ``predict_proba`` on five folds, which takes five more fits.
    tol : float, default=1e-3
        Relative duality gap to reach; for "mark", the largest derivative of the loss, relative to
        that of the first round.
    max_iter : int, default=1000
        Maximum number of solver steps ("lp", "qp"; with ``max_columns``, also rounds of new columns), or of
        rounds ("mark").
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.
    callback : callable, default=None
        As for :class:`MKLClassifier`.
    on_interrupt : {"raise", "keep"}, default="raise"
        As for :class:`MKLClassifier`.
    verbose : int, default=0
        As for :class:`MKLClassifier`.
    random_state : int, RandomState or None, default=None
        Of the folds of the calibration.

    Attributes
    ----------
    columns_ : array of shape (n_columns, 2), (kernel, sample) of each column in use
    coef_ : array of shape (n_machines, n_columns)
        Α.
    kernel_weights_ : array of shape (n_kernels,)
        The share of each kernel in Σ s_mj |α_mj|, their mean over classifiers; zero without a column.
    machine_weights_ : array of shape (n_machines, n_kernels)
    support_ : array of shape (n_support,)
        The samples of the columns.
    intercept_ : array of shape (n_machines,)
    objective_ : float, the value reached, summed over classifiers
    dual_gap_ : float
        The maximum over classifiers: no solution over all columns has a value below (1 − gap) times its
        value. For "mark" the relative derivative that is left.
    status_ : str
        "max_columns" where the limit ended it, which is no failure of "mark".
    n_iter_ : int
    history_ : list of dict
    view_names_ : list of str
    classes_ : array of shape (n_classes,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel.boosting import ColumnBoostingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ColumnBoostingClassifier().fit(X[::2], y[::2])
    >>> len(model.columns_) < 50, bool(model.dual_gap_ < 1e-3)
    (True, True)
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True

    Notes
    -----
    The model and the three problems are

    .. math::

        f(x) = b + \sum_{m,j} \alpha_{mj} K_m(x, x_j), \qquad a_{mj} = s_{mj}\, \alpha_{mj}

    lp:   :math:`\min \sum |a_{mj}| + C \sum_i \max(1 - y_i f(x_i), 0)`;
    qp:   :math:`\min \tfrac12 \sum a_{mj}^2 + C \sum_i \max(1 - y_i f(x_i), 0)`;
    mark: :math:`\min \tfrac12 \sum a_{mj}^2 + \tfrac C2 \sum_i (y_i - f(x_i))^2` on the columns so far.

    with kernels :math:`K_m`, samples :math:`x_j`, labels :math:`y_i = \pm 1`, and :math:`s_{mj}` the root
    mean square of the column :math:`K_m(x_i, x_j), i = 1 \dots n` (or 1). Every sample may have columns of
    some kernels and not of others: the kernel differs from place to place. The method does not need positive
    semidefinite kernels (they are checked all the same, see ``psd``), and predictions ask only for the
    kernels and samples in use.

    With several classes, one classifier for each against the rest. Equal rows with equal labels are one
    sample with the sum of their weights, and have one column.

    References
    ----------
    Bennett, Momma & Embrechts, MARK: a boosting algorithm for heterogeneous kernel models, KDD 2002.
    Bi, Zhang & Bennett, Column-generation boosting methods for mixture of kernels, KDD 2004.
    """

    _votes = False

    kernels: Any = "auto"
    _: KW_ONLY
    method: str = "lp"
    C: float = 1.0
    max_columns: int | None = None
    normalize: bool = True
    class_weight: Any = None
    probability: bool = False
    tol: float = 1e-3
    max_iter: int = 1000
    max_time: float | None = None
    callback: Callable[[dict[str, float]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ColumnBoostingClassifier":
        """Find the columns and their coefficients.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,) of labels
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C sample by sample.
        """
        C = self._check_parameters()
        table = self._validate_table(X, reset=True)
        self.classes_, codes = encode_labels(self, table, y)
        weights = weigh_samples(self.class_weight, self.classes_, codes, sample_weight)
        require_two_classes(self.classes_, codes[weights > 0])
        samples = self._distinct(table, codes, weights)
        columns = self._fit_columns(table, samples)
        prices = price_samples(C, samples.weights)
        problems = binary_problems(codes[samples.rows], self.classes_, "ovr")
        names = [problem.names[0] for problem in problems]
        labels = [""] if len(names) == 1 else [f"{name}: " for name in names]
        results = [
            self._solve(columns, Hinge(problem.signs[0], prices), prices, label)
            for problem, label in zip(problems, labels, strict=True)
        ]
        self._store(results, names, samples)
        self._calibration = calibrate(self, X, y, sample_weight)
        return self


@dataclass(eq=False, repr=False)
class ColumnBoostingRegressor(RegressorMixin, ColumnMachine):
    r"""Regressor on single columns of kernels.

    Use it where predictions have to be fast, with few columns, or where different samples need different
    kernels. For weights of whole kernels, use :class:`MKLRegressor`.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`ColumnBoostingClassifier`.
    method : {"lp", "qp", "mark"}, default="lp"
        As for :class:`ColumnBoostingClassifier`.
    C : float, default=1.0
        As for :class:`ColumnBoostingClassifier`.
    max_columns : int, default=None
        As for :class:`ColumnBoostingClassifier`.
    normalize : bool, default=True
        As for :class:`ColumnBoostingClassifier`.
    tol : float, default=1e-3
        As for :class:`ColumnBoostingClassifier`.
    max_iter : int, default=1000
        As for :class:`ColumnBoostingClassifier`.
    max_time : float, default=None
        As for :class:`ColumnBoostingClassifier`.
    callback : callable, default=None
        As for :class:`ColumnBoostingClassifier`.
    on_interrupt : {"raise", "keep"}, default="raise"
        As for :class:`ColumnBoostingClassifier`.
    verbose : int, default=0
        As for :class:`ColumnBoostingClassifier`.
    epsilon : float >= 0, default=0.1
        Errors below it are free ("lp" and "qp").

    Attributes
    ----------
    columns_, coef_, kernel_weights_, support_, intercept_, objective_, dual_gap_, status_, n_iter_, history_,
    view_names_
        As for :class:`ColumnBoostingClassifier`, with ``n_machines = 1``.

    Examples
    --------
    >>> from multikernel.boosting import ColumnBoostingRegressor
    >>> from multikernel.kernels import Gaussian, Linear
    >>> X = np.linspace(-3, 3, 60)[:, None]
    >>> y = np.sin(2 * X[:, 0]) + X[:, 0]
    >>> model = ColumnBoostingRegressor([Linear(), Gaussian()]).fit(X, y)
    >>> len(model.columns_) < 20, bool(model.score(X, y) > 0.95)
    (True, True)

    Notes
    -----
    The model and the three problems are

    .. math::

        f(x) = b + \sum_{m,j} \alpha_{mj} K_m(x, x_j), \qquad a_{mj} = s_{mj}\, \alpha_{mj}

    lp:   :math:`\min \sum |a_{mj}| + C \sum_i \max(|y_i - f(x_i)| - \epsilon, 0)`;
    qp:   :math:`\min \tfrac12 \sum a_{mj}^2 + C \sum_i \max(|y_i - f(x_i)| - \epsilon, 0)`;
    mark: :math:`\min \tfrac12 \sum a_{mj}^2 + \tfrac C2 \sum_i (y_i - f(x_i))^2` on the columns so far.

    with kernels :math:`K_m`, samples :math:`x_j`, values :math:`y_i`, and :math:`s_{mj}` the root mean square
    of the column :math:`K_m(x_i, x_j), i = 1 \dots n` (or 1).
    """

    kernels: Any = "auto"
    _: KW_ONLY
    method: str = "lp"
    C: float = 1.0
    epsilon: float = 0.1
    max_columns: int | None = None
    normalize: bool = True
    tol: float = 1e-3
    max_iter: int = 1000
    max_time: float | None = None
    callback: Callable[[dict[str, float]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ColumnBoostingRegressor":
        """Find the columns and their coefficients.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C sample by sample.
        """
        C = self._check_parameters()
        epsilon = check_number("epsilon", self.epsilon, at_least=0.0)
        X = self._validate_table(X, reset=True)
        targets = check_targets(self, X, y, multi_output=False)[:, 0]
        if np.abs(targets).max() > _LARGEST:
            raise ValueError(
                f"y must lie between -{_LARGEST:g} and {_LARGEST:g}: squares of it overflow. Divide it."
            )
        weights = check_sample_weights(sample_weight, targets.size)
        samples = self._distinct(X, targets, weights)
        columns = self._fit_columns(X, samples)
        prices = price_samples(C, samples.weights)
        values = targets[samples.rows]
        middle = float(np.median(values))  # the intercept absorbs it; the numbers stay small
        spread = float(np.abs(values - middle).max())
        if 0.0 < spread < 1.0 / _LARGEST:
            raise ValueError(
                f"y must differ from its median by {1.0 / _LARGEST:g} somewhere, or nowhere: squares of "
                f"smaller numbers vanish; got {spread:g}. Multiply it."
            )
        loss = EpsilonInsensitive(values - middle, prices, epsilon)
        self._store([self._solve(columns, loss, prices, "")], ["y"], samples)
        self.intercept_ = self.intercept_ + middle
        return self

    def predict(self, X: Any) -> Array:
        """Predicted values (n_samples,)."""
        return (self._scores(X) + self.intercept_)[:, 0]

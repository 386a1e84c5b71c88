"""Regression with learned kernel weights: support vector regression and kernel ridge regression."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from .._typing import Array
from .._validation import check_choice, check_number
from ..core.about import About
from ..core.decisions import Machines
from ..core.estimator import BaseMKL
from ..core.inputs import Samples, check_sample_weights, check_targets, price_samples, standard_deviation
from ..core.low_rank import BlockProblem, fit_factors, goes_low_rank, learn_on_factors, store_factors
from ..core.row_input import by_chunks, score_by_chunks, shifted_rows, valued_rows
from ..core.svm.losses import EpsilonInsensitive, SquaredError
from ..core.svm.primal import PrimalEpsilonInsensitive, PrimalSquaredError
from ..rows import is_dask
from .classifier import MKL
from .targets.by_view import lacks_values, score_by_view, score_observed
from .targets.each import TARGETS, fit_each, names_of_targets
from .vanished import warn_of_vanished
from .working_sets import Group, fit_working_sets, may_take_sets

RIDGE = About(
    family="ridge",
    problem="min Σ_k ½‖y_k − f_k‖² + ½α‖f_k‖² in the space of Σ μ_m K_m, μ ≥ 0, Σ (d_m² μ_m)^p ≤ 1",
    solver="Newton's method on the weights, one linear system for each value; duality gap",
    cost="n³/3 + P n² for each of about ten steps; memory 1.3 P n²",
    use="Regression with Gaussian noise, or several outputs with shared or separate kernel weights.",
    reference="Cortes, Mohri & Rostamizadeh 2009; Kloft et al. 2011",
)


_FREE_SHARE = 0.1  # of the standard deviation of y: errors that are free by default


class StackRegressor(RegressorMixin):
    """The steps on a Gram stack that regressors share; R² by chunks, where rows are in dask collections."""

    def _solve_stack(self: Any, Ks: Array, targets: Array, samples: Samples) -> Any:
        """Solve on a Gram stack and store; what was subtracted from the targets."""
        problem, middle = self._problem(targets, samples.weights)
        losses = self._losses(problem, samples.weights)
        self._store([self._solve_machines(Ks, problem.rows, problem.names, losses)], samples)
        return middle

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of the predictions, the mean over the outputs.

        Parameters
        ----------
        X, y : as for ``fit``
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        if is_dask(X):
            return score_by_chunks(self, X, y, sample_weight)
        return float(super().score(X, y, sample_weight))


@dataclass(eq=False, repr=False)
class MKLRegressor(StackRegressor, BaseMKL):
    r"""ε-support vector regression that learns the weights of its kernels.

    Use it for regression that ignores small errors and is robust to outliers among the targets. For several
    outputs, or for a faster fit, use :class:`MKLRidge`; to choose C and the norm, :class:`MKLRegressorCV`.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`MKLClassifier`.
    norm : float >= 1, default=1.0
        As for :class:`MKLClassifier`.
    costs : array of shape (n_kernels,) or dict of view name to cost, default=None
        As for :class:`MKLClassifier`.
    max_kernels : int, default=None
        As for :class:`MKLClassifier`.
    tol : float, default=1e-3
        As for :class:`MKLClassifier`.
    max_iter : int, default=300
        As for :class:`MKLClassifier`.
    max_time : float, default=None
        As for :class:`MKLClassifier`.
    callback : callable, default=None
        As for :class:`MKLClassifier`.
    on_interrupt : {"raise", "keep"}, default="raise"
        As for :class:`MKLClassifier`.
    verbose : int, default=0
        As for :class:`MKLClassifier`.
    random_state : int, RandomState or None, default=None
        As for :class:`MKLClassifier`.
    C : float or "auto", default="auto"
        Penalty on errors beyond epsilon. "auto" is the standard deviation of y: the model does then not
        depend on the unit of y.
    epsilon : float >= 0 or "auto", default="auto"
        Errors below it are free. "auto" is a tenth of the standard deviation of y.

    Attributes
    ----------
    C_, epsilon_ : float, the penalty and the width of this fit
    kernel_weights_, view_names_, dual_coef_, support_, coef_, gram_, memory_, approximation_, intercept_,
    total_cost_, objective_, dual_gap_, n_iter_, status_, history_
        As for :class:`MKLClassifier`, with ``n_machines = 1``.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import MKLRegressor
    >>> from multikernel.kernels import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(100, 2))
    >>> y = np.sin(X[:, 0])
    >>> model = MKLRegressor([("wave", Gaussian(), [0]), ("noise", Gaussian(), [1])], C=10.0).fit(X, y)
    >>> model.kernel_weights_.round(2).tolist()
    [1.0, 0.0]

    Notes
    -----
    It solves

    .. math::

        \min_{\mu \ge 0,\ \sum_m (d_m^2 \mu_m)^p \le 1}\ \max_{-C \le \beta \le C,\ 1'\beta = 0}\
        y'\beta - \epsilon \|\beta\|_1 - \tfrac12 \sum_m \mu_m\, \beta' K_m \beta

    with targets :math:`y`, dual variables :math:`\beta`, kernels :math:`K_m`, weights :math:`\mu`, costs
    :math:`d_m`.
    """

    about = MKL
    _answers_chunks = True
    _has_factors = True

    kernels: Any = "auto"
    _: KW_ONLY
    C: float | str = "auto"
    epsilon: float | str = "auto"
    norm: float = 1.0
    costs: Any = None
    max_kernels: Any = None
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None
    callback: Callable[[dict[str, float]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "MKLRegressor":
        """Learn the kernel weights and the regressor.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
            Or a dask array or dataframe, its rows in chunks.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C sample by sample.
        """
        self._check_penalty()
        on_factors = goes_low_rank(self, X)
        middle = self._fit_working_set(X, y, sample_weight) if may_take_sets(self, X) else None
        if middle is None:
            if on_factors:
                middle = self._fit_low_rank(X, y, sample_weight)
            else:
                X, targets, samples = self._samples(X, y, sample_weight)
                middle = self._solve_stack(self._fit_kernels(X, samples), targets, samples)
        self._settle(middle)
        self._warn_unless_converged()
        return self

    def _settle(self, middle: Any) -> None:
        """The intercept absorbs what was subtracted from the targets."""
        self.intercept_ = self.intercept_ + middle

    def _check_penalty(self) -> None:
        for name, bound in (("C", {"above": 0.0}), ("epsilon", {"at_least": 0.0})):
            value = getattr(self, name)
            if isinstance(value, str):
                check_choice(f"{name}, where it is not a number,", value, ("auto",))
            else:
                check_number(name, value, **bound)

    def _in_units(self, spread: float) -> None:
        """Penalty and width in numbers: "auto" is in units of the standard deviation of the targets."""
        spread = spread if 0.0 < spread < np.inf else 1.0
        self.C_ = spread if isinstance(self.C, str) else float(self.C)
        self.epsilon_ = _FREE_SHARE * spread if isinstance(self.epsilon, str) else float(self.epsilon)

    def _problem(self, targets: Array, weights: Array) -> tuple[Machines, Any]:
        """The machine of a Gram stack, and what was subtracted from the targets: the numbers stay small."""
        middle = float(np.median(targets))
        self._in_units(standard_deviation(targets, weights))
        return Machines(np.arange(targets.size), ["y"], [targets - middle]), middle

    def _losses(self, problem: Machines, weights: Array) -> list[EpsilonInsensitive]:
        prices = price_samples(self.C_ if isinstance(self.C, str) else float(self.C), weights)
        return [EpsilonInsensitive(target, prices, self.epsilon_) for target in problem.signs]

    def _samples(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Samples]:
        """The checked table, the targets of the distinct samples, and these."""
        X = self._validate_table(X, reset=True)
        targets = check_targets(self, X, y, multi_output=False)[:, 0]
        samples = self._distinct(X, targets, check_sample_weights(sample_weight, targets.size))
        return X, targets[samples.rows], samples

    def _fit_working_set(self, X: Any, y: Any, sample_weight: Any) -> float | None:
        """Solve on exact kernels of the rows that matter; None where these are too many."""
        X, y, samples = self._samples(X, y, sample_weight)
        self._in_units(standard_deviation(y, samples.weights))
        middle, prices, epsilon = float(np.median(y)), price_samples(self.C_, samples.weights), self.epsilon_

        def losses(places: Array) -> list[EpsilonInsensitive]:
            return [EpsilonInsensitive(y[places] - middle, prices[places], epsilon)]

        loss = PrimalEpsilonInsensitive(epsilon)
        group = Group(np.arange(y.size), ["y"], (y - middle)[:, None], prices, loss, losses, "")
        return middle if fit_working_sets(self, X, samples, [group]) else None

    def _fit_low_rank(self, X: Any, y: Any, sample_weight: Any) -> float:
        """Solve on factors; what was subtracted from the targets."""
        given = valued_rows(self, X, y, sample_weight, multi_output=False)
        factors = fit_factors(self, given)
        middle = np.median(factors.sample_targets, axis=0)
        assert given.spreads is not None  # these are rows with values
        self._in_units(float(given.spreads[0]))
        rows = factors.rows.derive(shifted_rows, middle, self.C_, keep=False)
        problem = BlockProblem(rows, PrimalEpsilonInsensitive(self.epsilon_), ["y"])
        store_factors(self, factors, [learn_on_factors(self, factors, problem)], [["y"]])
        warn_of_vanished(self, given, factors)
        return float(middle[0])

    @by_chunks
    def predict(self, X: Any) -> Array:
        """Predicted values (n_samples,)."""
        return (self._scores(X) + self.intercept_)[:, 0]


@dataclass(eq=False, repr=False)
class MKLRidge(MultiOutputMixin, StackRegressor, BaseMKL):
    r"""Kernel ridge regression that learns the weights of its kernels, for all outputs or for each.

    Use it for regression with Gaussian noise, and for many outputs. To choose alpha and the norm, use
    :class:`MKLRidgeCV`; for robustness to outliers, :class:`MKLRegressor`.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`MKLClassifier`.
    norm : float >= 1, default=1.0
        As for :class:`MKLClassifier`.
    costs : array of shape (n_kernels,) or dict of view name to cost, default=None
        As for :class:`MKLClassifier`.
    max_kernels : int, default=None
        As for :class:`MKLClassifier`.
    tol : float, default=1e-3
        As for :class:`MKLClassifier`.
    max_iter : int, default=300
        As for :class:`MKLClassifier`.
    max_time : float, default=None
        As for :class:`MKLClassifier`.
    callback : callable, default=None
        As for :class:`MKLClassifier`.
    on_interrupt : {"raise", "keep"}, default="raise"
        As for :class:`MKLClassifier`.
    verbose : int, default=0
        As for :class:`MKLClassifier`.
    random_state : int, RandomState or None, default=None
        As for :class:`MKLClassifier`.
    alpha : float, default=1.0
        Strength of the regularization, as in scikit-learn's KernelRidge. With ``targets="each"`` also an
        array of shape (n_outputs,).
    fit_intercept : bool, default=True
        Whether each output has an intercept that is not regularized.
    targets : {"shared", "each"}, default="shared"
        Which outputs have kernel weights in common:

        - "shared": all outputs have the same weights.
        - "each": each output has weights of its own. An output may be NaN at samples where it was not
          observed. Needs a Gram stack.

    Attributes
    ----------
    dual_coef_ : array of shape (n_outputs, n_samples)
    intercept_ : array of shape (n_outputs,)
    objective_ : float, the value of the problem above; with ``targets="each"`` the sum over the outputs
    machine_weights_ : array of shape (n_outputs, n_kernels)
        The weights of each output; ``kernel_weights_`` is their mean.
    target_names_ : list of str, the columns of y, or numbers
    target_gaps_ : array of shape (n_outputs,)
        The relative duality gap of each output; with ``targets="each"``.
    kernel_weights_, view_names_, support_, coef_, gram_, memory_, approximation_, total_cost_, dual_gap_,
    n_iter_, status_, history_
        As for :class:`MKLClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import MKLRidge
    >>> from multikernel.kernels import Linear
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> model = MKLRidge([("signal", Linear(), [0]), ("noise", Linear(), [1])]).fit(X, 3 * X[:, 0] + 1)
    >>> model.kernel_weights_.round(3).tolist(), float(model.predict([[1.0, 0.0]])[0].round(1))
    ([1.0, 0.0], 3.9)

    Notes
    -----
    It solves

    .. math::

        \min_{\mu \ge 0,\ \sum_m (d_m^2 \mu_m)^p \le 1}\ \min_f\
        \sum_k \tfrac12 \|y_k - f_k\|^2 + \tfrac\alpha2 \|f_k\|^2_{K(\mu)}

    with outputs :math:`y_k`, kernels :math:`K_m`, weights :math:`\mu`, costs :math:`d_m`. With
    ``targets="each"`` this is the problem of each output by itself, with weights of its own.

    Predictions read all training samples, so that a saved model holds them all; on factors, landmarks only.

    References
    ----------
    Cortes, Mohri & Rostamizadeh, L2 regularization for learning kernels, UAI 2009.
    """

    about = RIDGE
    _easier = "raise alpha"
    _answers_chunks = True
    _has_factors = True

    kernels: Any = "auto"
    _: KW_ONLY
    alpha: Any = 1.0
    fit_intercept: bool = True
    targets: str = "shared"
    norm: float = 1.0
    costs: Any = None
    max_kernels: Any = None
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None
    callback: Callable[[dict[str, float]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "MKLRidge":
        """Learn the kernel weights and the regression.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
            Or a dask array or dataframe, its rows in chunks.
        y : array or DataFrame, (n_samples,) or (n_samples, n_outputs)
        sample_weight : array of shape (n_samples,), default=None
            Multiplies the squared error of each sample.
        """
        each = check_choice("targets", self.targets, TARGETS) == "each"
        self.__dict__.pop("target_gaps_", None)
        on_factors = goes_low_rank(self, X)
        if each:
            fit_each(self, X, y, sample_weight)
            self._warn_unless_converged()
            return self
        alpha = check_number("alpha", self.alpha, above=0.0)
        if on_factors:
            middle = self._fit_low_rank(X, y, sample_weight, alpha)
        else:
            X, targets, samples = self._samples(X, y, sample_weight)
            middle = self._solve_stack(self._fit_kernels(X, samples), targets, samples)
        self._settle(middle)
        self._warn_unless_converged()
        self._one_output = (y.ndim if is_dask(y) else np.asarray(y).ndim) == 1
        self.target_names_ = names_of_targets(y, len(self.intercept_))
        return self

    def _why_not_low_rank(self) -> str:
        """Why the problem cannot be solved on factors, with the remedy; empty if it can."""
        if self.targets == "each":
            return "targets='each' needs a Gram stack. Use targets='shared', or gram='dense' or 'memmap'."
        return super()._why_not_low_rank()

    def _settle(self, middle: Any) -> None:
        """The solver's problem is divided by alpha; intercepts absorb what was subtracted from outputs."""
        alpha = float(self.alpha)
        self.objective_ *= alpha
        for entry in self.history_:
            entry["objective"] *= alpha
            entry["lower_bound"] *= alpha
        self.intercept_ = self.intercept_ + middle

    def _samples(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Samples]:
        """The checked table, the outputs of the distinct samples, and these."""
        X = self._validate_table(X, reset=True)
        targets = check_targets(self, X, y, multi_output=True)
        samples = self._distinct(X, targets, check_sample_weights(sample_weight, len(targets)))
        return X, targets[samples.rows], samples

    def _problem(self, targets: Array, weights: Array) -> tuple[Machines, Any]:
        """One machine for each output, and what was subtracted from the outputs."""
        middle = np.zeros(targets.shape[1])
        if self.fit_intercept:
            with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused with the solution
                middle = np.average(targets, axis=0, weights=weights)
        names = [str(k) for k in range(middle.size)]
        return Machines(np.arange(len(targets)), names, list((targets - middle).T)), middle

    def _losses(self, problem: Machines, weights: Array) -> list[SquaredError]:
        with np.errstate(over="ignore", invalid="ignore"):
            ridge = float(self.alpha) / weights
        return [SquaredError(target, ridge, bool(self.fit_intercept)) for target in problem.signs]

    def _fit_low_rank(self, X: Any, y: Any, sample_weight: Any, alpha: float) -> Array:
        """Solve on factors; what was subtracted from the outputs."""
        given = valued_rows(self, X, y, sample_weight, multi_output=True)
        factors = fit_factors(self, given)
        middle = given.totals / given.weight if self.fit_intercept else np.zeros(given.totals.size)
        rows = factors.rows.derive(shifted_rows, middle, 1.0 / alpha, keep=False)
        names = [str(k) for k in range(middle.size)]
        problem = BlockProblem(rows, PrimalSquaredError(), names, bool(self.fit_intercept))
        store_factors(self, factors, [learn_on_factors(self, factors, problem)], [names])
        warn_of_vanished(self, given, factors)
        return middle

    score_by_view = score_by_view

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of the predictions, the mean over the targets.

        Parameters
        ----------
        X, y : as for ``fit``
            With ``targets="each"``, `y` may be NaN where a target was not observed: its R² is over the other
            samples, and targets observed on fewer than two are left out of the mean.
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        if self.targets == "each" and lacks_values(y):
            return score_observed(self, X, y, sample_weight)
        return float(super().score(X, y, sample_weight))

    @by_chunks
    def predict(self, X: Any) -> Array:
        """Predicted values (n_samples,), or (n_samples, n_outputs) if y had two dimensions."""
        values = self._scores(X) + self.intercept_
        return values[:, 0] if self._one_output else values

"""Localized MKL with squared loss: regression and classification with one gate, and leave-one-out."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.metrics import r2_score

from .._threads import one_thread
from .._typing import Array
from .._validation import check_number
from ..core.about import About
from ..core.decisions import MachineClassifier, calibrate, decide
from ..core.estimator import refusing_overflow
from ..core.inputs import (
    Samples,
    check_sample_weights,
    check_targets,
    encode_labels,
    require_two_classes,
    weigh_samples,
)
from .base import BaseLocalized
from .descents import MACHINE_TOL, descent_options, generator
from .solver.gates import GATES
from .solver.learn import Gated, GatedObjective, LocalizedResult, learn_gates
from .solver.least_squares import RidgeMachines, held_out_residuals
from .solver.prior import gated_objective

RIDGE = About(
    family="localized",
    problem="min_V J(V), J the value of kernel ridge regression on Σ η_m(x) k_m(x, z) η_m(z), η a gate with "
    "parameters V",
    solver="gradient descent; Cholesky factors, kept as long as conjugate gradients with them are "
    "quick; a duality gap of the regression, none of the gate",
    cost="tens of solutions, a few with n³/3 and the others with about ten n²; memory of the distinct "
    "kernels and four n²",
    use="Squared errors, several outputs or classes with one gate, leave-one-out without refits; a few "
    "thousand samples.",
    reference="Gönen & Alpaydın 2008; Gönen 2010, section 6.2",
)


def _fit_ridge(model: Any, X: Any, targets: Array, weights: Array) -> Array:
    """Learn the gate and the regressions of the targets (n, r); the values at each row without it (n, r)."""
    alpha = check_number("alpha", model.alpha, above=0.0)
    samples = model._distinct(X, targets, weights)
    Ks = model._fit_kernels(X, samples)
    with refusing_overflow():
        own = targets[samples.rows]
        middle = np.average(own, axis=0, weights=samples.weights) * bool(model.fit_intercept)
        tol = MACHINE_TOL * float(model.tol)
        machines = RidgeMachines(own - middle, alpha / samples.weights, bool(model.fit_intercept), tol)
        # One thread: the path of the descent hangs on the last digit of its sums.
        with one_thread():
            result = _descend(model, Ks, machines)
            result = _solve_exactly(model, Ks, machines, result)
            diagonal, beta = machines.inverse_diagonal(), result.point.coefficients
            left_out = _leave_out(model, diagonal, beta, (targets - middle, weights), samples)
    model.n_factorizations_ = machines.n_factorizations
    model._store([Gated(result, np.arange(samples.rows.size), model.machine_names_, model.gating)], samples)
    model.intercept_ = model.intercept_ + middle
    return left_out + middle


def _objective(model: Any, Ks: Array, machines: Any) -> GatedObjective:
    """J / alpha, the problem that the solver sees."""
    alpha, gate = float(model.alpha), GATES[model.gating]
    reg, prior = float(model.gating_reg) / alpha, float(model.gating_sparsity) / alpha
    given = (Ks, model._sources, model._train_features, gate, machines, reg)
    return gated_objective(prior, model._gate_counts, *given)


def _descend(model: Any, Ks: Array, machines: RidgeMachines) -> LocalizedResult:
    [rng] = generator(model).spawn(1)
    objective = _objective(model, Ks, machines)
    options = descent_options(model)
    result = learn_gates(objective, int(model.n_init), rng, options, float(model.init_scale))
    if result.suspicious:
        model._require_psd(Ks, range(len(Ks)))
    return result


def _solve_exactly(
    model: Any, Ks: Array, machines: RidgeMachines, result: LocalizedResult
) -> LocalizedResult:
    """The solution at the learned kernel by a factor of its own, by which each row can be left out too."""
    alpha = float(model.alpha)
    objective = _objective(model, Ks, machines)
    machines.reset()
    value = objective.value(result.theta)
    point = objective.snapshot()
    if not np.isfinite(value):
        raise np.linalg.LinAlgError("the kernel cannot be factored")
    history = [{**entry, "objective": entry["objective"] * alpha} for entry in result.history]
    starts = [alpha * start for start in result.objectives]
    norm, gap = alpha * result.gradient_norm, point.solved.gap
    found = replace(result, objective=alpha * value, gradient_norm=norm, gap=gap, point=point)
    return replace(found, history=history, objectives=starts)


def _leave_out(
    model: Any, diagonal: Array, beta: Array, given: tuple[Array, Array], samples: Samples
) -> Array:
    """The values at each row by the model without it; NaN for rows of weight zero."""
    targets, weights = given
    used = samples.group >= 0
    group = samples.group[used]
    left = held_out_residuals(
        beta[group], diagonal[group], float(model.alpha), samples.weights[group], weights[used]
    )
    values = np.full(targets.shape, np.nan)
    values[used] = targets[used] - left
    return values


@dataclass(eq=False, repr=False)
class LocalizedRidge(MultiOutputMixin, RegressorMixin, BaseLocalized):
    r"""Kernel ridge regression whose gate decides, sample by sample, which kernels count.

    Use it where different kernels matter for different samples, and to see which matters where. The problem
    is not convex; where one set of weights is enough, use :class:`MKLRidge`.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`LocalizedMKLClassifier`.
    gating : {"softmax", "sigmoid", "gaussian"}, default="softmax"
        As for :class:`LocalizedMKLClassifier`.
    gating_features : None, columns, name of a view or table, "kernel", View or kernel, default=None
        As for :class:`LocalizedMKLClassifier`.
    n_init : int, default=1
        As for :class:`LocalizedMKLClassifier`.
    solver : {"gradient", "lbfgs"}, default="gradient"
        As for :class:`LocalizedMKLClassifier`.
    gating_reg : float or "auto", default=0.0
        As for :class:`LocalizedMKLClassifier`.
    patience : int, default=1
        As for :class:`LocalizedMKLClassifier`.
    init_scale : float, default=1e-2
        As for :class:`LocalizedMKLClassifier`.
    tol : float, default=1e-3
        As for :class:`LocalizedMKLClassifier`.
    max_iter : int, default=100
        As for :class:`LocalizedMKLClassifier`.
    max_time : float, default=None
        As for :class:`LocalizedMKLClassifier`.
    prune : bool or float, default=False
        As for :class:`LocalizedMKLClassifier`.
    gating_sparsity : float, default=0.0
        As for :class:`LocalizedMKLClassifier`.
    callback : callable, default=None
        As for :class:`LocalizedMKLClassifier`.
    on_interrupt : {"raise", "keep"}, default="raise"
        As for :class:`LocalizedMKLClassifier`.
    verbose : int, default=0
        As for :class:`LocalizedMKLClassifier`.
    random_state : int, RandomState or None, default=None
        As for :class:`LocalizedMKLClassifier`; `gating_reg` is a number, 0 by default.
    alpha : float, default=1.0
        Strength of the regularisation, as in scikit-learn's KernelRidge.
    fit_intercept : bool, default=True
        Whether each output has an intercept that is not regularised.

    Attributes
    ----------
    loo_values_ : array of shape (n_samples,) or (n_samples, n_outputs)
        The prediction for each training row by the model without it, with the gate held as it is; NaN for
        rows of weight zero.
    loo_score_ : float, R² of these, with the sample weights; NaN where it is not defined
    n_factorizations_ : int
        Cholesky factors of the size n × n that the fit computed, 0 where kernels of low rank made them
        unnecessary; `n_solves_` counts the solutions.
    dual_coef_ : array of shape (n_outputs, n_support)
    intercept_ : array of shape (n_outputs,)
    objective_ : float, the value of the problem above, with the penalties on the gate
    kernel_weights_, view_names_, gating_, support_, dual_gap_, gradient_norm_, start_objectives_, n_solves_,
    n_iter_, status_, saturated_, history_
        As for :class:`LocalizedMKLClassifier`, with one machine for each output.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.kernels import Polynomial
    >>> from multikernel.localized import LocalizedRidge
    >>> X = np.linspace(-3, 3, 100)[:, None]
    >>> y = np.abs(X[:, 0])  # two lines
    >>> model = LocalizedRidge([Polynomial(1), Polynomial(1)], alpha=0.1).fit(X, y)
    >>> bool(model.score(X, y) > 0.98), bool(model.loo_score_ > 0.98)
    (True, True)

    Notes
    -----
    It solves

    .. math::

        \min_V\ J(V) = \min_{f, b}\ \sum_k \tfrac12 \sum_i (y_{ik} - f_k(x_i) - b_k)^2
        + \tfrac\alpha2 \|f_k\|^2_{k_\eta}, \qquad
        k_\eta(x, z) = \sum_m \eta_m(x)\, k_m(x, z)\, \eta_m(z)

    with outputs :math:`y_k`, which share the gate :math:`\eta(x; V)`, and intercepts :math:`b_k`.

    The kernel changes gradually along the descent: a Cholesky factor serves as the metric of conjugate
    gradients for the kernels after it, and is replaced when these take many steps. All outputs have the same
    matrix, so that many of them cost little more than one; the gate follows those that vary most: bring them
    to one scale.

    **Leave-one-out is for the kernel that was learned.** The gate has seen every row, so that `loo_values_`
    are too good by what the gate learned of each; they serve to choose `alpha` for a gate, not to choose the
    number of kernels, the gating features or `gating_reg`: use cross-validation for these.

    A fit has memory for the distinct kernels and four n × n matrices, and a fitted model keeps all training
    samples. Large errors count by their squares: with outliers take :class:`LocalizedMKLRegressor`.

    References
    ----------
    Gönen, Bayesian and localized multiple kernel learning, PhD thesis, Boğaziçi University 2010, section 6.2.
    Cawley & Talbot, Fast exact leave-one-out cross-validation of sparse least-squares support vector
    machines, Neural Networks 17, 2004.
    """

    about = RIDGE
    _chooses_ridge = False
    kernels: Any = "auto"
    _: KW_ONLY
    alpha: float = 1.0
    fit_intercept: bool = True
    gating: str = "softmax"
    gating_features: Any = None
    n_init: int = 1
    solver: str = "gradient"
    gating_reg: float = 0.0
    patience: int = 1
    init_scale: float = 0.01
    tol: float = 1e-3
    max_iter: int = 100
    max_time: float | None = None
    prune: bool | float = False
    gating_sparsity: float = 0.0
    callback: Callable[[dict[str, float]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "LocalizedRidge":
        """Learn the gate and the regressions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array of shape (n_samples,), default=None
            Multiplies the squared error of each sample.
        """
        check_number("alpha", self.alpha, above=0.0)
        X = self._validate_table(X, reset=True)
        targets = check_targets(self, X, y, multi_output=True)
        weights = check_sample_weights(sample_weight, len(targets))
        self.machine_names_ = ["y"] if targets.shape[1] == 1 else [str(k) for k in range(targets.shape[1])]
        self.loo_values_ = _fit_ridge(self, X, targets, weights)
        used = weights > 0
        self.loo_score_ = float("nan")
        if np.count_nonzero(used) > 1:
            told = targets[used], self.loo_values_[used]
            self.loo_score_ = float(r2_score(*told, sample_weight=weights[used]))
        self._one_output = np.asarray(y).ndim == 1
        if self._one_output:
            self.loo_values_ = self.loo_values_[:, 0]
        return self

    def predict(self, X: Any) -> Array:
        """Predicted values (n_samples,), or (n_samples, n_outputs) if y had two dimensions."""
        values = self._scores(X) + self.intercept_
        return values[:, 0] if self._one_output else values


@dataclass(eq=False, repr=False)
class LocalizedRidgeClassifier(MachineClassifier, BaseLocalized):
    r"""Ridge classifier (least-squares support vector machine) with a gate over its kernels.

    Use it for squared errors and several classes with one gate. With kernels of full rank and two classes,
    :class:`LocalizedMKLClassifier` may be faster.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`LocalizedMKLClassifier`.
    gating : {"softmax", "sigmoid", "gaussian"}, default="softmax"
        As for :class:`LocalizedMKLClassifier`.
    gating_features : None, columns, name of a view or table, "kernel", View or kernel, default=None
        As for :class:`LocalizedMKLClassifier`.
    n_init : int, default=1
        As for :class:`LocalizedMKLClassifier`.
    solver : {"gradient", "lbfgs"}, default="gradient"
        As for :class:`LocalizedMKLClassifier`.
    gating_reg : float or "auto", default=0.0
        As for :class:`LocalizedMKLClassifier`.
    patience : int, default=1
        As for :class:`LocalizedMKLClassifier`.
    init_scale : float, default=1e-2
        As for :class:`LocalizedMKLClassifier`.
    tol : float, default=1e-3
        As for :class:`LocalizedMKLClassifier`.
    max_iter : int, default=100
        As for :class:`LocalizedMKLClassifier`.
    max_time : float, default=None
        As for :class:`LocalizedMKLClassifier`.
    prune : bool or float, default=False
        As for :class:`LocalizedMKLClassifier`.
    gating_sparsity : float, default=0.0
        As for :class:`LocalizedMKLClassifier`.
    class_weight : dict or "balanced", default=None
        As for :class:`LocalizedMKLClassifier`.
    probability : bool, default=False
        As for :class:`LocalizedMKLClassifier`.
    callback : callable, default=None
        As for :class:`LocalizedMKLClassifier`.
    on_interrupt : {"raise", "keep"}, default="raise"
        As for :class:`LocalizedMKLClassifier`.
    verbose : int, default=0
        As for :class:`LocalizedMKLClassifier`.
    random_state : int, RandomState or None, default=None
        As for :class:`LocalizedMKLClassifier`; `gating_reg` is a number, 0 by default.
    alpha : float, default=1.0
        As for :class:`LocalizedRidge`.
    fit_intercept : bool, default=True
        As for :class:`LocalizedRidge`; 1 / alpha has the part of C.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    loo_values_ : array of shape (n_samples,) for two classes, else (n_samples, n_classes)
        The decision value of each training row by the model without it, with the gate held as it is; NaN for
        rows of weight zero.
    loo_score_ : float, accuracy of these, with the sample and class weights
    n_factorizations_, dual_coef_, intercept_, objective_, kernel_weights_, view_names_, machine_names_,
    gating_, support_, dual_gap_, gradient_norm_, start_objectives_, n_solves_, n_iter_, status_, saturated_,
    history_
        As for :class:`LocalizedRidge`, with one machine for each class, one for two classes.

    Examples
    --------
    >>> from multikernel.kernels import Polynomial
    >>> from multikernel.localized import LocalizedRidgeClassifier
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(300, 2))
    >>> y = X[:, 1] > np.abs(X[:, 0])  # two lines
    >>> model = LocalizedRidgeClassifier([Polynomial(1), Polynomial(1)], alpha=0.01).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), bool(model.loo_score_ > 0.9)
    (True, True)

    Notes
    -----
    It solves

    .. math::

        \min_V\ J(V) = \min_{f, b}\ \sum_k \tfrac12 \sum_i (y_{ik} - f_k(x_i) - b_k)^2
        + \tfrac\alpha2 \|f_k\|^2_{k_\eta}, \qquad
        k_\eta(x, z) = \sum_m \eta_m(x)\, k_m(x, z)\, \eta_m(z)

    with :math:`y_{ik} = 1` for samples of class k and −1 for others, one k for two classes, and a gate
    :math:`\eta(x; V)` that all classes share.

    The squared loss has no support samples: predictions read all of them, and samples far on the right side
    of the boundary count too. Where accuracy is what matters and n is small, compare with
    :class:`LocalizedMKLClassifier`. The notes of :class:`LocalizedRidge` on speed and on leave-one-out hold
    here.

    References
    ----------
    Suykens & Vandewalle, Least squares support vector machine classifiers, Neural Processing Letters 9, 1999.
    """

    about = RIDGE
    _chooses_ridge = False
    kernels: Any = "auto"
    _: KW_ONLY
    alpha: float = 1.0
    fit_intercept: bool = True
    gating: str = "softmax"
    gating_features: Any = None
    n_init: int = 1
    solver: str = "gradient"
    gating_reg: float = 0.0
    patience: int = 1
    init_scale: float = 0.01
    tol: float = 1e-3
    max_iter: int = 100
    max_time: float | None = None
    prune: bool | float = False
    gating_sparsity: float = 0.0
    class_weight: Any = None
    probability: bool = False
    callback: Callable[[dict[str, float]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "LocalizedRidgeClassifier":
        """Learn the gate and the regressions of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,) of labels
        sample_weight : array of shape (n_samples,), default=None
            Multiplies the squared error of each sample.
        """
        check_number("alpha", self.alpha, above=0.0)
        X = self._validate_table(X, reset=True)
        self.classes_, codes = encode_labels(self, X, y)
        weights = weigh_samples(self.class_weight, self.classes_, codes, sample_weight)
        require_two_classes(self.classes_, codes[weights > 0])
        positive = self.classes_[1:] if self.classes_.size == 2 else self.classes_
        targets = np.where(self.classes_[codes][:, None] == positive, 1.0, -1.0)
        self.machine_names_ = [str(c) for c in positive]
        self._votes = False
        left_out = _fit_ridge(self, X, targets, weights)
        self.loo_values_ = left_out[:, 0] if self.classes_.size == 2 else left_out
        used = weights > 0
        decided = decide(self.loo_values_[used], self.classes_)
        right = decided == self.classes_[codes[used]]
        self.loo_score_ = float(np.average(right, weights=weights[used]))
        self._calibration = calibrate(self, X, y, sample_weight)
        return self

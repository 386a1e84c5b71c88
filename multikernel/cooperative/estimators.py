"""Regressor and classifier with a function for each view, drawn to agree with the others."""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from .._validation import check_number
from ..core.about import About
from ..core.decisions import binary_problems, decide
from ..core.estimator import KernelEstimator, refusing_overflow, require_finite
from ..core.fitted import ColumnKernels, FittedKernels
from ..core.inputs import (
    Samples,
    check_sample_weights,
    check_targets,
    encode_labels,
    numbers_by_view,
    price_samples,
    require_two_classes,
    weigh_samples,
)
from ..core.optim.loop import Options
from ..core.svm.losses import SquaredHinge
from ..views import available_memory, make_bank
from .solver.agreement import MATRICES, CooperativeResult, Views, fit_functions, learn_functions

COOPERATIVE = About(
    family="margin",
    problem="min Σ_m (α_m/2) ‖f_m‖² + (ρ/2) Σ_i Σ_{m<l} (f_m(x_i) − f_l(x_i))² + Σ_i ℓ(y_i, Σ f_m(x_i) + b)",
    solver="one linear system, or SVM, on one kernel that includes the agreement penalty; duality gap",
    cost="4 n³ for each kernel, once; memory (P + 6) n²",
    use="Views of the same samples that share a signal, each with independent noise.",
    reference="Ding, Li, Narasimhan & Tibshirani 2022; Sindhwani & Rosenberg 2008",
)


@dataclass(eq=False, repr=False)
class _Cooperative(KernelEstimator):
    """What the regressor and the classifier share."""

    about = COOPERATIVE
    _adds_kernels = True
    _storage_options = ("psd", "dtype")

    kernels: Any = "auto"
    _: KW_ONLY
    rho: float = 0.5

    def _fit_kernels(self, X: Any, samples: Samples) -> Array:
        """The training stack of the samples; the bank is kept for prediction."""
        self._check_storage()
        self._bank = make_bank(self.kernels, **self._bank_options)
        Ks = np.asarray(self._fit_stack(X, samples))
        self._tell_of_kernels(Ks)
        needed, available = 8 * MATRICES * Ks.shape[1] ** 2, available_memory()
        if available is not None and needed > available:
            raise ValueError(
                f"{type(self).__name__} on {Ks.shape[1]} samples needs about {needed / 2**30:.1f} GiB beside "
                f"the kernels; {available / 2**30:.1f} GiB are available. Use fewer samples."
            )
        return Ks

    def _solve(self, Ks: Array, learn: Callable[[], CooperativeResult]) -> CooperativeResult:
        """The result of a solver; a kernel that is to blame for its failure is named."""
        try:
            with refusing_overflow():
                result = learn()
        except ValueError as error:
            self._require_psd(Ks, range(len(Ks)))
            raise ValueError(f"{error} A smaller rho helps, too; it is {self.rho:g}.") from None
        if result.suspicious:
            self._require_psd(Ks, range(len(Ks)))
        require_finite(result)
        return result

    def _store(self, result: CooperativeResult, samples: Samples) -> None:
        """Keep the functions; every sample has a coefficient in each of them."""
        n_machines, n_kernels, n = result.coefficients.shape
        self.dual_coef_ = result.coefficients
        self.support_ = samples.rows
        self.intercept_ = result.intercepts
        self.objective_, self.dual_gap_ = result.objective, result.gap
        self.n_iter_, self.status_ = max(1, result.n_iter), str(result.status)
        self.history_ = [{**entry, "machine": 0} for entry in result.history]
        bank = self._bank.restrict(samples.rows if self._precomputed else np.arange(n), np.arange(n_kernels))
        self._support_rows = samples.rows
        self._fitted = FittedKernels([ColumnKernels(bank, result.coefficients)], (n_machines, n_kernels))
        del self._bank
        self._warn_unless_converged()


@dataclass(eq=False, repr=False)
class CooperativeRidge(RegressorMixin, _Cooperative):
    r"""Kernel ridge regression with a function for each view, whose values are drawn to agree.

    Parameters
    ----------
    kernels : as for :class:`MKLRegressor`, default="auto"
    alpha : float, dict or array of shape (n_kernels,), default=1.0
        Strength of the regularization, as in scikit-learn's KernelRidge: one for all views, or one for each.
        Views that a dict does not name have 1.
    rho : float >= 0, default=0.5
        Strength of the agreement:

        - 0: the additive model, kernel ridge regression on :math:`\sum_m K_m / \alpha_m` (early fusion).
        - 1: each view is fitted without regard to the others, and the predictions are added (late fusion).
        - more: predictions of the views are drawn together.

    Attributes
    ----------
    dual_coef_ : array of shape (1, n_kernels, n_support)
        The function of view m is the sum over the training samples of the kernel of that view times these.
    support_ : array of shape (n_support,)
        The samples with a positive weight; equal ones are one.
    intercept_ : array of shape (1,)
    view_names_, objective_, dual_gap_, n_iter_, status_, history_
        As for :class:`MKLRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.cooperative import CooperativeRidge
    >>> from multikernel.kernels import Linear
    >>> rng = np.random.default_rng(0)
    >>> factor = rng.normal(size=60)
    >>> X = factor[:, None] + 0.5 * rng.normal(size=(60, 8))  # two views of one factor
    >>> views = [("rna", Linear(), range(4)), ("protein", Linear(), range(4, 8))]
    >>> model = CooperativeRidge(views, rho=2.0).fit(X, factor)
    >>> model.contributions(X).shape, bool(model.score(X, factor) > 0.9)
    ((60, 2), True)

    Notes
    -----
    .. math::

        \min_{f, b}\ \sum_m \tfrac{\alpha_m}{2} \|f_m\|^2 + \tfrac12 \sum_i w_i \bigl(y_i - \textstyle\sum_m
        f_m(x_i) - b\bigr)^2 + \tfrac\rho2 \sum_i w_i \sum_{m<l} \bigl(f_m(x_i) - f_l(x_i)\bigr)^2

    with the weights :math:`w_i` of the samples. ``contributions`` has the values of the :math:`f_m`. Choose
    `rho`, with `alpha`, by scikit-learn's GridSearchCV: ``{"rho": [0, 0.1, 0.5, 1, 5], "alpha": [...]}``.

    References
    ----------
    Ding, Li, Narasimhan & Tibshirani, Cooperative learning for multiview analysis, Proceedings of the
    National Academy of Sciences 119, 2022.
    Sindhwani & Rosenberg, An RKHS for multi-view learning and manifold co-regularization, ICML 2008.
    """

    _easier = "raise alpha or lower rho"
    tol = 1e-3  # no parameter: one linear system is the solution
    alpha: Any = field(default=1.0, kw_only=True)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "CooperativeRidge":
        """Learn a function for each view.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), default=None
            Multiplies the squared error and the differences of the views at each sample.
        """
        rho = check_number("rho", self.rho, at_least=0.0)
        if self._has_one_alpha:
            check_number("alpha", self.alpha, above=0.0)
        X = self._validate_table(X, reset=True)
        targets = check_targets(self, X, y, multi_output=False)[:, 0]
        weights = check_sample_weights(sample_weight, targets.size)
        samples = self._distinct(X, targets, weights)
        Ks = self._fit_kernels(X, samples)
        views = Views(Ks, self._penalties(), rho, samples.weights)
        own = targets[samples.rows]
        with refusing_overflow():
            middle = np.average(own, weights=samples.weights)
        self.machine_names_ = ["y"]
        self._store(self._solve(Ks, lambda: fit_functions(views, own - middle, self.tol)), samples)
        self.intercept_ = self.intercept_ + middle
        return self

    @property
    def _has_one_alpha(self) -> bool:
        return np.ndim(self.alpha) == 0 and not isinstance(self.alpha, Mapping)

    def _penalties(self) -> Array:
        """alpha of each view."""
        names = self.view_names_
        if self._has_one_alpha:
            return np.full(len(names), float(self.alpha))
        alphas = numbers_by_view("alpha", self.alpha, names, 1.0)
        for name, value in zip(names, alphas, strict=True):
            if not (np.isfinite(value) and value > 0.0):
                raise ValueError(
                    f"alpha must be positive and finite for each view; view {name!r} has {float(value)!r}."
                )
        return alphas

    def predict(self, X: Any) -> Array:
        """Predicted values.

        Parameters
        ----------
        X : as for ``fit``

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        return np.asarray((self._scores(X) + self.intercept_)[:, 0])


@dataclass(eq=False, repr=False)
class CooperativeClassifier(ClassifierMixin, _Cooperative):
    r"""Classifier with squared hinge loss and a function for each view, whose values are drawn to agree.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`MKLClassifier`.
    tol : float, default=1e-3
        As for :class:`MKLClassifier`.
    max_iter : int, default=300
        As for :class:`MKLClassifier`.
    max_time : float, default=None
        As for :class:`MKLClassifier`.
    C : float, default=1.0
        Penalty on margin violations, and on differences between views.
    rho : float >= 0, default=0.5
        Strength of the agreement, relative to that of the loss. 0: the SVM on the sum of
        the kernels (early fusion); the larger, the more the scores of the views agree.
    class_weight : dict or "balanced", default=None
        Multiplies C class by class.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    dual_coef_ : array of shape (n_machines, n_kernels, n_support)
        One classifier for two classes, else one for each class against the others.
    support_, intercept_, view_names_, objective_, dual_gap_, n_iter_, status_, history_
        As for :class:`CooperativeRidge`, with an intercept for each classifier; the objective is the sum
        over classifiers.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV
    >>> from multikernel.cooperative import CooperativeClassifier
    >>> from multikernel.kernels import Linear
    >>> rng = np.random.default_rng(0)
    >>> factor = rng.normal(size=60)
    >>> X = factor[:, None] + rng.normal(size=(60, 8))  # two views of one factor
    >>> views = [("rna", Linear(), range(4)), ("protein", Linear(), range(4, 8))]
    >>> search = GridSearchCV(CooperativeClassifier(views), {"rho": [0.0, 0.5, 1.0, 5.0]}).fit(X, factor > 0)
    >>> bool(search.best_score_ > 0.8)
    True

    Notes
    -----
    .. math::

        \min_{f, b}\ \tfrac12 \sum_m \|f_m\|^2 + \tfrac C2 \sum_i w_i \Bigl( \bigl[1 - y_i (\textstyle\sum_m
        f_m(x_i) + b)\bigr]_+^2 + \rho \sum_{m<l} \bigl(f_m(x_i) - f_l(x_i)\bigr)^2 \Bigr)

    with :math:`y_i = \pm 1` and the weights :math:`w_i` of the samples and classes. Choose `rho`, with `C`,
    by scikit-learn's GridSearchCV.

    References
    ----------
    Ding, Li, Narasimhan & Tibshirani, Cooperative learning for multiview analysis, Proceedings of the
    National Academy of Sciences 119, 2022.
    """

    _easier = "lower C or rho"
    C: float = field(default=1.0, kw_only=True)
    class_weight: Any = field(default=None, kw_only=True)
    tol: float = field(default=1e-3, kw_only=True)
    max_iter: int = field(default=300, kw_only=True)
    max_time: float | None = field(default=None, kw_only=True)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "CooperativeClassifier":
        """Learn a function for each view.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,) of labels
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C sample by sample.
        """
        rho = check_number("rho", self.rho, at_least=0.0)
        C = check_number("C", self.C, above=0.0)
        self._check_numerics()
        X = self._validate_table(X, reset=True)
        self.classes_, codes = encode_labels(self, X, y)
        weights = weigh_samples(self.class_weight, self.classes_, codes, sample_weight)
        require_two_classes(self.classes_, codes[weights > 0])
        samples = self._distinct(X, codes, weights)
        Ks = self._fit_kernels(X, samples)
        problem = binary_problems(codes[samples.rows], self.classes_, "shared")[0]
        prices = price_samples(C, samples.weights)
        losses = [SquaredHinge(signs, prices) for signs in problem.signs]
        self.machine_names_ = problem.names
        views = Views(Ks, np.ones(len(Ks)), rho * C, samples.weights)
        options = Options(tol=self.tol, max_iter=self.max_iter)
        self._store(self._solve(Ks, lambda: learn_functions(views, losses, options)), samples)
        return self

    def decision_function(self, X: Any) -> Array:
        """Scores of the classes.

        Parameters
        ----------
        X : as for ``fit``

        Returns
        -------
        array of shape (n_samples,) for two classes, positive for ``classes_[1]``; else (n_samples, n_classes)
        """
        check_is_fitted(self)
        scores = self._scores(X) + self.intercept_
        return np.asarray(scores[:, 0] if self.classes_.size == 2 else scores)

    def predict(self, X: Any) -> Array:
        """The class of each sample.

        Parameters
        ----------
        X : as for ``fit``

        Returns
        -------
        array of shape (n_samples,)
        """
        return decide(self.decision_function(X), self.classes_)

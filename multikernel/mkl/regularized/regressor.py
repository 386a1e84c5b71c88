"""Support vector regression whose kernel weights are regularised by cross-validation."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ..._typing import Array
from ..regressors import MKLRegressor
from .base import Regularized
from .classifier import REGULARIZED
from .search import FoldRegressor, RegressorOn


@dataclass(eq=False, repr=False)
class RegularizedMKLRegressor(RegressorMixin, Regularized):
    r"""ε-support vector regression that learns how much each kernel has to earn its weight.

    Use it where a few very flexible kernels win on the training samples but not on new ones. It takes many
    fits; compare it with :class:`MKLRegressor` first, and give known costs there.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`RegularizedMKLClassifier`.
    method : {"lp", "qp", "mark"}, default="response_surface"
        As for :class:`RegularizedMKLClassifier`.
    search_C : bool, default=False
        As for :class:`RegularizedMKLClassifier`.
    delta : float, default=0.3
        As for :class:`RegularizedMKLClassifier`.
    bound : float, default=1.0
        As for :class:`RegularizedMKLClassifier`.
    max_steps : int, default=30
        As for :class:`RegularizedMKLClassifier`.
    degree : int, default=2
        As for :class:`RegularizedMKLClassifier`.
    rule : {"best", "last"}, default="best"
        As for :class:`RegularizedMKLClassifier`.
    relative : bool, default=True
        As for :class:`RegularizedMKLClassifier`.
    max_samples : int, default=None
        As for :class:`RegularizedMKLClassifier`.
    tol : float, default=1e-3
        As for :class:`RegularizedMKLClassifier`.
    max_iter : int, default=300
        As for :class:`RegularizedMKLClassifier`.
    max_time : float, default=None
        As for :class:`RegularizedMKLClassifier`.
    n_jobs : int, default=None
        As for :class:`RegularizedMKLClassifier`.
    callback : callable, default=None
        As for :class:`RegularizedMKLClassifier`.
    on_interrupt : {"raise", "keep"}, default="raise"
        As for :class:`RegularizedMKLClassifier`.
    verbose : int, default=0
        As for :class:`RegularizedMKLClassifier`.
    random_state : int, RandomState or None, default=None
        As for :class:`RegularizedMKLClassifier`.
    C : float or "auto", default="auto"
        Penalty on errors beyond epsilon. "auto" is the standard deviation of y.
    epsilon : float >= 0 or "auto", default="auto"
        Errors below it are free. "auto" is a tenth of the standard deviation of y.
    cv : int, cross-validation generator or iterable of splits, default=5
        A number of folds is shuffled with `random_state`.
    scoring : str or callable, default=None
        As in scikit-learn; R² by default.

    Attributes
    ----------
    costs_, surface_, exponent_, best_score_, cv_results_, n_solves_
        As for :class:`RegularizedMKLClassifier`.
    C_, epsilon_ : float, the penalty and the width of this fit
    estimator_ : MKLRegressor, the last fit
    kernel_weights_, machine_weights_, view_names_, dual_coef_, support_, intercept_, total_cost_, objective_,
    dual_gap_, n_iter_, status_, history_
        As for :class:`MKLRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.kernels import Gaussian, Linear
    >>> from multikernel.mkl import RegularizedMKLRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(200, 2))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=200)
    >>> views = [("line", Linear()), ("wave", Gaussian(0.5), [0]), ("narrow", Gaussian(20.0))]
    >>> model = RegularizedMKLRegressor(views, C=10.0, cv=3, max_steps=3).fit(X[:100], y[:100])
    >>> model.surface_.n_design_, bool(model.score(X[100:], y[100:]) > 0.9)
    (6, True)

    Notes
    -----
    It solves

    .. math::

        \min_{d}\ \text{validation error of}\ \arg\min_{\mu \ge 0,\ \sum_m d_m^2 \mu_m = 1}\
        \max_{-C \le \beta \le C,\ 1'\beta = 0}\
        y'\beta - \epsilon \|\beta\|_1 - \tfrac12 \sum_m \mu_m\, \beta' K_m \beta, \qquad d_1 = 1

    with targets :math:`y`, dual variables :math:`\beta`, kernels :math:`K_m` and their weights :math:`\mu`.
    The costs :math:`d_m` are searched as by :class:`RegularizedMKLClassifier`.

    As for :class:`RegularizedMKLClassifier`. "auto" takes the deviation of all values, the same in all folds.

    References
    ----------
    Gönen & Alpaydın, Regularizing multiple kernel learning using response surface methodology, Pattern
    Recognition 44, 2011.
    """

    about = REGULARIZED
    _fold = FoldRegressor

    kernels: Any = "auto"
    _: KW_ONLY
    method: str = "response_surface"
    C: float | str = "auto"
    epsilon: float | str = "auto"
    search_C: bool = False
    cv: Any = 5
    scoring: Any = None
    delta: float = 0.3
    bound: float = 1.0
    max_steps: int = 30
    degree: int = 2
    rule: str = "best"
    relative: bool = True
    max_samples: Any = None
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None
    n_jobs: int | None = None
    callback: Callable[[dict[str, Any]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "RegularizedMKLRegressor":
        """Choose the costs by cross-validation, then learn the kernel weights and the regressor.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C sample by sample, and weighs the validation samples.
        """
        return self._fit(X, y, sample_weight)

    def _machine(self, seed: Any) -> MKLRegressor:
        names = ("kernels", "C", "epsilon", "tol", "max_iter")
        own = {name: getattr(self, name) for name in names}
        return MKLRegressor(**own, norm=self._norm, random_state=seed)

    def _open(self, model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[RegressorOn, Array, None]:
        model._check_penalty()
        machines = RegressorOn(model, X, y, sample_weight)
        model.C, model.epsilon = model.C_, model.epsilon_  # in numbers: the same in all folds
        return machines, column_or_1d(y).astype(float), None

    def _model_of_fold(self, model: Any) -> FoldRegressor:
        fold = self._machine(model.random_state).set_params(C=model.C, epsilon=model.epsilon)
        return FoldRegressor(fold)

    def _finish(self, model: Any, X: Any, y: Any, sample_weight: Any) -> None:
        self.C_, self.epsilon_ = model.C_, model.epsilon_ = float(model.C), float(model.epsilon)
        model.set_params(costs=model._costs)

    def predict(self, X: Any) -> Array:
        """Predicted values (n_samples,)."""
        check_is_fitted(self)
        return np.asarray((self._scores(X) + self.intercept_)[:, 0])

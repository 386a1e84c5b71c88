"""Regressors that choose their penalty and the norm of their weights by cross-validation: see `tuned`."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._typing import Array
from .._validation import check_choice, check_number
from ..core.folds import Split
from ..core.inputs import standard_deviation
from ..core.search.grid import Data, GridSearch, HeldOutRegressor, LeaveOneOut, Part
from ..core.search.tuned import NORMS, Tuned
from .regressors import MKLRegressor, MKLRidge
from .targets.by_view import lacks_values, score_by_view, score_observed
from .targets.chosen import fit_chosen
from .targets.each import TARGETS, names_of_targets
from .tuned import TUNED

_ALPHAS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)

TUNED_RIDGE = replace(
    TUNED,
    family="ridge",
    problem="min over α and p of the leave-one-out error of kernel ridge regression with learned weights",
    solver="closed-form leave-one-out residuals at the learned weights; the last model has a duality gap",
    cost="one fit of MKLRidge and n³ for each α and norm; memory P n²",
    use="Values with Gaussian noise, nothing to set.",
    reference="Cortes, Mohri & Rostamizadeh 2009; Allen 1974",
)


_OF_EACH = ("candidates_", "candidate_scores_", "target_gaps_", "refined_")


class _TunedRegressor(RegressorMixin, Tuned):
    """What the two regressors share: intervals from out-of-fold residuals."""

    _task = "regressor"

    def _part(self, machine: Any, data: Data, rows: Array) -> Part:
        places, totals = data.merged(rows, data.weights[rows])
        problem, middle = machine._problem(data.targets[places], totals)
        return Part(places, totals, [problem], middle)

    def _held_out(self, data: Data, machine: Any, X: Any, scores: Array) -> HeldOutRegressor:
        return HeldOutRegressor(machine, X, scores)

    def _finish(self, machine: Any, data: Data) -> None:
        machine._settle(machine._solve_stack(data.Ks, data.targets, data.samples))

    def _learn_from_folds(self, data: Data) -> None:
        """The sizes of the out-of-fold residuals in rising order, and the weight of each."""
        residuals = np.abs(data.y - self.out_of_fold_).reshape(len(data.y), -1)
        known = np.isfinite(residuals).all(axis=1) & (data.samples.group >= 0)
        residuals, weights = residuals[known], data.weights[known]
        order = np.argsort(residuals, axis=0)
        self._residuals = np.take_along_axis(residuals, order, axis=0)
        self._residual_weights = weights[order]

    def predict(self, X: Any) -> Array:
        """Predicted values (n_samples,), or (n_samples, n_outputs) if y had two dimensions."""
        check_is_fitted(self)
        values = self._scores(X) + self.intercept_
        return values[:, 0] if self._one_output else values

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Array:
        r"""Intervals that hold a new value with the probability asked for, f(x) ± q.

        q is the :math:`\lceil (n + 1)\,\text{coverage} \rceil`-th smallest of the n out-of-fold residuals.
        The models of the folds have seen fewer samples than the last one, so that intervals are a little too
        wide rather than too narrow; they are of one width everywhere, and hold on the average over samples
        that come from where the training samples came from.

        Parameters
        ----------
        X : as for ``predict``
        coverage : float, default=0.9
            Between 0 and 1; at most n / (n + 1).

        Returns
        -------
        array of shape (n_samples, 2), or (n_samples, n_outputs, 2)
            Lower and upper ends.
        """
        check_is_fitted(self)
        if not len(self._residuals):
            raise ValueError(
                "predict_interval needs out-of-fold residuals of samples at which all targets were observed; "
                "there is none. Fit targets that are observed on the same samples together."
            )
        wanted = check_number("coverage", coverage, above=0.0)
        n = len(self._residuals)
        if wanted > 1.0:
            raise ValueError(f"coverage must be a share between 0 and 1, such as 0.9; got {coverage!r}.")
        if wanted > n / (n + 1.0):
            raise ValueError(
                f"coverage must be at most n / (n + 1) = {n / (n + 1.0):.4g} with {n} out-of-fold residuals; "
                f"got {coverage!r}. Lower it, or fit on more samples."
            )
        total = self._residual_weights.sum(axis=0)
        shares = np.cumsum(self._residual_weights, axis=0) / (total + total / n)
        places = np.minimum((shares < wanted - 1e-12).sum(axis=0), n - 1)
        half = np.take_along_axis(self._residuals, places[None], axis=0)[0]
        values = self.predict(X)
        half = half[0] if values.ndim == 1 else half
        return np.stack([values - half, values + half], axis=-1)


@dataclass(eq=False, repr=False)
class MKLRegressorCV(_TunedRegressor):
    r"""ε-support vector regression with learned kernel weights that chooses C and the norm on folds.

    Use it where good values of C and the norm are not known. Use :class:`MKLRegressor` where both are known,
    or for more rows than a Gram stack holds (about 10 000).

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="rich"
        As for :class:`MKLClassifierCV`.
    norms : sequence of float >= 1, default=(1.0, 1.5, 2.0, inf)
        As for :class:`MKLClassifierCV`.
    normalizations : sequence of "variance", "diagonal", "trace", "auto" or None, default=None
        As for :class:`MKLClassifierCV`.
    halving : bool, default=True
        As for :class:`MKLClassifierCV`.
    rule : {"best", "last"}, default="best"
        As for :class:`MKLClassifierCV`.
    refit : bool, default=True
        As for :class:`MKLClassifierCV`.
    costs : array of shape (n_kernels,) or dict by view name, default=None
        As for :class:`MKLClassifierCV`.
    tol : float, default=1e-3
        As for :class:`MKLClassifierCV`.
    max_iter : int, default=300
        As for :class:`MKLClassifierCV`.
    max_time : float, default=None
        As for :class:`MKLClassifierCV`.
    n_jobs : int, default=None
        As for :class:`MKLClassifierCV`.
    callback : callable, default=None
        As for :class:`MKLClassifierCV`.
    on_interrupt : {"raise", "keep"}, default="raise"
        As for :class:`MKLClassifierCV`.
    verbose : int, default=0
        As for :class:`MKLClassifierCV`.
    random_state : int, RandomState or None, default=None
        As for :class:`MKLClassifierCV`; of equally good candidates the first is taken.
    Cs : sequence of float or "auto", default="auto"
        Penalties to choose from; positive. "auto" is 0.01, 0.1, ... 1e5 times the standard deviation of y.
    cv : int, cross-validation generator or iterable of splits, default=5
        A number of folds is shuffled with `random_state`; at most half as many are made as there are samples,
        so that R² is defined on each.
    scoring : str or callable, default=None
        As in scikit-learn; R² by default.
    epsilon : float >= 0 or "auto", default="auto"
        Errors below it are free. "auto" is a tenth of the standard deviation of y.

    Attributes
    ----------
    C_, norm_, best_params_, best_score_, best_index_, cv_results_, n_splits_, n_solves_
        As for :class:`MKLClassifierCV`.
    out_of_fold_ : array of shape (n_samples,)
        The prediction of each sample by the model of the fold that did not see it; NaN where a sample is in
        no validation part.
    estimator_ : MKLRegressor, the last fit
    kernel_weights_, machine_weights_, view_names_, kept_views_, dual_coef_, support_, intercept_,
    total_cost_, gram_, memory_, missing_, objective_, dual_gap_, n_iter_, status_, history_
        As for :class:`MKLRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import MKLRegressorCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(500, 2))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=500)
    >>> model = MKLRegressorCV(Cs=[0.1, 1, 10], norms=[1, 2], cv=3).fit(X[:100], y[:100])
    >>> bool(model.score(X[100:], y[100:]) > 0.9)
    True
    >>> low, high = model.predict_interval(X[100:], coverage=0.9).T
    >>> bool(np.mean((low <= y[100:]) & (y[100:] <= high)) > 0.8)
    True

    Notes
    -----
    It chooses

    .. math::

        (\hat C, \hat p) = \arg\max_{C,\, p}\ \frac1K \sum_{k=1}^K R^2\bigl(y_k,\ f^{(-k)}_{C, p}\bigr)

    with :math:`f^{(-k)}_{C, p}` the :class:`MKLRegressor` with penalty :math:`C` and `norm` :math:`p`,
    learned without the samples of fold :math:`k`. The out-of-fold residuals of the candidate chosen also
    give intervals, by ``predict_interval``.

    As for :class:`MKLClassifierCV`: kernels are scaled by all samples. ``halving=False`` is GridSearchCV with
    `epsilon` a number; "auto" takes the deviation of all values, GridSearchCV that of each training part.

    References
    ----------
    Kloft et al., lp-norm multiple kernel learning, JMLR 12, 2011.
    Barber, Candès, Ramdas & Tibshirani, Predictive inference with the jackknife+, Annals of Statistics 49,
    2021.
    """

    about = TUNED

    kernels: Any = "rich"
    _: KW_ONLY
    Cs: Sequence[float] | str = "auto"
    norms: Sequence[float] = NORMS
    normalizations: Any = None
    cv: Any = 5
    scoring: Any = None
    halving: bool = True
    rule: str = "best"
    refit: bool = True
    epsilon: float | str = "auto"
    costs: Any = None
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None
    n_jobs: int | None = None
    callback: Callable[[dict[str, Any]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def _machine(self, kernels: Any, **more: Any) -> MKLRegressor:
        names = ("epsilon", "costs", "tol", "max_iter")
        return MKLRegressor(kernels, **{name: getattr(self, name) for name in names}, **more)

    def _check_search(self) -> None:
        super()._check_search()
        self._machine(self.kernels)._check_penalty()

    def _set_units(self, banks: list[Data]) -> None:
        spread = standard_deviation(banks[0].targets, banks[0].samples.weights)
        for data in banks:
            data.machine._in_units(spread)
            data.machine.epsilon = data.machine.epsilon_
        if isinstance(self.Cs, str):
            self._grid["C"] = [spread * C for C in self._grid["C"]]

    def _rows_of(self, y: Any) -> Array:
        return column_or_1d(y).astype(float)


@dataclass(eq=False, repr=False)
class MKLRidgeCV(MultiOutputMixin, _TunedRegressor):
    r"""Kernel ridge regression with learned kernel weights that chooses alpha and the norm.

    Use it where good values of alpha and the norm are not known. Use :class:`MKLRidge` where both are known.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="rich"
        As for :class:`MKLClassifierCV`.
    norms : sequence of float >= 1, default=(1.0, 1.5, 2.0, inf)
        As for :class:`MKLClassifierCV`.
    normalizations : sequence of "variance", "diagonal", "trace", "auto" or None, default=None
        As for :class:`MKLClassifierCV`.
    refit : bool, default=True
        As for :class:`MKLClassifierCV`.
    costs : array of shape (n_kernels,) or dict by view name, default=None
        As for :class:`MKLClassifierCV`.
    tol : float, default=1e-3
        As for :class:`MKLClassifierCV`.
    max_iter : int, default=300
        As for :class:`MKLClassifierCV`.
    max_time : float, default=None
        As for :class:`MKLClassifierCV`.
    n_jobs : int, default=None
        As for :class:`MKLClassifierCV`.
    callback : callable, default=None
        As for :class:`MKLClassifierCV`.
    on_interrupt : {"raise", "keep"}, default="raise"
        As for :class:`MKLClassifierCV`.
    verbose : int, default=0
        As for :class:`MKLClassifierCV`.
    random_state : int, RandomState or None, default=None
        As for :class:`MKLClassifierCV`.
    alphas : sequence of float, default=(1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1e3)
        Strengths of the regularization to choose from; positive.
    cv : int, cross-validation generator or iterable of splits, default=None
        None is leave-one-out in closed form; else as for :class:`MKLRegressorCV`.
    scoring : str or callable, default=None
        As in scikit-learn. By default minus the mean squared error of leave-one-out, and R² on folds.
    halving : bool, default=True
        As for :class:`MKLClassifierCV`. Leave-one-out measures all candidates in any case, with True at
        weights of a relative gap of 1e-2.
    rule : {"best", "one_se"}, default="best"
        As for :class:`MKLClassifierCV`, with the largest alpha for "one_se"; the first of equally good ones.
    fit_intercept : bool, default=True
        Whether each output has an intercept that is not regularized.
    targets : {"shared", "each"}, default="shared"
        - "shared": all outputs have the same weights and the same alpha.
        - "each": weights and alpha of each output, chosen among `candidates` and `alphas` by its own
          leave-one-out error (or its error on the folds of `cv`, which must train on all samples outside of
          the validation part). An output may be NaN where it was not observed. `norms`, `normalizations`,
          `scoring` and `rule` must be left out, and `n_jobs` has no effect; with ``halving=True``
          leave-one-out errors are computed only where an estimate of them is near the least.
    candidates : int or array of shape (n_candidates, n_kernels), default=100
        Sets of weights to choose from with ``targets="each"``. A number: equal weights, each view alone, the
        weights that all outputs would share at each of the alphas, and random draws. Of weights that you
        give beyond Σ_m d_m² μ_m = 1 there are no duality gaps (NaN).
    refine : bool, default=False
        With ``targets="each"``, whether the convex problem of each output is solved at its alpha, starting
        at its candidate. Its weights are taken where their error is smaller.

    Attributes
    ----------
    alpha_ : float, the alpha chosen; with ``targets="each"`` an array of shape (n_outputs,)
    target_names_ : list of str, the columns of y, or numbers
    candidates_, best_index_, candidate_scores_, refined_, target_gaps_
        With ``targets="each"``: the sets of weights (n_candidates, n_kernels), the number of that of each
        output, minus the mean squared errors (n_candidates, n_outputs) at the best alpha (NaN where none was
        computed), whether the weights of an output solve its convex problem, and the relative duality gaps
        (n_outputs,) of the weights chosen in these problems. ``best_score_`` is then an array of shape
        (n_outputs,), and there is no ``cv_results_`` and no ``best_params_``.
    norm_, best_params_, best_score_, best_index_, cv_results_, n_splits_, n_solves_
        As for :class:`MKLClassifierCV`; of leave-one-out there is one column of scores.
    out_of_fold_ : array of shape (n_samples,) or (n_samples, n_outputs)
        The prediction of each sample by a model that did not see it; NaN where a sample is in no validation
        part.
    estimator_ : MKLRidge, the last fit
    kernel_weights_, machine_weights_, view_names_, kept_views_, dual_coef_, support_, intercept_,
    total_cost_, gram_, memory_, missing_, objective_, dual_gap_, n_iter_, status_, history_
        As for :class:`MKLRidge`.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import MKLRidgeCV
    >>> from multikernel.kernels import Linear
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> views = [("signal", Linear(), [0]), ("noise", Linear(), [1])]
    >>> model = MKLRidgeCV(views, alphas=[0.1, 1, 10]).fit(X, 3 * X[:, 0] + 1)
    >>> model.alpha_, model.norm_, float(model.predict([[1.0, 0.0]])[0].round(1))
    (0.1, 1.0, 4.0)

    Notes
    -----
    It chooses

    .. math::

        (\hat\alpha, \hat p) = \arg\min_{\alpha,\, p}\ \frac1n \sum_i
        \Bigl(\frac{(P y)_i}{P_{ii}}\Bigr)^2, \qquad
        P = A^{-1} - \frac{A^{-1} 1 1' A^{-1}}{1' A^{-1} 1}, \quad
        A = \sum_m \mu_m K_m + \alpha I

    with :math:`\mu` the weights that :class:`MKLRidge` learns at :math:`\alpha` and `norm` :math:`p`. The
    sum is the leave-one-out error, in closed form, at these weights, which have seen all samples. With `cv`
    folds the weights of each fold are learned without its validation samples, too. The residuals of the
    candidate chosen also give intervals, by ``predict_interval``.

    As for :class:`MKLClassifierCV`: kernels are scaled by all samples, ``halving=False`` is GridSearchCV.

    References
    ----------
    Cortes, Mohri & Rostamizadeh, L2 regularization for learning kernels, UAI 2009.
    Allen, The relationship between variable selection and data augmentation and a method for prediction,
    Technometrics 16, 1974.
    """

    about = TUNED_RIDGE
    _penalty = ("alpha", "alphas")
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

    kernels: Any = "rich"
    _: KW_ONLY
    alphas: Sequence[float] = _ALPHAS
    norms: Sequence[float] = NORMS
    normalizations: Any = None
    cv: Any = None
    scoring: Any = None
    halving: bool = True
    rule: str = "best"
    refit: bool = True
    fit_intercept: bool = True
    targets: str = "shared"
    candidates: Any = 100
    refine: bool = False
    costs: Any = None
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None
    n_jobs: int | None = None
    callback: Callable[[dict[str, Any]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def _machine(self, kernels: Any, **more: Any) -> MKLRidge:
        names = ("fit_intercept", "costs", "tol", "max_iter")
        return MKLRidge(kernels, **{name: getattr(self, name) for name in names}, **more)

    def _fit_each_target(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> bool:
        """Choose weights and alpha of each output where it is asked for; the attributes of one way only."""
        each = check_choice("targets", self.targets, TARGETS) == "each"
        for name in _OF_EACH:
            self.__dict__.pop(name, None)
        if each:
            fit_chosen(self, X, y, sample_weight, groups)
        return each

    @property
    def certificate(self) -> str:
        """What ``dual_gap_`` certifies; weights that are chosen, and not learned, are given."""
        return "machine" if self.targets == "each" else "optimality"

    def _final(self, problem: Any, alphas: Array, results: list[Any]) -> list[Any]:
        """The models of outputs whose weights and alphas were chosen: the regressions."""
        return results

    def _prepare(self, kernels: Any, X: Any, y: Any, sample_weight: Any, seed: Any) -> Data:
        data = super()._prepare(kernels, X, y, sample_weight, seed)
        data.machine.target_names_ = names_of_targets(y, data.targets.shape[1])
        return data

    def _folds(self, data: Data, groups: Any) -> tuple[type[GridSearch], list[Split]]:
        if self.cv is not None:
            return super()._folds(data, groups)
        if groups is not None:
            raise ValueError("groups need a cv that reads them, such as GroupKFold(5); got cv=None.")
        if len(data.targets) < 2:
            raise ValueError("leave-one-out (cv=None) needs at least 2 samples; got 1 sample.")
        return LeaveOneOut, []

    def _rows_of(self, y: Any) -> Array:
        return np.asarray(y, float)

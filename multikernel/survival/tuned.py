"""Survival models that choose their penalty and the norm of their weights by cross-validation."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from .._typing import Array
from ..core.concordance import concordance_index
from ..core.folds import Split
from ..core.search.grid import OTHER_SAMPLES, Data, GridSearch, Part
from ..core.search.selection import split_samples
from ..core.search.tuned import NORMS, Tuned
from ..core.survival_targets import as_survival
from .estimators import SURVIVAL, MKLSurvival, SurvivalPredictions

_CS = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2)
_OF_FIT = ("_baseline", "event_times_", "baseline_hazard_", "strata_", "n_events_")

TUNED_SURVIVAL = replace(
    SURVIVAL,
    problem="max over C and p of the mean concordance on folds of survival models with this C and norm p",
    solver="halving of the grid on folds of one Gram stack; the last model has a duality gap",
    cost="about ten fits of MKLSurvival for 6 values of C, 4 norms and 5 folds; memory 1.7 P n²",
    use="Censored times, nothing to set.",
    reference="Harrell et al. 1982; Jamieson & Talwalkar 2016",
)


class HeldOutSurvival(BaseEstimator):
    """The model of one fold and candidate: it knows the risk scores of the validation samples alone."""

    def __init__(self, X: Any, scores: Array) -> None:
        self.X = X
        self.answers = scores[:, 0]

    def predict(self, X: Any) -> Array:
        """The risk scores that are known."""
        if X is not self.X:
            raise ValueError(OTHER_SAMPLES)
        return self.answers

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Harrell's C."""
        return concordance_index(as_survival(y), self.predict(X), sample_weight=sample_weight)


@dataclass(eq=False, repr=False)
class MKLSurvivalCV(SurvivalPredictions, Tuned):
    r"""Survival model with learned kernel weights that chooses C and the norm on folds.

    Use it where good values of C and the norm are not known. Use :class:`MKLSurvival` where both are known.

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
    loss : {"hinge", "squared_hinge"}, default="cox"
        As for :class:`MKLSurvival`.
    ties : {"breslow", "efron"}, default="breslow"
        As for :class:`MKLSurvival`.
    epsilon : float >= 0, default=0.1
        As for :class:`MKLSurvival`.
    Cs : sequence of float, default=(1e-3, 0.01, 0.1, 1, 10, 100)
        Weights of the loss to choose from; positive.
    cv : int, cross-validation generator or iterable of splits, default=5
        A number of folds is stratified on the event and shuffled with `random_state`; there are no more folds
        than events.
    scoring : str or callable, default=None
        As in scikit-learn; Harrell's C by default.

    Attributes
    ----------
    C_, norm_, best_params_, best_score_, best_index_, cv_results_, n_splits_, n_solves_
        As for :class:`MKLClassifierCV`.
    out_of_fold_ : array of shape (n_samples,)
        The risk score of each sample by the model that did not see it; NaN where it is in no validation part.
        Scores of different folds have no common level for ``"cox"`` and ``"ranking"``.
    estimator_ : MKLSurvival, the last fit
    event_times_, baseline_hazard_, strata_, n_events_
        As for :class:`MKLSurvival`.
    kernel_weights_, machine_weights_, view_names_, kept_views_, dual_coef_, support_, kernel_factors_,
    intercept_, total_cost_, gram_, memory_, missing_, objective_, dual_gap_, n_iter_, status_, history_
        As for :class:`MKLSurvival`.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.kernels import Linear
    >>> from multikernel.survival import MKLSurvivalCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 4))
    >>> death, end = rng.exponential(np.exp(-2 * X[:, 0])), rng.exponential(2.0, size=90)
    >>> y = {"event": death <= end, "time": np.minimum(death, end)}
    >>> views = [("clinic", Linear(), [0, 1]), ("noise", Linear(), [2, 3])]
    >>> model = MKLSurvivalCV(views, Cs=[0.01, 1.0], norms=[1, 2], cv=3).fit(X, y)
    >>> model.kernel_weights_.argmax(), bool(model.best_score_ > 0.75)
    (np.int64(0), True)

    Notes
    -----
    It chooses

    .. math::

        (\hat C, \hat p) = \arg\max_{C,\, p}\ \frac1K \sum_{k=1}^K
        \text{Harrell's C}\bigl(y_k,\ f^{(-k)}_{C, p}\bigr)

    with :math:`f^{(-k)}_{C, p}` the :class:`MKLSurvival` with weight of the loss :math:`C` and `norm`
    :math:`p`, learned without the samples of fold :math:`k`. Folds have the same share of events.

    As for :class:`MKLClassifierCV`: kernels are scaled by all samples. Entry times count; strata are not
    supported.

    References
    ----------
    Harrell, Califf, Pryor, Lee & Rosati, Evaluating the yield of medical tests, JAMA 247, 1982.
    """

    about = TUNED_SURVIVAL
    _task = "survival"

    kernels: Any = "rich"
    _: KW_ONLY
    Cs: Sequence[float] = _CS
    norms: Sequence[float] = NORMS
    normalizations: Any = None
    cv: Any = 5
    scoring: Any = None
    halving: bool = True
    rule: str = "best"
    refit: bool = True
    loss: str = "cox"
    ties: str = "breslow"
    epsilon: float = 0.1
    costs: Any = None
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None
    n_jobs: int | None = None
    callback: Callable[[dict[str, Any]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.estimator_type = "survival"
        return tags

    # ------------------------------------------------------------------ hooks of the search
    def _machine(self, kernels: Any, **more: Any) -> MKLSurvival:
        names = ("loss", "ties", "epsilon", "costs", "tol", "max_iter")
        return MKLSurvival(kernels, **{name: getattr(self, name) for name in names}, **more)

    def _check_search(self) -> None:
        super()._check_search()
        self._machine(self.kernels)._check_parameters()

    def _rows_of(self, y: Any) -> Array:
        return as_survival(y).to_structured()

    def _folds(self, data: Data, groups: Any) -> tuple[type[GridSearch], list[Split]]:
        cv, target = 5 if self.cv is None else self.cv, as_survival(data.y)
        seed = data.machine.random_state
        splits = split_samples(cv, data.X, target, data.samples, seed, classifier=False, groups=groups)
        return GridSearch, splits

    def _part(self, machine: Any, data: Data, rows: Array) -> Part:
        places, totals = data.merged(rows, data.weights[rows])
        problem, middle = machine._problem(data.targets[places], totals)
        return Part(places, totals, [problem], middle)

    def _held_out(self, data: Data, machine: Any, X: Any, scores: Array) -> HeldOutSurvival:
        return HeldOutSurvival(X, scores)

    def _finish(self, machine: Any, data: Data) -> None:
        machine._settle(machine._solve_stack(data.Ks, data.targets, data.samples))

    def _learn_from_folds(self, data: Data) -> None:
        """The baseline hazard is that of the last fit."""
        for name in _OF_FIT:
            self.__dict__.pop(name, None)
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))

"""Survival models with learned kernel weights."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from .._validation import as_numbers, check_choice, check_number, check_positive_integer, is_missing
from ..core.about import About
from ..core.concordance import concordance_index
from ..core.decisions import Machines
from ..core.estimator import BaseMKL, Solved, refusing_overflow, require_finite
from ..core.inputs import Samples, all_samples, check_sample_weights, checks_ids, price_samples
from ..core.low_rank import fit_factors, goes_low_rank, store_factors
from ..core.row_input import refuse_dask, valued_rows
from ..core.survival_targets import SurvivalTarget, as_survival, check_survival
from ..rows.base import Block
from .solver.baseline import Baseline, breslow
from .solver.cox import TIES, CoxLoss
from .solver.factors import learn_boxed, learn_smooth
from .solver.ranking import RankingLoss
from .solver.regression import CensoredEpsilonInsensitive

LOSSES = ("cox", "ranking", "regression")
TIME, EVENT, ENTRY, STRATUM = range(4)  # columns of the targets that the solver sees

SURVIVAL = About(
    family="survival",
    problem=(
        "min ½‖f‖² + C L(f) in the space of Σ μ_m K_m, μ ≥ 0, Σ (d_m² μ_m)^p ≤ 1, L Cox's partial "
        "likelihood, squared hinges of pairs, or one-sided errors of log times"
    ),
    solver="Newton's method on weights and function together; SMO for regression; duality gap",
    cost=("Cox: about ten Cholesky factorizations (n³/3); ranking: products of n²; memory 1.3 P n²"),
    use="Censored times: which views predict them; loss='cox' also gives survival curves.",
    reference="Cox 1972; Van Belle et al. 2011; Pölsterl et al. 2015",
)


def _is_cox(model: Any) -> bool:
    return bool(model.loss == "cox")


class SurvivalPredictions:
    """Risk scores, their score, and the curves of Cox's model, from what a fit has stored."""

    loss: str
    event_times_: Array
    strata_: Array | None
    intercept_: Array
    _baseline: Baseline
    _scores: Callable[[Any], Array]

    def predict(self, X: Any) -> Array:
        """Risk scores: a higher one is an earlier event.

        For ``loss="cox"`` the log of the hazard relative to the baseline; for ``loss="regression"`` minus
        the log of the time.

        Parameters
        ----------
        X : as for ``fit``

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        return np.asarray((self._scores(X) + self.intercept_)[:, 0])

    @checks_ids
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Harrell's C of the risk scores: the share of comparable pairs in the right order.

        Parameters
        ----------
        X, y : as for ``fit``
        sample_weight : array of shape (n_samples,), default=None
            A pair has the product of the weights of its samples.

        Returns
        -------
        float
        """
        risk = self.predict(X)
        return float(concordance_index(as_survival(y), risk, sample_weight=sample_weight))

    @available_if(_is_cox)
    def predict_cumulative_hazard(self, X: Any, times: Any = None, strata: Any = None) -> Array:
        """Cumulative hazards, step functions of time by Breslow's estimator.

        Parameters
        ----------
        X : as for ``fit``
        times : array of shape (n_times,), default=None
            ``event_times_`` by default.
        strata : array of shape (n_samples,), optional
            Needed where the model was fitted with strata.

        Returns
        -------
        array of shape (n_samples, n_times)
            0 before the first event; beyond the last one they stay as they are.
        """
        check_is_fitted(self)
        at = self.event_times_ if times is None else _check_times(times)
        risk = self.predict(X)
        return self._baseline.at(at, self._strata_of(strata, risk.size), risk)

    @available_if(_is_cox)
    def predict_survival_function(self, X: Any, times: Any = None, strata: Any = None) -> Array:
        """Probabilities to live longer than some times, exp(−H(t | x)).

        Parameters
        ----------
        X, times, strata : as for ``predict_cumulative_hazard``

        Returns
        -------
        array of shape (n_samples, n_times)
        """
        return np.asarray(np.exp(-self.predict_cumulative_hazard(X, times, strata)))

    def _strata_of(self, strata: Any, n: int) -> Array:
        """The codes of the strata of some samples."""
        if self.strata_ is None:
            if strata is not None:
                raise ValueError("the model was fitted without strata; leave strata out.")
            return np.zeros(n, np.intp)
        if strata is None:
            raise ValueError(
                f"the model was fitted with the strata {self.strata_.tolist()}; pass that of each sample."
            )
        labels, codes = _coded(strata, n)
        places = pd.Index(self.strata_).get_indexer(labels)
        if (places < 0).any():
            raise ValueError(
                f"stratum {labels.tolist()[int(np.argmin(places))]!r} was not seen in fit; the strata are "
                f"{self.strata_.tolist()}."
            )
        return places[codes.astype(np.intp)]


@dataclass(eq=False, repr=False)
class MKLSurvival(SurvivalPredictions, BaseMKL):
    r"""Survival model that learns the weights of its kernels from censored times.

    Use it for censored times: it predicts a risk score, where a higher score is an earlier event, and for
    ``loss="cox"`` survival curves. To choose C and the norm, use :class:`MKLSurvivalCV`.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`MKLClassifier`.
    norm : float >= 1, default=1.0
        As for :class:`MKLClassifier`.
    costs : array of shape (n_kernels,) or dict by view name, default=None
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
    loss : {"cox", "ranking", "regression"}, default="cox"
    C : float, default=1.0
        Weight of the loss against the norm of f.
    ties : {"breslow", "efron"}, default="breslow"
        How Cox's partial likelihood counts events at the same time.
    epsilon : float >= 0, default=0.1
        Of the regression: errors of the log time below it are free.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
    event_times_ : array of shape (n_times,)
        Times with events, in rising order.
        For ``loss="cox"`` only.
    baseline_hazard_ : array of shape (n_strata, n_times)
        Cumulative, by Breslow's estimator.
        For ``loss="cox"`` only.
    strata_ : array of shape (n_strata,)
        The strata of fit; None without any.
    n_events_ : int, samples whose event was seen
    objective_ : float, the dual value at the learned kernel
    dual_gap_ : float, the relative duality gap reached
    intercept_ : array of shape (1,)
        0 but for the regression.
    view_names_, kept_views_, machine_weights_, dual_coef_, support_, kernel_factors_, coef_,
    approximation_, gram_, memory_, missing_, total_cost_, n_iter_, status_, history_
        As for :class:`MKLClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.kernels import Linear
    >>> from multikernel.survival import MKLSurvival
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 4))
    >>> death, end = rng.exponential(np.exp(-2 * X[:, 0])), rng.exponential(2.0, size=200)
    >>> y = {"event": death <= end, "time": np.minimum(death, end)}
    >>> model = MKLSurvival([("clinic", Linear(), [0, 1]), ("noise", Linear(), [2, 3])]).fit(X, y)
    >>> model.kernel_weights_.round(2).tolist()
    [1.0, 0.0]
    >>> bool(model.score(X, y) > 0.8), bool(model.dual_gap_ <= 1e-3)
    (True, True)
    >>> model.predict_survival_function([[2.0, 0, 0, 0], [-2.0, 0, 0, 0]], times=[0.5]).round(2).tolist()
    [[0.0], [0.99]]

    Notes
    -----
    It solves

    .. math::

        \min_{\mu \ge 0,\ \sum_m (d_m^2 \mu_m)^p \le 1}\ \min_f\
        \tfrac12 \|f\|^2_{K(\mu)} + C\, L(f), \qquad K(\mu) = \sum_m \mu_m K_m

    with kernels :math:`K_m`, their weights :math:`\mu` and costs :math:`d_m`, and one of the losses, for
    samples of weight :math:`w_i` (1 each by default) with the time :math:`t_i`:

    - ``"cox"``, the partial likelihood:
      :math:`L(f) = \sum_{i:\,event} w_i \big[\log \sum_{j:\, t_j \ge t_i} w_j e^{f_j} - f_i\big]`;
    - ``"ranking"``: :math:`L(f) = \sum_i w_i \cdot` the mean of
      :math:`\tfrac12 [1 - (f_i - f_j)]_+^2` over the pairs, with weights :math:`w_i w_j`, where :math:`i` has
      an event and :math:`j` lives longer;
    - ``"regression"``: :math:`L(f) = \sum_{i:\,event} w_i [|r_i| - \epsilon]_+ +
      \sum_{i:\,censored} w_i [r_i - \epsilon]_+` with :math:`r_i = f_i + b + \log t_i`: minus the score is
      the log time, and that of a censored sample may be any longer one.

    A higher score is a higher risk: an earlier event.

    Sample weights are numbers of equal samples: those of a risk set count, too, and with Breslow's ties, with
    the ranking and with the regression a weight of 2 is exactly a repeated sample. Efron's ties count tied
    events by their number; of those, a weight multiplies the terms.

    Strata (``fit(..., strata=...)``) have baseline hazards and risk sets of their own, and one function f.
    With entry times in y (left truncation) a sample is at risk after its entry. Both need ``loss="cox"``.

    Scores of ``"cox"`` and ``"ranking"`` have no level: adding a constant to f changes nothing. The loss of
    the ranking is that of scikit-survival's ``FastKernelSurvivalSVM`` with
    :math:`\alpha = C\, n / n_{pairs}`.

    References
    ----------
    Cox, Regression models and life-tables, JRSS B 34, 1972.
    Efron, The efficiency of Cox's likelihood function for censored data, JASA 72, 1977.
    Shivaswamy, Chu & Jansche, A support vector approach to censored targets, ICDM 2007.
    Van Belle, Pelckmans, Van Huffel & Suykens, Support vector methods for survival analysis, Artificial
    Intelligence in Medicine 53, 2011.
    Pölsterl, Navab & Katouzian, Fast training of support vector machines for survival analysis, ECML 2015.
    """

    about = SURVIVAL
    _has_factors = True

    kernels: Any = "auto"
    _: KW_ONLY
    loss: str = "cox"
    C: float = 1.0
    norm: float = 1.0
    costs: Any = None
    ties: str = "breslow"
    epsilon: float = 0.1
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None
    callback: Callable[[dict[str, float]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.estimator_type = "survival"
        return tags

    # ------------------------------------------------------------------ fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None, strata: Any = None) -> "MKLSurvival":
        """Learn the kernel weights and the risk.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : structured array, DataFrame, dict or tuple (event, time)
            Whether the event of each sample was seen, and when it was last observed; a third column or field
            ``entry`` says when its observation began.
        sample_weight : array of shape (n_samples,), default=None
            How often each sample counts.
        strata : array of shape (n_samples,), default=None
            Groups with baseline hazards of their own, for ``loss="cox"``.
        """
        self._check_parameters()
        refuse_dask(self, X)
        if goes_low_rank(self, X):
            middle = self._fit_low_rank(X, y, sample_weight, strata)
        else:
            X, targets, samples = self._samples(X, y, sample_weight, strata)
            middle = self._solve_stack(self._fit_kernels(X, samples), targets, samples)
        self._settle(middle)
        self._warn_unless_converged()
        return self

    def _check_parameters(self) -> None:
        check_choice("loss", self.loss, LOSSES)
        check_choice("ties", self.ties, TIES)
        check_number("C", self.C, above=0.0)
        check_number("epsilon", self.epsilon, at_least=0.0)

    def _samples(self, X: Any, y: Any, sample_weight: Any, strata: Any = None) -> tuple[Any, Array, Samples]:
        """The checked table, the targets (n_distinct, 4) of the distinct samples, and these."""
        X = self._validate_table(X, reset=True)
        targets, weights = self._checked_targets(X, y, sample_weight, strata)
        counts_ties = self.loss == "cox" and self.ties == "efron"  # by their number: equal ones are not one
        samples = all_samples(weights) if counts_ties else self._distinct(X, targets, weights)
        return X, targets[samples.rows], samples

    def _checked_targets(self, X: Any, y: Any, sample_weight: Any, strata: Any) -> tuple[Array, Array]:
        """The targets (n, 4) of the rows of a table, and their weights."""
        target = check_survival(self, X, y, positive=self.loss == "regression")
        weights = check_sample_weights(sample_weight, len(target))
        if not target.event[weights > 0.0].any():
            raise ValueError(
                f"{type(self).__name__} needs samples with an event; all samples of y with a positive weight "
                "are censored."
            )
        self.strata_, codes = self._check_strata(strata, len(target))
        self._refuse_entries(target)
        entry = np.full(len(target), -1.0) if target.entry is None else target.entry
        targets = np.column_stack([target.time, target.event, entry, codes])
        if self.loss == "cox" and not _compares(targets[weights > 0.0]):
            raise ValueError(
                'loss="cox" needs an event at which other samples of the same stratum are at risk; y has '
                f"none (n_samples = {len(target)}). Use more samples, or fewer strata."
            )
        self.n_events_ = int(np.count_nonzero(target.event))
        return targets, weights

    def _check_strata(self, strata: Any, n: int) -> tuple[Array | None, Array]:
        """The strata in their order, and the code of each sample."""
        if strata is None:
            return None, np.zeros(n)
        if self.loss != "cox":
            raise ValueError(f'strata need loss="cox"; got loss={self.loss!r}. Leave strata out.')
        return _coded(strata, n)

    def _refuse_entries(self, target: SurvivalTarget) -> None:
        if target.entry is not None and self.loss != "cox":
            raise ValueError(
                f'entry times need loss="cox"; got loss={self.loss!r}. Leave the entry times out of y, or '
                'use loss="cox".'
            )

    # ------------------------------------------------------------------ solve
    def _problem(self, targets: Array, weights: Array) -> tuple[Machines, float]:
        """The machine of a Gram stack, and what was subtracted from its targets: the numbers stay small."""
        middle = 0.0
        if self.loss == "regression":
            middle = float(np.median(-np.log(targets[:, TIME])))
        return Machines(np.arange(len(targets)), ["risk"], [targets]), middle

    def _losses(self, problem: Machines, weights: Array) -> list[Any]:
        targets = problem.signs[0]
        time, event = targets[:, TIME], targets[:, EVENT] > 0.0
        prices = price_samples(self.C, weights)
        if self.loss == "regression":
            y = -np.log(time)
            return [CensoredEpsilonInsensitive(y - np.median(y), prices, float(self.epsilon), event)]
        if self.loss == "ranking":
            loss = RankingLoss(time, event, float(self.C), weights)
            if not loss.total_pairs > 0.0:
                raise ValueError(
                    'loss="ranking" needs a pair of samples that can be compared: an event, and a sample '
                    "that is known to live longer. Use more samples."
                )
            return [loss]
        codes = targets[:, STRATUM].astype(np.intp)
        entry = targets[:, ENTRY] if (targets[:, ENTRY] >= 0.0).any() else None
        return [
            CoxLoss(time, event, float(self.C), weights, entry, codes if codes.any() else None, self.ties)
        ]

    def _solve_stack(self, Ks: Array, targets: Array, samples: Samples) -> float:
        """Solve on a Gram stack and store; what was subtracted from the targets."""
        problem, middle = self._problem(targets, samples.weights)
        losses = self._losses(problem, samples.weights)
        solved = self._solve_machines(Ks, problem.rows, problem.names, losses)
        self._store_baseline(losses[0], lambda: training_scores(Ks, solved))
        self._store([solved], samples)
        return middle

    def _fit_low_rank(self, X: Any, y: Any, sample_weight: Any, strata: Any) -> float:
        """Solve on factors and store; what was subtracted from the targets."""
        targets, _ = self._checked_targets(self._validate_table(X, reset=True), y, sample_weight, strata)
        if (targets[:, ENTRY] >= 0.0).any():
            raise ValueError(
                "entry times have no low-rank route. Use KernelBank(kernels, gram='dense'), or leave them "
                "out of y."
            )
        given = valued_rows(self, X, targets, sample_weight, multi_output=True)
        factors = fit_factors(self, given)
        blocks = factors.rows.map(_used_parts)
        Z, targets, weights = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        problem, middle = self._problem(targets, weights)
        [loss] = self._losses(problem, weights)
        learn = learn_boxed if self.loss == "regression" else learn_smooth
        options = self._options(self._fit_seed, "")
        with refusing_overflow():
            result = learn(Z, factors.bank.offsets_, loss, float(self.norm), self._costs, options)
        require_finite(result)
        self._store_baseline(loss, lambda: np.asarray(Z @ result.coefficients[0], float))
        store_factors(self, factors, [result], [problem.names])
        return middle

    def _store_baseline(self, loss: Any, scores: Callable[[], Array]) -> None:
        """The baseline hazard of the scores of the training samples, where the loss has one."""
        for name in ("_baseline", "event_times_", "baseline_hazard_"):
            self.__dict__.pop(name, None)  # of a fit with another loss
        if self.loss != "cox":
            return
        n_strata = 1 if self.strata_ is None else self.strata_.size
        self._baseline = breslow(loss, scores(), n_strata)
        self.event_times_ = self._baseline.times
        with np.errstate(over="ignore"):
            self.baseline_hazard_ = np.exp(self._baseline.logs)

    def _settle(self, middle: float) -> None:
        """The intercept absorbs what was subtracted from the targets."""
        self.intercept_ = self.intercept_ + middle

    @available_if(_is_cox)
    def predict_survival_bands(
        self,
        X: Any,
        X_train: Any,
        y_train: Any,
        *,
        times: Any = None,
        confidence: float = 0.95,
        n_bootstraps: int = 100,
        sample_weight: Any = None,
        random_state: Any = None,
    ) -> Array:
        """Pointwise confidence bands of the survival function, by the bootstrap.

        The model is fitted again to samples that are drawn from the training samples with replacement, by
        weights, with the weights of the kernels learned anew. Not for models with strata.

        Parameters
        ----------
        X : as for ``fit``
        X_train, y_train : the training samples
        times : array of shape (n_times,), default=None
            ``event_times_`` by default.
        confidence : float, default=0.95
        n_bootstraps : int, default=100
            How many fits; each takes as long as that of this model.
        sample_weight : array of shape (n,), optional
            As in ``fit``.
        random_state : int, RandomState or None, default=None

        Returns
        -------
        array of shape (n_samples, n_times, 2)
            Lower and upper ends.
        """
        check_is_fitted(self)
        level = check_number("confidence", confidence, above=0.0)
        if not level < 1.0:
            raise ValueError(f"confidence must lie between 0 and 1; got {confidence!r}.")
        check_positive_integer("n_bootstraps", n_bootstraps)
        if self.strata_ is not None:
            raise ValueError("predict_survival_bands does not support a model that was fitted with strata.")
        at = self.event_times_ if times is None else _check_times(times)
        target, random = as_survival(y_train), check_random_state(random_state)
        weights = check_sample_weights(sample_weight, len(target))
        curves: list[Array] = []
        while len(curves) < n_bootstraps:
            counts = np.bincount(random.randint(weights.size, size=weights.size), minlength=weights.size)
            if target.event[counts * weights > 0.0].any():
                model = clone(self).fit(X_train, y_train, sample_weight=counts * weights)
                curves.append(model.predict_survival_function(X, at))
        ends = np.quantile(curves, [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=0)
        return np.asarray(np.moveaxis(ends, 0, -1))


def _used_parts(block: Block) -> tuple[Array, Array, Array]:
    """Factors, targets and weights of the rows that count."""
    Z, targets, weights, _ = block.parts
    used = np.flatnonzero(weights > 0.0)
    return (Z, targets, weights) if used.size == block.n_rows else (Z[used], targets[used], weights[used])


def training_scores(Ks: Array, solved: Solved) -> Array:
    """The scores of the samples of a stack, without intercept."""
    result = solved.result
    beta = result.duals[0] if solved.scales is None else solved.scales * result.duals[0]
    total = np.zeros(Ks.shape[1])
    for m in np.flatnonzero(result.weights):
        part = result.factors.get(int(m))
        total += result.weights[m] * (Ks[m] @ beta) if part is None else part.factor.L @ part.coef[0]
    return total if solved.scales is None else solved.scales * total


def _compares(targets: Array) -> bool:
    """Is there an event at which two samples of a stratum are at risk?"""
    for code in np.unique(targets[:, STRATUM]):
        inside = targets[targets[:, STRATUM] == code]
        at = inside[inside[:, EVENT] > 0.0, TIME]
        over, late = (np.searchsorted(np.sort(inside[:, column]), at) for column in (TIME, ENTRY))
        if (late - over >= 2).any():  # those who entered before, less those whose time is over
            return True
    return False


def _coded(strata: Any, n: int) -> tuple[Array, Array]:
    """The distinct strata in their order, and the code of each sample."""
    values = np.asarray(strata)
    if values.shape != (n,):
        raise ValueError(f"strata must hold one value for each of the {n} samples; got shape {values.shape}.")
    absent = [row for row, value in enumerate(values.tolist()) if is_missing(value)]
    if absent:
        raise ValueError(f"strata must not be missing; row {absent[0]} is. Give such samples a stratum.")
    codes, labels = pd.factorize(values, sort=True)
    return np.asarray(labels), codes.astype(float)


def _check_times(times: Any) -> Array:
    at = np.atleast_1d(as_numbers(np.asarray(times), "times", "Give one number for each time.").astype(float))
    if at.ndim != 1 or not np.isfinite(at).all():
        raise ValueError(f"times must be a list of finite numbers; got {times!r}.")
    return at

"""The steps that classifier and regressor share: prepare, search on folds, fit the last model."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from joblib import Parallel
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring

from ..._threads import one_thread
from ..._typing import Array
from ..._validation import check_choice, warn_caller
from ...core.callbacks import callback_of
from ...core.estimator import KernelEstimator, worst_status
from ...core.fitted import prediction_cost
from ...core.folds import check_one_score
from ...core.inputs import check_sample_weights
from ...core.optim.loop import SearchProgress, Status, limited, time_left
from ...core.search.selection import adopt, scores_record, seed_of, split_samples
from .response_surface import RULES, check_degree
from .search import (
    SEARCHES,
    Chosen,
    DesignFolds,
    Setting,
    check_bound,
    check_delta,
    check_max_samples,
    choose,
    open_folds,
    thin_out,
)

_SEARCH_SHARE = 0.8  # of the time that is left: the rest is for the last model


class Regularized(KernelEstimator):
    """A model whose kernel weights are regularised by cross-validation.

    Hooks: ``_fold`` (the model of a fold), ``_machine(seed)`` (the model without costs), ``_open`` (its
    machines on all samples, the targets, and the codes of classes or None), ``_finish`` (what the last model
    learns after its machines).
    """

    method: str
    cv: Any
    scoring: Any
    search_C: bool
    delta: float
    bound: float
    degree: int
    rule: str
    max_samples: Any
    max_time: float | None
    n_jobs: int | None
    verbose: int
    random_state: Any
    machine_weights_: Array
    dual_coef_: Array
    kernel_weights_: Array
    kernel_factors_: Any
    n_solves_: int
    _fold: Any
    _adds_kernels = True

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        self._check_search()
        self._check_storage()
        model = self._machine(seed_of(self))
        machines, y, codes = self._open(model, X, y, sample_weight)
        X = model._validate_table(X, reset=False)  # of rows that folds can take
        chosen, record = self._choose(machines, (X, y, sample_weight), codes)
        chosen.setting.apply(model)
        solutions = machines.solve()
        machines.store(solutions)
        self._finish(model, X, y, sample_weight)
        self._adopt(model, chosen, record)
        self.n_solves_ += len(solutions)
        self._warn_unless_converged()
        self._tell_of_search(chosen)
        return self

    # ------------------------------------------------------------------ hooks
    def _machine(self, seed: Any) -> Any:
        raise NotImplementedError

    def _open(self, model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Array | None]:
        raise NotImplementedError

    def _finish(self, model: Any, X: Any, y: Any, sample_weight: Any) -> None:
        """What the last model learns after its machines."""

    # ------------------------------------------------------------------ search
    def _choose(
        self, machines: Any, data: tuple[Any, Array, Any], codes: Array | None
    ) -> tuple[Chosen, dict[str, Any]]:
        """Measure points until the search ends: the setting chosen, and the attributes that tell of it."""
        (X, y, sample_weight), model = data, machines.model
        if len(machines.Ks) == 1 and not self.search_C:
            nothing = {"cv_results_": {}, "best_score_": float("nan"), "n_solves_": 0}
            return Chosen(Setting(np.ones(1)), [], 0), nothing  # one kernel leaves nothing to search
        weights = None if sample_weight is None else check_sample_weights(sample_weight, y.size)
        seed = model.random_state
        splits = split_samples(self.cv, X, y, machines.samples, seed, classifier=codes is not None)
        splits = thin_out(splits, self.max_samples, codes, seed)
        with one_thread(), Parallel(n_jobs=self.n_jobs, require="sharedmem") as pool:
            models = open_folds(lambda: self._model_of_fold(model), X, y, weights, splits, pool)
            folds = DesignFolds(models, check_scoring(self, self.scoring), pool)
            progress = SearchProgress(self.verbose, callback_of(self))
            with limited(_SEARCH_SHARE * time_left()):
                chosen = choose(self, folds, machines, progress)
        return replace(chosen, ended=progress.ended), self._record(chosen, folds)

    def _model_of_fold(self, model: Any) -> Any:
        """A model for one fold with what was settled on all the samples."""
        return self._fold(self._machine(model.random_state))

    def _record(self, chosen: Chosen, folds: DesignFolds) -> dict[str, Any]:
        results = scores_record(chosen.params, np.array(folds.scores))
        if folds.n_failed:
            warn_caller(
                f"{folds.n_failed} of the {folds.n_solves} solutions of the search did not reach "
                f"tol={self.tol:g}: their scores may be off. Raise max_iter or tol, lower C, or normalise "
                "the kernels.",
                ConvergenceWarning,
            )
        best_score = float(results["mean_test_score"][chosen.best])
        return {"cv_results_": results, "best_score_": best_score, "n_solves_": folds.n_solves}

    def _tell_of_search(self, chosen: Chosen) -> None:
        """The status and a warning where the search ended early."""
        if chosen.ended is None:
            return
        self.status_ = worst_status([Status(self.status_), chosen.ended])
        if chosen.ended == Status.MAX_TIME:
            warn_caller(
                f"{type(self).__name__}: max_time={self.max_time:g} seconds ended the search after "
                f"{len(chosen.params)} points; the costs are those of the best of them. Raise max_time, or "
                "lower max_steps or cv.",
                ConvergenceWarning,
            )

    def _adopt(self, model: Any, chosen: Chosen, record: dict[str, Any]) -> None:
        """Keep the fitted model, and show what it has learned."""
        adopt(self, model)
        for name, value in record.items():
            setattr(self, name, value)
        ones = np.ones(len(self.view_names_))
        self.costs_ = ones if self.method == "weights" else np.asarray(chosen.setting.costs)
        self.total_cost_ = prediction_cost(self.machine_weights_, self.dual_coef_, ones, self.kernel_factors_)
        self.surface_, self.exponent_ = chosen.surface, chosen.exponent

    # ------------------------------------------------------------------ parameters
    def _check_search(self) -> None:
        check_choice("method", self.method, SEARCHES)
        check_choice("rule", self.rule, RULES)
        check_degree(self.degree)
        check_delta(self.delta, check_bound(self.bound))
        check_max_samples(self.max_samples)
        check_one_score(self.scoring)
        if self.search_C and self.method == "eigenvalue":
            raise ValueError(
                'search_C=True needs a response surface: method="response_surface" or "weights"; got '
                '"eigenvalue".'
            )
        self._check_numerics()

    @property
    def _norm(self) -> float:
        """That of the machines: with p = ∞ costs 1/√μ fix the weights at μ."""
        return np.inf if self.method == "weights" else 1.0

    def _weight_columns(self) -> dict[str, Any]:
        return {"weight": self.kernel_weights_, "cost": self.costs_}

"""Estimators that choose their penalty and the norm of their weights by cross-validation.

What they share; the search is in :mod:`.grid`, the estimators are in `mkl.tuned`, `mkl.tuned_regressors` and
`survival.tuned`. Each is to its estimator without cross-validation what RidgeCV is to Ridge.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid
from sklearn.utils.validation import column_or_1d

from ..._threads import one_thread
from ..._typing import Array
from ..._validation import check_choice, check_number, warn_caller
from ...views.view import check_normalize
from ..callbacks import callback_of
from ..estimator import KernelEstimator, worst_status
from ..folds import Split, check_one_score, check_score_suits, check_takes_weights
from ..inputs import check_norm, check_sample_weights
from ..missing_views import missing_of
from ..optim.loop import SearchProgress, Status, limited, time_left
from .grid import (
    SEARCH_TOL,
    Candidate,
    Data,
    GridSearch,
    LeaveOneOut,
    rounded,
)
from .selection import adopt, forget, scores_record, seed_of, split_samples

RULES = ("best", "one_se")
_SEARCH_SHARE = 0.8  # of the time that is left: the rest is for the last model
CS = (1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3, 1e4, 1e5)
NORMS = (1.0, 1.5, 2.0, np.inf)


class Tuned(KernelEstimator):
    """The steps that all share: prepare the banks, search, fit the last model, show what it learned.

    Hooks: ``_penalty`` (name of the penalty and of its values), ``_machine(**more)``, ``_part``, ``_set``,
    ``_held_out``, ``_finish``.
    """

    norms: Any
    normalizations: Any
    cv: Any
    scoring: Any
    halving: bool
    rule: str
    refit: bool
    max_time: float | None
    n_jobs: int | None
    verbose: int
    random_state: Any
    estimator_: Any
    _adds_kernels = True
    _keeps_views = True
    _storage_options = ("psd", "gram", "dtype", "missing")
    _penalty = ("C", "Cs")
    _task = "classifier"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose the candidate by cross-validation, then learn kernel weights and model on all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,) of labels or values; (n_samples, n_outputs) for :class:`MKLRidgeCV`
        sample_weight : array of shape (n_samples,), default=None
            Multiplies the loss sample by sample, and weighs the validation samples.
        groups : array of shape (n_samples,), default=None
            Of the samples, for a `cv` that reads them, such as GroupKFold.
        """
        self._check_search()
        self._check_storage()
        if sample_weight is not None:
            check_takes_weights(self.scoring)
        if self._fit_each_target(X, y, sample_weight, groups):
            return self
        seed = seed_of(self)
        banks = [self._prepare(kernels, X, y, sample_weight, seed) for kernels in self._banks(X)]
        check_score_suits(self.scoring, banks[0].y, classifier=is_classifier(self))
        self._set_units(banks)
        search = self._search(banks, groups)
        chosen = self._choose(search, banks[0])
        machine = banks[chosen.bank].machine
        forget(self)
        self._show(search, chosen, search.out_of_fold(chosen.index, len(banks[0].y)))
        if not self.refit:
            self.view_names_, self.n_features_in_ = machine.view_names_, getattr(machine, "n_features_in_", 0)
            return self
        self._set(machine, chosen)
        self._finish(machine, banks[chosen.bank])
        adopt(self, machine)
        setattr(self, f"{self._penalty[0]}_", chosen.params[self._penalty[0]])
        self._learn_from_folds(banks[chosen.bank])
        self._tell_of_search(search)
        return self

    def _fit_each_target(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> bool:
        """Whether targets have weights of their own, and then the fit."""
        return False

    # ------------------------------------------------------------------ parameters
    def _check_search(self) -> None:
        name, plural = self._penalty
        values = getattr(self, plural)
        if isinstance(values, str) and values == "auto" and self._task == "regressor" and name == "C":
            values = CS
        self._grid = {
            name: _check_values(plural, values, lambda v: check_number(plural, v, above=0.0)),
            "norm": _check_values("norms", self.norms, lambda norm: check_norm(norm, "norms")),
        }
        if self.normalizations is not None:
            if self._precomputed:
                raise ValueError(
                    "normalizations need kernels that are computed from X; got kernels='precomputed'. Use "
                    "normalizations=None, and normalize the matrices, as by unit_trace(K)."
                )
            self._grid["normalize"] = _check_values(
                "normalizations",
                self.normalizations,
                lambda name: check_normalize(name, parameter="normalizations"),
            )
        check_choice("rule", self.rule, RULES)
        check_one_score(self.scoring)
        self._check_numerics()

    def _set_units(self, banks: list[Data]) -> None:
        """Parameters that are in units of the targets, in numbers, the same in all folds."""

    def _banks(self, X: Any) -> list[Any]:
        """The kernels as they are, or with each of the normalizations.

        After an outer join with gaps, "auto" is missing="mean": the scales of "renormalize" would depend on
        the weights of each candidate.
        """
        stored, fills = self._storage, False
        if stored.missing == "auto" and missing_of(stored, X) == "renormalize":
            stored, fills = replace(stored, missing="mean"), True
        if self.normalizations is None:
            return [stored if fills else self.kernels]
        return [replace(stored, normalize=name) for name in self._grid["normalize"]]

    def _candidates(self) -> list[Candidate]:
        """The points of the grid in the order of GridSearchCV."""
        name = self._penalty[0]
        found = []
        for index, params in enumerate(ParameterGrid(self._grid)):
            penalty = params[name] if name == "C" else 1.0 / params[name]
            bank = self._grid["normalize"].index(params["normalize"]) if "normalize" in params else 0
            found.append(Candidate(index, params, penalty, params["norm"], bank))
        return found

    # ------------------------------------------------------------------ search
    def _prepare(self, kernels: Any, X: Any, y: Any, sample_weight: Any, seed: Any) -> Data:
        """The kernels of all samples, checked once; `min(norms)` has the tightest bound on kept views."""
        machine = self._machine(kernels, norm=min(self._grid["norm"]), random_state=seed)
        X, targets, samples = machine._samples(X, y, sample_weight)
        if self._task == "classifier":
            targets = targets[samples.rows]
        Ks = machine._fit_kernels(X, samples)
        if machine.missing_ == "renormalize":
            raise ValueError(
                f"{type(self).__name__} does not support missing='renormalize', whose scales depend on the "
                "learned weights. Use KernelBank(kernels, missing='mean'), 'absent' or 'complete'."
            )
        rows = self._rows_of(y)
        machine._one_output = rows.ndim == 1
        weights = None if sample_weight is None else check_sample_weights(sample_weight, len(rows))
        return Data(
            machine, X, rows, Ks, targets, samples, weights, self._score_weight(machine, rows, weights)
        )

    def _score_weight(self, machine: Any, y: Array, sample_weight: Array | None) -> Array | None:
        """The weight of each row in the scores; None where all have the same."""
        return sample_weight

    def _rows_of(self, y: Any) -> Array:
        """The targets of the rows, as scorers see them; they are checked."""
        return column_or_1d(y)

    def _search(self, banks: list[Data], groups: Any) -> GridSearch:
        """Measure the candidates on the folds."""
        kind, splits = self._folds(banks[0], groups)
        search = kind(
            self,
            self._candidates(),
            None if kind is LeaveOneOut and self.scoring is None else check_scoring(self, self.scoring),
            bool(self.halving),
            max(self.tol, SEARCH_TOL) if self.halving else self.tol,
            SearchProgress(self.verbose, callback_of(self)),
            self.n_jobs,
        )
        with one_thread(), limited(_SEARCH_SHARE * time_left()):
            search.run(banks, splits)
        return search

    def _folds(self, data: Data, groups: Any) -> tuple[type[GridSearch], list[Split]]:
        """How candidates are measured, and the training and validation rows of the folds."""
        cv, seed = 5 if self.cv is None else self.cv, data.machine.random_state
        classifier = self._task == "classifier"
        splits = split_samples(cv, data.X, data.y, data.samples, seed, classifier=classifier, groups=groups)
        return GridSearch, splits

    def _choose(self, search: GridSearch, data: Data) -> Candidate:
        """The candidate with the best mean; with ``rule="one_se"`` the smallest penalty within one s.e."""
        scores = search.scores
        counts = np.isfinite(scores).sum(axis=1)
        finished = [c for c in search.candidates if counts[c.index] == counts.max()]
        digits = rounded if search.halving else float
        means = {c.index: digits(np.nanmean(scores[c.index])) for c in finished}
        best = max(finished, key=lambda c: means[c.index])  # the first of equally good ones
        if self.rule == "best":
            equal = [c for c in finished if means[c.index] == means[best.index]]
            return self._of_equals(equal, search, data) if search.halving and len(equal) > 1 else best
        least = means[best.index] - self._standard_error(search, best)
        near = [c for c in finished if means[c.index] >= least]
        return min(near, key=lambda c: (c.penalty, -means[c.index]))

    def _of_equals(self, equal: list[Candidate], search: GridSearch, data: Data) -> Candidate:
        """Which of several candidates with the best mean is taken."""
        return equal[0]

    def _standard_error(self, search: GridSearch, best: Candidate) -> float:
        error = search.standard_error(best.index)
        if error is None:
            raise ValueError(
                "rule='one_se' needs the standard error of a score, which one split and a score of all "
                "leave-one-out predictions do not have. Use rule='best', cv with two folds or more, or, with "
                "leave-one-out, scoring=None."
            )
        return error

    def _show(self, search: GridSearch, chosen: Candidate, out_of_fold: Array) -> None:
        names = {f"param_{name}": [c.params[name] for c in search.candidates] for name in self._grid}
        columns = {name: np.ma.array(values, mask=False) for name, values in names.items()}
        record = scores_record([c.params for c in search.candidates], search.scores)
        self.cv_results_ = {**columns, **record}
        self.best_index_ = chosen.index
        self.best_params_ = dict(chosen.params)
        self.best_score_ = float(record["mean_test_score"][chosen.index])
        self.norm_ = chosen.norm
        setattr(self, f"{self._penalty[0]}_", chosen.params[self._penalty[0]])
        self.n_splits_ = search.scores.shape[1]
        self.n_solves_ = search.n_solves
        self.out_of_fold_ = out_of_fold
        if search.n_failed:
            warn_caller(
                f"{search.n_failed} of the {search.n_solves} fits of the search did not reach a gap of "
                f"{search.tol:g}: their scores may be off. Raise max_iter or tol, leave the largest "
                f"{self._penalty[1]} out, or normalize the kernels.",
                ConvergenceWarning,
            )

    def _tell_of_search(self, search: GridSearch) -> None:
        """The status and a warning where the search ended early."""
        ended = search.progress.ended or (Status.INTERRUPTED if search.stopped else None)
        self._warn_unless_converged()
        if ended is None:
            return
        self.status_ = worst_status([Status(self.status_), ended])
        if ended == Status.MAX_TIME:
            n_measured = int(np.isfinite(search.scores).sum())
            warn_caller(
                f"{type(self).__name__}: max_time={self.max_time:g} seconds ended the search after "
                f"{n_measured} of {search.scores.size} scores; the best candidate until then is taken. "
                f"Raise max_time, or give fewer {self._penalty[1]}, norms or folds.",
                ConvergenceWarning,
            )

    # ------------------------------------------------------------------ fitted
    def _set(self, machine: Any, candidate: Candidate) -> None:
        """The parameters of a candidate, on a machine that is prepared."""
        setattr(machine, self._penalty[0], candidate.params[self._penalty[0]])
        machine.norm = candidate.norm

    def _learn_from_folds(self, data: Data) -> None:
        """What is learned from the out-of-fold answers."""

    def _validate_table(self, X: Any, *, reset: bool) -> Any:
        if not reset:
            self._require_model()
        return super()._validate_table(X, reset=reset)

    def _require_model(self) -> None:
        if not hasattr(self, "estimator_"):
            raise NotFittedError(
                f"this {type(self).__name__} has refit=False: it has chosen parameters (best_params_), and "
                "learned no model. Set refit=True and call fit again."
            )

    def _weight_columns(self) -> dict[str, Any]:
        self._require_model()
        return dict(self.estimator_._weight_columns())


def _check_values(name: str, values: Any, check: Callable[[Any], Any]) -> list[Any]:
    """The values to choose from: a list of at least one, all different."""
    if isinstance(values, str) or not np.iterable(values):
        raise TypeError(f"{name} must be a list of values to choose from; got {values!r}. Put it in a list.")
    checked = [check(value) for value in values]
    if not checked:
        raise ValueError(f"{name} must hold at least one value; got an empty list.")
    if len(set(checked)) < len(checked):
        raise ValueError(f"{name} must hold different values; got {values!r}. Leave repetitions out.")
    return checked

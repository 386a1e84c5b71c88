"""Siblings of the estimators that choose their penalty and the norm of their weights by cross-validation.

:class:`MKLClassifierCV`, :class:`MKLRegressorCV` and :class:`MKLRidgeCV` are to :class:`MKLClassifier`,
:class:`MKLRegressor` and :class:`MKLRidge` what RidgeCV is to Ridge. The search is in
`multikernel.core.search`, the regressors are in `tuned_regressors`.
"""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from .._typing import Array
from ..core.about import About
from ..core.decisions import MachineClassifier, SoftmaxCalibration, binary_problems, votes_by
from ..core.inputs import require_two_classes, weigh_samples
from ..core.search.grid import (
    Candidate,
    Data,
    GridSearch,
    HeldOutClassifier,
    Part,
    rounded,
)
from ..core.search.tuned import CS, NORMS, Tuned
from .classifier import MKLClassifier

TUNED = About(
    family="margin",
    problem="max over C and p of the mean score on folds of multiple kernel learning with this C and norm p",
    solver="successive halving of the grid on the folds of one Gram stack; duality gap of the final model",
    cost="6 to 10 fits of MKLClassifier for 8 values of C, 4 norms and 5 folds; memory 1.7 P n²",
    use="The first model to try: nothing to set; probabilities and intervals from the same folds.",
    reference="Kloft et al. 2011; Jamieson & Talwalkar 2016",
)


# ---------------------------------------------------------------------- classes
@dataclass(eq=False, repr=False)
class MKLClassifierCV(MachineClassifier, Tuned):
    r"""Support vector classifier with learned kernel weights that chooses C and the norm by cross-validation.

    Use it where good values of C and the norm are not known. Use :class:`MKLClassifier` where both are known,
    or for more rows than a Gram stack holds (about 10 000). It relates to :class:`MKLClassifier` as LassoCV
    does to Lasso.

    Parameters
    ----------
    kernels : "auto", "rich", "precomputed", kernel, View, list of these, dict or KernelBank, default="rich"
        As for :class:`MKLClassifier`, on a Gram stack.
    Cs : sequence of float, default=(0.01, 0.1, 1, 10, 100, 1e3, 1e4, 1e5)
        Penalties on margin violations to choose from; positive and finite.
    norms : sequence of float >= 1, default=(1, 1.5, 2, inf)
        Norms of the weights to choose from: 1 gives sparse weights, infinity the plain sum.
    normalizations : sequence of "variance", "diagonal", "trace", "auto" or None, default=None
        Values of ``KernelBank(normalize=...)`` to choose from, each with a stack of its own; None leaves the
        bank as it is.
    cv : int, cross-validation generator or iterable of splits, default=5
        A number of folds is stratified and shuffled with `random_state`; there are no more folds than the
        smallest class has samples. Splitters that read groups get those of ``fit``.
    scoring : str or callable, default=None
        As in scikit-learn; by default the accuracy, in which samples count with their `class_weight`, too.
        With ``sample_weight`` the scorer gets the weights of the validation samples; a function must take
        them as ``sample_weight``. Scores of probabilities are refused: the folds are not calibrated.
    halving : bool, default=True
        Whether the poorer half of the candidates is left out after each fold: their other folds are NaN in
        ``cv_results_``. False measures all candidates on all folds, as GridSearchCV does; see Notes.
    rule : {"best", "one_se"}, default="best"
        - "best": the candidate with the best mean score; of equally good ones that with the smallest log-loss
          of its calibrated out-of-fold scores, or, without `halving`, the first;
        - "one_se": the smallest C among those within one standard error of the best; with `halving`,
          candidates that are within one standard error so far are kept, too.
    refit : bool, default=True
        Whether the last model is fitted; without it there are no predictions.
    loss : {"hinge", "squared_hinge"}, default="hinge"
    costs : array of shape (n_kernels,) or dict by view name, default=None
    multiclass : {"ovr", "ovo", "dag", "shared", "joint", "crammer_singer"}, default="ovr"
    class_weight : dict or "balanced", default=None
        As for :class:`MKLClassifier`; "balanced" by the labels of each training part.
    probability : bool, default=True
        Whether ``predict_proba`` is wanted: the softmax of a multiple of the scores, (0, s) for two classes,
        calibrated on the out-of-fold scores of the candidate chosen; with `class_weight` there is an offset
        for each class, too, so that the most probable class need not be the predicted one: weights move
        predictions, and probabilities are those of the samples as they are. It takes no further fits.
    tol : float, default=1e-3
        The relative duality gap of the last fit to reach, and of all fits where `halving` is False. Fits of a
        search with halving stop at 1e-2, or at `tol` where that is larger.
    max_iter : int, default=300
        Maximum number of weight updates of each fit.
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit. Four fifths are for the search.
    n_jobs : int, default=None
        Candidates of a fold fitted at the same time, in threads.
    callback : callable, default=None
        Called with a dict for each candidate of each fold (``evaluation``, ``params``, ``score``, its mean
        until then, and ``best_score``); a true answer ends the search, and the best candidate so far is
        taken.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does: raise KeyboardInterrupt, or end the search and keep the model.
    verbose : int, default=0
        1 writes a line for each candidate of each fold to standard error.
    random_state : int, RandomState or None, default=None
        Of the folds and of rough starts; None always means the same.

    Attributes
    ----------
    C_ : float, the C chosen
    norm_ : float, the norm chosen
    best_params_ : dict, the candidate chosen
    best_score_ : float, its mean score over the folds
    best_index_ : int, its place in ``cv_results_``
    cv_results_ : dict of lists and arrays
        ``params``, ``param_C``, ``param_norm``, ``split0_test_score`` …, ``mean_test_score``,
        ``std_test_score`` and ``rank_test_score``, in the order of GridSearchCV. Means and standard
        deviations are over the folds that were measured; candidates that were left out rank last.
    out_of_fold_ : array of shape (n_samples,) or (n_samples, n_classes)
        The decision function at each sample by the model of the fold that did not see it, at the candidate
        chosen; NaN where a sample is in no validation part.
    n_splits_ : int, the number of folds
    n_solves_ : int, how many times weights were learned in the search
    estimator_ : MKLClassifier, the last fit
    kernel_weights_ : array of shape (n_kernels,)
    machine_weights_ : array of shape (n_machines, n_kernels)
    view_names_ : list of str
    kept_views_ : list of str
    dual_coef_ : array of shape (n_machines, n_support)
        Label × dual.
    support_ : array of shape (n_support,)
        Indices of the support samples.
    intercept_ : array of shape (n_machines,)
    classes_ : array of shape (n_classes,)
    total_cost_ : float
    gram_ : {"dense", "memmap"}, the kernel representation used
    memory_ : MemoryEstimate
    missing_ : str, what was done with samples that lack views
    objective_ : float, the dual value of the last fit (sum over classifiers)
    dual_gap_ : float, its relative duality gap (maximum over classifiers)
    n_iter_, status_, history_ : of the last fit; the status also says if the search ended early

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from multikernel import MKLClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MKLClassifierCV(Cs=[0.1, 1, 10], norms=[1, 2], cv=3).fit(X[::2], y[::2])
    >>> sorted(model.best_params_), len(model.cv_results_["params"])
    (['C', 'norm'], 6)
    >>> bool(model.score(X[1::2], y[1::2]) > 0.95), model.predict_proba(X[:2]).shape
    (True, (2, 2))

    Notes
    -----
    It chooses

    .. math::

        (\hat C, \hat p) = \arg\max_{C,\, p}\ \frac1K \sum_{k=1}^K
        \text{score}\bigl(y_k,\ f^{(-k)}_{C, p}\bigr)

    with :math:`f^{(-k)}_{C, p}` the :class:`MKLClassifier` with penalty :math:`C` and `norm` :math:`p`,
    learned without the samples of fold :math:`k`. The last model is that classifier on all samples at the
    values chosen. It is to :class:`MKLClassifier` what LassoCV is to Lasso: the kernels of all samples are
    computed once, and the whole default grid costs six to ten fits.

    Use it where nothing is known of C, or of how many kernels matter. Use :class:`MKLClassifier` where both
    are known, and for more rows than a Gram stack holds (about 10 000).

    What kernels take from the data (median widths, means and deviations of columns) they take from all
    samples, validation samples included; labels they never see. Where that matters, as for kernels made from
    the labels, use GridSearchCV around :class:`MKLClassifier`.

    ``halving=False`` gives the ``cv_results_`` and the winner of GridSearchCV around
    ``MKLClassifier("precomputed")`` on the same stack and folds: each fit is the same. With halving, fits are
    rough, start from the weights of the fold before, and end where a larger C has the same solution; the
    better half of the candidates goes on after each fold, three at least.

    ``best_score_`` is too good for having been chosen: judge the model on other samples.

    The training part of the stack is copied for one fold at a time: memory is about 1.7 times that of
    :class:`MKLClassifier`.

    References
    ----------
    Kloft et al., lp-norm multiple kernel learning, JMLR 12, 2011.
    Jamieson & Talwalkar, Non-stochastic best arm identification and hyperparameter optimization, AISTATS
    2016.
    Guo, Pleiss, Sun & Weinberger, On calibration of modern neural networks, ICML 2017.
    """

    about = TUNED

    kernels: Any = "rich"
    _: KW_ONLY
    Cs: Sequence[float] = CS
    norms: Sequence[float] = NORMS
    normalizations: Any = None
    cv: Any = 5
    scoring: Any = None
    halving: bool = True
    rule: str = "best"
    refit: bool = True
    loss: str = "hinge"
    costs: Any = None
    multiclass: str = "ovr"
    class_weight: Any = None
    probability: bool = True
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None
    n_jobs: int | None = None
    callback: Callable[[dict[str, Any]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def _machine(self, kernels: Any, **more: Any) -> MKLClassifier:
        names = ("loss", "costs", "multiclass", "class_weight", "tol", "max_iter", "n_jobs")
        return MKLClassifier(kernels, **{name: getattr(self, name) for name in names}, **more)

    def _check_search(self) -> None:
        super()._check_search()
        self._machine(self.kernels, C=max(self._grid["C"]))._check_parameters()

    def _score_weight(self, machine: Any, y: Array, sample_weight: Array | None) -> Array | None:
        if self.class_weight is None or self.scoring is not None:
            return sample_weight
        codes = np.searchsorted(machine.classes_, y)
        return weigh_samples(self.class_weight, machine.classes_, codes, sample_weight)

    def _part(self, machine: Any, data: Data, rows: Array) -> Part:
        classes = data.machine.classes_
        present, codes = np.unique(data.targets[data.samples.group[rows]], return_inverse=True)
        machine.classes_ = classes[present]
        require_two_classes(machine.classes_, codes)
        weights = weigh_samples(self.class_weight, machine.classes_, codes, data.weights[rows])
        places, totals = data.merged(rows, weights)
        codes = np.searchsorted(present, data.targets[places])
        return Part(places, totals, binary_problems(codes, machine.classes_, self.multiclass))

    def _held_out(self, data: Data, machine: Any, X: Any, scores: Array) -> HeldOutClassifier:
        return HeldOutClassifier(machine, X, scores, data.machine.classes_.size)

    def _finish(self, machine: Any, data: Data) -> None:
        problems = binary_problems(data.targets, machine.classes_, self.multiclass)
        machine._votes = votes_by(self.multiclass)
        machine._store(machine._solve_all(data.Ks, problems, data.samples.weights), data.samples)
        machine._calibration = None

    def _of_equals(self, equal: list[Candidate], search: GridSearch, data: Data) -> Candidate:
        """The one whose calibrated out-of-fold scores have the smallest log-loss, the first of several.

        Accuracies of a few hundred samples are often equal, log-losses are not.
        """
        losses = {c.index: self._log_loss(search.out_of_fold(c.index, len(data.y)), data) for c in equal}
        return min(equal, key=lambda c: losses[c.index])

    def _log_loss(self, scores: Array, data: Data) -> float:
        """Of calibrated out-of-fold scores; 0 where they cannot be calibrated."""
        known = _known(scores)
        classes, y = data.machine.classes_, data.y[known]
        if np.unique(y).size < classes.size:
            return 0.0
        found = self._calibrated(scores, data).predict_proba(scores[known])
        likelihoods = found[np.arange(y.size), np.searchsorted(classes, y)]
        logs = np.log(np.maximum(likelihoods, np.finfo(np.float64).tiny))
        return rounded(-np.average(logs, weights=data.weights[known]))

    def _learn_from_folds(self, data: Data) -> None:
        """Probabilities from the out-of-fold scores of the candidate chosen."""
        self._calibration = None
        if not self.probability:
            return
        if np.unique(data.y[_known(self.out_of_fold_)]).size < self.classes_.size:
            raise ValueError(
                "probability=True needs samples of each class in the validation parts, and all classes in "
                "each training part. Use stratified folds, or probability=False."
            )
        self._calibration = self._calibrated(self.out_of_fold_, data)

    def _calibrated(self, scores: Array, data: Data) -> SoftmaxCalibration:
        known = _known(scores)
        weights = None if data.sample_weight is None else data.sample_weight[known]
        calibration = SoftmaxCalibration(offsets=self.class_weight is not None)
        return calibration.fit_scores(scores[known], data.y[known], weights)


def _known(scores: Array) -> Array:
    """Which samples have out-of-fold scores."""
    return np.asarray(np.isfinite(scores).reshape(len(scores), -1).all(axis=1))

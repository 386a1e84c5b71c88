"""Classes and labels by ridge regression on signs, with kernel weights of each label's own.

Signs y = ±1 of each label (each class against the others where there are more than two) are the targets of
:mod:`.chosen`: one search serves all of them. With the squared hinge each label is then learned anew at the
weights and alpha that its signs chose.
"""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..._typing import Array
from ..._validation import check_choice, is_frame
from ...core.decisions import decide
from ...core.estimator import require_finite
from ...core.inputs import check_sample_weights, encode_labels, require_two_classes
from ...core.optim.loop import Options, Status
from ...core.search.tuned import NORMS, Tuned
from ...core.stack.sums import weighted_sum
from ...core.svm.losses import SquaredHinge
from ...core.weights.learn import learn_weights
from ...core.weights.loop import SolveResult
from ...rows import count_rows
from ..regressors import MKLRidge
from ..tuned import TUNED
from .chosen import fit_chosen
from .each import names_of_targets
from .results import Problem

LOSSES = ("squared", "squared_hinge")

LABELS = replace(
    TUNED,
    family="ridge",
    problem="min over μ and α of the leave-one-out error of ridge regression on the signs of each label",
    solver="one eigendecomposition for each set of weights; each squared hinge has a duality gap",
    cost="n³ for each set of weights and n² for each label and alpha tried; memory P n² and n for each label",
    use="Many labels on the same samples, of which each may need other views.",
    reference="Cortes, Mohri & Rostamizadeh 2009; Allen 1974; Rifkin & Klautau 2004",
)


@dataclass(eq=False, repr=False)
class MKLRidgeClassifierCV(ClassifierMixin, Tuned):
    r"""Ridge classifier for one or many labels, with kernel weights and alpha chosen for each label.

    Use it for many labels, of which several may hold at once, each with its own kernel weights. For one
    target with a few classes, use :class:`MKLClassifier`.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="rich"
        As for :class:`MKLRidgeCV`.
    alphas : sequence of float, default=(0.0001, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
        As for :class:`MKLRidgeCV`.
    cv : int, cross-validation generator or iterable of splits, default=None
        As for :class:`MKLRidgeCV`.
    halving : bool, default=True
        As for :class:`MKLRidgeCV`.
    fit_intercept : bool, default=True
        As for :class:`MKLRidgeCV`.
    candidates : int or array of shape (n_candidates, n_kernels), default=100
        As for :class:`MKLRidgeCV`.
    refine : bool, default=False
        As for :class:`MKLRidgeCV`.
    refit : bool, default=True
        As for :class:`MKLRidgeCV`.
    costs : array of shape (n_kernels,) or dict of view name to cost, default=None
        As for :class:`MKLRidgeCV`.
    tol : float, default=1e-3
        As for :class:`MKLRidgeCV`.
    max_iter : int, default=300
        As for :class:`MKLRidgeCV`.
    max_time : float, default=None
        As for :class:`MKLRidgeCV`.
    callback : callable, default=None
        As for :class:`MKLRidgeCV`.
    on_interrupt : {"raise", "keep"}, default="raise"
        As for :class:`MKLRidgeCV`.
    verbose : int, default=0
        As for :class:`MKLRidgeCV`.
    random_state : int, RandomState or None, default=None
        As for :class:`MKLRidgeCV` with ``targets="each"``. A number of folds is not stratified.
    loss : {"squared", "squared_hinge"}, default="squared"
        - "squared": the regressions on the signs are the classifiers.
        - "squared_hinge": each label is learned anew with the squared hinge and C = 1 / alpha, at the weights
          and alpha chosen for it.

    Attributes
    ----------
    classes_ : array
        The classes of ``y``; of an indicator matrix the numbers of its columns.
    target_names_ : list of str
        The labels: columns of a frame, numbers, or classes (one for two classes).
    alpha_ : array of shape (n_labels,)
    machine_weights_ : array of shape (n_labels, n_kernels)
        The weights of each label.
    candidates_, best_index_, best_score_, candidate_scores_, refined_, target_gaps_, out_of_fold_, norm_,
    n_splits_, n_solves_
        As for :class:`MKLRidgeCV` with ``targets="each"``, of the regressions on the signs.
    estimator_ : MKLRidge, the models
    kernel_weights_, view_names_, kept_views_, dual_coef_, support_, intercept_, total_cost_, gram_, memory_,
    missing_, objective_, dual_gap_, n_iter_, status_, history_
        As for :class:`MKLRidge`; of the squared hinge, where it is the loss.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.kernels import Linear
    >>> from multikernel.mkl import MKLRidgeClassifierCV
    >>> X = np.random.default_rng(0).normal(size=(80, 4))
    >>> Y = (X[:, [0, 2]] > 0).astype(int)  # a label for each view
    >>> views = [("left", Linear(), [0, 1]), ("right", Linear(), [2, 3])]
    >>> model = MKLRidgeClassifierCV(views).fit(X[:60], Y[:60])
    >>> model.machine_weights_.argmax(axis=1).tolist(), model.predict(X[60:]).shape
    ([0, 1], (20, 2))

    Notes
    -----
    For each label, it chooses

    .. math::

        (\hat\mu_k, \hat\alpha_k) = \arg\min_{\mu,\, \alpha}\ \frac1n \sum_i
        \bigl(y_{ik} - f^{(-i)}_{\mu, \alpha}(x_i)\bigr)^2

    with signs :math:`y_{ik} = \pm 1` of label k, and :math:`f^{(-i)}` the kernel ridge regression on
    :math:`\sum_m \mu_m K_m` that did not see sample i. Labels are the columns of an indicator matrix (several
    may hold at once), or the classes of ``y``, each against the others.

    References
    ----------
    Rifkin & Klautau, In defense of one-vs-all classification, JMLR 5, 2004.
    """

    about = LABELS
    certificate = "machine"
    _penalty = ("alpha", "alphas")
    # what the search of shared weights reads, and this one does not
    norms, normalizations, scoring, rule, n_jobs = NORMS, None, None, "best", None

    kernels: Any = "rich"
    _: KW_ONLY
    loss: str = "squared"
    alphas: Sequence[float] = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)
    candidates: Any = 100
    cv: Any = None
    halving: bool = True
    refine: bool = False
    refit: bool = True
    fit_intercept: bool = True
    costs: Any = None
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None
    callback: Callable[[dict[str, Any]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _machine(self, kernels: Any, **more: Any) -> MKLRidge:
        names = ("fit_intercept", "costs", "tol", "max_iter")
        return MKLRidge(kernels, **{name: getattr(self, name) for name in names}, **more)

    def _check_search(self) -> None:
        check_choice("loss", self.loss, LOSSES)
        super()._check_search()

    def _fit_each_target(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> bool:
        """Choose weights and alpha of each label; its signs are the targets."""
        signs, classes, names = self._signs(X, y, sample_weight)
        fit_chosen(self, X, signs, sample_weight, groups)
        self.classes_, self._many_labels = classes, np.asarray(signs).ndim == 2 and names is None
        if names is not None:
            self.target_names_ = names
        return True

    def _signs(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, list[str] | None]:
        """±1 of each label (n,) or (n, n_labels), the classes, and the names of classes as labels."""
        table = self._validate_table(X, reset=True)
        labels = as_indicators(y)
        if labels is not None:
            require_both(labels, names_of_targets(y, labels.shape[1]))
            signs = 2.0 * labels - 1.0
            signs = pd.DataFrame(signs, index=y.index, columns=y.columns) if is_frame(y) else signs
            return signs, np.arange(labels.shape[1]), None
        classes, codes = encode_labels(self, table, y)
        weights = check_sample_weights(sample_weight, count_rows(table))
        require_two_classes(classes, codes[weights > 0])
        names = [str(name) for name in classes.tolist()]
        if classes.size == 2:
            return np.where(codes == 1, 1.0, -1.0), classes, names[1:]
        return np.where(codes[:, None] == np.arange(classes.size), 1.0, -1.0), classes, names

    def _final(self, problem: Problem, alphas: Array, results: list[SolveResult]) -> list[SolveResult]:
        """The models of labels (or targets) whose weights and alphas were chosen."""
        return results if self.loss == "squared" else hinge_results(problem, alphas, results, self)

    def _learn_from_folds(self, data: Any) -> None:
        """Nothing: out-of-fold answers are scores."""

    def decision_function(self, X: Any) -> Array:
        """Scores (n_samples,) for two classes, positive for ``classes_[1]``; else one for each label.

        Parameters
        ----------
        X : as for ``fit``

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_labels)
        """
        check_is_fitted(self)
        scores = self._scores(X) + self.intercept_
        return scores if self._many_labels or self.classes_.size > 2 else np.asarray(scores[:, 0])

    def predict(self, X: Any) -> Array:
        """The class of each sample, or 0 and 1 for each label.

        Parameters
        ----------
        X : as for ``fit``

        Returns
        -------
        array of shape (n_samples,), or (n_samples, n_labels) where ``y`` was an indicator matrix
        """
        scores = self.decision_function(X)
        return (scores > 0).astype(int) if self._many_labels else decide(scores, self.classes_)


# ---------------------------------------------------------------------- labels
def as_indicators(y: Any) -> Array | None:
    """An indicator matrix (n, n_labels) as floats, NaN where a label is not known; None for classes.

    Examples
    --------
    >>> as_indicators([[0, 1], [1, 0]]).tolist(), as_indicators(["a", "b"]) is None
    ([[0.0, 1.0], [1.0, 0.0]], True)
    """
    if scipy.sparse.issparse(y):
        y = y.toarray()
    try:
        values = np.asarray(y)
    except ValueError as error:  # lists of different lengths
        raise ValueError(
            "y must be a 1d array of classes, or an indicator matrix of 0 and 1; got lists of different "
            "lengths. Use sklearn.preprocessing.MultiLabelBinarizer."
        ) from error
    if values.ndim != 2 or values.shape[1] < 2:
        return None
    try:
        labels = values.astype(float)
    except (TypeError, ValueError):
        labels = np.full((1, 1), 2.0)
    if not np.isin(labels[~np.isnan(labels)], (0.0, 1.0)).all():
        raise ValueError(
            "y must be a 1d array of classes, or an indicator matrix of 0 and 1, NaN where a label is not "
            f"known; got an array of shape {values.shape} with other values. Use 1 where a label holds."
        )
    return labels


def require_both(labels: Array, names: Sequence[str]) -> None:
    """Refuse labels that all samples have, or none."""
    known = ~np.isnan(labels)
    positive = np.nansum(labels, axis=0)
    for k in np.flatnonzero((positive == 0) | (positive == known.sum(axis=0))).tolist():
        which = "no sample" if positive[k] == 0 else "every sample"
        raise ValueError(
            f"each label must hold for some samples and not for others; label {names[k]!r} holds for "
            f"{which}. Leave it out."
        )


# ---------------------------------------------------------------------- the squared hinge
def hinge_results(
    problem: Problem, alphas: Array, results: list[SolveResult], model: Any
) -> list[SolveResult]:
    """Each label with the squared hinge at the weights of its regression; C = 1 / alpha."""
    found = list(results)
    mu = np.array([result.weights for result in results])
    _, groups = np.unique(mu, axis=0, return_inverse=True)
    middle = problem.middle
    options = Options(tol=model.tol, max_iter=model.max_iter, seed=0)
    for group in range(int(groups.max()) + 1):
        own = np.flatnonzero(groups.reshape(-1) == group)
        K = np.asarray(weighted_sum(problem.Ks, mu[own[0]]))[None]
        for k in own:
            loss = SquaredHinge(problem.Y[:, k], problem.weights / alphas[k])
            solved = learn_weights(K, [loss], options=options)
            require_finite(solved)
            if solved.factors:  # double precision does not hold it by dual variables
                found[k] = replace(results[k], status=Status.STALLED, gap=solved.gap)
                continue
            found[k] = replace(
                solved,
                weights=mu[k] * float(solved.weights[0]),
                intercepts=solved.intercepts - middle[k],  # which is added where models are stored
            )
    return found

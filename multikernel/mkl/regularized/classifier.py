"""Support vector classification whose kernel weights are regularised by cross-validation."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from ..._typing import Array
from ...core.about import About
from ...core.decisions import MachineClassifier, calibrate
from ..classifier import MKLClassifier
from .base import Regularized
from .search import ClassifierOn, FoldClassifier

REGULARIZED = About(
    family="margin",
    problem="min over costs d of the validation error of multiple kernel learning with Σ d_m² μ_m = 1",
    solver=("response surface of cross-validated errors, MKL at each point; duality gap of the final model"),
    cost="P(P+1)/2 points with cv warm-started MKL fits each; memory cv P n²",
    use="Very flexible kernels that would overfit; also to use fewer support samples.",
    reference="Gönen & Alpaydın 2011",
)


@dataclass(eq=False, repr=False)
class RegularizedMKLClassifier(MachineClassifier, Regularized):
    r"""Support vector classifier that learns how much each kernel has to earn its weight.

    Use it where a few very flexible kernels win on the training samples but not on new ones, or to use fewer
    support samples. It takes many fits; compare it with :class:`MKLClassifier` first, and give known costs
    there.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`MKLClassifier`. The first one has :math:`d_1 = 1`; give a simple one. One kernel alone
        leaves nothing to search.
    method : {"response_surface", "eigenvalue", "weights"}, default="response_surface"
    C : float, default=1.0
        Penalty on margin violations. Only :math:`d_1` is fixed, so that the search also moves the effective
        C; choose C first, by cross-validation of :class:`MKLClassifier`, which has :math:`d = 1`.
    cv : int, cross-validation generator or iterable of splits, default=5
        A number of folds is stratified and shuffled with `random_state`; there are no more folds than the
        smallest class has samples.
        With groups, ``list(cv.split(X, y, groups))``.
    scoring : str or callable, default=None
        As in scikit-learn; the accuracy by default. With ``sample_weight`` the scorer gets the weights of the
        validation samples. Scores of probabilities are refused: the folds are not calibrated.
    delta : float, default=0.3
        The step of the design, in :math:`\log_{10}`.
    bound : float, default=1.0
        The search stays between :math:`10^{-bound}` and :math:`10^{bound}`; at most 10.
    max_steps : int, default=30
        Maximum number of points after the design, which has m (m + 1) / 2 for m kernels.
    degree : {1, 2}, default=2
        Of the response surface. 1 is for many kernels: the design has m points for m kernels, and each point
        after it is a step against the slope of a plane.
    rule : {"best", "last"}, default="best"
        The point of the response surface that is chosen: the best of those measured, or the last, where the
        search of Gönen & Alpaydın ends.
    relative : bool, default=True
        Whether the costs of ``method="eigenvalue"`` are relative to that of the first kernel. False is
        :math:`d_m = e_m^\gamma`, as printed; see Notes.
    max_samples : int or float, default=None
        The points are measured on fewer training samples of each fold: their number, or their share;
        validation samples stay as they are, and the last model has all samples. All by default.
    multiclass : {"ovr", "ovo", "dag", "shared", "joint", "crammer_singer"}, default="ovr"
        As for :class:`MKLClassifier`. The costs are common to all classifiers, and chosen by the score of
        the whole classifier.
    class_weight : dict or "balanced", default=None
        Multiplies C class by class.
    probability : bool, default=False
        Whether ``predict_proba`` is wanted: calibrates on five folds, at the costs found.
    tol : float, default=1e-3
        The relative duality gap to reach, at every point.
    max_iter : int, default=300
        Maximum number of weight updates, at every point.
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.
    n_jobs : int, default=None
        Folds (and classifiers of the last fit) solved at the same time, in threads.
    callback : callable, default=None
        Called with a dict after each point (``evaluation``, ``params``, ``score``, ``best_score``); a true
        answer ends the search, and the best point so far is taken.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does: raise KeyboardInterrupt, or end the fit at its next iteration and keep the model.
    verbose : int, default=0
        1 writes a line for each point to standard error.
    random_state : int, RandomState or None, default=None
        Of the folds, of rough starts and of the calibration; None always means the same.

    Attributes
    ----------
    costs_ : array of shape (n_kernels,)
        The costs chosen; all 1 for ``method="weights"``.
    surface_ : ResponseSurface or None
        With ``plot()`` for two or three kernels. Its response is one minus the score. None for
        ``method="eigenvalue"`` and for one kernel.
    exponent_ : float or None, :math:`\gamma` of ``method="eigenvalue"``
    best_score_ : float, the mean score over the folds at the point chosen; NaN for one kernel
    cv_results_ : dict of lists and arrays
        ``params`` (costs, exponent or weights, and C if it is searched), ``split0_test_score`` …,
        ``mean_test_score``, ``std_test_score`` and ``rank_test_score`` of the points in their order, as
        ``GridSearchCV`` has them.
    estimator_ : MKLClassifier, the last fit
    n_solves_ : int, how many times weights were learned: classifiers × folds × points, and the last fit
    kernel_weights_ : array of shape (n_kernels,)
        Learned weights, ``sum(costs_**2 * kernel_weights_) == 1``; the weights chosen, of sum 1, for
        ``method="weights"``.
    machine_weights_ : array of shape (n_machines, n_kernels)
    view_names_ : list of str
    dual_coef_ : array of shape (n_machines, n_support)
        Label × dual.
    support_ : array of shape (n_support,)
        Indices of the support samples.
    intercept_ : array of shape (n_machines,)
    C_ : array of shape (n_machines,)
        The C used.
    classes_ : array of shape (n_classes,)
    objective_ : float, the dual value at the learned kernel (sum over classifiers)
    dual_gap_ : float, the relative duality gap of the last fit (maximum over classifiers)
    total_cost_ : float, as for :class:`MKLClassifier`, where all kernels cost the same
    n_iter_, status_, history_ : of the last fit

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from multikernel.mkl import RegularizedMKLClassifier
    >>> from multikernel.kernels import Gaussian, Linear
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> views = [("linear", Linear()), ("wide", Gaussian(0.01)), ("narrow", Gaussian(0.3))]
    >>> model = RegularizedMKLClassifier(views, cv=3, max_steps=3).fit(X[::3], y[::3])
    >>> model.surface_.n_design_, len(model.cv_results_["params"]) == model.surface_.n_evaluations_
    (6, True)
    >>> bool(model.best_score_ == model.cv_results_["mean_test_score"].max())
    True
    >>> bool(model.score(X, y) > 0.95)
    True

    Notes
    -----
    It solves

    .. math::

        \min_{d}\ \text{validation error of}\ \arg\min_{\mu \ge 0,\ \sum_m d_m^2 \mu_m = 1}\
        \max_{0 \le \alpha \le C,\ y'\alpha = 0}\
        \sum_i \alpha_i - \tfrac12 \sum_m \mu_m\, \alpha' Y K_m Y \alpha, \qquad d_1 = 1

    with the kernels :math:`K_m`, their weights :math:`\mu`, labels :math:`y_i = \pm 1` and dual variables
    :math:`\alpha`. :class:`MKLClassifier` prefers the kernels that fit the training samples best, which are
    the most complex ones; costs :math:`d_m` hold them back. They are chosen by cross-validation:

    - ``"response_surface"`` (RMKL): :math:`\log_{10} d_m` by a second-order design and quadratic fits of the
      validation error (:class:`multikernel.mkl.ResponseSurface`), within :math:`\pm` `bound`;
    - ``"eigenvalue"`` (EMKL): :math:`d_m = (e_m / e_1)^\gamma` with :math:`e_m` the number of eigenvalues of
      :math:`K_m`, at unit diagonal, above one half, and :math:`\gamma = 0, 0.1, \dots, 1`; as printed,
      :math:`e_m^\gamma`, with ``relative=False``;
    - ``"weights"`` (RWKL): no weights are learned; :math:`\log_{10} (\mu_m / \mu_1)` are searched by the same
      response surface, with weights of sum 1.

    The last fit is exactly ``MKLClassifier(costs=costs_)`` on all the samples, with the C that was chosen.
    The point that was measured as the best is taken, of equally good ones the nearest to :math:`d = 1`; its
    ``best_score_`` is too good for having been chosen, so judge the model on other samples. With
    ``rule="last"`` the search ends as in the algorithm that is printed, and its last point is taken, which
    may be worse than others: scores of folds are noisy.

    Each fold fits its kernels on its training part alone and keeps them: memory is `cv` times that of
    :class:`MKLClassifier`. Fits start from the solution at the nearest point of their fold. The design
    grows with the square of the number of kernels: 28 points for 7, 231 for 21.

    A gain in sparseness is partly one of C: a search that raises all the costs is one that lowers C. Costs
    :math:`s\,d_m` with C are costs :math:`d_m` with :math:`C / s^2`. So the printed costs of the eigenvalue
    heuristic, :math:`e_m^\gamma`, are ours with :math:`C / e_1^{2\gamma}`. The heuristic is from Bach,
    Thibaux & Jordan, who compute the path of all C: there the two are the same, and both are right. Gönen &
    Alpaydın use it at one C, where the printed costs lower C by a factor of up to :math:`e_1^2` together with
    :math:`\gamma`; a line in the plane :math:`d_1 = 1`, as they draw it, has ours.

    With `max_samples`, C sums over fewer errors than in the last model.

    References
    ----------
    Gönen & Alpaydın, Regularizing multiple kernel learning using response surface methodology, Pattern
    Recognition 44, 2011.
    Bach, Thibaux & Jordan, Computing regularization paths for learning multiple kernels, NIPS 2004.
    """

    about = REGULARIZED
    _fold = FoldClassifier

    kernels: Any = "auto"
    _: KW_ONLY
    method: str = "response_surface"
    C: float = 1.0
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
    multiclass: str = "ovr"
    class_weight: Any = None
    probability: bool = False
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None
    n_jobs: int | None = None
    callback: Callable[[dict[str, Any]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "RegularizedMKLClassifier":
        """Choose the costs by cross-validation, then learn the kernel weights and the classifiers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,) of labels
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C sample by sample, and weighs the validation samples.
        """
        return self._fit(X, y, sample_weight)

    def _machine(self, seed: Any) -> MKLClassifier:
        names = ("kernels", "C", "multiclass", "class_weight", "tol", "max_iter")
        own = {name: getattr(self, name) for name in names}
        return MKLClassifier(**own, norm=self._norm, random_state=seed)

    def _open(self, model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[ClassifierOn, Array, Array]:
        model.set_params(n_jobs=self.n_jobs, probability=self.probability)
        machines = ClassifierOn(model, X, y, sample_weight)
        y = column_or_1d(y)
        return machines, y, np.unique(y, return_inverse=True)[1]

    def _finish(self, model: Any, X: Any, y: Any, sample_weight: Any) -> None:
        model._calibration = calibrate(model.set_params(costs=model._costs), X, y, sample_weight)

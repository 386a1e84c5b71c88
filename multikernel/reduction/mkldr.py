"""Dimension reduction with several kernels, whose weights are learned with the directions."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _num_samples

from .._typing import Array
from .._validation import check_choice, check_number, check_positive_integer
from ..core.about import About
from ..core.estimator import KernelEstimator
from ..core.inputs import all_samples, encode_labels, require_two_classes
from ..core.neighbors import squared_distances
from ..core.optim.loop import Options
from ..core.stack.sums import variance_scales, weighted_sum
from ..views import make_bank
from .solver.directions import SCALINGS, Directions, SingularWithinError, scaled
from .solver.graphs import CRITERIA, SUPERVISED, graph_pair
from .solver.weights import ReductionResult, ScatterProblem


@dataclass(eq=False, repr=False)
class MKLDR(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    r"""Dimension reduction in the feature space of several kernels, with learned kernel weights.

    A transformer. Use it to bring several views into one table of few columns, for a picture or for another
    model, when you want to know which views separate the classes (or, without labels, keep the neighbors).
    With one kernel and ``criterion="lfda"`` it is :class:`LFDA`. To classify, an MKL classifier is simpler.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`MKLClassifier`.
    criterion : {"lda", "lfda", "mfa", "laplacian"} or callable, default="lda"
        Which pairs of samples to hold together, and which to keep apart:

        - "lda": linear discriminant analysis, samples of one class against those of others.
        - "lfda": local Fisher discriminant analysis, only near samples of one class are held together.
        - "mfa": marginal Fisher analysis, near samples of one class against the nearest pairs of samples of
          two classes.
        - "laplacian": locality preserving projections, near samples against the variance; without labels.
        - a callable ``f(squared_distances, y)`` that returns the weights of the two graphs, two symmetric
          arrays of shape (n_samples, n_samples): of pairs to hold together, and of pairs to keep apart.

        Distances are those in the feature space of the mean of the scaled kernels.
    n_components : int or None, default=None
        Number of directions. None: the number of classes minus one for "lda", the number of classes for
        "lfda" and "mfa", else 2.
    n_neighbors : int, default=7
        Number of neighbors k of "lfda", "mfa" and "laplacian".
    reg : float > 0, default=1e-3
        Regularization, as a share of the trace of :math:`S_w`. Choose it by cross-validation where classes
        overlap.
    metric : {"weighted", "orthonormalized", "plain"}, default="weighted"
        Length of the directions, as for :class:`LFDA`.
    tol : float, default=1e-3
        Tolerance on ``dual_gap_``.
    max_iter : int, default=100
        Maximum number of updates of the weights.
    max_time : float or None, default=None
        Maximum time of the fit in seconds; None for no limit.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        :math:`\beta_m / s_m`: the learned kernel is the sum of the kernels with these weights.
    kernel_shares_ : array of shape (n_kernels,)
        :math:`\beta`, each kernel's share of the variance in the learned feature space.
    projection_ : array of shape (n_samples, n_components)
        The directions: samples are projected to their learned similarities to the training samples times it.
    eigenvalues_ : array of shape (n_components,)
        :math:`\lambda`, largest first.
    objective_ : float, the sum of the eigenvalues
    dual_gap_ : float
        :math:`\max_m \partial F / \partial \beta_m` divided by :math:`F`, 0 at a stationary point.
    n_iter_ : int
    status_ : str
    history_ : list of dict with iteration, objective (it never falls) and gap
    classes_ : array of shape (n_classes,)
        Where the criterion reads labels.
    view_names_ : list of str
    n_features_in_ : int

    See Also
    --------
    LFDA : one kernel.
    CombinedKernelPCA : principal components of a combined kernel.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from multikernel.kernels import Gaussian, Linear
    >>> from multikernel.reduction import MKLDR
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(MKLDR([Linear(), Gaussian()]), KNeighborsClassifier()).fit(X[::2], y[::2])
    >>> model[:-1].transform(X[1::2]).shape, bool(model.score(X[1::2], y[1::2]) > 0.9)
    ((89, 2), True)

    Notes
    -----
    .. math::

        \max_{\beta \ge 0,\ \sum_m \beta_m = 1} F(\beta), \qquad F(\beta) = \lambda_1 + \dots + \lambda_q,
        \qquad S_b v = \lambda (S_w + \varepsilon I) v, \qquad
        S_\cdot = \tfrac12 \sum_{ij} W^\cdot_{ij} (\varphi(x_i) - \varphi(x_j))(\varphi(x_i) - \varphi(x_j))'

    in the feature space of :math:`\sum_m \beta_m K_m / s_m`, where :math:`s_m` is the variance of kernel m,
    :math:`W^b` and :math:`W^w` are the graphs of the criterion, and :math:`\varepsilon` is `reg` times the
    trace of :math:`S_w`. Directions and weights are updated in turn; the objective never falls. The problem
    is not concave: the end is a stationary point, which ``dual_gap_`` certifies, and not always the maximum.

    Lin, Liu & Fuh update the weights with another objective than the directions (a ratio of traces, relaxed
    to a semidefinite program), so that an update of the weights can worsen the directions. Here both steps
    have the objective of the generalized eigenproblem.

    Predictions read all training samples, so that a saved model holds them all.

    References
    ----------
    Lin, Liu & Fuh, Dimensionality reduction for data in multiple feature representations, NIPS 21, 2009;
    Multiple kernel learning for dimensionality reduction, IEEE TPAMI 33, 2011.
    Yan et al., Graph embedding and extensions, IEEE TPAMI 29, 2007.
    """

    about = About(
        family="embedding",
        problem="max λ_1 + … + λ_q over weights, S_b v = λ (S_w + ε I) v in the feature space of Σ β_m K_m",
        solver="generalized eigenproblem and projected gradient steps on weights in turn; never falls",
        cost="about ten eigendecompositions, n³ each, and P n² memory",
        use="A few columns from several views, for a picture or another model; which views separate classes.",
        reference="Lin, Liu & Fuh 2009, 2011; Yan et al. 2007",
    )
    certificate = "stationarity"
    _gap_name = "stationarity gap"
    _easier = "raise reg"

    kernels: Any = "auto"
    _: KW_ONLY
    criterion: str | Callable[[Array, Any], tuple[Array, Array]] = "lda"
    n_components: int | None = None
    n_neighbors: int = 7
    reg: float = 1e-3
    metric: str = "weighted"
    tol: float = 1e-3
    max_iter: int = 100
    max_time: float | None = None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._reads_labels
        return tags

    @property
    def _reads_labels(self) -> bool:
        return isinstance(self.criterion, str) and self.criterion in SUPERVISED

    @property
    def _criterion_name(self) -> str:
        return str(getattr(self.criterion, "__name__", self.criterion))

    def fit(self, X: Any, y: Any = None) -> "MKLDR":
        """Find directions and weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,), default=None
            Labels; ignored by "laplacian", and passed to a callable criterion.
        """
        self._check_parameters()
        X = self._validate_table(X, reset=True)
        codes, n = None, _num_samples(X)
        if self._reads_labels:
            self.classes_, codes = encode_labels(self, X, y)
            require_two_classes(self.classes_, codes)
        if n < 2:
            raise ValueError(f"MKLDR needs two samples at least; got n_samples={n}.")
        n_components = self._count(n)
        self._check_storage()
        self._bank = make_bank(self.kernels)
        Ks = np.asarray(self._fit_stack(X, all_samples(np.ones(n))))
        scales = variance_scales(Ks, self.view_names_)
        between, within = self._graphs(Ks, scales, codes, y)
        problem = ScatterProblem(Ks, scales, between, within, float(self.reg))
        self._store(self._solve(problem, n_components), scales)
        return self

    def _solve(self, problem: ScatterProblem, n_components: int) -> ReductionResult:
        try:
            return problem.solve(n_components, Options(tol=self.tol, max_iter=self.max_iter))
        except SingularWithinError:
            negative = ", or negative weights" if callable(self.criterion) else ""
            raise SingularWithinError(
                f"criterion {self._criterion_name!r}: the samples to hold together do not differ (repeated "
                f"samples, or one of each class{negative}). Use more samples; if they differ, raise "
                f"reg={self.reg!r}."
            ) from None

    def _check_parameters(self) -> None:
        if not callable(self.criterion):
            check_choice("criterion", self.criterion, CRITERIA)
        check_choice("metric", self.metric, SCALINGS)
        check_positive_integer("n_neighbors", self.n_neighbors)
        check_number("reg", self.reg, above=0.0)
        self._check_numerics()

    def _count(self, n: int) -> int:
        if self.n_components is None:
            n_classes = self.classes_.size if self._reads_labels else 2
            return min(n_classes - 1 if self.criterion == "lda" else n_classes, n - 1)
        count = check_positive_integer("n_components", self.n_components)
        if count > n - 1:
            raise ValueError(
                f"n_components must be less than the number of samples, {n}; got {self.n_components}."
            )
        return count

    def _graphs(self, Ks: Array, scales: Array, codes: Array | None, y: Any) -> tuple[Array, Array]:
        """W^b and W^w."""
        squares = squared_distances(weighted_sum(Ks, 1.0 / (len(Ks) * scales)))
        if not callable(self.criterion):
            between, within = graph_pair(self.criterion, squares, codes, self.n_neighbors)
        else:
            within, between = _checked_graphs(self.criterion(squares, y), len(squares))
        if not within.any() or not between.any():
            which = "hold together" if not within.any() else "keep apart"
            raise ValueError(
                f"criterion {self._criterion_name!r} has no pair of samples to {which}: all weights are 0. "
                "Use more samples of each class."
            )
        return between, within

    def _store(self, found: ReductionResult, scales: Array) -> None:
        self.kernel_shares_, self.kernel_weights_ = found.weights, found.weights / scales
        self.eigenvalues_ = found.directions.eigenvalues
        T = scaled(Directions(found.directions.coefficients, self.eigenvalues_), self.metric)
        scores = found.coordinates @ T
        largest = np.abs(scores).argmax(axis=0)
        T = T * np.where(scores[largest, np.arange(T.shape[1])] < 0.0, -1.0, 1.0)
        self.projection_ = found.to_similarities @ T
        self.objective_, self.dual_gap_ = found.objective, found.gap
        self.n_iter_, self.status_ = max(found.n_iter, 1), str(found.status)
        self.history_ = found.history
        self._bank = self._bank.restrict(np.arange(len(self.projection_)), np.flatnonzero(found.weights))
        self._warn_unless_converged()

    @property
    def _n_features_out(self) -> int:
        return int(self.projection_.shape[1])

    def transform(self, X: Any) -> Array:
        """Project on the directions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: array of shape (n_samples, n_train, n_kernels).

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        return np.concatenate(list(self._by_batches(X, self._project)))

    def _project(self, X: Any) -> Array:
        weights = self.kernel_weights_
        return np.asarray(
            sum(weights[m] * (K @ self.projection_) for m, K in self._bank.iter_kernels(X)), np.float64
        )

    def _weight_columns(self) -> dict[str, Any]:
        return {"weight": self.kernel_weights_, "share": self.kernel_shares_}


def _checked_graphs(found: Any, n: int) -> list[Array]:
    """The two graphs that a callable criterion returned."""
    needed = (
        f"criterion must return two symmetric arrays of finite numbers of shape ({n}, {n}), the pairs to "
        "hold together first"
    )
    if not isinstance(found, (tuple, list, np.ndarray)) or len(found) != 2:
        raise ValueError(f"{needed}; got {type(found).__name__}.")
    graphs = [np.asarray(W, np.float64) for W in found]
    for W in graphs:
        if W.shape != (n, n):
            raise ValueError(f"{needed}; got one of shape {W.shape}.")
        if not np.isfinite(W).all():
            raise ValueError(f"{needed}; got one with NaN or infinity.")
        if not np.allclose(W, W.T):
            raise ValueError(f"{needed}; got one that is not symmetric.")
    return [0.5 * (W + W.T) for W in graphs]

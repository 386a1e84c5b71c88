"""Discriminant analysis that learns its kernel and its regularisation."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if

from .._typing import Array
from .._validation import check_choice, check_positive_integer, warn_caller
from ..core.about import About
from ..core.callbacks import progress_of
from ..core.decisions import decide
from ..core.estimator import KernelEstimator, refusing_overflow, require_finite
from ..core.fitted import DualKernels, FittedKernels
from ..core.inputs import encode_labels, require_two_classes
from ..core.neighbors import check_n_neighbors, neighbour_votes
from ..core.optim.loop import Options
from ..core.scatter import SingularScatterError
from ..views import make_bank
from .solver.learn import DiscriminantProblem, DiscriminantResult, learn_discriminant
from .solver.problem import check_reg, strongest_kernel
from .solver.rkda import Projection, discriminant_projection

DISCRIMINANT = About(
    family="discriminant",
    problem=(
        "min λ tr H'(λI + Σ θ_i G̃_i)⁻¹H, θ ≥ 0, θ'r = 1: scatter between the classes against total "
        "scatter and λ"
    ),
    solver="Newton's method on the simplex, duality gap",
    cost="n³/3 + P n² for each of about ten iterations; memory (1.3 P + 4) n²",
    use="Many classes, a projection to plot, and a regularization learned with the weights.",
    reference="Ye, Chen & Ji 2007",
)


RULES = ("centroid", "knn")
_LARGE_REG = 1e3  # times the mean eigenvalue of the kernel: used where no kernel beats the identity


def _scores_classes(estimator: Any) -> bool:
    """Whether the rule is linear in the projections."""
    return bool(estimator.rule == "centroid")


@dataclass(eq=False, repr=False)
class KernelDiscriminantClassifier(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, KernelEstimator
):
    r"""Regularised kernel discriminant analysis that learns its kernel, and its regularisation if asked.

    Use it for many classes, for a projection to plot, or to learn the regularization with the weights
    (``reg="learn"``). For sample weights, or for the largest margin, use :class:`MKLClassifier`.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
    reg : float or "learn", default=1e-4
        :math:`\lambda`, relative to a kernel whose centred trace is 1; or learn it with the weights.
    n_components : int or None, default=None
        How many discriminant directions; None takes all, one less than there are classes.
    rule : {"centroid", "knn"}, default="centroid"
        The class of the nearest projected class mean, or a vote of the nearest projected points (which has
        no `decision_function`; `contributions` are to the former all the same).
    n_neighbors : int, default=1
        How many vote (knn).
    tol : float, default=1e-3
        The relative duality gap to reach.
    max_iter : int, default=300
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.
    callback : callable, default=None
        Called with a dict after each iteration; a true answer stops the fit.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does: raise KeyboardInterrupt, or end the fit at its next iteration and keep the model.
    verbose : int, default=0
        1 writes progress to standard error.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        :math:`\theta` with :math:`\theta' r = 1`.
    kernel_shares_ : array of shape (n_kernels,)
        :math:`\theta_i r_i`: what each kernel contributes to the trace,
        whatever its scale; of sum 1
    reg_ : float, :math:`\lambda` used or learned; a learned zero is kept at 1e-9 / n, so that the matrix can
        be inverted
    objective_ : float, the published objective: with the factor :math:`\lambda` where it is given, without
        where it is learned
    dual_gap_ : float, the relative duality gap reached; it and `objective_` are those of learning, also where
        that found no kernel better than the identity and another one is used (see Notes)
    directions_ : array of shape (n_samples, n_directions)
        The coefficients of the discriminant directions.
    eigenvalues_ : array of shape (n_directions,)
        The share of the regularised scatter along each direction that lies
        between the classes
    centroids_ : array of shape (n_classes, n_directions)
        The projected class means.
    dual_coef_ : array of shape (n_machines, n_samples)
        The nearest-centroid rule as scores; one row for two classes.
    machine_weights_ : array of shape (n_machines, n_kernels)
        `kernel_weights_` for each row of them.
    intercept_ : array of shape (n_machines,)
    view_names_, machine_names_ : list of str
    classes_ : array of shape (n_classes,)
    n_iter_ : int
    n_factorisations_ : int, Cholesky factorisations of an (n_samples, n_samples) matrix that learning took
    status_ : str
    history_ : list of dict
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X has column names.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from multikernel.discriminant import KernelDiscriminantClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = KernelDiscriminantClassifier(reg="learn").fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.95), bool(model.dual_gap_ <= 1e-3)
    (True, True)
    >>> model.transform(X[1::2]).shape
    (89, 2)

    Notes
    -----
    It solves

    .. math::

        \min_{\theta \ge 0,\ \theta' r = 1}\ \lambda\,
        \mathrm{tr}\, H' \Bigl(\lambda I + \sum_i \theta_i \tilde G_i\Bigr)^{-1} H

    with the centred kernels :math:`\tilde G_i = P G_i P`, :math:`P = I - 11'/n`, their traces :math:`r_i`,
    the regularisation :math:`\lambda`, and the columns :math:`h_c = \sqrt{n / n_c}\, P e_c` of :math:`H` for
    the indicators :math:`e_c` of classes with :math:`n_c` points. For two classes :math:`H` is the one
    column :math:`a` with :math:`1/n_+` on the second class of ``classes_`` and :math:`-1/n_-` on the first.
    The smaller the value, the larger the scatter between the classes relative to the total scatter plus
    :math:`\lambda I`. With ``reg="learn"`` the identity is one more kernel: the trace of
    :math:`\tilde\theta_0 I + \sum_i \tilde\theta_i \tilde G_i` is 1, the objective has no factor
    :math:`\lambda`, and :math:`\lambda = \tilde\theta_0 / \sum_i \tilde\theta_i r_i`.

    Predictions read all training samples, so that a saved model holds them all.

    *The published approximation*, one matrix inequality with a diagonal instead of one for each class,
    is not offered: for more than two classes its value is larger, by factors of 1.4 to 1.8 where we looked,
    and the exact problem costs no more here, where no matrix inequality is formed at all.

    *A learned regularisation of zero* is a normal result. A kernel that is nearly the identity, such as a
    Gaussian much narrower than the distances, has the centred trace n − 1, less than the identity's n, and
    so is preferred to it; for new points it contributes nothing, which is to say that it is the
    regularisation. With such a kernel in the bank a fixed small ``reg`` and a learned one give the same
    classifier; without one, learning ``reg`` matters. Where no kernel separates the classes better than the
    identity does (labels that have nothing to do with the points), :math:`\lambda` would be infinite: there
    is a warning, and the best single kernel is used with a large one.

    Equal or dependent kernels share their weight in no unique way. A class of a single point is allowed.
    The result does not depend on the scale of the kernels. Memory: the stack of kernels (8 n² bytes each),
    a third of it for the start on half of the points, and four (n, n) matrices.

    References
    ----------
    Ye, Chen & Ji, Discriminant kernel and regularization parameter learning via semidefinite programming,
    ICML 2007.
    """

    about = DISCRIMINANT
    _easier = "raise reg"
    _adds_kernels = True
    _storage_options = ("psd",)

    kernels: Any = "auto"
    _: KW_ONLY
    reg: Any = 1e-4
    n_components: int | None = None
    rule: str = "centroid"
    n_neighbors: int = 1
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None
    callback: Callable[[dict[str, float]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0

    # ------------------------------------------------------------------ fit
    def fit(self, X: Any, y: Any) -> "KernelDiscriminantClassifier":
        """Learn the kernel weights, the regularisation if asked, and the discriminant directions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,) of labels
        """
        reg = self._check_parameters()
        X = self._validate_table(X, reset=True)
        self.classes_, codes = encode_labels(self, X, y)
        require_two_classes(self.classes_, codes)
        if self.n_components is not None and self.n_components >= self.classes_.size:
            raise ValueError(
                f"n_components must be less than the number of classes, {self.classes_.size}; got "
                f"{self.n_components}. There is one direction less than there are classes."
            )
        if self.rule == "knn":
            check_n_neighbors(self.n_neighbors, codes.size)
        Ks = self._fit_kernels(X)
        result = self._learn(Ks, DiscriminantProblem(Ks, codes, reg))
        self._store(Ks, codes, result)
        return self

    def _check_parameters(self) -> float | None:
        """The checked λ, None if it is learned."""
        check_choice("rule", self.rule, RULES)
        self._check_numerics()
        if self.n_components is not None:
            check_positive_integer("n_components", self.n_components)
        return check_reg(self.reg)

    def _fit_kernels(self, X: Any) -> Array:
        self._check_storage()
        self._bank = make_bank(self.kernels)
        Ks = np.ascontiguousarray(self._bank.fit_stack(X), float)
        self.view_names_ = list(self._bank.view_names_)
        return Ks

    def _learn(self, Ks: Array, problem: DiscriminantProblem) -> DiscriminantResult:
        options = Options(tol=self.tol, max_iter=self.max_iter, callback=progress_of(self))
        try:
            with refusing_overflow():
                result = learn_discriminant(problem, options=options)
        except SingularScatterError:
            self._require_psd(Ks, range(len(Ks)))  # an indefinite kernel has a better explanation
            raise
        if result.suspicious:
            self._require_psd(Ks, range(len(Ks)))
        require_finite(result)
        return result

    def _store(self, Ks: Array, codes: Array, result: DiscriminantResult) -> None:
        self.kernel_weights_, self.reg_ = result.weights, result.reg
        if np.isinf(result.reg):
            self.kernel_weights_ = strongest_kernel(Ks, codes)
            self.reg_ = _LARGE_REG / codes.size
            self._warn_of_no_kernel()
        self.objective_, self.dual_gap_ = float(result.objective), float(result.gap)
        self.n_iter_, self.n_factorisations_ = max(1, result.n_iter), result.n_factorisations
        self.status_, self.history_ = str(result.status), result.history
        active = np.flatnonzero(self.kernel_weights_)
        K = sum(self.kernel_weights_[m] * Ks[m] for m in active)
        self._keep(discriminant_projection(K, codes, self.reg_, self.n_components), active)
        centred = np.array([np.trace(Ks[m]) - Ks[m].sum() / codes.size for m in active])
        self.kernel_shares_ = np.zeros(len(Ks))
        self.kernel_shares_[active] = self.kernel_weights_[active] * centred
        if self.rule == "knn":
            self._projected, self._codes = K @ self.directions_ - self._offset, codes
        self._warn_unless_converged()

    def _keep(self, projection: Projection, active: Array) -> None:
        """What predictions need."""
        coefficients, self.intercept_ = projection.rule()
        self.dual_coef_ = coefficients.T
        self.directions_, self._offset = projection.directions, projection.offset
        self.eigenvalues_, self.centroids_ = projection.eigenvalues, projection.centroids
        self.machine_names_ = [str(name) for name in self.classes_[-len(self.dual_coef_) :]]
        self.machine_weights_ = np.tile(self.kernel_weights_, (len(self.dual_coef_), 1))
        bank = self._bank.restrict(np.arange(len(self.directions_)), active)
        self._fitted = FittedKernels(
            [DualKernels(bank, self.dual_coef_, self.machine_weights_)], self.machine_weights_.shape
        )
        del self._bank

    def _warn_of_no_kernel(self) -> None:
        best = self.view_names_[int(np.argmax(self.kernel_weights_))]
        warn_caller(
            'reg="learn" found no kernel that separates the classes better than the identity: the learned '
            f"regularisation is infinite. Kernel {best!r} is used with reg={self.reg_:.2g}. Check that the "
            "labels have to do with the points, or give a reg.",
            UserWarning,
        )

    # ------------------------------------------------------------------ predict
    @property
    def _n_features_out(self) -> int:
        return int(self.directions_.shape[1])

    def transform(self, X: Any) -> Array:
        """Project onto the discriminant directions.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        array of shape (n_samples, n_directions)
        """
        return np.concatenate(list(self._by_batches(X, self._project))) - self._offset

    def _project(self, X: Any) -> Any:
        """The projections before they are centred."""
        return sum(
            self.kernel_weights_[m] * (K @ self.directions_) for m, K in self._fitted.bank.iter_kernels(X)
        )

    @available_if(_scores_classes)
    def decision_function(self, X: Any) -> Array:
        """Scores of the nearest-centroid rule, which ``rule="knn"`` has not.

        Returns
        -------
        array (n_samples,) for two classes, positive for ``classes_[1]``; else (n_samples, n_classes), the
        larger, the nearer the class mean
        """
        scores = self._scores(X) + self.intercept_
        return scores[:, 0] if self.classes_.size == 2 else scores

    def predict(self, X: Any) -> Array:
        """The class of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: array of shape (n_samples, n_train, n_kernels).
        """
        if self.rule == "knn":
            distances = cdist(self.transform(X), self._projected, "sqeuclidean")
            return self.classes_[neighbour_votes(distances, self._codes, self.n_neighbors).winners]
        return decide(self.decision_function(X), self.classes_)

    def _weight_columns(self) -> dict[str, Any]:
        return {"weight": self.kernel_weights_, "share": self.kernel_shares_}

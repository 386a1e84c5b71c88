"""Principal components in the feature space of a kernel, and of the kernel of any weight learner.

    HKH = V diag(λ) V',   H = I − 11'/n,      z(x) = diag(λ)^{−½} V'(k(x) centred)

k(x) are the similarities of x to the training samples, minus their mean over them, minus the mean of each
training column, plus the mean of all. The samples' own coordinates are V diag(λ)^½.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._typing import Array
from .._validation import check_positive_integer, check_task, within_floats
from ..core.about import About
from .combined import CombinedKernel
from .fixed import MeanRule
from .targets import TASKS, Targets, as_targets, no_targets

_ROUNDING = 1e-12  # share of the largest eigenvalue that is none


@dataclass(frozen=True, eq=False)
class KernelComponents:
    """The leading components."""

    eigenvalues: Array  # λ (q,), largest first; zero where nothing but rounding is left
    vectors: Array  # V (n, q); the entry of largest size in each column is positive
    shares: Array  # λ / tr HKH, (q,)
    column_means: Array  # of K, (n,)

    @property
    def scores(self) -> Array:
        """Coordinates of the training samples, (n, q)."""
        return np.asarray(self.vectors * np.sqrt(self.eigenvalues))

    def project(self, K: Array) -> Array:
        """Coordinates of new samples, (n_test, q), from K (n_test, n)."""
        centred = K - K.mean(axis=1, keepdims=True) - (self.column_means - self.column_means.mean())
        sizes = np.sqrt(self.eigenvalues)
        inverse = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0.0)
        return np.asarray(centred @ (self.vectors * inverse))


def kernel_components(K: Array, n_components: int) -> KernelComponents:
    """The leading components of a kernel matrix K (n, n), symmetric positive semidefinite.

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 6.0])
    >>> found = kernel_components(np.outer(x, x), 1)
    >>> found.scores.ravel(), found.project(np.outer([3.0, 7.0], x)).ravel(), found.shares
    (array([-2., -1.,  3.]), array([0., 4.]), array([1.]))
    """
    means = K.mean(axis=0)
    centred = K - means - (means - means.mean())[:, None]
    total = float(np.trace(centred))
    values, vectors = _leading(centred, n_components)
    values = np.where(values > _ROUNDING * max(values[0], 0.0), values, 0.0)
    largest = np.abs(vectors).argmax(axis=0)
    vectors = vectors * np.where(vectors[largest, np.arange(n_components)] < 0.0, -1.0, 1.0)
    return KernelComponents(values, vectors, values / total if total > 0.0 else 0.0 * values, means)


def _leading(K: Array, q: int) -> tuple[Array, Array]:
    """The q largest eigenvalues, largest first, and their vectors."""
    n = len(K)
    values, vectors = eigh(K, subset_by_index=[n - q, n - 1], check_finite=False)
    if values.size < q:  # a search by index may lose some of those that are equal
        values, vectors = eigh(K, driver="evd", overwrite_a=True, check_finite=False)
    return values[: -q - 1 : -1], vectors[:, : -q - 1 : -1]


@dataclass(eq=False, repr=False)
class CombinedKernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CombinedKernel):
    r"""Principal components in the feature space of kernels that a weight learner has combined.

    Use it to plot samples in the space of a learned kernel, or for features of another model. It does not
    predict.

    Parameters
    ----------
    learner : weight learner, default=None
        From :mod:`multikernel.rules`; default ``MeanRule()``, which looks at no target.
    n_components : int, default=2
        How many components, at most the number of samples.
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`CombinedKernelClassifier`.
    normalize : bool, default=True
        As for :class:`CombinedKernelClassifier`.
    task : {"auto", "classification", "regression", "unsupervised"}, default="auto"
        What y is, for the learner; "nothing" leaves it alone. "auto": values where y holds fractions or has
        two dimensions, or where the learner knows no classes, else classes.

    Attributes
    ----------
    embedding_ : array of shape (n_samples, n_components)
        The training samples.
    eigenvalues_ : array of shape (n_components,)
        :math:`\Lambda`, largest first.
    explained_variance_ratio_ : array of shape (n_components,)
        Each component's part of the variance.
    kernel_weights_, kernel_shares_, scale_, learner_, view_names_
        As for :class:`CombinedKernelClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import CombinedKernelPCA, Gaussian, Linear
    >>> from multikernel.rules import CenteredAlignment
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CombinedKernelPCA([Linear(), Gaussian()], learner=CenteredAlignment()).fit(X, y)
    >>> model.transform(X).shape, bool(model.explained_variance_ratio_.sum() > 0.5)
    ((150, 2), True)

    Notes
    -----
    The learner sets the weights, then the centered kernel is decomposed:

    .. math::

        K = s \sum_m \eta_m K_m, \qquad \eta = \text{learner}(K_1, \dots, K_P, y), \qquad
        HKH = V \Lambda V', \qquad z(x) = \Lambda^{-1/2} V' k_H(x)

    or another combination of the learner; :math:`s` scales the mean of the diagonal to 1,
    :math:`H = I - 11'/n` centres, and :math:`k_H(x)` are the centred similarities of x to the samples of fit.

    Predictions read all training samples, so that a saved model holds them all.
    """

    about = About(
        family="embedding",
        problem="leading eigenvectors of the centered combined kernel",
        solver="that of the learner; then an eigendecomposition",
        cost="that of the learner, and n² for each component, or n³",
        use="To plot the samples in the space of the learned kernel, or as features for another model.",
        reference="Schölkopf, Smola & Müller 1998",
    )
    learns_from = TASKS
    _default_learner = MeanRule

    kernels: Any = "auto"
    learner: Any = None
    _: KW_ONLY
    n_components: int = 2
    task: str = "auto"
    normalize: bool = True

    def fit(self, X: Any, y: Any = None) -> "CombinedKernelPCA":
        """Learn the weights, then the components.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,) or (n_samples, n_outputs), default=None
            Labels or numbers, as the learner needs; the default learner ignores them.
        """
        X = self._validate_table(X, reset=True)
        n = _num_samples(X)
        n_components = check_positive_integer("n_components", self.n_components)
        if n_components > n or n < 2:
            raise ValueError(
                f"n_components={n_components} components need as many samples, and two at least; "
                f"got n_samples={n}."
            )
        K = self._fit_kernel(X, self._targets(y, n))
        self._components = kernel_components(K, n_components)
        self.embedding_ = self._components.scores
        self.eigenvalues_ = self._components.eigenvalues
        self.explained_variance_ratio_ = self._components.shares
        return self

    def _targets(self, y: Any, n: int) -> Targets:
        """The tasks of the learner; ``MeanRule()``, the default, needs no targets."""
        check_task(self.task, ("auto", *TASKS))
        if y is None or self.learner is None:
            return no_targets(n)
        with within_floats("y"):
            y = check_array(y, ensure_2d=False, dtype=None, input_name="y")
        return as_targets(y, n, self.task, getattr(self.learner, "learns_from", TASKS))

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Array:
        """Learn, and the coordinates of the training samples (n, n_components)."""
        return self.fit(X, y).embedding_

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def transform(self, X: Any) -> Array:
        """The coordinates of samples along the components.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: array of shape (n_samples, n_train, n_kernels).

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        return np.concatenate(
            list(self._by_batches(X, lambda rows: self._components.project(self._combine(self._bank, rows))))
        )

    def plot(self, ax: Any = None, labels: Any = None) -> Any:
        """Draw the training samples along the first two components.

        Parameters
        ----------
        ax : matplotlib axes, default=None
        labels : array-like of shape (n_samples,), default=None
            One colour and one entry of the legend for each.

        Returns
        -------
        matplotlib axes
        """
        from ..viz import components

        check_is_fitted(self)
        return components(self, labels, ax=ax)

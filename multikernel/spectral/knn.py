"""Classification by the nearest neighbours in the feature space of a kernel."""

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from .._typing import Array
from ..core.about import About
from ..core.inputs import encode_labels, require_two_classes
from ..core.neighbors import check_n_neighbors, kernel_distances, neighbour_votes
from ..core.one_kernel import OneKernel, fixed_seed

NEIGHBOURS = About(
    family="one kernel",
    problem="a vote of the nearest neighbors by d² = k(x, x) + k(z, z) − 2 k(x, z)",
    solver="none: exhaustive search, exact",
    cost="n² to check the kernel; n for each prediction",
    use="Baseline on one kernel, or a classifier on a combined kernel.",
    reference="Yu, Ji & Zhang 2002",
)


class NeighbourVote(ClassifierMixin, OneKernel):
    """A classifier by nearest training points; a subclass defines the distance."""

    n_neighbors: int
    random_state: Any
    classes_: Array
    _codes: Array
    _seed: int

    def _fit_labelled(self, X: Any, y: Any) -> Array:
        """Check all that is given, keep the labels, and return the training matrix (n, n)."""
        X = self._validate_table(X, reset=True)
        self.classes_, self._codes = encode_labels(self, X, y)
        require_two_classes(self.classes_, self._codes)
        check_n_neighbors(self.n_neighbors, self._codes.size)
        self._seed = fixed_seed(self.random_state)
        return self._fit_gram(X)

    @abstractmethod
    def _distances(self, K: Array) -> Array:
        """What orders the training points, (n_rows, n_train), of similarities K (n_rows, n_train) to them."""

    def predict(self, X: Any) -> Array:
        """The class that most of the nearest training points have; of several, that of the nearest.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: array of shape (n_samples, n_train).

        Returns
        -------
        array of shape (n_samples,)
        """
        winners = [
            neighbour_votes(self._distances(K), self._codes, self.n_neighbors, seed=self._seed).winners
            for K in self._test_blocks(X)
        ]
        return self.classes_[np.concatenate(winners)]


@dataclass(eq=False, repr=False)
class KernelKNNClassifier(NeighbourVote):
    r"""Classifier by a vote of the nearest neighbours in the feature space of a kernel.

    Use it as a baseline on one kernel, or as ``machine`` on a combined kernel. For distances between feature
    vectors, use scikit-learn's ``KNeighborsClassifier``.

    Parameters
    ----------
    kernels : "gaussian", "precomputed", kernel, View or function f(X, Z), default="gaussian"
        "gaussian" is ``Gaussian()``, whose width is the median distance between training rows. Precomputed:
        X is (n, n) at fit and (n_samples, n) at predict.
        Columns and kernel stay as they are, unless a View or a KernelBank asks for ``standardize`` or
        ``normalize``.
    n_neighbors : int, default=1
        How many of the nearest training points vote. Of several classes with as many votes, the one with the
        nearest point wins.
    random_state : int, RandomState or None, default=None
        Seeds the order in which training points at *exactly* the same distance are taken (a narrow Gaussian
        vanishes between all points); their order in X is often that of the classes. None is a fixed seed.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    base_kernel_ : Kernel or None, the kernel with its width as a number; None when precomputed
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X has column names.

    See Also
    --------
    KDDAClassifier : neighbours among the discriminant directions.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel.spectral import KernelKNNClassifier
    >>> from multikernel.kernels import Polynomial
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelKNNClassifier(Polynomial(degree=2), n_neighbors=3).fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 2)
    0.96

    Notes
    -----
    The distance is

    .. math::

        d(x, x_j)^2 = \|\varphi(x) - \varphi(x_j)\|^2 = k(x, x) + k(x_j, x_j) - 2\, k(x, x_j)

    The first term is the same for all training points :math:`x_j` and is left out: precomputed similarities
    of new points to the training points are enough. For a Gaussian, or any kernel of a unit diagonal that
    falls with the distance, the neighbours are those in the space of the features.

    Predictions read all training samples, so that a saved model holds them all.
    Features are not scaled: put a ``StandardScaler`` before it. The fit computes the matrix of all training
    points, to check the kernel, and keeps only its diagonal.

    References
    ----------
    Yu, Ji & Zhang, Kernel nearest-neighbor algorithm, Neural Processing Letters 15, 2002.
    """

    about = NEIGHBOURS

    kernels: Any = "gaussian"
    _: KW_ONLY
    n_neighbors: int = 1
    random_state: Any = None

    def fit(self, X: Any, y: Any) -> "KernelKNNClassifier":
        """Keep the training points.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: array of shape (n_samples, n_samples).
        y : array of shape (n_samples,) of labels, of at least two classes; a class may have one point
        """
        self._diagonal = self._fit_labelled(X, y).diagonal().copy()
        return self

    def _distances(self, K: Array) -> Array:
        return kernel_distances(K, self._diagonal)

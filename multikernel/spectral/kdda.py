"""Direct discriminant analysis in the feature space of a kernel: projection and classification."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from .._typing import Array
from .._validation import check_positive_integer
from ..core.about import About
from .knn import NeighbourVote
from .solver.direct_discriminant import direct_discriminant

KDDA = About(
    family="discriminant",
    problem="directions in which S_b is white and S_w + reg S_b = I; the null space of S_b is removed first",
    solver="two eigendecompositions, exact",
    cost="n³ at most, n² memory",
    use="One kernel, few samples for each of many classes, such as faces.",
    reference="Lu, Plataniotis & Venetsanopoulos 2003",
)


@dataclass(eq=False, repr=False)
class KDDAClassifier(ClassNamePrefixFeaturesOutMixin, TransformerMixin, NeighbourVote):
    r"""Kernel direct discriminant analysis, with the nearest neighbours among its directions.

    Use it for one kernel and few samples of each of many classes, such as faces. For several kernels, use
    :class:`multikernel.discriminant.KernelDiscriminantClassifier`.

    Parameters
    ----------
    kernels : "gaussian", "precomputed", kernel, View or function f(X, Z), default="gaussian"
        "gaussian" is ``Gaussian()``, whose width is the median distance between training rows. Precomputed:
        X is (n, n) at fit and (n_samples, n) afterwards.
        Columns and kernel stay as they are, unless a View or a KernelBank asks for ``standardize`` or
        ``normalize``.
    reg : float, positive, default=1.0
        Shrinks directions with almost no within-class scatter, of which there are many when the
        feature space has more dimensions than there are points.
    n_components : int or None, default=None
        How many directions to keep, the sharpest first; None keeps all.
    n_neighbors : int, default=1
        How many of the nearest training points, after projection, vote on the class. Of several classes with
        as many votes, the one with the nearest point wins.
    random_state : int, RandomState or None, default=None
        Seeds the order in which training points at *exactly* the same distance are taken; their order in X is
        often that of the classes. None is a fixed seed.

    Attributes
    ----------
    projection_ : array of shape (n_samples, n_directions)
        :math:`T`.
    embedding_ : array of shape (n_samples, n_directions)
        The projected training points.
    classes_ : array of shape (n_classes,)
    base_kernel_ : Kernel or None, the kernel with its width as a number; None when precomputed
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X has column names.

    See Also
    --------
    KernelKNNClassifier : neighbours in the whole feature space.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from multikernel.spectral import KDDAClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), KDDAClassifier()).fit(X[::2], y[::2])
    >>> model.transform(X[1::2]).shape, round(model.score(X[1::2], y[1::2]), 2)
    ((89, 2), 0.97)

    Notes
    -----
    It projects a sample to

    .. math::

        z(x) = T'\, (k(x, x_1), \dots, k(x, x_n))', \qquad
        S_w + \mathrm{reg} \cdot S_b = I \ \text{ in the coordinates } z

    where :math:`S_b` and :math:`S_w` are the scatters between and inside the classes in the feature space of
    the kernel, divided by the number n of training points. The null space of :math:`S_b`, where the means of
    the classes agree, is given up first: at most one direction less than there are classes is left. In it
    :math:`S_b` is whitened, :math:`S_w` diagonalised, and each direction scaled by
    :math:`(\mathrm{reg} + s)^{-1/2}`, with :math:`s` the scatter inside the classes along it.

    Predictions read all training samples, so that a saved model holds them all.
    Features are not scaled: put a ``StandardScaler`` before it. A class of one point has no scatter of its
    own and takes part through its mean. Where the means of all classes agree, there is no direction, and
    `fit` says so.

    References
    ----------
    Lu, Plataniotis & Venetsanopoulos, Face recognition using kernel direct discriminant analysis algorithms,
    IEEE Transactions on Neural Networks 14, 2003.
    """

    about = KDDA

    kernels: Any = "gaussian"
    _: KW_ONLY
    reg: float = 1.0
    n_components: int | None = None
    n_neighbors: int = 1
    random_state: Any = None

    def fit(self, X: Any, y: Any) -> "KDDAClassifier":
        """Find the discriminant directions and project the training points.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: array of shape (n_samples, n_samples).
        y : array of shape (n_samples,) of labels, of at least two classes
        """
        K = self._fit_labelled(X, y)
        self.projection_ = direct_discriminant(K, self._codes, self.reg)[:, : self._n_kept()]
        self.embedding_ = K @ self.projection_
        return self

    def _n_kept(self) -> int:
        possible = self.classes_.size - 1
        if self.n_components is None:
            return possible
        kept = check_positive_integer("n_components", self.n_components)
        if kept > possible:
            raise ValueError(
                f"n_components must be at most one less than the number of classes; got {kept} for "
                f"{self.classes_.size} classes."
            )
        return kept

    @property
    def _n_features_out(self) -> int:
        return int(self.projection_.shape[1])

    def transform(self, X: Any) -> Array:
        """Project on the discriminant directions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: array of shape (n_samples, n_train).

        Returns
        -------
        array of shape (n_samples, n_directions)
        """
        return np.concatenate([K @ self.projection_ for K in self._test_blocks(X)])

    def _distances(self, K: Array) -> Array:
        return np.asarray(cdist(K @ self.projection_, self.embedding_, "sqeuclidean"))

"""Local Fisher discriminant analysis, linear or with a kernel: a supervised transformer."""

from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from .._validation import check_choice, check_number, check_positive_integer
from ..core.about import About
from ..core.inputs import encode_labels, require_two_classes
from ..core.neighbors import squared_distances
from ..core.one_kernel import OneKernel
from ..kernels import Linear
from .solver.directions import (
    SCALINGS,
    Directions,
    SingularWithinError,
    coordinates_of,
    find_directions,
    pair_weights,
    scaled,
)

ABOUT = About(
    family="embedding",
    problem="S_b v = λ (S_w + ε I) v, scatters between and inside the classes in which near samples count",
    solver="one generalized eigenproblem, exact",
    cost="n² columns and columns³ with the linear kernel, else n³; n² memory",
    use="Classes in several clusters each; a few columns for another model, or for a picture.",
    reference="Sugiyama 2007",
)
_SINGULAR_REG = 1e-3


@dataclass(eq=False, repr=False)
class LFDA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, OneKernel):
    r"""Local Fisher discriminant analysis: directions that part the classes and keep their clusters.

    Use it as a transformer before another model, or for a picture, where a class may have several clusters.
    It takes one kernel; for several, use :class:`MKLDR`.

    Parameters
    ----------
    kernels : "linear", "precomputed", kernel, View or function f(X, Z), default="linear"
        "linear", or "auto", is the method on the columns of X; another kernel makes it kernel LFDA.
        Precomputed: X is (n, n) at fit and (n_samples, n) afterwards.
        Columns and kernel stay as they are, unless a View or a KernelBank asks for ``standardize`` or
        ``normalize``.
    n_components : int or None, default=None
        How many directions to keep, the largest :math:`\lambda` first. None keeps all with the linear kernel,
        one for each column, and as many as there are classes with others.
    n_neighbors : int or None, default=7
        k of the local scale; at most all other samples of the class are taken. None sets all affinities to 1,
        which is the discriminant analysis of Fisher.
    metric : {"weighted", "orthonormalized", "plain"}, default="weighted"
        The length of the directions. "plain": :math:`v'(S_w + \varepsilon I) v = 1`; "weighted": these times
        :math:`\sqrt\lambda`, 0 where :math:`\lambda` is negative; "orthonormalized": of length 1 and
        orthogonal in the feature space, by the method of Gram and Schmidt.
    reg : float or "auto", default="auto"
        :math:`\varepsilon` is `reg` times the trace of :math:`S_w`. "auto" is 0 with the linear kernel, as
        printed, and 1e-3 with other kernels, and where :math:`S_w` is singular.

    Attributes
    ----------
    projection_ : array of shape (n_columns, n_components) or (n_samples, n_components)
        The directions :math:`T`, new samples being projected to :math:`T'x`; with a kernel other than the
        linear one, more columns than samples, or a sparse table, to :math:`T'(k(x, x_1), \dots, k(x, x_n))'`.
    eigenvalues_ : array of shape (n_components,)
        :math:`\lambda`.
    reg_ : float
    classes_ : array of shape (n_classes,)
    base_kernel_ : Kernel or None, the kernel with its width as a number; None when precomputed
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X has column names.

    See Also
    --------
    KDDAClassifier : direct discriminant analysis; at most one direction less than there are classes.

    Examples
    --------
    Two classes of iris in one, so that it has two clusters:

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> from multikernel.reduction import LFDA
    >>> X, y = load_iris(return_X_y=True)
    >>> merged = y == 1
    >>> model = make_pipeline(LFDA(n_components=2), SVC()).fit(X[::2], merged[::2])
    >>> model[:-1].transform(X[1::2]).shape, bool(model.score(X[1::2], merged[1::2]) > 0.9)
    ((75, 2), True)

    Notes
    -----
    The directions solve

    .. math::

        S_b\, v = \lambda\, (S_w + \varepsilon I)\, v, \qquad
        S_\cdot = \tfrac12 \sum_{ij} W^\cdot_{ij}\,
        (\varphi(x_i) - \varphi(x_j))(\varphi(x_i) - \varphi(x_j))'

    where, for samples of one class :math:`c` of :math:`n_c` samples,
    :math:`W^w_{ij} = A_{ij} / n_c` and :math:`W^b_{ij} = A_{ij} (1/n - 1/n_c)`, and for samples of two
    classes :math:`W^w_{ij} = 0` and :math:`W^b_{ij} = 1/n`. The affinities are
    :math:`A_{ij} = \exp(-d_{ij}^2 / (s_i s_j))`, with :math:`d_{ij}` the distance in the feature space and
    :math:`s_i` that of :math:`x_i` to its k-th nearest neighbor in its class, k = `n_neighbors`. Samples of
    one class that are far from each other need not come near each other. A transformer, for a pipeline.

    The directions of largest :math:`\mathrm{tr}\,[(T' S_w T)^{-1}\, T' S_b T]`. There may be more of them
    than classes. Features are not scaled, and distances depend on their units: put a ``StandardScaler``
    before it. With more columns than samples, put a PCA before it, or choose `reg`.

    Sugiyama adds :math:`\varepsilon I` to :math:`K L_w K`, in the coefficients of the samples; here it is
    added to :math:`S_w` in the feature space (:math:`K L_w K + \varepsilon K`), so that a linear kernel gives
    the linear method at every :math:`\varepsilon`. With a kernel, predictions read all training samples, so
    that a saved model holds them all.

    References
    ----------
    Sugiyama, Dimensionality reduction of multimodal labeled data by local Fisher discriminant analysis, JMLR
    8, 2007.
    """

    about = ABOUT
    _automatic = "linear"

    kernels: Any = "linear"
    _: KW_ONLY
    n_components: int | None = None
    n_neighbors: int | None = 7
    metric: str = "weighted"
    reg: float | str = "auto"

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any) -> "LFDA":
        """Find the directions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: array of shape (n_samples, n_samples).
        y : array of shape (n_samples,) of labels, of at least two classes
        """
        self._check_parameters()
        X = self._validate_table(X, reset=True)
        self.classes_, codes = encode_labels(self, X, y)
        require_two_classes(self.classes_, codes)
        K = self._fit_gram(X)
        columns = None if self._precomputed else self._linear_columns(None, len(K))
        self._on_columns = columns is not None
        is_linear = isinstance(self.base_kernel_, Linear)
        if columns is None:
            G, to_similarities = coordinates_of(K)
            squares = squared_distances(K)
        else:
            G, to_similarities = columns, None
            squares = cdist(columns, columns, "sqeuclidean")
        between, within = pair_weights(squares, codes, self.n_neighbors)
        found = self._find(G, between, within, is_linear)
        count = self._count(G.shape[1], is_linear)
        self.eigenvalues_ = found.eigenvalues[:count]
        T = scaled(Directions(found.coefficients[:, :count], self.eigenvalues_), self.metric)
        T = T * _signs(G @ T, codes)
        self.projection_ = T if to_similarities is None else to_similarities @ T
        if self._on_columns:
            self._bank = self._bank.restrict(np.array([0]), np.array([0]))  # no row is read any more
        return self

    def _find(self, G: Array, between: Array, within: Array, is_linear: bool) -> Directions:
        if self.reg != "auto":
            self.reg_ = float(self.reg)
        elif is_linear:
            self.reg_ = 0.0
            with suppress(SingularWithinError):
                return find_directions(G, between, within, self.reg_)
            self.reg_ = _SINGULAR_REG
        else:
            self.reg_ = _SINGULAR_REG
        return find_directions(G, between, within, self.reg_)

    def _check_parameters(self) -> None:
        check_choice("metric", self.metric, SCALINGS)
        if self.n_neighbors is not None:
            check_positive_integer("n_neighbors", self.n_neighbors)
        if self.n_components is not None:
            check_positive_integer("n_components", self.n_components)
        if isinstance(self.reg, str):
            check_choice("reg, where it is not a number,", self.reg, ("auto",))
        else:
            check_number("reg", self.reg, at_least=0.0)

    def _count(self, n_directions: int, is_linear: bool) -> int:
        if self.n_components is None:
            return n_directions if is_linear else min(n_directions, self.classes_.size)
        if self.n_components > n_directions:
            raise ValueError(
                f"n_components must be at most the number of directions, {n_directions}; got "
                f"{self.n_components} for n_features={self.n_features_in_}."
            )
        return int(self.n_components)

    def _linear_columns(self, X: Any, most: int) -> Array | None:
        """The columns that a linear kernel reads, of X or of the training rows; None for other kernels."""
        if not isinstance(self._bank.views_[0].kernel, Linear):
            return None
        columns = self._bank.explicit_features(0, X, most)
        return None if columns is None else np.asarray(columns, np.float64)

    @property
    def _n_features_out(self) -> int:
        return int(self.projection_.shape[1])

    def transform(self, X: Any) -> Array:
        """Project on the directions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: array of shape (n_samples, n_train).

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        return np.concatenate(list(self._by_batches(X, self._project)))

    def _project(self, X: Any) -> Array:
        if not self._on_columns:
            return np.asarray(self._test_block(X) @ self.projection_)
        columns = self._linear_columns(X, len(self.projection_))
        if columns is None:  # a sparse table after a dense one
            columns = self._linear_columns(X.toarray(), len(self.projection_))
        return np.asarray(columns @ self.projection_)


def _signs(scores: Array, codes: Array) -> Array:
    """From the first class to the last."""
    rise = scores[codes == codes.max()].mean(axis=0) - scores[codes == 0].mean(axis=0)
    return np.where(rise < 0.0, -1.0, 1.0)

"""Kernel principal components of the kernel of any weight learner."""

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from .._validation import check_positive_integer
from ..solvers.kernel_pca import kernel_components
from ..weights.fixed import MeanRule
from ..weights.learner import WeightLearner
from ..weights.targets import TASKS, Targets, as_targets, no_targets
from ._about import PCA
from ._combined import CombinedKernel

Array = np.ndarray[Any, np.dtype[Any]]


class CombinedKernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CombinedKernel):
    r"""Principal components in the feature space of kernels that a weight learner has combined.

    .. math::

        K = s \sum_m \eta_m K_m, \qquad \eta = \text{learner}(K_1, \dots, K_P, y), \qquad
        HKH = V \Lambda V', \qquad z(x) = \Lambda^{-1/2} V' k_H(x)

    or what else the learner makes of the kernels; :math:`s` brings the mean of the diagonal to 1,
    :math:`H = I - 11'/n` centres, and :math:`k_H(x)` are the centred similarities of x to the samples of fit.

    Parameters
    ----------
    learner : weight learner, optional
        From :mod:`multikernel.weights`; default ``MeanRule()``, which looks at no target.
    n_components : int
        How many components, at most the number of samples.
    kernels, normalise, psd, gram, dtype
        As for :class:`CombinedKernelClassifier`.
    task : {"auto", "classes", "values", "nothing"}
        What y is, for the learner; "nothing" leaves it alone. "auto": values where y holds fractions or has
        two dimensions, or where the learner knows no classes, else classes.

    Attributes
    ----------
    embedding_ : array (n, n_components), the training samples
    eigenvalues_ : array (n_components,), :math:`\Lambda`, largest first
    explained_variance_ratio_ : array (n_components,), each component's part of the variance
    kernel_weights_, kernel_shares_, scale_, learner_, view_names_
        As for :class:`CombinedKernelClassifier`.

    Notes
    -----
    Predictions read all training samples, so that a saved model holds them all.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import CombinedKernelPCA
    >>> from multikernel.weights import CenteredAlignment
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CombinedKernelPCA(CenteredAlignment()).fit(X, y)
    >>> model.transform(X).shape, bool(model.explained_variance_ratio_.sum() > 0.5)
    ((150, 2), True)
    """

    about = PCA

    learns_from = TASKS
    embedding_: Array

    def __init__(
        self,
        learner: Any = None,
        n_components: int = 2,
        kernels: Any = "auto",
        *,
        task: str = "auto",
        normalise: bool = True,
        psd: str = "error",
        gram: str = "dense",
        dtype: Any = "float64",
    ) -> None:
        self.learner = learner
        self.n_components = n_components
        self.kernels = kernels
        self.task = task
        self.normalise = normalise
        self.psd = psd
        self.gram = gram
        self.dtype = dtype

    def fit(self, X: Any, y: Any = None) -> "CombinedKernelPCA":
        """Learn the weights, then the components.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (n, d); or a stack (n, n, n_kernels) when precomputed
        y : array (n,) of labels, or values (n,) or (n, n_outputs), as the learner asks for
            The default learner ignores it.
        """
        X = self._validate_table(X, reset=True)
        n = X.shape[0] if hasattr(X, "shape") else len(X)
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
        """What the learner learns from: nothing by default."""
        if y is None or self.learner is None:
            return no_targets(n)
        y = check_array(y, ensure_2d=False, dtype=None, input_name="y")
        return as_targets(y, n, self.task, getattr(self.learner, "learns_from", TASKS))

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Array:
        """Learn, and the coordinates of the training samples (n, n_components)."""
        return self.fit(X, y).embedding_

    def _default_learner(self) -> WeightLearner:
        return MeanRule()

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def transform(self, X: Any) -> Array:
        """The coordinates of samples along the components.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (n_samples, d); or (n_samples, n_train, n_kernels)

        Returns
        -------
        array (n_samples, n_components)
        """
        return np.concatenate(
            list(self._by_batches(X, lambda rows: self._components.project(self._combined_rows(rows))))
        )

    def plot(self, ax: Any = None, labels: Any = None) -> Any:
        """Draw the training samples along the first two components.

        Parameters
        ----------
        ax : matplotlib axes, optional
        labels : array-like (n,), optional
            One colour and one entry of the legend for each.

        Returns
        -------
        matplotlib axes
        """
        from ..viz import components

        check_is_fitted(self)
        return components(self, labels, ax=ax)

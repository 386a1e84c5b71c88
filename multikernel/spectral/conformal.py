"""A kernel rescaled from place to place so that the classes stand apart: a supervised transformer."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from .._validation import check_positive_integer, warn_caller
from ..core.about import About
from ..core.inputs import encode_labels, require_two_classes
from ..core.one_kernel import OneKernel, fixed_seed
from ..views import KernelBank, View
from ..views.view import read_kernel
from .solver.conformal_kernel import learn_conformal

CONFORMAL = About(
    family="one kernel",
    problem="max tr S_b / tr S_w over q(x) = a₀ + Σ a_j k₁(x, c_j), k(x, z) = q(x) q(z) k₀(x, z)",
    solver=("monotone gradient ascent; or a generalized eigenvector, exact"),
    cost="n² for each core once, then n × cores for each step; memory n²",
    use=("One kernel, to increase its resolution near the class boundary before another classifier."),
    reference="Amari & Wu 1999; Xiong, Swamy & Ahmad 2005",
)


@dataclass(eq=False, repr=False)
class ConformalKernel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, OneKernel):
    r"""Conformal kernel of greater class separability, in the empirical feature space.

    Use it as a transformer before a classifier with a precomputed kernel, to increase the resolution near the
    class boundary. It changes one kernel; it does not weight several.

    Parameters
    ----------
    kernels : "gaussian", "precomputed", kernel, View or function f(X, Z), default="gaussian"
        :math:`k_0`. "gaussian" is ``Gaussian()``, whose width is the median distance between training rows.
        Precomputed: X is (n, n) at fit and (n_samples, n) afterwards.
        Columns and kernel stay as they are, unless a View or a KernelBank asks for ``standardize`` or
        ``normalize``.
    factor_kernel : kernel, View or function f(X, Z), default=None
        :math:`k_1`; None is :math:`k_0`. One of its own, such as ``Gaussian()`` beside a wide :math:`k_0`,
        can move where :math:`k_0` cannot: a factor of a flat kernel is flat, and a narrow kernel has so much
        scatter inside the classes that the steps are short.
    cores : float, int or array of int, default=0.3333333333333333
        Which training points are cores: a share of them above 0 and up to 1, or a number of them, drawn at
        random; or their positions.
    solver : {"gradient", "eig"}, default="gradient"
        The published algorithm: some small steps from :math:`a = (1, 0, \dots)`, where :math:`k = k_0`, which
        end well before the maximum; or the maximum itself, a generalised eigenvector. The maximum separates
        the *training* points best, and with many cores it overfits.
    n_steps : int, default=200
        Of the gradient method.
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.
    step : float, default=1e-2
        The first step of the gradient method; steps fall linearly to zero. One that would lower :math:`J` is
        halved until it does not.
    random_state : int, RandomState or None, default=None
        Seeds the draw of the cores; None is a fixed seed.

    Attributes
    ----------
    kernel_ : array of shape (n_samples, n_samples)
        The learned kernel between the training points.
    factors_ : array of shape (n_samples,)
        :math:`q` of the training points.
    coefficients_ : array (1 + n_cores,), :math:`a`
    cores_ : array of shape (n_cores,)
        Positions of the cores among the training points, ascending.
    objective_ : float, :math:`J` at the end
    n_iter_ : int, the steps taken; 1 for "eig"
    history_ : list of dict, ``objective`` before the first step and after each
    base_kernel_ : Kernel or None, :math:`k_0` with its width as a number; None when precomputed
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X has column names.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> from multikernel.spectral import ConformalKernel
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), ConformalKernel(), SVC(kernel="precomputed"))
    >>> round(model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]), 2)
    0.99
    >>> learned = model["conformalkernel"]
    >>> bool(learned.history_[0]["objective"] < learned.objective_)
    True

    Notes
    -----
    The kernel and its criterion are

    .. math::

        k(x, z) = q(x)\, q(z)\, k_0(x, z), \qquad q(x) = a_0 + \sum_j a_j\, k_1(x, c_j), \qquad
        \max_a\ J = \frac{\mathrm{tr}\, S_b}{\mathrm{tr}\, S_w}

    with cores :math:`c_j` among the training points, and :math:`S_b` and :math:`S_w` the scatters between and
    inside the classes in the feature space of :math:`k`. A transformer from rows to rows of the learned
    kernel matrix, to be followed by a classifier with a precomputed kernel.

    Predictions read all training samples, so that a saved model holds them all.
    A class of one point has no scatter of its own and takes part through its mean; at least one class must
    have two points that differ. `fit_transform` gives `kernel_`; `transform` of the training points does too,
    but for a kernel repaired with ``psd="shift"``, whose diagonal is larger on the training points.

    References
    ----------
    Xiong, Swamy & Ahmad, Optimizing the kernel in the empirical feature space, IEEE Transactions on Neural
    Networks 16, 2005.

    Amari & Wu, Improving support vector machine classifiers by modifying kernel functions, Neural Networks
    12, 1999.
    """

    about = CONFORMAL

    kernels: Any = "gaussian"
    _: KW_ONLY
    factor_kernel: Any = None
    cores: Any = 1 / 3
    solver: str = "gradient"
    n_steps: int = 200
    max_time: float | None = None
    step: float = 0.01
    random_state: Any = None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any) -> "ConformalKernel":
        """Learn the factor of the kernel.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: array of shape (n_samples, n_samples).
        y : array of shape (n_samples,) of labels, of at least two classes
        """
        X = self._validate_table(X, reset=True)
        classes, codes = encode_labels(self, X, y)
        require_two_classes(classes, codes)
        self.cores_ = choose_cores(self.cores, codes.size, fixed_seed(self.random_state))
        K0 = self._fit_gram(X)
        own = K0 if self.factor_kernel is None else self._fit_factor_gram(X)
        K1 = np.column_stack([np.ones(codes.size), own[:, self.cores_]])
        size = float(own.diagonal().mean())
        result = learn_conformal(
            K0, K1, codes, method=self.solver, n_steps=self.n_steps, step=self.step, size=size
        )
        self.coefficients_ = result.coefficients
        self.objective_ = result.value
        self.history_ = [{"objective": float(value)} for value in result.history]
        self.n_iter_ = len(self.history_) - 1
        if self.solver == "gradient" and self.n_iter_ < self.n_steps:
            warn_caller(
                f"ConformalKernel: max_time={self.max_time:g} seconds ended the gradient method after "
                f"{self.n_iter_} of {self.n_steps} steps. Raise max_time.",
                ConvergenceWarning,
            )
        self.factors_ = K1 @ self.coefficients_
        self.kernel_ = K0 * np.multiply.outer(self.factors_, self.factors_)
        return self

    def _fit_factor_gram(self, X: Any) -> Array:
        """The kernel of the factor between the training points, (n, n)."""
        if self._precomputed:
            raise ValueError(
                'factor_kernel needs the rows of a table, but kernels="precomputed" has similarities. Leave '
                "it out, or give the table and its kernels."
            )
        kernel = self.factor_kernel
        try:
            view = kernel if isinstance(kernel, View) else read_kernel(kernel)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"factor_kernel must be a kernel, a View, a function f(X, Z) or None; got {kernel!r}."
            ) from error
        self._factor_bank = KernelBank(view, standardize=False, normalize=None, psd=self._storage.psd)
        return np.asarray(self._factor_bank.fit_stack(X)[0], np.float64)

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Learn the factor, and return the learned kernel between the training points, (n, n)."""
        return self.fit(X, y).kernel_

    @property
    def _n_features_out(self) -> int:
        return int(self.factors_.size)

    def transform(self, X: Any) -> Array:
        """The learned kernel between new points and the training points.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: array of shape (n_samples, n_train).

        Returns
        -------
        array of shape (n_samples, n_train)
        """
        check_is_fitted(self)
        return np.concatenate(list(self._by_batches(X, self._rescaled_block)))

    def _rescaled_block(self, X: Any) -> Array:
        K = self._test_block(X)
        own = K
        if self.factor_kernel is not None:
            own = np.asarray(next(self._factor_bank.iter_kernels(X))[1], np.float64)
        factors = self.coefficients_[0] + own[:, self.cores_] @ self.coefficients_[1:]
        return K * np.multiply.outer(factors, self.factors_)


def choose_cores(cores: Any, n: int, seed: int) -> Array:
    """The positions of the cores among n training points, ascending."""
    if np.ndim(cores) > 0:
        return _check_positions(np.asarray(cores), n)
    if isinstance(cores, float | np.floating):
        if not 0.0 < cores <= 1.0:
            raise ValueError(
                f"cores, as a share of the training points, must be above 0 and at most 1; got {cores!r}."
            )
        size = max(1, round(float(cores) * n))
    else:
        size = check_positive_integer("cores, where it is no share and no positions,", cores)
    if size > n:
        raise ValueError(f"cores must be at most the {n} training points; got cores={cores!r}.")
    return np.sort(np.random.default_rng(seed).choice(n, size, replace=False))


def _check_positions(cores: Array, n: int) -> Array:
    if cores.ndim != 1 or cores.dtype.kind not in "iu" or cores.size == 0:
        raise TypeError(
            "cores, as positions, must be integers in a 1-D array; got an array of shape "
            f"{cores.shape} and dtype {cores.dtype}. A mask becomes positions by numpy.flatnonzero."
        )
    if cores.min() < 0 or cores.max() >= n:
        raise ValueError(
            f"cores must be positions of training points, 0 to {n - 1}; got {cores.min()} to {cores.max()}."
        )
    distinct: Array = np.unique(cores)
    if distinct.size < cores.size:
        raise ValueError("cores must be distinct positions; some occur more than once.")
    return distinct

"""Novelty detection with learned kernel weights."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ..core.decisions import MachineNovelty
from ..core.estimator import BaseMKL
from ..core.inputs import check_nu, check_sample_weights
from ..core.svm.losses import OneClass
from ..rows import count_rows
from .classifier import MKL


@dataclass(eq=False, repr=False)
class MKLOneClass(MachineNovelty, BaseMKL):
    r"""One-class SVM that learns the weights of its kernels.

    Use it to detect outliers from several kernels when all training samples are of one class. With few or
    unequal kernels, compare it with ``norm=numpy.inf``, which is the plain sum. With labeled outliers, use
    :class:`MKLClassifier`.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`MKLClassifier`.
    norm : float >= 1, default=1.0
        As for :class:`MKLClassifier`.
    costs : array of shape (n_kernels,) or dict of view name to cost, default=None
        As for :class:`MKLClassifier`.
    tol : float, default=1e-3
        As for :class:`MKLClassifier`.
    max_iter : int, default=300
        As for :class:`MKLClassifier`.
    max_time : float, default=None
        As for :class:`MKLClassifier`.
    callback : callable, default=None
        As for :class:`MKLClassifier`.
    on_interrupt : {"raise", "keep"}, default="raise"
        As for :class:`MKLClassifier`.
    verbose : int, default=0
        As for :class:`MKLClassifier`.
    random_state : int, RandomState or None, default=None
        As for :class:`MKLClassifier`.
    nu : float in (0, 1], default=0.5
        At most this share of the training samples lies outside, at least this share are support samples.

    Attributes
    ----------
    offset_ : float, the threshold: ``decision_function = score_samples - offset_``
    kernel_weights_, view_names_, dual_coef_, support_, intercept_, total_cost_, objective_, n_iter_,
    status_, history_, gram_, memory_
        As for :class:`MKLClassifier`, with ``n_machines = 1``.
    dual_gap_ : float
        The duality gap, relative to |objective_|. That may be 0, as for linear kernels of centred data: it
        counts as at least a thousandth of tr(K)/(2n²), K the smallest kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import MKLOneClass
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = MKLOneClass(nu=0.1).fit(X)
    >>> model.predict([[0.0, 0.1], [9.0, 9.0]]).tolist()
    [1, -1]

    Notes
    -----
    It solves

    .. math::

        \min_{\mu \ge 0,\ \sum_m (d_m^2 \mu_m)^p \le 1}\ \max_{0 \le \beta \le 1/(\nu n),\ 1'\beta = 1}\
        - \tfrac12 \sum_m \mu_m\, \beta' K_m \beta

    with dual variables :math:`\beta`, kernels :math:`K_m`, weights :math:`\mu`, costs :math:`d_m`. The scores
    are :math:`1/(\nu n)` times those of scikit-learn's OneClassSVM at the same kernel.
    """

    _storage_options = ("psd", "gram", "dtype", "missing")
    about = MKL

    kernels: Any = "auto"
    _: KW_ONLY
    nu: float = 0.5
    norm: float = 1.0
    costs: Any = None
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None
    callback: Callable[[dict[str, float]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "MKLOneClass":
        """Learn the kernel weights and the support of the samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : ignored, default=None
        sample_weight : array of shape (n_samples,), default=None
            Multiplies the bound of each sample; only the proportions count.
        """
        nu = check_nu(self.nu)
        X = self._validate_table(X, reset=True)
        n_samples = count_rows(X)
        weights = check_sample_weights(sample_weight, n_samples)
        samples = self._distinct(X, np.zeros(n_samples), weights)
        Ks = self._fit_kernels(X, samples)
        n_distinct = samples.rows.size
        loss = OneClass(np.zeros(n_distinct), samples.weights / (nu * samples.weights.sum()))
        self._store([self._solve_machines(Ks, np.arange(n_distinct), ["inside"], [loss])], samples)
        self.offset_ = -float(self.intercept_[0])
        self._warn_unless_converged()
        return self

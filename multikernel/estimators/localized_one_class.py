"""Novelty detection with kernel weights that depend on the sample: localized MKL."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._validation import warn_caller
from ..criteria import OneClass
from ..solvers.localized.machines import BinaryMachines
from ._decisions import MachineNovelty
from ._localized import MACHINE_TOL, BaseLocalized, Gated
from ._parameters import check_nu, check_sample_weights

Array = np.ndarray[Any, np.dtype[Any]]

_COLLAPSED = 0.99


class LocalizedMKLOneClass(MachineNovelty, BaseLocalized):
    r"""One-class support vector machine with a gate over its kernels.

    .. math::

        \min_V\ J(V) = \max_{0 \le \beta \le 1/(\nu n),\ 1'\beta = 1}\
        - \tfrac12 \sum_{ij} \beta_i \beta_j\, k_\eta(x_i, x_j)

    with dual variables :math:`\beta`, the locally combined kernel
    :math:`k_\eta(x, z) = \sum_m \eta_m(x)\, k_m(x, z)\, \eta_m(z)` and a gate :math:`\eta(x; V)`. The scores
    are :math:`1/(\nu n)` times those of scikit-learn's OneClassSVM at the same kernel.

    Parameters
    ----------
    kernels, gating, gating_features, n_init, optimizer, ridge, patience, init_scale, tol, max_iter, prune,
    psd, callback, verbose, random_state
        As for :class:`LocalizedMKLClassifier`.
    nu : float in (0, 1]
        At most this share of the training samples lies outside, at least this share are support samples.

    Attributes
    ----------
    offset_ : float, the threshold: ``decision_function = score_samples - offset_``
    kernel_weights_, view_names_, gating_, dual_coef_, support_, intercept_, objective_, dual_gap_,
    gradient_norm_, start_objectives_, n_solves_, n_iter_, status_, saturated_, history_
        As for :class:`LocalizedMKLClassifier`, with one machine.

    Notes
    -----
    **The problem is ill-posed as published**: :math:`J` has no term that rewards a fit, and it falls when the
    kernel grows. Softmax and Gaussian gates collapse onto the kernel with the largest values (the widest
    Gaussian), sigmoid gates open wherever that makes the kernel larger. The fit warns when it ends so.
    Kernels of one size, few steps (`max_iter`) and a `ridge` soften it; but a ridge leaves the biases free,
    and these alone can close a gate. :class:`MKLOneClass` has the same taste for large kernels.

    Examples
    --------
    >>> from multikernel import LocalizedMKLOneClass
    >>> from multikernel.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = LocalizedMKLOneClass([("x", Gaussian(), [0]), ("y", Gaussian(), [1])], nu=0.1, ridge=0.1)
    >>> model.fit(X).predict([[0.0, 0.1], [9.0, 9.0]]).tolist()
    [1, -1]
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        nu: float = 0.5,
        gating: str = "softmax",
        gating_features: Any = None,
        n_init: int = 1,
        optimizer: str = "gradient",
        ridge: float = 0.0,
        patience: int = 1,
        init_scale: float = 0.01,
        tol: float = 1e-3,
        max_iter: int = 100,
        prune: bool = False,
        psd: str = "error",
        callback: Callable[[dict[str, float]], bool | None] | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            kernels, gating=gating, gating_features=gating_features, n_init=n_init, optimizer=optimizer,
            ridge=ridge, patience=patience, init_scale=init_scale, tol=tol, max_iter=max_iter, prune=prune,
            psd=psd, callback=callback, verbose=verbose, random_state=random_state,
        )  # fmt: skip
        self.nu = nu

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "LocalizedMKLOneClass":
        """Learn the gate and the support of the samples.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (n, d); or a stack (n, n, n_kernels) when precomputed
        y : ignored
        sample_weight : array (n,), optional
            Multiplies the bound of each sample; only the proportions count.
        """
        nu = check_nu(self.nu)
        X = self._validate_table(X, reset=True)
        n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
        weights = check_sample_weights(sample_weight, n_samples)
        samples = self._distinct(X, np.zeros(n_samples), weights)
        Ks = self._fit_kernels(X, samples)
        rows = np.arange(samples.rows.size)
        loss = OneClass(np.zeros(rows.size), samples.weights / (nu * samples.weights.sum()))
        machines = BinaryMachines([loss], tol=MACHINE_TOL * float(self.tol))
        result = self._learn(Ks, machines, rows, self._generators(1)[0])
        self._store([Gated(result, rows, ["inside"])], samples)
        self.offset_ = -float(self.intercept_[0])
        self._warn_if_collapsed()
        return self

    def _warn_if_collapsed(self) -> None:
        """Nothing in J rewards a fit: say so when the gate shows it."""
        is_open = self.kernel_weights_ > _COLLAPSED
        if len(self.view_names_) == 1 or not is_open.any():
            return
        if is_open.all():
            warn_caller(
                "all gates are open nearly everywhere: the objective of localized one-class machines rewards "
                "large kernel values and no fit, and sigmoid gates open for every view. This is the plain "
                "sum of the kernels. Use gating='softmax', lower max_iter, or use MKLOneClass."
            )
            return
        names = [repr(name) for name, wide in zip(self.view_names_, is_open, strict=True) if wide]
        warn_caller(
            f"the gate is open for view{'s' if len(names) > 1 else ''} {', '.join(names)} nearly everywhere: "
            "the objective of localized one-class machines rewards large kernel values and no fit, and has "
            "collapsed. The gate does not tell which view matters. Make the kernels alike in size, lower "
            "max_iter, or use MKLOneClass."
        )

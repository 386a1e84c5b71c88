"""Novelty detection on learned projections."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._validation import warn_caller
from ..criteria import OneClass
from ..solvers.localized.machines import BinaryMachines
from ._decisions import MachineNovelty
from ._parameters import check_nu, check_sample_weights
from ._projection import BaseProjection
from ._samples import distinct_samples

Array = np.ndarray[Any, np.dtype[Any]]

_COLLAPSED = 0.99


class ProjectionKernelOneClass(MachineNovelty, BaseProjection):
    r"""One-class support vector machine in subspaces that it learns, and a transformer into them.

    .. math::

        \min_{W, V}\ J(W, V) = \max_{0 \le \beta \le 1/(\nu n),\ 1'\beta = 1}\ - \tfrac12 \beta' K \beta,
        \qquad k(x, z) = \sum_m \eta_m(x)\, k_0(W_m' x, W_m' z)\, \eta_m(z)

    with dual variables :math:`\beta`, projections :math:`W_m`, gate :math:`\eta(x; V)`. With the Gaussian
    kernel and unit columns the samples are brought as close together as a projection can: what stays
    constant in them is found, and new samples in which it does not are outliers.

    Parameters
    ----------
    n_regions, n_components, kernel, degree, gamma, gating, norm, n_init, n_screen, optimizer, alternate,
    ridge, projection_ridge, patience, tol, max_iter, standardize, callback, verbose, random_state
        As for :class:`ProjectionKernelClassifier`, but ``kernel="gaussian", norm="unit"`` unless told
        otherwise; starts are differences of any two samples.
    nu : float in (0, 1]
        At most this share of the training samples lies outside, at least this share are support samples.

    Attributes
    ----------
    offset_ : float, the threshold: ``decision_function = score_samples - offset_``
    projections_, gating_, mean_, scale_, gamma_, dual_coef_, support_, intercept_, objective_, dual_gap_,
    gradient_norm_, start_objectives_, n_solves_, n_iter_, status_, saturated_, history_, kernel_weights_,
    machine_weights_, machine_names_, view_names_
        As for :class:`ProjectionKernelClassifier`, with one machine; the objective is negative.

    Notes
    -----
    **This objective has no term that fits anything**: it is lowered by whatever makes samples more alike.
    Without ``norm="unit"`` it falls without end as linear or polynomial projections grow, and Gaussian ones
    shrink until every sample is the same. Several regions have their lowest objective where the gate opens
    one of them everywhere. Both are allowed, with a warning where it happens. With the linear kernel and
    standardised columns the origin lies among the samples, no plane keeps them from it, and the model is
    constant: use another kernel, or ``standardize=False`` for samples that lie away from the origin.

    There are many local optima: a descent from one start often misses the direction that a few more find
    (`n_init`). Columns of one region are not kept apart, and may become equal.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import ProjectionKernelOneClass
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> X[:, 2] = X[:, 0] + 0.05 * X[:, 2]  # two columns that agree
    >>> model = ProjectionKernelOneClass(n_components=1, nu=0.1, n_init=5).fit(X)
    >>> model.predict([[2.0, 0.0, 2.0], [2.0, 0.0, 0.0]]).tolist()
    [1, -1]
    """

    def __init__(
        self,
        n_regions: int = 1,
        n_components: int = 2,
        *,
        kernel: str = "gaussian",
        degree: int = 2,
        gamma: Any = "scale",
        nu: float = 0.5,
        gating: str = "softmax",
        norm: str | None = "unit",
        n_init: int = 1,
        n_screen: int = 10,
        optimizer: str = "gradient",
        alternate: bool = False,
        ridge: float = 0.0,
        projection_ridge: float = 0.0,
        patience: int = 1,
        tol: float = 1e-3,
        max_iter: int = 100,
        standardize: bool = True,
        callback: Callable[[dict[str, Any]], bool | None] | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_regions, n_components, kernel=kernel, degree=degree, gamma=gamma, gating=gating, norm=norm,
            n_init=n_init, n_screen=n_screen, optimizer=optimizer, alternate=alternate, ridge=ridge,
            projection_ridge=projection_ridge, patience=patience, tol=tol, max_iter=max_iter,
            standardize=standardize, callback=callback, verbose=verbose, random_state=random_state,
        )  # fmt: skip
        self.nu = nu

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "ProjectionKernelOneClass":
        """Learn projections, gate and the support of the samples.

        Parameters
        ----------
        X : array or DataFrame (n, d)
        y : ignored
        sample_weight : array (n,), optional
            Multiplies the bound of each sample; only the proportions count.
        """
        self._check_parameters()
        nu = check_nu(self.nu)
        X = self._validate(X, reset=True)
        weights = check_sample_weights(sample_weight, len(X))
        samples = distinct_samples(X, np.zeros((len(X), 1)), weights)
        n_distinct = samples.rows.size
        loss = OneClass(np.zeros(n_distinct), samples.weights / (nu * samples.weights.sum()))
        self.machine_names_ = ["inside"]
        machines = BinaryMachines([loss], tol=self._machine_tol())
        result = self._fit_projections(X, samples, np.arange(n_distinct), machines)
        self.offset_ = -float(self.intercept_[0])
        self._warn_of(result)
        self._warn_of_collapse(result.point.eta)
        return self

    def _warn_of_collapse(self, eta: Array) -> None:
        """The objective of one class has no term that fits: say where that decides the model."""
        name = type(self).__name__
        if self.norm is None:
            end = "shrink until all samples are one" if self.kernel == "gaussian" else "grow without end"
            warn_caller(
                f"the objective of {name} has no term that fits: without norm='unit' its projections {end}, "
                "held back by tol, max_iter and projection_ridge alone. Use norm='unit'."
            )
        means = eta.mean(axis=0)
        if means.size > 1 and means.max() > _COLLAPSED * means.sum():
            warn_caller(
                f"the gate of {name} collapsed onto region {int(means.argmax())}: the objective has no term "
                "that fits, and prefers the region with the largest kernel everywhere. Use n_regions=1."
            )

"""Support vector regression on learned projections."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from .._validation import check_number
from ..criteria import EpsilonInsensitive
from ..solvers.localized.machines import BinaryMachines
from ..views.scaling import Scaling
from ._parameters import check_finite_price, check_sample_weights
from ._projection import BaseProjection
from ._samples import distinct_samples
from ._targets import check_targets

Array = np.ndarray[Any, np.dtype[Any]]


class ProjectionKernelRegressor(RegressorMixin, BaseProjection):
    r"""ε-support vector regression in subspaces that it learns, and a transformer into them.

    .. math::

        \min_{W, V}\ J(W, V) = \max_{-C \le \beta \le C,\ 1'\beta = 0}\
        y'\beta - \epsilon \|\beta\|_1 - \tfrac12 \beta' K \beta, \qquad
        k(x, z) = \sum_m \eta_m(x)\, k_0(W_m' x, W_m' z)\, \eta_m(z)

    with targets :math:`y`, dual variables :math:`\beta`, projections :math:`W_m`, gate :math:`\eta(x; V)`.

    Parameters
    ----------
    n_regions, n_components, kernel, degree, gamma, gating, norm, n_init, n_screen, optimizer, alternate,
    ridge, projection_ridge, patience, tol, max_iter, standardize, callback, verbose, random_state
        As for :class:`ProjectionKernelClassifier`; starts are differences of a sample with a target above the
        median and one with a target that is not.
    C : float
        Price of errors beyond epsilon. It is in units of the targets: scale them.
    epsilon : float >= 0
        Errors below it are free.

    Attributes
    ----------
    projections_, gating_, mean_, scale_, gamma_, dual_coef_, support_, intercept_, objective_, dual_gap_,
    gradient_norm_, start_objectives_, n_solves_, n_iter_, status_, saturated_, history_, kernel_weights_,
    machine_weights_, machine_names_, view_names_
        As for :class:`ProjectionKernelClassifier`, with one machine.

    Notes
    -----
    With the linear kernel and several regions this is a piecewise linear fit, softly joined; all pieces
    share the intercept, and ``kernel="poly", degree=1`` gives each its own. The notes of
    :class:`ProjectionKernelClassifier` on what regularises the projections hold here too.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import ProjectionKernelRegressor
    >>> X = np.random.default_rng(0).normal(size=(120, 5))
    >>> y = np.sin(X[:, 0] + X[:, 1])
    >>> model = ProjectionKernelRegressor(n_components=1, kernel="gaussian", C=10.0, norm="unit").fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    >>> np.abs(model.projections_[0, :, 0]).round(1).tolist()
    [0.7, 0.7, 0.0, 0.0, 0.0]
    """

    def __init__(
        self,
        n_regions: int = 1,
        n_components: int = 2,
        *,
        kernel: str = "linear",
        degree: int = 2,
        gamma: Any = "scale",
        C: float = 1.0,
        epsilon: float = 0.1,
        gating: str = "softmax",
        norm: str | None = None,
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
        self.C = C
        self.epsilon = epsilon

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ProjectionKernelRegressor":
        """Learn projections, gate and machine.

        Parameters
        ----------
        X : array or DataFrame (n, d)
        y : array (n,)
        sample_weight : array (n,), optional
            Multiplies C sample by sample.
        """
        self._check_parameters()
        C = check_finite_price(self.C)
        epsilon = check_number("epsilon", self.epsilon, at_least=0.0)
        X = self._validate(X, reset=True)
        targets = check_targets(self, X, y, multi_output=False)[:, 0]
        weights = check_sample_weights(sample_weight, targets.size)
        samples = distinct_samples(X, targets[:, None], weights)
        y = targets[samples.rows]
        middle = float(np.median(y))  # the intercept absorbs it; the numbers stay small
        loss = EpsilonInsensitive(y - middle, C * samples.weights, epsilon)
        self.machine_names_ = ["y"]
        machines = BinaryMachines([loss], tol=self._machine_tol())
        sides = y > middle if (y > middle).any() else y >= middle
        result = self._fit_projections(X, samples, sides, machines)
        self.intercept_ = self.intercept_ + middle
        self._warn_of(result)
        spread = float(Scaling.fit(y[:, None]).scale[0]) if y.min() < y.max() else 0.0
        flat = self._flat_machines(result, spread) if spread > epsilon else {}
        if flat:
            self._warn_of_plateau(
                X,
                f"the targets: predictions differ by no more than {flat[0]:.2g} of their standard deviation",
                "Raise C, which is in the units of the targets, n_screen, n_init or n_components.",
            )
        return self

    def predict(self, X: Any) -> Array:
        """Predicted values (n_samples,)."""
        return (self._scores(X) + self.intercept_)[:, 0]

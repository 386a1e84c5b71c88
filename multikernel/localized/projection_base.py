"""What every estimator on projection kernels shares: parameters, columns, fit, transform, scores.

A fitted model is a set of projections W_m, a gate where there are several regions, and machines in compact
form: of the training samples only the projections of the support samples are kept, and their gated
coefficients.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, gen_batches
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from .._numba import HUGE
from .._threads import one_thread
from .._typing import Array
from .._validation import check_choice, check_number, check_positive_integer, warn_caller
from ..core.about import About
from ..core.estimator import KernelEstimator
from ..core.one_kernel import fixed_seed
from ..core.optim.loop import Status
from ..core.progress import Progress
from ..core.row_input import refuse_dask
from ..core.samples import Samples
from ..views.scaling import Scaling
from .base import MACHINE_TOL, record_descents, warn_of_machines
from .solver.descent import OPTIMIZERS, DescentOptions
from .solver.gates import GATES, saturated_gates
from .solver.learn import LocalizedResult
from .solver.machines import Machines
from .solver.projections import (
    NORMS,
    PROJECTION_KERNELS,
    ProjectionModel,
    ProjectionObjective,
    gated_features,
    learn_projections,
    projection_kernel,
)

PROJECTION = About(
    family="localized",
    problem="min_{W, V} J(W, V), J the value of a support vector machine on Σ η_m(x) k₀(W_m'x, W_m'z) η_m(z)",
    solver=(
        "steps against the gradient over warm-started machines; the machine has a duality gap, the "
        "projections none"
    ),
    cost="some tens of machines, each with n² d; memory n², or 2 n² for several regions",
    use="Many columns of which a few directions matter; to draw samples in the plane that the machine uses.",
    reference="Gönen & Alpaydın 2010",
)


_BATCH_ROWS = 2048
_CONSTANT = 0.05  # scores that spread by less, in the unit of the targets, are taken for equal ...
_NOTHING = 2e-3  # ... where ½‖w‖² is less than this share of the objective, too


class BaseProjection(TransformerMixin, KernelEstimator):
    """Parameters and methods common to the estimators on projection kernels."""

    about = PROJECTION
    certificate = "machine"
    projections_: Array
    gating_: Array | None
    status_: str
    machine_names_: list[str]

    def __init__(
        self,
        n_regions: int = 1,
        n_components: int = 2,
        *,
        kernel: str = "linear",
        degree: int = 2,
        gamma: Any = "scale",
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
        self.n_regions = n_regions
        self.n_components = n_components
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.gating = gating
        self.norm = norm
        self.n_init = n_init
        self.n_screen = n_screen
        self.optimizer = optimizer
        self.alternate = alternate
        self.ridge = ridge
        self.projection_ridge = projection_ridge
        self.patience = patience
        self.tol = tol
        self.max_iter = max_iter
        self.standardize = standardize
        self.callback = callback
        self.verbose = verbose
        self.random_state = random_state

    # ------------------------------------------------------------------ input
    @property
    def _precomputed(self) -> bool:
        return False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def _check_parameters(self) -> None:
        for name in ("n_regions", "n_components", "degree", "n_init", "n_screen", "patience", "max_iter"):
            check_positive_integer(name, getattr(self, name))
        check_choice("kernel", self.kernel, PROJECTION_KERNELS)
        check_choice("gating", self.gating, tuple(GATES))
        check_choice("optimizer", self.optimizer, OPTIMIZERS)
        check_number("tol", self.tol, above=0.0)
        check_number("ridge", self.ridge, at_least=0.0)
        check_number("projection_ridge", self.projection_ridge, at_least=0.0)
        if isinstance(self.gamma, str):
            if self.gamma != "scale":
                raise ValueError(f'gamma must be a positive number or "scale"; got {self.gamma!r}.')
        else:
            check_number("gamma", self.gamma, above=0.0)
        if self.norm not in NORMS:
            raise ValueError(f'norm must be None or "unit"; got {self.norm!r}.')
        if self.norm == "unit" and self.projection_ridge > 0.0:
            raise ValueError(
                'projection_ridge holds back projections that may grow; with norm="unit" they cannot, and it '
                f"has no effect. Got projection_ridge={self.projection_ridge!r}: use 0, or norm=None."
            )
        if self.callback is not None and not callable(self.callback):
            raise TypeError(f"callback must be a function of one dict; got {self.callback!r}.")

    def _validate(self, X: Any, *, reset: bool) -> Array:
        """Finite numbers, dense (n, d)."""
        refuse_dask(self, X)
        return np.asarray(validate_data(self, X, reset=reset, dtype=np.float64, order="C"))

    # ------------------------------------------------------------------ fit
    def _fit_projections(
        self, X: Array, samples: Samples, groups: Array, machines: Machines
    ) -> LocalizedResult:
        """Learn projections, gate and machines from the distinct samples, and keep them."""
        rows = samples.take(X)
        self._scaling = Scaling.fit(rows)
        self.mean_, self.scale_ = self._scaling.mean, self._scaling.scale
        gating_X = self._scaling.apply(rows, "X")
        self._standardized = bool(self.standardize)
        projected_X = gating_X if self._standardized else rows
        self.gamma_ = self._width(projected_X)
        self._model = ProjectionModel(
            kernel=projection_kernel(self.kernel, int(self.degree), self.gamma_),
            gate=GATES[self.gating],
            n_regions=int(self.n_regions),
            n_components=int(self.n_components),
            norm=self.norm,
            ridge=float(self.ridge),
            projection_ridge=float(self.projection_ridge),
        )
        objective = ProjectionObjective(self._model, projected_X, gating_X, machines)
        rng = np.random.default_rng(fixed_seed(self.random_state))
        starts = (int(self.n_init), int(self.n_screen))
        # One thread: the path of the descent hangs on the last digit of its sums.
        with one_thread(), self._naming_units():
            result = learn_projections(objective, groups, starts, rng, self._options(X.shape[1]))
        self._store(result, samples)
        return result

    @contextmanager
    def _naming_units(self) -> Iterator[None]:
        """Let the error of a kernel that overflows name the remedy that is at hand here."""
        try:
            yield
        except ValueError as error:
            if self._standardized or "overflows" not in str(error):
                raise
            raise ValueError(f"{error} standardize=True does the former.") from error

    def _width(self, X: Array) -> float:
        """γ; "scale": 1 / (n_components × the mean variance of the columns that vary)."""
        if not isinstance(self.gamma, str):
            return min(float(self.gamma), HUGE)
        varies = X.min(axis=0) < X.max(axis=0)
        deviations = self.scale_[varies] if varies.any() and not self._standardized else np.ones(1)
        largest = float(deviations.max())  # squares of the others, relative to it, do not overflow
        gamma = 1.0 / int(self.n_components) / float(np.mean((deviations / largest) ** 2)) / largest / largest
        if self.kernel == "gaussian" and not 1.0 / HUGE <= gamma <= HUGE:
            raise ValueError(
                f'gamma="scale" must be a number in float64, but columns of X have standard deviations of up '
                f"to {largest:.1e}: it overflows or vanishes. Use standardize=True, or rescale the columns."
            )
        return float(np.clip(gamma, 1.0 / HUGE, HUGE))

    def _options(self, n_features: int) -> DescentOptions:
        n_gate = int(self.n_regions) * (n_features + 1)
        n_parameters = self._model.n_projection_parameters(n_features) + n_gate
        return DescentOptions(
            optimizer=self.optimizer,
            tol=float(self.tol),
            patience=int(self.patience),
            max_iter=int(self.max_iter),
            callback=Progress("", self.verbose, self.callback),
            blocks=self._model.blocks(n_features, n_parameters) if self.alternate else None,
        )

    def _machine_tol(self) -> float:
        return MACHINE_TOL * float(self.tol)

    def _solves_per_value(self) -> int:
        """How many machines one value of the objective takes."""
        return 1

    def _store(self, result: LocalizedResult, samples: Samples) -> None:
        point = result.point
        self.projections_ = point.W.copy()
        self.gating_ = None if point.V is None else point.V.copy()
        spread = samples.spread(point.coefficients.T)
        self.support_ = np.flatnonzero(spread.any(axis=0))
        self.dual_coef_ = spread[:, self.support_]
        self.intercept_ = point.intercepts
        self.view_names_ = [f"region{m}" for m in range(len(point.W))]
        self.kernel_weights_ = np.average(point.eta, axis=0, weights=samples.weights)
        self.machine_weights_ = np.tile(self.kernel_weights_, (len(self.machine_names_), 1))
        record_descents(
            self, [result], [self.view_names_[m] for m in np.flatnonzero(saturated_gates(point.eta))]
        )
        self.start_objectives_ = np.array(result.objectives)
        self.n_solves_ = result.n_solves * self._solves_per_value()
        self.history_ = result.history
        kept = np.flatnonzero(point.coefficients.any(axis=1))
        kept = kept if kept.size else np.array([0])  # a model without support samples is its intercept
        self._support = point.Z[:, kept]
        coefficients = point.eta[kept].T[:, :, None] * point.coefficients[kept]
        self._coefficients = np.ascontiguousarray(coefficients)  # as a pickle keeps it

    # ------------------------------------------------------------------ warnings
    def _warn_of(self, result: LocalizedResult) -> None:
        """What stopped a descent has remedies of its own here."""
        name = type(self).__name__
        if result.status == Status.MAX_ITER:
            grows = self.norm is None and self.projection_ridge == 0.0 and self.kernel != "gaussian"
            brake = ' norm="unit" or a projection_ridge keeps projections from growing on.' if grows else ""
            warn_caller(
                f"{name} was still gaining more than tol={self.tol:g} of its objective a step after "
                f"max_iter={self.max_iter} steps. Raise max_iter or tol.{brake}",
                ConvergenceWarning,
            )
        if result.start_saturated:
            warn_caller(
                f"the gate of {name} was 0 or 1 at nearly every sample from the start, where it cannot "
                "learn. Try another random_state, fewer regions, or gating='softmax'.",
            )
        warn_of_machines(self, [result], self._unit_remedy())

    def _unit_remedy(self) -> str:
        """Columns of extreme units have a remedy at hand."""
        if self._standardized:
            return ""
        return " The columns are projected in their own units: standardize=True makes these alike."

    def _flat_machines(self, result: LocalizedResult, units: float) -> dict[int, float]:
        """The machines whose scores hardly differ among the training samples: w is about 0, the plateau.

        With each the range of its scores, in units.
        """
        point = result.point
        scores = self._expand(point.Z, point.eta)
        norms = np.einsum("ik,ik->k", point.coefficients, scores)
        ranges = np.ptp(scores, axis=0) / units
        flat = ranges <= _CONSTANT
        flat &= 0.5 * norms * len(norms) <= _NOTHING * max(abs(result.objective), np.finfo(float).tiny)
        return {int(k): float(ranges[k]) for k in np.flatnonzero(flat)}

    def _warn_of_plateau(self, X: Array, shown: str, remedies: str) -> None:
        """``shown``: of what the projections tell nothing, and which scores differ by how little."""
        if not (X.min(axis=0) < X.max(axis=0)).any():
            remedies = "No column of X varies."
        else:
            remedies += self._unit_remedy()
        warn_caller(
            f"the projections of {type(self).__name__} tell next to nothing of {shown} among the training "
            f"samples, a plateau with hardly a gradient. {remedies}"
        )

    # ------------------------------------------------------------------ transform and scores
    def _parts(self, X: Any) -> Iterator[tuple[Array, Array]]:
        """Projected samples Z (P, n, R) and gate values η (n, P), some thousand rows at a time."""
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        for batch in gen_batches(len(X), _BATCH_ROWS):
            gating_X = self._scaling.apply(X[batch], "X")
            projected_X = gating_X if self._standardized else X[batch]
            yield projected_X @ self.projections_, self._model.gate_values(self.gating_, gating_X)

    def _expand(self, Z: Array, eta: Array) -> Array:
        """Scores without intercept (n, n_machines)."""
        kernel = self._model.kernel
        parts = (
            gate[:, None] * kernel.apply(z, support, U)
            for gate, z, support, U in zip(eta.T, Z, self._support, self._coefficients, strict=True)
        )
        return np.asarray(sum(parts))

    def _scores(self, X: Any) -> Array:
        return np.concatenate([self._expand(Z, eta) for Z, eta in self._parts(X)])

    def transform(self, X: Any) -> Array:
        """The gated projections side by side.

        Parameters
        ----------
        X : array or DataFrame (n_samples, d)

        Returns
        -------
        array (n_samples, n_regions × n_components)
            :math:`\\eta_m(x) W_m'x` for m = 1 … n_regions; with the linear kernel the machines are linear
            in it.
        """
        return np.concatenate([gated_features(Z, eta) for Z, eta in self._parts(X)])

    def gate(self, X: Any) -> Array:
        """How much each region counts at each sample, (n_samples, n_regions); ones for one region."""
        return np.concatenate([eta for _, eta in self._parts(X)])

    def _weight_columns(self) -> dict[str, Any]:
        return {"weight": self.kernel_weights_}

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns of `transform`: ``region0_component0``, …

        Parameters
        ----------
        input_features : array of str, optional
            Only checked against the columns seen at fit.
        """
        check_is_fitted(self)
        _check_feature_names_in(self, input_features)
        n_regions, _, n_components = self.projections_.shape
        names = [f"region{m}_component{r}" for m in range(n_regions) for r in range(n_components)]
        return np.array(names, dtype=object)

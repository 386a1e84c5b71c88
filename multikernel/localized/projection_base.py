"""The base of the estimators on projection kernels: parameters, columns, fit, transform, scores.

A fitted model is a set of projections W_m, a gate where there are several regions, and machines in compact
form: of the training samples only the projections of the support samples are kept, and their gated
coefficients.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.base import TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from .._numba import HUGE
from .._threads import one_thread
from .._typing import Array
from .._validation import (
    OldName,
    as_numbers,
    check_number,
    check_positive_integer,
    is_frame,
    warn_caller,
)
from ..core.about import About
from ..core.estimator import KernelEstimator
from ..core.fitted import FittedKernels
from ..core.inputs import Samples
from ..core.row_input import refuse_dask
from ..kernels import Gaussian
from ..views.bank import KernelBank
from ..views.scaling import Scaling
from ..views.tables import MultiTable, as_tables, require_distinct_columns
from .descents import (
    check_descent,
    descent_options,
    generator,
    store_descents,
    store_duals,
    warn_of_descent,
    warn_of_machines,
)
from .regions import Settings, find_columns, region_settings
from .solver.gates import GATES
from .solver.learn import LocalizedResult
from .solver.machines import Machines
from .solver.projections import (
    NORMS,
    ProjectionModel,
    ProjectionObjective,
    gated_features,
    learn_projections,
    projection_kernel,
)

_CONSTANT = 0.05  # scores that spread by less, in the unit of the targets, are taken for equal ...
_NOTHING = 2e-3  # ... where ½‖w‖² is less than this share of the objective, too


@dataclass(frozen=True)
class ProjectedKernels:
    """The kernels of the regions, by the projections of the support samples: a part of a fitted model."""

    model: ProjectionModel
    scaling: Scaling  # of the columns, for the gate and, where ``standardized``, for the projections
    standardized: bool
    W: Array  # (n_regions, d, n_components)
    V: Array | None  # (n_regions, d + 1) or None, parameters of the gate
    support: Array  # (n_regions, n_support, n_components)
    coefficients: Array  # (n_regions, n_support, n_machines), gated
    bank: ClassVar[None] = None

    def project(self, X: Array) -> tuple[Array, Array]:
        """Projected samples Z (n_regions, n, n_components) and gate values η (n, n_regions)."""
        scaled = self.scaling.apply(X, "X")
        projected_X = scaled if self.standardized else X
        return projected_X @ self.W, self.model.gate_values(self.V, self.model.gating_part(scaled))

    def kernel_scores(self, X: Array) -> Iterator[tuple[int, Array]]:
        """The score of each region."""
        return self.region_scores(*self.project(X))

    def region_scores(self, Z: Array, eta: Array) -> Iterator[tuple[int, Array]]:
        """The same of projected samples."""
        for m, (gate, z) in enumerate(zip(eta.T, Z, strict=True)):
            expansion = self.model.kernels[m].apply(z, self.support[m], self.coefficients[m])
            yield m, gate[:, None] * expansion


class BaseProjection(TransformerMixin, KernelEstimator):
    """Parameters and methods common to the estimators on projection kernels."""

    about = About(
        family="localized",
        problem="min_{W, V} J(W, V), J the value of a support vector machine on Σ η_m(x) k_m(W_m'x, W_m'z) "
        "η_m(z)",
        solver=("gradient descent around warm-started SVMs; the SVM has a duality gap, the projections none"),
        cost="tens of SVM fits with n² d each; memory n², or 2 n² for several regions",
        use="Many columns of which a few directions matter; to draw samples in the plane that the SVM uses.",
        reference="Gönen & Alpaydın 2010",
    )
    certificate = "machine"
    projections_: Array
    gating_: Array | None
    intercept_: Array
    machine_names_: list[str]
    n_regions: int | None
    n_components: Any
    _kernel_parameters = ()
    _storage_options = ()
    kernels: Any
    columns: Any
    degree: Any
    gamma: Any
    gating: str
    gating_features: Any
    projection_norm: str | None
    n_init: int
    n_screen: int
    alternate: bool
    gating_reg: float
    projection_reg: float
    standardize: bool

    # ------------------------------------------------------------------ input
    @property
    def _storage(self) -> KernelBank:
        """There is none: `dir`, which looks at all attributes, takes this error for an answer."""
        raise AttributeError(f"{type(self).__name__} has no bank of kernels")

    @property
    def _precomputed(self) -> bool:
        return False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def _check_parameters(self) -> None:
        check_descent(self)
        check_positive_integer("n_screen", self.n_screen)
        region_settings(self)
        check_number("projection_reg", self.projection_reg, at_least=0.0)
        if not isinstance(self.projection_norm, str | None) or self.projection_norm not in NORMS:
            raise ValueError(f'projection_norm must be None or "unit"; got {self.projection_norm!r}.')
        if self.projection_norm == "unit" and self.projection_reg > 0.0:
            raise ValueError(
                'projection_reg holds back projections that may grow; with projection_norm="unit" they '
                f"cannot, and it has no effect. Got projection_reg={self.projection_reg!r}: use 0, or "
                "projection_norm=None."
            )

    def _validate_table(self, X: Any, *, reset: bool) -> Array:
        """Finite numbers, dense (n, d); with ``reset`` also what each region and the gate read of them."""
        refuse_dask(self, X)
        X = as_tables(X)
        if isinstance(X, MultiTable):
            raise TypeError(
                f"{type(self).__name__} projects the columns of one table; got several: {X.names}. Put them "
                "side by side, with pandas.concat(tables, axis=1)."
            )
        require_distinct_columns(X, "X")
        X = as_numbers(X, "X", "Encode it as numbers, or leave it out.")
        table = np.asarray(validate_data(self, X, reset=reset, dtype=np.float64, order="C"))
        if reset:
            named = X if is_frame(X) else table
            self._regions = find_columns(region_settings(self), self.gating_features, named)
        return table

    # ------------------------------------------------------------------ fit
    def _fit_projections(
        self, X: Array, samples: Samples, groups: Array, machines: Machines
    ) -> LocalizedResult:
        """Learn projections, gate and machines from the distinct samples; store them and warn."""
        rows = samples.take(X)
        self._scaling = Scaling.fit(rows)
        self.mean_, self.scale_ = self._scaling.mean, self._scaling.scale
        scaled = self._scaling.apply(rows, "X")
        self._standardized = bool(self.standardize)
        projected_X = scaled if self._standardized else rows
        self._model = self._regional_model(projected_X)
        objective = ProjectionObjective(self._model, projected_X, self._model.gating_part(scaled), machines)
        starts = (int(self.n_init), int(self.n_screen))
        blocks = self._model.blocks(X.shape[1]) if self.alternate else None
        options = descent_options(self, blocks=blocks)
        # One thread: the path of the descent hangs on the last digit of its sums.
        with one_thread(), self._naming_units():
            result = learn_projections(objective, groups, starts, generator(self), options)
        self._store(result, samples)
        self._warn_of(result)
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

    def _regional_model(self, X: Array) -> ProjectionModel:
        """What is learned; stores what the regions have of their own."""
        regions, settings = self._regions, self._regions.settings
        del self._regions
        gammas = [self._width(X, positions, m, settings) for m, positions in enumerate(regions.columns)]
        kernels = [
            projection_kernel(name, degree, gamma)
            for name, degree, gamma in zip(settings.kernels, settings.degree, gammas, strict=True)
        ]
        self.view_names_ = list(settings.names)
        self.columns_ = regions.columns
        self.n_components_ = np.array(settings.n_components)
        self.gamma_ = gammas[0] if len(set(gammas)) == 1 else float("nan")
        self.region_kernels_ = [kernel.kernel for kernel in kernels]
        return ProjectionModel(
            kernel=tuple(kernels),
            gate=GATES[self.gating],
            n_regions=len(kernels),
            n_components=max(settings.n_components),
            norm=self.projection_norm,
            ridge=float(self.gating_reg),
            projection_ridge=float(self.projection_reg),
            free=regions.free(X.shape[1]),
            gating_columns=regions.gating,
        )

    def _width(self, X: Array, positions: Array, m: int, settings: Settings) -> float:
        """γ of a region; "scale": 1 / (n_components × the mean variance of its columns that vary)."""
        if not isinstance(settings.gamma[m], str):
            return min(float(settings.gamma[m]), HUGE)
        X, scale = X[:, positions], self.scale_[positions]
        varies = X.min(axis=0) < X.max(axis=0)
        deviations = scale[varies] if varies.any() and not self._standardized else np.ones(1)
        largest = float(deviations.max())  # squares of the others, relative to it, do not overflow
        size = settings.n_components[m]
        gamma = 1.0 / size / float(np.mean((deviations / largest) ** 2)) / largest / largest
        if settings.kernels[m] == "gaussian" and not 1.0 / HUGE <= gamma <= HUGE:
            raise ValueError(
                f'gamma="scale" must be a number in float64, but columns of X have standard deviations of up '
                f"to {largest:.1e}: it overflows or vanishes. Use standardize=True, or rescale the columns."
            )
        return float(np.clip(gamma, 1.0 / HUGE, HUGE))

    def _store(self, result: LocalizedResult, samples: Samples) -> None:
        point = result.point
        self.projections_ = point.W.copy()
        self.gating_ = None if point.V is None else point.V.copy()
        self.kernel_weights_ = np.average(point.eta, axis=0, weights=samples.weights)
        self.machine_weights_ = np.tile(self.kernel_weights_, (len(self.machine_names_), 1))
        kept = store_duals(self, samples, point.coefficients.T, point.intercepts)
        store_descents(self, [result], [point.eta])
        self.start_objectives_ = np.array(result.objectives)
        self.history_ = result.history
        self._support = point.Z[:, kept]
        coefficients = point.eta[kept].T[:, :, None] * point.coefficients[kept]
        self._coefficients = np.ascontiguousarray(coefficients)  # as a pickle keeps it

    @property
    def _is_gaussian(self) -> bool:
        """Whether the kernels of all regions are Gaussian."""
        return all(isinstance(kernel, Gaussian) for kernel in self.region_kernels_)

    # ------------------------------------------------------------------ warnings
    def _warn_of(self, result: LocalizedResult) -> None:
        """What stopped a descent has remedies of its own here."""
        grows = self.projection_norm is None and self.projection_reg == 0.0 and not self._is_gaussian
        brake = (
            ' projection_norm="unit" or a projection_reg keeps projections from growing on.' if grows else ""
        )
        restart = "Try another random_state, fewer regions, or gating='softmax'."
        warn_of_descent(self, [result], brake, restart)
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
        scores = np.asarray(sum(part for _, part in self._part.region_scores(point.Z, point.eta)))
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
    @property
    def _part(self) -> ProjectedKernels:
        return ProjectedKernels(
            self._model,
            self._scaling,
            self._standardized,
            self.projections_,
            self.gating_,
            self._support,
            self._coefficients,
        )

    @property
    def _fitted(self) -> FittedKernels:  # type: ignore[override]
        """The kernels of the regions."""
        return FittedKernels([self._part], self.machine_weights_.shape)

    def _parts(self, X: Any) -> Iterator[tuple[Array, Array]]:
        """Projected samples Z (P, n, R) and gate values η (n, P), a few thousand rows at a time."""
        return self._by_batches(X, lambda rows: self._part.project(rows))

    def transform(self, X: Any) -> Array:
        """The gated projections side by side.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_regions * n_components)
            :math:`\\eta_m(x) W_m'x` for m = 1 … n_regions; with the linear kernel the machines are linear
            in it.
        """
        gated = np.concatenate([gated_features(Z, eta) for Z, eta in self._parts(X)])
        own = self._own_dimensions().ravel()
        return gated if own.all() else gated[:, own]

    def _own_dimensions(self) -> Array:
        """Which columns of W each region has, (n_regions, most components)."""
        n_regions, _, most = self.projections_.shape
        sizes = np.broadcast_to(getattr(self, "n_components_", most), n_regions)  # none in older files
        return np.asarray(np.arange(most) < sizes[:, None])

    def local_importance(self) -> pd.DataFrame:
        """How much of each region's projection is due to each column.

        Returns
        -------
        DataFrame of shape (n_regions, n_features)
            A row for each region, a column for each column of X, by its name. With row j of :math:`W_m`, for
            standardised columns, the entry is :math:`\\|W_m[j, :]\\|^2 / \\|W_m\\|_F^2`; a row has the sum 1,
            and NaN for columns that the region does not project.

        Notes
        -----
        It is the share of the column in the variance of the projected samples, were the columns
        uncorrelated, and does not change where the projection is rotated within its subspace. It says which
        columns the region's kernel sees, and not whether they help: only ``feature_importance`` by
        permutation does. Columns that are correlated share their importance in a way that hangs on the start
        of the descent; a linear machine may cancel a projected dimension; and a region whose gate is closed
        (``kernel_weights_``) has a row too, which then means nothing.
        """
        check_is_fitted(self)
        # A projection of columns in their own units, as one of standardised columns.
        W = self.projections_ if self._standardized else self.projections_ * self.scale_[:, None]
        largest = np.abs(W).max(axis=(1, 2), keepdims=True)
        squares = ((W / np.where(largest > 0.0, largest, 1.0)) ** 2).sum(axis=2)
        totals = squares.sum(axis=1, keepdims=True)
        shares = np.divide(squares, totals, out=np.zeros_like(squares), where=totals > 0.0)
        if self._model.free is not None:
            shares[~self._model.free.any(axis=2)] = np.nan
        return pd.DataFrame(shares, index=self.view_names_, columns=_check_feature_names_in(self))

    gate = OldName("sample_kernel_weights")
    sample_weights_name: ClassVar[str] = "value of the gate of each region at the sample"

    def sample_kernel_weights(self, X: Any) -> Array:
        """How much each region counts at each sample: the value of its gate.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        weights : array of shape (n_samples, n_regions)
            Ones for one region, which has no gate.
        """
        return np.concatenate([eta for _, eta in self._parts(X)])

    def _weight_columns(self) -> dict[str, Any]:
        return {"weight": self.kernel_weights_}

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns of `transform`: ``region0_component0``, …

        Parameters
        ----------
        input_features : array of str, default=None
            Only checked against the columns seen at fit.
        """
        check_is_fitted(self)
        _check_feature_names_in(self, input_features)
        names = self.view_names_
        columns = [f"{names[m]}_component{r}" for m, r in np.argwhere(self._own_dimensions())]
        return np.array(columns, dtype=object)

"""Projection kernels: J as a function of projections W_m, and of a gate where there are several regions.

    k(x, x') = Σ_m η_m(x) k_m(W_m'x, W_m'x') η_m(x')

    J(V, W) = max_β dual(β; K) + (ridge/2) Σ_m ‖v_m‖² + (projection_ridge/2) Σ_m ‖W_m‖²

One region is the global projection kernel, which has no gate. Regions may have columns and dimensions of
their own: all W_m are kept in one array (P, D, R), with zeros for columns that a region does not see and
dimensions that it does not have, which add nothing to z't nor to ‖z − t‖². How a quadratic form of a kernel
of projected samples, z = W'x, moves with them:

    kernel     k(z, t)                 ∂(−½ tr U'KU)/∂Z
    linear     z't                     −U (U'Z)
    poly       (z't + 1)^q             −[(UU') ∘ q (ZZ' + 1)^(q−1)] Z
    gaussian   exp(−γ ‖z − t‖²)        2γ (diag(M1) − M) Z,   M = (UU') ∘ K

Z (n, R) holds the projected samples, U (n, r) the gated dual coefficients of r machines. With Z = XW the
derivative with respect to W is X' times that with respect to Z. UU' is formed for support samples only.

For linear and polynomial kernels J falls when W is scaled up: only the stopping rule holds it back, or
``projection_ridge``, or columns of unit length (``norm="unit"``: W stands for W / ‖w‖ column by column, and
the gradient is (G − w w'G) / ‖w‖ at unit w).

Where W tells nothing of the targets the machines return f = constant, and the gradient is exactly zero: a
plateau. So several starts are drawn, each solved once, and the descent sets out from the lowest.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..._typing import Array
from ...kernels import Gaussian, Kernel, Linear, Polynomial
from ...kernels._rows import Pair, Rows, row_blocks
from ...kernels.base import raise_to
from .gates import OPEN, Gate, is_saturated
from .learn import DescentOptions, LocalizedResult, keep_best
from .machines import Machines, Solved

PROJECTION_KERNELS = ("linear", "poly", "gaussian")
NORMS = (None, "unit")
_TRIES = 20  # pairs drawn for a column before any direction will do


class ProjectionKernel(ABC):
    """A kernel of projected samples with its derivative; ``kernel`` is the function of two rows."""

    kernel: Kernel

    def fill(self, Z: Array, out: Array) -> None:
        """Write the symmetric Gram matrix of the rows of Z (n, R) into ``out`` (n, n)."""
        rows = Rows(Z, "the projected samples")
        self.kernel.evaluate(Pair(rows, rows), out)

    def apply(self, Z_new: Array, Z: Array, U: Array) -> Array:
        """k(Z_new, Z) U, (n_new, r)."""
        return np.asarray(self.kernel(Z_new, Z) @ U)

    @abstractmethod
    def adjoint(self, Z: Array, U: Array) -> tuple[Array, Array]:
        """KU (n, r), and the derivative of −½ tr(U'KU) with respect to Z, (n, R)."""


class LinearProjection(ProjectionKernel):
    """z't: nothing of the size n × n is needed but the Gram matrix itself."""

    kernel = Linear()

    def apply(self, Z_new: Array, Z: Array, U: Array) -> Array:
        return np.asarray(Z_new @ (Z.T @ U))

    def adjoint(self, Z: Array, U: Array) -> tuple[Array, Array]:
        primal = Z.T @ U
        return Z @ primal, -U @ primal.T


class PolynomialProjection(ProjectionKernel):
    """(z't + 1)^degree."""

    def __init__(self, degree: int = 2) -> None:
        self.kernel = Polynomial(degree)
        self.degree = int(self.kernel.degree)

    def adjoint(self, Z: Array, U: Array) -> tuple[Array, Array]:
        base = Z @ Z.T + 1.0
        if self.degree == 1:
            return base @ U, -U @ (U.T @ Z)
        slope = base.copy()
        raise_to(slope, self.degree - 1)
        base *= slope
        slope *= U @ U.T
        return base @ U, -self.degree * (slope @ Z)


class GaussianProjection(ProjectionKernel):
    """exp(−gamma ‖z − t‖²)."""

    def __init__(self, gamma: float = 1.0) -> None:
        self.kernel = Gaussian(gamma=gamma)
        self.gamma = float(gamma)

    def adjoint(self, Z: Array, U: Array) -> tuple[Array, Array]:
        K = np.empty((len(Z), len(Z)))
        self.fill(Z, K)
        KU = K @ U
        K *= U @ U.T
        return KU, 2.0 * self.gamma * (K.sum(axis=1)[:, None] * Z - K @ Z)


def projection_kernel(name: str, degree: int = 2, gamma: float = 1.0) -> ProjectionKernel:
    """The kernel of a name in ``PROJECTION_KERNELS``.

    Examples
    --------
    >>> projection_kernel("poly", degree=3).kernel
    Polynomial(degree=3)
    """
    if name == "linear":
        return LinearProjection()
    return PolynomialProjection(degree) if name == "poly" else GaussianProjection(gamma)


@dataclass(frozen=True)
class ProjectionModel:
    """What is learned, and the layout of its parameters: theta = (W, V), flat; V where there is a gate.

    Fields that were added later have defaults, which models of older files take.
    """

    kernel: ProjectionKernel | tuple[ProjectionKernel, ...]  # of all regions, or one of each
    gate: Gate
    n_regions: int = 1  # P
    n_components: int = 2  # R, the most of a region
    norm: str | None = None  # None, or "unit" for columns of unit length
    ridge: float = 0.0  # of the gate's parameters without the biases (or widths)
    projection_ridge: float = 0.0
    free: Array | None = None  # (P, D, R), which entries of W are learned; None for all
    gating_columns: Array | None = None  # positions of the columns that the gate reads; None for all

    @property
    def kernels(self) -> tuple[ProjectionKernel, ...]:
        """The kernel of each region."""
        return self.kernel if isinstance(self.kernel, tuple) else (self.kernel,) * self.n_regions

    @property
    def is_gated(self) -> bool:
        """Whether there is a gate."""
        return self.n_regions > 1

    def n_projection_parameters(self, n_features: int) -> int:
        """Entries of W that are learned."""
        if self.free is not None:
            return int(np.count_nonzero(self.free))
        return self.n_regions * n_features * self.n_components

    def split(self, theta: Array, n_features: int) -> tuple[Array, Array | None]:
        """W (P, D, R) and V (P, D_gate + 1) of flat parameters; V is None without a gate."""
        end = self.n_projection_parameters(n_features)
        W = theta[:end]
        if self.free is not None:
            W = np.zeros(self.free.size)
            W[self.free.ravel()] = theta[:end]
        W = W.reshape(self.n_regions, n_features, self.n_components)
        return W, theta[end:].reshape(self.n_regions, -1) if self.is_gated else None

    def join(self, W: Array, V: Array | None) -> Array:
        """The flat parameters of W and V, or of their gradients."""
        flat = W.ravel() if self.free is None else W[self.free]
        return flat if V is None else np.concatenate([flat, V.ravel()])

    def gating_part(self, X: Array) -> Array:
        """The columns of a table that the gate reads."""
        return X if self.gating_columns is None else X[:, self.gating_columns]

    def directions(self, W: Array) -> tuple[Array, Array | float]:
        """The projections that W stands for, and the column lengths it was divided by."""
        if self.norm is None:
            return W, 1.0
        lengths = np.linalg.norm(W, axis=1, keepdims=True)
        lengths[lengths == 0.0] = 1.0
        return W / lengths, lengths

    def gate_values(self, V: Array | None, X: Array) -> Array:
        """η (n, P) at gating features X."""
        return np.ones((len(X), 1)) if V is None else self.gate.values(V, X)

    def blocks(self, n_features: int) -> list[Array] | None:
        """Index arrays of W and of V, to move alternately; the gate reads as many features, or some."""
        end = self.n_projection_parameters(n_features)
        n_read = n_features if self.gating_columns is None else self.gating_columns.size
        n_gate = self.n_regions * (n_read + 1)
        return [np.arange(end), np.arange(end, end + n_gate)] if self.is_gated else None


class ProjectionPoint(NamedTuple):
    """Solved projections.

    W (P, D, R) as it is used, parameters V of the gate and its values η (n, P), projected samples Z (P, n,
    R), and the machines on their kernel.
    """

    W: Array
    V: Array | None
    eta: Array
    Z: Array
    coefficients: Array
    intercepts: Array
    solved: Solved


class ProjectionObjective:
    """J as a function of theta: X (n, D) is projected, and the gate reads gating_X (n, D_gate)."""

    def __init__(self, model: ProjectionModel, X: Array, gating_X: Array, machines: Machines) -> None:
        self.model, self.machines = model, machines
        self.X, self.gating_X = np.ascontiguousarray(X), gating_X
        n = len(X)
        self.K = np.empty((n, n))
        gated_sum = model.is_gated and not all(isinstance(k, LinearProjection) for k in model.kernels)
        self._region = np.empty((n, n)) if gated_sum else None

    def value(self, theta: Array, ceiling: float = np.inf) -> float:
        """J; a lower bound of it where that exceeds the ceiling."""
        model = self.model
        self.raw, self.V = model.split(theta, self.X.shape[1])
        self.W, self.lengths = model.directions(self.raw)
        self.eta = model.gate_values(self.V, self.gating_X)
        self.Z = self.X @ self.W
        self._combine()
        penalty = self._penalty()
        self.solved = self.machines.solve(self.K, ceiling - penalty)
        return self.solved.value + penalty

    def _penalty(self) -> float:
        model = self.model
        penalty = 0.5 * model.projection_ridge * float((self.raw**2).sum())
        return penalty if self.V is None else penalty + 0.5 * model.ridge * float((self.V[:, :-1] ** 2).sum())

    def _combine(self) -> None:
        """K = Σ_m (η_m η_m') ∘ K_m, one region after the other in the same memory; exactly symmetric."""
        kernels, eta = self.model.kernels, self.eta
        if self._region is None:  # one region, or linear: an inner product of the gated features
            kernels[0].fill(gated_features(self.Z, eta) if self.model.is_gated else self.Z[0], self.K)
            return
        for m, kernel in enumerate(kernels):
            kernel.fill(self.Z[m], self._region)
            for rows in row_blocks(*self.K.shape):
                gated = eta[rows, m, None] * eta[:, m]
                gated *= self._region[rows]
                self.K[rows] = gated if m == 0 else self.K[rows] + gated

    def gradient(self) -> Array:
        """dJ/dtheta of the last point, flat; by Danskin's theorem the duals stay where they are."""
        model, B = self.model, self.machines.coefficients
        rows = np.flatnonzero(B.any(axis=1))
        X, B = self.X[rows], B[rows]
        c = np.zeros(self.eta.shape)
        to_W = np.zeros(self.raw.shape)
        for m in range(model.n_regions if rows.size else 0):
            U = self.eta[rows, m, None] * B
            KU, to_Z = model.kernels[m].adjoint(self.Z[m][rows], U)
            c[rows, m] = np.einsum("ir,ir->i", U, KU)
            to_W[m] = X.T @ to_Z
        if model.norm is not None:
            to_W = (to_W - self.W * (self.W * to_W).sum(axis=1, keepdims=True)) / self.lengths
        to_W += model.projection_ridge * self.raw
        if self.V is None:
            return model.join(to_W, None)
        to_V = model.gate.gradient(self.V, self.gating_X, self.eta, c)
        to_V[:, :-1] += model.ridge * self.V[:, :-1]
        return model.join(to_W, to_V)

    def project(self, theta: Array) -> Array:
        """The nearest admissible parameters: unit columns where they are asked for, widths above zero."""
        W, V = self.model.split(theta, self.X.shape[1])
        W = self.model.directions(W)[0]
        return self.model.join(W, None if V is None else self.model.gate.project(V))

    def snapshot(self) -> ProjectionPoint:
        """The last point, with copies of what the next solve overwrites."""
        machines = self.machines
        coefficients, intercepts = machines.coefficients.copy(), machines.intercepts.copy()
        return ProjectionPoint(self.W, self.V, self.eta, self.Z, coefficients, intercepts, self.solved)

    def describe(self) -> dict[str, Any]:
        """The duality gap of the machines, the mean number of open regions, the size of the projections."""
        return {
            "gap": self.solved.gap,
            "n_active": float((self.eta > OPEN).sum(axis=1).mean()),
            "projection_norm": float(np.linalg.norm(self.W)),
        }


def gated_features(Z: Array, eta: Array) -> Array:
    """η_m(x) W_m'x of all the regions side by side, (n, P R), from Z (P, n, R) and η (n, P)."""
    return np.ascontiguousarray(
        np.concatenate([gate[:, None] * z for gate, z in zip(eta.T, Z, strict=True)], axis=1)
    )


def draw_projections(
    X: Array, groups: Array, shape: tuple[int, int], rng: np.random.Generator, free: Array | None = None
) -> Array:
    """A start W (P, D, R): every column the unit difference of two random samples of different groups.

    The groups (n,) are classes, or sides of the median of a target, or all different; ``shape`` is (P, R).
    Differences are those in the ``free`` entries of W, as in :class:`ProjectionModel`.
    """
    n_regions, n_components = shape
    if free is None:
        columns = [_draw_direction(X, groups, rng) for _ in range(n_regions * n_components)]
        return np.stack(columns).reshape(n_regions, n_components, X.shape[1]).transpose(0, 2, 1)
    W = np.zeros(free.shape)
    for m, r in np.ndindex(n_regions, n_components):
        if free[m, :, r].any():
            W[m, free[m, :, r], r] = _draw_direction(X[:, free[m, :, r]], groups, rng)
    return W


def _draw_direction(X: Array, groups: Array, rng: np.random.Generator) -> Array:
    for _ in range(_TRIES):
        first = rng.integers(len(X))
        others = np.flatnonzero(groups != groups[first])
        if others.size == 0:
            break
        difference = _scaled_difference(X[first], X[rng.choice(others)])
        length = float(np.linalg.norm(difference))
        if length > 0.0:
            return np.asarray(difference / length)
    direction = rng.normal(size=X.shape[1])  # no two samples differ in both: any direction is as good
    return np.asarray(direction / np.linalg.norm(direction))


def _scaled_difference(x: Array, z: Array) -> Array:
    """x − z over a power of two near its largest entry: exact, and no square of it over- or underflows."""
    peak = max(float(np.abs(x).max()), float(np.abs(z).max()))
    unit = np.ldexp(1.0, max(int(np.frexp(peak)[1]) - 1, -1022))
    difference = x / unit - z / unit
    return np.asarray(difference / np.ldexp(1.0, int(np.frexp(np.abs(difference).max())[1])))


def learn_projections(
    objective: ProjectionObjective,
    groups: Array,
    n_starts: tuple[int, int],
    rng: np.random.Generator,
    options: DescentOptions | None = None,
) -> LocalizedResult:
    """Learn projections, and their gate: screen starts, descend from the best, keep the lowest J.

    ``n_starts`` are n_init descents, and the n_screen starts that are drawn and solved once for each of them.
    Every descent has a child of ``rng``, so that more of them do not change the first ones.
    """
    n_init, n_screen = n_starts
    starts = [_screen(objective, groups, n_screen, child) for child in rng.spawn(n_init)]
    saturated = [_starts_saturated(objective, start) for start in starts]
    result = keep_best(objective, starts, saturated, options or DescentOptions())
    n_screened = n_init * n_screen if n_screen > 1 else 0
    return replace(result, n_solves=result.n_solves + objective.machines.n_machines * n_screened)


def _screen(objective: ProjectionObjective, groups: Array, n_screen: int, rng: np.random.Generator) -> Array:
    """The start of least J of several; the first where they tie."""
    starts = [_draw_start(objective, groups, child) for child in rng.spawn(n_screen)]
    if n_screen == 1:
        return starts[0]
    best, least = starts[0], np.inf
    for start in starts:
        objective.machines.reset()
        value = objective.value(start, least)  # left unfinished once it cannot be the least
        if value < least:
            best, least = start, value
    return best


def _draw_start(objective: ProjectionObjective, groups: Array, rng: np.random.Generator) -> Array:
    model = objective.model
    W = draw_projections(objective.X, groups, (model.n_regions, model.n_components), rng, model.free)
    V = model.gate.draw(model.n_regions, objective.gating_X, rng) if model.is_gated else None
    return model.join(W, V)


def _starts_saturated(objective: ProjectionObjective, start: Array) -> bool:
    _, V = objective.model.split(start, objective.X.shape[1])
    return V is not None and is_saturated(objective.model.gate.values(V, objective.gating_X))

"""Kernel matrices by determinant maximization: entries that are missing, and weights of precision matrices.

Completion. Some entries of a kernel matrix are known, its diagonal among them; the others are chosen by

    min_K  tr(SK) − log det K      K ≻ 0 with the known entries.

S = 0 gives the completion of largest determinant; S = −ρ yy'/N, over the N points with labels, draws points
of one class together. At the optimum K⁻¹ = S at every missing entry. Any W ≻ 0 with W = S there proves

    tr(SK) − log det K ≥ Σ_known (S − W)_ij K_ij + log det W + n.

Precision. For the Gaussian process prior of covariance K = R⁻¹ with R = Σ_i ν_i R_i, ν ≥ 0, and targets y,

    min_ν  D = ½ log det K + ½ tr(y'K⁻¹y) = −½ log det R + ½ Σ_i ν_i q_i,     q_i = tr(y'R_iy),

is convex. Any W ≻ 0 with tr(WR_i) ≤ q_i for every i proves D ≥ ½ log det W + ½ n k for k columns of y.

Both are solved by Newton's method, whose damped steps never leave the positive definite matrices.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from .._typing import Array
from .._validation import check_gram, check_number, check_positive_integer, check_real_matrix
from .._validation import signs_of_two_classes as two_class_signs
from ..core.optim.loop import Recorder, Result, Status
from ..core.optim.psd_pair import cholesky

_NEWTON, _CONJUGATE = 60, 200
_CENTRED = 0.2  # Newton's decrement from which full steps are safe
_ENOUGH = 1e-9  # of a decrement, when only the next step of a path is wanted
_TO_THE_BOUNDARY = 0.9
_PATH = 0.1
_NEGLIGIBLE = 1e-7  # part of tr(y'Ry)


@dataclass(frozen=True, eq=False, kw_only=True)
class CompletedKernel(Result):
    """A completed kernel matrix, its objective tr(SK) − log det K and its gap.

    The gap is (objective − lower_bound) / max(1, |objective|).

    Attributes
    ----------
    kernel : array of shape (n_samples, n_samples)
        Positive definite, with the known entries as they were given.
    lower_bound : float, no completion has a smaller objective
    """

    kernel: Array
    lower_bound: float


@dataclass(frozen=True, eq=False, kw_only=True)
class LearnedPrecision(Result):
    """Weights of precision matrices, their objective D and its gap.

    The gap is (objective − lower_bound) / max(1, |objective|).

    Attributes
    ----------
    weights : array of shape (n_matrices,)
        Ν.
    kernel : array of shape (n_samples, n_samples)
        K = (Σ ν_i R_i)⁻¹.
    lower_bound : float, no weights have a smaller objective
    """

    weights: Array
    kernel: Array
    lower_bound: float


# ---------------------------------------------------------------------- missing entries
def complete_kernel(
    K: Any,
    y: Any = None,
    *,
    strength: float = 1.0,
    cost: Any = None,
    tol: float = 1e-8,
    max_iter: int = 100,
) -> CompletedKernel:
    r"""Fill the missing entries of a kernel matrix, by its determinant and by labels.

    .. math::

        \min_{K \succ 0}\ \mathrm{tr}(S K) - \log\det K \qquad K_{ij}\ \text{as given where it is not nan}

    Parameters
    ----------
    K : array of shape (n_samples, n_samples)
        Symmetric, nan where an entry is missing. The diagonal must be known: 1 for a kernel of unit diagonal.
    y : array of shape (n_labelled,) of two labels, default=None
        Labels of the first points. They make :math:`S = -\rho\, y y' / N` on these points, with
        :math:`y = \pm 1`: missing similarities grow within a class and fall between classes.
    strength : float, default=1.0
        :math:`\rho \ge 0`. 0 is the completion of largest determinant.
    cost : array of shape (n_samples, n_samples), default=None
        Any other symmetric S, instead of labels.
    tol : float, default=1e-8
        Relative duality gap to reach.
    max_iter : int, default=100

    Returns
    -------
    CompletedKernel
        ``kernel``, ``objective``, ``gap``, ``lower_bound``, ``status``.

    Notes
    -----
    The completion is unique. Without labels K⁻¹ is zero at every missing entry: two points whose similarity
    is missing are independent given the others. A step costs tens of products of n × n matrices.

    Labels change missing entries only: a completed kernel on which a classifier is trained with the same
    labels has seen them twice, and its training error is too good.

    References
    ----------
    Lanckriet, Cristianini, Bartlett, El Ghaoui & Jordan, Learning the kernel matrix with semidefinite
    programming, JMLR 5, 2004, section 7; Vandenberghe, Boyd & Wu, Determinant maximization with linear matrix
    inequality constraints, SIAM J. Matrix Anal. Appl. 19, 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.transductive import complete_kernel
    >>> K = np.array([[1.0, 0.5, np.nan], [0.5, 1.0, 0.5], [np.nan, 0.5, 1.0]])
    >>> float(complete_kernel(K).kernel[0, 2].round(6))
    0.25
    >>> apart = complete_kernel(K, ["a", "b", "b"])
    >>> float(apart.kernel[0, 2].round(3)), apart.status.value
    (0.073, 'optimal')
    """
    known, K = _check_partial(K)
    S = _cost(cost, y, check_number("strength", strength, at_least=0.0), len(K))
    check_positive_integer("max_iter", max_iter)
    problem = _Completion(K, known, S)
    inside = problem.inside()
    if inside is None:
        raise ValueError(
            "no positive definite matrix has the known entries of K: they contradict one another. Check the "
            "known similarities, or raise the diagonal by a small number."
        )
    return problem.minimize(inside, check_number("tol", tol, above=0.0), max_iter)


def _check_partial(K: Any) -> tuple[Array, Array]:
    """Which entries are known, and a copy of the matrix with zeros for the others."""
    K = check_real_matrix(K, "K").astype(float)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or K.size == 0:
        raise ValueError(f"K must be a square matrix, with nan for missing entries; got shape {K.shape}.")
    known = ~np.isnan(K)
    if (known != known.T).any():
        i, j = np.argwhere(known != known.T)[0]
        raise ValueError(f"K must be symmetric; entry ({i}, {j}) is {K[i, j]}, ({j}, {i}) is {K[j, i]}.")
    if not np.diagonal(known).all():
        i = int(np.flatnonzero(~np.diagonal(known))[0])
        raise ValueError(
            f"the diagonal of K must be known; entry ({i}, {i}) is nan. A kernel of unit diagonal "
            "has 1 there."
        )
    K = np.where(known, K, 0.0)
    check_gram(K, "K")
    return known, 0.5 * (K + K.T)


def _cost(cost: Any, y: Any, strength: float, n: int) -> Array:
    """S of the module's docstring."""
    if cost is not None:
        if y is not None:
            raise ValueError("give either cost or y; got both.")
        S = check_real_matrix(cost, "cost").astype(float)
        if S.shape != (n, n) or not np.isfinite(S).all() or np.abs(S - S.T).max() > 1e-10 * np.abs(S).max():
            raise ValueError(f"cost must be a finite symmetric matrix ({n}, {n}); got shape {S.shape}.")
        return 0.5 * (S + S.T)
    S = np.zeros((n, n))
    if y is not None:
        signs = two_class_signs(
            np.asarray(y),
            if_missing="Give the labels of the first points only.",
            if_more="Complete the matrix for each class against the rest.",
        )
        if signs.size > n:
            raise ValueError(f"y must have at most one label for each of the {n} points; got {signs.size}.")
        S[: signs.size, : signs.size] = -strength * np.outer(signs, signs) / signs.size
    return S


class _Completion:
    """min tr(SK) − log det K over the missing entries, by Newton's method with conjugate gradients."""

    def __init__(self, K: Array, known: Array, S: Array) -> None:
        self.K, self.missing, self.S, self.n = K, ~known, S, len(K)

    def inside(self) -> Array | None:
        """A positive definite completion, or None if there is none.

        K + sI has one for a large s. At its completion of largest determinant W = (K + sI)⁻¹ vanishes where
        entries are missing, so that every completion of K itself has tr(WK) = n − s tr W ≥ 0. While that does
        not fail, s falls.
        """
        K, identity, zero = self.K.copy(), np.eye(self.n), np.zeros_like(self.S)
        lowest = float(np.linalg.eigvalsh(K)[0])
        lift = 0.0 if lowest > 0.0 else 1e-2 * float(np.diagonal(K).max()) - 2.0 * lowest
        while lift > 0.0:
            raised = self._centred(K + lift * identity, zero)
            W = np.linalg.inv(raised)
            W[self.missing] = 0.0
            if cholesky(W) is not None and float(np.vdot(W, self.K)) < 0.0:
                return None
            K = np.where(self.missing, raised, self.K)
            room = float(np.linalg.eigvalsh(raised)[0])
            if room <= 1e-14 * float(np.diagonal(raised).max()):
                return None
            lift -= _TO_THE_BOUNDARY * room
        return np.where(self.missing, K, self.K)

    def minimize(self, K: Array, tol: float, max_iter: int) -> CompletedKernel:
        """From a positive definite completion, until the certificate meets the tolerance."""
        record = Recorder(tol=tol, max_iter=max_iter)
        best: tuple[float, float, Array] = (np.inf, -np.inf, K)
        while True:
            W, value = self._inverse(K)
            lower = max(best[1], self._bound(W))
            best = (value, lower, K) if value <= best[0] else (best[0], lower, best[2])
            gap = (best[0] - best[1]) / max(1.0, abs(best[0]))
            entry = {"iteration": len(record.history) + 1.0, "objective": value, "gap": max(gap, 0.0)}
            if record.note(entry):
                break
            K, moved = self._step(K, W, self.S, 1e-14)
            if not moved:
                record.stop(Status.STALLED)
                break
        value, lower, K = self._polished(*best, tol)
        return CompletedKernel(
            kernel=K,
            objective=value,
            lower_bound=lower,
            gap=max((value - lower) / max(1.0, abs(value)), 0.0),
            n_iter=record.n_iter,
            status=record.status,
            history=record.history,
        )

    def _polished(self, value: float, lower: float, K: Array, tol: float) -> tuple[float, float, Array]:
        """One more step: entries are known to the square root of the gap only, which a step squares."""
        last, _ = self._step(K, self._inverse(K)[0], self.S, 1e-14)
        W, lowered = self._inverse(last)
        bound = max(lower, self._bound(W))
        return (
            (lowered, bound, last) if lowered - bound <= tol * max(1.0, abs(lowered)) else (value, lower, K)
        )

    def _inverse(self, K: Array) -> tuple[Array, float]:
        factor = cho_factor(K, lower=True)
        W = cho_solve(factor, np.eye(self.n))
        value = float(np.vdot(self.S, K)) - 2.0 * float(np.log(np.diagonal(factor[0])).sum())
        return 0.5 * (W + W.T), value

    def _bound(self, W: Array) -> float:
        """What K⁻¹ proves with S at the missing entries; nothing where that is not positive definite."""
        W = np.where(self.missing, self.S, W)
        L = cholesky(W)
        if L is None:
            return -np.inf
        known = float(np.vdot(np.where(self.missing, 0.0, self.S - W), self.K))
        return known + 2.0 * float(np.log(np.diagonal(L)).sum()) + self.n

    def _centred(self, K: Array, S: Array) -> Array:
        """The optimum from a positive definite matrix, to what the next step of a path needs."""
        for _ in range(_NEWTON):
            K, moved = self._step(K, np.linalg.inv(K), S, _ENOUGH)
            if not moved:
                break
        return K

    def _step(self, K: Array, W: Array, S: Array, enough: float) -> tuple[Array, bool]:
        """One damped Newton step in the missing entries; false when the decrement is negligible."""
        gradient = np.where(self.missing, S - W, 0.0)
        step = self._solve(W, -gradient)
        decrement = float(np.sqrt(max(-float(np.vdot(gradient, step)), 0.0)))
        if decrement <= enough:
            return K, False
        length = 1.0 if decrement < _CENTRED else 1.0 / (1.0 + decrement)
        while cholesky(K + length * step) is None:
            length *= 0.5
        return K + length * step, True

    def _solve(self, W: Array, right: Array) -> Array:
        """V, zero at known entries, with WVW = right at the missing ones, by conjugate gradients."""
        V, residual = np.zeros_like(right), right.copy()
        scaling = np.outer(np.diagonal(W), np.diagonal(W)) + W * W
        scaled = residual / scaling
        direction, size = scaled, float(np.vdot(residual, scaled))
        first = size
        for _ in range(_CONJUGATE):
            if size <= 1e-20 * first or size == 0.0:
                break
            image = np.where(self.missing, W @ direction @ W, 0.0)
            length = size / float(np.vdot(direction, image))
            V, residual = V + length * direction, residual - length * image
            scaled = residual / scaling
            previous, size = size, float(np.vdot(residual, scaled))
            direction = scaled + (size / previous) * direction
        return 0.5 * (V + V.T)


# ---------------------------------------------------------------------- weights of precision matrices
def learn_precision(precisions: Any, y: Any, *, tol: float = 1e-8, max_iter: int = 200) -> LearnedPrecision:
    r"""Learn a Gaussian process prior as a sum of precision matrices, by relative entropy.

    .. math::

        \min_{\nu \ge 0}\ \tfrac12 \log\det K + \tfrac12\, \mathrm{tr}(y' K^{-1} y), \qquad
        K^{-1} = R = \sum_i \nu_i R_i

    which is convex in :math:`\nu`, while it is not in weights of the kernels themselves.

    Parameters
    ----------
    precisions : array of shape (n_samples, n_samples, n_matrices), or list or dict of n_matrices arrays
        Positive semidefinite R_i, whose sum is positive definite: inverses of kernel matrices, Laplacians of
        graphs, and the identity, which is noise.
    y : array of shape (n_samples,) or (n_samples, n_columns)
        Targets; labels as ±1. Columns are independent draws from the process.
    tol : float, default=1e-8
        Relative duality gap to reach.
    max_iter : int, default=200

    Returns
    -------
    LearnedPrecision
        ``weights``, ``kernel`` (R⁻¹), ``objective``, ``gap``, ``lower_bound``, ``status``.

    Notes
    -----
    The scale needs no trace: at the optimum tr(y'Ry) is n for one column of y. The paper prints
    :math:`y'Ky` for :math:`y'K^{-1}y`; as printed the criterion has no minimum.

    References
    ----------
    Lanckriet, Cristianini, Bartlett, El Ghaoui & Jordan, Learning the kernel matrix with semidefinite
    programming, JMLR 5, 2004, section 7.

    Examples
    --------
    A path of ten points, and values that change slowly along it:

    >>> import numpy as np
    >>> from multikernel.transductive import learn_precision
    >>> path = np.diag(np.ones(9), 1) + np.diag(np.ones(9), -1)
    >>> laplacian = np.diag(path.sum(axis=1)) - path
    >>> prior = learn_precision([laplacian, np.eye(10)], np.cos(np.arange(10) / 3))
    >>> prior.weights.round(2), prior.status.value
    (array([16.95,  0.23]), 'optimal')
    """
    Rs = _precision_stack(precisions)
    Y = _process_values(y, Rs.shape[1])
    check_positive_integer("max_iter", max_iter)
    return _Precision(Rs, Y).minimize(check_number("tol", tol, above=0.0), max_iter)


def _process_values(y: Any, n: int) -> Array:
    """The checked values (n, k)."""
    values = check_real_matrix(y, "y").astype(float)
    required = f"y must hold a finite number, not all zero, for each of the {n} points"
    if values.ndim not in (1, 2) or len(values) != n:
        raise ValueError(f"{required}; got shape {values.shape}.")
    if not np.isfinite(values).all():
        raise ValueError(f"{required}; got {values[~np.isfinite(values)][0]}.")
    if not values.any():
        raise ValueError(f"{required}; got zeros only.")
    return values[:, None] if values.ndim == 1 else values


def _precision_stack(precisions: Any) -> Array:
    """The checked stack (m, n, n)."""
    if isinstance(precisions, np.ndarray):
        stack = precisions[:, :, None] if precisions.ndim == 2 else precisions
        matrices = [stack[:, :, i] for i in range(stack.shape[2])] if stack.ndim == 3 else []
    else:
        matrices = list(precisions.values() if isinstance(precisions, Mapping) else precisions)
    if not matrices:
        raise ValueError("precisions must be matrices (n, n), a list of them or an array (n, n, n_matrices).")
    checked = [check_real_matrix(R, f"precision {i}").astype(float) for i, R in enumerate(matrices)]
    n = len(checked[0]) if checked[0].ndim else 0
    for i, R in enumerate(checked):
        if R.shape != (n, n):
            raise ValueError(
                f"precisions must be square matrices of one size, ({n}, {n}) here; precision {i} has shape "
                f"{R.shape}."
            )
    Rs = np.stack(checked)
    for i, R in enumerate(Rs):
        check_gram(R, f"precision {i}")
        size = float(np.abs(R).max())
        if size == 0.0 or float(np.linalg.eigvalsh(R)[0]) < -1e-8 * size:
            raise ValueError(f"precision {i} must be positive semidefinite and not zero. Leave it out.")
    if cholesky(sum(R / np.trace(R) for R in Rs) - 1e-12 * np.eye(Rs.shape[1])) is None:
        raise ValueError(
            "the sum of the precisions must be positive definite; it is singular. Add the identity to them."
        )
    return Rs


class _Precision:
    """min −½k log det R(ν) + ½ ν'q by Newton's method along a path of barriers t Σ log ν_i."""

    def __init__(self, Rs: Array, Y: Array) -> None:
        self.n, self.k = Y.shape
        q = np.einsum("ia,mij,ja->m", Y, Rs, Y, optimize=True)
        self.units = np.maximum(q, 1e-12 * np.trace(Rs, axis1=1, axis2=2) * np.mean(Y**2)) / (self.n * self.k)
        self.Rs, self.q = Rs / self.units[:, None, None], q / self.units

    def minimize(self, tol: float, max_iter: int) -> LearnedPrecision:
        m = len(self.q)
        nu, t = np.full(m, 1.0 / m), 1.0
        record = Recorder(tol=tol, max_iter=max_iter)
        best: tuple[float, float, Array] = (np.inf, -np.inf, nu)
        while True:
            W, traces, value = self._at(nu)
            lower = max(best[1], self._bound(W, traces))
            best = (value, lower, nu) if value <= best[0] else (best[0], lower, best[2])
            gap = max((best[0] - best[1]) / max(1.0, abs(best[0])), 0.0)
            if record.note({"iteration": len(record.history) + 1.0, "objective": best[0], "gap": gap}):
                break
            nu, decrement = self._step(nu, W, traces, t)
            if decrement < _CENTRED:
                t *= _PATH
            if t < 1e-18:
                record.stop(Status.STALLED)
                break
        nu, value = self._without_small(best, tol)
        return LearnedPrecision(
            weights=nu / self.units,
            kernel=self._at(nu)[0],
            objective=value,
            lower_bound=best[1],
            gap=max((value - best[1]) / max(1.0, abs(value)), 0.0),
            n_iter=record.n_iter,
            status=record.status,
            history=record.history,
        )

    def _without_small(self, best: tuple[float, float, Array], tol: float) -> tuple[Array, float]:
        """Weights without the negligible ones, which a barrier never makes zero, where the gap allows it."""
        value, lower, nu = best
        shares = nu * self.q
        kept = np.where(shares > _NEGLIGIBLE * shares.sum(), nu, 0.0)
        if cholesky(np.tensordot(kept, self.Rs, 1)) is None:
            return nu, value
        without = self._at(kept)[2]
        return (kept, without) if without - lower <= tol * max(1.0, abs(without)) else (nu, value)

    def _at(self, nu: Array) -> tuple[Array, Array, float]:
        """R⁻¹, its traces with the members, and D."""
        factor = cho_factor(np.tensordot(nu, self.Rs, 1), lower=True)
        W = cho_solve(factor, np.eye(self.n))
        half = float(np.log(np.diagonal(factor[0])).sum())
        return W, self.Rs.reshape(nu.size, -1) @ W.ravel(), 0.5 * float(nu @ self.q) - self.k * half

    def _bound(self, W: Array, traces: Array) -> float:
        """½ log det of the largest multiple of kW whose traces with the members are at most q."""
        with np.errstate(divide="ignore"):
            scale = float((self.q / traces).min())
        if not scale > 0.0:
            return -np.inf
        return 0.5 * self.k * (float(np.linalg.slogdet(W)[1]) + self.n * np.log(scale / self.k) + self.n)

    def _step(self, nu: Array, W: Array, traces: Array, t: float) -> tuple[Array, float]:
        """A damped Newton step for D − t Σ log ν, and its decrement in units of the barrier."""
        moved = np.stack([W @ R for R in self.Rs])
        turned = moved.transpose(0, 2, 1).reshape(nu.size, -1)
        H = 0.5 * self.k * (moved.reshape(nu.size, -1) @ turned.T) + np.diag(t / nu**2)
        gradient = 0.5 * (self.q - self.k * traces) - t / nu
        scaling = np.sqrt(np.diagonal(H))
        step = -np.linalg.lstsq(H / np.outer(scaling, scaling), gradient / scaling, rcond=None)[0] / scaling
        decrement = float(np.sqrt(max(-float(gradient @ step), 0.0) / min(t, 1.0)))
        length = 1.0 if decrement < _CENTRED else 1.0 / (1.0 + decrement)
        falling = step < 0.0
        if falling.any():
            length = min(max(length, 0.5), 0.99 * float((nu[falling] / -step[falling]).min()))
        return nu + length * step, decrement

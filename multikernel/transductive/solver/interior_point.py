"""Learning the kernel matrix by a primal-dual interior point method that knows the structure.

Over a family of n × n matrices K_i of relative trace r_i, with labels on the first N points,

    min_w  max_β  2y'β − β'(K(w) + τI)β     r'w = 1,  w_i ≥ 0 where signed so,  K(w) ⪰ 0 where asked for
                                            0 ≤ y∘β ≤ C,  Σβ = 0

and, where there are constraints on the weights, Aw ≤ b and Ew = e (β is label × dual, and K(w) in the second
term its labelled block). With a = y∘β and multipliers ν, δ of the bounds on a, λ of Σβ = 0, z of the signs, Z
of the semidefinite constraint, p of Aw ≤ b and θ of the equations (r'w = 1 the first of them, E), the optimum
has

    2y − 2(K(w) + τI)β + y∘(ν − δ) + 2λ = 0,      E'θ + A'p − z = [β'K_iβ + tr(Z K_i)]_i,

and all products a∘ν, (C − a)∘δ, w∘z, (b − Aw)∘p, K(w)Z zero. Newton's method follows them along a path where
they equal t; the second-order terms of a first step, those of the products w·β included, correct it
(Mehrotra). β is eliminated by one Cholesky factor of size N, Z by triangular products, so that only
n_members + 1 unknowns and one for each equation are left: the cost of an iteration is N³/3 + (2m + 10) n³
operations with the semidefinite constraint and N³/3 + O(m N²) without, the memory that of the family and
(with it) twice as much again.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..._typing import Array
from ...core.optim.psd_pair import PSDPair, PSDStep
from ...core.optim.weight_sets import Spectrahedron
from ...core.svm.losses import Loss
from .families import KernelFamily
from .limits import Held, Polyhedron

_TO_THE_BOUNDARY = 0.99
_SHORT_STEP = 0.05  # below this a plain step is taken instead,
_RETREATS = (0.8, 100.0)  # to these multiples of t: to the path, or far up it, where the boundary is too near
_LIFTS = (0.0, 1e-15, 1e-13, 1e-11)  # in units of the kernel's diagonal
_NEAR = 1e-7  # stalling counts only near the optimum: far from it, progress may pause for long
_STALLED_NEAR, _STALLED_FAR = 6, 40


@dataclass
class _Step:
    """A direction in all unknowns."""

    beta: Array
    w: Array
    nu: Array
    delta: Array
    z: Array
    p: Array
    lam: float
    theta: Array
    psd: PSDStep | None


class InteriorPoint:
    """The iterate and its Newton system.

    Parameters
    ----------
    family : KernelFamily
    loss : Hinge, SquaredHinge or HardMargin of the labelled points
        In the family's units.
    cone : Spectrahedron, optional
        Of the members without the identity; their weights may then be negative. Without it all weights are
        nonnegative.
    start : array (n_members,), optional
        Weights to start from, strictly feasible; by default equal ones.
    limits : Polyhedron, optional
        More constraints on the weights, their cone among them; the method starts from the point inside.
    """

    def __init__(
        self,
        family: KernelFamily,
        loss: Loss,
        cone: Spectrahedron | None = None,
        start: Array | None = None,
        limits: Polyhedron | None = None,
    ) -> None:
        self.family, self.limits = family, limits
        self.cone = cone if limits is None else limits.cone
        self.y = loss.target
        self.tau = loss.shift
        self.C = np.where(self.y > 0, loss.upper, -loss.lower)
        self.boxed = bool(np.isfinite(self.C).all())
        m = family.n_members
        self.signed = np.ones(m, bool)
        if self.cone is not None:
            self.signed[: self.cone.n_members] = False
        self.r = family.traces
        self.A, self.b, self.E, self.e = np.zeros((0, m)), np.zeros(0), self.r[None], np.ones(1)
        if limits is not None:
            self.A, self.b, self.E, self.e = limits.A, limits.b, limits.E, limits.e
            self.signed, start = limits.signed, limits.inside
        self.start = np.full(m, 1.0 / m) if start is None else start / float(self.r @ start)
        self._start(self.start)

    def _start(self, w: Array) -> None:
        """Balanced duals of about the right size, multipliers on the path."""
        y, m = self.y, w.size
        self.w = w
        a = np.where(y > 0, 1.0 / np.count_nonzero(y > 0), 1.0 / np.count_nonzero(y < 0))
        beta = y * a
        norm2 = float(beta @ (self.family.combined(self.w) @ beta) + self.tau @ (beta * beta))
        a = a * (2.0 / max(norm2, 1e-12))
        if self.boxed:
            a *= min(1.0, 0.5 * float((self.C / a).min()))
        self.beta = y * a
        t = 2.0 * float(a.sum()) / (y.size + m)
        self.nu = np.maximum(t / a, 1e-3)
        self.delta = np.maximum(t / (self.C - a), 1e-3) if self.boxed else np.zeros(y.size)
        self.z = np.where(self.signed, np.maximum(t / np.where(self.signed, w, 1.0), 1e-8), 0.0)
        self.p = t / (self.b - self.A @ w)
        self.lam = 0.0
        self.pair = PSDPair(self.cone, self.w[: self.cone.n_members], t) if self.cone is not None else None
        q = self.family.products(self.beta).T @ self.beta
        self.theta = np.zeros(len(self.e))
        self.theta[0] = float(w @ q if self.cone is not None else q.max())

    @property
    def held(self) -> Held | None:
        """The constraints with their multipliers, where there are some."""
        return None if self.limits is None else Held(self.limits, self.p, self.theta[1:])

    # ------------------------------------------------------------------ where the iterate stands
    def evaluate(self) -> None:
        """Residuals, gap, value and score of the iterate."""
        y, beta = self.y, self.beta
        self.a = y * beta
        self.Q = self.family.combined(self.w)
        self.Q.flat[:: y.size + 1] += self.tau
        self.B = self.family.products(beta)
        self.q = self.B.T @ beta
        Qb = self.Q @ beta
        self.free = self.C - self.a if self.boxed else np.ones(y.size)
        traces = np.zeros(self.w.size)
        if self.pair is not None:
            traces[: self.pair.cone.n_members] = self.pair.cone.traces(self.pair.Z)
        self.F_beta = 2.0 * y - 2.0 * Qb + y * (self.nu - self.delta) + 2.0 * self.lam
        self.F_w = self.theta @ self.E - self.q - self.z - traces + self.A.T @ self.p
        self.slack = self.b - self.A @ self.w
        self.F_sum = self.e - np.array([float(row @ self.w) for row in self.E])
        self.F_balance = -float(beta.sum())
        self.gap = float(self.a @ self.nu + self.w @ self.z) + float(self.slack @ self.p)
        if self.boxed:
            self.gap += float(self.free @ self.delta)
        if self.pair is not None:
            self.gap += self.pair.gap
        self.value = 2.0 * float(y @ beta) - float(beta @ Qb)
        size = 1.0 + abs(self.value)
        residual = max(
            float(np.abs(self.F_beta).max()) / 3.0,
            float(np.linalg.norm(self.F_w) * np.linalg.norm(self.w)) / size,
            float(np.abs(self.F_sum).max()),
            abs(self.F_balance) / (1.0 + float(self.a.max())),
        )
        self.score = max(self.gap / size, residual)

    # ------------------------------------------------------------------ Newton's system
    def _factor(self) -> bool:
        """Eliminate β and Z; False if the matrix of the duals has no Cholesky factor."""
        m, N, k = self.w.size, self.y.size, len(self.e)
        H = 2.0 * self.Q
        with np.errstate(divide="ignore", over="ignore"):  # rounding may put a dual on its bound
            self.bend = self.nu / self.a
            if self.boxed:
                self.bend = self.bend + self.delta / self.free
        H.flat[:: N + 1] += self.bend
        factor = _cholesky(H, 2.0 * float(np.diagonal(self.Q).max())) if np.isfinite(H).all() else None
        if factor is None:
            return False
        self.H = factor
        self.HB = cho_solve(self.H, self.B, check_finite=False)
        self.He = cho_solve(self.H, np.ones(N), check_finite=False)
        self.positive = np.where(self.signed, self.w, 1.0)
        W = np.diag(np.where(self.signed, self.z / self.positive, 0.0))
        if self.pair is not None:
            members = self.pair.cone.n_members
            W[:members, :members] += self.pair.prepare()
        W += self.A.T @ (self.A * (self.p / self.slack)[:, None])
        S = np.zeros((m + 1 + k, m + 1 + k))
        S[:m, :m] = W + 4.0 * (self.B.T @ self.HB)
        S[:m, m] = S[m, :m] = -4.0 * self.HB.sum(axis=0)
        S[m, m] = 4.0 * float(self.He.sum())
        S[:m, m + 1 :] = self.E.T
        S[m + 1 :, :m] = self.E
        self.scaling = np.ones(m + 1 + k)
        self.scaling[: m + 1] = np.sqrt(np.maximum(np.diag(S)[: m + 1], 1e-300))
        self.S = S / np.outer(self.scaling, self.scaling)
        return bool(np.isfinite(self.S).all())

    def direction(self, target: float, first: _Step | None = None) -> _Step:
        """Newton's direction to products equal to ``target``, corrected by a first direction."""
        m = self.w.size
        to_nu = target / self.a - self.nu
        to_delta = target / self.free - self.delta if self.boxed else np.zeros_like(self.nu)
        to_z = np.where(self.signed, target / self.positive - self.z, 0.0)
        to_p = target / self.slack - self.p
        F_beta, F_w = self.F_beta, self.F_w
        to_Z, correction = np.zeros(m), None
        if self.pair is not None:
            k = self.pair.cone.n_members
            to_Z[:k] = target * self.pair.inverse_traces - self.pair.traces
        if first is not None:
            da = self.y * first.beta
            to_nu = to_nu - da * first.nu / self.a
            if self.boxed:
                to_delta = to_delta + da * first.delta / self.free
            to_z = to_z - np.where(self.signed, first.w * first.z / self.positive, 0.0)
            to_p = to_p + (self.A @ first.w) * first.p / self.slack
            moved = self.family.products(first.beta)
            F_beta = F_beta - 2.0 * (moved @ first.w)
            F_w = F_w - moved.T @ first.beta
            if self.pair is not None and first.psd is not None:
                correction = self.pair.correction(first.psd)
                to_Z[:k] -= self.pair.cone.traces(correction)
        HR = cho_solve(self.H, F_beta + self.y * (to_nu - to_delta), check_finite=False)
        rhs = np.concatenate(
            [
                -F_w + to_z + to_Z - self.A.T @ to_p + 2.0 * (self.B.T @ HR),
                [2.0 * (self.F_balance - float(HR.sum()))],
                self.F_sum,
            ]
        )
        x = np.linalg.lstsq(self.S, rhs / self.scaling, rcond=None)[0] / self.scaling
        dw, lam, theta = x[:m], float(x[m]), x[m + 1 :]
        beta = HR - 2.0 * (self.HB @ dw) + 2.0 * lam * self.He
        da = self.y * beta
        return _Step(
            beta=beta,
            w=dw,
            nu=to_nu - self.nu / self.a * da,
            delta=to_delta + self.delta / self.free * da if self.boxed else np.zeros_like(da),
            z=np.where(self.signed, to_z - self.z / self.positive * dw, 0.0),
            p=to_p + self.p / self.slack * (self.A @ dw),
            lam=lam,
            theta=theta,
            psd=self.pair.step(dw[: self.pair.cone.n_members], target, correction) if self.pair else None,
        )

    # ------------------------------------------------------------------ steps
    def _longest(self, d: _Step) -> float:
        """How far everything that must be positive stays so."""
        da = self.y * d.beta
        lengths = [_ratio(self.a, da), _ratio(self.nu, d.nu)]
        if self.boxed:
            lengths += [_ratio(self.free, -da), _ratio(self.delta, d.delta)]
        signed = self.signed
        lengths += [_ratio(self.w[signed], d.w[signed]), _ratio(self.z[signed], d.z[signed])]
        lengths += [_ratio(self.slack, -(self.A @ d.w)), _ratio(self.p, d.p)]
        if self.pair is not None and d.psd is not None:
            lengths.append(self.pair.longest(d.psd))
        return min(lengths)

    def _gap_after(self, d: _Step, length: float) -> float:
        da = self.y * d.beta
        gap = (self.a + length * da) @ (self.nu + length * d.nu)
        gap += (self.w + length * d.w)[self.signed] @ (self.z + length * d.z)[self.signed]
        gap += (self.slack - length * (self.A @ d.w)) @ (self.p + length * d.p)
        if self.boxed:
            gap += (self.free - length * da) @ (self.delta + length * d.delta)
        if self.pair is not None and d.psd is not None:
            gap += self.pair.gap_after(d.psd, length)
        return max(float(gap), 0.0)

    def advance(self) -> bool:
        """One iteration from an evaluated iterate; False if floating point allows none."""
        if not self._factor():
            return False
        n_products = self.y.size * (1 + self.boxed) + np.count_nonzero(self.signed) + len(self.b)
        n_products += self.cone.size if self.cone is not None else 0
        t = self.gap / n_products
        first = self.direction(0.0)
        reduced = self._gap_after(first, min(1.0, self._longest(first))) / self.gap
        step = self.direction(min(1.0, max(1e-4, reduced**3)) * t, first)
        length = self._longest(step)
        for multiple in _RETREATS:
            if length >= _SHORT_STEP:
                break
            step = self.direction(multiple * t)
            length = self._longest(step)
        length = min(1.0, _TO_THE_BOUNDARY * length)
        if self.pair is not None and step.psd is not None:
            length = self.pair.advance(step.psd, length)
        return self._move(step, length)

    def _move(self, d: _Step, length: float) -> bool:
        if not length > 0.0 or not np.isfinite(d.beta).all():
            return False
        self.beta = self.beta + length * d.beta
        self.w = self.w + length * d.w
        self.nu = self.nu + length * d.nu
        self.delta = self.delta + length * d.delta
        self.z = self.z + length * d.z
        self.p = self.p + length * d.p
        self.lam += length * d.lam
        self.theta = self.theta + length * d.theta
        return True


def _cholesky(H: Array, size: float) -> tuple[Array, bool] | None:
    """The factor of H, or of H with a little more on its diagonal where rounding made it indefinite.

    So it is with more duals strictly inside their bounds than the kernel has rank: the direction remains
    good, and giving up would leave the iterate far from the optimum.
    """
    for lift in _LIFTS:
        raised = H.copy()
        raised.flat[:: len(H) + 1] += lift * size
        try:
            factor: tuple[Array, bool] = cho_factor(raised, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            continue
        return factor
    return None


def _ratio(values: Array, changes: Array) -> float:
    """The step at which the first of some positive values becomes zero."""
    falling = changes < 0.0
    return float((-values[falling] / changes[falling]).min()) if falling.any() else np.inf


def follow_path(method: InteriorPoint, max_iter: int, watch: Callable[[InteriorPoint], bool]) -> str:
    """Iterate until ``watch`` says stop, nothing improves any more, or the iterations are used up.

    ``watch`` sees every iterate after it has been evaluated. Returns why it ended: "stopped", "stalled" or
    "max_iter".
    """
    best, waited = np.inf, 0
    for _ in range(max_iter):
        method.evaluate()
        waited = 0 if method.score < best else waited + 1
        best = min(best, method.score)
        if watch(method):
            return "stopped"
        if waited >= (_STALLED_NEAR if best < _NEAR else _STALLED_FAR) or not method.advance():
            return "stalled"
    return "max_iter"

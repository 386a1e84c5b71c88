"""Learning the kernel matrix over labelled and unlabelled points: the problem, its entry point, the result.

    ω = min_μ  max_{0 ≤ a ≤ C, y'a = 0}  2e'a − a'(G(K(μ)) + τI)a,     trace K(μ) = c,

where K(μ) = Σ_i μ_i K_i over all n points and G(K) = [y_j y_k K_jk] over the labelled ones: twice the usual
dual value. The weights are nonnegative, or of any sign as long as K(μ) stays positive semidefinite on all
points ("free"), or nonnegative weights of rank-one matrices ("spectral"). With a learned ridge, τ is one more
weight, of the identity, in the same trace.

Inside, members have mean diagonal s and weights the sum one: w_i = μ_i r_i / c with r_i = trace K_i. With the
unit u = c/(ns) this is C' = uC, τ' = τ/u, a' = ua and ω = ω'/u; s is one, but for a small C it is such that
C' = 1.

The certificate bounds ω by any weights w and any duals β (label × dual, in units of the solvers). Above: the
primal value of the machine with the kernel K(w), for feasible weights w. Below: for feasible duals β and
q_i = β'K_iβ, the value 2y'β − τβ'β − max_w w'q, where over nonnegative weights the maximum is the largest
q_i. Over the weights with K(w) ⪰ 0 any Z ⪰ 0 bounds it: if q_i + tr(Z K_i) = θr_i for every i then
w'q = θ − tr(Z K(w)) ≤ θ. A Z that misses these equations by ρ_i is first moved by a Newton step; what
rounding leaves is repaired by E = Σ_j η_j K_j with tr(E K_i) = −ρ_i and by ‖E‖ I, which raises θ by ‖E‖ times
the trace of K(w). Further linear constraints on the weights shift q, and the bound, by their multipliers: see
``limits``.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from ..._typing import Array
from ...core.optim.loop import ENDED_EARLY, Options, Recorder, Result, Status
from ...core.optim.psd_pair import PSDPair
from ...core.optim.weight_sets import Spectrahedron
from ...core.svm.losses import HardMargin, Hinge, Loss, SquaredHinge
from ...core.svm.separability import separating_duals
from ...core.weights.learn import learn_weights
from .families import KernelBasis, KernelFamily, RankOneFamily, StackFamily
from .interior_point import InteriorPoint, follow_path
from .limits import Held, Polyhedron, WeightLimits, polyhedron

WEIGHTS = ("nonnegative", "free", "spectral")
_NEGLIGIBLE = 1e-8  # weights in the solvers' units
_NEAR = 10.0  # the certificate is computed from this multiple of the tolerance on
_DROPS = (1e-5, 1e-7, 1e-9)  # shares of the largest dual
_SEMIDEFINITE = 1e-9  # smallest eigenvalue, relative to the mean diagonal, that counts as zero
_MAX_PULLS = 30
_MANY = 150  # labelled points from which on `learn_weights` is the faster method
_SAFE = 0.5  # of the tolerance: making duals feasible costs a little


@dataclass(frozen=True)
class MatrixProblem:
    """What is to be learned."""

    members: Array  # (m, n, n), positive semidefinite; or for "spectral" (n, m), orthonormal columns
    loss: Loss  # Hinge, SquaredHinge or HardMargin of the labelled points, which come first
    weights: str  # "free", "nonnegative" or "spectral"
    trace: float  # c
    learn_ridge: bool = False  # with HardMargin: the 2-norm soft margin with a learned C = 1/τ
    limits: WeightLimits | None = None  # more linear constraints on the members' weights

    @property
    def unit(self) -> float:
        """u of the module's docstring."""
        smallest = self.loss.C if isinstance(self.loss, Hinge | SquaredHinge) else np.inf
        return max(self.trace / self.n, 1.0 / float(np.min(smallest)))

    @property
    def n(self) -> int:
        """The number of points, labelled or not."""
        return self.members.shape[0 if self.weights == "spectral" else 1]


@dataclass(frozen=True)
class MatrixResult(Result):
    """A learned kernel matrix and its machine, in the caller's units.

    ``objective``: 2e'a − a'(G + τI)a at the weights and duals returned; ``gap``: (upper − lower) / |upper|;
    the history has lower_bound too.
    """

    weights: Array  # (m,), μ
    ridge: float  # the learned τ (0 when it is not learned)
    dual: Array  # (N,), label × dual
    intercept: float
    upper_bound: float
    lower_bound: float  # they enclose ω


def learn_kernel_matrix(problem: MatrixProblem, options: Options | None = None) -> MatrixResult:
    """Learn the weights of a family of kernel matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.core.svm.losses import Hinge
    >>> x, z = np.array([-1.2, 0.9, -0.8, 1.1]), np.array([1.0, 1.0, -1.0, -1.0])
    >>> Ks = np.stack([np.outer(x, x), np.outer(z, z)])
    >>> y = np.array([-1.0, 1.0])  # of the first two points
    >>> result = learn_kernel_matrix(MatrixProblem(Ks, Hinge(y, 1.0), "nonnegative", trace=4.0))
    >>> result.weights.round(3).tolist(), bool(result.gap <= 1e-8)
    ([0.976, 0.0], True)
    """
    return MatrixRun(problem, options or Options(tol=1e-8, max_iter=100)).learn()


def _family(problem: MatrixProblem) -> KernelFamily:
    """The members in units of the solvers."""
    kind = RankOneFamily if problem.weights == "spectral" else StackFamily
    size = problem.trace / (problem.n * problem.unit)
    return kind(problem.members, problem.loss.target.size, problem.learn_ridge, size)


def separable(family: KernelFamily, loss: Loss, limits: Polyhedron | None = None) -> bool:
    """Whether all the members together separate the labelled classes.

    Every matrix of the family has its range within that of the sum: if the sum does not separate, none does.
    Under constraints a point inside them has that role.
    """
    members = family.n_members - family.has_identity
    weights = np.zeros(family.n_members)
    weights[:members] = 1.0 / members if limits is None else limits.inside[:members]
    return separating_duals(family.combined(weights), loss.target) is not None


class MatrixRun:
    """One solution: the iterations, what is known of the optimum, and the history in the caller's units.

    Another method for the same problem overrides ``solve``.
    """

    def __init__(self, problem: MatrixProblem, options: Options) -> None:
        self.members, self.loss = _family(problem), problem.loss.rescaled(problem.unit, 1.0)
        self.hard = isinstance(self.loss, HardMargin) and not problem.learn_ridge
        self.options, self.free, self.unit = options, problem.weights == "free", problem.unit
        self.constrained = problem.limits is not None
        self.soft = problem.weights == "nonnegative" and isinstance(self.loss, Hinge | SquaredHinge)
        self.soft = self.soft and not self.constrained
        self.best: Certified | None = None
        self.member_weights: Callable[[Array], Array]
        self.record = Recorder(callback=options.callback)
        self.limits: Polyhedron | None = None
        if problem.limits is not None:
            self.limits = polyhedron(problem.limits, self.members, self.unit, self.free)

    def learn(self) -> MatrixResult:
        """The result; where a hard margin or allowed weights cannot be had, one that says so."""
        if self.constrained and self.limits is None:
            return _nothing(self.members, self.loss, Status.INFEASIBLE)
        if self.hard and not separable(self.members, self.loss, self.limits):
            return _nothing(self.members, self.loss, Status.INSEPARABLE)
        return _result(self, self.solve())

    def solve(self) -> Status:
        """By the interior point method, until the certificate meets the tolerance.

        A soft margin with nonnegative weights is the problem of `learn_weights` on the labelled points, which
        is faster where they are many; what it leaves is for the interior point method too.
        """
        method = self._any_sign() if self.free and not self.constrained else self._by_members()
        if self.soft and self.members.n_labelled >= _MANY:
            ended = self._learn_on_labelled()
            if ended is not None:
                return ended
        why = follow_path(method, self.options.max_iter, self._watch)
        if not self._good_enough:
            self._certify(method)
        if self.free and self.best is not None:
            self.best = drawn_inside(self.best, method.family, self.loss, method.start)
        return self.status(why)

    def _by_members(self) -> InteriorPoint:
        """In the members' own weights: nonnegative ones, or any under constraints."""
        count = self.members.n_members - self.members.has_identity
        self.member_weights = lambda w: w[:count] * self.members.scales[:count]
        return InteriorPoint(self.members, self.loss, limits=self.limits)

    def _learn_on_labelled(self) -> Status | None:
        """By `learn_weights`, whose values are half of ours; None if its solution is not good enough."""
        members, options = self.members, self.options
        assert isinstance(members, StackFamily)
        N = members.n_labelled
        result = learn_weights(
            np.ascontiguousarray(members.Ks[:, :N, :N]),
            [self.loss],
            costs=1.0 / np.sqrt(members.scales),
            options=replace(options, tol=_SAFE * options.tol, callback=self._relay),
        )
        weights = result.weights / members.scales
        if not (result.is_finite and weights.any()):
            return None
        self.best = certify(members, self.loss, weights, result.duals[0])
        self.record.history[-1]["gap"] = max(self.best.gap, 0.0)
        ended = self._good_enough or result.status in ENDED_EARLY or result.n_iter >= options.max_iter
        return self.status("max_iter") if ended else None

    def _relay(self, entry: dict[str, float]) -> bool:
        """One line of the history of `learn_weights`, as one of ours; whether it is to stop."""
        values = {key: 2.0 * entry[key] / self.unit for key in ("objective", "lower_bound")}
        line = {"iteration": len(self.record.history) + 1.0, **values, "gap": entry["gap"]}
        return self.record.note({**line, "n_active": float(entry["n_active"])}, reached=False)

    def _any_sign(self) -> InteriorPoint:
        """In coordinates of an orthonormal basis, from equal weights."""
        members = self.members
        assert isinstance(members, StackFamily)
        m = len(members.Ks)
        basis = KernelBasis(members.Ks, members.scales[:m])
        ones = np.ones(len(basis.Qs))
        middle = basis.coordinates(np.full(m, 1.0 / m))
        cone = Spectrahedron(basis.Qs, ones, middle)
        family = StackFamily(basis.Qs, members.n_labelled, members.has_identity, members.size, ones)
        self.member_weights = lambda w: basis.weights(w[: len(ones)]) * members.scales[:m]
        start = np.append(middle, 1.0) if members.has_identity else middle
        return InteriorPoint(family, self.loss, cone, start)

    def _watch(self, method: InteriorPoint) -> bool:
        """Note the iterate; look for the certificate once the iterate is near."""
        if method.gap <= _NEAR * self.options.tol * (1.0 + abs(method.value)):
            self._certify(method)
        return self.note(method.value, method.value - method.gap, method.score, method.w)

    def _certify(self, method: InteriorPoint) -> None:
        """Judge the iterate; what is small, and never zero in an interior point, goes if the gap allows."""
        point = method.family, self.loss, method.w, method.beta, method.pair
        proof = certify(*point, held=method.held)
        if self.best is None or proof.gap < self.best.gap:
            self.best = proof
        if not self._good_enough:
            return
        for drop in _DROPS:
            proof = certify(*point, drop, method.held)
            if proof.gap <= self.options.tol:
                self.best = proof
                return

    def note(self, value: float, lower: float, gap: float, w: Array) -> bool:
        """One line of the history; true when it is time to stop."""
        if self.best is not None:
            gap = self.best.gap
        entry = {
            "iteration": len(self.record.history) + 1.0,
            "objective": value / self.unit,
            "lower_bound": lower / self.unit,
            "gap": gap,
            "n_active": float(np.count_nonzero(np.abs(self.member_weights(w)) > _NEGLIGIBLE)),
        }
        return self.record.note(entry, reached=self._good_enough)

    @property
    def _good_enough(self) -> bool:
        return self.best is not None and self.best.gap <= self.options.tol

    def status(self, why: str) -> Status:
        if self._good_enough:
            return Status.OPTIMAL
        if self.record.status in ENDED_EARLY:
            return self.record.status
        return Status.MAX_ITER if why == "max_iter" else Status.STALLED


def _result(run: MatrixRun, status: Status) -> MatrixResult:
    """Back to the caller's units."""
    unit, best = run.unit, run.best
    assert best is not None
    ridge = 0.0
    if run.members.has_identity and best.w[-1] >= _NEGLIGIBLE:
        ridge = float(best.w[-1]) * run.members.size * unit
    return MatrixResult(
        weights=run.member_weights(best.w) * unit,
        ridge=ridge,
        dual=best.beta / unit,
        intercept=best.intercept,
        objective=best.value / unit,
        upper_bound=best.upper / unit,
        lower_bound=best.lower / unit,
        gap=max(best.gap, 0.0),  # rounding may cross the bounds
        n_iter=run.record.n_iter,
        status=status,
        history=run.record.history,
    )


def _nothing(family: KernelFamily, loss: Loss, status: Status) -> MatrixResult:
    nothing = np.zeros(loss.target.size)
    members = family.n_members - family.has_identity
    return MatrixResult(
        weights=np.full(members, np.nan), ridge=0.0, dual=nothing, intercept=0.0, objective=np.inf,
        upper_bound=np.inf, lower_bound=np.inf, gap=np.inf, n_iter=0, status=status,
    )  # fmt: skip


# ------------------------------------------------------------------ the certificate
@dataclass(frozen=True)
class Certified:
    """Feasible weights and duals, and what they prove."""

    w: Array  # (n_members,), sum 1
    beta: Array  # (N,), feasible
    intercept: float
    value: float  # the dual value at w and β
    upper: float
    lower: float  # they enclose the optimal value

    @property
    def gap(self) -> float:
        """(upper − lower) / |upper|, infinite while nothing bounds the value from above."""
        if not np.isfinite(self.upper):
            return np.inf
        return (self.upper - self.lower) / max(abs(self.upper), np.finfo(float).tiny)


def certify(
    family: KernelFamily,
    loss: Loss,
    w: Array,
    beta: Array,
    pair: PSDPair | None = None,
    drop: float = 0.0,
    held: Held | None = None,
) -> Certified:
    """Make weights and duals feasible, and bound the optimal value by them.

    For weights of any sign the ``pair`` at w has a positive definite matrix, and its multiplier proves the
    lower bound. Duals below ``drop`` of the largest become zero, and so do weights below this share of the
    whole that may not be negative. Multipliers of further constraints are in ``held``.
    """
    n_free = pair.cone.n_members if pair is not None else 0
    w = _feasible_weights(w, family.traces, n_free, drop) if held is None else held.cleaned(w, n_free, drop)
    beta = _feasible_duals(beta, loss, drop)
    products = family.products(beta)
    q = products.T @ beta
    reward = 2.0 * float(loss.target @ beta) - float(loss.shift @ (beta * beta))
    form, more = (q, 0.0) if held is None else held.reduced(q)
    lower = reward - (float(form.max()) if pair is None else _largest_form(form, family, pair)) - more
    upper, intercept = _primal(family, loss, w, products, beta)
    return Certified(w, beta, intercept, reward - float(q @ w), upper, lower)


def drawn_inside(proof: Certified, family: KernelFamily, loss: Loss, middle: Array) -> Certified:
    """The same for weights moved towards the middle, where K(w) over all points is positive semidefinite.

    Directions in which even the middle is nearly zero are left out of a solver's constraint; so K(w) may be
    slightly indefinite. The smallest eigenvalue is concave along the way: Newton's steps never go too far.
    """
    w, inside = proof.w, family.whole(middle)
    for _ in range(_MAX_PULLS):
        values, vectors = scipy.linalg.eigh(family.whole(w), subset_by_index=(0, 0), check_finite=False)
        missing = -_SEMIDEFINITE * family.size - float(values[0])
        if missing <= 0.0:
            break
        x = vectors[:, 0]
        gain = float(x @ (inside @ x)) - float(values[0])
        w = w + min(1.0, (missing + 0.5 * _SEMIDEFINITE * family.size) / gain) * (middle - w)
    if w is proof.w:
        return proof
    products = family.products(proof.beta)
    upper, intercept = _primal(family, loss, w, products, proof.beta)
    value = proof.value + float((products.T @ proof.beta) @ (proof.w - w))
    return replace(proof, w=w, upper=upper, intercept=intercept, value=value)


def _primal(family: KernelFamily, loss: Loss, w: Array, products: Array, beta: Array) -> tuple[float, float]:
    """The value of the machine's primal problem at the scores of these duals, and their intercept."""
    kernels = family.n_members - family.has_identity
    scores = products[:, :kernels] @ w[:kernels]
    norm2 = max(float(scores @ beta), 0.0)
    if family.has_identity:
        loss = loss.with_ridge(float(w[-1]) * family.size)
    soft = loss.bound(scores, norm2)
    # A function without errors is feasible too, and the better bound where C is very large.
    hard = HardMargin(loss.target).bound(scores, norm2)
    return 2.0 * min(soft.value, hard.value), soft.intercept if np.isfinite(soft.value) else hard.intercept


def _feasible_weights(w: Array, r: Array, n_free: int, drop: float) -> Array:
    w = w.copy()
    w[n_free:] = np.where(w[n_free:] > drop, w[n_free:], 0.0)
    return w / float(r @ w)


def _feasible_duals(beta: Array, loss: Loss, drop: float) -> Array:
    """Inside their bounds, the two classes of equal sum."""
    beta = np.clip(beta, loss.lower, loss.upper)
    beta[np.abs(beta) < drop * np.abs(beta).max()] = 0.0
    positive = loss.target > 0
    for_sum, against = float(beta[positive].sum()), -float(beta[~positive].sum())
    if for_sum > against:
        beta[positive] *= against / for_sum
    elif against > for_sum:
        beta[~positive] *= for_sum / against
    return beta


def _largest_form(q: Array, family: KernelFamily, pair: PSDPair) -> float:
    """An upper bound of w'q over r'w = 1 with K(w) ⪰ 0, any nonnegative weight of the identity included."""
    k = pair.cone.n_members
    r, trace = family.traces[:k], family.n * family.size
    candidates = [pair.Z]
    repaired = pair.multiplier(q[:k], r)
    if repaired is not None:
        candidates.append(repaired)
    form = min(_largest_by(q[:k], r, trace, pair.cone, Z) for Z in candidates)
    return max(form, float(q[k:].max(initial=-np.inf)))


def _largest_by(q: Array, r: Array, trace: float, cone: Spectrahedron, Z: Array) -> float:
    """θ of the module's docstring for a positive semidefinite Z, with the price of what it misses."""
    traces = q + cone.traces(Z)
    S = cone.inner_products()
    solved = np.linalg.lstsq(S, np.column_stack([traces, r]), rcond=None)[0]
    theta = float(r @ solved[:, 0]) / float(r @ solved[:, 1])
    miss = traces - theta * r
    norm = float(np.sqrt(max(float(miss @ (solved[:, 0] - theta * solved[:, 1])), 0.0)))  # of E, Frobenius
    return theta + trace * norm

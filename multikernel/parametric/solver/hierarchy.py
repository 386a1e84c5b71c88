"""Products of kernels over the subsets of some variables, with a norm that keeps the ancestors of a product.

    min_{f, b}  ½ (Σ_v d_v ‖f_{D(v)}‖)² + Σ_i ℓ_i(Σ_w f_w(x_i) + b),   ‖f_{D(v)}‖² = Σ_{w ∈ D(v)} ‖f_w‖²

over the nonempty sets w of at most q variables, f_w in the space of K_w = Π_{i ∈ w} K_i (entry by entry),
D(v) the sets that contain v, A(w) the subsets of w, d_v = b^(|v| − 1) (Bach 2009). With weights η ≥ 0,
Σ d_v² η_v ≤ 1, the square is the smallest value of Σ_w ‖f_w‖² / ζ_w, where

    1/ζ_w = Σ_{v ∈ A(w)} 1/η_v:

a machine on the kernel Σ ζ_w(η) K_w, and a convex problem in η. A set has weight only if all its subsets do.

**Descent.** For given functions the best η_v is in proportion to ‖f_{D(v)}‖ / d_v. As shares x_v = d_v² η_v,
x_v is multiplied by a power of G_v / d_v², G_v = Σ_{w ∈ D(v)} (ζ_w/η_v)² q_w, q_w = β'K_wβ with the duals β:
the power ½ never goes up. Each share has a power of its own, larger while its slope stays on one side of the
mean, smaller where it crosses; where the value rises, all go back towards ½.

**Certificate.** Duals bound the value from below by their reward less ½ Ω², Ω² the largest Σ_w ζ_w(η) q_w of
all η, and any shares κ_vw ≥ 0, Σ_{v ∈ A(w)} κ_vw = 1, give Ω² ≤ max_v Σ_{w ∈ D(v)} κ_vw² q_w / d_v². Within
the active sets W, κ_vw = ζ_w/η_v. Beyond, κ_vw in proportion to d_v on the subsets outside W, so that
(Bach 2009, section 5)

    Ω² ≤ max(max_{v ∈ W} G_v / d_v²,  max_t S_t),   S_t = Σ_{w ∈ D(t)} q_w / (Σ_{t ⊆ v ⊆ w} d_v)²

over the sources t: the sets outside W all of whose subsets are in W. Σ_{t ⊆ v ⊆ w} d_v is
b^(|t| − 1) (1 + b)^(|w| − |t|), so that S_t is a sum of products, an elementary symmetric polynomial of the
K_i / (1 + b)², and needs no list of the supersets.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from ..._typing import Array
from ...core.optim.loop import Options, Recorder, Status, is_over, relative_gap
from ...core.svm.losses import Loss, value_floor
from ...core.weights.learn import learn_weights
from ...core.weights.loop import SolveResult
from ...rows.memory import available_memory

Node = tuple[int, ...]  # variables, ascending

_LEAST_SHARE = 1e-9  # of a set in W
_NEW_SHARE = 0.05  # of all sets that come in together
_MOST_NEW = 40  # sets that come in at once
_MEMORY_SHARE = 0.8  # of what is available: for a copy of the products, with the new ones
_STEPS = 200  # of a descent
_INNER = 0.25  # share of the gap that is left to a machine
_POWERS = (0.5, 6.0)  # smallest and largest
_GROWTH, _SHRINKAGE, _RETREAT = 1.3, 0.5, 0.3
_LARGEST_STEP = 5.0  # of the logarithm of a share


# ---------------------------------------------------------------------- sets
def has_parents(node: Node, active: set[Node]) -> bool:
    """Whether all subsets of a set with one variable less are active."""
    return len(node) == 1 or all(part in active for part in combinations(node, len(node) - 1))


def sources(active: Sequence[Node], n_variables: int, degree: int) -> list[Node]:
    """The sets outside whose subsets are all active.

    Examples
    --------
    >>> sources([(0,), (1,)], 3, 2)
    [(2,), (0, 1)]
    """
    inside = set(active)
    found: dict[Node, None] = {(i,): None for i in range(n_variables) if (i,) not in inside}
    for node in active:
        for i in range(n_variables):
            new = tuple(sorted({*node, i}))
            if len(node) < len(new) <= degree and new not in inside and has_parents(new, inside):
                found[new] = None
    return list(found)


# ---------------------------------------------------------------------- the problem
@dataclass(frozen=True)
class Hierarchy:
    """Kernels of the variables (n_variables, n, n), the largest size of a set, and b."""

    Ks: Array
    degree: int
    growth: float

    def kernel(self, node: Node) -> Array:
        """The product of the kernels of some variables."""
        return np.asarray(np.prod(self.Ks[list(node)], axis=0))

    def strength(self, node: Node) -> float:
        """d of a set."""
        return float(self.growth ** (len(node) - 1))

    def forms_of(self, node: Node, W: Array) -> tuple[float, float]:
        """q_t / d_t² of a source and S_t, with W = Σ_t β_t β_t'."""
        d = self.strength(node) ** 2
        base = W * self.kernel(node)
        own = float(base.sum()) / d
        others = [i for i in range(len(self.Ks)) if i not in node]
        more = min(self.degree - len(node), len(others))
        if more == 0:
            return own, own
        return own, float(np.vdot(base, self._supersets(others, more))) / d

    def _supersets(self, others: Sequence[int], more: int) -> Array:
        """Σ over at most ``more`` of the other variables of the products of K_i / (1 + b)²."""
        sums = [np.ones_like(self.Ks[0]), *(np.zeros_like(self.Ks[0]) for _ in range(more))]
        for i in others:  # elementary symmetric polynomials
            scaled = self._scale * self.Ks[i]
            for k in range(more, 0, -1):
                sums[k] += scaled * sums[k - 1]
        return np.asarray(sum(sums))

    def bounds_of(self, nodes: Sequence[Node], W: Array) -> tuple[Array, Array]:
        """`forms_of` of many sources; those that are not reached in time have the bound infinity.

        Sources that differ in their last variable alone are looked at together. Where at most two variables
        may be added to them, the sum over these is a polynomial in the kernel of the last one.
        """
        forms, bounds = np.zeros(len(nodes)), np.full(len(nodes), np.inf)
        groups: dict[Node, list[int]] = {}
        for k, node in enumerate(nodes):
            groups.setdefault(node[:-1], []).append(k)
        for base, members in groups.items():
            if is_over():
                break
            more = min(self.degree, len(self.Ks)) - len(base) - 1
            d = self.strength((*base, 0)) ** 2
            if more > 2:
                for k in members:
                    if is_over():
                        break
                    forms[k], bounds[k] = self.forms_of(nodes[k], W)
                continue
            last = [nodes[k][-1] for k in members]
            forms[members], bounds[members] = (found / d for found in self._with_last(base, last, more, W))
        return forms, bounds

    def _with_last(self, base: Node, last: list[int], more: int, W: Array) -> tuple[Array, Array]:
        """d² q and d² S of the sets of ``base`` and one variable each, to which at most two may be added."""
        own = W if not base else W * self.kernel(base)
        factors, s = [np.ones_like(W)], self._scale
        if more:
            first, second = self._power_sums
            q1 = first - self.Ks[list(base)].sum(axis=0)
            factors = [1.0 + s * q1, np.full_like(W, -s)]
            if more == 2:
                q2 = second - (self.Ks[list(base)] ** 2).sum(axis=0)
                factors[0] += 0.5 * s**2 * (q1**2 - q2)
                factors = [factors[0], factors[1] - s**2 * q1, np.full_like(W, s**2)]
        weights = [(own * factor).ravel() for factor in factors]
        forms, bounds = np.empty(len(last)), np.empty(len(last))
        for k, i in enumerate(last):
            K = power = self.Ks[i].ravel()
            forms[k], bounds[k] = own.ravel() @ K, weights[0] @ K
            for weight in weights[1:]:
                power = power * K
                bounds[k] += weight @ power
        return forms, bounds

    @property
    def _scale(self) -> float:
        return 1.0 / (1.0 + self.growth) ** 2

    @cached_property
    def _power_sums(self) -> tuple[Array, Array]:
        """Σ K_i and Σ K_i², entry by entry, over all variables."""
        squares = np.zeros_like(self.Ks[0])
        for K in self.Ks:
            squares += K**2
        return self.Ks.sum(axis=0), squares


class _Active:
    """The active sets, their kernels, which of them contain which, and the shares x of all η."""

    def __init__(self, problem: Hierarchy, nodes: Sequence[Node], shares: Array, least_size: float) -> None:
        self.problem, self.nodes, self.least_size = problem, list(nodes), least_size
        self.Ks = np.stack([problem.kernel(node) for node in nodes])
        self.set_order(shares)

    def set_order(self, shares: Array) -> None:
        """What follows from the sets."""
        self.d = np.array([self.problem.strength(node) for node in self.nodes])
        sets = [set(node) for node in self.nodes]
        self.contains = np.array([[a <= b for b in sets] for a in sets])  # [v, w]: w in D(v)
        self.shares = np.maximum(shares, _LEAST_SHARE)
        self.shares /= self.shares.sum()

    def add(self, nodes: Sequence[Node]) -> None:
        """More sets, with a small share each."""
        self.nodes += nodes
        self.Ks = np.concatenate([self.Ks, [self.problem.kernel(node) for node in nodes]])
        self.set_order(
            np.append((1 - _NEW_SHARE) * self.shares, np.full(len(nodes), _NEW_SHARE / len(nodes)))
        )

    @property
    def room(self) -> float:
        """How many more sets there is memory for: when some come in, there are two copies for a moment."""
        available = available_memory()
        if available is None:
            return np.inf
        return max(_MEMORY_SHARE * available // self.Ks[0].nbytes - len(self.Ks), 0.0)

    def weights(self, shares: Array) -> Array:
        """ζ of the sets."""
        return np.asarray(1.0 / (self.contains.T @ (self.d**2 / shares)))

    def combined(self, zeta: Array) -> Array:
        """Σ ζ_w K_w."""
        return np.tensordot(zeta, self.Ks, axes=1)

    def forms(self, duals: Array) -> Array:
        """q of the sets."""
        return np.einsum("wit,ti->w", self.Ks @ duals.T, duals)

    def slopes(self, shares: Array, q: Array) -> Array:
        """G_v / d_v²; the largest bounds Ω² of these sets."""
        zeta = self.weights(shares)
        return np.asarray((self.contains @ (zeta**2 * q)) * self.d**2 / shares**2)


@dataclass
class _Point:
    """A machine at some shares, and the bounds of the sets at hand."""

    shares: Array
    zeta: Array
    machine: SolveResult
    slopes: Array
    least_size: float  # of values that gaps are relative to

    @property
    def own(self) -> float:
        """The form of the combined kernel."""
        return float(self.shares @ self.slopes)

    @property
    def lower(self) -> float:
        """The bound for the active sets alone: the machine's, for a kernel of the largest form."""
        return self.machine.lower_bound - 0.5 * max(0.0, float(self.slopes.max()) - self.own)

    @property
    def upper(self) -> float:
        return self.machine.upper_bound

    @property
    def gap(self) -> float:
        return relative_gap(self.upper, self.lower, self.least_size)


# ---------------------------------------------------------------------- descent
def _solve(
    active: _Active, shares: Array, losses: Sequence[Loss], tol: float, start: _Point | None
) -> _Point:
    """The machine at some shares."""
    zeta = active.weights(shares)
    K = active.combined(zeta)[None]
    warm = None if start is None else replace(start.machine, weights=np.ones(1))
    machine = learn_weights(K, losses, options=Options(tol=tol, coarse=False), start=warm)
    slopes = active.slopes(shares, active.forms(machine.duals))
    return _Point(shares, zeta, machine, slopes, active.least_size)


class _Powers:
    """The power of each share: larger while its slope stays on one side of the mean."""

    def __init__(self, size: int) -> None:
        self.values = np.ones(size)
        self.last: Array | None = None

    def move(self, point: _Point) -> Array:
        """The shares after a step."""
        with np.errstate(divide="ignore"):
            slopes = np.log(np.maximum(point.slopes, 1e-300) / point.own)
        if self.last is not None:
            keeps = slopes * self.last > 0.0
            grown, shrunk = _GROWTH * self.values, _SHRINKAGE * self.values
            self.values = np.clip(np.where(keeps, grown, shrunk), *_POWERS)
        self.last = slopes
        shares = point.shares * np.exp(np.clip(self.values * slopes, -_LARGEST_STEP, _LARGEST_STEP))
        shares = np.maximum(shares / shares.sum(), _LEAST_SHARE)
        return np.asarray(shares / shares.sum())

    def retreat(self) -> bool:
        """Smaller powers after a step that went up; False where all are those that never do."""
        could = bool(self.values.max() > _POWERS[0])
        self.values = np.maximum(_RETREAT * self.values, _POWERS[0])
        self.last = None
        return could


def _descend(active: _Active, losses: Sequence[Loss], goal: float, start: _Point | None) -> _Point:
    """Lower the value over the active sets until their own gap is below a goal."""
    tol = _INNER * goal
    point = _solve(active, active.shares, losses, tol, start)
    powers = _Powers(active.shares.size)
    for _ in range(_STEPS):
        if point.gap <= goal or is_over() or not point.own > 0.0:
            break
        new = _solve(active, powers.move(point), losses, tol, point)
        went_up = not new.upper <= point.upper + tol * abs(point.upper)
        if went_up and powers.retreat():
            continue
        point = new
    active.shares = point.shares
    return point


# ---------------------------------------------------------------------- active sets
def learn_hierarchy(
    problem: Hierarchy, losses: Sequence[Loss], options: Options
) -> tuple[SolveResult, list[Node]]:
    """Learn the weights of the products of kernels.

    Returns
    -------
    result : SolveResult
        With a weight ζ for each active set; bounds and gap are those of the problem over all sets.
    nodes : list of tuples, the active sets
    """
    record = Recorder.of(options)
    n_variables = len(problem.Ks)
    first = learn_weights(problem.Ks, losses, options=Options(tol=max(1e-2, options.tol), seed=options.seed))
    if first.status in (Status.INSEPARABLE, Status.INDEFINITE) or not first.is_finite:
        return first, [(i,) for i in range(n_variables)]
    used = np.flatnonzero(first.weights)
    used = used if used.size else np.array([0])
    kept = np.maximum(first.weights[used], 1e-3)
    least_size = value_floor(losses, problem.Ks.diagonal(axis1=1, axis2=2).mean(axis=1))
    active = _Active(problem, [(int(i),) for i in used], kept / kept.sum(), least_size)
    point: _Point | None = None
    best: tuple[SolveResult, list[Node]] | None = None
    goal = max(1e-2, 0.5 * options.tol)
    while True:
        point = _descend(active, losses, goal, point)
        outside, forms, bounds = _look_outside(problem, active, point)
        result = _certified(point, max([float(point.slopes.max()), *bounds]))
        if best is None or result.gap < best[0].gap:
            best = result, list(active.nodes)
        entry = {
            "iteration": len(record.history) + 1,
            "objective": result.upper_bound,
            "lower_bound": result.lower_bound,
            "gap": result.gap,
            "n_active": len(active.nodes),
        }
        if record.note(entry):
            break
        new = _chosen(outside, forms, bounds, float(point.slopes.max()))
        if len(new) > active.room:  # where they do not help, the number grows until memory is used up
            record.stop(Status.MAX_COLUMNS)
            break
        if new:
            active.add(new)
        elif goal <= 1e-3 * options.tol:
            record.stop(Status.STALLED)
            break
        goal = max(min(goal, 0.3 * result.gap), 0.5 * options.tol) if new else 0.3 * goal
    result, nodes = best
    return replace(result, status=record.status, n_iter=record.n_iter, history=record.history), nodes


def _look_outside(
    problem: Hierarchy, active: _Active, point: _Point
) -> tuple[list[Node], list[float], list[float]]:
    """The sources, their own forms q_t / d_t², and the bounds S_t of them with all that contain them."""
    outside = sources(active.nodes, len(problem.Ks), problem.degree)
    W = point.machine.duals.T @ point.machine.duals
    forms, bounds = problem.bounds_of(outside, W)
    return outside, forms.tolist(), bounds.tolist()


def _chosen(outside: list[Node], forms: list[float], bounds: list[float], level: float) -> list[Node]:
    """Sources that would lower the value for certain; without these, those that keep the gap from closing."""
    for worth in (forms, bounds):
        order = np.argsort(worth)[::-1][:_MOST_NEW]
        new = [outside[k] for k in order if worth[k] > level * (1.0 + 1e-9)]
        if new:
            return new
    return []


def _certified(point: _Point, largest: float) -> SolveResult:
    """The result with the bounds of the problem over all sets."""
    lower = max(point.machine.lower_bound - 0.5 * max(0.0, largest - point.own), 0.0)  # no value is negative
    gap = max(relative_gap(point.upper, lower, point.least_size), 0.0)
    return replace(point.machine, weights=point.zeta, lower_bound=lower, gap=gap)

"""The best subset of kernels under a limit, by branch and bound with certified bounds.

    min_{S allowed} J_S,   J_S = the optimal value of :func:`learn_weights` on the kernels of S

S is allowed if it has at most k kernels, its prices sum to at most a budget, and it holds all kernels with a
lower bound of their weight. The problem is combinatorial; what is returned has the *global* gap
(upper − lower) / |upper|: upper is the value at the subset that is returned, lower holds for every allowed
subset.

A node is a pair (A, I): subsets of A that hold I. Adding kernels never raises J, so that a lower bound of J_A
bounds every S within A, at whatever gap its fit ended. Two children: the heaviest free kernel of A enters I,
or leaves A. The node of the least bound comes first.

**Planes.** The duals of every fit bound all subsets, since J_S is a maximum over duals: with the reward c of
these duals, their forms q_m = Σ_t β_t'K_mβ_t, r_m = q_m / d_m² and the floor f of the weights,

    J_S >= c − ½ f'r − ½ (1 − ‖f‖_p) max {ν'r : ν >= 0, ‖ν‖_p <= 1, ν in S, at most k positive}

They close many nodes, and most nodes to which only one kernel can be added, without a fit.

**Subsets** that are tried as the answer: the heaviest kernels of each relaxation, and from a new best one
exchanges of one of its two lightest kernels for one of the three kernels outside with the largest r. A search
that is long also tries greedy forward selection.
"""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from ..._typing import Array
from ..._validation import check_number, check_positive_integer
from ..optim.loop import Options, Recorder, Status, is_over, relative_gap
from ..optim.weight_sets import LpBall, norm_and_slope
from ..stack.sums import quadratic_sums, stack_diagonals
from ..svm.losses import JointHinge, Loss
from .learn import learn_weights
from .loop import SolveResult
from .second import Exact

_INNER = 0.1  # tol of the fits, of the tol of the search
_EQUAL = 1e-10  # relative difference of kernels that count as multiples of each other
_LONG = 30  # nodes after which greedy selection is worth its fits
_LIGHTEST, _STRONGEST = 2, 3  # kernels that an exchange takes out and in


class Fit(NamedTuple):
    """Learned weights of a subset, where other fits may start."""

    subset: Array
    result: SolveResult

    def on(self, subset: Array) -> SolveResult:
        """The result as a start for another subset."""
        weights = np.zeros(int(max(subset.max(), self.subset.max())) + 1)
        weights[self.subset] = self.result.weights
        return replace(self.result, weights=weights[subset], factors={}, history=[])


Solve = Callable[[Array, SolveResult | None], SolveResult]


@dataclass(frozen=True)
class KernelLimit:
    """How many kernels a model may use, or what they may cost together.

    Parameters
    ----------
    max_kernels : int, default=None
        Maximum number of kernels with weight.
    prices : array-like of shape (n_kernels,) or dict of view name to price, default=None
        Price of each kernel, at least 0. In a dict, views that are not named are free. Unlike ``costs`` of
        the estimators, prices do not change the weights, only which kernels may be used together.
    budget : float, default=None
        Maximum sum of the prices of the kernels with weight. Needs `prices`.
    max_nodes : int, default=None
        Maximum number of nodes of the search. None means no limit but the ``max_time`` of the fit.

    Examples
    --------
    >>> KernelLimit(max_kernels=3)
    KernelLimit(max_kernels=3, prices=None, budget=None, max_nodes=None)
    """

    max_kernels: int | None = None
    prices: Any = None
    budget: float | None = None
    max_nodes: int | None = None


class Allowed(NamedTuple):
    """What a subset of the kernels may be, in numbers, and how long the search for the best one may take."""

    most: int
    prices: Array
    budget: float
    max_nodes: int | None = None

    def room(self, chosen: Array) -> float:
        """What is left of the budget; a rounding error of a sum of prices counts as nothing."""
        spent = float(self.prices[chosen].sum())
        return self.budget - spent + 1e-12 * max(spent, abs(self.budget) if np.isfinite(self.budget) else 0.0)

    def holds(self, subset: Array) -> bool:
        """Whether a subset is allowed."""
        return len(subset) <= self.most and self.room(subset) >= 0.0

    def can_join(self, chosen: Array, free: Array) -> Array:
        """The free kernels that may be added to those chosen, each alone."""
        if len(chosen) >= self.most:
            return free[:0]
        return free[self.prices[free] <= self.room(chosen)]

    def only_one_more(self, chosen: Array, free: Array) -> bool:
        """Whether no two of the free kernels may be added together."""
        if len(chosen) + 1 >= self.most:
            return True
        cheapest = np.sort(self.prices[free])[:2]
        return bool(cheapest.sum() > self.room(chosen))


def as_limit(max_kernels: Any) -> KernelLimit | None:
    """The parameter `max_kernels` of an estimator as a limit; None where there is none.

    Examples
    --------
    >>> as_limit(2)
    KernelLimit(max_kernels=2, prices=None, budget=None, max_nodes=None)
    """
    if max_kernels is None or isinstance(max_kernels, KernelLimit):
        return max_kernels
    return KernelLimit(check_positive_integer("max_kernels", max_kernels))


def allowed_subsets(limit: KernelLimit, prices: Array | None, names: Sequence[str], kept: Array) -> Allowed:
    """The limit in numbers, checked; ``kept`` are the kernels that every subset has to hold."""
    most = len(names)
    if limit.max_kernels is not None:
        most = min(check_positive_integer("max_kernels", limit.max_kernels), most)
    if len(kept) > most:
        raise ValueError(
            f"max_kernels must be at least the number of views with keep, {len(kept)} "
            f"({', '.join(repr(names[m]) for m in kept)}); got {most}."
        )
    nodes = None if limit.max_nodes is None else check_positive_integer("max_nodes", limit.max_nodes)
    if (limit.budget is None) != (prices is None):
        raise ValueError("budget and prices of KernelLimit belong together; got one of them. Give both.")
    if prices is None or limit.budget is None:
        return Allowed(most, np.zeros(len(names)), np.inf, nodes)
    budget = float(check_number("budget", limit.budget, at_least=0.0))
    least = kept if len(kept) else np.array([int(np.argmin(prices))])
    allowed = Allowed(most, prices, budget, nodes)
    if not allowed.holds(least):
        what = "the views with keep cost" if len(kept) else f"the cheapest kernel, {names[least[0]]!r}, costs"
        raise ValueError(
            f"budget must allow at least one subset; {what} {prices[least].sum():g}; got {budget:g}."
        )
    return allowed


# ---------------------------------------------------------------------- bounds of all subsets by duals
@dataclass
class Planes:
    """Lower bounds of the value of any subset, one by the duals of each fit."""

    norm: float
    most: int
    floor: Array
    rewards: list[float] = field(default_factory=list)
    forms: list[Array] = field(default_factory=list)

    @property
    def left(self) -> float:
        """What the floor leaves of the budget of the weights."""
        if np.isinf(self.norm) or not self.floor.any():
            return 1.0
        return float(1.0 - norm_and_slope(self.floor, self.norm)[0])

    def add(self, lower: float, subset: Array, forms: Array) -> None:
        """The plane of duals that certify ``lower`` for a subset, by the forms of all kernels."""
        if np.isfinite(lower) and np.isfinite(forms).all():
            self.rewards.append(lower + 0.5 * self._of_weights(forms[None, subset], subset, len(subset))[0])
            self.forms.append(forms)

    def bounds(self, subset: Array) -> Array:
        """The value at a subset that each plane gives."""
        forms = np.array(self.forms)[:, subset]
        return np.array(self.rewards) - 0.5 * self._of_weights(forms, subset, self.most)

    def bound(self, subset: Array) -> float:
        """The best lower bound of all allowed subsets of some kernels."""
        return float(self.bounds(subset).max()) if self.rewards else -np.inf

    def _of_weights(self, forms: Array, subset: Array, most: int) -> Array:
        """The largest Σ μ_m q_m over the weights of a subset, by plane."""
        fixed = np.zeros(len(forms)) if np.isinf(self.norm) else forms @ self.floor[subset]
        if self.norm == 1.0:
            return fixed + self.left * forms.max(axis=1)
        if most < forms.shape[1]:
            forms = -np.sort(-forms, axis=1)[:, :most]
        ball = LpBall(self.norm)
        return fixed + self.left * np.array([ball.support(row) for row in forms])


# ---------------------------------------------------------------------- the search
class _Node(NamedTuple):
    bound: float
    number: int  # of nodes with the same bound, the first comes first
    within: Array
    chosen: Array
    start: Fit | None


class SubsetSearch:
    """The state of a search: the best subset, the planes, and the open nodes.

    Parameters
    ----------
    Ks : array of shape (n_kernels, n, n)
    solve : function of a sorted subset and a start, the learned weights of these kernels
    allowed : Allowed
    planes : Planes
    usable : array of kernels that a subset may hold
    kept : array of kernels that every subset holds
    costs : array of shape (n_kernels,), the d of the weight set
    tol : float
        Relative gap of the search.
    """

    def __init__(
        self,
        Ks: Array,
        solve: Solve,
        allowed: Allowed,
        planes: Planes,
        usable: Array,
        kept: Array,
        costs: Array,
        tol: float,
    ) -> None:
        self.Ks, self.solve, self.allowed, self.planes, self.kept = Ks, solve, allowed, planes, kept
        self.squares, self.usable, self.tol = costs * costs, usable, tol
        self.fits = 0
        self.passes = 0.0
        self.best: Fit | None = None
        self.closed = np.inf  # the least lower bound of what was left out
        self.open: list[_Node] = []
        self._tried: dict[tuple[int, ...], Fit] = {}
        self._numbers = count()
        self.push(-np.inf, usable, kept, None)

    @property
    def upper(self) -> float:
        """The value at the best subset."""
        return np.inf if self.best is None else self.best.result.upper_bound

    @property
    def lower(self) -> float:
        """A lower bound of the value of every allowed subset."""
        return min(self.open[0].bound if self.open else np.inf, self.closed, self.upper)

    @property
    def threshold(self) -> float:
        """A node with this lower bound holds nothing that is better by more than the tolerance."""
        return self.upper - self.tol * abs(self.upper) if np.isfinite(self.upper) else np.inf

    # -------------------------------------------------------------- fits
    def fit(self, subset: Array, start: Fit | None = None) -> Fit:
        """Learn the weights of a sorted subset; the duals bound all other subsets."""
        key = tuple(subset.tolist())
        if key not in self._tried:
            result = self.solve(subset, start.on(subset) if start is not None else None)
            self.fits += 1
            self.passes += result.passes * len(subset) / len(self.Ks)
            if not result.factors and np.isfinite(result.lower_bound):
                forms = quadratic_sums(self.Ks, result.duals.T) / self.squares
                self.planes.add(result.lower_bound, subset, forms)
            # duals of all the fits would fill the memory
            self._tried[key] = Fit(subset, replace(result, duals=result.duals[:0], history=[]))
            return Fit(subset, result)
        return self._tried[key]

    def consider(self, subset: Array, start: Fit | None = None) -> Fit:
        """Fit an allowed subset, which may be the best so far."""
        fit = self.fit(np.sort(subset), start)
        if self.best is None or fit.result.upper_bound < self.upper:
            self.best = fit
        return fit

    def close(self, bound: float) -> None:
        """Leave out subsets whose values are at least ``bound``."""
        self.closed = min(self.closed, bound)

    def push(self, bound: float, within: Array, chosen: Array, start: Fit | None) -> None:
        """Open a node, unless its bound says that it holds nothing better."""
        if bound >= self.threshold:
            self.close(bound)
        else:
            heapq.heappush(self.open, _Node(bound, next(self._numbers), within, chosen, start))

    # -------------------------------------------------------------- subsets that may be the answer
    def heaviest(self, fit: Fit, chosen: Array) -> Array:
        """The allowed subset of the kernels with the largest weights that holds those chosen."""
        subset = chosen
        order = np.argsort(-fit.result.weights * self.squares[fit.subset], kind="stable")
        for m in np.setdiff1d(fit.subset[order], chosen, assume_unique=True):
            if self.allowed.can_join(subset, np.array([m])).size:
                subset = np.append(subset, m)
        return subset

    def improve(self) -> None:
        """Exchange kernels of the best subset while that makes it better."""
        before = np.inf
        while self.upper < before - self.tol * abs(before) if np.isfinite(before) else True:
            before = self.upper
            assert self.best is not None
            base = self.best
            for leaves, enters in self._exchanges(base):
                changed = np.sort(np.append(base.subset[base.subset != leaves], enters))
                if self.allowed.holds(changed) and self.planes.bound(changed) < self.threshold:
                    self.consider(changed, base if base.result.duals.size else None)

    def grow(self) -> None:
        """Try the subset of greedy forward selection: kernels are added one by one, each time the best."""
        chosen = self.kept
        while not is_over():
            free = self.allowed.can_join(chosen, np.setdiff1d(self.usable, chosen))
            if not free.size:
                break
            fits = [self.consider(np.append(chosen, m)) for m in free]
            chosen = min(fits, key=lambda fit: fit.result.upper_bound).subset
        self.improve()

    def _exchanges(self, fit: Fit) -> list[tuple[int, int]]:
        """Pairs of a kernel that leaves and one that enters."""
        if not self.planes.forms:
            return []
        outside = np.setdiff1d(
            np.argsort(-self.planes.forms[-1], kind="stable"), fit.subset, assume_unique=True
        )
        light = np.argsort(fit.result.weights * self.squares[fit.subset], kind="stable")
        leaving = [m for m in fit.subset[light] if m not in self.kept][:_LIGHTEST]
        return [(int(m), int(new)) for m in leaving for new in outside[:_STRONGEST]]

    # -------------------------------------------------------------- nodes
    def expand(self) -> None:
        """Take the open node of the least bound: fit what it allows, and open its children."""
        node = heapq.heappop(self.open)
        free = self.allowed.can_join(node.chosen, np.setdiff1d(node.within, node.chosen))
        within = np.sort(np.append(node.chosen, free))
        bound = max(node.bound, self.planes.bound(within))
        if bound >= self.threshold:
            self.close(bound)
        elif self.allowed.holds(within):
            self.close(max(bound, self.consider(within, node.start).result.lower_bound))
        elif self.allowed.only_one_more(node.chosen, free):
            self._finish(node, free, bound)
        else:
            self._branch(node, within, free, bound)

    def _finish(self, node: _Node, free: Array, bound: float) -> None:
        """Look at every subset that has one more kernel than those chosen, the most promising first."""
        subsets = [np.sort(np.append(node.chosen, m)) for m in free]
        for subset in sorted(subsets, key=self.planes.bound):
            least = max(bound, self.planes.bound(subset))
            if least < self.threshold and not is_over():
                least = max(least, self.consider(subset, node.start).result.lower_bound)
            self.close(least)

    def _branch(self, node: _Node, within: Array, free: Array, bound: float) -> None:
        """Solve the relaxation, then split by its heaviest free kernel."""
        fit = self.fit(within, node.start)
        bound = max(bound, fit.result.lower_bound)
        if bound >= self.threshold:
            self.close(bound)
            return
        before = self.upper
        self.consider(self.heaviest(fit, node.chosen), fit if fit.result.duals.size else None)
        if self.upper < before:
            self.improve()
        weights = fit.result.weights * self.squares[within]
        heaviest = free[int(np.argmax(weights[np.searchsorted(within, free)]))]
        start = fit if fit.result.duals.size else node.start
        self.push(bound, within, np.append(node.chosen, heaviest), start)
        rest = within[within != heaviest]
        self.push(max(bound, self.planes.bound(rest)), rest, node.chosen, start)


def learn_subset_weights(
    Ks: Array,
    losses: Sequence[Loss | JointHinge],
    allowed: Allowed,
    *,
    norm: float = 1.0,
    costs: Array | None = None,
    floor: Array | None = None,
    options: Options | None = None,
    exact: Exact | None = None,
) -> SolveResult:
    """Learn the weights of the best allowed subset of kernels; see the module.

    Parameters
    ----------
    Ks, losses, norm, costs, floor, exact
        As for :func:`learn_weights`. Kernels with a floor are in every subset.
    allowed : Allowed
    options : Options, optional
        ``tol`` is the relative gap of the search, ``max_iter`` the limit of each fit. Entries of the history
        are nodes.

    Returns
    -------
    SolveResult
        Of all kernels. ``lower_bound`` and ``gap`` hold for every allowed subset.
    """
    options = options or Options()
    costs = np.ones(len(Ks)) if costs is None else costs
    kept = np.zeros(0, np.intp) if floor is None or np.isinf(norm) else np.flatnonzero(floor)
    fixed = np.zeros(len(Ks)) if floor is None else floor
    inner = replace(options, tol=_INNER * options.tol, callback=None)

    def solve(subset: Array, start: SolveResult | None) -> SolveResult:
        return learn_weights(
            np.ascontiguousarray(Ks[subset]),
            losses,
            norm=norm,
            costs=costs[subset],
            floor=None if floor is None else floor[subset],
            options=inner,
            start=start,
            exact=None if exact is None else lambda m: exact(int(subset[m])),
        )

    usable = np.arange(len(Ks)) if norm > 1.0 else without_multiples(Ks, costs, allowed, kept)
    search = SubsetSearch(
        Ks, solve, allowed, Planes(norm, allowed.most, fixed), usable, kept, costs, options.tol
    )
    record = Recorder(options.tol, allowed.max_nodes, options.callback, divisible=True)
    while search.open:
        if len(record.history) == _LONG:
            search.grow()
        search.expand()
        gap = relative_gap(search.upper, search.lower)
        entry = {
            "iteration": len(record.history) + 1,
            "objective": search.upper,
            "lower_bound": search.lower,
            "gap": max(gap, 0.0),
            "n_active": 0 if search.best is None else int(np.count_nonzero(search.best.result.weights)),
            "fits": search.fits,
        }
        if record.note(entry):
            break
    return _of_all_kernels(search, record, len(Ks))


def without_multiples(Ks: Array, costs: Array, allowed: Allowed, kept: Array) -> Array:
    """The kernels without those that are a multiple of another one which is as good at no higher cost.

    With norm 1, the largest multiple after costs can take the weight of the others.

    Examples
    --------
    >>> Ks = np.array([np.eye(2), np.ones((2, 2)), 3 * np.eye(2)])
    >>> without_multiples(Ks, np.ones(3), Allowed(2, np.zeros(3), np.inf), np.zeros(0, int))
    array([1, 2])
    """
    diagonals = stack_diagonals(Ks)
    sizes = diagonals.mean(axis=1) / (costs * costs)
    order = np.lexsort((allowed.prices, -sizes))
    left: list[int] = []
    for m in order:
        if m not in kept and any(
            allowed.prices[other] <= allowed.prices[m] and _is_multiple(Ks, diagonals, other, m)
            for other in left
        ):
            continue
        left.append(int(m))
    return np.sort(left)


def _is_multiple(Ks: Array, diagonals: Array, first: int, second: int) -> bool:
    """Whether two kernels differ by a factor."""
    scale = float(diagonals[first].mean())
    factor = float(diagonals[second].mean()) / scale if scale > 0.0 else 0.0
    largest = _EQUAL * float(diagonals[second].max())
    if np.abs(diagonals[second] - factor * diagonals[first]).max() > largest:
        return False
    return bool(np.abs(Ks[second] - factor * Ks[first]).max() <= largest)


def _of_all_kernels(search: SubsetSearch, record: Recorder, n_kernels: int) -> SolveResult:
    """The best fit as a result for all kernels, with the bounds of the search."""
    assert search.best is not None
    subset, result = search.best
    weights = np.zeros(n_kernels)
    weights[subset] = result.weights
    gap = max(relative_gap(search.upper, search.lower), 0.0)
    status = Status.OPTIMAL if gap <= search.tol else record.status
    if result.status in (Status.INDEFINITE, Status.INSEPARABLE):
        status = result.status
    return replace(
        result,
        weights=weights,
        factors={int(subset[m]): part for m, part in result.factors.items()},
        lower_bound=search.lower,
        gap=gap,
        n_iter=record.n_iter,
        passes=search.passes,
        status=status,
        history=record.history,
    )

"""The best subset of kernels: against enumeration, and its bounds against the value of every subset."""

from itertools import combinations

import numpy as np
import pytest

from multikernel.core.optim.loop import Options, Status
from multikernel.core.stack.sums import quadratic_sums
from multikernel.core.svm.losses import (
    EpsilonInsensitive,
    HardMargin,
    Hinge,
    JointHinge,
    SquaredError,
    SquaredHinge,
)
from multikernel.core.weights.learn import learn_weights
from multikernel.core.weights.subset import (
    Allowed,
    KernelLimit,
    Planes,
    allowed_subsets,
    learn_subset_weights,
    without_multiples,
)

N, M = 40, 7


def make_stack(seed=0, m=M, n=N):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(m, n, 2))
    distances = ((columns[:, :, None] - columns[:, None]) ** 2).sum(axis=3)
    score = columns[:3, :, 0].sum(axis=0)
    return np.exp(-distances / 2.0), score


def at_most(k, m=M):
    return Allowed(k, np.zeros(m), np.inf)


def value(Ks, subset, losses, norm=1.0, costs=None, floor=None):
    subset = list(subset)
    return learn_weights(
        np.ascontiguousarray(Ks[subset]),
        losses,
        norm=norm,
        costs=None if costs is None else costs[subset],
        floor=None if floor is None else floor[subset],
        options=Options(tol=1e-6),
    )


def losses_of(kind, score):
    y = np.where(score > 0, 1.0, -1.0)
    classes = np.digitize(score, [-1.0, 1.0])
    return {
        "hinge": [Hinge(y, np.full(N, 5.0))],
        "squared hinge": [SquaredHinge(y, np.full(N, 5.0))],
        "two machines": [Hinge(y, np.full(N, 5.0)), Hinge(-y, np.linspace(1.0, 3.0, N))],
        "joint": [JointHinge(classes, 3, np.full(N, 1.0))],
        "ridge": [SquaredError(score, np.full(N, 0.5), True)],
        "epsilon": [EpsilonInsensitive(score, np.full(N, 2.0), 0.1)],
        "hard margin": [HardMargin(y, np.ones(N))],
    }[kind]


@pytest.mark.parametrize(
    "kind", ["hinge", "squared hinge", "two machines", "joint", "ridge", "epsilon", "hard margin"]
)
@pytest.mark.parametrize("k", [1, 3])
def test_it_is_the_best_of_all_subsets(kind, k):
    Ks, score = make_stack()
    losses = losses_of(kind, score)
    found = learn_subset_weights(Ks, losses, at_most(k), options=Options(tol=1e-4))
    values = {S: value(Ks, S, losses) for S in combinations(range(M), k)}
    best = min(values.values(), key=lambda result: result.upper_bound)
    assert found.status == Status.OPTIMAL and 0.0 <= found.gap <= 1e-4
    assert np.count_nonzero(found.weights) <= k
    assert best.lower_bound * (1 - 1e-9) <= found.upper_bound <= best.upper_bound * (1 + 2e-4)
    assert found.lower_bound <= best.upper_bound * (1 + 1e-9)  # the bound holds for every subset


@pytest.mark.parametrize("norm", [1.5, 2.0, np.inf])
def test_other_norms_and_costs(norm):
    Ks, score = make_stack(1)
    losses, costs = losses_of("hinge", score), np.linspace(0.7, 1.6, M)
    found = learn_subset_weights(Ks, losses, at_most(3), norm=norm, costs=costs, options=Options(tol=1e-4))
    best = min(value(Ks, S, losses, norm, costs).upper_bound for S in combinations(range(M), 3))
    assert found.status == Status.OPTIMAL
    assert found.upper_bound == pytest.approx(best, rel=2e-4) and found.lower_bound <= best * (1 + 1e-9)


def test_prices_and_a_budget():
    Ks, score = make_stack(2)
    losses, prices = losses_of("hinge", score), np.array([3.0, 2.0, 2.5, 1.0, 1.0, 0.0, 1.5])
    found = learn_subset_weights(Ks, losses, Allowed(4, prices, 4.5), options=Options(tol=1e-4))
    subsets = [S for k in range(1, 5) for S in combinations(range(M), k) if prices[list(S)].sum() <= 4.5]
    best = min(value(Ks, S, losses).upper_bound for S in subsets)
    used = np.flatnonzero(found.weights)
    assert len(used) <= 4 and prices[used].sum() <= 4.5
    assert found.upper_bound == pytest.approx(best, rel=2e-4)


def test_kernels_with_a_floor_are_in_every_subset():
    Ks, score = make_stack(3)
    floor = np.zeros(M)
    floor[[5, 6]] = 0.1, 0.2
    losses = losses_of("hinge", score)
    found = learn_subset_weights(Ks, losses, at_most(3), floor=floor, options=Options(tol=1e-4))
    best = min(value(Ks, (m, 5, 6), losses, floor=floor).upper_bound for m in range(5))
    assert (found.weights[[5, 6]] >= floor[[5, 6]] - 1e-12).all()
    assert found.upper_bound == pytest.approx(best, rel=2e-4)


@pytest.mark.parametrize("norm", [1.0, 2.0, np.inf])
def test_planes_bound_every_subset_from_below(norm):
    Ks, score = make_stack(4)
    losses, costs, floor = losses_of("hinge", score), np.linspace(0.8, 1.3, M), np.zeros(M)
    floor[2] = 0.15
    values = {}
    for S in combinations(range(M), 2):
        S = tuple(sorted({*S, 2}))
        values[S] = value(Ks, S, losses, norm, costs, floor)
    planes = Planes(norm, 3, floor)
    for S, result in values.items():
        planes.add(result.lower_bound, np.array(S), quadratic_sums(Ks, result.duals.T) / costs**2)
    for S, result in values.items():
        bounds = planes.bounds(np.array(S))
        assert (bounds <= result.upper_bound * (1 + 1e-9)).all()
        assert bounds.max() == pytest.approx(result.lower_bound, rel=1e-5)  # that of its own duals is tight
    for S in values:  # of more kernels than may be used, the bound is one of all allowed subsets
        within = np.array(sorted({*S, 0, 1}))
        least = min(r.upper_bound for T, r in values.items() if set(T) <= set(within.tolist()))
        assert planes.bound(within) <= least * (1 + 1e-9)


def test_an_early_end_has_an_honest_gap():
    Ks, score = make_stack(5, m=12)
    losses = losses_of("hinge", score)
    best = learn_subset_weights(Ks, losses, at_most(4, 12), options=Options(tol=1e-5))
    early = learn_subset_weights(Ks, losses, at_most(4, 12)._replace(max_nodes=2), options=Options(tol=1e-5))
    assert early.status == Status.MAX_ITER and early.n_iter == 2 and early.gap > 1e-5
    assert early.lower_bound <= best.upper_bound and best.lower_bound <= early.upper_bound * (1 + 1e-9)
    lowers = [entry["lower_bound"] for entry in best.history]
    uppers = [entry["objective"] for entry in best.history]
    assert (np.diff(uppers) <= 0).all() and (np.diff(lowers) >= -1e-9 * uppers[-1]).all()


def test_a_callback_ends_the_search():
    Ks, score = make_stack(5, m=12)
    options = Options(tol=1e-6, callback=lambda entry: entry["iteration"] >= 3)
    found = learn_subset_weights(Ks, losses_of("hinge", score), at_most(4, 12), options=options)
    assert found.status == Status.INTERRUPTED and found.n_iter == 3


def test_multiples_of_a_kernel_are_left_out_where_they_cannot_help():
    Ks, score = make_stack(6, m=4)
    doubled = np.concatenate([Ks, 2.0 * Ks, 0.5 * Ks])
    none = np.zeros(0, int)
    left = without_multiples(doubled, np.ones(12), Allowed(2, np.zeros(12), np.inf), none)
    assert left.tolist() == [4, 5, 6, 7]
    prices = np.repeat([1.0, 5.0, 0.0], 4)  # smaller multiples are cheaper here
    assert without_multiples(doubled, np.ones(12), Allowed(2, prices, 9.0), none).tolist() == list(range(12))
    losses = losses_of("hinge", score)
    twice = learn_subset_weights(doubled, losses, at_most(2, 12), options=Options(tol=1e-5))
    once = learn_subset_weights(2.0 * Ks, losses, at_most(2, 4), options=Options(tol=1e-5))
    assert twice.upper_bound == pytest.approx(once.upper_bound, rel=1e-9)
    assert twice.n_iter == once.n_iter


@pytest.mark.parametrize(
    ("limit", "prices", "kept", "message"),
    [
        (KernelLimit(0), None, [], "max_kernels must be a positive integer; got 0"),
        (
            KernelLimit(1),
            None,
            [0, 2],
            "max_kernels must be at least the number of views with keep, 2 .'a', 'c'.; got 1",
        ),
        (KernelLimit(max_nodes=0), None, [], "max_nodes must be a positive integer"),
        (KernelLimit(budget=1.0), None, [], "belong together"),
        (KernelLimit(budget=1.0), [3.0, 2.0, 4.0], [], "the cheapest kernel, 'b', costs 2; got 1"),
        (KernelLimit(budget=5.0), [3.0, 2.0, 4.0], [0, 2], "the views with keep cost 7; got 5"),
    ],
)
def test_limits_that_cannot_hold_are_refused(limit, prices, kept, message):
    prices = None if prices is None else np.array(prices)
    with pytest.raises(ValueError, match=message):
        allowed_subsets(limit, prices, ["a", "b", "c"], np.array(kept, int))


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=pytest.mark.thorough) for seed in range(20)])
def test_enumeration_of_many_problems(seed):
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(5, 12)), int(rng.integers(1, 6))
    Ks, score = make_stack(100 + seed, m=m)
    Ks = Ks * np.exp(rng.normal(size=m))[:, None, None]
    losses = losses_of(["hinge", "squared hinge", "ridge", "epsilon"][seed % 4], score)
    found = learn_subset_weights(Ks, losses, at_most(k, m), options=Options(tol=1e-4))
    best = min(value(Ks, S, losses).upper_bound for S in combinations(range(m), min(k, m)))
    assert found.upper_bound == pytest.approx(best, rel=2e-4) and found.lower_bound <= best * (1 + 1e-9)

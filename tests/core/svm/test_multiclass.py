"""The joint multiclass machine against a conic solver, the binary machine, and its optimality conditions."""

import itertools
from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

from judges.optimum import conic_optimum
from multikernel._numba import HUGE
from multikernel.core.optim.loop import Status
from multikernel.core.svm.joint.cycles import least_mean_cycle
from multikernel.core.svm.joint.solver import _move_free, _potentials, solve_multiclass
from multikernel.core.svm.losses import Hinge
from multikernel.core.svm.machine import solve_machine
from tests.core.problems import gaussian

TIGHT = 1e-8


def optimal_value(K, codes, n_classes, C, R):
    """The least primal value over weights and intercepts by Clarabel; K = root root'."""
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    n = codes.size
    w, b = cp.Variable((n, n_classes)), cp.Variable(n_classes)
    scores = root @ w + np.ones((n, 1)) @ cp.reshape(b, (1, n_classes), order="C")
    own = np.eye(n_classes)[codes]
    margins = cp.sum(cp.multiply(own, scores), axis=1, keepdims=True) @ np.ones((1, n_classes)) - scores
    weights = (1.0 - own) * np.broadcast_to(C, n)[:, None]
    loss = cp.sum(cp.multiply(weights, cp.pos(np.where(own, 0.0, R) - margins)))
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + loss), [cp.sum(b) == 0])
    return conic_optimum(problem)


def judge(K, codes, C, R, alpha, intercepts):
    """Dual and primal value, and the largest violation of the constraints, from the definition, in loops."""
    n, n_classes = alpha.shape
    B = np.zeros_like(alpha)
    for i, l in itertools.product(range(n), range(n_classes)):
        if l != codes[i]:
            B[i, codes[i]] += alpha[i, l]
            B[i, l] -= alpha[i, l]
    f = K @ B + intercepts
    norm2 = np.trace(B.T @ K @ B)
    dual, primal, outside = -0.5 * norm2, 0.5 * norm2, abs(B.sum(axis=0)).max()
    for i, l in itertools.product(range(n), range(n_classes)):
        if l == codes[i]:
            outside = max(outside, abs(alpha[i, l]))
            continue
        dual += R[i, l] * alpha[i, l]
        primal += C[i] * max(0.0, R[i, l] - f[i, codes[i]] + f[i, l])
        outside = max(outside, -alpha[i, l], alpha[i, l] - C[i])
    return B, dual, primal, outside


def check(result, K, codes, C, R, tol):
    """All that a solution states of itself, judged from outside."""
    C = np.broadcast_to(C, codes.size)
    B, dual, primal, outside = judge(K, codes, C, R, result.alpha, result.intercepts)
    np.testing.assert_array_less(outside, 1e-10 * max(1.0, C.max()) * codes.size)
    np.testing.assert_allclose(result.coefficients, B, atol=1e-12 * max(1.0, C.max()))
    assert abs(result.intercepts.sum()) <= 1e-10 * max(1.0, abs(result.intercepts).max())
    scale = max(abs(primal), 1e-9 * C.sum())
    assert abs(result.objective - dual) <= 1e-9 * scale
    assert abs(result.gap * abs(primal) - (primal - dual)) <= 1e-9 * scale
    assert result.status == Status.OPTIMAL
    assert primal - dual <= tol * abs(primal) + 1e-12 * C.sum()


@dataclass(frozen=True)
class Problem:
    """A random problem, printed as the few numbers that make it."""

    n: int
    n_classes: int
    kind: str
    C: float
    seed: int
    varied: bool = False
    separation: float = 1.0

    def make(self):
        """K, codes, C (n,), R (n, n_classes)."""
        rng = np.random.default_rng(self.seed)
        codes = rng.integers(0, self.n_classes, self.n)
        X = self.separation * rng.normal(size=(self.n_classes, 3))[codes] + rng.normal(size=(self.n, 3))
        kernels = {
            "gaussian": lambda: gaussian(X, 0.3),
            "linear": lambda: X @ X.T,
            "quadratic": lambda: (1.0 + X @ X.T) ** 2,
            "repeated": lambda: gaussian(X[rng.integers(0, self.n, self.n)], 0.3),
            "nothing": lambda: np.zeros((self.n, self.n)),
        }
        C = np.full(self.n, self.C)
        R = np.full((self.n, self.n_classes), 2.0)
        if self.varied:
            C = C * rng.choice([0.0, 0.1, 1.0, 3.0], self.n)
            R = 2.0 * rng.uniform(-1.0, 1.0, R.shape)
        return kernels[self.kind](), codes, C, R


KINDS = ("gaussian", "linear", "quadratic", "repeated")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n_classes", "C", "varied"), [(2, 1.0, True), (3, 10.0, False), (5, 0.5, True)])
def test_optimal_value_is_the_one_of_a_conic_solver(kind, n_classes, C, varied):
    K, codes, C, R = Problem(60, n_classes, kind, C, seed=n_classes, varied=varied).make()
    result = solve_multiclass(K, codes, n_classes, C, rewards=R, tol=TIGHT)
    check(result, K, codes, C, R, TIGHT)
    assert result.objective == pytest.approx(optimal_value(K, codes, n_classes, C, R), rel=1e-6)


@given(
    st.builds(
        Problem,
        n=st.integers(1, 40),
        n_classes=st.integers(2, 7),
        kind=st.sampled_from((*KINDS, "nothing")),
        C=st.sampled_from([1e-3, 0.1, 1.0, 10.0, 1e3]),
        seed=st.integers(0, 10**6),
        varied=st.booleans(),
        separation=st.sampled_from([0.0, 1.0, 5.0]),
    )
)
def test_certificate_holds_on_any_problem(problem):
    """Absent classes, single samples, zero bounds and negative rewards included."""
    K, codes, C, R = problem.make()
    result = solve_multiclass(K, codes, problem.n_classes, C, rewards=R, tol=1e-5)
    check(result, K, codes, C, R, 1e-5)


@pytest.mark.parametrize("kind", ["gaussian", "linear"])
def test_two_classes_are_the_binary_machine(kind):
    K, codes, _, _ = Problem(80, 2, kind, 1.0, seed=3).make()
    y = 2.0 * codes - 1.0
    joint = solve_multiclass(K, codes, 2, 1.5, tol=TIGHT)
    binary = solve_machine(K, Hinge(y, 1.5), tol=1e-9)
    assert joint.objective == pytest.approx(2.0 * binary.objective, rel=1e-7)
    f = K @ joint.coefficients + joint.intercepts
    svc = SVC(kernel="precomputed", C=1.5, tol=1e-8).fit(K, codes)
    np.testing.assert_allclose((f[:, 1] - f[:, 0]) / 2, svc.decision_function(K), atol=1e-4)


def test_pairs_of_classes_alone_would_miss_the_optimum():
    """The intercepts of all pairs must fit together: there are n_classes of them, not one for each pair."""
    K, codes, C, R = Problem(90, 4, "linear", 1.0, seed=8).make()
    keep = np.flatnonzero((codes != 0) | (np.arange(90) % 4 == 0))
    K, codes, C, R = K[np.ix_(keep, keep)], codes[keep], C[keep], R[keep]
    result = solve_multiclass(K, codes, 4, C, tol=TIGHT)
    given_by, received = np.zeros((2, 4, 4))
    for k, l in itertools.permutations(range(4), 2):
        given_by[k, l] = result.alpha[codes == k, l].sum()
        received[k, l] = result.alpha[codes == l, k].sum()
    assert abs(given_by - received).max() > 1e-2  # what moves on pairs of classes could never change
    assert result.objective == pytest.approx(optimal_value(K, codes, 4, C, R), rel=1e-6)


@pytest.mark.parametrize("n_classes", [2, 6])
def test_warm_start_saves_steps_and_changes_nothing(n_classes):
    K, codes, C, R = Problem(150, n_classes, "gaussian", 2.0, seed=5).make()
    cold = solve_multiclass(K, codes, n_classes, C, tol=1e-6)
    again = solve_multiclass(K, codes, n_classes, C, tol=1e-5, start=cold.alpha)
    assert again.n_iter == 0
    np.testing.assert_array_equal(again.alpha, cold.alpha)
    near = 1.01 * K + 0.01 * K**2
    warm = solve_multiclass(near, codes, n_classes, C, tol=1e-6, start=cold.alpha)
    fresh = solve_multiclass(near, codes, n_classes, C, tol=1e-6)
    check(warm, near, codes, C, R, 1e-6)
    assert warm.objective == pytest.approx(fresh.objective, rel=2e-6)
    assert warm.n_iter < 0.7 * fresh.n_iter


def test_order_of_samples_and_names_of_classes_do_not_matter():
    K, codes, C, R = Problem(70, 4, "gaussian", 3.0, seed=2, varied=True).make()
    result = solve_multiclass(K, codes, 4, C, rewards=R, tol=TIGHT)
    order = np.random.default_rng(0).permutation(70)
    turned = (codes + 1) % 4
    other = solve_multiclass(
        K[np.ix_(order, order)], turned[order], 4, C[order], rewards=np.roll(R, 1, axis=1)[order], tol=TIGHT
    )
    assert other.objective == pytest.approx(result.objective, rel=1e-7)
    f = K @ result.coefficients + result.intercepts
    f_other = (K[np.ix_(order, order)] @ other.coefficients + other.intercepts)[np.argsort(order)]
    np.testing.assert_allclose(np.roll(f, 1, axis=1), f_other, atol=2e-3)


def test_samples_of_bound_zero_are_as_if_absent():
    K, codes, C, _ = Problem(60, 3, "gaussian", 1.0, seed=1).make()
    C[::3] = 0.0
    result = solve_multiclass(K, codes, 3, C, tol=TIGHT)
    rest = np.flatnonzero(C)
    alone = solve_multiclass(K[np.ix_(rest, rest)], codes[rest], 3, 1.0, tol=TIGHT)
    assert not result.alpha[::3].any() and not result.coefficients[::3].any()
    assert result.objective == pytest.approx(alone.objective, rel=1e-7)


def test_class_of_one_sample_and_class_of_none():
    K, codes, C, R = Problem(50, 3, "gaussian", 10.0, seed=4).make()
    codes = np.where(codes == 2, 0, codes)
    codes[7] = 2
    result = solve_multiclass(K, codes, 3, C, tol=TIGHT)
    assert result.objective == pytest.approx(optimal_value(K, codes, 3, C, R), rel=1e-6)
    assert np.argmax(K @ result.coefficients + result.intercepts, axis=1)[7] == 2
    empty = solve_multiclass(K, codes, 4, C, tol=TIGHT)  # class 3 has no sample
    assert empty.objective == pytest.approx(result.objective, rel=1e-7)
    assert (np.argmax(K @ empty.coefficients + empty.intercepts, axis=1) < 3).all()


def test_rewards_below_zero_are_no_reward():
    K, codes, C, _ = Problem(40, 3, "gaussian", 1.0, seed=6).make()
    result = solve_multiclass(K, codes, 3, C, rewards=np.full((40, 3), -0.5))
    assert (result.objective, result.gap, result.n_iter) == (0.0, 0.0, 0)
    assert result.status == Status.OPTIMAL


@pytest.mark.parametrize("seed", range(4))
def test_rewards_that_intercepts_alone_meet_give_zero(seed):
    """The primal value 0 is reached to rounding, which no relative gap can certify."""
    a = np.random.default_rng(seed).normal(size=5)
    codes = np.arange(20) % 5
    R = a[codes][:, None] - a
    result = solve_multiclass(np.eye(20), codes, 5, 1.0, rewards=R)
    assert (result.status, result.objective) == (Status.OPTIMAL, 0.0)
    np.testing.assert_allclose(result.intercepts, a - a.mean(), atol=1e-12)


def test_rewards_of_the_own_class_are_not_read():
    K, codes, C, R = Problem(40, 3, "gaussian", 1.0, seed=6, varied=True).make()
    expected = solve_multiclass(K, codes, 3, C, rewards=R)
    R[np.arange(40), codes] = np.nan
    np.testing.assert_array_equal(solve_multiclass(K, codes, 3, C, rewards=R).alpha, expected.alpha)


@given(st.integers(2, 7), st.integers(0, 10**6), st.floats(0.0, 0.7), st.floats(-1.0, 2.0))
def test_intercepts_respect_every_edge_as_far_as_cycles_allow(n, seed, absent, level):
    rng = np.random.default_rng(seed)
    W = level + rng.normal(size=(n, n))
    W[rng.uniform(size=(n, n)) < absent] = HUGE
    mean, _ = least_mean_cycle(W, np.zeros(n + 1, np.int64))
    b = _potentials(W, mean)
    assert abs(b.sum()) < 1e-9
    outside = b[None, :] - b[:, None] - W  # b_l − b_k − W[k, l]
    outside[np.eye(n, dtype=bool)] = -HUGE
    assert outside.max() <= max(0.0, -mean) + 1e-9


def test_two_intercepts_are_in_the_middle_of_their_range():
    W = np.array([[HUGE, 3.0], [-1.0, HUGE]])  # b_1 − b_0 lies in [1, 3]
    np.testing.assert_allclose(_potentials(W, 1.0), [-1.0, 1.0])


def test_cycles_that_lead_nowhere_do_not_stop_the_steps():
    """Raising and lowering one α ascends by rounding at no curvature, and must not be taken for a step."""
    rng = np.random.default_rng(0)
    centres = 4.0 * rng.normal(size=(4, 10))
    codes = rng.integers(0, 4, 300)
    X = centres[codes] + rng.normal(size=(300, 10))
    result = solve_multiclass(X @ X.T, codes, 4, 100.0, tol=1e-6, max_iter=20_000)
    assert (result.status, result.n_iter < 2000) == (Status.OPTIMAL, True)


def test_value_of_the_gated_kernel_of_twelve_points():
    i = np.arange(1, 13)
    X = np.column_stack([np.sin(i), np.cos(2 * i)])
    V = np.array([[0.3, -0.2, 0.1], [-0.4, 0.5, 0.0]])
    opening = np.exp(np.column_stack([X, np.ones(12)]) @ V.T)
    eta = opening / opening.sum(axis=1, keepdims=True)
    K = sum(np.outer(e, e) * k for e, k in zip(eta.T, (X @ X.T, (X @ X.T + 1.0) ** 2), strict=True))
    result = solve_multiclass(K, (i - 1) % 3, 3, 0.5, tol=1e-9)
    assert result.objective == pytest.approx(12.860785, abs=1e-6)


@pytest.mark.parametrize("C", [1.0, 1e4])
def test_linear_kernels_do_not_crawl(C):
    """Newton steps on the free α: without them the larger C takes millions of steps."""
    K, codes, _, R = Problem(300, 4, "linear", C, seed=0).make()
    result = solve_multiclass(K, codes, 4, C, tol=1e-6, max_iter=500_000)
    check(result, K, codes, C, R, 1e-6)


@given(st.integers(4, 40), st.integers(2, 5), st.integers(1, 50), st.integers(0, 10**6))
def test_newton_steps_end_where_the_free_duals_are_stationary(size, n_classes, rank, seed):
    """Within the bounds, balanced, never worse; those that met a bound lie on it exactly."""
    rng = np.random.default_rng(seed)
    own = rng.integers(0, n_classes, size)
    turns = np.eye(n_classes)[own] - np.eye(n_classes)[(own + rng.integers(1, n_classes, size)) % n_classes]
    root = rng.normal(size=(size, rank))
    H, g = (root @ root.T) * (turns @ turns.T), rng.normal(size=size)
    upper = rng.uniform(0.5, 2.0, size)
    old = upper * rng.uniform(0.05, 0.95, size)
    new = _move_free(H, g, turns, old, upper, 2 * size)
    change = new - old
    assert ((new >= 0.0) & (new <= upper)).all()
    np.testing.assert_allclose(turns.T @ change, 0.0, atol=1e-11)
    assert g @ change + 0.5 * change @ H @ change <= 1e-12
    free = (new > 0.0) & (new < upper)
    slope = (g + H @ change)[free]
    if free.sum() > 2:  # the last two are left alone
        left = slope - turns[free] @ np.linalg.lstsq(turns[free], slope)[0]
        np.testing.assert_allclose(left, 0.0, atol=1e-5)


@pytest.mark.parametrize(("kind", "C"), [("linear", 1e3), ("gaussian", 1.0)])
def test_a_gap_that_rounding_forbids_ends_the_steps(kind, C):
    K, codes, C, _ = Problem(60, 4, kind, C, seed=3).make()
    result = solve_multiclass(K, codes, 4, C, tol=1e-17, max_iter=10**6)
    assert result.status == Status.STALLED
    assert result.gap < 1e-9


def test_separable_classes_reach_the_gap():
    K, codes, _, R = Problem(120, 4, "linear", 1e3, seed=0, separation=20.0).make()
    result = solve_multiclass(K, codes, 4, 1e3, tol=1e-6, max_iter=100_000)
    check(result, K, codes, 1e3, R, 1e-6)


def test_cap_on_steps_is_kept_and_the_gap_stays_honest():
    K, codes, C, R = Problem(100, 5, "gaussian", 10.0, seed=9).make()
    result = solve_multiclass(K, codes, 5, C, tol=1e-6, max_iter=37)
    assert (result.status, result.n_iter) == (Status.MAX_ITER, 37)
    _, dual, primal, outside = judge(K, codes, C, R, result.alpha, result.intercepts)
    assert outside < 1e-9
    assert result.gap == pytest.approx((primal - dual) / primal, rel=1e-9) and result.gap > 1e-3


def test_indefinite_kernel_is_reported():
    K, codes, C, _ = Problem(60, 3, "gaussian", 1.0, seed=7).make()
    bad = 3.0 * K - 2.0 * np.eye(60)  # similar pairs have negative curvature
    assert solve_multiclass(bad, codes, 3, C, max_iter=10_000).status == Status.INDEFINITE
    assert solve_multiclass(K - 2.0 * np.eye(60), codes, 3, C).status == Status.INDEFINITE
    assert solve_multiclass(K, codes, 3, C).status == Status.OPTIMAL


def test_nothing_given_is_changed_and_any_layout_is_read():
    K, codes, C, R = Problem(50, 4, "gaussian", 2.0, seed=11, varied=True).make()
    start = solve_multiclass(K, codes, 4, C, rewards=R, tol=0.1).alpha
    given = (K, codes, C, R, start)
    before = [a.copy() for a in given]
    for a in given:
        a.flags.writeable = False
    expected = solve_multiclass(K, codes, 4, C, rewards=R, start=start)
    for a, b in zip(given, before, strict=True):
        np.testing.assert_array_equal(a, b)
    for other in (np.asfortranarray(K), np.repeat(K, 2, axis=1)[:, ::2]):
        np.testing.assert_array_equal(
            solve_multiclass(other, codes, 4, C, rewards=R, start=start).alpha, expected.alpha
        )
    single = solve_multiclass(K.astype(np.float32), codes, 4, C, rewards=R, start=start)
    assert single.objective == pytest.approx(expected.objective, rel=2e-4)


@given(st.integers(2, 6), st.integers(0, 10**6), st.floats(0.0, 0.6))
def test_least_mean_cycle_is_the_least_of_all_cycles(n, seed, absent):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(n, n))
    W[rng.uniform(size=(n, n)) < absent] = HUGE
    best = np.inf
    for length in range(2, n + 1):
        for cycle in itertools.permutations(range(n), length):
            costs = [W[cycle[t - 1], cycle[t]] for t in range(length)]
            if max(costs) < 1e299:
                best = min(best, sum(costs) / length)
    classes = np.zeros(n + 1, np.int64)
    mean, length = least_mean_cycle(W, classes)
    if np.isinf(best):
        assert mean > 1e299 or length == 0
        return
    assert mean == pytest.approx(best, abs=1e-12)
    found = classes[:length]
    assert len(set(found.tolist())) == length
    assert np.mean([W[found[t - 1], found[t]] for t in range(length)]) == pytest.approx(best, abs=1e-12)


BAD = {
    "shape of K": ({"K": np.ones((3, 4))}, "K must be"),
    "codes of floats": ({"codes": np.zeros(4)}, "integers"),
    "one class": ({"n_classes": 1}, "at least 2"),
    "code too large": ({"codes": np.array([0, 1, 2, 1])}, "codes must lie in 0 .. 1"),
    "negative C": ({"C": -1.0}, "C must be"),
    "infinite C": ({"C": np.inf}, "C must be"),
    "C of another length": ({"C": np.ones(3)}, "C must be"),
    "rewards of another shape": ({"rewards": np.ones((4, 3))}, "rewards must have"),
    "rewards not finite": ({"rewards": np.full((4, 2), np.nan)}, "rewards must be finite"),
    "start of another shape": ({"start": np.zeros((4, 3))}, "start must have"),
    "start above C": ({"start": np.array([[0, 2.0], [0, 0], [2.0, 0], [0, 0]])}, "start must be feasible"),
    "start out of balance": ({"start": np.array([[0, 1.0], [0, 0], [0, 0], [0, 0]])}, "out of balance"),
    "start not a number": ({"start": np.full((4, 2), np.nan)}, "start must be feasible"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_named(case):
    changed, message = BAD[case]
    given = {"K": np.eye(4), "codes": np.array([0, 0, 1, 1]), "n_classes": 2, "C": 1.0} | changed
    with pytest.raises(ValueError, match=message):
        solve_multiclass(given.pop("K"), given.pop("codes"), given.pop("n_classes"), given.pop("C"), **given)

"""The learners by margin against their duals, written down for a conic solver, and what all of them keep."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from judges.optimum import conic_optimum
from multikernel.rules import (
    CappedMKL,
    EasyMKL,
    ElasticNetMKL,
    GroupMKL,
    LogPenaltyMKL,
    LowerBoundedMKL,
    MarginMKL,
    RadiusMargin,
    RadiusMarginProduct,
)
from multikernel.rules.margin.margin_mkl import share_penalty
from multikernel.rules.solver.radius import smallest_ball
from multikernel.rules.targets import class_targets
from tests.core.problems import Task, gaussian

C_OF_TESTS = 2.0
EPSILON, NU = 0.2, 0.4


def make_problem(n=24, seed=0, n_kernels=4):
    """Kernels of some scales, and two classes that the first kernels are related to."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    kernels = [
        gaussian(X, 0.2),
        2.0 * X[:, :2] @ X[:, :2].T,
        gaussian(X[:, 2:], 1.0),
        0.5 * (1.0 + X[:, 1:3] @ X[:, 1:3].T) ** 2,
        gaussian(X, 2.0),
    ]
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n) > 0, 1, -1)
    y[:3] = [1, 1, -1]
    return X, np.stack(kernels[:n_kernels]), y


def targets_of(task, n=24, seed=0):
    """(what fit is given as y, the tasks of the judge)."""
    X, _, y = make_problem(n, seed)
    if task == "classification":
        return y, [Task("hinge", y.astype(float), C_OF_TESTS)]
    if task == "three":
        codes = np.where(X[:, 0] > 0.5, 2, np.where(y > 0, 1, 0))
        return codes, [Task("hinge", np.where(codes == c, 1.0, -1.0), C_OF_TESTS) for c in range(3)]
    if task == "regression":
        values = np.sin(X[:, 0]) + 0.3 * X[:, 1]
        return values, [Task("svr", values, C_OF_TESTS, EPSILON)]
    return None, [Task("one_class", np.zeros(n), 1.0 / (NU * n))]


def roots_of(Ks):
    """Factors R_m with K_m = R_m R_m'."""
    roots = []
    for K in np.asarray(Ks, float):
        values, vectors = np.linalg.eigh(0.5 * (K + K.T))
        roots.append(vectors * np.sqrt(np.maximum(values, 0.0)))
    return roots


def dual_program(Ks, tasks, penalty):
    """max Σ S(β) − penalty(parts, conditions), where parts[m] are the R_m'β whose squares sum to q_m."""
    roots = roots_of(Ks)
    parts, conditions, reward = [[] for _ in roots], [], 0
    for task in tasks:
        lower, upper = task.box
        beta = cp.Variable(task.target.size)
        for bound, sign in ((upper, 1.0), (lower, -1.0)):
            finite = np.flatnonzero(np.isfinite(bound))
            if finite.size:
                conditions.append(sign * beta[finite] <= sign * bound[finite])
        conditions.append(cp.sum(beta) == task.total)
        reward += task.target @ beta - task.epsilon * cp.norm1(beta)
        reward -= 0.5 * cp.sum_squares(cp.multiply(np.sqrt(task.shift), beta))
        for m, root in enumerate(roots):
            parts[m].append(root.T @ beta)
    problem = cp.Problem(cp.Maximize(reward - penalty([cp.hstack(p) for p in parts], conditions)), conditions)
    return conic_optimum(problem)


def forms(parts):
    """q, from the parts."""
    return cp.hstack([cp.sum_squares(part) for part in parts])


def rewards_and_forms(Ks, tasks, duals):
    """Σ S(β) and q of duals, which have to be feasible: the lower bound needs no more."""
    reward, q = 0.0, np.zeros(len(Ks))
    for task, beta in zip(tasks, duals, strict=True):
        task.require_feasible(beta, rtol=1e-9)
        reward += task.reward(beta) - 0.5 * task.shift @ beta**2
        q += np.array([beta @ (K @ beta) for K in np.asarray(Ks, float)])
    return reward, q


def least_value(Ks, tasks, weights):
    """J(η) for given weights, by the conic solver."""
    return dual_program(Ks, tasks, lambda parts, conditions: 0.5 * (weights @ forms(parts)))


GROUPS = [[2, 0], [1, 3]]
FINE = {"C": C_OF_TESTS, "epsilon": EPSILON, "nu": NU, "tol": 1e-7}


def capped(total):
    def support(q):
        return np.sort(q)[::-1] @ np.clip(total - np.arange(q.size), 0.0, 1.0)

    def penalty(parts, conditions):
        level, excess = cp.Variable(nonneg=True), cp.Variable(len(parts), nonneg=True)
        conditions.append(forms(parts) <= level + excess)
        return 0.5 * (total * level + cp.sum(excess))

    def contains(eta):
        inside = eta.min() >= 0.0 and eta.max() <= 1.0 + 1e-12
        return inside and np.isclose(eta.sum(), total, rtol=1e-13, atol=0.0)

    return CappedMKL(total, **FINE), support, penalty, contains


def lower_bounded(lowest):
    def support(q):
        return lowest * q.mean() + (1.0 - lowest) * q.max()

    def penalty(parts, conditions):
        q = forms(parts)
        return 0.5 * (lowest / len(parts) * cp.sum(q) + (1.0 - lowest) * cp.max(q))

    def contains(eta):
        return np.isclose(eta.sum(), 1.0, rtol=1e-9) and eta.min() >= lowest / eta.size - 1e-12

    return LowerBoundedMKL(lowest, **FINE), support, penalty, contains


def conjugate(p):
    return 1.0 if np.isinf(p) else np.inf if p == 1.0 else p / (p - 1.0)


def mixed(inner, outer, costs=(1.0, 1.0)):
    a, b = (s / (2.0 - s) if s < 2.0 else np.inf for s in (inner, outer))
    sizes = np.array(costs) ** (2.0 / outer)

    def support(q):
        within = [np.linalg.norm(q[g], conjugate(a)) / d for g, d in zip(GROUPS, sizes, strict=True)]
        return np.linalg.norm(within, conjugate(b))

    def penalty(parts, conditions):
        q = forms(parts)
        within = [cp.norm(q[g], conjugate(a)) / d for g, d in zip(GROUPS, sizes, strict=True)]
        return 0.5 * cp.norm(cp.hstack(within), conjugate(b))

    def contains(eta):
        within = [np.linalg.norm(eta[g], a) * d for g, d in zip(GROUPS, sizes, strict=True)]
        return np.isclose(np.linalg.norm(within, b), 1.0, rtol=1e-9) and eta.min() >= 0.0

    learner = GroupMKL(GROUPS, inner=inner, outer=outer, costs=list(costs), **FINE)
    return learner, support, penalty, contains


def lp(norm, costs=(1.0, 1.0, 1.0, 1.0)):
    d2 = np.array(costs) ** 2

    def support(q):
        return np.linalg.norm(q / d2, conjugate(norm))

    def penalty(parts, conditions):
        return 0.5 * cp.norm(cp.multiply(1.0 / d2, forms(parts)), conjugate(norm))

    def contains(eta):
        return np.isclose(np.linalg.norm(eta * d2, norm), 1.0, rtol=1e-9) and eta.min() >= 0.0

    return MarginMKL(norm=norm, costs=list(costs), **FINE), support, penalty, contains


CASES = {
    "capped": lambda: capped(1.7),
    "capped, all": lambda: capped(4.0),
    "capped, below one": lambda: capped(0.6),
    "lower bounded": lambda: lower_bounded(0.3),
    "no lower bound": lambda: lower_bounded(0.0),
    "groups": lambda: mixed(4 / 3, 1.0, (1.0, 1.4)),
    "group lasso": lambda: mixed(2.0, 1.0),
    "sparse in groups": lambda: mixed(1.0, 2.0, (0.7, 1.0)),
    "smooth groups": lambda: mixed(1.5, 1.2),
    "simplex": lambda: lp(1.0),
    "lp": lambda: lp(1.5, (1.0, 2.0, 0.5, 1.0)),
}


@pytest.mark.parametrize(
    "case, task",
    [(case, "classification") for case in CASES]
    + [
        (case, task)
        for case in ("capped", "lower bounded", "groups", "lp")
        for task in ("regression", "unsupervised")
    ]
    + [(case, "three") for case in ("capped", "groups")],
)
def test_value_is_the_least_and_its_certificate_holds(case, task):
    learner, support, penalty, contains = CASES[case]()
    _, Ks, _ = make_problem()
    y, tasks = targets_of(task)
    learner.fit(list(Ks), y)
    assert learner.status_ == "optimal" and learner.dual_gap_ <= 1e-7
    assert contains(learner.kernel_weights_)
    best = dual_program(Ks, tasks, penalty)
    np.testing.assert_allclose(learner.objective_, best, rtol=1e-6)
    # from outside: the duals alone prove the bound that the gap states
    reward, q = rewards_and_forms(Ks, tasks, learner.dual_coef_)
    assert reward - 0.5 * support(q) >= learner.objective_ - 1.01e-7 * abs(learner.objective_)
    np.testing.assert_allclose(least_value(Ks, tasks, learner.kernel_weights_), best, rtol=1e-6)


@pytest.mark.parametrize(
    "reg, task",
    [(0.3, "classification"), (30.0, "classification"), (3.0, "regression"), (0.05, "unsupervised")],
)
def test_elastic_net_is_the_least_and_its_certificate_holds(reg, task):
    _, Ks, _ = make_problem(seed=1)
    y, tasks = targets_of(task, seed=1)
    center = 1.0 / len(Ks)

    def penalty(parts, conditions):
        level = cp.Variable()
        reach = cp.pos(0.5 * forms(parts) - level + 2.0 * reg * center)
        return level + cp.sum_squares(reach) / (4.0 * reg) - len(Ks) * reg * center**2

    learner = ElasticNetMKL(reg=reg, **FINE).fit(list(Ks), y)
    eta = learner.kernel_weights_
    assert learner.status_ == "optimal" and eta.min() >= 0.0
    np.testing.assert_allclose(eta.sum(), 1.0, rtol=1e-12)
    best = dual_program(Ks, tasks, penalty)
    np.testing.assert_allclose(learner.objective_, best, rtol=1e-6)
    here = least_value(Ks, tasks, eta) + reg * ((eta - center) ** 2).sum()
    np.testing.assert_allclose(here, best, rtol=1e-6)
    reward, q = rewards_and_forms(Ks, tasks, learner.dual_coef_)
    answer = cp.Variable(len(Ks), nonneg=True)
    least = cp.Problem(
        cp.Minimize(-0.5 * q @ answer + reg * cp.sum_squares(answer - center)), [cp.sum(answer) == 1]
    ).solve(solver=cp.CLARABEL)
    assert reward + least >= learner.objective_ - 2e-7 * abs(learner.objective_)


@pytest.mark.parametrize("case", ["capped", "lower bounded", "groups", "group lasso", "lp"])
def test_gap_is_a_bound_at_any_precision(case):
    learner, _, penalty, _ = CASES[case]()
    _, Ks, _ = make_problem(seed=6)
    y, tasks = targets_of("classification", seed=6)
    best = dual_program(Ks, tasks, penalty)
    for tol in (0.3, 1e-2, 1e-4):
        learner.set_params(tol=tol).fit(list(Ks), y)
        assert learner.objective_ >= best * (1.0 - 1e-8)
        assert learner.objective_ * (1.0 - learner.dual_gap_) <= best * (1.0 + 1e-8)


@pytest.mark.parametrize("total", [3.0, 4.7])
def test_kernels_of_very_different_use(total):
    """Quadratic forms that differ by ten orders: the bound must not be lost in their rounding."""
    _, Ks, y = make_problem(n=30, seed=7, n_kernels=5)
    scales = np.array([1.0, 1e-6, 1e4, 1e-9, 1e-3])
    learner = CappedMKL(total, C=100.0, tol=1e-6).fit(list(scales[:, None, None] * Ks), y)
    assert learner.status_ == "optimal" and learner.dual_gap_ <= 1e-6


def test_elastic_net_goes_from_margin_to_mean():
    _, Ks, y = make_problem()
    weights = [ElasticNetMKL(reg=reg, tol=1e-6).fit(list(Ks), y).kernel_weights_ for reg in (0.0, 1.0, 1e6)]
    sparse = MarginMKL(tol=1e-6).fit(list(Ks), y).kernel_weights_
    np.testing.assert_allclose(weights[0], sparse, atol=1e-2)
    np.testing.assert_allclose(weights[2], 0.25, atol=1e-4)
    assert np.ptp(weights[0]) > np.ptp(weights[1]) > np.ptp(weights[2])


def test_group_of_no_use_is_left_out_whole():
    _, Ks, y = make_problem()
    useless = np.random.default_rng(5).normal(size=(2, len(y), len(y)))
    noise = np.array([A @ A.T / len(y) for A in useless])
    learner = GroupMKL([["a", "b"], ["u", "v"]], C=0.01, tol=1e-6)
    learner.fit({"a": np.outer(y, y), "b": Ks[1], "u": 0.01 * noise[0], "v": 0.01 * noise[1]}, y)
    assert (learner.kernel_weights_[2:] < 1e-6).all() and (learner.kernel_weights_[:2] > 0.0).all()
    np.testing.assert_array_equal(learner.groups_, [0, 0, 1, 1])


# ---------------------------------------------------------------------- what all have in common
ONE_CLASS = [MarginMKL(), CappedMKL(), ElasticNetMKL(), GroupMKL(), LogPenaltyMKL(), LowerBoundedMKL()]


@pytest.mark.parametrize("learner", [*ONE_CLASS, EasyMKL(), RadiusMargin()], ids=lambda r: type(r).__name__)
def test_two_samples_are_enough(learner):
    assert learner.fit([np.eye(2), np.outer([1.0, -1.0], [1.0, -1.0])], [0, 1]).status_ == "optimal"


@pytest.mark.parametrize(
    "learner, message",
    [
        (MarginMKL(costs=[1.0, -1.0, 1.0, 1.0]), "costs must be 4 positive numbers"),
        (MarginMKL(nu=1.5), "nu must be at most 1"),
        (CappedMKL(total=5.0), "total must be at most the number of kernels, 4"),
        (LowerBoundedMKL(lowest=1.0), "lowest must be below 1"),
        (EasyMKL(reg=1.1), "reg must be at most 1"),
        (GroupMKL([[0, 1], [1, 2, 3]]), "each kernel once"),
        (GroupMKL([[0, 1], [2]]), "left out: \\['kernel-3'\\]"),
        (GroupMKL([[0, 1], [2, "x"]]), "got 'x'"),
        (GroupMKL([[0, 1, 2, 3], []]), "must not be empty"),
        (GroupMKL(inner=2.1), "inner must be between 1 and 2"),
        (GroupMKL(costs=[1.0]), "one for each of the groups"),
        (GroupMKL(groups=[1, 2]), "groups must be lists"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(learner, message):
    _, Ks, y = make_problem()
    with pytest.raises((TypeError, ValueError), match=message):
        learner.fit(list(Ks), y)


@pytest.mark.parametrize("learner", ONE_CLASS, ids=lambda learner: type(learner).__name__)
@pytest.mark.parametrize("scale", [1.0, 1e-6])
def test_samples_around_the_origin_have_the_one_class_value_zero(learner, scale):
    X = np.random.default_rng(0).normal(size=(30, 3))
    X -= X.mean(axis=0)
    for Ks in ([scale * np.outer(x, x) for x in X.T], [scale * X @ X.T]):
        learner.fit(Ks)
        assert learner.status_ == "optimal" and abs(learner.objective_) < 1e-12 * scale


def test_kernels_of_very_different_scale():
    Ks, y = np.stack([np.outer(x, x) for x in np.random.default_rng(0).normal(size=(3, 30))]), np.ones(30)
    y[::2] = -1.0
    Ks = Ks + 0.1 * np.eye(30)
    Ks[0] *= 1e8
    learner = GroupMKL(inner=1.0).fit(list(Ks), y)
    assert learner.status_ == "optimal"
    best = MarginMKL(tol=1e-5).fit(list(Ks), y).objective_
    assert learner.objective_ >= best * (1.0 - 1e-4)
    assert learner.objective_ * (1.0 - learner.dual_gap_) <= best * (1.0 + 1e-5)


def hull_program(Ks, y, balance):
    """γ and the minimum, by the conic solver."""
    K = sum(K * len(y) / np.trace(K) for K in Ks)
    (root,) = roots_of([K])
    gamma = cp.Variable(len(y), nonneg=True)
    value = (1.0 - balance) * cp.sum_squares(root.T @ cp.multiply(y, gamma)) + balance * cp.sum_squares(gamma)
    problem = cp.Problem(cp.Minimize(value), [cp.sum(gamma[y > 0]) == 1, cp.sum(gamma[y < 0]) == 1])
    least = conic_optimum(problem, tol=1e-11, enough=1e-9)
    return gamma.value, least


@pytest.mark.parametrize("balance", [1e-3, 0.1, 0.6, 0.999, 1.0])
def test_easy_mkl_has_the_points_and_weights_of_its_program(balance):
    _, Ks, y = make_problem(seed=3)
    learner = EasyMKL(balance, tol=1e-9).fit(list(Ks), y)
    gamma, best = hull_program(Ks, y, balance)
    np.testing.assert_allclose(learner.objective_, best, rtol=1e-7)
    assert learner.status_ == "optimal" and learner.dual_gap_ <= 2e-9
    points = learner.points_[0]
    assert (points >= 0.0).all()
    np.testing.assert_allclose([points[y > 0].sum(), points[y < 0].sum()], 1.0, rtol=1e-9)
    np.testing.assert_allclose(points, gamma, atol=1e-4)
    sizes = np.array([np.trace(K) / len(y) for K in Ks])
    forms = np.array([(y * gamma) @ K @ (y * gamma) for K in Ks]) / sizes
    np.testing.assert_allclose(learner.kernel_weights_ * sizes, forms / forms.sum(), atol=1e-4)


def test_gap_of_easy_mkl_is_a_bound_at_any_precision():
    _, Ks, y = make_problem(seed=4)
    _, best = hull_program(Ks, y, 0.05)
    for tol in (0.3, 1e-2, 1e-4):
        learner = EasyMKL(0.05, tol=tol).fit(list(Ks), y)
        assert best * (1.0 - 1e-9) <= learner.objective_
        assert learner.objective_ * (1.0 - learner.dual_gap_) <= best * (1.0 + 1e-9)


def primal_parts(Ks, task, duals, weights):
    """‖w_m‖ and the risk of the predictor of one machine, from the formulas."""
    norms = weights * np.sqrt([duals @ K @ duals for K in Ks])
    scores = np.tensordot(weights, Ks, 1) @ duals
    return norms, task.primal(scores, 0.0)


def log_penalty(norms, e):
    total = norms.sum()
    return total * np.log1p(norms / (e * total)).sum() / np.log1p(1.0 / e)


@pytest.mark.parametrize("task", ["classification", "regression", "unsupervised"])
@pytest.mark.parametrize("share", [0.02, 0.5])
def test_log_penalty_falls_to_a_stationary_point(task, share):
    _, Ks, _ = make_problem(seed=1)
    y, tasks = targets_of(task, seed=1)
    learner = LogPenaltyMKL(share=share, **FINE).fit(list(Ks), y)
    assert learner.status_ == "optimal" and learner.dual_gap_ <= 1e-7
    values = [entry["objective"] for entry in learner.history_]
    assert (np.diff(values) <= 0.0).all() and learner.objective_ == values[-1]
    norms, risk = primal_parts(Ks, tasks[0], learner.dual_coef_[0], learner.kernel_weights_)
    np.testing.assert_allclose(learner.part_norms_, norms, rtol=1e-9)
    np.testing.assert_allclose(learner.objective_, 0.5 * log_penalty(norms, share) ** 2 + risk, rtol=1e-9)
    # the convex function that touches the value at the point has its minimum there
    _, slopes = share_penalty(norms, share)
    np.testing.assert_allclose(learner.objective_, tangent_program(Ks, tasks[0], slopes), rtol=1e-6)


@given(arrays(float, 4, elements=st.one_of(st.just(0.0), st.floats(0.01, 9.0))), st.floats(0.01, 10.0))
def test_log_penalty_is_below_its_tangents_and_its_gradient_is_right(norms, e):
    if not norms.any():
        return
    value, slopes = share_penalty(norms, e)
    np.testing.assert_allclose([value, slopes @ norms], log_penalty(norms, e), rtol=1e-9)
    assert value >= norms.sum() * (1.0 - 1e-12) and (slopes > 0.0).all()
    others = np.random.default_rng(0).exponential(size=(5, 4)) * norms.max()
    for other in others:
        assert log_penalty(other, e) <= slopes @ other * (1.0 + 1e-12)
    inside, step = norms + 1.0, 1e-6
    _, slopes = share_penalty(inside, e)
    numeric = [
        (log_penalty(inside + step * one, e) - log_penalty(inside - step * one, e)) / (2 * step)
        for one in np.eye(4)
    ]
    np.testing.assert_allclose(slopes, numeric, rtol=1e-6)


def tangent_program(Ks, task, d):
    """min ½ (Σ d_m ‖w_m‖)² + risk: the penalty with its tangent, in the primal."""
    roots = roots_of(Ks)
    w = [cp.Variable(root.shape[1]) for root in roots]
    b = cp.Variable()
    f = sum(root @ part for root, part in zip(roots, w, strict=True)) + b
    C, y = task.sizes, task.target
    risk = {
        "hinge": lambda: C @ cp.pos(1.0 - cp.multiply(y, f)),
        "svr": lambda: C @ cp.pos(cp.abs(y - f) - task.epsilon),
        "one_class": lambda: C @ cp.pos(-f) + b,
    }[task.kind]()
    total = sum(d_m * cp.norm(part) for d_m, part in zip(d, w, strict=True))
    problem = cp.Problem(cp.Minimize(0.5 * cp.square(total) + risk))
    return problem.solve(solver=cp.CLARABEL, tol_gap_rel=1e-8, tol_gap_abs=1e-8)


def test_a_large_share_is_the_plain_norm_and_a_small_one_is_sparser():
    _, Ks, y = make_problem(n=40, seed=2, n_kernels=5)
    plain = MarginMKL(tol=1e-7).fit(list(Ks), y)
    smooth = LogPenaltyMKL(share=1e6, tol=1e-6).fit(list(Ks), y)
    np.testing.assert_allclose(smooth.objective_, plain.objective_, rtol=1e-5)
    sharp = LogPenaltyMKL(share=0.01).fit(list(Ks), y)
    assert np.count_nonzero(sharp.part_norms_ > 1e-6) < np.count_nonzero(plain.kernel_weights_ > 1e-6)


def test_log_penalty_has_nothing_to_learn():
    """Values within the tube need no kernel at all."""
    _, Ks, _ = make_problem()
    learner = LogPenaltyMKL(epsilon=5.0).fit(list(Ks), np.linspace(0.1, 1.3, 24))
    assert learner.status_ == "optimal" and learner.objective_ == 0.0


def saddle(Ks):
    """max over duals β and shares b of S(β) − ½ max_m q_m(β) / r_m(b)."""

    def penalty(parts, conditions):
        shares = cp.Variable(Ks.shape[1], nonneg=True)
        room = cp.Variable(len(Ks))
        conditions.append(cp.sum(shares) == 1)
        for m, (K, root) in enumerate(zip(Ks, roots_of(Ks), strict=True)):
            conditions.append(room[m] <= np.diag(K) @ shares - cp.sum_squares(root.T @ shares))
        return 0.5 * cp.max(cp.hstack([cp.quad_over_lin(part, room[m]) for m, part in enumerate(parts)]))

    return penalty


def tasks_of(kind, X, y):
    if kind == "soft":
        return 3.0, y, [Task("squared_hinge", y.astype(float), 3.0)]
    if kind == "hard":
        return np.inf, y, [Task("hard_margin", y.astype(float))]
    if kind == "three":
        codes = np.digitize(X[:, 0], [-0.4, 0.4])
        return 0.5, codes, [Task("squared_hinge", np.where(codes == c, 1.0, -1.0), 0.5) for c in range(3)]
    values = np.sin(X[:, 0]) + X[:, 1]
    return 2.0, values, [Task("svr", values, 2.0, 0.1)]


@pytest.mark.parametrize("kind", ["soft", "hard", "three", "regression"])
def test_radius_and_margin_have_the_least_value(kind):
    X, Ks, y = make_problem(n=20, seed=1, n_kernels=5)
    C, targets, tasks = tasks_of(kind, X, y)
    learner = RadiusMargin(C, tol=1e-7).fit(list(Ks), targets)
    assert learner.status_ == "optimal" and learner.dual_gap_ <= 1e-7
    np.testing.assert_allclose(learner.objective_, dual_program(Ks, tasks, saddle(Ks)), rtol=1e-6)
    # primal: feasible and on the boundary
    assert (learner.kernel_weights_ >= 0.0).all()
    ball = smallest_ball(np.tensordot(learner.kernel_weights_, Ks, 1), tol=1e-10)
    np.testing.assert_allclose(ball.squared_radius, 1.0, rtol=1e-7)
    # dual: duals and shares alone prove the bound
    b = learner.ball_
    assert (b >= 0.0).all() and abs(b.sum() - 1.0) < 1e-9
    reward, q = rewards_and_forms(Ks, tasks, learner.dual_coef_)
    r = np.array([b @ np.diag(K) - b @ K @ b for K in Ks])
    assert reward - 0.5 * (q / r).max() >= learner.objective_ * (1.0 - 1.1e-7)


def test_classes_that_no_kernel_separates_are_told():
    x = np.array([0.0, 0.0, 1.0, 2.0])
    for learner in (RadiusMargin, RadiusMarginProduct):
        with pytest.raises(ValueError, match=rf"^{learner.__name__}\(C=inf\) needs .* finite C"):
            learner(np.inf).fit([np.outer(x, x), 1.0 + np.outer(x, x)], [0, 1, 0, 1])


@pytest.mark.parametrize("kind", ["soft", "hard", "three"])
def test_the_product_of_radius_and_norm_is_stationary_and_meets_the_convex_form_at_hard_margins(kind):
    X, Ks, y = make_problem(n=20, seed=1, n_kernels=5)
    C, targets, tasks = tasks_of(kind, X, y)
    learner = RadiusMarginProduct(C, tol=1e-6).fit(list(Ks), targets)
    sizes = np.einsum("mii->m", Ks) / 20
    eta = learner.kernel_weights_
    assert (eta >= 0.0).all() and eta @ sizes == pytest.approx(1.0)
    K = np.tensordot(eta, Ks, 1)
    b, ridge = learner.ball_, 1.0 / C
    r = np.array([b @ np.diag(part) - b @ part @ b for part in Ks])
    radius = r @ eta + ridge * (1.0 - b @ b)
    assert radius == pytest.approx(smallest_ball(K + ridge * np.eye(20), tol=1e-10).squared_radius, rel=1e-6)
    reward, q = rewards_and_forms(Ks, tasks, learner.dual_coef_)
    norm = 2.0 * (reward - 0.5 * q @ eta)
    assert learner.objective_ == pytest.approx(radius * norm, rel=1e-6)
    slopes = (norm * r - radius * q) / sizes  # in shares of the simplex
    gap = (slopes @ (eta * sizes) - slopes.min()) / learner.objective_
    assert learner.dual_gap_ <= 1e-6 and gap == pytest.approx(learner.dual_gap_, abs=1e-5)
    if kind == "hard":
        convex = RadiusMargin(np.inf, tol=1e-7).fit(list(Ks), targets)
        assert learner.objective_ == pytest.approx(2.0 * convex.objective_, rel=1e-5)
        shares = [w * sizes / (w @ sizes) for w in (eta, convex.kernel_weights_)]
        np.testing.assert_allclose(*shares, atol=1e-2)


def test_infinite_price_is_for_classes_only():
    _, Ks, _ = make_problem()
    with pytest.raises(ValueError, match="C must be finite"):
        RadiusMargin(np.inf).fit(list(Ks), np.linspace(0.1, 1.3, 24))


def test_kernels_that_tell_nothing_apart():
    """A constant gets no weight; constants alone are refused."""
    _, Ks, y = make_problem(n=20, seed=4)
    flat = np.full((20, 20), 3.0)
    learner = RadiusMargin()
    learner.fit_stack(np.stack([flat, Ks[0]]), class_targets((y > 0).astype(int)))
    alone = RadiusMargin().fit([Ks[0]], y)
    assert learner.kernel_weights_[0] == 0.0
    np.testing.assert_allclose(learner.kernel_weights_[1], alone.kernel_weights_[0], rtol=1e-6)
    with pytest.raises(ValueError, match="no kernel tells the samples apart"):
        RadiusMargin().fit_stack(flat[None], class_targets((y > 0).astype(int)))

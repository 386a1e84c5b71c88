"""The learners by margin against their definitions, and what all of them have to keep."""

import cvxpy as cp
import numpy as np
import pytest

from multikernel.rules import (
    CappedMKL,
    EasyMKL,
    ElasticNetMKL,
    GroupMKL,
    LogPenaltyMKL,
    LowerBoundedMKL,
    MarginMKL,
    RadiusMargin,
)
from tests.rules.margin_reference import (
    C_OF_TESTS,
    EPSILON,
    NU,
    dual_program,
    forms,
    least_value,
    make_problem,
    rewards_and_forms,
    targets_of,
)

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
    [(case, "classes") for case in CASES]
    + [(case, task) for case in ("capped", "lower bounded", "groups", "lp") for task in ("values", "nothing")]
    + [(case, "three") for case in ("capped", "groups")],
)
def test_value_is_the_least_and_its_certificate_holds(case, task):
    learner, support, penalty, contains = CASES[case]()
    _, Ks, _ = make_problem()
    y, tasks = targets_of(task)
    before = Ks.copy()
    learner.fit(list(Ks), y)
    assert learner.status_ == "optimal" and learner.dual_gap_ <= 1e-7
    assert contains(learner.kernel_weights_)
    best = dual_program(Ks, tasks, penalty)
    np.testing.assert_allclose(learner.objective_, best, rtol=1e-6)
    # from outside: the duals alone prove the bound that the gap states
    reward, q = rewards_and_forms(Ks, tasks, learner.dual_coef_)
    assert reward - 0.5 * support(q) >= learner.objective_ - 1.01e-7 * abs(learner.objective_)
    np.testing.assert_allclose(least_value(Ks, tasks, learner.kernel_weights_), best, rtol=1e-6)
    np.testing.assert_array_equal(Ks, before)


@pytest.mark.parametrize(
    "reg, task", [(0.3, "classes"), (30.0, "classes"), (3.0, "values"), (0.05, "nothing")]
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
    y, tasks = targets_of("classes", seed=6)
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


def test_groups_of_one_exponent_are_an_lp_norm():
    _, Ks, y = make_problem(seed=2)
    grouped = GroupMKL(GROUPS, inner=4 / 3, outer=4 / 3, tol=1e-7).fit(list(Ks), y)
    plain = MarginMKL(norm=2.0, tol=1e-7).fit(list(Ks), y)
    np.testing.assert_allclose(grouped.objective_, plain.objective_, rtol=3e-7)
    np.testing.assert_allclose(grouped.kernel_weights_, plain.kernel_weights_, atol=1e-3)


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
        (MarginMKL(norm=0.5), "norm must be at least 1"),
        (MarginMKL(costs=[1.0, -1.0, 1.0, 1.0]), "costs must be 4 positive numbers"),
        (MarginMKL(nu=1.5), "nu must be at most 1"),
        (CappedMKL(total=5.0), "total must be at most the number of kernels, 4"),
        (LowerBoundedMKL(lowest=1.0), "lowest must be below 1"),
        (EasyMKL(balance=1.1), "balance must be at most 1"),
        (GroupMKL([[0, 1], [1, 2, 3]]), "each kernel once"),
        (GroupMKL([[0, 1], [2]]), "left out: \\['kernel-3'\\]"),
        (GroupMKL([[0, 1], [2, "x"]]), "got 'x'"),
        (GroupMKL([[0, 1, 2, 3], []]), "must not be empty"),
        (GroupMKL(inner=2.1), "inner must be between 1 and 2"),
        (GroupMKL(outer=0.9), "outer must be at least 1"),
        (GroupMKL(costs=[1.0]), "one for each of the groups"),
        (GroupMKL(costs="x"), "costs must be 4 positive numbers"),
        (GroupMKL(groups=3), "groups must be lists"),
        (GroupMKL(groups=[1, 2]), "groups must be lists"),
        (RadiusMargin(C=[1, 2]), "C must be a number"),
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

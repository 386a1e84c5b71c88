"""Linear constraints on the weights: optimum by a conic solver, certificate from outside, empty sets."""

import cvxpy as cp
import numpy as np
import pytest

from judges.optimum import conic_optimum
from multikernel.core.optim.loop import Status
from tests.transductive.solver.matrix_problems import (
    CRITERIA,
    WEIGHTS,
    judge,
    kernel,
    learn,
    make_case,
    optimal,
    reference_optimum,
)

INF = np.inf


def by_shares(case, rows, lower, upper):
    """The case with constraints on the members' parts of the trace, in units of the weights."""
    rows = np.asarray(rows, float)
    return case.but(limits=(rows * (case.r / case.c), np.asarray(lower, float), np.asarray(upper, float)))


def groups(case, *members):
    rows = np.zeros((len(members), len(case.stack)))
    for row, group in zip(rows, members, strict=True):
        row[list(group)] = 1.0
    return rows


def caps(case):
    """No member but the first above a fifth of the trace, and the second at least half of the third."""
    m = len(case.stack)
    tie = np.zeros(m)
    tie[1], tie[2] = 1.0, -0.5
    return by_shares(case, [*np.eye(m)[1:], tie], [-INF] * (m - 1) + [0.0], [0.2] * (m - 1) + [INF])


def budgets(case):
    """Two groups whose budgets are the whole trace: no inequality leaves room."""
    rest = 0.8 if case.learned else 1.0  # the identity of a learned C has its part too
    rows = groups(case, [0, 1], range(2, len(case.stack)))
    return by_shares(case, rows, [0.3 * rest if case.learned else -INF, -INF], [0.3 * rest, 0.7 * rest])


def excluded(case):
    """The first member may not take part."""
    return by_shares(case, groups(case, [0]), [0.0], [0.0])


def below_zero(case):
    """The second member must be negative: only weights of any sign can do it."""
    return by_shares(case, groups(case, [1]), [-INF], [-0.001])


MAKERS = {"caps": caps, "budgets": budgets, "excluded": excluded}
ALL = [(c, w, name) for c in CRITERIA for w in WEIGHTS for name in MAKERS]
FAST = {("soft1", "free", "caps"), ("soft2 learned", "free", "budgets"), ("soft1", "nonnegative", "budgets"),
        ("hard", "free", "budgets"), ("soft2", "spectral", "excluded"), ("hard", "nonnegative", "caps"),
        ("soft2", "nonnegative", "excluded")}  # fmt: skip


def marked(cases):
    return [pytest.param(*c, marks=() if c in FAST else pytest.mark.thorough) for c in cases]


def violation(case, result):
    """How far the weights are outside, in parts of the trace."""
    rows, lower, upper = case.limits
    values, size = rows @ result.weights, np.abs(rows * case.c / case.r).max(axis=1)
    return float(np.maximum((values - upper) / size, (lower - values) / size).max())


@pytest.mark.parametrize(("criterion", "weights", "name"), marked(ALL))
def test_the_optimum_is_that_of_the_program_and_the_gap_holds(criterion, weights, name):
    case = MAKERS[name](make_case(criterion, weights))
    result = optimal(case)
    assert violation(case, result) <= 1e-9
    upper, lower = judge(case, result)
    assert upper - lower <= 1e-6 * upper
    assert result.objective == pytest.approx(reference_optimum(case), rel=2e-7)


def test_a_member_may_be_forced_below_zero():
    case = below_zero(make_case("soft1", "free", seed=2))
    result = optimal(case)
    assert result.weights[1] * case.r[1] / case.c <= -0.001 + 1e-12
    assert result.objective == pytest.approx(reference_optimum(case), rel=2e-7)
    assert np.linalg.eigvalsh(kernel(case, result.weights))[0] >= -1e-9 * case.c


@pytest.mark.parametrize("weights", WEIGHTS)
def test_constraints_that_do_not_bind_change_nothing(weights):
    plain = make_case("soft2", weights)
    loose = by_shares(plain, np.eye(len(plain.stack)), [-90.0] * len(plain.stack), [90.0] * len(plain.stack))
    one, two = optimal(plain), optimal(loose)
    assert one.objective == pytest.approx(two.objective, rel=2e-8)
    np.testing.assert_allclose(one.weights * plain.r, two.weights * plain.r, atol=2e-3 * plain.c)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_sets_without_weights_are_known(weights):
    case = make_case("soft1", weights)
    m = len(case.stack)
    assert learn(by_shares(case, np.eye(m), [-INF] * m, [0.9 / m] * m)).status == Status.INFEASIBLE
    assert learn(by_shares(case, np.zeros((1, m)), [1.0], [INF])).status == Status.INFEASIBLE


@pytest.mark.parametrize("seed", range(6))
def test_feasibility_is_that_of_a_conic_solver(seed):
    """Weights of any sign, limits that may leave nothing: both answers occur."""
    rng = np.random.default_rng(seed)
    case = make_case("soft1", "free", seed=seed)
    rows = rng.normal(size=(2, len(case.stack)))
    middle = rows @ np.full(len(case.stack), 1.0 / len(case.stack))
    case = by_shares(case, rows, middle + [0.4, 1.6][seed % 2] * np.array([1.0, 0.2]), [INF, INF])
    shares = cp.Variable(len(case.stack))
    scaled = case.stack / case.r[:, None, None] * case.n
    depth = cp.Variable()
    K = sum(shares[i] * K for i, K in enumerate(scaled)) - depth * scaled.mean(axis=0)
    values = (case.limits[0] * case.c / case.r) @ shares
    bounded = values >= case.limits[1] + depth
    program = cp.Problem(cp.Maximize(depth), [cp.sum(shares) == 1, K >> 0, bounded, depth <= 1.0])
    assert (learn(case).status != Status.INFEASIBLE) == (conic_optimum(program, enough=1e-5) > 0.0)

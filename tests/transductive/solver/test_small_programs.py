"""Batches of small semidefinite programs, judged one by one by cvxpy."""

import cvxpy as cp
import numpy as np
import pytest

from multikernel.transductive.solver.complexity import Box, SmallPrograms


def random_programs(b, d, k, seed):
    rng = np.random.default_rng(seed)
    D = rng.normal(size=(b, d, k, k))
    D = D + np.swapaxes(D, 2, 3)
    Y = rng.normal(size=(d + 1, d))
    c = rng.uniform(-0.5, 0.5, d + 1)
    return D, rng.normal(size=(b, d)), Y, c


def judge(D, g, Y, c):
    x = cp.Variable(len(g))
    F = np.eye(D.shape[1]) + sum(x[j] * D[j] for j in range(len(g)))
    problem = cp.Problem(cp.Maximize(g @ x), [F >> 0, cp.abs(c + Y @ x) <= 2.0])
    return problem.solve(solver="CLARABEL")


def test_the_box_is_the_one_asked_for():
    _, _, Y, c = random_programs(1, 3, 2, 0)
    box = Box(Y, c, 2.0)
    for x in np.random.default_rng(1).normal(size=(200, 3)):
        assert (np.abs(c + Y @ x) <= 2.0).all() == (1.0 + box.rows @ x >= 0.0).all()


def test_multipliers_of_the_box_give_what_is_asked_for():
    _, r, Y, c = random_programs(5, 3, 2, 0)
    box = Box(Y, c, 2.0)
    z = box.multipliers(r)
    assert (z >= 0.0).all()
    np.testing.assert_allclose(z @ box.rows, r, atol=1e-12)


@pytest.mark.parametrize("d, k", [(1, 2), (3, 5), (4, 12), (6, 1)])
def test_optima_agree_with_cvxpy(d, k):
    """With k = 1 the matrices leave most directions free, so that the box is what bounds them."""
    D, g, Y, c = random_programs(4, d, k, d + k)
    programs = SmallPrograms(D, g, Box(Y, c, 2.0))
    programs.solve(np.full(4, 1e-8))
    for i in range(4):
        value = judge(D[i], g[i], Y, c)
        assert g[i] @ programs.x[i] == pytest.approx(value, abs=2e-7)
        assert programs.upper[i] == pytest.approx(value, abs=2e-7)
        F = np.eye(k) + np.tensordot(programs.x[i], D[i], 1)
        assert np.linalg.eigvalsh(F)[0] >= -1e-12


@pytest.mark.parametrize("tolerance", [1e3, 1.0, 1e-2, 1e-5])
def test_bounds_hold_wherever_it_stops(tolerance):
    D, g, Y, c = random_programs(5, 3, 4, 9)
    programs = SmallPrograms(D, g, Box(Y, c, 2.0))
    programs.solve(np.full(5, tolerance))
    for i in range(5):
        value = judge(D[i], g[i], Y, c)
        assert g[i] @ programs.x[i] - 1e-7 <= value <= programs.upper[i] + 1e-7
        assert programs.upper[i] - g[i] @ programs.x[i] <= tolerance


def test_programs_do_not_disturb_each_other():
    D, g, Y, c = random_programs(6, 3, 5, 3)
    together = SmallPrograms(D, g, Box(Y, c, 2.0))
    together.solve(np.full(6, 1e-6))
    alone = SmallPrograms(D[2:3], g[2:3], Box(Y, c, 2.0))
    alone.solve(np.full(1, 1e-6))
    np.testing.assert_allclose(together.x[2], alone.x[0], atol=1e-10)


def test_a_program_without_a_direction_stays_where_it_is():
    D, _, Y, c = random_programs(1, 3, 5, 4)
    programs = SmallPrograms(D, np.zeros((1, 3)), Box(Y, c, 2.0))
    programs.solve(np.full(1, 1e-7))
    assert 0.0 <= programs.upper[0] <= 1e-7

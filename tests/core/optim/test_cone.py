"""The entry point for Clarabel: solutions, multipliers, and its statuses in our words."""

import clarabel
import numpy as np
import pytest

from multikernel.core.optim import cone
from multikernel.core.optim.cone import Block, minimize, nonnegative, zero
from multikernel.core.optim.loop import Status


def simplex_blocks(n):
    return [Block(np.ones((1, n)), np.ones(1), zero(1)), Block(-np.eye(n), np.zeros(n), nonnegative(n))]


@pytest.mark.parametrize("seed", range(3))
def test_a_quadratic_program_meets_its_optimality_conditions(seed):
    rng = np.random.default_rng(seed)
    root, q = rng.normal(size=(6, 6)), rng.normal(size=6)
    P = root @ root.T
    answer = minimize(P, q, [*simplex_blocks(6), Block(np.zeros((0, 6)), np.zeros(0), nonnegative(0))])
    (y,), z = answer.multipliers
    assert answer.status == Status.OPTIMAL and answer.is_finite
    np.testing.assert_allclose(P @ answer.x + q + y - z, 0.0, atol=1e-8)
    assert z.min() > -1e-9 and abs(z @ answer.x) < 1e-8 and answer.x.sum() == pytest.approx(1.0)


def test_tolerances_are_followed():
    rng = np.random.default_rng(0)
    root, q = rng.normal(size=(20, 20)), rng.normal(size=20)
    P, blocks = root @ root.T, simplex_blocks(20)
    exact = minimize(P, q, blocks).x
    rough = minimize(P, q, blocks, tol_gap_rel=1e-2, tol_gap_abs=1e-2, tol_feas=1e-2).x
    assert 1e-8 < np.abs(rough - exact).max() < 0.5


def test_a_linear_program_and_programs_without_a_solution():
    answer = minimize(None, np.array([3.0, 1.0, 2.0]), simplex_blocks(3))
    np.testing.assert_allclose(answer.x, [0.0, 1.0, 0.0], atol=1e-8)
    below = Block(np.eye(1), -np.ones(1), nonnegative(1))
    above = Block(-np.eye(1), np.zeros(1), nonnegative(1))
    assert minimize(np.eye(1), np.zeros(1), [below, above]).status == Status.INFEASIBLE
    assert minimize(None, np.array([-1.0]), [above]).status == Status.INFEASIBLE
    assert minimize(np.eye(3), np.ones(3), simplex_blocks(3), max_iter=1).status == Status.MAX_ITER


def test_every_word_of_clarabel_for_an_end_is_translated():
    words = {name for name in dir(clarabel.SolverStatus) if name[0].isupper()}
    assert set(cone._STATUS) == words - {"Unsolved", "MaxTime", "CallbackTerminated"}  # none is asked for

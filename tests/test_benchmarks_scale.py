"""The benchmarks of scale: their judge against cvxpy, their rows, and what their page computes."""

from __future__ import annotations

from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest

from benchmarks.scale.data import N_VIEWS, make_rows, view_columns
from benchmarks.scale.objective import LOSSES, Problem, best_intercept, blocks_of, judge

OFFSETS = (0, 3, 5, 9)


def small_problem(loss, norm, C=0.7, n=40):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n, OFFSETS[-1]))
    score = Z[:, 0] - Z[:, 3] + 0.5 + rng.normal(size=n)
    y = score if loss == "squared" else np.where(score > 0, 1.0, -1.0)
    return Problem(blocks_of(Z), OFFSETS, y, C, loss, norm), Z


def optimum_by_cvxpy(problem, Z, width=0.0):
    """The least value and its coefficients; with `width`, of a hinge that is rounded over so much."""
    w, b = cp.Variable(OFFSETS[-1]), cp.Variable()
    f = Z @ w + b
    short = 1 - cp.multiply(problem.y, f)
    hinge = cp.huber(cp.pos(short + width / 2), width) / (2 * width) if width else cp.pos(short)
    losses = {
        "hinge": cp.sum(hinge),
        "squared_hinge": 0.5 * cp.sum_squares(cp.pos(short)),
        "squared": 0.5 * cp.sum_squares(problem.y - f),
    }
    norms = [cp.norm(w[i:j]) for i, j in pairwise(OFFSETS)]
    q = 2 if np.isinf(problem.norm) else 2 * problem.norm / (problem.norm + 1)
    penalty = cp.square(cp.norm(cp.hstack(norms), q))
    program = cp.Problem(cp.Minimize(0.5 * penalty + problem.C * losses[problem.loss]))
    program.solve(solver=cp.CLARABEL)
    return program.value, w.value


@pytest.mark.parametrize("norm", [1.0, 2.0, np.inf])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_judge_finds_the_optimum_of_cvxpy_with_hardly_a_gap(loss, norm):
    problem, Z = small_problem(loss, norm)
    value, w = optimum_by_cvxpy(problem, Z)
    assert judge(problem, w, bound=False).value == pytest.approx(value, rel=1e-6)
    _, rounded = optimum_by_cvxpy(problem, Z, width=0.003)
    verdict = judge(problem, rounded)
    assert verdict.lower <= value * (1 + 1e-7)
    assert verdict.gap < (5e-3 if loss == "hinge" else 1e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_bounds_hold_at_bad_coefficients_and_values_are_above(loss):
    problem, Z = small_problem(loss, 1.0)
    value, w = optimum_by_cvxpy(problem, Z)
    rng = np.random.default_rng(1)
    for spread in (0.01, 0.3, 3.0):
        verdict = judge(problem, w + spread * rng.normal(size=w.shape))
        assert verdict.lower <= value * (1 + 1e-7)
        assert verdict.value > value


@pytest.mark.parametrize("loss", LOSSES)
def test_no_intercept_is_better_than_the_best(loss):
    problem, Z = small_problem(loss, 1.0)
    f = Z @ np.linspace(-0.3, 0.4, OFFSETS[-1])
    b = best_intercept(problem, f)

    def total(intercept):
        left = problem.y - f - intercept
        short = np.maximum(0.0, 1.0 - problem.y * (f + intercept))
        return {"hinge": short.sum(), "squared_hinge": (short**2).sum(), "squared": (left**2).sum()}[loss]

    assert total(b) <= min(total(b + step) for step in (-1.0, -0.1, -1e-3, 1e-3, 0.1, 1.0)) + 1e-12


def test_coefficients_that_are_no_numbers_are_refused():
    problem, _ = small_problem("hinge", 1.0)
    with pytest.raises(ValueError, match="9 finite numbers"):
        judge(problem, np.full(9, np.nan))


def test_a_table_is_the_beginning_of_every_longer_one():
    short, long = make_rows(100), make_rows(20_000)
    assert np.array_equal(short.X, long.X[:100])
    assert np.array_equal(short.labels, long.labels[:100])
    assert np.array_equal(make_rows(20_000, seed=1).X[:5], long.X[:5]) is False
    assert np.concatenate([*map(view_columns, range(N_VIEWS))]).tolist() == list(range(long.X.shape[1]))
    assert 0.4 < np.mean(long.labels > 0) < 0.6

"""The benchmarks of scale: their judge against cvxpy, their rows, and what their page computes."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

from benchmarks.scale import extrapolate
from benchmarks.scale.data import N_VIEWS, make_rows, view_columns
from benchmarks.scale.objective import LOSSES, Problem, best_intercept, blocks_of, judge
from benchmarks.scale.ours import judge_result, solve
from benchmarks.scale.tasks import growth

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "_ext"))

import scale_results

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "scale.md"
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
def test_a_witness_gives_the_bound_and_the_coefficients_give_the_value(loss):
    problem, Z = small_problem(loss, 1.0)
    _, near = optimum_by_cvxpy(problem, Z, width=0.003)
    far = near + 0.3
    verdict = judge(problem, far, witness=near)
    assert verdict.value == judge(problem, far, bound=False).value
    assert verdict.lower == judge(problem, near).lower


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_judge_confirms_the_gap_that_the_solver_claims(loss, tol):
    problem, Z = small_problem(loss, 1.0, n=400)
    result = solve(Z, problem.y, problem, tol)
    verdict = judge_result(problem, result)
    assert verdict.value <= result.upper_bound * (1 + 1e-12)
    assert verdict.gap <= tol


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


@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_a_fit_is_taken_apart_and_judged(loss):
    record = growth.take(500, 8, loss, "float64", 1e-3)
    assert record["judged_gap"] <= 1e-3 and record["factors"]["wall"] + record["solver"]["wall"] > 0.0
    assert record["fit"]["wall"] >= record["factors"]["wall"]


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


# --- the extrapolation -------------------------------------------------------------------------------------

CONSTANTS = extrapolate.Constants(
    rank=100, columns=1000, factor_rows=1e4, gradient_rows=1e5, hessian_rows=1e4, back=2 * 10**6, out=8000,
    rounds=10, n_iter=6, round_base=0.01, round_per_chunk=0.001,
)  # fmt: skip


def test_the_terms_of_the_extrapolation_are_what_they_are_said_to_be():
    cluster = extrapolate.Cluster(machines=100, cores=16, bandwidth=1e9, latency=0.0, chunk_rows=10**6)
    found = extrapolate.extrapolate(10**9, CONSTANTS, cluster)
    assert found.factors == pytest.approx(10**9 / 1600 / 1e4)
    assert found.passes == pytest.approx(10 * 10**9 / 1600 / 1e4)
    assert found.scheduler == pytest.approx(10 * (0.01 + 0.001 * 1000))
    assert found.bytes_of_round == 1000 * (2 * 10**6 + 8000)
    assert found.network == pytest.approx(10 * found.bytes_of_round * 4 / 3 / 100 / 1e9)
    assert found.total == pytest.approx(found.factors + found.passes + found.scheduler + found.network)
    slower = extrapolate.extrapolate(10**9, CONSTANTS, replace(cluster, machines=50))
    assert slower.passes == pytest.approx(2 * found.passes)
    assert slower.network == pytest.approx(2 * found.network)


def test_the_cost_of_a_round_is_a_line_through_the_measured_ones():
    assert extrapolate.round_cost({"10": 0.03, "20": 0.05, "40": 0.09}) == pytest.approx((0.01, 0.002))
    assert extrapolate.round_cost({"10": 0.05, "20": 0.03}) == (pytest.approx(0.04), 0.0)


# --- the page of the guide ---------------------------------------------------------------------------------


def test_every_part_of_the_guide_that_is_made_of_results_has_its_maker():
    text = PAGE.read_text(encoding="utf-8")
    assert set(scale_results.MARK.findall(text)) == scale_results.PARTS.keys()
    assert not scale_results.MARK.search(scale_results.fill_in(text))

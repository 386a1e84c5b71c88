"""The small problem in R dimensions: derivatives, its minimum, the norm; narrower smoothings."""

import numpy as np
import pytest
from scipy.optimize import minimize

from multikernel.core.optim.weight_sets import LpBall
from multikernel.core.weights.factors.expansion import Parabola, expand
from multikernel.core.weights.factors.model import BlockNorm, QuadraticModel
from multikernel.core.weights.factors.passes import block_sums, line_sums
from multikernel.core.weights.factors.rounds import Line, Query
from multikernel.core.weights.factors.units import Units, thin
from multikernel.rows import Block
from tests.core.weights.factor_problems import KINDS, make_factors

OFFSETS = np.array([0, 2, 5, 6])


def make_model(norm, n_tasks=2, shared=False, seed=0):
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(1 if shared else n_tasks, 4, 6))  # of rank 4
    c = rng.normal(size=(n_tasks, 6))
    return QuadraticModel(roots.transpose(0, 2, 1) @ roots, c, BlockNorm(LpBall(norm), OFFSETS))


@pytest.mark.parametrize("shared", [False, True])
def test_derivatives_in_the_weights(shared):
    model, mu, step = make_model(1.0, shared=shared), np.array([0.5, 0.0, 0.5]), 1e-6
    here = model.at(mu)
    hessian = model.hessian_in_weights(here)
    for m in range(3):
        up = model.at(mu + step * np.eye(3)[m])
        np.testing.assert_allclose((up.value - here.value) / step, -0.5 * here.q[m], rtol=1e-4)
        np.testing.assert_allclose(-0.5 * (up.q - here.q) / step, hessian[m], rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("norm", [1.0, 1.3, 2.0, 10.0, np.inf])
def test_the_minimum_over_weights_and_coefficients(norm):
    model = make_model(norm)
    found = model.minimise(model.norm.weight_set.center(3), 1e-11)

    def value(flat):
        w = flat.reshape(2, 6)
        return sum(0.5 * x @ h @ x - c @ x for x, h, c in zip(w, model.hessian, model.c, strict=True)) + (
            model.norm.value(w)
        )

    assert found.gap <= 1e-10
    np.testing.assert_allclose(value(found.w.ravel()), found.value, rtol=1e-8)
    best = minimize(value, found.w.ravel() + 1e-3, method="Powell", options={"xtol": 1e-9, "ftol": 1e-14})
    assert found.value <= best.fun + 1e-10
    np.testing.assert_allclose(model.norm.weights(found.w), found.mu, atol=1e-5)


@pytest.mark.parametrize("norm", [1.0, 1.3, 2.0, np.inf])
def test_the_norm_is_a_minimum_over_weights_and_has_its_conjugate(norm):
    rng = np.random.default_rng(0)
    blocks = BlockNorm(LpBall(norm), OFFSETS)
    w, v = rng.normal(size=(2, 2, 6))
    mu = blocks.weights(w)
    np.testing.assert_allclose(blocks.value(w), 0.5 * (blocks.squares(w) / mu).sum())
    for other in rng.dirichlet(np.ones(3), size=20):
        assert (
            blocks.value(w) <= 0.5 * (blocks.squares(w) / blocks.weight_set.from_simplex(other)).sum() + 1e-12
        )
    assert blocks.value(w) + blocks.conjugate(v) >= np.vdot(w, v)
    slope = v * blocks.columns(blocks.weight_set.best_response(blocks.squares(v)))
    np.testing.assert_allclose(blocks.value(slope) + blocks.conjugate(v), np.vdot(slope, v))


@pytest.mark.parametrize("kind", KINDS)
def test_the_sums_of_a_block_by_differences(kind):
    problem = make_factors(kind, n_tasks=2, varied=True)
    block = Block(0, 0, (problem.Z, problem.targets, problem.prices))
    rng = np.random.default_rng(1)
    w, b, direction, slope = (
        rng.normal(size=(2, 14)),
        rng.normal(size=2),
        rng.normal(size=(2, 14)),
        rng.normal(size=2),
    )
    value, gradient, b_slope, second = expand(
        *Units(np.ones(14)).sums(block_sums(block, problem.loss, Query(w, b, (0.7,), True)))
    )
    step = 1e-5
    lengths = np.array([-step, 0.0, step])
    down, here, up = line_sums(block, problem.loss, Line(w, b, direction, slope, lengths, 0.7))
    np.testing.assert_allclose(here, value)
    np.testing.assert_allclose(
        (up - down) / (2.0 * step), np.vdot(gradient, direction) + b_slope @ slope, rtol=1e-5
    )
    curved = sum(
        d @ h @ d + 2.0 * s * (e @ d) + c * s * s
        for d, s, h, e, c in zip(direction, slope, *second, strict=True)
    )
    ends = [
        block_sums(block, problem.loss, Query(w + s * direction, b + s * slope, (0.7,), False))
        for s in lengths
    ]
    ends = [expand(end, second) for end in ends]
    change = np.vdot(ends[2].gradient - ends[0].gradient, direction) + (ends[2].slope - ends[0].slope) @ slope
    np.testing.assert_allclose(change / (2.0 * step), curved, rtol=1e-3)


@pytest.mark.parametrize("kind", ["hinge", "svr"])
def test_a_narrower_smoothing_of_the_same_rows(kind):
    """With all the rows inside both parabolas, the expansion is that of the narrower one."""
    problem = make_factors(kind, n_tasks=2)
    loss, units = problem.loss, Units(np.ones(14))
    if kind == "svr":
        problem.targets *= 0.01
    block = Block(0, 0, (problem.Z, problem.targets, problem.prices))
    wide, narrow = (
        units.sums(block_sums(block, loss, Query(np.full((2, 14), 0.01), np.zeros(2), (width,), True)))
        for width in (8.0, 4.0)
    )
    assert (narrow[0].inner[:, 0] == 60).all()
    found = expand(*wide).narrowed(wide[0], *(Parabola(width, loss.start(width)) for width in (8.0, 4.0)))
    expected = expand(*narrow)
    np.testing.assert_allclose(found.value, expected.value)
    np.testing.assert_allclose(found.gradient, expected.gradient, atol=1e-12)
    np.testing.assert_allclose(found.slope, expected.slope, atol=1e-12)
    for part, other in zip(found.second, expected.second, strict=True):
        np.testing.assert_allclose(part, other, atol=1e-12)


def test_a_part_of_the_rows_stands_for_all():
    """One in three, each counted three times, without the rhythm of rows that come in turns."""
    problem = make_factors("hinge", n=3000)
    turns = np.tile([[1.0], [-1.0]], (1500, 1))
    ((chosen,), (second,)) = (
        thin(Block(0, start, (problem.Z[start:], turns[start:], problem.prices[start:])), 3, 0)
        for start in (0, 1000)
    )
    Z, targets, prices = chosen.parts
    assert len(chosen) == 3000 and (prices == 3.0).all()
    np.testing.assert_allclose(prices.sum(), 3000.0, rtol=0.1)
    assert abs(targets.mean()) < 0.1
    np.testing.assert_array_equal(second.parts[0], Z[-second.parts[0].shape[0] :])

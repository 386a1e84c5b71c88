"""The interior-point method where rounding would decide: sizes far apart, against exact numbers and cvxpy."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose

from multikernel.core.optim.loop import Options, Status
from multikernel.core.stack.low_rank import Factor, Kernels
from multikernel.core.svm import interior_point
from multikernel.core.svm.barrier import make_task
from multikernel.core.svm.joint import newton
from multikernel.core.svm.joint.newton import root_of
from multikernel.core.svm.losses import EpsilonInsensitive, Hinge
from multikernel.core.weights import learn, second
from tests.core.svm.test_interior_point import (
    KINDS,
    dual_optimum,
    make_kernels,
    make_loss,
    make_table,
    raw_table,
    solve,
)


def exact_solution(rows, b):
    """(I + rows'rows)⁻¹b by elimination in fractions."""
    r = rows.shape[1]
    A = [[Fraction(int(i == j)) for j in range(r)] + [Fraction(float(b[i]))] for i in range(r)]
    for row in rows:
        values = [Fraction(float(value)) for value in row]
        for i in range(r):
            for j in range(r):
                A[i][j] += values[i] * values[j]
    for i in range(r):
        for k in range(i + 1, r):
            share = A[k][i] / A[i][i]
            A[k] = [x - share * y for x, y in zip(A[k], A[i], strict=True)]
    x = [Fraction(0)] * r
    for i in reversed(range(r)):
        x[i] = (A[i][r] - sum(A[i][j] * x[j] for j in range(i + 1, r))) / A[i][i]
    return np.array([float(value) for value in x])


@pytest.mark.parametrize("seed", range(5))
def test_the_root_holds_what_small_rows_determine(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(30, 6)) * 10.0 ** rng.choice([9.0, 4.0], size=(30, 1), p=[0.1, 0.9])
    b, root = rng.normal(size=6), root_of(rows)
    found = np.linalg.solve(root, np.linalg.solve(root.T, b))
    assert_allclose(found, exact_solution(rows, b), rtol=1e-7, atol=1e-9 * np.abs(found).max())


@pytest.mark.parametrize("p", (1.0, 2.0))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("low", [(), (0, 1), (0, 1, 2)], ids=["dense", "some factors", "factors"])
def test_the_equations_row_by_row_lead_to_the_value_of_cvxpy(monkeypatch, kind, p, low):
    asked = []

    def root(rows):
        asked.append(len(rows))
        return root_of(rows)

    monkeypatch.setattr(newton, "root_of", root)
    monkeypatch.setattr(interior_point, "root_of", root)
    monkeypatch.setattr(newton, "_PRECISE", -1.0)  # no last correction is small enough
    X, target = make_table()
    Ks, loss = make_kernels(X), make_loss(kind, target)
    found = solve(Ks, [loss], p, low)
    best = dual_optimum(Ks, loss, p)
    assert found.gap <= 1e-7
    assert found.upper == pytest.approx(best, rel=1e-5, abs=1e-6)
    assert bool(asked) == bool(low)


def test_the_changes_of_barrier_variables_sum_to_that_of_the_dual_variable():
    rng = np.random.default_rng(0)
    n = 40
    task = make_task(EpsilonInsensitive(rng.normal(size=n), 1e6, 0.1))
    free = rng.choice([-1.0, 1.0], size=n)
    # the variable of one sign is far from its bounds, that of the other is at 0
    theta = np.where(task.turn[:, 0] == free[task.sample], 1e-18, 1e10)
    curvature, rho = task.curvature(theta), rng.normal(size=theta.size)
    x = 1e3 * rng.normal(size=n)
    change = task.variables(x, task.right_side(rho, theta, curvature), rho, theta, curvature)
    assert_allclose(task.beta_of(change)[:, 0], x, rtol=1e-12)
    held = theta > 1.0
    scores = (task.right_side(rho, theta, curvature) - curvature * x)[task.sample]
    assert_allclose(change[held], ((rho - task.turn[:, 0] * scores) / theta)[held], rtol=1e-12, atol=1e-20)


def disagreeing(seed=0, n=80):
    """Two huge factors, weights, duals that are feasible, and a function that they nearly make."""
    rng = np.random.default_rng(seed)
    L = [rng.normal(size=(n, 6)) * 10.0 ** np.linspace(8.0, 0.0, 6), 1e7 * rng.normal(size=(n, 3))]
    factors = {m: Factor(part, basis=np.eye(part.shape[1])) for m, part in enumerate(L)}
    kernels = Kernels(np.empty((2, n, n)), np.array([2.0**-40, 2.0**-30]), factors)
    task, omega = make_task(Hinge(np.where(rng.random(n) < 0.5, 1.0, -1.0), 1e12)), np.array([0.7, 0.3])
    a = task.feasible(1e12 * rng.uniform(0.2, 0.8, size=n))
    split, beta = kernels.split(omega), task.beta_of(a)
    inner = [part * (1.0 + 1e-7 * rng.normal(size=part.shape)) for part in kernels.projected(beta)]
    theta = split.down(kernels.moved(omega, inner, 1))
    return kernels, task, omega, split, a, beta, split.inner(theta)


def test_the_mismatch_is_that_of_its_definition():
    kernels, _, omega, split, _, beta, inner = disagreeing()
    xi = split.up(split.down(kernels.moved(omega, inner, 1)))
    expected = split.G.T @ (xi - kernels.Q.T @ beta)
    found = kernels.mismatch(split, omega, beta, inner)
    assert_allclose(found, expected, rtol=1e-3, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(5))
def test_duals_move_to_where_they_agree_with_a_function(seed):
    kernels, task, omega, split, a, beta, inner = disagreeing(seed)
    unit = np.sqrt(kernels.n) / np.linalg.norm(split.G, axis=0).max()

    def mismatch(beta):
        return unit * kernels.mismatch(split, omega, beta, inner)

    moved = task.agreeing(a, kernels.Q @ (unit * split.G), mismatch)
    assert (moved >= 0.0).all() and (moved <= task.upper).all()
    after = task.beta_of(moved)
    assert abs(after.sum()) <= 1e-12 * moved.sum()
    assert np.linalg.norm(mismatch(after)) <= 1e-5 * np.linalg.norm(mismatch(beta))


def test_duals_stay_within_their_bounds_where_no_move_reaches_the_function():
    kernels, task, omega, split, a, _, inner = disagreeing()
    far = [100.0 * part for part in inner]
    unit = np.sqrt(kernels.n) / np.linalg.norm(split.G, axis=0).max()
    moved = task.agreeing(
        a, kernels.Q @ (unit * split.G), lambda beta: unit * kernels.mismatch(split, omega, beta, far)
    )
    assert moved is None or ((moved >= 0.0).all() and (moved <= task.upper).all())


def test_a_function_by_factors_whose_own_bound_is_useless_takes_duals_of_zero(monkeypatch):
    X, target = raw_table()
    Ks, loss = ((X @ X.T + 1.0) ** 2)[None], make_loss("hinge", target, 1e3)
    solved = second.solve

    def useless(*args, **settings):
        found = solved(*args, **settings)
        return found._replace(lower=-1e5 * found.upper, gap=1e5)

    certified = learn.learn_weights(Ks, [loss], options=Options(tol=1e-3))
    monkeypatch.setattr(second, "solve", useless)
    result = learn.learn_weights(Ks, [loss], options=Options(tol=1e-3))
    assert result.status == Status.STALLED and (result.gap, result.lower_bound) == (1.0, 0.0)
    assert not result.duals.any() and result.factors  # the duals whose bound the result names
    assert result.upper_bound == certified.upper_bound  # and the function that was found
    dense = replace(result, factors={}, duals=np.ones_like(result.duals), gap=1e5)
    assert learn._no_worse_than_a_constant(dense, [loss]).duals.all()  # these make the function

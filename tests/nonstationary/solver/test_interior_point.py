"""The interior point method: its matrices and linear systems; shrinking never changes the optimum."""

from dataclasses import replace
from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest

from multikernel.core.optim.loop import Status
from multikernel.nonstationary.solver import working_set
from multikernel.nonstationary.solver.interior_point import ReducedSystem, interior_point
from multikernel.nonstationary.solver.projection import dense_program, select
from multikernel.nonstationary.solver.working_set import likely, project_interior
from tests.nonstationary.solver.mixture_problems import EACH_MODE, dual_matrices, dual_value, make_problem


def some(problem, share, seed=0):
    """Random masks shaped as the duals, with every component of both mixtures in them; whole samples."""
    rng = np.random.default_rng(seed)
    masks = []
    for side in (0, 1):
        shape = len(problem.q[side]), len(problem.kernels[1 - side])
        mask = rng.random(shape) < share
        if problem.mode == "full":
            mask[:] = mask[:, :1]
        mask[:3] = True
        masks.append(mask)
    return masks[0], masks[1]


# --- the program on some variables -------------------------------------------------------------------------


@EACH_MODE
def test_the_program_is_a_part_of_the_matrices(mode):
    problem = make_problem(n=14, unit=False, spread=True, mode=mode)
    masks = some(problem, 0.5)
    variables = select(masks)
    program = dense_program(problem.projection, variables)
    H, f, A = dual_matrices(problem)
    chosen = np.flatnonzero(np.concatenate([masks[0].ravel(), masks[1].ravel()]))
    np.testing.assert_allclose(program.H, H[np.ix_(chosen, chosen)], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(program.f, f[chosen], rtol=1e-12)
    np.testing.assert_allclose(program.A, A[:, chosen], rtol=1e-12)
    bounds = np.concatenate([problem.C[rows] for rows in problem.rows])
    sample = np.concatenate([np.nonzero(masks[0])[0], len(masks[0]) + np.nonzero(masks[1])[0]])
    np.testing.assert_array_equal(program.C[program.group], bounds[sample])
    u = np.random.default_rng(1).random(chosen.size)
    duals = variables.spread(u)
    np.testing.assert_array_equal(variables.gather(duals), u)
    assert not duals[0][~masks[0]].any() and not duals[1][~masks[1]].any()
    assert program.dual(u, program.H @ u) == pytest.approx(dual_value(problem, duals), rel=1e-12)
    total = np.array([u[program.group == g].sum() for g in range(program.C.size)])
    np.testing.assert_allclose(program.total(u), total, rtol=1e-14)
    e = 3.0 * np.random.default_rng(2).normal(size=u.size)
    parts = [e[program.group == g] for g in range(program.C.size)]
    top = [np.log(np.exp(part).sum()) if mode == "full" else part.max() for part in parts]
    np.testing.assert_allclose(program.slacks(e), np.maximum(top, 0.0), rtol=1e-12)


def optimum_by_cvxpy(program):
    """The optimal value of the program, which is the dual of a part of the projection."""
    u = cp.Variable(program.f.size, nonneg=True)
    sums = np.equal.outer(np.arange(program.C.size), program.group).astype(float)
    values, vectors = np.linalg.eigh(program.H)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    value = program.f @ u - 0.5 * cp.sum_squares(root @ u)
    if program.entropic:
        value = value - cp.sum(cp.rel_entr(u, sums.T @ (sums @ u)))
    constraints = [program.A @ u == 0, sums @ u <= program.C]
    return float(cp.Problem(cp.Maximize(value), constraints).solve(solver=cp.CLARABEL))


@EACH_MODE
@pytest.mark.parametrize("C", [0.5, 50.0])
def test_a_part_is_solved_and_then_solved_better(mode, C):
    problem = make_problem(n=20, C=C, mode=mode, spread=True, seed=3)
    program = dense_program(problem.projection, select(some(problem, 0.4)))
    method = interior_point(program)
    rough = method.follow(1e-2)
    n_rough = method.n_iter
    fine = method.follow(1e-9)
    assert rough.status == fine.status == Status.OPTIMAL
    assert 0 < n_rough < method.n_iter < 60
    assert (fine.u >= 0.0).all() and (program.total(fine.u) <= program.C * (1.0 + 1e-9)).all()
    assert np.abs(program.A @ fine.u).max() <= 1e-8 * (1.0 + fine.u.sum())
    value = optimum_by_cvxpy(program)
    assert program.dual(fine.u, program.H @ fine.u) == pytest.approx(value, abs=1e-6 * (1.0 + abs(value)))
    e = program.f - program.H @ fine.u + program.A.T @ fine.y
    primal = 0.5 * fine.u @ program.H @ fine.u + program.C @ program.slacks(e)
    assert primal == pytest.approx(value, abs=1e-6 * (1.0 + abs(value)))


def test_the_linear_system_is_that_of_its_blocks():
    rng = np.random.default_rng(0)
    start = np.array([0, 3, 4, 6, 9])
    n, p = 9, 2
    H = rng.normal(size=(n, 5))
    H = H @ H.T
    A = rng.normal(size=(p, n))
    V, D = np.zeros((2, n, 3))
    V_full, D_full = np.zeros((2, n, n))
    for first, end in pairwise(start):
        size, rows = end - first, slice(first, end)
        block = rng.normal(size=(size, size))
        V[rows, :size] = V_full[rows, rows] = rng.normal(size=(size, size)) + 2.0 * np.eye(size)
        D[rows, :size] = D_full[rows, rows] = block @ block.T + np.eye(size)
    system = ReducedSystem(H, A, start)
    assert system.factor(V, D)
    b, r = rng.normal(size=n), rng.normal(size=p)
    x, y = system.solve(b, r)
    np.testing.assert_allclose(system.forward(x), V_full @ x, rtol=1e-12)
    np.testing.assert_allclose(system.backward(b), V_full.T @ b, rtol=1e-12)
    np.testing.assert_allclose((V_full.T @ H @ V_full + D_full) @ x - V_full.T @ A.T @ y, b, atol=1e-8)
    np.testing.assert_allclose(A @ V_full @ x, r, atol=1e-8)
    D[2, 1] = np.inf
    assert not system.factor(V, D)


# --- shrinking ---------------------------------------------------------------------------------------------


@pytest.fixture
def parts(monkeypatch):
    """Small parts from the start, and the masks of every part that was solved."""
    seen = []

    def spy(masks):
        seen.append((masks[0].copy(), masks[1].copy()))
        return select(masks)

    for name, value in (("_SMALL", 0), ("_FIRST", 12), ("_MORE", 6), ("_GROWTH", 0.2)):
        monkeypatch.setattr(working_set, name, value)
    monkeypatch.setattr(working_set, "select", spy)
    return seen


def n_variables(masks):
    return int(masks[0].sum() + masks[1].sum())


@EACH_MODE
@pytest.mark.parametrize("C", [1.0, 1e3])
@pytest.mark.parametrize("unit", [True, False])
def test_shrinking_does_not_change_the_optimum(parts, mode, C, unit):
    for seed in range(3):
        problem = make_problem(n=60, kernels=((0, 1, 2), (0, 2)), C=C, mode=mode, unit=unit, seed=seed)
        projection = problem.projection
        whole = np.ones((len(problem.q[0]), 2), bool), np.ones((len(problem.q[1]), 3), bool)
        at_once = project_interior(projection, masks=whole)
        assert len(parts) == 1
        parts.clear()
        found = project_interior(projection)
        assert found.status == at_once.status == Status.OPTIMAL
        assert found.error == max(abs(found.gap), found.imbalance) <= 1e-8
        assert found.dual == pytest.approx(at_once.dual, abs=2e-8 * (1.0 + abs(at_once.dual)))
        sizes = [n_variables(masks) for masks in parts]
        assert len(sizes) > 1 and sizes[0] < 0.2 * n_variables(whole)
        assert mode == "full" or max(sizes) < n_variables(whole)
        for masks in parts:
            for mask in masks:
                assert (mask.sum(axis=0) >= 3).all()  # every component is held down
                if mode == "full":
                    assert (mask == mask[:, :1]).all()
        parts.clear()


def test_variables_that_went_while_the_solution_was_rough_come_back(parts):
    returned = 0
    for seed in range(6):
        problem = make_problem(n=60, kernels=((0, 1, 2), (0, 2)), C=10.0, seed=seed)
        found = project_interior(problem.projection)
        assert found.status == Status.OPTIMAL
        for side in (0, 1):
            states = np.stack([masks[side] for masks in parts]).astype(int)
            gone = (np.diff(states, axis=0) < 0).any(axis=0)
            returned += int((gone & (found.duals[side] > 1e-4)).sum())
        parts.clear()
    assert returned > 0


@EACH_MODE
@pytest.mark.parametrize("missing", [0, 1])
def test_a_part_that_misses_a_needed_component_gets_it(mode, missing):
    problem = make_problem(n=40, kernels=((0, 2), (0, 2)), C=5.0, mode=mode, seed=4)
    projection = problem.projection
    best = project_interior(projection)
    masks = tuple(np.ones((len(part), 2), bool) for part in problem.q)
    for mask in masks:
        mask[:, missing] = False
    before = masks[0].copy(), masks[1].copy()
    found = project_interior(projection, masks=masks)
    assert found.status == Status.OPTIMAL
    assert found.dual == pytest.approx(best.dual, rel=2e-8)
    assert all(part[:, missing].max() > 1e-3 for part in found.duals)
    np.testing.assert_array_equal(masks[0], before[0])
    np.testing.assert_array_equal(masks[1], before[1])


@EACH_MODE
def test_samples_without_any_variable_count_by_what_they_fall_short(mode):
    """Masks of a few samples near the start of each class: the rest is found missing and added."""
    problem = make_problem(n=80, kernels=((0, 2), (0, 1, 2)), C=2.0, mode=mode, seed=5)
    masks = np.zeros((len(problem.q[0]), 3), bool), np.zeros((len(problem.q[1]), 2), bool)
    masks[0][:2], masks[1][:2] = True, True
    found = project_interior(problem.projection, masks=masks)
    assert found.status == Status.OPTIMAL
    assert found.dual == pytest.approx(project_interior(problem.projection).dual, rel=3e-8)


@EACH_MODE
def test_what_is_likely_to_matter_next_time_holds_what_matters_now(mode):
    problem = make_problem(n=60, kernels=((0, 1, 2), (0, 2)), C=3.0, mode=mode, seed=6)
    projection = problem.projection
    found = project_interior(projection)
    masks = likely(projection, found)
    for mask, dual in zip(masks, found.duals, strict=True):
        assert mask[dual > 1e-5 * dual.max()].all()
        assert mode != "full" or (mask == mask[:, :1]).all()
    assert n_variables(masks) < 0.9 * (masks[0].size + masks[1].size)
    again = project_interior(projection, masks=masks)
    assert again.status == Status.OPTIMAL and again.dual == pytest.approx(found.dual, rel=3e-8)


@pytest.mark.parametrize("mode", ["qp", "hard"])
@pytest.mark.parametrize("C", [1e2, 1e4])
def test_posteriors_of_zero_and_one_with_a_large_bound(mode, C):
    for seed in range(6):
        problem = make_problem(n=24, kernels=((0, 2, 3), (0, 2, 3)), C=C, mode=mode, seed=seed)
        raised = tuple((np.eye(3)[part.argmax(axis=1)] + 1e-8) / (1.0 + 3e-8) for part in problem.q)
        projection = problem.with_posteriors(raised).projection
        found = project_interior(projection, tol=1e-7)
        assert found.status == Status.OPTIMAL, (seed, found.gap, found.imbalance)


def test_an_answer_that_is_out_of_balance_is_never_preferred(parts, monkeypatch):
    problem = make_problem(n=50, kernels=((0, 1, 2), (0, 1, 2)), C=1.0, seed=1)
    solve, answers = working_set._Part.solve, []

    def rough(part, accuracy, n_before):
        found = solve(part, accuracy, n_before)
        if not answers:  # a dual value above the primal one: the smallest gap of all
            found = replace(found, dual=2.0 * found.primal, imbalance=0.1, status=Status.STALLED)
        answers.append(found)
        return found

    monkeypatch.setattr(working_set._Part, "solve", rough)
    found = project_interior(problem.projection, tol=1e-6)
    assert len(answers) > 1 and answers[0].gap < found.gap
    assert found.duals is answers[-1].duals and found.status == Status.OPTIMAL


def test_a_program_that_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr("multikernel.nonstationary.solver.projection._LARGE", 0)
    monkeypatch.setattr("multikernel.nonstationary.solver.projection.available_memory", lambda: 10_000)
    projection = make_problem(n=30, kernels=((0, 1), (0, 1)), C=1.0, mode="qp", unit=True).projection
    with pytest.raises(ValueError, match=r'60 pairs .* solver="smo"'):
        project_interior(projection)

"""The SMO of the projection: its single steps, what they cannot do alone, and the Newton steps that can."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.conic.nonstationary import project_conic
from multikernel.core.optim.loop import Status
from multikernel.nonstationary.solver import newton
from multikernel.nonstationary.solver.components import (
    State,
    duals_of,
    imbalance_of,
    rescore,
    setting_of,
    start_of,
)
from multikernel.nonstationary.solver.components import dual_value as value_of_state
from multikernel.nonstationary.solver.face import delete, face_of, insert, newton_step
from multikernel.nonstationary.solver.newton import best_vertex, keep_at_bound
from multikernel.nonstationary.solver.smo import (
    inter_class,
    intra_class_equal,
    intra_class_unequal,
    kinships,
    project_smo,
    sweeps,
    take,
)
from multikernel.nonstationary.solver.working_set import project_interior
from tests.nonstationary.solver.mixture_problems import (
    Problem,
    dual_matrices,
    dual_value,
    make_kernels,
    make_problem,
    primal_by_cvxpy,
    shifted_margins,
    stacked,
    uniform,
)

KINDS = ("inter", "unequal", "equal")


def _begun(problem, n_sweeps=1):
    """Setting, state after some sweeps, and which samples have equal posteriors."""
    setting = setting_of(problem.projection)
    state = start_of(setting)
    kin = kinships(setting)
    for _ in range(n_sweeps):
        sweeps(setting, state, kin, 1)
    return setting, state, kin


def _copy(state):
    return State(*(part.copy() for part in state))


def _steps(setting, state, kin, i):
    """The best step of each kind of one sample."""
    found = {
        "inter": inter_class(setting, state, i, np.empty((3, state.totals.size))),
        "unequal": intra_class_unequal(setting, state, i),
    }
    if kin[i] >= 0:
        found["equal"] = intra_class_equal(setting, state, kin, i)
    return {kind: step for kind, step in found.items() if step.gain > 0.0}


def _problem(seed, equal):
    """Different bounds and numbers of components; all posteriors equal where only that allows equal steps."""
    problem = make_problem(n=14, kernels=((0, 1), (0, 2, 1)), C=2.0, unit=False, spread=True, seed=seed)
    return problem.with_posteriors(uniform(problem)) if equal else problem


@given(seed=st.integers(0, 200), equal=st.booleans(), n_sweeps=st.integers(0, 3))
def test_every_kind_of_step_stays_feasible_and_gains_what_it_says(seed, equal, n_sweeps):
    problem = _problem(seed, equal)
    projection = problem.projection
    H, f, A = dual_matrices(problem)
    setting, state, kin = _begun(problem, n_sweeps)
    for i in range(problem.y.size):
        for step in _steps(setting, state, kin, i).values():
            after = _copy(state)
            take(setting, after, i, step)
            u, v = stacked(duals_of(projection, state)), stacked(duals_of(projection, after))
            gain = f @ v - 0.5 * v @ H @ v - (f @ u - 0.5 * u @ H @ u)
            assert gain == pytest.approx(step.gain, rel=1e-6, abs=1e-9)
            assert gain > -1e-10
            assert (v >= 0.0).all()
            assert np.abs(A @ v).max() < 1e-12
            np.testing.assert_allclose(after.totals, after.duals.sum(axis=0), atol=1e-13)
            assert (after.totals <= problem.C + 1e-12).all()
            anew = _copy(after)
            rescore(setting, anew)
            np.testing.assert_allclose(after.scores, anew.scores, atol=1e-9)
            np.testing.assert_allclose(after.own, anew.own, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_is_as_long_as_an_exact_line_search_says(kind):
    """Further in either direction the value falls, or the step has met a bound."""
    seen = {"inside": 0, "at a bound": 0}
    for seed in range(6):
        problem = _problem(seed, kind == "equal")
        projection = problem.projection
        H, f, _ = dual_matrices(problem)
        setting, state, kin = _begun(problem)
        u = stacked(duals_of(projection, state))
        for i in range(problem.y.size):
            step = _steps(setting, state, kin, i).get(kind)
            if step is None:
                continue
            after = _copy(state)
            take(setting, after, i, step)
            v = stacked(duals_of(projection, after))
            direction = (v - u) / np.abs(v - u).max()
            h = 1e-6
            values = [f @ w - 0.5 * w @ H @ w for w in (v - h * direction, v, v + h * direction)]
            slope, scale = (values[2] - values[0]) / (2.0 * h), 1.0 + abs(values[1])
            beyond = v + h * direction
            totals = np.concatenate([part.sum(axis=1) for part in _as_pair(problem, beyond)])
            bounds = np.concatenate([problem.C[rows] for rows in problem.rows])
            if (beyond < 0.0).any() or (totals > bounds).any():
                seen["at a bound"] += 1
                assert slope > -1e-6 * scale
            else:
                seen["inside"] += 1
                assert abs(slope) < 1e-6 * scale
    assert min(seen.values()) > 0


def _as_pair(problem, u):
    n_first = problem.rows[0].size * len(problem.kernels[1])
    return u[:n_first].reshape(-1, len(problem.kernels[1])), u[n_first:].reshape(-1, len(problem.kernels[0]))


def test_an_inter_class_step_is_with_the_best_partner():
    """By trying every partner, with lengths where the value is largest by its matrices."""
    problem = _problem(3, False)
    projection = problem.projection
    H, f, _ = dual_matrices(problem)
    setting, state, kin = _begun(problem)
    u = stacked(duals_of(projection, state))
    for i in range(problem.y.size):
        best = 0.0
        for w in np.flatnonzero(problem.y != problem.y[i]):
            move = np.zeros_like(state.duals)
            move[:, i], move[:, w] = setting.shares[:, w], setting.shares[:, i]
            moved = move > 0.0
            high = (problem.C - state.duals.sum(axis=0))[[i, w]].min()
            low = -(state.duals[moved] / move[moved]).min()
            d = stacked(duals_of(projection, State(move, state.scores, state.own, state.totals)))
            s = np.clip((f - H @ u) @ d / (d @ H @ d), low, high)
            best = max(best, s * ((f - H @ u) @ d) - 0.5 * s * s * (d @ H @ d))
        step = _steps(setting, state, kin, i).get("inter")
        assert (0.0 if step is None else step.gain) == pytest.approx(best, rel=1e-6, abs=1e-9)


def test_alone_the_steps_stall_short_of_the_optimum():
    """2000 more sweeps change nothing; the Newton steps close the gap from where they stand."""
    problem = make_problem(n=16, kernels=((0, 2), (0, 2)), C=10.0, seed=1)
    optimum = primal_by_cvxpy(problem)
    setting, state, kin = _begun(problem, 500)
    first = value_of_state(setting, state)
    for _ in range(2000):
        sweeps(setting, state, kin, 1)
    rescore(setting, state)
    last = value_of_state(setting, state)
    assert last - first < 1e-9 * optimum
    assert optimum - last > 1e-2 * optimum
    _, _, status = newton.certify(setting, state, 1e-8, 100)
    assert status == Status.OPTIMAL
    assert value_of_state(setting, state) == pytest.approx(optimum, rel=1e-6)


@given(
    seed=st.integers(0, 10_000),
    kernels=st.sampled_from([((0, 1), (0, 1, 2)), ((2, 3, 0), (1,)), ((0, 0), (0, 0, 0)), ((2, 2), (3,))]),
    C=st.sampled_from([1e-3, 0.1, 10.0, 1e3]),
    mode=st.sampled_from(["qp", "hard"]),
    shape=st.tuples(st.booleans(), st.booleans(), st.booleans()),
)
def test_the_optimum_is_that_of_the_other_solvers(seed, kernels, C, mode, shape):
    unit, spread, even = shape
    problem = make_problem(n=26, kernels=kernels, C=C, mode=mode, unit=unit, spread=spread, seed=seed)
    if even:
        problem = problem.with_posteriors(uniform(problem))
    found, other = project_smo(problem.projection), project_interior(problem.projection)
    assert found.status == Status.OPTIMAL
    assert found.dual == pytest.approx(dual_value(problem, found.duals), rel=1e-9, abs=1e-12)
    assert found.primal - found.dual <= 1e-8 * (1.0 + abs(found.dual))
    if other.status == Status.OPTIMAL:
        assert found.dual == pytest.approx(other.dual, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_classes_that_overlap_in_many_samples(seed):
    """Three components for each class, posteriors that fit nothing: many samples at their bound, many not."""
    problem = make_problem(n=150, kernels=((0, 1, 2), (0, 1, 2)), C=5.0, unit=bool(seed % 2), seed=seed)
    found, other = project_smo(problem.projection), project_conic(problem.projection)
    totals = np.concatenate([part.sum(axis=1) for part in found.duals])
    assert found.status == Status.OPTIMAL
    assert found.gap <= 1e-8
    assert (totals == 5.0).any()
    assert ((totals > 0.0) & (totals < 5.0)).sum() > 20
    assert found.dual == pytest.approx(other.dual, rel=1e-6)


@pytest.mark.parametrize(
    "case",
    [
        {"n": 6, "kernels": ((0, 1), (0, 1)), "C": 0.01, "seed": 23},
        {"n": 5, "kernels": ((0, 1), (0, 1)), "C": 0.01, "mode": "hard", "seed": 7},
    ],
)
def test_offsets_that_no_free_dual_determines_are_found_by_the_linear_program(case, monkeypatch):
    """At so small a price nearly all duals are at zero or at their bound."""
    problem = make_problem(unit=False, **case)
    found = project_smo(problem.projection)
    assert found.status == Status.OPTIMAL
    assert found.dual == pytest.approx(primal_by_cvxpy(problem), rel=1e-6, abs=1e-9)
    monkeypatch.setattr(newton, "best_vertex", lambda *_: None)
    stalled = project_smo(problem.projection)
    assert stalled.status == Status.STALLED
    assert stalled.gap > 1e-3


def test_the_vertex_bounds_the_gap_and_raises_the_value():
    problem = make_problem(n=20, kernels=((0, 1), (0, 2, 1)), C=1.0, spread=True, seed=4)
    optimum = primal_by_cvxpy(problem)
    setting, state, _ = _begun(problem)
    vertex = best_vertex(setting, state)
    u, v = (
        stacked(duals_of(problem.projection, State(duals, state.scores, state.own, state.totals)))
        for duals in (state.duals, vertex.duals)
    )
    H, f, A = dual_matrices(problem)
    before = value_of_state(setting, state)
    assert np.abs(A @ v).max() < 1e-7
    face = face_of(setting)
    gap = newton.price(setting, state, face, vertex.multipliers).primal - before
    assert gap == pytest.approx((f - H @ u) @ (v - u), rel=1e-6)
    assert gap > optimum - before > 0.0
    assert vertex.advance(setting, state)
    assert value_of_state(setting, state) > before
    assert np.abs(imbalance_of(setting, state)).max() < 1e-7
    lengths = np.linspace(0.0, 1.0, 1001)[:, None]
    line = u + lengths * (v - u)
    assert value_of_state(setting, state) >= (line @ f - 0.5 * ((line @ H) * line).sum(axis=1)).max() - 1e-9


def test_the_factor_follows_the_directions_that_come_and_go():
    """Compared with the Hessian of the directions, made from the matrices of the dual."""
    problem = make_problem(n=18, kernels=((0, 1), (2, 3, 1)), C=1.0, seed=5)
    setting, state, _ = _begun(problem, 2)
    face, rng = face_of(setting), np.random.default_rng(0)
    begin, end = setting.ranges[setting.sides].T
    for t in (1, 2, 7):
        keep_at_bound(setting, state, face, t, int(begin[t]))
    places = [(t, c) for t in range(18) for c in range(begin[t], end[t]) if face.pivots[t] != c]
    for t, c in (places[k] for k in rng.permutation(len(places))[:24]):
        insert(setting, face, t, c, rng.normal())
        if rng.random() < 0.3:
            delete(face, int(rng.integers(face.size[0])))
    k = int(face.size[0])
    columns = np.zeros((setting.kernels.size, 18, k))
    for a in range(k):
        t, c = face.samples[a], face.components[a]
        if face.pivots[t] < 0:
            columns[:, t, a] = setting.shares[:, t]
        else:
            columns[face.pivots[t], t, a] = 1.0
        columns[c, t, a] -= 1.0
    shifted = setting.Ks[setting.kernels] + face.constants[:, None, None]
    hessian = np.einsum("jta,jts,jsb->ab", columns, shifted, columns)
    R, C = np.triu(face.factor[:k, :k]), columns.sum(axis=1)[:-1]
    np.testing.assert_allclose(R.T @ R, hessian, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(R.T @ face.constraints[:k], C.T, rtol=1e-7, atol=1e-9)
    multipliers, slopes = np.zeros(setting.kernels.size), face.slopes[:k].copy()
    imbalance = C.sum(axis=1) * 0.1
    step = newton_step(face, np.append(imbalance, -imbalance.sum()), multipliers)
    p = len(C)
    system = np.block([[hessian, -C.T], [C, np.zeros((p, p))]])
    expected = np.linalg.solve(system, np.concatenate([slopes, -imbalance]))
    np.testing.assert_allclose(step, expected[:k], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(multipliers[:p], expected[k:], rtol=1e-5, atol=1e-7)


def test_too_few_rounds_are_told_with_the_gap_that_is_left():
    problem = make_problem(n=60, kernels=((0, 1), (0, 2)), C=10.0, seed=6)
    found = project_smo(problem.projection, max_newton=1)
    assert found.status == Status.MAX_ITER
    assert found.n_iter == 1
    assert found.gap > 1e-8
    best = project_smo(problem.projection)
    assert found.dual < best.dual < found.primal
    assert best.n_iter > 1


def test_samples_that_occur_twice_and_a_kernel_of_zeros():
    Ks, y = make_kernels(16, 9)
    Ks, y = np.tile(Ks[:2], (1, 2, 2)), np.tile(y, 2)
    Ks[1] = 0.0
    kernels = [0, 1], [0, 1]
    q = tuple(np.full((int((y == sign).sum()), 2), 0.5) for sign in (1.0, -1.0))
    problem = Problem(Ks, y, kernels, q, np.full(32, 2.0), shifted_margins(y, kernels, "qp"), "qp")
    found = project_smo(problem.projection)
    assert found.status == Status.OPTIMAL
    assert found.dual == pytest.approx(project_conic(problem.projection).dual, rel=1e-6)

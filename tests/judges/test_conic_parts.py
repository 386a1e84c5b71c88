"""The parts of the conic solver, each against what it must satisfy: vectors of matrices, machines, bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

from judges.conic import growth, machine, solve_conic
from judges.conic.certificate import lower_bound
from judges.conic.growth import balanced, pull_inside
from judges.conic.program import SLIGHT, USUAL, as_matrix, vectorise
from judges.conic.quadratic import solve_nonnegative
from judges.conic.relaxation import Coordinates, Relaxation, whiten
from multikernel.core.optim.spectrahedron import Spectrahedron
from multikernel.core.svm.losses import HardMargin, Hinge, SquaredHinge
from multikernel.transductive.solver.families import StackFamily
from tests.core.problems import Task, judge
from tests.judges.test_conic import make_family, make_loss, make_problem

seeds = st.integers(0, 10**6)
THIN = 1e-9


def canonical(criterion, kind="plain", n=32, seed=1, C=2.0):
    Ks, y = make_problem(kind, n, seed)
    family, cone = make_family(Ks, y, criterion)
    return machine.make_problem(family, make_loss(criterion, y, C)), cone


def random_duals(problem, rng):
    """Feasible duals: balanced, within their bounds."""
    bound = np.minimum(problem.C, 5.0)
    a = rng.uniform(size=problem.y.size) * bound * rng.integers(0, 2, problem.y.size)
    a[[np.argmax(problem.y > 0), np.argmax(problem.y < 0)]] = 0.5 * bound.min()
    sums = [a[problem.y > 0].sum(), a[problem.y < 0].sum()]
    a[problem.y > 0] *= min(sums) / sums[0]
    a[problem.y < 0] *= min(sums) / sums[1]
    return problem.y * a


def random_weights(problem, cone, rng):
    """On the edge of the feasible set, or inside."""
    n_members = problem.family.n_members
    middle = np.full(n_members, 1.0 / n_members)
    away = rng.normal(size=n_members) * 0.7
    if problem.family.has_identity:
        away[-1] = abs(away[-1])
    w = pull_inside(cone, middle + away - away.sum() / n_members, middle)[0]
    w = w + (middle - w) * rng.choice([0.0, 0.3])
    return w if not problem.family.has_identity or w[-1] >= 0.0 else middle


# --------------------------------------------------------------------------- matrices as vectors


@given(seeds, st.integers(1, 7))
def test_vectors_of_matrices(seed, k):
    """The upper triangle by columns; inner products are those of the matrices; and back again."""
    A, B = np.random.default_rng(seed).normal(size=(2, k, k))
    A, B = A + A.T, B + B.T
    a, b = vectorise(np.stack([A, B]))
    assert a.shape == (k * (k + 1) // 2,)
    np.testing.assert_allclose(a @ b, np.vdot(A, B))
    np.testing.assert_allclose(as_matrix(a), A)
    if k > 2:
        np.testing.assert_allclose(a[:4], [A[0, 0], np.sqrt(2.0) * A[0, 1], A[1, 1], np.sqrt(2.0) * A[0, 2]])


# --------------------------------------------------------------------------- machines


@pytest.mark.parametrize("criterion", ["SM1", "SM2", "SM2C", "HM"])
def test_the_machine_at_fixed_weights_is_that_of_scikit_learn(criterion):
    problem, _ = canonical(criterion)
    w = np.full(problem.family.n_members, 1.0 / problem.family.n_members)
    answer = machine.solve_fixed(problem, w)
    C = 2.0 if criterion == "SM1" else 1e8
    svc = SVC(C=C, kernel="precomputed", tol=1e-10).fit(problem.quadratic(w), problem.y)
    beta = np.zeros(problem.y.size)
    beta[svc.support_] = svc.dual_coef_[0]
    np.testing.assert_allclose(answer.beta, beta, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(answer.intercept, svc.intercept_[0], atol=1e-5)
    np.testing.assert_allclose(answer.upper, answer.lower, rtol=1e-11)
    free = (np.abs(beta) > 1e-6) & (np.abs(beta) < C - 1e-6)
    assert np.array_equal(answer.free, free)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("loss", [Hinge, SquaredHinge])
def test_machines_of_every_size(C, loss):
    """Noisy labels and kernels of low rank: with a large C the duals reach it."""
    Ks, y = make_problem("low rank", 60, seed=0)
    problem = machine.make_problem(StackFamily(Ks, y.size), loss(y, C))
    answer = machine.solve_fixed(problem, np.full(4, 0.25))
    task = Task("hinge" if loss is Hinge else "squared_hinge", y, C)
    upper, lower = judge(problem.family.combined(np.full(4, 0.25))[None], [task], np.ones(1), [answer.beta])
    np.testing.assert_allclose([answer.upper, answer.lower], [2.0 * upper, 2.0 * lower], rtol=1e-10)
    np.testing.assert_allclose(answer.upper, answer.lower, rtol=1e-9)


def test_no_machine_without_separation():
    Ks, y = make_problem("repeated", 24, seed=0)
    y[16] = -y[0]  # the same point
    problem = machine.make_problem(StackFamily(Ks, y.size), HardMargin(y))
    assert machine.solve_fixed(problem, np.full(3, 1.0 / 3.0)) is None


@given(seeds, st.sampled_from(["SM1", "SM2"]))
def test_repaired_duals_are_feasible_and_near(seed, criterion):
    rng = np.random.default_rng(seed)
    problem, _ = canonical(criterion, n=24)
    exact = random_duals(problem, rng)
    repaired = machine.repair(problem, exact + 1e-7 * rng.normal(size=exact.size))
    a = problem.y * repaired
    assert (a >= 0).all() and (a <= problem.C).all()
    assert abs(repaired.sum()) <= 1e-12 * a.sum()
    np.testing.assert_allclose(repaired, exact, atol=1e-5)
    np.testing.assert_allclose(machine.repair(problem, exact), exact, rtol=1e-7)


@pytest.mark.parametrize("criterion", ["SM1", "SM2", "SM2C"])
def test_derivatives_of_the_duals_are_those_of_finite_differences(criterion):
    problem, _ = canonical(criterion, seed=3)
    n_members = problem.family.n_members
    w, step = np.full(n_members, 1.0 / n_members), 1e-5
    answer = machine.solve_fixed(problem, w)
    found = machine.derivatives(problem, w, answer)
    for i in range(n_members):
        up, down = w.copy(), w.copy()
        up[i], down[i] = w[i] + step, w[i] - step
        moved = machine.solve_fixed(problem, up).beta - machine.solve_fixed(problem, down).beta
        np.testing.assert_allclose(found[:, i], moved / (2.0 * step), atol=1e-4 * np.abs(found).max())


# --------------------------------------------------------------------------- bounds


@given(seeds, st.sampled_from(["SM1", "SM2", "SM2C"]), st.booleans())
def test_no_weights_go_below_a_lower_bound(seed, criterion, semidefinite):
    """For any feasible duals, any Z (of any sign) and any feasible weights."""
    rng = np.random.default_rng(seed)
    problem, cone = canonical(criterion, n=24)
    beta = random_duals(problem, rng)
    B = rng.normal(size=(cone.size, 3)) * rng.choice([0.1, 1.0])
    Z = B @ B.T if semidefinite else B @ B.T - 0.1 * np.eye(cone.size)
    bound = lower_bound(problem, beta, cone, Z)
    for _ in range(5):
        w = random_weights(problem, cone, rng)
        value = 2.0 * problem.y @ beta - beta @ problem.quadratic(w) @ beta
        assert bound <= value + THIN * (1.0 + abs(value))


def test_the_identity_has_its_say_in_a_lower_bound():
    """Duals of one point with both labels: no kernel sees them, only the identity does."""
    Ks, y = make_problem("repeated", 24, seed=0)
    y[16] = -y[0]  # the same point
    family, cone = make_family(Ks, y, "SM2C")
    problem = machine.make_problem(family, HardMargin(y))
    beta = np.zeros(y.size)
    beta[[0, 16]] = 0.5 * y[[0, 16]]
    np.testing.assert_allclose(family.products(beta)[:, :3], 0.0, atol=1e-12)
    found = lower_bound(problem, beta, cone, np.zeros((cone.size, cone.size)))
    np.testing.assert_allclose(found, 2.0 * y @ beta - beta @ beta)


@given(seeds, st.sampled_from(["SM1", "SM2", "SM2C"]))
def test_the_lower_bound_of_nonnegative_weights_is_attained_at_a_vertex(seed, criterion):
    rng = np.random.default_rng(seed)
    problem, _ = canonical(criterion, n=24)
    beta = random_duals(problem, rng)
    vertices = np.eye(problem.family.n_members)
    values = [2.0 * problem.y @ beta - beta @ problem.quadratic(w) @ beta for w in vertices]
    np.testing.assert_allclose(lower_bound(problem, beta, None, None), min(values), rtol=1e-9)


@pytest.mark.parametrize("criterion", ["SM1", "SM2", "SM2C", "HM"])
def test_the_proof_that_is_returned_gives_the_bound_again(criterion):
    """Z ⪰ 0 and one θ for all members, written out: the bound is 2y'β − τβ'β − θ."""
    problem, cone = canonical(criterion, n=36)
    point = solve_conic(problem.family, problem.loss, cone)
    beta, Z = point.proof, point.Z
    assert np.linalg.eigvalsh(Z)[0] >= -1e-6 * np.linalg.eigvalsh(Z)[-1]
    basis = np.eye(36) if cone.basis is None else cone.basis
    whole = basis @ Z @ basis.T
    members = [problem.family.whole(unit) for unit in np.eye(problem.family.n_members)[:3]]
    N = problem.y.size
    sums = [beta @ K[:N, :N] @ beta + np.vdot(whole, K) for K in members]
    np.testing.assert_allclose(sums, sums[0], rtol=1e-6)
    reward = 2.0 * problem.y @ beta - problem.shift @ beta**2
    np.testing.assert_allclose(point.lower, reward - max(sums), rtol=1e-6)
    np.testing.assert_allclose(point.value, point.lower, rtol=1e-7)
    np.testing.assert_allclose(np.vdot(whole, problem.family.whole(point.w)), 0.0, atol=1e-5)


# --------------------------------------------------------------------------- relaxations


@pytest.mark.parametrize("criterion", ["SM1", "SM2", "SM2C", "HM"])
@pytest.mark.parametrize("kind", ["plain", "repeated"])
def test_a_relaxation_is_a_lower_bound_that_rises_with_its_subspaces(criterion, kind):
    problem, cone = canonical(criterion, kind, n=20)
    optimum = solve_conic(problem.family, problem.loss, cone, whole_below=20)
    relaxation = Relaxation(problem, cone, optimum.value)
    rng = np.random.default_rng(0)
    U = np.linalg.qr(rng.normal(size=(cone.size, cone.size)))[0]
    W = np.linalg.qr(rng.normal(size=(problem.y.size, problem.y.size)))[0]
    W = balanced(W - W.mean(axis=0))
    values = []
    for part, other in [(0.1, 0.1), (0.1, 1.0), (1.0, 1.0), (1.0, 0.5)]:
        columns = U[:, : round(part * U.shape[1])], W[:, : round(other * W.shape[1])]
        relaxed = relaxation.solve(*columns, SLIGHT)
        values.append(relaxed.value)
        proof = machine.repair(problem, relaxed.beta)
        np.testing.assert_allclose(
            lower_bound(problem, proof, cone, relaxed.Z), relaxed.value, rtol=1e-5, atol=1e-5 * optimum.value
        )
    assert values[0] <= values[1] + 1e-7 * optimum.value <= values[2] + 2e-7 * optimum.value
    assert values[3] <= values[2] + 1e-7 * optimum.value
    assert max(values[0], values[3]) < 0.999 * optimum.value, "some columns are missed"
    np.testing.assert_allclose(values[2], optimum.value, rtol=1e-6)


@pytest.mark.parametrize("criterion", ["SM1", "SM2", "SM2C"])
def test_duals_in_a_subspace_are_below_the_whole_program_and_reach_it(criterion):
    problem, _ = canonical(criterion, n=40)
    point = solve_conic(problem.family, problem.loss, None)
    size = float(np.abs(point.beta).max())
    rng = np.random.default_rng(0)
    others = [random_duals(problem, rng) for _ in range(3)]

    def value(columns):
        _, beta = solve_nonnegative(problem, size, USUAL, balanced(np.column_stack(columns)))
        return lower_bound(problem, machine.repair(problem, beta), None, None)

    assert 0.0 < value(others) < 0.999 * point.value
    np.testing.assert_allclose(value([*others, point.proof]), point.value, rtol=1e-7)


@pytest.mark.parametrize("identity", [False, True])
def test_coordinates_keep_the_sum_and_measure_matrices(identity):
    Ks, y = make_problem("dependent", 30, seed=0)
    cone = Spectrahedron(Ks, StackFamily(Ks, y.size).scales)
    coordinates = Coordinates(cone, identity)
    assert coordinates.n_free == 2, "four members of which one depends on the others, less one for the sum"
    assert coordinates.d == 2 + identity
    x = np.random.default_rng(0).normal(size=coordinates.d)
    np.testing.assert_allclose((coordinates.origin + coordinates.directions @ x).sum(), 1.0)
    moved = coordinates.directions[:4, :2] @ x[:2]
    size = np.linalg.norm(cone.combine(np.full(4, 0.25)))
    np.testing.assert_allclose(np.linalg.norm(cone.combine(moved)), size * np.linalg.norm(x[:2]))


def test_weights_of_semidefinite_matrices_are_well_within_the_bounds_of_the_coordinates():
    problem, cone = canonical("SM2")
    coordinates = Coordinates(cone, False)
    rng = np.random.default_rng(0)
    for _ in range(20):
        w = random_weights(problem, cone, rng)
        x = np.linalg.lstsq(coordinates.directions, w - coordinates.origin, rcond=None)[0]
        assert np.linalg.norm(x) <= coordinates.radius / 1.5


def test_whitened_columns_have_the_same_range():
    rng = np.random.default_rng(0)
    F = rng.normal(size=(8, 5))
    K = F @ F.T  # of rank 5
    basis = np.linalg.qr(rng.normal(size=(8, 7)))[0]
    white, null = whiten(basis, K)
    assert white.shape[1] == 5 and null.shape[1] == 2
    np.testing.assert_allclose(white.T @ K @ white, np.eye(5), atol=1e-10)
    np.testing.assert_allclose(null.T @ K @ null, 0.0, atol=1e-10)
    assert np.linalg.matrix_rank(np.column_stack([basis, white, null]), tol=1e-9) == 7


@given(seeds)
def test_weights_are_pulled_no_further_than_needed(seed):
    rng = np.random.default_rng(seed)
    _, cone = canonical("SM1", n=24)
    middle = np.full(3, 1.0 / 3.0)
    away = rng.normal(size=3)
    w = middle + 3.0 * (away - away.mean())
    pulled, met = pull_inside(cone, w, middle)
    assert np.linalg.eigvalsh(cone.combine(pulled))[0] >= -1e-11
    np.testing.assert_allclose(np.linalg.norm(met, axis=0), 1.0)
    if np.linalg.eigvalsh(cone.combine(w))[0] < -1e-6:
        before = pulled + 1e-4 * (w - middle)
        assert np.linalg.eigvalsh(cone.combine(before))[0] < -1e-9
    else:
        np.testing.assert_allclose(pulled, w, atol=1e-4)


def test_a_pull_that_takes_too_long_ends_in_the_middle(monkeypatch):
    monkeypatch.setattr(growth, "_MAX_PULLS", 1)
    _, cone = canonical("SM1", n=24)
    middle = np.full(3, 1.0 / 3.0)
    assert pull_inside(cone, np.array([3.0, -3.0, 1.0]), middle)[0] is middle


def test_a_balanced_basis():
    """Orthonormal columns of sum exactly zero; rows that none uses stay empty, dependent columns go."""
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(10, 4))
    columns[[2, 5]] = 0.0
    columns[3] -= columns.sum(axis=0)
    columns = np.column_stack([columns, columns[:, 0] - 2.0 * columns[:, 1], np.zeros(10)])
    columns = np.column_stack([columns, columns[:, 0] + 1e-6 * np.roll(columns[:, 2], 3)])
    columns[[2, 5]] = 0.0
    columns[3] -= columns.sum(axis=0)
    columns[[5, 6], :4] += 1e-14  # rounding, which the new column makes a million times as large
    basis = balanced(columns)
    assert basis.shape == (10, 5)
    assert not basis[[2, 5]].any()
    np.testing.assert_allclose(basis.T @ basis, np.eye(5), atol=1e-7)
    assert np.abs(basis.sum(axis=0)).max() <= 1e-15
    np.testing.assert_allclose(basis @ (basis.T @ columns), columns, atol=1e-12)

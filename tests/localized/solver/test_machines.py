"""Machines on a kernel that moves, against their own formulas and fresh machines."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

from multikernel.core.stack.sums import GatedStack
from multikernel.core.svm import machine as fixed_kernel
from multikernel.core.svm.losses import Hinge
from multikernel.localized.solver import machines as module
from multikernel.localized.solver.machines import BinaryMachines
from tests.localized.solver.gated_problems import (
    MACHINES,
    dual_and_primal,
    is_feasible,
    largest_gap,
    make_machines,
    make_problem,
)

BINARY = tuple(kind for kind in MACHINES if kind not in ("joint", "crammer_singer"))


def moved_kernels(problem, n_steps, size):
    """Kernels on a path: each is the last one with its gate changed a little."""
    rng = np.random.default_rng(7)
    eta = rng.uniform(0.3, 0.7, size=problem.X.shape[0])
    direction = rng.normal(size=eta.size)
    for step in range(n_steps):
        gate = eta + size * step * direction / np.abs(direction).max()
        yield np.outer(gate, gate) * problem.Ks[0] + np.outer(1 - gate, 1 - gate) * problem.Ks[1]


@pytest.mark.parametrize("kind", MACHINES)
@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-8])
def test_value_and_gap_recomputed_outside(kind, tol):
    problem = make_problem(50, seed=4)
    machines = make_machines(kind, problem, tol)
    for K in moved_kernels(problem, 3, 0.1):  # cold, then warm
        solved = machines.solve(K)
        pairs = dual_and_primal(kind, problem, K, machines.coefficients, machines.intercepts)
        assert solved.value == pytest.approx(sum(dual for dual, _ in pairs), rel=1e-12)
        assert solved.gap == pytest.approx(largest_gap(pairs), abs=1e-12)
        assert solved.gap <= tol
        assert not solved.exhausted
        assert is_feasible(kind, problem, machines.coefficients)


@given(kind=st.sampled_from(MACHINES), seed=st.integers(0, 2**16), n=st.integers(6, 40))
def test_a_warm_start_changes_nothing_but_the_work(kind, seed, n):
    problem = make_problem(n, seed=seed)
    warm = make_machines(kind, problem, 1e-9)
    for K in moved_kernels(problem, 4, 0.2):
        cold = make_machines(kind, problem, 1e-9)
        assert warm.solve(K).value == pytest.approx(cold.solve(K).value, rel=2e-9)


@pytest.mark.parametrize("kind", BINARY)
def test_a_warm_start_takes_fewer_steps(kind, monkeypatch):
    steps = [0]
    loop = fixed_kernel.smo_loop.smo

    def counted(*arguments):
        outcome = loop(*arguments)
        steps[-1] += outcome[0]
        return outcome

    monkeypatch.setattr(fixed_kernel.smo_loop, "smo", counted)
    problem = make_problem(90, seed=5)
    kernels = list(moved_kernels(problem, 5, 0.01))
    warm = make_machines(kind, problem, 1e-4)
    warm.solve(kernels[0])
    steps.append(0)
    for K in kernels[1:]:
        warm.solve(K)
    steps.append(0)
    for K in kernels[1:]:
        make_machines(kind, problem, 1e-4).solve(K)
    assert 0 < steps[1] < 0.5 * steps[2]


@pytest.mark.parametrize("kind", MACHINES)
def test_reset_forgets_the_last_solution(kind):
    problem = make_problem(40, seed=6)
    first, second = moved_kernels(problem, 2, 0.3)
    machines = make_machines(kind, problem, 1e-3)
    machines.solve(first)
    warm = machines.solve(second), machines.coefficients.copy()
    machines.reset()
    assert not machines.coefficients.any()
    assert not machines.intercepts.any()
    again = machines.solve(second), machines.coefficients.copy()
    fresh = make_machines(kind, problem, 1e-3)
    assert again[0] == fresh.solve(second)
    np.testing.assert_array_equal(again[1], fresh.coefficients)
    assert (warm[1] != again[1]).any()


@pytest.mark.parametrize("kind", MACHINES)
def test_the_same_array_with_new_numbers_is_a_new_kernel(kind):
    """The descent writes every kernel into one array; also the diagonal must be read again."""
    problem = make_problem(40, seed=8)
    buffer = np.empty((40, 40))
    reused = make_machines(kind, problem, 1e-9)
    for K in (problem.Ks[0], 5.0 * problem.Ks[0], problem.Ks[0] + problem.Ks[1]):
        buffer[:] = K
        kept = buffer.copy()
        value = reused.solve(buffer).value
        assert value == pytest.approx(make_machines(kind, problem, 1e-9).solve(K).value, rel=2e-9)
        np.testing.assert_array_equal(buffer, kept)
    another = np.ascontiguousarray(problem.Ks[0])  # and another array is another kernel
    expected = make_machines(kind, problem, 1e-9).solve(problem.Ks[0]).value
    assert reused.solve(another).value == pytest.approx(expected, rel=2e-9)


@pytest.mark.parametrize("kind", MACHINES)
@pytest.mark.parametrize("size", [1e-6, 1e3])
def test_a_kernel_that_grows_or_shrinks_at_a_stroke(kind, size):
    """Where the last duals are worth hugely less than none, they are no start."""
    problem = make_problem(60, seed=16)
    K = size * problem.Ks[0]
    machines = make_machines(kind, problem, 1e-8)
    machines.solve(problem.Ks[0])
    solved = machines.solve(K)
    assert solved.gap <= 1e-8
    assert not solved.exhausted
    assert solved.value == pytest.approx(make_machines(kind, problem, 1e-8).solve(K).value, rel=3e-8)
    assert is_feasible(kind, problem, machines.coefficients)


@pytest.mark.parametrize("kind", ("hinge", "svr", "one_class"))
@pytest.mark.parametrize("share", [-0.5, 0.5, 0.9, 0.999, 1.0 - 1e-7])
def test_a_refused_value_lies_between_the_ceiling_and_the_value(kind, share):
    problem = make_problem(60, seed=9)
    before, K = moved_kernels(problem, 2, 0.3)
    J = make_machines(kind, problem, 1e-10).solve(K).value
    # one-class: J < 0, and the start of the machine is already below any ceiling that is far from it
    ceiling = share * J if J > 0 else J * (2.0 - share)
    machines = make_machines(kind, problem, 1e-10)
    machines.solve(before)
    refused = machines.solve(K, ceiling)
    assert ceiling < refused.value <= J + 1e-9 * abs(J)
    if share == 0.5 and J > 0:
        assert refused.gap > 0.05  # the work was left
    assert is_feasible(kind, problem, machines.coefficients)
    # What was left unfinished is taken up again.
    finished = machines.solve(K, J + 1e-6 * abs(J))
    assert finished.value == pytest.approx(J, rel=1e-9)
    assert finished.gap <= 1e-10


@pytest.mark.parametrize("kind", ("ovr", "ovo", "joint"))
def test_the_values_of_several_machines_are_never_above_the_sum(kind):
    problem = make_problem(45, seed=10)
    J = make_machines(kind, problem, 1e-8).solve(problem.Ks[0]).value
    for ceiling in (0.3 * J, 0.999 * J, 1.001 * J):
        value = make_machines(kind, problem, 1e-8).solve(problem.Ks[0], ceiling).value
        assert min(ceiling, J - 1e-7 * J) < value <= J * (1.0 + 1e-7)


@pytest.mark.parametrize("kind", MACHINES)
def test_the_cap_on_steps_is_admitted_and_the_gap_stays_honest(kind, monkeypatch):
    monkeypatch.setattr(module, "most_steps", lambda n: 3)
    problem = make_problem(60, seed=11)
    machines = make_machines(kind, problem, 1e-6)
    solved = machines.solve(problem.Ks[0])
    assert solved.exhausted
    assert solved.gap > 1e-3
    pairs = dual_and_primal(kind, problem, problem.Ks[0], machines.coefficients, machines.intercepts)
    assert solved.gap == pytest.approx(largest_gap(pairs), rel=1e-9)
    assert is_feasible(kind, problem, machines.coefficients)
    # Unfinished work must not look like progress: it counts with its upper bound.
    assert solved.value == pytest.approx(sum(p if p - d > 1e-6 * abs(p) else d for d, p in pairs), rel=1e-9)
    # More steps finish the work.
    monkeypatch.setattr(module, "most_steps", lambda n: 10**5)
    machines.reset()
    assert not machines.solve(problem.Ks[0]).exhausted


def test_one_exhausted_machine_among_several_is_told(monkeypatch):
    """The first machine is easy, the second is not."""
    monkeypatch.setattr(module, "most_steps", lambda n: 6)
    problem = make_problem(60, seed=11)
    easy = np.full(60, -1.0)
    easy[0] = 1.0
    losses = [Hinge(easy, 1e-3), Hinge(problem.signs, 10.0)]
    for order in (losses, losses[::-1]):
        assert BinaryMachines(order, tol=1e-3).solve(problem.Ks[0]).exhausted
    assert not BinaryMachines([losses[0]], tol=1e-3).solve(problem.Ks[0]).exhausted


@pytest.mark.parametrize("kind", MACHINES)
def test_kernels_of_low_rank_are_solved(kind):
    """Rank one, and exact copies of samples: many solutions, one value."""
    problem = make_problem(60, seed=12)
    x = np.repeat(problem.X[:30, 0], 2)
    if kind == "one_class":  # the origin apart from the samples, or the value is zero
        x = np.abs(x) + 0.1
    K = np.outer(x, x)
    solved = make_machines(kind, problem, 1e-8).solve(K)
    assert solved.gap <= 1e-8
    assert not solved.exhausted
    if kind == "hinge":
        peer = SVC(C=1.0, kernel="precomputed", tol=1e-9).fit(K, problem.signs, sample_weight=problem.C)
        beta = np.zeros(60)
        beta[peer.support_] = peer.dual_coef_[0]
        assert solved.value == pytest.approx(np.abs(beta).sum() - 0.5 * beta @ K @ beta, rel=1e-6)


def test_no_kernel_at_all():
    """A gate that is shut everywhere: w = 0, and every error is paid for."""
    y = np.array([1.0, 1.0, 1.0, -1.0, -1.0])
    machines = BinaryMachines([Hinge(y, 2.0)])
    solved = machines.solve(np.zeros((5, 5)))
    assert solved.value == pytest.approx(8.0)  # 2 C min(n₊, n₋)
    assert solved.gap <= 1e-4


def test_the_gated_sum_and_its_matrix_give_the_same_machine():
    """SMO forms rows of a gated sum as it needs them; the whole matrix says what they should be."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=80) > 0, 1.0, -1.0)
    Ks = np.ascontiguousarray(np.stack([X @ X.T, (X @ X.T + 1.0) ** 2]))
    stack = GatedStack(Ks, np.array([0, 1, 1]))
    on_rows, on_matrix = (BinaryMachines([Hinge(y, 2.0)], tol=1e-9) for _ in range(2))
    for _ in range(3):
        eta = rng.uniform(size=(80, 3))
        stack.set_gates(eta)
        K = sum(np.outer(eta[:, m], eta[:, m]) * Ks[s] for m, s in enumerate((0, 1, 1)))
        first, second = on_rows.solve(stack), on_matrix.solve(np.ascontiguousarray(K))
        assert first.value == pytest.approx(second.value, rel=1e-8)
        np.testing.assert_allclose(on_rows.coefficients, on_matrix.coefficients, atol=1e-4)


@pytest.mark.parametrize("kind", ("hinge", "joint"))
def test_negative_curvature_is_remembered(kind):
    problem = make_problem(40, seed=13)
    machines = make_machines(kind, problem, 1e-6)
    for K in (problem.Ks[0], problem.Ks[1]):  # the second is of rank two
        machines.solve(K)
    assert not machines.suspicious
    A = np.random.default_rng(0).normal(size=(40, 40))
    machines.solve(0.5 * (A + A.T))
    assert machines.suspicious
    machines.reset()
    machines.solve(problem.Ks[0])
    assert machines.suspicious  # what was met once is not forgotten by a new start

"""SMO on a kernel with a factor, against SMO on the same kernel formed, scikit-learn and its own formulas."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC, SVR

from multikernel.core.stack import sums
from multikernel.core.stack.sums import GatedStack
from multikernel.core.svm import smo as smo_loop
from multikernel.core.svm.factored import smo_on_factor
from multikernel.core.svm.losses import EpsilonInsensitive, Hinge, OneClass
from multikernel.core.svm.machine import Machine

LOSSES = ("hinge", "priced hinge", "epsilon", "one class")


@dataclass
class Problem:
    loss: object
    stack: GatedStack
    K: np.ndarray


def make_problem(kind, n, seed, C=1.0, n_columns=2):
    """Three linear kernels of few columns with gates of their own, overlapping classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3, n, n_columns))
    Ks = X @ X.transpose(0, 2, 1)
    eta = rng.uniform(0.05, 1.0, size=(n, 3))
    stack = GatedStack(Ks, np.arange(3))
    stack.set_gates(eta)
    K = np.einsum("im,jm,mij->ij", eta, eta, Ks)
    f = X[0, :, 0] + rng.normal(size=n)
    y = np.where(f > np.median(f), 1.0, -1.0)
    loss = {
        "hinge": lambda: Hinge(y, C),
        "priced hinge": lambda: Hinge(y, C * rng.uniform(0.1, 3.0, size=n)),
        "epsilon": lambda: EpsilonInsensitive(f, C, epsilon=0.2),
        "one class": lambda: OneClass(np.zeros(n), np.full(n, 1.0 / (0.3 * n))),
    }[kind]()
    return Problem(loss, stack, K)


def run(problem, solver, tol, beta=None, max_iter=10**6, value_stop=smo_loop.HUGE):
    """β, gradient and outcome of a solver from a feasible start."""
    stack, loss = problem.stack, problem.loss
    beta = loss.start.copy() if beta is None else beta.copy()
    g = loss.target - problem.K @ beta
    kernel = smo_loop.Combination(
        stack.Ks,
        stack.active,
        stack.effective,
        stack.shift,
        stack.combined,
        stack.valid,
        stack.gates,
        stack.factor_of_sum,
    )
    box = smo_loop.Box(stack.diag, loss.lower, loss.upper, float(loss.epsilon))
    progress = smo_loop.Progress(dual_value(problem, beta), value_stop)
    return beta, g, solver(kernel, box, beta, g, tol, max_iter, progress)


def dual_value(problem, beta):
    loss = problem.loss
    return float(loss.target @ beta - loss.epsilon * np.abs(beta).sum() - 0.5 * beta @ problem.K @ beta)


def violation(problem, beta):
    """The largest gain of a pair per unit of step, from the definition."""
    loss = problem.loss
    g = loss.target - problem.K @ beta
    up = g - loss.epsilon * np.where(beta < 0.0, -1.0, 1.0)
    down = g + loss.epsilon * np.where(beta > 0.0, -1.0, 1.0)
    return float(up[beta < loss.upper].max() - down[beta > loss.lower].min())


@given(
    kind=st.sampled_from(LOSSES),
    seed=st.integers(0, 2**16),
    n=st.integers(64, 400),
    n_columns=st.sampled_from([1, 2, 4]),
    C=st.sampled_from([0.01, 1.0, 100.0]),
)
def test_the_same_solution_as_with_rows(kind, seed, n, n_columns, C):
    problem = make_problem(kind, n, seed, C, n_columns)
    assert problem.stack.factor_of_sum.shape == (3 * n_columns, n)
    tol = 1e-6
    beta, g, outcome = run(problem, smo_on_factor, tol)
    other, _, expected = run(problem, smo_loop.smo, tol)
    assert outcome.reason == expected.reason == smo_loop.CONVERGED
    size = max(abs(dual_value(problem, other)), 1.0)
    assert dual_value(problem, beta) == pytest.approx(dual_value(problem, other), abs=2e-5 * size)
    assert violation(problem, beta) <= tol + 1e-9 * size
    assert outcome.violation == pytest.approx(violation(problem, beta), abs=1e-9 * size)
    assert outcome.value == pytest.approx(dual_value(problem, beta), rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(g, problem.loss.target - problem.K @ beta, atol=1e-9 * size)
    assert (beta >= problem.loss.lower).all() and (beta <= problem.loss.upper).all()
    assert beta.sum() == pytest.approx(problem.loss.total, abs=1e-9 * max(np.abs(beta).sum(), 1.0))


@pytest.mark.parametrize("n", [60, 500])
def test_no_row_is_formed(n):
    problem = make_problem("hinge", n, 3)
    *_, outcome = run(problem, smo_on_factor, 1e-4)
    assert outcome.formed == 0
    assert not problem.stack.valid.any()


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_against_scikit_learn(C):
    problem = make_problem("hinge", 400, 8, C)
    beta, *_ = run(problem, smo_on_factor, 1e-5)
    peer = SVC(kernel="precomputed", C=C, tol=1e-5).fit(problem.K, problem.loss.target)
    theirs = np.zeros(beta.size)
    theirs[peer.support_] = peer.dual_coef_[0]
    np.testing.assert_allclose(problem.K @ beta, problem.K @ theirs, atol=1e-3)
    assert dual_value(problem, beta) == pytest.approx(dual_value(problem, theirs), rel=1e-6)

    problem = make_problem("epsilon", 400, 8, C)
    beta, *_ = run(problem, smo_on_factor, 1e-5)
    peer = SVR(kernel="precomputed", C=C, epsilon=0.2, tol=1e-5).fit(problem.K, problem.loss.target)
    theirs = np.zeros(beta.size)
    theirs[peer.support_] = peer.dual_coef_[0]
    np.testing.assert_allclose(problem.K @ beta, problem.K @ theirs, atol=1e-3)
    assert dual_value(problem, beta) == pytest.approx(dual_value(problem, theirs), rel=1e-6)


@pytest.mark.parametrize("kind", LOSSES)
def test_it_stops_when_it_is_told_to(kind):
    problem = make_problem(kind, 300, 5)
    beta, _, best = run(problem, smo_on_factor, 1e-6)
    start = dual_value(problem, problem.loss.start)
    enough = start + 0.5 * (best.value - start)
    _, _, early = run(problem, smo_on_factor, 1e-6, value_stop=enough)
    assert early.reason == smo_loop.VALUE_REACHED
    assert enough < early.value < best.value
    assert early.iterations < best.iterations
    few, g, limited = run(problem, smo_on_factor, 1e-6, max_iter=7)
    assert limited.reason == smo_loop.ITERATION_LIMIT
    assert limited.iterations == 7
    np.testing.assert_allclose(g, problem.loss.target - problem.K @ few, atol=1e-10)
    _, _, again = run(problem, smo_on_factor, 1e-6, beta=beta)  # there is nothing left to do
    assert (again.reason, again.iterations) == (smo_loop.CONVERGED, 0)


def test_the_same_numbers_every_time():
    problem = make_problem("hinge", 300, 6)
    first, again = run(problem, smo_on_factor, 1e-4)[0], run(problem, smo_on_factor, 1e-4)[0]
    assert (first == again).all()


@pytest.mark.parametrize("kind", LOSSES[:3])
@pytest.mark.parametrize("C", [1.0, 1e4])
def test_machines_reach_their_gap(kind, C, monkeypatch):
    """The machine on the factor, and on the same stack without it: gaps recomputed, and the same value."""
    problem = make_problem(kind, 200, 9, C)
    assert problem.stack.factor_of_sum.shape == (6, 200)
    machine = Machine(problem.loss, problem.stack)
    found = machine.solve(1e-6)
    primal = problem.loss.plain_bound(
        problem.K @ machine.beta, float(machine.beta @ problem.K @ machine.beta)
    )
    assert primal.plain - dual_value(problem, machine.beta) <= 1.01e-6 * primal.plain
    monkeypatch.setattr(sums, "short_factor", lambda K: None)
    plain = make_problem(kind, 200, 9, C)
    assert plain.stack.factors is None
    expected = Machine(plain.loss, plain.stack).solve(1e-6)
    assert found.dual == pytest.approx(expected.dual, rel=2e-6)

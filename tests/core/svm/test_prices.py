"""Large prices by way of smaller ones: overlapping classes and a kernel of low rank."""

import numpy as np
import pytest

from multikernel.core.stack.sums import WholeKernel
from multikernel.core.svm.joint.solver import JointSolver
from multikernel.core.svm.losses import EpsilonInsensitive, Hinge, JointHinge
from multikernel.core.svm.machine import Machine

RNG = np.random.default_rng(3)
CODES = np.arange(120) % 4
X = 2.0 * RNG.normal(size=(4, 5))[CODES] + 2.5 * RNG.normal(size=(120, 5))
K = X @ X.T


@pytest.mark.parametrize("C", (1e2, 1e5, 1e8))
def test_binary_machines_come_there_in_few_steps(C):
    for loss, most in (  # by way of smaller prices; without, it takes more than twice as many
        (Hinge(np.where(CODES == 0, 1.0, -1.0), C), 6_000),
        (EpsilonInsensitive(np.sin(CODES) + 0.1 * X[:, 0], C, 0.1), 20_000),
    ):
        machine = Machine(loss, WholeKernel(K), 100_000)
        values = machine.solve(1e-3)
        assert values.primal.plain - values.dual <= 1e-3 * values.primal.plain
        assert machine.is_feasible() and machine.n_steps <= most


@pytest.mark.parametrize("C", (1e2, 1e5, 1e8))
def test_the_joint_machine_too(C):
    loss = JointHinge(CODES, 4, C)
    solver = JointSolver(K, loss, np.zeros((4, 120)))
    values, status = solver.solve(1e-3, 400_000)
    assert status == "optimal" and values.difference <= 1e-3 * values.primal
    assert solver.point.alpha.min() >= 0.0 and solver.point.alpha.max() <= C
    np.testing.assert_allclose(solver.coefficients.sum(axis=1), 0.0, atol=1e-9 * C * 120)


def test_the_way_is_part_of_the_steps_allowed():
    """A price far beyond floating point has a hundred stations; no more steps than a few rounds are taken."""
    y = np.where(CODES == 0, 1.0, -1.0)
    machine = Machine(Hinge(y, 1e150), WholeKernel(K), 1000)
    machine.solve(1e-3)
    assert machine.n_steps <= 1000 + 10 * machine.patience + 1000
    assert machine.is_feasible()
    solver = JointSolver(K, JointHinge(CODES, 4, 1e150), np.zeros((4, 120)))
    solver.solve(1e-3, 1000)
    assert solver.n_steps <= 1000 + 10 * (20 * 120 + 2000)

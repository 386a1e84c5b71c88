"""The objective of localized kernels: published values, and every gradient by finite differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multikernel.core.stack import sums
from multikernel.core.svm.losses import EpsilonInsensitive, Hinge, OneClass
from multikernel.localized.solver import copies, gates
from multikernel.localized.solver.learn import GatedObjective
from multikernel.localized.solver.machines import BinaryMachines, JointMachines
from tests.localized.solver.gated_problems import (
    GATES,
    MACHINES,
    differences,
    dual_and_primal,
    largest_gap,
    make_machines,
    make_problem,
)

LINEAR_START = np.array([[0.3, -0.2, 0.1], [-0.4, 0.5, 0.0]])
GAUSSIAN_START = np.array([[0.3, -0.2, 1.1], [-0.4, 0.5, 0.8]])


class TestReferenceValues:
    """Twelve points of the plane; linear and quadratic kernel, raw; the values are another solver's."""

    i = np.arange(1.0, 13.0)
    X = np.column_stack([np.sin(i), np.cos(2.0 * i)])
    y = np.array([1.0, 1, -1, 1, -1, -1, 1, -1, 1, -1, 1, -1])
    response = np.sin(3.0 * i) + 0.1 * i
    codes = np.arange(12) % 3
    Ks = np.stack([X @ X.T, (X @ X.T + 1.0) ** 2])

    @classmethod
    def machines(cls, kind):
        if kind == "joint":
            return JointMachines(cls.codes, 3, np.full(12, 0.5), tol=1e-12)
        loss = {
            "hinge": Hinge(cls.y, 1.0),
            "svr": EpsilonInsensitive(cls.response, 2.0, 0.1),
            "one_class": OneClass(np.zeros(12), 1.0 / 3.6),
        }[kind]
        return BinaryMachines([loss], tol=1e-12)

    @pytest.mark.parametrize(
        ("kind", "gate", "J", "intercept", "rows"),
        [
            ("hinge", "softmax", 8.225122, 0.465547, [[-0.409102, 0.643219, 1.162142]]),
            (
                "hinge", "sigmoid", 8.252495, 0.285858,
                [[0.030040, -0.255342, -0.180897], [0.233457, -0.710242, -1.304137]],
            ),
            (
                "hinge", "gaussian", 7.892933, 0.751969,
                [[-1.079450, 1.550218, 1.986042], [0.230372, -1.120417, 0.369260]],
            ),
            ("svr", "softmax", 6.941465, 0.672593, [[-0.626711, 0.201110, 1.353885]]),
            ("one_class", "softmax", -0.140681, -0.284967, [[-0.004691, -0.005468, 0.122490]]),
            ("joint", "softmax", 12.860785, None, [[-0.602020, 0.510402, 1.693968]]),
        ],
    )  # fmt: skip
    def test_value_and_gradient(self, kind, gate, J, intercept, rows):
        """Two gates that compete move against each other; the joint machine's intercepts are not unique."""
        machines = self.machines(kind)
        V = GAUSSIAN_START if gate == "gaussian" else LINEAR_START
        objective = GatedObjective(self.Ks, np.arange(2), self.X, gates.GATES[gate], machines)
        assert objective.value(V.ravel()) == pytest.approx(J, abs=1e-5)
        gradient = rows if len(rows) == 2 else [rows[0], -np.array(rows[0])]
        np.testing.assert_allclose(objective.gradient().reshape(2, 3), gradient, atol=1e-5)
        if intercept is not None:
            assert machines.intercepts[0] == pytest.approx(intercept, abs=1e-5)


def make_objective(kind, gate, seed=0, n=14, D=2, sources=(0, 1, 2), ridge=0.0, tol=1e-13):
    """An objective at a random gate; the first kernel is definite, so that the duals are unique."""
    problem = make_problem(n, 3, seed=seed)
    problem.X = np.ascontiguousarray(problem.X[:, :D])  # of the gate; the kernels have all three
    machines = make_machines(kind, problem, tol)
    rng = np.random.default_rng(seed)
    V = 0.7 * rng.normal(size=(len(sources), D + 1))
    if gate == "gaussian":
        V[:, -1] = rng.uniform(0.7, 2.0, size=len(sources))
    objective = GatedObjective(problem.Ks, np.asarray(sources), problem.X, gates.GATES[gate], machines, ridge)
    return problem, objective, V.ravel()


@pytest.mark.parametrize("kind", MACHINES)
@pytest.mark.parametrize("gate", GATES)
@settings(max_examples=15)
@given(
    seed=st.integers(0, 2**16),
    n=st.integers(7, 20),
    D=st.integers(0, 3),
    copies=st.lists(st.integers(0, 2), max_size=3),
    ridge=st.sampled_from([0.0, 0.5]),
)
def test_gradient_by_finite_differences(kind, gate, seed, n, D, copies, ridge):
    if kind == "one_class":  # all samples alike: nothing to learn, the value is not smooth
        D = max(D, 1)
    _, objective, theta = make_objective(kind, gate, seed, n, D, (0, *copies), ridge)
    objective.value(theta)
    found = objective.gradient()
    expected = differences(objective.value, theta, 1e-4)
    assert found.shape == theta.shape
    np.testing.assert_allclose(found, expected, atol=2e-5 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("kind", ["hinge", "svr", "one_class"])
@pytest.mark.parametrize("gate", GATES)
def test_short_factors_change_no_value_and_no_gradient(kind, gate, monkeypatch):
    """Linear kernels, whose machines form no row: as with rows, and by finite differences."""
    problem, _, _ = make_objective(kind, gate, seed=5, n=80)
    problem.Ks = np.ascontiguousarray(problem.Ks[[1]])
    machines = make_machines(kind, problem, 1e-11)
    theta = 0.7 * np.random.default_rng(1).normal(size=9)
    theta[2::3] = np.abs(theta[2::3]) + 0.7  # widths of Gaussian gates

    def objective():
        return GatedObjective(problem.Ks, np.zeros(3, int), problem.X, gates.GATES[gate], machines)

    found = objective()
    assert found.kernel.factor_of_sum.size
    value, gradient = found.value(theta), found.gradient()
    assert not found.kernel.valid.all()
    expected = differences(found.value, theta, 1e-4)
    np.testing.assert_allclose(gradient, expected, atol=1e-4 * max(1.0, np.abs(expected).max()))
    machines.reset()
    monkeypatch.setattr(sums, "short_factor", lambda K: None)
    plain = objective()
    assert plain.kernel.factors is None
    assert value == pytest.approx(plain.value(theta), rel=1e-9)
    np.testing.assert_allclose(gradient, plain.gradient(), atol=1e-4 * max(1.0, np.abs(gradient).max()))


@pytest.mark.parametrize("kind", MACHINES)
@pytest.mark.parametrize("gate", GATES)
def test_value_recomputed_outside(kind, gate):
    problem, objective, theta = make_objective(
        kind, gate, seed=3, n=30, sources=(0, 1, 0, 2), ridge=0.3, tol=1e-9
    )
    value = objective.value(theta)
    V = theta.reshape(4, 3)
    eta = gates.GATES[gate].values(V, problem.X)
    K = np.einsum("im,mij,jm->ij", eta, problem.Ks[[0, 1, 0, 2]], eta)
    point = objective.snapshot()
    pairs = dual_and_primal(kind, problem, K, point.coefficients, point.intercepts)
    penalty = 0.15 * (V[:, :-1] ** 2).sum()
    assert value == pytest.approx(sum(dual for dual, _ in pairs) + penalty, rel=1e-12)
    assert point.solved.gap == pytest.approx(largest_gap(pairs), abs=1e-12)
    np.testing.assert_allclose(point.eta, eta, rtol=1e-14)
    np.testing.assert_array_equal(point.V, V)
    np.testing.assert_allclose(objective.K, K, rtol=1e-12, atol=1e-12)


def test_the_ridge_leaves_biases_and_widths_alone():
    for gate in GATES:
        _, plain, theta = make_objective("hinge", gate, seed=2)
        _, charged, _ = make_objective("hinge", gate, seed=2, ridge=3.0)
        V = theta.reshape(3, 3)
        rise = charged.value(theta) - plain.value(theta)
        assert rise == pytest.approx(1.5 * (V[:, :-1] ** 2).sum(), rel=1e-9)
        pull = (charged.gradient() - plain.gradient()).reshape(3, 3)
        np.testing.assert_allclose(pull[:, :-1], 3.0 * V[:, :-1], rtol=1e-6)
        np.testing.assert_allclose(pull[:, -1], 0.0, atol=1e-9)


@pytest.mark.parametrize("ridge", [0.0, 20.0])
def test_the_ceiling_counts_the_ridge(ridge):
    """A value above the ceiling may be unfinished, a value below it never is."""
    _, objective, theta = make_objective("hinge", "softmax", seed=4, n=40, ridge=ridge)
    J = objective.value(theta)
    machine = objective.solved.value
    objective.machines.reset()
    refused = objective.value(theta, J - 0.5 * machine)
    assert J - 0.5 * machine < refused < J - 0.05 * machine  # left when half the machine's value was reached
    for share in (0.6, 0.99):
        objective.machines.reset()
        ceiling = share * J
        assert ceiling < objective.value(theta, ceiling) <= J * (1.0 + 1e-10)
    objective.machines.reset()
    assert objective.value(theta, 1.0001 * J) == pytest.approx(J, rel=1e-10)


def test_identical_kernels_at_equal_gates_are_a_stationary_point():
    """Why starts are random: a gate of zero parameters cannot choose between copies."""
    _, objective, _ = make_objective("hinge", "softmax", sources=(1, 1, 1))
    objective.value(np.zeros(9))
    np.testing.assert_allclose(objective.gradient(), 0.0, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_is_given_stays_as_it_is(dtype):
    problem, objective, theta = make_objective("hinge", "gaussian", n=20, tol=1e-8)
    expected, slope = objective.value(theta), objective.gradient()
    Ks, sources = problem.Ks.astype(dtype), np.arange(3)
    given = (Ks, sources, problem.X, theta)
    copies = [array.copy() for array in given]
    for array in (problem.X, theta):
        array.flags.writeable = False
    Ks.flags.writeable = False
    machines = make_machines("hinge", problem, 1e-8)
    objective = GatedObjective(Ks, sources, problem.X, gates.GATES["gaussian"], machines)
    rounding = 1e-7 if dtype == np.float64 else 1e-5
    assert objective.value(theta) == pytest.approx(expected, rel=rounding)
    np.testing.assert_allclose(objective.gradient(), slope, atol=1e-3)
    objective.project(theta)
    for array, copy in zip(given, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_a_snapshot_does_not_change_with_the_next_point():
    _, objective, theta = make_objective("ovr", "softmax", n=24, tol=1e-6)
    objective.value(theta)
    kept = objective.snapshot()
    copies = [np.array(part) for part in kept]
    objective.value(-2.0 * theta)
    assert (objective.snapshot().coefficients != kept.coefficients).any()
    for part, copy in zip(kept, copies, strict=True):
        np.testing.assert_array_equal(np.array(part), copy)


def test_description_of_a_point():
    _, objective, _ = make_objective("hinge", "softmax", n=20)
    V = np.zeros((3, 3))
    V[2, -1] = -50.0  # the third gate is shut everywhere
    objective.value(V.ravel())
    described = objective.describe()
    assert described["n_active"] == 2.0
    assert described["gap"] == objective.solved.gap


# --- sigmoid gates over copies ------------------------------------------------------------------------------


def test_copies_set_out_where_the_objective_falls_fastest():
    """Curvature of J across the even gate, by differences: the leading direction falls as M says."""
    problem, objective, theta = make_objective("hinge", "sigmoid", seed=3, n=40, sources=(0, 0), tol=1e-12)
    even = np.zeros(theta.size).reshape(2, -1)
    parted = copies.part_copies(objective, even)
    np.testing.assert_allclose(parted.sum(axis=0), 0.0, atol=1e-12)
    way = parted[1] / np.linalg.norm(parted[1])
    middle = objective.value(even.ravel())

    def fall(w, step=0.05):
        moved = [objective.value((sign * step * np.stack([-w, w])).ravel()) for sign in (1, -1)]
        return (middle - np.mean(moved)) / step**2

    for other in np.random.default_rng(0).normal(size=(20, way.size)):
        assert fall(other / np.linalg.norm(other)) <= fall(way) * (1.0 + 1e-3)
    objective.value(even.ravel())
    beta = objective.machines.coefficients[:, 0]
    Z = np.column_stack([problem.X, np.ones(40)])
    M = np.outer(beta, beta) * problem.Ks[0]
    delta = 0.25 * Z @ way
    assert fall(way) == pytest.approx(delta @ M @ delta, rel=0.02)


@pytest.mark.parametrize("n_copies", [2, 3, 7])
@pytest.mark.parametrize("D", [0, 1, 3])
def test_every_copy_sets_out_by_itself(n_copies, D):
    _, objective, _ = make_objective("hinge", "sigmoid", seed=1, n=30, D=D, sources=(0,) * n_copies)
    parted = copies.part_copies(objective, np.zeros((n_copies, D + 1)))
    gaps = np.abs(parted[:, None] - parted[None]).max(axis=2)[~np.eye(n_copies, dtype=bool)]
    assert gaps.min() > 1e-3
    np.testing.assert_array_equal(parted, copies.part_copies(objective, np.zeros((n_copies, D + 1))))


def test_kernels_without_copies_set_out_as_before():
    _, objective, _ = make_objective("hinge", "sigmoid", seed=1, n=30, sources=(0, 1, 1))
    start = np.random.default_rng(0).normal(size=(3, 3))
    parted = copies.part_copies(objective, start)
    np.testing.assert_array_equal(parted[0], start[0])
    assert (parted[1:] != start[1:]).any()


def test_without_support_samples_there_is_nothing_to_go_by():
    _, objective, _ = make_objective("svr", "sigmoid", seed=1, n=30, sources=(0, 0))
    objective.machines.losses[0] = EpsilonInsensitive(np.zeros(30), 1.0, 0.1)
    objective.machines.reset()
    np.testing.assert_array_equal(copies.part_copies(objective, np.zeros((2, 3))), 0.0)


@pytest.mark.parametrize(
    ("kind", "gate"), [("hinge", "softmax"), ("svr", "sigmoid"), ("joint", "gaussian"), ("hinge", "sigmoid")]
)
def test_costs_of_open_gates(kind, gate):
    """The value has Σ prices·η, the gradient is that of the value."""
    _, plain, theta = make_objective(kind, gate, seed=5, n=15, sources=(0, 1, 1), tol=1e-10)
    prices = np.random.default_rng(0).uniform(0.0, 0.5, size=(15, 3))
    charged = GatedObjective(plain.Ks, plain.sources, plain.X, plain.gate, plain.machines, 0.2, prices)
    free = GatedObjective(plain.Ks, plain.sources, plain.X, plain.gate, plain.machines, 0.2)
    eta = plain.gate.values(theta.reshape(3, -1), plain.X)
    assert charged.value(theta) == pytest.approx(free.value(theta) + (prices * eta).sum(), rel=1e-8)
    charged.value(theta)
    found = charged.gradient()
    expected = differences(charged.value, theta, 1e-4)
    np.testing.assert_allclose(found, expected, atol=2e-5 * max(1.0, np.abs(expected).max()))

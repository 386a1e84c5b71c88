"""Projection kernels: their derivatives, the objective of projections and gate, and the choice of starts."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from multikernel.core.svm.losses import Hinge
from multikernel.localized.solver.gates import GATES
from multikernel.localized.solver.learn import DescentOptions
from multikernel.localized.solver.machines import BinaryMachines
from multikernel.localized.solver.projections import (
    PROJECTION_KERNELS,
    ProjectionModel,
    ProjectionObjective,
    draw_projections,
    gated_features,
    learn_projections,
    projection_kernel,
)
from tests.localized.solver.gated_problems import MACHINES, differences, make_machines, make_problem

# --- kernels, written plainly ------------------------------------------------------------------------------


def plain_kernel(name, degree, gamma, x, z):
    if name == "linear":
        return x @ z
    return (x @ z + 1.0) ** degree if name == "poly" else np.exp(-gamma * np.sum((x - z) ** 2))


def plain_gram(name, degree, gamma, left, right):
    return np.array([[plain_kernel(name, degree, gamma, x, z) for z in right] for x in left])


@given(
    name=st.sampled_from(PROJECTION_KERNELS),
    degree=st.integers(1, 5),
    gamma=st.floats(0.1, 2.0),
    shape=st.tuples(st.integers(1, 9), st.integers(1, 4), st.integers(1, 3)),
    seed=st.integers(0, 2**31),
)
def test_a_kernel_and_its_derivative(name, degree, gamma, shape, seed):
    """Gram, product with coefficients, and ∂(−½ tr U'KU)/∂Z entry by entry."""
    n, n_components, n_machines = shape
    rng = np.random.default_rng(seed)
    Z, Z_new = rng.normal(size=(n, n_components)), rng.normal(size=(4, n_components))
    U = rng.normal(size=(n, n_machines))
    kernel = projection_kernel(name, degree, gamma)
    K = np.empty((n, n))
    kernel.fill(Z, K)
    np.testing.assert_allclose(K, plain_gram(name, degree, gamma, Z, Z), rtol=1e-12)
    assert (K == K.T).all()
    expected = plain_gram(name, degree, gamma, Z_new, Z) @ U
    np.testing.assert_allclose(kernel.apply(Z_new, Z, U), expected, rtol=1e-9, atol=1e-9)
    KU, slopes = kernel.adjoint(Z, U)
    np.testing.assert_allclose(KU, K @ U, rtol=1e-9, atol=1e-9)

    def form(entries):
        moved = plain_gram(name, degree, gamma, *([entries.reshape(Z.shape)] * 2))
        return -0.5 * np.sum(U * (moved @ U))

    size = 1.0 + np.abs(slopes).max()
    np.testing.assert_allclose(slopes.ravel(), differences(form, Z.ravel()), atol=1e-6 * size)


# --- the objective -----------------------------------------------------------------------------------------


def solved_to_the_end(kind, n, seed):
    """Machines whose values are those of the optimum, so that differences of J are, too."""
    return make_machines(kind, make_problem(n, seed=seed), 1e-11)


def coefficients_are_unique(objective):
    """Whether the machines' coefficients are the only ones (Danskin's theorem asks for it).

    A change of the free ones that moves no score, δ with (K δ)_free = constant and Σδ = 0, must not exist.
    """
    machines, K = objective.machines, objective.K
    for column in machines.coefficients.T:
        bound = np.abs(column).max()
        free = np.flatnonzero((np.abs(column) > 1e-7 * bound) & (np.abs(column) < (1 - 1e-7) * bound))
        if free.size < 2:
            continue
        system = np.block([[K[np.ix_(free, free)], np.ones((free.size, 1))], [np.ones((1, free.size)), 0.0]])
        if np.linalg.cond(system) > 1e7:
            return False
    return True


@given(
    name=st.sampled_from(PROJECTION_KERNELS),
    gate=st.sampled_from(sorted(GATES)),
    norm=st.sampled_from([None, "unit"]),
    kind=st.sampled_from(MACHINES),
    sizes=st.tuples(st.integers(9, 16), st.integers(1, 4), st.integers(1, 3), st.integers(1, 2)),
    ridges=st.sampled_from([(0.0, 0.0), (0.3, 0.2)]),
    seed=st.integers(0, 2**31),
)
def test_the_gradient_is_that_of_the_objective(name, gate, norm, kind, sizes, ridges, seed):
    n, n_features, n_regions, n_components = sizes
    rng = np.random.default_rng(seed)
    X, gating_X = rng.normal(size=(n, n_features)), rng.normal(size=(n, 2))
    model = ProjectionModel(
        projection_kernel(name, 2, 0.6), GATES[gate], n_regions, n_components, norm, *ridges
    )
    objective = ProjectionObjective(model, X, gating_X, solved_to_the_end(kind, n, seed))
    V = rng.normal(size=(n_regions, 3)) + [0.0, 0.0, 2.0] if n_regions > 1 else np.empty(0)
    theta = np.concatenate([rng.normal(size=n_regions * n_features * n_components), V.ravel()])
    value = objective.value(theta)
    gradient = objective.gradient()
    assume(coefficients_are_unique(objective))
    expected = differences(objective.value, theta)
    again = differences(objective.value, theta, 3e-6)
    size = max(1.0, abs(value), np.abs(expected).max())
    assume(np.abs(expected - again).max() < 1e-6 * size)  # no kink within the step
    np.testing.assert_allclose(gradient, expected, atol=2e-5 * size)


I = np.arange(1.0, 13.0)
SIGNS = np.array([1, 1, -1, 1, -1, -1, 1, -1, 1, -1, 1, -1], float)


@pytest.mark.parametrize(
    ("kernel", "value", "slopes"),
    [
        (projection_kernel("linear"), 9.223870, (-1.324169, 0.947199)),
        (projection_kernel("poly", 2), 6.898875, (-3.676096, 3.303954)),
        (projection_kernel("gaussian", gamma=1 / 1.5**2), 8.729828, (-2.030004, 2.306754)),
    ],
)
def test_twelve_points_on_one_projection(kernel, value, slopes):
    X = np.column_stack([np.sin(I), np.cos(2 * I)])
    model = ProjectionModel(kernel, GATES["softmax"], 1, 1)
    objective = ProjectionObjective(model, X, X, BinaryMachines([Hinge(SIGNS, 1.0)], tol=1e-10))
    assert objective.value(np.array([0.6, -0.8])) == pytest.approx(value, abs=1e-5)
    assert objective.gradient() == pytest.approx(slopes, abs=1e-5)


@given(
    name=st.sampled_from(PROJECTION_KERNELS), gate=st.sampled_from(sorted(GATES)), seed=st.integers(0, 2**31)
)
def test_the_kernel_of_several_regions(name, gate, seed):
    """K = Σ_m (η_m η_m') ∘ k(W_m'x, W_m'x'), and the value is the machine's at this kernel."""
    rng = np.random.default_rng(seed)
    X, gating_X = rng.normal(size=(11, 3)), rng.normal(size=(11, 2))
    W, V = rng.normal(size=(3, 3, 2)), rng.normal(size=(3, 3)) + [0.0, 0.0, 2.0]
    model = ProjectionModel(projection_kernel(name, 3, 0.4), GATES[gate], 3, 2)
    objective = ProjectionObjective(model, X, gating_X, solved_to_the_end("hinge", 11, seed))
    value = objective.value(np.concatenate([W.ravel(), V.ravel()]))
    eta = GATES[gate].values(V, gating_X)
    expected = sum(
        np.outer(eta[:, m], eta[:, m]) * plain_gram(name, 3, 0.4, X @ W[m], X @ W[m]) for m in range(3)
    )
    np.testing.assert_allclose(objective.K, expected, rtol=1e-10, atol=1e-12)
    assert (objective.K == objective.K.T).all()
    beta = objective.machines.coefficients[:, 0]
    assert value == pytest.approx(np.abs(beta).sum() - 0.5 * beta @ expected @ beta, rel=1e-9)
    if name == "linear":
        features = gated_features(objective.Z, eta)
        np.testing.assert_allclose(features @ features.T, objective.K, rtol=1e-9, atol=1e-12)


def test_a_ceiling_cuts_a_value_short_but_never_below_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    objective = ProjectionObjective(
        ProjectionModel(projection_kernel("linear"), GATES["softmax"], 1, 1, projection_ridge=2.0),
        X, X, make_machines("hinge", make_problem(60), 1e-6),
    )  # fmt: skip
    theta = np.array([1.0, 0.0, 0.0])
    value = objective.value(theta)
    objective.machines.reset()
    ceiling = 0.5 * value
    assert ceiling < objective.value(theta, ceiling) <= value + 1e-9


def test_a_point_that_was_kept_stays_as_it_was():
    objective, _ = noisy_problem(n_regions=2)
    theta = np.random.default_rng(0).normal(size=2 * 6 + 2 * 7)
    value = objective.value(theta)
    kept = objective.snapshot()
    before = [np.array(part) for part in kept]
    objective.value(-2.0 * theta)
    for part, old in zip(kept, before, strict=True):
        np.testing.assert_array_equal(part, old)
    beta = kept.coefficients[:, 0]
    features = gated_features(kept.Z, kept.eta)
    assert value == pytest.approx(np.abs(beta).sum() - 0.5 * np.sum((features.T @ beta) ** 2), rel=1e-9)


# --- starts ------------------------------------------------------------------------------------------------


def test_columns_of_a_start_are_unit_differences_of_different_groups():
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(9, 4)), np.arange(9) % 3
    W = draw_projections(X, groups, (2, 3), rng)
    assert W.shape == (2, 4, 3)
    pairs = [(a, b) for a in range(9) for b in range(9) if groups[a] != groups[b]]
    known = np.array([X[a] - X[b] for a, b in pairs])
    known /= np.linalg.norm(known, axis=1)[:, None]
    for column in W.transpose(0, 2, 1).reshape(-1, 4):
        assert np.abs(known - column).max(axis=1).min() < 1e-12
    assert len({tuple(column) for column in W.transpose(0, 2, 1).reshape(-1, 4)}) > 1


@pytest.mark.parametrize("groups", [np.zeros(5), np.array([0, 0, 0, 1, 1])])
def test_a_start_needs_no_samples_that_differ(groups):
    W = draw_projections(np.ones((5, 3)), groups, (1, 2), np.random.default_rng(0))
    np.testing.assert_allclose(np.linalg.norm(W, axis=1), 1.0)


def noisy_problem(n=80, n_features=6, n_regions=1, gate="softmax", **options):
    """One informative column among noise, few positives: most projections end on the plateau."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, n_features))
    y = np.where(X[:, 0] > 0.9, 1.0, -1.0)
    model = ProjectionModel(projection_kernel("linear"), GATES[gate], n_regions, 1, **options)
    return ProjectionObjective(model, X, X, BinaryMachines([Hinge(y, 1.0)], tol=1e-4)), y


def test_the_start_is_the_lowest_of_those_screened():
    objective, y = noisy_problem()
    options = DescentOptions(max_iter=1)
    starts = []
    value = objective.value

    def spied(theta, ceiling=np.inf):
        found = value(theta, ceiling)
        starts.append((found, theta.copy()))
        return found

    objective.value = spied
    result = learn_projections(objective, y, (1, 7), np.random.default_rng(0), options)
    objective.value = value
    screened, first = starts[:7], starts[7][1]
    exact = []
    for _, theta in screened:
        objective.machines.reset()
        exact.append(objective.value(theta))
    assert len({round(v, 6) for v in exact}) > 3
    assert exact.count(34.0) > 1  # the plateau: 2 C times the number of positives
    np.testing.assert_array_equal(first, screened[int(np.argmin(exact))][1])
    assert result.n_solves == len(starts)
    assert result.history[0]["objective"] == pytest.approx(min(exact), rel=1e-3)


@pytest.mark.parametrize("optimizer", ["gradient", "lbfgs"])
@pytest.mark.parametrize("norm", [None, "unit"])
@pytest.mark.parametrize("alternate", [False, True])
def test_the_objective_never_rises(optimizer, norm, alternate):
    objective, y = noisy_problem(n_regions=2, gate="gaussian", norm=norm)
    blocks = objective.model.blocks(6) if alternate else None
    options = DescentOptions(optimizer=optimizer, max_iter=15, blocks=blocks)
    result = learn_projections(objective, y, (1, 3), np.random.default_rng(0), options)
    values = [entry["objective"] for entry in result.history]
    assert len(values) > 2
    assert all(later <= earlier for earlier, later in pairwise(values))
    assert values[-1] == result.objective < 0.9 * values[0]
    if norm == "unit":
        np.testing.assert_allclose(np.linalg.norm(result.point.W, axis=1), 1.0, rtol=1e-12)


def test_admissible_parameters_have_unit_columns_and_positive_widths():
    objective, _ = noisy_problem(n_regions=2, gate="gaussian", norm="unit")
    theta = np.random.default_rng(0).normal(size=2 * 6 + 2 * 7)
    theta[-1] = -0.5
    W, V = objective.model.split(objective.project(theta), 6)
    raw, given = objective.model.split(theta, 6)
    assert [block.tolist() for block in objective.model.blocks(6)] == [list(range(12)), list(range(12, 26))]
    np.testing.assert_allclose(W, raw / np.linalg.norm(raw, axis=1, keepdims=True))
    np.testing.assert_array_equal(V[:, :-1], given[:, :-1])
    assert V[-1, -1] == 0.5


@pytest.mark.parametrize("exponent", [-1000, -600, 600, 1000])
def test_starts_do_not_depend_on_the_units(exponent):
    """Squares of such numbers would over- or underflow; a power of two keeps all digits."""
    X, groups = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    plain, scaled = (
        draw_projections(table, groups, (2, 2), np.random.default_rng(1))
        for table in (X, np.ldexp(X, exponent))
    )
    np.testing.assert_array_equal(scaled, plain)
    np.testing.assert_allclose(np.linalg.norm(scaled, axis=1), 1.0, rtol=1e-14)


def test_starts_of_samples_that_differ_in_a_tiny_column():
    X, groups = np.zeros((20, 2)), np.arange(20) % 2
    X[:, 0], X[:, 1] = 7.0, 1e-250 * groups
    W = draw_projections(X, groups, (1, 1), np.random.default_rng(0))[0, :, 0]
    np.testing.assert_array_equal(np.abs(W), [0.0, 1.0])

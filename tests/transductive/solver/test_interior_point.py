"""The interior point method: Newton's direction against the equations it solves, and the final conditions.

The equations are written down again from the formulas, over dense matrices. They are bilinear, so that after
a full Newton step, whatever its length, exactly the products of two changes are left.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from multikernel.core.optim.weight_sets import Spectrahedron
from multikernel.core.svm.losses import Hinge
from multikernel.transductive.solver.families import RankOneFamily, StackFamily
from multikernel.transductive.solver.interior_point import InteriorPoint, follow_path
from tests.core.problems import Task
from tests.core.reference import optimal_value
from tests.transductive.solver.matrix_problems import everywhere, make_case, reference_optimum

CHANGES = ("beta", "w", "nu", "delta", "z", "lam", "theta")


def make_method(criterion, weights, C=1.0, **points):
    """The method on members of trace n with weights of sum one, and those members plainly."""
    case = make_case(criterion, weights, C=C, **points)
    kind = RankOneFamily if weights == "spectral" else StackFamily
    family = kind(case.members, case.y.size, case.learned)
    cone = Spectrahedron(case.members, family.scales[: len(case.members)]) if weights == "free" else None
    members = case.stack * (case.n / case.r)[:, None, None]
    if case.learned:
        members = np.concatenate([members, np.eye(case.n)[None]])
    return InteriorPoint(family, case.problem().loss, cone), case.but(trace=float(case.n)), members


def state_of(method):
    """The iterate, copied."""
    state = {name: np.copy(getattr(method, name)) for name in CHANGES}
    return SimpleNamespace(**state, Z=None if method.pair is None else method.pair.Z.copy())


def after(state, step):
    """The iterate after a full step."""
    moved = {name: getattr(state, name) + getattr(step, name) for name in vars(state) if name != "Z"}
    return SimpleNamespace(**moved, Z=None if state.Z is None else state.Z + step.psd.dZ)


def equations(case, members, state, cone):
    """Everything that Newton's method makes zero or t, from the formulas."""
    y, N, C = case.y, case.y.size, case.C
    block = members[:, :N, :N]
    K = np.einsum("i,iab->ab", state.w, block) + case.tau * np.eye(N)
    a = y * state.beta
    forms = np.array([state.beta @ M @ state.beta for M in block])
    signed = np.arange(len(members)) >= (0 if cone is None else cone.n_members)
    traces = np.zeros(len(members))
    if cone is not None:
        U = np.eye(case.n) if cone.basis is None else cone.basis
        Z = U @ state.Z @ U.T
        traces[~signed] = [np.trace(Z @ M) for M in members[~signed]]
    return SimpleNamespace(
        stationary=2 * y - 2 * K @ state.beta + y * (state.nu - state.delta) + 2 * state.lam,
        weights=state.theta - forms - state.z - traces,
        total=state.w.sum() - 1.0,
        balance=state.beta.sum(),
        products=a * state.nu,
        upper_products=(C - a) * state.delta,
        weight_products=(state.w * state.z)[signed],
        bilinear=lambda dw, beta: np.einsum("i,iab->ab", dw, block) @ beta,
        forms=lambda beta: np.array([beta @ M @ beta for M in block]),
        signed=signed,
    )


def unbalance(method):
    """Off the linear constraints too, which the iterations never leave but by rounding."""
    method.beta = method.beta * np.where(method.y > 0, 0.95, 1.0)
    method.w = 0.97 * method.w
    if method.pair is not None:
        method.pair.K, method.pair.L = 0.97 * method.pair.K, np.sqrt(0.97) * method.pair.L
        method.pair._curvature = None


@everywhere
@pytest.mark.parametrize("corrected", [False, True], ids=["plain", "corrected"])
def test_a_full_step_leaves_products_of_changes_only(criterion, weights, corrected):
    method, case, members = make_method(criterion, weights)
    for _ in range(4):
        method.evaluate()
        assert method.advance()
    unbalance(method)
    method.evaluate()
    assert method._factor()
    state, t = state_of(method), 0.3 * method.gap / 50
    first = method.direction(0.0) if corrected else None
    step = method.direction(t, first)
    start = equations(case, members, state, method.cone)
    end = equations(case, members, after(state, step), method.cone)
    # what the first direction foretold has been subtracted
    left = first if corrected else SimpleNamespace(**{name: 0.0 * getattr(step, name) for name in CHANGES})
    gone, moved, signed = case.y * left.beta, case.y * step.beta, start.signed

    def close(actual, expected, size):
        np.testing.assert_allclose(actual, expected, atol=1e-9 * max(1.0, np.abs(size).max(initial=0.0)))

    second = 2 * start.bilinear(step.w, step.beta)
    close(end.stationary, 2 * start.bilinear(left.w, left.beta) - second, np.append(start.stationary, second))
    close(end.weights, start.forms(left.beta) - start.forms(step.beta), start.forms(state.beta))
    close(end.total, 0.0, 1.0)
    close(end.balance, 0.0, state.beta)
    close(end.products, t + moved * step.nu - gone * left.nu, start.products)
    if criterion == "soft1":
        close(end.upper_products, t - moved * step.delta + gone * left.delta, start.upper_products)
    close(end.weight_products, t + (step.w * step.z - left.w * left.z)[signed], start.weight_products)
    assert np.abs(start.stationary).max() > 1e-6  # there was something to do


@everywhere
def test_the_optimal_conditions_from_outside(criterion, weights):
    method, case, members = make_method(criterion, weights)
    values = []

    def watch(method):
        values.append(method.value)
        return method.score < 1e-9

    assert follow_path(method, 60, watch) == "stopped"
    assert len(values) < 30
    state = state_of(method)
    conditions = equations(case, members, state, method.cone)
    a, size = case.y * state.beta, 1.0 + abs(values[-1])
    np.testing.assert_allclose(conditions.stationary, 0.0, atol=1e-8)
    np.testing.assert_allclose(conditions.weights, 0.0, atol=1e-8 * size)
    np.testing.assert_allclose(state.w.sum(), 1.0, atol=1e-9)
    np.testing.assert_allclose(state.beta.sum(), 0.0, atol=1e-8 * a.max())
    assert a.min() > 0.0 and state.nu.min() > 0.0
    assert conditions.products.sum() < 2e-9 * size
    assert (state.w[conditions.signed] > 0.0).all() and (state.z[conditions.signed] > 0.0).all()
    assert conditions.weight_products.sum() < 2e-9 * size
    if criterion == "soft1":
        assert a.max() < case.C and state.delta.min() > 0.0
        assert conditions.upper_products.sum() < 2e-9 * size
    if weights == "free":
        kernels = len(case.members)
        K = np.einsum("i,iab->ab", state.w[:kernels], members[:kernels])
        U = np.eye(case.n) if method.cone.basis is None else method.cone.basis
        assert np.linalg.eigvalsh(U.T @ K @ U)[0] > 0.0 < np.linalg.eigvalsh(state.Z)[0]
        np.testing.assert_allclose(np.trace(K @ U @ state.Z @ U.T), method.pair.gap, atol=1e-10 * size)
        assert method.pair.gap < 2e-9 * size
    np.testing.assert_allclose(values[-1], reference_optimum(case), rtol=2e-7)


def test_prices_of_each_sample():
    """Per-sample bounds: each dual stays below its own, and the value is that of a conic solver."""
    case = make_case("soft1", "nonnegative", seed=3)
    C = np.linspace(0.05, 0.8, case.y.size)
    method = InteriorPoint(StackFamily(case.members, case.y.size), Hinge(case.y, C))
    assert follow_path(method, 60, lambda method: method.score < 1e-10) == "stopped"
    assert (case.y * method.beta < C).all()
    N = case.y.size
    labelled = (case.stack * (case.n / case.r)[:, None, None])[:, :N, :N]
    expected = optimal_value(labelled, [Task("hinge", case.y, C).reference()])
    np.testing.assert_allclose(method.value, 2.0 * expected, rtol=1e-8)


def test_why_the_path_ends():
    method, _, _ = make_method("soft2", "nonnegative")
    seen = []
    assert follow_path(method, 3, lambda method: bool(seen.append(method.score))) == "max_iter"
    assert len(seen) == 3
    method, _, _ = make_method("soft2", "nonnegative")
    assert follow_path(method, 3, lambda method: True) == "stopped"
    method, _, _ = make_method("soft2", "nonnegative")
    scores = []
    assert follow_path(method, 500, lambda method: bool(scores.append(method.score))) == "stalled"
    assert min(scores) < 1e-11 and len(scores) < 60  # as far as floating point goes, and no further

"""Kernel weights of the joint multiclass machine: against a conic solver, and a judge of its own."""

import itertools
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.optimum import conic_optimum
from multikernel.core.optim.loop import Options, Status
from multikernel.core.stack.linear import WeightedStack
from multikernel.core.svm.joint import sensitivity as joint_sensitivity
from multikernel.core.svm.joint.loss import JointHinge
from multikernel.core.svm.joint.machine import JointMachine
from multikernel.core.svm.joint.sensitivity import FreeDuals, solve_free_duals
from multikernel.core.svm.joint.solver import solve_multiclass
from multikernel.core.svm.losses import Hinge
from multikernel.core.weights.learn import learn_weights
from tests.core.problems import gaussian

TIGHT = Options(tol=1e-8)


def make_problem(n=36, n_classes=3, m=5, seed=0, varied=False):
    """Kernels, codes, C (n,), R (n, n_classes)."""
    rng = np.random.default_rng(seed)
    codes = np.r_[np.arange(n_classes), rng.integers(n_classes, size=n - n_classes)]
    X = rng.normal(size=(n, 5))
    X[:, 0] += codes
    X[:, 1] -= 0.3 * codes**2
    Ks = [
        gaussian(X, 0.1),
        gaussian(X[:, :2], 1.0),
        X[:, [0]] @ X[:, [0]].T,
        (1.0 + X[:, 1:3] @ X[:, 1:3].T) ** 2,
        gaussian(X[:, 3:], 3.0),
    ]
    C = rng.uniform(0.3, 3.0, size=n) if varied else np.full(n, 1.0)
    R = rng.uniform(-0.5, 2.0, size=(n, n_classes)) if varied else np.full((n, n_classes), 2.0)
    return np.stack(Ks[:m]), codes, C, R


def optimal_value(Ks, codes, C, R, norm, costs):
    """The dual by Clarabel: max Σ Rα − ½ ‖(tr B'K_mB / d_m²)_m‖_{p*}."""
    n, n_classes = R.shape
    own = np.eye(n_classes)[codes]
    alpha = cp.Variable((n, n_classes), nonneg=True)
    B = cp.multiply(own, cp.sum(alpha, axis=1, keepdims=True) @ np.ones((1, n_classes))) - alpha
    q = []
    for K, d in zip(Ks, costs, strict=True):
        values, vectors = np.linalg.eigh(K)
        root = vectors * np.sqrt(np.maximum(values, 0.0)) / d
        q.append(cp.sum_squares(root.T @ B))
    q = cp.hstack(q)
    penalty = cp.max(q) if norm == 1.0 else cp.sum(q) if np.isinf(norm) else cp.norm(q, norm / (norm - 1.0))
    problem = cp.Problem(
        cp.Maximize(cp.sum(cp.multiply(R * (1.0 - own), alpha)) - 0.5 * penalty),
        [alpha <= C[:, None] * (1.0 - own), cp.sum(B, axis=0) == 0],
    )
    return conic_optimum(problem)


def judge(Ks, codes, C, R, result, norm, costs):
    """The bounds that weights, duals and intercepts give, from the formulas, in loops."""
    B, n_classes = result.duals, R.shape[1]
    mu = result.weights * costs**2
    assert (mu >= 0.0).all()
    size = mu.max() if np.isinf(norm) else (mu**norm).sum() ** (1.0 / norm)
    assert size <= 1.0 + 1e-9
    alpha = -B.T.copy()
    alpha[np.arange(codes.size), codes] = 0.0
    assert alpha.min() >= 0.0 and (alpha <= C[:, None] * (1 + 1e-12)).all()
    np.testing.assert_allclose(B[codes, np.arange(codes.size)], alpha.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(B.sum(axis=1), 0.0, atol=1e-9 * C.sum())
    forms = np.array([np.trace(B @ K @ B.T) for K in Ks])
    norm2 = result.weights @ forms
    scores = B @ np.tensordot(result.weights, Ks, 1) + result.intercepts[:, None]
    reward, upper = 0.0, 0.5 * norm2
    for i, l in itertools.product(range(codes.size), range(n_classes)):
        if l != codes[i]:
            reward += R[i, l] * alpha[i, l]
            upper += C[i] * max(0.0, R[i, l] - scores[codes[i], i] + scores[l, i])
    q = forms / costs**2
    if norm == 1.0:
        support = q.max()
    else:
        support = q.sum() if np.isinf(norm) else (q ** (norm / (norm - 1))).sum() ** (1 - 1 / norm)
    return upper, reward - 0.5 * support, reward - 0.5 * norm2


@pytest.mark.parametrize("varied", (False, True))
@pytest.mark.parametrize("norm", (1.0, 2.0, np.inf))
@pytest.mark.parametrize("n_classes", (3, 5))
def test_the_optimum_is_that_of_a_conic_solver(n_classes, norm, varied):
    Ks, codes, C, R = make_problem(n_classes=n_classes, seed=n_classes, varied=varied)
    costs = np.array([1.0, 0.7, 1.5, 1.2, 0.9])
    result = learn_weights(Ks, [JointHinge(codes, n_classes, C, R)], norm=norm, costs=costs, options=TIGHT)
    assert result.status == Status.OPTIMAL and result.gap <= 1e-8
    upper, lower, objective = judge(Ks, codes, C, R, result, norm, costs)
    assert upper - lower <= 1.01e-8 * upper + 1e-10
    np.testing.assert_allclose(
        [result.upper_bound, result.lower_bound, result.objective], [upper, lower, objective], rtol=1e-9
    )
    reference = optimal_value(Ks, codes, C, R, norm, costs)
    np.testing.assert_allclose(result.objective, reference, rtol=1e-6 if norm != 2.0 else 1e-5)


@given(
    n=st.integers(6, 40),
    n_classes=st.integers(2, 5),
    m=st.integers(1, 5),
    seed=st.integers(0, 10**6),
    varied=st.booleans(),
    norm=st.sampled_from([1.0, 1.5, 4.0, np.inf]),
)
def test_every_certificate_is_what_the_judge_finds(n, n_classes, m, seed, varied, norm):
    Ks, codes, C, R = make_problem(n, n_classes, m, seed, varied)
    result = learn_weights(
        Ks, [JointHinge(codes, n_classes, C, R)], norm=norm, options=Options(tol=1e-4, coarse=False)
    )
    upper, lower, objective = judge(Ks, codes, C, R, result, norm, np.ones(m))
    scale = abs(upper) + 1e-9
    assert abs(result.gap * abs(upper) - max(upper - lower, 0.0)) <= 1e-8 * scale
    assert result.status == Status.OPTIMAL and result.gap <= 1e-4
    assert lower - 1e-9 * scale <= objective <= upper + 1e-9 * scale


def test_one_kernel_is_the_fixed_machine():
    Ks, codes, C, R = make_problem(60, 4, 1, varied=True)
    learned = learn_weights(Ks, [JointHinge(codes, 4, C, R)], options=TIGHT)
    fixed = solve_multiclass(Ks[0], codes, 4, C, rewards=R, tol=1e-9)
    np.testing.assert_allclose(learned.objective, fixed.objective, rtol=1e-8)
    np.testing.assert_allclose(learned.weights, 1.0)


@pytest.mark.parametrize("norm", (1.0, 2.0))
def test_two_classes_are_the_binary_machine(norm):
    Ks, codes, C, _ = make_problem(50, 2)
    joint = learn_weights(Ks, [JointHinge(codes, 2, C)], norm=norm, options=TIGHT)
    binary = learn_weights(Ks, [Hinge(2.0 * codes - 1.0, C)], norm=norm, options=TIGHT)
    np.testing.assert_allclose(joint.objective, 2.0 * binary.objective, rtol=1e-7)
    np.testing.assert_allclose(joint.weights, binary.weights, atol=1e-4)
    np.testing.assert_allclose(joint.duals[1], -joint.duals[0], atol=1e-9)


def test_the_units_of_the_kernels_do_not_matter():
    Ks, codes, C, R = make_problem(varied=True)
    here = learn_weights(Ks, [JointHinge(codes, 3, C, R)], options=TIGHT)
    there = learn_weights(1e6 * Ks, [JointHinge(codes, 3, 1e-6 * C, R)], options=TIGHT)
    np.testing.assert_allclose(there.objective, 1e-6 * here.objective, rtol=1e-7)
    np.testing.assert_allclose(there.weights, here.weights, atol=1e-5)


def test_a_start_on_a_part_of_the_samples_and_single_precision():
    Ks, codes, C, R = make_problem(640, 4, 4, seed=3)
    whole = learn_weights(Ks, [JointHinge(codes, 4, C)], options=Options(tol=1e-5, coarse=False))
    rough = learn_weights(Ks, [JointHinge(codes, 4, C)], options=Options(tol=1e-5))
    single = learn_weights(Ks.astype(np.float32), [JointHinge(codes, 4, C)], options=Options(tol=1e-4))
    np.testing.assert_allclose(rough.objective, whole.objective, rtol=2e-5)
    np.testing.assert_allclose(single.objective, whole.objective, rtol=2e-4)
    upper, lower, _ = judge(Ks, codes, C, R, rough, 1.0, np.ones(4))
    assert upper - lower <= 1.01e-5 * upper


def test_a_solution_starts_another():
    Ks, codes, C, R = make_problem(120, 4, varied=True)
    loss = JointHinge(codes, 4, C, R)
    found = learn_weights(Ks, [loss], options=Options(tol=1e-6))
    again = learn_weights(Ks, [loss], options=Options(tol=1e-5), start=found)
    assert again.n_iter == 1
    costs = np.array([1.0, 2.0, 0.5, 1.0, 3.0])
    warm = learn_weights(Ks, [loss], costs=costs, options=TIGHT, start=found)
    cold = learn_weights(Ks, [loss], costs=costs, options=TIGHT)
    np.testing.assert_allclose(warm.objective, cold.objective, rtol=1e-7)
    with pytest.raises(ValueError, match="must be feasible"):
        learn_weights(Ks, [JointHinge(codes, 4, 0.1 * C, R)], start=found)
    duals = found.duals.copy()
    duals[codes[0], 0] += 1.0  # no α has such a B
    with pytest.raises(ValueError, match="must be feasible"):
        learn_weights(Ks, [loss], start=replace(found, duals=duals))
    duals[codes[0] - 1, 0] -= 1.0  # an α, which nothing balances
    duals = np.clip(duals, -C.min(), None)
    duals[codes, np.arange(120)] = np.where(np.arange(4)[:, None] == codes, 0.0, -duals).sum(axis=0)
    with pytest.raises(ValueError, match="must be feasible"):
        learn_weights(Ks, [loss], start=replace(found, duals=duals))


def test_the_hessian_is_the_derivative_of_the_gradient():
    """At a solution with free duals, −½ dq/dμ is the sensitivity's Hessian."""
    Ks, codes, _, _ = make_problem(30, 3, 3, seed=11)
    mu, step = np.array([0.3, 0.4, 0.3]), 1e-4

    def solve(weights):
        return solve_multiclass(np.tensordot(weights, Ks, 1), codes, 3, 5.0, tol=1e-12)

    def q(weights):
        B = solve(weights).coefficients
        return np.array([np.trace(B.T @ K @ B) for K in Ks])

    here = solve(mu)
    others, samples = np.nonzero((here.alpha.T > 1e-9) & (here.alpha.T < 5.0 * (1 - 1e-9)))
    free = FreeDuals(samples, others, codes[samples])
    F = np.stack([here.coefficients.T @ K for K in Ks])
    K = np.tensordot(mu, Ks, 1)
    found = solve_free_duals(K, free, free.turned(F))
    measured = np.stack([(q(mu + step * e) - q(mu - step * e)) / (2 * step) for e in np.eye(3)])
    np.testing.assert_allclose(found.hessian, -0.5 * measured, rtol=1e-3, atol=1e-4 * abs(measured).max())


def test_the_two_ways_to_the_sensitivity_agree(monkeypatch):
    Ks, codes, _, _ = make_problem(60, 4, 3, seed=2)
    K = Ks.sum(axis=0)
    here = solve_multiclass(K, codes, 4, 5.0, tol=1e-8)
    others, samples = np.nonzero((here.alpha.T > 1e-9) & (here.alpha.T < 5.0 * (1 - 1e-9)))
    free = FreeDuals(samples, others, codes[samples])
    right = free.turned(np.stack([here.coefficients.T @ K for K in Ks]))
    dense = solve_free_duals(K, free, right)
    monkeypatch.setattr(joint_sensitivity, "_DENSE", 1)
    monkeypatch.setattr(joint_sensitivity, "_CG_RESIDUAL", 1e-9)
    monkeypatch.setattr(joint_sensitivity, "_CG_STEPS", 5000)
    steps = solve_free_duals(K, free, right)
    np.testing.assert_allclose(steps.hessian, dense.hessian, rtol=1e-5, atol=1e-6 * abs(dense.hessian).max())
    balance = np.zeros((4, 3))
    np.add.at(balance, free.own, steps.projected)
    np.subtract.at(balance, free.others, steps.projected)
    np.testing.assert_allclose(balance, 0.0, atol=1e-9 * abs(steps.projected).max())
    monkeypatch.setattr(joint_sensitivity, "_CG_STEPS", 3)  # far from solved, and still no indefinite model
    rough = solve_free_duals(K, free, right)
    assert np.linalg.eigvalsh(rough.hessian).min() >= -1e-9 * abs(rough.hessian).max()


def test_a_learned_ridge_has_no_place_here():
    Ks, codes, C, _ = make_problem()
    with pytest.raises(TypeError, match="JointHinge"):
        learn_weights(Ks, [JointHinge(codes, 3, C)], learn_ridge=True)


def test_an_indefinite_kernel_is_noticed():
    Ks, codes, C, _ = make_problem(60, 3, 2)
    Ks[1] -= 3.0 * np.eye(60)
    result = learn_weights(Ks, [JointHinge(codes, 3, C)], norm=np.inf)
    assert result.suspicious or result.status == Status.INDEFINITE


def test_nothing_given_is_changed():
    Ks, codes, C, R = make_problem(varied=True)
    before = [part.copy() for part in (Ks, codes, C, R)]
    learn_weights(Ks, [JointHinge(codes, 3, C, R)])
    for part, old in zip((Ks, codes, C, R), before, strict=True):
        np.testing.assert_array_equal(part, old)


def test_kernels_that_were_left_out_are_looked_at_again():
    """Many kernels, of which most are noise: the certificate is over all of them."""
    Ks, codes, C, R = make_problem(60, 3, 2, seed=4)
    rng = np.random.default_rng(0)
    noise = [gaussian(rng.normal(size=(60, 2)), 1.0) for _ in range(30)]
    Ks = np.concatenate([noise, Ks])
    result = learn_weights(Ks, [JointHinge(codes, 3, C)], options=Options(tol=1e-6))
    upper, lower, _ = judge(Ks, codes, C, R, result, 1.0, np.ones(32))
    assert result.status == Status.OPTIMAL
    assert upper - lower <= 1.01e-6 * upper


def test_a_machine_gives_the_quadratic_forms_of_any_kernel():
    Ks, codes, C, _ = make_problem(40, 3, 3)
    scales = np.array([1.0, 2.0, 0.5])
    stack = WeightedStack(Ks, scales, np.zeros(40))
    stack.set_weights(np.array([0.5, 0.5, 0.0]))
    machine = JointMachine(JointHinge(codes, 3, C), stack)
    machine.solve(1e-4)
    expected = [c * np.trace(machine.beta @ K @ machine.beta.T) for c, K in zip(scales, Ks, strict=True)]
    np.testing.assert_allclose(machine.quadratic_forms(np.array([0, 2])), np.take(expected, [0, 2]))
    np.testing.assert_allclose(machine.refresh(np.arange(3)), expected)


def test_a_part_of_the_loss_counts_for_the_whole():
    _, codes, C, R = make_problem(20, 3, varied=True)
    rows = np.array([3, 1, 7])
    part = JointHinge(codes, 3, C, R).restrict(rows, 4.0)
    np.testing.assert_allclose(part.upper, 4.0 * C[rows])
    expected = np.where(np.arange(3) == codes[rows, None], 0.0, R[rows])
    np.testing.assert_array_equal(part.margins, expected)
    np.testing.assert_array_equal(part.codes, codes[rows])


def test_steps_that_run_out_are_said():
    Ks, codes, C, _ = make_problem(60, 3, 1)
    result = learn_weights(Ks, [JointHinge(codes, 3, C)], options=Options(tol=1e-9, max_steps=3))
    assert result.status in (Status.MAX_ITER, Status.STALLED) and result.gap > 1e-9
    assert result.n_iter == 1

"""Kernel weights of the joint multiclass machine: against a conic solver, and a judge of its own."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.core.optim.loop import Options, Status
from multikernel.core.svm.joint import solver as joint_sensitivity
from multikernel.core.svm.losses import JointHinge
from multikernel.core.weights import second
from multikernel.core.weights.learn import learn_weights
from tests.core.problems import gaussian, judge_joint, mixed_kernels
from tests.core.reference import joint_optimal_value

TIGHT = Options(tol=1e-8)


def make_problem(n=36, n_classes=3, m=5, seed=0, varied=False):
    """Kernels, codes, C (n,), R (n, n_classes)."""
    rng = np.random.default_rng(seed)
    codes = np.r_[np.arange(n_classes), rng.integers(n_classes, size=n - n_classes)]
    X = rng.normal(size=(n, 5))
    X[:, 0] += codes
    X[:, 1] -= 0.3 * codes**2
    Ks = mixed_kernels(X, m)
    C = rng.uniform(0.3, 3.0, size=n) if varied else np.full(n, 1.0)
    R = rng.uniform(-0.5, 2.0, size=(n, n_classes)) if varied else np.full((n, n_classes), 2.0)
    for given_array in (Ks, codes, C, R):
        given_array.flags.writeable = False
    return Ks, codes, C, R


def judge(Ks, codes, C, R, result, norm=1.0, costs=None):
    return judge_joint(Ks, codes, C, R, result.duals, result.intercepts, result.weights, norm, costs)


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
    reference = joint_optimal_value(Ks, codes, C, R, norm, costs)
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
    upper, lower, objective = judge(Ks, codes, C, R, result, norm)
    scale = abs(upper) + 1e-9
    assert abs(result.gap * abs(upper) - max(upper - lower, 0.0)) <= 1e-8 * scale
    assert result.status == Status.OPTIMAL and result.gap <= 1e-4
    assert lower - 1e-9 * scale <= objective <= upper + 1e-9 * scale


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
    upper, lower, _ = judge(Ks, codes, C, R, rough)
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


@pytest.mark.parametrize("dense", (1200, 1))
def test_newton_takes_few_iterations(dense, monkeypatch):
    """By factors of the free duals, and by conjugate gradients where there are too many."""
    monkeypatch.setattr(joint_sensitivity, "_DENSE", dense)
    Ks, codes, C, R = make_problem(120, 4, seed=2)
    result = learn_weights(Ks, [JointHinge(codes, 4, 5.0 * C, R)], options=Options(tol=1e-6, coarse=False))
    assert result.status == Status.OPTIMAL and result.n_iter <= 14


def test_a_learned_ridge_has_no_place_here():
    Ks, codes, C, _ = make_problem()
    with pytest.raises(TypeError, match="JointHinge"):
        learn_weights(Ks, [JointHinge(codes, 3, C)], learn_ridge=True)


def test_an_indefinite_kernel_is_noticed():
    Ks, codes, C, _ = make_problem(60, 3, 2)
    bad = np.stack([Ks[0], Ks[1] - 3.0 * np.eye(60)])
    result = learn_weights(bad, [JointHinge(codes, 3, C)], norm=np.inf)
    assert result.suspicious or result.status == Status.INDEFINITE


def test_kernels_that_were_left_out_are_looked_at_again():
    """Many kernels, of which most are noise: the certificate is over all of them."""
    Ks, codes, C, R = make_problem(60, 3, 2, seed=4)
    rng = np.random.default_rng(0)
    noise = [gaussian(rng.normal(size=(60, 2)), 1.0) for _ in range(30)]
    Ks = np.concatenate([noise, Ks])
    result = learn_weights(Ks, [JointHinge(codes, 3, C)], options=Options(tol=1e-6))
    upper, lower, _ = judge(Ks, codes, C, R, result)
    assert result.status == Status.OPTIMAL
    assert upper - lower <= 1.01e-6 * upper


def test_steps_that_run_out_are_handed_over():
    """Where the steps along cycles are used up, the interior-point method solves the problem."""
    Ks, codes, C, R = make_problem(60, 3, 1)
    result = learn_weights(Ks, [JointHinge(codes, 3, C)], options=Options(tol=1e-8, max_steps=3))
    upper, lower, _ = judge(Ks, codes, C, R, result)
    assert result.status == Status.OPTIMAL and result.n_iter > 1
    assert upper - lower <= 1.01e-8 * upper


@pytest.mark.parametrize("worse", [False, True])
def test_what_is_returned_after_a_hand_over_agrees_with_its_history(monkeypatch, worse):
    """Also where the interior-point method comes out worse and the first result is kept."""
    Ks, codes, C, _ = make_problem(60, 3, 1)
    if worse:
        solve = second.solve
        monkeypatch.setattr(second, "solve", lambda *a: solve(*a)._replace(gap=0.9, upper=1.0, lower=0.1))
    result = learn_weights(Ks, [JointHinge(codes, 3, C)], options=Options(tol=1e-8, max_steps=3))
    assert (result.status == Status.OPTIMAL) != worse
    assert result.history[-1]["gap"] == pytest.approx(result.gap) and len(result.history) == result.n_iter


def test_negative_curvature_is_told_after_a_hand_over(monkeypatch):
    Ks, codes, C, _ = make_problem(60, 3, 1)
    solve = second.solve

    def meets_it(stack, *others):
        stack.negative_curvature = True
        return solve(stack, *others)

    monkeypatch.setattr(second, "solve", meets_it)
    result = learn_weights(Ks, [JointHinge(codes, 3, C)], options=Options(tol=1e-8, max_steps=3))
    assert result.suspicious

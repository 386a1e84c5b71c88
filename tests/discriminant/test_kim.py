"""Kim, Magnani and Boyd's kernel: the ratio in feature space, CVXOPT, finite differences, and the fixture."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judges.programs import discriminant_published as reference
from multikernel.core.optim.loop import Options, Status
from multikernel.discriminant.solver.kim import FisherStack, fisher_ratio, learn_kim
from multikernel.discriminant.solver.learn import DiscriminantProblem, learn_discriminant
from tests.discriminant.discriminant_problems import (
    KINDS,
    assert_close,
    breast_cancer,
    make_problem,
    shares_of,
    slopes,
)


def ratio(X, codes, reg, weighted=False):
    """d'(S₊ + S₋ + λI)⁻¹d of points with explicit features, and the direction."""
    means = [X[codes == c].mean(axis=0) for c in (0, 1)]
    parts = [np.mean(codes == c) if weighted else 1.0 for c in (0, 1)]
    scatter = sum(part * np.cov(X[codes == c].T, bias=True) for c, part in enumerate(parts))
    d = means[1] - means[0]
    w = np.linalg.solve(scatter + reg * np.eye(X.shape[1]), d)
    return float(d @ w), w


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reg", [10.0, 1e-2, 1e-6])
def test_the_ratio_and_the_direction_in_feature_space(reg, weighted):
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1], [12, 25])
    X = rng.normal(size=(37, 5)) + codes[:, None] * np.array([1.0, 0.5, 0.0, 0.0, 0.2])
    single = learn_kim((X @ X.T)[None], codes, reg, weighted=weighted)
    expected, w = ratio(X, codes, reg, weighted)
    assert single.objective == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(X.T @ single.alpha, w, rtol=1e-5)
    assert single.weights.tolist() == [1.0] and single.status == Status.OPTIMAL
    views = [X[:, :2], X[:, 2:]]
    found = learn_kim(np.stack([V @ V.T for V in views]), codes, reg, weighted=weighted)
    joined = np.hstack([np.sqrt(weight) * V for weight, V in zip(found.weights, views, strict=True)])
    expected, w = ratio(joined, codes, reg, weighted)
    assert found.objective == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(joined.T @ found.alpha, w, rtol=1e-4, atol=1e-7 * np.abs(w).max())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reg", [1.0, 1e-2, 1e-4])
@pytest.mark.parametrize("kind", KINDS)
def test_against_cvxopt(kind, reg, weighted):
    for n, m in ((20, 3), (36, 6)):
        Ks, codes = make_problem(kind, n, 2, m)
        Ks = Ks / np.trace(Ks, axis1=1, axis2=2)[:, None, None] * n
        expected, _ = reference.fisher_ratio(Ks, codes, reg, weighted)
        found = learn_kim(Ks, codes, reg, weighted=weighted)
        assert found.status == Status.OPTIMAL
        assert found.objective == pytest.approx(expected, rel=1e-6)
        assert expected <= found.upper_bound * (1.0 + 1e-7)
        assert found.gap == pytest.approx(1.0 - found.objective / found.upper_bound, abs=1e-12)
        assert found.weights.min() >= 0.0 and found.weights.sum() == pytest.approx(1.0)


def test_breast_cancer():
    Ks, codes = breast_cancer()
    found = learn_kim(Ks, codes, 1e-4)
    assert found.objective == pytest.approx(586.41302, rel=1e-8)
    assert found.status == Status.OPTIMAL
    for reg in (1.0, 1e-2, 1e-6, 1e-8):
        assert learn_kim(Ks, codes, reg).gap <= 1e-8


problems = st.tuples(
    st.sampled_from(KINDS), st.integers(10, 30), st.just(2), st.integers(2, 5), st.integers(0, 99)
)


@given(problems, st.sampled_from([1.0, 1e-1, 1e-2]), st.booleans())
def test_derivatives(problem, reg, weighted):
    Ks, codes = make_problem(*problem)
    Ks = Ks / np.trace(Ks, axis1=1, axis2=2)[:, None, None] * codes.size
    stack = FisherStack(Ks, codes, weighted=weighted)
    x = shares_of(len(Ks), problem[-1])
    here = fisher_ratio(stack, reg, x)
    assert_close(here.gradient, slopes(lambda z: fisher_ratio(stack, reg, z).value, x))
    assert_close(here.hessian, slopes(lambda z: fisher_ratio(stack, reg, z).gradient, x))


@settings(max_examples=15)
@given(problems, st.sampled_from([1.0, 1e-3]))
def test_every_point_bounds_the_optimum_from_above(problem, reg):
    Ks, codes = make_problem(*problem)
    Ks = Ks / np.trace(Ks, axis1=1, axis2=2)[:, None, None] * codes.size
    optimum = learn_kim(Ks, codes, reg).objective
    for seed in range(4):
        here = fisher_ratio(FisherStack(Ks, codes), reg, shares_of(len(Ks), [problem[-1], seed]))
        assert -here.value / reg <= optimum * (1.0 + 1e-7)
        assert optimum <= -here.bound / reg * (1.0 + 1e-9)
        assert here.gap == pytest.approx(1.0 - here.value / here.bound)


@pytest.mark.parametrize("reg", [1.0, 1e-2, 1e-4])
def test_with_weighted_covariances_it_is_the_criterion_of_the_total_scatter_over_another_set(reg):
    """Ye et al., equations (3) and (13): F2 = F1 / (1 + c F1), c = n₊n₋/n², at the same kernel; so that over
    the same set, here Σ θ_i tr G~_i / n = 1, both have the same optimum."""
    Ks, codes = make_problem("gaussians", 45, 2, 4)
    n, sizes = codes.size, np.bincount(codes)
    assert sizes[0] != sizes[1]
    traces = np.array([np.trace(K) - K.sum() / n for K in Ks])
    found = learn_kim(Ks, codes, reg, scales=traces / n, weighted=True)
    total = learn_discriminant(DiscriminantProblem(Ks, codes, reg))
    c = sizes[0] * sizes[1] / n**2
    # the published objective of the other is λ a'(λI + G~)⁻¹a = a'a − F2 / n, in our units of F2
    F2 = found.objective / (1.0 + c * found.objective)
    a = reference.columns(codes)[:, 0]
    assert n * (a @ a - total.objective) == pytest.approx(F2, rel=1e-6)
    K, K_total = np.tensordot(found.weights / traces, Ks, 1), np.tensordot(total.weights, Ks, 1)
    assert np.abs(K - K_total).max() < 1e-3 * np.abs(K).max()
    plain = learn_kim(Ks, codes, reg, scales=traces / n)
    assert abs(plain.objective / found.objective - 1.0) > 1e-3


def test_constants_do_not_matter_but_scales_do():
    Ks, codes = make_problem("gaussians", 30, 2, 3)
    expected = learn_kim(Ks, codes, 1e-2)
    shifted = learn_kim(Ks + np.array([5.0, 0.0, 2.0])[:, None, None], codes, 1e-2)
    assert shifted.objective == pytest.approx(expected.objective, rel=1e-7)
    scaled = learn_kim(10.0 * Ks, codes, 1e-1)
    assert scaled.objective == pytest.approx(expected.objective, rel=1e-7)
    np.testing.assert_allclose(scaled.weights, expected.weights, atol=1e-4)
    larger = learn_kim(10.0 * Ks, codes, 1e-2)
    assert larger.objective > 1.5 * expected.objective


def test_the_history_and_the_callback_are_in_the_units_of_the_result():
    Ks, codes = make_problem("gaussians", 40, 2, 5)
    Ks.setflags(write=False)
    seen = []
    found = learn_kim(Ks, codes, 1e-3, Options(tol=1e-8, max_iter=100, callback=lambda e: seen.append(e)))
    assert seen == found.history and len(seen) > 1
    assert seen[-1]["objective"] == pytest.approx(found.objective, rel=1e-14)
    assert seen[-1]["upper_bound"] == pytest.approx(found.upper_bound, rel=1e-12)
    assert all(e["objective"] <= found.upper_bound <= e["upper_bound"] * (1.0 + 1e-9) for e in seen)
    short = learn_kim(Ks, codes, 1e-3, Options(tol=1e-14, max_iter=1))
    assert short.status == Status.MAX_ITER
    assert short.objective < found.objective < short.upper_bound

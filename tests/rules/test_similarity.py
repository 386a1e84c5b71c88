"""Rules of likeness to the targets: against cvxpy and their definitions, their bounds from outside."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from multikernel import CombinedKernelClassifier
from multikernel.core.alignment import align_stack, alignment_slope, learn_alignment
from multikernel.rules import (
    AlignmentQP,
    AlignmentRule,
    CenteredAlignment,
    FeatureSpaceMeasure,
    GradientAlignment,
    IdealDistance,
    KLDivergence,
    alignment,
)
from multikernel.rules.solver.divergence import Away, GaussianDivergence, Towards
from multikernel.rules.solver.line_spread import LineSpread, Programs, line_spread, minimise_spread
from multikernel.rules.targets import as_targets, unit_ideal
from multikernel.views import per_feature
from tests.rules.similarity_problems import TASKS, centred, cosines, ideal, normalised, problem


def root_of(S):
    return np.linalg.cholesky(S + 1e-13 * np.eye(len(S))).T


def parts_of(weights):
    return weights / weights.sum()


# --- centred alignment, joint or independent; the ascent of a sum has the same optimum ----------------------

JOINT = [CenteredAlignment(), *(GradientAlignment(centered=True, tol=tol) for tol in (1e-1, 1e-3, 1e-8))]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("seed", range(3))
def test_joint_weights_have_the_best_alignment(task, seed):
    kernels, y = problem(seed, task)
    learner = CenteredAlignment().fit(kernels, y)
    K = learner.combine(kernels)
    assert np.linalg.norm(centred(K)) == pytest.approx(1.0)
    assert (learner.kernel_weights_ >= 0.0).all()
    assert learner.objective_ == pytest.approx(alignment(K, ideal(y, task), centered=True), rel=1e-9)
    q, S, _ = cosines(kernels, y, task, centered=True)
    w = cp.Variable(q.size, nonneg=True)
    best = cp.Problem(cp.Maximize(q @ w), [cp.norm(root_of(S) @ w) <= 1.0]).solve(solver="CLARABEL")
    assert learner.objective_ == pytest.approx(best, rel=1e-6)
    ascended = GradientAlignment(centered=True, tol=1e-8).fit(kernels, y)
    assert ascended.objective_ == pytest.approx(learner.objective_, rel=1e-7)
    np.testing.assert_allclose(ascended.kernel_shares_, learner.kernel_shares_, atol=1e-3)
    assert ascended.certificate == "optimality" and ascended.is_linear


@pytest.mark.parametrize("learner", JOINT, ids=str)
@pytest.mark.parametrize("task", TASKS)
def test_the_gap_bounds_what_is_left(learner, task):
    kernels, y = problem(4, task)
    learner.fit(kernels, y)
    q, S, norms = cosines(kernels, y, task, centered=True)
    w = learner.kernel_weights_ * norms
    bound = (q / (S @ w)).max() * np.sqrt(w @ S @ w)  # S(cw) ≥ q: no weights do better than c ‖w‖
    assert learner.objective_ / (1.0 - learner.dual_gap_) == pytest.approx(bound, rel=1e-9)
    assert 0.0 <= learner.dual_gap_ <= getattr(learner, "tol", 1e-9) and learner.status_ == "optimal"
    assert bound >= CenteredAlignment().fit(kernels, y).objective_ * (1.0 - 1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_sums_without_centring_are_the_best_alignment(seed):
    kernels, y = problem(seed)
    signs = np.where(y == 1, 1.0, -1.0)
    best = learn_alignment(np.stack(kernels), signs)
    learner = GradientAlignment(tol=1e-8).fit(kernels, y)
    assert learner.objective_ == pytest.approx(best.alignment_train, rel=1e-7)
    assert learner.kernel_weights_ @ [np.linalg.norm(K) for K in kernels] == pytest.approx(1.0)
    on_centred = learn_alignment(np.stack([centred(K) for K in kernels]), signs).weights
    joint = CenteredAlignment().fit(kernels, y).kernel_weights_
    np.testing.assert_allclose(joint, on_centred, rtol=1e-7, atol=1e-12)
    for centered, expected in ((False, best.weights), (True, joint)):
        found = AlignmentQP(0.0, centered).fit(kernels, y).kernel_weights_
        np.testing.assert_allclose(parts_of(found), parts_of(expected), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("task", TASKS)
def test_independent_weights_are_the_closed_form(task):
    kernels, y = problem(5, task)
    learner = CenteredAlignment("independent").fit(kernels, y)
    values = np.array([alignment(K, ideal(y, task), centered=True) for K in kernels])
    np.testing.assert_allclose(learner.alignments_, values, rtol=1e-9)
    _, _, norms = cosines(kernels, y, task, centered=True)
    np.testing.assert_allclose(learner.kernel_weights_, parts_of(values) / norms, rtol=1e-9)
    assert np.isnan(learner.objective_)


def test_a_constant_in_a_kernel_changes_nothing():
    kernels, y = problem(7)
    weights = CenteredAlignment().fit(kernels, y).kernel_weights_
    shifted = [K + 2.0 * K.max() for K in kernels]
    np.testing.assert_allclose(CenteredAlignment().fit(shifted, y).kernel_weights_, weights, rtol=1e-6)


# --- the quadratic program ---------------------------------------------------------------------------------


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("reg", [0.0, 0.1, 100.0])
def test_it_is_the_quadratic_program(task, reg, centered):
    kernels, y = problem(len(task), task)
    learner = AlignmentQP(reg, centered).fit(kernels, y)
    q, S, norms = cosines(kernels, y, task, centered)
    A = S + reg * np.eye(q.size)
    w = learner.kernel_weights_ * norms
    assert (w >= 0.0).all()
    assert learner.objective_ == pytest.approx(q @ w - w @ A @ w, rel=1e-9)
    v = cp.Variable(q.size, nonneg=True)  # v = w (1 + reg): no number is small
    best = cp.Problem(cp.Maximize(q @ v - cp.sum_squares(root_of(A) @ v) / (1 + reg))).solve(
        solver="CLARABEL"
    )
    assert learner.objective_ == pytest.approx(best / (1 + reg), rel=1e-6)
    np.testing.assert_allclose(learner.alignments_, q, rtol=1e-9, atol=1e-12)
    u = w * (q / (2.0 * A @ w)).max()  # 2Au ≥ q
    assert learner.objective_ / (1.0 - learner.dual_gap_) == pytest.approx(u @ A @ u, rel=1e-9)
    assert learner.dual_gap_ < 1e-9


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("reg", [0.0, 30.0, 1e6])
def test_not_normalized_it_is_the_program_as_printed(task, reg, centered):
    """max Σ η⟨K, TT'⟩ − Σ η η ⟨K, K⟩ − λ Σ η², with the kernels and TT' as they are."""
    kernels, y = problem(len(task), task)
    cosine, pairs, norms = cosines(kernels, y, task, centered)
    learner = AlignmentQP(reg, centered, normalize=False).fit(kernels, y)
    size = align_stack(np.stack(kernels), unit_ideal(as_targets(y, len(y))), centered=centered).target_norm
    q, S = size * cosine * norms, pairs * np.outer(norms, norms) + reg * np.eye(norms.size)
    eta, unit = learner.kernel_weights_, np.sqrt(np.diag(S))
    assert (eta >= 0.0).all()
    assert learner.objective_ == pytest.approx(q @ eta - eta @ S @ eta, rel=1e-9)
    largest = (q / unit).max()
    v = cp.Variable(q.size, nonneg=True)  # v = η · unit / largest: no number is small
    root = root_of(S / np.outer(unit, unit))
    program = cp.Problem(cp.Maximize((q / unit / largest) @ v - cp.sum_squares(root @ v)))
    assert learner.objective_ == pytest.approx(program.solve(solver="CLARABEL") * largest**2, rel=1e-6)
    u = eta * (q / (2.0 * S @ eta)).max()  # 2Su ≥ q
    assert learner.objective_ / (1.0 - learner.dual_gap_) == pytest.approx(u @ S @ u, rel=1e-9)
    assert learner.dual_gap_ < 1e-9
    if reg == 0.0:
        same = AlignmentQP(0.0, centered).fit(kernels, y).kernel_weights_
        np.testing.assert_allclose(eta / eta.sum(), same / same.sum(), rtol=1e-6, atol=1e-12)


def test_a_large_penalty_leaves_the_alignments_of_the_single_kernels():
    kernels, y = problem(5)
    found = AlignmentQP(1e7).fit(kernels, y).kernel_weights_ * [np.linalg.norm(K) for K in kernels]
    alone = AlignmentRule().fit(kernels, y).alignments_
    np.testing.assert_allclose(parts_of(found), parts_of(alone), rtol=1e-5)
    first, second = AlignmentQP(0.5).fit([kernels[0]] * 2, y).kernel_weights_
    assert first == pytest.approx(second) and first > 0.0


# --- products ----------------------------------------------------------------------------------------------


def gaussians(seed, n=30, d=3):
    """One Gaussian for each feature; classes by the first."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    kernels = [np.exp(-0.5 * np.subtract.outer(x, x) ** 2) for x in X.T]
    return kernels, (X[:, 0] + 0.2 * X[:, 1] > 0.1).astype(int), X


def value_of_product(kernels, y, eta, centered):
    K = np.exp(sum(e * np.log(K) for e, K in zip(eta, kernels, strict=True)))
    return alignment(K, ideal(y, "two"), centered=centered)


@pytest.mark.parametrize("centered", [False, True])
def test_the_slope_of_the_alignment(centered):
    kernels, y = problem(0, "three", n=8)
    T = np.linalg.eigh(ideal(y, "three"))
    T = T[1] * np.sqrt(np.maximum(T[0], 0.0))
    value, slope = alignment_slope(kernels[0], T, centered=centered)
    assert value == pytest.approx(alignment(kernels[0], ideal(y, "three"), centered=centered), rel=1e-9)
    change = np.random.default_rng(1).normal(size=(8, 8))
    change = 1e-5 * (change + change.T)
    ahead, back = (alignment_slope(kernels[0] + s * change, T, centered=centered)[0] for s in (1, -1))
    assert np.vdot(slope, change) == pytest.approx((ahead - back) / 2.0, rel=1e-5)


@pytest.mark.parametrize("centered", [False, True])
def test_a_product_is_stationary(centered):
    kernels, y, _ = gaussians(2)
    learner = GradientAlignment("product", centered, tol=1e-8).fit(kernels, y)
    eta = learner.kernel_weights_

    def value(eta):
        return value_of_product(kernels, y, eta, centered)

    assert learner.objective_ == pytest.approx(value(eta), rel=1e-9)
    for m, step in enumerate(1e-4 * np.eye(eta.size)):
        slope = (value(eta + step) - value(np.maximum(eta - step, 0.0))) / (1e-4 + min(1e-4, eta[m]))
        assert slope < 1e-5
        if eta[m] > 1e-3:
            assert abs(slope) < 1e-5
    assert learner.status_ == "optimal" and learner.certificate == "stationarity"
    assert learner.objective_ > max(value(start) for start in (np.ones(3), 0.3 * np.ones(3)))
    assert max(entry["objective"] for entry in learner.history_) == learner.objective_


@pytest.mark.parametrize("seed", [2, 3])
def test_the_gap_of_a_product(seed):
    """‖x − max(x + slopes, 0)‖ / A in x_m = η_m u_m, u_m the median of −log K_m; or −slopes'x / A."""
    kernels, y, _ = gaussians(seed)
    learner = GradientAlignment("product", True, tol=0.3).fit(kernels, y)
    pairs = ~np.eye(len(y), dtype=bool)
    units = np.array([np.median(-np.log(K[pairs])) for K in kernels])
    x = learner.kernel_weights_ * units

    def value(x):
        return value_of_product(kernels, y, x / units, True)

    slopes = np.array([(value(x + s) - value(x - s)) / 2e-6 for s in 1e-6 * np.eye(x.size)])
    move = np.linalg.norm(x - np.maximum(x + slopes, 0.0))
    gap = (-slopes @ x if slopes.max() <= 0.0 else move) / learner.objective_
    assert learner.dual_gap_ == pytest.approx(gap, rel=1e-4)
    assert 1e-3 < learner.dual_gap_ <= 0.3


def test_widths_of_features():
    _, y, X = gaussians(6, n=60)
    model = CombinedKernelClassifier(per_feature(3), GradientAlignment("product")).fit(X, y)
    assert model.kernel_shares_[0] > 0.8 and model.score(X, y) > 0.9


def test_powers_of_the_kernels_change_the_exponents_only():
    kernels, y, _ = gaussians(8)
    exponents = GradientAlignment("product", tol=1e-8).fit(kernels, y).kernel_weights_
    powers = [1e-2, 1.0, 30.0]
    powered = [K**p for K, p in zip(kernels, powers, strict=True)]
    other = GradientAlignment("product", tol=1e-8).fit(powered, y).kernel_weights_
    np.testing.assert_allclose(other * powers, exponents, rtol=1e-4, atol=1e-6)


def test_products_of_other_kernels_are_refused():
    kernels, y = problem(12)
    with pytest.raises(ValueError, match="powers need kernels with entries above 0"):
        GradientAlignment("product").fit({"linear": kernels[1], "other": kernels[0]}, y)
    X = np.random.default_rng(0).random((len(y), 3))
    with pytest.raises(ValueError, match="all whose powers are positive semidefinite; some of kernel 'poly'"):
        GradientAlignment("product").fit({"poly": X @ X.T + 1e-3 * np.eye(len(y))}, y)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("normalise", [True, False])
def test_no_combination_is_nearer(task, seed, normalise):
    kernels, y = problem(seed, task)
    learner = IdealDistance(normalise).fit(kernels, y)
    L = ideal(y, task)
    scales = np.array([np.diagonal(K).mean() for K in kernels])
    if not normalise:
        scales[:] = 1.0
        if task in ("regression", "outputs"):
            T = np.reshape(y, (len(y), -1)) - np.mean(y, axis=0)
            L = T @ T.T
    eta = learner.kernel_weights_ * scales
    assert eta.min() >= 0.0 and eta.sum() == pytest.approx(1.0)
    distance = np.linalg.norm(learner.combine(kernels) - L) ** 2
    assert learner.objective_ == pytest.approx(distance, rel=1e-9)
    columns = np.stack([(K / s).ravel() for K, s in zip(kernels, scales, strict=True)], axis=1)
    v = cp.Variable(len(kernels), nonneg=True)
    unit = np.linalg.norm(L)
    objective = cp.Minimize(cp.sum_squares((columns @ v - L.ravel()) / unit))
    best = cp.Problem(objective, [cp.sum(v) == 1.0]).solve(solver="CLARABEL") * unit**2
    assert distance == pytest.approx(best, rel=1e-6)
    assert learner.dual_gap_ < 1e-12 and learner.status_ == "optimal"


def distance_gap(learner, kernels, y):
    """Frank and Wolfe's, from the learned weights."""
    L = ideal(y, "two")
    eta = learner.kernel_weights_ * [np.diagonal(K).mean() for K in kernels]
    rest = learner.combine(kernels) - L
    slope = np.array([2.0 * np.vdot(K / np.diagonal(K).mean(), rest) for K in kernels])
    return (slope @ eta - slope.min()) / (np.linalg.norm(rest) ** 2 + np.linalg.norm(L) ** 2)


def test_the_gap_of_the_distance_is_that_of_frank_and_wolfe(monkeypatch):
    kernels, y = problem(3)
    learner = IdealDistance().fit(kernels, y)
    assert abs(distance_gap(learner, kernels, y) - learner.dual_gap_) < 1e-13
    monkeypatch.setitem(IdealDistance._learn.__globals__, "minimize_step", lambda H, g, point: point)
    with pytest.warns(ConvergenceWarning, match="IdealDistance ended as 'stalled'"):
        learner.fit(kernels, y)  # weights that are not the best do not pass as such
    assert learner.dual_gap_ == pytest.approx(distance_gap(learner, kernels, y), rel=1e-9)
    assert learner.dual_gap_ > 1e-4


@pytest.mark.parametrize(
    "learner, atol, least",
    [(IdealDistance(), 1e-8, 1e-12), (KLDivergence(), 1e-6, 1e-5), (KLDivergence("dc"), 1e-6, 1e-5)],
)
def test_the_ideal_kernel_itself_is_found(learner, atol, least):
    y = np.array([0, 1, 2, 0, 1, 2, 1])
    learner.fit([np.eye(7), 5.0 * (ideal(y, "three") + 1e-9 * np.eye(7))], y)
    np.testing.assert_allclose(learner.kernel_shares_, [0.0, 1.0], atol=atol)
    assert abs(learner.objective_) < least


@pytest.mark.parametrize("factor", [1e6, 1e-6])
def test_the_distance_of_kernels_in_their_own_units(factor):
    kernels, y = problem(7, "regression")
    learner = IdealDistance(normalize=False).fit([factor * K for K in kernels], y)
    assert learner.kernel_weights_.sum() == pytest.approx(1.0) and learner.status_ == "optimal"


def measure(K, signs):
    """By coordinates: samples as points, their centres, and the line through them."""
    values, vectors = np.linalg.eigh(K)
    points = vectors * np.sqrt(np.maximum(values, 0.0))
    up, down = points[signs > 0], points[signs < 0]
    line = up.mean(axis=0) - down.mean(axis=0)
    distance = np.linalg.norm(line)
    spreads = [np.std(part @ line / distance, ddof=1) for part in (up, down)]
    return sum(spreads) / distance


def signs_of(y):
    return np.where(y == 1, 1.0, -1.0)


@pytest.mark.parametrize("seed", range(4))
def test_no_combination_spreads_less(seed):
    kernels, y = problem(seed, m=4 + seed)
    learner = FeatureSpaceMeasure().fit(kernels, y)
    signs = signs_of(y)
    assert learner.objective_ == pytest.approx(measure(learner.combine(kernels), signs), rel=1e-7)
    Ks = normalised(kernels)
    a = np.where(signs > 0, 1.0 / (signs > 0).sum(), -1.0 / (signs < 0).sum())
    V = np.stack([K @ a for K in Ks], axis=1)
    eta = cp.Variable(len(kernels), nonneg=True)
    spreads = [
        cp.norm((V[part] - V[part].mean(axis=0)) @ eta) / np.sqrt(part.sum() - 1)
        for part in (signs > 0, signs < 0)
    ]
    best = cp.Problem(cp.Minimize(sum(spreads)), [(a @ V) @ eta == 1.0]).solve(solver="CLARABEL")
    assert learner.objective_ == pytest.approx(best, rel=1e-6)
    assert learner.dual_gap_ < 1e-9 and learner.status_ == "optimal"


def spread_gap(learner, kernels, y):
    """From Σ A_c'u_c ≥ bound d with ‖u_c‖ = 1: no weights have a measure below the bound."""
    scales = np.array([np.diagonal(K).mean() for K in kernels])
    eta = learner.kernel_weights_ * scales
    spread = line_spread(normalised(kernels), signs_of(y), np.ones(scales.size))
    roots = np.sqrt(spread.covariances @ eta @ eta)
    slope = sum(M @ eta / root for M, root in zip(spread.covariances, roots, strict=True))
    return 1.0 - (slope / spread.distances).min() / learner.objective_


def test_the_gap_of_the_spread_bounds_what_is_left():
    kernels, y = problem(5)
    learner = FeatureSpaceMeasure().fit(kernels, y)
    assert learner.kernel_weights_ @ [np.diagonal(K).mean() for K in kernels] == pytest.approx(1.0)
    assert spread_gap(learner, kernels, y) == pytest.approx(learner.dual_gap_, abs=1e-10)


def test_the_bound_of_the_spread_holds_at_any_weights():
    kernels, y = problem(5)
    spread = line_spread(normalised(kernels), signs_of(y), np.ones(len(kernels)))
    found = minimise_spread(spread)
    programs = Programs(spread.covariances / np.outer(spread.distances, spread.distances))
    rng = np.random.default_rng(0)
    bounds = [programs.bound(rng.dirichlet(np.ones(len(kernels))), rng.random()) for _ in range(50)]
    assert max(bounds) < found.value
    x = found.weights * spread.distances / (found.weights @ spread.distances)
    first, second = programs.spreads(x)
    assert first + second == pytest.approx(found.value)
    assert programs.bound(x, first / (first + second)) == pytest.approx(found.value, rel=1e-9)


def test_classes_that_do_not_spread():
    kernels, y = problem(9)
    signs = signs_of(y)
    learner = FeatureSpaceMeasure().fit([kernels[0], np.outer(signs, signs), kernels[1]], y)
    assert learner.objective_ == pytest.approx(0.0, abs=1e-6) and learner.status_ == "optimal"
    np.testing.assert_allclose(learner.kernel_shares_, [0.0, 1.0, 0.0], atol=1e-5)
    learner = FeatureSpaceMeasure().fit([np.eye(y.size), np.outer(signs, signs)], y)  # neither spreads
    assert learner.objective_ == pytest.approx(0.0, abs=1e-7) and learner.status_ == "optimal"


def test_a_class_of_one():
    x = np.array([3.0, 0.0, 1.0, 2.0])
    learner = FeatureSpaceMeasure().fit([np.outer(x, x)], [1, 0, 0, 0])
    assert learner.objective_ == pytest.approx(np.std([0, 1, 2], ddof=1) / 2.0)


def test_kernels_in_which_the_centres_coincide_get_nothing():
    x, z = np.array([1.0, -1.0, 1.0, -1.0]), np.array([1.0, 1.1, -1.0, -0.9])
    learner = FeatureSpaceMeasure().fit([np.outer(x, x), np.outer(z, z)], [1, 1, 0, 0])
    assert learner.kernel_shares_.tolist() == [0.0, 1.0]
    with pytest.raises(ValueError, match="gives no kernel any weight"):
        FeatureSpaceMeasure().fit([np.outer(x, x)], [1, 1, 0, 0])


def test_one_class_may_stop_spreading_before_the_other():
    """The optimum is where the first form vanishes: the sum has a kink there."""
    forms = np.stack([np.array([[4.0, -2.0], [-2.0, 1.0]]), 0.01 * np.eye(2)])
    found = minimise_spread(LineSpread(forms, np.ones(2)))
    np.testing.assert_allclose(found.weights, [1 / 3, 2 / 3], rtol=1e-6)
    assert found.value == pytest.approx(0.1 * np.sqrt(5.0) / 3.0, rel=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_few_samples_and_many_kernels(seed):
    """Each class lies in few dimensions: combinations in which it does not spread are at hand."""
    kernels, _ = problem(seed, n=9, m=7)
    y = np.arange(9) % 3 == 0
    spread = line_spread(normalised(kernels), np.where(y, 1.0, -1.0), np.ones(7))
    found = minimise_spread(spread)
    eta = cp.Variable(7, nonneg=True)
    forms = [np.linalg.eigh(M) for M in spread.covariances]
    roots = [(vectors * np.sqrt(np.maximum(values, 0.0))).T for values, vectors in forms]
    objective = cp.Minimize(sum(cp.norm(root @ eta) for root in roots))
    best = cp.Problem(objective, [spread.distances @ eta == 1.0]).solve(solver="CLARABEL")
    assert found.value == pytest.approx(best, rel=1e-5, abs=1e-6)
    assert found.gap < 1e-5


def example(seed, task, reg, n=12, m=4):
    kernels, y = problem(seed, task, n=n, m=m)
    values, vectors = np.linalg.eigh(ideal(y, task))
    T = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, values > 1e-9]
    scales = np.array([np.diagonal(K).mean() for K in kernels])
    eta = np.random.default_rng(seed).random(m) + 0.05
    return GaussianDivergence(np.stack(kernels), scales, T, reg), kernels, scales, T, eta


def gaussian_divergence(first, second):
    """KL(N(0, first) ‖ N(0, second)), from the definition."""
    logs = np.linalg.slogdet(second)[1] - np.linalg.slogdet(first)[1]
    return 0.5 * (np.trace(np.linalg.solve(second, first)) + logs - len(first))


@pytest.mark.parametrize("form", [Towards, Away])
def test_derivatives_of_the_divergence_are_those_of_finite_differences(form):
    divergence, _, _, _, eta = example(2, "two", 0.3)
    here = form(divergence, eta)
    hessian = here.hessian if form is Towards else here.convex_hessian + here.concave_hessian
    for m, step in enumerate(1e-5 * np.eye(eta.size)):
        ahead, back = form(divergence, eta + step), form(divergence, eta - step)
        assert here.gradient[m] == pytest.approx((ahead.value - back.value) / 2e-5, rel=1e-6, abs=1e-7)
        np.testing.assert_allclose(hessian[m], (ahead.gradient - back.gradient) / 2e-5, rtol=1e-5, atol=1e-6)


def matrices(learner, kernels, y, task):
    """K_η and K_y, with λ, from the learned weights."""
    ridge = learner.reg * np.eye(len(y))
    return learner.combine(kernels) + ridge, ideal(y, task) + ridge


@pytest.mark.parametrize("task", TASKS)
def test_the_convex_form_has_no_better_weights(task):
    kernels, y = problem(len(task), task, n=10, m=4)
    reg = 0.5
    learner = KLDivergence(reg=reg, tol=1e-9).fit(kernels, y)
    K, Ky = matrices(learner, kernels, y, task)
    assert learner.objective_ == pytest.approx(gaussian_divergence(K, Ky), rel=1e-8)
    eta = cp.Variable(len(kernels), nonneg=True)
    K = sum(eta[m] * L for m, L in enumerate(normalised(kernels))) + reg * np.eye(len(y))
    objective = cp.trace(np.linalg.inv(Ky) @ K) - cp.log_det(K)
    rest = np.linalg.slogdet(Ky)[1] - len(y)
    program = cp.Problem(cp.Minimize(objective), [cp.sum(eta) == 1.0])
    best = 0.5 * (program.solve(solver="CLARABEL") + rest)
    assert learner.objective_ == pytest.approx(best, rel=1e-6)
    assert learner.status_ == "optimal" and learner.certificate == "optimality"


@pytest.mark.parametrize("form", ["convex", "dc"])
@pytest.mark.parametrize("task", ["two", "regression"])
def test_the_gap_of_the_divergence_is_that_of_frank_and_wolfe(form, task):
    kernels, y = problem(3, task)
    learner = KLDivergence(form, reg=0.2, tol=1e-4).fit(kernels, y)
    K, Ky = matrices(learner, kernels, y, task)
    inverse = np.linalg.inv(K)
    slope = np.linalg.inv(Ky) - inverse if form == "convex" else inverse - inverse @ Ky @ inverse
    gradient = np.array([0.5 * np.vdot(slope, L) for L in normalised(kernels)])
    eta = learner.kernel_weights_ * [np.diagonal(K).mean() for K in kernels]
    gap = (gradient @ eta - gradient.min()) / (learner.objective_ + 0.5 * len(y))
    assert learner.dual_gap_ == pytest.approx(gap, rel=1e-5, abs=1e-12)
    assert learner.dual_gap_ <= 1e-4
    assert eta.sum() == pytest.approx(1.0) and eta.min() >= 0.0


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("reg", [1e-3, 0.1, 10.0])
def test_the_other_form_falls_to_a_stationary_point(task, reg):
    kernels, y = problem(4, task)
    learner = KLDivergence("dc", reg=reg, tol=1e-7).fit(kernels, y)
    K, Ky = matrices(learner, kernels, y, task)
    assert learner.objective_ == pytest.approx(gaussian_divergence(Ky, K), rel=1e-7)
    values = [entry["objective"] for entry in learner.history_]
    assert (np.diff(values) <= 1e-9 * abs(values[0])).all() and values[-1] == learner.objective_
    assert learner.status_ == "optimal" and learner.certificate == "stationarity"
    for seed in range(20):  # no better weights nearby
        near = learner.kernel_weights_ * [np.diagonal(K).mean() for K in kernels]
        near = 0.99 * near + 0.01 * np.random.default_rng(seed).dirichlet(np.ones(near.size))
        other = sum(e * L for e, L in zip(near, normalised(kernels), strict=True)) + reg * np.eye(len(y))
        assert gaussian_divergence(Ky, other) > learner.objective_ - 1e-6 * (1.0 + learner.objective_)

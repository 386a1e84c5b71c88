"""The certificate of a learned kernel matrix: from any weights, duals and multiplier, good or bad."""

from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from sklearn.svm import SVC

from multikernel.core.optim.psd_pair import PSDPair, cholesky
from multikernel.core.optim.weight_sets import Spectrahedron
from multikernel.transductive.solver.families import RankOneFamily, StackFamily
from multikernel.transductive.solver.interior_point import InteriorPoint, follow_path
from multikernel.transductive.solver.kernel_matrix import Certified, certify, drawn_inside
from tests.transductive.solver.matrix_problems import (
    CRITERIA,
    WEIGHTS,
    largest_form,
    machine,
    make_case,
    reference_optimum,
)


@lru_cache
def setting(criterion, weights, seed):
    """Case of trace n, its family and loss, and its optimum by a conic solver."""
    case = make_case(criterion, weights, n=13, N=9, C=0.7, seed=seed)
    case = case.but(trace=float(case.n))
    kind = RankOneFamily if weights == "spectral" else StackFamily
    family = kind(case.members, case.y.size, case.learned)
    return case, family, case.problem().loss, reference_optimum(case)


def random_weights(case, rng):
    """Feasible weights of sum one (those of the identity last): anywhere inside, also near the edge."""
    m = case.stack.shape[0] + case.learned
    w = rng.dirichlet(np.full(m, 0.5)) + 1e-9
    if case.weights == "free":  # walk towards the edge of the cone, beyond the nonnegative weights
        scaled = case.stack * (case.n / case.r)[:, None, None]
        d = rng.normal(size=len(scaled))
        d -= d.mean()
        w[: d.size] = np.maximum(w[: d.size], 1e-3)  # well inside
        K, dK = (np.einsum("i,iab->ab", v, scaled) for v in (w[: d.size], d))
        values, vectors = np.linalg.eigh(K)
        half = vectors[:, values > 1e-10 * values[-1]] / np.sqrt(values[values > 1e-10 * values[-1]])
        lowest = np.linalg.eigvalsh(half.T @ dK @ half)[0]
        w[: d.size] += rng.uniform(0.0, 0.98) * d / max(-lowest, 1e-9)
    return w / w.sum()


def random_multiplier(case, family, w, rng):
    """A pair at these weights with a positive definite Z of any size and shape."""
    kernels = len(case.stack)
    cone = Spectrahedron(case.members, family.scales[:kernels])
    pair = PSDPair(cone, w[:kernels], 1.0)
    A = rng.normal(size=(cone.size, int(rng.integers(1, cone.size + 1))))
    pair.Z = 10.0 ** rng.uniform(-4, 1) * (A @ A.T) + 10.0 ** rng.uniform(-6, 0) * np.eye(cone.size)
    pair.R = cholesky(pair.Z)
    return pair


def random_duals(case, rng):
    """Anything, of any size; about half of them of the wrong sign or beyond the bound."""
    size = 10.0 ** rng.uniform(-2, 1)
    return size * rng.normal(size=case.y.size) + (size * case.y if rng.random() < 0.5 else 0.0)


@given(
    st.sampled_from(CRITERIA),
    st.sampled_from(WEIGHTS),
    st.integers(0, 1),
    st.integers(0, 10**6),
    st.booleans(),
)
def test_any_weights_duals_and_multiplier_enclose_the_optimum(criterion, weights, which, seed, drop):
    case, family, loss, optimum = setting(criterion, weights, which)
    rng = np.random.default_rng(seed)
    w = random_weights(case, rng)
    pair = random_multiplier(case, family, w, rng) if weights == "free" else None
    proof = certify(family, loss, w, random_duals(case, rng), pair, 0.1 if drop else 0.0)
    slack = 1e-6 * optimum  # of the reference
    assert proof.lower <= optimum + slack
    assert proof.upper >= optimum - slack
    assert proof.lower <= proof.value + 1e-9 * (1.0 + abs(proof.value))
    if np.isfinite(proof.upper):
        assert proof.gap == (proof.upper - proof.lower) / abs(proof.upper)
    else:  # no slack is allowed, and the classes' scores overlap
        assert proof.gap == np.inf and (criterion == "hard" or (case.learned and proof.w[-1] == 0.0))


def fixed_kernel_value(case, K):
    """max 2e'a − a'G(K)a, to rounding, by scikit-learn."""
    C = case.C if case.criterion == "soft1" else 1e9
    svc = SVC(C=C, kernel="precomputed", tol=1e-9).fit(K, case.y)
    beta = np.zeros(case.y.size)
    beta[svc.support_] = svc.dual_coef_[0]
    return 2 * np.abs(beta).sum() - beta @ K @ beta


@given(st.sampled_from(CRITERIA), st.sampled_from(WEIGHTS), st.integers(0, 10**6))
def test_each_figure_from_its_formula(criterion, weights, seed):
    case, family, loss, _ = setting(criterion, weights, 0)
    rng = np.random.default_rng(seed)
    w = random_weights(case, rng)
    pair = random_multiplier(case, family, w, rng) if weights == "free" else None
    proof = certify(family, loss, w, 0.3 * case.y + 0.2 * rng.normal(size=case.y.size), pair)
    np.testing.assert_allclose(proof.w, w, rtol=1e-12)
    N, kernels = case.y.size, len(case.stack)
    scaled = case.stack[:, :N, :N] * (case.n / case.r)[:, None, None]
    beta, ridge = proof.beta, w[-1] if case.learned else 0.0
    a = case.y * beta
    assert (a >= 0.0).all() and (a <= case.bound).all() and abs(beta.sum()) < 1e-12 * a.sum()
    # the value of the duals at the weights
    K = np.einsum("i,iab->ab", w[:kernels], scaled)
    reward = 2 * a.sum() - case.tau * a @ a
    np.testing.assert_allclose(proof.value, reward - beta @ K @ beta - ridge * a @ a, rtol=1e-9, atol=1e-9)
    # above: a primal value of the machine, no worse than that of its scores as they are
    task, scores = machine(case, ridge), K @ beta
    plain = 2.0 * task.primal(scores, beta @ scores)
    assert (1 - 1e-6) * fixed_kernel_value(case, K + (case.tau + ridge) * np.eye(N)) <= proof.upper
    assert proof.upper <= plain * (1 + 1e-9)
    # below: the reward less the largest form
    q = np.array([beta @ M @ beta for M in scaled])
    if weights == "free":
        largest = largest_form(case, np.array([beta @ M[:N, :N] @ beta for M in case.stack]))
    else:
        largest = q.max()
    exact = reward - max(largest, a @ a if case.learned else -np.inf)
    assert proof.lower <= exact + 1e-7 * (1.0 + abs(exact))
    if weights != "free":
        np.testing.assert_allclose(proof.lower, exact, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_good_multiplier_proves_the_largest_form(criterion):
    """Near the optimum the lower bound is as good as that of a semidefinite solver."""
    case, family, loss, optimum = setting(criterion, "free", 1)
    method = InteriorPoint(family, loss, Spectrahedron(case.members, family.scales[: len(case.stack)]))
    follow_path(method, 60, lambda method: method.score < 1e-9)
    proof = certify(family, loss, method.w, method.beta, method.pair)
    N = case.y.size
    a, q = case.y * proof.beta, np.array([proof.beta @ M[:N, :N] @ proof.beta for M in case.stack])
    largest = largest_form(case, q)
    exact = 2 * a.sum() - case.tau * a @ a - max(largest, a @ a if case.learned else -np.inf)
    np.testing.assert_allclose(proof.lower, exact, rtol=1e-6)
    assert proof.gap <= 1e-7
    np.testing.assert_allclose([proof.lower, proof.upper], optimum, rtol=1e-6)


@pytest.mark.parametrize("criterion", ["soft1", "soft2"])
def test_small_duals_are_dropped(criterion):
    case, family, loss, _ = setting(criterion, "nonnegative", 0)
    beta = case.y * 0.5
    beta[::4] *= 1e-6
    w = np.full(family.n_members, 1.0 / family.n_members)
    kept = certify(family, loss, w, beta)
    dropped = certify(family, loss, w, beta, drop=1e-5)
    assert np.count_nonzero(kept.beta) == case.y.size
    assert np.count_nonzero(dropped.beta) == case.y.size - len(beta[::4])
    assert abs(dropped.beta.sum()) < 1e-12
    np.testing.assert_allclose(dropped.lower, kept.lower, rtol=1e-4)


@pytest.mark.parametrize("weights", ["nonnegative", "free"])
def test_small_weights_are_dropped_where_they_may_not_be_negative(weights):
    case, family, loss, _ = setting("soft2 learned", weights, 0)
    w = np.array([0.5, 1e-6, 0.5 - 2e-6, 1e-6])
    pair = random_multiplier(case, family, w, np.random.default_rng(0)) if weights == "free" else None
    proof = certify(family, loss, w, case.y, pair, drop=1e-5)
    assert proof.w[3] == 0.0 and (proof.w[1] == 0.0) == (weights == "nonnegative")
    np.testing.assert_allclose(proof.w.sum(), 1.0, rtol=1e-14)


def test_weights_are_made_feasible():
    """Rounding below zero is cut where the sign counts, and the sum becomes one; free weights keep theirs."""
    case, family, loss, _ = setting("soft2 learned", "nonnegative", 0)
    proof = certify(family, loss, np.array([0.5, -1e-9, 1.0, 0.5]), case.y)
    np.testing.assert_allclose(proof.w, [0.25, 0.0, 0.5, 0.25], rtol=1e-8)
    case, family, loss, _ = setting("soft2 learned", "free", 0)
    w = np.array([1.0, -0.01, 0.5, 0.0])
    pair = random_multiplier(case, family, w, np.random.default_rng(0))
    proof = certify(family, loss, np.array([2.0, -0.02, 1.0, -1e-9]), case.y, pair)
    np.testing.assert_allclose(proof.w, w / w.sum(), rtol=1e-8)
    assert proof.w[1] < 0.0 and proof.w[3] == 0.0


@pytest.mark.parametrize("criterion", ["soft1", "soft2 learned"])
@pytest.mark.parametrize("outside", [1e-2, 1e-6, 3e-9])
def test_weights_outside_are_drawn_to_the_edge(criterion, outside):
    """No further than needed, along the straight way; the figures are those of the new weights."""
    case, family, loss, _ = setting(criterion, "free", 0)
    scaled = case.stack * (case.n / case.r)[:, None, None]
    middle = np.full(family.n_members, 1.0 / family.n_members)
    direction = np.zeros(family.n_members)
    direction[:2] = [1.0, -1.0]

    def lowest(w):
        return np.linalg.eigvalsh(np.einsum("i,iab->ab", w[:3], scaled))[0]

    edge = brentq(lambda s: lowest(middle + s * direction) + outside, 0.0, 100.0, xtol=1e-14)
    pair = random_multiplier(case, family, middle, np.random.default_rng(0))
    far = certify(family, loss, middle + edge * direction, 0.2 * case.y, pair)
    assert lowest(far.w) < -0.9 * outside
    near = drawn_inside(far, family, loss, middle)
    way = middle - far.w
    share = float((near.w - far.w) @ way / (way @ way))
    np.testing.assert_allclose(near.w, far.w + share * way, atol=1e-14)
    assert lowest(near.w) >= -1.001e-9
    exact = brentq(lambda s: lowest(far.w + s * way) + 1e-9, 0.0, 1.0, xtol=1e-14)
    assert share <= 1.5 * exact + 1e-9
    again = certify(family, loss, near.w, near.beta, pair)
    for name in ("value", "upper", "intercept"):
        np.testing.assert_allclose(getattr(near, name), getattr(again, name), rtol=1e-9)
    assert near.lower == far.lower and near.beta is far.beta


def test_weights_inside_stay_where_they_are():
    case, family, loss, _ = setting("soft1", "free", 0)
    middle = np.full(3, 1.0 / 3.0)
    proof = certify(family, loss, np.array([0.9, 0.05, 0.05]), 0.2 * case.y)
    assert drawn_inside(proof, family, loss, middle) is proof


def test_the_gap_of_bounds_that_vanish_or_are_infinite():
    assert Certified(np.ones(1), np.ones(1), 0.0, 0.0, 0.0, 0.0).gap == 0.0
    assert Certified(np.ones(1), np.ones(1), 0.0, 0.0, 2.0, 1.0).gap == 0.5
    assert Certified(np.ones(1), np.ones(1), 0.0, 0.0, np.inf, 1.0).gap == np.inf

"""Learning the kernel matrix: the laws of the problem, and its degenerate cases."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.core.optim.loop import Status
from multikernel.core.svm.losses import Hinge, SquaredHinge
from multikernel.transductive.solver.kernel_matrix import learn_kernel_matrix
from tests.core.problems import gaussian
from tests.transductive.solver.matrix_problems import (
    CRITERIA,
    WEIGHTS,
    Case,
    everywhere,
    judge,
    kernel,
    learn,
    make_case,
    make_points,
    optimal,
    reference_optimum,
    unit_diagonal,
)

# --------------------------------------------------------------------------- laws


@given(st.sampled_from(CRITERIA), st.sampled_from(WEIGHTS), st.integers(0, 5), st.floats(-5.0, 5.0))
def test_only_the_price_times_the_trace_matters(criterion, weights, seed, power):
    """ω_C(sK) = ω_{sC}(K)/s: a trace s times as large, with a price s times as small."""
    s = 10.0**power
    case = make_case(criterion, weights, C=0.7, seed=seed)
    small, large = optimal(case), optimal(case.but(C=case.C / s, trace=case.c * s))
    np.testing.assert_allclose(large.objective * s, small.objective, rtol=3e-8)
    np.testing.assert_allclose(large.weights / s, small.weights, atol=1e-3 * small.weights.max())
    np.testing.assert_allclose(large.dual * s, small.dual, atol=1e-3 * np.abs(small.dual).max())
    np.testing.assert_allclose(large.ridge / s, small.ridge, rtol=1e-3)


@given(st.sampled_from(CRITERIA), st.sampled_from(["free", "nonnegative"]), st.integers(0, 10**6))
def test_the_sizes_of_the_kernels_do_not_matter(criterion, weights, seed):
    """μ_i becomes μ_i/s_i and the learned matrix stays, at a trace that is given."""
    case = make_case(criterion, weights, seed=1)
    case = case.but(trace=float(3 * case.n))
    sizes = 10.0 ** np.random.default_rng(seed).uniform(-6, 6, size=3)
    plain, scaled = optimal(case), optimal(case.but(members=sizes[:, None, None] * case.members))
    np.testing.assert_allclose(scaled.objective, plain.objective, rtol=3e-8)
    shares = case.r / case.c
    np.testing.assert_allclose(scaled.weights * sizes * shares, plain.weights * shares, atol=1e-4)


def test_the_signs_of_eigenvectors_do_not_matter():
    case = make_case("soft1", "spectral", seed=1)
    signs = np.where(np.arange(case.members.shape[1]) % 2, -1.0, 1.0)
    plain, other = optimal(case), optimal(case.but(members=case.members * signs))
    np.testing.assert_allclose(other.weights, plain.weights, atol=1e-10 * case.c)


@everywhere
def test_more_members_do_not_hurt(criterion, weights):
    case = make_case(criterion, weights, seed=2)
    case = case.but(trace=float(case.n))
    most = case.members[:, :-1] if weights == "spectral" else case.members[:-1]
    fewer = learn(case.but(members=most))
    if fewer.status == Status.OPTIMAL:
        assert optimal(case).objective <= fewer.objective * (1 + 2e-8)
    assert criterion == "hard" or fewer.status == Status.OPTIMAL


def unit_diagonal_case(criterion, weights, n_unlabelled, seed=0):
    """Unit-diagonal kernels of the first points of one table: trace 3n, or 4n with a learned ridge."""
    N = 14
    X, y = make_points(criterion, N + 40, N, seed)
    X = X[: N + n_unlabelled]
    Ks = np.stack([gaussian(X, 0.5), unit_diagonal(X @ X.T), unit_diagonal((1.0 + X @ X.T) ** 2)])
    return Case(Ks, y, criterion, weights)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_unlabelled_points_do_not_matter_to_nonnegative_weights(criterion):
    """With a unit diagonal and a trace proportional to n."""
    without, with_some, with_many = (
        optimal(unit_diagonal_case(criterion, "nonnegative", k), 1e-10) for k in (0, 5, 40)
    )
    for other in (with_some, with_many):
        np.testing.assert_allclose(other.objective, without.objective, rtol=1e-9)
        np.testing.assert_allclose(other.weights, without.weights, atol=1e-5)
        np.testing.assert_allclose(other.dual, without.dual, atol=1e-4 * np.abs(without.dual).max())
        np.testing.assert_allclose(other.ridge, without.ridge, atol=1e-5)


@pytest.mark.parametrize("criterion", ["hard", "soft1", "soft2"])
def test_unlabelled_points_matter_to_free_weights(criterion):
    """Each is one more condition on the weights: the value rises with them, to that of the weights ≥ 0."""
    values = [optimal(unit_diagonal_case(criterion, "free", k, seed=2)).objective for k in (0, 3, 10, 40)]
    bound = optimal(unit_diagonal_case(criterion, "nonnegative", 0, seed=2)).objective
    assert np.all(np.diff(values) >= -1e-8 * bound)
    assert values[0] < values[-1] * (1 - 5e-4) and values[-1] <= bound * (1 + 1e-8)
    first, last = (optimal(unit_diagonal_case(criterion, "free", k, seed=2)).weights for k in (0, 40))
    assert np.abs(first - last).max() > 0.01


# --------------------------------------------------------------------------- degenerate problems


@pytest.mark.parametrize("criterion", CRITERIA)
def test_repeated_unlabelled_points_change_nothing(criterion):
    """They add to the trace only, whose price is proportional."""
    case = unit_diagonal_case(criterion, "free", 6)
    rows = np.concatenate([np.arange(case.n), np.arange(15, case.n), [16, 16, 0, 1]])
    repeated = case.but(members=case.members[:, rows][:, :, rows])
    plain, other = optimal(case), optimal(repeated)
    np.testing.assert_allclose(other.objective, plain.objective, rtol=1e-7)
    np.testing.assert_allclose(other.weights, plain.weights, atol=1e-3)


@pytest.mark.parametrize("weights", ["free", "nonnegative"])
@pytest.mark.parametrize(("criterion", "loss"), [("soft1", Hinge), ("soft2", SquaredHinge)])
def test_a_price_of_its_own_is_a_labelled_point_given_more_often(criterion, loss, weights):
    case = unit_diagonal_case(criterion, weights, 6, seed=1)
    rows = np.concatenate([np.arange(14), [3, 3, 8], np.arange(14, case.n)])
    repeated = optimal(case.but(members=case.members[:, rows][:, :, rows], y=case.y[rows[:17]]))
    C = np.ones(14)
    C[[3, 8]] = [3.0, 2.0]
    result = learn_kernel_matrix(replace(case.problem(), loss=loss(case.y, C)))
    assert result.status == Status.OPTIMAL
    np.testing.assert_allclose(result.objective, repeated.objective, rtol=3e-8)
    np.testing.assert_allclose(result.weights, repeated.weights, atol=1e-3)
    together = np.array([repeated.dual[rows[:17] == i].sum() for i in range(14)])
    np.testing.assert_allclose(result.dual, together, atol=1e-3 * np.abs(together).max())


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("criterion", ["soft1", "soft2", "soft2 learned"])
def test_repeated_labelled_points_with_both_labels(criterion, weights):
    X, y = make_points(criterion, 12, 8, 5)
    X[[4, 6]] = X[[0, 1]]  # a point with its label again, and with the other
    y[[4, 6]] = [y[0], -y[1]]
    Ks = np.stack([gaussian(X, 0.5), X @ X.T, (1.0 + X @ X.T) ** 2])
    if weights == "spectral":
        Ks = np.ascontiguousarray(np.linalg.eigh(gaussian(X, 0.5))[1][:, ::-1][:, :6])
    case = Case(Ks, y, criterion, weights)
    np.testing.assert_allclose(optimal(case).objective, reference_optimum(case), rtol=1e-6)


def with_dependent(case, distance):
    """Beside the kernels: almost a copy of the first, the sum of the others; and the noise in the copy."""
    unit = case.members / case.r[:, None, None]
    noise = gaussian(np.random.default_rng(0).normal(size=(case.n, 2)), 1.0) / case.n
    extra = np.stack([7.0 * (unit[0] + distance * noise), unit[1] + unit[2]])
    return case.but(members=np.concatenate([case.members, extra])), noise


@pytest.mark.parametrize("weights", ["free", "nonnegative"])
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("distance", [0.0, 1e-12, 1e-9])
def test_dependent_kernels_add_nothing(criterion, weights, distance):
    """The optimum is that of the family without them, and so is the learned matrix."""
    case = make_case(criterion, weights, seed=1)
    case = case.but(trace=float(2 * case.n))
    more, _ = with_dependent(case, distance)
    plain, other = optimal(case), optimal(more)
    np.testing.assert_allclose(other.objective, plain.objective, rtol=3e-8)
    K = kernel(case, plain.weights)
    np.testing.assert_allclose(kernel(more, other.weights), K, atol=1e-3 * np.abs(K).max())


@pytest.mark.parametrize("criterion", CRITERIA)
def test_kernels_that_differ_a_little_are_two_kernels_to_free_weights(criterion):
    """Weights of any sign reach the difference, however small: the optimum is that with the noise itself."""
    case = make_case(criterion, "free", seed=1)
    case = case.but(trace=float(2 * case.n))
    more, noise = with_dependent(case, 1e-5)
    expected = optimal(case.but(members=np.concatenate([case.members, noise[None]])))
    np.testing.assert_allclose(optimal(more).objective, expected.objective, rtol=1e-6)
    assert expected.objective < optimal(case).objective * (1 - 1e-4)


@pytest.mark.parametrize("weights", ["free", "nonnegative"])
def test_a_kernel_of_rank_one_may_be_all_of_the_optimum(weights):
    """The learned matrix is then as singular as can be, beside one that is almost it."""
    rng = np.random.default_rng(0)
    signs, X = rng.choice([-1.0, 1.0], 13), rng.normal(size=(13, 2))
    K = np.outer(signs, signs)
    Ks = np.stack([K + 1e-3 * gaussian(X, 0.5), K, unit_diagonal(X @ X.T)])
    case = Case(Ks, signs[:5], "soft1", weights, C=3.0)
    assert 0 < (case.y > 0).sum() < 5
    result = optimal(case)
    np.testing.assert_allclose(result.weights * case.r / case.c, [0.0, 1.0, 0.0], atol=1e-5)
    np.testing.assert_allclose(result.objective, case.n / case.c, rtol=1e-7)  # 1/γ² with margin 1 at trace n


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("C", [1e-12, 1e-6])
def test_very_small_prices_have_a_closed_form(weights, C):
    """The kernel no longer counts: 4C min(n₊, n₋) with the hinge, 4C/(1/n₊ + 1/n₋) with its square."""
    case = make_case("soft1", weights, C=C, seed=1)
    counts = (case.y > 0).sum(), (case.y < 0).sum()
    np.testing.assert_allclose(optimal(case).objective, 4 * C * min(counts), rtol=100 * C * case.c + 1e-8)
    squared = optimal(case.but(criterion="soft2")).objective
    np.testing.assert_allclose(squared, 4 * C / (1 / counts[0] + 1 / counts[1]), rtol=100 * C * case.c + 1e-8)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("criterion", ["soft1", "soft2"])
def test_very_large_prices_are_a_hard_margin(weights, criterion):
    hard = make_case("hard", weights, seed=1)
    expected = optimal(hard).objective
    for C in (1e8, 1e12):
        np.testing.assert_allclose(optimal(hard.but(criterion=criterion, C=C)).objective, expected, rtol=1e-6)


@everywhere
def test_one_labelled_point_of_each_class(criterion, weights):
    """By hand for fixed weights: the distance d² = K_11 + K_22 − 2K_12 decides all."""
    case = make_case(criterion, weights, seed=3)
    case = case.but(y=np.array([1.0, -1.0]))
    result = optimal(case)
    np.testing.assert_allclose(result.objective, reference_optimum(case), rtol=1e-6)
    d2 = np.array([1.0, -1.0]) @ kernel(case, result.weights)[:2, :2] @ np.array([1.0, -1.0])
    d2 += 2.0 * (result.ridge + case.tau)
    a = min(2.0 / d2, case.bound)
    np.testing.assert_allclose(result.objective, 4 * a - a * a * d2, rtol=1e-7)
    np.testing.assert_allclose(result.dual, [a, -a], rtol=1e-3)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_one_member_is_a_plain_machine(weights):
    case = make_case("soft1", weights, seed=2)
    case = case.but(members=case.members[:, :1] if weights == "spectral" else case.members[:1])
    result = optimal(case)
    np.testing.assert_allclose(result.weights, case.c / case.r, rtol=1e-12)
    upper, _ = judge(case, result)
    np.testing.assert_allclose(result.objective, upper, rtol=3e-6)


def test_single_precision_stacks():
    """Rounded to seven digits the matrices are no longer quite positive semidefinite; the optimum is near."""
    for weights in ("free", "nonnegative"):
        case = make_case("soft1", weights, seed=1)
        rounded = learn(case.but(members=case.members.astype(np.float32)), tol=1e-6)
        np.testing.assert_allclose(rounded.objective, optimal(case).objective, rtol=1e-4)

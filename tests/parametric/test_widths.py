"""The bound over all widths against dense grids, and the optimum against cvxpy on a fine grid of kernels."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.core.optim.loop import Options, Status
from multikernel.core.svm.losses import EpsilonInsensitive, Hinge, OneClass, SquaredError, SquaredHinge
from multikernel.parametric.solver.columns import learn_widths
from multikernel.parametric.solver.widths import WidthFamily

NOTHING = np.zeros((0, 40, 40))


def distances(X, power=2):
    return (np.abs(X[:, None] - X[None]) ** power).sum(axis=2)


def family_of(X, box=(1 / 16, 16.0), by_variance=False, power=2):
    d = distances(X, power)
    center = 1.0 / np.median(d[d > 0])
    return WidthFamily(d * box[0] * center, box[0] * center, box[1] * center, by_variance), d


def plain_gram(d, gamma, by_variance):
    K = np.exp(-gamma * d)
    return K / (np.trace(K) / len(K) - K.mean()) if by_variance else K


def plain_forms(d, duals, gammas, by_variance):
    grams = [plain_gram(d, gamma, by_variance) for gamma in gammas]
    return np.array([np.einsum("ti,ij,tj", duals, K, duals) for K in grams])


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([1, 2]), st.integers(1, 3))
def test_no_width_is_above_the_bound_and_the_bound_is_tight(seed, by_variance, power, n_machines):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2)) * 10.0 ** rng.uniform(-3, 3)
    X[1] = X[0]
    box = 10.0 ** -rng.uniform(0.1, 3), 10.0 ** rng.uniform(0.1, 3)
    family, d = family_of(X, box, by_variance, power)
    duals = rng.normal(size=(n_machines, 30)) * (rng.uniform(size=30) < 0.7)
    duals -= duals.mean(axis=1, keepdims=True) * rng.integers(2)
    gammas = np.geomspace(family.low, family.high, 3000)
    truth = plain_forms(d, duals, gammas, by_variance)
    forms = family.forms(duals)
    assert np.abs(forms(gammas) - truth).max() <= 1e-9 * truth.max()
    best = forms.candidates(0.0)[0]
    bound = forms.bound(best.value, 1e-5 * best.value)
    assert truth.max() <= bound * (1 + 1e-12)
    assert bound <= best.value * (1 + 2e-5) and best.value <= truth.max() * (1 + 1e-4)


@given(st.integers(0, 10**6), st.booleans())
def test_the_bound_of_each_interval_holds_and_is_tight_to_second_order(seed, by_variance):
    rng = np.random.default_rng(seed)
    family, d = family_of(rng.normal(size=(25, 2)), (0.01, 100.0), by_variance)
    duals = rng.normal(size=(1, 25))
    forms = family.forms(duals)
    a = np.exp(rng.uniform(0, np.log(family.high / family.low), size=6))
    apart = {}
    for ratio in (3.0, 1.1, 1.01):
        level = 0.1 * forms(np.geomspace(family.low, family.high, 50)).min()
        excess = forms._excess(a, ratio * a, level)
        inside = np.geomspace(a, ratio * a, 60) * family.low
        truth = plain_forms(d, duals, inside.ravel(), by_variance).reshape(inside.shape)
        values = level + excess
        assert np.all(truth.max(axis=0) <= values * (1 + 1e-11))
        apart[ratio] = np.max(values - truth.max(axis=0)) / np.max(truth)
    if not by_variance:  # with a variance it is tight where the level is that of the maximum
        assert apart[1.01] <= 0.05 * apart[1.1] + 1e-9


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_level_that_is_exceeded_is_no_bound(share):
    rng = np.random.default_rng(1)
    family, d = family_of(rng.normal(size=(40, 3)))
    duals = rng.normal(size=(1, 40))
    truth = plain_forms(d, duals, np.geomspace(family.low, family.high, 2000), False).max()
    forms = family.forms(duals)
    assert forms.bound(share * truth, 1e-6 * truth) >= truth * (1 - 1e-12)
    assert forms.bound(2.0 * truth, 1e-6 * truth) == 2.0 * truth


def test_two_humps_are_both_candidates():
    # pairs near each other ask for a narrow kernel, groups far apart for a wide one
    rng = np.random.default_rng(0)
    centers = np.repeat([0.0, 100.0], 20)
    X = (centers + np.tile([0.0, 0.01], 20) + 0.3 * rng.normal(size=20).repeat(2))[:, None]
    d = distances(X)
    duals = np.tile([1.0, -1.0], 20)[None] * 3 + np.where(centers > 0, 1.0, -1.0)
    family = WidthFamily(d * 1e-6, 1e-6, 1e6, False)
    gammas = np.geomspace(1e-6, 1e6, 4000)
    truth = plain_forms(d, duals, gammas, False)
    peaks = gammas[1:-1][(truth[1:-1] > truth[:-2]) & (truth[1:-1] > truth[2:])]
    found = family.forms(duals).candidates(0.0)
    assert len(peaks) >= 1
    for peak in peaks:
        assert min(abs(np.log(candidate.gamma / peak)) for candidate in found) < 0.01


# ---------------------------------------------------------------------- the whole problem
def make_problem(seed=0, n=40):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    values = np.sin(4 * X[:, 0]) + 0.3 * rng.normal(size=n)
    return X, np.where(values > np.median(values), 1.0, -1.0), values - np.median(values)


def the_loss(name, labels, values):
    prices = np.linspace(0.5, 3.0, labels.size)
    return {
        "hinge": Hinge(labels, prices),
        "squared_hinge": SquaredHinge(labels, prices),
        "epsilon": EpsilonInsensitive(values, prices, 0.1),
        "squared": SquaredError(values, 1.0 / prices),
        "one_class": OneClass(np.zeros(labels.size), prices / prices.sum() / 0.4),
    }[name], prices


def optimum_on_grid(name, grams, labels, values, prices):
    """The dual over the kernels of a grid, written out: the value of the problem with these kernels."""
    beta, top = cp.Variable(labels.size), cp.Variable()
    constraints = [cp.sum(beta) == (1 if name == "one_class" else 0)]
    for K in grams:
        sizes, vectors = np.linalg.eigh(K)
        large = sizes > 1e-10 * sizes[-1]
        constraints.append(cp.sum_squares((vectors[:, large] * np.sqrt(sizes[large])).T @ beta) <= top)
    target = labels if "hinge" in name else values
    reward = 0.0 if name == "one_class" else target @ beta
    if "hinge" in name:
        constraints.append(cp.multiply(labels, beta) >= 0)
    if name == "hinge":
        constraints.append(cp.multiply(labels, beta) <= prices)
    if name == "epsilon":
        constraints.append(cp.abs(beta) <= prices)
        reward = reward - 0.1 * cp.norm1(beta)
    if name in ("squared_hinge", "squared"):
        reward = reward - 0.5 * cp.sum_squares(beta / np.sqrt(prices))
    if name == "one_class":
        constraints += [beta >= 0, beta <= prices / prices.sum() / 0.4]
    problem = cp.Problem(cp.Maximize(reward - 0.5 * top), constraints)
    problem.solve(solver=cp.CLARABEL, tol_gap_rel=1e-7, tol_gap_abs=1e-7, tol_feas=1e-7)
    assert problem.status == "optimal"
    return problem.value


FAST = [("hinge", True), ("squared", False)]
REST = [
    (name, by_variance)
    for name in ("hinge", "squared_hinge", "epsilon", "squared", "one_class")
    for by_variance in (False, True)
    if (name, by_variance) not in FAST
]


@pytest.mark.parametrize(
    ("name", "by_variance"), FAST + [pytest.param(*case, marks=pytest.mark.thorough) for case in REST]
)
def test_the_optimum_is_that_of_a_fine_grid_of_kernels(name, by_variance):
    X, labels, values = make_problem()
    families, grams = [], []
    for column in range(2):
        family, d = family_of(X[:, [column]], (0.1, 30.0), by_variance)
        families.append(family)
        widths = np.geomspace(family.low, family.high, 40)
        grams += [plain_gram(d, gamma, by_variance) for gamma in widths]
    loss, prices = the_loss(name, labels, values)
    result, columns = learn_widths(NOTHING, families, [loss], Options(tol=1e-6))
    assert result.status == Status.OPTIMAL and result.gap <= 1e-6
    value = optimum_on_grid(name, grams, labels, values, prices)
    size = abs(value)
    assert result.lower_bound <= value + 1e-5 * size  # a grid can do what the interval can, and no more
    assert value <= result.upper_bound + 2e-3 * size
    assert len(columns) == result.weights.size


def test_the_gap_is_that_of_a_dense_grid():
    X, labels, _ = make_problem(3)
    family, d = family_of(X[:, [0]], (0.1, 100.0))
    loss = Hinge(labels, np.full(40, 2.0))
    result, columns = learn_widths(NOTHING, [family], [loss], Options(tol=1e-3))
    beta = result.duals[0]
    assert np.all(labels * beta >= 0) and np.all(labels * beta <= 2.0 + 1e-12) and abs(beta.sum()) < 1e-9
    forms = plain_forms(d, result.duals, np.geomspace(family.low, family.high, 5000), False)
    lower = labels @ beta - 0.5 * forms.max()
    K = sum(w * np.exp(-gamma * d) for w, (_, gamma) in zip(result.weights, columns, strict=True))
    scores = K @ beta
    breaks = labels - scores
    upper = 0.5 * beta @ scores + min(2.0 * np.maximum(0, 1 - labels * (scores + b)).sum() for b in breaks)
    assert result.weights.sum() <= 1 + 1e-9
    assert result.lower_bound <= lower + 1e-9 * abs(lower)
    assert upper <= result.upper_bound * (1 + 1e-9)
    assert (upper - lower) / upper <= result.gap + 1e-9 <= 1e-3 + 1e-9


def test_machines_share_their_kernels_and_fixed_kernels_stay():
    X, labels, _ = make_problem(1)
    family, _ = family_of(X[:, [0]])
    other = np.where(X[:, 1] > 0, 1.0, -1.0)
    fixed = (X[:, [1]] @ X[:, [1]].T)[None]
    losses = [Hinge(labels, np.ones(40)), Hinge(other, np.ones(40))]
    result, columns = learn_widths(fixed, [family], losses, Options(tol=1e-5))
    assert result.status == Status.OPTIMAL and result.duals.shape == (2, 40)
    assert result.weights.size == 1 + len(columns) and result.weights[0] > 0.1


def test_a_round_ends_with_its_own_gap():
    X, labels, _ = make_problem(2)
    family, _ = family_of(X, (1e-3, 1e3))
    result, _ = learn_widths(NOTHING, [family], [Hinge(labels, np.full(40, 10.0))], Options(max_iter=1))
    assert result.status == Status.MAX_ITER and result.n_iter == 1 and result.gap > 1e-3
    best, _ = learn_widths(NOTHING, [family], [Hinge(labels, np.full(40, 10.0))], Options(tol=1e-6))
    assert result.lower_bound <= best.upper_bound and best.lower_bound <= result.upper_bound

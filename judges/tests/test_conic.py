"""The conic solver: the same optimum as CVXOPT on the paper's programs and as the interior point method."""

import numpy as np
import pytest
from sklearn.svm import SVC

from judges.conic import machine, solve_conic
from judges.programs.kernel_matrix_published import CRITERIA, default_trace, omega_free, omega_nonnegative
from multikernel.core.optim.weight_sets import Spectrahedron
from multikernel.core.svm.losses import HardMargin, Hinge, SquaredHinge
from multikernel.transductive.solver.families import RankOneFamily, StackFamily
from multikernel.transductive.solver.interior_point import InteriorPoint, follow_path
from tests.core.problems import Task, gaussian, judge
from tests.transductive.solver.matrix_problems import unit_diagonal

every_criterion = pytest.mark.parametrize("criterion", CRITERIA)


def make_loss(criterion, y, C):
    """The library's loss, C in the units of the family."""
    return {"HM": HardMargin(y), "SM1": Hinge(y, C), "SM2": SquaredHinge(y, C), "SM2C": HardMargin(y)}[
        criterion
    ]


def make_family(Ks, y, criterion, free=True):
    """The family, and the cone of free weights."""
    family = StackFamily(Ks, y.size, criterion == "SM2C")
    return family, Spectrahedron(Ks, family.scales[: len(Ks)]) if free else None


def make_problem(kind, n, seed):
    """Quadratic, Gaussian and linear kernels of one table, and noisy labels of the first three quarters."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    if kind == "repeated":
        X = X[np.arange(n) % (2 * n // 3)]
    y = np.where(X[:, 0] + X[:, 1] ** 2 - 1.0 + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    if kind == "repeated":
        y = y[np.arange(n) % (2 * n // 3)]  # the same point, the same label
    inner = X @ X.T
    quadratic = unit_diagonal(1.0 + inner) ** 2
    if kind == "low rank":
        Ks = [inner, X[:, :2] @ X[:, :2].T, quadratic, np.outer(X[:, 0], X[:, 0])]
    else:
        Ks = [quadratic, gaussian(X, 0.3), unit_diagonal(inner)]
    if kind == "dependent":
        Ks.append(Ks[0] + 0.5 * Ks[1])
    return np.stack(Ks), y[: 3 * n // 4]


def path_value(family, loss, cone):
    """The optimum by the interior point method."""
    method = InteriorPoint(family, loss, cone)
    assert follow_path(method, 100, lambda method: method.score < 1e-10) == "stopped"
    return method.value


def small_problem(seed, n=24, N=18):
    """Kernels of three sizes without a common null space; CVXOPT can do no more in a second."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    inner = X @ X.T
    y = np.where(X[:, 0] + X[:, 1] ** 2 - 0.8 + 0.2 * rng.normal(size=n) > 0, 1.0, -1.0)
    return np.stack([3.0 * (1.0 + inner) ** 2, gaussian(X, 0.3) + 1e-3 * np.eye(n), 0.5 * inner]), y[:N]


# --------------------------------------------------------------------------- against the paper's programs


@every_criterion
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_paper_program_by_cvxopt(criterion, free, seed):
    Ks, y = small_problem(seed)
    c = default_trace(Ks, criterion)
    unit = c / Ks.shape[1]  # of weights with sum one and members of trace n: C' = unit C, ω' = unit ω
    C = 1.0 / unit
    omega, mu, tau = (omega_free if free else omega_nonnegative)(Ks, y, criterion, C, c)
    family, cone = make_family(Ks, y, criterion, free)
    point = solve_conic(family, make_loss(criterion, y, C * unit), cone)
    assert point.why == "solved" and point.gap <= 1e-8
    np.testing.assert_allclose([point.value / unit, point.upper / unit, point.lower / unit], omega, rtol=1e-7)
    weights = point.w * family.scales * unit
    np.testing.assert_allclose(weights[:3], mu, atol=1e-3 * np.abs(mu).max())
    if criterion == "SM2C":
        np.testing.assert_allclose(weights[3], tau, rtol=1e-3)
    if free:
        assert weights[:3].min() < -1e-3, "a weight of these problems is truly negative"


@pytest.mark.parametrize("criterion", ["SM1", "SM2"])
def test_both_reference_programs_agree_where_no_weight_wants_to_be_negative(criterion):
    """One kernel alone: nothing to choose, and both are the machine of scikit-learn."""
    Ks, y = small_problem(0)
    K, C = Ks[1:2], 0.7
    free, nonnegative = (program(K, y, criterion, C)[0] for program in (omega_free, omega_nonnegative))
    np.testing.assert_allclose(free, nonnegative, rtol=1e-7)
    N = y.size
    shift = np.eye(N) / C if criterion == "SM2" else 0.0
    svc = SVC(C=C if criterion == "SM1" else 1e8, kernel="precomputed", tol=1e-8)
    svc.fit(K[0, :N, :N] + shift, y)
    beta = np.zeros(N)
    beta[svc.support_] = svc.dual_coef_[0]
    expected = 2.0 * np.abs(beta).sum() - beta @ ((K[0, :N, :N] + shift) @ beta)
    np.testing.assert_allclose(free, expected, rtol=1e-6)


# --------------------------------------------------------------------------- against our own method


KINDS = ("plain", "repeated", "low rank", "dependent")
# Kernels of low rank do not separate noisy labels.
EVERYTHING = [
    (kind, criterion) for kind in KINDS for criterion in CRITERIA if (kind, criterion) != ("low rank", "HM")
]


@pytest.mark.parametrize(("kind", "criterion"), EVERYTHING)
@pytest.mark.parametrize("n", [24, 48])
def test_free_weights_as_by_the_interior_point(kind, criterion, n):
    Ks, y = make_problem(kind, n, seed=1)
    family, cone = make_family(Ks, y, criterion)
    loss = make_loss(criterion, y, 2.0)
    point = solve_conic(family, loss, cone)
    assert point.gap <= 1e-7
    np.testing.assert_allclose(point.value, path_value(family, loss, cone), rtol=1e-7)


@pytest.mark.parametrize(("kind", "criterion"), EVERYTHING)
def test_nonnegative_weights_as_by_the_interior_point(kind, criterion):
    Ks, y = make_problem(kind, 50, seed=2)
    families = [make_family(Ks, y, criterion, free=False)[0]]
    if kind == "plain" and criterion != "HM":  # eigenvectors too
        families.append(RankOneFamily(np.linalg.eigh(Ks[1])[1][:, -12:], y.size, criterion == "SM2C"))
    loss = make_loss(criterion, y, 2.0)
    for family in families:
        point = solve_conic(family, loss, None)
        assert point.why == "solved" and (point.w >= 0).all()
        np.testing.assert_allclose(point.value, path_value(family, loss, None), rtol=1e-8)


def test_some_optimal_weights_are_truly_negative():
    """And better than the best nonnegative ones, so that the semidefinite constraint is put to work."""
    for seed, which in [(2, 0), (1, 2)]:
        Ks, y = make_problem("plain", 48, seed)
        family, cone = make_family(Ks, y, "SM2")
        loss = SquaredHinge(y, 2.0)
        free, nonnegative = solve_conic(family, loss, cone), solve_conic(family, loss, None)
        assert free.w[which] < -0.05
        assert free.upper < 0.98 * nonnegative.lower
        assert np.linalg.eigvalsh(family.whole(free.w))[0] >= -1e-10


# --------------------------------------------------------------------------- through subspaces, or outright


@every_criterion
@pytest.mark.parametrize(("kind", "seed"), [("plain", 0), ("repeated", 5), ("dependent", 6)])
def test_subspaces_that_grow_find_the_optimum_of_the_whole_program(kind, seed, criterion):
    Ks, y = make_problem(kind, 22, seed)
    family, cone = make_family(Ks, y, criterion)
    loss = make_loss(criterion, y, 2.0)
    outright = solve_conic(family, loss, cone, whole_below=22)
    grown = solve_conic(family, loss, cone, whole_below=0)
    assert outright.why == grown.why == "solved"
    assert 2 <= grown.n_rounds <= 6 and outright.n_rounds <= 2
    np.testing.assert_allclose(grown.value, outright.value, rtol=2e-8)
    for one, other in [(grown, outright), (outright, grown)]:
        assert one.lower <= other.upper * (1.0 + 1e-12)


# --------------------------------------------------------------------------- what is returned holds


@every_criterion
@pytest.mark.parametrize("free", [True, False])
def test_the_point_is_feasible_and_its_upper_bound_is_that_of_its_machine(criterion, free):
    Ks, y = make_problem("plain", 42, seed=7)
    family, cone = make_family(Ks, y, criterion, free)
    loss = make_loss(criterion, y, 1.0)
    point = solve_conic(family, loss, cone)
    np.testing.assert_allclose(point.w.sum(), 1.0, rtol=1e-12)
    assert point.w[-1] >= 0.0 or criterion != "SM2C"
    assert np.linalg.eigvalsh(family.whole(point.w))[0] >= -1e-10
    for duals in (point.beta, point.proof):
        a = y * duals
        assert (a >= 0).all() and (criterion != "SM1" or (a <= 1.0).all())
        assert abs(duals.sum()) <= 1e-12 * a.sum()
    N = y.size
    K = family.whole(point.w)[:N, :N]
    kinds = {"HM": "hard_margin", "SM1": "hinge", "SM2": "squared_hinge", "SM2C": "squared_hinge"}
    task = Task(kinds[criterion], y, 1.0 / point.w[-1] if criterion == "SM2C" else 1.0)
    upper, lower = judge(K[None], [task], np.ones(1), [point.beta])
    np.testing.assert_allclose([2.0 * upper, 2.0 * lower], point.upper, rtol=1e-8)
    np.testing.assert_allclose(point.value, 2.0 * lower, rtol=1e-12)
    scores = K @ point.beta + point.intercept
    on_the_margin = (y * point.beta > 1e-6) & ((criterion != "SM1") | (y * point.beta < 1.0 - 1e-6))
    ridge = {"SM2": 1.0, "SM2C": point.w[-1]}.get(criterion, 0.0)
    np.testing.assert_allclose((y - scores - ridge * point.beta)[on_the_margin], 0.0, atol=1e-6)


@every_criterion
@pytest.mark.parametrize("rounds", [1, 2])
def test_the_lower_bound_is_below_the_value_at_every_feasible_weights(criterion, rounds):
    """Also when the rounds end early: the bound is weak then, but true."""
    Ks, y = make_problem("plain", 42, seed=8)
    family, cone = make_family(Ks, y, criterion)
    loss = make_loss(criterion, y, 1.0)
    point = solve_conic(family, loss, cone, max_iter=rounds, whole_below=0)
    optimum = path_value(family, loss, cone)
    assert point.lower <= optimum * (1.0 + 1e-9)
    assert point.upper >= optimum * (1.0 - 1e-9)
    if rounds == 1:
        assert point.why == "max_iter" and point.n_rounds == 1
        assert 1e-6 < point.gap < 1.0, "one round is not enough, and says so"


def test_watching_and_stopping():
    Ks, y = make_problem("plain", 42, seed=8)
    family, cone = make_family(Ks, y, "SM1")
    loss, seen = Hinge(y, 1.0), []

    def watch(point):
        seen.append(point)
        return len(seen) == 2

    point = solve_conic(family, loss, cone, tol=0.0, watch=watch)
    assert point.why == "stopped" and [seen_point.n_rounds for seen_point in seen] == [1, 2]
    assert point.gap == seen[-1].gap and point.w is seen[-1].w
    assert seen[0].gap > seen[1].gap
    assert solve_conic(family, loss, None, tol=0.0, watch=lambda point: True).why == "stopped"
    assert solve_conic(family, loss, None, tol=0.0).why == "stalled"  # nothing is exact
    seen.clear()
    assert solve_conic(family, loss, cone, tol=0.0, watch=seen.append).why == "stalled"
    assert len(seen) > 6, "each point is the best so far, though the last rounds only add rounding"
    assert (np.diff([point.upper for point in seen]) <= 0.0).all()
    assert (np.diff([point.lower for point in seen]) >= 0.0).all()


def test_a_hard_margin_without_separation_has_no_bounds():
    Ks, y = make_problem("repeated", 24, seed=0)
    y[16] = -y[0]  # the same point
    family, cone = make_family(Ks, y, "HM")
    point = solve_conic(family, HardMargin(y), cone)
    assert point.why == "stalled" and point.gap == np.inf


@pytest.mark.parametrize("criterion", ["SM1", "SM2"])
def test_members_that_are_all_the_same(criterion):
    """Four multiples of one matrix of rank one: the range is a line, and nothing can be chosen."""
    x = np.random.default_rng(0).normal(size=20)
    Ks = np.array([1.0, 2.0, 0.1, 5.0])[:, None, None] * np.outer(x, x)
    y = np.sign(x[:14] + 0.5)
    family, cone = make_family(Ks, y, criterion)
    alone, _ = make_family(Ks[:1], y, criterion)
    loss = make_loss(criterion, y, 1.0)
    expected = solve_conic(alone, loss, None).value
    for whole_below in (0, 40):
        point = solve_conic(family, loss, cone, whole_below=whole_below)
        assert point.why == "solved"
        np.testing.assert_allclose(point.value, expected, rtol=1e-8)


@pytest.mark.parametrize("whole_below", [0, 40])
def test_a_constant_kernel_sees_nothing(whole_below):
    """Balanced duals vanish under it: the smaller class goes to its bound, and as much of the other."""
    y = np.array([1.0] * 9 + [-1.0] * 5)
    family, cone = make_family(np.full((1, 20, 20), 3.0), y, "SM1")
    point = solve_conic(family, Hinge(y, 0.5), cone, whole_below=whole_below)
    assert point.why == "solved"
    np.testing.assert_allclose([point.lower, point.upper], 2.0 * 2 * 5 * 0.5, rtol=1e-8)


@pytest.mark.parametrize("criterion", ["SM1", "SM2", "SM2C"])
def test_the_unit_of_the_members_does_not_matter(criterion):
    """K·s with C/s: the same weights, s times the value."""
    Ks, y = make_problem("plain", 42, seed=10)
    family, cone = make_family(Ks, y, criterion)
    small = StackFamily(Ks, y.size, criterion == "SM2C", size=0.01)
    small_cone = Spectrahedron(Ks, small.scales[: len(Ks)])
    for this, that in [(cone, small_cone), (None, None)]:
        one = solve_conic(family, make_loss(criterion, y, 1.0), this)
        other = solve_conic(small, make_loss(criterion, y, 100.0), that)
        np.testing.assert_allclose(0.01 * other.value, one.value, rtol=1e-7)
        np.testing.assert_allclose(other.w, one.w, atol=1e-3)


def test_a_bound_for_each_sample():
    Ks, y = make_problem("plain", 42, seed=11)
    family, cone = make_family(Ks, y, "SM1")
    C = np.random.default_rng(0).uniform(0.05, 3.0, y.size)
    for constraint in (cone, None):
        point = solve_conic(family, Hinge(y, C), constraint)
        assert (y * point.beta <= C).all() and np.count_nonzero(y * point.beta == C) > 3
        np.testing.assert_allclose(point.value, path_value(family, Hinge(y, C), constraint), rtol=1e-7)


# --------------------------------------------------------------------------- its parts


@every_criterion
def test_the_machine_at_fixed_weights_is_that_of_scikit_learn(criterion):
    Ks, y = make_problem("plain", 32, seed=1)
    problem = machine.make_problem(make_family(Ks, y, criterion)[0], make_loss(criterion, y, 2.0))
    w = np.full(problem.family.n_members, 1.0 / problem.family.n_members)
    answer = machine.solve_fixed(problem, w)
    C = 2.0 if criterion == "SM1" else 1e8
    svc = SVC(C=C, kernel="precomputed", tol=1e-10).fit(problem.quadratic(w), problem.y)
    beta = np.zeros(problem.y.size)
    beta[svc.support_] = svc.dual_coef_[0]
    np.testing.assert_allclose(answer.beta, beta, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(answer.intercept, svc.intercept_[0], atol=1e-5)
    np.testing.assert_allclose(answer.upper, answer.lower, rtol=1e-11)
    free = (np.abs(beta) > 1e-6) & (np.abs(beta) < C - 1e-6)
    assert np.array_equal(answer.free, free)


@every_criterion
def test_the_proof_that_is_returned_gives_the_bound_again(criterion):
    """Z ⪰ 0 and one θ for all members, written out: the bound is 2y'β − τβ'β − θ."""
    Ks, y = make_problem("plain", 36, seed=1)
    family, cone = make_family(Ks, y, criterion)
    loss = make_loss(criterion, y, 2.0)
    point = solve_conic(family, loss, cone)
    beta, Z = point.proof, point.Z
    assert np.linalg.eigvalsh(Z)[0] >= -1e-6 * np.linalg.eigvalsh(Z)[-1]
    basis = np.eye(36) if cone.basis is None else cone.basis
    whole = basis @ Z @ basis.T
    members = [family.whole(unit) for unit in np.eye(family.n_members)[:3]]
    N = y.size
    sums = [beta @ K[:N, :N] @ beta + np.vdot(whole, K) for K in members]
    np.testing.assert_allclose(sums, sums[0], rtol=1e-6)
    reward = 2.0 * y @ beta - loss.shift @ beta**2
    np.testing.assert_allclose(point.lower, reward - max(sums), rtol=1e-6)
    np.testing.assert_allclose(point.value, point.lower, rtol=1e-7)
    np.testing.assert_allclose(np.vdot(whole, family.whole(point.w)), 0.0, atol=1e-5)

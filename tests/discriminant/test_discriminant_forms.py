"""Both formulations by both solvers against CVXOPT's answer to the published programs, and the fixtures."""

import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import given

from judges.conic import learn_discriminant_conic
from judges.diagonal_discriminant import learn_diagonal_discriminant
from judges.programs import discriminant_published as reference
from multikernel.core.optim.loop import Options, Status
from multikernel.core.scatter import class_columns, separation_columns
from multikernel.discriminant.solver.learn import DiscriminantProblem, evaluate_separation, learn_discriminant
from multikernel.discriminant.solver.problem import Members
from tests.discriminant.discriminant_problems import (
    KINDS,
    REGS,
    assert_close,
    breast_cancer,
    make_problem,
    problems,
    regs,
    shares_of,
    slopes,
    wine,
)

FORMS = ("exact", "approximate")
SOLVERS = ("fast", "conic")
LEARNERS = {
    ("exact", "fast"): learn_discriminant,
    ("approximate", "fast"): learn_diagonal_discriminant,
    ("exact", "conic"): learn_discriminant_conic,
    ("approximate", "conic"): partial(learn_discriminant_conic, approximate=True),
}
JUDGES = {"exact": "full", "approximate": "diagonal"}
SIZES = ((20, 2, 3), (26, 3, 5), (30, 4, 4))
every_way = pytest.mark.parametrize(("form", "solver"), list(itertools.product(FORMS, SOLVERS)))


def learn(Ks, codes, reg, form="exact", solver="fast", **options):
    options = Options(**{"tol": 1e-8, "max_iter": 100, **options})
    return LEARNERS[form, solver](DiscriminantProblem(Ks, codes, reg), options=options)


def value_at(Ks, codes, reg, form, shares):
    """The objective at given shares, by CVXOPT where a diagonal is sought."""
    if form == "exact" or codes.max() == 1:
        return reference.objective(Ks, codes, reg, shares)
    A, ridge = reference.members(Ks, reg)
    H = reference.columns(codes)
    C = H.T @ np.linalg.solve(ridge + np.tensordot(shares, A, 1) + np.ones_like(ridge), H)
    size = np.trace(C)
    return (1.0 if reg is None else reg) * size * reference.smallest_diagonal(C / size)[0]


# --- against CVXOPT ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("reg", REGS)
@pytest.mark.parametrize("kind", KINDS)
def test_both_solvers_find_the_optimum_of_the_published_program(kind, reg, form):
    for n, k, m in SIZES:
        Ks, codes = make_problem(kind, n, k, m)
        expected, _ = reference.value(Ks, codes, reg, JUDGES[form])
        for solver in SOLVERS:
            found = learn(Ks, codes, reg, form, solver)
            # Beside λ = 1e-8 the bounds themselves are rounded in the eighth digit.
            assert found.gap <= (1e-7 if reg == 1e-8 else 1e-8), (solver, n)
            assert (found.status == Status.OPTIMAL) == (found.gap <= 1e-8)
            np.testing.assert_allclose(found.objective, expected, rtol=1e-6)
            assert found.lower_bound <= expected * (1.0 + 1e-7)
            assert found.gap == pytest.approx(abs(1.0 - found.lower_bound / found.objective), abs=1e-12)


@pytest.mark.parametrize("reg", REGS)
def test_one_inequality_with_a_full_matrix_is_one_for_each_class(reg):
    """(34) of the paper, and what the exact solver minimises."""
    Ks, codes = make_problem("mixed", 30, 3, 4, seed=1)
    expected, _ = reference.value(Ks, codes, reg, "each class")
    np.testing.assert_allclose(reference.value(Ks, codes, reg, "full")[0], expected, rtol=1e-7)
    np.testing.assert_allclose(learn(Ks, codes, reg).objective, expected, rtol=1e-7)


@every_way
@pytest.mark.parametrize("reg", [1e-2, 1e-8, None])
def test_the_objective_is_that_of_the_shares_and_weights_follow_from_them(reg, form, solver):
    Ks, codes = make_problem("gaussians", 40, 3, 6)
    found = learn(Ks, codes, reg, form, solver)
    np.testing.assert_allclose(found.objective, value_at(Ks, codes, reg, form, found.shares), rtol=1e-6)
    assert found.shares.min() >= 0.0 and found.shares.sum() == pytest.approx(1.0, abs=1e-12)
    traces = np.trace(reference.centred(Ks), axis1=1, axis2=2)
    shares = found.shares if reg is not None else found.shares[1:] / found.shares[1:].sum()
    np.testing.assert_allclose(found.weights * traces, shares, atol=1e-12)
    if reg is None:  # θ~_0 = η_0 / n against Σ θ~_i r_i
        expected = found.shares[0] / 40 / found.shares[1:].sum()
        np.testing.assert_allclose(found.reg, expected, atol=1e-10)
    else:
        assert found.reg == reg


@pytest.mark.parametrize("form", FORMS)
def test_the_solvers_agree_where_programs_go_through_subspaces(form):
    """With 120 points the conic solver never sees the whole program."""
    Ks, codes = make_problem("gaussians", 120, 4, 8)
    for reg in (1e-4, None):
        fast, conic = (learn(Ks, codes, reg, form, solver) for solver in SOLVERS)
        assert fast.status == conic.status == Status.OPTIMAL
        np.testing.assert_allclose(conic.objective, fast.objective, rtol=2e-8)
        assert max(fast.lower_bound, conic.lower_bound) <= min(fast.objective, conic.objective) * (1 + 1e-10)


@pytest.mark.parametrize("reg", [1e-4, None])
def test_many_columns_that_hardly_differ(reg):
    """Near-dependent columns of the conic solver's subspace magnify rounding."""
    Ks, codes = make_problem("repeated points", 52, 5, 17)
    fast, conic = (learn(Ks, codes, reg, "exact", solver) for solver in SOLVERS)
    assert conic.status == Status.OPTIMAL
    np.testing.assert_allclose(conic.objective, fast.objective, rtol=2e-8)


def test_more_than_a_hundred_kernels_of_rank_one():
    Ks, codes = make_problem("rank one", 40, 3, 120)
    for reg, form in ((1e-2, "exact"), (None, "approximate")):
        found = learn(Ks, codes, reg, form)
        assert found.status == Status.OPTIMAL
        expected, _ = reference.value(Ks, codes, reg, JUDGES[form])
        np.testing.assert_allclose(found.objective, expected, rtol=1e-6)


@given(problems, regs)
def test_the_objective_and_its_derivatives(problem, reg):
    Ks, codes = make_problem(*problem)
    members = Members(Ks, reg)
    H = np.asfortranarray(separation_columns(codes))
    x = shares_of(members.usable.size, problem[-1])
    here = evaluate_separation(members, H, x)
    factor = 1.0 if reg is None else reg
    assert here.value * factor == pytest.approx(reference.objective(Ks, codes, reg, x), rel=1e-7)
    assert_close(here.gradient, slopes(lambda z: evaluate_separation(members, H, z).value, x))
    assert_close(here.hessian, slopes(lambda z: evaluate_separation(members, H, z).gradient, x))


# --- fixtures ----------------------------------------------------------------------------------------------


CANCER = {1e-2: 0.003749334434, 1e-4: 1.082853397e-4, 1e-8: 1.104399897e-8, None: 1.104402094}


@pytest.mark.parametrize(
    ("load", "form", "reg", "expected"),
    [
        (wine, "exact", 1e-2, 50.87001101),
        (wine, "exact", 1e-4, 1.258256569),
        (wine, "exact", None, 12804.59675),
        (wine, "approximate", 1e-2, 92.64409151),
        (wine, "approximate", 1e-4, 2.298909972),
        (wine, "approximate", None, 23395.17308),
        *((breast_cancer, form, reg, value) for form in FORMS for reg, value in CANCER.items()),
    ],
)
@pytest.mark.parametrize("solver", SOLVERS)
def test_fixtures(solver, load, form, reg, expected):
    found = learn(*load(), reg, form, solver)
    np.testing.assert_allclose(found.objective, expected, rtol=2e-9 if solver == "fast" else 1e-8)
    assert found.status == Status.OPTIMAL
    if (load, form, reg) == (wine, "exact", 1e-2):
        np.testing.assert_allclose(found.shares[[5, 9]], [0.965181, 0.034819], atol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_breast_cancer_without_a_kernel_that_is_nearly_the_identity(solver):
    found = learn(*breast_cancer((2, 4, 8, 16, 32)), None, solver=solver)
    np.testing.assert_allclose(found.objective, 1.104426267, rtol=1e-8)
    np.testing.assert_allclose(found.reg, 0.00567544, rtol=2e-5)


# --- what the approximation is -----------------------------------------------------------------------------


@pytest.mark.parametrize("reg", REGS)
@pytest.mark.parametrize("k", [3, 4, 6])
def test_the_approximation_is_strictly_larger(k, reg):
    Ks, codes = make_problem("gaussians", 40, k, 5)
    exact, approximate = (learn(Ks, codes, reg, form) for form in FORMS)
    assert 1.05 * exact.objective < approximate.objective <= k * exact.objective
    at_its_shares = reference.objective(Ks, codes, reg, approximate.shares)
    assert exact.objective <= at_its_shares * (1.0 + 1e-8)


@pytest.mark.parametrize("reg", [1.0, 1e-4, None])
def test_for_two_classes_it_is_a_constant_times_the_exact_value(reg):
    Ks, codes = make_problem("mixed", 30, 2, 4)
    n_1, n_2 = np.bincount(codes)
    H = reference.class_columns(codes)
    of_columns = n_1 * n_2 * learn(Ks, codes, reg).objective  # tr H'M⁻¹H = n_1 n_2 a'M⁻¹a
    np.testing.assert_allclose(reference.value(Ks, codes, reg, "each class", H)[0], of_columns, rtol=1e-7)
    ratio = (np.sqrt(n_1) + np.sqrt(n_2)) ** 2 / 30
    np.testing.assert_allclose(
        reference.value(Ks, codes, reg, "diagonal", H)[0], ratio * of_columns, rtol=1e-7
    )
    exact, approximate = (learn(Ks, codes, reg, form) for form in FORMS)
    np.testing.assert_array_equal(approximate.weights, exact.weights)
    assert approximate.objective == exact.objective


@pytest.mark.parametrize("kind", KINDS)
def test_it_takes_few_factorisations_also_where_the_optimum_is_a_kink(kind):
    """With kernels of rank one it often is; steps that go wrong there cost hundreds."""
    for seed in range(3):
        for reg in REGS:
            found = learn(*make_problem(kind, 40, 4, 6, seed), reg, "approximate")
            assert found.n_factorisations <= 40
            assert found.gap <= 1e-8


# --- edges -------------------------------------------------------------------------------------------------


def useless(codes):
    """A kernel of rank one that is orthogonal to the classes."""
    H = reference.class_columns(codes)
    x = np.random.default_rng(3).normal(size=codes.size)
    x -= x.mean() + H @ np.linalg.lstsq(H, x - x.mean(), rcond=None)[0]
    return np.outer(x, x)[None]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("form", "per_class"), [("exact", 2), ("approximate", 3)])
def test_the_identity_takes_all_where_no_kernel_helps(form, per_class, solver):
    """F = n tr H'H = n²(k − 1); v = n²k, for Z√(n_1 … n_k) = 0 has solutions, many of them."""
    codes = np.arange(30) % 3
    found = learn(useless(codes), codes, None, form, solver)
    np.testing.assert_allclose(found.objective, 900.0 * per_class, rtol=1e-8)
    assert found.status == Status.OPTIMAL
    np.testing.assert_allclose(found.shares, [1.0, 0.0], atol=1e-7)
    if solver == "fast":
        assert found.reg == np.inf


@every_way
def test_scales_of_kernels_and_names_of_classes_do_not_matter(form, solver):
    Ks, codes = make_problem("gaussians", 30, 3, 4)
    expected = learn(Ks, codes, 1e-3, form, solver)
    factors = np.array([1e-6, 3.0, 1e5, 1.0])
    scaled = learn(factors[:, None, None] * Ks, (codes + 1) % 3, 1e-3, form, solver)
    np.testing.assert_allclose(scaled.objective, expected.objective, rtol=1e-7)
    np.testing.assert_allclose(scaled.weights * factors, expected.weights, atol=1e-4 * expected.weights.max())


@every_way
def test_a_constant_kernel_has_no_weight_and_changes_nothing(form, solver):
    Ks, codes = make_problem("mixed", 30, 3, 4)
    for reg in (1e-3, None):
        expected = learn(Ks, codes, reg, form, solver)
        found = learn(np.concatenate([Ks, np.full((1, 30, 30), 7.0)]), codes, reg, form, solver)
        np.testing.assert_allclose(found.objective, expected.objective, rtol=1e-7)
        assert found.weights[-1] == 0.0


@every_way
def test_the_same_kernel_twice(form, solver):
    Ks, codes = make_problem("gaussians", 30, 3, 3)
    expected = learn(Ks, codes, 1e-2, form, solver)
    found = learn(np.concatenate([Ks, Ks]), codes, 1e-2, form, solver)
    np.testing.assert_allclose(found.objective, expected.objective, rtol=1e-7)
    together = found.weights[:3] + found.weights[3:]
    np.testing.assert_allclose(together, expected.weights, atol=1e-4 * expected.weights.max())


@every_way
def test_bounds_hold_where_it_is_stopped_early(form, solver):
    Ks, codes = make_problem("gaussians", 60, 3, 8)
    optimum = learn(Ks, codes, 1e-4, form).objective
    short = learn(Ks, codes, 1e-4, form, solver, max_iter=1, tol=1e-14)
    assert short.status == Status.MAX_ITER
    assert short.n_iter == 1
    assert short.lower_bound < optimum < short.objective
    np.testing.assert_allclose(short.objective, value_at(Ks, codes, 1e-4, form, short.shares), rtol=1e-6)
    seen = []
    stopped = learn(Ks, codes, 1e-4, form, solver, callback=lambda entry: seen.append(entry) or True)
    assert stopped.status == Status.INTERRUPTED
    assert len(seen) == len(stopped.history) == 1
    assert set(seen[0]) == {"iteration", "objective", "lower_bound", "gap", "n_active"}


@every_way
def test_the_history_ends_at_the_result_and_bounds_close_in(form, solver):
    Ks, codes = make_problem("gaussians", 60, 3, 8)
    found = learn(Ks, codes, 1e-4, form, solver)
    objective, lower = ([entry[name] for entry in found.history] for name in ("objective", "lower_bound"))
    np.testing.assert_allclose([objective[-1], lower[-1]], [found.objective, found.lower_bound], rtol=2e-8)
    assert (np.diff(objective) <= 1e-12 * objective[0]).all()
    assert all(low <= found.objective * (1.0 + 1e-12) for low in lower)
    assert found.n_factorisations >= 2


@every_way
def test_an_indefinite_kernel_is_suspicious(form, solver):
    """Negative where the classes differ."""
    Ks, codes = make_problem("gaussians", 40, 3, 3)
    assert not learn(Ks, codes, 10.0, form, solver).suspicious
    H = class_columns(codes)
    Ks[1] -= 0.2 * H @ H.T
    assert learn(Ks, codes, 10.0, form, solver).suspicious

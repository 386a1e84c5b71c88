"""Selected views: p-values against all permutations, bounds against the papers, error rates."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.stats import binom, false_discovery_control
from sklearn.kernel_ridge import KernelRidge

from benchmarks.view_selection import KINDS
from multikernel import KernelBank, MKLClassifier, MKLRidge, View
from multikernel.inspection import ViewSelection, select_views
from multikernel.inspection.explaining.stability import (
    BOUNDS,
    expected_false,
    half_samples,
    largest_tail,
    most_chosen,
    shares_chosen,
)
from multikernel.inspection.explaining.view_tests import (
    Permutations,
    centered,
    permutation_test,
    residual_targets,
    target_columns,
)
from multikernel.kernels import Gaussian, Linear


def grams(n, n_views, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, n_views))
    return X, np.stack([np.exp(-((X[:, [m]] - X[:, m]) ** 2)) for m in range(n_views)])


# ------------------------------------------------------------------ permutation tests
@pytest.mark.parametrize("classes", [True, False])
def test_few_samples_have_exact_p_values(classes):
    X, Ks = grams(6, 3)
    y = np.array([0, 1, 2, 0, 1, 1]) if classes else X[:, 0] + 0.1 * X[:, 1]
    Y = target_columns(y, classes=classes)
    H = np.eye(6) - 1.0 / 6.0
    for K in Ks:
        K = H @ K @ H
        np.testing.assert_allclose(centered(K), K, atol=1e-12)
        every = [np.trace(Y[list(p)].T @ K @ Y[list(p)]) for p in permutations(range(6))]
        statistic, p = permutation_test(K, Y, Permutations(6, 1000, seed=0), enough=20)
        np.testing.assert_allclose(statistic, every[0])
        assert p == np.mean(np.array(every) >= every[0] - 1e-9)


def test_drawn_permutations_are_near_the_exact_p_value_and_stop_early():
    X, Ks = grams(7, 1)
    Y = target_columns(X[:, 0] + np.random.default_rng(3).normal(size=7), classes=False)
    K = centered(Ks[0])
    exact = permutation_test(K, Y, Permutations(7, 10**4, seed=0), enough=20)[1]
    drawn = [permutation_test(K, Y, Permutations(7, 4999, seed=seed), enough=5000)[1] for seed in range(3)]
    np.testing.assert_allclose(drawn, exact, atol=0.03)
    permuted = Permutations(7, 4999, seed=0)
    early = permutation_test(K, Y, permuted, enough=20)[1]
    assert sum(map(len, permuted._drawn)) < 2000 or exact < 0.02
    assert abs(early - exact) < 0.15


def test_batches_are_permutations_and_the_first_is_the_identity():
    drawn = np.concatenate(list(Permutations(20, 999, seed=1)))
    assert drawn.shape == (1000, 20)
    np.testing.assert_array_equal(drawn[0], np.arange(20))
    np.testing.assert_array_equal(np.sort(drawn, axis=1), np.tile(np.arange(20), (1000, 1)))


@pytest.mark.parametrize("method", ["marginal", "conditional"])
def test_p_values_of_noise_are_uniform(method):
    p = []
    for seed in range(40):
        X, Ks = grams(30, 5, seed)
        y = np.random.default_rng(1000 + seed).normal(size=30) + (X[:, 0] if method == "conditional" else 0.0)
        found = select_views("precomputed", np.moveaxis(Ks, 0, 2), y, method=method, random_state=seed)
        p.extend(found.to_frame()["p_value"][1:])
    p = np.array(p)  # 160 of them, four of each problem
    for level in (0.05, 0.2, 0.5):
        assert np.mean(p <= level) <= level + 3.0 * np.sqrt(level * (1 - level) / p.size)
    assert np.mean(p <= 0.5) >= 0.35


def test_residuals_are_those_of_kernel_ridge_regression_on_the_other_views():
    X, Ks = grams(40, 2)
    Y = target_columns(X[:, 0] + 0.3 * np.random.default_rng(1).normal(size=40), classes=False)
    Ks = np.stack([centered(K) for K in Ks])
    rest = residual_targets(Ks, Y)[1]  # on the first view
    values = np.linalg.eigvalsh(Ks[0])
    best = None
    for ridge in 10.0 ** np.arange(-4.0, 3.0) * values.mean():
        machine = KernelRidge(alpha=ridge, kernel="precomputed").fit(Ks[0], Y)
        left = np.linalg.inv(Ks[0] + ridge * np.eye(40))
        error = np.sum(((left @ Y) / (np.diag(left) - 1.0 / (40 * ridge))[:, None]) ** 2)
        if best is None or error < best[0]:
            best = error, Y - machine.predict(Ks[0])
    np.testing.assert_allclose(rest, best[1], atol=1e-8)


def test_the_conditional_test_leaves_out_what_only_repeats_another_view():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    X[:, 1] = X[:, 0] + rng.normal(size=150)  # it says what the first says, and less
    y = X[:, 0] + 0.3 * rng.normal(size=150)
    views = [View(f"v{k}", Linear(), [k]) for k in range(6)]
    assert select_views(views, X, y, random_state=0).selected[:2] == ["v0", "v1"]
    assert select_views(views, X, y, method="conditional", random_state=0).selected == ["v0"]


def test_q_values_are_scipys_and_alignments_those_of_the_definition():
    X, Ks = grams(40, 8)
    y = np.where(X[:, 0] > 0.0, "a", "b")
    stack = np.moveaxis(Ks, 0, 2)
    for correction in ("bh", "by"):
        table = select_views("precomputed", stack, y, correction=correction, random_state=0).to_frame()
        expected = false_discovery_control(table["p_value"], method=correction)
        np.testing.assert_allclose(table["q_value"], expected)
        assert (table["selected"] == (table["q_value"] <= 0.1)).all()
    L = np.equal.outer(y, y) / np.array([np.mean(y == label) for label in y])
    a, b = centered(Ks[0]), centered(L)
    np.testing.assert_allclose(
        table["alignment"].iloc[0], np.sum(a * b) / np.linalg.norm(a) / np.linalg.norm(b)
    )


# ------------------------------------------------------------------ stability selection
def test_bounds_are_those_of_the_papers():
    # Meinshausen and Bühlmann (2010), E(V) <= q^2 / ((2 pi - 1) p); Shah and Samworth (2013), theorem 2
    assert expected_false(1000, 31.0, 0.9, 50, "worst") == pytest.approx(31.0**2 / (0.8 * 1000))
    assert expected_false(1000, 31.0, 0.6, 50, "unimodal") == pytest.approx(
        31.0**2 / 1000 / (2 * (2 * 0.6 - 1 - 1 / 100))
    )
    assert expected_false(1000, 31.0, 0.9, 50, "unimodal") == pytest.approx(
        31.0**2 / 1000 * 4 * (1 - 0.9 + 1 / 100) / (1 + 1 / 50)
    )
    assert expected_false(10, 8.0, 0.9, 50, "unimodal") == expected_false(10, 8.0, 0.9, 50, "worst")
    for n_views in (5, 30, 200):
        q = most_chosen(n_views, 1.0, 0.75, 50, "worst")
        assert expected_false(n_views, q, 0.75, 50, "worst") <= 1.0
        assert q == n_views - 1 or expected_false(n_views, q + 1, 0.75, 50, "worst") > 1.0


@pytest.mark.parametrize(("mean", "n", "t", "r"), [(0.5, 6, 3, -0.5), (1.0, 8, 4, -0.5), (0.4, 5, 3, -0.25)])
def test_the_largest_tail_of_r_concave_distributions_is_that_of_a_direct_search(mean, n, t, r):
    """Convex g = f^r, searched by SLSQP from random starts: it comes near, and never above."""
    places, rng, best = np.arange(n + 1), np.random.default_rng(0), 0.0

    def density(g):
        weights = np.maximum(g, 1e-12) ** (1.0 / r)
        return weights / weights.sum()

    constraints = [
        {"type": "ineq", "fun": lambda g: mean - density(g) @ places},
        {"type": "ineq", "fun": lambda g: g[:-2] + g[2:] - 2.0 * g[1:-1]},
    ]
    for _ in range(20):
        start = np.cumsum(np.cumsum(rng.exponential(size=n + 1) * rng.random() ** 2))
        found = minimize(
            lambda g: -density(g)[t:].sum(), start / start[0], method="SLSQP", constraints=constraints,
            bounds=[(1e-6, 1e4)] * (n + 1), options={"maxiter": 300},
        )  # fmt: skip
        if min(constraint["fun"](found.x).min() for constraint in constraints) > -1e-7:
            best = max(best, -float(found.fun))
    largest = largest_tail(mean, n, t, r)
    assert best <= largest + 1e-6
    assert best >= 0.97 * largest


def test_the_r_concave_bound_is_between_nothing_and_the_unimodal_one():
    for n_views, q, threshold in ((25, 4, 0.6), (100, 10, 0.75), (200, 30, 0.9)):
        limits = [expected_false(n_views, q, threshold, 50, bound) for bound in BOUNDS]
        assert 0.0 < limits[0] < limits[1] <= limits[2]
        grown = [expected_false(n_views, k, threshold, 50, "r_concave") for k in range(1, q + 3)]
        assert (np.diff(grown) > 0.0).all()
    assert most_chosen(25, 1.0, 0.75, 50, "r_concave") == 7  # 4 by the unimodal bound
    # a binomial count is log-concave, and so r-concave for each r < 0
    for share in (0.05, 0.1, 0.2):
        assert binom.sf(37, 50, share**2) <= largest_tail(50 * share**2, 50, 38, -0.5)


@pytest.mark.parametrize("n_noise", [20, 60])
def test_stability_selection_finds_views_and_few_false_ones(n_noise):
    """The benchmark in small: at most one false view is expected, and 70 % of the true ones are found."""
    true, false = [], []
    for number in range(8):
        rng = np.random.default_rng(number)
        X, latent = KINDS[0].draw(n_noise, rng)
        views = [View(f"{k}", Gaussian(), list(range(3 * k, 3 * k + 3))) for k in range(5 + n_noise)]
        found = select_views(views, X, latent, method="stability", random_state=number)
        chosen = np.array(found.selected, dtype=int)
        true.append((chosen < 5).sum() / 5)
        false.append((chosen >= 5).sum())
    assert np.mean(true) > 0.55  # three standard errors below 70 %
    assert np.mean(false) <= 1.0


def test_halves_are_complementary_and_stratified():
    codes = np.array([0] * 7 + [1] * 9)
    halves = half_samples(codes, 16, 10, np.random.RandomState(0))
    assert len(halves) == 20
    for one, other in zip(halves[::2], halves[1::2], strict=True):
        assert not set(one) & set(other)
        assert [np.sum(codes[rows] == 0) for rows in (one, other)] == [3, 3]
        assert [np.sum(codes[rows] == 1) for rows in (one, other)] == [4, 4]


def test_shares_count_the_first_of_each_half():
    rates = {0: np.array([3.0, 2.0, 0.0]), 1: np.array([3.0, 0.0, 0.0])}
    halves = [np.array([0]), np.array([1])]
    shares, average = shares_chosen(halves, lambda rows: rates[int(rows[0])], 3, 2)
    assert shares.tolist() == [1.0, 0.5, 0.0] and average == 1.5


def test_stability_selection_by_alignment_and_by_learned_weights():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 20))
    y = np.where(X[:, 0] + X[:, 1] > 0.0, "a", "b")
    views = [View(f"v{k}", Gaussian(), [k]) for k in range(20)]
    for estimator in (views, MKLClassifier(views, C=0.3)):
        found = select_views(estimator, X, y, method="stability", random_state=0, n_pairs=10)
        assert set(found.selected) >= {"v0", "v1"} and len(found.selected) <= 3
        assert found.level <= 1.0 and found.threshold == 0.75
    assert "r-concave" in found.guarantee
    ridge = select_views(
        MKLRidge(views), X, X[:, 3], method="stability", bound="worst", random_state=0, n_pairs=5
    )
    assert ridge.selected == ["v3"] and "unimodal" not in ridge.guarantee and "concave" not in ridge.guarantee


# ------------------------------------------------------------------ the entry point
def test_tables_frames_strings_and_estimators():
    rng = np.random.default_rng(0)
    ids = pd.Index([f"s{k}" for k in range(60)])
    tables = {
        "genes": pd.DataFrame(rng.normal(size=(60, 3)), ids),
        "clinic": pd.DataFrame(rng.normal(size=(60, 2)), ids),
    }
    y = pd.Series(np.where(tables["genes"][0] > 0, "ill", "well"), ids)
    given = {"genes": Gaussian(), "clinic": Gaussian()}
    found = select_views(MKLClassifier(given), tables, y, random_state=0)
    assert isinstance(found, ViewSelection) and found.selected == ["genes"]
    again = select_views(KernelBank(given), tables, y, random_state=0)
    pd.testing.assert_frame_equal(again.to_frame(), found.to_frame())
    named = {name: np.asarray(table) @ np.asarray(table).T for name, table in tables.items()}
    assert list(select_views("precomputed", named, y, random_state=0).to_frame().index) == list(named)
    assert "genes" in found.answer and "10%" in found.answer and found.answer in str(found)
    assert found.to_dict()["rows"][0]["view"] == "genes" and "<table" in found._repr_html_()
    nothing = select_views(given, tables, rng.permutation(y), random_state=0)
    assert nothing.selected == [] and nothing.answer.startswith("None of 2 views was selected.")


def test_what_it_refuses():
    X, _ = grams(20, 3)
    views = [Linear(), Gaussian()]
    y = X[:, 0] > 0
    with pytest.raises(ValueError, match="method"):
        select_views(views, X, y, method="knockoffs")
    with pytest.raises(ValueError, match="two different values"):
        select_views(views, X, np.ones(20))
    with pytest.raises(ValueError, match="each of the 20 samples"):
        select_views(views, X, y[:5])
    with pytest.raises(ValueError, match=r"finite; got nan in row 3"):
        select_views(views, X, np.where(np.arange(20) == 3, np.nan, X[:, 0]))
    with pytest.raises(ValueError, match="level"):
        select_views(views, X, y, level=1.5)
    with pytest.raises(ValueError, match="max_false must be at least"):
        select_views(views, X, y, method="stability", max_false=1e-6)
    with pytest.raises(ValueError, match="at most 1"):
        select_views(views, X, y, method="stability", threshold=1.2)
    with pytest.raises(ValueError, match="at least 4 samples of each class; got 1"):
        select_views(views, X[:5], [0, 0, 0, 0, 1], method="stability", max_false=10)
    with pytest.raises(ValueError, match="no gaps; got None"):
        select_views(views, X, [None] * 20)
    with pytest.raises(TypeError, match="estimator on kernels"):
        select_views(KernelRidge(), X, y)

"""Made-up data: where the points lie, that no single kernel can separate them, who interacts with whom."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import multivariate_normal

from multikernel.datasets import (
    gauss_bayes,
    gauss_log_odds,
    make_gauss,
    make_interleaved,
    make_piecewise,
    make_proteins,
    piecewise_curve,
)


def separable(features, y):
    """Whether some w has y (w · features) ≥ 1, by a linear program."""
    free = [(None, None)] * features.shape[1]
    found = linprog(np.zeros(len(free)), A_ub=-y[:, None] * features, b_ub=-np.ones(len(y)), bounds=free)
    assert found.status in (0, 2)
    return found.status == 0


def quadratic(X):
    a, b = X.T
    return np.column_stack([np.ones(len(X)), a, b, a * a, a * b, b * b])


def test_the_clusters_are_where_they_should_be():
    X, y = make_interleaved(8000, width=7.0, noise=0.5, random_state=3)
    assert np.bincount(y + 1).tolist() == [4000, 0, 4000]
    for label, heights in ((1, (3.0, -1.0)), (-1, (1.0, -3.0))):
        for side in (-7.0, 7.0):
            members = X[(y == label) & (X[:, 0] * side > 0.0)]
            for height in heights:
                cluster = members[np.abs(members[:, 1] - height) < 2.0]
                assert len(cluster) == pytest.approx(1000, abs=5)
                np.testing.assert_allclose(cluster.mean(axis=0), [side, height], atol=0.06)
                np.testing.assert_allclose(np.cov(cluster.T), 0.25 * np.eye(2), atol=0.04)


def test_any_number_of_points_is_shared_out_evenly():
    X, y = make_interleaved(19, noise=0.0)
    _, counts = np.unique(X, axis=0, return_counts=True)
    assert sorted(counts.tolist()) == [2, 2, 2, 2, 2, 3, 3, 3]
    assert abs(y.sum()) <= 1


def test_the_points_lie_beside_the_curve():
    X, y = make_piecewise(500, shift=0.3, random_state=1)
    x = X[:, 0]
    assert x.min() < -2.9 and x.max() > 2.9 and np.abs(x).max() < 3.0
    expected = [0.5 * v if v < 0 else 0.5 * v * v - 2.0 * v for v in x]
    np.testing.assert_allclose(piecewise_curve(x), expected)
    np.testing.assert_allclose(X[:, 1] - expected, 0.3 * y, atol=1e-12)
    assert y.sum() == 0
    assert abs(np.corrcoef(x, y)[0, 1]) < 0.15


@pytest.mark.parametrize("shift", [0.1, 0.2])
@pytest.mark.parametrize("seed", range(5))
def test_no_quadratic_polynomial_separates_the_classes_but_one_on_each_side_does(shift, seed):
    X, y = make_piecewise(200, shift=shift, random_state=seed)
    assert not separable(quadratic(X), y)
    left = X[:, 0] < 0.0
    assert separable(quadratic(X[left])[:, :3], y[left])
    assert separable(quadratic(X[~left]), y[~left])
    assert not separable(quadratic(X[~left])[:, :3], y[~left])


# As the thesis has them: share, label, centre.
GAUSSIANS = {
    "GAUSS2": [(0.5, 1, (-1, 1)), (0.5, -1, (1, -2.2))],
    "GAUSS3": [(0.25, 1, (-2, 1)), (0.25, 1, (2, 1)), (0.5, -1, (0, -2.2))],
    "GAUSS4": [(0.25, 1, (-3, 1)), (0.25, 1, (1, 1)), (0.25, -1, (-1, -2.2)), (0.25, -1, (3, -2.2))],
    "GAUSS5": [
        (0.16, 1, (-4, 1)),
        (0.18, 1, (0, 1)),
        (0.16, 1, (4, 1)),
        (0.25, -1, (-2, -2.2)),
        (0.25, -1, (2, -2.2)),
    ],
}
COVARIANCES = {1: np.diag([0.8, 2.0]), -1: np.diag([0.8, 4.0])}


@pytest.mark.parametrize("name", GAUSSIANS)
def test_each_class_has_the_moments_of_its_gaussians(name):
    X, y = make_gauss(name, 40_000, random_state=5)
    assert (y == 1).sum() == (y == -1).sum() == 20_000
    for label, covariance in COVARIANCES.items():
        shares = np.array([2.0 * share for share, other, _ in GAUSSIANS[name] if other == label])
        centres = np.array([centre for _, other, centre in GAUSSIANS[name] if other == label])
        mean = shares @ centres
        between = (shares[:, None] * (centres - mean)).T @ (centres - mean)
        np.testing.assert_allclose(X[y == label].mean(axis=0), mean, atol=0.06)
        np.testing.assert_allclose(np.cov(X[y == label].T), covariance + between, atol=0.15)
        fourth = sum(
            share * (3.0 * 0.8**2 + 6.0 * 0.8 * c**2 + c**4)
            for share, (c, _) in zip(shares, centres, strict=True)
        )
        assert np.mean(X[y == label][:, 0] ** 4) == pytest.approx(fourth, rel=0.05)
    order = np.flatnonzero(y == 1)
    assert abs(np.corrcoef(order, X[order, 0])[0, 1]) < 0.03  # nothing is sorted


@pytest.mark.parametrize("n", [1, 2, 7, 25, 400])
def test_the_shares_of_the_gaussians_are_as_exact_as_whole_numbers_allow(n):
    for name in GAUSSIANS:
        X, y = make_gauss(name, n, random_state=0)
        assert X.shape == (n, 2) and set(y.tolist()) <= {-1, 1}
        assert abs((y == 1).sum() - n / 2) <= 1.5


@pytest.mark.parametrize("name", GAUSSIANS)
def test_the_log_odds_are_those_of_the_densities(name):
    X, _ = make_gauss(name, 50, random_state=1)
    density = {
        label: sum(
            share * multivariate_normal.pdf(X, centre, COVARIANCES[label])
            for share, other, centre in GAUSSIANS[name]
            if other == label
        )
        for label in (1, -1)
    }
    np.testing.assert_allclose(gauss_log_odds(name, X), np.log(density[1] / density[-1]), atol=1e-10)
    np.testing.assert_array_equal(gauss_bayes(name, X), np.where(density[1] > density[-1], 1, -1))
    far = gauss_log_odds(name, [[1e3, 1e3]])
    assert np.isfinite(far).all()


def test_the_best_rule_is_right_on_897_of_1000_points_of_gauss4():
    X, y = make_gauss("GAUSS4", 1_000_000, random_state=2)
    accuracy = 100.0 * np.mean(gauss_bayes("GAUSS4", X) == y)
    assert accuracy == pytest.approx(89.71, abs=0.1)  # three standard errors


@pytest.mark.parametrize(
    "make", [make_interleaved, make_piecewise, lambda n, **rest: make_gauss("GAUSS3", n, **rest)]
)
def test_the_seed_decides(make):
    first, again, other = (make(50, random_state=seed)[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    rng = np.random.default_rng(1)
    np.testing.assert_array_equal(make(50, random_state=rng)[0], first)
    assert not np.array_equal(make(50, random_state=rng)[0], first)


@pytest.mark.parametrize(
    ("make", "arguments", "kind", "message"),
    [
        (make_interleaved, {"n_samples": 0}, ValueError, "n_samples must be a positive integer; got 0"),
        (make_interleaved, {"width": -1.0}, ValueError, "width must be at least 0; got -1.0"),
        (make_interleaved, {"noise": "loud"}, TypeError, "noise must be a number; got 'loud'"),
        (make_piecewise, {"n_samples": 2.5}, TypeError, "n_samples must be a positive integer; got 2.5"),
        (make_piecewise, {"shift": np.nan}, ValueError, "shift must be finite; got nan"),
        (make_gauss, {"name": "GAUSS6"}, ValueError, "name must be one of 'GAUSS2', .*; got 'GAUSS6'"),
        (make_gauss, {"n_samples": -1}, ValueError, "n_samples must be a positive integer; got -1"),
        (
            gauss_log_odds,
            {"name": "GAUSS2", "X": [1.0, 2.0]},
            ValueError,
            r"shape \(n, 2\); got shape \(2,\)",
        ),
        (gauss_bayes, {"name": "gauss2", "X": [[1.0, 2.0]]}, ValueError, "name must be one of 'GAUSS2'"),
        (make_proteins, {"absent": -0.1}, ValueError, "absent must be"),
        (make_proteins, {"absent": 1.0}, ValueError, "absent must be"),
    ],
)
def test_bad_arguments_are_named(make, arguments, kind, message):
    with pytest.raises(kind, match=message):
        make(**arguments)


# --- proteins -----------------------------------------------------------------------------------------------


def test_modules_interact_and_share_their_function():
    X, y, edges = make_proteins(1200, absent=0.25, random_state=1)
    names = X["protein"].tolist()
    assert len(set(names)) == 1200 and X.shape == (1200, 13)
    place = {name: i for i, name in enumerate(names)}
    first, second = (np.array([place[name] for name in column]) for column in edges.T)
    same = first % 100 == second % 100
    tested = 900
    assert same.sum() == pytest.approx(0.2 * 100 * 9 * 8 / 2, rel=0.15)
    assert (~same).sum() == pytest.approx(0.01 * tested**2 / 2, rel=0.05)
    assert (y[first] == y[second])[same].all() and y.mean() == 0.5
    assert len(np.unique(edges)) == tested  # with so many others, each has some edge
    levels = X.drop(columns="protein").to_numpy()
    shift = levels[y == 1].mean(axis=0) - levels[y == 0].mean(axis=0)
    np.testing.assert_allclose(shift, [0.7] * 4 + [0.0] * 8, atol=0.2)


def test_the_same_seed_draws_the_same_proteins():
    first, second, other = (make_proteins(50, random_state=seed) for seed in (3, 3, 4))
    assert first.X.equals(second.X) and np.array_equal(first.edges, second.edges)
    assert not first.X.equals(other.X)

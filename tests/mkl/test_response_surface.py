"""Response surfaces: the design, the quadratic and its lowest point, the search, the picture."""

from concurrent.futures import ThreadPoolExecutor
from itertools import product

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize as scipy_minimize

from multikernel.mkl.regularized.response_surface import Quadratic, ResponseSurface, koshal_design

BOX = (1e-1, 1e1)


def factors(n, bounds=BOX):
    return {f"f{i}": bounds for i in range(n)}


def logs(point):
    return np.log10(list(point.values()))


def random_quadratic(rng, q, *, convex):
    A = rng.normal(size=(q, q))
    return rng.normal(), rng.normal(size=q), A @ A.T + 0.1 * np.eye(q) if convex else A + A.T


def value(coefficients, x):
    c, g, H = coefficients
    return c + g @ x + 0.5 * x @ H @ x


def constant(point):
    return 0.25


# ---------------------------------------------------------------------- design and fit
@pytest.mark.parametrize("q", [0, 1, 2, 3, 5, 20])
def test_the_design_has_a_point_for_each_coefficient_and_determines_them(q):
    design = koshal_design(q, 0.3)
    n_kernels = q + 1
    assert design.shape == (n_kernels * (n_kernels + 1) // 2, q)
    terms = [np.ones(len(design)), *design.T]
    terms += [design[:, i] * design[:, j] for i in range(q) for j in range(i, q)]
    assert np.linalg.matrix_rank(np.column_stack(terms)) == len(design)
    assert set(np.abs(design).ravel()) <= {0.0, 0.3}
    assert np.count_nonzero(design, axis=1).max(initial=0) == min(q, 2)


def test_the_design_is_measured_first_and_in_the_order_of_the_book():
    asked = []
    ResponseSurface(factors(2), max_steps=0).minimize(lambda p: asked.append(logs(p)) or 0.0)
    expected = [[0, 0], [0.3, 0], [-0.3, 0], [0, 0.3], [0, -0.3], [0.3, 0.3]]
    np.testing.assert_allclose(asked, expected, atol=1e-12)


def test_each_factor_has_its_own_center_and_step():
    asked = []
    surface = ResponseSurface({"C": (1e-2, 1e4), "gamma": (1e-3, 1e-1, 1.0)}, delta=0.5, max_steps=0)
    surface.minimize(lambda p: asked.append(p) or 0.0)
    assert asked[0] == pytest.approx({"C": 10.0, "gamma": 0.1})
    assert asked[1] == pytest.approx({"C": 10.0**2.5, "gamma": 0.1})
    assert asked[4] == pytest.approx({"C": 10.0, "gamma": 10.0**-1.5})


@given(st.integers(0, 10**6), st.integers(1, 4), st.booleans())
def test_a_quadratic_is_recovered_from_the_design_alone(seed, q, convex):
    true = random_quadratic(np.random.default_rng(seed), q, convex=convex)
    bounds = {f"f{i}": (0.2, 1.0 + i, 50.0) for i in range(q)}
    centers = np.log10([1.0 + i for i in range(q)])
    surface = ResponseSurface(bounds, max_steps=0).minimize(lambda p: value(true, logs(p) - centers))
    np.testing.assert_allclose(surface.constant_, true[0], atol=1e-8)
    np.testing.assert_allclose(surface.gradient_, true[1], atol=1e-8)
    np.testing.assert_allclose(surface.hessian_, true[2], atol=1e-7)
    places = np.random.default_rng(seed + 1).uniform(0.3, 40.0, size=(5, q))
    expected = [value(true, np.log10(place) - centers) for place in places]
    np.testing.assert_allclose(surface.predict(places), expected, atol=1e-7)
    one = dict(zip(surface.names, places[0].tolist(), strict=True))
    assert surface.predict(one) == pytest.approx(expected[0], abs=1e-7)


def test_repeated_points_count_as_often_as_they_are_met():
    rng = np.random.default_rng(0)
    points, values = rng.normal(size=(9, 2)), rng.normal(size=9)
    times = np.array([1, 1, 3, 1, 2, 1, 1, 1, 1])
    weighted = Quadratic.fit(points, values, times.astype(float), 0.7)
    x = np.repeat(points, times, axis=0)
    terms = np.column_stack([np.ones(len(x)), x, x[:, 0] ** 2, x[:, 0] * x[:, 1], x[:, 1] ** 2])
    c = np.linalg.lstsq(terms, np.repeat(values, times), rcond=None)[0]
    np.testing.assert_allclose(weighted.constant, c[0], atol=1e-10)
    np.testing.assert_allclose(weighted.gradient, c[1:3], atol=1e-10)
    np.testing.assert_allclose(weighted.hessian, [[2 * c[3], c[4]], [c[4], 2 * c[5]]], atol=1e-10)


# ---------------------------------------------------------------------- the lowest point of a box
@given(st.integers(0, 10**6), st.integers(1, 3), st.booleans())
def test_the_lowest_point_of_a_box_is_that_of_a_fine_grid(seed, q, convex):
    rng = np.random.default_rng(seed)
    coefficients = random_quadratic(rng, q, convex=convex)
    lower, upper = -rng.uniform(0.5, 1.5, q), rng.uniform(0.5, 1.5, q)
    found = Quadratic(*coefficients).lowest(lower, upper, np.zeros((1, q)))
    assert np.all(lower <= found) and np.all(found <= upper)
    axes = [np.linspace(low, high, 31) for low, high in zip(lower, upper, strict=True)]
    grid = np.array(list(product(*axes)))
    c, g, H = coefficients
    on_grid = (c + grid @ g + 0.5 * np.einsum("ij,jk,ik->i", grid, H, grid)).min()
    assert value(coefficients, found) <= on_grid + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_a_convex_surface_of_many_factors_is_solved_exactly(seed):
    q = 12
    c, g, H = random_quadratic(np.random.default_rng(seed), q, convex=True)
    lower, upper = np.full(q, -1.0), np.full(q, 1.0)
    found = Quadratic(c, 3.0 * g, H).lowest(lower, upper, np.zeros((1, q)))
    slope = 3.0 * g + H @ found
    assert np.abs(found).max() == 1.0  # the free minimum is outside
    assert np.all(np.abs(slope[np.abs(found) < 1.0]) < 1e-8)
    assert np.all(slope[found == 1.0] <= 0.0) and np.all(slope[found == -1.0] >= 0.0)


def test_saddles_of_many_factors_are_not_left_above_what_other_descents_find():
    rng = np.random.default_rng(5)
    q = 8  # too many for the corners
    c, g, H = random_quadratic(rng, q, convex=False)
    starts = rng.uniform(-1, 1, size=(40, q))
    found = Quadratic(c, g, H).lowest(np.full(q, -1.0), np.full(q, 1.0), starts)
    bounds = [(-1.0, 1.0)] * q
    others = [
        scipy_minimize(lambda x: value((c, g, H), x), x0, method="L-BFGS-B", bounds=bounds).fun
        for x0 in starts[:15]
    ]
    assert value((c, g, H), found) <= min(others) + 1e-6


def test_of_equally_low_points_the_nearest_to_the_center_is_proposed():
    flat_in_second = Quadratic(0.0, np.array([-1.0, 0.0]), np.array([[1.0, 0.0], [0.0, 0.0]]))
    starts = np.array([[0.3, 0.3], [-0.3, -0.3]])
    np.testing.assert_allclose(
        flat_in_second.lowest(np.full(2, -2.0), np.full(2, 2.0), starts), [1, 0], atol=1e-6
    )


# ---------------------------------------------------------------------- the search
def test_a_quadratic_response_takes_one_step_to_its_minimum():
    surface = ResponseSurface({"C": (1e-2, 1e3), "gamma": (1e-3, 1e1)})
    surface.minimize(lambda p: 0.1 + (np.log10(p["C"]) - 1.2) ** 2 + np.log10(p["gamma"]) ** 2)
    assert surface.best_point_ == pytest.approx({"C": 10**1.2, "gamma": 1.0}, rel=1e-6)
    assert surface.best_value_ == pytest.approx(0.1)
    assert (surface.n_design_, surface.n_evaluations_, surface.status_) == (6, 7, "converged")
    assert surface.lowest_point_ == pytest.approx(surface.best_point_, rel=1e-6)


def test_a_surface_that_is_lowest_at_the_best_point_of_the_design_ends_there():
    surface = ResponseSurface(factors(1)).minimize(lambda p: (logs(p)[0] - 0.3) ** 2)
    assert (surface.n_evaluations_, surface.n_steps_, surface.status_) == (3, 0, "converged")


def test_a_minimum_outside_ends_at_the_bound_and_never_beyond():
    surface = ResponseSurface(factors(2)).minimize(lambda p: (logs(p)[0] - 3.0) ** 2 - logs(p)[1])
    assert surface.best_point_ == pytest.approx({"f0": 10.0, "f1": 10.0})
    assert surface.points_.min() >= 0.1 * (1 - 1e-12) and surface.points_.max() <= 10.0 * (1 + 1e-12)


def test_the_best_measured_point_is_returned_not_the_last():
    def response(p):  # a hole at one point of the design, which no quadratic has
        x = logs(p)
        return -5.0 if np.allclose(x, [-0.3, 0.0], atol=1e-9) else x @ x

    surface = ResponseSurface(factors(2)).minimize(response)
    np.testing.assert_allclose(logs(surface.best_point_), [-0.3, 0.0], atol=1e-9)
    assert surface.best_value_ == -5.0 == surface.values_.min()
    assert surface.values_[-1] > -5.0


def test_of_equally_good_points_the_nearest_to_the_center_wins():
    def response(p):  # the corner is as good as the points on the axes
        return 1.0 if np.allclose(logs(p), 0) else 0.5

    surface = ResponseSurface(factors(2), max_steps=0).minimize(response)
    np.testing.assert_allclose(logs(surface.best_point_), [0.3, 0.0], atol=1e-9)


@pytest.mark.parametrize("penalty", [1.0, 1e12])
def test_a_point_that_is_better_by_little_is_the_best_whatever_others_measured(penalty):
    def response(p):
        x = logs(p)
        return penalty if np.allclose(x, 0) else (0.5 if x.sum() > 0.5 else 0.5 + 1e-12)

    surface = ResponseSurface(factors(2), max_steps=0).minimize(response)
    np.testing.assert_allclose(logs(surface.best_point_), [0.3, 0.3], atol=1e-9)
    assert surface.best_value_ == surface.values_.min() == 0.5


def test_a_constant_response_ends_at_the_center_after_the_design():
    surface = ResponseSurface(factors(3)).minimize(constant)
    assert logs(surface.best_point_).tolist() == [0.0, 0.0, 0.0]
    assert (surface.n_evaluations_, surface.status_) == (10, "converged")
    assert not surface.gradient_.any() and not surface.hessian_.any()


def test_a_factor_without_influence_stays_at_its_center():
    surface = ResponseSurface(factors(2)).minimize(lambda p: 1 / 3 + (logs(p)[0] - 0.77) ** 2 / 7)
    np.testing.assert_allclose(logs(surface.best_point_), [0.77, 0.0], atol=1e-6)


def test_without_factors_there_is_one_point():
    surface = ResponseSurface({}).minimize(lambda p: len(p) + 2.0)
    assert (surface.best_point_, surface.best_value_, surface.n_evaluations_) == ({}, 2.0, 1)


def test_a_point_is_measured_once_and_the_search_is_bounded():
    rng = np.random.default_rng(3)
    asked = []

    def noise(p):
        asked.append(logs(p))
        return rng.random()

    surface = ResponseSurface(factors(3), max_steps=12).minimize(noise)
    assert surface.status_ == "max_steps" and surface.n_steps_ == 12
    assert len(asked) == surface.n_evaluations_ == len(surface.points_) <= 10 + 12
    x = np.array(asked)
    apart = np.abs(x[:, None] - x[None]).max(axis=2) + np.eye(len(x))
    assert apart.min() > 5e-4
    assert surface.best_value_ == surface.values_.min()


def follow_the_book(measure):
    """The search over one factor, written plainly: every visit is a point of the fit, known or not."""
    xs = [0.0, 0.3, -0.3]
    values = [measure(x) for x in xs]
    last, measured = xs[int(np.argmin(values))], list(xs)
    for _ in range(30):
        a, b, c = np.polyfit(xs, values, 2)
        candidates = [-1.0, 1.0] + ([-b / (2 * a)] if a > 0 and abs(b) <= 2 * a else [])
        lowest = min(candidates, key=lambda t: a * t * t + b * t + c)
        if abs(lowest - last) <= 1e-2:
            break
        known = [x for x in measured if abs(x - lowest) <= 5e-4]
        measured += [] if known else [lowest]
        x = known[0] if known else lowest
        xs, values, last = [*xs, x], [*values, measure(x)], lowest
    return measured, len(xs) - 3


@pytest.mark.parametrize(("speed", "shift"), [(20, 5), (7, 0), (9, 0), (11, 2), (28, 7)])
def test_every_visit_counts_in_the_fit_though_a_point_is_measured_once(speed, shift):
    surface = ResponseSurface(factors(1)).minimize(lambda p: float(np.sin(speed * logs(p)[0] + shift)))
    points, n_visits = follow_the_book(lambda x: float(np.sin(speed * x + shift)))
    np.testing.assert_allclose(np.log10(surface.points_[:, 0]), points, atol=1e-6)
    assert surface.n_steps_ == n_visits >= surface.n_evaluations_ - 3


def test_a_map_measures_the_design_together_and_changes_nothing():
    def response(p):
        return float(np.sin(3 * logs(p)[0]) + logs(p)[1] ** 2)

    batches = []

    def recorded(function, points):
        batches.append(len(points))
        return map(function, points)

    alone = ResponseSurface(factors(2)).minimize(response)
    in_batches = ResponseSurface(factors(2)).minimize(response, map=recorded)
    assert batches[0] == 6 and set(batches[1:]) == {1}
    with ThreadPoolExecutor(3) as pool:
        together = ResponseSurface(factors(2)).minimize(response, map=pool.map)
    for other in (in_batches, together):
        np.testing.assert_array_equal(other.points_, alone.points_)
        np.testing.assert_array_equal(other.values_, alone.values_)


def test_the_callback_sees_every_measurement_and_may_end_the_search():
    seen = []
    surface = ResponseSurface(factors(2)).minimize(lambda p: logs(p)[0] ** 3, callback=seen.append)
    assert [entry["evaluation"] for entry in seen] == list(range(1, surface.n_evaluations_ + 1))
    assert [entry["value"] for entry in seen] == surface.values_.tolist()
    assert [entry["is_design"] for entry in seen[:7]] == [True] * 6 + [False]
    assert seen[-1]["best_value"] == surface.values_.min()
    short = ResponseSurface(factors(2)).minimize(constant, callback=lambda entry: entry["evaluation"] == 3)
    assert (short.n_evaluations_, short.status_, short.best_value_) == (3, "interrupted", 0.25)


def test_a_second_search_forgets_the_first():
    surface = ResponseSurface(factors(1)).minimize(lambda p: logs(p)[0])
    surface.minimize(constant)
    assert surface.n_evaluations_ == 3 and surface.best_value_ == 0.25


# ---------------------------------------------------------------------- picture and errors
def test_two_factors_are_drawn_as_contours_with_numbered_points():
    matplotlib.use("Agg")
    surface = ResponseSurface(factors(2)).minimize(lambda p: float(np.cos(logs(p)).sum()))
    ax = surface.plot()
    assert [text.get_text() for text in ax.texts] == [str(i + 1) for i in range(surface.n_evaluations_)]
    best, measured = ax.lines
    assert best.get_xydata().tolist() == [list(surface.best_point_.values())]
    np.testing.assert_array_equal(measured.get_xydata(), surface.points_)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_xscale()) == ("f0", "f1", "log")
    assert surface.plot(ax) is ax
    flat = ResponseSurface(factors(2)).minimize(constant).plot()
    assert len(flat.texts) == 6
    matplotlib.pyplot.close("all")


def test_one_factor_is_drawn_as_a_curve():
    figure = matplotlib.figure.Figure()
    surface = ResponseSurface(factors(1)).minimize(lambda p: logs(p)[0] ** 2)
    curve, best, measured = surface.plot(figure.subplots()).lines
    np.testing.assert_allclose(curve.get_ydata(), np.log10(curve.get_xdata()) ** 2, atol=1e-9)
    assert best.get_xydata().tolist() == [[1.0, 0.0]] and len(measured.get_xdata()) == 3


def test_three_factors_cannot_be_drawn():
    surface = ResponseSurface(factors(3)).minimize(constant)
    with pytest.raises(ValueError, match="one or two factors can be drawn; this one has 3"):
        surface.plot()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_response_that_is_not_finite_names_the_point(bad):
    with pytest.raises(ValueError, match=r"got -?(nan|inf) at f0=1, f1=1\.995"):
        ResponseSurface(factors(2)).minimize(lambda p: bad if p["f1"] > 1.5 else 0.0)


def test_a_response_that_is_no_number_is_refused():
    with pytest.raises(TypeError, match="must be a number; got 'high' at f0=1"):
        ResponseSurface(factors(1)).minimize(lambda p: "high")


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ([("C", (1, 2))], TypeError, "dict of names and bounds"),
        ({"C": 3.0}, TypeError, r"factor 'C' must have bounds \(low, high\)"),
        ({"C": (1.0,)}, ValueError, r"\(low, centre, high\)"),
        ({"C": (2.0, 1.0)}, ValueError, "increasing order"),
        ({"C": (1.0, 1.0)}, ValueError, "Leave out a factor"),
        ({"C": (0.0, 1.0)}, ValueError, "greater than 0"),
        ({"C": (1.0, np.inf)}, ValueError, "finite"),
    ],
)
def test_factors_that_make_no_box_are_refused(given, error, words):
    with pytest.raises(error, match=words):
        ResponseSurface(given)


@pytest.mark.parametrize("options", [{"delta": 0.0}, {"delta": 1.5}, {"tol": -1.0}, {"max_steps": -1}])
def test_numbers_out_of_range_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        ResponseSurface(factors(1), **options)


def test_questions_before_the_search_and_about_other_factors_are_refused():
    surface = ResponseSurface(factors(2))
    with pytest.raises(ValueError, match="Call minimize first"):
        surface.predict([[1.0, 1.0]])
    surface.minimize(constant)
    with pytest.raises(ValueError, match=r"name the factors \['f0', 'f1'\]"):
        surface.predict({"f0": 1.0})
    with pytest.raises(ValueError, match=r"shape \(n, 2\)"):
        surface.predict([1.0, 2.0])
    with pytest.raises(ValueError, match="positive"):
        surface.predict([[1.0, -2.0]])

"""Response surfaces: the design, the quadratic and its lowest point, the search, the picture."""

from concurrent.futures import ThreadPoolExecutor
from itertools import product

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize as scipy_minimize

from multikernel.mkl.regularized.response_surface import Quadratic, ResponseSurface

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


def test_the_design_is_measured_first_and_in_the_order_of_the_book():
    asked = []
    ResponseSurface(factors(2), max_steps=0).minimize(lambda p: asked.append(logs(p)) or 0.0)
    expected = [[0, 0], [0.3, 0], [-0.3, 0], [0, 0.3], [0, -0.3], [0.3, 0.3]]
    np.testing.assert_allclose(asked, expected, atol=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 4), st.booleans())
def test_a_quadratic_is_recovered_from_the_design_alone(seed, q, convex):
    true = random_quadratic(np.random.default_rng(seed), q, convex=convex)
    bounds = {f"f{i}": (0.2, 1.0 + i, 50.0) for i in range(q)}
    centers = np.log10([1.0 + i for i in range(q)])
    surface = ResponseSurface(bounds, max_steps=0).minimize(lambda p: value(true, logs(p) - centers))
    assert surface.n_evaluations_ == (q + 1) * (q + 2) // 2, "one point for each coefficient"
    np.testing.assert_allclose(surface.constant_, true[0], atol=1e-8)
    np.testing.assert_allclose(surface.gradient_, true[1], atol=1e-8)
    np.testing.assert_allclose(surface.hessian_, true[2], atol=1e-7)
    places = np.random.default_rng(seed + 1).uniform(0.3, 40.0, size=(5, q))
    expected = [value(true, np.log10(place) - centers) for place in places]
    np.testing.assert_allclose(surface.predict(places), expected, atol=1e-7)
    one = dict(zip(surface.names, places[0].tolist(), strict=True))
    assert surface.predict(one) == pytest.approx(expected[0], abs=1e-7)


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
def hole(x):
    """A hole at one point of the design, which no quadratic has."""
    return -5.0 if np.allclose(x, [-0.3, 0.0], atol=1e-9) else x @ x


def nearly_even(penalty):
    """Better by little at the corner than at the other points, whatever the center measured."""
    return lambda x: penalty if np.allclose(x, 0) else (0.5 if x.sum() > 0.5 else 0.5 + 1e-12)


@pytest.mark.parametrize(
    ("n_factors", "response", "best", "value", "n_evaluations"),
    [
        (2, lambda x: 0.1 + (x[0] - 0.8) ** 2 + (x[1] + 0.5) ** 2, [0.8, -0.5], 0.1, 7),
        (1, lambda x: (x[0] - 0.3) ** 2, [0.3], 0.0, 3),  # the best point of the design
        (2, lambda x: (x[0] - 3.0) ** 2 - x[1], [1.0, 1.0], 3.0, None),  # outside: the bound, never beyond
        (2, hole, [-0.3, 0.0], -5.0, None),  # the best that was measured, not the last
        (2, lambda x: 1.0 if np.allclose(x, 0) else 0.5, [0.3, 0.0], 0.5, None),  # the nearest of equals
        (2, nearly_even(1.0), [0.3, 0.3], 0.5, None),
        (2, nearly_even(1e12), [0.3, 0.3], 0.5, None),
        (3, lambda x: 0.25, [0.0, 0.0, 0.0], 0.25, 10),
        (2, lambda x: 1 / 3 + (x[0] - 0.77) ** 2 / 7, [0.77, 0.0], 1 / 3, 7),  # a factor without influence
        (0, lambda x: 2.0, [], 2.0, 1),
    ],
)
def test_where_the_search_ends(n_factors, response, best, value, n_evaluations):
    surface = ResponseSurface(factors(n_factors)).minimize(lambda p: float(response(logs(p))))
    np.testing.assert_allclose(logs(surface.best_point_), best, atol=1e-6)
    assert surface.best_value_ == pytest.approx(value) and surface.best_value_ == surface.values_.min()
    assert np.abs(np.log10(surface.points_)).max(initial=0.0) <= 1.0 + 1e-12
    if n_evaluations is not None:
        assert (surface.n_evaluations_, surface.status_) == (n_evaluations, "converged")
    again = surface.minimize(constant)  # forgets the first search
    assert again.best_value_ == 0.25 and not again.gradient_.any() and not again.hessian_.any()


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


# ---------------------------------------------------------------------- picture and errors
def test_two_factors_are_drawn_as_contours_with_numbered_points_and_one_as_a_curve():
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
    surface = ResponseSurface(factors(1)).minimize(lambda p: logs(p)[0] ** 2)
    curve, best, measured = surface.plot(matplotlib.figure.Figure().subplots()).lines
    np.testing.assert_allclose(curve.get_ydata(), np.log10(curve.get_xdata()) ** 2, atol=1e-9)
    assert best.get_xydata().tolist() == [[1.0, 0.0]] and len(measured.get_xdata()) == 3
    with pytest.raises(ValueError, match="one or two factors can be drawn; this one has 3"):
        ResponseSurface(factors(3)).minimize(constant).plot()
    matplotlib.pyplot.close("all")


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


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (np.nan, r"got nan at f0=1, f1=1\.995"),
        (-np.inf, r"got -inf at f0=1, f1=1\.995"),
        ("high", "must be a number; got 'high' at f0=1"),
    ],
)
def test_a_response_that_is_no_finite_number_names_the_point(response, words):
    with pytest.raises((ValueError, TypeError), match=words):
        ResponseSurface(factors(2)).minimize(lambda p: response if p["f1"] > 1.5 else 0.0)


def test_questions_before_the_search_and_about_other_factors_are_refused():
    for option, value in (("delta", 0.0), ("delta", 1.5), ("tol", -1.0), ("max_steps", -1)):
        with pytest.raises(ValueError, match=option):
            ResponseSurface(factors(1), **{option: value})
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


# ---------------------------------------------------------------------- the last point, planes
def literal(measure, q, delta=0.3, eps=1e-2, most=30):
    """The algorithm of the paper, figure 2.3, with t for t − 1 in line 20; quadratics by np.linalg.lstsq."""
    design = [np.zeros(q)]
    for i in range(q):
        design += [delta * np.eye(q)[i], -delta * np.eye(q)[i]]
    design += [delta * (np.eye(q)[i] + np.eye(q)[j]) for i in range(q) for j in range(i + 1, q)]
    points, values = list(design), [measure(x) for x in design]
    for _ in range(most):
        A = np.array(points)
        pairs = [(i, j) for i in range(q) for j in range(i, q)]
        terms = np.column_stack([np.ones(len(A)), A, *(A[:, i] * A[:, j] for i, j in pairs)])
        found = np.linalg.lstsq(terms, np.array(values), rcond=None)[0]
        H = np.zeros((q, q))
        for (i, j), slope in zip(pairs, found[1 + q :], strict=True):
            H[i, j] += slope
            H[j, i] += slope
        x = np.linalg.solve(H, -found[1 : q + 1])
        if np.linalg.norm(x - points[-1]) <= eps:
            break
        points.append(x)
        values.append(measure(x))
    return points


@pytest.mark.parametrize(("tilt", "n_points"), [(0.0, 7), (0.4, 7), (4.0, 8), (12.0, 9)])
def test_the_rule_last_is_the_algorithm_of_the_paper(tilt, n_points):
    def bowl(x):
        square = (x[0] - 0.2) ** 2 + 0.5 * (x[1] + 0.4) ** 2 + 0.3 * x[0] * x[1]
        return 0.2 + square + tilt * (0.3 * x[0] ** 3 + 0.1 * x[1] ** 4)

    surface = ResponseSurface(factors(2), rule="last").minimize(lambda p: float(bowl(logs(p))))
    points = literal(bowl, 2)
    assert surface.status_ == "converged" and len(points) == n_points
    np.testing.assert_allclose(np.log10(surface.points_), points, atol=1e-7)
    np.testing.assert_allclose(logs(surface.chosen_point_), points[-1], atol=1e-7)
    assert surface.chosen_index_ == len(points) - 1


def test_the_last_point_is_chosen_though_another_was_better():
    surface = ResponseSurface(factors(2), rule="last").minimize(lambda p: float(hole(logs(p))))
    assert surface.best_value_ == -5.0 and surface.chosen_index_ != surface.best_index_
    best = ResponseSurface(factors(2)).minimize(lambda p: float(hole(logs(p))))
    assert best.chosen_index_ == best.best_index_ and best.chosen_point_ == best.best_point_


def test_where_the_paper_compares_the_last_point_of_the_design_ours_compares_the_best():
    calls = []

    def bowl(point):  # lowest at the last point of the design
        calls.append(logs(point))
        return float(((calls[-1] - 0.3) ** 2).sum())

    surface = ResponseSurface(factors(2), rule="last").minimize(bowl)
    assert len(calls) == 6 and surface.chosen_index_ == 5 and surface.n_steps_ == 0


@given(st.integers(0, 10**6), st.integers(1, 6))
def test_a_plane_is_recovered_from_the_first_order_design(seed, q):
    rng = np.random.default_rng(seed)
    c, g = rng.normal(), rng.normal(size=q)
    surface = ResponseSurface(factors(q), max_steps=0, degree=1).minimize(lambda p: float(c + g @ logs(p)))
    assert surface.n_evaluations_ == q + 1 and not surface.hessian_.any()
    np.testing.assert_allclose(surface.gradient_, g, atol=1e-9)
    np.testing.assert_allclose(surface.constant_, c, atol=1e-9)
    np.testing.assert_allclose(logs(surface.lowest_point_), -np.sign(g), atol=1e-9)


def test_the_first_step_is_against_the_slope_of_the_plane_from_the_best_point():
    surface = ResponseSurface(factors(2), max_steps=1, degree=1)
    surface.minimize(lambda p: float(np.array([3.0, -4.0]) @ logs(p)))
    np.testing.assert_allclose(np.log10(surface.points_[3]), [0.0 - 0.18, 0.3 + 0.24], atol=1e-9)


@pytest.mark.parametrize("q", [1, 4, 12])
def test_planes_find_the_bottom_of_a_bowl_of_many_factors(q):
    goal = np.linspace(-0.6, 0.7, q)
    surface = ResponseSurface(factors(q), degree=1, max_steps=60)
    surface.minimize(lambda p: float(((logs(p) - goal) ** 2).sum()))
    start = float((goal**2).sum())
    assert surface.best_value_ <= 0.1 * start
    assert surface.n_evaluations_ <= q + 61 < (q + 1) * (q + 2) // 2 + 60
    assert np.abs(np.log10(surface.points_)).max() <= 1.0 + 1e-12


def test_a_flat_response_has_no_slope_to_follow():
    surface = ResponseSurface(factors(5), degree=1).minimize(constant)
    assert (surface.status_, surface.n_evaluations_) == ("converged", 6)
    assert logs(surface.best_point_).tolist() == [0.0] * 5


@pytest.mark.parametrize(
    ("params", "words"), [({"degree": 3}, "degree must be 1"), ({"rule": "worst"}, "rule must be one of")]
)
def test_settings_that_make_no_surface_are_refused(params, words):
    with pytest.raises(ValueError, match=words):
        ResponseSurface(factors(1), **params)

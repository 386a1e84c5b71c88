"""The outer loop: starts, descent, the certificate of the point it returns, and what is dropped as unused."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from multikernel.core.optim.loop import Options, Status
from multikernel.nonstationary.solver import learn, working_set
from multikernel.nonstationary.solver.learn import (
    Effort,
    compact,
    draw_starts,
    has_twins,
    learn_mixtures,
    learn_separating,
    n_starts,
    unused,
)
from multikernel.nonstationary.solver.mixtures import Mixtures
from multikernel.nonstationary.solver.projection import Projection
from multikernel.nonstationary.solver.working_set import project_interior
from tests.nonstationary.solver.mixture_problems import (
    EACH_MODE,
    Problem,
    make_kernels,
    make_problem,
    primal_by_cvxpy,
    uniform,
)


def learn_it(problem, starts=None, solver="ipm", **options):
    starts = [uniform(problem)] if starts is None else starts
    options = Options(**{"max_iter": 60, **options})
    return learn_mixtures(problem.projection.mixtures, starts, solver=solver, options=options)


# --- descent and certificate -------------------------------------------------------------------------------


@EACH_MODE
@pytest.mark.parametrize("unit", [True, False])
def test_the_loop_descends_to_a_point_that_its_own_projection_does_not_improve(mode, unit):
    problem = make_problem(n=30, kernels=((0, 1, 2), (0, 2)), C=2.0, mode=mode, unit=unit, spread=True)
    result = learn_it(problem)
    assert result.status == Status.OPTIMAL and result.gap <= 1e-3 and not result.suspicious
    values = [entry["objective"] for entry in result.history]
    assert (np.diff(values) <= 0.0).all() and len(values) == result.n_iter
    mixtures = problem.projection.mixtures
    assert result.objective == pytest.approx(mixtures.objective(result.point), rel=1e-12)
    assert result.objective <= (1.0 + 1e-6) * values[-1]  # without what has no part in it
    q = [
        (part + 1e-8) / (part + 1e-8).sum(axis=1, keepdims=True) for part in mixtures.posteriors(result.point)
    ]
    reach = primal_by_cvxpy(problem.with_posteriors((q[0], q[1])))
    gap = (result.objective - reach) / max(1.0, result.objective)
    assert -1e-6 <= gap <= 1e-3 and gap - 2e-6 <= result.gap <= max(gap, 0.0) + 1e-4


@EACH_MODE
def test_a_turn_gains_what_its_gap_says(mode):
    """It reaches the optimum of its convex problem, and the posteriors of the new point lower it again."""
    problem = make_problem(n=30, kernels=((0, 1, 2), (0, 2)), C=2.0, mode=mode, spread=True)
    history = learn_it(problem, tol=1e-5).history
    values, gaps = (np.array([entry[name] for entry in history]) for name in ("objective", "gap"))
    scale = np.maximum(1.0, values[:-2])
    assert np.isinf(gaps[0]) and (gaps >= 0.0).all()  # each that of the point before
    assert (values[1:-1] <= values[:-2] - gaps[1:-1] * scale + 2e-6 * scale).all()


def test_of_several_starts_the_best_is_kept():
    problem = make_problem(n=30, kernels=((0, 2), (0, 2)), C=5.0, mode="hard", seed=1)
    mixtures = problem.projection.mixtures
    starts = draw_starts(mixtures, 6, np.random.default_rng(0))
    result = learn_it(problem, starts)
    alone = [learn_it(problem, [start]) for start in starts]
    np.testing.assert_allclose(result.objectives, [one.objective for one in alone], rtol=1e-12)
    assert result.objective == min(result.objectives) < max(result.objectives)
    best = int(np.argmin(result.objectives))
    assert {entry["start"] for entry in result.history} == {float(best)}
    assert result.n_iter == alone[best].n_iter


def test_turns_end_when_their_work_is_done_with_the_gap_of_their_point():
    problem = make_problem(n=30, kernels=((0, 1, 2), (0, 2)), C=2.0, seed=4)
    start = [draw_starts(problem.projection.mixtures, 1, np.random.default_rng(0))[0]]
    mixtures, options = problem.projection.mixtures, Options(max_iter=30, tol=1e-8)
    full = learn_mixtures(mixtures, start, options=options)
    one = project_interior(Projection(mixtures, start[0])).work
    assert one > 0.0 and full.n_iter > 4
    cut = learn_mixtures(mixtures, start, options=options, effort=Effort(turns=3.0 * one))
    assert cut.status == Status.MAX_ITER and cut.n_iter < full.n_iter - 1
    same = learn_mixtures(mixtures, start, options=replace(options, max_iter=cut.n_iter))
    assert (cut.objective, cut.gap) == (same.objective, same.gap) and np.isfinite(cut.gap)


def test_starts_end_when_their_work_is_done():
    problem = make_problem(n=30, kernels=((0, 2), (0, 2)), C=5.0, mode="hard", seed=1)
    mixtures = problem.projection.mixtures
    starts = draw_starts(mixtures, 6, np.random.default_rng(0))
    every = learn_mixtures(mixtures, starts)
    for effort, tried in ((Effort(starts=0.0), 1), (Effort(starts=np.inf), 6)):
        found = learn_mixtures(mixtures, starts, effort=effort)
        assert found.objectives == every.objectives[:tried] and found.status == Status.OPTIMAL


def test_no_part_of_a_projection_is_begun_after_too_much_work(monkeypatch):
    problem = make_problem(n=60, kernels=((0, 1, 2), (0, 2)), C=2.0)
    monkeypatch.setattr(working_set, "_SMALL", 1)
    monkeypatch.setattr(working_set, "_FIRST", 20)
    assert project_interior(problem.projection).status == Status.OPTIMAL
    monkeypatch.setattr(working_set, "_MOST_WORK", 0.0)
    found = project_interior(problem.projection)
    assert found.status != Status.OPTIMAL and found.work < 101 * 2e7


def test_a_component_that_starts_without_any_sample_can_be_used(monkeypatch):
    problem = make_problem(n=40, kernels=((0, 2), (0, 2)), C=5.0, seed=2)
    first_only = tuple(np.eye(2)[np.zeros(len(part), int)] for part in problem.q)
    least, project = [], learn.project_interior

    def watch(projection, **keywords):
        least.append(min(part.min() for part in projection.posteriors))
        assert all(np.allclose(part.sum(axis=1), 1.0) for part in projection.posteriors)
        return project(projection, **keywords)

    monkeypatch.setattr(learn, "project_interior", watch)
    result = learn_it(problem, [first_only], max_iter=200)
    assert 0.5e-8 < min(least) < 2e-8
    mass = result.point.coefficients[0][1, problem.rows[0]].sum()
    assert mass > 0.1 and result.objective < result.history[0]["objective"] - 1.0


def test_a_step_that_does_not_lower_the_objective_is_refused(monkeypatch):
    problem = make_problem(n=30, kernels=((0, 2), (0, 2)), C=5.0, seed=3)
    calls = []

    def astray(projection, *, tol, masks=None):
        found = project(projection, tol=tol, masks=masks)
        calls.append(found)
        if len(calls) < 3:
            return found
        a, b = found.point.offsets
        return replace(found, point=found.point._replace(offsets=(a + [5.0, 0.0], b)), dual=-1e3)

    project = learn.project_interior
    monkeypatch.setattr(learn, "project_interior", astray)
    result = learn_it(problem, tol=1e-6)
    assert result.status == Status.STALLED and result.n_iter == 3 == len(calls)
    values = [entry["objective"] for entry in result.history]
    assert values[2] == values[1] < values[0]
    assert result.objective == pytest.approx(values[1], rel=1e-8)


def test_duals_that_are_out_of_balance_certify_nothing(monkeypatch):
    problem = make_problem(n=30, kernels=((0, 2), (0, 2)), C=5.0, seed=3)
    project = learn.project_interior

    def unbalanced(projection, *, tol, masks=None):
        found = project(projection, tol=tol, masks=masks)
        return replace(found, imbalance=1e-3, dual=1e6, status=Status.STALLED)

    monkeypatch.setattr(learn, "project_interior", unbalanced)
    result = learn_it(problem)
    assert result.gap == np.inf and result.status in (Status.STALLED, Status.MAX_ITER)


@EACH_MODE
def test_the_gap_at_the_last_turn_is_that_of_the_point_returned(mode):
    problem = make_problem(n=30, kernels=((0, 1, 2), (0, 2)), C=2.0, mode=mode, seed=4)
    mixtures = problem.projection.mixtures
    full = learn_it(problem)
    for max_iter in (1, 2, full.n_iter - 1):
        result = learn_it(problem, max_iter=max_iter)
        reach = primal_by_cvxpy(problem.with_posteriors(mixtures.posteriors(result.point)))
        gap = (result.objective - reach) / max(1.0, result.objective)
        assert gap - 2e-6 <= result.gap <= gap + 2e-4
        assert result.status == (Status.OPTIMAL if result.gap <= 1e-3 else Status.MAX_ITER)
        assert result.n_iter == max_iter == len(result.history)
    if mode != "hard":  # the turn that is saved would only have certified
        assert result.status == Status.OPTIMAL


def test_a_callback_stops_the_turns_and_the_starts():
    problem = make_problem(n=30, kernels=((0, 2), (0, 2)), C=5.0, seed=3)
    seen = []
    starts = draw_starts(problem.projection.mixtures, 4, np.random.default_rng(0))

    def callback(entry):
        seen.append((entry["start"], entry["iteration"]))
        return entry["start"] == 1.0 and entry["iteration"] == 2.0

    result = learn_it(problem, starts, callback=callback, tol=1e-7)
    assert seen[-1] == (1.0, 2.0) and len(result.objectives) == 2
    assert {start for start, _ in seen} == {0.0, 1.0}


def test_bounds_that_cross_are_suspicious():
    n = 20
    t = np.arange(float(n))
    K = np.cos(np.subtract.outer(t, t) ** 2)
    assert np.linalg.eigvalsh(K)[0] < -1.0
    mixtures, q = replace(make_mixtures([K], ([0], [0]), n), bounds=np.full(n, 100.0)), np.ones((n // 2, 1))
    assert learn_mixtures(mixtures, [(q, q)], options=Options(max_iter=5)).suspicious


# --- the paper's traps -------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", ["uniform", "Dirichlet", "assigned"])
def test_an_unshifted_margin_makes_the_trivial_mixtures_optimal(start):
    Ks, y = make_kernels(40, 10)
    three, n = [0, 1, 2], y.size
    rng = np.random.default_rng(0)
    counts = [int((y == sign).sum()) for sign in (1.0, -1.0)]
    q = {
        "uniform": [np.full((count, 3), 1.0 / 3.0) for count in counts],
        "Dirichlet": [rng.dirichlet(np.full(3, 0.3), count) for count in counts],
        "assigned": [np.eye(3)[rng.integers(3, size=count)] for count in counts],
    }[start]
    problem = Problem(Ks, y, (three, three), tuple(q), np.full(n, 10.0), np.ones(n), "qp")
    result = learn_it(problem)
    assert result.objective <= 1e-6 and not any(part.any() for part in result.point.coefficients)
    shifted = replace(problem, margins=np.full(n, 1.0 + np.log(3.0)))
    assert learn_it(shifted).objective > 10.0


@pytest.mark.parametrize("mode", ["qp", "full"])
def test_equal_kernels_with_uniform_posteriors_stay_equal(mode):
    problem = make_problem(n=30, kernels=((2, 2), (2, 2)), C=3.0, mode=mode, seed=11)
    result = learn_it(problem)
    for part in problem.projection.mixtures.posteriors(result.point):
        np.testing.assert_allclose(part, 0.5, atol=1e-4)
    assigned = [tuple(np.eye(2)[part.argmax(axis=1)] for part in problem.q)]
    parts = problem.projection.mixtures.posteriors(learn_it(problem, assigned, max_iter=200).point)
    assert max(np.abs(part - 0.5).max() for part in parts) > 0.05


# --- the hard margin ---------------------------------------------------------------------------------------


def separable(n=30, mode="qp", scale=1.0):
    Ks, y = make_kernels(n, 3)
    kernels = [2, 3], [2, 3]
    q = tuple(np.full((int((y == sign).sum()), 2), 0.5) for sign in (1.0, -1.0))
    margin = 1.0 + (np.log(2.0) if mode == "qp" else 0.0)
    return Problem(scale * Ks, y, kernels, q, np.ones(n), np.full(n, margin), mode)


@EACH_MODE
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e6])
def test_the_hard_margin_leaves_no_sample_short_whatever_the_size_of_the_kernels(mode, scale):
    problem = separable(mode=mode, scale=scale)
    mixtures = problem.projection.mixtures
    result = learn_separating(mixtures, [uniform(problem)], options=Options(max_iter=60))
    assert result.status == Status.OPTIMAL
    for side, rows in enumerate(problem.rows):
        own, other = result.point.scores[side][rows], result.point.scores[1 - side][rows]
        assert (mixtures.own(own) - mixtures.opposite(other) >= problem.margins[rows] - 1e-5).all()
    assert result.objective == pytest.approx(0.5 * result.point.norm, rel=1e-4)


def test_the_hard_margin_goes_on_from_the_posteriors_reached(monkeypatch):
    problem = separable(scale=1e-3)
    solve, tried = learn_mixtures, []

    def spy(mixtures, starts, **keywords):
        result = solve(mixtures, starts, **keywords)
        tried.append((float(mixtures.bounds[0]), starts, mixtures.posteriors(result.point)))
        short = len(tried) < 3  # as if samples still fell short of the margin
        return replace(result, objective=result.objective + 1e9) if short else result

    monkeypatch.setattr(learn, "learn_mixtures", spy)
    given = draw_starts(problem.projection.mixtures, 2, np.random.default_rng(0))
    assert learn_separating(problem.projection.mixtures, given, options=Options(max_iter=60)) is not None
    assert len(tried) == 3 and np.allclose(np.diff(np.log10([bound for bound, _, _ in tried])), 1.0)
    for (_, _, reached), (_, starts, _) in pairwise(tried):
        assert len(starts) == 2
        np.testing.assert_array_equal(starts[-1][0], reached[0])


def test_the_hard_margin_can_be_interrupted():
    problem = separable()
    options = Options(max_iter=60, callback=lambda entry: True)
    result = learn_separating(problem.projection.mixtures, [uniform(problem)], options=options)
    assert result.status == Status.INTERRUPTED and result.n_iter == 1


# --- what is dropped ---------------------------------------------------------------------------------------


def on_the_line(x, y, coefficients, offsets, C=1.0):
    """Mixtures of linear kernels on the line, two components for the positive class and one for the other."""
    x, y = np.asarray(x, float), np.asarray(y)
    rows = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    kernels = np.array([0, 0]), np.array([0])
    mixtures = Mixtures(np.outer(x, x)[None], kernels, rows, np.full(x.size, C), np.ones(x.size))
    pair = np.array(coefficients[0], float), np.array(coefficients[1], float)
    return mixtures, mixtures.point(pair, (np.array(offsets[0]), np.array(offsets[1])))


def test_an_unused_component_that_explains_samples_far_away_is_kept():
    x, y = [2.0, 0.0, -30.0], [1, -1, 1]
    # the second positive component has no coefficients; without it the sample at −30 is lost
    mixtures, point = on_the_line(x, y, ([[2, -2, 0], [0, 0, 0]], [[-2, 2, 0]]), ([0.0, -40.0], [0.0]))
    np.testing.assert_array_equal(unused(mixtures, point)[0], [False, True])
    kept = compact(mixtures, point, 1e-8)
    assert np.isfinite(kept.offsets[0]).all()
    assert mixtures.objective(kept) <= mixtures.objective(point) + 1e-8
    near, point = on_the_line(x[:2], y[:2], ([[2, -2], [0, 0]], [[-2, 2]]), ([0.0, -40.0], [0.0]))
    dropped = compact(near, point, 1e-8)  # nothing is far away: it goes
    assert dropped.offsets[0].tolist() == [0.0, -np.inf] and np.isfinite(dropped.offsets[1]).all()
    assert near.objective(dropped) == pytest.approx(near.objective(point), abs=1e-8)


def test_rests_of_coefficients_are_dropped():
    x, y = [2.0, 0.0, 3.0, -1.0], [1, -1, 1, -1]
    small = 1e-9
    rest = [[2, -2, small, -small], [small, -small, small, -small]], [[-2, 2, -small, small]]
    mixtures, point = on_the_line(x, y, rest, ([0.0, -40.0], [0.0]), C=5.0)
    short = compact(mixtures, point, 1e-8)
    assert not short.coefficients[0][:, 2:].any() and not short.coefficients[1][:, 2:].any()
    assert not short.coefficients[0][1].any() and np.isneginf(short.offsets[0][1])
    assert short.coefficients[0][0, :2].tolist() == [2.0, -2.0]
    assert mixtures.objective(short) <= mixtures.objective(point) + 1e-8 * mixtures.objective(point)
    large = [[2, -2, 0.1, -0.1], [0.1, -0.1, 0.1, -0.1]], [[-2, 2, -0.1, 0.1]]
    mixtures, point = on_the_line(x, y, large, ([0.0, -1.0], [0.0]), C=5.0)
    same = compact(mixtures, point, 1e-8)
    for part, before in zip(same.coefficients, point.coefficients, strict=True):
        np.testing.assert_array_equal(part, before)


def test_offsets_that_do_it_alone_need_no_sample():
    x = [0.1, 5.0, -0.2, -5.0]
    Ks = np.stack([np.outer(x, x), np.eye(4)])
    rows = np.array([0, 2]), np.array([1, 3])
    kernels = np.array([0]), np.array([1])
    mixtures = Mixtures(Ks, kernels, rows, np.full(4, 1e-9), np.ones(4))
    rests = np.full((1, 4), 1e-12)
    point = mixtures.point((rests, rests), (np.array([0.0]), np.array([-2.0])))
    assert not compact(mixtures, point, 1e-8).coefficients[0].any()
    wanting = mixtures.point((rests, rests), (np.array([0.0]), np.array([-0.2])))  # however small C is
    assert compact(mixtures, wanting, 1e-8).coefficients[0].any()


def test_a_dual_value_far_above_the_objective_certifies_nothing():
    projection = make_problem(n=20, kernels=((0, 1), (0, 1)), C=1.0).projection
    run = learn._Run(projection.mixtures, "ipm", Options(tol=1e-3), 0)
    found = project_interior(projection)
    run.value = found.dual  # a point as good as the bound
    run._judge(found)
    assert run.gap == 0.0
    run._judge(replace(found, dual=found.dual * (1.0 - 1e-2)))
    assert run.gap == pytest.approx(1e-2)
    run._judge(replace(found, dual=found.dual * (1.0 + 1e-2)))  # which no bound can be
    assert run.gap == np.inf
    run._judge(replace(found, imbalance=1.0, status=Status.STALLED))
    assert run.gap == np.inf


def test_a_component_that_shares_in_what_is_explained_is_kept_though_the_objective_would_not_mind():
    x, y = [2.0, 0.0, 3.0, -1.0], [1, -1, 1, -1]
    wide = [[8, -8, 0, 0], [0, 0, 0, 0]], [[-8, 8, 0, 0]]
    mixtures, point = on_the_line(x, y, wide, ([0.0, 30.0], [32.0]), C=5.0)
    shares = mixtures.posteriors(point)[0]
    assert mixtures.objective(point) == pytest.approx(0.5 * point.norm) and shares[:, 1].max() > 0.01
    kept = compact(mixtures, point, 1e-8)
    assert np.isfinite(kept.offsets[0]).all()
    np.testing.assert_allclose(mixtures.posteriors(kept)[0], shares, atol=1e-4)


# --- starts ------------------------------------------------------------------------------------------------


def make_mixtures(Ks, kernels, n=12):
    rows = np.arange(0, n, 2), np.arange(1, n, 2)
    pair = np.array(kernels[0]), np.array(kernels[1])
    return Mixtures(np.asarray(Ks), pair, rows, np.ones(n), np.ones(n))


def three_kernels(n=12):
    X = np.random.default_rng(0).normal(size=(n, 3))
    return np.stack([X @ X.T, np.eye(n), X[:, :1] @ X[:, :1].T])


CORNER = np.zeros((12, 12))
CORNER[-1, -1] = 0.1  # the first row is the same


@pytest.mark.parametrize(
    ("Ks", "kernels", "twins"),
    [
        (three_kernels(), ([0, 1, 2], [0, 1, 2]), False),
        (three_kernels(), ([0], [0]), False),
        (three_kernels(), ([0, 1, 0], [0, 1]), True),
        (three_kernels(), ([0, 1], [2, 1, 2]), True),
        (three_kernels()[[0, 0]] * [[[1.0]], [[1.0 + 1e-13]]], ([0, 1], [0]), True),
        (three_kernels()[[0, 0]] * [[[1.0]], [[1.001]]], ([0, 1], [0]), False),
        (three_kernels()[[0, 0]] + [np.zeros((12, 12)), CORNER], ([0, 1], [0]), False),
    ],
)
def test_a_kernel_that_repeats_within_a_class_by_its_number_or_its_values(Ks, kernels, twins):
    mixtures = make_mixtures(Ks, kernels)
    assert has_twins(mixtures) is twins
    assert n_starts(mixtures) == (8 if twins else 1)


def is_uniform(q):
    return all(np.array_equal(part, np.full(part.shape, 1.0 / part.shape[1])) for part in q)


def is_assigned(q):
    return all(set(np.unique(part)) <= {0.0, 1.0} for part in q)


def test_starts_where_kernels_differ():
    mixtures = make_mixtures(three_kernels(), ([0, 1, 2], [0, 1]))
    starts = draw_starts(mixtures, 5, np.random.default_rng(0))
    assert len(starts) == 5 and is_uniform(starts[0])
    assert all(is_assigned(start) for start in starts[1:])
    for positive, negative in starts:
        assert positive.shape == (6, 3) and negative.shape == (6, 2)
        np.testing.assert_allclose(positive.sum(axis=1), 1.0)
        np.testing.assert_allclose(negative.sum(axis=1), 1.0)
    assert not np.array_equal(starts[2][0], starts[4][0])
    again = draw_starts(mixtures, 5, np.random.default_rng(0))
    assert all(np.array_equal(a[s], b[s]) for a, b in zip(starts, again, strict=True) for s in (0, 1))


def test_starts_where_a_kernel_repeats_are_random_and_clustered_by_turns():
    rng = np.random.default_rng(0)
    n = 40
    side = (np.arange(n) // 2) % 2  # two groups in each class, far apart
    X = rng.normal(size=(n, 2)) + np.where(side, 20.0, -20.0)[:, None]
    mixtures = make_mixtures([X @ X.T], ([0, 0], [0, 0]), n)
    starts = draw_starts(mixtures, 8, np.random.default_rng(1))
    assert [is_uniform(start) for start in starts] == [False] * 7 + [True]  # equal twins are the last resort
    starts = starts[:7]
    for number, start in enumerate(starts):
        assert is_assigned(start)
        for part, rows in zip(start, mixtures.rows, strict=True):
            split = part[side[rows] == 1, 0].mean(), part[side[rows] == 0, 0].mean()
            if number % 2:  # k-means finds the groups
                assert sorted(split) == [0.0, 1.0]
            else:
                assert min(split) > 0.0 and max(split) < 1.0
    assert len(draw_starts(mixtures, 1, np.random.default_rng(1))) == 1


def test_clusters_are_a_fixed_point_of_k_means_in_feature_space():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 2))
    mixtures = make_mixtures([X @ X.T, X @ X.T], ([0, 1, 0], [0, 1]), 30)
    for positive, negative in draw_starts(mixtures, 8, np.random.default_rng(2))[1::2]:
        for members, rows in ((positive, mixtures.rows[0]), (negative, mixtures.rows[1])):
            means = (members.T @ X[rows]) / np.maximum(members.sum(axis=0), 1.0)[:, None]
            distances = ((X[rows][:, None] - means) ** 2).sum(axis=2)
            used = np.flatnonzero(members.any(axis=0))
            np.testing.assert_array_equal(used[distances[:, used].argmin(axis=1)], members.argmax(axis=1))


def test_more_components_than_samples():
    mixtures = make_mixtures(three_kernels(4)[:, :4, :4], ([0] * 5, [0, 1]), 4)
    for positive, negative in draw_starts(mixtures, 4, np.random.default_rng(0)):
        assert positive.shape == (2, 5) and negative.shape == (2, 2)
        np.testing.assert_allclose(positive.sum(axis=1), 1.0)

"""The losses: the best intercept against plain minimisation, parts of the samples, scores out of range."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from multikernel.core.svm.losses import HardMargin, Hinge, SquaredHinge
from tests.core.problems import KINDS, Task

SMOOTH_OR_NOT = [kind for kind in KINDS if kind != "hard_margin"]


def random_task(kind, rng, n, weighted):
    weights = rng.uniform(0.1, 5.0, size=n) if weighted else np.full(n, 1.3)
    if kind == "one_class":
        return Task(kind, np.zeros(n), weights / (0.4 * weights.sum()))
    if kind in ("svr", "ridge"):
        return Task(kind, rng.normal(size=n), weights, 0.3 if kind == "svr" else 0.0)
    target = np.where(rng.normal(size=n) > 0, 1.0, -1.0)
    target[:2] = [1.0, -1.0]
    return Task(kind, soften(target, rng) if kind == "soft_labels" else target, weights)


def soften(target, rng):
    """Soft labels on the sides of the labels, from certain to nearly undecided."""
    return target * rng.choice([1.0, 0.5, 0.01], size=target.size)


cases = given(
    st.sampled_from(SMOOTH_OR_NOT), st.integers(2, 30), st.booleans(), st.booleans(), st.integers(0, 10**6)
)


@cases
def test_the_intercept_of_the_risk_is_its_minimiser(kind, n, weighted, tied, seed):
    rng = np.random.default_rng(seed)
    task = random_task(kind, rng, n, weighted)
    scores = rng.normal(size=n)
    if tied:
        scores = np.round(scores)
    value, b = task.loss().risk(scores)
    np.testing.assert_allclose(task.slack_risk(scores, b), value, rtol=1e-10, atol=1e-12)
    found = minimize_scalar(lambda b: task.slack_risk(scores, b), bounds=(-20.0, 20.0), method="bounded",
                            options={"xatol": 1e-12, "maxiter": 1000})  # fmt: skip
    assert value <= found.fun + 1e-9 * max(1.0, abs(found.fun))
    np.testing.assert_allclose(value, found.fun, rtol=1e-6, atol=1e-6)


def test_the_intercept_of_the_squared_hinge_does_not_cycle():
    """Newton's steps from either end of this bracket lead to the other end."""
    y = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0])
    scores = np.array(
        [-2.69324234, -9.69431523, -0.031883, -4.49820407, 9.23557999, -17.20968711, 8.65298406]
    )
    value, b = SquaredHinge(y, 453.176).risk(scores)
    # by hand: at b = 3.5957 the errors are those of samples 0 and 3, whose slacks are then equal
    np.testing.assert_allclose(b, 0.5 * ((1.0 + 2.69324234) + (-1.0 + 4.49820407)), rtol=1e-12)
    slack = 1.0 + 2.69324234 - b
    np.testing.assert_allclose(value, 453.176 * slack**2, rtol=1e-10)


@given(st.integers(2, 40), st.integers(0, 10**6), st.floats(-6.0, 6.0), st.booleans(), st.booleans())
def test_the_intercept_of_the_squared_hinge_at_every_scale(n, seed, power, weighted, tied):
    """The derivative in b vanishes, and changes its sign there, for scores from 1e-6 to 1e6."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.normal(size=n) > rng.normal(), 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    C = 10.0 ** rng.uniform(-4, 4, size=n) if weighted else np.full(n, 10.0 ** rng.uniform(-4, 4))
    scores = 10.0**power * rng.standard_t(2, size=n)
    if tied:
        scores = np.round(scores, 1)
    value, b = SquaredHinge(y, C).risk(scores)

    def slope(b):
        return -float((C * y) @ np.maximum(1.0 - y * (scores + b), 0.0))

    step = 1e-12 * max(1.0, np.abs(scores).max())
    size = float(C.sum()) * step
    assert slope(b - step) <= size and slope(b + step) >= -size
    slack = np.maximum(1.0 - y * (scores + b), 0.0)
    np.testing.assert_allclose(value, 0.5 * C @ slack**2, rtol=1e-12)


@pytest.mark.parametrize("kind", SMOOTH_OR_NOT)
def test_counting_a_part_of_the_samples_more_often(kind):
    rng = np.random.default_rng(1)
    task = random_task(kind, rng, 20, True)
    index = np.arange(0, 20, 2)
    part = task.loss().restrict(index, 3.0)
    size = task.sizes[index] / 3.0 if kind == "ridge" else task.sizes[index] * 3.0
    expected = Task(kind, task.target[index], size, task.epsilon).loss()
    scores = rng.normal(size=10)
    np.testing.assert_allclose(part.risk(scores), expected.risk(scores), rtol=1e-12)
    np.testing.assert_array_equal(part.upper, expected.upper)


def test_scores_out_of_range_have_no_bound():
    """Order statistics of NaN once read beyond their memory."""
    y = np.where(np.arange(12) % 3 > 0, 1.0, -1.0)
    for bad in (np.nan, np.inf):
        for place in range(12):
            scores = np.linspace(-1.0, 1.0, 12)
            scores[place:] = bad
            assert Hinge(y, 1.0).bound(scores, 1.0).plain == np.inf


def test_hard_margin_scales_its_scores():
    y = np.array([1.0, 1.0, -1.0, -1.0])
    loss = HardMargin(y)
    scores = np.array([3.0, 2.5, 0.5, -1.0])  # half width 1, middle 1.5
    assert loss.bound(scores, 8.0) == (4.0, 4.0, -1.5)
    assert loss.bound(0.5 * scores, 2.0) == (4.0, 4.0, -1.5)
    assert loss.bound(-scores, 8.0).value == np.inf
    assert loss.risk(scores) == (0.0, -1.5)
    assert loss.risk(0.5 * scores)[0] == np.inf

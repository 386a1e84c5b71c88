"""Backtracking: the lengths that are tried, and what comes of them."""

import numpy as np
import pytest

from multikernel.core.optim.loop import armijo, backtrack


def test_lengths_shrink_until_one_is_accepted():
    tried = []

    def attempt(length):
        tried.append(length)
        return "there" if length <= 0.2 else None

    assert backtrack(attempt, 10, first=2.0, shrink=0.4) == "there"
    np.testing.assert_allclose(tried, [2.0, 0.8, 0.32, 0.128])


def test_none_is_accepted_after_the_last_trial():
    tried = []
    assert backtrack(tried.append, 3) is None
    assert tried == [1.0, 0.5, 0.25]


def test_zero_is_a_success():
    assert backtrack(lambda length: 0.0, 3) == 0.0


@pytest.mark.parametrize(("curvature", "accepted"), [(1.0, 1.0), (1.99, 1.0), (2.1, 0.5)])
def test_armijo_on_a_parabola(curvature, accepted):
    """F(t) = −t + curvature t²/2 falls enough up to nearly 2 / curvature."""
    value = lambda t: -t + 0.5 * curvature * t * t  # noqa: E731
    assert backtrack(lambda t: t if value(t) <= armijo(0.0, t, -1.0) else None, 10) == accepted

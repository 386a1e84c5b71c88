"""What sets of weights say of themselves, and that solvers refuse sets that can too little."""

import numpy as np
import pytest

from multikernel.core.optim.loop import Options
from multikernel.core.optim.weight_sets import CappedSum, LpBall, MixedNorm, Orthant, PositiveBall, Simplex
from multikernel.rules.solver.descent import minimise_projected

SETS = {
    "lp": (LpBall(2.0), ("support", "best_response")),
    "simplex": (Simplex(), ("project", "support")),
    "orthant": (Orthant(), ("project", "support")),
    "ball": (PositiveBall(np.zeros(2), 1.0), ("project", "support")),
    "capped": (CappedSum(2), ("support", "at")),
    "groups": (MixedNorm(np.array([0, 1]), 2.0, 1.0, np.ones(2)), ("support", "at")),
}


@pytest.mark.parametrize("name", SETS)
def test_a_set_can_do_what_it_says_and_nothing_else(name):
    weight_set, can = SETS[name]
    assert weight_set.can == can
    for method in ("project", "support", "best_response", "at"):
        if method in can:
            assert np.isfinite(
                getattr(weight_set, method)(-np.ones(2) if name == "orthant" else np.ones(2))
            ).all()
        else:
            with pytest.raises(NotImplementedError):
                getattr(weight_set, method)(np.ones(2))


def test_projected_gradients_refuse_a_set_without_projection_before_they_start():
    def evaluate(x):
        raise AssertionError("started all the same")

    with pytest.raises(TypeError, match=r"projected gradients need .* project, support; LpBall has support"):
        minimise_projected(evaluate, LpBall(2.0), np.ones(2), Options())

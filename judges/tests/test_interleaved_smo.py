"""The steps of Lewis et al. in the printed order: feasible, at most the optimum of cvxpy, at times less."""

import numpy as np
import pytest

from judges.interleaved_smo import ascend_by_steps
from multikernel.nonstationary.solver.components import duals_of
from multikernel.nonstationary.solver.projection import balance
from tests.nonstationary.solver.mixture_problems import dual_value, make_problem, primal_by_cvxpy

CASES = [dict(n=16, kernels=((0, 2), (0, 2)), C=10.0, seed=seed) for seed in range(4)]


@pytest.mark.parametrize("newton", [False, True])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"seed {case['seed']}")
def test_the_value_is_that_of_feasible_duals_and_at_most_the_optimum(case, newton):
    problem = make_problem(**case)
    found = ascend_by_steps(problem.projection, newton=newton)
    duals = duals_of(problem.projection, found.state)
    assert min(part.min() for part in duals) >= 0.0
    assert max(part.sum(axis=1).max() for part in duals) <= 10.0 * (1.0 + 1e-9)
    assert np.abs(balance(problem.projection, duals)).max() <= 1e-7 * sum(part.sum() for part in duals)
    assert found.value == pytest.approx(dual_value(problem, duals), rel=1e-8)
    assert found.value <= primal_by_cvxpy(problem) * (1.0 + 1e-6)


def test_the_newton_step_goes_on_where_the_sweeps_stop():
    """Of these problems the sweeps alone solve none; Newton steps in between gain on all of them."""
    for case in CASES:
        problem = make_problem(**case)
        optimum = primal_by_cvxpy(problem)
        alone = ascend_by_steps(problem.projection, newton=False)
        both = ascend_by_steps(problem.projection, newton=True)
        assert optimum - alone.value > 1e-4 * optimum and alone.n_rounds < 2000
        assert both.value > alone.value

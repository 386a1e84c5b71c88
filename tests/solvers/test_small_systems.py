"""Elimination with row pivots: as NumPy solves it, and refused where NumPy refuses."""

import numpy as np
import pytest

from multikernel.solvers.small_systems import solve_small


@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_as_numpy_solves_it(n):
    rng = np.random.default_rng(n)
    A, B = rng.normal(size=(n, n)) * 10.0 ** rng.integers(-6, 6, (n, 1)), rng.normal(size=(n, 2))
    X = B.copy()
    solve_small(A.copy(), X)
    np.testing.assert_allclose(X, np.linalg.solve(A, B), rtol=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
def test_what_has_no_solution_is_refused(bad):
    A = np.eye(3)
    A[1, 1] = bad
    with pytest.raises(np.linalg.LinAlgError):
        solve_small(A, np.ones((3, 2)))

"""Learning the kernel matrix on a fixed list of random problems, nasty ones among them: none may fail.

The range, chosen before the list: 4 to 40 points, two fifths of them labelled or more; rows that are normal,
of few distinct values, repeated, handwritten digits or measurements of tumours; one to six kernels (linear,
quadratic, cubic, Gaussian of any width, rank one with or without a small ridge), which are often nearly
dependent, a fifth of them scaled by up to a thousand either way; every criterion and kind of weights. In
units where kernels have the trace n, C goes from 1e-4 to 1e6.

Left out is C above 1e6 where no function separates the classes: the value is then so large, beside the
margins of one that decide it, that 1e-8 of it asks for more digits than there are. Outside of the list, about
one problem in three thousand of this range ends short of 1e-8, and says so.
"""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

from multikernel.core.optim.loop import Status
from tests.transductive.solver.matrix_problems import (
    CRITERIA,
    Case,
    feasible_duals,
    kernel,
    learn,
    unit_diagonal,
)
from tests.transductive.solver.test_separability_of_families import separated

pytestmark = pytest.mark.thorough

N_PROBLEMS = 150
DIGITS, TUMOURS = load_digits(), load_breast_cancer()


def random_rows(rng, n):
    """Rows and labels of five kinds; the first two have different labels."""
    kind = rng.integers(5)
    if kind == 0:
        X = rng.normal(size=(n, rng.integers(1, 12)))
        score = X[:, 0] + 0.5 * rng.normal(size=n)
    elif kind == 1:
        rows = rng.choice(len(DIGITS.data), n, replace=False)
        X, score = DIGITS.data[rows], DIGITS.target[rows] - 4.5
    elif kind == 2:
        rows = rng.choice(len(TUMOURS.data), n, replace=False)
        X, score = TUMOURS.data[rows] / TUMOURS.data.std(axis=0), TUMOURS.target[rows] - 0.5
    elif kind == 3:
        X, score = rng.integers(0, 3, size=(n, 3)) + 0.1, rng.normal(size=n)
    else:
        distinct = rng.normal(size=(max(2, n // 2), 4))
        X, score = distinct[rng.integers(0, len(distinct), size=n)], rng.normal(size=n)
    y = np.where(score > 0, 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    return X, y


def random_kernel(rng, X):
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    kind = rng.integers(4)
    if kind == 0:
        K = X @ X.T
    elif kind == 1:
        K = (1.0 + X @ X.T) ** rng.integers(2, 4)
    elif kind == 2:
        K = np.exp(-squares / (np.median(squares) + 1e-9) * 10.0 ** rng.uniform(-1.5, 1.5))
    else:
        x = X.mean(axis=1)
        K = np.outer(x, x) + 1e-3 * rng.integers(2) * np.eye(len(x))
    if rng.random() < 0.7:
        K = unit_diagonal(K)
    return 0.5 * (K + K.T) * 10.0 ** (rng.uniform(-3, 3) if rng.random() < 0.2 else 0.0)


def random_case(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 41))
    X, y = random_rows(rng, n)
    N = max(2, int(n * rng.uniform(0.4, 1.0)))
    members = np.stack([random_kernel(rng, X) for _ in range(rng.integers(1, 7))])
    criterion = CRITERIA[rng.integers(4)]
    weights = ("free", "free", "nonnegative", "spectral")[rng.integers(4)]
    if weights == "spectral":
        values, V = np.linalg.eigh(sum(K / np.trace(K) for K in members))
        V = V[:, values > 1e-10 * values[-1]][:, ::-1]
        members = np.ascontiguousarray(V[:, : rng.integers(1, V.shape[1] + 1)])
    case = Case(members, y[:N], criterion, weights)
    return case.but(C=10.0 ** rng.uniform(-4, 6) * case.n / case.c)


# Problems of the same kind beyond the list that once stopped short, and what they need:
REGRESSIONS = {
    189: "a step away from the boundary, which is reached long before the equations hold",
    2415: "the same, with two labelled points",
    663: "a factor although more duals are inside their bounds than the kernel has rank",
    2708: "the same",
    1992: "a multiplier repaired across the weights: the optimum is one kernel of rank one",
    9101: "the answer that a constant vector separates nothing",
}


@pytest.mark.parametrize("seed", [*range(N_PROBLEMS), *REGRESSIONS])
def test_every_problem_of_the_list_is_solved(seed):
    case = random_case(seed)
    result = learn(case)
    if result.status == Status.INSEPARABLE:
        assert case.criterion == "hard"
        N = case.y.size
        assert not separated(sum(K[:N, :N] / r for K, r in zip(case.stack, case.r, strict=True)), case.y)
        return
    assert result.status == Status.OPTIMAL and result.gap <= 1e-8
    # what is returned is feasible, and proves the lower bound where that needs no conic solver
    a = feasible_duals(case, result.dual)
    np.testing.assert_allclose(case.r @ result.weights + case.n * result.ridge, case.c, rtol=1e-6)
    values = np.linalg.eigvalsh(kernel(case, result.weights))
    assert values[0] >= -1e-8 * values[-1]
    if case.weights != "free":
        N = case.y.size
        forms = [result.dual @ K[:N, :N] @ result.dual / r for K, r in zip(case.stack, case.r, strict=True)]
        largest = case.c * max([*forms, a @ a / case.n if case.learned else 0.0])
        lower = 2 * a.sum() - case.tau * a @ a - largest
        np.testing.assert_allclose(result.lower_bound, lower, rtol=1e-7)
        np.testing.assert_allclose(result.upper_bound, lower, rtol=1e-7)

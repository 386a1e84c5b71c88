"""Hard margins of kernel families: is there one at all? The linear program of the specification decides.

    max t   with   y_j (F_j'β + b) ≥ t,   |β_k| ≤ 1,   t ≤ 1,   K = FF' (of mean diagonal one)

is positive exactly for separable classes; below 1e-7 it is rounding.
"""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from multikernel.core.optim.loop import Status
from multikernel.core.svm.losses import HardMargin
from multikernel.transductive.solver.families import RankOneFamily, StackFamily
from multikernel.transductive.solver.kernel_matrix import learn_kernel_matrix, separable
from tests.core.problems import gaussian
from tests.shared_data import needs_shared_data, shared_data_folder
from tests.transductive.solver.matrix_problems import CRITERIA, WEIGHTS, Case, unit_diagonal


def separated(K, y):
    """The answer of the linear program."""
    values, vectors = np.linalg.eigh(K / np.mean(np.diagonal(K)))
    kept = values > 1e-14 * values[-1]
    F = vectors[:, kept] * np.sqrt(values[kept])
    n, p = F.shape
    A = np.column_stack([-y[:, None] * F, -y, np.ones(n)])
    bounds = [(-1.0, 1.0)] * p + [(None, None), (None, 1.0)]
    answer = linprog(
        np.append(np.zeros(p + 1), -1.0), A_ub=A, b_ub=np.zeros(n), bounds=bounds, method="highs"
    )
    assert answer.status == 0
    return -answer.fun > 1e-7


def splits(X, y, seeds=range(4)):
    """Four fifths of the rows twice, one fifth twice."""
    for seed in seeds:
        rows = np.random.default_rng(seed).permutation(len(X))[: int((0.8 if seed < 2 else 0.2) * len(X))]
        yield X[rows], y[rows]


def agreements(X, y):
    """Ours on every split with the plain and the normalised linear kernel; it must be the program's."""
    answers = []
    for part, labels in splits(X, y):
        for K in (part @ part.T, unit_diagonal(part @ part.T + 1e-12)):
            answers.append(separable(StackFamily(K[None], labels.size), HardMargin(labels)))
            assert answers[-1] == separated(K, labels)
    return answers


@needs_shared_data
@pytest.mark.parametrize(
    ("name", "possible"),
    [
        ("sonar", {True}),
        ("heart_statlog", {True, False}),
        ("breast_cancer_wisconsin", {True, False}),
        ("ionosphere", {True, False}),
    ],
)
def test_the_data_of_the_paper(name, possible):
    with np.load(shared_data_folder() / f"{name}.npz") as data:
        X, y = data["X"].astype(float), data["y"]
    assert set(agreements(X, np.where(y == np.unique(y)[0], -1.0, 1.0))) == possible


@pytest.mark.parametrize(
    ("load", "pair", "possible"),
    [
        (load_breast_cancer, (0, 1), {True}),
        (load_wine, (0, 1), {True}),
        (load_wine, (1, 2), {True}),
        (load_iris, (0, 1), {True}),
        (load_iris, (1, 2), {True, False}),
        (load_digits, (3, 5), {True}),
    ],
)
def test_data_that_everyone_has(load, pair, possible):
    X, target = load(return_X_y=True)
    if load is load_breast_cancer:  # its raw columns, of sizes 1e-3 to 1e3, leave a margin of 1e-6 only
        X = X / X.std(axis=0)
    rows = np.isin(target, pair)
    assert set(agreements(X[rows], np.where(target[rows] == pair[0], 1.0, -1.0))) == possible


@pytest.mark.parametrize("seed", range(20))
def test_random_labels_on_lines_and_planes(seed):
    """From a line, where random labels hardly ever separate, to as many dimensions as points."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 1 + seed % 11)) + 3.0 * rng.normal()
    y = np.where(rng.permutation(12) < 6, 1.0, -1.0)
    K = X @ X.T
    assert separable(StackFamily(K[None], 12), HardMargin(y)) == separated(K, y)
    V = np.linalg.eigh(gaussian(X, 0.3))[1]
    family = RankOneFamily(np.ascontiguousarray(V[:, -4:]), 12)
    assert separable(family, HardMargin(y)) == separated(V[:, -4:] @ V[:, -4:].T, y)


def test_kernels_that_separate_only_together():
    """A family separates what none of its members does: each kernel sees one coordinate."""
    X = np.array([[1.0, 0.0], [0.0, 1.0], [-2.0, 1.5], [1.5, -2.0], [-1.0, -1.0], [0.2, 0.2]])
    y = np.where(X.sum(axis=1) > 0.0, 1.0, -1.0)
    Ks = np.stack([np.outer(x, x) for x in X.T])
    for K in Ks:
        assert not separated(K, y) and not separable(StackFamily(K[None], 6), HardMargin(y))
    assert separable(StackFamily(Ks, 6), HardMargin(y))
    for weights in ("nonnegative", "free"):
        assert learn_kernel_matrix(Case(Ks, y, "hard", weights).problem()).status == Status.OPTIMAL


@pytest.mark.parametrize("margin", [1e-1, 1e-3, 1e-4])
@pytest.mark.parametrize("offset", [0.0, 10.0])
def test_margins_down_to_a_ten_thousandth_of_the_spread_are_found(margin, offset):
    """On a line; crossed by the same distance, the classes overlap. (Below 3e-5 they count as touching.)"""
    x = np.concatenate([np.linspace(margin, 2.0, 8), np.linspace(-2.0, 0.0, 8)])
    y = np.where(np.arange(16) < 8, 1.0, -1.0)
    for crossed in (False, True):
        moved = x + offset - 2.0 * margin * crossed * (y > 0)
        K = np.outer(moved, moved)
        answer = separable(StackFamily(K[None], 16), HardMargin(y))
        assert answer == separated(K, y) == (not crossed)


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
def test_a_constant_kernel_separates_nothing(size):
    """Its entries differ by rounding, as those of an eigenvector with equal entries do."""
    y = np.where(np.arange(10) < 3, 1.0, -1.0)
    for seed in range(100):
        noise = np.random.default_rng(seed).integers(-1, 2, size=10)
        v = np.sqrt(size) * (1.0 + 2.3e-16 * noise)
        assert not separable(StackFamily(np.outer(v, v)[None], 10), HardMargin(y))
        assert not separable(RankOneFamily((v / np.linalg.norm(v))[:, None], 10), HardMargin(y))


@pytest.mark.parametrize("weights", WEIGHTS)
def test_what_is_said_of_an_inseparable_hard_margin(weights):
    X = np.random.default_rng(0).normal(size=(15, 2))
    y = np.where(np.arange(12) % 2 == 0, 1.0, -1.0)
    members = np.stack([X @ X.T, np.outer(X[:, 0], X[:, 0])])
    if weights == "spectral":
        members = np.ascontiguousarray(np.linalg.eigh(members[0])[1][:, -2:])
    for criterion in CRITERIA:
        result = learn_kernel_matrix(Case(members, y, criterion, weights).problem())
        assert (result.status == Status.INSEPARABLE) == (criterion == "hard")
        if criterion == "hard":
            assert result.objective == result.upper_bound == result.gap == np.inf
            assert np.isnan(result.weights).all() and result.weights.shape == (2,)
            assert result.n_iter == 0 and result.history == [] and not result.dual.any()

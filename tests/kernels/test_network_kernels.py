"""Kernels on networks against dense matrices and walks written plainly, on small and on large networks."""

import copy
import dataclasses
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
from hypothesis import given
from hypothesis import strategies as st

from multikernel.kernels import (
    Diffusion,
    Linear,
    Network,
    Pairwise,
    RandomWalk,
    RegularizedLaplacian,
    diffusion_kernel,
    smallest_eigenvalue,
)
from multikernel.kernels.networks import kernels
from multikernel.kernels.networks.kernels import Heat, Resolvent
from multikernel.kernels.networks.network import largest_eigenvalue_bound
from tests.kernels.laws import check_laws, check_value
from tests.refusals import refused

EDGES = [("a", "b", 2.0), ("b", "c", 1.0), ("c", "a", 0.5), ("c", "d", 1.0), ("e", "f", 3.0), ("g", "g", 1.0)]
SMALL = Network(EDGES)


def random_adjacency(rng, n, degree=4.0):
    """Sparse and weighted, with nodes that have no edges."""
    upper = np.triu(rng.uniform(0.1, 3.0, (n, n)) * (rng.uniform(size=(n, n)) < degree / n), 1)
    upper[:, -1] = upper[0] = 0.0
    return upper + upper.T


def plain_laplacian(A, normalized):
    degrees = A.sum(axis=1)
    L = np.diag(degrees) - A
    if normalized:
        root = np.sqrt(np.where(degrees > 0.0, degrees, 1.0))
        L = L / root / root[:, None]
    return L


kinds = st.sampled_from(
    [
        (Diffusion, "beta", lambda L, beta: scipy.linalg.expm(-beta * L)),
        (RegularizedLaplacian, "alpha", lambda L, alpha: np.linalg.inv(np.eye(len(L)) + alpha * L)),
    ]
)


@pytest.fixture
def expanded(monkeypatch):
    """Every network counts as a large one."""
    monkeypatch.setattr(kernels, "SMALL", 0)


@pytest.mark.parametrize("small", [True, False])
@given(kinds, st.integers(0, 10**6), st.integers(1, 25), st.floats(0.01, 20.0), st.booleans())
def test_they_are_functions_of_the_laplacian(small, kind, seed, n, parameter, normalized):
    make, name, formula = kind
    rng = np.random.default_rng(seed)
    A = random_adjacency(rng, n)
    network = Network.from_adjacency(A)
    expected = formula(plain_laplacian(A, normalized), parameter)
    rows, columns = rng.integers(0, n, 7), rng.integers(0, n, 4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "SMALL", 1000 if small else 0)
        kernel = make(network, normalized=normalized, **{name: parameter})
        K = check_laws(kernel, rows, expected[np.ix_(rows, rows)], atol=1e-12)
        np.testing.assert_allclose(kernel(rows, columns), expected[np.ix_(rows, columns)], rtol=0, atol=1e-12)
        whole = kernel(network.nodes)
    assert np.array_equal(whole, whole.T) and smallest_eigenvalue(whole) > -1e-13
    assert np.array_equal(K, K.T) and kernel.is_psd


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("restart", [0.05, 0.5, 0.95])
def test_the_walk_is_the_geometric_mean_of_both_ways(small, restart, monkeypatch):
    monkeypatch.setattr(kernels, "SMALL", 1000 if small else 0)
    A = random_adjacency(np.random.default_rng(3), 30)
    degrees = A.sum(axis=0)
    share = np.divide(A, degrees, out=np.eye(30), where=degrees > 0)  # of those at j, who go on to i
    P = np.eye(30)
    for _ in range(600):  # the walks from all nodes, step by step, until nothing changes any more
        P = (1.0 - restart) * share @ P + restart * np.eye(30)
    np.testing.assert_allclose(P.sum(axis=0), 1.0)
    network = Network.from_adjacency(A)
    K = RandomWalk(network, restart)(network.nodes)
    np.testing.assert_allclose(K, np.sqrt(P * P.T), atol=1e-10)
    assert np.abs(P - P.T).max() > 0.01  # it is the mean that is symmetric, not the walk
    twin = RegularizedLaplacian(network, (1.0 - restart) / restart)(network.nodes)
    np.testing.assert_allclose(K, twin, atol=1e-14)
    np.testing.assert_allclose(K[0], np.eye(30)[0], atol=1e-14)  # without edges, a walker stays


@pytest.mark.parametrize("normalized", [True, False])
def test_the_function_of_an_adjacency_matrix_is_the_exponential_of_its_laplacian(normalized):
    A = random_adjacency(np.random.default_rng(5), 40)
    before = A.copy()
    K = diffusion_kernel(A, 2.0, normalized=normalized)
    np.testing.assert_allclose(K, scipy.linalg.expm(-2.0 * plain_laplacian(A, normalized)), atol=1e-12)
    twin = Diffusion(Network.from_adjacency(A), 2.0, normalized)
    np.testing.assert_allclose(twin(range(40)), K, atol=1e-13)
    assert np.array_equal(K, K.T) and smallest_eigenvalue(K) > -1e-12
    sparse = diffusion_kernel(scipy.sparse.csr_matrix(A), 2.0, normalized=normalized)
    assert np.array_equal(sparse, K) and np.array_equal(A, before)


@pytest.mark.parametrize(
    ("function", "bound"),
    [(Heat(0.3), 2.0), (Heat(5.0), 2.0), (Heat(40.0), 30.0), (Heat(1e-9), 2.0)]
    + [(Resolvent(0.1), 2.0), (Resolvent(1.0), 2.0), (Resolvent(99.0), 2.0), (Resolvent(7.0), 60.0)],
)
@pytest.mark.parametrize("error", [1e-3, 1e-8, 1e-15])
def test_expansions_keep_their_bound_and_are_not_longer_than_needed(function, bound, error):
    points = np.linspace(0.0, bound, 4001)
    exact = function.at(points)
    coefficients = function.coefficients(bound, error)
    found = np.polynomial.chebyshev.chebval(2.0 * points / bound - 1.0, coefficients)
    slope = bound * (function.beta if isinstance(function, Heat) else function.alpha)
    assert np.abs(found - exact).max() <= error + 1e-14 + slope * np.finfo(float).eps  # points are rounded
    if error > 1e-14 and len(coefficients) > 1:
        shorter = np.polynomial.chebyshev.chebval(2.0 * points / bound - 1.0, coefficients[:-1])
        assert (
            np.abs(shorter - exact).max() > 0.99 * error
        )  # the error is largest at 0, where all signs agree
    assert abs(np.abs(coefficients).sum() - 1.0) <= error + 1e-13  # f(0) = 1


@given(st.integers(0, 10**6), st.integers(1, 25))
def test_no_eigenvalue_is_above_its_bound(seed, n):
    A = random_adjacency(np.random.default_rng(seed), n)
    for normalized in (True, False):
        largest = np.linalg.eigvalsh(plain_laplacian(A, normalized))[-1]
        bound = largest_eigenvalue_bound(scipy.sparse.csr_array(A), normalized)
        assert largest <= bound * (1.0 + 1e-12) + 1e-12
        assert bound <= 2.0 * (1.0 if normalized else A.sum(axis=1).max())


def large_network(n=50_000, m=150_000):
    rng = np.random.default_rng(0)
    edges = np.unique(np.sort(rng.integers(0, n, (m, 2)), axis=1), axis=0)
    return Network(edges, 1.0 + (edges.sum(axis=1) % 3), nodes=np.arange(n))


def test_a_network_of_fifty_thousand_nodes():
    network = large_network()
    samples = np.append(np.arange(0, 50_000, 9000), network.pairs[7])
    strong = scipy.sparse.csr_array(network.laplacian(True))
    units = np.zeros((len(network), len(samples)))
    units[samples, np.arange(len(samples))] = 1.0
    heat, walk = Diffusion(network, 2.0), RandomWalk(network, 0.4)
    K = heat(samples)
    taylor, term = units.copy(), units  # by its series, in which terms are 4^k / k! at most
    for k in range(1, 40):
        term = strong @ term * (-2.0 / k)
        taylor += term
    np.testing.assert_allclose(K, taylor[samples], atol=1e-13)
    assert np.array_equal(K, K.T) and smallest_eigenvalue(K) > 0.0
    assert 0.0 < K[-1, -2] < K[-1, -1] < 1.0  # the last two have an edge
    system = scipy.sparse.eye_array(len(network)) + 1.5 * strong
    solved, failed = scipy.sparse.linalg.cg(system, units[:, -1], rtol=1e-13)
    assert not failed
    np.testing.assert_allclose(walk(samples)[:, -1], solved[samples], atol=1e-12)
    np.testing.assert_allclose(walk.diag(samples[-1:]), solved[samples[-1:]], atol=1e-12)


# --- what is kept ------------------------------------------------------------------------------------------


def test_columns_are_computed_once_and_do_not_depend_on_what_came_before(expanded, monkeypatch):
    network = Network.from_adjacency(random_adjacency(np.random.default_rng(1), 60))
    rows, columns = np.arange(0, 60, 3), np.arange(1, 60, 4)
    computed = []
    expand = kernels.Expansion._expand
    monkeypatch.setattr(
        kernels.Expansion, "_expand", lambda self, nodes: computed.extend(nodes) or expand(self, nodes)
    )
    kernel = Diffusion(network)
    first, cross, diagonal = kernel(rows), kernel(rows, columns), kernel.diag(columns)
    assert sorted(computed) == sorted({*rows, *columns})
    clone = copy.deepcopy(kernel)
    assert np.array_equal(clone(rows[::-1])[::-1, ::-1], first)
    assert len(computed) == len({*rows, *columns})
    fresh = Diffusion(network)
    assert np.array_equal(fresh(rows, columns), cross)
    assert np.array_equal(fresh.diag(columns), diagonal) and np.array_equal(fresh(rows), first)


@pytest.mark.parametrize("room", [0, 25 * 60 * 8])
def test_what_does_not_fit_is_not_kept(expanded, monkeypatch, room):
    network = Network.from_adjacency(random_adjacency(np.random.default_rng(1), 60))
    rows, columns = np.arange(0, 60, 3), np.arange(1, 60, 4)
    expected = Diffusion(network)(np.arange(60))
    monkeypatch.setattr(kernels, "KEPT_BYTES", room)
    kernel = Diffusion(network)
    for left, right in (
        (rows, columns),
        (columns, rows),
        (rows, rows),
        (columns[:2], rows),
        (rows, rows[:1]),
    ):
        np.testing.assert_allclose(kernel(left, right), expected[np.ix_(left, right)], rtol=0, atol=1e-15)
        assert len(kernel._expansion._kept) * 60 * 8 <= room
    np.testing.assert_allclose(kernel.diag(rows), expected.diagonal()[rows], rtol=0, atol=1e-15)


def test_what_is_new_takes_the_place_of_what_was_kept(expanded, monkeypatch):
    network = Network.from_adjacency(random_adjacency(np.random.default_rng(1), 60))
    monkeypatch.setattr(kernels, "KEPT_BYTES", 25 * 60 * 8)
    kernel = Diffusion(network)
    for nodes in (np.arange(20), np.arange(30, 50), np.arange(30, 55)):
        kernel(nodes)
        assert sorted(kernel._expansion._kept) == nodes.tolist()


def test_kernels_of_a_small_network_share_its_decomposition(monkeypatch):
    network = Network(EDGES)
    times = []
    decompose = scipy.linalg.eigh
    monkeypatch.setattr(scipy.linalg, "eigh", lambda *args, **kw: times.append(1) or decompose(*args, **kw))
    for kernel in (
        Diffusion(network),
        Diffusion(network, 3.0),
        RandomWalk(network),
        RandomWalk(network, 0.1),
    ):
        kernel(["a", "b"], ["c"])
        kernel.diag(["a"])
    assert len(times) == 1
    RegularizedLaplacian(network, normalized=False)(["a"])
    assert len(times) == 2


def test_an_expansion_that_would_never_end_is_refused():
    edges = np.column_stack([np.zeros(1200, int), np.arange(1, 1201)])
    network = Network(edges, np.full(1200, 1e6))
    for kernel in (Diffusion(network, 1e9, False), RegularizedLaplacian(network, 1e6, normalized=False)):
        with pytest.raises(ValueError, match=r"would need an expansion of \d+ terms.*normalized=True"):
            kernel([0, 1])
    assert 0.0 < Diffusion(network, 1e4)([0, 1])[0, 1] < 1.0


# --- names -------------------------------------------------------------------------------------------------

ROWS = ["c", "x", "a", "y", "x", "a", "g"]


@pytest.mark.parametrize("small", [True, False])
def test_samples_that_are_not_in_the_network_are_alone(small, monkeypatch):
    monkeypatch.setattr(kernels, "SMALL", 1000 if small else 0)
    larger = Network(EDGES, nodes=[*"abcdefg", "x", "y"])
    for make in (Diffusion, RegularizedLaplacian, RandomWalk):
        K = make(SMALL)(ROWS)
        np.testing.assert_allclose(K, make(larger)(ROWS), atol=1e-14)
        assert K[1, 4] == 1.0 and not K[1, [0, 2, 3, 5, 6]].any() and np.array_equal(K, K.T)
        assert K[6].tolist() == [0.0] * 6 + [pytest.approx(1.0)]  # a node without edges is no different
        np.testing.assert_allclose(make(SMALL).diag(ROWS), K.diagonal(), atol=1e-14)
        np.testing.assert_array_equal(make(SMALL)(["x", "z"], ["z", "a", "x"]), [[0, 0, 1], [1, 0, 0]])
        with pytest.raises(
            ValueError, match=r"X holds 'x', which is no node of the network, at row 1\. Leave"
        ):
            make(SMALL, absent="error")(ROWS)
        assert make(SMALL, absent="error")(["a", "c"])[0, 1] == pytest.approx(K[2, 0], abs=1e-14)


def test_rows_come_in_any_form():
    kernel = Diffusion(SMALL)
    expected = kernel(list("cab"))
    for rows in (
        np.array(list("cab")),
        np.array([["c"], ["a"], ["b"]]),
        np.array(list("cab"), dtype=object),
        [["c"], ["a"], ["b"]],
        pd.Series(list("cab")),
        pd.Series(list("cab"), dtype="category"),
        pd.DataFrame({"protein": list("cab")}),
        pd.DataFrame({"protein": pd.array(list("cab"), dtype="string")}),
    ):
        np.testing.assert_array_equal(kernel(rows), expected)
    for rows in (
        [[9], [7]],
        np.array([9.0, 7.0]),
        pd.Series([9, 7], dtype="Int64"),
        np.array([9, 7], np.uint8),
    ):
        np.testing.assert_array_equal(NUMBERS(rows), NUMBERS([9, 7]))


test_rows_without_names_are_refused = refused(
    (["a", None], "which are strings such as 'a'; X holds None at row 1. Give every sample a name"),
    (["a", np.nan], "X holds nan at row 1"),
    (pd.Series(["a", pd.NA], dtype="string"), "X holds <NA> at row 1"),
    (["a", ""], "X holds '' at row 1"),
    ([3, 4], "X holds 3 at row 0"),
    (["a", 4], "X holds 4 at row 1"),
    ([["a", "b"]], r"needs one column of names of nodes; X has shape \(1, 2\)"),
    by=Diffusion(SMALL),
)


NUMBERS = Diffusion(Network([(7, 8), (8, 9)]))


def test_one_row_that_is_a_node_is_enough():
    assert Diffusion(SMALL).fit(["YAL1", "a"]) == Diffusion(SMALL)


test_parameters_are_checked = refused(
    (lambda: Diffusion(EDGES), TypeError, "Diffusion needs a Network; got list. Make one with"),
    (lambda: Diffusion(SMALL, 0.0), "Diffusion beta must be greater than 0"),
    (lambda: Diffusion(SMALL, normalized="yes"), TypeError, "normalized must be True or False"),
    (lambda: RegularizedLaplacian(SMALL, -1.0), "alpha must be greater than 0"),
    (lambda: RandomWalk(SMALL, 1.0), "RandomWalk restart must be less than 1; got 1.0"),
    (lambda: RandomWalk(SMALL, 0), "restart must be greater than 0"),
    (lambda: RandomWalk(SMALL, absent="drop"), "absent must be one of 'isolated', 'error'"),
    (lambda: diffusion_kernel(np.ones((2, 3))), "square"),
    (lambda: diffusion_kernel([[0.0, 1.0], [2.0, 0.0]]), "symmetric"),
    (lambda: diffusion_kernel([[0.0, -1.0], [-1.0, 0.0]]), r"negative; got -1 at \(0, 1\)"),
    (lambda: diffusion_kernel([[0.0, 1.0], [1.0, 2.0]]), "node 1 has an edge to itself"),
    (lambda: diffusion_kernel([[0.0, np.nan], [np.nan, 0.0]]), "NaN"),
    (lambda: diffusion_kernel([[0.0, 1.0], [1.0, 0.0]], 0.0), "beta must be greater than 0"),
    (lambda: NUMBERS(["7"]), "whole numbers such as 7; X holds '7' at row 0"),
    (lambda: NUMBERS([7.5]), "holds 7.5"),
    (lambda: Diffusion(SMALL).fit(["YAL1"]), "no row of X is a node .* named 'YAL1'"),
)


# --- the library around them -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kernel", [Diffusion(SMALL, 2.0), RegularizedLaplacian(SMALL), RandomWalk(SMALL, 0.2)]
)
def test_network_kernels_are_values(kernel):
    kernel(["a"])
    check_value(kernel)
    assert pickle.loads(pickle.dumps(kernel))(ROWS).tobytes() == kernel(ROWS).tobytes()
    assert dataclasses.replace(kernel, absent="error") != kernel
    assert kernel != type(kernel)(Network(EDGES[:3]))
    assert "network=<Network of 7 nodes and 5 edges>" in repr(kernel)


def test_pickles_are_without_what_was_computed(expanded):
    network = Network.from_adjacency(random_adjacency(np.random.default_rng(1), 60))
    kernel = Diffusion(network)
    before = len(pickle.dumps(kernel))
    kernel(network.nodes)
    assert len(pickle.dumps(kernel)) == before


def test_the_algebra_and_pairs_of_nodes():
    heat, walk = Diffusion(SMALL), RandomWalk(SMALL)
    mixed = 0.5 * (heat + walk) * heat**2
    H, W = heat(ROWS), walk(ROWS)
    np.testing.assert_allclose(mixed(ROWS), 0.5 * (H + W) * H**2)
    np.testing.assert_allclose(mixed.diag(ROWS), mixed(ROWS).diagonal())
    pairs = np.array([["a", "b"], ["b", "x"], ["c", "a"]])
    K, place = heat([*"abcx"]), {name: i for i, name in enumerate("abcx")}
    a, b = (np.array([place[name] for name in column]) for column in pairs.T)
    expected = K[np.ix_(a, a)] * K[np.ix_(b, b)] + K[np.ix_(a, b)] * K[np.ix_(b, a)]
    np.testing.assert_allclose(Pairwise(heat).fit(pairs)(pairs), expected)
    assert (heat + Linear()).is_psd

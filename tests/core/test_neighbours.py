"""Nearest neighbours and their votes, against the rule written out in Python."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from multikernel.core.neighbors import check_n_neighbors, kernel_distances, nearest, neighbour_votes
from tests.test_bad_input import refuses


def plain_vote(row, codes, k, order):
    """The rule for one point: by distance, then by the order; of the classes with most votes, the nearest."""
    rank = {point: place for place, point in enumerate(order)}
    neighbours = sorted(range(len(row)), key=lambda j: (row[j], rank[j]))[:k]
    counts = Counter(codes[j] for j in neighbours)
    most = max(counts.values())
    return neighbours, next(codes[j] for j in neighbours if counts[codes[j]] == most), counts


@st.composite
def tied_problems(draw):
    """Distances on a grid so coarse that most are tied."""
    n, n_new = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    levels = draw(st.integers(1, 4))
    cells = st.lists(st.integers(0, levels), min_size=n, max_size=n)
    rows = draw(st.lists(cells, min_size=n_new, max_size=n_new))
    codes = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    return np.array(rows, float), np.array(codes), draw(st.integers(1, n)), draw(st.integers(0, 50))


@given(tied_problems())
def test_neighbours_and_votes_follow_the_rule(problem):
    distances, codes, k, seed = problem
    order = np.random.default_rng(seed).permutation(len(codes)).tolist()
    found = nearest(distances, k, seed=seed)
    votes = neighbour_votes(distances, codes, k, seed=seed)
    for i, row in enumerate(distances):
        neighbours, winner, counts = plain_vote(row, codes, k, order)
        assert found[i].tolist() == neighbours
        assert votes.winners[i] == winner
        assert {c: int(m) for c, m in enumerate(votes.counts[i]) if m} == dict(counts)


def test_equal_distances_are_not_decided_by_the_order_of_the_classes():
    codes = np.repeat([0, 1], 50)
    wins = [neighbour_votes(np.zeros((1, 100)), codes, 1, seed=seed).winners[0] for seed in range(200)]
    assert 70 <= sum(wins) <= 130
    thirds = neighbour_votes(np.zeros((1, 100)), codes, 50, seed=0).counts[0]
    assert thirds.min() >= 15


def test_distances_of_a_kernel_order_points_as_their_features_do():
    rng = np.random.default_rng(2)
    F, F_new = rng.normal(size=(25, 4)), rng.normal(size=(6, 4))
    plain = ((F_new[:, None] - F[None]) ** 2).sum(axis=2)
    found = kernel_distances(F_new @ F.T, (F**2).sum(axis=1))
    np.testing.assert_allclose(2.0 * found + (F_new**2).sum(axis=1)[:, None], plain, atol=1e-12)
    assert np.isfinite(kernel_distances(np.array([[1.5e308]]), np.array([1.5e308]))).all()


def test_what_is_no_number_of_neighbours_is_refused():
    assert check_n_neighbors(3, 3) == 3
    with refuses("at most the number of labelled samples", "n_neighbors=4", "3 sample", "Lower it"):
        check_n_neighbors(4, 3)
    with refuses("n_neighbors must be a positive integer; got 0"):
        check_n_neighbors(0, 3)
    with refuses("n_neighbors must be a positive integer; got 1.5", error=TypeError):
        check_n_neighbors(1.5, 3)

"""From scores of pairs of classes to one class: the vote, and the walk through the graph."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.core.decisions import votes, walk


def graph(n_classes):
    """The decision graph as Platt et al. draw it: node (a, b) leads to (a, b − 1) or (a + 1, b)."""
    return {
        (a, b): {"not b": (a, b - 1), "not a": (a + 1, b)} for a, b in combinations(range(n_classes), 2)
    }  # a leaf is a pair of one class


def literal(row, n_classes):
    """The leaf that one sample reaches, and the classes in the order in which they were left out."""
    pairs = dict(zip(combinations(range(n_classes), 2), row, strict=True))
    nodes, node, lost = graph(n_classes), (0, n_classes - 1), []
    while node[0] != node[1]:
        a, b = node
        says = "not b" if pairs[node] >= 0 else "not a"
        lost.append(b if says == "not b" else a)
        node = nodes[node][says]
    return node[0], lost


@given(st.integers(0, 10**6), st.integers(2, 7))
def test_the_walk_ends_where_that_through_the_graph_ends(seed, n_classes):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(25, n_classes * (n_classes - 1) // 2)) * 10.0 ** rng.integers(-3, 4)
    scores[rng.random(scores.shape) < 0.1] = 0.0
    found = walk(scores, n_classes)
    for row, place in zip(scores, found, strict=True):
        leaf, lost = literal(row, n_classes)
        assert place.argmax() == leaf
        assert np.argsort(place).tolist() == [*lost, leaf]


@given(st.integers(0, 10**6), st.integers(2, 6))
def test_a_class_that_wins_all_its_pairs_is_found_by_both(seed, n_classes):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(10, n_classes * (n_classes - 1) // 2))
    best = rng.integers(n_classes)
    for column, (a, b) in enumerate(combinations(range(n_classes), 2)):
        if best in (a, b):
            scores[:, column] = np.abs(scores[:, column]) * (1.0 if a == best else -1.0)
    assert (walk(scores, n_classes).argmax(axis=1) == best).all()
    assert (votes(scores, n_classes).argmax(axis=1) == best).all()


@pytest.mark.parametrize(
    ("scores", "by_walk", "by_vote"), [([1.0, -5.0, 1.0], 1, 2), ([5.0, -1.0, 1.0], 1, 0)]
)
def test_a_circle_of_three_is_decided_by_the_order_in_one_and_by_the_sums_in_the_other(
    scores, by_walk, by_vote
):
    """0 beats 1, 1 beats 2, 2 beats 0."""
    assert walk(np.array([scores]), 3).argmax() == by_walk
    assert votes(np.array([scores]), 3).argmax() == by_vote

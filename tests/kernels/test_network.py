"""Networks from edges and adjacency matrices: what they hold, and what is refused."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from multikernel.kernels import Network
from tests.refusals import refused

NAMES = np.array(["ada", "bob", "cleo", "dan"])
PLACES = np.array([[0, 1], [2, 1], [3, 0]])
WEIGHTS = np.array([0.5, 2.0, 1.0])
ADJACENCY = np.array([[0, 0.5, 0, 1], [0.5, 0, 2, 0], [0, 2, 0, 0], [1, 0, 0, 0]])
FRAME = pd.DataFrame({"from": NAMES[PLACES[:, 0]], "to": NAMES[PLACES[:, 1]], "strength": WEIGHTS})


def triples():
    return [(str(a), str(b), float(w)) for (a, b), w in zip(NAMES[PLACES], WEIGHTS, strict=True)]


@pytest.mark.parametrize(
    "network",
    [
        Network(NAMES[PLACES], WEIGHTS),
        Network(NAMES[PLACES].astype(object), WEIGHTS.astype(np.float32)),
        Network(triples()),
        Network([list(edge) for edge in triples()]),
        Network(edge for edge in triples()),
        Network([edge[:2] for edge in triples()], list(WEIGHTS)),
        Network(FRAME),
        Network(FRAME.astype({"from": "category", "to": "string"})),
        Network(FRAME[["to", "from"]], FRAME["strength"], nodes=NAMES),
        Network(triples()[::-1], nodes=list(NAMES)),
        Network([*triples(), ("cleo", "bob", 2.0), ("dan", "dan", 7.0), ("ada", "cleo", 0.0)]),
        Network.from_adjacency(ADJACENCY, NAMES),
        Network.from_adjacency(ADJACENCY.tolist(), list(NAMES)),
        Network.from_adjacency(ADJACENCY + np.eye(4), NAMES),
        Network.from_adjacency(scipy.sparse.csc_matrix(ADJACENCY), NAMES),
        Network.from_adjacency(scipy.sparse.coo_array(ADJACENCY), NAMES),
        Network.from_adjacency(pd.DataFrame(ADJACENCY, NAMES, NAMES)),
    ],
)
def test_one_network_in_many_forms(network):
    assert network == Network(NAMES[PLACES], WEIGHTS) and hash(network) == hash(Network(triples()))
    assert network.nodes.tolist() == NAMES.tolist() and len(network) == 4
    assert network.pairs.tolist() == [[0, 1], [0, 3], [1, 2]] and network.weights.tolist() == [0.5, 1.0, 2.0]
    np.testing.assert_array_equal(network.adjacency.toarray(), ADJACENCY)
    assert repr(network) == "<Network of 4 nodes and 3 edges>"
    assert "cleo" in network and "eve" not in network and 0 not in network


def test_nodes_may_be_numbers_and_without_edges():
    for edges in (
        PLACES,
        PLACES.astype(float),
        PLACES.astype(np.uint8),
        PLACES.tolist(),
        PLACES.astype(object),
    ):
        network = Network(edges, nodes=[3, 2, 1, 0, -7])
        assert network.nodes.tolist() == [3, 2, 1, 0, -7] and network.nodes.dtype == np.int64
        assert network.pairs.tolist() == [[0, 3], [1, 2], [2, 3]] and -7 in network
    assert Network(np.column_stack([PLACES, WEIGHTS])).weights.tolist() == [0.5, 1.0, 2.0]
    assert Network(PLACES).weights.tolist() == [1.0, 1.0, 1.0]
    assert Network.from_adjacency(ADJACENCY).nodes.tolist() == [0, 1, 2, 3]
    lonely = Network([], nodes=["a", "b"])
    assert len(lonely) == 2 and lonely.pairs.shape == (0, 2) and lonely.adjacency.nnz == 0
    assert Network([("a", "a")]).nodes.tolist() == ["a"]


def test_it_is_not_modified_and_copies_are_itself():
    given_weights = WEIGHTS.copy()
    network = Network(NAMES[PLACES], given_weights)
    given_weights[0] = 9.0
    assert 9.0 not in network.weights
    for array in (network.nodes, network.pairs, network.weights, network.adjacency.data):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]
    with pytest.raises(AttributeError, match="a network cannot be modified; 'nodes'"):
        network.nodes = NAMES
    with pytest.raises(AttributeError, match="cannot be modified"):
        del network.weights
    assert copy.deepcopy(network) is network and copy.copy(network) is network
    network.spectrum(True)
    again = pickle.loads(pickle.dumps(network))
    assert again == network and again is not network and set(vars(again)) == {"nodes", "pairs", "weights"}
    assert network != Network(triples()[:2], nodes=NAMES) and network != 3


@given(st.integers(0, 10**6), st.integers(1, 9))
def test_part_of_a_network_is_part_of_its_matrix(seed, size):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.uniform(size=(9, 9)) * (rng.uniform(size=(9, 9)) < 0.4), 1)
    chosen = rng.permutation(9)[:size]
    names = np.array(list("abcdefghi"))
    part = Network.from_adjacency(upper + upper.T, names).subnetwork(names[chosen])
    np.testing.assert_array_equal(part.adjacency.toarray(), (upper + upper.T)[np.ix_(chosen, chosen)])
    assert part.nodes.tolist() == names[chosen].tolist()


test_what_is_no_network_is_refused = refused(
    (lambda: Network(3), TypeError, "edges must have two names"),
    (lambda: Network("ab"), TypeError, "edges must have two names"),
    (lambda: Network(scipy.sparse.eye_array(3)), TypeError, "edges must have two names"),
    (lambda: Network([("a", "b", -1.0)]), r"at least 0; 'a'–'b', edge 0, has -1.0"),
    (lambda: Network(NAMES[PLACES], [1, np.nan, 1]), "'cleo'–'bob', edge 1, has nan"),
    (lambda: Network(PLACES, [1, 1, np.inf]), "3–0, edge 2, has inf"),
    (lambda: Network(PLACES, [1, 1]), r"one entry for each of 3 edges; got \(2,\)"),
    (lambda: Network(PLACES, ["x", "y", "z"]), "weights of edges must be numbers"),
    (lambda: Network([("a", "b", 1.0), ("b", "a", 2.0)]), "one weight; 'a'–'b' has 1 and 2. Combine"),
    (lambda: Network([("a", "b", 1e308), ("a", "c", 1e308)]), "edges of 'a' add up to infinity"),
    (lambda: Network([("a", None)]), "edge 0 has an end None"),
    (lambda: Network(pd.DataFrame({"a": ["x", "y"], "b": ["y", np.nan]})), "edge 1 has an end nan"),
    (lambda: Network([("a", "")]), "edge 0 has an end ''"),
    (lambda: Network([("a", "b"), ("b", 3)]), "all of one type; edge 1 has an end 3"),
    (lambda: Network([(1, 2), (2, 2.5)]), "edge 1 has an end 2.5"),
    (lambda: Network([(True, False)]), "edge 0 has an end True"),
    (lambda: Network([("a", "b"), ("a",)]), r"all of the same length; edge 1 is \('a',\)"),
    (lambda: Network(["ab", "bc"]), "edge 0 is 'ab'"),
    (lambda: Network([("a", "b", 1.0)], [1.0]), "third column already; leave out weights"),
    (lambda: Network(np.zeros((3, 4))), r"got shape \(3, 4\). Choose the columns"),
    (lambda: Network(FRAME.assign(more=1)), r"got shape \(3, 4\) with columns .*'more'"),
    (lambda: Network([]), "must have edges or nodes"),
    (lambda: Network([("a", "b")], nodes=["a"]), "'a'–'b', edge 0, has the end 'b', which is not"),
    (lambda: Network(PLACES, nodes=NAMES), r"edges name 0, nodes 'ada'. Where edges hold positions"),
    (lambda: Network(PLACES, nodes=[0, 1, 1, 2, 3]), "distinct; 1 occurs more than once"),
    (lambda: Network(PLACES, nodes=[]), "at least one name"),
    (lambda: Network(PLACES, nodes=[0, 1, 2, "x"]), "node 3 is 'x'"),
    (lambda: Network(PLACES).subnetwork([0, 9]), "must be nodes of the network; 9 is none"),
    (lambda: Network.from_adjacency([[0, 1], [2, 0]]), r"symmetric; got 1 at \(0, 1\) and 2 at \(1, 0\)"),
    (lambda: Network.from_adjacency([[0, 1]]), r"square, of at least one node; got \(1, 2\)"),
    (lambda: Network.from_adjacency([["a"]]), "an adjacency matrix must be a numeric array"),
    (lambda: Network.from_adjacency(1j * scipy.sparse.eye_array(2)), "must hold real numbers"),
    (lambda: Network.from_adjacency([[0, 1], [np.nan, 0]]), r"got 1 at \(0, 1\) and nan at \(1, 0\)"),
    (lambda: Network.from_adjacency([[0, -2], [-2, 0]], ["a", "b"]), "'a'–'b', edge 0, has -2.0"),
    (lambda: Network.from_adjacency([[0, np.nan], [np.nan, 0]]), r"symmetric; got nan at \(0, 1\)"),
    (lambda: Network.from_adjacency([[0, np.inf], [np.inf, 0]]), "0–1, edge 0, has inf"),
    (lambda: Network.from_adjacency(ADJACENCY, ["a"]), "name all 4 rows of the adjacency matrix; got 1"),
    (lambda: Network.from_adjacency(pd.DataFrame(ADJACENCY, NAMES)), "same names for rows and columns"),
)  # fmt: skip

"""Kernels of graphs: against grakel itself, against plain counting, and from fit to file."""

from __future__ import annotations

import copy
import warnings
from collections import Counter

import grakel
import numpy as np
import pandas as pd
import pytest

from multikernel import KernelBank, MKLClassifier, load_model, save_model
from multikernel.doctor import diagnose
from multikernel.kernels import GraphKernel, Linear
from multikernel.kernels.expressions import parse_kernel
from multikernel.kernels.graphs import as_plain_graph
from tests.kernels.laws import check_laws, check_missing_library
from tests.refusals import refused


def draw(seed, n_graphs=12):
    """Random graphs with labels at nodes and edges, some of them in several pieces."""
    rng = np.random.default_rng(seed)
    graphs = []
    for _ in range(n_graphs):
        n = int(rng.integers(3, 8))
        pairs = [(a, b) for a in range(n) for b in range(a) if rng.random() < 0.4] or [(0, 1)]
        graphs.append((np.array(pairs), rng.integers(0, 3, n), rng.integers(0, 2, len(pairs))))
    return graphs


def as_grakel(graph):
    edges, nodes, marks = graph
    labels = {(int(a), int(b)): int(mark) for (a, b), mark in zip(edges, marks, strict=True)}
    labels |= {(b, a): mark for (a, b), mark in labels.items()}
    neighbours = {node: {} for node in range(len(nodes))}
    for a, b in labels:
        neighbours[a][b] = 1.0
    return grakel.Graph(neighbours, dict(enumerate(map(int, nodes))), labels)


TRAIN, TEST = draw(0), draw(1, 5)
SPECS = {
    GraphKernel("vertex_histogram"): ["vertex_histogram"],
    GraphKernel("EH"): ["edge_histogram"],
    GraphKernel("shortest_path", with_labels=False): [{"name": "SP", "with_labels": False}],
    GraphKernel("shortest_path"): ["shortest_path"],
    GraphKernel("random_walk", lamda=0.01): [{"name": "RW", "lamda": 0.01}],
    GraphKernel("pyramid_match"): ["PM"],
    GraphKernel("subgraph_matching", k=2): [{"name": "SM", "k": 2}],
    GraphKernel("NSPD", r=1, d=2): [{"name": "NSPD", "r": 1, "d": 2}],
    GraphKernel("WL-OA", n_iter=2): [{"name": "WL-OA", "n_iter": 2}],
    GraphKernel("weisfeiler_lehman", n_iter=3): [{"name": "WL", "n_iter": 3}, "vertex_histogram"],
    GraphKernel("WL", n_iter=1, base="SP"): [{"name": "WL", "n_iter": 1}, "shortest_path"],
    GraphKernel("core_framework", base=GraphKernel("WL", n_iter=1)): [
        "CORE",
        {"name": "WL", "n_iter": 1},
        "VH",
    ],
}


@pytest.mark.parametrize("kernel", SPECS, ids=repr)
def test_values_are_those_of_grakel_and_do_not_depend_on_the_other_graphs(kernel):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own
        peer = grakel.GraphKernel(SPECS[kernel], normalize=False, random_state=3)
        expected = peer.fit_transform(map(as_grakel, TRAIN)), peer.transform(map(as_grakel, TEST))
    K = check_laws(kernel.fit(TRAIN), TRAIN, expected[0], rtol=1e-12)
    np.testing.assert_allclose(kernel(TEST, TRAIN), expected[1], rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(TEST), kernel(TEST).diagonal(), rtol=1e-12)
    np.testing.assert_allclose(kernel(TEST, TRAIN[3:6]), expected[1][:, 3:6], rtol=1e-12)
    np.testing.assert_allclose(kernel(TRAIN[:4], TRAIN), K[:4], rtol=1e-9)


def plain_histograms(graphs, n_iter):
    """How often each label, and each tree of neighbours up to n_iter steps away, occurs in each graph."""
    counted = []
    for edges, nodes, _ in graphs:
        near = {node: [] for node in range(len(nodes))}
        for a, b in edges.tolist():
            near[a].append(b)
            near[b].append(a)
        trees = [str(label) for label in nodes]
        counts = Counter((0, tree) for tree in trees)
        for step in range(1, n_iter + 1):
            trees = [f"({tree}:{sorted(trees[b] for b in near[a])})" for a, tree in enumerate(trees)]
            counts.update((step, tree) for tree in trees)
        counted.append(counts)
    return counted


@pytest.mark.parametrize("n_iter", [0, 1, 3])
def test_labels_and_neighbourhoods_are_counted(n_iter):
    kernel = GraphKernel("WL", n_iter=n_iter) if n_iter else GraphKernel("vertex_histogram")
    left, right = plain_histograms(TEST, n_iter), plain_histograms(TRAIN, n_iter)
    expected = [[sum(x[tree] * z[tree] for tree in x) for z in right] for x in left]
    assert np.array_equal(kernel(TEST, TRAIN), expected)
    assert np.array_equal(kernel.diag(TEST), [sum(count**2 for count in x.values()) for x in left])


class FakeGraph:
    """As much of a graph of networkx as is asked for."""

    __module__, __qualname__ = "networkx.classes.graph", "Graph"

    def __init__(self, graph, directed=False):
        edges, nodes, marks = graph
        self._nodes = [(f"node {i}", {"label": int(label)}) for i, label in enumerate(nodes)]
        self._edges = [
            (f"node {a}", f"node {b}", {"label": int(m)}) for (a, b), m in zip(edges, marks, strict=True)
        ]
        self.directed = directed

    def nodes(self, data):
        return self._nodes

    def edges(self, data):
        return self._edges

    def is_directed(self):
        return self.directed

    def is_multigraph(self):
        return False

    def __len__(self):
        return len(self._nodes)

    def __getitem__(self, node):
        raise KeyError(node)


FakeGraph.__name__ = "Graph"


def test_all_forms_of_a_graph_are_read_alike(tmp_path):
    kernel = GraphKernel("WL", n_iter=2, base="EH")
    K = kernel(TRAIN)
    both = [(np.vstack([e, e[:, ::-1]]), n, np.concatenate([m, m])) for e, n, m in TRAIN]
    texts = [([list(map(int, pair)) for pair in e], list(n), list(m)) for e, n, m in TRAIN]
    named = [
        (
            [(f"v{a}", f"v{b}") for a, b in e],
            {f"v{i}": label for i, label in enumerate(n)},
            {(f"v{b}", f"v{a}"): m for (a, b), m in zip(e, marks, strict=True)},
        )
        for e, n, marks in TRAIN
    ]
    foreign = [list(map(FakeGraph, TRAIN)), list(map(as_grakel, TRAIN))]
    y = np.arange(len(TRAIN)) % 2
    before = copy.deepcopy(both)
    for graphs in (both, texts, named, pd.Series(TRAIN), pd.DataFrame({"g": TRAIN}), *foreign):
        assert np.array_equal(kernel(graphs), K)
    assert repr(both) == repr(before)
    for graphs in (named, pd.DataFrame({"g": TRAIN}), *foreign):
        model = MKLClassifier([("wl", kernel, None, "unit_diagonal")]).fit(graphs, y)
        save_model(model, tmp_path / "model.skops")
        loaded = load_model(tmp_path / "model.skops")
        assert np.array_equal(loaded.decision_function(graphs), model.decision_function(graphs))


def test_labels_may_be_left_out():
    bare = [(edges,) for edges, _, _ in TRAIN]
    sizes = [int(edges.max()) + 1 for edges, _, _ in TRAIN]
    assert np.array_equal(GraphKernel("VH")(bare), np.outer(sizes, sizes))
    counts = [len(edges) for edges, _, _ in TRAIN]
    assert np.array_equal(GraphKernel("EH")(bare), 4.0 * np.outer(counts, counts))  # in both directions
    lonely = ([], ["a", "b"])
    assert GraphKernel("VH")([lonely])[0, 0] == 2.0
    assert as_plain_graph(lonely).edges == []


def test_models_of_graphs_beside_numbers():
    graphs = draw(5, 40)
    y = np.array([int((nodes == 0).sum() > (nodes == 1).sum()) for _, nodes, _ in graphs])
    X = pd.DataFrame({"graph": graphs, "noise": np.random.default_rng(0).normal(size=40)})
    views = [
        ("paths", GraphKernel("SP", with_labels=False), "graph", "unit_diagonal"),
        ("labels", GraphKernel("VH"), ["graph"], "unit_diagonal"),
        ("noise", Linear(), ["noise"]),
    ]
    model = MKLClassifier(views, C=10.0).fit(X[:30], y[:30])
    assert model.score(X[30:], y[30:]) >= 0.8
    assert model.weights_frame()["weight"].idxmax() == "labels"
    assert diagnose(X, y, views).ok
    Ks = KernelBank(views).fit(X[:30]).transform(X[30:])
    K, D = GraphKernel("VH")(graphs[30:], graphs[:30]), GraphKernel("VH").diag
    np.testing.assert_allclose(Ks[:, :, 1], K / np.sqrt(np.outer(D(graphs[30:]), D(graphs[:30]))), rtol=1e-12)


def test_objects_of_grakel_are_read_for_their_parameters():
    for given, kernel in [
        (grakel.VertexHistogram(), GraphKernel("vertex_histogram", sparse="auto")),
        (grakel.GraphKernel([{"name": "WL", "n_iter": 2}, "EH"]), GraphKernel("WL", n_iter=2, base="EH")),
        (grakel.WeisfeilerLehman(n_iter=4), GraphKernel("WL", n_iter=4)),
        (
            grakel.WeisfeilerLehman(
                n_iter=2, base_graph_kernel=(grakel.ShortestPath, {"with_labels": False})
            ),
            GraphKernel("WL", n_iter=2, base=GraphKernel("SP", with_labels=False)),
        ),
    ]:
        assert GraphKernel(given) == kernel
        assert np.array_equal(GraphKernel(given)(TRAIN), kernel(TRAIN))
    assert (
        repr(GraphKernel(grakel.WeisfeilerLehman(n_iter=4))) == "GraphKernel('weisfeiler_lehman', n_iter=4)"
    )
    for kernel in SPECS:
        if kernel.kernel != "core_framework":
            assert parse_kernel(repr(kernel)) == kernel


test_what_cannot_be_done_is_named = refused(
    (lambda: GraphKernel("weisfeler_lehman"), r"'weisfeler_lehman'\. Did you mean 'weisfeiler_lehman'"),
    (lambda: GraphKernel(3), TypeError, "must be a name or an object of grakel; got 3"),
    (lambda: GraphKernel()([([(0, 1)], ["C", "O"]), None]), "has none at row 1: .*missing='complete'"),
    (lambda: GraphKernel("PR"), r"'PR': its values depend on chance .* kernels=\"precomputed\""),
    (lambda: GraphKernel(grakel.Propagation()), "cannot use Propagation"),
    (lambda: GraphKernel("WL", normalize=True), r"takes no normalize\. .*normalize=\"diagonal\""),
    (lambda: GraphKernel(grakel.VertexHistogram(normalize=True)), "needs normalize=False"),
    (lambda: GraphKernel("VH", base="SP"), "'vertex_histogram' has none"),
    (lambda: GraphKernel(grakel.VertexHistogram(), base="SP"), "an object of grakel has its own"),
    (lambda: GraphKernel("WL", depth=3)(TRAIN), r"GraphKernel\('weisfeiler_lehman', depth=3\) cannot be"),
    (lambda: GraphKernel("VH")([TRAIN[0], 3]), r"at row 1: a graph is a tuple .*; got int 3"),
    (lambda: GraphKernel("VH")([([(0, 1, 2)], [1])]), r"row 0: its edges must be pairs .* \(0, 1, 2\)"),
    (lambda: GraphKernel("VH")([([(0, 4)], [1, 2])]), r"there are 2; one goes to 4"),
    (lambda: GraphKernel("VH")([([], [])]), "at least one node"),
    (lambda: GraphKernel("VH")([([(0, 1)], [1, 1], [1, 2])]), "got 2 for 1 edges"),
    (lambda: GraphKernel("VH")([([(0, 1)], [1, 1], {(0, 2): 1})]), r"edge \(0, 1\) has none"),
    (lambda: GraphKernel("VH")([([(0, 1), (1, 0)], [1, 1], [1, 2])]), "has two labels, 1 and 2"),
    (lambda: GraphKernel("VH")([FakeGraph(TRAIN[0], directed=True)]), r"networkx.Graph\(graph\)"),
    (lambda: GraphKernel("VH")(pd.DataFrame({"a": TRAIN, "b": TRAIN})), "GraphKernel reads one column"),
)


def test_without_grakel_the_extra_is_named(monkeypatch):
    kernel = GraphKernel("WL", n_iter=2)
    check_missing_library(monkeypatch, "grakel", "graphs", lambda: kernel.fit(TRAIN), lambda: kernel(TRAIN))


@pytest.mark.parametrize("name", ["edge_histogram", "neighborhood_subgraph_pairwise_distance"])
def test_graphs_without_edges_are_named_where_edges_are_read(name):
    whole, bare = ([(0, 1), (1, 2)], ["C", "C", "O"], ["s", "d"]), ([], ["C", "O"])
    with pytest.raises(ValueError, match=r"needs graphs with edges; .* that has none, at row 1\."):
        GraphKernel(name)([whole, bare])
    with pytest.raises(ValueError, match=r"that has none, at row 0\."):
        GraphKernel(name)([bare], [whole])
    assert GraphKernel("shortest_path")([whole, bare])[0, 1] == 0.0

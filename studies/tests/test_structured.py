"""Experiments on structured data: nothing is chosen on a test half, scores are those of plain machines."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from multikernel import MKLClassifier
from multikernel.core.fitted import prediction_cost
from multikernel.inspection import f_test_5x2cv
from multikernel.kernels import Linear, Precomputed, diffusion_kernel, unit_diagonal
from multikernel.views import View
from studies import run_table
from studies.structured import STUDY, graphs, pairs, sequences, vectors, yeast
from studies.structured import protocol as p
from studies.structured import tables as t

pytestmark = pytest.mark.thorough


def toy_sample(n=60, classes=2, costs=None, seed=0):
    """Two views that tell the classes, the first one better, and one of noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    views = [2.0, 1.2, 0.0]
    X = np.hstack([rng.normal(size=(n, 3)) + strength * np.eye(3)[y] for strength in views])
    names = ("good", "fair", "noise")
    columns = [slice(3 * i, 3 * i + 3) for i in range(3)]
    return p.Sample(
        X, y, [View(name, Linear(), part) for name, part in zip(names, columns, strict=True)], costs
    )


def toy_problem(sample, scores=("accuracy",)):
    return p.Problem("toy", "a toy", lambda: sample, (), scores)


def halves(sample, repetition):
    return p.stratified_folds(sample.X, sample.y, 2, p.SEED + repetition)


def plain_kernels(sample, train, test):
    """The kernels of the protocol in plain NumPy."""
    made = []
    for view in sample.views:
        rows = sample.X[:, view.columns]
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows - rows[train].mean(axis=0)
        rows = rows / np.sqrt(np.mean(np.sum(rows[train] ** 2, axis=1)))
        made.append((rows[train] @ rows[train].T, rows[test] @ rows[train].T))
    return [K for K, _ in made], [K for _, K in made]


def plain_choice(K, y, score):
    """The C of the best mean score over three folds, the smallest of equals, and that score."""
    folds = list(StratifiedKFold(3, shuffle=True, random_state=p.SEED).split(np.zeros(len(y)), y))
    means = []
    for C in p.GRID:
        found = []
        for a, b in folds:
            machine = SVC(kernel="precomputed", C=C, tol=1e-6).fit(K[np.ix_(a, a)], y[a])
            found.append(score(machine, K[np.ix_(b, a)], y[b]))
        means.append(np.mean(found))
    best = int(np.argmax(means))
    return p.GRID[best], means[best]


def accuracy(machine, K, y):
    return machine.score(K, y)


def roc_area(machine, K, y):
    return roc_auc_score(y, machine.decision_function(K))


@pytest.mark.parametrize(("scoring", "score"), [("accuracy", accuracy), ("roc_auc", roc_area)])
def test_single_kernels_and_the_sum_are_those_of_plain_machines(scoring, score, monkeypatch):
    # to the end, so that points are in the same order of scores
    monkeypatch.setattr(p, "MKLClassifier", partial(MKLClassifier, tol=1e-9))
    sample = toy_sample()
    found = p.compute_fold(toy_problem(sample, (scoring,)), 2, 1)
    train, test = halves(sample, 2)[1]
    Ks, Ks_test = plain_kernels(sample, train, test)
    kernels = dict(
        zip(["single:good", "single:fair", "single:noise"], zip(Ks, Ks_test, strict=True), strict=True)
    )
    kernels["sum"] = np.mean(Ks, axis=0), np.mean(Ks_test, axis=0)
    inner = {}
    for key, (K, K_test) in kernels.items():
        C, inner[key] = plain_choice(K, sample.y[train], score)
        assert found["C"][key] == C, key
        machine = SVC(kernel="precomputed", C=C, tol=1e-6).fit(K, sample.y[train])
        assert found["scores"][key][scoring] == pytest.approx(score(machine, K_test, sample.y[test])), key
    assert found["chosen"] == max(list(kernels)[:3], key=lambda key: inner[key])
    assert found["unsettled"] == []


def test_learned_weights_are_shares_and_find_the_view_that_tells_the_classes():
    found = p.compute_fold(toy_problem(toy_sample(120, 3)), 0, 0)
    for weights in found["weights"].values():
        assert sum(weights) == pytest.approx(1.0)
        assert weights[0] > weights[1] > weights[2] >= 0.0
    assert found["weights"]["learned2"][2] > found["weights"]["learned"][2]
    assert found["scores"]["learned"]["accuracy"] > found["scores"]["single:noise"]["accuracy"]


def test_labels_of_the_test_half_decide_nothing():
    sample = toy_sample()
    train, test = halves(sample, 0)[0]
    y = sample.y.copy()
    y[test] = 1 - y[test]
    found = p.compute_fold(toy_problem(sample), 0, 0)
    turned = replace(toy_problem(replace(sample, y=y)), halve=lambda *given: [(train, test)])
    other = p.compute_fold(turned, 0, 0)
    assert {key: other[key] for key in ("C", "weights", "chosen")} == {
        key: found[key] for key in ("C", "weights", "chosen")
    }
    for key, score in found["scores"].items():
        assert other["scores"][key]["accuracy"] == pytest.approx(1.0 - score["accuracy"])


def test_costs_are_measured_for_all_and_known_to_one():
    costs = np.array([4.0, 1.0, 1.0])
    found = p.compute_fold(toy_problem(toy_sample(costs=costs)), 0, 0)
    assert found["weights"]["costs"][0] < found["weights"]["learned"][0]
    assert found["cost"]["costs"] < found["cost"]["learned"]
    sample = toy_sample()
    train, test = halves(sample, 0)[0]
    K = np.mean(plain_kernels(sample, train, test)[0], axis=0)
    machine = SVC(kernel="precomputed", C=found["C"]["sum"], tol=1e-6).fit(K, sample.y[train])
    assert found["cost"]["sum"] == pytest.approx(len(machine.support_) / len(train))
    model = p.Contender(np.eye(3)[:1]).fit(
        np.array(plain_kernels(sample, train, test)[0]), sample.y[train], 1.0
    )
    assert prediction_cost(np.eye(3)[:1], model.dual_coef_, costs) == pytest.approx(
        4 / 6 * len(model.support_)
    )


def test_halves_are_two_parts_of_all_points():
    y = np.repeat([0, 1], [40, 10])
    for draw in (p.stratified_folds, p.plain_folds):
        (a, b), (c, d) = draw(None, y, 2, 7)
        np.testing.assert_array_equal(np.sort(np.concatenate([a, b])), np.arange(50))
        np.testing.assert_array_equal(a, d)
        np.testing.assert_array_equal(b, c)
        assert not np.array_equal(draw(None, y, 2, 8)[0][0], a)
    assert y[p.stratified_folds(None, y, 2, 7)[0][0]].sum() == 5
    first, other = (p.plain_folds(None, labels, 2, 7)[0][0] for labels in (y, y[::-1]))
    np.testing.assert_array_equal(first, other)


def test_a_sample_keeps_the_shares_of_the_classes():
    y = np.repeat([0, 1, 2], [300, 100, 20])
    kept = p.sample_rows(y, 210)
    np.testing.assert_array_equal(np.bincount(y[kept]), [150, 50, 10])
    np.testing.assert_array_equal(kept, p.sample_rows(y, 210))
    np.testing.assert_array_equal(p.sample_rows(y, 1000), np.arange(420))


# --- pages -------------------------------------------------------------------------------------------------


def toy_result(good, fair, learned, chosen, weights=(0.5, 0.5)):
    scores = {"single:good": good, "single:fair": fair, "sum": 0.7, "learned": learned, "learned2": 0.7}
    return {
        "scores": {key: {"accuracy": value} for key, value in scores.items()},
        "C": dict.fromkeys(scores, 1.0),
        "weights": {"learned": list(weights), "learned2": [0.5, 0.5]},
        "unsettled": ["learned2"] if chosen == "single:fair" else [],
        "chosen": chosen,
    }


def toy_results(n_folds=10):
    rng = np.random.default_rng(1)
    learned = 0.8 + 0.01 * rng.random(n_folds)
    return [
        toy_result(0.6, 0.5, float(learned[i]), "single:good" if i % 5 else "single:fair", (0.9, 0.1))
        for i in range(n_folds)
    ]


def test_rows_of_a_problem():
    group = toy_results()
    rows = {row["labels"]["kernel"]: row for row in t.problem_rows(toy_problem(None), group)}
    assert list(rows) == ["good", "fair", *(t.METHODS[key] for key in ("best", "sum", "learned", "learned2"))]
    best, learned = rows[t.METHODS["best"]], rows[t.METHODS["learned"]]
    assert best["values"]["accuracy"]["mean"] == pytest.approx(0.8 * 60 + 0.2 * 50)
    assert [rows[name]["values"]["chosen"]["mean"] for name in ("good", "fair")] == [8, 2]
    assert rows["good"]["values"]["weight_learned"]["mean"] == pytest.approx(0.9)
    assert rows["good"]["remark"] == "best single in hindsight"
    scores = 100.0 * np.array([result["scores"]["learned"]["accuracy"] for result in group]).reshape(5, 2)
    expected = f_test_5x2cv(scores, np.full((5, 2), 70.0)).pvalue
    assert learned["values"]["p_sum"]["mean"] == pytest.approx(expected)
    assert expected < 0.05
    assert learned["remark"].startswith("★ better than plain sum")
    assert "not solved to tolerance on 2 of 10 folds" in rows[t.METHODS["learned2"]]["remark"]
    assert rows[t.METHODS["learned2"]]["values"]["p_sum"]["mean"] == 1.0


def test_there_is_no_test_of_fewer_repetitions():
    rows = t.problem_rows(toy_problem(None), toy_results(4))
    assert all(
        value["mean"] is None for row in rows for key, value in row["values"].items() if key[:2] == "p_"
    )


def compute_toy(problem, repetition, fold):
    return p.compute_fold(toy_problem(toy_sample()), repetition, fold)


def test_a_run_is_resumed_and_written(tmp_path):
    problems = {"toy": toy_problem(toy_sample())}
    table = t.make_table("toy", "a toy", problems, compute_toy, data=())
    summary = run_table(STUDY, table, folder=tmp_path, splits=1)
    page = (tmp_path / "own-toy.md").read_text(encoding="utf-8")
    assert page.startswith("# An experiment of our own: Structured data: a toy\n")
    assert "| kernel | accuracy, % (s.e.) | chosen (s.e.) | weight, norm 1 (s.e.) |" in page
    stored = (tmp_path / "own-toy.jsonl").read_text(encoding="utf-8")
    assert stored.count("\n") >= 2
    assert run_table(STUDY, table, folder=tmp_path, splits=1) == summary
    assert (tmp_path / "own-toy.jsonl").read_text(encoding="utf-8") == stored


# --- loaders -----------------------------------------------------------------------------------------------


@pytest.fixture
def fresh():
    """Nothing of other data is remembered, before or after."""
    loaders = (
        vectors.load_linear,
        graphs.load_graphs,
        pairs.load_pairs,
        sequences.load_dna,
        sequences.load_proteins,
        yeast.kernels_of_sample,
    )
    for loader in loaders:
        loader.cache_clear()
    yield
    for loader in loaders:
        loader.cache_clear()


def test_linear_views_are_inner_products_of_the_rows_that_were_drawn(data_folder, fresh):
    rng = np.random.default_rng(0)
    views = {"view_a": rng.integers(0, 5, (40, 6)).astype(np.uint8), "view_b": rng.normal(size=(40, 3))}
    y = np.repeat([0, 1], 20)
    data_folder(texts=views | {"y": y})
    sample = vectors.load_linear("texts", 20)
    kept = p.sample_rows(y, 20)
    assert [view.name for view in sample.views] == ["a", "b"]
    for view, table in zip(sample.views, views.values(), strict=True):
        rows = table[kept].astype(float)
        assert isinstance(view.kernel, Precomputed)
        np.testing.assert_allclose(view.kernel(sample.X, sample.X), rows @ rows.T)
    np.testing.assert_array_equal(sample.y, y[kept])


def test_gaussian_views_leave_out_what_cannot_be_learned_from(data_folder):
    rng = np.random.default_rng(0)
    a = rng.normal(size=(25, 4))
    a[:, 2] = 1.0
    y = np.repeat([0, 1, 2], [11, 9, 5])
    data_folder(omics={"view_a": a, "y": np.zeros(25, int), "y_other": y})
    sample = vectors.load_gaussian("omics", "y_other")
    np.testing.assert_array_equal(sample.y, y[:20])
    assert sample.views[0].columns == ["a:0", "a:1", "a:3"]
    assert np.shape(sample.X) == (20, 4)


def test_columns_that_say_the_class_are_left_out(data_folder):
    rng = np.random.default_rng(0)
    data_folder(
        omics={"view_a": rng.normal(size=(20, 3)), "names_a": ["x", "y", "z"], "y": np.arange(20) % 2}
    )
    assert vectors.load_gaussian("omics", "y", ("a:y",)).views[0].columns == ["a:x", "a:z"]


def test_sequences_are_compared_by_the_letters_that_they_have(data_folder, fresh):
    rng = np.random.default_rng(0)
    dna = ["".join(rng.choice(list("acgt"), 12)) for _ in range(8)]
    proteins = ["".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), 90)) for _ in range(8)]
    text = np.frombuffer("\n".join(proteins).encode(), dtype=np.uint8)
    y = np.arange(8) % 2
    data_folder(
        promoters={"sequences": np.array(dna), "y": y}, multiloc_sequences={"sequences_utf8": text, "y": y}
    )
    sample = sequences.load_dna("promoters", 100)
    kernels = {view.name: view.kernel(sample.X, sample.X) for view in sample.views}
    assert list(kernels) == list(sequences.DNA)
    words = sorted({string[i : i + 3] for string in dna for i in range(10)})
    counts = np.array([[sum(s[i : i + 3] == w for i in range(10)) for w in words] for s in dna], dtype=float)
    np.testing.assert_allclose(kernels["spectrum, 3 letters"], counts @ counts.T)
    sample = sequences.load_proteins()
    kernels = {view.name: view.kernel(sample.X, sample.X) for view in sample.views}
    letters = sorted(set("".join(proteins)))
    for name, strings in {"whole": proteins, "first 60": [string[:60] for string in proteins]}.items():
        counts = np.array([[string.count(letter) for letter in letters] for string in strings], dtype=float)
        np.testing.assert_allclose(kernels[f"{name}, 1 letter"], counts @ counts.T)


def test_graphs_are_cut_out_of_all_nodes_and_compared(data_folder, fresh):
    rng = np.random.default_rng(0)
    sizes = rng.integers(3, 7, 12)
    graph_id = np.repeat(np.arange(12), sizes)
    starts = np.cumsum(sizes) - sizes
    one_way = np.array([(a + i, a + i + 1) for a, n in zip(starts, sizes, strict=True) for i in range(n - 1)])
    labels = rng.integers(0, 3, len(graph_id))
    edges = np.vstack([one_way, one_way[:, ::-1]])
    y = np.arange(12) % 2
    data_folder(graphs_toy={"graph_id": graph_id, "edges": edges, "node_label": labels, "y": y})
    sample = graphs.load_graphs("graphs_toy")
    kernels = {view.name: view.kernel(sample.X, sample.X) for view in sample.views}
    assert list(kernels) == list(graphs.KERNELS)
    counts = np.array([np.bincount(labels[graph_id == i], minlength=3) for i in range(12)], dtype=float)
    np.testing.assert_allclose(kernels["labels of nodes"], counts @ counts.T)
    # one step: pairs of nodes with equal labels count once more if their neighbours have the same ones
    around = [tuple(sorted(labels[one] for a, one in edges if a == node)) for node in range(len(labels))]
    known = [(int(label), near) for label, near in zip(labels, around, strict=True)]
    same = np.array([[one == other for other in known] for one in known])
    member = (graph_id == np.arange(12)[:, np.newaxis]).astype(float)
    np.testing.assert_allclose(kernels["neighbours, 1 step"], counts @ counts.T + member @ same @ member.T)


def test_pairs_are_products_of_both_sides(data_folder, fresh):
    rng = np.random.default_rng(0)
    Y = (rng.random((12, 9)) < 0.3).astype(np.uint8)
    A, B, C = (rng.normal(size=(n, 3)) for n in (12, 12, 9))
    data_folder(dti={"Y": Y, "K_drug_a": A @ A.T, "K_drug_b": B @ B.T, "K_target_c": C @ C.T})
    sample = pairs.load_pairs("dti")
    drug, target = sample.X.astype(int).T
    np.testing.assert_array_equal(sample.y, Y[drug, target])
    assert len(sample.y) == 4 * Y.sum() or len(sample.y) == Y.size
    drugs, targets = [unit_diagonal(A @ A.T), unit_diagonal(B @ B.T)], unit_diagonal(C @ C.T)
    expected = {
        "drug a": (drugs[0], targets),
        "drug b": (drugs[1], targets),
        "target c": (np.mean(drugs, axis=0), targets),
    }
    assert [view.name for view in sample.views] == list(expected)
    for view in sample.views:
        left, right = expected[view.name]
        K = left[np.ix_(drug, drug)] * right[np.ix_(target, target)]
        np.testing.assert_allclose(view.kernel(sample.X, sample.X), K, atol=1e-9)
    for column, side in enumerate(("left", "right")):
        for train, test in pairs.new_objects(side, sample.X, sample.y, 2, 5):
            assert not set(sample.X[train, column]) & set(sample.X[test, column])


def test_networks_of_yeast_are_joined_by_the_names_of_proteins(data_folder, fresh, monkeypatch):
    rng = np.random.default_rng(0)
    names = np.array([f"P{i:02d}" for i in range(30)])
    order = rng.permutation(30)[:26]  # the second network has other proteins, in another order
    edges = np.array([(i, j) for i in range(30) for j in range(i) if rng.random() < 0.2])
    others = np.array([(i, j) for i in range(26) for j in range(i) if rng.random() < 0.5])
    Y = (rng.random((30, len(yeast.CLASSES))) < 0.5).astype(np.uint8)
    shared = {"label_names": np.array(list(yeast.CLASSES))}
    data_folder(
        yeast_string={"protein_ids": names, "edges": edges, "weights": np.ones(len(edges)), "Y": Y} | shared,
        yeast_biogrid={"protein_ids": names[order], "edges": others, "weights": np.ones(len(others))}
        | shared,
    )
    monkeypatch.setattr(yeast, "N_PROTEINS", 20)
    kernels, costs, labels = yeast.kernels_of_sample()
    sample = yeast.load_class("10")
    assert list(kernels) == [view.name for view in sample.views] == yeast.KERNELS
    np.testing.assert_allclose(costs, np.repeat([len(edges), len(others)], 4) / min(len(edges), len(others)))
    drawn = np.sort(np.random.default_rng(p.SEED).permutation(26)[:20])
    proteins = np.sort(names[order])[drawn]
    places = [names.tolist().index(name) for name in proteins]
    np.testing.assert_array_equal(labels["10"], Y[places, list(yeast.CLASSES).index("10")])
    places = [names[order].tolist().index(name) for name in proteins]
    A = np.zeros((26, 26))
    A[others[:, 0], others[:, 1]] = A[others[:, 1], others[:, 0]] = 1.0
    expected = diffusion_kernel(A, 3.0)[np.ix_(places, places)]
    np.testing.assert_allclose(kernels["BioGRID, diffusion 3"], expected, atol=1e-10)


def yeast_result(scores):
    contenders = [*(f"single:{name}" for name in yeast.KERNELS), "sum", "learned", "learned2", "costs"]
    return {
        "scores": {key: {"roc_auc": score} for key, score in zip(contenders, scores, strict=True)},
        "weights": {key: [0.125] * 8 for key in contenders[-3:]},
        "cost": dict.fromkeys(contenders, 0.5),
        "chosen": contenders[2],
    }


def test_rows_of_yeast_have_classes_and_their_mean():
    units = yeast.TABLE.units(5)[:20]
    scores = np.random.default_rng(0).random((20, 12))
    results = [(unit, yeast_result(row)) for unit, row in zip(units, scores, strict=True)]
    rows = yeast.TABLE.rows(results)
    areas = [row for row in rows if row["section"] == "ROC area, %"]
    assert [row["labels"]["class"] for row in areas] == ["01 metabolism", "02 energy", "mean of the classes"]
    assert areas[0]["values"]["area_best"]["mean"] == pytest.approx(100.0 * scores[:10, 2].mean())
    assert areas[2]["values"]["area_sum"]["mean"] == pytest.approx(100.0 * scores[:, 8].mean())
    tests = [row for row in rows if row["section"].startswith("Learned against")]
    means = 100.0 * (scores[:10] + scores[10:]) / 2.0
    expected = f_test_5x2cv((means[:, 9] - means[:, 8]).reshape(5, 2)).pvalue
    assert tests[2]["values"]["p_learned_sum"]["mean"] == pytest.approx(expected)
    assert rows[-1]["values"]["cost_costs"]["mean"] == pytest.approx(50.0)


@pytest.mark.parametrize("key", ["fold", *vectors.OMICS, "3sources", "bbcsport_2view", "movies"])
def test_pages_say_how_many_points_and_classes_there_are(shared_data, key, fresh):
    problem = vectors.PROBLEMS[key]
    sample = problem.load()
    assert f" {len(sample.y)} " in problem.label
    assert f" {len(np.unique(sample.y))} " in problem.label.rpartition(",")[2]


def test_one_fold_of_a_tumour(shared_data):
    found = vectors.compute_vectors("tcga_breast", 0, 0)
    assert found == vectors.compute_vectors("tcga_breast", 0, 0)
    assert found["chosen"] in {"single:mrna", "single:mirna", "single:protein"}
    assert found["scores"]["learned"]["accuracy"] > 0.75

"""Table 5.6 and figures 2.2, 2.4 and 2.5 of Gönen (2010): costs that are searched on the protocol's folds."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import wilcoxon

from multikernel.datasets import make_gauss
from multikernel.mkl.classifier import MKLClassifier
from studies import get_study, plots, run_table
from studies.gonen2010 import protocol, search, surfaces
from studies.gonen2010.methods import Sample
from studies.gonen2010.uci import SETS, three_views

pytestmark = pytest.mark.thorough

STUDY = get_study("gonen2010")
PNG = b"\x89PNG"


@pytest.fixture(scope="module")
def searched():
    """GAUSS3, of 120 points, and two values of C: the problem, and what was found on split 0."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "N_TOY", 120)
        problem = replace(search.PROBLEMS["GAUSS3"], grid=(0.1, 10.0))
        patch.setattr(search, "PROBLEMS", {"GAUSS3": problem})
        return problem.load(0), search.compute_search("GAUSS3", 0)


def halves(sample):
    return [protocol.draw_fold(sample.y, 0, fold) for fold in range(10)]


def machines(sample, **options):
    """Of every pair of halves."""
    views = three_views(sample, standardize=False)
    return [
        MKLClassifier(views, **options).fit(sample.X[fold.training], sample.y[fold.training])
        for fold in halves(sample)
    ]


def percent(sample, models, part):
    rows = [getattr(fold, part) for fold in halves(sample)]
    return [100.0 * m.score(sample.X[r], sample.y[r]) for m, r in zip(models, rows, strict=True)]


# --- table 5.6 ---------------------------------------------------------------------------------------------


def test_all_methods_have_the_c_of_mkl_and_their_best_validation(searched):
    sample, found = searched
    assert sample.X.shape == (120, 2)
    validation = {C: np.mean(percent(sample, machines(sample, C=C), "validation")) for C in (0.1, 10.0)}
    C = max(validation, key=validation.get)
    assert len(set(validation.values())) == 2
    for method in search.LABELS:
        assert [entry["C"] for entry in found[method]["folds"]] == [[C]] * 10
    for method in ("rmkl", "emkl"):
        models = machines(sample, C=C, costs=10.0 ** np.array(found[method]["log_costs"]))
        for part in ("validation", "test"):
            ours = [entry[part][0] for entry in found[method]["folds"]]
            assert ours == pytest.approx(percent(sample, models, part), abs=1e-6)
        assert np.mean([entry["validation"] for entry in found[method]["folds"]]) >= validation[C] - 1e-9
        assert found[method]["log_costs"][0] == 0.0
    assert np.abs(found["rmkl"]["log_costs"]).max() <= 1.0 + 1e-9
    assert found["emkl"]["points"] == 11 and found["rmkl"]["points"] >= 6


def test_a_search_goes_by_the_validations_of_the_ten_pairs(searched):
    sample, found = searched
    C = found["emkl"]["folds"][0]["C"][0]
    model = search.PROBLEMS["GAUSS3"].methods["emkl"].build(sample, C)
    again = search._searched(model, sample, halves(sample))
    assert again == found["emkl"]
    mean = np.mean([entry["validation"][0] for entry in again["folds"]])
    assert 100.0 * model.best_score_ == pytest.approx(mean)
    assert model.cv_results_["mean_test_score"].max() > model.cv_results_["mean_test_score"].min()


def test_searched_weights_are_fixed_ones(searched):
    sample, found = searched
    weights = 10.0 ** np.array(found["rwkl"]["log_weights"])
    weights /= weights.sum()
    assert np.ptp(weights) > 0.0
    C = found["rwkl"]["folds"][0]["C"][0]
    models = machines(sample, C=C, norm=np.inf, costs=1.0 / np.sqrt(weights))
    np.testing.assert_allclose(models[0].kernel_weights_, weights, rtol=1e-6)
    ours = [entry["test"][0] for entry in found["rwkl"]["folds"]]
    assert ours == pytest.approx(percent(sample, models, "test"))


def test_the_table_has_a_row_for_each_search(searched):
    table = STUDY.table("5.6")
    units = [unit for unit in table.units(2) if unit.arguments["problem"] == "GAUSS3"]
    other = copy.deepcopy(searched[1])
    other["rmkl"]["log_costs"] = [0.0, 0.5, -1.0]
    for entry in other["rmkl"]["folds"]:
        entry["test"] = [99.0]
    results = [searched[1], other]
    rows = {row["labels"]["method"]: row for row in table.rows(list(zip(units, results, strict=True)))}
    assert list(rows) == list(search.LABELS.values())
    values = {label: row["values"] for label, row in rows.items()}
    for method, label in search.LABELS.items():
        tests = [[entry["test"][0] for entry in result[method]["folds"]] for result in results]
        assert values[label]["accuracy"]["mean"] == pytest.approx(np.mean(tests))
        assert values[label]["accuracy"]["published"] is None
        assert ("p" in values[label]) == (method != "mkl")
        assert ("log_costs" in values[label]) == (method in ("rmkl", "emkl"))
        assert ("log_weights" in values[label]) == (method == "rwkl")
    means = np.mean([result["rmkl"]["log_costs"] for result in results], axis=0)
    assert values[search.LABELS["rmkl"]]["log_costs"]["mean"] == pytest.approx(means)
    assert "★ better than MKL on 1 of 2 splits" in rows[search.LABELS["rmkl"]]["remark"]
    assert rows["l1 MKL"]["remark"].startswith("C = ")


def test_searches_are_tested_over_the_data_sets_without_the_toys(searched):
    table = STUDY.table("5.6")
    gains = np.arange(9.0) - 0.5
    results = []
    for unit in table.units(1):
        result = copy.deepcopy(searched[1])
        gain = dict(zip(SETS, gains, strict=True)).get(unit.arguments["problem"], -1e3)
        for method in search.SEARCHES:
            for entry, plain in zip(result[method]["folds"], result["mkl"]["folds"], strict=True):
                by = gain if method == "rmkl" else 0.0
                entry["test"], entry["support"] = [plain["test"][0] + by], [plain["support"][0] + by]
        results.append((unit, result))
    last = table.rows(results)[-6:]
    p = wilcoxon(gains, correction=False, method="approx").pvalue
    assert [row["labels"]["of"] for row in last] == ["accuracy", "support vectors"] * 3
    assert [row["labels"]["verdict, ours"] for row in last] == ["win", "loss", "tie", "tie", "tie", "tie"]
    assert [row["values"]["signed_rank"]["mean"] for row in last] == pytest.approx(
        [p, p, 1.0, 1.0, 1.0, 1.0], abs=0.01
    )
    assert last[0]["labels"]["sets better / equal / worse"] == "8 / 0 / 1"
    assert last[0]["labels"]["method"] == search.LABELS["rmkl"]


def test_data_sets_are_standardised_and_toys_are_not():
    for key, problem in search.PROBLEMS.items():
        for method in problem.methods.values():
            model = method.build(Sample(np.zeros((2, 2)), np.arange(2), {}), 0.5)
            assert [view.standardize for view in model.kernels] == [key not in search.TOYS] * 3
            assert [view.name for view in model.kernels] == ["linear", "quadratic", "Gaussian"]
            assert model.C == 0.5


# --- figures -----------------------------------------------------------------------------------------------


@pytest.fixture
def small_figures(monkeypatch):
    monkeypatch.setattr(surfaces, "N_TRAIN", 80)
    monkeypatch.setattr(surfaces, "N_TEST", 1000)
    monkeypatch.setattr(surfaces, "GRID", (1.0,))
    monkeypatch.setattr(surfaces, "REPEATS", 1)
    monkeypatch.setattr(plots, "_STEPS", 20)


def test_costs_take_the_weight_from_dear_kernels(small_figures, tmp_path):
    summary = run_table(STUDY, STUDY.figure("2.2"), folder=tmp_path, splits=1)
    values = {row["labels"]["method"]: row["values"] for row in summary["rows"]}
    assert list(values) == [*surfaces.COSTS, surfaces.BEST]
    assert list(values[surfaces.BEST]) == ["test"] and values[surfaces.BEST]["test"]["mean"] > 87.0
    shares = np.array([values[label]["weights"]["mean"] for label in surfaces.COSTS])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-5)
    assert (np.diff(shares[:, 0]) > 0.0).all() and (np.diff(shares[:, 2]) <= 0.0).all()
    assert shares[0, 2] > 0.5 and shares[-1, 2] == 0.0
    assert (tmp_path / "figure2.2.png").read_bytes().startswith(PNG)


def test_the_machines_of_a_figure_have_the_costs_and_the_c_that_it_says(small_figures):
    X = surfaces.draw_points(0, surfaces.N_TRAIN)[0]
    np.testing.assert_array_equal(
        X, make_gauss("GAUSS3", 80, random_state=np.random.default_rng([2010, 0, 0]))[0]
    )
    assert not np.array_equal(X, surfaces.draw_points(0, surfaces.N_TRAIN, part=1)[0])
    for label, model in surfaces.fit_all("2.2", 0).items():
        assert model.C == 1.0
        assert np.dot(np.square(surfaces.COSTS[label]), model.kernel_weights_) == pytest.approx(1.0)
        assert label == "d = " + ", ".join(
            "√2" if c == surfaces.ROOT else f"{c:g}" for c in surfaces.COSTS[label]
        )


@pytest.mark.parametrize("figure", ["2.4", "2.5"])
def test_searches_end_no_worse_than_they_begin(figure, small_figures, tmp_path):
    summary = run_table(STUDY, STUDY.figure(figure), folder=tmp_path, splits=1)
    values = {row["labels"]["method"]: row["values"] for row in summary["rows"]}
    searched = ["rmkl", "rwkl"] if figure == "2.4" else ["rmkl", "emkl", "rwkl"]
    for method in searched:
        found = values[search.LABELS[method]]
        assert found["best"]["mean"] <= found["centre"]["mean"] <= 25.0
        assert found["points"]["mean"] >= 6.0
    assert len(values) == (2 if figure == "2.4" else 5)
    assert (tmp_path / f"figure{figure}.png").read_bytes().startswith(PNG)


def test_c_is_chosen_with_equal_costs_on_the_ten_pairs(monkeypatch):
    monkeypatch.setattr(surfaces, "GRID", (0.01, 1.0, 100.0))
    X, y = surfaces.draw_points(3, 100)
    pairs = [(np.arange(0, 100, 2), np.arange(1, 100, 2)), (np.arange(50), np.arange(50, 100))]
    views = three_views(Sample(X, y, {}), standardize=False)
    scores = {
        C: np.mean([MKLClassifier(views, C=C).fit(X[a], y[a]).score(X[b], y[b]) for a, b in pairs])
        for C in surfaces.GRID
    }
    assert len(set(scores.values())) == 3
    assert surfaces.choose_c(X, y, pairs) == max(scores, key=scores.get)

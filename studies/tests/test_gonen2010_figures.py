"""The figures of Gönen (2010) on small sizes: what they measure, and that pictures are drawn."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris

from studies import get_study, plots, run_table
from studies.gonen2010 import components, motorcycle, plane, visual

pytestmark = pytest.mark.thorough

STUDY = get_study("gonen2010")
PNG = b"\x89PNG"


def means(summary, key):
    return {(row["section"], row["labels"]["method"]): row["values"][key]["mean"] for row in summary["rows"]}


# --- figures 3.2 and 3.3 -----------------------------------------------------------------------------------


@pytest.mark.parametrize("figure", ["3.2", "3.3"])
def test_the_gate_gains_on_standardised_columns(figure, monkeypatch, tmp_path):
    monkeypatch.setattr(plane, "N_TEST", 4000)
    monkeypatch.setattr(plots, "_STEPS", 20)
    summary = run_table(STUDY, STUDY.figure(figure), folder=tmp_path, splits=1)
    test = means(summary, "test")
    scaled = plane.SCALINGS[True]
    local = plane.SETTINGS[figure].methods["lmkl"]
    assert test[scaled, "SVM, linear"] <= 86.5
    assert test[scaled, "best rule"] == pytest.approx(89.71, abs=1.5)
    assert test[scaled, local] >= test[scaled, "best rule"] - 1.5
    if figure == "3.2":
        assert test[scaled, "l1 MKL, linear and quadratic"] <= 87.0
        assert test[plane.SCALINGS[False], "l1 MKL, linear and quadratic"] >= 87.0
    assert (tmp_path / f"figure{figure}.png").read_bytes().startswith(PNG)
    values = {row["labels"]["method"]: row["values"] for row in summary["rows"]}
    assert "solves" in values[local] and "solves" not in values["SVM, linear"]
    assert "support" not in values["best rule"]


# --- figure 3.4 --------------------------------------------------------------------------------------------


def test_three_lines_follow_a_curve_that_one_cannot(data_folder, monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.uniform(0.0, 60.0, size=60)
    y = 40.0 * np.abs(x - 30.0) / 30.0 + rng.normal(size=60)
    data_folder(mcycle=dict(X=x[:, None], y=y))
    monkeypatch.setattr(motorcycle, "FOLDS", 3)
    summary = run_table(STUDY, STUDY.figure("3.4"), folder=tmp_path, splits=1)
    errors = {method: value for (_, method), value in means(summary, "mse").items()}
    assert errors["SVR, linear"] > 0.5 * y.var()
    assert errors["LMKL, three linear, each with a bias"] < 0.2 * y.var()
    assert (tmp_path / "figure3.4.png").read_bytes().startswith(PNG)


def test_errors_are_in_the_unit_of_the_target(data_folder):
    x = np.linspace(0.0, 10.0, 40)[:, None]
    found = {}
    for scale in (1.0, 100.0):
        y = scale * (x[:, 0] + np.sin(5.0 * x[:, 0]))
        data_folder(mcycle=dict(X=x, y=y))
        found[scale] = motorcycle.compute_errors("line", 0)["mse"]
    assert found[100.0] == pytest.approx(1e4 * found[1.0], rel=1e-2)
    assert found[1.0] == pytest.approx(0.5, abs=0.15)


# --- figures 5.14 to 5.17 ----------------------------------------------------------------------------------


def test_iris_is_told_apart_by_projections(data_folder, tmp_path):
    X, y = load_iris(return_X_y=True)
    data_folder(iris=dict(X=X, y=y))
    summary = run_table(STUDY, STUDY.figure("5.14"), folder=tmp_path, splits=1)
    training = {method: value for (_, method), value in means(summary, "training").items()}
    assert training[visual.METHODS["lpk"]] >= 97.0
    assert training[visual.METHODS["gpk"]] >= 96.0
    assert training[visual.METHODS["pca"]] < 95.0
    assert (tmp_path / "figure5.14.png").read_bytes().startswith(PNG)


def test_a_part_of_each_class_is_shown_and_the_same_each_time(data_folder):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(26), 150)
    data_folder(letter=dict(X=rng.normal(size=(len(y), 3)), y=y))
    X, labels = visual.load_shown("5.16")
    assert np.bincount(labels).tolist() == [120] * 5
    np.testing.assert_array_equal(visual.load_shown("5.16")[0], X)


def test_a_linear_machine_on_the_local_dimensions_is_the_classifier():
    X, y = load_iris(return_X_y=True)
    for method, size in (("pca", 2), ("gpk", 2), ("lpk", 2)):
        assert visual.project(method, X, y).shape == (150, size)
    model = visual.make_model("lpk").fit(X, y)
    assert (model.n_regions, model.n_components, model.multiclass) == (2, 1, "joint")


# --- figures 5.19 to 5.22 ----------------------------------------------------------------------------------


def digits_in_two_kinds(seed=0, n=300):
    """A square that tells small from large digits, one way or the other by what is in a corner."""
    rng = np.random.default_rng(seed)
    X = 0.3 * rng.normal(size=(n, 16, 16))
    y = rng.integers(10, size=n)
    kind = rng.choice([-1.0, 1.0], size=n)
    X[:, 4:8, 4:8] += (np.where(y < 5, 1.0, -1.0) * kind)[:, None, None]
    X[:, 12:, 12:] += 2.0 * kind[:, None, None]
    return dict(X=X.reshape(n, -1).astype(np.float32), y=y)


def test_regions_find_what_one_boundary_cannot(data_folder, monkeypatch, tmp_path):
    data_folder(usps=digits_in_two_kinds())
    problem = replace(components.PROBLEMS["5.22"], grid=(0.01,))
    monkeypatch.setattr(components, "PROBLEMS", {"5.22": problem})
    plain, local = (components.compute_components("5.22", key, 0, 0) for key in ("svm", "regions-2"))
    assert plain["test"][0] < 70.0 and local["test"][0] > 90.0
    components.draw_projections({}, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(PNG)


def test_curves_are_drawn_over_the_components(tmp_path):
    table = STUDY.figure("5.19")
    results = [
        (
            unit,
            dict(
                C=[0.1], validation=[1.0], test=[80.0 + i % 7], support=[20.0], active=[None], settled=[True]
            ),
        )
        for i, unit in enumerate(table.units(2))
    ]
    rows = table.rows(results)
    kinds = [f"{key}-{r}" for key in components.LABELS for r in components.COMPONENTS]
    assert [row["labels"]["components"] for row in rows] == ["all columns", *(k.split("-")[1] for k in kinds)]
    assert rows[0]["values"]["accuracy"]["published"] == 88.3
    assert rows[1]["values"]["accuracy"]["published"] is None
    table.figure({"rows": rows}, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(PNG)


def test_a_plateau_is_no_news(data_folder):
    """So small a C that nothing is learned: no warning, and the larger class."""
    rng = np.random.default_rng(1)
    data_folder(waveform=dict(X=rng.normal(size=(60, 4)), y=np.repeat([0, 2], [48, 12])))
    problem = replace(components.PROBLEMS["5.19"], grid=(1e-6,))
    found = components.compute_fold(problem, "gpk-1", 0, 0)
    assert found["test"] == [80.0]


def test_what_the_problems_of_few_projections_ask(data_folder, monkeypatch):
    rng = np.random.default_rng(2)
    y = rng.integers(10, size=50)
    X = np.arange(50.0)[:, None]
    data_folder(usps=dict(X=X, y=y), waveform=dict(X=X, y=y % 3))
    monkeypatch.setattr(components, "N_POINTS", 30)
    asked = {"5.19": lambda i: y[i] % 3 == 2, "5.20": lambda i: y[i] % 2 == 0, "5.21": lambda i: y[i] < 5}
    for figure, positive in asked.items():
        sample = components.PROBLEMS[figure].load(1)
        rows = sample.X[:, 0].astype(int)
        assert len(set(rows)) == 30
        np.testing.assert_array_equal(sample.y == 1, positive(rows))
        assert set(components.PROBLEMS[figure].load(2).X[:, 0]) != set(sample.X[:, 0])


def test_machines_of_few_projections():
    methods = components.PROBLEMS["5.20"].methods
    pca = methods["pca-5"].build(None, 0.5)
    assert pca[1].n_components == 5 and pca[-1].C == 0.5
    assert len(methods["svm"].build(None, 0.5).steps) == 2
    for key, regions in (("gpk-5", 1), ("lpk-5", 2)):
        model = methods[key].build(None, 0.5)
        assert (model.n_regions, model.n_components, model.C) == (regions, 5, 0.5)
    regions = components.PROBLEMS["5.22"].methods["regions-4"].build(None, 0.5)
    assert (regions.n_regions, regions.n_components) == (4, 2)


def test_the_motorcycle_is_fitted_as_well_as_the_specification_says(shared_data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = motorcycle.compute_errors("biased", 0)["mse"]
    assert found < 680.0  # the specification has 604 with one split of ours, 582 to 720 with Gaussians


# --- pictures ----------------------------------------------------------------------------------------------


def test_regions_of_classes_are_drawn_where_they_are_decided(monkeypatch):
    from matplotlib.figure import Figure

    monkeypatch.setattr(plots, "_STEPS", 21)
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    axes = Figure().subplots()
    plots.draw_classes(axes, lambda points: np.column_stack([-points[:, 0], points[:, 0] - 1.0]), X, X[:, 0])
    assert len(axes.collections) == 2 * 3  # of each class its region, its boundary and its points
    for collection, inside in ((axes.collections[0], 0.2), (axes.collections[3], 0.8)):
        assert collection.get_paths()[0].contains_point((inside, 0.5))
        assert not collection.get_paths()[0].contains_point((1.0 - inside, 0.5))
    plots.draw_rings(axes, X[:2])
    np.testing.assert_array_equal(axes.collections[-1].get_offsets(), X[:2])
    assert len(axes.collections[-1].get_facecolors()) == 0

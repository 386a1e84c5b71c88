"""The figures of Gönen (2010) on small sizes: what they measure, and that pictures are drawn."""

import numpy as np
import pytest
from sklearn.svm import SVC

from studies import get_study, plots, run_table
from studies.gonen2010 import outliers

pytestmark = pytest.mark.thorough

STUDY = get_study("gonen2010")
PNG = b"\x89PNG"


# --- figures 1.4 and 1.5 -----------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_a_toy_has_two_points_of_the_wrong_label(classes):
    X, y = outliers.training_toy(classes, 4)
    assert np.array_equal(X, outliers.training_toy(classes, 4)[0])
    assert not np.array_equal(X, outliers.training_toy(classes, 5)[0])
    true = np.linalg.norm(X[:, None] - outliers.CENTRES[:classes], axis=2).argmin(axis=1)
    assert (true[outliers.OUTLIERS] != y[outliers.OUTLIERS]).all()
    rest = np.delete(np.arange(len(y)), outliers.OUTLIERS)
    assert np.mean(true[rest] == y[rest]) > 0.95
    assert len(y) == classes * outliers.PER_CLASS
    X_new, y_new = outliers.draw_toy(classes, 4, 600, part=1)
    near = np.linalg.norm(X_new[:, None] - outliers.CENTRES[:classes], axis=2).argmin(axis=1)
    assert np.mean(near == y_new) > 0.98
    assert np.std(X_new - outliers.CENTRES[y_new]) == pytest.approx(outliers.SPREAD, rel=0.1)


def test_the_machine_of_two_classes_is_the_plain_one():
    found = outliers.compute_toy("1.4", "plain", 0)
    X, y = outliers.training_toy(2, 0)
    machine = SVC(C=outliers.C, kernel="poly", degree=2, gamma=1.0, coef0=1.0, tol=1e-6).fit(X, y)
    assert found["support"] == machine.n_support_.sum()
    X_new, y_new = outliers.draw_toy(2, 0, outliers.N_TEST, part=1)
    assert found["test"] == pytest.approx(100.0 * machine.score(X_new, y_new), abs=0.1)


@pytest.mark.parametrize(("figure", "plain", "soft"), [("1.4", "SVM", "PPSVM"), ("1.5", "MCSVM", "MCPPSVM")])
def test_soft_labels_keep_fewer_points_and_no_outliers(figure, plain, soft, monkeypatch, tmp_path):
    monkeypatch.setattr(plots, "_STEPS", 30)
    summary = run_table(STUDY, STUDY.figure(figure), folder=tmp_path, splits=3)
    rows = {row["labels"]["method"]: row["values"] for row in summary["rows"]}
    hard, knn = rows[plain], rows[f"{soft}, neighbours"]
    assert hard["outliers"]["mean"] == 2.0 and knn["outliers"]["mean"] == 0.0
    assert knn["support"]["mean"] < 0.7 * hard["support"]["mean"]
    assert knn["test"]["mean"] > hard["test"]["mean"]
    assert rows[f"{soft}, Parzen windows"]["outliers"]["mean"] > 0.0
    if figure == "1.5":
        assert (hard["support"]["published"], knn["support"]["published"]) == (7.0, 4.0)
    assert (tmp_path / f"figure{figure}.png").read_bytes().startswith(PNG)


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

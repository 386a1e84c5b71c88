"""The study of Lewis et al. (2006): tables and figures against plain computations, rows, small runs."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from multikernel import MKLClassifier
from multikernel.core.optim.loop import Status
from multikernel.datasets import make_interleaved, make_piecewise
from multikernel.nonstationary import NonstationaryClassifier
from multikernel.nonstationary.solver.projection import balance
from studies import get_study, plots, run_table, yeast
from studies.lewis2006 import accuracies, clusters, methods, piecewise, proteins, speed
from studies.lewis2006.likelihood import fit_likelihood_ratio
from studies.lewis2006.published import ACCURACY
from studies.lewis2006.setting import Setting, Split, draw_split
from studies.points import three_kernels

pytestmark = pytest.mark.thorough

STUDY = get_study("lewis2006")
PNG = b"\x89PNG"


def clouds(seed, sizes=(25, 20), d=3, distance=1.5):
    rng = np.random.default_rng(seed)
    codes = np.repeat([0, 1], sizes)
    return rng.normal(size=(len(codes), d)) + distance * codes[:, None], codes


def split_of_clouds(seed, distance=1.5):
    X, codes = clouds(seed, distance=distance)
    order = np.random.default_rng(seed).permutation(len(codes))
    return Split(np.stack(three_kernels(X, 0.5)), np.where(codes > 0, 1, -1), order[:30], order[30:])


# --- units -------------------------------------------------------------------------------------------------


def test_the_table_runs_on_tiny_data_and_goes_on_where_it_stopped(data_folder, tmp_path, monkeypatch):
    X, y = clouds(0)
    data_folder(sonar=dict(X=X, y=y))
    monkeypatch.setattr(accuracies, "SETTINGS", accuracies.SETTINGS[1:2])
    monkeypatch.setattr(accuracies, "SCALED_SETTINGS", accuracies.SCALED_SETTINGS[1:2])
    summary = run_table(STUDY, STUDY.table("1"), folder=tmp_path, splits=1)
    assert len(summary["rows"]) == 10 + 4
    page = (tmp_path / "table1.md").read_text(encoding="utf-8")
    assert "| nonstationary, qp, γ = 4 |" in page
    assert "| maximum likelihood mixture | 68.2 |" in page
    monkeypatch.setattr(accuracies, "fit_method", None)  # nothing is left to be computed
    assert run_table(STUDY, STUDY.table("1"), folder=tmp_path, splits=1) == summary


# --- data --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("standardized", [False, True])
def test_a_split_is_one_fold_of_one_repetition(data_folder, standardized):
    X, y = clouds(2)
    data_folder(clouds=dict(X=X, y=y))
    setting = Setting("clouds", "clouds", standardized=standardized)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=1).split(X, y))
    for fold in range(3):
        points = draw_split(setting, 3 + fold)
        np.testing.assert_array_equal(points.training, folds[fold][0])
        np.testing.assert_array_equal(points.test, folds[fold][1])
        np.testing.assert_array_equal(points.y > 0, y == 1)
        X_used = X
        if standardized:
            X_used = (X - X[points.training].mean(axis=0)) / X[points.training].std(axis=0)
        np.testing.assert_allclose(points.Ks, three_kernels(X_used, 0.5))
        assert points.fitted.shape == (30, 30, 3) and points.predicted.shape == (15, 30, 3)
        np.testing.assert_array_equal(
            points.predicted[2, 5], points.Ks[:, points.test[2], points.training[5]]
        )


# --- methods -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["quadratic", "rbf", "linear", "mean"])
def test_one_kernel_is_a_support_vector_machine(method):
    points = split_of_clouds(3, distance=4.0)
    K = points.Ks.mean(axis=0) if method == "mean" else points.Ks[list(methods.KERNELS).index(method)]
    machine = SVC(C=methods.C, kernel="precomputed", tol=1e-6)
    machine.fit(K[np.ix_(points.training, points.training)], points.y[points.training])
    expected = machine.score(K[np.ix_(points.test, points.training)], points.y[points.test])
    found = methods.fit_method(points, method)
    assert found == {"accuracy": pytest.approx(100.0 * expected), "status": "optimal"}


@pytest.mark.parametrize(
    ("method", "model"),
    [
        ("mkl", MKLClassifier("precomputed", C=1e4)),
        ("qp", NonstationaryClassifier("precomputed", C=1e4)),
        ("qp_small", NonstationaryClassifier("precomputed", C=1e4, margin=1.5 - np.log(3.0))),
        ("qp_large", NonstationaryClassifier("precomputed", C=1e4, margin=4.0 - np.log(3.0))),
        ("full", NonstationaryClassifier("precomputed", C=1e4, method="full")),
        ("hard", NonstationaryClassifier("precomputed", C=1e4, method="hard")),
    ],
)
def test_several_kernels_are_those_of_the_estimators(method, model):
    points = split_of_clouds(4)
    found = methods.fit_method(points, method)
    model.fit(points.fitted, points.y[points.training])
    assert found["accuracy"] == pytest.approx(100.0 * model.score(points.predicted, points.y[points.test]))
    np.testing.assert_allclose(found["weights"], model.kernel_weights_ / model.kernel_weights_.sum())
    assert found["status"] == "optimal"


def test_the_likelihood_ratio_has_the_priors_and_both_densities():
    """In explicit features, at the mixtures that were found: a plain computation of the same log-ratio."""
    rng = np.random.default_rng(5)
    X, codes = clouds(5, sizes=(30, 12))
    features = [X, X[:, :1] * 2.0]
    Ks = np.stack([phi @ phi.T for phi in features])
    model = fit_likelihood_ratio(Ks, np.where(codes > 0, 1, -1))
    new = rng.normal(size=(9, 3))
    new_features = [new, new[:, :1] * 2.0]
    expected = []
    for code, mixture in zip((1, 0), model.mixtures, strict=True):
        members = codes == code
        squares = [
            ((other - mixture.centres[m] @ phi[members]) ** 2).sum(axis=1)
            for m, (phi, other) in enumerate(zip(features, new_features, strict=True))
        ]
        scores = np.log(mixture.proportions) - 0.5 * np.column_stack(squares)
        expected.append(np.log(members.mean()) + logsumexp(scores, axis=1))
    cross = np.stack([b @ a.T for a, b in zip(features, new_features, strict=True)])
    found = model.decision_function(cross, np.stack([(phi**2).sum(axis=1) for phi in new_features]))
    np.testing.assert_allclose(found, expected[0] - expected[1], atol=1e-9)


def test_the_likelihood_of_a_split_is_that_ratio():
    points = split_of_clouds(6)
    found = methods.fit_method(points, "likelihood")
    inner = points.Ks[:, points.training[:, None], points.training]
    model = fit_likelihood_ratio(inner, points.y[points.training])
    new = points.Ks[:, points.test[:, None], points.training]
    scores = model.decision_function(new, np.ones((3, len(points.test))))
    assert found["accuracy"] == pytest.approx(100.0 * np.mean(np.sign(scores) == points.y[points.test]))
    assert sum(found["weights"]) == pytest.approx(1.0)
    assert found["status"] == "optimal"


# --- rows --------------------------------------------------------------------------------------------------


def test_rows_have_each_method_beside_its_published_accuracy():
    table = STUDY.table("1")
    results = [
        (unit, dict(accuracy=50.0 + i % 3, status="optimal" if i else "max_iter", weights=[0.2, 0.3, 0.5]))
        for i, unit in enumerate(table.units(2))
    ]
    rows = table.rows(results)
    found = {(row["section"], row["labels"]["method"]): row for row in rows}
    assert len(found) == len(rows) == 4 * 10 + 3 * 4
    for setting in accuracies.SETTINGS:
        for key, label in accuracies.METHODS.items():
            cell = found[setting.label, label]["values"]["accuracy"]
            assert cell["published"] == ACCURACY[setting.dataset].get(key)
            assert cell["n"] == 2
    for setting in accuracies.SCALED_SETTINGS:
        for label in accuracies.SCALED_METHODS.values():
            assert found[setting.label, label]["values"]["accuracy"]["published"] is None
    assert found["heart, sigma = 0.5", "nonstationary, qp"]["values"]["accuracy"]["published"] == 60.5
    assert rows[0]["remark"] == "not solved to tolerance on 1 of 2 splits"
    assert rows[1]["remark"] == ""
    assert rows[1]["values"]["weights"]["mean"] == [0.2, 0.3, 0.5]


def test_what_rounding_explains_is_no_difference():
    table = STUDY.table("1")
    units = [u for u in table.units(2) if u.key.startswith("heart_statlog/0.5") and u.key.endswith("/rbf")]
    for accuracy, difference in ((500.0 / 9.0, 0.0), (55.7, 0.1)):
        (row,) = table.rows([(unit, dict(accuracy=accuracy, status="optimal")) for unit in units])
        assert row["values"]["accuracy"]["difference"] == pytest.approx(difference)


# --- proteins ----------------------------------------------------------------------------------------------


def test_protein_functions_are_found_by_every_method(data_folder, monkeypatch, tmp_path):
    """Both networks know one community each of four; only together do they tell the class."""
    rng = np.random.default_rng(6)
    n = 60
    group = rng.integers(2, size=(n, 2))
    y = (group[:, 0] | group[:, 1]).astype(int)
    ids = np.array([f"P{i:02d}" for i in range(n)])
    labels = dict(Y=np.repeat(y[:, None], 13, axis=1), label_names=np.array(list(yeast.CLASSES)))
    networks = {}
    for name, side in zip(yeast.NETWORKS, (0, 1), strict=True):
        together = group[:, None, side] == group[:, side]
        edges = np.argwhere(np.triu(rng.uniform(size=(n, n)) < np.where(together, 0.4, 0.02), 1))
        networks[name] = dict(edges=edges, weights=np.ones(len(edges)), protein_ids=ids, **labels)
    data_folder(**networks)
    monkeypatch.setattr(proteins, "N_PROTEINS", 50)
    monkeypatch.setattr(proteins, "LABELS", ("01", "02"))
    yeast.kernels_and_labels.cache_clear()
    try:
        summary = run_table(STUDY, STUDY.table("2"), folder=tmp_path, splits=2)
        Ks, _ = yeast.kernels_and_labels()
        found = proteins.compute_area("01", 1, "string_3")
        latent = proteins.compute_area("01", 1, "qp")
        order = proteins.draw_order(2 * y - 1, 40, np.random.default_rng([proteins._SEED, 1]), 50)
        K = Ks[1][np.ix_(order, order)]
        stack = np.stack([matrix[np.ix_(order, order)] for matrix in Ks], axis=2)
    finally:
        yeast.kernels_and_labels.cache_clear()
    machine = SVC(C=10.0, kernel="precomputed").fit(K[:40, :40], y[order[:40]])
    area = roc_auc_score(y[order[40:]], machine.decision_function(K[40:, :40]))
    assert found["area"] == pytest.approx(100.0 * area)
    assert found["weights"] is None and found["spread"] is None
    model = NonstationaryClassifier("precomputed", C=5.0).fit(stack[:40, :40], y[order[:40]])
    np.testing.assert_allclose(latent["weights"], model.kernel_weights_, atol=1e-9)
    positive, negative = model.mixture_weights(stack[40:, :40])
    spread = (positive.std(axis=0).mean() + negative.std(axis=0).mean()) / 2.0
    assert latent["spread"] == pytest.approx(spread)
    first, second, mean, weights, _ = summary["rows"]
    assert first["labels"] == {"class": "01 metabolism"} and second["labels"] == {"class": "02 energy"}
    for method in proteins.METHODS:
        average = (first["values"][method]["mean"] + second["values"][method]["mean"]) / 2.0
        assert mean["values"][method]["mean"] == pytest.approx(average)
    areas = {method: mean["values"][method]["mean"] for method in proteins.METHODS}
    for method in ("sum", "mkl", "qp", "full"):
        assert areas[method] > max(areas[single] for single in yeast.SINGLE)
    for method in ("mkl", "qp", "full"):
        assert sum(weights["values"][f"weights_{method}"]["mean"]) == pytest.approx(1.0)
    assert weights["values"]["spread"]["mean"] > 0.0


def test_the_gain_is_that_of_qp_over_the_sum_on_the_same_splits():
    areas = np.random.default_rng(0).uniform(50.0, 90.0, size=(8, 5))
    gain = proteins._area_values(areas)["gain"]
    names = list(proteins.METHODS)
    differences = areas[names.index("qp")] - areas[names.index("sum")]
    assert gain["mean"] == pytest.approx(differences.mean())
    assert gain["se"] == pytest.approx(differences.std(ddof=1) / np.sqrt(5.0))


def test_a_method_that_was_not_solved_is_named():
    group = [dict(area=1.0, status="optimal"), dict(area=1.0, status="max_iter")]
    remark = proteins._remark({"sum": group[:1], "qp": group})
    assert remark == "nonstationary, qp not solved to tolerance on 1 splits"


# --- real data ---------------------------------------------------------------------------------------------


def test_a_fold_of_heart_is_as_the_table_says(shared_data, tmp_path):
    """The Gaussian kernel is nearly the identity; what chooses it predicts the larger class."""
    table = STUDY.table("1")
    chosen = ("rbf", "linear", "mkl", "likelihood", "qp_small", "full")
    units = [
        unit
        for unit in table.units(1)
        if unit.key.startswith("heart") and unit.arguments["method"] in (*chosen, "mean")
    ]
    summary = run_table(STUDY, replace(table, units=lambda splits: units), folder=tmp_path, splits=1)
    found = {(row["section"], row["labels"]["method"]): row["values"] for row in summary["rows"]}
    assert len(found) == 6 + 3
    names, raw = accuracies.METHODS, "heart, sigma = 0.5"
    majority = 100.0 * 50 / 90
    for key in ("rbf", "mkl", "likelihood", "full"):
        assert found[raw, names[key]]["accuracy"]["mean"] == pytest.approx(majority, abs=0.01)
    assert found[raw, names["linear"]]["accuracy"]["mean"] > 75.0
    assert found[raw, names["qp_small"]]["accuracy"]["mean"] > majority
    assert found[raw, names["mkl"]]["weights"]["mean"][1] > 0.99
    for key in ("mkl", "mean", "full"):
        label = accuracies.SCALED_METHODS[key]
        assert found["heart, standardized columns", label]["accuracy"]["mean"] > 75.0


# --- figures -----------------------------------------------------------------------------------------------


SEPARATED = 1  # with this seed one of few starts finds the boundary


# --- figure 1 ----------------------------------------------------------------------------------------------


def test_likelihood_misses_the_boundary_that_latent_med_finds(monkeypatch, tmp_path):
    monkeypatch.setattr(clusters, "N_TEST", 400)
    monkeypatch.setattr(clusters, "STARTS", 4)
    monkeypatch.setattr(clusters, "_SEED", SEPARATED)
    monkeypatch.setattr(plots, "_STEPS", 20)
    monkeypatch.setattr(clusters, "METHODS", {key: clusters.METHODS[key] for key in ("likelihood", "full")})
    summary = run_table(STUDY, STUDY.figure("1"), folder=tmp_path, splits=1)
    likelihood, latent = (row["values"] for row in summary["rows"])
    assert likelihood["training"]["mean"] == pytest.approx(50.0)
    assert likelihood["test"]["mean"] == pytest.approx(50.0, abs=0.5)
    assert latent["training"]["mean"] == 100.0
    assert latent["worst"]["mean"] >= 99.0
    assert 0.0 < latent["starts"]["mean"] <= 100.0
    assert "starts" not in likelihood
    assert (tmp_path / "figure1.png").read_bytes().startswith(PNG)
    assert "| latent MED, full |" in (tmp_path / "figure1.md").read_text(encoding="utf-8")


def test_a_start_separates_if_no_training_point_is_misclassified(monkeypatch):
    monkeypatch.setattr(clusters, "STARTS", 1)
    X, y = make_interleaved(40, random_state=3)
    shares = []
    for seed in range(3):
        decide, status, share = clusters.fit_decision("full", X, y, seed)
        assert status == "optimal"
        assert share == (100.0 if ((decide(X) > 0) == (y > 0)).all() else 0.0)
        shares.append(share)
    assert set(shares) == {0.0, 100.0}


def test_rows_of_figure_1_have_the_worst_draw_and_what_was_not_solved():
    figure = STUDY.figure("1")
    results = [
        (unit, dict(training=100.0, test=90.0 + 2.0 * i, status="stalled" if i else "optimal", starts=50.0))
        for i, unit in enumerate(figure.units(2)[2:4])
    ]
    (row,) = figure.rows(results)
    assert row["labels"] == {"mixtures by": "latent MED, full"}
    assert row["values"]["test"]["mean"] == 91.0
    assert row["values"]["worst"]["mean"] == 90.0
    assert row["remark"] == "not solved to tolerance on 1 of 2 draws"


# --- figure 2 ----------------------------------------------------------------------------------------------


def test_three_solvers_are_timed_on_the_same_projection(monkeypatch, tmp_path):
    monkeypatch.setattr(speed, "SIZES", (30,))
    summary = run_table(STUDY, STUDY.figure("2"), folder=tmp_path, splits=1)
    assert [row["section"] for row in summary["rows"]] == list(speed.POSTERIORS.values())
    for row in summary["rows"]:
        values = row["values"]
        assert row["remark"] == ""
        assert all(values[key]["mean"] > 0.0 for key in speed.SOLVERS)
        assert values["smo_ratio"]["mean"] == pytest.approx(values["conic"]["mean"] / values["smo"]["mean"])
        assert values["smo_error"]["mean"] < 2.0 and values["ipm_error"]["mean"] < 2.0
    assert (tmp_path / "figure2.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize("posteriors", ["uniform", "settled"])
def test_the_projection_is_that_of_a_fit(posteriors):
    projection = speed.make_projection(posteriors, 40, 0)
    for shares, rows in zip(projection.posteriors, projection.mixtures.rows, strict=True):
        assert shares.shape == (rows.size, 2)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        assert (shares == 0.5).all() == (posteriors == "uniform")
    np.testing.assert_allclose(projection.mixtures.margins, 1.0 + np.log(2.0))
    X = make_piecewise(40, random_state=np.random.default_rng([2006, 40, 0]))[0]
    np.testing.assert_allclose(projection.mixtures.Ks[1], (1.0 + X @ X.T) ** 2)
    found = speed.project_interior(projection, tol=1e-8)
    assert found.status is Status.OPTIMAL
    mass = sum(float(duals.sum()) for duals in found.duals)
    assert np.abs(balance(projection, found.duals)).max() <= 1e-6 * mass
    after = projection.mixtures.posteriors(found.point)
    change = max(np.abs(a - b).max() for a, b in zip(after, projection.posteriors, strict=True))
    assert (change < 0.05) == (posteriors == "settled")


def fake_times(smo, conic, status="optimal"):
    return {
        "smo": dict(seconds=smo, value=2.0, gap=0.0, status=status),
        "ipm": dict(seconds=0.5, value=2.0 + 4e-6, gap=0.0, status="optimal"),
        "conic": dict(seconds=conic, value=2.0 + 2e-6, gap=0.0, status="optimal"),
    }


def test_ratios_are_over_what_both_solved_and_the_published_one_is_beside():
    figure = STUDY.figure("2")
    units = [unit for unit in figure.units(2) if unit.key.startswith("uniform/n=500")]
    (row,) = figure.rows(
        list(zip(units, [fake_times(0.1, 1.0), fake_times(9.0, 3.0, "stalled")], strict=True))
    )
    values = row["values"]
    assert values["smo"]["mean"] == 0.1
    assert values["smo_ratio"]["mean"] == pytest.approx(10.0)
    assert values["smo_ratio"]["published"] == 7.5
    assert values["smo_ratio"]["difference"] == pytest.approx(2.5)
    assert values["ipm_ratio"]["mean"] == pytest.approx(4.0)
    assert values["ipm_ratio"]["published"] is None
    assert values["smo_error"]["mean"] == pytest.approx(1.0)
    assert row["remark"] == "SMO + Newton did not reach the tolerance on 1 of 2 draws"
    small = [unit for unit in figure.units(1) if unit.key.startswith("settled/n=100")]
    (other,) = figure.rows([(small[0], fake_times(0.1, 1.0, "stalled"))])
    assert other["values"]["smo_ratio"]["mean"] is None and other["values"]["smo_ratio"]["published"] is None


# --- figure 3 ----------------------------------------------------------------------------------------------


def test_only_the_nonstationary_combination_learns_both_pieces(monkeypatch, tmp_path):
    monkeypatch.setattr(piecewise, "SHIFTS", (0.2,))
    monkeypatch.setattr(piecewise, "N_TRAIN", 100)
    monkeypatch.setattr(piecewise, "_STARTS_DRAWN", 1)
    monkeypatch.setattr(plots, "_STEPS", 20)
    summary = run_table(STUDY, STUDY.figure("3"), folder=tmp_path, splits=1)
    found = {row["labels"]["method"]: row["values"] for row in summary["rows"]}
    for key in ("qp", "full"):
        values = found[piecewise.METHODS[key]]
        assert values["training"]["mean"] == 100.0
        assert values["test"]["mean"] > 96.0
        for side in piecewise.SIDES:
            assert all(0.0 <= weight <= 1.0 for weight in values[side]["mean"])
    for key in ("linear", "quadratic", "mkl", "likelihood"):
        assert found[piecewise.METHODS[key]]["test"]["mean"] <= 87.0
        assert "positive" not in found[piecewise.METHODS[key]]
    assert (tmp_path / "figure3.png").read_bytes().startswith(PNG)
    page = (tmp_path / "figure3.md").read_text(encoding="utf-8")
    assert "![Lewis et al. (2006), figure 3" in page and "## shift ±0.2" in page


@pytest.mark.parametrize("method", ["qp", "full"])
def test_200_points_are_enough_for_it_to_be_always_right(method):
    found = piecewise.compute_draw(0.2, method, 1)
    assert found["training"] == found["test"] == 100.0
    assert found["status"] == "optimal"


# --- pictures ----------------------------------------------------------------------------------------------


def test_the_grid_covers_the_points():
    X, _ = make_piecewise(30, random_state=0)
    first, second, points = plots.plane(X)
    assert first[0] < X[:, 0].min() and first[-1] > X[:, 0].max()
    assert second[0] < X[:, 1].min() and second[-1] > X[:, 1].max()
    np.testing.assert_allclose(points[: len(first), 0], first)
    np.testing.assert_allclose(points[: len(first), 1], second[0])
    assert len(points) == len(first) * len(second)


@pytest.mark.parametrize("one_class", [False, True])
def test_surfaces_and_maps_are_drawn(one_class, tmp_path):
    from matplotlib.figure import Figure

    X, y = make_interleaved(16, random_state=0)
    figure = Figure()
    axes = figure.subplots()
    plots.draw_surface(axes, lambda points: np.ones(len(points)) if one_class else points[:, 1], X, y)
    picture = plots.draw_map(axes, lambda points: np.full(len(points), 0.25), X, y)
    assert picture.get_array().min() == picture.get_array().max() == 0.25
    assert picture.get_clim() == (0.0, 1.0)
    drawn = np.concatenate(
        [np.asarray(c.get_offsets()) for c in axes.collections if len(c.get_offsets()) == 8]
    )
    assert {tuple(point) for point in X} <= {tuple(point) for point in drawn}
    figure.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(PNG)

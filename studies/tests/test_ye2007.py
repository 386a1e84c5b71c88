"""The study of Ye et al. (2007): splits, kernels, methods, rows, the general solver, and a small run."""

import importlib.metadata
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from judges.diagonal_discriminant import learn_diagonal_discriminant
from multikernel.discriminant.classifier import KernelDiscriminantClassifier
from multikernel.discriminant.solver.learn import DiscriminantProblem, learn_discriminant
from multikernel.kernels import Gaussian
from multikernel.views import View
from studies import get_study, run_table
from studies.ye2007 import binary, methods, multiclass, peer, speed
from studies.ye2007.published import BINARY_ACCURACY, MULTICLASS_ACCURACY
from studies.ye2007.rows import method_row
from studies.ye2007.setting import SIGMAS, Setting, Split, draw_split


def plain(sigma):
    """The Gaussian of the paper, columns and values as they are."""
    return View(f"{sigma}", Gaussian(s=sigma), standardize=False, normalize=None)


pytestmark = pytest.mark.thorough

STUDY = get_study("ye2007")


def clouds(seed, sizes=(30, 24), d=3, distance=1.5):
    """One cloud of points for each class, in no order."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    centres = distance * rng.normal(size=(len(sizes), d))
    return rng.normal(size=(len(y), d)) + centres[y], y


def split_of_clouds(seed, **options):
    X, y = clouds(seed, **options)
    n_train = 2 * len(y) // 3
    return Split(X[:n_train], y[:n_train], X[n_train:], y[n_train:])


# --- units -------------------------------------------------------------------------------------------------


# --- splits and kernels ------------------------------------------------------------------------------------


def test_a_split_is_standardized_by_its_training_points_and_comes_again(data_folder):
    X, y = clouds(0)
    X[:, 2] = 7.0  # a constant column
    data_folder(clouds=dict(X=X, y=y))
    points = draw_split(Setting("clouds", "clouds"), 3)
    assert len(points.X) == round(0.8 * 54)
    np.testing.assert_allclose(points.X.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(points.X[:, :2].std(axis=0), 1.0)
    assert not np.any(points.X[:, 2])
    assert np.abs(points.X_test.mean(axis=0)).max() > 1e-3
    whole = np.concatenate([points.X, points.X_test])
    raw = draw_split(Setting("clouds", "clouds", scaling="none"), 3)
    original = np.concatenate([raw.X, raw.X_test])
    assert sorted(map(tuple, original)) == sorted(map(tuple, X))
    np.testing.assert_allclose(whole[:, :2], (original - raw.X.mean(axis=0))[:, :2] / raw.X.std(axis=0)[:2])
    labels = {tuple(row): label for row, label in zip(X, y, strict=True)}
    assert [labels[tuple(row)] for row in original] == [*points.y, *points.y_test]
    other = draw_split(Setting("clouds", "clouds", scaling="none"), 4)
    assert not np.array_equal(other.X, raw.X)


def test_other_scalings(data_folder):
    X, y = clouds(1)
    data_folder(clouds=dict(X=X, y=y))
    unit = draw_split(Setting("clouds", "clouds", scaling="unit"), 0)
    np.testing.assert_allclose(unit.X.min(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(unit.X.max(axis=0), 1.0)
    narrow = draw_split(Setting("clouds", "clouds", scaling="narrow"), 0)
    distances = cdist(narrow.X, narrow.X)[np.triu_indices(len(narrow.X), 1)]
    assert np.median(distances) == pytest.approx(0.2)
    standardized = draw_split(Setting("clouds", "clouds"), 0)
    ratio = narrow.X_test / standardized.X_test
    np.testing.assert_allclose(ratio, ratio[0, 0])


def test_a_sample_has_as_many_points_of_each_of_the_first_classes(data_folder):
    X, y = clouds(2, sizes=(20, 30, 25, 40))
    data_folder(clouds=dict(X=X, y=y))
    setting = Setting("clouds", "clouds", 0.6, classes=3, per_class=10, balanced=True)
    points = draw_split(setting, 0)
    np.testing.assert_array_equal(np.bincount(points.y), [6, 6, 6])
    np.testing.assert_array_equal(np.bincount(points.y_test), [4, 4, 4])


def test_the_kernels_are_ten_gaussians():
    points = split_of_clouds(3)
    training, test = points.stacks()
    assert SIGMAS[0] == pytest.approx(0.1)
    assert SIGMAS[-1] == pytest.approx(100.0)
    np.testing.assert_allclose(np.diff(np.log(SIGMAS)), np.log(1000.0) / 9)
    for m, sigma in enumerate(SIGMAS):
        np.testing.assert_allclose(
            training[:, :, m], np.exp(-(cdist(points.X, points.X) ** 2) / sigma**2), atol=1e-12
        )
        np.testing.assert_allclose(
            test[:, :, m], np.exp(-(cdist(points.X_test, points.X) ** 2) / sigma**2), atol=1e-12
        )


# --- methods -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("reg", "sizes"), [(1e-8, (30, 24)), ("learn", (30, 24)), ("learn", (20, 25, 15))])
def test_the_learned_kernel_is_that_of_the_estimator_on_the_points_themselves(reg, sizes):
    points = split_of_clouds(13, sizes=sizes, distance=3.0)
    found = methods.fit_learned(points, points.stacks(), reg)
    model = KernelDiscriminantClassifier([plain(sigma) for sigma in SIGMAS], reg=reg, tol=1e-8)
    model.fit(points.X, points.y)
    assert found["accuracy"] == pytest.approx(100.0 * model.score(points.X_test, points.y_test))
    assert found["accuracy"] > 70.0
    ridge = model.reg_ * len(points.y)
    np.testing.assert_allclose(found["shares"][1:], 100.0 * model.kernel_shares_ / (1.0 + ridge), atol=1e-4)
    assert found["shares"][0] == pytest.approx(100.0 * ridge / (1.0 + ridge))
    assert sum(found["shares"]) == pytest.approx(100.0)
    assert found["status"] == "optimal"
    assert found["seconds"] > 0.0
    assert found.get("learned_reg") == (pytest.approx(model.reg_) if reg == "learn" else None)


def test_the_approximate_form_is_passed_on():
    points = split_of_clouds(5, sizes=(20, 25, 15))
    stacks = points.stacks()
    exact, other = (methods.fit_learned(points, stacks, "learn", form) for form in ("exact", "approximate"))
    assert np.abs(np.subtract(exact["shares"], other["shares"])).max() > 1.0


def test_the_kernel_of_kim_classifies_along_the_fisher_direction_of_its_own_kernel():
    """Their program at its weights, by plain linear algebra: (S₊ + S₋ + λI)⁻¹ of the mean difference."""
    points = split_of_clouds(15, sizes=(120, 40), distance=0.5)
    training, test = points.stacks()
    found = methods.fit_kim(points, (training, test))
    n = len(points.y)
    traces = np.array([np.trace(K) - K.sum() / n for K in np.moveaxis(training, 2, 0)])
    weights = np.array(found["shares"][1:]) / traces
    weights /= weights.sum()
    assert found["shares"][0] == pytest.approx(100.0 * 1e-4 * n / (1e-4 * n + weights @ traces), rel=1e-6)
    values, vectors = np.linalg.eigh(training @ weights)
    kept = values > 1e-12
    features = vectors[:, kept] * np.sqrt(values[kept])
    new = test @ weights @ vectors[:, kept] / np.sqrt(values[kept])
    means = [features[points.y == name].mean(axis=0) for name in (0, 1)]
    within = sum(np.cov(features[points.y == name].T, bias=True) for name in (0, 1))
    direction = np.linalg.solve(within + 1e-4 * np.eye(len(within)), means[1] - means[0])
    predicted = new @ direction > 0.5 * (means[0] + means[1]) @ direction
    assert found["accuracy"] == pytest.approx(100.0 * np.mean(predicted == points.y_test))
    assert 60.0 < found["accuracy"] < 100.0
    assert found["status"] == "optimal"


@pytest.mark.parametrize(
    ("seed", "sizes", "regs"), [(6, (30, 24), (1.0, 1e-2, 1e-5)), (7, (20, 25, 15), (1e-3,))]
)
def test_the_cross_validated_kernel_is_that_of_a_grid_search(seed, sizes, regs):
    points = split_of_clouds(seed, sizes=sizes, distance=0.8)
    found = methods.fit_single_kernel(points, points.stacks(), 5, regs)
    search = GridSearchCV(
        KernelDiscriminantClassifier(),
        {"kernels": [[plain(sigma)] for sigma in SIGMAS[::-1]], "reg": list(regs)},
        cv=StratifiedKFold(5, shuffle=True, random_state=5),
    ).fit(points.X, points.y)
    assert found["sigma"] == pytest.approx(search.best_params_["kernels"][0].kernel.s)
    assert found.get("chosen_reg") == (search.best_params_["reg"] if len(regs) > 1 else None)
    assert found["accuracy"] == pytest.approx(100.0 * search.score(points.X_test, points.y_test))


def test_the_support_vector_machine_has_the_width_and_price_it_names():
    points = split_of_clouds(8, distance=0.8)
    found = methods.fit_support_vectors(points, 0)
    assert found["C"] in methods.C_GRID
    assert min(abs(found["sigma"] / sigma - 1.0) for sigma in SIGMAS) < 1e-9
    K, K_test = (np.exp(-(cdist(A, points.X) ** 2) / found["sigma"] ** 2) for A in (points.X, points.X_test))
    machine = SVC(C=found["C"], kernel="precomputed").fit(K, points.y)
    assert found["accuracy"] == pytest.approx(100.0 * machine.score(K_test, points.y_test))


# --- the general solver ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("classes", "reg", "formulation"),
    [
        (2, 1e-2, "exact"),
        (2, None, "exact"),
        (3, 1e-2, "exact"),
        (3, None, "exact"),
        (3, 1e-2, "approximate"),
    ],
)
def test_cvxopt_solves_the_same_program(classes, reg, formulation):
    points = split_of_clouds(9, sizes=(12, 16, 11)[:classes])
    Ks = np.ascontiguousarray(np.moveaxis(points.stacks()[0], 2, 0)[3:7])
    found = peer.solve_peer(Ks, points.y, reg, formulation)
    learn = learn_discriminant if formulation == "exact" else learn_diagonal_discriminant
    ours = learn(DiscriminantProblem(Ks, points.y, reg))
    assert found["status"] == "optimal"
    assert found["objective"] == pytest.approx(ours.objective, rel=1e-6)
    assert found["seconds"] > 0.0


def test_without_cvxopt_the_row_says_so_and_what_was_stored_is_not_used_again(
    data_folder, monkeypatch, tmp_path
):
    X, y = clouds(10, sizes=(40, 40, 40))
    data_folder(waveform=dict(X=X, y=y))
    monkeypatch.setattr(speed, "SIZES", (20, 30))
    monkeypatch.setattr(speed, "LARGEST_OF_PEER", 20)
    monkeypatch.setattr(speed, "PROGRAMS", speed.PROGRAMS[1:3])
    figure = STUDY.figure("1")
    with monkeypatch.context() as patch:
        patch.setattr(speed, "peer_version", lambda: None)
        absent = run_table(STUDY, figure, folder=tmp_path, splits=1)
    assert [row["remark"] for row in absent["rows"]] == [peer.ABSENT, ""] * 2
    assert absent["rows"][0]["values"]["peer"]["mean"] is None
    present = run_table(STUDY, figure, folder=tmp_path, splits=1)
    first, second = present["rows"][:2]
    assert first["remark"] == second["remark"] == ""
    assert first["values"]["ratio"]["mean"] == pytest.approx(
        first["values"]["peer"]["mean"] / first["values"]["ours"]["mean"]
    )
    assert abs(first["values"]["excess"]["mean"]) < 1e3
    assert second["values"]["peer"]["mean"] is None
    assert (tmp_path / "figure1.png").read_bytes().startswith(b"\x89PNG")


def test_the_points_of_the_figure_are_balanced_and_standardized(data_folder):
    X, y = clouds(11, sizes=(40, 40, 40))
    data_folder(waveform=dict(X=X, y=y))
    Ks, codes = speed._draw_kernels(3, 31, 0)
    assert Ks.shape == (10, 31, 31)
    np.testing.assert_array_equal(np.bincount(codes), [11, 10, 10])
    squares = -np.log(Ks[-1]) * SIGMAS[-1] ** 2
    assert squares.sum() / 31**2 == pytest.approx(2 * 3)  # the mean squared distance is twice the variance
    again, other = speed._draw_kernels(3, 31, 0)[0], speed._draw_kernels(3, 31, 1)[0]
    np.testing.assert_array_equal(Ks, again)
    assert not np.array_equal(Ks, other)


def test_what_cvxopt_did_not_solve_is_left_out_and_said():
    def result(peer_seconds, status):
        rival = dict(seconds=peer_seconds, objective=2.0 + 2e-9, status=status)
        return dict(ours=dict(seconds=0.5, objective=2.0, gap=0.0), peer=rival)

    figure = STUDY.figure("1")
    unit = figure.units(1)[0]
    (row,) = figure.rows([(unit, result(5.0, "optimal")), (unit, result(100.0, "unknown"))])
    assert row["remark"] == "CVXOPT did not reach its tolerance on 1 of 2 samples, which are left out"
    assert row["values"]["peer"]["mean"] == 5.0
    assert row["values"]["ratio"]["mean"] == 10.0
    assert row["values"]["excess"]["mean"] == pytest.approx(1.0, rel=1e-6)
    assert row["values"]["ours"]["n"] == 2


def test_the_version_of_cvxopt_is_none_where_it_is_not(monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    assert peer.peer_version() == importlib.metadata.version("cvxopt")
    monkeypatch.setattr(importlib.metadata, "version", missing)
    assert peer.peer_version() is None


# --- rows --------------------------------------------------------------------------------------------------


def test_a_row_says_what_was_learned_chosen_and_not_solved():
    def result(accuracy, share, reg, status="optimal"):
        shares = [share, 100.0 - share]
        return dict(accuracy=accuracy, seconds=0.1, shares=shares, learned_reg=reg, status=status)

    learned = method_row("s", "m", [result(80.0, 1e-7, 1e-12), result(90.0, 3.0, 0.2, "max_iter")], 84.0, 30)
    assert learned["labels"] == {"method": "m"}
    assert learned["remark"] == (
        "λ = 0 on 1 of 2 splits, median of the others 0.2; not solved to tolerance on 1 of 2 splits"
    )
    assert learned["values"]["accuracy"]["difference"] == 1.0
    assert learned["values"]["accuracy"]["se_difference"] == pytest.approx(np.sqrt(50 * (1 / 2 + 1 / 30)))
    assert learned["values"]["shares"]["mean"] == [pytest.approx(1.5), pytest.approx(98.5)]
    chosen = [dict(accuracy=80.0, seconds=1.0, sigma=s, chosen_reg=s / 10) for s in (1.0, 10.0, 100.0)]
    row = method_row("s", "m", chosen, None, 30)
    assert row["remark"] == "median σ 10; median λ 1"
    assert set(row["values"]) == {"accuracy", "seconds"}
    assert row["values"]["accuracy"]["published"] is None


def fake_results(table, splits, keys, argument):
    return [
        (
            unit,
            dict(
                accuracy=80.0 + list(keys).index(unit.arguments[argument]) + unit.arguments["split"],
                seconds=0.1,
            ),
        )
        for unit in table.units(splits)
    ]


def test_rows_of_table_1_have_each_method_beside_its_published_accuracy():
    table = STUDY.table("1")
    rows = table.rows(fake_results(table, 2, binary.METHODS, "method"))
    assert len(rows) == 7 * 6
    found = {(row["section"], row["labels"]["method"]): row["values"]["accuracy"] for row in rows}
    for place, (key, label) in enumerate(binary.METHODS.items()):
        for setting in binary.SETTINGS:
            cell = found[setting.label, label]
            assert cell["mean"] == 80.5 + place
            assert cell["published"] == BINARY_ACCURACY[setting.dataset].get(key)
    assert found["breast cancer", binary.METHODS["kim"]]["published"] is None
    assert found["heart", "SDPθ,λ"]["published"] == 81.54


def test_rows_of_table_2_have_both_forms_and_their_difference():
    table = STUDY.table("2")
    rows = table.rows(fake_results(table, 2, multiclass.FORMULATIONS, "formulation"))
    assert [row["section"] for row in rows[::2]] == list(MULTICLASS_ACCURACY)
    for exact, approximate in zip(rows[::2], rows[1::2], strict=True):
        assert exact["labels"]["method"] == multiclass.FORMULATIONS["exact"]
        assert exact["values"]["accuracy"]["mean"] == 80.5
        assert approximate["values"]["change"]["mean"] == 1.0
        assert "change" not in exact["values"]
        assert exact["values"]["accuracy"]["published"] == MULTICLASS_ACCURACY[exact["section"]]
    errors = [row["values"]["accuracy"]["se_difference"] for row in rows[::2]]
    assert errors[0] < errors[1] == errors[4]  # a sample of ours beside one of theirs


# --- real data ---------------------------------------------------------------------------------------------


def test_a_split_of_heart_is_near_the_published_accuracies(shared_data, tmp_path):
    table = STUDY.table("1")
    heart = replace(table, units=lambda splits: [u for u in table.units(splits) if u.key.startswith("heart")])
    summary = run_table(STUDY, heart, folder=tmp_path, splits=1)
    found = {(row["section"], row["labels"]["method"]): row for row in summary["rows"]}
    assert len(found) == 2 * 6
    learned = found["heart", "SDPθ,λ"]
    # λ is zero where a kernel near the identity is in the bank, and a fixed small one learns the same
    assert learned["remark"] == "λ = 0 on 1 of 1 splits"
    fixed = found["heart", binary.METHODS["theta"]]["values"]
    assert learned["values"]["accuracy"]["mean"] == fixed["accuracy"]["mean"]
    np.testing.assert_allclose(learned["values"]["shares"]["mean"], fixed["shares"]["mean"], atol=0.01)
    narrow = found["heart, no kernel near the identity", "SDPθ,λ"]
    assert narrow["remark"].startswith("median λ 0.0")
    for row in found.values():
        assert row["values"]["accuracy"]["mean"] > 65.0
    assert "| SDPθ,λ |" in (tmp_path / "table1.md").read_text(encoding="utf-8")


def test_a_split_of_wine_is_classified(shared_data):
    for unit in STUDY.table("2").units(1)[:2]:
        assert unit.key.startswith("wine")
        found = unit.function(**unit.arguments)
        assert found["accuracy"] > 90.0
        assert found["status"] == "optimal"

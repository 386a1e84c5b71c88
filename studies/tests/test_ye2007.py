"""The study of Ye et al. (2007): splits, kernels, methods, rows, the general solver, and a small run."""

import importlib.metadata
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from judges.diagonal_discriminant import learn_diagonal_discriminant
from multikernel.core.scatter import class_columns
from multikernel.discriminant.classifier import KernelDiscriminantClassifier
from multikernel.discriminant.solver.learn import DiscriminantProblem, learn_discriminant
from multikernel.kernels import Gaussian
from multikernel.views import View
from studies import get_study, run_table
from studies.published import Published, count_and_sum
from studies.ye2007 import cost, forms, methods, peer, scaling, speed
from studies.ye2007.claims import claims
from studies.ye2007.published import (
    BINARY_ACCURACY,
    BINARY_METHODS,
    MULTICLASS_ACCURACY,
    MULTICLASS_METHODS,
    cells_of,
)
from studies.ye2007.rows import method_row
from studies.ye2007.setting import SIGMAS, Setting, Split, draw_split


def plain(sigma):
    """The Gaussian of the paper, columns and values as they are."""
    return View(f"{sigma}", Gaussian(s=sigma), standardize=False, normalize=None)


STUDY = get_study("ye2007")
thorough = pytest.mark.thorough


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


# --- what is printed ---------------------------------------------------------------------------------------


def test_every_printed_number_is_there_once():
    """Counts and sums, made by hand from the text: of the columns of both tables, then of all their cells."""
    columns = {
        "theta": ("348.40", "438.82"),
        "theta_lambda": ("362.80", "476.01"),
        "kim": ("259.58", "0"),
        "sm1": ("364.70", "0"),
        "sm2": ("364.26", "0"),
        "sm2_c": ("364.57", "0"),
        "rkda_cv": ("354.32", "473.98"),
        "svm_cv": ("361.63", "474.62"),
    }
    for key, sums in columns.items():
        for table, expected in zip((BINARY_ACCURACY, MULTICLASS_ACCURACY), sums, strict=True):
            cells = [row[key] for row in table.values() if row.get(key) is not None]
            assert count_and_sum(cells)[1] == Decimal(expected)
    assert count_and_sum(cells_of(BINARY_ACCURACY)) == (31, Decimal("2780.26"), 0)
    assert count_and_sum(cells_of(MULTICLASS_ACCURACY)) == (20, Decimal("1863.43"), 0)
    assert BINARY_ACCURACY["Cancer"]["kim"] is None
    assert all(cell.digits == 2 for cell in cells_of(BINARY_ACCURACY) + cells_of(MULTICLASS_ACCURACY))
    assert STUDY.table("1").cells == cells_of(BINARY_ACCURACY)
    assert STUDY.table("2").cells == cells_of(MULTICLASS_ACCURACY)


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


def test_a_sample_of_the_first_classes_is_drawn_once_and_split_at_random(data_folder):
    X, y = clouds(2, sizes=(20, 30, 25, 40))
    data_folder(clouds=dict(X=X, y=y))
    setting = Setting("clouds", "clouds", 0.6, scaling="none", classes=3, per_class=10)
    first, second = draw_split(setting, 0), draw_split(setting, 1)
    for points in (first, second):
        assert (len(points.y), len(points.y_test)) == (18, 12)
        np.testing.assert_array_equal(np.bincount(np.concatenate([points.y, points.y_test])), [10, 10, 10])
    samples = [{tuple(row) for row in np.concatenate([p.X, p.X_test])} for p in (first, second)]
    assert samples[0] == samples[1] <= {tuple(row) for row in X}
    assert {tuple(row) for row in first.X} != {tuple(row) for row in second.X}
    other = draw_split(setting, 0, sample=1)
    assert {tuple(row) for row in np.concatenate([other.X, other.X_test])} != samples[0]


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


@thorough
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


@pytest.mark.parametrize("weighted", [True, False])
def test_the_kernel_of_kim_classifies_along_the_fisher_direction_of_its_own_kernel(weighted):
    """Their program at its weights, by plain linear algebra: the inverse of the scatter, times d."""
    points = split_of_clouds(15, sizes=(120, 40), distance=0.5)
    training, test = points.stacks()
    found = methods.fit_kim(points, (training, test), 1e-4, weighted)
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
    parts = [np.mean(points.y == name) if weighted else 1.0 for name in (0, 1)]
    within = sum(parts[name] * np.cov(features[points.y == name].T, bias=True) for name in (0, 1))
    direction = np.linalg.solve(within + 1e-4 * np.eye(len(within)), means[1] - means[0])
    predicted = new @ direction > 0.5 * (means[0] + means[1]) @ direction
    assert found["accuracy"] == pytest.approx(100.0 * np.mean(predicted == points.y_test))
    assert 60.0 < found["accuracy"] < 100.0
    assert found["status"] == "optimal"


@pytest.mark.parametrize("method", methods.MARGINS)
def test_soft_margins_are_those_of_convex_combinations(method):
    """The dual of Lanckriet et al. at the learned matrix, and no kernel alone has a better value."""
    points = split_of_clouds(16, distance=0.6)
    found = methods.fit_margin(points, method)
    shares = np.array(found["shares"]) / 100.0
    assert shares.sum() == pytest.approx(1.0) and shares.min() >= 0.0
    assert (shares[0] > 0.0) <= (method == "sm2_c")
    Ks = np.moveaxis(points.stacks()[0], 2, 0)
    signs = np.where(points.y == 1, 1.0, -1.0)
    identity = np.eye(len(signs))

    def value(weights):
        """ω, by scikit-learn: the largest 2 α'1 − α'YKYα with α'y = 0, 0 ≤ α ≤ C."""
        ridge = {"sm1": 0.0, "sm2": 1.0, "sm2_c": weights[0]}[method]
        K = np.tensordot(weights[1:], Ks, 1) + ridge * identity
        machine = SVC(C=1.0 if method == "sm1" else 1e7, kernel="precomputed", tol=1e-9).fit(K, signs)
        dual = np.zeros(len(signs))
        dual[machine.support_] = machine.dual_coef_[0]
        return 2.0 * np.abs(dual).sum() - dual @ K @ dual

    best = value(shares)
    for alone in np.eye(len(shares))[0 if method == "sm2_c" else 1 :]:
        assert best <= value(0.9 * shares + 0.1 * alone) * (1.0 + 1e-6)
    assert found["status"] == "optimal"
    assert found["accuracy"] > 60.0


@thorough
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


@thorough
def test_the_support_vector_machine_is_that_of_a_grid_search():
    points = split_of_clouds(8, distance=0.8)
    found = methods.fit_support_vectors(points, points.stacks(), 5)
    grid = {"C": list(methods.C_GRID), "gamma": [sigma**-2 for sigma in SIGMAS[::-1]]}
    search = GridSearchCV(SVC(), grid, cv=StratifiedKFold(5, shuffle=True, random_state=5))
    search.fit(points.X, points.y)
    assert found["C"] == search.best_params_["C"]
    assert found["sigma"] ** -2 == pytest.approx(search.best_params_["gamma"])
    assert found["accuracy"] == pytest.approx(100.0 * search.score(points.X_test, points.y_test))


@thorough
def test_a_cross_validated_regularisation_is_that_of_a_grid_search():
    points = split_of_clouds(17, distance=0.7)
    found = methods.fit_reg_by_folds(points, points.stacks(), 5, tol=1e-6)
    search = GridSearchCV(
        KernelDiscriminantClassifier([plain(sigma) for sigma in SIGMAS], tol=1e-6),
        {"reg": list(methods.REG_GRID)},
        cv=StratifiedKFold(5, shuffle=True, random_state=5),
    ).fit(points.X, points.y)
    assert found["chosen_reg"] == search.best_params_["reg"]
    assert found["accuracy"] == pytest.approx(100.0 * search.score(points.X_test, points.y_test))
    assert found["factorisations"] >= 46


# --- the general solver ------------------------------------------------------------------------------------


@pytest.mark.parametrize("printed", [False, True])
@pytest.mark.parametrize("reg", [1e-2, 1e-6, None])
@pytest.mark.parametrize("form", ["each class", "diagonal", "full"])
def test_cvxopt_solves_the_same_programs(form, reg, printed):
    points = split_of_clouds(9, sizes=(12, 16, 11))
    Ks = np.ascontiguousarray(np.moveaxis(points.stacks()[0], 2, 0)[3:7])
    found = peer.solve_peer(Ks, points.y, reg, form, printed=printed)
    ours = (learn_diagonal_discriminant if form == "diagonal" else learn_discriminant)(
        DiscriminantProblem(Ks, points.y, reg)
    )
    assert found["status"] == "optimal" and found["seconds"] > 0.0 and 5 < found["iterations"] < 100
    assert found["objective"] == pytest.approx(ours.objective, rel=2e-6)
    n = len(points.y)
    traces = np.array([np.trace(K) - K.sum() / n for K in Ks])
    weights = np.array(found["weights"])
    assert weights @ traces == pytest.approx(1.0)
    # the objective at what it returns, by plain linear algebra: it is a kernel and a λ of that value
    P = np.eye(n) - 1.0 / n
    M = found["reg"] * np.eye(n) + P @ np.tensordot(weights, Ks, 1) @ P + np.ones((n, n)) / n
    H = class_columns(points.y)
    value = np.trace(H.T @ np.linalg.solve(M, H)) * (1.0 + n * found["reg"] if reg is None else reg)
    expected = ours.objective if form != "diagonal" else value
    assert value == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("reg", [1e-2, None])
def test_cvxopt_solves_the_program_of_two_classes(reg):
    points = split_of_clouds(9, sizes=(12, 16))
    Ks = np.ascontiguousarray(np.moveaxis(points.stacks()[0], 2, 0)[3:7])
    found = peer.solve_peer(Ks, points.y, reg, "full")
    ours = learn_discriminant(DiscriminantProblem(Ks, points.y, reg))
    assert found["objective"] == pytest.approx(ours.objective, rel=1e-6)


@thorough
def test_without_cvxopt_the_row_says_so_and_what_was_stored_is_not_used_again(
    data_folder, monkeypatch, tmp_path
):
    X, y = clouds(10, sizes=(40, 40, 40))
    data_folder(waveform=dict(X=X, y=y))
    monkeypatch.setattr(speed, "SIZES", (20, 30))
    monkeypatch.setattr(speed, "LARGEST_OF_PEER", 20)
    monkeypatch.setattr(speed, "PROGRAMS", speed.PROGRAMS[1:3])
    figure = STUDY.find("own", "speed")
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
    assert (tmp_path / "own-speed.png").read_bytes().startswith(b"\x89PNG")


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

    figure = STUDY.find("own", "speed")
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

    both = [result(80.0, 1e-7, 1e-12), result(90.0, 3.0, 0.2, "max_iter")]
    learned = method_row("s", "m", both, published=Published("84.0", place="here"), published_splits=30)
    assert learned["labels"] == {"method": "m"}
    assert learned["remark"] == (
        "λ = 0 on 1 of 2 splits, median of the others 0.2; not solved to tolerance on 1 of 2 splits"
    )
    assert learned["values"]["accuracy"]["difference"] == 1.0
    assert learned["values"]["accuracy"]["se_difference"] == pytest.approx(np.sqrt(50 * (1 / 2 + 1 / 30)))
    assert learned["values"]["shares"]["mean"] == [pytest.approx(1.5), pytest.approx(98.5)]
    chosen = [dict(accuracy=80.0, seconds=1.0, sigma=s, chosen_reg=s / 10) for s in (1.0, 10.0, 100.0)]
    row = method_row("s", "m", chosen)
    assert row["remark"] == "median σ 10; median λ 1"
    assert set(row["values"]) == {"accuracy"}
    assert row["values"]["accuracy"]["published"] is None


def test_where_samples_are_drawn_the_mean_of_a_sample_is_what_varies():
    accuracies = [80.0, 82.0, 90.0, 92.0]  # two samples of two splits
    results = [dict(accuracy=accuracy) for accuracy in accuracies]
    cell = Published("86.0", place="here")
    row = method_row("s", "m", results, published=cell, published_splits=1, per_sample=2)
    found = row["values"]["accuracy"]
    assert (found["n"], found["mean"]) == (2, 86.0)
    deviation = np.std([81.0, 91.0], ddof=1)
    assert found["se_difference"] == pytest.approx(deviation * np.sqrt(1 / 2 + 1))


def fake_results(table, splits, keys, argument):
    """Methods in the order of the keys, each a point better than the one before."""
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


@pytest.mark.parametrize(
    ("name", "keys", "printed"),
    [("1", BINARY_METHODS, BINARY_ACCURACY), ("2", MULTICLASS_METHODS, MULTICLASS_ACCURACY)],
)
def test_rows_have_each_method_beside_its_published_accuracy(name, keys, printed):
    table = STUDY.table(name)
    rows = table.rows(fake_results(table, 2, keys, "method"))
    assert [(row["section"], row["labels"]["method"]) for row in rows] == [
        (section, label) for section in printed for label in keys.values()
    ]
    for row in rows:
        key = next(key for key, label in keys.items() if label == row["labels"]["method"])
        cell, expected = row["values"]["accuracy"], printed[row["section"]][key]
        assert cell["mean"] == 80.5 + list(keys).index(key)
        assert cell["published"] == (None if expected is None else float(expected))
        assert cell.get("place") == (None if expected is None else expected.place)


def test_the_rows_of_figure_1_compare_forms_split_by_split():
    units = STUDY.figure("1").units(2)
    accuracies = dict(zip(forms.BARS, (80.0, 79.0, 90.0, 90.5), strict=True))
    iterations = dict(zip(forms.BARS, (30, 28, 20, 14), strict=True))
    results = []
    for unit in units:
        bar, split = unit.arguments["bar"], unit.arguments["split"]
        solved = not (split == 1 and bar == "SDPθ, approximate" and unit.key.startswith("Wine"))
        results.append(
            (
                unit,
                dict(
                    accuracy=accuracies[bar] + split,
                    seconds=3.0 if "exact" in bar else 1.0,
                    iterations=iterations[bar],
                    our_iterations=4,
                    excess=-2e-7,
                    status="optimal" if solved else "unknown",
                ),
            )
        )
    rows = {(r["section"], r["labels"]["form"]): r for r in STUDY.figure("1").rows(results)}
    assert list(dict.fromkeys(section for section, _ in rows)) == ["Waveform (3)", "Wine (3)", "USPS (3)"]
    wave = {bar: rows["Waveform (3)", bar]["values"] for bar in forms.BARS}
    assert wave["SDPθ, approximate"]["change"]["mean"] == -1.0
    assert wave["SDPθ,λ, approximate"]["change"]["mean"] == 0.5
    assert wave["SDPθ, approximate"]["ratio"]["mean"] == 3.0
    assert wave["SDPθ,λ, exact"]["fewer"]["mean"] == 10.0
    assert wave["SDPθ,λ, approximate"]["gained"]["mean"] == 11.5
    assert wave["SDPθ, exact"]["excess"]["mean"] == pytest.approx(2.0)
    assert "change" not in wave["SDPθ, exact"]
    wine = rows["Wine (3)", "SDPθ, approximate"]
    assert wine["remark"] == "CVXOPT did not reach its tolerance on 1 of 2 splits"
    assert wine["values"]["seconds"]["n"] == wine["values"]["ratio"]["n"] == 1
    empty = STUDY.figure("1").rows([(unit, {}) for unit in units])
    assert {row["remark"] for row in empty} == {peer.ABSENT}


# --- claims ------------------------------------------------------------------------------------------------


def summaries_of(accuracies, changes=0.0, ratio=3.0, share=1.0):
    """Summaries in which every method has an accuracy of its own, with a standard error of 0.1."""

    def rows(sections, key, values):
        return {
            "rows": [
                {"section": section, "labels": {key: name}, "values": value}
                for section in sections
                for name, value in values.items()
            ]
        }

    cells = {name: dict(accuracy=dict(mean=mean, se=0.1)) for name, mean in accuracies.items()}
    bars = {}
    for bar in forms.BARS:
        learned = "λ" in bar
        bars[bar] = {
            key: dict(mean=mean, se=0.0)
            for key, mean in dict(
                accuracy=90.0,
                change=changes,
                ratio=ratio,
                gained=0.0,
                excess=1.0,
                iterations=30.0 * (share if learned else 1.0),
            ).items()
        }
    return {
        "table1": rows(BINARY_ACCURACY, "method", cells),
        "table2": rows(MULTICLASS_ACCURACY, "method", cells),
        "figure1": rows([setting.label for setting in forms.DATA], "form", bars),
    }


def test_verdicts_follow_the_numbers():
    equal = dict.fromkeys(BINARY_METHODS.values(), 90.0)
    found = [claim.verdict for claim in claims(summaries_of(equal))]
    no, yes = "not reproduced", "reproduced"
    assert found == [no, yes, no, yes, no, yes, yes, yes, yes, no, yes, "cannot be tested"]
    better = equal | {"SDPθ,λ": 92.0}
    found = [claim.verdict for claim in claims(summaries_of(better, changes=-1.5, ratio=1.2, share=0.5))]
    assert found == [yes, no, yes, no, yes, no, no, no, yes, yes, yes, "cannot be tested"]
    claim = claims(summaries_of(better))[2]
    assert "Heart, RKDA_CV +2.00 (0.14)" in claim.evidence and "table 1" in claim.evidence


# --- real data ---------------------------------------------------------------------------------------------


@thorough
def test_a_split_of_heart_is_near_the_published_accuracies(shared_data, tmp_path):
    table = STUDY.table("1")

    def of_heart(splits):
        return [unit for unit in table.units(splits) if unit.key.startswith("heart")]

    def rows(results):
        found = {unit.arguments["method"]: result for unit, result in results}
        return [method_row("Heart", BINARY_METHODS[key], [result]) for key, result in found.items()]

    summary = run_table(STUDY, replace(table, units=of_heart, rows=rows), folder=tmp_path, splits=1)
    found = {row["labels"]["method"]: row for row in summary["rows"]}
    assert list(found) == list(BINARY_METHODS.values())
    learned = found["SDPθ,λ"]
    # λ is zero where a kernel near the identity is in the bank, and a fixed small one learns the same
    assert learned["remark"] == "λ = 0 on 1 of 1 splits"
    fixed = found["SDPθ"]["values"]
    assert learned["values"]["accuracy"]["mean"] == fixed["accuracy"]["mean"]
    np.testing.assert_allclose(learned["values"]["shares"]["mean"], fixed["shares"]["mean"], atol=0.01)
    for row in found.values():
        assert row["values"]["accuracy"]["mean"] > 65.0


@thorough
def test_a_split_of_wine_is_classified(shared_data):
    units = [unit for unit in STUDY.table("2").units(1) if unit.key.startswith("Wine")]
    units += [unit for unit in STUDY.figure("1").units(1) if unit.key.startswith("Wine")]
    assert len(units) == 4 + 4
    for unit in units:
        found = unit.function(**unit.arguments)
        assert found["accuracy"] > 90.0
        assert found.get("status", "optimal") == "optimal"
        assert abs(found.get("excess", 0.0)) < 1e-5


@thorough
def test_own_experiments_on_a_split_of_heart(shared_data):
    found = {
        unit.key: unit.function(**unit.arguments)
        for table in (scaling.TABLE, cost.TABLE)
        for unit in table.units(1)
        if unit.key.startswith("Heart/narrow")
    }
    assert len(found) == len(scaling.METHODS) + len(cost.METHODS)
    assert found["Heart/narrow/split=00/learn"]["learned_reg"] > 1e-6  # λ matters where nothing replaces it
    assert found["Heart/narrow/split=00/folds"]["factorisations"] > 40
    for table in (scaling.TABLE, cost.TABLE):
        units = [unit for unit in table.units(1) if unit.key in found]
        assert table.rows([(unit, found[unit.key]) for unit in units])

"""Localized kernels and local projections of Gönen (2010): folds, choices, rows, small runs, pictures."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_rel
from sklearn.metrics.pairwise import linear_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from multikernel.datasets import make_gauss
from multikernel.inspection import f_test_5x2cv
from multikernel.kernels import Linear
from studies import Published, get_study, plots, run_table
from studies.gonen2010.localized import (
    advert,
    convergence,
    dimensions,
    faces,
    motorcycle,
    multifeat,
    regression,
    rows,
    setting,
    toy,
    visual,
)
from studies.gonen2010.published_localized import NUMBERS

STUDY = get_study("gonen2010")
PNG = b"\x89PNG"


def linear_method(label="SVM"):
    return setting.global_method(label, lambda sample: [setting.unit_view("linear", Linear())])


def small_grid(monkeypatch, problem, **grid):
    monkeypatch.setattr(type(problem), "settings", lambda self: [grid])


# --- folds -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stratified", [True, False])
def test_a_third_is_the_test_and_the_rest_is_halved_five_times(stratified):
    y = np.repeat([0, 1], [60, 30]) if stratified else np.linspace(0.0, 1.0, 90)
    folds = setting.draw_halves(setting.Sample(np.zeros((90, 1)), y, {}), 3, stratified=stratified)
    assert len(folds) == 10 and len({tuple(fold.training) for fold in folds}) == 10
    for first, second in zip(folds[::2], folds[1::2], strict=True):
        np.testing.assert_array_equal(np.sort(first.training), np.sort(second.validation))
        everything = np.concatenate([first.training, first.validation, first.test])
        np.testing.assert_array_equal(np.sort(everything), np.arange(90))
        np.testing.assert_array_equal(first.test, folds[0].test)
        if stratified:
            assert all(y[part].sum() == 10 for part in (first.training, first.validation, first.test))
    other = setting.draw_halves(setting.Sample(np.zeros((90, 1)), y, {}), 4, stratified=stratified)
    assert set(other[0].test) != set(folds[0].test)


def test_two_pictures_of_each_person_test_and_one_validates():
    people = np.random.default_rng(0).permutation(np.repeat(np.arange(40), 10))
    folds = faces.draw_people(people, 1)
    assert len(folds) == 8
    for fold in folds:
        assert (len(fold.test), len(fold.validation), len(fold.training)) == (80, 40, 280)
        assert (np.bincount(people[fold.test]) == 2).all() and (
            np.bincount(people[fold.validation]) == 1
        ).all()
        assert set(fold.test) == set(folds[0].test)
        assert len(set(fold.test) | set(fold.validation) | set(fold.training)) == 400
    assert len(set(np.concatenate([fold.validation for fold in folds]))) == 320
    assert set(faces.draw_people(people, 2)[0].test) != set(folds[0].test)


# --- choices -----------------------------------------------------------------------------------------------


def test_the_best_mean_validation_chooses_and_the_machines_are_plain_ones():
    X, y = make_gauss("GAUSS2", 120, random_state=0)
    sample = setting.Sample(X, y, {})
    problem = setting.Problem(
        lambda: sample, {"svm": linear_method()}, setting.draw_halves, {"C": (0.001, 1.0, 100.0)}
    )
    found = setting.run_method(problem, "svm", 2)
    folds = setting.draw_halves(sample, 2)
    scores = {}
    for C in (0.001, 1.0, 100.0):
        validation, test = [], []
        for fold in folds:
            Z = StandardScaler().fit(X[fold.training]).transform(X)
            Z /= np.linalg.norm(Z, axis=1, keepdims=True)
            machine = SVC(C=C, kernel="precomputed", tol=1e-6)
            machine.fit(linear_kernel(Z[fold.training]), y[fold.training])
            for part, values in ((fold.validation, validation), (fold.test, test)):
                values.append(100.0 * machine.score(linear_kernel(Z[part], Z[fold.training]), y[part]))
        scores[C] = (np.mean(validation), test)
    best = max(scores, key=lambda C: scores[C][0])
    assert found["settings"] == {"C": best} and found["open"] == 0
    assert found["validation"] == pytest.approx(scores[best][0])
    np.testing.assert_allclose(found["test"], scores[best][1])
    assert found["weights"] is None and found["active"] is None


def test_of_equals_the_smallest_c_is_chosen_and_of_errors_the_least(monkeypatch):
    values = {(0.1, 1.0): 3.0, (0.1, 2.0): 1.0, (1.0, 1.0): 1.0, (1.0, 2.0): 2.0}

    def run_fold(model, sample, fold):
        score = values[model["C"], model["epsilon"]]
        return dict(validation=score, test=score, support=10.0, weights=None, active=None, settled=True)

    monkeypatch.setattr(setting, "run_fold", run_fold)
    method = setting.Method("", lambda sample, settings: settings)
    grid = {"C": (0.1, 1.0), "epsilon": (1.0, 2.0)}
    problem = setting.Problem(lambda: None, {"m": method}, lambda sample, split: [0, 1], grid, True)
    assert setting.run_method(problem, "m", 0)["settings"] == {"C": 0.1, "epsilon": 2.0}
    classes = replace(problem, is_regression=False)
    assert setting.run_method(classes, "m", 0)["settings"] == {"C": 0.1, "epsilon": 1.0}


def test_errors_are_mean_squares_of_an_epsilon_machine():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2))
    y = 10.0 * X[:, 0] + rng.normal(size=60)
    sample = setting.Sample(X, y, {})
    fold = setting.draw_halves(sample, 0, stratified=False)[0]
    model = regression.PROBLEMS["concrete"].methods["degree2"].build(sample, {"C": 10.0, "epsilon": 2.0})
    found = setting.run_fold(model, sample, fold)
    Z = StandardScaler().fit(X[fold.training]).transform(X)
    K = (Z @ Z.T + 1.0) ** 2
    K /= np.sqrt(np.outer(np.diag(K), np.diag(K)))
    machine = SVR(C=10.0, epsilon=2.0, kernel="precomputed", tol=1e-6)
    machine.fit(K[np.ix_(fold.training, fold.training)], y[fold.training])
    errors = machine.predict(K[np.ix_(fold.test, fold.training)]) - y[fold.test]
    assert found["test"] == pytest.approx(np.mean(errors**2), rel=1e-2)


# --- rows --------------------------------------------------------------------------------------------------


def test_a_printed_number_is_one_split_and_its_spread_over_folds_is_not_used():
    ours = [9.0, 11.0, 10.0, 14.0]
    cell = Published("10.0", "0.01", "table 1, row")
    found = setting.beside(ours, cell)
    assert found["se_difference"] == pytest.approx(np.std(ours, ddof=1) * np.sqrt(1.0 + 1.0 / 4))
    assert (found["printed"], found["place"]) == ("10.0 ± 0.01", "table 1, row")
    pair = setting.beside(np.column_stack([ours, ours]), [cell, Published("3", place="b")])
    assert pair["difference"] == pytest.approx([1.0, 8.0]) and pair["printed"] == ["10.0 ± 0.01", "3"]
    assert pair["se_difference"] == pytest.approx([found["se_difference"]] * 2)


def test_ten_folds_have_the_f_test_and_eight_the_paired_t_test():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 10))
    assert setting.paired_test(a, b) == f_test_5x2cv((a - b).reshape(5, 2)).pvalue
    assert setting.paired_test(a[:8], b[:8]) == ttest_rel(a[:8], b[:8]).pvalue
    assert setting.paired_test(a, a) == 1.0


def test_comparisons_are_counted_over_the_splits():
    rng = np.random.default_rng(4)
    levels = {"low": 80.0, "high": 90.0}
    found = {
        name: [dict(test=list(level + 0.1 * rng.normal(size=10))) for _ in range(3)]
        for name, level in levels.items()
    }
    pairs = [setting.Pair("high", "low", "test", ">"), setting.Pair("high", "absent", "test", ">")]
    (row,) = rows.pair_rows("Pairs", pairs, {"low": "Low", "high": "High"}, found)
    assert row["labels"] == {"method": "High", "rival": "Low", "of": "score", "paper": "more"}
    assert row["values"]["gain"]["mean"] == pytest.approx(10.0, abs=0.3)
    assert (row["values"]["more"]["mean"], row["values"]["less"]["mean"]) == (3.0, 0.0)


# --- small runs --------------------------------------------------------------------------------------------


def digits(n=90, seed=0):
    """Six tables of digits, the first of which tells small from large."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.integers(2, size=n) > 0, 7, 2)
    tables = {f"view_{name}": rng.normal(size=(n, 3)) for name in multifeat.REPRESENTATIONS}
    tables["view_fac"][:, 0] += np.where(y < 5, 3.0, -3.0)
    return tables | {"y": y}


def test_two_tables_share_their_units(data_folder, tmp_path, monkeypatch):
    data_folder(mfeat=digits())
    multifeat.load_digits.cache_clear()
    small_grid(monkeypatch, multifeat.PROBLEM, C=1.0)
    summary = run_table(STUDY, STUDY.table("5.16"), folder=tmp_path, splits=1)
    found = {row["labels"]["method"]: row for row in summary["rows"] if "rival" not in row["labels"]}
    assert (
        found["SVM (FAC)"]["values"]["accuracy"]["mean"]
        > 90.0
        > found["SVM (FOU)"]["values"]["accuracy"]["mean"]
    )
    assert found["MKL"]["values"]["accuracy"]["printed"] == "97.40 ± 0.37" and found["MKL"]["remark"] == "C 1"
    monkeypatch.setattr(multifeat, "run_method", None)  # nothing is left to be computed
    weights = run_table(STUDY, STUDY.table("5.17"), folder=tmp_path, splits=1)
    assert not (tmp_path / "table5.17.jsonl").exists()
    mkl = weights["rows"][0]["values"]["weights"]
    assert np.sum(mkl["mean"]) == pytest.approx(1.0) and np.argmax(mkl["mean"]) == 0
    assert mkl["printed"][0] == "0.2466" and weights["cells"]["published"] == 21
    multifeat.load_digits.cache_clear()


def test_a_stand_in_gives_way_to_the_real_data(data_folder, tmp_path, monkeypatch):
    rng = np.random.default_rng(5)
    y = rng.integers(2, size=90)
    words = (rng.uniform(size=(90, 6)) < 0.3 + 0.5 * y[:, None]).astype(float)
    small_grid(monkeypatch, advert.PROBLEMS[advert.REAL], C=1.0)
    data_folder(webkb_course=dict(view_page=words, view_anchor=words[:, :3], y=y))
    summary = run_table(STUDY, STUDY.table("5.19"), folder=tmp_path / "a", splits=1)
    assert all(row["stand_in"] for row in summary["rows"])
    assert summary["cells"]["compared"] == summary["cells"]["single"] == 0
    advert.load_set.cache_clear()
    data_folder(**{advert.REAL: {f"view_{name}": words for name in advert.ADVERT_VIEWS} | {"y": y}})
    summary = run_table(STUDY, STUDY.table("5.19"), folder=tmp_path / "b", splits=1)
    assert not any(row.get("stand_in") for row in summary["rows"])
    assert summary["cells"]["single"] == 20  # one split has no standard error
    advert.load_set.cache_clear()


def test_the_stand_in_of_wine_has_the_spread_of_its_grades(data_folder):
    rng = np.random.default_rng(6)
    data_folder(boston=dict(X=rng.normal(size=(50, 3)), y=20.0 + 9.0 * rng.normal(size=50)))
    regression.load_set.cache_clear()
    assert regression.load_set("boston").y.std() == pytest.approx(0.886)
    regression.load_set.cache_clear()


# --- faces -------------------------------------------------------------------------------------------------


@pytest.fixture
def few_faces(data_folder):
    rng = np.random.default_rng(7)
    people = np.repeat(np.arange(40), 10)
    images = rng.integers(0, 255, size=(400, 64, 64))
    images[np.isin(people, faces.WOMEN), 20:30, 20:30] //= 4  # a dark patch
    data_folder(olivetti=dict(X=images.reshape(400, -1).astype(np.uint8), y=people))
    faces.load_sample.cache_clear()
    yield images / 255.0
    faces.load_sample.cache_clear()


def test_a_face_is_cut_into_patches_and_means(few_faces):
    sample = faces.load_sample()
    np.testing.assert_allclose(
        sample.X[:, sample.columns["patch 6"]], few_faces[:, 16:32, 32:48].reshape(400, 256)
    )
    low = sample.X[:, sample.columns["16"]].reshape(400, 16, 16)
    np.testing.assert_allclose(low[:, 3, 5], few_faces[:, 12:16, 20:24].mean(axis=(1, 2)))
    np.testing.assert_allclose(sample.X[:, sample.columns["64"]], few_faces.reshape(400, -1))
    assert (sample.y == 1).sum() == 40


@pytest.mark.thorough
def test_gates_of_faces_are_learned_and_drawn(few_faces, tmp_path, monkeypatch):
    small_grid(monkeypatch, faces.PROBLEM, C=1.0)
    for name in ("5.10", "5.11", "5.12"):
        figure = STUDY.figure(name)
        summary = run_table(STUDY, figure, folder=tmp_path, splits=1)
        assert (tmp_path / f"figure{name}.png").read_bytes().startswith(PNG)
    parts = [row for row in summary["rows"] if "weights" in row["values"]]
    mkl = np.array([row["values"]["weights"]["mean"] for row in parts[:4]])
    assert mkl.shape == (4, 4) and mkl.sum() == pytest.approx(1.0)
    assert mkl[1, 1] == mkl.max()  # where the women differ
    assert not (tmp_path / "figure5.12.jsonl").exists()


# --- pictures of figures -----------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["4.3", "4.4", "3.2"])
def test_toys_are_learned_and_drawn(name, tmp_path, monkeypatch):
    monkeypatch.setattr(plots, "_STEPS", 25)
    small_grid(monkeypatch, multifeat.PROBLEM, C=10.0)
    summary = run_table(STUDY, STUDY.figure(name), folder=tmp_path, splits=1)
    assert (tmp_path / f"figure{name}.png").read_bytes().startswith(PNG)
    if name == "4.3":
        test = {row["labels"]["method"]: row["values"]["test"]["mean"] for row in summary["rows"]}
        assert test[toy.METHODS["gpk"]] < 80.0 and test[toy.METHODS["lpk"]] > 97.0
    if name == "3.2":
        counted = [row for row in summary["rows"] if row.get("counts", True)]
        assert len(counted) == 5 and summary["cells"]["published"] == 8
        accuracy = {row["labels"]["method"]: row["values"]["accuracy"]["mean"] for row in counted}
        assert accuracy["LMKL (k_L-k_P)"] > accuracy["MKL (k_L-k_P)"] + 2.0


def test_the_curves_have_a_point_for_each_number_of_kernels(tmp_path):
    result = dict(settings={"C": 1.0}, support=[20.0, 22.0], weights=None, active=None, open=0)
    found = {f"copies-{n}": [result | dict(test=[90.0 + n, 91.0 + n])] for n in (1, 2, 3)}
    section = rows.Section("Copies", multifeat.PROBLEM, "accuracy", "")
    made = rows.curve_rows(section, found, {f"copies-{n}": n for n in (1, 2, 3)})
    assert [row["labels"]["kernels"] for row in made] == ["1", "2", "3"]
    assert [row["values"]["accuracy"]["mean"] for row in made] == [91.5, 92.5, 93.5]
    assert made[0]["values"]["support_sd"]["mean"] == pytest.approx(np.sqrt(2.0))
    rows.draw_curves("accuracy", "accuracy", {"rows": made}, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(PNG)


@pytest.mark.thorough
def test_local_fits_are_those_of_the_kernels_and_gates_add_up(data_folder, monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0.0, 60.0, size=60))
    y = 4.0 * np.abs(x - 30.0) + rng.normal(size=60)
    data_folder(mcycle=dict(X=x[:, None], y=y))
    motorcycle._points.cache_clear()
    monkeypatch.setattr(motorcycle, "FOLDS", 2)
    monkeypatch.setattr(motorcycle, "EPSILON", 1.0)
    times = np.linspace(0.0, 60.0, 30)[:, None]
    fit, local, gates = motorcycle.mean_fits("biased", times)
    np.testing.assert_allclose(gates.sum(axis=1), 1.0)
    assert local.shape == (30, 3) and np.abs(fit - 4.0 * np.abs(times[:, 0] - 30.0)).mean() < 15.0
    assert np.ptp(np.diff(local, axis=0), axis=0) == pytest.approx(np.zeros(3), abs=1e-8)  # straight
    first = motorcycle.fit_curve("biased", x[:, None], y)
    parts = first.contributions(times)
    intercept = float(np.ravel(first.intercept_)[0])
    np.testing.assert_allclose(parts.sum(axis=1) + intercept, first.predict(times), rtol=1e-6)
    motorcycle.draw_figure({}, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(PNG)
    motorcycle._points.cache_clear()


@pytest.mark.parametrize(
    ("figure", "merged"),
    [("5.14", [1, -1, 1]), ("5.15", [-1, 1, 1]), ("5.16", [1, -1, 1]), ("5.17", [1, 1, -1])],
)
def test_classes_are_merged_as_the_thesis_says(figure, merged, data_folder):
    rng = np.random.default_rng(8)
    classes = np.repeat(np.arange(7), 250)
    data_folder(**{visual.SHOWN[figure].dataset: dict(X=rng.normal(size=(1750, 2)), y=classes)})
    visual.load_columns.cache_clear()
    X, shown, y = visual.load_shown(figure)
    per_class = 50 if figure == "5.14" else visual.PER_CLASS  # the library ships iris
    assert np.bincount(shown).tolist() == [per_class] * 3 and len(X) == len(y)
    assert [set(y[shown == c].tolist()) for c in range(3)] == [{sign} for sign in merged]
    np.testing.assert_array_equal(visual.load_shown(figure)[0], X)
    visual.load_columns.cache_clear()


def test_what_the_problems_of_few_dimensions_ask(data_folder, monkeypatch):
    y = np.random.default_rng(2).integers(10, size=50)
    X = np.arange(50.0)[:, None]
    data_folder(usps=dict(X=X, y=y), waveform=dict(X=X, y=y % 3))
    monkeypatch.setattr(dimensions, "N_POINTS", 30)
    asked = {"5.19": lambda i: y[i] % 3 < 2, "5.20": lambda i: y[i] % 2 == 0, "5.21": lambda i: y[i] < 5}
    for figure, positive in asked.items():
        dimensions.load_columns.cache_clear()
        dimensions.load_part.cache_clear()
        sample = dimensions.load_part(figure)
        chosen = sample.X[:, 0].astype(int)
        assert len(set(chosen)) == 30
        np.testing.assert_array_equal(sample.y == 1, positive(chosen))
    dimensions.load_columns.cache_clear()
    dimensions.load_part.cache_clear()


def test_methods_of_few_dimensions_are_what_they_are_called():
    methods = dimensions.PROBLEMS["5.19"].methods
    assert methods["pca-5"].build(None, {"C": 0.5})[1].n_components == 5
    assert len(methods["svm"].build(None, {"C": 0.5}).steps) == 2
    for key, regions in (("gpk-3", 1), ("lpk2-3", 2), ("lpk3-3", 3)):
        model = methods[key].build(None, {"C": 0.5})
        assert (model.n_regions, model.n_components, model.C) == (regions, 3, 0.5)
    assert STUDY.figure("5.20").stand_in and not STUDY.figure("5.19").stand_in


def test_few_dimensions_are_drawn_method_by_method(tmp_path):
    result = dict(settings={"C": 1.0}, test=[90.0, 92.0], support=[20.0, 22.0], active=2.0, open=0)
    figure = STUDY.figure("5.22")
    made = figure.rows([(unit, result) for unit in figure.units(1)])
    printed = [row for row in made if row["values"]["accuracy"].get("printed")]
    assert [row["labels"] for row in printed] == [
        {"method": "SVM", "dimensions": "all"},
        {"method": "LPK (P = 2)", "dimensions": "4"},
    ]
    figure.figure({"rows": made}, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(PNG)


@pytest.mark.thorough
def test_convergence_is_recorded_by_iteration_and_stopped_by_tau(data_folder, monkeypatch, tmp_path):
    rng = np.random.default_rng(9)
    y = rng.integers(3, size=150)
    data_folder(waveform=dict(X=rng.normal(size=(150, 4)) + 2.0 * np.eye(4)[y], y=y))
    dimensions.load_columns.cache_clear()
    dimensions.load_part.cache_clear()
    monkeypatch.setattr(convergence, "ITERATIONS", 4)
    found = convergence.compute_convergence("5.23", "lpk", 0)
    assert all(len(curve) == 4 for curve in found.values())
    assert (np.diff(found["objective"]) <= 1e-9 * found["objective"][0]).all()
    figure = STUDY.figure("5.23")
    made = figure.rows([(figure.units(1)[0], found)])
    assert [row["labels"].get("τ") for row in made][-2:] == ["0.01", "0.001"]
    assert made[-1]["values"]["iterations"]["printed"] == "13"
    figure.figure({"rows": made}, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(PNG)
    dimensions.load_columns.cache_clear()
    dimensions.load_part.cache_clear()


@pytest.mark.parametrize(("tau", "stop"), [(0.5, 3), (0.01, 4), (1e-6, 5)])
def test_the_descent_is_stopped_where_a_step_gains_too_little(tau, stop):
    assert convergence.stopped_at([8.0, 3.9, 3.8, 3.799, 3.7989], tau) == stop


# --- claims ------------------------------------------------------------------------------------------------


def pair_row(method, rival, of, paper, more, less):
    values = {"gain": dict(mean=1.0), "more": dict(mean=float(more)), "less": dict(mean=float(less))}
    labels = dict(method=method, rival=rival, of=of, paper=paper)
    return dict(section="s", labels=labels, values=values, remark="")


@pytest.mark.parametrize(
    ("paper", "more", "less", "verdict"),
    [
        ("more", 2, 0, "reproduced"),
        ("more", 1, 0, "not reproduced"),
        ("less", 2, 0, "not reproduced"),
        ("less", 0, 3, "reproduced"),
        ("no significant difference", 1, 1, "reproduced"),
        ("no significant difference", 2, 0, "not reproduced"),
    ],
)
def test_a_claim_is_judged_by_the_splits_on_which_it_is_significant(paper, more, less, verdict):
    from studies.gonen2010.claims_localized import _of_pairs

    row = pair_row("A", "B", "score", paper, more, less)
    pairs = [("A", "B", "score")]
    claim = _of_pairs({"rows": [row], "splits": 3}, "table 1", "A is so.", pairs)
    assert claim.verdict == verdict
    assert "A − B, score: +1.00" in claim.evidence
    other = {"rows": [row | dict(stand_in="Other data.")], "splits": 3}
    stand_in = _of_pairs(other, "table 1", "A is so.", pairs)
    assert stand_in.verdict == "cannot be tested"


def test_every_row_of_the_published_tables_is_a_method():
    problems = {
        "table5.16": multifeat.PROBLEM,
        "table5.17": multifeat.PROBLEM,
        "table5.19": advert.PROBLEMS[advert.REAL],
        "table5.20": advert.PROBLEMS[advert.REAL],
        "table5.21": faces.PROBLEM,
        "table5.22": regression.PROBLEMS["concrete"],
        "table5.23": regression.PROBLEMS["concrete"],
        "table5.24": regression.PROBLEMS[regression.WINE],
        "table5.25": regression.PROBLEMS[regression.WINE],
    }
    for stem, problem in problems.items():
        assert set(NUMBERS[stem]) <= set(problem.methods), stem

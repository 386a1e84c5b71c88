"""The study of Yeung et al. (2006): splits, kernels, classifiers, rows, fresh data sets, a small run."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from multikernel.kernels import Gaussian
from multikernel.spectral import KernelKNNClassifier, SpectralKernelClassifier
from studies import get_study, run_table
from studies.yeung2006 import accuracies, setting
from studies.yeung2006.classifiers import classify, leave_one_out_errors
from studies.yeung2006.fresh import CHOSEN, PLAIN, compute_fresh
from studies.yeung2006.kernels import KERNELS, LearnedKernel, learned_kernels
from studies.yeung2006.published import COLUMNS, published_accuracy
from studies.yeung2006.setting import WIDTHS, Split, draw_split, gaussian_kernels

pytestmark = pytest.mark.thorough

STUDY = get_study("yeung2006")
FOUR = {"1": "monks3", "2": "ionosphere", "3": "wdbc", "4": "wine"}


def clouds(seed, n, n_classes=2, distance=1.5):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n) % n_classes)
    return rng.normal(size=(n, 3)) + distance * np.eye(3)[codes], codes


def standardised_split(seed, n=40, n_labelled=16, n_classes=2):
    X, codes = clouds(seed, n, n_classes)
    return Split((X - X.mean(axis=0)) / X.std(axis=0), codes, n_labelled)


# --- units and published figures ---------------------------------------------------------------------------


def test_published_figures_are_those_of_two_kernels_on_four_sets_and_no_others():
    given = {
        (dataset, kernel, percent, column): published_accuracy(dataset, percent, kernel, column)
        for dataset in (*FOUR.values(), "boston")
        for kernel in KERNELS
        for percent in (20, 40)
        for column in COLUMNS
    }
    known = {key for key, value in given.items() if value is not None}
    assert {key[:2] for key in known} == {(d, k) for d in FOUR.values() for k in ("gaussian", "separability")}
    assert len(known) == 4 * 2 * 2 * 4
    assert given["ionosphere", "separability", 20, "svm1000"] == 85.2
    assert all(70.0 < given[key] < 100.0 for key in known)


# --- data --------------------------------------------------------------------------------------------------


def test_a_split_is_a_permutation_that_its_number_gives(data_folder):
    X, codes = clouds(0, 50)
    X = np.column_stack([np.arange(50.0), X, np.ones(50)])
    rare = np.where(np.arange(50) < 4, 7, codes)  # a class of four: two of them must be labelled
    data_folder(few=dict(X=X, y=rare))
    for number in range(20):
        split = draw_split("few", 40, number)
        assert split.n_labelled == len(split.labels) == 20
        np.testing.assert_allclose(split.X.mean(axis=0), 0.0, atol=1e-12)
        np.testing.assert_allclose(split.X.std(axis=0), [1, 1, 1, 1, 0], atol=1e-12)
        place = np.round(split.X[:, 0] * X[:, 0].std() + X[:, 0].mean()).astype(int)
        assert sorted(place) == list(range(50))
        np.testing.assert_array_equal(np.unique(rare)[split.codes], rare[place])
        assert np.bincount(split.labels, minlength=3).min() >= 2
        np.testing.assert_array_equal(split.X, draw_split("few", 40, number).X)
    assert not np.array_equal(draw_split("few", 40, 0).X, draw_split("few", 40, 1).X)


def test_prices_are_cut_into_three_classes_at_their_terciles(data_folder):
    prices = np.random.default_rng(1).permutation(np.arange(30.0))
    data_folder(houses=dict(X=np.random.default_rng(2).normal(size=(30, 2)), y=prices))
    _, codes = setting.load_classes("houses")
    np.testing.assert_array_equal(codes, (prices >= 10).astype(int) + (prices >= 20))


def test_the_gaussian_kernels_are_their_formula_and_none_comes_twice():
    X = standardised_split(3).X
    squares = squareform(pdist(X, "sqeuclidean"))
    kernels = dict(gaussian_kernels(X))
    # At 1e-4 and 1e-3 no two points are alike: the identity is given once.
    assert list(kernels) == [width for width in WIDTHS if width != "1e-3"]
    mean_square = pdist(X, "sqeuclidean").mean()
    for width, K in kernels.items():
        expected = np.exp(-squares / (mean_square if width == "d̄²" else float(width)))
        np.testing.assert_allclose(K, expected, atol=1e-12)


def test_points_at_equal_distances_are_equally_similar():
    grid = np.stack(np.meshgrid([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]), axis=-1).reshape(-1, 2)
    X = (grid - grid.mean(axis=0)) / grid.std(axis=0)
    K = dict(gaussian_kernels(X))["d̄²"]
    assert len(np.unique(K)) == 6  # 0, 1, 2, 4, 5 and 8 steps squared


# --- classifiers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*COLUMNS, "kdda"])
def test_classifiers_on_a_linear_kernel_are_those_of_scikit_learn(name):
    X, codes = clouds(4, 90, n_classes=3)
    X, X_new, codes = X[:60], X[60:], codes[:60]
    if name == "kdda":
        # Of the discriminant directions KDDA keeps those that span the class means, scaled so that S_w + S_b
        # is the identity there: distances after projection on the means, with that metric.
        means = np.array([X[codes == c].mean(axis=0) for c in range(3)])
        basis = np.linalg.svd(means - X.mean(axis=0), full_matrices=False)[2][:2]
        Z, Z_new = X @ basis.T, X_new @ basis.T
        inverse = np.linalg.inv(np.cov(Z.T, bias=True))
        rival = KNeighborsClassifier(1, metric="mahalanobis", metric_params={"VI": inverse}).fit(Z, codes)
        expected = rival.predict(Z_new)
    elif name.startswith("nn"):
        neighbours = KNeighborsClassifier(int(name[2:])).fit(X, codes).kneighbors(X_new)[1]
        expected = [Counter(codes[row].tolist()).most_common(1)[0][0] for row in neighbours]  # ties: nearest
    else:
        X, X_new = 0.03 * X, 0.03 * X_new  # so small that C matters
        fitted = {C: SVC(C=C, kernel="linear").fit(X, codes).predict(X_new) for C in (100.0, 1000.0)}
        expected, other = fitted.pop(float(name[3:])), *fitted.values()
        assert not np.array_equal(expected, other)
    found = classify(name, X @ X.T, codes, X_new @ X.T)
    np.testing.assert_array_equal(found, expected)
    assert len(set(found)) == 3


@pytest.mark.parametrize("relearned", [False, True])
def test_leave_one_out_counts_what_a_plain_loop_counts(relearned):
    """Also where it takes what one fit to all points says of those that the machine does not rest on."""
    X, codes = clouds(5, 30, n_classes=3, distance=1.0)
    squares = squareform(pdist(X, "sqeuclidean"))
    asked = []

    def without(i):
        asked.append(i)
        return np.exp(-squares / (0.5 + 20.0 * (i % 2) if relearned else 6.0))

    kernel = LearnedKernel("6", None, without(0), without, is_relearned=relearned)
    limits = dict.fromkeys((*COLUMNS, "kdda"), 31)
    found = leave_one_out_errors(kernel, codes, limits)
    for name in limits:
        wrong = 0
        for i in range(30):
            o, K = np.arange(30) != i, without(i)
            wrong += classify(name, K[np.ix_(o, o)], codes[o], K[i : i + 1, o])[0] != codes[i]
        assert found[name] == wrong, name
    if not relearned:
        rival = cross_val_predict(SVC(C=100.0, kernel="precomputed"), without(0), codes, cv=LeaveOneOut())
        assert found["svm100"] == np.sum(rival != codes) > 0
    asked.clear()
    assert leave_one_out_errors(kernel, codes, {"svm1000": 31}) == {"svm1000": found["svm1000"]}
    assert (len(set(asked)) == 30) == relearned


def test_ties_are_taken_in_one_order_whether_a_point_is_left_out_or_new():
    """No point is like another: new points get the class of one labelled point, and so do those left out."""
    for n in range(20, 40):
        codes = clouds(n, n, n_classes=3)[1]
        (given,) = set(classify("nn1", np.eye(n), codes, np.zeros((4, n))))
        kernel = LearnedKernel("", None, np.eye(n), lambda i, n=n: np.eye(n), is_relearned=False)
        errors = leave_one_out_errors(kernel, codes, {"nn1": n + 1})["nn1"]
        assert abs(errors - np.sum(codes != given)) <= 1  # the one point itself meets the next


def test_a_classifier_is_left_as_soon_as_it_has_as_many_errors_as_its_limit():
    X, codes = clouds(5, 30, n_classes=3, distance=1.0)
    asked = []

    def without(i):
        asked.append(i)
        return X @ X.T

    kernel = LearnedKernel("", None, X @ X.T, without)
    errors = leave_one_out_errors(kernel, codes, {"nn1": 31, "nn3": 31})
    limits = {"nn1": errors["nn1"], "nn3": errors["nn3"] + 1}
    assert leave_one_out_errors(kernel, codes, limits) == {"nn3": errors["nn3"]}
    asked.clear()
    assert leave_one_out_errors(kernel, codes, {"nn1": 1}) == {}
    assert len(asked) < 30
    easy = 9.0 * np.eye(3)[codes]
    asked.clear()
    assert leave_one_out_errors(LearnedKernel("", None, easy @ easy.T, without), codes, {"nn1": 0}) == {}
    assert asked == []  # nothing is better than no errors


# --- kernels -----------------------------------------------------------------------------------------------


def separability_by_the_book(K, codes, eig_tol):
    """Z of the closed form, from class means of the labelled rows of the eigenvectors."""
    w, V = np.linalg.eigh(K)
    V, w = V[:, w > eig_tol * w[-1]], w[w > eig_tol * w[-1]]
    L = V[: len(codes)]
    means = np.array([L[codes == c].mean(axis=0) for c in range(codes.max() + 1)])
    f = np.mean((means[codes] - L.mean(axis=0)) ** 2, axis=0)
    g = np.mean((L - means[codes]) ** 2, axis=0)
    d = f - 1e4 * g
    return V * (np.sqrt(w).sum() / d / np.sum(1.0 / d))


def alignment_by_the_book(K, codes):
    w, V = np.linalg.eigh(K)
    V = V[:, w > 0.01 * w[-1]]
    products = (V[: len(codes)].T @ (2.0 * codes - 1.0)) ** 2
    return V * np.sqrt(products * np.trace(K) / products.sum())


@pytest.mark.parametrize("kernel", ["separability", "alignment"])
def test_a_spectral_kernel_is_its_formula_also_without_a_point(kernel):
    points = standardised_split(6)
    codes, n = points.labels, points.n_labelled
    candidates = {candidate.width: candidate for candidate in learned_kernels(kernel, points)}
    K0 = dict(gaussian_kernels(points.X))["5"]
    found = candidates["5"]
    assert found.name == "5, 0.01"

    def by_the_book(K, labels):
        if kernel == "alignment":
            return alignment_by_the_book(K, labels)
        return separability_by_the_book(K, labels, 0.01)

    Z = by_the_book(K0, codes)
    np.testing.assert_allclose(found.K, Z @ Z.T, atol=1e-9 * np.abs(found.K).max())
    for i in (0, 7, 15):
        order = np.r_[
            np.delete(np.arange(n), i), i, np.arange(n, len(K0))
        ]  # the point left out is unlabelled
        Z = np.empty_like(Z)
        Z[order] = by_the_book(K0[np.ix_(order, order)], np.delete(codes, i))
        expected = Z[:n] @ Z[:n].T
        np.testing.assert_allclose(found.without(i), expected, atol=1e-8 * np.abs(expected).max())


def test_thresholds_that_keep_the_same_eigenvectors_are_tried_once():
    points = standardised_split(7)
    candidates = list(learned_kernels("separability_loo", points))
    by_width = Counter(candidate.width for candidate in candidates)
    assert by_width["1e-4"] == 1  # the identity: all eigenvalues are equal
    assert by_width["d̄²"] > 1
    for candidate in candidates:
        K0 = dict(gaussian_kernels(points.X))[candidate.width]
        if candidate.width == "10":
            Z = separability_by_the_book(K0, points.labels, candidate.eig_tol)
            np.testing.assert_allclose(candidate.K, Z @ Z.T, atol=1e-8 * np.abs(candidate.K).max())


def test_a_conformal_kernel_rescales_the_plain_one_and_leaves_more_room_between_the_classes():
    points = standardised_split(8)
    plain = {candidate.width: candidate for candidate in learned_kernels("gaussian", points)}["5"]
    found = {candidate.width: candidate for candidate in learned_kernels("conformal", points)}["5"]
    ratio = found.K / plain.K
    np.testing.assert_allclose(ratio, np.sqrt(np.outer(ratio.diagonal(), ratio.diagonal())), rtol=1e-9)

    def separability(K):
        codes, n = points.labels, points.n_labelled
        K = K[:n, :n]
        same = (codes[:, None] == codes) / np.bincount(codes)[codes]
        return (np.sum(K * same) - K.sum() / n) / (np.trace(K) - np.sum(K * same))

    assert separability(found.K) > separability(plain.K)
    np.testing.assert_array_equal(found.without(3), found.K[:16, :16])


def test_columns_are_told_apart_by_a_hair():
    points = standardised_split(9)
    plain = {candidate.width: candidate.K for candidate in learned_kernels("separability", points)}
    apart = {candidate.width: candidate.K for candidate in learned_kernels("separability_apart", points)}
    difference = np.abs(plain["5"] - apart["5"]).max() / np.abs(plain["5"]).max()
    assert 1e-6 < difference < 1e-2


# --- one split and the rows --------------------------------------------------------------------------------


def test_a_split_chooses_by_leave_one_out_and_judges_by_the_others(data_folder):
    X, codes = clouds(10, 30)
    data_folder(monks3=dict(X=X, y=codes))
    points = draw_split("monks3", 40, 3)
    n = points.n_labelled
    for kernel in ("gaussian", "separability_loo"):
        found = accuracies.compute_split("monks3", 40, 3, kernel)
        candidates = list(learned_kernels(kernel, points))
        for name in ("nn3", "svm100"):
            errors = [leave_one_out_errors(c, points.labels, {name: n + 1})[name] for c in candidates]
            best = candidates[int(np.argmin(errors))]  # the first of equals
            assert found["errors"][name] == min(errors)
            assert found["chosen"][name] == best.name
            guesses = classify(name, best.K[:n, :n], points.labels, best.K[n:, :n])
            assert found["accuracy"][name] == pytest.approx(100.0 * np.mean(guesses == points.codes[n:]))
        extra = {"kdda"} if kernel == "gaussian" else set()
        assert set(found["accuracy"]) == set(COLUMNS) | extra


def made_up(unit):
    """Accuracies that tell their kernel, column and split."""
    base = 10.0 * list(KERNELS).index(unit.arguments["kernel"]) + unit.arguments["split"]
    names = (*COLUMNS, "kdda") if unit.arguments["kernel"] == "gaussian" else COLUMNS
    return {
        "accuracy": {name: base + 0.1 * place for place, name in enumerate(names)},
        "errors": dict.fromkeys(names, 1),
        "chosen": {name: "d̄²" if unit.arguments["split"] else "10" for name in names},
    }


@pytest.mark.parametrize(("name", "dataset"), [("1", "monks3"), ("5", "boston")])
def test_rows_have_every_kernel_and_gains_on_the_same_splits(name, dataset):
    table = STUDY.table(name)
    rows = table.rows([(unit, made_up(unit)) for unit in table.units(3)])
    kernels = [kernel for kernel in KERNELS if kernel in {u.arguments["kernel"] for u in table.units(1)}]
    n_separability = 3 if dataset == "monks3" else 2
    assert Counter(row["section"] for row in rows) == {
        "20% labelled": len(kernels) + 1,
        "40% labelled": len(kernels) + 1,
        accuracies._GAIN: 2 * n_separability,
    }
    found = {tuple(row["labels"].values()): row for row in rows if row["section"] != "40% labelled"}
    for kernel in kernels:
        row = found[(KERNELS[kernel],)]
        for place, column in enumerate(COLUMNS):
            value = row["values"][column]
            assert value["mean"] == pytest.approx(10 * list(KERNELS).index(kernel) + 1 + 0.1 * place)
            assert value["published"] == published_accuracy(dataset, 20, kernel, column)
        assert row["remark"].endswith("most often d̄² / d̄² / d̄² / d̄²")
        is_given = kernel in ("gaussian", "separability") and dataset != "boston"
        assert ("not given" in row["remark"]) == (not is_given)
    direct = found[("KDDA of the Gaussian",)]
    assert set(direct["values"]) == {"nn1"}
    assert direct["values"]["nn1"]["mean"] == pytest.approx(1.4)
    gain = found["20%", KERNELS["separability"]]["values"]["nn3"]
    assert gain["mean"] == pytest.approx(10.0)
    assert gain["se"] == pytest.approx(0.0, abs=1e-12)
    assert gain["published"] == (pytest.approx(89.5 - 78.1) if dataset == "monks3" else None)


def test_every_page_says_what_is_ours_and_that_the_threshold_has_seen_these_sets():
    for table in accuracies.TABLES:
        name, text = table.name, " ".join((*table.protocol, *table.notes))
        assert "numbering" in text
        assert "after seeing" in text
        assert ("terciles" in text) == (name == "5")
        assert ("integers" in text) == (name == "1")


# --- real data ---------------------------------------------------------------------------------------------


def test_a_split_of_wine_is_run_and_written(shared_data, tmp_path):
    table = STUDY.table("4")
    few = replace(
        table, units=lambda splits: [u for u in table.units(splits) if u.arguments["percent"] == 20]
    )
    summary = run_table(STUDY, few, folder=tmp_path, splits=1)
    page = (tmp_path / "table4.md").read_text(encoding="utf-8")
    assert page.count("| KDDA of the Gaussian |") == 1
    for row in summary["rows"]:
        if row["section"] != accuracies._GAIN:
            for value in row["values"].values():
                assert 80.0 < value["mean"] <= 100.0  # the largest class has 40% of the points
                if value["published"] is not None:
                    assert abs(value["difference"]) < 10.0


def test_the_eigenvalues_of_monks_3_repeat_until_the_columns_are_told_apart(shared_data):
    X, codes = setting.load_classes("monks3")
    assert np.bincount(codes).tolist() == [204, 228]
    for scale, n_distinct in ((np.ones(6), 9), (1.0 + 1e-4 * np.arange(6), 22)):
        values = np.linalg.eigvalsh(dict(gaussian_kernels(X * scale))["d̄²"])
        kept = values[values > 0.01 * values[-1]] / values[-1]
        assert kept.size == 22
        assert len(np.unique(np.round(kept, 9))) == n_distinct


# --- defaults on fresh data sets ---------------------------------------------------------------------------


@pytest.mark.parametrize(("dataset", "percent"), [("iris", 20), ("sonar", 40)])
def test_fresh_data_sets_have_the_accuracies_of_the_estimators(shared_data, dataset, percent):
    found = compute_fresh(dataset, percent, 3)
    points = draw_split(dataset, percent, 3)
    n = points.n_labelled
    X, y, X_new, y_new = points.X[:n], points.codes[:n], points.X[n:], points.codes[n:]
    kernel = Gaussian(gamma=1.0 / np.mean(pdist(points.X, "sqeuclidean")))

    def accuracy(**parameters):
        model = SpectralKernelClassifier(kernel, **parameters).fit(X, y, X_new)
        return 100.0 * np.mean(model.transduction_ == y_new)

    for key, parameters in {"nn1": {}, "nn3": {"n_neighbors": 3}, "svm100": {"classifier": "svm"}}.items():
        assert found["eig_tol 0.01"][key] == pytest.approx(accuracy(**parameters))
        relative = {"reg": ("relative", 1.5), "center": True, **parameters}
        assert found["centred, eig_tol 0.1, α = 1.5 α*"][key] == pytest.approx(accuracy(**relative))
        chosen = SpectralKernelClassifier(**parameters).fit(X, y, X_new)
        assert found[CHOSEN][key] == pytest.approx(100.0 * np.mean(chosen.transduction_ == y_new))
    plain = KernelKNNClassifier(kernel, n_neighbors=3).fit(X, y)
    assert found[PLAIN]["nn3"] == pytest.approx(100.0 * plain.score(X_new, y_new))
    machine = SVC(C=100.0, gamma=kernel.gamma).fit(X, y)
    assert found[PLAIN]["svm100"] == pytest.approx(100.0 * machine.score(X_new, y_new))


def test_the_gain_on_fresh_data_sets_is_that_of_the_same_splits(shared_data):
    table = STUDY.table("fresh")
    units = [unit for unit in table.units(2) if unit.arguments["percent"] == 40]
    rng = np.random.default_rng(0)
    names = list(compute_fresh("iris", 20, 0))
    results = [
        {name: {key: rng.uniform(50, 90) for key in ("nn1", "nn3", "svm100")} for name in names}
        for _ in units
    ]
    rows = table.rows(list(zip(units, results, strict=True)))
    gain = next(r for r in rows if r["section"].startswith("Gain") and r["labels"]["kernel"] == names[1])
    expected = np.mean([result[names[1]]["nn1"] - result[PLAIN]["nn1"] for result in results])
    assert gain["values"]["nn1"]["mean"] == pytest.approx(expected)
    assert gain["values"]["nn1"]["n"] == 2

"""The study of Yeung et al. (2006): splits, kernels, classifiers, rows, fresh data sets, a small run."""

import itertools
from collections import Counter
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from multikernel.kernels import Gaussian
from multikernel.spectral import KernelKNNClassifier, SpectralKernelClassifier
from multikernel.spectral.conformal import choose_cores
from studies import get_study, run_table
from studies.data import VARIABLE
from studies.engine import summarize
from studies.points import standardize
from studies.published import count_and_sum
from studies.yeung2006 import accuracies, faces, setting, toy
from studies.yeung2006.claims import claims
from studies.yeung2006.classifiers import classify, leave_one_out_errors
from studies.yeung2006.fresh import CHOSEN, PLAIN, compute_fresh
from studies.yeung2006.kernels import KERNELS, VARIANTS, LearnedKernel, learned_kernels
from studies.yeung2006.preparation import CUTS, PREPARATIONS, READINGS, compute_reading
from studies.yeung2006.published import ACCURACIES, COLUMNS, LEAVE_ONE_OUT, NUMBERS, published_accuracy
from studies.yeung2006.setting import WIDTHS, Split, draw_split, gaussian_kernels
from studies.yeung2006.wine import compute_left_out

pytestmark = pytest.mark.thorough

STUDY = get_study("yeung2006")


def clouds(seed, n, n_classes=2, distance=1.5):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n) % n_classes)
    return rng.normal(size=(n, 3)) + distance * np.eye(3)[codes], codes


def standardised_split(seed, n=40, n_labelled=16, n_classes=2):
    X, codes = clouds(seed, n, n_classes)
    return Split((X - X.mean(axis=0)) / X.std(axis=0), codes, n_labelled)


# --- units and published figures ---------------------------------------------------------------------------


# Of the text of the paper: how many numbers each table has, their sum, and the sum of what follows ±.
SUMS = {
    "monks3": (32, "2853.44", "5.41"),
    "ionosphere": (32, "2694.97", "6.52"),
    "wdbc": (32, "2979.17", "8.14"),
    "wine": (24, "2279.46", "9.35"),
    "boston": (24, "1866.71", "5.50"),
}


@pytest.mark.parametrize("dataset", SUMS)
def test_every_printed_number_is_there_with_its_plus_minus(dataset):
    cells = [cell for (name, *_), cell in ACCURACIES.items() if name == dataset]
    count, total, spread = SUMS[dataset]
    assert count_and_sum(cells) == (count, Decimal(total), Decimal(spread))
    assert all(cell.digits == 2 and len(cell.plus_minus) == 4 for cell in cells)
    table = STUDY.table(str(NUMBERS[dataset]))
    assert list(table.cells) == cells
    rows = {cell.place.split(", ")[2] for cell in cells}
    assert rows == {"RBF", "Xiong's", "Ours"} | ({"Alignment"} if count == 32 else set())


def test_single_cells_are_those_of_the_paper():
    assert len(ACCURACIES) == 144
    cell = published_accuracy("ionosphere", 20, "separability", "svm1000")
    assert str(cell) == "85.15 ± 0.05" and cell.place == "table 2, 20% labelled, Ours, SVM, C = 1000"
    assert str(published_accuracy("wdbc", 20, "alignment", "nn3")) == "88.77 ± 1.87"
    assert str(published_accuracy("boston", 40, "conformal", "nn1")) == "79.47 ± 0.39"
    assert published_accuracy("wine", 20, "alignment", "nn1") is None
    assert count_and_sum(LEAVE_ONE_OUT.values()) == (2, Decimal("199.14"), Decimal("2.15"))
    assert all(cell.doubt for cell in LEAVE_ONE_OUT.values())


# --- data --------------------------------------------------------------------------------------------------


def test_a_split_is_a_permutation_that_its_number_gives(data_folder):
    X, codes = clouds(0, 50)
    X = np.column_stack([np.arange(50.0), X, np.ones(50)])
    rare = np.where(np.arange(50) < 4, 7, codes)  # a class of four: two of them must be labelled
    data_folder(few=dict(X=X, y=rare))
    for number in range(20):
        split = draw_split("few", 40, number, by_class=False)
        assert split.n_labelled == len(split.labels) == 20
        np.testing.assert_allclose(split.X.mean(axis=0), 0.0, atol=1e-12)
        np.testing.assert_allclose(split.X.std(axis=0), [1, 1, 1, 1, 0], atol=1e-12)
        place = np.round(split.X[:, 0] * X[:, 0].std() + X[:, 0].mean()).astype(int)
        assert sorted(place) == list(range(50))
        np.testing.assert_array_equal(np.unique(rare)[split.codes], rare[place])
        assert np.bincount(split.labels, minlength=3).min() >= 2
        np.testing.assert_array_equal(split.X, draw_split("few", 40, number, by_class=False).X)
    assert not np.array_equal(draw_split("few", 40, 0).X, draw_split("few", 40, 1).X)


def test_the_share_of_each_class_is_rounded_up(data_folder):
    codes = np.repeat([0, 1, 2], [11, 20, 4])
    X = np.arange(35.0)[:, None]
    data_folder(few=dict(X=X, y=codes))
    seen = set()
    for number in range(5):
        split = draw_split("few", 20, number)
        assert np.bincount(split.labels).tolist() == [3, 4, 1] and split.n_labelled == 8
        place = np.round(split.X[:, 0] * X.std() + X.mean()).astype(int)
        assert sorted(place) == list(range(35))
        np.testing.assert_array_equal(codes[place], split.codes)
        seen.add(tuple(place[:8]))
    assert len(seen) == 5


def attainable(cell, n_test):
    """Whether ten trials with so many test points can have this mean, to its digits."""
    right = float(cell) / 100.0 * 10 * n_test
    return any(
        abs(1000.0 * k / (10 * n_test) / 10.0 - float(cell)) <= 0.00501
        for k in (np.floor(right), np.ceil(right))
    )


def test_the_printed_means_fit_shares_of_each_class_that_are_rounded_up(shared_data):
    hits, chance = 0, 0.0
    for dataset in NUMBERS:
        counts = np.bincount(setting.load_classes(dataset)[1])
        for percent in (20, 40):
            n_test = counts.sum() - np.sum(-(-percent * counts // 100))
            assert (
                len(draw_split(dataset, percent, 0).codes) - draw_split(dataset, percent, 0).n_labelled
                == n_test
            )
            cells = [cell for key, cell in ACCURACIES.items() if key[:2] == (dataset, percent)]
            hits += sum(attainable(cell, n_test) for cell in cells)
            chance += len(cells) * 10 * n_test / 10_000
    assert hits == 89 and round(chance) == 42


def test_many_printed_plus_minus_are_below_the_smallest_standard_deviation(shared_data):
    """Of ten multiples of one test point whose mean is the printed one, to its digits."""
    below = 0
    for (dataset, percent, *_), cell in ACCURACIES.items():
        points = draw_split(dataset, percent, 0)
        n_test = len(points.codes) - points.n_labelled
        right = np.linspace(float(cell) - 0.005, float(cell) + 0.005, 101) * n_test / 100.0
        share = right - np.floor(right)
        smallest = 100.0 / n_test * np.sqrt(10.0 / 9.0 * share * (1.0 - share)).min()
        below += float(cell.plus_minus) + 0.005 < smallest
    assert below == 65  # as the errata say


def test_three_equal_ranges_of_price_fit_most_printed_means(shared_data):
    fits = {}
    for preparation in ("", *CUTS):
        counts = np.bincount(setting.load_classes("boston", preparation)[1])
        sizes = {percent: counts.sum() - np.sum(-(-percent * counts // 100)) for percent in (20, 40)}
        cells = [(key[1], cell) for key, cell in ACCURACIES.items() if key[0] == "boston"]
        fits[preparation] = sum(attainable(cell, sizes[percent]) for percent, cell in cells)
    assert fits == {"": 20, "20, 30": 17, "15, 25": 17, "10, 20": 14, "terciles": 14}


def test_prices_are_cut_into_three_equal_ranges_or_elsewhere(data_folder):
    prices = np.random.default_rng(1).permutation(np.append(np.arange(0.0, 20.0), np.arange(20.0, 61.0, 4.0)))
    data_folder(houses=dict(X=np.random.default_rng(2).normal(size=(31, 2)), y=prices))
    _, codes = setting.load_classes("houses")
    np.testing.assert_array_equal(codes, (prices > 20).astype(int) + (prices > 40))
    _, codes = setting.load_classes("houses", "5.5, 30")
    np.testing.assert_array_equal(codes, (prices > 5.5).astype(int) + (prices > 30))
    _, codes = setting.load_classes("houses", "terciles")
    assert np.bincount(codes).tolist() == [11, 10, 10]


def test_columns_are_left_as_they_are_or_coded_where_asked(data_folder):
    X = np.array([[1.0, 5.0], [3.0, 5.0], [3.0, 7.0], [2.0, 9.0]])
    data_folder(few=dict(X=X, y=np.array([0, 1, 0, 1])))
    plain, _ = setting.load_classes("few", "as they are")
    np.testing.assert_allclose(plain, X - X.mean(axis=0))
    coded, _ = setting.load_classes("few", "one-hot; as they are")
    hot = [[1, 0, 0, 1, 0, 0], [0, 0, 1, 1, 0, 0], [0, 0, 1, 0, 1, 0], [0, 1, 0, 0, 0, 1]]
    np.testing.assert_allclose(coded, np.array(hot) - np.mean(hot, axis=0))
    scaled, _ = setting.load_classes("few", "one-hot")
    np.testing.assert_allclose(scaled.std(axis=0), 1.0)


@pytest.mark.parametrize("preparation", setting.SCALINGS)
def test_columns_are_scaled_and_have_mean_zero(data_folder, preparation):
    X = np.array([[1.0, 5.0, 2.0], [3.0, 5.0, 2.0], [3.0, 7.0, 2.0], [2.0, 9.0, 2.0]])
    data_folder(few=dict(X=X, y=np.array([0, 1, 0, 1])))
    scaled, _ = setting.load_classes("few", preparation)
    norms = np.sqrt((X**2).sum(axis=1, keepdims=True))
    expected = {
        "as they are": X,
        "to [0, 1]": (X - [1.0, 5.0, 0.0]) / [2.0, 4.0, 1.0],
        "columns of length 1": X / np.sqrt((X**2).sum(axis=0)),
        "rows of length 1": X / norms,
    }[preparation]
    np.testing.assert_allclose(scaled, expected - expected.mean(axis=0), atol=1e-15)


def test_a_column_of_noise_is_added_and_classes_are_changed_where_asked(data_folder):
    X, codes = clouds(5, 100)
    data_folder(few=dict(X=X, y=codes))
    plain, _ = setting.load_classes("few")
    noisy, _ = setting.load_classes("few", "a column of noise")
    np.testing.assert_allclose(noisy[:, :-1], plain)
    assert noisy.shape == (100, 4) and noisy[:, -1].std() == pytest.approx(1.0)
    _, changed = setting.load_classes("few", "5% of the classes changed")
    assert np.sum(changed != codes) == 5 and set(changed) == {0, 1}


def test_a_preparation_that_nobody_knows_is_refused(data_folder):
    data_folder(few=dict(X=np.ones((4, 2)), y=np.array([0, 1, 0, 1])))
    with pytest.raises(ValueError, match=r"preparation must be .*; got 'to \[0, 2\]'"):
        setting.load_classes("few", "to [0, 2]")


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


def alignment_by_the_book(K, codes, eig_tol):
    w, V = np.linalg.eigh(K)
    V = V[:, w > eig_tol * w[-1]]
    products = (V[: len(codes)].T @ (2.0 * codes - 1.0)) ** 2
    return V * np.sqrt(products * np.trace(K) / products.sum())


@pytest.mark.parametrize("kernel", ["separability", "alignment", "separability_kept", "alignment_kept"])
def test_a_spectral_kernel_is_its_formula_also_without_a_point(kernel):
    points = standardised_split(6)
    codes, n = points.labels, points.n_labelled
    candidates = {candidate.width: candidate for candidate in learned_kernels(kernel, points)}
    K0 = dict(gaussian_kernels(points.X))["5"]
    found = candidates["5"]
    all_of_them = not kernel.endswith("kept")
    assert found.name == ("5" if all_of_them else "5, 0.01")
    book = alignment_by_the_book if kernel.startswith("alignment") else separability_by_the_book

    def by_the_book(K, labels):
        return book(K, labels, 0.0 if all_of_them else 0.01)

    Z = by_the_book(K0, codes)
    assert (Z.shape[1] == len(K0)) == all_of_them
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


def xiong_by_the_book(K, factor, codes, cores):
    """Their steps from double sums: no matrix products of the library."""
    l = len(codes)
    K1 = np.column_stack([np.ones(len(K)), factor[:, cores]])
    same = (codes[:, None] == codes) / np.bincount(codes)[codes]

    def scatters(a):
        q = K1[:l] @ a
        rescaled = K[:l, :l] * np.outer(q, q)
        between = np.sum(rescaled * same) - rescaled.sum() / l
        return between, np.trace(rescaled) - np.sum(rescaled * same)

    def slope(a, part, h=1e-6):
        steps = h * np.eye(len(a))
        return np.array([(scatters(a + s)[part] - scatters(a - s)[part]) / (4.0 * h) for s in steps])

    a = np.eye(1, K1.shape[1])[0]
    for t in range(200):
        between, within = scatters(a)
        a = a + 0.01 * (1.0 - t / 200) * (slope(a, 0) - between / within * slope(a, 1)) / within
        a = a / np.linalg.norm(a)
    return K * np.outer(K1 @ a, K1 @ a)


@pytest.mark.parametrize("kernel", ["conformal", "conformal_same"])
def test_a_conformal_kernel_takes_the_steps_of_xiong(kernel):
    points = standardised_split(8)
    plain = dict(gaussian_kernels(points.X))
    found = {candidate.width: candidate for candidate in learned_kernels(kernel, points)}["10"]
    factor = plain["10" if kernel == "conformal_same" else "d̄²"]
    cores = choose_cores(1 / 3, 16, 2006)
    expected = xiong_by_the_book(plain["10"], factor, points.labels, cores)
    np.testing.assert_allclose(found.K, expected, atol=1e-5 * np.abs(expected).max())
    assert np.abs(found.K - plain["10"]).max() > 0.01
    np.testing.assert_array_equal(found.without(3), found.K[:16, :16])


def test_columns_are_told_apart_by_a_hair():
    points = standardised_split(9)
    plain = {candidate.width: candidate.K for candidate in learned_kernels("separability_kept", points)}
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
        assert set(found["accuracy"]) == set(COLUMNS)


def made_up(unit):
    """Accuracies that tell their kernel, column and split."""
    names = [*KERNELS, *VARIANTS]
    base = 10.0 * names.index(unit.arguments["kernel"]) + unit.arguments["split"]
    return {
        "accuracy": {name: base + 0.1 * place for place, name in enumerate(COLUMNS)},
        "errors": dict.fromkeys(COLUMNS, 1),
        "chosen": {name: "d̄²" if unit.arguments["split"] else "10" for name in COLUMNS},
    }


@pytest.mark.parametrize(("name", "dataset"), [("1", "monks3"), ("5", "boston")])
def test_rows_are_those_of_the_paper_and_each_cell_is_counted_once(name, dataset):
    table = STUDY.table(name)
    results = [(unit, made_up(unit)) for unit in table.units(3)]
    summary = summarize(STUDY, table, 3, results)
    kernels = [kernel for kernel in KERNELS if kernel != "alignment" or dataset == "monks3"]
    assert [row["labels"]["kernel"] for row in summary["rows"]] == 2 * [KERNELS[kernel] for kernel in kernels]
    for row, (percent, kernel) in zip(summary["rows"], itertools.product((20, 40), kernels), strict=True):
        for place, column in enumerate(COLUMNS):
            value, cell = row["values"][column], published_accuracy(dataset, percent, kernel, column)
            assert value["mean"] == pytest.approx(10 * list(KERNELS).index(kernel) + 1 + 0.1 * place)
            assert value["printed"] == str(cell)
            assert value["se_difference"] == pytest.approx(np.sqrt(1 / 3 + float(cell.plus_minus) ** 2 / 10))
        assert row["remark"] == "most often d̄² / d̄² / d̄² / d̄²"
    assert summary["cells"]["compared"] == len(table.cells) == 8 * len(kernels)


def test_variants_are_ours_and_are_not_counted():
    table = STUDY.own["variants"]
    summary = summarize(STUDY, table, 2, [(unit, made_up(unit)) for unit in table.units(2)])
    rows = Counter(row["labels"]["kernel"] for row in summary["rows"])
    assert rows["separability, eig_tol = 0.01"] == 10 and rows["alignment, eig_tol = 0.01"] == 6
    assert rows["separability, eig_tol = 0.01, columns told apart"] == 2
    assert summary["agreement"] == [] and summary["cells"]["compared"] == 0
    published = {row["values"]["nn1"]["printed"] for row in summary["rows"]}
    assert "88.36 ± 0.08" in published


def test_the_rows_of_other_readings_are_how_far_they_are_from_the_paper():
    table = STUDY.own["preparation"]
    same = dict.fromkeys(COLUMNS, 80.0)
    results = [
        (unit, {"chosen": same, "mean": same, "best": dict.fromkeys(COLUMNS, 90.0)})
        for unit in table.units(2)
    ]
    rows = [row for row in table.rows(results) if "away_chosen" in row["values"]]
    away = {tuple(row["labels"].values()): row["values"] for row in rows}
    theirs = [float(published_accuracy("boston", p, "gaussian", c)) for p in (20, 40) for c in COLUMNS]
    values = away["Boston houses, three classes of price", "terciles"]
    for rule, value in (("chosen", 80.0), ("mean", 80.0), ("best", 90.0)):
        expected = np.sqrt(np.mean((value - np.array(theirs)) ** 2))
        assert values[f"away_{rule}"]["mean"] == pytest.approx(expected)
        assert values[f"within_{rule}"]["mean"] == sum(
            abs(value - float(cell)) <= 2.0 * float(cell.plus_minus) / np.sqrt(10.0)
            for key, cell in ACCURACIES.items()
            if key[0] == "boston" and key[2] == "gaussian"
        )
    every = [float(cell) for key, cell in ACCURACIES.items() if key[2] == "gaussian"]
    assert away["all", "to [0, 1]"]["away_mean"]["mean"] == pytest.approx(
        np.sqrt(np.mean((80.0 - np.array(every)) ** 2))
    )
    in_all = {label for data, label in away if data == "all"}
    assert in_all == {"as in the table", *setting.SCALINGS, "drawn from all points"}
    assert len(away) == len(READINGS) + len(in_all) == sum(map(len, PREPARATIONS.values())) + 5 + 6
    assert not any(row.get("counts", True) for row in table.rows(results))


def test_a_reading_has_the_row_of_the_table_and_its_bounds(data_folder):
    X, codes = clouds(3, 60)
    data_folder(wine=dict(X=X, y=codes))
    found = compute_reading("wine", 40, 0, "", True)
    assert found["chosen"] == accuracies.compute_split("wine", 40, 0, "gaussian")["accuracy"]
    assert all(found["best"][c] >= max(found["chosen"][c], found["mean"][c]) for c in COLUMNS)
    points = draw_split("wine", 40, 0)
    n, K = points.n_labelled, next(gaussian_kernels(points.X))[1]
    right = classify("svm100", K[:n, :n], points.labels, K[n:, :n]) == points.codes[n:]
    assert found["mean"]["svm100"] == pytest.approx(100.0 * np.mean(right))


# --- wine, the toy problem and faces -----------------------------------------------------------------------


def test_a_wine_that_is_left_out_is_judged_by_the_others(data_folder):
    X, codes = clouds(21, 178, n_classes=3, distance=3.0)
    data_folder(wine=dict(X=X, y=codes))
    found = compute_left_out(5, "gaussian")
    order = np.append(np.delete(np.arange(178), 5), 5)
    points = Split(standardize(X)[order], codes[order], 177)
    K = dict(gaussian_kernels(points.X))[
        accuracies.classify_unlabelled(points, "gaussian", ["nn3"])["chosen"]["nn3"]
    ]
    guess = classify("nn3", K[:177, :177], points.labels, K[177:, :177])
    assert found["nn3"] == 100.0 * (guess[0] == codes[5])
    table = STUDY.table("wine-loo")
    units = table.units(178)
    assert len(units) == 3 * 178
    rows = table.rows([(unit, {"nn3": 100.0, "svm1000": 0.0}) for unit in units])
    assert [row.get("counts", True) for row in rows] == [True, False, False]
    summary = summarize(STUDY, table, 178, [(unit, {"nn3": 100.0, "svm1000": 0.0}) for unit in units])
    assert summary["cells"]["doubtful"] == 2 and summary["cells"]["compared"] == 0


def test_the_toy_problem_has_the_points_of_the_paper_and_the_learned_kernel_groups_them():
    points = toy.draw_points(0.3, 1)
    assert np.bincount(points.codes).tolist() == [200, 200, 100]
    assert np.bincount(points.labels).tolist() == [20, 20, 10]
    groups = points.X + 0.0
    up_or_down = np.abs(groups[points.codes == 0])
    assert np.median(up_or_down[:, 1]) > 1.5 > 0.6 > np.median(up_or_down[:, 0])
    Z = toy.embed(points, "separability")
    found = toy.compute_embedding(0.3, 1, "separability")
    means = np.array([Z[points.codes == c].mean(axis=0) for c in range(3)])
    near = np.argmin([np.linalg.norm(Z - mean, axis=1) for mean in means], axis=0)
    assert found["grouped"] == pytest.approx(100.0 * np.mean(near == points.codes))
    assert found["grouped"] > 95.0 > 70.0 > toy.compute_embedding(0.3, 1, "gaussian")["grouped"]


def test_faces_stand_in_unless_the_file_is_brought(data_folder, monkeypatch, tmp_path):
    rng = np.random.default_rng(3)
    subjects = np.repeat(np.arange(41), 10)
    images = (rng.uniform(0, 200, (41, 12))[subjects] + rng.uniform(0, 55, (410, 12))).astype(np.uint8)
    data_folder(olivetti=dict(X=images, y=subjects))
    assert faces.faces() == "olivetti"
    points = faces.draw_faces("olivetti", 0)
    assert points.n_labelled == 205 and (np.bincount(points.labels) == 5).all()
    rates = faces.compute_faces("olivetti", 0, "gaussian")
    assert list(rates) == [str(count) for count in faces.DIRECTIONS] and rates["39"] > rates["1"]
    figure = STUDY.figure("3")
    rows = figure.rows([(unit, dict.fromkeys(rates, 50.0)) for unit in figure.units(1)])
    assert all("stand in for" in row["stand_in"] for row in rows)
    np.savez(tmp_path / "feret.npz", X=images[:470], y=subjects[:470])
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert faces.faces() == "feret"
    rows = figure.rows([(unit, dict.fromkeys(rates, 50.0)) for unit in figure.units(1)])
    assert not any("stand_in" in row for row in rows)


# --- claims ------------------------------------------------------------------------------------------------


def made_up_summaries(accuracy):
    """Summaries of all tables and figures, with accuracies by kernel."""
    found = {}
    for table in (*STUDY.tables.values(), *STUDY.figures.values()):
        keys = [quantity.key for quantity in table.quantities]
        units = [unit for unit in table.units(2) if "kernel" in unit.arguments]
        results = []
        for unit in units:
            values = dict.fromkeys(keys, accuracy.get(unit.arguments["kernel"], 50.0))
            chosen = dict.fromkeys(keys, "10")
            results.append(
                (
                    unit,
                    {"accuracy": values, "chosen": chosen}
                    if table.name in "12345" and table.kind == "table"
                    else values,
                )
            )
        if results:
            found[table.stem] = summarize(STUDY, table, 2, results)
    return found


def test_claims_follow_the_numbers():
    as_claimed = claims(
        made_up_summaries({"separability": 95.0, "conformal": 60.0, "gaussian": 55.0, "alignment": 50.0})
    )
    assert [claim.verdict for claim in as_claimed] == [
        *["reproduced"] * 6,
        "cannot be tested",
        "cannot be tested",
        "reproduced",
    ]
    assert "in 64 of 64 comparisons; the mean difference is +38.8 points" in as_claimed[0].evidence
    otherwise = claims(
        made_up_summaries({"separability": 60.0, "conformal": 61.0, "gaussian": 70.0, "alignment": 80.0})
    )
    assert {claim.verdict for claim in otherwise[:6]} == {"not reproduced"}


# --- real data ---------------------------------------------------------------------------------------------


def test_a_split_of_wine_is_run_and_written(shared_data, tmp_path):
    table = STUDY.table("4")
    few = replace(
        table, units=lambda splits: [u for u in table.units(splits) if u.arguments["percent"] == 20]
    )
    summary = run_table(STUDY, few, folder=tmp_path, splits=1)
    page = (tmp_path / "table4.md").read_text(encoding="utf-8")
    assert page.count("| RBF | 91.63 ± 0.16 |") == 1
    for row in summary["rows"]:
        for value in row["values"].values():
            assert 60.0 < value["mean"] <= 100.0  # the largest class has 40% of the points
            assert row["labels"]["kernel"] == "Ours" or abs(value["difference"]) < 10.0


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
    points = draw_split(dataset, percent, 3, by_class=False)
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
    table = STUDY.own["fresh"]
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

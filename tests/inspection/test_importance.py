"""Which columns a model owes its score to: permutation importance against scikit-learn's, and its words."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from multikernel import (
    KernelBank,
    LocalizedMKLClassifier,
    MKLClassifier,
    MKLClassifierCV,
    MKLOneClass,
    MKLRegressorCV,
    MKLRidge,
    MKLRidgeCV,
    View,
    join_views,
)
from multikernel.inspection import FeatureImportance, feature_importance
from multikernel.inspection.explaining import permutation
from multikernel.inspection.explaining.features import read_data
from multikernel.inspection.subject import subject_of
from multikernel.kernels import FunctionKernel, Gaussian, Laplacian, Linear, Spectrum

N = 120
SEEDS = {"n_repeats": 4, "random_state": 3}
QUICK = {"method": "permutation", **SEEDS}


@pytest.fixture(scope="module")
def numbers():
    """Labels hang on the first two of four columns; the last is noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * N, 4)) * [1.0, 10.0, 0.1, 3.0]
    value = X[:, 0] + 0.1 * X[:, 1] + X[:, 2] ** 2
    return X, np.where(value + 0.3 * rng.normal(size=2 * N) > 0, "yes", "no"), value


@pytest.fixture(scope="module")
def clinic(numbers):
    """The same with names, a column of categories and gaps."""
    X, label, _ = numbers
    frame = pd.DataFrame(X, columns=["a", "b", "c", "noise"])
    frame["stage"] = np.where(label == "yes", "late", "early")
    frame.loc[::5, "stage"] = None
    frame.loc[::7, "a"] = np.nan
    return frame


VIEWS = [View("first", Linear(), [0]), View("pair", Gaussian(), [1, 2]), View("all", Laplacian())]
MODELS = {
    "classifier": MKLClassifier(VIEWS),
    "three classes": MKLClassifier(VIEWS, multiclass="ovo"),
    "auto": MKLClassifier(),
    "classifier cv": MKLClassifierCV("rich", Cs=(1.0, 10.0), norms=(1.0,)),
    "regressor cv": MKLRegressorCV(VIEWS, Cs=(1.0, 10.0), norms=(1.0,)),
    "ridge cv": MKLRidgeCV("auto", alphas=(0.1, 1.0), norms=(1.0,)),
    "factors": MKLClassifier(KernelBank(VIEWS[:2], rank=20)),
    "gates": LocalizedMKLClassifier(VIEWS[:2], random_state=0),
    "pipeline": make_pipeline(StandardScaler(), MKLClassifier(VIEWS[:2])),
    "search": GridSearchCV(MKLRidge(VIEWS), {"alpha": [0.1, 1.0]}, cv=2),
}


SLOW = {"classifier cv", "gates"}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.thorough] if n in SLOW else []) for n in MODELS]
)
def test_the_numbers_are_those_of_scikit_learn(numbers, name):
    X, label, value = numbers
    y = value if "ridge" in name or "regressor" in name or name == "search" else label
    y = np.digitize(value, [-0.5, 0.5]) if name == "three classes" else y
    model = MODELS[name].fit(X[:N], y[:N])
    before = X.copy()
    found = feature_importance(model, X[N:], y[N:], **QUICK)
    judge = permutation_importance(model, X[N:], y[N:], **SEEDS)
    rows = [int(name.removeprefix("x")) for name in found.to_frame()["feature"]]
    np.testing.assert_allclose(found.importances, judge.importances[rows], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found.to_frame()["importance"], judge.importances_mean[rows], atol=1e-14)
    assert np.all(np.delete(judge.importances, rows, axis=0) == 0.0)  # columns that no view reads
    assert np.array_equal(X, before) and rows == [0, 1, 2, 3][: 3 if name == "factors" else 4]


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
def test_every_classifier_and_regressor_is_permuted_as_by_scikit_learn(numbers):
    from tests.test_common import DEFAULTS, ESTIMATORS

    X, label, value = numbers
    X, targets = X[:80], {"classifier": label[:80], "regressor": value[:80]}
    judged = [each for each in [*ESTIMATORS, *DEFAULTS] if get_tags(each).estimator_type in targets]
    assert len(judged) > 50
    for each in judged:
        y = targets[get_tags(each).estimator_type]
        model = clone(each).fit(X, y)
        found = feature_importance(model, X, y, method="permutation", n_repeats=2, random_state=0)
        judge = permutation_importance(model, X, y, n_repeats=2, random_state=0)
        rows = [int(name.removeprefix("x")) for name in found.to_frame()["feature"]]
        np.testing.assert_allclose(found.importances, judge.importances[rows], atol=1e-12, err_msg=repr(each))
        assert np.all(np.delete(judge.importances, rows, axis=0) == 0.0)


def test_columns_in_another_order_are_found_by_name(clinic, numbers):
    label = numbers[1]
    views = [View("first", Linear(), ["b"]), View("rest", Gaussian(), ["c", "noise"])]
    model = MKLClassifier(views).fit(clinic[:N], label[:N])
    given = feature_importance(model, clinic[N:], label[N:], **QUICK).to_frame()
    moved = feature_importance(model, clinic[N:][["stage", "noise", "b", "c"]], label[N:], **QUICK).to_frame()
    columns = ["feature", "importance", "view"]
    both = [table.sort_values("feature")[columns].reset_index(drop=True) for table in (given, moved)]
    pd.testing.assert_frame_equal(*both)
    assert set(given["feature"]) == {"b", "c", "noise"}


def test_names_categories_and_gaps(clinic, numbers):
    label = numbers[1]
    model = MKLClassifierCV("auto", Cs=(1.0,), norms=(1.0,)).fit(clinic[:N], label[:N])
    before = clinic.copy(deep=True)
    found = feature_importance(model, clinic[N:], label[N:], scoring="roc_auc", **QUICK)
    judge = permutation_importance(model, clinic[N:], label[N:], scoring="roc_auc", **SEEDS)
    np.testing.assert_allclose(found.importances, judge.importances, atol=1e-14)
    assert found.scoring == "roc auc" and found.top_features(1)["feature"].tolist() == ["stage"]
    pd.testing.assert_frame_equal(clinic, before)


def test_sparse_tables_are_permuted_as_dense_ones(numbers):
    X, label, _ = numbers
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    views = [View(v.name, v.kernel, v.columns, standardize=False) for v in VIEWS]
    dense = MKLClassifier(views).fit(X[:N], label[:N])
    sparse = MKLClassifier(views).fit(scipy.sparse.csr_matrix(X[:N]), label[:N])
    a = feature_importance(dense, X[N:], label[N:], **QUICK)
    b = feature_importance(sparse, scipy.sparse.csc_matrix(X[N:]), label[N:], **QUICK)
    np.testing.assert_allclose(a.importances, b.importances, atol=1e-12)


def test_several_tables_are_as_their_columns_side_by_side(numbers, clinic):
    X, label, _ = numbers
    tables = {"lab": clinic[["b", "c"]], "noise": X[:, 3:]}
    kernels = {"lab": Gaussian(), "noise": Linear()}
    model = MKLClassifier(kernels).fit({k: t[:N] for k, t in tables.items()}, label[:N])
    one = MKLClassifier([View("lab", Gaussian(), [0, 1]), View("noise", Linear(), [2])])
    one.fit(X[:N, 1:], label[:N])
    a = feature_importance(model, {k: t[N:] for k, t in tables.items()}, label[N:], **QUICK)
    b = feature_importance(one, X[N:, 1:], label[N:], **QUICK)
    np.testing.assert_array_equal(a.importances, b.importances)
    assert a.to_frame()[["view", "feature"]].values.tolist() == [["lab", "b"], ["lab", "c"], ["noise", "x0"]]


def test_lists_of_tables_and_tables_without_columns(numbers):
    X, label, _ = numbers
    letters = ["ACGT" if one == "yes" else "GGCC" for one in label]
    model = MKLClassifier({"letters": Spectrum(2), "numbers": Linear()})
    model.fit({"letters": letters[:N], "numbers": X[:N, 3:]}, label[:N])
    found = feature_importance(model, {"letters": letters[N:], "numbers": X[N:, 3:]}, label[N:], **QUICK)
    table = found.to_frame().set_index("feature")
    assert table.loc["letters", "low"] > 0.3 > table.loc["x0", "importance"]
    listed = MKLClassifier([Linear()]).fit([X[:N, :2], X[:N, 2:]], label[:N])
    found = feature_importance(listed, [X[N:, :2], X[N:, 2:]], label[N:], **QUICK)
    assert found.to_frame()["view"].tolist() == ["table-0"] * 2 + ["table-1"] * 2


def test_only_kernels_that_read_a_permuted_column_are_computed_again(numbers):
    X, label, _ = numbers
    calls = []

    def counted(name):
        def kernel(A, B):
            calls.append(name)
            return A @ B.T

        return FunctionKernel(kernel)

    views = [View("left", counted("left"), [0, 1]), View("right", counted("right"), [2, 3])]
    model = MKLClassifier(views, norm=2).fit(X[:N], label[:N])
    calls.clear()
    found = feature_importance(model, X[N:], label[N:], groups=[0, 2, 3], n_repeats=5, random_state=0)
    # once for the samples as they are, then five repeats of one column on the left and two on the right
    assert (calls.count("left"), calls.count("right")) == (1 + 5, 1 + 10)
    judge = permutation_importance(model, X[N:], label[N:], n_repeats=5, random_state=0)
    np.testing.assert_array_equal(found.importances, judge.importances[[0, 2, 3]])


def test_a_score_that_reads_some_rows_gets_their_own_predictions(numbers):
    X, label, _ = numbers
    model = MKLClassifier(VIEWS).fit(X[:N], label[:N])

    def half(model, X, y):
        return float(np.mean(model.predict(X[::2]) == y[::2]))

    found = feature_importance(model, X[N:], label[N:], scoring=half, **QUICK)
    judge = permutation_importance(model, X[N:], label[N:], scoring=half, **SEEDS)
    np.testing.assert_array_equal(found.importances, judge.importances)
    assert found.scoring == "half"


def test_samples_that_lack_a_view_keep_lacking_it(numbers):
    X, label, _ = numbers
    ids = [f"s{k}" for k in range(2 * N)]
    left = pd.DataFrame(X[:, :2], ids, ["a", "b"])
    right = pd.DataFrame(X[:, 2:], ids, ["c", "noise"])[: 2 * N - 30]
    joined, y = join_views({"left": left, "right": right}, pd.Series(label, ids), how="outer")
    model = MKLClassifier(KernelBank({"left": Linear(), "right": Gaussian()}, missing="renormalize"), norm=2)
    model.fit(joined, y)
    found = feature_importance(model, joined, y, **QUICK)
    # by hand: the rows of the right table that are there change places, as the order of all samples has it
    seed = np.random.RandomState(3).randint(2**31)
    orders = permutation.permutations(len(joined), 4, seed)
    has = joined.present["right"].to_numpy()
    losses = []
    for order in orders:
        table = joined["right"].copy()
        table.loc[has, "c"] = joined["right"]["c"].to_numpy()[order[has[order]]]
        losses.append(
            model.score(joined, y)
            - model.score(joined.with_tables({"left": left.loc[joined.ids], "right": table}), y)
        )
    assert not has.all()
    np.testing.assert_allclose(found.importances[2], losses, atol=1e-14)


def test_the_interval_of_a_column_of_noise_covers_0(numbers):
    X, label, _ = numbers
    model = MKLClassifier([View("all", Gaussian())], C=10.0).fit(X[:N], label[:N])
    found = feature_importance(model, X[N:], label[N:], random_state=0).to_frame()
    assert found.loc[3, "low"] <= 0.0 <= found.loc[3, "high"] and (found.loc[:1, "low"] > 0.0).all()


@pytest.mark.thorough
def test_intervals_of_noise_cover_0_as_often_as_they_say(numbers):
    X, label, _ = numbers
    model = MKLClassifier([View("all", Gaussian())], C=10.0).fit(X[:N], label[:N])
    rng, covered = np.random.default_rng(1), []
    for seed in range(200):
        new = rng.normal(size=(60, 4)) * [1.0, 10.0, 0.1, 3.0]
        y = np.where(new[:, 0] + 0.1 * new[:, 1] > 0, "yes", "no")
        row = feature_importance(model, new, y, groups=[3], random_state=seed).to_frame().iloc[0]
        covered.append(row["low"] <= 0.0 <= row["high"])
    assert 0.9 < np.mean(covered) < 0.99  # 0.95 is meant, ± 0.015


def test_few_repeats_have_intervals_that_are_neither_empty_nor_beyond_the_score(numbers):
    X, label, value = numbers
    model = MKLClassifier([View("all", Gaussian())], C=10.0).fit(X[:N], label[:N])
    rng, covered = np.random.default_rng(1), []
    for seed in range(60):
        new = rng.normal(size=(30, 4)) * [1.0, 10.0, 0.1, 3.0]
        y = np.where(new[:, 0] + 0.1 * new[:, 1] > 0, "yes", "no")
        found = feature_importance(model, new, y, n_repeats=2, random_state=seed)
        table = found.to_frame()
        assert (table["low"] >= found.score - 1.0).all() and (table["high"] <= found.score).all()
        row = table.iloc[3]
        assert row["importance"] == 0.0 or row["high"] > row["low"]
        covered.append(row["low"] <= 0.0 <= row["high"])
    assert np.mean(covered) >= 0.9
    ridge = MKLRidge([View("all", Gaussian())]).fit(X[:N], value[:N])
    found = feature_importance(ridge, X[N:], value[N:], n_repeats=2, random_state=0)
    assert (found.to_frame()["low"] >= found.score - 1.0).all()
    errors = feature_importance(
        ridge, X[N:], value[N:], n_repeats=2, random_state=0, scoring="neg_mean_squared_error"
    )
    assert (errors.to_frame()["low"] >= errors.score).all()


def test_groups_are_permuted_together(numbers, clinic):
    X, label, _ = numbers
    model = MKLClassifier(VIEWS[:2]).fit(X[:N], label[:N])
    whole = feature_importance(model, X[N:], label[N:], groups="views", **QUICK)
    named = feature_importance(model, X[N:], label[N:], groups={"p": [1, 2], "f": 0}, **QUICK)
    np.testing.assert_array_equal(whole.importances[::-1], named.importances)
    assert whole.to_frame()["feature"].tolist() == ["first", "pair"]
    assert named.to_frame()[["view", "n_columns"]].values.tolist() == [["pair", 2], ["first", 1]]
    # by hand
    order = permutation.permutations(N, 1, np.random.RandomState(3).randint(2**31))[0]
    moved = X[N:].copy()
    moved[:, 1:3] = moved[order, 1:3]
    loss = model.score(X[N:], label[N:]) - model.score(moved, label[N:])
    assert named.importances[0, 0] == pytest.approx(loss, abs=1e-14)


@pytest.mark.thorough
def test_processes_give_the_same_numbers(numbers):
    X, label, _ = numbers
    model = MKLClassifier(VIEWS).fit(X[:N], label[:N])
    one = feature_importance(model, X[N:], label[N:], **QUICK)
    two = feature_importance(model, X[N:], label[N:], n_jobs=2, **QUICK)
    np.testing.assert_array_equal(one.importances, two.importances)


def test_columns_that_no_kernel_with_weight_reads_have_no_importance(numbers):
    X = numbers[0]
    model = MKLRidge([View("a", Linear(), [0]), View("b", Linear(), [3])], norm=1.0).fit(X[:N], X[:N, 0])
    assert model.kernel_weights_[1] == 0.0
    found = feature_importance(model, X[N:], X[N:, 0], **QUICK)
    assert np.all(found.importances[1:] == 0.0) and found.importances[0].min() > 0.5
    assert found.to_frame()["view"].tolist() == ["a", "b"]


def test_views_of_columns_have_names():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)), columns=list("abc"))
    y = X["a"] > 0
    views = [View("one", Linear(), ["a", "b"]), View("two", Gaussian(), ["a"]), View("three", Linear(), "c")]
    features = read_data(subject_of(MKLClassifier(views).fit(X, y)), X).features
    assert [f.view for f in features] == ["one + two", "one", "three"]
    features = read_data(subject_of(MKLClassifier().fit(X, y)), X).features
    assert {f.view for f in features} == {"X"}
    features = read_data(subject_of(LogisticRegression().fit(X, y)), X).features
    assert [f.name for f in features] == ["a", "b", "c"]


# ------------------------------------------------------------------ over folds
@pytest.mark.parametrize("method", ["permutation", "sensitivity"])
def test_folds_are_fits_to_other_samples(numbers, method):
    X, label, _ = numbers
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, label))
    views = [View("first", Linear(), [0]), View("pair", Gaussian(), [1, 3])]
    model = MKLClassifier(views, norm=2).fit(X, label)
    options = {"method": method, "n_repeats": 3, "random_state": 5}
    found = feature_importance(model, X, label, cv=folds, n_top=2, **options)
    each = [
        feature_importance(
            clone(model).fit(X[train], label[train]), X[test], label[test], **options
        ).to_frame()
        for train, test in folds
    ]
    expected = np.column_stack([table["importance"] for table in each])
    np.testing.assert_allclose(found.fold_importances, expected)
    table = found.to_frame()
    np.testing.assert_allclose(table["importance"], expected.mean(axis=1))
    np.testing.assert_allclose(table[["low", "high"]], np.c_[expected.min(axis=1), expected.max(axis=1)])
    assert table["in_top"].tolist() == [1.0, 1.0, 0.0] and found.n_samples == 2 * N
    assert "in 3 of 3 folds" in found.answer and "fold" in found.to_dict()["xlabel"]
    if method == "sensitivity":
        np.testing.assert_allclose(table["slope"], np.mean([one["slope"] for one in each], axis=0))


def test_folds_of_several_tables_and_of_bad_options(numbers):
    X, label, _ = numbers
    tables = {"a": pd.DataFrame(X[:, :1], columns=["a"]), "b": X[:, 1:3]}
    model = MKLClassifier({"a": Linear(), "b": Linear()}).fit(tables, label)
    found = feature_importance(model, tables, label, cv=3)
    assert found.method == "coefficients" and found.fold_importances.shape == (3, 3)
    assert {"coefficient", "in_top"} <= set(found.to_frame())
    assert "largest mean importance are of use: " in found.answer and "first 10" not in found.answer
    fewer = feature_importance(model, tables, label, cv=3, n_top=2)
    assert "largest mean importance are among the first 2: " in fewer.answer
    with pytest.raises(ValueError, match="n_top"):
        feature_importance(model, tables, label, cv=3, n_top=0)
    with pytest.raises(TypeError, match="copies of the model are fitted to; got None"):
        feature_importance(model, tables, cv=3)
    with pytest.raises(ValueError, match="cv must be"):
        feature_importance(model, tables, label, cv="many")


# ------------------------------------------------------------------ what it says
def test_what_was_found_as_table_words_and_json(clinic, numbers):
    label = numbers[1]
    frame = clinic[["b", "noise"]].rename(columns={"b": "<b>"})
    views = [View("blood", Linear(), ["<b>"]), View("rest", Gaussian(), ["noise"])]
    model = MKLClassifier(views, norm=2).fit(frame[:N], label[:N])
    found = feature_importance(model, frame[N:], label[N:], random_state=0)
    assert isinstance(found, FeatureImportance) and found.n_repeats == 10
    first = found.top_features(1, by_view=False)
    assert first["feature"].tolist() == ["<b>"] and len(found.top_features(1)) == 2
    assert (
        found.answer.startswith("Of 2 features, 1 was shown to matter to accuracy")
        and "<b> of blood by" in found.answer
    )
    assert "&lt;b&gt;" in found._repr_html_() and "<b>" not in found._repr_html_()
    assert str(found).startswith(found.answer)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["rows"][0]["importance"] == pytest.approx(found.importances[0].mean())
    table = found.to_frame()
    table["importance"] = 0.0
    assert found.to_frame()["importance"].max() > 0.0
    none = feature_importance(model, frame[N:], label[N:], groups=["noise"], random_state=0)
    assert none.answer.startswith("No feature was shown to matter")


def test_one_repeat_has_no_interval(numbers):
    X, label, _ = numbers
    model = MKLClassifier(VIEWS[:1]).fit(X[:N], label[:N])
    found = feature_importance(model, X[N:], label[N:], method="permutation", n_repeats=1, random_state=0)
    assert found.to_frame()[["std", "low", "high"]].isna().all(axis=None)
    assert json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"method": "shap"}, ValueError, "method"),
        ({"n_repeats": 0}, ValueError, "n_repeats"),
        ({"level": 1.5}, ValueError, "level"),
        ({"scoring": ["accuracy", "roc_auc"]}, TypeError, "one score"),
        ({"scoring": lambda model, X, y: "good"}, TypeError, "one number"),
        ({"scoring": lambda model, X, y: np.nan}, ValueError, "finite"),
        ({"groups": "columns"}, ValueError, "views"),
        ({"groups": 3}, TypeError, "dict of name"),
        ({"groups": []}, ValueError, "one column at least"),
        ({"groups": {"none": []}}, ValueError, "group 'none'"),
        ({"groups": ["x01"]}, ValueError, "Did you mean 'x1' or 'x0'"),
        ({"groups": [17]}, ValueError, "reads no column 17"),
        ({"random_state": -1}, ValueError, "random_state"),
    ],
)
def test_bad_options_are_refused_by_name(numbers, options, error, words):
    X, label, _ = numbers
    model = MKLClassifier(VIEWS[:1] + VIEWS[2:]).fit(X[:N], label[:N])
    with pytest.raises(error, match=words):
        feature_importance(model, X[N:], label[N:], **options)


def test_a_score_needs_targets(numbers):
    X, label, _ = numbers
    model = MKLClassifier(VIEWS[:1]).fit(X[:N], label[:N])
    with pytest.raises(TypeError, match=r"y must hold the labels or values that the score .*; got None"):
        feature_importance(model, X[N:], method="permutation")


def test_models_without_columns_are_refused_with_a_remedy(numbers):
    X, label, _ = numbers
    K = X[:N] @ X[:N].T
    with pytest.raises(ValueError, match=r"precomputed kernels.*Fit it to tables"):
        feature_importance(MKLClassifier("precomputed").fit(K, label[:N]), K, label[:N])
    behind = make_pipeline(KernelBank(VIEWS[:2]), MKLClassifier("precomputed")).fit(X[:N], label[:N])
    assert len(feature_importance(behind, X[N:], label[N:], **QUICK).table) == 4
    with pytest.raises(TypeError, match="fitted estimator"):
        feature_importance("model", X)
    with pytest.raises(ValueError, match="one label or value for each of the 120"):
        feature_importance(MKLClassifier(VIEWS).fit(X[:N], label[:N]), X[N:], label)
    with pytest.raises(TypeError, match="score"):
        feature_importance(MKLOneClass(VIEWS[:2]).fit(X[:N]), X[N:])
    tables = {"a": pd.DataFrame(X[:, :1]), "b": pd.DataFrame(X[:, 1:2])}
    two = MKLClassifier({"a": Linear(), "b": Linear()}).fit(tables, label)
    with pytest.raises(ValueError, match=r"several tables. Name the table: \('a', '0'\), \('b', '0'\)"):
        feature_importance(two, tables, label, groups=[0])
    found = feature_importance(two, tables, label, groups=[("b", 0)], **QUICK)
    assert found.to_frame()["view"].tolist() == ["b"]


@pytest.mark.parametrize(
    ("scoring", "labels", "message"),
    [
        ("f1", ["a", "b"], "takes the label 1 for the positive class"),
        ("f1", [0, 1, 2], "Use 'f1_macro'"),
        ("roc_auc", [0, 1, 2], "Use 'roc_auc_ovr'"),
        ("r2", ["a", "b"], "is a score of values, and y holds labels. Use accuracy"),
    ],
)
def test_a_score_that_does_not_suit_the_labels_names_another(scoring, labels, message):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(45, 2))
    y = np.array(labels)[np.arange(45) % len(labels)]
    model = MKLClassifier().fit(X, y)
    with pytest.raises(ValueError, match=message):
        feature_importance(model, X, y, scoring=scoring)

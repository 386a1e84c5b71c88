"""Rivals: each has the scores of the same estimator fitted by hand on the same folds."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import ElasticNetCV, LogisticRegression, Ridge, RidgeCV
from sklearn.metrics import r2_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from multikernel import (
    CombinedKernelClassifier,
    KernelBank,
    MKLClassifier,
    MKLRegressor,
    MKLRidge,
    MultiTable,
    View,
    compare,
    evaluate,
    join_views,
)
from multikernel.inspection.rivals import columns
from multikernel.inspection.rivals.baselines import BASELINES, choose_baselines
from multikernel.inspection.rivals.columns import COLUMN_RIVALS, AllColumns
from multikernel.inspection.rivals.fusion import LateFusionClassifier, LateFusionRegressor
from multikernel.kernels import Gaussian, Linear
from multikernel.report import render_markdown, summarize
from multikernel.rules import BestSingle, CenteredAlignment, SumRule

CLASS_FOLDS = RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=0)
VALUE_FOLDS = RepeatedKFold(n_splits=2, n_repeats=5, random_state=0)


@pytest.fixture(autouse=True, scope="module")
def small_grids():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "_PRICES", (1.0, 100.0))
        patch.setattr(columns, "_WIDTHS", (0.1, 1.0))
        patch.setattr(columns, "_STRENGTHS", (0.1, 1.0))
        patch.setattr(columns, "_MIXTURES", (0.5,))
        patch.setattr(columns, "_TREES", 5)
        patch.setattr(columns, "_ROUNDS", 5)
        yield


@pytest.fixture(scope="module")
def raw_stack(table):
    """Kernels of very different scale, as a user may have them: a large one of noise, and two that speak."""
    X = table[0].to_numpy()
    noise = 100.0 * np.exp(-(np.subtract.outer(X[:, 2], X[:, 2]) ** 2))
    first, second = (np.exp(-(np.subtract.outer(X[:, j], X[:, j]) ** 2)) for j in (0, 1))
    return np.stack([noise, first, 0.5 * second], axis=2)


def folds_of(found, name):
    """The ten scores of a rival in a comparison."""
    return found.folds(name).ravel()


def halves(X, y, folds):
    return list(folds.split(np.zeros((len(y), 1)), y))


# ------------------------------------------------------------------ kernels as they were given
def test_the_plain_sum_is_that_of_the_kernels_as_they_were_given(raw_stack, table):
    label = table[1]
    total = raw_stack.sum(axis=2)
    model = MKLClassifier("precomputed", C=2.0)
    found = compare({"mkl": model}, raw_stack, label, baselines=["plain sum", "scaled sum"], progress=False)
    by_hand = cross_val_score(SVC(C=2.0, kernel="precomputed"), total, label, cv=CLASS_FOLDS)
    np.testing.assert_allclose(folds_of(found, "plain sum"), by_hand)
    scaled = (raw_stack / np.einsum("iim->m", raw_stack) * len(label)).mean(axis=2)
    by_hand = [  # with the mean diagonal of each training half, which is the same for these kernels
        SVC(C=2.0, kernel="precomputed")
        .fit(scaled[np.ix_(train, train)], label[train])
        .score(scaled[np.ix_(test, train)], label[test])
        for train, test in halves(raw_stack, label, CLASS_FOLDS)
    ]
    np.testing.assert_allclose(folds_of(found, "scaled sum"), by_hand)
    assert (folds_of(found, "plain sum") != folds_of(found, "scaled sum")).any()
    part = evaluate(model.fit(raw_stack, label), raw_stack, label, parts=["baselines"])["baselines"]
    [row] = [row for row in part["rows"] if row["name"] == "plain sum"]
    assert row["score"] == pytest.approx(folds_of(found, "plain sum").mean()) and "as they are" in row["what"]


def test_the_best_single_view_is_chosen_and_fitted_as_it_was_given(raw_stack, table):
    small = raw_stack * np.array([1.0, 1e-3, 1e-3])  # too small for C=1, unless they are rescaled
    found = compare({"mkl": MKLClassifier("precomputed")}, small, table[1], baselines="best single view",
                    progress=False)  # fmt: skip
    by_hand = []
    for train, test in halves(small, table[1], CLASS_FOLDS):
        Ks = list(np.moveaxis(small[np.ix_(train, train)], 2, 0))
        best = BestSingle(MKLClassifier("precomputed"), normalize=False).fit(Ks, table[1][train])
        m = int(best.kernel_weights_.argmax())
        machine = MKLClassifier("precomputed").fit(Ks[m], table[1][train])
        by_hand.append(machine.score(small[np.ix_(test, train)][:, :, m], table[1][test]))
    np.testing.assert_allclose(folds_of(found, "best single view"), by_hand)
    Ks = list(np.moveaxis(small, 2, 0))
    scaled = [len(K) * K / np.trace(K) for K in Ks]
    as_they_are, rescaled = (
        BestSingle(SVC(C=1.0, kernel="precomputed"), normalize=normalize).fit(Ks, table[1]).scores_
        for normalize in (False, True)
    )
    assert (as_they_are != rescaled).any()
    np.testing.assert_allclose(rescaled, BestSingle(normalize=False).fit(scaled, table[1]).scores_)


def test_weight_learners_keep_the_scale_of_their_combined_kernel(raw_stack, table):
    found = compare(
        CenteredAlignment(), raw_stack, table[1], kernels="precomputed", baselines="plain sum", progress=False
    )
    model = CombinedKernelClassifier(
        "precomputed", SumRule()
    )  # at a mean diagonal of 1, as the learner has it
    by_hand = cross_val_score(model, raw_stack, table[1], cv=CLASS_FOLDS)
    np.testing.assert_allclose(folds_of(found, "plain sum"), by_hand)


# ------------------------------------------------------------------ late fusion
def fused(Ks, label, train, test, C):
    """Late fusion and stacking by hand."""
    inner = list(StratifiedKFold(5, shuffle=True, random_state=0).split(train, label[train]))
    probabilities, held_out, new = [], [], []
    for m in range(Ks.shape[2]):
        K, K_test = Ks[:, :, m][np.ix_(train, train)], Ks[:, :, m][np.ix_(test, train)]
        machine = SVC(C=C, kernel="precomputed")
        calibrated = CalibratedClassifierCV(clone(machine), cv=inner, ensemble=False).fit(K, label[train])
        probabilities.append(calibrated.predict_proba(K_test))
        method = "decision_function"
        held_out.append(cross_val_predict(machine, K, label[train], cv=inner, method=method))
        new.append(machine.fit(K, label[train]).decision_function(K_test))
    mean = calibrated.classes_[np.mean(probabilities, axis=0).argmax(axis=1)]
    final = make_pipeline(StandardScaler(), LogisticRegression()).fit(np.transpose(held_out), label[train])
    return (mean == label[test]).mean(), (final.predict(np.transpose(new)) == label[test]).mean()


def test_late_fusion_of_precomputed_kernels_is_that_by_hand(raw_stack, table):
    label = table[1]
    models = {"mkl": MKLClassifier("precomputed", C=2.0, tol=1e-8)}
    found = compare(models, raw_stack, label, baselines=["late fusion", "stacking"], progress=False)
    by_hand = [fused(raw_stack, label, *split, 2.0) for split in halves(raw_stack, label, CLASS_FOLDS)]
    for column, name in enumerate(("late fusion", "stacking")):
        np.testing.assert_allclose(folds_of(found, name), np.array(by_hand)[:, column])
    assert "late fusion (" in found.answer and "the late fusion" not in found.answer
    fitted = models["mkl"].fit(raw_stack, label)
    part = evaluate(fitted, raw_stack, label, parts=["baselines"], baselines=["late fusion", "stacking"])
    for row in part["baselines"]["rows"][1:]:
        assert row["score"] == pytest.approx(folds_of(found, row["name"]).mean())


def test_late_fusion_of_values_is_that_by_hand(raw_stack, table):
    value = 50.0 + 10.0 * table[2]
    models = {"ridge": MKLRidge("precomputed", alpha=0.5)}
    found = compare(models, raw_stack, value, baselines=["late fusion", "stacking"], progress=False)
    for i, (train, test) in enumerate(halves(raw_stack, value, VALUE_FOLDS)):
        inner, rest = KFold(5, shuffle=True, random_state=0), value[train] - value[train].mean()
        each, held_out = [], []
        for m in range(3):
            K, K_test = (raw_stack[:, :, m][np.ix_(rows, train)] for rows in (train, test))
            machine = MKLRidge("precomputed", alpha=0.5)
            held_out.append(cross_val_predict(machine, K, rest, cv=inner))
            each.append(machine.fit(K, rest).predict(K_test))
        mean = value[train].mean() + np.mean(each, axis=0)
        assert folds_of(found, "late fusion")[i] == pytest.approx(r2_score(value[test], mean), abs=1e-6)
        final = make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 3, 7)))
        stacked = value[train].mean() + final.fit(np.transpose(held_out), rest).predict(np.transpose(each))
        assert folds_of(found, "stacking")[i] == pytest.approx(r2_score(value[test], stacked), abs=1e-6)


def test_late_fusion_reads_views_and_tables(table, views):
    X, label, value = table
    tables = {"left": X[["a"]], "right": X[["b", "noise"]]}
    for combine in ("mean", "stacking"):
        model = LateFusionClassifier(views, combine=combine).fit(X, label)
        assert model.view_names_ == ["a", "b", "noise"] and model.score(X, label) > 0.7
        assert np.allclose(model.predict_proba(X[:5]).sum(axis=1), 1.0)
        assert LateFusionClassifier([Linear()], combine=combine).fit(tables, label).score(tables, label) > 0.7
        model = LateFusionRegressor(views, combine=combine).fit(X, value)
        assert model.score(X, value) > (0.0 if combine == "mean" else 0.8)
    three = np.where(X["noise"] > 1.0, "third", label)
    for combine in ("mean", "stacking"):  # several classes
        assert LateFusionClassifier(views, combine=combine).fit(X, three).predict_proba(X).shape == (48, 3)
    with pytest.raises(ValueError, match="combine must be one of 'mean', 'stacking'; got 'vote'"):
        LateFusionClassifier(combine="vote").fit(X, label)
    with pytest.raises(ValueError, match=r"one value for each sample.* got shape \(48, 2\)"):
        LateFusionRegressor().fit(X, np.column_stack([value, value]))


# ------------------------------------------------------------------ columns
def by_hand(task, width):
    """The rivals as a user would write them, on a table of numbers."""
    inner = {"classification": StratifiedKFold, "regression": KFold}[task](5, shuffle=True, random_state=0)
    grid = {"C": [1.0, 100.0], "gamma": [0.1 / width, 1.0 / width]}
    if task == "classification":
        linear = LogisticRegression(solver="saga", max_iter=5000, tol=1e-3, random_state=0)
        if linear.penalty == "l2":
            linear.set_params(penalty="elasticnet")
        net = GridSearchCV(linear, {"C": [0.1, 1.0], "l1_ratio": [0.5]}, cv=inner)
        svm = GridSearchCV(SVC(), grid, cv=inner)
        forest, boosted = RandomForestClassifier, HistGradientBoostingClassifier
    else:
        net = ElasticNetCV(l1_ratio=[0.5, 1.0], cv=inner, max_iter=10_000)
        svm = TransformedTargetRegressor(GridSearchCV(SVR(), grid, cv=inner), transformer=StandardScaler())
        forest, boosted = RandomForestRegressor, HistGradientBoostingRegressor
    return {
        "tuned RBF SVM": make_pipeline(StandardScaler(), svm),
        "elastic net": make_pipeline(StandardScaler(), net),
        "random forest": forest(5, random_state=0),
        "gradient boosting": boosted(max_iter=5, min_samples_leaf=2, random_state=0),
    }


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("how", ["frame", "tables"])
def test_rivals_on_columns_are_those_by_hand(table, task, how):
    X, label, value = table
    y, folds = (label, CLASS_FOLDS) if task == "classification" else (value, VALUE_FOLDS)
    model = MKLClassifier([Gaussian()]) if task == "classification" else MKLRidge([Gaussian()])
    given = X if how == "frame" else {"one": X[["a"]], "two": X[["b", "noise"]].to_numpy()}
    found = compare(model, given, y, baselines=list(COLUMN_RIVALS), progress=False)
    for name, rival in by_hand(task, 3).items():
        scores = cross_val_score(rival, X.to_numpy(), y, cv=folds)
        np.testing.assert_allclose(folds_of(found, name), scores, rtol=1e-8, err_msg=name)
    if how == "tables":
        return
    fitted = model.fit(given, y)
    part = evaluate(fitted, given, y, parts="baselines", baselines=list(COLUMN_RIVALS))["baselines"]
    for row in part["rows"][1:]:
        assert row["score"] == pytest.approx(folds_of(found, row["name"]).mean())
    assert part["answer"].startswith("Against other models") and "gradient boosting (" in part["answer"]


def test_rivals_read_the_columns_that_the_views_read(table):
    X, label, _ = table
    wide = X.assign(leak=np.where(label == "no", 1.0, 0.0))
    model = MKLClassifier([("a", Linear(), ["a"]), ("ab", Gaussian(), ["b", "a"])])
    found = compare(model, wide, label, baselines="random forest", progress=False)
    alone = cross_val_score(RandomForestClassifier(5, random_state=0), X[["a", "b"]], label, cv=CLASS_FOLDS)
    np.testing.assert_array_equal(folds_of(found, "random forest"), alone)


def test_rivals_stand_behind_the_same_steps(table, views):
    X, label = table[0].to_numpy(), table[1]
    views = [(view.name, view.kernel, [k]) for k, view in enumerate(views)]
    model = make_pipeline(StandardScaler(), MKLClassifier(views)).fit(X, label)
    part = evaluate(model, X, label, parts="baselines", baselines=["elastic net", "late fusion"])["baselines"]
    rival = make_pipeline(StandardScaler(), by_hand("classification", 3)["elastic net"])
    scores = {row["name"]: row["score"] for row in part["rows"]}
    assert scores["elastic net"] == pytest.approx(cross_val_score(rival, X, label, cv=CLASS_FOLDS).mean())
    assert "same steps" in part["rows"][2]["what"] and scores["late fusion"] > 0.6


def test_all_columns():
    clinic = pd.DataFrame(
        {"age": [60, None, 50, 70], "site": ["x", "y", None, "x"], "smoker": [True, False, True, True]}
    )
    genes = sparse.csr_matrix(np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 0.0], [0.0, 3.0]]))
    X = MultiTable({"clinic": clinic, "genes": genes})
    encoder = AllColumns().fit(X[:3])
    made = encoder.transform(X)
    assert sparse.issparse(made)
    # age (median 55), smoker, the three of site (a gap is one of them), the genes
    np.testing.assert_array_equal(
        made.toarray(),
        [[60, 1, 1, 0, 0, 0, 1], [55, 0, 0, 1, 0, 2, 0], [50, 1, 0, 0, 1, 0, 0], [70, 1, 1, 0, 0, 0, 3]],
    )
    new = X[[3]]
    new.tables["clinic"] = pd.DataFrame({"age": [np.nan], "site": ["z"], "smoker": [True]})
    np.testing.assert_array_equal(encoder.transform(new).toarray(), [[55, 1, 0, 0, 0, 0, 3]])
    frame = AllColumns(encode="category").fit(X[:3]).transform(X)
    assert frame["column-0"].isna().tolist() == [False, True, False, False]
    assert frame["column-2"].dtype == "category" and frame["column-2"].isna().tolist() == [False] * 2 + [
        True,
        False,
    ]
    chosen = AllColumns({"clinic": [0]}).fit_transform(X)
    np.testing.assert_array_equal(chosen, [[60], [60], [50], [70]])
    objects = AllColumns().fit_transform(np.array([[1, "u"], [2, "v"]], dtype=object))
    np.testing.assert_array_equal(objects, [[1, 1, 0], [2, 0, 1]])
    with pytest.raises(ValueError, match="encode must be one of"):
        AllColumns(encode="ordinal").fit(X)


def test_many_categories_and_gaps_reach_gradient_boosting(table):
    rng = np.random.default_rng(0)
    kind = np.array([f"c{k}" for k in rng.integers(0, 400, size=600)])
    size = np.where(rng.random(600) < 0.2, np.nan, rng.normal(size=600))
    X, y = pd.DataFrame({"kind": kind, "size": size}), np.where(np.nan_to_num(size) > 0, 1, 0)
    model, _ = columns.column_rival(
        "gradient boosting", columns.describe_table("classification", X, y, [])[0]
    )
    assert model.fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.9
    assert len(model[0].blocks_[""].levels[0]) <= 250


def test_samples_that_lack_a_table_have_rivals(table):
    X, label, _ = table
    X = X.set_index(np.array([f"s{i}" for i in range(48)]))
    tables = join_views({"one": X[["a"]], "two": X[["b"]].iloc[4:]}, how="outer")
    order = X.index.get_indexer(tables.ids)
    model = MKLClassifier(KernelBank(Gaussian(), missing="renormalize")).fit(tables, label[order])
    found = evaluate(
        model, tables, label[order], parts="baselines", baselines=["gradient boosting", "elastic net"]
    )
    assert [row["name"] for row in found["baselines"]["rows"][1:]] == ["elastic net", "gradient boosting"]


# ------------------------------------------------------------------ what does not apply
def test_precomputed_kernels_have_no_columns(raw_stack, table):
    model = MKLClassifier("precomputed").fit(raw_stack, table[1])
    found = evaluate(model, raw_stack, table[1], parts="baselines", baselines="all")
    names = [row["name"] for row in found["baselines"]["rows"][1:]]
    assert names == [name for name in BASELINES if name not in COLUMN_RIVALS]
    [entry] = found["omitted"]
    assert entry["part"] == "baselines" and "the kernels are precomputed" in entry["why"]
    assert all(name in entry["why"] for name in COLUMN_RIVALS)
    compared = compare(model, raw_stack, table[1], baselines=True, progress=False)
    assert "tuned RBF SVM: the kernels are precomputed" in str(compared)
    for call in (
        lambda: evaluate(model, raw_stack, table[1], parts="baselines", baselines=["random forest"]),
        lambda: compare(model, raw_stack, table[1], baselines=["plain sum", "random forest"]),
    ):
        with pytest.raises(
            ValueError, match="'random forest', which does not apply: the kernels are precomp"
        ):
            call()


def test_what_does_not_apply_is_an_error_only_where_it_was_named(table, views):
    X, label, value = table
    one = MKLClassifier(views[:1]).fit(X, label)
    found = evaluate(one, X, label, parts="baselines", baselines=["all", "random forest"])
    assert {row["name"] for row in found["baselines"]["rows"][1:]} == set(COLUMN_RIVALS)
    with pytest.raises(ValueError, match="'stacking', which does not apply: there is one view only"):
        evaluate(one, X, label, parts="baselines", baselines="stacking")
    with pytest.raises(ValueError, match="'plain sum', which does not apply: SVC has no views"):
        compare(SVC(), X, label, baselines="plain sum")
    with pytest.raises(ValueError, match="'kept views alone', which does not apply: the model keeps none"):
        evaluate(one, X, label, parts="baselines", baselines="kept views alone")
    many = np.column_stack([value, value])
    with pytest.raises(ValueError, match="'late fusion', which does not apply: they predict one value"):
        compare(MKLRidge(views), X, many, baselines="late fusion")
    found = evaluate(one, X, label, parts="baselines", baselines=False)
    assert found["baselines"] is None and "baselines=False" in found["omitted"][0]["why"]


@pytest.mark.parametrize(
    ("baselines", "error", "message"),
    [
        ("boosting", ValueError, "baselines must be one of .*'gradient boosting'.*'all'; got 'boosting'"),
        (["plain sum", "sum"], ValueError, "baselines must be one of .*; got 'sum'"),
        (3, TypeError, "baselines must be a list of names and .*pairs, a dict or a bool; got int"),
        ([SVC()], TypeError, "an estimator among the baselines must have a name; got SVC.*pair"),
        ({"plain sum": SVC()}, ValueError, "distinct names; 'plain sum' is taken"),
        ([("a", SVC()), ("a", SVC())], ValueError, "distinct names; 'a' is taken"),
        ({3: SVC()}, TypeError, "must have a name, a non-empty str; got 3"),
        ({"a": SVC}, TypeError, "baseline 'a' must be an estimator.* Call the class"),
        ({"a": 5}, TypeError, "baseline 'a' must be an estimator of .*; got 5"),
        ({"a": Ridge()}, ValueError, "baseline 'a' must be a classifier, as the model is; got Ridge"),
    ],
)
def test_wrong_baselines_are_refused_before_anything_is_fitted(table, classifier, baselines, error, message):
    X, label, _ = table
    with pytest.raises(error, match=message):
        compare(classifier, X, label, baselines=baselines)
    with pytest.raises(error, match=message):
        evaluate(classifier, X, label, parts="baselines", baselines=baselines)


def test_names_of_the_models_are_taken(table, classifier):
    X, label, _ = table
    with pytest.raises(ValueError, match="'learned' is taken"):
        evaluate(classifier, X, label, parts="baselines", baselines={"learned": SVC()})
    with pytest.raises(ValueError, match="compared with 'mine': choose a different name"):
        compare({"mine": classifier}, X, label, baselines={"mine": SVC()})


# ------------------------------------------------------------------ of the user's own
def test_estimators_of_the_user_are_rivals_on_the_same_folds(table, classifier):
    X, label, _ = table
    near = make_pipeline(StandardScaler(), KNeighborsClassifier(3))
    search = GridSearchCV(SVC(), {"C": [1.0, 10.0]}, cv=3)
    mine = ["usual", ("near", near), ("search", search)]
    found = compare({"mkl": classifier}, X, label, baselines=mine, progress=False)
    assert found.estimators == ["mkl", *choose_baselines(True).names, "near", "search"]
    for name, estimator in (("near", near), ("search", search)):
        by_hand = cross_val_score(estimator, X, label, cv=CLASS_FOLDS)
        np.testing.assert_array_equal(folds_of(found, name), by_hand)
    assert set(found.tests["rival"]) == set(found.baselines) and "near (" in found.answer
    part = evaluate(classifier, X, label, parts="baselines", baselines={"near": near})["baselines"]
    assert [row["name"] for row in part["rows"]] == ["learned", "near"]
    assert part["rows"][1]["score"] == pytest.approx(folds_of(found, "near").mean())
    assert "Pipeline as it was given" in part["rows"][1]["what"]


def test_estimators_of_the_user_read_several_tables_and_kernels(table, raw_stack):
    X, label, value = table
    tables = {"one": X[["a"]], "two": X[["b", "noise"]]}
    both = {"near": KNeighborsClassifier(3), "other": MKLClassifier([Linear()])}
    found = compare({"mkl": MKLClassifier([Gaussian()])}, tables, label, baselines=both, progress=False)
    by_hand = cross_val_score(both["near"], X, label, cv=CLASS_FOLDS)
    np.testing.assert_array_equal(folds_of(found, "near"), by_hand)
    by_hand = cross_val_score(both["other"], MultiTable(tables), label, cv=CLASS_FOLDS)
    np.testing.assert_array_equal(folds_of(found, "other"), by_hand)
    other = {"other": MKLClassifier("precomputed", C=0.01)}
    found = compare({"mkl": MKLClassifier("precomputed")}, raw_stack, label, baselines=other, progress=False)
    by_hand = cross_val_score(other["other"], raw_stack, label, cv=CLASS_FOLDS)
    np.testing.assert_array_equal(folds_of(found, "other"), by_hand)
    with pytest.raises(ValueError, match="baseline 'near' must read kernels, since X holds precomputed"):
        compare({"mkl": MKLClassifier("precomputed")}, raw_stack, label, baselines=both)
    found = compare({"mkl": MKLRegressor([Gaussian()])}, X, value, baselines={"r": Ridge()}, progress=False)
    np.testing.assert_allclose(folds_of(found, "r"), cross_val_score(Ridge(), X, value, cv=VALUE_FOLDS))


# ------------------------------------------------------------------ again, kept, told
def test_the_same_seed_gives_the_same_from_the_store_too(table, views, tmp_path, monkeypatch):
    X, label, _ = table
    models = {"mkl": MKLClassifier(views[:2])}
    wanted = ["stacking", "gradient boosting", "random forest", ("near", KNeighborsClassifier())]
    options = {"baselines": wanted, "progress": False}
    first = compare(models, X, label, store=tmp_path / "folds.jsonl", **options)
    again = compare(models, X, label, **options)
    assert first.scores["score"].tolist() == again.scores["score"].tolist()

    def no_fit(*_, **__):
        raise AssertionError("fitted again")

    fitted = models["mkl"].fit(X, label)
    told = {"parts": "baselines", "baselines": wanted, "store": tmp_path / "evaluation.jsonl"}
    one = evaluate(fitted, X, label, **told)
    for kind in (LateFusionClassifier, HistGradientBoostingClassifier, KNeighborsClassifier, MKLClassifier):
        monkeypatch.setattr(kind, "fit", no_fit)
    stored = compare(models, X, label, store=tmp_path / "folds.jsonl", **options)
    assert stored.scores["score"].tolist() == first.scores["score"].tolist()
    assert evaluate(fitted, X, label, **told).to_dict() == one.to_dict()


def test_each_machine_has_late_fusion_of_its_own(table, views):
    X, label, _ = table
    models = {"soft": MKLClassifier(views, C=0.01), "hard": MKLClassifier(views, C=10.0)}
    found = compare(models, X, label, baselines=["late fusion", "random forest"], progress=False)
    own = "late fusion under MKLClassifier with C=0.01"
    assert found.baselines[own].tested == ["soft"] and found.baselines["random forest"].tested == list(models)
    assert found.baselines[own].kind == "late fusion"


def test_the_report_shows_them(table, classifier):
    X, label, _ = table
    found = evaluate(classifier, X, label, parts="baselines", baselines=["plain sum", "random forest"])
    page = render_markdown(summarize(classifier, evaluation=found))
    assert "random forest" in page and "RandomForestClassifier of 5 trees on all columns" in page


def test_views_keep_their_own_scale_in_the_sum(table):
    X, label, _ = table
    views = [View("a", Linear(), ["a"]), View("b", Gaussian(), ["b"], standardize=False, normalize=None)]
    found = compare({"mkl": MKLClassifier(views, C=0.5)}, X, label, baselines="plain sum", progress=False)
    for i, (train, test) in enumerate(halves(X, label, CLASS_FOLDS)):
        bank = KernelBank(views)
        K = np.asarray(bank.fit_transform(X.iloc[train])).sum(axis=2)
        machine = SVC(C=0.5, kernel="precomputed").fit(K, label[train])
        score = machine.score(np.asarray(bank.transform(X.iloc[test])).sum(axis=2), label[test])
        assert folds_of(found, "plain sum")[i] == pytest.approx(score)


def test_gradient_boosting_reads_tables_with_a_column_without_values():
    frame = pd.DataFrame({"age": [1.0, np.nan, 3.0, 4.0] * 5, "empty": np.full(20, np.nan)})
    encoded = AllColumns(encode="category").fit(frame[:10]).transform(frame[10:])
    assert encoded.iloc[:, 1].eq(0.0).all() and encoded.iloc[:, 0].isna().sum() == 2
    HistGradientBoostingClassifier(max_iter=2).fit(encoded, np.arange(10) % 2)

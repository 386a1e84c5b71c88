"""The banks "auto" and "rich": which kernels, on which columns, with categories and gaps."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from scipy.spatial.distance import cdist
from scipy.stats import rankdata

from multikernel import (
    CombinedKernelOneClass,
    KernelBank,
    MKLClassifier,
    MKLOneClass,
    MKLRegressor,
    View,
    load_model,
    save_model,
)
from multikernel.kernels import AdditiveLaplacian, Gaussian, Laplacian, Linear, Mixed
from multikernel.kernels._rows import Rows
from multikernel.mkl import weight_path
from multikernel.views import as_views
from multikernel.views import scaling as scaling_module
from multikernel.views.scaling import Encoding, RankScaling
from tests.refusals import refuses

RNG = np.random.default_rng(0)
TABLE = RNG.lognormal(size=(60, 4))


def clinic(n=80, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50.0, 10.0, n),
            "stage": pd.Categorical(rng.choice(["I", "II", "III"], n)),
            "smoker": pd.array(rng.choice([True, False], n), dtype="boolean"),
            "ward": rng.choice(["a", "b"], n),
            "day": pd.date_range("2020-01-01", periods=n),
            "zoned": pd.date_range("2020-01-01", periods=n, tz="UTC"),
            "month": pd.period_range("2020-01", periods=n, freq="M"),
            "visits": pd.array(rng.integers(0, 5, n), dtype="Int64"),
        }
    )
    frame.loc[::7, "age"] = np.nan
    frame.loc[3::9, "ward"] = None
    frame.loc[2::11, "smoker"] = pd.NA
    y = (frame["stage"] == "II").to_numpy()
    return frame, np.where(y, "ill", "well")


def names(kernels):
    return KernelBank(kernels).fit(TABLE).view_names_


def test_the_banks():
    assert names("auto") == [
        "linear", "quadratic", "gaussian-0.5", "gaussian-1", "rank-laplacian-0.5", "rank-laplacian-2"
    ]  # fmt: skip
    assert names("rich") == [
        "linear", "quadratic", "gaussian-0.5", "gaussian-1", "gaussian-2", "laplacian-0.5", "laplacian-1",
        "laplacian-2", "rank-additive", "rank-laplacian-0.5", "rank-laplacian-1", "rank-laplacian-2"
    ]  # fmt: skip


@pytest.mark.parametrize("bank", ["auto", "rich"])
def test_kernels_are_those_of_the_definitions_with_unit_variance(bank):
    stack = KernelBank(bank).fit_transform(TABLE)
    made = dict(zip(names(bank), np.moveaxis(np.asarray(stack), 2, 0), strict=True))
    standardized = (TABLE - TABLE.mean(axis=0)) / TABLE.std(axis=0)
    ranks = (np.column_stack([rankdata(column) for column in TABLE.T]) - 0.5) / len(TABLE)
    above = np.triu_indices(60, 1)
    euclidean, manhattan, of_ranks = (
        cdist(X, X, kind)
        for X, kind in [(standardized, "sqeuclidean"), (standardized, "cityblock"), (ranks, "cityblock")]
    )
    expected = {
        "linear": standardized @ standardized.T,
        "quadratic": (standardized @ standardized.T / 4 + 1) ** 2,
    }
    for width in (0.5, 1, 2):
        expected[f"gaussian-{width:g}"] = np.exp(-euclidean / (width**2 * np.median(euclidean[above])))
        expected[f"laplacian-{width:g}"] = np.exp(-manhattan / (width * np.median(manhattan[above])))
        expected[f"rank-laplacian-{width:g}"] = np.exp(-of_ranks / (width * np.median(of_ranks[above])))
    gamma = 4 / np.median(of_ranks[above])
    expected["rank-additive"] = np.mean(
        [np.exp(-gamma * np.abs(np.subtract.outer(column, column))) for column in ranks.T], axis=0
    )
    for name, K in made.items():
        variance = expected[name].diagonal().mean() - expected[name].mean()
        np.testing.assert_allclose(K, expected[name] / variance, rtol=1e-9, atol=1e-12, err_msg=name)


def test_long_tails_and_units_do_not_matter_to_ranks():
    view = [View("ranks", Laplacian(), standardize="rank")]
    K = KernelBank(view).fit_transform(TABLE)
    np.testing.assert_array_equal(K, KernelBank(view).fit_transform(np.exp(TABLE) * [1.0, 1e3, 1e-5, 7.0]))


# --- ranks --------------------------------------------------------------------------------------------------


def test_ranks_are_mid_ranks_interpolated_and_clipped():
    column = np.array([3.0, 1.0, 3.0, 2.0])[:, None]
    scaling = RankScaling.fit(column)
    np.testing.assert_allclose(scaling.apply(column, "X").ravel(), [0.75, 0.125, 0.75, 0.375])
    between = scaling.apply(np.array([[1.5], [-9.0], [99.0]]), "X").ravel()
    np.testing.assert_allclose(between, [0.25, 0.125, 0.75])


def test_a_long_column_is_thinned():
    column = RNG.normal(size=(5000, 1))
    scaling = RankScaling.fit(column)
    assert scaling.points.size <= 256
    exact = (rankdata(column) - 0.5) / 5000
    np.testing.assert_allclose(scaling.apply(column, "X").ravel(), exact, atol=1.0 / 256)


@pytest.mark.parametrize("size", [1.0, 1e-300, 1.7e308], ids=["plain", "tiny", "huge"])
def test_ranks_of_many_columns_are_those_of_scipy(size, monkeypatch):
    monkeypatch.setattr(scaling_module, "_SORTED_ENTRIES", 300)  # blocks of three columns
    table = size * np.where(RNG.uniform(size=(90, 10)) < 0.4, RNG.uniform(-1, 1, (90, 10)), -0.5)
    scaling = RankScaling.fit(table)
    ranks = (rankdata(table, axis=0) - 0.5) / 90
    np.testing.assert_allclose(scaling.apply(table, "X"), ranks, rtol=1e-13)
    between = size * RNG.uniform(-1, 1, (50, 10))
    for found, new, old, rank in zip(scaling.apply(between, "X").T, between.T, table.T, ranks.T, strict=True):
        values, places = np.unique(old / size, return_index=True)
        np.testing.assert_allclose(found, np.interp(new / size, values, rank[places]), rtol=1e-9, atol=1e-12)


def test_sparse_ranks_keep_zeros_and_distances():
    table = scipy.sparse.random(40, 9, 0.3, random_state=0, format="csr")
    table.data -= 0.3
    sparse = RankScaling.fit(table).apply(table, "X")
    dense = RankScaling.fit(table.toarray()).apply(table.toarray(), "X")
    assert sparse.nnz <= table.nnz
    np.testing.assert_allclose(
        cdist(sparse.toarray(), sparse.toarray(), "cityblock"), cdist(dense, dense, "cityblock"), atol=1e-12
    )
    made = [KernelBank("auto").fit_transform(X)[:, :, 4] for X in (table, table.toarray())]
    np.testing.assert_allclose(*made, atol=1e-10)


# --- categories and gaps ------------------------------------------------------------------------------------


def test_encoded_columns():
    frame = pd.DataFrame({"age": [40.0, np.nan, 60.0, 50.0], "sex": ["f", "m", None, "f"]})
    frame = pd.concat([frame] * 2, ignore_index=True).assign(id=list("abcdefgh"))  # which says nothing
    table = Encoding.fit(Rows(frame), True).rows(Rows(frame)).values
    age = np.tile((np.array([40.0, 50.0, 60.0, 50.0]) - 50.0) / np.std([40.0, 50.0, 60.0, 50.0]), 2)
    np.testing.assert_allclose(table[:, 0], age, atol=1e-12)
    once = [[0, 1, 1, 0, 0], [1, 0, 0, 0, 1], [0, 1, 0, 1, 0], [0, 1, 1, 0, 0]]  # gap or not; f, None, m
    indicators = np.array(once + once, float)
    np.testing.assert_allclose(table[:, 1:], indicators - indicators.mean(axis=0), atol=1e-12)
    new = pd.DataFrame({"age": [np.nan], "sex": ["x"], "id": ["z"]})
    row = Encoding.fit(Rows(frame), True).rows(Rows(new)).values[0]
    np.testing.assert_allclose(row, [0.0, *([1.0, 0.0, 0.0, 0.0, 0.0] - indicators.mean(axis=0))], atol=1e-12)


@pytest.mark.parametrize("bank", ["auto", "rich"])
def test_a_table_with_categories_and_gaps_needs_no_word(bank, tmp_path):
    frame, y = clinic()
    before = frame.copy(deep=True)
    model = MKLClassifier(bank, C=10.0).fit(frame[:60], y[:60])
    assert model.score(frame[:60], y[:60]) > 0.9
    pd.testing.assert_frame_equal(frame, before)
    new = frame[60:].copy()
    new["ward"] = "never seen"
    assert np.isfinite(model.decision_function(new)).all()
    save_model(model, tmp_path / "model.mkl")
    loaded = load_model(tmp_path / "model.mkl")
    np.testing.assert_array_equal(loaded.decision_function(new), model.decision_function(new))


def test_gaps_of_an_array_are_filled_and_marked():
    X = RNG.normal(size=(80, 3))
    X[RNG.random(X.shape) < 0.2] = np.nan
    y = np.isnan(X[:, 0])
    assert MKLClassifier(C=10.0).fit(X, y).score(X, y) == 1.0
    named = pd.DataFrame(X, columns=list("abc"))
    np.testing.assert_array_equal(
        MKLClassifier().fit(X, y).decision_function(X), MKLClassifier().fit(named, y).decision_function(named)
    )


def test_gaps_that_training_rows_did_not_have_are_the_mean():
    model = MKLClassifier().fit(TABLE, TABLE[:, 0] > 1.0)
    gap, filled = TABLE.copy(), TABLE.copy()
    gap[3, 1], filled[3, 1] = np.nan, TABLE[:, 1].mean()
    np.testing.assert_allclose(model.decision_function(gap), model.decision_function(filled), atol=1e-10)
    np.testing.assert_allclose(
        model.decision_function(TABLE),
        MKLClassifier(_plain()).fit(TABLE, TABLE[:, 0] > 1.0).decision_function(TABLE),
    )
    gap[5, 2] = np.inf
    with refuses("infinity", "row 5"):
        model.predict(gap)
    with refuses("infinity", "row 5"):
        MKLClassifier().fit(gap, TABLE[:, 0] > 1.0)


def _plain():
    return [replace(view, encode=False) for view in as_views("auto")]


def test_the_order_of_the_rows_does_not_matter():
    frame, y = clinic()
    frame["city"] = [f"city {k % 40}" for k in range(len(frame))]
    order = np.random.default_rng(1).permutation(len(frame))
    model, other = (MKLClassifier(tol=1e-9).fit(frame.iloc[rows], y[rows]) for rows in (order, slice(None)))
    np.testing.assert_allclose(model.decision_function(frame), other.decision_function(frame), atol=1e-5)


def test_dates_count_in_days_with_a_time_zone_too():
    days = pd.Series(pd.date_range("2020-01-01", periods=9))
    for times in (days, days.dt.tz_localize("Europe/Paris"), days.dt.date):
        frame = pd.DataFrame({"t": times})
        table = Encoding.fit(Rows(frame), "rank").rows(Rows(frame)).values
        np.testing.assert_allclose(table[:, 0], (np.arange(9) + 0.5) / 9)


def test_what_cannot_be_encoded_is_named():
    frame, y = clinic()
    frame["lists"] = [[1]] * len(frame)
    with refuses("lists", "list", "row 0"):
        MKLClassifier().fit(frame, y)
    with refuses("encode", "standardize", "Mixed"):
        View("raw", Linear(), standardize=False, encode=True)
    with refuses("encode", "True or False", error=TypeError):
        View("raw", Linear(), encode="yes")
    with refuses("standardize", "'rank'", error=TypeError):
        View("raw", Linear(), standardize="ranks")
    with refuses("standardize='rank'", "numeric columns"):
        View("raw", Mixed(), standardize="rank")


def test_encoded_views_on_factors():
    frame, y = clinic(200)
    dense = MKLClassifier("auto", C=10.0).fit(frame, y)
    low = MKLClassifier(KernelBank("auto", gram="low_rank", rank=200), C=10.0).fit(frame, y)
    assert np.mean(dense.predict(frame) == low.predict(frame)) > 0.97


def test_novelty_detectors_read_no_ranks_and_no_kernels_that_grow():
    """In ranks nothing is far away, and a linear kernel grows with the distance from the training rows."""
    X = np.random.default_rng(0).normal(size=(200, 2))
    far = np.array([[0.0, 0.1], [9.0, 9.0]])
    for model in (MKLOneClass(nu=0.1).fit(X), CombinedKernelOneClass().fit(X)):
        assert model.predict(far).tolist() == [1, -1]
        assert model.view_names_[-1] == "gaussian-4" and len(model.view_names_) == 7
    tables = MKLOneClass({"a": "auto"}, nu=0.1).fit({"a": X})
    assert tables.predict({"a": far}).tolist() == [1, -1] and tables.view_names_[-1] == "a-gaussian-4"


def test_paths_of_a_novelty_detector_have_its_kernels():
    X = np.random.default_rng(0).normal(size=(60, 2))
    path = weight_path(MKLOneClass(nu=0.2), X, parameter="norm", values=[1.0, 2.0]).to_frame()
    model = MKLOneClass(nu=0.2).fit(X)
    assert path.index.tolist() == model.view_names_
    np.testing.assert_allclose(path.to_numpy()[:, 0], model.kernel_weights_, atol=1e-6)
    costs = weight_path(MKLOneClass(costs={"gaussian-4": 2.0}), X, parameter="costs", values=[0.0, 1.0])
    assert costs.to_frame().index.tolist() == model.view_names_


# --- the additive kernel ------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [0.1, 3.0, 500.0])
def test_the_additive_kernel_is_a_mean_over_columns(gamma):
    X, Z = RNG.normal(size=(300, 5)), RNG.normal(size=(7, 5))
    kernel = AdditiveLaplacian(gamma=gamma)
    for left, right in [(X, X), (Z, X)]:
        expected = np.mean([Laplacian(gamma=gamma)(left[:, [k]], right[:, [k]]) for k in range(5)], axis=0)
        np.testing.assert_allclose(kernel(left, right), expected, rtol=0, atol=1e-13)
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() > -1e-10
    np.testing.assert_array_equal(kernel.diag(X), 1.0)
    np.testing.assert_allclose(kernel(scipy.sparse.csr_matrix(X)), K, atol=1e-13)


# --- the unit of the targets --------------------------------------------------------------------------------


def test_categories_are_half_of_the_range_of_a_ranked_column_apart():
    frame = pd.DataFrame({"city": pd.Categorical(["a", "b", "a", "b"]), "age": [10.0, 20.0, 30.0, 40.0]})
    table = Encoding.fit(Rows(frame), "rank").rows(Rows(frame)).values
    apart = np.abs(table[0] - table[1])
    assert sorted(apart) == [0.25, 0.25, 0.25]  # the age by a quarter, the city by two of them


def test_the_default_regressor_does_not_depend_on_the_unit_of_y():
    X = RNG.normal(size=(80, 3))
    y = np.sin(X[:, 0]) + 0.1 * RNG.normal(size=80)
    model = MKLRegressor([Gaussian()], tol=1e-9).fit(X, y)
    assert pytest.approx(y.std()) == model.C_ and model.epsilon_ == pytest.approx(0.1 * y.std())
    for unit, origin in [(1e6, 3e6), (1e-6, 0.0)]:
        other = MKLRegressor([Gaussian()], tol=1e-9).fit(X, unit * y + origin)
        np.testing.assert_allclose((other.predict(X) - origin) / unit, model.predict(X), atol=1e-6)
    same = MKLRegressor([Gaussian()], tol=1e-9, C=model.C_, epsilon=model.epsilon_).fit(X, y)
    np.testing.assert_array_equal(same.predict(X), model.predict(X))
    for bank in ([Gaussian()], KernelBank([Gaussian()], rank=10)):
        # of 77 numbers 5.1 the mean is another number, by rounding
        constant = MKLRegressor(bank).fit(X[:77], np.full(77, 5.1))
        np.testing.assert_allclose(constant.predict(X), 5.1)
        assert (constant.C_, constant.epsilon_) == (1.0, 0.1)
    with refuses("C", "auto"):
        MKLRegressor(C="scale").fit(X, y)

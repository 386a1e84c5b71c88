"""Scores explained: sums over views and columns are exact, and bounds from the duality gap hold."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from multikernel import KernelBank, MKLClassifier, MKLRegressor, MKLRidge, View
from multikernel.bayesian import BayesianMKLClassifier
from multikernel.inspection import NotAdditive, explain
from multikernel.inspection.explaining.score_bounds import Machine
from multikernel.kernels import Gaussian, Linear
from multikernel.localized import LocalizedMKLClassifier
from multikernel.mkl import MKLClassifierCV, MKLOneClass
from multikernel.rules import CombinedKernelClassifier
from multikernel.survival import MKLSurvival

IDS = pd.Index([f"patient {k}" for k in range(80)])
VIEWS = [
    View("lab", Linear(), ["a", "b"]),
    View("age", Gaussian(), ["age"]),
    View("rest", Gaussian(), ["b", "c"]),
]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 4)), IDS, ["a", "b", "c", "age"])
    X["a"] = 50.0 + 7.0 * X["a"]
    return X


@pytest.fixture(scope="module")
def labels(table):
    score = (table["a"] - 50.0) / 7.0 + table["age"] ** 2 + 0.3 * table["c"]
    return np.where(score > 0.8, "ill", "well")


@pytest.fixture(scope="module")
def model(table, labels):
    return MKLClassifier(VIEWS, norm=2, tol=1e-6).fit(table[:50], labels[:50])


# ------------------------------------------------------------------ sums over views
def test_contributions_have_names_and_sum_to_the_score(table, model):
    frame = model.contributions_frame(table)
    assert list(frame.columns) == ["lab", "age", "rest", "intercept", "score"]
    assert list(frame.index) == list(IDS)
    np.testing.assert_array_equal(frame[["lab", "age", "rest"]], model.contributions(table))
    np.testing.assert_allclose(frame.drop(columns="score").sum(axis=1), frame["score"])
    np.testing.assert_allclose(frame["score"], model.decision_function(table))


def test_contributions_of_several_machines_and_of_other_families(table, labels):
    three = np.digitize(table["a"], [47.0, 53.0])
    several = MKLClassifier(VIEWS, norm=2).fit(table, three)
    frame = several.contributions_frame(table)
    assert frame.columns.names == ["machine", "view"]
    scores = np.column_stack([frame[name]["score"] for name in several.machine_names_])
    np.testing.assert_allclose(scores, several.decision_function(table))
    novelty = MKLOneClass(VIEWS).fit(table)
    np.testing.assert_allclose(
        novelty.contributions_frame(table)["score"], novelty.decision_function(table), atol=1e-12
    )
    ridge = MKLRidge(VIEWS).fit(table, table["a"])
    np.testing.assert_allclose(ridge.contributions_frame(table)["score"], ridge.predict(table))
    local = LocalizedMKLClassifier(VIEWS, gating_reg=0.1).fit(table, labels)
    np.testing.assert_allclose(local.contributions_frame(table)["score"], local.decision_function(table))
    three_names = BayesianMKLClassifier(VIEWS).fit(table, three).contributions_frame(table)
    assert list(three_names.columns.get_level_values(0).unique()) == ["0", "1", "2"]
    assert not hasattr(CombinedKernelClassifier(VIEWS), "contributions_frame")


# ------------------------------------------------------------------ explain
def test_every_part_of_an_explanation(table, labels, model):
    found = explain(model, table[50:], labels[50:], X_train=table[:50], y_train=labels[:50])
    frame = found.to_frame()
    assert list(frame["prediction"]) == list(model.predict(table[50:]))
    np.testing.assert_allclose(frame["score"], model.decision_function(table[50:]))
    wrong = frame["prediction"] != frame["target"]
    assert ((frame["error"] > 0.0) == wrong).all()
    worst = found.worst(3)
    assert list(worst.index) == list(frame["error"][wrong].sort_values(ascending=False).index[:3])
    assert found.gates is None and found.omitted == {}
    again = pickle.loads(pickle.dumps(found))
    pd.testing.assert_frame_equal(again.features([3]), found.features([3]))
    assert explain(model, table[:1]).answer.startswith("The score of patient 0 is")
    assert "by the duality gap" in found.answer and found.answer in str(found)
    assert found.to_dict()["rows"][0]["sample"] == "patient 50"
    assert "<table" in found._repr_html_()


def test_features_sum_to_the_score_and_linear_ones_are_coefficients(table, labels, model):
    new = table[50:]
    found = explain(model, new)
    features = found.features()
    np.testing.assert_allclose(features.sum(axis=1), model.decision_function(new))
    assert list(features.columns) == [
        ("lab", "a"), ("lab + rest", "b"), ("age", "age"), ("rest", "all columns"), ("baseline", ""),
    ]  # fmt: skip
    parts = model.contributions(new)
    np.testing.assert_allclose(features["age"]["age"], parts[:, 1] - parts[:, 1].mean())
    moved = new.copy()
    moved["a"] += 1.0  # only the linear kernel reads it
    slope = model.decision_function(moved) - model.decision_function(new)
    np.testing.assert_allclose(features["lab"]["a"], slope * (new["a"] - new["a"].mean()), rtol=1e-6)
    one = found.sample("patient 60", by="features")
    np.testing.assert_allclose(one["start"] + sum(row["value"] for row in one["rows"]), one["score"])
    views = found.sample(10)
    assert views["id"] == "patient 60" and views["score"] == one["score"]
    np.testing.assert_allclose(views["start"] + sum(row["value"] for row in views["rows"]), views["score"])


def test_support_samples_are_the_most_similar_ones(table, labels):
    bank = KernelBank([Gaussian(0.1), Gaussian(1.0)], standardize=False, normalize=None)
    X = table.to_numpy() / 10.0
    model = MKLClassifier(bank, norm=2).fit(X[:50], labels[:50])
    found = explain(model, X[50:], n_neighbors=3).neighbors
    squares = ((X[50:, None] - X[None, :50]) ** 2).sum(axis=2)
    K = sum(w * np.exp(-g * squares) for w, g in zip(model.kernel_weights_, (0.1, 1.0), strict=True))
    K = K[:, model.support_]
    first = np.argsort(-K, axis=1)[:, :3]
    np.testing.assert_array_equal(found["support"], model.support_[first].ravel())
    np.testing.assert_allclose(found["similarity"], np.take_along_axis(K, first, axis=1).ravel())
    pulls = K * model.dual_coef_[0]
    np.testing.assert_allclose(found["adds"], np.take_along_axis(pulls, first, axis=1).ravel())
    frames = MKLClassifier(bank, norm=2).fit(table[:50] / 10.0, labels[:50])
    named = explain(frames, table[50:] / 10.0, X_train=table[:50] / 10.0, y_train=labels[:50], n_neighbors=3)
    np.testing.assert_array_equal(named.neighbors["support"], IDS[found["support"]])
    assert list(named.neighbors["sample"][:4]) == ["patient 50"] * 3 + ["patient 51"]


def test_several_machines_pipelines_searches_gates_and_precomputed_kernels(table, labels):
    three = np.digitize(table["a"], [47.0, 53.0])
    several = MKLClassifier(VIEWS, norm=2).fit(table, three)
    found = explain(several, table, three, X_train=table, y_train=three)
    assert found.machines == ["0", "1", "2"]
    assert ((found.to_frame()["error"] > 0) == (several.predict(table) != three)).all()
    assert {"low[0]", "high[2]", "certain"} <= set(found.to_frame().columns)
    one = found.sample("patient 3")
    assert one["machine"] == str(several.predict(table)[3])
    np.testing.assert_allclose(
        found.features(machine="1").sum(axis=1), several.decision_function(table)[:, 1]
    )
    with pytest.raises(ValueError, match="several machines"):
        found.features()
    piped = make_pipeline(StandardScaler(), MKLClassifier([Gaussian(), Linear()], norm=2))
    piped.fit(table, labels)
    found = explain(piped, table, labels)
    assert list(found.to_frame().index) == list(IDS) and "features" in found.omitted
    search = GridSearchCV(MKLClassifier(VIEWS), {"C": [0.1, 1.0]}, cv=2).fit(table, labels)
    np.testing.assert_allclose(explain(search, table).to_frame()["score"], search.decision_function(table))
    chosen = MKLClassifierCV(VIEWS, cv=2).fit(table, labels)
    again = MKLClassifier(VIEWS, **chosen.best_params_).fit(table, labels)
    np.testing.assert_array_equal(
        explain(chosen, table).neighbors["support"], explain(again, table).neighbors["support"]
    )
    local = LocalizedMKLClassifier(VIEWS, gating_reg=0.1).fit(table, labels)
    found = explain(local, table)
    np.testing.assert_array_equal(found.gates, local.sample_kernel_weights(table))
    assert "neighbors" in found.omitted
    stack = KernelBank(VIEWS).fit_transform(table)
    given = MKLClassifier("precomputed", norm=2).fit(stack, labels)
    found = explain(given, stack, labels, X_train=stack, y_train=labels)
    assert "precomputed" in found.omitted["bounds"] and found.neighbors is not None
    low = MKLClassifier(KernelBank(VIEWS, gram="low_rank"), norm=2).fit(table, labels)
    found = explain(low, table, X_train=table, y_train=labels)
    assert {"neighbors", "bounds"} <= set(found.omitted)
    np.testing.assert_allclose(found.features().sum(axis=1), low.decision_function(table))
    values = MKLRegressor(VIEWS).fit(table, table["a"])
    found = explain(values, table, table["a"])
    np.testing.assert_allclose(found.to_frame()["error"], np.abs(values.predict(table) - table["a"]))


def test_errors_of_censored_times_are_refused(table):
    times = {"event": np.arange(len(table)) % 3 > 0, "time": 1.0 + np.arange(len(table))}
    model = MKLSurvival([Linear()]).fit(table, times)
    assert "error" not in explain(model, table).to_frame()
    with pytest.raises(TypeError, match="y must be left out for a survival model"):
        explain(model, table, times)


def test_what_it_refuses(table, labels, model):
    with pytest.raises(NotAdditive, match="no sums over views"):
        explain(CombinedKernelClassifier(VIEWS).fit(table, labels), table)
    with pytest.raises(TypeError, match="belong together"):
        explain(model, table, X_train=table)
    with pytest.raises(ValueError, match="labels that the model knows"):
        explain(model, table, ["other"] * 80)
    with pytest.raises(ValueError, match="an entry for each"):
        explain(model, table, labels[:3])
    with pytest.raises(ValueError, match="row number"):
        explain(model, table).sample("nobody")
    with pytest.raises(ValueError, match="row numbers of the 80 samples"):
        explain(model, table).features([100])
    with pytest.raises(ValueError, match="need the targets"):
        explain(model, table).worst()
    other = explain(model, table, X_train=table[30:], y_train=labels[30:])
    assert "not the samples that it was fitted to" in other.omitted["bounds"]
    weighted = MKLClassifier(VIEWS).fit(table, labels, sample_weight=np.linspace(0.5, 2.0, 80))
    assert "sample_weight" in explain(weighted, table, X_train=table, y_train=labels).omitted["bounds"]


# ------------------------------------------------------------------ the duality gap
BANK = KernelBank([Linear(), Gaussian(0.3), Gaussian(2.0)], standardize=False, normalize=None)


def plain(table):
    """Columns without units, and the kernels of BANK on them, written out plainly."""
    X = table.to_numpy() / np.array([7.0, 1.0, 1.0, 1.0]) - np.array([7.0, 0.0, 0.0, 0.0])
    squares = ((X[:, None] - X) ** 2).sum(axis=2)
    return X, np.stack([X @ X.T, np.exp(-0.3 * squares), np.exp(-2.0 * squares)], axis=2)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-4])
def test_bounds_hold_the_optimum_of_the_machine_with_the_learned_kernel(table, labels, loss, tol):
    X, stack = plain(table)
    options = {"loss": loss, "class_weight": {"ill": 2.0, "well": 0.7}}
    rough = MKLClassifier(BANK, norm=2, tol=tol, C=0.3, **options).fit(X[:60], labels[:60])
    found = explain(rough, X, X_train=X[:60], y_train=labels[:60]).to_frame()
    K = stack @ rough.kernel_weights_
    optimum = MKLClassifier("precomputed", tol=1e-11, C=0.3, **options).fit(K[:60, :60, None], labels[:60])
    scores = optimum.decision_function(K[:, :60, None])
    assert (found["low"] <= scores).all() and (scores <= found["high"]).all()
    if loss == "hinge":
        sure = found["certain"]
        other = SVC(kernel="precomputed", C=0.3, tol=1e-10, class_weight={"ill": 2.0, "well": 0.7})
        other.fit(K[:60, :60], labels[:60])
        scores = other.decision_function(K[:, :60])
        assert (found["low"] <= scores + 1e-6).all() and (scores <= found["high"] + 1e-6).all()
        assert (other.predict(K[:, :60])[sure] == found["prediction"][sure]).all()


@pytest.mark.parametrize("norm", [1.5, 2.0, np.inf])
@pytest.mark.parametrize("tol", [0.1, 1e-3])
def test_joint_bounds_hold_the_optimum_over_weights_and_machine(table, labels, norm, tol):
    X, _ = plain(table)
    rough = MKLClassifier(BANK, norm=norm, tol=tol).fit(X[:60], labels[:60])
    found = explain(rough, X, X_train=X[:60], y_train=labels[:60]).to_frame()
    scores = MKLClassifier(BANK, norm=norm, tol=1e-10).fit(X[:60], labels[:60]).decision_function(X)
    assert (found["joint_low"] <= scores).all() and (scores <= found["joint_high"]).all()


def test_bounds_of_a_regressor_and_of_one_class_against_the_rest(table):
    (X, stack), y = plain(table), table["age"].to_numpy() ** 2
    rough = MKLRegressor(BANK, norm=2, tol=1e-2).fit(X, y)
    found = explain(rough, X, X_train=X, y_train=y).to_frame()
    K = (stack @ rough.kernel_weights_)[:, :, None]
    best = MKLRegressor("precomputed", C=rough.C_, epsilon=rough.epsilon_, tol=1e-10).fit(K, y)
    assert (found["low"] <= best.predict(K)).all() and (best.predict(K) <= found["high"]).all()
    three = np.digitize(y, [0.3, 1.0])
    rough = MKLClassifier(BANK, norm=2, tol=1e-2, multiclass="shared").fit(X, three)
    found = explain(rough, X, X_train=X, y_train=three).to_frame()
    K = (stack @ rough.kernel_weights_)[:, :, None]
    best = MKLClassifier("precomputed", tol=1e-10, multiclass="shared").fit(K, three).decision_function(K)
    for k in range(3):
        assert (found[f"low[{k}]"] <= best[:, k]).all() and (best[:, k] <= found[f"high[{k}]"]).all()


def test_bounds_close_with_the_tolerance(table, labels):
    X, _ = plain(table)
    widths = []
    for tol in (1e-2, 1e-5, 1e-8):
        model = MKLClassifier(BANK, norm=2, tol=tol).fit(X, labels)
        found = explain(model, X, X_train=X, y_train=labels).to_frame()
        widths.append(float((found["high"] - found["low"]).max()))
    assert widths[0] > widths[1] > widths[2] and widths[2] < 0.05


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "epsilon"])
def test_optimal_intercepts_are_those_of_a_fine_grid(loss):
    rng = np.random.default_rng(1)
    target = rng.normal(size=9) if loss == "epsilon" else np.where(rng.random(9) < 0.5, 1.0, -1.0)
    C = rng.uniform(0.5, 2.0, size=9)
    machine = Machine(target, C, rng.normal(size=9), np.zeros(9), 0.0, loss, 0.1)
    grid = np.linspace(-6.0, 6.0, 240001)
    risks = np.array([machine.risk(machine.scores + b) for b in grid[::40]])
    low, high = machine.intercepts(np.zeros(9))
    assert low <= high + 1e-9
    best = min(machine.risk(machine.scores + b) for b in (low, high))
    assert best <= risks.min() + 1e-9
    room = rng.uniform(0.0, 0.3, size=9)
    wide = machine.intercepts(room)
    for _ in range(50):
        moved = Machine(
            target, C, machine.scores + room * rng.uniform(-1, 1, 9), machine.dual, 0.0, loss, 0.1
        )
        a, b = moved.intercepts(np.zeros(9))
        assert wide[0] - 1e-9 <= a and b <= wide[1] + 1e-9

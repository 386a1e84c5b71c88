"""``max_kernels`` of the estimators: the best subset by enumeration, limits, what is refused."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from multikernel import KernelBank, MKLClassifier, MKLRegressor, MKLRidge, View, load_model, save_model
from multikernel.kernels import Gaussian
from multikernel.mkl import KernelLimit

COLUMNS = 6
VIEWS = [(f"view {m}", Gaussian(), [2 * m, 2 * m + 1]) for m in range(COLUMNS)]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2 * COLUMNS))
    return X, X[:, [0, 4, 8]].sum(axis=1) + 0.3 * rng.normal(size=60)


def targets_of(model, score):
    if not isinstance(model, MKLClassifier):
        return np.column_stack([score, score**2]) if isinstance(model, MKLRidge) else score
    return np.digitize(score, [-1.0, 1.0]) if model.multiclass != "ovr" else score > 0


@pytest.mark.parametrize(
    "model",
    [
        MKLClassifier(C=5.0),
        MKLClassifier(multiclass="shared", norm=2.0),
        MKLClassifier(multiclass="joint"),
        MKLRegressor(),
        MKLRidge(),
    ],
    ids=["binary", "shared", "joint", "regressor", "ridge"],
)
def test_the_best_subset(model, data):
    X, y = data[0], targets_of(model, data[1])
    found = clone(model).set_params(kernels=VIEWS, max_kernels=2, tol=1e-4).fit(X, y)
    values = [
        clone(model).set_params(kernels=[VIEWS[m] for m in S], tol=1e-5).fit(X, y).objective_
        for S in combinations(range(COLUMNS), 2)
    ]
    assert found.status_ == "optimal" and found.dual_gap_ <= 1e-4
    assert np.count_nonzero(found.kernel_weights_) <= 2
    assert found.objective_ == pytest.approx(min(values), rel=3e-4)
    assert (found.weights_frame()["weight"].to_numpy() == found.kernel_weights_).all()
    assert found.history_[-1]["fits"] >= found.n_iter_ > 0


def test_a_limit_that_does_not_bind_changes_nothing(data):
    X, y = data[0], data[1] > 0
    plain = MKLClassifier(VIEWS).fit(X, y)
    limited = MKLClassifier(VIEWS, max_kernels=COLUMNS).fit(X, y)
    assert (plain.dual_coef_ == limited.dual_coef_).all()
    assert (plain.kernel_weights_ == limited.kernel_weights_).all()


def test_prices_and_a_budget_by_name(data):
    X, y = data[0], data[1] > 0
    limit = KernelLimit(prices={"view 0": 5.0, "view 2": 2.0, "view 4": 1.0}, budget=3.0)
    model = MKLClassifier(VIEWS, max_kernels=limit).fit(X, y)
    assert model.weights_frame()["weight"]["view 0"] == 0.0
    assert {"view 2", "view 4"} <= set(np.array(model.view_names_)[model.kernel_weights_ > 0])


def test_views_that_are_kept_count(data):
    X, y = data[0], data[1] > 0
    views = [
        View(name, kernel, columns, keep=0.1 if m == 5 else False)
        for m, (name, kernel, columns) in enumerate(VIEWS)
    ]
    model = MKLClassifier(views, max_kernels=2).fit(X, y)
    assert model.kernel_weights_[5] >= 0.1 - 1e-9 and np.count_nonzero(model.kernel_weights_) == 2
    kept = [View(name, kernel, columns, keep=0.1) for name, kernel, columns in VIEWS]
    with pytest.raises(ValueError, match="number of views with keep, 6"):
        MKLClassifier(kept, max_kernels=2).fit(X, y)


def test_it_ends_early_with_its_gap(data):
    X, y = data[0], data[1] > 0
    model = MKLClassifier(VIEWS, C=100.0, max_kernels=KernelLimit(2, max_nodes=1), tol=1e-6)
    with pytest.warns(ConvergenceWarning, match=r"after 1 nodes.*Raise max_nodes of the KernelLimit"):
        model.fit(X, y)
    assert model.status_ == "max_iter" and model.dual_gap_ > 1e-6
    with pytest.warns(ConvergenceWarning, match="raise max_time"):
        model.set_params(max_kernels=2, max_time=1e-9).fit(X, y)
    assert 1 <= np.count_nonzero(model.kernel_weights_) <= 2


def test_search_clone_and_files(data, tmp_path):
    X, y = data[0], data[1] > 0
    search = GridSearchCV(MKLClassifier(VIEWS), {"max_kernels": [1, 3]}, cv=3).fit(X, y)
    assert search.best_params_ == {"max_kernels": 3}
    model = clone(MKLClassifier(VIEWS, max_kernels=KernelLimit(2, prices={"view 1": 1.0}, budget=1.0))).fit(
        X, y
    )
    save_model(model, tmp_path / "model.mk")
    loaded = load_model(tmp_path / "model.mk")
    assert loaded.max_kernels == model.max_kernels
    assert (loaded.decision_function(X) == model.decision_function(X)).all()


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"max_kernels": 0}, ValueError, "max_kernels must be a positive integer; got 0"),
        ({"max_kernels": 1.5}, TypeError, "max_kernels must be a positive integer; got 1.5"),
        (
            {"max_kernels": KernelLimit(prices={"veiw": 1}, budget=1)},
            ValueError,
            r"prices names unknown views \['veiw'\]",
        ),
        ({"max_kernels": KernelLimit(prices=[-1] * 6, budget=1)}, ValueError, "kernel 'view 0' has -1"),
        ({"C": "learn", "loss": "squared_hinge"}, ValueError, "max_kernels needs a number as C"),
        ({"kernels": KernelBank(VIEWS, gram="low_rank")}, ValueError, "max_kernels has no low-rank route"),
        (
            {"kernels": KernelBank(VIEWS, gram="memmap")},
            ValueError,
            "needs the kernels in memory",
        ),
    ],
)
def test_what_is_refused(changes, error, message, data):
    with pytest.raises(error, match=message):
        MKLClassifier(**{"kernels": VIEWS, "max_kernels": 2} | changes).fit(data[0], data[1] > 0)


def test_weights_for_each_class_are_refused(data):
    with pytest.raises(ValueError, match="multiclass='ovr', with weights for each"):
        MKLClassifier(VIEWS, max_kernels=2).fit(data[0], np.digitize(data[1], [-1.0, 1.0]))

"""Coefficients and sensitivities against finite differences of the decision function, and a linear SVM."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from multikernel import (
    KernelBank,
    LocalizedMKLClassifier,
    MKLClassifier,
    MKLClassifierCV,
    MKLOneClass,
    MKLRegressor,
    MKLRidge,
    MKLRidgeCV,
    View,
)
from multikernel.inspection import feature_importance
from multikernel.inspection.explaining.features import read_data
from multikernel.inspection.explaining.slopes import NoSlope, check_slopes, gradients
from multikernel.inspection.subject import subject_of
from multikernel.kernels import Cosine, Gaussian, Laplacian, Linear, Polynomial, Sigmoid

N = 60
UNITS = np.array([1.0, 50.0, 0.02, 3.0])


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2 * N, 4)) * UNITS + 2.0 * UNITS
    Z = X / UNITS - 2.0
    value = Z[:, 0] + Z[:, 1] ** 2 - Z[:, 2] * Z[:, 3] + 0.1 * rng.normal(size=2 * N)
    return X, value, np.where(value > np.median(value), "yes", "no")


def scores_of(model, X):
    """The scores of all machines; of a regressor its predictions."""
    found = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    return np.reshape(found, (len(X), -1))


def differences(model, X, places=range(4)):
    """Central differences of the scores, (n, n_machines, n_columns)."""
    found = []
    for j in places:
        step = 1e-5 * UNITS[j]
        up, down = X.copy(), X.copy()
        up[:, j] += step
        down[:, j] -= step
        found.append((scores_of(model, up) - scores_of(model, down)) / (2.0 * step))
    return np.stack(found, axis=2)


def derivatives(model, X):
    subject = subject_of(model)
    return np.concatenate(list(gradients(check_slopes(subject), read_data(subject, X))))


def agrees(found, expected):
    """Whether the change of a score for one unit of each column is the same, beside the largest of them."""
    return np.allclose(found * UNITS, expected * UNITS, rtol=0.0, atol=1e-6 * np.abs(expected * UNITS).max())


KERNELS = {
    "linear": Linear(),
    "polynomial": Polynomial(3, gamma="scale", coef0=0.5),
    "gaussian": Gaussian(),
    "nearest": Gaussian("nearest"),
    "sum": Gaussian() + 0.5 * Linear(),
    "product": Gaussian() * Polynomial(2, gamma="scale"),
    "power": (Linear() + Gaussian()) ** 2,
    "cosine": Cosine(),
    "sigmoid": Sigmoid(gamma=0.1),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("options", [{}, {"transforms": "center"}, {"normalize": "diagonal"}], ids=str)
def test_derivatives_are_finite_differences(data, name, options):
    X, value, _ = data
    # a second view, so that kernels with weights of their own add up; indefinite kernels are clipped
    views = [View(name, KERNELS[name], **options), View("other", Gaussian(), [1, 3], normalize=None)]
    model = MKLRidge(KernelBank(views, psd="clip"), norm=2).fit(X[:N], value[:N])
    assert agrees(derivatives(model, X[N:]), differences(model, X[N:]))


MODELS = {
    "classifier": MKLClassifier([Gaussian(), Linear()]),
    "joint": MKLClassifier([Gaussian(), Linear()], multiclass="joint"),
    "regressor": MKLRegressor([Polynomial(2), Linear()]),
    "ridge cv": MKLRidgeCV([Gaussian(), Linear()], alphas=(0.1,), norms=(2.0,)),
    "classifier cv": MKLClassifierCV([Gaussian(), Linear()], Cs=(1.0,), norms=(2.0,)),
    "unstandardized": MKLRidge(KernelBank([Gaussian(), Linear()], standardize=False), norm=2),
    "nystroem": MKLClassifier(KernelBank([Gaussian(), Polynomial(2, "scale")], rank=20)),
    "unit factors": MKLRidge(KernelBank([Gaussian(), Polynomial(2)], rank=15, normalize="diagonal"), norm=2),
    "centred factors": MKLRidge(
        KernelBank([View("g", Polynomial(2, "scale"), transforms=["center", "unit_diagonal"])], rank=10)
    ),
    "exact columns": MKLRidge(KernelBank([View("a", Linear()), Gaussian()], rank=15), norm=2),
    "random features": MKLRidge(
        KernelBank([View("g", Gaussian(), approximation="random_features", rank=20)])
    ),
    "unit columns": MKLRidge(KernelBank([View("a", Linear(), normalize="diagonal")], rank=15)),
    "novelty": MKLOneClass(),
}


@pytest.mark.parametrize("name", MODELS)
def test_derivatives_of_every_kind_of_model(data, name):
    X, value, label = data
    y = (
        np.digitize(value, [0.0, 2.0])
        if name == "joint"
        else label
        if "classifier" in name or name == "nystroem"
        else value
    )
    model = MODELS[name].fit(X[:N], None if name == "novelty" else y[:N])
    expected = differences(model, X[N:])
    assert agrees(derivatives(model, X[N:]), expected) and np.abs(expected).max() > 1e-6


@pytest.mark.parametrize("kind", ["frame", "sparse", "tables"])
def test_every_kind_of_table_has_its_columns(data, kind):
    X, value, _ = data
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    views = [
        View("one", Gaussian(), [0, 2], standardize=False),
        View("two", Linear(), [3], standardize=False),
    ]
    plain = MKLRidge(views, norm=2).fit(X[:N] / UNITS, value[:N])
    expected = feature_importance(plain, X[N:] / UNITS, method="sensitivity").to_frame()
    if kind == "frame":
        views = [
            View("one", Gaussian(), ["a", "c"], standardize=False),
            View("two", Linear(), "d", standardize=False),
        ]
        model = MKLRidge(views, norm=2).fit(frame[:N] / UNITS, value[:N])
        new = (frame[N:] / UNITS)[["d", "c", "b", "a"]]  # other order; b is read by no view
    elif kind == "sparse":
        model = MKLRidge(views, norm=2).fit(scipy.sparse.csr_matrix(X[:N] / UNITS), value[:N])
        new = scipy.sparse.csr_matrix(X[N:] / UNITS)
    else:
        kernels = KernelBank({"one": Gaussian(), "two": Linear()}, standardize=False)
        tables = {"two": frame[["d"]] / UNITS[3], "one": frame[["a", "c"]] / UNITS[[0, 2]]}
        model = MKLRidge(kernels, norm=2).fit({k: t[:N] for k, t in tables.items()}, value[:N])
        new = {k: t[N:] for k, t in tables.items()}
    found = feature_importance(model, new, method="sensitivity").to_frame()
    names = {"a": "x0", "c": "x2", "d": "x3", "b": "x1"}
    found["feature"] = [names.get(name, name) for name in found["feature"]]
    both = found.merge(expected, on=["feature", "view"], suffixes=("", "_expected"))
    assert len(both) >= 3
    np.testing.assert_allclose(both["importance"], both["importance_expected"], rtol=1e-9)
    np.testing.assert_allclose(both["slope"], both["slope_expected"], rtol=1e-9)


def test_sensitivities_are_root_mean_squares_times_deviations(data):
    X, value, _ = data
    y = np.digitize(value, [0.0, 2.0])
    model = MKLClassifier([Gaussian()], multiclass="joint").fit(X[:N], y[:N])
    found = feature_importance(model, X[N:], method="sensitivity")
    expected = differences(model, X[N:])
    by_hand = np.sqrt(np.mean(expected**2, axis=(0, 1))) * X[N:].std(axis=0)
    np.testing.assert_allclose(found.to_frame()["importance"], by_hand, rtol=1e-6)
    np.testing.assert_allclose(
        found.to_frame()["slope[1]"], expected[:, 1].mean(axis=0), rtol=1e-4, atol=1e-8
    )
    assert found.answer.startswith("A step of one standard deviation") and "root mean square" in found.answer


# ------------------------------------------------------------------ linear kernels
def test_coefficients_are_those_of_a_linear_svm(data):
    X, _, label = data
    model = MKLClassifier([View("all", Linear())], C=2.0, tol=1e-8).fit(X[:N], label[:N])
    scaler = StandardScaler().fit(X[:N])
    # standardized, d columns have variance d in feature space, which the kernel is divided by
    judge = SVC(kernel="linear", C=2.0 * model.kernel_weights_[0] / 4.0, tol=1e-10).fit(
        scaler.transform(X[:N]), label[:N]
    )
    found = feature_importance(model, X[N:])
    assert found.method == "coefficients"
    expected = judge.coef_[0] / scaler.scale_
    np.testing.assert_allclose(found.to_frame()["coefficient"], expected, rtol=1e-5)
    np.testing.assert_allclose(
        found.to_frame()["importance"], np.abs(expected) * X[N:].std(axis=0), rtol=1e-5
    )


@pytest.mark.parametrize("rank", [None, 3, 20])
def test_coefficients_give_the_predictions(data, rank):
    X, value, _ = data
    views = [View("a", Linear(), [0, 1], transforms="center"), View("b", 2.0 * Linear() + Linear(), [1, 2])]
    views.append(View("c", Polynomial(1, gamma=0.3), [3], standardize=False))
    model = MKLRidge(KernelBank(views, rank=rank), norm=2).fit(X[:N], value[:N])
    found = feature_importance(model, X[N:])
    assert found.method == "coefficients"
    coefficient = found.to_frame()["coefficient"].to_numpy()
    moved = model.predict(X[N:]) - model.predict(X[N : N + 1])
    np.testing.assert_allclose((X[N:] - X[N]) @ coefficient, moved, rtol=1e-7, atol=1e-9)
    assert found.to_frame()["view"].tolist() == ["a", "a + b", "b", "c"]


def test_large_kernels_that_predict_by_factors_have_coefficients(data):
    X, value, _ = data
    model = MKLRegressor(KernelBank([Linear()], standardize=False, normalize=None), C=1e6, epsilon=0.01)
    model.fit(1e4 * X[:N], value[:N])
    assert model.kernel_factors_ and model.kernel_factors_[0].root is None
    coefficient = feature_importance(model, X[N:]).to_frame()["coefficient"].to_numpy()
    moved = model.predict(1e4 * X[N:]) - model.predict(1e4 * X[N : N + 1])
    np.testing.assert_allclose(1e4 * (X[N:] - X[N]) @ coefficient, moved, rtol=1e-6, atol=1e-6)


def test_twenty_thousand_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3)) @ rng.normal(size=(3, 20_000)) + 0.1 * rng.normal(size=(80, 20_000))
    factor = rng.normal(size=80)
    X[:, [4, 17]] = np.outer(3.0 * factor, [1.0, -2.0])
    tables = {"genes": pd.DataFrame(X[:, :19_990]).add_prefix("g"), "rest": X[:, 19_990:]}
    model = MKLRidge({"genes": Linear(), "rest": Linear()}, norm=2).fit(tables, factor)
    found = feature_importance(model, tables, factor)
    assert found.method == "coefficients" and len(found.to_frame()) == 20_000
    table = found.to_frame()
    top = found.top_features(2)
    assert set(top.loc[top["view"] == "genes", "feature"]) == {"g4", "g17"}
    assert table.loc[17, "coefficient"] < 0.0 < table.loc[4, "coefficient"]
    moved = model.predict(tables) - model.predict(tables)[0]
    np.testing.assert_allclose((X - X[0]) @ table["coefficient"], moved, atol=1e-8)


# ------------------------------------------------------------------ what has no derivative
def test_models_without_derivatives_point_to_permutation(data):
    X, value, label = data
    new = X[N:]

    def refused(model, words, y=label, method="sensitivity", table=X):
        with pytest.raises(NoSlope, match=rf"{words}.*permutation"):
            feature_importance(model.fit(table[:N], y[:N]), table[N:], method=method)

    refused(MKLClassifier([View("l", Laplacian())]), "view 'l': Laplacian")
    refused(MKLClassifier([View("l", Gaussian() + Laplacian())]), "view 'l': Laplacian")
    refused(MKLClassifier([View("r", Gaussian(), standardize="rank")]), "view 'r' reads the ranks")
    refused(LocalizedMKLClassifier([Linear(), Gaussian()]), "LocalizedMKLClassifier")
    refused(make_pipeline(StandardScaler(), MKLClassifier([Linear()])), "pipeline")
    refused(
        MKLRidge([View("g", Gaussian())]), "'g' has the kernel Gaussian.*sensitivity", value, "coefficients"
    )
    refused(MKLRidge([View("u", Linear(), normalize="diagonal")]), "unit diagonal", value, "coefficients")
    refused(
        MKLRidge(KernelBank([View("m", Linear(), [0]), View("n", Linear(), [1])], missing="mean")),
        "lack views",
        value,
    )
    frame = pd.DataFrame(X, columns=list("abcd")).assign(sex=np.where(X[:, 0] > 0, "f", "m"))
    refused(MKLClassifier([View("e", Gaussian(), encode=True)]), "categories or gaps", table=frame)
    model = MKLClassifier([Linear()]).fit(X[:N], label[:N])
    with pytest.raises(ValueError, match=r"groups are permuted together.*permutation"):
        feature_importance(model, new, method="coefficients", groups="views")
    assert feature_importance(model, new, label[N:], groups="views").method == "permutation"
    assert (
        feature_importance(MKLClassifier().fit(X[:N], label[:N]), new, label[N:], n_repeats=2).method
        == "permutation"
    )

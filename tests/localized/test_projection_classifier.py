"""Classification on projection kernels: what is predicted, certified, transformed and found in data."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.svm import SVC

from multikernel.localized import ProjectionKernelClassifier, ProjectionKernelRegressor
from tests.localized.localized_reference import projected_gate, projected_kernel
from tests.localized.solver.gated_problems import hinge_values
from tests.shared_data import needs_shared_data, shared_data_folder

IRIS = load_iris(return_X_y=True)
BRIEF = {"n_screen": 3, "tol": 1e-2}


CONFIGURATIONS = [
    {"n_regions": 1, "n_components": 1},
    {"n_regions": 2, "n_components": 2, "multiclass": "ovr"},
    {"n_regions": 3, "n_components": 1, "multiclass": "ovo", "gating": "sigmoid"},
    {"n_regions": 2, "kernels": "poly", "degree": 3, "gating": "gaussian"},
    {
        "n_regions": 2,
        "kernels": "gaussian",
        "projection_norm": "unit",
        "standardize": False,
        "multiclass": "ovr",
    },
    {"n_regions": 1, "kernels": "gaussian", "gamma": 0.7, "solver": "lbfgs", "multiclass": "ovo"},
]


@pytest.mark.parametrize("settings", CONFIGURATIONS)
def test_scores_are_those_of_the_formula(settings):
    X, y = IRIS
    model = ProjectionKernelClassifier(**BRIEF, **settings).fit(X[::2], y[::2])
    new = X[1::2]
    support = X[::2][model.support_]
    scores = projected_kernel(model, new, support) @ model.dual_coef_.T + model.intercept_
    pairs = settings.get("multiclass") == "ovo"
    assert model.machine_names_ == (["0 vs 1", "0 vs 2", "1 vs 2"] if pairs else ["0", "1", "2"])
    if pairs:
        won = np.zeros((len(new), 3))
        for column, (a, b) in enumerate(combinations(range(3), 2)):
            won[:, a] += scores[:, column] >= 0
            won[:, b] += scores[:, column] < 0
        np.testing.assert_array_equal(np.round(model.decision_function(new)), won)
    else:
        np.testing.assert_allclose(model.decision_function(new), scores, rtol=1e-8, atol=1e-8)
        np.testing.assert_array_equal(model.predict(new), scores.argmax(axis=1))
    np.testing.assert_allclose(
        model.sample_kernel_weights(new), projected_gate(model, new), rtol=1e-10, atol=1e-12
    )
    if settings.get("projection_norm") == "unit":
        np.testing.assert_allclose(np.linalg.norm(model.projections_, axis=1), 1.0)


@pytest.mark.parametrize("kernel", ["linear", "poly", "gaussian"])
@pytest.mark.parametrize("n_regions", [1, 2])
def test_the_certificate_holds_when_recomputed(kernel, n_regions):
    """Dual and primal value of the machine at the learned kernel."""
    X, y = make_moons(120, noise=0.3, random_state=0)
    C = 2.0
    model = ProjectionKernelClassifier(n_regions=n_regions, n_components=1, kernels=kernel, C=C, **BRIEF).fit(
        X, y
    )
    signs = np.where(y == 1, 1.0, -1.0)
    beta = np.zeros(len(X))
    beta[model.support_] = model.dual_coef_[0]
    assert (beta * signs >= 0.0).all() and (np.abs(beta) <= C * (1 + 1e-12)).all()
    assert abs(beta.sum()) < 1e-9
    K = projected_kernel(model, X, X)
    scores = K @ beta
    f = scores + model.intercept_[0]
    dual, primal = hinge_values(signs, np.full(len(X), C), beta, f, 0.5 * beta @ scores)
    assert model.objective_ == pytest.approx(dual, rel=1e-9)
    assert model.dual_gap_ == pytest.approx((primal - dual) / primal, abs=1e-9)
    assert model.dual_gap_ <= 0.1 * model.tol


def test_the_linear_machine_is_a_linear_machine_on_the_transform():
    X, y = make_moons(150, noise=0.25, random_state=1)
    model = ProjectionKernelClassifier(n_regions=3, n_components=2, C=1.0, tol=1e-5, max_iter=20, n_screen=2)
    with pytest.warns(UserWarning, match="max_iter"):
        features = model.fit_transform(X, y)
    np.testing.assert_array_equal(features, model.transform(X))
    assert features.shape == (150, 6)
    scores = model.decision_function(X)
    design = np.column_stack([features, np.ones(len(X))])
    coefficients, *_ = np.linalg.lstsq(design, scores, rcond=None)
    np.testing.assert_allclose(design @ coefficients, scores, atol=1e-8)
    machine = SVC(kernel="linear", C=1.0, tol=1e-8).fit(features, y)
    np.testing.assert_allclose(machine.decision_function(features), scores, atol=2e-2)
    x = (X - X.mean(axis=0)) / X.std(axis=0)
    parts = [model.sample_kernel_weights(X)[:, [m]] * (x @ model.projections_[m]) for m in range(3)]
    np.testing.assert_allclose(features, np.hstack(parts), atol=1e-10)


def test_two_classes_are_one_machine_whatever_the_strategy():
    X, y = make_moons(80, noise=0.2, random_state=0)
    models = [
        ProjectionKernelClassifier(n_regions=2, n_components=1, multiclass=multiclass, **BRIEF).fit(X, y)
        for multiclass in ("joint", "ovr", "ovo")
    ]
    for model in models:
        assert model.dual_coef_.shape[0] == model.intercept_.size == 1
        np.testing.assert_array_equal(model.projections_, models[0].projections_)
        assert model.decision_function(X).shape == (80,)


# --- the samples -------------------------------------------------------------------------------------------


def test_a_weight_is_a_repeated_row_and_order_does_not_matter():
    X, y = IRIS
    X, y = X[::3], y[::3]
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 3, len(X))
    repeated = rng.permutation(np.repeat(np.arange(len(X)), weights))
    model = ProjectionKernelClassifier(n_regions=2, n_components=1, **BRIEF)
    one = clone(model).fit(X, y, sample_weight=weights)
    two = clone(model).fit(X[repeated], y[repeated])
    np.testing.assert_array_equal(one.projections_, two.projections_)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    assert two.dual_coef_.sum() == pytest.approx(one.dual_coef_.sum(), abs=1e-9)
    by_class = clone(model).set_params(class_weight={0: 3.0}).fit(X, y)
    by_sample = clone(model).fit(X, y, sample_weight=np.where(y == 0, 3.0, 1.0))
    np.testing.assert_array_equal(by_class.dual_coef_, by_sample.dual_coef_)


def test_more_descents_keep_the_lowest():
    X, y = IRIS
    one = ProjectionKernelClassifier(n_regions=2, n_components=1, **BRIEF).fit(X, y)
    three = ProjectionKernelClassifier(n_regions=2, n_components=1, n_init=3, **BRIEF).fit(X, y)
    assert three.start_objectives_.shape == (3,)
    assert three.start_objectives_[0] == one.objective_
    assert three.objective_ == three.start_objectives_.min()
    assert three.n_solves_ > one.n_solves_ >= 3 + one.n_iter_ + 1
    other = ProjectionKernelClassifier(n_regions=2, n_components=1, random_state=7, **BRIEF).fit(X, y)
    assert not np.array_equal(one.projections_, other.projections_)


def test_columns_are_standardised_by_the_training_samples():
    """Constant columns are divided by one; the switch is for the projected columns."""
    X, y = make_moons(80, noise=0.2, random_state=0)
    X = np.column_stack([X, np.full(80, 5.0)])
    model = ProjectionKernelClassifier(n_regions=2, n_components=1, **BRIEF)
    plain = clone(model).fit(X, y)
    np.testing.assert_allclose(plain.mean_, X.mean(axis=0))
    np.testing.assert_allclose(plain.scale_, [X[:, 0].std(), X[:, 1].std(), 1.0])
    raw = clone(model).set_params(standardize=False).fit(X, y)
    parts = [raw.sample_kernel_weights(X)[:, [m]] * (X @ raw.projections_[m]) for m in range(2)]
    np.testing.assert_allclose(raw.transform(X), np.hstack(parts), atol=1e-12)


def test_the_width_follows_the_columns_that_are_projected():
    X, y = make_moons(60, noise=0.2, random_state=0)
    X = np.column_stack([5.0 * X, np.ones(60)])
    scaled = ProjectionKernelClassifier(kernels="gaussian", n_components=2, **BRIEF).fit(X, y)
    assert scaled.gamma_ == pytest.approx(0.5)
    raw = ProjectionKernelClassifier(kernels="gaussian", n_components=2, standardize=False, **BRIEF).fit(X, y)
    assert raw.gamma_ == pytest.approx(0.5 / X[:, :2].var(axis=0).mean())


def test_a_model_keeps_its_support_samples_only():
    X, y = make_moons(400, noise=0.1, random_state=0)
    model = ProjectionKernelClassifier(n_regions=2, n_components=2, kernels="gaussian", C=10.0, **BRIEF).fit(
        X, y
    )
    assert model.support_.size < 100
    sizes = [len(a) for a in vars(model).values() if isinstance(a, np.ndarray) and a.ndim]
    sizes += [a.shape[1] for a in (model._support, model._coefficients)]
    assert max(sizes) <= max(model.support_.size, 2)
    many = np.tile(X, (8, 1))  # more rows than one batch
    np.testing.assert_array_equal(model.predict(many), np.tile(model.predict(X), 8))
    np.testing.assert_allclose(model.transform(many), np.tile(model.transform(X), (8, 1)))


# --- the descent -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alternate", [False, True])
def test_the_objective_never_rises_and_a_callback_ends_the_fit(alternate):
    X, y = IRIS
    seen = []

    def stop(entry):
        seen.append(entry)
        return len(seen) == 4

    model = ProjectionKernelClassifier(n_regions=2, n_components=1, alternate=alternate, callback=stop).fit(
        X, y
    )
    assert model.status_ == "interrupted"
    assert len(seen) == len(model.history_) == 4
    values = [entry["objective"] for entry in model.history_]
    assert all(later <= earlier for earlier, later in pairwise(values))
    assert model.objective_ == values[-1] < values[0]
    assert {"start", "iteration", "step", "gradient_norm", "gap", "n_active"} <= set(seen[0])


def test_moving_by_turns_is_another_path_where_there_is_a_gate():
    X, y = make_moons(80, noise=0.2, random_state=0)
    for n_regions in (1, 2):
        together, by_turns = (
            ProjectionKernelClassifier(n_regions=n_regions, n_components=1, alternate=alternate, **BRIEF).fit(
                X, y
            )
            for alternate in (False, True)
        )
        same = np.array_equal(together.projections_, by_turns.projections_)
        assert same == (n_regions == 1)


def test_ridges_are_part_of_the_objective():
    X, y = make_moons(80, noise=0.2, random_state=0)
    model = ProjectionKernelClassifier(
        n_regions=2, n_components=1, gating_reg=0.5, projection_reg=0.3, **BRIEF
    ).fit(X, y)
    plain = ProjectionKernelClassifier(n_regions=2, n_components=1, **BRIEF).fit(X, y)
    support = X[model.support_]
    beta = model.dual_coef_[0]
    dual = np.abs(beta).sum() - 0.5 * beta @ projected_kernel(model, support, support) @ beta
    penalty = 0.15 * (model.projections_**2).sum() + 0.25 * (model.gating_[:, :-1] ** 2).sum()
    assert model.objective_ == pytest.approx(dual + penalty, rel=1e-9)
    assert np.linalg.norm(model.projections_) < np.linalg.norm(plain.projections_)


def test_calibrated_probabilities():
    X, y = IRIS
    model = ProjectionKernelClassifier(
        n_regions=2, n_components=1, probability=True, n_screen=2, tol=0.1
    ).fit(X, y)
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares.argmax(axis=1) == y).mean() > 0.9
    assert not hasattr(ProjectionKernelClassifier(), "predict_proba")


# --- what it finds -----------------------------------------------------------------------------------------


@needs_shared_data
def test_screened_starts_leave_the_plateau(monkeypatch):
    """One class of WAVEFORM against the others, in one dimension: random starts alone often stay."""
    from multikernel.datasets import load_dataset

    monkeypatch.setenv("MULTIKERNEL_DATA", str(shared_data_folder()))
    data = load_dataset("waveform")
    rows = np.random.default_rng(0).permutation(len(data.X))
    train, test = rows[:400], rows[400:]
    y = data.y == 1
    constant = (~y[test]).mean()
    for seed in range(5):
        model = ProjectionKernelClassifier(n_components=1, random_state=seed).fit(data.X[train], y[train])
        assert model.score(data.X[test], y[test]) > constant + 0.15


def test_a_fit_that_ends_on_the_plateau_says_so():
    """Labels that no projection tells: w = 0, the value is 2C times the smaller class, and nothing moves."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    X = np.concatenate([X, -X])  # symmetric about the centre, labels alike on both sides
    y = np.tile(np.arange(90) % 9 == 0, 2)
    with pytest.warns(UserWarning, match=r"nothing of 'True'.*plateau.*n_screen"):
        model = ProjectionKernelClassifier(n_components=1, C=0.5).fit(X, y)
    assert model.objective_ == pytest.approx(2 * 0.5 * y.sum(), rel=1e-3)
    assert np.ptp(model.decision_function(X)) < 0.05
    with pytest.warns(UserWarning, match=r"nothing of the targets.*plateau"):
        regressor = ProjectionKernelRegressor(n_components=1, C=0.01).fit(X, np.tile(rng.normal(size=90), 2))
    assert np.ptp(regressor.predict(X)) < 0.05


def test_a_descent_that_was_cut_short_says_what_to_do():
    X, y = make_moons(100, noise=0.1, random_state=0)
    said = r"settle to tol=1e-06 in 2 steps.*Raise max_iter or tol\."
    for norm, remedy in ((None, ".*projection_norm=.unit."), ("unit", "$")):
        with pytest.warns(UserWarning, match=said + remedy):
            ProjectionKernelClassifier(
                n_regions=2, n_components=1, C=100.0, max_iter=2, tol=1e-6, projection_norm=norm
            ).fit(X, y)


def test_coordinates_have_names():
    names = [f"region{m}_component{r}" for m in range(2) for r in range(2)]
    assert (
        ProjectionKernelClassifier(n_regions=2, n_components=2, **BRIEF)
        .fit(*IRIS)
        .get_feature_names_out()
        .tolist()
        == names
    )

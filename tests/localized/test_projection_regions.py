"""Regions with columns, kernels and dimensions of their own, what the gate reads, local importance."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.svm import SVC

from multikernel.io import load_model, save_model
from multikernel.localized import (
    ProjectionKernelClassifier,
    ProjectionKernelOneClass,
    ProjectionKernelRegressor,
)
from multikernel.localized.solver.gates import GATES
from multikernel.localized.solver.learn import DescentOptions
from multikernel.localized.solver.projections import (
    ProjectionModel,
    ProjectionObjective,
    draw_projections,
    learn_projections,
    projection_kernel,
)
from tests.localized.localized_reference import gate_of
from tests.localized.solver.gated_problems import MACHINES, differences, make_machines, make_problem
from tests.localized.solver.test_projections import coefficients_are_unique, plain_gram

ALL = [ProjectionKernelClassifier, ProjectionKernelRegressor, ProjectionKernelOneClass]
NAMES = ["poly", "linear", "gaussian"]


def two_rules(n=120, seed=0):
    """Where a is positive b + c decides, where it is not d does; e is noise."""
    X = pd.DataFrame(np.random.default_rng(seed).normal(size=(n, 5)), columns=list("abcde"))
    return X, np.where(X["a"] > 0, X["b"] + X["c"] > 0, X["d"] > 0).astype(int)


X, Y = two_rules()
OWN = {
    "kernels": {"pair": "poly", "single": "gaussian"},
    "columns": {"pair": ["b", "c"], "single": ["d"]},
    "n_components": {"pair": 2, "single": 1},
    "gating_features": ["a"],
    "C": 10.0,
}


@pytest.fixture(scope="module")
def model():
    return ProjectionKernelClassifier(**OWN).fit(X, Y)


# --- the objective -----------------------------------------------------------------------------------------


def regional_model(gate, norm, ridges, rng):
    """Three regions with kernels, columns and dimensions of their own."""
    free = np.zeros((3, 4, 2), bool)
    free[0, [0, 1], :2] = free[1, [1, 2, 3], :1] = free[2, [3], :2] = True
    kernels = tuple(projection_kernel(name, 3, 0.4) for name in NAMES)
    return ProjectionModel(kernels, GATES[gate], 3, 2, norm, *ridges, free=free)


@given(
    gate=st.sampled_from(sorted(GATES)),
    norm=st.sampled_from([None, "unit"]),
    kind=st.sampled_from(MACHINES),
    ridges=st.sampled_from([(0.0, 0.0), (0.3, 0.2)]),
    seed=st.integers(0, 2**31),
)
def test_the_gradient_is_that_of_the_objective(gate, norm, kind, ridges, seed):
    rng = np.random.default_rng(seed)
    table, gating_X = rng.normal(size=(13, 4)), rng.normal(size=(13, 2))
    model = regional_model(gate, norm, ridges, rng)
    objective = ProjectionObjective(
        model, table, gating_X, make_machines(kind, make_problem(13, seed=seed), 1e-11)
    )
    V = rng.normal(size=(3, 3)) + [0.0, 0.0, 2.0]
    theta = np.concatenate([rng.normal(size=9), V.ravel()])
    value = objective.value(theta)
    gradient = objective.gradient()
    assume(coefficients_are_unique(objective))
    expected, again = differences(objective.value, theta), differences(objective.value, theta, 3e-6)
    size = max(1.0, abs(value), np.abs(expected).max())
    assume(np.abs(expected - again).max() < 1e-6 * size)  # no kink within the step
    np.testing.assert_allclose(gradient, expected, atol=2e-5 * size)


def test_the_kernel_is_the_sum_over_regions_and_their_columns():
    rng = np.random.default_rng(0)
    table, gating_X = rng.normal(size=(11, 4)), rng.normal(size=(11, 2))
    model = regional_model("softmax", None, (0.0, 0.0), rng)
    objective = ProjectionObjective(model, table, gating_X, make_machines("hinge", make_problem(11), 1e-11))
    theta = rng.normal(size=9 + 9)
    objective.value(theta)
    first, second, third = theta[:4].reshape(2, 2), theta[4:7, None], theta[None, 7:9]
    Z = table[:, :2] @ first, table[:, 1:] @ second, table[:, 3:] @ third
    eta = gate_of("softmax", theta[9:].reshape(3, 3), gating_X)
    expected = sum(
        np.outer(gate, gate) * plain_gram(name, 3, 0.4, z, z)
        for name, z, gate in zip(NAMES, Z, eta.T, strict=True)
    )
    np.testing.assert_allclose(objective.K, expected, rtol=1e-10, atol=1e-12)
    assert (objective.K == objective.K.T).all()


def test_blocks_and_admissible_parameters_leave_out_what_is_not_there():
    model = regional_model("gaussian", "unit", (0.0, 0.0), None)
    table = np.random.default_rng(0).normal(size=(11, 4))
    objective = ProjectionObjective(model, table, table, make_machines("hinge", make_problem(11), 1e-6))
    theta = np.random.default_rng(1).normal(size=9 + 3 * 5)
    assert [block.tolist() for block in model.blocks(4)] == [list(range(9)), list(range(9, 24))]
    admissible = objective.project(theta)
    W, _ = model.split(admissible, 4)
    assert admissible.shape == theta.shape and not W[~model.free].any()
    lengths = np.linalg.norm(W, axis=1)
    np.testing.assert_allclose(lengths, [[1, 1], [1, 0], [1, 1]], rtol=1e-12)


def test_starts_are_differences_in_the_columns_of_the_region():
    model = regional_model("softmax", None, (0.0, 0.0), None)
    table = np.random.default_rng(0).normal(size=(9, 4))
    groups = np.arange(9) % 3
    W = draw_projections(table, groups, (3, 2), np.random.default_rng(1), model.free)
    assert not W[~model.free].any()
    for m, r in np.ndindex(3, 2):
        own = model.free[m, :, r]
        if own.any():
            known = [
                table[a, own] - table[b, own] for a in range(9) for b in range(9) if groups[a] != groups[b]
            ]
            known = np.array(known) / np.linalg.norm(known, axis=1)[:, None]
            assert np.abs(known - W[m, own, r]).max(axis=1).min() < 1e-12


@pytest.mark.parametrize("alternate", [False, True])
def test_the_objective_never_rises(alternate):
    rng = np.random.default_rng(0)
    table, y = rng.normal(size=(60, 4)), np.arange(60) % 2
    model = regional_model("softmax", None, (0.0, 0.0), rng)
    objective = ProjectionObjective(model, table, table, make_machines("hinge", make_problem(60), 1e-4))
    options = DescentOptions(max_iter=10, blocks=model.blocks(4) if alternate else None)
    result = learn_projections(objective, y, (1, 2), rng, options)
    values = [entry["objective"] for entry in result.history]
    assert len(values) > 2 and values == sorted(values, reverse=True)


# --- models ------------------------------------------------------------------------------------------------


def plain_scores(model, table):
    """From the public attributes of the fixture alone."""
    Z = (np.asarray(table) - model.mean_) / model.scale_
    S = (np.asarray(X)[model.support_] - model.mean_) / model.scale_
    here, there = (gate_of("softmax", model.gating_, part[:, [0]]).T for part in (Z, S))
    pair = (Z[:, 1:3] @ model.projections_[0, 1:3]) @ (S[:, 1:3] @ model.projections_[0, 1:3]).T
    gaps = Z[:, [3]] * model.projections_[1, 3, 0] - (S[:, 3] * model.projections_[1, 3, 0])[None]
    Ks = [(pair + 1.0) ** 2, np.exp(-(gaps**2))]  # "scale" for one component of a standardised column: 1
    return sum(np.outer(l, r) * K for l, r, K in zip(here, there, Ks, strict=True)) @ model.dual_coef_[0]


def test_scores_are_those_of_the_published_model(model):
    expected = plain_scores(model, X) + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-9, atol=1e-9)
    assert model.score(X, Y) > 0.9


def test_another_solver_agrees_at_the_learned_kernel(model):
    Z = (np.asarray(X) - model.mean_) / model.scale_
    eta = model.sample_kernel_weights(X)
    pair, single = Z[:, 1:3] @ model.projections_[0, 1:3], Z[:, [3]] * model.projections_[1, 3, 0]
    K = np.outer(eta[:, 0], eta[:, 0]) * (pair @ pair.T + 1.0) ** 2
    K += np.outer(eta[:, 1], eta[:, 1]) * np.exp(-((single - single.T) ** 2))
    peer = SVC(kernel="precomputed", C=10.0, tol=1e-8).fit(K, Y)
    dual = (
        np.abs(peer.dual_coef_).sum()
        - 0.5 * peer.dual_coef_ @ K[np.ix_(peer.support_, peer.support_)] @ peer.dual_coef_.T
    )
    assert model.objective_ == pytest.approx(dual.item(), rel=2e-4)


def test_attributes_and_outputs_say_what_each_region_has(model):
    assert model.view_names_ == ["pair", "single"]
    assert [positions.tolist() for positions in model.columns_] == [[1, 2], [3]]
    assert model.n_components_.tolist() == [2, 1] and model.projections_.shape == (2, 5, 2)
    assert model.gating_.shape == (2, 2) and np.isnan(model.gamma_)
    assert [repr(kernel) for kernel in model.region_kernels_] == ["Polynomial()", "Gaussian(gamma=1.0)"]
    names = ["pair_component0", "pair_component1", "single_component0"]
    assert model.get_feature_names_out().tolist() == names
    Z = (np.asarray(X) - model.mean_) / model.scale_
    eta = model.sample_kernel_weights(X)
    parts = [eta[:, :1] * (Z @ model.projections_[0]), eta[:, 1:] * (Z @ model.projections_[1, :, :1])]
    np.testing.assert_allclose(model.transform(X), np.hstack(parts), atol=1e-12)


def test_a_saved_model_predicts_the_same(model, tmp_path):
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.filterwarnings("ignore:the gate of")
def test_one_value_for_all_is_the_same_as_one_for_each(kind):
    options = {"n_screen": 2, "tol": 0.05}
    plain = kind(n_regions=2, kernels="gaussian", n_components=1, **options).fit(X, Y)
    for columns in (
        [None, slice(None)],
        [list("abcde"), np.ones(5, bool)],
        [lambda table: table.columns] * 2,
    ):
        each = kind(
            kernels=["gaussian", "gaussian"],
            columns=columns,
            n_components=np.array([1, 1]),
            degree=(2, 3),  # of no kernel here
            gamma=["scale", "scale"],
            gating_features=list("abcde"),
            **options,
        ).fit(X, Y)
        np.testing.assert_array_equal(each.projections_, plain.projections_)
        np.testing.assert_array_equal(each.gating_, plain.gating_)
        np.testing.assert_array_equal(each.predict(X), plain.predict(X))
        assert each.gamma_ == plain.gamma_ and each.objective_ == plain.objective_
        assert each.view_names_ == ["region0", "region1"]


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.filterwarnings("ignore:the gate of")
def test_columns_that_nothing_reads_do_not_matter(kind):
    options = {"kernels": "gaussian", "n_components": 1, "n_screen": 2, "tol": 0.05}
    own = kind(columns=[["a", "b"], ["c"]], gating_features=["a"], **options)
    before = clone(own).fit(X, Y)
    after = clone(own).fit(X.assign(d=X["d"] * 5 - 1, e=0.0), Y)
    np.testing.assert_array_equal(after.projections_, before.projections_)
    np.testing.assert_array_equal(after.predict(X), before.predict(X))


def test_the_gate_may_read_the_columns_of_a_region():
    options = {"columns": {"left": [0, 1], "right": [3]}, "n_components": 1, "n_screen": 2, "tol": 0.1}
    by_name = ProjectionKernelClassifier(gating_features="left", **options).fit(X, Y)
    by_columns = ProjectionKernelClassifier(gating_features=[0, 1], **options).fit(X, Y)
    one = ProjectionKernelClassifier(gating_features="a", **options).fit(X, Y)
    np.testing.assert_array_equal(by_name.gating_, by_columns.gating_)
    assert by_name.gating_.shape == (2, 3) and one.gating_.shape == (2, 2)


def test_widths_follow_the_columns_and_dimensions_of_a_region():
    units = X * [1.0, 2.0, 3.0, 10.0, 1.0]
    model = ProjectionKernelRegressor(
        kernels="gaussian",
        columns=[["b", "c"], ["d"]],
        n_components=[2, 1],
        standardize=False,
        n_screen=1,
        tol=0.5,
    ).fit(units, Y)
    variances = units.var(axis=0, ddof=0)
    expected = [1.0 / 2.0 / variances[["b", "c"]].mean(), 1.0 / variances["d"]]
    assert [kernel.gamma for kernel in model.region_kernels_] == pytest.approx(expected)


def test_one_region_may_have_columns_of_its_own():
    model = ProjectionKernelClassifier(columns=[["b", "c", "d"]], n_components=1).fit(X, Y)
    assert model.gating_ is None and model.projections_.shape == (1, 5, 1)
    assert not model.projections_[0, [0, 4]].any()


# --- refusals ----------------------------------------------------------------------------------------------

REFUSED = [
    (
        {"n_regions": 3, "columns": [["a"], ["b"]]},
        ValueError,
        r"columns must have one value for each of the 3.*got 2.*for 'region2'",
    ),
    (
        {"columns": [["a"], ["b"]], "n_components": [1, 2, 3]},
        ValueError,
        r"n_components must have one value for each of the 2 regions.*got 3",
    ),
    (
        {"columns": {"u": ["a"], "v": ["b"]}, "n_components": {"u": 1}},
        ValueError,
        r"n_components must.*each region, \['u', 'v'\]; got no value for 'v'",
    ),
    (
        {"columns": {"u": ["a"], "v": ["b"]}, "kernels": {"u": "poly", "v": "poly", "w": "poly"}},
        ValueError,
        r"kernels must.*got one for 'w'.*Name the same regions",
    ),
    (
        {"columns": {"u": ["a"], "v": ["b"]}, "n_regions": 3},
        ValueError,
        r"n_regions must be the number of the regions \['u', 'v'\]; got 3",
    ),
    ({"columns": {1: ["a"]}}, TypeError, r"names of regions must be strings; got \[1\]"),
    ({"columns": []}, ValueError, r"columns must have a value for each region; got \[\]"),
    ({"columns": ["a", "b"]}, ValueError, r"columns must be a list.*got 'a' for 'region0'. Write \['a'\]"),
    ({"columns": {"u": ["a"], "v": ["nope"]}}, ValueError, r"region 'v' asks for the unknown column 'nope'"),
    ({"columns": [["a"], []]}, ValueError, r"region 'region1' selects no column"),
    ({"kernels": ["linear", "rbf"]}, ValueError, r"kernels of region 'region1' must be one of.*got 'rbf'"),
    ({"n_components": [1, 0]}, ValueError, r"n_components of region 'region1' must be"),
    ({"degree": {"u": 2, "v": 1.5}}, (TypeError, ValueError), r"degree of region 'v' must be"),
    (
        {"gamma": {"u": "scale", "v": "auto"}},
        ValueError,
        r"gamma of region 'v' must be a positive number or \"scale\"; got 'auto'",
    ),
    ({"n_regions": 0}, ValueError, r"n_regions must be"),
    (
        {"n_regions": 2, "gating_features": "nope"},
        ValueError,
        r"gating_features must be the name of a region or of a column.*got 'nope'.*region0",
    ),
    (
        {"n_regions": 2, "gating_features": np.ones((120, 2))},
        ValueError,
        r"gating_features must say which columns.*shape \(120, 2\)",
    ),
    ({"n_regions": 2, "gating_features": [9]}, ValueError, r"gating_features asks for column 9"),
]


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize(("settings", "error", "message"), REFUSED)
def test_what_is_wrong_is_told_by_region(kind, settings, error, message):
    with pytest.raises(error, match=message):
        kind(**settings).fit(X, Y)


# --- what a region looks at --------------------------------------------------------------------------------


def test_the_importance_is_the_share_of_squares(model):
    frame = model.local_importance()
    assert frame.index.tolist() == ["pair", "single"] and frame.columns.tolist() == list("abcde")
    W = model.projections_[0]
    expected = [(W[j] @ W[j]) / np.trace(W.T @ W) for j in (1, 2)]
    np.testing.assert_allclose(frame.loc["pair", ["b", "c"]], expected, rtol=1e-12)
    assert frame.loc["single", "d"] == 1.0
    assert frame.isna().to_numpy().tolist() == [
        [True, False, False, True, True],
        [True, True, True, False, True],
    ]


def test_the_importance_finds_the_columns_that_matter():
    clear = two_rules(400, seed=1)
    model = ProjectionKernelClassifier(n_regions=2, n_components=1, C=10.0, gating_features="a", n_init=3)
    frame = model.fit(*clear).local_importance()
    np.testing.assert_allclose(frame.sum(axis=1), 1.0)
    right = model.sample_kernel_weights(pd.DataFrame([[2.0, 0, 0, 0, 0]], columns=list("abcde"))).argmax()
    assert frame.iloc[right][["b", "c"]].sum() > 0.8 and frame.iloc[1 - right]["d"] > 0.8


def test_the_importance_does_not_depend_on_units_nor_on_names():
    table = np.asarray(X)
    options = {"n_components": 1, "n_screen": 1, "tol": 0.3}
    frame = ProjectionKernelClassifier(**options).fit(table, Y).local_importance()
    assert frame.columns.tolist() == [f"x{j}" for j in range(5)]
    model = ProjectionKernelClassifier(**options, standardize=False).fit(table * [1, 2, 4, 8, 16], Y)
    W = model.projections_[0, :, 0] * (table * [1, 2, 4, 8, 16]).std(axis=0)
    np.testing.assert_allclose(model.local_importance().iloc[0], W**2 / (W @ W), rtol=1e-9)


def test_the_importance_does_not_change_where_the_subspace_is_rotated():
    model = ProjectionKernelClassifier(n_components=2, n_screen=1, tol=0.3).fit(X, Y)
    before = model.local_importance()
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    model.projections_ = model.projections_ @ turn
    np.testing.assert_allclose(model.local_importance(), before, rtol=1e-12)

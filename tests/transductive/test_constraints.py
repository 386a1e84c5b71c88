"""Constraints on the weights and vectors of the user: the classifier against the programs of the paper."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.fft
from sklearn.base import clone

from judges.optimum import conic_optimum
from judges.programs.kernel_matrix_published import cone_program, matrix_inequality
from multikernel import load_model, save_model
from multikernel.kernels import Gaussian, Linear, Polynomial
from multikernel.transductive import TransductiveMKLClassifier, kernel_complexity
from multikernel.transductive.vectors import orthonormal
from tests.mkl.data import make_binary, make_three
from tests.raw import raw
from tests.test_bad_input import refuses

VIEWS = raw([("square", Polynomial(degree=2)), ("near", Gaussian(gamma=0.3)), ("plain", Linear())])
PAPER = {"soft1": "SM1", "soft2": "SM2", "hard": "HM"}
BUDGET = (["square", "plain"], 0.05, 0.25)
TIE = ({"near": 1.0, "plain": -20.0}, None, 0.0)


def split(n=36, n_train=24, seed=0):
    X, y = make_binary(n, seed)
    return X[:n_train], y[:n_train], X[n_train:]


def stack(X):
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return np.stack([Polynomial(degree=2)(X), np.exp(-0.3 * squares), X @ X.T])


def fitted(**parameters):
    return TransductiveMKLClassifier(VIEWS, **{"tol": 1e-8, **parameters}).fit(*split())


# ---------------------------------------------------------------------- constraints
@pytest.mark.parametrize(
    ("method", "weight_set"),
    [
        ("soft1", "nonnegative"),
        ("soft2", "free"),
        pytest.param("soft1", "free", marks=pytest.mark.thorough),
        pytest.param("soft2", "nonnegative", marks=pytest.mark.thorough),
    ],
)
def test_budgets_and_inequalities_are_those_of_the_program(method, weight_set):
    """The linear matrix inequality of the paper with the two constraints written out, in its own units."""
    X, y, X_new = split()
    model = fitted(method=method, weight_set=weight_set, constraints=[BUDGET, TIE])
    Ks = stack(np.vstack([X, X_new]))
    traces = np.trace(Ks, axis1=1, axis2=2)
    c = traces.sum()
    t = np.where(y == model.classes_[1], 1.0, -1.0)
    stated = matrix_inequality(Ks / traces[:, None, None] * c, t, PAPER[method], 1.0, c)
    parts = stated.mu  # of the trace: kernels have trace c here
    more = [parts[0] + parts[2] <= 0.25, parts[0] + parts[2] >= 0.05]
    more += [parts[1] * c / traces[1] <= 20.0 * parts[2] * c / traces[2]]
    more += [parts >= 0] if weight_set == "nonnegative" else []
    program = cp.Problem(stated.program.objective, stated.program.constraints + more)
    assert model.objective_ == pytest.approx(conic_optimum(program), rel=1e-6)
    learned = model.kernel_weights_ * traces / c
    assert 0.05 - 1e-9 <= learned[0] + learned[2] <= 0.25 + 1e-9
    assert model.kernel_weights_[1] <= 20.0 * model.kernel_weights_[2] + 1e-9
    assert fitted(method=method, weight_set=weight_set).objective_ < model.objective_ * (1 - 1e-4)


def test_coefficients_may_be_an_array_and_one_name_a_string():
    by_name = fitted(constraints=[("near", None, 0.5), ({"square": 2.0}, 0.001, np.inf)])
    by_array = fitted(constraints=[(("near",), -np.inf, 0.5), (np.array([2.0, 0.0, 0.0]), 0.001, None)])
    np.testing.assert_allclose(by_name.kernel_weights_, by_array.kernel_weights_, rtol=1e-12)


def test_the_identity_has_its_part_of_the_trace():
    model = fitted(method="soft2", C="learn", constraints=[(["square", "near", "plain"], None, 0.4)])
    assert model.C_[0] ** -1 * 36 >= 0.6 * model.trace_ * (1 - 1e-9)


def test_constraints_hold_for_each_class_against_the_rest():
    X, y = make_three(45)
    model = TransductiveMKLClassifier(VIEWS, constraints=[BUDGET], trace=90.0).fit(X[:30], y[:30], X[30:])
    traces = np.trace(stack(X), axis1=1, axis2=2)
    parts = model.machine_weights_ * traces / 90.0
    assert (parts[:, 0] + parts[:, 2] <= 0.25 + 1e-9).all() and parts.shape == (3, 3)


def test_eigenvectors_have_names_too():
    model = fitted(weight_set="spectral", n_components=6, constraints=[(["eigenvector 1"], None, 0.1)])
    assert model.kernel_weights_[0] <= 0.1 * model.trace_ * (1 + 1e-9)
    assert fitted(weight_set="spectral", n_components=6).kernel_weights_[0] > 0.11 * model.trace_


def test_constrained_models_are_cloned_and_saved(tmp_path):
    model = fitted(constraints=[BUDGET, TIE])
    assert clone(model).get_params()["constraints"] == [BUDGET, TIE]
    save_model(model, tmp_path / "model.mkl")
    again = load_model(tmp_path / "model.mkl")
    X_new = split()[2]
    np.testing.assert_array_equal(model.decision_function(X_new), again.decision_function(X_new))


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ([(["near", "far"], 0, 1)], r"constraints\[0\] names 'far'.*the weights are \['square'"),
        ([("near", 0, 1), ("near", 0.5)], r"constraints\[1\] must have three parts"),
        ([([], 0, 1)], r"constraints\[0\] must name the weights that it is about; got \[\]"),
        ([({}, 0, 1)], r"constraints\[0\] must name the weights that it is about; got \{\}"),
        ([("near", 0.5, 0.2)], r"lower end below the upper"),
        ([("near", None, None)], r"constrains nothing"),
        ([([1.0, 2.0], 0, 1)], r"one finite number for each of the 3 weights"),
        ([({"near": np.nan}, 0, 1)], r"coefficient of 'near'"),
        ([("near", 0, "most")], r"upper end of constraints\[0\]"),
        ([("near", None, 0.2), (["square", "plain"], None, 0.3)], r"no weights of trace .* keep the"),
    ],
)  # fmt: skip
def test_constraints_that_mean_nothing_are_refused(constraints, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fitted(constraints=constraints)


def test_constraints_need_a_margin():
    with refuses('constraints need a margin: method="hard"'):
        fitted(method="alignment", constraints=[BUDGET])


# ---------------------------------------------------------------------- vectors of the user
def cosines(n, k):
    """The first k vectors of the discrete cosine transform over n points."""
    return scipy.fft.idct(np.eye(n)[:, :k], axis=0, norm="ortho")


@pytest.mark.parametrize("method", ["soft1", "soft2"])
def test_vectors_make_the_rank_one_program(method):
    y, V = split()[1], cosines(36, 7)
    model = fitted(weight_set="spectral", method=method, vectors=5.0 * V)
    t = np.where(y == model.classes_[1], 1.0, -1.0)
    Ks = np.stack([np.outer(v, v) for v in V.T])
    expected = conic_optimum(cone_program(Ks, t, PAPER[method], 1.0, model.trace_).program)
    assert model.objective_ == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(model.kernel_, V @ np.diag(model.kernel_weights_) @ V.T, atol=1e-9)
    assert list(model.weights_frame().index) == [f"vector {i}" for i in range(1, 8)]


def test_eigenvectors_given_are_eigenvectors_found():
    found = fitted(weight_set="spectral", n_components=5)
    given = fitted(weight_set="spectral", vectors=found.eigenvectors_)
    by_function = fitted(weight_set="spectral", vectors=lambda X: found.eigenvectors_[: len(X)])
    for model in (given, by_function):
        np.testing.assert_allclose(model.kernel_weights_, found.kernel_weights_, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(model.eigenvalues_, found.eigenvalues_)
    other = np.random.default_rng(1).normal(size=(5, split()[0].shape[1]))
    with pytest.warns(UserWarning, match="carried to new points"):
        one, two = found.decision_function(other), given.decision_function(other)
    np.testing.assert_allclose(one, two, atol=1e-7)


def test_an_initial_matrix_is_the_only_kernel():
    """K₀ of the paper: the spectral family of one kernel is that of its eigenvectors."""
    X, y, X_new = split()
    K0 = stack(np.vstack([X, X_new]))[1]
    model = TransductiveMKLClassifier("precomputed", weight_set="spectral", n_components=6)
    model.fit(K0[:24, :, None], y, K0[24:, :, None])
    V = np.linalg.eigh(K0)[1][:, ::-1][:, :6]
    np.testing.assert_allclose(np.abs(V.T @ model.eigenvectors_), np.eye(6), atol=1e-9)


def test_vectors_outside_the_range_are_not_carried_further():
    X, y, X_new = split()
    model = TransductiveMKLClassifier(raw([Linear()]), weight_set="spectral", vectors=cosines(36, 5))
    model.fit(X, y, X_new)
    assert model.transduction_.shape == (12,)
    with refuses("cannot be carried to other points"):
        model.predict(X_new)


def test_the_complexity_of_vectors_is_that_of_their_matrices():
    V, X = cosines(20, 4), np.random.default_rng(0).normal(size=(20, 3))
    of_vectors = kernel_complexity([X @ X.T], weight_set="spectral", vectors=V, trace=2.0)
    of_matrices = kernel_complexity([np.outer(v, v) for v in V.T], trace=2.0)
    assert of_vectors.mean == pytest.approx(of_matrices.mean, rel=1e-9)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.ones((36, 2)), "columns 0 and 1 have the cosine 1"),
        (np.ones((35, 1)), r"a row for each of the 36 points.*\(35, 1\)"),
        (np.ones(36), r"must be a matrix.*got shape \(36,\)"),
        (np.zeros((36, 1)), "column 0 is zero"),
        (np.full((36, 1), np.inf), "finite"),
    ],
)
def test_vectors_are_checked(vectors, message):
    with pytest.raises(ValueError, match=message):
        fitted(weight_set="spectral", vectors=vectors)
    before = vectors.copy()
    with pytest.raises(ValueError, match=message):
        orthonormal(vectors, 36)
    np.testing.assert_array_equal(before, vectors)


def test_vectors_need_the_spectral_set():
    with refuses('vectors are for weight_set="spectral"'):
        fitted(vectors=np.eye(36))

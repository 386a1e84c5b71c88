"""Agreement with reference numbers for kernel-matrix learning, ``golden/margin.json``.

The reference optimises, over Σμ = c (c = 3 for three unit-diagonal kernels, Σμ + τ = 4 with a learned τ),

    omega = min_μ max_{0 ≤ a ≤ C, y'a = 0}  2e'a − a'(G(K(μ)) + τI)a.

Ours is J = min_ν max_β e'β − ½ β'G(K(ν))β over Σν = 1. Put μ = cν and a = β/c:

    2e'a − a'G(K(μ))a = (2/c) e'β − (c/c²) β'G(K(ν))β = (2/c) (e'β − ½ β'G(K(ν))β),

so that omega = (2/c) J, μ = cν, and a ≤ C becomes β ≤ cC: our C is c times theirs. For the 2-norm soft
margin τ a'a = (2/c) ½ (τ/c) β'β, the shift of our problem is τ/c = 1/(cC): again our C is cC. With τ learned,
τ = c·ν₀ where ν₀ = 1/C_ is the weight of the identity. The scores Σ_j a_j y_j K(μ) = Σ_j β_j y_j K(ν) and
the intercept are the same in both.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from multikernel import MKLClassifier

GOLDEN = json.loads((Path(__file__).parent / "golden" / "margin.json").read_text(encoding="utf-8"))
PROBLEMS = tuple(GOLDEN["problems"])
# criterion: parameters of the classifier with the reference's C, and c
CRITERIA = {
    "HM": ({"C": np.inf}, 3.0),
    "SM1": ({"C": 1.0}, 3.0),
    "SM1_C0.1": ({"C": 0.1}, 3.0),
    "SM2": ({"C": 1.0, "loss": "squared_hinge"}, 3.0),
    "SM2_C10": ({"C": 10.0, "loss": "squared_hinge"}, 3.0),
    "SM2C": ({"C": "learn", "loss": "squared_hinge"}, 4.0),
}


def load(problem):
    """Rows and labels as the file describes them, the training rows first."""
    if problem == "breast_cancer":
        X, target = load_breast_cancer(return_X_y=True)
        X, y = X[:200], np.where(target[:200] == 1, 1, -1)
        train = np.arange(200) < 150
    else:
        X, target = load_wine(return_X_y=True)
        X, y = X[target < 2], np.where(target[target < 2] == 0, 1, -1)
        train = np.arange(len(X)) % 4 != 3
    order = np.concatenate([np.flatnonzero(train), np.flatnonzero(~train)])
    n_train = int(train.sum())
    X, y = X[order], y[order]
    X = (X - X[:n_train].mean(axis=0)) / X[:n_train].std(axis=0)
    return X, y, n_train


def unit_diagonal(K):
    d = np.sqrt(np.diagonal(K))
    return K / np.outer(d, d)


def make_stack(X, sigma):
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    inner = X @ X.T
    kernels = [unit_diagonal((1.0 + inner) ** 2), np.exp(-0.5 * squares / sigma), unit_diagonal(inner)]
    return np.stack(kernels, axis=2)


def prepare(problem):
    golden = GOLDEN["problems"][problem]
    X, y, n_train = load(problem)
    return golden, make_stack(X, golden["sigma"]), y, n_train


def fit(criterion, stack, y, n_train):
    parameters, c = CRITERIA[criterion]
    C = parameters["C"]
    scaled = {**parameters, "C": C if isinstance(C, str) else c * C}
    model = MKLClassifier("precomputed", tol=1e-8, **scaled).fit(stack[:n_train, :n_train], y[:n_train])
    return model, c


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_kernels_are_those_of_the_reference(problem):
    golden, stack, _, n_train = prepare(problem)
    assert n_train == golden["n_train"]
    np.testing.assert_allclose(stack.sum(axis=(0, 1)), golden["kernel_sums"], rtol=1e-10)
    np.testing.assert_allclose((stack**2).sum(axis=(0, 1)), golden["kernel_fro2"], rtol=1e-10)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_learned_weights(problem, criterion):
    golden, stack, y, n_train = prepare(problem)
    expected = golden["nonneg"][criterion]
    model, c = fit(criterion, stack, y, n_train)
    assert model.dual_gap_ <= 1e-8
    np.testing.assert_allclose(2.0 / c * model.objective_, expected["omega"], rtol=1e-7)
    np.testing.assert_allclose(c * model.kernel_weights_, expected["mu"], atol=1e-5)
    scores = model.decision_function(stack[n_train:, :n_train])
    np.testing.assert_allclose(scores, expected["f"], atol=1e-4)
    np.testing.assert_allclose(model.intercept_[0], expected["b"], atol=1e-4)
    if criterion == "SM2C":
        np.testing.assert_allclose(c / model.C_, [expected["tau"]], atol=1e-5)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("kernel", [0, 1, 2])
def test_single_kernels(problem, criterion, kernel):
    golden, stack, y, n_train = prepare(problem)
    expected = golden["single"][f"K{kernel + 1}"][criterion]
    model, c = fit(criterion, stack[:, :, [kernel]], y, n_train)
    np.testing.assert_allclose(2.0 / c * model.objective_, expected["omega"], rtol=1e-7)
    np.testing.assert_allclose(c * model.kernel_weights_, [expected["mu"]], atol=1e-5)
    np.testing.assert_allclose(model.intercept_[0], expected["b"], atol=1e-4)

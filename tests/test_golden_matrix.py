"""Learned kernel matrices agree with reference numbers, ``golden/margin.json``, in the paper's units."""

import numpy as np
import pytest

from multikernel.transductive import TransductiveMKLClassifier
from tests.judged import BOTH, solved_by
from tests.test_golden import GOLDEN, PROBLEMS, prepare

# the reference's name: criterion and C of the estimator
CRITERIA = {
    "HM": ("hard", 1.0),
    "SM1": ("soft1", 1.0),
    "SM1_C0.1": ("soft1", 0.1),
    "SM2": ("soft2", 1.0),
    "SM2_C10": ("soft2", 10.0),
    "SM2C": ("soft2", "learn"),
}
KINDS = {"nonneg": "nonnegative", "free": "free", "rank_one": "spectral"}
# Below 2e-11 floating point does not allow the certificate of every free-sign problem.
TOL = {"nonneg": 1e-11, "free": 1e-10, "rank_one": 1e-11}
# Beside the tolerances that the file states, that of the rank-one weights: they go up to 100.
WEIGHT_TOLERANCE = {"nonneg": 1e-6, "free": 1e-6, "rank_one": 1e-4}

WEIGHTS_ALIGNED = {"ours": 1e-6, "conic": 1e-5}


def fit(problem, kind, criterion, who):
    _, stack, y, n_train = prepare(problem)
    if kind == "rank_one":
        stack = stack[:, :, [1]]
    name, C = CRITERIA[criterion]
    tol = TOL[kind] if who == "ours" else 1e-8
    model = TransductiveMKLClassifier(
        "precomputed", method=name, C=C, weight_set=KINDS[kind], n_components=20, tol=tol
    )
    with solved_by(who):
        return model.fit(stack[:n_train], y[:n_train], stack[n_train:]), stack, y, n_train


def cases(kinds):
    return [
        (problem, kind, criterion)
        for problem in PROBLEMS
        for kind in kinds
        for criterion in CRITERIA
        if GOLDEN["problems"][problem][kind][criterion] is not None
    ]


@pytest.mark.parametrize(("problem", "kind", "criterion"), cases(KINDS))
def test_our_solver(problem, kind, criterion):
    expected = GOLDEN["problems"][problem][kind][criterion]
    model, _, _, _ = fit(problem, kind, criterion, "ours")
    assert model.status_ == "optimal" and model.dual_gap_ <= TOL[kind]
    np.testing.assert_allclose(model.objective_, expected["omega"], rtol=1e-7)
    np.testing.assert_allclose(model.kernel_weights_, expected["mu"], atol=WEIGHT_TOLERANCE[kind])
    if kind != "rank_one":  # the reference gives no scores for these
        np.testing.assert_allclose(model.transduction_scores_, expected["f"], atol=1e-5)
    np.testing.assert_allclose(model.intercept_, [expected["b"]], atol=1e-5)
    if criterion == "SM2C":
        np.testing.assert_allclose(1.0 / model.C_, [expected["tau"]], atol=1e-6)


@pytest.mark.parametrize(("problem", "kind", "criterion"), cases(KINDS))
def test_the_judge_has_the_same_objective(problem, kind, criterion):
    expected = GOLDEN["problems"][problem][kind][criterion]
    model, _, _, _ = fit(problem, kind, criterion, "conic")
    np.testing.assert_allclose(model.objective_, expected["omega"], rtol=1e-6)
    if kind != "rank_one":
        np.testing.assert_allclose(model.transduction_scores_, expected["f"], atol=1e-3)


def test_the_reference_that_is_not_separable():
    assert GOLDEN["problems"]["breast_cancer"]["rank_one"]["HM"] is None
    with pytest.raises(ValueError, match=r'needs separable classes.*method="soft1" or "soft2"'):
        fit("breast_cancer", "rank_one", "HM", "ours")


@pytest.mark.parametrize("who", BOTH)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_alignment(problem, kind, who):
    expected = GOLDEN["problems"][problem]["alignment"][kind]
    _, stack, y, n_train = prepare(problem)
    if kind == "rank_one":
        stack = stack[:, :, [1]]
    model = TransductiveMKLClassifier(
        "precomputed", method="alignment", weight_set=KINDS[kind], n_components=20, tol=1e-8
    )
    with solved_by(who):
        model.fit(stack[:n_train], y[:n_train], stack[n_train:])
    np.testing.assert_allclose(model.objective_, expected["objective"], rtol=1e-7)
    # the reference has ‖K‖ = 1, the model the trace c
    scale = np.linalg.norm(model.kernel_)
    np.testing.assert_allclose(model.kernel_weights_ / scale, expected["mu"], atol=WEIGHTS_ALIGNED[who])
    np.testing.assert_allclose(np.trace(model.kernel_), model.trace_)

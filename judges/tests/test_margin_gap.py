"""The judge of margin machines: against cvxpy and corrupted answers, in both forms of kernels."""

from copy import copy
from dataclasses import replace
from functools import cache

import cvxpy as cp
import numpy as np
import pytest

from judges import margin_gap
from judges.margin_gap import NotCertifiedError, factor_of, gram, judge_model
from judges.optimum import conic_optimum
from multikernel import KernelBank, MKLClassifier, MKLOneClass, MKLRegressor, MKLRidge, View
from multikernel.core.fitted import KernelFactor
from multikernel.kernels import Gaussian, Linear, Polynomial

N = 36
LOSSES = ("hinge", "squared_hinge", "epsilon", "ridge", "one_class", "shared", "joint")
RISKS = {
    "hinge": lambda f, y: 2.0 * cp.sum(cp.pos(1 - cp.multiply(y, f))),
    "squared_hinge": lambda f, y: 1.0 * cp.sum_squares(cp.pos(1 - cp.multiply(y, f))),
    "epsilon": lambda f, y: 2.0 * cp.sum(cp.pos(cp.abs(y - f) - 0.1)),
    "ridge": lambda f, y: cp.sum_squares(y - f) / (2.0 * 0.5),
}


@cache
def table():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, 3))
    signal = X[:, 0] + 0.5 * X[:, 1] * X[:, 2] + 0.4 * rng.normal(size=N)
    return X, signal, np.digitize(signal, np.quantile(signal, [1 / 3, 2 / 3]))


def kernels():
    X = table()[0]
    return [gram(X, "linear"), gram(X, "polynomial", degree=2), gram(X, "gaussian", gamma=0.4)]


@cache
def fitted(loss, norm=1.0, tol=1e-6):
    X, signal, codes = table()
    views = [View("l", Linear()), View("p", Polynomial()), View("g", Gaussian(gamma=0.4))]
    bank = KernelBank(views, standardize=False, normalize=None)
    settings = {"norm": norm, "tol": tol}
    if loss in ("hinge", "squared_hinge"):
        return MKLClassifier(bank, C=2.0, loss=loss, **settings).fit(X, signal > 0.0), signal > 0.0
    if loss in ("shared", "joint", "ovr"):
        return MKLClassifier(bank, C=2.0, multiclass=loss, **settings).fit(X, codes), codes
    if loss == "one_class":
        return MKLOneClass(bank, nu=0.3, **settings).fit(X), None
    model = (
        MKLRegressor(bank, C=2.0, epsilon=0.1, **settings)
        if loss == "epsilon"
        else MKLRidge(bank, alpha=0.5, **settings)
    )
    return model.fit(X, 50.0 + signal), 50.0 + signal


def optimum(loss, norm):
    """The optimal value by cvxpy, the weights eliminated: a norm of the norms of the kernels' functions."""
    _, signal, codes = table()
    n_machines = 3 if loss in ("shared", "joint") else 1
    factors = [factor_of(K, tol=1e-14) for K in kernels()]
    functions = [cp.Variable((L.shape[1], n_machines)) for L in factors]
    b = cp.Variable(n_machines)
    f = sum(L @ w for L, w in zip(factors, functions, strict=True)) + np.ones((N, 1)) @ cp.reshape(
        b, (1, n_machines), order="F"
    )
    is_class = np.eye(3)[codes]
    if loss == "shared":
        risk = sum(RISKS["hinge"](f[:, t], 2.0 * is_class[:, t] - 1.0) for t in range(3))
    elif loss == "joint":
        own = cp.sum(cp.multiply(is_class, f), axis=1, keepdims=True) @ np.ones((1, 3))
        risk = 2.0 * cp.sum(cp.multiply(1.0 - is_class, cp.pos(2.0 - own + f)))
    elif loss == "one_class":
        risk = cp.sum(cp.pos(-f)) / (0.3 * N) + cp.sum(b)
    else:
        values = 50.0 + signal if loss in ("epsilon", "ridge") else np.where(signal > 0.0, 1.0, -1.0)
        risk = RISKS[loss](f[:, 0], values)
    lengths = cp.hstack([cp.norm(w, "fro") for w in functions])
    power = 2.0 if np.isinf(norm) else 2.0 * norm / (norm + 1.0)
    return conic_optimum(cp.Problem(cp.Minimize(0.5 * cp.square(cp.pnorm(lengths, power)) + risk)), 1e-9)


@pytest.mark.parametrize("norm", [1.0, 2.0, np.inf])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_bounds_enclose_the_optimum_and_meet_there(loss, norm):
    model, y = fitted(loss, norm)
    verdict = judge_model(model, kernels(), y)
    value = optimum(loss, norm)
    assert verdict.lower <= value + 1e-6 * abs(value) and verdict.upper >= value - 1e-6 * abs(value)
    assert -1e-9 <= verdict.gap <= 1.05e-6
    assert verdict.gap == pytest.approx(model.dual_gap_, abs=1e-9)


def test_machines_with_weights_of_their_own_are_judged_one_by_one():
    model, y = fitted("ovr", tol=1e-4)
    verdict = judge_model(model, kernels(), y)
    assert verdict.gap == pytest.approx(model.dual_gap_, rel=1e-6)


@pytest.mark.parametrize("loss", [*LOSSES, "ovr"])
@pytest.mark.parametrize("change", ["weights", "duals", "intercept", "outside", "unbalanced", "heavy", "nan"])
def test_a_wrong_answer_is_noticed(loss, change):
    model, y = fitted(loss)
    model = copy(model)
    duals, weights = model.dual_coef_.copy(), model.machine_weights_.copy()
    if change == "weights":
        model.machine_weights_ = np.roll(weights, 1, axis=1)
    elif change == "duals":
        model.dual_coef_ = 0.5 * duals if loss != "one_class" else duals[:, ::-1]
    elif change == "intercept":
        model.intercept_ = model.intercept_ + 0.3 * np.arange(1, model.intercept_.size + 1)
    elif change == "outside":
        model.dual_coef_ = -duals
    elif change == "unbalanced":
        model.dual_coef_ = duals.copy()
        model.dual_coef_[0, np.argmax(abs(duals[0]))] *= 0.5
    elif change == "heavy":
        model.machine_weights_ = 1.01 * weights
    else:
        model.dual_coef_ = np.where(duals == duals.max(), np.nan, duals)
    try:
        assert judge_model(model, kernels(), y).gap > 1e-3
    except NotCertifiedError:
        assert change in ("duals", "outside", "unbalanced", "heavy", "nan")
    else:
        assert change not in ("unbalanced", "heavy", "nan")


def test_what_a_model_predicts_counts():
    model, y = fitted("hinge")
    scores = model.decision_function(table()[0])
    assert judge_model(model, kernels(), y, predicted=scores).gap <= 1.05e-6
    assert judge_model(model, kernels(), y, predicted=scores + 0.3).gap > 1e-2


# ---------------------------------------------------------------------- kernels by factors
def with_factors(model, own=(0, 1)):
    """The same functions, some kernels by a factor."""
    model = copy(model)
    duals = np.zeros((len(model.dual_coef_), N))
    duals[:, model.support_] = model.dual_coef_
    model.support_, model.dual_coef_, model.kernel_factors_ = np.arange(N), duals, []
    for m in own:
        K = kernels()[m]
        pivots = np.random.default_rng(m).choice(N, size=np.linalg.matrix_rank(K), replace=False)
        root = np.linalg.cholesky(K[np.ix_(pivots, pivots)]).T
        L = np.linalg.solve(root.T, K[:, pivots].T).T
        coef = model.machine_weights_[:, m, None] * (duals @ L)
        model.kernel_factors_.append(KernelFactor(m, np.arange(len(duals)), pivots, root, None, coef))
    return model


@pytest.mark.parametrize("loss", [*LOSSES, "ovr"])
def test_both_forms_of_one_function_have_the_same_bounds(loss):
    model, y = fitted(loss, 2.0)
    plain, own = judge_model(model, kernels(), y), judge_model(with_factors(model), kernels(), y)
    assert own.upper == pytest.approx(plain.upper, rel=1e-9)
    assert own.lower == pytest.approx(plain.lower, rel=1e-9)
    assert judge_model(with_factors(model, ()), kernels(), y).gap == pytest.approx(plain.gap, abs=1e-12)


@pytest.mark.parametrize("loss", [*LOSSES, "ovr"])
def test_duals_are_moved_to_where_they_agree_with_the_function(loss):
    model, y = fitted(loss, np.inf)
    model = with_factors(model)
    exact = model.dual_coef_
    known = margin_gap.loss_of(model, y, N)
    noise, rng = np.zeros(exact.shape), np.random.default_rng(0)
    for moves in known.moves(exact):
        step = 1e-4 * np.abs(exact).max() * rng.normal(size=moves.samples.size)
        np.add.at(noise, (moves.to, moves.samples), step)
        if moves.taken_from.size:
            np.add.at(noise, (moves.taken_from, moves.samples), -step)
    duals = known.cut(exact + noise)
    own = margin_gap.own_factors(model, len(exact))
    parts = margin_gap.evaluate(kernels(), duals, model.machine_weights_, own)
    moved = margin_gap.polished(known, duals, model.machine_weights_, parts, own)
    np.testing.assert_array_equal(known.cut(moved), moved)
    np.testing.assert_allclose(moved.sum(axis=1), known.total, atol=1e-9 * np.abs(duals).max())
    changed = margin_gap.evaluate(kernels(), moved, model.machine_weights_, own)
    bounds = margin_gap.forms_at(parts, duals, moved)
    assert (bounds >= changed.forms * (1.0 - 1e-9)).all()
    L = parts.factors[1]
    assert abs((moved - exact) @ L).max() < 0.1 * abs((duals - exact) @ L).max()


def test_a_wrong_factor_is_noticed():
    model, y = fitted("hinge", 2.0)
    changed = with_factors(model)
    first, second = changed.kernel_factors_
    changed.kernel_factors_ = [replace(first, coef=1.5 * first.coef), second]
    assert judge_model(changed, kernels(), y).gap > 1e-2
    less = replace(
        second, support=second.support[1:], root=second.root[1:, 1:], coef=second.coef[:, 1:]
    )  # one pivot less
    changed.kernel_factors_ = [first, less]
    with pytest.raises(NotCertifiedError, match="kernel 1 must be the product of the factor of its 9 pivots"):
        judge_model(changed, kernels(), y)
    changed = with_factors(model)
    changed.machine_weights_ = changed.machine_weights_ * np.array([0.0, 1.0, 1.0])
    assert judge_model(changed, kernels(), y).gap == np.inf  # a function of a kernel without weight


def test_a_kernel_of_low_rank_without_weight_is_factored_by_the_judge():
    signal = table()[1]
    y = np.where(signal > 0.0, 1.0, -1.0)
    huge = np.linspace(1e6, 2e6, N)  # β'K_mβ of duals that are orthogonal to it cancels
    duals = y - huge * (huge @ y) / (huge @ huge)
    other = margin_gap.OwnFactor(np.zeros(0, int), np.zeros((0, 0)), None, np.zeros((1, 0)), np.ones(1, bool))
    parts = margin_gap.evaluate(
        [np.outer(huge, huge), np.zeros((N, N))], duals[None], np.zeros((1, 2)), {1: other}
    )
    assert 0.0 <= parts.forms[0, 0] < 1e-12
    assert not parts.scores.any() and not parts.norms.any()


def test_factors_of_nearly_singular_kernels_hold():
    X = 1e3 * table()[0]
    K = gram(X, "polynomial", degree=3)
    L = factor_of(K, tol=1e-13, max_rank=N)
    rank = L.shape[1]
    assert 10 <= rank <= 20 and abs(L @ L.T - K).max() <= 1e-11 * np.diag(K).max()
    assert factor_of(K, tol=1e-13, max_rank=rank - 1) is None
    assert factor_of(K, np.arange(N)).shape[1] >= rank


def test_kernels_are_those_of_the_package():
    X = table()[0]
    for kernel, K in zip((Linear(), Polynomial(), Gaussian(gamma=0.4)), kernels(), strict=True):
        np.testing.assert_allclose(kernel(X), K, rtol=1e-12, atol=1e-14)
    with pytest.raises(ValueError, match="kind must be"):
        gram(X, "sigmoid")


def test_what_the_judge_does_not_know_is_refused():
    model, y = fitted("ovr")
    model = copy(model)
    model.multiclass = "ovo"
    with pytest.raises(ValueError, match="does not know MKLClassifier"):
        judge_model(model, kernels(), y)
    ridge, values = fitted("ridge")
    ridge = copy(ridge)
    ridge.fit_intercept = False
    with pytest.raises(ValueError, match="needs an intercept"):
        judge_model(ridge, kernels(), values)

"""Views whose weight has a lower bound: the constrained problem, its certificate, and what is said of it."""

import cvxpy as cp
import numpy as np
import pytest

from multikernel import (
    CombinedKernelClassifier,
    KernelBank,
    LocalizedMKLClassifier,
    MKLClassifier,
    MKLOneClass,
    MKLRegressor,
    MKLRidge,
    View,
    evaluate,
    load_model,
    save_model,
)
from multikernel.bayesian import BayesianMKLClassifier
from multikernel.core.optim.loop import Options
from multikernel.core.svm.losses import EpsilonInsensitive, Hinge, OneClass, SquaredError
from multikernel.core.weights.learn import learn_weights
from multikernel.inspection.rivals.baselines import KEPT
from multikernel.kernels import Linear
from multikernel.report import render_markdown, summarize
from multikernel.rules import LowerBoundedMKL
from tests.raw import raw

N = 50
WIDTHS = (2, 3, 4, 2)


def blocks(seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.normal(size=N) > 0.0, 1.0, -1.0)
    signal = (0.8, 0.0, 0.3, 0.0)
    Zs = [
        (s * y[:, None] + rng.normal(size=(N, d))) / np.sqrt(d) for s, d in zip(signal, WIDTHS, strict=True)
    ]
    return Zs, y


def table():
    Zs, y = blocks()
    return np.hstack(Zs), y


def views(**keeps):
    ends = np.cumsum((0, *WIDTHS))
    return [
        View(name, Linear(), list(range(ends[m], ends[m + 1])), keep=keeps.get(name, False))
        for m, name in enumerate("abcd")
    ]


def judge(Zs, risk, floor, norm, costs):
    """The smallest value over w, b and d²μ = l + (1 − ‖l‖) ν, ν in the ball, by cvxpy; and its weights."""
    mu, nu = cp.Variable(len(Zs)), cp.Variable(len(Zs), nonneg=True)
    ws, b = [cp.Variable(Z.shape[1]) for Z in Zs], cp.Variable()
    scores = sum(Z @ w for Z, w in zip(Zs, ws, strict=True))
    size = np.linalg.norm(floor, norm)
    rules = [cp.multiply(costs**2, mu) == floor + (1.0 - size) * nu, cp.norm(nu, norm) <= 1.0]
    value = sum(0.5 * cp.quad_over_lin(w, mu[m]) for m, w in enumerate(ws)) + risk(scores, b)
    problem = cp.Problem(cp.Minimize(value), rules)
    problem.solve(solver="CLARABEL")
    return float(problem.value), mu.value


LOSSES = {
    "hinge": (
        lambda y: Hinge(y, 0.7),
        lambda y: lambda f, b: 0.7 * cp.sum(cp.pos(1 - cp.multiply(y, f + b))),
    ),
    "epsilon": (
        lambda y: EpsilonInsensitive(y, 0.7, 0.1),
        lambda y: lambda f, b: 0.7 * cp.sum(cp.pos(cp.abs(y - f - b) - 0.1)),
    ),
    "squares": (
        lambda y: SquaredError(y, np.full(N, 2.0), True),
        lambda y: lambda f, b: 0.25 * cp.sum_squares(y - f - b),
    ),
    "one_class": (
        lambda y: OneClass(np.zeros(N), np.full(N, 1.0 / (0.4 * N))),
        lambda y: lambda f, b: cp.sum(cp.pos(b - f)) / (0.4 * N) - b,
    ),
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    ("norm", "floor"), [(1.0, [0.0, 0.3, 0.0, 0.0]), (1.0, [0.0, 0.2, 0.0, 0.4]), (2.0, [0.1, 0.3, 0.1, 0.1])]
)
def test_the_gap_is_that_of_the_constrained_problem(loss, norm, floor):
    Zs, y = blocks()
    if loss == "one_class":
        Zs = [Z + 1.0 for Z in Zs]  # away from 0, where every weight has the value 0
    floor, costs = np.array(floor), np.array([1.0, 1.5, 1.0, 0.7])
    make, risk = LOSSES[loss]
    best, weights = judge(Zs, risk(y), floor, norm, costs)
    found = learn_weights(
        np.stack([Z @ Z.T for Z in Zs]),
        [make(y)],
        norm=norm,
        costs=costs,
        floor=floor,
        options=Options(tol=1e-6),
    )
    assert found.gap <= 1e-6
    assert found.lower_bound - 1e-6 <= best <= found.upper_bound + 1e-6
    assert found.objective == pytest.approx(best, abs=2e-6)
    assert (costs**2 * found.weights >= floor - 1e-12).all()
    assert found.weights == pytest.approx(weights, abs=2e-3)


def test_a_rough_gap_is_honest():
    Zs, y = blocks(1)
    floor = np.array([0.0, 0.5, 0.0, 0.0])
    best, _ = judge(Zs, LOSSES["hinge"][1](y), floor, 1.0, np.ones(4))
    Ks = np.stack([Z @ Z.T for Z in Zs])
    for steps in (1, 2, 3):
        found = learn_weights(Ks, [Hinge(y, 0.7)], floor=floor, options=Options(tol=1e-9, max_iter=steps))
        assert found.lower_bound <= best + 1e-6
        assert found.upper_bound >= best - 1e-6


def test_many_samples_with_a_rough_start_and_kernels_left_out():
    rng = np.random.default_rng(3)
    y = np.where(rng.normal(size=400) > 0.0, 1.0, -1.0)
    Zs = [s * y[:, None] + rng.normal(size=(400, 3)) for s in (1.0, 0.0, 0.5, 0.0, 0.0, 0.0)]
    Ks = np.stack([Z @ Z.T / 3.0 for Z in Zs])
    floor = np.array([0.0, 0.2, 0.0, 0.0, 0.0, 0.0])
    found = learn_weights(Ks, [Hinge(y, 1.0)], floor=floor, options=Options(tol=1e-4))
    again = learn_weights(Ks, [Hinge(y, 1.0)], floor=floor, options=Options(tol=1e-4), start=found)
    assert found.gap <= 1e-4
    assert again.gap <= 1e-4
    assert again.objective == pytest.approx(found.objective, rel=2e-4)
    assert found.weights.sum() == pytest.approx(1.0)
    assert found.weights[1] == pytest.approx(0.2)


def test_a_floor_under_all_kernels_is_the_published_method():
    Zs, y = blocks()
    Ks = np.stack([Z @ Z.T for Z in Zs])
    judged = LowerBoundedMKL(lowest=0.5, C=0.7, tol=1e-6).fit(list(Ks), y)
    found = learn_weights(Ks, [Hinge(y, 0.7)], floor=np.full(4, 0.125), options=Options(tol=1e-6))
    assert found.objective == pytest.approx(judged.objective_, rel=5e-6)
    assert found.weights == pytest.approx(judged.kernel_weights_, abs=2e-3)


ESTIMATORS = [MKLClassifier, MKLRegressor, MKLRidge, MKLOneClass]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_kept_view_has_weight(estimator):
    X, y = table()
    kept = estimator(views(b=True)).fit(X, y)
    frame = kept.weights_frame()
    assert kept.kept_views_ == ["b"]
    assert frame["kept"].tolist() == [False, True, False, False]
    assert frame.loc["b", "weight"] >= 1.0 / 8.0 - 1e-12
    assert kept.dual_gap_ <= kept.tol
    assert frame["weight"].sum() == pytest.approx(1.0)
    free = estimator(views()).fit(X, y)
    assert free.kept_views_ == []
    assert "kept" not in free.weights_frame()
    assert free.objective_ <= kept.objective_ * (1.0 + 3e-3) + 1e-9 or estimator is MKLOneClass


def test_contributions_add_up_to_the_scores():
    X, y = table()
    model = MKLClassifier(views(b=0.4)).fit(X, y)
    total = model.contributions(X).sum(axis=1) + model.intercept_[0]
    assert total == pytest.approx(model.decision_function(X))
    assert model.kernel_weights_[1] == pytest.approx(0.4)


def test_a_bound_that_does_not_bind_changes_nothing():
    X, y = table()
    free = MKLClassifier(views(), tol=1e-6).fit(X, y)
    kept = MKLClassifier(views(a=0.1), tol=1e-6).fit(X, y)
    assert free.kernel_weights_[0] > 0.1
    assert kept.kernel_weights_ == pytest.approx(free.kernel_weights_, abs=1e-3)


def test_all_views_kept():
    X, y = table()
    model = MKLClassifier(raw(views(a=True, b=True, c=True, d=True)), tol=1e-6).fit(X, y)
    assert (model.kernel_weights_ >= 0.125 - 1e-12).all()
    judged = LowerBoundedMKL(lowest=0.5, C=1.0, tol=1e-6).fit([Z @ Z.T for Z in blocks()[0]], y)
    assert model.objective_ == pytest.approx(judged.objective_, rel=5e-6)


def test_one_kept_view_alone():
    X, y = table()
    assert MKLClassifier(views(a=True)[:1]).fit(X, y).kernel_weights_.tolist() == pytest.approx([1.0])


def test_with_an_infinite_norm_every_weight_is_one():
    X, y = table()
    assert MKLClassifier(views(b=0.3), norm=np.inf).fit(X, y).kernel_weights_.tolist() == [1.0] * 4


@pytest.mark.parametrize(
    "settings",
    [{"C": "learn", "loss": "squared_hinge"}, {"C": np.inf}, {"multiclass": "joint"}, {"multiclass": "ovo"}],
)
def test_other_machines_keep_it_too(settings):
    Zs, y = blocks()
    X, y = np.hstack([*Zs, 3.0 * y[:, None]]), y.copy()
    y[: N // 3] = 3.0 if settings.get("multiclass") else y[: N // 3]
    model = MKLClassifier([*views(b=0.25), View("sure", Linear(), [11])], **settings).fit(X, y)
    assert (model.machine_weights_[:, 1] >= 0.25 - 1e-12).all()
    assert model.dual_gap_ <= 1e-3


def test_samples_that_lack_views():
    X, y = table()
    X[:5, :2] = np.nan
    model = MKLClassifier(KernelBank(views(b=0.25), missing="renormalize")).fit(X, y)
    assert model.kernel_weights_[1] >= 0.25 - 1e-12


@pytest.mark.parametrize("keep", [2, 1, 0.0, 1.0, -0.5, np.nan, "yes", None])
def test_what_keep_cannot_be(keep):
    with pytest.raises(
        ValueError, match="view 'a': keep must be True, False, or a share above 0 and below 1"
    ):
        View("a", Linear(), keep=keep)


def test_shares_that_leave_nothing_to_learn():
    X, y = table()
    with pytest.raises(ValueError, match=r"got 1.1 at norm=1 \('a': 0.5, 'b': 0.6\). Use smaller shares"):
        MKLClassifier(views(a=0.5, b=0.6)).fit(X, y)


def test_a_kept_view_that_is_constant_is_refused_by_name():
    X, y = table()
    X[:, 2:5] = 1.0
    with pytest.raises(ValueError, match="kernel 'b' is constant on the training rows"):
        MKLClassifier(raw(views(b=True))).fit(X, y)


def test_factors_have_no_lower_bounds():
    X, y = table()
    with pytest.raises(ValueError, match=r"keep=True of view 'b' has no low-rank route.*gram='dense'"):
        MKLClassifier(KernelBank(views(b=True), gram="low_rank")).fit(X, y)


@pytest.mark.parametrize(
    "estimator",
    [LocalizedMKLClassifier, BayesianMKLClassifier, lambda k: CombinedKernelClassifier(kernels=k)],
)
def test_other_families_refuse_it(estimator):
    X, y = table()
    with pytest.raises(ValueError, match="no lower bounds of weights; got keep=True of view 'b'"):
        estimator(views(b=True)).fit(X, y)


def test_tables_and_names():
    Zs, y = blocks()
    kernels = {"omics": Linear(), "clinical": View("clinical", Linear(), keep=0.3)}
    model = MKLClassifier(kernels).fit({"omics": Zs[0], "clinical": Zs[1]}, y)
    assert model.kept_views_ == ["clinical"]
    assert model.kernel_weights_[1] >= 0.3 - 1e-12


def test_keep_is_a_parameter_and_is_saved(tmp_path):
    X, y = table()
    model = MKLClassifier(views()).set_params(kernels__b__keep=0.3).fit(X, y)
    save_model(model, tmp_path / "kept.skops")
    loaded = load_model(tmp_path / "kept.skops")
    assert loaded.kept_views_ == ["b"]
    assert loaded.weights_frame().equals(model.weights_frame())
    assert (loaded.predict(X) == model.predict(X)).all()


def test_the_evaluation_tells_what_the_others_add():
    X, y = table()
    model = MKLClassifier(views(b=True)).fit(X, y)
    found = evaluate(model, X, y, parts=["baselines"])
    rows = {row["name"]: row for row in found["baselines"]["rows"]}
    assert "'b' alone" in rows[KEPT]["what"]
    assert rows[KEPT]["difference"] == pytest.approx(rows["learned"]["score"] - rows[KEPT]["score"])
    assert rows["learned"]["score"] > rows[KEPT]["score"]  # 'b' is noise
    page = render_markdown(summarize(model, evaluation=found))
    assert "b (kept)" in page
    assert KEPT in page

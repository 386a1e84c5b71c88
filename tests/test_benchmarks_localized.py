"""The judge of gates, the descent around SVC, the data, and what the page says of them."""

import dataclasses
from functools import cache, partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, softmax
from sklearn.svm import SVC

from benchmarks.datasets import localized as data
from benchmarks.datasets.localized import digits_task, gauss_task
from benchmarks.localized_objective import gate_values, gated_kernel, judge_machine
from benchmarks.objective import InfeasibleError
from benchmarks.plan import QUICK
from benchmarks.sections import localized as section
from benchmarks.solvers.localized import fit_estimator, learn_gate
from benchmarks.solvers.localized_svc import Descent, descend_svc, fit_svc
from benchmarks.store import Store
from tests.shared_data import needs_shared_data, shared_data_folder


@pytest.fixture
def small_digits(monkeypatch):
    """Two views of few digits, so that no data folder is needed."""
    rng = np.random.default_rng(0)
    digits = np.arange(60) % 10
    views = {"shape": rng.normal(size=(60, 3)) + digits[:, None], "ink": rng.normal(size=(60, 2))}
    monkeypatch.setattr(data, "digit_views", lambda: ("multifeat", views, digits))
    data.digits_task.cache_clear()
    yield views, digits
    data.digits_task.cache_clear()


# ---------------------------------------------------------------------- the judge
@cache
def machine_problem():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(24, 3))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=24) > 0, 1.0, -1.0)
    return np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(-1)), y


def feasible_duals(y, C, rng):
    """Signed duals in their box that sum to zero."""
    alpha = C * rng.random(y.size)
    sums = alpha[y > 0].sum(), alpha[y < 0].sum()
    alpha[y > 0] *= min(1.0, sums[1] / sums[0])
    alpha[y < 0] *= min(1.0, sums[0] / sums[1])
    return y * alpha


@cache
def machine_optimum(C):
    K, y = machine_problem()
    model = SVC(kernel="precomputed", C=C, tol=1e-10).fit(K, y)
    beta = model.dual_coef_[0]
    return np.abs(beta).sum() - 0.5 * beta @ K[np.ix_(model.support_, model.support_)] @ beta


@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 10.0]))
def test_judge_computes_both_values_and_they_enclose_the_optimum(seed, C):
    K, y = machine_problem()
    rng = np.random.default_rng(seed)
    beta, b = feasible_duals(y, C, rng), float(rng.normal())
    verdict = judge_machine(K, y, beta, b, C)
    norm = sum(beta[i] * beta[j] * K[i, j] for i in range(y.size) for j in range(y.size))
    losses = [max(0.0, 1.0 - y[i] * (K[i] @ beta + b)) for i in range(y.size)]
    assert verdict.value == pytest.approx(sum(abs(beta)) - 0.5 * norm, rel=1e-10)
    assert verdict.primal == pytest.approx(0.5 * norm + C * sum(losses), rel=1e-10)
    assert verdict.value <= machine_optimum(C) + 1e-8 <= verdict.primal + 2e-8
    assert verdict.gap == pytest.approx((verdict.primal - verdict.value) / verdict.primal)
    assert verdict.support == 24


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda b: -b, InfeasibleError, r"0 \.\. 2"),
        (lambda b: 3.0 * b, InfeasibleError, r"0 \.\. 2"),
        (lambda b: np.where(np.arange(b.size) == 0, 0.5 * b, b), InfeasibleError, "balance"),
        (lambda b: b[1:], ValueError, "fit"),
        (lambda b: np.where(np.arange(b.size) == 0, np.nan, b), ValueError, "finite"),
    ],
)
def test_judge_refuses_what_is_infeasible_or_does_not_fit(change, error, message):
    K, y = machine_problem()
    beta = feasible_duals(y, 2.0, np.random.default_rng(0))
    beta *= 1.9 / np.abs(beta).max()
    judge_machine(K, y, beta, 0.0, 2.0)
    with pytest.raises(error, match=message):
        judge_machine(K, y, change(beta), 0.0, 2.0)


@given(st.integers(1, 4), st.integers(0, 3), st.integers(0, 10**6))
def test_judge_forms_gates_and_their_kernel(n_gates, n_features, seed):
    rng = np.random.default_rng(seed)
    V, X = rng.normal(size=(n_gates, n_features + 1)), rng.normal(size=(7, n_features))
    with pytest.raises(ValueError, match="softmax"):
        gate_values(V, X, "gaussian")
    activations = np.column_stack([X, np.ones(7)]) @ V.T
    np.testing.assert_allclose(gate_values(V, X, "softmax"), softmax(activations, axis=1), rtol=1e-12)
    eta = gate_values(V, X, "sigmoid")
    np.testing.assert_allclose(eta, expit(activations), rtol=1e-12)
    roots = rng.normal(size=(2, 7, 7))
    kernels = roots @ roots.transpose(0, 2, 1)
    sources = rng.integers(0, 2, n_gates)
    K = gated_kernel(kernels, sources, eta)
    for i in range(7):
        for j in range(7):
            expected = sum(eta[i, m] * kernels[sources[m], i, j] * eta[j, m] for m in range(n_gates))
            assert K[i, j] == pytest.approx(expected, rel=1e-10, abs=1e-12)


# ---------------------------------------------------------------------- the contestants
@pytest.mark.parametrize("kernels", ["linear + quadratic", "3 linear"])
@pytest.mark.parametrize("gating", ["softmax", "sigmoid"])
def test_all_start_at_the_same_gate_and_end_lower(kernels, gating):
    task = gauss_task(60, kernels, gating)
    before = task.kernels.copy()
    K = gated_kernel(task.kernels, task.sources, gate_values(task.start(3), task.features, gating))
    model = SVC(kernel="precomputed", C=task.C, tol=1e-8).fit(K, task.y)
    support, beta = model.support_, model.dual_coef_[0]
    first = np.abs(beta).sum() - 0.5 * beta @ K[np.ix_(support, support)] @ beta
    for descend in section.CONTESTANTS.values():
        answer = descend(task, 3)
        assert answer.first == pytest.approx(first, rel=1e-3)
        verdict = section.verdict_of(task, answer)
        assert verdict["value"] < 0.95 * first
        assert verdict["gap"] < 2e-3
        assert answer.n_solves > answer.n_steps > 0
    np.testing.assert_array_equal(task.kernels, before)


def test_the_peer_builds_its_kernels_from_points():
    task = gauss_task(60, "linear + quadratic")
    nothing = dataclasses.replace(task, kernels=0.0 * task.kernels, features=0.0 * task.features)
    ready, built = descend_svc(task, 2), fit_svc(nothing, 2)
    np.testing.assert_array_equal(built.gate, ready.gate)


def test_estimator_and_solver_read_the_kernels_of_the_task():
    task = gauss_task(80, "linear + quadratic")
    ours, alone = fit_estimator(task, 0), learn_gate(task, 0)
    assert ours.first == pytest.approx(alone.first, rel=2e-4)


@pytest.mark.parametrize("gating", ["softmax", "sigmoid"])
@pytest.mark.parametrize("kernels", ["linear + quadratic", "3 linear"])
def test_gradient_of_the_peer_is_that_of_its_value(kernels, gating, monkeypatch):
    monkeypatch.setattr("benchmarks.solvers.localized_svc.SVC_TOL", 1e-10)
    task = gauss_task(40, kernels, gating)
    descent = Descent(task)
    V = 0.5 * np.random.default_rng(0).normal(size=task.start(0).shape)
    gradient = descent.gradient(descent.solve(V))
    for place in np.ndindex(V.shape):
        change = np.zeros_like(V)
        change[place] = 1e-5
        slope = (descent.solve(V + change).value - descent.solve(V - change).value) / 2e-5
        assert gradient[place] == pytest.approx(slope, rel=1e-3, abs=1e-3)


def test_peer_steps_as_ours_do(monkeypatch):
    """Both with exact machines: the same steps and solves, and the same gate at the end."""
    monkeypatch.setattr("benchmarks.solvers.localized_svc.SVC_TOL", 1e-9)
    monkeypatch.setattr("benchmarks.solvers.localized.MACHINE_TOL", 1e-10)
    task = gauss_task(60, "linear + quadratic")
    ours, theirs = learn_gate(task, 1), descend_svc(task, 1)
    assert (ours.n_steps, ours.n_solves, ours.status) == (theirs.n_steps, theirs.n_solves, theirs.status)
    np.testing.assert_allclose(theirs.gate, ours.gate, atol=1e-4)


# ---------------------------------------------------------------------- the data
def test_kernels_are_those_that_the_page_names():
    task = gauss_task(50, "linear + quadratic")
    Z = (task.points - task.points.mean(axis=0)) / task.points.std(axis=0)
    np.testing.assert_allclose(task.features, Z)
    for K, raw in zip(task.kernels, (Z @ Z.T, (Z @ Z.T + 1.0) ** 2), strict=True):
        norms = np.sqrt(np.diag(raw))
        np.testing.assert_allclose(K, raw / np.outer(norms, norms), rtol=1e-12)
        np.testing.assert_array_equal(K, K.T)
    assert (len(task.views), task.sources.tolist(), set(task.y)) == (2, [0, 1], {-1.0, 1.0})
    copies = gauss_task(50, "3 linear")
    assert (copies.kernels.shape, copies.sources.tolist()) == ((1, 50, 50), [0, 0, 0])


def test_digits_have_a_kernel_for_each_view(small_digits):
    views, digits = small_digits
    task = digits_task(40, "sigmoid")
    drawn = np.random.default_rng(0).permutation(60)[:40]
    assert (task.kernels.shape, task.gating) == ((2, 40, 40), "sigmoid")
    np.testing.assert_array_equal(task.y, np.where(digits[drawn] >= 5, 1.0, -1.0))
    np.testing.assert_array_equal(task.points, np.hstack([views["shape"], views["ink"]])[drawn])
    for kernel, view in zip(task.kernels, views.values(), strict=True):
        Z = (view[drawn] - view[drawn].mean(axis=0)) / view[drawn].std(axis=0)
        Z /= np.linalg.norm(Z, axis=1, keepdims=True)
        np.testing.assert_allclose(kernel, Z @ Z.T, atol=1e-12)
    assert fit_estimator(task, 0).first == pytest.approx(descend_svc(task, 0).first, rel=1e-3)


def test_without_a_data_folder_the_digits_of_scikit_learn_are_read(monkeypatch, tmp_path):
    monkeypatch.setenv("MULTIKERNEL_DATA", str(tmp_path))
    data.digit_views.cache_clear()
    name, views, digits = data.digit_views()
    data.digit_views.cache_clear()
    assert (name, len(views), digits.size) == ("digits", 4, 1797)
    assert {table.shape for table in views.values()} == {(1797, 16)}


@needs_shared_data
def test_multiple_features_have_six_views(monkeypatch):
    monkeypatch.setenv("MULTIKERNEL_DATA", str(shared_data_folder()))
    data.digit_views.cache_clear()
    name, views, digits = data.digit_views()
    data.digit_views.cache_clear()
    assert (name, digits.size) == ("multifeat", 2000)
    assert sorted(table.shape[1] for table in views.values()) == [6, 47, 64, 76, 216, 240]


# ---------------------------------------------------------------------- what the page says
TINY = dataclasses.replace(QUICK, localized=40, localized_digits=30, localized_starts=2, repeats=1)


@pytest.fixture
def measured(tmp_path, monkeypatch, small_digits):
    """The whole section at sizes that take no time."""
    monkeypatch.setattr(section, "cpu_seconds", lambda call: (0.5, call()))
    monkeypatch.setattr(section, "code_version", lambda: "")
    store = Store(tmp_path / "raw.jsonl", "run")
    section.measure(store, TINY)
    return store


def test_the_section_measures_and_reports_every_start(measured):
    assert len(measured.records) == 4 * 2 + 2
    figures = section.figures(measured, TINY)
    assert len(figures) == 4 * 3 + 2
    assert {figure.reached for figure in figures if figure.what.startswith("gate,")} == {None}  # not its size
    assert [figure.reached for figure in figures if figure.what.startswith("gates:")] == [True, True]
    tables = section.tables(measured, TINY)
    assert len(tables[0].rows) == 4 * 2 * 4
    assert all(len(row) == len(table.header) for table in tables for row in table.rows)
    assert len(tables) == 3


def test_an_empty_store_says_that_nothing_was_measured(tmp_path):
    store = Store(tmp_path / "raw.jsonl", "run")
    assert {figure.outcome for figure in section.figures(store, TINY)} == {"–"}
    assert [table.rows for table in section.tables(store, TINY)] == [[]]


def start_record(ours, theirs, solves=10, refused=False, first=100.0):
    verdict = {"value": 50.0, "primal": 50.001, "gap": 2e-5, "imbalance": 0.0, "support": 9}
    verdicts = {name: dict(verdict) for name in section.CONTESTANTS}
    if refused:
        verdicts["ours"] = {"refused": "duals must balance"}
    told = {
        "n_solves": {"ours": solves, "solver": solves, "svc": 20, "svc_solver": 20},
        "n_steps": dict.fromkeys(section.CONTESTANTS, 5),
        "first": {"ours": 100.0, "solver": 100.0, "svc": first, "svc_solver": 100.0},
        "status": dict.fromkeys(section.CONTESTANTS, "optimal"),
    }
    times = {"ours": [ours], "solver": [ours / 2], "svc": [theirs], "svc_solver": [0.8 * theirs]}
    return {"code": "", "dataset": "gauss4", "verdict": verdicts} | times | told


def stored(tmp_path, plan, case, records):
    store = Store(tmp_path / "raw.jsonl", "run")
    for seed, record in enumerate(records):
        store.measure(section.start_key(case, seed), partial(dict, record))
    return store


@pytest.mark.parametrize(
    ("n", "records", "reached", "text"),
    [
        (800, [start_record(0.1, 0.6), start_record(0.3, 1.5)], True, "5.25 (5 to 6"),
        (800, [start_record(0.1, 0.9), start_record(0.3, 1.0)], False, "4.75 (3.33 to 9"),
        (800, [start_record(0.1, 0.9), start_record(0.1, 0.9, refused=True)], False, "0 ("),
        (300, [start_record(0.1, 0.2)], None, "2 (2 to 2 start by start; 1 for each solve)"),
    ],
)
def test_speed_is_that_of_all_starts_and_required_at_its_size(tmp_path, n, records, reached, text):
    plan = dataclasses.replace(TINY, localized=n)
    case = section.gauss_cases(plan)[0]
    store = stored(tmp_path, plan, case, records)
    figure = section.speed_figure(store, case, plan, "ours")
    assert figure.reached is reached
    assert figure.measured.startswith(text)


def test_descents_are_compared_with_descents(tmp_path):
    plan = dataclasses.replace(TINY, localized=800)
    case = section.gauss_cases(plan)[0]
    store = stored(tmp_path, plan, case, [start_record(0.1, 0.4)])
    assert section.speed_figure(store, case, plan, "ours").measured.startswith("4 (")
    figure = section.speed_figure(store, case, plan, "solver")
    assert figure.measured.startswith("6.4 (6.4 to 6.4 start by start; 3.2 for each solve")
    assert figure.reached is True


@pytest.mark.parametrize(("most", "reached"), [(30, True), (31, False)])
def test_solves_are_those_of_the_worst_start(tmp_path, most, reached):
    plan = dataclasses.replace(TINY, localized=800)
    case = section.gauss_cases(plan)[1]
    records = [start_record(0.1, 0.6, solves=12), start_record(0.1, 0.6, solves=most)]
    figure = section.solves_figure(stored(tmp_path, plan, case, records), case, plan)
    assert figure.reached is reached
    assert figure.measured.startswith(f"at most {most}")


@pytest.mark.parametrize(
    ("n", "longest", "reached"), [(667, 9.9, True), (667, 10.1, False), (200, 10.1, None)]
)
def test_a_fit_of_the_digits_takes_seconds(tmp_path, n, longest, reached):
    plan = dataclasses.replace(TINY, localized_digits=n)
    case = section.digit_cases(plan)[0]
    store = stored(tmp_path, plan, case, [start_record(1.0, 2.0), start_record(longest, 2.0)])
    assert section.seconds_figure(store, case, plan).reached is reached
    assert section.speed_figure(store, case, plan, "ours").reached is None


@pytest.mark.parametrize(("first", "reached"), [(100.09, True), (100.2, False)])
def test_other_starts_are_noticed(tmp_path, first, reached):
    plan = dataclasses.replace(TINY, localized=800)
    case = section.gauss_cases(plan)[0]
    store = stored(tmp_path, plan, case, [start_record(0.1, 0.6), start_record(0.1, 0.6, first=first)])
    assert section.start_figure(store, plan).reached is reached


def test_gaps_are_those_of_the_judge(tmp_path):
    plan = dataclasses.replace(TINY, localized=800)
    case = section.gauss_cases(plan)[0]
    record = start_record(0.1, 0.6)
    store = stored(tmp_path, plan, case, [record])
    assert section.gap_figure(store, plan).reached is True
    record["verdict"]["solver"]["gap"] = 2e-4
    store = stored(tmp_path / "other", plan, case, [record])
    assert section.gap_figure(store, plan).reached is False


def test_an_infeasible_answer_is_refused_and_not_judged():
    task = gauss_task(40, "linear + quadratic")
    answer = learn_gate(task, 0)
    wrong = dataclasses.replace(answer, coefficients=3.0 * answer.coefficients)
    assert "duals must lie" in section.verdict_of(task, wrong)["refused"]

"""The joint multiclass machine against a conic solver, and its certificate against a judge."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.core.optim.loop import Status
from multikernel.core.svm.joint.solver import solve_multiclass
from tests.core.problems import gaussian, judge_joint
from tests.core.reference import joint_optimal_value

TIGHT = 1e-8


def check(result, K, codes, C, R, tol):
    """All that a solution states of itself, judged from outside."""
    C = np.broadcast_to(C, codes.size)
    B = result.coefficients.T
    primal, dual, _ = judge_joint(K[None], codes, C, R, B, result.intercepts)
    np.testing.assert_array_equal(result.alpha, np.where(np.arange(len(B)) == codes[:, None], 0.0, -B.T))
    assert abs(result.intercepts.sum()) <= 1e-10 * max(1.0, abs(result.intercepts).max())
    scale = max(abs(primal), 1e-9 * C.sum())
    assert abs(result.objective - dual) <= 1e-9 * scale
    assert abs(result.gap * abs(primal) - (primal - dual)) <= 1e-9 * scale
    assert result.status == Status.OPTIMAL
    assert primal - dual <= tol * abs(primal) + 1e-12 * C.sum()


@dataclass(frozen=True)
class Problem:
    """A random problem, printed as the few numbers that make it."""

    n: int
    n_classes: int
    kind: str
    C: float
    seed: int
    varied: bool = False
    separation: float = 1.0

    def make(self):
        """K, codes, C (n,), R (n, n_classes)."""
        rng = np.random.default_rng(self.seed)
        codes = rng.integers(0, self.n_classes, self.n)
        X = self.separation * rng.normal(size=(self.n_classes, 3))[codes] + rng.normal(size=(self.n, 3))
        kernels = {
            "gaussian": lambda: gaussian(X, 0.3),
            "linear": lambda: X @ X.T,
            "quadratic": lambda: (1.0 + X @ X.T) ** 2,
            "repeated": lambda: gaussian(X[rng.integers(0, self.n, self.n)], 0.3),
            "nothing": lambda: np.zeros((self.n, self.n)),
        }
        C = np.full(self.n, self.C)
        R = np.full((self.n, self.n_classes), 2.0)
        if self.varied:
            C = C * rng.choice([0.0, 0.1, 1.0, 3.0], self.n)
            R = 2.0 * rng.uniform(-1.0, 1.0, R.shape)
        return kernels[self.kind](), codes, C, R


KINDS = ("gaussian", "linear", "quadratic", "repeated")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n_classes", "C", "varied"), [(2, 1.0, True), (3, 10.0, False), (5, 0.5, True)])
def test_optimal_value_is_the_one_of_a_conic_solver(kind, n_classes, C, varied):
    K, codes, C, R = Problem(60, n_classes, kind, C, seed=n_classes, varied=varied).make()
    result = solve_multiclass(K, codes, n_classes, C, rewards=R, tol=TIGHT)
    check(result, K, codes, C, R, TIGHT)
    assert result.objective == pytest.approx(joint_optimal_value(K[None], codes, C, R), rel=1e-6)


@given(
    st.builds(
        Problem,
        n=st.integers(1, 40),
        n_classes=st.integers(2, 7),
        kind=st.sampled_from((*KINDS, "nothing")),
        C=st.sampled_from([1e-3, 0.1, 1.0, 10.0, 1e3]),
        seed=st.integers(0, 10**6),
        varied=st.booleans(),
        separation=st.sampled_from([0.0, 1.0, 5.0]),
    )
)
def test_certificate_holds_on_any_problem(problem):
    """Absent classes, single samples, zero bounds and negative rewards included."""
    K, codes, C, R = problem.make()
    result = solve_multiclass(K, codes, problem.n_classes, C, rewards=R, tol=1e-5)
    check(result, K, codes, C, R, 1e-5)


@pytest.mark.parametrize("n_classes", [2, 6])
def test_warm_start_saves_steps_and_changes_nothing(n_classes):
    K, codes, C, R = Problem(150, n_classes, "gaussian", 2.0, seed=5).make()
    cold = solve_multiclass(K, codes, n_classes, C, tol=1e-6)
    again = solve_multiclass(K, codes, n_classes, C, tol=1e-5, start=cold.alpha)
    assert again.n_iter == 0
    np.testing.assert_array_equal(again.alpha, cold.alpha)
    near = 1.01 * K + 0.01 * K**2
    warm = solve_multiclass(near, codes, n_classes, C, tol=1e-6, start=cold.alpha)
    fresh = solve_multiclass(near, codes, n_classes, C, tol=1e-6)
    check(warm, near, codes, C, R, 1e-6)
    assert warm.objective == pytest.approx(fresh.objective, rel=2e-6)
    assert warm.n_iter < 0.7 * fresh.n_iter


def test_rewards_below_zero_are_no_reward():
    K, codes, C, _ = Problem(40, 3, "gaussian", 1.0, seed=6).make()
    result = solve_multiclass(K, codes, 3, C, rewards=np.full((40, 3), -0.5))
    assert (result.objective, result.gap, result.n_iter) == (0.0, 0.0, 0)
    assert result.status == Status.OPTIMAL


@pytest.mark.parametrize("seed", range(4))
def test_rewards_that_intercepts_alone_meet_give_zero(seed):
    """The primal value 0 is reached to rounding, which no relative gap can certify."""
    a = np.random.default_rng(seed).normal(size=5)
    codes = np.arange(20) % 5
    R = a[codes][:, None] - a
    result = solve_multiclass(np.eye(20), codes, 5, 1.0, rewards=R)
    assert (result.status, result.objective) == (Status.OPTIMAL, 0.0)
    np.testing.assert_allclose(result.intercepts, a - a.mean(), atol=1e-12)


def test_cycles_that_lead_nowhere_do_not_stop_the_steps():
    """Raising and lowering one α ascends by rounding at no curvature, and must not be taken for a step."""
    rng = np.random.default_rng(0)
    centres = 4.0 * rng.normal(size=(4, 10))
    codes = rng.integers(0, 4, 300)
    X = centres[codes] + rng.normal(size=(300, 10))
    result = solve_multiclass(X @ X.T, codes, 4, 100.0, tol=1e-6, max_iter=20_000)
    assert (result.status, result.n_iter < 2000) == (Status.OPTIMAL, True)


@pytest.mark.parametrize(("n", "C", "separation"), [(300, 1.0, 1.0), (300, 1e4, 1.0), (120, 1e3, 20.0)])
def test_linear_kernels_do_not_crawl(n, C, separation):
    """Newton steps on the free α: without them the larger C takes millions of steps."""
    K, codes, _, R = Problem(n, 4, "linear", C, seed=0, separation=separation).make()
    result = solve_multiclass(K, codes, 4, C, tol=1e-6, max_iter=500_000)
    check(result, K, codes, C, R, 1e-6)


@pytest.mark.parametrize(("kind", "C"), [("linear", 1e3), ("gaussian", 1.0)])
def test_a_gap_that_rounding_forbids_ends_the_steps(kind, C):
    K, codes, C, _ = Problem(60, 4, kind, C, seed=3).make()
    result = solve_multiclass(K, codes, 4, C, tol=1e-17, max_iter=10**6)
    assert result.status == Status.STALLED
    assert result.gap < 1e-9


def test_cap_on_steps_is_kept_and_the_gap_stays_honest():
    K, codes, C, R = Problem(100, 5, "gaussian", 10.0, seed=9).make()
    result = solve_multiclass(K, codes, 5, C, tol=1e-6, max_iter=37)
    assert (result.status, result.n_iter) == (Status.MAX_ITER, 37)
    primal, dual, _ = judge_joint(K[None], codes, C, R, result.coefficients.T, result.intercepts)
    assert result.gap == pytest.approx((primal - dual) / primal, rel=1e-9) and result.gap > 1e-3


def test_indefinite_kernel_is_reported():
    K, codes, C, _ = Problem(60, 3, "gaussian", 1.0, seed=7).make()
    bad = 3.0 * K - 2.0 * np.eye(60)  # similar pairs have negative curvature
    assert solve_multiclass(bad, codes, 3, C, max_iter=10_000).status == Status.INDEFINITE
    assert solve_multiclass(K - 2.0 * np.eye(60), codes, 3, C).status == Status.INDEFINITE
    assert solve_multiclass(K, codes, 3, C).status == Status.OPTIMAL


def test_nothing_given_is_changed_and_any_layout_is_read():
    K, codes, C, R = Problem(50, 4, "gaussian", 2.0, seed=11, varied=True).make()
    start = solve_multiclass(K, codes, 4, C, rewards=R, tol=0.1).alpha
    R[np.arange(50), codes] = np.nan  # those of the own class are not read
    given = (K, codes, C, R, start)
    before = [a.copy() for a in given]
    for a in given:
        a.flags.writeable = False
    expected = solve_multiclass(K, codes, 4, C, rewards=R, start=start)
    for a, b in zip(given, before, strict=True):
        np.testing.assert_array_equal(a, b)
    for other in (np.asfortranarray(K), np.repeat(K, 2, axis=1)[:, ::2]):
        np.testing.assert_array_equal(
            solve_multiclass(other, codes, 4, C, rewards=R, start=start).alpha, expected.alpha
        )
    single = solve_multiclass(K.astype(np.float32), codes, 4, C, rewards=R, start=start)
    assert single.objective == pytest.approx(expected.objective, rel=2e-4)


BAD = {
    "shape of K": ({"K": np.ones((3, 4))}, "K must be"),
    "codes of floats": ({"codes": np.zeros(4)}, "integers"),
    "one class": ({"n_classes": 1}, "at least 2"),
    "code too large": ({"codes": np.array([0, 1, 2, 1])}, "codes must lie in 0 .. 1"),
    "negative C": ({"C": -1.0}, "C must be"),
    "infinite C": ({"C": np.inf}, "C must be"),
    "C of another length": ({"C": np.ones(3)}, "C must be"),
    "rewards of another shape": ({"rewards": np.ones((4, 3))}, "rewards must have"),
    "rewards not finite": ({"rewards": np.full((4, 2), np.nan)}, "rewards must be finite"),
    "start of another shape": ({"start": np.zeros((4, 3))}, "start must have"),
    "start above C": ({"start": np.array([[0, 2.0], [0, 0], [2.0, 0], [0, 0]])}, "start must be feasible"),
    "start out of balance": ({"start": np.array([[0, 1.0], [0, 0], [0, 0], [0, 0]])}, "out of balance"),
    "start not a number": ({"start": np.full((4, 2), np.nan)}, "start must be feasible"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_named(case):
    changed, message = BAD[case]
    given = {"K": np.eye(4), "codes": np.array([0, 0, 1, 1]), "n_classes": 2, "C": 1.0} | changed
    with pytest.raises(ValueError, match=message):
        solve_multiclass(given.pop("K"), given.pop("codes"), given.pop("n_classes"), given.pop("C"), **given)

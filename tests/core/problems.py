"""Problems for the solvers, and the judge: everything is written down again from the formulas.

Nothing here calls the library but ``Task.loss``, which makes the object under test. The judge takes weights,
duals and kernels alone: the primal value of the predictor with its best intercept, and the lower bound that
the duals give, so that no figure that a solver states of itself is believed.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import brentq

from multikernel.core.svm.losses import (
    EpsilonInsensitive,
    HardMargin,
    Hinge,
    OneClass,
    SquaredError,
    SquaredHinge,
)
from multikernel.soft_labels.solver import PosteriorHinge

KINDS = ("hinge", "soft_labels", "squared_hinge", "hard_margin", "svr", "one_class", "ridge")


def gaussian(X, gamma):
    squares = (X * X).sum(axis=1)
    return np.exp(-gamma * np.maximum(squares[:, None] + squares - 2.0 * X @ X.T, 0.0))


def mixed_kernels(X, m):
    """Gaussians of several widths, a linear and polynomial kernels on some of the five features."""
    kernels = [
        gaussian(X, 0.1),
        gaussian(X[:, :2], 1.0),
        X[:, [0]] @ X[:, [0]].T,
        (1.0 + X[:, 1:3] @ X[:, 1:3].T) ** 2,
        gaussian(X[:, 3:], 3.0),
        X @ X.T,
    ]
    return np.stack(kernels[:m])


def make_kernels(n, m, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 5))
    return X, mixed_kernels(X, m)


@dataclass
class Task:
    """One machine: ``size`` is C for the margin losses and the ridge for the squared error."""

    kind: str
    target: np.ndarray
    size: np.ndarray | float = 1.0
    epsilon: float = 0.0
    intercept: bool = True
    sizes: np.ndarray = field(init=False)

    def __post_init__(self):
        self.sizes = np.broadcast_to(np.asarray(self.size, float), self.target.shape)

    def loss(self):
        """The library's object."""
        return {
            "hinge": lambda: Hinge(self.target, self.size),
            "soft_labels": lambda: PosteriorHinge(self.target, self.size),
            "squared_hinge": lambda: SquaredHinge(self.target, self.size),
            "hard_margin": lambda: HardMargin(self.target),
            "svr": lambda: EpsilonInsensitive(self.target, self.size, self.epsilon),
            "one_class": lambda: OneClass(self.target, self.size),
            "ridge": lambda: SquaredError(self.target, self.size, self.intercept),
        }[self.kind]()

    @property
    def shift(self):
        if self.kind == "squared_hinge":
            return 1.0 / self.sizes
        return self.sizes if self.kind == "ridge" else np.zeros(self.target.size)

    @property
    def box(self):
        """Bounds of β."""
        n, C = self.target.size, self.sizes
        positive = self.target > 0
        if self.kind == "hinge":
            return np.where(positive, 0.0, -C), np.where(positive, C, 0.0)
        if self.kind == "soft_labels":
            top = C / np.abs(self.target)
            return np.where(positive, 0.0, -top), np.where(positive, top, 0.0)
        if self.kind in ("squared_hinge", "hard_margin"):
            return np.where(positive, 0.0, -np.inf), np.where(positive, np.inf, 0.0)
        if self.kind == "svr":
            return -C, C
        if self.kind == "one_class":
            return np.zeros(n), C
        return np.full(n, -np.inf), np.full(n, np.inf)

    @property
    def total(self):
        if self.kind == "ridge" and not self.intercept:
            return None
        return 1.0 if self.kind == "one_class" else 0.0

    def reference(self):
        """What ``reference.optimal_value`` wants."""
        lower, upper = self.box
        return {
            "target": self.target, "lower": lower, "upper": upper, "epsilon": self.epsilon,
            "shift": self.shift, "total": self.total,
        }  # fmt: skip

    def require_feasible(self, beta, rtol=1e-12):
        lower, upper = self.box
        assert (beta >= lower).all() and (beta <= upper).all()
        if self.total is not None:
            assert abs(beta.sum() - self.total) <= rtol * max(1.0, np.abs(beta).sum())

    def reward(self, beta):
        return self.target @ beta - self.epsilon * np.abs(beta).sum()

    def dual_value(self, K, beta):
        return self.reward(beta) - 0.5 * beta @ (K @ beta) - 0.5 * self.shift @ beta**2

    def slack_risk(self, scores, b):
        """The loss at an intercept b (for one-class b = −ρ)."""
        y, C = self.target, self.sizes
        if self.kind == "hinge":
            return C @ np.maximum(1.0 - y * (scores + b), 0.0)
        if self.kind == "soft_labels":  # y f >= y^2 (1 - slack), as the paper has it
            return C @ np.maximum(1.0 - y * (scores + b) / y**2, 0.0)
        if self.kind == "squared_hinge":
            return 0.5 * C @ np.maximum(1.0 - y * (scores + b), 0.0) ** 2
        if self.kind == "svr":
            return C @ np.maximum(np.abs(y - scores - b) - self.epsilon, 0.0)
        if self.kind == "one_class":
            return C @ np.maximum(-b - scores, 0.0) + b
        return 0.5 * ((y - scores - b) ** 2) @ (1.0 / C)

    def primal(self, scores, norm2):
        """½‖w‖² + loss with the best intercept; a hard margin scales its scores to the margin one."""
        y = self.target
        if self.kind == "hard_margin":
            half = 0.5 * (scores[y > 0].min() - scores[y < 0].max())
            return 0.5 * norm2 / half**2 if half > 0 else np.inf
        return 0.5 * norm2 + min(self.slack_risk(scores, b) for b in self.candidate_intercepts(scores))

    def candidate_intercepts(self, scores):
        """A piecewise linear loss has its minimum at a break; the squared ones where the slope is zero."""
        y = self.target
        if self.kind in ("hinge", "soft_labels"):
            return y - scores
        if self.kind == "svr":
            return np.concatenate([y - scores - self.epsilon, y - scores + self.epsilon])
        if self.kind == "one_class":
            return -scores
        if self.kind == "ridge":
            return [np.average(y - scores, weights=1.0 / self.sizes) if self.intercept else 0.0]

        def slope(b):
            return -(self.sizes * y) @ np.maximum(1.0 - y * (scores + b), 0.0)

        points = y - scores
        return [brentq(slope, points.min() - 1.0, points.max() + 1.0, xtol=1e-15, rtol=1e-14)]


def lp_size(units, norm):
    """‖units‖_p, p = ``norm``."""
    return units.max() if np.isinf(norm) else (units**norm).sum() ** (1.0 / norm)


def lp_support(q, norm):
    """The largest q'μ over μ ≥ 0 with ‖μ‖_p ≤ 1, p = ``norm``."""
    if norm == 1.0:
        return q.max()
    return q.sum() if np.isinf(norm) else (q ** (norm / (norm - 1.0))).sum() ** (1.0 - 1.0 / norm)


def judge(Ks, tasks, weights, duals, norm=1.0, costs=None, ridge=None):
    """(upper bound, lower bound) of the optimum of Σ_t J_t(μ) over Σ_m (d_m² μ_m)^p ≤ 1, p = ``norm``.

    ``ridge`` is the learned weight of the identity, a further kernel of cost one.
    """
    Ks = np.asarray(Ks, float)
    costs = np.ones(len(Ks)) if costs is None else np.asarray(costs)
    units = costs**2 * weights if ridge is None else np.append(costs**2 * weights, ridge)
    assert (units >= 0).all()
    np.testing.assert_allclose(lp_size(units, norm), 1.0, rtol=1e-9)
    upper = reward = 0.0
    q = np.zeros(units.size)
    for task, beta in zip(tasks, duals, strict=True):
        task.require_feasible(beta, rtol=1e-9)
        adjoint = Ks @ beta
        scores = weights @ adjoint
        q[: len(Ks)] += (adjoint @ beta) / costs**2
        reward += task.reward(beta) - 0.5 * task.shift @ beta**2
        if ridge is not None:
            q[-1] += beta @ beta
            task = Task("squared_hinge", task.target, 1.0 / ridge) if ridge > 0 else task
        upper += task.primal(scores, beta @ scores)
    return upper, reward - 0.5 * lp_support(q, norm)


def judge_joint(Ks, codes, C, R, B, intercepts, weights=None, norm=1.0, costs=None):
    """(upper bound, lower bound, dual value at the weights) of the joint machine, from B (n_classes, n)."""
    weights = np.ones(len(Ks)) if weights is None else weights
    costs = np.ones(len(Ks)) if costs is None else costs
    own = np.arange(len(B))[:, None] == codes
    assert (weights >= 0.0).all() and lp_size(weights * costs**2, norm) <= 1.0 + 1e-9
    alpha = np.where(own, 0.0, -B)
    assert alpha.min() >= 0.0 and (alpha <= C * (1.0 + 1e-12)).all()
    np.testing.assert_allclose(B[own], alpha.T.sum(axis=1)[np.nonzero(own)[1]], rtol=1e-12)
    np.testing.assert_allclose(B.sum(axis=1), 0.0, atol=1e-9 * C.sum())
    forms = np.array([np.trace(B @ K @ B.T) for K in Ks])
    scores = B @ np.tensordot(weights, Ks, 1) + intercepts[:, None]
    slack = np.maximum(R.T - (scores * own).sum(axis=0) + scores, 0.0) * ~own
    reward, norm2 = (R.T * alpha).sum(), weights @ forms
    lower = reward - 0.5 * lp_support(forms / costs**2, norm)
    return 0.5 * norm2 + (C * slack).sum(), lower, reward - 0.5 * norm2

"""Problems on factors, and the judge: bounds recomputed from coefficients, intercepts and smoothing alone."""

from dataclasses import dataclass

import numpy as np

from multikernel.core.optim.loop import Options
from multikernel.core.svm.primal import (
    PrimalEpsilonInsensitive,
    PrimalHinge,
    PrimalSquaredError,
    PrimalSquaredHinge,
)
from multikernel.core.weights.factors import learn_block_weights
from multikernel.rows import LocalRows
from tests.core.problems import Task, lp_size, lp_support

KINDS = ("hinge", "squared_hinge", "svr", "ridge")
EPSILON = 0.2


def primal_losses(epsilon):
    losses = PrimalHinge(), PrimalSquaredHinge(), PrimalEpsilonInsensitive(epsilon), PrimalSquaredError()
    return dict(zip(KINDS, losses, strict=True))


@dataclass
class Factors:
    """Factors with targets (n, T) and prices (n, T) or (n, 1); ``kind`` as in ``tests.core.problems``."""

    kind: str
    Z: np.ndarray
    targets: np.ndarray
    prices: np.ndarray
    offsets: np.ndarray
    epsilon: float = EPSILON

    @property
    def loss(self):
        return primal_losses(self.epsilon)[self.kind]

    @property
    def Ks(self):
        parts = np.split(np.asarray(self.Z, float), self.offsets[1:-1], axis=1)
        return np.stack([part @ part.T for part in parts])

    def tasks(self, intercept=True):
        """The same problem for the solvers on kernels; prices must be positive."""
        prices = np.broadcast_to(self.prices, self.targets.shape)
        sizes = 1.0 / prices if self.kind == "ridge" else prices
        epsilon = self.epsilon if self.kind == "svr" else 0.0
        return [
            Task(self.kind, y, size, epsilon, intercept)
            for y, size in zip(self.targets.T, sizes.T, strict=True)
        ]

    def learn(self, block_rows=64, tol=1e-8, **arguments):
        rows = LocalRows((self.Z, self.targets, self.prices), block_rows)
        options = arguments.pop("options", Options(tol=tol))
        n_tasks = self.targets.shape[1]
        return learn_block_weights(
            rows, self.offsets, self.loss, n_tasks=n_tasks, options=options, **arguments
        )

    def duals(self, result):
        """β = −C ∂ℓ/∂f of the smoothed loss at the witness, by hand: (T, n)."""
        scores = self.Z @ result.witness.coefficients.T + result.witness.intercepts
        y, width = self.targets, result.witness.smoothing
        if self.kind == "hinge":
            beta = y * np.clip(0.5 + (1.0 - y * scores) / width, 0.0, 1.0)
        elif self.kind == "squared_hinge":
            beta = y * np.maximum(1.0 - y * scores, 0.0)
        elif self.kind == "svr":
            beyond = np.abs(y - scores) - max(self.epsilon - 0.5 * width, 0.0)
            beta = np.sign(y - scores) * np.clip(beyond / width, 0.0, 1.0)
        else:
            beta = y - scores
        return (self.prices * beta).T

    def judge(self, result, norm=1.0, costs=None, intercept=True):
        """(upper bound, lower bound): the value of the predictor, and the best of its β that sums to zero."""
        costs = np.ones(self.offsets.size - 1) if costs is None else costs
        units = costs**2 * result.weights
        np.testing.assert_allclose(lp_size(units, norm), 1.0, rtol=1e-9)
        scores = self.Z @ result.coefficients.T + result.intercepts
        starts = self.offsets[:-1]
        squares = np.add.reduceat((result.coefficients**2).sum(axis=0), starts)
        used = squares > 0.0
        upper = 0.5 * (squares[used] / result.weights[used]).sum()
        reward, shifted, room = 0.0, 0.0, np.inf
        q = np.zeros(costs.size)
        duals = self.duals(result)
        prices = np.broadcast_to(self.prices, self.targets.shape)
        for task, f, beta, price in zip(self.tasks(), scores.T, duals, prices.T, strict=True):
            upper += task.slack_risk(f, 0.0)
            if intercept:
                up, down = beta[beta > 0].sum(), -beta[beta < 0].sum()
                least = min(up, down)
                beta = np.where(beta > 0, beta * least / max(up, 1e-300), beta * least / max(down, 1e-300))
            reward += task.reward(beta)
            q += np.add.reduceat((beta @ self.Z) ** 2, starts) / costs**2
            if self.kind in ("hinge", "svr"):
                room = min(room, 1.0 / max(np.abs(beta / price).max(), 1e-300))
            else:
                shifted += (beta**2 / price).sum()
        square = lp_support(q, norm) + shifted
        scale = min(max(reward, 0.0) / max(square, 1e-300), room)
        return upper, scale * reward - 0.5 * scale**2 * square


def make_factors(kind, n=60, widths=(3, 5, 2, 4), n_tasks=1, seed=0, noise=0.7, varied=False):
    """Blocks of which some matter; with ``varied`` each row and task has a price of its own."""
    rng = np.random.default_rng(seed)
    R = sum(widths)
    Z = rng.normal(size=(n, R)) / np.sqrt(np.repeat(widths, widths))
    matters = np.repeat(rng.permutation((1 + np.arange(len(widths))) % 3), widths)
    scores = Z @ (matters * rng.normal(size=(n_tasks, R))).T
    scores = scores / scores.std(axis=0) + 0.3 + noise * rng.normal(size=scores.shape)
    targets = np.where(scores > 0, 1.0, -1.0) if kind in ("hinge", "squared_hinge") else scores
    prices = rng.uniform(0.2, 3.0, size=targets.shape) if varied else np.ones((n, 1))
    return Factors(kind, Z, targets, prices, np.concatenate([[0], np.cumsum(widths)]))

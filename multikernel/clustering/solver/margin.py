"""Maximum margin clustering with several kernels (after Zhao, Kwok & Zhang, 2009): clusters are labels.

    min over partitions y into k clusters of at least n_min samples, weights μ ≥ 0 of Σ s_m μ_m ≤ 1, f and b

        J = Σ_c ( ½ Σ_m ‖f_cm‖² / μ_m + C/2 Σ_i [1 − y_ic (Σ_m f_cm(x_i) + b_c)]₊² ),   y_ic = 1 in c, else −1

with one machine for two clusters, and one for each of more. Without the least size, one cluster of all
samples would have J = 0. Two steps take turns, neither of which raises J (to the tolerance of the first):

- for given clusters, the machines and the kernel weights, one convex problem;
- for given scores, the clusters of least loss with at least n_min samples each, an assignment problem.

The end is a partition that is best for its own machines. With a large C machines follow any clusters closely,
and nothing moves: each start is therefore followed from C/1000 by C/100 and C/10 to C. With a small C
one cluster of nearly all samples is the best, so that until C is reached all have 90 percent of n/k samples
at least. The starts are partitions of kernel k-means, on the mean of the kernels or on one of them, and
random ones; the end of least J is kept.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.optimize

from ..._typing import Array
from ...core.optim.loop import ENDED_EARLY, Options, Recorder, Result, Status
from ...core.stack.sums import weighted_sum
from ...core.svm.losses import SquaredHinge
from ...core.weights.learn import learn_weights
from ...core.weights.loop import SolveResult
from .kmeans import in_order, move_samples, spread_start

_PATH = (1e-3, 1e-2, 1e-1, 1.0)  # shares of C
_BALANCE = 0.9  # share of samples of clusters of equal size, before the last of them


@dataclass(frozen=True)
class MarginResult(Result):
    """The best partition, its kernel weights μ, and its machines."""

    labels: Array  # (n,)
    weights: Array  # (m,)
    coefficients: Array  # (n, n_machines): scores are K_μ times these, plus the intercepts
    intercepts: Array  # (n_machines,)


class MarginProblem:
    """A stack of kernels (m, n, n) with scales s (m,), k clusters of at least ``least`` samples."""

    def __init__(self, Ks: Array, scales: Array, k: int, C: float, least: int, tol: float) -> None:
        self.Ks, self.scales, self.k, self.C, self.least = Ks, scales, k, C, least
        self.tol = tol

    def solve(self, n_init: int, max_iter: int, seed: int) -> MarginResult:
        """The best of several starts."""
        if self.k == 1:
            return self._one_cluster()
        K = weighted_sum(self.Ks, 1.0 / (len(self.Ks) * self.scales))
        rng, found, seen = np.random.default_rng(seed), [], set()
        for number in range(n_init):
            labels = rng.permutation(len(K)) % self.k
            if number % 3 != 2:
                near = K if number % 3 == 0 else self._one_kernel(number // 3)
                labels = spread_start(near, self.k, rng)
                move_samples(near, labels, self.k, np.ones(len(K)))
                labels = self.assign(_squares_from_centres(near, labels, self.k), self.least)
            key = in_order(labels).tobytes()
            if key in seen:
                continue
            seen.add(key)
            found.append(self._from(labels, max_iter))
            if found[-1].status in ENDED_EARLY:
                break
        best = min(found, key=lambda result: result.objective)
        return replace(best, status=found[-1].status) if found[-1].status in ENDED_EARLY else best

    def _one_cluster(self) -> MarginResult:
        """All samples: a machine that always says so has no loss."""
        m, n = self.Ks.shape[:2]
        return MarginResult(
            np.zeros(n, int), 1.0 / (m * self.scales), np.zeros((n, 1)), np.ones(1),
            objective=0.0, gap=0.0, n_iter=1, status=Status.OPTIMAL,
        )  # fmt: skip

    def _one_kernel(self, number: int) -> Array:
        m = number % len(self.Ks)
        return np.asarray(self.Ks[m], np.float64) / self.scales[m]

    def _from(self, labels: Array, max_iter: int) -> MarginResult:
        record, C = Recorder(max_iter=max_iter), self.C
        for share in _PATH:
            balanced = int(_BALANCE * labels.size / self.k)
            self._bound = self.least if share == 1.0 else max(self.least, balanced)
            if np.bincount(labels, minlength=self.k).min() < self._bound:
                labels = self.assign(self.losses(self.learn(labels, share * C)), self._bound)
            found, labels = self._descend(labels, share * C, record, is_last=share == 1.0)
            if record.ended and share < 1.0:  # the objective is that of C
                found = self.learn(labels, C)
                break
        return MarginResult(
            labels, found.weights, found.duals.T, found.intercepts,
            objective=found.upper_bound, gap=found.gap, **record.outcome,
        )  # fmt: skip

    def _descend(
        self, labels: Array, C: float, record: Recorder, *, is_last: bool
    ) -> tuple[SolveResult, Array]:
        """Both steps in turn at one C, until the clusters stay."""
        best, n_moves = self.learn(labels, C), labels.size
        while not record.note(
            {"iteration": len(record.history) + 1, "C": C, "objective": best.upper_bound, "n_moves": n_moves},
            reached=is_last and n_moves == 0,
        ):
            if not n_moves:
                break
            moved = self.assign(self.losses(best), self._bound)
            n_moves = int(np.count_nonzero(moved != labels))
            result = self.learn(moved, C) if n_moves else best
            if result.upper_bound < best.upper_bound:
                best, labels = result, moved
            else:  # alike to the tolerance of the machines
                n_moves = 0
        return best, labels

    def learn(self, labels: Array, C: float) -> SolveResult:
        """Machines and weights for given clusters."""
        signs = np.where(labels[:, None] == np.arange(self.k), 1.0, -1.0).T
        prices = np.full(labels.size, C)
        losses = [SquaredHinge(row, prices) for row in (signs[1:] if self.k == 2 else signs)]
        return learn_weights(self.Ks, losses, costs=np.sqrt(self.scales), options=Options(tol=self.tol))

    def losses(self, result: SolveResult) -> Array:
        """The loss of each sample in each cluster (n, k)."""
        scores = weighted_sum(self.Ks, result.weights) @ result.duals.T + result.intercepts
        inside, outside = np.maximum(1.0 - scores, 0.0) ** 2, np.maximum(1.0 + scores, 0.0) ** 2
        if self.k == 2:
            return np.column_stack([outside, inside])
        return np.asarray(inside - outside + outside.sum(axis=1, keepdims=True))

    def assign(self, losses: Array, least: int) -> Array:
        """The partition of least total loss (n, k), with at least ``least`` samples in each cluster.

        Examples
        --------
        >>> problem = MarginProblem(np.eye(3)[None], np.ones(1), 2, 1.0, 1, 1e-3)
        >>> problem.assign(np.array([[0.0, 1.0], [0.0, 3.0], [0.0, 2.0]]), 1)
        array([1, 0, 0])
        """
        free = losses.argmin(axis=1)
        if np.bincount(free, minlength=self.k).min() >= least:
            return free
        n = len(losses)
        places = np.concatenate([np.repeat(np.arange(self.k), least), np.full(n - self.k * least, -1)])
        costs = np.where(places >= 0, losses[:, places], losses.min(axis=1)[:, None])
        samples, columns = scipy.optimize.linear_sum_assignment(costs)
        labels = free.copy()
        labels[samples] = np.where(places[columns] >= 0, places[columns], free[samples])
        return labels


def _squares_from_centres(K: Array, labels: Array, k: int) -> Array:
    """Squared distances from the centres of clusters, less k(x, x), (n, k)."""
    members = np.eye(k)[labels]
    members = members / members.sum(axis=0)
    products = K @ members
    return np.asarray(np.einsum("ic,ic->c", members, products) - 2.0 * products)

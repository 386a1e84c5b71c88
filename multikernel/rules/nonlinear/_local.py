"""What learners of local weights share: the smooth machine, the gated sum, and the mean kernel."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..._typing import Array
from ..._validation import check_number, check_positive_integer, check_seed
from ...clustering.solver import KernelKMeans
from ...core.stack.gated import GatedStack
from ...core.stack.sums import kernel_scales, weighted_sum
from ...core.svm.losses import Loss, SquaredError, SquaredHinge
from ..learner import WeightLearner
from ..solver.descent import ProjectedResult
from ..solver.local_weights import Groups, learn_local_weights
from ..targets import Targets, require_different_values


class LocalLearner(WeightLearner):
    """K(x, z) = Σ_m η_m(x) η_m(z) K_m(x, z) / s_m; a learner says what η is at new samples."""

    learns_from = ("classes", "values")
    certificate = "stationarity"
    is_linear = False
    C: float
    random_state: int

    def _prepare(self, Ks: Array) -> Array:
        """Note the scales s_m; the mean kernel (1/P) Σ K_m / s_m of the training samples."""
        self._scales = kernel_scales(Ks, self.view_names_)
        return weighted_sum(Ks, 1.0 / (len(Ks) * self._scales))

    def _cluster(self, mean: Array, n_clusters: Any) -> Array:
        """The cluster of each training sample, by kernel k-means."""
        k = check_positive_integer("n_clusters", n_clusters)
        if k > len(mean):
            raise ValueError(f"n_clusters must be at most the number of samples, {len(mean)}; got {k}.")
        seed = check_seed("random_state", self.random_state)
        return KernelKMeans(mean[None], np.ones(1), k, learn=False).solve(seed=seed).labels

    def _descend(self, Ks: Array, targets: Targets, groups: Groups) -> ProjectedResult:
        """Learn the weights of the groups, and note those of the training samples."""
        C = check_number("C", self.C, above=0.0)
        found = learn_local_weights(Ks, smooth_losses(targets, C), groups, self._options())
        self._training_weights = found.point[groups.of]
        return found

    def _weights_at(self, similarities: Array) -> Array:
        """η (n_samples, P) from the mean kernel between new and training samples."""
        raise NotImplementedError

    # ------------------------------------------------------------------ combination
    @property
    def active_kernels(self) -> Array:
        """All: the mean kernel says where a sample is."""
        return np.arange(self.kernel_weights_.size)

    def combine_training(self, Ks: Array) -> Array:
        """The kernel of the training samples, each with its own weights."""
        stack = GatedStack(np.asarray(Ks), np.arange(len(Ks)))
        stack.set_gates(self._training_weights / np.sqrt(self._scales))
        return stack.whole()

    def combine_rows(self, kernels: Iterable[tuple[int, Array]]) -> Array:
        """The kernel of new samples, whose weights are found first: all the kernels are held at once."""
        held = list(kernels)
        mean = np.zeros(held[0][1].shape)
        for m, K in held:
            mean += np.multiply(K, 1.0 / (len(held) * self._scales[m]), dtype=np.float64)
        new = self._weights_at(mean) / self._scales
        total = np.zeros_like(mean)
        for m, K in held:
            total += new[:, m, None] * (K * self._training_weights[:, m])
        return total


def smooth_losses(targets: Targets, C: float) -> list[Loss]:
    """Losses whose duals are unique, so that J has a gradient: squared, of classes or of scaled values."""
    if targets.task == "classes":
        return [SquaredHinge(signs, C) for signs in targets.signs]
    require_different_values(targets)
    size = max(float(targets.values.std(axis=0).max()), np.finfo(float).tiny)
    return [SquaredError(output / size, 1.0 / C) for output in targets.values.T]

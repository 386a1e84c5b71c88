"""What all clusterings share: parameters, the kernels of the samples, the number of clusters."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from .._typing import Array
from .._validation import check_choice, check_positive_integer, warn_caller
from ..core.estimator import KernelEstimator
from ..core.inputs import Samples
from ..core.missing_views import FILL_OF, missing_of
from ..core.neighbors import squared_distances
from ..core.optim.loop import Status
from ..core.stack.sums import variance_scales, weighted_sum
from ..views import make_bank
from .solver.count import graph_spectrum, widest_gap

MAX_AUTO = 10  # clusters that "auto" chooses at most


@dataclass(eq=False, repr=False)
class KernelClustering(ClusterMixin, KernelEstimator):
    """Base of the clusterings."""

    _storage_options = ("psd", "gram", "dtype", "missing")
    _fills: ClassVar[tuple[str, ...]] = (
        "error",
        "mean",
        "complete",
    )  # what is done with samples that lack views

    _more_time: ClassVar[str] = "max_time, or lower n_init"

    kernels: Any = "auto"
    _: KW_ONLY
    n_clusters: int | str = 2
    n_init: int = 10
    max_iter: int = 300
    max_time: float | None = None
    random_state: Any = None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan |= self._storage.missing not in ("auto", "error")
        return tags

    def _check_counts(self, n: int, n_distinct: int | None = None) -> None:
        """n samples, of which some differ and count."""
        if isinstance(self.kernels, int):
            name = type(self).__name__
            raise TypeError(
                f"kernels come first; got kernels={self.kernels!r}. Use "
                f"{name}(kernels, n_clusters={self.kernels!r})."
            )
        n_distinct = n if n_distinct is None else n_distinct
        if isinstance(self.n_clusters, str):
            check_choice("n_clusters, where it is not a number,", self.n_clusters, ("auto",))
            needed = 3
        else:
            needed = check_positive_integer("n_clusters", self.n_clusters)
        if needed > n_distinct or n < 2:
            auto = self.n_clusters == "auto"
            need = "clusters need as many samples, and two at least" if not auto else "needs three samples"
            raise ValueError(
                f"n_clusters={self.n_clusters!r} {need}; got n_samples={n}"
                f"{'' if n_distinct == n else f', of which {n_distinct} differ and count'}."
            )
        check_positive_integer("n_init", self.n_init)
        check_positive_integer("max_iter", self.max_iter)

    def _fit_grams(self, X: Any, samples: Samples) -> Array:
        """The training stack (n_kernels, n, n); the bank is kept for prediction."""
        self._check_storage()
        self.missing_ = missing_of(self._storage, X)
        if self.missing_ not in self._fills:
            raise ValueError(
                f"{type(self).__name__} does not support missing={self.missing_!r}. Use KernelBank(kernels, "
                f"missing={' or '.join(repr(fill) for fill in self._fills[1:])})."
            )
        self._bank = make_bank(self.kernels, fill=FILL_OF[self.missing_])
        return np.asarray(self._fit_stack(X, samples))

    def _choose_count(self, Ks: Array, scales: Array) -> None:
        """The number of clusters, ``n_clusters_``."""
        if self.n_clusters != "auto":
            self.n_clusters_ = int(self.n_clusters)
            self._warn_if_equal(Ks, scales)
            return
        K = weighted_sum(Ks, 1.0 / (len(Ks) * scales))
        self.n_clusters_ = widest_gap(graph_spectrum(K, min(MAX_AUTO, len(K) - 1) + 1))

    def _warn_if_equal(self, Ks: Array, scales: Array) -> None:
        """Tell that fewer samples differ than there are clusters."""
        to_first = np.sort((1.0 / scales) @ Ks[:, 0].astype(np.float64))
        if 1 + np.count_nonzero(np.diff(to_first) > 1e-9 * np.abs(to_first).max()) >= self.n_clusters_:
            return  # samples differ where their similarities to the first one do: no matrix is needed
        squares = squared_distances(weighted_sum(Ks, 1.0 / (len(Ks) * scales)))
        n_distinct = len(squares) - np.count_nonzero(np.tril(squares == 0.0, -1).any(axis=1))
        if n_distinct < self.n_clusters_:
            warn_caller(
                f"{type(self).__name__}: {n_distinct} distinct samples are fewer than n_clusters="
                f"{self.n_clusters_}, so that equal samples are in different clusters. Lower n_clusters.",
                ConvergenceWarning,
            )

    def _warn_if_ended(self, status: Status, what: str) -> None:
        """Tell that clusters or weights still changed."""
        if status in (Status.OPTIMAL, Status.INTERRUPTED):
            return
        by_time = status == Status.MAX_TIME
        limit = f"max_time={self.max_time:g} seconds" if by_time else f"max_iter={self.max_iter} turns"
        remedy = "max_iter" if not by_time else self._more_time
        warn_caller(
            f"{type(self).__name__}: {what} still changed after {limit}. Raise {remedy}.",
            ConvergenceWarning,
        )

    def _weight_columns(self) -> dict[str, Any]:
        return {"weight": self.kernel_weights_, "share": self.kernel_shares_}


def scales_of(Ks: Array, names: list[str], present: Array | None) -> Array:
    """s_m (m,), the variance of each kernel over the samples that have it."""
    if present is None or present.all():
        return variance_scales(Ks, names)
    found = []
    for m, name in enumerate(names):
        rows = np.flatnonzero(present[:, m])
        found.append(variance_scales(np.ascontiguousarray(Ks[m][np.ix_(rows, rows)])[None], [name])[0])
    return np.array(found)

"""Boosting of kernels on pairs of samples (Crammer, Keshet & Singer)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._typing import Array
from .._validation import check_choice, check_number, check_positive_integer, warn_caller
from ..core.optim.loop import ENDED_EARLY, Options, Status
from .learner import About, Learned, WeightLearner
from .solver.pair_boosting import PAIR_LOSSES, PairLoss, boost_pairs, least_wrong
from .targets import Targets

_ROUNDS = {"given": 100, "rank_one": 10}
BASES = tuple(_ROUNDS)


@dataclass(eq=False, repr=False)
class KernelBoosting(WeightLearner):
    """A kernel that tells pairs of one class from pairs of two, one base kernel in each round.

    min_{η ≥ 0}  Σ_{i≠j} p_ij ℓ(s_ij K(i, j)) + reg Σ_r η_r,    K = Σ_r η_r B_r

    with s_ij = 1 for samples of one class, −1 for others, ℓ(z) = exp(−z) or log(1 + exp(−z)), shares p_ij of
    the pairs (their sum is 1; a sample with itself is no pair), and base kernels B_r:

    given     one of the kernels at trace n, the one of steepest descent, with the best weight; a weight that
              got too large may fall again, so that rounds enough reach the optimum of this convex problem
    rank_one  B_r(x, z) = g_r(x) g_r(z), where g_r(x) = Σ_i v_i k_m(x, x_i) is the function of unit norm in
              the space of a kernel (at trace n) with the steepest descent: W K_m v = λ v for the largest λ,
              W_ij = s_ij p_ij |ℓ'(s_ij K(i, j))|

    The unit norm and the balance of the pairs are our reading. Without ``reg`` there may be no finite
    optimum: where all pairs can be put right, more weight is always better. The number of rounds then
    regularises, and a round changes no entry of the kernel by more than 10. Where no given kernel agrees with
    the pairs, the one that disagrees least is taken, with a warning.

    Parameters
    ----------
    base : {"given", "rank_one"}, default="given"
    loss : {"exp", "log"}, default="exp"
        The logarithm minds pairs that cannot be put right less.
    n_rounds : int, default=None
        Default 100 for "given"; 10 for "rank_one", where each round adds a function, and many
        rounds overfit.
    reg : float >= 0, default=0.0
    class_balance : bool, default=True
        Whether pairs of one class count as much, together, as pairs of two. Otherwise all pairs count the
        same, and with many classes nearly all are of two.
    tol : float, default=1e-3
        Ends when the steepest descent is this part of that of the first round.
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        "given": η in units of the kernels. "rank_one": the share of each kernel in Σ η_r.
    part_kernels_, part_weights_ : array of shape (n_parts,)
        The kernel and η of each rank-one part.
    vectors_, functions_ : array of shape (n_parts, n_samples)
        V and g on the training samples.
    objective_ : float
    dual_gap_ : float
        Stationarity: the steepest descent left (in the weights as they may move), relative to the first.
    status_ : str, "max_iter" after n_rounds; a warning says so where ``reg`` makes the optimum finite

    Examples
    --------
    >>> y = np.array([1, 1, 1, -1])
    >>> learner = KernelBoosting(reg=0.1).fit([np.eye(4), 5.0 * np.outer(y, y)], y)
    >>> learner.kernel_weights_.round(3)  # exp(−5 η) = 0.1
    array([0.   , 0.461])
    """

    learns_from = ("classification",)
    certificate = "stationarity"
    about = About(
        family="boosting",
        problem="min mean ℓ(s_ij K_η(i,j)) + reg Σ η, η ≥ 0; ℓ exp or log; kernels given, or rank one",
        solver="steepest coordinate descent with exact steps; certificate: relative steepest descent left",
        cost="P n² for each round (given), tens of that (rank_one); memory about 8 n²",
        use="To use the kernel itself (clustering, neighbors) where pairs are known to be similar or not.",
        reference="Crammer, Keshet & Singer 2003",
    )

    base: str = "given"
    loss: str = "exp"
    n_rounds: int | None = None
    reg: float = 0.0
    class_balance: bool = True
    tol: float = 1e-3
    max_time: float | None = None

    @property
    def is_linear(self) -> bool:  # type: ignore[override]
        """Whether the learned kernel is Σ_m η_m K_m."""
        return self.base != "rank_one"

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        rank_one = check_choice("base", self.base, BASES) == "rank_one"
        kind = check_choice("loss", self.loss, PAIR_LOSSES)
        loss = PairLoss(targets.codes, kind, balance=bool(self.class_balance))
        n_rounds = _ROUNDS[self.base] if self.n_rounds is None else self.n_rounds
        tol = check_number("tol", self.tol, above=0.0)
        options = Options(tol=tol, max_iter=check_positive_integer("n_rounds", n_rounds))
        reg = check_number("reg", self.reg, at_least=0.0)
        found = boost_pairs(Ks, loss, rank_one=rank_one, reg=reg, options=options)
        self.part_kernels_, self.part_weights_ = found.kernels, found.weights
        self.vectors_, self.functions_ = found.vectors, found.functions
        is_empty = not found.weights.any()
        status = Status.STALLED if is_empty and found.status not in ENDED_EARLY else found.status
        weights = np.bincount(found.kernels, found.weights, len(Ks))
        weights = weights / max(weights.sum(), 1e-300) if rank_one else weights * found.scales
        if is_empty and (not rank_one or status in ENDED_EARLY):
            weights = least_wrong(Ks, loss)
        return Learned.of(found, weights, status=status)

    def combine_rows(self, kernels: Iterable[tuple[int, Array]]) -> Array:
        """The weighted sum of the kernels, or of the products of the functions g."""
        if len(self.functions_) == 0:
            return super().combine_rows(kernels)
        total: Any = 0.0
        for m, K in kernels:
            parts = self.part_kernels_ == m
            g = K @ self.vectors_[parts].T
            total = total + (g * self.part_weights_[parts]) @ self.functions_[parts]
        return np.asarray(total)

    def _warn_unless_converged(self) -> None:
        if self.status_ == Status.MAX_TIME:
            super()._warn_unless_converged()
        if self.status_ == Status.STALLED:
            warn_caller(
                "KernelBoosting: every kernel finds samples of different classes as much alike as those of "
                "one (or reg is too large), so that the best weights are zero. The kernel that is least "
                "wrong is taken. Look at the kernels, or lower reg.",
                ConvergenceWarning,
            )
        if self.status_ == Status.MAX_ITER and self.reg > 0.0:
            warn_caller(
                f"KernelBoosting ended after n_rounds={self.n_iter_} with a steepest descent of "
                f"{self.dual_gap_:.1e} of the first, above tol={self.tol:g}. Raise n_rounds or tol.",
                ConvergenceWarning,
            )

"""The largest margin with a logarithmic penalty: sparser than the norm (Subrahmanya & Shin)."""

from ..._typing import Array
from ..._validation import check_number
from ..learner import About, Learned
from ..solver.log_penalty import learn_log_penalty
from ..targets import Targets
from ._base import MarginLearner


class LogPenaltyMKL(MarginLearner):
    """Multiple kernel learning with a penalty that grows like a logarithm of the share of each kernel.

    min_{w, b}  ½ G² + C Σ_i ξ_i,      G = T Σ_m φ(‖w_m‖/T),   T = Σ_m ‖w_m‖,
    φ(s) = log(1 + s/e) / log(1 + 1/e)

    G is T where one kernel does everything and larger where several do; e → ∞ is :class:`MarginMKL`. G is
    bounded by its tangent, which leaves MarginMKL with costs that fall in ‖w_m‖; so it is solved again and
    again, the value never rises, and kernels of small share go. Not convex: the start is MarginMKL, and the
    result is a stationary point. The logarithm of the norms is that of the paper; that it is taken of their
    shares, so that the scale of the kernels and the price C keep their meaning, is our form.

    Parameters
    ----------
    C : float
        Price of the slacks, for the kernels as they are.
    share : float
        e, the share beyond which a kernel costs little more; the smaller, the sparser.
    epsilon, nu
        Of values and of nothing, as for :class:`MarginMKL`.
    tol : float
        For the gap.
    max_iter : int
        Convex problems to solve.

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,), the machine found is that of C on this kernel
    objective_ : float, the value
    dual_gap_ : float, stationarity: the value less a lower bound of the convex function that bounds it from
        above and touches it, relative
    part_norms_ : array (n_kernels,), ‖w_m‖

    References
    ----------
    N. Subrahmanya, Y. C. Shin (2010). Sparse multiple kernel learning for signal processing applications.
    IEEE Transactions on Pattern Analysis and Machine Intelligence 32.

    Examples
    --------
    >>> y = np.array([-1, -1, 1, 1])
    >>> x, z = np.array([-1.2, -0.8, 0.9, 1.1]), np.array([1.0, -1.0, 1.0, -1.0])
    >>> LogPenaltyMKL(C=1.0).fit([np.outer(x, x), np.outer(z, z)], y).part_norms_.round(2)
    array([1.18, 0.  ])
    """

    certificate = "stationarity"
    about = About(
        family="margin",
        problem="min ½ (T Σ log(1 + ‖w_m‖/eT))² + C Σ ξ, T = Σ ‖w_m‖; not convex",
        solver="MarginMKL with costs from tangents, again and again; stationarity",
        cost="some times that of MarginMKL",
        use="As few kernels as possible.",
        reference="Subrahmanya & Shin 2010 (form of the penalty ours)",
    )

    def __init__(
        self,
        C: float = 1.0,
        share: float = 0.1,
        epsilon: float = 0.1,
        nu: float = 0.5,
        tol: float = 1e-4,
        max_iter: int = 100,
    ) -> None:
        self.C = C
        self.share = share
        self.epsilon = epsilon
        self.nu = nu
        self.tol = tol
        self.max_iter = max_iter

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        share = check_number("share", self.share, above=0.0)
        found = learn_log_penalty(Ks, self._losses(targets), share, self._options())
        self.part_norms_, self.dual_coef_ = found.norms, found.duals
        return Learned.of(found, found.weights)

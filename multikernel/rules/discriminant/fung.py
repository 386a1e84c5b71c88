"""The kernel Fisher discriminant as least squares, with kernel weights (Fung et al.)."""

from ..._typing import Array
from ..._validation import check_number
from ...core.stack.sums import kernel_scales
from ...discriminant.solver.fisher import HeterogeneousFisher, learn_fisher
from ..learner import About, Learned, TwoClassLearner
from ..targets import Targets


class FungDiscriminant(TwoClassLearner):
    """Kernel Fisher discriminant of heterogeneous kernels, learned by least squares.

    min_{u, b, η ≥ 0}  ν/2 ‖t − Σ_m η_m K_m u / s_m − b‖² + ½ u'u + ½ η'η

    with t_i = ± n / (2 n_c) for a sample of a class of n_c and s_m = tr K_m / n, so that the scales of the
    kernels do not matter. For given η the best u is the direction of the kernel Fisher discriminant with the
    regulariser u'u / ν. This is our reading of the paper: its value is convex in u, b and in η, not in both.

    Parameters
    ----------
    nu : float
        ν > 0. Larger: the classes are fitted more closely, with more of the finer kernels.
    tol : float
        Stationarity to reach.
    max_iter : int
        Turns of the alternation and Newton's steps, each with one system of n equations.

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,), η_m / s_m; for more than two classes see :class:`TwoClassLearner`
    objective_ : float
    dual_gap_ : float
        Stationarity: the larger of ‖∂u‖ / ‖u‖ and ‖η − (η − ∂η)₊‖ / ‖η‖, ∂ the gradient.

    Examples
    --------
    >>> y = np.array([1, 1, 1, -1])
    >>> learner = FungDiscriminant().fit([np.outer(y, y), np.eye(4)], y)
    >>> learner.kernel_shares_.round(2)
    array([0.8, 0.2])
    """

    certificate = "stationarity"
    about = About(
        family="discriminant",
        problem="min ν/2 ‖t − K_η u − b‖² + ½ u'u + ½ η'η, η ≥ 0",
        solver="a system of n equations and P nonnegative weights in turn, then Newton; stationarity",
        cost="n³ + P n² for each of some 10 iterations, two n × n matrices",
        use="A discriminant on many kernels, none of which should be lost altogether.",
        reference="Fung, Dundar, Bi & Rao 2004",
    )

    def __init__(self, nu: float = 1.0, *, tol: float = 1e-6, max_iter: int = 200) -> None:
        self.nu = nu
        self.tol = tol
        self.max_iter = max_iter

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        learned = super()._learn(Ks, targets)
        if not learned.weights.any():
            raise ValueError(
                f"nu={self.nu:g} is so small that no kernel is worth its weight. Raise nu, or give kernels "
                "that know something of these classes."
            )
        return learned

    def _learn_two(self, Ks: Array, signs: Array) -> Learned:
        nu = check_number("nu", self.nu, above=0.0)
        scales = kernel_scales(Ks, self.view_names_)
        found = learn_fisher(HeterogeneousFisher(Ks, signs, nu, scales), self._options())
        return Learned.of(found, found.weights / scales, n_iter=max(1, found.n_iter))

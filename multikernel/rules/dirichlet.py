"""Weights on the simplex with a Dirichlet prior, and their posterior (after Girolami & Rogers)."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from .._typing import Array
from .._validation import check_number, check_positive_integer, check_seed
from ..bayesian.solver.simplex_posterior import SimplexDensity, simplex_posterior
from .learner import About, Learned, WeightLearner
from .targets import Targets


@dataclass(eq=False, repr=False)
class DirichletWeights(WeightLearner):
    """Posterior mean and deviation of the weights of a Gaussian process' kernel.

    t_c ~ N(μ_c 1, Σ_m η_m s_m K_m + σ²I),  η ~ Dirichlet(α, …, α)

    with targets t_c (±1 for two classes, one column for each of more, values), their flat means μ_c, and s_m
    that brings the mean diagonal of the centred K_m to 1. Classes are thus regressed on: our reading of the
    hierarchic model, with a Gaussian likelihood throughout. The weights are s_m times the posterior mean of
    η_m. Mean and deviation are by importance sampling about the mode; see
    ``multikernel.bayesian.solver.simplex_posterior``.

    Weights of :class:`multikernel.bayesian.BayesianMKLClassifier` have either sign, and make no kernel for
    other machines: hence this learner has none of them.

    Parameters
    ----------
    concentration : float, default=1.0
        α. 1 is flat on the simplex, less favours few kernels, more favours equal shares.
    noise : "learn" or float, default="learn"
        σ², relative to the variance of the targets. "learn": σ² = 10⁻⁶ + e^x with
        x ~ N(log 0.1, 2²), integrated out too.
    n_draws : int, default=256
        Draws of the importance sampling: its error in the weights is about their deviation / √n_draws.
    tol : float, default=1e-06
        For Newton's decrement at the mode, in nats.
    max_iter : int, default=100
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.
    random_state : int or None, default=None
        Of the draws; None is the seed 0.

    Attributes
    ----------
    kernel_weights_std_ : array of shape (n_kernels,)
        Posterior deviation of kernel_weights_.
    shares_ : array of shape (n_kernels,)
        Posterior mean of η, sum 1.
    shares_cov_ : array of shape (n_kernels, n_kernels)
    noise_ : float, posterior mean of σ²
    effective_draws_ : float, of n_draws: the fewer, the worse the weighted draws stand for the posterior
    objective_ : float, log posterior density at the mode, without its constant
    dual_gap_ : float
        Newton's decrement at the mode in nats: how much higher a quadratic model puts the maximum. The
        density may have other modes.

    Examples
    --------
    >>> y = np.array([1, 1, 1, -1, -1, -1])
    >>> learner = DirichletWeights().fit([1.0 + np.outer(y, y), np.eye(6)], y)
    >>> bool(learner.shares_[0] > 0.6), bool(learner.kernel_weights_std_[0] < 0.5)
    (True, True)
    """

    certificate = "stationarity"
    about = About(
        family="bayesian",
        problem="E[η | T] for T ~ N(μ, K_η + σ²I), η ~ Dirichlet(α)",
        solver="mode by Newton's method (decrement in nats), then importance sampling",
        cost="n³ + P n² for each of about 30 P gradients and n_draws draws; memory a few n²",
        use="To know the uncertainty of the weights; small or medium n.",
        reference="Girolami & Rogers 2005, our reading",
    )

    concentration: float = 1.0
    noise: Any = "learn"
    _: KW_ONLY
    n_draws: int = 256
    tol: float = 1e-6
    max_iter: int = 100
    max_time: float | None = None
    random_state: Any = None

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        alpha = check_number("concentration", self.concentration, above=0.0)
        options, seed = self._options(), self._seed()
        density = SimplexDensity(Ks, targets.ideal, alpha, self._noise())
        draws = check_positive_integer("n_draws", self.n_draws)
        found = simplex_posterior(density, draws, options.tol, options.max_iter, seed)
        self.shares_, self.shares_cov_ = found.mean, found.covariance
        self.kernel_weights_std_ = density.scales * np.sqrt(np.diagonal(found.covariance))
        self.noise_, self.effective_draws_ = found.noise, found.effective
        return Learned.of(found, density.scales * found.mean)

    def _seed(self) -> int:
        return 0 if self.random_state is None else check_seed("random_state", self.random_state)

    def _noise(self) -> float | None:
        if isinstance(self.noise, str):
            if self.noise != "learn":
                raise ValueError(f'noise must be "learn" or a positive number; got {self.noise!r}.')
            return None
        return check_number("noise", self.noise, above=0.0)

"""The mixture of kernel Gaussians of largest likelihood, by expectation and maximisation (EM).

Component m lives in the feature space of kernel m and has unit covariance:

    F_m(x) = ln π_m − ½‖φ_m(x) − μ_m‖²,    L = Σ_t lse_m F_m(x_t),    π ≥ 0, Σ π = 1

A step takes the posteriors q_t = softmax F(x_t) for granted, which makes the rest a sum of squares:

    π_m = Σ_t q_t(m) / n,    μ_m = Σ_t w_tm φ_m(x_t),  w_tm = q_t(m) / Σ_s q_s(m)

The constants −(D/2) ln 2π are left out: D may be infinite, and differ from kernel to kernel. L never falls.
**Certificate**: Σ_t Σ_m q_t(m) (F⁺_m − F_m)(x_t), with F⁺ the scores after one more step. It is never
negative, and zero where the derivative of L is. Of several starts the one of largest L is returned: a local
maximum.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from multikernel._validation import check_number, check_positive_integer
from multikernel.core.optim.loop import Entry, Recorder, Status
from multikernel.nonstationary.solver.mixtures import log_sum_exp, responsibilities

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class KernelMixture:
    """A mixture of kernel Gaussians.

    Attributes
    ----------
    centres : array (n_components, n), w: the centre of a component is Σ_t w_tm φ_m(x_t)
    proportions : array (n_components,), π; zero for a component that explains nothing
    norms : array (n_components,), ‖μ_m‖²
    log_likelihood : float, L of the training samples
    gap : float, the certificate of what is returned, divided by max(n, |L|)
    n_iter : int, steps
    status : Status
    history : list of dict with iteration, objective (L) and gap, of the start and after each step
    """

    centres: Array
    proportions: Array
    norms: Array
    log_likelihood: float = -np.inf
    gap: float = np.inf
    n_iter: int = 0
    status: Status = Status.MAX_ITER
    history: list[Entry] = field(default_factory=list)

    def scores(self, Ks: Array, diagonals: Array) -> Array:
        """F of samples, from their similarities to the training samples and to themselves.

        Parameters
        ----------
        Ks : array (n_components, n_samples, n)
        diagonals : array (n_components, n_samples), k_m(x, x)

        Returns
        -------
        array (n_samples, n_components)
        """
        products = np.einsum("mst,mt->ms", Ks, self.centres)
        distances = np.maximum(diagonals - 2.0 * products + self.norms[:, None], 0.0)
        with np.errstate(divide="ignore"):
            logarithms = np.log(self.proportions)
        return np.asarray((logarithms[:, None] - 0.5 * distances).T)

    def log_density(self, Ks: Array, diagonals: Array) -> Array:
        """lse_m F_m of samples, (n_samples,); see `scores`."""
        return log_sum_exp(self.scores(Ks, diagonals))


def fit_kernel_mixture(
    Ks: Array, *, n_init: int = 8, tol: float = 1e-6, max_iter: int = 500, seed: int = 0
) -> KernelMixture:
    """Return the mixture of largest likelihood that was found from several starts.

    Parameters
    ----------
    Ks : array (n_components, n, n)
        The kernel of each component; a kernel may occur again.
    n_init : int, default=8
        Starts: by turns with random samples as centres, and with random posteriors.
    tol : float, default=1e-6
        The gap to reach.
    max_iter : int, default=500
        Steps from one start.
    seed : int, default=0

    Returns
    -------
    KernelMixture

    Examples
    --------
    >>> x = np.array([-5.1, -4.9, 4.8, 5.2])
    >>> mixture = fit_kernel_mixture(np.stack([np.outer(x, x)] * 2))
    >>> np.sort(mixture.centres @ x).round(3), mixture.status.value
    (array([-5.,  5.]), 'optimal')
    """
    n_init, max_iter = check_positive_integer("n_init", n_init), check_positive_integer("max_iter", max_iter)
    tol = check_number("tol", tol, above=0.0)
    _check_stack(Ks)
    rng = np.random.default_rng(seed)
    diagonals = np.einsum("mtt->mt", Ks)
    starts = [_from_samples, _from_posteriors]
    runs = [_climb(Ks, diagonals, starts[i % 2](Ks, rng), tol, max_iter) for i in range(n_init)]
    return max(runs, key=lambda run: run.log_likelihood)


def _check_stack(Ks: Array) -> None:
    if Ks.ndim != 3 or Ks.shape[1] != Ks.shape[2] or 0 in Ks.shape:
        raise ValueError(
            f"Ks must hold one square matrix for each component; got shape {Ks.shape}. "
            "Stack the training kernels with numpy.stack."
        )
    if not np.isfinite(Ks).all():
        m = int(np.flatnonzero(~np.isfinite(Ks).all(axis=(1, 2)))[0])
        raise ValueError(
            f"the kernel of component {m} must be finite; it has NaN or inf. Remove such samples."
        )


def _climb(Ks: Array, diagonals: Array, mixture: KernelMixture, tol: float, max_iter: int) -> KernelMixture:
    """Steps until the certificate is small; a step that would lower L, as rounding can, is refused."""
    record, scores = Recorder(tol), mixture.scores(Ks, diagonals)
    value = float(log_sum_exp(scores).sum())
    for iteration in range(max_iter + 1):
        posteriors = responsibilities(scores)
        following = maximise(Ks, posteriors)
        new_scores = following.scores(Ks, diagonals)
        gap = _gain(posteriors, scores, new_scores) / max(len(scores), abs(value))
        if record.note({"iteration": iteration, "objective": value, "gap": gap}):
            break
        new_value = float(log_sum_exp(new_scores).sum())
        if new_value < value:
            record.stop(Status.STALLED)
            break
        if iteration < max_iter:
            mixture, scores, value = following, new_scores, new_value
    return replace(mixture, log_likelihood=value, gap=gap, **record.outcome)


def maximise(Ks: Array, posteriors: Array) -> KernelMixture:
    """The best mixture when it is settled how far each component explains each sample.

    Parameters
    ----------
    Ks : array (n_components, n, n)
    posteriors : array (n, n_components), rows of sum 1

    Returns
    -------
    KernelMixture
    """
    masses = posteriors.sum(axis=0)
    # A component without any mass has no centre, and its proportion of zero keeps it out for good.
    centres = (posteriors / np.where(masses > 0.0, masses, 1.0)).T
    return KernelMixture(centres, masses / len(posteriors), _norms(Ks, centres))


def _norms(Ks: Array, centres: Array) -> Array:
    return np.asarray(np.einsum("ms,mst,mt->m", centres, Ks, centres, optimize=True))


def _gain(posteriors: Array, scores: Array, new_scores: Array) -> float:
    alive = posteriors > 0.0
    return max(float((posteriors[alive] * (new_scores[alive] - scores[alive])).sum()), 0.0)


def _from_samples(Ks: Array, rng: np.random.Generator) -> KernelMixture:
    size, n = Ks.shape[:2]
    chosen = rng.choice(n, size=size, replace=size > n)
    centres = np.eye(n)[chosen]
    return KernelMixture(centres, np.full(size, 1.0 / size), _norms(Ks, centres))


def _from_posteriors(Ks: Array, rng: np.random.Generator) -> KernelMixture:
    return maximise(Ks, rng.dirichlet(np.ones(len(Ks)), size=Ks.shape[1]))

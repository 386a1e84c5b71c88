"""The complexity of a family of kernels, and a bound of the error on test points that were known in training.

The complexity is C = E max_{K ∈ 𝒦} s'Ks over random signs s of given points. The points to classify were
known, without labels, when the kernel was learned:

    error ≤ mean φ(y f) + (4 + √(k log(1/δ)) + L √(C / (n γ²))) / √n     with probability 1 − δ

over the choice of n training among 2n points, for every f(x_i) = Σ_j α_j K_ij with K in the family and
α'Kα ≤ 1/γ², and C is the complexity of the family over all 2n points. It holds for whatever was learned
within the family: which is the complexity term C. φ is a cost with values in [0, 1] that is at least 1 where
t ≤ 0 and has the Lipschitz constant L: the ramp min(1, max(0, 1 − t)) of the 1-norm soft margin, L = 1, or
its square, of the 2-norm soft margin, L = 2. Costs above φ give weaker bounds: the hinge and its square.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array
from .._validation import (
    as_generator,
    check_choice,
    check_gram,
    check_number,
    check_positive_integer,
    check_real_matrix,
    is_indefinite,
    raise_degenerate,
    smallest_eigenvalue,
)
from .._validation import signs_of_two_classes as two_class_signs
from ..core.unlabeled import leading_eigenvectors
from ..views import stack_kernels
from .solver.complexity import largest_over_spectrahedron, nonnegative_limit, stack_ratios, vector_ratios
from .solver.kernel_matrix import WEIGHTS
from .vectors import orthonormal

LOSSES = ("ramp", "hinge", "squared_ramp", "squared_hinge")
CONSTANTS = (4, 2)


@dataclass(frozen=True)
class KernelComplexity:
    """Complexity of a family of kernel matrices, estimated from random signs.

    Attributes
    ----------
    mean : float
        The estimate of C.
    standard_error : float
        Of the mean over the draws.
    limit : float
        C cannot exceed this: c · min(m, N max_j λ_j / r_j), with c the trace, N the number of points, λ_j the
        largest eigenvalue and r_j the trace of kernel j; c · N for free weights.
    trace : float
        c, the trace of the matrices in the family.
    n_draws : int
    bracket : float
        The largest relative distance, over the draws, between the upper bound that is used and a lower one:
        0 where the maximum is a formula.
    """

    mean: float
    standard_error: float
    limit: float
    trace: float
    n_draws: int
    bracket: float

    def __str__(self) -> str:
        c = self.trace
        return (
            f"C = {self.mean:.4g} ± {self.standard_error:.2g} ({self.n_draws} draws), {self.mean / c:.3g} ± "
            f"{self.standard_error / c:.2g} times the trace; at most {self.limit / c:.3g} times"
        )


def kernel_complexity(
    kernels: Any,
    *,
    weight_set: str = "nonnegative",
    trace: float | None = None,
    n_components: int | None = None,
    vectors: Any = None,
    n_draws: int = 2000,
    random_state: Any = 0,
) -> KernelComplexity:
    """Estimate C = E max s'Ks over the matrices K of a family with trace c, for random signs s.

    A family that fits random signs well fits any labels well, right or wrong: the larger C, the more training
    points are needed before a good fit means anything. C / c is at least 1 and needs no labels, so families
    can be compared by it.

    Parameters
    ----------
    kernels : array of shape (N, N, n_kernels)
        Array of shape (N, N), or list or dict of arrays of shape (N, N).
        Positive semidefinite kernels over all points, training and test.
    weight_set : {"nonnegative", "free", "spectral"}, default="nonnegative"
        Nonnegative weights; weights of any sign that keep the matrix positive semidefinite; or nonnegative
        weights of rank-one matrices of eigenvectors of the kernel (of the mean of the kernels, each scaled to
        trace one, if there are several).
    trace : float, default=None
        c; by default the sum of the kernels' traces. C is proportional to it.
    n_components : int, default=None
        How many eigenvectors (spectral); by default all with an eigenvalue above 1e-10 of the largest.
    vectors : array of shape (N, n_components), default=None
        Orthogonal vectors instead of eigenvectors (spectral).
    n_draws : int, default=2000
    random_state : int, Generator or None, default=0
        The same seed gives the same draws.

    Returns
    -------
    KernelComplexity

    Notes
    -----
    Free weights need a small semidefinite program for each draw and one or two eigenvalue problems of size N:
    some milliseconds for 200 points and 3 to 5 kernels, a third of a second for 1000 points, where fewer
    draws may do. Each is bounded from both sides to 1e-4, and the upper bound is used. Time grows with the
    number of kernels: a few are meant, not hundreds.

    Examples
    --------
    One kernel has C / c = 1, whatever it is. Three kernels that know different things fit more:

    >>> import numpy as np
    >>> from multikernel.transductive import kernel_complexity
    >>> X = np.random.default_rng(0).standard_normal((40, 3))
    >>> kernels = [np.outer(x, x) for x in X.T]
    >>> alone, together = kernel_complexity(kernels[:1]), kernel_complexity(kernels)
    >>> round(alone.mean / alone.trace, 1), round(together.mean / together.trace, 1)
    (1.0, 2.2)
    """
    check_choice("weight_set", weight_set, WEIGHTS)
    family = Family(weight_set, trace, n_components, vectors)
    return _complexity(kernels_first(kernels), family, n_draws, random_state)


@dataclass(frozen=True)
class GeneralizationBound:
    """A bound of the error on the test points, and the terms that add up to it.

    Attributes
    ----------
    bound : float
        The sum of the four terms.
    empirical_loss : float
        The mean loss of the training points.
    sample_term : float
        4 / √n.
    confidence_term : float
        √(k log(1/δ)) / √n.
    complexity_term : float
        L √(C / (n γ²)) / √n, with L = 2 for the squared losses, else 1.
    complexity : KernelComplexity
        C and its standard error.
    margin : float
        γ.
    delta : float
    n_train : int
        n, the number of training points and of test points.
    loss : str
    """

    bound: float
    empirical_loss: float
    sample_term: float
    confidence_term: float
    complexity_term: float
    complexity: KernelComplexity
    margin: float
    delta: float
    n_train: int
    loss: str

    @property
    def vacuous(self) -> bool:
        """Whether the bound says nothing: no error is larger than 1."""
        return self.bound >= 1.0

    def __str__(self) -> str:
        verdict = ": vacuous, as every error is at most 1" if self.vacuous else ""
        n = self.n_train
        return "\n".join(
            [
                f"test error <= {self.bound:.2f} with probability {1.0 - self.delta:g}{verdict}",
                f"  {self.empirical_loss:.2f}  {self.loss.replace('_', ' ')} loss of the training points",
                f"  {self.sample_term:.2f}  sample size, {n} training and {n} test points",
                f"  {self.confidence_term:.2f}  confidence",
                f"  {self.complexity_term:.2f}  complexity of the kernels, at margin {self.margin:.3g}",
                str(self.complexity),
            ]
        )


def generalization_bound(
    kernels: Any,
    y: Any,
    scores: Any,
    *,
    margin: float,
    weight_set: str = "nonnegative",
    trace: float | None = None,
    n_components: int | None = None,
    vectors: Any = None,
    delta: float = 0.05,
    constant: int = 4,
    loss: str = "ramp",
    margin_chosen_from_data: bool = False,
    n_draws: int = 2000,
    random_state: Any = 0,
) -> GeneralizationBound:
    r"""Bound the error on the test points of a classifier whose kernel was learned on training and test
    points.

    .. math::

        \mathrm{error} \le \frac1n \sum_{i=1}^n \phi(y_i f(x_i)) + \frac{1}{\sqrt n} \left( 4 +
        \sqrt{k \log(1/\delta)} + L \sqrt{\frac{C}{n \gamma^2}} \right)

    for n training and n test points, divided at random, and every :math:`f(x_i) = \sum_j \alpha_j K_{ij}`
    with K in the family of kernel matrices and :math:`\alpha' K \alpha \le 1/\gamma^2`, with probability
    :math:`1 - \delta`.

    Parameters
    ----------
    kernels : array of shape (2n, 2n, n_kernels)
        Array of shape (2n, 2n), or list or dict of arrays of shape (2n, 2n).
        Positive semidefinite kernels over all points, the n training points first.
    y : array of shape (n_samples,) of two labels
        Those of the training points. Positive scores are for the second in sorted order.
    scores : array of shape (n_samples,)
        f at the training points, on the scale of the margin: y f ≥ 1 is right by the margin.
    margin : float
        :math:`\gamma = 1 / \|w\|`, with :math:`\|w\|^2 = \beta' K \beta` for β = label × dual; see below.
    weight_set : {"nonnegative", "free", "spectral"}, default="nonnegative"
        The family in which the kernel was learned: see `kernel_complexity`.
    trace : float, default=None
        Trace of the learned matrix over all points; by default the sum of the kernels' traces, as in
        `TransductiveMKLClassifier` (``trace_``).
    n_components : int, default=None
        How many eigenvectors (spectral), all by default; give the model's ``n_components``.
    vectors : array of shape (2n, n_components), default=None
        Orthogonal vectors instead of eigenvectors (spectral).
    delta : float, default=0.05
        Probability that the bound fails.
    constant : {4, 2}, default=4
        k: 4 is what the proof gives, 2 what the theorem prints.
    loss : {"ramp", "hinge", "squared_ramp", "squared_hinge"}, default="ramp"
        :math:`\phi(t)`, with :math:`s = \max(0, 1 - t)`:

        - "ramp": :math:`\min(1, s)`, the cost of the 1-norm soft margin cut at 1, L = 1;
        - "hinge": s, larger, a weaker bound;
        - "squared_ramp": :math:`\min(1, s)^2`, the cost of the 2-norm soft margin cut at 1. It is
          smaller than the ramp and twice as steep, L = 2: better where loss outweighs complexity;
        - "squared_hinge": :math:`s^2`, larger, a weaker bound.
    margin_chosen_from_data : bool, default=False
        The theorem assumes that the margin is fixed before the labels are seen. True adds
        :math:`|\log(1/\gamma)|` to :math:`\log(1/\delta)`, the cost of taking it from the fitted model.
    n_draws : int, default=2000
        Random signs that the complexity is estimated from.
    random_state : int, Generator or None, default=0

    Returns
    -------
    GeneralizationBound
        Its text is a table of the terms.

    Notes
    -----
    The bound is usually vacuous (larger than 1) for fewer than thousands of points. It is still good for
    comparing: between families of kernels over the same points, the one with the smaller sum of loss and
    complexity pays less for what it may choose from.

    The paper proves the theorem for the ramp and says that it extends to the 2-norm cost. Its steps hold for
    every cost with values in [0, 1], but for the contraction lemma, which multiplies the complexity by the
    Lipschitz constant: 2 for the squared ramp, whose slope is −2 at t = 0.

    The theorem's functions have no intercept. Scores of a classifier with one make the bound a heuristic.

    The estimate of C takes the place of its expectation; its standard error is in the result. The limits of
    C that the paper prints with n hold with 2n.

    References
    ----------
    Lanckriet, Cristianini, Bartlett, El Ghaoui & Jordan, Learning the kernel matrix with semidefinite
    programming, JMLR 5, 2004, Theorem 24.

    Examples
    --------
    100 training and 100 test points, a linear and a Gaussian kernel:

    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from multikernel import stack_kernels
    >>> from multikernel.transductive import TransductiveMKLClassifier
    >>> from multikernel.kernels import Gaussian, Linear, unit_diagonal
    >>> from multikernel.transductive import generalization_bound
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> chosen = np.random.default_rng(0).permutation(len(X))[:200]
    >>> X, y = ((X - X.mean(axis=0)) / X.std(axis=0))[chosen], y[chosen[:100]]
    >>> kernels = stack_kernels([unit_diagonal(Linear()(X)), Gaussian(gamma=0.01)(X)])
    >>> model = TransductiveMKLClassifier("precomputed", C=0.1, tol=1e-8)
    >>> model = model.fit(kernels[:100], y, X_unlabeled=kernels[100:])

    Its scores at the training points, and its margin:

    >>> beta = np.zeros(100)
    >>> beta[model.support_] = model.dual_coef_[0]
    >>> w_x = model.kernel_[:100, :100] @ beta
    >>> margin = 1 / np.sqrt(beta @ w_x)
    >>> bound = generalization_bound(
    ...     kernels, y, w_x + model.intercept_, margin=margin, margin_chosen_from_data=True
    ... )
    >>> print(bound)
    test error <= 1.27 with probability 0.95: vacuous, as every error is at most 1
      0.17  ramp loss of the training points
      0.40  sample size, 100 training and 100 test points
      0.37  confidence
      0.34  complexity of the kernels, at margin 0.685
    C = 531 ± 8.4 (2000 draws), 1.33 ± 0.021 times the trace; at most 2 times

    As usual with 100 points, 1.27 promises nothing. But the 0.17 and 0.34 can be compared with those of other
    kernels, other weights and other values of C over the same points.
    """
    check_choice("weight_set", weight_set, WEIGHTS)
    _check_theorem(delta, constant, loss)
    gamma = check_number("margin", margin, above=0)
    Ks = kernels_first(kernels)
    signs = signs_of_two_classes(y, Ks.shape[1])
    n = signs.size
    short = 1.0 - signs * check_scores(scores, n)
    empirical, slope = float(costs_of(short, loss).mean()), 2.0 if loss.startswith("squared") else 1.0
    family = Family(weight_set, trace, n_components, vectors)
    complexity = _complexity(Ks, family, n_draws, random_state)
    doubts = -np.log(delta) + (abs(np.log(gamma)) if margin_chosen_from_data else 0.0)
    sample_term = float(4.0 / np.sqrt(n))
    confidence_term = float(np.sqrt(constant * doubts / n))
    complexity_term = float(slope * np.sqrt(complexity.mean) / (n * gamma))
    return GeneralizationBound(
        bound=empirical + sample_term + confidence_term + complexity_term,
        empirical_loss=empirical,
        sample_term=sample_term,
        confidence_term=confidence_term,
        complexity_term=complexity_term,
        complexity=complexity,
        margin=gamma,
        delta=float(delta),
        n_train=n,
        loss=loss,
    )


def costs_of(short: Array, loss: str) -> Array:
    """φ of what scores lack to the margin, 1 − y f.

    Examples
    --------
    >>> costs_of(np.array([-1.0, 0.5, 3.0]), "squared_ramp").tolist()
    [0.0, 0.25, 1.0]
    """
    costs = np.clip(short, 0.0, 1.0 if loss.endswith("ramp") else None)
    return np.asarray(costs**2 if loss.startswith("squared") else costs)


@dataclass(frozen=True, eq=False)
class Family:
    """Which matrices of given kernels are meant: parameters of `kernel_complexity`."""

    weight_set: str
    trace: float | None
    n_components: int | None
    vectors: Any

    def directions(self, Ks: Array, traces: Array) -> Array:
        """The orthonormal vectors of the spectral family, (N, m)."""
        if self.vectors is not None:
            return orthonormal(self.vectors, Ks.shape[1])
        if self.n_components is not None:
            check_positive_integer("n_components", self.n_components)
        return leading_eigenvectors(np.tensordot(1.0 / traces, Ks, 1), self.n_components)[1]


def _complexity(Ks: Array, family: Family, n_draws: int, random_state: Any) -> KernelComplexity:
    """`kernel_complexity` of a checked stack (m, N, N)."""
    n_draws, rng = _check_draws(n_draws), as_generator(random_state)
    traces = np.array([np.trace(K, dtype=float) for K in Ks])
    c = float(traces.sum()) if family.trace is None else check_number("trace", family.trace, above=0)
    n_points, bracket = Ks.shape[1], 0.0
    if family.weight_set == "spectral":
        V = family.directions(Ks, traces)
        best, limit = vector_ratios(V, n_draws, rng).max(axis=1), float(V.shape[1])
    elif family.weight_set == "free":
        lower, best = largest_over_spectrahedron(Ks, stack_ratios(Ks, n_draws, rng))
        bracket, limit = float(((best - lower) / np.maximum(best, 1.0)).max()), float(n_points)
    else:
        best, limit = stack_ratios(Ks, n_draws, rng).max(axis=1), nonnegative_limit(Ks)
    mean, error = float(best.mean()), float(best.std(ddof=1) / np.sqrt(n_draws))
    return KernelComplexity(c * mean, c * error, c * limit, c, n_draws, bracket)


def _check_draws(n_draws: Any) -> int:
    """At least two draws, so that there is a standard error."""
    if check_positive_integer("n_draws", n_draws) < 2:
        raise ValueError(f"n_draws must be at least 2, for a standard error; got {n_draws}. Use about 1000.")
    return int(n_draws)


def _check_theorem(delta: Any, constant: Any, loss: Any) -> None:
    """The parameters of the theorem itself."""
    check_choice("loss", loss, LOSSES)
    if constant not in CONSTANTS:
        raise ValueError(
            f"constant must be 4 (what the proof gives) or 2 (what the theorem prints); got {constant!r}."
        )
    if not 0.0 < check_number("delta", delta) < 1.0:
        raise ValueError(f"delta must be a probability between 0 and 1, both excluded; got {delta!r}.")


def kernels_first(kernels: Any) -> Array:
    """The checked stack (m, N, N) of an array (N, N, m) or (N, N), or of a list or dict of matrices.

    Every kernel must be finite, symmetric, positive semidefinite and not all zero.
    """
    names = list(kernels) if isinstance(kernels, Mapping) else None
    stack = check_real_matrix(
        kernels if isinstance(kernels, np.ndarray) else stack_kernels(kernels), "kernels"
    )
    stack = stack[:, :, None] if stack.ndim == 2 else stack
    if stack.ndim != 3 or stack.shape[0] != stack.shape[1] or 0 in stack.shape:
        raise ValueError(
            "kernels must be square Gram matrices over all points, a stack of shape (N, N, n_kernels) or a "
            f"list of matrices (N, N); got shape {stack.shape}. stack_kernels makes such a stack."
        )
    Ks = np.ascontiguousarray(np.moveaxis(stack, 2, 0))
    for j, K in enumerate(Ks):
        _check_kernel(K, f"kernel {j if names is None else names[j]!r}")
    return Ks


def _check_kernel(K: Array, label: str) -> None:
    facts = check_gram(K, label)
    if facts.degenerate == "all zero":
        raise_degenerate(label, facts.degenerate)
    if facts.breaks_schwarz or is_indefinite(K, full=True):
        raise ValueError(
            f"kernels must be positive semidefinite; {label} has smallest eigenvalue "
            f"{smallest_eigenvalue(K):.3g}. Repair it first with multikernel.kernels.repair_psd."
        )


def signs_of_two_classes(y: Any, n_points: int) -> Array:
    """±1 for the labels of the training points, half of all points: +1 is the second in sorted order."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must be a list of labels, shape (n_train,); got shape {labels.shape}.")
    if 2 * labels.size != n_points:
        raise ValueError(
            "the theorem needs as many test points as training points: kernels over 2n points, the n "
            f"training points first, and n labels; got {n_points} points and {labels.size} labels. Leave out "
            "training or test points at random until their numbers agree."
        )
    return two_class_signs(
        labels,
        if_missing="Give the labels of the training points only.",
        if_more="For more than two classes, bound the error of each class against the rest.",
    )


def check_scores(scores: Any, n_train: int) -> Array:
    """Finite scores of the training points, (n_train,)."""
    values = check_real_matrix(scores, "scores").astype(float)
    if values.shape != (n_train,):
        raise ValueError(
            f"scores must hold one number for each of the {n_train} training points, shape ({n_train},); "
            f"got shape {values.shape}. Leave out the scores of the test points."
        )
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise ValueError(f"scores must be finite; entry {bad[0]} is {values[bad[0]]}. Fit the machine again.")
    return values

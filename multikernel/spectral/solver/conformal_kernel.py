"""The conformal kernel of greatest class separability, k(x, z) = q(x) q(z) k₀(x, z).

A kernel k₀ is rescaled from place to place by a factor

    q(x) = a_0 + Σ_j a_j k₀(x, c_j),     that is q = K₁ a with K₁ = [1, k₀(x_i, c_j)],

around some cores c_j; the k₀ in it may be another kernel k₁, such as a Gaussian of a width of its own, as
Xiong et al. have it. Of the l labelled points let E_ij = 1/l_c where i and j are both of class c, else 0.
The traces of the scatter between and inside the classes in the feature space of k, times l, are q'B₀q and
q'W₀q, with

    B₀ = K₀∘E − K₀/l,     W₀ = diag(K₀) − K₀∘E,

so that their ratio, the separability, is

    J(a) = a'M a / a'N a,     M = K₁'B₀K₁,     N = K₁'W₀K₁.

Its maximum is the largest generalised eigenvalue of (M, N) (``method="eig"``). The published algorithm
(``method="gradient"``) instead takes a few small steps from a = (1, 0, …, 0), where k = k₀,

    a ← a + η (1 − t/T) (M a − J N a) / a'N a,     a ← a / |a|,     t = 0, …, T − 1,

and so ends far below that maximum, close to k₀: what keeps it from overfitting is how early it stops. It was
made for Gaussians. So that it does not depend on the scale of other kernels, k₀(x, c_j) is taken relative to
the mean self-similarity of the labelled points, which is 1 for a Gaussian; and a step that would lower J is
halved until it does not, which a Gaussian hardly ever needs.

`ConformalModel` is such a kernel over labelled and unlabelled points, the labelled ones first: the cores are
among them, and q is learned from them alone. Nothing is approximate for other points: q is a function of k₀.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from ..._typing import Array
from ..._validation import check_choice, check_number, check_positive_integer
from ...core.optim.loop import backtrack, is_over
from ...kernels.transforms import Center
from .kernel import Spectrum, spectrum_of

METHODS = ("gradient", "eig")
_RIDGE = 1e-10  # of the mean eigenvalue of N: it may be singular, and the ratio then has no maximum
_HALVINGS = 40


@dataclass(frozen=True, eq=False)
class ConformalModel:
    """The learned kernel, at the points it was learned on and at others."""

    K: Array  # (n, n), the learned kernel
    factors: Array  # (n,), q
    coefficients: Array  # (1 + n_cores,), a
    cores: Array  # (n_cores,), positions among the labelled points
    objective: float  # the separability reached
    n_labelled: int  # l
    center: Center | None  # the fitted centring that rows of new points go through

    def kernel(self) -> Array:
        """The learned kernel (n, n)."""
        return self.K

    def labelled(self) -> Array:
        """Between the labelled points (l, l)."""
        return self.K[: self.n_labelled, : self.n_labelled]

    def unlabelled(self) -> Array:
        """Between the unlabelled points and the labelled ones, (n − l, l)."""
        return self.K[self.n_labelled :, : self.n_labelled]

    def unlabelled_blocks(self, size: int) -> Iterator[Array]:
        """The same, some rows at a time."""
        for start in range(self.n_labelled, len(self.K), size):
            yield self.K[start : start + size, : self.n_labelled]

    def rows(self, K_test: Array) -> Array:
        """Between new points and the labelled ones, (n_test, l), from their similarities k₀ (n_test, n)."""
        return self._rescaled(K_test)[:, : self.n_labelled]

    @cached_property
    def spectrum(self) -> Spectrum:
        """Of the learned kernel, all of it: O(n³)."""
        return spectrum_of(self.K)

    def extend(self, K_test: Array) -> Array:
        """Z of new points (n_test, p), from their similarities k₀ (n_test, n)."""
        return self.spectrum.extend(self._rescaled(K_test)) * np.sqrt(self.spectrum.values)

    def _rescaled(self, K_test: Array) -> Array:
        rows = K_test if self.center is None else self.center.test(K_test, np.empty(0))
        return rescaled_rows(rows, self.coefficients, self.cores, self.factors)


def rescaled_rows(K_test: Array, coefficients: Array, cores: Array, factors: Array) -> Array:
    """q(x) q(x_j) k₀(x, x_j) from similarities k₀ of new points (n_test, n), the factors q(x_j) of the n."""
    own = coefficients[0] + K_test[:, cores] @ coefficients[1:]
    return K_test * np.multiply.outer(own, factors)


def learn_conformal_kernel(
    K: Array, codes: Array, cores: Array, *, method: str = "gradient", center: bool = False
) -> ConformalModel:
    """Rescale k₀ (n, n), centred or not, for the separability of the classes (l,) of its first points.

    The cores are positions among these.

    Examples
    --------
    >>> K = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    >>> model = learn_conformal_kernel(K, np.array([0, 0, 1]), np.array([1]), method="eig")
    >>> bool(np.allclose(model.rows(K), model.labelled()))
    True
    """
    fitted = Center().fit(K) if center else None
    K = K if fitted is None else fitted.train(K)
    n_labelled = codes.size
    K1 = np.column_stack([np.ones(len(K)), K[:, cores]])
    result = learn_conformal(K[:n_labelled, :n_labelled], K1[:n_labelled], codes, method=method)
    factors = K1 @ result.coefficients
    return ConformalModel(
        K=K * np.multiply.outer(factors, factors),
        factors=factors,
        coefficients=result.coefficients,
        cores=cores,
        objective=result.value,
        n_labelled=n_labelled,
        center=fitted,
    )


@dataclass(frozen=True)
class ConformalResult:
    """A conformal factor."""

    coefficients: Array  # (1 + n_cores,), a, of length 1 where k₀ has a mean self-similarity of 1
    value: float  # J(a); for "eig" with 1e-10 of its mean eigenvalue added to N, which may be singular
    history: Array  # (n_steps + 1,), J before the first step and after each; start and end only for "eig"


def learn_conformal(
    K0: Array,
    K1: Array,
    codes: Array,
    *,
    method: str = "gradient",
    n_steps: int = 200,
    step: float = 0.01,
    size: float | None = None,
) -> ConformalResult:
    """Learn the factor that rescales a kernel for class separability.

    Parameters
    ----------
    K0 : array (l, l), the kernel between the labelled points
    K1 : array (l, 1 + n_cores), a column of ones, and the kernel between labelled points and cores
    codes : array (l,), their classes, 0, 1, …, at least two; at least one must have more than one point
    method : {"gradient", "eig"}
    n_steps : int
    step : float, η; it falls to zero over the steps
    size : float, the mean self-similarity of the kernel of the factor; None: of K0

    Examples
    --------
    >>> K0 = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    >>> K1 = np.column_stack([np.ones(3), K0])
    >>> result = learn_conformal(K0, K1, np.array([0, 0, 1]), n_steps=5)
    >>> result.history[:2].round(4).tolist()
    [1.6667, 1.6869]
    """
    check_choice("solver", method, METHODS)
    n_steps = check_positive_integer("n_steps", n_steps)
    step = check_number("step", step, above=0.0)
    scales = np.ones(K1.shape[1])
    size = float(K0.diagonal().mean()) if size is None else size
    scales[1:] = 1.0 / max(size, np.finfo(float).tiny)
    columns = K1 * scales
    B0, W0 = scatter_matrices(K0, codes)
    M, N = columns.T @ B0 @ columns, columns.T @ W0 @ columns
    start = np.eye(1, scales.size)[0]
    if method == "eig":
        _require_scatter(np.trace(M), np.trace(N), K0, columns)
        N = N + _RIDGE * np.trace(N) / len(N) * np.eye(len(N))
        path = [start, _top_eigenvector(M, N, columns)]
    else:
        _require_scatter(M[0, 0], N[0, 0], K0, columns[:, :1])
        path = _climb(M, N, start, n_steps, step)
    history = np.array([_ratio(M, N, a) for a in path])
    return ConformalResult(path[-1] * scales, float(history[-1]), history)


def scatter_matrices(K0: Array, codes: Array) -> tuple[Array, Array]:
    """B₀ and W₀ (l, l): traces of the scatters of a rescaled kernel, times l, as quadratic forms of q."""
    same = (codes[:, None] == codes) / np.bincount(codes)[codes]
    inside = K0 * same
    return inside - K0 / len(codes), np.diag(K0.diagonal()) - inside


def _require_scatter(between: float, inside: float, K0: Array, K1: Array) -> None:
    """Refuse forms that are zero, but for rounding, on the factors that the search can reach."""
    rounding = len(K0) * np.finfo(float).eps * float(np.abs(K0.diagonal()).max()) * float((K1**2).sum())
    if not inside > rounding:
        raise ValueError(
            "the points of each class agree in the feature space of the kernel: the scatter inside the "
            "classes is zero, and its ratio to that between them is not defined. Some class must have two "
            "points that differ."
        )
    if not between > rounding:
        raise ValueError(
            "the means of all classes agree in the feature space of the kernel: the scatter between classes "
            "is zero, and nothing tells which way to rescale. Use a kernel that sees more than the mean "
            "(such as a Gaussian), or check the labels."
        )


def _climb(M: Array, N: Array, a: Array, n_steps: int, step: float) -> list[Array]:
    path = [a]
    for t in range(n_steps):
        if is_over():
            break
        Ma, Na = M @ a, N @ a
        inside = a @ Na
        direction = (Ma - (a @ Ma / inside) * Na) / inside
        a = _uphill(M, N, a, step * (1.0 - t / n_steps) * direction)
        path.append(a)
    return path


def _uphill(M: Array, N: Array, a: Array, move: Array) -> Array:
    """a + move, of length 1; the move is halved until J does not fall, and given up where rounding rules."""
    start = _ratio(M, N, a)

    def attempt(length: float) -> Array | None:
        moved = a + length * move
        moved /= np.linalg.norm(moved)
        rises = moved @ N @ moved > 0.0 and _ratio(M, N, moved) >= start
        return np.asarray(moved) if rises else None

    found = backtrack(attempt, _HALVINGS)
    return a if found is None else found


def _ratio(M: Array, N: Array, a: Array) -> float:
    return float((a @ M @ a) / (a @ N @ a))


def _top_eigenvector(M: Array, N: Array, K1: Array) -> Array:
    """Of length 1, with a factor that is positive on average: the kernel is the same for −a."""
    top = [len(N) - 1, len(N) - 1]
    a = scipy.linalg.eigh(M, N, subset_by_index=top)[1][:, 0]
    a = a / np.linalg.norm(a)
    return a if (K1 @ a).sum() >= 0.0 else -a

"""Which width, which part of the spectrum, which α: what classifies each labelled point by the others best.

Every labelled point i is classified by its nearest neighbours among the others, at the distances

    D_ij = Σ_r μ_ir² (V_ir − V_jr)²

of the kernel whose weights μ_i are learned without i. All μ_i come from the class sums of all points less
those of one, and all D from two products of matrices: O(l² p) in all, as for one kernel. The eigenvectors
know no labels and stay. The factor of a conformal kernel is not learned again for each point: that would
take l times as long.

With folds of the labelled points (`Folds`) another judge takes the place of the neighbours: the machine that
will classify learns from the other folds, with a kernel that was learned from their labels alone.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._typing import Array
from ...core.neighbors import kernel_distances, neighbour_votes
from .conformal_kernel import learn_conformal_kernel
from .kernel import (
    AnySpectrum,
    JointSpectrum,
    SpectralModel,
    SpectralRule,
    alignment_weights,
    learn_spectral_weights,
    require_maximiser,
    spectrum_of,
    spectrum_of_factor,
    target_norm,
    target_products,
    target_products_without_each,
)
from .separability import Tradeoff, falling, pooled, scatters_without_each, separability_weights


@dataclass(frozen=True, eq=False)
class Candidate:
    """One of the kernels to choose from."""

    settings: dict[str, float]  # what it was made with
    score: float  # share of the labelled points that the others classify rightly; NaN where not computed
    model: Any = None  # what was learned; None if that failed
    error: ValueError | None = None  # why it failed


def choose_first_best(candidates: Iterable[Candidate]) -> tuple[Candidate, list[dict[str, float]]]:
    """The candidate of the highest score, the first of equals, and the table of all.

    If none could be learned, the error of the first is raised.
    """
    best, first_error, table = None, None, []
    for candidate in candidates:
        table.append({**candidate.settings, "score": candidate.score})
        if candidate.error is not None:
            first_error = first_error or candidate.error
        elif best is None or candidate.score > best.score:
            best = candidate
    if best is None:
        raise first_error or ValueError("there must be a kernel to choose; got none.")
    return best, table


@dataclass(frozen=True, eq=False)
class Folds:
    """A cross-validation of the labelled points by the machine that will classify."""

    splits: Sequence[tuple[Array, Array]]  # rows of each fold that learn, and rows that are judged
    make_machine: Callable[[], Any]  # an unfitted classifier on precomputed kernels

    def score(self, learn: Callable[[Array, Array], Any], codes: Array, n: int) -> float:
        """The mean share of right classes over the folds.

        ``learn`` gets an order of all n points, those that learn first and then those that are judged, and
        the classes of the former, and returns the learned kernel between the points in that order, as a
        model.
        """
        shares = []
        for train, test in self.splits:
            model = learn(np.concatenate([train, test, np.arange(codes.size, n)]), codes[train])
            machine = self.make_machine().fit(model.labelled(), codes[train])
            guesses = machine.predict(model.unlabelled()[: test.size])
            shares.append(np.mean(guesses == codes[test]))
        return float(np.mean(shares))


@dataclass(frozen=True, eq=False)
class Grid:
    """The kernels that can be learned from one kernel matrix, and who judges them."""

    criterion: str = "separability"  # {"separability", "alignment", "conformal"}
    method: str = "closed"  # "closed" or "nnls" for alignment, "gradient" or "eig" for conformal kernels
    eig_tols: tuple[float, ...] = (0.01,)  # of spectral kernels
    tradeoffs: tuple[Tradeoff, ...] = (Tradeoff(1e4),)  # of separability; one for alignment, not read
    center: bool = False
    cores: Array = field(default_factory=lambda: np.zeros(1, int))  # among the labelled points; conformal
    n_neighbors: int = 1  # of the classifier that judges
    seed: int = 0  # of the order in which points at equal distance are taken
    order: str | None = None  # of spectral weights, {None, "decreasing", "improved"}
    folds: Folds | None = None  # who judges instead of leave-one-out by neighbours

    @property
    def size(self) -> int:
        """How many kernels there are."""
        return 1 if self.criterion == "conformal" else len(self.eig_tols) * len(self.tradeoffs)


def learn_candidates(
    kernels: Sequence[Array], codes: Array, grid: Grid, *, judged: bool = True, from_factors: bool = False
) -> Iterator[Candidate]:
    """All kernels of the grid, learned from matrices (n, n) and the classes (l,) of their first points.

    ``from_factors``: they are factors (n, q) of the matrices. Each candidate has a `SpectralModel` or, of one
    matrix, a `ConformalModel`; scores are computed where they are ``judged``.
    """
    if grid.criterion == "conformal":
        yield _conformal_candidate(kernels[0], codes, grid, judged)
        return
    try:
        whole = _joint_spectrum(kernels, grid.center, from_factors)
    except ValueError as error:
        yield Candidate({}, np.nan, error=error)
        return
    for eig_tol in grid.eig_tols:
        spectrum = whole.above(eig_tol)
        for tradeoff in grid.tradeoffs:
            rule = SpectralRule(grid.criterion, tradeoff, grid.method, grid.order)
            yield _spectral_candidate(spectrum, codes, rule, grid, judged, eig_tol)


def _joint_spectrum(kernels: Sequence[Array], center: bool, from_factors: bool) -> AnySpectrum:
    decompose = spectrum_of_factor if from_factors else spectrum_of
    parts = tuple(decompose(kernel, center=center) for kernel in kernels)
    return parts[0] if len(parts) == 1 else JointSpectrum(parts)


def _spectral_candidate(
    spectrum: AnySpectrum, codes: Array, rule: SpectralRule, grid: Grid, judged: bool, eig_tol: float
) -> Candidate:
    kappa = rule.tradeoff.value if rule.tradeoff.relative else np.nan
    settings = {"eig_tol": eig_tol, "n_components": spectrum.values.size, "kappa": kappa}
    try:
        learned = learn_spectral_weights(spectrum, codes, rule)
        require_maximiser(learned)
    except ValueError as error:
        return Candidate(settings, np.nan, error=error)
    score = np.nan
    if judged and grid.folds is not None:
        score = cross_validation_score(spectrum, codes, rule, grid.folds)
    elif judged:
        score = leave_one_out_score(spectrum, codes, rule, n_neighbors=grid.n_neighbors, seed=grid.seed)
    settings["alpha"] = learned.alpha
    return Candidate(settings, score, SpectralModel(spectrum, learned, codes.size))


def _conformal_candidate(K: Array, codes: Array, grid: Grid, judged: bool) -> Candidate:
    try:
        model = learn_conformal_kernel(K, codes, grid.cores, method=grid.method, center=grid.center)
    except ValueError as error:
        return Candidate({}, np.nan, error=error)
    score = np.nan
    if judged and grid.folds is not None:
        score = _conformal_fold_score(K, codes, grid, grid.folds)
    elif judged:
        score = kernel_leave_one_out_score(model.labelled(), codes, grid.n_neighbors, grid.seed)
    return Candidate({}, score, model)


def _conformal_fold_score(K: Array, codes: Array, grid: Grid, folds: Folds) -> float:
    def learn(order: Array, known: Array) -> Any:
        cores = np.flatnonzero(np.isin(order[: known.size], grid.cores))  # the cores that learn
        cores = cores if cores.size else np.zeros(1, int)
        moved = K[np.ix_(order, order)]
        return learn_conformal_kernel(moved, known, cores, method=grid.method, center=grid.center)

    return folds.score(learn, codes, len(K))


def cross_validation_score(spectrum: AnySpectrum, codes: Array, rule: SpectralRule, folds: Folds) -> float:
    """The share of the labelled points that the machine is right about, with a kernel learned on others."""

    def learn(order: Array, known: Array) -> SpectralModel:
        moved = spectrum.at(order)
        return SpectralModel(moved, learn_spectral_weights(moved, known, rule), known.size)

    return folds.score(learn, codes, len(spectrum.vectors))


def leave_one_out_score(
    spectrum: AnySpectrum, codes: Array, rule: SpectralRule, *, n_neighbors: int = 1, seed: int = 0
) -> float:
    """The share of the labelled points that the others classify rightly, μ learned without each."""
    V = spectrum.vectors[: codes.size]
    squares = squares_without_each(spectrum, codes, rule)
    V = V - V.mean(axis=0)  # no distance changes, and the products below keep their digits
    scaled = squares * V
    distances = (scaled * V).sum(axis=1)[:, None] - 2.0 * scaled @ V.T + squares @ (V**2).T
    return _share_right(distances, codes, n_neighbors, seed)


def squares_without_each(spectrum: AnySpectrum, codes: Array, rule: SpectralRule) -> Array:
    """μ² learned without each labelled point in turn, (l, p); up to a factor for alignment."""
    V, n, spaces = spectrum.vectors[: codes.size], len(spectrum.vectors), spectrum.spaces
    chains = spectrum.chains(rule.order)
    if rule.criterion == "separability":
        f, g = (pooled(scatter, spaces) for scatter in scatters_without_each(V, codes))
        return separability_weights(f, g, rule.tradeoff, spectrum.budget, n, chains).weights ** 2
    k = int(codes.max()) + 1
    products = target_products_without_each(V, codes, k)
    if rule.method == "closed":
        products = pooled(products, spaces)
        return products if chains is None else falling(products, chains)
    squares = np.zeros_like(V)
    norm = target_norm(codes, k)
    near = alignment_weights(
        V, target_products(V, codes, k), norm, rule.method, n, spaces=spaces, chains=chains
    )
    for i, q in enumerate(products):
        others = np.delete(V, i, axis=0)
        squares[i] = alignment_weights(
            others, q, norm, rule.method, n, near=near, spaces=spaces, chains=chains
        )
    return squares


def kernel_leave_one_out_score(K: Array, codes: Array, n_neighbors: int = 1, seed: int = 0) -> float:
    """The same for a kernel (l, l) between the labelled points as it is: nothing is learned again."""
    return _share_right(kernel_distances(K, K.diagonal()), codes, n_neighbors, seed)


def _share_right(distances: Array, codes: Array, n_neighbors: int, seed: int) -> float:
    """Of distances (l, l), which are overwritten on the diagonal."""
    np.fill_diagonal(distances, np.inf)
    votes = neighbour_votes(distances, codes, min(n_neighbors, codes.size - 1), seed=seed)
    return float(np.mean(votes.winners == codes))

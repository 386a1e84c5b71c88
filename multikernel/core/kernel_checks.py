"""What a fit warns of: near-identity kernels, scales far apart, a model that memorizes its training samples.

The doctor (:mod:`multikernel.doctor`) examines kernels before a fit by the same measures, and shows their
figures. A fit looks at a few rows of each kernel, and issues one :class:`multikernel.views.KernelWarning` for
each thing that it finds. The texts hold no figures: these differ between the folds of a search, and Python
would show each text once more.

**Near-identity**: half of the samples have no other that is more than 0.05 like them, by the largest
|k(x, z)| / √(k(x, x) k(z, z)) over the other samples z. Nothing can be learned from one about another. The
widths of ``kernels="auto"`` reach from too small to too large, so that the learner can choose: only where
all of them are near-identity is there something to say.

**Scales**: mean diagonals that differ by more than a factor of 1000. The weights follow the scale.

**Memorizing** (:func:`tell_of_memorizing`): most samples are support vectors, the training accuracy is near
1, and the leave-one-out estimate of Jaakkola & Haussler (1999), which omits the term β_i K_ii of each sample,
is near the share of the largest class. Many support vectors alone are no sign of it: they are usual where
features outnumber samples, or C is small.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._numba import compiled, larger, read_only
from .._typing import Array
from .._validation import warn_caller
from ..kernels import Chi2, Gaussian, Laplacian
from ..kernels.together import OnDemand
from ..rows.memory import is_on_disk
from ..views.view import KernelWarning
from .stack.sums import stack_diagonals, stack_of_rows
from .svm.losses import EpsilonInsensitive, Loss, OneClass, SquaredError

LONELY = 0.05  # largest similarity to another sample, of a sample in the middle: nothing is like anything
FAR_APART = 1e3  # ratio of mean diagonals
_AT_ONCE = 32  # rows that stay in the cache from one operation to the next
_FEW, _MORE = 8, 500  # rows of a first look, and of a second one where the first finds little similarity
_MOST_SUPPORT = 0.8  # share of the samples that are support vectors
_NEARLY_ALL = 0.99  # training accuracy
_GAINED = 0.1  # of what the largest class leaves to gain: less is by chance

IDENTITY = (
    f"nearly the identity: for half of the samples, the similarity to every other sample is below {LONELY}, "
    "so that a model cannot generalize from one sample to another. The width may be too small."
)
WIDER_MATRIX = "Compute it with a larger width or from fewer features, or leave it out."


# ---------------------------------------------------------------------- near-identity
def is_near_identity(K: Array) -> bool:
    """Whether half of the samples of a kernel (n, n) are like no other; see the module.

    Of more than 500 samples, 500 are compared with all others, or with each other where K is in a file.

    Examples
    --------
    >>> is_near_identity(np.eye(4)), is_near_identity(np.ones((4, 4)))
    (True, False)
    """
    columns = _evenly(len(K), _MORE) if is_on_disk(K) else np.arange(len(K))
    roots = np.sqrt(np.maximum(np.diagonal(K)[columns].astype(float), 0.0))
    columns, roots = columns[roots > 0.0], roots[roots > 0.0]  # samples may lack the view
    whole = read_only(K) if columns.size == len(K) and K.flags.c_contiguous else None

    def rows_of(some: Array) -> tuple[Array, Array]:
        if whole is not None:
            return whole, some
        return np.ascontiguousarray(K[np.ix_(columns[some], columns)]), np.arange(some.size)

    return _are_lonely(1.0 / roots, rows_of, _AT_ONCE)


def _are_lonely(inverse: Array, rows_of: Callable[[Array], tuple[Array, Array]], at_once: int) -> bool:
    """Whether half of the samples are like no other, from some of the rows.

    ``inverse`` has 1 / √k(z, z); ``rows_of`` gives, for the numbers of samples, a matrix that has their rows,
    and where.
    """
    if inverse.size < 3:
        return False
    places = _evenly(inverse.size, _MORE)
    nearest = np.empty(places.size)
    for first in range(0, places.size, at_once):
        some = places[first : first + at_once]
        seen = first + some.size
        block, at = rows_of(some)
        _largest_similarities(read_only(block), at, some, inverse, nearest[first:seen])
        n_lonely = int(np.count_nonzero(nearest[:seen] < LONELY))
        if max(n_lonely, seen - n_lonely) > places.size // 2 + 1:  # the others cannot change the median
            return 2 * n_lonely > seen
    return float(np.median(nearest)) < LONELY


@compiled
def _largest_similarities(K: Array, at: Array, samples: Array, inverse: Array, out: Array) -> None:
    """The largest |k(x, z)| / √(k(x, x) k(z, z)) over the other samples z, for each row ``at`` of K.

    ``samples`` are those of the rows, ``inverse`` has 1 / √k(z, z).
    """
    for r in range(at.size):
        row, own = K[at[r]], samples[r]
        most = 0.0
        for t in range(own):
            most = larger(abs(np.float64(row[t])) * inverse[t], most)
        for t in range(own + 1, inverse.size):
            most = larger(abs(np.float64(row[t])) * inverse[t], most)
        out[r] = most * inverse[own]


def _is_near_identity_in(Ks: Array | OnDemand, m: int, diagonal: Array) -> bool:
    """The same of a kernel in a stack; of one that is computed on demand, only the rows are."""
    if not isinstance(Ks, OnDemand):
        return is_near_identity(Ks[m])
    columns = np.flatnonzero(diagonal > 0.0)

    def rows_of(some: Array) -> tuple[Array, Array]:
        rows = Ks.rows_of(m, columns[some])
        return np.ascontiguousarray(rows[:, columns]) if columns.size < Ks.shape[1] else rows, np.arange(
            len(rows)
        )

    return _are_lonely(1.0 / np.sqrt(diagonal[columns]), rows_of, _MORE // 2 + 2)  # fewer decide nothing


def _suspects(Ks: Array | OnDemand, roots: Array) -> Array:
    """Kernels of which a few rows, beside those that lack the view, hold little similarity."""
    rows = _evenly(Ks.shape[1], _FEW)
    inverse = np.divide(1.0, roots, out=np.zeros(roots.shape), where=roots > 0.0)
    few, at = (Ks.some_rows(rows), np.arange(rows.size)) if isinstance(Ks, OnDemand) else (Ks, rows)
    nearest = np.empty((len(inverse), rows.size))
    for m, largest in enumerate(nearest):
        _largest_similarities(read_only(few[m]), at, rows, inverse[m], largest)
    return np.flatnonzero(~(np.median(nearest, axis=1) >= 2.0 * LONELY))


def _evenly(n: int, most: int) -> Array:
    """At most so many of n positions, evenly spaced."""
    return np.arange(n) if n <= most else np.arange(most) * n // most


def wider(view: Any) -> str:
    """What to use instead of a near-identity kernel, with the width that the rows suggest.

    It has one digit, so that the folds of a search mostly say the same.
    """
    kernel = getattr(view, "kernel", None)
    if isinstance(kernel, Gaussian | Laplacian | Chi2):
        return (
            f'Use a wider kernel, such as gamma="median", here about {_median_gamma(kernel, view.rows):.1g}.'
        )
    return "Use a wider kernel or fewer features, or leave it out."


def _median_gamma(kernel: Any, rows: Any) -> float:
    """The gamma of the median distance, which rows remember."""
    return float(type(kernel)(gamma="median").fit(rows).gamma)


# ---------------------------------------------------------------------- scales
@dataclass(frozen=True)
class ScaleGap:
    """The kernels of the smallest and of the largest mean diagonal, the ratio of these, and a text."""

    smallest: str
    largest: str
    ratio: float
    what: str


def scale_gap(names: Sequence[str], sizes: Sequence[float] | Array) -> ScaleGap | None:
    """How far the mean diagonals of kernels are apart; None where fewer than two are positive.

    Examples
    --------
    >>> scale_gap(["a", "b"], [1.0, 50.0]).ratio
    50.0
    """
    sized = sorted((float(size), name) for name, size in zip(names, sizes, strict=True) if size > 0.0)
    if len(sized) < 2:
        return None
    (small, first), (large, last) = sized[0], sized[-1]
    ratio = large / small
    what = (
        f"of different scale: mean diagonal {small:.3g} of {first!r}, {large:.3g} of {last!r}; the same "
        f"weight means {ratio:.3g} times more."
    )
    return ScaleGap(first, last, ratio, what)


# ---------------------------------------------------------------------- what a fit says
def tell_of_kernels(
    Ks: Array | OnDemand,
    bank: Any,
    *,
    costs: Array | None = None,
    automatic: bool = False,
    scaled: bool = False,
) -> None:
    """Warn of near-identity kernels, and of scales far apart.

    Parameters
    ----------
    Ks : array (n_kernels, n, n)
        As the solver gets them, perhaps on demand.
    bank : bank that made them
    costs : array (n_kernels,), optional
        Costs d_m, by which the solver divides: K_m / d_m².
    automatic : bool
        Whether the kernels are those of ``kernels="auto"``.
    scaled : bool
        Whether the solver brings the kernels to one scale itself.
    """
    names = list(bank.view_names_)
    if not isinstance(Ks, OnDemand) and is_on_disk(Ks):  # a diagonal touches every page of a file
        rows = _evenly(Ks.shape[1], _MORE)
        diagonals = np.stack([np.diagonal(K)[rows] for K in Ks]).astype(float)
        suspects = np.arange(len(Ks))
    else:
        diagonals = stack_diagonals(Ks)
        suspects = _suspects(Ks, np.sqrt(np.maximum(diagonals, 0.0)))
    sizes = diagonals.mean(axis=1)
    lonely = []
    if len(suspects) == len(Ks) or not automatic:
        lonely = [int(m) for m in suspects if _is_near_identity_in(Ks, int(m), diagonals[m])]
    if lonely and not (automatic and len(lonely) < len(Ks)):
        tell_of_identities(lonely, names, getattr(bank, "views_", None))
    if not scaled:
        own_costs = np.ones(len(Ks)) if costs is None else costs
        tell_of_scales(names, sizes, own_costs, lambda: _variances(Ks))


def tell_of_identities(lonely: Sequence[int], names: Sequence[str], views: Any) -> None:
    """Warn of near-identity kernels by their numbers; ``views`` have their kernels and rows, if any."""
    listed = ", ".join(repr(names[m]) for m in lonely)
    remedy = WIDER_MATRIX if views is None else wider(views[lonely[0]])
    subject = f"kernels {listed} are" if len(lonely) > 1 else f"kernel {listed} is"
    warn_caller(f"{subject} {IDENTITY} {remedy}", KernelWarning)


def tell_of_scales(
    names: Sequence[str], sizes: Array, costs: Array, variances: Callable[[], Array] | None = None
) -> None:
    """Costs may be what brings kernels to one scale, or be meant to keep them apart: both are no reason.

    Nor is a constant part of a kernel, which the intercept takes: where they are given, variances in feature
    space decide.
    """
    gap = scale_gap(names, sizes)
    if gap is None or not _far_apart(names, sizes, costs):
        return
    if variances is None or _far_apart(names, variances(), costs):
        warn_caller(
            f"the kernels are of different scale: the mean diagonal of {gap.largest!r} is more than "
            f"{FAR_APART:g} times that of {gap.smallest!r}, and the kernel weights depend on the scale. Use "
            'normalize="variance" in each View, or unit_trace(K) for precomputed kernels.',
            KernelWarning,
        )


def _variances(Ks: Array | OnDemand) -> Array:
    """mean diag K − mean K of each kernel, on some of the samples."""
    return np.array([np.trace(K) / len(K) - K.mean() for K in stack_of_rows(Ks, _evenly(Ks.shape[1], _MORE))])


def _far_apart(names: Sequence[str], sizes: Array, costs: Array) -> bool:
    gap, priced = scale_gap(names, sizes), scale_gap(names, sizes / (costs * costs))
    return gap is not None and priced is not None and min(gap.ratio, priced.ratio) > FAR_APART


# ---------------------------------------------------------------------- memorizing
@dataclass(frozen=True)
class Memory:
    """Shares of the samples of a machine.

    ``support`` are support vectors, ``right`` the training accuracy, ``alone`` the leave-one-out estimate of
    the accuracy, and ``largest`` the share of the largest class.
    """

    support: float
    right: float
    alone: float
    largest: float

    @property
    def is_all(self) -> bool:
        """Whether the machine knows the training samples and nothing else."""
        chance = self.largest + _GAINED * (1.0 - self.largest)
        return self.support >= _MOST_SUPPORT and self.right >= _NEARLY_ALL and self.alone <= chance


def remember(Ks: Array, weights: Array, signs: Array, beta: Array, intercept: float) -> Memory | None:
    """What a machine f = Σ_m μ_m K_m β + b remembers of its training samples; None unless most support it.

    ``signs`` (n,) are ±1, ``beta`` (n,) label × dual. At most 500 samples are looked at.
    """
    n, support = beta.size, np.count_nonzero(beta) / beta.size
    if support < _MOST_SUPPORT or n < 3:
        return None
    step = -(-n // _MORE)
    rows = np.arange(0, n, step)  # at equal steps: they are read where they are, without a copy
    scores, own = np.zeros(rows.size), np.zeros(rows.size)
    for m in np.flatnonzero(weights):
        block = np.asarray(Ks[m][::step], float)
        scores += weights[m] * (block @ beta)
        own += weights[m] * block[np.arange(rows.size), rows]
    margins = signs[rows] * (scores + intercept)
    without = margins - signs[rows] * beta[rows] * own
    largest = max(float(np.mean(signs > 0.0)), float(np.mean(signs < 0.0)))
    return Memory(support, float(np.mean(margins > 0.0)), float(np.mean(without > 0.0)), largest)


def remembered(Ks: Array, losses: Sequence[Any], result: Any) -> list[Memory | None]:
    """What each machine of two classes in a result remembers; nothing of other machines."""
    return [
        remember(Ks, result.weights, np.sign(loss.target), result.duals[t], float(result.intercepts[t]))
        for t, loss in enumerate(losses)
        if _has_two_classes(loss) and np.isfinite(result.objective) and not result.factors
    ]


def _has_two_classes(loss: Any) -> bool:
    others = EpsilonInsensitive | OneClass | SquaredError
    return isinstance(loss, Loss) and not isinstance(loss, others)


def tell_of_memorizing(memories: Sequence[Memory | None], names: Sequence[str], weights: Array) -> None:
    """Warn where most machines memorize their training samples."""
    found = [memory for memory in memories if memory is not None and memory.is_all]
    if 2 * len(found) <= len(memories):
        return
    heaviest = int(np.argmax(weights))
    has_most = weights[heaviest] > 0.5 * np.sum(weights)
    named = f"Kernel {names[heaviest]!r} has most of the weight. " if has_most else ""
    warn_caller(
        "the model memorizes its training samples: the training accuracy is near 1, most samples are support "
        "vectors, and the leave-one-out estimate of the accuracy is near the share of the largest class. "
        f"{named}Use wider kernels, a smaller C or a larger norm.",
        KernelWarning,
    )

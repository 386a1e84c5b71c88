"""The components of the mixtures: which kernels a class has, where they start, and what each adds to f."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array
from .._validation import as_numbers
from ..core.inputs import Samples
from .solver.mixtures import Pair

_SUM = 1e-6  # posteriors of a sample sum to 1 up to this


# ------------------------------------------------------------------ kernels of the classes
def kernels_of_classes(given: Any, classes: Array, names: Sequence[str]) -> Array:
    """Whether each class has a component of each kernel, (n_classes, n_kernels) of bool."""
    allowed = np.ones((classes.size, len(names)), bool)
    if given is None:
        return allowed
    if not isinstance(given, Mapping):
        raise TypeError(
            f"class_kernels must be None or a dict from class label to a list of kernel names; got {given!r}."
        )
    for label, chosen in given.items():
        code = _code_of(label, classes, "class_kernels")
        if isinstance(chosen, str) or not isinstance(chosen, Sequence) or not len(chosen):
            raise ValueError(
                f"class_kernels[{label!r}] must be a list of one or more kernel names; got {chosen!r}."
            )
        if len(set(chosen)) < len(chosen):
            raise ValueError(
                f"class_kernels[{label!r}] must name each kernel once; got {list(chosen)!r}. For two "
                "components of one kernel give the kernel twice, under two names."
            )
        allowed[code] = False
        for name in chosen:
            if name not in names:
                raise ValueError(
                    f"class_kernels[{label!r}] names the kernel {name!r}; the kernels are {list(names)}."
                )
            allowed[code, list(names).index(name)] = True
    return allowed


def _code_of(label: Any, classes: Array, what: str) -> int:
    found = [code for code, known in enumerate(classes.tolist()) if known == label]
    if not found:
        raise ValueError(f"{what} has an entry for the class {label!r}; the classes are {classes.tolist()}.")
    return found[0]


def components_of(allowed: Array, codes: Array, signs: Array) -> Pair:
    """The kernels of the positive and of the negative mixture: those that a class of the side has."""
    positive, negative = (
        np.flatnonzero(allowed[np.unique(codes[signs * side > 0])].any(axis=0)) for side in (1.0, -1.0)
    )
    return positive, negative


def by_kernel(parts: Pair, kernels: Pair, n_kernels: int, missing: float) -> Array:
    """Values of the components, (M, …) and (N, …), as (2, n_kernels, …); ``missing`` where there is none."""
    every = np.full((2, n_kernels, *parts[0].shape[1:]), missing)
    for side in (0, 1):
        every[side, kernels[side]] = parts[side]
    return every


# ------------------------------------------------------------------ posteriors to start from
def check_posteriors(given: Any, codes: Array, classes: Array, allowed: Array, names: Sequence[str]) -> Array:
    """The posteriors that a caller gave, (n, n_kernels): by sample, or by class for all its samples."""
    by_class = isinstance(given, Mapping)
    if by_class:
        q = (allowed / allowed.sum(axis=1, keepdims=True))[codes]
        for label, shares in given.items():
            row = np.asarray(as_numbers(shares, f"posteriors[{label!r}]"), float)
            if row.shape != (len(names),):
                raise ValueError(
                    f"posteriors[{label!r}] must have one number for each of the {len(names)} kernels "
                    f"{list(names)}; got shape {row.shape}."
                )
            q[codes == _code_of(label, classes, "posteriors")] = row
    else:
        q = np.array(as_numbers(given, "posteriors"), dtype=float)
        if q.shape != (codes.size, len(names)):
            raise ValueError(
                f"posteriors must be of shape (n_samples, n_kernels) = {(codes.size, len(names))}, or a dict "
                f"from class label to {len(names)} numbers; got shape {q.shape}."
            )
    _refuse_rows(~np.isfinite(q).all(axis=1) | (q < 0.0).any(axis=1), q, "be nonnegative and finite", "")
    _refuse_rows(
        np.abs(q.sum(axis=1) - 1.0) > _SUM, q, "sum to 1 for each sample", "Divide each row by its sum."
    )
    _refuse_rows(
        (q * ~allowed[codes] > 0.0).any(axis=1),
        q,
        "be 0 for the kernels that class_kernels denies the class of the sample",
        "",
    )
    return q


def _refuse_rows(wrong: Array, q: Array, required: str, remedy: str) -> None:
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ValueError(f"posteriors must {required}; sample {row} has {q[row].tolist()}. {remedy}".rstrip())


def merged(q: Array, samples: Samples) -> Array:
    """The posteriors of the distinct samples: of equal rows the mean, by weight."""
    known = samples.group >= 0
    mean = np.zeros((samples.rows.size, q.shape[1]))
    np.add.at(mean, samples.group[known], q[known] * samples.share[known, None])
    return mean


# ------------------------------------------------------------------ what each component adds
@dataclass(frozen=True, eq=False)
class ComponentContributions:
    r"""The log-ratio of the mixtures as a sum over components, exactly, in four kinds of terms.

    .. math::

        f(x) = \sum_{\pm} \pm \Bigl[ \sum_m \nu^\pm_m(x) \bigl( \langle w^\pm_m, \phi_m(x) \rangle
        - \tfrac12 k_m(x, x) + a^\pm_m \bigr) + H(\nu^\pm(x)) \Bigr]

    with :math:`H` the entropy. Every term has the sign with which it counts, so that the sum of all is
    :math:`f`. Shapes are for two classes; with more, an axis of classifiers follows the samples. One constant
    added to all offsets of a classifier changes nothing but the shares of `offset`.

    Attributes
    ----------
    weights : array of shape (n_samples, 2, n_kernels)
        :math:`\nu`, of the positive and of the negative mixture.
    similarity : array of shape (n_samples, 2, n_kernels)
        :math:`\pm \nu_m \langle w_m, \phi_m(x) \rangle`, what the training samples say.
    self_similarity : array of shape (n_samples, 2, n_kernels)
        :math:`\mp \tfrac12 \nu_m k_m(x, x)`.
    offset : array of shape (n_samples, 2, n_kernels)
        :math:`\pm \nu_m a_m`.
    entropy : array of shape (n_samples, 2)
        :math:`\pm H(\nu)`; zero with ``method="hard"``.
    """

    weights: Array
    similarity: Array
    self_similarity: Array
    offset: Array
    entropy: Array

    @property
    def kernels(self) -> Array:
        """The terms of each component together, array (n_samples, 2, n_kernels)."""
        return self.similarity + self.self_similarity + self.offset

    @property
    def total(self) -> Array:
        """What ``decision_function`` says, array (n_samples,)."""
        return np.asarray(self.kernels.sum(axis=(-2, -1)) + self.entropy.sum(axis=-1))


def contributions_of(
    shares: Array, expansions: Array, diagonals: Array, offsets: Array
) -> ComponentContributions:
    """The terms, from ν and ⟨w, φ(x)⟩ (n, n_machines, 2, n_kernels), k(x, x) (n, n_kernels) and offsets."""
    signs = np.array([1.0, -1.0])
    signed = signs[:, None] * shares
    return ComponentContributions(
        weights=shares,
        similarity=signed * expansions,
        self_similarity=-0.5 * signed * diagonals[:, None, None, :],
        offset=signed * np.where(np.isfinite(offsets), offsets, 0.0),
        entropy=signs * -(shares * np.log(np.where(shares > 0.0, shares, 1.0))).sum(axis=-1),
    )

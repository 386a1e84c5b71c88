"""What a fitted model predicts with: each kernel by dual coefficients or by a factor, behind one interface.

A part answers ``kernel_scores(X)``: pairs (m, scores), the scores (n_samples, n_machines) that kernel m adds
at new rows. :class:`FittedKernels` holds the parts of a model, so that some kernels may be kept by their
support samples and others by their factors. Families add parts of their own (gates, columns of kernels).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .._typing import Array
from ..rows import count_rows
from .missing import sample_scales, warn_of_no_view


class Part(Protocol):
    """Some kernels of a model."""

    bank: Any

    def kernel_scores(self, X: Any) -> Iterator[tuple[int, Array]]:
        """The number of each kernel in use and the scores (n_samples, n_machines) that it adds."""


@dataclass(frozen=True)
class FittedKernels:
    """The kernels of a fitted model.

    Attributes
    ----------
    parts : list of Part
    shape : (n_machines, n_kernels), kernels in use or not
    """

    parts: list[Any]
    shape: tuple[int, int]

    @property
    def bank(self) -> Any:
        """The bank of a model that has one part."""
        [part] = self.parts
        return part.bank

    def kernel_scores(self, X: Any) -> Iterator[tuple[int, Array]]:
        """The scores of all kernels in use, part by part."""
        for part in self.parts:
            yield from part.kernel_scores(X)

    def scores(self, X: Any) -> Any:
        """Scores without intercept (n_samples, n_machines)."""
        total = np.zeros((count_rows(X), self.shape[0]))
        return sum((scores for _, scores in self.kernel_scores(X)), start=total)

    def contributions(self, X: Any) -> Array:
        """What each kernel adds, (n_samples, n_machines, n_kernels)."""
        block = np.zeros((count_rows(X), *self.shape))
        for m, scores in self.kernel_scores(X):
            block[:, :, m] = scores
        return block


@dataclass(frozen=True)
class DualKernels:
    """Kernels by dual coefficients over support samples.

    Attributes
    ----------
    bank : fitted bank of the support samples and the kernels in use
    coefficients : array (n_machines, n_support)
    weights : array (n_machines, n_kernels)
    reference : array (n_machines, n_kernels) or None
        With ``missing="renormalise"``: the weights that scale samples that lack views.
    notes_absent : bool
        Whether rows may lack views, and those that lack all with weight are warned of.
    """

    bank: Any
    coefficients: Array
    weights: Array
    reference: Array | None = None
    notes_absent: bool = False

    def kernel_scores(self, X: Any) -> Iterator[tuple[int, Array]]:
        """The score of each kernel in use."""
        scales = self._sample_scales(X)
        for m, K in self.bank.iter_kernels(X):
            scores = (K @ self.coefficients.T) * self.weights[:, m]
            yield m, scores if scales is None else scores * scales

    def _sample_scales(self, X: Any) -> Array | None:
        if not self.notes_absent:
            return None
        has = self.bank.presence(X)
        warn_of_no_view(has, self.weights)
        return None if self.reference is None else sample_scales(has, self.reference)


@dataclass(frozen=True)
class FactorKernels:
    """Kernels by low-rank factors: scores are linear in the columns of the factors.

    Attributes
    ----------
    bank : fitted low-rank bank of the kernels in use
    coefficients : array (n_machines, n_columns)
    """

    bank: Any
    coefficients: Array

    def kernel_scores(self, X: Any) -> Iterator[tuple[int, Array]]:
        """The score of each kernel in use."""
        offsets = self.bank.offsets_
        for m, Z in self.bank.iter_factors(X):
            yield m, Z @ self.coefficients[:, offsets[m] : offsets[m + 1]].T

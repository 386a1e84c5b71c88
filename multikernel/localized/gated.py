"""What a fitted model with gates predicts with, and what its predictions cost.

The score of machine k is Σ_m η_m(x) Σ_i K_m(x, x_i) η_m(x_i) B_ik + b_k. A term is left out by pruning where
either gate is closed, at most a threshold: its kernel value is then not computed. What that changes is at
most the sum over those terms of |η_m(x) η_m(x_i) B_ik| √(K_m(x, x) K_m(x_i, x_i)).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from .._typing import Array
from .._validation import NotFiniteError
from ..views import KernelBank
from .solver.gates import ALL_GATES, OPEN


@dataclass(frozen=True)
class GatedKernels:
    """Kernels by products of gates and dual coefficients, η_m(x_i) B_ik."""

    bank: Any  # fitted bank of the support samples and the stored kernels
    coefficients: Array  # (n_machines, n_kernels, n_support)
    gating: str  # the gating model
    parameters: list[Array]  # one of each gate
    features: Any  # what the gates look at, fitted
    gate_of: Array  # (n_machines,), the gate of each machine
    sources: Array  # (n_kernels,), the stored kernel that each kernel is
    prune: bool | float = False  # gates are closed up to this; True: OPEN; False: nothing is left out
    support_gates: Array | None = None  # η_m(x_i), (n_gates, n_kernels, n_support); None: saved before 0.2
    support_norms: Array | None = None  # (n_stored, n_support), the roots of K_m(x_i, x_i)

    def gates(self, X: Any) -> Array:
        """η of every gate, (n_gates, n_samples, n_kernels)."""
        features = self.features.of(X)
        return np.stack([ALL_GATES[self.gating].values(V, features) for V in self.parameters])

    def kernel_scores(self, X: Any) -> Iterator[tuple[int, Array]]:
        """The score of each kernel."""
        eta = self.gates(X)
        coefficients = self.coefficients
        prunes = self.prune is not False
        if prunes:
            eta[eta <= self.threshold] = 0.0
            coefficients = coefficients * self._open_terms
        each = eta[self.gate_of]
        for source, rows, columns, K in self._open_kernels(X, eta) if prunes else self._all_kernels(X):
            for m in np.flatnonzero(self.sources == source):
                scores = np.zeros((eta.shape[1], len(self.gate_of)))
                scores[rows] = (K @ coefficients[:, m, columns].T) * each[:, rows, m].T
                yield int(m), scores

    # ------------------------------------------------------------------ pruning
    @property
    def threshold(self) -> float:
        """The value up to which a gate counts as closed."""
        return OPEN if isinstance(self.prune, bool) else float(self.prune)

    @property
    def _open_terms(self) -> Array:
        """Which coefficients are kept, (n_machines, n_kernels, n_support)."""
        is_open = self.coefficients != 0.0
        if self.support_gates is None:
            return is_open
        return is_open & (self.support_gates > self.threshold)[self.gate_of]

    def _all_kernels(self, X: Any) -> Iterator[tuple[int, Any, Any, Array]]:
        """Every stored kernel at all the rows and support samples."""
        for source, K in self.bank.iter_kernels(X):
            yield source, slice(None), slice(None), K

    def _open_kernels(self, X: Any, eta: Array) -> Iterator[tuple[int, Any, Any, Array]]:
        """Every stored kernel between rows and support samples where one of its gates is open."""
        terms = self._open_terms
        for source in np.unique(self.sources):
            own = self.sources == source
            rows = np.flatnonzero((eta[:, :, own] > 0.0).any(axis=(0, 2)))
            columns = np.flatnonzero(terms[:, own].any(axis=(0, 1)))
            if rows.size and columns.size:
                part = X if rows.size == eta.shape[1] else _safe_indexing(X, rows)
                try:
                    [(_, K)] = self._bank_of(int(source), columns).iter_kernels(part)
                except NotFiniteError as error:
                    raise error.in_row(int(rows[error.row])) from None
                whole = K.shape[1] != columns.size  # matrices are given whole
                yield int(source), rows, columns, K[:, columns] if whole else K

    def _bank_of(self, source: int, columns: Array) -> Any:
        """The bank of one kernel, where it computes values with those support samples alone."""
        if isinstance(self.bank, KernelBank) and columns.size < self.coefficients.shape[2]:
            return self.bank.restrict(columns, [source])
        return self.bank.only([source])

    # ------------------------------------------------------------------ costs
    def evaluations(self, X: Any) -> Array:
        """Kernel values that each sample needs, (n_samples, n_kernels); shared ones with the first copy."""
        is_open = self.gates(X) > self.threshold
        terms = self._open_terms
        counts = np.zeros((is_open.shape[1], self.sources.size), np.intp)
        for source in np.unique(self.sources):
            own = np.flatnonzero(self.sources == source)
            needed = np.zeros((is_open.shape[1], terms.shape[2]), bool)
            for m in own:
                for gate, rows in enumerate(is_open[:, :, m]):
                    needed |= rows[:, None] & terms[self.gate_of == gate, m].any(axis=0)
            counts[:, own[0]] = needed.sum(axis=1)
        return counts

    def pruning_bound(self, X: Any) -> Array:
        """A bound on what pruning changes of the scores, (n_samples, n_machines)."""
        eta = self.gates(X)[self.gate_of]
        norms = np.sqrt(np.maximum(self.bank.self_similarities(X), 0.0))[:, self.sources]
        if self.support_norms is None:
            raise ValueError("pruning_bound needs a model that was fitted by this version. Fit it again.")
        sizes = np.abs(self.coefficients) * self.support_norms[self.sources]
        closed = (sizes * ~self._open_terms).sum(axis=2)  # (n_machines, n_kernels), left out at open gates
        left_out = np.where(eta <= self.threshold, sizes.sum(axis=2)[:, None], closed[:, None])
        return np.asarray((eta * left_out * norms).sum(axis=2).T)

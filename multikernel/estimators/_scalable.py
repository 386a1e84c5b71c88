"""Estimators that learn kernel weights on a Gram stack or, for more rows, on factors of low rank.

Both routes solve the same problem, the second with K_m replaced by Z_m Z_mᵀ. A model on factors is a matrix
of coefficients of their columns: it has no support samples, and keeps of the training rows the landmarks.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .._validation import check_rank
from ..criteria.primal import PrimalLoss
from ..rows import RowBlocks
from ..solvers.blocks import BlockResult, learn_block_weights
from ..views.memory import MemoryEstimate
from ._base import BaseMKL, refusing_overflow, require_finite
from ._cost import factor_cost
from ._factor_warnings import largest_error, warn_of_factors
from ._factors import FactorRequest, Factors
from ._parameters import check_costs, check_norm
from ._route import choose_route
from ._row_input import GivenRows
from ._samples import Samples

Array = np.ndarray[Any, np.dtype[Any]]

_OF_ONE_ROUTE = ("support_", "dual_coef_", "_coefficients", "coef_", "approximation_", "memory_")


class BlockProblem(NamedTuple):
    """Machines with common weights: their rows of factors, targets and prices, their loss and their names."""

    rows: RowBlocks
    loss: PrimalLoss
    names: list[str]
    fit_intercept: bool = True


class ScalableMKL(BaseMKL):
    """Global kernel weights on a Gram stack, or on factors: parameters ``gram`` and ``rank``."""

    rank: Any
    gram_: str
    memory_: MemoryEstimate
    approximation_: pd.DataFrame
    coef_: Array

    def __init__(self, kernels: Any = "auto", *, rank: Any = None, **settings: Any) -> None:
        super().__init__(kernels, **settings)
        self.rank = rank

    # ------------------------------------------------------------------ the route
    def _why_not_low_rank(self) -> str:
        """Why the problem cannot be solved on factors, with the remedy; empty if it can."""
        return ""

    def _goes_low_rank(self, X: Any) -> bool:
        """Choose the route, and forget what a fit by the other one has left."""
        check_rank("rank", self.rank)
        for name in _OF_ONE_ROUTE:
            self.__dict__.pop(name, None)
        self.gram_ = choose_route(self, X)
        return self.gram_ == "low_rank"

    @property
    def _place_of_stack(self) -> str:
        if self.gram != "auto":
            return self.gram
        return "memmap" if getattr(self, "gram_", None) == "memmap" else "dense"

    def _fit_kernels(self, X: Any, samples: Samples) -> Array:
        self.gram_ = self._place_of_stack
        Ks = super()._fit_kernels(X, samples)
        self.memory_ = self._bank.memory_
        return Ks

    # ------------------------------------------------------------------ factors, solve, store
    def _fit_factors(self, given: GivenRows, n_machines: int = 1) -> Factors:
        """The factors of all rows; the bank is kept for prediction, and what was done is said.

        ``n_machines`` are learned at the same time, each with a Hessian of its own.
        """
        self._check_numerics()
        check_norm(self.norm)
        self._fit_seed = self._draw_seed()
        rank = check_rank("rank", self.rank)
        factors = FactorRequest(self.kernels, rank, self._fit_seed, self.dtype, n_machines).fit(given)
        self._bank = factors.bank
        self.view_names_ = list(factors.bank.view_names_)
        self._costs = check_costs(self.costs, self.view_names_)
        self.memory_ = factors.memory
        self.approximation_ = pd.DataFrame(
            {
                "approximation": factors.bank.approximations_,
                "rank": factors.bank.ranks_,
                "trace_error": factors.errors,
                "gram_error": factors.bank.gram_errors_,
            },
            index=pd.Index(self.view_names_, name="view"),
        )
        if self.verbose:
            error = largest_error(self.approximation_["trace_error"])
            sys.stderr.write(f"[multikernel] low rank: {factors.memory}; {error}\n")
        warn_of_factors(self, factors)
        return factors

    def _learn_blocks(self, problem: BlockProblem, label: str = "") -> BlockResult:
        with refusing_overflow():
            result = learn_block_weights(
                problem.rows,
                self._bank.offsets_,
                problem.loss,
                n_tasks=len(problem.names),
                norm=float(self.norm),
                costs=self._costs,
                fit_intercept=problem.fit_intercept,
                options=self._options(self._fit_seed, label),
            )
        require_finite(result)
        return result

    def _store_blocks(self, results: Sequence[BlockResult], names: Sequence[list[str]]) -> None:
        """Keep the machines in compact form: active views only."""
        self._store_results(results, names)
        self.total_cost_ = factor_cost(self.machine_weights_, self._bank.ranks_, self._costs)
        active = np.flatnonzero(self.machine_weights_.any(axis=0))
        active = active if active.size else np.array([0])
        columns = np.isin(np.repeat(np.arange(self._bank.n_kernels_), self._bank.ranks_), active)
        every = np.concatenate([result.coefficients for result in results])
        self.coef_ = np.ascontiguousarray(every[:, columns])
        self._bank = self._bank.restrict(active)
        self._warn_unless_converged()

    # ------------------------------------------------------------------ predict
    def _kernel_scores(self, X: Any) -> Iterator[tuple[int, Array]]:
        """The score that each active kernel contributes, (n_samples, n_machines)."""
        if getattr(self, "gram_", None) != "low_rank":
            yield from super()._kernel_scores(X)
            return
        offsets = self._bank.offsets_
        for m, Z in self._bank.iter_factors(X):
            yield m, Z @ self.coef_[:, offsets[m] : offsets[m + 1]].T

"""Kernel weights on factors of low rank, for more rows than a Gram stack holds: the steps of such a fit.

Both routes solve the same problem, this one with K_m replaced by Z_m Z_mᵀ. A model on factors is a matrix of
coefficients of their columns: it has no support samples, and keeps of the training rows the landmarks.

The model is an estimator with the parameters of :class:`MKLClassifier` (``gram``, ``rank`` among them).
"""

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .._validation import check_rank
from ..criteria.primal import PrimalLoss
from ..rows import RowBlocks
from ..solvers.blocks import BlockResult, learn_block_weights
from ._base import refusing_overflow, require_finite
from ._cost import factor_cost
from ._factor_warnings import largest_error, warn_of_factors
from ._factors import FactorRequest, Factors
from ._fitted import FactorKernels, FittedKernels
from ._parameters import check_costs, check_norm
from ._route import choose_route
from ._row_input import GivenRows

Array = np.ndarray[Any, np.dtype[Any]]

_OF_ONE_ROUTE = ("support_", "dual_coef_", "coef_", "approximation_", "memory_")


class BlockProblem(NamedTuple):
    """Machines with common weights: their rows of factors, targets and prices, their loss and their names."""

    rows: RowBlocks
    loss: PrimalLoss
    names: list[str]
    fit_intercept: bool = True


def goes_low_rank(model: Any, X: Any) -> bool:
    """Choose the route, and forget what a fit by the other one has left."""
    check_rank("rank", model.rank)
    for name in _OF_ONE_ROUTE:
        model.__dict__.pop(name, None)
    model.gram_ = choose_route(model, X)
    return bool(model.gram_ == "low_rank")


def fit_factors(model: Any, given: GivenRows, n_machines: int = 1) -> Factors:
    """The factors of all rows; what was done is said.

    ``n_machines`` are learned at the same time, each with a Hessian of its own.
    """
    model._check_numerics()
    check_norm(model.norm)
    model._fit_seed = model._draw_seed()
    rank = check_rank("rank", model.rank)
    factors = FactorRequest(model.kernels, rank, model._fit_seed, model.dtype, n_machines).fit(given)
    model.view_names_ = list(factors.bank.view_names_)
    model._costs = check_costs(model.costs, model.view_names_)
    model.memory_ = factors.memory
    model.approximation_ = pd.DataFrame(
        {
            "approximation": factors.bank.approximations_,
            "rank": factors.bank.ranks_,
            "trace_error": factors.errors,
            "gram_error": factors.bank.gram_errors_,
        },
        index=pd.Index(model.view_names_, name="view"),
    )
    if model.verbose:
        error = largest_error(model.approximation_["trace_error"])
        sys.stderr.write(f"[multikernel] low rank: {factors.memory}; {error}\n")
    warn_of_factors(model, factors)
    return factors


def learn_on_factors(model: Any, factors: Factors, problem: BlockProblem, label: str = "") -> BlockResult:
    """The weights and machines of one problem."""
    with refusing_overflow():
        result = learn_block_weights(
            problem.rows,
            factors.bank.offsets_,
            problem.loss,
            n_tasks=len(problem.names),
            norm=float(model.norm),
            costs=model._costs,
            fit_intercept=problem.fit_intercept,
            options=model._options(model._fit_seed, label),
        )
    require_finite(result)
    return result


def store_factors(
    model: Any, factors: Factors, results: Sequence[BlockResult], names: Sequence[list[str]]
) -> None:
    """Keep the machines in compact form: active views only."""
    bank = factors.bank
    model._store_results(results, names)
    model.total_cost_ = factor_cost(model.machine_weights_, bank.ranks_, model._costs)
    active = np.flatnonzero(model.machine_weights_.any(axis=0))
    active = active if active.size else np.array([0])
    columns = np.isin(np.repeat(np.arange(bank.n_kernels_), bank.ranks_), active)
    every = np.concatenate([result.coefficients for result in results])
    model.coef_ = np.ascontiguousarray(every[:, columns])
    part = FactorKernels(bank.restrict(active), model.coef_)
    model._fitted = FittedKernels([part], model.machine_weights_.shape)

"""Ridge regression on pairs of objects: products of two kernels, without the Gram matrix of the pairs."""

from .cells import Cells, entries_of_product
from .ridge import PairMachine, PairSolution, Side, left_out_residuals, solve_pairs
from .weights import LearnedPairs, PairProblem, fit_pairs

__all__ = [
    "Cells",
    "LearnedPairs",
    "PairMachine",
    "PairProblem",
    "PairSolution",
    "Side",
    "entries_of_product",
    "fit_pairs",
    "left_out_residuals",
    "solve_pairs",
]

"""What a fit on all rows will occupy, by what stands for the kernels, and which of that fits.

Every method can have Gram matrices in memory; `mkl` and `ridge` can have them in a file with little beside
it, and factors of low rank, which ``gram="auto"`` takes beyond 10 000 rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from multikernel.doctor.diagnosis import Finding
from multikernel.doctor.remedies import Recipes
from multikernel.views import as_views
from multikernel.views.low_rank import DEFAULT_RANK, LARGEST_DENSE, choose_gram
from multikernel.views.memory import MemoryEstimate, estimate_factors, estimate_memory, readable_size

_TIGHT = 0.5  # of what is available: other programs, and copies of the caller, want some too


@dataclass(frozen=True)
class _Choice:
    """Parameters of a model that decide what stands for the kernels, and what that needs."""

    parameters: dict[str, str]
    estimate: MemoryEstimate

    @property
    def code(self) -> str:
        return "model.set_params(" + ", ".join(f'{k}="{v}"' for k, v in self.parameters.items()) + ")"

    @property
    def options(self) -> str:
        """As the command line has them."""
        named = {"gram": "--gram {}", "dtype": "--set dtype={}"}
        return " ".join(named[name].format(value) for name, value in self.parameters.items())

    def to_dict(self) -> dict[str, Any]:
        e = self.estimate
        disk = e.stack if e.gram == "memmap" else 0
        return {"gram": e.gram, "dtype": e.dtype, "memory": e.total, "disk": disk, "fits": e.fits}


def examine_memory(
    n: int, n_kernels: int, kernels: Any, dtype: str, recipes: Recipes
) -> tuple[dict[str, Any], list[Finding]]:
    """What n rows and so many kernels need, as a dictionary, and what is wrong with it.

    The dictionary speaks of Gram matrices in memory; ``choices`` has all there are, and ``chosen`` says what
    ``gram="auto"`` takes.
    """
    if n < 1 or n_kernels < 1:
        return {}, []
    estimate = estimate_memory(n, n_kernels, dtype)
    others = _others(estimate, kernels)
    chosen = choose_gram("auto", n, kernels, dtype)
    facts = {
        "stack": estimate.stack,
        "workspace": estimate.workspace,
        "total": estimate.total,
        "available": estimate.available,
        "dtype": estimate.dtype,
        "text": str(estimate),
        "chosen": chosen,
        "choices": [choice.to_dict() for choice in (_Choice({}, estimate), *others)],
    }
    tight = estimate.available is not None and estimate.total > _TIGHT * estimate.available
    if tight and (chosen == "dense" or not estimate.fits):
        return facts, [_scarce(estimate, others, recipes)]
    return facts, [_approximated(others)] if n > LARGEST_DENSE and chosen == "low_rank" else []


def _others(dense: MemoryEstimate, kernels: Any) -> list[_Choice]:
    """What can be had in the place of Gram matrices in memory, the least change first."""
    n, m, limit = dense.n, dense.n_kernels, dense.available
    file = estimate_memory(n, m, "float32", "memmap", limit, lean=True)
    found = [
        _Choice({"dtype": "float32"}, estimate_memory(n, m, "float32", limit=limit)),
        _Choice({"gram": "memmap", "dtype": "float32"}, file),
    ]
    if choose_gram("auto", LARGEST_DENSE + 1, kernels) == "low_rank":  # every view has factors
        ranks = [view.rank if isinstance(view.rank, int) else DEFAULT_RANK for view in as_views(kernels)[:m]]
        columns = sum(min(rank, n) for rank in ranks)
        found.append(_Choice({"gram": "low_rank"}, estimate_factors(n, columns, m, limit=limit)))
    return found


def _approximated(others: list[_Choice]) -> Finding:
    """A note that kernels will be approximated although they need not be."""
    factors, file = readable_size(others[-1].estimate.total), readable_size(others[1].estimate.total)
    what = (
        f'beyond {LARGEST_DENSE} rows, gram="auto" of mkl and ridge takes factors of low rank ({factors} of '
        "memory) in the place of the kernels."
    )
    remedy = f'For exact kernels, model.set_params(gram="dense"), or {others[1].code} ({file} of memory).'
    command = f"For exact kernels, fit with --gram dense, or {others[1].options} ({file} of memory)."
    return Finding("note", "memory", what, remedy, command)


def _scarce(estimate: MemoryEstimate, others: list[_Choice], recipes: Recipes) -> Finding:
    """What makes it fit, in Python and on the command line."""
    fitting = [choice for choice in others if choice.estimate.fits]
    level = "warning" if estimate.fits or fitting else "error"
    what = f"{'a fit would just do with' if estimate.fits else 'a fit needs'} {estimate}."
    rows = int(estimate.n * (0.5 * (estimate.available or 0) / estimate.total) ** 0.5)
    fewer = f"take fewer kernels, or about {rows} rows" if rows else "take fewer kernels and rows"
    code = " or ".join(choice.code for choice in fitting)
    remedy = f"Keep the kernels smaller: {code}. Or {fewer}" if fitting else fewer.capitalize()
    options = " or ".join(f"{choice.options} ({readable_size(choice.estimate.total)})" for choice in fitting)
    command = f"Fit it with {options}, or {fewer}." if fitting else f"{fewer.capitalize()}."
    drawn = f"{remedy}: {recipes.draw_rows(rows, estimate.n)}" if rows else f"{remedy}."
    return Finding(level, "memory", what, drawn, command)

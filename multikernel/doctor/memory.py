"""What a fit on all rows will occupy, and what to do where there is not so much."""

from __future__ import annotations

from typing import Any

from multikernel.doctor.diagnosis import Finding
from multikernel.doctor.remedies import Recipes
from multikernel.views.memory import MemoryEstimate, estimate_memory

_TIGHT = 0.5  # of what is available: other programs, and copies of the caller, want some too


def examine_memory(
    n: int, n_kernels: int, dtype: str, recipes: Recipes
) -> tuple[dict[str, Any], list[Finding]]:
    """The estimate for n rows and so many kernels, as a dictionary, and what is wrong with it."""
    if n < 1 or n_kernels < 1:
        return {}, []
    estimate = estimate_memory(n, n_kernels, dtype)
    facts = {
        "stack": estimate.stack,
        "workspace": estimate.workspace,
        "total": estimate.total,
        "available": estimate.available,
        "dtype": estimate.dtype,
        "text": str(estimate),
    }
    if estimate.available is None or estimate.total <= _TIGHT * estimate.available:
        return facts, []
    level = "warning" if estimate.fits else "error"
    what = f"{'a fit would just do with' if estimate.fits else 'a fit needs'} {estimate}."
    return facts, [Finding(level, "memory", what, *_remedies(estimate, recipes))]


def _remedies(estimate: MemoryEstimate, recipes: Recipes) -> tuple[str, str]:
    """What makes it fit, in Python and on the command line."""
    n, m, limit = estimate.n, estimate.n_kernels, estimate.available
    choices = {
        ("dtype", "float32"): estimate_memory(n, m, "float32", limit=limit),
        ("gram", "memmap"): estimate_memory(n, m, gram="memmap", limit=limit),
    }
    fitting = [option for option, smaller in choices.items() if smaller.fits]
    code = " or ".join(f'model.set_params({name}="{value}")' for name, value in fitting)
    options = "it with " + " or ".join(f"--set {name}={value}" for name, value in fitting)
    rows = int(n * (0.5 * (limit or 0) / estimate.total) ** 0.5)
    fewer = f"take fewer kernels, or about {rows} rows" if rows else "take fewer kernels and rows"
    remedy = f"Keep the kernels smaller: {code}. Or {fewer}" if fitting else fewer.capitalize()
    command = f"F{options}, or {fewer}." if fitting else f"{fewer.capitalize()}."
    return f"{remedy}: {recipes.draw_rows(rows, n)}" if rows else f"{remedy}.", command

"""From the results of a method over the splits to its row of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from studies.compare import compare, comparison_row, convergence_remark
from studies.published import Published
from studies.study import Quantity, Result
from studies.ye2007.setting import SIGMAS


def two_digits(number: float) -> str:
    """Return the number with two digits, as 0.22 and 100 rather than 1e+02.

    Examples
    --------
    >>> two_digits(0.2154), two_digits(100.0), two_digits(1e-5)
    ('0.22', '100', '1e-05')
    """
    return f"{float(f'{number:.2g}'):g}"


# Percent of the trace: a learned λI with no more is only what keeps the sum regular, 1e-9 of the trace.
_NO_REG = 1e-6
ACCURACY = Quantity("accuracy", "accuracy %", 2)
SHARES = Quantity(
    "shares",
    f"% of the trace of λI / σ = {' / '.join(two_digits(sigma) for sigma in SIGMAS)}",
    0,
    difference=False,
)


def method_row(
    section: str,
    label: str,
    results: Sequence[Result],
    *,
    published: Published | None = None,
    published_splits: int | None = None,
    per_sample: int | None = None,
) -> dict[str, Any]:
    """Return the row of one method.

    Parameters
    ----------
    section : str
    label : str
        What the page calls the method.
    results : sequence of dict
        What the method gave on each split.
    published : Published, default=None
        The accuracy in percent.
    published_splits : int, default=None
        Over how many splits it counts as a mean.
    per_sample : int, default=None
        So many results that follow each other are splits of one sample: its mean is what varies. None where
        every split is of the same points.

    Returns
    -------
    dict
        See `comparison_row`.
    """
    accuracies = np.array([result["accuracy"] for result in results])
    if per_sample is not None:
        accuracies = accuracies.reshape(-1, per_sample).mean(axis=1)
    values = {"accuracy": compare(accuracies, published, published_splits)}
    if "shares" in results[0]:
        values["shares"] = compare([result["shares"] for result in results])
    return comparison_row(section, {"method": label}, values, _remark(results))


def _remark(results: Sequence[Result]) -> str:
    """What was chosen or learned, and what did not converge."""
    chosen = {
        name: float(np.median([result[key] for result in results]))
        for key, name in (("sigma", "σ"), ("chosen_reg", "λ"), ("C", "C"))
        if key in results[0]
    }
    remarks = [f"median {name} {two_digits(value)}" for name, value in chosen.items()]
    if "learned_reg" in results[0]:
        remarks.append(_learned_reg(results))
    return "; ".join(filter(None, [*remarks, convergence_remark(results)]))


def _learned_reg(results: Sequence[Result]) -> str:
    regs = [result["learned_reg"] for result in results if result["shares"][0] > _NO_REG]
    n_zero = len(results) - len(regs)
    middle = two_digits(float(np.median(regs))) if regs else ""
    if not n_zero:
        return f"median λ {middle}"
    zero = f"λ = 0 on {n_zero} of {len(results)} splits"
    return f"{zero}, median of the others {middle}" if regs else zero

"""Fitted models in a notebook: scikit-learn's diagram, and what was learned.

It is below the diagram of a model alone; inside a pipeline or search it is in the box of the model, below the
table of its parameters.

The table needs nothing else (no script, no font, no id), takes its colours from the page, light or dark, and
escapes whatever comes from the data.
"""

import math
from collections.abc import Callable
from contextvars import ContextVar
from html import escape
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .fitted import ViewShare, heaviest_first, is_local, machine_shares, percent, view_shares

_MOST_ROWS = 20

# What the gap says, by what it certifies.
_CERTIFIES = {
    "optimality": "the objective is at most this far, relatively, from the best possible",
    "stationarity": "zero where no further step would gain; the problem is not convex, and another start may "
    "end better",
    "machine": "of the machines on the learned kernel; the kernel is where a descent ended, and another "
    "start may end better",
}

_STYLE = """<style>
.multikernel-fitted {margin: .6em 0; font-size: .9em; line-height: 1.35; color: inherit}
.multikernel-fitted table {border-collapse: collapse; margin: 0 0 .6em; color: inherit; table-layout: auto}
.multikernel-fitted caption {text-align: left; font-weight: bold; padding: .2em 0; color: inherit;
  caption-side: top}
.multikernel-fitted table tr, .multikernel-fitted table tr:hover {background: transparent}
.multikernel-fitted table th, .multikernel-fitted table td {text-align: left; vertical-align: top;
  padding: .1em .9em .1em 0; border: 0; border-bottom: 1px solid rgba(128, 128, 128, .35); color: inherit;
  background: transparent; white-space: normal; max-width: 32em; overflow-wrap: anywhere}
.multikernel-fitted tbody th {font-weight: normal}
.multikernel-fitted table .multikernel-number {text-align: right; font-variant-numeric: tabular-nums;
  white-space: nowrap}
.multikernel-fitted table td.multikernel-track {width: 10em; min-width: 10em; padding-right: 0}
.multikernel-bar {display: block; height: .7em; margin-top: .3em; background: #3d8fc6; border-radius: 2px}
.multikernel-bar.multikernel-negative {background: repeating-linear-gradient(135deg, #d55e00 0 3px,
  rgba(213, 94, 0, .3) 3px 6px)}
</style>"""


_ALONE: ContextVar[Any] = ContextVar("the model whose own diagram is drawn", default=None)


# The methods `_repr_html_inner`, `_repr_mimebundle_` and `_get_params_html` of an estimator. They are
# assigned in the class: a mixin would be one more class in the resolution order of every model.
def html_inner(estimator: Any) -> str:
    """The HTML of an estimator in a notebook."""
    return _diagram(BaseEstimator._repr_html_inner, estimator) + fitted_html(estimator)


def mimebundle(estimator: Any, **kwargs: Any) -> dict[str, str]:
    """What a notebook may show of an estimator, by kind."""
    bundle: dict[str, str] = _diagram(BaseEstimator._repr_mimebundle_, estimator, **kwargs)
    if "text/html" in bundle:
        bundle["text/html"] += fitted_html(estimator)
    return bundle


def params_html(estimator: Any, *args: Any, **kwargs: Any) -> Any:
    """The parameters in the box of an estimator; in the diagram of another one, what was learned too."""
    shown = BaseEstimator._get_params_html(estimator, *args, **kwargs)
    learned = "" if _ALONE.get() is estimator else fitted_html(estimator)
    if learned:
        table = shown._html_repr
        shown._html_repr = lambda: table() + learned
    return shown


def _diagram(draw: Callable[..., Any], estimator: Any, **kwargs: Any) -> Any:
    token = _ALONE.set(estimator)
    try:
        return draw(estimator, **kwargs)
    finally:
        _ALONE.reset(token)


def fitted_html(model: Any) -> str:
    """What a fitted model learned, as HTML; nothing for a model that is not fitted."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return ""
    tables = _weights_table(model) + _facts_table(model)
    return f'<div class="multikernel-fitted">{_STYLE}{tables}</div>' if tables else ""


# ---------------------------------------------------------------------- the weights
def _weights_table(model: Any) -> str:
    try:
        rows = view_shares(model)
    except ValueError:  # no weights, or a fit that broke off: the display of a model never fails
        return ""
    n_used = sum(row.weight != 0 for row in rows)
    kind = (
        "views" if list(getattr(model, "weight_names_", model.view_names_)) == model.view_names_ else "parts"
    )
    caption = f"Learned: {n_used} of {len(rows)} {kind} with weight"
    mean = "mean weight" if is_local(model) or machine_shares(model) else "weight"
    return (
        f"<table><caption>{caption}</caption><thead><tr>"
        f'<th scope="col">{kind[:-1]}</th><th scope="col" class="multikernel-number">{mean}</th>'
        '<th scope="col" class="multikernel-number">share</th><td></td></tr></thead>'
        f"<tbody>{_weight_rows(heaviest_first(rows), kind)}</tbody></table>"
    )


def _weight_rows(rows: list[ViewShare], kind: str) -> str:
    shown, rest = rows[:_MOST_ROWS], rows[_MOST_ROWS:]
    lines = [_weight_row(row, abs(rows[0].share)) for row in shown]
    if rest:
        together = sum(abs(row.share) for row in rest)
        lines.append(f'<tr><td colspan="4">… {len(rest)} more {kind}, {percent(together)} together</td></tr>')
    return "".join(lines)


def _weight_row(row: ViewShare, largest: float) -> str:
    sign = " multikernel-negative" if row.share < 0 else ""
    width = 100.0 * abs(row.share) / largest if largest else 0.0
    bar = f'<span class="multikernel-bar{sign}" style="width: {width:.1f}%" aria-hidden="true"></span>'
    return (
        f'<tr><th scope="row">{escape(row.view)}</th>'
        f'<td class="multikernel-number">{row.weight:.4g}</td>'
        f'<td class="multikernel-number">{percent(row.share)}</td>'
        f'<td class="multikernel-track">{bar}</td></tr>'
    )


# ---------------------------------------------------------------------- how it was found
def _facts_table(model: Any) -> str:
    facts = [(label, tell(model)) for label, tell in _FACTS.items()]
    rows = [f'<tr><th scope="row">{label}</th><td>{escape(told)}</td></tr>' for label, told in facts if told]
    return (
        f"<table><caption>How it was fitted</caption><tbody>{''.join(rows)}</tbody></table>" if rows else ""
    )


def _gap(model: Any) -> str:
    gap = getattr(model, "dual_gap_", None)
    if gap is None or math.isnan(gap):
        return ""
    if math.isinf(gap):
        return "nothing was certified"
    certificate = str(getattr(model, "certificate", "optimality"))
    tol = None if certificate == "machine" else getattr(model, "tol", None)  # there it is that of the descent
    asked = f" (asked for: {tol:.1e})" if isinstance(tol, (int, float)) else ""
    return f"{format(gap, '.1e') if gap else '0'}{asked}: {_CERTIFIES[certificate]}"


def _support(model: Any) -> str:
    of_machine = getattr(getattr(model, "machine_", None), "support_", None)
    support = getattr(model, "support_", of_machine if hasattr(model, "kernel_weights_") else None)
    return "" if support is None else str(np.unique(support).size)


def _approximation(model: Any) -> str:
    """Of a model on factors: their columns, and how exactly they stand for the kernels."""
    table = getattr(model, "approximation_", None)
    if table is None:
        return ""
    worst = table["trace_error"].max()
    error = "" if math.isnan(worst) else f", relative trace error at most {worst:.1e}"
    return f"{table['rank'].sum()} columns of {len(table)} views{error}: see approximation_"


def _machines(model: Any) -> str:
    names = machine_shares(model)
    return f"{len(names)}, each with weights of its own: see weights_frame()" if names else ""


def _number(attribute: str) -> Callable[[Any], str]:
    def tell(model: Any) -> str:
        value = getattr(model, attribute, None)
        is_one = isinstance(value, (int, float, np.number)) and math.isfinite(value)
        return f"{value:.6g}" if is_one else ""

    return tell


def _count(attribute: str, axis: int = 0) -> Callable[[Any], str]:
    return lambda model: str(np.shape(getattr(model, attribute))[axis]) if hasattr(model, attribute) else ""


def _text(attribute: str) -> Callable[[Any], str]:
    return lambda model: "" if getattr(model, attribute, None) is None else str(getattr(model, attribute))


_FACTS: dict[str, Callable[[Any], str]] = {
    "status": _text("status_"),
    "gap": _gap,
    "objective": _number("objective_"),
    "iterations": _number("n_iter_"),
    "machines": _machines,
    "support samples": _support,
    "low-rank factors": _approximation,
    "kernel": _text("base_kernel_"),
    "kernels": _number("n_kernels_"),
    "gamma": _number("gamma_"),
    "regularisation": _number("reg_"),
    "separability": _number("separability_"),
    "directions": _count("projection_", axis=1),
    "cores": _count("cores_"),
}

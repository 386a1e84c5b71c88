"""The examination from head to foot: target, columns, rows, views, kernels, leaks, memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse

from multikernel._validation import check_positive_integer, check_seed, check_task, is_frame
from multikernel.core.survival_targets import looks_censored
from multikernel.doctor.columns import (
    Columns,
    check_absent,
    check_columns,
    check_dates,
    check_missing,
    check_refused,
    check_rows,
    describe_columns,
    read_columns,
)
from multikernel.doctor.diagnosis import Diagnosis, Finding, Recipes
from multikernel.doctor.kernels import (
    Examined,
    align,
    check_mean_diagonals,
    check_regularizing,
    check_shapes,
    examine_kernel,
    read_matrices,
)
from multikernel.doctor.leakage import (
    can_tell,
    check_columns_alone,
    check_gaps_alone,
    check_kernels_alone,
    predict_alone,
)
from multikernel.doctor.survival import examine_survival
from multikernel.doctor.target import Target, examine_target
from multikernel.doctor.views import (
    ViewedTable,
    check_same_views,
    check_scales,
    compute_grams,
    fill_gaps,
    find_views,
    flatten_tables,
)
from multikernel.rows.tables import count_rows, take_rows
from multikernel.rules.targets import as_targets
from multikernel.views import as_views
from multikernel.views.low_rank import DEFAULT_RANK, LARGEST_DENSE, choose_gram
from multikernel.views.memory import MemoryEstimate, estimate_factors, estimate_memory, readable_size
from multikernel.views.precomputed import storage_of
from multikernel.views.tables import MultiTable, as_table, n_columns
from multikernel.viz import describe_data

TASKS = ("auto", "classification", "regression", "survival")
_LARGEST_STACK = 60_000_000  # entries of all kernels on the sample: half a gigabyte
_MORE_ROWS = ("max_samples=", "--max-samples ")
_FEW_ROWS = 30  # with fewer, one sample more or less in a fold decides which model is the better
_FEWEST_EXAMINED = 50
_TIGHT = 0.5  # of what is available: other programs, and copies of the caller, want some too


@dataclass
class _Chart:
    """What is written down during the examination."""

    n: int
    task: str
    max_samples: int
    rng: np.random.Generator
    recipes: Recipes
    findings: list[Finding] = field(default_factory=list)
    target: Target | None = None
    n_columns: int = 0
    examined: list[Examined] = field(default_factory=list)
    rows: np.ndarray = field(default_factory=lambda: np.arange(0))
    columns: list[dict[str, Any]] = field(default_factory=list)
    joined_with_gaps: bool = False  # whether samples lack tables after a join
    tables: list[dict[str, Any]] = field(default_factory=list)

    def sample(self, n_kernels: int) -> np.ndarray:
        """The rows to compute kernels on, in order."""
        bound = min(self.n, max(_FEWEST_EXAMINED, int((_LARGEST_STACK / max(n_kernels, 1)) ** 0.5)))
        size = min(self.max_samples, bound)
        if size < self.n:
            what = f"kernels were examined on {size} of the {self.n} rows, drawn by chance"
            remedies = [
                f"{name}{bound} examines {'all' if bound == self.n else 'more'}." for name in _MORE_ROWS
            ]
            if size == bound:
                what += f": no more than half a gigabyte of {n_kernels} kernels"
                remedies = ["Examine fewer kernels at a time to see more rows of each."]
            self.findings.append(Finding("note", "rows", f"{what}.", *remedies))
        return np.sort(self.rng.choice(self.n, size, replace=False))


def diagnose(
    X: Any,
    y: Any = None,
    kernels: Any = "auto",
    *,
    task: str = "auto",
    max_samples: int = 1000,
    random_state: int | None = 0,
) -> Diagnosis:
    """Say what is wrong with data, views and kernels, and what to do, before anything is fitted.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        As for an estimator: one table, or several. A stack of shape (n_samples, n_samples, n_kernels), or
        a dict of square matrices by name, is read as precomputed kernels. Columns of several tables are named
        ``table:column``. X is not modified.
    y : array-like of shape (n_samples,), default=None
        Classes or values; or event and time of censored times, in any form that a survival model takes.
    kernels : as in an estimator, default="auto"
        ``"precomputed"`` for precomputed kernels.
    task : {"auto", "classification", "regression", "survival"}, default="auto"
        What the target is; ``"auto"`` takes text and few whole numbers for classes, and structured arrays,
        tuples and tables with an event and a time for censored times.
    max_samples : int, default=1000
        Maximum number of rows, drawn by chance, on which kernels are examined; the memory estimate is for all
        rows.
    random_state : int, default=0

    Returns
    -------
    Diagnosis
        With `findings`, gravest first, and the tables of kernels and columns.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((60, 3)), np.repeat([0, 1], 30)
    >>> X[:, 2] = 5 * y - 1
    >>> found = diagnose(X, y)
    >>> print(found.findings[0])
    error    column 2: it is the target itself, or the target in other words.
             Leave it out: X = np.delete(X, [2], axis=1)
    >>> found.ok
    False
    """
    check_task(task, TASKS)
    limit = check_positive_integer("max_samples", max_samples)
    rng = np.random.default_rng(check_seed("random_state", random_state))
    kernels = storage_of(kernels).kernels
    with np.errstate(all="ignore"):  # numbers that overflow are what is looked for, not a reason to stop
        return _examine(X, y, kernels, task, limit, rng)


def _examine(X: Any, y: Any, kernels: Any, task: str, limit: int, rng: np.random.Generator) -> Diagnosis:
    if _is_precomputed(X, kernels):
        chart, dtype = _examine_matrices(X, y, task, limit, rng)
        kernels = "precomputed"
    else:
        chart, dtype = _examine_table(X, y, kernels, task, limit, rng), "float64"
    memory, findings = examine_memory(chart.n, len(chart.examined), kernels, dtype, chart.recipes)
    return Diagnosis(
        findings=chart.findings + findings,
        n_samples=chart.n,
        n_columns=chart.n_columns,
        n_examined=len(chart.rows),
        task="unsupervised" if chart.target is None else chart.target.task,
        kernels=[kernel.to_row() for kernel in chart.examined],
        columns=chart.columns,
        memory=memory,
        tables=chart.tables,
    )


def _is_precomputed(X: Any, kernels: Any) -> bool:
    if isinstance(kernels, str) and kernels == "precomputed":
        return True
    if isinstance(X, Mapping) and X and not any(map(_is_square, X.values())):
        return False  # tables
    is_stack = isinstance(X, Mapping) or (not scipy.sparse.issparse(X) and getattr(X, "ndim", 2) == 3)
    return is_stack and isinstance(kernels, str)


def _is_square(table: Any) -> bool:
    shape = np.shape(table)
    return len(shape) != 2 or shape[0] == shape[1]


# --- precomputed kernels ------------------------------------------------------------------------------------


def _examine_matrices(X: Any, y: Any, task: str, limit: int, rng: np.random.Generator) -> tuple[_Chart, str]:
    """Examine groups of kernels over the same samples; the target is that of the first group."""
    groups, findings = read_matrices(X, None if y is None else len(y))
    recipes = Recipes("matrices" if isinstance(X, Mapping) else "kernels", y is not None)
    first: _Chart | None = None
    for group in groups:
        chart = _Chart(len(next(iter(group.values()))), task, limit, rng, recipes)
        _examine_group(chart, group, y if first is None else None)
        if first is None:
            first = chart
        else:
            first.findings += chart.findings
            first.examined += chart.examined
    if first is None:
        return _Chart(0, task, limit, rng, recipes, findings), "float64"
    first.findings = findings + first.findings
    single = all(K.dtype == np.float32 for group in groups for K in group.values())
    return first, "float32" if single else "float64"


def _examine_group(chart: _Chart, matrices: dict[str, np.ndarray], y: Any) -> None:
    chart.target, findings = _read_target(y, chart)
    chart.findings += findings
    chart.rows = chart.sample(len(matrices))
    for name, K in matrices.items():
        examined, findings = examine_kernel(name, K, chart.rows)
        chart.examined.append(examined)
        chart.findings += findings
    chart.findings += _check_kernels(chart, automatic=False, precomputed=True)


# --- tables ------------------------------------------------------------------------------------------------


def _examine_table(X: Any, y: Any, kernels: Any, task: str, limit: int, rng: np.random.Generator) -> _Chart:
    recipes = Recipes.for_table(X, y)
    try:
        table = as_table(X)
        n = count_rows(table)
    except (TypeError, ValueError) as error:
        refusal = Finding("error", "X", str(error), "Give a table, or a stack.")
        return _Chart(0, task, limit, rng, recipes, [refusal])
    if isinstance(table, MultiTable):
        return _examine_tables(table, y, kernels, task, limit, rng)
    return _examine_one(table, y, kernels, isinstance(kernels, str), _Chart(n, task, limit, rng, recipes))


def _examine_tables(X: MultiTable, y: Any, kernels: Any, task: str, limit: int, rng: Any) -> _Chart:
    """Examine several tables as one."""
    flat, views, findings = flatten_tables(X, kernels)
    chart = _Chart(len(X), task, limit, rng, Recipes.for_table(flat, y), joined_with_gaps=X.has_gaps)
    chart = _examine_one(flat, y, views, isinstance(kernels, str), chart)
    chart.findings = findings + [_for_tables(finding) for finding in chart.findings]
    chart.tables = [
        {
            "table": view["name"],
            "columns": view["columns"],
            "samples": view["samples"],
            "missing": view["missing"],
        }
        for view in describe_data(X)["views"]
    ]
    return chart


def _for_tables(finding: Finding) -> Finding:
    """A finding whose remedy is code for one table, for several."""
    if "X = " not in finding.remedy and "X[" not in finding.remedy and "X, y" not in finding.remedy:
        return finding
    done = f", as {finding.command} does" if finding.command.startswith("--") else ""
    return replace(finding, remedy=f"Change its table before the tables are joined{done}.")


def _examine_one(table: Any, y: Any, kernels: Any, automatic: bool, chart: _Chart) -> _Chart:
    rng, recipes = chart.rng, chart.recipes
    chart.findings += _check_table(table, chart.n)
    if chart.findings:
        return chart
    chart.target, findings = _read_target(y, chart)
    chart.findings += findings
    found, findings = find_views(kernels, table, n_columns(table))
    chart.findings += findings
    columns = read_columns(table, rng, recipes)
    chart.rows = chart.sample(len(found.views))
    sample = take_rows(table, chart.rows)
    sample_columns = columns if columns is None else read_columns(sample, rng, recipes)
    text = set() if columns is None else set(columns.others)
    chart.findings += compute_grams(found, sample, fill_gaps(sample, sample_columns), text)
    if columns is not None:
        _examine_columns(chart, columns, found)
    _examine_grams(chart, found, automatic=automatic)
    return chart


def _read_target(y: Any, chart: _Chart) -> tuple[Target, list[Finding]]:
    if chart.task == "survival" or (chart.task == "auto" and looks_censored(y)):
        return examine_survival(y, chart.n)
    return examine_target(y, chart.n, chart.task, chart.recipes)


def _check_table(table: Any, n: int) -> Iterator[Finding]:
    """What makes it pointless to look further."""
    shape = getattr(table, "shape", (n,))
    dtypes = table.dtypes if is_frame(table) else [getattr(table, "dtype", np.dtype(float))]
    if 0 in shape or len(shape) > 2:
        remedy = "Give a table of shape (n_samples, n_features)."
        yield Finding("error", "X", f"there is nothing to learn from in shape {shape}.", remedy)
    elif any(dtype.kind == "c" for dtype in dtypes):
        remedy = "Give both parts as columns: X = np.hstack([np.real(X), np.imag(X)])"
        yield Finding("error", "X", "it holds complex numbers, which kernels of numbers do not read.", remedy)


def _examine_columns(chart: _Chart, columns: Columns, found: ViewedTable) -> None:
    assert chart.target is not None
    chart.n_columns = len(columns.names)
    chart.columns = describe_columns(columns)
    used = found.used
    findings = chart.findings
    gaps = check_absent(columns, found.without_gaps) if chart.joined_with_gaps else None
    findings += check_missing(columns, found.without_gaps) if gaps is None else gaps
    findings += check_refused(columns, chart.columns, found.refused)
    findings += check_dates(columns, chart.columns, used, found.refused)
    findings += check_columns(columns, chart.columns, used)
    findings += check_scales(found, columns)
    findings += check_rows(columns, chart.target, used)
    for part in filter(can_tell, chart.target.leaks):
        skills = predict_alone(columns, part, chart.columns)
        findings += check_columns_alone(columns, part, skills, used)
        findings += check_gaps_alone(columns, part, used)
        for position, skill in skills.items():
            chart.columns[position]["alone"] = max(skill, chart.columns[position]["alone"] or skill)


def _examine_grams(chart: _Chart, found: ViewedTable, automatic: bool) -> None:
    for name, K in found.grams.items():
        examined, findings = examine_kernel(name, K)
        if automatic and examined.shape == "constant":
            continue  # a fit leaves it out
        chart.examined.append(examined)
        chart.findings += findings
    if automatic and found.grams and not chart.examined:
        what = "every kernel is constant: the samples do not differ in the columns."
        chart.findings.append(Finding("error", "X", what, "Check the columns of X."))
    if not automatic:
        chart.findings += check_same_views(found.views)
    chart.findings += _check_kernels(chart, automatic=automatic, precomputed=False)


# --- all kernels together ----------------------------------------------------------------------------------


def _check_kernels(chart: _Chart, *, automatic: bool, precomputed: bool) -> Iterator[Finding]:
    assert chart.target is not None
    target = chart.target.leaks[0]
    known = target.known[chart.rows]
    told = can_tell(target) and bool(known.all())
    part = Target(target.task, target.values[chart.rows], known, target.classes)
    told = told and part.n_distinct > 1
    y = part.values.astype(int) if part.task == "classification" else part.values
    ideal = as_targets(y, len(chart.rows), task=part.task).ideal if told else None
    yield from align(chart.examined, ideal, automatic)
    yield from check_shapes(chart.examined, automatic, precomputed)
    yield from check_mean_diagonals(chart.examined, precomputed)
    if target.task == "classification" and not automatic:
        yield from check_regularizing(chart.examined)
    if told:
        yield from check_kernels_alone(chart.examined, part)
    if chart.n < _FEW_ROWS:
        what = f"{chart.n} are few: scores of cross-validation will differ much from fold to fold."
        folds = "RepeatedKFold" if target.task == "regression" else "RepeatedStratifiedKFold"
        folds = "EventKFold" if chart.target.parts else folds
        yield Finding(
            "note", "rows", what, f"Repeat it, cv={folds}(n_repeats=20), or bring more.", "Bring more."
        )
    elif len(chart.examined) > chart.n:
        what = f"{len(chart.examined)} kernels for {chart.n} rows: chance will choose among them."
        remedy = "{} spreads the weights; or take fewer kernels."
        python, command = (
            remedy.format("model.set_params(norm=2)"),
            remedy.format("Fit with --set norm=2: it"),
        )
        yield Finding("note", "kernels", what, python, command)


# --- memory -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Choice:
    """Parameters of a model that decide how the kernels are represented, and what that needs."""

    parameters: dict[str, str]
    estimate: MemoryEstimate

    @property
    def code(self) -> str:
        stored = ", ".join(f'{k}="{v}"' for k, v in self.parameters.items())
        return f"model.set_params(kernels=KernelBank(model.kernels, {stored}))"

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
    """The memory of a fit on all n rows by kernel representation, and findings about it.

    Every method can have Gram matrices in memory; `mkl` and `ridge` can have them in a file with little
    beside it, and factors of low rank. Beyond 10 000 rows ``gram="auto"`` takes working sets of rows with
    exact kernels (`mkl`) or factors. The dictionary is about Gram matrices in memory; ``choices`` has all
    there are, and ``chosen`` says what ``gram="auto"`` takes.
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
    """What can be had instead of Gram matrices in memory, the least change first."""
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
        f'beyond {LARGEST_DENSE} rows, gram="auto" of mkl learns on working sets of rows with exact kernels '
        "where the support rows are few enough; otherwise, and in ridge, it takes factors of low rank "
        f"({factors} of memory) instead of the kernels."
    )
    remedy = (
        'For exact kernels, model.set_params(kernels=KernelBank(model.kernels, gram="dense")), or '
        f"{others[1].code} ({file} of memory)."
    )
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

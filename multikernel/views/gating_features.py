"""What a gate looks at: columns, or the similarities to the training samples by a kernel; standardised.

The kernel is one of the model's, the mean of all, or one that only the gate reads.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from multikernel._validation import NotFiniteError
from multikernel.kernels import Kernel
from multikernel.kernels._rows import Rows
from multikernel.views.columns import Selection, resolve_columns
from multikernel.views.precomputed import make_bank
from multikernel.views.scaling import Scaling
from multikernel.views.tables import MultiTable, as_table
from multikernel.views.view import View

from .._typing import Array

LABEL = "gating_features"
_KERNEL_MAP = "kernel"


@dataclass(frozen=True, eq=False)
class GatingColumns:
    """Columns of the table, standardised with the numbers of the training samples."""

    selection: Selection
    scaling: Scaling

    def of(self, X: Any) -> Array:
        """The gating features (n_samples, D) of a table."""
        return np.asarray(self.scaling.apply(_numbers(self.selection, X), LABEL))


@dataclass(frozen=True, eq=False)
class GatingKernelMap:
    """The empirical kernel map x ↦ (k(x, x_1), …, k(x, x_n)) of one kernel, or of the mean of several.

    Each kernel is divided by its mean diagonal, so that none counts for its size; then the columns are
    standardised. Prediction needs all training samples: ``bank`` keeps them.
    """

    bank: Any
    sizes: dict[int, float]
    scaling: Scaling

    def of(self, X: Any) -> Array:
        """The gating features (n_samples, n_train)."""
        return np.asarray(self.scaling.apply(_mean_kernel(self.bank.iter_kernels(X), self.sizes), LABEL))


GatingFeatures = GatingColumns | GatingKernelMap


def fit_gating_features(
    wanted: Any, table: Any, bank: Any, names: list[str], Ks: Array, rows: Array
) -> tuple[GatingFeatures, Array]:
    """The features of the training samples (n, D), and how to make them for others.

    Parameters
    ----------
    wanted : None, columns, name of a view or table, "kernel", or a view or kernel of the gate's own
    table : the training samples, in the order of the stack; None where kernels are precomputed
    bank : the fitted bank
    names : the names of the bank's kernels
    Ks : array of shape (n_kernels, n_samples, n_samples)
        Their training Grams.
    rows : array of shape (n_samples,)
        The bank's rows that the stack holds.
    """
    if isinstance(wanted, View | Kernel):
        return _fit_own_kernel(own_view(wanted), table)
    by_name = isinstance(wanted, str) and wanted in names
    by_map = isinstance(wanted, str) and wanted == _KERNEL_MAP and not by_name
    if by_map:
        _require_no_such_column(table)
    several = isinstance(table, MultiTable)
    by_table = several and not by_name and not by_map and isinstance(wanted, str) and wanted in table.names
    if several and not by_map and not by_name and not by_table and wanted is not None:
        raise ValueError(
            f'{LABEL} must be None, "kernel", a View or the name of a view or table where X is several '
            f"tables; got {wanted!r}. The views are {names}, the tables {table.names}."
        )
    by_map = by_map or (several and wanted is None)
    if table is None or by_map:
        return _fit_kernel_map(_mapped_kernels(wanted, names, by_name), bank, Ks, rows)
    if wanted is None:
        selection = columns_read(bank, as_table(table))
    elif by_name:
        selection = bank.views_[names.index(wanted)].selection
    elif by_table:
        selection = resolve_columns(table, None, LABEL, wanted)
    else:
        selection = _resolve(wanted, as_table(table), names)
    values = _numbers(selection, table)
    scaling = Scaling.fit(values)
    return GatingColumns(selection, scaling), np.asarray(scaling.apply(values, LABEL))


def own_view(wanted: View | Kernel) -> View:
    """The view of a kernel that only the gate reads."""
    return wanted if isinstance(wanted, View) else View(LABEL, wanted)


def _fit_own_kernel(view: View, table: Any) -> tuple[GatingFeatures, Array]:
    """The empirical kernel map of a kernel that is none of the bank's."""
    if table is None:
        raise ValueError(
            f"{LABEL} must be the name of a kernel where kernels are precomputed; got a kernel to compute. "
            "Put its matrix among the others, and use gate_only=True with its name."
        )
    bank = make_bank([view])
    Ks = bank.fit_stack(table)
    return _fit_kernel_map([0], bank, Ks, np.arange(Ks.shape[1]))


def _require_no_such_column(table: Any) -> None:
    if _KERNEL_MAP in getattr(table, "columns", ()):
        raise ValueError(
            f'{LABEL}="{_KERNEL_MAP}" means the similarities to the training samples, but X has a column of '
            f'this name. Use {LABEL}=["{_KERNEL_MAP}"] for the column, or rename it.'
        )


def _mapped_kernels(wanted: Any, names: list[str], by_name: bool) -> list[int]:
    if by_name:
        return [names.index(wanted)]
    if wanted is None or (isinstance(wanted, str) and wanted == _KERNEL_MAP):
        return list(range(len(names)))
    raise ValueError(
        f'{LABEL} must be None, "kernel" or the name of a kernel where kernels are precomputed, for there '
        f"are no columns; got {wanted!r}. The kernels are {names}."
    )


def _fit_kernel_map(kernels: list[int], bank: Any, Ks: Array, rows: Array) -> tuple[GatingFeatures, Array]:
    sizes = {k: float(np.einsum("ii->i", Ks[k]).mean()) or 1.0 for k in kernels}
    values = _mean_kernel(((k, Ks[k]) for k in kernels), sizes)
    scaling = Scaling.fit(values)
    return GatingKernelMap(bank.restrict(rows, kernels), sizes, scaling), scaling.apply(values, LABEL)


def _mean_kernel(kernels: Any, sizes: dict[int, float]) -> Array:
    """Σ_k K_k / size_k / (number of kernels)."""
    total: Any = 0.0
    for k, K in kernels:
        total = total + np.asarray(K, float) / (sizes[k] * len(sizes))
    return np.ascontiguousarray(total)


def columns_read(bank: Any, table: Any) -> Selection:
    """The columns that the views read, each once, in the order of the table."""
    read = [view.selection.positions for view in bank.views_]
    if any(positions is None for positions in read):
        return resolve_columns(table, None, LABEL)
    return resolve_columns(table, sorted({p for positions in read for p in positions}), LABEL)


def _resolve(wanted: Any, table: Any, names: list[str]) -> Selection:
    """The columns asked for; one by itself is a table of one column here."""
    if isinstance(wanted, np.ndarray) and wanted.ndim > 1:
        raise ValueError(
            f"{LABEL} must name the columns of X that the gate reads; got an array of shape {wanted.shape}. "
            f"Append its columns to X, give the kernels theirs, and name the new ones in {LABEL}."
        )
    if isinstance(wanted, str) and wanted not in getattr(table, "columns", ()):
        raise ValueError(
            f'{LABEL} must be the name of a view or of a column, or "kernel"; got {wanted!r}. The views are '
            f"{names}."
        )
    single = isinstance(wanted, str | int | np.integer) and not isinstance(wanted, bool)
    return resolve_columns(table, [wanted] if single else wanted, LABEL)


def _numbers(selection: Selection, X: Any) -> Array:
    """The columns as a dense table of finite numbers."""
    taken = selection.take(as_table(X), LABEL)
    try:
        values = Rows(taken, LABEL, one_column=selection.scalar).values
    except NotFiniteError:
        raise
    except ValueError as error:
        raise ValueError(
            f"{error} A gate reads numeric columns: name some with {LABEL}, or take "
            f'{LABEL}="kernel", the similarities to the training samples.'
        ) from error
    return np.asarray(values.toarray() if scipy.sparse.issparse(values) else values)

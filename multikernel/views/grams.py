"""Training rows against themselves: views in groups with the same columns, and the Gram matrix of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._validation import naming, naming_rows
from multikernel.kernels import Chain, Kernel, UnitDiagonal, UnitTrace, UnitVariance
from multikernel.kernels._rows import Pair, Rows
from multikernel.kernels.together import Joined, joins, quadratic_forms, write_together
from multikernel.kernels.transforms import inverse_roots
from multikernel.rows.tables import take_rows
from multikernel.views.columns import Selection, resolve_columns, rows_that_have
from multikernel.views.scaling import AnyScaling, scale_rows
from multikernel.views.view import View

_FEW_COLUMNS = 32  # of L1 distances that are taken twice: for a variance, and to write a kernel
_FLAT = 1e-5  # of the largest k(x, x): kernels that vary less are looked at as a whole


class TrainPair(Pair):
    """Training rows against themselves, with the columns they were taken from and how these were scaled.

    `present`: positions of the rows in the training table; None where they are all rows of it.
    """

    def __init__(
        self,
        rows: Rows,
        selection: Selection,
        scaling: AnyScaling | None,
        present: np.ndarray | None,
        keep: bool,
    ) -> None:
        super().__init__(rows, rows, keep)
        self.selection = selection
        self.scaling = scaling
        self.present = present

    def naming_rows(self) -> AbstractContextManager[None]:
        """Let an error raised inside name the rows of the training table."""
        return naming_rows(self.present)


def pairs_by_columns(
    views: list[View], table: Any, *, keep: bool, allow_absent: bool
) -> Iterator[tuple[list[int], TrainPair]]:
    """Views in groups with equal columns and scaling: a group shares its rows, and products if `keep`.

    With `allow_absent`, of a table whose rows lack views in part, each group has the rows that have it.
    """
    groups: dict[tuple[Selection, bool | str, bool], list[int]] = {}
    for position, view in enumerate(views):
        selection = resolve_columns(table, view.columns, f"view {view.name!r}", view.table)
        groups.setdefault((selection, view.standardized, view.encode), []).append(position)
    for (selection, how, encode), members in groups.items():
        label = f"view {views[members[0]].name!r}"
        taken = selection.take(table, label)
        present = _present(taken, label) if allow_absent else None
        if present is not None:
            taken = take_rows(taken, present)
        with naming_rows(present):
            rows, scaling = scale_rows(taken, label, how, encode=encode, one_column=selection.scalar)
        pair = TrainPair(rows, selection, scaling, present, keep=keep and len(members) > 1)
        yield members, pair


def _present(taken: Any, label: str) -> np.ndarray | None:
    """Positions of the rows that have the view; None where all have it."""
    present = rows_that_have(taken)
    if present is not None and not present.size:
        raise ValueError(
            f"{label} is missing from every training sample, so that nothing can be learned about it. Leave "
            "the view out, or look for what went wrong where its columns were read."
        )
    return present


# --- Gram matrices, those of a group together where that can be -----------------------------------


@dataclass(frozen=True)
class Gram:
    """A kernel with numbers for parameters; whether its Gram is in its place.

    `joined`: the same as it is written with others, those of its `group`, after the steps `chain`, where that
    can be. `chain`: the steps of the view, fitted without the Gram; None where they need it.
    """

    kernel: Kernel
    joined: Joined | None = None
    chain: Chain | None = None
    group: tuple[Joined, ...] = ()
    is_written: bool = False


def begin_grams(
    views: Sequence[View], pair: TrainPair, dtype: Any, slots: Sequence[np.ndarray] | None
) -> list[Gram]:
    """Fit the kernels of a group of views, and write the Grams that can be written together into `slots`.

    Without slots, which must be different arrays of the `dtype`, `finish_gram` writes one after the other.
    """
    grams = [fit_kernel(view, pair, dtype) for view in views]
    group = tuple(gram.joined for gram in grams if gram.joined is not None)
    if group and slots is not None:
        joined = [slot for slot, gram in zip(slots, grams, strict=True) if gram.joined is not None]
        write_together(pair.left, group, dict(enumerate(joined)))
    return [
        gram if gram.joined is None else replace(gram, group=group, is_written=slots is not None)
        for gram in grams
    ]


def fit_kernel(view: View, pair: TrainPair, dtype: Any) -> Gram:
    """Fit the kernel of a view; its steps too, where its Gram can be written with those of others."""
    with _naming(view, pair):
        kernel = view.kernel.fit(pair.left)
        if not joins(kernel, pair.left, dtype):
            return Gram(kernel)
        chain = _unit_diagonal(view, kernel, pair.left)
    return Gram(kernel, Joined(kernel, None if chain is None else _roots(chain)), chain)


def _naming(view: View, pair: TrainPair) -> AbstractContextManager[None]:
    """Let an error raised inside speak of the view, and of its rows as they are."""
    pair.left.label = f"view {view.name!r}" + (" (standardised)" if pair.scaling is not None else "")
    return naming(f"view {view.name!r}")


def fits_without_gram(view: View) -> bool:
    """Whether the steps of a view are a unit diagonal or variance at most, which no Gram is needed for."""
    return len(view.steps) <= 1 and all(type(step) in (UnitDiagonal, UnitVariance) for step in view.steps)


def fit_without_grams(views: Sequence[View], pair: TrainPair, dtype: Any) -> list[Gram] | None:
    """The kernels of a group and their steps, all fitted, and no Gram written; None where that cannot be."""
    if not all(fits_without_gram(view) for view in views):
        return None
    grams = [fit_kernel(view, pair, dtype) for view in views]
    joined = [gram.joined for gram in grams if gram.joined is not None]
    if len(joined) < len(grams):
        return None
    scaled = [k for k, view in enumerate(views) if any(type(step) is UnitVariance for step in view.steps)]
    if scaled and _takes_long(joined, pair.left):
        return None
    sums = quadratic_forms(pair.left, [joined[k] for k in scaled], np.ones(len(pair.left)))
    for k, total in zip(scaled, sums, strict=True):
        diagonal = joined[k].diagonal(pair.left)
        step = UnitVariance().fit_means(diagonal, float(total) / len(diagonal) ** 2)
        scale = Joined(joined[k].kernel, factor=step._fitted(step.factor))
        grams[k] = replace(grams[k], joined=scale, chain=Chain((step,)))
    return grams if all(needs_no_gram(gram, pair.left) for gram in grams) else None


def _takes_long(joined: Sequence[Joined], rows: Rows) -> bool:
    """Whether to compute these kernels once more would take longer than to write them all."""
    by_distance = [one for one in joined if one.kernel._written_from(rows) == "cityblock"]
    return bool(by_distance) and rows.values.shape[1] > _FEW_COLUMNS


def _unit_diagonal(view: View, kernel: Kernel, rows: Rows) -> Chain | None:
    """The steps of a view where they are a unit diagonal at most, fitted; None for other steps."""
    if not view.steps:
        return Chain()
    if len(view.steps) > 1 or type(view.steps[0]) is not UnitDiagonal:
        return None
    return Chain((UnitDiagonal(inverse_roots(kernel.evaluate_diagonal(rows))),))


def _roots(chain: Chain) -> np.ndarray | None:
    """What entries are multiplied with on either side; None where it is 1, as of Gaussians."""
    if not chain.transforms:
        return None
    (step,) = chain.transforms
    assert isinstance(step, UnitDiagonal) and step.inverse_roots is not None
    return None if np.all(step.inverse_roots == 1.0) else step.inverse_roots


def finish_gram(view: View, pair: TrainPair, slot: np.ndarray, gram: Gram) -> Chain:
    """Write the Gram into `slot` unless it is there, and take it through the steps of the view."""
    with _naming(view, pair):
        if gram.joined is None:
            gram.kernel.evaluate(pair, slot)
        elif not gram.is_written:  # the same numbers as with others
            place = next(k for k, joined in enumerate(gram.group) if joined is gram.joined)
            write_together(pair.left, gram.group, {place: slot})
        return Chain(view.steps).fit_train(slot, overwrite=True)[0] if gram.chain is None else gram.chain


def is_sound(view: View, gram: Gram, K: np.ndarray) -> bool:
    """Whether a Gram needs no check: written as others of its group, rescaled at most, and not constant.

    It is then symmetric bit by bit, finite, and that of a positive semidefinite kernel.
    """
    scales = (UnitDiagonal, UnitTrace, UnitVariance)
    if gram.joined is None or any(type(step) not in scales for step in view.steps):
        return False
    return _varies(K[0], K.diagonal())


def _varies(row: np.ndarray, diagonal: np.ndarray) -> bool:
    """Whether a kernel with this row and diagonal is clearly not constant."""
    if not (np.isfinite(diagonal).all() and diagonal.min() >= 0.0 and diagonal.max() > 0.0):
        return False
    return row.size == 1 or float(np.ptp(row) + np.ptp(diagonal)) > _FLAT * float(diagonal.max())


def needs_no_gram(gram: Gram, rows: Rows) -> bool:
    """Whether all that a fit wants to know of a Gram is known before it is written, and it is sound."""
    if gram.joined is None or gram.chain is None or len(rows) < 2:
        return False
    return _varies(gram.joined.some_rows(rows, np.zeros(1, np.intp))[0], gram.joined.diagonal(rows))

"""Permutation importance: what a score loses when columns are permuted over the samples.

Permuted columns change the kernels of the views that read them and no others. Where the scores of a model are
sums over kernels, what each kernel adds is kept, and only the kernels that are affected are computed again.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing, gen_batches

from ..._typing import Array
from ..._validation import is_frame
from ...core.estimator import KernelEstimator
from ...core.fitted import DualKernels, FactorKernels, FittedKernels
from ...core.folds import check_one_score, check_score_suits, random_source
from ...rows import count_rows, take_rows
from ...views import KernelBank, LowRankBank
from ..repeated import rows_of_other_groups
from ..subject import Subject, check_known_labels
from .features import Data, Feature, Group

_BATCH_ROWS = 2048


@dataclass(frozen=True, eq=False)
class Permuted:
    """The score of the samples as they are, and what is lost in each repeat, (n_groups, n_repeats)."""

    score: float
    losses: Array


@dataclass(frozen=True)
class Scoring:
    """A score of a model on samples with targets."""

    scorer: Callable[..., Any]
    y: Any
    sample_weight: Any

    def __call__(self, model: Any, table: Any) -> float:
        weights = {} if self.sample_weight is None else {"sample_weight": self.sample_weight}
        value = self.scorer(model, table, self.y, **weights)
        try:
            score = float(value)
        except (TypeError, ValueError) as error:
            raise TypeError(f"scoring must give one number; got {value!r}.") from error
        if not np.isfinite(score):
            raise ValueError(
                f"scoring must give a finite score; got {score}. Use another score, or more samples."
            )
        return score


def make_scoring(subject: Subject, scoring: Any, y: Any, sample_weight: Any) -> Scoring:
    """The score that was asked for, or the model's own."""
    check_one_score(scoring)
    if y is not None and subject.task in ("classification", "regression") and np.ndim(y) == 1:
        check_score_suits(scoring, y, classifier=subject.task == "classification")
    if subject.task == "classification" and np.ndim(y) == 1:
        check_known_labels(np.asarray(y), subject.final.classes_)
    return Scoring(check_scoring(subject.model, scoring=scoring), y, sample_weight)


def permute(
    subject: Subject, data: Data, groups: Sequence[Group], scoring: Scoring, numbers: Array | None = None, *,
    n_repeats: int, random_state: Any, n_jobs: int | None,
) -> Permuted:  # fmt: skip
    """Score the model with each group permuted; all groups have the permutations of scikit-learn.

    With the `numbers` of groups of samples, these are exchanged as a whole.
    """
    seed = random_source(random_state).randint(np.iinfo(np.int32).max + 1)
    if numbers is None:
        orders = permutations(data.n, n_repeats, seed)
    else:
        rng = np.random.RandomState(seed)
        orders = [rows_of_other_groups(numbers, rng) for _ in range(n_repeats)]
    reused = reuse(subject, data.table)
    score = scoring(subject.model if reused is None else reused.model(data.table, set()), data.table)
    n_chunks = min(effective_n_jobs(n_jobs), len(groups))
    chunks = [groups[start::n_chunks] for start in range(n_chunks)]
    found = Parallel(n_jobs=n_jobs)(
        delayed(_permuted_scores)(subject, data, chunk, scoring, orders, reused) for chunk in chunks
    )
    scores = np.empty((len(groups), n_repeats))
    for start, part in enumerate(found):
        scores[start::n_chunks] = part
    return Permuted(score, score - scores)


def permutations(n: int, n_repeats: int, seed: int) -> list[Array]:
    """Orders of n samples, as ``sklearn.inspection.permutation_importance`` draws them for every column."""
    rng = np.random.RandomState(seed)
    shuffled, order, orders = np.arange(n), np.arange(n), []
    for _ in range(n_repeats):
        rng.shuffle(shuffled)
        order = order[shuffled]  # it permutes what it has permuted before
        orders.append(order)
    return orders


def _permuted_scores(
    subject: Subject, data: Data, groups: Sequence[Group], scoring: Scoring, orders: list[Array],
    reused: Reused | None,
) -> Array:  # fmt: skip
    lacks = getattr(subject.final, "missing_", "error") != "error"
    scores = np.empty((len(groups), len(orders)))
    for place, group in enumerate(groups):
        affected = None if reused is None else reused.affected(group)
        has = {feature: data.has(feature) if lacks else None for feature in group.members}
        for repeat, order in enumerate(orders):
            if affected is not None and not affected and repeat:  # no kernel with weight reads them
                scores[place, repeat] = scores[place, 0]
                continue
            table = permuted_table(data, {f: within(order, has[f]) for f in group.members})
            model = subject.model if reused is None else reused.model(table, affected or set())
            scores[place, repeat] = scoring(model, table)
    return scores


def within(order: Array, has: Array | None) -> Array:
    """An order of the samples that have a view, the others staying where they are.

    Rows of other groups, which are no order, are taken where both samples have the view.

    Examples
    --------
    >>> within(np.array([2, 0, 3, 1]), np.array([True, False, True, True]))
    array([2, 1, 0, 3])
    """
    if has is None or has.all():
        return order
    result = np.arange(order.size)
    if np.bincount(order, minlength=order.size).max() > 1:
        return np.where(has & has[order], order, result)
    result[has] = order[has[order]]
    return result


# ------------------------------------------------------------------ tables
def permuted_table(data: Data, orders: dict[Feature, Array]) -> Any:
    """A new table, or several, with the entries of some features in other orders."""
    by_table: dict[str | None, dict[int | None, Array]] = {}
    for feature, order in orders.items():
        by_table.setdefault(feature.table, {})[feature.position] = order
    if None in by_table:
        return _permuted(data.table, by_table[None])
    tables = copy.copy(data.table)
    changed = {name: _permuted(data.table[name], columns) for name, columns in by_table.items() if name}
    tables.tables = {**data.table.tables, **changed}
    return tables


def _permuted(table: Any, columns: dict[int | None, Array]) -> Any:
    if None in columns:
        taken = take_rows(table, columns[None])
        return taken.set_axis(table.index) if hasattr(table, "iloc") else taken
    chosen = {int(position): order for position, order in columns.items() if position is not None}
    if scipy.sparse.issparse(table):
        return _permuted_sparse(table, chosen)
    if is_frame(table):
        result = table.copy(deep=False)
        for position, order in chosen.items():
            result.isetitem(position, table.iloc[order, position].set_axis(table.index))
        return result
    result = np.array(table)
    for position, order in chosen.items():
        result[:, position] = table[order, position]
    return result


def _permuted_sparse(table: Any, columns: dict[int, Array]) -> Any:
    """Entries of a column move to other rows: their number stays, but for rows that are taken twice."""
    if any(np.bincount(order).max() > 1 for order in columns.values()):
        changed = table.tolil(copy=True)
        for position, order in columns.items():
            changed[:, [position]] = table.tocsc()[:, [position]][order]
        return changed.tocsr()
    result = table.tocsc(copy=True)
    for position, order in columns.items():
        own = slice(result.indptr[position], result.indptr[position + 1])
        result.indices[own] = np.argsort(order)[result.indices[own]]
    result.has_sorted_indices = False
    return result.tocsr()


# ------------------------------------------------------------------ only the kernels that are affected
def reuse(subject: Subject, table: Any) -> Reused | None:
    """What the kernels of a model add to its scores, kept; None where they are not such sums."""
    final = subject.final
    if (
        subject.steps
        or not isinstance(final, KernelEstimator)
        or type(final)._scores is not KernelEstimator._scores
    ):
        return None
    fitted = getattr(final, "_fitted", None)
    if not isinstance(fitted, FittedKernels) or not all(map(_is_known, fitted.parts)):
        return None
    if _with_final(subject.model, final, final) is None:
        return None
    return Reused(subject.model, final, fitted, [_kernel_scores(part, table) for part in fitted.parts])


def _is_known(part: Any) -> bool:
    return type(part) in (DualKernels, FactorKernels) and type(part.bank) in (KernelBank, LowRankBank)


def _kernel_scores(part: Any, table: Any) -> dict[int, Array]:
    """What each kernel in use adds, (n, n_machines)."""
    found: dict[int, list[Array]] = {}
    for rows in gen_batches(count_rows(table), _BATCH_ROWS):
        for m, scores in part.kernel_scores(_safe_indexing(table, rows)):
            found.setdefault(m, []).append(scores)
    return {m: np.concatenate(blocks) for m, blocks in found.items()}


@dataclass(frozen=True, eq=False)
class Reused:
    """A model, and the scores that each of its kernels adds at some samples."""

    whole: Any
    final: Any
    fitted: FittedKernels
    scores: list[dict[int, Array]]  # of each part, by the number of the kernel

    def affected(self, group: Group) -> set[int] | None:
        """The kernels with weight that read some of the group."""
        readers = group.readers
        assert readers is not None
        return {
            m for part in self.fitted.parts for m in part.bank.active_ if part.bank.view_names_[m] in readers
        }

    def model(self, table: Any, affected: set[int]) -> Any:
        """The model, which takes the scores of other kernels at this very table from what is kept."""
        final = with_scores(self.final, table, lambda: self._scores(table, affected))
        return _with_final(self.whole, self.final, final)

    def _scores(self, table: Any, affected: set[int]) -> Array:
        total: Any = 0.0
        for part, kept in zip(self.fitted.parts, self.scores, strict=True):
            new = _kernel_scores(only_kernels(part, affected), table) if affected else {}
            for m, scores in kept.items():
                total = total + new.get(m, scores)
        return np.asarray(total)


def with_scores(final: Any, table: Any, scores: Callable[[], Array]) -> Any:
    """The estimator with other scores, without intercept, at this very table."""
    changed = object.__new__(type(final))

    def answer(X: Any) -> Any:
        return scores() if X is table else type(final)._scores(final, X)

    changed.__dict__.update(final.__dict__)
    changed.__dict__["_scores"] = answer
    return changed


def only_kernels(part: Any, kernels: set[int]) -> Any:
    """A part of a model that evaluates some of its kernels."""
    bank = copy.copy(part.bank)
    bank.active_ = tuple(m for m in part.bank.active_ if m in kernels)
    return replace(part, bank=bank)


def _with_final(model: Any, final: Any, other: Any) -> Any:
    """The model with another estimator on kernels; None where it is not known how it reads that."""
    if model is final:
        return other
    if not hasattr(model, "best_estimator_"):
        return None
    inner = _with_final(model.best_estimator_, final, other)
    if inner is None:
        return None
    copied = object.__new__(type(model))
    copied.__dict__.update(model.__dict__)
    copied.best_estimator_ = inner
    return copied

"""Samples that lack views: their kernels are completed, at fit and for new samples.

A sample lacks a view where all columns of the view are missing in its row, or where its row of a precomputed
kernel is NaN. The banks fit kernel, scaling and transforms of each view on the rows that have it, and yield 0
wherever one of two samples lacks it. A filling is what is put instead of these zeros: it is fitted on
the training stack, which it completes in place, and completes rows of new samples with what it kept:

======== =======================================================================================
zero     nothing; the weight learner rescales (``missing="renormalize"``)
mean     φ_m of a sample that lacks view m is the mean of φ_m over those that have it
mutual   its expectation given the other views, by the em algorithm (``missing="complete"``)
======== =======================================================================================

Every completed training stack is positive semidefinite, and a training sample that comes back as a new one
has the row that it had at fit. `CompletedBank` is a bank around a bank, which estimators use as any other.

Kernel completion estimates each view from all the others. The kernels are scaled to mean diagonal 1 on the
samples that have them: Q_m = K_m / s_m, known on the block vv of the samples that have view m and free
elsewhere. With KL(Q, M) = tr(M⁻¹Q) − log det(M⁻¹Q) − n, the divergence of two Gaussians with these
covariances, and a small λ > 0,

    minimise  J(Q, M) = λ KL(I, M) + Σ_m KL(Q_m, M)   over the free parts of the Q_m and over M ≻ 0.

Given the Q, M = (λI + Σ_m Q_m) / (P + λ) for P kernels. Given all but Q_m, the best Q_m and M together are
those of the e step of Tsuda, Akaho & Asai (2003) with the other views as the model, N = λI + Σ_{k≠m} Q_k:

    Q_hv = B K_vv,   Q_hh = B K_vv Bᵀ + S,   B = N_hv N_vv⁻¹,   S = (N_hh − B N_vh) / (P + λ − 1).

So the views are completed in turn, and J never rises; the sweeps are extrapolated where that lowers J further
(SQUAREM: Varadhan & Roland 2008). λI keeps N_vv invertible. It also puts the variance λ / (P + λ − u_i), u_i
the number of kernels that sample i lacks, on the diagonal of its absent kernels: noise of its own that no
other sample has a share in. It is left out of the completed kernel, which stays positive semidefinite without
it, and thus equals what the same sample gets when it comes as a new one.

A new sample with similarities q_k to the training samples in the views k that it has: with the row r of M,
which is (P + λ) r = Σ_k q_k, and q_m = T_m r in the views U that it lacks, where

    T_m r = (W r_v, B W r_v + r_h − B r_v),   W = K_vv M_vv⁻¹ (K scaled),

so that r solves ((P + λ) I − Σ_{m∈U} T_m) r = Σ_{k∉U} q_k: one linear system for all samples that lack the
same views. In a view that the sample has, its similarity to training samples that lack it is B q_v.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.linalg

from multikernel._validation import check_choice
from multikernel.views.bank import Bank
from multikernel.views.columns import check_positions, require_some_view
from multikernel.views.memory import MemoryEstimate

FILLINGS = ("zero", "mean", "mutual")
RIDGE = 0.1  # λ for each kernel
_TOLERANCE = 1e-7  # the largest change of an entry in a sweep, kernels having mean diagonal 1
_MAX_SWEEPS = 300


class CompletedBank(Bank):
    """Kernels of samples some of which lack views.

    Parameters
    ----------
    bank : KernelBank or PrecomputedBank
        Not fitted yet.
    fill : {"zero", "mean", "mutual"}
        What stands where one of two samples lacks a view: 0; the mean of the samples that have the view in
        the place of the absent sample; or its expectation given the other views.

    Attributes
    ----------
    present_ : ndarray of shape (n_train, m)
        Bool.
        Which training samples have which view.
    filling_ : MeanFilling, MutualFilling or None
    view_names_, n_train_, n_kernels_, active_, memory_
        As those of the bank.

    Examples
    --------
    >>> from multikernel.kernels import Linear
    >>> from multikernel.views import KernelBank
    >>> views = [("one", Linear(), [0]), ("two", Linear(), [1])]
    >>> X = np.array([[1.0, 1.0], [2.0, np.nan], [3.0, 3.0]])
    >>> CompletedBank(KernelBank(views), "mean").fit_stack(X)[1]
    array([[ 1.,  0., -1.],
           [ 0.,  0.,  0.],
           [-1.,  0.,  1.]])
    """

    def __init__(self, bank: Any, fill: str) -> None:
        check_choice("fill", fill, FILLINGS)
        self.bank = copy.copy(bank)
        self.bank.allow_absent = True
        self.fill = fill

    @property
    def view_names_(self) -> list[str]:  # type: ignore[override]
        return list(self.bank.view_names_)

    @property
    def views_(self) -> Any:
        return self.bank.views_

    @property
    def n_train_(self) -> int:
        return int(self.bank.n_train_)

    @property
    def n_kernels_(self) -> int:
        return int(self.bank.n_kernels_)

    @property
    def memory_(self) -> MemoryEstimate:
        return self.bank.memory_

    # --- fit -------------------------------------------------------------------------------------

    def fit_stack(self, X: Any, rows: np.ndarray | None = None) -> np.ndarray:
        """Fit, and return the completed training Grams: Ks of shape (m, n_samples, n_samples).

        Parameters
        ----------
        X : as for the bank; samples may lack views
        rows : ndarray of int, default=None
            The samples of a precomputed stack that count. The others are as if they were not there, but the
            rows of new samples still hold their columns.
        """
        Ks = self.bank.fit_stack(X)
        has = self.bank.presence(X)
        self._rows = np.arange(self.n_train_) if rows is None else rows
        if self._rows.size < self.n_train_:
            Ks = np.ascontiguousarray(Ks[:, self._rows][:, :, self._rows])
            has = has[self._rows]
            self.bank = self.bank.restrict(self._rows, np.arange(self.n_kernels_))
        require_some_view(has)
        self.present_ = has
        self.active_ = tuple(range(self.n_kernels_))
        self._support = np.arange(len(has))
        self.filling_: MeanFilling | MutualFilling | None = None
        if self.fill != "zero":
            Ks = Ks if Ks.flags.writeable and not _is_given(Ks, X) else Ks.copy()
            self.filling_ = (MeanFilling if self.fill == "mean" else MutualFilling).fit(Ks, has)
        return Ks

    # --- predict ---------------------------------------------------------------------------------

    def presence(self, X: Any) -> np.ndarray:
        """Whether each sample has each view, (n_test, m); a sample that lacks all of them is refused."""
        has = np.asarray(self.bank.presence(X))
        require_some_view(has)
        return has

    def iter_kernels(self, X: Any) -> Iterator[tuple[int, np.ndarray]]:
        """Yield ``(index, K)`` for each active kernel, completed; K (n_test, n_train or n_support)."""
        has = self.presence(X)
        if isinstance(self.filling_, MutualFilling):
            return self._iterate_together(X, has, self.filling_)
        return self._iterate(X, has)

    def _iterate(self, X: Any, has: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        for index, K in self.bank.iter_kernels(X):
            if isinstance(self.filling_, MeanFilling):
                K = self.filling_.complete(index, K, has[:, index], self._support)
            yield index, K

    def _iterate_together(
        self, X: Any, has: np.ndarray, filling: MutualFilling
    ) -> Iterator[tuple[int, np.ndarray]]:
        Ks = np.empty((self.n_kernels_, len(has), len(self.present_)))
        for index, K in self.bank.iter_kernels(X):
            Ks[index] = K
        filling.complete(Ks, has)
        for index in self.active_:
            yield index, Ks[index][:, self._support]

    def restrict(self, support: Any, active: Any) -> CompletedBank:
        """A compact bank that yields the training samples `support` of the kernels `active` only.

        Where kernels are completed from others, all samples and kernels are kept.
        """
        compact = copy.copy(self)
        rows = check_positions("support", support, len(self.present_))
        kernels = sorted(set(check_positions("active", active, self.n_kernels_).tolist()))
        compact._support = rows
        compact.active_ = tuple(kernels)
        kept = rows
        if isinstance(self.filling_, MutualFilling):
            kept, kernels = np.arange(len(self.present_)), list(range(self.n_kernels_))
        elif isinstance(self.filling_, MeanFilling) and self.filling_.needs_all_columns(
            rows, np.array(kernels)
        ):
            kept = np.arange(len(self.present_))
        compact.bank = self.bank.restrict(self._rows[kept], kernels)
        return compact

    def only(self, active: Sequence[int]) -> CompletedBank:
        """The same bank, yielding the kernels `active` and no others."""
        part = super().only(active)
        if not isinstance(self.filling_, MutualFilling):
            part.bank = self.bank.only(active)
        return part


def _is_given(Ks: np.ndarray, X: Any) -> bool:
    """Whether the stack is the caller's own memory."""
    return isinstance(X, np.ndarray) and bool(np.may_share_memory(Ks, X))


# --- fillings -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MeanFilling:
    """k_m(x, j) with the mean of φ_m over the samples that have view m instead of an absent φ_m."""

    present: np.ndarray  # (n, m), which training samples have which view
    means: np.ndarray  # (m, n), of those that have the view to each training sample, completed

    @classmethod
    def fit(cls, Ks: np.ndarray, present: np.ndarray) -> MeanFilling:
        """Complete the training stack Ks (m, n, n), 0 where a sample lacks the view, in place."""
        means = np.empty((len(Ks), len(present)))
        for m, K in enumerate(Ks):
            means[m] = _fill_mean(K, present[:, m])
        return cls(present, means)

    def needs_all_columns(self, support: np.ndarray, active: np.ndarray) -> bool:
        """Whether similarities to these samples need those to all others: where one of them lacks a view."""
        return not bool(self.present[np.ix_(support, active)].all())

    def complete(self, m: int, K: np.ndarray, has: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Rows of kernel m at the training samples `columns`; `has` says which rows have the view.

        K is 0 where one of two samples lacks the view; its columns are all training samples, or `columns`
        where none of these lacks a view.
        """
        lacking = ~self.present[columns, m]
        if K.shape[1] == len(self.present):
            to_mean = K.sum(axis=1) / self.present[:, m].sum()
            K = K[:, columns]
            K[:, lacking] = to_mean[:, None]
        K[~has] = self.means[m, columns]
        return K


def _fill_mean(K: np.ndarray, has: np.ndarray) -> np.ndarray:
    """Complete a training Gram in place; returns the mean similarity to each sample, (n,)."""
    v, h = np.flatnonzero(has), np.flatnonzero(~has)
    means: np.ndarray = K[v].mean(axis=0, dtype=np.float64)
    means[h] = means[v].mean()
    if h.size:
        K[h] = means
        K[:, h] = means[:, None]
    return means


# --- completion from the other views -----------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ViewMap:
    """What completes one view of new samples: B (n_h, n_v) and W (n_v, n_v) of the module's formulas."""

    v: np.ndarray
    h: np.ndarray
    B: np.ndarray
    W: np.ndarray

    def apply(self, r: np.ndarray) -> np.ndarray:
        """T r of each row r of a table (k, n)."""
        known = r[:, self.v]
        image = known @ self.W.T
        result = np.empty_like(r)
        result[:, self.v] = image
        result[:, self.h] = (image - known) @ self.B.T + r[:, self.h]
        return result


@dataclass(frozen=True, eq=False)
class MutualFilling:
    """Kernels completed from the other views; see the module for the formulas."""

    present: np.ndarray  # (n, m), which training samples have which view
    scales: np.ndarray  # (m,), the mean self-similarity of the samples that have the view
    maps: tuple[ViewMap, ...]
    ridge: float  # λ
    history: tuple[float, ...] = field(repr=False)  # J after each accepted round, up to a constant
    change: float  # of an entry in the last sweep, the largest; 0 where nothing was missing

    @classmethod
    def fit(cls, Ks: np.ndarray, present: np.ndarray) -> MutualFilling:
        """Complete the training stack Ks (m, n, n), 0 where a sample lacks the view, in place."""
        n_kernels, ridge = len(Ks), RIDGE * len(Ks)
        scales = np.array([_mean_diagonal(K, has) for K, has in zip(Ks, present.T, strict=True)])
        Q = np.stack([np.asarray(K, np.float64) / scale for K, scale in zip(Ks, scales, strict=True)])
        noise = ridge / (n_kernels + ridge - (~present).sum(axis=1))
        completion = Completion(Q, present, ridge)
        if not present.all():
            MeanFilling.fit(Q, present)
            for q, has in zip(Q, present.T, strict=True):
                q[~has, ~has] += noise[~has]
            completion.run()
        N = Q.sum(axis=0)
        N[np.diag_indices(len(N))] += ridge
        M = N / (n_kernels + ridge)
        maps = tuple(_view_map(q, M, has) for q, has in zip(Q, present.T, strict=True))
        for m in np.flatnonzero(~present.all(axis=0)):
            h = ~present[:, m]
            Q[m, h, h] -= noise[h]
            Ks[m, h] = Q[m, h] * scales[m]
            Ks[m][:, h] = Q[m][:, h] * scales[m]
        return cls(present, scales, maps, ridge, tuple(completion.history), completion.change)

    @property
    def converged(self) -> bool:
        """Whether the last sweep changed nothing by more than the tolerance."""
        return self.change <= _TOLERANCE

    def complete(self, Ks: np.ndarray, has: np.ndarray) -> np.ndarray:
        """Rows of new samples Ks (m, n_test, n), 0 where one of two lacks the view, completed in place."""
        for K, scale, view in zip(Ks, self.scales, self.maps, strict=True):
            K /= scale
            K[:, view.h] = K[:, view.v] @ view.B.T
        patterns, which = np.unique(has, axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            if not pattern.all():
                rows = np.flatnonzero(which.ravel() == number)
                self._complete_alike(Ks, rows, np.flatnonzero(~pattern))
        Ks *= self.scales[:, None, None]
        return Ks

    def _complete_alike(self, Ks: np.ndarray, rows: np.ndarray, lacking: np.ndarray) -> None:
        """The same for rows that all lack the views `lacking`."""
        n = len(self.present)
        system = np.zeros((n, n))
        for m in lacking:
            system -= self.maps[m].apply(np.eye(n)).T
        system[np.diag_indices(n)] += len(self.maps) + self.ridge
        known = np.delete(np.arange(len(self.maps)), lacking)
        r = np.linalg.solve(system, Ks[np.ix_(known, rows)].sum(axis=0).T).T
        for m in lacking:
            Ks[m, rows] = self.maps[m].apply(r)


class Completion:
    """The descent of J over the free parts of kernels Q (m, n, n), which are completed in place."""

    def __init__(self, Q: np.ndarray, present: np.ndarray, ridge: float) -> None:
        self.Q, self.ridge = Q, ridge
        self.incomplete = [int(m) for m in np.flatnonzero(~present.all(axis=0))]
        self.places = {
            m: (np.flatnonzero(present[:, m]), np.flatnonzero(~present[:, m])) for m in self.incomplete
        }
        self.history: list[float] = []
        self.change = 0.0

    def run(self) -> None:
        """Sweep until nothing changes; of three sweeps, the third starts where the first two point to."""
        J = self._sweep()
        self.history.append(J)
        for _ in range(_MAX_SWEEPS // 3):
            start = self._state()
            self._sweep()
            middle = self._state()
            J = self._sweep()
            end = self._state()
            self.change = float(np.abs(end - middle).max())
            if self.change > _TOLERANCE:
                J = self._extrapolate(start, middle, end, J)
            self.history.append(J)
            if self.change <= _TOLERANCE:
                return

    def _extrapolate(self, start: np.ndarray, middle: np.ndarray, end: np.ndarray, J: float) -> float:
        """A step along the last two sweeps and a sweep from there, if J falls by it; J of what is kept."""
        first = middle - start
        bend = end - middle - first
        length = max(1.0, float(np.linalg.norm(first)) / max(float(np.linalg.norm(bend)), 1e-300))
        try:
            self._set_state(start + 2.0 * length * first + length**2 * bend)
            reached = self._sweep()
        except np.linalg.LinAlgError:  # the step has left the positive definite kernels
            reached = np.inf
        if reached <= J:
            return reached
        self._set_state(end)
        return J

    def _sweep(self) -> float:
        """Complete each view once from the others; J, without what does not change, afterwards."""
        n = self.Q.shape[1]
        total = len(self.Q) + self.ridge
        N = self.Q.sum(axis=0)
        N[np.diag_indices(n)] += self.ridge
        log_volume = 0.0
        for m in self.incomplete:
            v, h = self.places[m]
            N -= self.Q[m]
            B, root = conditional(N / (total - 1.0), v, h)
            known = self.Q[m][np.ix_(v, v)]
            cross = B @ known
            self._put(m, cross, cross @ B.T + root @ root.T)
            N += self.Q[m]
            log_volume += 2.0 * float(np.log(np.diagonal(root)).sum())
        root = np.linalg.cholesky(N / total)
        return total * 2.0 * float(np.log(np.diagonal(root)).sum()) - log_volume

    def _put(self, m: int, cross: np.ndarray, own: np.ndarray) -> None:
        v, h = self.places[m]
        self.Q[m][np.ix_(h, v)] = cross
        self.Q[m][np.ix_(v, h)] = cross.T
        self.Q[m][np.ix_(h, h)] = 0.5 * (own + own.T)

    def _state(self) -> np.ndarray:
        """The free parts, as one vector."""
        return np.concatenate([self.Q[m][self.places[m][1]].ravel() for m in self.incomplete])

    def _set_state(self, state: np.ndarray) -> None:
        start = 0
        for m in self.incomplete:
            v, h = self.places[m]
            rows = state[start : start + h.size * len(self.Q[m])].reshape(h.size, -1)
            self._put(m, rows[:, v], rows[:, h])
            start += rows.size


def conditional(M: np.ndarray, v: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """B = M_hv M_vv⁻¹, and the Cholesky factor of M_hh − B M_vh.

    Examples
    --------
    >>> B, root = conditional(np.array([[4.0, 2.0], [2.0, 5.0]]), np.array([0]), np.array([1]))
    >>> B, root
    (array([[0.5]]), array([[2.]]))
    """
    order = np.concatenate([v, h])
    root = np.linalg.cholesky(M[np.ix_(order, order)])
    known, cross = root[: v.size, : v.size], root[v.size :, : v.size]
    B = scipy.linalg.solve_triangular(known, cross.T, lower=True, trans="T", check_finite=False).T
    return B, root[v.size :, v.size :]


def _mean_diagonal(K: np.ndarray, has: np.ndarray) -> float:
    mean = float(np.mean(K.diagonal()[has], dtype=np.float64))
    return mean if mean > 0.0 else 1.0


def _view_map(Q: np.ndarray, M: np.ndarray, has: np.ndarray) -> ViewMap:
    v, h = np.flatnonzero(has), np.flatnonzero(~has)
    B, _ = conditional(M, v, h)
    W = np.linalg.solve(M[np.ix_(v, v)], Q[np.ix_(v, v)]).T
    return ViewMap(v, h, B, W)

"""CPU time of ``MKLRidgeCV(targets="each")`` beside himalaya's random search, same weights and alphas.

800 drugs for training and 32 held out, six kernels, the side effects that at least two drugs of the training
part have; 100 sets of weights, 10 alphas. himalaya has kernels and targets that are centered beforehand (it
has no intercept), five folds, and the best of several batch sizes. One thread, input checks and the last
model included, kernels not.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, r2_score

from benchmarks.measuring import check_threads
from multikernel import KernelBank, MKLRidgeCV

from .data import Array, side_effects

ALPHAS = np.logspace(-2, 3, 10)
N_TRAIN, N_CANDIDATES = 800, 100
OURS: dict[str, dict[str, Any]] = {"ours": {}, "ours, exact": {"halving": False}, "ours, folds": {"cv": 5}}
BATCHES: dict[str, dict[str, int]] = {
    "himalaya": {},
    "himalaya, 3 alphas a batch": {"n_alphas_batch": 3},
    "himalaya, 400 targets a batch": {"n_targets_batch": 400},
}
FITS = ("ours", "himalaya", *(name for name in (*OURS, *BATCHES) if name not in ("ours", "himalaya")))


def measure(split: int, dtype: str, name: str) -> dict[str, Any]:
    """Time and held-out quality of one fit on one split."""
    check_threads()
    stack, _, targets = side_effects()
    rows = np.random.default_rng(split).permutation(len(targets))
    train, test = rows[:N_TRAIN], rows[N_TRAIN:]
    counts = targets[train].sum(axis=0)
    targets = targets[:, (counts >= 2) & (counts <= N_TRAIN - 2)]
    rng = np.random.default_rng(split)
    m = stack.shape[2]
    candidates = np.vstack([rng.dirichlet(np.full(m, (1.0, 0.1)[k % 2])) for k in range(N_CANDIDATES)])
    inside = np.ascontiguousarray(stack[np.ix_(train, train)])
    across = np.ascontiguousarray(stack[np.ix_(test, train)])
    fit = _fit_ours if name in OURS else _fit_himalaya
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds, predictions = fit(name, inside, across, targets[train], candidates, dtype)
    found = {"n_targets": targets.shape[1], "dtype": dtype, "split": split, "fit": name, "seconds": seconds}
    return found | _quality(targets[test], predictions)


def _fit_ours(
    name: str, inside: Array, across: Array, Y: Array, candidates: Array, dtype: str
) -> tuple[float, Array]:
    kernels = KernelBank("precomputed", dtype=dtype)
    model = MKLRidgeCV(kernels, targets="each", candidates=candidates, alphas=ALPHAS, **OURS[name])
    varied = np.ptp(Y[:40], axis=0) > 0
    model.fit(inside[:40, :40], Y[:40, varied])  # compiles what is compiled
    began = time.process_time()
    model.fit(inside, Y)
    return time.process_time() - began, model.predict(across)


def _fit_himalaya(
    name: str, inside: Array, across: Array, Y: Array, candidates: Array, dtype: str
) -> tuple[float, Array]:
    from himalaya.backend import set_backend
    from himalaya.kernel_ridge import MultipleKernelRidgeCV

    set_backend("numpy")
    means = inside.mean(axis=0)
    total = means.mean(axis=0)
    centered = inside - means[None] - inside.mean(axis=1)[:, None] + total
    new = across - means[None] - across.mean(axis=1)[:, None] + total
    Ks = np.ascontiguousarray(np.moveaxis(centered, 2, 0), dtype=dtype)
    K_new = np.ascontiguousarray(np.moveaxis(new, 2, 0), dtype=dtype)
    mean = Y.mean(axis=0)
    targets = (Y - mean).astype(dtype)
    params: dict[str, Any] = {"n_iter": candidates.astype(dtype), "alphas": ALPHAS.astype(dtype)}
    params |= {"progress_bar": False} | BATCHES[name]
    model = MultipleKernelRidgeCV(kernels="precomputed", solver="random_search", solver_params=params, cv=5)
    began = time.process_time()
    model.fit(Ks, targets)
    return time.process_time() - began, np.asarray(model.predict(K_new)) + mean


def _quality(truth: Array, found: Array) -> dict[str, float]:
    varied = np.ptp(truth, axis=0) > 0
    r2 = r2_score(truth[:, varied], found[:, varied], multioutput="raw_values")
    spread = ((truth - truth.mean(axis=0)) ** 2).sum()
    return {
        "r2": float(np.mean(r2)),
        "r2_all": float(1.0 - ((truth - found) ** 2).sum() / spread),
        "aupr": float(average_precision_score(truth.ravel(), found.ravel())),
    }

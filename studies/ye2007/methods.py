"""The methods of the tables: what each learns from the training points, and how well it classifies others.

Times are of learning alone, in seconds of one processor: the kernels are there already (but for the support
vector machine, which computes its own).
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from judges.diagonal_discriminant import DiagonalDiscriminantClassifier
from multikernel.discriminant.classifier import KernelDiscriminantClassifier
from multikernel.discriminant.solver.kim import learn_kim
from multikernel.discriminant.solver.rkda import discriminant_projection
from studies.fitting import convergence_reported
from studies.ye2007.setting import SIGMAS, Split

FOLDS = 5
FIXED_REG = 1e-8
KIM_REG = 1e-4
# Of equally good parameters the first is taken: smooth ones come first.
REG_GRID = tuple(10.0**exponent for exponent in range(0, -9, -1))
C_GRID = (0.1, 1.0, 10.0, 100.0, 1000.0)
WIDTHS = SIGMAS[::-1]
CLASSIFIERS = {"exact": KernelDiscriminantClassifier, "approximate": DiagonalDiscriminantClassifier}

Array = np.ndarray
Stacks = tuple[Array, Array]


def fit_learned(
    points: Split, stacks: Stacks, reg: float | str, formulation: str = "exact"
) -> dict[str, Any]:
    """Learn kernel weights, and the regularisation if asked, for discriminant analysis.

    Parameters
    ----------
    points : Split
    stacks : tuple of arrays of shape (n, n, m) and (n_test, n, m)
        The kernels of the split.
    reg : float or "learn"
    formulation : {"exact", "approximate"}

    Returns
    -------
    dict
        ``accuracy`` in percent, ``seconds`` of the fit, ``shares`` (see `trace_shares`), ``gap``,
        ``status`` and, where it is learned, ``learned_reg``.
    """
    training, test = stacks
    model = CLASSIFIERS[formulation]("precomputed", reg=reg, tol=1e-8)
    with convergence_reported():
        seconds = _timed(lambda: model.fit(training, points.y))
    found = {
        "accuracy": _accuracy(model.predict(test), points),
        "seconds": seconds,
        "shares": trace_shares(training, model.kernel_weights_, model.reg_),
        "gap": float(model.dual_gap_),
        "status": str(model.status_),
    }
    return found | ({"learned_reg": float(model.reg_)} if reg == "learn" else {})


def fit_kim(points: Split, stacks: Stacks) -> dict[str, Any]:
    """Learn the kernel of largest Fisher ratio of Kim et al. (2006), and classify along its direction.

    Parameters
    ----------
    points : Split
        Of two classes.
    stacks : tuple of arrays of shape (n, n, m) and (n_test, n, m)

    Returns
    -------
    dict
        ``accuracy`` (the class whose mean is the nearer along the direction), ``seconds``, ``shares``,
        ``gap`` and ``status``.
    """
    training = stacks[0]
    classes, codes = np.unique(points.y, return_inverse=True)
    start = time.process_time()
    result = learn_kim(np.moveaxis(training, 2, 0), codes, KIM_REG)
    seconds = time.process_time() - start
    scores, test_scores = (stack @ result.weights @ result.alpha for stack in stacks)
    middle = 0.5 * (scores[codes == 0].mean() + scores[codes == 1].mean())
    return {
        "accuracy": _accuracy(classes[(test_scores > middle).astype(int)], points),
        "seconds": seconds,
        "shares": trace_shares(training, result.weights, KIM_REG),
        "gap": float(result.gap),
        "status": str(result.status),
    }


def fit_single_kernel(
    points: Split, stacks: Stacks, split: int, regs: Sequence[float] = REG_GRID
) -> dict[str, Any]:
    """Choose one kernel and the regularisation of discriminant analysis by cross-validation.

    The regularisation is relative to a kernel whose centred trace is 1, as where it is learned.

    Parameters
    ----------
    points : Split
    stacks : tuple of arrays of shape (n, n, m) and (n_test, n, m)
    split : int
        Seeds the folds.
    regs : sequence of float, default=REG_GRID
        What the regularisation is chosen from.

    Returns
    -------
    dict
        ``accuracy``, ``seconds``, ``sigma`` and, where there is a choice, ``chosen_reg``.
    """
    start = time.process_time()
    training, test = (np.moveaxis(stack, 2, 0)[::-1] for stack in stacks)
    classes, codes = np.unique(points.y, return_inverse=True)
    folds = list(_folds(split).split(points.X, codes))
    scores = [
        np.mean([_held_out_accuracy(K, codes, reg, *fold) for fold in folds])
        for K, reg in product(training, regs)
    ]
    width, place = divmod(int(np.argmax(scores)), len(regs))
    predicted = _one_kernel_classes(training[width], codes, regs[place], test[width])
    seconds = time.process_time() - start
    found = {"accuracy": _accuracy(classes[predicted], points), "seconds": seconds, "sigma": WIDTHS[width]}
    return found | ({"chosen_reg": regs[place]} if len(regs) > 1 else {})


def fit_support_vectors(points: Split, split: int) -> dict[str, Any]:
    """Choose one Gaussian kernel and C of a support vector machine by cross-validation.

    Parameters
    ----------
    points : Split
    split : int
        Seeds the folds.

    Returns
    -------
    dict
        ``accuracy``, ``seconds``, ``sigma`` and ``C``.
    """
    grid = {"C": list(C_GRID), "gamma": [sigma**-2 for sigma in WIDTHS]}
    search = GridSearchCV(SVC(), grid, cv=_folds(split))
    seconds = _timed(lambda: search.fit(points.X, points.y))
    return {
        "accuracy": _accuracy(search.predict(points.X_test), points),
        "seconds": seconds,
        "sigma": search.best_params_["gamma"] ** -0.5,
        "C": search.best_params_["C"],
    }


def trace_shares(stack: Array, weights: Array, reg: float) -> list[float]:
    """Return the shares of λI and of each kernel in the trace of λI + Σ θ_i G~_i, in percent.

    Parameters
    ----------
    stack : ndarray of shape (n, n, m)
    weights : ndarray of shape (m,)
    reg : float

    Returns
    -------
    list of m + 1 floats
    """
    traces = np.einsum("iim->m", stack) - stack.mean(axis=0).sum(axis=0)
    parts = np.concatenate([[reg * len(stack)], weights * traces])
    shares: list[float] = (100.0 * parts / parts.sum()).tolist()
    return shares


def _held_out_accuracy(K: Array, codes: Array, reg: float, fit: Array, held: Array) -> float:
    found = _one_kernel_classes(K[np.ix_(fit, fit)], codes[fit], reg, K[np.ix_(held, fit)])
    return float(np.mean(found == codes[held]))


def _one_kernel_classes(K: Array, codes: Array, reg: float, K_test: Array) -> Array:
    scale = 1.0 / (np.trace(K) - K.mean(axis=0).sum())
    coefficients, intercepts = discriminant_projection(scale * K, codes, reg).rule()
    scores = scale * (K_test @ coefficients) + intercepts
    return (scores[:, 0] > 0.0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)


def _folds(split: int) -> StratifiedKFold:
    return StratifiedKFold(FOLDS, shuffle=True, random_state=split)


def _accuracy(predicted: Array, points: Split) -> float:
    return 100.0 * float(np.mean(predicted == points.y_test))


def _timed(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


@functools.cache
def warm_up() -> None:
    """Learn from a few points, so that no measured time has compiling or loading in it."""
    rng = np.random.default_rng(0)
    y = np.arange(24) % 3
    points = rng.normal(size=(24, 2)) + y[:, None]
    for classifier in CLASSIFIERS.values():
        classifier(reg="learn").fit(points, y)
    K = points @ points.T
    learn_kim(K[None], (y > 0).astype(int), KIM_REG)

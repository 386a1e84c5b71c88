"""The methods of the tables: what each learns from the training points, and how well it classifies others.

SDPθ and SDPθ,λ learn kernel weights for discriminant analysis, SDPkim those of Kim et al. (2006), SM1, SM2
and SM2_C those of Lanckriet et al. (2004); RKDA_CV and SVM_CV choose one kernel by cross-validation.
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
from multikernel.kernels import Gaussian
from studies.fitting import convergence_reported
from studies.lanckriet2004.machine import Task, fit_machine
from studies.ye2007.setting import SIGMAS, Split

FOLDS = 5
FIXED_REG = 1e-8
MARGINS = {"sm1": "SM1", "sm2": "SM2", "sm2_c": "SM2,C"}
# Of equally good parameters the first is taken: smooth ones come first.
REG_GRID = tuple(10.0**exponent for exponent in range(0, -9, -1))
C_GRID = (0.1, 1.0, 10.0, 100.0, 1000.0)
WIDTHS = SIGMAS[::-1]
CLASSIFIERS = {"exact": KernelDiscriminantClassifier, "approximate": DiagonalDiscriminantClassifier}

Array = np.ndarray
Stacks = tuple[Array, Array]


def fit_learned(
    points: Split, stacks: Stacks, reg: float | str, formulation: str = "exact", tol: float = 1e-8
) -> dict[str, Any]:
    """Learn kernel weights, and the regularisation if asked, for discriminant analysis.

    Parameters
    ----------
    points : Split
    stacks : tuple of arrays of shape (n, n, m) and (n_test, n, m)
        The kernels of the split.
    reg : float or "learn"
    formulation : {"exact", "approximate"}
    tol : float, default=1e-8
        The relative duality gap to reach.

    Returns
    -------
    dict
        ``accuracy`` in percent, ``seconds`` of one processor for the fit, ``factorisations`` (of an (n, n)
        matrix), ``shares`` (see `trace_shares`), ``gap``, ``status`` and, where it is learned,
        ``learned_reg``.
    """
    training, test = stacks
    model = CLASSIFIERS[formulation]("precomputed", reg=reg, tol=tol)
    with convergence_reported():
        seconds = _timed(lambda: model.fit(training, points.y))
    found = {
        "accuracy": _accuracy(model.predict(test), points),
        "seconds": seconds,
        "factorisations": int(model.n_factorisations_),
        "shares": trace_shares(training, model.kernel_weights_, model.reg_),
        "gap": float(model.dual_gap_),
        "status": str(model.status_),
    }
    return found | ({"learned_reg": float(model.reg_)} if reg == "learn" else {})


def fit_reg_by_folds(points: Split, stacks: Stacks, split: int, tol: float) -> dict[str, Any]:
    """Choose λ by cross-validation, and learn the kernel weights for each.

    Parameters
    ----------
    points : Split
    stacks : tuple of arrays of shape (n, n, m) and (n_test, n, m)
    split : int
        Seeds the folds.
    tol : float

    Returns
    -------
    dict
        ``accuracy``, ``seconds``, ``factorisations`` (of all fits) and ``chosen_reg``.
    """
    training, test = stacks
    start, count, scores = time.process_time(), 0, []
    for reg in REG_GRID:
        right = []
        for fit, held in _folds(split).split(points.X, points.y):
            model = KernelDiscriminantClassifier("precomputed", reg=reg, tol=tol)
            model.fit(training[np.ix_(fit, fit)], points.y[fit])
            count += model.n_factorisations_
            right.append(model.score(training[np.ix_(held, fit)], points.y[held]))
        scores.append(np.mean(right))
    reg = REG_GRID[int(np.argmax(scores))]
    model = KernelDiscriminantClassifier("precomputed", reg=reg, tol=tol).fit(training, points.y)
    seconds = time.process_time() - start
    return {
        "accuracy": _accuracy(model.predict(test), points),
        "seconds": seconds,
        "factorisations": count + int(model.n_factorisations_),
        "chosen_reg": reg,
    }


def fit_kim(points: Split, stacks: Stacks, reg: float, weighted: bool) -> dict[str, Any]:
    """Learn the kernel of largest Fisher ratio of Kim et al. (2006), and classify along its direction.

    Parameters
    ----------
    points : Split
        Of two classes.
    stacks : tuple of arrays of shape (n, n, m) and (n_test, n, m)
    reg : float
    weighted : bool
        Whether the covariances are weighted by the sizes of the classes, as in equation (3).

    Returns
    -------
    dict
        ``accuracy`` (the class whose mean is the nearer along the direction), ``shares``, ``gap`` and
        ``status``.
    """
    training = stacks[0]
    classes, codes = np.unique(points.y, return_inverse=True)
    result = learn_kim(np.moveaxis(training, 2, 0), codes, reg, weighted=weighted)
    scores, test_scores = (stack @ result.weights @ result.alpha for stack in stacks)
    middle = 0.5 * (scores[codes == 0].mean() + scores[codes == 1].mean())
    return {
        "accuracy": _accuracy(classes[(test_scores > middle).astype(int)], points),
        "shares": trace_shares(training, result.weights, reg),
        "gap": float(result.gap),
        "status": str(result.status),
    }


def fit_margin(points: Split, method: str, mean_diagonal: float = 1.0) -> dict[str, Any]:
    """Learn the convex combination of largest soft margin of Lanckriet et al. (2004).

    Parameters
    ----------
    points : Split
        Of two classes.
    method : str
        A key of `MARGINS`: the 1-norm or the 2-norm soft margin with C = 1, or the latter with a learned C.
    mean_diagonal : float, default=1.0
        Of the learned matrix: 1 for a convex combination of kernels of unit diagonal.

    Returns
    -------
    dict
        ``accuracy``, ``shares`` (the identity first, whose share is 0 where C is given), ``gap`` and
        ``status``.
    """
    X = np.concatenate([points.X, points.X_test])
    signs = np.where(np.concatenate([points.y, points.y_test]) == points.y.max(), 1, -1)
    Ks = [Gaussian(s=sigma)(X) for sigma in SIGMAS]
    task = Task(Ks, signs, len(points.y), mean_diagonal * len(X))
    found = fit_machine(task, MARGINS[method], "nonnegative")
    parts = np.array([found["ridge"] or 0.0, *found["weights"]])
    return {
        "accuracy": found["accuracy"],
        "shares": (100.0 * parts / parts.sum()).tolist(),
        "gap": found["gap"],
        "status": found["status"],
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
        ``accuracy``, ``seconds``, ``factorisations``, ``sigma`` and, where there is a choice,
        ``chosen_reg``.
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
    found = {
        "accuracy": _accuracy(classes[predicted], points),
        "seconds": seconds,
        "factorisations": len(scores) * len(folds) + 1,
        "sigma": WIDTHS[width],
    }
    return found | ({"chosen_reg": regs[place]} if len(regs) > 1 else {})


def fit_support_vectors(points: Split, stacks: Stacks, split: int) -> dict[str, Any]:
    """Choose one kernel and C of a support vector machine by cross-validation.

    Parameters
    ----------
    points : Split
    stacks : tuple of arrays of shape (n, n, m) and (n_test, n, m)
    split : int
        Seeds the folds.

    Returns
    -------
    dict
        ``accuracy``, ``sigma`` and ``C``.
    """
    training, test = (np.moveaxis(stack, 2, 0)[::-1] for stack in stacks)
    searches = [
        GridSearchCV(SVC(kernel="precomputed"), {"C": list(C_GRID)}, cv=_folds(split), refit=False).fit(
            K, points.y
        )
        for K in training
    ]
    scores = np.array([search.cv_results_["mean_test_score"] for search in searches])
    place, width = divmod(int(np.argmax(scores.T)), len(WIDTHS))
    machine = SVC(C=C_GRID[place], kernel="precomputed").fit(training[width], points.y)
    return {
        "accuracy": _accuracy(machine.predict(test[width]), points),
        "sigma": WIDTHS[width],
        "C": C_GRID[place],
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
    return classify(scale * K, codes, reg, scale * K_test)


def classify(K: Array, codes: Array, reg: float, K_test: Array) -> Array:
    """Return the class of each test point by discriminant analysis: that of the nearest projected mean.

    Parameters
    ----------
    K : ndarray of shape (n, n)
    codes : ndarray of shape (n,)
        Classes 0 … k−1.
    reg : float
    K_test : ndarray of shape (n_test, n)

    Returns
    -------
    ndarray of shape (n_test,)
    """
    coefficients, intercepts = discriminant_projection(K, codes, reg).rule()
    scores = K_test @ coefficients + intercepts
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

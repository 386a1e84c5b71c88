"""What the parameters of a spectral kernel stand for: the kernels to choose from, and the machine on them."""

from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from sklearn.utils import get_tags

from .._typing import Array
from .._validation import check_choice, check_number, check_numeric_table, warn_caller
from ..core.folds import list_splits
from ..views import KernelBank
from ..views.scaling import Scaling
from .kdda import KDDAClassifier
from .knn import KernelKNNClassifier
from .solver.kernel import SpectralWeights
from .solver.leave_one_out import Folds
from .solver.separability import Tradeoff

WIDTHS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 5.0, 10.0, 1e2, 1e3)  # σ², after the mean squared distance
EIG_TOLS = (0.3, 0.1, 0.03, 0.01)
KAPPAS = (1.25, 1.5, 2.0, 10.0, np.inf)
SOLVERS = {"separability": ("closed",), "alignment": ("closed", "nnls"), "conformal": ("gradient", "eig")}
CLASSIFIERS = ("knn", "svm", "kdda")
_DEFAULT_EIG_TOL = {False: 0.01, True: 0.1}  # by whether the kernel is centred
JUDGES = ("loo", "cv")
_TABLE = ("gamma", "eig_tol", "n_components", "kappa", "reg", "score")


# ------------------------------------------------------------------ parameters and their candidates
def as_tradeoffs(reg: Any) -> tuple[Tradeoff, ...]:
    """The α to choose from.

    Examples
    --------
    >>> as_tradeoffs(("relative", 1.5))
    (Tradeoff(value=1.5, relative=True),)
    """
    if isinstance(reg, str):
        check_choice("reg, where it is not a number,", reg, JUDGES)
        reg = ("relative", reg)
    if not isinstance(reg, tuple | list):
        return (Tradeoff(_positive_or_infinite("reg", reg, above=0.0)),)
    if len(reg) != 2 or not isinstance(reg[0], str) or reg[0] != "relative":
        raise ValueError(f'reg must be a positive number, "loo", "cv" or ("relative", kappa); got {reg!r}.')
    if isinstance(reg[1], str):
        check_choice('kappa in reg=("relative", kappa), where it is not a number,', reg[1], JUDGES)
        return tuple(Tradeoff(kappa, relative=True) for kappa in KAPPAS)
    kappa = _positive_or_infinite('kappa in reg=("relative", kappa)', reg[1], above=1.0)
    return (Tradeoff(kappa, relative=True),)


def _positive_or_infinite(name: str, value: Any, above: float) -> float:
    if isinstance(value, float | np.floating) and np.isposinf(value):
        return float("inf")
    return check_number(name, value, above=above)


def as_eig_tols(eig_tol: Any, center: bool) -> tuple[float, ...]:
    """The shares of the largest eigenvalue to choose from.

    Examples
    --------
    >>> as_eig_tols(None, center=True), as_eig_tols("loo", center=True)
    ((0.1,), (0.3, 0.1, 0.03, 0.01))
    """
    if eig_tol is None:
        return (_DEFAULT_EIG_TOL[center],)
    if isinstance(eig_tol, str):
        check_choice("eig_tol, where it is not a number,", eig_tol, JUDGES)
        return EIG_TOLS
    return (check_number("eig_tol", eig_tol, at_least=0.0),)


def as_solver(solver: Any, method: str, *, several: bool = False) -> str:
    """The solver of a method; None is its first one, and of alignment with several kernels "nnls"."""
    if method in sum(SOLVERS.values(), ()):
        raise ValueError(
            f"method must be one of {', '.join(map(repr, SOLVERS))}; got {method!r}, which is a solver. Use "
            f"solver={method!r}."
        )
    check_choice("method", method, tuple(SOLVERS))
    if several and method == "alignment":
        if isinstance(solver, str) and solver == "closed":
            raise ValueError(
                'solver="closed" of method="alignment" needs orthogonal eigenvectors, those of one kernel; '
                'got several kernels. Use solver="nnls", or leave it out.'
            )
        solver = "nnls" if solver is None else solver
    if solver is None:
        return SOLVERS[method][0]
    return check_choice(f"solver of method={method!r}", solver, SOLVERS[method])


def is_cross_validated(*parameters: Any) -> bool:
    """Whether one of the parameters is to be chosen by folds.

    Examples
    --------
    >>> is_cross_validated("loo", ("relative", "cv")), is_cross_validated("loo", 1e4)
    (True, False)
    """
    words = [p[1] if isinstance(p, tuple | list) and len(p) == 2 else p for p in parameters]
    return any(isinstance(word, str) and word == "cv" for word in words)


def make_judge(cv: Any, labels: Array, seed: int, make_machine: Any) -> Folds:
    """The folds of the labelled points, judged by the machine that will classify."""
    splits = list_splits(cv, np.zeros((labels.size, 1)), labels, random_state=seed)
    n_classes = np.unique(labels).size
    for train, _ in splits:
        if np.unique(labels[train]).size < n_classes:
            raise ValueError(
                f"cv must leave labelled points of all {n_classes} classes to learn from in each "
                f"fold; got cv={cv!r}, which does not. Use stratified folds, or label more points."
            )
    return Folds(splits, make_machine)


def scores_frame(rows: list[dict[str, float]]) -> pd.DataFrame:
    """One row for each kernel tried, the width as γ."""
    named = [{**row, "gamma": 1.0 / row["width"], "reg": row.get("alpha", np.nan)} for row in rows]
    return pd.DataFrame(named, columns=list(_TABLE))


def make_classifier(classifier: Any, *, n_neighbors: int, C: float, seed: int) -> Any:
    """The unfitted machine on a precomputed kernel that `classifier` names, or a clone of the one given."""
    if isinstance(classifier, str):
        check_choice("classifier, where it is a name,", classifier, CLASSIFIERS)
        if classifier == "svm":
            # LIBSVM may go on for ever on kernels of extreme scale
            return SVC(
                C=check_number("C", C, above=0.0), kernel="precomputed", random_state=seed, max_iter=1_000_000
            )
        kind = KernelKNNClassifier if classifier == "knn" else KDDAClassifier
        # a learned kernel is indefinite by rounding at most
        bank = KernelBank("precomputed", psd="clip")
        return kind(bank, n_neighbors=n_neighbors, random_state=seed)
    if isinstance(classifier, type) or not all(
        hasattr(classifier, m) for m in ("fit", "predict", "get_params")
    ):
        listed = ", ".join(repr(name) for name in CLASSIFIERS)
        raise TypeError(
            f"classifier must be one of {listed} or a scikit-learn classifier that takes a precomputed "
            f'kernel, such as SVC(kernel="precomputed"); got {classifier!r}.'
        )
    if getattr(classifier, "metric", None) == "precomputed":
        raise ValueError(
            f"classifier must take similarities; {classifier!r} takes distances. For the nearest neighbours "
            'in the learned kernel use classifier="knn".'
        )
    if not get_tags(classifier).input_tags.pairwise:
        raise ValueError(
            f"classifier must take a precomputed kernel; {classifier!r} would read its rows as features. "
            'Give it kernel="precomputed", or fit it on the rows that transform gives.'
        )
    return clone(classifier)


def gaussian_widths(gamma: Any, points: Any, standardize: bool) -> tuple[float, ...]:
    """1/γ to choose from, or the one to take.

    Parameters
    ----------
    gamma : "loo", "cv", "mean" or float
    points : array, sparse matrix or DataFrame (n, d)
    standardize : bool
        Whether columns are brought to standard deviation 1 before, as the kernel will see them.
    """
    if not isinstance(gamma, str):
        return (1.0 / check_number("gamma", gamma, above=0.0),)
    check_choice("gamma, where it is not a number,", gamma, (*JUDGES, "mean"))
    table = check_numeric_table(points)
    if standardize:
        table = Scaling.fit(table).apply(table, "X")
    square = _mean_sq_distance(table) or 1.0  # where all points agree, which the kernel's check will tell
    return (square,) if gamma == "mean" else (square, *WIDTHS)


def _mean_sq_distance(table: Any) -> float:
    """Between two different rows: twice the variances, summed, times n / (n − 1)."""
    n, mean = table.shape[0], np.asarray(table.mean(axis=0)).ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        if scipy.sparse.issparse(table):
            total = float(table.multiply(table).sum()) - n * float(mean @ mean)
        else:
            total = float(((table - mean) ** 2).sum())
        square = 2.0 * total / max(n - 1, 1)
    if not np.isfinite(square):
        raise ValueError(
            "X holds values so large that their squared distances overflow. Rescale the columns, or use "
            "standardize=True."
        )
    return max(square, 0.0)


def warn_of_held(learned: SpectralWeights) -> None:
    """Some eigenvectors had no maximiser: say how many, and what became of them."""
    n_held, n_kept = learned.held.size, learned.weights.size
    if n_held == 0:
        return
    held = "and all have equal weights" if n_held == n_kept else "and are held at 1000 times the others"
    warn_caller(
        f"{n_held} of {n_kept} eigenvectors barely vary within the classes of the labelled points: their "
        f"weights have no maximiser at reg={learned.alpha:g} (the least is {learned.alpha_star:.3g}), "
        f"{held}. Label more points of each class, or raise eig_tol to keep fewer eigenvectors."
    )


def warn_of_time(max_time: float | None, n_tried: int, n_kernels: int) -> None:
    """The time was over before all kernels were tried."""
    warn_caller(
        f"SpectralKernelClassifier: max_time={max_time:g} seconds ended the search after {n_tried} of "
        f"{n_kernels} kernels; the best of them is kept. Raise max_time, or give gamma and reg.",
        ConvergenceWarning,
    )


def warn_of_small_reg(n_passed_over: int, n_kernels: int) -> None:
    """Kernels that the given reg has no maximum for were no candidates."""
    if n_passed_over:
        warn_caller(
            f"reg is too small for {n_passed_over} of the {n_kernels} kernels to choose from, which were "
            "passed over (NaN in loo_scores_). Give a larger reg, or one relative to the least: "
            '("relative", 1.5).'
        )

"""The parameters of spectral kernels: what may be given, and the lists that leave-one-out chooses from."""

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import clone
from sklearn.svm import SVC
from sklearn.utils import get_tags

from .._validation import check_choice, check_number, check_numeric_table, warn_caller
from ..criteria.separability import Tradeoff
from ..solvers.spectral_kernel import SpectralWeights
from ..views.scaling import Scaling
from .kdda import KDDAClassifier
from .kernel_neighbors import KernelKNNClassifier

WIDTHS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 5.0, 10.0, 1e2, 1e3)  # σ², after the mean squared distance
EIG_TOLS = (0.3, 0.1, 0.03, 0.01)
KAPPAS = (1.25, 1.5, 2.0, 10.0, np.inf)
METHODS = {"separability": ("closed",), "alignment": ("closed", "nnls"), "conformal": ("gradient", "eig")}
CLASSIFIERS = ("knn", "svm", "kdda")
_DEFAULT_EIG_TOL = {False: 0.01, True: 0.1}


def as_tradeoffs(alpha: Any) -> tuple[Tradeoff, ...]:
    """The α to choose from.

    Examples
    --------
    >>> as_tradeoffs(("relative", 1.5))
    (Tradeoff(value=1.5, relative=True),)
    """
    if not isinstance(alpha, tuple | list):
        return (Tradeoff(_positive_or_infinite("alpha", alpha, above=0.0)),)
    if len(alpha) != 2 or not isinstance(alpha[0], str) or alpha[0] != "relative":
        raise ValueError(f'alpha must be a positive number or ("relative", kappa); got {alpha!r}.')
    if isinstance(alpha[1], str):
        check_choice('kappa in alpha=("relative", kappa), where it is not a number,', alpha[1], ("loo",))
        return tuple(Tradeoff(kappa, relative=True) for kappa in KAPPAS)
    kappa = _positive_or_infinite('kappa in alpha=("relative", kappa)', alpha[1], above=1.0)
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
        check_choice("eig_tol, where it is not a number,", eig_tol, ("loo",))
        return EIG_TOLS
    return (check_number("eig_tol", eig_tol, at_least=0.0),)


def as_method(method: Any, criterion: str) -> str:
    """How the criterion is met; None is its first method."""
    check_choice("criterion", criterion, tuple(METHODS))
    if method is None:
        return METHODS[criterion][0]
    return check_choice(f"method of criterion={criterion!r}", method, METHODS[criterion])


def check_flag(name: str, value: Any) -> bool:
    """A plain True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False; got {value!r}.")
    return bool(value)


def make_classifier(classifier: Any, *, n_neighbors: int, C: float, seed: int) -> Any:
    """The unfitted machine on a precomputed kernel that `classifier` names, or a clone of the one given."""
    if isinstance(classifier, str):
        check_choice("classifier, where it is a name,", classifier, CLASSIFIERS)
        if classifier == "svm":
            return SVC(C=check_number("C", C, above=0.0), kernel="precomputed", random_state=seed)
        kind = KernelKNNClassifier if classifier == "knn" else KDDAClassifier
        # a learned kernel is indefinite by rounding at most
        return kind("precomputed", n_neighbors=n_neighbors, psd="clip", random_state=seed)
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


def gaussian_widths(width: Any, points: Any, standardize: bool) -> tuple[float, ...]:
    """σ² to choose from, or the one to take.

    Parameters
    ----------
    width : "loo", "mean" or float
    points : array, sparse matrix or DataFrame (n, d)
    standardize : bool
        Whether columns are brought to standard deviation 1 before, as the kernel will see them.
    """
    if not isinstance(width, str):
        return (check_number("width", width, above=0.0),)
    check_choice("width, where it is not a number,", width, ("loo", "mean"))
    table = check_numeric_table(points)
    if standardize:
        table = Scaling.fit(table).apply(table, "X")
    square = _mean_sq_distance(table) or 1.0  # where all points agree, which the kernel's check will tell
    return (square,) if width == "mean" else (square, *WIDTHS)


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
        f"{n_held} of {n_kept} eigenvectors hardly vary within the classes of the labelled points: their "
        f"weights have no maximiser at alpha={learned.alpha:g} (alpha* = {learned.alpha_star:.3g}), {held}. "
        "Label more points of each class, or raise eig_tol to keep fewer eigenvectors."
    )


def warn_of_small_alpha(n_passed_over: int, n_kernels: int) -> None:
    """Kernels that the given alpha has no maximum for were no candidates."""
    if n_passed_over:
        warn_caller(
            f"alpha is too small for {n_passed_over} of the {n_kernels} kernels to choose from, which were "
            'passed over (NaN in loo_scores_). Give a larger alpha, or one relative to alpha*: ("relative", '
            "1.5)."
        )

"""Fixed rules: all kernels alike, or the best of them."""

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, check_scoring, r2_score

from .._typing import Array
from .._validation import check_choice, check_flag
from ..core.stack.sums import kernel_scales, variance_scales
from .heuristic import HeldOut
from .learner import About, Learned, WeightLearner
from .targets import TASKS, Targets, require_different_values

NORMALISATIONS = ("trace", "variance", "none")
Score = Callable[[Array, float], float]  # of a kernel and its scale
_ROUNDING = 1e-12  # scores that differ by less are equal


class SumRule(WeightLearner):
    """K = Σ_m K_m: every kernel as it is.

    Examples
    --------
    >>> SumRule().fit([np.eye(2), 3 * np.eye(2)]).kernel_weights_
    array([1., 1.])
    """

    learns_from = TASKS
    about = About(
        family="fixed",
        problem="K = Σ K_m",
        solver="none",
        cost="one pass over the stack, P n²",
        use="Baseline. Kernels of one scale, most of them useful.",
        reference="Pavlidis et al. 2001",
    )

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        return Learned(np.ones(len(Ks)))


@dataclass(eq=False, repr=False)
class MeanRule(WeightLearner):
    """K = (1/P) Σ_m K_m / s_m: the mean of the kernels, each at its scale s_m.

    Parameters
    ----------
    normalize : {"trace", "variance", "none"}, default="trace"
        s_m is the mean of the diagonal; the mean squared distance from the centre of the samples in the
        kernel's feature space, tr(HK_mH)/n; or 1. For cosines (a unit diagonal for each sample) give the
        views ``normalize="diagonal"``.

    Examples
    --------
    >>> MeanRule().fit([np.eye(2), 4 * np.eye(2)]).kernel_weights_
    array([0.5  , 0.125])
    """

    learns_from = TASKS
    about = About(
        family="fixed",
        problem="K = (1/P) Σ K_m / s_m, s_m = tr K_m / n",
        solver="none",
        cost="one pass over the stack, P n²",
        use="Baseline. Kernels of different scales, few samples or little time; often as good as learning.",
        reference="Pavlidis et al. 2001; Lanckriet et al. 2004",
    )

    normalize: str = "trace"

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        check_choice("normalize", self.normalize, NORMALISATIONS)
        if self.normalize == "none":
            return Learned(np.full(len(Ks), 1.0 / len(Ks)))
        scales = kernel_scales if self.normalize == "trace" else variance_scales
        return Learned(1.0 / (len(Ks) * scales(Ks, self.view_names_)))


class ProductRule(WeightLearner):
    """K = K_1 ∘ K_2 ∘ … ∘ K_P, entry by entry: two samples are alike if they are so in every kernel.

    ``kernel_weights_`` are the exponents, all 1. Kernels of unit diagonal keep it.

    Examples
    --------
    >>> K, L = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([[1.0, 0.2], [0.2, 1.0]])
    >>> ProductRule().fit_combine([K, L])
    array([[1. , 0.1],
           [0.1, 1. ]])
    """

    learns_from = TASKS
    is_linear = False
    about = About(
        family="fixed",
        problem="K = ∘ K_m (entry by entry)",
        solver="none",
        cost="one pass over the stack, P n²",
        use="Samples are similar only if all views agree; few kernels of unit diagonal.",
        reference="Ben-Hur & Noble 2005",
    )

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        return Learned(np.ones(len(Ks)))

    def combine_rows(self, kernels: Iterable[tuple[int, Array]]) -> Array:
        """The product of the kernels; what overflows is refused."""
        total: Array | None = None
        with np.errstate(over="ignore", invalid="ignore"):
            for _, K in kernels:
                total = np.array(K, np.float64) if total is None else np.multiply(total, K, out=total)
        assert total is not None, "no kernel is active"
        if not np.isfinite(total).all():
            raise ValueError(
                'the product of the kernels overflows. Give the views normalize="diagonal", or matrices '
                "as unit_diagonal(K)."
            )
        return total


@dataclass(eq=False, repr=False)
class BestSingle(WeightLearner):
    """K = K_b,  b = argmax_m s_m: the kernel of the best cross-validated score s_m.

    s_m is the accuracy for classes and R² for values, of the predictions of all folds together; or, if
    `scoring` is given, the mean of that score over the folds. Of equals the first is taken.

    Parameters
    ----------
    machine : classifier or regressor on a precomputed kernel, default=None
        Default ``SVC(kernel="precomputed")`` or ``KernelRidge(kernel="precomputed")``. To be chosen for the
        estimator of the final model, give both the same. It sees the labels as they are given.
    cv : int, splitter or list of splits, default=5
        An int: number of folds, the same in every call, stratified for classification and at most the
        smallest class has samples, shuffled for values.
    scoring : str or callable, default=None
        Higher for better predictions, as scikit-learn names it, or a function of ``(machine, K, y)``: the
        fitted ``machine``, the kernel (n_test, n_train) between held-out and training samples of a fold, and
        the labels or values of the held-out ones. ``machine`` must have the method that it needs: "roc_auc"
        takes the ``decision_function`` of an SVC, "neg_log_loss" needs probabilities.
    normalize : bool, default=True
        Whether each kernel is scaled to a mean diagonal of 1 before ``machine`` is fitted. To be chosen for a
        combined kernel that is not scaled (``normalize=False``), give both the same.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        1 for the chosen kernel and 0 for all others.
    scores_ : array of shape (n_kernels,)
        S.
    objective_ : float, the largest of them

    Examples
    --------
    >>> y = np.array([1, 1, 1, 1, -1, -1, -1, -1])
    >>> learner = BestSingle(cv=2).fit([np.eye(8), 2.0 + np.outer(y, y)], y)
    >>> learner.kernel_weights_, learner.scores_
    (array([0., 1.]), array([0.5, 1. ]))
    """

    about = About(
        family="fixed",
        problem="K = K_b, b = argmax_m of the cross-validated score of K_m",
        solver="exhaustive, exact",
        cost="P cv fits of the estimator; one kernel of n² at a time",
        use="Baseline. One kernel is fast at prediction and easy to explain.",
        reference="Gönen & Alpaydın 2011",
    )

    machine: Any = None
    cv: Any = 5
    scoring: Any = None
    _: KW_ONLY
    normalize: bool = True

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        check_flag("normalize", self.normalize)
        require_different_values(targets)
        held_out = HeldOut(self.machine, self.cv, targets)
        score = _by_predictions(held_out) if self.scoring is None else _by_scorer(held_out, self.scoring)
        scales = kernel_scales(Ks, self.view_names_) if self.normalize else np.ones(len(Ks))
        self.scores_ = np.array(list(map(score, Ks, scales)))
        best = self.scores_.max()
        weights = np.zeros(len(Ks))
        weights[np.flatnonzero(self.scores_ >= best - _ROUNDING)[0]] = 1.0
        return Learned(weights, objective=float(best))


def _by_predictions(held_out: HeldOut) -> Score:
    measure = accuracy_score if held_out.is_class else r2_score
    return lambda K, scale: float(measure(held_out.truth, held_out.predict(K, scale)))


def _by_scorer(held_out: HeldOut, scoring: Any) -> Score:
    if not isinstance(scoring, str) and not callable(scoring):
        raise TypeError(
            f"scoring must be the name of one score or a function of (machine, K, y); got {scoring!r}."
        )
    scorer = check_scoring(held_out.machine, scoring=scoring)

    def checked(machine: Any, K: Array, y: Array) -> float:
        try:
            found = float(scorer(machine, K, y))
        except (AttributeError, TypeError, ValueError) as error:
            raise ValueError(
                f"scoring={scoring!r} cannot score machine={held_out.machine!r} on one kernel: {error} "
                f"Use another scoring, or a machine with the method that it needs."
            ) from error
        if not np.isfinite(found):
            raise ValueError(f"scoring={scoring!r} must be finite on every fold of cv; got {found}.")
        return found

    return lambda K, scale: held_out.score(K, scale, checked)

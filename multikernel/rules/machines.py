"""Kernel machines that are put on a combined kernel, or on one kernel alone."""

from typing import Any

from sklearn.base import clone, is_classifier, is_outlier_detector, is_regressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, OneClassSVM
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from .._typing import Array
from ..core.inputs import check_sample_weights
from ..views import KernelBank

MOST_STEPS = 1_000_000
_KINDS = {
    "classification": ("a classifier", is_classifier, "SVC"),
    "regression": ("a regressor", is_regressor, "KernelRidge"),
    "unsupervised": ("an outlier detector", is_outlier_detector, "OneClassSVM"),
}


def default_machine(task: str) -> Any:
    """SVC for classification, KernelRidge for regression, OneClassSVM where there are no targets.

    The seed changes nothing but that NumPy's global one is left alone: SVC draws from it otherwise. LIBSVM
    ends
    with a ConvergenceWarning where it would go on for hours, or for ever on kernels of extreme scale.
    """
    if task == "classification":
        return SVC(kernel="precomputed", random_state=0, max_iter=MOST_STEPS)
    if task == "regression":
        return KernelRidge(kernel="precomputed")
    return OneClassSVM(kernel="precomputed", max_iter=MOST_STEPS)


def machine_for(task: str, machine: Any = None) -> Any:
    """A copy of a machine that takes the combined kernel and predicts what the task asks for.

    Examples
    --------
    >>> machine_for("classification", SVC(C=2.0))
    SVC(C=2.0, kernel='precomputed')
    """
    if machine is None:
        return default_machine(task)
    kind, is_kind, example = _KINDS[task]
    if not is_estimator(machine) or not is_kind(machine):
        raise TypeError(
            f"machine must be {kind} on a precomputed kernel, such as {example}(kernel='precomputed'); "
            f"got {machine!r}." + (" Call the class." if isinstance(machine, type) else "")
        )
    copied = clone(machine)
    use_precomputed(copied)
    return copied


def fit_machine(machine: Any, K: Array, y: Array | None, weights: Array | None) -> Any:
    """Fit a machine, with the weights of its samples where there are some."""
    targets = () if y is None else (y,)
    if weights is None:
        return machine.fit(K, *targets)
    inner = machine
    while is_estimator(inner) and not has_fit_parameter(inner, "sample_weight"):
        inner = inner.get_params(deep=False).get("estimator")  # a search hands them on
    if inner is None:
        raise TypeError(
            f"sample_weight needs a machine that takes it, such as SVC or KernelRidge; {machine!r} does not. "
            "Leave sample_weight out, or choose another machine."
        )
    return machine.fit(K, *targets, sample_weight=weights)


def machine_weights(sample_weight: Any, n_samples: int) -> Array | None:
    """Checked weights, None where there are none."""
    return None if sample_weight is None else check_sample_weights(sample_weight, n_samples)


def is_estimator(machine: Any) -> bool:
    """Whether it is an estimator of scikit-learn's kind, and not the class of one."""
    return hasattr(machine, "__sklearn_tags__") and not isinstance(machine, type)


def use_precomputed(machine: Any) -> None:
    """Let a machine take the combined kernel as it is, or say why it cannot.

    A kernel at its default becomes "precomputed", also that of the estimator in a grid search.
    """
    inner, prefix = machine, ""
    while is_estimator(inner):
        for name in ("kernel", "kernels"):
            if _is_default(inner, name):
                stored = isinstance(getattr(inner, name), KernelBank)
                machine.set_params(**{prefix + name + "__kernels" * stored: "precomputed"})
        inner, prefix = inner.get_params(deep=False).get("estimator"), prefix + "estimator__"
    if not get_tags(machine).input_tags.pairwise:
        raise ValueError(
            "machine must take the combined kernel, such as SVC(kernel='precomputed'), or KernelRidge, "
            f"KernelKNNClassifier, KernelDiscriminantClassifier with theirs; got {machine!r}."
        )


def _is_default(machine: Any, name: str) -> bool:
    params = machine.get_params(deep=False)
    if name not in params:
        return False
    try:
        default = type(machine)().get_params(deep=False)[name]
    except TypeError:
        return False
    given = params[name]
    return bool((given.kernels if isinstance(given, KernelBank) else given) == default)

"""Kernel machines that are put on a combined kernel, or on one kernel alone."""

from typing import Any

from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC
from sklearn.utils import get_tags


def default_machine(task: str) -> Any:
    """A support vector machine for classes, ridge regression for values.

    The seed changes nothing but that NumPy's global one is left alone: SVC draws from it otherwise.
    """
    if task == "classes":
        return SVC(kernel="precomputed", random_state=0)
    return KernelRidge(kernel="precomputed")


def use_precomputed(machine: Any) -> None:
    """Let a machine take the combined kernel as it is, or say why it cannot."""
    for name in ("kernel", "kernels"):
        params = machine.get_params(deep=False)
        if name in params and params[name] != "precomputed" and _is_default(machine, name):
            machine.set_params(**{name: "precomputed"})
    if not get_tags(machine).input_tags.pairwise:
        raise ValueError(
            "machine must take the combined kernel, such as SVC(kernel='precomputed'), or KernelRidge, "
            f"KernelKNNClassifier, KernelDiscriminantClassifier with theirs; got {machine!r}."
        )


def _is_default(machine: Any, name: str) -> bool:
    try:
        default = type(machine)().get_params(deep=False)[name]
    except TypeError:
        return False
    return bool(machine.get_params(deep=False)[name] == default)

"""Where a parameter of a method goes: to its estimator, to the weight learner, or to the machine on top."""

import difflib
import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from ..solvers.localized.projection_kernels import PROJECTION_KERNELS
from ..views import as_views
from ..weights._machines import default_machine

# What regularises a machine: where learner and machine both have it, one figure is meant for both.
_SHARED = ("C", "epsilon", "nu", "alpha")


def parameters_of(cls: type) -> dict[str, Any]:
    """The parameters of a class with their defaults, its kernels aside."""
    found = {name: parameter.default for name, parameter in inspect.signature(cls).parameters.items()}
    return {name: default for name, default in found.items() if name != "kernels"}


def machine_parameters(cls: type, task: str) -> dict[str, Any]:
    """Those of the machine that an estimator puts on its kernel when it is told of no other."""
    if "machine" not in inspect.signature(cls).parameters:
        return {}
    found = default_machine(task).get_params(deep=False)
    return {name: found[name] for name in found if name not in ("kernel", "random_state")}


def split(
    parameters: Mapping[str, Any], cls: type, learner: type | None, task: str
) -> dict[str, dict[str, Any]]:
    """The parameters by owner: "learner", "estimator", "machine", and "nested" for names with ``__``.

    A name belongs to the learner, else to the estimator, else to the machine; what regularises both learner
    and machine goes to both, unless the machine is given.
    """
    owners = {
        "learner": {} if learner is None else parameters_of(learner),
        "estimator": parameters_of(cls),
        "machine": {} if parameters.get("machine") is not None else machine_parameters(cls, task),
    }
    parts: dict[str, dict[str, Any]] = {"learner": {}, "estimator": {}, "machine": {}, "nested": {}}
    for name, value in parameters.items():
        owner = next((owner for owner, known in owners.items() if name in known), "nested")
        parts[owner][name] = value
        if owner == "learner" and name in _SHARED and name in owners["machine"]:
            parts["machine"][name] = value
    return parts


def require_known(nested: Iterable[str], known: Iterable[str], method: str) -> None:
    """Refuse names that nobody has; of ``learner__C`` it is the first part that must be known."""
    for name in nested:
        part, _, rest = name.partition("__")
        if rest and part in ("learner", "machine") and part in known:
            continue
        raise ValueError(f"{method} has no parameter {name!r}{_near(name, known)}.")


def _near(name: str, known: Iterable[str]) -> str:
    names = sorted(set(known))
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else f"; it has {', '.join(names)}"


def kernel_argument(cls: type, kernels: Any, method: str) -> dict[str, Any]:
    """The argument of a class that takes what a user calls kernels."""
    names = inspect.signature(cls).parameters
    if "kernels" in names:
        return {"kernels": kernels}
    if isinstance(kernels, str) and kernels == "auto":
        return {}
    if isinstance(kernels, str) and ("n_regions" not in names or kernels in PROJECTION_KERNELS):
        return {"kernel": kernels}
    if "n_regions" in names:
        raise ValueError(
            f"{method} learns the columns of its kernel itself: kernels must be one of "
            f"{', '.join(map(repr, ('auto', *PROJECTION_KERNELS)))}; got {kernels!r}."
        )
    views = as_views(kernels)
    if len(views) > 1:
        raise ValueError(
            f"{method} learns with one kernel; got {len(views)}: {', '.join(v.name for v in views)}. Make "
            "one of them by a + b or a * b, or choose a method that weighs several, such as 'mkl'."
        )
    return {"kernel": views[0]}

"""Where a parameter of a method goes: to its estimator, to the weight learner, or to the machine on top."""

import difflib
import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..solvers.localized.projection_kernels import PROJECTION_KERNELS
from ..views import as_views
from ..weights._machines import default_machine

# What regularises a machine: where learner and machine both have it, one figure is meant for both.
_SHARED = ("C", "epsilon", "nu", "alpha")
# Of a machine on a precomputed kernel: without effect.
_IDLE = ("kernel", "gamma", "degree", "coef0", "kernel_params", "random_state")


def parameters_of(cls: type) -> dict[str, Any]:
    """The parameters of a class with their defaults, kernels and task aside: these have their own place."""
    found = {name: parameter.default for name, parameter in inspect.signature(cls).parameters.items()}
    return {name: default for name, default in found.items() if name not in ("kernels", "task")}


def machine_parameters(cls: type, task: str) -> dict[str, Any]:
    """Those of the machine that an estimator puts on its kernel when it is told of no other."""
    if "machine" not in inspect.signature(cls).parameters:
        return {}
    found = default_machine(task).get_params(deep=False)
    return {name: found[name] for name in found if name not in _IDLE}


@dataclass
class Parts:
    """Parameters by their owner; ``nested`` are those with ``learner__`` before their names."""

    learner: dict[str, Any] = field(default_factory=dict)
    estimator: dict[str, Any] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)
    nested: dict[str, Any] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)


def split(parameters: Mapping[str, Any], cls: type, learner: type | None, task: str) -> Parts:
    """Whose parameters they are.

    A name belongs to the learner, else to the estimator, else to the machine; what regularises both learner
    and machine goes to both. A machine that is given has its own parameters.
    """
    own = {} if learner is None else own_parameters(learner)
    on_top = {} if "machine" in parameters else machine_parameters(cls, task)
    top = inspect.signature(cls).parameters
    parts = Parts()
    for name, value in parameters.items():
        prefix, _, rest = name.partition("__")
        if rest and prefix in top and prefix == "machine":
            parts.machine[rest] = value
        elif rest and prefix in top and prefix == "learner":
            parts.nested[name] = value
        elif name in own:
            parts.learner[name] = value
        elif name in parameters_of(cls):
            parts.estimator[name] = value
        elif name not in on_top:
            parts.unknown.append(name)
        if name in on_top and (name not in own or name in _SHARED):
            parts.machine.setdefault(name, value)
    return parts


def own_parameters(learner: type) -> dict[str, Any]:
    """Those of a learner without a machine, which is the one on top."""
    return {name: default for name, default in parameters_of(learner).items() if name != "machine"}


def require_known(unknown: Iterable[str], known: Iterable[str], method: str) -> None:
    """Refuse names that nobody has, with those that are near."""
    for name in unknown:
        if name in known:
            raise ValueError(
                f"{method}: {name!r} is of the default machine; of the one given, set machine__{name}."
            )
        raise ValueError(f"{method} has no parameter {name!r}{_near(name, known)}")


def _near(name: str, known: Iterable[str]) -> str:
    names = sorted(set(known))
    close = difflib.get_close_matches(name, names, n=3)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else f"; it has {', '.join(names)}."


def kernel_argument(cls: type, kernels: Any, method: str) -> dict[str, Any]:
    """The argument of a class that takes what a user calls kernels."""
    names = inspect.signature(cls).parameters
    if "kernels" in names:
        return {"kernels": kernels}
    if isinstance(kernels, str) and kernels == "auto":
        return {}
    if "left" in names:
        raise ValueError(
            f"{method} has kernels of left and of right objects: give them by left and right, and kernels as "
            f"'auto'; got {kernels!r}."
        )
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

"""Parameters of earlier versions: an error gives the present name.

To add a row: put the old name into `RENAMED` under the name of its class; a row of a base class holds for all
its subclasses. The entry is the new name, or, where more than a name has changed, the end of a sentence that
begins "<class> has no parameter '<old>': ", in which ``{owner}`` is the class and ``{value}`` what was given.
The base of a family of classes has ``__new__ = new_by_present_names``. Functions call `refuse_old_names` with
their own name.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from reprlib import repr as short_repr
from typing import Any

from .tables import check_choice

_STORAGE = "the storage of kernels is set by their bank: use {owner}(KernelBank(kernels, %s={value}))."

_EXACT = "there is one formulation, the exact one. Leave it out."

RENAMED: dict[str, dict[str, str]] = {
    "KernelEstimator": {name: _STORAGE % name for name in ("psd", "gram", "dtype", "rank", "missing")},
    "OneKernel": {"kernel": "kernels"},
    "WeightLearner": {"normalise": "normalize"},
    "CombinedKernel": {"normalise": "normalize"},
    "ColumnMachine": {"normalise": "normalize"},
    "BaseLocalized": {"optimizer": "solver", "ridge": "gating_reg"},
    "BaseProjection": {
        "kernel": "kernels",
        "optimizer": "solver",
        "ridge": "gating_reg",
        "projection_ridge": "projection_reg",
        "norm": "projection_norm",
    },
    "NonstationaryClassifier": {"mode": "method"},
    "KernelDiscriminantClassifier": {"formulation": _EXACT},
    "DiscriminantMKL": {"formulation": _EXACT},
    "RegularizedMKLClassifier": {"search": "method"},
    "PairwiseRidge": {"form": "method"},
    "TransductiveMKLClassifier": {"criterion": "method", "weights": "weight_set"},
    "SpectralKernelClassifier": {
        "criterion": "method",
        "alpha": "reg",
        "width": "it is 'gamma', one over it. Use {owner}(gamma=1 / {value}), or gamma={value} for a name.",
    },
    "PosteriorSVC": {
        "width": "it is 'gamma', one over its square. Use {owner}(gamma=1 / {value}**2), or gamma='auto'.",
    },
    "ConformalKernel": {"method": "solver"},
    "KLDivergence": {"form": "method"},
    "FunctionalForm": {"form": "method"},
    "FungDiscriminant": {"nu": "it is 'reg', one over it. Use {owner}(reg=1 / {value})."},
    "EasyMKL": {"balance": "reg"},
    "KernelBoosting": {"balance": "class_balance"},
}


# Tasks of earlier versions and their present names.
RENAMED_TASKS = {
    "classes": "classification",
    "values": "regression",
    "nothing": "unsupervised",
    "labels": "multilabel",
}


def present_task(task: Any) -> Any:
    """The present name of a task; any other value as it is."""
    return RENAMED_TASKS.get(task, task) if isinstance(task, str) else task


def check_task(task: Any, tasks: Sequence[str], name: str = "task") -> Any:
    """The task, if it is one of ``tasks``; otherwise a ValueError, which gives an old task its new name."""
    new = present_task(task)
    if new != task and new in tasks:
        raise ValueError(f"{name}={task!r} was renamed: use {name}={new!r}.")
    return check_choice(name, task, tasks)


class OldName:
    """In place of a method or a fitted attribute of an earlier version: an error gives the present name.

    ``hasattr`` says that there is none.

    Parameters
    ----------
    new : str
        The present name.
    value : str, optional
        The present value in terms of the earlier one, where it has changed, too.
    """

    def __init__(self, new: str, value: str | None = None) -> None:
        self.new, self.value, self.old = new, value, ""

    def __set_name__(self, owner: type, name: str) -> None:
        """Note the earlier name."""
        self.old = name

    def __get__(self, instance: Any, owner: type) -> Any:
        """Raise the error."""
        also = "" if self.value is None else f", which is {self.value}"
        raise AttributeError(f"{owner.__name__} has no {self.old!r}: its name is {self.new!r}{also}.")


def new_by_present_names(cls: type, *args: Any, **params: Any) -> Any:
    """``__new__`` of classes that refuse the names their parameters had, and say the new ones.

    It looks at what a call gives by name and keeps nothing: copies, pickles and clones do not change.
    """
    refuse_old_names(cls, params)
    return object.__new__(cls)


# a class without parameters is not to show those of this function
new_by_present_names.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [inspect.Parameter("cls", inspect.Parameter.POSITIONAL_ONLY)]
)


def refuse_old_names(owner: type | str, params: Mapping[str, Any]) -> None:
    """Raise a TypeError for parameters that were renamed.

    Parameters
    ----------
    owner : type or str
        The class, or the name of a function.
    params : mapping
        What a call gives by name. Names that the class has are its own, whatever a base class called so.
    """
    names = [owner] if isinstance(owner, str) else [base.__name__ for base in owner.__mro__]
    for old, value in params.items():
        new = next((row[old] for row in map(RENAMED.get, names) if row and old in row), None)
        if new is None or (isinstance(owner, type) and old in inspect.signature(owner).parameters):
            continue
        name, given = names[0], short_repr(value)
        if new.isidentifier():
            raise TypeError(
                f"{name} has no parameter {old!r}: its name is {new!r}. Use {name}({new}={given})."
            )
        raise TypeError(f"{name} has no parameter {old!r}: {new.format(owner=name, value=given)}")

"""One method: the sibling estimators that solve it, or a weight learner under a machine."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sklearn.base import clone

from ..weights._machines import default_machine
from ..weights.learner import About, WeightLearner
from .routing import (
    Parts,
    kernel_argument,
    machine_parameters,
    own_parameters,
    parameters_of,
    require_known,
    split,
)
from .siblings import TASKS, names_for


@dataclass(frozen=True)
class Method:
    """A way to learn kernels, whatever the targets are.

    Attributes
    ----------
    name : str, such as "mkl"
    title : str, such as "Multiple kernel learning"
    estimators : dict from task to class
        Tasks are "classes" (labels), "values" (numbers) and "nothing" (no targets at all).
    learner : class or None, the weight learner that goes under a machine
    preset : dict, the parameters that make the estimators this method, where they serve another one too
    row : About or None, its row in the table of methods, where it is not that of the estimators

    Examples
    --------
    >>> from multikernel.methods import get_method
    >>> mkl = get_method("mkl")
    >>> mkl.tasks, mkl.about.family
    (('classes', 'values', 'nothing'), 'margin')
    >>> mkl.make("values", C=10)
    MKLRegressor(C=10)
    """

    name: str
    title: str
    estimators: Mapping[str, type]
    learner: type[WeightLearner] | None = None
    preset: Mapping[str, Any] = field(default_factory=dict)
    row: About | None = None

    @property
    def about(self) -> About:
        """Its row in the table of methods."""
        if self.row is not None:
            return self.row
        owner: Any = self.learner if self.learner is not None else next(iter(self.estimators.values()))
        about: About = owner.about
        return about

    @property
    def tasks(self) -> tuple[str, ...]:
        """What it can learn from, of "classes", "values" and "nothing"."""
        return tuple(self.estimators)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes that it stands for, which are names of the method, too; none if it presets them."""
        if self.preset:
            return ()
        classes = self.estimators.values() if self.learner is None else (self.learner,)
        return tuple(dict.fromkeys(cls.__name__ for cls in classes))

    @property
    def spellings(self) -> tuple[str, ...]:
        """How its classes are written in Python, with what is preset."""
        given = ", ".join(f"{name}={value!r}".replace("'", '"') for name, value in self.preset.items())
        called = (f"{cls.__name__}({given})" for cls in self.estimators.values())
        return tuple(dict.fromkeys(called)) if self.preset else self.class_names

    @property
    def page(self) -> str:
        """Its page in the documentation, without a suffix; the learners of a family share one."""
        return f"methods/{self.name}" if self.learner is None else f"methods/weights_{self.about.family}"

    @property
    def predicts(self) -> bool:
        """Whether its estimators predict; those that do not are transformers."""
        return all(hasattr(cls, "predict") for cls in self.estimators.values())

    def estimator_class(self, task: str) -> type:
        """The class for a task.

        Parameters
        ----------
        task : {"classes", "values", "nothing"}
        """
        if task not in TASKS:
            raise ValueError(f"task must be one of {', '.join(map(repr, TASKS))}; got {task!r}.")
        if task not in self.estimators:
            raise ValueError(
                f"{self.name} learns from {' or '.join(self.tasks)}, not from {task}. These do: "
                f"{', '.join(names_for(task))}, and the weight learners of list_methods({task!r})."
            )
        return self.estimators[task]

    def parameters(self, task: str) -> dict[str, Any]:
        """The parameters that :meth:`make` takes for a task, with their defaults.

        Examples
        --------
        >>> from multikernel.methods import get_method
        >>> get_method("SumRule").parameters("classes")["C"]
        1.0
        """
        cls = self.estimator_class(task)
        found = machine_parameters(cls, task) | parameters_of(cls)
        if self.learner is not None:
            found.pop("learner")
            found |= own_parameters(self.learner)
        return {name: default for name, default in found.items() if name not in self.preset}

    def make(self, task: str, kernels: Any = "auto", **parameters: Any) -> Any:
        """An estimator of this method, not fitted.

        Parameters
        ----------
        task : {"classes", "values", "nothing"}
            What there is to learn from: labels, numbers, or nothing.
        kernels : "auto", "precomputed", kernel, View, or list of kernels, views and tuples
            As for :class:`multikernel.MKLClassifier`. A method with one kernel takes one.
        **parameters
            Those of the estimator by their names. Of a weight learner: its own first, then those of the
            estimator it goes under, then those of the machine (``SVC``, ``KernelRidge``, ``OneClassSVM``).
            C, epsilon, nu and alpha go to learner and machine alike where both have them; ``learner__C`` and
            ``machine__C`` mean one of the two. A learner that asks a machine about each kernel asks the one
            that goes on top.

        Returns
        -------
        estimator

        Examples
        --------
        >>> from multikernel.methods import get_method
        >>> get_method("EasyMKL").make("classes", balance=0.5, C=10).get_params()["machine__C"]
        10
        >>> get_method("EasyMKL").make("classes", balanse=0.5)
        Traceback (most recent call last):
        ...
        ValueError: easy_mkl has no parameter 'balanse'; did you mean 'balance'?
        """
        cls = self.estimator_class(task)
        parts = split(parameters, cls, self.learner, task)
        self._refuse(parts, task, kernels)
        given = kernel_argument(cls, kernels, self.name) | parts.estimator | dict(self.preset)
        if "task" in inspect.signature(cls).parameters:
            given["task"] = task
        if parts.machine:
            machine = given.get("machine")
            machine = default_machine(task) if machine is None else clone(machine)
            given["machine"] = machine.set_params(**parts.machine)
        if self.learner is not None:
            asks = {"machine": given.get("machine")} if "machine" in parameters_of(self.learner) else {}
            given["learner"] = self.learner(**parts.learner, **asks)
        model = cls(**given)
        return model.set_params(**parts.nested) if parts.nested else model

    def _refuse(self, parts: Parts, task: str, kernels: Any) -> None:
        """Parameters that nobody has, or that say the same thing twice."""
        unknown = [*parts.unknown, *(name for name in self.preset if name in parts.estimator)]
        require_known(unknown, self.parameters(task), self.name)
        if self.learner is not None and "learner" in parts.estimator:
            raise ValueError(f"{self.name} is the learner; give its parameters by their names.")
        if "kernel" in parts.estimator and not (isinstance(kernels, str) and kernels == "auto"):
            raise ValueError(f"give {self.name} its kernel once: by kernels, or by kernel.")

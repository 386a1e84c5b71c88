"""The methods of the package: estimators with their siblings, and every weight learner."""

import difflib
import inspect
import re
from functools import cache

from .. import weights
from ..weights.learner import WeightLearner
from .method import Method
from .siblings import ESTIMATORS, MACHINES, PRESETS, TASKS


def list_methods(task: str | None = None, family: str | None = None) -> list[Method]:
    """The methods, estimators first.

    Parameters
    ----------
    task : {"classes", "values", "nothing"}, optional
        Only those that learn from it.
    family : str, optional
        Only those of a family, such as "margin".

    Returns
    -------
    list of Method

    Examples
    --------
    >>> from multikernel.methods import list_methods
    >>> [method.name for method in list_methods("values", "ridge")]
    ['ridge', 'pairs', 'polynomial_ridge', 'ridge_ball']
    """
    if task is not None and task not in TASKS:
        raise ValueError(f"task must be one of {', '.join(map(repr, TASKS))}; got {task!r}.")
    families = sorted({method.about.family for method in _methods()})
    if family is not None and family not in families:
        raise ValueError(f"family must be one of {', '.join(map(repr, families))}; got {family!r}.")
    return [
        method
        for method in _methods()
        if (task is None or task in method.tasks) and (family is None or family == method.about.family)
    ]


def get_method(name: str) -> Method:
    """A method by its name, or by that of one of its classes.

    Parameters
    ----------
    name : str
        Such as "mkl", "MKLRegressor", "EasyMKL" or "easy_mkl"; capitals, "_" and "-" do not matter.

    Returns
    -------
    Method

    Examples
    --------
    >>> from multikernel.methods import get_method
    >>> get_method("LocalizedMKLRegressor").name, get_method("EasyMKL").name
    ('localized', 'easy_mkl')
    >>> get_method("localised")
    Traceback (most recent call last):
    ...
    ValueError: there is no method 'localised'; did you mean 'localized'? list_methods() has them all.
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a method must be a string, such as 'mkl'; got {name!r}.")
    known = _by_name()
    if _key(name) not in known:
        close = difflib.get_close_matches(_key(name), known, n=3)
        near = dict.fromkeys(known[key].name for key in close)
        meant = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
        raise ValueError(f"there is no method {name!r}{meant} list_methods() has them all.")
    return known[_key(name)]


@cache
def _methods() -> tuple[Method, ...]:
    """All of them. Weight learners are found by themselves: what the package exports is a method."""
    estimators = [
        Method(name, title, classes, None, *PRESETS.get(name, ({}, None)))
        for name, title, classes in ESTIMATORS
    ]
    return (*estimators, *map(_of_learner, _learners()))


@cache
def _by_name() -> dict[str, Method]:
    found: dict[str, Method] = {}
    for method in _methods():
        for name in {_key(name) for name in (method.name, *method.class_names)}:
            assert name not in found, f"two methods are called {name!r}"
            found[name] = method
    return found


def _learners() -> list[type[WeightLearner]]:
    exported = (getattr(weights, name) for name in weights.__all__)
    learners = [cls for cls in exported if inspect.isclass(cls) and issubclass(cls, WeightLearner)]
    return [cls for cls in learners if hasattr(cls, "about")]  # bases say nothing about themselves


def _of_learner(learner: type[WeightLearner]) -> Method:
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]+", learner.__name__)
    title = " ".join(word if word.isupper() or not k else word.lower() for k, word in enumerate(words))
    classes = {task: MACHINES[task] for task in TASKS if task in learner.learns_from}
    return Method("_".join(words).lower(), title, classes, learner)


def _key(name: str) -> str:
    return re.sub(r"[_\-\s]", "", name).casefold()

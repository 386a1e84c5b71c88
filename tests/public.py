"""What the package exports, at the top level and by room."""

import inspect
from importlib import import_module

from multikernel import _PACKAGES
from multikernel.core.about import About

ROOMS = ("multikernel", *(f"multikernel.{room}" for room in _PACKAGES if room not in ("core", "rows")))


def exported():
    """Every public object once, by its name."""
    found = {}
    for room in map(import_module, ROOMS):
        found |= {name: getattr(room, name) for name in getattr(room, "__all__", ())}
    return found


def public_estimators():
    """The public classes with `fit` that say what they are about, without weight learners."""
    classes = (value for value in exported().values() if inspect.isclass(value) and hasattr(value, "fit"))
    return [cls for cls in classes if isinstance(getattr(cls, "about", None), About) and not is_learner(cls)]


def is_learner(cls):
    return issubclass(cls, import_module("multikernel.rules").WeightLearner)

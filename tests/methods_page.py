"""docs/methods.md, made of what every weight learner and estimator says about itself."""

import importlib
import inspect
import pkgutil

from multikernel import rules as weights
from multikernel.registry import get_method, list_methods
from multikernel.rules import WeightLearner
from tests.public import public_estimators

ORDER = (
    "fixed",
    "heuristic",
    "similarity",
    "margin",
    "discriminant",
    "ridge",
    "survival",
    "nonlinear",
    "localized",
    "transductive",
    "boosting",
    "bayesian",
    "one kernel",
    "clustering",
    "embedding",
    "combined",
)
COLUMNS = (
    "method",
    "learns from",
    "problem",
    "solver and certificate",
    "cost",
    "when to use it",
    "reference",
)
HEAD = """# The methods

This page is written by `make docs` from what each class says about itself; do not edit it.

A **weight learner** (`multikernel.rules`) has `fit(kernels, y)`, `kernel_weights_` and `combine(kernels)`,
and goes under any kernel machine by `CombinedKernelClassifier(kernels, learner, machine)`,
`CombinedKernelRegressor` or `CombinedKernelOneClass`; an **estimator** is complete in itself. P kernels of n
samples, weights η, K_η = Σ η_m K_m. `compare(learners, X, y, kernels=kernels, baselines=True)` says whether
learning the weights helped on your data.
"""


def learners():
    """The weight learners that multikernel.rules exports, without their bases."""
    exported = (getattr(weights, name) for name in weights.__all__)
    return [c for c in exported if inspect.isclass(c) and issubclass(c, WeightLearner) and not is_base(c)]


def estimators():
    """The estimators of the package that say what they are about."""
    return sorted(public_estimators(), key=lambda cls: cls.__name__)


def all_learners():
    """Every learner in the files of multikernel.rules, exported or not, without their bases."""
    found = {}
    for module in pkgutil.walk_packages(weights.__path__, weights.__name__ + "."):
        for value in vars(importlib.import_module(module.name)).values():
            if inspect.isclass(value) and issubclass(value, WeightLearner) and not is_base(value):
                found[f"{value.__module__}.{value.__qualname__}"] = value
    return [value for name, value in found.items() if name.startswith(weights.__name__ + ".")]


def is_base(learner):
    """Whether a class is there for others to derive from: it says nothing about itself, and others do."""
    derived = [c for c in learner.__subclasses__() if c.__module__.startswith(weights.__name__ + ".")]
    return not hasattr(learner, "about") and bool(derived)


def methods_page():
    """The text of docs/methods.md."""
    families = {}
    for cls in [*learners(), *estimators()]:
        families.setdefault(cls.about.family, []).append(row_of(cls.__name__, tasks_of(cls), cls.about))
    for method in list_methods():
        if method.preset:
            row = row_of(method.spellings[0], method.tasks, method.about)
            families.setdefault(method.about.family, []).append(row)
    known = [family for family in ORDER if family in families]
    parts = [HEAD]
    for family in [*known, *sorted(families.keys() - set(known))]:
        rows = sorted(families[family])
        table = [COLUMNS, ["---"] * len(COLUMNS), *rows]
        lines = "\n".join("| " + " | ".join(row) + " |" for row in table)
        parts.append(f"## {family[0].upper()}{family[1:]}\n\n{introduction(family)}{lines}\n")
    return "\n".join(parts)


def row_of(name, tasks, about):
    return [
        f"`{name}`",
        ", ".join(tasks),
        *map(escaped, (about.problem, about.solver, about.cost, about.use, about.reference)),
    ]


def tasks_of(cls):
    """What a class learns from; of an estimator its method says so."""
    tasks = get_method(cls.__name__).estimators
    return cls.learns_from if hasattr(cls, "learns_from") else [task for task in tasks if tasks[task] is cls]


def introduction(family):
    """What the room of a family's weight learners says in its first line."""
    members = [learner for learner in learners() if learner.about.family == family]
    rooms = {".".join(learner.__module__.split(".")[:3]) for learner in members}
    if len(rooms) != 1:
        return ""
    return inspect.getdoc(importlib.import_module(rooms.pop())).splitlines()[0] + "\n\n"


def escaped(text):
    """One line that a table of Markdown takes as it is."""
    line = " ".join(text.split())
    for mark in "\\|*<`":
        line = line.replace(mark, "\\" + mark)
    return line


def readme_table():
    """The table of methods in the README: a row for each estimator, one for each family of learners."""
    head = ["method", "learns from", "when to use it", "paper"]
    several = [method for method in list_methods() if method.learner is None]
    rows = [
        [
            ", ".join(f"`{name}`" for name in method.spellings),
            ", ".join(method.tasks),
            escaped(method.about.use),
            escaped(method.about.reference),
        ]
        for method in several
    ]
    for family in ORDER:
        names = [c.__name__ for c in learners() if c.about.family == family]
        if names:
            listed = ", ".join(f"`{name}`" for name in names)
            rows.append([f"weights, {family}: {listed}", "", introduction(family).strip(), ""])
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * 4, *rows]) + "\n"

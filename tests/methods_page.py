"""docs/methods.md, made of what every weight learner and estimator says about itself."""

import importlib
import inspect
import pkgutil

from multikernel import rules as weights
from multikernel.registry import get_method, list_methods
from multikernel.rules import WeightLearner
from tests import survey_map
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
    "task",
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

LEFT_OUT_HEAD = """## Left out

Methods of the survey (Gönen & Alpaydın 2011, and chapter 2 of Gönen's thesis) that are not in the package,
with the reason, and what to use instead.

"""
LEFT_OUT_COLUMNS = ("method", "what it is", "why it is not here", "what to use instead")
LEFT_OUT = (
    (
        "Bousquet & Herrmann 2003",
        "weights on the simplex by steps along the gradient of the margin, a machine at each",
        "the problem is multiple kernel learning with norm 1; steps along the gradient need more "
        "machines, and have no certificate",
        "`MKLClassifier`, `MarginMKL`",
    ),
    (
        "Tan & Wang 2004",
        "nonnegative weights of the least upper bound of the Vapnik-Chervonenkis dimension",
        "the bound is that of the squared radius times the squared norm, which is minimized here",
        "`RadiusMargin`, convex and certified; `RadiusMarginProduct`, the product itself",
    ),
    (
        "Tsuda, Uda, Kin & Asai 2004",
        "weights by descent of a smoothed cross-validation error of kernel Fisher discriminant analysis",
        "not convex: the result depends on the start and on the sigmoid that smooths the error; an "
        "inverse of n × n for each step",
        "`KernelDiscriminantClassifier`, `DiscriminantMKL`, convex and certified; `MKLRidgeCV` chooses "
        "by the exact leave-one-out error",
    ),
    (
        "Conforti & Guido 2010",
        "weights of any sign between bounds, without a fixed trace, by a semidefinite program over the "
        "training samples",
        "what is positive semidefinite on the training samples need not be a kernel with new ones",
        '`TransductiveMKLClassifier(weight_set="free", constraints=...)`, positive semidefinite on the '
        "new samples too",
    ),
    (
        "Hu, Chen & Kwok 2009",
        "multiple kernel learning for several classes with few expansion vectors, which are learned too",
        "not convex in the vectors; its aim, cheap predictions, is reached by convex problems",
        "`ColumnBoostingClassifier` (few columns of many kernels), `KernelBank(rank=...)` (landmarks)",
    ),
    (
        "Tsang & Kwok 2006",
        "hyperkernels, kernels on pairs of samples, by second-order cone programs",
        "the problem of hyperkernels, solved here by cutting planes, without a variable for each pair",
        "`HyperkernelClassifier`, `HyperkernelRegressor`",
    ),
    (
        "Moguerza, Muñoz & de Diego 2004",
        "a weight of each kernel for each pair of samples, by heuristics",
        "the matrix may be indefinite, and heuristics that read labels have none of a new sample",
        "`LocalizedMKLClassifier`, whose gates give a kernel at any sample; `FunctionalForm` for two kernels",
    ),
    (
        "McFee & Lanckriet 2009",
        "an embedding of several kernels that keeps a partial order of distances, by a semidefinite program",
        "no other method here learns from comparisons of distances, and the program has a matrix of n × "
        "n for each kernel",
        "`KernelBoosting` where pairs are known to belong together or not; `LFDA` or "
        "`CombinedKernelPCA` for an embedding",
    ),
    (
        "Christoudias, Urtasun & Darrell 2009",
        "a Gaussian process whose covariance combines those of the views in a way that depends on the sample",
        "not convex; its aims, weights that depend on the sample and views that are noisy in some "
        "samples, are those of other models",
        "`LocalizedMKLClassifier`; `BayesianMKLClassifier` for the uncertainty of weights; "
        "`KernelBank(missing=...)` for samples that lack a view",
    ),
)


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
        parts.append(f"## {family[0].upper()}{family[1:]}\n\n{introduction(family)}{lines_of(table)}\n")
    table = [survey_map.COLUMNS, ["---", "---", "---", "--:", "--:"], *survey_map.rows()]
    parts.append(f"{survey_map.HEAD}{lines_of(table)}\n")
    table = [LEFT_OUT_COLUMNS, ["---"] * len(LEFT_OUT_COLUMNS), *LEFT_OUT]
    return "\n".join([*parts, LEFT_OUT_HEAD + lines_of(table) + "\n"])


def lines_of(table):
    """The rows of a table of Markdown."""
    return "\n".join("| " + " | ".join(row) + " |" for row in table)


def row_of(name, tasks, about):
    return [
        f"`{name}`",
        ", ".join(tasks),
        *map(escaped, (about.problem, about.solver, about.cost, about.use, about.reference)),
    ]


def tasks_of(cls):
    """The tasks of a class; those of an estimator are the tasks of its method."""
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

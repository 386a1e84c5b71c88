"""The estimators by method: which of them are one and the same problem, for different targets."""

import difflib
import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from sklearn.base import clone

from . import rules
from ._validation import check_choice, check_task, refuse_old_names
from .bayesian import BayesianMKLClassifier, BayesianMKLRegressor, ProbitMKLClassifier
from .boosting import ColumnBoostingClassifier, ColumnBoostingRegressor
from .clustering import MaxMarginClustering, MultipleKernelKMeans, RegularizedMKKM, SimpleMKKM
from .cooperative import CooperativeClassifier, CooperativeRidge
from .core.about import About
from .discriminant import KernelDiscriminantClassifier
from .gaussian_process import AdditiveGPClassifier, AdditiveGPRegressor
from .hyperkernels import HyperkernelClassifier, HyperkernelRegressor
from .localized import (
    LocalizedMKLClassifier,
    LocalizedMKLOneClass,
    LocalizedMKLRegressor,
    LocalizedRidge,
    LocalizedRidgeClassifier,
    ProjectionKernelClassifier,
    ProjectionKernelOneClass,
    ProjectionKernelRegressor,
)
from .localized.projection_base import BaseProjection
from .localized.solver.projections import PROJECTION_KERNELS
from .mkl import (
    MKLClassifier,
    MKLClassifierCV,
    MKLOneClass,
    MKLRegressor,
    MKLRegressorCV,
    MKLRidge,
    MKLRidgeClassifierCV,
    MKLRidgeCV,
    RegularizedMKLClassifier,
    RegularizedMKLRegressor,
)
from .nonstationary import NonstationaryClassifier
from .pairs import PairwiseRidge
from .parametric import (
    HierarchicalMKLClassifier,
    HierarchicalMKLRegressor,
    InfiniteMKLClassifier,
    InfiniteMKLOneClass,
    InfiniteMKLRegressor,
)
from .reduction import LFDA, MKLDR
from .rules import (
    CombinedKernelClassifier,
    CombinedKernelOneClass,
    CombinedKernelPCA,
    CombinedKernelRegressor,
    CompositionalKernelClassifier,
)
from .rules.learner import WeightLearner
from .rules.machines import default_machine
from .soft_labels import PosteriorSVC
from .spectral import ConformalKernel, KDDAClassifier, KernelKNNClassifier, SpectralKernelClassifier
from .survival import MKLSurvival, MKLSurvivalCV
from .tasks import MultiTaskMKLClassifier, MultiTaskMKLRegressor
from .transductive import TransductiveMKLClassifier
from .views import KernelBank, as_views
from .views.precomputed import storage_of
from .views.view import AUTOMATIC

__all__ = ["TASKS", "Method", "get_method", "list_methods"]

MULTICLASS = About(
    family="margin",
    problem="min ½ Σ ‖w_ml‖²/μ_m + C Σ_i Σ_{l≠y_i} [2 − f^{y_i}(x_i) + f^l(x_i)]₊, μ ≥ 0, Σ (d_m² μ_m)^p ≤ 1",
    solver="Newton's method on the weights, SMO on all classes at once; duality gap",
    cost="about ten SVM fits with n × n_classes variables; memory P n²",
    use="More than two classes with one set of kernel weights and margins between all classes.",
    reference="Weston & Watkins 1999; Zien & Ong 2007",
)


TASKS = ("classification", "regression", "unsupervised", "survival")

# name, title, and the class for each of the tasks that the method can, in their order
ESTIMATORS: tuple[tuple[Any, ...], ...] = (
    ("mkl", "Multiple kernel learning", MKLClassifier, MKLRegressor, MKLOneClass),
    ("tuned", "Penalty and norm chosen by cross-validation", MKLClassifierCV, MKLRegressorCV),
    ("ridge", "Kernel ridge regression with learned weights", None, MKLRidge),
    ("tuned_ridge", "Ridge regression with alpha and norm chosen by leave-one-out", None, MKLRidgeCV),
    ("ridge_labels", "Many labels, with kernel weights for each", MKLRidgeClassifierCV),
    ("pairs", "Ridge regression on pairs of objects", None, PairwiseRidge),
    ("survival", "Kernel weights from censored times", None, None, None, MKLSurvival),
    ("tuned_survival", "Survival models, C and norm chosen on folds", None, None, None, MKLSurvivalCV),
    ("tasks", "Weights of several tasks, learned together", MultiTaskMKLClassifier, MultiTaskMKLRegressor),
    ("cooperative", "Views that are drawn to agree", CooperativeClassifier, CooperativeRidge),
    (
        "infinite_mkl",
        "Widths of kernels, learned over an interval",
        InfiniteMKLClassifier,
        InfiniteMKLRegressor,
        InfiniteMKLOneClass,
    ),
    (
        "hierarchical_mkl",
        "Variables and interactions, selected with a hierarchy",
        HierarchicalMKLClassifier,
        HierarchicalMKLRegressor,
    ),
    ("hyperkernels", "Kernels learned as functions", HyperkernelClassifier, HyperkernelRegressor),
    ("multiclass", "All classes in one problem", MKLClassifier),
    (
        "regularized",
        "Kernel costs chosen by cross-validation",
        RegularizedMKLClassifier,
        RegularizedMKLRegressor,
    ),
    ("posterior", "Labels with doubts", PosteriorSVC),
    ("transductive", "One kernel matrix over labelled and new points", TransductiveMKLClassifier),
    (
        "localized",
        "A gate over the kernels",
        LocalizedMKLClassifier,
        LocalizedMKLRegressor,
        LocalizedMKLOneClass,
    ),
    (
        "localized_ridge",
        "A gate over the kernels of a ridge regression",
        LocalizedRidgeClassifier,
        LocalizedRidge,
    ),
    (
        "projection",
        "Projections learned with the SVM",
        ProjectionKernelClassifier,
        ProjectionKernelRegressor,
        ProjectionKernelOneClass,
    ),
    ("nonstationary", "Mixtures with weights that depend on the sample", NonstationaryClassifier),
    ("compositional", "Kernels between kernels", CompositionalKernelClassifier),
    (
        "column_boosting",
        "Boosting on single columns of kernels",
        ColumnBoostingClassifier,
        ColumnBoostingRegressor,
    ),
    ("bayesian", "Posteriors of weights and predictions", BayesianMKLClassifier, BayesianMKLRegressor),
    ("probit", "Multinomial probit on a convex combination of kernels", ProbitMKLClassifier),
    (
        "gaussian_process",
        "Gaussian processes on a learned sum of kernels",
        AdditiveGPClassifier,
        AdditiveGPRegressor,
    ),
    ("discriminant", "Discriminant analysis that learns its kernel", KernelDiscriminantClassifier),
    ("kdda", "Direct discriminant analysis", KDDAClassifier),
    ("knn", "Nearest neighbours by a kernel", KernelKNNClassifier),
    ("spectral", "A kernel learned from its spectrum", SpectralKernelClassifier),
    ("conformal", "A kernel rescaled from place to place", ConformalKernel),
    ("lfda", "Local Fisher discriminant analysis", LFDA),
    ("mkldr", "Dimension reduction with learned kernel weights", MKLDR),
    ("kmeans", "Clusters from several kernels", None, None, MultipleKernelKMeans),
    ("simple_mkkm", "SimpleMKKM", None, None, SimpleMKKM),
    (
        "regularized_mkkm",
        "Multiple kernel k-means with matrix-induced regularization",
        None,
        None,
        RegularizedMKKM,
    ),
    ("max_margin_clustering", "Maximum margin clustering", None, None, MaxMarginClustering),
    (
        "pca",
        "Principal components of a combined kernel",
        CombinedKernelPCA,
        CombinedKernelPCA,
        CombinedKernelPCA,
    ),
    (
        "combined",
        "Any weight learner with any estimator",
        CombinedKernelClassifier,
        CombinedKernelRegressor,
        CombinedKernelOneClass,
    ),
)
# methods that are another one with some of its parameters set, and what there is to say about them
PRESETS: dict[str, tuple[dict[str, Any], About]] = {"multiclass": ({"multiclass": "joint"}, MULTICLASS)}
MACHINES = ESTIMATORS[-1][2:]  # what a weight learner goes under


# --- where a parameter of a method goes: to its estimator, to the weight learner, or to the machine on top --

# What regularises a machine: where learner and machine both have it, one figure is meant for both.
_SHARED = ("C", "epsilon", "nu", "alpha")
# Of a machine on a precomputed kernel: without effect.
_IDLE = ("kernel", "gamma", "degree", "coef0", "kernel_params", "random_state")


def parameters_of(cls: type) -> dict[str, Any]:
    """The parameters of a class with their defaults, kernels and task aside: these have their own place."""
    found = {name: parameter.default for name, parameter in inspect.signature(cls).parameters.items()}
    return {name: default for name, default in found.items() if name not in ("kernels", "task")}


def storage_parameters(cls: type) -> dict[str, Any]:
    """What of the storage of a KernelBank an estimator reads, with the defaults."""
    plain = KernelBank()
    return {name: getattr(plain, name) for name in getattr(cls, "_storage_options", ())}


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
    """Refuse unknown names, and suggest similar ones."""
    for name in unknown:
        if name in known:
            raise ValueError(
                f"{method}: {name!r} is a parameter of the default machine; for the one given, set "
                f"machine__{name}."
            )
        raise ValueError(f"{method} has no parameter {name!r}{_near(name, known)}")


def _near(name: str, known: Iterable[str]) -> str:
    names = sorted(set(known))
    close = difflib.get_close_matches(name, names, n=3)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else f"; it has {', '.join(names)}."


def kernel_argument(cls: type, kernels: Any, method: str) -> dict[str, Any]:
    """The argument of a class that takes what a user calls kernels."""
    names = inspect.signature(cls).parameters
    if "kernels" in names and not issubclass(cls, BaseProjection):
        return {"kernels": one_kernel(kernels, method) if getattr(cls, "_has_one_kernel", False) else kernels}
    if isinstance(kernels, str) and kernels in AUTOMATIC:
        return {}
    if "left" in names:
        raise ValueError(
            f"{method} has kernels of left and of right objects: give them by left and right, and kernels as "
            f"'auto'; got {kernels!r}."
        )
    if isinstance(kernels, str) and kernels in PROJECTION_KERNELS:
        return {"kernels": kernels}
    raise ValueError(
        f"{method} learns the columns of its kernel itself: kernels must be one of "
        f"{', '.join(map(repr, ('auto', *PROJECTION_KERNELS)))}; got {kernels!r}."
    )


def banks_that_store(cls: type, given: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, KernelBank]:
    """The arguments of a class that describe kernels, as banks that store them so."""
    names = inspect.signature(cls).parameters
    kernels = {name: given.get(name, names[name].default) for name in cls._kernel_parameters}  # type: ignore[attr-defined]
    return {name: replace(storage_of(k), **stored) for name, k in kernels.items() if k is not None}


def one_kernel(kernels: Any, method: str) -> Any:
    """What a user calls kernels, for a method that learns with one."""
    stored = storage_of(kernels)
    if isinstance(stored.kernels, str):
        return kernels
    views = as_views(stored)
    if len(views) > 1:
        raise ValueError(
            f"{method} learns with one kernel; got {len(views)}: {', '.join(v.name for v in views)}. Make "
            "one of them by a + b or a * b, or choose a method that weighs several, such as 'mkl'."
        )
    return replace(stored, kernels=views[0]) if stored is kernels else views[0]


# --- one method: the sibling estimators that solve it, or a weight learner under a machine ------------------


@dataclass(frozen=True)
class Method:
    """A way to learn kernels, whatever the targets are.

    Attributes
    ----------
    name : str, such as "mkl"
    title : str, such as "Multiple kernel learning"
    estimators : dict from task to class
        Tasks are "classification", "regression", "unsupervised" (no targets at all) and "survival"
        (censored times).
    learner : class or None, the weight learner
    preset : dict, the parameters that make the estimators this method, where they serve another one too
    row : About or None, its row in the table of methods, where it is not that of the estimators

    Examples
    --------
    >>> from multikernel.registry import get_method
    >>> mkl = get_method("mkl")
    >>> mkl.tasks, mkl.about.family
    (('classification', 'regression', 'unsupervised'), 'margin')
    >>> mkl.make("regression", C=10)
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
        """What it can learn from, of "classification", "regression", "unsupervised" and "survival"."""
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
        task : {"classification", "regression", "unsupervised", "survival"}
        """
        check_task(task, TASKS)
        if task not in self.estimators:
            listed = list_methods(task)
            others = [method.name for method in listed if method.learner is None]
            learners = (
                f", and the weight learners of list_methods({task!r})" if len(listed) > len(others) else ""
            )
            raise ValueError(
                f"{self.name} is for {' or '.join(self.tasks)}, not for {task}. Methods for {task}: "
                f"{', '.join(others)}{learners}."
            )
        return self.estimators[task]

    def parameters(self, task: str) -> dict[str, Any]:
        """The parameters that :meth:`make` takes for a task, with their defaults.

        Examples
        --------
        >>> from multikernel.registry import get_method
        >>> get_method("SumRule").parameters("classification")["C"]
        1.0
        """
        cls = self.estimator_class(task)
        found = machine_parameters(cls, task) | parameters_of(cls) | storage_parameters(cls)
        if self.learner is not None:
            found.pop("learner")
            found |= own_parameters(self.learner)
        return {name: default for name, default in found.items() if name not in self.preset}

    def make(self, task: str, kernels: Any = "auto", **parameters: Any) -> Any:
        """An estimator of this method, not fitted.

        Parameters
        ----------
        task : {"classification", "regression", "unsupervised", "survival"}
            What y holds: labels, numbers, nothing, or censored times.
        kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
            As for :class:`multikernel.MKLClassifier`. A method with one kernel takes one.
        **parameters
            Those of the estimator by their names. Of a weight learner: its own first, then those of the
            estimator it goes under, then those of the default ``machine`` (``SVC``, ``KernelRidge``,
            ``OneClassSVM``). C, epsilon, nu and alpha go to the learner and to ``machine`` if both have them;
            ``learner__C`` and ``machine__C`` set one of the two. A learner that fits ``machine`` on each
            kernel uses the one that goes on top. How the kernels are stored, such as ``psd`` or ``gram``,
            goes to their :class:`multikernel.KernelBank`.

        Returns
        -------
        estimator

        Examples
        --------
        >>> from multikernel.registry import get_method
        >>> get_method("EasyMKL").make("classification", reg=0.5, C=10).get_params()["machine__C"]
        10
        >>> get_method("EasyMKL").make("classification", reeg=0.5)
        Traceback (most recent call last):
        ...
        ValueError: easy_mkl has no parameter 'reeg'; did you mean 'reg'?
        """
        cls = self.estimator_class(task)
        stored = {name: parameters.pop(name) for name in storage_parameters(cls) if name in parameters}
        parts = split(parameters, cls, self.learner, task)
        self._refuse(parts, task, parameters)
        given = kernel_argument(cls, kernels, self.name) | parts.estimator | dict(self.preset)
        given |= banks_that_store(cls, given, stored) if stored else {}
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

    def _refuse(self, parts: Parts, task: str, parameters: Mapping[str, Any]) -> None:
        """Parameters that nobody has, or that say the same thing twice."""
        unknown = [*parts.unknown, *(name for name in self.preset if name in parts.estimator)]
        for owner in (self.learner, self.estimator_class(task)):
            try:
                refuse_old_names(owner or "", {name: parameters[name] for name in parts.unknown})
            except TypeError as error:
                raise ValueError(str(error)) from None
        require_known(unknown, self.parameters(task), self.name)
        if self.learner is not None and "learner" in parts.estimator:
            raise ValueError(f"{self.name} is the learner; give its parameters by their names.")


# --- the methods of the package: estimators with their siblings, and every weight learner -------------------


def list_methods(task: str | None = None, family: str | None = None) -> list[Method]:
    """The methods, estimators first.

    Parameters
    ----------
    task : {"classification", "regression", "unsupervised", "survival"}, default=None
        Only those that learn from it.
    family : str, default=None
        Only those of a family, such as "margin".

    Returns
    -------
    list of Method

    Examples
    --------
    >>> from multikernel.registry import list_methods
    >>> [method.name for method in list_methods("regression", "ridge")]
    ['ridge', 'tuned_ridge', 'pairs', 'polynomial_ridge', 'ridge_ball']
    """
    if task is not None:
        check_task(task, TASKS)
    if family is not None:
        check_choice("family", family, sorted({method.about.family for method in _methods()}))
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
    >>> from multikernel.registry import get_method
    >>> get_method("LocalizedMKLRegressor").name, get_method("EasyMKL").name
    ('localized', 'easy_mkl')
    >>> get_method("easymkl2")
    Traceback (most recent call last):
    ...
    ValueError: there is no method 'easymkl2'; did you mean 'easy_mkl'? list_methods() has them all.
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
        Method(name, title, _by_task(classes), None, *PRESETS.get(name, ({}, None)))
        for name, title, *classes in ESTIMATORS
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
    exported = (getattr(rules, name) for name in rules.__all__)
    learners: list[Any] = [cls for cls in exported if inspect.isclass(cls) and issubclass(cls, WeightLearner)]
    return [cls for cls in learners if hasattr(cls, "about")]  # bases say nothing about themselves


def _of_learner(learner: type[WeightLearner]) -> Method:
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]+", learner.__name__)
    title = " ".join(word if word.isupper() or not k else word.lower() for k, word in enumerate(words))
    classes = [
        cls if task in learner.learns_from else None for task, cls in zip(TASKS, MACHINES, strict=False)
    ]
    return Method("_".join(words).lower(), title, _by_task(classes), learner)


def _by_task(classes: Iterable[type | None]) -> dict[str, type]:
    return {task: cls for task, cls in zip(TASKS, classes, strict=False) if cls is not None}


def _key(name: str) -> str:
    return re.sub(r"[_\-\s]", "", name).casefold()

"""What a model is compared with: itself without a view, simple rules on its kernels, late fusion, models of
columns, and estimators of the user's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_regressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import Tags, get_tags

from ..._typing import Array
from ..._validation import as_list, check_choice
from ...discriminant.classifier import KernelDiscriminantClassifier
from ...localized.estimators import LocalizedMKLClassifier, LocalizedMKLRegressor
from ...mkl.classifier import MKLClassifier
from ...mkl.regressors import MKLRegressor, MKLRidge
from ...mkl.regularized.base import Regularized
from ...rows import count_rows
from ...rules import BestSingle, MeanRule, SumRule
from ...rules.combined import CombinedKernelClassifier, CombinedKernelRegressor
from ...rules.machines import default_machine, machine_for
from ...survival import MKLSurvival, MKLSurvivalCV
from ...views import KernelBank, as_views
from ...views.low_rank import LARGEST_DENSE
from ...views.precomputed import storage_of
from ...views.stacks import NamedStack, names_of
from ...views.tables import is_tables
from ...views.view import kept_views
from ..scoring import TASKS, task_of
from ..subject import Subject, costs_without, without_view
from .columns import (
    BOOSTING,
    COLUMN_RIVALS,
    ELASTIC_NET,
    FOREST,
    RBF,
    AllColumns,
    NoColumns,
    column_rival,
    describe_table,
    why_not,
)
from .fusion import LateFusionClassifier, LateFusionRegressor
from .survival import BEST, RANKS, SUM, SurvivalOfViews, cox_elastic_net, why_no_survival
from .survival import STACKING as STACKED

SINGLE, PLAIN_SUM, SCALED_SUM = "best single view", "plain sum", "scaled sum"
LATE_FUSION, STACKING = "late fusion", "stacking"
KEPT = "kept views alone"
KERNEL_RIVALS = (SINGLE, PLAIN_SUM, SCALED_SUM, LATE_FUSION, STACKING)
BASELINES = (*KERNEL_RIVALS, RBF, ELASTIC_NET, FOREST, BOOSTING)
GROUPS = {"usual": (SINGLE, PLAIN_SUM, RBF), "all": BASELINES}
_MOST_VIEWS = 30  # that are left out one at a time
_OF_Y = ("C", "epsilon")  # parameters in the unit of the values, where they are numbers
_FAR_OFF = 10.0  # times larger or smaller than 1 is a standard deviation that C and epsilon do not suit
_OF_THE_WEIGHTS = ("kernels", "norm", "costs")  # parameters that one precomputed kernel does not need
_PLAIN_MACHINES = (MKLClassifier, MKLRegressor, MKLRidge, KernelDiscriminantClassifier, MKLSurvival)


@dataclass(frozen=True)
class Contender:
    """An unfitted estimator, and one sentence on what it is."""

    estimator: Any
    what: str = ""


@dataclass
class Report:
    """What cannot be given, and what should be known of the rest."""

    omitted: list[dict[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def omit(self, part: str, why: str) -> None:
        entry = {"part": part, "why": why}
        if entry not in self.omitted:
            self.omitted.append(entry)

    def omit_all(self, parts: Iterable[str], why: str) -> None:
        for part in parts:
            self.omit(part, why)


# ------------------------------------------------------------------ which are wanted
@dataclass(frozen=True)
class Choice:
    """The baselines that are wanted: by name, and estimators of the user's own."""

    names: tuple[str, ...] = ()  # in the order of BASELINES
    asked: frozenset[str] = frozenset()  # those named one by one: it is an error where they do not apply
    own: Mapping[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.names or self.own)

    def left_out(self, names: Iterable[str], why: str, report: Report) -> None:
        """Say why baselines are left out; an error for those that were asked for by name."""
        names = [name for name in names if name in self.names]
        for name in names:
            if name in self.asked:
                raise ValueError(f"baselines names {name!r}, which does not apply: {why} Leave it out.")
        if names:
            report.omit("baselines", f"{listed(names)}: {why}")


def choose_baselines(baselines: Any, also: tuple[str, ...] = ()) -> Choice:
    """What a ``baselines=`` argument asks for; `also` are further names that the caller knows.

    Examples
    --------
    >>> choose_baselines(True).names
    ('best single view', 'plain sum', 'tuned RBF SVM')
    >>> choose_baselines(["stacking", "plain sum"]).names
    ('plain sum', 'stacking')
    """
    known = (*also, *BASELINES)
    if isinstance(baselines, bool | np.bool_):
        return Choice((*also, *GROUPS["usual"])) if baselines else Choice()
    if isinstance(baselines, Mapping):
        entries: list[Any] = list(baselines.items())
    elif isinstance(baselines, str):
        entries = [baselines]
    else:
        entries = as_list("baselines", baselines, "names and (name, estimator) pairs, a dict or a bool")
    wanted: list[str] = []
    own: dict[str, Any] = {}
    for entry in entries:
        if isinstance(entry, tuple | list) and len(entry) == 2 and not isinstance(entry[1], str):
            name, estimator = entry
            _check_own(name, estimator, known, own)
            own[name] = estimator
        elif hasattr(entry, "fit"):
            raise TypeError(
                f"an estimator among the baselines must have a name; got {entry!r}. Use a pair "
                "(name, estimator) or a dict by name."
            )
        else:
            wanted.append(check_choice("baselines", entry, (*known, *GROUPS)))
    asked = frozenset(wanted) - GROUPS.keys()
    all_names = asked.union(*(GROUPS[name] for name in wanted if name in GROUPS))
    if any(name in GROUPS for name in wanted):
        all_names |= set(also)
    return Choice(tuple(name for name in known if name in all_names), asked, own)


def _check_own(name: Any, estimator: Any, known: Sequence[str], own: Mapping[str, Any]) -> None:
    if not isinstance(name, str) or not name:
        raise TypeError(f"an estimator among the baselines must have a name, a non-empty str; got {name!r}.")
    if name in known or name in GROUPS or name in own:
        raise ValueError(f"baselines must have distinct names; {name!r} is taken. Choose a different name.")
    needed = ("fit", "predict", "get_params", "__sklearn_tags__")
    if isinstance(estimator, type) or not all(hasattr(estimator, part) for part in needed):
        raise TypeError(
            f"baseline {name!r} must be an estimator of scikit-learn's kind, with fit, predict and "
            f"get_params; got {estimator!r}." + (" Call the class." if isinstance(estimator, type) else "")
        )


def own_contenders(choice: Choice, task: str, X: Any, precomputed: bool) -> dict[str, Contender]:
    """The estimators of the user's own: they read what the models read.

    Of several tables, estimators that are not of this library read all columns beside each other.
    """
    kind = {"classification": "classifier", "regression": "regressor"}.get(task, f"{task} model")
    found = {}
    for name, estimator in choice.own.items():
        if task_of(estimator) != task:
            raise ValueError(
                f"baseline {name!r} must be a {kind}, as the model is; got {type(estimator).__name__}."
            )
        if precomputed and not get_tags(estimator).input_tags.pairwise:
            raise ValueError(
                f"baseline {name!r} must read kernels, since X holds precomputed ones and no columns; got "
                f"{type(estimator).__name__}. Use an estimator with kernels='precomputed', or fit the model "
                "to the columns."
            )
        what = f"{type(estimator).__name__} as it was given, fitted anew in each fold"
        if is_tables(X) and not _reads_views(estimator):
            estimator = make_pipeline(AllColumns(), estimator)
            what += ", to the columns of all tables (gaps filled, categories one-hot)"
        found[name] = Contender(estimator, f"{what}.")
    return found


def _reads_views(estimator: Any) -> bool:
    """Whether an estimator, or a part of it, is of this library, and so reads several tables."""
    package = __name__.partition(".")[0]
    parts = (estimator, *estimator.get_params(deep=True).values())
    return any(type(part).__module__.partition(".")[0] == package for part in parts)


def listed(names: Sequence[str]) -> str:
    """Names in a row: a, b and c."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# ------------------------------------------------------------------ without a view
def leave_out(subject: Subject, X: Any, report: Report) -> dict[str, Contender]:
    """The model without each of its views, as "without a"; X are the samples of the fit."""
    part, views = "without_view", subject.views
    why = _why_no_view_is_left_out(subject)
    if why:
        report.omit(part, why)
        return {}
    if len(views) > _MOST_VIEWS:
        shares = subject.shares()
        views = sorted(views, key=lambda view: -abs(shares[view]))[:_MOST_VIEWS]
        report.notes.append(
            f"Of {len(shares)} views, the {_MOST_VIEWS} of largest share were left out in turn."
        )
    if _chooses_kernels(subject):
        report.notes.append(
            "The search chooses the kernels: without a view, it chooses from the same kernels without it."
        )
    found = {}
    for view in views:
        try:
            found[f"without {view}"] = Contender(_without(subject, view, X))
        except (TypeError, ValueError) as error:
            report.omit(part, f"view {view!r}: {error}")
    return found


def _why_no_view_is_left_out(subject: Subject) -> str | None:
    if not hasattr(subject.final, "kernels") or not hasattr(subject.final, "kernel_weights_"):
        return f"{type(subject.final).__name__} has no weights of views."
    if len(subject.views) < 2:
        return "there is one view only: nothing is left without it."
    if subject.search is not None and subject.search.chooses("costs"):
        return "the search chooses the costs, one for each view: they do not fit fewer views."
    return None


def _chooses_kernels(subject: Subject) -> bool:
    return subject.search is not None and not subject.is_precomputed and subject.search.chooses("kernels")


def _without(subject: Subject, view: str, X: Any) -> Any:
    if subject.is_precomputed:
        position = subject.views.index(view)
        return make_pipeline(WithoutKernel(position), subject.fresh(**costs_without(subject.final, position)))
    parameters = without_view(subject, view, X)
    if subject.search is None or not _chooses_kernels(subject):
        return subject.fresh(**parameters)

    def others(kernels: Any) -> Any:
        left = [each for each in as_views(kernels) if each.name != view] or None
        return replace(kernels, kernels=left) if left and isinstance(kernels, KernelBank) else left

    own = others(subject.model.get_params()[f"{subject.prefix}kernels"])  # where the grid names none
    model = subject.fresh(**(parameters if own is None else {**parameters, "kernels": own}))
    return subject.search.with_choices(model, "kernels", others)


@dataclass(eq=False, repr=False)
class WithoutKernel(TransformerMixin, BaseEstimator):
    """Leaves one kernel out of a stack, before an estimator with ``kernels="precomputed"``."""

    position: int

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags

    def fit(self, X: Any, y: Any = None) -> WithoutKernel:
        return self

    def transform(self, X: Any) -> Array:
        """The stack (n, n_train, n_kernels - 1) of the other kernels, with the names that they have."""
        kernels_first = np.moveaxis(np.asarray(X), 2, 0)
        others = np.moveaxis(np.delete(kernels_first, self.position, axis=0), 0, 2)
        names = names_of(X)
        return others if names is None else NamedStack(others, np.delete(names, self.position).tolist())


# ------------------------------------------------------------------ rivals
def rivals(
    subject: Subject, data: tuple[Any, Any], report: Report, choice: Choice | None = None
) -> dict[str, Contender]:
    """The baselines of a fitted model, as far as they can be fitted, in the order of `BASELINES`."""
    choice = choose_baselines(True, (KEPT,)) if choice is None else choice
    X, y = data
    if subject.task not in TASKS:
        choice.left_out(choice.names, "they predict labels or values.", report)
        return own_contenders(choice, subject.task, X, subject.is_precomputed)
    if subject.task == "regression" and np.ndim(y) > 1:
        choice.left_out(choice.names, "they predict one value a sample, and y has several columns.", report)
        return own_contenders(choice, subject.task, X, subject.is_precomputed)
    choice = suited(choice, subject.task)
    wanted = choice.names
    if why := _why_no_grams(subject, count_rows(X)):
        heavy = [name for name in wanted if name in (KEPT, *KERNEL_RIVALS, RBF)]
        choice.left_out(heavy, why, report)
        wanted = tuple(name for name in wanted if name not in heavy)
    note_units(subject.final, y, report)
    found = kept_rival(subject, choice, report) if KEPT in wanted else {}
    simple = [name for name in wanted if name in KERNEL_RIVALS]
    if simple and (why := why_no_simple_rules(subject)):
        choice.left_out(simple, why, report)
    elif simple:
        found |= simple_rules(subject, simple)
    inputs = X if subject.is_precomputed else subject.inputs(X)
    return {
        **found,
        **column_rivals([subject], (inputs, y), wanted, choice, report),
        **own_contenders(choice, subject.task, X, subject.is_precomputed and not subject.steps),
    }


def kept_rival(subject: Subject, choice: Choice, report: Report) -> dict[str, Contender]:
    """The model on the views that it keeps (``View(keep=...)``), where there are others beside them."""
    final, kept = subject.final, getattr(subject.final, "kept_views_", [])
    if not kept or len(kept) == len(subject.views):
        if KEPT in choice.asked:
            choice.left_out([KEPT], "the model keeps none of several views (View(keep=True)).", report)
        return {}
    views = [view for view in as_views(final.kernels) if view.name in kept]
    if len(views) != len(kept) or _chooses_kernels(subject):
        why = "the search chooses the kernels" if _chooses_kernels(subject) else "its views are by table"
        choice.left_out([KEPT], f"{why}.", report)
        return {}
    parameters: dict[str, Any] = {"kernels": replace(final._storage, kernels=views)}
    if getattr(final, "costs", None) is not None:
        parameters["costs"] = final._costs[np.isin(final.view_names_, kept)]
    named = ", ".join(repr(name) for name in kept)
    what = f"The same model on {named} alone: what the other views add is the difference to it."
    return {KEPT: Contender(subject.fresh(**parameters), what)}


def simple_rules(subject: Subject, wanted: Iterable[str], scoring: Any = None) -> dict[str, Contender]:
    """Rivals on the kernels of the model, under its machine: one view, sums of all, late fusion.

    They read the kernels as the model does, without a scale of their own. (The scaled sum has one, and so has
    a model that brings its combined kernel to a mean diagonal of 1.)
    """
    machine, words = same_machine(subject)
    machine, words = _searched(subject, machine, words)
    if subject.task == "survival":
        return _survival_rules(subject, wanted, machine, words)
    scaled = bool(getattr(subject.final, "normalize", False)) and hasattr(subject.final, "learner")
    fusion = LateFusionClassifier if subject.task == "classification" else LateFusionRegressor
    said = "probabilities, calibrated on inner folds," if subject.task == "classification" else "predictions"
    final = "Logistic" if subject.task == "classification" else "Ridge"
    made = {
        SINGLE: (
            _combined(subject, BestSingle(machine, scoring=scoring, normalize=scaled), machine, scaled),
            f"The view that does best by cross-validation within the training part, alone, under {words}.",
        ),
        PLAIN_SUM: (
            _combined(subject, SumRule(), machine, scaled),
            f"The sum of all kernels, as they are, under {words}.",
        ),
        SCALED_SUM: (
            _combined(subject, MeanRule(), machine, True),
            f"The mean of all kernels, each at a mean diagonal of 1, under {words}.",
        ),
        LATE_FUSION: (
            fusion(_plain_bank(subject), machine, "mean", normalize=scaled),
            f"The mean of the {said} of models of one view each, under {words}.",
        ),
        STACKING: (
            fusion(_plain_bank(subject), machine, "stacking", normalize=scaled),
            f"{final} regression on out-of-fold scores of models of one view each, under {words}.",
        ),
    }
    found = {
        name: Contender(subject.around(estimator), what)
        for name, (estimator, what) in made.items()
        if name in wanted
    }
    if PLAIN_SUM in wanted and (equal := _equal_weights(subject)) is not None:
        found[PLAIN_SUM] = equal
    return found


def _equal_weights(subject: Subject) -> Contender | None:
    """The plain sum of a model whose samples may lack views, which weight rules do not take; else None."""
    final = subject.final
    if getattr(final, "missing_", "error") == "error":
        return None
    known = final.get_params(deep=False)
    equal: dict[str, Any] = {"norm": np.inf, "norms": [np.inf], "costs": None}
    parameters = {name: value for name, value in equal.items() if name in known}
    if not {"norm", "norms"} & parameters.keys():
        return None
    return Contender(subject.fresh(**parameters), "The same model with equal weights.")


def _survival_rules(
    subject: Subject, wanted: Iterable[str], machine: Any, words: str
) -> dict[str, Contender]:
    """The same rivals of a survival model."""
    texts = {
        SINGLE: (BEST, False, "The view with the best C-index on inner folds, alone"),
        PLAIN_SUM: (SUM, False, "The sum of all kernels, as they are"),
        SCALED_SUM: (SUM, True, "The sum of all kernels, each at a mean diagonal of 1"),
        LATE_FUSION: (RANKS, False, "The mean rank of the risks of models of one view each"),
        STACKING: (STACKED, False, "Cox's model on out-of-fold risks of models of one view each"),
    }
    bank = _plain_bank(subject)
    return {
        name: Contender(
            subject.around(SurvivalOfViews(bank, machine, way, normalize=scaled)), f"{what}, under {words}."
        )
        for name, (way, scaled, what) in texts.items()
        if name in wanted
    }


def suited(choice: Choice, task: str) -> Choice:
    """A choice for a task: the usual rivals of censored times have Cox's elastic net for the SVM."""
    if task != "survival" or RBF not in choice.names or RBF in choice.asked:
        return choice
    names = dict.fromkeys(ELASTIC_NET if name == RBF else name for name in choice.names)
    return replace(choice, names=tuple(names))


def _why_no_grams(subject: Subject, n: int) -> str | None:
    """Why the rivals, which need whole Gram matrices of half of the samples, are left out, if so."""
    if getattr(subject.final, "gram_", None) not in ("low_rank", "working_set") or n <= 2 * LARGEST_DENSE:
        return None
    return (
        f"the rivals need whole Gram matrices of half of the {n} samples, and the model was fitted to "
        "factors of low rank, or to working sets. Evaluate it on fewer samples."
    )


def note_units(final: Any, y: Any, report: Report) -> None:
    """Say so where the price and the free errors of a model are far from the scale of its values."""
    if not is_regressor(final) or not all(isinstance(getattr(final, p, None), int | float) for p in _OF_Y):
        return
    sd = float(np.std(np.asarray(y, float)))
    if not 1.0 / _FAR_OFF <= sd <= _FAR_OFF:
        report.notes.append(
            f"C and epsilon of {type(final).__name__} are in the units of y, whose standard deviation is "
            f"{sd:.2g}: a model of standardised values may do better."
        )


def why_no_simple_rules(subject: Subject) -> str | None:
    final = subject.final
    if isinstance(final, Pipeline) or hasattr(final, "estimator"):
        return f"{type(final).__name__} is compared as a whole, whatever is in it."
    if not hasattr(final, "kernels") or getattr(final, "_has_one_kernel", False):
        return f"{type(final).__name__} has no views to choose from or to sum."
    kernels = storage_of(final.kernels).kernels
    known = len(subject.views) or (len(kernels) if isinstance(kernels, list) else 2)
    return "there is one view only, nothing to choose from or to sum." if known == 1 else None


def _searched(subject: Subject, machine: Any, words: str) -> tuple[Any, str]:
    """A machine whose parameters are searched for as those of the model are, as far as it has them."""
    search = subject.search
    if search is None:
        return machine, words
    head = "machine__" if hasattr(subject.final, "machine") else ""
    copied = clone(machine) if subject.task == "survival" else machine_for(subject.task, machine)
    found, names = search.over(copied, head, _OF_THE_WEIGHTS)
    taken = {search.prefix + head + name for name in names}
    kept = [name for name in search.names if name not in taken and _matters(name, search.prefix)]
    kept = kept if search.names else ["the parameters"]
    if names:
        words += f", {', '.join(names)} searched for within the training part as for the model"
    if kept:
        words += f", {', '.join(kept)} as the search chose on all samples, those of the test included"
    return found, words


def _matters(name: str, prefix: str) -> bool:
    """Whether a parameter of the model is one of its rivals as well: its kernels, or the steps before it."""
    own = name.removeprefix(prefix) if name.startswith(prefix) else None
    return own is None or own == "kernels" or own.split("__")[0] == "machine"


def _combined(subject: Subject, learner: Any, machine: Any, scaled: bool) -> Any:
    estimator = CombinedKernelClassifier if subject.task == "classification" else CombinedKernelRegressor
    return estimator(_plain_bank(subject), learner, machine, normalize=scaled)


def _plain_bank(subject: Subject) -> KernelBank:
    """The kernels of the model as whole Gram matrices, without lower bounds of weights."""
    stored = subject.final._storage
    kernels = stored.kernels if isinstance(stored.kernels, str) else as_views(stored)
    on_factors = getattr(subject.final, "gram_", None) == "low_rank"
    if (on_factors or kept_views(kernels)) and not isinstance(kernels, str):
        plain = [replace(view, keep=False) for view in as_views(kernels)]
        kernels = [replace(view, approximation=None, rank=None) for view in plain] if on_factors else plain
    return KernelBank(kernels, psd=stored.psd, standardize=stored.standardize, normalize=stored.normalize)


def same_machine(subject: Subject) -> tuple[Any, str]:
    """The machine of the model, for one precomputed kernel, and what it is called."""
    final = subject.final
    name = type(final).__name__
    if hasattr(final, "machine"):
        return final.machine, "the same machine"
    if subject.task == "survival" and not isinstance(final, MKLSurvival):
        return _survival_machine(final)
    if isinstance(final, _PLAIN_MACHINES) and not isinstance(final, Regularized):
        plain = clone(final)
        unused: dict[str, Any] = {"norm": 1.0, "costs": None, "probability": False}
        unused |= {"callback": None, "verbose": 0}
        known = plain.get_params(deep=False)
        kernels: Any = "precomputed"
        if isinstance(final.kernels, KernelBank):
            kernels = replace(final.kernels, kernels="precomputed", gram="dense", rank=None)
        plain.set_params(kernels=kernels, **{k: v for k, v in unused.items() if k in known})
        return plain, f"the machine of {name} with the same parameters"
    if isinstance(final, LocalizedMKLClassifier | LocalizedMKLRegressor | Regularized):
        kind = MKLRegressor if subject.task == "regression" else MKLClassifier
        shared = {
            key: value
            for key, value in final.get_params(deep=False).items()
            if key in ("C", "epsilon", "class_weight", "multiclass", "random_state")
        }
        return kind("precomputed", **shared), "a support vector machine with the same C"
    return _usual_machine(subject)


def _survival_machine(final: Any) -> tuple[Any, str]:
    """The machine of a tuned survival model, tuned as it is; of any other, the default."""
    if isinstance(final, MKLSurvivalCV):
        plain = clone(final).set_params(kernels="precomputed", norms=(1.0,), costs=None, callback=None)
        return plain.set_params(normalizations=None, verbose=0), "the same machine, tuned in the same way"
    return MKLSurvival("precomputed"), "Cox's model with C = 1"


def _usual_machine(subject: Subject) -> tuple[Any, str]:
    """A machine for the rivals of a model that has none of its own; the units of the values do not matter."""
    final = subject.final
    C, epsilon = getattr(final, "C", None), getattr(final, "epsilon", None)
    price = float(C) if isinstance(C, int | float) and np.isfinite(C) else None
    if subject.task == "regression":
        if price is not None and isinstance(epsilon, int | float):
            machine = MKLRegressor("precomputed", C=price, epsilon=epsilon, random_state=0)
            return machine, "support vector regression with the same C and epsilon"
        return MKLRidge("precomputed", random_state=0), "ridge regression with an intercept and alpha = 1"
    machine = default_machine(subject.task)
    if price is not None and "C" in machine.get_params():
        return machine.set_params(C=price), f"{type(machine).__name__} with the same C"
    return machine, f"{type(machine).__name__} with its defaults"


def machine_label(subject: Subject) -> str:
    """The machine of the rivals in a few words, such as "SVC with C=1"."""
    machine = same_machine(subject)[0]
    machine = machine if subject.task == "survival" else machine_for(subject.task, machine)
    known = machine.get_params(deep=False)
    prices = [name for name in ("C", "alpha", "reg") if isinstance(known.get(name), int | float)]
    return type(machine).__name__ + "".join(f" with {name}={known[name]:g}" for name in prices[:1])


# ------------------------------------------------------------------ models of columns
def column_rivals(
    subjects: Sequence[Subject],
    data: tuple[Any, Any],
    wanted: Iterable[str],
    choice: Choice,
    report: Report,
) -> dict[str, Contender]:
    """Rivals on all columns that the views of the models read; of one model, behind the steps before it.

    Models whose views are not known read all columns.
    """
    names = [name for name in BASELINES if name in wanted and name in COLUMN_RIVALS]
    first, found = subjects[0], {}
    if not names:
        return {}
    if any(subject.is_precomputed or _is_pairwise(subject.model) for subject in subjects):
        choice.left_out(names, "the kernels are precomputed: there are kernels only, and no columns.", report)
        return {}
    finals = [subject.final for subject in subjects]
    views = [final.kernels for final in finals if hasattr(final, "kernels")]
    try:
        table, skipped = describe_table(first.task, *data, views if len(views) == len(finals) else [])
    except NoColumns as error:
        choice.left_out(names, str(error), report)
        return {}
    ending = " Without what these views read, which is no column: " + ", ".join(skipped) + "."
    ending = (" Behind the same steps of the pipeline." if first.steps else "") + (ending if skipped else "")
    for name in names:
        survival = first.task == "survival"
        if why := (why_no_survival(name, data[1]) if survival else why_not(name, table)):
            choice.left_out([name], why, report)
            continue
        estimator, what = cox_elastic_net(table.columns) if survival else column_rival(name, table)
        found[name] = Contender(first.around(estimator), what + ending)
    return found


def _is_pairwise(model: Any) -> bool:
    return bool(get_tags(model).input_tags.pairwise)

"""What a model is compared with: itself without a view, one view alone, the plain sum, a tuned RBF SVM."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_regressor
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils import Tags

from .._typing import Array
from ..discriminant.classifier import KernelDiscriminantClassifier
from ..localized.estimators import LocalizedMKLClassifier, LocalizedMKLRegressor
from ..mkl.classifier import MKLClassifier
from ..mkl.regressors import MKLRegressor, MKLRidge
from ..mkl.regularized.classifier import RegularizedMKLClassifier
from ..rows import count_rows
from ..rules import BestSingle, MeanRule
from ..rules.combined import CombinedKernelClassifier, CombinedKernelRegressor
from ..rules.machines import default_machine, machine_for
from ..views import KernelBank, as_views
from ..views.low_rank import LARGEST_DENSE
from ..views.precomputed import storage_of
from ..views.stacks import NamedStack, names_of
from ..views.tables import is_tables
from ..views.view import kept_views
from .subject import Subject, costs_without, without_view

SINGLE, PLAIN_SUM, RBF = "best single view", "plain sum", "tuned RBF SVM"
KEPT = "kept views alone"
_MOST_VIEWS = 30  # that are left out one at a time
_FAR_OFF = 10.0  # times larger or smaller than 1 is a standard deviation that C and epsilon do not suit
_PRICES = (0.1, 1.0, 10.0, 100.0)
_WIDTHS = (0.01, 0.1, 1.0, 10.0)  # times 1 / (number of columns), of standardised columns
_OF_THE_WEIGHTS = ("kernels", "norm", "costs")  # parameters that one precomputed kernel does not need
_PLAIN_MACHINES = (MKLClassifier, MKLRegressor, MKLRidge, KernelDiscriminantClassifier)


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
def rivals(subject: Subject, data: tuple[Any, Any], report: Report) -> dict[str, Contender]:
    """The kept views alone, the best single view, the plain sum and the tuned RBF machine, as far as they
    can be fitted.
    """
    if subject.task == "values" and np.ndim(data[1]) > 1:
        report.omit("baselines", "the rivals predict one value a sample, and y has several columns.")
        return {}
    if why := _why_no_grams(subject, count_rows(data[0])):
        report.omit("baselines", why)
        return {}
    note_units(subject.final, data[1], report)
    return {
        **kept_rival(subject, report),
        **simple_rules(subject, report),
        **rbf_rival(subject, data, report),
    }


def kept_rival(subject: Subject, report: Report) -> dict[str, Contender]:
    """The model on the views that it keeps (``View(keep=...)``), where there are others beside them."""
    final, kept = subject.final, getattr(subject.final, "kept_views_", [])
    if not kept or len(kept) == len(subject.views):
        return {}
    views = [view for view in as_views(final.kernels) if view.name in kept]
    if len(views) != len(kept) or _chooses_kernels(subject):
        why = "the search chooses the kernels" if _chooses_kernels(subject) else "its views are by table"
        report.omit("baselines", f"{KEPT}: {why}.")
        return {}
    parameters: dict[str, Any] = {"kernels": replace(final._storage, kernels=views)}
    if getattr(final, "costs", None) is not None:
        parameters["costs"] = final._costs[np.isin(final.view_names_, kept)]
    named = ", ".join(repr(name) for name in kept)
    what = f"The same model on {named} alone: what the other views add is the difference to it."
    return {KEPT: Contender(subject.fresh(**parameters), what)}


def simple_rules(subject: Subject, report: Report, scoring: Any = None) -> dict[str, Contender]:
    """One view alone, chosen by the scoring, and the sum of all, under the machine of the model."""
    why = _why_no_simple_rules(subject)
    if why:
        report.omit("baselines", f"{SINGLE} and {PLAIN_SUM}: {why}")
        return {}
    machine, words = same_machine(subject)
    machine, words = _searched(subject, machine, words)
    return {
        SINGLE: Contender(
            subject.around(_combined(subject, BestSingle(machine, scoring=scoring), machine)),
            f"The view that does best by cross-validation within the training part, alone, under {words}.",
        ),
        PLAIN_SUM: Contender(
            subject.around(_combined(subject, MeanRule(), machine)),
            f"The mean of all views, each at a mean diagonal of 1, under {words}.",
        ),
    }


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
    if not is_regressor(final) or not (hasattr(final, "C") and hasattr(final, "epsilon")):
        return
    sd = float(np.std(np.asarray(y, float)))
    if not 1.0 / _FAR_OFF <= sd <= _FAR_OFF:
        report.notes.append(
            f"C and epsilon of {type(final).__name__} are in the units of y, whose standard deviation is "
            f"{sd:.2g}: a model of standardised values may do better."
        )


def _why_no_simple_rules(subject: Subject) -> str | None:
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
    found, names = search.over(machine_for(subject.task, machine), head, _OF_THE_WEIGHTS)
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


def _combined(subject: Subject, learner: Any, machine: Any) -> Any:
    estimator = CombinedKernelClassifier if subject.task == "classes" else CombinedKernelRegressor
    stored = subject.final._storage
    kernels = stored.kernels if isinstance(stored.kernels, str) else as_views(stored)
    on_factors = getattr(subject.final, "gram_", None) == "low_rank"
    if (on_factors or kept_views(kernels)) and not isinstance(kernels, str):
        plain = [replace(view, keep=False) for view in as_views(kernels)]
        kernels = [replace(view, approximation=None, rank=None) for view in plain] if on_factors else plain
    bank = KernelBank(kernels, psd=stored.psd, standardize=stored.standardize, normalize=stored.normalize)
    return estimator(bank, learner, machine)


def same_machine(subject: Subject) -> tuple[Any, str]:
    """The machine of the model, for one precomputed kernel, and what it is called."""
    final = subject.final
    name = type(final).__name__
    if hasattr(final, "machine"):
        return final.machine, "the same machine"
    if isinstance(final, _PLAIN_MACHINES) and not isinstance(final, RegularizedMKLClassifier):
        plain = clone(final)
        unused: dict[str, Any] = {"norm": 1.0, "costs": None, "probability": False}
        unused |= {"callback": None, "verbose": 0}
        known = plain.get_params(deep=False)
        kernels: Any = "precomputed"
        if isinstance(final.kernels, KernelBank):
            kernels = replace(final.kernels, kernels="precomputed", gram="dense", rank=None)
        plain.set_params(kernels=kernels, **{k: v for k, v in unused.items() if k in known})
        return plain, f"the machine of {name} with the same parameters"
    if isinstance(final, LocalizedMKLClassifier | LocalizedMKLRegressor | RegularizedMKLClassifier):
        kind = MKLRegressor if subject.task == "values" else MKLClassifier
        shared = {
            key: value
            for key, value in final.get_params(deep=False).items()
            if key in ("C", "epsilon", "class_weight", "multiclass", "random_state")
        }
        return kind("precomputed", **shared), "a support vector machine with the same C"
    return _usual_machine(subject)


def _usual_machine(subject: Subject) -> tuple[Any, str]:
    """A machine for the rivals of a model that has none of its own; the units of the values do not matter."""
    final = subject.final
    C, epsilon = getattr(final, "C", None), getattr(final, "epsilon", None)
    price = float(C) if isinstance(C, int | float) and np.isfinite(C) else None
    if subject.task == "values":
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
    machine = machine_for(subject.task, same_machine(subject)[0])
    known = machine.get_params(deep=False)
    prices = [name for name in ("C", "alpha", "reg") if isinstance(known.get(name), int | float)]
    return type(machine).__name__ + "".join(f" with {name}={known[name]:g}" for name in prices[:1])


# ------------------------------------------------------------------ one tuned kernel on all columns
def rbf_rival(subject: Subject, data: tuple[Any, Any], report: Report) -> dict[str, Contender]:
    """The tuned RBF machine, behind the same steps of a pipeline."""
    inputs = data[0] if subject.is_precomputed else subject.inputs(data[0])
    why = why_no_rbf(inputs, subject)
    if why:
        report.omit("baselines", f"{RBF}: {why}")
        return {}
    what = (
        "A support vector machine with one Gaussian kernel on all columns, standardised"
        + (", and so are the values" if subject.task == "values" else "")
        + "; C and gamma by cross-validation within the training part"
        + ("; behind the same steps of the pipeline." if subject.steps else ".")
    )
    return {RBF: Contender(subject.around(rbf_machine(subject.task, (inputs, data[1]))), what)}


def why_no_rbf(X: Any, subject: Subject) -> str | None:
    """Why there is no RBF machine on all columns, if so."""
    if subject.is_precomputed:
        return "there are kernels only, and no columns."
    if is_tables(X):
        return "there are several tables, and the machine reads one."
    if scipy.sparse.issparse(X):
        values = X.data
    else:
        try:
            values = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            return "a column holds something else than numbers."
    if values.dtype.kind not in "fiub" or not np.isfinite(values).all():
        return "a value is missing or not finite."
    return None


def rbf_machine(task: str, data: tuple[Any, Any]) -> Any:
    """StandardScaler and an SVM whose C and gamma are searched for on what it is fitted to.

    Values are standardised too: C and epsilon are in their units.
    """
    X, y = data
    machine = SVC(kernel="rbf", random_state=0) if task == "classes" else SVR(kernel="rbf")
    width = np.shape(X)[1]
    grid = {"C": list(_PRICES), "gamma": [factor / width for factor in _WIDTHS]}
    smallest = count_rows(X) // 2
    if task == "classes":
        smallest = int(np.unique(np.asarray(y), return_counts=True)[1].min()) // 2
    search: Any = GridSearchCV(machine, grid, cv=int(np.clip(smallest, 2, 3)))
    if task == "values":
        search = TransformedTargetRegressor(search, transformer=StandardScaler())
    return make_pipeline(StandardScaler(with_mean=not scipy.sparse.issparse(X)), search)

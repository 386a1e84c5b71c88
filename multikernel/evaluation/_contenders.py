"""Whom the model is compared with: itself without a view, one view alone, the plain sum, an RBF machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from multikernel.estimators import (
    CombinedKernelClassifier,
    CombinedKernelRegressor,
    KernelDiscriminantClassifier,
    LocalizedMKLClassifier,
    LocalizedMKLRegressor,
    MKLClassifier,
    MKLRegressor,
    MKLRidge,
    RegularizedMKLClassifier,
)
from multikernel.evaluation._contest import Contender, Report, n_samples
from multikernel.evaluation._subject import Subject, costs_without, without_view
from multikernel.evaluation.adapters import WithoutKernel
from multikernel.weights import BestSingle, MeanRule
from multikernel.weights._machines import default_machine

SINGLE, PLAIN_SUM, RBF = "best single view", "plain sum", "tuned RBF SVM"
_MOST_VIEWS = 30  # that are left out one at a time
_PRICES = (0.1, 1.0, 10.0, 100.0)
_WIDTHS = (0.01, 0.1, 1.0, 10.0)  # times 1 / (number of columns), of standardised columns
_PLAIN_MACHINES = (MKLClassifier, MKLRegressor, MKLRidge, KernelDiscriminantClassifier)


# ------------------------------------------------------------------ without a view
def without_name(view: str) -> str:
    return f"without {view}"


def leave_out(subject: Subject, report: Report) -> dict[str, Contender]:
    """The model without each of its views, by `without_name`."""
    part, views = "without_view", subject.views
    if not hasattr(subject.final, "kernels") or not hasattr(subject.final, "kernel_weights_"):
        report.omit(part, f"{type(subject.final).__name__} has no weights of views.")
        return {}
    if len(views) < 2:
        report.omit(part, "there is one view only: nothing is left without it.")
        return {}
    if len(views) > _MOST_VIEWS:
        shares = subject.shares()
        views = sorted(views, key=lambda view: -abs(shares[view]))[:_MOST_VIEWS]
        report.notes.append(
            f"Of {len(shares)} views, the {_MOST_VIEWS} of largest share were left out in turn."
        )
    return {without_name(view): Contender(_without(subject, view)) for view in views}


def _without(subject: Subject, view: str) -> Any:
    if not subject.is_precomputed:
        return subject.fresh(**without_view(subject, view))
    position = subject.views.index(view)
    return WithoutKernel(subject.fresh(**costs_without(subject.final, position)), position)


# ------------------------------------------------------------------ rivals
def rivals(subject: Subject, data: tuple[Any, Any], report: Report) -> dict[str, Contender]:
    """The best single view, the plain sum and the tuned RBF machine, as far as they are to be had."""
    if subject.task == "values" and np.ndim(data[1]) > 1:
        report.omit("baselines", "the rivals predict one value a sample, and y has several columns.")
        return {}
    found: dict[str, Contender] = {}
    if hasattr(subject.final, "kernels"):
        found = _simple_rules(subject)
    else:
        name = type(subject.final).__name__
        report.omit("baselines", f"{SINGLE} and {PLAIN_SUM}: {name} has no views to choose from or to sum.")
    why = why_no_rbf(data[0], subject)
    if why:
        report.omit("baselines", f"{RBF}: {why}")
    else:
        found[RBF] = Contender(
            rbf_machine(subject.task, data),
            "A support vector machine with one Gaussian kernel on all columns, standardised; C and gamma by "
            "cross-validation within the training part.",
        )
    return found


def _simple_rules(subject: Subject) -> dict[str, Contender]:
    """One view alone, and the sum of all, under the machine of the model."""
    machine, words = same_machine(subject)
    return {
        SINGLE: Contender(
            subject.around(_combined(subject, BestSingle(machine), machine)),
            f"The view that does best by cross-validation within the training part, alone, under {words}.",
        ),
        PLAIN_SUM: Contender(
            subject.around(_combined(subject, MeanRule(), machine)),
            f"The mean of all views, each at a mean diagonal of 1, under {words}.",
        ),
    }


def _combined(subject: Subject, learner: Any, machine: Any) -> Any:
    estimator = CombinedKernelClassifier if subject.task == "classes" else CombinedKernelRegressor
    psd = getattr(subject.final, "psd", "error")
    return estimator(learner, machine, subject.final.kernels, psd=psd)


def same_machine(subject: Subject) -> tuple[Any, str]:
    """The machine of the model, for one ready-made kernel, and what it is called."""
    final = subject.final
    name = type(final).__name__
    if hasattr(final, "machine"):
        return final.machine, "the same machine"
    if isinstance(final, _PLAIN_MACHINES) and not isinstance(final, RegularizedMKLClassifier):
        plain = clone(final)
        unused = {"costs": None, "probability": False, "callback": None, "verbose": 0}
        known = plain.get_params(deep=False)
        plain.set_params(kernels="precomputed", **{k: v for k, v in unused.items() if k in known})
        return plain, f"the machine of {name} with the same parameters"
    if isinstance(final, LocalizedMKLClassifier | LocalizedMKLRegressor | RegularizedMKLClassifier):
        kind = MKLRegressor if subject.task == "values" else MKLClassifier
        shared = {
            key: value
            for key, value in final.get_params(deep=False).items()
            if key in ("C", "epsilon", "class_weight", "multiclass", "random_state")
        }
        return kind("precomputed", **shared), "a support vector machine with the same C"
    machine = default_machine(subject.task)
    C = getattr(final, "C", None)
    if isinstance(C, int | float) and np.isfinite(C) and "C" in machine.get_params():
        return machine.set_params(C=float(C)), f"{type(machine).__name__} with the same C"
    return machine, f"{type(machine).__name__} with its defaults"


def why_no_rbf(X: Any, subject: Subject) -> str | None:
    """Why there is no RBF machine on all columns, if so."""
    if subject.is_precomputed:
        return "there are kernels only, and no columns."
    if scipy.sparse.issparse(X):
        values = X.data
    else:
        try:
            values = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError):
            return "a column holds something else than numbers."
    if values.dtype.kind not in "fiub" or not np.isfinite(values).all():
        return "a value is missing or not finite."
    return None


def rbf_machine(task: str, data: tuple[Any, Any]) -> Any:
    """StandardScaler and an SVM whose C and gamma are searched for on what it is fitted to."""
    X, y = data
    machine = SVC(kernel="rbf", random_state=0) if task == "classes" else SVR(kernel="rbf")
    width = np.shape(X)[1]
    grid = {"C": list(_PRICES), "gamma": [factor / width for factor in _WIDTHS]}
    smallest = n_samples(X) // 2
    if task == "classes":
        smallest = int(np.unique(np.asarray(y), return_counts=True)[1].min()) // 2
    search = GridSearchCV(machine, grid, cv=int(np.clip(smallest, 2, 3)))
    return make_pipeline(StandardScaler(with_mean=not scipy.sparse.issparse(X)), search)

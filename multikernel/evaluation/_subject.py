"""What is evaluated: the fitted model, the estimator on kernels within it, and its views."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from multikernel.estimators import TransductiveMKLClassifier
from multikernel.evaluation._search import Search
from multikernel.views import as_views

# What a refit for a figure does not need.
_QUIET: dict[str, Any] = {"callback": None, "verbose": 0}


@dataclass(frozen=True)
class Subject:
    """A fitted model, seen through pipelines and searches down to its estimator on kernels.

    Attributes
    ----------
    model : the whole, as it was given
    final : the fitted estimator on kernels
    prefix : str, what comes before the parameters of `final` in those of `model`
    steps : tuple, the fitted steps of a pipeline that come before `final`
    search : the search that `final` was found by, if any
    """

    model: Any
    final: Any
    prefix: str = ""
    steps: tuple[Any, ...] = ()
    search: Search | None = None

    def inputs(self, X: Any) -> Any:
        """What reaches the estimator on kernels."""
        for step in self.steps:
            X = step.transform(X)
        return X

    @property
    def task(self) -> str:
        return "classes" if is_classifier(self.model) else "values" if is_regressor(self.model) else "nothing"

    @property
    def views(self) -> list[str]:
        names = getattr(self.final, "weight_names_", getattr(self.final, "view_names_", []))
        return [str(name) for name in names]

    @property
    def what(self) -> str:
        """The model in words."""
        name = type(self.final).__name__
        if self.search is None:
            return f"{name} as it was given, fitted anew in each fold."
        found = ", ".join(self.search.names) or "its parameters"
        return (
            f"{type(self.search.fitted).__name__} of {name}, as it was given: {found} searched for anew "
            "within the training part of each fold."
        )

    @property
    def is_precomputed(self) -> bool:
        return bool(getattr(self.final, "_precomputed", False))

    def shares(self) -> dict[str, float]:
        """The part of each view in all the weight, negative where the weight is."""
        return shares_of(self.final)

    def fresh(self, *, probabilities: bool = False, **parameters: Any) -> Any:
        """An unfitted copy, silent, with other parameters of the estimator on kernels.

        Where nobody asks for probabilities, they are left out: they cost five fits more.
        """
        copied = clone(self.model)
        known = copied.get_params(deep=True)
        wanted = {name: value for name, value in _QUIET.items() if self.prefix + name in known}
        if known.get(f"{self.prefix}gram") == "auto":  # a refit to fewer samples goes the same way
            wanted["gram"] = self.final.gram_
        if not probabilities and known.get(f"{self.prefix}probability") is True:
            wanted["probability"] = False
        wanted |= parameters
        return copied.set_params(**{self.prefix + name: value for name, value in wanted.items()})

    def around(self, estimator: Any) -> Any:
        """Another estimator in the place of the one on kernels: behind the same steps of a pipeline."""
        if not self.steps:
            return estimator
        return Pipeline(
            [(f"step{i}", clone(step)) for i, step in enumerate(self.steps)] + [("last", estimator)]
        )

    def why_not_refitted(self) -> str | None:
        """Why copies of the model cannot be fitted to a part of the samples, if so."""
        if isinstance(self.final, TransductiveMKLClassifier):
            return (
                f"{type(self.final).__name__} is fitted to the very samples that it labels: it is not fitted "
                "to folds."
            )
        return None


def subject_of(model: Any) -> Subject:
    """Look through pipelines and searches.

    Parameters
    ----------
    model : fitted estimator

    Returns
    -------
    Subject
    """
    check_is_fitted(model)
    if isinstance(model, Pipeline):
        inner = subject_of(model.steps[-1][1])
        before = tuple(step for _, step in model.steps[:-1] if step not in (None, "passthrough"))
        prefix = f"{model.steps[-1][0]}__{inner.prefix}"
        steps = (*before, *inner.steps)
        search = inner.search
        if search is not None:
            search = replace(search, place=f"{model.steps[-1][0]}__{search.place}")
        return replace(inner, model=model, prefix=prefix, steps=steps, search=search)
    if hasattr(model, "best_estimator_") and hasattr(model, "estimator"):
        inner = subject_of(model.best_estimator_)
        prefix = f"estimator__{inner.prefix}"
        return replace(inner, model=model, prefix=prefix, search=Search(model, inner.prefix))
    return Subject(model, model)


def shares_of(final: Any) -> dict[str, float]:
    """The part of each view of a fitted estimator in all the weight; nothing where it has no weights."""
    weights = getattr(final, "kernel_weights_", None)
    if weights is None:
        return {}
    names = getattr(final, "weight_names_", final.view_names_)
    given = getattr(final, "kernel_shares_", None)
    if given is None:
        total = float(np.abs(weights).sum())
        given = np.asarray(weights, float) / (total if total > 0.0 else 1.0)
    return {str(name): float(share) for name, share in zip(names, given, strict=True)}


def without_view(subject: Subject, name: str) -> dict[str, Any]:
    """The parameters that leave one view out: ``kernels``, and ``costs`` where each view has one."""
    final = subject.final
    views = [view for view in as_views(final.kernels) if view.name in final.view_names_]
    parameters: dict[str, Any] = {"kernels": [view for view in views if view.name != name]}
    return {**parameters, **costs_without(final, final.view_names_.index(name))}


def costs_without(final: Any, position: int) -> dict[str, Any]:
    """The costs of the other views, where costs were given."""
    if getattr(final, "costs", None) is None:
        return {}
    return {"costs": np.delete(final._costs, position)}

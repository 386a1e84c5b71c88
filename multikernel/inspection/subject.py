"""What is inspected: a model, the estimator on kernels within it, its views, the search that found it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .._typing import Array
from ..transductive.classifier import TransductiveMKLClassifier
from ..views import KernelBank, MultiTable, as_views, view_tables
from ..views.precomputed import storage_of, way_of_fit
from ..views.tables import as_tables
from ..views.tables import sample_ids as sample_ids
from ..views.view import place_views
from ..viz import describe_data
from ..viz.fitted import view_shares, weight_names
from .scoring import task_of

# What a refit for a figure does not need.
_QUIET: dict[str, Any] = {"callback": None, "verbose": 0}
_USUAL_WAY = {"gram": "dense", "missing": "error"}
_GRIDS = ("param_grid", "param_distributions")  # as scikit-learn's searches call theirs

Grid = dict[str, Any]
_SHOWN = 5  # labels in a message


@dataclass(frozen=True)
class Search:
    """A fitted search."""

    fitted: Any
    prefix: str  # what comes before the parameters of the estimator on kernels in its grid
    place: str = ""  # what comes before the parameters of the search in those of the whole model

    @property
    def _attribute(self) -> str | None:
        return next((name for name in _GRIDS if hasattr(self.fitted, name)), None)

    @property
    def grids(self) -> list[Grid]:
        """What is chosen from; nothing where the search has no grid."""
        given = getattr(self.fitted, self._attribute) if self._attribute else []
        return [dict(given)] if hasattr(given, "keys") else [dict(grid) for grid in given]

    @property
    def names(self) -> list[str]:
        """The parameters that it chooses."""
        return list(dict.fromkeys(name for grid in self.grids for name in grid))

    def chooses(self, parameter: str) -> bool:
        """Whether it chooses this parameter of the estimator on kernels."""
        return self.prefix + parameter in self.names

    def with_choices(self, model: Any, parameter: str, change: Callable[[Any], Any]) -> Any:
        """Change each choice of a parameter in the grid of a copy of the model; None leaves it out."""
        key, grids = self.prefix + parameter, []
        for grid in self.grids:
            if key in grid:
                left = [changed for changed in map(change, grid[key]) if changed is not None]
                if not left:
                    continue
                grid[key] = left
            grids.append(grid)
        if not grids:
            raise ValueError(f"the search would have no {parameter} left to choose from.")
        return model.set_params(**{f"{self.place}{self._attribute}": grids})

    def over(self, estimator: Any, head: str = "", never: tuple[str, ...] = ()) -> tuple[Any, list[str]]:
        """The same search for another estimator, over the parameters that both have, and their names.

        `head` comes before them in those of the estimator on kernels. Without any it is the estimator itself.
        """
        known = estimator.get_params(deep=True).keys() - set(never)
        start = self.prefix + head
        grids: list[Grid] = []
        for grid in self.grids:
            ours = {key.removeprefix(start): grid[key] for key in grid if key.startswith(start)}
            shared = {key: values for key, values in ours.items() if key in known}
            if shared not in grids:
                grids.append(shared)
        names = list(dict.fromkeys(name for grid in grids for name in grid))
        if not names or self._attribute is None:
            return estimator, []
        copied = clone(self.fitted)
        return copied.set_params(estimator=estimator, **{self._attribute: grids}), names


@dataclass(frozen=True)
class Subject:
    """A fitted model, seen through pipelines and searches down to its estimator on kernels."""

    model: Any  # the whole, as it was given
    final: Any  # the fitted estimator on kernels
    prefix: str = ""  # what comes before the parameters of `final` in those of `model`
    steps: tuple[Any, ...] = ()  # the fitted steps of a pipeline that come before `final`
    search: Search | None = None  # that `final` was found by

    def inputs(self, X: Any) -> Any:
        """What reaches the estimator on kernels."""
        for step in self.steps:
            X = step.transform(X)
        return X

    @property
    def task(self) -> str:
        return task_of(self.model)

    @property
    def views(self) -> list[str]:
        return weight_names(self.final)

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

        Where probabilities are not requested, they are left out: they cost five fits more.
        """
        copied = clone(self.model)
        known = copied.get_params(deep=True)
        wanted = {name: value for name, value in _QUIET.items() if self.prefix + name in known}
        if not probabilities and known.get(f"{self.prefix}probability") is True:
            wanted["probability"] = False
        wanted |= parameters
        if f"{self.prefix}kernels" in known:
            given = known[f"{self.prefix}kernels"]
            wanted["kernels"] = self._stored(given, wanted.get("kernels", given))
        return copied.set_params(**{self.prefix + name: value for name, value in wanted.items()})

    def _stored(self, given: Any, kernels: Any) -> Any:
        """Kernels in the bank that was given; a refit to fewer samples goes the way of the fit."""
        way: dict[str, Any] = {
            name: getattr(self.final, f"{name}_", usual) for name, usual in _USUAL_WAY.items()
        }
        if way == _USUAL_WAY and not isinstance(given, KernelBank):
            return kernels
        stored = storage_of(given)
        settled = way_of_fit(stored, **way) if way != _USUAL_WAY else {}
        return replace(stored, kernels=storage_of(kernels).kernels, **settled)

    def around(self, estimator: Any) -> Any:
        """Another estimator instead of the one on kernels: behind the same steps of a pipeline."""
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
    """Look through the pipelines and searches of a fitted model."""
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
    if not hasattr(model, "__sklearn_tags__"):
        raise TypeError(f"model must be a fitted estimator; got {type(model).__name__}.")
    return Subject(model, model)


def shares_of(final: Any) -> dict[str, float]:
    """The part of each view of a fitted estimator in all the weight; nothing where it has no weights."""
    if getattr(final, "kernel_weights_", None) is None:
        return {}
    return {row.view: row.share for row in view_shares(final)}


def is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_known_labels(y: Array, classes: Any, name: str = "y") -> None:
    """Refuse labels that a model does not know."""
    classes = np.asarray(classes)
    strange = sorted({repr(label) for label in set(y.tolist()) - set(classes.tolist())})
    if strange:
        listed = ", ".join(strange[:_SHOWN]) + (" …" if len(strange) > _SHOWN else "")
        known = ", ".join(map(repr, classes.tolist()[:_SHOWN]))
        raise ValueError(
            f"{name} must hold labels that the model knows, {known}; got {listed}. Leave these samples out."
        )


def check_values(y: Any, name: str = "y") -> None:
    """Refuse texts where a model predicts values."""
    try:
        np.asarray(np.asarray(y).tolist(), dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must hold numbers, as those that the model was fitted to; {error}."
        ) from error


def overview_of(subject: Subject, X: Any, y: Any) -> dict[str, Any] | None:
    """Who has what, as `describe_data` says it; None of one table, or kernels, where nothing is missing."""
    labels = y if subject.task == "classification" else None
    X = as_tables(X)
    if isinstance(X, MultiTable):
        return describe_data(X, labels)
    if subject.is_precomputed:
        stack = np.asarray(X) if np.ndim(X) == 3 else None
        if stack is None or len(subject.views) != stack.shape[2]:
            return None
        found = describe_data({name: stack[:, :, m] for m, name in enumerate(subject.views)}, labels)
    elif getattr(subject.final, "missing_", "error") == "error":
        return None
    else:
        found = describe_data(view_tables(subject.inputs(X), subject.final.kernels), labels)
    return found if any(view["missing"] for view in found["views"]) else None


def without_view(subject: Subject, name: str, X: Any) -> dict[str, Any]:
    """The parameters that leave one view out: ``kernels``, and ``costs`` where each view has one."""
    final = subject.final
    placed = place_views(as_views(final.kernels), as_tables(subject.inputs(X)))
    views = [view for view in placed if view.name in final.view_names_]
    parameters: dict[str, Any] = {"kernels": [view for view in views if view.name != name]}
    return {**parameters, **costs_without(final, final.view_names_.index(name))}


def costs_without(final: Any, position: int) -> dict[str, Any]:
    """The costs of the other views, where costs were given."""
    if getattr(final, "costs", None) is None:
        return {}
    return {"costs": np.delete(final._costs, position)}

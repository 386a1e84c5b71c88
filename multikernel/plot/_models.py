"""The model itself, behind a pipeline or a search."""

from typing import Any


def last_of(model: Any, X: Any = None) -> tuple[Any, Any]:
    """The last step of a pipeline, or the best model of a search; and X as the steps before it leave it."""
    if hasattr(model, "best_estimator_"):
        return last_of(model.best_estimator_, X)
    if not hasattr(model, "steps"):
        return model, X
    if X is not None and len(model.steps) > 1:
        X = model[:-1].transform(X)
    return last_of(model[-1], X)

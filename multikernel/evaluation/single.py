"""One part of an evaluation at a time."""

from __future__ import annotations

import os
from typing import Any

from multikernel._resumable import Progress
from multikernel.evaluation.evaluate import evaluate

Part = dict[str, Any]
Store = str | os.PathLike[str] | None


def weight_stability(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    random_state: int = 0,
    n_jobs: int | None = 1,
    store: Store = None,
    progress: Progress | None = None,
) -> Part:
    """How much the share of each view differs between ten refits to half of the samples.

    Parameters
    ----------
    model, X, y, random_state, n_jobs, store, progress
        As for `evaluate`.

    Returns
    -------
    dict
        ``protocol``; ``rows``, for each view its ``share`` in the model itself, and over the refits ``mean``,
        ``sd``, ``low``, ``high``, the fraction ``used`` of them in which it has any weight, and ``values``;
        and the ``answer`` in words.

    Raises
    ------
    ValueError
        With the reason, if it is not to be had.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import MKLClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> X, y = X[::3], y[::3]
    >>> found = weight_stability(MKLClassifier().fit(X, y), X, y)
    >>> bool(abs(sum(row["mean"] for row in found["rows"]) - 1.0) < 1e-9)
    True
    """
    options = {"random_state": random_state, "n_jobs": n_jobs, "store": store, "progress": progress}
    return _one("stability", model, X, y, options)


def leave_one_view_out(
    model: Any,
    X: Any,
    y: Any,
    *,
    random_state: int = 0,
    n_jobs: int | None = 1,
    store: Store = None,
    progress: Progress | None = None,
) -> Part:
    """What the score loses without each view, on ten folds.

    Parameters
    ----------
    model, X, y, random_state, n_jobs, store, progress
        As for `evaluate`.

    Returns
    -------
    dict
        ``protocol``, ``metric``, the ``score`` and ``sd`` with all views; ``rows``, for each view ``score``
        and ``sd`` without it, the ``effect`` (with all views, minus without it), Holm's ``p`` of the 5×2 cv F
        test, and the ``verdict`` on all views ("better", "worse" or "tie"); and the ``answer`` in words.

    Raises
    ------
    ValueError
        With the reason, if it is not to be had.
    """
    options = {"random_state": random_state, "n_jobs": n_jobs, "store": store, "progress": progress}
    return _one("without_view", model, X, y, options)


def compare_with_baselines(
    model: Any,
    X: Any,
    y: Any,
    *,
    random_state: int = 0,
    n_jobs: int | None = 1,
    store: Store = None,
    progress: Progress | None = None,
) -> Part:
    """Did learning the kernel help? The model against simpler ones on ten folds.

    The rivals are the best single view and the plain sum, under the same machine, and a support vector
    machine with one tuned Gaussian kernel on all columns, where these are numbers.

    Parameters
    ----------
    model, X, y, random_state, n_jobs, store, progress
        As for `evaluate`.

    Returns
    -------
    dict
        ``protocol``, ``metric``; ``rows``, the model first: ``name``, ``what`` it is, ``score``, ``sd``, the
        ``difference`` (the model minus this), Holm's ``p`` of the 5×2 cv F test, and the ``verdict`` on the
        model ("better", "worse" or "tie"); and the ``answer`` in one sentence.

    Raises
    ------
    ValueError
        With the reason, if it is not to be had.
    """
    options = {"random_state": random_state, "n_jobs": n_jobs, "store": store, "progress": progress}
    return _one("baselines", model, X, y, options)


def _one(part: str, model: Any, X: Any, y: Any, options: dict[str, Any]) -> Part:
    found = evaluate(model, X, y, parts=[part], **options)
    if found[part] is None:
        raise ValueError(" ".join(entry["why"] for entry in found["omitted"]))
    return dict(found[part])

"""scikit-learn's callbacks (:mod:`sklearn.callback`, 1.9 and later) over the iterations of our solvers.

``estimator.set_callbacks(ProgressBar())`` follows a fit, alone or inside a pipeline or search. The fit is one
task, and each iteration that a solver records is a subtask of it, which begins and ends when it is recorded.
A hook that answers True after an iteration stops the fit, as ``callback=`` does. Before scikit-learn 1.9
estimators have no ``set_callbacks``, and nothing here has an effect.

A callback that asks for ``fitted_estimator``, such as ``ScoringMonitor``, gets the model as it is when the
fit stops there: the fitted model at the end of the fit, and after iteration k one that is fitted again with
``max_iter=k``. That is exact, and costs a fit for each iteration. Where one fit solves several problems
(a machine for each class, several starts), there is no model before the last of them: it gets None.
"""

import inspect
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial, wraps
from threading import Lock
from typing import Any

from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from .._threads import one_thread
from ..rows.tables import count_rows
from .optim.loop import Callback, Progress, asks_to_stop

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn 1.8 and earlier

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands for scikit-learn's mixin."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Stands for scikit-learn's decorator."""
        return method


__all__ = ["CallbackSupportMixin", "callback_of", "progress_of", "reports_its_task"]

_SMALL = 1000  # rows
_NUMBERING = Lock()  # machines may be fitted in threads, and their iterations are numbered in one sequence


def reports_its_task(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A ``fit`` that is a task of the callbacks of its estimator; without callbacks it is as it was."""

    @wraps(fit)
    def fit_and_report(self: Any, *args: Any, **kwargs: Any) -> Any:
        with one_thread() if is_small(args[0] if args else kwargs.get("X")) else nullcontext():
            return fit_or_follow(self, *args, **kwargs)

    def fit_or_follow(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not getattr(self, "_skl_callbacks", None) or hasattr(self, "_callback_fit_ctx"):
            return fit(self, *args, **kwargs)
        return followed(self, *args, **kwargs)

    @with_callbacks
    def followed(self: Any, *args: Any, **kwargs: Any) -> Any:
        task = FitTask(self, args, kwargs, inspect.signature(fit).bind(self, *args, **kwargs).arguments)
        task.context.call_on_fit_task_begin(estimator=self, **task.data)
        self._fit_task = task
        try:
            fitted = fit(self, *args, **kwargs)
        finally:
            del self._fit_task
        task.context.call_on_fit_task_end(estimator=self, reconstruction_attributes=dict, **task.data)
        return fitted

    return fit_and_report


def is_small(X: Any) -> bool:
    """Whether rows are so few that threads of the linear algebra gain nothing, and would only change bits."""
    try:
        return count_rows(X) <= _SMALL
    except (TypeError, ValueError, AttributeError, IndexError):  # whatever it is, the fit will say
        return False


def progress_of(estimator: Any, label: str = "") -> Progress:
    """What shows the iterations of an estimator, and passes them on to its callbacks."""
    return Progress(label, estimator.verbose, callback_of(estimator, label))


def callback_of(estimator: Any, label: str = "") -> Callback | None:
    """The parameter ``callback`` together with scikit-learn's callbacks, if some were set."""
    given: Callback | None = estimator.callback
    task: FitTask | None = getattr(estimator, "_fit_task", None)
    if task is None:
        return given

    def tell(entry: dict[str, Any]) -> bool:
        asked = given is not None and asks_to_stop(given(dict(entry)))
        return task.report(label, int(entry.get("iteration", 0))) or asked

    return tell


class FitTask:
    """One fit of an estimator, as its callbacks see it."""

    def __init__(
        self, estimator: Any, args: tuple[Any, ...], kwargs: dict[str, Any], call: dict[str, Any]
    ) -> None:
        self.estimator, self.args, self.kwargs = estimator, args, kwargs
        weights = call.get("sample_weight")
        metadata = None if weights is None else {"sample_weight": weights}
        self.data = {"X": call.get("X"), "y": call.get("y"), "metadata": metadata}
        self.context = estimator._init_callback_context(max_subtasks=None)
        self.last, self.one_problem = -1, True

    def report(self, label: str, iteration: int) -> bool:
        """Tell the callbacks of an iteration; the answer says whether to stop."""
        with _NUMBERING:
            iterating = self.context.subcontext(task_name=f"{label}iteration")
            self.one_problem = self.one_problem and not label and iteration > self.last
            self.last = iteration
        iterating.call_on_fit_task_begin(estimator=self.estimator, **self.data)
        model = partial(self.attributes_at, iteration) if self._can_stop_at(iteration) else None
        return bool(
            iterating.call_on_fit_task_end(
                estimator=self.estimator, reconstruction_attributes=model, **self.data
            )
        )

    def _can_stop_at(self, iteration: int) -> bool:
        """Whether a fit with this ``max_iter`` is the present one, ended here."""
        seeded = isinstance(getattr(self.estimator, "random_state", None), int | None)
        return self.one_problem and iteration > 0 and seeded and hasattr(self.estimator, "max_iter")

    def attributes_at(self, iteration: int) -> dict[str, Any]:
        """The attributes of the estimator as a fit leaves them that stops at an iteration."""
        model = clone(self.estimator).set_params(max_iter=iteration, callback=None, verbose=0)
        model.set_callbacks()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(*self.args, **self.kwargs)
        return vars(model)

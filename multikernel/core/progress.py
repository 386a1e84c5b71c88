"""Progress of a long fit: one line on standard error for each iteration, or for each point of a search."""

import sys
import time
from collections.abc import Callable
from typing import Any


class Progress:
    """Writes iteration, objective, relative gap and number of active kernels; passes the entry on.

    Parameters
    ----------
    label : str
        What is being fitted, for models of several machines.
    verbose : int
        0 is silent.
    callback : callable, optional
        The user's; called with the entry of the history, True stops the fit.
    """

    def __init__(self, label: str, verbose: int, callback: Callable[[dict[str, float]], bool | None] | None):
        self.label, self.verbose, self.callback = label, verbose, callback
        self.started = time.perf_counter()

    def __call__(self, entry: dict[str, float]) -> bool:
        """Show one iteration; the answer says whether to stop."""
        if self.verbose:
            seconds = time.perf_counter() - self.started
            sys.stderr.write(
                f"[multikernel] {self.label}iteration {entry['iteration']:3.0f}  "
                f"objective {entry['objective']:.8g}  gap {entry['gap']:.1e}  "
                f"{entry['n_active']:.0f} active  {seconds:.1f} s\n"
            )
        return bool(self.callback(dict(entry))) if self.callback is not None else False


class SearchProgress:
    """Writes each point of a search with its score and the best so far; passes the entry on.

    Parameters
    ----------
    verbose : int
        0 is silent.
    callback : callable, optional
        The user's; called with a dict for each point, True ends the search.
    """

    def __init__(self, verbose: int, callback: Callable[[dict[str, Any]], bool | None] | None):
        self.verbose, self.callback = verbose, callback
        self.started = time.perf_counter()
        self.evaluation, self.best_score = 0, float("-inf")

    def __call__(self, params: dict[str, float], score: float) -> bool:
        """Show one point; the answer says whether to stop."""
        self.evaluation += 1
        self.best_score = max(self.best_score, score)
        if self.verbose:
            seconds = time.perf_counter() - self.started
            point = ", ".join(f"{name} {value:.3g}" for name, value in params.items())
            sys.stderr.write(
                f"[multikernel] point {self.evaluation:3d}  score {score:.4f}  best {self.best_score:.4f}  "
                f"{point}  {seconds:.1f} s\n"
            )
        if self.callback is None:
            return False
        entry = {"evaluation": self.evaluation, "params": dict(params), "score": score}
        return bool(self.callback({**entry, "best_score": self.best_score}))

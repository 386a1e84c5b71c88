"""Progress of a long fit: one line on standard error for each iteration of the weight learner."""

import sys
import time
from collections.abc import Callable


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

"""One machine with one fixed kernel, solved by SMO: what peers solve, without the weights."""

from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array
from multikernel.core.optim.loop import Result, Status, relative_gap
from multikernel.core.stack.sums import WeightedStack
from multikernel.core.svm import smo as smo_loop
from multikernel.core.svm.losses import Loss
from multikernel.core.svm.machine import CROSSED_BOUNDS, NEGATIVE_CURVATURE, Machine


@dataclass(frozen=True)
class MachineResult(Result):
    """A fixed-kernel machine: its dual value, the gap (primal − dual) / |primal|, steps of SMO."""

    dual: Array  # (n,), label × dual of a classifier
    intercept: float


def solve_machine(
    K: Array, loss: Loss, *, tol: float = 1e-3, start: Array | None = None, max_iter: int = 10**7
) -> MachineResult:
    """Solve one machine with the kernel K by SMO, from any feasible start.

    Parameters
    ----------
    K : array (n, n), symmetric
    loss : Loss
        For example ``Hinge(y, C)``.
    tol : float
        The largest violation of the optimality conditions, as in LIBSVM.
    start : array (n,), optional
        A feasible β to start from.
    max_iter : int
        Maximum number of steps.

    Returns
    -------
    MachineResult
        ``status`` is ``"indefinite"`` if a step met negative curvature; the solution is then only stationary.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.core.svm.losses import Hinge
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> solve_machine(X @ X.T, Hinge(y, 10.0)).dual.round(3).tolist()
    [0.0, -0.5, 0.5, 0.0]
    """
    Ks = np.ascontiguousarray(K)[None]
    stack = WeightedStack(Ks, np.ones(1), loss.shift)
    stack.set_weights(np.ones(1))
    machine = Machine(loss, stack, max_iter)
    if start is not None:
        machine.set_start(np.asarray(start, float))
    if machine.beta.any():
        machine.refresh(np.arange(1))
        machine.rebuild_gradient()
    outcome = machine.advance(tol, max_iter)
    values = machine.values()
    status = Status.OPTIMAL if outcome.reason == smo_loop.CONVERGED else Status.MAX_ITER
    gap = relative_gap(values.primal.value, values.dual, loss.least_size(float(stack.diag.mean())))
    negative = outcome.least_curvature < NEGATIVE_CURVATURE or gap < CROSSED_BOUNDS
    if negative or outcome.reason == smo_loop.UNBOUNDED:
        status = Status.INDEFINITE
    return MachineResult(
        machine.beta,
        values.primal.intercept,
        objective=values.dual,
        gap=gap,
        n_iter=outcome.iterations,
        status=status,
    )

"""What models with gates and models with projections share: their descents, before and after.

Gates and projections are learned by the same descents over warm-started machines: the functions here check
and read the parameters that both kinds of models have, make the machines, store what a fitted model says of
its descents, and warn of what went wrong.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._typing import Array
from .._validation import check_choice, check_number, check_positive_integer, warn_caller
from ..core.callbacks import progress_of
from ..core.decisions import IN_ONE_MACHINE, WORST, binary_problems
from ..core.estimator import worst_status
from ..core.inputs import Samples
from ..core.one_kernel import fixed_seed
from ..core.optim.loop import ENDED_EARLY, Status
from ..core.svm.losses import EpsilonInsensitive, Hinge, OneClass
from .ridge import AUTO
from .solver.gates import GATES, saturated_gates
from .solver.learn import OPTIMIZERS, DescentOptions, LocalizedResult
from .solver.machines import BinaryMachines, JointMachines, Machines

MACHINE_TOL = 0.1  # the machines' relative gap, in units of the tolerance of the descent


# ------------------------------------------------------------------ parameters and machines
def check_descent(model: Any, chooses_ridge: bool = False) -> None:
    """The parameters that gates and projections have in common.

    ``chooses_ridge``: whether `gating_reg` may be "auto" or infinite.
    """
    check_choice("gating", model.gating, tuple(GATES))
    check_choice("solver", model.solver, OPTIMIZERS)
    check_positive_integer("n_init", model.n_init)
    check_positive_integer("patience", model.patience)
    ridge = model.gating_reg
    if isinstance(ridge, str) and chooses_ridge:
        check_choice("gating_reg", ridge, (AUTO,))
    elif not (chooses_ridge and isinstance(ridge, float | np.floating) and ridge == np.inf):
        check_number("gating_reg", ridge, at_least=0.0)
    model._check_numerics()


def check_prune(prune: Any) -> bool | float:
    """Whether to prune, or the threshold at which."""
    return prune if isinstance(prune, bool) else check_number("prune", prune, at_least=0.0, below=1.0)


def descent_options(model: Any, label: str = "", blocks: Sequence[Array] | None = None) -> DescentOptions:
    """The numerics of a descent, from the parameters of the model."""
    return DescentOptions(
        optimizer=model.solver,
        tol=float(model.tol),
        patience=int(model.patience),
        max_iter=int(model.max_iter),
        callback=progress_of(model, label),
        blocks=blocks,
    )


def generator(model: Any) -> np.random.Generator:
    """The source of starts; ``random_state=None`` always means the same ones."""
    return np.random.default_rng(fixed_seed(model.random_state))


def regression_machine(model: Any, y: Array, weights: Array) -> tuple[BinaryMachines, float]:
    """The machine of a regressor for its targets less their median, and that.

    The intercept absorbs the median, and the numbers stay small.
    """
    middle = float(np.median(y))
    loss = EpsilonInsensitive(y - middle, float(model.C) * weights, float(model.epsilon))
    return BinaryMachines([loss], tol=MACHINE_TOL * float(model.tol)), middle


def one_class_machine(model: Any, weights: Array) -> BinaryMachines:
    """The machine of a novelty detector."""
    loss = OneClass(np.zeros(weights.size), weights / (float(model.nu) * weights.sum()))
    return BinaryMachines([loss], tol=MACHINE_TOL * float(model.tol))


def class_machines(model: Any, codes: Array, bounds: Array) -> tuple[Machines, list[str]]:
    """The machines of all classes on one kernel, and their names; two classes are one machine."""
    tol, n_classes = MACHINE_TOL * float(model.tol), model.classes_.size
    if n_classes > 2 and model.multiclass in IN_ONE_MACHINE:
        machines = JointMachines(codes, n_classes, bounds, tol, model.multiclass == WORST)
        return machines, [str(c) for c in model.classes_]
    problems = binary_problems(codes, model.classes_, model.multiclass)
    losses = [Hinge(p.signs[0], bounds[p.rows]) for p in problems]
    rows = [p.rows for p in problems] if model._votes else None
    return BinaryMachines(losses, rows, codes.size, tol), [p.names[0] for p in problems]


# ------------------------------------------------------------------ what a fitted model says of its descents
def store_duals(model: Any, samples: Samples, duals: Array, intercepts: Array) -> Array:
    """Store support samples and intercepts; the rows (of the distinct samples) that predictions need.

    ``duals`` (n_machines, n_distinct) are signed. A model without support samples is its intercept, and keeps
    the first row.
    """
    spread = samples.spread(duals)
    model.support_ = np.flatnonzero(spread.any(axis=0))
    model.dual_coef_ = spread[:, model.support_]
    model.intercept_ = intercepts
    kept = np.flatnonzero(duals.any(axis=0))
    return kept if kept.size else np.array([0])


def store_descents(model: Any, results: Sequence[LocalizedResult], eta: Sequence[Array]) -> None:
    """Store J, its certificate and how the descents ended; ``eta``: the gates at the training samples."""
    model.objective_ = float(sum(r.objective for r in results))
    model.dual_gap_ = float(max(r.gap for r in results))
    model.gradient_norm_ = float(max(r.gradient_norm / max(abs(r.objective), 1e-300) for r in results))
    model.n_iter_ = max(1, max(r.n_iter for r in results))
    model.n_solves_ = sum(r.n_solves for r in results)
    ends = np.any([saturated_gates(values) for values in eta], axis=0)
    model.saturated_ = [name for name, at_end in zip(model.view_names_, ends, strict=True) if at_end]
    solved = [r.gap <= model.tol or r.status != Status.OPTIMAL for r in results]
    statuses = [r.status if done else Status.STALLED for r, done in zip(results, solved, strict=True)]
    model.status_ = worst_status(statuses)


def warn_of_machines(model: Any, results: Sequence[LocalizedResult], remedy: str = "") -> None:
    """Warn of machines that were not solved; ``remedy``: another sentence on what to do."""
    name = type(model).__name__
    if any(r.exhausted for r in results):
        warn_caller(
            f"{name}: a machine used all the steps it is allowed; the relative duality gap at the learned "
            f"kernel is {model.dual_gap_:.1e}. Kernels of low rank with a large C converge slowly: lower C, "
            f"normalise the kernels, or raise tol.{remedy}",
            ConvergenceWarning,
        )
    if any(r.gap > model.tol and not r.exhausted and r.status not in ENDED_EARLY for r in results):
        warn_caller(
            f"{name}: the relative duality gap of a machine at the learned kernel is {model.dual_gap_:.1e}, "
            "and floating point allows no better: the objective is nearly zero. Bring targets and kernels to "
            "the size of 1; a single class must lie away from the origin of its kernels.",
            ConvergenceWarning,
        )


def warn_of_descent(model: Any, results: Sequence[LocalizedResult], brake: str, restart: str) -> None:
    """Warn of a descent that was cut short, and of starts at saturated gates, each with a remedy."""
    name = type(model).__name__
    if any(r.status == Status.MAX_ITER for r in results):
        warn_caller(
            f"{name} did not settle to tol={model.tol:g} in {model.max_iter} steps: the last one still "
            f"lowered the objective by {_last_fall(results):.1e} of it. Raise max_iter or tol.{brake}",
            ConvergenceWarning,
        )
    if model.status_ == Status.MAX_TIME:
        warn_caller(
            f"{name} ended after max_time={model.max_time:g} seconds, before it settled to tol={model.tol:g} "
            f"from all starts: the last step still lowered the objective by {_last_fall(results):.1e} of it, "
            f"and the gap of the machines is {model.dual_gap_:.1e}. Raise max_time or tol, or lower n_init.",
            ConvergenceWarning,
        )
    if any(r.start_saturated for r in results):
        warn_caller(
            f"{name}: nearly all gate values were 0 or 1 at the start, where the gradient vanishes and "
            f"nothing is learned. {restart}"
        )


def _last_fall(results: Sequence[LocalizedResult]) -> float:
    """The largest relative fall in the last step of a descent that was cut short."""
    falls = []
    for r in results:
        if r.status in (Status.MAX_ITER, Status.MAX_TIME) and len(r.history) > 1:
            before, after = r.history[-2]["objective"], r.history[-1]["objective"]
            falls.append((before - after) / max(abs(before), 1e-300))
    return max(falls, default=0.0)

"""When the weight learner hands its problem to the interior-point method, and what it gets back.

Two reasons, both measured and neither a time:

- **Precision** (:func:`beyond_precision`). Where C · tr(K_m) · eps exceeds 1e-4 for a kernel, no dual
  variables hold the function in double precision. The interior-point method is called at once, and these
  kernels predict by their factors, of full rank up to 1200 samples: by explicit features where the kernel has
  some, which are far more precise than its values, else by its values at the pivots.
- **Work** (:func:`allowed_work`). SMO and the outer loop may read as many numbers as the interior-point
  method would in all; a problem that needs more is handed over, and so is one that needs more than 20 weight
  updates (``MOST_ITERATIONS``). So no fit costs more than about twice the cheaper of the two.

The problem is not handed over for a hard margin, a learned C or a stack on disk, nor where it is too large
for dense factorizations and some kernel is not of low rank (:func:`is_possible`).
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..._typing import Array
from ..optim.loop import relative_gap
from ..optim.weight_sets import LpBall
from ..stack.low_rank import Factor, Kernels, explicit_factor, pivoted_factor
from ..stack.sums import WeightedStack
from ..svm.barrier import class_basis
from ..svm.interior_point import MOST_DENSE, Found, InteriorPoint, rank
from ..svm.losses import HardMargin, JointHinge, Loss, WorstHinge
from ..svm.smooth import SmoothLoss

AnyLoss = Loss | JointHinge | SmoothLoss
# The explicit features (n, r) of a kernel by its number; None where it has none.
Exact = Callable[[int], Array | None]

_LOST = 1e-4  # share of the function that rounding of dual variables may take
_MOST_RANK = 1000  # of kernels beside which there is no dense factorization
_MOST_FULL = 1200  # samples up to which a kernel of full rank may enter by its factor
_SAMPLE = 200  # rows on which the rank of a kernel is guessed
_LOW_RANK = 0.75  # of these rows
_MATCH = 1e-10  # of the largest diagonal element: a factor that misses more belongs to no such kernel
# What the other method reads, in n³, n² and stacks, as times tell; usual fits need less than a third of it.
_STEPS, _ROWS, _PASSES = 0.1, 35.0, 10.0
MOST_ITERATIONS = 20  # of the outer loop, of which usual fits need 2 to 10
_LEAST_WORK = 6e6  # numbers, read within a hundredth of a second
# Of a joint machine: in n² for each class but one, and in numbers.
_JOINT_ROWS, _JOINT_LEAST = 150.0, 5.0 * _LEAST_WORK
_AIM = 1e-2  # times tol: so that weights and duals are clear about their bounds
_FINEST = 1e-8
_CLEAR = 0.1  # times tol
_AGREEMENTS = 2  # moves of the duals to where they agree with the function
_NO_WEIGHT = 1e-5  # of the largest: weights as small as this are tried at 0


# ---------------------------------------------------------------------- when
def is_possible(stack: WeightedStack, losses: Sequence[AnyLoss], exact: Exact | None = None) -> bool:
    """Whether the interior-point method knows the loss, and its matrices are not too large.

    Beyond the size of a dense factorization all kernels must be of low rank, unless the loss is smooth: its
    equations are then solved by conjugate gradients.
    """
    if stack.identity is not None:
        return False
    if isinstance(losses[0], SmoothLoss):
        return True
    if stack.on_disk or isinstance(losses[0], HardMargin | WorstHinge):
        return False
    numbers = _numbers_per_sample(losses)
    if stack.n <= MOST_DENSE:
        return True
    every = np.arange(stack.n_stored)
    if not all(_looks_low(K) for K in stack.subset(_sample(stack.n))):
        return False
    factors = _low_rank_factors(stack, every, _MOST_RANK, exact)
    rank = sum(factor.L.shape[1] for factor in factors.values())
    return len(factors) == every.size and rank * numbers <= _MOST_RANK


def _numbers_per_sample(losses: Sequence[AnyLoss]) -> int:
    return losses[0].n_classes - 1 if isinstance(losses[0], JointHinge) else 1


def allowed_work(stack: WeightedStack, losses: Sequence[AnyLoss]) -> float:
    """How many numbers may be read before the problem is handed over."""
    n = float(stack.n)
    numbers = _PASSES * stack.n_stored * n**2 + _LEAST_WORK
    if isinstance(losses[0], JointHinge):
        return numbers + _JOINT_LEAST + _JOINT_ROWS * _numbers_per_sample(losses) * n**2
    return numbers + len(losses) * _STEPS * (n**3 if n <= MOST_DENSE else _MOST_RANK * n) + _ROWS * n**2


def beyond_precision(
    stack: WeightedStack, losses: Sequence[AnyLoss], exact: Exact | None = None
) -> dict[int, Factor]:
    """Factors of the kernels that dual variables cannot hold; none where all can."""
    sizes = lost_shares(stack.mean_diagonals, stack.n, losses)
    if not np.isfinite(sizes).all():
        return {}
    most = stack.n - (stack.n > _MOST_FULL)
    return _low_rank_factors(stack, np.flatnonzero(sizes > _LOST), most, exact)


def lost_shares(mean_diagonals: Array, n: int, losses: Sequence[AnyLoss]) -> Array:
    """C · tr(K_m) · eps of each kernel: what rounding of dual variables does to scores of size 1."""
    largest = max(_largest_dual(loss) for loss in losses)
    return np.asarray(largest * mean_diagonals * n * np.finfo(float).eps)


def is_lost(share: float) -> bool:
    """Whether it is too much for dual variables."""
    return share > _LOST


def _largest_dual(loss: AnyLoss) -> float:
    """C, also of the losses whose dual variables have no bound."""
    if isinstance(loss, SmoothLoss):
        return loss.largest_dual
    if isinstance(loss, JointHinge):
        return float(loss.upper.max())
    if loss.total:
        return 0.0  # the sum of the dual variables is 1: nothing cancels
    bound, shift = float(max(loss.upper.max(), -loss.lower.min())), float(loss.shift.max())
    if np.isfinite(bound):
        return bound
    return 1.0 / shift if shift > 0.0 else np.inf


def _low_rank_factors(
    stack: WeightedStack, kernels: Array, most: int, exact: Exact | None
) -> dict[int, Factor]:
    """The factors of those of the kernels that have one of rank ``most`` at most, or explicit features."""
    factors = {}
    for m in kernels:
        Z = None if exact is None else exact(int(m))
        if Z is not None:
            factors[int(m)] = explicit_factor(Z)
            continue
        K = stack.with_kernels(np.array([m]))[m]
        rows = _sample(stack.n)
        if stack.n > 2 * _SAMPLE and most < stack.n - 1 and not _looks_low(K[np.ix_(rows, rows)]):
            continue
        factor = pivoted_factor(K)
        if factor.L.shape[1] <= most and _matches(K, factor):
            factors[int(m)] = factor
    return factors


def _sample(n: int) -> Array:
    """Some rows, evenly over all."""
    return np.unique(np.linspace(0, n - 1, min(n, _SAMPLE)).astype(int))


def _looks_low(K: Array) -> bool:
    """Whether the kernel of some rows alone is of low rank already."""
    return bool(pivoted_factor(np.asarray(K, float)).L.shape[1] <= _LOW_RANK * len(K))


def _matches(K: Array, factor: Factor) -> bool:
    """Whether the factor is that of K, which need not be positive semidefinite."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(len(K), 3))
    missed = np.abs(K @ signs - factor.L @ (factor.L.T @ signs)).max()
    return bool(missed <= _MATCH * np.sqrt(len(K)) * float(np.diagonal(K).max()))


# ---------------------------------------------------------------------- what
class FactorPart(NamedTuple):
    """A kernel that predicts by a factor, L coef'."""

    factor: Factor
    coef: Array  # (n_outputs, r)


class Handed(NamedTuple):
    """A solution in the units of the stack."""

    mu: Array  # (n_kernels,)
    duals: Array  # (n_outputs, n)
    factors: dict[int, FactorPart]  # of the kernels that dual variables do not hold
    intercepts: Array
    dual: float
    upper: float
    lower: float
    gap: float


def solve(
    stack: WeightedStack,
    losses: Sequence[AnyLoss],
    weight_set: LpBall,
    factors: dict[int, Factor],
    tol: float,
    least_size: float,
    note: Callable[[float, float, Array], bool],
    exact: Exact | None = None,
) -> Handed:
    """Weights and machines together; ``note`` gets the bounds and weights of each iteration, True stops."""
    by_duals = not factors  # else they do not hold the function, whatever rounding makes of its bounds
    others = np.setdiff1d(np.arange(stack.n_stored), list(factors))
    most = stack.n // (4 * _numbers_per_sample(losses))
    factors = factors | _low_rank_factors(stack, others, most, exact)
    kernels = Kernels(stack.Ks, stack.scales, factors)
    method = InteriorPoint(kernels, losses, weight_set, stack.floor, least_size)
    aim = min(tol, max(_AIM * tol, _FINEST))
    found = method.run(aim, lambda best: note(best.upper, best.lower, best.mu))
    best: Handed | None = None
    # bounds by factors differ between two ways to compute them: they have to be clear
    enough = tol if by_duals else _CLEAR * tol
    for handed in _forms(method, found, by_duals):
        if handed.gap < -_CLEAR * tol:  # bounds that cross: rounding took more than is allowed
            handed = handed._replace(gap=np.inf)
        if best is None or rank(handed) < rank(best):
            best = handed
        if handed.gap <= enough:
            break
    assert best is not None
    return best


def _forms(method: InteriorPoint, found: Found, by_duals: bool) -> Iterator[Handed]:
    """The solution in forms from the simplest on: the last is the most precise."""
    clear = _cleared(method, found)
    for solution in (clear, found):
        if by_duals:
            yield _handed(method, solution, by_duals=True)
        if method.kernels.low.size:
            yield _handed(method, solution, by_duals=False)
    if method.kernels.low.size:
        moves = _AGREEMENTS if any(task.d == 1 and not task.is_free for task in method.tasks) else 1
        for solution in (found, method.last or found):
            for _ in range(moves):
                solution = _agreeing(method, solution)
                yield _handed(method, solution, by_duals=False)


def _agreeing(method: InteriorPoint, found: Found) -> Found:
    """The same with dual variables moved to where they agree with the function on kernels of low rank."""
    kernels, omega = method.kernels, method.weights.floor + found.mu
    split = kernels.split(omega)
    unit = np.sqrt(kernels.n) / max(float(np.linalg.norm(split.G, axis=0).max(initial=0.0)), 1e-300)
    columns, moved, betas = kernels.Q @ (unit * split.G), list(found.variables), list(found.betas)
    for t, (task, inner) in enumerate(zip(method.tasks, found.inner, strict=True)):
        if task.d > 1 or task.is_free:
            continue

        def mismatch(beta: Array, inner: list[Array] = inner) -> Array:
            return unit * kernels.mismatch(split, omega, beta, inner)

        a = task.agreeing(found.variables[t], columns, mismatch)
        if a is not None:
            moved[t], betas[t] = a, task.beta_of(a)
    return found._replace(betas=betas, variables=moved)


def _cleared(method: InteriorPoint, found: Found) -> Found:
    """The same with small weights and dual variables at 0, and dual variables near their bounds at them."""
    mu = found.mu
    if method.weights.learns:
        mu = np.where(mu < _NO_WEIGHT * mu.max(), 0.0, mu)
        mu = mu / max(float(np.linalg.norm(mu, method.weights.p)), 1e-300)
    betas = []
    for task, variables, beta in zip(method.tasks, found.variables, found.betas, strict=True):
        a = None if task.is_free else task.feasible(task.crisp(variables))
        betas.append(beta if a is None else task.beta_of(a))
    return found._replace(mu=mu, betas=betas)


def _handed(method: InteriorPoint, found: Found, *, by_duals: bool) -> Handed:
    """The function as it will predict, by duals and weights alone or not, with its own bounds."""
    kernels, weights = method.kernels, method.weights
    omega = weights.floor + found.mu
    dense = np.arange(kernels.n_kernels) if by_duals else kernels.dense
    q, risk, norm2, plane = np.zeros(kernels.n_kernels), 0.0, 0.0, 0.0
    duals, intercepts = [], []
    coefs: dict[int, list[Array]] = {} if by_duals else {int(m): [] for m in kernels.low}
    for task, beta, inner, b in zip(method.tasks, found.betas, found.inner, found.intercepts, strict=True):
        basis = np.ones((1, 1)) if task.d == 1 else class_basis(task.d + 1)
        own = kernels.certain_forms(beta)
        scores = np.zeros_like(beta)
        for m in dense[omega[dense] > 0.0]:
            scores += omega[m] * kernels.scales[m] * (kernels.Ks[m] @ beta)
            norm2 += omega[m] * own[m]
        for m, part in zip(kernels.low, inner, strict=True) if coefs else ():
            v = np.sqrt(kernels.scales[m]) * omega[m] * part
            scores += kernels.factors[int(m)].L @ v
            norm2 += omega[m] * float(np.vdot(part, part))
            coefs[int(m)].append(basis @ v.T)
        value, b = task.risk(scores, b)
        risk += value
        own_plane, dual = task.plane(beta, scores)
        plane += own_plane
        q += own if dual is beta else kernels.certain_forms(dual)
        duals.append(task.outputs(beta))
        intercepts.append(basis @ b)
    upper, lower = risk + 0.5 * norm2, plane - 0.5 * weights.support(q)
    factors = {
        m: FactorPart(kernels.factors[m], np.concatenate(coef)) for m, coef in coefs.items() if omega[m] > 0.0
    }
    gap = relative_gap(upper, lower, method.least_size)
    return Handed(
        found.mu, np.concatenate(duals), factors, np.concatenate(intercepts),
        plane - 0.5 * float(omega @ q), upper, lower, gap,
    )  # fmt: skip

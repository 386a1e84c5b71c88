"""The largest margin with a mixed norm over groups of kernels (Szafranski et al.)."""

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ..._typing import Array
from ..._validation import check_number
from ...core.optim.weight_sets import MixedNorm
from ..learner import About, Learned
from ..solver.level import learn_in_gauge
from ..targets import Targets
from .margin_mkl import MarginLearner, positive_costs


@dataclass(eq=False, repr=False)
class GroupMKL(MarginLearner):
    """Composite kernel learning: sparse over groups of kernels, less so (or not) within them.

    min_{w, b}  ½ (Σ_l d_l (Σ_{m ∈ l} ‖w_m‖^s)^{r/s})^{2/r} + C Σ_i ξ_i
    = min_{η ≥ 0}  J(η)   subject to   Σ_l (d_l^{2/r} ‖η_l‖_{s/(2−s)})^{r/(2−r)} ≤ 1

    for groups l of kernels, 1 ≤ r, s ≤ 2, and J(η) = min ½ Σ_m ‖w_m‖²/η_m + C Σ_i ξ_i. r = 1 leaves groups
    out, s = 1 kernels within a group; r = 2 or s = 2 treats them alike. r = s = 1 is :class:`MarginMKL`, and
    so is r = s with its norm p = r/(2 − r). Our reading of the exponents of the paper: with K = Σ_l σ_l^p
    Σ_{m ∈ l} σ_m^q K_m and Σ_l d_l σ_l ≤ 1, Σ_{m ∈ l} σ_m ≤ 1, they are r = 2/(p + 1), s = 2/(q + 1), and our
    d_l is its d_l to the power 1 − r/2.

    Parameters
    ----------
    groups : list of lists of numbers or names of kernels, optional
        Each kernel once; default: each is a group.
    C : float
        Price of the slacks, for the kernels as they are.
    inner, outer : float in [1, 2]
        s and r.
    costs : array (n_groups,), optional
        The positive d_l, 1 each by default.
    epsilon, nu
        Of values and of nothing, as for :class:`MarginMKL`.
    tol : float
        Relative duality gap to reach.
    max_iter : int

    Attributes
    ----------
    groups_ : int array (n_kernels,), the group of each kernel
    objective_ : float, J at the weights
    dual_gap_ : float, relative: no weights have J below objective_ − dual_gap_ · |objective_|
        (for nothing as for :class:`MarginMKL`, where J is 0)
    dual_coef_ : array (n_machines, n), label × dual

    References
    ----------
    M. Szafranski, Y. Grandvalet, A. Rakotomamonjy (2008). Composite kernel learning. ICML.

    Examples
    --------
    >>> y = np.array([-1, -1, 1, 1])
    >>> x, z = np.array([-1.2, -0.8, 0.9, 1.1]), np.array([1.0, -1.0, 1.0, -1.0])
    >>> Ks = {"x": np.outer(x, x), "noisy x": np.outer(x + 0.3 * z, x + 0.3 * z), "z": np.outer(z, z)}
    >>> GroupMKL([["x", "noisy x"], ["z"]], C=0.1).fit(Ks, y).kernel_weights_.round(2)
    array([0.71, 0.71, 0.  ])
    """

    about = About(
        family="margin",
        problem="min J(η), mixed norm of η over groups of kernels ≤ 1",
        solver="level method with cuts of the norm, duality gap",
        cost="some tens of machines, reads of the stack; memory n²",
        use="Kernels that come in groups, such as widths of one source.",
        reference="Szafranski, Grandvalet & Rakotomamonjy 2008",
    )

    groups: Sequence[Sequence[Any]] | None = None
    C: float = 1.0
    _: KW_ONLY
    inner: float = 4.0 / 3.0
    outer: float = 1.0
    costs: Any = None
    epsilon: float = 0.1
    nu: float = 0.5
    tol: float = 1e-4
    max_iter: int = 300

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        inner, outer = _exponent("inner", self.inner), _exponent("outer", self.outer)
        self.groups_ = group_codes(self.groups, self.view_names_)
        size = int(self.groups_.max()) + 1
        costs = np.ones(size) if self.costs is None else positive_costs(self.costs, size, "groups")
        costs = costs ** (2.0 / check_number("outer", self.outer))
        options, losses = self._options(), self._losses(targets)
        if np.isinf(inner):  # one weight for each group
            gauge = MixedNorm(np.arange(size), 1.0, outer, costs)
            return self._told(learn_in_gauge(Ks, losses, gauge, options, ties=self.groups_))
        gauge = MixedNorm(self.groups_, inner, outer, costs)
        return self._told(learn_in_gauge(Ks, losses, gauge, options))


def _exponent(name: str, value: Any) -> float:
    """The exponent of the weights, p/(2 − p), for one of the norms of w."""
    p = check_number(name, value, at_least=1.0)
    if p > 2.0:
        raise ValueError(f"{name} must be between 1 and 2; got {value!r}.")
    return p / (2.0 - p) if p < 2.0 else np.inf


def group_codes(groups: Sequence[Sequence[Any]] | None, names: Sequence[str]) -> Array:
    """The group of each kernel, from lists of their numbers or names; None: each is its own.

    Examples
    --------
    >>> group_codes([["a", "c"], [1]], ["a", "b", "c"]).tolist()
    [0, 1, 0]
    """
    if groups is None:
        return np.arange(len(names))
    listed = isinstance(groups, Iterable) and not isinstance(groups, str)
    if not (listed and all(isinstance(group, Iterable) and not isinstance(group, str) for group in groups)):
        raise TypeError(f"groups must be lists of names or numbers of kernels; got {groups!r}.")
    codes = np.full(len(names), -1)
    for l, group in enumerate(groups):
        for kernel in group:
            m = _number(kernel, names)
            if codes[m] >= 0:
                raise ValueError(f"groups must hold each kernel once; {kernel!r} is there twice.")
            codes[m] = l
    if (codes < 0).any():
        left = [name for name, code in zip(names, codes, strict=True) if code < 0]
        raise ValueError(f"groups must hold each of the {len(names)} kernels; left out: {left}.")
    if len(np.unique(codes)) < len(groups):
        raise ValueError("groups must not be empty: leave empty ones out.")
    return codes


def _number(kernel: Any, names: Sequence[str]) -> int:
    if isinstance(kernel, str):
        if kernel in names:
            return list(names).index(kernel)
    elif isinstance(kernel, int | np.integer) and 0 <= kernel < len(names):
        return int(kernel)
    raise ValueError(f"groups must hold names or numbers of kernels, {list(names)}; got {kernel!r}.")

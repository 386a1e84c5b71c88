"""EasyMKL (Aiolli & Donini): one machine on the sum of the kernels, then weights in closed form."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array
from ..._validation import check_number
from ...core.optim.loop import Status
from ...core.stack.sums import kernel_scales, quadratic_sums, weighted_sum
from ...core.svm.losses import SquaredHinge
from ...core.weights.learn import learn_weights
from ..learner import About, Learned, TwoClassLearner


@dataclass(eq=False, repr=False)
class EasyMKL(TwoClassLearner):
    """Weights by the distance that each kernel puts between two points of the classes' hulls.

    min_{γ ∈ Γ}  (1 − Λ) γ'Y(Σ_m K̂_m)Yγ + Λ‖γ‖²,      η_m ∝ γ'YK̂_mYγ,  Σ η = 1,      K = Σ_m η_m K̂_m

    with K̂_m = K_m n / tr K_m, Y = diag(y), and Γ: γ ≥ 0 of sum 1 in each class. This is the hard margin at
    Λ → 0 and the distance of the class means at Λ = 1; between, it is the squared hinge of C = (1 − Λ)/Λ.
    More than two classes: the mean over each against the rest.

    Parameters
    ----------
    balance : float in (0, 1]
        Λ.
    tol : float
        Relative duality gap to reach.
    max_iter : int

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,), η_m n / tr K_m, for the kernels as they are
    objective_ : float, the minimum
    dual_gap_ : float, relative: no γ has a value below objective_ · (1 − dual_gap_)
    points_ : array (n_machines, n), γ

    References
    ----------
    F. Aiolli, M. Donini (2015). EasyMKL: a scalable multiple kernel learning algorithm. Neurocomputing 169.

    Examples
    --------
    >>> y = np.array([-1, -1, 1, 1])
    >>> x, z = np.array([-1.0, -2.0, 1.0, 2.0]), np.array([1.0, -1.0, 1.0, -1.0])
    >>> EasyMKL().fit([np.outer(x, x), 10 * np.outer(z, z)], y).kernel_weights_.round(3)
    array([0.4, 0. ])
    """

    about = About(
        family="margin",
        problem="min (1−Λ) γ'YK_ΣYγ + Λ‖γ‖² over the hulls; η_m ∝ γ'YK_mYγ",
        solver="one squared-hinge machine by SMO, duality gap; then closed form",
        cost="one machine, two reads of the stack, P n²; memory n²",
        use="Very many kernels, most of them weak: the price of one SVM.",
        reference="Aiolli & Donini 2015",
    )

    balance: float = 0.1
    tol: float = 1e-4
    max_iter: int = 300

    def _learn(self, Ks: Array, targets: Any) -> Learned:
        self.points_ = np.empty((0, targets.n))
        return super()._learn(Ks, targets)

    def _learn_two(self, Ks: Array, signs: Array) -> Learned:
        balance = check_number("balance", self.balance, above=0.0)
        if balance > 1.0:
            raise ValueError(f"balance must be at most 1; got {self.balance!r}.")
        options, sizes = self._options(), kernel_scales(Ks, self.view_names_)
        beta = signs / np.where(signs > 0.0, np.sum(signs > 0.0), np.sum(signs < 0.0))
        upper, n_iter, status = np.inf, 1, Status.OPTIMAL
        if balance < 1.0:
            loss = SquaredHinge(signs, (1.0 - balance) / balance)
            found = learn_weights(weighted_sum(Ks, 1.0 / sizes)[None], [loss], options=options)
            beta = found.duals[0] * (2.0 / np.abs(found.duals).sum())
            upper, n_iter, status = found.upper_bound, found.n_iter, found.status
        self.points_ = np.vstack([self.points_, np.abs(beta)])
        forms = quadratic_sums(Ks, beta[:, None]) / sizes
        value = (1.0 - balance) * float(forms.sum()) + balance * float(beta @ beta)
        # the machine's value is 2 (1 − Λ) / minimum
        gap = 1.0 - 2.0 * (1.0 - balance) / (upper * value) if balance < 1.0 else 0.0
        weights = forms / max(float(forms.sum()), 1e-300) / sizes
        return Learned(weights, objective=value, gap=max(gap, 0.0), n_iter=n_iter, status=status)

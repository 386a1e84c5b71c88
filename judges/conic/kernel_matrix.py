"""Learning the kernel matrix by Clarabel: the problem, its units and its result are those of the package."""

import numpy as np

from multikernel.core.optim.loop import Options, Status
from multikernel.core.optim.weight_sets import Spectrahedron
from multikernel.transductive.solver.families import StackFamily
from multikernel.transductive.solver.kernel_matrix import (
    Certified,
    MatrixProblem,
    MatrixResult,
    MatrixRun,
    drawn_inside,
)

from .point import ConicPoint
from .solve import solve_conic


def learn_kernel_matrix_conic(problem: MatrixProblem, options: Options | None = None) -> MatrixResult:
    """Learn the weights of a family of kernel matrices; as ``learn_kernel_matrix``, by other means.

    Examples
    --------
    >>> from multikernel.core.svm.losses import Hinge
    >>> x, z = np.array([-1.2, 0.9, -0.8, 1.1]), np.array([1.0, 1.0, -1.0, -1.0])
    >>> Ks = np.stack([np.outer(x, x), np.outer(z, z)])
    >>> y = np.array([-1.0, 1.0])  # of the first two points
    >>> result = learn_kernel_matrix_conic(MatrixProblem(Ks, Hinge(y, 1.0), "nonnegative", trace=4.0))
    >>> result.weights.round(3).tolist(), bool(result.gap <= 1e-8)
    ([0.976, 0.0], True)
    """
    return _ConicRun(problem, options or Options(tol=1e-8, max_iter=100)).learn()


class _ConicRun(MatrixRun):
    """The same run, each of its programs solved by Clarabel."""

    def solve(self) -> Status:
        assert not self.constrained, "the conic judge has no further constraints on the weights"
        members = self.members
        count = members.n_members - members.has_identity
        cone = None
        if self.free:
            assert isinstance(members, StackFamily)
            cone = Spectrahedron(members.Ks, members.scales[:count])
        self.member_weights = lambda w: w[:count] * members.scales[:count]
        point = solve_conic(
            members, self.loss, cone, self.options.tol, self.options.max_iter, self._watch_point
        )
        self.best = _certified(point)
        if self.free:
            middle = np.full(members.n_members, 1.0 / members.n_members)
            self.best = drawn_inside(self.best, members, self.loss, middle)
        return self.status(point.why)

    def _watch_point(self, point: ConicPoint) -> bool:
        self.best = _certified(point)
        return self.note(point.value, point.lower, point.gap, point.w)


def _certified(point: ConicPoint) -> Certified:
    return Certified(point.w, point.beta, point.intercept, point.value, point.upper, point.lower)

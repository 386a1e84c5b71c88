"""One new point at a time: the optimum with the point by the published program, and what is carried over."""

import numpy as np
import pytest
from sklearn.svm import SVC

from judges.optimum import conic_optimum
from judges.programs.kernel_matrix_published import matrix_inequality
from multikernel.core.svm.losses import Hinge, SquaredHinge
from multikernel.transductive import TransductiveMKLClassifier, transduce_pointwise
from multikernel.transductive.solver.one_more import OneMorePoint, bordered
from tests.core.problems import gaussian
from tests.test_bad_input import refuses
from tests.transductive.solver.matrix_problems import common_range, make_points, unit_diagonal

LOSSES = {"soft1": Hinge, "soft2": SquaredHinge}
PAPER = {"soft1": "SM1", "soft2": "SM2"}


def kernels(n, N, seed, *, unit, far=1.0):
    """Gaussian, linear and quadratic kernels; the last points may be far away."""
    X, y = make_points("soft1", n, N, seed)
    X[N + 4 :] *= far
    Ks = [gaussian(X, 0.5), X @ X.T + 0.1, (1.0 + X @ X.T) ** 2]
    return np.stack([unit_diagonal(K) for K in Ks] if unit else Ks), y


def optimum(Ks, y, method):
    """ω by the linear matrix inequality, at the paper's trace, with kernels of trace n."""
    n, traces = Ks.shape[1], np.trace(Ks, axis1=1, axis2=2)
    c = traces.sum()
    scaled, u = Ks * (n / traces)[:, None, None], c / n
    stated = matrix_inequality(scaled, y, PAPER[method], u, float(n), basis=common_range(scaled))
    return conic_optimum(stated.program) / u


@pytest.mark.parametrize("method", ["soft1", "soft2"])
@pytest.mark.parametrize(("unit", "far"), [(True, 1.0), (False, 1.0), (False, 2.0)])
def test_the_bounds_enclose_the_optimum_with_the_point(method, unit, far):
    Ks, y = kernels(20, 14, 1, unit=unit, far=far)
    B = 18
    update = OneMorePoint(Ks[:, :B, :B], LOSSES[method](y, 1.0), 1e-3, 100)
    for j in (18, 19):
        found = update.add(Ks[:, :B, j], Ks[:, j, j])
        rows = np.append(np.arange(B), j)
        whole = Ks[:, rows][:, :, rows]
        expected = optimum(whole, y, method)
        assert found.lower_bound <= expected * (1 + 1e-6) and found.upper_bound >= expected * (1 - 1e-6)
        assert found.gap <= 1e-3 and found.status == "optimal"
        K = np.tensordot(found.weights, whole, 1)
        assert np.linalg.eigvalsh(K)[0] >= -1e-10 * np.trace(K)
        assert np.trace(K) == pytest.approx(np.trace(whole, axis1=1, axis2=2).sum(), rel=1e-9)
        shift = 1.0 if method == "soft2" else 0.0
        svc = SVC(C=1.0 if method == "soft1" else 1e9, kernel="precomputed", tol=1e-9)
        svc.fit(K[:14, :14] + shift * np.eye(14), y)
        value = 2 * np.abs(svc.dual_coef_).sum() - svc.dual_coef_[0] @ (
            (K[:14, :14] + shift * np.eye(14))[np.ix_(svc.support_, svc.support_)] @ svc.dual_coef_[0]
        )
        assert found.lower_bound * (1 - 1e-6) <= value <= found.upper_bound * (1 + 1e-6)


def test_weights_that_stay_feasible_are_carried_over_and_others_are_not():
    Ks, y = kernels(60, 40, 0, unit=True)
    given = Ks[:, :50, :50]
    update = OneMorePoint(given, Hinge(y, 1.0), 1e-3, 100)
    mu, counts = update.start.weights, []
    for j in range(50, 60):
        found = update.add(Ks[:, :50, j], Ks[:, j, j])
        K = bordered(np.tensordot(mu, given, 1), mu @ Ks[:, :50, j], float(mu @ Ks[:, j, j]))
        stays = np.linalg.eigvalsh(K)[0] >= 0.0
        counts.append(found.n_machines)
        assert (found.n_machines == 0) == stays
        if stays:
            np.testing.assert_allclose(found.weights, mu, rtol=1e-12)
    assert min(counts) == 0 < max(counts)


def test_a_trace_that_grows_unevenly_is_not_carried_over():
    """Weights that keep the trace by chance prove nothing: the other weights may do better now."""
    Ks, y = kernels(26, 16, 0, unit=True)
    update = OneMorePoint(Ks[:, :25, :25], Hinge(y, 1.0), 1e-3, 100)
    excess = update.start.weights - 1.0  # of sum zero
    low, high = excess.argmin(), excess.argmax()
    corner = np.ones(3)
    corner[low] += excess[high]
    corner[high] -= excess[low]
    assert update.start.weights @ corner == pytest.approx(corner.sum())
    assert update.add(Ks[:, :25, 25], corner).n_machines > 0


def test_points_are_classified_as_by_a_fit_with_each_of_them():
    Ks, y = kernels(46, 30, 2, unit=False, far=1.5)
    old, new = np.arange(36), np.arange(36, 46)
    stack = np.moveaxis(Ks, 0, 2)
    labels = np.where(y > 0, "yes", "no")
    found = transduce_pointwise(
        stack[:36, :36], labels, stack[36:, :36], stack[new, new], method="soft2", tol=1e-5, max_iter=300
    )
    assert found.dual_gap.max() <= 1e-5 and found.n_machines.max() > 0
    for number, j in enumerate(new):
        rows = np.append(old, j)
        part = stack[np.ix_(rows, rows)]
        model = TransductiveMKLClassifier("precomputed", weight_set="free", method="soft2", tol=1e-8)
        model.fit(part[:30], labels, part[30:])
        assert model.transduction_[-1] == found.transduction[number]
        assert found.scores[number] == pytest.approx(model.transduction_scores_[-1], abs=0.05)


def test_too_few_cutting_planes_are_told():
    Ks, y = kernels(30, 20, 1, unit=False, far=2.0)
    stack = np.moveaxis(Ks, 0, 2)
    with pytest.warns(UserWarning, match=r"the gap of \d of 6 new points is above tol"):
        transduce_pointwise(
            stack[:24, :24], y, stack[24:, :24], stack[range(24, 30), range(24, 30)], max_iter=1
        )


def test_bad_input_is_refused():
    Ks, y = kernels(20, 14, 0, unit=True)
    stack = np.moveaxis(Ks, 0, 2)
    given = stack[:18, :18], y, stack[18:, :18], stack[[18, 19], [18, 19]]
    with refuses("new_rows must have shape (n_new, 18, 3)", "(2, 17, 3)"):
        transduce_pointwise(*given[:2], given[2][:, :17], given[3])
    with refuses("kernel 0 with new point 0 must be positive semidefinite", "new_diagonal"):
        transduce_pointwise(*given[:3], np.zeros((2, 3)))
    with refuses("must be finite"):
        transduce_pointwise(*given[:3], np.full((2, 3), np.nan))
    with refuses("method must be one of 'soft1', 'soft2'"):
        transduce_pointwise(*given, method="hard")
    with refuses("y must hold two classes"):
        transduce_pointwise(given[0], np.ones(14), *given[2:])

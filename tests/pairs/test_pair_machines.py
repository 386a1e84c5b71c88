"""Machines on pairs against the explicit Gram matrix, their certificate; what is left out against refits."""

import itertools

import numpy as np
import pytest

from multikernel.core.optim.loop import Status
from multikernel.pairs.solver.ridge import (
    Cells,
    PairMachine,
    Side,
    entries_of_product,
    left_out_residuals,
    solve_pairs,
)


def kernel(n, seed, rank=4):
    Z = np.random.default_rng(seed).normal(size=(n, rank))
    return Z @ Z.T + 0.1 * np.eye(n)


def some_cells(n_left=7, n_right=5, share=1.0, seed=0, weighted=False):
    rng = np.random.default_rng(seed)
    places = np.argwhere(rng.random((n_left, n_right)) < share)
    weights = rng.uniform(0.1, 3.0, len(places)) if weighted else np.ones(len(places))
    return Cells(places[:, 0], places[:, 1], rng.normal(size=len(places)), weights, (n_left, n_right))


def machine_of(cells, alpha=0.7):
    return PairMachine(cells, Side(kernel(cells.shape[0], 1)), Side(kernel(cells.shape[1], 2)), alpha)


def explicit(machine):
    """β, objective and f by the Gram matrix of the observed pairs."""
    cells = machine.cells
    place = cells.rows * cells.shape[1] + cells.columns
    G = np.kron(machine.left.K, machine.right.K)[np.ix_(place, place)]
    beta = np.linalg.solve(G + machine.alpha * np.diag(1.0 / cells.weights), cells.values)
    f = G @ beta
    return beta, float(cells.weights @ (cells.values - f) ** 2 + machine.alpha * beta @ f), f


@pytest.mark.parametrize(
    ("share", "weighted"), [(1.1, False), (1.1, True), (0.9, True), (0.6, False), (0.15, True), (0.05, False)]
)
def test_against_the_explicit_gram_matrix(share, weighted):
    cells = some_cells(18, 13, share, weighted=weighted)
    machine = machine_of(cells)
    assert cells.is_complete == (share > 1 and not weighted)
    found = solve_pairs(machine, 1e-22)
    beta, objective, f = explicit(machine)
    np.testing.assert_allclose(found.beta, beta, atol=1e-9 * np.abs(beta).max())
    np.testing.assert_allclose(found.fitted, f, atol=1e-9 * np.abs(f).max())
    assert found.objective == pytest.approx(objective, rel=1e-12) and found.status == Status.OPTIMAL


@pytest.mark.parametrize("max_iter", [1, 2, 3, 5, 8])
def test_the_gap_bounds_what_is_missing_at_any_time(max_iter):
    machine = machine_of(some_cells(18, 13, 0.7, weighted=True), alpha=0.01)
    found = solve_pairs(machine, 1e-20, max_iter)
    _, best, _ = explicit(machine)
    assert found.status == Status.MAX_ITER and found.n_iter == max_iter
    assert 0.0 < found.objective - best <= found.gap
    cells, beta = machine.cells, found.beta
    residual = cells.values - machine.product(beta) - machine.alpha * beta / cells.weights
    dual = machine.alpha * (beta @ cells.values + beta @ residual)
    assert dual <= best and found.gap == pytest.approx(found.objective - dual, rel=1e-6)


def test_few_cells_missing_are_few_steps():
    cells = some_cells(30, 30)
    keep = np.ones(900, bool)
    keep[[5, 77, 402]] = False
    part = Cells(cells.rows[keep], cells.columns[keep], cells.values[keep], np.ones(897), (30, 30))
    found = solve_pairs(machine_of(part, 1e-4), 1e-12)
    assert found.status == Status.OPTIMAL and found.n_iter <= 4


def test_a_start_is_used_and_zero_targets_need_none():
    machine = machine_of(some_cells(18, 13, 0.5))
    first = solve_pairs(machine, 1e-16)
    again = solve_pairs(machine, 1e-12, start=first.beta)
    assert again.n_iter == 1 < first.n_iter and np.array_equal(again.beta, first.beta)
    cells = machine.cells
    nothing = Cells(cells.rows, cells.columns, 0.0 * cells.values, cells.weights, cells.shape)
    empty = solve_pairs(machine_of(nothing), 1e-6)
    assert empty.status == Status.OPTIMAL and not empty.beta.any() and empty.gap == 0.0


def test_an_end_that_floating_point_does_not_reach_is_said():
    machine = machine_of(some_cells(18, 13, 0.5, weighted=True), alpha=1e-9)
    found = solve_pairs(machine, 1e-40, 5000)
    assert found.status == Status.STALLED and found.gap > 1e-40 * found.objective


@pytest.mark.parametrize("n", [3, 400])
def test_entries_of_products(n):
    rng = np.random.default_rng(0)
    P, Q = rng.normal(size=(60, 9)), rng.normal(size=(50, 9))
    rows, columns = rng.integers(0, 60, n), rng.integers(0, 50, n)
    np.testing.assert_allclose(entries_of_product(P, Q, rows, columns), (P @ Q.T)[rows, columns])


# --- what is left out --------------------------------------------------------------------------------------


@pytest.mark.parametrize("hold_out", ["pairs", "left", "right"])
@pytest.mark.parametrize("weight", [1.0, 3.0])
def test_what_is_left_out_against_refits(hold_out, weight):
    cells = some_cells(7, 5)
    cells = Cells(cells.rows, cells.columns, cells.values, weight * cells.weights, cells.shape)
    machine = machine_of(cells, alpha=0.3)
    found = left_out_residuals(machine, hold_out)
    groups = {"pairs": np.arange(35), "left": cells.rows, "right": cells.columns}[hold_out]
    G = np.kron(machine.left.K, machine.right.K)
    for group in np.unique(groups):
        out = groups == group
        kept = ~out
        beta = np.linalg.solve(G[np.ix_(kept, kept)] + 0.3 / weight * np.eye(kept.sum()), cells.values[kept])
        expected = cells.values[out] - G[np.ix_(out, kept)] @ beta
        np.testing.assert_allclose(found[out], expected, rtol=1e-8, atol=1e-10)


def test_the_order_of_the_cells_does_not_matter():
    cells = some_cells(7, 5)
    order = np.random.default_rng(1).permutation(35)
    mixed = Cells(cells.rows[order], cells.columns[order], cells.values[order], cells.weights, cells.shape)
    for hold_out in ("pairs", "left", "right"):
        plain = left_out_residuals(machine_of(cells, 0.5), hold_out)
        np.testing.assert_allclose(left_out_residuals(machine_of(mixed, 0.5), hold_out), plain[order])
    beta = solve_pairs(machine_of(cells), 1e-9).beta
    np.testing.assert_allclose(solve_pairs(machine_of(mixed), 1e-9).beta, beta[order])


def test_products_of_few_and_of_many_cells_agree():
    for share in (0.03, 0.5):
        cells = some_cells(40, 30, share)
        machine = machine_of(cells)
        beta = np.random.default_rng(5).normal(size=cells.values.size)
        by_hand = [
            sum(
                machine.left.K[i, k] * machine.right.K[j, m] * b
                for (k, m), b in zip(zip(cells.rows, cells.columns, strict=True), beta, strict=True)
            )
            for i, j in itertools.islice(zip(cells.rows, cells.columns, strict=True), 5)
        ]
        np.testing.assert_allclose(machine.product(beta)[:5], by_hand)

"""Kernel matrices with nonnegative weights: ours against the QCQP of Clarabel, in three forms, and others."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.datasets.transduction import TransductiveProblem
from benchmarks.figures import Figure, Table
from benchmarks.plan import Plan
from benchmarks.sections.kernel_matrix import (
    MatrixPeer,
    Program,
    equality_figure,
    peers_table,
    profile_tables,
    speed_figure,
    take_against,
    take_profile,
)
from benchmarks.solvers.kernel_matrix import learn_simplex
from benchmarks.store import Store
from judges.programs.answers import Answer, MatrixAnswer
from judges.programs.qcqp_clarabel import solve_qcqp_clarabel
from judges.programs.qcqp_clarabel_direct import solve_by_cholesky, solve_by_eigenvectors
from judges.programs.qcqp_cvxopt import solve_smooth

LEAST_SPEEDUP, SPEED_SIZE = 50.0, (300, 5)

PROGRAM = Program("nonnegative", "nonnegative program")


def on_simplex(solve: Callable[..., Answer | None]) -> Callable[[TransductiveProblem], MatrixAnswer | None]:
    """A solver of the inductive QCQP on the labelled blocks; its weights in the program's units."""

    def solved(problem: TransductiveProblem) -> MatrixAnswer | None:
        answer = solve(problem.labelled_kernels, problem.y, problem.C)
        if answer is None:
            return None
        return MatrixAnswer(answer.weights * problem.trace / problem.traces, answer.alpha, "solved")

    return solved


CLARABEL = (
    MatrixPeer("clarabel_cvxpy", "QCQP by cvxpy + Clarabel", on_simplex(solve_qcqp_clarabel)),
    MatrixPeer(
        "clarabel_eigenvectors",
        "QCQP by Clarabel fed directly, factors by eigenvectors",
        on_simplex(solve_by_eigenvectors),
    ),
    MatrixPeer(
        "clarabel_cholesky",
        "QCQP by Clarabel fed directly, factors by Cholesky",
        on_simplex(solve_by_cholesky),
    ),
)
RECORD = (
    MatrixPeer("cvxopt_cpl", "QCQP by CVXOPT, smooth constraints (cpl)", on_simplex(solve_smooth), "1e-7"),
    MatrixPeer("learn_weights", "the solver of our MKLClassifier", learn_simplex),
)


def measure(store: Store, plan: Plan) -> None:
    """Take every case."""
    take_profile(store, PROGRAM, plan.nonnegative[-1])
    take_against(store, plan, PROGRAM, (*CLARABEL, *RECORD), plan.nonnegative)


def figures(store: Store, plan: Plan) -> list[Figure]:
    """Against every form of Clarabel's QCQP; CVXOPT's and our inductive solver for the record."""
    rows = [
        speed_figure(store, PROGRAM, peer, SPEED_SIZE, LEAST_SPEEDUP, plan.nonnegative) for peer in CLARABEL
    ]
    rows.append(equality_figure(store, PROGRAM, CLARABEL, "Clarabel's QCQP", plan.nonnegative))
    rows += [speed_figure(store, PROGRAM, peer, SPEED_SIZE, None, plan.nonnegative) for peer in RECORD]
    return rows


def tables(store: Store, plan: Plan) -> list[Table]:
    """One line a case and contestant, and the profile."""
    title = "Nonnegative weights of kernel matrices"
    return [
        peers_table(store, PROGRAM, (*CLARABEL, *RECORD), plan.nonnegative, title),
        *profile_tables(store, PROGRAM, plan.nonnegative[-1]),
    ]

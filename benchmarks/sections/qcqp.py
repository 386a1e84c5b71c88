"""Ours against the QCQP by cvxpy + Clarabel."""

from benchmarks.figures import Figure, Table
from benchmarks.plan import Plan
from benchmarks.sections.conic import CLARABEL, measure_peer, peer_figures, peer_table
from benchmarks.store import Store


def measure(store: Store, plan: Plan) -> None:
    """Take every case."""
    measure_peer(CLARABEL, store, plan)


def figures(store: Store, plan: Plan) -> list[Figure]:
    """Speed and equality of the values."""
    return peer_figures(CLARABEL, store, plan)


def tables(store: Store, plan: Plan) -> list[Table]:
    """One line a case."""
    return [peer_table(CLARABEL, store, plan)]

"""Ours against the QCQP by CVXOPT without a modelling layer, in the three forms that it takes."""

from benchmarks.figures import Figure, Table
from benchmarks.plan import Plan
from benchmarks.sections.conic import CVXOPT_FORMS, measure_peer, peer_figures, peer_table
from benchmarks.store import Store


def measure(store: Store, plan: Plan) -> None:
    """Take every case of every form."""
    for peer in CVXOPT_FORMS:
        measure_peer(peer, store, plan)


def figures(store: Store, plan: Plan) -> list[Figure]:
    """Speed and equality of the values, form by form."""
    return [figure for peer in CVXOPT_FORMS for figure in peer_figures(peer, store, plan)]


def tables(store: Store, plan: Plan) -> list[Table]:
    """One table a form."""
    return [peer_table(peer, store, plan) for peer in CVXOPT_FORMS]

"""Ours against the QCQP in interior-point solvers: cvxpy + Clarabel, and CVXOPT in its three forms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from benchmarks.datasets import kernel_bank
from benchmarks.figures import Figure, Table, not_measured, seconds, worst_ratio
from benchmarks.measuring import cpu_seconds, median
from benchmarks.objective import judge
from benchmarks.plan import Case, Plan
from benchmarks.sections.grid import TIGHT_TOL
from benchmarks.solvers.ours import answer_of, fit_ours
from benchmarks.store import Record, Store
from judges.programs.answers import Answer
from judges.programs.qcqp_clarabel import solve_qcqp_clarabel
from judges.programs.qcqp_cvxopt import solve_cones, solve_linear_cones, solve_smooth

OBJECTIVE_TOL = 1e-6


@dataclass(frozen=True)
class Peer:
    """One interior-point contestant and what is asked against it."""

    name: str
    title: str
    solve: Callable[..., Answer | None]
    least_speedup: float  # in every case, or in the median
    size: tuple[int, int]  # (n, m) of the requirement; at others the speed is for the record
    select: Callable[[Plan], list[Case]]
    repeats: Callable[[Plan], int]
    in_the_median: bool = False

    def key(self, case: Case) -> str:
        """Name of a case's record in the store."""
        return f"{self.name}/{case.key}"

    def records(self, store: Store, plan: Plan) -> list[tuple[Case, Record]]:
        """The cases measured so far."""
        found = ((case, store.get(self.key(case))) for case in self.select(plan))
        return [(case, record) for case, record in found if record is not None]


CLARABEL = Peer(
    name="qcqp",
    title="QCQP by cvxpy + Clarabel",
    solve=solve_qcqp_clarabel,
    least_speedup=500.0,
    size=(500, 20),
    select=lambda plan: plan.qcqp,
    repeats=lambda plan: 1,
)


def _cvxopt(form: str, routine: str, solve: Callable[..., Answer], median: float | None = None) -> Peer:
    return Peer(
        name=f"cvxopt_{routine}",
        title=f"QCQP by CVXOPT fed directly, {form} ({routine})",
        solve=solve,
        least_speedup=70.0 if median is None else median,
        in_the_median=median is not None,
        size=(500, 5),
        select=lambda plan: plan.cvxopt,
        repeats=lambda plan: plan.repeats,
    )


CVXOPT_FORMS = (
    _cvxopt("cones and linear cost", "conelp", solve_linear_cones),
    _cvxopt("cones and quadratic cost", "coneqp", solve_cones),
    _cvxopt("smooth constraints", "cpl", solve_smooth, median=28.0),  # the fastest of the three
)


def measure_case(peer: Peer, case: Case, plan: Plan) -> Record:
    """Ours and the peer in turn, the peer as often as its own number of repeats says."""
    kernels, y = kernel_bank(case.dataset, case.n, case.m)
    ours: list[float] = []
    theirs: list[float] = []
    answer = None
    for repeat in range(plan.repeats):
        ours.append(cpu_seconds(lambda: fit_ours(kernels, y, case.C, TIGHT_TOL))[0])
        if repeat < peer.repeats(plan):
            spent, answer = cpu_seconds(lambda: peer.solve(kernels, y, case.C))
            theirs.append(spent)
    mine = answer_of(fit_ours(kernels, y, case.C, TIGHT_TOL), y)
    our_verdict = judge(kernels, y, case.C, mine.weights, mine.alpha)
    record: Record = {
        "ours": ours,
        "theirs": theirs,
        "our_value": our_verdict.lower,
        "our_gap": our_verdict.gap,
    }
    if answer is not None:
        verdict = judge(kernels, y, case.C, answer.weights, answer.alpha)
        record |= {"value": verdict.lower, "gap": verdict.gap}
        record["weights_differ"] = float(abs(answer.weights - mine.weights).max())
    return record


def measure_peer(peer: Peer, store: Store, plan: Plan) -> None:
    """Take every case of one peer."""
    for case in peer.select(plan):
        store.measure(peer.key(case), partial(measure_case, peer, case, plan))


def _difference(record: Record) -> float:
    """How far apart the two values are, relative; infinite if the peer found none."""
    if "value" not in record:
        return float("inf")
    return abs(record["value"] - record["our_value"]) / abs(record["our_value"])


def peer_figures(peer: Peer, store: Store, plan: Plan) -> list[Figure]:
    """Speed, and equality of the values."""
    what, required = f"against the {peer.title}", f"≥ {peer.least_speedup:g} times faster"
    required = f"median {required}" if peer.in_the_median else required
    records = peer.records(store, plan)
    if not records:
        return [not_measured(what, required)]
    ratios = [(case, median(r["theirs"]) / median(r["ours"])) for case, r in records]
    reached: bool | None
    limits = (0.0, peer.least_speedup) if peer.in_the_median else (peer.least_speedup, None)
    text, reached, worst = worst_ratio(ratios, limits[0], at_most=False, middle_limit=limits[1])
    far_case, far = max(((case, _difference(r)) for case, r in records), key=lambda pair: pair[1])
    if any((case.n, case.m) != peer.size for case, _ in records):
        reached = None
    counted = f"ours {plan.repeats}, theirs {peer.repeats(plan)}, × {len(records)} cases"
    return [
        Figure(what, required, text, reached, counted, worst),
        Figure(
            f"objective of the {peer.title} and ours, relative difference",
            f"≤ {OBJECTIVE_TOL:g}",
            f"at most {far:.1e} ({far_case})",
            far <= OBJECTIVE_TOL,
            f"{len(records)} cases",
        ),
    ]


def peer_table(peer: Peer, store: Store, plan: Plan) -> Table:
    """One line a case."""
    rows = []
    for case, record in peer.records(store, plan):
        ours, theirs = median(record["ours"]), median(record["theirs"])
        rows.append(
            [case.dataset, str(case.n), str(case.m), f"{case.C:g}", seconds(ours), seconds(theirs)]
            + [f"{theirs / ours:.0f}", str(len(record["theirs"])), f"{record['our_value']:.8f}"]
            + ([f"{record['value']:.8f}", f"{record['gap']:.1e}"] if "value" in record else ["none", "–"])
            + [f"{record['our_gap']:.1e}"]
        )
    header = ["data", "n", "m", "C", "ours, 1e-6", "theirs", "times faster", "its repeats", "our value"]
    text = (
        "Values are the judge's lower bounds, made from the duals alone. Factorising the kernels is part of "
        "a conic solver's time."
    )
    return Table(f"Against the {peer.title}", text, [*header, "its value", "its gap", "our gap"], rows)

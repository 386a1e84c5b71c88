"""Kernels for discriminant analysis: ours against semidefinite solvers, and in Cholesky factorisations.

Ten Gaussians on the waveforms 0 and 1 (``datasets/discrimination.py``), λ = 1e-4 and λ learned. Ours is the
solver to a gap of 1e-8, and the estimator with its input checks beside it; both are timed before and after
every run of a peer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np

from benchmarks.datasets.discrimination import (
    WAVEFORMS,
    DiscriminantTask,
    discriminant_task,
    waveform_rows,
)
from benchmarks.discriminant_objective import judge_discriminant
from benchmarks.figures import Figure, Table, not_measured, seconds
from benchmarks.measuring import code_version, cpu_seconds, median, one_cholesky
from benchmarks.plan import Plan
from benchmarks.profiling import profile_call
from benchmarks.sections.peers import difference, profile_table, provenance
from benchmarks.solvers.discriminant import OUR_TOL, answer_of_ours, fit_ours, learn_ours
from benchmarks.store import Record, Store
from judges.programs import discriminant_cvxopt, discriminant_cvxpy
from judges.programs.answers import DiscriminantAnswer
from judges.programs.discriminant_sdpa import solve_sdpa

KERNELS = 10
REGS = (1e-4, None)
REQUIRED_N = 400
LEAST_SPEEDUP = 400.0
LEAST_SPEEDUP_CP = 15.0  # against the dual with smooth constraints, by far the fastest of the general solvers
MOST_CHOLESKYS = 15.0
OBJECTIVE_TOL = 1e-6

_WARM_UP = 30
_IN_A_ROW = 5  # ours is so short that it runs this often in its turn
_PEER_SECONDS = 100.0  # a peer is timed again as long as all its runs together stay below this


@dataclass(frozen=True)
class DiscriminantCase:
    """Points, and λ: None if it is learned."""

    dataset: str
    n: int
    reg: float | None

    @property
    def key(self) -> str:
        """Name of the case in the store."""
        reg = "learned" if self.reg is None else f"reg{self.reg:g}"
        return f"{self.dataset}/n{self.n}/m{KERNELS}/{reg}"

    @property
    def given(self) -> str:
        """λ in words."""
        return "learned" if self.reg is None else f"{self.reg:g}"

    def __str__(self) -> str:
        return f"{self.dataset}, n={self.n}, m={KERNELS}, λ {self.given}"


@dataclass(frozen=True)
class Peer:
    """One contestant: its name in the store and on the page, the call that is timed, what it is asked for."""

    name: str
    title: str
    solve: Callable[[DiscriminantTask], DiscriminantAnswer | None]
    tolerance: str = "1e-8"


Found = list[tuple[DiscriminantCase, Record]]

CVXOPT = (
    Peer("cvxopt_stated", "CVXOPT, the SDP as stated", discriminant_cvxopt.solve_stated),
    Peer("cvxopt_balanced", "CVXOPT, the SDP balanced", discriminant_cvxopt.solve_balanced),
    Peer("cvxopt_balanced_chol", "CVXOPT, balanced, `chol`", discriminant_cvxopt.solve_balanced_chol),
)
RECORD = (Peer("sdpa", "SDPA, the SDP balanced", solve_sdpa, "1e-7"),)
DUAL = Peer("cvxopt_dual", "CVXOPT, the dual with smooth constraints (cp)", discriminant_cvxopt.solve_dual)
GENERAL = (
    Peer("scs", "SCS, the SDP balanced", discriminant_cvxpy.solve_scs, "1e-6"),
    Peer("clarabel", "Clarabel, the SDP balanced", discriminant_cvxpy.solve_clarabel),
)


# ---------------------------------------------------------------------- measuring
def case_key(contestant: str, case: DiscriminantCase) -> str:
    """Name of a record in the store."""
    return f"discriminant/{contestant}/{case.key}"


def found(store: Store, contestant: str, sizes: Sequence[int]) -> Found:
    """The records of the sizes that were measured, of whichever data the machine had."""
    pairs = []
    for n in sizes:
        for reg in REGS:
            cases = [DiscriminantCase(dataset, n, reg) for dataset in WAVEFORMS]
            records = [(case, store.get(case_key(contestant, case))) for case in cases]
            pairs += [(case, record) for case, record in records if record is not None][:1]
    return pairs


def verdict_of(task: DiscriminantTask, answer: DiscriminantAnswer) -> Record:
    """The judge's word on one answer; a λ that was given is taken as given."""
    reg = answer.reg if task.reg is None else task.reg
    return asdict(judge_discriminant(task.kernels, task.codes, answer.weights, reg, learned=task.reg is None))


def ready() -> None:
    """Compile and import whatever ours needs."""
    for reg in REGS:
        small = discriminant_task(_WARM_UP, KERNELS, reg)
        learn_ours(small)
        fit_ours(small)


def _our_turn(task: DiscriminantTask, ours: list[float], estimator: list[float]) -> DiscriminantAnswer:
    for _ in range(_IN_A_ROW):
        spent, result = cpu_seconds(lambda: learn_ours(task))
        ours.append(spent)
        estimator.append(cpu_seconds(lambda: fit_ours(task))[0])
    return answer_of_ours(result)


def measure_against(peer: Peer, n: int, reg: float | None, plan: Plan) -> Record:
    """Ours, our estimator and the peer in turn; the peer once, or as often as its time allows."""
    task = discriminant_task(n, KERNELS, reg)
    ready()
    ours: list[float] = []
    estimator: list[float] = []
    theirs: list[float] = []
    answer = None
    for repeat in range(plan.repeats):
        mine = _our_turn(task, ours, estimator)
        if repeat == 0 or sum(theirs) + max(theirs) < _PEER_SECONDS:
            spent, answer = cpu_seconds(lambda: peer.solve(task))
            theirs.append(spent)
    record: Record = {"code": code_version(), "ours": ours, "estimator": estimator, "theirs": theirs}
    record["our_verdict"] = verdict_of(task, mine)
    record["status"] = "no answer" if answer is None else answer.status
    if answer is not None:
        record["verdict"] = verdict_of(task, answer)
    return record


def learned_matrix(task: DiscriminantTask, answer: DiscriminantAnswer) -> np.ndarray:
    """λI + Σ θ_i K_i at a solution: what one factorisation is timed on."""
    n = task.codes.size
    return np.tensordot(answer.weights, task.kernels, axes=1) + max(answer.reg, 1e-9) * np.eye(n)


def measure_alone(n: int, reg: float | None, plan: Plan) -> Record:
    """Ours, our estimator and one Cholesky factorisation in turn."""
    task = discriminant_task(n, KERNELS, reg)
    ready()
    result = learn_ours(task)
    answer = answer_of_ours(result)
    matrix = learned_matrix(task, answer)
    ours: list[float] = []
    estimator: list[float] = []
    cholesky: list[float] = []
    for _ in range(plan.repeats):
        cholesky += [one_cholesky(matrix) for _ in range(_IN_A_ROW)]
        _our_turn(task, ours, estimator)
    told = {
        "n_iter": result.n_iter,
        "n_factorisations": result.n_factorisations,
        "own_gap": result.gap,
        "status": answer.status,
    }
    record: Record = {"code": code_version(), "ours": ours, "estimator": estimator, "cholesky": cholesky}
    return record | told | {"our_verdict": verdict_of(task, answer)}


def take_profile(n: int) -> Record:
    """Where the time of one solve goes, λ learned."""
    task = discriminant_task(n, KERNELS, None)
    ready()
    learn_ours(task)
    return {"code": code_version()} | profile_call(lambda: learn_ours(task))


def measure(store: Store, plan: Plan) -> None:
    """The quick contestants first."""
    dataset = waveform_rows()[0]

    def take(
        contestant: str, sizes: Sequence[int], call: Callable[[int, float | None, Plan], Record]
    ) -> None:
        for n in sizes:
            for reg in REGS:
                key = case_key(contestant, DiscriminantCase(dataset, n, reg))
                store.measure(key, partial(call, n, reg, plan))

    take("alone", plan.discriminant_alone, measure_alone)
    n = plan.discriminant[-1]
    store.measure(case_key("profile", DiscriminantCase(dataset, n, None)), partial(take_profile, n))
    for peer in (*RECORD, DUAL, *CVXOPT):
        take(peer.name, plan.discriminant, partial(measure_against, peer))
    for peer in GENERAL:
        take(peer.name, plan.discriminant_general, partial(measure_against, peer))


# ---------------------------------------------------------------------- figures
def _required_or_last(sizes: Sequence[int]) -> int:
    return REQUIRED_N if REQUIRED_N in sizes else sizes[-1]


def speed_figure(store: Store, peer: Peer, n: int, least: float | None) -> Figure:
    """How many times faster at n points, the worse λ first; `least` is None where nothing is required."""
    what = f"discriminant kernels against {peer.title}"
    required = "for the record" if least is None else f"≥ {least:g} times faster at n={REQUIRED_N}"
    measured = found(store, peer.name, [n])
    if not measured:
        return not_measured(what, required)
    ratios = [(median(r["theirs"]) / median(r["ours"]), case, r) for case, r in measured]
    worst, case, record = min(ratios, key=lambda entry: entry[0])
    checked = median(record["theirs"]) / median(record["estimator"])
    text = f"{worst:.3g} ({case}); with the estimator's input checks {checked:.3g}"
    text += "".join(f"; {ratio:.3g} (λ {other.given})" for ratio, other, _ in ratios if other != case)
    ended = sorted({r["status"] for _, r in measured} - {"optimal", "pdOPT"})
    if ended:
        text += f"; it ended: {', '.join(ended)}"
    reached = worst >= least if least is not None and n == REQUIRED_N else None
    counted = f"ours {len(record['ours'])}, theirs {len(record['theirs'])}"
    return Figure(what, required, text, reached, counted)


def equality_figure(store: Store, plan: Plan) -> Figure:
    """The largest difference of the objective over CVXOPT's forms and all sizes."""
    what = "discriminant kernels: objective of CVXOPT and ours, relative difference"
    required = f"≤ {OBJECTIVE_TOL:g}"
    peers = (*CVXOPT, DUAL)
    pairs = [(peer, *pair) for peer in peers for pair in found(store, peer.name, plan.discriminant)]
    if not pairs:
        return not_measured(what, required)
    peer, case, record = max(pairs, key=lambda entry: difference(entry[2]))
    far = difference(record)
    text = f"at most {far:.1e} ({peer.title}, {case})"
    return Figure(what, required, text, far <= OBJECTIVE_TOL, f"{len(pairs)} cases")


def choleskys(record: Record, contestant: str = "ours") -> float:
    """Time in Cholesky factorisations of the same size, of the same run."""
    return median(record[contestant]) / median(record["cholesky"])


def cholesky_figures(store: Store, plan: Plan) -> list[Figure]:
    """Time and count in factorisations at the size that is required, and the time at the largest."""
    sizes = plan.discriminant_alone
    n = _required_or_last(sizes)
    time_what = "discriminant kernels, time in Cholesky factorisations of one n × n matrix"
    count_what = "discriminant kernels, Cholesky factorisations of n × n matrices that are made"
    limit = f"≤ {MOST_CHOLESKYS:g} at n={REQUIRED_N}"
    measured = found(store, "alone", [n])
    if not measured:
        return [not_measured(time_what, limit), not_measured(count_what, limit)]
    case, record = max(measured, key=lambda pair: choleskys(pair[1]))
    spent = choleskys(record)
    text = f"{spent:.3g} ({case}); with the estimator's input checks {choleskys(record, 'estimator'):.3g}"
    for other, more in found(store, "alone", [m for m in sizes if m > n]):
        text += f"; {choleskys(more):.3g} (n={other.n}, λ {other.given})"
    most_case, most = max(measured, key=lambda pair: pair[1]["n_factorisations"])
    count = most["n_factorisations"]
    required_here = n == REQUIRED_N
    repeats = f"ours {len(record['ours'])}, Cholesky {len(record['cholesky'])}"
    return [
        Figure(time_what, limit, text, spent <= MOST_CHOLESKYS if required_here else None, repeats),
        Figure(
            count_what,
            limit,
            f"{count} ({most_case})",
            count <= MOST_CHOLESKYS if required_here else None,
            f"{len(measured)} cases",
        ),
    ]


def gap_figure(store: Store, plan: Plan) -> Figure:
    """The gap of ours that the judge finds, all sizes."""
    what, required = "discriminant kernels: gap of ours found by the judge", f"≤ {OUR_TOL:g}"
    measured = found(store, "alone", plan.discriminant_alone)
    if not measured:
        return not_measured(what, required)
    case, record = max(measured, key=lambda pair: pair[1]["our_verdict"]["gap"])
    gap = record["our_verdict"]["gap"]
    return Figure(what, required, f"at most {gap:.1e} ({case})", gap <= OUR_TOL, f"{len(measured)} cases")


def figures(store: Store, plan: Plan) -> list[Figure]:
    """Against CVXOPT, in factorisations, and against the others for the record."""
    n = _required_or_last(plan.discriminant)
    rows = [speed_figure(store, peer, n, LEAST_SPEEDUP) for peer in CVXOPT]
    rows.append(speed_figure(store, DUAL, n, LEAST_SPEEDUP_CP))
    rows.append(equality_figure(store, plan))
    rows += cholesky_figures(store, plan)
    rows.append(gap_figure(store, plan))
    rows += [speed_figure(store, peer, n, None) for peer in RECORD]
    rows += [speed_figure(store, peer, plan.discriminant_general[-1], None) for peer in GENERAL]
    return rows


# ---------------------------------------------------------------------- tables
def _peers_table(store: Store, plan: Plan) -> Table:
    rows, used = [], []
    for peers, sizes in (((*CVXOPT, DUAL, *RECORD), plan.discriminant), (GENERAL, plan.discriminant_general)):
        for n in sizes:
            for peer in peers:
                for case, record in found(store, peer.name, [n]):
                    used.append(record)
                    rows.append(_peer_row(peer, case, record))
    header = ["data", "n", "m", "λ", "solver", "asked for", "it ended", "ours", "our estimator", "theirs"]
    header += ["times faster", "its repeats", "objective, ours", "difference", "its gap"]
    text = (
        "Ours to a gap of 1e-8. The objective is λF for a given λ and F for a learned one; the judge "
        "computes it, and a lower bound, from the weights. SCS and Clarabel are not made for few unknowns "
        "and one large matrix inequality: they run at the least size alone, for "
        f"{discriminant_cvxpy.TIME_LIMIT:g} s at most by their own clock (“user_limit”: met, so that the "
        "ratio is a lower bound)." + provenance(used)
    )
    return Table("Kernels for discriminant analysis against general solvers", text, header, rows)


def _peer_row(peer: Peer, case: DiscriminantCase, record: Record) -> list[str]:
    ours, theirs = median(record["ours"]), median(record["theirs"])
    row = [case.dataset, str(case.n), str(KERNELS), case.given, peer.title, peer.tolerance, record["status"]]
    row += [seconds(ours), seconds(median(record["estimator"])), seconds(theirs), f"{theirs / ours:.3g}"]
    row += [str(len(record["theirs"])), f"{record['our_verdict']['value']:.10g}"]
    if "verdict" not in record:
        return [*row, "–", "–"]
    return [*row, f"{difference(record):.1e}", f"{record['verdict']['gap']:.1e}"]


def _alone_table(store: Store, plan: Plan) -> Table:
    measured = found(store, "alone", plan.discriminant_alone)
    rows = []
    for case, record in measured:
        verdict = record["our_verdict"]
        rows.append(
            [case.dataset, str(case.n), str(KERNELS), case.given, seconds(median(record["ours"]))]
            + [seconds(median(record["estimator"])), seconds(median(record["cholesky"]))]
            + [f"{choleskys(record):.3g}", f"{choleskys(record, 'estimator'):.3g}"]
            + [str(record["n_factorisations"]), str(record["n_iter"]), record["status"]]
            + [f"{record['own_gap']:.1e}", f"{verdict['gap']:.1e}", f"{verdict['value']:.10g}"]
        )
    header = ["data", "n", "m", "λ", "ours, 1e-8", "our estimator", "one Cholesky", "Choleskys, solver"]
    header += ["Choleskys, estimator", "factorisations made", "iterations", "it ended", "gap it states"]
    text = (
        "One Cholesky is LAPACK's potrf on one n × n matrix in its place, on one thread and in the same "
        "repeats. Factorisations made are those of n × n matrices; a start on half of the points is part of "
        "every time." + provenance([record for _, record in measured])
    )
    header += ["gap by the judge", "objective"]
    return Table("Kernels for discriminant analysis, ours alone", text, header, rows)


def tables(store: Store, plan: Plan) -> list[Table]:
    """One line a case and contestant, and the profile."""
    profiles = [
        profile_table(f"Where the time goes: discriminant kernels, {case}", record)
        for case, record in found(store, "profile", plan.discriminant[-1:])
    ]
    return [_alone_table(store, plan), _peers_table(store, plan), *profiles]

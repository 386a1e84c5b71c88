"""Mixtures of kernels: our solvers of the projection against general ones, and whole fits.

The problems are in ``datasets/mixtures.py``. Ours are the interior point method and SMO, both to 1e-8, timed
before every run of a peer. A fit takes place in a process of its own, which reports its peak memory too.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.children import run_child
from benchmarks.datasets.mixtures import POSTERIORS, ProjectionTask, kernels_of, projection_task
from benchmarks.figures import Figure, Table, not_measured, seconds
from benchmarks.measuring import code_version, cpu_seconds, median
from benchmarks.nonstationary_objective import judge_projection
from benchmarks.objective import InfeasibleError
from benchmarks.plan import Plan
from benchmarks.profiling import profile_call
from benchmarks.sections.peers import profile_table, provenance
from benchmarks.solvers.projection import solve_interior, solve_smo
from benchmarks.store import Record, Store
from judges.programs import projection_clarabel, projection_cvxopt
from judges.programs.answers import ProjectionAnswer

REQUIRED_N = 500
REQUIRED_FIT = 2000
LEAST_INTERIOR, LEAST_SMO = 4.0, 7.5
OBJECTIVE_TOL, GAP_TOL = 1e-6, 1e-7
MOST_SECONDS, MOST_BYTES = 300.0, 2 * 2**30

_WARM_UP = 40
_IN_A_ROW = 2  # ours is so short that it runs this often in its turn
_PEER_SECONDS = 15.0  # a peer is timed again as long as all its runs together stay below this

OURS: dict[str, Callable[[ProjectionTask], ProjectionAnswer]] = {"interior": solve_interior, "smo": solve_smo}
TITLES = {"interior": "interior point", "smo": "SMO + Newton"}


@dataclass(frozen=True)
class ProjectionCase:
    """Data, points, and the posteriors of the projection."""

    dataset: str
    n: int
    posteriors: str

    @property
    def key(self) -> str:
        """Name of the case in the store."""
        return f"{self.dataset}/n{self.n}/{self.posteriors}"

    @property
    def components(self) -> int:
        """How many there are in each class."""
        return 3 if self.dataset == "mc" else 2

    def __str__(self) -> str:
        return f"{self.dataset}, T={self.n}, M=N={self.components}, {self.posteriors} posteriors"


@dataclass(frozen=True)
class Peer:
    """One contestant: its name in the store and on the page, what makes the call that is timed."""

    name: str
    title: str
    prepare: Callable[[ProjectionTask], Callable[[], ProjectionAnswer]]
    required: bool


Found = list[tuple[ProjectionCase, Record]]

PEERS = (
    Peer("clarabel", "Clarabel", partial(projection_clarabel.prepare_stated, method="qdldl"), True),
    Peer(
        "clarabel_faer", "Clarabel, `faer`", partial(projection_clarabel.prepare_stated, method="faer"), True
    ),
    Peer(
        "clarabel_factored",
        "Clarabel, `faer`, kernels factored",
        partial(projection_clarabel.prepare_factored, method="faer"),
        False,
    ),
    Peer("cvxopt", "CVXOPT (coneqp)", lambda task: partial(projection_cvxopt.solve_coneqp, task), False),
)


def classification_cases(plan: Plan) -> list[ProjectionCase]:
    """Where the interior point method must be fast."""
    return [ProjectionCase("mc", plan.nonstationary, posteriors) for posteriors in POSTERIORS]


def synthetic_cases(plan: Plan) -> list[ProjectionCase]:
    """Where SMO must be fast, and the growth with the number of points."""
    return [ProjectionCase("piecewise", n, "converged") for n in plan.nonstationary_growth]


# ---------------------------------------------------------------------- measuring
def case_key(contestant: str, case: ProjectionCase) -> str:
    """Name of a record in the store."""
    return f"nonstationary/{contestant}/{case.key}"


def found(store: Store, contestant: str, cases: Sequence[ProjectionCase]) -> Found:
    """The records of the cases that were measured."""
    pairs = [(case, store.get(case_key(contestant, case))) for case in cases]
    return [(case, record) for case, record in pairs if record is not None]


def verdict_of(task: ProjectionTask, answer: ProjectionAnswer) -> Record:
    """The judge's word on one answer, or why it was refused."""
    try:
        verdict = judge_projection(
            task.kernels,
            task.y,
            task.posteriors,
            answer.duals,
            answer.offsets,
            C=task.C,
            margin=task.margin,
        )
    except InfeasibleError as refusal:
        return {"refused": str(refusal)}
    return asdict(verdict)


def measure_against(peer: Peer, case: ProjectionCase, plan: Plan) -> Record:
    """Ours and the peer in turn; the peer once, or as often as its time allows."""
    task = projection_task(case.dataset, case.n, case.posteriors)
    small = projection_task(case.dataset, _WARM_UP, "random")
    peer.prepare(small)()
    call = peer.prepare(task)
    times: dict[str, list[float]] = {name: [] for name in (*OURS, "theirs")}
    answers = {name: solve(small) for name, solve in OURS.items()}
    for repeat in range(plan.repeats):
        for name, solve in OURS.items():
            for _ in range(_IN_A_ROW):
                spent, answers[name] = cpu_seconds(partial(solve, task))
                times[name].append(spent)
        if repeat == 0 or sum(times["theirs"]) + max(times["theirs"]) < _PEER_SECONDS:
            spent, answers["theirs"] = cpu_seconds(call)
            times["theirs"].append(spent)
    told = {"status": {name: answer.status for name, answer in answers.items()}}
    verdicts = {"verdict": {name: verdict_of(task, answer) for name, answer in answers.items()}}
    return {"code": code_version()} | times | told | verdicts


def measure_fit(n: int) -> Record:
    """One fit in a fresh process."""
    kernels, y = kernels_of("mc", n)
    with tempfile.TemporaryDirectory() as folder:
        stack_file, label_file = Path(folder) / "stack.npy", Path(folder) / "labels.npy"
        np.save(stack_file, kernels)
        np.save(label_file, y)
        measured, _ = run_child("mixtures", str(stack_file), str(label_file))
    return {"code": code_version(), "stack": kernels.nbytes} | measured


def _profile(case: ProjectionCase) -> Record:
    task = projection_task(case.dataset, case.n, case.posteriors)
    solve_interior(task)
    return {"code": code_version()} | profile_call(partial(solve_interior, task))


def fit_key(n: int) -> str:
    """Name of a fit in the store."""
    return f"nonstationary/fit/mc/n{n}"


def measure(store: Store, plan: Plan) -> None:
    """Every case against every peer, the fits, and one profile."""
    for case in (*classification_cases(plan), *synthetic_cases(plan)):
        for peer in PEERS:
            store.measure(case_key(peer.name, case), partial(measure_against, peer, case, plan))
    for n in plan.nonstationary_fits:
        store.measure(fit_key(n), partial(measure_fit, n))
    case = classification_cases(plan)[0]
    store.measure(case_key("profile", case), partial(_profile, case))


# ---------------------------------------------------------------------- figures
def ratio(record: Record, ours: str) -> float:
    """How many times faster than the peer; 0 if ours did not reach its tolerance."""
    if record["status"][ours] != "optimal":
        return 0.0
    return median(record["theirs"]) / median(record[ours])


def difference(record: Record, ours: str) -> float:
    """How far the peer's value of the dual program is from ours, relative; infinite if one was refused."""
    lower = [record["verdict"][name].get("lower", np.inf) for name in (ours, "theirs")]
    return (
        float(abs(lower[1] - lower[0]) / (1.0 + abs(lower[0]))) if np.isfinite(lower).all() else float("inf")
    )


def speed_figure(
    store: Store, peer: Peer, cases: Sequence[ProjectionCase], ours: str, least: float
) -> Figure:
    """The worst case of a peer; required at one size, of the peers that have the program as stated."""
    what = f"projection by {TITLES[ours]} against {peer.title}, {cases[0].dataset}"
    required = f"≥ {least:g} times faster at T={REQUIRED_N}" if peer.required else "–"
    measured = found(store, peer.name, cases)
    if not measured:
        return not_measured(what, required)
    case, record = min(measured, key=lambda pair: ratio(pair[1], ours))
    worst = ratio(record, ours)
    others = [f"{ratio(more, ours):.3g} ({other.posteriors})" for other, more in measured if other != case]
    text = "; ".join([f"{worst:.3g} ({case})", *others])
    reached = worst >= least if peer.required and case.n == REQUIRED_N else None
    return Figure(what, required, text, reached, f"ours {len(record[ours])}, theirs {len(record['theirs'])}")


def equality_figure(store: Store, plan: Plan) -> Figure:
    """The values of the program, all cases and peers."""
    what, required = "projections: value of the peers' duals against ours", f"within {OBJECTIVE_TOL:g}"
    every = [*classification_cases(plan), *synthetic_cases(plan)]
    pairs = [(peer, case, record) for peer in PEERS for case, record in found(store, peer.name, every)]
    if not pairs:
        return not_measured(what, required)
    peer, case, record = max(pairs, key=lambda entry: difference(entry[2], "interior"))
    far = difference(record, "interior")
    text = f"at most {far:.1e} ({peer.title}, {case})"
    return Figure(what, required, text, far <= OBJECTIVE_TOL, f"{len(pairs)} cases")


def gap_figure(store: Store, plan: Plan, ours: str) -> Figure:
    """The gap of ours that the judge finds, all cases."""
    what, required = f"projections: gap of {TITLES[ours]} found by the judge", f"≤ {GAP_TOL:g}"
    every = [*classification_cases(plan), *synthetic_cases(plan)]
    measured = [pair for peer in PEERS for pair in found(store, peer.name, every)]
    if not measured:
        return not_measured(what, required)
    case, record = max(measured, key=lambda pair: pair[1]["verdict"][ours].get("gap", np.inf))
    gap = record["verdict"][ours].get("gap", np.inf)
    return Figure(what, required, f"at most {gap:.1e} ({case})", gap <= GAP_TOL, f"{len(measured)} cases")


def fit_figures(store: Store, plan: Plan) -> list[Figure]:
    """Time and memory of the largest fit."""
    n = plan.nonstationary_fits[-1]
    what = f"fit of NonstationaryClassifier, mc, T={n}, M=N=3"
    limits = f"≤ {MOST_SECONDS:g} s at T={REQUIRED_FIT}", f"≤ {MOST_BYTES / 2**30:g} GiB at T={REQUIRED_FIT}"
    record = store.get(fit_key(n))
    if record is None:
        return [
            not_measured(f"{what}, {part}", limit)
            for part, limit in zip(("time", "memory"), limits, strict=True)
        ]
    converged = record["status"] == "optimal"
    at_size = n == REQUIRED_FIT
    in_time = converged and record["cpu"] <= MOST_SECONDS
    told = f"{seconds(record['cpu'])}, {record['n_iter']} turns, it ended: {record['status']}"
    held = f"{record['peak'] / 2**30:.2f} GiB at the peak, {record['stack'] / 2**30:.2f} of them the kernels"
    within = record["peak"] <= MOST_BYTES
    return [
        Figure(f"{what}, time", limits[0], told, in_time if at_size else None, "1"),
        Figure(f"{what}, memory", limits[1], held, within if at_size else None, "1"),
    ]


def figures(store: Store, plan: Plan) -> list[Figure]:
    """Both solvers against every peer, equal values, gaps, and the fits."""
    classification, synthetic = classification_cases(plan), synthetic_cases(plan)[-1:]
    rows = [speed_figure(store, peer, classification, "interior", LEAST_INTERIOR) for peer in PEERS]
    rows += [speed_figure(store, peer, synthetic, "smo", LEAST_SMO) for peer in PEERS]
    rows.append(equality_figure(store, plan))
    rows += [gap_figure(store, plan, ours) for ours in OURS]
    return rows + fit_figures(store, plan)


# ---------------------------------------------------------------------- tables
def _projection_table(store: Store, plan: Plan) -> Table:
    rows, used = [], []
    for case in (*classification_cases(plan), *synthetic_cases(plan)):
        for peer in PEERS:
            for _, record in found(store, peer.name, [case]):
                used.append(record)
                rows.append(_row(peer, case, record))
    header = [
        "data",
        "T",
        "M=N",
        "posteriors",
        "solver",
        "it ended",
        "interior point",
        "SMO + Newton",
        "SMO ended",
    ]
    header += ["theirs", "interior, times faster", "SMO, times faster", "its repeats", "value, ours"]
    header += ["difference of value", "its gap", "gap, interior", "gap, SMO"]
    text = (
        "Ours to a gap of 1e-8, peers asked for 1e-8. The value is that of the dual program, less what is "
        "paid for imbalance; the gap is relative to 1 + |value|. The judge computes both from the duals and "
        "offsets. `faer` is Clarabel's supernodal factorisation. “Kernels factored” has the components' "
        "weights as variables too, so that its quadratic part is diagonal; it pays where kernels have low "
        "rank, and the time of factoring them is not counted." + provenance(used)
    )
    return Table("Projections of kernel mixtures against general solvers", text, header, rows)


def _row(peer: Peer, case: ProjectionCase, record: Record) -> list[str]:
    verdict = record["verdict"]
    row = [case.dataset, str(case.n), str(case.components), case.posteriors, peer.title]
    row += [record["status"]["theirs"], seconds(median(record["interior"])), seconds(median(record["smo"]))]
    row += [record["status"]["smo"], seconds(median(record["theirs"]))]
    row += [f"{ratio(record, 'interior'):.3g}", f"{ratio(record, 'smo'):.3g}", str(len(record["theirs"]))]
    row += [f"{verdict['interior'].get('lower', np.nan):.10g}", f"{difference(record, 'interior'):.1e}"]
    return row + [f"{verdict[name].get('gap', np.inf):.1e}" for name in ("theirs", "interior", "smo")]


def _fit_table(store: Store, plan: Plan) -> Table:
    measured = [(n, store.get(fit_key(n))) for n in plan.nonstationary_fits]
    kept = [(n, record) for n, record in measured if record is not None]
    rows = [
        ["mc", str(n), "3", seconds(r["cpu"]), seconds(r["wall"]), str(r["n_iter"]), r["status"]]
        + [f"{r['objective']:.8g}", f"{r['gap']:.1e}"]
        + [f"{r[name] / 2**20:.0f} MiB" for name in ("stack", "baseline", "peak")]
        for n, r in kept
    ]
    header = [
        "data",
        "T",
        "M=N",
        "CPU",
        "wall clock",
        "turns",
        "it ended",
        "objective",
        "distance to stationary",
    ]
    header += ["kernels", "resident before them", "peak"]
    text = (
        "NonstationaryClassifier on precomputed kernels, C = 10, tol = 1e-3, in a fresh process on one "
        "thread that has fitted a tiny problem first. The peak is that of the resident set (VmHWM)."
        + provenance([record for _, record in kept])
    )
    return Table("Fits of kernel mixtures", text, header, rows)


def tables(store: Store, plan: Plan) -> list[Table]:
    """One line a case and contestant, the fits, and the profile."""
    profiles = [
        profile_table(f"Where the time goes: interior point, {case}", record)
        for case, record in found(store, "profile", classification_cases(plan))
    ]
    return [_projection_table(store, plan), _fit_table(store, plan), *profiles]

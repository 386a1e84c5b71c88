"""What the sections on kernel matrix learning share: a case of ours against a peer, its figures, its table.

The 1-norm soft margin at C = 1, four fifths of the points labelled (``datasets/transduction.py``). Ours is
the solver to a gap of 1e-8, and the estimator with its input checks beside it; both are timed before and
after the peer's run, so that a slow minute of the machine meets them all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial

from benchmarks.datasets.transduction import TRANSDUCTIVE, TransductiveProblem, transductive_problem
from benchmarks.figures import Figure, Table, not_measured, seconds
from benchmarks.matrix_objective import judge_matrix
from benchmarks.measuring import code_version, cpu_seconds, median
from benchmarks.plan import Case, Plan, Size
from benchmarks.profiling import profile_call
from benchmarks.sections.peers import difference, profile_table, provenance
from benchmarks.solvers.kernel_matrix import answer_of_matrix, fit_transductive, learn_matrix
from benchmarks.store import Record, Store
from judges.programs.answers import MatrixAnswer

C = 1.0
OBJECTIVE_TOL = 1e-6

_WARM_UP = (30, 3)
_PEER_SECONDS = 20.0  # a peer is timed again as long as all its runs together stay below this


@dataclass(frozen=True)
class MatrixPeer:
    """One contestant.

    Attributes
    ----------
    name, title : str, in the store and on the page
    solve : the call that is timed
    tolerance : str, what it was asked for
    """

    name: str
    title: str
    solve: Callable[[TransductiveProblem], MatrixAnswer | None]
    tolerance: str = "1e-8"


@dataclass(frozen=True)
class Program:
    """Free-sign or nonnegative weights."""

    weights: str
    title: str

    def key(self, contestant: str, dataset: str, size: Size) -> str:
        """Name of a record in the store."""
        return f"matrix_{self.weights}/{contestant}/{Case(dataset, *size, C).key}"

    def find(self, store: Store, contestant: str, size: Size) -> tuple[Case, Record] | None:
        """The record of one size, of whichever data the machine had."""
        for dataset in TRANSDUCTIVE:
            record = store.get(self.key(contestant, dataset, size))
            if record is not None:
                return Case(dataset, *size, C), record
        return None

    def found(self, store: Store, contestant: str, sizes: Sequence[Size]) -> list[tuple[Case, Record]]:
        """The records of the sizes that were measured."""
        pairs = (self.find(store, contestant, size) for size in sizes)
        return [pair for pair in pairs if pair is not None]


def verdict_of(problem: TransductiveProblem, answer: MatrixAnswer, weights: str) -> Record:
    """The judge's word on one answer, for the store."""
    free = weights == "free"
    return asdict(
        judge_matrix(problem.kernels, problem.y, problem.C, answer.weights, answer.alpha, free=free)
    )


def ready(weights: str) -> None:
    """Compile and import whatever ours needs."""
    small = transductive_problem(*_WARM_UP)
    learn_matrix(small, weights)
    fit_transductive(small, weights)


def measure_against(program: Program, peer: MatrixPeer, size: Size, plan: Plan) -> Record:
    """Ours, our estimator and the peer in turn; the peer once, or more often if it is quick."""
    problem = transductive_problem(*size, C)
    ready(program.weights)
    ours: list[float] = []
    estimator: list[float] = []
    theirs: list[float] = []
    answer = None
    for repeat in range(plan.repeats):
        spent, result = cpu_seconds(lambda: learn_matrix(problem, program.weights))
        ours.append(spent)
        estimator.append(cpu_seconds(lambda: fit_transductive(problem, program.weights))[0])
        if repeat == 0 or sum(theirs) + max(theirs) < _PEER_SECONDS:
            spent, answer = cpu_seconds(lambda: peer.solve(problem))
            theirs.append(spent)
    record: Record = {"code": code_version(), "ours": ours, "estimator": estimator, "theirs": theirs}
    record["our_verdict"] = verdict_of(problem, answer_of_matrix(result, problem), program.weights)
    record["status"] = "no answer" if answer is None else answer.status
    if answer is not None:
        record["verdict"] = verdict_of(problem, answer, program.weights)
    return record


def take_against(
    store: Store, plan: Plan, program: Program, peers: Sequence[MatrixPeer], sizes: Sequence[Size]
) -> None:
    """Measure every peer at every size that is not in the store yet."""
    for size in sizes:
        dataset = transductive_problem(*_WARM_UP).dataset
        for peer in peers:
            key = program.key(peer.name, dataset, size)
            store.measure(key, partial(measure_against, program, peer, size, plan))


def speed_figure(
    store: Store, program: Program, peer: MatrixPeer, size: Size, least: float | None, sizes: Sequence[Size]
) -> Figure:
    """How many times faster at one size; `least` is None where nothing is required."""
    what = f"{program.title} against {peer.title}"
    required = "for the record" if least is None else f"≥ {least:g} times faster at n={size[0]}, m={size[1]}"
    measured = program.found(store, peer.name, [size]) or program.found(store, peer.name, sizes[-1:])
    if not measured:
        return not_measured(what, required)
    case, record = measured[0]
    ratio = median(record["theirs"]) / median(record["ours"])
    checked = median(record["theirs"]) / median(record["estimator"])
    text = f"{ratio:.3g} ({case}); with the estimator's input checks {checked:.3g}"
    if "verdict" not in record:
        text += "; it found no answer"
    reached = ratio >= least if least is not None and (case.n, case.m) == tuple(size) else None
    counted = f"ours {len(record['ours'])}, theirs {len(record['theirs'])}"
    return Figure(what, required, text, reached, counted)


def equality_figure(
    store: Store, program: Program, peers: Sequence[MatrixPeer], who: str, sizes: Sequence[Size]
) -> Figure:
    """The largest difference of ω over peers and sizes."""
    what = f"{program.title}: ω of {who} and ours, relative difference"
    required = f"≤ {OBJECTIVE_TOL:g}"
    pairs = [(peer, *found) for peer in peers for found in program.found(store, peer.name, sizes)]
    if not pairs:
        return not_measured(what, required)
    peer, case, record = max(pairs, key=lambda entry: difference(entry[2]))
    far = difference(record)
    text = f"at most {far:.1e} ({peer.title}, {case})"
    return Figure(what, required, text, far <= OBJECTIVE_TOL, f"{len(pairs)} cases")


def peers_table(
    store: Store, program: Program, peers: Sequence[MatrixPeer], sizes: Sequence[Size], title: str
) -> Table:
    """One line a case and peer."""
    rows, used = [], []
    for size in sizes:
        for peer in peers:
            for case, record in program.found(store, peer.name, [size]):
                used.append(record)
                rows.append(_peer_row(peer, case, record))
    header = ["data", "n", "m", "solver", "asked for", "it ended", "ours", "our estimator", "theirs"]
    header += ["times faster", "its repeats", "ω, ours", "difference", "its gap", "our gap"]
    text = (
        "1-norm soft margin, C = 1, ours to a gap of 1e-8. ω is the inner maximum at the weights, which the "
        "judge solves again, and its difference is relative; a gap is between that and the judge's lower "
        "bound from the duals." + provenance(used)
    )
    return Table(title, text, header, rows)


def _peer_row(peer: MatrixPeer, case: Case, record: Record) -> list[str]:
    ours, theirs = median(record["ours"]), median(record["theirs"])
    mine = record["our_verdict"]
    row = [case.dataset, str(case.n), str(case.m), peer.title, peer.tolerance, record["status"]]
    row += [seconds(ours), seconds(median(record["estimator"])), seconds(theirs), f"{theirs / ours:.3g}"]
    row += [str(len(record["theirs"])), f"{mine['value']:.8f}"]
    row += (
        [f"{difference(record):.1e}", f"{record['verdict']['gap']:.1e}"] if "verdict" in record else ["–"] * 2
    )
    return [*row, f"{mine['gap']:.1e}"]


def take_profile(store: Store, program: Program, size: Size) -> None:
    """Where the time of one solve goes."""

    def take() -> Record:
        problem = transductive_problem(*size, C)
        ready(program.weights)
        return {"code": code_version()} | profile_call(lambda: learn_matrix(problem, program.weights))

    store.measure(program.key("profile", transductive_problem(*_WARM_UP).dataset, size), take)


def profile_tables(store: Store, program: Program, size: Size) -> list[Table]:
    """The profile, if it was taken."""
    tables = []
    for case, record in program.found(store, "profile", [size]):
        tables.append(profile_table(f"Where the time goes: {program.title}, {case}", record))
    return tables

"""Kernel matrices with weights of any sign: ours against semidefinite solvers, and ours alone as n grows."""

from __future__ import annotations

from functools import partial

from benchmarks.datasets.transduction import transductive_problem
from benchmarks.figures import Figure, Table, not_measured, seconds
from benchmarks.measuring import code_version, cpu_seconds, growth_exponent, median
from benchmarks.plan import Plan, Size
from benchmarks.sections.kernel_matrix import (
    C,
    MatrixPeer,
    Program,
    equality_figure,
    peers_table,
    profile_tables,
    provenance,
    ready,
    speed_figure,
    take_against,
    take_profile,
    verdict_of,
)
from benchmarks.solvers.kernel_matrix import OUR_TOL, answer_of_matrix, judge_matrix, learn_matrix
from benchmarks.store import Record, Store
from judges.programs import lmi_cvxopt, lmi_cvxpy

LEAST_SPEEDUP, SPEED_SIZE = 100.0, (200, 5)
MOST_SECONDS, SECONDS_SIZE = 1.0, (300, 5)
LARGE_SIZE = (1000, 5)
GENERAL_SIZE = (100, 5)
GROWTH_M = 5

PROGRAM = Program("free", "free-sign program")
CVXOPT = (
    MatrixPeer("cvxopt_printed", "CVXOPT, the LMIs as printed", lmi_cvxopt.solve_printed),
    MatrixPeer("cvxopt_merged", "CVXOPT, the LMIs merged into one", lmi_cvxopt.solve_merged),
    MatrixPeer("cvxopt_merged_chol", "CVXOPT, merged, `chol`", lmi_cvxopt.solve_merged_chol, "1e-7"),
)
OUR_CONIC = MatrixPeer(
    "our_conic",
    "Clarabel on subspaces that grow",
    lambda problem: answer_of_matrix(judge_matrix(problem, "free"), problem),
)
GENERAL = (
    MatrixPeer("clarabel_printed", "Clarabel, the LMIs as printed", lmi_cvxpy.clarabel_printed),
    MatrixPeer("clarabel_merged", "Clarabel, merged", lmi_cvxpy.clarabel_merged),
    MatrixPeer("scs_printed", "SCS, the LMIs as printed", lmi_cvxpy.scs_printed, "1e-5"),
    MatrixPeer("scs_merged", "SCS, merged", lmi_cvxpy.scs_merged, "1e-5"),
)


def measure_alone(size: Size, plan: Plan) -> Record:
    """Ours as often as fits in the time allowed for slow contestants, and the judge's word."""
    problem = transductive_problem(*size, C)
    ready("free")
    times: list[float] = []
    while not times or (len(times) < plan.repeats and sum(times) + times[-1] < plan.slow_seconds):
        spent, result = cpu_seconds(lambda: learn_matrix(problem, "free"))
        times.append(spent)
    verdict = verdict_of(problem, answer_of_matrix(result, problem), "free")
    told = {"status": str(result.status.value), "n_iter": result.n_iter, "own_gap": result.gap}
    return {"code": code_version(), "ours": times, "our_verdict": verdict} | told


def _alone_sizes(plan: Plan) -> list[Size]:
    return [(n, GROWTH_M) for n in plan.free_alone]


def measure(store: Store, plan: Plan) -> None:
    """The quick contestants first."""
    dataset = transductive_problem(30, 3).dataset
    for size in _alone_sizes(plan):
        store.measure(PROGRAM.key("alone", dataset, size), partial(measure_alone, size, plan))
    take_profile(store, PROGRAM, plan.free_cvxopt[-1])
    take_against(store, plan, PROGRAM, CVXOPT, plan.free_cvxopt)
    take_against(store, plan, PROGRAM, (OUR_CONIC, *GENERAL), plan.free_general)


def _alone_figures(store: Store, plan: Plan) -> list[Figure]:
    small, large = (PROGRAM.find(store, "alone", size) for size in (SECONDS_SIZE, LARGE_SIZE))
    what = "free-sign program, ours alone, n={}, m={}"
    rows = []
    if small is None:
        rows.append(not_measured(what.format(*SECONDS_SIZE), f"< {MOST_SECONDS:g} s"))
    else:
        spent = median(small[1]["ours"])
        text = f"{seconds(spent)} ({small[0]}; Lanckriet et al.: 10 minutes)"
        repeats = str(len(small[1]["ours"]))
        rows.append(
            Figure(what.format(*SECONDS_SIZE), f"< {MOST_SECONDS:g} s", text, spent < MOST_SECONDS, repeats)
        )
    if large is None:
        rows.append(not_measured(what.format(*LARGE_SIZE), f"solved, gap ≤ {OUR_TOL:g}"))
    else:
        verdict = large[1]["our_verdict"]
        text = f"gap {verdict['gap']:.1e} in {seconds(median(large[1]['ours']))} ({large[0]})"
        required, reached = f"solved, gap ≤ {OUR_TOL:g}", verdict["gap"] <= OUR_TOL
        rows.append(Figure(what.format(*LARGE_SIZE), required, text, reached, str(len(large[1]["ours"]))))
    return [*rows, _growth_figure(store, plan)]


def _growth_figure(store: Store, plan: Plan) -> Figure:
    what = f"free-sign program, exponent of time in n (m = {GROWTH_M})"
    found = PROGRAM.found(store, "alone", _alone_sizes(plan))
    if len(found) < len(plan.free_alone):
        return not_measured(what, "for the record")
    exponent = growth_exponent([case.n for case, _ in found], [median(r["ours"]) for _, r in found])
    text = f"{exponent:.2f} from n = {plan.free_alone[0]} to {plan.free_alone[-1]}"
    return Figure(what, "for the record", text, None, f"{len(found)} sizes")


def figures(store: Store, plan: Plan) -> list[Figure]:
    """Against CVXOPT, alone, and against the other general solvers."""
    rows = [
        speed_figure(store, PROGRAM, peer, SPEED_SIZE, LEAST_SPEEDUP, plan.free_cvxopt) for peer in CVXOPT
    ]
    rows.append(equality_figure(store, PROGRAM, CVXOPT, "CVXOPT", plan.free_cvxopt))
    rows += _alone_figures(store, plan)
    for peer in (*GENERAL, OUR_CONIC):
        rows.append(speed_figure(store, PROGRAM, peer, GENERAL_SIZE, None, plan.free_general))
    rows.append(equality_figure(store, PROGRAM, (OUR_CONIC,), OUR_CONIC.title, plan.free_general))
    return rows


def _alone_table(store: Store, plan: Plan) -> Table:
    found = PROGRAM.found(store, "alone", _alone_sizes(plan))
    rows = []
    for case, record in found:
        verdict = record["our_verdict"]
        rows.append(
            [
                case.dataset,
                str(case.n),
                str(case.m),
                seconds(median(record["ours"])),
                str(len(record["ours"])),
            ]
            + [str(record["n_iter"]), record["status"], f"{record['own_gap']:.1e}", f"{verdict['gap']:.1e}"]
            + [f"{verdict['value']:.8f}", f"{verdict['least_eigenvalue']:.1e}", f"{verdict['moved']:.1e}"]
        )
    header = ["data", "n", "m", "ours, 1e-8", "repeats", "iterations", "it ended", "gap it states"]
    header += ["gap by the judge", "ω", "least eigenvalue", "moved by the judge"]
    text = (
        "Beyond the rows that the data have, rows are used again with a little noise. The least eigenvalue "
        "of the learned matrix is relative to its largest, after the judge has mixed in the share of equal "
        "weights in the last column." + provenance([record for _, record in found])
    )
    return Table("Weights of any sign, ours alone", text, header, rows)


def tables(store: Store, plan: Plan) -> list[Table]:
    """One line a case and contestant, and the profile."""
    return [
        peers_table(store, PROGRAM, CVXOPT, plan.free_cvxopt, "Weights of any sign against CVXOPT"),
        peers_table(
            store,
            PROGRAM,
            (OUR_CONIC, *GENERAL),
            plan.free_general,
            "Weights of any sign against Clarabel, SCS",
        ),
        _alone_table(store, plan),
        *profile_tables(store, PROGRAM, plan.free_cvxopt[-1]),
    ]

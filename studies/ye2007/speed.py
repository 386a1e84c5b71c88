"""An experiment of our own: the time of learning against the number of points, beside a general solver."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from judges.diagonal_discriminant import learn_diagonal_discriminant
from multikernel.datasets import load_dataset
from multikernel.discriminant.solver.learn import DiscriminantProblem, learn_discriminant
from multikernel.kernels import Gaussian
from studies.compare import compare, comparison_row, group_results
from studies.study import Quantity, Result, Summary, Table, Unit
from studies.ye2007.methods import warm_up
from studies.ye2007.peer import ABSENT, TOLERANCE, peer_version, solve_peer
from studies.ye2007.setting import SIGMAS

DATASET = "waveform"
REPEATS = 3
RUNS = 3
SIZES = (100, 200, 400, 800, 1600)
LARGEST_OF_PEER = 400
_SEED = 1095

Array = np.ndarray


@dataclass(frozen=True)
class Program:
    """What is learned: so many classes, λ (None: learned), and the form."""

    label: str
    classes: int
    reg: float | None
    formulation: str = "exact"


PROGRAMS = (
    Program("two classes, λ = 0.0001", 2, 1e-4),
    Program("two classes, λ learned", 2, None),
    Program("three classes, λ learned, exact", 3, None),
    Program("three classes, λ learned, approximate", 3, None, "approximate"),
)


def compute_times(program: dict[str, Any], n: int, repeat: int, peer: str | None) -> dict[str, Any]:
    """Return the time and the objective of our solver and, up to a practical size, of the general one.

    Parameters
    ----------
    program : dict
        The arguments of a `Program`.
    n : int
        How many points.
    repeat : int
        Which sample of points.
    peer : str or None
        The version of CVXOPT; None where it is not installed or not tried.

    Returns
    -------
    dict
        ``ours`` (``seconds``, ``objective``, ``gap``) and ``peer`` (see `solve_peer`; None if not run).
    """
    chosen = Program(**program)
    Ks, codes = _draw_kernels(chosen.classes, n, repeat)
    warm_up()
    problem = DiscriminantProblem(Ks, codes, chosen.reg)
    learn = learn_discriminant if chosen.formulation == "exact" else learn_diagonal_discriminant
    seconds = []
    for _ in range(RUNS):
        start = time.process_time()
        result = learn(problem)
        seconds.append(time.process_time() - start)
    ours = {
        "seconds": float(np.median(seconds)),
        "objective": float(result.objective),
        "gap": float(result.gap),
    }
    form = "full" if chosen.formulation == "exact" else "diagonal"
    rival = None if peer is None else solve_peer(Ks, codes, chosen.reg, form)
    return {"ours": ours, "peer": rival}


def _draw_kernels(classes: int, n: int, repeat: int) -> tuple[Array, Array]:
    """Ten Gaussian kernels of standardized points, as many of each class."""
    data = load_dataset(DATASET)
    assert data.y is not None
    rng = np.random.default_rng([_SEED, repeat])
    pools = [rng.permutation(np.flatnonzero(data.y == name)) for name in range(classes)]
    drawn = np.array([pools[i % classes][i // classes] for i in range(n)])
    X = np.asarray(data.X, dtype=np.float64)[drawn]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return np.stack([Gaussian(s=sigma)(X) for sigma in SIGMAS]), np.arange(n) % classes


def _units(repeats: int) -> list[Unit]:
    version = peer_version()
    return [
        Unit(
            f"{program.label}/n={n}/repeat={repeat}",
            compute_times,
            {
                "program": asdict(program),
                "n": n,
                "repeat": repeat,
                "peer": version if n <= LARGEST_OF_PEER else None,
            },
            (DATASET,),
        )
        for program in PROGRAMS
        for n in SIZES
        for repeat in range(repeats)
    ]


def _rows(results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    groups = group_results(results, lambda given: (given["program"]["label"], given["n"]))
    return [_row(label, n, group) for (label, n), group in groups.items()]


def _row(label: str, n: int, group: Sequence[Result]) -> dict[str, Any]:
    tried = [result for result in group if result["peer"] is not None]
    pairs = [(result["ours"], result["peer"]) for result in tried if result["peer"]["status"] == "optimal"]
    values = {
        "ours": compare([result["ours"]["seconds"] for result in group]),
        "peer": compare([theirs["seconds"] for _, theirs in pairs]),
        "ratio": compare([theirs["seconds"] / ours["seconds"] for ours, theirs in pairs]),
        "excess": compare([1e9 * (theirs["objective"] / ours["objective"] - 1.0) for ours, theirs in pairs]),
    }
    remark = "" if tried or n > LARGEST_OF_PEER else ABSENT
    if n_open := len(tried) - len(pairs):
        remark = f"CVXOPT did not reach its tolerance on {n_open} of {len(tried)} samples, which are left out"
    return comparison_row(label, {"points": str(n)}, values, remark)


def draw_figure(summary: Summary, path: Path) -> None:
    """Draw the times against the number of points: two classes on the left, three on the right.

    Parameters
    ----------
    summary : dict
    path : Path
        Of the PNG file.
    """
    # Imported here: it takes long, and the workers, who import this module too, draw nothing.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.0, 4.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, classes in zip(panels, (2, 3), strict=True):
        for number, program in enumerate(p for p in PROGRAMS if p.classes == classes):
            rows = [row for row in summary["rows"] if row["section"] == program.label]
            name = program.label.split(", ", 1)[1]
            for key, solver, style in (("ours", "ours", "o-"), ("peer", "CVXOPT", "s--")):
                known = [row for row in rows if row["values"][key]["mean"] is not None]
                if known:
                    sizes = [int(row["labels"]["points"]) for row in known]
                    means = [row["values"][key]["mean"] for row in known]
                    axes.plot(sizes, means, style, color=f"C{number}", label=f"{solver}, {name}")
        title = f"{'two' if classes == 2 else 'three'} classes"
        axes.set(xscale="log", yscale="log", xlabel="points", title=title)
        axes.set_xticks(SIZES, [str(size) for size in SIZES])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
        axes.legend()
    panels[0].set_ylabel("learning, s")
    figure.savefig(path, dpi=110)


TABLE = Table(
    name="speed",
    title="Beside Ye et al. (2007): the time of learning against the number of points",
    version=2,
    splits=REPEATS,
    units=_units,
    rows=_rows,
    quantities=(
        Quantity("ours", "ours, s", 4, difference=False),
        Quantity("peer", "SDP by CVXOPT, s", 2, difference=False),
        Quantity("ratio", "CVXOPT / ours", 0, difference=False),
        Quantity("excess", "objective of CVXOPT / ours − 1, 1e-9", 1, difference=False),
    ),
    protocol=(
        "Points of the classes 0 and 1, or of all three, of the waveform data, as many of each, drawn anew "
        "for each repetition and standardized; ten Gaussian kernels exp(−‖x − z‖² / σ²) with σ evenly spaced "
        "in logarithm from 0.1 to 100.",
        "Time: seconds of one processor for learning the weights (and λ) from given kernels, one thread; "
        f"compiled code was loaded before. Ours, the median of {RUNS} runs since they take milliseconds, "
        "stops at a relative duality gap of 1e-8.",
        "CVXOPT solves the λ-scaled program with one matrix inequality, full (exact) or diagonal "
        f"(approximate), by its own choice of linear solver, to {TOLERANCE:g} (at 1e-8 it often declares no "
        f"convergence); up to {LARGEST_OF_PEER} points. Forming the program is not counted.",
        "The splits of the command are repetitions.",
    ),
    notes=(
        "Times depend on the machine and vary between runs; their ratio is what to read. The times shown "
        "were measured on a quiet machine, when the direction of ones, in which the centred kernels are "
        "zero, was made regular in the inequality of CVXOPT; now it is left out, which changes the size "
        "of the inequality by one.",
        "For two classes the approximation (37) has the weights of the exact form, which is what is solved; "
        "so both forms are shown for three classes only.",
        "CVXOPT is no dependency of the library: where it is not installed its columns are empty, and the "
        "rows say so.",
    ),
    figure=draw_figure,
    kind="own",
)

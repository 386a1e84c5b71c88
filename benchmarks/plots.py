"""Time against n and against m, one curve a contestant, peers where they were measured."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib

from multikernel._files import whole_file

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from benchmarks.measuring import median
from benchmarks.plan import Case, Plan
from benchmarks.sections.grid import grid_records
from benchmarks.store import Record, Store

_CURVES = {
    "ours": ("multikernel, gap 1e-6", "o-", "#0b5394"),
    "svc": ("one SVC solve (scikit-learn)", "s--", "#7f7f7f"),
    "pass": ("one pass over the stack", "^:", "#b0b0b0"),
}
_PEERS: dict[str, tuple[str, str, str, Callable[[Record], float]]] = {
    "simplemkl": (
        "SimpleMKL, gap 1e-3",
        "D",
        "#cc4125",
        lambda r: median([run["seconds"] for run in r["loose"]]),
    ),
    "qcqp": ("QCQP, cvxpy + Clarabel", "P", "#674ea7", lambda r: median(r["theirs"])),
    "cvxopt_conelp": ("QCQP, CVXOPT conelp", "X", "#674ea7", lambda r: median(r["theirs"])),
    "cvxopt_coneqp": ("QCQP, CVXOPT coneqp", "X", "#8e7cc3", lambda r: median(r["theirs"])),
    "cvxopt_cpl": ("QCQP, CVXOPT cpl", "v", "#b4a7d6", lambda r: median(r["theirs"])),
    "easymkl": ("EasyMKL fit (MKLpy)", "*", "#e69138", lambda r: median(r["times"]["fit"])),
}


def _draw_peers(
    axes: Axes, store: Store, C: float, size: Callable[[Case], int], fits: Callable[[Case], bool]
) -> None:
    for name, (label, marker, colour, seconds_of) in _PEERS.items():
        for key, record in store.records.items():
            if not key.startswith(f"{name}/mc/"):
                continue
            _, dataset, n, m, c = key.split("/")
            case = Case(dataset, int(n[1:]), int(m[1:]), float(c[1:]))
            if case.C == C and fits(case):
                axes.plot([size(case)], [seconds_of(record)], marker, ms=9, color=colour, label=label)


def _plot(store: Store, letter: str, plan: Plan, path: Path) -> None:
    C = 10.0 if 10.0 in plan.growth_C else plan.growth_C[0]
    size: Callable[[Case], int]
    fits: Callable[[Case], bool]
    if letter == "n":
        cases, size, fixed = plan.growth_cases_n(C), (lambda c: c.n), f"m = {plan.growth_n_at_m}"
        fits = lambda c: c.m == plan.growth_n_at_m  # noqa: E731
    else:
        cases, size, fixed = plan.growth_cases_m(C), (lambda c: c.m), f"n = {plan.growth_m_at_n}"
        fits = lambda c: c.n == plan.growth_m_at_n  # noqa: E731
    figure, axes = plt.subplots(figsize=(7.0, 4.6), layout="constrained")
    records = grid_records(store, cases)
    for contestant, (label, style, colour) in _CURVES.items():
        times = [median(record["times"][contestant]) for _, record in records]
        axes.plot([size(case) for case, _ in records], times, style, color=colour, label=label)
    _draw_peers(axes, store, C, size, fits)
    axes.set(xscale="log", yscale="log", xlabel=f"{letter} ({'points' if letter == 'n' else 'kernels'})")
    axes.set(ylabel="CPU seconds, one thread", title=f"Time against {letter} (mc, {fixed}, C = {C:g})")
    ticks = [size(case) for case in cases]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(fontsize=8)
    with whole_file(path) as part:
        figure.savefig(part, dpi=130)
    plt.close(figure)


def write_plots(store: Store, plan: Plan, folder: Path) -> list[Path]:
    """Write both plots and return where they are."""
    paths = [folder / "time_against_n.png", folder / "time_against_m.png"]
    for letter, path in zip("nm", paths, strict=True):
        _plot(store, letter, plan, path)
    return paths

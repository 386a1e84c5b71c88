"""What changes above ten thousand rows?
======================================

A stack of Gram matrices of 24 000 rows and six kernels would take 28 GB, and a fit on it hours. On factors of
low rank the same estimator takes seconds: each kernel is replaced by a table of a few dozen columns, made of
the similarities to a few landmarks, and the weights are learned on these. What changes is that the kernels
are no longer exact. How far off they are is stated for each view; what it costs is a matter of accuracy on
rows held back, and of the rank.

Here six views of rows from two classes have three columns each. Four of the views matter, two are noise; one
in twenty labels is wrong. The wide kernels of smooth views need few columns. The kernel of one view is two
and a half times as narrow: its error falls slowly, and the accuracy rises with the rank as long as it does. A
rank of its own for that one view is more accurate than the largest rank for all, in less time.

Run it with ``python examples/what_changes_above_ten_thousand_rows.py [--rows N] [--picture FILE]``.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from multikernel import KernelBank, MKLClassifier, View
from multikernel.kernels import Gaussian
from multikernel.mkl import LowRankWarning

N_VIEWS, WIDTH = 6, 3
PLAIN: dict[str, Any] = {"standardize": False, "normalize": None}  # kernels as they are
STRENGTHS = {"first": 1.0, "second": 0.7, "narrow": 0.9, "fourth": 0.5, "noise 1": 0.0, "noise 2": 0.0}
WAVES = {"narrow": 2.5}  # how many times faster the signal of a view changes
RANKS = (5, 10, 20, 40, 80, 160)
MIXED: tuple[str, int, dict[str, int]] = ("40, narrow 320", 40, {"narrow": 320})
FLIPPED = 0.05
GREY, BLUE, ORANGE = "#888888", "#0072B2", "#E69F00"


# --- data and models ---------------------------------------------------------------------------------------


def make_rows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of all views side by side, and labels: the sign of a sum of waves in the views."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, N_VIEWS * WIDTH))
    directions = np.random.default_rng(12).normal(size=(N_VIEWS, WIDTH, 2))  # the same for every seed
    score = np.zeros(n)
    for (name, strength), columns, direction in zip(
        STRENGTHS.items(), view_columns(), directions, strict=True
    ):
        score += strength * np.sin(WAVES.get(name, 1.0) * X[:, columns] @ direction).sum(axis=1)
    y = np.where(score > 0, 1, -1)
    y[rng.random(n) < FLIPPED] *= -1
    return X, y


def view_columns() -> list[list[int]]:
    return [list(range(WIDTH * m, WIDTH * (m + 1))) for m in range(N_VIEWS)]


def make_views(ranks: dict[str, int]) -> list[View]:
    """Gaussians as wide as the median distance; narrower where the signal changes faster."""
    return [
        View(name, Gaussian(scale=1.0 / WAVES.get(name, 1.0)), columns, rank=ranks.get(name), **PLAIN)
        for name, columns in zip(STRENGTHS, view_columns(), strict=True)
    ]


def fit(X: np.ndarray, y: np.ndarray, rank: int, ranks: dict[str, int]) -> tuple[MKLClassifier, float]:
    """A model on factors, the rank of all views that have none of their own, and the seconds that it took."""
    model = MKLClassifier(KernelBank(make_views(ranks), gram="low_rank", rank=rank), random_state=0)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowRankWarning)  # that small ranks hold little is what is shown here
        model.fit(X, y)
    return model, time.perf_counter() - start


# --- tables ------------------------------------------------------------------------------------------------


def compare(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, y_new: np.ndarray) -> pd.DataFrame:
    """One row for each rank: accuracy, seconds, trace errors by view, and the model; the last is MIXED."""
    rows = []
    for label, rank, ranks in [*((str(rank), rank, {}) for rank in RANKS), MIXED]:
        model, spent = fit(X, y, rank, ranks)
        errors = model.approximation_["trace_error"]
        found = {"rank": label, "right": 100.0 * model.score(X_new, y_new), "seconds": spent, "model": model}
        rows.append(found | {name: float(errors[name]) for name in STRENGTHS})
    return pd.DataFrame(rows).set_index("rank")


def describe(table: pd.DataFrame, n: int) -> None:
    largest = table["model"].iloc[-2]
    print(f"{n} rows, {N_VIEWS} kernels: Gram matrices would take {8 * n * n * N_VIEWS / 1e9:.0f} GB")
    print(f"Factors of rank {RANKS[-1]}: {str(largest.memory_).partition(' for')[0]}\n")
    print(f"{'rank':<15} {'% right':>8} {'seconds':>8} {'trace error: narrow':>20} {'first':>7}")
    for label, row in table.iterrows():
        times = f"{row['right']:>8.1f} {row['seconds']:>8.1f}"
        print(f"{label:<15} {times} {row['narrow']:>20.3f} {row['first']:>7.3f}")
    print(f"\nWeights at rank {RANKS[-1]}, gap {largest.dual_gap_:.0e}:")
    for name, weight in zip(largest.view_names_, largest.kernel_weights_, strict=True):
        print(f"  {name:<8} {weight:.2f}")


# --- the picture -------------------------------------------------------------------------------------------


def draw_accuracy(ax: Axes, table: pd.DataFrame) -> None:
    ax.plot(list(RANKS), table["right"].iloc[:-1], "o-", color=BLUE)
    ax.axhline(table["right"].iloc[-1], color=ORANGE, ls=":")
    ax.text(RANKS[0], table["right"].iloc[-1] + 0.3, f"rank {MIXED[0]}", color=ORANGE)
    ax.axhline(100.0 * (1.0 - FLIPPED), color=GREY, ls="--")
    ax.text(RANKS[0], 100.0 * (1.0 - FLIPPED) + 0.3, "the wrong labels alone", color=GREY)
    ax.set(xscale="log", xlabel="rank of each view", ylabel="% right on new rows", title="Accuracy")


def draw_errors(ax: Axes, table: pd.DataFrame) -> None:
    for name in STRENGTHS:
        colour = ORANGE if name in WAVES else GREY
        ax.plot(list(RANKS), table[name].iloc[:-1], "o-", color=colour, label=name if name in WAVES else None)
    ax.plot([], [], "o-", color=GREY, label="all others")
    ax.set(xscale="log", yscale="log", xlabel="rank of each view", title="Relative trace error")
    ax.legend()


def draw_weights(ax: Axes, table: pd.DataFrame) -> None:
    largest = table["model"].iloc[-2]
    colours = [GREY if STRENGTHS[name] == 0.0 else BLUE for name in largest.view_names_]
    ax.barh(largest.view_names_, largest.kernel_weights_, color=colours)
    ax.invert_yaxis()
    ax.set(xlabel="weight", title=f"Weights at rank {RANKS[-1]}")


def draw_picture(path: Path, table: pd.DataFrame, n: int) -> None:
    figure, axes = plt.subplots(1, 3, figsize=(15, 4.6), layout="constrained")
    draw_accuracy(axes[0], table)
    draw_errors(axes[1], table)
    draw_weights(axes[2], table)
    for ax in axes[:2]:
        ax.set_xticks(list(RANKS), [str(rank) for rank in RANKS])
        ax.minorticks_off()
        ax.grid(alpha=0.3)
    figure.suptitle(f"What changes above ten thousand rows? {n} rows on factors of low rank")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=24_000, help="rows to learn from (default 24 000)")
    parser.add_argument(
        "--picture",
        type=Path,
        default=Path("run/what_changes_above_ten_thousand_rows.png"),
        help="where the picture goes",
    )
    options = parser.parse_args(arguments)
    if options.rows < max(RANKS):
        parser.error(f"--rows must be at least {max(RANKS)}, the largest rank.")
    X, y = make_rows(options.rows, seed=0)
    table = compare(X, y, *make_rows(10_000, seed=1))
    describe(table, options.rows)
    draw_picture(options.picture, table, options.rows)
    print(f"\nWrote {options.picture}")


if __name__ == "__main__":
    main()

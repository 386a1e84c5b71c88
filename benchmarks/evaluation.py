"""``python -m benchmarks.evaluation``: what all parts of an evaluation cost, in fits of the model.

500 samples, five views of ten columns with a Gaussian kernel each, the usual parts; rivals that are other
libraries' models are not counted, but told. CPU time of one process on one thread, the median of some runs;
the single fit is taken before and after each run.
"""

from __future__ import annotations

import argparse
import statistics

import numpy as np

from benchmarks.measuring import cpu_seconds, restart_on_threads
from benchmarks.running import say
from multikernel import MKLClassifier, View, evaluate
from multikernel.inspection import USUAL_PARTS
from multikernel.kernels import Gaussian

OWN, OTHERS = ["best single view", "plain sum"], ["tuned RBF SVM"]
ASKED = 60
SHIFTS = (0.5, 0.3, 0.2, 0.0, 0.0)


def make_data(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, list[View]]:
    """Five tables of ten columns, which tell two classes apart more or less."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = np.hstack([rng.normal(size=(n, 10)) + shift * y[:, None] for shift in SHIFTS])
    views = [View(f"view {m}", Gaussian(), list(range(10 * m, 10 * m + 10))) for m in range(len(SHIFTS))]
    return X, y, views


def cost(parts: tuple[str, ...], baselines: list[str], n: int, runs: int) -> tuple[float, float, float]:
    """CPU seconds of a fit and of an evaluation, and the median of their ratios."""
    X, y, views = make_data(n)
    model = MKLClassifier(views).fit(X, y)
    evaluate(model, X, y, parts=parts, baselines=baselines, progress=False)  # what is compiled is not counted
    fits, wholes = [], []
    for _ in range(runs):
        before = [cpu_seconds(lambda: MKLClassifier(views).fit(X, y))[0] for _ in range(3)]
        wholes.append(
            cpu_seconds(lambda: evaluate(model, X, y, parts=parts, baselines=baselines, progress=False))[0]
        )
        after = [cpu_seconds(lambda: MKLClassifier(views).fit(X, y))[0] for _ in range(3)]
        fits.append(statistics.median([*before, *after]))
    ratios = [whole / fit for whole, fit in zip(wholes, fits, strict=True)]
    return statistics.median(fits), statistics.median(wholes), statistics.median(ratios)


def main() -> None:
    """Print what each part costs, and all of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.evaluation", description=__doc__)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    restart_on_threads(1, "benchmarks.evaluation")
    rows = [((part,), OWN, part) for part in USUAL_PARTS] + [(USUAL_PARTS, OWN, "all parts")]
    rows.append((("baselines",), OTHERS, "rivals of other libraries, with the model's ten refits"))
    for parts, baselines, label in rows:
        fit, whole, ratio = cost(parts, baselines, asked.samples, asked.runs)
        told = f" (at most {ASKED} asked for)" if label == "all parts" else ""
        say(f"{label}: {whole:.3f} s, a fit {1000.0 * fit:.1f} ms: {ratio:.1f} fits{told}")


if __name__ == "__main__":
    main()

"""Gene sets as views, hundreds of them: what a fit takes and what it finds.

``python -m benchmarks.gene_sets`` prints a table and writes it to docs/benchmarks/gene_sets.md. The data are
``expression_with_gene_symbols`` and ``genesets/`` in the folder of $MULTIKERNEL_DATA, else in ../shared/data.
Each case has a process of its own, so that its peak of memory is its own. The gap is that of the judge
(`benchmarks.objective`), which recomputes it from weights and duals.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold, cross_val_score

from benchmarks.children.tiny import fit_tiny
from benchmarks.measuring import (
    check_threads,
    cpu_seconds,
    describe_machine,
    median,
    resident_bytes,
    restart_on_threads,
)
from benchmarks.objective import judge
from benchmarks.solvers.ours import answer_of
from multikernel import KernelBank, MKLClassifier, View
from multikernel._files import write_whole
from multikernel.kernels import Gaussian
from multikernel.views import views_from_gene_sets

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks" / "gene_sets.md"
TOL = 1e-3
PLAIN: dict[str, Any] = {"standardize": False, "normalize": None}
REPEATS = 5
FOLDS = 5


@dataclass(frozen=True)
class Case:
    """The sets of a file with enough genes; no file is one view of all genes, for comparison."""

    name: str
    file: str | None
    min_genes: int
    C: float

    def views(self, columns: Sequence[str], folder: Path) -> list[View]:
        """The views of the case, without one of the other genes."""
        if self.file is None:
            return [View("all genes", Gaussian(), list(columns), **PLAIN)]
        path = folder / "genesets" / self.file
        return views_from_gene_sets(columns, path, min_genes=self.min_genes, rest=False, **PLAIN)


_SETS = [
    ("all genes, one kernel", None, 1),
    ("hallmark", "hallmark.gmt", 5),
    ("PID, at least 5 genes", "pid.gmt", 5),
    ("PID, at least 1 gene", "pid.gmt", 1),
]
CASES = [Case(*sets, C) for sets in _SETS for C in (1.0, 10.0)]


def data_folder() -> Path:
    """The folder with the data and the gene sets."""
    named = os.environ.get("MULTIKERNEL_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    if not (folder / "genesets").is_dir():
        raise SystemExit(
            f"the gene sets must be in the folder genesets of {folder}; there is none. Set MULTIKERNEL_DATA "
            "to the folder that has it."
        )
    return folder


def load(folder: Path) -> tuple[pd.DataFrame, np.ndarray]:
    """Expression of genes, by their symbols, and classes."""
    with np.load(folder / "expression_with_gene_symbols.npz") as arrays:
        return pd.DataFrame(arrays["X"], columns=arrays["feature_names"].tolist()), arrays["y"]


# --- one case, in a process of its own ---------------------------------------------------------------------


def measure(
    case: Case, X: pd.DataFrame, y: np.ndarray, folder: Path, repeats: int = REPEATS
) -> dict[str, Any]:
    """Fit a case: its memory first, then its time, then what it is worth."""
    views = case.views(list(X.columns), folder)
    model = MKLClassifier(views, C=case.C, tol=TOL)
    gc.collect()
    with suppress(OSError):  # the high-water mark of compilation and imports is forgotten
        Path("/proc/self/clear_refs").write_text("5")
    before = resident_bytes("VmRSS")
    model.fit(X, y)
    peak = resident_bytes("VmHWM") - before
    times = [
        cpu_seconds(lambda: MKLClassifier(views, C=case.C, tol=TOL).fit(X, y))[0] for _ in range(repeats)
    ]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    scores = cross_val_score(MKLClassifier(views, C=case.C, tol=TOL), X, y, cv=folds)
    return {
        "sets": case.name,
        "C": case.C,
        "views": len(views),
        "n": len(X),
        "columns": len({column for view in views for column in view.columns}),
        "status": model.status_,
        "gap": judged_gap(model, views, X, y),
        "seconds": median(times),
        "peak": max(peak, 0),
        "with_weight": int(np.count_nonzero(model.kernel_weights_)),
        "above_percent": int((model.kernel_weights_ > 0.01).sum()),
        "accuracy": float(scores.mean()),
        "accuracy_sd": float(scores.std(ddof=1)),
        "majority": float(np.bincount(y).max() / len(y)),
    }


def judged_gap(model: MKLClassifier, views: Sequence[View], X: pd.DataFrame, y: np.ndarray) -> float:
    """The relative duality gap as the judge computes it."""
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    kernels = KernelBank(list(views)).fit_stack(X)
    answer = answer_of(model, signs)
    return judge(kernels, signs, float(model.C), answer.weights, answer.alpha).gap


# --- the page ----------------------------------------------------------------------------------------------


def row(found: Mapping[str, Any]) -> str:
    """One line of the table."""
    cells = [
        found["sets"],
        f"{found['C']:g}",
        found["views"],
        found["columns"],
        found["n"],
        found["status"],
        f"{found['gap']:.1e}",
        f"{found['seconds']:.2f}",
        f"{found['peak'] / 2**20:.0f}",
        f"{found['with_weight']} ({found['above_percent']})",
        f"{found['accuracy']:.3f} ± {found['accuracy_sd']:.3f}",
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


HEAD = (
    "| gene sets | C | views | genes | n | status | gap | CPU s | peak MiB | views with weight (> 1 %) "
    "| accuracy |\n"
    "|---|--:|--:|--:|--:|---|--:|--:|--:|--:|--:|"
)


def page(found: Sequence[Mapping[str, Any]], machine: Mapping[str, str]) -> str:
    """The page of the documentation."""
    about = "; ".join(f"{name} {value}" for name, value in machine.items())
    return f"""---
orphan: true
---

# Gene sets as views

`MKLClassifier` with one Gaussian kernel of median width for each gene set, on the expression of
{found[0]["n"]} samples (`expression_with_gene_symbols`), by `python -m benchmarks.gene_sets`.

{HEAD}
{chr(10).join(map(row, found))}

- **genes**: columns that are in a view; genes of the sets that the table lacks are left out.
- **gap**: relative duality gap, recomputed by the judge of the benchmarks from weights and duals; {TOL:g} was
  asked for.
- **CPU s**: one fit from the table, kernels included, on one thread; median of {REPEATS}.
- **peak MiB**: most memory that was resident during the first fit, less what was resident before it.
- **views with weight**: those with a weight other than 0, and those with more than a hundredth of it.
- **accuracy**: mean ± standard deviation over {FOLDS} stratified folds; the larger class has
  {found[0]["majority"]:.3f} of the samples.

Measured on: {about}.
"""


def main() -> None:
    """Measure every case in a process of its own, print the table and write the page."""
    parser = argparse.ArgumentParser(description="Times, memory and accuracy of models on gene sets.")
    parser.add_argument("--case", type=int, help="measure one case here, and print it as JSON")
    parser.add_argument("--out", type=Path, default=PAGE, help="where the page is written")
    asked = parser.parse_args()
    restart_on_threads(1, "benchmarks.gene_sets")
    check_threads()
    folder = data_folder()
    if asked.case is not None:
        fit_tiny()
        print(json.dumps(measure(CASES[asked.case], *load(folder), folder)))
        return
    found = []
    print(HEAD, flush=True)
    for number in range(len(CASES)):
        command = [sys.executable, "-m", "benchmarks.gene_sets", "--case", str(number)]
        said = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
        found.append(json.loads(said.splitlines()[-1]))
        print(row(found[-1]), flush=True)
    write_whole(asked.out, page(found, describe_machine(())).encode())


if __name__ == "__main__":
    main()

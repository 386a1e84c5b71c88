"""docs/benchmarks/targets.md, from what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from multikernel._files import write_whole

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks" / "targets.md"
HEAD = """---
orphan: true
---

# Weights for each of many targets

Written by `python -m benchmarks.targets` (see its docstring), of what is in
`benchmarks/targets/results.jsonl`; a part or a row that is not there was not measured yet. Times are CPU
seconds of one process on one thread. The present ones were taken while other programs ran on the machine: the
ratios are an indication.
"""


def write_page(records: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the page of the parts that were measured."""
    parts = [HEAD, _speed(records), _scale(records), _side_effects(records), _brain(records)]
    text = "\n".join(part for part in parts if part).rstrip() + "\n"
    write_whole(PAGE, text.encode())


def _of(records: Mapping[str, Mapping[str, Any]], part: str) -> list[Mapping[str, Any]]:
    return [record for key, record in sorted(records.items()) if key.startswith(f"{part}:")]


def _mean(records: Sequence[Mapping[str, Any]], column: str) -> float:
    return float(np.mean([record[column] for record in records]))


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _speed(records: Mapping[str, Mapping[str, Any]]) -> str:
    found = _of(records, "speed")
    if not found:
        return ""
    rows = []
    for dtype in sorted({record["dtype"] for record in found}):
        own = [record for record in found if record["dtype"] == dtype]
        names = list(dict.fromkeys(record["fit"] for record in own))
        seconds = {name: _mean([r for r in own if r["fit"] == name], "seconds") for name in names}
        peers = [seconds[name] for name in names if name.startswith("himalaya")]
        for name in names:
            quality = [
                f"{_mean([r for r in own if r['fit'] == name], key):.4f}" for key in ("r2", "r2_all", "aupr")
            ]
            times = f"{min(peers) / seconds[name]:.1f}" if peers else "–"
            rows.append([dtype, name, f"{seconds[name]:.1f}", times, *quality])
    return f"""
## Beside himalaya's random search

800 drugs of `side_effects_liu`, six Tanimoto kernels, {found[0]["n_targets"]} side effects, the same 100
sets of weights and 10 alphas; mean over {len({record["split"] for record in found})} split(s) into 800 and
32 drugs. "ours" is `MKLRidgeCV(targets="each")`: leave-one-out, screened;
"exact" has `halving=False`, "folds" `cv=5`. himalaya: `MultipleKernelRidgeCV(solver="random_search",
cv=5)`, NumPy, on kernels and targets that are centered beforehand, in three batch sizes; "times
faster" is beside the quickest of them. R² is the mean over the side effects that vary among the held-out
drugs, and that of all entries together.

{_table(["precision", "fit", "CPU s", "times faster", "R², mean", "R², all", "AUPR"], rows)}"""


def _scale(records: Mapping[str, Mapping[str, Any]]) -> str:
    found = sorted(_of(records, "scale"), key=lambda record: (record["dtype"], record["n_targets"]))
    if not found:
        return ""
    rows = [
        [
            record["dtype"], str(record["n_targets"]), f"{record['seconds']:.1f}",
            f"{1e3 * record['seconds'] / record['n_targets']:.2f}", f"{record['peak_gib']:.2f}",
            f"{100 * record['dominant_view_found']:.1f}",
        ]
        for record in found
    ]  # fmt: skip
    columns = ["precision", "targets", "CPU s", "ms a target", "peak GiB", "dominant view found %"]
    return f"""
## Growth with the targets

n = 1000, five Gaussian kernels of 20 columns each, made-up targets of which each depends on the views by
random shares; 100 sets of weights and 8 alphas, kernels included. Peak memory is that of the process, with
the data.

{_table(columns, rows)}"""


def _means(records: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> list[list[str]]:
    names = list(dict.fromkeys(record["name"] for record in records))
    rows = []
    for name in names:
        own = [record for record in records if record["name"] == name]
        cells = []
        for column in columns:
            values = [record[column] for record in own]
            digits = 1 if column == "seconds" else 4
            spread = f" ± {np.std(values):.{digits}f}" if len(own) > 1 and digits > 1 else ""
            cells.append(f"{np.mean(values):.{digits}f}{spread}")
        rows.append([name, str(len(own)), *cells])
    return rows


def _side_effects(records: Mapping[str, Mapping[str, Any]]) -> str:
    found = _of(records, "side_effects")
    if not found:
        return ""
    columns = ["aupr", "auc", "aupr_mean", "auc_mean", "seconds"]
    shown = ["fit", "folds", "AUPR, all pairs", "AUC, all pairs", "AUPR, mean", "AUC, mean", "CPU s"]
    return f"""
## Side effects of drugs

832 drugs, 1385 side effects, six Tanimoto kernels; five folds of the drugs, mean ± standard deviation over
the folds. "mean" is over the side effects that vary in a fold. "shared weights" and "plain sum" have one
alpha for all side effects; the best single view is chosen by the leave-one-out error over all side effects
of the training part, with an alpha for each.

{_table(shown, _means(found, columns))}"""


def _brain(records: Mapping[str, Mapping[str, Any]]) -> str:
    found = _of(records, "brain")
    if not found:
        return ""
    columns = ["r2", "dominant_view_found", "error_of_shares", "seconds"]
    shown = ["fit", "draws", "held-out R²", "dominant view found", "mean error of shares", "CPU s"]
    return f"""
## Brain-like responses with known shares

500 made-up responses to five views of a stimulus, 400 samples for training and 400 held out
(`benchmarks.targets.data.brain`): each response is a linear function of one to three views, and noise. The
dominant view is that with the largest part of held-out R² (`score_by_view`); the error of the shares is the
mean absolute difference between these parts, relative to their sum, and the true shares, where R² is above
0.05.

{_table(shown, _means(found, columns))}"""

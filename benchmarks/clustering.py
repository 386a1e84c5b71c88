"""Clusterings of several kernels against simple rivals, on multi-view sets with known classes.

``MULTIKERNEL_DATA=FOLDER python -m benchmarks.clustering [SET ...]`` measures what is missing and writes
``docs/benchmarks/clustering.md``. Results are kept in ``benchmarks/clusters/results.jsonl``: a run that was
stopped goes on. ``--again METHOD ...`` measures methods anew, ``--page`` only writes the page.

Kernels, set before any result was seen: for word counts the cosine of the tf-idf weights of each view; for
numbers a Gaussian kernel of median width on the standardized columns of each view; for the faces (yale,
jaffe) the twelve kernels of the papers on multiple kernel k-means on all columns: Gaussians of widths 0.01,
0.05, 0.1, 1, 10, 50 and 100 times the largest distance, (a + x'z)^b with a of 0 and 1 and b of 2 and 4, and
the cosine. The number of clusters is the number of classes. Defaults of our methods were chosen with a look
at the sets of ``LOOKED_AT``; all others were not looked at before.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.cluster import SpectralClustering
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import adjusted_rand_score, confusion_matrix, normalized_mutual_info_score
from threadpoolctl import threadpool_limits

from benchmarks.measuring import code_version
from benchmarks.store import Record, Store
from multikernel._files import write_whole
from multikernel.clustering import MaxMarginClustering, MultipleKernelKMeans, RegularizedMKKM, SimpleMKKM
from multikernel.rules import MeanRule, SimilarityNetworkFusion, StatisRule

STORE = Path(__file__).parent / "clusters" / "results.jsonl"
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "clustering.md"
LOOKED_AT = ("mfeat", "3sources", "bbcsport_2view")
TEXTS = ("3sources", "bbcsport_2view", "bbc_4view", "movies_2view", "newsgroups_ngs", "webkb_course")
FACES = ("yale", "jaffe")
NUMBERS = ("mfeat", "100leaves", "prokaryotic", "nutrimouse")
SETS = (*LOOKED_AT, "bbc_4view", "newsgroups_ngs", "movies_2view", "webkb_course", *NUMBERS[1:], *FACES)
SLOW = 8000  # samples times clusters beyond which maximum margin clustering is left out
SEED = 0


def load(name: str) -> tuple[list[Any], Any]:
    """Gram matrices and classes of a set."""
    with np.load(Path(os.environ["MULTIKERNEL_DATA"]) / f"{name}.npz") as data:
        y = np.unique(data["y"], return_inverse=True)[1]
        views = [np.asarray(data[key], float) for key in data.files if key.startswith("view_")]
        X = np.asarray(data["X"], float) if name in FACES else None
    if X is not None:
        return _twelve(X), y
    return [_cosine(V) if name in TEXTS else _gaussian(V) for V in views], y


def _cosine(V: Any) -> Any:
    V = TfidfTransformer().fit_transform(V).toarray()  # rows of length 1
    return V @ V.T


def _gaussian(V: Any) -> Any:
    V = (V - V.mean(axis=0)) / np.maximum(V.std(axis=0), 1e-9)
    squares = cdist(V, V, "sqeuclidean")
    return np.exp(-squares / np.median(squares[np.triu_indices(len(V), 1)]))


def _twelve(X: Any) -> list[Any]:
    squares, products = cdist(X, X, "sqeuclidean"), X @ X.T
    products /= np.abs(products).max()
    widths = np.array([0.01, 0.05, 0.1, 1.0, 10.0, 50.0, 100.0])
    gaussians = [np.exp(-squares / (2.0 * t * t * squares.max())) for t in widths]
    lengths = np.sqrt(np.diagonal(products))
    polynomials = [(a + products) ** b for a in (0.0, 1.0) for b in (2, 4)]
    return [*gaussians, *polynomials, products / np.outer(lengths, lengths)]


# ---------------------------------------------------------------------- methods
def _kmeans(K: Any, k: int) -> Any:
    model = MultipleKernelKMeans("precomputed", n_clusters=k, weights="uniform", random_state=SEED)
    return model.fit(K[:, :, None] if K.ndim == 2 else K).labels_


def _spectral(K: Any, k: int) -> Any:
    model = SpectralClustering(k, affinity="precomputed", random_state=SEED)
    return model.fit(np.maximum(K, 0.0)).labels_


def _ours(cls: type) -> Callable[[Any, int], Any]:
    return lambda stack, k: cls("precomputed", n_clusters=k, random_state=SEED).fit(stack).labels_


METHODS: dict[str, Callable[[Any, int], Any]] = {
    "equal weights": _kmeans,
    "spectral, equal weights": lambda stack, k: _spectral(MeanRule().fit_combine(stack), k),
    "MultipleKernelKMeans": _ours(MultipleKernelKMeans),
    "SimpleMKKM": _ours(SimpleMKKM),
    "RegularizedMKKM": _ours(RegularizedMKKM),
    "MaxMarginClustering": _ours(MaxMarginClustering),
    "StatisRule, k-means": lambda stack, k: _kmeans(StatisRule().fit_combine(stack), k),
    "SimilarityNetworkFusion, spectral": lambda stack, k: _spectral(
        SimilarityNetworkFusion().fit(stack).fused_, k
    ),
}
BEST = "best single view"


def accuracy(y: Any, labels: Any) -> float:
    """Share of samples in the class of their cluster, clusters and classes paired as well as possible."""
    table = confusion_matrix(y, labels)
    rows, columns = linear_sum_assignment(-table)
    return float(table[rows, columns].sum() / y.size)


def judged(y: Any, labels: Any) -> dict[str, float]:
    """ARI, NMI and accuracy."""
    return {
        "ari": float(adjusted_rand_score(y, labels)),
        "nmi": float(normalized_mutual_info_score(y, labels)),
        "acc": accuracy(y, labels),
    }


def measure(name: str, store: Store) -> None:
    """All that is missing of one set."""
    Ks, y = load(name)
    stack, k = np.stack(Ks, axis=2), int(y.max()) + 1
    shape: Record = {"set": name, "n": int(y.size), "k": k, "m": len(Ks)}
    for method, fit in METHODS.items():
        key = f"{name}/{method}"
        if store.measured(key) or (method == "MaxMarginClustering" and y.size * k > SLOW):
            continue
        start = time.process_time()
        labels = fit(stack, k)
        seconds = time.process_time() - start
        _note(store, key, {**shape, "method": method, "seconds": seconds, **judged(y, labels)})
    if not store.measured(f"{name}/{BEST}"):
        every = [judged(y, _kmeans(K, k)) for K in Ks]
        best = max(every, key=lambda scores: scores["ari"])
        _note(store, f"{name}/{BEST}", {**shape, "method": BEST, "seconds": None, **best})


def _note(store: Store, key: str, record: Record) -> None:
    store._write({"key": key, "run": store.run, **record})
    print(key, {name: record[name] for name in ("ari", "nmi", "acc", "seconds")}, flush=True)


# ---------------------------------------------------------------------- page
def page(store: Store) -> str:
    """The page of all that was measured."""
    rows = {(record["set"], record["method"]): record for record in store.records.values()}
    names = [name for name in SETS if (name, BEST) in rows]
    methods = [BEST, *METHODS]
    parts = [HEAD]
    for score, title in (
        ("ari", "Adjusted Rand index"),
        ("nmi", "Normalized mutual information"),
        ("acc", "Accuracy"),
    ):
        parts += [f"## {title}", _table(rows, names, methods, score)]
    parts += ["## CPU seconds", _table(rows, names, methods[1:], "seconds"), _versus(rows, names), TAIL]
    versions = sorted({record["run"] for record in rows.values()})
    return "\n\n".join([*parts, f"Measured at {', '.join(versions)}."]) + "\n"


def _table(rows: Any, names: list[str], methods: list[str], score: str) -> str:
    lines = ["| set | n | k | m | " + " | ".join(methods) + " |", "|---|--:|--:|--:|" + "--:|" * len(methods)]
    for name in names:
        own = [rows.get((name, method), {}).get(score) for method in methods]
        best = max((value for value in own[1:] if value is not None), default=None)
        cells = [_cell(value, score, value == best and place > 0) for place, value in enumerate(own)]
        shape = rows[name, BEST]
        mark = r"\*" if name in LOOKED_AT else ""
        lines.append(
            f"| {name}{mark} | {shape['n']} | {shape['k']} | {shape['m']} | " + " | ".join(cells) + " |"
        )
    return "\n".join(lines)


def _cell(value: float | None, score: str, is_best: bool) -> str:
    if value is None:
        return "–"
    if score == "seconds":
        return f"{value:.2f}"
    return f"**{value:.2f}**" if is_best else f"{value:.2f}"


def _versus(rows: Any, names: list[str]) -> str:
    """Wins and losses against equal weights, on the sets that were not looked at."""
    lines = ["On the other sets, by ARI against k-means with equal weights (more than 0.02 apart):", ""]
    fresh = [name for name in names if name not in LOOKED_AT]
    for method in list(METHODS)[1:]:
        gaps = [
            rows[name, method]["ari"] - rows[name, "equal weights"]["ari"]
            for name in fresh
            if (name, method) in rows
        ]
        if gaps:
            better, worse = sum(gap > 0.02 for gap in gaps), sum(gap < -0.02 for gap in gaps)
            counts = f"better on {better}, worse on {worse} of {len(gaps)}"
            lines.append(f"- {method}: {counts}; mean difference {np.mean(gaps):+.3f}.")
    return "\n".join(lines)


HEAD = """---
orphan: true
---

# Clusters from several views

Clusterings of `multikernel.clustering`, and two rules of `multikernel.rules` with a clustering after them,
against simple rivals. The number of clusters is the number of classes; classes are used to judge only. The
exception is "best single view": kernel k-means on the view with the largest adjusted Rand index, which nobody
knows without classes. By `MULTIKERNEL_DATA=FOLDER python -m benchmarks.clustering`, whose docstring describes
the kernels. Bold: the best of a row, the first column aside. n samples, k clusters, m kernels. Sets with a
star were looked at while defaults were chosen; all others confirm."""

TAIL = """- One run with one seed for each cell; starts inside a method are its default. Differences of a few
  hundredths are chance.
- `MaxMarginClustering` is left out where n times k is more than 8000.
- CPU seconds are of one thread on a machine with other work: an indication.
- Published figures are not shown: papers differ in the preparation of these sets (which words, which kernels,
  which scaling), and no figure is known to us to belong to exactly these kernels."""


def main() -> None:
    """Measure what is missing, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", metavar="SET", help="all by default")
    parser.add_argument("--again", nargs="+", default=[], metavar="METHOD")
    parser.add_argument("--page", action="store_true", help="measure nothing")
    given = parser.parse_args()
    store = Store(STORE, code_version(), resume=True)
    for key in [key for key, record in store.records.items() if record["method"] in given.again]:
        del store.records[key]
    if not given.page:
        warnings.simplefilter("ignore")
        with threadpool_limits(1):
            for name in given.sets or SETS:
                measure(name, store)
    write_whole(PAGE, page(store).encode())


if __name__ == "__main__":
    main()

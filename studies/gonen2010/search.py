"""Tables 5.4, 5.6, 5.8 and 5.9: MKL whose costs d, or weights, are searched (section 2.7).

C is that of the best mean validation accuracy at d = 1, for all methods. Then, on the same ten folds:

    RMKL  log₁₀ d by a quadratic response surface,        EMKL  d_m = (e_m / e_1)^γ,
    RWKL  log₁₀ of the weights' ratios by such a surface,       e_m the number of eigenvalues above ½.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any

import numpy as np

from multikernel.datasets.catalogue import MissingDataset
from multikernel.mkl.regularized.classifier import RegularizedMKLClassifier
from multikernel.mkl.regularized.search import count_large_eigenvalues, eigenvalue_costs
from multikernel.views import KernelBank
from studies.compare import compare, comparison_row, group_results
from studies.data import load_data
from studies.gonen2010.measuring import (
    TOL,
    Method,
    at_best,
    chosen_text,
    collect,
    fit_stack,
    method_values,
    summary_rows,
    tested_text,
)
from studies.gonen2010.protocol import Fold, fit_quietly
from studies.gonen2010.published import NUMBERS, cells_of
from studies.gonen2010.setting import (
    GRID,
    PROTOCOL,
    SPLITS,
    THIRDS,
    Points,
    Task,
    draw_folds,
    fold_stacks,
    given_views,
    linear_views,
    load_representations,
    three_views,
)
from studies.gonen2010.yeast import REAL, SUBSETS, load_class, real_classes
from studies.study import Quantity, Result, Table, Unit
from studies.yeast import CLASSES, NETWORKS, SINGLE, kernels_and_labels

DELTA = 0.3  # section 5.2.2
_SEED = 2010
SEARCHES = {"rmkl": "response_surface", "emkl": "eigenvalue", "rwkl": "weights"}
LABELS = {
    "mkl": "MKL",
    "rmkl": "RMKL",
    "best": "RMKL, best point",
    "emkl": "EMKL",
    "rwkl": "RWKL",
}
_PRINTED = {"mkl": "MKL", "rmkl": "RMKL"}
SIGNS = {"accuracy": 1.0, "support": -1.0}

Array = np.ndarray


# ---------------------------------------------------------------------- tasks
_SPLICE = (
    "The 3190 sequences of 60 nucleotides of the splice junction data (UCI), one of two kinds of junctions "
    "against no junction, stand in for the splice sites of Kulp et al. (1996), which are not available here."
)
_SHARE = 2
_NETWORKS = (
    "Four diffusion kernels of the STRING and BioGRID networks over 2310 proteins, of which half are drawn "
    "to save time, with the 13 largest top-level classes of the functional catalogue, stand in for the "
    "kernels over the 3588 proteins of CYGD, which are not available here."
)
_EVEN, _SMALL = (0, 2, 4, 6, 8), (0, 1, 2, 3, 4)


def load_junctions(kind: str, split: int) -> Points:
    """Return the sequences of one kind of junction, and those of none, each nucleotide as four columns."""
    data = load_data("splice")
    assert data.y is not None
    names = data.arrays["class_names"].tolist()
    rows = np.isin(data.y, [names.index(kind), names.index("N")])
    letters = np.array([list(text) for text in data.arrays["sequences"][rows]])
    X = np.concatenate([(letters == letter).astype(np.float64) for letter in "ACGT"], axis=1)
    return Points(X, np.where(data.y[rows] == names.index(kind), 1, -1))


def load_networks_of(label: str, split: int) -> Points:
    """Return half of the proteins of both networks, by four kernels, with one class against the rest."""
    Ks, labels = kernels_and_labels()
    n = len(labels[label])
    rows = np.sort(np.random.default_rng([_SEED, n]).permutation(n)[: n // _SHARE])
    y = np.where(labels[label][rows] > 0, 1, -1)
    matrices = {name: K[np.ix_(rows, rows)] for name, K in zip(SINGLE.values(), Ks, strict=True)}
    return Points(np.arange(len(y), dtype=np.float64)[:, None], y, matrices=matrices)


@lru_cache(maxsize=4)
def tasks_of(table: str) -> dict[str, Task]:
    """Return the tasks of a table, stand-ins where the data of the thesis are not at hand.

    Parameters
    ----------
    table : {"5.4", "5.6", "5.8", "5.9"}
    """
    if table == "5.6":
        return {
            name: Task(name, partial(load_representations, positive), linear_views, ("mfeat",))
            for name, positive in (("EO", _EVEN), ("SL", _SMALL))
        }
    if table == "5.4":
        return {
            name: Task(name, partial(load_junctions, kind), three_views, ("splice",), _SPLICE)
            for name, kind in (("ACCEPTORS", "IE"), ("DONORS", "EI"))
        }
    if classes := real_classes():
        return {
            f"Y{i}": Task(f"Y{i}", partial(load_class, SUBSETS[table], i), given_views, (REAL,))
            for i in range(1, len(classes) + 1)
        }
    if table == "5.9":
        raise MissingDataset(
            f"data set {REAL!r} is in no folder; the option --data help of the studies says what it is."
        )
    return {
        label: Task(f"{label} {name}", partial(load_networks_of, label), given_views, NETWORKS, _NETWORKS)
        for label, name in CLASSES.items()
    }


# ---------------------------------------------------------------------- units
def compute_search(table: str, task: str, split: int) -> dict[str, Any]:
    """Return how all methods do on the ten folds of a split.

    Parameters
    ----------
    table, task : str
    split : int

    Returns
    -------
    dict
        For each of `LABELS`: see `at_best`; of what is searched also ``d`` (of RWKL the ``weights``),
        ``solves``, how many points were asked for, and ``steps``, how many of them after the design. Of
        table 5.6 also ``variance``: see `explained`.
    """
    asked = tasks_of(table)[task]
    points = asked.load(split)
    folds = draw_folds(points, split)
    views = asked.views(points)
    plain = Method()
    grids = []
    for fold in folds:
        stacks = fold_stacks(views, points.X, fold)
        grids.append([fit_stack(stacks, points.y, fold, C, plain)[1] for C in GRID])
    found: dict[str, Any] = {"mkl": at_best(grids, GRID)}
    C = found["mkl"]["C"]
    searched = {name: run_search(name, views, points, folds, C) for name in SEARCHES}
    ends = {name: search["end"] for name, search in searched.items()}
    ends["best"] = best_point(searched["rmkl"]["measured"])["at"]
    methods = {name: method_at(name, end) for name, end in ends.items()}
    entries: dict[str, list[dict[str, Any]]] = {name: [] for name in methods}
    shares: dict[str, list[float]] = {"SUM": [], "MKL": [], "RMKL": []}
    for i, fold in enumerate(folds):
        stacks = fold_stacks(views, points.X, fold)
        for name, method in methods.items():
            entries[name].append(fit_stack(stacks, points.y, fold, C, method)[1])
        if table == "5.6":
            etas = (np.ones(len(views)), found["mkl"]["eta"][i], entries["rmkl"][-1]["eta"])
            for name, eta in zip(shares, etas, strict=True):
                shares[name].append(explained(stacks.training @ np.asarray(eta)))
    for name in methods:
        search = searched[name if name in searched else "rmkl"]
        found[name] = {
            "C": C,
            **collect(entries[name]),
            "weights" if name == "rwkl" else "d": ends[name],
            "solves": search["solves"],
            "steps": search["steps"],
        }
    return found | ({"variance": shares} if table == "5.6" else {})


def run_search(
    name: str, views: Sequence[Any], points: Points, folds: Sequence[Fold], C: float
) -> dict[str, Any]:
    """Return what a search measured, and where it ended.

    Parameters
    ----------
    name : {"rmkl", "emkl", "rwkl"}
    views : sequence of View
    points : Points
    folds : sequence of Fold
    C : float

    Returns
    -------
    dict
        ``measured``, the points in order: ``at`` (d, or the weights) and ``error``, the mean over the
        validation sets in percent; ``end``, the lowest point of the last surface, or the best one where
        there is no surface; ``solves`` and ``steps``, see `compute_search`.
    """
    rows = np.sort(np.concatenate([folds[0].training, folds[0].validation]))
    pairs = [
        tuple(np.searchsorted(rows, part) for part in (fold.training, fold.validation)) for fold in folds
    ]
    model = RegularizedMKLClassifier(list(views), method=SEARCHES[name], C=C, cv=pairs, delta=DELTA, tol=TOL)
    fit_quietly(model, points.X[rows], points.y[rows])
    errors = 100.0 * (1.0 - np.asarray(model.cv_results_["mean_test_score"]))
    params = model.cv_results_["params"]
    surface = model.surface_
    if surface is None:
        stack = KernelBank(list(views)).fit_transform(points.X[rows])
        counts = count_large_eigenvalues(np.moveaxis(stack, 2, 0))
        measured = [eigenvalue_costs(counts, entry["exponent"]) for entry in params]
        solves, steps = len(params), 0
    else:
        measured = [np.array(list(entry.values())) for entry in params]
        solves, steps = surface.n_design_ + surface.n_steps_, surface.n_steps_
    listed = [
        {"at": np.round(at, 6).tolist(), "error": round(float(error), 6)}
        for at, error in zip(measured, errors, strict=True)
    ]
    if surface is None:
        end = best_point(listed)["at"]
    else:
        lowest = np.array([1.0, *surface.lowest_point_.values()])
        end = np.round(lowest / (lowest.sum() if name == "rwkl" else 1.0), 6).tolist()
    return {"measured": listed, "end": end, "solves": solves, "steps": steps}


def best_point(points: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the point of the least error, of equals the first."""
    return dict(min(points, key=itemgetter("error")))


def method_at(name: str, at: Sequence[float]) -> Method:
    """Return MKL with some costs, or with fixed weights.

    Examples
    --------
    >>> method_at("rwkl", [0.25, 1.0]).costs
    [2.0, 1.0]
    """
    if name != "rwkl":
        return Method(list(at))
    # At p = ∞ all d²η are 1: these costs are those weights.
    return Method((1.0 / np.sqrt(np.asarray(at))).tolist(), norm=np.inf)


def explained(K: Array) -> float:
    """Return the percentage of the variance that the first two principal components explain.

    Examples
    --------
    >>> explained(np.diag([1.0, 1.0, 1.0, 1.0])).__round__(1)
    66.7
    """
    values = np.linalg.eigvalsh(centered(K))
    return 100.0 * float(values[-2:].sum() / values.sum())


def centered(K: Array) -> Array:
    """Return a kernel matrix with its mean removed in the feature space."""
    means = K.mean(axis=0)
    without: Array = K - means - means[:, None] + means.mean()
    return without


# ---------------------------------------------------------------------- tables
def search_units(table: str, names: Sequence[str] | None, splits: int) -> list[Unit]:
    """Return the units of a table, of some of its tasks or of all: one for each task and split."""
    return [
        Unit(
            f"{table}/{key}/split={split:02d}",
            compute_search,
            {"table": table, "task": key, "split": split},
            task.datasets,
        )
        for key, task in tasks_of(table).items()
        if names is None or key in names
        for split in range(splits)
    ]


def _rows(table: str, results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    tasks = tasks_of(table)
    by_task = group_results(results, itemgetter("task"))
    rows = []
    for key, group in by_task.items():
        for method in ("mkl", "rmkl", "best"):
            rows.append(_method_row(table, tasks[key], key, method, group))
    stand_in = next(iter(tasks.values())).stand_in
    return rows + summary_rows(table, by_task, "rmkl", "mkl", SIGNS, stand_in)


def _method_row(table: str, task: Task, key: str, method: str, group: Sequence[Result]) -> dict[str, Any]:
    """RMKL as the thesis has it, at the last point of the search, beside the published numbers."""
    start = "" if task.stand_in and key not in _printed_tasks(table) else f"{key}, {_PRINTED.get(method, '')}"
    if method not in _PRINTED:
        start = ""
    values = method_values(table, start, group, method, ("accuracy", "support", "eta", "active"))
    remark = chosen_text(group, method)
    if method != "mkl":
        cells = NUMBERS[f"table{table}"]
        d = [result[method]["d"][1:] for result in group]  # the first is set to 1, and not found
        places = [f"table {table}, {start}, d{i}" for i in range(2, len(d[0]) + 2)]
        printed = [cells[place] for place in places] if start and places[0] in cells else None
        values["d"] = compare(d, printed, THIRDS)
        values["solves"] = compare([result[method]["solves"] for result in group])
        if text := tested_text(group, method, "mkl", SIGNS):
            remark += f"; F test: {text}"
    counts = method in _PRINTED
    return comparison_row(
        task.name, {"method": LABELS[method]}, values, remark, counts=counts, stand_in=task.stand_in
    )


def _printed_tasks(table: str) -> set[str]:
    return {place.split(", ")[1] for place in NUMBERS[f"table{table}"]}


_QUANTITIES = (
    Quantity("accuracy", "accuracy, %", 2),
    Quantity("support", "support vectors, %", 2),
    Quantity("eta", "η", 2),
    Quantity("d", "d after the first", 2),
    Quantity("active", "kernels in use", 1, difference=False),
    Quantity("solves", "points", 1, difference=False),
    Quantity("signed_rank", "signed rank test, p", 3, difference=False),
)
SEARCH_PROTOCOL = (
    "C is one of 0.01, 0.1, 1, 10 and 100, chosen at d = 1 (5.2.2). RMKL then searches log₁₀ d of all "
    "kernels but the first by the mean validation error of the ten folds: a second-order Koshal design with "
    "Δ = 0.3 about d = 1, quadratic response surfaces, and a new point where the surface is lowest, until "
    "that point stays where it is, which is the answer. The search is held between 0.1 and 10, which the "
    "largest d of the thesis, 10.0, respects. C is no factor of the surface, as in the thesis; other "
    "searches are on [our page](own-searching.md).",
    "A kernel in use has more than 0.001 of the weight. F test: 5×2 cv paired test of the ten test results "
    "at the level of 5%, on each split.",
)
_ENDS = (
    "The row of the best point is ours: that of the least validation error among all that were measured, "
    "which the library takes. It counts in no agreement."
)
TITLES = {
    "5.4": "three kernels on sequences of nucleotides",
    "5.6": "six representations of MULTIFEAT",
    "5.8": "functions of yeast proteins, first subset of kernels",
    "5.9": "functions of yeast proteins, second subset of kernels",
}
KERNELS = {
    "5.4": "A linear, a quadratic and a Gaussian kernel of four columns for each nucleotide.",
    "5.6": (
        "EO: even digits against odd ones; SL: 0 to 4 against 5 to 9. A linear kernel on each of FAC, FOU, "
        "KAR, MOR, PIX and ZER, in this order."
    ),
    "5.8": "Kernels Pfam, TAP, Phys, Gen and Exp where the user has them.",
    "5.9": "Kernels PfamE, TAP, Phys, Gen, ExpG and SW where the user has them.",
}
SPLITS_OF = {"5.4": SPLITS, "5.6": SPLITS, "5.8": 1, "5.9": 1}
VERSIONS = {"5.4": 2, "5.6": 2, "5.8": 3, "5.9": 3}


def _table(name: str) -> Table:
    return Table(
        name=name,
        title=f"Gönen (2010), table {name}: {TITLES[name]}, MKL and regularized MKL",
        version=VERSIONS[name],
        splits=SPLITS_OF[name],
        units=partial(search_units, name, None),
        rows=partial(_rows, name),
        quantities=_QUANTITIES,
        protocol=(KERNELS[name], *PROTOCOL, *SEARCH_PROTOCOL),
        notes=(_ENDS,),
        cells=cells_of(f"table{name}"),
    )


TABLES = tuple(map(_table, TITLES))

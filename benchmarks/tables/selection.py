"""``python -m benchmarks.tables.selection``: rules that choose C and the norm, on the choosing half.

Every candidate of a fine grid is fitted on the inner folds of the training rows, three times over, and on all
of them, which gives its answers to the test rows. Rules are then compared without a further fit. The table
goes into docs/benchmarks/default_kernels.md. Answers are kept in --arrays, from where a stopped run goes on.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from sklearn.model_selection import RepeatedStratifiedKFold

from benchmarks.measuring import restart_on_threads
from benchmarks.running import say
from benchmarks.tables.__main__ import listed, refuse_unknown
from benchmarks.tables.alternatives import PAGE, write_page
from benchmarks.tables.sets import CLASSIFICATION, ENTRIES, FOLDS, Array, load, make_fold, take
from multikernel import KernelBank, MKLClassifierCV
from multikernel.core.search.grid import GridSearch

PLACES = (
    ("<!-- measured by python -m benchmarks.tables.selection -->", "<!-- end of the rules -->"),
    (
        "<!-- measured by python -m benchmarks.tables.selection --normalizations -->",
        "<!-- end of the normalizations -->",
    ),
)
REPEATS = 2
MAX_TRAIN, MAX_TEST, MOST_OF_MANY = 400, 800, 250  # rows; the last for training with more than three classes
INNER, INNER_REPEATS = 5, 3
CS = tuple(10.0 ** (k / 2) for k in range(-4, 11))
NORMS = (1.0, 1.5, 2.0, np.inf)
NORMALIZATIONS = ("variance", "diagonal", "trace")  # the first is the default
FEWEST = 3  # candidates that are measured on all folds
SMALLEST = 1e-6  # probability


# ---------------------------------------------------------------------- answers of all candidates
class Everything(GridSearch):
    """A search that leaves no candidate out."""

    def _survivors(self, alive: list[Any], number: int) -> list[Any]:
        return alive


class Search(MKLClassifierCV):
    """The tuned classifier, which keeps what its search has found."""

    def _folds(self, data: Any, groups: Any) -> Any:
        return Everything, super()._folds(data, groups)[1]

    def _choose(self, search: GridSearch, data: Any) -> Any:
        self.search_ = search
        return search.candidates[0]


def answers_of(name: str, repetition: int, fold: int, normalize: str) -> dict[str, Array]:
    """The answers of every candidate to the inner validation rows, and to the test rows."""
    data = load(name)
    rows = make_fold(data, repetition, fold, regression=False)
    rng = np.random.default_rng(rows.seed)
    most = MAX_TRAIN if np.unique(data.y).size <= 3 else MOST_OF_MANY
    train = np.sort(rng.permutation(rows.train)[:most])
    known, sizes = np.unique(data.y[train], return_counts=True)
    train = train[np.isin(data.y[train], known[sizes >= INNER])]
    test = np.sort(rng.permutation(rows.test)[:MAX_TEST])
    test = test[np.isin(data.y[test], np.unique(data.y[train]))]
    n, both = len(train), np.concatenate([train, test])
    bank = KernelBank("rich", normalize=normalize).fit(take(data.X, train))
    Ks = np.moveaxis(bank.moved(take(data.X, both)).training_stack(), 0, 2)
    inner = RepeatedStratifiedKFold(n_splits=INNER, n_repeats=INNER_REPEATS, random_state=rows.seed)
    splits = [*inner.split(np.zeros(n), data.y[train]), (np.arange(n), np.arange(n, len(both)))]
    search = search_all(Ks, data.y[both], splits)
    answers = [np.array([found[k] for k in range(len(search.candidates))]) for found in search.answers]
    parts = np.zeros((INNER_REPEATS, n), np.int8)
    held_out = np.empty((INNER_REPEATS, len(answers[0]), n, *answers[0].shape[2:]), np.float32)
    for k, (_, places) in enumerate(splits[:-1]):
        held_out[k // INNER][:, places] = answers[k]
        parts[k // INNER][places] = k % INNER
    codes = np.unique(data.y[both], return_inverse=True)[1]
    return {
        "C": np.array([c.params["C"] for c in search.candidates]),
        "norm": np.array([c.norm for c in search.candidates]),
        "held_out": held_out,
        "parts": parts,
        "tested": answers[-1].astype(np.float32),
        "y": codes[:n],
        "y_test": codes[n:],
    }


def search_all(Ks: Array, y: Array, splits: list[Any]) -> GridSearch:
    """All candidates on all splits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of narrow kernels, and of fits at the largest C
        model = Search("precomputed", Cs=CS, norms=NORMS, cv=splits, refit=False, probability=False).fit(
            Ks, y
        )
    return model.search_


# ---------------------------------------------------------------------- what rules know
@dataclass(frozen=True, eq=False)
class Fold:
    """Scores of the candidates (n_candidates,) on inner folds, and on the test rows.

    ``accuracy`` and ``loss``, the log-loss after calibration, have shape (3, 5, n_candidates); so has
    ``tested_loss`` without the folds: test rows, by the calibration of each repetition.
    """

    C: Array
    norm: Array
    normalization: Array
    accuracy: Array
    loss: Array
    tested: Array
    tested_loss: Array

    @property
    def usual(self) -> Array:
        """The candidates of the default grid."""
        return np.flatnonzero(self._is_whole & (self.normalization == 0))

    @property
    def fine(self) -> Array:
        """The same with twice as many C."""
        return np.flatnonzero(self.normalization == 0)

    @property
    def normalized(self) -> Array:
        """The default grid with each normalization."""
        return np.flatnonzero(self._is_whole)

    @property
    def _is_whole(self) -> Array:
        """Whether C is a power of ten."""
        return np.isclose(np.log10(self.C), np.round(np.log10(self.C)))


def fold_of(found: Sequence[dict[str, Array]]) -> Fold:
    """Accuracies and log-losses of answers, one bank after the other."""
    scored = [scores_of(answers) for answers in found]
    parts = [np.concatenate(part, axis=-1) for part in zip(*scored, strict=True)]
    banks = np.repeat(np.arange(len(found)), [len(answers["C"]) for answers in found])
    return Fold(
        np.concatenate([answers["C"] for answers in found]),
        np.concatenate([answers["norm"] for answers in found]),
        banks,
        *parts,
    )


def scores_of(found: dict[str, Array]) -> tuple[Array, Array, Array, Array]:
    """Accuracies and log-losses on the inner folds, and on the test rows, of the candidates of one bank."""
    held_out, tested = (as_columns(found[name], found["y"]) for name in ("held_out", "tested"))
    parts, y, y_test = found["parts"], found["y"], found["y_test"]
    right = held_out.argmax(axis=-1) == y
    shape = (INNER_REPEATS, INNER, len(tested))
    accuracy, loss, tested_loss = np.empty(shape), np.empty(shape), np.empty((INNER_REPEATS, len(tested)))
    for r in range(INNER_REPEATS):
        for g in range(len(tested)):
            slope = calibrated_slope(held_out[r, g], y)
            own = losses_of(slope * held_out[r, g], y)
            tested_loss[r, g] = losses_of(slope * tested[g], y_test).mean()
            for k in range(INNER):
                accuracy[r, k, g] = right[r, g][parts[r] == k].mean()
                loss[r, k, g] = own[parts[r] == k].mean()
    return accuracy, loss, (tested.argmax(axis=-1) == y_test).mean(axis=1), tested_loss


def as_columns(scores: Array, y: Array) -> Array:
    """A score for each class."""
    scores = scores.astype(np.float64)
    return np.stack([np.zeros_like(scores), scores], -1) if y.max() == 1 else scores


def losses_of(scores: Array, y: Array) -> Array:
    """−log of the probability of each label."""
    return np.asarray(-np.maximum(log_softmax(scores, axis=1)[np.arange(len(y)), y], np.log(SMALLEST)))


def calibrated_slope(scores: Array, y: Array) -> float:
    """The multiple of the scores whose softmax has the largest likelihood, labels smoothed as by Platt."""
    n, n_classes = scores.shape
    doubt = 1.0 / (n + 2.0)
    labels = np.where(np.eye(n_classes)[y] > 0.0, 1.0 - doubt, doubt / (n_classes - 1))
    found = minimize_scalar(
        lambda t: -(labels * log_softmax(np.exp(t) * scores, axis=1)).sum(),
        bounds=(-9.0, 9.0),
        method="bounded",
    )
    return float(np.exp(found.x))


# ---------------------------------------------------------------------- rules
Rule = Callable[[Fold, int], int]  # a fold and a repetition of the inner folds, to a candidate


def first(means: Array, among: Array) -> int:
    """The first candidate with the largest mean."""
    return int(among[np.argmax(np.round(means[among], 12))])


def halve(scores: Array, among: Array) -> Array:
    """Those that are left when after each fold the poorer half goes; scores (n_folds, n_candidates)."""
    for k in range(INNER - 1):
        means = np.round(scores[: k + 1][:, among].mean(axis=0), 12)
        count = max(-(-len(among) // 2), FEWEST)
        among = np.sort(among[np.argsort(-means, kind="stable")[:count]])
    return among


def smallest_loss(fold: Fold, r: int, among: Array, within: float = 0.0) -> int:
    """The smallest log-loss of those whose accuracy is `within` so much of the best."""
    means = fold.accuracy[r].mean(axis=0)
    near = among[means[among] >= means[among].max() - within - 1e-12]
    return int(near[np.argmin(fold.loss[r].mean(axis=0)[near])])


def error_of_best(fold: Fold, r: int) -> float:
    """The standard error of the best mean."""
    best = first(fold.accuracy[r].mean(axis=0), fold.usual)
    return float(fold.accuracy[r][:, best].std(ddof=1) / np.sqrt(INNER))


def smallest_penalty(fold: Fold, r: int) -> int:
    """The smallest C within one standard error of the best."""
    means, usual = fold.accuracy[r].mean(axis=0), fold.usual
    near = usual[means[usual] >= means[usual].max() - error_of_best(fold, r)]
    return int(near[np.lexsort((-means[near], fold.C[near]))[0]])


def smoothed(fold: Fold, r: int) -> int:
    """The best mean after an average with both neighbors in C."""
    usual, means = fold.usual, fold.accuracy[r].mean(axis=0)
    result = np.full(len(means), -np.inf)
    for norm in NORMS:
        own = usual[fold.norm[usual] == norm]
        own = own[np.argsort(fold.C[own])]
        padded = np.pad(means[own], 1, mode="edge")
        result[own] = 0.25 * padded[:-2] + 0.5 * padded[1:-1] + 0.25 * padded[2:]
    return first(result, usual)


def halving(fold: Fold, r: int, by_loss: float = 0.0, ties: float = 0.0) -> int:
    """Halving by accuracy less a multiple of the log-loss, and the winner by its own multiple."""
    left = halve(fold.accuracy[r] - by_loss * fold.loss[r], fold.usual)
    return first((fold.accuracy[r] - ties * fold.loss[r]).mean(axis=0), left)


def at(C: float, norm: float) -> Rule:
    """No search."""
    return lambda fold, r: int(
        fold.usual[np.isclose(fold.C[fold.usual], C) & (fold.norm[fold.usual] == norm)][0]
    )


def of_norm(norm: float) -> Rule:
    """C alone."""
    return lambda fold, r: first(fold.accuracy[r].mean(axis=0), fold.usual[fold.norm[fold.usual] == norm])


BOUND = "the best candidate on the test rows: no rule can be better"
TIE = 1e-6  # of the log-loss: it decides between equal accuracies alone
RULES: dict[str, Rule] = {
    "halving, the first of equally good candidates: the default before": halving,
    "**halving, of equally good candidates the smallest log-loss**: the default": lambda f, r: halving(
        f, r, ties=TIE
    ),
    "the same, ties on the way broken by log-loss, too": lambda f, r: halving(f, r, TIE, TIE),
    "halving by log-loss, then the best accuracy": lambda f, r: halving(f, r, 1e6, TIE),
    "no halving, the first of equally good candidates": lambda f, r: first(
        f.accuracy[r].mean(axis=0), f.usual
    ),
    "no halving, of equally good ones the smallest log-loss": lambda f, r: smallest_loss(f, r, f.usual),
    "no halving, the smallest log-loss within half a standard error": lambda f, r: smallest_loss(
        f, r, f.usual, 0.5 * error_of_best(f, r)
    ),
    "no halving, the smallest log-loss within one standard error": lambda f, r: smallest_loss(
        f, r, f.usual, error_of_best(f, r)
    ),
    "no halving, the smallest log-loss of all": lambda f, r: smallest_loss(f, r, f.usual, 1.0),
    "no halving, the smallest C within one standard error": smallest_penalty,
    "no halving, accuracies averaged with both neighbors in C": smoothed,
    "no halving, twice as many C": lambda f, r: first(f.accuracy[r].mean(axis=0), f.fine),
    "no halving, the folds three times over": lambda f, r: first(f.accuracy.mean(axis=(0, 1)), f.usual),
    "no halving, twice as many C, the folds three times over": lambda f, r: first(
        f.accuracy.mean(axis=(0, 1)), f.fine
    ),
    "no halving, norm 1, C alone": of_norm(1.0),
    "no halving, norm 2, C alone": of_norm(2.0),
    "no search: C = 1, norm 1": at(1.0, 1.0),
    "no search: C = 1, norm 2": at(1.0, 2.0),
    BOUND: lambda f, r: first(f.tested, f.usual),
}
OF_NORMALIZATIONS: dict[str, Rule] = {
    "no halving, unit variance, the first of equally good candidates": lambda f, r: first(
        f.accuracy[r].mean(axis=0), f.usual
    ),
    "the same, the smallest log-loss of equally good ones": lambda f, r: smallest_loss(f, r, f.usual),
    "no halving, unit variance, diagonal and trace as candidates, the first": lambda f, r: first(
        f.accuracy[r].mean(axis=0), f.normalized
    ),
    "the same, the smallest log-loss of equally good ones ": lambda f, r: smallest_loss(f, r, f.normalized),
    BOUND: lambda f, r: first(f.tested, f.normalized),
}


# ---------------------------------------------------------------------- the table
def table(folds: dict[str, list[Fold]], rules: dict[str, Rule] = RULES) -> str:
    """The rows of the page, from the folds of each set; rules are compared with the first."""
    before = next(iter(rules.values()))
    lines = [
        "| rule | accuracy, points more than the first | higher / lower on sets "
        "| log-loss, more than the first | within one s.e. of the best mean |",
        "|---|--:|--:|--:|--:|",
    ]
    for label, rule in rules.items():
        gains, losses, near = [], [], []
        for own in folds.values():
            chosen = [(f, r, rule(f, r), before(f, r)) for f in own for r in range(INNER_REPEATS)]
            gains.append(100.0 * np.mean([f.tested[k] - f.tested[b] for f, _, k, b in chosen]))
            losses.append(np.mean([f.tested_loss[r, k] - f.tested_loss[r, b] for f, r, k, b in chosen]))
            near += [is_near(f, r, k) for f, r, k, _ in chosen]
        spread = np.std(gains, ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else np.nan
        counts = f"{np.sum(np.array(gains) > 0.01)} / {np.sum(np.array(gains) < -0.01)}"
        lines.append(
            f"| {label.strip()} | {np.mean(gains):+.2f} ± {spread:.2f} | {counts} | {np.mean(losses):+.4f} "
            f"| {100.0 * np.mean(near):.0f} % |"
        )
    n_folds = sum(len(own) for own in folds.values())
    return "\n".join(lines) + f"\n\n{len(folds)} sets, {n_folds} folds, {INNER_REPEATS} draws of inner folds."


def is_near(fold: Fold, r: int, candidate: int) -> bool:
    """Whether the mean of a candidate is within one standard error of the best of the default grid."""
    means = fold.accuracy[r].mean(axis=0)
    return bool(means[candidate] >= means[fold.usual].max() - error_of_best(fold, r) - 1e-12)


def answers_in(folder: Path, name: str, repetition: int, fold: int, normalize: str) -> dict[str, Array]:
    """What the folder has, measured if need be."""
    path = folder / f"{name}-{repetition}-{fold}-{normalize}.npz"
    if not path.exists():
        np.savez_compressed(path, **answers_of(name, repetition, fold, normalize))  # type: ignore[arg-type]
    with np.load(path) as found:
        return dict(found)


def run(
    folder: Path, sets: Sequence[str], repeats: int, normalizations: Sequence[str] = NORMALIZATIONS
) -> dict[str, list[Fold]]:
    """Measure what is not in the folder; the folds of each set."""
    folder.mkdir(parents=True, exist_ok=True)
    folds: dict[str, list[Fold]] = {name: [] for name in sets}
    for repetition in range(repeats):
        for name in sets:
            for fold in range(FOLDS):
                banks = [answers_in(folder, name, repetition, fold, each) for each in normalizations]
                folds[name].append(fold_of(banks))
            say(f"{name}, repetition {repetition}")
    return folds


def main(given: list[str] | None = None) -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tables.selection", description=__doc__)
    choosing = [e.name for e in ENTRIES.values() if e.part == CLASSIFICATION and e.half == "choosing"]
    parser.add_argument("--only", type=listed, default=choosing, metavar="SET,...", help="sets to measure")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="repetitions of two folds")
    parser.add_argument("--normalizations", action="store_true", help="as candidates, too: three stacks")
    parser.add_argument("--arrays", type=Path, required=True, help="the folder where answers are kept")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page that has the table")
    asked = parser.parse_args(given)
    restart_on_threads(1, "benchmarks.tables.selection")
    refuse_unknown("--only", asked.only, choosing)
    banks = NORMALIZATIONS if asked.normalizations else NORMALIZATIONS[:1]
    folds = run(asked.arrays, asked.only, asked.repeats, banks)
    rules = OF_NORMALIZATIONS if asked.normalizations else RULES
    write_page(asked.out, table(folds, rules), *PLACES[asked.normalizations])


if __name__ == "__main__":
    main()

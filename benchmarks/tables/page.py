"""The page of the documentation, from the rows of a store, however many there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.measuring import describe_machine
from benchmarks.store import Record, Store
from benchmarks.tables import contestants as makers
from benchmarks.tables.claims import (
    RIVALS,
    all_claims,
    behind_svc,
    cost_ratios,
    label,
    n_fits,
    rivals_of,
    sets_of,
)
from benchmarks.tables.contestants import contestants_of
from benchmarks.tables.pictures import noise_picture, rank_picture
from benchmarks.tables.ranking import (
    LEVEL,
    LOSS,
    TIE,
    WIN,
    Scores,
    critical_difference,
    duels,
    mean_and_error,
    mean_ranks,
    rank_table,
)
from benchmarks.tables.sets import (
    CHOOSING,
    CLASSIFICATION,
    ENTRIES,
    FOLDS,
    MAX_TEST,
    MAX_TRAIN,
    MIN_CLASS,
    N_FRIEDMAN,
    N_PROTEINS,
    N_WORDS,
    NOISE,
    PARTS,
    REGRESSION,
    REPEATS,
    VIEWS,
)
from benchmarks.tables.views import MAX_ITER
from multikernel._files import write_whole
from multikernel.inspection import holm

HALVES = ("confirming", "choosing")
MAX_MESSAGES = 30
Cell = Callable[[str, str], str]


# ---------------------------------------------------------------------- tables
def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table, its first column at the left and the others at the right."""
    lines = ["| " + " | ".join(header) + " |", "|---|" + "--:|" * (len(header) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def score_cell(scores: Scores, name: str, contestant: str, scale: float, digits: int) -> str:
    """Mean ± standard error over the folds measured, and how many fits failed."""
    values = list(scores.folds(name, contestant).values())
    failed = len(scores.failed.get((name, contestant), {}))
    text = "–"
    if values:
        mean, error = mean_and_error(values)
        text = f"{scale * mean:.{digits}f}"
        text += "" if np.isnan(error) else f" ± {scale * error:.{digits}f}"
    return text + (f" ({failed} failed)" if failed else "")


def score_table(
    scores: Scores, part: str, names: Sequence[str], scale: float = 100.0, digits: int = 1
) -> str:
    """Scores of all contestants on the sets that were measured, the best mean of each set in bold."""
    entrants = list(contestants_of(part))
    rows = []
    for name in names:
        if name not in scores.values:
            continue
        means = {c: np.mean(list(found.values())) for c, found in scores.values[name].items()}
        best = max(means.values())
        cells = [score_cell(scores, name, c, scale, digits) for c in entrants]
        marked = [
            f"**{cell}**" if c in means and means[c] >= best - 1e-12 else cell
            for c, cell in zip(entrants, cells, strict=True)
        ]
        n_folds = max(len(found) for found in scores.values[name].values())
        rows.append([name, str(n_folds), *marked])
    return (
        markdown(["set", "folds", *(label(part, c) for c in entrants)], rows) if rows else "Not measured yet."
    )


def mean_table(records: Sequence[Record], part: str, names: Sequence[str]) -> str:
    """Over the sets that all have: means of accuracy, log-loss and area, and the CPU time of a fit."""
    entrants = list(contestants_of(part))
    columns = {
        "accuracy": (100.0, 1),
        "log_loss": (1.0, 3),
        "auc": (1.0, 4),
        "r2": (1.0, 3),
        "seconds": (1.0, 2),
    }
    heads = {
        "accuracy": "accuracy, %",
        "log_loss": "log-loss",
        "auc": "ROC area",
        "r2": "R²",
        "seconds": "CPU s",
    }
    kept = [key for key in columns if any(key in record for record in records)]
    table: dict[str, dict[str, list[float]]] = {c: {key: [] for key in kept} for c in entrants}
    n_sets = 0
    for name in names:
        found = {key: Scores.of([r for r in records if r["set"] == name], key) for key in kept}
        if not kept or any(not found["seconds"].folds(name, c) for c in entrants):
            continue
        n_sets += 1
        for c in entrants:
            for key in kept:
                values = list(found[key].folds(name, c).values())
                table[c][key].append(float(np.mean(values)) if values else np.nan)
    if not n_sets:
        return "Not measured yet."
    rows = [[label(part, c), *(_mean_text(table[c][key], *columns[key]) for key in kept)] for c in entrants]
    return f"{n_sets} sets on which all were measured.\n\n" + markdown(
        ["contestant", *(heads[key] for key in kept)], rows
    )


def _mean_text(values: Sequence[float], scale: float, digits: int) -> str:
    return "–" if np.any(np.isnan(values)) else f"{scale * np.mean(values):.{digits}f}"


def duel_table(scores: Scores, part: str, names: Sequence[str]) -> str:
    """Each of ours against each rival, over the sets."""
    rows = []
    for ours in (name for name, c in contestants_of(part).items() if c.is_ours):
        found = duels(scores, names, ours, rivals_of(part))
        better, worse = (holm([getattr(one, p) for one in found]) for p in ("p_better", "p_worse"))
        for one, p_better, p_worse in zip(found, better, worse, strict=True):
            rows.append([
                f"{label(part, ours)} – {label(part, one.rival)}",
                str(one.n_sets),
                " / ".join(str(one.compare(sign)) for sign in (1, 0, -1)),
                " / ".join(str(one.count(verdict)) for verdict in (WIN, TIE, LOSS)),
                " / ".join(str(one.count(verdict, raw=True)) for verdict in (WIN, TIE, LOSS)),
                f"{one.p_better:.3f} ({p_better:.3f})",
                f"{one.p_worse:.3f} ({p_worse:.3f})",
            ])  # fmt: skip
    if not rows:
        return "Not measured yet."
    header = ["ours – rival", "sets", "higher / equal / lower", "wins / ties / losses, Holm"]
    header += ["without Holm", "p, ours better (Holm)", "p, ours worse (Holm)"]
    return markdown(header, rows)


def rank_text(
    scores: Scores, part: str, names: Sequence[str], who: Sequence[str], path: Path, title: str
) -> tuple[str, list[Path]]:
    """Mean ranks with the critical difference, and their picture; of at least two sets."""
    table = rank_table(scores, names, who)
    if len(table) < 2:
        return "Not measured yet.", []
    ranks = mean_ranks(table)
    rows = [[label(part, c), f"{ranks[c]:.2f}"] for c in sorted(ranks, key=ranks.__getitem__)]
    difference = critical_difference(len(who), len(table))
    text = f"Mean ranks over {len(table)} sets; critical difference {difference:.2f} (Nemenyi, 5 %).\n\n"
    text += markdown(["contestant", "mean rank"], rows) + f"\n\n![{title}]({path.name})"
    named = {label(part, c): rank for c, rank in ranks.items()}
    ours = [label(part, c) for c in who if contestants_of(part)[c].is_ours]
    return text, [rank_picture(path, named, len(table), ours, title)]


def default_table(records: Sequence[Record], scores: Scores) -> str:
    """The default against the plain SVC, and its cost beside that of the seven kernels, set by set."""
    behind, ratios = {one.name: one for one in behind_svc(scores)}, cost_ratios(records)
    times = Scores.of([r for r in records if r["part"] == CLASSIFICATION], "seconds")
    rows = []
    for name in sets_of(CLASSIFICATION):
        if name not in behind and name not in ratios:
            continue
        one = behind.get(name)
        cells = ["–"] * 3
        if one is not None:
            error = "" if np.isnan(one.error) else f" ± {100.0 * one.error:.1f}"
            cells = [f"{100.0 * one.difference:+.1f}{error}", f"−{100.0 * one.allowed:.1f}"]
            cells.append("met" if one.met else "**missed**")
        for c in ("mkl", "mkl_seven"):
            values = list(times.folds(name, c).values())
            cells.append(f"{np.mean(values):.2f}" if values else "–")
        rows.append([name, ENTRIES[name].half, *cells, f"{ratios[name]:.2f}" if name in ratios else "–"])
    header = ["set", "half", "points ahead of SVC", "allowed", "verdict"]
    header += ["CPU s", "CPU s, seven kernels", "ratio"]
    return markdown(header, rows) if rows else "Not measured yet."


# ---------------------------------------------------------------------- what was measured
def counts_table(records: Sequence[Record]) -> str:
    """How many of the fits of each part were measured, and how many failed."""
    rows = []
    for part in PARTS:
        rows.append([part, *_counts([r for r in records if r["part"] == part], n_fits(part))])
    noise = [r for r in records if r["part"] == NOISE]
    if noise:
        rows.append([NOISE, *_counts(noise, None)])
    return markdown(["part", "fits measured", "of", "complete folds", "failed"], rows)


def _counts(records: Sequence[Record], wanted: int | None) -> list[str]:
    part = records[0]["part"] if records else None
    by_fold = Counter((r["set"], r["repetition"], r["fold"]) for r in records)
    entrants = len(contestants_of(part)) if part else 0
    complete = sum(count == entrants for count in by_fold.values())
    folds = "" if wanted is None or not entrants else f" of {wanted // entrants}"
    failed = sum("failed" in r for r in records)
    return [str(len(records)), "–" if wanted is None else str(wanted), f"{complete}{folds}", str(failed)]


def failures_text(records: Sequence[Record]) -> str:
    """Every failure: what, how often, and the message."""
    found = Counter(
        (r["part"], r["set"], r["contestant"], r["failed"].splitlines()[0][:160])
        for r in records
        if "failed" in r
    )
    if not found:
        return "No fit failed."
    rows = [
        [f"{part}, {name}", label(part, contestant), str(count), message.replace("|", "/")]
        for (part, name, contestant, message), count in found.most_common(MAX_MESSAGES)
    ]
    more = len(found) - len(rows)
    return markdown(["set", "contestant", "fits", "message"], rows) + (
        f"\n\nand {more} more." if more > 0 else ""
    )


def unfinished_text(records: Sequence[Record]) -> str:
    """Fits of ours that ended with another status than "optimal"."""
    statuses = Counter(
        (r["part"], r["contestant"], r["chosen"]["status"])
        for r in records
        if r.get("chosen", {}).get("status", "optimal") != "optimal"
    )
    if not statuses:
        return 'Every fit of ours ended with the status "optimal".'
    rows = [[f"{part}, {label(part, c)}", s, str(n)] for (part, c, s), n in statuses.most_common()]
    return 'Fits of ours that did not end with the status "optimal":\n\n' + markdown(
        ["contestant", "status", "fits"], rows
    )


def commits_text(records: Sequence[Record]) -> str:
    """The commits that rows of ours, and of all, come from."""
    ours, all_of_them = Counter(), Counter()
    for record in records:
        all_of_them[record.get("commit", "")] += 1
        if contestants_of(record["part"])[record["contestant"]].is_ours:
            ours[record.get("commit", "")] += 1
    listed = [
        "; ".join(f"{commit or 'unknown'} ({n})" for commit, n in c.most_common())
        for c in (ours, all_of_them)
    ]
    return f"Rows by commit: of ours {listed[0]}; of all {listed[1]}."


# ---------------------------------------------------------------------- parts
def classification_part(records: Sequence[Record], folder: Path, stem: str) -> tuple[str, list[Path]]:
    """The section on one table."""
    own = [r for r in records if r["part"] == CLASSIFICATION]
    scores = Scores.of(own, "accuracy")
    texts, pictures = ["## Classification"], []
    for half in HALVES:
        names = sets_of(CLASSIFICATION, half)
        five, more = rank_text(
            scores,
            CLASSIFICATION,
            names,
            ("mkl_cv", *RIVALS),
            folder / f"{stem}_ranks_{half}.png",
            f"Mean ranks of accuracy, {half} half",
        )
        all_of_them, all_more = rank_text(
            scores,
            CLASSIFICATION,
            names,
            list(contestants_of(CLASSIFICATION)),
            folder / f"{stem}_ranks_{half}_all.png",
            f"Mean ranks of accuracy, {half} half, all contestants",
        )
        pictures += more + all_more
        texts += [
            f"### The {half} half: accuracy, %",
            score_table(scores, CLASSIFICATION, names),
            f"#### Ranks of the tuned models, {half} half",
            five,
            f"#### Ranks of all, {half} half",
            all_of_them,
            f"#### Ours against rivals, {half} half",
            duel_table(scores, CLASSIFICATION, names),
            f"#### All scores, {half} half",
            mean_table(own, CLASSIFICATION, names),
        ]
    texts += ["### The default: against SVC, and its cost", default_table(own, scores)]
    return "\n\n".join(texts), pictures


def regression_part(records: Sequence[Record], folder: Path, stem: str) -> tuple[str, list[Path]]:
    """The section on values."""
    own = [r for r in records if r["part"] == REGRESSION]
    scores, names = Scores.of(own, "r2"), sets_of(REGRESSION)
    ranks, pictures = rank_text(
        scores,
        REGRESSION,
        names,
        list(contestants_of(REGRESSION)),
        folder / f"{stem}_ranks_regression.png",
        "Mean ranks of R²",
    )
    texts = [
        "## Regression: R²",
        score_table(scores, REGRESSION, names, 1.0, 3),
        "### Ranks, regression",
        ranks,
        "### Ours against rivals, regression",
        duel_table(scores, REGRESSION, names),
        "### Means, regression",
        mean_table(own, REGRESSION, names),
    ]
    return "\n\n".join(texts), pictures


def views_part(records: Sequence[Record], folder: Path, stem: str) -> tuple[str, list[Path]]:
    """The section on several views."""
    own = [r for r in records if r["part"] == VIEWS]
    scores = Scores.of(own, "accuracy")
    texts, pictures = ["## Several views of the same samples"], []
    for half in HALVES:
        names = sets_of(VIEWS, half)
        ranks, more = rank_text(
            scores,
            VIEWS,
            names,
            list(contestants_of(VIEWS)),
            folder / f"{stem}_ranks_views_{half}.png",
            f"Mean ranks of accuracy on views, {half} half",
        )
        pictures += more
        texts += [
            f"### Views, {half} half: accuracy, %",
            score_table(scores, VIEWS, names),
            f"#### Ranks, views, {half} half",
            ranks,
            f"#### Ours against rivals, views, {half} half",
            duel_table(scores, VIEWS, names),
            f"#### All scores, views, {half} half",
            mean_table(own, VIEWS, names),
        ]
    return "\n\n".join(texts), pictures


def noise_part(records: Sequence[Record], folder: Path, stem: str) -> tuple[str, list[Path]]:
    """The section on views of noise; sets are called name+count there."""
    own = [r for r in records if r["part"] == NOISE]
    head = "## When does learning weights pay?"
    if not own:
        return f"{head}\n\nNot measured yet: `python -m benchmarks.tables.noise`.", []
    from benchmarks.tables.noise import TEXT

    scores = Scores.of(own, "accuracy")
    curves: dict[str, dict[str, list[tuple[int, float, float]]]] = {}
    rows = []
    for name in sorted(scores.values, key=lambda text: (text.split("+")[0], int(text.split("+")[1]))):
        base, count = name.split("+")
        for contestant in contestants_of(NOISE):
            values = list(scores.folds(name, contestant).values())
            if values:
                curve = curves.setdefault(base, {}).setdefault(label(NOISE, contestant), [])
                curve.append((int(count), *mean_and_error(values)))
        cells = [score_cell(scores, name, c, 100.0, 1) for c in contestants_of(NOISE)]
        n_folds = max(len(found) for found in scores.values[name].values())
        rows.append([base, count, str(n_folds), *cells])
    header = ["set", "views of noise", "folds", *(label(NOISE, c) for c in contestants_of(NOISE))]
    picture = noise_picture(folder / f"{stem}_noise.png", curves)
    title = "Accuracy against the number of views of noise"
    return f"{head}\n\n{TEXT}\n\n![{title}]({picture.name})\n\n{markdown(header, rows)}", [picture]


# ---------------------------------------------------------------------- text
def _grid(values: Sequence[float]) -> str:
    return f"2^{int(np.log2(values[0]))} to 2^{int(np.log2(values[-1]))}"


def _listed_sets(part: str, half: str) -> str:
    return ", ".join(sets_of(part, half)) or "none"


def protocol_text() -> str:
    """How it was measured, and who took part."""
    texts = [e.name for e in ENTRIES.values() if e.part == VIEWS and e.note == "words"]
    given = [e.name for e in ENTRIES.values() if e.note == "precomputed kernels"]
    return f"""## Protocol

- **Folds**: {REPEATS} repetitions of {FOLDS}-fold cross-validation, stratified by class (plain folds for
  regression); at most {MAX_TRAIN} training and {MAX_TEST} test rows in a fold, the rest is left out at random
  by a fixed seed. All contestants see the same rows. ± is the standard error over the folds; training sets
  overlap, so that it is rather too small.
- **Halves**: a set belongs to the *choosing* half, which may be looked at while defaults are designed, or to
  the *confirming* half, of which claims are made: by the first byte of the sha256 of its name, even is
  choosing. {", ".join(CHOOSING)} were looked at before, and are choosing sets in any case. Regression sets
  all confirm.
  - Classification, choosing: {_listed_sets(CLASSIFICATION, "choosing")}.
  - Classification, confirming: {_listed_sets(CLASSIFICATION, "confirming")}.
  - Views, choosing: {_listed_sets(VIEWS, "choosing")}.
  - Views, confirming: {_listed_sets(VIEWS, "confirming")}.
- **Tables** are as they come, but for splice and promoters (a column of 0 and 1 for each letter at each
  position) and reuters_r8_top5 (log(1 + count) of the {N_WORDS} words that are in most texts). friedman1 to 3
  are {N_FRIEDMAN} rows of scikit-learn's generators, with noise of standard deviation 1, 125 and 0.1.
- **Views**: views of numbers have a linear and a Gaussian kernel of median width, on standardized columns;
  words ({", ".join(texts)}) are log(1 + count) in rows of length 1, with the same kernels, not standardized;
  protein_fold_dd has linear kernels. Classes of fewer than {MIN_CLASS} samples are left out, and so are the
  columns of tara_oceans that say where a sample is from. Precomputed kernels, without columns
  ({", ".join(given)}): diffusion kernels of two networks over {N_PROTEINS} yeast proteins (is it one of
  metabolism?); the nine published kernels of drugs, made positive semidefinite (does a drug bind the target
  that most drugs bind?).
- **Ours** have their defaults. "Seven kernels" are the default kernels of before: linear, quadratic and
  Gaussians of 0.25, 0.5, 1, 2 and 4 median distances, standardized, of unit diagonal.
- **Rivals on tables**: `SVC` and logistic regression on standardized columns. SVC and SVR, tuned: C from
  {_grid(makers.C_GRID)} by factors of 4, gamma from {_grid(makers.GAMMA_GRID)} by factors of 2 over the
  number of columns, {makers.INNER_FOLDS} inner folds; SVR has standardized values as well. Forests have
  {makers.N_TREES} trees. Boosted trees are scikit-learn's histogram ones, {makers.BOOSTING_STEPS} steps
  without early stopping, learning rates {" and ".join(map(str, makers.BOOSTING_GRID["learning_rate"]))},
  {" and ".join(map(str, makers.BOOSTING_GRID["max_leaf_nodes"]))} leaves, chosen on {makers.BOOSTING_FOLDS}
  inner folds, with at least {makers.BOOSTING_LEAF[1]} rows in a leaf below {makers.BOOSTING_LEAF[0]} training
  rows; where columns × classes exceed {makers.MAX_TREES} (olivetti) they have the defaults. Logistic
  regression and ridge choose their penalty on {makers.INNER_FOLDS} folds and by leave-one-out.
- **Rivals on views** have the same kernels as ours. Plain sum: equal weights, C tuned. Late fusion: the mean
  of the probabilities of one SVM for each view, C tuned, calibrated on {makers.INNER_FOLDS} folds by a
  sigmoid for each class, or by one softmax of the scores: with few samples in a class the two differ much,
  either way. Stacking: logistic regression on the out-of-fold scores of these SVMs. Best single view: that of
  the best accuracy on inner folds. SVMs of a view end after {MAX_ITER:,} steps of libsvm. SVC and forest on
  all columns beside each other, standardized, or, where columns keep their scales, each view divided by one
  number; of precomputed kernels, the columns are the kernels with the training samples.
- **Scores**: areas under the ROC curve are means over the classes of one against the rest. Contestants
  without probabilities of their own are calibrated for the log-loss by a sigmoid on {makers.INNER_FOLDS}
  folds, in time that is not counted; for "seven kernels" that was left out.
- **CPU s**: of `fit`, searches included, on one thread; of `MKLClassifier` the median of three fits.
- **Wins and losses**: by the corrected resampled t-test (Nadeau & Bengio 2003) on each set at {LEVEL:.0%},
  with Holm's correction over the sets, and without. p-values are of Wilcoxon's one-sided signed rank test of
  the means over the sets, in brackets with Holm's correction over the rivals. Ranks: Demšar (2006); rank 1 is
  best.
- **Failures** are listed below. A contestant that failed on a fold has the last rank on that set; a failure
  of ours is a loss, and a set on which a rival failed is left out of the comparison with it."""


def claims_text(records: Sequence[Record]) -> str:
    """The figures to reach, with their verdicts."""
    rows = [[claim.what, claim.found or "–", claim.verdict] for claim in all_claims(records)]
    return "## Figures to reach\n\n" + markdown(["asked for", "found", "verdict"], rows)


def write_page(store: Store, out: Path) -> list[Path]:
    """Write the page and its pictures; what was written."""
    records = [record for record in store.records.values() if known(record)]
    folder, stem = out.parent, out.stem
    sections, pictures = [], []
    for make in (classification_part, regression_part, views_part, noise_part):
        text, drawn = make(records, folder, stem)
        sections.append(text)
        pictures += drawn
    about: Mapping[str, str] = describe_machine(())
    facts = "; ".join(f"{name} {value}" for name, value in about.items())
    text = "\n\n".join([
        "---\norphan: true\n---",
        "# Accuracy on tables and views",
        "Our estimators with nothing set, against tuned models of other kinds, on the same folds: by "
        "`make bench-tables` and `make bench-noise`.",
        counts_table(records),
        claims_text(records),
        *sections,
        protocol_text(),
        "## Failures",
        failures_text(records),
        unfinished_text(records),
        f"Measured by: {facts}. {commits_text(records)}",
    ])  # fmt: skip
    write_whole(out, f"{text}\n".encode())
    return [out, *pictures]


def known(record: Record) -> bool:
    """Whether a row is of a contestant and a set that there still are."""
    part = record.get("part")
    if part not in (*PARTS, NOISE) or record["contestant"] not in contestants_of(part):
        return False
    return part == NOISE or (record["set"] in ENTRIES and ENTRIES[record["set"]].part == part)

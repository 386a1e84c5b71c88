"""Do the sequences say more than the table beside them, and what do both say together?
====================================================================================

Made-up proteins: four measurements of each, of which two are shifted in one class, and a sequence of sixty
amino acids, which in seven of ten proteins of that class holds a motif of eight, somewhere, with one letter
replaced; of the other three only the table knows. Both were made strong enough to matter: this shows how it
is done, not how often it helps. Models of the table alone, of the sequences alone and of
both are learned from the same rows. For each it prints the accuracy on the other rows, as mean and standard
error over random draws, and what the differences on the same draws show; then the weight of every view.

Run it with ``python examples/do_sequences_say_more_than_the_table.py [--draws N] [--align]
[--picture FILE]``; ``--align`` adds a view of local alignments, which needs parasail (``pip install
'multikernel[sequences]'``).
"""

import argparse
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from multikernel import MKLClassifier, View
from multikernel.kernels import EmpiricalMap, Gappy, Gaussian, LocalAlignment, Mismatch, Spectrum

N_TRAIN, N_TEST, LENGTH = 120, 200, 60
LETTERS, MOTIF = "ACDEFGHIKLMNPQRSTVWY", "HWCKYPMD"
MEASUREMENTS = ["mass", "charge", "solubility", "half_life"]

TABLE = [View("measurements", Gaussian(), MEASUREMENTS, normalize="diagonal")]
SEQUENCES = [
    View("exact patterns", Spectrum(k=3, alphabet="protein"), "sequence", "unit_diagonal"),
    View("one mismatch", Mismatch(k=4, mismatches=1, alphabet="protein"), "sequence", "unit_diagonal"),
    View("one gap", Gappy(k=3, gaps=1, alphabet="protein"), "sequence", "unit_diagonal"),
]
ALIGNMENTS = View("alignments", EmpiricalMap(LocalAlignment()), "sequence", ("center", "unit_diagonal"))


def make_proteins(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """A table of measurements and sequences, and the classes of its rows."""
    y = rng.integers(0, 2, n)
    measurements = rng.normal(size=(n, len(MEASUREMENTS)))
    measurements[:, :2] += y[:, None]
    table = pd.DataFrame(measurements, columns=MEASUREMENTS)
    table["sequence"] = [make_sequence(label == 1 and rng.random() < 0.7, rng) for label in y]
    return table, y


def make_sequence(has_motif: bool, rng: np.random.Generator) -> str:
    letters = rng.choice(list(LETTERS), LENGTH)
    if has_motif:
        motif = np.array(list(MOTIF))
        motif[rng.integers(len(motif))] = rng.choice(list(LETTERS))
        place = int(rng.integers(LENGTH - len(motif) + 1))
        letters[place : place + len(motif)] = motif
    return "".join(letters)


def run(n_draws: int, contenders: dict[str, list[View]]) -> tuple[pd.DataFrame, pd.Series]:
    """Accuracies, one row for each draw; mean weights of the views of the last contender."""
    accuracies: list[dict[str, Any]] = []
    weights = []
    for draw in range(n_draws):
        X, y = make_proteins(N_TRAIN + N_TEST, np.random.default_rng(draw))
        scores = {}
        for name, views in contenders.items():
            model = MKLClassifier(views, C=10.0).fit(X[:N_TRAIN], y[:N_TRAIN])
            scores[name] = model.score(X[N_TRAIN:], y[N_TRAIN:])
        accuracies.append(scores)
        weights.append(model.weights_frame()["weight"])
    return pd.DataFrame(accuracies), pd.DataFrame(weights).mean()


def verdict(gains: pd.Series) -> str:
    """What the differences on the same draws show, with two standard errors as the bar."""
    mean, error = float(gains.mean()), float(gains.sem())
    word = "more" if mean > 2.0 * error else "less" if mean < -2.0 * error else "no clear difference"
    return f"{word}: {100.0 * mean:+.1f} ± {100.0 * error:.1f} points"


def describe(accuracies: pd.DataFrame, weights: pd.Series) -> None:
    """Print the accuracies, how both sources compare with each, and the weights."""
    for name, values in accuracies.items():
        print(f"{name:<16} {100.0 * values.mean():5.1f} ± {100.0 * values.sem():.1f} % right")
    print(f"sequences beside the table, {verdict(accuracies['sequences'] - accuracies['table'])}")
    for source in ("table", "sequences"):
        print(f"both beside the {source} alone, {verdict(accuracies['both'] - accuracies[source])}")
    print("\nweights of the views where both are learned from, mean over the draws")
    for name, weight in weights.items():
        print(f"  {name:<16} {weight:.2f}")


def draw_picture(accuracies: pd.DataFrame, weights: pd.Series, path: Path) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    left.barh(accuracies.columns, 100.0 * accuracies.mean(), xerr=100.0 * accuracies.sem(), color="tab:blue")
    left.set(xlabel="% right on other rows", xlim=(50, 100), title="what is learned from")
    right.barh(weights.index, weights, color="tab:orange")
    right.set(xlabel="weight", title="both: which view counts")
    for ax in (left, right):
        ax.invert_yaxis()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=10, help="random draws (default 10)")
    parser.add_argument("--align", action="store_true", help="add a view of local alignments (parasail)")
    parser.add_argument(
        "--picture", type=Path, default=Path("run/sequences.png"), help="where the picture goes"
    )
    options = parser.parse_args(arguments)
    if options.draws < 2:
        parser.error("--draws must be at least 2, for a standard error.")
    sequences = [*SEQUENCES, ALIGNMENTS] if options.align else SEQUENCES
    contenders = {"table": TABLE, "sequences": sequences, "both": TABLE + sequences}
    accuracies, weights = run(options.draws, contenders)
    describe(accuracies, weights)
    draw_picture(accuracies, weights, options.picture)
    print(f"Wrote {options.picture}")


if __name__ == "__main__":
    main()

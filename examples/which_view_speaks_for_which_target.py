"""Which view speaks for which target?
====================================

Hundreds of responses to one stimulus, as of voxels in the brain: each is explained by one to three of five
views of the stimulus, and by noise. ``MKLRidgeCV(targets="each")`` chooses weights of the views and alpha for
each response; ``score_by_view`` splits its R² on held-out samples into the parts of the views. The picture
has the responses below each other, and how many of them each view dominates.

Beside it stand weights that all responses share. They predict worse here, where responses differ, though the
parts of their R² say nearly as well which view a response follows. The data are made up, so that the truth is
known.

Run it with ``python examples/which_view_speaks_for_which_target.py [--targets N] [--picture FILE]``.
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from multikernel import MKLRidgeCV, viz
from multikernel.kernels import Linear

VIEWS = {"sound": 10, "motion": 20, "faces": 30, "words": 40, "layout": 50}
ALPHAS = np.logspace(-2, 3, 8)
Draw = tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]


def draw(n: int, n_targets: int, seed: int = 0) -> Draw:
    """Tables of the views, responses, and the true share of each view in each response."""
    rng = np.random.default_rng(seed)
    tables = {name: rng.normal(size=(n, d)) for name, d in VIEWS.items()}
    shares = np.zeros((n_targets, len(VIEWS)))
    for row in shares:
        used = rng.choice(len(VIEWS), size=rng.integers(1, 4), replace=False)
        row[used] = rng.dirichlet(np.ones(used.size))
    Y = rng.normal(size=(n, n_targets))
    for m, table in enumerate(tables.values()):
        part = table @ rng.normal(size=(table.shape[1], n_targets))
        Y += 1.5 * np.sqrt(shares[:, m]) * part / part.std(axis=0)
    return tables, Y, shares


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--targets", type=int, default=300)
    parser.add_argument("--picture", type=Path, default=Path("run/which_view_speaks_for_which_target.png"))
    asked = parser.parse_args(arguments)
    tables, Y, shares = draw(400, asked.targets)
    seen = {name: table[:250] for name, table in tables.items()}
    new = {name: table[250:] for name, table in tables.items()}
    kernels = {name: Linear() for name in VIEWS}
    print(f"{'weights':8} {'held-out R²':>12} {'dominant view found':>20}")
    for targets in ("each", "shared"):
        own = {"targets": "each"} if targets == "each" else {"norms": [1.0]}
        model = MKLRidgeCV(kernels, alphas=ALPHAS, **own).fit(seen, Y[:250])
        parts = model.score_by_view(new, Y[250:])
        found = parts[list(VIEWS)].to_numpy().argmax(axis=1) == shares.argmax(axis=1)
        print(f"{targets:8} {parts['total'].mean():12.3f} {found.mean():20.0%}")
        if targets == "each":
            figure, (left, right) = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
            viz.target_views(parts, ax=left)
            viz.dominant_views(parts, ax=right)
            asked.picture.parent.mkdir(parents=True, exist_ok=True)
            figure.savefig(asked.picture)
            plt.close(figure)


if __name__ == "__main__":
    main()

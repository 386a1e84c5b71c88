"""How many copies of a linear kernel does a gate use? As figure 3.3 of Gönen's thesis, and with a prior.

``python -m benchmarks.found_regions`` prints a table and writes docs/benchmarks/found_regions.md: GAUSS4, 400
training samples of each of five draws and 20000 of another draw for the test; 1 to 20 copies of a linear
kernel of unit diagonal, C = 10 or alpha = 0.1, without the prior and with it.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from multikernel import LocalizedMKLClassifier, View
from multikernel._files import write_whole
from multikernel.datasets import make_gauss
from multikernel.kernels import Linear
from multikernel.localized import LocalizedRidgeClassifier

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "found_regions.md"
COPIES = (1, 2, 3, 5, 10, 20)
DRAWS = range(40, 45)
USED = 0.01  # a kernel whose mean gate is above this counts as used
CASES: dict[str, tuple[type, dict[str, Any]]] = {
    "support vectors": (LocalizedMKLClassifier, {"C": 10.0, "gating_reg": 0.0}),
    "support vectors, prior": (
        LocalizedMKLClassifier,
        {"C": 10.0, "gating_reg": 0.0, "gating_sparsity": 10.0},
    ),
    "ridge": (LocalizedRidgeClassifier, {"alpha": 0.1}),
    "ridge, prior": (LocalizedRidgeClassifier, {"alpha": 0.1, "gating_sparsity": 1.0}),
}
HEAD = """---
orphan: true
---

# How many copies of a kernel a gate uses

Written by `python -m benchmarks.found_regions`. GAUSS4 as in figure 3.3 of Gönen's thesis, whose border has
three pieces: 400 training samples, five draws, 20000 test samples; copies of a linear kernel with a softmax
gate, `LocalizedMKLClassifier(C=10)` and `LocalizedRidgeClassifier(alpha=0.1)`, without a prior and with
`gating_sparsity=10` and `1`. These strengths were chosen after 1, 3 and 10 had been tried with support
vectors on three other draws, and 0.3, 1 and 3 with ridge on one. A kernel is used if its mean gate is above
0.01. Means and standard deviations over the draws; the best possible accuracy is 89.7 %.

| copies | machine | accuracy % | kernels used | support samples % |
|---|---|---|---|---|
"""


def measure(kind: type, options: dict[str, Any], n_copies: int) -> np.ndarray:
    """Accuracy, kernels used, support samples of each draw (n_draws, 3); shares in percent."""
    test = make_gauss("GAUSS4", n_samples=20_000, random_state=1)
    views = [
        View(f"line {k}", Linear(), transforms="unit_diagonal", standardize=True) for k in range(n_copies)
    ]
    found = []
    for draw in DRAWS:
        X, y = make_gauss("GAUSS4", n_samples=400, random_state=draw)
        model = kind(views, random_state=draw, **options).fit(X, y)
        used = np.count_nonzero(model.kernel_weights_ > USED)
        found.append((100.0 * model.score(*test), used, 100.0 * model.support_.size / len(y)))
    return np.array(found)


def main() -> None:
    warnings.simplefilter("ignore")
    rows = []
    for n_copies in COPIES:
        for name, (kind, options) in CASES.items():
            found = measure(kind, options, n_copies)
            told = " | ".join(
                f"{mean:.1f} ± {spread:.1f}"
                for mean, spread in zip(found.mean(axis=0), found.std(axis=0, ddof=1), strict=True)
            )
            rows.append(f"| {n_copies} | {name} | {told} |")
            print(rows[-1], flush=True)
    write_whole(PAGE, (HEAD + "\n".join(rows) + "\n").encode())


if __name__ == "__main__":
    main()

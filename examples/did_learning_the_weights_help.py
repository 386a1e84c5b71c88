"""Did learning the weights help?
==============================

Handwritten digits of scikit-learn in five views, one Gaussian kernel each, first as they are and then with as
many views of pure noise beside them. One call compares learned weights with the plain sum of the kernels and
with the best single kernel, under the same machine and on the same ten folds, and answers in one sentence:
where every view has something to say, the plain sum is hard to beat; where half of them say nothing, it is
not. The picture shows the scores of all folds and what each rule makes of the kernels.

Run it with ``python examples/did_learning_the_weights_help.py [--digits N] [--picture FILE]``.
"""

import argparse
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from multikernel import View, compare
from multikernel.datasets import load_digits_views
from multikernel.kernels import Gaussian
from multikernel.rules import AlignmentRule, CenteredAlignment, MarginMKL, WeightLearner

LEARNERS: dict[str, WeightLearner] = {
    "alignment of each kernel": AlignmentRule(centered=True),
    "alignment of their sum": CenteredAlignment(),
    "margin": MarginMKL(),
}
PLAIN: dict[str, Any] = {"standardize": False, "normalize": None}  # kernels as they are
SIMPLE = ["best single view", "plain sum"]


def with_noise(X: pd.DataFrame, views: dict[str, list[str]]) -> tuple[pd.DataFrame, dict[str, list[str]]]:
    """As many views again, of one random number each."""
    names = [f"noise {i}" for i in range(1, len(views) + 1)]
    numbers = np.random.default_rng(0).normal(size=(len(X), len(names)))
    noise = pd.DataFrame(numbers, columns=names, index=X.index)
    return pd.concat([X, noise], axis=1), views | {name: [name] for name in names}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--digits", type=int, default=120, help="of the 1797 (default 120)")
    parser.add_argument("--picture", type=Path, default=Path("run/did_learning_the_weights_help.png"))
    options = parser.parse_args(arguments)
    digits = load_digits_views()
    X, y = digits.X.iloc[: options.digits], digits.y[: options.digits]
    found = None
    for title, (table, views) in {
        "Five views of a digit": (X, digits.views),
        "Five views and five of noise": with_noise(X, digits.views),
    }.items():
        kernels = [View(name, Gaussian(), columns, **PLAIN) for name, columns in views.items()]
        found = compare(LEARNERS, table, y, kernels=kernels, baselines=SIMPLE, progress=False)
        columns = [("score", "mean"), ("score", "sd")]
        columns += [("plain sum", what) for what in ("difference", "p", "p_holm", "verdict")]
        text = found.to_frame()[columns].to_string(float_format="{:.3f}".format, na_rep="")
        print(f"{title}, {len(y)} digits\n\n{found.answer}\n\n{text}\n")
    assert found is not None
    options.picture.parent.mkdir(parents=True, exist_ok=True)
    figure = found.plot().figure
    figure.savefig(options.picture, dpi=120)
    plt.close(figure)
    print(f"The picture, of the views with noise, is in {options.picture}.")


if __name__ == "__main__":
    main()

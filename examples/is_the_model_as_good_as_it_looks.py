"""Is the model as good as it looks?
=================================

Made-up patients with three tables: one separates the ill from the well, one separates them less, one is
noise. The score on the samples that a model was fitted to is too high. `evaluate` refits the model on
folds; the text says what is left of the score, and the pictures show:

- whether the weights of the views are the same on other folds, and what is lost without each view;
- how the model compares with simpler ones: the best single view and the plain sum of the kernels;
- the held-out predictions: confusion matrix, ROC curve, and calibration of the probabilities;
- the learning curve: whether more patients would help.

Run it with ``python examples/is_the_model_as_good_as_it_looks.py [--patients N] [--picture FILE]``.
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from multikernel import Gaussian, Linear, MKLClassifier, evaluate, viz

SIGNAL = {"blood": 0.7, "scan": 0.4, "noise": 0.0}  # how far the classes are apart in the first two columns
PARTS = ["stability", "without_view", "baselines", "held_out", "overfitting", "learning_curve"]


def make_patients(n: int, seed: int = 0) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Three tables of five columns each, and who is ill."""
    rng = np.random.default_rng(seed)
    ill = rng.integers(0, 2, size=n)
    tables = {name: rng.normal(size=(n, 5)) for name in SIGNAL}
    for name, shift in SIGNAL.items():
        tables[name][:, :2] += shift * (2 * ill - 1)[:, None]
    return tables, np.where(ill == 1, "ill", "well")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--patients", type=int, default=120)
    parser.add_argument("--picture", type=Path, default=Path("run/as_good_as_it_looks.png"))
    given = parser.parse_args(arguments)
    tables, outcome = make_patients(given.patients)
    kernels = {"blood": Gaussian(), "scan": Linear(), "noise": Gaussian()}
    model = MKLClassifier(kernels).fit(tables, outcome)
    simple = ["best single view", "plain sum"]
    found = evaluate(model, tables, outcome, parts=PARTS, baselines=simple, random_state=0)

    print(found)
    print(found["overfitting"]["answer"])
    print(found["learning_curve"]["answer"])
    print("\nThe model, its rivals, and the model without each view:")
    print(found.to_frame()[["score", "difference", "low", "high", "verdict"]].round(3).to_string())
    print("\nWeights of the views over the folds:")
    print(found.to_frame("stability").round(3).to_string())

    figure, axes = plt.subplots(4, 2, figsize=(14, 17), layout="constrained")
    pictures = [viz.stability, viz.without_view, viz.baselines, viz.confusion, viz.roc, viz.calibration]
    for draw, ax in zip([*pictures, viz.learning_curve], axes.flat, strict=False):
        draw(found, ax=ax)
    viz.weights(model, ax=axes.flat[-1])
    given.picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(given.picture, dpi=110)
    plt.close(figure)
    print(f"\nThe picture is in {given.picture}.")


if __name__ == "__main__":
    main()

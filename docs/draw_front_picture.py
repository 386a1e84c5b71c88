"""Draw the picture of the README: weights of five views of digits over refits, and the learned kernel.

python docs/draw_front_picture.py      writes docs/images/digits.png
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from multikernel import MKLClassifier, viz
from multikernel.datasets import load_digits_views
from multikernel.inspection import evaluate
from multikernel.kernels import Gaussian

PATH = Path(__file__).parent / "images" / "digits.png"


def main() -> None:
    """Fit the model of the README, evaluate it, draw."""
    digits = load_digits_views()
    X, y = digits.X[:500], digits.y[:500]
    views = [(name, Gaussian(), columns) for name, columns in digits.views.items()]
    model = MKLClassifier(views, C=10, multiclass="shared").fit(X, y)
    evaluation = evaluate(model, X, y, parts=("stability", "embedding"))
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    viz.stability(evaluation, ax=left)
    viz.embedding(evaluation, ax=right)
    PATH.parent.mkdir(exist_ok=True)
    figure.savefig(PATH, dpi=110)


if __name__ == "__main__":
    main()

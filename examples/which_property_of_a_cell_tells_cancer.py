"""Which property of a cell nucleus tells a malignant tumor?
=========================================================

Scikit-learn's breast cancer data: ten properties of cell nuclei from 569 tumors, each as mean, standard error
and worst value. The properties form six views: size, outline, texture, smoothness, symmetry and roughness.

The script fits ``MKLClassifierCV`` with one linear kernel for each view to two thirds of the tumors. The
penalty is chosen by cross-validation; the norm of the kernel weights is 1, so that views that are not needed
get a small weight or none. Then ``evaluate``

- refits the model on folds: how much do the weights vary, and what is lost without each view?
- compares it with the best single view, the plain sum of the kernels and a tuned RBF SVM, on the same folds;
- predicts the other third of the tumors, which no fit has seen, and explains the most wrong predictions.

Everything goes into one HTML page that needs no network. Run it with
``python examples/which_property_of_a_cell_tells_cancer.py [--train N] [--report FILE]``.
"""

import argparse
import time
from collections.abc import Sequence
from typing import Any

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from multikernel import Linear, MKLClassifierCV, evaluate
from multikernel.report import save_report, summarize

VIEWS = {
    "size": ["radius", "perimeter", "area"],
    "outline": ["compactness", "concavity", "concave points"],
    "texture": ["texture"],
    "smoothness": ["smoothness"],
    "symmetry": ["symmetry"],
    "roughness": ["fractal dimension"],
}
PARTS = ["stability", "without_view", "baselines", "held_out", "overfitting", "embedding", "why"]
TITLE = "Which property of a cell nucleus tells a malignant tumor?"


def columns_of(properties: Sequence[str]) -> list[str]:
    """Each property has three columns."""
    return [column for name in properties for column in (f"mean {name}", f"{name} error", f"worst {name}")]


def load_tumors() -> tuple[Any, Any]:
    """Return the table of measurements and what each tumor is: "benign" or "malignant"."""
    data = load_breast_cancer(as_frame=True)
    return data.data, data.target_names[data.target]


def print_weights(found: Any) -> None:
    print("Share of each view in the kernel weights, with its range over ten refits")
    for row in found["stability"]["rows"]:
        low, high, share = row["low"], row["high"], row["share"]
        print(f"  {row['view']:<12} {share:4.0%}  [{low:4.0%}, {high:4.0%}]  {'█' * round(40 * share)}")


def print_scores(found: Any) -> None:
    print("\nAccuracy on folds: simpler models, and the model without each view")
    table = found.to_frame()[["score", "difference", "low", "high", "verdict"]].rename_axis(None)
    print(table.round(3).to_string(na_rep=""))


def print_new_tumors(found: Any) -> None:
    print(f"\nNew tumors. {found['cohort']['answer']}")
    print("The most wrong predictions, and what each view adds to the score (positive: malignant)")
    for row in found["why"]["rows"][:3]:
        parts = ", ".join(f"{part['name']} {part['value']:+.1f}" for part in row["steps"]["rows"])
        print(f"  tumor {row['id']}, {row['observed']}, predicted {row['predicted']}: {parts}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=TITLE)
    parser.add_argument(
        "--train", type=int, default=379, help="number of training tumors (default: 379 of 569)"
    )
    parser.add_argument("--report", default="run/report.html", help="where to write the page")
    options = parser.parse_args(arguments)

    start = time.perf_counter()
    X, y = load_tumors()
    X, X_new, y, y_new = train_test_split(X, y, train_size=options.train, stratify=y, random_state=0)
    views = [(name, Linear(), columns_of(properties)) for name, properties in VIEWS.items()]
    print(
        f"Fitting {len(views)} views of {len(y)} tumors. The first fit compiles for some seconds ...",
        flush=True,
    )
    model = MKLClassifierCV(views, norms=[1.0]).fit(X, y)
    print("Refitting on folds to judge the model ...\n", flush=True)
    found = evaluate(model, X, y, X_test=X_new, y_test=y_new, parts=PARTS, random_state=0)

    print_weights(found)
    print_scores(found)
    print(f"\n{found.summary}")
    print_new_tumors(found)
    notes = [
        f"The model was fitted to {len(y)} tumors, with C = {model.C_:g} chosen by cross-validation. The "
        f"other {len(y_new)} tumors had no part in any fit."
    ]
    path = save_report(summarize(model, evaluation=found, title=TITLE, notes=notes), options.report)
    print(f"\nDone in {time.perf_counter() - start:.0f} s. All of this, with pictures: {path}")
    print("Next: docs/start.md (five minutes), docs/choose.md (which method), examples/ (more questions).")


if __name__ == "__main__":
    main()

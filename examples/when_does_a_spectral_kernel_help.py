"""When does a kernel with a learned spectrum help, and when does it not?
======================================================================

Two problems in the plane, 200 points each, of which 20 are labelled: two rings, one inside the other, and two
moons. A Gaussian kernel over all points is learned from the labels in four ways: new eigenvalues for the
separability of the classes, the same in the order of the old ones, new eigenvalues for the alignment with the
classes, and a conformal factor. For the
nearest neighbour and for a support vector machine it prints the accuracy on the unlabelled points, beside
that with the plain kernel, as mean and standard error over random draws, and what the differences on the same
draws show. The picture has one draw of each problem as every kernel sees it: its kernel principal components.

The problems are ours, in the manner of the toy problem of Yeung, Chang & Dai (2006). The width of the
Gaussian is the same for all, the mean squared distance, so that nothing but the kernel differs.

Run it with ``python examples/when_does_a_spectral_kernel_help.py [--draws N] [--picture FILE]``.
"""

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.decomposition import KernelPCA
from sklearn.svm import SVC

from multikernel.kernels import Gaussian
from multikernel.spectral import KernelKNNClassifier, SpectralKernelClassifier

N_POINTS, N_LABELLED = 200, 20
PLAIN = "plain Gaussian"
LEARNED: dict[str, dict[str, Any]] = {
    "separability": {"method": "separability"},
    "in order": {"method": "separability", "order": "improved"},
    "alignment": {"method": "alignment"},
    "conformal": {"method": "conformal"},
}
CLASSIFIERS = {
    "nearest neighbour": KernelKNNClassifier("precomputed"),
    "support vector machine, C = 100": SVC(C=100.0, kernel="precomputed"),
}


class Draw(NamedTuple):
    """Points with their classes, labelled points first."""

    X: np.ndarray
    y: np.ndarray

    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Labelled points and their classes, the other points and theirs."""
        n = N_LABELLED
        return self.X[:n], self.y[:n], self.X[n:], self.y[n:]


def two_rings(rng: np.random.Generator) -> Draw:
    y = rng.permutation(np.arange(N_POINTS) % 2)
    angle = rng.uniform(0.0, 2.0 * np.pi, N_POINTS)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return Draw((1.0 + y)[:, None] * circle + rng.normal(scale=0.2, size=(N_POINTS, 2)), y)


def two_moons(rng: np.random.Generator) -> Draw:
    return Draw(*make_moons(N_POINTS, noise=0.25, random_state=int(rng.integers(2**31))))


PROBLEMS = {"two rings": two_rings, "two moons": two_moons}


def plain_kernel(draw: Draw) -> np.ndarray:
    """exp(−‖x − z‖² / σ²), with the mean squared distance of two points for σ²."""
    return Gaussian(gamma=0.5 / float(draw.X.var(axis=0, ddof=1).sum()))(draw.X)


def learned_kernel(draw: Draw, name: str) -> SpectralKernelClassifier:
    X, y, X_unlabelled, _ = draw.parts()
    model = SpectralKernelClassifier(**LEARNED[name], gamma="mean", standardize=False)
    return model.fit(X, y, X_unlabelled)


def accuracy_of(draw: Draw, K: np.ndarray, classifier: str) -> float:
    """With the kernel K (n, n), on the unlabelled points."""
    _, y, _, y_unlabelled = draw.parts()
    machine = clone(CLASSIFIERS[classifier]).fit(K[:N_LABELLED, :N_LABELLED], y)
    return float(machine.score(K[N_LABELLED:, :N_LABELLED], y_unlabelled))


def run(n_draws: int) -> pd.DataFrame:
    """One row for each problem, draw, classifier and kernel; ``ratio`` is that of the best eigenvector."""
    rows: list[list[Any]] = []
    for problem, make in PROBLEMS.items():
        for number in range(n_draws):
            draw = make(np.random.default_rng(number))
            models = {name: learned_kernel(draw, name) for name in LEARNED}
            kernels = {PLAIN: plain_kernel(draw)} | {name: model.kernel_ for name, model in models.items()}
            ratio = models["separability"].reg_star_
            for classifier in CLASSIFIERS:
                for name, K in kernels.items():
                    rows.append([problem, number, classifier, name, accuracy_of(draw, K, classifier), ratio])
    return pd.DataFrame(rows, columns=["problem", "draw", "classifier", "kernel", "accuracy", "ratio"])


def verdict(gains: pd.Series) -> str:
    """What the differences on the same draws show, with two standard errors as the bar."""
    mean, error = float(gains.mean()), float(gains.sem())
    word = "helps" if mean > 2.0 * error else "hurts" if mean < -2.0 * error else "makes no clear difference"
    return f"{word}: {100.0 * mean:+.1f} ± {100.0 * error:.1f} points"


def describe(table: pd.DataFrame) -> None:
    """Print the accuracies, and for every learned kernel whether it helps."""
    for (problem, classifier), part in table.groupby(["problem", "classifier"], sort=False):
        wide = part.pivot(index="draw", columns="kernel", values="accuracy")
        print(f"{problem}, {classifier}")
        print(f"  {PLAIN:<16} {100.0 * wide[PLAIN].mean():5.1f} ± {100.0 * wide[PLAIN].sem():.1f} %")
        for kernel in LEARNED:
            figures = f"{100.0 * wide[kernel].mean():5.1f} ± {100.0 * wide[kernel].sem():.1f} %"
            print(f"  {kernel:<16} {figures}  {verdict(wide[kernel] - wide[PLAIN])}")
        print()


def draw_picture(path: Path) -> None:
    """One draw of each problem, and its kernel principal components."""
    figure, axes = plt.subplots(len(PROBLEMS), 6, figsize=(18, 3.2 * len(PROBLEMS)), layout="constrained")
    for row, (problem, make) in zip(axes, PROBLEMS.items(), strict=True):
        draw = make(np.random.default_rng(0))
        scatter(row[0], draw.X, draw.y, f"{problem}, {N_LABELLED} of {N_POINTS} labelled")
        kernels = {PLAIN: plain_kernel(draw)}
        kernels |= {name: learned_kernel(draw, name).kernel_ for name in LEARNED}
        for ax, (name, K) in zip(row[1:], kernels.items(), strict=True):
            accuracy = accuracy_of(draw, K, "nearest neighbour")
            components = KernelPCA(2, kernel="precomputed").fit_transform(K)
            scatter(ax, components, draw.y, f"{name}: {100.0 * accuracy:.0f} % right")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def scatter(ax: Axes, Z: np.ndarray, y: np.ndarray, title: str) -> None:
    """The points by class; labelled ones have a black edge."""
    labelled = np.arange(len(y)) < N_LABELLED
    for label, colour, marker in ((0, "tab:blue", "o"), (1, "tab:orange", "^")):
        for known, size, edge in ((False, 14, "none"), (True, 45, "black")):
            chosen = (y == label) & (labelled == known)
            ax.scatter(
                Z[chosen, 0], Z[chosen, 1], s=size, c=colour, marker=marker, edgecolors=edge, alpha=0.9
            )
    ax.set(title=title, xticks=[], yticks=[])


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=20, help="random draws of each problem (default 20)")
    parser.add_argument(
        "--picture", type=Path, default=Path("run/spectral_kernels.png"), help="where the picture goes"
    )
    options = parser.parse_args(arguments)
    if options.draws < 2:
        parser.error("--draws must be at least 2, for a standard error.")
    table = run(options.draws)
    describe(table)
    ratios = table.groupby("problem", sort=False)["ratio"].median()
    print(
        "New eigenvalues keep the eigenvectors of the Gaussian. Along the best of them the scatter between "
        "the classes of the labelled points, over that inside the classes, is "
        + " and ".join(f"{ratio:.1f} for {problem}" for problem, ratio in ratios.items())
        + " (median): where no eigenvector tells the classes apart, no weights of them will."
    )
    draw_picture(options.picture)
    print(f"Wrote {options.picture}")


if __name__ == "__main__":
    main()

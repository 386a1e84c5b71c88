"""``python -m benchmarks.verdicts``: how often the verdicts on two models are right, in made-up comparisons.

Two models are compared by five repetitions of two-fold cross-validation on data that are drawn anew each
time. Where both are equally good by construction, a verdict other than "no difference" is false: its rate is
the *size*, at most 5 % of a test that keeps its level. Where one is better by 8 points, the rate is the
*power*. Models are equally good because their columns can be exchanged: what differs is which they read.

The factors of the rule in use were chosen on the problems `EQUAL` and are confirmed on others, `CONFIRMING`,
which were named beforehand. The page docs/benchmarks/verdicts.md is written from 1000 comparisons of each.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import binomtest, norm
from scipy.stats import t as student

from benchmarks.measuring import code_version, restart_on_threads
from benchmarks.running import say
from multikernel.inspection import corrected_t_test, f_test_5x2cv, repeated_cv_test

Array = np.ndarray
Predictor = Callable[[Array, Array, Array], Array]
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "verdicts.md"
REPEATS, LEVEL = 5, 0.05
N_COMPARISONS = 1000
MOST_SIZE, LEAST_POWER = 0.06, 0.8  # asked for, of the rule in use
RULE = "samples"  # the rule in use
KNOWN = "known"  # a test that knows the spread of the mean difference: none that keeps its level sees more


# ---------------------------------------------------------------------- models and data
def ridge(X: Array, y: Array, X_test: Array) -> Array:
    """Labels by ridge regression on -1 and 1."""
    A = np.c_[np.ones(len(X)), X]
    w = np.linalg.solve(A.T @ A + 1e-3 * np.eye(A.shape[1]), A.T @ y)
    return np.sign(w[0] + X_test @ w[1:])


def nearest(X: Array, y: Array, X_test: Array) -> Array:
    """Labels of the nearest training samples: a model that changes much with its training set."""
    distances = (X * X).sum(axis=1) - 2.0 * X_test @ X.T
    return y[distances.argmin(axis=1)]


def nearest_of(k: int) -> Predictor:
    """Labels of most of the k nearest training samples, k odd."""

    def predict(X: Array, y: Array, X_test: Array) -> Array:
        distances = (X * X).sum(axis=1) - 2.0 * X_test @ X.T
        near = np.argpartition(distances, k - 1, axis=1)[:, :k]
        return np.sign(y[near].sum(axis=1))

    return predict


def stump(X: Array, y: Array, X_test: Array) -> Array:
    """Labels by the best threshold of one column."""
    order = np.argsort(X, axis=0, kind="stable")
    below = np.cumsum(y[order], axis=0)
    gain = below[-1] - 2.0 * below[:-1]
    row, column = np.unravel_index(np.abs(gain).argmax(), gain.shape)
    ends = X[order[row, column], column], X[order[row + 1, column], column]
    side = 1.0 if gain[row, column] >= 0.0 else -1.0
    return np.where(X_test[:, column] > np.mean(ends), side, -side)


def gaussian(X: Array, y: Array, X_test: Array) -> Array:
    """Labels by ridge regression with a Gaussian kernel."""
    squares, gamma = (X * X).sum(axis=1), 0.5 / X.shape[1]
    K = np.exp(-gamma * (squares[:, None] + squares - 2.0 * X @ X.T))
    K_test = np.exp(-gamma * ((X_test * X_test).sum(axis=1)[:, None] + squares - 2.0 * X_test @ X.T))
    return np.where(K_test @ np.linalg.solve(K + 0.1 * np.eye(len(y)), y) > 0.0, 1.0, -1.0)


def centroids(X: Array, y: Array, X_test: Array) -> Array:
    """Labels of the nearer mean."""
    means = [X[y == label].mean(axis=0) for label in (-1.0, 1.0)]
    apart = [((X_test - mean) ** 2).sum(axis=1) for mean in means]
    return np.where(apart[1] < apart[0], 1.0, -1.0)


@dataclass(frozen=True)
class Problem:
    """Two models that read some columns each, of Gaussian classes of equal size at ±shift."""

    name: str
    predictor: Predictor
    shift: Array
    first: Sequence[int]
    second: Sequence[int]
    n: int = 300
    share: float = 0.5  # of the first class
    common: float = 0.0  # standard deviation of what all columns share

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Samples and their labels, -1 and 1."""
        y = np.where(np.arange(n) < round(self.share * n), 1.0, -1.0)
        X = rng.normal(size=(n, len(self.shift))) + y[:, None] * self.shift
        return X + (self.common * rng.normal(size=(n, 1)) if self.common else 0.0), y

    def right(self, columns: Sequence[int], train: tuple[Array, Array], test: tuple[Array, Array]) -> Array:
        """Whether each test sample is predicted right from these columns."""
        (X, y), (X_test, y_test) = train, test
        return (self.predictor(X[:, columns], y, X_test[:, columns]) == y_test).astype(float)


def _shift(*parts: tuple[int, float]) -> Array:
    return np.concatenate([np.full(count, value) for count, value in parts])


FIRST, LAST, ALL = range(5), range(5, 10), range(10)
NOISY = ([*range(5), *range(5, 10)], [*range(5), *range(10, 15)])
EQUAL = [
    Problem(f"{name}, n = {n}", predictor, shift, first, second, n)
    for n in (60, 300)
    for name, predictor, shift, first, second in (
        ("ridge, other columns", ridge, _shift((10, 0.25)), FIRST, LAST),
        ("ridge, other columns that say more", ridge, _shift((10, 0.6)), FIRST, LAST),
        ("ridge, other columns of noise", ridge, _shift((5, 0.3), (10, 0.0)), *NOISY),
        ("nearest neighbor, other columns", nearest, _shift((10, 0.3)), FIRST, LAST),
    )
]
EQUAL += [
    Problem(
        "5 nearest neighbors, other columns, n = 100", nearest_of(5), _shift((10, 0.3)), FIRST, LAST, 100
    ),
    Problem("5 nearest neighbors, other columns, n = 300", nearest_of(5), _shift((10, 0.3)), FIRST, LAST),
    Problem("stump, other columns, n = 300", stump, _shift((10, 0.4)), FIRST, LAST),
    Problem("Gaussian kernel, other columns, n = 200", gaussian, _shift((10, 0.35)), FIRST, LAST, 200),
    Problem("nearest neighbor, 7 to 3, n = 200", nearest, _shift((10, 0.3)), FIRST, LAST, 200, 0.7),
]
CONFIRMING = [
    Problem(
        "3 nearest neighbors, other columns, n = 150", nearest_of(3), _shift((10, 0.35)), FIRST, LAST, 150
    ),
    Problem("7 nearest neighbors, other columns, n = 300", nearest_of(7), _shift((10, 0.25)), FIRST, LAST),
    Problem(
        "nearest neighbor, columns with a common part, n = 300",
        nearest,
        _shift((10, 0.4)),
        FIRST,
        LAST,
        common=0.7,
    ),
    Problem("Gaussian kernel, 8 to 2, n = 300", gaussian, _shift((10, 0.4)), FIRST, LAST, 300, 0.8),
    Problem("nearer mean, other columns, n = 100", centroids, _shift((10, 0.3)), FIRST, LAST, 100),
    Problem("stump, other columns of noise, n = 150", stump, _shift((5, 0.4), (10, 0.0)), *NOISY, 150),
    Problem("ridge, 3 to 7, n = 500", ridge, _shift((10, 0.2)), FIRST, LAST, 500, 0.3),
]
# The shifts give the first model 8 points more when both learn from 150 samples, as the page shows.
BETTER = [
    Problem("ridge, all columns against half of them", ridge, _shift((5, 0.3), (5, 0.315)), ALL, FIRST),
    Problem("ridge, other columns", ridge, _shift((5, 0.42), (5, 0.2993)), FIRST, LAST),
    Problem("nearest neighbor, all columns against half", nearest, _shift((10, 0.378)), ALL, FIRST),
]


def true_difference(problem: Problem, n_sets: int = 400, seed: int = 1) -> float:
    """The difference of the accuracies of models that learn from half of the samples."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n_sets):
        train, test = problem.draw(problem.n // 2, rng), problem.draw(2000, rng)
        first, second = (problem.right(columns, train, test) for columns in (problem.first, problem.second))
        found.append(first.mean() - second.mean())
    return float(np.mean(found))


# ---------------------------------------------------------------------- one comparison
def differences(problem: Problem, rng: np.random.Generator) -> tuple[Array, Array]:
    """Differences of both models: of the samples (repetitions × n), and of the folds (repetitions × 2)."""
    X, y = problem.draw(problem.n, rng)
    of_samples, of_folds = np.zeros((REPEATS, problem.n)), np.zeros((REPEATS, 2))
    for repetition in range(REPEATS):
        order = rng.permutation(problem.n)
        halves = order[: problem.n // 2], order[problem.n // 2 :]
        for fold, (train, test) in enumerate((halves, halves[::-1])):
            parts = (X[train], y[train]), (X[test], y[test])
            right = problem.right(problem.first, *parts) - problem.right(problem.second, *parts)
            of_samples[repetition, test] = right
            of_folds[repetition, fold] = right.mean()
    return of_samples, of_folds


RULES: Mapping[str, tuple[str, Callable[[Array, Array], bool]]] = {
    "samples": (
        "samples and refits",
        lambda samples, folds: repeated_cv_test(samples).pvalue <= LEVEL,
    ),
    "one": (
        "one repetition",
        lambda samples, folds: repeated_cv_test(samples[:1]).pvalue <= LEVEL,
    ),
    "repetitions": (
        "samples and repetitions",
        lambda samples, folds: _by_repetitions(samples) <= LEVEL,
    ),
    "corrected": (
        "corrected t",
        lambda samples, folds: corrected_t_test(folds, test_size=0.5).pvalue <= LEVEL,
    ),
    "F": ("5×2 F", lambda samples, folds: f_test_5x2cv(folds).pvalue <= LEVEL),
    "F, 8 of 10": (
        "5×2 F and 8 of 10 folds",
        lambda samples, folds: bool(f_test_5x2cv(folds).pvalue <= LEVEL and _side(folds) >= 8),
    ),
    "sign": ("sign test", lambda samples, folds: _sign_test(folds) <= LEVEL),
}


def _by_repetitions(samples: Array) -> float:
    """p of the rule that takes the variance of one whole repetition for that of the training sets."""
    n = samples.shape[1]
    of_samples = samples.mean(axis=0)
    error = np.sqrt(of_samples.var(ddof=1) / n + samples.mean(axis=1).var(ddof=1))
    return float(2.0 * student.sf(abs(of_samples.mean()) / error, n - 1)) if error > 0.0 else 1.0


def _side(folds: Array) -> int:
    return max(int((folds > 0).sum()), int((folds < 0).sum()))


def _sign_test(folds: Array) -> float:
    above, below = int((folds > 0).sum()), int((folds < 0).sum())
    return float(binomtest(above, above + below).pvalue) if above + below else 1.0


def rates(problem: Problem, n_comparisons: int, seed: int = 0) -> dict[str, float]:
    """How often each rule says that the models differ."""
    rng = np.random.default_rng(seed)
    found: dict[str, int] = dict.fromkeys(RULES, 0)
    means = np.empty(n_comparisons)
    for i in range(n_comparisons):
        of_samples, of_folds = differences(problem, rng)
        means[i] = of_samples.mean()
        for name, (_, rule) in RULES.items():
            found[name] += bool(rule(of_samples, of_folds))
    shown = {name: count / n_comparisons for name, count in found.items()}
    return {**shown, KNOWN: _known_spread(means)}


def _known_spread(means: Array) -> float:
    """How often a test would see the difference that knew the standard deviation of these means."""
    spread = float(means.std(ddof=1))
    if spread == 0.0:
        return float(means.any())
    ratio = abs(float(means.mean())) / spread
    quantile = float(norm.isf(LEVEL / 2.0))
    return float(norm.sf(quantile - ratio) + norm.cdf(-quantile - ratio))


# ---------------------------------------------------------------------- page
def page(n_comparisons: int) -> str:
    """The page, of comparisons made now."""
    equal = {problem.name: rates(problem, n_comparisons) for problem in EQUAL}
    confirming = {problem.name: rates(problem, n_comparisons, seed=1) for problem in CONFIRMING}
    better = {problem.name: rates(problem, n_comparisons) for problem in BETTER}
    truth = {problem.name: true_difference(problem) for problem in BETTER}
    sizes = {**equal, **confirming}
    largest = max(found[RULE] for name, found in sizes.items() if name.endswith("n = 300"))
    everywhere = max(found[RULE] for found in sizes.values())
    heads = [label for label, _ in RULES.values()]
    lines = [
        "---",
        "orphan: true",
        "---",
        "",
        "# Are the verdicts right?",
        "",
        "How often `compare` and `evaluate` say that two models differ, in made-up comparisons by five "
        "repetitions of two-fold cross-validation at the level of 5 %. The rule in use is *samples and "
        "refits* (`multikernel.inspection.repeated_cv_test`); for scores that are no means over samples "
        "it is the *corrected t* test (`corrected_t_test`). *One repetition* is the rule in use for folds "
        "that are not repeated, here for the first repetition of the five; *samples and repetitions* was the "
        "rule before. "
        f"{n_comparisons} comparisons in each row, so that the standard error of a rate of 5 % is "
        f"{np.sqrt(0.05 * 0.95 / n_comparisons):.1%} and of 80 % {np.sqrt(0.8 * 0.2 / n_comparisons):.1%}; "
        f"by `python -m benchmarks.verdicts` at {code_version()}.",
        "",
        "| asked for | found | verdict |",
        "|---|--:|--:|",
        f"| size at n = 300, at most {MOST_SIZE:.0%} | {largest:.1%} | {_verdict(largest <= MOST_SIZE)} |",
        f"| size in every row, at most {MOST_SIZE:.0%} | {everywhere:.1%} | "
        f"{_verdict(everywhere <= MOST_SIZE)} |",
        *(
            f"| power at 8 points, n = 300, {name}; at least {LEAST_POWER:.0%} | {found[RULE]:.1%} | "
            f"{_verdict(found[RULE] >= LEAST_POWER)} |"
            for name, found in better.items()
        ),
        "",
        "## Size: both models are equally good",
        "",
        "The factors of the rule were chosen on these:",
        "",
        *_size_table(equal, heads),
        "",
        "and are confirmed on others, named beforehand and not looked at before:",
        "",
        *_size_table(confirming, heads),
        "",
        "## Power: one model is better",
        "",
        "n = 300, differences of the accuracy of models that learn from 150 samples. *Spread known* is how "
        "often a test would see the difference that knew the standard deviation of the mean difference over "
        "all data sets: it is a bound for tests of which samples are predicted right, which have to estimate "
        "it.",
        "",
        "| models | difference | " + " | ".join([*heads, "spread known"]) + " |",
        "|---|--:|" + "--:|" * (len(heads) + 1),
        *(
            f"{_row(f'{name} | {100.0 * truth[name]:.1f} points', found)} {found[KNOWN]:.1%} |"
            for name, found in better.items()
        ),
        "",
        "Two models that read the same samples by other columns make errors that have little in common: "
        "their difference is less certain than that of models of which one reads what the other reads, and "
        "300 samples are too few to see 8 points in four of five comparisons, whatever the test.",
        "",
        "The F test rejects too often where models change much with their training set (nearest neighbor), "
        "the sign test everywhere, since the folds share most of their samples. The corrected t test keeps "
        "its level and sees least.",
    ]
    return "\n".join(lines) + "\n"


def _size_table(found: Mapping[str, Mapping[str, float]], heads: Sequence[str]) -> list[str]:
    return [
        "| models | " + " | ".join(heads) + " |",
        "|---|" + "--:|" * len(heads),
        *(_row(name, row) for name, row in found.items()),
    ]


def _verdict(reached: bool) -> str:
    return "met" if reached else "**missed**"


def _row(name: str, found: Mapping[str, float]) -> str:
    return f"| {name} | " + " | ".join(f"{found[rule]:.1%}" for rule in RULES) + " |"


def main() -> None:
    """Simulate, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verdicts", description=__doc__)
    parser.add_argument("--comparisons", type=int, default=N_COMPARISONS, help="of each kind")
    parser.add_argument("--out", type=Path, default=PAGE, help="where the page is written")
    asked = parser.parse_args()
    restart_on_threads(1, "benchmarks.verdicts")
    asked.out.write_text(page(asked.comparisons), encoding="utf-8")
    say(f"wrote {asked.out}")


if __name__ == "__main__":
    main()

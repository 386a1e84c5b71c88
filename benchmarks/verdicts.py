"""``python -m benchmarks.verdicts``: how often the verdicts on two models are right, in made-up comparisons.

Two models are compared by five repetitions of two-fold cross-validation, or by ten folds, on data that are
drawn anew each time. Where both are equally good by construction, a verdict other than "no difference"
is false: its rate is the *size*, at most 5 % of a test that keeps its level. Where one is better by 8 points,
the rate is the *power*. Models are equally good because their columns can be exchanged: what differs is which
they read. Beside the power stands that of an oracle: the best test that knows how the difference is
distributed.

The factors of the rule in use were chosen on the problems `EQUAL` and are confirmed on others, `CONFIRMING`,
which were named beforehand. The page docs/benchmarks/verdicts.md is written from 1000 comparisons of each.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy.special import gammaln, xlogy
from scipy.stats import binomtest, norm
from scipy.stats import t as student

from benchmarks.measuring import code_version, restart_on_threads
from benchmarks.running import say
from multikernel.inspection import corrected_t_test, f_test_5x2cv, repeated_cv_test

Array = np.ndarray
Predictor = Callable[[Array, Array, Array], Array]
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "verdicts.md"
REPEATS, LEVEL = 5, 0.05
Design = tuple[int, int]  # repetitions and folds
HALVES: Design = (REPEATS, 2)
TENTHS: Sequence[Design] = ((1, 10), (REPEATS, 10))
DESIGNS: Sequence[Design] = (HALVES, (4 * REPEATS, 2), *TENTHS)
N_COMPARISONS = 1000
MOST_SIZE, LEAST_POWER = 0.06, 0.8  # asked for, of the rule in use
RULE = "samples"  # the rule in use
KNOWN = "known"  # a test that knows the spread of the mean difference: none that keeps its level sees more
ORACLE = "oracle"  # the same at the size that is allowed, by the distribution itself


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


def outcomes(problem: Problem, n_sets: int = 400, seed: int = 1) -> tuple[float, float]:
    """How often the first model alone is right, and the second alone, of models from half of the samples."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n_sets):
        train, test = problem.draw(problem.n // 2, rng), problem.draw(2000, rng)
        first, second = (problem.right(columns, train, test) for columns in (problem.first, problem.second))
        found.append(((first > second).mean(), (second > first).mean()))
    a, b = np.mean(found, axis=0)
    return float(a), float(b)


def best_power(first: float, second: float, n: int, level: float = MOST_SIZE) -> float:
    """The power of the best test, of this level, of n pairs of predictions by two fixed models.

    Of n samples, A are predicted right by the first model alone and B by the second alone; `first` and
    `second` are the chances of that. By Neyman and Pearson no test of equal chances, with the same sum, has a
    larger mean power against this difference and the opposite one than the likelihood ratio of (A, B).

    Examples
    --------
    >>> round(best_power(0.5, 0.5, 20), 6), best_power(0.5, 0.0, 100) > 0.9999
    (0.06, True)
    """
    A, B = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    possible = n - B >= A
    A, B = A[possible], B[possible]
    ways = gammaln(n + 1) - gammaln(A + 1) - gammaln(B + 1) - gammaln(n - A - B + 1)

    def log_chance(a: float, b: float) -> Array:
        return ways + xlogy(A, a) + xlogy(B, b) + xlogy(n - A - B, 1.0 - a - b)

    mean = (first + second) / 2.0
    equal = log_chance(mean, mean)
    apart = np.logaddexp(log_chance(first, second), log_chance(second, first)) - np.log(2.0)
    possible = np.isfinite(apart)
    order = np.argsort(np.where(possible, equal - np.where(possible, apart, 0.0), np.inf), kind="stable")
    size, power = np.cumsum(np.exp(equal[order])), np.cumsum(np.exp(apart[order]))
    return float(np.interp(level, np.append(0.0, size), np.append(0.0, power)))


# ---------------------------------------------------------------------- one comparison
def differences(problem: Problem, rng: np.random.Generator, design: Design = HALVES) -> tuple[Array, Array]:
    """Differences of both models: of the samples (repetitions × n), and of the folds."""
    X, y = problem.draw(problem.n, rng)
    n_repetitions, n_folds = design
    of_samples, of_folds = np.zeros((n_repetitions, problem.n)), np.zeros(design)
    for repetition in range(n_repetitions):
        order = rng.permutation(problem.n)
        parts = np.array_split(order, n_folds)
        for fold, test in enumerate(parts):
            train = np.concatenate([parts[k] for k in range(n_folds) if k != fold])
            both = (X[train], y[train]), (X[test], y[test])
            right = problem.right(problem.first, *both) - problem.right(problem.second, *both)
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
    return {**shown, KNOWN: _known_spread(means), ORACLE: _known_distribution(means)}


def rates_of_designs(
    problem: Problem, designs: Sequence[Design], n_comparisons: int, seed: int = 0
) -> dict[Design, dict[str, float]]:
    """How often the rule in use says that the models differ, by designs of cross-validation.

    Designs with fewer repetitions are the first ones of those with more.
    """
    found = {}
    for n_folds in dict.fromkeys(folds for _, folds in designs):
        own = [design for design in designs if design[1] == n_folds]
        most = max(own)
        rng = np.random.default_rng([seed, n_folds])
        drawn = [differences(problem, rng, most)[0] for _ in range(n_comparisons)]
        for design in own:
            parts = [samples[: design[0]] for samples in drawn]
            tests = [repeated_cv_test(part, test_size=1.0 / n_folds) for part in parts]
            means = np.array([part.mean() for part in parts])
            rejected = float(np.mean([test.pvalue <= LEVEL for test in tests]))
            found[design] = {RULE: rejected, ORACLE: _known_distribution(means), "difference": means.mean()}
    return found


def _known_distribution(means: Array) -> float:
    """The power of the best test, at the size allowed, of a mean that is distributed like these."""
    center = float(means.mean())
    limit = float(np.quantile(np.abs(means - center), 1.0 - MOST_SIZE))
    return float(np.mean(np.abs(means) > limit))


def _known_spread(means: Array) -> float:
    """How often a test would see the difference that knew the standard deviation of these means."""
    spread = float(means.std(ddof=1))
    if spread == 0.0:
        return float(means.any())
    ratio = abs(float(means.mean())) / spread
    quantile = float(norm.isf(LEVEL / 2.0))
    return float(norm.sf(quantile - ratio) + norm.cdf(-quantile - ratio))


# ---------------------------------------------------------------------- page
def page(n_comparisons: int, n_jobs: int = 1) -> str:
    """The page, of comparisons made now."""
    run, half = Parallel(n_jobs=n_jobs), n_comparisons // 2
    every = [*EQUAL, *CONFIRMING, *BETTER]
    seeds = [int(problem in CONFIRMING) for problem in every]
    rated = run(delayed(rates)(each, n_comparisons, seed) for each, seed in zip(every, seeds, strict=True))
    designed = run(delayed(rates_of_designs)(each, DESIGNS, half) for each in BETTER)
    of_ten = run(delayed(rates_of_designs)(each, TENTHS, half) for each in EQUAL + CONFIRMING)
    by_name = {problem.name: found for problem, found in zip(every, rated, strict=True)}
    equal, confirming, better = (
        {problem.name: by_name[problem.name] for problem in kind} for kind in (EQUAL, CONFIRMING, BETTER)
    )
    truth = {problem.name: true_difference(problem) for problem in BETTER}
    bounds = {problem.name: best_power(*outcomes(problem), problem.n) for problem in BETTER}
    designs = {problem.name: found for problem, found in zip(BETTER, designed, strict=True)}
    tenths = {problem.name: found for problem, found in zip(EQUAL + CONFIRMING, of_ten, strict=True)}
    of_tenths = max(found[RULE] for each in tenths.values() for found in each.values())
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
        f"| size in every row by ten folds, at most {MOST_SIZE:.0%} | {of_tenths:.1%} | "
        f"{_verdict(of_tenths <= MOST_SIZE)} |",
        *(
            f"| power at 8 points, n = 300, {name}; at least {LEAST_POWER:.0%} | {found[RULE]:.1%} | "
            f"{_verdict(found[RULE] >= LEAST_POWER)}; oracle {found[ORACLE]:.1%} |"
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
        f"By ten folds, once and five times, {n_comparisons // 2} comparisons in each row:",
        "",
        *_tenths_table(tenths),
        "",
        "## Power: one model is better",
        "",
        "n = 300, differences of the accuracy of models that learn from 150 samples.",
        "",
        "| models | difference | " + " | ".join([*heads, "spread known", "oracle"]) + " |",
        "|---|--:|" + "--:|" * (len(heads) + 2),
        *(
            f"{_row(f'{name} | {100.0 * truth[name]:.1f} points', found)} {found[KNOWN]:.1%} | "
            f"{found[ORACLE]:.1%} |"
            for name, found in better.items()
        ),
        "",
        *_ABOUT_ORACLES,
        "",
        *_designs_table(designs, bounds),
        "",
        *_conclusion(better, designs, bounds),
        "",
        "The F test rejects too often where models change much with their training set (nearest neighbor), "
        "the sign test everywhere, since the folds share most of their samples. The corrected t test keeps "
        "its level and sees least.",
    ]
    return "\n".join(lines) + "\n"


_ABOUT_ORACLES = (
    "*Spread known* is how often a test at the level of 5 % would see the difference that knew the standard "
    "deviation of the mean difference over all data sets. *Oracle* is the same at the size allowed, "
    f"{MOST_SIZE:.0%}, and with the whole distribution known: it rejects where the mean difference is larger "
    f"than all but {MOST_SIZE:.0%} are by chance. No test of the mean difference that keeps this size has "
    "more power; one that has to estimate the distribution has less.",
    "",
    "*Fixed models* is exact: by the lemma of Neyman and Pearson, no test of that size of one table of 300 "
    "pairs of predictions by two models that stay as they are has more power, on average over this "
    "difference and the opposite one. Repetitions average over models, so that theirs can be larger.",
    "",
    "The same by other designs. Models of ten folds learn from 270 samples, and the difference is that of "
    "such models.",
)


def _designs_table(
    found: Mapping[str, Mapping[Design, Mapping[str, float]]], bounds: Mapping[str, float]
) -> list[str]:
    rows = [
        f"| {name} | {_said(design)} | {100.0 * cell['difference']:.1f} points | {cell[RULE]:.1%} | "
        f"{cell[ORACLE]:.1%} | {bounds[name]:.1%} |"
        for name, cells in found.items()
        for design, cell in cells.items()
    ]
    heads = "| models | repetitions × folds | difference | rule in use | oracle | fixed models |"
    return [heads, "|---|--:|" + "--:|" * 4, *rows]


def _conclusion(
    better: Mapping[str, Mapping[str, float]],
    designs: Mapping[str, Mapping[Design, Mapping[str, float]]],
    bounds: Mapping[str, float],
) -> list[str]:
    """Whether what is asked can be had at all."""
    ten = (HALVES, *TENTHS)
    lines = []
    for name, found in better.items():
        best = max([found[ORACLE], *(designs[name][design][ORACLE] for design in ten)])
        can = "no test" if best < LEAST_POWER else "a test that knew the distribution"
        lines.append(
            f"- {name}: {can} of the mean difference has a power of {LEAST_POWER:.0%} or more at the size "
            f"allowed, by ten folds or five times as many. The oracle's largest is {best:.1%}, that of fixed "
            f"models {bounds[name]:.1%}; the rule reaches {found[RULE]:.1%}."
        )
    return [
        *lines,
        "",
        "Two models that read the same samples by other columns make errors that have little in common: "
        "their difference is less certain than that of models of which one reads what the other reads. More "
        "samples help, and more repetitions where models change much with their training set; ten folds in "
        "the place of two do not.",
    ]


def _tenths_table(found: Mapping[str, Mapping[Design, Mapping[str, float]]]) -> list[str]:
    heads = " | ".join(_said(design) for design in TENTHS)
    return [
        f"| models | {heads} |",
        "|---|" + "--:|" * len(TENTHS),
        *(
            f"| {name} | " + " | ".join(f"{cells[design][RULE]:.1%}" for design in TENTHS) + " |"
            for name, cells in found.items()
        ),
    ]


def _said(design: Design) -> str:
    return f"{design[0]} × {design[1]}"


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
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=PAGE, help="where the page is written")
    asked = parser.parse_args()
    restart_on_threads(1, "benchmarks.verdicts")
    asked.out.write_text(page(asked.comparisons, asked.jobs), encoding="utf-8")
    say(f"wrote {asked.out}")


if __name__ == "__main__":
    main()

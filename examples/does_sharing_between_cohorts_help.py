"""
Does sharing between cohorts help?
==================================

Four cohorts of different size measured the same ten views. In the first case the same three views matter in
all of them; in the second, each cohort has views of its own. Kernel weights are learned for each cohort
alone, drawn to common ones, and in common; the accuracy on new samples of each cohort says when sharing
helps, and when it hurts.
"""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from multikernel import Gaussian
from multikernel.tasks import MultiTaskMKLClassifier

SIZES, N_TEST, N_VIEWS, REPEATS = (25, 40, 80, 160), 400, 10, 5
WAYS = {"own": "own", "drawn to common": 2.0, "common": "common"}
views = [(f"view {m}", Gaussian(), [2 * m, 2 * m + 1]) for m in range(N_VIEWS)]


def draw(rng: Any, sizes: Sequence[int], views_of_cohort: Sequence[list[int]]) -> tuple[Any, Any]:
    """Samples of all cohorts, the last column with the cohort, and their classes."""
    cohort = np.repeat(np.arange(len(sizes)), sizes)
    X = np.column_stack([rng.normal(size=(cohort.size, 2 * N_VIEWS)), cohort])
    signs = np.array([1.0, -1.0, 1.0, -1.0])
    products = X[:, 0 : 2 * N_VIEWS : 2] * X[:, 1 : 2 * N_VIEWS : 2]
    score = np.array([products[i, views_of_cohort[int(t)]].sum() * signs[t] for i, t in enumerate(cohort)])
    return X, score + 0.3 * rng.normal(size=cohort.size) > 0


# %%
# Each way of sharing, on new samples of each cohort.
cases = {
    "the same three views": [[0, 1, 2]] * 4,
    "views of their own": [[0, 1, 2], [3, 4], [5, 6], [7, 8, 9]],
}
found: dict[tuple[str, str], list[Any]] = {}
for case, matter in cases.items():
    for repeat in range(REPEATS):
        rng = np.random.default_rng(repeat)
        X, y = draw(rng, SIZES, matter)
        X_new, y_new = draw(rng, (N_TEST,) * 4, matter)
        for way, sharing in WAYS.items():
            model = MultiTaskMKLClassifier(views, task_column=2 * N_VIEWS, sharing=sharing, C=10.0).fit(X, y)
            right = (model.predict(X_new) == y_new).reshape(4, N_TEST).mean(axis=1)
            found.setdefault((case, way), []).append(right)

for (case, way), shares in found.items():
    print(f"{case:22} {way:16}", " ".join(f"{share:.2f}" for share in np.mean(shares, axis=0)))

# %%
# Where the cohorts agree, the small ones gain from the large ones; where they do not, common weights lose.
fig, axes = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True, layout="constrained")
for ax, case in zip(axes, cases, strict=True):
    for way in WAYS:
        of_cohort = np.array(found[case, way])
        ax.errorbar(
            SIZES, of_cohort.mean(axis=0), of_cohort.std(axis=0) / np.sqrt(REPEATS), marker="o", label=way
        )
    ax.set(title=case, xlabel="samples of the cohort", xscale="log")
axes[0].set_ylabel("accuracy on new samples")
axes[1].legend()
gain = {
    case: np.mean(np.array(found[case, "common"]) - np.array(found[case, "own"]), axis=0)[0] for case in cases
}
for case, difference in gain.items():
    word = "better" if difference > 0 else "worse"
    print(f"{case}: in the smallest cohort, common weights are {abs(difference):.3f} {word} than own ones")

"""
Does agreement of views help?
=============================

Two views of the same samples measure one factor, each with noise of its own: where both agree is signal.
Then the factor is in one view only, and the other is noise. Ridge regression with a function for each view
and a penalty on their differences is fitted with several strengths of that penalty, rho, to 40 noisy values
of the factor; errors on new samples say when agreement helps, and when it hurts.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV

from multikernel import Linear
from multikernel.cooperative import CooperativeRidge

N, N_NEW, COLUMNS, REPEATS = 40, 500, 40, 12
RHOS = [0.0, 0.3, 1.0, 3.0, 10.0]
ALPHAS = [0.1, 1.0, 10.0, 100.0]
views = [("rna", Linear(), range(COLUMNS)), ("protein", Linear(), range(COLUMNS, 2 * COLUMNS))]


def draw(rng: Any, n: int, strengths: tuple[float, float]) -> tuple[Any, Any, Any]:
    """Samples whose views hold the factor in this strength, what was measured of it, and the factor."""
    factor = rng.normal(size=n)
    signal = factor[:, None] * np.repeat(strengths, COLUMNS)
    return signal + rng.normal(size=(n, 2 * COLUMNS)), factor + 1.5 * rng.normal(size=n), factor


# %%
# For each rho the best alpha by five folds, then the error on new samples; and rho itself by folds.
cases = {"a factor in both views": (0.3, 0.3), "a factor in one view": (0.3, 0.0)}
errors: dict[str, Any] = {}
chosen: dict[str, Any] = {}
for case, strengths in cases.items():
    of_case, of_choice = np.zeros((REPEATS, len(RHOS))), np.zeros(REPEATS)
    for repeat in range(REPEATS):
        rng = np.random.default_rng(repeat)
        X, y, _ = draw(rng, N, strengths)
        X_new, _, factor = draw(rng, N_NEW, strengths)
        searches = [
            GridSearchCV(
                CooperativeRidge(views, rho=rho), {"alpha": ALPHAS}, scoring="neg_mean_squared_error"
            )
            for rho in RHOS
        ]
        for place, search in enumerate(searches):
            of_case[repeat, place] = np.mean((search.fit(X, y).predict(X_new) - factor) ** 2)
        of_choice[repeat] = of_case[repeat, np.argmax([search.best_score_ for search in searches])]
    errors[case], chosen[case] = of_case, of_choice

for case, of_case in errors.items():
    print(
        f"{case:24}",
        " ".join(f"rho={rho:g}: {e:.3f}" for rho, e in zip(RHOS, of_case.mean(axis=0), strict=True)),
    )
    print(f"{'':24} rho chosen by folds: {chosen[case].mean():.3f}")

# %%
# Views that agree, and the additive model (rho = 0): late fusion (rho = 1), and the strongest agreement.
fig, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
for ax, (case, of_case) in zip(axes, errors.items(), strict=True):
    change = of_case - of_case[:, :1]
    ax.errorbar(range(len(RHOS)), change.mean(axis=0), change.std(axis=0) / np.sqrt(REPEATS), marker="o")
    ax.axhline(0.0, color="grey", lw=0.8)
    ax.set(title=case, xlabel="rho", xticks=range(len(RHOS)), xticklabels=[f"{rho:g}" for rho in RHOS])
    for place in (RHOS.index(1.0), len(RHOS) - 1):
        share = change[:, place].mean() / of_case[:, 0].mean()
        word = "less" if share < 0 else "more"
        print(f"{case}: rho={RHOS[place]:g} has {abs(share):.0%} {word} squared error than rho=0")
axes[0].set_ylabel("squared error, less that of rho=0")

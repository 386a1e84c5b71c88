"""Golden values of himalaya's random search: ``python tests/golden/make_himalaya.py``, with himalaya 0.4.11.

Writes ``tests/golden/himalaya.json``: kernels, targets, sets of weights, alphas and folds, and what
himalaya says of them: the scores of each set of weights at its best alpha, and the weights and alpha that it
chooses for each target. Tests read the file and do not need himalaya.
"""

import json
from pathlib import Path

import numpy as np

CANDIDATES = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.3, 0.6, 0.1]]
ALPHAS = [0.01, 0.1, 1.0, 10.0, 100.0]
N_FOLDS = 3


def problem():
    """Three views of 24 samples and 8 targets that depend on one view or on two."""
    rng = np.random.default_rng(5)
    views = [rng.normal(size=(24, d)) for d in (3, 4, 30)]
    mix = [rng.normal(size=(view.shape[1], 8)) for view in views]
    parts = rng.dirichlet([0.3] * 3, size=8)
    Y = sum(np.sqrt(parts[:, m]) * (V @ B) for m, (V, B) in enumerate(zip(views, mix, strict=True)))
    Y = Y + rng.normal(size=Y.shape)
    return [V @ V.T / V.shape[1] for V in views], (Y - Y.mean(axis=0)).round(6)


def main():
    import himalaya
    from himalaya.kernel_ridge import MultipleKernelRidgeCV
    from sklearn.model_selection import KFold

    kernels, Y = problem()
    Ks = np.round(kernels, 12)
    params = {"n_iter": np.array(CANDIDATES, float), "alphas": np.array(ALPHAS), "progress_bar": False}
    model = MultipleKernelRidgeCV(
        kernels="precomputed", solver="random_search", solver_params=params, cv=KFold(N_FOLDS)
    ).fit(Ks, Y)
    weights = np.exp(np.asarray(model.deltas_)).T  # gamma / alpha
    answer = {
        "source": f"himalaya {himalaya.__version__}, MultipleKernelRidgeCV, random_search, KFold({N_FOLDS})",
        "kernels": Ks.tolist(),
        "targets": Y.tolist(),
        "candidates": CANDIDATES,
        "alphas": ALPHAS,
        "n_folds": N_FOLDS,
        "scores": np.asarray(model.cv_scores_).tolist(),
        "weights_over_alpha": weights.tolist(),
        "predictions": np.asarray(model.predict(Ks)).tolist(),
    }
    path = Path(__file__).with_name("himalaya.json")
    path.write_text(json.dumps(answer) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

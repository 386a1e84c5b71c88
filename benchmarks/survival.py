"""Survival models: cost, its growth, a peer, and whether weights find the views that matter.

    python -m benchmarks.survival                 # all sections; some 5 minutes on one core
    python -m benchmarks.survival peer recovery   # some of them

Times are CPU times in this process; gaps are those of the judge (`benchmarks.survival_objective`) where the
kernels are small enough to hold. Figures to reach: Cox to a gap of 1e-6 at n = 500 with 10 kernels in at most
60 Cholesky factorizations of matrices n × n; a ranking 3 times faster than FastKernelSurvivalSVM at equal
objective; times that grow from 500 to 4000 samples with an exponent of 2.7 (Cox) and 2.2 (the others); Cox on
10⁵ rows × 10 views × rank 100 to a gap of 1e-3 in 60 s, linear in the rows; mean AUC of the weights 0.95.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.survival_objective import judge_survival
from multikernel import View
from multikernel.core.optim.loop import Options
from multikernel.core.svm import interior_point
from multikernel.core.weights.learn import learn_weights
from multikernel.datasets import make_survival_views
from multikernel.kernels import Linear
from multikernel.survival import MKLSurvival
from multikernel.survival.solver.cox import CoxLoss
from multikernel.survival.solver.factors import learn_smooth
from multikernel.survival.solver.ranking import RankingLoss
from multikernel.survival.solver.regression import CensoredEpsilonInsensitive

SEEDS = 50
SIZES = (500, 1000, 2000, 4000)
ROWS = (25_000, 50_000, 100_000)
REPEATS = 3


def times_of(risk: Any, rng: Any) -> tuple[Any, Any]:
    """Event and time of samples with proportional hazards, about a third of them censored."""
    death, end = rng.exponential(np.exp(-risk)), 2.0 * rng.exponential(size=risk.size)
    return death <= end, np.minimum(death, end)


def gaussian_problem(n: int, m: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """Kernels (m, n, n) of 20 columns each, the first two of which matter; event and time."""
    rng = np.random.default_rng(seed)
    views = rng.normal(size=(m, n, 20))
    event, t = times_of(views[: min(m, 2), :, 0].sum(axis=0), rng)
    Ks = np.empty((m, n, n))
    for K, Z in zip(Ks, views, strict=True):
        squares = np.einsum("ij,ij->i", Z, Z)
        np.exp((2.0 * Z @ Z.T - squares[:, None] - squares) / 40.0, out=K)
    return Ks, event, t


def losses_of(event: Any, t: Any) -> dict[str, Any]:
    return {
        "cox": CoxLoss(t, event, 1.0),
        "ranking": RankingLoss(t, event, 1.0),
        "regression": CensoredEpsilonInsensitive(-np.log(t), 1.0, 0.1, event),
    }


def cpu(call: Callable[[], Any], repeats: int = REPEATS) -> tuple[float, Any]:
    """The median CPU time, and the last answer."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        found = call()
        seconds.append(time.process_time() - start)
    return float(np.median(seconds)), found


# ---------------------------------------------------------------------- sections
def factorizations() -> None:
    """How many Cholesky factorizations of n × n matrices Cox takes."""
    n, counts = 500, []
    Ks, event, t = gaussian_problem(n, 10)
    plain = interior_point._cholesky

    def counted(matrix: Any) -> Any:
        counts.append(len(matrix))
        return plain(matrix)

    interior_point._cholesky = counted
    try:
        found = learn_weights(Ks, [CoxLoss(t, event, 1.0)], options=Options(tol=1e-6))
    finally:
        interior_point._cholesky = plain
    verdict = judge_survival("cox", Ks, event, t, found.weights, found.duals[0], C=1.0)
    number = sum(size >= n - 1 for size in counts)
    print(f"Cox, n = {n}, 10 kernels: {number} Cholesky factorizations, judged gap {verdict.gap:.1e}")


def peer() -> None:
    """Ranking with one kernel against scikit-survival, at equal objective."""
    from sksurv.svm import FastKernelSurvivalSVM
    from sksurv.util import Surv

    for n in (300, 1000):
        Ks, event, t = gaussian_problem(n, 1)
        loss = RankingLoss(t, event, 1.0)

        def objective(beta: Any, Ks: Any = Ks, loss: Any = loss) -> float:
            f = Ks[0] @ beta
            return 0.5 * float(beta @ f) + loss.value(f)

        ours, found = cpu(lambda: learn_weights(Ks, [loss], options=Options(tol=1e-6)))  # noqa: B023
        best = objective(found.duals[0])
        y, alpha = Surv.from_arrays(event, t), n / loss.total_pairs
        print(f"ranking, n = {n}, one kernel: ours {ours:.3f} s")
        for optimizer in ("rbtree", "avltree"):
            for tol in (1e-3, 1e-5, 1e-7):
                model = FastKernelSurvivalSVM(
                    alpha=alpha, kernel="precomputed", optimizer=optimizer, tol=tol, max_iter=1000
                )
                theirs, fitted = cpu(lambda: model.fit(Ks[0], y))  # noqa: B023
                above = min(objective(fitted.coef_), objective(-fitted.coef_)) / best - 1.0
                print(
                    f"  {optimizer}, tol {tol:g}: {theirs:.3f} s, {theirs / ours:.0f} times ours, objective "
                    f"{above:+.1e} above ours"
                )


def growth() -> None:
    """CPU times by the number of samples, and the exponent from the smallest to the largest."""
    seconds: dict[str, list[float]] = {}
    for n in SIZES:
        Ks, event, t = gaussian_problem(n, 10)
        for name, loss in losses_of(event, t).items():
            repeats = REPEATS if n < SIZES[-1] else 1
            took, found = cpu(
                lambda: learn_weights(Ks, [loss], options=Options(tol=1e-6)),  # noqa: B023
                repeats,
            )
            seconds.setdefault(name, []).append(took)
            judged = judge_survival(
                name, Ks, event, t, found.weights, found.duals[0], C=1.0, intercept=found.intercepts[0]
            ).gap if n <= 1000 else np.nan  # fmt: skip
            print(f"{name}, n = {n}: {took:.2f} s, gap {found.gap:.1e}, judged {judged:.1e}", flush=True)
    for name, values in seconds.items():
        exponent = np.log(values[-1] / values[0]) / np.log(SIZES[-1] / SIZES[0])
        print(f"{name}: exponent {exponent:.2f} from {SIZES[0]} to {SIZES[-1]}")


def rows() -> None:
    """Cox on factors of rank 100 of 10 views."""
    rank, m = 100, 10
    for n in ROWS:
        rng = np.random.default_rng(0)
        Z = rng.normal(size=(n, m * rank)) / np.sqrt(rank)
        event, t = times_of(Z[:, : 2 * rank].sum(axis=1), rng)
        offsets, loss = np.arange(0, m * rank + 1, rank), CoxLoss(t, event, 0.05)
        took, found = cpu(
            lambda: learn_smooth(Z, offsets, loss, 1.0, np.ones(m), Options(tol=1e-3)),  # noqa: B023
            1,
        )
        print(f"Cox on factors, {n} rows x {m * rank} columns: {took:.1f} s, gap {found.gap:.1e}", flush=True)


def recovery() -> None:
    """AUC of the weights: 3 of 10 views of 50 columns matter, 300 events, 30 % censored."""
    areas: dict[str, list[float]] = {}
    for seed in range(SEEDS):
        data = make_survival_views(
            429, n_views=10, n_informative=3, n_columns=50, effect=1.0, censoring=0.3, random_state=seed
        )
        views = [View(name, Linear(), columns) for name, columns in data.view_columns.items()]
        truth = np.isin(list(data.view_columns), data.informative)
        for loss in ("cox", "ranking", "regression"):
            weights = MKLSurvival(views, loss=loss).fit(data.X, data.y).kernel_weights_
            areas.setdefault(loss, []).append(float(roc_auc_score(truth, weights)))
    for loss, values in areas.items():
        print(f"{loss}: AUC of the weights {np.mean(values):.3f} over {SEEDS} seeds, C = 1, norm = 1")


SECTIONS = {
    "factorizations": factorizations,
    "peer": peer,
    "growth": growth,
    "rows": rows,
    "recovery": recovery,
}


def main(names: list[str]) -> None:
    unknown = sorted(set(names) - set(SECTIONS))
    if unknown:
        raise SystemExit(f"there are no sections {unknown}; there are {list(SECTIONS)}.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the peer
        learn_weights(*warm_up())
        for name in names or SECTIONS:
            print(f"--- {name}: {SECTIONS[name].__doc__}", flush=True)
            SECTIONS[name]()


def warm_up() -> tuple[Any, Any]:
    """A problem that compiles what is compiled."""
    Ks, event, t = gaussian_problem(40, 2)
    for loss in losses_of(event, t).values():
        learn_weights(Ks, [loss])
    return Ks, [CoxLoss(t, event, 1.0)]


if __name__ == "__main__":
    main(sys.argv[1:])

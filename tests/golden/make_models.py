"""Small saved models of one version, with what they answer: later versions must load them and say the same.

    python -m tests.golden.make_models tests/golden/models_0.2

writes a new set with the version that is installed; a folder that holds files is refused, since the files of
a released version are never written again. Each case is one file ``name.skops.xz``, compressed since the
names in it repeat; ``answers.json`` holds the new samples and the answers.
``tests/io/models/test_golden_models.py`` reads every set.
"""

import json
import lzma
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.base import clone, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import multikernel
from multikernel import (
    CombinedKernelClassifier,
    CombinedKernelOneClass,
    CombinedKernelPCA,
    CombinedKernelRegressor,
    KernelBank,
    LocalizedMKLClassifier,
    LocalizedMKLRegressor,
    MKLClassifier,
    MKLOneClass,
    MKLRegressor,
    MKLRidge,
    View,
    save_model,
    stack_kernels,
)
from multikernel import rules as weights
from multikernel.bayesian import BayesianMKLClassifier, BayesianMKLRegressor
from multikernel.boosting import ColumnBoostingClassifier, ColumnBoostingRegressor
from multikernel.clustering import MultipleKernelKMeans
from multikernel.discriminant import KernelDiscriminantClassifier
from multikernel.kernels import (
    Chi2,
    Cosine,
    Diffusion,
    EmpiricalMap,
    FunctionKernel,
    Gappy,
    Gaussian,
    GraphKernel,
    Hamming,
    Jaccard,
    Kronecker,
    Laplacian,
    Linear,
    LocalAlignment,
    Mismatch,
    Mixed,
    Network,
    Pairwise,
    Polynomial,
    Precomputed,
    RandomWalk,
    RegularizedLaplacian,
    Sigmoid,
    Spectrum,
    Tanimoto,
    WeightedDegree,
)
from multikernel.localized import (
    LocalizedMKLOneClass,
    ProjectionKernelClassifier,
    ProjectionKernelOneClass,
    ProjectionKernelRegressor,
)
from multikernel.mkl import RegularizedMKLClassifier, cost_path
from multikernel.nonstationary import NonstationaryClassifier
from multikernel.pairs import PairSplit, PairwiseRidge
from multikernel.rules import CompositionalKernelClassifier
from multikernel.soft_labels import PosteriorSVC
from multikernel.spectral import (
    ConformalKernel,
    KDDAClassifier,
    KernelKNNClassifier,
    SpectralKernelClassifier,
)
from multikernel.transductive import TransductiveMKLClassifier
from multikernel.views import LowRankBank

ANSWERS = "answers.json"
FUNCTIONS = (linear_kernel, polynomial_kernel)  # which a reader must trust
QUESTIONS = ("predict", "decision_function", "predict_proba", "transform", "score_samples", "contributions")
N = 16
TWO = [Linear(), Gaussian()]
AB = np.arange(N) % 2


# ---------------------------------------------------------------------- tables, as JSON holds them
def read_table(stored):
    """The samples that `answers.json` describes."""
    ((kind, content),) = stored.items()
    if kind == "frame":
        return pd.DataFrame(content).astype({"color": "category"})
    if kind == "sets":
        return pd.DataFrame({"items": [set(items) for items in content]})
    if kind == "sparse":
        return scipy.sparse.csr_matrix(np.array(content, float))
    return np.array(content, float) if kind == "array" else content


def _numbers(n, columns=3, seed=0):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n, columns)).round(2)
    table[:, 0] += np.where(np.arange(n) % 2, 1.5, -1.5)
    return table.tolist()


def _gaps(n, seed=0):
    table = np.array(_numbers(n, 4, seed))
    table[1::4, :2] = np.nan
    table[2::4, 2:] = np.nan
    return table.tolist()


def _words(n, seed=0):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("ACGT"), 9)) + ("TATA" if row % 2 else "CCGG") for row in range(n)]


def _frame(n, seed=0):
    table = np.array(_numbers(n, 3, seed))
    rng = np.random.default_rng(seed)
    return {
        "a": table[:, 0].tolist(),
        "b": table[:, 1].tolist(),
        "word": _words(n, seed),
        "color": rng.choice(["red", "blue", "green"], n).tolist(),
        "node": [f"P{k}" for k in rng.integers(0, 8, n)],
    }


def _graphs(n, seed=0):
    rng = np.random.default_rng(seed)
    graphs = []
    for row in range(n):
        size = 4 + row % 2
        pairs = [[a, (a + 1) % size] for a in range(size)]
        graphs.append([pairs, rng.integers(0, 3, size).tolist(), [row % 2] * size])
    return graphs


def _sets(n, seed=0):
    rng = np.random.default_rng(seed)
    return [sorted({*rng.choice(list("abcdef"), 3).tolist(), "uv"[row % 2]}) for row in range(n)]


def _stack(rows):
    train = np.array(_numbers(N))
    table = np.array(rows)
    return stack_kernels([table @ train.T, Gaussian(0.5)(table, train)]).tolist()


def _pairs(n, seed=0):
    return np.array(_numbers(n, 4, seed)).tolist()


NEW = 4
TABLES = {  # samples to fit, and new ones
    "numbers": ({"array": _numbers(N)}, {"array": _numbers(NEW, seed=9)}),
    "sparse": ({"sparse": _numbers(N)}, {"sparse": _numbers(NEW, seed=9)}),
    "positive": (
        {"array": np.abs(_numbers(N)).tolist()},
        {"array": np.abs(_numbers(NEW, seed=9)).tolist()},
    ),
    "gaps": ({"array": _gaps(N)}, {"array": _gaps(NEW, seed=9)}),
    "frame": ({"frame": _frame(N)}, {"frame": _frame(NEW, seed=9)}),
    "words": ({"list": _words(N)}, {"list": _words(NEW, seed=9)}),
    "graphs": ({"list": _graphs(N)}, {"list": _graphs(NEW, seed=9)}),
    "sets": ({"sets": _sets(N)}, {"sets": _sets(NEW, seed=9)}),
    "stack": ({"array": _stack(_numbers(N))}, {"array": _stack(_numbers(NEW, seed=9))}),
    "pairs": ({"array": _pairs(N)}, {"array": _pairs(NEW, seed=9)}),
    "places": (
        {"array": [[float(k)] for k in range(N)]},
        {"array": [[float(k)] for k in range(1, 1 + NEW)]},
    ),
}
RING = Network([(f"P{k}", f"P{(k + 1) % 8}") for k in range(8)])


# ---------------------------------------------------------------------- models
def models():
    """Name of each case: the model, which is not fitted, and the name of its table."""
    cases = {name: (model, "numbers") for name, model in _estimators().items()}
    cases |= {name: (model, "numbers") for name, model in _of_several_parts().items()}
    cases |= {f"learner_{name}": (model, "numbers") for name, model in _learners().items()}
    return cases | _on_other_tables()


def _estimators():
    return {
        "MKLClassifier": MKLClassifier(),
        "MKLClassifier_shared": MKLClassifier(TWO, loss="squared_hinge", multiclass="shared", norm=2.0),
        "MKLClassifier_ovo_probability": MKLClassifier(TWO, multiclass="ovo", probability=True, tol=0.1),
        "MKLClassifier_joint": MKLClassifier(TWO, multiclass="joint"),
        "MKLClassifier_low_rank": MKLClassifier(KernelBank(TWO, gram="low_rank")),
        "MKLRegressor": MKLRegressor(TWO),
        "MKLRegressor_low_rank": MKLRegressor(KernelBank(TWO, gram="low_rank")),
        "MKLOneClass": MKLOneClass(TWO),
        "MKLRidge": MKLRidge(TWO),
        "MKLRidge_low_rank": MKLRidge(KernelBank(TWO, gram="low_rank", rank=0.3)),
        "PosteriorSVC": PosteriorSVC(TWO),
        "PosteriorSVC_parzen": PosteriorSVC(TWO, posterior="parzen", norm=2.0),
        "RegularizedMKLClassifier": RegularizedMKLClassifier(TWO, cv=2, max_steps=1, tol=1e-2),
        "RegularizedMKLClassifier_eigenvalue": RegularizedMKLClassifier(
            TWO, search="eigenvalue", cv=2, max_steps=1, tol=1e-2
        ),
        "RegularizedMKLClassifier_weights": RegularizedMKLClassifier(
            TWO, search="weights", cv=2, max_steps=1, tol=1e-2
        ),
        "TransductiveMKLClassifier": TransductiveMKLClassifier(TWO, tol=1e-4),
        "TransductiveMKLClassifier_spectral": TransductiveMKLClassifier(
            TWO, criterion="soft2", C="learn", weights="spectral", n_components=4, tol=1e-4
        ),
        "TransductiveMKLClassifier_alignment": TransductiveMKLClassifier(TWO, criterion="alignment"),
        "KernelDiscriminantClassifier": KernelDiscriminantClassifier(TWO),
        "KernelDiscriminantClassifier_knn": KernelDiscriminantClassifier(TWO, reg="learn", rule="knn"),
        "SpectralKernelClassifier": SpectralKernelClassifier(),
        "SpectralKernelClassifier_svm": SpectralKernelClassifier(classifier="svm", width="mean"),
        "SpectralKernelClassifier_kdda": SpectralKernelClassifier(
            classifier="kdda", width="mean", criterion="alignment"
        ),
        "SpectralKernelClassifier_conformal": SpectralKernelClassifier(width="mean", criterion="conformal"),
        "KernelKNNClassifier": KernelKNNClassifier(),
        "KernelKNNClassifier_clip": KernelKNNClassifier(KernelBank(Sigmoid(1.0, -1.0), psd="clip")),
        "KDDAClassifier": KDDAClassifier(),
        "ConformalKernel": ConformalKernel(),
        "NonstationaryClassifier": NonstationaryClassifier(TWO, max_iter=3, n_init=1),
        "NonstationaryClassifier_full": NonstationaryClassifier(TWO, mode="full", max_iter=2, n_init=1),
        "LocalizedMKLClassifier": LocalizedMKLClassifier(TWO, gating_reg=0.0, max_iter=5),
        "LocalizedMKLClassifier_gaussian": LocalizedMKLClassifier(
            TWO, multiclass="joint", gating="gaussian", gating_reg=0.0, max_iter=5
        ),
        "LocalizedMKLClassifier_sigmoid": LocalizedMKLClassifier(
            TWO,
            gating="sigmoid",
            multiclass="ovo",
            shared_gate=True,
            gating_features="kernel",
            gating_reg=0.0,
            max_iter=5,
        ),
        "LocalizedMKLRegressor": LocalizedMKLRegressor(TWO, gating_reg=0.0, max_iter=5),
        "LocalizedMKLOneClass": LocalizedMKLOneClass(TWO, max_iter=5),
        "ProjectionKernelClassifier": ProjectionKernelClassifier(n_screen=3, max_iter=5),
        "ProjectionKernelClassifier_gaussian": ProjectionKernelClassifier(
            2, 1, kernel="gaussian", multiclass="ovr", gating="sigmoid", norm="unit", n_screen=2, max_iter=4
        ),
        "ProjectionKernelClassifier_gaussian_gate": ProjectionKernelClassifier(
            2, 1, gating="gaussian", n_screen=2, max_iter=4
        ),
        "ProjectionKernelRegressor": ProjectionKernelRegressor(2, 1, n_screen=2, max_iter=4),
        "ProjectionKernelOneClass": ProjectionKernelOneClass(n_components=1, n_screen=2, max_iter=4),
        "CombinedKernelClassifier": CombinedKernelClassifier(kernels=TWO),
        "CombinedKernelClassifier_knn": CombinedKernelClassifier(
            machine=KernelKNNClassifier("precomputed", n_neighbors=3), kernels=TWO
        ),
        "CombinedKernelClassifier_discriminant": CombinedKernelClassifier(
            machine=KernelDiscriminantClassifier("precomputed"), kernels=TWO
        ),
        "CombinedKernelRegressor": CombinedKernelRegressor(kernels=TWO),
        "CombinedKernelRegressor_svr": CombinedKernelRegressor(
            machine=SVR(kernel="precomputed"), kernels=TWO
        ),
        "CombinedKernelOneClass": CombinedKernelOneClass(kernels=TWO),
        "CombinedKernelPCA": CombinedKernelPCA(kernels=TWO),
        "CompositionalKernelClassifier": CompositionalKernelClassifier(TWO),
        "BayesianMKLClassifier": BayesianMKLClassifier(TWO, max_iter=5),
        "BayesianMKLRegressor": BayesianMKLRegressor(TWO, max_iter=5),
        "ColumnBoostingClassifier": ColumnBoostingClassifier(TWO, max_columns=4),
        "ColumnBoostingClassifier_mark": ColumnBoostingClassifier(TWO, method="mark", max_columns=6),
        "ColumnBoostingRegressor": ColumnBoostingRegressor(TWO, max_columns=4),
        "MultipleKernelKMeans": MultipleKernelKMeans(kernels=TWO, n_init=1, max_iter=20),
    }


def _of_several_parts():
    search = {"mklclassifier__C": [1.0, 10.0]}
    scaled = make_pipeline(StandardScaler(), MKLClassifier(TWO))
    return {
        "pipeline": scaled,
        "search": GridSearchCV(scaled, search, cv=StratifiedKFold(2), scoring="balanced_accuracy"),
        "search_below": CombinedKernelClassifier(
            machine=GridSearchCV(SVC(kernel="precomputed"), {"C": [1.0, 5.0]}, cv=2), kernels=TWO
        ),
        "one_vs_rest": OneVsRestClassifier(MKLClassifier(TWO)),
        "calibrated": CalibratedClassifierCV(MKLClassifier(TWO), cv=2, ensemble=False),
        "options": MKLClassifier(
            KernelBank(TWO, dtype=np.float32, gram="memmap"),
            class_weight={"no": 1.0, "yes": 2.0, "perhaps": 1.0},
            costs={"linear": 1.0, "gaussian": 2.0},
            random_state=np.random.RandomState(1),
        ),
        "function": MKLClassifier([FunctionKernel(linear_kernel), polynomial_kernel]),
        "repaired": MKLClassifier(KernelBank([Sigmoid(1.0, -1.0), Gaussian()], psd="clip")),
        "views": MKLClassifier(
            [
                View("mean", Gaussian(), columns=range(2), transforms="center"),
                View("plain", Linear() + 0.5 * Polynomial(3) * Gaussian(0.1) ** 2, columns=slice(0, 2)),
                ("masked", Laplacian(1.0), np.array([True, False, True])),
                View("scaled", Linear(), None, ("center", "unit_diagonal", "unit_trace"), standardize=True),
            ]
        ),
        "bank_of_factors": LowRankBank(
            [
                View("exact", Linear(), [0, 1], "unit_trace", standardize=True),
                View("landmarks", Gaussian(), [1, 2], ("center", "unit_diagonal"), rank=5),
                View("pivots", Polynomial(2), None, approximation="cholesky", rank=4),
                View("random", Laplacian(1.0), [2], approximation="random_features", rank=6),
            ],
            seed=2,
        ),
    }


def _learners():
    """Each weight learner under the first machine that it can work for."""
    quick = {"cv": 2, "n_draws": 8, "n_clusters": 2, "n_rounds": 5}
    found = {}
    for name in weights.__all__:
        cls = getattr(weights, name)
        if not hasattr(cls, "learns_from") or name in ("WeightLearner", "TwoClassLearner"):
            continue
        settings = {key: value for key, value in quick.items() if key in cls().get_params()}
        kind = CombinedKernelClassifier if "classification" in cls.learns_from else CombinedKernelRegressor
        found[name] = kind(cls(**settings), kernels=[Linear(), Gaussian()])
    return found


def _on_other_tables():
    sequences = [
        Spectrum(3),
        Mismatch(3, 1),
        Gappy(2, 1, "dna"),
        WeightedDegree(3),
        EmpiricalMap(Spectrum(2)),
    ]
    by_word = [View(f"word{k}", kernel, "word", "unit_diagonal") for k, kernel in enumerate(sequences)]
    on_network = [Diffusion(RING), RegularizedLaplacian(RING, 2.0), RandomWalk(RING, 0.3)]
    by_node = [View(f"node{k}", kernel, "node") for k, kernel in enumerate(on_network)]
    gaps = [("one", Gaussian(0.3), [0, 1]), ("two", Linear(), [2, 3])]
    plain = [
        Chi2(1.0),
        Cosine(),
        Laplacian(1.0),
        Polynomial(2),
        Sigmoid(0.1, 0.0),
        Tanimoto(),
        Gaussian(scale=2.0),
    ]
    square = np.array(_numbers(N))
    numbers = {
        "sparse": (MKLClassifier(TWO), "sparse"),
        "precomputed": (MKLClassifier("precomputed"), "stack"),
        "precomputed_shift": (KernelDiscriminantClassifier(KernelBank("precomputed", psd="shift")), "stack"),
        "kernels_of_numbers": (KernelBank(plain, psd="clip"), "positive"),
        "given_matrix": (MKLClassifier([Precomputed(square @ square.T)]), "places"),
        "pairs_clip": (PairwiseRidge(KernelBank([Sigmoid(0.1, -0.5)], psd="clip"), split=2), "pairs"),
        "pairs": (PairwiseRidge(TWO, split=2, weights="uniform"), "pairs"),
        "pairs_learned": (PairwiseRidge(TWO, split=([0, 1], [2, 3]), form="symmetric", tol=1e-3), "pairs"),
        "search_by_pairs": (
            GridSearchCV(PairwiseRidge(), {"alpha": [0.1, 1.0]}, cv=PairSplit(2, "left", columns=2)),
            "pairs",
        ),
        "kernels_of_pairs": (
            KernelBank([Pairwise(Linear()), Kronecker(Linear(), Gaussian(), split=([0, 1], [2, 3]))]),
            "pairs",
        ),
    }
    missing = {
        f"missing_{way}": (MKLClassifier(KernelBank(gaps, missing=way), norm=2.0), "gaps")
        for way in ("renormalize", "absent", "mean", "complete")
    } | {
        "missing_one_class": (MKLOneClass(KernelBank(gaps, missing="absent")), "gaps"),
        "missing_ridge": (MKLRidge(KernelBank(gaps, missing="mean")), "gaps"),
    }
    other = {
        "frame": (MKLClassifier([("ab", Gaussian(), ["a", "b"]), ("color", Hamming(), ["color"])]), "frame"),
        "frame_mixed": (MKLClassifier([("all", Mixed(), ["a", "b", "color"])]), "frame"),
        "kernels_of_words": (KernelBank(by_word), "frame"),
        "words": (MKLClassifier([View("s", Spectrum(3), None, "unit_diagonal")]), "words"),
        "alignment": (
            MKLClassifier([View("s", EmpiricalMap(LocalAlignment()), None, "unit_diagonal")]),
            "words",
        ),
        "network": (MKLClassifier([*by_node, View("a", Gaussian(), ["a"], standardize=True)]), "frame"),
        "graphs": (MKLClassifier([("wl", GraphKernel("WL", n_iter=2), None, "unit_diagonal")]), "graphs"),
        "sets": (MKLClassifier([("items", Jaccard(), ["items"])]), "sets"),
    }
    return numbers | missing | other


def fitted(model, table):
    """The model fitted to its table: three classes, values, or nothing to learn from."""
    X = read_table(table)
    values = AB + np.sin(np.arange(N)).round(2)
    labels = np.where(np.arange(N) % 5 == 0, "perhaps", np.where(AB, "yes", "no"))
    if isinstance(model, KernelBank | LowRankBank):
        return clone(model, safe=False).fit(X)
    return clone(model).fit(X, values if is_regressor(model) else labels)


# ---------------------------------------------------------------------- answers
def answers(model, table):
    """What a model says of new samples, as JSON holds it; what it refuses is left out."""
    X = read_table(table)
    said = {}
    for question in QUESTIONS:
        if hasattr(model, question):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)  # of how far an answer can be relied on
                    found = np.asarray(getattr(model, question)(X))
            except (ValueError, NotImplementedError):
                continue
            said[question] = {"shape": list(found.shape), "values": found.ravel().tolist()}
    return said


def write(model, path):
    """A saved model, compressed."""
    with tempfile.TemporaryDirectory() as folder:
        saved = save_model(model, Path(folder) / "model.skops").read_bytes()
    path.write_bytes(lzma.compress(saved, preset=9))


def main(folder):
    """Write a set of models."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise SystemExit(f"{folder} holds files already. Name a new folder.")
    stored = {"version": multikernel.__version__, "tables": {}, "models": {}}
    for name, (model, table) in models().items():
        train, new = TABLES[table]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # fits that are stopped early
            trained = fitted(model, train)
        write(trained, folder / f"{name}.skops.xz")
        stored["tables"][table] = new
        stored["models"][name] = {"table": table, "answers": answers(trained, new)}
        if not stored["models"][name]["answers"]:
            raise SystemExit(f"the model {name} answers nothing.")
    costs = cost_path(MKLClassifier(TWO), np.array(_numbers(N)), AB, [1.0, 2.0], cv=2, exponents=(0.0, 1.0))
    write(costs, folder / "cost_path.skops.xz")  # a result, which answers nothing
    write({name: model for name, (model, _) in models().items()}, folder / "not_fitted.skops.xz")
    (folder / ANSWERS).write_text(json.dumps(stored) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

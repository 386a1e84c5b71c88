"""Every estimator predicts after saving and loading what it predicted before, to the last bit."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils import get_tags

from multikernel import CombinedKernelClassifier, KernelBank, MKLClassifier, View, stack_kernels
from multikernel.io.models import ModelFileError, load_model, save_model
from multikernel.kernels import (
    Center,
    Chain,
    Chi2,
    Cosine,
    FunctionKernel,
    Gaussian,
    Hamming,
    Kronecker,
    Laplacian,
    Linear,
    Mixed,
    Pairwise,
    Polynomial,
    Precomputed,
    PSDRepair,
    Sigmoid,
    Tanimoto,
    UnitDiagonal,
    UnitTrace,
    UnitVariance,
)
from multikernel.spectral import KernelKNNClassifier
from multikernel.views import LowRankBank
from tests.io.models.models import (
    LABELS,
    NEW,
    VALUES,
    X,
    answers,
    assert_same_bits,
    overlap,
    shared_letters,
    two_columns,
)
from tests.public import public_estimators
from tests.test_common import ESTIMATORS as CHECKED
from tests.test_common import as_times

TWO = [Linear(), Gaussian()]
THREE = np.where(X[:, 1] > 1.0, "perhaps", LABELS)
SPARSE = scipy.sparse.csr_matrix(np.where(np.abs(X) > 0.7, X, 0.0))
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(
    text=[f"w{abs(value):.1f}" for value in X[:, 1]],
    kind=pd.Categorical(np.where(X[:, 2] > 0, "up", "down")),
    count=pd.array([1, None, 3] * 10, dtype="Int64"),
)


def again(model, tmp_path, trusted=()):
    return load_model(save_model(model, tmp_path / "model.skops"), trusted=trusted)


def _of_the_package(model):
    """A stand-in of the checks, which takes numbers for censored times, as the model that it stands for."""
    own = next(cls for cls in type(model).__mro__ if cls.__module__.startswith("multikernel."))
    return model if own is type(model) else own(**model.get_params(deep=False))


ESTIMATORS = [_of_the_package(model) for model in CHECKED]


def test_every_estimator_is_tried():
    known = {type(model).__name__ for model in ESTIMATORS}
    assert {cls.__name__ for cls in public_estimators()} == known


@pytest.mark.thorough  # all variants; one of each class is in test_contract.py
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_estimators(estimator, tmp_path):
    """From our file and from a pickle, which keeps arrays in the order of C or of Fortran only."""
    model = clone(estimator)
    if model.get_params().get("kernels") == "auto" and type(model) is not MKLClassifier:
        model.set_params(kernels=TWO)  # quicker
    y = VALUES if is_regressor(model) else THREE if is_classifier(model) else (np.arange(30) % 2)
    model.fit(X, as_times(VALUES) if get_tags(model).estimator_type == "survival" else y)
    before = vars(model).copy()
    loaded = again(model, tmp_path)
    assert_same_bits(answers(model), answers(loaded))
    assert_same_bits(answers(model), answers(pickle.loads(pickle.dumps(model))))
    arrays = {name: value for name, value in before.items() if isinstance(value, np.ndarray)}
    assert [name for name, value in arrays.items() if not value.flags.forc] == []
    assert vars(model).keys() == before.keys() and all(vars(model)[name] is before[name] for name in before)
    assert repr(loaded.get_params()) == repr(model.get_params())


def test_estimators_that_are_not_fitted(tmp_path):
    together = dict(enumerate(clone(model) for model in ESTIMATORS))
    for number, loaded in again(together, tmp_path).items():
        assert repr(loaded.get_params()) == repr(together[number].get_params())


def search(model, **options):
    return GridSearchCV(model, {"mklclassifier__C": [1.0, 10.0]}, cv=StratifiedKFold(2), **options)


MODELS = {
    "scaled": make_pipeline(StandardScaler(), MKLClassifier(TWO)),
    "searched": search(make_pipeline(StandardScaler(), MKLClassifier(TWO))),
    "scored": search(make_pipeline(MKLClassifier(TWO)), scoring="balanced_accuracy"),
    "search below": CombinedKernelClassifier(
        machine=GridSearchCV(SVC(kernel="precomputed"), {"C": [1.0, 5.0]}, cv=2), kernels=TWO
    ),
    "float32 memmap": MKLClassifier(KernelBank("auto", dtype="float32", gram="memmap")),
    "types": MKLClassifier(KernelBank(TWO, dtype=np.float32), random_state=np.random.RandomState(1)),
    "repaired": MKLClassifier(KernelBank([Sigmoid(1.0, -1.0), Gaussian()], psd="clip")),
    "weighted": MKLClassifier(TWO, class_weight={"no": 1.0, "yes": 2.0}, random_state=3),
    "views": MKLClassifier(
        [
            View("mean", Gaussian(), columns=range(2), transforms="center"),
            View("plain", Linear() + 0.5 * Polynomial(3) * Gaussian(0.1) ** 2, columns=slice(0, 2)),
            ("masked", Laplacian(), np.array([True, False, True])),
            View("scaled", Linear(), standardize=True),
        ]
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_models_of_several_parts(name, tmp_path):
    model = clone(MODELS[name]).fit(X, LABELS)
    assert_same_bits(answers(model), answers(again(model, tmp_path)))


TABLES = {
    "sparse": (MKLClassifier(TWO), SPARSE, SPARSE[:5]),
    "sparse array": (KernelKNNClassifier(Linear()), scipy.sparse.csr_array(SPARSE), SPARSE[:5]),
    "frame": (MKLClassifier([("ab", Gaussian(), ["a", "b"]), ("c", Linear(), "c")]), FRAME, FRAME[:5]),
    "strings": (
        MKLClassifier([("t", shared_letters, "text"), ("k", FunctionKernel(shared_letters), "kind")]),
        FRAME,
        FRAME[:5],
    ),
    "columns": (MKLClassifier([("two", overlap, two_columns)]), X, NEW),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_all_kinds(name, tmp_path):
    model, table, new = TABLES[name]
    model = clone(model).fit(table, LABELS)
    loaded = again(model, tmp_path, trusted=[overlap, shared_letters, two_columns])
    assert_same_bits(answers(model, new), answers(loaded, new))


def test_columns_of_every_type(tmp_path):
    rows = FRAME.set_index("a", drop=False).assign(day=pd.date_range("2020", periods=30), flag=True)
    kept = {"frame": rows, "series": rows["kind"], "index": rows.columns}
    loaded = again(kept, tmp_path)
    pd.testing.assert_frame_equal(loaded["frame"], rows)
    pd.testing.assert_series_equal(loaded["series"], rows["kind"])
    pd.testing.assert_index_equal(loaded["index"], rows.columns)


def test_precomputed_kernels(tmp_path):
    stack = stack_kernels([X @ X.T - 0.5 * np.eye(30), Gaussian(0.5)(X)])
    model = MKLClassifier(KernelBank("precomputed", psd="shift")).fit(stack, LABELS)
    assert_same_bits(answers(model, stack[:4]), answers(again(model, tmp_path), stack[:4]))


def test_kernels_and_transforms(tmp_path):
    plain = [Linear(), Polynomial(2, coef0=2.0), Gaussian(scale=2.0), Laplacian(), Chi2(scale=2.0)]
    plain += [Cosine(), Sigmoid(), Tanimoto(), Hamming(), Mixed()]
    fitted = [kernel.fit(np.abs(X)) for kernel in plain]
    fitted += [fitted[0] + fitted[1] * fitted[2] ** 2, 0.5 * fitted[2], Pairwise(Linear())]
    fitted += [Kronecker(Linear(), fitted[2], split=([0, 1], [2]))]
    K = X @ X.T
    chains = [t.fit(K) for t in (Center(), UnitDiagonal(), UnitTrace(), UnitVariance(), PSDRepair("clip"))]
    given = Precomputed(K)
    loaded = again([fitted, chains, Chain((Center(), UnitTrace())).fit(K), given], tmp_path)
    assert loaded[0] == fitted and loaded[3] == given and not loaded[3].matrix.flags.writeable
    for first, second in zip(fitted[:12], loaded[0], strict=False):
        assert first(np.abs(X)).tobytes() == second(np.abs(X)).tobytes()
    for first, second in zip([*chains], loaded[1], strict=True):
        answer = first.test(K[:4], K.diagonal()[:4])
        assert answer.tobytes() == second.test(K[:4], K.diagonal()[:4]).tobytes()


@pytest.mark.parametrize(
    "value",
    [
        {True: 1, None: (2.5, "x"), 3: {1, 2}},
        [frozenset({"a"}), np.float32(2), np.array(["x", None, 3.0], object), float("nan")],
        np.arange(24.0).reshape(2, 3, 4).transpose(1, 2, 0),
        np.asfortranarray(np.ones((2, 3)))[:, ::2],
        (np.dtype("float32"), slice(1, None), range(3), b"bytes", overlap),
    ],
)
def test_values_come_back_as_they_were(value, tmp_path):
    loaded = again([value], tmp_path, trusted=[overlap])[0]
    assert repr(loaded) == repr(value) and type(loaded) is type(value)
    if isinstance(value, np.ndarray):
        assert loaded.strides == np.copy(value, order="K").strides


def test_banks_of_factors(tmp_path):
    views = [
        View("exact", Linear(), ["a", "b"], "unit_trace", standardize=True),
        View("landmarks", Gaussian(), ["b", "c"], ("center", "unit_diagonal"), standardize=True, rank=9),
        View("pivots", FunctionKernel(shared_letters), "text", approximation="cholesky", rank=4),
        View("random", Laplacian(), ["c"], approximation="random_features", rank=6),
    ]
    bank = LowRankBank(views, dtype="float32", seed=2).fit(FRAME)
    for given in (bank, bank.restrict([1, 2])):
        loaded = again(given, tmp_path, trusted=[shared_letters])
        assert loaded.transform(FRAME[::-1]).tobytes() == given.transform(FRAME[::-1]).tobytes()
        assert loaded.ranks_.tolist() == given.ranks_.tolist() and repr(loaded.kernels) == repr(views)
    small = [View("few", Gaussian(), None, "center", True, rank=5, normalize=None)]
    many = LowRankBank(small).fit(np.random.default_rng(0).normal(size=(2000, 30)))
    assert save_model(many, tmp_path / "small.skops").stat().st_size < 20_000  # the reference rows: 480 000


def test_what_is_shared_stays_shared_and_the_same_model_gives_the_same_bytes(tmp_path):
    rows = [1.0, {"x": 2}]
    table = np.ones(3)
    loaded = again([rows, rows, table, table], tmp_path)
    assert loaded[0] is loaded[1] and loaded[2] is loaded[3]
    model = MKLClassifier(TWO).fit(X, LABELS)
    first = save_model(model, tmp_path / "first").read_bytes()
    model.predict(NEW)
    assert save_model(model, tmp_path / "second").read_bytes() == first
    assert save_model(load_model(tmp_path / "first"), tmp_path / "third").read_bytes() == first


def test_a_callback_is_not_part_of_the_model(tmp_path):
    seen = []
    model = make_pipeline(MKLClassifier(TWO, callback=lambda step: seen.append(step))).fit(X, LABELS)
    loaded = again(model, tmp_path)
    assert model[0].callback is not None and loaded[0].callback is None
    assert_same_bits(answers(model), answers(loaded))


def test_functions_without_a_place_are_refused(tmp_path):
    def local(A, B):
        return A @ B.T

    for kernel in (local, FunctionKernel(lambda A, B: A @ B.T), [].append):
        with pytest.raises(ModelFileError, match="top of a module"):
            save_model(MKLClassifier([kernel]), tmp_path / "model.skops")
    with pytest.raises(ModelFileError, match=r"the model\.costs"):
        save_model(MKLClassifier(costs=lambda: 1), tmp_path / "model.skops")
    assert not list(tmp_path.iterdir())

"""Fingerprints: the same for the same content, in every process, and different for any other."""

import inspect
import itertools
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from scipy.stats import loguniform
from sklearn.metrics import accuracy_score, get_scorer
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from multikernel import MKLClassifier
from multikernel._numba import compiled
from multikernel.inspection import wilcoxon_signed_rank
from multikernel.inspection.fingerprint import fingerprint
from multikernel.kernels import Gaussian, Linear, Polynomial


@compiled
def product(a, b):
    return a * b


def adding(amount, extra=0.0):
    return lambda x: x + amount + extra


def recursive():
    def inner(x):
        return 0 if x == 0 else inner(x - 1)

    return inner


GAMMA = 0.5
BASE = {"rate": [1.0, 2.0]}
WIDE = Gaussian(0.2)


def halved(x):
    return x * GAMMA if x > 1.0 else even(x)


def even(x):
    return halved(2.0 * x)  # and back: functions that call each other


def similarity(x, z):
    return sum(map(lambda u: halved(u) + BASE["rate"][0], x)) + WIDE(x, z.rate)


@compiled
def scaled(x):
    return GAMMA * x


def make_values():
    """Values that all differ."""
    X = np.arange(12.0).reshape(3, 4)
    cyclic = [1, 2]
    cyclic.append(cyclic)
    return {
        "none": None,
        "true": True,
        "one": 1,
        "real one": 1.0,
        "text": "1",
        "bytes": b"1",
        "list": [1, 2],
        "tuple": (1, 2),
        "nested": [1, [2]],
        "cyclic": cyclic,
        "set": {1, 2},
        "mapping": {"a": 1, "b": 2},
        "array": X,
        "single": X.astype(np.float32),
        "reshaped": X.reshape(4, 3),
        "transposed": X.T,
        "objects": X.astype(object),
        "empty": np.empty((0, 4)),
        "sparse": scipy.sparse.csr_matrix(X),
        "frame": pd.DataFrame(X, columns=list("abcd")),
        "renamed": pd.DataFrame(X, columns=list("abce")),
        "typed": pd.DataFrame(X, columns=list("abcd")).astype({"a": int}),
        "labels": pd.Series(["u", "v"], dtype="category"),
        "strings": np.array(["u", "v"]),
        "svc": SVC(),
        "svc C": SVC(C=2.0),
        "pipeline": make_pipeline(StandardScaler(), SVC()),
        "search": GridSearchCV(SVC(), {"C": [1.0, 2.0]}, cv=StratifiedKFold(3)),
        "search cv": GridSearchCV(SVC(), {"C": [1.0, 2.0]}, cv=StratifiedKFold(4)),
        "random search": RandomizedSearchCV(SVC(), {"C": loguniform(0.1, 10.0)}),
        "other range": RandomizedSearchCV(SVC(), {"C": loguniform(0.1, 11.0)}),
        "kernels": MKLClassifier([Gaussian(0.5), Linear() + Polynomial(2)]),
        "kernel width": MKLClassifier([Gaussian(0.6), Linear() + Polynomial(2)]),
        "kernel product": MKLClassifier([Gaussian(0.5), Linear() * Polynomial(2)]),
        "ufunc": FunctionTransformer(np.log1p),
        "other ufunc": FunctionTransformer(np.log),
        "function": adding(1.0),
        "closure": adding(2.0),
        "code": lambda x: x + 1.0,
        "other code": lambda x: x - 1.0,
        "constant": lambda x: x + 2.0,
        "recursive": recursive(),
        "global": similarity,
        "mutual": even,
        "compiled global": scaled,
        "partial": partial(adding, extra=1.0),
        "compiled": product,
        "class": SVC,
        "module": np,
        "scorer": get_scorer("accuracy"),
        "other scorer": get_scorer("roc_auc"),
        "seeded": np.random.RandomState(0),
        "generator": np.random.default_rng(0),
        "slice": slice(0, 2),
    }


def main():
    print(*(fingerprint(value) for value in make_values().values()))


def test_all_differ():
    found = {name: fingerprint(value) for name, value in make_values().items()}
    for (one, a), (other, b) in itertools.combinations(found.items(), 2):
        assert a != b, (one, other)


def test_the_same_content_has_the_same_in_another_process():
    here = [fingerprint(value) for value in make_values().values()]
    np.random.uniform()  # moves the global generator, which distributions hold on to
    assert [fingerprint(value) for value in make_values().values()] == here
    there = subprocess.run(
        [sys.executable, "-c", "from tests.inspection.test_fingerprint import main; main()"],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"PYTHONHASHSEED": "5"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert there.stdout.split() == here


def test_what_does_not_matter_does_not_count():
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    assert fingerprint(SVC().fit(X, y)) == fingerprint(SVC())
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    assert fingerprint(np.asfortranarray(X)) == fingerprint(X) == fingerprint(X.copy()[:, ::1])
    assert fingerprint(X[:, ::-1]) == fingerprint(X[:, ::-1].copy())
    assert fingerprint(scipy.sparse.coo_matrix(X)) == fingerprint(scipy.sparse.csr_matrix(X))
    assert fingerprint(SVC(C=np.float64(2.0))) == fingerprint(SVC(C=2.0))
    assert fingerprint(X, y) != fingerprint(y, X)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("GAMMA", 0.6),
        ("BASE", {"rate": [1.0, 2.5]}),
        ("WIDE", Gaussian(0.3)),
        ("even", lambda x: halved(3.0 * x)),
        ("halved", np.sqrt),
    ],
)
def test_what_a_function_and_its_helpers_read_of_their_modules_counts(monkeypatch, name, other):
    readers = [similarity, SVC(kernel=similarity), *([scaled] if name == "GAMMA" else [])]  # one is compiled
    before = [fingerprint(reader) for reader in readers]
    monkeypatch.setitem(globals(), name, other)
    for reader, content in zip(readers, before, strict=True):
        assert fingerprint(reader) != content


def test_what_a_function_does_not_read_does_not_count(monkeypatch):
    before = fingerprint(similarity)
    for name in ("rate", "product", "adding"):  # an attribute or nothing of it, neither read as a global
        monkeypatch.setitem(globals(), name, 3.0)
    assert fingerprint(similarity) == before


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (accuracy_score, "_check_targets"),
        (json.dumps, "_default_encoder"),
        (wilcoxon_signed_rank, "_rank_sums"),
    ],
)
def test_what_a_library_reads_of_itself_is_left_to_its_version(monkeypatch, function, name):
    before, read = fingerprint(function), inspect.unwrap(function).__globals__
    assert name in read
    monkeypatch.setitem(read, name, 3.0)
    assert fingerprint(function) == before


@pytest.mark.parametrize("place", [0, 7, 39])
def test_every_entry_counts(place):
    X = np.arange(40.0).reshape(20, 2)
    changed = X.copy()
    changed.flat[place] = np.nextafter(changed.flat[place], np.inf)
    assert fingerprint(changed) != fingerprint(X)
    assert fingerprint(changed.T) != fingerprint(X.T)
    assert fingerprint(pd.DataFrame(changed)) != fingerprint(pd.DataFrame(X))
    assert fingerprint(scipy.sparse.csr_matrix(changed)) != fingerprint(scipy.sparse.csr_matrix(X))


def test_what_has_no_content_is_refused(tmp_path):
    with (
        (tmp_path / "x").open("w") as file,
        pytest.raises(TypeError, match=r"_io\.TextIOWrapper has no content that could be hashed"),
    ):
        fingerprint({"log": file})

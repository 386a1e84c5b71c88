"""What the tests of saved models share: small data, answers to compare, functions to name, tampering."""

import json

import numpy as np

from multikernel.io.models.archive import pack, unpack
from multikernel.io.models.coding import ABOUT, SCHEMA
from multikernel.io.models.grammar import name_in, nodes
from multikernel.io.models.names_0_1 import names_of_0_1

QUESTIONS = ("predict", "decision_function", "predict_proba", "transform")
QUESTIONS += ("sample_kernel_weights", "mixture_weights", "contributions", "score_samples")


def make_data(n=30, seed=0):
    """A table, labels and values; two groups that are apart, so that few samples are support samples."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[:, 0] += np.where(np.arange(n) % 2, 2.0, -2.0)
    return X, np.where(np.arange(n) % 2, "yes", "no"), X[:, 0] + 0.1 * rng.normal(size=n)


X, LABELS, VALUES = make_data()
NEW = np.random.default_rng(9).normal(size=(7, 3))


def answers(model, new=NEW):
    """All that a model says of new samples; what it refuses, by its message."""
    said = {}
    for question in QUESTIONS:
        if hasattr(model, question):
            try:
                said[question] = np.asarray(getattr(model, question)(new))
            except (ValueError, NotImplementedError) as error:
                said[question] = np.asarray(str(error))
    return said


def assert_same_bits(first, second):
    assert first and first.keys() == second.keys()
    for question, answer in first.items():
        other = second[question]
        assert answer.dtype == other.dtype and answer.shape == other.shape, question
        assert answer.tobytes() == other.tobytes(), question


def overlap(A, B):
    """A kernel function that a module holds under its name."""
    return np.asarray(A, float) @ np.asarray(B, float).T


def shared_letters(A, B):
    """A kernel of strings: letters in common."""
    first = [set(str(text)) for text in np.ravel(A)]
    second = [set(str(text)) for text in np.ravel(B)]
    return np.array([[float(len(a & b)) for b in second] for a in first])


class Counting:
    """An object that is another one each time that it is saved."""

    def __init__(self):
        self.times = 0

    def __getstate__(self):
        return {"times": self.times + 1}


def two_columns(X):
    """A choice of columns by a function."""
    return [0, 1]


def node(module, name, loader, **rest):
    """A part of a schema."""
    return {"__class__": name, "__module__": module, "__loader__": loader, **rest}


def tampered(data, change):
    """A model file with another schema, and the checksum that goes with it."""
    members = unpack(data)
    schema = json.loads(members[SCHEMA])
    schema = change(schema) or schema
    return pack({**members, SCHEMA: json.dumps(schema).encode()})


def as_first_format(data):
    """The same file as format version 1 has it: classes by their modules in multikernel 0.1."""
    old = {new: name for name, new in names_of_0_1().items()}

    def change(schema):
        for node in nodes(schema):
            name = old.get(name_in(node))
            if name is not None:
                node["__module__"], _, node["__class__"] = name.rpartition(".")

    members = unpack(tampered(data, change))
    about = {**json.loads(members[ABOUT]), "format_version": 1}
    return pack({**members, ABOUT: json.dumps(about).encode()})


def as_it_is(data):
    return data


FORMATS = {"present format": as_it_is, "first format": as_first_format}

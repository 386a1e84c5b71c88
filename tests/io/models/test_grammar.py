"""Small files made to keep the reader busy, to fill the memory, or to have a trusted function called."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils import Bunch

from multikernel import MKLClassifier, load_model, save_model
from multikernel.io.models import ModelFileError, describe_model
from multikernel.io.models.archive import check_array, pack, unpack
from multikernel.io.models.coding import SCHEMA
from multikernel.io.models.files import checked_bytes
from multikernel.io.models.preparing import Layout, NamedSeries
from multikernel.kernels import Gaussian, Linear
from tests.io.models import models
from tests.io.models.models import FORMATS, LABELS, NEW, X, node, tampered

STAND_INS = "multikernel"
MKL = ("multikernel", "MKLClassifier")


def value(content):
    return node("builtins", "str", "JsonNode", content=json.dumps(content), is_json=True)


def array(*content):
    return node("builtins", "list", "ListNode", content=list(content))


def parts(*content):
    return node("builtins", "tuple", "TupleNode", content=list(content))


def mapping(module="builtins", name="dict", kind=None, **content):
    kinds = array(*[kind or node("builtins", "str", "TypeNode")] * len(content))
    return node(module, name, "DictNode", content=content, key_types=kinds)


def made(name, *content, module=STAND_INS):
    return node(module, name, "ConstructorFromReduceNode", content=parts(*content))


def counting(*limits):
    return made("range", *map(value, limits), module="builtins")


def doubling(levels):
    """Lists that hold the one before twice, the second time by its number."""
    inner = array(value(1)) | {"__id__": 9000}
    for level in range(levels):
        again = {key: inner[key] for key in ("__class__", "__module__", "__loader__", "__id__")}
        inner = array(inner, again) | {"__id__": 9001 + level}
    return inner


def copying(times):
    """The same list made into an array again and again."""
    first = array(made("Plain", value(json.dumps([0] * 2000)))) | {"__id__": 9000}
    again = {key: first[key] for key in ("__class__", "__module__", "__loader__", "__id__")}
    return array(*(made("ObjectArray", first if not k else again, parts(value(1))) for k in range(times)))


FUNCTION = node("tests.io.models.models", "overlap", "FunctionNode")
OBJECT = node(*MKL, "ObjectNode", content=mapping(keys=FUNCTION, pop=FUNCTION, __array__=FUNCTION))
BUNCH = {"module": "sklearn.utils._bunch", "name": "Bunch"}
SEED = mapping(entropy=value(1), spawn_key=parts(), pool_size=value(10**9))
LIMITS = made("Labels", parts(value(0), value(1), value(1)), value(None), value(None))

ATTACKS = {
    "references": doubling(40),
    "copies": copying(2000),
    "object array": made("ObjectArray", counting(10**6), parts(value(-1))),
    "set": made("Members", counting(10**6), value(False)),
    "dict": made("Items", counting(10**5), counting(10**5)),
    "range": counting(10**12),
    "many ranges": array(*[counting(0, 10**5, 1)] * 20),
    "arguments": node(STAND_INS, "Plain", "ConstructorFromReduceNode", content=counting(10**5)),
    "pool": node(
        "numpy.random._generator",
        "Generator",
        "RandomGeneratorNode",
        content={"bit_generator": mapping(bit_generator=value("PCG64")), "seed_seq": SEED},
    ),
    "masked": node(
        "numpy.ma", "MaskedArray", "MaskedArrayNode", content={"data": counting(9), "mask": value(0)}
    ),
    "void": node("numpy", "void", "NdArrayNode", type="numpy", file="0.npy"),
    "same part": node("numpy", "ndarray", "NdArrayNode", type="numpy", file="0.npy"),
    "function as key": mapping(kind=FUNCTION, a=value(1)),
    "function as key by number": array(
        FUNCTION | {"__id__": 9000},
        mapping(kind=node("builtins", "str", "TypeNode", __id__=9000), a=value(1)),
    ),
    "ufunc as key": mapping(kind=node("numpy", "sin", "FunctionNode"), a=value(1)),
    "series of a bunch": made("NamedSeries", mapping(set_axis=FUNCTION, **BUNCH), value("x"), value("n")),
    "frame of a bunch": made("Frame", array(mapping(set_axis=FUNCTION, **BUNCH)), LIMITS, LIMITS),
    "state of an object": node(*MKL, "ObjectNode", content=OBJECT),
    "default": node(
        "collections",
        "defaultdict",
        "DefaultDictNode",
        content={"main": OBJECT, "default_factory": value(None)},
    ),
    "array of objects": node(
        "numpy", "ndarray", "NdArrayNode", type="json", content=[OBJECT], shape=parts(value(1), value(1))
    ),
    "two with a number": array(
        array(value(1)) | {"__id__": 9000}, array(value(2)) | {"__id__": 9000}, parts()
    ),
    "part without a name": {"__loader__": "ListNode", "content": []},
    "file that is no name": node("numpy", "ndarray", "NdArrayNode", type="numpy", file=[]),
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_part_that_no_model_has(data, write, monkeypatch, attack, form):
    calls = []
    monkeypatch.setattr(models, "overlap", lambda *arguments: calls.append(arguments))

    def change(schema):
        schema["content"]["content"]["C"] = ATTACKS[attack]

    load_model(write(FORMATS[form](data)))
    with pytest.raises(ModelFileError):
        path = write(FORMATS[form](tampered(data, change)))
        load_model(path, trusted=["tests.io.models.models.overlap"])
    assert not calls


def test_stand_ins_neither_call_nor_count_what_they_are_given():
    with pytest.raises(TypeError, match="whole numbers"):
        Layout(np.zeros(1), range(1), True)
    series = NamedSeries(pd.Series([1.0]), pd.Index(["label"]), len)
    assert series.index.tolist() == ["label"] and series.name is len


def test_an_array_is_read_from_an_array_only(data, write):
    """Another ending would pass the check of sizes by."""
    members = unpack(data)
    schema = members[SCHEMA].replace(b'"0.npy"', b'"0.bin"')
    changed = {**{("0.bin" if k == "0.npy" else k): v for k, v in members.items()}, SCHEMA: schema}
    with pytest.raises(ModelFileError, match=r"ends with \.npy"):
        load_model(write(pack(changed)))
    content = io.BytesIO()
    np.save(content, np.zeros(1, dtype=[]))
    with pytest.raises(ModelFileError, match="no size"):
        check_array("0.npy", content.getvalue().replace(b"(1,)", b"(9,)"))


@pytest.mark.parametrize("meta", ["calibrated", "constant"])
def test_meta_estimators_need_no_trust(tmp_path, meta):
    if meta == "calibrated":
        inner = MKLClassifier([Linear(), Gaussian()])
        model = CalibratedClassifierCV(inner, cv=2, ensemble=False).fit(X, LABELS)
    else:  # one class that is everywhere
        targets = np.column_stack([np.ones(len(X)), LABELS == "yes"]).astype(int)
        with pytest.warns(UserWarning, match="present in all"):
            model = OneVsRestClassifier(MKLClassifier([Linear()])).fit(X, targets)
    path = save_model(model, tmp_path / "model.skops")
    assert describe_model(path)["needs_trust"] == []
    assert (load_model(path).predict(NEW) == model.predict(NEW)).all()


def test_what_a_model_may_hold_still_passes(write):
    shared = [Linear(), Gaussian()]
    held = Bunch(
        columns=range(0, 10**5, 2),
        seed=np.random.default_rng(0),
        state=np.random.RandomState(0),
        masked=np.ma.MaskedArray([1.0, 2.0], [True, False]),
        number=np.float64(3.0),
        keys={1: Linear(), "a": None},
        shared=[shared] * 50,
    )
    held.seed.random(3)  # random numbers go on where they were
    again = load_model(write(checked_bytes(held)))
    assert again.columns == held.columns and again.masked.tolist() == [None, 2.0]
    assert again.seed.random() == held.seed.random() and again.shared[0] is again.shared[49]

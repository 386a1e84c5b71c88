"""Files made to run something, to fill the memory or to write elsewhere: nothing happens, and it is said."""

import hashlib
import io
import json
import os
import pickle
import random
import zipfile

import numpy as np
import pytest

from multikernel import MKLClassifier
from multikernel.io.models import ModelFileError, describe_model, load_model, upgrades
from multikernel.io.models.archive import pack, unpack
from multikernel.io.models.coding import SCHEMA, trusted_uses
from multikernel.io.models.files import checked_bytes
from multikernel.io.models.preparing import Sparse
from multikernel.io.models.upgrades import Upgraded
from multikernel.kernels import Gaussian, Linear
from tests.io.models import models
from tests.io.models.models import FORMATS, as_first_format, node, tampered

TEXT = node("builtins", "str", "JsonNode", content='"touch PWNED"')
ARGUMENTS = node("builtins", "tuple", "TupleNode", content=[TEXT])


NO_KEYS = node("builtins", "list", "ListNode", content=[])
EMPTY = node("builtins", "dict", "DictNode", content={}, key_types=NO_KEYS)


def calling_key(module, name):
    """A dict whose key is made by calling a function."""
    kinds = node("builtins", "list", "ListNode", content=[node(module, name, "TypeNode")])
    return node("builtins", "dict", "DictNode", content={"touch PWNED": TEXT}, key_types=kinds)


def forms(module, name):
    """All ways to bring a name into a schema."""
    named = node(module, name, "FunctionNode")
    content = {"func": named, "args": ARGUMENTS, "kwds": EMPTY, "namespace": EMPTY}
    return {
        "function": named,
        "type": node(module, name, "TypeNode"),
        "object": node(module, name, "ObjectNode", content=EMPTY),
        "constructor": node(module, name, "ConstructorFromReduceNode", content=ARGUMENTS),
        "list": node(module, name, "ListNode", content=[TEXT]),
        "set": node(module, name, "SetNode", content=[TEXT]),
        "dict": node(module, name, "DictNode", content={}, key_types=NO_KEYS),
        "tuple": node(module, name, "TupleNode", content=[TEXT]),
        "partial": node("functools", "partial", "PartialNode", content=content),
        "method": node(module, name, "MethodNode", content={"func": "x", "obj": TEXT}),
        "operator": node("operator", "methodcaller", "OperatorFuncNode", attrs=ARGUMENTS),
        "key": calling_key(module, name),
        "reduced": node(module, name, "LossNode", __reduce__={"args": ARGUMENTS}, content=EMPTY),
    }


def put(value):
    """A change of a schema: the model's parameter C becomes `value`."""

    def change(schema):
        schema["content"]["content"]["C"] = value

    return change


@pytest.fixture(autouse=True)
def nothing_runs(monkeypatch, tmp_path):
    """In an empty folder, with every function that the attacks name replaced by one that tells on them."""
    monkeypatch.chdir(tmp_path)
    calls = []
    monkeypatch.setattr(os, "system", lambda *arguments: calls.append(arguments))
    monkeypatch.setattr(models, "overlap", lambda *arguments: calls.append(arguments))
    yield
    assert not calls and not (tmp_path / "PWNED").exists()


@pytest.mark.parametrize("version", FORMATS)
@pytest.mark.parametrize("form", forms("os", "system"))
@pytest.mark.parametrize(("module", "name"), [("os", "system"), ("builtins", "eval")])
def test_no_name_is_looked_up_that_is_not_trusted(data, write, module, name, form, version):
    path = write(FORMATS[version](tampered(data, put(forms(module, name)[form]))))
    with pytest.raises(ModelFileError) as caught:
        load_model(path)
    if form not in ("method", "operator"):
        assert f"{module}.{name}" in str(caught.value)
        assert any(reason in str(caught.value) for reason in ("trusted=[", "cannot be read", "never do"))


@pytest.mark.parametrize("version", FORMATS)
@pytest.mark.parametrize("form", ["constructor", "list", "set", "dict", "key", "type", "method", "reduced"])
@pytest.mark.parametrize(
    ("module", "name", "trusted"),
    [
        ("tests.io.models.models", "overlap", ["tests.io.models.models.overlap"]),
        ("multikernel", "MKLClassifier", []),
        ("sklearn.metrics._classification", "accuracy_score", []),
    ],
)
def test_a_trusted_name_is_not_called_by_loading(data, write, module, name, trusted, form, version):
    path = write(FORMATS[version](tampered(data, put(forms(module, name)[form]))))
    with pytest.raises(ModelFileError, match="never do"):
        load_model(path, trusted=trusted)


WITHIN = [  # what this package holds and no file may name: modules of today, helpers of loading, other things
    (Gaussian.__module__, "Gaussian"),
    (Sparse.__module__, "Sparse"),
    (Upgraded.__module__, "Upgraded"),
    ("multikernel", "Upgraded"),
    ("multikernel", "load_model"),
    ("multikernel", "kernels.distance.Gaussian"),
    ("multikernel.io.models.archive", "write_whole"),
    ("multikernel.io.models.names", "OBJECTS"),
]


@pytest.mark.parametrize("form", ["object", "constructor", "function", "type", "partial"])
@pytest.mark.parametrize(("module", "name"), WITHIN)
def test_within_the_package_only_names_of_the_table_are_looked_up(data, write, module, name, form):
    path = write(tampered(data, put(forms(module, name)[form])))
    with pytest.raises(ModelFileError, match="not among what a model file may use"):
        load_model(path)
    assert f"{module}.{name}" in describe_model(path)["needs_trust"]


def test_a_class_that_is_gone_is_named_by_old_files_only(write):
    """And there as an object, like any other."""
    model = node("multikernel", "GoneClassifier", "ObjectNode", content=EMPTY)
    data = tampered(checked_bytes([Linear()]), lambda schema: schema["content"].append(model))

    def step(state):
        return "multikernel.MKLClassifier", {**state, "C": 7.0}

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(upgrades, "STEPS", {1: {"multikernel.GoneClassifier": step}})
        trusted_uses.cache_clear()
        assert load_model(write(as_first_format(data)))[1].C == 7.0
        with pytest.raises(ModelFileError, match="GoneClassifier"):
            load_model(write(data))
        called = {**model, "__loader__": "ConstructorFromReduceNode", "content": ARGUMENTS}
        data = tampered(checked_bytes([Linear()]), lambda schema: schema["content"].append(called))
        with pytest.raises(ModelFileError, match="never do"):
            load_model(write(as_first_format(data)))
    trusted_uses.cache_clear()


def test_a_trusted_function_is_handed_over(write):
    path = write(checked_bytes(MKLClassifier([models.shared_letters])))
    wanted = "tests.io.models.models.shared_letters"
    assert describe_model(path)["needs_trust"] == [wanted]
    with pytest.raises(ModelFileError, match=f"trusted=\\['{wanted}'\\]"):
        load_model(path)
    for trusted in (wanted, [wanted], (models.shared_letters,)):
        assert load_model(path, trusted=trusted).kernels == [models.shared_letters]
    with pytest.raises(TypeError, match="full names"):
        load_model(path, trusted=[3])


@pytest.mark.parametrize("protocol", [0, 1, -1, True, "2", None, 10**6])
def test_other_protocols_of_skops(data, write, protocol):
    with pytest.raises(ModelFileError):
        load_model(write(tampered(data, lambda schema: {**schema, "protocol": protocol})))


class Pickled:
    def __reduce__(self):
        return os.system, ("touch PWNED",)


def saved(array):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (saved(np.array([Pickled()], dtype=object)), "pickled objects"),
        (pickle.dumps(Pickled()), "readable header"),
        (saved(np.zeros(3)).replace(b"(3,), }", b"(3000000000000,), }"[:19]), "announces|readable header"),
        (saved(np.zeros(3))[:-8], "announces 24 bytes and has 16"),
    ],
)
def test_arrays_that_are_not_arrays(data, write, content, message):
    with pytest.raises(ModelFileError, match=message):
        load_model(write(pack({**unpack(data), "0.npy": content})))


def repacked(data, name, compression=zipfile.ZIP_STORED, content=b"0" * 10**6):
    """The file with one more member, made by hand, and its checksum."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for member, value in unpack(data).items():
            archive.writestr(member, value)
        archive.writestr(name, content, compression)
        archive.comment = b" " * 90
    body = buffer.getvalue()[:-90]
    return body + pack({})[-90:-64] + hashlib.sha256(body).hexdigest().encode()


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("name", "compression", "message"),
    [
        ("7777.npy", zipfile.ZIP_DEFLATED, "compressed part '7777.npy'"),
        ("../PWNED", zipfile.ZIP_STORED, r"excess the part '\.\./PWNED'"),
        ("/tmp/PWNED", zipfile.ZIP_STORED, "excess"),
        ("0.npy", zipfile.ZIP_STORED, "twice"),
    ],
)
def test_archives_made_by_hand(data, write, name, compression, message):
    with pytest.raises(ModelFileError, match=message):
        load_model(write(repacked(data, name, compression)))


def test_a_schema_may_not_read_other_members(data, write):
    array = node("numpy", "ndarray", "NdArrayNode", type="numpy", file="../../etc/passwd")
    with pytest.raises(ModelFileError, match="names a part"):
        load_model(write(tampered(data, put(array))))


def test_a_sparse_matrix_does_not_point_outside():
    with pytest.raises(ValueError, match="indices"):
        Sparse("csr_matrix", np.ones(1), np.array([9]), np.array([0, 1]), (1, 2))


def test_nesting_without_end(data, write):
    deep = json.loads(unpack(data)[SCHEMA])
    text = json.dumps(deep).replace('"1.0"', "[" * 10**5 + "]" * 10**5, 1)
    with pytest.raises(ModelFileError):
        load_model(write(pack({**unpack(data), SCHEMA: text.encode()})))
    loop = node("builtins", "list", "ListNode", __id__=999, content=[TEXT])
    loop["content"] = [node("builtins", "list", "ListNode", __id__=999)]
    with pytest.raises(ModelFileError, match="refers back to itself"):
        load_model(write(tampered(data, put(loop))))


def test_made_up_files_give_an_error_or_a_model(write):
    members = unpack(checked_bytes(MKLClassifier([Linear(), Gaussian()], class_weight={1: 2.0})))
    dice = random.Random(0)
    schema = members[SCHEMA]
    words = [b"null", b"0", b'"x"', b"[]", b"{}", b'"ListNode"', b'"TypeNode"', b'"ObjectNode"', b'"content"']
    known = [b'"DictNode"', b'"JsonNode"', b'"builtins"', b'"str"', b'"content"', b'"__module__"']
    refused = 0
    for _ in range(150):
        start = dice.randrange(len(schema))
        changed = schema[:start] + dice.choice(words) + schema[start + dice.randrange(12) :]
        if dice.random() < 0.5:  # a change that stays JSON
            changed = schema.replace(dice.choice(known), dice.choice(words), dice.randrange(1, 9))
        try:
            load_model(write(pack({**members, SCHEMA: changed})))
        except ModelFileError:
            refused += 1
    assert refused > 100

"""Files that earlier versions have saved load, and the models answer what they answered then."""

import json
import lzma
from pathlib import Path

import numpy as np
import pytest

from multikernel import MKLClassifier, load_model, save_model
from multikernel.io.models import ModelVersionWarning, describe_model
from multikernel.io.models.archive import unpack
from multikernel.io.models.coding import SCHEMA
from multikernel.io.models.grammar import name_in, nodes
from multikernel.io.models.names_0_1 import names_of_0_1
from tests.golden.make_models import ANSWERS, FUNCTIONS, read_table

GOLDEN = Path(__file__).parents[2] / "golden"
SETS = sorted(GOLDEN.glob("models_*"))
STORED = {folder.name: json.loads((folder / ANSWERS).read_text(encoding="utf-8")) for folder in SETS}
CASES = [(folder, name) for folder in SETS for name in STORED[folder.name]["models"]]
FIRST = SETS[0]
pytestmark = [
    pytest.mark.filterwarnings("ignore::multikernel.io.models.ModelVersionWarning"),
    pytest.mark.filterwarnings("ignore:TransductiveMKLClassifier. eigenvectors are carried:UserWarning"),
]


def content(folder, name):
    return lzma.decompress((folder / f"{name}.skops.xz").read_bytes())


@pytest.fixture
def load(write):
    def load(folder, name):
        return load_model(write(content(folder, name)), trusted=FUNCTIONS)

    return load


def ask(model, question, ndim):
    """The method that a question of an earlier version means now."""
    if question == "gate":
        question = "sample_kernel_weights" if ndim == 2 else "sample_machine_weights"
    return getattr(model, {"kernel_weights": "mixture_weights"}.get(question, question))


def assert_answers(model, folder, name):
    stored = STORED[folder.name]
    case = stored["models"][name]
    new = read_table(stored["tables"][case["table"]])
    assert case["answers"]
    for question, expected in case["answers"].items():
        found = np.asarray(ask(model, question, len(expected["shape"]))(new))
        assert list(found.shape) == expected["shape"], question
        wanted = np.array(expected["values"]).reshape(found.shape)
        if wanted.dtype.kind in "US":
            assert found.tolist() == wanted.tolist()
        else:
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12, err_msg=question)


@pytest.mark.parametrize(("folder", "name"), CASES, ids=[f"{folder.name}-{name}" for folder, name in CASES])
def test_an_old_file_gives_the_same_answers_and_can_be_saved_again(folder, name, load, tmp_path):
    model = load(folder, name)
    assert_answers(model, folder, name)
    again = load_model(save_model(model, tmp_path / "again.skops"), trusted=FUNCTIONS)
    assert_answers(again, folder, name)


@pytest.mark.parametrize("folder", SETS, ids=lambda folder: folder.name)
def test_every_file_of_a_set_is_tried(folder):
    files = {path.name.removesuffix(".skops.xz") for path in folder.glob("*.xz")}
    assert files == STORED[folder.name]["models"].keys() | {"cost_path", "not_fitted"}


@pytest.mark.parametrize("folder", SETS, ids=lambda folder: folder.name)
def test_results_and_models_that_are_not_fitted(folder, load):
    path = load(folder, "cost_path")
    assert path.table.shape[0] == 2 and path.costs.tolist() == [1.0, 2.0]
    models = load(folder, "not_fitted")
    assert models.keys() == STORED[folder.name]["models"].keys()
    for model in models.values():
        if hasattr(model, "get_params"):
            assert model.get_params()
            assert model.get_params().get("max_time") is None  # which it did not have


def test_the_first_set_holds_every_class_that_a_file_of_0_1_could_name():
    """But for two results that only a caller who saves them by himself puts into a file."""
    named = set()
    for path in FIRST.glob("*.xz"):
        schema = json.loads(unpack(lzma.decompress(path.read_bytes()))[SCHEMA])
        named.update(name_in(node) for node in nodes(schema))
    missing = {name.rpartition(".")[2] for name in names_of_0_1().keys() - named}
    assert missing == {"About", "Learned"}


@pytest.mark.parametrize("name", ["MulticlassSVC", "MulticlassSVC_probability"])
def test_a_multiclass_svc_of_0_1_is_a_joint_classifier(name, load, write):
    model = load(FIRST, name)
    assert type(model) is MKLClassifier
    assert model.get_params()["multiclass"] == "joint"
    assert_answers(model, FIRST, name)
    assert describe_model(write(content(FIRST, name)))["model"] == "multikernel.MulticlassSVC"


def test_a_multiclass_svc_within_a_search_is_one_too(load):
    search = load(FIRST, "search_of_multiclass_svc")
    for model in (search.estimator, search.best_estimator_):
        assert type(model) is MKLClassifier and model.multiclass == "joint"


def test_the_names_of_a_new_file_say_nothing_of_modules(load, tmp_path):
    """Not of this package: those of scikit-learn and of functions of the caller are as they are."""
    path = save_model(load(FIRST, "not_fitted"), tmp_path / "model.skops")
    schema = json.loads(unpack(path.read_bytes())[SCHEMA])
    modules = {node["__module__"] for node in nodes(schema)}
    assert {module for module in modules if module.startswith("multikernel")} == {"multikernel"}


def test_a_gaussian_of_0_1_keeps_its_values_though_sigma_has_another_meaning(write, tmp_path):
    stored = json.loads((GOLDEN / "sigma_0.1.json").read_text(encoding="utf-8"))
    model = load_model(write(lzma.decompress((GOLDEN / "sigma_0.1.skops.xz").read_bytes())))
    within = [model.kernels[0], model.kernels[1].kernel.left.base]
    assert [(kernel.gamma, kernel.sigma) for kernel in within] == [(0.5 / 0.7, None), (0.25, None)]
    for each in (model, load_model(save_model(model, tmp_path / "again.skops"))):
        found = each.decision_function(stored["new"])
        np.testing.assert_allclose(found, stored["decision_function"], rtol=1e-12, atol=1e-12)


def test_the_version_that_saved_is_told(write, monkeypatch):
    path = write(content(FIRST, "MKLRidge"))
    monkeypatch.setattr("multikernel.io.models.archive._version", lambda name: "99.0")
    with pytest.warns(ModelVersionWarning, match=r"multikernel 0\.1"):
        load_model(path)

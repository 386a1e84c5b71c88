"""The house: rooms, sizes, resolution orders, what core holds, and the page that describes all this."""

import ast
import importlib
import inspect
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import grimp
import numpy as np
import pytest

import multikernel
from multikernel import MKLClassifier

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "multikernel"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
MOST_FILES, MOST_LINES, MOST_CLASSES = 20, 800, 4
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
    "contracts"
]
[INDEPENDENT] = [contract["modules"] for contract in CONTRACTS if contract["type"] == "independence"]
FAMILIES = [module.removeprefix("multikernel.") for module in INDEPENDENT]

# Modules and packages of core that fewer than two families reach, each with its reason.
FEW_USERS = {
    "store": "serves inspection, io and the studies, which stand above the families",
    "concordance": "serves survival and inspection, which stands above the families",
}


def files(folder=PACKAGE):
    return [path for path in folder.rglob("*.py") if "__pycache__" not in path.parts]


def test_no_folder_is_crowded_and_no_file_is_long():
    folders = defaultdict(list)
    for path in files():
        if path.name != "__init__.py":
            folders[path.parent].append(path)
        assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES, path
    crowded = {folder.name: len(paths) for folder, paths in folders.items() if len(paths) > MOST_FILES}
    assert not crowded


def test_every_room_says_what_it_is():
    """A family's docstring names its paper or problem, and its files."""
    for family in FAMILIES:
        text = ast.get_docstring(ast.parse((PACKAGE / family / "__init__.py").read_text(encoding="utf-8")))
        assert len(text.splitlines()) >= 3, family
        for path in (PACKAGE / family).glob("*.py"):
            if path.name != "__init__.py":
                assert f"``{path.stem}``" in text, f"{family} does not name {path.name}"


# --- contracts ---------------------------------------------------------------------------------------------


def lint_imports(folder):
    """Run import-linter on the packages in `folder`, in a process of its own."""
    run = "from importlinter.cli import lint_imports_command as run; run()"
    return subprocess.run(
        [sys.executable, "-c", run, "--no-cache"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder), "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
    )


@pytest.fixture
def copied(tmp_path):
    for name in ("multikernel", "studies", "judges"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_every_family_is_in_every_contract():
    """A family of the layers is independent of the others, and unknown to reports and data sets."""
    [layers] = [contract["layers"] for contract in CONTRACTS if contract["type"] == "layers"]
    assert " | ".join(FAMILIES) in layers
    [unknown] = [
        c["forbidden_modules"] for c in CONTRACTS if "multikernel.report" in c.get("source_modules", ())
    ]
    assert set(INDEPENDENT) < set(unknown)


def test_the_contracts_hold(copied):
    result = lint_imports(copied)
    assert result.returncode == 0, result.stdout
    assert "7 kept, 0 broken" in result.stdout


# What each contract must catch: a file, a line that breaks it, and the contract that says so.
BREACHES = [
    ("multikernel/localized/solver/gates.py", "import multikernel.mkl.classifier", "no other family"),
    ("multikernel/core/svm/smo.py", "import sklearn.base", "do not know scikit-learn"),
    ("multikernel/spectral/solver/kernel.py", "from sklearn.svm import SVC", "do not know scikit-learn"),
    ("multikernel/kernels/__init__.py", "import multikernel.views", "go down only"),
    ("multikernel/core/folds.py", "import multikernel.rules", "go down only"),
    ("multikernel/pairs/ridge.py", "import multikernel.rules", "go down only"),
    ("multikernel/viz/__init__.py", "import multikernel.views", "go down only"),
    ("multikernel/report/__init__.py", "import multikernel.mkl", "reads fitted attributes only"),
    ("multikernel/datasets/__init__.py", "import multikernel.kernels", "reads fitted attributes only"),
    ("multikernel/cli/app.py", "import studies", "what stands beside it"),
    ("multikernel/inspection/__init__.py", "import judges", "what stands beside it"),
    ("multikernel/core/folds.py", "from benchmarks import measuring", "what stands beside it"),
    ("studies/__init__.py", "import benchmarks", "neither benchmarks nor tests"),
    ("judges/__init__.py", "import studies", "the package alone"),
]


@pytest.mark.parametrize(
    ("file", "line", "contract"),
    [
        *BREACHES[:2],
        *(pytest.param(*breach, marks=pytest.mark.thorough) for breach in BREACHES[2:]),
    ],
)
def test_a_breach_is_caught(copied, file, line, contract):
    with (copied / file).open("a", encoding="utf-8") as text:
        text.write(f"\n{line}\n")
    result = lint_imports(copied)
    assert result.returncode == 1
    assert re.search(rf"{contract}.* BROKEN", result.stdout), result.stdout


@pytest.mark.thorough
def test_a_new_room_must_be_given_its_layer(copied):
    (copied / "multikernel" / "attic.py").touch()
    result = lint_imports(copied)
    assert result.returncode == 1
    assert "attic" in result.stdout


def test_views_take_nothing_but_base_classes_from_scikit_learn():
    tree = ast.parse((PACKAGE / "views" / "bank.py").read_text(encoding="utf-8"))
    taken = {
        f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("sklearn")
        for alias in node.names
    }
    assert taken == {"sklearn.base.BaseEstimator", "sklearn.base.TransformerMixin"}
    plain = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert not any(name.startswith("sklearn") for name in plain)


# --- core --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def graph():
    return grimp.build_graph("multikernel", cache_dir=None)


def families_that_reach(graph, module):
    """Families, and rules, that import a module of core, directly or through other modules of core."""
    found, seen, todo = set(), {module}, [module]
    while todo:
        for user in graph.find_modules_that_directly_import(todo.pop()):
            room = user.split(".")[1]
            if room in FAMILIES or room == "rules":
                found.add(room)
            elif room == "core" and user not in seen:
                seen.add(user)
                todo.append(user)
    return found


def test_core_holds_what_two_families_share(graph):
    modules = sorted(name for name in graph.modules if name.startswith("multikernel.core."))
    packages = {name for name in modules if graph.find_children(name)}
    few = {m for m in modules if m not in packages and len(families_that_reach(graph, m)) < 2}
    explained = {m: [n for n in FEW_USERS if f"{m}.".startswith(f"multikernel.core.{n}.")] for m in few}
    lost = sorted(m for m, reasons in explained.items() if not reasons)
    assert not lost, "used by fewer than two families: move it to its family, or list it with a reason"
    assert {name for reasons in explained.values() for name in reasons} == set(FEW_USERS), "a reason is stale"


# --- composition -------------------------------------------------------------------------------------------


def own_classes(kind):
    return [c.__name__ for c in kind.__mro__ if c.__module__.split(".")[0] == "multikernel"]


def all_estimators():
    """Every class of the package with parameters, public or not."""
    for found in pkgutil.walk_packages(multikernel.__path__, "multikernel."):
        if not found.name.startswith("multikernel.cli") and not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    modules = [module for name, module in sys.modules.items() if name.startswith("multikernel.")]
    classes = {kind for module in modules for _, kind in inspect.getmembers(module, inspect.isclass)}
    own = {kind for kind in classes if kind.__module__.startswith("multikernel.")}
    return sorted((kind for kind in own if hasattr(kind, "get_params")), key=lambda kind: kind.__name__)


def test_at_most_four_classes_of_ours_in_any_resolution_order():
    estimators = all_estimators()
    assert len(estimators) > 60
    deep = {kind.__name__: own_classes(kind) for kind in estimators if len(own_classes(kind)) > MOST_CLASSES}
    assert not deep


# --- the page ----------------------------------------------------------------------------------------------


def block(heading):
    """The first code block below a heading of the page."""
    return re.search(rf"^## {heading}$.*?```\w*\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[1]


def test_the_page_names_the_rooms_that_there_are():
    named = set(re.findall(r"^\s*([a-z_]+)(?:/|\.py)\s", block("The rooms"), re.MULTILINE))
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    modules = {path.stem for path in PACKAGE.glob("*.py") if path.stem not in ("__init__", "__main__")}
    beside = {"studies", "judges", "benchmarks", "examples", "tests", "docs"}
    assert named - {"multikernel"} == rooms | modules | beside
    assert all((ROOT / name).is_dir() for name in beside)


def test_the_files_that_the_page_names_exist():
    named = set(re.findall(r"`((?:\w+/)+\w+\.py)`", PAGE))
    assert len(named) > 10
    assert not [name for name in named if not (PACKAGE / name).exists() and not (ROOT / name).exists()]


def test_the_page_shows_the_walk_of_a_fit():
    """Every hop on the page is a call of `MKLClassifier().fit`, in the order of the page."""
    hops = re.findall(r"^\s*(\S+\.py)\s+(\w+)", block("The walk of a fit"), re.MULTILINE)
    assert len(hops) >= 8
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.repeat([0, 1], 20)
    model = MKLClassifier().fit(X, y)  # compiled, and lazily imported
    called = []

    def note(frame, event, argument):
        path = Path(frame.f_code.co_filename)
        if event == "call" and PACKAGE in path.parents:
            called.append((path.relative_to(PACKAGE).as_posix(), frame.f_code.co_name))

    sys.setprofile(note)
    try:
        model.fit(X, y)
    finally:
        sys.setprofile(None)
    steps = iter(called)
    for hop in hops:
        assert hop in steps, f"{hop} is not called, or not in this place"

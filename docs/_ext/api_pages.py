"""The API reference: one page for each public module, made of what the module exports.

Plain text in, plain text out: nothing here needs Sphinx, so that the tests can ask whether a name is in the
reference without building it. autosummary makes a page of every name that the pages list.
"""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType

FOLDER = "auto_api"
PUBLIC = (
    "multikernel",
    "multikernel.kernels",
    "multikernel.views",
    "multikernel.mkl",
    "multikernel.transductive",
    "multikernel.discriminant",
    "multikernel.spectral",
    "multikernel.nonstationary",
    "multikernel.localized",
    "multikernel.soft_labels",
    "multikernel.bayesian",
    "multikernel.boosting",
    "multikernel.pairs",
    "multikernel.survival",
    "multikernel.tasks",
    "multikernel.cooperative",
    "multikernel.gaussian_process",
    "multikernel.parametric",
    "multikernel.hyperkernels",
    "multikernel.clustering",
    "multikernel.reduction",
    "multikernel.rules",
    "multikernel.registry",
    "multikernel.inspection",
    "multikernel.viz",
    "multikernel.report",
    "multikernel.io.models",
    "multikernel.io.tables",
    "multikernel.doctor",
    "multikernel.datasets",
)
# Rooms without a page: their names may change, and what a user needs of them is exported above.
INTERNAL = ("cli", "core", "rows")
# How the index groups the rooms; a room that is not named is one of models.
ROOMS = {
    "Start here": ("multikernel",),
    "Kernels, views and data": (
        "multikernel.kernels",
        "multikernel.views",
        "multikernel.datasets",
        "multikernel.io.tables",
    ),
    "Models": (),
    "Weight rules and the registry of methods": ("multikernel.rules", "multikernel.registry"),
    "Evaluation, explanation and plots": (
        "multikernel.inspection",
        "multikernel.viz",
        "multikernel.report",
        "multikernel.doctor",
    ),
    "Saved models": ("multikernel.io.models",),
}
GROUPS = ("Estimators", "Learners", "Classes", "Functions", "Data")


def pages() -> dict[str, str]:
    """The name of every page of the reference and its text."""
    homes = home_of_each()
    texts = {f"{name}.rst": module_page(name, homes) for name in PUBLIC}
    return {"index.rst": index_page()} | texts


def exported(module: ModuleType) -> list[str]:
    return sorted(getattr(module, "__all__", ()), key=str.lower)


def home_of_each() -> dict[int, str]:
    """The address under which each exported object has its page: the first of those that export it."""
    homes: dict[int, str] = {}
    for name in PUBLIC:
        module = importlib.import_module(name)
        for attribute in exported(module):
            value = getattr(module, attribute)
            if group_of(value, name) != "Data":  # equal constants may be one object
                homes.setdefault(id(value), f"{name}.{attribute}")
    return homes


def group_of(value: object, module_name: str) -> str:
    if inspect.isclass(value):
        if hasattr(value, "fit"):
            return "Learners" if hasattr(value, "combine") else "Estimators"
        return "Classes"
    return "Functions" if callable(value) else "Data"


def rooms() -> dict[str, list[str]]:
    """The public modules by the heading under which the index has them."""
    named = {name for names in ROOMS.values() for name in names}
    models = [name for name in PUBLIC if name not in named]
    return {title: list(names) or models for title, names in ROOMS.items()}


def index_page() -> str:
    parts = [
        heading("API reference"),
        "Every public name, by room. What is not here is internal and may change without notice. The "
        "estimators follow scikit-learn: ``get_params``, ``set_params``, ``score``, ``clone``, pipelines and "
        "searches work as there.\n",
    ]
    for title, names in rooms().items():
        shown = [f"~{name}" if name == "multikernel" else name for name in names]
        tree = [
            "",
            ".. toctree::",
            "   :hidden:",
            f"   :caption: {title}",
            "",
            *(f"   {name}" for name in names),
            "",
        ]
        parts += [heading(title, "-"), autosummary(shown, toctree=False) + "\n".join(tree)]
    return "\n".join(parts)


def module_page(name: str, homes: dict[int, str]) -> str:
    """The page of a module: its docstring, and its names by kind; names that live elsewhere are links."""
    module = importlib.import_module(name)
    grouped: dict[str, list[str]] = {}
    elsewhere = []
    for attribute in exported(module):
        address = f"{name}.{attribute}"
        value = getattr(module, attribute)
        home = homes.get(id(value), address)
        if home == address:
            grouped.setdefault(group_of(value, name), []).append(attribute)
        else:
            elsewhere.append(f"* :obj:`{attribute} <{home}>` (``{home}``)")
    parts = [heading(name), f".. automodule:: {name}\n   :no-members:\n"]
    for group in GROUPS:
        if group in grouped:
            parts += [heading(group, "-"), autosummary(grouped[group], toctree=True)]
    if elsewhere:
        parts += [heading("Also here", "-"), "\n".join(elsewhere) + "\n"]
    return "\n".join(parts)


def heading(text: str, mark: str = "=") -> str:
    return f"{text}\n{mark * len(text)}\n"


def autosummary(names: list[str], toctree: bool) -> str:
    options = ["   :toctree: .", ""] if toctree else [""]
    return "\n".join([".. autosummary::", *options, *(f"   {name}" for name in names), ""])


def filename_map() -> dict[str, str]:
    """File names of functions that differ from a class in capitals only: some disks see no difference."""
    found: dict[str, str] = {}
    renamed = {}
    for address in sorted(home_of_each().values()):  # capitals first: the class keeps its name
        if address.lower() in found:
            renamed[address] = f"{address}-function"
        found.setdefault(address.lower(), address)
    return renamed


def names_of_stubs() -> set[str]:
    """The files that autosummary makes, one for each name that a page lists."""
    renamed = filename_map()
    names = set()
    for page, text in pages().items():
        module = page.removesuffix(".rst")
        addresses = [f"{module}.{entry}" for entry in re.findall(r"^   (\w+)$", text, re.MULTILINE)]
        names |= {f"{renamed.get(address, address)}.rst" for address in addresses}
    return names


def write_pages(docs: Path) -> None:
    """Write the pages that have changed (the others keep their date, and Sphinx its work), drop the rest."""
    folder = docs / FOLDER
    folder.mkdir(exist_ok=True)
    kept = pages().keys() | names_of_stubs()
    for path in folder.glob("*.rst"):
        if path.name not in kept:
            path.unlink()  # of a name that is gone or lives elsewhere now
    for name, text in pages().items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")

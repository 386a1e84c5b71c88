"""What the site needs beyond Sphinx: pages made of code and results, pictures, mathematics."""

from __future__ import annotations

import importlib.util
import inspect
import os
import re
import shutil
from pathlib import Path
from typing import Any

import api_pages
import docstrings
import reproduction
import scale_results
from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.domains.python import PyXRefRole
from sphinx.environment import BuildEnvironment
from sphinx.util.inspect import stringify_signature
from sphinx_gallery.scrapers import figure_rst

from multikernel._validation.renamed import new_by_present_names

PACKAGE = "multikernel"
MATHJAX = ("tex-chtml.js", "output/chtml/fonts")  # all that a page loads, of 24 MB


# --- pages made of code and of results ---------------------------------------------------------------------


def write_api_pages(app: Sphinx, config: Any) -> None:
    api_pages.write_pages(Path(app.srcdir))


def fill_in(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put results into the pages that are made of them, which are then made again when a result changes."""
    if scale_results.MARK.search(source[0]):
        app.env.note_dependency(scale_results.RESULTS, docname=docname)
        source[0] = scale_results.fill_in(source[0])
    if reproduction.MARK not in source[0]:
        return
    folder = Path(app.srcdir) / "reproduce"
    for path in folder.glob("*/*.json"):
        app.env.note_dependency(path, docname=docname)
    source[0] = source[0].replace(reproduction.MARK, reproduction.overview(folder))


# --- docstrings --------------------------------------------------------------------------------------------


def skip_what_is_not_ours(
    app: Sphinx, what: str, name: str, obj: object, skip: bool, options: object
) -> bool | None:
    """Leave out what a class has from scikit-learn, NumPy or the standard library."""
    origin = getattr(obj, "fget", None) or getattr(obj, "func", None) or obj
    module = getattr(origin, "__module__", None)
    if isinstance(module, str) and not module.startswith(PACKAGE):
        return True
    return None


def make_safe(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    lines[:] = docstrings.safe_lines(lines)


def show_parameters(
    app: Sphinx, what: str, name: str, obj: Any, options: object, signature: str | None, returned: str | None
) -> tuple[str, str | None] | None:
    """The parameters of classes with a shared ``__new__``, which autodoc would read instead of __init__."""
    if what != "class" or getattr(obj, "__new__", None) is not new_by_present_names:
        return None
    return stringify_signature(inspect.signature(obj), show_annotation=False), None


class NameRole(PyXRefRole):
    """`name`: a link where the reference has the name, and code where it has not."""

    def process_link(
        self, env: BuildEnvironment, refnode: Any, has_explicit_title: bool, title: str, target: str
    ) -> tuple[str, str]:
        refnode["is_plain_name"] = True
        refnode["reftype"], refnode["refdomain"] = "obj", "py"
        refnode["py:module"] = env.ref_context.get("py:module")
        refnode["py:class"] = env.ref_context.get("py:class")
        return title, target.removesuffix("()")


def find_elsewhere(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Element
) -> nodes.Element | None:
    """A name that another module of the reference has; else, of a plain name or a type, the words themselves.

    What a role names must be somewhere: without an answer from here, Sphinx warns.
    """
    if node.get("refdomain") != "py":
        return None
    is_type, is_plain = "refwarn" not in node, bool(node.get("is_plain_name"))
    name = node["reftarget"]
    if name.startswith(f"{PACKAGE}."):  # by a module that exports it too; its page is under another
        name = name.rpartition(".")[2]
    elif name.startswith("sklearn."):  # no reference of another project is at hand without a network
        return content
    if not is_type and (name[:1].isupper() or not is_plain):  # `compare` may be a word, `View` is none
        python = env.domains.python_domain
        for module in api_pages.PUBLIC:
            if (address := f"{module}.{name}") in python.objects:
                return python.resolve_xref(env, node["refdoc"], app.builder, "obj", address, node, content)
    return content if is_plain or is_type else None


# --- pictures of the examples ------------------------------------------------------------------------------


class SavedPictures:
    """Takes the pictures that an example has saved below run/, where it works, for its page."""

    def __call__(self, block: object, variables: dict[str, Any], config: dict[str, Any]) -> str:
        folder = Path(variables["src_file"]).parent / "run"
        taken = []
        for path in sorted(folder.glob("*.png"), key=os.path.getmtime):
            target = next(variables["image_path_iterator"])
            shutil.move(path, target)
            taken.append(target)
        return figure_rst(taken, config["src_dir"])


def tidy_examples(app: Sphinx, error: Exception | None) -> None:
    shutil.rmtree(Path(app.srcdir).parent / "examples" / "run", ignore_errors=True)


# --- mathematics without a network -------------------------------------------------------------------------


def copy_mathjax(app: Sphinx, error: Exception | None) -> None:
    spec = importlib.util.find_spec("sphinx-mathjax-offline")
    if error is not None or spec is None or spec.origin is None:
        return
    source = Path(spec.origin).parent / "static" / "mathjax"
    target = Path(app.outdir) / "_static" / "mathjax"
    for name in MATHJAX:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name, dirs_exist_ok=True)
        else:
            shutil.copyfile(source / name, target / name)


# --- the sidebar -------------------------------------------------------------------------------------------


def shorten_sidebar(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Open the branch of the page only: hundreds of names on each of hundreds of pages are slow to load."""
    if whole := context.get("toctree"):
        context["toctree"] = lambda **options: whole(**options | {"collapse": True})


SIGNATURE = re.compile(r"<dl>\n((?:<dd>.*?</dd>\n?)+)</dl>", re.DOTALL)  # of several lines


def make_accessible(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Captions of the sidebar are headings of a level; a signature is no list of definitions."""
    if tree := context.get("furo_navigation_tree"):
        context["furo_navigation_tree"] = tree.replace('role="heading"', 'role="heading" aria-level="2"')
    if body := context.get("body"):
        body = body.replace('class="caption" role="heading"', 'class="caption" role="heading" aria-level="2"')
        context["body"] = SIGNATURE.sub(signature_lines, body)


def signature_lines(found: re.Match[str]) -> str:
    lines = found[1].replace("<dd>", '<span class="sig-line">').replace("</dd>", "</span>")
    return f'<span class="sig-lines">{lines}</span>'


# --- source pages ------------------------------------------------------------------------------------------

LINK_BACK = re.compile(rf'(href="[^"]*{api_pages.FOLDER}/)([\w.]+?)((?:-function)?\.html)#([\w.]+)"')


def aim_links_back(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Links from source pages to the reference: viewcode takes a name's place from any module that has it."""
    if page.startswith("_modules/"):
        context["body"] = LINK_BACK.sub(aimed, context["body"])


def aimed(link: re.Match[str]) -> str:
    head, address, end, place = link.groups()
    if not place.startswith(address):
        place = address + place.partition("." + address.rpartition(".")[2])[2]
    return f'{head}{address}{end}#{place}"'


# --- pages of the repository that are also pages of the site ------------------------------------------------


def aim_links(app: Sphinx, docname: str, parent: Path, source: list[str]) -> None:
    """Links of an included page, which are seen from the root of the repository, seen from docs/."""
    source[0] = re.sub(r"\]\(docs/", "](", source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", write_api_pages)
    app.connect("source-read", fill_in)
    app.connect("include-read", aim_links)
    app.connect("autodoc-skip-member", skip_what_is_not_ours)
    app.connect("autodoc-process-docstring", make_safe, priority=600)  # after napoleon
    app.connect("autodoc-process-signature", show_parameters)
    app.connect("missing-reference", find_elsewhere)
    app.connect("html-page-context", shorten_sidebar, priority=400)  # before the theme draws it
    app.connect("html-page-context", aim_links_back)
    app.connect("html-page-context", make_accessible, priority=900)  # after the theme has drawn it
    app.connect("build-finished", tidy_examples)
    app.connect("build-finished", copy_mathjax)
    app.add_role("name", NameRole())
    return {"parallel_read_safe": True, "parallel_write_safe": True}

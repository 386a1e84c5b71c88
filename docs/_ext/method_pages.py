"""The pages of the methods: what is written by hand, and what each class says about itself.

A page of docs/methods has a line such as ``<!-- about: mkl -->``, which becomes picture, formula, papers,
solver and cost; every block of Python on it is run, and what it prints follows it. Only `setup` needs Sphinx.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import textwrap
from pathlib import Path
from typing import Any

import api_pages
import method_pictures
from docstrings import safe_lines
from reproduction import escaped

from multikernel.registry import Method, get_method, list_methods

# Each may be followed by what is shown where the pages are read as they are, up to END (see `with_facts`).
END = "<!-- end of the facts -->"
_SHOWN = rf"(?:\n(?:(?!^<!--).*\n)*?{END})?"
ABOUT = re.compile(rf"^<!-- about: (\w+) -->{_SHOWN}$", re.MULTILINE)
LEARNERS = re.compile(rf"^<!-- learners: (\w+) -->{_SHOWN}$", re.MULTILINE)
BY_FAMILY = "<!-- methods by family -->"
LEARNER_PAGES = "<!-- learner pages -->"
CODE = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
FOLDER = "methods"
CHOOSE = "choose"
_NO_TARGET = "unsupervised"
_KERNELS = {"functional_form": '--kernels "linear, gaussian"'}  # of exactly two
_WIDTH = 88  # of what is printed on a page; longer sentences are broken


def complete(text: str) -> str:
    """A page as it is shown, from the page as it is written."""
    text = CODE.sub(with_output({"__name__": "__main__"}), text)
    text = text.replace(BY_FAMILY, by_family()).replace(LEARNER_PAGES, learner_pages())
    text = LEARNERS.sub(lambda mark: learner_sections(mark[1]), text)
    named = ABOUT.search(text)
    if named is None:
        return text
    method = get_method(named[1])
    text = (
        text.rstrip()
        + f"\n\n## Command line\n\n{command_line(method)}\n\n## Reference\n\n{classes(method)}\n"
    )
    return text.replace(named[0], about(method))


# --- pages as they are read without a build ---------------------------------------------------------------


def with_facts(text: str) -> str:
    """A page with the facts of its methods written into it, for readers of the repository."""
    text = ABOUT.sub(lambda found: f"<!-- about: {found[1]} -->\n\n{plain_about(found[1])}\n\n{END}", text)
    return LEARNERS.sub(
        lambda found: f"<!-- learners: {found[1]} -->\n\n{plain_learners(found[1])}\n\n{END}", text
    )


def plain_about(name: str) -> str:
    method = get_method(name)
    return f"{escaped(method.about.use)}\n\n{facts(method)}"


def plain_learners(family: str) -> str:
    methods = [method for method in list_methods(family=family) if method.learner is not None]
    rows = [
        f"| `{method.class_names[0]}` | {escaped(method.about.problem)} | {escaped(method.about.use)} |"
        for method in methods
    ]
    return "\n".join(["| rule | problem | when to use it |", "|---|---|---|", *rows])


# --- one method --------------------------------------------------------------------------------------------


def about(method: Method) -> str:
    """Picture, formula, facts and when to use it."""
    parts = [picture(method.name), facts(method)]
    if not method.preset:  # whose pages state their problem themselves
        formula = docstring_head(next(iter(method.estimators.values())), "multikernel", skip_first=True)
        parts[1:1] = ["## The problem", formula]
    return "\n\n".join([*parts, "## When to use it", escaped(method.about.use)])


def picture(name: str) -> str:
    caption = method_pictures.caption_of(name)
    return f"```{{figure}} ../{method_pictures.FOLDER}/{name}.png\n:alt: {caption}\n\n{caption}\n```"


NOTES = re.compile(r"\nNotes\n-+\n(.*?)(?=\n\n?[A-Z][\w ]+\n-{3,}\n|\Z)", re.DOTALL)


def docstring_head(cls: type, module: str, *, skip_first: bool) -> str:
    """The formula of a docstring and its symbols: before its parameters, or in its notes."""
    text = inspect.getdoc(cls) or ""
    head = re.split(r"\n(?:Parameters|Attributes|Examples|Notes)\n-+\n", text)[0].strip()
    if skip_first:
        head = head.partition("\n")[2].strip()
    notes = NOTES.search(text)
    if notes is not None and not re.search(r":math:|\.\. math::|::$", head, re.MULTILINE):
        head = f"{head}\n\n{notes[1].strip()}".strip()
    safe = "\n".join(safe_lines(formulas_as_written(head).splitlines()))
    return f"```{{eval-rst}}\n.. currentmodule:: {module}\n\n{safe}\n```"


def formulas_as_written(head: str) -> str:
    """Formulas in Unicode line by line as they stand: paragraphs that are indented or set with two blanks."""
    shown: list[str] = []
    for paragraph in head.split("\n\n"):
        is_mathematics = bool(shown) and shown[-1].endswith("::")
        if re.search(r"^    |\S {2,}\S", paragraph) and not is_mathematics:
            lines = re.sub(r", {4,}", ",\n", textwrap.dedent(paragraph))  # what stands far apart, apart
            paragraph = "::\n\n" + textwrap.indent(lines, "    ")
        shown.append(paragraph)
    return "\n\n".join(shown)


def facts(method: Method) -> str:
    rows = [
        ("task", ", ".join(method.tasks)),
        ("solver and certificate", escaped(method.about.solver)),
        ("cost", escaped(method.about.cost)),
        ("papers", "<br>".join(map(escaped, papers(method)))),
    ]
    lines = [f"| {name} | {fact} |" for name, fact in rows]
    return "\n".join(["| | |", "|---|---|", *lines])


def papers(method: Method) -> list[str]:
    """The references of the class, one sentence each; those of its row where it has none."""
    owner: Any = method.learner or next(iter(method.estimators.values()))
    found = re.search(r"\nReferences\n-+\n(.*?)(?=\n\n\w+\n---|\Z)", inspect.getdoc(owner) or "", re.DOTALL)
    if found is None or method.preset:
        return [method.about.reference]
    entries = re.split(r"(?<=\d\.)\s*\n", found[1].strip())
    return [
        " ".join(entry.replace(":math:", "").replace("`", "").split()) for entry in entries if entry.strip()
    ]


def command_line(method: Method) -> str:
    if not method.predicts:
        return "It does not predict, it is a step before another model: in Python only."
    alone = method.tasks == (_NO_TARGET,)
    call = f"multikernel fit data.csv{'' if alone else ' --target y'} --method {method.name}"
    call += f" {_KERNELS[method.name]}" if method.name in _KERNELS else ""
    lines = [f"{call} --out model/"]
    if _NO_TARGET in method.tasks and not alone:
        lines.append(lines[0].replace("--target y", "--task unsupervised") + "   # one class: finds outliers")
    return "```sh\n" + "\n".join(lines) + "\n```"


def classes(method: Method) -> str:
    """Links to the reference, by task."""
    tasks: dict[str, list[str]] = {}
    for task, cls in method.estimators.items():
        tasks.setdefault(cls.__name__, []).append(task)
    links = [f"- {link(room_of(name), name)}: {', '.join(found)}" for name, found in tasks.items()]
    made = "makes any of them" if len(links) > 1 else "makes it"
    return "\n".join([*links, f'- `multikernel.registry.get_method("{method.name}")` {made}.'])


def room_of(name: str) -> str:
    """The module under which an estimator has its page in the reference."""
    homes = (home.rpartition(".") for home in api_pages.home_of_each().values())
    return next(module for module, _, found in homes if found == name)


def link(module: str, name: str) -> str:
    return f"{{py:obj}}`{name} <{module}.{name}>`"


# --- weight learners ---------------------------------------------------------------------------------------


def learner_sections(family: str) -> str:
    """The picture of a family, and a section for each of its learners."""
    methods = [method for method in list_methods(family=family) if method.learner is not None]
    return "\n\n".join([picture(f"weights_{family}"), *map(learner_section, methods)])


def learner_section(method: Method) -> str:
    assert method.learner is not None
    name = method.learner.__name__
    return "\n\n".join(
        [
            f"({label(method)})=\n## {name}",
            escaped(method.about.use),
            docstring_head(method.learner, "multikernel.rules", skip_first=False),
            facts(method),
            f"{command_line(method)}\n\nReference: {link('multikernel.rules', name)}.",
        ]
    )


def label(method: Method) -> str:
    return f"method-{method.name.replace('_', '-')}"


def learner_pages() -> str:
    families: dict[str, list[Method]] = {}
    for method in list_methods():
        if method.learner is not None:
            families.setdefault(method.page, []).append(method)
    return "\n".join(
        f"- [{page_title(page)}]({Path(page).name}.md): {', '.join(f'`{m.class_names[0]}`' for m in methods)}"
        for page, methods in families.items()
    )


# --- all methods -------------------------------------------------------------------------------------------


def by_family() -> str:
    """Every method with a link and when to use it, family by family."""
    families: dict[str, list[Method]] = {}
    for method in list_methods():
        families.setdefault(method.about.family, []).append(method)
    parts = []
    for family, methods in families.items():
        rows = [f"- {methods_link(method)}: {escaped(method.about.use)}" for method in methods]
        parts.append(f"## {family.capitalize()}\n\n" + "\n".join(rows))
    return "\n\n".join(parts)


def methods_link(method: Method) -> str:
    if method.learner is None:
        return f"[{method.title}]({method.name}.md) (`{method.name}`)"
    return f"[{method.class_names[0]}](#{label(method)})"


def page_title(page: str) -> str:
    """The heading of a page of docs, as it is written."""
    text = (Path(__file__).parents[1] / f"{page}.md").read_text(encoding="utf-8")
    return text.split("\n", 1)[0].removeprefix("# ")


# --- examples ----------------------------------------------------------------------------------------------


def with_output(namespace: dict[str, Any]) -> Any:
    """A function that runs a block of Python and puts what it prints behind it; blocks share their names."""

    def run(block: re.Match[str]) -> str:
        return f"{block[0]}\n```text\n{printed(block[1], namespace)}```\n"

    return run


def printed(code: str, namespace: dict[str, Any]) -> str:
    """What a piece of code prints."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(code, "<example>", "exec"), namespace)
    return "".join(
        textwrap.fill(line, _WIDTH) + "\n" if len(line) > _WIDTH else f"{line}\n"
        for line in said.getvalue().splitlines()
    )


# --- Sphinx ------------------------------------------------------------------------------------------------


def setup(app: Any) -> dict[str, bool]:
    """Enter the pages into the build."""

    def fill_in(app: Any, docname: str, source: list[str]) -> None:
        if docname.startswith(f"{FOLDER}/") or docname == CHOOSE:
            source[0] = complete(source[0])

    app.connect("builder-inited", lambda app: method_pictures.draw_all(Path(app.srcdir)))
    app.connect("source-read", fill_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Run the code of the pages: every ```python block and every command of multikernel does what the page says.

The blocks of a page run in order, Python in one namespace, all in one empty folder. A ```text block is what
the block before it prints; ``...`` in it stands for anything. A ```sh block runs if its first line is a
command of multikernel, with or without ``$``; after ``$`` lines, lines without it are what the command
prints, and ``# exits 1`` after a command says that it is refused. ``<!-- not run: why -->`` before a block
leaves it out. Other blocks are not code to run.

``<!-- data: NAME, folder/file -->`` on a page names the data sets that it needs. They are looked for in
$MULTIKERNEL_DATA, else in ../shared/data beside the repository; without them the page is not run, and the
output says which ones are missing. All other pages run without $MULTIKERNEL_DATA.

    python docs/check_code.py [PAGE ...]           the pages of docs/, or those given
    python docs/check_code.py --write PAGE ...     write what is printed into the ```text blocks, and the
                                                   pictures that the page saves and shows into docs/images
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

DOCS = Path(__file__).parent
DATA_VARIABLE = "MULTIKERNEL_DATA"
DATA_BESIDE = DOCS.resolve().parents[1] / "shared" / "data"
FENCE = re.compile(r"^( *)```(\w+)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
DATA = re.compile(r"^<!-- data: (.+) -->$", re.MULTILINE)
PICTURE = re.compile(r"\]\((?:\.\./)?(images/([\w-]+\.png))\)")
NOT_RUN = re.compile(r"<!-- not run: .+ -->\s*$")
REFUSED = re.compile(r"#\s*exits (\d+)\s*$")
SKIPPED_FOLDERS = ("auto_api", "auto_examples", "reproduce", "_static", "_templates")
SECONDS = 300


class PageError(Exception):
    """A block does not do what its page says; the message names the page and the line."""


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the line of the page on which the text begins."""

    language: str
    body: str
    line: int


@dataclass
class Tally:
    """What a page had: blocks that ran, outputs that were compared."""

    n_run: int = 0
    n_compared: int = 0
    printed: dict[Block, str] = field(default_factory=dict)


def blocks_of(text: str) -> Iterator[Block]:
    """The fenced blocks of a page that are not marked as not run."""
    for found in FENCE.finditer(text):
        if NOT_RUN.search(text[: found.start()]):
            continue
        body = "".join(line.removeprefix(found[1]) for line in found[3].splitlines(keepends=True))
        yield Block(found[2], body, text.count("\n", 0, found.start(3)) + 1)


def run_page(
    page: Path, folder: Path | None = None, *, commands: bool = True, compares: bool = True
) -> Tally:
    """Run a page; raise PageError where it does not do what it says.

    Parameters
    ----------
    page : Path
    folder : Path, default=None
        Where its code works; the folder of the process if None.
    commands : bool, default=True
        Whether commands are run too.
    compares : bool, default=True
        Whether what is printed must be what the page shows; if False it is only kept, in ``Tally.printed``.
    """
    tally, printed = Tally(), None
    namespace: dict[str, object] = {"__name__": page.stem}
    with contextlib.chdir(folder or Path.cwd()), warnings.catch_warnings():  # a page may set filters
        for block in blocks_of(page.read_text(encoding="utf-8")):
            if block.language == "python":
                printed, tally.n_run = run_python(page, block, namespace), tally.n_run + 1
            elif commands and block.language == "sh" and commands_of(block):
                printed, tally.n_run = run_commands(page, block), tally.n_run + 1
            elif block.language == "text" and printed is not None:
                tally.printed[block] = printed
                if compares:
                    compare(page, block.line, block.body, printed)
                printed, tally.n_compared = None, tally.n_compared + 1
    return tally


def run_python(page: Path, block: Block, namespace: dict[str, object]) -> str:
    """Run a block; return what it prints. Blank lines before it make its line numbers those of the page."""
    source = "\n" * (block.line - 1) + block.body
    with contextlib.redirect_stdout(io.StringIO()) as output:
        try:
            exec(compile(source, str(page), "exec"), namespace)
        except Exception as error:
            raise PageError(f"{place(page, line_of(error, page, block))}: {describe(error)}") from error
    return output.getvalue()


def line_of(error: Exception, page: Path, block: Block) -> int:
    if isinstance(error, SyntaxError) and error.filename == str(page) and error.lineno:
        return error.lineno
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(page)]
    return frames[-1].lineno or block.line if frames else block.line


def describe(error: Exception) -> str:
    return "".join(traceback.format_exception_only(error)).strip()


@dataclass(frozen=True)
class Command:
    """A command line with its line on the page, its exit code, and what it prints (None: not said)."""

    text: str
    line: int
    code: int
    expected: str | None


def commands_of(block: Block) -> list[Command]:
    """The commands of a block; none if it is not of multikernel."""
    lines = block.body.replace("\\\n", "\0").splitlines()  # a command that goes on stays one line
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    if not first.removeprefix("$ ").startswith("multikernel "):
        return []
    has_prompt = first.startswith("$ ")
    commands: list[Command] = []
    number = block.line
    for line in lines:
        if line.startswith("$ ") or (not has_prompt and line.strip() and not line.startswith("#")):
            text = line.removeprefix("$ ").replace("\0", " ")
            refused = REFUSED.search(text)
            commands.append(Command(text, number, int(refused[1]) if refused else 0, None))
        elif has_prompt and commands:
            last = commands[-1]
            commands[-1] = Command(last.text, last.line, last.code, f"{last.expected or ''}{line}\n")
        number += 1 + line.count("\0")
    return commands


def run_commands(page: Path, block: Block) -> str:
    """Run the commands of a block; return what the last one prints to its standard output."""
    printed = ""
    here = str(Path(sys.executable).parent)
    environment = os.environ | {"PATH": here + os.pathsep + os.environ.get("PATH", ""), "COLUMNS": "100"}
    for command in commands_of(block):
        done = subprocess.run(
            command.text, shell=True, capture_output=True, text=True, env=environment, timeout=SECONDS
        )
        if done.returncode != command.code:
            raise PageError(
                f"{place(page, command.line)}: `{command.text}` exits {done.returncode}, the page says "
                f"{command.code}\n{done.stdout}{done.stderr}"
            )
        printed = done.stdout if command.code == 0 else done.stdout + done.stderr
        if command.expected is not None and command.expected.strip():
            compare(page, command.line, command.expected, printed)
    return printed


def compare(page: Path, line: int, expected: str, printed: str) -> None:
    """Raise PageError unless the output is the expected one, blanks at the ends of lines aside."""
    wanted, got = trimmed(expected), trimmed(printed)
    pattern = ".*?".join(map(re.escape, wanted.split("...")))
    if not re.fullmatch(pattern, got, re.DOTALL):
        raise PageError(f"{place(page, line)}: the page shows\n{wanted}\n\nbut the code prints\n{got}\n")


def trimmed(text: str) -> str:
    return "\n".join(row.rstrip() for row in text.strip("\n").splitlines())


def place(page: Path, line: int) -> str:
    return f"{page}:{line}"


def write_output(page: Path, tally: Tally, folder: Path) -> None:
    """Put what a run printed and drew into the page and beside it; a ``...`` in the page is kept."""
    lines = page.read_text(encoding="utf-8").splitlines(keepends=True)
    for block, printed in sorted(tally.printed.items(), key=lambda item: -item[0].line):
        if "..." not in block.body:
            place_of_body = slice(block.line - 1, block.line - 1 + block.body.count("\n"))
            if "".join(lines[place_of_body]).replace(" ", "") != block.body.replace(" ", ""):
                raise PageError(f"{page} was changed while it ran")
            lines[place_of_body] = [trimmed(printed) + "\n"]
    text = "".join(lines)
    page.write_text(text, encoding="utf-8")
    for place_in_docs, name in PICTURE.findall(text):
        if (folder / name).exists():
            shutil.copyfile(folder / name, DOCS / place_in_docs)


# --- data sets that a page needs ---------------------------------------------------------------------------


def data_folder() -> Path | None:
    """The folder of $MULTIKERNEL_DATA, else the one beside the repository; None without a manifest."""
    named = os.environ.get(DATA_VARIABLE)
    folder = Path(named).absolute() if named else DATA_BESIDE
    return folder if (folder / "manifest.json").is_file() else None


def missing_data(page: Path, folder: Path | None) -> list[str]:
    """The data sets that a page needs and the folder does not have."""
    found = DATA.search(page.read_text(encoding="utf-8"))
    names = [name.strip() for name in found[1].split(",")] if found else []
    files = {name: name if "." in name else f"{name}.npz" for name in names}
    return [name for name, file in files.items() if folder is None or not (folder / file).is_file()]


def needs_data(page: Path) -> bool:
    return DATA.search(page.read_text(encoding="utf-8")) is not None


# --- all pages ---------------------------------------------------------------------------------------------


def pages() -> list[Path]:
    """The pages of docs/ that people write, and those made of what methods say about themselves."""
    found = sorted(DOCS.rglob("*.md"))
    return [page for page in found if page.relative_to(DOCS).parts[0] not in SKIPPED_FOLDERS]


def prepare() -> None:
    """One thread, no windows, no data folder of the machine at hand, and warnings that nobody overlooks."""
    os.environ |= {"MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"}
    os.environ.pop(DATA_VARIABLE, None)
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")


def cpu_seconds() -> float:
    """CPU time of this process and of the commands that have ended."""
    return sum(os.times()[:4])


def run_and_report(page: Path, *, writes: bool, data: Path | None) -> bool:
    """Run a page in an empty folder and print how it went; return whether it does what it says."""
    name = page.relative_to(DOCS) if page.is_relative_to(DOCS) else page.name
    if missing := missing_data(page, data):
        print(f"{name}: not run, as {', '.join(missing)} is missing; {DATA_VARIABLE} names the data folder")
        return True
    start, cpu = time.perf_counter(), cpu_seconds()
    os.environ.pop(DATA_VARIABLE, None)
    if needs_data(page):
        os.environ[DATA_VARIABLE] = str(data)
    with tempfile.TemporaryDirectory() as folder:
        try:
            tally = run_page(page, Path(folder), compares=not writes)
            if writes:
                write_output(page, tally, Path(folder))
        except PageError as error:
            print(f"FAILED {error}", file=sys.stderr)
            return False
    if tally.n_run:
        took = f"{time.perf_counter() - start:.1f} s, {cpu_seconds() - cpu:.1f} s of CPU"
        print(f"{name}: {tally.n_run} ran, {tally.n_compared} compared, {took}", flush=True)
    return True


def main(arguments: list[str]) -> int:
    """Run the pages; return how many of them failed."""
    writes = "--write" in arguments
    named = [Path(name).resolve() for name in arguments if name != "--write"]
    data = data_folder()
    prepare()
    return sum(not run_and_report(page, writes=writes, data=data) for page in named or pages())


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))

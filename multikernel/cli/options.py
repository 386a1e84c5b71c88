"""Arguments and options that several commands have, worded once, and what they show while they work."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import progress
from rich.console import Console
from rich.markup import escape

from multikernel.cli.app import STOPPED, say
from multikernel.core.store import Progress, progress_bar
from multikernel.inspection.rivals.baselines import BASELINES, GROUPS, choose_baselines
from multikernel.inspection.scoring import scores_asked
from multikernel.io.tables.censored import Censored
from multikernel.registry import Method, get_method, list_methods

TableFile = Annotated[
    Path | None,
    typer.Argument(help="The table: .csv, .tsv, .csv.gz, .parquet or .npz; or give several by --table."),
]
Tables = Annotated[
    list[str] | None,
    typer.Option(
        "--table",
        metavar="NAME=FILE",
        help="One of several tables of the same samples, e.g. mrna=mrna.csv; repeated for each.",
    ),
]
Id = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="The column of every table that distinguishes samples."),
]
Join = Annotated[
    str,
    typer.Option("--join", help="Samples that not all tables have: inner leaves them out, outer keeps them."),
]
TargetTable = Annotated[
    str | None,
    typer.Option("--target-table", metavar="NAME", help="Which table has the target, if several might."),
]
TargetFile = Annotated[
    Path | None, typer.Option("--target-file", help="A file of ids and targets, if no table has them.")
]
Target = Annotated[
    str | None, typer.Option("--target", "-y", help="The column (or array) to learn to predict.")
]
Time = Annotated[
    str | None,
    typer.Option("--time", metavar="COLUMN", help="Of survival: the column of the times; with --event."),
]
Event = Annotated[
    str | None,
    typer.Option(
        "--event",
        metavar="COLUMN",
        help="Of survival: the column that is 1 where the event was seen and 0 where the time is censored; "
        "or COLUMN=VALUE, such as status=dead.",
    ),
]
Entry = Annotated[
    str | None,
    typer.Option(
        "--entry", metavar="COLUMN", help="Of survival: the times from which on samples were observed."
    ),
]
Views = Annotated[
    Path | None, typer.Option("--views", help="TOML file of views: name, columns and kernel of each.")
]
Kernels = Annotated[
    str | None,
    typer.Option(
        "--kernels", help="Kernels with commas between them, e.g. 'linear, gaussian(scale=2)', or auto."
    ),
]
Task = Annotated[
    str,
    typer.Option(
        "--task",
        help="Task: classification, regression, survival or unsupervised; default: found from the target.",
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option("--ignore", metavar="COLUMN", help="A column to leave out, such as an id; may be repeated."),
]
OneHot = Annotated[
    list[str] | None,
    typer.Option(
        "--one-hot", metavar="COLUMN", help="A column of names: one of 0 and 1 for each; may be repeated."
    ),
]
KeepNa = Annotated[
    bool,
    typer.Option(
        "--keep-na", help="NA, None, null and the like are names, in the target and in --one-hot columns."
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes at the same time.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
ModelPath = Annotated[Path, typer.Argument(help="Folder that `multikernel fit` has written.")]
Baselines = Annotated[
    str,
    typer.Option(
        "--baselines",
        metavar="NAMES",
        help=f"Models to compare with, with commas between them: usual ({', '.join(GROUPS['usual'])}), all, "
        f"or of {', '.join(BASELINES)}.",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="A dask scheduler, e.g. tcp://10.0.0.7:8786: all its workers do the work, in place of --jobs.",
    ),
]


Scoring = Annotated[
    str | None,
    typer.Option(
        "--scoring",
        metavar="NAMES",
        help="Scores with commas between them, as scikit-learn names them, e.g. roc_auc,accuracy: the first "
        "decides.",
    ),
]
Folds = Annotated[
    int | None,
    typer.Option("--cv", min=2, metavar="FOLDS", help="Folds; five repetitions of two if not given."),
]
Groups = Annotated[
    str | None,
    typer.Option(
        "--groups",
        metavar="COLUMN",
        help="The column that tells which samples belong together, such as those of one patient: they stay "
        "on one side of each fold.",
    ),
]
Weights = Annotated[
    str | None,
    typer.Option("--weights", metavar="COLUMN", help="The column of the weights of the samples."),
]


def read_scoring(text: str | None) -> list[str] | None:
    """The scores of an option, refused here if scikit-learn does not know one."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    return list(scores_asked(names, "classification"))


def judging(
    scoring: list[str] | None, cv: int | None, columns: dict[str, str | None], read: Callable[[str], Any]
) -> dict[str, Any]:
    """Scores, folds, groups and weights as `evaluate` and `compare` take them; `read` gives a column."""
    found = {name: read(column) for name, column in columns.items() if column is not None}
    return {"scoring": scoring, "cv": cv, **found}


def same_rows(values: Any, n: int, column: str) -> Any:
    """A column that has an entry for each of the samples."""
    if values is None or len(values) != n:
        got = 0 if values is None else len(values)
        raise ValueError(f"column {column!r} must have an entry for each of the {n} samples; it has {got}.")
    return values


def read_target(
    target: str | None, time: str | None, event: str | None, entry: str | None
) -> tuple[str | None, Censored | None]:
    """The column of the target, and the others of censored times."""
    if time is None and event is None and entry is None:
        return target, None
    if target is not None:
        raise ValueError(
            "the target is one column (--target) or censored times (--time and --event); got both."
        )
    if time is None or event is None:
        given = ", ".join(f"--{n}" for n, v in (("time", time), ("event", event), ("entry", entry)) if v)
        raise ValueError(f"censored times need --time and --event; got {given}.")
    return time, Censored(event, entry)


def read_baselines(text: str) -> list[str]:
    """The baselines of an option; of unknown ones, which there are."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ValueError("--baselines must name one baseline at least, or usual, or all.")
    choose_baselines(names)
    return names


def find_method(name: str) -> Method:
    """The method of a name; of one that is not there, what may have been meant."""
    try:
        return get_method(name)
    except ValueError:
        known = [method.name for method in list_methods() if method.predicts]
        near = difflib.get_close_matches(name.casefold().replace("-", "_"), known, 3, 0.4)
        hint = f"Did you mean {', '.join(near)}? " if near else ""
        raise ValueError(
            f"there is no method {name[:40]!r}. {hint}`multikernel fit --help` has all of them."
        ) from None


def named(text: str) -> Path:
    """The folder of a name; an empty one would mean the folder one is in."""
    if not text.strip():
        raise typer.BadParameter("name a folder; got an empty text.")
    return Path(text)


# --- work while it runs, on standard error ------------------------------------------------------------------


@contextmanager
def count_fits(label: str, store: Path, what: str = "fits") -> Iterator[Progress]:
    """Show a bar from the first count on, and say after Ctrl-C how many of `what` the file `store` keeps."""
    done = [0, 0]
    with ExitStack() as bars:
        moves: list[Progress] = []

        def count(n_done: int, n_units: int) -> None:
            if not moves:  # what is refused before anything was done shows no bar
                moves.append(bars.enter_context(progress_bar(label)))
            done[:] = n_done, n_units
            moves[0](n_done, n_units)

        try:
            yield count
        except KeyboardInterrupt:
            bars.close()
            kept = f"{done[0]} of {done[1]} {what} are kept in {store}" if done[0] else "nothing was done yet"
            say(f"Stopped: {kept}. Give the same command again to go on.")
            raise typer.Exit(STOPPED) from None


@contextmanager
def watch_fit(label: str, tol: float | None) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Show a bar until the block ends, and give the function that is called at each iteration.

    The bar is full when the gap `tol` is reached, which ends the fit.
    """
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TextColumn("{task.fields[told]}"),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(elapsed_when_finished=False),
    )
    console = Console(stderr=True, soft_wrap=True)
    if not console.is_terminal:
        yield lambda entry: None
        return
    with progress.Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(escape(label), total=None, told="")
        path = _Path(tol)

        def step(entry: dict[str, Any]) -> None:
            done = path.add(entry)
            if done is None:
                bar.update(task, told=escape(path.told))
            else:
                bar.update(task, completed=done, total=1.0, told=path.told)

        yield step


class _Path:
    """How far a fit has come, machine by machine: from the first gap to the last, counted in digits."""

    def __init__(self, tol: float | None) -> None:
        self.tol = tol
        self.told = ""
        self._first, self._iteration, self._machine = math.inf, 0.0, 1

    def add(self, entry: dict[str, Any]) -> float | None:
        """The part of the way that is gone after an iteration; None where no gap tells it."""
        iteration, gap = float(entry.get("iteration", self._iteration + 1)), entry.get("gap")
        if iteration <= self._iteration:  # the next machine of several begins anew
            self._first, self._machine = math.inf, self._machine + 1
        self._iteration = iteration
        self.told = ", ".join(f"{key} {_short(entry[key])}" for key in _SHOWN if key in entry)
        if self._machine > 1:
            self.told = f"machine {self._machine}, {self.told}"
        if gap is None or self.tol is None or not math.isfinite(gap):
            return None
        self.told += f", gap {gap:.1e}"
        self._first = gap if math.isinf(self._first) else self._first
        return _fraction(self._first, gap, self.tol)


_SHOWN = ("iteration", "evaluation", "score", "best_score")


def _fraction(start: float, gap: float, tol: float) -> float:
    """How much of the way from the first gap to the last has been gone, counted in digits."""
    if not start > tol > 0 or not gap > 0:
        return 1.0
    return min(1.0, max(0.0, math.log(start / gap) / math.log(start / tol)))


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) else str(value)

"""``python -m benchmarks.view_selection``: are the error rates of ``select_views`` what they are said to be?

Problems are made up: five views of three columns say something about the target, 20 to 200 others do not.
What is selected falsely, and what is found, is counted for each method. A run that was stopped goes on where
it was; ``--problems`` says how many there are of the first kind, of each of the others 3/10 as many. The page
docs/benchmarks/view_selection.md is written from 200 of the first kind.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import false_discovery_control

from benchmarks.measuring import code_version, restart_on_threads
from benchmarks.running import say
from benchmarks.store import Store
from multikernel import View
from multikernel.inspection import select_views
from multikernel.kernels import Gaussian

Array = np.ndarray
ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks" / "view_selection.md"
RAW = ROOT / "run" / "view_selection.jsonl"
N, N_TRUE, WIDTH = 150, 5, 3
NOISE = (20, 50, 100, 200)
LEVEL, MAX_FALSE, LEAST_POWER = 0.1, 1.0, 0.7
N_PROBLEMS = 200
BY_BH = "conditional, Benjamini-Hochberg"
METHODS = ("marginal", "conditional", BY_BH, "stability")


@dataclass(frozen=True)
class Kind:
    """A kind of problems; ``effect`` is the correlation of what each true view says with the target."""

    name: str
    effect: float
    noise: str = "independent"  # or "common factor", "copies"
    curved: bool = False
    methods: tuple[str, ...] = METHODS[:3]

    def draw(self, n_noise: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """The columns, those of the true views first, and the latent target."""
        n_views = N_TRUE + n_noise
        X = rng.normal(size=(N, n_views, WIDTH))
        if self.noise == "common factor":  # the noise views go along with each other
            X[:, N_TRUE:] = np.sqrt(0.5) * (X[:, N_TRUE:] + rng.normal(size=(N, 1, WIDTH)))
        if (
            self.noise == "copies"
        ):  # every fourth noise view goes along with a true one, and tells nothing beside it
            for k in range(N_TRUE, n_views, 4):
                X[:, k] = np.sqrt(0.5) * (X[:, k] + X[:, k % N_TRUE])
        first = X[:, :N_TRUE, 0]
        said = (first**2 - 1.0) / np.sqrt(2.0) if self.curved else first
        rest = np.sqrt(1.0 - N_TRUE * self.effect**2)
        return X.reshape(N, -1), self.effect * said.sum(axis=1) + rest * rng.normal(size=N)


KINDS = (
    Kind("correlation 0.4", 0.4, methods=METHODS),
    Kind("correlation 0.3", 0.3),
    Kind("correlation 0.4, of the square of a column", 0.4, curved=True),
    Kind("correlation 0.4, noise views with a common factor", 0.4, noise="common factor"),
    Kind("correlation 0.4, a quarter of the noise views correlated with true ones", 0.4, noise="copies"),
)


def measure(kind: Kind, number: int) -> dict[str, Any]:
    """How many views each method selects in one problem, true and false ones, and its seconds."""
    rng = np.random.default_rng([KINDS.index(kind), number])
    n_noise = NOISE[number % len(NOISE)]
    X, latent = kind.draw(n_noise, rng)
    y = latent if number // len(NOISE) % 2 else latent > 0.0
    views = [
        View(f"view{k}", Gaussian(), list(range(WIDTH * k, WIDTH * (k + 1)))) for k in range(N_TRUE + n_noise)
    ]
    record: dict[str, Any] = {"kind": kind.name, "n_noise": n_noise}
    p_values = np.ones(len(views))
    for method in kind.methods:
        if method == BY_BH:  # of the same tests
            chosen = np.flatnonzero(false_discovery_control(p_values) <= LEVEL)
            seconds = record["conditional"]["seconds"]
        else:
            started = time.process_time()
            found = select_views(
                views, X, y, method=method, level=LEVEL, max_false=MAX_FALSE, random_state=number
            )
            seconds = time.process_time() - started
            chosen = np.array([int(name.removeprefix("view")) for name in found.selected])
            if method == "conditional":
                p_values = found.table["p_value"].to_numpy()
        true = int((chosen < N_TRUE).sum())
        record[method] = {"true": true, "false": len(chosen) - true, "seconds": seconds}
    return record


# ---------------------------------------------------------------------- the page
def rates(records: list[dict[str, Any]], method: str) -> dict[str, float]:
    """False discovery rate, number of false ones and power, with standard errors."""
    true = np.array([record[method]["true"] for record in records], float)
    false = np.array([record[method]["false"] for record in records], float)
    shares = false / np.maximum(true + false, 1.0)
    root = np.sqrt(len(records))
    return {
        "fdr": shares.mean(), "fdr_se": shares.std(ddof=1) / root,
        "false": false.mean(), "false_se": false.std(ddof=1) / root,
        "power": true.mean() / N_TRUE, "power_se": true.std(ddof=1) / N_TRUE / root,
        "seconds": np.median([record[method]["seconds"] for record in records]),
    }  # fmt: skip


def row(label: str, n_noise: str, method: str, found: dict[str, float], n: int) -> str:
    cells = [
        label, n_noise, method, str(n),
        f"{found['fdr']:.1%} ± {found['fdr_se']:.1%}", f"{found['false']:.2f} ± {found['false_se']:.2f}",
        f"{found['power']:.1%} ± {found['power_se']:.1%}", f"{found['seconds']:.1f}",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def verdict(found: dict[str, float], method: str) -> str:
    """Whether the error rate is kept, and the power reached."""
    if method == "stability":
        kept = found["false"] <= MAX_FALSE + 2.0 * found["false_se"]
        said = f"expected number of false selections at most {MAX_FALSE:g}: {found['false']:.2f}"
    else:
        kept = found["fdr"] <= LEVEL + 2.0 * found["fdr_se"]
        said = f"false discovery rate at most {LEVEL:.0%}: {found['fdr']:.1%}"
    power = "met" if found["power"] >= LEAST_POWER else "**missed**"
    asked = f"power at least {LEAST_POWER:.0%}: {found['power']:.1%}"
    return f"| {method} | {said} | {'met' if kept else '**missed**'} | {asked} | {power} |"


HEAD = (
    "| true views say | noise views | method | problems | false discovery rate | false ones | power | CPU s |"
)


def page(records: list[dict[str, Any]], code: str) -> str:
    """The page, from the records of all problems."""
    by_kind = {kind: [r for r in records if r["kind"] == kind.name] for kind in KINDS}
    lines = ["---", "orphan: true", "---", "", "# Are the error rates of selected views right?", ""]
    lines += [*_about(code, len(by_kind[KINDS[0]])).splitlines(), ""]
    lines += [
        f"At a correlation of 0.4 with independent noise views, over {len(by_kind[KINDS[0]])} problems:",
        "", "| method | error rate | within two standard errors | power | |", "|---|---|---|---|---|",
    ]  # fmt: skip
    lines += [verdict(rates(by_kind[KINDS[0]], method), method) for method in KINDS[0].methods]
    lines += ["", HEAD, f"|---|--:|---|{'--:|' * 5}"]
    for kind, own in by_kind.items():
        for method in kind.methods if own else ():
            lines.append(row(kind.name, "20 to 200", method, rates(own, method), len(own)))
            for n_noise in NOISE if kind is KINDS[0] else ():
                part = [record for record in own if record["n_noise"] == n_noise]
                lines.append(row("", str(n_noise), method, rates(part, method), len(part)))
    return "\n".join([*lines, "", *_LAST.splitlines(), ""])


def _about(code: str, n_problems: int) -> str:
    return f"""\
`select_views` on made-up problems: {N} samples, {N_TRUE} views of {WIDTH} columns that say something about
the target and {NOISE[0]} to {NOISE[-1]} that do not, a Gaussian kernel of median width for each view. What
a true view says is its first column (or its square); the correlation is that of what it says with the latent
target, of which half of the problems have the sign, as classes, and half the value. The tests control the
false discovery rate at {LEVEL:.0%}: the marginal one by Benjamini and Hochberg, the conditional one by
Benjamini and Yekutieli, as by default, and beside it by Benjamini and Hochberg. Stability selection controls
the expected number of false selections at {MAX_FALSE:g}, with the r-concave bound; its half samples choose by
centered alignment. By
`python -m benchmarks.view_selection --problems {n_problems}` at {code}; ± is one standard error."""


_LAST = """\
In the last kind, every fourth noise view goes along with a true view (correlation 0.71 of their columns) and
tells nothing beside it. It counts as false here for all tests. For the marginal test it is no error: such a
view does have to do with the target. For the conditional test it is what is left where the regression on the
other views has not found all that they say; its null hypothesis, that the view is independent of the target
and the other views together, does not hold for these views either, so that the p-values are approximate: the
correction by Benjamini and Yekutieli leaves room for that. The conditional test finds fewer of the true views
there, because the views that go along with them say the same.

CPU seconds are medians, taken on a machine that had other work: an indication."""


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--problems", type=int, default=N_PROBLEMS, help="of the first kind; of others 3/10")
    parser.add_argument("--written", action="store_true", help="only write the page, of what was measured")
    parser.add_argument("--raw", type=Path, default=RAW, help="where the results of each problem are kept")
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--anew", action="store_true", help="forget what earlier runs measured")
    given = parser.parse_args(arguments)
    store = Store(given.raw, "view_selection", resume=True)
    if given.anew:
        store.forget()
    for kind in KINDS if not given.written else ():
        problems = given.problems if kind is KINDS[0] else max(3 * given.problems // 10, 1)
        left = [number for number in range(problems) if not store.measured(f"{kind.name} {number}")]
        for start in range(0, len(left), 20):
            batch = left[start : start + 20]
            made = Parallel(n_jobs=given.jobs)(delayed(measure)(kind, number) for number in batch)
            for number, record in zip(batch, made, strict=True):
                store.write(f"{kind.name} {number}", record)
        say(f"{kind.name}: {problems} problems")
    records = list(store.records.values())
    given.page.write_text(page(records, code_version()))
    say(f"The page is {given.page}.")


if __name__ == "__main__":
    restart_on_threads(1, "benchmarks.view_selection")
    main()

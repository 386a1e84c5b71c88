"""Several methods and their simpler rivals on one data set: scores, paired tests, one sentence."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from multikernel._resumable import Progress
from multikernel.evaluation._contenders import rivals
from multikernel.evaluation._contest import (
    LEVEL,
    METRICS,
    N_FITS,
    PROTOCOL,
    Contender,
    Report,
    Scores,
    contest_works,
    n_samples,
    scores_of,
)
from multikernel.evaluation._parts import listed, p_text
from multikernel.evaluation._plain import plain
from multikernel.evaluation._runs import Outcomes, Settings, run_groups
from multikernel.evaluation._subject import Subject
from multikernel.stats.verdicts import verdicts_against

Part = dict[str, Any]


def compare_models(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    baselines: bool = True,
    random_state: int = 0,
    n_jobs: int | None = 1,
    store: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Part:
    """Compare estimators on one data set, and with simpler rivals: who is better, as far as can be told?

    All are fitted to the same folds, five repetitions of two-fold cross-validation. With rivals, each model
    is tested against each of them; without, each model against the one with the best mean. An estimator that
    fails is left out with the reason.

    Parameters
    ----------
    models : mapping of str to estimator
        Unfitted, all classifiers or all regressors.
    X, y : the samples, as for their ``fit``
    baselines : bool, default=True
        Whether to add the best single view, the plain sum (both under the machine of the first model that has
        views) and a tuned RBF machine, where there are columns of numbers.
    random_state, n_jobs, store, progress
        As for `evaluate`.

    Returns
    -------
    dict
        ``task``, ``n_samples``, ``metric``, ``protocol``; ``rows``, the best mean first: ``name``, ``what``,
        ``is_rival``, ``score``, ``sd``, ``seconds`` of a fit, the ten ``folds`` and ``tests``, a list of
        ``rival``, ``difference``, ``p`` (Holm's, of all tests against that rival), ``verdict`` ("better",
        "worse", "tie"); ``answer``, ``omitted``, ``notes``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import MKLClassifier
    >>> from multikernel.kernels import Linear
    >>> X, y = load_iris(return_X_y=True)
    >>> views = [("sepal", Linear(), [0, 1]), ("petal", Linear(), [2, 3])]
    >>> models = {f"C={C}": MKLClassifier(views, C=C) for C in (0.01, 1.0)}
    >>> found = compare_models(models, X, y, baselines=False)
    >>> [row["name"] for row in found["rows"]], found["metric"]
    (['C=1.0', 'C=0.01'], 'accuracy')
    """
    subject = _subject(models)
    report = Report()
    contenders = {name: Contender(model, _what(model)) for name, model in models.items()}
    simple = rivals(subject, (X, y), report) if baselines else {}
    for name in simple.keys() & contenders.keys():
        raise ValueError(f"the models are compared with {name!r}: call that model otherwise.")
    if len(contenders) + len(simple) < 2:
        raise ValueError("there must be two models at least, or one and its rivals; got one.")
    settings = Settings(n_jobs, store, progress, random_state)
    everyone = {**contenders, **simple}
    works = contest_works(everyone, subject, (X, y), random_state, stored=settings.is_stored)
    outcomes = run_groups(works, settings)
    scores = scores_of(outcomes, everyone)
    _note(scores, outcomes, report)
    if not any(name in scores.folds for name in models):
        raise ValueError("no model could be fitted: " + " ".join(scores.failures.values()))
    rows = _rows(everyone, list(simple), scores, outcomes)
    return {
        "task": subject.task,
        "n_samples": n_samples(X),
        "metric": METRICS[subject.task],
        "protocol": f"{PROTOCOL}; p by the 5×2 cv F test, adjusted by Holm's method over all tests against "
        "the same rival; a verdict other than a tie needs eight of the ten folds on one side as well.",
        "rows": plain(rows),
        "answer": _answer(rows, METRICS[subject.task]),
        "omitted": report.omitted,
        "notes": report.notes,
    }


def _subject(models: Mapping[str, Any]) -> Subject:
    """The model that says what the rivals are made of."""
    if not isinstance(models, Mapping) or not models:
        raise TypeError(f"models must be a dictionary by name; got {models!r}.")
    first = next((model for model in models.values() if hasattr(model, "kernels")), None)
    first = next(iter(models.values())) if first is None else first
    if not is_classifier(first) and not is_regressor(first):
        raise ValueError(f"models must be classifiers or regressors; {type(first).__name__} is neither.")
    return Subject(first, first)


def _what(model: Any) -> str:
    return " ".join(type(model).__name__.split()) + " as it was given, fitted anew in each fold."


def _note(scores: Scores, outcomes: Outcomes, report: Report) -> None:
    for name, why in scores.failures.items():
        report.omit(name, why)
    outcomes.note_warnings(report.notes)


def _rows(
    everyone: Mapping[str, Contender], simple: list[str], scores: Scores, outcomes: Outcomes
) -> list[Part]:
    there = sorted(scores.folds, key=lambda name: -scores.mean(name))
    own = [name for name in there if name not in simple]
    against = [name for name in there if name in simple] or own[:1]
    tests = {rival: _tests(rival, own, scores) for rival in against}
    return [
        {
            "name": name,
            "what": everyone[name].what,
            "is_rival": name in simple,
            "score": scores.mean(name),
            "sd": scores.sd(name),
            "seconds": float(np.mean([result["fit_seconds"] for result in outcomes.results[name]])),
            "folds": scores.folds[name].ravel().tolist(),
            "tests": [{"rival": rival, **tests[rival][name]} for rival in against if name in tests[rival]],
        }
        for name in there
    ]


def _tests(rival: str, own: list[str], scores: Scores) -> dict[str, Part]:
    folds = {name: scores.folds[name] for name in {rival: None, **dict.fromkeys(own)}}
    if len(folds) < 2:
        return {}
    words = {"win": "better", "loss": "worse", "tie": "tie"}
    return {
        str(name): {
            "difference": float(row["difference"]),
            "p": float(row["p_holm"]),
            "verdict": words[row["verdict"]],
        }
        for name, row in verdicts_against(rival, folds, LEVEL).iterrows()
    }


def _answer(rows: list[Part], metric: str) -> str:
    """One sentence: the best model, and against whom that can be said."""
    by_name = {row["name"]: row for row in rows}
    own = [row for row in rows if not row["is_rival"]]
    best = own[0]
    tests = best["tests"]
    if not tests:  # it is the rival of all others
        turned = {"better": "worse", "worse": "better", "tie": "tie"}
        tests = [
            {**test, "rival": row["name"], "verdict": turned[test["verdict"]]}
            for row in own[1:]
            for test in row["tests"]
        ]
    words = {"better": "better than", "tie": "no different from", "worse": "worse than"}
    texts = []
    for verdict, text in words.items():
        found = [
            f"{_called(by_name[test['rival']])} ({by_name[test['rival']]['score']:.3f}, {p_text(test)})"
            for test in tests
            if test["verdict"] == verdict
        ]
        texts += [f"{text} {listed(found)}"] if found else []
    head = f"{best['name']} has the best mean {metric}" + (f" of {len(own)} models" if len(own) > 1 else "")
    head = head if len(own) > 1 else f"{best['name']} has a mean {metric}"
    told = f": {'; '.join(texts)}, as far as {N_FITS} folds can tell" if texts else ""
    return f"{head}, {best['score']:.3f}{told}."


def _called(row: Part) -> str:
    return f"the {row['name']}" if row["is_rival"] else str(row["name"])


def comparison_markdown(found: Part, title: str) -> str:
    """The comparison as a page of Markdown.

    Parameters
    ----------
    found : dict
        From `compare_models`.
    title : str

    Returns
    -------
    str
    """
    head, rows = comparison_table(found)
    lines = [f"# {_escaped(title)}", "", _escaped(found["answer"]), ""]
    lines += [_line(head), _line(["---"] * len(head)), *map(_line, rows), "", f"{found['protocol']}", ""]
    lines += [
        f"- {_escaped(entry['part'])} was left out: {_escaped(entry['why'])}" for entry in found["omitted"]
    ]
    lines += [f"- {_escaped(note)}" for note in found["notes"]]
    return "\n".join(lines).rstrip() + "\n"


def comparison_table(found: Part) -> tuple[list[str], list[list[str]]]:
    """The head and the rows of the table, as text."""
    against = list(dict.fromkeys(test["rival"] for row in found["rows"] for test in row["tests"]))
    head = ["model", found["metric"], "s.d.", "seconds", *(f"against {rival}" for rival in against)]
    rows = []
    for row in found["rows"]:
        tests = {test["rival"]: test for test in row["tests"]}
        cells = [_test_cell(tests[rival]) if rival in tests else "" for rival in against]
        numbers = [f"{row['score']:.3f}", f"{row['sd']:.3f}", f"{row['seconds']:.2g}"]
        rows.append([row["name"], *numbers, *cells])
    return head, rows


def _test_cell(test: Part) -> str:
    return f"{test['difference']:+.3f} (p = {test['p']:.2g}, {test['verdict']})"


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(_escaped(cell) if cell != "---" else cell for cell in cells) + " |"


def _escaped(text: str) -> str:
    """Names cannot break a table, or become markup."""
    one_line = " ".join(text.split())
    for sign in "\\`*_|<>[]#":
        one_line = one_line.replace(sign, f"\\{sign}")
    return one_line

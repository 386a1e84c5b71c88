"""Several methods and their simpler rivals on one data set: scores, paired tests, one sentence."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from multikernel._resumable import Progress
from multikernel.evaluation._contenders import RBF, machine_label, note_units, rbf_rival, simple_rules
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
    paired,
    scores_of,
)
from multikernel.evaluation._given import check_settings
from multikernel.evaluation._parts import majority_rate
from multikernel.evaluation._plain import plain
from multikernel.evaluation._runs import Outcomes, Settings, run_groups
from multikernel.evaluation._subject import Subject
from multikernel.evaluation._words import VERDICTS, listed, not_above, on_majority, on_missing, p_text
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
    is tested against those that have its own kernels and machine, so that a difference is one of the weights;
    without, each model against the one with the best mean. An estimator that fails is left out with the
    reason.

    Parameters
    ----------
    models : mapping of str to estimator
        Unfitted, all classifiers or all regressors.
    X, y : the samples, as for their ``fit``
    baselines : bool, default=True
        Whether to add the best single view and the plain sum, under the machine of each model that has views
        (where there are several machines, the names of the rivals say which), and a tuned RBF machine, where
        there are columns of numbers.
    random_state, n_jobs, store, progress
        As for `evaluate`.

    Returns
    -------
    dict
        ``task``, ``n_samples``, ``metric``, ``protocol``; ``rows``, the best mean first: ``name``, ``what``,
        ``is_rival``, ``score``, ``sd``, ``seconds`` of a fit, the ten ``folds`` and ``tests``, a list of
        ``rival``, its ``kind`` ("plain sum", …), ``difference``, ``difference_sd``, ``p_alone``, ``p``
        (Holm's, of all tests against that rival), ``verdict`` ("better", "worse", "tie"); ``answer``,
        ``omitted``, ``notes``.

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
    random_state = check_settings(random_state)
    subject = _subject(models)
    y = _column(y)
    report = Report()
    contenders = {name: Contender(model, _what(model)) for name, model in models.items()}
    simple = _rivals(models, subject, (X, y), report) if baselines else _Rivals()
    for name in simple.contenders.keys() & contenders.keys():
        raise ValueError(f"the models are compared with {name!r}: call that model otherwise.")
    if len(contenders) + len(simple.contenders) < 2:
        raise ValueError("there must be two models at least, or one and its rivals; got one.")
    settings = Settings(n_jobs, store, progress, random_state)
    everyone = {**contenders, **simple.contenders}
    works = contest_works(everyone, subject, (X, y), random_state, stored=settings.is_stored)
    outcomes = run_groups(works, settings)
    scores = scores_of(outcomes, everyone)
    _note(scores, outcomes, report)
    if not any(name in scores.folds for name in models):
        raise ValueError("no model could be fitted: " + " ".join(scores.failures.values()))
    rows = _rows(everyone, simple, scores, outcomes)
    metric = METRICS[subject.task]
    return {
        "task": subject.task,
        "n_samples": n_samples(X),
        "metric": metric,
        "protocol": f"{PROTOCOL}; p by the 5×2 cv F test, adjusted by Holm's method over all tests against "
        "the same rival; a verdict other than a tie needs eight of the ten folds on one side as well.",
        "rows": plain(rows),
        "answer": _answer(rows, metric) + _beside(rows, metric, (subject.task, y), simple, scores),
        "omitted": report.omitted,
        "notes": report.notes,
    }


def _subject(models: Mapping[str, Any]) -> Subject:
    """The model that says what the task is."""
    if not isinstance(models, Mapping) or not models:
        raise TypeError(f"models must be a dictionary by name; got {models!r}.")
    first = next((model for model in models.values() if hasattr(model, "kernels")), None)
    first = next(iter(models.values())) if first is None else first
    if not is_classifier(first) and not is_regressor(first):
        raise ValueError(f"models must be classifiers or regressors; {type(first).__name__} is neither.")
    return Subject(first, first)


def _column(y: Any) -> Any:
    """Targets in one column as a vector."""
    values = np.asarray(y)
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else y


# ------------------------------------------------------------------ rivals of each machine
@dataclass
class _Rivals:
    """The rivals, what kind each is of, and which models are tested against it."""

    contenders: dict[str, Contender] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    of_models: dict[str, list[str]] = field(default_factory=dict)


def _rivals(models: Mapping[str, Any], subject: Subject, data: tuple[Any, Any], report: Report) -> _Rivals:
    """The simple rules under the machine of each model, once for those that share it; the RBF machine."""
    found = _Rivals()
    if subject.task == "values" and np.ndim(data[1]) > 1:
        report.omit("baselines", "the rivals predict one value a sample, and y has several columns.")
        return found
    groups: dict[str, list[str]] = {}
    rules: dict[str, dict[str, Contender]] = {}
    for name, model in models.items():
        note_units(model, data[1], report)
        rules[name] = simple_rules(Subject(model, model), report)
        if rules[name]:
            mark = str([_content(contender.estimator) for contender in rules[name].values()])
            groups.setdefault(mark, []).append(name)
    labels = _labels([models[names[0]] for names in groups.values()])
    for label, names in zip(labels, groups.values(), strict=True):
        for kind, contender in rules[names[0]].items():
            name = f"{kind} under {label}" if len(groups) > 1 else kind
            found.contenders[name], found.kinds[name], found.of_models[name] = contender, kind, names
    for name, contender in rbf_rival(subject, data, report).items():
        found.contenders[name], found.kinds[name], found.of_models[name] = contender, RBF, list(models)
    return found


def _content(value: Any) -> str:
    """An estimator with all its parameters, as text that two of the same content share."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        inside = {name: _content(each) for name, each in value.get_params(deep=False).items()}
        return f"{type(value).__name__}{inside}"
    return f"[{', '.join(map(_content, value))}]" if isinstance(value, list | tuple) else repr(value)


def _labels(models: list[Any]) -> list[str]:
    """The machine of each, and a number where several have machines of the same name."""
    labels = [machine_label(Subject(model, model)) for model in models]
    return [
        f"{label} (no. {labels[:i].count(label) + 1})" if labels.count(label) > 1 else label
        for i, label in enumerate(labels)
    ]


def _what(model: Any) -> str:
    return " ".join(type(model).__name__.split()) + " as it was given, fitted anew in each fold."


def _note(scores: Scores, outcomes: Outcomes, report: Report) -> None:
    for name, why in scores.failures.items():
        report.omit(name, why)
    outcomes.note_warnings(report.notes)


def _rows(
    everyone: Mapping[str, Contender], simple: _Rivals, scores: Scores, outcomes: Outcomes
) -> list[Part]:
    there = sorted(scores.folds, key=lambda name: -scores.mean(name))
    own = [name for name in there if name not in simple.contenders]
    against = [name for name in simple.contenders if name in scores.folds] or own[:1]
    tests = {
        rival: _tests(rival, [name for name in own if name in simple.of_models.get(rival, own)], scores)
        for rival in against
    }
    return [
        {
            "name": name,
            "what": everyone[name].what,
            "is_rival": name in simple.contenders,
            "score": scores.mean(name),
            "sd": scores.sd(name),
            "seconds": float(np.mean([result["fit_seconds"] for result in outcomes.results[name]])),
            "folds": scores.folds[name].ravel().tolist(),
            "tests": [
                {"rival": rival, "kind": simple.kinds.get(rival, rival), **tests[rival][name]}
                for rival in against
                if name in tests[rival]
            ],
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
            **paired(folds[str(name)], folds[rival], row["p"]),
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
        tests = [
            _turned(test, row["name"])
            for row in own
            for test in row["tests"]
            if test["rival"] == best["name"]
        ]
    texts = []
    for verdict, text in VERDICTS.items():
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


def _turned(test: Part, name: str) -> Part:
    """A test seen from the other side."""
    verdicts = {"better": "worse", "worse": "better", "tie": "tie"}
    return {
        **test,
        "rival": name,
        "difference": -test["difference"],
        "better_folds": test["worse_folds"],
        "worse_folds": test["better_folds"],
        "verdict": verdicts[test["verdict"]],
    }


def _beside(rows: list[Part], metric: str, data: tuple[str, Any], simple: _Rivals, scores: Scores) -> str:
    """What the answer has to add: rivals of the best model that failed, and a score that is no feat."""
    best = next(row for row in rows if not row["is_rival"])
    missing = [name for name in simple.contenders if name in scores.failures]
    text = on_missing([name for name in missing if best["name"] in simple.of_models[name]])
    majority = not_above(best["score"], majority_rate(*data), len(data[1]))
    return text if majority is None else f"{text} {on_majority(best['score'], metric, majority)}"


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
    against = list(dict.fromkeys(test["kind"] for row in found["rows"] for test in row["tests"]))
    head = ["model", found["metric"], "s.d.", "seconds", *(f"against {rival}" for rival in against)]
    rows = []
    for row in found["rows"]:
        tests = {test["kind"]: test for test in row["tests"]}
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

"""Everything that can be said of a fitted model by looking at its data again, as one dictionary."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._typing import Array
from ..._validation import as_list, check_choice, check_number
from ...core.store import Progress, Result, Work
from ...rows import count_rows, is_dask
from ...views.stacks import NamedStack, match_stack
from ...views.tables import as_tables
from ...viz.fitted import plain_tree
from ..learned import (
    NoLearnedKernel,
    choose_rows,
    embedding_part,
    gate_part,
    heat_maps_part,
    learned_kernel,
    marks,
    require_samples_of_fit,
)
from ..rivals.baselines import KEPT, SINGLE, Choice, Contender, Report, choose_baselines, leave_out, rivals
from ..runs import (
    GIVEN,
    N_FITS,
    PROTOCOL,
    Outcomes,
    Settings,
    list_works,
    make_contest,
    run_groups,
    scores_of_samples,
)
from ..statistics.interval_tests import EQUIVALENCE, holm_tests
from ..statistics.paired_tests import FOLDS, REPEATS
from ..subject import Subject, is_integer, overview_of, sample_ids, subject_of
from .answers import LEVEL, METRICS, TESTED, Part, answer, as_test, majority_rate, on_views
from .held_out import GROUP, HeldOut, fold_works, held_out_part, pooled

LEARNED = "learned"
_SHOWN = 6  # labels in a message
_NOTHING = 1e-9  # a share that is none
_TEST = f"; {TESTED}; p is adjusted by Holm's method"
_ITSELF: Part = {"difference": 0.0, "difference_sd": 0.0} | dict.fromkeys(
    ("low", "high", "p_alone", "better_folds", "worse_folds", "p", "verdict")
)
CONTEST_PARTS = ("stability", "without_view", "baselines")
ALL_PARTS = (*CONTEST_PARTS, "held_out", "heat_maps", "embedding", "gate")


def evaluate(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    parts: Iterable[str] = ALL_PARTS,
    baselines: Any = True,
    cv: int = 5,
    random_state: int = 0,
    n_jobs: int | None = 1,
    store: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    max_points: int = 400,
    equivalence: float = EQUIVALENCE,
) -> Part:
    """Say what a model has learned, how firmly, and what it is worth.

    Copies of the model are fitted to parts of the samples: ten times for the stability of its weights; ten
    times without each view, and ten times for each simpler rival, all on the same folds, so that paired tests
    can tell whether a difference is one; and `cv` times for predictions of samples that it has not seen.

    Parameters
    ----------
    model : fitted estimator
        Of this library, or a pipeline or a search that ends in one. It is not modified.
    X : array, sparse matrix or DataFrame (n, d), several tables; or, precomputed, a stack (n, n, n_kernels),
        dict or list of Gram matrices
        The samples that the model was fitted to, in the same order: this cannot be checked but for their
        number.
    y : array-like (n,), optional
        Their labels or values; models of the samples alone need none.
    parts : iterable of str
        Of "stability", "without_view", "baselines", "held_out", "heat_maps", "embedding" and "gate".
    baselines : bool, str, list or dict, default=True
        What the part "baselines" compares the model with, as for :func:`multikernel.compare`: True is the
        best single view, the plain sum and a tuned RBF SVM; "all" adds late fusion, stacking, gradient
        boosting and others; a list has names and ``(name, estimator)`` pairs. "kept views alone" is the model
        on the views with ``keep``; True and "all" include it where there are some.
    cv : int, default=5
        Folds of the held-out predictions.
    random_state : int, default=0
        Draws folds and samples: the same seed, the same result, whatever `n_jobs` is.
    n_jobs : int, default=1
        Refits at the same time, in processes; -1 for all processors.
    store : path, optional
        A file of JSON lines that keeps each refit: call again after a stop, and only what is missing is
        computed.
    progress : callable, optional
        Called with (refits done, refits in all).
    max_points : int, default=400
        Samples in pictures and tables at most: of more, a part is drawn in proportion to the classes.
    equivalence : float, default=0.01
        A difference of scores whose confidence interval lies within ± this is none in practice: the verdict
        is "equal".

    Returns
    -------
    dict
        What ``json.dumps`` takes: ``task``, ``n_samples``, ``views``, ``classes``, ``data`` (who has what, as
        :func:`multikernel.viz.describe_data` says it, of several tables or where views are missing), a key
        for each part, None where it was not asked for or cannot be computed, ``omitted`` with the reasons
        (``part``, ``why``), and ``notes``. Samples have their ``row`` and, where X names them (``X.ids``, or
        the index of a frame), their ``id``.

    Notes
    -----
    Refits give every sample the same weight: a ``sample_weight`` that the model was fitted with is not kept
    by it, and so is not known here.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import MKLClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> X, y = X[::3], y[::3]
    >>> model = MKLClassifier().fit(X, y)
    >>> found = evaluate(model, X, y, parts=["stability", "embedding"])
    >>> found["stability"]["rows"][0]["view"], len(found["embedding"]["points"]), found["baselines"]
    ('linear', 50, None)
    """
    wanted = [parts] if isinstance(parts, str) else as_list("parts", parts, "names")
    _check_options(wanted, cv, max_points)
    choice = choose_baselines(baselines, (KEPT,))
    settings = Settings(random_state, n_jobs, store, progress)
    if not hasattr(model, "__sklearn_tags__"):
        raise TypeError(f"model must be a fitted estimator; got {type(model).__name__}.")
    check_is_fitted(model)
    subject = subject_of(model)
    if subject.is_precomputed and not subject.steps:
        X = _named_stack(subject, X)
    elif not subject.is_precomputed:
        X = as_tables(X)
    y = check_data(subject, X, y)
    plan = _plan(subject, (X, y), (wanted, choice), cv, settings)
    plan.equivalence = check_number("equivalence", equivalence, at_least=0.0)
    outcomes = run_groups({**plan.contest, **plan.folds}, settings, errors="omit")
    report = plan.report
    found: Part = dict.fromkeys(ALL_PARTS)
    found.update(_contest_parts(subject, y, plan, outcomes))
    targets = None if y is None else np.asarray(y)
    held_out = _held_out(subject, targets, plan, outcomes)
    if held_out is not None and targets is not None:
        points = (max_points, random_state)
        found["held_out"] = held_out_part(subject, targets, held_out, points, report, sample_ids(X))
    rows = choose_rows(targets, subject.task, max_points, random_state, count_rows(X))
    found.update(_pictures(subject, (X, targets), rows, held_out, wanted, report))
    outcomes.note_warnings(report.notes)
    if rows.size < count_rows(X):
        report.notes.append(
            f"Pictures and tables show {rows.size} of {count_rows(X)} samples, drawn at random."
        )
    labels = np.unique([] if targets is None or subject.task != "classes" else targets)
    head = {
        "task": subject.task,
        "n_samples": count_rows(X),
        "views": subject.views,
        "classes": [str(label) for label in labels],
        "data": overview_of(subject, X, targets),
    }
    return plain_tree({**head, **found, "omitted": report.omitted, "notes": report.notes})


def _named_stack(subject: Subject, X: Any) -> Any:
    """Gram matrices as a stack, which can be split, in the order and with the names of fit."""
    X = match_stack(X, getattr(subject.final, "_gram_names", None))
    is_named = np.ndim(X) == 3 and np.shape(X)[2] == len(subject.views)
    return NamedStack(X, subject.views) if is_named else X


def _check_options(parts: list[str], cv: Any, max_points: Any) -> None:
    for part in parts:
        check_choice("parts", part, ALL_PARTS)
    for name, value, what in (("cv", cv, "folds"), ("max_points", max_points, "samples to show")):
        if not is_integer(value) or value < 2:
            raise ValueError(f"{name} must be a whole number of {what}, 2 at least; got {value!r}.")


def check_data(subject: Subject, X: Any, y: Any) -> Any:
    """The targets, a single column as a vector, if they go with the samples and the model."""
    if is_dask(X) or is_dask(y):
        raise TypeError(
            "evaluate fits copies of the model to parts of the samples in this process; got a dask "
            f"{type(X if is_dask(X) else y).__name__}. Take some rows, or all that fit in memory, with "
            "compute()."
        )
    n = count_rows(X)
    require_samples_of_fit(subject.final, n)
    if y is None:
        return None
    targets = np.asarray(y)
    if targets.ndim == 2 and targets.shape[1] == 1:
        y = targets = targets[:, 0]
    if targets.ndim == 0 or len(targets) != n:
        got = "one value" if targets.ndim == 0 else f"{len(targets)}"
        raise ValueError(f"y must have one label or value for each of the {n} samples of X; got {got}.")
    if subject.task == "classes" and subject.why_not_refitted() is None and targets.ndim == 1:
        known = set(np.asarray(getattr(subject.model, "classes_", ())).tolist())
        given = set(targets.tolist())
        if known and known != given:
            raise ValueError(
                f"y must hold the labels that the model was fitted to, {_listed(known)}; got "
                f"{_listed(given)}."
            )
    return y


def _listed(labels: Iterable[Any]) -> str:
    texts = sorted(map(repr, labels))
    return ", ".join(texts[:_SHOWN]) + (" …" if len(texts) > _SHOWN else "")


# ------------------------------------------------------------------ what is to be fitted
@dataclass
class Plan:
    """The refits that an evaluation asks for, and the parts that are made of the contest."""

    parts: Sequence[str] = ()
    without: Mapping[str, Contender] = field(default_factory=dict)
    rivals: Mapping[str, Contender] = field(default_factory=dict)
    contest: Mapping[str, list[Work]] = field(default_factory=dict)
    folds: Mapping[str, list[Work]] = field(default_factory=dict)
    report: Report = field(default_factory=Report)
    equivalence: float = EQUIVALENCE


def _plan(
    subject: Subject, data: tuple[Any, Any], asked: tuple[list[str], Choice], cv: int, settings: Settings
) -> Plan:
    plan = Plan()
    wanted, choice = asked
    possible = [part for part in wanted if _can_be_refitted(part, subject, data[1], plan.report)]
    if "without_view" in possible:
        plan.without = leave_out(subject, data[0], plan.report)
    if "baselines" in possible:
        plan.rivals = _rivals(subject, data, choice, plan)
    made = ("stability" in possible, plan.without, plan.rivals)
    plan.parts = [part for part, is_made in zip(CONTEST_PARTS, made, strict=True) if is_made]
    if plan.parts:
        contenders = {LEARNED: Contender(subject.fresh()), **plan.without, **plan.rivals}
        try:
            plan.contest = _contest_works(contenders, subject, data, settings)
        except ValueError as error:
            plan.report.omit_all(plan.parts, str(error))
            plan.parts = ()
    if "held_out" in possible:
        try:
            plan.folds = {GROUP: fold_works(subject, data, cv, settings)}
        except ValueError as error:
            plan.report.omit("held_out", str(error))
    return plan


def _rivals(subject: Subject, data: tuple[Any, Any], choice: Choice, plan: Plan) -> Mapping[str, Contender]:
    for name in choice.own:
        if name == LEARNED or name in plan.without:
            raise ValueError(f"baselines must have names of their own; {name!r} is taken. Choose another.")
    if not choice:
        plan.report.omit("baselines", "no baselines were asked for (baselines=False).")
    return rivals(subject, data, plan.report, choice) if choice else {}


def _can_be_refitted(part: str, subject: Subject, y: Any, report: Report) -> bool:
    if part not in (*CONTEST_PARTS, "held_out"):
        return False
    name, why = type(subject.final).__name__, subject.why_not_refitted()
    if why is None and part != "stability" and subject.task not in METRICS:
        why = f"{name} predicts no target, so that there is no score."
    elif why is None and part == "stability" and not subject.shares():
        why = f"{name} has no weights of views."
    elif why is None and part == "stability" and hasattr(subject.final, "projections_"):
        why = "regions are numbered anew in every fit, so that their weights do not compare."
    if why is not None:
        report.omit(part, why)
    elif subject.task in METRICS and y is None:
        raise TypeError("y must hold the labels or values that the model was fitted to; got None.")
    return why is None


def _contest_works(
    contenders: Mapping[str, Contender], subject: Subject, data: tuple[Any, Any], settings: Settings
) -> dict[str, list[Work]]:
    """The refits of each contender; a ValueError where there are no ten folds, e.g. of one sample a class."""
    X, y = data
    targets = np.zeros(count_rows(X)) if y is None else y
    scoring = no_score if subject.task == "nothing" else None
    models = {name: contender.estimator for name, contender in contenders.items()}
    contest = make_contest(models, {GIVEN: (X, targets)}, scoring, settings.random_state)
    works = list_works(contest, stored=settings.is_stored)
    return {name: works[GIVEN, name] for name in models}


def no_score(model: Any, X: Any, y: Any) -> float:
    """The score where there is nothing to predict."""
    return 0.0


# ------------------------------------------------------------------ what came out
@dataclass(frozen=True)
class Scores:
    """The scores and shares of the contenders that came through, and why others did not."""

    folds: Mapping[str, Array]
    shares: Mapping[str, list[dict[str, float]]]
    failures: Mapping[str, str]
    samples: Mapping[str, Array] = field(default_factory=dict)  # (repetitions, n), of those that have some
    equivalence: float = EQUIVALENCE

    def of(self, name: str) -> Part:
        return {"score": float(self.folds[name].mean()), "sd": float(self.folds[name].std(ddof=1))}

    def against(self, rivals: list[str]) -> dict[str, Part]:
        """The tests of the model against each rival, from the model's side, Holm's p over the rivals."""
        rivals = [name for name in rivals if name in self.folds]
        if LEARNED not in self.folds or not rivals:
            return {}
        pairs = [(LEARNED, rival) for rival in rivals]
        tests = holm_tests(self.folds, pairs, LEVEL, self.samples, self.equivalence)
        return {row["rival"]: as_test(row) for row in tests.to_dict("records")}


def _renamed(result: Result, views: list[str] | None) -> dict[str, float]:
    shares = result["shares"]
    if views is None or len(views) != len(shares):
        return dict(shares)
    return dict(zip(views, shares.values(), strict=True))


def _kept(works: Sequence[Work], results: Sequence[Result]) -> Array | None:
    return scores_of_samples(results, [work.arguments["split"] for work in works])


def _contest_parts(subject: Subject, y: Any, plan: Plan, outcomes: Outcomes) -> Part:
    views = subject.views if subject.is_precomputed else None  # these only have numbers in a refit
    there = {name: outcomes.results[name] for name in plan.contest if name in outcomes.results}
    scores = Scores(
        {name: np.reshape([r["score"] for r in found], (REPEATS, FOLDS)) for name, found in there.items()},
        {name: [_renamed(r, views) for r in found] for name, found in there.items()},
        outcomes.failures,
        {name: kept for name in there if (kept := _kept(plan.contest[name], there[name])) is not None},
        plan.equivalence,
    )
    if LEARNED in scores.failures:
        plan.report.omit_all(plan.parts, scores.failures[LEARNED])
        return {}
    makers: dict[str, Callable[[], Part | None]] = {
        "stability": lambda: _stability_part(subject, scores),
        "without_view": lambda: _without_part(subject, scores, plan.without, plan.report),
        "baselines": lambda: _baselines_part(subject, scores, plan.rivals, y, plan.report),
    }
    return {part: makers[part]() for part in plan.parts}


# ------------------------------------------------------------------ stability
def _stability_part(subject: Subject, scores: Scores) -> Part:
    """The shares of the views over the refits, beside those of the model itself."""
    refits = scores.shares[LEARNED]
    rows = [_spread(view, share, refits) for view, share in subject.shares().items()]
    return {"protocol": PROTOCOL + ".", "rows": rows, "answer": _on_stability(rows)}


def _spread(view: str, share: float, refits: list[dict[str, float]]) -> Part:
    values = np.array([shares.get(view, 0.0) for shares in refits])
    return {
        "view": view,
        "share": share,
        "mean": float(values.mean()),
        "sd": float(values.std(ddof=1)),
        "low": float(values.min()),
        "high": float(values.max()),
        "used": float((np.abs(values) > _NOTHING).mean()),
        "values": values.tolist(),
    }


def _on_stability(rows: list[Part]) -> str:
    top = max(rows, key=lambda row: abs(row["mean"]))
    always = sum(row["used"] == 1.0 for row in rows)
    never = sum(row["used"] == 0.0 for row in rows)
    text = (
        f"{top['view']} has the largest share on average, {top['mean']:.1%} (from {top['low']:.1%} to "
        f"{top['high']:.1%} over {N_FITS} refits)"
    )
    views = "1 view is" if always == 1 else f"{always} views are"
    return f"{text}; {views} used in every refit{f' and {never} in none' if never else ''}."


# ------------------------------------------------------------------ without a view
def _without_part(
    subject: Subject, scores: Scores, contenders: Mapping[str, Contender], report: Report
) -> Part | None:
    """The score without each view, and what is lost without it."""
    names = {name: view for view in subject.views if (name := f"without {view}") in contenders}
    tests = scores.against(list(names))
    rows = []
    for name, view in names.items():
        if name in scores.failures:
            report.omit("without_view", f"view {view!r}: {scores.failures[name]}")
            continue
        test = dict(tests[name])
        rows.append({"view": view, **scores.of(name), "effect": test.pop("difference"), **test})
    if not rows:
        return None
    metric = METRICS[subject.task]
    return {
        "protocol": f"{PROTOCOL}{_TEST} over the views.",
        "metric": metric,
        **scores.of(LEARNED),
        "rows": rows,
        "answer": on_views(rows, metric),
    }


# ------------------------------------------------------------------ against simpler models
def _baselines_part(
    subject: Subject, scores: Scores, contenders: Mapping[str, Contender], y: Any, report: Report
) -> Part | None:
    """The model beside its rivals, and whether learning the weights helped."""
    missing = [name for name in contenders if name in scores.failures]
    for name in missing:
        report.omit("baselines", f"{name}: {scores.failures[name]}")
    tests = scores.against(list(contenders))
    if not tests:
        return None
    metric = METRICS[subject.task]
    what = {name: contenders[name].what + _chosen(name, scores) for name in tests}
    rows = [
        {"name": name, "what": told, **scores.of(name), **tests.get(name, _ITSELF)}
        for name, told in {LEARNED: subject.what, **what}.items()
    ]
    return {
        "protocol": f"{PROTOCOL}{_TEST} over the rivals.",
        "metric": metric,
        "rows": rows,
        "answer": answer(rows, metric, missing, (majority_rate(subject.task, y), len(y))),
    }


def _chosen(name: str, scores: Scores) -> str:
    """Which single view was chosen most often."""
    if name != SINGLE:
        return ""
    picked = [max(shares, key=lambda view: shares[view]) for shares in scores.shares[name]]
    first = max(dict.fromkeys(picked), key=picked.count)
    return f" Chosen most often: {first}, in {picked.count(first)} of {len(picked)} folds."


# ------------------------------------------------------------------ samples
def _held_out(subject: Subject, y: Array | None, plan: Plan, outcomes: Outcomes) -> HeldOut | None:
    if GROUP in outcomes.failures:
        plan.report.omit("held_out", outcomes.failures[GROUP])
    if GROUP not in outcomes.results or y is None:
        return None
    return pooled(outcomes.results[GROUP], y, subject.task)


def _pictures(
    subject: Subject,
    data: tuple[Any, Array | None],
    rows: Array,
    held_out: HeldOut | None,
    wanted: Sequence[str],
    report: Report,
) -> Part:
    """The parts that show samples, of the same samples each."""
    X, y = data
    points = marks(y, subject.task, rows, sample_ids(X))
    predicted = None if held_out is None else held_out.shown(subject.task)
    found: Part = {}
    K, why = None, ""
    if {"heat_maps", "embedding"} & set(wanted):
        try:
            K = learned_kernel(subject.model, X, rows)
        except NoLearnedKernel as error:
            why = str(error)
    if "heat_maps" in wanted:
        found["heat_maps"] = heat_maps_part(subject, X, y, rows, K)
        if K is None:
            report.omit("heat_maps", f"learned kernel: {why}" if found["heat_maps"] else why)
    if "embedding" in wanted and K is not None:
        found["embedding"] = embedding_part(K, points, predicted)
    elif "embedding" in wanted:
        report.omit("embedding", why)
    if "gate" in wanted:
        found["gate"] = gate_part(subject, X, points, predicted)
        if found["gate"] is None:
            name = type(subject.final).__name__
            report.omit("gate", f"{name} has no gate: it gives no weights of views for each sample.")
    return found

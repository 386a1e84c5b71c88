"""Everything that can be said of a fitted model by looking at its data again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._typing import Array
from ..._validation import as_list, check_choice, check_number
from ...core.inputs import require_same_samples
from ...core.store import Progress, Result, shown_progress
from ...core.survival_targets import as_survival
from ...rows import count_rows, is_dask
from ...views.sharing import share_grams
from ...views.stacks import NamedStack, match_stack
from ...views.tables import as_tables
from ...viz.fitted import plain_tree
from ..explaining import on_demand, reasons
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
from ..protocol import Samples
from ..refits import weight_path
from ..rivals.baselines import KEPT, Report, choose_baselines
from ..runs import GIVEN, Judging, Outcomes, Settings, run_groups
from ..scoring import TASKS, check_suits, scorers_for, scores_asked
from ..statistics.interval_tests import EQUIVALENCE
from ..subject import Subject, check_values, is_integer, overview_of, sample_ids, subject_of
from .answers import Part
from .cohort import Cohort, cohort_part, scored_cohort
from .held_out import HeldOut, held_out_part, pooled
from .learning import learning_curve_part, overfitting_part
from .parts import contest_parts
from .plan import CONTEST_PARTS, CURVE, HELD_OUT_PARTS, Plan, make_plan
from .result import Evaluation

_SHOWN = 6  # labels in a message
ON_DEMAND = ("learning_curve", *on_demand.PARTS)
ALL_PARTS = (*CONTEST_PARTS, *HELD_OUT_PARTS, "heat_maps", "embedding", "gate", reasons.WHY, *on_demand.PARTS)
USUAL_PARTS = tuple(part for part in ALL_PARTS if part not in ON_DEMAND)


def evaluate(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    X_test: Any = None,
    y_test: Any = None,
    parts: Iterable[str] = USUAL_PARTS,
    baselines: Any = True,
    scoring: Any = None,
    cv: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    random_state: int = 0,
    n_jobs: int | None = 1,
    store: str | os.PathLike[str] | None = None,
    progress: bool | Progress = True,
    max_points: int = 400,
    equivalence: float = EQUIVALENCE,
) -> Evaluation:
    """Say what a model has learned, how firmly, and what it is worth.

    Copies of the model are fitted to parts of the samples: ten times for the stability of its weights; ten
    times without each view, and ten times for each simpler rival, all on the same folds, so that paired tests
    can tell whether a difference is one; and five times for predictions of samples that it has not seen.

    Parameters
    ----------
    model : fitted estimator
        Of this library, or a pipeline or a search that ends in one. It is not modified.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Or several tables; with ``kernels="precomputed"``, a stack, dict or list of Gram matrices. These are
        the samples that the model was fitted to, in the same order: only their number is checked.
    y : array-like of shape (n_samples,), default=None
        Their labels or values; models of the samples alone need none.
    X_test : as X, default=None
        An independent cohort, such as the samples of another hospital: the model as it is predicts them, and
        its scores have bootstrap intervals. Whole views may be missing where the model was fitted with
        ``KernelBank(missing=...)``.
    y_test : array-like of shape (n_test,), default=None
        Labels or values of the cohort.
    parts : iterable of str, default=USUAL_PARTS
        Those to compute; by default all of the first list, which take some forty refits.

        - "stability", "without_view", "baselines", "held_out", "overfitting" (training scores beside held-out
          ones), "heat_maps", "embedding", "gate", "why" (the most wrong samples, explained, what each view is
          worth and the first columns: on the cohort where there is one, else on held-out samples, each by
          the refit that has not seen it);
        - only if named: "learning_curve" (scores by the number of training samples; 20 refits), "selection"
          (:func:`multikernel.inspection.select_views`, permutation tests of at most 1000 samples),
          "enrichment" (:func:`multikernel.inspection.enriched_sets`, about 600 refits to at most 500 samples)
          and "cross_view" (:func:`multikernel.inspection.cross_view_map`, one eigendecomposition);
        - "all": both.
    baselines : bool, str, list or dict, default=True
        What the part "baselines" compares the model with, as for :func:`multikernel.compare`: True is the
        best single view, the plain sum and a tuned RBF SVM; "all" adds late fusion, stacking, gradient
        boosting and others; a list has names and ``(name, estimator)`` pairs. "kept views alone" is the model
        on the views with ``keep``; True and "all" include it where there are some.
    scoring : str, callable, list or dict, default=None
        The score, as for :func:`multikernel.compare`; of several the first decides, and the parts have what
        the others say in ``by_score``. Accuracy for classifiers and R² for regressors if None.
    cv : int, splitter or iterable of (train, test), default=None
        The folds of all refits, as for :func:`multikernel.compare`. Default: five repetitions of two folds
        for comparisons, and five folds for held-out predictions.
    groups : array-like of shape (n_samples,), default=None
        Samples that belong together, such as those of one patient: they are never on both sides of a fold.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples in refits and scores, those that the model was fitted with.
    random_state : int, default=0
        Draws folds and samples: the same seed, the same result, whatever `n_jobs` is.
    n_jobs : int, default=1
        Refits at the same time, in processes; -1 for all processors.
    store : path, default=None
        A file of JSON lines that keeps each refit: call again after a stop, and only what is missing is
        computed.
    progress : bool or callable, default=True
        A bar, on standard error or in the notebook; nothing; or a function that is called with (refits done,
        refits in all).
    max_points : int, default=400
        Samples in pictures and tables at most: of more, a part is drawn in proportion to the classes.
    equivalence : float, default=0.01
        A difference of scores whose confidence interval lies within ± this is none in practice: the verdict
        is "equal".

    Returns
    -------
    Evaluation
        A mapping, whose ``to_dict()`` is what ``json.dumps`` takes: ``task``, ``n_samples``, ``views``,
        ``classes``, ``data`` (who has what, as :func:`multikernel.viz.describe_data` says it, of several
        tables or where views are missing), a key for each part, None where it was not asked for or cannot be
        computed, ``cohort``, ``omitted`` with the reasons (``part``, ``why``), and ``notes``. Samples have
        their ``row`` and, where X names them (``X.ids``, or the index of a frame), their ``id``. Also
        ``summary``, ``to_frame()`` and ``plot()``.

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
    if len(wanted) == 1 and isinstance(wanted[0], str) and wanted[0] == "all":
        wanted = list(ALL_PARTS)
    _check_options(wanted, max_points)
    choice = choose_baselines(baselines, (KEPT,))
    settings = Settings(random_state, n_jobs, store, None if isinstance(progress, bool) else progress)
    if not hasattr(model, "__sklearn_tags__"):
        raise TypeError(f"model must be a fitted estimator; got {type(model).__name__}.")
    check_is_fitted(model)
    subject = subject_of(model)
    if subject.is_precomputed and not subject.steps:
        X = _named_stack(subject, X)
    elif not subject.is_precomputed:
        X = as_tables(X)
    y = check_data(subject, X, y)
    judging = Judging(scoring, cv, groups, sample_weight)
    data = _check_judging(subject, (X, y), judging)
    asked = scores_asked(scoring, subject.task) if subject.task in TASKS else {}
    cohort = _cohort(subject, X_test, y_test, asked)
    explains = reasons.WHY in wanted and cohort is None and reasons.can_explain(subject, y)
    plan = make_plan(subject, data, (wanted, choice), judging, settings, explains=explains)
    plan.equivalence = check_number("equivalence", equivalence, at_least=0.0)
    with shown_progress("refits", progress) as move:
        works = plan.works(stored=settings.is_stored)
        outcomes = run_groups(works, replace(settings, progress=move), errors="omit")
    report = plan.report
    found: Part = dict.fromkeys((*ALL_PARTS, "cohort"))
    found.update(contest_parts(subject, y, plan, outcomes))
    held_out = _held_out(subject, data, plan, outcomes, (max_points, random_state), found)
    if cohort is not None:
        beside = None if held_out is None else held_out.by_score
        found["cohort"] = cohort_part(subject, cohort, beside, report, random_state)
    targets = None if y is None else np.asarray(y)
    shown = targets if subject.task in ("classification", "regression") else None
    rows = choose_rows(shown, subject.task, max_points, random_state, count_rows(X))
    with share_grams():
        found.update(_pictures(subject, (X, targets), rows, held_out, wanted, report))
    if reasons.WHY in wanted:
        shown_most = (max_points, random_state)
        refits = _explained(plan, outcomes)
        found[reasons.WHY] = _why(subject, (X, targets), rows, (cohort, refits, shown_most), report)
    given = on_demand.Given(X, targets, groups is not None, random_state, n_jobs)
    asked_for = [part for part in on_demand.PARTS if part in wanted]
    found.update((part, on_demand.on_demand_part(part, subject, given, report)) for part in asked_for)
    outcomes.note_warnings(report.notes)
    if rows.size < count_rows(X):
        report.notes.append(
            f"Pictures and tables show {rows.size} of {count_rows(X)} samples, drawn at random."
        )
    labels = np.unique([] if targets is None or subject.task != "classification" else targets)
    head = {
        "task": subject.task,
        "n_samples": count_rows(X),
        "views": subject.views,
        "classes": [str(label) for label in labels],
        "data": overview_of(subject, X, targets),
    }
    return Evaluation(plain_tree({**head, **found, "omitted": report.omitted, "notes": report.notes}))


def _named_stack(subject: Subject, X: Any) -> Any:
    """Gram matrices as a stack, which can be split, in the order and with the names of fit."""
    X = match_stack(X, getattr(subject.final, "_gram_names", None))
    is_named = np.ndim(X) == 3 and np.shape(X)[2] == len(subject.views)
    return NamedStack(X, subject.views) if is_named else X


def _check_options(parts: list[str], max_points: Any) -> None:
    for part in parts:
        check_choice("parts", part, ALL_PARTS)
    if not is_integer(max_points) or max_points < 2:
        raise ValueError(
            f"max_points must be a whole number of samples to show, 2 at least; got {max_points!r}."
        )


def _check_judging(subject: Subject, data: tuple[Any, Any], judging: Judging) -> Samples:
    """The samples with their groups and weights, after what was asked for is checked against the model."""
    X, y = data
    if subject.task in TASKS and subject.why_not_refitted() is None and y is not None:
        asked = scores_asked(judging.scoring, subject.task)
        scorers_for("model", subject.model, asked, judging.sample_weight is not None)
        check_suits(asked, y, subject.task)
    samples = judging.samples({GIVEN: (X, y)})[GIVEN]
    if samples.weight is not None and weight_path(subject.fresh()) is None:
        name = type(subject.model).__name__
        raise TypeError(f"{name} takes no sample_weight in fit. Leave sample_weight out.")
    return samples


def _cohort(subject: Subject, X_test: Any, y_test: Any, asked: Part) -> Cohort | None:
    """The cohort, checked and scored before anything is refitted."""
    if X_test is None and y_test is None:
        return None
    if subject.task not in TASKS:
        name = type(subject.final).__name__
        raise TypeError(f"X_test needs a model that predicts labels or values; {name} has no score.")
    if X_test is not None and not subject.is_precomputed:
        X_test = as_tables(X_test)
    require_same_samples(X_test, y_test, precomputed=subject.is_precomputed and not subject.steps)
    return scored_cohort(subject, X_test, y_test, asked)


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
    require_same_samples(X, y, precomputed=subject.is_precomputed and not subject.steps)
    if subject.task == "survival":
        y = as_survival(y).to_structured()
    targets = np.asarray(y)
    if targets.ndim == 2 and targets.shape[1] == 1:
        y = targets = targets[:, 0]
    if targets.ndim == 0 or len(targets) != n:
        got = "one value" if targets.ndim == 0 else f"{len(targets)}"
        raise ValueError(f"y must have one label or value for each of the {n} samples of X; got {got}.")
    if subject.task == "regression":
        check_values(targets)
    if subject.task == "classification" and subject.why_not_refitted() is None and targets.ndim == 1:
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


def _why(
    subject: Subject,
    data: tuple[Any, Array | None],
    rows: Array,
    options: tuple[Cohort | None, list[Result], tuple[int, int]],
    report: Report,
) -> Part | None:
    """The reasons: of the cohort where there is one, else of held-out samples, else of those of the fit."""
    X, y = data
    if y is None:
        report.omit(reasons.WHY, "it needs labels or values.")
        return None
    cohort, refits, (most, seed) = options
    looked = reasons.Samples(X, y, rows, "training")
    if cohort is not None:
        drawn = choose_rows(cohort.y, subject.task, most, seed, count_rows(cohort.X))
        looked = reasons.Samples(cohort.X, cohort.y, drawn, "cohort")
    elif refits:
        looked = reasons.Samples(X, y, rows, "held out", refits)
    return reasons.why_part(subject, looked, data, report)


def _explained(plan: Plan, outcomes: Outcomes) -> list[Result]:
    """The refits that explain samples which they have not seen, each sample by one of them."""
    refits = plan.held_out(outcomes) if plan.explains else None
    if refits is None or not refits[1].covers:
        return []
    return [refits[0][i] for i in refits[1].first]


# ------------------------------------------------------------------ samples
def _held_out(
    subject: Subject,
    data: Samples,
    plan: Plan,
    outcomes: Outcomes,
    options: tuple[int, int],
    found: Part,
) -> HeldOut | None:
    """The parts that are made of held-out refits, which go into `found`; the pooled predictions."""
    why, report = plan.why_no_held_out(outcomes), plan.report
    if why is not None:
        report.omit_all(plan.of_held_out, why)
    refits = plan.held_out(outcomes)
    if refits is None or data.y is None:
        return None
    results, protocol = refits
    if "overfitting" in plan.of_held_out:
        found["overfitting"] = overfitting_part(subject, results, protocol, count_rows(data.X))
    if plan.curve is not None and CURVE in outcomes.results:
        sizes = plan.curve.protocols[GIVEN], protocol
        found["learning_curve"] = learning_curve_part(outcomes.results[CURVE], sizes, results)
    elif plan.curve is not None:
        report.omit("learning_curve", outcomes.failures[CURVE])
    pool = pooled(results, protocol, np.asarray(data.y), subject.task)
    if "held_out" not in plan.of_held_out:
        return pool
    if pool is None:
        report.omit("held_out", "the folds of cv do not predict each sample once.")
        return None
    assert plan.held is not None
    asked = (plan.held.scorings[0], *options)
    found["held_out"] = held_out_part(subject, data, pool, asked, report)
    return pool


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
    y = y if subject.task in ("classification", "regression") else None
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

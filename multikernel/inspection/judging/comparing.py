"""Compares estimators or weight learners on the same folds, with each other and with simpler rivals."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ..._typing import Array
from ..._validation import check_choice, check_number, check_task
from ...core.store import Progress, progress_bar
from ...rows import count_rows
from ...rules import AlignmentRule, CenteredAlignment, EasyMKL, MarginMKL, WeightLearner
from ...rules.combined import CombinedKernelClassifier, CombinedKernelRegressor
from ...rules.machines import machine_for
from ...rules.targets import as_targets
from ...views.tables import as_table
from ..refits import weight_path
from ..rivals.baselines import (
    BASELINES,
    KERNEL_RIVALS,
    PLAIN_SUM,
    SCALED_SUM,
    SINGLE,
    Choice,
    Contender,
    Report,
    choose_baselines,
    column_rivals,
    machine_label,
    note_units,
    own_contenders,
    simple_rules,
    suited,
    why_no_simple_rules,
)
from ..runs import (
    GIVEN,
    Contest,
    Judging,
    Outcomes,
    Settings,
    list_works,
    make_contest,
    parts_by_sample,
    run_groups,
)
from ..scoring import TASKS, scores_asked
from ..statistics.interval_tests import EQUIVALENCE
from ..statistics.paired_tests import check_level, check_reference
from ..subject import Subject
from .answers import majority_rate
from .comparison import BEST, About, Baseline, Comparison

_TASKS = ("classification", "regression")
_KEPT = ("score", "scores", "fit_seconds", "shares")  # of a fit, in the frame of scores


def compare(
    models: Any,
    X: Any = None,
    y: Any = None,
    *,
    datasets: Mapping[str, tuple[Any, Any]] | None = None,
    baselines: Any = False,
    reference: str | None = None,
    kernels: Any = "auto",
    machine: Any = None,
    task: str = "auto",
    scoring: Any = None,
    cv: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    level: float = 0.05,
    equivalence: float = EQUIVALENCE,
    errors: str = "raise",
    random_state: int = 0,
    n_jobs: int | None = None,
    store: str | os.PathLike[str] | None = None,
    progress: bool | Progress = True,
) -> Comparison:
    """Compare models on the same folds: five repetitions of two-fold cross-validation, or those of `cv`.

    Tests with confidence intervals say which of them differ, and by how much: from simpler baselines, so
    that a difference says whether learning the kernel helped; from a reference; or from each other. Folds are
    stratified for classifiers and plain for regressors. Models that are tuned on inner folds, such as
    MKLClassifierCV and GridSearchCV, are tuned anew within each training part. With `store`, every finished
    fit is on disk at once: call again with the same arguments after a stop, and only what is missing is
    computed.

    Parameters
    ----------
    models : dict of str to model, list of models, model, or "auto"
        Estimators, all classifiers or all regressors, or weight learners of :mod:`multikernel.rules`, which
        are put under the same `machine` and get the same `kernels`. Those of a list are called by their
        class. Copies of them are fitted: a search such as GridSearchCV chooses anew in every fold. "auto"
        means ``CenteredAlignment()``, ``AlignmentRule(centered=True)``, ``MarginMKL()`` and, for classes,
        ``EasyMKL()``.
    X : array, DataFrame, sparse matrix or stack of kernels (n_samples, n_samples, n_kernels), default=None
        What the models take.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        Labels or values.
    datasets : dict of str to (X, y), default=None
        Several data sets instead of `X` and `y`.
    baselines : bool, str, list or dict, default=False
        Other models to compare with, on the same folds; each model is tested against those that have its own
        kernels and machine, and against all that have none. On one data set only. True is the first, the
        second and the tuned RBF SVM of these, "all" is all of them, and a list has some by name:

        - ``"best single view"``: the view that does best by cross-validation within the training part;
        - ``"plain sum"``: the sum of all kernels as they are;
        - ``"scaled sum"``: the mean of all kernels, each at a mean diagonal of 1;
        - ``"late fusion"``: a model of each view alone, and the mean of their probabilities, which are
          calibrated on inner folds; the mean of their predictions for regression;
        - ``"stacking"``: logistic or ridge regression on out-of-fold scores of these models;
        - ``"tuned RBF SVM"``: one Gaussian kernel on all columns, with C and gamma chosen by cross-validation
          within the training part;
        - ``"elastic net"``: a linear model of all columns, its penalty chosen likewise;
        - ``"random forest"`` and ``"gradient boosting"``: scikit-learn's, on all columns.

        A list may also have pairs ``(name, estimator)``, and the words "usual" (what True is) and "all"; a
        dict has estimators by name. These may be any classifiers or regressors, pipelines and searches
        included, that read X; of several tables, they read all columns beside each other. What reads columns
        does not apply to precomputed kernels: it is left out, and the result says why; named in a list, it is
        an error.
    reference : str, default=None
        The model that all others are tested against; "best" is the one with the highest mean. Without it,
        each model is tested against its baselines, or every pair where there are none.
    kernels : "auto", "precomputed", kernel, View, or list, default="auto"
        Of weight learners, as for :class:`multikernel.CombinedKernelClassifier`.
    machine : classifier or regressor on a precomputed kernel, default=None
        Of weight learners. Default ``SVC(kernel="precomputed")`` for classes, and
        ``KernelRidge(kernel="precomputed")`` for values.
    task : {"auto", "classification", "regression"}, default="auto"
        What weight learners take y for. "auto": values where y holds fractions or has two dimensions, else
        classes.
    scoring : str, callable, list or dict, default=None
        A score that is higher for better predictions, as scikit-learn names it, or a function of
        ``(estimator, X, y)``; accuracy for classifiers and R² for regressors if None, whatever the
        estimators' own score would be. A list, or a dict of names, has several: each has its own table and
        verdicts (`Comparison.by_score`), and the first decides. The best single view is chosen by it too.
    cv : int, splitter or iterable of (train, test), default=None
        The folds of all models. An int is the number of folds, stratified for classifiers; a splitter of
        scikit-learn's, such as ``RepeatedStratifiedKFold(n_splits=5, n_repeats=3)``, or the row numbers of
        training and test parts themselves. Default: five repetitions of two folds.
    groups : array-like of shape (n_samples,), default=None
        Samples that belong together, such as those of one patient: they are never on both sides of a fold,
        neither here nor on the inner folds on which a model is tuned, and tests take groups, not samples, for
        what is drawn at random. With `datasets` a dict of them by name.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples, for the fits and for the scores. A model or a score that takes none is an
        error. With `datasets` a dict of them by name.
    level : float, default=0.05
        Of the tests.
    equivalence : float, default=0.01
        In the unit of the score: a difference whose confidence interval lies within ± this is none in
        practice, and the verdict is "equal". The default is one point of the accuracy.
    errors : {"raise", "omit"}, default="raise"
        What happens if a model cannot be fitted: an error that names model, data set and fold, or the model
        is left out of the result, with the reason.
    random_state : int, default=0
        Draws the folds, and seeds every parameter of the models called random_state that is None.
    n_jobs : int, default=None
        How many fits are computed at the same time, in processes; -1 for all processors. The result does
        not depend on it.
    store : str or path, default=None
        A file of JSON lines. A stored score is used again only if the model (its class, its parameters, and
        the code of functions among them), the data, the scoring, the seed and the versions of multikernel
        and scikit-learn are the same; other scores in the file are left alone. A file that holds anything
        else is refused.
    progress : bool or callable, default=True
        A bar on standard error, nothing, or a function that is called with (fits done, fits in all).

    Returns
    -------
    Comparison
        ``summary`` is one sentence, ``to_frame()`` scores and tests, ``plot()`` the picture, ``to_dict()``
        all of it as plain numbers, ``weights`` the mean shares of the views, ``scores`` the score of every
        fold; over data sets ``win_tie_loss()`` and ``wilcoxon()``.

    Notes
    -----
    On one data set the test is :func:`multikernel.inspection.repeated_cv_test` of the scores of all samples
    where the score is a mean over samples or nearly so (accuracy, balanced accuracy, R², squared and
    absolute errors, log-loss, the area under the ROC curve of two classes), else
    :func:`multikernel.inspection.corrected_t_test` of the folds; over several data sets wins and losses are
    counted by the combined 5×2 cv F test, as they are published, or by these tests on other folds.
    Two folds train on half of the data: a difference that is not found may be there all the same. How often
    the verdicts are right in simulations is on the page ``benchmarks/verdicts`` of the documentation.

    Of a function, `store` notices its code and what it reads by name of its module: constants, and functions
    with what they read in turn. It does not notice a change in the code of a class or of an installed
    package other than multikernel and scikit-learn, nor in what is read as an attribute of a module.

    Examples
    --------
    Does learning the weights help?

    >>> from sklearn.datasets import load_iris, load_wine
    >>> X, y = load_iris(return_X_y=True)
    >>> simple = ["best single view", "plain sum"]
    >>> found = compare(CenteredAlignment(), X, y, baselines=simple, progress=False)
    >>> print(found.answer)
    It was not shown that learning the kernel helped: CenteredAlignment has a mean accuracy, 0.9...

    Which of two estimators is better on several data sets?

    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> neighbours = KNeighborsClassifier()
    >>> found = compare(
    ...     {"neighbours": neighbours, "scaled": make_pipeline(StandardScaler(), neighbours)},
    ...     datasets={"iris": (X, y), "wine": load_wine(return_X_y=True)},
    ...     reference="neighbours",
    ...     progress=False,
    ... )
    >>> print(found.to_markdown(digits=2))
    scaled has the best mean accuracy of 2 models over 2 data sets, 0.95...
    <BLANKLINE>
    | data set         | neighbours  | scaled          |
    | ---------------- | ----------- | --------------- |
    | iris             | 0.96 ± 0.03 | 0.94 ± 0.03     |
    | wine             | 0.71 ± 0.03 | **0.96 ± 0.01** |
    | wins–ties–losses |             | 1–1–0           |
    | Wilcoxon's p     |             | 0.655           |
    <BLANKLINE>
    Mean ± standard deviation of accuracy over 5×2 folds; **bold**: better than neighbours by the 5×2 cv F...
    """
    check_level(level)
    check_number("equivalence", equivalence, at_least=0.0)
    check_choice("errors", errors, ("raise", "omit"))
    choice = choose_baselines(baselines)
    data = _data(X, y, datasets)
    given = _named(models, data, task)
    learners = [name for name, model in given.items() if isinstance(model, WeightLearner)]
    estimators = _under_machine(given, learners, data, (kernels, machine, task))
    settings = Settings(random_state, n_jobs, store, None if isinstance(progress, bool) else progress)
    judging = Judging(scoring, cv, groups, sample_weight)
    contest = make_contest(estimators, data, judging, random_state)
    report = Report()
    first = None if scoring is None else next(iter(scores_asked(scoring, contest.task).values()))
    rivals = _add_baselines(estimators, contest, choice, (first, learners), report)
    if len(estimators) + len(rivals) < 2:
        only = next(iter(estimators))
        raise ValueError(f"models must be two models at least, or one and baselines; got only {only!r}.")
    everyone = {**estimators, **{name: rival.estimator for name, (rival, _) in rivals.items()}}
    if reference != BEST:
        check_reference(list(everyone), reference)
    if rivals:
        contest = make_contest(everyone, data, judging, random_state)
    label = "5×2 cv" if cv is None else "cross-validation"
    bar: AbstractContextManager[Progress | None] = (
        progress_bar(label) if progress is True else nullcontext(settings.progress)
    )
    with bar as move:
        works = list_works(contest, stored=settings.is_stored)
        outcomes = run_groups(works, replace(settings, progress=move), errors=errors)
    scores = _scores(contest, outcomes, report)
    left, why = set(scores["estimator"]), " ".join(outcomes.failures.values())
    if not left & estimators.keys():
        raise ValueError(f"no model could be fitted: {why}")
    if reference in everyone and reference not in left:
        raise ValueError(f"the reference {reference!r} could not be fitted: {why}")
    options: dict[str, Any] = {
        "reference": reference,
        "baselines": {name: baseline for name, (_, baseline) in rivals.items()},
        "level": level,
        "equivalence": equivalence,
        "protocols": contest.protocols,
    }
    found: dict[str, Comparison] = {}
    for name in reversed(contest.scorings):
        about = _about(estimators, rivals, data, name, report)
        of_name = scores.assign(score=[each[name] for each in scores["scores"]]).drop(columns="scores")
        samples = _samples(contest, outcomes, name)
        others = {each: found[each] for each in contest.scorings[1:]} if name == contest.scorings[0] else None
        found[name] = Comparison(
            of_name, scoring=name, about=about, samples=samples, others=others, **options
        )
    return found[contest.scorings[0]]


# ------------------------------------------------------------------ what is compared
def _data(X: Any, y: Any, datasets: Any) -> Mapping[str, tuple[Any, Any]]:
    if datasets is not None:
        if X is not None or y is not None:
            raise TypeError("either X and y or datasets must be given; got both.")
        return datasets
    if isinstance(y, Mapping):  # of censored times
        return {GIVEN: (X, y)}
    if X is None or y is None or isinstance(y, str) or np.ndim(y) == 0:
        raise TypeError(f"y must hold the labels or values of the samples of X; got {y!r}.")
    values = np.asarray(y)
    return {GIVEN: (X, values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else y)}


def _named(models: Any, data: Mapping[str, tuple[Any, Any]], task: str) -> dict[str, Any]:
    """Models by name: those of a list are called by their class, and in full where that is not enough."""
    if isinstance(models, str) and models == "auto":
        models = _default_learners(_task_of(data, task))
    if isinstance(models, Mapping):
        return dict(models)
    several = list(models) if isinstance(models, list | tuple) else [models]
    short = [type(model).__name__ for model in several]
    names = [
        name if short.count(name) == 1 else " ".join(repr(model).split())
        for name, model in zip(short, several, strict=True)
    ]
    if len(set(names)) < len(names):
        raise ValueError(f"models must differ; got {names}. Give a dictionary to distinguish them.")
    return dict(zip(names, several, strict=True))


def _default_learners(task: str) -> list[WeightLearner]:
    """Weight learners that are quick and often good, for classes or for values."""
    known: list[WeightLearner] = [CenteredAlignment(), AlignmentRule(centered=True), EasyMKL(), MarginMKL()]
    return [learner for learner in known if task in learner.learns_from]


def _under_machine(
    given: dict[str, Any], learners: list[str], data: Mapping[str, tuple[Any, Any]], options: tuple[Any, ...]
) -> dict[str, Any]:
    """The models, with every weight learner made an estimator."""
    if not learners:
        return given
    kernels, machine, task = options
    for kernel in kernels if isinstance(kernels, list | tuple) else [kernels]:
        if isinstance(kernel, WeightLearner):
            raise TypeError(f"kernels must be kernels or views; got a weight learner, {kernel!r}.")
    kind = _task_of(data, task)
    machine_for(kind, machine)  # refused now, and not in the first fold
    for name in learners:
        if kind not in given[name].learns_from:
            known = " or ".join(given[name].learns_from)
            raise ValueError(f"{name!r} is for {known}, and the task is {kind}. Leave it out.")
    estimator = CombinedKernelClassifier if kind == "classification" else CombinedKernelRegressor
    return {
        name: estimator(kernels, model, machine) if name in learners else model
        for name, model in given.items()
    }


def _task_of(data: Mapping[str, tuple[Any, Any]], task: str) -> str:
    check_task(task, ("auto", *_TASKS))
    found = {as_targets(y, count_rows(as_table(X)), task, _TASKS).task for X, y in data.values()}
    if len(found) > 1:
        raise ValueError("the data sets must be all of classes or all of values; got both. Use task=.")
    [kind] = found
    for _, y in data.values():
        if kind == "classification" and np.unique(np.asarray(y), return_counts=True)[1].min() < 2:
            raise ValueError(
                "y holds whole numbers or names, which are read as classes, and one class has a single "
                "sample. Use task='regression' if y is a number to predict, or leave that class out."
            )
    return kind


# ------------------------------------------------------------------ baselines
def _add_baselines(
    models: Mapping[str, Any],
    contest: Contest,
    choice: Choice,
    options: tuple[Any, list[str]],
    report: Report,
) -> dict[str, tuple[Contender, Baseline]]:
    """Rivals on kernels under the machine of each model, once for those that share it; all others once."""
    if not choice:
        return {}
    if len(contest.datasets) > 1:
        raise ValueError("baselines are made for one data set. Compare on each data set by itself.")
    [(X, y, _, weight)] = contest.datasets.values()
    subjects = [_bare(model) for model in models.values()]
    task = subjects[0].task
    choice = suited(choice, task)
    wanted = set(choice.names)
    if task not in TASKS:
        choice.left_out(choice.names, "they predict labels or values.", report)
        wanted = set()
    if task == "regression" and np.ndim(y) > 1:  # weight learners pass them on to their machine
        wanted &= {SINGLE, PLAIN_SUM, SCALED_SUM} if options[1] == list(models) else set()
        rest = [name for name in choice.names if name not in wanted]
        choice.left_out(rest, "they predict one value a sample, and y has several columns.", report)
    found = _rules_by_machine(models, y, (choice, wanted), options, report)
    with_views = [subject for subject in subjects if hasattr(subject.final, "kernels")] or subjects
    precomputed = any(subject.is_precomputed for subject in with_views)
    others = column_rivals(with_views, (X, y), wanted, choice, report)
    others |= own_contenders(choice, task, X, precomputed)
    for name, contender in others.items():
        found[name] = contender, Baseline(name, list(models))
    if weight is not None:
        without = [name for name, (rival, _) in found.items() if weight_path(rival.estimator) is None]
        known = [found.pop(name)[1].kind for name in without]
        choice.left_out([kind for kind in known if kind in BASELINES], "it takes no sample_weight.", report)
        own = [name for name in without if name in choice.own]
        if own:
            raise TypeError(f"baseline {own[0]!r} takes no sample_weight. Leave sample_weight or it out.")
    for name in found.keys() & models.keys():
        raise ValueError(f"the models are compared with {name!r}: choose a different name for that model.")
    return dict(sorted(found.items(), key=lambda item: _place(item[1][1].kind)))


def _place(kind: str) -> int:
    return BASELINES.index(kind) if kind in BASELINES else len(BASELINES)


def _rules_by_machine(
    models: Mapping[str, Any],
    y: Any,
    asked: tuple[Choice, set[str]],
    options: tuple[Any, list[str]],
    report: Report,
) -> dict[str, tuple[Contender, Baseline]]:
    (choice, wanted), (scoring, learners) = asked, options
    kinds = [kind for kind in KERNEL_RIVALS if kind in wanted]
    groups: dict[str, list[str]] = {}
    rules: dict[str, dict[str, Contender]] = {}
    if not kinds:
        return {}
    reasons: list[str] = []
    for name, model in models.items():
        note_units(model, y, report)
        if why := why_no_simple_rules(_bare(model)):
            reasons.append(why)
            continue
        rules[name] = simple_rules(_bare(model), kinds, scoring)
        mark = str([_content(contender.estimator) for contender in rules[name].values()])
        groups.setdefault(mark, []).append(name)
    for why in dict.fromkeys(reasons):
        (replace(choice, asked=frozenset()) if rules else choice).left_out(kinds, why, report)
    found = {}
    labels = _labels([models[names[0]] for names in groups.values()])
    for label, names in zip(labels, groups.values(), strict=True):
        called = {kind: f"{kind} under {label}" if len(groups) > 1 else kind for kind in kinds}
        # beside weight learners the simple rules are weight rules too, and tested against each other
        others = [called[kind] for kind in (SINGLE, PLAIN_SUM, SCALED_SUM) if kind in called]
        others = others if set(names) <= set(learners) else []
        for kind, name in called.items():
            found[name] = rules[names[0]][kind], Baseline(kind, [*others, *names])
    return found


def _bare(model: Any) -> Subject:
    return Subject(model, model)


def _content(value: Any) -> str:
    """An estimator with all its parameters, as text that two of the same content share."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        inside = {name: _content(each) for name, each in value.get_params(deep=False).items()}
        return f"{type(value).__name__}{inside}"
    if isinstance(value, dict):
        return f"{ {name: _content(each) for name, each in value.items()} }"
    return f"[{', '.join(map(_content, value))}]" if isinstance(value, list | tuple) else repr(value)


def _labels(models: list[Any]) -> list[str]:
    """The machine of each, and a number where several have machines of the same name."""
    labels = [machine_label(_bare(model)) for model in models]
    return [
        f"{label} (no. {labels[:i].count(label) + 1})" if labels.count(label) > 1 else label
        for i, label in enumerate(labels)
    ]


# ------------------------------------------------------------------ what came out
def _scores(contest: Contest, outcomes: Outcomes, report: Report) -> pd.DataFrame:
    """A row for each fold of the models that were fitted on every data set."""
    failed: dict[str, str] = {}
    for (_, name), why in outcomes.failures.items():
        failed[name] = f"{failed[name]} {why}" if name in failed else why
    for name, why in failed.items():
        report.omit(name, why)
    one = len(contest.datasets) == 1
    shown = {name if one else (dataset, name): found for (dataset, name), found in outcomes.results.items()}
    Outcomes(shown).note_warnings(report.notes)
    rows = [
        {"dataset": dataset, "estimator": name, "repetition": repetition, "fold": fold}
        | {what: found[i][what] for what in _KEPT}
        for (dataset, name), found in outcomes.results.items()
        if name not in failed
        for i, (repetition, fold) in enumerate(contest.protocols[dataset].places)
    ]
    columns = ["dataset", "estimator", "repetition", "fold", *_KEPT]
    return pd.DataFrame(rows, columns=columns)


def _samples(contest: Contest, outcomes: Outcomes, scoring: str) -> dict[tuple[str, str], Array]:
    """The parts of a score by sample of each (data set, model) that has some."""
    found = {
        place: parts_by_sample(results, contest.protocols[place[0]], scoring)
        for place, results in outcomes.results.items()
    }
    return {place: parts for place, parts in found.items() if parts is not None}


def _about(
    models: Mapping[str, Any],
    rivals: Mapping[str, tuple[Contender, Baseline]],
    data: Mapping[str, tuple[Any, Any]],
    scoring: str,
    report: Report,
) -> About:
    what = {
        name: f"{type(model).__name__} as it was given, fitted anew in each fold."
        for name, model in models.items()
    } | {name: rival.what for name, (rival, _) in rivals.items()}
    task = _bare(next(iter(models.values()))).task
    X, y = next(iter(data.values()))
    only = len(data) == 1
    return About(
        what,
        task if task in TASKS else None,
        count_rows(X) if only else None,
        majority_rate(task, y) if only and scoring == "accuracy" else None,
        report.omitted,
        report.notes,
    )

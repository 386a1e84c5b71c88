"""Pictures of the weight learners: what each rule of a family makes of the same five views."""

from __future__ import annotations

from functools import cache

import numpy as np
from drawing import Gallery, shares_table
from matplotlib.figure import Figure

from multikernel import View
from multikernel.kernels import Gaussian
from multikernel.registry import Method, list_methods

LEARNERS = Gallery()
VIEWS = ("good", "weak", "copy of good", "noise", "noise too")
_N_TRAIN = 80


@cache
def samples(task: str) -> tuple[np.ndarray, np.ndarray]:
    """Five views of two columns each, and targets that two of them, and a copy, know something about."""
    rng = np.random.default_rng(3)
    n = _N_TRAIN + 400
    y = rng.permutation(np.arange(n) % 2)
    good = rng.normal(size=(n, 2)) + 1.1 * (2 * y[:, None] - 1)
    weak = rng.normal(size=(n, 2)) + 0.55 * (2 * y[:, None] - 1)
    copy = good + 0.3 * rng.normal(size=(n, 2))
    X = np.hstack([good, weak, copy, rng.normal(size=(n, 4))])
    values = np.sin(good[:, 0]) + 0.4 * weak[:, 1] + 0.2 * rng.normal(size=n)
    return X, (y if task == "classification" else values)


def views() -> list[View]:
    return [View(name, Gaussian(), [2 * k, 2 * k + 1], standardize=True) for k, name in enumerate(VIEWS)]


def row(method: Method) -> tuple[list[float], str]:
    """The share of each view, and the score on new samples; a rule of two kernels gets the first two."""
    task = method.tasks[0]
    X, y = samples(task)
    taken = views()[:2] if method.name == "functional_form" else views()
    model = method.make(task, taken).fit(X[:_N_TRAIN], y[:_N_TRAIN])
    score = model.score(X[_N_TRAIN:], y[_N_TRAIN:])
    shares = [*model.kernel_shares_, *[np.nan] * (len(VIEWS) - len(taken))]
    return shares, f"{'accuracy' if task == 'classification' else 'R²'} {score:.2f}"


def draw_family(fig: Figure, methods: list[Method]) -> None:
    found = [row(method) for method in methods]
    ax = fig.subplots()
    names = [method.class_names[0] for method in methods]
    shares_table(ax, names, VIEWS, [shares for shares, _ in found], [note for _, note in found])


def enter_families() -> None:
    """A picture for each family of learners."""
    for family in sorted({method.about.family for method in list_methods() if method.learner is not None}):
        methods = [method for method in list_methods(family=family) if method.learner is not None]
        caption = (
            "What each rule makes of the same five views of 80 samples: the share of each in the learned "
            "kernel, and the score of the machine on 400 new samples."
        )
        height = 0.75 + 0.33 * len(methods)

        def draw(fig: Figure, methods: list[Method] = methods) -> None:
            draw_family(fig, methods)

        LEARNERS.shows(f"weights_{family}", caption, height=height)(draw)


enter_families()

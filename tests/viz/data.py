"""An evaluation as `multikernel.inspection.evaluate` returns it, small, with names that mean trouble.

And what stands in a picture: the names of its rows, its notes, its legend.
"""

import numpy as np

VIEWS = [r"$\no_1$ sound", "_image 100%", "text & <b>"]
CLASSES = ["no", r"_yes $\a$"]


def make_evaluation(task="classes"):
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=60)
    spots = rng.normal(size=(60, 2)) + 2.0 * labels[:, None]
    marks = [_mark(row, task, labels) for row in range(60)]
    points = [{**mark, "x": float(x), "y": float(y)} for mark, (x, y) in zip(marks, spots, strict=True)]
    gates = rng.dirichlet([1.0, 5.0, 5.0], size=60)
    return {
        "task": task,
        "n_samples": 60,
        "views": VIEWS,
        "classes": CLASSES if task == "classes" else [],
        "stability": {"protocol": "ten refits", "rows": _stability(rng)},
        "without_view": {
            "protocol": "ten folds",
            "metric": "accuracy",
            "score": 0.9,
            "sd": 0.02,
            "rows": [
                {"view": VIEWS[0], "score": 0.7, "sd": 0.03, "effect": 0.2, "p": 0.004},
                {"view": VIEWS[1], "score": 1.0, "sd": 0.03, "effect": -0.1, "p": None},
                {"view": VIEWS[2], "score": 0.85, "sd": 0.02, "effect": 0.05, "p": 0.2},
            ],
        },
        "baselines": {
            "protocol": "ten folds",
            "metric": "accuracy",
            "rows": _baselines(),
            "answer": "Yes: so.",
        },
        "held_out": _held_out(task, rng),
        "heat_maps": {
            "order": "by class",
            "groups": [
                {"label": CLASSES[0], "start": 0, "stop": 4},
                {"label": CLASSES[1], "start": 4, "stop": 10},
            ],
            "maps": [
                {"name": "learned kernel", "share": None, "low": 0.5, "high": 2.5, "values": _blocks()},
                {"name": VIEWS[0], "share": 0.6, "low": 0.0, "high": 1.0, "values": _blocks()},
            ],
        },
        "embedding": {"method": "kernel PCA", "explained": [0.41, 0.2], "points": points},
        "gate": {
            "what": "value of the gate",
            "views": VIEWS,
            "rows": [{**mark, "weights": row.tolist()} for mark, row in zip(marks, gates, strict=True)],
        },
        "omitted": [],
        "notes": [],
    }


def _mark(row, task, labels):
    if task == "values":
        return {"row": row, "value": float(row), "predicted": float(row) + 0.5}
    label = CLASSES[labels[row]]
    return {"row": row, "label": label, "predicted": CLASSES[0] if row < 3 else label}


def _stability(rng):
    rows = []
    for view, share in zip(VIEWS, (0.1, 0.6, 0.3), strict=True):
        values = np.abs(share + 0.05 * rng.normal(size=10))
        low, mean, high, sd = values.min(), values.mean(), values.max(), values.std()
        spread = {"mean": mean, "sd": sd, "low": low, "high": high}
        rows.append({"view": view, "share": share, "used": 0.9, "values": values.tolist(), **spread})
    return rows


def _baselines():
    rows = [
        ("learned", 0.9, 0.0, None, None),
        ("plain sum", 0.8, 0.1, 0.003, "better"),
        ("best single view", 0.89, 0.01, 0.4, "tie"),
        ("tuned $RBF_1$", 0.95, -0.05, 0.02, "worse"),
    ]
    return [
        {"name": name, "what": "", "score": score, "sd": 0.02, "difference": gain, "p": p, "verdict": verdict}
        for name, score, gain, p, verdict in rows
    ]


def _held_out(task, rng):
    bins = [{"predicted": 0.1 + 0.2 * k, "observed": 0.15 + 0.18 * k, "n": 5 + 10 * k} for k in range(5)]
    curve = {"false_positive": [0.0, 0.1, 1.0], "true_positive": [0.0, 0.8, 1.0], "auc": 0.85}
    observed = rng.normal(size=40)
    predicted = observed + 0.3 * rng.normal(size=40)
    points = [{"observed": float(a), "predicted": float(b)} for a, b in zip(observed, predicted, strict=True)]
    is_classes = task == "classes"
    return {
        "protocol": "five folds",
        "metric": "accuracy",
        "score": 0.9,
        "confusion": {"labels": CLASSES, "counts": [[25, 5], [1, 29]]} if is_classes else None,
        "roc": {"curves": [{"label": CLASSES[1], **curve}]} if is_classes else None,
        "calibration": {"how": "by a sigmoid", "brier": 0.08, "bins": bins} if is_classes else None,
        "residuals": None if is_classes else {"rmse": 0.3, "mae": 0.24, "r2": 0.91, "points": points},
    }


def _blocks():
    block = np.full((10, 10), 0.2)
    block[:4, :4] = block[4:, 4:] = 1.0
    block[0, 9] = block[9, 0] = 0.0
    return block.tolist()


def row_names(ax):
    return [tick.get_text() for tick in ax.get_yticklabels()]


def notes(ax):
    return [text.get_text() for text in ax.texts]


def legend_names(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def assert_beside(ax):
    """The legend hides nothing of the picture."""
    ax.figure.draw_without_rendering()
    assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1

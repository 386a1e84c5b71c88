"""The evaluation that reports are tested with, with names that mean trouble.

And what stands in a picture: the names of its rows, its notes, its legend.
"""

import numpy as np

from tests.report.evaluations import evaluation

VIEWS = [r"$\no_1$ sound", "_image 100%", "text & <b>"]
CLASSES = ["no", r"_yes $\a$"]


def make_evaluation(task="classification"):
    """Sixty samples; the rows of views are not in the order in which they are drawn."""
    made = evaluation(task, views=VIEWS, classes=CLASSES, n=60, gate=True)
    made["stability"]["rows"].reverse()
    made["without_view"]["rows"].reverse()
    made["without_view"]["rows"][0]["p"] = None
    made["baselines"]["rows"][-1]["name"] = "tuned $RBF_1$"
    made["baselines"]["answer"] = "Yes: so."
    block = np.full((10, 10), 0.2)
    block[:4, :4] = block[4:, 4:] = 1.0
    block[0, 9] = block[9, 0] = 0.0
    first, second, *_ = made["heat_maps"]["maps"]
    made["heat_maps"] = {
        "order": "by class",
        "groups": [
            {"label": CLASSES[0], "start": 0, "stop": 4},
            {"label": CLASSES[1], "start": 4, "stop": 10},
        ],
        "maps": [
            {**first, "low": 0.5, "high": 2.5, "values": block.tolist()},
            {**second, "share": 0.6, "values": block.tolist()},
        ],
    }
    return made


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

"""The benchmark of probabilities: its measures, its folds and its page."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from benchmarks import probabilities
from multikernel import View
from multikernel.kernels import Gaussian


def test_the_measures_are_those_of_the_docstring():
    proba = np.array([[0.8, 0.2], [0.4, 0.6], [0.7, 0.3], [1.0, 0.0]])
    codes = np.array([0, 1, 1, 0])
    found = probabilities.scores(proba, codes)
    assert found["log_loss"] == pytest.approx(log_loss(codes, proba))
    assert found["brier"] == pytest.approx(np.mean([0.08, 0.32, 0.98, 0.0]))
    assert found["accuracy"] == 0.75
    assert found["calibration"] == pytest.approx((0.2 + 0.4 + 0.7 + 0.0) / 4)  # a sample in each bin


def test_calibrated_probabilities_have_a_small_error_and_sure_ones_a_large_one():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.0, 1.0, 4000)
    codes = (rng.random(4000) < p).astype(int)
    honest = probabilities.scores(np.column_stack([1 - p, p]), codes)
    sure = probabilities.scores(np.column_stack([p < 0.5, p >= 0.5]).astype(float), codes)
    assert honest["calibration"] < 0.03 < 0.2 < sure["calibration"]
    assert honest["log_loss"] < sure["log_loss"]


@pytest.mark.parametrize("contender", probabilities.CONTENDERS)
@pytest.mark.filterwarnings("ignore:the model memorizes:multikernel.views.view.KernelWarning")
def test_every_sample_is_predicted_by_a_model_that_has_not_seen_it(contender):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.where(rng.random(40) < 0.5, "a", "b")  # nothing to learn: a model that has seen it knows it
    proba, codes = probabilities.out_of_fold(contender, X, y, [View("near", Gaussian(1.0))], 0)
    assert proba.sum(axis=1) == pytest.approx(1.0)
    assert probabilities.scores(proba, codes)["accuracy"] < 0.8


def test_the_page_has_every_contender_and_set():
    measures = {"log_loss": 0.5, "brier": 0.3, "calibration": 0.1, "accuracy": 0.9, "seconds": 2.0}
    records = [
        {"contender": c, "set": name, "seed": seed, **measures}
        for c in probabilities.CONTENDERS
        for name in ("sonar", "wine")
        for seed in range(2)
    ]
    page = probabilities.as_page(records)
    for contender in probabilities.CONTENDERS:
        assert page.count(f"`{contender}`") >= 4
    assert "| 0.500 ± 0.000 | 0.500 ± 0.000 | 3.0 |" in page and "| 90.0 | 1.00 |" in page

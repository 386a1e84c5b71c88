"""Made-up censored times: the hazards are what they should be, and so is the censoring."""

import numpy as np
import pytest
from scipy.stats import kstest

from multikernel.core.concordance import concordance_index
from multikernel.datasets import load_dataset, make_survival_views
from tests.shared_data import needs_shared_data, shared_data_folder


@pytest.mark.parametrize("shape", [0.5, 1.0, 3.0])
def test_hazards_are_proportional(shape):
    """Λ(t | x) = t^shape exp(risk) at the event is standard exponential, whatever the risk."""
    data = make_survival_views(4000, censoring=0.0, shape=shape, n_columns=3, random_state=0)
    cumulative = data.y["time"] ** shape * np.exp(data.risk)
    assert data.y["event"].all()
    for part in (cumulative, cumulative[data.risk > 1.0], cumulative[data.risk < -1.0]):
        assert kstest(part, "expon").pvalue > 0.01


def test_the_risk_is_shared_equally_by_the_views_that_matter():
    data = make_survival_views(20000, n_views=4, n_informative=3, n_columns=5, effect=2.0, random_state=1)
    assert data.risk.std() == pytest.approx(2.0, rel=0.03)
    coefficients = np.linalg.lstsq(data.X.to_numpy(), data.risk)[0].reshape(4, 5)
    norms = dict(zip(data.view_columns, np.linalg.norm(coefficients, axis=1), strict=True))
    assert len(data.informative) == 3
    for name, norm in norms.items():
        assert norm == pytest.approx(2.0 / np.sqrt(3.0) if name in data.informative else 0.0, abs=1e-9)


@pytest.mark.parametrize("censoring", [0.0, 0.3, 0.9])
def test_the_share_that_is_censored_is_exact(censoring):
    data = make_survival_views(
        430, n_views=10, n_informative=3, n_columns=50, censoring=censoring, random_state=2
    )
    assert (~data.y["event"]).sum() == round(censoring * 430)
    assert data.X.shape == (430, 500)
    assert concordance_index(data.y, data.risk) > 0.65


def test_censoring_is_independent_of_the_risk():
    data = make_survival_views(4000, effect=0.0, censoring=0.5, random_state=3)
    assert abs(np.corrcoef(data.y["event"], data.X["view 1:0"])[0, 1]) < 0.05


def test_a_seed_gives_the_same_data_and_the_views_that_matter_differ_between_seeds():
    again = [make_survival_views(50, random_state=4) for _ in range(2)]
    np.testing.assert_array_equal(again[0].y, again[1].y)
    assert again[0].X.equals(again[1].X)
    chosen = {tuple(make_survival_views(5, random_state=seed).informative) for seed in range(20)}
    assert len(chosen) > 5


def test_one_sample_has_an_event():
    assert make_survival_views(1, random_state=0).y["event"].all()
    assert make_survival_views(2, n_informative=0, random_state=0).risk.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_informative": 9}, "at most n_views=5; got 9"),
        ({"censoring": 1.0}, "censoring must be less than 1"),
        ({"shape": 0.0}, "shape must be greater than 0"),
        ({"effect": -1.0}, "effect must be at least 0"),
        ({"n_views": 0}, "n_views must be a positive integer"),
    ],
)
def test_what_cannot_be_made(options, words):
    with pytest.raises(ValueError, match=words):
        make_survival_views(10, **options)


@needs_shared_data
def test_patients_have_their_times_as_target(monkeypatch):
    monkeypatch.setenv("MULTIKERNEL_DATA", str(shared_data_folder()))
    data = load_dataset("brca_survival")
    assert data.y.dtype.names == ("event", "time")
    assert (data.y.shape, int(data.y["event"].sum()), int((data.y["time"] == 0.0).sum())) == ((583,), 86, 2)
    assert {view: len(columns) for view, columns in data.view_columns.items()} == {
        "mrna": 57, "mirna": 12, "cnv": 1, "tmb": 3, "clinical": 3,
    }  # fmt: skip
    assert concordance_index(data.y, data.X["clinical:age_years"]) > 0.6

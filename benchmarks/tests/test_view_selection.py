"""The simulation of selected views: its problems have the effects that are stated; the page shows them."""

import numpy as np
import pytest

from benchmarks.view_selection import KINDS, METHODS, N_TRUE, WIDTH, measure, page, rates


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_true_views_have_the_effect_that_is_stated(kind):
    rng = np.random.default_rng(0)
    found, noise = [], []
    for _ in range(60):
        X, latent = kind.draw(20, rng)
        views = X.reshape(len(X), -1, WIDTH)
        said = views[:, :, 0] ** 2 if kind.curved else views[:, :, 0]
        correlations = np.corrcoef(said.T, latent)[-1, :-1]
        found.append(correlations[:N_TRUE])
        noise.append(correlations[N_TRUE:])
    np.testing.assert_allclose(np.mean(found, axis=0), kind.effect, atol=0.05)
    is_copy = np.arange(20) % 4 == 0 if kind.noise == "copies" else np.zeros(20, bool)
    expected = np.where(is_copy, np.sqrt(0.5) * kind.effect, 0.0)
    np.testing.assert_allclose(np.mean(noise, axis=0), expected, atol=0.06)


def test_a_problem_is_measured_and_the_page_says_so():
    record = measure(KINDS[0], 0)
    assert record["n_noise"] == 20 and 0 <= record["marginal"]["true"] <= N_TRUE
    bad = {method: {"true": 1, "false": 4, "seconds": 1.0} for method in METHODS}
    good = {method: {"true": 5, "false": 0, "seconds": 1.0} for method in METHODS}
    own = [
        {"kind": KINDS[0].name, "n_noise": n, **values} for n in (20, 50, 100, 200) for values in (bad, good)
    ]
    found = rates(own, "marginal")
    assert (found["fdr"], found["false"], found["power"]) == (0.4, 2.0, 0.6)
    written = page(own, "0123abc")
    assert written.count("**missed**") == len(METHODS) and "0123abc" in written and "40.0% ± 15.1%" in written

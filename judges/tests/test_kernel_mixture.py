"""The mixture of largest likelihood: explicit features, a climb that never falls, and its certificate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import check_grad, minimize
from scipy.special import logsumexp, softmax

from judges.kernel_mixture import fit_kernel_mixture, maximise
from multikernel.core.optim.loop import Status
from multikernel.datasets import make_interleaved


def explicit_scores(features, proportions, means):
    """ln π_m − ½‖φ_m − μ_m‖² of features given for each component."""
    squares = [((phi - mean) ** 2).sum(axis=1) for phi, mean in zip(features, means, strict=True)]
    return np.log(proportions) - 0.5 * np.column_stack(squares)


def explicit_steps(features, posteriors, n_steps):
    """EM as the textbook has it."""
    for _ in range(n_steps):
        masses = posteriors.sum(axis=0)
        means = [posteriors[:, m] @ phi / masses[m] for m, phi in enumerate(features)]
        scores = explicit_scores(features, masses / len(posteriors), means)
        posteriors = softmax(scores, axis=1)
    return means, masses / len(posteriors), logsumexp(scores, axis=1).sum()


def grams(features, others=None):
    pairs = zip(features, features if others is None else others, strict=True)
    return np.stack([rows @ columns.T for columns, rows in pairs])


def random_features(rng, n, dimensions):
    return [rng.normal(size=(n, d)) * rng.uniform(0.5, 3.0) for d in dimensions]


def value_of(parameters, features):
    """−L of unconstrained parameters: logits of π, then the means."""
    size = len(features)
    means = np.split(parameters[size:], np.cumsum([phi.shape[1] for phi in features])[:-1])
    return -logsumexp(explicit_scores(features, softmax(parameters[:size]), means), axis=1).sum()


@pytest.mark.parametrize("dimensions", [(2, 2), (1, 4, 2)])
def test_the_steps_are_those_of_explicit_features(dimensions):
    rng = np.random.default_rng(0)
    features = random_features(rng, 30, dimensions)
    Ks, diagonals = grams(features), np.stack([(phi**2).sum(axis=1) for phi in features])
    posteriors = rng.dirichlet(np.ones(len(dimensions)), 30)
    for n_steps in range(1, 5):
        means, proportions, _ = explicit_steps(features, posteriors, n_steps)
        mixture, current = None, posteriors
        for _ in range(n_steps):
            mixture = maximise(Ks, current)
            current = softmax(mixture.scores(Ks, diagonals), axis=1)
        np.testing.assert_allclose(mixture.proportions, proportions)
        for m, phi in enumerate(features):
            np.testing.assert_allclose(mixture.centres[m] @ phi, means[m], atol=1e-10)
            assert mixture.norms[m] == pytest.approx(means[m] @ means[m])


def test_the_scores_of_new_samples_are_those_of_explicit_features():
    rng = np.random.default_rng(1)
    features, new = random_features(rng, 25, (2, 3)), random_features(rng, 7, (2, 3))
    mixture = fit_kernel_mixture(grams(features))
    means = [mixture.centres[m] @ phi for m, phi in enumerate(features)]
    expected = explicit_scores(new, mixture.proportions, means)
    diagonals = np.stack([(phi**2).sum(axis=1) for phi in new])
    np.testing.assert_allclose(mixture.scores(grams(features, new), diagonals), expected, atol=1e-9)
    density = mixture.log_density(grams(features, new), diagonals)
    np.testing.assert_allclose(density, logsumexp(expected, axis=1), atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_no_maximiser_in_explicit_features_finds_more(seed):
    """BFGS on the parameters: our likelihood is that of its best start, and has derivative zero."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(scale=3.0, size=(2, 2))
    X = centres[rng.integers(2, size=40)] + rng.normal(size=(40, 2))
    features = [X, X]
    found = fit_kernel_mixture(grams(features), n_init=20, tol=1e-12, max_iter=5000, seed=seed)
    assert found.status is Status.OPTIMAL
    values = []
    for _ in range(5):
        start = np.concatenate([np.zeros(2), X[rng.choice(40, 2, replace=False)].ravel()])
        values.append(-minimize(value_of, start, args=(features,), method="BFGS").fun)
    assert found.log_likelihood == pytest.approx(max(values), abs=1e-4)
    at = np.concatenate([np.log(found.proportions), *(found.centres[m] @ X for m in range(2))])
    assert -value_of(at, features) == pytest.approx(found.log_likelihood)
    assert check_grad(value_of, lambda p, _: np.zeros_like(p), at, features) < 1e-3


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 25),
    size=st.integers(1, 4),
    scale=st.sampled_from([0.1, 1.0, 30.0]),
    steps=st.integers(1, 30),
)
def test_the_likelihood_never_falls_and_the_answer_is_sound(seed, n, size, scale, steps):
    rng = np.random.default_rng(seed)
    features = [scale * phi for phi in random_features(rng, n, rng.integers(1, 5, size))]
    Ks = grams(features)
    found = fit_kernel_mixture(Ks, n_init=3, max_iter=steps, seed=seed)
    values = [entry["objective"] for entry in found.history]
    assert (np.diff(values) >= 0.0).all()
    assert values[-1] == found.log_likelihood
    assert found.n_iter == len(found.history) - 1 <= steps
    assert found.proportions.sum() == pytest.approx(1.0)
    assert (found.gap <= 1e-6) == (found.status is Status.OPTIMAL)
    diagonals = np.einsum("mtt->mt", Ks)
    assert found.log_density(Ks, diagonals).sum() == pytest.approx(found.log_likelihood)
    assert (found.centres >= 0.0).all()
    sums = found.centres.sum(axis=1)
    np.testing.assert_allclose(sums[found.proportions > 0.0], 1.0)


@pytest.mark.parametrize("seed", range(10))
def test_a_step_that_rounding_makes_a_fall_is_refused(seed):
    rng = np.random.default_rng(seed)
    Ks = grams([2.0 * rng.normal(size=(40, d)) for d in (3, 1, 2)])
    found = fit_kernel_mixture(Ks, n_init=2, tol=1e-300, max_iter=3000, seed=seed)
    assert (np.diff([entry["objective"] for entry in found.history]) >= 0.0).all()
    assert found.status in (Status.STALLED, Status.OPTIMAL) and found.n_iter < 3000


def test_the_certificate_is_what_one_more_step_gains():
    rng = np.random.default_rng(7)
    features = random_features(rng, 20, (2, 3))
    Ks = grams(features)
    found, following = (fit_kernel_mixture(Ks, n_init=1, max_iter=steps, tol=1e-15) for steps in (2, 3))
    assert found.status is Status.MAX_ITER and found.n_iter == 2
    means, after = ([mixture.centres[m] @ features[m] for m in range(2)] for mixture in (found, following))
    old = explicit_scores(features, found.proportions, means)
    new = explicit_scores(features, following.proportions, after)
    gain = (softmax(old, axis=1) * (new - old)).sum()
    assert gain > 0.0
    assert found.gap * max(20, abs(found.log_likelihood)) == pytest.approx(gain)
    assert gain <= following.log_likelihood - found.log_likelihood


def test_a_component_without_mass_stays_out_and_does_no_harm():
    X = np.array([[0.0], [0.1], [0.2]])
    far = np.array([[0.0], [1e3], [2e3]])  # its squared distances underflow every posterior
    found = fit_kernel_mixture(grams([X, far]), n_init=4)
    assert found.proportions[1] < 1.0
    assert np.isfinite(found.log_likelihood)
    alone = maximise(grams([X, far]), np.column_stack([np.ones(3), np.zeros(3)]))
    assert alone.proportions.tolist() == [1.0, 0.0]
    scores = alone.scores(grams([X, far]), np.stack([X[:, 0] ** 2, far[:, 0] ** 2]))
    assert np.isneginf(scores[:, 1]).all() and np.isfinite(scores[:, 0]).all()


def test_two_components_of_one_kernel_are_told_apart():
    """Left and right of the interleaved clusters: where the density is, not where the classes change."""
    X, y = make_interleaved(40, random_state=0)
    positive = X[y > 0]
    K = positive @ positive.T
    found = fit_kernel_mixture(np.stack([K, K]))
    means = found.centres @ positive
    np.testing.assert_allclose(np.sort(means[:, 0]), [-5.0, 5.0], atol=0.2)
    np.testing.assert_allclose(means[:, 1], 1.0, atol=0.2)


def test_the_seed_decides():
    rng = np.random.default_rng(3)
    Ks = grams(random_features(rng, 20, (2, 2)))
    kept = Ks.copy()
    first, again = (fit_kernel_mixture(Ks, n_init=2, seed=5) for _ in range(2))
    np.testing.assert_array_equal(first.centres, again.centres)
    np.testing.assert_array_equal(Ks, kept)


@pytest.mark.parametrize(
    ("Ks", "options", "message"),
    [
        (np.eye(3), {}, r"one square matrix for each component; got shape \(3, 3\)"),
        (np.ones((0, 3, 3)), {}, r"got shape \(0, 3, 3\)"),
        (np.ones((2, 3, 4)), {}, r"got shape \(2, 3, 4\)"),
        (np.stack([np.eye(2), np.full((2, 2), np.nan)]), {}, "component 1 must be finite"),
        (np.eye(2)[None], {"n_init": 0}, "n_init must be a positive integer; got 0"),
        (np.eye(2)[None], {"tol": 0.0}, "tol must be greater than 0; got 0.0"),
    ],
)
def test_bad_input_is_named(Ks, options, message):
    with pytest.raises(ValueError, match=message):
        fit_kernel_mixture(Ks, **options)

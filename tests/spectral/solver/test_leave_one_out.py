"""Leave-one-out with weights learned again, against the plain loop that deletes every point in turn."""

import numpy as np
import pytest

from multikernel.spectral.solver.kernel import (
    SpectralRule,
    Spectrum,
    alignment_weights,
    learn_spectral_weights,
    spectrum_of,
    target_norm,
    target_products,
)
from multikernel.spectral.solver.leave_one_out import (
    Candidate,
    Grid,
    choose_first_best,
    kernel_leave_one_out_score,
    learn_candidates,
    leave_one_out_score,
    squares_without_each,
)
from multikernel.spectral.solver.separability import Tradeoff
from tests.spectral import wine

RULES = {
    "separability": SpectralRule(),
    "relative": SpectralRule(tradeoff=Tradeoff(1.5, relative=True)),
    "infinite": SpectralRule(tradeoff=Tradeoff(np.inf)),
    "alignment": SpectralRule("alignment"),
    "nnls": SpectralRule("alignment", method="nnls"),
}


def squares_by_deletion(spectrum, codes, rule, i):
    """The squared weights that are learned where the labelled point i is not labelled."""
    others = np.arange(codes.size) != i
    V = spectrum.vectors[: codes.size][others]
    if rule.criterion == "alignment":
        k = codes.max() + 1
        q = target_products(V, codes[others], k)
        return alignment_weights(V, q, target_norm(codes[others], k), rule.method, len(spectrum.vectors))
    rows = np.concatenate([V, spectrum.vectors[codes.size :], spectrum.vectors[[i]]])
    moved = Spectrum(spectrum.values, rows, spectrum.trace)
    return learn_spectral_weights(moved, codes[others], rule).weights ** 2


def score_by_deletion(spectrum, codes, rule, n_neighbors):
    right = 0
    V = spectrum.vectors[: codes.size]
    for i in range(codes.size):
        others = np.flatnonzero(np.arange(codes.size) != i)
        squares = squares_by_deletion(spectrum, codes, rule, i)
        Z = V * np.sqrt(squares)
        right += wine.vote(Z[[i]], Z[others], codes[others], n_neighbors)[0] == codes[i]
    return right / codes.size


@pytest.mark.parametrize("name", RULES)
def test_weights_without_each_are_those_of_deletion(name):
    K, codes, _ = wine.problem()
    codes = codes.copy()
    codes[7] = 3  # a class of one point, which is gone when that point is left out
    spectrum = spectrum_of(K).above(0.01)
    rule = RULES[name]
    found = squares_without_each(spectrum, codes, rule)
    expected = np.array([squares_by_deletion(spectrum, codes, rule, i) for i in range(36)])
    found, expected = (a / a.sum(axis=1, keepdims=True) for a in (found, expected))
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-12)
    assert np.abs(found - found[0]).max() > 1e-4  # they do differ from point to point


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("n_neighbors", [1, 3])
def test_scores_are_those_of_deletion(name, n_neighbors):
    rng = np.random.default_rng(1)
    X, y = wine.load()
    noisy = X[:90] + rng.normal(size=(90, 13))  # so that there are errors
    spectrum = spectrum_of(wine.gaussian(noisy, noisy, 30.0)).above(0.01)
    codes = y[:50]
    score = leave_one_out_score(spectrum, codes, RULES[name], n_neighbors=n_neighbors)
    expected = score_by_deletion(spectrum, codes, RULES[name], n_neighbors)
    assert score == expected
    assert 0.5 < score < 1.0


def test_a_point_is_no_neighbour_of_itself():
    K = 2.0 * np.eye(4)
    K[0, 1] = K[1, 0] = K[2, 3] = K[3, 2] = 0.5
    assert kernel_leave_one_out_score(K, np.array([0, 0, 1, 1])) == 1.0
    assert kernel_leave_one_out_score(K, np.array([0, 1, 2, 3])) == 0.0
    assert kernel_leave_one_out_score(np.eye(2), np.array([0, 1]), 5) == 0.0  # more neighbours than others


def test_two_points_are_enough():
    spectrum = spectrum_of(np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]]))
    for rule in RULES.values():
        assert leave_one_out_score(spectrum, np.array([0, 1]), rule) == 0.0


# --- the choice --------------------------------------------------------------------------------------------


def test_the_first_of_the_best_is_chosen():
    candidates = [Candidate({"width": w}, s, w) for w, s in [(1, 0.5), (2, 0.7), (3, 0.7), (4, 0.6)]]
    best, table = choose_first_best(candidates)
    assert best.model == 2
    assert table == [{"width": c.settings["width"], "score": c.score} for c in candidates]


def test_what_failed_is_not_chosen_and_stands_in_the_table():
    failed = Candidate({"width": 1}, np.nan, error=ValueError("first"))
    best, table = choose_first_best([failed, Candidate({"width": 2}, 0.0, "kernel")])
    assert best.settings == {"width": 2} and np.isnan(table[0]["score"])
    with pytest.raises(ValueError, match="first"):
        choose_first_best([failed, Candidate({"width": 2}, np.nan, error=ValueError("second"))])
    with pytest.raises(ValueError, match="there must be a kernel"):
        choose_first_best([])


def test_the_grid_is_walked_in_order_and_judged():
    K, codes, _ = wine.problem()
    kappas = (1.25, np.inf)
    grid = Grid(
        eig_tols=(0.1, 0.01), tradeoffs=tuple(Tradeoff(k, relative=True) for k in kappas), n_neighbors=3
    )
    found = list(learn_candidates([K], codes, grid))
    assert len(found) == grid.size == 4
    assert [c.settings["eig_tol"] for c in found] == [0.1, 0.1, 0.01, 0.01]
    assert [c.settings["kappa"] for c in found] == [1.25, np.inf, 1.25, np.inf]
    assert [c.settings["n_components"] for c in found] == [3, 3, 22, 22]
    for candidate in found:
        model = candidate.model
        rule = SpectralRule(tradeoff=Tradeoff(candidate.settings["kappa"], relative=True))
        assert candidate.score == leave_one_out_score(model.spectrum, codes, rule, n_neighbors=3)
        assert candidate.settings["alpha"] == model.learned.alpha
    unjudged = list(learn_candidates([K], codes, grid, judged=False))
    assert np.isnan([c.score for c in unjudged]).all()
    np.testing.assert_array_equal(unjudged[2].model.learned.weights, found[2].model.learned.weights)


def test_the_method_of_alignment_reaches_the_weights():
    K, codes, _ = wine.problem()
    values = []
    for method in ("closed", "nnls"):
        (found,) = learn_candidates([K], codes, Grid(criterion="alignment", method=method))
        rule = SpectralRule("alignment", method=method)
        expected = learn_spectral_weights(spectrum_of(K).above(0.01), codes, rule)
        np.testing.assert_array_equal(found.model.learned.weights, expected.weights)
        assert found.score == leave_one_out_score(found.model.spectrum, codes, rule)
        values.append(found.model.learned.objective)
    assert values[0] + 0.01 < values[1]


def test_a_kernel_without_spectrum_is_no_candidate():
    found = list(learn_candidates([np.ones((4, 4))], np.array([0, 1]), Grid(center=True)))
    assert len(found) == 1 and "no spectrum" in str(found[0].error)


@pytest.mark.parametrize("center", [False, True])
def test_a_conformal_kernel_is_judged_as_it_is(center):
    K, codes, _ = wine.problem()
    grid = Grid(criterion="conformal", method="gradient", cores=np.arange(0, 36, 3), center=center)
    (found,) = learn_candidates([K], codes, grid)
    block = found.model.labelled()
    distances = block.diagonal() + block.diagonal()[:, None] - 2.0 * block
    np.fill_diagonal(distances, np.inf)
    assert found.score == np.mean(codes[distances.argmin(axis=1)] == codes)
    assert grid.size == 1
    (unjudged,) = learn_candidates([K], codes, grid, judged=False)
    assert np.isnan(unjudged.score)
    apart = np.array([0, 1])
    (failed,) = learn_candidates([np.ones((2, 2))], apart, Grid(criterion="conformal", method="gradient"))
    assert "classes" in str(failed.error)

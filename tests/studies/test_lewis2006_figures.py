"""The figures of Lewis et al. (2006) on small sizes: who can learn which boundary, times, and pictures."""

import numpy as np
import pytest

from judges.kernel_mixture import fit_kernel_mixture
from multikernel.core.optim.loop import Status
from multikernel.datasets import make_interleaved, make_piecewise
from multikernel.nonstationary.solver.projection import balance
from studies import get_study, plots, run_table
from studies.lewis2006 import clusters, piecewise, speed

pytestmark = pytest.mark.thorough

STUDY = get_study("lewis2006")
SEPARATED = 1  # with this seed one of few starts finds the boundary
PNG = b"\x89PNG"


# --- figure 1 ----------------------------------------------------------------------------------------------


def test_likelihood_misses_the_boundary_that_latent_med_finds(monkeypatch, tmp_path):
    monkeypatch.setattr(clusters, "N_TEST", 400)
    monkeypatch.setattr(clusters, "STARTS", 4)
    monkeypatch.setattr(clusters, "_SEED", SEPARATED)
    monkeypatch.setattr(plots, "_STEPS", 20)
    monkeypatch.setattr(clusters, "METHODS", {key: clusters.METHODS[key] for key in ("likelihood", "full")})
    summary = run_table(STUDY, STUDY.figure("1"), folder=tmp_path, splits=1)
    likelihood, latent = (row["values"] for row in summary["rows"])
    assert likelihood["training"]["mean"] == pytest.approx(50.0)
    assert likelihood["test"]["mean"] == pytest.approx(50.0, abs=0.5)
    assert latent["training"]["mean"] == 100.0
    assert latent["worst"]["mean"] >= 99.0
    assert 0.0 < latent["starts"]["mean"] <= 100.0
    assert "starts" not in likelihood
    assert (tmp_path / "figure1.png").read_bytes().startswith(PNG)
    assert "| latent MED, full |" in (tmp_path / "figure1.md").read_text(encoding="utf-8")


def test_a_start_separates_if_no_training_point_is_misclassified(monkeypatch):
    monkeypatch.setattr(clusters, "STARTS", 1)
    X, y = make_interleaved(40, random_state=3)
    shares = []
    for seed in range(3):
        decide, status, share = clusters.fit_decision("full", X, y, seed)
        assert status == "optimal"
        assert share == (100.0 if ((decide(X) > 0) == (y > 0)).all() else 0.0)
        shares.append(share)
    assert set(shares) == {0.0, 100.0}


def test_rows_of_figure_1_have_the_worst_draw_and_what_was_not_solved():
    figure = STUDY.figure("1")
    results = [
        (unit, dict(training=100.0, test=90.0 + 2.0 * i, status="stalled" if i else "optimal", starts=50.0))
        for i, unit in enumerate(figure.units(2)[2:4])
    ]
    (row,) = figure.rows(results)
    assert row["labels"] == {"mixtures by": "latent MED, full"}
    assert row["values"]["test"]["mean"] == 91.0
    assert row["values"]["worst"]["mean"] == 90.0
    assert row["remark"] == "not solved to tolerance on 1 of 2 draws"


# --- figure 2 ----------------------------------------------------------------------------------------------


def test_three_solvers_are_timed_on_the_same_projection(monkeypatch, tmp_path):
    monkeypatch.setattr(speed, "SIZES", (30,))
    summary = run_table(STUDY, STUDY.figure("2"), folder=tmp_path, splits=1)
    assert [row["section"] for row in summary["rows"]] == list(speed.POSTERIORS.values())
    for row in summary["rows"]:
        values = row["values"]
        assert row["remark"] == ""
        assert all(values[key]["mean"] > 0.0 for key in speed.SOLVERS)
        assert values["smo_ratio"]["mean"] == pytest.approx(values["conic"]["mean"] / values["smo"]["mean"])
        assert values["smo_error"]["mean"] < 2.0 and values["ipm_error"]["mean"] < 2.0
    assert (tmp_path / "figure2.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize("posteriors", ["uniform", "settled"])
def test_the_projection_is_that_of_a_fit(posteriors):
    projection = speed.make_projection(posteriors, 40, 0)
    for shares, rows in zip(projection.posteriors, projection.mixtures.rows, strict=True):
        assert shares.shape == (rows.size, 2)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        assert (shares == 0.5).all() == (posteriors == "uniform")
    np.testing.assert_allclose(projection.mixtures.margins, 1.0 + np.log(2.0))
    X = make_piecewise(40, random_state=np.random.default_rng([2006, 40, 0]))[0]
    np.testing.assert_allclose(projection.mixtures.Ks[1], (1.0 + X @ X.T) ** 2)
    found = speed.project_interior(projection, tol=1e-8)
    assert found.status is Status.OPTIMAL
    mass = sum(float(duals.sum()) for duals in found.duals)
    assert np.abs(balance(projection, found.duals)).max() <= 1e-6 * mass
    after = projection.mixtures.posteriors(found.point)
    change = max(np.abs(a - b).max() for a, b in zip(after, projection.posteriors, strict=True))
    assert (change < 0.05) == (posteriors == "settled")


def fake_times(smo, conic, status="optimal"):
    return {
        "smo": dict(seconds=smo, value=2.0, gap=0.0, status=status),
        "ipm": dict(seconds=0.5, value=2.0 + 4e-6, gap=0.0, status="optimal"),
        "conic": dict(seconds=conic, value=2.0 + 2e-6, gap=0.0, status="optimal"),
    }


def test_ratios_are_over_what_both_solved_and_the_published_one_is_beside():
    figure = STUDY.figure("2")
    units = [unit for unit in figure.units(2) if unit.key.startswith("uniform/n=500")]
    (row,) = figure.rows(
        list(zip(units, [fake_times(0.1, 1.0), fake_times(9.0, 3.0, "stalled")], strict=True))
    )
    values = row["values"]
    assert values["smo"]["mean"] == 0.1
    assert values["smo_ratio"]["mean"] == pytest.approx(10.0)
    assert values["smo_ratio"]["published"] == 7.5
    assert values["smo_ratio"]["difference"] == pytest.approx(2.5)
    assert values["ipm_ratio"]["mean"] == pytest.approx(4.0)
    assert values["ipm_ratio"]["published"] is None
    assert values["smo_error"]["mean"] == pytest.approx(1.0)
    assert row["remark"] == "SMO + Newton did not reach the tolerance on 1 of 2 draws"
    small = [unit for unit in figure.units(1) if unit.key.startswith("settled/n=100")]
    (other,) = figure.rows([(small[0], fake_times(0.1, 1.0, "stalled"))])
    assert other["values"]["smo_ratio"]["mean"] is None and other["values"]["smo_ratio"]["published"] is None


# --- figure 3 ----------------------------------------------------------------------------------------------


def test_only_the_nonstationary_combination_learns_both_pieces(monkeypatch, tmp_path):
    monkeypatch.setattr(piecewise, "SHIFTS", (0.2,))
    monkeypatch.setattr(piecewise, "N_TRAIN", 100)
    monkeypatch.setattr(piecewise, "_STARTS_DRAWN", 1)
    monkeypatch.setattr(plots, "_STEPS", 20)
    summary = run_table(STUDY, STUDY.figure("3"), folder=tmp_path, splits=1)
    found = {row["labels"]["method"]: row["values"] for row in summary["rows"]}
    for key in ("qp", "full"):
        values = found[piecewise.METHODS[key]]
        assert values["training"]["mean"] == 100.0
        assert values["test"]["mean"] > 96.0
        for side in piecewise.SIDES:
            assert all(0.0 <= weight <= 1.0 for weight in values[side]["mean"])
    for key in ("linear", "quadratic", "mkl", "likelihood"):
        assert found[piecewise.METHODS[key]]["test"]["mean"] <= 87.0
        assert "positive" not in found[piecewise.METHODS[key]]
    assert (tmp_path / "figure3.png").read_bytes().startswith(PNG)
    page = (tmp_path / "figure3.md").read_text(encoding="utf-8")
    assert "![Lewis et al. (2006), figure 3" in page and "## shift ±0.2" in page


@pytest.mark.parametrize("method", ["qp", "full"])
def test_200_points_are_enough_for_it_to_be_always_right(method):
    found = piecewise.compute_draw(0.2, method, 1)
    assert found["training"] == found["test"] == 100.0
    assert found["status"] == "optimal"


def test_the_likelihood_of_the_picture_is_that_of_explicit_features():
    X, y = make_piecewise(40, random_state=2)
    fitted = piecewise.fit_piecewise("likelihood", X, y)
    assert fitted.model is None and fitted.status == "optimal"
    a, b = X.T
    root = np.sqrt(2.0)
    quadratic = np.column_stack([np.ones(40), root * a, root * b, a * a, b * b, root * a * b])
    expected = []
    for label in (1, -1):
        rows = np.flatnonzero(y == label)
        kernels = [phi[rows] @ phi[rows].T for phi in (X, quadratic)]
        mixture = fit_kernel_mixture(np.stack(kernels))
        squares = [
            ((phi - mixture.centres[m] @ phi[rows]) ** 2).sum(axis=1) for m, phi in enumerate((X, quadratic))
        ]
        with np.errstate(divide="ignore"):
            scores = np.log(mixture.proportions) - 0.5 * np.column_stack(squares)
        expected.append(np.logaddexp.reduce(scores, axis=1))
    np.testing.assert_allclose(fitted.decide(X), expected[0] - expected[1], atol=1e-6)


# --- pictures ----------------------------------------------------------------------------------------------


def test_the_grid_covers_the_points():
    X, _ = make_piecewise(30, random_state=0)
    first, second, points = plots.plane(X)
    assert first[0] < X[:, 0].min() and first[-1] > X[:, 0].max()
    assert second[0] < X[:, 1].min() and second[-1] > X[:, 1].max()
    np.testing.assert_allclose(points[: len(first), 0], first)
    np.testing.assert_allclose(points[: len(first), 1], second[0])
    assert len(points) == len(first) * len(second)


@pytest.mark.parametrize("one_class", [False, True])
def test_surfaces_and_maps_are_drawn(one_class, tmp_path):
    from matplotlib.figure import Figure

    X, y = make_interleaved(16, random_state=0)
    figure = Figure()
    axes = figure.subplots()
    plots.draw_surface(axes, lambda points: np.ones(len(points)) if one_class else points[:, 1], X, y)
    picture = plots.draw_map(axes, lambda points: np.full(len(points), 0.25), X, y)
    assert picture.get_array().min() == picture.get_array().max() == 0.25
    assert picture.get_clim() == (0.0, 1.0)
    drawn = np.concatenate(
        [np.asarray(c.get_offsets()) for c in axes.collections if len(c.get_offsets()) == 8]
    )
    assert {tuple(point) for point in X} <= {tuple(point) for point in drawn}
    figure.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(PNG)

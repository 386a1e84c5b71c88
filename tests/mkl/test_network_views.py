"""Views of names of nodes in estimators, cross-validation and files."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict

from multikernel import MKLClassifier, View
from multikernel.inspection.fingerprint import fingerprint
from multikernel.io.models import load_model, save_model
from multikernel.io.models.preparing import prepare
from multikernel.kernels import Diffusion, Gaussian, Network, Precomputed, RandomWalk, RegularizedLaplacian
from multikernel.kernels.networks import kernels as network_kernels
from multikernel.transductive import TransductiveMKLClassifier
from multikernel.views import LowRankBank
from tests.raw import raw

N = 60


def two_groups():
    """Nodes of two groups, most edges within them; a table of half the nodes, and of some that are none."""
    rng = np.random.default_rng(0)
    group = np.arange(N) % 2
    within = group[:, None] == group
    upper = np.triu(rng.uniform(size=(N, N)) < np.where(within, 0.2, 0.02), 1)
    names = np.array([f"P{i:02}" for i in range(N)])
    network = Network(names[np.argwhere(upper)], nodes=names)
    chosen = rng.permutation(N)[:40]
    table = pd.DataFrame({"protein": names[chosen], "level": group[chosen] + rng.normal(size=40)})
    table.loc[[3, 17], "protein"] = ["Q1", "Q2"]
    return network, table, group[chosen]


NETWORK, TABLE, LABELS = two_groups()


def views(beta=2.0):
    return [
        View("heat", Diffusion(NETWORK, beta), "protein", ("center", "unit_diagonal")),
        View("forest", RegularizedLaplacian(NETWORK, 2.0, normalized=False), ["protein"], "unit_trace"),
        View("walk", RandomWalk(NETWORK, 0.3), "protein"),
        View("level", Gaussian(), ["level"], standardize=True),
    ]


@pytest.mark.parametrize("small", [1000, 0])
def test_cross_validation_takes_the_right_nodes(small, monkeypatch):
    monkeypatch.setattr(network_kernels, "SMALL", small)
    model = MKLClassifier(views(), tol=1e-6)
    found = cross_val_predict(model, TABLE, LABELS, cv=4, method="decision_function")
    ready = [  # the same with matrices that were computed before, and positions into them
        View(view.name, Precomputed(view.kernel(TABLE["protein"])), ["place"], view.transforms)
        for view in views()[:3]
    ]
    places = TABLE.assign(place=np.arange(40))
    expected = cross_val_predict(
        MKLClassifier([*ready, views()[3]], tol=1e-6), places, LABELS, cv=4, method="decision_function"
    )
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert np.mean((found > 0) == LABELS) > 0.7


@pytest.mark.parametrize("small", [1000, 0])
def test_saved_models_hold_the_network_and_nothing_that_was_computed(small, tmp_path, monkeypatch):
    monkeypatch.setattr(network_kernels, "SMALL", small)
    model = MKLClassifier(views()).fit(TABLE, LABELS)
    new = pd.DataFrame({"protein": ["P01", "Q2", "Q7"], "level": [0.0, 1.0, 2.0]})
    loaded = load_model(save_model(model, tmp_path / "model.skops"))
    assert loaded.decision_function(new).tobytes() == model.decision_function(new).tobytes()
    kernel = loaded.kernels[0].kernel
    assert kernel == model.kernels[0].kernel and kernel.network == NETWORK
    assert kernel.network is loaded.kernels[1].kernel.network  # written once
    assert not kernel.network.weights.flags.writeable
    kept = prepare(model.kernels[0].kernel)  # what was computed is not even looked through
    assert set(vars(kept)) == {"network", "beta", "normalized", "absent"}
    assert set(vars(kept.network)) == {"nodes", "pairs", "weights"}
    alone = load_model(save_model(Diffusion(NETWORK), tmp_path / "kernel.skops"))
    assert set(vars(alone)) == {"network", "beta", "normalized", "absent"}
    assert set(vars(alone.network)) == {"nodes", "pairs", "weights"}


def test_results_of_equal_networks_are_equal():
    again = two_groups()[0]
    kernel = Diffusion(NETWORK)
    before = fingerprint(kernel)
    kernel(["P01"])
    assert fingerprint(kernel) == before == fingerprint(Diffusion(again))
    assert fingerprint(Diffusion(again, 2.0)) != before
    assert clone(MKLClassifier(kernel)).kernels is kernel  # with all that it has computed


@pytest.mark.parametrize("small", [1000, 0])
def test_factors_stand_for_a_network(small, monkeypatch):
    monkeypatch.setattr(network_kernels, "SMALL", small)
    kernel = Diffusion(NETWORK, 2.0)
    for approximation in ("nystroem", "cholesky"):
        view = View("heat", kernel, "protein", approximation=approximation, rank=40)
        Z = LowRankBank(raw(view)).fit(TABLE).transform(TABLE)
        np.testing.assert_allclose(Z @ Z.T, kernel(TABLE["protein"]), atol=1e-6)


def test_unlabelled_nodes_take_part():
    kernels = [View(f"heat {beta}", Diffusion(NETWORK, beta), "protein") for beta in (1.0, 4.0)]
    model = TransductiveMKLClassifier(kernels).fit(TABLE[:20], LABELS[:20], TABLE[20:])
    assert model.transduction_.shape == (20,)
    assert np.mean(model.transduction_ == LABELS[20:]) > 0.7


def test_a_column_of_other_names_is_refused_by_the_view():
    with pytest.raises(ValueError, match=r"view 'heat': standardize=True needs a kernel of numeric columns"):
        View("heat", 2.0 * Diffusion(NETWORK), "protein", standardize=True)
    table = TABLE.assign(protein=[f"X{i}" for i in range(40)])
    with pytest.raises(ValueError, match=r"^no row of view 'heat' is a node of the network"):
        MKLClassifier(views()).fit(table, LABELS)
    with pytest.raises(ValueError, match=r"view 'heat'.* holds nan at row 5"):
        MKLClassifier(views()).fit(TABLE.assign(protein=TABLE["protein"].where(TABLE.index != 5)), LABELS)

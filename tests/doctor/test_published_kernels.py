"""Similarities as they are published: asymmetric, indefinite; the doctor says so, and two lines mend them."""

import json
import re
from contextlib import nullcontext

import numpy as np
import pytest
from typer.testing import CliRunner

from multikernel import KernelBank, MKLClassifier, stack_kernels
from multikernel.cli import app
from multikernel.datasets import load_dataset
from multikernel.doctor import diagnose
from multikernel.kernels import repair_psd
from multikernel.views import KernelWarning
from tests.shared_data import needs_shared_data, shared_data_folder


def generated():
    """Thirty samples: one similarity with some pairs that differ, and one made of steps in a network."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 12))
    align = np.exp(-((A[:, None] - A) ** 2).sum(axis=2) / 30.0)
    pairs = rng.choice(30, (8, 2), replace=True)
    for a, b in pairs[pairs[:, 0] != pairs[:, 1]]:
        align[a, b] += 0.15
    steps = (rng.random((30, 30)) < 0.15).astype(float)
    steps = np.maximum(steps, steps.T)
    np.fill_diagonal(steps, 1.0)
    return {"align": align.astype(np.float32), "network": steps.astype(np.float32)}


def told(kernels):
    """What is wrong with each kernel: the smallest eigenvalue, or that it is asymmetric."""
    found = {}
    for finding in diagnose(kernels).errors:
        for name in re.findall(r"'(.*?)'", finding.subject):
            value = re.search(r"smallest eigenvalue (-[\d.e-]+)", finding.what)
            found.setdefault(name, {})["lowest" if value else "asymmetric"] = (
                float(value[1]) if value else finding.what
            )
    return found


def mend(kernels):
    """The two lines of the guide."""
    straight = {name: (K + K.T) / 2 for name, K in kernels.items()}
    return {name: repair_psd(K) for name, K in straight.items()}


def check_mended(kernels, faults):
    """The findings are true, the repaired matrices are sound, and no farther from the given than need be."""
    mended = mend(kernels)
    assert diagnose(mended).ok
    for name, K in kernels.items():
        straight = (K.astype(np.float64) + K.T) / 2
        values = np.linalg.eigvalsh(straight)
        assert ("asymmetric" in faults.get(name, {})) == (not np.allclose(K, K.T, rtol=0.0, atol=1e-4))
        if "lowest" in faults.get(name, {}):
            assert faults[name]["lowest"] == pytest.approx(values[0], rel=5e-3, abs=1e-4)
        assert np.array_equal(mended[name], mended[name].T)
        off = np.linalg.norm(mended[name] - straight)  # clipping is the nearest such matrix
        assert off == pytest.approx(np.linalg.norm(values[values < 0.0]), rel=1e-3, abs=1e-4 * len(K))


def test_generated_similarities_with_the_same_faults():
    kernels = generated()
    before = {name: K.copy() for name, K in kernels.items()}
    faults = told(kernels)
    assert "asymmetric" in faults["align"] and faults["network"]["lowest"] < -0.5
    check_mended(kernels, faults)
    assert all(np.array_equal(kernels[name], before[name]) for name in kernels)
    y = np.arange(30) % 2
    stack = stack_kernels(kernels)
    with pytest.raises(ValueError, match=r"must be symmetric.*\(K \+ K.T\) / 2"):
        MKLClassifier("precomputed").fit(stack, y)
    straight = (stack + stack.transpose(1, 0, 2)) / 2
    with pytest.raises(ValueError, match="positive semidefinite"):
        MKLClassifier("precomputed").fit(straight, y)
    repaired = stack_kernels(mend(kernels))
    clipped = MKLClassifier(KernelBank("precomputed", psd="clip"), tol=1e-8).fit(straight, y)
    direct = MKLClassifier("precomputed", tol=1e-8).fit(repaired, y)
    assert clipped.objective_ == pytest.approx(direct.objective_, rel=1e-4)


# Smallest eigenvalues of kernels that are not positive semidefinite, as the manifest has them.
PUBLISHED = {
    "dti_nr": {"target_go": -0.247, "target_ppi": -1.83},
    "dti_gpcr": {"drug_minmaxTanimoto": -0.448, "target_go": -0.849},
    "dti_ic": {"drug_minmaxTanimoto": -0.28, "target_go": -0.773},
}


@needs_shared_data
@pytest.mark.parametrize("name", PUBLISHED)
def test_drugs_and_targets_as_they_were_published(name, monkeypatch):
    monkeypatch.setenv("MULTIKERNEL_DATA", str(shared_data_folder()))
    data = load_dataset(name)
    faults = told(data.kernels)
    assert "asymmetric" in faults["drug_simcomp"]
    for kernel, lowest in PUBLISHED[name].items():
        assert faults[kernel]["lowest"] == pytest.approx(lowest, abs=6e-3)
    check_mended(data.kernels, faults)
    drugs = {key: K for key, K in data.kernels.items() if key.startswith("drug_")}
    y = data.y[:, data.y.sum(axis=0).argmax()]
    with pytest.raises(ValueError, match="must be symmetric"):
        MKLClassifier("precomputed").fit(stack_kernels(drugs), y)
    stack = stack_kernels({key: (K + K.T) / 2 for key, K in drugs.items()})
    model = MKLClassifier(KernelBank("precomputed", psd="clip"))
    lonely = any("nearly the identity" in finding.what for finding in diagnose(drugs).findings)
    with pytest.warns(KernelWarning, match="nearly the identity|memorizes") if lonely else nullcontext():
        assert model.fit(stack, y).status_ == "optimal"


@needs_shared_data
def test_the_command_says_it_of_the_file():
    path = str(shared_data_folder() / "dti_nr.npz")
    result = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1"}).invoke(app, ["doctor", path, "--json"])
    assert result.exit_code == 1
    findings = json.loads(result.stdout)["findings"]
    said = " ".join(f"{finding['subject']}: {finding['what']} {finding['command']}" for finding in findings)
    assert "kernel 'drug_simcomp': not symmetric: 20 pairs differ, most (0, 16)" in said
    assert "kernel 'target_ppi': not positive semidefinite: smallest eigenvalue -1.83" in said
    assert "K = (K + K.T) / 2" in said and "--set psd=clip" in said

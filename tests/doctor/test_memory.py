"""What the doctor says of memory: what a fit needs, what may stand for the kernels, and what fits."""

import numpy as np
import pytest

from multikernel.doctor import diagnose
from multikernel.kernels import Gaussian, Linear, Sigmoid
from multikernel.views import View
from multikernel.views import memory as views_memory
from multikernel.views.memory import estimate_factors, estimate_memory
from tests.doctor.told import find


@pytest.mark.parametrize(
    ("share", "level", "said"),
    [(0.7, "warning", 'dtype="float32"'), (1.2, "warning", "float32"), (0.01, "error", "Take")],
)
def test_memory(table, monkeypatch, share, level, said):
    needed = diagnose(*table).memory["total"]
    monkeypatch.setattr(views_memory, "available_memory", lambda: int(share * needed) + 1)
    finding = find(diagnose(*table), level, "memory")
    assert "7 kernels of 60 × 60" in finding.what
    assert said in finding.remedy


def test_what_may_stand_for_many_rows(monkeypatch):
    monkeypatch.setattr(views_memory, "available_memory", lambda: 2**36)
    X = np.random.default_rng(0).standard_normal((10_001, 2))
    found = diagnose(X, None, [Gaussian(), View("few", Linear(), rank=3)], max_samples=50)
    assert found.memory["chosen"] == "low_rank"
    finding = find(found, "note", "memory")
    assert 'gram="auto" of mkl and ridge takes factors' in finding.what
    assert "--gram dense, or --gram memmap --set dtype=float32" in finding.command
    n, choices = 10_001, {(each["gram"], each["dtype"]): each for each in found.memory["choices"]}
    assert choices["dense", "float64"]["memory"] == found.memory["total"]
    assert choices["memmap", "float32"]["disk"] == 2 * 4 * n * n
    assert (
        choices["memmap", "float32"]["memory"] == estimate_memory(n, 2, "float32", "memmap", lean=True).total
    )
    assert choices["low_rank", "float64"]["memory"] == estimate_factors(n, 203, 2).total
    sigmoid = diagnose(X[:60], None, [Sigmoid()]).memory
    assert {each["gram"] for each in sigmoid["choices"]} == {"dense", "memmap"}

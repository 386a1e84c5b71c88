"""Losses on pairs: derivatives against finite differences."""

import numpy as np
import pytest

from multikernel.rules.solver.pair_boosting import PAIR_LOSSES, PairLoss


@pytest.mark.parametrize("kind", PAIR_LOSSES)
def test_derivatives(kind):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 8)
    loss = PairLoss(codes, kind)
    K, B = rng.normal(size=(2, 8, 8))
    same = codes[:, None] == codes[None]
    z = np.where(same, K, -K)
    losses = np.exp(-z) if kind == "exp" else np.log1p(np.exp(-z))
    pairs = ~np.eye(8, dtype=bool)
    halves = losses[same & pairs].mean(), losses[~same].mean()
    assert loss.value(K) == pytest.approx(np.mean(halves), rel=1e-12)
    equal = PairLoss(codes, kind, balance=False)
    assert equal.value(K) == pytest.approx(losses[pairs].mean(), rel=1e-12)
    first, second = loss.slopes_along(K, B)
    h = 1e-4
    up, here, down = (loss.value(K + t * B) for t in (h, 0.0, -h))
    assert first == pytest.approx((up - down) / (2 * h), rel=1e-5)
    assert second == pytest.approx((up - 2 * here + down) / h**2, rel=1e-4)
    assert first == pytest.approx(float(np.vdot(loss.gradient(K), B)), rel=1e-12)


def test_far_margins_do_not_overflow():
    loss = PairLoss(np.array([0, 1]), "log")
    K = np.array([[1e4, -1e4], [-1e4, 1e4]])
    assert loss.value(K) == 0.0 and loss.value(-K) == pytest.approx(1e4)
    alone = PairLoss(np.array([0, 0]), "exp")
    assert alone.value(np.zeros((2, 2))) == pytest.approx(1.0)
    assert np.isfinite(loss.gradient(-K)).all()

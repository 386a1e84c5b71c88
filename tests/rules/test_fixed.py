"""Rules that look at no target: the formulas, any task, and what has no scale."""

import numpy as np
import pytest

from multikernel.kernels import center
from multikernel.rules import MeanRule, ProductRule, SumRule
from multikernel.rules.targets import no_targets
from tests.rules.similarity_problems import check_input, check_order, check_scales, problem

RULES = (SumRule(), MeanRule(), MeanRule("variance"), MeanRule("none"), ProductRule())


def test_the_sum_and_the_product():
    kernels, y = problem(0)
    np.testing.assert_allclose(SumRule().fit_combine(kernels), np.sum(kernels, axis=0))
    np.testing.assert_allclose(ProductRule().fit_combine(kernels), np.prod(kernels, axis=0))
    for rule in (SumRule(), ProductRule()):
        assert rule.fit(kernels, y).kernel_weights_.tolist() == [1.0] * len(kernels)
        new = [K[:3] for K in kernels]
        np.testing.assert_allclose(rule.combine(new), rule.fit_combine(kernels)[:3])


@pytest.mark.parametrize(
    "normalise, size",
    [
        ("trace", lambda K: np.trace(K) / len(K)),
        ("variance", lambda K: np.trace(center(K)) / len(K)),
        ("none", lambda K: 1.0),
    ],
)
def test_the_mean_of_kernels_at_one_scale(normalise, size):
    kernels, _ = problem(1)
    expected = np.mean([K / size(K) for K in kernels], axis=0)
    np.testing.assert_allclose(MeanRule(normalise).fit_combine(kernels), expected, rtol=1e-9)
    np.testing.assert_allclose(MeanRule().fit(kernels).kernel_shares_, 1.0 / len(kernels))


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("task", ["two", "three", "values", "outputs", None])
def test_targets_are_not_looked_at(rule, task):
    kernels, y = problem(2, task or "two")
    weights = rule.fit(kernels, None if task is None else y).kernel_weights_
    np.testing.assert_array_equal(weights, rule.fit(kernels, task="nothing").kernel_weights_)
    assert np.isnan(rule.objective_) and rule.status_ == "optimal" and rule.dual_gap_ == 0.0


def test_laws():
    kernels, y = problem(3)
    for rule in (MeanRule(), MeanRule("variance"), ProductRule()):
        check_scales(rule, kernels, y)
    for rule in RULES:
        check_order(rule, kernels, y)
        check_input(rule, kernels, y)


@pytest.mark.parametrize("level", [0.1, 1.0, 3e7])
def test_a_constant_kernel_has_no_variance(level):
    constant = np.full((1, 30, 30), level)
    with pytest.raises(ValueError, match="kernel 'kernel-0' is the same for all samples"):
        MeanRule("variance").fit_stack(constant, no_targets(30))
    assert MeanRule().fit_stack(constant, no_targets(30)).kernel_weights_[0] == pytest.approx(1.0 / level)


def test_a_kernel_of_zeros_has_no_trace():
    with pytest.raises(ValueError, match="kernel 'b' cannot be scaled to trace n: its mean diagonal is 0"):
        MeanRule().fit_stack(np.stack([np.eye(3), np.zeros((3, 3))]), no_targets(3), ["a", "b"])


def test_a_product_that_overflows_is_refused():
    with pytest.raises(ValueError, match="the product of the kernels overflows"):
        ProductRule().fit_combine([1e200 * (1.0 + np.eye(3)), 1e200 * np.eye(3)])

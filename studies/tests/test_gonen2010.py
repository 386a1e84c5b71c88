"""The protocol of Gönen (2010): a third for the test, five times two halves of the rest."""

import numpy as np
import pytest

from studies.gonen2010 import protocol


@pytest.mark.parametrize("stratified", [True, False])
def test_a_third_is_the_test_and_the_rest_is_halved_five_times(stratified):
    y = np.repeat([0, 1], [60, 30]) if stratified else np.linspace(0.0, 1.0, 90)
    folds = [protocol.draw_fold(y, 3, fold, stratified=stratified) for fold in range(protocol.FOLDS)]
    for fold in folds:
        np.testing.assert_array_equal(fold.test, folds[0].test)
        everything = np.concatenate([fold.training, fold.validation, fold.test])
        np.testing.assert_array_equal(np.sort(everything), np.arange(90))
        assert len(fold.test) == len(fold.training) == len(fold.validation) == 30
        if stratified:
            assert all(y[part].sum() == 10 for part in (fold.training, fold.validation, fold.test))
    for first, second in zip(folds[::2], folds[1::2], strict=True):
        np.testing.assert_array_equal(first.training, second.validation)
        np.testing.assert_array_equal(first.validation, second.training)
    assert len({tuple(fold.training) for fold in folds}) == 10
    other = protocol.draw_fold(y, 4, 0, stratified=stratified)
    assert set(other.test) != set(folds[0].test)

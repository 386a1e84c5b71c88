"""Made-up proteins: who interacts with whom, and what expression tells."""

import numpy as np
import pytest

from multikernel.datasets import make_proteins


def test_modules_interact_and_share_their_function():
    X, y, edges = make_proteins(1200, absent=0.25, random_state=1)
    names = X["protein"].tolist()
    assert len(set(names)) == 1200 and X.shape == (1200, 13)
    place = {name: i for i, name in enumerate(names)}
    first, second = (np.array([place[name] for name in column]) for column in edges.T)
    same = first % 100 == second % 100
    tested = 900
    assert same.sum() == pytest.approx(0.2 * 100 * 9 * 8 / 2, rel=0.15)
    assert (~same).sum() == pytest.approx(0.01 * tested**2 / 2, rel=0.05)
    assert (y[first] == y[second])[same].all() and y.mean() == 0.5
    assert len(np.unique(edges)) == tested  # with so many others, each has some edge
    levels = X.drop(columns="protein").to_numpy()
    shift = levels[y == 1].mean(axis=0) - levels[y == 0].mean(axis=0)
    np.testing.assert_allclose(shift, [0.7] * 4 + [0.0] * 8, atol=0.2)


def test_the_same_seed_draws_the_same_proteins():
    first, second, other = (make_proteins(50, random_state=seed) for seed in (3, 3, 4))
    assert first.X.equals(second.X) and np.array_equal(first.edges, second.edges)
    assert not first.X.equals(other.X)
    assert len(make_proteins(30, absent=0.0, random_state=0).X) == 30


@pytest.mark.parametrize("absent", [-0.1, 1.0])
def test_a_share_is_a_share(absent):
    with pytest.raises(ValueError, match="absent must be"):
        make_proteins(absent=absent)

"""The judge of survival models, and the sections that use it, on small problems."""

import numpy as np
import pytest

from benchmarks import survival
from benchmarks.objective import InfeasibleError
from benchmarks.survival_objective import judge_survival
from multikernel.core.optim.loop import Options
from multikernel.core.weights.learn import learn_weights

N = 60


@pytest.mark.parametrize("norm", [1.0, 2.0, np.inf])
@pytest.mark.parametrize("name", ["cox", "ranking", "regression"])
def test_the_judge_agrees_at_the_optimum_and_only_there(name, norm):
    Ks, event, t = survival.gaussian_problem(N, 3)
    loss = survival.losses_of(event, t)[name]
    found = learn_weights(Ks, [loss], norm=norm, options=Options(tol=1e-7))
    given = {"C": 1.0, "norm": norm, "intercept": found.intercepts[0]}
    verdict = judge_survival(name, Ks, event, t, found.weights, found.duals[0], **given)
    assert -1e-9 < verdict.gap < 2e-7
    assert verdict.primal == pytest.approx(found.upper_bound, rel=1e-7)
    worse = judge_survival(name, Ks, event, t, found.weights, 0.8 * found.duals[0], **given)
    assert worse.gap > 1e-3 and worse.lower <= verdict.primal <= worse.primal
    uneven = np.roll(found.weights, 1) * [0.9, 1.0, 0.5]
    assert judge_survival(name, Ks, event, t, uneven, found.duals[0], **given).gap > verdict.gap


def test_the_judge_refuses_what_is_not_feasible():
    Ks, event, t = survival.gaussian_problem(N, 2)
    nothing = np.zeros(N)
    with pytest.raises(InfeasibleError, match="weights"):
        judge_survival("cox", Ks, event, t, np.ones(2), nothing, C=1.0)
    up = np.where(np.arange(N) == np.argmin(event), 0.5, 0.0)  # a censored sample whose dual has no such sign
    with pytest.raises(InfeasibleError, match="duals"):
        judge_survival("regression", Ks, event, t, np.array([1.0, 0.0]), up, C=1.0)


def test_sections_print_what_they_find(capsys, monkeypatch):
    monkeypatch.setattr(survival, "SIZES", (40, 60))
    monkeypatch.setattr(survival, "ROWS", (200,))
    monkeypatch.setattr(survival, "SEEDS", 1)
    survival.main(["growth", "rows", "recovery"])
    printed = capsys.readouterr().out
    assert "exponent" in printed and "200 rows x 1000 columns" in printed and "AUC of the weights" in printed
    with pytest.raises(SystemExit, match="no sections"):
        survival.main(["speed"])

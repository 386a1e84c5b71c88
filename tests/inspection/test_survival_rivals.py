"""What a survival model is compared with: each rival does what it says, beside a plain computation."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils import get_tags
from sksurv.linear_model import CoxnetSurvivalAnalysis

from multikernel import View
from multikernel.core.folds import make_folds
from multikernel.core.survival_targets import as_survival
from multikernel.datasets import make_survival_views
from multikernel.inspection import concordance_index
from multikernel.inspection.judging.survival import survival_part
from multikernel.inspection.rivals.baselines import Report
from multikernel.inspection.rivals.survival import CoxElasticNet, SurvivalOfViews, cox_elastic_net
from multikernel.inspection.survival.scores import judged_times
from multikernel.kernels import Linear
from multikernel.survival import MKLSurvival

DATA = make_survival_views(120, n_views=3, n_informative=1, n_columns=4, random_state=5)
X, Y = DATA.X, DATA.y
VIEWS = [View(name, Linear(), columns) for name, columns in DATA.view_columns.items()]
NEW = make_survival_views(30, n_views=3, n_informative=1, n_columns=4, random_state=6).X


def alone(name):
    return MKLSurvival([View(name, Linear(), DATA.view_columns[name])]).fit(X, Y)


def test_the_sum_is_the_model_with_equal_weights():
    model = SurvivalOfViews(VIEWS, MKLSurvival("precomputed", tol=1e-8), combine="sum").fit(X, Y)
    expected = MKLSurvival(VIEWS, norm=np.inf, tol=1e-8).fit(X, Y).predict(NEW)
    np.testing.assert_allclose(model.predict(NEW), expected, atol=1e-4)


def test_the_best_view_is_that_of_the_best_inner_folds():
    model = SurvivalOfViews(VIEWS, combine="best").fit(X, Y)
    [name] = DATA.informative
    assert dict(zip(model.view_names_, model.kernel_weights_, strict=True))[name] == 1.0
    np.testing.assert_allclose(model.predict(NEW), alone(name).predict(NEW), atol=1e-6)
    inner = []
    for train, test in make_folds(as_survival(Y), 5, classifier=False):
        fitted = clone(alone(name)).fit(X.iloc[train], Y[train])
        inner.append(fitted.score(X.iloc[test], Y[test]))
    assert np.mean(inner) > 0.6


def test_late_fusion_is_the_mean_of_ranks_among_the_training_risks():
    model = SurvivalOfViews(VIEWS, combine="mean").fit(X, Y)
    expected = []
    for view in VIEWS:
        single = MKLSurvival([view]).fit(X, Y)
        known, asked = single.predict(X), single.predict(NEW)
        expected.append([(known < risk).mean() + 0.5 * (known == risk).mean() for risk in asked])
    np.testing.assert_allclose(model.predict(NEW), np.mean(expected, axis=0), atol=1e-9)


def test_stacking_weighs_the_view_that_matters():
    train, test = slice(0, 80), slice(80, 120)
    found = {way: SurvivalOfViews(VIEWS, combine=way).fit(X[train], Y[train]) for way in ("stacking", "mean")}
    scores = {way: model.score(X[test], Y[test]) for way, model in found.items()}
    model = found["stacking"]
    assert scores["stacking"] > scores["mean"]
    assert concordance_index(Y[test], model.predict(X[test])) == scores["stacking"]
    assert get_tags(model).estimator_type == "survival"


def test_precomputed_kernels():
    K = np.stack([X[c].to_numpy() @ X[c].to_numpy().T for c in DATA.view_columns.values()], axis=2)
    plain = [View(v.name, Linear(), v.columns, standardize=False, normalize=None) for v in VIEWS]
    for way, tol in (("best", 1e-10), ("sum", 1e-10), ("mean", 0.01)):  # rounding parts equal ranks
        one = SurvivalOfViews("precomputed", combine=way).fit(K, Y).predict(K)
        other = SurvivalOfViews(plain, combine=way).fit(X, Y).predict(X)
        np.testing.assert_allclose(one, other, atol=tol)


def test_the_elastic_net_is_that_of_scikit_survival():
    table = X.to_numpy()
    model = CoxElasticNet().fit(table, Y)
    plain = CoxnetSurvivalAnalysis(l1_ratio=model.l1_ratio_, alphas=[model.alpha_]).fit(table, Y)
    np.testing.assert_allclose(model.predict(NEW.to_numpy()), plain.predict(NEW.to_numpy()))
    pipe, what = cox_elastic_net(None)
    assert pipe.fit(X, Y).score(X, Y) > 0.6
    assert "elastic net penalty" in what
    with pytest.raises(ValueError, match="does not support entry times"):
        CoxElasticNet().fit(table, (Y["event"], Y["time"], Y["time"] / 2))


# ---------------------------------------------------------------------- held-out samples
def refits(curves=True):
    """The results of two folds, as refits tell them."""
    found = []
    for train, test in make_folds(as_survival(Y), 2, classifier=False):
        model = MKLSurvival(VIEWS, C=0.05).fit(X.iloc[train], Y[train])
        result = {"rows": test.tolist(), "predicted": model.predict(X.iloc[test]).tolist()}
        if curves:
            result["survival"] = model.predict_survival_function(X.iloc[test], judged_times(Y)).tolist()
        found.append(result)
    return found


def test_held_out_figures_are_made_fold_by_fold():
    results, report = refits(), Report()
    part = survival_part(results, Y, report)
    each = [concordance_index(Y[r["rows"]], r["predicted"]) for r in results]
    assert part["concordance"]["index"] == pytest.approx(np.mean(each))
    assert part["concordance"]["low"] < np.mean(each) < part["concordance"]["high"]
    assert not report.omitted
    assert [curve["label"] for curve in part["groups"]["curves"]] == ["low risk", "medium risk", "high risk"]
    assert sum(curve["at_risk"][0] for curve in part["groups"]["curves"]) == 120
    assert part["groups"]["p"] < 0.05
    assert part["brier"]["integrated"] < part["brier"]["integrated_reference"]
    assert part["auc"]["mean"] > 0.6
    assert len(part["survival_calibration"]["rows"]) == 3
    # another scale in one of the refits changes nothing but the probabilities
    scaled = [
        {**results[0], "predicted": (100.0 + 7.0 * np.array(results[0]["predicted"])).tolist()},
        results[1],
    ]
    again = survival_part(scaled, Y, Report())
    assert again["groups"] == part["groups"]
    assert again["auc"] == part["auc"]


def test_without_curves_there_is_no_calibration():
    report = Report()
    part = survival_part(refits(curves=False), Y, report)
    assert part["survival_calibration"] is part["brier"] is None
    assert part["concordance"]["index"] > 0.5
    assert "predicts no survival function" in report.omitted[0]["why"]

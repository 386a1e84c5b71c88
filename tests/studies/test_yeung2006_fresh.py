"""The check of the defaults on other data sets: its accuracies are those of the estimators."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.svm import SVC

from multikernel import KernelKNNClassifier, SpectralKernelClassifier
from multikernel.kernels import Gaussian
from studies.yeung2006 import STUDY
from studies.yeung2006.fresh import CHOSEN, PLAIN, compute_fresh
from studies.yeung2006.setting import draw_split
from tests.shared_data import needs_shared_data, shared_data_folder

pytestmark = [pytest.mark.thorough, needs_shared_data]


@pytest.fixture(autouse=True)
def data(monkeypatch):
    monkeypatch.setenv("MULTIKERNEL_DATA", str(shared_data_folder()))


@pytest.mark.parametrize(("dataset", "percent"), [("iris", 20), ("sonar", 40)])
def test_against_the_estimators(dataset, percent):
    found = compute_fresh(dataset, percent, 3)
    points = draw_split(dataset, percent, 3)
    n = points.n_labelled
    X, y, X_new, y_new = points.X[:n], points.codes[:n], points.X[n:], points.codes[n:]
    kernel = Gaussian(gamma=1.0 / np.mean(pdist(points.X, "sqeuclidean")))

    def accuracy(**parameters):
        model = SpectralKernelClassifier(kernel, **parameters).fit(X, y, X_new)
        return 100.0 * np.mean(model.transduction_ == y_new)

    for key, parameters in {"nn1": {}, "nn3": {"n_neighbors": 3}, "svm100": {"classifier": "svm"}}.items():
        assert found["eig_tol 0.01"][key] == pytest.approx(accuracy(**parameters))
        relative = {"alpha": ("relative", 1.5), "center": True, **parameters}
        assert found["centred, eig_tol 0.1, α = 1.5 α*"][key] == pytest.approx(accuracy(**relative))
        chosen = SpectralKernelClassifier(**parameters).fit(X, y, X_new)
        assert found[CHOSEN][key] == pytest.approx(100.0 * np.mean(chosen.transduction_ == y_new))
    plain = KernelKNNClassifier(kernel, n_neighbors=3).fit(X, y)
    assert found[PLAIN]["nn3"] == pytest.approx(100.0 * plain.score(X_new, y_new))
    machine = SVC(C=100.0, gamma=kernel.gamma).fit(X, y)
    assert found[PLAIN]["svm100"] == pytest.approx(100.0 * machine.score(X_new, y_new))


def test_the_gain_is_that_of_the_same_splits():
    table = STUDY.table("fresh")
    units = [unit for unit in table.units(2) if unit.arguments["percent"] == 40]
    rng = np.random.default_rng(0)
    names = list(compute_fresh("iris", 20, 0))
    results = [
        {name: {key: rng.uniform(50, 90) for key in ("nn1", "nn3", "svm100")} for name in names}
        for _ in units
    ]
    rows = table.rows(list(zip(units, results, strict=True)))
    gain = next(r for r in rows if r["section"].startswith("Gain") and r["labels"]["kernel"] == names[1])
    expected = np.mean([result[names[1]]["nn1"] - result[PLAIN]["nn1"] for result in results])
    assert gain["values"]["nn1"]["mean"] == pytest.approx(expected)
    assert gain["values"]["nn1"]["n"] == 2

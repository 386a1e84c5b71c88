"""The benchmark of many targets: its made-up data and its page."""

import numpy as np

from benchmarks.targets import page
from benchmarks.targets.data import brain


def test_made_up_responses_have_the_shares_that_they_say():
    made = brain(400, 60, seed=0)
    assert [table.shape[1] for table in made.tables] == [20, 50, 100, 150, 200]
    np.testing.assert_allclose(made.shares.sum(axis=1), 1.0)
    assert ((made.shares > 0).sum(axis=1) <= 3).all()
    alone = np.flatnonzero(made.shares.max(axis=1) == 1.0)[:5]
    for k in alone:
        table = made.tables[int(made.shares[k].argmax())]
        left = made.targets[:, k] - table @ np.linalg.lstsq(table, made.targets[:, k], rcond=None)[0]
        assert left.var() < made.targets[:, k].var()


def test_the_page_has_what_was_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "PAGE", tmp_path / "targets.md")
    quality = {"r2": 0.1, "r2_all": 0.2, "aupr": 0.3}
    speed = {
        f"speed:0:{k}:float32": {"dtype": "float32", "split": 0, "fit": name, "seconds": s, "n_targets": 9}
        | quality
        for k, (name, s) in enumerate([("ours", 2.0), ("himalaya", 14.0), ("himalaya, 3 alphas", 10.0)])
    }
    fold = {"name": "each", "seconds": 1.0, "aupr": 0.5, "auc": 0.9, "aupr_mean": 0.2, "auc_mean": 0.7}
    page.write_page(speed | {"side_effects:0:0": fold, "side_effects:0:1": fold | {"aupr": 0.6}})
    text = (tmp_path / "targets.md").read_text(encoding="utf-8")
    assert "| float32 | ours | 2.0 | 5.0 |" in text
    assert "| each | 2 | 0.5500 ± 0.0500 |" in text
    assert "Growth" not in text

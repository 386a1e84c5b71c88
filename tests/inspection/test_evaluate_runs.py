"""What cannot be had is said, one failure spoils nothing else, and a stopped run goes on."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from multikernel import MKLClassifier, MKLRidge, TransductiveMKLClassifier
from multikernel.inspection import evaluate
from multikernel.inspection.baselines import WithoutKernel, why_no_rbf
from multikernel.inspection.subject import Subject, subject_of


class Fussy(MKLClassifier):
    """Cannot do with the view "b" alone, and counts its fits."""

    fits = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Fussy:
        type(self).fits += 1
        if isinstance(self.kernels, list) and [view.name for view in self.kernels] == ["b"]:
            raise RuntimeError("b alone is not enough")
        return super().fit(X, y, sample_weight)


@pytest.fixture
def fussy(table: Any, views: Any) -> Fussy:
    Fussy.fits = 0
    return Fussy(views[:2], random_state=0).fit(table[0], table[1])


def _why(found: dict[str, Any], part: str) -> str:
    assert found[part] is None
    return " ".join(entry["why"] for entry in found["omitted"] if entry["part"] == part)


# ------------------------------------------------------------------ reasons
def test_a_rare_class_leaves_no_folds(table: Any, views: Any) -> None:
    X, label, _ = table
    rare = np.where(np.arange(48) == 0, "rare", label).astype(object)
    model = MKLClassifier(views).fit(X, rare)
    found = evaluate(model, X, rare, max_points=20)
    for part in ("stability", "without_view", "baselines", "held_out"):
        assert "rare" in _why(found, part) and "given" not in _why(found, part)
    assert found["embedding"] is not None and "rare" in found["classes"]


def test_reasons(table: Any, views: Any, stack: Any) -> None:
    X, label, value = table
    one = MKLClassifier(views[:1]).fit(X, label)
    assert "one view only" in _why(evaluate(one, X, label, parts=["without_view"]), "without_view")
    many = np.column_stack([value, -value])
    ridge = MKLRidge(views).fit(X, many)
    assert "one value a sample" in _why(evaluate(ridge, X, many, parts=["baselines"]), "baselines")
    labelled = TransductiveMKLClassifier("precomputed").fit(stack, label)
    assert "very samples that it labels" in _why(
        evaluate(labelled, stack, label, parts=["stability"]), "stability"
    )
    with pytest.raises(TypeError, match="y must hold the labels or values"):
        evaluate(one, X, parts=["stability"])
    with pytest.raises(ValueError, match="parts must be of stability"):
        evaluate(one, X, label, parts=["stable"])


def test_the_rbf_machine_needs_columns_of_numbers(table: Any, stack: Any) -> None:
    X = table[0]
    model = MKLClassifier()
    subject = Subject(model, model)
    assert why_no_rbf(X, subject) is None and why_no_rbf(sparse.csr_matrix(X), subject) is None
    assert "numbers" in str(why_no_rbf(X.assign(word="text"), subject))
    assert "missing" in str(why_no_rbf(X.assign(a=np.nan), subject))
    ready = MKLClassifier("precomputed")
    assert "no columns" in str(why_no_rbf(stack, Subject(ready, ready)))


def test_one_failure_spoils_nothing_else(fussy: Fussy, table: Any) -> None:
    found = evaluate(fussy, table[0], table[1], parts=["stability", "without_view"])
    assert [row["view"] for row in found["without_view"]["rows"]] == ["b"]  # the other would be b alone
    [entry] = found["omitted"]
    assert entry["part"] == "without_view" and "view 'a'" in entry["why"]
    assert "b alone is not enough" in entry["why"] and found["stability"] is not None


def test_warnings_of_refits_become_notes(table: Any, stack: Any) -> None:
    model = MKLClassifier("precomputed", C=100.0, max_iter=50).fit(stack, table[1])
    model.set_params(max_iter=1, tol=1e-9)
    found = evaluate(model, stack, table[1], parts=["stability"])
    [note] = found["notes"]
    assert note.startswith("10 of 10 refits of 'learned'") and "max_iter" in note


# ------------------------------------------------------------------ stop and go on
def test_a_stopped_run_goes_on(fussy: Fussy, table: Any, tmp_path: Any) -> None:
    X, label, _ = table
    store, before = tmp_path / "kept" / "refits.jsonl", X.copy()
    parts, seen = ["stability", "held_out"], []

    def stop(done: int, total: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        evaluate(fussy, X, label, parts=parts, cv=2, store=store, progress=stop)
    assert "4 of 12 fits are kept" in stopped.value.__notes__[0]
    assert len(store.read_text().splitlines()) == 4
    Fussy.fits = 0
    found = evaluate(fussy, X, label, parts=parts, cv=2, store=store, progress=lambda *at: seen.append(at))
    assert seen[0] == (4, 12) and seen[-1] == (12, 12)
    assert Fussy.fits == 6 + 2 * 6  # ten less four; two folds, each with five for the sigmoid
    again = evaluate(fussy, X, label, parts=parts, cv=2, store=store)
    assert Fussy.fits == 18 and again == found
    pd.testing.assert_frame_equal(X, before)
    assert evaluate(fussy, X, label, parts=parts, cv=2) == found
    other = clone(fussy).set_params(C=0.01).fit(X, label)
    assert evaluate(other, X, label, parts=["stability"], store=store)["stability"] != found["stability"]


def test_a_store_that_is_a_folder_is_refused(fussy: Fussy, table: Any, tmp_path: Any) -> None:
    with pytest.raises(ValueError, match="is a folder"):
        evaluate(fussy, table[0], table[1], parts=["stability"], store=tmp_path)


# ------------------------------------------------------------------ what is looked through
def test_a_search_is_looked_through(table: Any, views: Any) -> None:
    X, label, _ = table
    search = GridSearchCV(MKLClassifier(views), {"C": [1.0, 2.0]}, cv=2).fit(X, label)
    subject = subject_of(search)
    assert subject.final is search.best_estimator_ and subject.views == ["a", "b", "noise"]
    fresh = subject.fresh(kernels=views[:1])
    assert isinstance(fresh, GridSearchCV) and fresh.estimator.kernels == views[:1]
    assert fresh.param_grid == search.param_grid and search.estimator.kernels == views


def test_an_estimator_without_one_kernel(stack: Any, table: Any) -> None:
    label = table[1]
    model = make_pipeline(WithoutKernel(1), MKLClassifier("precomputed"))
    tags = get_tags(model)
    assert tags.input_tags.pairwise and tags.estimator_type == "classifier"
    copied = pickle.loads(pickle.dumps(clone(model).fit(stack, label)))
    alone = MKLClassifier("precomputed").fit(stack[:, :, :1], label)
    assert (copied.predict(stack) == alone.predict(stack[:, :, :1])).all()
    assert np.allclose(copied.decision_function(stack), alone.decision_function(stack[:, :, :1]))

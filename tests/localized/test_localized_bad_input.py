"""Bad input to localized models: each error says what was required, what was given, and the remedy."""

import numpy as np
import pytest

from multikernel import LocalizedMKLClassifier
from tests.localized.localized_data import (
    FRAME,
    FRAME_VIEWS,
    LABELS,
    X,
    easy,
    everyone,
    refuses,
    target,
)
from tests.mkl.data import plain_kernels


@everyone
@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"gating_features": "sound"}, ("gating_features", "'sound'")),
        ({"gating_features": [0, 9]}, ("gating_features", "9", "4 columns")),
        ({"gating_features": []}, ("gating_features", "no column")),
    ],
)
def test_parameters(kind, parameters, words):
    with refuses(*words):
        easy(kind, **parameters).fit(X, target(kind))


@everyone
def test_gating_features_of_the_wrong_type(kind):
    with refuses("gating_features", "1.5", error=TypeError):
        easy(kind, gating_features=1.5).fit(X, target(kind))


def test_a_gating_column_that_no_kernel_reads_must_be_finite_too():
    frame = FRAME.copy()
    frame.loc[5, "noise"] = np.nan
    LocalizedMKLClassifier(FRAME_VIEWS).fit(frame, LABELS)
    with refuses("gating_features", "NaN"):
        LocalizedMKLClassifier(FRAME_VIEWS, gating_features="noise").fit(frame, LABELS)


def test_text_is_no_gating_feature():
    frame = FRAME.assign(place=["left", "right"] * 30)
    with refuses("gating_features must be numeric", "'place'", 'gating_features="kernel"'):
        LocalizedMKLClassifier(FRAME_VIEWS, gating_features=["place"]).fit(frame, LABELS)
    # Text that neither kernels nor gate read does no harm.
    assert LocalizedMKLClassifier(FRAME_VIEWS).fit(frame, LABELS).score(frame, LABELS) > 0.8


def test_kernels_of_text_gate_by_similarity():
    words = np.array(["aa", "ab", "ba", "bb"] * 15, dtype=object)

    def shared(A, B):
        first, second = np.asarray(A, object).ravel(), np.asarray(B, object).ravel()
        return np.array([[1.0 * (a[0] == b[0]) + (a == b) for b in second] for a in first])

    frame = FRAME.assign(word=words)
    labels = np.where(np.char.startswith(words.astype(str), "a"), LABELS, "no")
    views = [("word", shared, ["word"]), FRAME_VIEWS[0]]
    with refuses("gating_features", "'word'", 'gating_features="kernel"'):
        LocalizedMKLClassifier(views).fit(frame, labels)
    model = LocalizedMKLClassifier(views, gating_features="kernel", C=10.0).fit(frame, labels)
    assert model.score(frame, labels) > 0.9


def test_ready_made_kernels_have_no_columns():
    Ks = plain_kernels(X, X)
    with refuses("gating_features must be", '"kernel"', "ready-made", "[0, 1]"):
        LocalizedMKLClassifier("precomputed", gating_features=[0, 1]).fit(Ks, LABELS)
    with refuses("gating_features must be", "'sound'", "The kernels are"):
        LocalizedMKLClassifier("precomputed", gating_features="sound").fit(Ks, LABELS)

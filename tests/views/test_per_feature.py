"""per_feature: one view for each column that is named once."""

import numpy as np
import pandas as pd
import pytest

from multikernel import per_feature
from multikernel.kernels import Linear


def test_columns_by_number_position_or_name():
    frame = pd.DataFrame(np.eye(2), columns=["height", "width"])
    for features, names in [
        (2, ["feature-0", "feature-1"]),
        (np.int64(1), ["feature-0"]),
        (np.array([3, 1]), ["feature-3", "feature-1"]),
        (range(1, 3), ["feature-1", "feature-2"]),
        (frame.columns, ["height", "width"]),
    ]:
        assert [view.name for view in per_feature(features, Linear())] == names


@pytest.mark.parametrize(
    ("features", "error", "message"),
    [
        (np.eye(3), TypeError, r"got a table of shape \(3, 3\). Use per_feature\(X.shape\[1\]\)"),
        (pd.DataFrame(np.eye(2)), TypeError, r"a table of shape .* per_feature\(frame.columns\)"),
        ([[1.0, 2.0], [3.0, 4.0]], TypeError, "names or positions"),
        (np.array([0.3, 1.7]), TypeError, "names or positions"),
        ("height", TypeError, "a number or a list"),
        ([], ValueError, r"one column at least; got none. Use per_feature\(X"),
        (0, ValueError, "features"),
        ([0, 1, 0], ValueError, "'feature-0' is there 2 times"),
        (["a", "a"], ValueError, "'a' is there 2 times"),
        ([0, "feature-0"], ValueError, "must differ"),
    ],
)
def test_what_names_no_columns_is_refused_with_a_remedy(features, error, message):
    with pytest.raises(error, match=message):
        per_feature(features)

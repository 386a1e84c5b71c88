"""Views in TOML: what they mean, and what is not understood is named with its place."""

import pandas as pd
import pytest

from multikernel.io.tables import TableData, read_views
from multikernel.kernels import Chi2, Gaussian, Linear
from multikernel.views import KernelBank, View

COLUMNS = ["width", "height", "leg_1", "leg_2", "size [mm]"]
TABLE = TableData(
    pd.DataFrame([[1.0, 2, 3, 4, 5], [5, 4, 3, 2, 2]], columns=COLUMNS), None, {}, "table", "t.csv", "y"
)


def read(folder, text, table=TABLE):
    path = folder / "views.toml"
    path.write_text(text)
    return read_views(path, table)


def test_views_are_what_the_file_says(tmp_path):
    views = read(
        tmp_path,
        """
        [[view]]
        name = "shape"
        columns = ["height", "width"]
        kernel = "gaussian(scale=2)"
        standardize = false
        normalize = "none"
        cost = 3
        [[view]]
        name = "legs"
        columns = ["leg_*", 0, "width", "size [m*]"]
        kernel = ["linear", "chi2", "linear"]
        cost = 0.5
        [[view]]
        name = "all"
        kernel = "linear"
        transforms = "center"
        normalize = "diagonal"
        standardize = true
        """,
    )
    legs = ["leg_1", "leg_2", "width", "size [mm]"]
    assert views == [
        View("shape", Gaussian(scale=2), ["height", "width"], standardize=False, normalize=None),
        View("legs/linear", Linear(), legs),
        View("legs/chi2", Chi2(), legs),
        View("legs/linear-2", Linear(), legs),
        View("all", Linear(), None, "center", standardize=True, normalize="diagonal"),
    ]
    assert views.costs == {"shape": 3.0, "legs/linear": 0.5, "legs/chi2": 0.5, "legs/linear-2": 0.5}


def test_without_a_table_patterns_are_looked_up_when_the_views_are_used(tmp_path):
    text = '[[view]]\nname = "legs"\ncolumns = "leg_?"\nkernel = "linear"\ntransforms = []\n'
    late, early = read(tmp_path, text, None), read(tmp_path, text)
    assert (
        KernelBank(list(late)).fit_stack(TABLE.X).tolist()
        == KernelBank(list(early)).fit_stack(TABLE.X).tolist()
    )


def test_a_view_without_columns_reads_those_of_the_table_under_its_name(tmp_path):
    table = TableData(TABLE.X, None, {"legs": ["leg_1", "leg_2"]}, "table", "t.npz")
    views = read(tmp_path, '[[view]]\nname = "legs"\nkernel = "linear"\n', table)
    assert views[0].columns == ["leg_1", "leg_2"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[view]", "views.toml must be TOML.*line 1"),
        ("", "one .*view.* table"),
        ("[view]\nname = 'a'", "with two brackets"),
        ("views = 1", "unknown key 'views'"),
        ("[[view]]\nkernel = 'linear'", "view 1: every view must have a name"),
        ("[[view]]\nname = 'a'", r"view 1 \('a'\): every view must have a kernel"),
        ("[[view]]\nname = ''\nkernel = 'linear'", "name must be a text"),
        ("[[view]]\nname = 'a'\nkernel = 'linear'\ncolumn = ['width']", "'column'. Did you mean 'columns'"),
        ("[[view]]\nname = 'a'\nkernel = 'linear'\nspeed = 1", "It may have name, columns, kernel"),
        ("[[view]]\nname = 'a'\nkernel = 2", "kernel must be a text"),
        ("[[view]]\nname = 'a'\nkernel = []", "kernel must be a text"),
        ("[[view]]\nname = 'a'\nkernel = 'gausian'", r"view 1 \('a'\): kernel 'gausian'.*'gaussian'"),
        ("[[view]]\nname = 'a'\nkernel = 'linear'\ncolumns = []", "one column at least"),
        ("[[view]]\nname = 'a'\nkernel = 'linear'\ncolumns = [1.5]", "got 1.5"),
        ("[[view]]\nname = 'a'\nkernel = 'linear'\ncolumns = ['witdh']", "no column 'witdh'.*'width'"),
        ("[[view]]\nname = 'a'\nkernel = 'linear'\ncolumns = ['arm_*']", "'arm_\\*'. It has 'width'"),
        ("[[view]]\nname = 'a'\nkernel = 'linear'\ncolumns = ['y']", "It is the target"),
        ("[[view]]\nname = 'a'\nkernel = 'linear'\ncolumns = [5]", "from 0 to 4"),
        ("[[view]]\nname = 'a'\nkernel = 'linear'\nstandardize = 1", "true, 'rank' or false; got 1"),
        ("[[view]]\nname = 'a'\nkernel = 'pairwise(linear)'\nstandardize = true", "different units"),
        ("[[view]]\nname = 'a'\nkernel = 'linear'\ntransforms = 'unit'", "'unit_trace'.*got 'unit'"),
        ("[[view]]\nname = 'a'\nkernel = 'linear'\nnormalize = 'unit'", "'variance'.*got 'unit'"),
        ("[[view]]\nname = 'a'\nkernel = 'linear'\ncost = 0", "'a': cost must be a number greater than 0"),
        ("[[view]]\nname = 'a'\nkernel = 'linear'\n" * 2, "'a' occurs twice"),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_named_with_its_place(tmp_path, text, said):
    with pytest.raises(ValueError, match=said):
        read(tmp_path, text)


def test_a_file_must_be_there(tmp_path):
    with pytest.raises(ValueError, match="does not exist"):
        read_views(tmp_path / "none.toml")

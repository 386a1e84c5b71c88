"""The table that most tests of the doctor begin with."""

import pytest

from tests.doctor.told import clean_table


@pytest.fixture
def table():
    return clean_table()

"""Settings of the test run: one hypothesis profile, and the switch that writes the pages made of source."""

import os

import pytest
from hypothesis import HealthCheck, settings

# Derandomised: the same examples on every machine, so that a red run can be repeated.
settings.register_profile(
    "multikernel",
    deadline=None,
    derandomize=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("multikernel")

# Read by SciPy when it is imported: without it scikit-learn leaves out its checks of array input.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# Read by the linear algebra of NumPy and SciPy when it is loaded: the matrices of the tests are small, and
# more threads than one only wait for one another.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--refresh-docs", action="store_true", help="write CONTRIBUTING.md and docs/methods.md anew"
    )

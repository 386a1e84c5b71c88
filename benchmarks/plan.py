"""What is measured in a full run and in a quick one: cases, repeats, time limits."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from benchmarks.datasets import DATASETS, available

Size = tuple[int, int]  # points and kernels, or classes


@dataclass(frozen=True)
class Case:
    """One problem: data set, points, kernels and C."""

    dataset: str
    n: int
    m: int
    C: float

    @property
    def key(self) -> str:
        """Name of the case in the store."""
        return f"{self.dataset}/n{self.n}/m{self.m}/C{self.C:g}"

    def __str__(self) -> str:
        return f"{self.dataset}, n={self.n}, m={self.m}, C={self.C:g}"


def cases(
    datasets: tuple[str, ...], n: tuple[int, ...], m: tuple[int, ...], C: tuple[float, ...]
) -> list[Case]:
    """All combinations that the data sets have points for."""
    return [Case(*size) for size in product(datasets, n, m, C) if available(size[0], size[1])]


@dataclass(frozen=True)
class Plan:
    """The cases of every section, and how long each may take."""

    name: str
    floor: list[Case]
    passes: list[Case]
    growth_n: tuple[int, ...]
    growth_m: tuple[int, ...]
    growth_n_at_m: int
    growth_m_at_n: int
    growth_C: tuple[float, ...]
    simplemkl: list[Case]
    qcqp: list[Case]
    cvxopt: list[Case]
    easymkl: list[Case]
    memory: list[Case]
    free_cvxopt: tuple[Size, ...]
    free_general: tuple[Size, ...]
    free_alone: tuple[int, ...]
    nonnegative: tuple[Size, ...]
    discriminant: tuple[int, ...]
    discriminant_general: tuple[int, ...]
    discriminant_alone: tuple[int, ...]
    nonstationary: int
    nonstationary_growth: tuple[int, ...]
    nonstationary_fits: tuple[int, ...]
    localized: int
    localized_digits: int
    localized_starts: int
    multiclass: tuple[Size, ...]
    multiclass_alone: int
    multiclass_weights: Size
    from_features: tuple[int, ...]
    tuned: Size
    repeats: int
    slow_repeats: int
    slow_seconds: float

    def growth_cases_n(self, C: float) -> list[Case]:
        """The cases of the exponent in n."""
        return [Case("mc", n, self.growth_n_at_m, C) for n in self.growth_n]

    def growth_cases_m(self, C: float) -> list[Case]:
        """The cases of the exponent in m."""
        return [Case("mc", self.growth_m_at_n, m, C) for m in self.growth_m]


_ALL_C = (1.0, 10.0, 100.0)

FULL = Plan(
    name="full",
    floor=cases(DATASETS, (500, 1000, 2000), (5, 20), _ALL_C),
    passes=cases(("digits", "mc"), (1000, 2000), (100,), _ALL_C),
    growth_n=(500, 1000, 2000, 4000),
    growth_m=(5, 20, 50, 100),
    growth_n_at_m=20,
    growth_m_at_n=1000,
    growth_C=_ALL_C,
    simplemkl=cases(DATASETS, (500,), (20,), _ALL_C),
    qcqp=cases(DATASETS, (500,), (20,), (10.0,)) + cases(("mc",), (500,), (20,), (1.0, 100.0)),
    cvxopt=cases(DATASETS, (500,), (5,), _ALL_C),
    easymkl=cases(("digits", "mc"), (1000,), (20,), _ALL_C),
    memory=[Case("mc", 2000, 20, 10.0), Case("mc", 1000, 100, 10.0)],
    free_cvxopt=((100, 3), (100, 5), (200, 3), (200, 5)),
    free_general=((100, 3), (100, 5)),
    free_alone=(100, 200, 300, 500, 1000),
    nonnegative=((100, 5), (200, 5), (300, 5)),
    discriminant=(100, 200, 400),
    discriminant_general=(100,),
    discriminant_alone=(100, 200, 400, 800),
    nonstationary=500,
    nonstationary_growth=(100, 200, 300, 500),
    nonstationary_fits=(500, 2000),
    localized=800,
    localized_digits=667,
    localized_starts=5,
    multiclass=((500, 3), (250, 5), (111, 10)),
    multiclass_alone=2000,
    multiclass_weights=(100, 4),
    from_features=(500, 2000, 5000),
    tuned=(1000, 20),
    repeats=5,
    slow_repeats=3,
    slow_seconds=60.0,
)

QUICK = Plan(
    name="quick",
    floor=cases(("digits", "mc"), (500,), (5, 20), (10.0,)),
    passes=cases(("mc",), (1000,), (100,), (10.0,)),
    growth_n=(250, 500, 1000),
    growth_m=(5, 20, 100),
    growth_n_at_m=20,
    growth_m_at_n=500,
    growth_C=(10.0,),
    simplemkl=cases(("mc",), (500,), (20,), (10.0,)),
    qcqp=cases(("mc",), (150,), (5,), (10.0,)),
    cvxopt=cases(("mc",), (500,), (5,), (10.0,)),
    easymkl=cases(("mc",), (1000,), (20,), (10.0,)),
    memory=[Case("mc", 1000, 20, 10.0)],
    free_cvxopt=((50, 3), (50, 5)),
    free_general=((40, 3),),
    free_alone=(50, 100, 200),
    nonnegative=((50, 5), (100, 5)),
    discriminant=(50, 100),
    discriminant_general=(30,),
    discriminant_alone=(50, 100, 200),
    nonstationary=150,
    nonstationary_growth=(50, 100, 150),
    nonstationary_fits=(150, 500),
    localized=300,
    localized_digits=200,
    localized_starts=2,
    multiclass=((60, 3), (40, 5)),
    multiclass_alone=300,
    multiclass_weights=(40, 3),
    from_features=(500,),
    tuned=(300, 13),
    repeats=5,
    slow_repeats=1,
    slow_seconds=20.0,
)

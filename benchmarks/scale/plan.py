"""What is measured in a full run and in a quick one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fit:
    """One fit of the growth in n."""

    n: int
    rank: int
    loss: str
    dtype: str = "float64"

    @property
    def key(self) -> str:
        """Its name in the store."""
        return f"growth/{self.loss}/rank{self.rank}/{self.dtype}/n{self.n}"


@dataclass(frozen=True)
class Contest:
    """A problem on which contestants meet, and who they are.

    `kind` is "plain sum", "group lasso" or "random features".
    """

    kind: str
    loss: str
    n: int
    contestants: tuple[str, ...]

    @property
    def key(self) -> str:
        """Its name in the store."""
        return f"peers/{self.kind}/{self.loss}/n{self.n}"


@dataclass(frozen=True)
class DiskFit:
    """One dense fit from disk, of a table or of a ready-made stack; `loss` is "hinge" or "epsilon"."""

    n: int
    n_kernels: int
    loss: str
    kind: str

    @property
    def key(self) -> str:
        """Its name in the store."""
        return f"disk/{self.loss}/{self.kind}/m{self.n_kernels}/n{self.n}"


@dataclass(frozen=True)
class ScalePlan:
    """The cases of every section, and how long each may take."""

    name: str
    tol: float
    growth: tuple[tuple[Fit, ...], ...]
    contests: tuple[Contest, ...]
    rank: int
    contest_seconds: float
    sgd_seconds: float
    accuracy_problems: tuple[str, ...]
    accuracy_rows: int
    accuracy_ranks: tuple[int | str, ...]
    accuracy_replicates: int
    cluster_chunks: int
    cluster_chunk_rows: int
    cluster_rank: int
    cluster_fits: tuple[tuple[str, str], ...]
    cluster_round_chunks: tuple[int, ...]
    constant_rows: int
    constant_ranks: tuple[int, ...]
    disk: tuple[DiskFit, ...]


_SUM_PEERS = ("linear_svc", "sgd", "sgd averaged")
_LASSO_PEERS = ("celer", "skglm")


def _growth(sizes: tuple[int, ...], rank: int, loss: str, dtype: str = "float64") -> tuple[Fit, ...]:
    return tuple(Fit(n, rank, loss, dtype) for n in sizes)


FULL = ScalePlan(
    name="full",
    tol=1e-3,
    growth=(
        _growth((10**4, 10**5, 10**6), 100, "hinge"),
        _growth((10**4, 10**5, 10**6), 100, "squared_hinge"),
        _growth((10**4, 10**5, 10**6), 100, "squared"),
        _growth((10**4, 10**5, 10**6), 300, "squared_hinge", "float32"),
    ),
    contests=(
        Contest("plain sum", "hinge", 10**4, _SUM_PEERS),
        Contest("plain sum", "squared_hinge", 10**4, _SUM_PEERS),
        Contest("plain sum", "hinge", 10**5, _SUM_PEERS),
        Contest("plain sum", "squared_hinge", 10**5, _SUM_PEERS),
        Contest("group lasso", "squared", 10**4, _LASSO_PEERS),
        Contest("random features", "squared", 10**4, _LASSO_PEERS),
    ),
    rank=100,
    contest_seconds=90.0,
    sgd_seconds=20.0,
    # the working sets were tuned on the first three
    accuracy_problems=("generated", "letter", "pendigits", "waveform", "spambase", "usps", "ringnorm"),
    accuracy_rows=5000,
    accuracy_ranks=(100, 300, "auto"),
    accuracy_replicates=5,
    cluster_chunks=16,
    cluster_chunk_rows=62_500,
    cluster_rank=100,
    cluster_fits=(("squared_hinge", "float32"), ("squared", "float64")),
    cluster_round_chunks=(16, 64, 256),
    constant_rows=20_000,
    constant_ranks=(100, 300),
    disk=(
        DiskFit(20_000, 5, "hinge", "table"),
        DiskFit(20_000, 5, "epsilon", "table"),
        DiskFit(20_000, 5, "hinge", "ready-made"),
    ),
)

QUICK = ScalePlan(
    name="quick",
    tol=1e-3,
    growth=(
        _growth((1000, 2000, 4000), 20, "hinge"),
        _growth((1000, 2000, 4000), 20, "squared"),
    ),
    contests=(
        Contest("plain sum", "hinge", 2000, _SUM_PEERS),
        Contest("group lasso", "squared", 1000, _LASSO_PEERS),
        Contest("random features", "squared", 1000, _LASSO_PEERS),
    ),
    rank=20,
    contest_seconds=5.0,
    sgd_seconds=1.0,
    accuracy_problems=("generated",),
    accuracy_rows=500,
    accuracy_ranks=(50, 100, "auto"),
    accuracy_replicates=5,
    cluster_chunks=4,
    cluster_chunk_rows=1000,
    cluster_rank=20,
    cluster_fits=(("squared_hinge", "float32"),),
    cluster_round_chunks=(4, 16),
    constant_rows=2000,
    constant_ranks=(20,),
    disk=(DiskFit(2000, 5, "hinge", "table"), DiskFit(2000, 5, "epsilon", "ready-made")),
)

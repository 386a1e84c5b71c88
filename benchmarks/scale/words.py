"""How numbers are written on the page of scale."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.store import Record


def grouped(count: int) -> str:
    """Thousands apart."""
    return f"{count:,}".replace(",", " ")


def gibibytes(size: float) -> str:
    """Bytes in GiB, small amounts in MiB or KiB."""
    if size < 2**22:
        return f"{size / 2**10:.0f} KiB"
    return f"{size / 2**30:.2f} GiB" if size >= 2**29 else f"{size / 2**20:.0f} MiB"


def provenance(records: Sequence[Record]) -> str:
    """Which code the times belong to, and on how many threads they were taken."""
    codes = sorted({record["code"] for record in records if record.get("code")})
    threads = sorted({record["n_threads"] for record in records})
    said = f" Threads: {' or '.join(map(str, threads))}." if threads else ""
    return said + (f" Measured with the code of {' and '.join(codes)}." if codes else "")

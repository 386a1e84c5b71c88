"""Finished units on disk: one JSON object a line, appended and flushed as each unit ends.

A run that is stopped at any moment loses at most the line that was being written: a last line that is not
whole is dropped on reading, and cut off before the next line is appended. A file that holds anything
else than records and the beginning of one is refused, and nothing in it is changed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

Record = dict[str, Any]

# How each line begins, whatever its record.
_BEGINNING = b'{"key": "'


class Append(Protocol):
    """Writes one record to disk before it returns."""

    def __call__(self, record: Record) -> None: ...


class ResultStore:
    """Records with the fields ``key``, ``fingerprint`` and ``result`` in a JSONL file.

    Parameters
    ----------
    path : Path
        The file; it and its folder are made by the first `appending`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[Record]:
        """Return the whole records in the order of the file; of a torn last line nothing is left.

        Returns
        -------
        list of dict

        Raises
        ------
        ValueError
            If a line is neither a record nor, as the last, the beginning of one: the file is not ours, or has
            damage which no interrupt explains.
        """
        return self._read()[0]

    @contextmanager
    def appending(self) -> Iterator[Append]:
        """Open the file at its end, after cutting off a torn last line, and give a function that appends."""
        size = self._read()[1]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.truncate(size)
            file.seek(0, os.SEEK_END)

            def append(record: Record) -> None:
                file.write(json.dumps(record, allow_nan=False).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())

            yield append

    def _read(self) -> tuple[list[Record], int]:
        """The whole records, and how many bytes they take from the beginning of the file."""
        if not self.path.exists():
            return [], 0
        *lines, last = self.path.read_bytes().split(b"\n")
        records = [self._parse(line, number) for number, line in enumerate(lines, start=1)]
        if not _is_torn(last):
            self._parse(last, len(lines) + 1)
        return records, sum(len(line) + 1 for line in lines)

    def _parse(self, line: bytes, number: int) -> Record:
        record = _decoded(line)
        if not isinstance(record, dict) or not {"key", "fingerprint", "result"} <= record.keys():
            raise ValueError(
                f"line {number} of {self.path} must be a record with key, fingerprint and result; "
                f"got {line[:60]!r}. If the file is not a store of results, name another: nothing in it was "
                "changed. Remove that line otherwise: its unit will be computed again."
            )
        return record


def _is_torn(line: bytes) -> bool:
    """Whether a line without an end can be the beginning of a record, or of nothing yet."""
    return _BEGINNING.startswith(line[: len(_BEGINNING)]) and _decoded(line) is None


def _decoded(line: bytes) -> Any:
    """What a line says, None if it is not JSON."""
    try:
        return json.loads(line)
    except (UnicodeDecodeError, json.JSONDecodeError):
        return None

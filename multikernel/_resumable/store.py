"""Finished units on disk: one JSON object a line, appended and flushed as each unit ends.

A run that is stopped at any moment loses at most the line that was being written: a last line that is not
whole is dropped on reading, and cut off before the next line is appended.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

Record = dict[str, Any]


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
            If a line other than the last is not a record: that is damage which no interrupt explains.
        """
        if not self.path.exists():
            return []
        lines = self._whole_bytes().splitlines()
        return [self._parse(line, number) for number, line in enumerate(lines, start=1)]

    @contextmanager
    def appending(self) -> Iterator[Append]:
        """Open the file at its end, after cutting off a torn last line, and give a function that appends."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.truncate(len(self._whole_bytes()))
            file.seek(0, os.SEEK_END)

            def append(record: Record) -> None:
                file.write(json.dumps(record, allow_nan=False).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())

            yield append

    def _whole_bytes(self) -> bytes:
        """What the file holds up to its last end of line."""
        content = self.path.read_bytes()
        return content[: content.rfind(b"\n") + 1]

    def _parse(self, line: bytes, number: int) -> Record:
        try:
            record = json.loads(line)
        except (UnicodeDecodeError, json.JSONDecodeError):
            record = None
        if not isinstance(record, dict) or not {"key", "fingerprint", "result"} <= record.keys():
            raise ValueError(
                f"line {number} of {self.path} must be a record with key, fingerprint and result; "
                f"got {line[:60]!r}. Remove that line: its unit will be computed again."
            )
        return record

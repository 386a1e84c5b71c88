"""Raw measurements on disk, one JSON line each, written as they are taken: a stopped run loses nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Record = dict[str, Any]


class Store:
    """Records by key; the last one written under a key counts.

    Where the file of JSON lines is missing, as in a fresh copy of the project, the records come from the
    results that were kept beside it, so that single sections can be measured anew there too.

    Parameters
    ----------
    path : Path
        The file of JSON lines.
    run : str
        Name of this run; every record carries it.
    resume : bool
        Whether records of earlier runs are taken as measured.
    """

    def __init__(self, path: Path, run: str, *, resume: bool = False):
        self.path, self.run, self.resume = path, run, resume
        self.records: dict[str, Record] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            for line in path.read_text().splitlines():
                self._keep(line)
        elif (kept := path.with_name("results.json")).exists():
            for record in json.loads(kept.read_text())["records"]:
                self._write(record)

    def _write(self, record: Record) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps(record) + "\n")
        self.records[record["key"]] = record

    def _keep(self, line: str) -> None:
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            return  # the last line of a run that was stopped while it wrote
        self.records[record["key"]] = record

    def forget(self) -> None:
        """Drop every record: a full run starts from nothing."""
        self.records.clear()
        self.path.write_text("")

    def measured(self, key: str) -> bool:
        """Whether the key was measured in this run, or in any if resuming."""
        return key in self.records and (self.resume or self.records[key]["run"] == self.run)

    def measure(self, key: str, take: Callable[[], Record]) -> Record:
        """The record of `key`, taken now unless it is there."""
        if not self.measured(key):
            self.write(key, take())
        return self.records[key]

    def write(self, key: str, record: Record) -> None:
        """Keep a record of `key` that this run took, in the place of an earlier one."""
        self._write({"key": key, "run": self.run} | record)

    def get(self, key: str) -> Record | None:
        """The record of `key`, if any run took it."""
        return self.records.get(key)

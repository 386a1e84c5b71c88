"""A folder with a model and the record of its fit, which belong together."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .archive import write_whole
from .errors import ModelFileError
from .files import checked_bytes, model_from, read_file

MODEL = "model.skops"
RECORD = "fit.json"
_CHECKSUM = "model_sha256"


class ModelFolder:
    """A model (``model.skops``) and what is known of its fit (``fit.json``), always those of one fit.

    Parameters
    ----------
    folder : str or path
        Made by `save` if it is not there.

    Examples
    --------
    >>> import tempfile
    >>> from multikernel import MKLClassifier
    >>> with tempfile.TemporaryDirectory() as place:
    ...     folder = ModelFolder(f"{place}/model")
    ...     _ = folder.save(MKLClassifier(C=3.0), {"target": "y"})
    ...     model, record = folder.load()
    >>> model, record
    (MKLClassifier(C=3.0), {'target': 'y'})
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.model_path = self.folder / MODEL
        self.record_path = self.folder / RECORD
        self._next_record = self.folder / f"{RECORD}.next"

    def save(self, model: Any, record: dict[str, Any]) -> Path:
        """Save both; a stop at any moment leaves the old pair or the new one.

        Parameters
        ----------
        model : as for `save_model`
        record : dict
            What JSON can hold, without NaN; the key ``model_sha256`` is taken.

        Returns
        -------
        Path
            The folder.
        """
        data = checked_bytes(model)
        text = _as_text(record, hashlib.sha256(data).hexdigest())
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            # The model decides: with the new record beside it, it is the new pair from its replacement on.
            write_whole(self._next_record, text)
            write_whole(self.model_path, data)
            os.replace(self._next_record, self.record_path)
        except OSError as error:
            raise ModelFileError(
                f"{self.folder} cannot be written: {error.strerror}. Choose another folder."
            ) from error
        return self.folder

    def load(self, *, trusted: Iterable[Any] = ()) -> tuple[Any, dict[str, Any]]:
        """The model and its record.

        Parameters
        ----------
        trusted : as for `load_model`

        Raises
        ------
        ModelFileError
            If one of them is missing or damaged, or they are of different fits.
        """
        self._require_folder()
        data = read_file(self.model_path)
        record = self._record_of(hashlib.sha256(data).hexdigest())
        return model_from(data, self.model_path, trusted, stacklevel=2), record

    def read_record(self) -> dict[str, Any]:
        """The record alone; the model is compared with it, not loaded."""
        self._require_folder()
        return self._record_of(hashlib.sha256(read_file(self.model_path)).hexdigest())

    def _require_folder(self) -> None:
        if not self.folder.is_dir():
            raise ModelFileError(
                f"there is no folder {self.folder}. Give one that `multikernel fit` has made."
            )
        if not self.model_path.exists():
            raise ModelFileError(f"{self.folder} holds no {MODEL}. Fit the model again into this folder.")

    def _record_of(self, checksum: str) -> dict[str, Any]:
        """The record of the model with this checksum; the next one if a stop came before its renaming."""
        found = []
        for path in (self.record_path, self._next_record):
            if path.exists():
                record = _from_text(path)
                if record.pop(_CHECKSUM, None) == checksum:
                    return record
                found.append(path)
        if not found:
            raise ModelFileError(f"{self.folder} holds no {RECORD}. Fit the model again into this folder.")
        raise ModelFileError(
            f"{RECORD} and {MODEL} in {self.folder} are of different fits: one of them was changed or "
            "replaced. Restore both, or fit the model again into this folder."
        )


def _as_text(record: dict[str, Any], checksum: str) -> bytes:
    if not isinstance(record, dict) or _CHECKSUM in record:
        raise ModelFileError(f"the record of a fit must be a dict without the key {_CHECKSUM!r}.")
    try:
        text = json.dumps({**record, _CHECKSUM: checksum}, indent=2, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"the record of a fit must be what JSON can hold: {error}.") from error
    return f"{text}\n".encode()


def _from_text(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(read_file(path))
    except (ValueError, RecursionError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"{path} is no JSON. Restore it, or fit the model again.") from error
    if not isinstance(record, dict):
        raise ModelFileError(f"{path} is no JSON object. Restore it, or fit the model again.")
    return record

"""Saving a model in one file, or in a folder with the record of its fit, and loading it again."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from multikernel._files import check_destination, checked_path, plain_os_errors, write_whole
from multikernel.rows import available_memory

from .archive import ModelFileError, parse_object, shown, warn_of_versions
from .coding import check_uses, decode, encode, open_file, trusted_names, unknown_names

MODEL = "model.skops"
RECORD = "fit.json"
_CHECKSUM = "model_sha256"


def save_model(model: Any, path: str | os.PathLike[str]) -> Path:
    """Save a model in one file that is read without running anything from it.

    The file holds what predictions need: the kernels with weight and the support samples where the method
    has such, and all training samples where it needs them (kernel ridge regression, nearest neighbours,
    discriminant analysis, Bayesian, compositional and spectral models, kernel PCA and k-means, views with
    centred or clipped kernels, learners of local weights). The predictions of the loaded model are the same
    to the last bit. The same model gives the same bytes.

    Parameters
    ----------
    model : estimator, pipeline, search, weight learner, kernel bank or kernel
        Fitted or not.
    path : str or path
        Written whole or not at all: a file that was there is replaced at the end.

    Returns
    -------
    Path

    Raises
    ------
    ModelFileError
        If the model holds something that cannot be saved, such as a lambda as a kernel.

    Notes
    -----
    A function is saved as the module and the name under which it is found, not as code; loading it must be
    allowed by name (see :func:`load_model`). Not saved, and absent after loading, are a ``callback`` (None
    then), ``kernel_`` of :class:`ConformalKernel` and of a :class:`TransductiveMKLClassifier` that extends to
    new samples, and ``posteriors_`` of :class:`PosteriorSVC`. A combined kernel with a support vector machine
    keeps the support samples: it predicts the same, but its ``combined_kernel`` is no longer there. A kernel
    that was given as a parameter, such as ``Precomputed(matrix)``, is saved with the parameters.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import MKLClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save_model(model, f"{folder}/iris.skops")
    ...     again = load_model(path)
    >>> bool((again.decision_function(X) == model.decision_function(X)).all())
    True
    """
    target = checked_path(path)
    if not target.parent.is_dir():
        raise ModelFileError(f"the folder {target.parent} of {target.name} does not exist. Make it first.")
    with _model_file_errors():
        check_destination(target)
        write_whole(target, checked_bytes(model))
    return target


def load_model(path: str | os.PathLike[str], *, trusted: Iterable[Any] = ()) -> Any:
    """Load a model that `save_model` has saved; nothing in the file is run.

    Parameters
    ----------
    path : str or path
    trusted : iterable of str, classes or functions, default=()
        Full names (``"my_module.my_kernel"``) of functions and classes outside this package that the file may
        use. They are imported, and called when the model predicts: trust only what you know, since a file
        from a stranger could name anything there.

    Returns
    -------
    estimator, or what was saved

    Raises
    ------
    ModelFileError
        If the file is missing, damaged, cut off, changed, of a newer format, or names what is not trusted.

    Warns
    -----
    ModelVersionWarning
        If another release of multikernel or scikit-learn saved the model.

    Notes
    -----
    That nothing is run does not make a stranger's model right: its numbers are what he put there.
    """
    data = read_file(path)
    return model_from(data, path, trusted, stacklevel=2)


def describe_model(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What is in a model file, without loading the model.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    dict
        ``model`` (its class, by its name in files), ``views`` and ``classes`` (lists of str), ``versions``
        (of the libraries that saved it), ``when`` (the file was written, ISO 8601), ``size`` in bytes,
        ``format_version``, and ``needs_trust``: the names that :func:`load_model` must be given as
        ``trusted``. All of it is what the file says: escape it where it is shown.
    """
    data = read_file(path)
    try:
        file = open_file(data)
        needs_trust = unknown_names(file, set())
    except ModelFileError as error:
        raise ModelFileError(f"{Path(path)} {error}") from error
    written = datetime.fromtimestamp(Path(path).stat().st_mtime, UTC).isoformat(timespec="seconds")
    about, stamps = file.about, file.about.get("versions")
    return {
        "model": str(about.get("model")),
        "views": _texts(about.get("views")),
        "classes": _texts(about.get("classes")),
        "versions": {str(k): str(v) for k, v in stamps.items()} if isinstance(stamps, dict) else {},
        "when": written,
        "size": len(data),
        "format_version": file.version,
        "needs_trust": needs_trust,
    }


def checked_bytes(model: Any) -> bytes:
    """The bytes of a model file, which have been read back and give the same model."""
    data = encode(model)
    try:
        file = open_file(data)
        trusted = set(unknown_names(file, set()))  # what was just written is known
        check_uses(file.schema, trusted, file.version)
        again = decode(file, trusted)
    except ModelFileError as error:
        raise ModelFileError(f"the model was not saved, since it could not be loaded: it {error}") from error
    if encode(again) != data:
        raise ModelFileError(
            "the model would be another one after loading, so it was not saved. Some parameter or attribute "
            "is of a type that cannot be saved: use numbers, strings, arrays, lists and dicts."
        )
    return data


def model_from(data: bytes, path: str | os.PathLike[str], trusted: Iterable[Any], stacklevel: int) -> Any:
    """The model in the bytes of a file; `path` is what errors call it."""
    try:
        file = open_file(data)
        allowed = trusted_names(trusted)
        unknown = unknown_names(file, allowed)
        if unknown:
            raise ModelFileError(_not_trusted(unknown))
        warn_of_versions(file.about, stacklevel + 1)
        return decode(file, allowed)
    except ModelFileError as error:
        raise ModelFileError(f"{Path(path)} {error}") from error


@contextmanager
def _model_file_errors() -> Iterator[None]:
    """Errors of the disk inside the block are those of model files."""
    try:
        yield
    except ModelFileError:
        raise
    except (OSError, ValueError) as error:
        raise ModelFileError(str(error)) from error


def read_file(path: str | os.PathLike[str]) -> bytes:
    """All bytes of a regular file that fits in memory: a pipe would block, a device may never end."""
    source = checked_path(path)
    try:
        with open(source, "rb", opener=_open_at_once) as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise ModelFileError(
                    f"{source} is a device or a pipe. Give a file that save_model has written."
                )
            room = available_memory()
            if room is not None and about.st_size > room:
                raise ModelFileError(
                    f"{source} has {about.st_size} bytes, and {room} bytes of memory are available. Load it "
                    "on a larger computer."
                )
            return file.read(about.st_size)
    except FileNotFoundError as error:
        raise ModelFileError(f"there is no file {source}. Check the path.") from error
    except IsADirectoryError as error:
        raise ModelFileError(f"{source} is a folder. Give a file that save_model has written.") from error
    except ModelFileError:
        raise
    except (OSError, ValueError) as error:
        raise ModelFileError(f"{source} cannot be read: {error}.") from error


def _open_at_once(path: str, flags: int) -> int:
    """Open without waiting for the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _not_trusted(names: list[str]) -> str:
    listed = ", ".join(shown(name) for name in names[:10])
    return (
        f"uses {listed}, which is not among what a model file may use. If it is code that you know, load the "
        f"file with trusted=[{listed}]: it is then imported, and runs with the model. Else do not use this "
        "file: it may have been made to run something on your computer."
    )


def _texts(values: Any) -> list[str]:
    return [str(value) for value in values] if isinstance(values, list) else []


# --- a folder with a model and its record -------------------------------------------------------------------


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
        self.folder = checked_path(folder)
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
        with _model_file_errors():
            # The model decides: with the new record beside it, it is the new pair from its replacement on.
            write_whole(self._next_record, text)
            write_whole(self.model_path, data)
            with plain_os_errors(self.record_path):
                os.replace(self._next_record, self.record_path)
        return self.folder

    def load(self, *, trusted: Iterable[Any] = ()) -> tuple[Any, dict[str, Any]]:
        """The model and its record.

        Parameters
        ----------
        trusted : as for `load_model`, default=()

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
                record = parse_object(read_file(path), str(path), "Restore it, or fit the model again")
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

"""Files written whole or not at all, destinations checked before the work, errors of disks in plain words."""

import errno
import hashlib
import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_STALE = (
    3600.0  # seconds after which a part that nobody writes to is left over from a process that was killed
)
_PAUSE = 0.05  # seconds, before a file that another process has locked is tried again
_REMEDIES = {
    errno.ENOSPC: "the disk is full. Free some space, or choose a place on another disk",
    errno.EDQUOT: "your quota of disk space is used up. Free some space, or choose another place",
    errno.EROFS: "the disk is read-only. Choose another place",
    errno.EACCES: "you have no permission to write there. Choose another place",
    errno.EPERM: "you have no permission to write there. Choose another place",
    errno.ENOTDIR: "a part of its path is a file, not a folder. Choose another place",
    errno.EEXIST: "a part of its path is a file, not a folder. Choose another place",
    errno.ENAMETOOLONG: "its name is too long. Choose a shorter one",
}


def checked_path(path: Any, name: str = "path") -> Path:
    """The path of a file, if it is one."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{name} must be the path of a file, as text or a Path; got {type(path).__name__}.")
    return Path(path)


@contextmanager
def plain_os_errors(path: Path) -> Iterator[None]:
    """Errors of the operating system inside the block say which file cannot be written, and what helps."""
    try:
        yield
    except OSError as error:
        reason = _REMEDIES.get(error.errno or 0, f"{error.strerror or error}. Choose another place")
        plain = type(error)(f"{path} cannot be written: {reason}.")
        plain.errno = error.errno
        raise plain from error


def check_destination(path: str | os.PathLike[str], keep: Iterable[str | os.PathLike[str]] = ()) -> Path:
    """Refuse a file that cannot be written, before the work whose result it is to hold begins.

    Folders that are missing are not made; the nearest one above that exists must take new files. The files of
    `keep`, which are read, are not overwritten.
    """
    place = Path(path)
    if any(place.exists() and Path(other).exists() and place.samefile(other) for other in keep):
        raise ValueError(f"{place} is read, and will not be overwritten. Name another file.")
    with plain_os_errors(place):
        _require_regular(place)
        folder = place.parent
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent
        probe = _part(folder / place.name)
        probe.touch()  # permission bits do not tell what network disks and administrators may do
        probe.unlink()
    return place


def _require_regular(place: Path) -> None:
    try:
        mode = os.stat(place).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise ValueError(f"{place} is a folder. Name a file in it.")
    if not stat.S_ISREG(mode):
        raise ValueError(f"{place} is a device or a pipe, and only files are written. Name a file.")


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give the path of a temporary file, which replaces the file in one step at the end of the block.

    After a stop at any moment the old or the new file is there, never a part. Missing folders are made. Parts
    of the same file that a killed process left long ago are removed.
    """
    place = Path(os.path.realpath(path))  # a link stays one
    with plain_os_errors(Path(path)):
        _require_regular(place)
        place.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale_parts(place)
        part = _part(place)
        try:
            yield part
            with part.open("rb+") as file:
                os.fsync(file.fileno())
            if place.exists():
                shutil.copymode(place, part)
            os.replace(part, place)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        _sync_folder(place.parent)


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file in one step: the old or the new one is there, never a part."""
    with whole_file(path) as part:
        part.write_bytes(data)


def _part(place: Path) -> Path:
    """A new name beside the file; the suffix is kept, since libraries take the format from it."""
    return place.parent / f"{_beginning(place)}{secrets.token_hex(8)}.part{place.suffix}"


def _beginning(place: Path) -> str:
    """Of the names of all parts of one file."""
    return f".multikernel-{hashlib.sha256(os.fsencode(place.name)).hexdigest()[:16]}-"


def _remove_stale_parts(place: Path) -> None:
    oldest = time.time() - _STALE
    for part in place.parent.glob(f"{_beginning(place)}*.part*"):
        try:
            if part.stat().st_mtime < oldest:
                part.unlink()
        except OSError:  # another process has removed it, or it is not ours to remove
            continue


def _sync_folder(folder: Path) -> None:
    """Let the new name survive a loss of power, where folders can be opened."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# --- locks between processes: the operating system releases them when their process ends, however it ends ---


def lock_byte(file: FileIO, byte: int, *, wait: bool) -> bool:
    """Whether the byte is locked now, for this process alone, or cannot be, since there are no locks."""
    if fcntl is None:
        return True
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB), 1, byte)
    except OSError as error:
        return error.errno not in (errno.EACCES, errno.EAGAIN)
    return True


def unlock_byte(file: FileIO, byte: int) -> None:
    """Let other processes lock the byte."""
    if fcntl is not None:
        with suppress(OSError):
            fcntl.lockf(file, fcntl.LOCK_UN, 1, byte)


@contextmanager
def locked_file(path: Path, patience: float) -> Iterator[None]:
    """Wait until no other process is in a block of the same file, `patience` seconds at most.

    If the file cannot be written, it does not wait.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b", buffering=0)
    except OSError:
        yield
        return
    with file:  # closing it lets others in
        end = time.monotonic() + patience
        while not lock_byte(file, 0, wait=False) and time.monotonic() < end:
            time.sleep(_PAUSE)
        yield

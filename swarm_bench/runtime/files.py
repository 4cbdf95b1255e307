"""Writing so that nothing recorded is lost: whole files at once, lines to the end of the disk."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from swarm_bench.core.errors import StoreError, UsageError

REMOVALS = 3
"""How often a folder is tried to be removed before that is an error."""


@contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Turns a failed write below into `StoreError`."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{path} could not be written: {error.strerror or error}; "
            "make room or fix the permissions"
        ) from error


def write_whole(path: Path, content: str | bytes) -> None:
    """Replace the file at once: a reader sees the old content or the new, never a part."""
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    part = path.with_name(f".{path.name}.part")
    with store_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)


def append_line(path: Path, line: str | bytes) -> None:
    """Add one line and see it to the disk. A torn last line of an earlier crash is closed first."""
    with store_errors(path), path.open("a+b") as file:
        if file.tell() > 0:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
        data = line if isinstance(line, bytes) else line.encode("utf-8", "replace")
        file.write(data + b"\n")
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file for the block; it is free again when the process ends, however it ends.

    Raises `UsageError` when another process holds it.
    """
    with store_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UsageError(
                f"{path.parent} is in use by another swarm-bench; wait for it to end"
            ) from error
        yield


def remove(path: Path) -> None:
    """Remove what is there, if anything is, also when what ran in it took away permissions.

    Raises `StoreError` when something stays.
    """
    for _ in range(REMOVALS):
        if not path.is_dir() or path.is_symlink():
            break
        shutil.rmtree(path, ignore_errors=True)
        _unlock(path)  # and once more: a process that is ending may have written meanwhile
    with store_errors(path):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _unlock(path: Path) -> None:
    with suppress(OSError):
        path.chmod(0o700)
    for folder, inner, _ in os.walk(path):
        for name in inner:  # unlocked before the walk goes into it
            place = Path(folder) / name
            with suppress(OSError):
                if not place.is_symlink():
                    place.chmod(0o700)

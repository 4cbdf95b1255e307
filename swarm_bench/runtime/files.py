"""Writing so that nothing recorded is lost: whole files at once, lines to the end of the disk. No
link is followed: a session's folder may come from a stranger, and agents can write there."""

import errno
import fcntl
import itertools
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Literal

from swarm_bench.core.errors import Refused, StoreError, UsageError
from swarm_bench.runtime import untrusted

PLANTED = "planted"
"""Beginning of the name of what an agent put where a file of ours belongs."""
State = tuple[int, ...]
_PIECE = 1024 * 1024
_PART = re.compile(r"\..+\.[0-9a-f]{16}\.part")
_LEVELS = (".*.part", "*/.*.part", "*/*/.*.part")


@contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Turn a failed write in the block into `StoreError`."""
    try:
        yield
    except Refused as error:  # it says what to do
        raise StoreError(f"{path} could not be written: {error}") from error
    except OSError as error:
        raise StoreError(
            f"{path} could not be written: {error.strerror or error}; {_advice(error)}"
        ) from error


def _advice(error: OSError) -> str:
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return "let fewer run at once with --concurrency"
    return "make room or fix the permissions"


def is_writable(folder: Path) -> bool:
    """Tell whether files can be made in a folder; on a read-only disk they cannot."""
    return os.access(folder, os.W_OK | os.X_OK)


def find_writable_path(requested: Path) -> Path:
    """Return where a file is written that a person asks for, before there is work to write there:
    the folders that they name may be links. Raises `StoreError` where no file can be made."""
    path = requested.parent.resolve() / requested.name
    with store_errors(path):
        first = next(folder for folder in path.parents if os.path.lexists(folder))
        with untrusted.open_folder(first):
            if not is_writable(first):
                read_only = os.statvfs(first).f_flag & os.ST_RDONLY
                code = errno.EROFS if read_only else errno.EACCES
                raise OSError(code, os.strerror(code))
    return path


def write_whole(path: Path, content: str | bytes) -> None:
    """Replace the file at once: a reader sees the old content or the new, never a part."""
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    with _replacing(path) as file:
        _write(file, data)


def write_pieces(path: Path, pieces: Iterable[str]) -> None:
    """Replace the file in the same way, by a content that is never whole in memory."""
    with _replacing(path) as file:
        for piece in pieces:
            _write(file, piece.encode("utf-8", "replace"))


def copy_whole(source: Path, path: Path) -> int:
    """Replace the file by a copy of another, in the same way. Returns its size in bytes. Raises
    `StoreError`."""
    with _replacing(path) as file, untrusted.open_untrusted(source) as original:
        while piece := original.read(_PIECE):
            _write(file, piece)
        return file.tell()


@contextmanager
def _replacing(path: Path) -> Iterator[FileIO]:
    part = path.with_name(f".{path.name}.{os.urandom(8).hex()}.part")
    with store_errors(path), untrusted.open_folder(path.parent, make=True) as folder:
        try:
            with writable(part, "xb") as file:
                lock(file.fileno())
                yield file
                os.fsync(file.fileno())
            _replace(part.name, path, folder)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(part.name, dir_fd=folder)
            raise


def _replace(part: str, path: Path, folder: int) -> None:
    """Move a file to its path. A folder there is an agent's, and no reason to lose the file."""
    try:
        os.replace(part, path.name, src_dir_fd=folder, dst_dir_fd=folder)
    except IsADirectoryError:
        set_aside(path, PLANTED)
        os.replace(part, path.name, src_dir_fd=folder, dst_dir_fd=folder)


def set_aside(path: Path, word: str) -> None:
    """Keep what is there, if anything is, as the next free `word-N-…`. Raises `OSError`."""
    if os.path.lexists(path):
        names = (path.with_name(f"{word}-{number}-{path.name}") for number in itertools.count(1))
        path.rename(next(name for name in names if not os.path.lexists(name)))


def make_room(path: Path, *, folder: bool = False) -> None:
    """Set aside what is there, unless it is a file, or a folder where one is needed: an agent can
    put anything where we write later. Raises `StoreError`."""
    with store_errors(path), suppress(FileNotFoundError):
        kind = stat.S_IFMT(path.lstat().st_mode)
        if kind != (stat.S_IFDIR if folder else stat.S_IFREG):
            set_aside(path, PLANTED)


def move_files(source: Path, target: Path) -> None:
    """Move all that lies in a folder into another one, which is made, and remove the emptied one.
    What stands in the way there is set aside. Raises `Refused` where a link is on the way to one of
    them, and `OSError`."""
    with untrusted.open_folder(source) as old, untrusted.open_folder(target, make=True) as new:
        for path in list(Path(f"/proc/self/fd/{old}").iterdir()):
            set_aside(target / path.name, PLANTED)
            os.rename(path.name, path.name, src_dir_fd=old, dst_dir_fd=new)
    source.rmdir()


def read_state(path: Path) -> State | None:
    """Identify a file, and what was written to it so far; `None` when it is not there."""
    with suppress(FileNotFoundError):
        status = path.lstat()
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    return None


def is_part(path: Path) -> bool:
    """Tell whether it is what `write_whole` writes before it replaces a file."""
    return _PART.fullmatch(path.name) is not None


def remove_parts(folder: Path) -> None:
    """Remove what writers that were killed left in a folder and the two levels below it; one that
    is still writing holds a lock. Raises `StoreError`."""
    for part in (path for level in _LEVELS for path in folder.glob(level) if is_part(path)):
        with suppress(OSError), writable(part, "ab") as file:
            if lock(file.fileno()):
                remove(part)


def lock(descriptor: int) -> bool | None:
    """Lock a file until it is closed. Returns whether it is ours now; `None` without locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def is_locked(path: Path) -> bool:
    """Tell whether a process holds the lock file."""
    try:
        with untrusted.open_untrusted(path) as file:
            fcntl.flock(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def append_line(path: Path, line: str | bytes, *, max_bytes: int = sys.maxsize) -> None:
    """Add one line and see it to the disk. A torn last line of an earlier crash is closed first,
    and what is no file is set aside. Raises `StoreError`, also where the file would have
    `max_bytes`: it could not be read any more."""
    make_room(path)
    data = line if isinstance(line, bytes) else line.encode("utf-8", "replace")
    with store_errors(path), writable(path, "a+b") as file:
        if file.seek(0, os.SEEK_END) > 0:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                data = b"\n" + data
        if file.seek(0, os.SEEK_END) + len(data) >= max_bytes:
            raise StoreError(
                f"{path} would be larger than {max_bytes >> 20} MB, and not be read again; what is "
                "in it stays: look for answers or scores that are very long"
            )
        _write(file, data + b"\n")
        os.fsync(file.fileno())


def write_piece(path: Path, content: bytes, offset: int) -> None:
    """Write a piece of a file behind those before it; the first one replaces the file. Raises
    `StoreError`."""
    if offset == 0:
        write_whole(path, content)
    else:
        with store_errors(path), writable(path, "ab") as file:
            _write(file, content)


def make_folder(path: Path) -> None:
    """Make a folder and those on the way to it, unless they are there. Its group may read it where
    it may read the one around it. Raises `StoreError`."""
    with store_errors(path), untrusted.open_folder(path, make=True):
        pass


@contextmanager
def writing_folder(path: Path) -> Iterator[Path]:
    """Make a folder with all that the block writes into the one that it gets: it appears at its
    path when the block is over, and not at all when the block fails. Raises `StoreError`."""
    part = path.with_name(f".{path.name}.{os.urandom(8).hex()}.part")
    make_folder(part)
    try:
        yield part
        with store_errors(path):
            part.rename(path)
    except BaseException:
        remove(part)
        raise


def writable(path: Path, mode: Literal["wb", "ab", "xb", "a+b"]) -> FileIO:
    """Open a file to write, not buffered: what was written stays, whatever happens next.

    Raises `Refused` for a link on the way to it and for what is no file, and `OSError`.
    """
    return FileIO(str(path), mode, opener=untrusted.opener)


def _write(file: FileIO, data: bytes) -> None:
    remaining = memoryview(data)
    while remaining:
        remaining = remaining[file.write(remaining) or 0 :]


@contextmanager
def hold_lock(path: Path, *, writes: bool = True) -> Iterator[None]:
    """Hold the lock file for the block; it is free again when the process ends, however it ends.
    Who only reads needs none where nobody can write.

    What is no file is set aside. Raises `UsageError` when another process holds it.
    """
    if not writes and not is_writable(path.parent):
        yield
        return
    make_room(path)
    with store_errors(path), untrusted.open_folder(path.parent, make=True):
        file = writable(path, "ab")  # a link to it must not empty what it leads to
    with file:
        if lock(file.fileno()) is False:
            raise UsageError(f"{path.parent} is in use by another swarm-bench; wait for it to end")
        yield


def remove(path: Path) -> None:
    """Remove what is there, if anything is, also when what ran in it took away permissions.

    Raises `StoreError` when something stays.
    """
    with store_errors(path):
        untrusted.remove_tree(path)

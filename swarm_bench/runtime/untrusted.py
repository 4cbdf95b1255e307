"""Opens, reads and removes what an agent, a stranger or an older session may have left.

No link is followed, what is made is its owner's alone unless the folder is open to its group,
nothing but a regular file is opened, nothing is read without a cap, and a tree
is removed however deep, long or locked it is. Nothing else in the package does these things:
`.ci/opening.py` sees to it.
"""

import errno
import gzip
import os
import stat
import zlib
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import BinaryIO

from swarm_bench.core.errors import Refused

LARGEST = 256 * 1024 * 1024
"""Bytes of a file that is read, by default."""
_PIECE = 1024 * 1024
_GZIP = b"\x1f\x8b"
ROUNDS = 3
"""How often a tree is gone through: what ends at that moment may write into it meanwhile."""
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_FILE = (errno.ELOOP, errno.ENXIO, errno.ENODEV, errno.EISDIR)


@contextmanager
def open_untrusted(path: Path, limit: int = LARGEST) -> Iterator[BufferedReader]:
    """Open a file of at most `limit` bytes to read it; the folder may lie behind links.

    Raises `Refused` for a link, for what is no regular file, for one of somebody else, and for a
    larger one; `OSError` when it is not there.
    """
    descriptor = _open_checked(str(path), os.O_RDONLY, None, path)
    with os.fdopen(descriptor, "rb") as file:
        if os.fstat(descriptor).st_size > limit:
            raise Refused(f"{path} is larger than {limit / 2**20:g} MiB; shorten or remove it")
        yield file


def read(path: Path, limit: int = LARGEST) -> bytes:
    """Read a file. Raises as `open_untrusted` does, also when it grows meanwhile."""
    with open_untrusted(path, limit) as file:
        content = _up_to(limit + 1, file)
    if len(content) > limit:
        raise Refused(f"{path} grows beyond {limit / 2**20:g} MiB; end what writes it")
    return content


def is_packed(content: bytes) -> bool:
    """Tell whether a file is gzip."""
    return content.startswith(_GZIP)


def unpack(path: Path, content: bytes, limit: int = LARGEST) -> bytes:
    """Return what is in a gzip file, whatever it is called, and of others their content. Raises
    `OSError` for what is damaged, and `Refused` for more than `limit` bytes."""
    if not is_packed(content):
        return content
    try:
        with gzip.open(BytesIO(content)) as file:
            content = file.read(limit + 1)
    except (EOFError, zlib.error) as error:
        raise OSError(str(error)) from error
    if len(content) > limit:
        raise Refused(f"{path} has more than {limit / 2**20:g} MiB in it; shorten it")
    return content


def read_if_there(path: Path, limit: int = LARGEST) -> bytes:
    """Read a file; one that is not there is empty. Raises as `read` does."""
    with suppress(FileNotFoundError):
        return read(path, limit)
    return b""


def tail(path: Path, size: int) -> bytes:
    """Read the last `size` bytes of a file, of any size. Raises as `open_untrusted` does."""
    with os.fdopen(_open_checked(str(path), os.O_RDONLY, None, path), "rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - size))
        return file.read(size)


def read_inside(top: Path, inner: str, limit: int) -> bytes | None:
    """Read up to `limit` bytes of the file `inner` below the folder `top`; `None` when there is no
    such file, a link on the whole way to it, or something that is no file."""
    if Path(inner).is_absolute():  # it would be opened wherever `top` is
        return None
    *parts, name = Path(inner).parts or ("",)
    try:
        with open_folder(top) as start, _open_parts(os.dup(start), parts) as last:
            descriptor = _open_checked(name, os.O_RDONLY, last, top / inner)
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return None
    with os.fdopen(descriptor, "rb") as file:
        return _up_to(limit, file)


def check(path: Path) -> None:
    """Raise as `open_untrusted` does, but for the size."""
    os.close(_open_checked(str(path), os.O_RDONLY, None, path))


def opener(path: str, flags: int) -> int:
    """Open a file to write, for `open` and its like: there is no link on the whole way to it, and
    what is already there is a regular file. Raises `Refused`, and `OSError`."""
    target = Path(path).absolute()
    with open_folder(target.parent) as inner:
        return _open_checked(target.name, flags, inner, target)


@contextmanager
def open_folder(path: Path, *, make: bool = False) -> Iterator[int]:
    """Open the descriptor of a folder without a link on the whole way to it; made if `make`.
    Raises `Refused`, and `OSError`."""
    top, *parts = path.absolute().parts
    try:
        with _open_parts(os.open(top, os.O_PATH | _FOLDER), parts, make=make) as last:
            yield last
    except NotADirectoryError as error:
        raise Refused(
            f"{path} is not a folder, or is behind a link; remove the link, or name where it leads"
        ) from error


def remove_tree(path: Path) -> None:
    """Remove what is there, if anything is, and never what a link leads to. What cannot be removed
    keeps nothing else. Raises `Refused` for a link anywhere on the way to it, and `OSError`
    when something stays.

    Takes few descriptors, however deep the tree is: inner folders are moved up to its root, where
    their paths are short, and emptied there.
    """
    with suppress(FileNotFoundError), open_folder(path.parent) as parent:
        for patient in (*(True,) * (ROUNDS - 1), False):
            status = os.lstat(path.name, dir_fd=parent)
            with _forgive(patient):
                if stat.S_ISDIR(status.st_mode):
                    with open_writable(path.name, parent) as root:
                        _empty(root, patient)
                    os.rmdir(path.name, dir_fd=parent)
                else:
                    os.unlink(path.name, dir_fd=parent)
                return


@contextmanager
def open_writable(name: str, parent: int | None = None) -> Iterator[int]:
    """Open the descriptor of a folder, which its owner may read and change from now on. Raises
    `OSError` for a link and for a folder of another user."""
    handle = os.open(name, os.O_PATH | _FOLDER, dir_fd=parent)
    try:
        if os.fstat(handle).st_mode & stat.S_IRWXU != stat.S_IRWXU:
            Path(f"/proc/self/fd/{handle}").chmod(stat.S_IRWXU)  # by its name it could be a link
        inner = os.open(".", os.O_RDONLY | _FOLDER, dir_fd=handle)
    finally:
        os.close(handle)
    try:
        yield inner
    finally:
        os.close(inner)


def _empty(root: int, patient: bool) -> None:
    pending = deque(_clear(root, root, patient))
    while pending:
        name = pending.pop()
        with _forgive(patient):
            with open_writable(name, root) as inner:
                pending.extend(_clear(inner, root, patient))
            os.rmdir(name, dir_fd=root)


def _clear(inner: int, root: int, patient: bool) -> Iterator[str]:
    """Remove the files and empty folders of a folder, and move the others to the root. Yields the
    names that they have there."""
    with os.scandir(inner) as entries:
        children = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in children:
        with _forgive(patient), suppress(FileNotFoundError):
            if not is_folder:
                os.unlink(name, dir_fd=inner)
            elif not _is_gone(name, inner):
                yield name if inner == root else _move(name, inner, root)


def _is_gone(name: str, parent: int) -> bool:
    """Remove a folder if it is empty. Returns whether it was."""
    with suppress(OSError):
        os.rmdir(name, dir_fd=parent)
        return True
    return False


def _move(name: str, parent: int, root: int) -> str:
    """Move a folder to the root. Returns its new name there."""
    fresh = f".{os.urandom(8).hex()}"
    try:
        os.rename(name, fresh, src_dir_fd=parent, dst_dir_fd=root)
    except PermissionError:
        with open_writable(name, parent):  # to move a folder, one must be allowed to write in it
            os.rename(name, fresh, src_dir_fd=parent, dst_dir_fd=root)
    return fresh


def _forgive(patient: bool) -> "suppress | nullcontext[None]":
    return suppress(OSError) if patient else nullcontext()


@contextmanager
def _open_parts(start: int, parts: list[str], *, make: bool = False) -> Iterator[int]:
    """Open the last folder of a way from an open one, which is closed. Raises `NotADirectoryError`
    for a link on it."""
    current = start
    try:
        for name in parts:
            if name == "..":
                raise NotADirectoryError(errno.ENOTDIR, "it leads out of the folder")
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, 0o700 | os.fstat(current).st_mode & 0o050, dir_fd=current)
            inner = os.open(name, os.O_PATH | _FOLDER, dir_fd=current)
            os.close(current)
            current = inner
        yield current
    finally:
        os.close(current)


def _mode_in(parent: int | None) -> int:
    """Choose the permissions of a new file: its group may read it if it may read the folder."""
    return 0o600 | (os.fstat(parent).st_mode & 0o040 if parent is not None else 0)


def _up_to(limit: int, file: BinaryIO) -> bytes:
    """Read at once what is there, and in pieces what is added meanwhile: there may be no memory for
    as much as the limit allows."""
    pieces = [file.read(min(os.fstat(file.fileno()).st_size, limit))]
    limit -= len(pieces[0])
    while piece := file.read(min(_PIECE, limit)):
        pieces.append(piece)
        limit -= len(piece)
    return b"".join(pieces)


def _open_checked(name: str, flags: int, parent: int | None, path: Path) -> int:
    """Open a file. `path` is what an error calls it."""
    try:
        descriptor = os.open(name, flags | _FILE, _mode_in(parent), dir_fd=parent)
    except OSError as error:
        if error.errno in _NO_FILE:
            raise Refused(f"{path} is a link, or no file; remove it") from error
        raise
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Refused(f"{path} is no regular file; remove it")
        # On some network and container mounts all files belong to somebody else, folders too.
        if status.st_uid not in (os.geteuid(), path.parent.stat().st_uid):
            raise Refused(f"{path} belongs to somebody else; remove it")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor

"""Places where a program can write: its working folder, and the files that it reads and prints
to."""

import os
from collections.abc import Iterator
from contextlib import suppress

_DESCRIPTORS = "/proc/self/fd"
"""Folder that `/dev/stdin` and `/dev/fd` lead to."""
_NUMBERS = ("0", "1", "2")
_SHARED = "/dev/shm"
"""Folder for the locks of processes; some locks of threads are there too."""


class Folders:
    """Folders of all tests. Streams are files without a name where the kernel has one for each
    descriptor; in an environment without /proc they lie in its place, where a program looks."""

    def __init__(self) -> None:
        """Look whether an environment has left a place for streams."""
        self._streams: int | None = None
        self._folders = ["."]
        if _is_there(_DESCRIPTORS) and not _is_there(f"{_DESCRIPTORS}/0"):
            self._streams = os.open(_DESCRIPTORS, os.O_RDONLY | os.O_DIRECTORY)
            self._folders.append(_SHARED)
            for number in _NUMBERS:
                os.symlink(os.devnull, number, dir_fd=self._streams)

    def open_streams(self) -> tuple[int, int]:
        """Open an empty input and an empty output."""
        reads, prints = self._open_stream("0"), self._open_stream("1")
        if self._streams is not None:
            os.utime(self._streams)
        return reads, prints

    def _open_stream(self, number: str) -> int:
        if self._streams is None:
            return os.memfd_create(number)
        with suppress(FileNotFoundError):  # a program may have taken it away
            os.unlink(number, dir_fd=self._streams)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
        return os.open(number, flags, 0o600, dir_fd=self._streams)

    def describe(self) -> set[object]:
        """List what a program could leave to the next test: what lies there, without what is
        mounted, and what is said of the folders themselves."""
        state: set[object] = {entry for folder in self._folders for entry in _list_entries(folder)}
        if self._streams is not None:
            state.update(self._describe_streams(self._streams))
        return state

    def _describe_streams(self, folder: int) -> Iterator[object]:
        """Yield what is said of that folder, and of what is not made anew in it."""
        yield "streams", os.fstat(folder).st_mode, _attributes(folder)
        for name in os.listdir(folder):
            made_anew = name in _NUMBERS[:2]
            yield name, None if made_anew else os.lstat(name, dir_fd=folder).st_ino


def _is_there(path: str) -> bool:
    return os.access(path, os.F_OK)


def _list_entries(top: str) -> Iterator[object]:
    status = os.lstat(top)
    yield top, status.st_mode, status.st_ctime_ns, _attributes(top)
    for root, folders, files in os.walk(top):
        yield from (f"{root}/{name}" for name in (*folders, *files))
        folders[:] = [
            name for name in folders if os.lstat(f"{root}/{name}").st_dev == status.st_dev
        ]


def _attributes(folder: str | int) -> object:
    with suppress(OSError):  # some have none
        return tuple((name, os.getxattr(folder, name)) for name in sorted(os.listxattr(folder)))
    return None

"""Owners of processes and folders: marks for all that we start or make, and a sweep of what an
orchestrator left behind that was killed before it could clean up.

An owner holds a lock on the marks of its folders for as long as it lives, so that others can tell
it from a dead one wherever they run: in another container its process number means nothing.
"""

import json
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from io import FileIO
from pathlib import Path
from stat import S_ISDIR
from typing import NamedTuple, NoReturn

import psutil

from swarm_bench.core.errors import StoreError, UsageError
from swarm_bench.runtime.files import lock, remove, writable
from swarm_bench.runtime.untrusted import open_untrusted, open_writable, read

TAG = "SWARM_BENCH_TRIAL"
"""Environment variable that names the tree a process belongs to."""
OWNER = "SWARM_BENCH_OWNER"
"""Environment variable that names the orchestrator that started it."""
PREFIX = "swarm-bench-"
"""Beginning of the name of every folder that we make for a session's work."""
MARK = "owner.json"
"""File in such a folder that names the orchestrator that made it."""
KEPT_FOLDER = "kept"
"""Name of the subfolder for what the user asked to keep."""
_LARGEST = 10_000
"""Bytes of a mark."""
_PATIENCE, _PAUSE = 1.0, 0.05
"""Seconds for a process that only looks at a mark to let go of it, and between two tries."""
_marks: dict[Path, FileIO] = {}
"""The marks of this process, locked: a lock goes with the process, so they do too."""


class Swept(NamedTuple):
    """What a sweep did."""

    processes: int
    folders: int
    problems: tuple[str, ...]
    """A sentence on each folder that could not be removed."""


@cache
def this_owner() -> str:
    """Name this process, unlike a later one with the same number, and one with the same number in
    another container or before the machine was started again."""
    started = psutil.Process(os.getpid()).create_time()
    return f"{os.getpid()}-{started:.2f}@{platform.node()}/{_namespace()}"


def mark(folder: Path) -> None:
    """Say that `folder` belongs to this process and may go when the process is gone.

    Raises `UsageError` when it belongs to another one that lives, and `OSError`.
    """
    with writable(folder / ".gitignore", "wb") as file:  # it may lie in a repository
        file.write(b"*\n")
    file = _locked_mark(folder)
    file.truncate(0)
    file.write(json.dumps({"owner": this_owner()}).encode())
    _marks[folder] = file


def discard(folder: Path) -> tuple[str, ...]:
    """Remove a folder of ours but for what was kept, and with it the mark, last of all: what is
    half removed still counts as ours. Returns a sentence on what cannot be removed."""
    problems = list[str]()
    with suppress(FileNotFoundError):
        try:
            with open_writable(str(folder)):
                entries = [
                    entry for entry in folder.iterdir() if entry.name not in (MARK, KEPT_FOLDER)
                ]
                for entry in entries:
                    problems += _not_removed(entry)
                names = {entry.name for entry in folder.iterdir()}
                if names <= {MARK, KEPT_FOLDER}:  # a thread may have made more meanwhile
                    (folder / MARK).unlink(missing_ok=True)
                    if KEPT_FOLDER not in names:
                        folder.rmdir()
        except OSError as error:
            problems.append(_describe_problem(folder, error))
    if folder in _marks:
        _marks.pop(folder).close()
    return tuple(problems)


@contextmanager
def temporary(inside: Path | None = None) -> Iterator[Path]:
    """Make a folder of our own for the block, among the temporary ones or `inside` another; a later
    start removes it when this process is killed. It holds nothing but the mark."""
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=inside)).resolve()
    mark(folder)
    try:
        yield folder
    finally:
        discard(folder)


def sweep(*roots: Path) -> Swept:
    """End the processes and remove the folders below the `roots` whose orchestrator is gone. Only
    what carries our marks is touched. Never raises: what is in the way is a problem."""
    processes = _kill(is_dead)  # first: they write into the folders
    folders, problems = 0, list[str]()
    for folder in _candidates(roots):
        with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
            unremoved = _sweep(folder)
            folders += unremoved == ()
            problems += unremoved or ()
    return Swept(processes, folders, tuple(problems))


def _candidates(roots: tuple[Path, ...]) -> list[Path]:
    candidates = list[Path]()
    for root in dict.fromkeys(root.resolve() for root in roots):
        with suppress(OSError):
            candidates += [entry for entry in root.iterdir() if entry.name.startswith(PREFIX)]
    return candidates


def _sweep(folder: Path) -> tuple[str, ...] | None:
    """Remove a folder, unless it is not for us to remove, which gives `None`. Returns a sentence on
    what stays. Raises `OSError`, and the errors that a mark of another user leads to."""
    status = folder.lstat()
    if not S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        return None
    try:
        file = (folder / MARK).stat(follow_symlinks=False)
    except PermissionError:  # an agent may have locked us out
        with open_writable(str(folder)):
            file = (folder / MARK).stat(follow_symlinks=False)
    with open_untrusted(folder / MARK, _LARGEST) as mark:
        free = lock(mark.fileno())
        owner = str(json.loads(mark.read())["owner"])
        same = os.fstat(mark.fileno()).st_ino == file.st_ino
        if free is False or not same or not _may_be_swept(owner, locked=free is True):
            return None
        return discard(folder)


def _not_removed(path: Path) -> tuple[str, ...]:
    try:
        remove(path)
    except StoreError as error:
        return (_describe_problem(path, error.__cause__ or error),)
    return ()


def _describe_problem(path: Path, error: BaseException) -> str:
    reason = (isinstance(error, OSError) and error.strerror) or error
    return f"{path} remains of a session and cannot be removed ({reason}); remove it by hand"


def _locked_mark(folder: Path) -> FileIO:
    """Open the mark, locked if the file system has locks; its owner may be gone."""
    end = time.monotonic() + _PATIENCE
    while True:
        file = writable(folder / MARK, "ab")
        if lock(file.fileno()) is not False:
            with suppress(FileNotFoundError):  # a sweep may just have removed it
                if (folder / MARK).lstat().st_ino == os.fstat(file.fileno()).st_ino:
                    return file
        file.close()
        if time.monotonic() > end:
            raise UsageError(
                f"{folder} is in use by another swarm-bench; wait for it to end, or choose another "
                "workspace-root"
            )
        time.sleep(_PAUSE)


def end_at_once(last_words: str) -> NoReturn:
    """End this process and all that it started, without any order. For impatient people."""
    with suppress(OSError):
        os.write(2, f"\nswarm-bench: {last_words}\n".encode("utf-8", "replace"))
    _kill(lambda owner: owner == this_owner())
    os._exit(130)


def _kill(is_chosen: Callable[[str], bool]) -> int:
    """End the processes whose owner is chosen. Returns how many."""
    killed = 0
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            owner = process.environ().get(OWNER)
            if owner is not None and is_chosen(owner):
                process.kill()
                killed += 1
    return killed


@cache
def _namespace() -> str:
    """Name the start of the machine and the process namespace, in which a process number means one
    process. Where both are unknown the name is only ours: we do not judge others."""
    try:
        boot = read(Path("/proc/sys/kernel/random/boot_id"), 100).decode().strip()
        return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return f"unknown/{os.urandom(8).hex()}"


def is_dead(owner: str) -> bool:
    """Tell whether an orchestrator is gone, as far as that can be seen from here."""
    label, _, machine = owner.partition("@")
    if machine != f"{platform.node()}/{_namespace()}":
        return False
    pid, _, started = label.partition("-")
    try:
        process = psutil.Process(int(pid))
        # Start times are reckoned from the boot time, which moves when the clock is set.
        another = abs(process.create_time() - float(started)) >= 2
        return another or process.status() == psutil.STATUS_ZOMBIE
    except psutil.AccessDenied:
        return False
    except (psutil.Error, ValueError):
        return True


def _may_be_swept(owner: str, *, locked: bool) -> bool:
    """Tell whether the owner of a folder is gone. On another machine a lock of ours may mean
    nothing. Versions before this one held none: their marks, without a namespace, stay."""
    node, _, namespace = owner.partition("@")[2].partition("/")
    if node != platform.node():
        return False
    return is_dead(owner) or (locked and namespace not in ("", _namespace()))

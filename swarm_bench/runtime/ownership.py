"""Whose process and whose folder is this: marks for all that we start or make, and a sweep of
what an orchestrator left behind that was killed before it could clean up."""

import json
import os
import platform
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import NoReturn

import psutil

from swarm_bench.core.errors import StoreError
from swarm_bench.runtime.files import remove

TAG = "SWARM_BENCH_TRIAL"
"""Environment variable that names the tree a process belongs to."""
OWNER = "SWARM_BENCH_OWNER"
"""Environment variable that names the orchestrator that started it."""
PREFIX = "swarm-bench-"
"""How the name of every folder begins that we make for a session's work."""
MARK = "owner.json"
"""File in such a folder that names the orchestrator that made it."""
_LARGEST = 10_000
"""Bytes of a mark."""
KEPT = "kept"
"""What in such a folder somebody asked to keep."""


@cache
def this_owner() -> str:
    """This process, told apart from a later one with the same number."""
    return _owner(os.getpid())


def mark(folder: Path) -> None:
    """Say that `folder` belongs to this process and may go when the process is gone."""
    (folder / ".gitignore").write_text("*\n", encoding="utf-8")  # it may lie in a repository
    (folder / MARK).write_text(json.dumps({"owner": this_owner()}), encoding="utf-8")


def held_by_another(folder: Path) -> bool:
    """Whether the mark names an orchestrator that is alive, as far as can be told, and not us."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        owner = str(json.loads((folder / MARK).read_text(encoding="utf-8"))["owner"])
        return owner != this_owner() and _alive(owner)
    return False


def discard(folder: Path) -> None:
    """Remove a folder of ours but for what was kept, and with it the mark, last of all: what is
    half removed is still known as ours."""
    for entry in folder.iterdir():
        if entry.name not in (MARK, KEPT):
            remove(entry)
    (folder / MARK).unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()


def sweep(*roots: Path) -> tuple[int, int]:
    """End the processes and remove the folders below the `roots` whose orchestrator is gone.

    Returns how many of each there were. Only what carries our marks is touched.
    """
    processes = _kill(lambda owner: not _alive(owner))  # first: they write into the folders
    folders = 0
    for file in {file for root in roots for file in root.glob(f"{PREFIX}*/{MARK}")}:
        with suppress(OSError, ValueError, KeyError, TypeError, StoreError):
            if _is_ours(file) and not _alive(
                str(json.loads(file.read_text(encoding="utf-8"))["owner"])
            ):
                discard(file.parent)
                folders += 1
    return processes, folders


def _is_ours(file: Path) -> bool:
    """Whether a mark is a small file of ours in a folder of ours: others may write here too, and a
    pipe would never end."""
    folder, status = file.parent.lstat(), file.lstat()
    mine = folder.st_uid == status.st_uid == os.getuid()
    return (
        mine and S_ISDIR(folder.st_mode) and S_ISREG(status.st_mode) and status.st_size < _LARGEST
    )


def end_at_once(last_words: str) -> NoReturn:
    """End this process and all that it started, without any order. For impatient people."""
    with suppress(OSError):
        os.write(2, f"\nswarm-bench: {last_words}\n".encode("utf-8", "replace"))
    _kill(lambda owner: owner == this_owner())
    os._exit(130)


def _kill(chosen: Callable[[str], bool]) -> int:
    """End the processes whose owner is chosen. Returns how many."""
    killed = 0
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            owner = process.environ().get(OWNER)
            if owner is not None and chosen(owner):
                process.kill()
                killed += 1
    return killed


def _owner(pid: int) -> str:
    return f"{pid}-{psutil.Process(pid).create_time():.2f}@{platform.node()}"


def _alive(owner: str) -> bool:
    process, _, node = owner.partition("@")
    if node != platform.node():
        return True  # of another machine or container that shares the folder: not ours to judge
    pid, _, started = process.partition("-")
    try:
        # Start times are reckoned from the boot time, which moves when the clock is set.
        return abs(psutil.Process(int(pid)).create_time() - float(started)) < 2
    except (psutil.Error, ValueError):
        return False

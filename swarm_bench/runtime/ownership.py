"""Whose process and whose folder is this: marks for all that we start or make, and a sweep of
what an orchestrator left behind that was killed before it could clean up."""

import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NoReturn

import psutil

TAG = "SWARM_BENCH_TRIAL"
"""Environment variable that names the tree a process belongs to."""
OWNER = "SWARM_BENCH_OWNER"
"""Environment variable that names the orchestrator that started it."""
PREFIX = "swarm-bench-"
"""How the name of every folder begins that we make for a session's work."""
MARK = "owner.json"
"""File in such a folder that names the orchestrator that made it."""


@cache
def this_owner() -> str:
    """This process, told apart from a later one with the same number."""
    return _owner(os.getpid())


def mark(folder: Path) -> None:
    """Say that `folder` belongs to this process and may go when the process is gone."""
    (folder / MARK).write_text(json.dumps({"owner": this_owner()}), encoding="utf-8")


def unmark(folder: Path) -> None:
    """Let `folder` stay when this process ends."""
    (folder / MARK).unlink(missing_ok=True)


def sweep(root: Path) -> tuple[int, int]:
    """End the processes and remove the folders below `root` whose orchestrator is gone.

    Returns how many of each there were. Only what carries our marks is touched.
    """
    folders = 0
    for file in root.glob(f"{PREFIX}*/{MARK}"):
        with suppress(OSError, ValueError, KeyError, TypeError):
            if not _alive(str(json.loads(file.read_text(encoding="utf-8"))["owner"])):
                shutil.rmtree(file.parent, ignore_errors=True)
                folders += 1
    return _kill(lambda owner: not _alive(owner)), folders


def end_at_once() -> NoReturn:
    """End this process and all that it started, without any order. For impatient people."""
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
    return f"{pid}-{psutil.Process(pid).create_time():.2f}"


def _alive(owner: str) -> bool:
    pid, _, started = owner.partition("-")
    try:
        # Start times are reckoned from the boot time, which moves when the clock is set.
        return abs(psutil.Process(int(pid)).create_time() - float(started)) < 2
    except (psutil.Error, ValueError):
        return False

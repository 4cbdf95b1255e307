"""Processes are read as often as they can tell something."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from swarm_bench.runtime.processes import procfs
from swarm_bench.runtime.processes.procfs import Processes, Stat

TICK = 2 / procfs.TICKS


@contextmanager
def sleeper() -> Iterator[int]:
    """The number of a process that sleeps, and that started a tick before."""
    with subprocess.Popen([sys.executable, "-I", "-c", "import time; time.sleep(60)"]) as process:
        time.sleep(TICK)
        yield process.pid
        process.kill()


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the processes that were read."""
    numbers = list[int]()
    stat = procfs.stat

    def counted(pid: int) -> Stat | None:
        numbers.append(pid)
        return stat(pid)

    monkeypatch.setattr(procfs, "stat", counted)
    return numbers


def test_what_began_earlier_is_read_once(read: list[int]) -> None:
    processes = Processes()
    with sleeper() as earlier:
        began = procfs.now()
        with sleeper() as later:
            first, second = processes.read_new(began), processes.read_new(began)
            news = processes.read_new(began, read=first)
    assert later in first
    assert later in second
    assert {earlier, later}.isdisjoint(news)
    assert earlier not in {*first, *second}
    assert (read.count(earlier), read.count(later)) == (1, 2)


def test_a_number_that_is_given_again_is_another_process(
    read: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = Processes()
    with sleeper() as pid:
        for inode in (1, 1, 2):
            monkeypatch.setattr(procfs, "_entries", lambda inode=inode: [(pid, inode)])
            processes.read_new(procfs.now())
    assert read == [pid, pid]

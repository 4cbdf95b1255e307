"""When a repository is looked at again, with several servers at work."""

import fcntl
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest

from swarm_bench.programs.canopy.parameters import Search
from swarm_bench.programs.canopy.repository import Canopy

LOGOUT = Search(symbol="logout")


@pytest.fixture
def canopy(repo: Path) -> Iterator[Canopy]:
    canopy = Canopy(repo)
    yield canopy
    canopy.close()


def test_waiting_for_another_server_is_no_reason_to_look_later(canopy: Canopy, repo: Path) -> None:
    canopy.refresh()
    (repo / "passing.py").write_text("def passing(): pass\n")
    with (repo / ".canopy" / "index.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)

        def finish() -> None:
            (repo / "passing.py").unlink()
            fcntl.flock(lock, fcntl.LOCK_UN)

        finisher = Timer(1.0, finish)
        finisher.start()
        assert canopy.refresh().indexed == 0
        finisher.join()
    (repo / "later.py").write_text("def later(): pass\n")
    deadline = time.monotonic() + 3
    while not canopy.refresh().indexed:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_an_index_that_was_removed_is_made_again_at_once(canopy: Canopy, repo: Path) -> None:
    canopy.refresh()
    canopy.refresh()  # Found nothing to do: for a moment it does not look again.
    shutil.rmtree(repo / ".canopy")
    canopy.refresh()
    assert len(canopy.find(LOGOUT).handles) == 1


def test_what_is_recorded_goes_where_the_others_record(canopy: Canopy, repo: Path) -> None:
    canopy.refresh()
    canopy.record_query("before", canopy.find(LOGOUT))
    shutil.rmtree(repo / ".canopy")
    other = Canopy(repo)
    other.refresh()
    other.record_query("theirs", other.find(LOGOUT))
    canopy.record_query("ours", canopy.find(LOGOUT))
    assert other.feedback.stats()["sample_count"] == 2
    other.close()

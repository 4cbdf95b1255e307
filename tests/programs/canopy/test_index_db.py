import sqlite3
from pathlib import Path
from threading import Timer

import pytest

from swarm_bench.programs.canopy.index.index_db import write_ahead


@pytest.fixture
def locked(tmp_path: Path) -> sqlite3.Connection:
    """A connection in the middle of writing a database without a write-ahead log."""
    connection = sqlite3.connect(tmp_path / "a.db", isolation_level=None, check_same_thread=False)
    connection.execute("CREATE TABLE t (x)")
    connection.execute("BEGIN EXCLUSIVE")
    return connection


def test_it_waits_for_a_writer(locked: sqlite3.Connection, tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "a.db", timeout=0)
    release = Timer(0.1, locked.close)
    release.start()
    write_ahead(connection, 10)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    release.join()
    connection.close()


def test_it_does_not_wait_for_ever(locked: sqlite3.Connection, tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "a.db", timeout=0)
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        write_ahead(connection, 0.05)
    connection.close()
    locked.close()

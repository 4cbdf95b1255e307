"""Database files that several servers use, and that a clean-up may remove under them."""

import sqlite3
import time
from pathlib import Path

RETRY_SECONDS = 0.01


def write_ahead(connection: sqlite3.Connection, seconds: float) -> None:
    """Give the database a write-ahead log, so that readers do not wait for the writer.

    SQLite's own waiting does not cover this: of several servers that make a file together, one
    finds it locked at once.

    Raises:
        sqlite3.OperationalError: it was still locked after `seconds`.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(RETRY_SECONDS)


def inode(file: Path) -> int | None:
    """Return what tells a file from one that replaced it; None when there is none."""
    try:
        return file.stat().st_ino
    except OSError:
        return None

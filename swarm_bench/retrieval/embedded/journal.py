"""Write-ahead logs: readers of a database do not wait for its writer."""

import sqlite3
import time

RETRY_SECONDS = 0.01


def write_ahead(connection: sqlite3.Connection, seconds: float) -> None:
    """Give the database a write-ahead log.

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

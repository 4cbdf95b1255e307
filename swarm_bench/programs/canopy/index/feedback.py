"""`.canopy/feedback.db`: who queried and expanded what, in canopy 0.4.0's own schema.

Recording never fails a call: what goes wrong is reported on stderr.
"""

import logging
import sqlite3
import time
from collections.abc import Iterable
from pathlib import Path

from swarm_bench.programs.canopy.index.index_db import inode, write_ahead
from swarm_bench.programs.canopy.nodes import Handle, NodeType

_log = logging.getLogger(__name__)

DAY = 86_400
KEPT_DAYS = 30
KEPT_QUERIES = 10_000
KEPT_EXPANSIONS = 50_000
WINDOW_DAYS = 7
BUSY_SECONDS = 5.0

SCHEMA = """
CREATE TABLE IF NOT EXISTS query_events (
    id INTEGER PRIMARY KEY, timestamp INTEGER NOT NULL, query_text TEXT NOT NULL,
    predicted_globs TEXT, files_indexed INTEGER DEFAULT 0, handles_returned INTEGER DEFAULT 0,
    total_tokens INTEGER DEFAULT 0
);
CREATE TABLE IF NOT EXISTS query_handles (
    id INTEGER PRIMARY KEY,
    query_event_id INTEGER NOT NULL REFERENCES query_events (id) ON DELETE CASCADE,
    handle_id TEXT NOT NULL, file_path TEXT NOT NULL, node_type INTEGER NOT NULL,
    token_count INTEGER NOT NULL, first_match_glob TEXT, returned_at INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS expand_events (
    id INTEGER PRIMARY KEY,
    query_event_id INTEGER REFERENCES query_events (id) ON DELETE SET NULL,
    handle_id TEXT NOT NULL, file_path TEXT NOT NULL, node_type INTEGER NOT NULL,
    token_count INTEGER NOT NULL, auto_expanded INTEGER NOT NULL DEFAULT 0,
    expanded_at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS query_handles_handle ON query_handles (handle_id);
CREATE INDEX IF NOT EXISTS query_handles_glob ON query_handles (first_match_glob);
CREATE INDEX IF NOT EXISTS expand_events_query ON expand_events (query_event_id);
CREATE INDEX IF NOT EXISTS expand_events_handle ON expand_events (handle_id);
CREATE INDEX IF NOT EXISTS query_events_time ON query_events (timestamp);
CREATE INDEX IF NOT EXISTS expand_events_time ON expand_events (expanded_at);
"""

STATS = """
SELECT
  (SELECT count(*) FROM query_events WHERE timestamp >= :since),
  (SELECT avg(EXISTS (SELECT 1 FROM expand_events AS done
      WHERE done.query_event_id = shown.query_event_id AND done.handle_id = shown.handle_id))
   FROM query_handles AS shown JOIN query_events ON query_events.id = shown.query_event_id
   WHERE query_events.timestamp >= :since),
  (SELECT avg(token_count) FROM expand_events WHERE expanded_at >= :since)
"""


class Feedback:
    """The recorder of one repository, opened on first use."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._connection: sqlite3.Connection | None = None
        self._inode: int | None = None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def record_query(
        self, text: str, handles: list[Handle], *, indexed: int = 0, tokens: int | None = None
    ) -> int | None:
        """Write one query and everything it found; its number, None when that failed."""
        total = sum(handle.tokens for handle in handles) if tokens is None else tokens
        try:
            return self._write_query((text, None, indexed, len(handles), total), handles)
        except (sqlite3.Error, OSError) as error:
            self._warn(error)
            return None

    def _write_query(self, event: tuple[object, ...], handles: list[Handle]) -> int:
        now = int(time.time())
        with self._connect() as connection:
            cursor = connection.execute(
                "INSERT INTO query_events (timestamp, query_text, predicted_globs, files_indexed,"
                " handles_returned, total_tokens) VALUES (?, ?, ?, ?, ?, ?)",
                (now, *event),
            )
            number = int(cursor.lastrowid or 0)
            connection.executemany(
                "INSERT INTO query_handles (query_event_id, handle_id, file_path, node_type,"
                " token_count, first_match_glob, returned_at) VALUES (?, ?, ?, ?, ?, NULL, ?)",
                ((number, *_handle_row(handle), now) for handle in handles),
            )
        return number

    def record_expansions(
        self, expansions: Iterable[tuple[Handle, int | None]], *, automatic: bool = False
    ) -> None:
        """Write each handle with the latest query that had shown it, if any had."""
        now = int(time.time())
        rows = [(event, *_handle_row(handle), automatic, now) for handle, event in expansions]
        try:
            with self._connect() as connection:
                connection.executemany(
                    "INSERT INTO expand_events (query_event_id, handle_id, file_path, node_type,"
                    " token_count, auto_expanded, expanded_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
                    rows,
                )
        except (sqlite3.Error, OSError) as error:
            self._warn(error)

    def stats(self, days: int = WINDOW_DAYS) -> dict[str, float | int]:
        """Compute canopy's four figures over the last days; without data they are zero, as canopy's
        are."""
        since = int(time.time()) - days * DAY
        try:
            row = self._connect().execute(STATS, {"since": since}).fetchone()
        except (sqlite3.Error, OSError) as error:
            self._warn(error)
            row = (0, None, None)
        return {
            # No globs are predicted here, so none can be hit.
            "glob_hit_rate_at_k": 0.0,
            "handle_expand_accept_rate": row[1] or 0.0,
            "avg_tokens_per_expand": row[2] or 0.0,
            "sample_count": row[0],
        }

    def priors(self) -> dict[NodeType, float]:
        """Compute per node type the share of the handles shown that were expanded."""
        sql = (
            "SELECT node_type, count(*) FROM query_handles GROUP BY node_type UNION ALL"
            " SELECT -1 - node_type, count(*) FROM expand_events GROUP BY node_type"
        )
        try:
            counts = dict(self._connect().execute(sql).fetchall())
        except (sqlite3.Error, OSError) as error:
            self._warn(error)
            return {}
        return {
            type_: counts.get(-1 - type_, 0) / counts[type_]
            for type_ in NodeType
            if type_ in counts
        }

    def _connect(self) -> sqlite3.Connection:
        """Return the connection; used as a context manager it is one transaction."""
        if self._connection is None or inode(self.file) != self._inode:
            self.close()
            self._connection = _open(self.file)
            self._inode = inode(self.file)
        return self._connection

    def _warn(self, error: Exception) -> None:
        _log.warning("%s could not be used: %s", self.file, error)


def _open(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, timeout=BUSY_SECONDS, check_same_thread=False)
    write_ahead(connection, BUSY_SECONDS)
    # Recording survives a killed server this way; only a power cut could lose the last rows.
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA journal_size_limit = {64 * 1024 * 1024}")
    connection.executescript(SCHEMA)
    _prune(connection)
    return connection


def _prune(connection: sqlite3.Connection) -> None:
    oldest = int(time.time()) - KEPT_DAYS * DAY
    limits = {
        "query_events": ("timestamp", KEPT_QUERIES),
        "expand_events": ("expanded_at", KEPT_EXPANSIONS),
    }
    with connection:
        for table, (time_column, max_rows) in limits.items():
            connection.execute(f"DELETE FROM {table} WHERE {time_column} < ?", (oldest,))
            connection.execute(
                f"DELETE FROM {table} WHERE id NOT IN"
                f" (SELECT id FROM {table} ORDER BY id DESC LIMIT ?)",
                (max_rows,),
            )


def _handle_row(handle: Handle) -> tuple[object, ...]:
    return (handle.id, handle.path, int(handle.node.type), handle.tokens)

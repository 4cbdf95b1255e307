"""Counters of a standalone canopy: the events in a workspace's `.canopy/feedback.db`."""

import json
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio

FEEDBACK_DB = Path(".canopy") / "feedback.db"

_COUNTS = {
    "query_events": "SELECT COUNT(*) FROM query_events",
    "expand_events": "SELECT COUNT(*) FROM expand_events",
    "auto_expand_events": "SELECT COUNT(*) FROM expand_events WHERE auto_expanded = 1",
    "manual_expand_events": "SELECT COUNT(*) FROM expand_events WHERE auto_expanded = 0",
    "handles_returned": "SELECT COUNT(*) FROM query_handles",
    "handles_expanded": (
        "SELECT COUNT(*) FROM query_handles AS q WHERE EXISTS (SELECT 1 FROM expand_events AS e "
        "WHERE e.query_event_id = q.query_event_id AND e.handle_id = q.handle_id)"
    ),
    "expanded_tokens": "SELECT COALESCE(SUM(token_count), 0) FROM expand_events",
}
_GLOBS = "SELECT id, predicted_globs FROM query_events WHERE predicted_globs IS NOT NULL"
_GLOB_HITS = (
    "SELECT DISTINCT q.query_event_id, q.first_match_glob FROM query_handles AS q "
    "JOIN expand_events AS e ON e.query_event_id = q.query_event_id AND e.handle_id = q.handle_id "
    "WHERE q.first_match_glob IS NOT NULL"
)
LARGEST = 2**53
"""A greater count was not counted."""
READ_SECONDS = 10
PROGRESS_STEPS = 100_000
"""Virtual machine steps of SQLite between two looks at the clock."""
GLOBS_COUNTED = 5
"""Predicted globs of one query that take part in the hit rate."""


class FeedbackProbe:
    """Reads the database without changing it: canopy itself would prune and create."""

    name = "feedback"

    def __init__(self, workspace: Path) -> None:
        self._path = workspace / FEEDBACK_DB

    async def snapshot(self) -> dict[str, Any] | None:
        """Counts so far, or `None` when there is no database.

        A count whose table is missing or broken is `None`.
        """
        return await anyio.to_thread.run_sync(read_feedback, self._path)


def read_feedback(path: Path) -> dict[str, Any] | None:
    """The counts in one database; `None` when the file does not exist."""
    if not path.is_file():
        return None
    # Read-only, but not immutable: events may still stand in the write-ahead log.
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            database.execute("PRAGMA busy_timeout = 5000")
            # An agent can write this file: a query that never ends must not be ours.
            end = time.monotonic() + READ_SECONDS
            database.set_progress_handler(lambda: time.monotonic() > end, PROGRESS_STEPS)
            counts: dict[str, Any] = {
                name: _count(database, query) for name, query in _COUNTS.items()
            }
            predicted, hit = _globs(database)
    except sqlite3.Error:
        return dict.fromkeys([*_COUNTS, "globs_predicted", "globs_hit"])
    return {**counts, "globs_predicted": predicted, "globs_hit": hit}


def feedback_difference(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """What happened between two snapshots, with canopy's derived metrics over just that.

    A rate without anything to take it from is `None`, where canopy's own report says 0.
    """
    if after is None:
        return None
    change = {name: _minus(after.get(name), (before or {}).get(name, 0)) for name in after}
    return {
        "query_events": change["query_events"],
        "expand_events": change["expand_events"],
        "auto_expand_events": change["auto_expand_events"],
        "manual_expand_events": change["manual_expand_events"],
        "sample_count": change["query_events"],
        "handle_expand_accept_rate": _ratio(change["handles_expanded"], change["handles_returned"]),
        "avg_tokens_per_expand": _ratio(change["expanded_tokens"], change["expand_events"]),
        "glob_hit_rate_at_k": _ratio(change["globs_hit"], change["globs_predicted"]),
    }


def _count(database: sqlite3.Connection, query: str) -> int | None:
    try:
        row = database.execute(query).fetchone()
        count = int(row[0])
    except (sqlite3.Error, TypeError, ValueError, OverflowError):  # an agent can write the file
        return None
    return count if 0 <= count <= LARGEST else None


def _globs(database: sqlite3.Connection) -> tuple[int | None, int | None]:
    try:
        events = database.execute(_GLOBS).fetchall()
        hits = {(event, glob) for event, glob in database.execute(_GLOB_HITS)}
        counted = [
            (event, glob) for event, text in events for glob in json.loads(text)[:GLOBS_COUNTED]
        ]
        return len(counted), sum(1 for pair in counted if pair in hits)
    except (sqlite3.Error, ValueError, TypeError, KeyError, RecursionError):
        return None, None


def _minus(after: Any, before: Any) -> Any:
    return None if after is None or before is None else after - before


def _ratio(part: Any, whole: Any) -> float | None:
    return None if part is None or not whole else part / whole

"""Counters of a standalone canopy: the events in a workspace's `.canopy/feedback.db`."""

import json
import os
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio

from swarm_bench.core.ports import ProbeContext
from swarm_bench.core.treatment.counters import Counters
from swarm_bench.core.treatment.counting import Expected, Transcripts
from swarm_bench.retrieval.canopy.backends import SERVICE
from swarm_bench.retrieval.probes.canopy_counting import Calls, expect_database_counts
from swarm_bench.runtime.files import writable
from swarm_bench.runtime.ownership import temporary
from swarm_bench.runtime.untrusted import read_inside

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
_TABLES = ("query_events", "query_handles", "expand_events")
_GLOBS = "SELECT id, predicted_globs FROM query_events WHERE predicted_globs IS NOT NULL"
_GLOB_HITS = (
    "SELECT DISTINCT q.query_event_id, q.first_match_glob FROM query_handles AS q "
    "JOIN expand_events AS e ON e.query_event_id = q.query_event_id AND e.handle_id = q.handle_id "
    "WHERE q.first_match_glob IS NOT NULL"
)
LARGEST_COUNT = 2**53
"""A greater count was not counted."""
DATABASE_BYTES = 64 * 1024 * 1024
"""Most bytes of the database, of its log, and of the values that are taken out of it."""
MOST_ROWS = 100_000
LONGEST_VALUE = 100_000
"""Bytes of a value or a row. Many rows can have the same megabytes, in a file that is small."""
READ_SECONDS = 10
PROGRESS_STEPS = 1_000
"""Virtual machine steps of SQLite between two looks at the clock."""
TRIES = 5
"""Most reads of a database that is being written, until it holds still."""
GLOBS_COUNTED = 5
"""Predicted globs of one query that take part in the hit rate."""


COUNTERS = Counters(
    tool="the feedback database",
    counted=f"{FEEDBACK_DB.as_posix()} has",
    rules="canopy's counters",
    nouns={"query_events": "query event", "expand_events": "expand event"},
    file=FEEDBACK_DB.as_posix(),
)
_KEPT_OPEN = "the service of --service-url may write into a database that it opened before"
"""A service that served an earlier workspace keeps the database of that one open."""


class FeedbackProbe:
    """Reads the database without changing it: canopy itself would prune and create."""

    name = "feedback"
    file = "local-feedback-metrics"
    counters = COUNTERS

    def reads(self, context: ProbeContext) -> bool:
        return True

    async def snapshot(self, context: ProbeContext) -> dict[str, Any] | None:
        """Read the counts so far; `None` when there is no database.

        A count whose table is missing, broken or not to be trusted is `None`.
        """
        if not _is_there(context.workspace):  # nothing that a thread is worth
            return None
        return await anyio.to_thread.run_sync(read_feedback, context.workspace)

    def difference(
        self, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
    ) -> dict[str, Any] | None:
        return compute_feedback_difference(before, after)

    def content(
        self,
        before: Mapping[str, Any] | None,
        after: Mapping[str, Any] | None,
        change: Mapping[str, Any],
    ) -> dict[str, Any]:
        return {"db_path": FEEDBACK_DB.as_posix(), **change}

    def expected(self, transcripts: Transcripts) -> dict[str, Expected]:
        return expect_database_counts(
            Calls.count_calls(transcripts.calls),
            service=SERVICE in transcripts.services,
            no_floor=_KEPT_OPEN if transcripts.external else "",
        )


def read_feedback(workspace: Path) -> dict[str, Any] | None:
    """Read the counts in the database of a workspace; `None` when there is none. An agent can write
    it: a copy is read, with limits, and a figure that they cut is `None`."""
    if not _is_there(workspace):
        return None
    unknown = dict.fromkeys([*_COUNTS, "globs_predicted", "globs_hit"])
    files = _read_still(workspace)
    if files is None:
        return unknown
    try:
        with temporary() as folder:
            for name, content in files.items():
                with writable(folder / name, "xb") as file:
                    file.write(content)
            with closing(sqlite3.connect(folder / FEEDBACK_DB.name)) as database:
                return unknown | _read_counts(database)
    except (sqlite3.Error, OSError, UnicodeDecodeError):  # errors quote the schema as it is
        return unknown


def _is_there(workspace: Path) -> bool:
    return os.path.lexists(workspace / FEEDBACK_DB)


def _read_still(workspace: Path) -> dict[str, bytes] | None:
    """Read the database and its write-ahead log, as they were at one moment; `None` where they are
    not files of ours, are too large, do not hold still, or wait to be rolled back."""
    if os.path.lexists(workspace / f"{FEEDBACK_DB}-journal"):
        return None
    earlier = _read_files(workspace)
    for _ in range(TRIES):
        contents = _read_files(workspace)
        if earlier == contents:
            sizes = map(len, contents.values())
            return (
                contents if FEEDBACK_DB.name in contents and max(sizes) <= DATABASE_BYTES else None
            )
        earlier = contents
    return None


def _read_files(workspace: Path) -> dict[str, bytes]:
    names = [str(FEEDBACK_DB), f"{FEEDBACK_DB}-wal"]
    contents = {name: read_inside(workspace, name, DATABASE_BYTES + 1) for name in names}
    return {Path(name).name: data for name, data in contents.items() if data is not None}


def _read_counts(database: sqlite3.Connection) -> dict[str, int | None]:
    """Count what is in the database. Raises `sqlite3.Error`."""
    end = time.monotonic() + READ_SECONDS
    database.set_progress_handler(lambda: time.monotonic() > end, PROGRESS_STEPS)
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
    database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    database.execute("PRAGMA trusted_schema = OFF")
    plain = {table for table in _TABLES if _is_plain(database, table)}
    counts = {
        name: _count_rows(database, query)
        for name, query in _COUNTS.items()
        if _find_tables(query) <= plain
    }
    if not _find_tables(_GLOBS + _GLOB_HITS) <= plain:
        return counts
    predicted, hit = _count_globs(database)
    return {**counts, "globs_predicted": predicted, "globs_hit": hit}


def _find_tables(query: str) -> set[str]:
    return {table for table in _TABLES if table in query.split()}


def _is_plain(database: sqlite3.Connection, table: str) -> bool:
    """Tell whether it is a table of stored values: to compute others may take for ever."""
    query = "SELECT COUNT(*) FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name = ?"
    columns = database.execute(f"PRAGMA table_xinfo({table})").fetchall()
    is_stored = all(flag == 0 for *_, flag in columns)
    return bool(columns) and is_stored and database.execute(query, [table]).fetchone() == (1,)


def compute_feedback_difference(
    old: Mapping[str, Any] | None, new: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """Compute what happened between two snapshots, with canopy's derived metrics over just that.

    A rate without anything to take it from is `None`, where canopy's own report says 0.
    """
    if new is None:
        return None
    change = {name: _subtract(new.get(name), (old or {}).get(name, 0)) for name in new}
    return {
        "query_events": change["query_events"],
        "expand_events": change["expand_events"],
        "auto_expand_events": change["auto_expand_events"],
        "manual_expand_events": change["manual_expand_events"],
        "sample_count": change["query_events"],
        "handle_expand_accept_rate": _divide(
            change["handles_expanded"], change["handles_returned"]
        ),
        "avg_tokens_per_expand": _divide(change["expanded_tokens"], change["expand_events"]),
        "glob_hit_rate_at_k": _divide(change["globs_hit"], change["globs_predicted"]),
    }


def _count_rows(database: sqlite3.Connection, query: str) -> int | None:
    try:
        row = database.execute(query).fetchone()
        count = int(row[0])
    except (sqlite3.Error, TypeError, ValueError, OverflowError):  # an agent can write the file
        return None
    return count if 0 <= count <= LARGEST_COUNT else None


def _count_globs(database: sqlite3.Connection) -> tuple[int | None, int | None]:
    try:
        events = _read_rows(database, _GLOBS)
        hits = set(_read_rows(database, _GLOB_HITS))
        pairs = [
            (event, glob) for event, text in events for glob in json.loads(text)[:GLOBS_COUNTED]
        ]
        return len(pairs), sum(1 for pair in pairs if pair in hits)
    except (sqlite3.Error, ValueError, TypeError, KeyError, RecursionError):
        return None, None


def _read_rows(database: sqlite3.Connection, query: str) -> list[tuple[Any, Any]]:
    """Read the rows of a query for a number and a text. Raises `ValueError` for too many."""
    rows, room = list[tuple[Any, Any]](), DATABASE_BYTES
    for number, text in database.execute(query):
        rows.append((number, text))
        room -= len(text)
        if len(rows) > MOST_ROWS or room < 0:
            raise ValueError("more rows than any session leaves")
    return rows


def _subtract(new: Any, old: Any) -> Any:
    return None if new is None or old is None else new - old


def _divide(part: Any, total: Any) -> float | None:
    return None if part is None or not total else part / total

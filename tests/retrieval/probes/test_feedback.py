"""The reader on a database with canopy's schema, written by hand."""

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from swarm_bench.core.ports import ProbeContext
from swarm_bench.retrieval.probes.feedback import (
    FEEDBACK_DB,
    READ_SECONDS,
    FeedbackProbe,
    compute_feedback_difference,
    read_feedback,
)

SCHEMA = """
CREATE TABLE query_events (id INTEGER PRIMARY KEY, timestamp INTEGER NOT NULL,
  query_text TEXT NOT NULL, predicted_globs TEXT, files_indexed INTEGER DEFAULT 0,
  handles_returned INTEGER DEFAULT 0, total_tokens INTEGER DEFAULT 0);
CREATE TABLE query_handles (id INTEGER PRIMARY KEY, query_event_id INTEGER NOT NULL,
  handle_id TEXT NOT NULL, file_path TEXT NOT NULL, node_type INTEGER NOT NULL,
  token_count INTEGER NOT NULL, first_match_glob TEXT, returned_at INTEGER NOT NULL);
CREATE TABLE expand_events (id INTEGER PRIMARY KEY, query_event_id INTEGER,
  handle_id TEXT NOT NULL, file_path TEXT NOT NULL, node_type INTEGER NOT NULL,
  token_count INTEGER NOT NULL, auto_expanded INTEGER NOT NULL DEFAULT 0,
  expanded_at INTEGER NOT NULL);
"""
EVENTS = """
INSERT INTO query_events VALUES (1, 0, 'a', '["src/**", "lib/**"]', 9, 2, 30);
INSERT INTO query_events VALUES (2, 0, 'b', NULL, 9, 2, 30);
INSERT INTO query_handles VALUES (1, 1, 'h1', 'src/a', 3, 10, 'src/**', 0);
INSERT INTO query_handles VALUES (2, 1, 'h2', 'src/b', 3, 20, NULL, 0);
INSERT INTO query_handles VALUES (3, 2, 'h1', 'src/a', 3, 10, NULL, 0);
INSERT INTO query_handles VALUES (4, 2, 'h3', 'src/c', 3, 10, NULL, 0);
INSERT INTO expand_events VALUES (1, 1, 'h1', 'src/a', 3, 10, 0, 0);
INSERT INTO expand_events VALUES (2, NULL, 'h9', 'src/z', 3, 50, 1, 0);
"""

pytestmark = pytest.mark.anyio


def database(workspace: Path, script: str) -> sqlite3.Connection:
    path = workspace / FEEDBACK_DB
    path.parent.mkdir(exist_ok=True, parents=True)
    made = sqlite3.connect(path)
    made.execute("PRAGMA journal_mode = WAL")
    made.executescript(script)
    made.commit()
    return made


async def test_events_are_counted_while_another_process_has_them_open(tmp_path: Path) -> None:
    workspace = tmp_path / "a 'b' ü"
    with closing(database(workspace, SCHEMA)) as writer:
        probe, place = FeedbackProbe(), ProbeContext(workspace=workspace, service_url=None)
        before = await probe.snapshot(place)
        writer.executescript(EVENTS)  # stays in the write-ahead log
        after = await probe.snapshot(place)
    assert compute_feedback_difference(before, after) == {
        "query_events": 2,
        "expand_events": 2,
        "auto_expand_events": 1,
        "manual_expand_events": 1,
        "sample_count": 2,
        "handle_expand_accept_rate": 0.25,
        "avg_tokens_per_expand": 30,
        "glob_hit_rate_at_k": 0.5,
    }


async def test_a_database_that_was_not_there_before_counts_from_nothing(tmp_path: Path) -> None:
    before = read_feedback(tmp_path)
    database(tmp_path, SCHEMA + EVENTS).close()
    after = read_feedback(tmp_path)
    assert before is None
    assert (compute_feedback_difference(before, after) or {})["query_events"] == 2


async def test_no_database_is_missing_and_not_zero(tmp_path: Path) -> None:
    assert compute_feedback_difference(None, read_feedback(tmp_path)) is None


async def test_a_rate_over_nothing_is_missing(tmp_path: Path) -> None:
    database(tmp_path, SCHEMA).close()
    found = compute_feedback_difference(None, read_feedback(tmp_path)) or {}
    assert found["query_events"] == 0
    assert found["handle_expand_accept_rate"] is None


async def test_a_missing_table_leaves_the_others(tmp_path: Path) -> None:
    database(tmp_path, SCHEMA + EVENTS + "DROP TABLE expand_events;").close()
    found = compute_feedback_difference(None, read_feedback(tmp_path)) or {}
    assert (found["query_events"], found["expand_events"]) == (2, None)


async def test_a_broken_file_gives_nothing(tmp_path: Path) -> None:
    (tmp_path / FEEDBACK_DB).parent.mkdir()
    (tmp_path / FEEDBACK_DB).write_bytes(b"this is no database" * 100)
    found = compute_feedback_difference(None, read_feedback(tmp_path)) or {}
    assert set(found.values()) == {None}


async def test_a_schema_that_is_no_text_gives_nothing(tmp_path: Path) -> None:
    """SQLite quotes the schema in its error, and Python cannot decode that."""
    database(tmp_path, SCHEMA).close()
    file = tmp_path / FEEDBACK_DB
    file.write_bytes(
        file.read_bytes().replace(b"CREATE TABLE query_handles", b"CREATE TABL\xd2 query_handles")
    )
    found = read_feedback(tmp_path)
    assert found is not None
    assert set(found.values()) == {None}


async def test_reading_changes_nothing(tmp_path: Path) -> None:
    database(tmp_path, SCHEMA + EVENTS).close()
    before = (tmp_path / FEEDBACK_DB).read_bytes()
    read_feedback(tmp_path)
    assert (tmp_path / FEEDBACK_DB).read_bytes() == before
    assert [file.name for file in (tmp_path / FEEDBACK_DB).parent.iterdir()] == ["feedback.db"]


ENDLESS = "WITH RECURSIVE t(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM t)"


@pytest.mark.parametrize(
    "script",
    [
        f"CREATE VIEW query_events AS {ENDLESS} SELECT id, '[]' AS predicted_globs FROM t;",
        f"CREATE VIEW query_events AS {ENDLESS} SELECT id, hex(zeroblob(id)) AS predicted_globs "
        "FROM t;",
        "CREATE TABLE query_events (id INTEGER, predicted_globs AS (hex(zeroblob(400000000))));"
        "INSERT INTO query_events VALUES (1);",
        "CREATE VIRTUAL TABLE query_events USING fts5(id, predicted_globs);",
        "CREATE VIRTUAL TABLE query_events USING rtree(id, predicted_globs, more);",
    ],
)
async def test_what_is_computed_is_not_read(tmp_path: Path, script: str) -> None:
    database(tmp_path, script).close()
    began = time.monotonic()
    found = read_feedback(tmp_path)
    assert set((found or {}).values()) == {None}
    assert time.monotonic() - began < READ_SECONDS / 2


async def test_a_count_that_takes_too_long_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("swarm_bench.retrieval.probes.feedback.READ_SECONDS", 0.2)
    many = f"INSERT INTO {{}} {ENDLESS} SELECT {{}} FROM t LIMIT 20000;"
    script = (
        SCHEMA
        + many.format("query_handles", "id, 1, 'h', 'f', 1, 1, '', 0")
        + many.format("expand_events", "id, 1, 'g', 'f', 1, 1, 0, 0")
    )
    database(tmp_path, script).close()
    found = read_feedback(tmp_path) or {}
    assert (found["handles_expanded"], found["globs_hit"]) == (None, None)


async def test_more_rows_than_are_read_are_missing_and_not_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("swarm_bench.retrieval.probes.feedback.MOST_ROWS", 10)
    more = "SELECT id + 9, 0, 'q', '[\"a\"]', 0, 0, 0 FROM t LIMIT 11"
    script = SCHEMA + EVENTS + f"INSERT INTO query_events {ENDLESS} {more}"
    database(tmp_path, script).close()
    found = read_feedback(tmp_path) or {}
    assert (found["query_events"], found["globs_predicted"]) == (13, None)


@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "sparse", "behind a link", "journal"])
async def test_what_is_no_database_of_the_workspace_is_not_opened(
    tmp_path: Path, kind: str
) -> None:
    database(tmp_path / "other", SCHEMA + EVENTS).close()
    (workspace := tmp_path / "workspace").mkdir()
    file, other = workspace / FEEDBACK_DB, tmp_path / "other" / FEEDBACK_DB
    if kind == "behind a link":
        file.parent.symlink_to(other.parent)
    else:
        file.parent.mkdir()
    match kind:
        case "pipe":
            os.mkfifo(file)
        case "link":
            file.symlink_to(other)
        case "folder":
            file.mkdir()
        case "sparse":
            with file.open("wb") as sparse:
                sparse.truncate(2**40)
        case "journal":
            file.write_bytes(other.read_bytes())
            os.mkfifo(file.with_name("feedback.db-journal"))
    found = read_feedback(workspace)
    assert set((found or {}).values()) == {None}


async def test_a_log_that_is_no_file_is_left_alone(tmp_path: Path) -> None:
    database(tmp_path, SCHEMA + EVENTS).close()
    os.mkfifo(tmp_path / f"{FEEDBACK_DB}-wal")
    os.mkfifo(tmp_path / f"{FEEDBACK_DB}-shm")
    found = read_feedback(tmp_path) or {}
    assert found["query_events"] == 2


@pytest.mark.parametrize(
    ("written", "unknown"),
    [
        ("UPDATE expand_events SET token_count = 9e999", {"expanded_tokens"}),
        ("UPDATE expand_events SET token_count = -5", {"expanded_tokens"}),
        ("UPDATE expand_events SET token_count = 4e17", {"expanded_tokens"}),
        (
            f"UPDATE query_events SET predicted_globs = '{'[' * 100_000}'",
            {"globs_predicted", "globs_hit"},
        ),
        (
            f"UPDATE query_events SET predicted_globs = '[\"{'a' * 100_000}\"]'",
            {"globs_predicted", "globs_hit"},
        ),
        ("UPDATE query_events SET predicted_globs = '{}'", {"globs_predicted", "globs_hit"}),
        ("UPDATE query_events SET predicted_globs = '[[1]]'", {"globs_predicted", "globs_hit"}),
    ],
)
async def test_what_an_agent_wrote_there_costs_its_own_figure_only(
    tmp_path: Path, written: str, unknown: set[str]
) -> None:
    with closing(database(tmp_path, SCHEMA + EVENTS)) as writer:
        writer.executescript(written)
        writer.commit()
        counts = read_feedback(tmp_path) or {}
    assert {name for name, count in counts.items() if count is None} == unknown

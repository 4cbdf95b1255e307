"""The reader on a database with canopy's schema, written by hand."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from swarm_bench.retrieval.feedback import FEEDBACK_DB, FeedbackProbe, feedback_difference

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
        probe = FeedbackProbe(workspace)
        before = await probe.snapshot()
        writer.executescript(EVENTS)  # stays in the write-ahead log
        after = await probe.snapshot()
    assert feedback_difference(before, after) == {
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
    before = await FeedbackProbe(tmp_path).snapshot()
    database(tmp_path, SCHEMA + EVENTS).close()
    after = await FeedbackProbe(tmp_path).snapshot()
    assert before is None
    assert (feedback_difference(before, after) or {})["query_events"] == 2


async def test_no_database_is_missing_and_not_zero(tmp_path: Path) -> None:
    assert feedback_difference(None, await FeedbackProbe(tmp_path).snapshot()) is None


async def test_a_rate_over_nothing_is_missing(tmp_path: Path) -> None:
    database(tmp_path, SCHEMA).close()
    found = feedback_difference(None, await FeedbackProbe(tmp_path).snapshot()) or {}
    assert found["query_events"] == 0
    assert found["handle_expand_accept_rate"] is None


async def test_a_missing_table_leaves_the_others(tmp_path: Path) -> None:
    database(tmp_path, SCHEMA + EVENTS + "DROP TABLE expand_events;").close()
    found = feedback_difference(None, await FeedbackProbe(tmp_path).snapshot()) or {}
    assert (found["query_events"], found["expand_events"]) == (2, None)


async def test_a_broken_file_gives_nothing(tmp_path: Path) -> None:
    (tmp_path / FEEDBACK_DB).parent.mkdir()
    (tmp_path / FEEDBACK_DB).write_bytes(b"this is no database" * 100)
    found = feedback_difference(None, await FeedbackProbe(tmp_path).snapshot()) or {}
    assert set(found.values()) == {None}


async def test_reading_changes_nothing(tmp_path: Path) -> None:
    database(tmp_path, SCHEMA + EVENTS).close()
    before = (tmp_path / FEEDBACK_DB).read_bytes()
    await FeedbackProbe(tmp_path).snapshot()
    assert (tmp_path / FEEDBACK_DB).read_bytes() == before


async def test_a_query_that_never_ends_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("swarm_bench.retrieval.feedback.READ_SECONDS", 0.3)
    endless = (
        "CREATE VIEW query_events AS WITH RECURSIVE t(id) AS "
        "(SELECT 1 UNION ALL SELECT id + 1 FROM t) SELECT id, NULL AS predicted_globs FROM t;"
    )
    database(tmp_path, endless).close()
    found = await FeedbackProbe(tmp_path).snapshot()
    assert set((found or {}).values()) == {None}


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
        counts = await FeedbackProbe(tmp_path).snapshot() or {}
    assert {name for name, count in counts.items() if count is None} == unknown

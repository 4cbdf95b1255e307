import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from swarm_bench.programs.canopy.index.feedback import DAY, Feedback
from swarm_bench.programs.canopy.nodes import Handle, Node, NodeType

COLUMNS = {
    "query_events": [
        ("id", "INTEGER", 0, None), ("timestamp", "INTEGER", 1, None),
        ("query_text", "TEXT", 1, None), ("predicted_globs", "TEXT", 0, None),
        ("files_indexed", "INTEGER", 0, "0"), ("handles_returned", "INTEGER", 0, "0"),
        ("total_tokens", "INTEGER", 0, "0"),
    ],
    "query_handles": [
        ("id", "INTEGER", 0, None), ("query_event_id", "INTEGER", 1, None),
        ("handle_id", "TEXT", 1, None), ("file_path", "TEXT", 1, None),
        ("node_type", "INTEGER", 1, None), ("token_count", "INTEGER", 1, None),
        ("first_match_glob", "TEXT", 0, None), ("returned_at", "INTEGER", 1, None),
    ],
    "expand_events": [
        ("id", "INTEGER", 0, None), ("query_event_id", "INTEGER", 0, None),
        ("handle_id", "TEXT", 1, None), ("file_path", "TEXT", 1, None),
        ("node_type", "INTEGER", 1, None), ("token_count", "INTEGER", 1, None),
        ("auto_expanded", "INTEGER", 1, "0"), ("expanded_at", "INTEGER", 1, None),
    ],
}  # fmt: skip
NODE = Node(type=NodeType.METHOD, start=0, end=40, first_line=1, last_line=2)
HANDLES = [Handle(hex=f"{n:024x}", path="a.py", node=NODE, preview="") for n in range(4)]


@pytest.fixture
def feedback(tmp_path: Path) -> Iterator[Feedback]:
    feedback = Feedback(tmp_path / "feedback.db")
    yield feedback
    feedback.close()


def _rows(feedback: Feedback, sql: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(feedback.file)
    rows = connection.execute(sql).fetchall()
    connection.close()
    return rows


def test_the_tables_are_canopys(feedback: Feedback) -> None:
    feedback.record_query("x", [])
    for table, expected in COLUMNS.items():
        sql = f"SELECT name, type, \"notnull\", dflt_value FROM pragma_table_info('{table}')"
        assert _rows(feedback, sql) == expected
    assert _rows(feedback, "PRAGMA journal_mode") == [("wal",)]


def test_a_query_and_its_expansion(feedback: Feedback) -> None:
    event = feedback.record_query("auth", HANDLES, indexed=7)
    feedback.record_expansions([(HANDLES[0], event)])
    columns = "query_text, predicted_globs, files_indexed, handles_returned, total_tokens"
    assert _rows(feedback, f"SELECT {columns} FROM query_events") == [("auth", None, 7, 4, 40)]
    assert _rows(feedback, "SELECT * FROM query_handles")[0][1:7] == (
        event, "h" + "0" * 24, "a.py", 6, 10, None,
    )  # fmt: skip
    assert _rows(feedback, "SELECT * FROM expand_events")[0][1:7] == (
        event, "h" + "0" * 24, "a.py", 6, 10, 0,
    )  # fmt: skip


def test_derived_figures(feedback: Feedback) -> None:
    event = feedback.record_query("auth", HANDLES)
    feedback.record_expansions([(HANDLES[0], event)])
    feedback.record_expansions([(HANDLES[1], None)])
    assert feedback.stats() == {
        "glob_hit_rate_at_k": 0.0,
        "handle_expand_accept_rate": 0.25,
        "avg_tokens_per_expand": 10.0,
        "sample_count": 1,
    }
    assert feedback.priors() == {NodeType.METHOD: 0.5}


def test_old_rows_are_pruned_when_it_is_opened(feedback: Feedback) -> None:
    feedback.record_query("old", HANDLES)
    feedback.record_query("new", HANDLES)
    connection = sqlite3.connect(feedback.file)
    old = int(time.time()) - 31 * DAY
    with connection:
        connection.execute("UPDATE query_events SET timestamp = ? WHERE id = 1", (old,))
    connection.close()
    feedback.close()
    assert feedback.stats()["sample_count"] == 1
    assert _rows(feedback, "SELECT count(*) FROM query_handles") == [(4,)]


def test_a_recorder_that_cannot_write_does_not_fail_the_call(tmp_path: Path) -> None:
    feedback = Feedback(tmp_path / "missing" / "feedback.db")
    assert feedback.record_query("x", HANDLES) is None
    feedback.record_expansions([(HANDLES[0], None)])
    assert feedback.stats()["sample_count"] == 0

"""Who writes what into .canopy/feedback.db."""

from typing import Any

TABLES = {
    "query_events": ["id", "timestamp", "query_text", "predicted_globs", "files_indexed",
                     "handles_returned", "total_tokens"],
    "query_handles": ["id", "query_event_id", "handle_id", "file_path", "node_type",
                      "token_count", "first_match_glob", "returned_at"],
    "expand_events": ["id", "query_event_id", "handle_id", "file_path", "node_type",
                      "token_count", "auto_expanded", "expanded_at"],
}  # fmt: skip
EVENTS = "SELECT query_text, handles_returned FROM query_events ORDER BY id"
EXPANDED = (
    "SELECT query_event_id, handle_id, file_path, node_type, auto_expanded FROM expand_events"
)


def test_the_tables(mcp: Any, repo: Any) -> None:
    mcp.json("canopy_query", symbol="login")
    for table, columns in TABLES.items():
        # cid, name, type, notnull, default, pk
        info = repo.rows(f"SELECT * FROM pragma_table_info('{table}') ORDER BY cid")
        assert [row[1] for row in info] == columns
        for _, name, type_, notnull, default, key in info:
            text = ("query_text", "predicted_globs", "handle_id", "file_path", "first_match_glob")
            assert type_ == ("TEXT" if name in text else "INTEGER")
            assert bool(key) is (name == "id")
            if name in {"timestamp", "query_text", "node_type", "token_count", "handle_id"}:
                assert notnull
            if name in {"files_indexed", "handles_returned", "total_tokens", "auto_expanded"}:
                assert (table == "query_handles") or default in {"0", None}
    for child in ("query_handles", "expand_events"):
        ((parent, column, on_delete),) = repo.rows(
            f'SELECT "table", "from", on_delete FROM pragma_foreign_key_list(\'{child}\')'
        )
        assert (parent, column) == ("query_events", "query_event_id")
        assert on_delete == ("CASCADE" if child == "query_handles" else "SET NULL")
    assert repo.rows("PRAGMA journal_mode") == [("wal",)]


def test_one_server_writes_everything(mcp: Any, repo: Any) -> None:
    bare = mcp.json("canopy_query", symbol="logout")["handles"][0]["id"]
    mcp.json("canopy_query", query='(code "login")', pattern="x")
    pack = mcp.json("canopy_evidence_pack", pattern="login", max_handles=1)
    mcp.text("canopy_expand", handle_ids=[bare, pack["expand_suggestion"][0]])
    # An expression leaves no text; a pack records all it chose from.
    assert repo.rows(EVENTS) == [("logout", 1), ("", 1), ("login", 5)]
    assert repo.rows("SELECT count(*) FROM query_handles WHERE query_event_id = 3") == [(5,)]
    # With the latest query that had shown it, and with the `h`.
    assert repo.rows(EXPANDED) == [
        (3, pack["expand_suggestion"][0], "src/auth.py", 6, 0),
        (1, f"h{bare}", "src/auth.py", 6, 0),
    ]
    kinds = repo.rows("SELECT DISTINCT typeof(handle_id), length(handle_id) FROM query_handles")
    assert kinds == [("text", 25)]
    assert repo.rows("SELECT DISTINCT first_match_glob FROM query_handles") == [(None,)]


def test_a_pack_that_asks_twice_is_recorded_twice(mcp: Any, repo: Any) -> None:
    mcp.json("canopy_evidence_pack", pattern="hexdigest Evict")
    assert repo.rows(EVENTS) == [("hexdigest Evict", 0), ("hexdigest evict", 2)]


def test_what_fails_is_not_recorded(mcp: Any, repo: Any) -> None:
    mcp.json("canopy_query", symbol="login")
    mcp.code("canopy_query", pattern="x", glob="{")
    mcp.code("canopy_query")
    mcp.code("canopy_expand", handle_ids=["h" + "0" * 24])
    assert repo.rows(EVENTS) == [("login", 1)]
    assert repo.rows(EXPANDED) == []


def test_an_expansion_that_fails_in_part_is_answered_and_recorded(mcp: Any, repo: Any) -> None:
    bare = mcp.json("canopy_query", symbol="logout")["handles"][0]["id"]
    reply = mcp.call("canopy_expand", handle_ids=["h" + "0" * 24, f"h{bare}"])["result"]
    assert not reply.get("isError")
    assert [row[1] for row in repo.rows(EXPANDED)] == [f"h{bare}"]


def test_another_servers_expansion_belongs_to_no_query(mcp: Any, repo: Any, start_mcp: Any) -> None:
    bare = mcp.json("canopy_query", symbol="logout")["handles"][0]["id"]
    other = start_mcp("--root", str(repo.root))
    other.text("canopy_expand", handle_ids=[f"h{bare}"])
    assert repo.rows(EXPANDED) == [(None, f"h{bare}", "src/auth.py", 6, 0)]


def test_with_a_service_a_query_is_recorded_by_both(client: Any, repo: Any) -> None:
    mcp, _ = client
    mcp.json("canopy_query", symbol="logout")
    assert repo.rows(EVENTS) == [("logout", 1), ("logout", 1)]
    mcp.json("canopy_query", query='(code "login")')
    assert repo.rows(EVENTS)[2:] == [("", 1)]


def test_with_a_service_a_pack_is_recorded_by_it_alone(client: Any, repo: Any) -> None:
    mcp, _ = client
    pack = mcp.json("canopy_evidence_pack", pattern="login", max_handles=2)
    mcp.json("canopy_evidence_pack", pattern="hexdigest Evict")
    assert repo.rows(EVENTS) == [("login", 5), ("hexdigest Evict", 2)]
    mcp.text("canopy_expand", handle_ids=pack["expand_suggestion"])
    assert [row[:2] for row in repo.rows(EXPANDED)] == [
        (1, each) for each in pack["expand_suggestion"]
    ]


def test_with_a_service_two_expansions_are_recorded_by_nobody(
    client: Any, repo: Any, start_mcp: Any
) -> None:
    mcp, service = client
    before = service.metrics()["expands"]
    bare = mcp.json("canopy_query", symbol="logout")["handles"][0]["id"]
    mcp.text("canopy_expand", handle_ids=[bare])  # an id as the query shows it
    other = start_mcp("--root", str(repo.root), "--service-url", service.url)
    other.text("canopy_expand", handle_ids=[f"h{bare}"])  # an id of another server
    assert repo.rows(EXPANDED) == []
    assert service.metrics()["expands"] == before


def test_texts_that_come_by_themselves_are_marked(service: Any, repo: Any) -> None:
    id_ = service.indexed(repo.root)
    service.post("/query", repo=id_, parent="AuthController", expand_budget=1000)
    assert [row[4] for row in repo.rows(EXPANDED)] == [1, 1]


def test_uncommitted_files_are_searched_by_the_client(client: Any, repo: Any) -> None:
    mcp, _ = client
    repo.edit("src/later.py", "def later(): pass\n")
    (found,) = mcp.json("canopy_query", symbol="later")["handles"]
    assert (found["file_path"], found["source"]) == ("src/later.py", "local")
    assert repo.rows(EVENTS) == [("later", 0), ("later", 1)]

"""What moves which counter of /metrics."""

from typing import Any

PERFORMANCE = {
    "queries", "query_cache_hit_rate", "query_cache_hits", "query_cache_misses", "expands",
    "index_cache_hits", "index_cache_misses", "reindexes", "avg_query_ms", "avg_expand_ms",
}  # fmt: skip
ANALYTICS = {
    "top_symbols", "top_patterns", "top_expanded_files", "requests_by_repo", "feedback_by_repo",
}  # fmt: skip
COUNTERS = (
    "queries", "query_cache_hits", "query_cache_misses", "expands", "index_cache_hits",
    "index_cache_misses", "reindexes",
)  # fmt: skip


class Moves:
    """Which counters of canopy's own moved since the last look, and by how much."""

    def __init__(self, service: Any) -> None:
        self._service = service
        self._before = service.metrics()

    def __call__(self) -> dict[str, int]:
        before, self._before = self._before, self._service.metrics()
        moved = {name: self._before[name] - before[name] for name in COUNTERS}
        return {name: by for name, by in moved.items() if by}


def test_the_document(lone_service: Any, repo: Any, backend: Any) -> None:
    id_ = lone_service.indexed(repo.root)
    lone_service.post("/query", repo=id_, pattern="login")
    lone_service.post("/query", repo=id_, symbol="logout")
    lone_service.post("/query", repo=id_, symbol="logout")
    lone_service.post("/query", repo=id_, patterns=["Save"])
    pack = lone_service.post("/evidence_pack", repo=id_, symbol="login")
    handles = [{"id": each} for each in pack["expand_suggestion"]]
    lone_service.post("/expand", repo=id_, handles=handles)
    body = lone_service.http.get("/metrics").json()
    assert set(body) == {"performance", "analytics"}
    extra = {"evidence_packs"} if backend.is_embedded else set()
    assert set(body["performance"]) == PERFORMANCE | extra
    analytics = body["analytics"]
    assert set(analytics) == ANALYTICS
    # Neither packs nor several patterns stand here.
    assert analytics["top_symbols"] == [{"name": "logout", "count": 2}]
    assert analytics["top_patterns"] == [{"pattern": "login", "count": 1}]
    assert analytics["top_expanded_files"] == [{"path": "src/auth.py", "count": len(handles)}]
    assert analytics["requests_by_repo"] == {id_: 5}
    feedback = analytics["feedback_by_repo"][id_]
    assert feedback["sample_count"] == 5
    assert feedback["glob_hit_rate_at_k"] == 0
    assert 0 < feedback["handle_expand_accept_rate"] < 1
    assert feedback["avg_tokens_per_expand"] > 0


def test_packs_count_among_the_queries(service: Any, repo: Any, backend: Any) -> None:
    id_ = service.indexed(repo.root)
    before = service.metrics()
    service.post("/query", repo=id_, symbol="login")
    for _ in range(2):
        service.post("/evidence_pack", repo=id_, symbol="login")
    after = service.metrics()
    assert after["queries"] - before["queries"] == 3
    if backend.is_embedded:
        assert after["evidence_packs"] - before["evidence_packs"] == 2


def test_searches_and_the_cache(service: Any, repo: Any) -> None:
    id_ = service.indexed(repo.root)
    moves = Moves(service)
    service.post("/query", repo=id_, symbol="login")
    miss = {"queries": 1, "query_cache_misses": 1}
    assert moves() == {**miss, "index_cache_misses": 1}
    service.post("/query", repo=id_, symbol="login")
    assert moves() == {"queries": 1, "query_cache_hits": 1}
    # A pack does not share the answer of a query, and several steps are several searches.
    service.post("/evidence_pack", repo=id_, symbol="login")
    assert moves() == {**miss, "index_cache_hits": 1}
    service.post("/evidence_pack", repo=id_, pattern="hexdigest Evict", config={"plan": False})
    assert moves() == {"queries": 1, "query_cache_misses": 2, "index_cache_hits": 2}
    service.ask("/query", repo=id_)  # refused after it was counted
    assert moves() == {**miss, "index_cache_hits": 1}
    service.ask("/query", repo="none", pattern="x")
    assert moves() == {}
    service.post("/reindex", repo=id_)
    service.settled(id_)
    assert moves() == {"reindexes": 1}
    service.post("/query", repo=id_, symbol="login")
    assert moves() == {**miss, "index_cache_misses": 1}


def test_an_expansion_counts_once_whatever_it_holds(service: Any, repo: Any) -> None:
    id_ = service.indexed(repo.root)
    pack = service.post("/evidence_pack", repo=id_, pattern="login")
    good = [{"id": each} for each in pack["expand_suggestion"]]
    moves = Moves(service)
    once = {"expands": 1, "index_cache_hits": 1}
    service.post("/expand", repo=id_, handles=good)
    assert moves() == once
    service.ask("/expand", repo=id_, handles=[{"id": "h" + "0" * 24}])
    assert moves() == once
    # An old generation is refused before anything is counted.
    service.ask("/expand", repo=id_, handles=[{**good[0], "generation": 0}])
    assert moves() == {}


def test_calls_of_an_agent(client: Any, backend: Any) -> None:
    mcp, service = client
    moves = Moves(service)
    found = mcp.json("canopy_query", symbol="logout")
    assert moves()["queries"] == 1
    pack = mcp.json("canopy_evidence_pack", pattern="login")
    assert moves()["queries"] == 1
    mcp.text("canopy_expand", handle_ids=pack["expand_suggestion"][:2])
    assert moves()["expands"] == 1
    mcp.text("canopy_expand", handle_ids=["h" + found["handles"][0]["id"]])
    assert moves()["expands"] == 1
    # An id as a query shows it, an expression and the rest never reach the service.
    mcp.text("canopy_expand", handle_ids=[found["handles"][0]["id"]])
    mcp.json("canopy_query", query='(grep "login")')
    mcp.json("canopy_evidence_pack", query='(grep "login")')
    mcp.json("canopy_status")
    mcp.text("canopy_invalidate", glob="*.none")
    assert moves() == {}
    mcp.json("canopy_index", glob="**/*.py")
    assert moves()["reindexes"] == 1


def test_in_a_checkout_with_changes_a_query_takes_its_handles_away(client: Any, repo: Any) -> None:
    """canopy makes the checkout dirty itself where .gitignore does not name .canopy."""
    mcp, service = client
    repo.edit("notes.txt", "unrelated\n")
    moves = Moves(service)
    found = mcp.json("canopy_query", symbol="logout")
    assert found["handles"][0]["source"] == "service"
    assert moves()["queries"] == 1
    mcp.text("canopy_expand", handle_ids=["h" + found["handles"][0]["id"]])
    assert moves() == {}
    assert len(repo.rows("SELECT * FROM expand_events")) == 1
    pack = mcp.json("canopy_evidence_pack", symbol="logout")
    mcp.text("canopy_expand", handle_ids=pack["expand_suggestion"])
    assert moves()["expands"] == 1

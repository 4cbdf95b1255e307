import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from swarm_bench.retrieval.probes.service_metrics import (
    MOST_BYTES,
    compute_service_difference,
    read_metrics,
)


def body(**performance: float) -> dict[str, Any]:
    return {"performance": performance, "analytics": {}}


def test_counters_of_a_running_service_are_differences() -> None:
    before = body(queries=10, expands=4, query_cache_hits=5, query_cache_misses=5, avg_query_ms=2)
    after = body(queries=14, expands=4, query_cache_hits=6, query_cache_misses=8, avg_query_ms=4)
    assert compute_service_difference(before, after) == {
        "queries": 4,
        "expands": 0,
        "query_cache_hits": 1,
        "query_cache_misses": 3,
        "query_cache_hit_rate": 0.25,
        "avg_query_ms": (4 * 14 - 2 * 10) / 4,
        "avg_expand_ms": None,
    }


def test_a_service_without_a_counter_has_none() -> None:
    found = compute_service_difference(body(queries=0), body(queries=1)) or {}
    assert "evidence_packs" not in found
    assert found["queries"] == 1


@pytest.mark.parametrize(("before", "after"), [(None, body(queries=1)), (body(queries=1), None)])
def test_without_both_readings_there_is_no_difference(before: Any, after: Any) -> None:
    assert compute_service_difference(before, after) is None


@pytest.mark.parametrize("queries", ["many", float("nan"), float("inf"), -1, 10**400])
def test_a_hostile_body_does_no_harm(queries: object) -> None:
    odd = {"performance": {"queries": queries, "expands": True, "reindexes": None}}
    assert compute_service_difference(odd, odd) == {
        "query_cache_hit_rate": None,
        "avg_query_ms": None,
        "avg_expand_ms": None,
    }


@pytest.mark.anyio
async def test_a_service_that_is_not_there_gives_nothing() -> None:
    assert await read_metrics("http://127.0.0.1:1") is None


class Chatty(BaseHTTPRequestHandler):
    """Answers with more than anybody counts."""

    def do_GET(self) -> None:
        body = b'{"performance": {"queries": 1}, "analytics": "' + b"x" * MOST_BYTES + b'"}'
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.anyio
async def test_a_service_that_says_too_much_gives_nothing() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Chatty) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert await read_metrics(f"http://127.0.0.1:{server.server_address[1]}") is None
        server.shutdown()

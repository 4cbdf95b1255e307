"""The service as a process, over real HTTP."""

import signal
import socket
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MODULE = "swarm_bench.programs.canopy.service.server"
PERFORMANCE = {
    "queries", "query_cache_hit_rate", "query_cache_hits", "query_cache_misses", "expands",
    "index_cache_hits", "index_cache_misses", "reindexes", "avg_query_ms", "avg_expand_ms",
}  # fmt: skip
ANALYTICS = {
    "top_symbols", "top_patterns", "top_expanded_files", "requests_by_repo", "feedback_by_repo",
}  # fmt: skip


def test_registering_indexing_and_the_generation(service: Any, repo: Path) -> None:
    added = service.post("/repos/add", path=str(repo))
    assert str(uuid.UUID(added["repo_id"])) == added["repo_id"]
    assert added["name"] == repo.name
    assert service.post("/repos/add", path=f"{repo}/.", name="other") == added
    (shard,) = service.http.get("/repos").json()
    assert shard == {
        "repo_id": added["repo_id"], "repo_root": str(repo), "name": repo.name,
        "commit_sha": None, "generation": 0, "status": "pending",
    }  # fmt: skip
    first = service.post("/reindex", repo=added["repo_id"])
    assert first == {"generation": 0, "status": "indexing", "commit_sha": None}
    ready = service.wait(added["repo_id"], "ready")
    assert ready["generation"] == 1
    assert len(ready["commit_sha"]) == 40
    again = service.post("/reindex", repo=added["repo_id"])
    assert (again["generation"], again["commit_sha"]) == (1, ready["commit_sha"])
    assert service.wait(added["repo_id"], "ready")["generation"] == 2


def test_a_checkout_without_commits(service: Any, tmp_path: Path, git: Callable[..., None]) -> None:
    git(tmp_path, "init", "-q")
    repo_id = service.indexed(tmp_path)
    assert service.wait(repo_id, "ready")["commit_sha"] is None


def test_status_says_which_implementation_runs(service: Any) -> None:
    status = service.http.get("/status").json()
    assert status["service"] == "canopy-service"
    assert status["implementation"].startswith("swarm-bench embedded canopy ")
    assert status["repos"] == []


def test_errors_have_canopys_envelope(service: Any, repo: Path) -> None:
    def envelope(route: str, **body: Any) -> tuple[int, str]:
        response = service.http.post(route, json=body)
        assert set(response.json()) == {"code", "message", "hint"}
        return response.status_code, response.json()["code"]

    assert envelope("/repos/add", path="/no/such/folder") == (400, "invalid_repo")
    for path in (str(repo / "src"), "a\0b", "a" * 5000, ""):
        assert envelope("/repos/add", path=path) == (400, "invalid_repo")
    for route in ("/query", "/evidence_pack", "/reindex"):
        assert envelope(route, repo="none", pattern="x") == (404, "repo_not_found")
    repo_id = service.post("/repos/add", path=str(repo))["repo_id"]
    for route in ("/query", "/evidence_pack"):
        assert envelope(route, repo=repo_id, pattern="x") == (503, "repo_not_ready")
    response = service.http.post("/expand", json={"repo": repo_id, "handles": []})
    assert (response.status_code, "Pending" in response.json()["message"]) == (503, True)
    service.indexed(repo)
    internal = (500, "internal_error")
    assert envelope("/query", repo=repo_id) == internal
    assert envelope("/query", repo=repo_id, pattern="x", patterns=["y"]) == internal
    assert envelope("/query", repo=repo_id, dsl="(grep") == internal
    assert envelope("/query", repo=repo_id, pattern="x", glob="{") == internal


def test_the_frameworks_own_errors_are_plain_text(service: Any) -> None:
    json_type = {"content-type": "application/json"}
    cases: list[tuple[int, dict[str, Any]]] = [
        (400, {"content": "{", "headers": json_type}),
        (422, {"json": {"pattern": "x"}}),
        (422, {"json": {"repo": "x", "kind": "Definition"}}),
        (422, {"json": {"repo": "x", "limit": -1}}),
        (422, {"json": [1]}),
        (400, {"content": '{"repo": "x", "pattern": "\\ud800"}', "headers": json_type}),
        (415, {"content": "{}"}),
        (413, {"content": b"x" * 2_000_001, "headers": json_type}),
        (400, {"content": "[" * 100_000, "headers": json_type}),
    ]
    for status, request in cases:
        response = service.http.post("/query", **request)
        assert response.status_code == status
        assert response.headers["content-type"].startswith("text/plain")
    for route in ("/nothing", "/status/"):
        assert service.http.get(route).status_code == 404
    assert service.http.get("/query").status_code == 405


def test_a_failed_indexing_says_why(service: Any, repo: Path) -> None:
    repo_id = service.post("/repos/add", path=str(repo))["repo_id"]
    service.post("/reindex", repo=repo_id, glob="{open")
    shard = service.wait(repo_id, "error")
    assert "open brace" in shard["error_message"]
    assert shard["generation"] == 0
    assert service.http.post("/query", json={"repo": repo_id, "pattern": "x"}).status_code == 503
    service.post("/reindex", repo=repo_id)
    assert "error_message" not in service.wait(repo_id, "ready")


def test_a_query(service: Any, repo: Path) -> None:
    repo_id = service.indexed(repo)
    found = service.post("/query", repo=repo_id, symbol="logout")
    (handle,) = found["handles"]
    assert len(handle["id"]) == 24
    assert (handle["source"], handle["generation"]) == ("service", 1)
    assert len(handle["commit_sha"]) == 40
    assert found["total_matches"] == 1
    both = {"patterns": ["logout", "session"], "repo": repo_id}
    for name in ("match", "match_mode"):
        every = service.post("/query", **both, **{name: "all"})
        assert {each["node_type"] for each in every["handles"]} == {"class", "method"}
    assert len(service.post("/query", repo=repo_id, pattern="login", limit=0)["handles"]) == 1
    dsl = service.post("/query", repo=repo_id, dsl='(children "AuthController")')
    assert len(dsl["handles"]) == 2


def test_text_within_a_budget(service: Any, repo: Path) -> None:
    repo_id = service.indexed(repo)
    asked = {"repo": repo_id, "parent": "AuthController"}
    whole = service.post("/query", **asked, expand_budget=1000)
    assert whole["auto_expanded"] is True
    assert whole["expanded_count"] == 2
    assert all("def log" in each["content"] for each in whole["handles"])
    assert whole["expanded_handle_ids"] == ["h" + each["id"] for each in whole["handles"]]
    tokens = whole["handles"][1]["token_count"]
    part = service.post("/query", **asked, expand_budget=tokens)
    assert "auto_expanded" not in part
    assert (part["expanded_count"], part["expanded_tokens"]) == (1, tokens)
    assert "content" not in service.post("/query", **asked)["handles"][0]
    connection = sqlite3.connect(repo / ".canopy" / "feedback.db")
    rows = connection.execute("SELECT auto_expanded FROM expand_events").fetchall()
    connection.close()
    assert rows == [(1,), (1,), (1,)]


def test_a_pack_and_its_expansion(service: Any, repo: Path) -> None:
    repo_id = service.indexed(repo)
    config = {"max_handles": 2, "max_per_file": 1}
    pack = service.post("/evidence_pack", repo=repo_id, pattern="login", config=config)
    assert pack["selected_count"] == 2
    assert len(pack["files"]) == 2
    first = pack["expand_suggestion"][0]
    handles = [{"id": first, "generation": 1}, {"id": first[1:]}]
    contents = service.post("/expand", repo=repo_id, handles=handles)["contents"]
    assert [each["handle_id"] for each in contents] == [first, first]
    again = service.post("/evidence_pack", repo=repo_id, pattern="login", config=config)
    assert again["expand_suggestion"][-1] == first


def test_an_expansion_is_all_or_nothing(service: Any, repo: Path) -> None:
    repo_id = service.indexed(repo)
    good = service.post("/query", repo=repo_id, symbol="logout")["handles"][0]["id"]

    def status(*handles: dict[str, Any]) -> int:
        body = {"repo": repo_id, "handles": [{"id": good}, *handles]}
        return int(service.http.post("/expand", json=body).status_code)

    assert status({"id": "0" * 24}) == 404
    assert status({"id": good, "generation": 0}) == 409
    assert status({"id": "../../etc/passwd"}) == 500
    (repo / "src" / "auth.py").write_text("changed\n")
    assert status() == 500


def test_counters(service: Any, repo: Path) -> None:
    repo_id = service.indexed(repo)
    service.post("/query", repo=repo_id, pattern="login")
    service.post("/query", repo=repo_id, pattern="login")
    service.post("/query", repo=repo_id, symbol="logout")
    service.http.post("/query", json={"repo": repo_id})
    pack = service.post("/evidence_pack", repo=repo_id, pattern="login")
    ids = [{"id": each} for each in pack["expand_suggestion"]]
    service.post("/expand", repo=repo_id, handles=ids)
    service.http.post("/expand", json={"repo": repo_id, "handles": [{"id": "0" * 24}]})
    service.http.post("/expand", json={"repo": "none", "handles": []})
    body = service.http.get("/metrics").json()
    assert set(body) == {"performance", "analytics"}
    assert set(body["analytics"]) == ANALYTICS
    performance = body["performance"]
    assert set(performance) >= PERFORMANCE
    # The query without a text counts; the pack counts among the queries.
    assert (performance["queries"], performance["evidence_packs"]) == (5, 1)
    # The one without a text is a miss, and a pack has answers of its own.
    assert (performance["query_cache_hits"], performance["query_cache_misses"]) == (1, 4)
    assert performance["query_cache_hit_rate"] == 0.2
    assert (performance["expands"], performance["reindexes"]) == (2, 1)
    assert performance["index_cache_hits"] + performance["index_cache_misses"] == 6
    assert performance["index_cache_misses"] == 1
    analytics = body["analytics"]
    assert analytics["top_symbols"] == [{"name": "logout", "count": 1}]
    assert analytics["top_patterns"] == [{"pattern": "login", "count": 2}]
    assert analytics["requests_by_repo"] == {repo_id: 6}
    assert sum(each["count"] for each in analytics["top_expanded_files"]) == len(ids)
    assert analytics["feedback_by_repo"][repo_id]["sample_count"] == 4


def test_reindexing_drops_what_was_remembered(service: Any, repo: Path) -> None:
    repo_id = service.indexed(repo)
    service.post("/query", repo=repo_id, symbol="fresh")
    (repo / "src" / "fresh.py").write_text("def fresh(): pass\n")
    # The service indexes only when it is told to.
    assert service.post("/query", repo=repo_id, symbol="fresh")["handles"] == []
    service.post("/reindex", repo=repo_id)
    service.wait(repo_id, "ready")
    (handle,) = service.post("/query", repo=repo_id, symbol="fresh")["handles"]
    assert handle["generation"] == 2


def test_a_key_guards_all_but_status_and_metrics(
    start_service: Callable[..., Any], repo: Path
) -> None:
    service = start_service(CANOPY_API_KEY="pass")
    for route in ("/status", "/metrics"):
        assert service.http.get(route).status_code == 200
    refused = service.http.get("/repos")
    assert (refused.status_code, refused.json()["code"]) == (401, "unauthorized")
    assert service.http.post("/query", content="x").status_code == 401
    service.http.headers["x-api-key"] = "pass"
    assert service.indexed(repo)


def test_a_port_that_is_taken_is_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", MODULE, "--port", port]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert port in done.stderr
    assert "--port" in done.stderr


@pytest.mark.parametrize("words", [["--bind", "0.0.0.0"], ["--port", "70000"], ["--port", "x"]])
def test_bad_options_are_refused(words: list[str]) -> None:
    command = [sys.executable, "-m", MODULE, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in {1, 2}
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_help_and_version(word: str) -> None:
    command = [sys.executable, "-m", MODULE, word]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "mbedded" in done.stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_it_is_told_to(service: Any, repo: Path, number: int) -> None:
    service.indexed(repo)
    service.process.send_signal(number)
    assert service.process.wait(5) == 0


def test_it_ends_while_it_indexes(service: Any, repo: Path) -> None:
    body = "\n".join(f"def name_{number}(): pass" for number in range(2_000))
    for number in range(60):
        (repo / f"many_{number}.py").write_text(body)
    repo_id = service.post("/repos/add", path=str(repo))["repo_id"]
    service.post("/reindex", repo=repo_id)
    assert service.post("/reindex", repo=repo_id)["status"] == "already_indexing"
    assert service.metrics()["reindexes"] == 1
    busy = service.http.post("/query", json={"repo": repo_id, "pattern": "x"})
    assert (busy.status_code, "Indexing" in busy.json()["message"]) == (503, True)
    service.process.terminate()
    assert service.process.wait(5) == 0

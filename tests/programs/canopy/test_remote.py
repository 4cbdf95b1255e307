"""canopy-mcp in front of the service: what is forwarded, and who counts and records it."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.builders.https import body, serving


@pytest.fixture
def client(service: Any, repo: Path, start_mcp: Callable[..., Any]) -> Any:
    """An MCP server of a service that has indexed the repository."""
    service.indexed(repo)
    return start_mcp("--root", str(repo), "--service-url", service.url)


def _count(repo: Path, table: str) -> int:
    connection = sqlite3.connect(repo / ".canopy" / "feedback.db")
    (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    connection.close()
    return int(count)


def test_a_query_is_recorded_by_both(client: Any, service: Any, repo: Path) -> None:
    found = client.json("canopy_query", symbol="logout")
    assert found["handles"][0]["source"] == "service"
    assert found["handles"][0]["generation"] == 1
    assert _count(repo, "query_events") == 2
    assert service.metrics()["queries"] == 1


def test_an_expression_stays_here(client: Any, service: Any, repo: Path) -> None:
    found = client.json("canopy_query", query='(code "logout")')
    assert found["handles"][0]["source"] == "local"
    assert _count(repo, "query_events") == 1
    assert service.metrics()["queries"] == 0


def test_a_pack_and_its_expansion_are_recorded_by_the_service(
    client: Any, service: Any, repo: Path
) -> None:
    pack = client.json("canopy_evidence_pack", pattern="login", max_handles=3)
    assert pack["selected_count"] == 3
    assert set(pack["handles"][0]) == {
        "id", "file_path", "node_type", "line_range", "token_count", "source", "commit_sha",
        "generation", "score",
    }  # fmt: skip
    assert _count(repo, "query_events") == 1
    ids = pack["expand_suggestion"][:2]
    text = client.text("canopy_expand", handle_ids=ids)
    assert [line for line in text.splitlines() if line.startswith("// h")] == [
        f"// {each}" for each in ids
    ]
    assert _count(repo, "expand_events") == 2
    metrics = service.metrics()
    # One request, whatever the number of handles.
    assert (metrics["queries"], metrics["expands"]) == (1, 1)


def test_an_id_copied_from_a_query_is_counted_by_nobody(
    client: Any, service: Any, repo: Path
) -> None:
    bare = client.json("canopy_query", symbol="logout")["handles"][0]["id"]
    assert client.text("canopy_expand", handle_ids=[bare]).startswith(f"// h{bare}\n")
    assert _count(repo, "expand_events") == 0
    assert service.metrics()["expands"] == 0


def test_an_id_of_another_process_is_counted_by_nobody(
    client: Any, service: Any, repo: Path, start_mcp: Callable[..., Any]
) -> None:
    pack = client.json("canopy_evidence_pack", symbol="logout")
    other = start_mcp("--root", str(repo), "--service-url", service.url)
    other.text("canopy_expand", handle_ids=pack["expand_suggestion"])
    assert _count(repo, "expand_events") == 0
    assert service.metrics()["expands"] == 0


def test_uncommitted_files_are_searched_here(client: Any, repo: Path) -> None:
    (repo / "src" / "auth.py").write_text("def logout(): pass\n\n\ndef leave(): pass\n")
    (repo / "src" / "extra.py").write_text("def logout(): return 1\n")
    (repo / "src" / "kept.txt").write_text("x")
    found = client.json("canopy_query", symbol="logout")["handles"]
    assert [(each["file_path"], each["source"]) for each in found] == [
        ("src/auth.py", "local"), ("src/extra.py", "local"),
    ]  # fmt: skip
    text = client.text("canopy_expand", handle_ids=["h" + found[0]["id"]])
    assert text.endswith("def logout(): pass")
    assert client.json("canopy_query", symbol="runJob")["handles"][0]["source"] == "service"


def test_one_stale_handle_does_not_spoil_the_others(client: Any, repo: Path) -> None:
    pack = client.json("canopy_evidence_pack", pattern="login", max_per_file=1)
    files = {each["id"]: each["file_path"] for each in pack["handles"]}
    assert set(files.values()) == {"src/auth.py", "docs/guide.md"}
    (repo / "docs" / "guide.md").write_text("changed\n")
    reply = client.call("canopy_expand", handle_ids=list(files))["result"]
    assert [files[each] for each in reply["failed_ids"]] == ["docs/guide.md"]
    assert "login" in reply["content"][0]["text"]


def test_indexing_is_forwarded(client: Any, service: Any, repo: Path) -> None:
    answer = client.json("canopy_index", glob="**/*.py")
    assert answer["status"] == "indexing"
    assert answer["repo_root"] == str(repo)
    assert answer["generation"] == 1
    assert client.json("canopy_query", symbol="logout")["handles"][0]["generation"] == 2


def test_a_restarted_service_is_told_of_the_repository_again(
    client: Any, service: Any, repo: Path, start_service: Callable[..., Any]
) -> None:
    client.json("canopy_query", symbol="logout")
    service.close()
    again = start_service("--port", service.url.rpartition(":")[2])
    again.indexed(repo)
    assert client.json("canopy_query", symbol="logout")["total_matches"] == 1
    assert again.metrics()["queries"] == 1


def test_a_failed_indexing_is_said_at_once(
    service: Any, repo: Path, start_mcp: Callable[..., Any]
) -> None:
    repo_id = service.post("/repos/add", path=str(repo))["repo_id"]
    service.post("/reindex", repo=repo_id, glob="{open")
    service.wait(repo_id, "error")
    server = start_mcp("--root", str(repo), "--service-url", service.url)
    error = server.call("canopy_query", symbol="logout")["error"]
    assert error["code"] == -32000
    assert "open brace" in error["message"]


def test_a_service_that_is_not_there(repo: Path, start_mcp: Callable[..., Any]) -> None:
    server = start_mcp("--root", str(repo), CANOPY_SERVICE_URL="http://127.0.0.1:9")
    assert "result" in server.ask("initialize")
    error = server.call("canopy_evidence_pack", pattern="x")["error"]
    assert error["code"] == -32000
    assert "does not answer" in error["message"]
    assert server.call("canopy_query")["error"]["code"] == -32602


def test_a_service_by_https_must_have_a_certificate_that_somebody_vouches_for(
    tmp_path: Path, repo: Path, start_mcp: Callable[..., Any]
) -> None:
    (folder := tmp_path / "own").mkdir()
    with serving(folder, {"/": body(b"[]")}) as other:
        server = start_mcp("--root", str(repo), CANOPY_SERVICE_URL=other.address)
        error = server.call("canopy_evidence_pack", pattern="x")["error"]
    assert "CERTIFICATE_VERIFY_FAILED" in error["message"]


def test_a_key_opens_every_route(
    start_service: Callable[..., Any], start_mcp: Callable[..., Any], repo: Path
) -> None:
    service = start_service("--api-key", "pass")
    service.http.headers["x-api-key"] = "pass"
    service.indexed(repo)
    words = ("--root", str(repo), "--service-url", service.url)
    keyed = start_mcp(*words, "--api-key", "pass")
    pack = keyed.json("canopy_evidence_pack", pattern="login")
    assert keyed.text("canopy_expand", handle_ids=pack["expand_suggestion"])
    keyless = start_mcp(*words)
    assert "key" in keyless.call("canopy_query", pattern="login")["error"]["message"]

"""The service over HTTP: routes, envelope, status codes, generations."""

import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.programs.canopy.protocol.conftest import Service, checkout, closed

JSON = {"content-type": "application/json"}


def test_registering_and_the_generation(service: Any, repo: Any) -> None:
    added = service.post("/repos/add", path=str(repo.root))
    assert str(uuid.UUID(added["repo_id"])) == added["repo_id"]
    assert added["name"] == repo.root.name
    assert service.post("/repos/add", path=f"{repo.root}/.", name="other") == added
    (shard,) = (
        each for each in service.http.get("/repos").json() if each["repo_id"] == added["repo_id"]
    )
    assert shard == {
        "repo_id": added["repo_id"], "repo_root": str(repo.root), "name": repo.root.name,
        "commit_sha": None, "generation": 0, "status": "pending",
    }  # fmt: skip
    # The answer describes the state before.
    first = service.post("/reindex", repo=added["repo_id"])
    assert first == {"generation": 0, "status": "indexing", "commit_sha": None}
    ready = service.settled(added["repo_id"])
    head = repo.git("rev-parse", "HEAD").strip()
    assert (ready["status"], ready["generation"], ready["commit_sha"]) == ("ready", 1, head)
    again = service.post("/reindex", repo=added["repo_id"])
    assert (again["generation"], again["commit_sha"]) == (1, head)
    assert service.settled(added["repo_id"])["generation"] == 2


def test_a_name_of_its_own(service: Any, repo: Any) -> None:
    assert service.post("/repos/add", path=str(repo.root), name="shop")["name"] == "shop"


@pytest.mark.parametrize("path", ["/no/such/folder", "src"])
def test_only_the_top_of_a_checkout_can_be_registered(service: Any, repo: Any, path: str) -> None:
    given = str(repo.root / path) if path == "src" else path
    assert service.refusal("/repos/add", path=given) == (400, "invalid_repo")


def test_status_names_the_service(service: Any, backend: Any) -> None:
    status = service.http.get("/status").json()
    assert status["service"] == "canopy-service"
    assert isinstance(status["repos"], list)
    extra = {"implementation"} if backend.is_embedded else set()
    assert set(status) == {"service", "repos"} | extra


def test_an_unknown_repository(service: Any) -> None:
    for route in ("/query", "/evidence_pack", "/reindex"):
        assert service.refusal(route, repo="none", pattern="x") == (404, "repo_not_found")
    assert service.refusal("/expand", repo="none", handles=[]) == (404, "repo_not_found")


def test_before_it_is_indexed_everything_is_refused(service: Any, repo: Any) -> None:
    id_ = service.post("/repos/add", path=str(repo.root))["repo_id"]
    for route in ("/query", "/evidence_pack"):
        assert service.refusal(route, repo=id_, pattern="x") == (503, "repo_not_ready")
    status, answer = service.ask("/expand", repo=id_, handles=[])
    assert (status, answer["code"]) == (503, "repo_not_ready")
    assert "Pending" in answer["message"]


def test_while_it_indexes(service: Any, tmp_path: Path) -> None:
    body = "\n".join(f"def name_{number}(): pass" for number in range(1_000))
    repo = checkout(tmp_path, {f"many_{number}.py": body for number in range(15)})
    id_ = service.post("/repos/add", path=str(repo.root))["repo_id"]
    assert service.post("/reindex", repo=id_)["status"] == "indexing"
    assert service.post("/reindex", repo=id_)["status"] == "already_indexing"
    status, answer = service.ask("/query", repo=id_, pattern="x")
    assert (status, answer["code"]) == (503, "repo_not_ready")
    assert "Indexing" in answer["message"]
    assert service.settled(id_)["generation"] == 1


def test_a_failed_indexing_says_why(service: Any, repo: Any) -> None:
    id_ = service.indexed(repo.root)
    service.post("/reindex", repo=id_, glob="{open")
    shard = service.settled(id_)
    assert (shard["status"], shard["generation"]) == ("error", 1)
    assert "{open" in shard["error_message"]
    assert service.refusal("/query", repo=id_, pattern="x") == (503, "repo_not_ready")
    service.post("/reindex", repo=id_)
    shard = service.settled(id_)
    assert (shard["status"], shard["generation"]) == ("ready", 2)
    assert "error_message" not in shard


def test_a_query(service: Any, repo: Any) -> None:
    id_ = service.indexed(repo.root)
    found = service.post("/query", repo=id_, symbol="logout")
    (handle,) = found["handles"]
    assert len(handle["id"]) == 24
    assert (handle["source"], handle["generation"]) == ("service", 1)
    assert handle["commit_sha"] == repo.git("rev-parse", "HEAD").strip()
    assert (found["total_matches"], found["truncated"]) == (1, False)
    for limit, count in ((0, 1), (1, 1), (999, 5)):
        found = service.post("/query", repo=id_, pattern="login", limit=limit)
        assert len(found["handles"]) == count
    assert len(service.post("/query", repo=id_, dsl='(children "AuthController")')["handles"]) == 2


def test_how_patterns_are_joined_is_called_match_mode(
    service: Any, repo: Any, backend: Any
) -> None:
    id_ = service.indexed(repo.root)
    both = {"patterns": ["hexdigest", "encode", "Evict"], "repo": id_}
    assert service.post("/query", **both, match_mode="all")["handles"] == []
    found = service.post("/query", **both, match="all")["handles"]
    # The name that canopy's documents give is understood by ours and ignored by canopy.
    assert bool(found) is not backend.is_embedded


@pytest.mark.parametrize(
    "body",
    [{}, {"pattern": "x", "patterns": ["y"]}, {"dsl": "(grep"}, {"pattern": "x", "glob": "{"},
     {"pattern": "x", "kind": "definition"}, {"pattern": ""}],
)  # fmt: skip
def test_a_search_that_cannot_be_run(service: Any, repo: Any, body: dict[str, Any]) -> None:
    id_ = service.indexed(repo.root)
    for route in ("/query", "/evidence_pack"):
        assert service.refusal(route, repo=id_, **body) == (500, "internal_error")


@pytest.mark.parametrize(
    ("status", "request_"),
    [
        (400, {"content": "{", "headers": JSON}),
        (422, {"json": {"pattern": "x"}}),
        (422, {"json": {"repo": "x", "kind": "Definition"}}),
        (422, {"json": {"repo": "x", "limit": -1}}),
        (422, {"json": {"repo": "x", "limit": 1.5}}),
        (422, {"json": {"repo": "x", "pattern": 5}}),
        (422, {"json": [1]}),
        (415, {"content": "{}"}),
        (415, {"content": "{}", "headers": {"content-type": "text/json"}}),
        (413, {"content": b"x" * 2_100_000, "headers": JSON}),
    ],
)
def test_bodies_that_are_refused_in_plain_text(
    service: Any, status: int, request_: dict[str, Any]
) -> None:
    response = service.http.post("/query", **request_)
    assert response.status_code == status
    assert response.headers["content-type"].startswith("text/plain")


def test_routes_that_are_not_there(service: Any) -> None:
    for route in ("/nothing", "/status/", "/"):
        assert service.http.get(route).status_code == 404
    for method, route in (("GET", "/query"), ("POST", "/status"), ("DELETE", "/repos")):
        assert service.http.request(method, route).status_code == 405


def test_a_pack_takes_its_limits_in_config(service: Any, repo: Any) -> None:
    id_ = service.indexed(repo.root)
    asked = {"repo": id_, "pattern": "login"}
    assert service.post("/evidence_pack", **asked, max_handles=1)["selected_count"] == 4
    config = {"max_handles": 2, "max_per_file": 1}
    pack = service.post("/evidence_pack", **asked, config=config)
    assert (pack["selected_count"], len(pack["files"])) == (2, 2)
    assert set(pack["handles"][0]) == {
        "id", "file_path", "node_type", "line_range", "token_count", "source", "score",
        "commit_sha", "generation",
    }  # fmt: skip
    assert len(pack["handles"][0]["id"]) == 25


def test_words_that_stand_nowhere_together(service: Any, repo: Any) -> None:
    id_ = service.indexed(repo.root)
    asked = {"repo": id_, "pattern": "hexdigest Evict"}
    for config in ({"plan": False}, {"plan": True}, {}):
        pack = service.post("/evidence_pack", **asked, config=config)
        assert {"src/auth.py", "lib/cache.go"} <= {each["file_path"] for each in pack["files"]}
        # That of the question, where a server without a service gives that of the second search.
        assert pack["query_text"] == "hexdigest Evict"


def test_expanding(service: Any, repo: Any) -> None:
    id_ = service.indexed(repo.root)
    bare = service.post("/query", repo=id_, symbol="logout")["handles"][0]["id"]
    handles = [{"id": f"h{bare}", "generation": 1}, {"id": bare}]
    contents = service.post("/expand", repo=id_, handles=handles)["contents"]
    # Both spellings are answered, with the `h`.
    assert contents == [
        {"handle_id": f"h{bare}", "content": "def logout(self):\n        self.session = None"}
    ] * 2  # fmt: skip
    assert service.post("/expand", repo=id_, handles=[]) == {"contents": []}


def test_an_expansion_is_all_or_nothing(service: Any, repo: Any) -> None:
    id_ = service.indexed(repo.root)
    good = {"id": service.post("/query", repo=id_, symbol="logout")["handles"][0]["id"]}

    def refused(*handles: dict[str, Any]) -> tuple[int, str]:
        refusal: tuple[int, str] = service.refusal("/expand", repo=id_, handles=[good, *handles])
        return refusal

    assert refused({"id": "h" + "0" * 24}) == (404, "handle_not_found")
    assert refused({**good, "generation": 0}) == (409, "stale_generation")
    assert refused({"id": "../x"}) == (500, "internal_error")
    repo.edit("src/auth.py", "changed = True\n")
    assert refused() == (500, "internal_error")


def test_a_new_generation_makes_the_old_handles_stale(service: Any, repo: Any) -> None:
    id_ = service.indexed(repo.root)
    handle = {"id": service.post("/query", repo=id_, symbol="logout")["handles"][0]["id"]}
    repo.edit("src/later.py", "def later(): pass\n")
    # The service indexes when it is told to, and not before.
    assert service.post("/query", repo=id_, symbol="later")["handles"] == []
    service.post("/reindex", repo=id_)
    service.settled(id_)
    (found,) = service.post("/query", repo=id_, symbol="later")["handles"]
    assert found["generation"] == 2
    body = {"repo": id_, "handles": [{**handle, "generation": 1}]}
    assert service.refusal("/expand", **body) == (409, "stale_generation")
    # It is the number alone that is stale: the file has not changed.
    assert service.post("/expand", repo=id_, handles=[{**handle, "generation": 2}])["contents"]


def test_texts_within_a_budget(service: Any, repo: Any) -> None:
    id_ = service.indexed(repo.root)
    asked = {"repo": id_, "parent": "AuthController"}
    whole = service.post("/query", **asked, expand_budget=1000)
    assert (whole["auto_expanded"], whole["expanded_count"]) == (True, 2)
    assert whole["expanded_handle_ids"] == ["h" + each["id"] for each in whole["handles"]]
    assert all("def log" in each["content"] for each in whole["handles"])
    small = min(each["token_count"] for each in whole["handles"])
    part = service.post("/query", **asked, expand_budget=small)
    assert (part["expanded_count"], part["expanded_tokens"]) == (1, small)
    assert "auto_expanded" not in part
    assert part["expand_note"]
    # What came unasked is not moved to the end of a later suggestion.
    pack = service.post("/evidence_pack", repo=id_, parent="AuthController")
    assert pack["expand_suggestion"] == [each["id"] for each in pack["handles"]]
    assert "content" not in service.post("/query", **asked)["handles"][0]


def test_a_key_guards_all_but_status_and_metrics(backend: Any, repo: Any) -> None:
    service = Service((*backend.service, "--api-key", "pass"))
    with closed(service):
        assert service.http.get("/metrics").status_code == 200
        assert service.refusal("/repos/add", path=str(repo.root)) == (401, "unauthorized")
        assert service.http.get("/repos").status_code == 401
        service.http.headers["x-api-key"] = "pass"
        assert service.indexed(repo.root)


def test_canopys_client_does_not_show_its_key_where_it_is_needed(
    backend: Any, repo: Any, start_mcp: Any
) -> None:
    service = Service((*backend.service, "--api-key", "pass"))
    with closed(service):
        service.http.headers["x-api-key"] = "pass"
        service.indexed(repo.root)
        words = ("--root", str(repo.root), "--service-url", service.url, "--api-key", "pass")
        reply = start_mcp(*words).call("canopy_query", symbol="logout")
        assert ("result" in reply) is backend.is_embedded

"""Who is let in to the service, and to which folders."""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from swarm_bench.core.errors import ServiceFailed
from swarm_bench.programs.canopy.errors import Forbidden
from swarm_bench.programs.canopy.service.endpoints import Endpoints
from swarm_bench.programs.canopy.service.requests import AddBody, ExpandBody, ReindexBody
from swarm_bench.retrieval.canopy.service import open_running_service
from swarm_bench.runtime.untrusted import remove_tree


def asked(service: Any, route: str = "/repos", **headers: str) -> tuple[int, str]:
    """Status and code of a refusal, or of an answer, which has no code."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    response = service.http.get(route, headers=given)
    body = response.json()
    return response.status_code, body["code"] if response.is_error else ""


async def greeted(url: str) -> None:
    async with open_running_service(url):
        pass


def test_a_request_must_be_for_this_service_and_from_no_web_page(service: Any) -> None:
    port = service.url.rpartition(":")[2]
    for name in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        assert asked(service, host=f"{name}:{port}") == (200, "")
    for host in ("127.0.0.1", "localhost:8080"):  # a forwarded port
        assert asked(service, host=host) == (200, "")
    others = (f"evil.example:{port}", "evil.example", f"127.0.0.1.evil.example:{port}")
    for host in (*others, f"x@evil.example:{port}", "[", "", socket.gethostname() + f":{port}"):
        assert asked(service, host=host) == (421, "misdirected")
    for origin in ("http://evil.example", "null", service.url):
        assert asked(service, "/status", origin=origin) == (403, "forbidden")
    for site in ("cross-site", "same-site", ""):  # without an origin: images, and no-cors
        assert asked(service, "/status", sec_fetch_site=site) == (403, "forbidden")
    assert asked(service, "/status", sec_fetch_site="none") == (200, "")


@pytest.fixture
def served(tmp_path: Path, git: Callable[..., None]) -> Path:
    """A checkout in the folder that a service is started for."""
    root = tmp_path / "below" / "inner"
    root.mkdir(parents=True)
    git(root, "init", "-q")
    return root


@pytest.mark.parametrize("name", [".", ".canopy", ".canopy/index.db", ".canopy/feedback.db"])
def test_a_link_in_the_place_of_what_was_added_is_not_followed(
    served: Path, repo: Path, name: str
) -> None:
    endpoints = Endpoints([served.parent])
    repo_id = endpoints.add(AddBody(path=str(served)))["repo_id"]
    place = served / name
    place.parent.mkdir(exist_ok=True)
    remove_tree(place)
    place.symlink_to(repo / name)
    with pytest.raises(Forbidden):
        endpoints.reindex(ReindexBody(repo=repo_id))
    with pytest.raises(Forbidden):
        endpoints.expand(ExpandBody(repo=repo_id, handles=[]))
    assert endpoints.read_metrics()["analytics"]["feedback_by_repo"] == {}
    assert not (repo / ".canopy").exists()


def test_a_service_of_certain_folders_serves_no_others_and_asks_for_its_key_everywhere(
    start_service: Callable[..., Any], repo: Path, tmp_path: Path
) -> None:
    below = tmp_path / "below"
    (below / "inner" / ".git").mkdir(parents=True)
    (below / "link").symlink_to(repo)
    service = start_service("--root", str(below), CANOPY_API_KEY="pass")
    for route in ("/repos", "/status", "/metrics", "/nowhere"):
        assert asked(service, route) == (401, "unauthorized")
        assert asked(service, route, x_api_key="pas") == (401, "unauthorized")
    assert service.http.post("/query", content="x").status_code == 401
    assert asked(service, "/status", host="canopy:3000", x_api_key="pass") == (200, "")
    assert asked(service, "/nowhere", host="canopy/status?") == (401, "unauthorized")
    with pytest.raises(ServiceFailed, match="without a key; .* The key is missing or wrong"):
        anyio.run(greeted, service.url)
    service.http.headers.update({"x-api-key": "pass"})
    for path in (repo, below / "link", below / ".." / repo.name, tmp_path, Path("/no/such")):
        response = service.http.post("/repos/add", json={"path": str(path)})
        assert (response.status_code, response.json()["code"]) == (403, "forbidden")
        assert "outside of the folders" in response.json()["message"]
    assert not (repo / ".canopy").exists()
    assert service.post("/repos/add", path=str(below / "inner"))["name"] == "inner"

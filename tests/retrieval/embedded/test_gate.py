"""Who is let in to the service, and to which folders."""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

KEY = {"x-api-key": "pass"}


def asked(service: Any, route: str = "/repos", **headers: str) -> tuple[int, str]:
    """Status and code of a refusal, or of an answer, which has no code."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    response = service.http.get(route, headers=given)
    body = response.json()
    return response.status_code, body["code"] if response.is_error else ""


def test_a_request_must_be_for_this_service_and_from_no_web_page(service: Any) -> None:
    port = service.url.rpartition(":")[2]
    for name in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        assert asked(service, host=f"{name}:{port}") == (200, "")
    others = (f"evil.example:{port}", "127.0.0.1", "127.0.0.1:1", f"127.0.0.1.evil.example:{port}")
    for host in (*others, f"x@evil.example:{port}", "[", "", socket.gethostname() + f":{port}"):
        assert asked(service, host=host) == (421, "misdirected")
    for origin in ("http://evil.example", "null", service.url):
        assert asked(service, "/status", origin=origin) == (403, "forbidden")


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
    assert asked(service, "/status", **KEY) == (200, "")
    service.http.headers.update(KEY)
    for path in (repo, below / "link", below / ".." / repo.name, tmp_path, Path("/no/such")):
        response = service.http.post("/repos/add", json={"path": str(path)})
        assert (response.status_code, response.json()["code"]) == (403, "forbidden")
        assert "outside of the folders" in response.json()["message"]
    assert not (repo / ".canopy").exists()
    assert service.post("/repos/add", path=str(below / "inner"))["name"] == "inner"

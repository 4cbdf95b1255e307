"""A service that we start is ours alone, where its clients let it be."""

import os
import subprocess
from pathlib import Path
from typing import Any

import httpx2
import pytest

from swarm_bench.core.errors import ServiceFailed
from swarm_bench.core.session.experiment import Mode
from swarm_bench.retrieval.canopy.backends import find_program
from swarm_bench.retrieval.canopy.own_service import API_KEY, draw_key, sends_key
from swarm_bench.retrieval.canopy.service import start_service
from swarm_bench.retrieval.modes.mode import find_modes
from swarm_bench.retrieval.probes.service_metrics import read_metrics
from swarm_bench.retrieval.tools import Tools

EMBEDDED = {"canopy-mcp": Path("/venv/bin/swarm-bench-canopy-mcp")}
REAL = {"canopy-mcp": Path("/opt/canopy-mcp")}
CLIENT = {"command": "{{ canopy_mcp }}", "args": ["--service-url", "{{ service_url }}"]}


def mode(*servers: dict[str, Any], **more: Any) -> Mode:
    named = {f"s{number}": server for number, server in enumerate(servers)}
    return Mode(name="own", source="/modes/own.json", servers=named, **more)


def test_a_key_is_for_embedded_clients_that_bring_none() -> None:
    (shipped,) = find_modes(["canopy-service"])
    assert sends_key(shipped, EMBEDDED)
    # The real canopy-mcp does not send it where it is needed.
    assert not sends_key(shipped, REAL)
    assert sends_key(mode(CLIENT, {"command": "other"}), EMBEDDED)
    assert not sends_key(mode({**CLIENT, "command": "other"}), EMBEDDED)
    assert not sends_key(mode({"url": "{{ service_url }}/mcp"}), EMBEDDED)
    assert not sends_key(mode({**CLIENT, "env": {API_KEY: "own"}}), EMBEDDED)
    assert not sends_key(mode({**CLIENT, "args": [*CLIENT["args"], "--api-key=own"]}), EMBEDDED)
    assert not sends_key(mode(CLIENT, teardown=("curl", "{{ service_url }}/reindex")), EMBEDDED)


def test_the_real_service_is_given_nothing_that_it_does_not_know(tmp_path: Path) -> None:
    real = Path("/opt/canopy-service")
    programs = {**EMBEDDED, "canopy-service": real}
    tools = Tools(work=tmp_path, programs=programs, user_environment={})
    command = tools.build_service_command({"A": "b"})
    assert (command.argv, command.env) == ((str(real),), {"A": "b"})


def test_the_real_client_asks_ours_without_a_key(tmp_path: Path) -> None:
    (shipped,) = find_modes(["canopy-service"])
    programs = {**REAL, "canopy-service": find_program("canopy-service", None)}
    tools = Tools(work=tmp_path, programs=programs, user_environment={})
    command = tools.build_service_command({}, shipped)
    assert command.argv == (str(programs["canopy-service"]), "--root", str(tmp_path))
    assert API_KEY not in command.env
    # Nobody but us asks the one that is tried.
    assert tools.build_service_command({}).env[API_KEY] in tools.collect_secrets()


def make_checkout(repo: Path) -> Path:
    repo.mkdir(parents=True)
    (repo / "auth.py").write_text("def check_token(token):\n    return token\n")
    subprocess.run(["git", "init", "-q"], cwd=repo, check=True)
    return repo


@pytest.mark.anyio
async def test_our_own_serves_its_folder_to_those_who_know_its_key(tmp_path: Path) -> None:
    work = tmp_path / "work"
    repo, other = make_checkout(work / "repo"), make_checkout(tmp_path / "other")
    log = tmp_path / "service.log"
    programs = {"canopy-service": find_program("canopy-service", None)}
    tools = Tools(work=work, programs=programs, user_environment=os.environ)
    key = tools.service_key
    assert key != draw_key()
    command = tools.build_service_command({}, tag=str(tmp_path))
    async with start_service(command, log=log, secrets=()) as service:
        assert service.variables == {API_KEY: key}
        assert await service.index(repo, 15) > 0
        with pytest.raises(ServiceFailed, match="outside of the folders that this service was"):
            await service.find_repository_id(other)
        assert await read_metrics(service.url, key) is not None
        assert await read_metrics(service.url) is None
        for route in ("/repos", "/status", "/metrics"):
            assert httpx2.get(service.url + route, trust_env=False).status_code == 401
        assert service.process is not None
        words = Path("/proc", str(service.process.pid), "cmdline").read_bytes()
        assert key not in words.decode() + log.read_text() + repr(service)

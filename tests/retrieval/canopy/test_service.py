"""The life of a service, with the embedded canopy-service and with programs that misbehave."""

import os
import subprocess
import sys
import textwrap
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from threading import Thread
from typing import Any

import anyio
import httpx2
import pytest

from swarm_bench.core.errors import IndexFailed, ServiceFailed
from swarm_bench.core.session.experiment import Mode
from swarm_bench.retrieval.canopy.backends import find_program
from swarm_bench.retrieval.canopy.service import (
    API_KEY,
    Service,
    draw_key,
    open_running_service,
    sends_key,
    start_service,
)
from swarm_bench.retrieval.modes.mode import find_modes
from swarm_bench.retrieval.probes.service_metrics import read_metrics
from swarm_bench.retrieval.tools import Tools
from swarm_bench.runtime.process import Command
from tests.builders.golden import Sentences
from tests.builders.https import body, serving

pytestmark = pytest.mark.anyio

FAKE = """
import json, sys, http.server
port = int(sys.argv[sys.argv.index("--port") + 1])
class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, content):
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        self.answer({"service": NAME, "repos": []} if self.path == "/status" else REPOS)
    def do_POST(self):
        self.answer({"repo_id": "r"})
    def log_message(self, *words):
        pass
http.server.HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


def command(tmp_path: Path, *argv: str) -> Command:
    return Command(argv=argv, cwd=tmp_path, env=dict(os.environ), tag=f"service-{tmp_path}")


def fake(tmp_path: Path, repos: str, name: str = "'canopy-service'") -> Command:
    script = tmp_path / "fake.py"
    script.write_text(f"NAME, REPOS = {name}, {repos}\n" + textwrap.dedent(FAKE))
    return command(tmp_path, sys.executable, str(script))


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    made = tmp_path / "repo ü"
    made.mkdir()
    (made / "auth.py").write_text("def check_token(token):\n    return token\n")
    subprocess.run(["git", "init", "-q"], cwd=made, check=True)
    return made


async def test_a_service_is_started_asked_to_index_and_stopped(tmp_path: Path, repo: Path) -> None:
    program = find_program("canopy-service", None)
    log = tmp_path / "service.log"
    async with start_service(command(tmp_path, str(program)), log=log, secrets=()) as service:
        assert await service.is_answering()
        assert "embedded" in (await service.read_implementation() or "")
        assert await service.index(repo, 15) > 0
        async with open_running_service(service.url + "/") as same:
            assert await same.index(repo, 15) > 0
    assert not await service.is_answering()


async def test_a_service_that_ends_at_its_start_says_why(tmp_path: Path) -> None:
    dies = command(tmp_path, sys.executable, "-c", "import sys; sys.exit('no room here')")
    with pytest.raises(ServiceFailed, match="exit code 1; its log .* ends: no room here"):
        async with start_service(dies, log=tmp_path / "log", secrets=()):
            pass


async def test_a_foreign_service_on_the_address_is_refused() -> None:
    with HTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            with pytest.raises(ServiceFailed, match="No canopy-service answers at"):
                async with open_running_service(f"http://127.0.0.1:{server.server_port}"):
                    pass
        finally:
            server.shutdown()
            thread.join()


async def test_a_service_by_https_must_have_a_certificate_that_somebody_vouches_for(
    tmp_path: Path,
) -> None:
    with serving(tmp_path, {"/": body(b'{"service": "canopy-service"}')}) as server:
        with pytest.raises(ServiceFailed, match="CERTIFICATE_VERIFY_FAILED"):
            await Service(url=server.address).call("GET", "/status")
        assert await read_metrics(server.address) is None


async def test_an_index_that_fails_says_why(tmp_path: Path, repo: Path) -> None:
    failed = "[{'repo_id': 'r', 'status': 'error', 'error_message': 'disk full'}]"
    async with start_service(fake(tmp_path, failed), log=tmp_path / "log", secrets=()) as service:
        with pytest.raises(IndexFailed, match="could not index the repository: disk full"):
            await service.index(repo, 10)


async def test_an_index_that_takes_too_long_says_so(tmp_path: Path, repo: Path) -> None:
    slow = "[{'repo_id': 'r', 'status': 'indexing'}]"
    async with start_service(fake(tmp_path, slow), log=tmp_path / "log", secrets=()) as service:
        with pytest.raises(IndexFailed, match=r"not indexed the repository after 0\.3 s"):
            await service.index(repo, 0.3)


async def test_a_service_that_dies_is_noticed(tmp_path: Path, golden: Sentences) -> None:
    async with start_service(fake(tmp_path, "[]"), log=tmp_path / "log", secrets=()) as service:
        assert service.process is not None
        service.process.kill()
        with anyio.fail_after(10):
            golden(await service.watch())


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

"""The life of a service, with the embedded canopy-service and with programs that misbehave."""

import os
import subprocess
import sys
import textwrap
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from threading import Thread

import anyio
import pytest

from swarm_bench.core.errors import IndexFailed, ServiceFailed
from swarm_bench.retrieval.canopy.backends import find_program
from swarm_bench.retrieval.canopy.service import Service, open_running_service, start_service
from swarm_bench.retrieval.probes.service_metrics import read_metrics
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

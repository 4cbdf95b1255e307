"""The canopies that the contract is about, as processes: the embedded one, and the real one.

The real one takes part when SWARM_BENCH_CANOPY_MCP and SWARM_BENCH_CANOPY_SERVICE name its two
programs. What a test says holds for both unless it asks `backend.is_embedded`.
"""

import os
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.canopy_process import Mcp, environment

PACKAGE = "swarm_bench.programs.canopy"
PROGRAMS = ("SWARM_BENCH_CANOPY_MCP", "SWARM_BENCH_CANOPY_SERVICE")
ANSWER_SECONDS = 15
FILES = {
    # canopy would add this line by itself and so make the checkout dirty.
    ".gitignore": ".canopy/\n",
    "src/auth.py": '''\
"""Logging in."""
import hashlib

class AuthController:
    """Checks who somebody is."""
    def login(self, name, password):
        return check_password(name, password)

    def logout(self):
        self.session = None

def check_password(name, password):
    return hashlib.sha256(password.encode()).hexdigest() == name
''',
    "src/models.py": "class Account:\n    def owner(self):\n        return self.name\n",
    "src/views.py": "def show_account(request):\n    return render(request.account)\n",
    "web/jobs.ts": (
        "export class Worker {\n  begin() { return runJob(this.next()); }\n}\n\n"
        "function runJob(job: Job) { return job.name; }\n"
    ),
    "web/page.js": "function drawPage(page) {\n  return page.title;\n}\n",
    "lib/store.go": (
        "package store\n\ntype Store struct { size int }\n\n"
        "func (s *Store) Save(key string) error { return nil }\n\n"
        "func Open(path string) *Store { return &Store{} }\n"
    ),
    "lib/cache.go": "package store\n\nfunc Evict(key string) bool { return true }\n",
    "core/engine.rs": (
        "pub struct Engine { speed: u32 }\n\nimpl Engine {\n"
        "    pub fn start(&self) -> u32 { self.speed }\n}\n\n"
        "pub fn build_engine() -> Engine { Engine { speed: 1 } }\n"
    ),
    "docs/guide.md": (
        "# Guide\n\nHow the job-queue works.\n\n## Authentication\n\nCall `login` first.\n\n"
        '```python\nlogin("me")\n```\n'
    ),
    "README.md": "# Shop\n\nSells things.\n",
    "settings.json": '{"password": "secret"}\n',
}
"""Python, TypeScript, JavaScript, Go, Rust, Markdown and JSON."""


@dataclass(frozen=True, kw_only=True)
class Backend:
    """The two programs of one canopy."""

    mcp: tuple[str, ...]
    service: tuple[str, ...]
    is_embedded: bool


def real() -> Backend | None:
    mcp, service = (os.environ.get(name) for name in PROGRAMS)
    if not mcp or not service:
        return None
    return Backend(mcp=(mcp,), service=(service,), is_embedded=False)


def embedded() -> Backend:
    python = (sys.executable, "-m")
    return Backend(
        mcp=(*python, f"{PACKAGE}.mcp.server"),
        service=(*python, f"{PACKAGE}.service.server"),
        is_embedded=True,
    )


@pytest.fixture(scope="package", params=["embedded", "real"] if real() else ["embedded"])
def backend(request: pytest.FixtureRequest) -> Backend:
    return (request.param == "real" and real()) or embedded()


class Service:
    """A service process on a port that was free a moment ago."""

    def __init__(self, command: tuple[str, ...]) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen(
            (*command, "--port", str(port)),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment(),
        )
        self.http = httpx2.Client(base_url=self.url, timeout=ANSWER_SECONDS, trust_env=False)
        deadline = time.monotonic() + ANSWER_SECONDS
        while not self._answers():
            assert self.process.poll() is None, "the service ended at its start"
            assert time.monotonic() < deadline, "the service does not answer"
            time.sleep(0.02)

    def _answers(self) -> bool:
        try:
            return bool(self.http.get("/status").is_success)
        except httpx2.TransportError:
            return False

    def ask(self, route: str, **body: Any) -> tuple[int, Any]:
        """Status and JSON of an answer."""
        response = self.http.post(route, json=body)
        return response.status_code, response.json()

    def post(self, route: str, **body: Any) -> Any:
        status, answer = self.ask(route, **body)
        assert status == 200, answer
        return answer

    def refusal(self, route: str, **body: Any) -> tuple[int, str]:
        """Status and code of an answer that must be canopy's envelope for errors."""
        status, answer = self.ask(route, **body)
        assert set(answer) == {"code", "message", "hint"}
        return status, str(answer["code"])

    def metrics(self) -> Any:
        return self.http.get("/metrics").json()["performance"]

    def indexed(self, root: Path) -> str:
        """Registers and indexes; the id of the repository."""
        repo = str(self.post("/repos/add", path=str(root))["repo_id"])
        self.post("/reindex", repo=repo)
        self.settled(repo)
        return repo

    def settled(self, repo: str) -> Any:
        """What /repos says when nothing is being indexed any more."""
        deadline = time.monotonic() + ANSWER_SECONDS
        while True:
            shards = {each["repo_id"]: each for each in self.http.get("/repos").json()}
            if shards[repo]["status"] not in {"pending", "indexing"}:
                return shards[repo]
            assert time.monotonic() < deadline, shards[repo]
            time.sleep(0.02)

    def close(self) -> None:
        self.http.close()
        self.process.terminate()
        try:
            self.process.wait(5)
        finally:
            self.process.kill()
            self.process.wait()


@dataclass(frozen=True)
class Checkout:
    """A committed repository of twelve files."""

    root: Path

    def git(self, *words: str) -> str:
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
        command = ["git", *identity, "-C", str(self.root), *words]
        done = subprocess.run(
            command, check=True, capture_output=True, text=True, env=environment()
        )
        return done.stdout

    def edit(self, path: str, text: str) -> None:
        """Write a file, later than everything indexed so far by canopy's clock of whole seconds."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)
        later = time.time() + 10
        os.utime(self.root / path, (later, later))

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What feedback.db answers."""
        with closing(sqlite3.connect(self.root / ".canopy" / "feedback.db")) as database:
            return list(database.execute(sql))


def checkout(folder: Path, files: dict[str, str] | None = None) -> Checkout:
    made = Checkout(folder.resolve())
    for path, text in (FILES if files is None else files).items():
        (made.root / path).parent.mkdir(parents=True, exist_ok=True)
        (made.root / path).write_text(text)
    made.git("init", "-q")
    made.git("add", ".")
    made.git("commit", "-qm", "first")
    return made


@contextmanager
def closed(process: Mcp | Service) -> Iterator[None]:
    try:
        yield
    finally:
        process.close()


@pytest.fixture
def repo(tmp_path: Path) -> Checkout:
    return checkout(tmp_path)


@pytest.fixture
def start_mcp(backend: Backend) -> Iterator[Callable[..., Mcp]]:
    with ExitStack() as stack:

        def start(*words: str) -> Mcp:
            server = Mcp((*backend.mcp, *words))
            stack.enter_context(closed(server))
            return server

        yield start


@pytest.fixture
def mcp(repo: Checkout, start_mcp: Callable[..., Mcp]) -> Mcp:
    """A server of a repository of its own."""
    return start_mcp("--root", str(repo.root))


@pytest.fixture(scope="module")
def shared(backend: Backend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mcp]:
    """A server whose repository no test changes."""
    root = checkout(tmp_path_factory.mktemp("shared")).root
    server = Mcp((*backend.mcp, "--root", str(root)))
    with closed(server):
        yield server


@pytest.fixture(scope="module")
def service(backend: Backend) -> Iterator[Service]:
    """One for all tests of a module, each of which has a repository of its own."""
    started = Service(backend.service)
    with closed(started):
        yield started


@pytest.fixture
def lone_service(backend: Backend) -> Iterator[Service]:
    """One for a test that reads what it counts over all repositories."""
    started = Service(backend.service)
    with closed(started):
        yield started


@pytest.fixture
def client(service: Service, repo: Checkout, start_mcp: Callable[..., Mcp]) -> tuple[Mcp, Service]:
    """A server in front of a service that has indexed the repository."""
    service.indexed(repo.root)
    return start_mcp("--root", str(repo.root), "--service-url", service.url), service

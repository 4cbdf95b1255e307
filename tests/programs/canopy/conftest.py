"""Small repositories, and the two servers as the processes that users start."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.canopy_process import Mcp, environment

PACKAGE = "swarm_bench.programs.canopy"

AUTH = '''\
"""Logging in."""

import hashlib

ROUNDS = 1000


class AuthController:
    """Checks who somebody is."""

    def login(self, name: str, password: str) -> bool:
        return check_password(name, password)

    def logout(self) -> None:
        self.session = None


def check_password(name: str, password: str) -> bool:
    return hashlib.sha256(password.encode()).hexdigest() == name
'''
JOBS = """\
// Runs jobs from the queue.
export const runJob = async (job) => {
  return handlers[job.name](job);
};

class Worker {
  start() { return runJob(this.next()); }
}
"""
GUIDE = """\
# Guide

How the job-queue works.

## Authentication

Call `login` first.

```python
login("me")
```
"""


def _git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    command = ["git", *identity, "-C", str(folder), *words]
    subprocess.run(command, check=True, capture_output=True, env=environment())


@pytest.fixture
def git() -> Callable[..., None]:
    return _git


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A committed checkout of a few files, in a folder with an awkward name."""
    root = tmp_path / "my répo's"
    for path, text in {"src/auth.py": AUTH, "src/jobs.js": JOBS, "docs/guide.md": GUIDE}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / "settings.json").write_text('{"password": "secret"}\n')
    _git(root, "init", "-q")
    _git(root, "add", ".")
    _git(root, "commit", "-qm", "first")
    return root.resolve()


@pytest.fixture
def start_mcp() -> Iterator[Callable[..., Mcp]]:
    started: list[Mcp] = []

    def start(*words: str, **variables: str) -> Mcp:
        command = (sys.executable, "-m", f"{PACKAGE}.mcp.server", *words)
        started.append(Mcp(command, **variables))
        return started[-1]

    yield start
    for server in started:
        server.close()


@pytest.fixture
def mcp(repo: Path, start_mcp: Callable[..., Mcp]) -> Mcp:
    return start_mcp("--root", str(repo))


class Service:
    """A service process on a free port."""

    def __init__(self, *words: str, **variables: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", f"{PACKAGE}.service.server", "--port", "0", *words],
            stderr=subprocess.PIPE,
            text=True,
            env={**environment(), **variables},
        )
        assert self.process.stderr is not None
        try:
            self.url = self.process.stderr.readline().split()[-1]
        except BaseException:
            self.process.kill()
            raise
        self.http = httpx2.Client(base_url=self.url, timeout=15, trust_env=False)

    def post(self, route: str, **body: Any) -> Any:
        response = self.http.post(route, json=body)
        assert response.status_code == 200, response.text
        return response.json()

    def metrics(self) -> Any:
        return self.http.get("/metrics").json()["performance"]

    def indexed(self, root: Path, glob: str | None = None) -> str:
        """Registers and indexes; the id of the repository."""
        repo_id = str(self.post("/repos/add", path=str(root))["repo_id"])
        self.post("/reindex", repo=repo_id, glob=glob)
        self.wait(repo_id, "ready")
        return repo_id

    def wait(self, repo_id: str, status: str) -> Any:
        deadline = time.monotonic() + 10
        while True:
            shards = {each["repo_id"]: each for each in self.http.get("/repos").json()}
            found = shards[repo_id]
            if found["status"] == status:
                return found
            waits = found["status"] in {"pending", "indexing"}
            if not waits or time.monotonic() > deadline:
                self.process.kill()
                assert self.process.stderr is not None
                pytest.fail(f"{found}\n{self.process.stderr.read()}")
            time.sleep(0.01)

    def close(self) -> int:
        """Tells it to end; the exit code."""
        assert self.process.stderr is not None
        self.http.close()
        self.process.terminate()
        try:
            return self.process.wait(5)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stderr.close()


@pytest.fixture
def start_service() -> Iterator[Callable[..., Service]]:
    started: list[Service] = []

    def start(*words: str, **variables: str) -> Service:
        started.append(Service(*words, **variables))
        return started[-1]

    yield start
    for service in started:
        service.close()


@pytest.fixture
def service(start_service: Callable[..., Service]) -> Service:
    return start_service()

"""The installed command, on a small repository of its own, as a process like any other."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from swarm_bench.runtime.ownership import TAG
from tests.e2e import warm

COMMAND = Path(sys.executable).parent / "swarm-bench"

FILES = {
    "README.md": "# Shop\n\n## Sign in\n\nUsers sign in with a token, see `shop/auth.py`.\n",
    "shop/__init__.py": "",
    "shop/auth.py": (
        "class AuthMiddleware:\n"
        '    """Checks the token of every request before a handler runs."""\n\n'
        "    def __call__(self, request):\n"
        "        return authenticate(request.token)\n\n\n"
        "def authenticate(token):\n"
        '    """The user that a token belongs to."""\n'
        "    if token not in SESSIONS:\n"
        "        raise PermissionError(token)\n"
        "    return SESSIONS[token]\n\n\n"
        "SESSIONS = {}\n"
    ),
    "shop/models.py": (
        "class User:\n    orders = []\n\n\nclass Order:\n    user = None\n    items = []\n"
    ),
    "shop/handlers.py": (
        "from shop.auth import AuthMiddleware\nfrom shop.models import Order\n\n\n"
        "def handle_request(request):\n"
        '    """From the request to the response."""\n'
        "    user = AuthMiddleware()(request)\n    return Response(Order(user))\n"
    ),
    "shop/jobs.py": (
        "class JobQueue:\n"
        '    """Background jobs, worked off by a worker thread."""\n\n'
        "    def enqueue(self, job):\n        self.jobs.append(job)\n\n\n"
        "def run_worker(queue):\n    for job in queue.jobs:\n        job()\n"
    ),
    "web/app.ts": "export class Plugin { load(name: string) { return registry.get(name); } }\n",
}


@dataclass(frozen=True)
class Done:
    """How a call of the command ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, kw_only=True)
class Bench:
    """The command in a working folder of its own, with nothing of the user's set-up."""

    folder: Path
    repo: Path

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "TMPDIR": str(temporary),
            **(extra or {}),
        }

    def call(
        self, *arguments: str, env: Mapping[str, str] | None = None, inside: Sequence[str] = ()
    ) -> Done:
        """Run the command to its end; `inside` are the words of a command that starts it."""
        environment = self.environment(env)
        if not inside:
            return Done(*warm.call([str(COMMAND), *arguments], self.folder, environment))
        done = subprocess.run(
            [*inside, COMMAND, *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            timeout=300,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        """Start the command beside the test."""
        return subprocess.Popen(
            [COMMAND, *arguments],
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def records(self, session: str) -> list[dict[str, Any]]:
        """The lines of a session's `metrics.jsonl`."""
        return self.lines(session, "metrics.jsonl")

    def lines(self, session: str, file: str) -> list[dict[str, Any]]:
        """The lines of one of its files."""
        path = self.folder / session / file
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def experiment(self, session: str) -> dict[str, Any]:
        """A session's `experiment.json`."""
        found: dict[str, Any] = json.loads((self.folder / session / "experiment.json").read_text())
        return found


def processes_of(session: str) -> list[psutil.Process]:
    """What runs and carries the tag of a session."""
    found = []
    for process in psutil.process_iter():
        try:
            tagged = process.environ().get(TAG, "").startswith(session)
            if tagged and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            pass
    return found


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    folder, repo = tmp_path / "here", tmp_path / "my 'shop' ü"
    folder.mkdir()
    for name, text in FILES.items():
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    script = (
        "git init -q -b main && git add -A && "
        "git -c user.name=me -c user.email=me@example.org commit -qm one"
    )
    subprocess.run(["sh", "-c", script], cwd=repo, check=True)
    return Bench(folder=folder, repo=repo)

"""Scout as a process, and what it printed."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PROGRAM = [sys.executable, "-I", "-m", "swarm_bench.programs.scout"]
SERVER = Path(__file__).with_name("canopy_server.py")
TASK = "Find the authentication middleware and explain how a request is checked."

FILES = {
    "shop/auth.py": (
        "import hashlib\nclass AuthMiddleware:\n    def __call__(self, request):\n"
        "        check(request)\n\n\ndef check(request):\n"
        "    return authenticate(request.token)\n"
    ),
    "shop/tokens.py": "def authenticate(token):\n    return token in SESSIONS\n",
    "shop/jobs.py": "class JobQueue:\n    jobs = []\n",
    "docs/auth.md": "# Authentication\n\nA ```token``` is `checked`.\n",
    "json.py": "raise SystemExit('the json of the workspace was imported')\n",
    "swarm_bench/__init__.py": "raise SystemExit('the package of the workspace was imported')\n",
}


@dataclass(frozen=True, kw_only=True)
class Done:
    """How a run ended, and its events."""

    code: int
    out: str
    err: str

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def result(self) -> dict[str, Any]:
        return self.events[-1]

    @property
    def calls(self) -> list[list[str]]:
        """Names of the tools called, by request."""
        requests: dict[str, list[str]] = {}
        for event in self.events:
            if event["type"] == "assistant":
                names = requests.setdefault(event["message"]["id"], [])
                names += [b["name"] for b in event["message"]["content"] if "name" in b]
        return list(requests.values())


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "work space"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def scout(workspace: Path) -> Callable[..., Done]:
    def run(*options: str, prompt: str = TASK) -> Done:
        stream = ["-p", "--output-format", "stream-json", "--verbose"]
        done = subprocess.run(
            [*PROGRAM, *stream, *options, "--", prompt],
            cwd=workspace,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        return Done(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())

    return run


def config(*options: str, **more: dict[str, Any]) -> str:
    """The option that connects our server, as JSON given directly."""
    canopy = {"command": sys.executable, "args": [str(SERVER), *options]}
    return "--mcp-config=" + json.dumps({"mcpServers": {"canopy": canopy, **more}})


def citations(answer: str) -> set[tuple[str, int]]:
    """Every `path:line` of an answer, ranges with each of their lines."""
    found = re.findall(r"`([^`\s]+?):(\d+)(?:-(\d+))?`", answer)
    return {
        (path, line)
        for path, first, last in found
        for line in range(int(first), int(last or first) + 1)
    }

"""The commands of a page, run in the order they stand."""

import os
import re
import shlex
import warnings
from collections.abc import Iterator
from pathlib import Path

from tests.e2e.conftest import Bench, Done
from tests.e2e.programs.conftest import NotInstalled, install, namespace

ROOT = Path(__file__).resolve().parents[2]
SET_UP = ("git clone", "make ")
"""Lines that `test_a_fresh_clone` runs, and `make test`."""
SMALL = {
    "SWARM_BENCH_RUNS": "1",
    "SWARM_BENCH_AGENTS": "1",
    "SWARM_BENCH_MODES": "baseline canopy",
}
"""What the commands do not say themselves."""
KEY = {"ANTHROPIC_API_KEY": "no key of anybody"}
"""A plan asks for one; there is no network."""


def commands(page: Path) -> list[str]:
    """List the commands of a page."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    lines = [line.partition("#")[0].strip() for block in blocks for line in block.split("\n")]
    return [line for line in lines if line and not line.startswith(SET_UP)]


def run(page: Path, bench: Bench) -> Iterator[tuple[str, Done]]:
    """Run the commands of a page in a small repository that has a task file and a tool."""
    here = Bench(folder=bench.repo, repo=bench.repo)
    task = (
        "tasks:\n  - id: auth\n    title: Tokens\n    prompt: Where is a token checked?\n"
        "    key: {files: [shop/auth.py]}\n"
    )
    (here.folder / "my-tasks.yaml").write_text(task)
    server = (ROOT / "mcp_configs" / "canopy.json").read_text()
    (here.folder / "my-server.json").write_text(server)
    for command in commands(page):
        _, *words = shlex.split(command)
        small = {} if {"--continue", "--plan"} & {*words} else SMALL
        real = "claude" in words
        try:
            path = {"PATH": f"{install('claude')}:{os.environ['PATH']}", **KEY} if real else {}
        except NotInstalled as error:
            warnings.warn(f"A COMMAND OF {page.name} WAS NOT TESTED: {error}", stacklevel=1)
            continue
        inside = namespace() if real else ()
        yield command, here.call(*words, env={**small, **path}, inside=inside)

"""Which canopy runs: the real one when it is there, the embedded one otherwise."""

import json
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

import anyio

from swarm_bench.core.errors import ConfigError, ProcessLost
from swarm_bench.core.experiment import Program
from swarm_bench.runtime.process import Command, capture

EMBEDDED = {
    "canopy-mcp": "swarm-bench-canopy-mcp",
    "canopy-service": "swarm-bench-canopy-service",
}
_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2024-11-05",
        "capabilities": {},
        "clientInfo": {"name": "swarm-bench", "version": "1"},
    },
}
ANSWER_SECONDS = 20


def find_program(name: str, override: str | None) -> Path:
    """The path of `canopy-mcp` or `canopy-service`.

    The one that `override` names, else the real one on the PATH, else the embedded one. Raises
    `ConfigError` when the override names nothing that can be run.
    """
    if override:
        found = shutil.which(str(Path(override).expanduser()))
        if found is None:
            variable = f"SWARM_BENCH_{name.upper().replace('-', '_')}"
            raise ConfigError(
                f"{override} is not a program that can be run; "
                f"mend {variable} or unset it to use the embedded {name}"
            )
        return Path(found).absolute()
    found = shutil.which(name)
    if found is not None:
        return Path(found).absolute()
    embedded = Path(sys.executable).parent / EMBEDDED[name]
    if not embedded.exists():
        raise ConfigError(f"{embedded} is missing; install swarm-bench again")
    return embedded


def is_embedded(program: Path) -> bool:
    """Whether the program is the stand-in that comes with us."""
    return program.name in EMBEDDED.values()


async def identify(program: Path, env: Mapping[str, str]) -> Program:
    """What an MCP server says of itself when it is greeted. It sees an empty folder.

    The version is `None` when it does not answer, or gives it as part of its title.
    """
    with tempfile.TemporaryDirectory(prefix="swarm-bench-identify-") as folder:
        command = Command(
            argv=(str(program), "--root", folder),
            cwd=Path(folder),
            env=env,
            tag=f"identify-{uuid4().hex}",
        )
        info = await _greet(command)
    name, version = info.get("title") or info.get("name"), info.get("version")
    if info.get("title"):  # ours has its own version there, to be told from the real one
        version = None
    return Program(
        name=str(name) if name else program.name,
        version=str(version) if version else None,
        path=str(program),
    )


async def _greet(command: Command) -> dict[str, object]:
    try:
        with anyio.fail_after(ANSWER_SECONDS):
            done = await capture(command, json.dumps(_HELLO).encode() + b"\n")
        info = json.loads(done.stdout.partition(b"\n")[0])["result"]["serverInfo"]
    except (ProcessLost, TimeoutError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return info if isinstance(info, dict) else {}

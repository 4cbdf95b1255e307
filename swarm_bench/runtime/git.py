"""Runs git on content that strangers wrote, without its configuration having a say."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from swarm_bench.core.errors import HarnessError
from swarm_bench.runtime.process import run_fed

ENVIRONMENT: Mapping[str, str] = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C",
}
SAFE = (
    # A checkout's own configuration can name programs that git would run for us.
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    f"core.attributesFile={os.devnull}",
    "core.autocrlf=false",
    "core.quotePath=false",
    "core.symlinks=true",
    "core.compression=1",  # our copies live for minutes
    "pack.window=0",
    "gc.auto=0",
    "maintenance.auto=false",
    "commit.gpgSign=false",
    "protocol.file.allow=always",
    # Somebody else's checkout may be measured; it is only ever read.
    "safe.directory=*",
    "user.name=swarm-bench",
    "user.email=swarm-bench@localhost",
)


async def git(
    *arguments: str | Path, cwd: Path, env: Mapping[str, str] | None = None, feed: bytes = b""
) -> bytes:
    """Standard output of a git command that is fed `feed`.

    Raises `HarnessError` with git's own words.
    """
    returncode, out, err = await try_git(*arguments, cwd=cwd, env=env, feed=feed)
    if returncode != 0:
        words = err.decode("utf-8", "replace").strip().splitlines() or ["no message"]
        raise HarnessError(f"git {arguments[0]} failed in {cwd}: {words[-1]}")
    return out


async def try_git(
    *arguments: str | Path, cwd: Path, env: Mapping[str, str] | None = None, feed: bytes = b""
) -> tuple[int, bytes, bytes]:
    """Return code, standard output and standard error of a git command."""
    safe: Sequence[str] = [word for setting in SAFE for word in ("-c", setting)]
    try:
        done = await run_fed(
            ["git", *safe, *map(str, arguments)],
            feed,
            cwd=cwd,
            env={**_environment(), **ENVIRONMENT, **(env or {})},
        )
    except FileNotFoundError as error:
        raise HarnessError("git was not found; install it and try again") from error
    return done.returncode, done.stdout, done.stderr


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}

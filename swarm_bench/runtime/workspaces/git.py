"""Runs git on content that strangers wrote, without its configuration having a say."""

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from swarm_bench.core.errors import HarnessError, ProcessLost, UsageError
from swarm_bench.runtime.environment import small_environment
from swarm_bench.runtime.process import Captured, Command, capture

ENVIRONMENT: Mapping[str, str] = {
    "GIT_CONFIG_GLOBAL": str(Path(__file__).with_name("safe.gitconfig")),
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "file",  # also where git is too old for the line above
    "GIT_NO_REPLACE_OBJECTS": "1",  # which no fetch follows: agents see what a commit really has
    "LC_ALL": "C",
}
LITTLE_ROOM = 100_000_000
"""Bytes. With fewer, a failure is put down to the disk: git removes what it could not finish."""
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
    "user.name=swarm-bench",
    "user.email=swarm-bench@localhost",
)


async def git(
    *arguments: str | Path, cwd: Path, env: Mapping[str, str] | None = None, feed: bytes = b""
) -> bytes:
    """Run git on `feed`, and return what it prints.

    Raises `HarnessError` with git's own message.
    """
    done = await try_git(*arguments, cwd=cwd, env=env, feed=feed)
    if done.returncode != 0:
        message = own_words(done.stderr)
        raise HarnessError(f"git {arguments[0]} failed in {cwd}: {message}; {_advice(cwd)}")
    return done.stdout


def own_words(printed: bytes) -> str:
    """Return the line in which git says why it failed."""
    lines = printed.decode("utf-8", "replace").strip().splitlines() or ["no message"]
    return next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1])


def _advice(folder: Path) -> str:
    with suppress(OSError):
        free = shutil.disk_usage(folder).free
        if free < LITTLE_ROOM:
            megabytes = f"{free / 1e6:.1f}"
            return (
                f"only {megabytes} MB are free there; make room, or choose another workspace-root"
            )
    return "see that there is room and permission"


async def try_git(
    *arguments: str | Path, cwd: Path, env: Mapping[str, str] | None = None, feed: bytes = b""
) -> Captured:
    """Run a git command that may fail. Raises `UsageError` when there is no git, and `HarnessError`
    when it cannot be started: its folder may have been removed."""
    safe = [word for setting in SAFE for word in ("-c", setting)]
    command = Command(
        argv=("git", *safe, *map(str, arguments)),
        cwd=cwd,
        env={**small_environment(os.environ), **ENVIRONMENT, **(env or {})},
        tag=f"git-{uuid4().hex}",
    )
    try:
        return await capture(command, feed)
    except ProcessLost as error:
        if shutil.which("git", path=command.env.get("PATH", os.defpath)) is None:
            raise UsageError(
                "git cannot be started, and swarm-bench needs git; install it, or add its folder "
                "to the PATH"
            ) from error
        raise HarnessError(
            f"git could not be started in {cwd}: {error.__cause__}; see that the folder exists and "
            "that the machine can start processes"
        ) from error

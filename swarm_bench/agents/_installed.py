"""Finds an agent program on this machine, and asks it for its version."""

import os
import re
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from swarm_bench.core.errors import UsageError
from swarm_bench.core.experiment import Program
from swarm_bench.runtime.environment import small_environment

PROXIES = (
    "HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY",
    "https_proxy", "http_proxy", "all_proxy", "no_proxy",
    "NODE_EXTRA_CA_CERTS",
)  # fmt: skip
"""Variables that lead to the provider from behind a proxy. Not for a rehearsal, whose server is on
the loopback interface: a proxy would be asked for it, and can be far away."""

PATIENCE = 10.0
"""Seconds for a program to say its version."""

_VERSION = re.compile(r"\d+(?:\.\d+)+(?:[-+][0-9A-Za-z.+-]+)?")


def installed(name: str, *, program: str, tested: str, install: str) -> Program:
    """The agent `name`, whose program is called `program`, with the version that it says itself.

    `tested` is the version our adapter was verified with, `install` a command that installs it.
    Raises `UsageError` when the program is not on the PATH, or does not say its version.
    """
    path = shutil.which(program)
    if path is None:
        raise UsageError(
            f"The agent {name} needs the program {program!r}, which is not on the PATH; "
            f"install it with `{install}`"
        )
    said, words = _ask(path)
    if said is None:
        raise UsageError(
            f"`{program} --version`, run in an empty home folder, {words}; "
            f"mend the installation at {path}, or install it anew with `{install}`"
        )
    return Program(name=name, version=said, path=path, tested=tested)


def _ask(path: str) -> tuple[str | None, str]:
    """The version, or else a clause that says what happened instead."""
    with TemporaryDirectory(prefix="swarm-bench-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        try:
            code = _run(path, home)
        except OSError as error:
            return None, f"could not be started ({error.strerror})"
        if code is None:
            return None, f"did not end within {PATIENCE:.0f} seconds"
        stdout, stderr = _text(home / "stdout"), _text(home / "stderr")
    found = _VERSION.search(stdout)
    if code != 0 or found is None:
        lines = [line.strip() for line in (stderr + stdout).splitlines() if line.strip()]
        return None, f"ended with exit code {code} and printed {(lines or ['nothing'])[0]!r:.200}"
    return found.group(), ""


def _run(path: str, home: Path) -> int | None:
    """The exit code; `None` when the program was stopped. What it started is stopped with it."""
    # Files and no pipes: what the program leaves running may hold a pipe open for ever.
    with (home / "stdout").open("wb") as stdout, (home / "stderr").open("wb") as stderr:
        process = subprocess.Popen(
            [path, "--version"],
            cwd=home,
            env=_empty_home(home),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
    try:
        return process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _text(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(10_000).decode("utf-8", "replace")


def _empty_home(home: Path) -> dict[str, str]:
    """So that asking writes nothing into the user's home, and reads nothing there."""
    own = ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
    return {**small_environment(os.environ), **dict.fromkeys(own, str(home))}

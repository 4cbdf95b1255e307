"""Finds an agent program on this machine, and asks it for its version."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.experiment import Program
from swarm_bench.runtime.environment import small_environment
from swarm_bench.runtime.files import writable
from swarm_bench.runtime.ownership import temporary
from swarm_bench.runtime.processes.trees import FAMILY
from swarm_bench.runtime.untrusted import opened

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
    found = shutil.which(program)
    if found is None:
        raise UsageError(
            f"The agent {name} needs the program {program!r}, which is not on the PATH; "
            f"install it with `{install}`"
        )
    path = str(Path(found).absolute())  # an agent starts in another folder; no link is followed
    said, words = _ask(path)
    if said is None:
        raise UsageError(
            f"`{program} --version`, run in an empty home folder, {words}; "
            f"fix the installation at {path}, or install it anew with `{install}`"
        )
    return Program(name=name, version=said, path=path, tested=tested)


def _ask(path: str) -> tuple[str | None, str]:
    """The version, or else a clause that says what happened instead."""
    said = ask([path, "--version"], PATIENCE)
    found = _VERSION.search(said.stdout)
    if said.code != 0 or found is None:
        return None, said.story
    return found.group(), ""


@dataclass(frozen=True, kw_only=True)
class Said:
    """How a program ended that was asked for something short, in an empty home."""

    code: int | None
    """`None` when it could not be started or was stopped."""
    stdout: str
    stderr: str
    story: str
    """What happened, as a clause after the command."""


def ask(argv: Sequence[str], patience: float) -> Said:
    """Run a program for its answer, at most `patience` seconds. It writes nothing into the user's
    home, and reads nothing there; what it started is stopped with it."""
    with temporary() as folder:
        (home := folder / "home").mkdir()
        try:
            code = _run(argv, home, patience)
        except OSError as error:
            story = f"could not be started ({error.strerror})"
            return Said(code=None, stdout="", stderr="", story=story)
        stdout, stderr = _text(home / "stdout"), _text(home / "stderr")
    if code is None:
        story = f"did not end within {patience:.0f} seconds"
    else:
        lines = [line.strip() for line in (stderr + stdout).splitlines() if line.strip()]
        first = (lines or ["nothing"])[0]
        story = f"ended with exit code {code} and printed {first!r:.200}"
    return Said(code=code, stdout=stdout, stderr=stderr, story=story)


def _run(argv: Sequence[str], home: Path, patience: float) -> int | None:
    """The exit code; `None` when the program was stopped."""
    own = ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
    env = {**small_environment(os.environ), **dict.fromkeys(own, str(home))}
    with FAMILY.planted(str(home)):  # or an end of another tree might take the exit code
        # Files and no pipes: what the program leaves running may hold a pipe open for ever.
        with writable(home / "stdout", "wb") as stdout, writable(home / "stderr", "wb") as stderr:
            process = subprocess.Popen(
                argv,
                cwd=home,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        try:
            return process.wait(patience)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _text(path: Path) -> str:
    with opened(path) as file:
        return file.read(10_000).decode("utf-8", "replace")

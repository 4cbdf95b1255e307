"""Finds an agent program on this machine, and asks for its version."""

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
from swarm_bench.runtime.untrusted import open_untrusted
from swarm_bench.text.terminal import plain_text

PROXIES = (
    "HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY",
    "https_proxy", "http_proxy", "all_proxy", "no_proxy",
    "NODE_EXTRA_CA_CERTS",
)  # fmt: skip
"""Variables that lead to the provider from behind a proxy. Not for a rehearsal, whose server is on
the loopback interface: a proxy would be asked for it, and can be far away."""

VERSION_SECONDS = 30.0
"""Seconds for a program to print its version: on a busy machine one of node takes more than ten."""

_VERSION = re.compile(r"\d+(?:\.\d+)+(?:[-+][0-9A-Za-z.+-]+)?")


def installed(name: str, *, program: str, tested: str, install: str) -> Program:
    """Identify the agent `name` by its program and the version that this prints.

    `tested` is the version our adapter was verified with, `install` a command that installs it.
    Raises `UsageError` when the program is not on the PATH, or does not print its version.
    """
    location = shutil.which(program)
    if location is None:
        raise UsageError(
            f"The agent {name} needs the program {program!r}, which is not on the PATH; "
            f"install it with `{install}`"
        )
    path = str(Path(location).absolute())  # an agent starts in another folder; no link is followed
    answer = ask_program([path, "--version"], VERSION_SECONDS)
    match = _VERSION.search(answer.stdout)
    if answer.code != 0 or match is None:
        raise UsageError(
            f"`{program} --version`, run in an empty home folder, {answer.description}; "
            f"fix the installation at {path}, or install it again with `{install}`"
        )
    return Program(name=name, version=match.group(), path=path, tested=tested)


@dataclass(frozen=True, kw_only=True)
class ProgramAnswer:
    """The answer of a program that was asked for something short, in an empty home."""

    code: int | None
    """`None` when it could not be started or was stopped."""
    stdout: str
    stderr: str
    description: str
    """Description of what happened, as a clause after the command."""


def ask_program(argv: Sequence[str], timeout: float) -> ProgramAnswer:
    """Run a program for its answer, at most `timeout` seconds. It writes nothing into the user's
    home, and reads nothing there; what it started is stopped with it."""
    with temporary() as folder:
        (home := folder / "home").mkdir()
        try:
            code = _run(argv, home, timeout)
        except OSError as error:
            description = f"could not be started ({error.strerror})"
            return ProgramAnswer(code=None, stdout="", stderr="", description=description)
        stdout, stderr = _read_text(home / "stdout"), _read_text(home / "stderr")
    if code is None:
        description = f"did not end within {timeout:.0f} seconds"
    else:
        lines = [line.strip() for line in (stderr + stdout).splitlines() if line.strip()]
        first = (lines or ["nothing"])[0]
        description = f"ended with exit code {code} and printed {first!r:.200}"
    return ProgramAnswer(code=code, stdout=stdout, stderr=stderr, description=description)


def _run(argv: Sequence[str], home: Path, timeout: float) -> int | None:
    """Return the exit code; `None` when the program was stopped."""
    home_variables = (
        "HOME",
        "TMPDIR",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_STATE_HOME",
        "XDG_CACHE_HOME",
    )
    env = {**small_environment(os.environ), **dict.fromkeys(home_variables, str(home))}
    with FAMILY.hold_tree(str(home)):  # or an end of another tree might take the exit code
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
            return process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _read_text(path: Path) -> str:
    with open_untrusted(path) as file:
        return plain_text(file.read(10_000))

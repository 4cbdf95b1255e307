"""Asks a program that a command file describes for its version."""

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from swarm_bench.agents._command_file import VersionOf
from swarm_bench.agents._command_places import found_in
from swarm_bench.agents._command_words import Values, fill
from swarm_bench.core.errors import UsageError
from swarm_bench.runtime.environment import small_environment

PATIENCE = 20.0
"""Seconds for a program to say its version; some load all their libraries before."""
_SHOWN = 200


def ask_version(version: VersionOf, path: Path, values: Values) -> str:
    """The version that the program says. Raises `UsageError` when it says none."""
    argv = [fill(word, values) for word in version.command]
    with TemporaryDirectory(prefix="swarm-bench-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        try:
            code = _run(argv, home)
        except OSError as error:
            code, said = None, f"could not be started ({error.strerror})"
        else:
            said = "did not end in time" if code is None else f"ended with exit code {code}"
        printed = "".join(_text(home / name) for name in ("stdout", "stderr"))
    found = found_in(version.pattern, printed, PATIENCE) if code == 0 else None
    if not found:
        first = next(iter(printed.strip().splitlines()), "nothing")[:_SHOWN]
        raise UsageError(
            f"`{' '.join(argv)}`, run in an empty home folder for the agent file {path}, {said} "
            f"and printed {first!r}, where no version is found; mend 'version', or leave it out"
        )
    return found


def _run(argv: list[str], home: Path) -> int | None:
    """The exit code; `None` when it was stopped. What it started is stopped with it."""
    own = ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
    env = {**small_environment(os.environ), **dict.fromkeys(own, str(home))}
    # Files and no pipes: what the program leaves running may hold a pipe open for ever.
    with (home / "stdout").open("wb") as stdout, (home / "stderr").open("wb") as stderr:
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
        return process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _text(path: Path) -> str:
    if not path.exists():
        return ""
    with path.open("rb") as file:
        return file.read(10_000).decode("utf-8", "replace")

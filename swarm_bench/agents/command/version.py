"""Asks a program that a command file describes for its version."""

from pathlib import Path

from swarm_bench.agents.command.file import VersionOf
from swarm_bench.agents.command.locators import PATIENCE, found_in
from swarm_bench.agents.command.templates import Values, fill
from swarm_bench.agents.reading.installed import ask
from swarm_bench.core.errors import UsageError

LIMIT = 20.0
"""Seconds for a program to say its version; some load all their libraries before."""


def ask_version(version: VersionOf, path: Path, values: Values) -> str:
    """The version that the program says. Raises `UsageError` when it says none."""
    argv = [fill(word, values) for word in version.command]
    said = ask(argv, LIMIT)
    printed = said.stdout + said.stderr
    found = _version_in(version.pattern, printed) if said.code == 0 else None
    if not found:
        raise UsageError(
            f"`{' '.join(argv)}`, run in an empty home folder for the agent file {path}, "
            f"{said.story}, where no version is found; fix 'version', or leave it out"
        )
    return found


def _version_in(pattern: str, printed: str) -> str | None:
    try:
        return found_in(pattern, printed, PATIENCE)
    except TimeoutError:
        return None

"""Asks a program that a command file describes for its version."""

from pathlib import Path

from swarm_bench.agents.command.file import VersionOf
from swarm_bench.agents.command.locators import PATTERN_SECONDS, first_match
from swarm_bench.agents.command.templates import Values, fill
from swarm_bench.agents.reading.installed import ask_program
from swarm_bench.core.errors import UsageError

LIMIT = 20.0
"""Seconds for a program to print its version; some load all their libraries before."""


def ask_version(version: VersionOf, path: Path, values: Values) -> str:
    """Return the version that the program prints. Raises `UsageError` when it prints none."""
    argv = [fill(word, values) for word in version.command]
    answer = ask_program(argv, LIMIT)
    printed = answer.stdout + answer.stderr
    match = _version_in(version.pattern, printed) if answer.code == 0 else None
    if not match:
        raise UsageError(
            f"`{' '.join(argv)}`, run in an empty home folder for the agent file {path}, "
            f"{answer.description}, and so gives no version; fix 'version', or omit it"
        )
    return match


def _version_in(pattern: str, printed: str) -> str | None:
    try:
        return first_match(pattern, printed, PATTERN_SECONDS)
    except TimeoutError:
        return None

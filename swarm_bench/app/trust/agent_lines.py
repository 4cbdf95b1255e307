"""What an agent file has started, for a person to look at."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from swarm_bench.config.located import read_located
from swarm_bench.core.errors import SwarmBenchError
from swarm_bench.retrieval.modes.secret_parts import redact_secret_parts


def describe_agent_file(path: Path) -> list[str]:
    """List its command line and variables, and how it is asked for its version, without keys.

    Empty for a file that cannot be an agent's: it cannot run either.
    """
    try:
        content = read_located(path, "agent file").content
    except SwarmBenchError:
        return []
    if not isinstance(content, dict):
        return []
    environment, version = content.get("environment"), content.get("version")
    pairs = environment.items() if isinstance(environment, dict) else ()
    variables = [f"{name}={value}" for name, value in pairs]
    variables_note = f" (with {_format_command(variables)})" if variables else ""
    lines = [f"{_format_command(content.get('command'))}{variables_note}"]
    if isinstance(version, dict):
        lines.append(f"{_format_command(version.get('command'))}, for its version")
    return lines


def _format_command(command: object) -> str:
    return shlex.join(redact_secret_parts(list(_iterate_arguments(command))))


def _iterate_arguments(command: Any) -> Iterator[str]:
    """Yield the arguments; one may be a list, which is omitted as a whole where it is empty."""
    if isinstance(command, list):
        for argument in command:
            yield from _iterate_arguments(argument)
    elif command is not None:
        yield str(command)

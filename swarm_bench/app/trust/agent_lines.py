"""What an agent file has started, for a person to look at."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from swarm_bench.config.located import read_located
from swarm_bench.core.errors import SwarmBenchError
from swarm_bench.retrieval.modes.secret_parts import without_secret_parts


def agent_lines(path: Path) -> list[str]:
    """Its command line and variables, and how it is asked for its version, without keys. Empty for
    a file that cannot be an agent's: it cannot run either."""
    try:
        content = read_located(path, "agent file").content
    except SwarmBenchError:
        return []
    if not isinstance(content, dict):
        return []
    given, version = content.get("environment"), content.get("version")
    variables = [f"{name}={one}" for name, one in given.items()] if isinstance(given, dict) else []
    shown = f" (with {_line(variables)})" if variables else ""
    lines = [f"{_line(content.get('command'))}{shown}"]
    if isinstance(version, dict):
        lines.append(f"{_line(version.get('command'))}, for its version")
    return lines


def _line(words: object) -> str:
    return shlex.join(without_secret_parts(list(_flat(words))))


def _flat(words: Any) -> Iterator[str]:
    """A word may be a list, which is left out as a whole where it has nothing to say."""
    if isinstance(words, list):
        for word in words:
            yield from _flat(word)
    elif words is not None:
        yield str(words)

"""What a mode starts or reaches, for a person to look at: without the values of variables, and
without keys."""

import shlex
from collections.abc import Mapping
from typing import Any

from swarm_bench.core.experiment import Mode
from swarm_bench.retrieval.modes import without_secrets


def server_lines(mode: Mode) -> dict[str, str]:
    """By the name of each server its command line or address, as the file has it, and the names of
    the variables that it is given."""
    servers = without_secrets(mode).servers
    return {name: f"{_line(server)}{_names(server)}" for name, server in servers.items()}


def command_lines(mode: Mode) -> list[str]:
    """All of a mode."""
    shown = without_secrets(mode)
    prepare = shown.prepare.command if shown.prepare else ()
    commands = map(shlex.join, (prepare, shown.teardown, shown.version))
    return [line for line in (*server_lines(mode).values(), *commands, *mode.services) if line]


def _line(server: Mapping[str, Any]) -> str:
    if "url" in server:
        return str(server["url"])
    words = (server.get("command", ""), *server.get("args", ()))
    return shlex.join(str(word) for word in words)


def _names(server: Mapping[str, Any]) -> str:
    names = [name for key in ("env", "headers") for name in server.get(key) or ()]
    return f" (with {', '.join(names)})" if names else ""

"""What a mode starts or reaches, for a person to look at: without keys."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from swarm_bench.core.session.experiment import Mode
from swarm_bench.retrieval.modes.mode import without_secrets
from swarm_bench.retrieval.modes.secret_parts import looks_secret


def server_lines(mode: Mode) -> dict[str, str]:
    """Write by the name of each server its command line or address, as the file has it, and the
    names of its variables."""
    servers = without_secrets(mode).servers
    return {name: f"{_line(server)}{_names(server)}" for name, server in servers.items()}


def command_lines(mode: Mode) -> list[str]:
    """List all of a mode, for the person who is asked whether it may be started: with the values
    of variables that are no keys."""
    shown = without_secrets(mode)
    servers = (
        f"{_line(shown.servers[name])}{_values(server)}" for name, server in mode.servers.items()
    )
    prepare = shown.prepare.command if shown.prepare else ()
    commands = map(shlex.join, (prepare, shown.teardown, shown.version))
    return [line for line in (*servers, *commands, *mode.services, *own_probes(mode)) if line]


def own_probes(mode: Mode) -> list[str]:
    """List the probes whose code the mode names itself."""
    return [f"the probe {word}" for word in mode.probes if ":" in word]


def _line(server: Mapping[str, Any]) -> str:
    if "url" in server:
        return str(server["url"])
    argv = (server.get("command", ""), *server.get("args", ()))
    return shlex.join(map(str, argv))


def _names(server: Mapping[str, Any]) -> str:
    return _with(name for name, _ in _variables(server))


def _values(server: Mapping[str, Any]) -> str:
    return _with(
        name if looks_secret(name, str(value)) else f"{name}={value}"
        for name, value in _variables(server)
    )


def _with(labels: Iterable[str]) -> str:
    shown = ", ".join(labels)
    return f" (with {shown})" if shown else ""


def _variables(server: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in ("env", "headers"):
        yield from (server.get(key) or {}).items()

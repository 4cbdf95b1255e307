"""What a mode starts or reaches, for a person to look at: without keys."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from swarm_bench.core.session.experiment import Mode
from swarm_bench.retrieval.modes.mode import drop_secrets
from swarm_bench.retrieval.modes.secret_parts import looks_secret


def write_server_lines(mode: Mode) -> dict[str, str]:
    """Write by the name of each server its command line or address, as the file has it, and the
    names of its variables."""
    servers = drop_secrets(mode).servers
    return {
        name: f"{_write_line(server)}{_write_names(server)}" for name, server in servers.items()
    }


def list_command_lines(mode: Mode) -> list[str]:
    """List all of a mode, for the person who is asked whether it may be started: with the values
    of variables that are no keys."""
    redacted = drop_secrets(mode)
    servers = (
        f"{_write_line(redacted.servers[name])}{_write_values(server)}"
        for name, server in mode.servers.items()
    )
    prepare = redacted.prepare.command if redacted.prepare else ()
    commands = map(shlex.join, (prepare, redacted.teardown, redacted.version))
    return [line for line in (*servers, *commands, *mode.services, *list_own_probes(mode)) if line]


def list_own_probes(mode: Mode) -> list[str]:
    """List the probes whose code the mode names itself."""
    return [f"the probe {word}" for word in mode.probes if ":" in word]


def _write_line(server: Mapping[str, Any]) -> str:
    if "url" in server:
        return str(server["url"])
    argv = (server.get("command", ""), *server.get("args", ()))
    return shlex.join(map(str, argv))


def _write_names(server: Mapping[str, Any]) -> str:
    return _join_labels(name for name, _ in _list_variables(server))


def _write_values(server: Mapping[str, Any]) -> str:
    return _join_labels(
        name if looks_secret(name, str(value)) else f"{name}={value}"
        for name, value in _list_variables(server)
    )


def _join_labels(labels: Iterable[str]) -> str:
    joined = ", ".join(labels)
    return f" (with {joined})" if joined else ""


def _list_variables(server: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in ("env", "headers"):
        yield from (server.get(key) or {}).items()

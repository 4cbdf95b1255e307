"""Which values must not reach a file: of keys let through, of what the user gives the agents, and
of the mode's servers."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress

from swarm_bench.core.errors import ConfigError
from swarm_bench.core.experiment import Mode
from swarm_bench.retrieval.modes import names_one, written_in
from swarm_bench.retrieval.variables import Filling, named, named_in
from swarm_bench.runtime.environment import COMMON

SHORTEST = 8
"""Characters; a shorter value would be found in ordinary words."""
_KEY = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH", re.IGNORECASE)
_SCHEME = re.compile(r"(?:Bearer|Basic|Token)\s+(\S+)", re.IGNORECASE)
_LOGIN = re.compile(r"://(?:[^/@\s:]*:)?([^/@\s]+)@")
"""The password of an address, such as that of a proxy."""


def secrets(
    inherited: Mapping[str, str],
    given: Mapping[str, str],
    mode: Mode,
    variables: Mapping[str, str],
) -> tuple[str, ...]:
    """All of them. `inherited` are the user's variables that the agent's program documents: not all
    of those are secret. `given` are those of `--agent-env`, which are. Of `variables` those are
    that the mode's file names, unless every agent has them anyway."""
    values = set(_of_keys(inherited)) | {*given.values(), *_of_servers(mode, variables)}
    elsewhere = [*written_in(mode), mode.search.arguments if mode.search else None]
    names = named(mode.servers) | named_in(elsewhere)
    values |= {variables.get(name, "") for name in names - set(COMMON)}
    parts = {match[1] for value in values for match in _SCHEME.finditer(value)}
    return tuple(sorted(value for value in values | parts if len(value) >= SHORTEST))


def _of_keys(variables: Mapping[str, str]) -> Iterator[str]:
    for name, value in variables.items():
        if _KEY.search(name):
            yield value
        yield from _LOGIN.findall(value)


def _of_servers(mode: Mode, variables: Mapping[str, str]) -> Iterator[str]:
    for server in mode.servers.values():
        for key in ("env", "headers"):
            held = server.get(key)
            for value in held.values() if isinstance(held, dict) else ():
                if isinstance(value, str) and not names_one(value):
                    yield value
                    yield from _filled(value, variables, mode)


def _filled(value: str, variables: Mapping[str, str], mode: Mode) -> Iterator[str]:
    with suppress(ConfigError):  # a variable that is not set: then no agent was started with it
        yield Filling(file=mode.source, placeholders=None, variables=variables).value(value)

"""Values that must not reach a file. An agent runs with the rights of the user, so these are not
only the keys that it is given: it can read those of the other modes and of our own environment."""

import base64
import os
import re
import socket
from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Protocol, TypeVar
from urllib.parse import unquote

from swarm_bench.config.addresses import find_logins, remove_logins
from swarm_bench.config.dotenv_file import DotEnv
from swarm_bench.config.secret_names import names_secret
from swarm_bench.core.errors import ConfigError, UsageError
from swarm_bench.core.roles.executor import Needs
from swarm_bench.core.session.experiment import NOT_STORED, Experiment, Mode, Storable
from swarm_bench.core.session.retrieving import RetrieveExperiment
from swarm_bench.retrieval.canopy.service import API_KEY
from swarm_bench.retrieval.modes.mode import drop_secrets, find_templates
from swarm_bench.retrieval.modes.secret_parts import find_secret_parts, looks_secret, names_variable
from swarm_bench.retrieval.modes.variables import Filling, find_variables, find_variables_in
from swarm_bench.runtime.environment import COMMON
from swarm_bench.runtime.sink import clean_value

Redactable = TypeVar("Redactable", Experiment, RetrieveExperiment)
SHORTEST = 8
"""Characters; a shorter value would be found in ordinary words."""
_SCHEME = re.compile(r"(?P<scheme>Bearer|Basic|Token)\s+(?P<value>\S+)", re.IGNORECASE)


def collect_secrets(
    modes: Collection[Mode],
    agent_env: Mapping[str, str],
    readable: Sequence[Mapping[str, str]],
    arguments: Sequence[str] = (),
) -> tuple[str, ...]:
    """Collect all of them: of the modes' servers and commands, of `--agent-env`, of the agents'
    `arguments`, and of the variables that an agent may read (`readable`, the first ones count)
    those whose names say so, or that a mode names. What anyone on this machine can see is none: a
    path, its user or its name.
    """
    variables = ChainMap(*map(dict, readable))
    everywhere = [pair for source in readable for pair in source.items()]
    values = {*agent_env.values()}
    commands = [command for mode in modes for command in _list_commands(mode)]
    for mode in modes:
        values |= {*_find_in_servers(mode, variables)}
        values |= {variables.get(name, "") for name in _find_named(mode) - set(COMMON)}
    values |= {value for name, value in everywhere if names_secret(name)}
    values |= {*find_secret_parts(arguments)}
    server_values = [value for mode in modes for _, value in _list_server_values(mode)]
    texts = [*chain.from_iterable(commands), *server_values, *arguments]
    values |= {*_find_in_addresses([*values, *(value for _, value in everywhere), *texts])}
    values |= {*_find_in_schemes(values)}
    values |= {unquote(value) for value in values}  # an address has them quoted
    public = _list_public(variables)
    return tuple(sorted(value for value in values if _is_secret(value, public)))


class Readable(Protocol):
    """What agents and servers can read."""

    @property
    def variables(self) -> Mapping[str, str]: ...
    @property
    def agent_env(self) -> Mapping[str, str]: ...
    @property
    def dotenv(self) -> DotEnv: ...
    @property
    def service_key(self) -> str: ...


def find_secrets(
    source: Readable, modes: Collection[Mode], arguments: Sequence[str] = ()
) -> tuple[str, ...]:
    """Collect the secrets that can be read there, with those of `modes` and `arguments`."""
    readable = [source.variables, source.dotenv.expanded, source.dotenv.raw]
    return collect_secrets(
        modes, {**source.agent_env, API_KEY: source.service_key}, readable, arguments
    )


def make_storable(experiment: Experiment) -> Storable:
    """Remove keys and logins from the experiment. A call that continues it gives them again."""
    return Storable(drop_keys(experiment))


def drop_keys(experiment: Redactable) -> Redactable:
    """Remove keys and logins from what holds modes."""
    address = experiment.service_url
    settings = dict(experiment.settings)
    if (setting := settings.get("service_url")) and isinstance(setting.value, str):
        url = remove_logins(setting.value)
        settings["service_url"] = setting.model_copy(update={"value": url})
    return experiment.model_copy(
        update={
            "modes": tuple(drop_secrets(mode) for mode in experiment.modes),
            "service_url": address and remove_logins(address),
            "settings": settings,
        }
    )


def _find_named(mode: Mode) -> set[str]:
    elsewhere = [*find_templates(mode), mode.search.arguments if mode.search else None]
    return find_variables(mode.servers) | find_variables_in(elsewhere)


def _is_secret(value: str, public: Collection[str]) -> bool:
    return len(value) >= SHORTEST and value not in public and not _is_path(value)


def _list_public(variables: Mapping[str, str]) -> set[str]:
    names = (*COMMON, "HOSTNAME", "HOST", "USERNAME")
    machine = socket.gethostname()
    return {
        NOT_STORED,
        machine,
        machine.partition(".")[0],
        *(variables.get(name, "") for name in names),
    }


def _is_path(value: str) -> bool:
    if not value.startswith(("/", "~")):
        return False
    with suppress(OSError, ValueError, RuntimeError):  # too long, a NUL, a user without a home
        return os.path.lexists(Path(value).expanduser())
    return False


def _find_in_addresses(texts: Collection[str]) -> Iterator[str]:
    """Yield passwords, and tokens that stand for a user."""
    for login in (match["login"] for text in texts for match in find_logins(text)):
        user, colon, password = login.partition(":")
        yield password if colon else user


def _find_in_schemes(values: Collection[str]) -> Iterator[str]:
    """Yield `abc` of `Bearer abc`, and the password of a Basic login."""
    for match in (match for value in values for match in _SCHEME.finditer(value)):
        yield match["value"]
        if match["scheme"].lower() == "basic":
            with suppress(ValueError):
                yield base64.b64decode(match["value"]).decode().partition(":")[2]


def _find_in_servers(mode: Mode, variables: Mapping[str, str]) -> Iterator[str]:
    for text in _find_secret_texts(mode):
        if not names_variable(text):
            yield text
            yield from _fill(text, variables, mode)


def _find_secret_texts(mode: Mode) -> Iterator[str]:
    yield from (value for name, value in _list_server_values(mode) if looks_secret(name, value))
    for command in _list_commands(mode):
        yield from find_secret_parts(command)


def _list_server_values(mode: Mode) -> Iterator[tuple[str, str]]:
    """Yield the variables and headers of its servers."""
    for server in mode.servers.values():
        for key in ("env", "headers"):
            values = server.get(key)
            pairs = values.items() if isinstance(values, dict) else ()
            yield from ((name, value) for name, value in pairs if isinstance(value, str))


def _list_commands(mode: Mode) -> Iterator[Sequence[str]]:
    """Yield the arguments of its servers, their addresses, and its own commands."""
    for server in mode.servers.values():
        yield [word for word in server.get("args") or () if isinstance(word, str)]
        yield [server["url"]] if isinstance(server.get("url"), str) else []
    yield from (mode.prepare.command if mode.prepare else (), mode.teardown, mode.version)


def _fill(value: str, variables: Mapping[str, str], mode: Mode) -> Iterator[str]:
    with suppress(ConfigError):  # a variable that is not set: then no agent was started with it
        yield Filling(file=mode.source, placeholders=None, variables=variables).fill(value)


def build_mode_needs(
    modes: Collection[Mode], agent_env: Collection[str], variables: Mapping[str, str]
) -> Needs:
    """Return what a machine needs for the modes, and for agents with these variables: programs on
    the PATH, and variables that are set here."""
    texts = [[mode.servers, *find_templates(mode)] for mode in modes]
    names = find_variables_in(texts) & variables.keys() - set(COMMON)
    commands = {server.get("command") for mode in modes for server in mode.servers.values()}
    programs = {name for name in commands if isinstance(name, str) and not {*name} & {*"/{$"}}
    return Needs(
        programs=tuple(sorted(programs)),
        keys=tuple((name,) for name in sorted({*names, *agent_env})),
    )


def refuse_keys(modes: Iterable[Mode]) -> None:
    """Refuse keys that stand in modes: they are not sent to other machines. Raises `UsageError`."""
    for mode in modes:
        if drop_secrets(mode) != mode:
            raise UsageError(
                f"The mode {mode.name} sets values in its file that could be keys, which are not "
                "sent to other machines; name variables in their places, such as ${NAME}, and set "
                "those there"
            )


def check_text(text: str, secrets: Collection[str]) -> str:
    """Return a text that is sent. Raises `UsageError` where it has a key in it."""
    if clean_value(text, secrets) != text:
        raise UsageError(
            "The experiment has a key of this machine in it, and keys are not sent to other "
            "machines; name a variable in its place"
        )
    return text
